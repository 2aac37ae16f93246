"""Choose the number of rounds and the scale of the log odds on hold-out rows.

`Rounds` has the statistics of each round, and the difference between the vote and its
linearisation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TypeAlias

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from weigh.arrays import Floats
from weigh.boosted.rounds import (
    BinaryRows,
    Ensemble,
    Round,
    RowSelection,
    add_columns,
    cubic,
    linear,
    vote,
    wrong_probability,
)
from weigh.engine import Block, PerBlock, Piecewise, Sums, sum_each

MAX_SCALE, MIN_SCALE = 10.0, 0.01

STEPS, SCALE_TOL = 60, 1e-9
"""Largest number of Newton steps for a scale, and the relative change at convergence."""

MAX_TOTALS = 1 << 16
"""Largest number of totals (rows times rounds) computed at a time."""

Combine: TypeAlias = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class ChosenRounds:
    """Hold-out loss in bits after each round, at the best scale for that many rounds."""

    losses: Floats
    scales: Floats

    @property
    def n_rounds(self) -> int:
        """Number of rounds with the lowest loss, the smallest if tied."""
        return int(self.losses.argmin()) + 1


@dataclass(frozen=True)
class HeldOutRounds:
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

    If there are fewer rounds than scales, the other scales use the totals after the last round.
    """

    selection: RowSelection
    ensemble: Ensemble
    combine: Combine
    scales: Floats

    def __call__(self, block: Block) -> Sums:
        """Sums over the rows of a block, in nats."""
        block = self.selection.cut(block)
        weight = block.weights
        after = self.combine(self.ensemble.totals(block), self.ensemble.alphas)
        last = np.minimum(np.arange(len(self.scales)), after.shape[1] - 1)
        totals = np.where(self.selection.target(block) == 1, -1.0, 1.0)[:, None] * after[:, last]
        p = expit(self.scales * totals)  # probability of the wrong class
        losses, squares = np.logaddexp(0.0, self.scales * totals), totals**2
        parts = losses, p * totals, p * (1 - p) * squares, squares
        sums = np.stack([add_columns(weight, part) for part in parts])
        return Sums((sums, np.asarray(weight.sum())))


def choose(
    parts: Sequence[HeldOutRounds], max_rounds: int, combine: Combine, scaled: bool
) -> ChosenRounds:
    """Compute the hold-out loss after each round, at the best scale for that many rounds."""
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
    return ChosenRounds(losses / np.log(2), scales)


