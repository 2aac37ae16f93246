"""Pairs of features that say more together than one by one.

The score test: were a table of the pair's cells added to the fit, with independent weights of a
small variance t, the log marginal likelihood would rise by about

    1/2 sum over cells (G^2/(V + 1/t) - ln(1 + t V))

with G the sum of the residuals in a cell and V that of the curvatures. Two passes over coarse
levels give the G and V of all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from weigh import engine
from weigh.bins import Cross, Feature
from weigh.educated.design import Design, Moments
from weigh.frames import Floats, Table

VARIANCES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
INTERVALS, LEVELS = 5, 16
"""A number has at most so many intervals in a pair; categories with more levels are in none."""


def coarsen(feature: Feature, counts: Floats) -> Feature:
    """The same feature with few intervals, of about equally many rows."""
    if feature.cuts is None or len(feature.cuts) < INTERVALS:
        return feature
    rows = counts[: len(feature.cuts) + 1].sum(axis=1)
    reached = np.cumsum(rows)[:-1] / rows.sum()
    wanted = np.arange(1, INTERVALS) / INTERVALS
    kept = np.unique(np.searchsorted(reached, wanted).clip(max=len(reached) - 1))
    return replace(feature, cuts=tuple(feature.cuts[k] for k in kept))


def rank_pairs(
    parts: Sequence[Feature], table: Table, moments: Moments
) -> list[tuple[Feature, Feature]]:
    """All pairs, that first which would raise the marginal likelihood most."""
    placed = engine.place(table, parts)
    design = Design.of(placed, [len(part.levels) for part in parts], table.n_rows)
    gains = np.zeros(len(parts) * (len(parts) - 1) // 2)
    n_totals = moments.slope.shape[1]
    sums = [
        (
            design.pairs(np.ascontiguousarray(moments.slope[:, k])),
            design.pairs(np.ascontiguousarray(moments.curvature[:, k])),
        )
        for k in range(n_totals)
    ]
    spans = [*combinations(design.spans, 2)]
    for place, (a, b) in enumerate(spans):
        gains[place] = score([(G[a, b], V[a, b]) for G, V in sums])
    order = np.argsort(-gains, kind="stable")
    pairs = [*combinations(parts, 2)]
    return [pairs[place] for place in order]


def score(tables: Sequence[tuple[Floats, Floats]]) -> float:
    """The most that a table for the pair could add to the log marginal likelihood."""
    gains = [
        sum(0.5 * float((G**2 / (V + 1 / t) - np.log1p(t * V)).sum()) for G, V in tables)
        for t in VARIANCES
    ]
    return max(gains)


def is_coarse(feature: Feature | Cross) -> bool:
    """Whether a pair may be made of it."""
    return isinstance(feature, Feature) and 1 < len(feature.levels) <= LEVELS
