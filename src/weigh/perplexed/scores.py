"""Rows as naive Bayes scores them, by tables that saw them or by tables that did not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from weigh.evidence import Evidence, apply_exponent, attenuate
from weigh.folds import Split
from weigh.frames import Floats, Integers, Sample


@dataclass(frozen=True)
class Scores:
    """Naive Bayes of each row in two parts, its n, its class and its weight.

    Once they are known, what any k makes of a row is arithmetic.
    """

    prior: Floats
    weights: Floats
    n: Floats
    labels: Integers
    weight: Floats

    def __len__(self) -> int:
        return len(self.labels)

    def totals(self, k: float, form: str) -> Floats:
        """The totals after the exponent."""
        exponent = attenuate(k, form, self.n)[:, None]
        return apply_exponent(self.weights, self.prior, exponent, form)


def score_own(sample: Sample, naive: Evidence) -> Scores:
    """Every row scored by the tables of all rows."""
    return _score(sample, naive, naive.observed(sample.table))


def score_held_out(
    sample: Sample,
    naive: Evidence,
    splits: Iterable[Split],
    learn: Callable[[Sample], Evidence],
) -> Scores | None:
    """Rows held out, scored by what `learn` makes of the others; None where there are no such rows.

    Levels are found again in the others: cut points that saw the class of a row held out would
    flatter it. A row whose class has no other row left is not judged.
    """
    n, parts = naive.observed(sample.table), []
    for train, held_out in splits:
        fold = learn(sample.take(train))
        judged = held_out & (fold.class_counts > 0)[sample.labels]
        if judged.any():
            parts.append(_score(sample.take(judged), fold, n[judged]))
    return _join(parts) if parts else None


def _score(sample: Sample, naive: Evidence, n: Floats) -> Scores:
    nothing = np.zeros(len(naive.prior_row))
    weights = replace(naive, prior=nothing).total(sample.table)
    prior = np.broadcast_to(naive.prior_row, weights.shape)
    weight = np.ones(len(n)) if sample.weight is None else sample.weight
    return Scores(prior, weights, n, sample.labels, weight)


def _join(parts: list[Scores]) -> Scores:
    names = ("prior", "weights", "n", "labels", "weight")
    return Scores(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
