"""Loss of a fit without each of its pairs, with the other tables fitted again.

Without the weights b of a pair, one Newton step gives the other weights and their covariance:

    w - V_b V_bb^-1 w_b,    of covariance  V - V_b V_bb^-1 V_b'

So the leave-one-out losses of the fits without each pair take one pass. If a pair matters much, one
step is too short: then the other tables are fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.educated.design import weigh_rows
from weigh.educated.loo import LeaveOneOut, leave_each_out, pick, share_of
from weigh.educated.modes import Reduced
from weigh.educated.scales import ROUGHLY
from weigh.educated.solve import PRECISE, State, find_weights
from weigh.educated.task import Task, narrow
from weigh.engine import Block, Sums
from weigh.frames import Floats
from weigh.pickling import by_fields
from weigh.tally import Counts

MUCH = 0.02
"""Pairs whose gain exceeds this share of the loss by one step are removed by a new fit instead. The
step was off by 4% for a gain of 2% of the loss (bank), by 11% for one of 4% (titanic), and useless
for tic_tac_toe."""

NATS = 1.0
"""Least gain over all rows for each pair, in nats."""

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
