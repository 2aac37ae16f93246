"""Which pairs a fit keeps.

A score test ranks all pairs, each cut in its best way. One pair in as many as there are columns is
thought to be real before the data, so that those are fitted, together with all other tables, whose
evidence is above the logarithm of that number. Those are kept, and fitted again, that hold most of
their variance or are worth more than a nat beside all others, if leave-one-out finds the fit better
than without any of them: by more than noise, and by a nat for each that is kept.

Many weak pairs can help together where none has such evidence. And where the tables alone make rows
nearly certain, slopes are next to zero and tell little of pairs. So the first pairs of the ranking
are fitted, too, if those that one half of the rows ranks first do well in the other half, and they
must save as much again. Chosen out of many by the rows that judge them, they would look better than
they are: each half of the rows ranks pairs as well, and the rows of the other half judge these.
Where rows are nearly certain, pairs must also save a quarter of the loss that the tables leave, and
more than a nat in all. Where a number of pairs is asked for, evidence is not looked at.
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
from weigh.educated.loo import HeldOut, Judge, is_certain, loosen, pick, share_of
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
"""The largest number of pairs in one fit, and the least room for their cells."""

COLUMNS = 64
"""Of more columns, those are paired whose tables matter most."""

LEAST_ROWS = 100
"""Fewer rows cannot tell pairs from noise."""

SURE = 1.645
"""Pairs are kept whose gain is more than so many standard errors: one in twenty of noise is."""

NATS = 1.0
"""And whose gain over all rows is more than so much for each."""

LEFT = 0.25
"""Or, where rows are nearly certain, is more than a nat and this share of the loss left."""

SHARE = 0.95
"""The pairs that are kept hold this share of the variance of all pairs."""


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
    """Add pairs to a fit without any, of such dispersion; None where none earns its place."""
    salts = tuple(salt(counts.feature.name) for counts in task.counts)
    ways = _ways(task, state, salts)
    _check_named(task, {part.feature.name for part in ways.plain[0]})
    if len(ways.plain[0]) < 2 or not _may_pay(task):
        return None
    view = state.problem.view(state.weights)
    in_nats = replace(view, target=view.target.dispersed(noise))
    *halves, ranked = rank_pairs(ways, task.rows, in_nats, salts)
    if task.wish.named:
        found = _fit(task, [own for own in ranked if own.names in task.wish.named], state)
        return found and _with_gains(found)
    alone = Bar(task, state, held_out, salts)
    if task.wish.most is not None:
        found = alone.earn(ranked, halves)
        return found and _with_gains(found)
    found, sure = None, list[Candidate]()
    if not alone.certain:
        least = log(len(ways.plain[0]))
        sure = [own for own in ranked if own.nats > least]
        found = alone.earn(sure)
    if _agree(halves, sure, alone.certain):
        found = replace(alone, beside=found).earn(ranked, halves) or found
    return found and _with_gains(found)


@dataclass(frozen=True)
class Bar:
    """What fits with pairs are judged by: one without, or with those of sure evidence."""

    task: Task
    state: State
    held_out: HeldOut
    salts: tuple[int, ...]
    beside: Selected | None = None

    @cached_property
    def certain(self) -> bool:
        """Whether the tables alone make rows nearly certain."""
        return is_certain(self.task.target, self.held_out)

    def earn(
        self, first: list[Candidate], halves: list[list[Candidate]] | None = None
    ) -> Selected | None:
        """The fit with the first pairs, if they earn their place; halves judge many of them."""
        task, asked = self.task, self.task.wish.most is not None
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

    def _least(self, n_pairs: int) -> float:
        """The nats that pairs have to save."""
        if self.certain:
            return max(LEFT * self.held_out.mean * self.task.target.n_rows, NATS)
        return NATS * n_pairs

    def _save(self, fits: list[State]) -> float:
        """The nats that fits save of the loss of all rows left out; zero where noise would, too."""
        before, rows = self.beside.state if self.beside else self.state, self.task.rows
        after = tuple(map(Judge.of, fits))
        asked = Crossed(Judge.of(before), after, self.salts, share_of(rows))
        weight, total, square = rows.sum(asked).arrays[0]
        mean = float(total / weight)
        noise = SURE * np.sqrt(max(square / weight - mean**2, 0.0) / weight)
        return mean * self.task.target.n_rows if mean > noise else 0.0


def _agree(halves: list[list[Candidate]], sure: list[Candidate], certain: bool) -> bool:
    """Whether pairs that one half of the rows ranks first do well in the other half.

    There they have evidence together, and more than other pairs. Pairs of sure evidence are left
    out. Few pairs are all first: they are fitted together only where rows are nearly certain.
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
    return task.wish.most is not None or n_rows >= LEAST_ROWS


# ---------------------------------------------------------------- candidates


