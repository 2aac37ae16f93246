"""Cut a column into few levels for its pairs, in several ways; each pair uses the best one.

quantiles  five bins with about the same number of rows
segments   eight bins, within which the fitted table of the column varies least
values     the bins of the column itself, if they are few, such as the values of an integer
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature
from weigh.chart_data import segment

INTERVALS, SEGMENTS, LEVELS = 5, 8, 16
"""Number of quantile bins and of segments in a pair; and the largest number of levels with which a
column is used unchanged."""


def ways_to_cut(feature: Feature, counts: Floats, tables: Sequence[Floats]) -> list[Feature]:
    """Cut a feature into few levels in each way; quantiles replace a way with too many levels.

    `tables` are weights of the feature, by level and total; each gives one way by segments.
    """
    quantiles = coarsen(feature, counts)
    if quantiles is feature:
        return [feature] * (2 + len(tables))
    rows = counts[: _count(feature)].sum(axis=1)
    ways = [quantiles, feature, *(cut_segments(feature, rows, own, SEGMENTS) for own in tables)]
    return [way if is_coarse(way) else quantiles for way in ways]


def coarsen(feature: Feature, counts: Floats) -> Feature:
    """Merge a feature's bins into a few quantile bins."""
    if feature.cuts is None or len(feature.cuts) < INTERVALS:
        return feature
    rows = counts[: _count(feature)].sum(axis=1)
    return feature.with_cuts(_find_quantiles(rows, INTERVALS)) if rows.any() else feature


def add_quantiles(feature: Feature, counts: Floats, few: Feature, n: int) -> Feature:
    """A coarse part `few` of a feature, with the cut points of n quantile bins added."""
    rows = counts[: _count(feature)].sum(axis=1)
    if not feature.cuts or not few.cuts or not rows.any():
        return few
    own = np.searchsorted(np.array(feature.cuts), np.array(few.cuts))
    return feature.with_cuts(sorted({*own.tolist(), *_find_quantiles(rows, n)}))


def _find_quantiles(rows: Floats, n: int) -> list[int]:
    """Indices of the cut points that come nearest to n bins of equal numbers of rows."""
    reached = np.cumsum(rows)[:-1] / rows.sum()
    wanted = np.arange(1, n) / n
    found: list[int] = np.unique(
        np.searchsorted(reached, wanted).clip(max=len(reached) - 1)
    ).tolist()
    return found


def cut_segments(feature: Feature, rows: Floats, weights: Floats, n: int) -> Feature:
    """Merge a feature's bins into at most n, within which its weights vary least over the rows."""
    groups = segment(weights[: len(rows)], rows, n)
    return feature.with_cuts(group.start - 1 for group in groups[1:])


def is_coarse(feature: Feature | Cross) -> bool:
    """Whether a feature has few enough levels to be used unchanged in a pair."""
    return isinstance(feature, Feature) and 1 < len(feature.levels) <= LEVELS


def coarse_levels(fine: Feature, part: Feature) -> Integers:
    """The level of the coarse feature `part` that contains each level of `fine`."""
    if fine.cuts is None or part.cuts is None:
        return np.arange(len(fine.levels))
    within = np.searchsorted(np.array(part.cuts), np.array([*fine.cuts, np.inf]))
    others = len(part.cuts) + 1 + np.arange(len(fine.levels) - len(within))
    return np.concatenate([within, others])


def _count(feature: Feature) -> int:
    return len(feature.cuts or ()) + 1
