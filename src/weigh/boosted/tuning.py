"""How many rounds, and how loud: chosen on rows held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from weigh.boosted.rounds import Ensemble, Round, Rows01, View, add_columns
from weigh.engine import Block, PerBlock, Piecewise, Sums, sum_each
from weigh.frames import Floats

LOUDEST, QUIETEST = 10.0, 0.01

STEPS, CLOSE = 60, 1e-9
"""Newton steps of a scale at the most, and the part of it that a last one moves."""

ROOM = 1 << 16
"""Totals, of rows and rounds, that are looked at together."""

Combine: TypeAlias = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Choice:
    """The loss in bits of held-out rows after each round, each with its best scale."""

    losses: Floats
    scales: Floats

    @property
    def n_rounds(self) -> int:
        """The first number of rounds with the least loss."""
        return int(self.losses.argmin()) + 1


@dataclass(frozen=True)
class HeldOut:
    """Rounds, and rows that they did not see."""

    rows: Rows01
    rounds: Sequence[Round]

    def losses(self, combine: Combine, scales: Floats) -> Piecewise:
        """What the rows lose after each round, and how that changes with the scale."""
        ensemble = Ensemble.of(self.rounds, self.rows.levels)
        statistic = Losses(self.rows.view, ensemble, combine, scales)
        return Piecewise(statistic, ROOM // len(scales) + 1)


@dataclass(frozen=True)
class Losses:
    """The statistic of totals after each round: losses, two derivatives, squares, weight.

    A model that ended early stays as it is.
    """

    view: View
    ensemble: Ensemble
    combine: Combine
    scales: Floats

    def __call__(self, block: Block) -> Sums:
        """The sums of a block, in nats."""
        block = self.view.cut(block)
        weight = np.ones(len(block)) if block.weight is None else block.weight
        after = self.combine(self.ensemble.totals(block), self.ensemble.alphas)
        last = np.minimum(np.arange(len(self.scales)), after.shape[1] - 1)
        totals = np.where(self.view.target(block) == 1, -1.0, 1.0)[:, None] * after[:, last]
        p = expit(self.scales * totals)  # of the other class
        losses, squares = np.logaddexp(0.0, self.scales * totals), totals**2
        parts = losses, p * totals, p * (1 - p) * squares, squares
        sums = np.stack([add_columns(weight, part) for part in parts])
        return Sums((sums, np.asarray(weight.sum())))


def choose(parts: Sequence[HeldOut], most: int, combine: Combine, scaled: bool) -> Choice:
    """Measure totals after each round, each with the scale that is best for it."""
    n_rows = _sum_all(parts, [part.rows.counter for part in parts]).arrays[0].sum()
    scales, low, high = np.ones(most), np.full(most, QUIETEST), np.full(most, LOUDEST)
    settled = np.full(most, not scaled)  # one that is found stays, whatever the others do
    for _ in range(STEPS):
        found = _sum_all(parts, [part.losses(combine, scales) for part in parts]).arrays
        losses, *moments = found[0] / found[1]
        then = _step(scales, n_rows, moments, low, high)
        settled |= np.abs(then - scales) <= CLOSE * scales
        if settled.all():
            break
        scales = np.where(settled, scales, then)
    return Choice(losses / np.log(2), scales)


def _sum_all(parts: Sequence[HeldOut], statistics: Sequence[PerBlock]) -> Sums:
    """The sum over the parts, each with its statistic, in one pass."""
    return reduce(add, sum_each(parts[0].rows.rows, statistics))


def _step(
    scales: Floats, n_rows: float, moments: list[Floats], low: Floats, high: Floats
) -> Floats:
    """One Newton step of each scale towards the least of `best_scale`, kept between what is known.

    `low` and `high` come closer.
    """
    first, second, squares = moments
    typical = np.sqrt(squares)
    bend = np.tanh(scales * typical / 2)
    slope = n_rows * first + typical * bend / 2
    curve = n_rows * second + typical**2 * (1 - bend**2) / 4
    np.copyto(low, scales, where=slope < 0)
    np.copyto(high, scales, where=slope >= 0)
    then = scales - slope / np.where(curve > 0, curve, 1.0)
    outside = (then < low) | (then > high) | (curve <= 0)
    return np.where(outside, np.sqrt(low * high), then)


def best_scale(loss: Callable[[float], float], typical: float) -> float:
    """The one number that, multiplied with totals, gives the least loss (in nats, over all rows).

    One more row counts, of typical total and half of each class: else rows that are all on the
    right side would ask for a number without end.
    """

    def penalised(log_scale: float) -> float:
        scale = float(np.exp(log_scale))
        both = np.logaddexp(0.0, scale * typical) + np.logaddexp(0.0, -scale * typical)
        return loss(scale) + float(both) / 2

    bounds = np.log(QUIETEST), np.log(LOUDEST)
    found = minimize_scalar(penalised, bounds=bounds, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))
