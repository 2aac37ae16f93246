"""Logistic regression on grouped rows, with an offset and a quadratic penalty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from weigh.frames import Floats

TOL, MOST = 1e-15, 300


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """Coefficients, and the inverse of the Hessian of the penalised loss."""

    coefficients: Floats
    covariance: Floats

    @property
    def errors(self) -> Floats:
        """Standard errors; of an unpenalised fit, the usual ones."""
        return np.sqrt(np.diag(self.covariance))


@dataclass(frozen=True, eq=False)
class _Problem:
    """The log loss of totals offset + design b, plus half of b' penalty b."""

    design: Floats
    positives: Floats
    weight: Floats
    offset: Floats
    penalty: Floats

    def at(self, b: Floats) -> _Point:
        totals = self.offset + self.design @ b
        softplus = np.maximum(totals, 0.0) + np.log1p(np.exp(-np.abs(totals)))
        loss = float(self.weight @ softplus - self.positives @ totals + b @ self.penalty @ b / 2)
        return _Point(b, totals, loss)

    def gradient(self, point: _Point) -> Floats:
        missed = self.weight * point.p - self.positives
        return np.asarray(missed @ self.design + self.penalty @ point.b)

    def hessian(self, point: _Point) -> Floats:
        spread = self.weight * point.p * (1 - point.p)
        return np.asarray((self.design.T * spread) @ self.design + self.penalty)


@dataclass(frozen=True, eq=False)
class _Point:
    b: Floats
    totals: Floats
    loss: float

    @cached_property
    def p(self) -> Floats:
        return np.asarray(expit(self.totals))


def fit_logistic(
    design: Floats,
    positives: Floats,
    negatives: Floats,
    offset: Floats,
    penalty: Floats | None = None,
    start: Floats | None = None,
) -> LogisticFit:
    """The least of the log loss plus half of b' penalty b, by damped Newton steps.

    The total of a group is offset + design b. Whoever calls has seen to it that a minimum exists.
    """
    n = design.shape[1]
    matrix = np.zeros((n, n)) if penalty is None else penalty
    problem = _Problem(design, positives, positives + negatives, offset, matrix)
    tried = [problem.at(b) for b in (np.zeros(n), start) if b is not None]
    point = _descend(problem, min(tried, key=lambda point: point.loss))
    return LogisticFit(point.b, np.asarray(np.linalg.pinv(problem.hessian(point)), np.float64))


def _descend(problem: _Problem, point: _Point) -> _Point:
    """Steps of Newton's; where one would go uphill, shorter and steeper ones (Levenberg's)."""
    damping, least = 0.0, TOL * float(problem.weight.sum())
    for _ in range(MOST):
        gradient, hessian = problem.gradient(point), problem.hessian(point)
        size = float(np.trace(hessian)) + np.finfo(float).tiny
        ridge = (damping + np.finfo(float).eps) * size * np.eye(len(gradient))
        new = problem.at(point.b - np.linalg.solve(hessian + ridge, gradient))
        if damping == 0 and gradient @ (point.b - new.b) <= least:
            return new
        if new.loss <= point.loss:
            point, damping = new, damping / 10 if damping > 1e-9 else 0.0
        else:
            damping = max(10 * damping, 1e-6)
    return point
