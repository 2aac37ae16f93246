"""Compiled loops of the exact AUC: split sorted rows by level, merge them, count pairs."""

from typing import Any

import numpy as np

from weigh.kernels import compiled


@compiled
def part(
    keys: Any, rows: Any, codes: Any, shift: Any, places: Any, out_keys: Any, out_rows: Any
) -> None:
    """Add to each row's key the shift of its code, and group the rows by code in a stable order.

    places[c] is where the rows of code c begin; on return, where they end. If keys ascend, they
    still ascend within each code, because all keys of a code change by the same number.
    """
    for i in range(keys.shape[0]):
        row = rows[i]
        code = codes[row]
        place = places[code]
        places[code] = place + 1
        out_keys[place] = keys[i] + shift[code]
        out_rows[place] = row


@compiled
def merge_pair(
    keys: Any, rows: Any, start: int, middle: int, stop: int, out_keys: Any, out_rows: Any
) -> None:
    """Merge the ascending runs [start, middle) and [middle, stop)."""
    i, j, place = start, middle, start
    while i < middle and j < stop:
        second = keys[j] < keys[i]
        source = j if second else i
        out_keys[place] = keys[source]
        out_rows[place] = rows[source]
        j += second
        i += 1 - second
        place += 1
    while i < middle:
        out_keys[place] = keys[i]
        out_rows[place] = rows[i]
        i += 1
        place += 1
    while j < stop:
        out_keys[place] = keys[j]
        out_rows[place] = rows[j]
        j += 1
        place += 1


@compiled
def merge_runs(keys: Any, rows: Any, ends: Any, other_keys: Any, other_rows: Any) -> bool:
    """Merge ascending runs in pairs until one is left; return whether it is in the other arrays.

    ends[r] is where run r ends; the array is overwritten.
    """
    n_runs, elsewhere = ends.shape[0], False
    while n_runs > 1:
        start, left = 0, 0
        for r in range(0, n_runs, 2):
            middle = ends[r]
            stop = ends[r + 1] if r + 1 < n_runs else middle
            if elsewhere:
                merge_pair(other_keys, other_rows, start, middle, stop, keys, rows)
            else:
                merge_pair(keys, rows, start, middle, stop, other_keys, other_rows)
            ends[left] = stop
            start, left = stop, left + 1
        n_runs, elsewhere = left, not elsewhere
    return elsewhere


@compiled
def auc(keys: Any, rows: Any, counts: Any) -> float:
    """AUC: the share of pairs in which the second class ranks above the first; ties count half.

    counts[row] holds the row's weight in each class; keys ascend.
    """
    below, above, pairs, i = 0.0, 0.0, 0.0, 0
    while i < keys.shape[0]:
        key, first, second = keys[i], counts[rows[i], 0], counts[rows[i], 1]
        i += 1
        while i < keys.shape[0] and keys[i] == key:
            first += counts[rows[i], 0]
            second += counts[rows[i], 1]
            i += 1
        pairs += second * (below + 0.5 * first)
        below += first
        above += second
    return pairs / (below * above)


@compiled
def count_above(keys: Any, rows: Any, classes: Any, weight: Any, of: int, out: Any) -> None:
    """Add to out[k] the weight of pairs with class `of` ranked above class k; ties count half."""
    below, tied, i = np.zeros(out.shape[0]), np.zeros(out.shape[0]), 0
    while i < keys.shape[0]:
        first = i
        while i < keys.shape[0] and (i == first or keys[i] == keys[first]):
            tied[classes[rows[i]]] += weight[rows[i]]
            i += 1
        if tied[of] > 0:
            for k in range(out.shape[0]):
                out[k] += tied[of] * (below[k] + 0.5 * tied[k])
        for same in range(first, i):
            row = rows[same]
            below[classes[row]] += weight[row]
            tied[classes[row]] = 0.0
