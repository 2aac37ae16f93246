"""The exponents of least loss inside a ball: APM and APM(m) by damped Newton steps.

Loss is convex in the exponents, so the least loss on the sphere of squared norm m < m_u is the
least loss in the ball, and both are the ridge solution of matching norm (Eq. 16). Each step solves
the quadratic model of the loss in the ball exactly, from the eigenvectors of the Hessian; a full
step is halved only where the loss would rise, so nothing diverges. From one norm to the next the
old Hessian serves as long as it makes the gradient fall fast.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from scipy import linalg

from weigh.frames import Floats

BLOCK = 1 << 14
"""Rows whose scaled copy the Hessian holds at a time."""

RANK = 1e-13
"""Curvatures below this part of the largest are none: there the exponents of least norm stay."""

ROUNDING = 1e-11
"""A loss that rises by less, relative to itself, has not risen: it is a sum of many rows."""

RUNAWAY = 1e-3
"""A Newton step of this part of the exponents, where the gradient is gone, finds no optimum."""

STEPS, HALVINGS, SLOW, TINY, GROWTH, FARTHEST = 200, 40, 0.5, 1e-200, 10, 1e14


@dataclass(frozen=True)
class Moments:
    """Loss in nats and its derivatives, summed over rows; those of two sets of rows add."""

    loss: float
    gradient: Floats
    hessian: Floats | None = None

    def __add__(self, other: Moments) -> Moments:
        both = self.hessian is not None and other.hessian is not None
        hessian = self.hessian + other.hessian if both else None  # type: ignore[operator]
        return Moments(self.loss + other.loss, self.gradient + other.gradient, hessian)


class Problem(Protocol):
    """What can be minimised: so many exponents, so much weight of rows, moments anywhere."""

    @property
    def size(self) -> int:
        """The number of exponents."""

    @property
    def weight_sum(self) -> float:
        """The weight of all rows."""

    @property
    def shares(self) -> Floats:
        """The part of the weight that each class has."""

    def moments(self, exponents: Floats, curved: bool) -> Moments:
        """Loss, gradient and, if asked for, Hessian."""


@dataclass(frozen=True)
class Logistic:
    """Two classes: log odds = offset + Q exponents (Eqs. 8 and 11), loss of Eq. 15 in nats."""

    Q: Floats
    target: Floats
    weight: Floats
    offset: float

    @property
    def size(self) -> int:
        """The number of exponents."""
        return int(self.Q.shape[1])

    @property
    def weight_sum(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @property
    def shares(self) -> Floats:
        """The part of the weight that each class has."""
        share = float(self.weight @ self.target) / self.weight_sum
        return np.array([1 - share, share])

    def take(self, rows: Any) -> Self:
        """Some of the rows."""
        return replace(self, Q=self.Q[rows], target=self.target[rows], weight=self.weight[rows])

    def losses(self, exponents: Floats) -> Floats:
        """Mean loss in bits for each row of a matrix of exponents."""
        totals = self.offset + self.Q @ exponents.T
        nats = np.logaddexp(0.0, np.where(self.target[:, None] > 0, -totals, totals))
        return (self.weight @ nats) / (self.weight_sum * np.log(2))  # type: ignore[no-any-return]

    def moments(self, exponents: Floats, curved: bool) -> Moments:
        """Loss, gradient and Hessian, block by block."""
        from weigh import kernels

        slope, curvature = np.empty(len(self.Q)), np.empty(len(self.Q))
        totals = self.Q @ exponents
        totals += self.offset
        loss = kernels.logistic_moments(totals, self.target, self.weight, slope, curvature)
        hessian = gram(self.Q, curvature) if curved else None
        return Moments(loss, slope @ self.Q, hessian)


def gram(Q: Floats, curvature: Floats) -> Floats:
    """Q' diag(curvature) Q."""
    root = np.sqrt(curvature)
    out = np.zeros((Q.shape[1], Q.shape[1]), order="F")
    for start in range(0, len(Q), BLOCK):
        part = slice(start, start + BLOCK)
        scaled = root[part, None] * Q[part]
        out = linalg.blas.dsyrk(1.0, scaled.T, beta=1.0, c=out, lower=1, overwrite_c=1)
    return np.asarray(out + np.tril(out, -1).T)


@dataclass(frozen=True)
class Solution:
    """Exponents, their loss in nats, the multiplier of the norm, and how the search ended."""

    exponents: Floats
    loss: float
    multiplier: float
    residual: float
    converged: bool
    separable: bool = False
    running: bool = False  # no optimum: exponents grow for ever while the loss hardly falls

    @property
    def norm(self) -> float:
        """m, the sum of the squared exponents."""
        return float(self.exponents @ self.exponents)


