"""Rank pairs of features by a score test for interaction.

If a table of the pair's cells were added to a fit, with independent weights of variance t, the log
marginal likelihood would rise by about

    1/2 sum over cells  G^2/(V + 1/t) - ln(1 + t V)

with G the sum of the slopes of the rows in a cell and V the sum of their curvatures. The tables of
the two columns are shrunk, so some slope remains along each column alone; it is removed from G
first. Columns are cut into a few levels, in several ways. One pass over the rows gives the test of
all pairs for one way; very many pairs take a few passes.

Rows are summed in two halves. With weights w = g/(v + 1/t) from the sums g and v of one half, the
loss of the other half, whose sums are G and V, falls by about

    sum over cells  w G - 1/2 w^2 V

The least t is used for this: many weak pairs have too little evidence each, but the slopes of both
halves then agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weigh import engine
from weigh.arrays import Floats
from weigh.bins import Cross, Feature
from weigh.educated.design import Design, Source, Target, weigh_rows
from weigh.educated.halves import HALVES, halve
from weigh.educated.numbers import NumberTarget
from weigh.educated.passes import RowsAtWeights, Tables
from weigh.educated.segments import coarse_levels
from weigh.engine import Block, Coded, Pile, Sums
from weigh.pickling import by_fields
from weigh.tally import Counts

VARIANCES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
MARGIN = 2.0
"""Nats of evidence by which segments must exceed bins that were cut without labels."""

RIDGE = 1e-9
"""Ridge, as a share of curvature: a constant can be moved between the weights of two columns."""

ROOM = 1 << 22
"""Number of sums in one pass; the last part of a pass may exceed it."""


@dataclass(frozen=True)
class CutFeature:
    """A feature cut into few levels, and the map to them from the levels of the coded feature."""

    feature: Feature
    source: Source

    @classmethod
    def of(cls, feature: Feature, place: int, few: Feature) -> CutFeature:
        """The coded feature number `place`, cut into the levels of `few`."""
        levels = np.append(coarse_levels(feature, few), len(few.levels))
        return cls(few, Source((place,), levels, len(few.levels)))


@dataclass(frozen=True)
class CellSums(Pile):
    """The statistic: sums of slopes and curvatures by half and cell, of parts with those before."""

    view: RowsAtWeights
    design: Design  # of the parts
    later: tuple[int, ...]
    salts: tuple[int, ...]  # of the coded features

    __reduce__ = by_fields

    @cached_property
    def tables(self) -> Tables:
        """The layout of the tables of each two parts."""
        return Tables(self.design, tuple(range(self.later[-1] + 1)), self.later)

    def begin(self) -> Sums:
        """Zeros by total, half, cell, and slope or curvature."""
        return Sums((np.zeros((self.view.target.n_totals, HALVES, self.tables.size, 2)),))

    def add(self, block: Block, total: Sums) -> None:
        """Add a block's rows, on threads by part."""
        from weigh.educated.kernels import sum_cells

        halves = halve(block, self.salts)
        seen, places, tables = self.view.see(block), self.design.place(block), self.tables
        for slope, curvature, out in zip(seen.slope, seen.curvature, total.arrays[0], strict=True):
            values = np.column_stack([slope, curvature])

            def fill(b: int, values: Floats = values, out: Floats = out) -> None:
                strip = tables.strip(b)
                sum_cells(places, b, strip.origins, strip.widths, halves, values, out)

            engine.spread(fill, self.later[::-1], len(block))  # the busiest first


