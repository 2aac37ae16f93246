"""Pairs of features that say more together than one by one.

Were a table of the pair's cells added to a fit, with independent weights of variance t, they would
be about G/(V + 1/t), with G the sum of minus the slopes of the rows in a cell and V that of their
curvatures (a score test). Told from all rows but a fold's, they lower the fold's loss by about

    sum over cells  w G - 1/2 w^2 V

with the G and V of the fold. One pass over coarse levels gives this for all pairs.
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

    def without_fold(self) -> Cells:
        """Of each fold, the first axis: the sums of all others."""
        return Cells(*(part.sum(axis=0) - part for part in (self.slope, self.curvature)))

    def weights(self, starts: Integers) -> Floats:
        """The weights that these rows tell, their variance that of most marginal likelihood.

        The pairs of one part stand side by side along the last axis, and begin at `starts`.
        """
        gains = np.stack([_by_pair(self._marginal(t), starts) for t in VARIANCES])
        best = np.array(VARIANCES)[gains.argmax(axis=0)]
        widths = np.diff([*starts, self.slope.shape[-1]])
        told: Floats = -self.slope / (
            self.curvature + 1 / np.repeat(best, widths, axis=-1)[..., None, :]
        )
        return told

    def _marginal(self, t: float) -> Floats:
        gain: Floats = self.slope**2 / (self.curvature + 1 / t) - np.log1p(t * self.curvature)
        return gain

    def gain(self, weights: Floats) -> Floats:
        """By how much weights lower the loss of each cell's rows, to second order."""
        saved: Floats = -weights * self.slope - 0.5 * weights**2 * self.curvature
        return saved


def _by_pair(values: Floats, starts: Integers) -> Floats:
    """The sums over the cells of each pair."""
    return np.asarray(np.add.reduceat(values.sum(axis=-2), starts, axis=-1))


def rank_pairs(
    parts: Sequence[Feature], table: Table, moments: Moments, folds: Integers
) -> list[Pair]:
    """All pairs, that first which would tell held-out rows best."""
    sizes = [len(part.levels) for part in parts]
    design = Design.of(engine.place(table, parts), sizes, table.n_rows)
    busiest_first = range(len(parts) - 1, 0, -1)
    judged = engine.spread(lambda j: _judge(design, j, moments, folds), busiest_first, table.n_rows)
    gains = np.zeros((len(parts), len(parts)))
    for j, gain in zip(busiest_first, judged, strict=True):
        gains[:j, j] = gain
    at = np.triu_indices(len(parts), 1)  # in the order of combinations
    pairs = [*combinations(parts, 2)]
    return [pairs[place] for place in np.argsort(-gains[at], kind="stable")]


def _judge(design: Design, column: int, moments: Moments, folds: Integers) -> Floats:
    """What the pairs of one part with each before it would tell: one part's cells at a time."""
    starts = np.array([span.start - 1 for span in design.spans[:column]])
    gains: Floats = np.zeros(column)
    for slope, curvature in zip(moments.slope.T, moments.curvature.T, strict=True):
        held_out = Cells(*design.cells(column, folds, np.column_stack([slope, curvature]), FOLDS))
        saved = held_out.gain(held_out.without_fold().weights(starts))
        gains += _by_pair(saved, starts).sum(axis=0)
    return gains


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
