"""How large the weights of each block are: scales of most marginal likelihood.

    scale <- (effective degrees of freedom + 2 h)/(w' S w + 2 h s)       (Fellner & Schall)

with rank - scale tr(V S) effective degrees of freedom, V the inverse of the penalised Hessian, and
a weak gamma prior on the scale itself. Each update is a step up the Laplace approximation of the
marginal likelihood; one that is not is halved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.educated.solve import PRECISE, Problem, State, find_weights, state_at
from weigh.frames import Floats

HYPER = 1.0
"""h: the prior of a scale is worth twice as many weights, of the block's own variance (s)."""

FIRST, LEAST_SCALE, MOST_SCALE = 10.0, 1e-6, 1e6
GAIN = 0.05
"""Updates end where they add less to the log marginal likelihood, in nats."""

UPDATES = 30
"""No more updates are made; ten are enough for most tables."""

ROUGHLY = 0.02
"""Scales may be looked at where a Newton step promises less nats."""


@dataclass(frozen=True)
class Search:
    """Where a search for scales has ended, and the marginal likelihood on its way."""

    state: State
    marginal: tuple[float, ...]
    ended: bool = True  # whether further updates would add little


def log_marginal(state: State) -> float:
    """Laplace's approximation of the log marginal likelihood, and the prior of the scales."""
    blocks, n_free = state.problem.prior.blocks, state.problem.target.n_classes - 1
    ranks = np.array([block.rank for block in blocks])
    logs, h = np.log(state.scales), HYPER
    own = 0.5 * n_free * (ranks * logs).sum()
    hyper = (h * logs - h * np.array([block.variance for block in blocks]) * state.scales).sum()
    free = n_free / state.problem.target.n_totals  # of the classes' weights, which sum to zero
    return float(own + hyper - state.loss - 0.5 * free * state.factor.log_det)


def fellner_schall(state: State) -> Floats:
    """The next scales."""
    target = state.problem.target
    share = (target.n_classes - 1) / target.n_totals  # of the classes' weights that are free
    scales = np.empty_like(state.scales)
    for b, block in enumerate(state.problem.prior.blocks):
        tied = state.scales[b] * state.factor.spread(block)
        free = share * (block.rank * target.n_totals - tied)
        above = max(free, 0.0) + 2 * HYPER
        scales[b] = above / (block.norm(state.weights) + 2 * HYPER * block.variance)
    return np.clip(scales, LEAST_SCALE, MOST_SCALE)


def find_scales(problem: Problem, start: State | None = None) -> Search:
    """Newton steps and updates of the scales in turn, then the weights to full precision."""
    state = find_weights(start or _begin(problem), PRECISE, ROUGHLY)
    path, ended = [log_marginal(state)], False
    while not ended and len(path) <= UPDATES:
        after = _update(state, path[-1])
        if after is not None:
            state = after
            path.append(log_marginal(state))
        ended = after is None or path[-1] - path[-2] < GAIN
    return Search(find_weights(state, PRECISE), tuple(path), ended)


def _begin(problem: Problem) -> State:
    weights = np.zeros((problem.n_weights, problem.target.n_totals))
    weights[0] = problem.target.prior()
    return state_at(problem, weights, np.full(len(problem.prior.blocks), FIRST))


def _update(state: State, before: float) -> State | None:
    """The next state that has more marginal likelihood; None where there is none."""
    step = np.log(fellner_schall(state)) - np.log(state.scales)
    for halving in range(6):
        scales = state.scales * np.exp(step / 2**halving)
        after = find_weights(state.rescale(scales), PRECISE, ROUGHLY)
        if log_marginal(after) > before:
            return after
    return None