def evidence_of_pairs(
    parts: Sequence[CutFeature], rows: Coded, view: RowsAtWeights, salts: tuple[int, ...]
) -> dict[tuple[int, int], Floats]:
    """The rise of the log marginal likelihood by each pair: of each half, and of all rows.

    Two more numbers are what the weights of each half save in the other half, in nats.
    """
    design = Design(tuple(part.source for part in parts))
    found: dict[tuple[int, int], Floats] = {}
    for later in _share(design, view.target.n_totals):
        cells = CellSums(view, design, later, salts)
        sums = np.moveaxis(rows.sum(cells).arrays[0], -1, 0)
        for b in later:
            nats = _weigh_strip(cells.tables, b, sums).sum(axis=0)
            found |= {(a, b): own for a, own in enumerate(nats.T)}
    return found


def _share(design: Design, n_totals: int) -> Iterator[tuple[int, ...]]:
    """Yield, pass by pass, the parts whose pairs with those before them are summed together."""
    widths = np.array(design.sizes) + 1
    sums = 2 * HALVES * n_totals * widths * (np.cumsum(widths) - widths)
    passes = (np.cumsum(sums) - sums) // ROOM
    for number in np.unique(passes[1:]):
        yield tuple((1 + np.flatnonzero(passes[1:] == number)).tolist())


def _weigh_strip(tables: Tables, b: int, sums: Floats) -> Floats:
    """The evidence of the pairs of part b with each part before it, from slopes and curvatures.

    Axes: total; each half, all rows, then what each half saves in the other; part before b.
    """
    strip = tables.strip(b)
    n, m = strip.height - 1, strip.widths - 1  # levels of the part, and of each before it
    by_half = np.zeros((*sums.shape[:-1], len(m), n, m.max()))
    for a, (start, width) in enumerate(zip(strip.starts, strip.widths, strict=True)):
        part = sums[..., start : start + strip.height * width]
        grid = part.reshape(*part.shape[:-1], strip.height, width)
        by_half[..., a, :, : width - 1] = grid[..., 1:, 1:]
    slope, curvature = np.concatenate([by_half, by_half.sum(axis=2, keepdims=True)], axis=2)
    slope, free = _take_out(slope, curvature), (n - 1) * (m - 1) / (n * m)
    tried = []
    for t in VARIANCES:
        gain = (slope**2 / (curvature + 1 / t)).sum(axis=(-2, -1))
        cost = np.log1p(t * curvature).sum(axis=(-2, -1))
        tried.append(0.5 * (gain - free * cost))
    weights = slope[:, :HALVES] / (curvature[:, :HALVES] + 1 / VARIANCES[0])
    G, V = slope[:, HALVES - 1 :: -1], curvature[:, HALVES - 1 :: -1]
    saved = (weights * G - 0.5 * weights**2 * V).sum(axis=(-2, -1))
    return np.concatenate([np.max(tried, axis=0), saved], axis=1)


