"""Choose the pairs of features that a fit keeps.

1. A score test ranks all pairs, each with its best cut points (`weigh.educated.pairs`).
2. The prior odds of a pair are one to d, with d the number of columns. So pairs whose evidence is
   above ln(d) nats are fitted, together with all other tables.
3. Of these, the pairs are kept that together hold most of the variance of all pairs, or whose
   removal alone would cost more than one nat. The model is fitted again with them.
4. The fit with pairs replaces the one without only if its leave-one-out loss is lower: by more than
   its sampling error, and by one nat for each pair.

The score test misses two cases. Many weak pairs can help together although none has enough
evidence. And where the tables alone leave rows nearly certain, all slopes are close to zero and the
test has no power. So the first pairs of the ranking are also fitted if pairs that rank first in one
half of the rows do well in the other half. They must pass step 4 as well. Because they were chosen
among many, the rows that chose them would overrate them: each half of the rows ranks the pairs, and
the other half measures the gain. Where rows are nearly certain, pairs must also remove a quarter of
the remaining loss, and more than one nat in all.

Numbers have many weak interactions more often than classes. So for a numeric target the first pairs
are also fitted with one smooth prior and one scale for all of them. One scale cannot adapt to noise
as forty can, so there is nothing to select: this fit is kept if it gains one nat
more than the fit of the steps above, each with the pairs of one half measured on the other half.

If the user asks for a number of pairs, the threshold of step 2 is not used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import log

import numpy as np

from weigh.bins import Feature
from weigh.educated.design import Source, weigh_rows
from weigh.educated.gains import find_gains, find_worths
from weigh.educated.halves import HALVES, fit_halves
from weigh.educated.loo import HeldOut, LeaveOneOut, is_certain, loosen, pick, share_of
from weigh.educated.marks import halve, salt
from weigh.educated.pairs import Candidate, Part, Ways, count_pairs, rank_pairs
from weigh.educated.scales import ROUGHLY, Search, find_scales
from weigh.educated.segments import LEVELS, is_coarse, ways_to_cut
from weigh.educated.solve import FULL, PRECISE, State, find_weights, state_at
from weigh.educated.task import Task, narrow, problem_of, widen
from weigh.engine import Block, Sums
from weigh.errors import Parameter, ParameterError
from weigh.frames import Floats
from weigh.pickling import by_fields
from weigh.tally import Counts

CANDIDATES, CELLS = 40, 1024
"""Largest number of pairs in one fit, and the number of cells that they may always have."""

COLUMNS = 64
"""With more columns than this, only those whose tables vary most are paired."""

LEAST_ROWS = 100
"""With fewer rows no pairs are searched for: they could not be told from noise."""

SURE = 1.645
"""Least gain in standard errors: noise reaches it once in twenty times."""

NATS = 1.0
"""Least gain over all rows for each pair, in nats."""

LEFT = 0.25
"""Least gain where rows are nearly certain, as a share of the remaining loss."""

SHARE = 0.95
"""Share of the variance of all pairs that the largest pairs must hold to be kept."""


@dataclass(frozen=True)
class Selected:
    """A fit with pairs."""

    task: Task
    search: Search
    state: State
    held_out: HeldOut
    gains: tuple[float, ...] = ()  # bits a row, by pair


def select_pairs(
    task: Task, state: State, held_out: HeldOut, noise: float = 1.0
) -> Selected | None:
    """Add pairs to a fit without any; None if no pair lowers the loss enough.

    `noise` is the dispersion of a numeric target.
    """
    salts = tuple(salt(counts.feature.name) for counts in task.counts)
    ways = _ways(task, state, salts)
    _check_named(task, {part.feature.name for part in ways.plain[0]})
    if len(ways.plain[0]) < 2 or not _may_pay(task):
        return None
    view = state.problem.view(state.weights)
    in_nats = replace(view, target=view.target.dispersed(noise))
    *halves, ranked = rank_pairs(ways, task.rows, in_nats, salts)
    if task.request.named:
        found = _fit(task, [own for own in ranked if own.names in task.request.named], state)
        return found and _with_gains(found)
    alone = PairTest(task, state, held_out, salts, noise=noise)
    if task.request.most is not None:
        found = alone.accept(ranked, halves)
        return found and _with_gains(found)
    found, sure = None, list[Candidate]()
    if not alone.certain:
        least = log(len(ways.plain[0]))
        sure = [own for own in ranked if own.nats > least]
        found = alone.accept(sure)
    if _agree(halves, sure, alone.certain):
        found = replace(alone, beside=found).accept(ranked, halves) or found
    if task.target.noisy:
        found = alone.accept_together(ranked, halves, found) or found
    return found and _with_gains(found)


@dataclass(frozen=True)
class PairTest:
    """Decide whether a fit with pairs is better than one without, or with fewer (`beside`)."""

    task: Task
    state: State
    held_out: HeldOut
    salts: tuple[int, ...]
    beside: Selected | None = None
    noise: float = 1.0  # the dispersion of a numeric target

    @cached_property
    def certain(self) -> bool:
        """Whether the tables alone predict nearly all rows with certainty."""
        return is_certain(self.task.target, self.held_out)

    def accept(
        self, first: list[Candidate], halves: list[list[Candidate]] | None = None
    ) -> Selected | None:
        """Fit with the first pairs of a ranking; None if they do not lower the loss enough.

        With `halves`, the rankings of both halves of the rows, the gain is cross-validated.
        """
        task, asked = self.task, self.task.request.most is not None
        found = _fit(task, first, self.state)
        if found is None:
            return None
        saved = self._save([found.state] * HALVES)
        if not saved > 0:
            return None
        kept = [*range(len(found.task.pairs))] if asked else _earning(found)
        if not asked and saved <= self._least(len(kept)):
            return None
        if halves:
            fits = [_fit_like(found, task, own[: len(first)]) for own in halves]
            if not self._save(fits) > 0:
                return None
        return _keep(found, kept)

    def accept_together(
        self, ranked: list[Candidate], halves: list[list[Candidate]], few: Selected | None
    ) -> Selected | None:
        """Fit the first pairs with one scale for all; None if a `few` pairs, or none, do better."""
        task = replace(self.task, tied=True)
        found = _fit(task, ranked, self.state)
        if found is None:
            return None
        most = few and self._crossed_gain(few, halves, len(few.task.pairs))
        return found if self._crossed_gain(found, halves) > max(most or 0.0, 0.0) + NATS else None

    def _crossed_gain(
        self, fit: Selected, halves: list[list[Candidate]], n_pairs: int | None = None
    ) -> float:
        """Gain in nats of a fit's scales, with the first pairs by each half on the other half."""
        task = replace(self.task, tied=fit.task.tied)
        return self._compare([_fit_like(fit, task, own[:n_pairs]) for own in halves])[0]

    def _least(self, n_pairs: int) -> float:
        """Least gain required of `n_pairs` pairs, in nats over all rows."""
        if self.certain:
            return max(LEFT * self.held_out.mean * self.task.target.n_rows, NATS)
        return NATS * n_pairs

    def _save(self, fits: list[State]) -> float:
        """Gain in leave-one-out loss over all rows, in nats; zero if within sampling error."""
        saved, error = self._compare(fits)
        return saved if saved > SURE * error else 0.0

    def _compare(self, fits: list[State]) -> tuple[float, float]:
        """Gain in leave-one-out loss over all rows, in nats, and its standard error."""
        before, rows = self.beside.state if self.beside else self.state, self.task.rows
        after = tuple(map(LeaveOneOut.of, fits))
        asked = CrossedGains(LeaveOneOut.of(before), after, self.salts, share_of(rows))
        weight, total, square = rows.sum(asked).arrays[0]
        mean = float(total / weight)
        error = float(np.sqrt(max(square / weight - mean**2, 0.0) / weight))
        in_nats = self.task.target.n_rows / self.noise
        return mean * in_nats, error * in_nats


