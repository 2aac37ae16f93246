"""A query run on rows in DuckDB or SQLite, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weigh.exports.formula import Formula
from weigh.frames import Value

TYPES = {
    "duckdb": {"number": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN", "code": "DOUBLE"},
    "sqlite": {"number": "REAL", "text": "TEXT", "boolean": "INTEGER", "code": ""},
    "postgres": {
        "number": "DOUBLE PRECISION",
        "text": "TEXT",
        "boolean": "BOOLEAN",
        "code": "DOUBLE PRECISION",
    },
}


def column_types(formula: Formula, dialect: str) -> dict[str, str]:
    """What type each column of a table for the model needs; large codes are whole numbers."""
    types = {}
    for column in formula.inputs:
        whole = column.kind == "code" and any(
            type(v) is int and abs(v) > 2**53 for v in column.values
        )
        wide = {"duckdb": "HUGEINT", "postgres": "NUMERIC"}.get(dialect, "") if whole else None
        types[column.name] = TYPES[dialect][column.kind] if wide is None else wide
    return types


def create_table(formula: Formula, dialect: str, table: str) -> str:
    """A statement that makes an empty table for rows of the model."""
    from weigh.exports.sql.dialects import import_sqlglot

    exp = import_sqlglot().exp

    def quoted(name: str) -> str:
        return str(exp.to_identifier(name, quoted=True).sql(dialect=dialect))

    columns = ", ".join(f"{quoted(n)} {kind}" for n, kind in column_types(formula, dialect).items())
    return f"CREATE TABLE {quoted(table)} ({columns})"


def run_sqlite(
    query: str, formula: Formula, rows: Sequence[dict[str, Value]], table: str = "rows"
) -> list[dict[str, Any]]:
    """The rows that a query gives in SQLite, which comes with Python."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(create_table(formula, "sqlite", table))
        _insert(connection, formula, rows, table)
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]


def run_duckdb(
    query: str, formula: Formula, rows: Sequence[dict[str, Value]], table: str = "rows"
) -> list[dict[str, Any]]:
    """The rows that a query gives in DuckDB."""
    try:
        import duckdb
    except ImportError:
        raise ImportError("running the query needs duckdb: pip install duckdb") from None
    with duckdb.connect(":memory:") as connection:
        connection.execute(create_table(formula, "duckdb", table))
        _insert(connection, formula, rows, table)
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _insert(
    connection: Any, formula: Formula, rows: Sequence[dict[str, Value]], table: str
) -> None:
    marks = ", ".join("?" for _ in formula.inputs)
    quoted = table.replace('"', '""')
    cells = [tuple(row[column.name] for column in formula.inputs) for row in rows]
    connection.executemany(f'INSERT INTO "{quoted}" VALUES ({marks})', cells)
