"""Neighbouring intervals whose weights agree, made one for people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from weigh.bins import Cross, Feature
from weigh.educated.prior import count_intervals
from weigh.frames import Floats, Integers
from weigh.tally import Counts

APART = 0.1
"""Merging moves no total by more than this, whatever the row: no probability by more than 0.025."""

TRIES = 12


def group_tables(
    counts: Sequence[Counts], columns: Sequence[Floats], fine: Collection[str]
) -> list[Integers]:
    """The groups of each table's levels; tables that are not among the fine ones stay."""
    may = [
        c.feature.name in fine and not c.feature.parts[0].ordered and count_intervals(c.feature) > 1
        for c in counts
    ]
    groups: list[Integers] = []
    for share in np.geomspace(1, 1 / max(sum(may), 1), TRIES):
        groups = [
            group_levels(c.feature, column, share * APART) if some else np.arange(len(column))
            for c, column, some in zip(counts, columns, may, strict=True)
        ]
        if sum(map(_move, counts, columns, groups)) <= APART:
            break
    return groups


def _move(counts: Counts, weights: Floats, groups: Integers) -> float:
    """How far merging moves a weight of this table at the most."""
    means = average(groups, counts.counts.sum(axis=1), weights)
    return float(np.abs(means[groups] - weights).max(initial=0.0))


def group_levels(feature: Feature | Cross, weights: Floats, most: float) -> Integers:
    """The group of each level: intervals in a row that differ by no more, others by themselves."""
    from weigh.educated.kernels import group_near

    groups = np.zeros(len(weights), dtype=np.intp)
    group_near(np.ascontiguousarray(weights), count_intervals(feature), most, groups)
    return groups


def count_groups(groups: Integers) -> int:
    """How many groups there are; a column without a single answer has none."""
    return int(groups[-1]) + 1 if len(groups) else 0


def merge_feature(feature: Feature | Cross, groups: Integers) -> Feature | Cross:
    """The feature with one interval per group."""
    if isinstance(feature, Cross) or not feature.cuts:
        return feature
    ends = np.flatnonzero(np.diff(groups[: len(feature.cuts) + 1]))
    return replace(feature, cuts=tuple(feature.cuts[end] for end in ends))


def average(groups: Integers, rows: Floats, weights: Floats) -> Floats:
    """The mean weight of each group, over the rows.

    >>> average(np.array([0, 0, 1]), np.array([3.0, 1.0, 2.0]), np.array([[4.0], [8.0], [1.0]]))
    array([[5.],
           [1.]])
    """
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    heavy = np.maximum(rows, 1e-12)
    shares = heavy / np.add.reduceat(heavy, starts)[groups]
    means: Floats = np.add.reduceat(weights * shares[:, None], starts, axis=0)
    return means


def add_up(groups: Integers, counts: Floats) -> Floats:
    """The counts of each group."""
    total: Floats = np.add.reduceat(counts, np.flatnonzero(np.diff(groups, prepend=-1)), axis=0)
    return total
