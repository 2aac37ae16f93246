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

PATIENCE = 300  # seconds


@dataclass(frozen=True, eq=False)
class Recalculated:
    """What a workbook says of rows."""

    totals: Floats
    predictions: Floats
    levels: list[list[Any]]
    notes: list[list[Any]]  # beside answers that are not understood


def run(data: bytes, formula: Formula, rows: list[dict[str, Any]]) -> Recalculated:
    """One copy of the sheet for each row, all recalculated in one go."""
    openpyxl = import_openpyxl()
    book = openpyxl.load_workbook(io.BytesIO(data))
    places = {name: book.defined_names[name].attr_text.split("!")[1] for name in book.defined_names}
    case = book[SHEET]
    sheets = [book.copy_worksheet(case) for _ in rows]
    for i, (sheet, row) in enumerate(zip(sheets, rows, strict=True)):
        sheet.title = f"row{i}"
        _answer(sheet, places, formula, row)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "filled.xlsx")
        book.save(path)
        computed = _recalculate(path, Path(folder)).read_bytes()
    done = openpyxl.load_workbook(io.BytesIO(computed), data_only=True)
    return _collect(done, places, formula, len(rows))


def _answer(sheet: Any, places: dict[str, str], formula: Formula, row: dict[str, Any]) -> None:
    for j, column in enumerate(formula.inputs):
        value, cell = row[column.name], sheet[places[f"answer_{j + 1}"].replace("$", "")]
        if isinstance(value, str):
            cell.value, cell.data_type = escape(value), "s"
        elif value is not None:
            cell.value = value


def _recalculate(path: Path, folder: Path) -> Path:
    """LibreOffice computes every formula of a file that holds no results yet."""
    program = shutil.which("soffice")
    if program is None:
        raise ImportError("recalculating needs LibreOffice (soffice), which is not installed")
    words = ["--headless", f"-env:UserInstallation=file://{folder}/profile", "--convert-to", "xlsx"]
    subprocess.run(
        [program, *words, "--outdir", str(folder / "done"), str(path)],
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    return folder / "done" / path.name


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
