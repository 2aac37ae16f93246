"""Warnings about columns that are probably not features (ids) or that contain special codes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import isfinite
from typing import Any
from unicodedata import category

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Cross, Feature
from weigh.bins.cuts import find_ends
from weigh.errors import Parameter, ParameterError, ParameterWarning, warn_caller
from weigh.evidence import FeatureTable
from weigh.frames import Table, key, keys

_PART = ContextVar("_PART", default=False)


@contextmanager
def part_of_rows() -> Iterator[None]:
    """Context for fits to a part of the rows, such as a fold, in which categories may be absent."""
    token = _PART.set(True)
    try:
        yield
    finally:
        _PART.reset(token)


def warn_columns(
    features: Sequence[Feature | Cross],
    table: Table,
    tables: Sequence[FeatureTable] = (),
    categorical: Any = (),
) -> None:
    """Warn about ids, listed categories that do not occur and, for rows in memory, codes.

    Also about text that is mostly numbers, unless the user said which columns are `categorical`.
    """
    _warn_ids(features, table.n_rows, tables)
    for part in _first_parts(features):
        if isinstance(categorical, str) and categorical == "from_dtype":
            _warn_text(part)
        if part.is_numeric and type(table) is Table:
            _warn_codes(part, table)
    check_listed(features, table, tables)


def check_listed(
    features: Sequence[Feature | Cross], table: Table, tables: Sequence[FeatureTable] = ()
) -> None:
    """Warn about listed categories that do not occur; raise an error if none of a column does.

    For rows that are not in memory, only levels without any row are found, from the counts.
    """
    rows = {
        part.name: _rows_by_level(own, k)
        for own in reversed(tables)
        for k, part in enumerate(own.feature.parts)
        if part.groups
    }
    for part in _first_parts(features):
        if part.groups and (type(table) is Table or part.name in rows):
            _check_part(part, table, rows.get(part.name))


def _first_parts(features: Sequence[Feature | Cross]) -> list[Feature]:
    """One feature of each column: that of its own table, which is before those of its pairs."""
    found: dict[str, Feature] = {}
    for part in [part for feature in features for part in feature.parts]:
        found.setdefault(part.name, part)
    return [*found.values()]


def _warn_codes(part: Feature, table: Table) -> None:
    """Warn about probable codes in a numeric column: they are binned with the numbers near them."""
    numbers = table.numbers(part.name).values
    codes = [int(code) for code in find_codes(numbers, part.values)]  # type: ignore[arg-type]
    if codes:
        look = "looks like a code" if len(codes) == 1 else "look like codes"
        warn_caller(
            ParameterWarning(
                f"column {part.name!r}: {', '.join(map(str, codes))} {look}, ",
                "outside the range of the others; ",
                Parameter("special_values", {part.name: codes}),
                " gives it a level of its own"
                if len(codes) == 1
                else " gives each a level of its own",
            )
        )


def _check_part(part: Feature, table: Table, rows: Floats | None) -> None:
    """Warn about listed categories without rows: they are probably misspelt."""
    if type(table) is Table:
        absent, has = _absent_in_memory(part, table)
        filled = bool(has)
    else:
        assert rows is not None
        absent = [v for v, at in zip(part.values, part.groups, strict=True) if not rows[at]]
        has, filled = [], bool(part.other and rows[part.rest])
    if not absent:
        return
    named, told = Parameter("bins"), _name_some(absent)
    example = f"; the column has {_name_some(has)}, for example" if has else ""
    if len(absent) == len(part.values) and filled and not _PART.get():
        raise ParameterError(
            f"column {part.name!r}: no row has any category listed in ", named, f": {told}{example}"
        )
    warn_caller(
        ParameterWarning(f"column {part.name!r}: no row has {told}, listed in ", named, example)
    )


def _absent_in_memory(part: Feature, table: Table) -> tuple[list[Any], list[Any]]:
    """The listed categories that no row has, and the categories of the column."""
    column = table.codes(part.name)
    seen = {*keys([column.values[code] for code in np.unique(column.codes)])}
    absent = [value for value in part.values if key(value) not in seen]
    return absent, [value for value in column.values if value is not None]


def _name_some(values: Sequence[Any]) -> str:
    return ", ".join(map(repr, values[:MOST_NAMED])) + ", ..." * (len(values) > MOST_NAMED)


def _rows_by_level(table: FeatureTable, k: int) -> Floats:
    """The rows of each level of a column, or of the first or second column of a cross."""
    feature = table.feature
    weight: Floats = table.counts.sum(axis=1)
    if not isinstance(feature, Cross):
        return weight
    n = len(feature.parts[k].levels)
    return np.bincount([at[k] for at in feature.pairs], weight, n).astype(np.float64)


MOST_NAMED = 5
FEW_IDS = 50
"""Up to this many rows, a column may be distinct in every row by chance."""

NEARLY = 0.98
"""A column with levels for more than this share of the rows is like an id."""

MOST_NUMBERS = 0.9
"""A column of text should be numeric if more than this share of its levels are numbers."""

MANY_NUMBERS = 20
"""With fewer levels, numbers may be codes of categories."""


def _warn_ids(
    features: Sequence[Feature | Cross], n_rows: int, tables: Sequence[FeatureTable] = ()
) -> None:
    """Warn about ids: columns with a different level in every row, useless for new rows.

    The counts in `tables` tell it of columns whose levels `max_levels` has joined.
    """
    joined = {name for table in tables for name in _joined_ids(table, n_rows)}
    for part in [part for feature in features for part in feature.parts]:
        text = bool(part.values) and isinstance(part.values[0], str) and not part.in_order
        n = n_rows if part.name in joined else len(part.values)
        if text and n > NEARLY * n_rows and n_rows > FEW_IDS and not find_unit(part.values):
            what = "values" if part.other else "levels"
            each = "one for each row" if n >= n_rows else "nearly one for each row"
            warn_caller(
                f"column {part.name!r} has {n:,} {what} in {n_rows:,} rows, {each}, "
                "like an id: it cannot predict other rows; leave it out",
                UserWarning,
            )


def _warn_text(part: Feature) -> None:
    """Warn about a text column of numbers with a few others such as "?", or with a unit."""
    if others := find_odd_text(part.values):
        n, what = len(part.values) - len(others), f"numbers (not {others[0]!r})"
        how = "convert it to numbers, with null for what is missing"
    elif unit := find_unit(part.values):
        n, what = sum(_unit(value) == unit for value in part.values), f"numbers with {unit!r}"
        how = f"remove {unit!r} and convert it to numbers"
    else:
        return
    share = f"{n:,} of its {len(part.values):,}" if n < len(part.values) else f"all its {n:,}"
    warn_caller(
        ParameterWarning(
            f"column {part.name!r} is text, but {share} levels are {what}, and each is a category "
            f"of its own; {how}, or list it in ",
            Parameter("categorical_features"),
        ),
    )


def find_odd_text(values: Sequence[Any]) -> list[Any]:
    """The texts that keep a column of numbers from being one; empty if it is no such column.

    >>> find_odd_text([*map(str, range(100)), "?"]), find_odd_text(["1", "2", "?"])
    (['?'], [])
    """
    others = [value for value in values if not _is_number(value)]
    n = len(values) - len(others)
    return others if n >= MANY_NUMBERS and n > MOST_NUMBERS * len(values) else []


WITH_UNIT = re.compile(r"(\D{0,4}?)[+-]?\d[\d.,]*(\D{0,10})")
UNITS = {"%", "‰", "°", "°C", "°F", "g", "kg", "mg", "lb", "lbs", "oz", "m", "km", "cm", "mm", "mi"}
UNITS |= {"ft", "in", "l", "ml", "s", "sec", "ms", "min", "h", "hr", "hrs", "k", "K", "GB", "MB"}
"""Units that may stand right behind a number; other texts there make a code, such as 17A or 3rd."""


def find_unit(values: Sequence[Any]) -> str:
    """The currency or unit that stands beside the numbers of a text column; empty if none does.

    >>> find_unit([f"${i}.50" for i in range(30)]), find_unit([f"{i} kg" for i in range(30)])
    ('$', 'kg')
    >>> find_unit([f"A{i}" for i in range(30)]), find_unit([f"{i}B" for i in range(30)])
    ('', '')
    >>> find_unit([f"{i} pieces" for i in range(30)]), find_unit(["5 kg", "10 kg"])
    ('pieces', '')
    """
    if len(values) < MANY_NUMBERS or not (unit := _unit(values[len(values) // 2])):
        return ""
    n = sum(_unit(value) == unit for value in values)
    return unit if n >= MANY_NUMBERS and n > MOST_NUMBERS * len(values) else ""


def _unit(value: Any) -> str:
    """A currency sign before a number, or a currency, a unit or a word after it."""
    found = isinstance(value, str) and WITH_UNIT.fullmatch(value.strip())
    if not found:
        return ""
    before, after = found[1].strip(), found[2].strip()
    if before:  # other texts before a number make a code, such as A17
        return before.lstrip("+-") if _is_currency(before[-1]) else ""
    is_word = found[2].startswith(" ") and len(after) > 1 and after.isalpha()
    return after if after in UNITS or _is_currency(after) or is_word else ""


def _is_currency(text: str) -> bool:
    return len(text) == 1 and category(text) == "Sc"


def _is_number(value: Any) -> bool:
    """Whether a level is a number, or a text that spells one."""
    try:
        return not isinstance(value, str) or isfinite(float(value))
    except ValueError:
        return False


def _joined_ids(table: FeatureTable, n_rows: int) -> list[str]:
    """Columns with the level `other` of whose values none weighs more than a mean row.

    The values kept are the heaviest, so that there are as many values as rows, at least.
    """
    found = []
    for k, part in enumerate(table.feature.parts):
        if part.other and not part.groups:
            *kept, rest = _rows_by_level(table, k)[: part.rest + 1]
            if max(kept) * n_rows <= (sum(kept) + rest) * (1 + 1e-9):
                found.append(part.name)
    return found


# ------------------------------------------------------------ codes


LEAST, SHARE = 5, 0.001
"""Minimum number of rows of a code, and minimum share of the rows with a number."""
FREQUENT = 0.01
"""Minimum share of the rows of a code that is -1 or lies near the other numbers."""
FAR, NEAR, END = 0.5, 0.05, 0.1
"""Distances as shares of the range of the other numbers. A gap of FAR is sufficient. A gap of NEAR
is sufficient if the code has more rows than the outer END of the range."""
APART = 3
"""The gap before a code is at least this many times the largest gap between the other numbers.
Prices such as 9, 19, 29, 49, 99 fail this test."""
TEN = 10.0
"""Modulus for the last digit. Where all numbers share it there are no codes: prices end in 9."""
SINGLE = 9.0
"""The only positive one-digit code; 6 to 8 are codes only beside it. Its gap must be at least the
width of the range of the other numbers."""
WIDE = 20
"""Minimum range of whole numbers for -1 to be a code; in -1, 0, 1 it is an ordinary value."""
MOST = 8
"""Maximum number of codes at either end of a column."""


def find_codes(values: Floats, known: Sequence[float] = ()) -> tuple[float, ...]:
    """Numbers of a column that are probably codes, apart from the `known` ones.

    A code is -1, or consists of nines with a last digit from 6 to 9: -9, 98, 999. It is the lowest
    or highest number, it is frequent, and it is far from the other numbers, or negative while they
    are not.

    >>> income = np.array([1200.0, 3400.0, 2100.0, 900.0] * 20 + [-9.0] * 8 + [-8.0] * 5)
    >>> find_codes(income)
    (-9.0, -8.0)
    >>> find_codes(income, known=(-9.0, -8.0))
    ()
    """
    if not len(known) and not _may_have_codes(values):
        return ()
    rest = values[np.isfinite(values) & ~np.isin(values, np.asarray(known, dtype=np.float64))]
    n, found = len(rest), list[float]()
    for sign in (1, -1):
        side = _peel(rest, sign)
        others = _peel(side.rest, -sign).rest if sign > 0 else side.rest
        if side.are_codes(others, n):
            found += side.codes
            rest = side.rest
    return tuple(sorted(found))


def _may_have_codes(values: Floats) -> bool:
    """Whether the lowest or highest number looks like a code: a quick first test."""
    low, high = find_ends(values)
    if not np.isfinite([low, high]).all():
        return True
    return _looks_like_code(low, -1) or (high >= SINGLE and _looks_like_code(high, 1))


@dataclass(frozen=True)
class _Side:
    """Candidate codes at one end of a column, and the remaining numbers."""

    codes: tuple[float, ...]
    n_rows: int
    rest: Floats
    sign: int

    def are_codes(self, rest: Floats, n: int) -> bool:
        """Whether the candidates are frequent and lie outside the range of the other numbers."""
        if self.n_rows < max(LEAST, SHARE * n) or not len(rest):
            return False
        low, high = float(rest.min()), float(rest.max())
        width = high - low
        gap = (self.codes[-1] - high) if self.sign > 0 else (low - self.codes[-1])
        if -1.0 in self.codes:
            return self.n_rows >= FREQUENT * n and low >= 0 and _spread(rest, width)
        if self.sign < 0 <= low:
            return width > 0
        if gap < APART * np.diff(np.unique(rest)).max(initial=0.0) or self._ends_alike(rest):
            return False
        if self.codes[0] == SINGLE:
            return gap >= width > 0
        return 0 < FAR * width <= gap or self._stands_out(rest, n, gap)

    def _ends_alike(self, rest: Floats) -> bool:
        """Whether all numbers share the candidates' last digit: prices such as 9, 19, 29, 99."""
        last = self.codes[-1] % TEN
        return bool(all(code % TEN == last for code in self.codes) and (rest % TEN == last).all())

    def _stands_out(self, rest: Floats, n: int, gap: float) -> bool:
        """Whether the candidates have more rows than the adjacent end of the range."""
        low, high = float(rest.min()), float(rest.max())
        edge = END * (high - low)
        end = (rest >= high - edge) if self.sign > 0 else (rest <= low + edge)
        often = self.n_rows >= FREQUENT * n and self.n_rows > end.sum()
        return bool(often and gap >= NEAR * (high - low) > 0)


def _spread(rest: Floats, width: float) -> bool:
    return width >= WIDE or bool((rest != np.floor(rest)).any())


def _peel(values: Floats, sign: int) -> _Side:
    """Remove numbers from one end of a column as long as they look like codes."""
    codes: list[float] = []
    rest = values
    while len(rest) and len(codes) < MOST:
        end = float(rest.max() if sign > 0 else rest.min())
        if not _looks_like_code(end, sign):
            break
        codes.append(end)
        rest = rest[rest != end]
    if sign > 0 and codes and codes[0] < SINGLE:  # 8 alone is a value, such as 8 cylinders
        return _Side((), 0, values, sign)
    return _Side((*codes,), len(values) - len(rest), rest, sign)


def _looks_like_code(number: float, sign: int) -> bool:
    """Whether a number is -1, or consists of nines with a last digit from 6 to 9.

    >>> [_looks_like_code(number, 1) for number in (9.0, 96.0, 999.0, 95.0, 989.0, 99.5)]
    [True, True, True, False, False, False]
    """
    if number * sign <= 0 or number != np.floor(number) or abs(number) >= 1e15:
        return False
    digits = str(int(abs(number)))
    return number == -1.0 or (digits[-1] in "6789" and set(digits[:-1]) <= {"9"})
