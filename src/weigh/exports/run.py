"""Exported files run on rows: SQL in DuckDB or SQLite, ONNX, PMML, workbooks in LibreOffice."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Kind
from weigh.errors import Extra
from weigh.exports.onnx import MISSING, input_names
from weigh.exports.sql.dialects import exp, sqlglot
from weigh.exports.targets import is_large
from weigh.exports.xlsx.case import ANSWER, FIRST, SHEET, prediction_cells
from weigh.exports.xlsx.cells import escape, missing_word, openpyxl
from weigh.formula import Formula, Input
from weigh.frames import NOT_KNOWN, Value

duckdb = Extra("duckdb", "running the query needs duckdb", "duckdb")
onnxruntime = Extra("onnxruntime", "running the file needs onnxruntime", "onnx")
pypmml = Extra("pypmml", "scoring the file needs pypmml and Java: pip install pypmml")

TYPES = {
    "duckdb": {Kind.NUMBERS: "DOUBLE", Kind.TEXT: "VARCHAR", Kind.BOOLEANS: "BOOLEAN"},
    "sqlite": {Kind.NUMBERS: "REAL", Kind.TEXT: "TEXT", Kind.BOOLEANS: "INTEGER"},
    "postgres": {Kind.NUMBERS: "DOUBLE PRECISION", Kind.TEXT: "TEXT", Kind.BOOLEANS: "BOOLEAN"},
}
MOST_SECONDS = 60.0
"""Seconds after which a query is stopped."""
MOST_MEMORY = "2GB"
WIDE = {"duckdb": "HUGEINT", "postgres": "NUMERIC"}
"""Types that distinguish all whole numbers; SQLite needs no type."""


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

    def quoted(name: str) -> str:
        return str(exp.to_identifier(name, quoted=True).sql(dialect=dialect))

    columns = ", ".join(f"{quoted(n)} {kind}" for n, kind in column_types(formula, dialect).items())
    return f"CREATE TABLE {quoted(table)} ({columns})"


def run_sqlite(
    query: str, formula: Formula, rows: Sequence[dict[str, Value]], table: str = "rows"
) -> list[dict[str, Any]]:
    """The rows that a query gives in Python's SQLite; one more than `rows` at most."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(create_table(formula, "sqlite", table))
        _insert(connection, formula, rows, table)
        connection.execute("PRAGMA query_only = ON")
        return _fetch(connection, query, len(rows) + 1)


def run_duckdb(
    query: str, formula: Formula, rows: Sequence[dict[str, Value]], table: str = "rows"
) -> list[dict[str, Any]]:
    """The rows that a query gives in DuckDB; one more than `rows` at most."""
    shut = {"enable_external_access": "false", "lock_configuration": "true"}  # no files, no network
    shut |= {"memory_limit": MOST_MEMORY, "temp_directory": ""}
    with duckdb.connect(":memory:", config=shut) as connection:
        connection.execute(create_table(formula, "duckdb", table))
        _insert(connection, formula, rows, table)
        return _fetch(connection, query, len(rows) + 1)


def _fetch(connection: Any, query: str, most: int) -> list[dict[str, Any]]:
    """The first `most` rows of a query, which is stopped after `MOST_SECONDS`."""
    start, stop = time.monotonic(), threading.Timer(MOST_SECONDS, connection.interrupt)
    stop.start()
    try:
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchmany(most)]
    except Exception:
        if time.monotonic() - start < MOST_SECONDS:
            raise
        raise TimeoutError(f"it takes longer than {MOST_SECONDS:g} seconds") from None
    finally:
        stop.cancel()


def _insert(
    connection: Any, formula: Formula, rows: Sequence[dict[str, Value]], table: str
) -> None:
    marks = ", ".join("?" for _ in formula.inputs)
    quoted = table.replace('"', '""')
    cells = [tuple(row[column.name] for column in formula.inputs) for row in rows]
    connection.executemany(f'INSERT INTO "{quoted}" VALUES ({marks})', cells)


def translate(text: str, formula: Formula, written: str, wanted: str) -> str:
    """A query for a table `rows` that has the model's columns, in another dialect."""
    tree = _one_select(text, written)
    steps = {step.alias for step in tree.find_all(exp.CTE)}
    for table in [*tree.find_all(exp.Table)]:
        if table.name not in steps or table.args.get("db"):
            table.replace(exp.to_table("rows", dialect=wanted, alias=table.args.get("alias")))
    first = next(tree.find_all(exp.CTE)).this
    for column in [*first.find_all(exp.Column)]:
        if column.name not in formula.column_names:  # kept for the user
            column.replace(exp.null())
    for cast in [*tree.find_all(exp.Cast)]:
        _plain_type(cast)
    return str(tree.sql(dialect=wanted))


def _one_select(text: str, dialect: str) -> Any:
    """The query of a file that holds one SELECT and nothing else: nothing else is ever run."""
    statements = [tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None]
    kinds = [tree.key.upper() for tree in statements]
    if kinds != ["SELECT"] or statements[0].find(exp.Into) is not None:
        held = ", ".join(kinds) or "nothing"
        raise ValueError(f"it must contain a single SELECT statement, but it contains {held}")
    if statements[0].find(exp.CTE) is None:
        raise ValueError("it must begin with WITH, as a query that weigh has exported does")
    return statements[0]


def _plain_type(cast: Any) -> None:
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


def _open_onnx(data: bytes) -> Any:
    return onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])


def read_onnx_metadata(data: bytes) -> dict[str, str]:
    """The metadata of the file."""
    return dict(_open_onnx(data).get_modelmeta().custom_metadata_map)


