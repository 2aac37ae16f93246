"""Choose the number of rounds and the scale of the log odds on hold-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from weigh.boosted.rounds import BinaryRows, Ensemble, Round, RowSelection, add_columns
from weigh.engine import Block, PerBlock, Piecewise, Sums, sum_each
from weigh.frames import Floats

MAX_SCALE, MIN_SCALE = 10.0, 0.01

STEPS, SCALE_TOL = 60, 1e-9
"""Most Newton steps of a scale, and the relative change at which it has converged."""

MAX_TOTALS = 1 << 16
"""Most totals (rows times rounds) computed at a time."""

Combine: TypeAlias = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Choice:
    """Hold-out loss in bits after each round, at the best scale of that many rounds."""

    losses: Floats
    scales: Floats

    @property
    def n_rounds(self) -> int:
        """Number of rounds with the lowest loss, the smallest if tied."""
        return int(self.losses.argmin()) + 1


@dataclass(frozen=True)
class HeldOut:
    """Hold-out rows, and rounds fitted without them."""

    rows: BinaryRows
    rounds: Sequence[Round]

    def losses(self, combine: Combine, scales: Floats) -> Piecewise:
        """Statistic of the loss after each round, with its derivatives by the scale."""
        ensemble = Ensemble.of(self.rounds, self.rows.levels)
        statistic = Losses(self.rows.selection, ensemble, combine, scales)
        return Piecewise(statistic, MAX_TOTALS // len(scales) + 1)


@dataclass(frozen=True)
class Losses:
    """Statistic of a pass: loss after each round, its two derivatives, squared totals, weight.

    If there are fewer rounds than scales, the last round stands for the missing ones.
    """

    selection: RowSelection
    ensemble: Ensemble
    combine: Combine
    scales: Floats

    def __call__(self, block: Block) -> Sums:
        """Sums over the rows of a block, in nats."""
        block = self.selection.cut(block)
        weight = np.ones(len(block)) if block.weight is None else block.weight
        after = self.combine(self.ensemble.totals(block), self.ensemble.alphas)
        last = np.minimum(np.arange(len(self.scales)), after.shape[1] - 1)
        totals = np.where(self.selection.target(block) == 1, -1.0, 1.0)[:, None] * after[:, last]
        p = expit(self.scales * totals)  # of the wrong class
        losses, squares = np.logaddexp(0.0, self.scales * totals), totals**2
        parts = losses, p * totals, p * (1 - p) * squares, squares
        sums = np.stack([add_columns(weight, part) for part in parts])
        return Sums((sums, np.asarray(weight.sum())))


def choose(parts: Sequence[HeldOut], max_rounds: int, combine: Combine, scaled: bool) -> Choice:
    """Compute the hold-out loss after each round, at the best scale of that many rounds."""
    n_rows = _sum_all(parts, [part.rows.counter for part in parts]).arrays[0].sum()
    scales, low, high = (np.full(max_rounds, value) for value in (1.0, MIN_SCALE, MAX_SCALE))
    converged = np.full(max_rounds, not scaled)  # a converged scale stays fixed
    for _ in range(STEPS):
        found = _sum_all(parts, [part.losses(combine, scales) for part in parts]).arrays
        losses, *moments = found[0] / found[1]
        new = _newton_step(scales, n_rows, moments, low, high)
        converged |= np.abs(new - scales) <= SCALE_TOL * scales
        if converged.all():
            break
        scales = np.where(converged, scales, new)
    return Choice(losses / np.log(2), scales)


def _sum_all(parts: Sequence[HeldOut], statistics: Sequence[PerBlock]) -> Sums:
    """Sum each part's statistic in one pass, and add the results."""
    return reduce(add, sum_each(parts[0].rows.rows, statistics))


def _newton_step(
    scales: Floats, n_rows: float, moments: list[Floats], low: Floats, high: Floats
) -> Floats:
    """Newton step of each scale towards the minimum of `best_scale`, safeguarded by bisection.

    `low` and `high` bracket the minimum and are updated in place.
    """
    first, second, squares = moments
    typical = np.sqrt(squares)
    bend = np.tanh(scales * typical / 2)
    slope = n_rows * first + typical * bend / 2
    curve = n_rows * second + typical**2 * (1 - bend**2) / 4
    np.copyto(low, scales, where=slope < 0)
    np.copyto(high, scales, where=slope >= 0)
    new = scales - slope / np.where(curve > 0, curve, 1.0)
    outside = (new < low) | (new > high) | (curve <= 0)
    return np.where(outside, np.sqrt(low * high), new)


def best_scale(loss: Callable[[float], float], typical: float) -> float:
    """Factor of the totals with the lowest loss; `loss` is in nats, over all rows.

    One pseudo-row is added, of typical total and half of each class. Without it the best factor is
    infinite if all rows are classified correctly.
    """

    def penalised(log_scale: float) -> float:
        scale = float(np.exp(log_scale))
        both = np.logaddexp(0.0, scale * typical) + np.logaddexp(0.0, -scale * typical)
        return loss(scale) + float(both) / 2

    bounds = np.log(MIN_SCALE), np.log(MAX_SCALE)
    found = minimize_scalar(penalised, bounds=bounds, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))
