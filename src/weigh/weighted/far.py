"""Rankings of rows that are not in memory: AUC from histograms of the score, one pass for each.

A cell of the histogram is 0.002 nats wide where the score is near 0, and 0.2% of the score further
out; rows of one cell count as ties. There are 2^14 cells, and scores beyond a million share the
last. The AUC is off by at most half the share of pairs that lie in one cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from weigh.engine import HELD_OUT, TRAIN, Block, Coded, Dealt, Sums
from weigh.evidence import Evidence, Smoothing, weigh_tally
from weigh.frames import Floats, Integers
from weigh.tally import Counts, Tally

CELLS = 1 << 14
"""Cells of a histogram of scores."""

MANY, MANY_IN_FILES = 10_000_000, 1_000_000
"""More rows than this, in memory or in files, are ranked by histograms; fewer exactly."""

FARTHEST = float(np.arcsinh(1e6))
"""Where the last cells lie."""


@dataclass(frozen=True)
class FarTerms:
    """Rows, and what each level adds to their totals, by the group of folds that a row is in.

    `base[group]` is what a total starts from, `tables[j][group, level]` what feature j adds: one
    number for two classes, else one for each.
    """

    rows: Coded
    base: Floats
    tables: list[Floats]
    n_classes: int


def far_terms(naive: Evidence, rows: Coded) -> FarTerms:
    """Each row scored by the tables of all rows."""
    tables = [table.padded[None] for table in naive]
    return FarTerms(rows, naive.prior_row[None], tables, len(naive.classes))


def far_held_out_terms(tally: Tally, dealt: Dealt, smoothing: Smoothing) -> FarTerms:
    """Each row scored by the tables of the folds that do not hold it, on the levels of all rows."""
    n_classes, roles = len(tally.classes), dealt.roles
    sizes = tuple(len(table.feature.levels) + 1 for table in tally.tables)
    *counts, classes = dealt.rows.sum(GroupCounts(sizes, len(roles), n_classes)).arrays
    models = []
    for group in range(len(roles)):
        others = roles[:, int(np.argmax(roles[group] == HELD_OUT))] == TRAIN
        tables = tuple(
            Counts(table.feature, counted[others].sum(axis=0)[:-1])
            for table, counted in zip(tally.tables, counts, strict=True)
        )
        part = Tally(tally.classes, classes[others].sum(axis=0), tables)
        models.append(weigh_tally(part, smoothing))
    padded = [np.stack([model.tables[j].padded for model in models]) for j in range(len(sizes))]
    base = np.stack([model.prior_row for model in models])
    return FarTerms(dealt.rows, base, padded, n_classes)


@dataclass(frozen=True)
class GroupCounts:
    """The statistic of folds: counts by group, level and class, and by group and class."""

    sizes: tuple[int, ...]
    n_groups: int
    n_classes: int

    def __call__(self, block: Block) -> Sums:
        """Count a block."""
        assert block.groups is not None
        cells = block.groups.astype(np.int64) * self.n_classes + block.labels
        counts = [
            self._count(cells, codes, size, block.weight)
            for codes, size in zip(block.codes, self.sizes, strict=True)
        ]
        whole = self._count(cells, np.zeros(len(block), np.uint8), 1, block.weight)
        return Sums((*counts, whole[:, 0]))

    def _count(self, cells: Integers, codes: Integers, size: int, weight: Floats | None) -> Floats:
        shape = self.n_groups, self.n_classes, size
        counts = np.bincount(cells * size + codes, weight, int(np.prod(shape)))
        return counts.reshape(shape).transpose(0, 2, 1).astype(np.float64)


class FarRanking:
    """The AUC under some weights, or its mean over pairs of classes, from histograms.

    A move is tried, and then kept or forgotten; each is a pass over the rows.
    """

    def __init__(self, terms: FarTerms, weights: Floats) -> None:
        self.terms = terms
        self.jump(weights)
        self.keep()

    def shift(self, j: int, by: float) -> float:
        """The AUC if the weight of feature j were larger by so much."""
        moved = self.weights.copy()
        moved[j] += by
        return self.jump(moved)

    def jump(self, weights: Floats) -> float:
        """The AUC if the weights were these."""
        scaled = tuple(w * table for w, table in zip(weights, self.terms.tables, strict=True))
        statistic = Histograms(self.terms.base, scaled, self.terms.n_classes)
        self._moved = weights
        self._tried = auc_of(self.terms.rows.sum(statistic).arrays[0])
        return self._tried

    def keep(self) -> None:
        """Make the last move that was tried the state."""
        self.weights, self.auc = self._moved, self._tried

    @property
    def scores(self) -> Floats:
        """There are none: rows are not kept."""
        raise ValueError("rows that are not in memory have no scores to give")


@dataclass(frozen=True)
class Histograms:
    """The statistic of scores: the weight of each cell and class, for each class that is scored."""

    base: Floats
    tables: tuple[Floats, ...]
    n_classes: int

    def __call__(self, block: Block) -> Sums:
        """Count a block: of two classes the log odds, of more those of each against the rest."""
        scores = log_odds(self._totals(block))
        counts = []
        for column in scores.T:
            cells = cell_of(column) * self.n_classes + block.labels
            counts.append(np.bincount(cells, block.weight, CELLS * self.n_classes))
        shape = len(counts), CELLS, self.n_classes
        return Sums((np.array(counts, dtype=np.float64).reshape(shape),))

    def _totals(self, block: Block) -> Floats:
        from weigh import kernels

        groups = np.zeros(len(block), np.int64)
        if block.groups is not None and len(self.base) > 1:
            groups += block.groups
        totals = self.base[groups]
        add = kernels.add_one if totals.shape[1] == 1 else kernels.add_many
        for codes, table in zip(block.codes, self.tables, strict=True):
            add(totals, groups * table.shape[1] + codes, table.reshape(-1, table.shape[2]))
        return totals


def log_odds(totals: Floats) -> Floats:
    """Of the second of two classes, or of each against the rest."""
    if totals.shape[1] == 1:
        return totals
    logs = log_softmax(totals, axis=1)
    with np.errstate(divide="ignore"):
        return np.asarray(logs - np.log(-np.expm1(logs)))


def cell_of(scores: Floats) -> Integers:
    """The cell of each score.

    >>> apart = cell_of(np.array([0.0, 0.002, 500.0, 502.0]))
    >>> bool(apart[1] > apart[0]), bool(apart[3] > apart[2])
    (True, True)
    """
    part = (np.arcsinh(scores) / FARTHEST + 1) / 2  # -1 to 1 becomes 0 to 1
    return np.asarray(np.clip(part * CELLS, 0, CELLS - 1).astype(np.int64))


def auc_of(histograms: Floats) -> float:
    """The share of pairs of two classes in the right order, ties half; of more classes the mean."""
    if len(histograms) == 1:
        (counts,) = histograms
        return float(_above(counts[:, 1], counts)[0] / np.prod(counts.sum(axis=0)))
    above = np.array([_above(counts[:, k], counts) for k, counts in enumerate(histograms)])
    sums = histograms[0].sum(axis=0)
    shares = above / np.outer(sums, sums)
    n_classes = len(shares)
    return float((shares.sum() - np.trace(shares)) / (n_classes * (n_classes - 1)))


def _above(own: Floats, counts: Floats) -> Floats:
    """The weight of pairs in which a class stands above each class."""
    below = np.cumsum(counts, axis=0) - counts
    return np.asarray(own @ (below + 0.5 * counts))
