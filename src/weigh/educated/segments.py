"""A column on few levels, for its pairs: several ways to cut it, of which each pair takes one.

quantiles  five intervals of about equally many rows
segments   five or eight intervals in which the fitted table of the column varies least
values     the intervals of the column itself, where they are few: the values of a whole number
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weigh.bins import Cross, Feature
from weigh.frames import Floats, Integers

INTERVALS, MORE, LEVELS = 5, 8, 16
"""A number has so many quantiles or segments in a pair, or more segments; a column with more levels
than these is in no pair as it is."""


def ways_to_cut(feature: Feature, counts: Floats, weights: Floats) -> list[Feature]:
    """The feature on few levels, in each way; quantiles where a way has too many levels.

    `weights` are those of its fitted table, by level and total.
    """
    quantiles = coarsen(feature, counts)
    if quantiles is feature:
        return [feature] * 4
    rows = counts[: _count(feature)].sum(axis=1)
    few, more = (cut_segments(feature, rows, weights, n) for n in (INTERVALS, MORE))
    ways = [quantiles, few, more, feature]
    return [way if is_coarse(way) else quantiles for way in ways]


def coarsen(feature: Feature, counts: Floats) -> Feature:
    """The same feature with few intervals, of about equally many rows."""
    if feature.cuts is None or len(feature.cuts) < INTERVALS:
        return feature
    rows = counts[: _count(feature)].sum(axis=1)
    if not rows.any():
        return feature
    reached = np.cumsum(rows)[:-1] / rows.sum()
    wanted = np.arange(1, INTERVALS) / INTERVALS
    kept = np.unique(np.searchsorted(reached, wanted).clip(max=len(reached) - 1))
    return replace(feature, cuts=tuple(feature.cuts[k] for k in kept))


def cut_segments(feature: Feature, rows: Floats, weights: Floats, n: int) -> Feature:
    """The feature with up to n intervals in which the weights of its own vary least over rows."""
    assert feature.cuts is not None
    ends = least_squares_segments(weights[: len(rows)], rows, n)
    return replace(feature, cuts=tuple(feature.cuts[end] for end in ends))


def least_squares_segments(values: Floats, rows: Floats, n: int) -> list[int]:
    """The last places of the first n - 1 of n segments of least squared distance to their means.

    By dynamic programming: the best k segments of the first i places are the best k - 1 of the
    first j and one of the rest, for some j.

    >>> least_squares_segments(np.array([[0.0], [0.1], [5.0], [5.1], [9.0]]), np.ones(5), 3)
    [1, 3]
    """
    size = len(values)
    n = min(n, size)
    apart = _apart(values, rows)
    best, origin = apart[0, 1:], np.zeros((n, size), dtype=np.intp)
    for k in range(1, n):
        # tried[j, i]: the first j + 1 places in k segments, and then those up to i in one
        tried = best[:-1, None] + apart[1:-1, 1:]
        tried[np.tri(size - 1, size, 0, dtype=np.bool_)] = np.inf
        origin[k] = tried.argmin(axis=0)
        best = tried.min(axis=0)
    ends, last = [], size - 1
    for k in range(n - 1, 0, -1):
        last = int(origin[k, last])
        ends.append(last)
    return ends[::-1]


def _apart(values: Floats, rows: Floats) -> Floats:
    """The squared distance to their mean of the places from i up to, without, j; 0 where j <= i."""
    heavy = np.maximum(rows, 1e-9 * max(float(rows.sum()), 1e-300))  # an empty place costs little
    zero = np.zeros((1, values.shape[1]))
    weight = np.concatenate([[0.0], np.cumsum(heavy)])
    first = np.vstack([zero, np.cumsum(heavy[:, None] * values, axis=0)])
    second = np.vstack([zero, np.cumsum(heavy[:, None] * values**2, axis=0)])
    mass = weight[None, :] - weight[:, None]
    sums, squares = (part[None, :] - part[:, None] for part in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        within = squares.sum(axis=2) - (sums**2).sum(axis=2) / mass
    return np.where(mass > 0, np.maximum(within, 0.0), 0.0)


def is_coarse(feature: Feature | Cross) -> bool:
    """Whether a pair may be made of it as it is."""
    return isinstance(feature, Feature) and 1 < len(feature.levels) <= LEVELS


def coarse_levels(fine: Feature, part: Feature) -> Integers:
    """The level of a pair's part that each level of the feature itself lies in."""
    if fine.cuts is None or part.cuts is None:
        return np.arange(len(fine.levels))
    within = np.searchsorted(np.array(part.cuts), np.array([*fine.cuts, np.inf]))
    others = len(part.cuts) + 1 + np.arange(len(fine.levels) - len(within))
    return np.concatenate([within, others])


def _count(feature: Feature) -> int:
    return len(feature.cuts or ()) + 1
