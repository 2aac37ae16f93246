"""Fit monotone tables: minimise the penalised loss subject to weights that only rise or fall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.educated.prior import Centre, Prior, PriorBlock
from weigh.educated.solve import PRECISE, Problem, State, find_weights, state_at
from weigh.newton.descent import Order, Orders, descend, find_ties, step_in_order

ROUGHLY, STEPS = 1e-3, 30
"""Projected Newton steps end when their expected gain is below `ROUGHLY` nats, or after `STEPS`. An
active-set method then finds the exact ties."""


@dataclass(frozen=True)
class Tied:
    """A fit of fewer weights: levels with equal `ties` share one weight."""

    state: State
    ties: Integers

    @property
    def weights(self) -> Floats:
        """The weights of all levels."""
        return self.state.weights[self.ties]


def are_in_order(weights: Floats, asked: Sequence[Order]) -> bool:
    """Whether weights satisfy the monotone constraints."""
    return not asked or bool((Orders(asked).rises(weights) >= 0).all())


def hold_orders(state: State, asked: Sequence[Order]) -> Tied:
    """Refit the weights under monotone constraints, at the same scales."""
    orders = Orders(asked)
    if (orders.rises(state.weights) >= 0).all():
        return Tied(state, np.arange(state.problem.n_weights))

    def bent(at: State) -> Floats:
        return step_in_order(at.weights, at.gradient, at.factor.solve, orders)

    def releases(fit: Tied) -> Integers:
        found = fit.state.found  # slopes of the rows, by untied weight
        pulled = state.problem.prior.apply(fit.weights, state.scales)
        strive = orders.multipliers(found.slopes + pulled)
        return np.asarray(strive < -10 * PRECISE * found.size)

    near = descend(state.moved(bent(state)), bent, least=ROUGHLY, most=STEPS)
    tied = orders.rises(near.weights) <= PRECISE

    def fit(tied: Integers) -> Tied:
        return _fit_tied(near, orders, tied)

    return find_ties(orders, tied, fit, lambda fit: fit.weights, releases)


def _fit_tied(near: State, orders: Orders, tied: Integers) -> Tied:
    """Minimise the penalised loss with these neighbours tied."""
    ties = orders.ties(tied, len(near.weights))
    start = np.zeros((ties[-1] + 1, near.weights.shape[1]))
    start[ties] = near.weights
    smaller = _reduce(near.problem, ties)
    return Tied(find_weights(state_at(smaller, start, near.scales), PRECISE), ties)


def _reduce(problem: Problem, ties: Integers) -> Problem:
    """Restate the problem in terms of tied weights."""
    prior = Prior(
        tuple(_tie_block(block, ties) for block in problem.prior.blocks),
        tuple(_tie_centre(centre, ties) for centre in problem.prior.centres),
    )
    return replace(problem, prior=prior, ties=ties)


def _tie_block(block: PriorBlock, ties: Integers) -> PriorBlock:
    """Restate a block in terms of tied weights; each tie lowers its rank by one."""
    places, at = np.unique(ties[block.places], return_inverse=True)
    if block.matrix is None or len(places) == len(block.places):
        return replace(block, places=ties[block.places])
    sums = np.zeros((len(places), len(at)))
    sums[at, np.arange(len(at))] = 1.0
    rank = block.rank - (len(at) - len(places))
    return replace(block, places=places, rank=rank, matrix=sums @ block.matrix @ sums.T)


def _tie_centre(centre: Centre, ties: Integers) -> Centre:
    places, at = np.unique(ties[centre.places], return_inverse=True)
    shares = np.bincount(at, centre.shares, len(places)).astype(np.float64)
    return Centre(places, shares, centre.strength)
