"""Numbers as people write them: decimal commas, thousands separators, percent signs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from pyarrow import compute

SPACES = "[ \u00a0\u202f\u2009']"
"""What separates thousands in either convention: spaces of all widths, and the apostrophe."""
MINUS = "\u2212"
PATTERNS = {
    point: (
        rf"^[+\-{MINUS}]?(\d+|\d{{1,3}}({comma}\d{{3}})+|\d{{1,3}}({SPACES}\d{{3}})+)"
        rf"({mark}\d+)?\s?%?$"
    )
    for point, mark, comma in ((".", r"\.", ","), (",", ",", r"\."))
}
"""By the decimal mark; the other mark separates thousands."""


def amount_columns(table: pa.Table, names: Iterable[str]) -> dict[str, set[str]]:
    """Columns of text whose values are all numbers, with the decimal marks that fit them."""
    found = {name: _marks(table[name]) for name in names}
    return {name: marks for name, marks in found.items() if marks}


def _marks(column: Any) -> set[str]:
    known = compute.drop_null(compute.unique(column))
    if not len(known):
        return set()
    return {
        mark
        for mark, pattern in PATTERNS.items()
        if compute.all(compute.match_substring_regex(known, pattern)).as_py()
    }


def read_amounts(column: Any, decimal: str) -> Any:
    """A column of such text as numbers; 12% is 12."""
    comma = "," if decimal == "." else r"\."
    plain = compute.replace_substring_regex(column, rf"({comma}|{SPACES}|%|\s)", "")
    plain = compute.replace_substring(plain, ",", ".") if decimal == "," else plain
    return compute.replace_substring(plain, MINUS, "-").cast(pa.float64())


def choose_decimal(table: pa.Table, fits: dict[str, set[str]]) -> str:
    """The decimal mark of a file: the one that its columns agree on."""
    told = {mark: name for name, marks in fits.items() for mark in marks if len(marks) == 1}
    if len(told) == 2:
        raise ValueError(
            f"column {told[',']!r} has decimal commas and column {told['.']!r} decimal points; "
            "make them alike, or name the decimal mark (decimal=',' or --decimal ,)"
        )
    has_points = any(pa.types.is_floating(field.type) for field in table.schema)
    unclear = [] if told or has_points else [n for n in fits if _has_marks(table[n])]
    if unclear:
        raise ValueError(
            f"column {unclear[0]!r} holds numbers with commas or points that may separate "
            "thousands or decimals; name the decimal mark (decimal='.' or --decimal .)"
        )
    return next(iter(told), ".")


def _has_marks(column: Any) -> bool:
    return bool(compute.any(compute.match_substring_regex(column, "[.,]")).as_py())