def _agree(halves: list[list[Candidate]], sure: list[Candidate], certain: bool) -> bool:
    """Whether pairs that one half of the rows ranks first do well in the other half.

    Their mean evidence there must be above that of all pairs, and their sum above zero. Pairs that
    have enough evidence alone are left out. If there are no more than `CANDIDATES` pairs, all rank
    first, so nothing can be compared: the answer is whether rows are nearly certain.
    """
    known = {own.names for own in sure}
    ranked = [[own for own in half if own.names not in known] for half in halves]
    if len(ranked[0]) <= CANDIDATES:
        return certain
    z, total = 0.0, 0.0
    for one, other in (ranked, ranked[::-1]):
        nats = {own.names: own.nats for own in other}
        every = np.array([*nats.values()])
        first = np.array([nats[own.names] for own in one[:CANDIDATES]])
        error = max(float(every.std()), 1e-300) / np.sqrt(CANDIDATES)
        z += float(first.mean() - every.mean()) / error / np.sqrt(HALVES)
        total += float(first.sum())
    return z > SURE and (certain or total > 0)


def _may_pay(task: Task) -> bool:
    n_rows = max(task.rows.n_rows, task.target.n_rows)
    return task.request.most is not None or n_rows >= LEAST_ROWS


# ---------------------------------------------------------------- candidates


def _ways(task: Task, state: State, salts: tuple[int, ...]) -> Ways:
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
        matter = {j: _variance(task.counts[j], state, j) for j in found}
        first = sorted(found, key=lambda j: (-matter[j], task.counts[j].feature.name))[:COLUMNS]
        found = {j: found[j] for j in sorted(first)}
    by_way = [*map(list, zip(*found.values(), strict=True))] or [[]]
    return Ways(tuple(by_way[: -len(fits)] or by_way), tuple(by_way[-len(fits) :]))


