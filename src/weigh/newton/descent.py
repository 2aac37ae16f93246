"""Damped Newton steps; weights at active order constraints are tied together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from scipy.optimize import nnls
from scipy.sparse.linalg import LinearOperator, cg

from weigh.arrays import Floats, Integers

ROUNDING = 1e-11
"""Relative increases of the loss below this are rounding errors of a sum over many rows."""

ENOUGH = 1e-4
"""A step must lower the loss by this share of the first-order decrease (Armijo)."""

HALVINGS = 40


class Derivatives(Protocol):
    """A loss and its gradient at some point."""

    @property
    def loss(self) -> float:
        """The loss to minimise."""

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
    """First-order decrease of the loss by a step; a Newton step achieves half of it."""
    return float((here.gradient * step).sum())


def descend(
    point: AnyPoint,
    newton_step: Callable[[AnyPoint], Floats],
    done: Callable[[AnyPoint], bool] = lambda point: False,
    least: float = 0.0,
    most: int = 50,
) -> AnyPoint:
    """Take damped Newton steps until the point is `done`.

    It also ends if the first-order decrease of a step is below `least`, if rounding hides further
    progress, or after `most` steps.
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
    """Halve a step until the loss is low enough (Armijo); None if it never is."""
    if promise(point, step) <= 0:
        return None
    found = follow(backtrack(point, step, lambda shorter: shorter), point.moved)
    return None if found is None else found[1]


def backtrack(
    here: Derivatives, step: Floats, ask: Callable[[Floats], Any]
) -> Asking[AnyDerivatives, tuple[Floats, AnyDerivatives] | None]:
    """Line search as a generator: it yields `ask(step)` and is sent the point reached.

    Returns the step that lowers the loss, and the point reached; None if no fraction of it does.
    """
    promised, slack = promise(here, step), ROUNDING * abs(here.loss)
    for halving in range(HALVINGS):
        part = 0.5**halving
        there = yield ask(part * step)
        if there.loss <= here.loss - ENOUGH * part * promised + slack:
            return part * step, there
    return None


def follow(search: Generator[Any, Any, Found], answer: Callable[[Any], Any]) -> Found:
    """Run a search (a generator) to its end, answering each request immediately.

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
    """Solve a system whose Hessian is given by products; also return whether it converged.

    Parameters
    ----------
    product, inverse : callables
        Product of the Hessian, and of an approximate inverse, with a direction shaped like `right`.
    precision : float
        Largest norm of the residual, relative to that of `right`.
    most : int
        Largest number of products.
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
        """Difference of each two neighbours, positive if in the required order."""
        return np.concatenate([o.sign * np.diff(weights[o.places].ravel()) for o in self.orders])

    def multipliers(self, gradient: Floats) -> Floats:
        """Lagrange multipliers of the order constraints of tied neighbours."""
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
    """Newton step with order constraints: the nearest ordered point, in the Hessian's norm.

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
    """Active-set method: tie neighbours that are out of order, release those that need no tie.

    Parameters
    ----------
    tied : array of bool
        The neighbours to be tied at first.
    fit : callable
        The weights of least loss with some neighbours tied.
    weights_of : callable
        All weights of a fit.
    releases : callable
        Mask of the neighbours whose tie is not needed: the loss falls if they move apart in order.
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
    """Sum values by unknown; the values of tied weights are added.

    >>> add_tied(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 1]))
    array([1., 6.])
    """
    if ties is None:
        return values
    starts = np.flatnonzero(np.diff(ties, prepend=-1))
    return np.asarray(np.add.reduceat(values, starts, axis=0))
