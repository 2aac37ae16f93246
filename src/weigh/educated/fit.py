"""The steps of a fit, from counts and rows to weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.educated.design import Design, Target
from weigh.educated.loo import LeftOutLoss, leave_one_out, loosen
from weigh.educated.matrices import Covariance
from weigh.educated.monotone import are_in_order, hold_orders
from weigh.educated.numbers import NumberTarget
from weigh.educated.prior import Prior
from weigh.educated.scales import FIRST, ScaleSearch, begin, find_scales
from weigh.educated.selection import select_pairs
from weigh.educated.solve import FULL, PRECISE, Problem, State, find_weights, polish
from weigh.educated.task import NO_PAIRS, Task, problem_of
from weigh.educated.uncertainty import add_scale_uncertainty
from weigh.newton.descent import Order
from weigh.tally import Counts

ENOUGH = 1e-8
"""Largest relative gradient of a fit that has converged."""

LEAST_SLOPE = 1e-6
"""Slope of a row of a numeric target, in the unit of the fit, below which its gradient is rounding:
where every row is predicted exactly, gradient and slopes are both of the order of rounding."""


@dataclass(frozen=True)
class Fit:
    """The weights of all levels, the intercept first, with covariance, scales and diagnostics."""

    counts: tuple[Counts, ...]
    weights: Floats
    covariance: Covariance | None  # None if the Hessian is not one matrix
    scales: Floats  # of each feature
    held_out: LeftOutLoss
    search: ScaleSearch
    gradient: float  # remaining relative gradient
    state: State  # the end of the search for weights
    tied: Integers  # whether a feature is one of the pairs that share one scale
    n_passes: int = 0
    gains: tuple[float, ...] = ()  # of the pairs, the last features, in bits a row
    loosening: float = 1.0  # divisor of the estimated scales

    @property
    def loo_bits(self) -> float:
        """The leave-one-out loss in bits a row; NaN if features do not share one matrix.

        Separate blocks ignore the correlation of features, so the loss would be overstated: for 40
        correlated columns of 100 levels it exceeded that of the base rate.
        """
        problem = self.search.state.problem
        return self.held_out.bits if problem.dual or not problem.apart else float("nan")

    @property
    def _exact(self) -> bool:
        """Whether numbers are predicted so exactly that the gradient is rounding."""
        target, size = self.state.problem.target, self.state.found.size
        least = LEAST_SLOPE * target.n_rows
        return isinstance(target, NumberTarget) and self.gradient * size <= ENOUGH * least

    def complaint(self) -> str:
        """The warning of a fit that has not converged; empty for other fits."""
        if self.gradient > ENOUGH and not self._exact:
            return (
                f"the weights were left at a relative gradient of {self.gradient:.1e}, and "
                f"{ENOUGH:g} was wanted; divide sample_weight by its mean, or ask for fewer levels "
                "(bins=16)"
            )
        if not self.search.ended:
            return (
                f"the scales still changed after {len(self.search.marginal) - 1} updates; the "
                "weights are the best for the last ones. Leave out columns that repeat others, or "
                "ask for fewer levels (bins=16)"
            )
        return ""


def fit_task(task: Task) -> Fit:
    """Find scales and weights, add pairs that help, and apply the monotone constraints."""
    before = task.rows.n_passes
    problem = problem_of(task)
    search = find_scales(problem) if task.scales is None else _take_scales(task, problem)
    state, held_out = loosen(search.state)
    gains: tuple[float, ...] = ()
    found = None if task.request == NO_PAIRS else select_pairs(task, state, held_out, search.noise)
    if found is not None:
        task, search, state = found.task, found.search, found.state
        held_out, gains = found.held_out, found.gains
    fit = _finish(task, search, state, held_out)
    loosening = _ratio(search.state, state)
    n_passes = task.rows.n_passes - before
    return replace(fit, n_passes=n_passes, gains=gains, loosening=loosening)


def _take_scales(task: Task, problem: Problem) -> ScaleSearch:
    """Find the weights at the known scales of the features."""
    assert task.scales is not None
    places = _features_at(task, problem.prior)
    scales = task.scales[places]
    scales[np.isnan(scales)] = FIRST  # the feature had no information so far
    return ScaleSearch(find_weights(begin(problem, scales), PRECISE), ())


def _ratio(before: State, after: State) -> float:
    """The factor by which all scales were divided."""
    return float(before.scales[0] / after.scales[0]) if len(after.scales) else 1.0


def _finish(task: Task, search: ScaleSearch, state: State, held_out: LeftOutLoss) -> Fit:
    orders = _orders(task, state.problem.design)
    weights, ties = polish(state), None
    if orders:
        tied = hold_orders(state, orders)
        if tied.state is not state or not are_in_order(weights, orders):
            weights, ties, state = tied.weights, tied.ties, tied.state
            held_out = leave_one_out(state)
    covariance = None
    if state.problem.exact and state.problem.n_weights <= FULL:
        found = state.factor.by_class[0][0].covariance  # type: ignore[union-attr]
        if isinstance(task.target, Target):  # leave-one-out errors widen the intervals of numbers
            found = add_scale_uncertainty(found, state)
        covariance = (found if ties is None else found.take(ties)).times(search.noise)
    scales = _by_feature(task, search.state.problem.prior, state.scales)
    left = state.relative_gradient
    shared = np.arange(len(task.counts)) >= (task.n_coded if task.tied else len(task.counts))
    return Fit(task.counts, weights, covariance, scales, held_out, search, left, state, shared)


def _orders(task: Task, design: Design) -> list[Order]:
    orders = []
    for counts, span, sign in zip(task.counts, design.spans, task.orders, strict=False):
        if sign:
            n = counts.feature.n_in_order
            orders.append(Order(np.arange(span.start, span.start + n), sign))
    return orders


def _by_feature(task: Task, prior: Prior, scales: Floats) -> Floats:
    """The scale of each feature's first block; NaN for a feature without information."""
    found: Floats = np.full(len(task.counts), np.nan)
    for j, scale in zip(_features_at(task, prior), scales, strict=True):
        if np.isnan(found[j]):
            found[j] = scale
    return found


def _features_at(task: Task, prior: Prior) -> list[int]:
    """The feature that the weights of each block belong to."""
    starts = np.cumsum([1, *(len(c.counts) for c in task.counts)])
    firsts = [block.places[0] for block in prior.blocks]
    return (np.searchsorted(starts, firsts, "right") - 1).tolist()  # type: ignore[no-any-return]
