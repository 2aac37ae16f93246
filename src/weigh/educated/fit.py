"""From counts and rows to weights: the steps of a fit, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from weigh import engine
from weigh.bins import Cross, Feature
from weigh.educated.design import Design, Rows
from weigh.educated.loo import HeldOut, leave_one_out, loosen
from weigh.educated.monotone import Order, hold_orders
from weigh.educated.pairs import FOLDS, coarsen, is_coarse, rank_pairs
from weigh.educated.prior import Block, Centre, Prior, is_silent, prior_of
from weigh.educated.scales import FIRST, Search, find_scales
from weigh.educated.solve import Passes, Problem, State, state_at
from weigh.folds import deal_numbers
from weigh.frames import Floats, Table
from weigh.tally import Counts, count_pairs
from weigh.tally import Rows as Counted

ENOUGH = 1e-8
"""The relative gradient of a fit that has converged."""


@dataclass(frozen=True)
class Task:
    """What a fit is given: the levels and their counts, the rows, and what is asked for."""

    table: Table
    counts: tuple[Counts, ...]
    rows: Rows
    orders: tuple[int, ...] = ()  # by feature: 1 rises, -1 falls, 0 is free
    n_pairs: int = 0
    random_state: Any = None  # deals the folds that pairs are judged on

    @property
    def features(self) -> tuple[Feature | Cross, ...]:
        """The features alone."""
        return tuple(counts.feature for counts in self.counts)


@dataclass(frozen=True)
class Fit:
    """Weights of all levels, the intercept first, and what is known about them."""

    counts: tuple[Counts, ...]
    weights: Floats
    covariance: Floats | None  # None where the Hessian is not one matrix
    scales: Floats  # of each feature
    held_out: HeldOut
    n_passes: int
    search: Search
    gradient: float  # relative: what is left of it

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
    passes = Passes()
    search = find_scales(_problem(task, passes))
    state, held_out = loosen(search.state)
    if task.n_pairs:
        wider = _with_pairs(task, search.state)
        if wider.counts != task.counts:
            other = _widen(_problem(wider, passes), state)
            looser, judged = loosen(other.state)
            if judged.is_better_than(held_out):
                task, search, state, held_out = wider, other, looser, judged
    return _finish(task, search, state, held_out)


def _finish(task: Task, search: Search, state: State, held_out: HeldOut) -> Fit:
    orders = _orders(task, state.problem.design)
    weights, ties = state.weights, np.arange(len(state.weights))
    if orders:
        tied = hold_orders(state, orders)
        weights, ties, state = tied.weights, tied.ties, tied.state
        held_out = leave_one_out(state)
    covariance = None
    if state.problem.exact:
        inverse = state.factor.by_class[0][0].inverse  # type: ignore[union-attr]
        covariance = inverse if not orders else inverse[np.ix_(ties, ties)]
    scales = _by_feature(task, search.state.problem.prior, state.scales)
    n_passes, left = state.problem.passes.n, state.relative_gradient
    return Fit(task.counts, weights, covariance, scales, held_out, n_passes, search, left)


def _widen(problem: Problem, start: State) -> Search:
    """Scales and weights of more features, from a fit of the first of them."""
    weights = np.zeros((problem.design.n_weights, problem.rows.n_totals))
    weights[: len(start.weights)] = start.weights
    scales = np.full(len(problem.prior.blocks), FIRST)
    scales[: len(start.scales)] = start.scales
    return find_scales(problem, state_at(problem, weights, scales))


def _problem(task: Task, passes: Passes) -> Problem:
    """The rows as places, and the prior of each feature's weights."""
    sizes = [len(c.counts) for c in task.counts]
    placed = [
        part if not is_silent(c.counts) else replace(part, levels=np.full_like(part.levels, size))
        for part, c, size in zip(
            engine.place(task.table, task.features), task.counts, sizes, strict=True
        )
    ]
    design = Design.of(placed, sizes, task.table.n_rows)
    blocks: list[Block] = []
    centres: list[Centre] = []
    for counts, span in zip(task.counts, design.spans, strict=True):
        own, held = prior_of(counts.feature, counts.counts, span.start)
        blocks += own
        centres += held
    return Problem(design, task.rows, Prior(tuple(blocks), tuple(centres)), passes)


def _with_pairs(task: Task, state: State) -> Task:
    """The task with the best pairs as features of their own."""
    orders = task.orders or (0,) * len(task.counts)
    parts = [
        coarsen(counts.feature, counts.counts)
        for counts, order in zip(task.counts, orders, strict=True)
        if order == 0 and isinstance(counts.feature, Feature)
    ]
    parts = [part for part in parts if is_coarse(part)]
    folds = deal_numbers(task.rows.labels, FOLDS, check_random_state(task.random_state))
    found = rank_pairs(parts, task.table, state.moments, folds)[: task.n_pairs]
    state.problem.passes.n += 2  # to rank them, and to count the best
    rows = Counted(task.rows.labels, task.rows.weight, task.rows.n_classes)
    counted = engine.spread(
        lambda pair: count_pairs(pair, task.table, rows), found, task.table.n_rows
    )
    return replace(task, counts=_distinct([*task.counts, *counted]))


def _distinct(counts: Sequence[Counts]) -> tuple[Counts, ...]:
    """The features less pairs whose name is that of one before them."""
    by_name = {c.feature.name: c for c in reversed(counts)}
    return tuple(c for c in counts if by_name[c.feature.name] is c)


def _orders(task: Task, design: Design) -> list[Order]:
    orders = []
    for counts, span, sign in zip(task.counts, design.spans, task.orders, strict=False):
        if sign:
            n = len(counts.feature.parts[0].cuts or ()) + 1
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
