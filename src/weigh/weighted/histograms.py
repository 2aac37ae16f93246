"""Rankings of very many rows: AUC from histograms of the score, many in one pass.

A cell of the histogram is 0.002 nats wide where the score is near 0, and 0.2% of the score further
out; rows of one cell count as ties. There are 2^14 cells, and scores beyond a million share the
last. The AUC is off by at most half the share of pairs that lie in one cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from weigh.engine import Block, Sums
from weigh.evidence import Scorer
from weigh.frames import Floats, Integers
from weigh.weighted.terms import Scored
from weigh.weighted.walks import Move

CELLS = 1 << 14
"""Cells of a histogram of scores."""

MANY, MANY_IN_FILES = 10_000_000, 1_000_000
"""More rows than this, in memory or in files, are ranked by histograms; fewer exactly."""

ROOM = 1 << 19
"""Numbers that the histograms of one pass may hold together."""

FARTHEST = float(np.arcsinh(1e6))
"""Where the last cells lie."""


def rank_binned(scored: Scored, moves: Sequence[Move]) -> list[float]:
    """The AUC after each of some moves, or its mean over pairs of classes; one pass, if it holds.

    What they move from is added up once for all moves from the same weights.
    """
    span = _span(scored, moves)
    n_scores = scored.scorer.prior.shape[1]
    most = max(ROOM // (n_scores * (span[1] - span[0]) * scored.n_classes), 1)
    found: list[float] = []
    for start in range(0, len(moves), most):
        statistic = Histograms.of(scored, moves[start : start + most], span)
        found += map(auc_of, scored.rows.sum(statistic).arrays[0])
    return found


def _span(scored: Scored, moves: Sequence[Move]) -> tuple[int, int]:
    """The cells, from the first to that after the last, that scores can fall into."""
    ends = [_reach(scored.scorer, move.end) for move in moves]
    cells = cell_of(np.array([min(low for low, _ in ends), max(high for _, high in ends)]))
    return max(int(cells[0]) - 1, 0), min(int(cells[1]) + 2, CELLS)  # totals are rounded


def _reach(scorer: Scorer, weights: Floats) -> tuple[float, float]:
    """The lowest and the highest score that weights can give."""
    pairs = [*zip(weights, scorer.tables, strict=True)]
    low = scorer.prior + sum((w * table).min(axis=1) for w, table in pairs)
    high = scorer.prior + sum((w * table).max(axis=1) for w, table in pairs)
    if low.shape[1] == 1:
        return float(low.min()), float(high.max())
    apart = float((high.max(axis=1) - low.min(axis=1)).max()) + np.log(low.shape[1])
    return -apart, apart


@dataclass(frozen=True)
class Histograms:
    """The statistic of scores, for each move: the weight by class that is scored, cell and class.

    `moves[i]` names the weights that it starts from, by their number, the feature, and by how much.
    """

    scorer: Scorer
    n_classes: int
    weights: tuple[Floats, ...]
    moves: tuple[tuple[int, int, float], ...]
    span: tuple[int, int] = (0, CELLS)

    @classmethod
    def of(cls, scored: Scored, moves: Sequence[Move], span: tuple[int, int]) -> Histograms:
        """The statistic of some moves; many are from the same weights."""
        known = {id(move.weights): move.weights for move in moves}
        number = {key: i for i, key in enumerate(known)}
        asked = tuple((number[id(move.weights)], move.moved, move.size) for move in moves)
        return cls(scored.scorer, scored.n_classes, tuple(known.values()), asked, span)

    def __call__(self, block: Block) -> Sums:
        """Count a block: of two classes the log odds, of more those of each against the rest."""
        first, stop = self.span
        n_scores = self.scorer.prior.shape[1]
        counts = np.zeros((len(self.moves), n_scores, (stop - first) * self.n_classes))
        for split, rows in self.scorer.parts(block):
            self._count_part(split, rows, counts)
        shape = len(self.moves), n_scores, stop - first, self.n_classes
        return Sums((counts.reshape(shape),))

    def _count_part(self, split: Integers, rows: Block, counts: Floats) -> None:
        tables = self.scorer.tables
        pairs = zip(rows.codes, tables, strict=True)
        codes = [split * table.shape[1] + codes for codes, table in pairs]
        for number, weights in enumerate(self.weights):
            totals = self.scorer.prior[split]
            for j, weight in enumerate(weights):
                _add(totals, codes[j], weight * tables[j])
            for i, (start, j, by) in enumerate(self.moves):
                if start == number:
                    moved = totals if j < 0 else self._moved(totals, codes[j], j, by)
                    self._count(log_odds(moved), rows, counts[i])

    def _moved(self, totals: Floats, codes: Integers, j: int, by: float) -> Floats:
        totals = totals.copy()
        _add(totals, codes, by * self.scorer.tables[j])
        return totals

    def _count(self, scores: Floats, block: Block, out: Floats) -> None:
        first, stop = self.span
        for column, into in zip(scores.T, out, strict=True):
            cells = np.clip(cell_of(column), first, stop - 1) - first
            into += np.bincount(cells * self.n_classes + block.labels, block.weight, len(into))


def _add(totals: Floats, codes: Integers, table: Floats) -> None:
    """Add a table, group by level by class, to the totals of rows."""
    from weigh import kernels

    add = kernels.add_one if totals.shape[1] == 1 else kernels.add_many
    add(totals, codes, table.reshape(-1, table.shape[2]))


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
