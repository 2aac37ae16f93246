"""Statistics of each boosting round, and the difference between the vote and its linearisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
from weigh.boosted.tuning import MAX_TOTALS, Choice, Combine, HeldOut
from weigh.engine import Block, Piecewise, Sums
from weigh.frames import Floats


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
        eps = np.minimum(self.errors, 0.5)  # no bound from a first round at chance
        return np.cumprod(2 * np.sqrt(eps * (1 - eps)))


@dataclass(frozen=True)
class Fit:
    """One class boosted against the rest: all rounds tried, and how many are used."""

    tried: list[Round]
    choice: Choice | None
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
    losses = rows.rows.sum(HeldOut(rows, fit.tried).losses(combine, fit.scales)).arrays
    quality = Piecewise(Quality(rows.selection, ensemble), MAX_TOTALS // len(fit.tried) + 1)
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
class Quality:
    """Statistic of a pass: each round's summed probability of the wrong class; the rows' weight."""

    selection: RowSelection
    ensemble: Ensemble

    def __call__(self, block: Block) -> Sums:
        """Sums over the rows of a block."""
        weight = self.selection.weights(block)
        missed = wrong_probability(self.ensemble.totals(block), self.selection.target(block))
        return Sums((add_columns(weight, missed), np.asarray(weight.sum())))


@dataclass(frozen=True)
class Differences:
    """Statistic of a pass that compares vote and linearised sum.

    Sums over rows: whether both choose the same class, absolute sum, absolute cubic term, weight.
    """

    ensembles: tuple[Ensemble, ...]
    scales: Floats

    def __call__(self, block: Block) -> Sums:
        """Sums over the rows of a block."""
        weight = np.ones(len(block)) if block.weight is None else block.weight
        each = [(ensemble.totals(block), ensemble.alphas) for ensemble in self.ensembles]
        sums = self.scales * np.column_stack([linear(t, a)[:, -1] for t, a in each])
        votes = np.column_stack([vote(t, a)[:, -1] for t, a in each])
        left_out = self.scales * np.column_stack([cubic(t, a) for t, a in each])
        two = len(each) == 1
        same = (sums > 0)[:, 0] == (votes > 0)[:, 0] if two else sums.argmax(1) == votes.argmax(1)
        sizes = [np.abs(part).sum(axis=1) for part in (sums, left_out)]
        numbers = [weight @ part for part in (same.astype(np.float64), *sizes)]
        return Sums((*map(np.asarray, numbers), np.asarray(weight.sum())))


@dataclass(frozen=True)
class Agreement:
    """Share of rows on which vote and sum agree, and the cubic term relative to the sum."""

    agreement: float
    cubic: float


def compare(rows: BinaryRows, fits: Sequence[Fit]) -> Agreement:
    """Compare the vote and the linearised sum of the same rounds."""
    ensembles = tuple(Ensemble.of(fit.rounds, rows.levels) for fit in fits)
    scales = np.array([fit.scale for fit in fits])
    n_rounds = sum(fit.chosen for fit in fits)
    apart = Piecewise(Differences(ensembles, scales), MAX_TOTALS // n_rounds + 1)
    same, size, left_out, weight = rows.rows.sum(apart).arrays
    return Agreement(float(same / weight), float(left_out / size) if size else 0.0)
