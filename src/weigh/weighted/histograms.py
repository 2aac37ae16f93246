"""Approximate AUC of very many rows from histograms of their log odds; many moves in one pass.

A cell of the histogram is 0.002 nats wide near 0, and 0.2% of the log odds further out. Rows in the
same cell count as ties, so the error of the AUC is at most half the share of pairs that fall into
one cell. There are 2^14 cells; log odds beyond a million share the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_softmax

from weigh.arrays import Floats, Integers
from weigh.engine import Block, Sums, add_weights
from weigh.evidence import SplitScorer
from weigh.weighted.auc import ScoredRows, mean_of_pairs

if TYPE_CHECKING:
    from weigh.weighted.search import Move

N_CELLS = 1 << 14
"""Number of cells of a histogram."""

MAX_EXACT_ROWS, MAX_EXACT_ROWS_IN_FILES = 10_000_000, 1_000_000
"""Numbers of rows, in memory and in files or on a cluster, up to which the AUC is exact."""

MAX_CELLS_PER_PASS = 1 << 19
"""Most numbers that the histograms of one pass may hold together."""

ARCSINH_LIMIT = float(np.arcsinh(1e6))
"""arcsinh of the log odds at which the last cell begins."""


def binned_aucs(scored: ScoredRows, moves: Sequence[Move]) -> list[float]:
    """AUC after each move; with more than two classes the mean AUC over pairs of classes.

    All moves share one pass, or several passes if their histograms do not fit into memory at once.
    Moves from the same weights share the totals of these weights.
    """
    span = _cell_range(scored, moves)
    n_scores = scored.scorer.prior.shape[1]
    size = n_scores * (span[1] - span[0]) * scored.n_classes
    per_pass = max(MAX_CELLS_PER_PASS // size, 1)
    found: list[float] = []
    for start in range(0, len(moves), per_pass):
        statistic = Histograms.of(scored, moves[start : start + per_pass], span)
        found += map(histogram_auc, scored.rows.sum(statistic).arrays[0])
    return found


def _cell_range(scored: ScoredRows, moves: Sequence[Move]) -> tuple[int, int]:
    """Range of cells, [first, stop), that log odds can fall into after any of the moves."""
    ends = [_score_range(scored.scorer, move.end) for move in moves]
    cells = cell_of(np.array([min(low for low, _ in ends), max(high for _, high in ends)]))
    # One more cell on each side allows for rounding errors of the totals.
    return max(int(cells[0]) - 1, 0), min(int(cells[1]) + 2, N_CELLS)


def _score_range(scorer: SplitScorer, weights: Floats) -> tuple[float, float]:
    """Lowest and highest log odds that are possible under the weights."""
    pairs = [*zip(weights, scorer.tables, strict=True)]
    low = scorer.prior + sum((w * table).min(axis=1) for w, table in pairs)
    high = scorer.prior + sum((w * table).max(axis=1) for w, table in pairs)
    if low.shape[1] == 1:
        return float(low.min()), float(high.max())
    widest = float((high.max(axis=1) - low.min(axis=1)).max()) + np.log(low.shape[1])
    return -widest, widest


@dataclass(frozen=True)
class Histograms:
    """Statistic of one pass: for each move, the weight of rows by score column, cell and class.

    There is one score column, or with more than two classes one per class. `moves[i]` is (index
    into `weights` of the weights that it starts from, feature or -1 for no change, change).
    """

    scorer: SplitScorer
    n_classes: int
    weights: tuple[Floats, ...]
    moves: tuple[tuple[int, int, float], ...]
    span: tuple[int, int] = (0, N_CELLS)

    @classmethod
    def of(cls, scored: ScoredRows, moves: Sequence[Move], span: tuple[int, int]) -> Histograms:
        """Make the statistic of some moves; each distinct vector of weights is stored once."""
        known = {id(move.weights): move.weights for move in moves}
        number = {key: i for i, key in enumerate(known)}
        asked = tuple((number[id(move.weights)], move.moved, move.size) for move in moves)
        return cls(scored.scorer, scored.n_classes, tuple(known.values()), asked, span)

    def __call__(self, block: Block) -> Sums:
        """Histograms of the rows of a block."""
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
    """Add the entries of a table (split by level by total) to totals.

    `codes` holds the number of each row's pair of split and level.
    """
    add_weights(totals, codes, table.reshape(-1, table.shape[2]))


def log_odds(totals: Floats) -> Floats:
    """Log odds of the second class; with more than two classes, of each against the rest."""
    if totals.shape[1] == 1:
        return totals
    logs = log_softmax(totals, axis=1)
    with np.errstate(divide="ignore"):
        return np.asarray(logs - np.log(-np.expm1(logs)))


def cell_of(scores: Floats) -> Integers:
    """Cell of each value of the log odds.

    >>> cells = cell_of(np.array([0.0, 0.002, 500.0, 502.0]))
    >>> bool(cells[1] > cells[0]), bool(cells[3] > cells[2])
    (True, True)
    """
    part = (np.arcsinh(scores) / ARCSINH_LIMIT + 1) / 2  # -1 to 1 becomes 0 to 1
    return np.asarray(np.clip(part * N_CELLS, 0, N_CELLS - 1).astype(np.int64))


def histogram_auc(histograms: Floats) -> float:
    """AUC, ties counting half; with more than two classes the mean over pairs of classes."""
    if len(histograms) == 1:
        (counts,) = histograms
        return float(_above(counts[:, 1], counts)[0] / np.prod(counts.sum(axis=0)))
    above = np.array([_above(counts[:, k], counts) for k, counts in enumerate(histograms)])
    sums = histograms[0].sum(axis=0)
    return mean_of_pairs(above / np.outer(sums, sums))


def _above(own: Floats, counts: Floats) -> Floats:
    """Weight of pairs in which the class `own` ranks above each class; ties count half."""
    below = np.cumsum(counts, axis=0) - counts
    return np.asarray(own @ (below + 0.5 * counts))
