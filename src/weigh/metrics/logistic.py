"""Logistic regression on grouped rows, and the damped steps that it takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import expit

from weigh.frames import Floats

TOL, MOST, SLIGHT = 1e-15, 300, 1e-6


@dataclass(frozen=True, eq=False)
class Point:
    """Coefficients, the totals that they give, and the loss of these."""

    b: Floats
    totals: Floats
    loss: float

    @cached_property
    def p(self) -> Floats:
        """The probabilities."""
        return np.asarray(expit(self.totals))


class Problem(Protocol):
    """A loss to be made least."""

    @property
    def weight(self) -> Floats:
        """Of every group."""

    def at(self, b: Floats) -> Point:
        """The loss of some coefficients."""

    def gradient(self, point: Point) -> Floats:
        """How the loss changes with each."""

    def hessian(self, point: Point) -> Floats:
        """How the gradient does, or something near it that is never negative."""


def descend(problem: Problem, point: Point) -> Point:
    """Steps of Newton's; where one would go uphill, shorter and steeper ones (Levenberg's)."""
    damping, least = 0.0, TOL * float(problem.weight.sum())
    for _ in range(MOST):
        gradient, hessian = problem.gradient(point), problem.hessian(point)
        size = float(np.trace(hessian)) + np.finfo(float).tiny
        ridge = (damping + np.finfo(float).eps) * size * np.eye(len(gradient))
        new = problem.at(point.b - np.linalg.solve(hessian + ridge, gradient))
        if damping <= SLIGHT and gradient @ (point.b - new.b) <= least:
            return new
        if new.loss <= point.loss:
            point, damping = new, damping / 10 if damping > 1e-9 else 0.0
        else:
            damping = max(10 * damping, SLIGHT)
    return point


def softplus(totals: Floats) -> Floats:
    """ln(1 + exp(total)): what a negative row loses."""
    return np.asarray(np.maximum(totals, 0.0) + np.log1p(np.exp(-np.abs(totals))))


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """Coefficients, and the inverse of the Hessian of the loss."""

    coefficients: Floats
    covariance: Floats


@dataclass(frozen=True, eq=False)
class _Logistic:
    """The log loss of totals design b."""

    design: Floats
    positives: Floats
    weight: Floats

    def at(self, b: Floats) -> Point:
        totals = self.design @ b
        loss = float(self.weight @ softplus(totals) - self.positives @ totals)
        return Point(b, totals, loss)

    def gradient(self, point: Point) -> Floats:
        return np.asarray((self.weight * point.p - self.positives) @ self.design)

    def hessian(self, point: Point) -> Floats:
        spread = self.weight * point.p * (1 - point.p)
        return np.asarray((self.design.T * spread) @ self.design)


def fit_logistic(
    design: Floats, positives: Floats, negatives: Floats, start: Floats | None = None
) -> LogisticFit:
    """The coefficients of least log loss, begun at 0 or at `start`, whichever is nearer.

    Whoever calls has seen to it that a minimum exists.
    """
    problem = _Logistic(design, positives, positives + negatives)
    begin = [np.zeros(design.shape[1]), *([] if start is None else [start])]
    point = descend(problem, min(map(problem.at, begin), key=lambda point: point.loss))
    inverse = np.linalg.pinv(problem.hessian(point))
    return LogisticFit(point.b, np.asarray(inverse, dtype=np.float64))
