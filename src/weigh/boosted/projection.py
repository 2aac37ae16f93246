"""Regression as classification: boosted naive Bayes for "is the target above s?", for every s.

With y scaled to [0, 1], every s gives a copy of each row, with class 1 if y is above s (the
complement of the paper's Y*, so that positive weights raise the estimate). The copies are not
stored. Instead the range is divided into cells. In each cell a row has class 1 with the share of
the cell that lies below its y, and class 0 with the rest. In the first round this is exact: the sum
over cells of width times share is y. The weights of later rounds are computed from the earlier
rounds whenever they are needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from scipy.special import logit

from weigh import engine
from weigh.arrays import Floats, Integers
from weigh.bins import Placed
from weigh.boosted.rounds import MIN_ERROR
from weigh.boosted.tuning import best_scale
from weigh.evidence import BOUND, DerivedModel, Evidence, FeatureTable, rows_added, weigh_counts
from weigh.frames import Table
from weigh.sheet import (
    COVERAGE,
    EstimateSheet,
    Push,
    drop_not_known,
    items_of,
    names_not_known,
)
from weigh.tally import Counts, Tally, count_placed_soft

BLOCK = 1 << 12
"""Rows that a thread processes at a time."""

CELL_STEP = 5
"""The hold-out loss that chooses the number of rounds uses every fifth cell only, for speed."""


@dataclass(frozen=True)
class BoostingRound:
    """One boosting round: its tables, the log odds of each cell, its error and coefficient."""

    tables: tuple[FeatureTable, ...]
    cells: Floats
    error: float
    alpha: float


@dataclass(frozen=True)
class Projection:
    """Coded training rows with targets in [0, 1], and the number of cells."""

    tally: Tally
    placed: list[Placed]
    target: Floats
    weight: Floats
    n_cells: int
    smoothing: Any

    def take(self, rows: Any) -> Self:
        """Select rows by number or mask."""
        placed = [replace(part, codes=part.codes[rows]) for part in self.placed]
        return replace(self, placed=placed, target=self.target[rows], weight=self.weight[rows])

    @property
    def widths(self) -> Floats:
        """Widths of the cells, which are all equal."""
        return np.full(self.n_cells, 1 / self.n_cells)

    @property
    def places(self) -> Integers:
        """Cell of each target."""
        return np.minimum((self.target * self.n_cells).astype(np.int64), self.n_cells - 1)

    @property
    def parts(self) -> Floats:
        """Share of the target's own cell that lies below the target."""
        return np.clip(self.target * self.n_cells - self.places, 0.0, 1.0)

    def total(self, tables: tuple[FeatureTable, ...]) -> Floats:
        """Sum of each row's weights of evidence."""
        padded = [table.padded for table in tables]
        return engine.total_placed(self.placed, padded, np.zeros(1), len(self.target))[:, 0]


def project(rows: Projection, max_rounds: int) -> list[BoostingRound]:
    """Boost over rows and cells; rounds end early if the error reaches one half or zero."""
    found: list[BoostingRound] = []
    state, total = _BoostingState.of(rows), float(rows.weight.sum())
    for _ in range(max_rounds):
        by_row, by_cell = state.weights()
        scale = total / by_cell.sum()
        tables = _weigh(rows, scale * by_row)
        share = by_cell[:, 1] / np.maximum(by_cell.sum(axis=1), 1e-300)
        cells = logit(np.clip(share, BOUND, 1 - BOUND))
        totals = rows.total(tables)
        error = scale * state.missed(totals, cells) / total
        if not MIN_ERROR <= error < 0.5:
            return found or [BoostingRound(tables, cells, error, 1.0)]
        alpha = 0.5 * float(np.log((1 - error) / error))
        found.append(BoostingRound(tables, cells, error, alpha))
        state = state.after(totals, cells, alpha)
    return found


def _weigh(rows: Projection, by_row: Floats) -> tuple[FeatureTable, ...]:
    """Naive Bayes on soft labels: each row has a weight in both classes."""
    s = rows_added(rows.smoothing, rows.weight.sum())
    parts = zip(rows.tally.tables, rows.placed, strict=True)
    counts: list[Counts] = [count_placed_soft(t.feature, p, by_row) for t, p in parts]
    return tuple(weigh_counts(table, s) for table in counts)


@dataclass(frozen=True)
class _BoostingState:
    """Odds against class 1 in each round so far, by row and by cell: they determine all weights.

    The part of cell k below the target of row i has weight width * prod_t beta_t^h_t, and the rest
    of the cell width * prod_t beta_t^(1 - h_t), with h_t = 1/(1 + odds_it cells_tk).
    """

    rows: Projection
    places: Integers
    parts: Floats
    odds: Floats
    cells: Floats
    lambdas: Floats

    @classmethod
    def of(cls, rows: Projection) -> _BoostingState:
        n, nothing = len(rows.target), np.empty((0, rows.n_cells))
        return cls(rows, rows.places, rows.parts, np.empty((n, 0)), nothing, np.empty(0))

    def after(self, totals: Floats, cells: Floats, alpha: float) -> _BoostingState:
        """State after one more round."""
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
        """Weights of "target below" (0) and "target above" (1), by row and by cell."""
        from weigh.boosted import kernels

        by_row = np.empty((len(self.places), 2))

        def one(start: int) -> Floats:
            by_cell = np.zeros((self.rows.n_cells, 2))
            kernels.sum_weights(*self._block(start), by_row[start : start + BLOCK], by_cell)
            return by_cell

        return by_row, np.sum(engine.spread(one, self._starts, 10 * len(self.places)), axis=0)

    def missed(self, totals: Floats, cells: Floats) -> float:
        """Weighted error of a new round, not normalised."""
        from weigh.boosted import kernels

        odds, new = _odds(totals), np.exp(-cells)

        def one(start: int) -> float:
            rows = slice(start, start + BLOCK)
            return float(kernels.sum_errors(*self._block(start), odds[rows], new))

        return float(np.sum(engine.spread(one, self._starts, 10 * len(self.places))))


