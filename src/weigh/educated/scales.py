"""Estimate the scale of each block of weights by maximum marginal likelihood.

    scale <- (effective degrees of freedom + 2)/(w' S w + 4 v/(1 + v scale))     (Fellner & Schall)

with rank - scale tr(V S) effective degrees of freedom and V the inverse of the penalised Hessian.
The remaining terms come from the prior of the scale: its logarithm is logistic, centred at that of
1/v, where v is the variance expected of the block. The tails are heavy, so a table without
information can shrink to nothing although other tables are strong. All tables share one factor of
v, and all pairs another; both are estimated with the scales, so many weak tables shrink the others.
Tied blocks have one scale: their degrees of freedom add up, and so do their quadratic forms.

Each update of Fellner and Schall covers only a share of the way to the optimum. From the second
update on, the share is estimated block by block from the last two, and the step is extended
accordingly (the secant method on logarithms). Each update must raise the Laplace approximation of
the marginal likelihood; if it does not, it is halved, or cut to Fellner and Schall's own step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from weigh.arrays import Floats, Integers
from weigh.educated.design import weigh_rows
from weigh.educated.numbers import NumberTarget
from weigh.educated.passes import RowsAtWeights
from weigh.educated.prior import PriorBlock
from weigh.educated.solve import PRECISE, Problem, State, find_weights, state_at
from weigh.engine import Block, Sums

TABLES = 3.0
"""Weight of the prior of the shared factors of v, as a number of tables."""

FIRST, LEAST_SCALE, MOST_SCALE = 10.0, 1e-6, 1e6

FIRM = 1 / (4 * np.log(3))
"""Least precision of a level given all others, for classes.

A category with n rows that are all of one class then adds at most ln(2n + 1) to the log odds of
rows that other levels leave at even odds or better: as much as Jeffreys' prior would, which adds
half a row to each class. A bin adds at most as much to what its neighbours predict. If `loosen`
lowers the scales of nearly separable classes, this limit does not hold.
"""

GAIN = 0.05
"""Updates end when they would add less to the log marginal likelihood, in nats."""

STEADY = 0.01
"""And when the dispersion changes by a smaller share."""

UPDATES = 30
"""Largest number of updates; ten suffice for most tables."""

STRETCH = 5.0
"""Largest length of an update relative to Fellner and Schall's."""

ROUGHLY = 0.02
"""Scales are updated once a Newton step of the weights would gain fewer nats."""


@dataclass(frozen=True)
class ScaleSearch:
    """The end of a search for scales, and the marginal likelihood after each update."""

    state: State
    marginal: tuple[float, ...]
    ended: bool = True  # whether further updates would add little
    noise: float = 1.0  # the dispersion of a numeric target


def log_marginal(state: State, noise: float = 1.0) -> float:
    """Laplace's approximation of the log marginal likelihood, and the prior of the scales.

    The loss is divided by the dispersion (`noise`), so only states of the same dispersion can be
    compared. The scales belong to the undivided loss.
    """
    blocks, n_free = state.problem.prior.blocks, state.problem.target.n_free
    ranks = np.array([block.rank for block in blocks])
    own = 0.5 * n_free * (ranks * np.log(state.scales / noise)).sum()
    hyper = _log_prior(blocks, state.scales / noise)
    free = n_free / state.problem.target.n_totals  # the weights of all classes sum to zero
    return float(own + hyper - state.loss / noise - 0.5 * free * state.factor.log_det)


@dataclass(frozen=True)
class Ties:
    """The distinct scales of some blocks: tied blocks share one."""

    scale_of: Integers  # the scale of each block
    first: Integers  # the first block of each scale

    @property
    def sizes(self) -> Integers:
        """The number of blocks of each scale."""
        return np.bincount(self.scale_of)

    def add(self, values: Floats) -> Floats:
        """Sums over the blocks of each scale."""
        return np.asarray(np.bincount(self.scale_of, values, len(self.first)), dtype=np.float64)


