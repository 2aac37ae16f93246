"""Unknowns in order: the least loss among those that only rise, or only fall.

There, neighbours are tied where the loss would have them the other way round, and

    gradient = sum over tied neighbours i of multiplier_i times their difference, multipliers >= 0

(Karush, Kuhn & Tucker). Newton steps are bent to the nearest unknowns in order, near by the
Hessian's own measure; that is a quadratic programme whose dual is least squares with coefficients
that are not negative. The neighbours it ties become one unknown, and all are fitted again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.optimize import nnls

from weigh.frames import Floats, Integers

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
