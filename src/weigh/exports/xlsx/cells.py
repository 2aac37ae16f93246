"""Cells, headings and lookup lists of a workbook; no text of the user becomes a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from weigh.bins import Feature, Kind, label
from weigh.errors import Extra
from weigh.evidence import Curve
from weigh.evidence.units import digits_of
from weigh.formula import Formula, Input, Term

openpyxl = Extra("openpyxl", "workbooks need openpyxl", "xlsx")

BIG = 9.99999999999999e307
"""The largest number that a spreadsheet lets people type."""


def is_no_cell(text: str) -> bool:
    """Whether text contains characters that no cell can hold, or is too long for one."""
    odd = any((c < " " and c not in "\n\t") or "\ud800" <= c <= "\udfff" for c in text)
    return odd or "\uffff" in text or "\ufffe" in text or len(text) > 30000


def escape(text: str) -> str:
    """Escape text that looks like one of Excel's escapes (_x0041_), so that it is shown as is."""
    return re.sub(r"_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", text)


def put(sheet: Any, row: int, column: int, value: Any) -> Any:
    """Write a value to a cell; text stays text even if it looks like a formula."""
    cell = sheet.cell(row, column)
    if isinstance(value, str):
        cell.value = escape(value)
        cell.data_type = "s"
    else:
        cell.value = value
    return cell


def put_formula(sheet: Any, row: int, column: int, formula: str, look: str = "General") -> Any:
    """Write a formula to a cell, with a number format."""
    cell = sheet.cell(row, column)
    cell.value = f"={formula}"
    cell.number_format = look
    return cell


@dataclass(frozen=True)
class CellRange:
    """Consecutive cells in one column of a sheet."""

    sheet: str
    column: int
    first: int
    size: int

    @property
    def range(self) -> str:
        """The absolute address of the cells, with the sheet."""
        letter = openpyxl.utils.get_column_letter(self.column)
        last = self.first + self.size - 1
        return f"{self.sheet}!${letter}${self.first}:${letter}${last}"

    def beside(self, columns: int) -> CellRange:
        """The block of the same rows, a number of columns to the right."""
        return CellRange(self.sheet, self.column + columns, self.first, self.size)


def address(row: int, column: int) -> str:
    """The absolute address of a cell on the same sheet."""
    return f"${openpyxl.utils.get_column_letter(column)}${row}"


NO_NUMBER = "Not understood: a number is wanted. It weighs nothing."
UNSEEN = "Not seen in training: it weighs nothing."
AS_OTHER = "No level of its own: it weighs as other does."


@dataclass(frozen=True)
class SheetWords:
    """The labels of a workbook, and the format of its weights."""

    prior: str
    weight: str
    heads: tuple[str, ...]  # above the weights of a case
    totals: tuple[str, ...]
    predictions: tuple[str, ...]
    small: str = "exp(-|log odds|)"
    table: str = "Evidence"
    look: str = "0.0000"


def words_of(formula: Formula) -> SheetWords:
    """The labels for a classifier, a regressor or a scorecard."""
    names = formula.class_names
    told: tuple[str, ...] = (f"Estimate of {formula.estimated}",)
    if formula.link == "log":  # the total is the logarithm of a number
        both = "Logarithm", "Factor"
        return SheetWords("Start: nothing known", both[0], both, ("Total",), told)
    if formula.link == "identity":
        weights = [abs(w) for term in formula.terms for (w,) in term.weights]
        look = look_of(max(weights, default=0.0) or formula.prior[0])
        return SheetWords(
            "Start: nothing known", "Change", ("Change",), ("Total",), told, look=look
        )
    if formula.score_name:
        told = tuple(f"Probability of {name}" for name in names)
        odds = (f"Log odds of {names[1]}",)  # that a score stands for
        small = "Odds of the less likely class"
        return SheetWords("Base points", "Points", ("Points",), odds, told, small, "Points", "0")
    heads = ("Weight", "For, times 100", "Against, times 100") if len(names) == 2 else names
    return SheetWords("Prior", "Weight", heads, formula.total_names, formula.prediction_names)


def look_of(size: float) -> str:
    """The format of numbers of this size: three significant digits, with commas for thousands."""
    digits = digits_of(size)
    return f"#,##0.{'0' * digits}" if digits else "#,##0"


SHEET = "Lookup"


