"""Pairs of features that say more together than one by one.

Were a table of the pair's cells added to a fit, with independent weights of variance t, they would
be about G/(V + 1/t), with G the sum of minus the slopes of the rows in a cell and V that of their
curvatures (a score test). Told from all rows but a fold's, they lower the fold's loss by about

    sum over cells  w G - 1/2 w^2 V

with the G and V of the fold. Few passes over coarse levels give this for all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np

from weigh import engine
from weigh.bins import Cross, Feature
from weigh.educated.design import Design, Moments
from weigh.frames import Floats, Integers, Table

VARIANCES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
INTERVALS, LEVELS = 5, 16
"""A number has at most so many intervals in a pair; categories with more levels are in none."""

FOLDS = 4

Pair: TypeAlias = tuple[Feature, Feature]


@dataclass(frozen=True)
class Cells:
    """Slopes and curvatures, summed over the rows of each cell."""

    slope: Floats
    curvature: Floats

    def __sub__(self, other: Cells) -> Cells:
        return Cells(self.slope - other.slope, self.curvature - other.curvature)

    def __getitem__(self, at: tuple[slice, slice]) -> Cells:
        return Cells(self.slope[at], self.curvature[at])

    def weights(self) -> Floats:
        """The weights that these rows tell, their variance that of most marginal likelihood."""
        gains = [self._marginal(t) for t in VARIANCES]
        t = VARIANCES[int(np.argmax(gains))]
        told: Floats = -self.slope / (self.curvature + 1 / t)
        return told

    def _marginal(self, t: float) -> float:
        gain = self.slope**2 / (self.curvature + 1 / t) - np.log1p(t * self.curvature)
        return 0.5 * float(gain.sum())

    def gain(self, weights: Floats) -> float:
        """By how much weights lower the loss of these rows, to second order."""
        return float((-weights * self.slope - 0.5 * weights**2 * self.curvature).sum())


def rank_pairs(
    parts: Sequence[Feature], table: Table, moments: Moments, folds: Integers
) -> list[Pair]:
    """All pairs, that first which would tell held-out rows best."""
    sizes = [len(part.levels) for part in parts]
    design = Design.of(engine.place(table, parts), sizes, table.n_rows)
    gains = np.zeros(len(parts) * (len(parts) - 1) // 2)
    for slope, curvature in zip(moments.slope.T, moments.curvature.T, strict=True):
        by_fold = [_sum_cells(design, slope, curvature, folds == k) for k in range(FOLDS)]
        whole = Cells(sum(c.slope for c in by_fold), sum(c.curvature for c in by_fold))  # type: ignore[arg-type]
        for held_out in by_fold:
            rest = whole - held_out
            for place, at in enumerate(combinations(design.spans, 2)):
                gains[place] += held_out[at].gain(rest[at].weights())
    pairs = [*combinations(parts, 2)]
    return [pairs[place] for place in np.argsort(-gains, kind="stable")]


def _sum_cells(design: Design, slope: Floats, curvature: Floats, rows: Integers) -> Cells:
    some = design.take(np.flatnonzero(rows))
    return Cells(some.pairs(slope[rows]), some.pairs(curvature[rows]))


def coarsen(feature: Feature, counts: Floats) -> Feature:
    """The same feature with few intervals, of about equally many rows."""
    if feature.cuts is None or len(feature.cuts) < INTERVALS:
        return feature
    rows = counts[: len(feature.cuts) + 1].sum(axis=1)
    if not rows.any():
        return feature
    reached = np.cumsum(rows)[:-1] / rows.sum()
    wanted = np.arange(1, INTERVALS) / INTERVALS
    kept = np.unique(np.searchsorted(reached, wanted).clip(max=len(reached) - 1))
    return replace(feature, cuts=tuple(feature.cuts[k] for k in kept))


def is_coarse(feature: Feature | Cross) -> bool:
    """Whether a pair may be made of it."""
    return isinstance(feature, Feature) and 1 < len(feature.levels) <= LEVELS
