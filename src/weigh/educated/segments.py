"""A column on few levels, for its pairs: several ways to cut it, of which each pair takes one.

quantiles  five intervals of about equally many rows
segments   eight intervals in which the fitted table of the column varies least
values     the intervals of the column itself, where they are few: the values of a whole number
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weigh.bins import Cross, Feature
from weigh.frames import Floats, Integers
from weigh.shapes import segment

INTERVALS, SEGMENTS, LEVELS = 5, 8, 16
"""A number has so many quantiles in a pair, or so many segments; a column with more levels than
these is in no pair as it is."""


def ways_to_cut(feature: Feature, counts: Floats, tables: Sequence[Floats]) -> list[Feature]:
    """The feature on few levels, in each way; quantiles where a way has too many levels.

    `tables` are weights of the feature, by level and total, each of which it is segmented by.
    """
    quantiles = coarsen(feature, counts)
    if quantiles is feature:
        return [feature] * (2 + len(tables))
    rows = counts[: _count(feature)].sum(axis=1)
    ways = [quantiles, feature, *(cut_segments(feature, rows, own, SEGMENTS) for own in tables)]
    return [way if is_coarse(way) else quantiles for way in ways]


def coarsen(feature: Feature, counts: Floats) -> Feature:
    """Join a feature's bins into a few quantiles."""
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
    groups = segment(weights[: len(rows)], rows, n)
    return replace(feature, cuts=tuple(feature.cuts[group.start - 1] for group in groups[1:]))


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
