"""Numbers beside a model's estimates of them, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh.evidence.exposure import given_to
from weigh.frames import Floats, Integers, number_sample, read
from weigh.newton.families import Power, refuse_outside


@dataclass(frozen=True, eq=False)
class Estimated:
    """The numbers of the rows that have a weight, and what a model estimates of them.

    `power` is that of the model's family: 0 has squared errors as its deviance.
    """

    target: str
    numbers: Floats
    means: Floats
    weight: Floats
    kept: Integers
    power: float = 0.0
    given: dict[str, Any] = field(default_factory=dict)  # exposure and offset

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any, exposure: Any = None) -> Estimated:
        """Of a fitted regressor of this package or of scikit-learn, or a pipeline."""
        sample, numbers = number_sample(read(X), y, sample_weight)
        if hasattr(model, "_family"):
            refuse_outside(model._family, numbers, sample.target, model.family)
        kept = np.flatnonzero(sample.kept)
        own = given_to(model, read(X).names, exposure)
        means = np.asarray(model.predict(_features(X, y), **own), dtype=np.float64)[kept]
        weight = np.ones(len(numbers)) if sample.weight is None else sample.weight
        return cls(sample.target, numbers, means, weight, kept, power_of(model), own)

    @property
    def mean(self) -> float:
        """The mean of the numbers."""
        return float(self.numbers @ self.weight / self.weight.sum())

    def losses(self, power: float) -> Floats:
        """The deviance of each row in a family."""
        return deviances(power, self.numbers, self.means)


def power_of(model: Any) -> float:
    """The power of a model's family; 0 of one that has none."""
    return float(getattr(getattr(model, "_family", None), "power", 0.0))


def shared_power(powers: Sequence[float], means: Sequence[Floats]) -> float:
    """The power that all models have, if their deviance can be computed; else 0: squared errors."""
    if len({*powers}) > 1 or any((own <= 0).any() for own in means):
        return 0.0
    return powers[0]


def deviances(power: float, numbers: Floats, means: Floats) -> Floats:
    """The deviance of each row: its squared error where the power is 0."""
    if not power or (means <= 0).any():
        return np.asarray((numbers - means) ** 2)
    return np.asarray(2 * Power(power).losses(np.log(means), numbers))


def name_loss(power: float) -> str:
    """What the losses of rows are called."""
    return "deviance" if power else "squared error"


def _features(X: Any, y: Any) -> Any:
    """X as it is: models of this package ignore the target's column, others must not see it."""
    return X.drop(columns=y) if isinstance(y, str) and hasattr(X, "iloc") else X