def run_onnx(data: bytes, formula: Formula, rows: list[dict[str, Any]]) -> dict[str, Floats]:
    """The outputs of the file for rows, computed by onnxruntime."""
    session = _open_onnx(data)
    missing = session.get_modelmeta().custom_metadata_map.get(MISSING, "")
    inputs = input_names(formula)
    feed = {inputs[c.name]: _onnx_cells(c, rows, missing) for c in formula.inputs}
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed), strict=True))


def _onnx_cells(column: Input, rows: list[dict[str, Any]], missing: str) -> Any:
    values = [row[column.name] for row in rows]
    if column.kind is Kind.TEXT:
        filled = [missing if value is None else value for value in values]
        return np.array(filled, dtype=object).reshape(-1, 1)
    return np.array([[np.nan if v is None else float(v)] for v in values], dtype=np.float64)


def run_pmml(text: str, formula: Formula, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The outputs of the file for rows, by name."""
    model = pypmml.Model.fromString(text)
    asked, told = model.inputNames, model.outputNames
    cells = [[row[name] for name in asked] for row in rows]
    return [dict(zip(told, model.predict(row), strict=True)) for row in cells]


PATIENCE = 300  # seconds for each workbook
EVERY_SHEET = "csv:Text - txt - csv (StarCalc):44,34,76,1,,1033,false,false,false,false,false,-1"
"""Commas, UTF-8, numbers with all digits, a file for each sheet: half the time of a workbook."""


@dataclass(frozen=True, eq=False)
class Recalculated:
    """The results of a workbook for rows."""

    totals: Floats
    predictions: Floats
    notes: list[list[str]]  # beside answers that are not understood


@dataclass(frozen=True)
class Filled:
    """A workbook with one copy of its sheet for each row, not computed yet."""

    book: Any
    formula: Formula
    n_rows: int

    @classmethod
    def of(cls, data: bytes, formula: Formula, rows: list[dict[str, Any]]) -> Filled:
        """Fill a workbook in with rows."""
        filled = cls(openpyxl.load_workbook(io.BytesIO(data)), formula, len(rows))
        places, case = filled.places, filled.book[SHEET]
        sheets = [filled.book.copy_worksheet(case) for _ in rows]
        for i, (sheet, row) in enumerate(zip(sheets, rows, strict=True)):
            sheet.title = f"row{i}"
            _answer(sheet, places, formula, row)
        return filled

    @property
    def places(self) -> dict[str, str]:
        """The cell of each name."""
        names = self.book.defined_names
        return {name: names[name].attr_text.split("!")[1] for name in names}


def run_workbook(data: bytes, formula: Formula, rows: list[dict[str, Any]]) -> Recalculated:
    """The results of a workbook for rows, recalculated together."""
    (found,) = run_workbooks([Filled.of(data, formula, rows)])
    return found


def run_workbooks(books: list[Filled]) -> list[Recalculated]:
    """The results of each workbook for its rows; LibreOffice starts once for all of them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"filled{i}.xlsx") for i in range(len(books))]
        for filled, path in zip(books, paths, strict=True):
            filled.book.save(path)
        done = _recalculate(paths, Path(folder))
        return [
            _collect(filled, done / path.stem) for filled, path in zip(books, paths, strict=True)
        ]


def _answer(sheet: Any, places: dict[str, str], formula: Formula, row: dict[str, Any]) -> None:
    for j, column in enumerate(formula.inputs):
        value, cell = row[column.name], sheet[places[f"answer_{j + 1}"].replace("$", "")]
        if value is None and column.has_missing:
            value = missing_word(column)
        if isinstance(value, str):
            cell.value, cell.data_type = escape(value), "s"
        elif value is not None and value is not NOT_KNOWN:
            cell.value = value


def _recalculate(paths: list[Path], folder: Path) -> Path:
    """LibreOffice computes every formula, and writes all sheets to the folder that is returned."""
    program = shutil.which("soffice")
    if program is None:
        raise ImportError("recalculating needs LibreOffice (soffice), which is not installed")
    profile, done = f"-env:UserInstallation=file://{folder}/profile", folder / "done"
    words = ["--headless", profile, "--convert-to", EVERY_SHEET, "--outdir", str(done)]
    subprocess.run(
        [program, *words, *map(str, paths)],
        check=True,
        capture_output=True,
        timeout=PATIENCE * len(paths),
        env=os.environ | {"LC_ALL": "C.UTF-8"},  # no commas in numbers
    )
    return done


def _collect(filled: Filled, stem: Path) -> Recalculated:
    places, place = filled.places, openpyxl.utils.cell.coordinate_to_tuple
    sheets = [_read_sheet(Path(f"{stem}-row{i}.csv")) for i in range(filled.n_rows)]

    def pick(names: Sequence[str]) -> Floats:
        cells = [place(places[name].replace("$", "")) for name in names]
        found = [[_number(sheet[i - 1][j - 1]) for i, j in cells] for sheet in sheets]
        return np.array(found, dtype=np.float64)

    asked = range(FIRST - 1, FIRST - 1 + len(filled.formula.inputs))
    return Recalculated(
        pick([f"total_{k + 1}" for k in range(len(filled.formula.prior))]),
        pick(prediction_cells(filled.formula)),
        [[sheet[i][ANSWER] for i in asked] for sheet in sheets],
    )


def _read_sheet(path: Path) -> list[list[str]]:
    if not path.exists():
        raise ImportError("recalculating needs LibreOffice 7.2 or newer, which writes every sheet")
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.reader(file)]


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")
