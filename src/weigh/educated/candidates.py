"""Fits with the first pairs of a ranking, or some of the pairs of a fit; the loss without each.

Without the weights b of a pair, one Newton step gives the other weights and their covariance:

    w - V_b V_bb^-1 w_b,    of covariance  V - V_b V_bb^-1 V_b'

So the leave-one-out losses of the fits without each pair take one pass. If a pair matters much, one
step is too short: then the other tables are fitted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Feature
from weigh.educated.design import Source, weigh_rows
from weigh.educated.halves import fit_halves
from weigh.educated.loo import LeaveOneOut, LeftOutLoss, leave_each_out, loosen, pick, share_of
from weigh.educated.modes import Reduced
from weigh.educated.pairs import Candidate, CutFeature, Ways, count_pairs
from weigh.educated.scales import ROUGHLY, ScaleSearch, find_scales
from weigh.educated.segments import LEVELS, is_coarse, ways_to_cut
from weigh.educated.solve import FULL, PRECISE, State, find_weights, state_at
from weigh.educated.task import Task, narrow, problem_of, widen
from weigh.engine import Block, Sums
from weigh.errors import Parameter, ParameterError
from weigh.pickling import by_fields
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
    search: ScaleSearch
    state: State
    held_out: LeftOutLoss
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
            parts = [CutFeature.of(feature, j, few) for few in ways]
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


MUCH = 0.02
"""Pairs whose gain exceeds this share of the loss by one step are removed by a new fit instead. The
step was off by 4% for a gain of 2% of the loss (bank), by 11% for one of 4% (titanic), and useless
for tic_tac_toe."""

NATS = 1.0
"""Least gain over all rows for each pair, in nats."""

SURE = 1.645
"""Least gain in standard errors: noise reaches it once in twenty times."""

SHARE = 0.99
"""Share of the variance of all pairs that the largest pairs must hold to be kept."""


def find_gains(task: Task, state: State) -> tuple[float, ...]:
    """The rise of the leave-one-out loss without each pair, in bits a row."""
    n = len(task.pairs)
    gains = np.full(n, np.inf)
    if state.problem.modes is None:  # modes ignore some entries of V
        losses = state.problem.rows.sum(Without.of(task, state)).arrays[0]
        gains = (losses[1:] - losses[0]) / max(losses[0], 1e-300)
    much = np.flatnonzero(~(abs(gains) < MUCH)).tolist()
    others = [[k for k in range(n) if k != j] for j in much]
    fits = [find_weights(narrow(task, state, own), PRECISE, ROUGHLY) for own in others]
    with_all, *without = leave_each_out(state, *fits)
    gains *= with_all.bits
    gains[much] = [fit.bits - with_all.bits for fit in without]
    return tuple(gains.tolist())


def find_worths(task: Task, state: State, noise: float = 1.0) -> Floats:
    """Approximate how many nats of leave-one-out loss each pair saves, without a pass over rows.

    Without the pair's weights, the penalised loss rises by 1/2 w_b' V_bb^-1 w_b. Their penalty is
    part of that loss, so the loss of the rows rises by the sum of both. Leave-one-out loss is
    higher by one nat for each effective degree of freedom.
    """
    prior, target = state.problem.prior, state.problem.target
    share = target.n_free / target.n_totals  # of the weights of all classes that are free
    found = []
    for span in state.problem.design.spans[task.n_coded :]:
        (b,) = prior.numbers(np.arange(span.start, span.stop))
        block, scale, own = prior.blocks[b], state.scales[b], state.weights[span]
        inner = state.factor.within(block)
        risen = sum(w @ np.linalg.solve(V, w) for V, w in zip(inner, own.T, strict=True))
        free = share * (block.rank * target.n_totals - scale * state.factor.spread(block))
        found.append(0.5 * (risen + scale * block.norm(state.weights)) / noise - free)
    return np.array(found)


def find_earning(task: Task, state: State, noise: float, most: int) -> list[int]:
    """Pairs that hold most of the variance, and others whose removal would cost over a nat.

    The first are kept whatever each costs alone, because some pairs help only together. Of more
    than `most`, those of the largest variance are kept.
    """
    variances: Floats = np.array(
        [find_variance(task.counts[j], state, j) for j in range(task.n_coded, len(task.counts))]
    )
    order = np.argsort(-variances, kind="stable")
    reached = np.cumsum(variances[order]) / variances.sum()
    earning = {*order[: int((reached < SHARE).sum()) + 1].tolist()}
    if state.problem.modes is None:  # modes ignore some entries of V
        earning |= {*np.flatnonzero(find_worths(task, state, noise) > NATS).tolist()}
    return sorted([k for k in order.tolist() if k in earning][:most])


def find_variance(counts: Counts, state: State, j: int) -> float:
    """Variance over the rows of the weights of a table, summed over classes."""
    own, rows = state.weights[state.problem.design.spans[j]], counts.counts.sum(axis=1)
    share = rows / max(float(rows.sum()), 1e-300)
    return float((share @ (own - share @ own) ** 2).sum())


@dataclass(frozen=True)
class Without:
    """The statistic: the leave-one-out loss with all pairs, and without each pair."""

    leave_one_out: LeaveOneOut
    shifts: tuple[Floats, ...]  # by pair: what is subtracted from the weights, by total
    roots: tuple[tuple[Floats, ...], ...]  # by pair and total: R, where R R' is subtracted from V
    every: int

    __reduce__ = by_fields

    @classmethod
    def of(cls, task: Task, state: State) -> Without:
        """The statistic of the pairs of a fit."""
        spans = state.problem.design.spans[task.n_coded :]
        shifts, roots = [], []
        for span in spans:
            own = [_roots(state, span, k) for k in range(state.weights.shape[1])]
            roots.append(tuple(root for root, _ in own))
            shifts.append(np.column_stack([shift for _, shift in own]))
        return cls(LeaveOneOut.of(state), tuple(shifts), tuple(roots), share_of(state.problem.rows))

    def __call__(self, block: Block) -> Sums:
        """The losses of some rows of a block."""
        some, numbers = pick(block, self.every)
        design, weight = self.leave_one_out.view.design, weigh_rows(some)
        places = design.place(some)
        totals, reach = self.leave_one_out.totals(places), self.leave_one_out.reach(places, numbers)
        told = [self.leave_one_out.leave_out(some, totals, reach)]
        for shift, roots in zip(self.shifts, self.roots, strict=True):
            less = [(design.totals(places, root) ** 2).sum(axis=1) for root in roots]
            moved = totals - design.totals(places, shift)
            told.append(self.leave_one_out.leave_out(some, moved, reach - np.column_stack(less)))
        losses = [self.leave_one_out.losses_at(some, own) @ weight for own in told]
        return Sums((np.array(losses),))


def _roots(state: State, span: slice, k: int) -> tuple[Floats, Floats]:
    """The root R and the shift that remove the weights of a span, in one total.

    Without them V becomes V - R R', and the weights become w - shift.
    """
    piece = next(p for p in state.factor.by_class[k] if span.start in p.places)
    assert not isinstance(piece, Reduced)
    at = np.searchsorted(piece.places, np.arange(span.start, span.stop))
    lower = np.linalg.cholesky(piece.inverse[np.ix_(at, at)])
    root = np.zeros((len(state.weights), len(at)))
    root[piece.places] = np.linalg.solve(lower, piece.inverse[at]).T
    return root, root @ np.linalg.solve(lower, state.weights[span, k])
