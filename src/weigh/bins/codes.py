"""Numbers that look like codes, such as -9 or 999: frequent, and outside the range of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weigh.bins.cuts import find_ends
from weigh.frames import Floats

LEAST, SHARE = 5, 0.001
"""Rows that a code has at least, and their share of the rows with a number."""
FREQUENT = 0.01
"""The share of rows of a code that lies near the other numbers."""
FAR, NEAR, END = 0.5, 0.05, 0.1
"""As shares of the range of the other numbers: a gap that is enough by itself, one that needs a
code more frequent than the end of the range, and that end."""
APART = 3
"""So many times the largest gap between the other numbers is the gap before a code; prices such as
9, 19, 29, 49, 99 have gaps like those between the others."""
TEN = 10.0
"""Numbers that all have the same last digit are no codes: prices end in 9."""
SINGLE = 9.0
"""The only code of one digit; 7 and 8 may stand beside it. Its gap is that of the whole range."""
WIDE = 20
"""The range that whole numbers have at least where -1 is a code; -1, 0, 1 are three answers."""
MOST = 8
"""So many of the lowest and of the highest numbers of a column may be codes."""


def find_codes(values: Floats, known: Sequence[float] = ()) -> tuple[float, ...]:
    """Numbers of a column that are probably codes, and are not among those known.

    Such a number is -1, or has nines only but for a last digit from 6 to 9: -9, 98, 999. It is the
    lowest or the highest, it is frequent, and it is far from the other numbers, or negative where
    they are not.

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
    """Whether the lowest or the highest number looks like a code: most columns need no more."""
    low, high = find_ends(values)
    if not np.isfinite([low, high]).all():
        return True
    return _looks_like_code(low, -1) or (high >= SINGLE and _looks_like_code(high, 1))


@dataclass(frozen=True)
class _Side:
    """The lowest or the highest numbers, as long as they look like codes, and the numbers left."""

    codes: tuple[float, ...]
    n_rows: int
    rest: Floats
    sign: int

    def are_codes(self, rest: Floats, n: int) -> bool:
        """Whether they are frequent, and lie outside the range of the numbers left."""
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
        """Whether the numbers left have the last digit of these: prices such as 9, 19, 29, 99."""
        last = self.codes[-1] % TEN
        return bool(all(code % TEN == last for code in self.codes) and (rest % TEN == last).all())

    def _stands_out(self, rest: Floats, n: int, gap: float) -> bool:
        """Whether they have more rows than the end of the range that is next to them."""
        low, high = float(rest.min()), float(rest.max())
        edge = END * (high - low)
        end = (rest >= high - edge) if self.sign > 0 else (rest <= low + edge)
        often = self.n_rows >= FREQUENT * n and self.n_rows > end.sum()
        return bool(often and gap >= NEAR * (high - low) > 0)


def _spread(rest: Floats, width: float) -> bool:
    return width >= WIDE or bool((rest != np.floor(rest)).any())


def _peel(values: Floats, sign: int) -> _Side:
    """Take the numbers of one end off a column as long as they look like codes."""
    codes: list[float] = []
    rest = values
    while len(rest) and len(codes) < MOST:
        end = float(rest.max() if sign > 0 else rest.min())
        if not _looks_like_code(end, sign):
            break
        codes.append(end)
        rest = rest[rest != end]
    if sign > 0 and codes and codes[0] < SINGLE:  # 8 cylinders
        return _Side((), 0, values, sign)
    return _Side((*codes,), len(values) - len(rest), rest, sign)


def _looks_like_code(number: float, sign: int) -> bool:
    """Whether a number is all nines, but for a last digit from 6 on; or -1.

    >>> [_looks_like_code(number, 1) for number in (9.0, 96.0, 999.0, 95.0, 989.0, 99.5)]
    [True, True, True, False, False, False]
    """
    if number * sign <= 0 or number != np.floor(number) or abs(number) >= 1e15:
        return False
    digits = str(int(abs(number)))
    return number == -1.0 or (digits[-1] in "6789" and set(digits[:-1]) <= {"9"})