def _take_out(slope: Floats, curvature: Floats) -> Floats:
    """The slopes that remain in cells after both columns' own weights take their best values."""
    across = np.maximum(curvature.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    down, left = curvature.sum(axis=-2), slope.sum(axis=-1, keepdims=True) / across
    matrix = -np.swapaxes(curvature / across, -2, -1) @ curvature
    places = np.arange(down.shape[-1])
    matrix[..., places, places] += down * (1 + RIDGE) + (down == 0)
    right = (slope - curvature * left).sum(axis=-2)
    second = np.swapaxes(np.linalg.solve(matrix, right[..., None]), -2, -1)
    first = left - (curvature * second).sum(axis=-1, keepdims=True) / across
    return np.asarray(slope - curvature * (first + second))


@dataclass(frozen=True)
class Ways:
    """The parts of all columns, for each way to cut them."""

    plain: tuple[list[CutFeature], ...]  # cut without labels
    segments: tuple[
        list[CutFeature], ...
    ] = ()  # cut by the labels of each half of the rows, and of all


@dataclass(frozen=True)
class Candidate:
    """A pair cut in its best way, and its evidence in nats."""

    nats: float
    parts: tuple[CutFeature, CutFeature]
    saved: float = float("nan")  # by weights of the half that ranks it, in the other half, in nats

    @property
    def names(self) -> frozenset[str]:
        """The names of its columns."""
        return frozenset(part.feature.name for part in self.parts)


def rank_pairs(
    ways: Ways, rows: Coded, view: RowsAtWeights, salts: tuple[int, ...]
) -> list[list[Candidate]]:
    """Rank all pairs, each cut in its best way, by evidence: for each half, and for all rows.

    Segments are cut by labels, so their evidence is optimistic: segments cut by one half have more
    evidence in that half than in the other. For all rows this difference is subtracted. `MARGIN` is
    subtracted always.
    """
    every = [*ways.plain, *ways.segments]
    cuts = [tuple(part.feature for part in parts) for parts in every]
    own = dict(zip(cuts, every, strict=True))  # if all are categories, the ways are the same
    known = {cut: evidence_of_pairs(parts, rows, view, salts) for cut, parts in own.items()}
    found_by = [known[cut] for cut in cuts]
    pairs = [*found_by[0]]
    nats = np.array([[nats_of[pair] for pair in pairs] for nats_of in found_by])
    names = [sorted(every[0][j].feature.name for j in pair) for pair in pairs]
    ranked: list[list[Candidate]] = []
    for group in range(HALVES + 1):
        scores = _score(nats, len(ways.plain), group)
        best = scores.argmax(axis=0)
        order = sorted(range(len(pairs)), key=lambda k: (-scores[best[k], k], names[k]))
        at = [*range(len(ways.plain)), len(ways.plain) + group]
        ranked.append([])
        for k in order:
            way = at[best[k]]
            parts = (every[way][pairs[k][0]], every[way][pairs[k][1]])
            saved = nats[way, k, HALVES + 1 + group] if group < HALVES else np.nan
            ranked[-1].append(Candidate(float(scores[best[k], k]), parts, float(saved)))
    return ranked


def _score(nats: Floats, n_plain: int, group: int) -> Floats:
    """The evidence of pairs by way to cut, for one half or for all rows; segments come last."""
    plain, segments = nats[:n_plain, :, group], nats[n_plain:]
    if not len(segments):
        return np.asarray(plain)
    own = segments[group, :, group] - MARGIN
    if group == HALVES:
        first, second, _ = segments
        own = own - (first[:, 0] + second[:, 1]) + (first[:, 1] + second[:, 0])
    return np.vstack([plain, own])


@dataclass(frozen=True)
class PairCounts:
    """The statistic of some pairs: the weight of each class in each cell of their grids."""

    sources: tuple[tuple[Source, Source], ...]
    target: Target | NumberTarget

    def __call__(self, block: Block) -> Sums:
        """The counts of a block."""
        from weigh import kernels

        counts, weight, classes = [], weigh_rows(block), self.target.classes(block)
        for pair in self.sources:
            left, right = (source.levels[block.codes[source.features[0]]] for source in pair)
            out = np.zeros(((pair[0].size + 1) * (pair[1].size + 1), self.target.n_classes))
            kernels.count_weighted(left * (pair[1].size + 1) + right, classes, weight, out)
            counts.append(out)
        return Sums(tuple(counts))


def count_pairs(
    pairs: Sequence[tuple[CutFeature, CutFeature]],
    rows: Coded,
    target: Target | NumberTarget,
) -> list[tuple[Counts, Source]]:
    """Make features of pairs in one pass; their levels are the cells with rows."""
    if not pairs:
        return []
    sources = tuple((left.source, right.source) for left, right in pairs)
    found = []
    grids = rows.sum(PairCounts(sources, target)).arrays
    for (left, right), own, grid in zip(pairs, sources, grids, strict=True):
        cross, cells = Cross((left.feature, right.feature)), np.arange(len(grid))
        used = cells[grid.any(axis=1) & cross.is_pair(cells)]
        cross = cross.of_cells(used)
        found.append((Counts(cross, grid[used]), Source.of_cross(cross, own)))
    return found
