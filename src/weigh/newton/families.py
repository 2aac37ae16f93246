"""Families of numeric targets: the loss of a row as a function of its total.

    gaussian                   mean = total,       loss = (y - mean)^2/2
    Power(p), 1 <= p <= 2      mean = exp(total),  variance = dispersion mean^p

Power 1 is Poisson and power 2 gamma; between them is Tweedie, whose amounts may be zero. Losses are
half the unit deviance: they are zero where the mean is y. The dispersion divides them all, so that
it changes no weights of least loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from scipy.special import xlogy

from weigh.frames import Floats, tell_rows
from weigh.newton.regression import Moments


@dataclass(frozen=True)
class Gaussian:
    """Amounts with noise of one size; the total is the mean.

    `least` is the smallest target that there can be, and `open` says that it must be larger;
    `quadratic` that the loss has the same curvature everywhere, so that one Newton step is exact.

    >>> GAUSSIAN.moments(np.zeros((2, 1)), np.array([1.0, 3.0]), np.ones(2)).slope.ravel()
    array([-1., -3.])
    """

    link: ClassVar[Literal["identity", "log"]] = "identity"
    least: ClassVar[float | None] = None
    open: ClassVar[bool] = False
    power: ClassVar[float] = 0.0
    quadratic: ClassVar[bool] = True

    def moments(self, totals: Floats, target: Floats, weight: Floats) -> Moments:
        """Loss, slope and curvature of each row."""
        away = totals[:, 0] - target
        slope = weight * away
        loss = 0.5 * float(slope @ away)
        return Moments(loss, slope[:, None], weight[:, None])

    def losses(self, totals: Floats, target: Floats) -> Floats:
        """Half the squared error of each row."""
        return np.asarray(0.5 * (totals - target) ** 2)

    def mean(self, totals: Floats) -> Floats:
        """The totals themselves."""
        return totals

    def total(self, mean: float) -> float:
        """The mean itself."""
        return mean


@dataclass(frozen=True)
class Power:
    """Counts (power 1), positive amounts (2) or amounts that may be zero (between); log link.

    >>> Power(1.0).moments(np.zeros((2, 1)), np.array([1.0, 3.0]), np.ones(2)).slope.ravel()
    array([ 0., -2.])
    """

    power: float
    link: ClassVar[Literal["identity", "log"]] = "log"
    least: ClassVar[float | None] = 0.0
    quadratic: ClassVar[bool] = False

    @property
    def open(self) -> bool:
        """Whether a target of zero is impossible."""
        return self.power == 2

    def moments(self, totals: Floats, target: Floats, weight: Floats) -> Moments:
        """Loss, slope and curvature of each row; the observed curvature, which is positive."""
        p, total = self.power, np.clip(totals[:, 0], -FAR, FAR)
        high, low = np.exp((2 - p) * total), target * np.exp((1 - p) * total)
        loss = float(weight @ self.losses(total, target))
        slope = weight * (high - low)
        curvature = weight * ((2 - p) * high + (p - 1) * low)
        return Moments(loss, slope[:, None], curvature[:, None])

    def losses(self, totals: Floats, target: Floats) -> Floats:
        """Half the unit deviance of each row."""
        p, total = self.power, np.clip(totals, -FAR, FAR)
        if p == 1:
            return np.asarray(np.exp(total) - target - target * total + xlogy(target, target))
        if p == 2:
            ratio = target * np.exp(-total)
            return np.asarray(ratio - 1 - np.log(ratio))
        here = np.exp((2 - p) * total) / (2 - p) + target * np.exp((1 - p) * total) / (p - 1)
        return np.asarray(here - target ** (2 - p) / ((2 - p) * (p - 1)))

    def mean(self, totals: Floats) -> Floats:
        """The exponentials of totals."""
        return np.exp(totals)

    def total(self, mean: float) -> float:
        """The logarithm of a mean."""
        return float(np.log(mean))


FAR = 300.0
"""Totals beyond are treated as this one, so that no exponential overflows."""

GAUSSIAN, POISSON, GAMMA = Gaussian(), Power(1.0), Power(2.0)

Family: TypeAlias = Gaussian | Power


def refuse_outside(family: Family, numbers: Floats, name: str, told: str, kept: Any = None) -> None:
    """Refuse numbers that a family does not have; `kept` marks whose they are among all rows."""
    if family.least is None:
        return
    odd = numbers <= family.least if family.open else numbers < family.least
    if not odd.any():
        return
    low = numbers.min()
    wanted = "positive numbers" if family.open else "numbers of 0 or more"
    other = "'tweedie', which takes zeros" if low == 0 else "'gaussian'"
    raise ValueError(
        f"{name} holds {tell_rows(numbers, odd, kept)}, but family={told!r} takes {wanted}; drop "
        f"such rows or choose another family, such as family={other}"
    )
