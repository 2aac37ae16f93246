"""A numeric target of a fit; `weigh.educated.design.Target` is its counterpart for classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.engine import Block
from weigh.errors import Parameter, ParameterError
from weigh.evidence import Evidence
from weigh.newton.regression import GAMMA, GAUSSIAN, POISSON, Family, Moments, Power, refuse_outside
from weigh.parameters import is_number

FAMILIES: dict[str, Family | None] = {
    "gaussian": GAUSSIAN,
    "poisson": POISSON,
    "gamma": GAMMA,
    "tweedie": None,
}


def find_family(name: Any, power: Any) -> Family:
    """Look up a family by name; `power` is the variance power of "tweedie"."""
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
class NumberTarget:
    """The family of a numeric target, its mean, and the weight of all rows.

    Labels are the numbers. For rows with an exposure they have two columns: the number per unit of
    exposure, and the weight of a row with that exposure.
    """

    family: Family
    mean: float
    n_rows: float
    dispersion: float = 1.0
    least: float = 0.0  # lower bound of the dispersion: positive for counts (Poisson variance)

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
        """Whether the numbers are counts rather than amounts."""
        return self.least > 0

    def prior(self) -> Floats:
        """The total of a model without features."""
        return np.array([self.family.total(self.mean)])

    def labels(self, block: Block) -> Floats:
        """The labels of some rows."""
        return block.labels

    def classes(self, block: Block) -> Integers:
        """Zeros: a numeric target has one class."""
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
        """Pearson's statistic: the sum over rows of (y - mean)^2/mean^power, weighted."""
        numbers, own = split(labels)
        mean = self.family.mean(totals[:, 0])
        squares = (numbers - mean) ** 2 / mean**self.family.power
        return float(weight @ (own * squares))

    def noise(self, statistic: float, n_free: float) -> float:
        """The dispersion, from Pearson's statistic and the effective degrees of freedom."""
        return max(statistic / max(self.n_rows - n_free, 1.0), self.least, TINY)

    def dispersed(self, noise: float) -> NumberTarget:
        """The target with its dispersion set, so that losses are in nats."""
        return replace(self, dispersion=noise)


APART = 0.05
"""Largest change of a total by merging bins, relative to the noise of a row."""

TINY = 1e-8
"""Lower bound of the dispersion in the unit of the fit, for targets that are predicted exactly."""


def split(labels: Floats) -> tuple[Floats, Any]:
    """Split labels into the numbers and the weights from exposure (1 without exposure)."""
    return (labels, 1.0) if labels.ndim == 1 else (labels[:, 0], labels[:, 1])


@dataclass(frozen=True)
class Unit:
    """The unit of the fit: a total t of the fit is shift + scale t in the unit of the target.

    A dispersion of one in the fit is a dispersion of `noise` in the unit of the target.
    """

    shift: float
    scale: float
    noise: float


@dataclass(frozen=True, eq=False)
class FittedNumbers:
    """Numbers in the unit of the fit, that unit, and the target that they form."""

    labels: Floats
    unit: Unit
    target: NumberTarget

    @classmethod
    def of(cls, family: Family, numbers: Floats, weight: Floats, apart: Floats) -> FittedNumbers:
        """Convert numbers to the unit of the fit; `apart` is the offset of each row's total."""
        labels, unit = label_numbers(family, numbers, weight, apart)
        mean = float(labels[:, 0] @ (weight * labels[:, 1]) / (weight @ labels[:, 1]))
        least = 1 / unit.noise if family.power == 1 and are_counts(numbers) else 0.0
        plain = labels[:, 0].copy() if (labels[:, 1] == 1).all() else labels
        return cls(plain, unit, NumberTarget(family, mean, float(weight.sum()), least=least))


def label_numbers(
    family: Family, numbers: Floats, weight: Floats, apart: Floats
) -> tuple[Floats, Unit]:
    """Numbers in the unit of the fit with the weight of each, and the unit.

    With the identity link, numbers are centred and divided by their standard deviation. With a log
    link, a number is divided by its exposure e = exp(apart) and gets the weight e^(2 - power): the
    loss of y at the mean e m is that of y/e at m, times this weight. Exposures are divided by their
    geometric mean, and the resulting numbers by their mean. So a fit does not depend on the unit of
    either.
    """
    large = float(np.abs(numbers).max()) or 1.0  # avoids overflow of squares and sums
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
    """Whether numbers are whole, and small enough that floats could represent a fraction."""
    return bool((numbers == np.rint(numbers)).all() and numbers.max() < 2**52)


def _centred(net: Floats, weight: Floats, large: float) -> tuple[Floats, Unit]:
    """Centre and standardise amounts, which were divided by `large`."""
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


def merging_limit(target: NumberTarget, noise: float) -> float:
    """The largest change of a total by merging bins; with a log link, about 5% of a factor."""
    family = target.family
    if family.link == "identity":
        return APART * float(np.sqrt(noise))
    return APART * min(float(np.sqrt(noise * target.mean ** (family.power - 2))), 1.0)


SMALL = 1e-150
"""Bound of the scale: its square, and that of 1/SMALL, neither underflow nor overflow."""


def in_unit(evidence: Evidence, unit: Unit) -> Evidence:
    """Convert tables, prior and covariance to the unit of the target."""
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
    """Raise an error for numbers outside the family's range, or for a mean of zero."""
    if family.least is not None and not numbers.any():
        raise ValueError(f"{name} is zero in every row; family={told!r} needs a positive mean")
    refuse_outside(family, numbers, name, told, kept)
