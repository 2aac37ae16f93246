"""AdaBoost with probabilities: naive Bayes again and again, on rows that it got wrong so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import expit

from weigh import engine
from weigh.bins import Placed
from weigh.evidence import Evidence, weigh_tally
from weigh.frames import Floats
from weigh.tally import Rows, Tally, count_placed

PERFECT = 1e-10
"""Below this error there is nothing left to learn from."""


@dataclass(frozen=True)
class Round:
    """One naive Bayes, its weighted error eps, and its voice alpha."""

    evidence: Evidence
    error: float
    alpha: float

    @property
    def beta(self) -> float:
        """eps/(1 - eps)."""
        return self.error / (1 - self.error)


@dataclass(frozen=True)
class Rows01:
    """Rows of one class (1) against the rest (0), placed on the levels of a tally's features."""

    tally: Tally
    placed: list[Placed]
    target: np.ndarray[Any, np.dtype[np.uint8]]
    weight: Floats
    smoothing: Any

    def take(self, rows: Any) -> Self:
        """Some of the rows."""
        placed = [replace(part, codes=part.codes[rows]) for part in self.placed]
        return replace(self, placed=placed, target=self.target[rows], weight=self.weight[rows])

    def part(self, split: Any) -> tuple[Self, Self]:
        """The rows of a split, on the same levels."""
        train, held_out = split
        return self.take(train), self.take(held_out)

    def learn(self, weight: Floats) -> Evidence:
        """Naive Bayes of the rows with other weights: one weighted tally."""
        rows = Rows(self.target, weight, 2)
        parts = zip(self.tally.tables, self.placed, strict=True)
        counts = [count_placed(table.feature, placed, rows) for table, placed in parts]
        class_counts = np.bincount(self.target, weight, 2).astype(np.float64)
        return weigh_tally(Tally(np.arange(2), class_counts, tuple(counts)), self.smoothing)

    def total(self, evidence: Evidence) -> Floats:
        """The log odds of each row."""
        padded = [table.padded for table in evidence]
        return engine.total_placed(self.placed, padded, evidence.prior_row, len(self.target))[:, 0]

    def missed(self, totals: Floats) -> Floats:
        """|y - h|, the probability of the other class: exact where h is as good as 0 or 1."""
        sign = np.where(self.target == 1, -1.0, 1.0)
        return np.asarray(expit(sign * totals.T).T)


def boost(rows: Rows01, most: int) -> list[Round]:
    """At most so many rounds; they end where the error reaches one half, or nothing.

    eps = sum w |y - h|,  beta = eps/(1 - eps),  w <- w beta^(1 - |y - h|),  alpha = 1/2 ln 1/beta

    Weights are rescaled to their first sum, so that smoothing means rows in every round. A first
    round that ends it all is the model, with alpha 1.
    """
    found: list[Round] = []
    weight, total = rows.weight, rows.weight.sum()
    for _ in range(most):
        evidence = rows.learn(weight)
        missed = rows.missed(rows.total(evidence))
        error = float(weight @ missed / total)
        if not PERFECT <= error < 0.5:
            return found or [Round(evidence, error, 1.0)]
        alpha = 0.5 * np.log((1 - error) / error)
        found.append(Round(evidence, error, float(alpha)))
        weight = weight * np.exp(-2 * alpha * (1 - missed))
        weight *= total / weight.sum()
    return found


def linear(totals: Floats, alphas: Floats) -> Floats:
    """The log odds after each round, linearised: cumulative sums of alpha_t times round t's."""
    return np.cumsum(totals * alphas, axis=1)


def vote(totals: Floats, alphas: Floats) -> Floats:
    """The log odds of AdaBoost's own h(x) after each round: sum of ln beta_t (1 - 2 P_t)."""
    return np.cumsum(2 * alphas * np.tanh(totals / 2), axis=1)


def cubic(totals: Floats, alphas: Floats) -> Floats:
    """The first term that the linearisation leaves out: sum of alpha_t total_t^3 / 12."""
    return np.asarray((totals**3 / 12) @ alphas)