def tie(blocks: Sequence[PriorBlock]) -> Ties:
    """The scales of blocks, in the order of the blocks that have them first."""
    tied = np.array([block.tied for block in blocks], dtype=bool)
    own = np.where(tied, np.argmax(tied) if len(tied) else 0, np.arange(len(blocks)))
    _, first, scale_of = np.unique(own, return_index=True, return_inverse=True)
    return Ties(scale_of, first)


def expect_variances(blocks: Sequence[PriorBlock], precisions: Floats) -> Floats:
    """Variance expected of the weights of each block, given the precisions of all blocks."""
    factors = _find_factors(blocks, precisions)
    return np.array([factors[block.of_pair] * block.variance for block in blocks])


def _find_factors(blocks: Sequence[PriorBlock], precisions: Floats) -> tuple[float, float]:
    """The modes of the two factors of the expected variances: of tables, and of pairs."""
    variances = np.array([block.variance for block in blocks])
    of_pair = np.array([block.of_pair for block in blocks], dtype=bool)
    logs, once = np.log(variances * precisions), tie(blocks).first
    pairs = once[of_pair[once]]
    return _find_factor(logs[~of_pair]), _find_factor(logs[pairs])


def _find_factor(logs: Floats) -> float:
    """Mode of a factor whose prior counts as much as `TABLES` further logarithms at zero."""
    logs, worth = np.append(logs, 0.0), np.append(np.ones(len(logs)), TABLES)

    def slope(log: float) -> float:
        return float(worth @ np.tanh(0.5 * (logs + log)))

    return float(np.exp(brentq(slope, -logs.max() - 1.0, -logs.min() + 1.0)))


def _log_prior(blocks: Sequence[PriorBlock], precisions: Floats) -> float:
    """The log density of the logarithms of the scales, and of the two factors."""
    once = tie(blocks).first
    own = _log_logistic(np.log(expect_variances(blocks, precisions) * precisions)[once]).sum()
    shared = TABLES * _log_logistic(np.log(_find_factors(blocks, precisions))).sum()
    return float(own + shared)


def _log_logistic(log: Floats) -> Floats:
    density: Floats = -2 * np.logaddexp(0.5 * log, -0.5 * log)
    return density


def balance(free: Any, norms: Any, expected: Any, precisions: Any) -> tuple[Any, Any]:
    """Numerator and denominator of Fellner and Schall's update of the precision."""
    below = norms + 4 * expected / (1 + expected * precisions)
    return np.maximum(free, 0.0) + 2, below


@dataclass(frozen=True)
class Update:
    """The logarithms of scales, and where Fellner and Schall's update would move them.

    The slope is that of the log marginal likelihood in each logarithm.
    """

    here: Floats
    there: Floats
    slope: Floats

    @classmethod
    def at(cls, state: State, noise: float = 1.0) -> Update:
        """The update of a state's scales, at some dispersion."""
        target, blocks = state.problem.target, state.problem.prior.blocks
        share = target.n_free / target.n_totals  # of the classes' weights that are free
        precisions = state.scales / noise
        expected = expect_variances(blocks, precisions)
        free, norms = np.empty((2, len(blocks)))
        for b, block in enumerate(blocks):
            tied = state.scales[b] * state.factor.spread(block)
            free[b] = share * (block.rank * target.n_totals - tied)
            norms[b] = block.norm(state.weights)
        ties = tie(blocks)
        precisions, expected = precisions[ties.first], expected[ties.first]
        above, below = balance(ties.add(free), ties.add(norms), expected, precisions)
        slope = 0.5 * (above - precisions * below) / ties.sizes
        there = np.maximum((noise * above / below)[ties.scale_of], _least(state))
        return cls(np.log(state.scales), np.log(there), slope[ties.scale_of])

    @property
    def step(self) -> Floats:
        """The step of Fellner and Schall, in logarithms of scales."""
        step: Floats = self.there - self.here
        return step

    def reach(self, last: Update | None) -> Floats:
        """Extend the step by the secant method, from the last update."""
        if last is None:
            return self.step
        moved, gone = self.here - last.here, last.step - self.step
        share = np.divide(gone, moved, np.ones_like(moved), where=moved != 0)
        far: Floats = self.step / np.clip(share, 1 / STRETCH, 1.0)
        return far

    def promise(self, step: Floats) -> float:
        """Expected gain in log marginal likelihood of a step that ends at its maximum."""
        return 0.5 * float(self.slope @ step)


