"""Losses as values, and regressions on a few columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from weigh.frames import Floats
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


PRECISE, MOST = 1e-15, 300
"""A step that promises less, relative to the weight of all rows, is the last; so is step `MOST`."""


class Small(Point, Protocol):
    """A point whose Hessian is a matrix."""

    @property
    def hessian(self) -> Floats:
        """The second derivatives, or something near them that is positive semidefinite."""


AnySmall = TypeVar("AnySmall", bound=Small)


def minimise(point: AnySmall, weight: float) -> AnySmall:
    """The least loss of a few unknowns, where rows have so much weight in all."""
    near = descend(point, solve_step, least=PRECISE * weight, most=MOST)
    return near.moved(solve_step(near))


def solve_step(point: Small) -> Floats:
    """Hessian^-1 gradient; a trace of the diagonal is added, so that it exists."""
    hessian = point.hessian
    size = float(np.trace(hessian)) + np.finfo(float).tiny
    ridge = np.finfo(float).eps * size * np.eye(len(hessian))
    return np.asarray(np.linalg.solve(hessian + ridge, point.gradient))


@dataclass(frozen=True, eq=False)
class Rows:
    """A design, what its rows tell, their weights, and the loss of their totals."""

    design: Floats
    target: Floats
    weight: Floats
    loss: Loss = LOGISTIC


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients of a design's columns, and the loss that they leave."""

    rows: Rows
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


def fit_coefficients(rows: Rows, start: Floats | None = None) -> Coefficients:
    """The coefficients of least loss, from 0 or from `start`, whichever is better.

    The caller has made sure that a minimum exists.
    """
    begin = [np.zeros(rows.design.shape[1]), *([] if start is None else [start])]
    best = min((Coefficients(rows, b) for b in begin), key=lambda point: point.loss)
    return minimise(best, float(rows.weight.sum()))
