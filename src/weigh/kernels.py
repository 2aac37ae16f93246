"""The hot loops: plain functions on arrays, compiled by numba at their first call.

Nothing here knows of features or levels. Importing this module loads numba, so callers import it
where they use it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without the interpreter lock, cached on disk where the disk allows it."""
    try:
        return njit(nogil=True, cache=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder that numba may write its cache to
        return njit(nogil=True)(function)  # type: ignore[no-any-return]


@compiled
def count(codes: Any, classes: Any, out: Any) -> None:
    """Add one to out[code, class] for each row."""
    for i in range(codes.shape[0]):
        out[codes[i], classes[i]] += 1


@compiled
def count_weighted(codes: Any, classes: Any, weight: Any, out: Any) -> None:
    """Add the row's weight to out[code, class] for each row."""
    for i in range(codes.shape[0]):
        out[codes[i], classes[i]] += weight[i]


@compiled
def add_one(totals: Any, codes: Any, weights: Any) -> None:
    """Add weights[code] to the total of each row: one column of totals."""
    for i in range(codes.shape[0]):
        totals[i, 0] += weights[codes[i], 0]


@compiled
def add_many(totals: Any, codes: Any, weights: Any) -> None:
    """Add weights[code] to the totals of each row: one column per class."""
    for i in range(codes.shape[0]):
        code = codes[i]
        for k in range(weights.shape[1]):
            totals[i, k] += weights[code, k]


@compiled
def logistic(totals: Any, out: Any) -> None:
    """Turn log odds into the probabilities of both classes, without overflow or cancellation."""
    for i in range(totals.shape[0]):
        small = np.exp(-abs(totals[i, 0]))
        winner = 1 if totals[i, 0] >= 0 else 0
        out[i, winner] = 1.0 / (1.0 + small)
        out[i, 1 - winner] = small / (1.0 + small)


@compiled
def softmax(totals: Any, out: Any) -> None:
    """Turn one total per class into probabilities."""
    n_classes = totals.shape[1]
    for i in range(totals.shape[0]):
        top = totals[i, 0]
        for k in range(1, n_classes):
            top = max(top, totals[i, k])
        norm = 0.0
        for k in range(n_classes):
            out[i, k] = np.exp(totals[i, k] - top)
            norm += out[i, k]
        for k in range(n_classes):
            out[i, k] /= norm


@compiled
def digitize(values: Any, cuts: Any, specials: Any, missing: int, out: Any) -> None:
    """Code a number by the count of cuts below it; special codes follow; NaN gets `missing`."""
    for i in range(values.shape[0]):
        value = values[i]
        if np.isnan(value):
            out[i] = missing
            continue
        low, high = 0, cuts.shape[0]
        while low < high:
            middle = (low + high) // 2
            if cuts[middle] < value:
                low = middle + 1
            else:
                high = middle
        for s in range(specials.shape[0]):
            if value == specials[s]:
                low = cuts.shape[0] + 1 + s
        out[i] = low


@compiled
def group_equal(values: Any, order: Any, classes: Any, weight: Any, distinct: Any, out: Any) -> int:
    """Sum class weights over equal values, in order; return how many distinct values there are.

    Rows of no weight are passed over, so that a weight of zero is a row that is not there.
    """
    last = -1
    for position in range(order.shape[0]):
        i = order[position]
        if weight[i] == 0:
            continue
        if last < 0 or values[i] != distinct[last]:
            last += 1
            distinct[last] = values[i]
        out[last, classes[i]] += weight[i]
    return last + 1


@compiled
def _entropy_sum(counts: Any) -> float:
    """N times the class entropy in bits: N log N - sum n log n."""
    total, inner = 0.0, 0.0
    for k in range(counts.shape[0]):
        if counts[k] > 0:
            total += counts[k]
            inner += counts[k] * np.log2(counts[k])
    return total * np.log2(total) - inner if total > 0 else 0.0


@compiled
def best_split(cumulative: Any, start: int, stop: int, equally_good: float) -> int:
    """The smallest of the equally good cuts of groups [start, stop), by class entropy; -1 if none.

    `cumulative[g]` holds the class weights of all groups before g. The cut at g puts groups
    [start, g) on the left.
    """
    n_classes = cumulative.shape[1]
    left, right = np.empty(n_classes), np.empty(n_classes)
    entropies = np.empty(max(stop - start - 1, 0))
    total = 0.0
    for k in range(n_classes):
        total += cumulative[stop, k] - cumulative[start, k]
    for g in range(start + 1, stop):
        for k in range(n_classes):
            left[k] = cumulative[g, k] - cumulative[start, k]
            right[k] = cumulative[stop, k] - cumulative[g, k]
        entropies[g - start - 1] = _entropy_sum(left) + _entropy_sum(right)
    if entropies.size == 0:
        return -1
    limit = entropies.min() + equally_good * total * max(np.log2(total), 1.0)
    for g in range(entropies.size):
        if entropies[g] <= limit:
            return start + 1 + g
    return -1
