"""Cells and texts: nothing that a user called something is ever a formula."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

BIG = 9.99999999999999e307
"""The largest number that a spreadsheet lets people type."""


def import_openpyxl() -> Any:
    """The library that writes the file."""
    try:
        import openpyxl
    except ImportError:
        raise ImportError("workbooks need openpyxl: pip install 'weigh[xlsx]'") from None
    return openpyxl


def is_no_cell(text: str) -> bool:
    """Whether text holds what no cell can."""
    odd = any((c < " " and c not in "\n\t") or "\ud800" <= c <= "\udfff" for c in text)
    return odd or "\uffff" in text or "\ufffe" in text or len(text) > 30000


def escape(text: str) -> str:
    """Text that spells one of Excel's own escapes stays as it is."""
    return re.sub(r"_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", text)


def put(sheet: Any, row: int, column: int, value: Any) -> Any:
    """A value in a cell, text as text even where it looks like a formula."""
    cell = sheet.cell(row, column)
    if isinstance(value, str):
        cell.value = escape(value)
        cell.data_type = "s"
    else:
        cell.value = value
    return cell


def put_formula(sheet: Any, row: int, column: int, formula: str, look: str = "General") -> Any:
    """A formula in a cell."""
    cell = sheet.cell(row, column)
    cell.value = f"={formula}"
    cell.number_format = look
    return cell


@dataclass(frozen=True)
class Block:
    """Cells one under the other, on a sheet."""

    sheet: str
    column: int
    first: int
    size: int

    @property
    def range(self) -> str:
        """Its address."""
        letter = import_openpyxl().utils.get_column_letter(self.column)
        last = self.first + self.size - 1
        return f"{self.sheet}!${letter}${self.first}:${letter}${last}"

    def beside(self, columns: int) -> Block:
        """The block of the same rows, so many columns to the right."""
        return Block(self.sheet, self.column + columns, self.first, self.size)


def address(row: int, column: int) -> str:
    """A cell of the same sheet."""
    return f"${import_openpyxl().utils.get_column_letter(column)}${row}"
