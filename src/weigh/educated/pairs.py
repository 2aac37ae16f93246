"""Pairs of features that say more together than one by one.

Were a table of the pair's cells added to a fit, with independent weights of variance t, they would
be about G/(V + 1/t), with G the sum of minus the slopes of the rows in a cell and V that of their
curvatures (a score test). Told from all rows but a fold's, they lower the fold's loss by about

    sum over cells  w G - 1/2 w^2 V

with the G and V of the fold. One pass over coarse levels gives this for all pairs; where there are
very many pairs, a few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weigh import engine
from weigh.bins import Cross, Feature
from weigh.educated.design import Design, Source, by_fields, weigh_rows
from weigh.educated.passes import Tables, View
from weigh.engine import HELD_OUT, TRAIN, Block, Coded, Dealt, Sums
from weigh.frames import Floats, Integers
from weigh.tally import Counts

VARIANCES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
INTERVALS, LEVELS = 5, 16
"""A number has at most so many intervals in a pair; categories with more levels are in none."""

ROOM = 1 << 22
"""So many sums are had in one pass, of which one part's may be more."""


@dataclass(frozen=True)
class Part:
    """A feature on few levels, and how these follow from those of the coded feature."""

    feature: Feature
    source: Source

    @classmethod
    def of(cls, counts: Counts, place: int) -> Part:
        """The feature that is coded in this place."""
        assert isinstance(counts.feature, Feature)
        few = coarsen(counts.feature, counts.counts)
        levels = np.append(coarse_levels(counts.feature, few), len(few.levels))
        return cls(few, Source((place,), levels, len(few.levels)))


@dataclass(frozen=True)
class Cells:
    """Slopes and curvatures, summed over the rows of each cell."""

    slope: Floats
    curvature: Floats

    def of_role(self, roles: Integers, role: int) -> Cells:
        """From groups of rows, the first axis, to splits: the sums of the groups of a role."""
        shares = (roles == role).T.astype(np.float64)
        return Cells(*(np.tensordot(shares, part, 1) for part in (self.slope, self.curvature)))

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


@dataclass(frozen=True)
class CellSums:
    """The statistic: slopes and curvatures in each cell, by group, of parts with those before."""

    view: View
    design: Design  # of the parts
    later: tuple[int, ...]
    n_groups: int

    __reduce__ = by_fields

    @property
    def tables(self) -> Tables:
        """Of each two parts."""
        return Tables(self.design, tuple(range(self.later[-1] + 1)), self.later)

    def begin(self) -> Sums:
        """For each total: group by cell by slope and curvature."""
        shape = (self.view.target.n_totals, self.n_groups, self.tables.size, 2)
        return Sums((np.zeros(shape),))

    def add(self, block: Block, total: Sums) -> None:
        """One part after the other, on threads."""
        from weigh.educated.kernels import sum_cells

        assert block.groups is not None
        seen, places, tables = self.view.see(block), self.design.place(block), self.tables
        for slope, curvature, out in zip(seen.slope, seen.curvature, total.arrays[0], strict=True):
            values = np.column_stack([slope, curvature])

            def fill(b: int, values: Floats = values, out: Floats = out) -> None:
                strip = tables.strip(b)
                sum_cells(places, b, strip.origins, strip.widths, block.groups, values, out)

            engine.spread(fill, self.later[::-1], len(block))  # the busiest first


def rank_pairs(parts: Sequence[Part], dealt: Dealt, view: View) -> list[tuple[int, int]]:
    """All pairs of parts, that first which would tell held-out rows best."""
    design = Design(tuple(part.source for part in parts))
    gains: dict[tuple[int, int], float] = {}
    n_groups = len(dealt.roles)
    for later in _share(design, n_groups * view.target.n_totals):
        cells = CellSums(view, design, later, n_groups)
        sums = np.moveaxis(dealt.rows.sum(cells).arrays[0], -1, 1)
        for b in later:
            saved = np.sum([_judge(cells.tables, b, own, dealt.roles) for own in sums], axis=0)
            gains.update({(a, b): gain for a, gain in enumerate(saved.tolist())})
    return sorted(sorted(gains), key=lambda pair: -gains[pair])


def _share(design: Design, n_sums: int) -> Iterator[tuple[int, ...]]:
    """The parts whose pairs with those before them are summed in one pass, pass by pass."""
    widths = np.array(design.sizes) + 1
    sums = 2 * n_sums * widths * (np.cumsum(widths) - widths)
    passes = (np.cumsum(sums) - sums) // ROOM
    for number in np.unique(passes[1:]):
        yield tuple((1 + np.flatnonzero(passes[1:] == number)).tolist())


def _judge(tables: Tables, b: int, sums: Floats, roles: Integers) -> Floats:
    """What the pairs of one part with each before it would tell, of slopes and curvatures."""
    strip, parts = tables.strip(b), []
    for start, width in zip(strip.starts, strip.widths, strict=True):
        part = sums[..., start : start + strip.height * width]
        parts.append(part.reshape(*part.shape[:-1], strip.height, width)[..., 1:, 1:])
    starts = np.cumsum(strip.widths - 1) - (strip.widths - 1)
    cells = Cells(*np.concatenate(parts, axis=-1))
    told = cells.of_role(roles, TRAIN).weights(starts)
    saved = cells.of_role(roles, HELD_OUT).gain(told)
    return np.asarray(_by_pair(saved, starts).sum(axis=0))


@dataclass(frozen=True)
class PairCounts:
    """The statistic of some pairs: the weight of each class in each cell of their grids."""

    sources: tuple[tuple[Source, Source], ...]
    n_classes: int

    def __call__(self, block: Block) -> Sums:
        """Count a block."""
        from weigh import kernels

        counts, weight = [], weigh_rows(block)
        for pair in self.sources:
            left, right = (source.levels[block.codes[source.features[0]]] for source in pair)
            out = np.zeros(((pair[0].size + 1) * (pair[1].size + 1), self.n_classes))
            kernels.count_weighted(left * (pair[1].size + 1) + right, block.labels, weight, out)
            counts.append(out)
        return Sums(tuple(counts))


def count_pairs(
    pairs: Sequence[tuple[Part, Part]], rows: Coded, n_classes: int
) -> list[tuple[Counts, Source]]:
    """The pairs as features, whose levels are the cells that have weight: one pass."""
    if not pairs:
        return []
    sources = tuple((left.source, right.source) for left, right in pairs)
    found = []
    grids = rows.sum(PairCounts(sources, n_classes)).arrays
    for (left, right), own, grid in zip(pairs, sources, grids, strict=True):
        cross, cells = Cross((left.feature, right.feature)), np.arange(len(grid))
        used = cells[grid.any(axis=1) & cross.is_pair(cells)]
        cross = cross.of_cells(used)
        found.append((Counts(cross, grid[used]), Source.of_cross(cross, own)))
    return found


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


def coarse_levels(fine: Feature, part: Feature) -> Integers:
    """The level of a pair's part that each level of the feature itself lies in."""
    if fine.cuts is None or part.cuts is None:
        return np.arange(len(fine.levels))
    within = np.searchsorted(np.array(part.cuts), np.array([*fine.cuts, np.inf]))
    others = len(part.cuts) + 1 + np.arange(len(fine.levels) - len(within))
    return np.concatenate([within, others])
