"""Tables that only rise, or only fall: the weights of least penalised loss among such tables.

At these weights neighbours are tied where the loss would have them the other way round, and

    gradient = sum over tied neighbours i of multiplier_i times their difference, multipliers >= 0

(Karush, Kuhn & Tucker). Newton steps are bent to the nearest weights in order, near by the
Hessian's own measure; that is a quadratic programme whose dual is least squares with weights that
are not negative. The neighbours it ties become one weight, and all weights are fitted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from weigh.educated.prior import Block, Centre, Prior
from weigh.educated.solve import PRECISE, Problem, State, find_weights, state_at
from weigh.frames import Floats, Integers

ROUGHLY = 1e-3
"""Bent steps end where they promise less nats; ties are then looked for one by one."""

STEPS, ROUNDS = 30, 20


@dataclass(frozen=True)
class Order:
    """The weights of a feature's intervals, and whether they rise (1) or fall (-1)."""

    places: Integers
    sign: int


@dataclass(frozen=True)
class Tied:
    """A fit of fewer weights: those of `ties` equal share one."""

    state: State
    ties: Integers

    @property
    def weights(self) -> Floats:
        """The weights of all levels."""
        return self.state.weights[self.ties]


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
        parts = [order.sign * np.diff(weights[order.places, 0]) for order in self.orders]
        return np.concatenate(parts)

    def multipliers(self, gradient: Floats) -> Floats:
        """How strongly tied neighbours strive the wrong way."""
        parts = [-o.sign * np.cumsum(gradient[o.places, 0])[:-1] for o in self.orders]
        return np.concatenate(parts)

    def matrix(self, n_weights: int) -> Floats:
        """Rises as a matrix, a column for each two neighbours."""
        columns = np.zeros((n_weights, len(self.upper)))
        signs = np.concatenate([np.full(len(o.places) - 1, o.sign) for o in self.orders])
        at = np.arange(len(signs))
        columns[self.upper, at], columns[self.upper - 1, at] = signs, -signs
        return columns


def hold_orders(state: State, asked: Sequence[Order]) -> Tied:
    """Fit again with weights in order, at the same scales."""
    orders, n_weights = Orders(asked), state.problem.n_weights
    if (orders.rises(state.weights) >= 0).all():
        return Tied(state, np.arange(n_weights))
    near = _descend(state, orders)
    tied = orders.rises(near.weights) <= PRECISE
    for _ in range(ROUNDS):
        fit = _fit_tied(near, orders, tied)
        wrong = _wrong(state, fit, orders, tied)
        if not wrong.any():
            return fit
        tied = tied ^ wrong
    while (broken := orders.rises(fit.weights) < 0).any():
        tied = tied | broken
        fit = _fit_tied(near, orders, tied)
    return fit


def _wrong(state: State, fit: Tied, orders: Orders, tied: Integers) -> Integers:
    """Neighbours that are tied and strive apart the right way, or free and out of order."""
    found = fit.state.found  # rows know of no ties
    least = -10 * PRECISE * found.size
    pulled = state.problem.prior.apply(fit.weights, state.scales)
    strive = orders.multipliers(found.slopes + pulled)
    wrong: Integers = np.where(tied, strive < least, orders.rises(fit.weights) < 0)
    return wrong


def _descend(state: State, orders: Orders) -> State:
    """Bent Newton steps, the first of them to where weights are in order."""
    state = state.moved(_bent_step(state, orders))
    for _ in range(STEPS):
        step = _bent_step(state, orders)
        promised = float((state.gradient * step).sum())
        if promised < ROUGHLY:
            break
        for halving in range(30):
            after = state.moved(step / 2**halving)
            if after.loss <= state.loss - 1e-4 * promised / 2**halving:
                break
        state = after
    return state


def _bent_step(state: State, orders: Orders) -> Floats:
    """From the weights to the nearest in order to where a Newton step would lead."""
    rises, factor = orders.matrix(len(state.weights)), state.factor
    reach = np.column_stack([factor.solve(column[:, None])[:, 0] for column in rises.T])
    step = factor.solve(state.gradient)
    size = np.sqrt((rises * reach).sum(axis=0))
    root = np.linalg.cholesky((rises.T @ reach) / np.outer(size, size) + 1e-12 * np.eye(len(size)))
    aim = np.linalg.solve(root, orders.rises(state.weights - step) / size)
    strive = nnls(root.T, -aim, maxiter=100 * len(size))[0] / size
    bent: Floats = step - (reach @ strive)[:, None]
    return bent


def _fit_tied(near: State, orders: Orders, tied: Integers) -> Tied:
    """The weights of least penalised loss with these neighbours tied."""
    new = np.ones(len(near.weights), dtype=np.bool_)  # whether a weight starts a place of its own
    new[orders.upper[tied]] = False
    ties = np.cumsum(new) - 1
    smaller = _reduce(near.problem, ties)
    start = np.zeros((ties[-1] + 1, near.weights.shape[1]))
    start[ties] = near.weights
    return Tied(find_weights(state_at(smaller, start, near.scales), PRECISE), ties)


def _reduce(problem: Problem, ties: Integers) -> Problem:
    """The same problem for tied weights."""
    prior = Prior(
        tuple(_tie_block(block, ties) for block in problem.prior.blocks),
        tuple(_tie_centre(centre, ties) for centre in problem.prior.centres),
    )
    return replace(problem, prior=prior, ties=ties)


def _tie_block(block: Block, ties: Integers) -> Block:
    places, at = np.unique(ties[block.places], return_inverse=True)
    if block.matrix is None or len(places) == len(block.places):
        return replace(block, places=ties[block.places])
    sums = np.zeros((len(places), len(at)))
    sums[at, np.arange(len(at))] = 1.0
    return replace(block, places=places, matrix=sums @ block.matrix @ sums.T)


def _tie_centre(centre: Centre, ties: Integers) -> Centre:
    places, at = np.unique(ties[centre.places], return_inverse=True)
    shares = np.bincount(at, centre.shares, len(places)).astype(np.float64)
    return Centre(places, shares, centre.strength)
