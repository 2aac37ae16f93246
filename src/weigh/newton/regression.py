"""Losses of labels and of numeric targets, and regressions on a few columns.

The families of numeric targets, by the loss of a row as a function of its total::

    gaussian                   mean = total,       loss = (y - mean)^2/2
    Power(p), 1 <= p <= 2      mean = exp(total),  variance = dispersion mean^p

Power 1 is Poisson and power 2 gamma; between them is Tweedie, whose amounts may be zero. Losses are
half the unit deviance: they are zero where the mean is y. The dispersion divides all of them, so it
does not change the fitted weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from scipy.special import xlogy

from weigh.arrays import Floats
from weigh.frames import tell_rows
from weigh.newton.descent import Point, descend


@dataclass(frozen=True)
class Moments:
    """The loss in nats, and its first and second derivative in the totals of each row.

    `curvature` is the second derivative in each total alone.
    """

    loss: float
    slope: Floats
    curvature: Floats
    probability: Floats | None = None  # of more than two classes

    def multiply_hessian(self, change: Floats, weight: Floats) -> Floats:
        """First-order change of the slopes by a small change of the totals."""
        if self.probability is None:
            return self.curvature * change
        mean = (self.probability * change).sum(axis=1, keepdims=True)
        bent: Floats = weight[:, None] * self.probability * (change - mean)
        return bent


class Loss(Protocol):
    """The loss of rows at their totals."""

    def moments(self, totals: Floats, target: Any, weight: Floats) -> Moments:
        """Loss, slope and curvature, in the shape of `totals`."""


@dataclass(frozen=True)
class Logistic:
    """The log loss of two classes; the target is the class, 0 or 1, or the share of class 1.

    >>> LOGISTIC.moments(np.zeros(2), np.array([0, 1]), np.ones(2)).slope
    array([ 0.5, -0.5])
    """

    def moments(self, totals: Floats, target: Any, weight: Floats) -> Moments:
        """Loss, slope and curvature of each row."""
        from weigh.kernels import logistic_moments

        slope, curvature, sums = np.empty(totals.size), np.empty(totals.size), np.zeros(3)
        logistic_moments(totals.ravel(), target, weight, ALONE, COUNTS, slope, curvature, sums)
        shape = totals.shape
        return Moments(float(sums[0]), slope.reshape(shape), curvature.reshape(shape))


@dataclass(frozen=True)
class Softmax:
    """The log loss of several classes, which have a total each; the target is the class."""

    def moments(self, totals: Floats, target: Any, weight: Floats) -> Moments:
        """Loss, slope and curvature of each row and class."""
        from weigh.kernels import softmax_moments

        slope, p, sums = np.empty_like(totals), np.empty_like(totals), np.zeros(3)
        softmax_moments(totals, target, weight, ALONE, COUNTS, slope, p, sums)
        return Moments(float(sums[0]), slope, weight[:, None] * p * (1 - p), p)


ALONE, COUNTS = np.zeros(1, np.uint8), np.ones(1, np.uint8)
"""Groups and roles without folds: one group, whose rows are all training rows."""

LOGISTIC, SOFTMAX = Logistic(), Softmax()


PRECISE, MOST = 1e-15, 300
"""Stopping rules: first-order decrease relative to the weight of all rows, and number of steps."""


class Small(Point, Protocol):
    """A point whose Hessian is a matrix."""

    @property
    def hessian(self) -> Floats:
        """The second derivatives, or a positive semidefinite approximation."""


AnySmall = TypeVar("AnySmall", bound=Small)


def minimise(point: AnySmall, weight: float) -> AnySmall:
    """Minimise the loss of a problem with few unknowns; `weight` is that of all rows."""
    near = descend(point, solve_step, least=PRECISE * weight, most=MOST)
    return near.moved(solve_step(near))


def solve_step(point: Small) -> Floats:
    """Hessian^-1 gradient; a trace of the diagonal is added, so that it exists."""
    hessian = point.hessian
    size = float(np.trace(hessian)) + np.finfo(float).tiny
    ridge = np.finfo(float).eps * size * np.eye(len(hessian))
    return np.asarray(np.linalg.solve(hessian + ridge, point.gradient))


@dataclass(frozen=True, eq=False)
class DesignRows:
    """A design matrix, the targets and weights of its rows, and the loss of their totals."""

    design: Floats
    target: Floats
    weight: Floats
    loss: Loss = LOGISTIC


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients of a design's columns, with their loss and derivatives."""

    rows: DesignRows
    b: Floats

    @cached_property
    def _moments(self) -> Moments:
        rows = self.rows
        return rows.loss.moments(rows.design @ self.b, rows.target, rows.weight)

    @property
    def loss(self) -> float:
        """In nats."""
        return self._moments.loss

    @property
    def gradient(self) -> Floats:
        """Its derivative in each coefficient."""
        return np.asarray(self._moments.slope @ self.rows.design)

    @property
    def hessian(self) -> Floats:
        """Its second derivatives."""
        return np.asarray((self.rows.design.T * self._moments.curvature) @ self.rows.design)

    @property
    def covariance(self) -> Floats:
        """The inverse of the Hessian."""
        return np.asarray(np.linalg.pinv(self.hessian), dtype=np.float64)

    def moved(self, step: Floats) -> Coefficients:
        """Other coefficients."""
        return Coefficients(self.rows, self.b - step)


def fit_coefficients(rows: DesignRows, start: Floats | None = None) -> Coefficients:
    """The coefficients of least loss, from 0 or from `start`, whichever is better.

    The caller has made sure that a minimum exists.
    """
    begin = [np.zeros(rows.design.shape[1]), *([] if start is None else [start])]
    best = min((Coefficients(rows, b) for b in begin), key=lambda point: point.loss)
    return minimise(best, float(rows.weight.sum()))


@dataclass(frozen=True)
class Gaussian:
    """Amounts with normal noise of constant variance; the total is the mean.

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
"""Totals are clipped to this size, so that no exponential overflows."""

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
