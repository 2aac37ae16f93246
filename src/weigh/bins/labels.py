"""Text of levels: how intervals of numbers are written.

The interval (43.5, 45.5] of a column of whole numbers reads "44 to 45". There are three notations:
EXACT identifies levels in tables and files, BRIEF is for figures, and WORDS is for pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from math import floor, inf, nextafter
from typing import Any, TypeAlias

import numpy as np

from weigh.arrays import Floats
from weigh.frames import NOT_KNOWN, Value

LARGE = 1e15
"""From this size on, numbers are written in scientific notation."""
FAR, NEAR = 15, -6
"""Powers of ten beyond which the notation WORDS keeps scientific notation."""
CHUNK = 1 << 16
"""Rows tested at once."""
ANY_NUMBER = "any number"


@dataclass(frozen=True)
class Interval:
    """The numbers above `lower` up to and including `upper`."""

    lower: float
    upper: float
    label: str = field(compare=False)

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Other:
    """The level of all values without their own level, if rare values were joined."""

    def __str__(self) -> str:
        return "other"


@dataclass(frozen=True)
class Joined:
    """Categories that share a level."""

    values: tuple[Value, ...]

    def __str__(self) -> str:
        return spell_few(self.values)


OTHER = Other()
MOST_OTHERS = 100
"""The most frequent of the values that share the level `other` are recorded, up to this number."""
LISTED = 4
"""A level of more categories is named by the first three and the number of others."""
JOINERS = "\u200c\u200d\xa0"
"""Invisible characters that words and emoji need; they count as printable."""
Single: TypeAlias = Value | Interval | Joined | Other
Level: TypeAlias = Single | tuple[Single, ...]


def label(level: Level) -> str:
    """Text of a level or a class: true, 3, 4 to 7, missing, not known."""
    if level is None or level is NOT_KNOWN:
        return "missing" if level is None else "not known"
    return str(level).lower() if isinstance(level, bool) else str(level)


def spell_level(level: Level) -> str:
    """Text of a level as people read it: in quotes where nothing else shows its blanks.

    Text that has quotes of its own is in quotes, too. So no two texts are spelt alike.

    >>> spell_level("ma"), spell_level("ma "), spell_level(""), spell_level(3)
    ('ma', '"ma "', '""', '3')
    >>> spell_level('"ma "')
    '""ma ""'
    """
    if not isinstance(level, str):
        return label(level)
    quoted = level.startswith('"') and level.endswith('"')
    return f'"{level}"' if quoted else quote_blanks(level) or '""'


def spell_few(values: Sequence[Value]) -> str:
    """A list of values as text: all of up to four, or the first three and how many others.

    >>> spell_few("a"), spell_few("abcd"), spell_few("abcde")
    ('a', 'a, b, c or d', 'a, b, c or 2 others')
    """
    *first, last = map(spell_level, values)
    if not first:
        return last
    if len(first) < LISTED:
        return f"{', '.join(first)} or {last}"
    return f"{', '.join(first[: LISTED - 1])} or {len(values) - LISTED + 1} others"


def printable(text: str) -> str:
    """Escape control characters, so that a name stays on one line and is safe in a terminal."""
    return "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode() for c in text
    )


def quote_blanks(text: str) -> str:
    """Text in quotes where it begins or ends with a blank, which a table would not show.

    >>> quote_blanks("ma"), quote_blanks("ma "), quote_blanks(" ")
    ('ma', '"ma "', '" "')
    """
    return text if text == text.strip() else f'"{text}"'


def are_whole(
    values: Floats, weight: Floats | None = None, special: Sequence[float] | Floats = ()
) -> bool:
    """Whether all numbers are whole; missing, infinite and special ones are ignored.

    >>> are_whole(np.array([1.0, 2.0, np.nan])), are_whole(np.array([1.0, 2.5]))
    (True, False)
    """
    for start in range(0, len(values), CHUNK):
        part = values[start : start + CHUNK]
        odd = (part != np.floor(part)) | (np.abs(part) >= LARGE)
        odd &= np.isfinite(part)
        own = None if weight is None else weight[start : start + CHUNK]
        if not _none_counts(odd, part, own, special):
            return False
    return True


def are_binary(
    values: Floats, weight: Floats | None = None, special: Sequence[float] | Floats = ()
) -> bool:
    """Whether all numbers are 0 or 1; missing and special ones are ignored.

    >>> are_binary(np.array([1.0, 0.0, np.nan])), are_binary(np.array([1.0, 2.0]))
    (True, False)
    """
    odd = ~((values == 0.0) | (values == 1.0) | np.isnan(values))
    return _none_counts(odd, values, weight, special)


def are_counts(
    values: Floats, weight: Floats | None = None, special: Sequence[float] | Floats = ()
) -> bool:
    """Whether no number is below 0; missing and special ones are ignored.

    >>> are_counts(np.array([3.0, 0.0, np.nan])), are_counts(np.array([3.0, -2.0]))
    (True, False)
    """
    return _none_counts(values < 0.0, values, weight, special)


def _none_counts(
    odd: np.ndarray[Any, np.dtype[np.bool_]],
    values: Floats,
    weight: Floats | None,
    special: Sequence[float] | Floats,
) -> bool:
    """Whether none of the odd numbers counts: each is special or has no weight."""
    if not odd.any():
        return True
    if weight is not None:
        odd &= weight > 0
    return bool(np.isin(values[odd], np.asarray(special, dtype=np.float64)).all())


BINARY = ("0", "1")
"""Labels of the two intervals of a column of 0 and 1."""


@dataclass(frozen=True)
class Notation:
    """Templates of intervals.

    `up_to`, `between` and `above` are for intervals that include their upper limit, `below`,
    `from_to` and `least` for those that include the lower one. Whole numbers use `up_to`, `least`.
    """

    up_to: str
    between: str
    above: str
    least: str
    cuts: Callable[[Sequence[float]], list[str]]
    whole: Callable[[str], str] = str
    below: str = "< {}"
    from_to: str = "{} to {}"

    def intervals(self, cuts: Sequence[float], left: bool = False) -> tuple[str, ...]:
        """Text of the intervals between cut points; `left` intervals include their lower limit.

        >>> EXACT.intervals(to_right_closed((18.0, 65.0)), left=True)
        ('< 18.0', '[18.0, 65.0)', '>= 65.0')
        """
        if not cuts:
            return (ANY_NUMBER,)
        texts = self.cuts(to_left_closed(cuts) if left else cuts)
        between, ends = (self.between, (self.up_to, self.above))
        if left:
            between, ends = self.from_to, (self.below, self.least)
        inner = [between.format(a, b) for a, b in pairwise(texts)]
        return (ends[0].format(texts[0]), *inner, ends[1].format(texts[-1]))

    def whole_numbers(self, cuts: Sequence[float]) -> tuple[str, ...]:
        """Text of the intervals by the whole numbers in them: one, or the first and the last."""
        if not cuts:
            return (ANY_NUMBER,)
        last = [floor(cut) for cut in cuts]
        texts = [(self.whole(str(a + 1)), self.whole(str(b))) for a, b in pairwise(last)]
        inner = [a if a == b else f"{a} to {b}" for a, b in texts]
        ends = self.whole(str(last[0])), self.whole(str(last[-1] + 1))
        return (self.up_to.format(ends[0]), *inner, self.least.format(ends[1]))


def hold_whole_numbers(cuts: Sequence[float]) -> bool:
    """Whether every interval between cut points holds a whole number."""
    near = all(abs(cut) < LARGE for cut in cuts)
    return near and all(floor(a) < floor(b) for a, b in pairwise(cuts))


def to_right_closed(cuts: Sequence[float]) -> tuple[float, ...]:
    """Cut points for intervals that include their lower limit: the next float below each.

    x < cut is the same as x <= the largest float below the cut, so every rule can stay "x <= cut".
    """
    return tuple(nextafter(cut, -inf) for cut in cuts)


def to_left_closed(cuts: Sequence[float]) -> tuple[float, ...]:
    """Inverse of `to_right_closed`: the cut points as the user gave them.

    >>> to_left_closed(to_right_closed((-1.5, 0.0, 18.0)))
    (-1.5, 0.0, 18.0)
    """
    return tuple(nextafter(cut, inf) + 0.0 for cut in cuts)  # 0.0, not -0.0


def spell_number(text: str) -> str:
    """A number in plain digits, with commas from 10,000 on, so that years are not grouped.

    >>> [spell_number(text) for text in ("25078.0", "1.23457e+06", "1987.0", "1e-05", "1e+300")]
    ['25,078', '1,234,570', '1987', '0.00001', '1e+300']
    """
    number = Decimal(text)
    if number and not NEAR < number.adjusted() < FAR:
        return text
    return f"{number:{',' if abs(number) >= 10_000 else ''}f}".removesuffix(".0")


def _exact_cuts(cuts: Sequence[float]) -> list[str]:
    """Cut points with as few digits as distinguish them: at least six, and one decimal."""
    least = [len(str(int(abs(cut)))) + 1 if abs(cut) < LARGE else 0 for cut in cuts]
    for digits in range(6, 18):
        texts = [f"{cut:.{max(digits, n)}g}" for cut, n in zip(cuts, least, strict=True)]
        if len(set(texts)) == len(cuts):
            break
    return [text if set(text) & set(".en") else f"{text}.0" for text in texts]


def _brief_cuts(cuts: Sequence[float]) -> list[str]:
    """Cut points with one digit more than is needed to distinguish them: at least three."""
    for digits in range(2, 18):
        if len({f"{cut:.{digits}g}" for cut in cuts}) == len(cuts):
            break
    texts = [f"{cut:.{max(digits + 1, 3)}g}" for cut in cuts]
    pairs = zip(cuts, texts, strict=True)
    return [f"{cut:.0f}" if "e+" in text and abs(cut) < 1e7 else text for cut, text in pairs]


def _cuts_in_words(cuts: Sequence[float]) -> list[str]:
    return [*map(spell_number, _exact_cuts(cuts))]


EXACT = Notation("<= {}", "({}, {}]", "> {}", ">= {}", _exact_cuts, from_to="[{}, {})")
BRIEF = Notation("≤ {}", "{} to {}", "> {}", "≥ {}", _brief_cuts)
WORDS = Notation(
    "up to {}",
    "{} to {}",
    "above {}",
    "{} or more",
    _cuts_in_words,
    spell_number,
    below="below {}",
    from_to="{} to below {}",
)
