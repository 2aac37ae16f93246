"""Rows as naive Bayes scores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weigh.evidence import apply_exponent, attenuate
from weigh.frames import Floats, Integers


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


def join_scores(parts: Sequence[Scores]) -> Scores:
    """The rows of all parts."""
    if len(parts) == 1:
        return parts[0]
    names = ("prior", "weights", "n", "labels", "weight")
    return Scores(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
