"""Fit all tables together with the first pairs of a ranking, or with some of the pairs of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weigh.bins import Feature
from weigh.educated.design import Source
from weigh.educated.gains import find_earning, find_gains, find_variance
from weigh.educated.halves import fit_halves
from weigh.educated.loo import HeldOut, loosen
from weigh.educated.pairs import Candidate, Part, Ways, count_pairs
from weigh.educated.scales import ROUGHLY, Search, find_scales
from weigh.educated.segments import LEVELS, is_coarse, ways_to_cut
from weigh.educated.solve import FULL, PRECISE, State, find_weights, state_at
from weigh.educated.task import Task, narrow, problem_of, widen
from weigh.errors import Parameter, ParameterError
from weigh.tally import Counts

CELLS = 1024
"""Number of cells that pairs may always have."""

COLUMNS = 64
"""With more columns than this, only those whose tables vary most are paired."""


@dataclass(frozen=True)
class Selected:
    """A fit with pairs."""

    task: Task
    candidates: tuple[Candidate, ...]  # in the order of the task's pairs
    search: Search
    state: State
    held_out: HeldOut
    gains: tuple[float, ...] = ()  # bits a row, by pair

    @property
    def names(self) -> set[frozenset[str]]:
        """The names of the columns of each pair."""
        return {own.names for own in self.candidates}

    def keep(self, places: Sequence[int]) -> Selected:
        """Fit again with some of the pairs."""
        if len(places) == len(self.candidates):
            return self
        kept = [*places]
        start = narrow(self.task, self.state, kept)
        search = find_scales(start.problem, start)
        state, held_out = loosen(search.state)
        some = tuple(self.candidates[place] for place in kept)
        return Selected(self.task.keep(kept), some, search, state, held_out)

    def find_earning(self, most: int) -> list[int]:
        """The pairs that earn their place, at most so many."""
        return find_earning(self.task, self.state, self.search.noise, most)

    def with_gains(self) -> Selected:
        """Add the gain of each pair."""
        return replace(self, gains=find_gains(self.task, self.state))


def cut_columns(task: Task, state: State, salts: tuple[int, ...]) -> Ways:
    """Columns that may be paired, with each of the ways to cut them into a few levels."""
    fits = [*fit_halves(state, salts), state.weights]
    orders = task.orders or (0,) * len(task.counts)
    found = {}
    for j, (counts, order) in enumerate(zip(task.counts, orders, strict=True)):
        feature, span = counts.feature, state.problem.design.spans[j]
        if order or not isinstance(feature, Feature) or feature.name in task.request.unpaired:
            continue
        ways = ways_to_cut(feature, counts.counts, [own[span] for own in fits])
        if all(map(is_coarse, ways)):
            parts = [Part.of(feature, j, few) for few in ways]
            found[j] = parts
    if len(found) > COLUMNS and not task.request.named:
        matter = {j: find_variance(task.counts[j], state, j) for j in found}
        first = sorted(found, key=lambda j: (-matter[j], task.counts[j].feature.name))[:COLUMNS]
        found = {j: found[j] for j in sorted(first)}
    by_way = [*map(list, zip(*found.values(), strict=True))] or [[]]
    return Ways(tuple(by_way[: -len(fits)] or by_way), tuple(by_way[-len(fits) :]))


def check_named(task: Task, known: set[str]) -> None:
    """Raise an error if a named pair has a column that cannot be paired."""
    for name in sorted({name for pair in task.request.named for name in pair} - known):
        raise ParameterError(
            Parameter("pairs"),
            f" names {name!r}, which cannot be paired: a pair takes columns of 2 to {LEVELS} levels"
            " (see max_levels) that are not in unpaired, crosses or monotonic_cst",
        )


def fit_pairs(task: Task, ranked: Sequence[Candidate], state: State) -> Selected | None:
    """Fit all tables and the pairs of a ranking; None if there is no pair.

    `state` is the fit without pairs.
    """
    counted = _count(task, ranked, state.problem.n_weights)
    if not counted:
        return None
    wider = task.with_pairs([own for _, own in counted])
    search = find_scales(problem := problem_of(wider), widen(problem, state))
    looser, held_out = loosen(search.state)
    return Selected(wider, tuple(pair for pair, _ in counted), search, looser, held_out)


def fit_like(fit: Selected, task: Task, ranked: Sequence[Candidate]) -> State:
    """Fit the pairs of another ranking with the same tables, at the scales of a given fit.

    Pairs that are not in the given fit get the geometric mean of the scales of its pairs.
    """
    counted = _count(task, ranked, fit.state.problem.design.spans[task.n_coded].start)
    wider = task.with_pairs([own for _, own in counted])
    own = {c.feature: j for j, c in enumerate(fit.task.counts)}
    if {c.feature for c in wider.counts} == {*own}:
        return fit.state
    problem, before = problem_of(wider), fit.state.problem
    weights = np.zeros((problem.n_weights, problem.target.n_totals))
    n_mains = len(before.prior.blocks) - len(fit.task.pairs)
    usual = float(np.exp(np.log(fit.state.scales[n_mains:]).mean()))
    scales = np.concatenate([fit.state.scales[:n_mains], np.full(len(wider.pairs), usual)])
    weights[0] = fit.state.weights[0]
    for j, (counts, span) in enumerate(zip(wider.counts, problem.design.spans, strict=True)):
        if counts.feature in own:
            at = own[counts.feature]
            weights[span] = fit.state.weights[before.design.spans[at]]
            if j >= task.n_coded:
                scales[n_mains + j - task.n_coded] = fit.state.scales[n_mains + at - task.n_coded]
    return find_weights(state_at(problem, weights, scales), PRECISE, ROUGHLY)


def _count(
    task: Task, ranked: Sequence[Candidate], n_weights: int
) -> list[tuple[Candidate, tuple[Counts, Source]]]:
    """Count pairs until the limit of cells is reached; in the order of the columns."""
    room = max(FULL - n_weights, CELLS) if task.request.most is None else np.inf
    taken = {counts.feature.name for counts in task.counts}
    some = sorted(ranked, key=lambda own: [part.source.features for part in own.parts])
    order = {own.names: i for i, own in enumerate(ranked)}
    pairs = count_pairs([own.parts for own in some], task.rows, task.target)
    counted = [*zip(some, pairs, strict=True)]
    kept = set()
    for pair, (counts, _) in sorted(counted, key=lambda own: order[own[0].names]):
        room -= len(counts.counts)
        if room >= 0 and counts.feature.name not in taken:
            taken.add(counts.feature.name)
            kept.add(pair.names)
    return [own for own in counted if own[0].names in kept]
