"""A workbook filled in with rows and recalculated by LibreOffice."""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weigh.exports.xlsx.case import ANSWER, FIRST, SHEET, prediction_cells
from weigh.exports.xlsx.cells import escape, import_openpyxl
from weigh.formula import Formula
from weigh.frames import Floats

PATIENCE = 300  # seconds for each workbook


@dataclass(frozen=True, eq=False)
class Recalculated:
    """What a workbook says of rows."""

    totals: Floats
    predictions: Floats
    levels: list[list[Any]]
    notes: list[list[Any]]  # beside answers that are not understood


@dataclass(frozen=True)
class Filled:
    """A workbook with one copy of its sheet for each row, not computed yet."""

    book: Any
    formula: Formula
    n_rows: int

    @classmethod
    def of(cls, data: bytes, formula: Formula, rows: list[dict[str, Any]]) -> Filled:
        """Fill a workbook in with rows."""
        filled = cls(import_openpyxl().load_workbook(io.BytesIO(data)), formula, len(rows))
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


def run(data: bytes, formula: Formula, rows: list[dict[str, Any]]) -> Recalculated:
    """What a workbook says of rows, all recalculated in one go."""
    (found,) = run_all([Filled.of(data, formula, rows)])
    return found


def run_all(books: list[Filled]) -> list[Recalculated]:
    """What each workbook says of its rows: LibreOffice starts once for all of them."""
    openpyxl = import_openpyxl()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"filled{i}.xlsx") for i in range(len(books))]
        for filled, path in zip(books, paths, strict=True):
            filled.book.save(path)
        _recalculate(paths, Path(folder))
        computed = [Path(folder, "done", path.name).read_bytes() for path in paths]
    done = (openpyxl.load_workbook(io.BytesIO(data), data_only=True) for data in computed)
    return [
        _collect(book, filled.places, filled.formula, filled.n_rows)
        for book, filled in zip(done, books, strict=True)
    ]


def _answer(sheet: Any, places: dict[str, str], formula: Formula, row: dict[str, Any]) -> None:
    for j, column in enumerate(formula.inputs):
        value, cell = row[column.name], sheet[places[f"answer_{j + 1}"].replace("$", "")]
        if isinstance(value, str):
            cell.value, cell.data_type = escape(value), "s"
        elif value is not None:
            cell.value = value


def _recalculate(paths: list[Path], folder: Path) -> None:
    """LibreOffice computes every formula of files that hold no results yet."""
    program = shutil.which("soffice")
    if program is None:
        raise ImportError("recalculating needs LibreOffice (soffice), which is not installed")
    words = ["--headless", f"-env:UserInstallation=file://{folder}/profile", "--convert-to", "xlsx"]
    subprocess.run(
        [program, *words, "--outdir", str(folder / "done"), *map(str, paths)],
        check=True,
        capture_output=True,
        timeout=PATIENCE * len(paths),
    )


def _collect(book: Any, places: dict[str, str], formula: Formula, n: int) -> Recalculated:
    def pick(sheet: Any, name: str) -> Any:
        value = sheet[places[name].replace("$", "")].value
        return value if isinstance(value, int | float) else np.nan

    sheets, asked = [book[f"row{i}"] for i in range(n)], range(len(formula.inputs))
    totals = [f"total_{k + 1}" for k in range(len(formula.prior))]
    shares = prediction_cells(formula)
    return Recalculated(
        np.array([[pick(sheet, name) for name in totals] for sheet in sheets], dtype=np.float64),
        np.array([[pick(sheet, name) for name in shares] for sheet in sheets], dtype=np.float64),
        [[cell.value for cell in sheet["B"]] for sheet in sheets],
        [[sheet.cell(FIRST + j, ANSWER + 1).value for j in asked] for sheet in sheets],
    )
