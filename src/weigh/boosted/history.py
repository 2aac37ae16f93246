"""What each round did, and how far the vote and its linearised sum are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weigh.boosted.rounds import (
    Ensemble,
    Round,
    Rows01,
    View,
    add_columns,
    cubic,
    linear,
    miss,
    vote,
)
from weigh.boosted.tuning import ROOM, Choice, Combine, HeldOut
from weigh.engine import Block, Piecewise, Sums
from weigh.frames import Floats


@dataclass(frozen=True)
class Rounds:
    """What each round did: its error eps, beta, alpha, and the model after it.

    `losses` are those of the training rows in bits, `held_out` those of rows held out (NaN where
    none were), each with the scale of that many rounds; `quality` is the mean probability that the
    round gives a row's own class. The model is the first `chosen` rounds.
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
        """What the training error of the vote of the first t rounds cannot exceed, for each t.

        2^t prod_t sqrt(eps_t (1 - eps_t)), and at most 1 (Freund & Schapire 1997, Theorem 6). The
        paper prints half of it, which bounds the mean probability of the wrong class.
        """
        eps = np.minimum(self.errors, 0.5)  # a first round no better than chance promises nothing
        return np.cumprod(2 * np.sqrt(eps * (1 - eps)))


@dataclass(frozen=True)
class Fit:
    """One class boosted against the rest: every round tried, of which the first few are kept."""

    tried: list[Round]
    choice: Choice | None
    chosen: int

    @property
    def rounds(self) -> list[Round]:
        """Those that are kept."""
        return self.tried[: self.chosen]

    @property
    def alphas(self) -> Floats:
        """Their voices."""
        return np.array([part.alpha for part in self.rounds])

    @property
    def scales(self) -> Floats:
        """The best scale of each number of rounds."""
        return np.ones(len(self.tried)) if self.choice is None else self.choice.scales

    @property
    def scale(self) -> float:
        """That of the rounds that are kept."""
        return float(self.scales[self.chosen - 1])


def tell(rows: Rows01, fit: Fit, combine: Combine) -> Rounds:
    """What each round that was tried did."""
    ensemble = Ensemble.of(fit.tried, rows.levels)
    losses = rows.rows.sum(HeldOut(rows, fit.tried).losses(combine, fit.scales)).arrays
    quality = Piecewise(Quality(rows.view, ensemble), ROOM // len(fit.tried) + 1)
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
    """The statistic of rounds on their own: what each misses, and the weight of the rows."""

    view: View
    ensemble: Ensemble

    def __call__(self, block: Block) -> Sums:
        """The sums of a block."""
        weight = self.view.weigh(block)
        missed = miss(self.ensemble.totals(block), self.view.target(block))
        return Sums((add_columns(weight, missed), np.asarray(weight.sum())))


@dataclass(frozen=True)
class Apart:
    """The statistic of two combinations: where they agree, their size, the cubic term, weight."""

    ensembles: tuple[Ensemble, ...]
    scales: Floats

    def __call__(self, block: Block) -> Sums:
        """The sums of a block."""
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
class Likeness:
    """The share of rows on which vote and sum agree, and the cubic term relative to the sum."""

    agreement: float
    cubic: float


def compare(rows: Rows01, fits: Sequence[Fit]) -> Likeness:
    """How far the two combinations of the same rounds are apart."""
    ensembles = tuple(Ensemble.of(fit.rounds, rows.levels) for fit in fits)
    scales = np.array([fit.scale for fit in fits])
    n_rounds = sum(fit.chosen for fit in fits)
    apart = Piecewise(Apart(ensembles, scales), ROOM // n_rounds + 1)
    same, size, left_out, weight = rows.rows.sum(apart).arrays
    return Likeness(float(same / weight), float(left_out / size) if size else 0.0)
