"""Damped Newton steps: a full step is halved while the loss would rise."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from weigh.frames import Floats

ROUNDING = 1e-11
"""A loss that rises by less, relative to itself, has not risen: it is a sum of many rows."""

ENOUGH = 1e-4
"""A step must lower the loss by this part of what the gradient promises (Armijo)."""

HALVINGS = 40


class Derivatives(Protocol):
    """A loss and its gradient at some point."""

    @property
    def loss(self) -> float:
        """What is minimised."""

    @property
    def gradient(self) -> Floats:
        """Its derivative in each unknown."""


class Point(Derivatives, Protocol):
    """A point with its loss and gradient, from which other points can be reached."""

    def moved(self, step: Floats) -> Self:
        """The point at the unknowns minus `step`."""


Found = TypeVar("Found")
AnyPoint = TypeVar("AnyPoint", bound=Point)
AnyDerivatives = TypeVar("AnyDerivatives", bound=Derivatives)
Asking: TypeAlias = Generator[Any, AnyDerivatives, Found]


def promise(here: Derivatives, step: Floats) -> float:
    """By how much a step lowers the loss to first order; a Newton step brings half of it."""
    return float((here.gradient * step).sum())


def descend(
    point: AnyPoint,
    newton_step: Callable[[AnyPoint], Floats],
    done: Callable[[AnyPoint], bool] = lambda point: False,
    least: float = 0.0,
    most: int = 50,
) -> AnyPoint:
    """Take damped Newton steps until the point is `done`.

    The search also ends where a step promises less than `least`, where rounding hides any further
    progress, and after `most` steps.
    """
    before = np.inf
    for _ in range(most):
        if done(point):
            break
        step = newton_step(point)
        promised = promise(point, step)
        hidden = promised < ROUNDING * abs(point.loss)
        if promised < least or (hidden and promised >= before):
            break
        after = damp(point, step)
        if after is None:
            break
        point, before = after, promised
    return point


def damp(point: AnyPoint, step: Floats) -> AnyPoint | None:
    """The first point along a step, halved again and again, whose loss is low enough."""
    if promise(point, step) <= 0:
        return None
    found = follow(backtrack(point, step, lambda shorter: shorter), point.moved)
    return None if found is None else found[1]


def backtrack(
    here: Derivatives, step: Floats, ask: Callable[[Floats], Any]
) -> Asking[AnyDerivatives, tuple[Floats, AnyDerivatives] | None]:
    """Search along a step, as a generator: it yields `ask(step)` and is sent what is found there.

    Returns the step that lowers the loss, and what was found; None where no part of it does.
    """
    promised, slack = promise(here, step), ROUNDING * abs(here.loss)
    for halving in range(HALVINGS):
        part = 0.5**halving
        there = yield ask(part * step)
        if there.loss <= here.loss - ENOUGH * part * promised + slack:
            return part * step, there
    return None


def follow(search: Generator[Any, Any, Found], answer: Callable[[Any], Any]) -> Found:
    """Run a search to its end, each of its questions answered at once.

    >>> def double():
    ...     told = yield 3
    ...     return 2 * told
    >>> follow(double(), lambda asked: asked + 1)
    8
    """
    told = None
    while True:
        try:
            told = answer(search.send(told))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def conjugate_gradients(
    product: Callable[[Floats], Floats],
    right: Floats,
    inverse: Callable[[Floats], Floats],
    precision: float,
    most: int,
) -> tuple[Floats, bool]:
    """Solve with a Hessian that is known by its products; whether `precision` was reached.

    Parameters
    ----------
    product, inverse : callables
        The Hessian, and something near its inverse, times a direction of the shape of `right`.
    precision : float
        How small the residual has to be, relative to `right`.
    most : int
        The number of products.
    """

    def flat(function: Callable[[Floats], Floats]) -> LinearOperator:
        times = lambda x: function(x.reshape(right.shape)).ravel()  # noqa: E731
        return LinearOperator((right.size, right.size), times, dtype=np.float64)

    found, missed = cg(flat(product), right.ravel(), rtol=precision, maxiter=most, M=flat(inverse))
    return found.reshape(right.shape), missed == 0