class Lookup:
    """The sheet of lists that formulas search; each list has its own column."""

    def __init__(self, sheet: Any, inputs: Iterable[Input] = ()) -> None:
        self.sheet, self.used = sheet, 0
        self._missing = {column.name: column for column in inputs if column.has_missing}

    def list(self, head: str, *columns: list[Any]) -> CellRange:
        """Write lists side by side under a heading, and return the block of the first."""
        start = self.used + 1
        for i, values in enumerate(columns):
            put(self.sheet, 1, start + i, head if i == 0 else "")
            for row, value in enumerate(values, 2):
                put(self.sheet, row, start + i, value)
        self.used += len(columns)
        return CellRange(SHEET, start, 2, len(columns[0]))

    def place(self, column: Feature, cell: str) -> str:
        """A formula for the index of a cell's level, from 1; one past the last means no level."""
        tree = self._number(column, cell) if column.kind is Kind.NUMBERS else ""
        tree = tree or self._category(column, cell) or str(column.rest + 1)
        if column.name in self._missing:
            missing = is_missing(self._missing[column.name], cell)
            tree = f"IF({missing},{column.missing_place + 1},{tree})"
        return f'IF({cell}="",{column.no_level + 1},{tree})'

    def _category(self, column: Feature, cell: str) -> str:
        """A formula for the index of the level whose text a cell holds; empty without levels."""
        texts = [*map(str, column.values)]
        if not texts:
            return ""
        if column.kind is Kind.BOOLEANS:
            texts = ["true" if value else "false" for value in column.values]
            cell = spell_boolean(cell)
        block = self.list(column.name, texts, [place + 1 for place in column.places])
        found = f"SUMPRODUCT(EXACT({block.range},{cell})*{block.beside(1).range})"
        return f"IF({found}>0,{found},{column.rest + 1})"

    def _number(self, column: Feature, cell: str) -> str:
        """A formula for the index of a number's code or, failing that, of its interval."""
        none = str(column.no_level + 1)
        otherwise = self._interval(column, cell) if column.is_numeric else str(column.rest + 1)
        if column.values:
            codes = [min(max(float(value), -BIG), BIG) for value in column.values]  # type: ignore[arg-type]
            block = self.list(
                f"{column.name}: codes", codes, [place + 1 for place in column.places]
            )
            found = f"SUMPRODUCT(({block.range}={cell})*{block.beside(1).range})"
            otherwise = f"IF({found}>0,{found},{otherwise})"
        return f"IF(ISNUMBER({cell}),{otherwise},{none})"

    def _interval(self, column: Feature, cell: str) -> str:
        uppers = [BIG, *sorted(column.cuts or (), reverse=True)]
        block = self.list(f"{column.name}: up to", uppers)
        return f"{len(uppers) + 1}-MATCH({cell},{block.range},-1)"

    def pairs(self, term: Term) -> CellRange:
        """The list of the levels of a pair, each coded as one integer, in order."""
        width = term.columns[1].no_level + 1
        keys = [left * width + right for left, right in term.places]
        return self.list(term.name, keys)

    def curve(self, curve: Curve) -> CellRange:
        """The list of a curve's pieces from last to first: upper limit, start, coefficients."""
        pieces = [*reversed(curve.pieces)]
        columns = [[min(piece.upper, BIG) for piece in pieces], [piece.start for piece in pieces]]
        columns += [[piece.cubic[power] for piece in pieces] for power in range(4)]
        return self.list("Recalibration", *columns)


def spell_boolean(cell: str) -> str:
    """A formula for true or false as text, from text or from a spreadsheet's boolean."""
    return f'IF(ISLOGICAL({cell}),IF({cell},"true","false"),LOWER({cell}))'


def missing_word(column: Input) -> str:
    """The text in a cell that stands for a missing value; an empty cell is not known.

    A category of the same spelling is a value: then the word is in brackets.
    """
    word = label(None)
    while word in column.values:
        word = f"({word})"
    return word


def is_missing(column: Input, cell: str) -> str:
    """A formula that tells whether a cell holds the word for missing."""
    text = cell if column.kind is Kind.TEXT else f"LOWER({cell})"
    return f'EXACT({text},"{missing_word(column)}")'


def choices(column: Input) -> list[Any]:
    """The values that a column's drop-down list offers, and missing where that is a level."""
    offered: list[Any] = [value for value in column.choices if value != ""]
    if column.kind is Kind.BOOLEANS:
        offered = ["true" if value else "false" for value in column.values]
    return [*offered, missing_word(column)] if column.has_missing else offered
