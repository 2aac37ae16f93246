"""Cut the pairs of a fit into more cells where the rows ask for it.

Pairs are ranked with few cells, because many cells would hide weak pairs among noise. But few cells
blur a sharp or a strong interaction. So each numeric column of a pair gets the cut points of `FINE`
quantiles, too, and a score test asks whether the slopes of the rows vary within the cells of the
fit. If a table d of the fine cells with the covariance t K of a pair's prior were added to the fit,
the log marginal likelihood would rise by about

    1/2 g' (K^-1/t + H)^-1 g - 1/2 ln det(I + t K H)

with g and H the slopes and curvatures of the fine cells, less what the present cells and the tables
of both columns explain: H = V - V B (B'V B)^-1 B'V. Of the best t this is the evidence. Pairs with
evidence above one nat are fitted with fine cells, and these are kept if the leave-one-out loss
falls by more than noise would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature
from weigh.educated.candidates import CELLS, NATS, SURE, Selected
from weigh.educated.design import Design
from weigh.educated.loo import compare, loosen
from weigh.educated.pairs import VARIANCES, Candidate, CutFeature, count_pairs
from weigh.educated.passes import RowsAtWeights
from weigh.educated.prior import DENSE, is_silent, prior_of
from weigh.educated.scales import find_scales
from weigh.educated.segments import add_quantiles, coarse_levels
from weigh.educated.solve import FULL, State, state_at
from weigh.educated.task import Task, problem_of
from weigh.engine import Block, Sums
from weigh.pickling import by_fields
from weigh.tally import Counts

FINE = 15
"""Number of quantile bins whose cut points are added; a multiple of those of a ranked pair."""

ROUNDING = 1e-9
"""Eigenvalues below this share of the largest are rounding: columns of B depend on others."""


def refine(fit: Selected) -> Selected:
    """The fit with finer cells for some pairs, if that lowers the leave-one-out loss enough."""
    finer = _ask_rows(fit)
    if not finer:
        return fit
    pairs = [finer.get(pair.names, pair) for pair in fit.candidates]
    task = fit.task.with_pairs(
        count_pairs([own.parts for own in pairs], fit.task.rows, fit.task.target)
    )
    start = _begin(fit, task)
    search = find_scales(start.problem, start)
    state, held_out = loosen(search.state)
    better = compare(fit.state, state, SURE).better
    return Selected(task, tuple(pairs), search, state, held_out) if better else fit


def _ask_rows(fit: Selected) -> dict[frozenset[str], Candidate]:
    """The pairs with evidence for finer cells, as many as there is room for, best first."""
    coarse = fit.task.counts[fit.task.n_coded :]
    every = zip(fit.candidates, coarse, strict=True)
    tried = [(cut, own) for pair, own in every if (cut := _cut_finer(fit.task, pair)) is not None]
    counted = count_pairs([cut.parts for cut, _ in tried], fit.task.rows, fit.task.target)
    if not tried:
        return {}
    design = Design(tuple(source for _, source in counted))
    view = fit.state.problem.view(fit.state.weights)
    sums = fit.task.rows.sum(CellSlopes(view, design)).arrays[0]
    found = []
    for k, ((cut, few), (fine, _)) in enumerate(zip(tried, counted, strict=True)):
        start = design.starts[k] + 1
        own = sums[..., start : start + design.sizes[k]]
        nats = evidence_of_cells(fine, _coarse_cells(fine, few), own)
        found.append((nats, cut, len(fine.counts) - len(few.counts)))
    room = max(FULL - fit.state.problem.design.spans[fit.task.n_coded].start, CELLS)
    room -= sum(len(own.counts) for own in coarse)
    return _take_best(found, room)


def _take_best(
    found: Sequence[tuple[float, Candidate, int]], room: int
) -> dict[frozenset[str], Candidate]:
    """Pairs with enough evidence, best first, whose further cells find room."""
    taken = {}
    for nats, cut, more in sorted(found, key=lambda own: (-own[0], sorted(own[1].names))):
        if nats > NATS and more <= room:
            room -= more
            taken[cut.names] = cut
    return taken


def _cut_finer(task: Task, pair: Candidate) -> Candidate | None:
    """A pair with more cut points; None if it has no column to cut, or would have many cells."""
    left, right = (_cut_column(task, part) for part in pair.parts)
    many = len(left.feature.levels) * len(right.feature.levels) > DENSE
    return None if many or (left, right) == pair.parts else replace(pair, parts=(left, right))


def _cut_column(task: Task, part: CutFeature) -> CutFeature:
    (place,) = part.source.features
    counts = task.counts[place]
    assert isinstance(counts.feature, Feature)
    few = add_quantiles(counts.feature, counts.counts, part.feature, FINE)
    return part if few == part.feature else CutFeature.of(counts.feature, place, few)


def _coarse_cells(fine: Counts, few: Counts) -> Integers:
    """The cell of the coarse pair that contains each cell of the fine one."""
    assert isinstance(fine.feature, Cross)
    assert isinstance(few.feature, Cross)
    parts = zip(fine.feature.parts, few.feature.parts, np.array(fine.feature.pairs).T, strict=True)
    left, right = (coarse_levels(one, other)[own] for one, other, own in parts)
    at = {cell: k for k, cell in enumerate(few.feature.pairs)}
    return np.array([at[cell] for cell in zip(left.tolist(), right.tolist(), strict=True)])


def _begin(fit: Selected, task: Task) -> State:
    """The starting point of the fit with finer cells: the weights and scales of the fit so far."""
    problem, before = problem_of(task), fit.search.state
    weights = np.zeros((problem.n_weights, problem.target.n_totals))
    weights[0] = before.weights[0]
    spans = zip(before.problem.design.spans, problem.design.spans, strict=True)
    for few, fine, (old, new) in zip(fit.task.counts, task.counts, spans, strict=True):
        own = before.weights[old]
        weights[new] = own if few.feature == fine.feature else own[_coarse_cells(fine, few)]
    return state_at(problem, weights, before.scales)


@dataclass(frozen=True)
class CellSlopes:
    """The statistic: sums of slopes, then of curvatures, by total and cell of some pairs."""

    view: RowsAtWeights
    design: Design  # of the pairs

    __reduce__ = by_fields

    def __call__(self, block: Block) -> Sums:
        """The sums over a block."""
        from weigh.educated.kernels import sum_rows

        seen, places = self.view.see(block), self.design.place(block)
        sums = np.zeros((2, len(seen.slope), self.design.starts[-1]))
        for values, out in zip((seen.slope, seen.curvature), sums, strict=True):
            for own, added in zip(values, out, strict=True):
                sum_rows(places, own, added)
        return Sums((sums,))


def evidence_of_cells(fine: Counts, coarse: Integers, sums: Floats) -> float:
    """The evidence for a table of fine cells, in nats, from slopes and curvatures by total."""
    assert isinstance(fine.feature, Cross)
    if is_silent(fine.counts):
        return 0.0
    (block,), _ = prior_of(fine.feature, fine.counts, 0)
    precision = np.eye(len(coarse)) if block.matrix is None else block.matrix
    root = np.linalg.inv(np.linalg.cholesky(precision))  # root' root is the covariance
    known = np.hstack([_mark(own) for own in (*np.array(fine.feature.pairs).T, coarse)])
    nats, variances = np.zeros(len(VARIANCES)), np.array(VARIANCES)[:, None]
    for slope, curvature in zip(*sums, strict=True):
        heavy = curvature[:, None] * known
        inverse = np.linalg.pinv(known.T @ heavy, rcond=ROUNDING, hermitian=True)
        left = root @ (slope - heavy @ (inverse @ (known.T @ slope)))
        free = root @ (np.diag(curvature) - heavy @ inverse @ heavy.T) @ root.T
        values, vectors = np.linalg.eigh(free)
        values = variances * np.maximum(values, 0.0)
        gains = variances * (vectors.T @ left) ** 2 / (1 + values)
        nats += 0.5 * (gains - np.log1p(values)).sum(axis=1)
    return float(nats.max())


def _mark(groups: Integers) -> Floats:
    """A column for each group, with one in the rows of its members."""
    _, numbers = np.unique(groups, return_inverse=True)
    return np.eye(int(numbers.max()) + 1)[numbers]
