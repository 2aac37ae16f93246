"""Damped Newton steps, with weights tied together where constraints hold."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from scipy.optimize import nnls
from scipy.sparse.linalg import LinearOperator, cg

from weigh.frames import Floats, Integers

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


ROUNDS = 20


@dataclass(frozen=True)
class Order:
    """The places of neighbours, and whether they rise (1) or fall (-1)."""

    places: Integers
    sign: int


@dataclass(frozen=True)
class Orders:
    """All neighbours that are to be in order."""

    orders: Sequence[Order]

    @property
    def upper(self) -> Integers:
        """The place of the second of two neighbours."""
        return np.concatenate([order.places[1:] for order in self.orders])

    def rises(self, weights: Floats) -> Floats:
        """By how much each second neighbour goes on the right way."""
        return np.concatenate([o.sign * np.diff(weights[o.places].ravel()) for o in self.orders])

    def multipliers(self, gradient: Floats) -> Floats:
        """How strongly tied neighbours strive the wrong way."""
        parts = [-o.sign * np.cumsum(gradient[o.places].ravel())[:-1] for o in self.orders]
        return np.concatenate(parts)

    def matrix(self, n_weights: int) -> Floats:
        """Rises as a matrix, a column for each two neighbours."""
        columns = np.zeros((n_weights, len(self.upper)))
        signs = np.concatenate([np.full(len(o.places) - 1, o.sign) for o in self.orders])
        at = np.arange(len(signs))
        columns[self.upper, at], columns[self.upper - 1, at] = signs, -signs
        return columns

    def ties(self, tied: Integers, n_weights: int) -> Integers:
        """The number of the unknown that each weight becomes, where some neighbours are tied."""
        new = np.ones(n_weights, dtype=np.bool_)
        new[self.upper[tied]] = False
        numbers: Integers = np.cumsum(new) - 1
        return numbers


def step_in_order(
    weights: Floats, gradient: Floats, solve: Callable[[Floats], Floats], orders: Orders
) -> Floats:
    """From the weights to the nearest in order to where a Newton step would lead.

    `solve` is the inverse of the Hessian times a right side.
    """
    rises, step = orders.matrix(len(weights)), solve(gradient)
    reach = np.column_stack([solve(column[:, None]).ravel() for column in rises.T])
    size = np.sqrt((rises * reach).sum(axis=0))
    root = np.linalg.cholesky((rises.T @ reach) / np.outer(size, size) + 1e-12 * np.eye(len(size)))
    aim = np.linalg.solve(root, orders.rises(weights - step) / size)
    strive = nnls(root.T, -aim, maxiter=100 * len(size))[0] / size
    bent: Floats = step - (reach @ strive)[:, None]
    return bent


Fit = TypeVar("Fit")


def find_ties(
    orders: Orders,
    tied: Integers,
    fit: Callable[[Integers], Fit],
    weights_of: Callable[[Fit], Floats],
    releases: Callable[[Fit], Integers],
) -> Fit:
    """Tie what is out of order and release what strives apart, until neither is left.

    Parameters
    ----------
    tied : array of bool
        The neighbours to be tied at first.
    fit : callable
        The weights of least loss with some neighbours tied.
    weights_of : callable
        All weights of a fit.
    releases : callable
        Which neighbours would, if tied, strive apart the right way.
    """
    for _ in range(ROUNDS):
        found = fit(tied)
        broken = orders.rises(weights_of(found)) < 0
        wrong = np.where(tied, releases(found), broken)
        if not wrong.any():
            return found
        tied = tied ^ wrong
    while (broken := orders.rises(weights_of(found)) < 0).any():
        tied = tied | broken
        found = fit(tied)
    return found


def add_tied(values: Floats, ties: Integers | None) -> Floats:
    """Sums by unknown, those of tied weights added.

    >>> add_tied(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 1]))
    array([1., 6.])
    """
    if ties is None:
        return values
    starts = np.flatnonzero(np.diff(ties, prepend=-1))
    return np.asarray(np.add.reduceat(values, starts, axis=0))
