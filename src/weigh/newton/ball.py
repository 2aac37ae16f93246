"""Newton's method in a ball: minimise a loss subject to a limit on the squared norm.

Of a convex loss, the least value on a sphere that excludes the minimum is the least value in the
ball, and both are the ridge solution of matching norm. Each step minimises the quadratic model of
the loss in the ball exactly, from the eigenvectors of the Hessian (a trust region), and is damped.
From one norm to the next the old Hessian is reused as long as the gradient falls fast.

A search is a generator: it yields a request (`Request`) and is sent the result, so that one pass
over the rows can answer the requests of many searches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

import numpy as np
from scipy import linalg

from weigh.arrays import Floats
from weigh.newton.descent import ROUNDING, Asking, Derivatives, backtrack

RANK = 1e-13
"""Eigenvalues below this share of the largest count as zero: the solution of least norm is used."""

DIVERGENCE, FEW = 1e-3, 12
"""There is no finite optimum if each of FEW Newton steps, after the gradient has vanished, moves
the unknowns by more than DIVERGENCE times one plus their norm."""

STEPS = 200

SLOW = 0.5
"""If the gradient falls by less than this factor, the Hessian is computed again."""

GROWTH, FARTHEST = 10, 1e14
"""Growth factor per step, and largest squared norm, of the ball of a search without a limit."""

TINY = 1e-200


class Curved(Derivatives, Protocol):
    """A loss, its gradient and, if requested, its Hessian."""

    @property
    def hessian(self) -> Floats | None:
        """The second derivatives."""


Answer = TypeVar("Answer", bound=Curved)


@dataclass(frozen=True)
class Request:
    """Request for the loss and gradient at a point, with the Hessian if `curved`."""

    at: Floats
    curved: bool


@dataclass(frozen=True)
class Solution(Generic[Answer]):
    """Result of a search: the point, its derivatives, the multiplier, and why the search ended."""

    at: Floats
    here: Answer
    multiplier: float
    residual: float  # norm of the remaining gradient
    converged: bool
    stopped: bool = False  # by the caller's criterion
    running: bool = False  # no finite optimum: the unknowns diverge while the loss hardly falls

    @property
    def norm(self) -> float:
        """The sum of the squared unknowns."""
        return float(self.at @ self.at)


@dataclass(frozen=True)
class QuadraticModel:
    """The quadratic model of a loss, in the eigenvectors of a Hessian."""

    values: Floats
    vectors: Floats

    @classmethod
    def of(cls, hessian: Floats) -> QuadraticModel:
        """The model of a Hessian."""
        return cls(*linalg.eigh(hessian, driver="evd", check_finite=False))

    def least(self, at: Floats, gradient: Floats, norm: float, tol: float) -> Floats:
        """Minimiser of the quadratic model in the ball of squared norm `norm`.

        In directions without curvature it is 0, unless the gradient has more than `tol` there.
        """
        from weigh import kernels

        slope, floor = gradient @ self.vectors, RANK * max(self.values[-1], 1e-300)
        values = np.maximum(self.values, floor)
        target = values * (at @ self.vectors) - slope
        target[(self.values <= floor) & (np.abs(slope) <= tol)] = 0.0
        inner = target / (values + kernels.multiplier(target, values, norm))
        point: Floats = self.vectors @ inner
        length = point @ point
        return point * np.sqrt(norm / length) if length > norm else point


def never(here: Derivatives) -> bool:
    """Never stop before the optimum."""
    return False


class Search(Generic[Answer]):
    """Solve for one norm after another, each from the previous solution.

    Parameters
    ----------
    start : array
        The unknowns to begin with.
    tol : float
        The norm of the gradient, without its part along the sphere's radius, at which they are
        found.
    eager : bool
        Ask for the Hessian everywhere: fewer questions, each of more work.
    part : float
        The gradient, or what a step takes off the loss, must also be below this part of the loss.
        Where classes are separable both go to 0 as the unknowns grow, and no fixed gradient says
        that a norm's optimum is found.
    """

    def __init__(
        self, start: Floats, tol: float, eager: bool = False, part: float = np.inf
    ) -> None:
        self.tol, self.eager, self.part = tol, eager, part
        self.at, self.here = start, None  # type: tuple[Floats, Answer | None]
        self.model: QuadraticModel | None = None

    def solve(
        self, norm: float = np.inf, stop: Callable[[Answer], bool] = never
    ) -> Asking[Answer, Solution[Answer]]:
        """Find the least loss in the ball of squared norm `norm`, or a point at which to `stop`."""
        ball = max(float(self.at.size), 1.0, GROWTH * float(self.at @ self.at))
        while ball < min(norm, FARTHEST):  # a full step may land where the loss is flat
            found = yield from self._solve(ball, stop)
            if found.stopped:
                return found
            if found.multiplier == 0:
                return (yield from self._settle(found))
            ball *= GROWTH
        found = yield from self._solve(norm, stop)
        free = found.multiplier == 0 and not found.stopped
        return (yield from self._settle(found)) if free and norm > TINY else found

    def _solve(
        self, norm: float, stop: Callable[[Answer], bool]
    ) -> Asking[Answer, Solution[Answer]]:
        if norm < TINY:
            at = np.zeros(self.at.size)
            return Solution(at, (yield Request(at, False)), np.inf, 0.0, True)
        at, here = self.at, self.here
        if at @ at > norm:
            at, here = at * np.sqrt(norm / (at @ at)), None
        if here is None:
            here = yield Request(at, self.eager or self.model is None)
        fresh, before, fallen = False, np.inf, np.inf
        for _ in range(STEPS):
            multiplier = _multiplier(at, here.gradient, norm)
            residual = float(np.linalg.norm(here.gradient + multiplier * at))
            done, stopped = self._done(here, residual, fallen), stop(here)
            if done or stopped:
                break
            slow = residual > SLOW * before and not fresh
            if self.eager or self.model is None or slow:
                here, fresh = (yield from self._bend(at, here)), True
            found = yield from self._step(at, here, norm)
            if found is None and fresh:
                break  # no further decrease in floating point
            if found is None:
                self.model = None  # the old Hessian gives no descent: compute a new one
                continue
            fallen = here.loss - found[1].loss
            (step, here), before, fresh = found, residual, False
            at = at - step
        self.at, self.here = at, here
        return Solution(at, here, multiplier, residual, done, stopped)

    def _done(self, here: Answer, residual: float, fallen: float) -> bool:
        """Whether the search has converged.

        The gradient is at most `tol`, and the gradient or the last fall of the loss is at most
        `part` of the loss.
        """
        if residual > self.tol or not np.isfinite(self.part):
            return residual <= self.tol
        return min(residual, fallen) <= self.part * here.loss

    def _bend(self, at: Floats, here: Answer) -> Asking[Answer, Answer]:
        """Compute the Hessian at a point if needed, and use it as the quadratic model."""
        if here.hessian is None:
            here = yield Request(at, True)
        assert here.hessian is not None
        self.model = QuadraticModel.of(here.hessian)
        return here

    def _step(
        self, at: Floats, here: Answer, norm: float
    ) -> Asking[Answer, tuple[Floats, Answer] | None]:
        """A damped step towards the minimiser of the quadratic model."""
        assert self.model is not None
        step = at - self.model.least(at, here.gradient, norm, self.tol)
        return (yield from backtrack(here, step, lambda part: Request(at - part, self.eager)))

    def _settle(self, found: Solution[Answer]) -> Asking[Answer, Solution[Answer]]:
        """After the gradient has vanished, take Newton steps until they hardly move the unknowns.

        If they keep moving there is no finite optimum: the unknowns diverge while the loss hardly
        falls.
        """
        at, there = self.at, self.here
        for _ in range(FEW if at.size else 0):
            here = there
            if here is None or here.hessian is None:
                here = yield Request(at, True)
            assert here.hessian is not None
            point = QuadraticModel.of(here.hessian).least(at, here.gradient, np.inf, np.inf)
            if float(np.linalg.norm(point - at)) <= DIVERGENCE * (1 + np.linalg.norm(at)):
                return found if at is self.at else self._move(found, at, here)
            there = yield Request(point, True)
            if there.loss > here.loss * (1 + ROUNDING):
                break
            at = point
        return replace(found, running=bool(at.size))

    def _move(self, found: Solution[Answer], at: Floats, here: Answer) -> Solution[Answer]:
        self.at, self.here = at, here
        return replace(found, at=at, here=here, residual=float(np.linalg.norm(here.gradient)))

    def full_steps(self, stop: Callable[[Answer], bool]) -> Asking[Answer, Solution[Answer] | None]:
        """Newton steps from 0 until `stop`; None if they never fulfil it.

        Without a finite optimum, the result depends on this rule.
        """
        at = np.zeros(self.at.size)
        here = yield Request(at, True)
        for _ in range(STEPS):
            if stop(here):
                self.at, self.here = at, here
                return Solution(at, here, 0.0, np.inf, False, stopped=True)
            here = yield from self._bend(at, here)
            found = yield from self._step(at, here, np.inf)
            if found is None:
                return None
            at, here = at - found[0], found[1]
        return None


def _multiplier(at: Floats, gradient: Floats, norm: float) -> float:
    """Lagrange multiplier of the norm; 0 inside the ball, or if the loss falls inwards."""
    length = float(at @ at)
    if not np.isfinite(norm) or length < norm * (1 - 1e-10) or length == 0:
        return 0.0
    return max(0.0, -float(at @ gradient) / length)
