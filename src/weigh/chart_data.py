"""Data for figures of tables: axes of numbers, and shortened long tables."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Literal, TypeAlias

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import spell_number

Scale: TypeAlias = Literal["linear", "log", "even"]
CROWDED = 0.1
"""Cut points are crowded if their middle half takes less than this share of their range."""

PAD, WIDE, LONE = 0.05, 0.5, 0.5
"""Drawn width of the unbounded outer intervals: from PAD to WIDE times the range of the cut points,
or LONE times the size of a single cut point."""

NOTHING: Floats = np.empty(0)
TALL = 5.0
"""Largest height of the bars of a distribution, relative to a uniform distribution."""


@dataclass(frozen=True)
class NumberAxis:
    """Cut points on a line: on the scale of the numbers, of their logs, or equally far apart.

    `outer` are the drawn widths of the unbounded outer intervals: shares of the cut points' range.

    >>> NumberAxis.of((1.0, 2.0, 3.0)).scale, NumberAxis.of((1.0, 1e1, 1e2, 1e3, 1e4, 1e5)).scale
    ('linear', 'log')
    >>> NumberAxis((0.0, 10.0), "linear").ticks(3)
    [(0.045..., '0'), (0.5, '5'), (0.954..., '10')]
    """

    cuts: tuple[float, ...]
    scale: Scale
    outer: tuple[float, float] = (PAD, PAD)

    @classmethod
    def of(cls, cuts: tuple[float, ...], share: Floats = NOTHING) -> NumberAxis:
        """The first scale on which cut points are not crowded: numbers, logs, ranks.

        `share` are the shares of the rows by interval. With them, each outer interval is drawn as
        wide as if its rows lay as densely as those of the interval beside it, within limits.
        """
        axis = cls(cuts, _scale(cuts))
        if len(cuts) < 2 or not len(share) or axis.scale == "even":
            return axis
        across = np.diff(axis._on_scale(np.array(cuts)))
        wide = across[[0, -1]] * share[[0, -1]] / np.maximum(share[[1, -2]], 1e-12)
        low, high = np.clip(wide / across.sum(), PAD, WIDE).tolist()
        return cls(cuts, axis.scale, (low, high))

    @property
    def _ends(self) -> tuple[float, float]:
        """The least and the largest number that is drawn, on the scale."""
        return self._reach(*self.outer)

    def _reach(self, below: float, above: float) -> tuple[float, float]:
        """The ends of the axis if the outer intervals take these shares of the range."""
        first, last = float(self._on_scale(self.cuts[0])), float(self._on_scale(self.cuts[-1]))
        if self.scale == "even":
            return first - 1, last + 1
        if first == last:
            pad = LONE * max(abs(last), 1.0)
            return first - pad, last + pad
        least = 0.0
        if self.scale == "linear" and (np.diff(self.cuts) == 1).all():
            least = 1.0  # whole numbers one by one: the outer two are at least as wide
        low, high = (max(part * (last - first), least) for part in (below, above))
        return first - low, last + high

    def _on_scale(self, numbers: Floats | float) -> Floats:
        if self.scale == "even":
            return np.asarray(np.interp(numbers, self.cuts, np.arange(len(self.cuts))))
        return np.asarray(np.log(numbers) if self.scale == "log" else numbers, dtype=np.float64)

    def place(self, numbers: Floats | float) -> Floats:
        """Where numbers stand, from 0 to 1."""
        low, high = self._ends
        return np.asarray((self._on_scale(numbers) - low) / (high - low))

    @property
    def edges(self) -> Floats:
        """Where intervals begin and end; the outer two go on beyond the picture."""
        return np.array([0.0, *self.place(np.array(self.cuts)), 1.0])

    def heights(self, share: Floats, beside: Floats = NOTHING) -> Floats:
        """The distribution of rows as bars over the intervals, from 0 to 1: areas are shares.

        `beside` are the densities of bars that stand beside the axis; these follow.
        """
        density = np.minimum([*(share / np.diff(self.edges)), *beside], TALL)
        return np.asarray(density / max(float(density.max(initial=0.0)), 1e-12))

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """At most so many round numbers within the cut points' range, and where they stand."""
        if self.scale == "even":
            step = -(-len(self.cuts) // most)
            numbers = [*self.cuts[step // 2 :: step]]
        else:
            numbers = (
                self._round_logs(most)
                if self.scale == "log"
                else round_numbers(*self._reach(PAD, PAD), most)
            )
        numbers = numbers or [self.cuts[len(self.cuts) // 2]]
        texts = _texts(numbers)
        return [(float(self.place(x)), text) for x, text in zip(numbers, texts, strict=True)]

    def _round_logs(self, most: int) -> list[float]:
        low, high = np.exp(self._reach(PAD, PAD))
        powers = range(floor(log10(low)), ceil(log10(high)) + 1)
        for parts in ((1, 2, 5), (1, 3), (1,)):
            inside = [m * 10.0**p for p in powers for m in parts if low <= m * 10.0**p <= high]
            if len(inside) <= most:
                return inside
        return inside[:: -(-len(inside) // most)]


def round_numbers(low: float, high: float, most: int) -> list[float]:
    """At most so many numbers in steps of 1, 2 or 5 times a power of ten, from low to high.

    >>> round_numbers(-120.0, 210.0, 5)
    [-100.0, 0.0, 100.0, 200.0]
    """
    power = floor(log10(max((high - low) / max(most, 1), 1e-300)))
    for step in (m * 10.0**p for p in (power, power + 1) for m in (1, 2, 5)):
        inside = range(ceil(low / step), floor(high / step) + 1)
        if len(inside) <= most:
            return [float(f"{k * step:.12g}") for k in inside]
    return []


def _scale(cuts: tuple[float, ...]) -> Scale:
    if not _crowded(np.array(cuts)):
        return "linear"
    return "log" if cuts[0] > 0 and not _crowded(np.log(cuts)) else "even"


def _crowded(places: Floats) -> bool:
    """Whether the middle half of the cut points is too narrow to be seen."""
    low, high = np.quantile(places, [0.25, 0.75])
    return bool(high - low < CROWDED * (places[-1] - places[0]))


def _texts(numbers: list[float]) -> list[str]:
    """Few digits, and as many as tell them apart."""
    for digits in range(3, 17):
        texts = [f"{number:.{digits}g}" for number in numbers]
        if len({*texts}) == len(texts):
            break
    return [*map(spell_number, texts)]


def outline(weights: Floats, rows: Floats, most: int) -> list[slice]:
    """A long table in at most `most` groups of neighbours, both ends alone so that they are seen.

    >>> outline(np.array([[1.0], [5.0], [5.1], [5.0], [9.0]]), np.ones(5), 3)
    [slice(0, 1, None), slice(1, 4, None), slice(4, 5, None)]
    """
    n = len(weights)
    if n <= max(most, 2):
        return [slice(i, i + 1) for i in range(n)]
    inner = segment(weights[1:-1], rows[1:-1], max(most - 2, 1))
    return [slice(0, 1), *(slice(g.start + 1, g.stop + 1) for g in inner), slice(n - 1, n)]


def segment(weights: Floats, rows: Floats, most: int, least: float = 0.0) -> list[slice]:
    """Neighbouring levels joined into at most `most` groups, with the least squared error.

    Each group has at least `least` rows; see `segmentations`.

    >>> segment(np.array([[1.0], [5.0], [5.1], [9.0]]), np.array([9.0, 9.0, 9.0, 1.0]), 3, least=2)
    [slice(0, 1, None), slice(1, 2, None), slice(2, 4, None)]
    """
    found = segmentations(weights, rows, most, least)
    return min(found, key=lambda one: (one[0], -len(one[1])))[1]


def segmentations(
    weights: Floats, rows: Floats, most: int, least: float = 0.0
) -> list[tuple[float, list[slice]]]:
    """The best groups of neighbouring levels, 1 to `most` of them, and the error of each.

    sum over groups g and levels v of g of rows_v |w_v - mean_g|^2, where mean_g is the mean of the
    group over its rows. The error is infinite where groups of at least `least` rows do not exist.
    Exact, by dynamic programming (Fisher 1958). `weights` has a column for each total of a row.
    """
    n, rows = len(weights), np.maximum(rows, 1e-9)
    most = min(most, n)
    cost = _errors(weights, rows, min(least, float(rows.sum())))
    best, back = [cost[0]], np.zeros((most, n + 1), dtype=np.intp)
    for k in range(1, most):
        through = best[-1][:, None] + cost  # the last group begins at the row, ends at the column
        back[k] = through.argmin(axis=0)
        best.append(through.min(axis=0))
    return [(float(best[k][n]), _trace(back, k)) for k in range(most)]


def _trace(back: Integers, k: int) -> list[slice]:
    """The groups that led to the last level, k + 1 of them."""
    groups, end = [], back.shape[1] - 1
    for last in range(k, -1, -1):
        start = int(back[last, end])
        groups.append(slice(start, end))
        end = start
    return groups[::-1]


def _errors(weights: Floats, rows: Floats, least: float) -> Floats:
    """The squared error of the levels from a (row) up to b (column).

    Infinite where there are none, or too few rows. Weights are taken from their mean, so that sums
    of squares lose no digits.
    """
    centred = weights - rows @ weights / rows.sum()
    n = len(weights)
    size = np.concatenate([[0.0], np.cumsum(rows)])
    first = np.vstack([np.zeros(weights.shape[1]), np.cumsum(rows[:, None] * centred, axis=0)])
    second = np.concatenate([[0.0], np.cumsum(rows * (centred**2).sum(axis=1))])
    between = size[None, :] - size[:, None]
    sums = ((first[None, :, :] - first[:, None, :]) ** 2).sum(axis=2)
    inside = np.triu(np.ones((n + 1, n + 1), dtype=bool), 1)
    few = between < least * (1 - 1e-12)
    error = second[None, :] - second[:, None] - sums / np.where(inside, between, 1.0)
    return np.asarray(np.where(inside & ~few, np.maximum(error, 0.0), np.inf))
