"""The exponents of least loss inside a ball: APM and APM(m) by damped Newton steps.

Loss is convex in the exponents, so the least loss on the sphere of squared norm m < m_u is the
least loss in the ball, and both are the ridge solution of matching norm (Eq. 16). Each step solves
the quadratic model of the loss in the ball exactly, from the eigenvectors of the Hessian; a full
step is halved only where the loss would rise, so nothing diverges. From one norm to the next the
old Hessian serves as long as it makes the gradient fall fast.

A search is a generator: it yields what it asks and is sent what it asked for, so that one pass over
the rows can answer many searches.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np
from scipy import linalg

from weigh.adjusted.moments import Ask, Moments
from weigh.frames import Floats

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

Found = TypeVar("Found")
Asking: TypeAlias = Generator[Ask, Moments, Found]


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
    held_out: float = 0.0  # the loss in nats of the rows that a split holds out

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


class Search:
    """Solutions for one norm after another, each from where the last one ended.

    An `eager` search asks for the Hessian wherever it goes: fewer asks, each of more work.
    """

    def __init__(
        self, class_weights: Floats, start: Floats, tol: float, eager: bool = False
    ) -> None:
        self.tol, self.eager = tol, eager
        self.weight_sum = float(class_weights.sum())
        shares = class_weights / self.weight_sum
        self.rare = min(1.0, 2 * float(shares[shares > 0].min()))  # gradients of rare classes
        self.exponents, self.here = start, None  # type: tuple[Floats, Moments | None]
        self.model: _Model | None = None

    def solve(self, norm: float = np.inf, stop_at: float = 0.0) -> Asking[Solution]:
        """Least loss with squared exponents of sum `norm` at the most.

        Parameters
        ----------
        norm : float
            m; infinity is no restriction.
        stop_at : float
            Stop where the mean loss in nats falls below this: the classes are separable.
        """
        ball = max(float(self.exponents.size), 1.0, GROWTH * float(self.exponents @ self.exponents))
        while ball < min(norm, FARTHEST):  # a full step from afar may land where all is flat
            found = yield from self._solve(ball, stop_at)
            if found.separable:
                return found
            if found.multiplier == 0:
                return (yield from self._settle(found))
            ball *= GROWTH
        found = yield from self._solve(norm, stop_at)
        free = found.multiplier == 0 and not found.separable
        return (yield from self._settle(found)) if free and norm > TINY else found

    def _solve(self, norm: float, stop_at: float) -> Asking[Solution]:
        if norm < TINY:
            return (yield from self._nothing())
        at, here = self.exponents, self.here
        if at @ at > norm:
            at, here = at * np.sqrt(norm / (at @ at)), None
        if here is None:
            here = yield Ask(at, self.eager or self.model is None)
        fresh, before = False, np.inf
        for _ in range(STEPS):
            multiplier = _multiplier(at, here.gradient, norm)
            residual = float(np.linalg.norm(here.gradient + multiplier * at)) / self.weight_sum
            done = residual <= self.tol * self.rare
            separable = here.loss / self.weight_sum < stop_at and here.wrong == 0
            if done or separable:
                break
            slow = residual > SLOW * before and not fresh
            if self.eager or self.model is None or slow:
                here, fresh = (yield from self._bend(at, here)), True
            then, there = yield from self._step(at, here, norm)
            if there is None and fresh:
                break  # no lower loss in floating point
            if there is None:
                self.model = None  # the old Hessian points nowhere: take a new one
                continue
            at, here, before, fresh = then, there, residual, False
        self.exponents, self.here = at, here
        held_out = here.held_out
        return Solution(at, here.loss, multiplier, residual, done, separable, held_out=held_out)

    def _bend(self, at: Floats, here: Moments) -> Asking[Moments]:
        """The moments with their Hessian, which becomes the model."""
        if here.hessian is None:
            here = yield Ask(at, True)
        assert here.hessian is not None
        self.model = _Model.of(here.hessian)
        return here

    def _nothing(self) -> Asking[Solution]:
        """No norm, no exponents: the prior alone."""
        at = np.zeros(self.exponents.size)
        here = yield Ask(at, False)
        return Solution(at, here.loss, np.inf, 0.0, True, held_out=here.held_out)

    def _settle(self, found: Solution) -> Asking[Solution]:
        """Newton steps until they no longer move the exponents, the gradient being gone.

        Where they always do there is no optimum: exponents run away while the loss hardly falls.
        """
        at, there = self.exponents, self.here
        for _ in range(FEW if at.size else 0):
            here = there
            if here is None or here.hessian is None:
                here = yield Ask(at, True)
            assert here.hessian is not None
            point = _Model.of(here.hessian).least(at, here.gradient, np.inf, np.inf)
            if float(np.linalg.norm(point - at)) <= RUNAWAY * (1 + np.linalg.norm(at)):
                return found if at is self.exponents else self._move(found, at, here)
            there = yield Ask(point, True)
            if there.loss > here.loss * (1 + ROUNDING):
                break
            at = point
        return replace(found, running=bool(at.size))

    def _move(self, found: Solution, at: Floats, here: Moments) -> Solution:
        self.exponents, self.here = at, here
        residual = float(np.linalg.norm(here.gradient)) / self.weight_sum
        return replace(
            found, exponents=at, loss=here.loss, residual=residual, held_out=here.held_out
        )

    def newton(self, stop_at: float) -> Asking[Solution | None]:
        """The paper's own way: full steps from 0 until the mean loss is below `stop_at` nats.

        Where the classes are separable there is no optimum, and where this lands is a property of
        the rule. None where it does not get there.
        """
        at = np.zeros(self.exponents.size)
        here = yield Ask(at, True)
        for _ in range(STEPS):
            if here.loss / self.weight_sum < stop_at and here.wrong == 0:
                self.exponents, self.here = at, here
                return Solution(at, here.loss, 0.0, np.inf, False, separable=True)
            here = yield from self._bend(at, here)
            at, there = yield from self._step(at, here, np.inf)
            if there is None:
                return None
            here = there
        return None

    def _step(
        self, at: Floats, here: Moments, norm: float
    ) -> Asking[tuple[Floats, Moments | None]]:
        """A full step to the model's least point, halved while the loss rises."""
        assert self.model is not None
        tol = self.tol * self.rare * self.weight_sum
        point, slack = self.model.least(at, here.gradient, norm, tol), ROUNDING * abs(here.loss)
        length = 1.0
        for _ in range(HALVINGS):
            then = point if length == 1.0 else at + length * (point - at)
            there = yield Ask(then, self.eager)
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
