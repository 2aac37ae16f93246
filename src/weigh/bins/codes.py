"""Find numbers that look like codes, such as -9 or 999: frequent, and outside the usual range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weigh.bins.cuts import find_ends
from weigh.frames import Floats

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
