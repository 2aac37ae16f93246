"""The loss of rows as a function of their totals: a value that is passed to a fit.

A loss gives, for each row, its first and second derivative in the row's total. These weigh the
columns of any design: the gradient is X' slope and the Hessian X' diag(curvature) X. Another member
of the exponential family needs nothing but these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from weigh.frames import Floats


@dataclass(frozen=True)
class Moments:
    """The loss in nats, and its first and second derivative in the totals of each row.

    `curvature` is the second derivative in each total alone.
    """

    loss: float
    slope: Floats
    curvature: Floats
    probability: Floats | None = None  # of more than two classes

    def bend(self, change: Floats, weight: Floats) -> Floats:
        """What a small change of the totals adds to the slopes."""
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
"""One group of rows, all of which count."""

LOGISTIC, SOFTMAX = Logistic(), Softmax()
