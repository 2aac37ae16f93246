"""A numeric target as a fit sees it: what `Target` is to classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from weigh.engine import Block
from weigh.errors import Parameter, ParameterError
from weigh.evidence import Evidence
from weigh.frames import Floats, Integers
from weigh.newton.regression import GAMMA, GAUSSIAN, POISSON, Family, Moments, Power, refuse_outside
from weigh.parameters import is_number

FAMILIES: dict[str, Family | None] = {
    "gaussian": GAUSSIAN,
    "poisson": POISSON,
    "gamma": GAMMA,
    "tweedie": None,
}


def find_family(name: Any, power: Any) -> Family:
    """The family of a name; `power` is the exponent of "tweedie"."""
    if isinstance(name, str) and name == "quantile":
        raise ParameterError(
            Parameter("family"),
            " 'quantile' is not offered, because its quantiles were not calibrated; fit 'gaussian' "
            "and take the limits of predict_interval: with coverage=0.8, the 10% and 90% quantiles",
        )
    if not (isinstance(name, str) and name in FAMILIES):
        raise ValueError(f"family must be one of {[*FAMILIES]}, got {name!r}")
    if not (is_number(power) and 1 < power < 2):
        raise ValueError(f"power must be a number between 1 and 2, got {power!r}")
    return FAMILIES[name] or Power(float(power))


@dataclass(frozen=True)
class Numbers:
    """The family of a numeric target, its mean, and the weight of all rows.

    Labels are the numbers; of rows with an exposure, two columns: the number for each unit of
    exposure, and what a row of that exposure counts for.
    """

    family: Family
    mean: float
    n_rows: float
    dispersion: float = 1.0
    least: float = 0.0  # the least dispersion that there can be: counts vary by themselves

    n_totals: ClassVar[int] = 1
    n_free: ClassVar[int] = 1
    n_classes: ClassVar[int] = 1

    @property
    def quadratic(self) -> bool:
        """Whether the loss has the same curvature everywhere."""
        return self.family.quadratic

    @property
    def noisy(self) -> bool:
        """Whether the dispersion is estimated."""
        return True

    @property
    def counts(self) -> bool:
        """Whether the numbers are counts, and not amounts."""
        return self.least > 0

    def prior(self) -> Floats:
        """The total of a model without features."""
        return np.array([self.family.total(self.mean)])

    def labels(self, block: Block) -> Floats:
        """The numbers of some rows."""
        return block.labels

    def classes(self, block: Block) -> Integers:
        """All rows are of one kind."""
        return np.zeros(len(block), dtype=np.uint8)

    def moments(self, totals: Floats, labels: Floats, weight: Floats) -> Moments:
        """Loss, slope and curvature of each row at its total."""
        numbers, own = split(labels)
        return self.family.moments(totals, numbers, weight * own / self.dispersion)

    def losses(self, totals: Floats, labels: Floats) -> Floats:
        """The loss of each row, for a dispersion of one."""
        numbers, own = split(labels)
        return np.asarray(self.family.losses(totals[:, 0], numbers) * own)

    def pearson(self, totals: Floats, labels: Floats, weight: Floats) -> float:
        """Sum over rows of (y - mean)^2 over the variance that the family gives the mean."""
        numbers, own = split(labels)
        mean = self.family.mean(totals[:, 0])
        squares = (numbers - mean) ** 2 / mean**self.family.power
        return float(weight @ (own * squares))

    def noise(self, statistic: float, n_free: float) -> float:
        """The dispersion, from Pearson's statistic and what weights have used up of the rows."""
        return max(statistic / max(self.n_rows - n_free, 1.0), self.least, TINY)

    def dispersed(self, noise: float) -> Numbers:
        """The target with its dispersion set, so that losses are in nats."""
        return replace(self, dispersion=noise)


APART = 0.05
"""Merging intervals moves no total by more than this, relative to the noise of a row."""

TINY = 1e-8
"""The least dispersion of numbers in their own unit that are told exactly."""


def split(labels: Floats) -> tuple[Floats, Any]:
    """The numbers, and what each counts for."""
    return (labels, 1.0) if labels.ndim == 1 else (labels[:, 0], labels[:, 1])


@dataclass(frozen=True)
class Unit:
    """The unit in which a fit sees numbers: their totals are shift + scale t, t those of the fit.

    `noise` is the dispersion of numbers whose dispersion is one to the fit.
    """

    shift: float
    scale: float
    noise: float


