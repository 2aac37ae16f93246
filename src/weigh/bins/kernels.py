"""Compiled loops over the values of a column: cut points, and the best chain of intervals."""

from typing import Any

import numpy as np

from weigh.kernels import compiled


@compiled
def count_whole(values: Any, low: float, labels: Any, out: Any) -> bool:
    """Count whole numbers from `low` on by class; False at the first that is not whole.

    Missing numbers are left out. A single label is that of all rows.
    """
    step = 1 if labels.shape[0] == values.shape[0] else 0
    for i in range(values.shape[0]):
        value = values[i]
        if value == value:
            at = int(value - low)
            if at != value - low:
                return False
            out[at, labels[i * step]] += 1.0
    return True


@compiled
def count_equal(values: Any, order: Any, labels: Any, weight: Any, distinct: Any, out: Any) -> int:
    """Sum weights by distinct value and class, in order; return the number of distinct values.

    A single label or weight is that of all rows. Rows of weight 0 are ignored, here and in
    `group_runs`.
    """
    step = 1 if weight.shape[0] == values.shape[0] else 0
    of_label = 1 if labels.shape[0] == values.shape[0] else 0
    last = -1
    for i in order:
        if weight[i * step] == 0:
            continue
        if last < 0 or values[i] != distinct[last]:
            last += 1
            distinct[last] = values[i]
        out[last, labels[i * of_label]] += weight[i * step]
    return last + 1


@compiled
def fill_bins(rest: Any, own: Any, n_bins: int) -> Any:
    """Mark the values after which to cut: `own` values get their own bin, the rest equal weights.

    A bin ends where the cumulative rest reaches the next multiple of 1/n_bins of its total. An
    excess of one bin is thus made up by the next, and there are at most n_bins bins. Whole weights
    are compared exactly.
    """
    cuts = np.zeros(rest.shape[0] - 1, dtype=np.bool_)
    filled, total, done = 0.0, rest.sum(), 0.0
    for i in range(rest.shape[0] - 1):
        filled += rest[i]
        if own[i] or own[i + 1] or filled * n_bins >= total * (done + 1.0):
            cuts[i] = True
            if total > 0.0:
                done = np.floor(filled * n_bins / total)
    return cuts


@compiled
def group_runs(values: Any, order: Any, labels: Any, weight: Any, ends: Any, out: Any) -> int:
    """Class weights of runs of values between which a cut may be best; return their number.

    Neighbouring values whose rows are all of the same class form one run, because no cut inside it
    can be the best (Fayyad & Irani 1992). ends[r] holds the first and last value of run r.
    """
    step = 1 if weight.shape[0] == values.shape[0] else 0
    last, pure_before, pure = -1, -1, -1  # the only class of a value; -1: none or several
    for i in order:
        if weight[i * step] == 0:
            continue
        label: Any = np.int64(labels[i])
        if last < 0 or values[i] != ends[last, 1]:
            if last > 0 and pure >= 0 and pure == pure_before:
                ends[last - 1, 1] = ends[last, 1]
                out[last - 1] += out[last]
                out[last] = 0.0
            else:
                last += 1
                pure_before = pure
            ends[last, 0] = ends[last, 1] = values[i]
            pure = label
        elif pure != label:
            pure = -1
        out[last, label] += weight[i * step]
    if last > 0 and pure >= 0 and pure == pure_before:
        ends[last - 1, 1] = ends[last, 1]
        out[last - 1] += out[last]
        last -= 1
    return last + 1


@compiled
def _n_log_n(n: float, table: Any) -> float:
    """Return n log2 n, from the table if it is long enough (for whole weights)."""
    if n < table.shape[0]:
        return table[int(n)]  # type: ignore[no-any-return]
    return n * np.log2(n) if n > 0 else 0.0


@compiled
def best_split(cumulative: Any, start: int, stop: int, equally_good: float, table: Any) -> int:
    """Best cut of runs [start, stop) by class entropy, the first of equally good ones; -1 if none.

    `cumulative[r]` holds the class weights of all runs before r. The cut at r puts runs [start, r)
    on the left. `table[n]` is n log2 n for whole weights; it is empty for fractional weights.
    """
    if stop - start < 2:
        return -1
    n_classes = cumulative.shape[1]
    entropies = np.empty(stop - start - 1)
    whole = 0.0
    for r in range(start + 1, stop):
        left, right, inner = 0.0, 0.0, 0.0
        for k in range(n_classes):
            below = cumulative[r, k] - cumulative[start, k]
            above = cumulative[stop, k] - cumulative[r, k]
            left += below
            right += above
            inner += _n_log_n(below, table) + _n_log_n(above, table)
        whole = left + right
        entropies[r - start - 1] = _n_log_n(left, table) + _n_log_n(right, table) - inner
    limit = entropies.min() + equally_good * whole * max(np.log2(whole), 1.0)
    for r in range(entropies.shape[0]):
        if entropies[r] <= limit:
            return start + 1 + r
    return -1


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
