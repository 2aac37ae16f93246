"""Regression projected onto classification: is the target above s, asked for every s at once.

With y scaled to [0, 1], every s gives a copy of a row whose class is 1 where y is above s (the
paper's Y* turned round, so that weights of evidence push the estimate up). The copies are never
made: the range is parted into cells, and a row counts in each cell with the part of the cell that
is below its y. In round one that is exact, sum over cells of width times part being y itself.
Weights of later rounds follow from those rounds and are found anew whenever they are needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from scipy.special import logit

from weigh import engine
from weigh.bins import Placed
from weigh.boosted.rounds import PERFECT
from weigh.boosted.tuning import best_scale
from weigh.evidence import BOUND, FeatureTable, rows_added, weigh_counts
from weigh.frames import Floats, Integers
from weigh.tally import Counts, Tally, count_placed_soft

BLOCK = 1 << 12
"""Rows that a thread takes at a time."""

THIN = 5
"""Of so many cells one judges how many rounds are best."""


@dataclass(frozen=True)
class Step:
    """One round: its tables, the log odds of each cell, its error and its voice."""

    tables: tuple[FeatureTable, ...]
    cells: Floats
    error: float
    alpha: float


@dataclass(frozen=True)
class Projection:
    """Rows placed on the levels of a tally's features, with targets in [0, 1]."""

    tally: Tally
    placed: list[Placed]
    target: Floats
    weight: Floats
    n_cells: int
    smoothing: Any

    def take(self, rows: Any) -> Self:
        """Some of the rows."""
        placed = [replace(part, codes=part.codes[rows]) for part in self.placed]
        return replace(self, placed=placed, target=self.target[rows], weight=self.weight[rows])

    @property
    def widths(self) -> Floats:
        """Of the cells, which are equal."""
        return np.full(self.n_cells, 1 / self.n_cells)

    @property
    def places(self) -> Integers:
        """The cell that each target falls into."""
        return np.minimum((self.target * self.n_cells).astype(np.int64), self.n_cells - 1)

    @property
    def parts(self) -> Floats:
        """The part of that cell that is below the target."""
        return np.clip(self.target * self.n_cells - self.places, 0.0, 1.0)

    def total(self, tables: tuple[FeatureTable, ...]) -> Floats:
        """The sum of each row's weights of evidence."""
        padded = [table.padded for table in tables]
        return engine.total_placed(self.placed, padded, np.zeros(1), len(self.target))[:, 0]


def project(rows: Projection, most: int) -> list[Step]:
    """AdaBoost over rows and cells; the rounds end where the error reaches one half, or nothing."""
    found: list[Step] = []
    state, total = _State.of(rows), float(rows.weight.sum())
    for _ in range(most):
        by_row, by_cell = state.weights()
        scale = total / by_cell.sum()
        tables = _weigh(rows, scale * by_row)
        share = by_cell[:, 1] / np.maximum(by_cell.sum(axis=1), 1e-300)
        cells = logit(np.clip(share, BOUND, 1 - BOUND))
        totals = rows.total(tables)
        error = scale * state.missed(totals, cells) / total
        if not PERFECT <= error < 0.5:
            return found or [Step(tables, cells, error, 1.0)]
        alpha = 0.5 * float(np.log((1 - error) / error))
        found.append(Step(tables, cells, error, alpha))
        state = state.after(totals, cells, alpha)
    return found


def _weigh(rows: Projection, by_row: Floats) -> tuple[FeatureTable, ...]:
    """Naive Bayes on soft labels: each row counts in both classes."""
    s = rows_added(rows.smoothing, rows.weight.sum())
    parts = zip(rows.tally.tables, rows.placed, strict=True)
    counts: list[Counts] = [count_placed_soft(t.feature, p, by_row) for t, p in parts]
    return tuple(weigh_counts(table, s) for table in counts)


