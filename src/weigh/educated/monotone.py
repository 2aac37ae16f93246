"""Tables that only rise, or only fall: levels that would break the order are made one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.isotonic import isotonic_regression

from weigh.educated.prior import Block, Centre, Prior
from weigh.educated.solve import PRECISE, Problem, State, settle, state_at
from weigh.frames import Floats, Integers


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


def hold_orders(state: State, orders: Sequence[Order]) -> Tied:
    """Fit again with neighbours tied, until every order holds.

    The free weights are made monotone by isotonic regression; what it pools is tied and all
    weights are fitted again, at the same scales.
    """
    problem, tied = state.problem, Tied(state, np.arange(state.problem.design.n_weights))
    while True:
        ties = _tie(tied, orders)
        if len(np.unique(ties)) == len(np.unique(tied.ties)):
            return tied
        smaller = _reduce(problem, ties)
        start = np.zeros((ties.max() + 1, tied.weights.shape[1]))
        start[ties] = tied.weights
        tied = Tied(settle(state_at(smaller, start, state.scales), PRECISE), ties)


def _tie(tied: Tied, orders: Sequence[Order]) -> Integers:
    """Give neighbours that isotonic regression pools the same place."""
    new = np.ones(len(tied.ties), dtype=np.bool_)  # whether a weight starts a place of its own
    new[1:] = tied.ties[1:] != tied.ties[:-1]
    weights, slopes = tied.weights, tied.state.curvature.diagonal[tied.ties]
    for order in orders:
        own = weights[order.places, 0] * order.sign
        heavy = np.maximum(slopes[order.places, 0], 1e-12)
        level = isotonic_regression(own, sample_weight=heavy)
        broken = np.flatnonzero(np.diff(level) == 0)
        fine = np.diff(own) >= 0
        same = [place for place in broken if not fine[place] or level[place] != own[place]]
        new[order.places[1:][same]] = False
    return np.cumsum(new) - 1


def _reduce(problem: Problem, ties: Integers) -> Problem:
    """The same problem for tied weights."""
    n = int(ties.max()) + 1
    places = np.append(ties, n).astype(problem.design.places.dtype)[problem.design.places]
    ends = np.append(ties, n).tolist()
    spans = tuple(slice(ends[s.start], ends[s.stop]) for s in problem.design.spans)
    prior = Prior(
        tuple(_tie_block(block, ties) for block in problem.prior.blocks),
        tuple(_tie_centre(centre, ties) for centre in problem.prior.centres),
    )
    design = replace(problem.design, places=places, spans=spans, n_weights=n)
    return Problem(design, problem.rows, prior)


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