def find_scales(problem: Problem, start: State | None = None) -> ScaleSearch:
    """Newton steps and updates of the scales in turn, then the weights to full precision."""
    state = find_weights(start or begin(problem), PRECISE, ROUGHLY)
    noise = estimate_noise(state)
    path, last, ended = [log_marginal(state, noise)], None, False
    for _ in range(UPDATES):
        update, before = Update.at(state, noise), log_marginal(state, noise)
        step = update.reach(last)
        after = None
        if update.promise(step) >= GAIN:
            after = _move(state, step, before, noise, 1)
            after = after or _move(state, update.step, before, noise)
        ended = after is None
        if after is not None:
            state, last = after, update
            path.append(log_marginal(state, noise))
        former, noise = noise, estimate_noise(state)
        ended = ended and abs(np.log(noise / former)) < STEADY
        if ended:
            break
    return ScaleSearch(find_weights(state, PRECISE), tuple(path), ended, noise)


def _least(state: State) -> Floats:
    """Least scale of each block; scales that are already lower may stay."""
    target, blocks = state.problem.target, state.problem.prior.blocks
    if target.noisy:
        return np.full(len(blocks), LEAST_SCALE)
    firm = FIRM * target.n_totals / target.n_free  # the weights of all classes sum to zero
    return np.minimum([firm / block.firmness for block in blocks], state.scales)


def estimate_noise(state: State) -> float:
    """Dispersion of a numeric target: Pearson's statistic over the residual degrees of freedom."""
    target = state.problem.target
    if not isinstance(target, NumberTarget):
        return 1.0
    if target.quadratic:
        statistic = 2 * state.found.loss
    else:
        view = state.problem.view(state.weights)
        statistic = float(state.problem.rows.sum(Pearson(view)).arrays[0])
    return target.noise(statistic, degrees_of_freedom(state))


@dataclass(frozen=True)
class Pearson:
    """Pearson's statistic of some rows."""

    view: RowsAtWeights

    def __call__(self, block: Block) -> Sums:
        """The statistic of a block."""
        view, target = self.view, self.view.target
        assert isinstance(target, NumberTarget)
        totals = view.design.totals(view.design.place(block), view.weights)
        return Sums((np.array(target.pearson(totals, block.labels, weigh_rows(block))),))


def degrees_of_freedom(state: State) -> float:
    """Effective degrees of freedom: the number of weights, reduced by the penalties."""
    prior, factor = state.problem.prior, state.factor
    held = [s * factor.spread(b) for b, s in zip(prior.blocks, state.scales, strict=True)]
    for centre in prior.centres:
        shares = np.zeros_like(state.weights)
        shares[centre.places, 0] = centre.shares
        held.append(centre.strength * float((shares * factor.solve(shares)).sum()))
    return float(state.problem.n_weights - sum(held))


def begin(problem: Problem, scales: Floats | None = None) -> State:
    """Start of a search: all weights zero but the intercept."""
    weights = np.zeros((problem.n_weights, problem.target.n_totals))
    weights[0] = problem.target.prior()
    first = np.full(len(problem.prior.blocks), FIRST)
    return state_at(problem, weights, first if scales is None else scales)


def _move(state: State, step: Floats, before: float, noise: float, tries: int = 6) -> State | None:
    """Take a step, halved until the marginal likelihood rises; None if it never does."""
    most = MOST_SCALE * max(noise, 1.0)
    least = _least(state)
    for halving in range(tries):
        logs = np.log(state.scales) + step / 2**halving
        scales = np.clip(np.exp(logs), least, most)
        after = find_weights(state.rescale(scales), PRECISE, ROUGHLY)
        if log_marginal(after, noise) > before:
            return after
    return None
