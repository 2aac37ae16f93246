"""The weight of a pair of which only one answer is known: the margins of its table.

A pair weighs nothing unless both answers are known. But a known answer a also predicts the other
answer: the weight in the other column's table is, on average over the training rows,

    m(a) = mean of w_j(b) over the rows with a

A row of which only a is known gets g(a) = c m(a) more. Each side of each pair has its own share c,
fitted to blanked training rows. The g(a) are kept as margins of the pair's table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature
from weigh.educated.blanks import Blanked, level_source
from weigh.educated.design import Design, weigh_rows
from weigh.educated.tables import ROUNDING
from weigh.engine import Block, Coded, Sums
from weigh.evidence import Evidence, FeatureTable
from weigh.pickling import by_fields


@dataclass(frozen=True)
class Sides:
    """The columns of pairs, whose known answers predict the other column's weight; two a pair.

    `design` has the levels of each side's column, and `means` has m by place. `own` and `other` are
    the indices of the tables of this column and of the other column of the pair.
    """

    pairs: tuple[str, ...]
    design: Design
    means: Floats
    own: Integers
    other: Integers

    __reduce__ = by_fields

    def __len__(self) -> int:
        return len(self.own)

    def expect(self, block: Block) -> Floats:
        """The expected weight of the other answer, m(a): side by row."""
        return np.asarray(self.means[self.design.place(block)])

    def attach(self, evidence: Evidence, shares: Floats) -> Evidence:
        """The evidence with a share of the means as margins of the pairs."""
        places = zip(shares, self.design.starts, self.design.sizes, strict=False)
        own = [c * self.means[start + 1 : start + 1 + n, None] for c, start, n in places]
        margins = dict(zip(self.pairs, zip(own[::2], own[1::2], strict=True), strict=True))
        tables = (replace(t, margins=margins.get(t.name)) for t in evidence)
        return replace(evidence, tables=tuple(tables))


def find_sides(
    evidence: Evidence, blanked: Blanked, rows: Coded, coded: Sequence[Feature | Cross]
) -> Sides:
    """Both sides of each pair whose columns have their own tables, in one pass; for two classes."""
    places, names = {table.name: j for j, table in enumerate(evidence)}, [f.name for f in coded]
    pairs = _list_pairs(evidence)
    parts = [part for pair in pairs for part in pair.feature.parts]
    own = np.array([places[part.name] for part in parts], dtype=np.intp)
    other = own.reshape(-1, 2)[:, ::-1].ravel()
    design = Design(tuple(level_source(p, names.index(p.name), coded) for p in parts))
    weights = np.vstack([[[0.0]], *(table.centred for table in evidence)])
    asked = _OtherSums(design, blanked.design, other, weights)
    sums, counts = rows.sum(asked).arrays if pairs else (np.zeros(1), np.zeros(1))
    means = sums / np.maximum(counts, np.finfo(float).tiny)
    means[design.starts[:-1]] = 0.0
    return Sides(tuple(pair.name for pair in pairs), design, means, own, other)


def _list_pairs(evidence: Evidence) -> list[FeatureTable]:
    """The pairs that are known in every training row, and whose columns have their own tables."""
    crosses = [table for table in evidence if isinstance(table.feature, Cross)]
    own = [t for t in crosses if all(part.name in evidence for part in t.feature.parts)]
    rows = float(evidence.class_counts.sum())
    return [table for table in own if table.counts.sum() >= rows * (1 - ROUNDING)]


def average_margins(table: FeatureTable, olds: Sequence[Evidence], parts: Floats) -> FeatureTable:
    """The table with the mean margins of earlier models, each of which has a part of the rows."""
    own = [(old[table.name], part) for old, part in zip(olds, parts, strict=True)]
    if all(one.margins is None for one, _ in own):
        return table
    found = []
    for side, feature in enumerate(table.feature.parts):
        sums, whole = np.zeros((2, len(feature.levels), 1))
        for one, part in own:
            at = feature.positions(one.feature.parts[side])
            sums[at] += 0.0 if one.margins is None else part * one.margins[side]
            whole[at] += part
        found.append(sums / np.where(whole > 0, whole, 1.0))
    return replace(table, margins=(found[0], found[1]))


@dataclass(frozen=True)
class _OtherSums:
    """The statistic of the sums of other columns' weights, and of rows, by level of each side."""

    design: Design
    tables: Design
    other: Integers
    weights: Floats

    __reduce__ = by_fields

    def __call__(self, block: Block) -> Sums:
        """The sums over a block."""
        places, n, weight = self.design.place(block), self.design.starts[-1], weigh_rows(block)
        others = self.tables.pad(self.weights)[self.tables.place(block)[self.other], 0] * weight
        both = others, np.tile(weight, (len(places), 1))
        sums = [np.bincount(places.ravel(), own.ravel(), n) for own in both]
        return Sums(tuple(np.asarray(own, dtype=np.float64) for own in sums))