def _ways(task: Task, state: State, salts: tuple[int, ...]) -> Ways:
    """The columns that may be paired, in each of the ways to cut them."""
    fits = [*fit_halves(state, salts), state.weights]
    orders = task.orders or (0,) * len(task.counts)
    found = {}
    for j, (counts, order) in enumerate(zip(task.counts, orders, strict=True)):
        feature, span = counts.feature, state.problem.design.spans[j]
        if order or not isinstance(feature, Feature) or feature.name in task.wish.unpaired:
            continue
        ways = ways_to_cut(feature, counts.counts, [own[span] for own in fits])
        if all(map(is_coarse, ways)):
            parts = [Part.of(feature, j, few) for few in ways]
            found[j] = parts
    if len(found) > COLUMNS and not task.wish.named:
        matter = {j: _variance(task.counts[j], state, j) for j in found}
        first = sorted(found, key=lambda j: (-matter[j], task.counts[j].feature.name))[:COLUMNS]
        found = {j: found[j] for j in sorted(first)}
    by_way = [*map(list, zip(*found.values(), strict=True))] or [[]]
    return Ways(tuple(by_way[: -len(fits)] or by_way), tuple(by_way[-len(fits) :]))


def _variance(counts: Counts, state: State, j: int) -> float:
    """Of what a table adds to the totals of the rows, summed over classes."""
    own, rows = state.weights[state.problem.design.spans[j]], counts.counts.sum(axis=1)
    share = rows / max(float(rows.sum()), 1e-300)
    return float((share @ (own - share @ own) ** 2).sum())


def _check_named(task: Task, known: set[str]) -> None:
    """Refuse a named pair whose column cannot be in one."""
    for name in sorted({name for pair in task.wish.named for name in pair} - known):
        raise ParameterError(
            Parameter("pairs"),
            f" names {name!r}, which cannot be paired: a pair takes columns of 2 to {LEVELS} levels"
            " (see max_levels) that are not in unpaired, crosses or monotonic_cst",
        )


def _fit(task: Task, ranked: list[Candidate], state: State) -> Selected | None:
    """The fit with the first pairs of a ranking."""
    pairs = _count(task, ranked, state.problem.n_weights)
    if not pairs:
        return None
    wider = task.with_pairs(pairs)
    search = find_scales(problem := problem_of(wider), widen(problem, state))
    looser, held_out = loosen(search.state)
    return Selected(wider, search, looser, held_out)


def _fit_like(fit: Selected, task: Task, ranked: list[Candidate]) -> State:
    """Another ranking's pairs beside the same tables, at the scales that a fit has found.

    A pair that the fit does not have gets the geometric mean of the scales of its pairs.
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
    """The first pairs that there is room for, in the order of the columns."""
    most = CANDIDATES if task.wish.most is None else task.wish.most
    room = max(FULL - n_weights, CELLS) if task.wish.most is None else np.inf
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


# ---------------------------------------------------------------- do they earn their place


@dataclass(frozen=True)
class Crossed:
    """The statistic: weight, and what a fit saves and that squared; a fit for each half of rows.

    A row is judged by the fit whose pairs the other half has ranked.
    """

    before: Judge
    after: tuple[Judge, ...]  # of the pairs that the first half has ranked, and the second
    salts: tuple[int, ...]
    every: int

    __reduce__ = by_fields

    def __call__(self, block: Block) -> Sums:
        """Judge some rows of a block, evenly spaced."""
        some, numbers = pick(block, self.every)
        after = np.array([judge.losses(some, numbers) for judge in self.after])
        ranked_by_other = 1 - halve(some, self.salts)
        saved = self.before.losses(some, numbers) - after[ranked_by_other, np.arange(len(some))]
        weight = weigh_rows(some)
        return Sums((np.array([weight.sum(), saved @ weight, saved**2 @ weight]),))


def _earning(fit: Selected) -> list[int]:
    """The pairs that matter most, since some help only together, and those of worth beside them."""
    weighty = _weighty(fit)
    if fit.state.problem.modes is not None:  # which overlook a part of V
        return weighty
    worths = find_worths(fit.task, fit.state, fit.search.noise)
    return sorted({*weighty, *np.flatnonzero(worths > NATS).tolist()})


def _weighty(fit: Selected) -> list[int]:
    """The pairs that hold most of the variance of all pairs."""
    task, first = fit.task, fit.task.n_coded
    variances: Floats = np.array(
        [_variance(task.counts[j], fit.state, j) for j in range(first, len(task.counts))]
    )
    order = np.argsort(-variances, kind="stable")
    reached = np.cumsum(variances[order]) / variances.sum()
    return sorted(order[: int((reached < SHARE).sum()) + 1].tolist())


def _keep(fit: Selected, kept: list[int]) -> Selected:
    """The fit with some of its pairs."""
    if len(kept) == len(fit.task.pairs):
        return fit
    start = narrow(fit.task, fit.state, kept)
    search = find_scales(start.problem, start)
    state, held_out = loosen(search.state)
    return Selected(fit.task.keep(kept), search, state, held_out)


def _with_gains(fit: Selected) -> Selected:
    return replace(fit, gains=find_gains(fit.task, fit.state))
