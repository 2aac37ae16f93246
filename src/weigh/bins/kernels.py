"""Compiled inner loops of optimal binning: values of intervals, and the best chain of intervals."""

from typing import Any

import numpy as np

from weigh.kernels import compiled


@compiled
def measure_intervals(ends: Any, least_rows: float, least_shares: Any, out: Any) -> None:
    """out[i, j]: the information value of joining the parts i to j - 1 into one level.

    `out` must hold minus infinity; intervals that violate the limits keep it. `ends` holds the
    cumulative rows of each class before each part.
    """
    n, n_classes = ends.shape[0] - 1, ends.shape[1]
    total = ends[n]
    logs = np.empty(n_classes)
    for i in range(n):
        for j in range(i + 1, n + 1):
            rows, kept = 0.0, True
            for c in range(n_classes):
                inside = ends[j, c] - ends[i, c]
                rows += inside
                kept &= inside > 0 and inside >= least_shares[c]
            if not (kept and rows >= least_rows):
                continue
            if n_classes == 2:
                a = (ends[j, 0] - ends[i, 0]) / total[0]
                b = (ends[j, 1] - ends[i, 1]) / total[1]
                out[i, j] = (b - a) * np.log(b / a)
                continue
            mean, value = 0.0, 0.0
            for c in range(n_classes):
                logs[c] = np.log((ends[j, c] - ends[i, c]) / total[c])
                mean += logs[c] / n_classes
            for c in range(n_classes):
                value += (ends[j, c] - ends[i, c]) / total[c] * (logs[c] - mean)
            out[i, j] = 2 / (n_classes - 1) * value


@compiled
def sum_chains(value: Any, before: Any, after: Any) -> None:
    """Largest sums of the values of adjacent intervals, without any trend.

    before[k, i] is the largest for at most k intervals from 0 to i, after[k, i] from i to the end.
    """
    n = value.shape[0] - 1
    for k in range(before.shape[0]):
        before[k, 0] = 0.0
        after[k, n] = 0.0
    for k in range(1, before.shape[0]):
        for i in range(n):
            before[k, i + 1] = before[k - 1, i + 1]
            after[k, i] = after[k - 1, i]
        for i in range(n):
            for j in range(i + 1, n + 1):
                before[k, j] = max(before[k, j], before[k - 1, i] + value[i, j])
                after[k, i] = max(after[k, i], after[k - 1, j] + value[i, j])


@compiled
def list_live(value: Any, before: Any, after: Any, floor: float, out: Any) -> int:
    """List intervals that can be part of a chain with sum >= `floor`; return their number."""
    n, most, found = value.shape[0] - 1, before.shape[0] - 1, 0
    for i in range(n):
        for j in range(i + 1, n + 1):
            if value[i, j] == -np.inf:
                continue
            bound = -np.inf
            for k in range(most):
                bound = max(bound, before[k, i] + after[most - 1 - k, j])
            if bound + value[i, j] >= floor:
                out[found, 0] = i
                out[found, 1] = j
                found += 1
    return found


@compiled
def best_chain(
    live: Any, by_start: Any, by_end: Any, value: Any, rate: Any, signs: Any, best: Any, link: Any
) -> None:
    """best[e, k, p]: the largest sum of k + 1 intervals of which the last is e, in phase p.

    Intervals are adjacent, and their rates rise (sign 1) or fall (sign -1) in phase p; a chain may
    enter the next phase at any interval. link[e, k, p] is the interval before e and its phase, as
    interval * phases + phase. `by_start` and `by_end` sort the intervals by start or end, then by
    rate.
    """
    n, most, phases = best.shape
    start, first = 0, 0
    while start < n and live[by_start[start], 0] == 0:
        best[by_start[start], 0, 0] = value[by_start[start]]
        start += 1
    while start < n:
        at = live[by_start[start], 0]
        stop = start
        while stop < n and live[by_start[stop], 0] == at:
            stop += 1
        while first < n and live[by_end[first], 1] < at:
            first += 1
        last = first
        while last < n and live[by_end[last], 1] == at:
            last += 1
        for p in range(phases):
            for k in range(most - 1):
                seen, top, top_link = 0, -np.inf, -1
                for b in range(stop - start):
                    e = by_start[start + b] if signs[p] > 0 else by_start[stop - 1 - b]
                    while seen < last - first:
                        h = by_end[first + seen] if signs[p] > 0 else by_end[last - 1 - seen]
                        if signs[p] * rate[h] > signs[p] * rate[e]:
                            break
                        for q in range(max(p - 1, 0), p + 1):
                            if best[h, k, q] > top:
                                top = best[h, k, q]
                                top_link = h * phases + q
                        seen += 1
                    if top_link >= 0:
                        best[e, k + 1, p] = top + value[e]
                        link[e, k + 1, p] = top_link
        start = stop


@compiled
def split_greedily(ends: Any, least: float, out: Any) -> int:
    """Starts of the leaves of a tree that splits greedily by Gini impurity.

    `ends` holds the cumulative rows of each class before each part. A leaf has at least `least`
    rows. Returns the number of leaves, at most the length of `out`.
    """
    n, n_classes = ends.shape[0] - 1, ends.shape[1]
    gain, place = np.zeros(out.shape[0]), np.zeros(out.shape[0], dtype=np.int64)
    stops = np.zeros(out.shape[0], dtype=np.int64)
    out[0], stops[0], leaves, leaf = 0, n, 1, 0
    while True:
        for side in range(2):  # the two new leaves; at first there is one
            at = leaf if side == 0 else leaves - 1
            gain[at] = 0.0
            a, b = out[at], stops[at]
            for i in range(a + 1, b):
                left, right, whole, fall = 0.0, 0.0, 0.0, 0.0
                for c in range(n_classes):
                    left += ends[i, c] - ends[a, c]
                    right += ends[b, c] - ends[i, c]
                if left < least or right < least:
                    continue
                for c in range(n_classes):
                    whole = ends[b, c] - ends[a, c]
                    fall += (ends[i, c] - ends[a, c]) ** 2 / left - whole**2 / (left + right)
                    fall += (ends[b, c] - ends[i, c]) ** 2 / right
                if fall > gain[at]:
                    gain[at], place[at] = fall, i
        leaf = int(np.argmax(gain[:leaves]))
        if leaves == out.shape[0] or gain[leaf] <= 0.0:
            return leaves
        out[leaves], stops[leaves], stops[leaf] = place[leaf], stops[leaf], place[leaf]
        leaves += 1