def _sum_all(parts: Sequence[HeldOutRounds], statistics: Sequence[PerBlock]) -> Sums:
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

    One pseudo-row is added: its total is `typical`, and half of it is of each class. Without it the
    best factor is infinite if all rows are classified correctly.
    """

    def penalised(log_scale: float) -> float:
        scale = float(np.exp(log_scale))
        both = np.logaddexp(0.0, scale * typical) + np.logaddexp(0.0, -scale * typical)
        return loss(scale) + float(both) / 2

    bounds = np.log(MIN_SCALE), np.log(MAX_SCALE)
    found = minimize_scalar(penalised, bounds=bounds, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))


@dataclass(frozen=True)
class Rounds:
    """Error eps, beta and alpha of each boosting round, and the loss of the model after it.

    `losses` are in bits on the training rows, `held_out` on hold-out rows (NaN if there are none),
    each with the scale of that many rounds. `quality` is the mean probability that the round gives
    to a row's own class. The model uses the first `chosen` rounds.
    """

    errors: Floats
    betas: Floats
    alphas: Floats
    losses: Floats
    held_out: Floats
    quality: Floats
    chosen: int

    def __len__(self) -> int:
        return len(self.errors)

    @property
    def bounds(self) -> Floats:
        """Upper bound of the training error of the vote of the first t rounds, for each t.

        2^t prod_t sqrt(eps_t (1 - eps_t)), and at most 1 (Freund & Schapire 1997, Theorem 6). The
        paper prints half of it, which bounds the mean probability of the wrong class.
        """
        eps = np.minimum(self.errors, 0.5)  # a first round may have 0.5 or more: no bound
        return np.cumprod(2 * np.sqrt(eps * (1 - eps)))


@dataclass(frozen=True)
class Fit:
    """One class boosted against the rest: all rounds tried, and how many are used."""

    tried: list[Round]
    choice: ChosenRounds | None
    chosen: int

    @property
    def rounds(self) -> list[Round]:
        """Rounds of the model."""
        return self.tried[: self.chosen]

    @property
    def alphas(self) -> Floats:
        """Coefficients of the rounds of the model."""
        return np.array([part.alpha for part in self.rounds])

    @property
    def scales(self) -> Floats:
        """Best scale for each number of rounds."""
        return np.ones(len(self.tried)) if self.choice is None else self.choice.scales

    @property
    def scale(self) -> float:
        """Scale of the model."""
        return float(self.scales[self.chosen - 1])


def describe_rounds(rows: BinaryRows, fit: Fit, combine: Combine) -> Rounds:
    """Compute the statistics of every round tried."""
    ensemble = Ensemble.of(fit.tried, rows.levels)
    losses = rows.rows.sum(HeldOutRounds(rows, fit.tried).losses(combine, fit.scales)).arrays
    quality = Piecewise(RoundQuality(rows.selection, ensemble), MAX_TOTALS // len(fit.tried) + 1)
    missed, weight = rows.rows.sum(quality).arrays
    return Rounds(
        errors=np.array([part.error for part in fit.tried]),
        betas=np.array([part.beta for part in fit.tried]),
        alphas=ensemble.alphas,
        losses=losses[0][0] / (losses[1] * np.log(2)),
        held_out=np.full(len(fit.tried), np.nan) if fit.choice is None else fit.choice.losses,
        quality=np.asarray(1 - missed / weight),
        chosen=fit.chosen,
    )


@dataclass(frozen=True)
class RoundQuality:
    """Statistic of a pass: each round's summed probability of the wrong class; the rows' weight."""

    selection: RowSelection
    ensemble: Ensemble

    def __call__(self, block: Block) -> Sums:
        """Sums over the rows of a block."""
        weight = self.selection.weights(block)
        missed = wrong_probability(self.ensemble.totals(block), self.selection.target(block))
        return Sums((add_columns(weight, missed), np.asarray(weight.sum())))


@dataclass(frozen=True)
class VoteDifferences:
    """Statistic of a pass that compares AdaBoost's vote with the linearised sum.

    Sums over rows: whether both choose the same class, absolute sum, absolute cubic term, weight.
    """

    ensembles: tuple[Ensemble, ...]
    scales: Floats

    def __call__(self, block: Block) -> Sums:
        """Sums over the rows of a block."""
        weight = block.weights
        each = [(ensemble.totals(block), ensemble.alphas) for ensemble in self.ensembles]
        sums = self.scales * np.column_stack([linear(t, a)[:, -1] for t, a in each])
        votes = np.column_stack([vote(t, a)[:, -1] for t, a in each])
        left_out = self.scales * np.column_stack([cubic(t, a) for t, a in each])
        two = len(each) == 1
        same = (sums > 0)[:, 0] == (votes > 0)[:, 0] if two else sums.argmax(1) == votes.argmax(1)
        sizes = [np.abs(part).sum(axis=1) for part in (sums, left_out)]
        numbers = [weight @ part for part in (same.astype(np.float64), *sizes)]
        return Sums((*map(np.asarray, numbers), np.asarray(weight.sum())))


def compare(rows: BinaryRows, fits: Sequence[Fit]) -> tuple[float, float]:
    """Share of rows on which the vote and the linearised sum of the same rounds agree.

    The second number is the cubic term relative to the sum.
    """
    ensembles = tuple(Ensemble.of(fit.rounds, rows.levels) for fit in fits)
    scales = np.array([fit.scale for fit in fits])
    n_rounds = sum(fit.chosen for fit in fits)
    differences = Piecewise(VoteDifferences(ensembles, scales), MAX_TOTALS // n_rounds + 1)
    same, size, left_out, weight = rows.rows.sum(differences).arrays
    return float(same / weight), float(left_out / size) if size else 0.0
