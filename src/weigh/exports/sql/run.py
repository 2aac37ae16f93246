"""A query run on rows in DuckDB or SQLite, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weigh.bins import Kind
from weigh.exports.targets import is_large
from weigh.formula import Formula, Input
from weigh.frames import Value

TYPES = {
    "duckdb": {Kind.NUMBERS: "DOUBLE", Kind.TEXT: "VARCHAR", Kind.BOOLEANS: "BOOLEAN"},
    "sqlite": {Kind.NUMBERS: "REAL", Kind.TEXT: "TEXT", Kind.BOOLEANS: "INTEGER"},
    "postgres": {Kind.NUMBERS: "DOUBLE PRECISION", Kind.TEXT: "TEXT", Kind.BOOLEANS: "BOOLEAN"},
}
WIDE = {"duckdb": "HUGEINT", "postgres": "NUMERIC"}
"""Where there is a type that tells all whole numbers apart; SQLite does without a type."""


def column_types(formula: Formula, dialect: str) -> dict[str, str]:
    """What type each column of a table for the model needs; large codes are whole numbers."""
    return {column.name: _column_type(column, dialect) for column in formula.inputs}


def _column_type(column: Input, dialect: str) -> str:
    codes = column.kind is Kind.NUMBERS and not column.is_numeric
    if codes and (dialect == "sqlite" or any(map(is_large, column.values))):
        return WIDE.get(dialect, "")
    return TYPES[dialect][column.kind]


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
        connection.execute("PRAGMA query_only = ON")
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
    shut = {"enable_external_access": "false", "lock_configuration": "true"}
    with duckdb.connect(":memory:", config=shut) as connection:  # no files, no network
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


def translate(text: str, formula: Formula, written: str, wanted: str) -> str:
    """A query for a table `rows` that has the model's columns, in another dialect."""
    from weigh.exports.sql.dialects import import_sqlglot

    sqlglot = import_sqlglot()
    exp, tree = sqlglot.exp, _one_select(sqlglot, text, written)
    steps = {step.alias for step in tree.find_all(exp.CTE)}
    for table in [*tree.find_all(exp.Table)]:
        if table.name not in steps or table.args.get("db"):
            table.replace(exp.to_table("rows", dialect=wanted, alias=table.args.get("alias")))
    first = next(tree.find_all(exp.CTE)).this
    for column in [*first.find_all(exp.Column)]:
        if column.name not in formula.column_names:  # kept for the user
            column.replace(exp.null())
    for cast in [*tree.find_all(exp.Cast)]:
        _plain_type(cast, exp)
    return str(tree.sql(dialect=wanted))


def _one_select(sqlglot: Any, text: str, dialect: str) -> Any:
    """The query of a file that holds one SELECT and nothing else: nothing else is ever run."""
    statements = [tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None]
    kinds = [tree.key.upper() for tree in statements]
    if kinds != ["SELECT"] or statements[0].find(sqlglot.exp.Into) is not None:
        held = ", ".join(kinds) or "nothing"
        raise ValueError(f"it must contain a single SELECT statement, but it contains {held}")
    return statements[0]


def _plain_type(cast: Any, exp: Any) -> None:
    """A type without what only its own database knows: (MAX), character sets, FLOAT for doubles.

    Bytes are text again: DuckDB casts no more than ASCII to them.
    """
    kind = cast.args["to"]
    if kind.is_type("binary", "varbinary"):
        cast.replace(cast.this)
    elif kind.this == exp.DataType.Type.CHARACTER_SET:
        cast.set("to", exp.DataType.build("text"))
    elif kind.is_type("float"):
        cast.set("to", exp.DataType.build("double"))
    else:
        kind.set("expressions", None)