@dataclass
class _Model:
    """The quadratic model of the loss, in the eigenvectors of a Hessian."""

    values: Floats
    vectors: Floats

    @classmethod
    def of(cls, hessian: Floats) -> _Model:
        return cls(*linalg.eigh(hessian, driver="evd", check_finite=False))

    def least(self, exponents: Floats, gradient: Floats, norm: float, tol: float) -> Floats:
        """Where the model is least in the ball of squared norm `norm`.

        Directions without curvature are left alone, unless the gradient has more than `tol` there.
        """
        from weigh import kernels

        slope, floor = gradient @ self.vectors, RANK * max(self.values[-1], 1e-300)
        values = np.maximum(self.values, floor)
        target = values * (exponents @ self.vectors) - slope
        target[(self.values <= floor) & (np.abs(slope) <= tol)] = 0.0
        inner = target / (values + kernels.multiplier(target, values, norm))
        point: Floats = self.vectors @ inner
        length = point @ point
        return point * np.sqrt(norm / length) if length > norm else point


class Path:
    """Solutions of one problem for one norm after another, each from where the last one ended."""

    def __init__(self, problem: Problem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        shares = problem.shares
        self.rare = min(1.0, 2 * float(shares[shares > 0].min()))  # gradients of rare classes
        self.exponents = np.zeros(problem.size)
        self.here = problem.moments(self.exponents, False)
        self.model: _Model | None = None

    def solve(self, norm: float = np.inf, stop_at: float = 0.0) -> Solution:
        """Least loss with squared exponents of sum `norm` at the most.

        Parameters
        ----------
        norm : float
            m; infinity is no restriction.
        stop_at : float
            Stop where the mean loss in nats falls below this: the classes are separable.
        """
        ball = max(float(self.problem.size), 1.0, GROWTH * float(self.exponents @ self.exponents))
        while ball < min(norm, FARTHEST):  # a full step from afar may land where all is flat
            found = self._solve(ball, stop_at)
            if found.multiplier == 0 or found.separable:
                return replace(found, running=not found.separable and self.runs())
            ball *= GROWTH
        return self._solve(norm, stop_at)

    def _solve(self, norm: float, stop_at: float) -> Solution:
        problem, n = self.problem, self.problem.weight_sum
        if norm < TINY:
            return self._nothing()
        at, here = self.exponents, self.here
        if at @ at > norm:
            at = at * np.sqrt(norm / (at @ at))
            here = problem.moments(at, False)
        fresh, before = False, np.inf
        for _ in range(STEPS):
            multiplier = _multiplier(at, here.gradient, norm)
            residual = float(np.linalg.norm(here.gradient + multiplier * at)) / n
            done, separable = residual <= self.tol * self.rare, here.loss / n < stop_at
            if done or separable:
                break
            if self.model is None or (residual > SLOW * before and not fresh):
                here = problem.moments(at, True)
                self.model, fresh = _Model.of(here.hessian), True  # type: ignore[arg-type]
            then, there = self._step(at, here, norm)
            if there is None and fresh:
                break  # no lower loss in floating point
            if there is None:
                self.model = None  # the old Hessian points nowhere: take a new one
                continue
            at, here, before, fresh = then, there, residual, False
        self.exponents, self.here = at, here
        running = not separable and bool(np.isinf(norm)) and self.runs()
        return Solution(at, here.loss, multiplier, residual, done, separable, running)

    def _nothing(self) -> Solution:
        """No norm, no exponents: the prior alone."""
        at = np.zeros(self.problem.size)
        return Solution(at, self.problem.moments(at, False).loss, np.inf, 0.0, True)

    def runs(self) -> bool:
        """Whether another Newton step would still move the exponents, the gradient being gone."""
        at = self.exponents
        if not at.size:
            return False
        here = self.problem.moments(at, True)
        step = _Model.of(here.hessian).least(at, here.gradient, np.inf, np.inf) - at  # type: ignore[arg-type]
        return bool(np.linalg.norm(step) > RUNAWAY * (1 + np.linalg.norm(at)))

    def separate(self, start: Solution, stop_at: float) -> Solution:
        """Where the classes are separable: the least norm with a mean loss of `stop_at` nats.

        However the search went beyond it, this point belongs to the data and the rule alone.
        """
        low, high, best = 0.0, start.norm, start
        while high - low > 1e-3 * high:
            norm = (low + high) / 2 if low else high / 4
            found = self.solve(norm)
            if found.loss / self.problem.weight_sum <= stop_at:
                high, best = norm, found
            else:
                low = norm
        return replace(best, separable=True)

    def _step(self, at: Floats, here: Moments, norm: float) -> tuple[Floats, Moments | None]:
        """A full step to the model's least point, halved while the loss rises."""
        assert self.model is not None
        tol = self.tol * self.rare * self.problem.weight_sum
        point, slack = self.model.least(at, here.gradient, norm, tol), ROUNDING * abs(here.loss)
        length = 1.0
        for _ in range(HALVINGS):
            then = point if length == 1.0 else at + length * (point - at)
            there = self.problem.moments(then, False)
            if there.loss <= here.loss + slack:
                return then, there
            length /= 2
        return at, None


def _multiplier(at: Floats, gradient: Floats, norm: float) -> float:
    """Of the norm, where the point lies on the sphere and the loss wants to leave it."""
    length = float(at @ at)
    if not np.isfinite(norm) or length < norm * (1 - 1e-10) or length == 0:
        return 0.0
    return max(0.0, -float(at @ gradient) / length)
