"""The exponents of least loss inside a ball: APM and APM(m) by damped Newton steps.

Loss is convex in the exponents, so the least loss on the sphere of squared norm m < m_u is the
least loss in the ball, and both are the ridge solution of matching norm (Eq. 16). Each step solves
the quadratic model of the loss in the ball exactly, from the eigenvectors of the Hessian; a full
step is halved only where the loss would rise, so nothing diverges. From one norm to the next the
old Hessian serves as long as it makes the gradient fall fast.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
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

RUNAWAY, FEW = 1e-3, 12
"""So many Newton steps of this part of the exponents, the gradient being gone, find no optimum."""

STEPS, HALVINGS = 200, 40

SLOW = 0.5
"""A gradient that falls by less than this factor asks for a new Hessian."""

GROWTH, FARTHEST = 10, 1e14
"""The ball of a search without a norm grows so fast, and so far."""

TINY = 1e-200


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

    def separates(self, exponents: Floats) -> bool:
        """Whether every row is on its class's side."""


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

    def separates(self, exponents: Floats) -> bool:
        """Whether every row is on its class's side."""
        totals = self.offset + self.Q @ exponents
        return bool(np.where(self.target > 0, totals > 0, totals < 0).all())

    def moments(self, exponents: Floats, curved: bool) -> Moments:
        """Loss, gradient and Hessian: the sum of those of blocks of rows."""
        blocks = range(0, max(len(self.Q), 1), BLOCK)
        return sum_moments(self._part(exponents, slice(i, i + BLOCK), curved) for i in blocks)

    def _part(self, exponents: Floats, rows: slice, curved: bool) -> Moments:
        from weigh import kernels

        Q, target, weight = self.Q[rows], self.target[rows], self.weight[rows]
        slope, curvature = np.empty(len(Q)), np.empty(len(Q))
        totals = Q @ exponents
        totals += self.offset
        loss = kernels.logistic_moments(totals, target, weight, slope, curvature)
        return Moments(loss, slope @ Q, _gram(Q, curvature) if curved else None)


def sum_moments(parts: Iterable[Moments]) -> Moments:
    """Those of all rows from those of their parts."""
    return reduce(Moments.__add__, parts)


def _gram(Q: Floats, curvature: Floats) -> Floats:
    """Q' diag(curvature) Q."""
    scaled = np.sqrt(curvature)[:, None] * Q
    lower = linalg.blas.dsyrk(1.0, scaled.T, lower=1)
    return np.asarray(lower + np.tril(lower, -1).T)


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

        In directions without curvature it is 0, unless the gradient has more than `tol` there.
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
            if found.separable:
                return found
            if found.multiplier == 0:
                return self._settle(found)
            ball *= GROWTH
        found = self._solve(norm, stop_at)
        free = found.multiplier == 0 and not found.separable
        return self._settle(found) if free and norm > TINY else found

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
            done = residual <= self.tol * self.rare
            separable = here.loss / n < stop_at and problem.separates(at)
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
        return Solution(at, here.loss, multiplier, residual, done, separable)

    def _nothing(self) -> Solution:
        """No norm, no exponents: the prior alone."""
        at = np.zeros(self.problem.size)
        return Solution(at, self.problem.moments(at, False).loss, np.inf, 0.0, True)

    def _settle(self, found: Solution) -> Solution:
        """Newton steps until they no longer move the exponents, the gradient being gone.

        Where they always do there is no optimum: exponents run away while the loss hardly falls.
        """
        at = self.exponents
        for _ in range(FEW if at.size else 0):
            here = self.problem.moments(at, True)
            point = _Model.of(here.hessian).least(at, here.gradient, np.inf, np.inf)  # type: ignore[arg-type]
            length, there = float(np.linalg.norm(point - at)), self.problem.moments(point, False)
            if length <= RUNAWAY * (1 + np.linalg.norm(at)):
                return found if at is self.exponents else self._move(found, at, here)
            if there.loss > here.loss * (1 + ROUNDING):
                break
            at = point
        return replace(found, running=bool(at.size))

    def _move(self, found: Solution, at: Floats, here: Moments) -> Solution:
        self.exponents, self.here = at, here
        residual = float(np.linalg.norm(here.gradient)) / self.problem.weight_sum
        return replace(found, exponents=at, loss=here.loss, residual=residual)

    def newton(self, stop_at: float) -> Solution | None:
        """The paper's own way: full steps from 0 until the mean loss is below `stop_at` nats.

        Where the classes are separable there is no optimum, and where this lands is a property of
        the rule. None where it does not get there.
        """
        problem = self.problem
        at, here = np.zeros(problem.size), problem.moments(np.zeros(problem.size), True)
        for _ in range(STEPS):
            if here.loss / problem.weight_sum < stop_at and problem.separates(at):
                self.exponents, self.here = at, here
                return Solution(at, here.loss, 0.0, np.inf, False, separable=True)
            self.model = _Model.of(here.hessian)  # type: ignore[arg-type]
            at, there = self._step(at, here, np.inf)
            if there is None:
                return None
            here = problem.moments(at, True)
        return None

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