def _variance(counts: Counts, state: State, j: int) -> float:
    """Variance over the rows of the weights of a table, summed over classes."""
    own, rows = state.weights[state.problem.design.spans[j]], counts.counts.sum(axis=1)
    share = rows / max(float(rows.sum()), 1e-300)
    return float((share @ (own - share @ own) ** 2).sum())


def _check_named(task: Task, known: set[str]) -> None:
    """Raise an error if a named pair has a column that cannot be paired."""
    for name in sorted({name for pair in task.request.named for name in pair} - known):
        raise ParameterError(
            Parameter("pairs"),
            f" names {name!r}, which cannot be paired: a pair takes columns of 2 to {LEVELS} levels"
            " (see max_levels) that are not in unpaired, crosses or monotonic_cst",
        )


def _fit(task: Task, ranked: list[Candidate], state: State) -> Selected | None:
    """Fit all tables and the first pairs of a ranking; None if there is no pair."""
    pairs = _count(task, ranked, state.problem.n_weights)
    if not pairs:
        return None
    wider = task.with_pairs(pairs)
    search = find_scales(problem := problem_of(wider), widen(problem, state))
    looser, held_out = loosen(search.state)
    return Selected(wider, search, looser, held_out)


def _fit_like(fit: Selected, task: Task, ranked: list[Candidate]) -> State:
    """Fit the pairs of another ranking with the same tables, at the scales of a given fit.

    Pairs that are not in the given fit get the geometric mean of the scales of its pairs.
    """
    wider = task.with_pairs(
        _count(task, ranked, fit.state.problem.design.spans[task.n_coded].start)
    )
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


def _count(task: Task, ranked: list[Candidate], n_weights: int) -> list[tuple[Counts, Source]]:
    """Count the first pairs until the limit of cells is reached; in the order of the columns."""
    most = CANDIDATES if task.request.most is None else task.request.most
    room = max(FULL - n_weights, CELLS) if task.request.most is None else np.inf
    taken = {counts.feature.name for counts in task.counts}
    some = sorted(islice(ranked, most), key=lambda own: [p.source.features for p in own.parts])
    order = {own.names: i for i, own in enumerate(ranked)}
    pairs = count_pairs([own.parts for own in some], task.rows, task.target)
    counted = [*zip(some, pairs, strict=True)]
    kept = set()
    for pair, (counts, _) in sorted(counted, key=lambda own: order[own[0].names]):
        room -= len(counts.counts)
        if room >= 0 and counts.feature.name not in taken:
            taken.add(counts.feature.name)
            kept.add(pair.names)
    return [own for pair, own in counted if pair.names in kept]


# ---------------------------------------------------------------- comparison of fits


@dataclass(frozen=True)
class CrossedGains:
    """Sums over rows of weight, gain in loss and squared gain, cross-validated by halves.

    The gain of a row is that of the fit whose pairs were ranked by the other half of the rows.
    """

    before: LeaveOneOut
    after: tuple[LeaveOneOut, ...]  # of the pairs that the first half has ranked, and the second
    salts: tuple[int, ...]
    every: int

    __reduce__ = by_fields

    def __call__(self, block: Block) -> Sums:
        """Compute the sums from evenly spaced rows of a block."""
        some, numbers = pick(block, self.every)
        after = np.array([fit.losses(some, numbers) for fit in self.after])
        ranked_by_other = 1 - halve(some, self.salts)
        saved = self.before.losses(some, numbers) - after[ranked_by_other, np.arange(len(some))]
        weight = weigh_rows(some)
        return Sums((np.array([weight.sum(), saved @ weight, saved**2 @ weight]),))


def _earning(fit: Selected) -> list[int]:
    """Pairs that hold most of the variance, and others whose removal would cost over a nat.

    The first are kept whatever each costs alone, because some pairs help only together.
    """
    weighty = _weighty(fit)
    if fit.state.problem.modes is not None:  # modes ignore some entries of V
        return weighty
    worths = find_worths(fit.task, fit.state, fit.search.noise)
    return sorted({*weighty, *np.flatnonzero(worths > NATS).tolist()})


def _weighty(fit: Selected) -> list[int]:
    """Fewest pairs that hold `SHARE` of the variance of all pairs."""
    task, first = fit.task, fit.task.n_coded
    variances: Floats = np.array(
        [_variance(task.counts[j], fit.state, j) for j in range(first, len(task.counts))]
    )
    order = np.argsort(-variances, kind="stable")
    reached = np.cumsum(variances[order]) / variances.sum()
    return sorted(order[: int((reached < SHARE).sum()) + 1].tolist())


def _keep(fit: Selected, kept: list[int]) -> Selected:
    """Fit again with some of the pairs."""
    if len(kept) == len(fit.task.pairs):
        return fit
    start = narrow(fit.task, fit.state, kept)
    search = find_scales(start.problem, start)
    state, held_out = loosen(search.state)
    return Selected(fit.task.keep(kept), search, state, held_out)


def _with_gains(fit: Selected) -> Selected:
    return replace(fit, gains=find_gains(fit.task, fit.state))