def _odds(totals: Floats) -> Floats:
    """Odds against class 1, from log odds, clipped to stay finite."""
    return np.exp(-np.clip(totals, -700.0, 700.0))


# ---------------------------------------------------------------- hold-out rows


def log_odds_of(rows: Projection, steps: list[BoostingRound]) -> Floats:
    """Log odds that the target is above each cell (column), for each row."""
    totals = sum(step.alpha * rows.total(step.tables) for step in steps)
    cells = sum(step.alpha * step.cells for step in steps)
    return np.asarray(np.asarray(totals)[:, None] + cells)


Part: TypeAlias = tuple[Projection, Floats]
"""Rows, and their log odds of being above each cell."""


def _sum_loss(parts: list[Part], scale: float, every: int = 1) -> float:
    """Loss in nats over rows and every `every`-th cell, with weights scaled to mean 1."""
    total = 0.0
    for rows, log_odds in parts:
        cells = np.arange(0, rows.n_cells, every)
        share = np.clip(rows.target[:, None] * rows.n_cells - cells, 0, 1)
        scaled = scale * log_odds[:, ::every]
        nats = np.logaddexp(0.0, scaled) - share * scaled
        total += float(rows.weight @ nats.sum(axis=1)) / float(rows.weight.mean())
    return total


def fit_scale(parts: list[Part], every: int = 1) -> float:
    """Factor of the log odds with the lowest loss over rows and cells."""
    squares = [float((log_odds**2).mean()) for _, log_odds in parts]
    typical = float(np.sqrt(np.mean(squares)))
    return best_scale(lambda scale: _sum_loss(parts, scale, every), typical)


def hold_out_loss(parts: list[tuple[Projection, list[BoostingRound]]], n_rounds: int) -> float:
    """Mean hold-out loss in bits per row and cell after `n_rounds` rounds, at the best scale."""
    own = [(test, log_odds_of(test, steps[:n_rounds])) for test, steps in parts]
    loss = _sum_loss(own, fit_scale(own, CELL_STEP), CELL_STEP)
    n_cells = sum(len(test.target) * -(-test.n_cells // CELL_STEP) for test, _ in parts)
    return float(loss / (n_cells * np.log(2)))


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(DerivedModel):
    """Weights that raise or lower the estimate, and the curve from totals to estimates.

    `levels` are the log odds that the target is at or below each of `points`, before any feature is
    seen. The estimate for a total w is the smallest point whose level is at least w. Between points
    the curve is linear, or constant if `steps`.
    """

    evidence: Evidence
    points: Floats
    levels: Floats
    steps: bool
    scale: float = 1.0
    backend: str | None = None
    columns: tuple[str, ...] = ()

    def total(self, table: Table) -> Floats:
        """Sum of the weights of evidence of each row."""
        return self.evidence.total(table)[:, 0]

    def read_off(self, totals: Floats) -> Floats:
        """Estimates for totals, read from the curve."""
        if self.steps:
            place = np.searchsorted(self.levels, totals - 1e-12, side="left")
            return np.asarray(self.points[np.minimum(place, len(self.points) - 1)])
        return np.interp(totals, self.levels, self.points)

    def quantile(self, totals: Floats, log_odds: float) -> Floats:
        """Point that the target is at or below with the given log odds."""
        return self.read_off(totals + log_odds / self.scale)

    def remember(self, columns: tuple[str, ...], backend: str | None) -> Estimate:
        """Copy with the names of the columns and the dataframe library of the training table."""
        evidence = replace(self.evidence, columns=columns, backend=backend)
        return replace(self, evidence=evidence, columns=columns, backend=backend)

    def to_frame(self) -> Any:
        """Dataframe with one row per level."""
        return self.evidence.to_frame()


def log_odds_below(points: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Distinct points in order, and the log odds of a row being at or below each."""
    distinct, places = np.unique(points, return_inverse=True)
    share = np.cumsum(np.bincount(places, weight, len(distinct))) / weight.sum()
    share[-1] = 1.0
    with np.errstate(divide="ignore"):
        return distinct, np.log(share) - np.log1p(-share)


def explain_estimate(estimate: Estimate, table: Table, target: str) -> EstimateSheet:
    """Balance sheet of a table's only row; `target` is what the numbers are called."""
    found = items_of(estimate.evidence, table)
    items = sorted(drop_not_known(found), key=lambda item: -abs(item.weight))
    total = estimate.total(table)
    start, end = (float(way) for way in estimate.read_off(np.array([0.0, total[0]])))
    per_weight = _slope(estimate, float(total[0]), end - start)
    reach = float(logit((1 + COVERAGE) / 2))
    low, high = (float(estimate.quantile(total, odds)[0]) for odds in (-reach, reach))
    return EstimateSheet(
        start=start,
        pushes=tuple(Push(str(i), i.weight, i.weight * per_weight) for i in items),
        estimate=end,
        interval=(low, high),
        not_known=names_not_known(found),
        target=target,
    )


def _slope(estimate: Estimate, total: float, way: float) -> float:
    """Change of the estimate per unit of weight; the slope at 0 if the weights cancel."""
    if abs(total) > 1e-9:
        return way / total
    near = estimate.read_off(np.array([-0.01, 0.01]))
    return float(near[1] - near[0]) / 0.02