@dataclass(frozen=True, eq=False)
class Seen:
    """Numbers as the fit sees them, the unit that it sees them in, and the target that they are."""

    labels: Floats
    unit: Unit
    target: Numbers

    @classmethod
    def of(cls, family: Family, numbers: Floats, weight: Floats, apart: Floats) -> Seen:
        """Of rows with so much added to their totals."""
        labels, unit = label_numbers(family, numbers, weight, apart)
        mean = float(labels[:, 0] @ (weight * labels[:, 1]) / (weight @ labels[:, 1]))
        least = 1 / unit.noise if family.power == 1 and are_counts(numbers) else 0.0
        plain = labels[:, 0].copy() if (labels[:, 1] == 1).all() else labels
        return cls(plain, unit, Numbers(family, mean, float(weight.sum()), least=least))


def label_numbers(
    family: Family, numbers: Floats, weight: Floats, apart: Floats
) -> tuple[Floats, Unit]:
    """Numbers as the fit sees them, and what each counts for.

    Amounts are centred and divided by their standard deviation. With a log link, a number is
    divided by its exposure e = exp(apart), and counts for e^(2 - power): the loss of y at the mean
    e m is that of y/e at m, times so much. Exposures are relative to their geometric mean, and what
    comes of it to its own mean, so that a fit does not depend on the unit of either.
    """
    large = float(np.abs(numbers).max()) or 1.0  # so that no square or sum is too large
    if family.link == "identity":
        return _centred((numbers - apart) / large, weight, large)
    usual = float(apart[0]) if np.ptp(apart) == 0 else float(np.average(apart, weights=weight))
    own = np.exp((apart - usual) * (2 - family.power))
    each = numbers / large * np.exp(usual - apart)
    mean = float(each @ (weight * own) / (weight @ own))
    shift = float(np.log(large) + np.log(mean))
    unit = Unit(shift - usual, 1.0, float(np.exp(shift * (2 - family.power))))
    return np.column_stack([each / mean, own]), unit


def are_counts(numbers: Floats) -> bool:
    """Whether numbers are whole, and small enough that a fraction would be seen."""
    return bool((numbers == np.rint(numbers)).all() and numbers.max() < 2**52)


def _centred(net: Floats, weight: Floats, large: float) -> tuple[Floats, Unit]:
    """Amounts that are so many times as large in the target's unit, in standard deviations."""
    share = weight / weight.sum()
    mean = float(net @ share)
    spread = float(np.sqrt((net - mean) ** 2 @ share))
    spread = spread if spread > 1e-13 * np.abs(net).max() else 1 / large
    scale = spread * large
    if not SMALL < scale < 1 / SMALL:
        raise ValueError(
            f"y varies by {scale:.3g}, whose square is too {'small' if scale < 1 else 'large'} a "
            f"number; give y in another unit, such as y/{scale:.0e}"
        )
    unit = Unit(mean * large, scale, scale**2)
    return np.column_stack([(net - mean) / spread, np.ones(len(net))]), unit


def merging_limit(target: Numbers, noise: float) -> float:
    """How far merging intervals may move a total; with a log link no factor by more than 5%."""
    family = target.family
    if family.link == "identity":
        return APART * float(np.sqrt(noise))
    return APART * min(float(np.sqrt(noise * target.mean ** (family.power - 2))), 1.0)


SMALL = 1e-150
"""The square of a number as small, or of one over it, is still a number with all its digits."""


def in_unit(evidence: Evidence, unit: Unit) -> Evidence:
    """Tables and prior in the target's unit."""
    k = unit.scale
    tables = tuple(
        replace(
            table,
            by_class=table.by_class * k,
            known_errors=None if table.known_errors is None else table.known_errors * k,
        )
        for table in evidence
    )
    prior = unit.shift + k * float(evidence.prior_row[0])
    covariance = None if evidence.covariance is None else evidence.covariance * k**2
    return replace(evidence, tables=tables, prior=prior, covariance=covariance)


def check_target(family: Family, numbers: Floats, name: str, told: str, kept: Any = None) -> None:
    """Refuse numbers that the family does not have, or whose mean it cannot have."""
    if family.least is not None and not numbers.any():
        raise ValueError(f"{name} is zero in every row; family={told!r} needs a positive mean")
    refuse_outside(family, numbers, name, told, kept)
