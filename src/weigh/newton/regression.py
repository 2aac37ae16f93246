"""Regression of a few columns under any loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from weigh.frames import Floats
from weigh.newton.descent import Point, descend
from weigh.newton.losses import LOGISTIC, Loss, Moments

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
