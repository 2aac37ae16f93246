"""Levels as lists that old and free spreadsheets can search, and the formulas that search them.

Text is searched with EXACT, because MATCH takes a for A and * for anything.
"""

from __future__ import annotations

from typing import Any

from weigh.bins import Feature, Kind
from weigh.evidence import Curve
from weigh.exports.xlsx.cells import BIG, Block, put
from weigh.formula import Input, Term

SHEET = "Lookup"


class Lookup:
    """The sheet of lists; each list has a column of its own."""

    def __init__(self, sheet: Any) -> None:
        self.sheet, self.used = sheet, 0

    def list(self, head: str, *columns: list[Any]) -> Block:
        """Lists side by side under a heading; the block of the first."""
        start = self.used + 1
        for i, values in enumerate(columns):
            put(self.sheet, 1, start + i, head if i == 0 else "")
            for row, value in enumerate(values, 2):
                put(self.sheet, row, start + i, value)
        self.used += len(columns)
        return Block(SHEET, start, 2, len(columns[0]))

    def place(self, column: Feature, cell: str) -> str:
        """The place of a cell's level, from 1 on; one past the last level is no level."""
        lacks = f'{cell}=""'
        missing, rest = column.missing_place + 1, column.rest + 1
        tree = self._number(column, cell) if column.kind is Kind.NUMBERS else ""
        tree = tree or self._category(column, cell)
        return f"IF({lacks},{missing},{tree})" if tree else f"IF({lacks},{missing},{rest})"

    def _category(self, column: Feature, cell: str) -> str:
        """Where the text of a cell stands in the list of texts."""
        texts = [t.value for t in column.conditions if t.holds == "equal"]
        if not texts:
            return ""
        if column.kind is Kind.BOOLEANS:
            texts = ["true" if value else "false" for value in texts]
            cell = spell_boolean(cell)
        found = self._find(
            self.list(column.name, [str(text) for text in texts]), cell, "EXACT({},{})"
        )
        return f"IF({found}>0,{found},{column.rest + 1})"

    def _find(self, block: Block, cell: str, same: str) -> str:
        """The position in a list, or 0."""
        seen = same.format(block.range, cell)
        return f"SUMPRODUCT({seen}*(ROW({block.range})-{block.first - 1}))"

    def _number(self, column: Feature, cell: str) -> str:
        """A code, or else the interval that holds the number and its own upper end."""
        tests = [t for t in column.conditions if t.holds == "equal"]
        none = str(column.no_level + 1)
        otherwise = self._interval(column, cell) if column.is_numeric else str(column.rest + 1)
        if tests:
            codes = [float(t.value) for t in tests]  # type: ignore[arg-type]
            codes = [min(max(code, -BIG), BIG) for code in codes]
            places = [t.place + 1 for t in tests]
            block = self.list(f"{column.name}: codes", codes, places)
            found = f"SUMPRODUCT(({block.range}={cell})*{block.beside(1).range})"
            otherwise = f"IF({found}>0,{found},{otherwise})"
        return f"IF(ISNUMBER({cell}),{otherwise},{none})"

    def _interval(self, column: Feature, cell: str) -> str:
        uppers = [BIG, *sorted(column.cuts or (), reverse=True)]
        block = self.list(f"{column.name}: up to", uppers)
        return f"{len(uppers) + 1}-MATCH({cell},{block.range},-1)"

    def pairs(self, term: Term) -> Block:
        """The levels of a cross as whole numbers, in order."""
        width = term.columns[1].no_level + 1
        keys = [left * width + right for left, right in term.places]
        return self.list(term.name, keys)

    def curve(self, curve: Curve) -> Block:
        """The pieces of a curve from the last to the first: upper end, start, coefficients."""
        pieces = [*reversed(curve.pieces)]
        columns = [[min(piece.upper, BIG) for piece in pieces], [piece.start for piece in pieces]]
        columns += [[piece.cubic[power] for piece in pieces] for power in range(4)]
        return self.list("What totals are worth", *columns)


def spell_boolean(cell: str) -> str:
    """What a cell says, be it text or one of a spreadsheet's own booleans."""
    return f'IF(ISLOGICAL({cell}),IF({cell},"true","false"),LOWER({cell}))'


def choices(column: Input) -> list[Any]:
    """What a column's drop-down list offers."""
    if column.kind is Kind.BOOLEANS:
        return ["true" if value else "false" for value in column.values]
    return [value for value in column.values if value != ""]
