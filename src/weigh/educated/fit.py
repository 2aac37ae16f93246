"""From counts and rows to weights: the steps of a fit, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.bins import Feature
from weigh.educated.design import Design, Source, Target
from weigh.educated.loo import HeldOut, compare, leave_one_out, loosen
from weigh.educated.monotone import are_in_order, hold_orders
from weigh.educated.pairs import Part, count_pairs, is_coarse, rank_pairs
from weigh.educated.prior import Block, Centre, Prior, count_intervals, is_silent, prior_of
from weigh.educated.scales import FIRST, Search, find_scales
from weigh.educated.solve import FULL, Problem, State, polish, state_at
from weigh.engine import Coded
from weigh.frames import Floats
from weigh.newton.ties import Order
from weigh.tally import Counts

ENOUGH = 1e-8
"""The relative gradient of a fit that has converged."""


@dataclass(frozen=True)
class Task:
    """What a fit is given: the levels and their counts, the rows, and what is asked for."""

    rows: Coded
    counts: tuple[Counts, ...]
    target: Target
    orders: tuple[int, ...] = ()  # by feature: 1 rises, -1 falls, 0 is free
    n_pairs: int = 0
    cv: Any = 4  # the folds that pairs are judged on
    random_state: Any = None
    pairs: tuple[Source, ...] = ()  # of the last features, which rows are not coded for

    @property
    def sources(self) -> tuple[Source, ...]:
        """How the levels of each feature follow from those that rows are coded in."""
        coded = self.counts[: len(self.counts) - len(self.pairs)]
        own = (Source.of(j, len(counts.counts)) for j, counts in enumerate(coded))
        return (*own, *self.pairs)


@dataclass(frozen=True)
class Fit:
    """Weights of all levels, the intercept first, and what is known about them."""

    counts: tuple[Counts, ...]
    weights: Floats
    covariance: Floats | None  # None where the Hessian is not one matrix
    scales: Floats  # of each feature
    held_out: HeldOut
    search: Search
    gradient: float  # relative: what is left of it
    n_passes: int = 0

    def complaint(self) -> str:
        """What a fit that has not converged says; nothing of others."""
        if self.gradient > ENOUGH:
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
    """Find scales and weights; then pairs, if any are asked for and help; then hold orders."""
    before = task.rows.n_passes
    search = find_scales(_problem(task))
    state, held_out = loosen(search.state)
    if task.n_pairs:
        wider = _with_pairs(task, search.state)
        if wider.pairs:
            other = _widen(_problem(wider), state)
            looser, _ = loosen(other.state)
            told = compare(state, looser)
            if told.better:
                task, search, state, held_out = wider, other, looser, told.after
    fit = _finish(task, search, state, held_out)
    return replace(fit, n_passes=task.rows.n_passes - before)


def _finish(task: Task, search: Search, state: State, held_out: HeldOut) -> Fit:
    orders = _orders(task, state.problem.design)
    weights, ties = polish(state), None
    if orders:
        tied = hold_orders(state, orders)
        if tied.state is not state or not are_in_order(weights, orders):
            weights, ties, state = tied.weights, tied.ties, tied.state
            held_out = leave_one_out(state)
    covariance = None
    if state.problem.exact and state.problem.n_weights <= FULL:
        inverse = state.factor.by_class[0][0].inverse  # type: ignore[union-attr]
        covariance = inverse if ties is None else inverse[np.ix_(ties, ties)]
    scales = _by_feature(task, search.state.problem.prior, state.scales)
    left = state.relative_gradient
    return Fit(task.counts, weights, covariance, scales, held_out, search, left)


def _widen(problem: Problem, start: State) -> Search:
    """Scales and weights of more features, from a fit of the first of them."""
    weights = np.zeros((problem.n_weights, problem.target.n_totals))
    weights[: len(start.weights)] = start.weights
    scales = np.full(len(problem.prior.blocks), FIRST)
    scales[: len(start.scales)] = start.scales
    return find_scales(problem, state_at(problem, weights, scales))


def _problem(task: Task) -> Problem:
    """The places of the levels, and the prior of each feature's weights."""
    silent = frozenset(j for j, c in enumerate(task.counts) if is_silent(c.counts))
    design = Design(task.sources, silent)
    blocks: list[Block] = []
    centres: list[Centre] = []
    for counts, span in zip(task.counts, design.spans, strict=True):
        own, held = prior_of(counts.feature, counts.counts, span.start)
        blocks += own
        centres += held
    return Problem(task.rows, design, task.target, Prior(tuple(blocks), tuple(centres)))


def _with_pairs(task: Task, state: State) -> Task:
    """The task with the best pairs as features of their own."""
    orders = task.orders or (0,) * len(task.counts)
    parts = [
        Part.of(counts, j)
        for j, (counts, order) in enumerate(zip(task.counts, orders, strict=True))
        if order == 0 and isinstance(counts.feature, Feature)
    ]
    parts = [part for part in parts if is_coarse(part.feature)]
    dealt = task.rows.deal(task.cv, task.random_state)
    ranked = rank_pairs(parts, dealt, state.problem.view(state.weights))[: task.n_pairs]
    pairs = [(parts[a], parts[b]) for a, b in ranked]
    taken = {counts.feature.name for counts in task.counts}
    kept = []
    for counts, source in count_pairs(pairs, task.rows, task.target.n_classes):
        if counts.feature.name not in taken:
            taken.add(counts.feature.name)
            kept.append((counts, source))
    every = (*task.counts, *(counts for counts, _ in kept))
    return replace(task, counts=every, pairs=tuple(source for _, source in kept))


def _orders(task: Task, design: Design) -> list[Order]:
    orders = []
    for counts, span, sign in zip(task.counts, design.spans, task.orders, strict=False):
        if sign:
            n = count_intervals(counts.feature)
            orders.append(Order(np.arange(span.start, span.start + n), sign))
    return orders


def _by_feature(task: Task, prior: Prior, scales: Floats) -> Floats:
    """The scale of each feature's first block; NaN for a feature that tells nothing."""
    starts = np.cumsum([1, *(len(c.counts) for c in task.counts)])
    found: Floats = np.full(len(task.counts), np.nan)
    for block, scale in zip(prior.blocks, scales, strict=True):
        j = int(np.searchsorted(starts, block.places[0], "right")) - 1
        if np.isnan(found[j]):
            found[j] = scale
    return found
