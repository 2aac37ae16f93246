"""A long table in few rows: neighbouring intervals joined so that the shape is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from weigh.bins import Cross
from weigh.frames import Floats
from weigh.shapes import outline

if TYPE_CHECKING:
    from weigh.evidence.tables import FeatureTable

ROWS = 8
"""Intervals of a feature that are printed."""


def summarise(table: FeatureTable, most: int | None = ROWS) -> FeatureTable:
    """The table with at most so many intervals; codes, missing and categories stay.

    A joined interval has the mean weight of its rows. Its variance is the mean of theirs: it stands
    for levels that the model tells apart.
    """
    feature = table.feature
    if most is None or isinstance(feature, Cross) or len(feature.cuts or ()) < most:
        return table
    assert feature.cuts is not None
    n, rows = len(feature.cuts) + 1, table.counts.sum(axis=1)
    groups = outline(table.by_class[:n], rows[:n], most)
    starts = np.array([*(group.start for group in groups), *range(n, len(rows))])
    heavy = np.maximum(rows, 1e-9)[:, None]

    def mean(values: Floats | None) -> Floats | None:
        if values is None:
            return None
        return np.asarray(np.add.reduceat(values * heavy, starts) / np.add.reduceat(heavy, starts))

    errors = table.known_errors
    squares = mean(None if errors is None else errors**2)
    weights = mean(table.by_class)
    assert weights is not None
    return replace(
        table,
        feature=replace(feature, cuts=tuple(feature.cuts[g.start - 1] for g in groups[1:])),
        counts=np.add.reduceat(table.counts, starts),
        by_class=weights,
        variances=mean(table.variances),
        known_errors=None if squares is None else np.sqrt(squares),
    )