@dataclass(frozen=True)
class _State:
    """What the weights of rows and cells follow from: odds against, of each round so far.

    The weight of the part of a cell above is width times prod_t beta_t^h_t, and of the part below
    width times prod_t beta_t^(1 - h_t), with h_t = 1/(1 + odds_it cells_tk).
    """

    rows: Projection
    places: Integers
    parts: Floats
    odds: Floats
    cells: Floats
    lambdas: Floats

    @classmethod
    def of(cls, rows: Projection) -> _State:
        n, nothing = len(rows.target), np.empty((0, rows.n_cells))
        return cls(rows, rows.places, rows.parts, np.empty((n, 0)), nothing, np.empty(0))

    def after(self, totals: Floats, cells: Floats, alpha: float) -> _State:
        """One round later."""
        odds = np.ascontiguousarray(np.column_stack([self.odds, _odds(totals)]))
        both = np.vstack([self.cells, np.exp(-cells)])
        return replace(self, odds=odds, cells=both, lambdas=np.append(self.lambdas, -2 * alpha))

    def _block(self, start: int) -> tuple[Any, ...]:
        rows = slice(start, start + BLOCK)
        weight, widths = self.rows.weight[rows], self.rows.widths
        places, parts = self.places[rows], self.parts[rows]
        return self.odds[rows], self.cells, self.lambdas, places, parts, weight, widths

    @property
    def _starts(self) -> range:
        return range(0, len(self.places), BLOCK)

    def weights(self) -> tuple[Floats, Floats]:
        """Below (0) and above (1), by row and by cell."""
        from weigh.boosted import kernels

        by_row = np.empty((len(self.places), 2))

        def one(start: int) -> Floats:
            by_cell = np.zeros((self.rows.n_cells, 2))
            kernels.sum_weights(*self._block(start), by_row[start : start + BLOCK], by_cell)
            return by_cell

        return by_row, np.sum(engine.spread(one, self._starts, 10 * len(self.places)), axis=0)

    def missed(self, totals: Floats, cells: Floats) -> float:
        """The weight that a new round puts on the wrong side."""
        from weigh.boosted import kernels

        odds, new = _odds(totals), np.exp(-cells)

        def one(start: int) -> float:
            rows = slice(start, start + BLOCK)
            return float(kernels.sum_errors(*self._block(start), odds[rows], new))

        return float(np.sum(engine.spread(one, self._starts, 10 * len(self.places))))


def _odds(totals: Floats) -> Floats:
    """Odds against, kept finite."""
    return np.exp(-np.clip(totals, -700.0, 700.0))


# ---------------------------------------------------------------- rows held out


def log_odds_of(rows: Projection, steps: list[Step]) -> Floats:
    """Of being above each cell (column), for each row."""
    totals = sum(step.alpha * rows.total(step.tables) for step in steps)
    cells = sum(step.alpha * step.cells for step in steps)
    return np.asarray(np.asarray(totals)[:, None] + cells)


Part: TypeAlias = tuple[Projection, Floats]
"""Rows, and their log odds of being above each cell."""


def _sum_loss(parts: list[Part], scale: float, every: int = 1) -> float:
    """In nats, over rows and every so many cells; a row of mean weight counts as one."""
    total = 0.0
    for rows, log_odds in parts:
        cells = np.arange(0, rows.n_cells, every)
        share = np.clip(rows.target[:, None] * rows.n_cells - cells, 0, 1)
        scaled = scale * log_odds[:, ::every]
        nats = np.logaddexp(0.0, scaled) - share * scaled
        total += float(rows.weight @ nats.sum(axis=1)) / float(rows.weight.mean())
    return total


def fit_scale(parts: list[Part], every: int = 1) -> float:
    """The number that, multiplied with log odds, gives the least loss over rows and cells."""
    squares = [float((log_odds**2).mean()) for _, log_odds in parts]
    typical = float(np.sqrt(np.mean(squares)))
    return best_scale(lambda scale: _sum_loss(parts, scale, every), typical)


def least_loss(parts: list[tuple[Projection, list[Step]]], n_rounds: int) -> float:
    """The loss in bits a row and cell after so many rounds, with their best scale."""
    own = [(test, log_odds_of(test, steps[:n_rounds])) for test, steps in parts]
    loss = _sum_loss(own, fit_scale(own, THIN), THIN)
    n_cells = sum(len(test.target) * -(-test.n_cells // THIN) for test, _ in parts)
    return float(loss / (n_cells * np.log(2)))
