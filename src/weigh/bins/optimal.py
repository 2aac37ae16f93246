"""Optimal grouping of neighbouring parts into levels: exact dynamic programming with constraints.

A "part" is a distinct value, or a group of values that is not split. A trend makes the search
longer. Three steps keep it short and exact. If the best levels without a trend follow it, they are
taken. Otherwise a search among a quarter of the cut points gives a lower bound of the best sum.
Intervals that cannot be part of any solution above that bound are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.arrays import Floats, Integers

TINY = 1e-12
"""Rounding tolerance: relative for minimum shares, absolute for comparing sums."""

COARSER, FEW = 4, 24
"""A search among more than FEW parts first searches every COARSER-th cut point, for a bound."""


@dataclass(frozen=True, eq=False)
class OptimalGroups:
    """Indices of the parts at which levels begin, without the first, and the information value."""

    value: float
    starts: tuple[int, ...]


NONE = OptimalGroups(-np.inf, ())


@dataclass(frozen=True, eq=False)
class Limits:
    """Constraints: the largest number of levels, and the minimum rows of a level.

    `shapes` are the trends to try: successive directions (1, -1) of the rate of the last class.
    """

    most: int
    least_rows: float
    least_of_class: Floats
    shapes: tuple[tuple[int, ...], ...]


def best_levels(limits: Limits, counts: Floats, floor: float = -np.inf) -> OptimalGroups:
    """The levels of largest information value; of equally good ones, the fewest.

    `counts` holds the rows of each part and class. `floor` is a value known to be attainable.

    >>> counts = np.array([[9.0, 1.0], [8.0, 2.0], [1.0, 9.0], [3.0, 7.0]])
    >>> best_levels(Limits(2, 0.0, np.zeros(2), ((),)), counts).starts
    (2,)
    """
    from weigh.bins import kernels

    n, most = len(counts), min(limits.most, len(counts))
    ends = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
    value = np.full((n + 1, n + 1), -np.inf)
    kernels.measure_intervals(ends, limits.least_rows, limits.least_of_class, value)
    before, after = np.full((2, most + 1, n + 1), -np.inf)
    kernels.sum_chains(value, before, after)
    free = _trace_free(value, before)
    if not free.starts or any(_follows(ends, free.starts, shape) for shape in limits.shapes):
        return free
    best = _search_coarser(limits, counts) if floor == -np.inf else OptimalGroups(floor, ())
    live = np.empty((n * (n + 1) // 2, 2), dtype=np.int64)
    live = live[: kernels.list_live(value, before, after, best.value - TINY, live)]
    chains = _Chains.of(value, ends, live)
    found = [chains.search(shape, most) for shape in limits.shapes]
    return max([*found, best] if best.starts else found, key=rank)


def rank(levels: OptimalGroups) -> tuple[float, int]:
    """Sort key: larger information value first, then fewer levels."""
    return levels.value, -len(levels.starts)


def _search_coarser(limits: Limits, counts: Floats) -> OptimalGroups:
    """The best levels among a quarter of the cut points: a lower bound for the best of all."""
    if len(counts) <= FEW:
        return NONE
    first = np.arange(0, len(counts), COARSER)
    found = best_levels(limits, np.add.reduceat(counts, first))
    return OptimalGroups(found.value, tuple(COARSER * start for start in found.starts))


def _trace_free(value: Floats, before: Floats) -> OptimalGroups:
    """The best levels without a trend, traced back from the last."""
    n = len(value) - 1
    sums = before[:, n]
    if sums[-1] == -np.inf:
        return NONE
    k, j, starts = int(np.flatnonzero(sums >= sums[-1] - TINY)[0]), n, []
    while k > 1 and j > 0:
        k -= 1
        j = int((before[k, :j] + value[:j, j]).argmax())
        starts.append(j)
    return OptimalGroups(float(sums[-1]), tuple(start for start in starts[::-1] if start))


def _follows(ends: Floats, starts: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether the rates of the levels follow a shape; any rates follow the empty shape."""
    rows = ends[[*starts, -1]] - ends[[0, *starts]]
    steps = np.diff(rows[:, -1] / rows.sum(axis=1))
    at = 0
    for sign in shape:
        while at < len(steps) and sign * steps[at] >= 0:
            at += 1
    return not shape or at == len(steps)


@dataclass(frozen=True, eq=False)
class _Chains:
    """Candidate intervals: their ends, values and rates, and two sort orders."""

    live: Integers
    value: Floats
    rate: Floats
    by_start: Integers  # then by rate
    by_end: Integers
    n: int

    @classmethod
    def of(cls, value: Floats, ends: Floats, live: Integers) -> _Chains:
        """Sort the intervals by start and by end; equal ones by rate."""
        rows = ends[live[:, 1]] - ends[live[:, 0]]
        rate, own = rows[:, -1] / rows.sum(axis=1), value[live[:, 0], live[:, 1]]
        order = np.argsort(rate, kind="stable")
        sides = live[order].astype(np.uint16)  # radix sort: one pass
        by_start, by_end = (order[np.argsort(side, kind="stable")] for side in sides.T)
        return cls(live, own, rate, by_start, by_end, len(value) - 1)

    def search(self, shape: tuple[int, ...], most: int) -> OptimalGroups:
        """The best chain of adjacent intervals whose rates follow the shape."""
        from weigh.bins import kernels

        best = np.full((len(self.live), most, len(shape)), -np.inf)
        link = np.full(best.shape, -1, dtype=np.int64)
        orders, signs = (self.by_start, self.by_end), np.array(shape, dtype=np.float64)
        kernels.best_chain(self.live, *orders, self.value, self.rate, signs, best, link)
        return _trace(best, link, self.live, self.n)


def _trace(best: Floats, link: Integers, live: Integers, n: int) -> OptimalGroups:
    """The best chain, with the fewest intervals, traced back from the last."""
    phases = best.shape[2]
    last = np.flatnonzero(live[:, 1] == n)
    sums = best[last].max(axis=(0, 2), initial=-np.inf)
    if not np.isfinite(sums).any():
        return NONE
    k = int(np.flatnonzero(sums >= sums.max() - TINY)[0])
    e, phase = divmod(int(best[last, k].argmax()), phases)
    e, starts = int(last[e]), []
    for step in range(k, 0, -1):
        starts.append(int(live[e, 0]))
        e, phase = divmod(int(link[e, step, phase]), phases)
    return OptimalGroups(float(sums.max()), tuple(starts[::-1]))
