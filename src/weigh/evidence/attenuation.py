"""The rule of a model whose exponent depends on how much a row tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from weigh.frames import Floats

Form: TypeAlias = Literal["root", "geometric"]


@dataclass(frozen=True, eq=False)
class Attenuation:
    """The totals of a row with n features observed, after an exponent (Carlos 2015).

    root:       e (prior + weights) + shift,   e = min(1, k/(n + 1))        (Eq. 20)
    geometric:  prior + e weights + shift,     e = min(1, k/n)              (Eq. 19)

    n counts tokens where the model is one of documents. `shift` is a change of the prior, which no
    exponent touches.
    """

    k: float
    form: Form
    shift: Floats

    def exponent(self, n: Floats) -> Floats:
        """What the totals of rows with n features are multiplied by; nothing observed gives 1."""
        return attenuate(self.k, self.form, n)

    def apply(self, weights: Floats, prior: Floats, n: Floats) -> Floats:
        """Totals from sums of weights, one row each, and the prior."""
        return apply_exponent(weights, prior, self.exponent(n)[:, None], self.form) + self.shift


def attenuate(k: float, form: str, n: Floats) -> Floats:
    """The exponent at n features; k is 1 or more."""
    return np.asarray(k / np.maximum(n + 1 if form == "root" else n, k))


def apply_exponent(weights: Floats, prior: Floats, exponent: Floats, form: str) -> Floats:
    """Weights and prior together, or the weights alone, times the exponent."""
    totals: Floats = (prior + weights) * exponent if form == "root" else prior + weights * exponent
    return totals
