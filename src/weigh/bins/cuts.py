"""Cut points of a numeric column: Fayyad & Irani's entropy splits, quantiles, or given points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers

EQUALLY_GOOD = 1e-12
"""Entropies that differ by less, relative to N log2 N, are ties; the smallest cut wins."""


WHOLE = 1 << 22
"""Up to this total weight, n log2 n of whole numbers is looked up in a table."""

FEW = 4
"""Minimum rows per possible count for whole numbers to be counted instead of sorted."""


ROOMY = 128
"""About how many fine levels a column of a narrow table has. From this number on, the outer bins
are halved, and bins between frequent values hold at most 1/most of the rows. Wide tables have fewer
levels a column and keep to their number."""

LEAST, TIMES = 8.0, 8
"""Fewest rows of a half of an outer interval, and how often it is halved at most."""


@dataclass(frozen=True)
class Ordered:
    """A sorted column of numbers without missing values; infinities become the extreme values."""

    values: Floats
    order: Integers
    weight: Floats  # a single weight applies to every row

    @classmethod
    def of(cls, values: Floats, weight: Floats | None) -> Ordered:
        """Sort a column."""
        n_missing = int(np.isnan(values).sum())
        finite = np.isfinite(values)
        if finite.sum() + n_missing < len(values):
            counted = values[finite if weight is None else finite & (weight > 0)]
            ends = (counted.min(), counted.max()) if counted.size else (0.0, 0.0)
            values = np.clip(values, *ends)
        order = np.argsort(values)[: len(values) - n_missing]
        return cls(values, order, np.ones(1) if weight is None else weight)


@dataclass(frozen=True)
class Condensed:
    """The numbers of a column with the class and weight of each; weight None means one each."""

    values: Floats
    labels: Integers
    weight: Floats | None

    @classmethod
    def of(
        cls, values: Floats, weight: Floats | None, labels: Integers | None = None, n: int = 1
    ) -> Condensed:
        """Condense a column: few whole numbers become one weighted entry by number and class."""
        from weigh.bins import kernels

        own = np.zeros(1, dtype=np.int8) if labels is None else labels
        low, high = find_ends(values)
        finite = np.isfinite(low) and np.isfinite(high)
        if weight is None and finite and FEW * n * (high - low + 1) <= len(values):
            counts = np.zeros((int(high - low) + 1, n))
            if kernels.count_whole(values, low, own, counts):
                at, classes = np.nonzero(counts)
                return cls(low + at.astype(np.float64), classes, counts[at, classes])
        return cls(values, own, weight)


def find_ends(values: Floats) -> tuple[float, float]:
    """The lowest and the highest number; infinite if there are no numbers.

    >>> find_ends(np.array([2.0, np.nan, -1.0]))
    (-1.0, 2.0)
    """
    low = np.fmin.reduce(values, initial=np.inf)
    return float(low), float(np.fmax.reduce(values, initial=-np.inf))


def midpoint(lower: float, upper: float) -> float:
    """Midpoint of two numbers without overflow; the lower one if it would round to the upper.

    It has 15 digits if that many tell it from the two: a cut at 1.2999999999999998 would be written
    as 1.3, and 1.3 would not be in the bin up to 1.3.

    >>> midpoint(3.0, 4.0), midpoint(1e308, 1.5e308), midpoint(1.0, 1.0 + 2**-52)
    (3.5, 1.25e+308, 1.0)
    >>> (1.2 + 1.4) / 2, midpoint(1.2, 1.4)
    (1.2999999999999998, 1.3)
    """
    middle = (lower + upper) / 2
    if np.isinf(middle):
        middle = lower / 2 + upper / 2
    short = float(f"{middle:.15g}")
    return next((cut for cut in (short, middle) if lower <= cut < upper), lower)


def quantile_cuts(values: Floats, weight: Floats | None, n_bins: int) -> tuple[float, ...]:
    """Cut where the cumulative weight reaches 1/n_bins, 2/n_bins, ... of the total."""
    distinct, weights = _sum_equal(values, weight)
    cumulative, n = np.cumsum(weights), len(distinct)
    if n < 2:
        return ()
    wanted = cumulative[-1] * np.arange(1, n_bins)
    places = np.unique(np.searchsorted(cumulative * n_bins, wanted)).tolist()
    return tuple(midpoint(*distinct[g : g + 2].tolist()) for g in places if g + 1 < n)


def fine_cuts(values: Floats, weight: Floats | None, most: int) -> tuple[float, ...]:
    """Cut into about `most` intervals; a value with over 1/most of the weight gets its own.

    If there are at most `most` distinct values, each gets its own interval. Otherwise the values
    between the frequent ones are cut into intervals of about equal weight. There can be more than
    `most` intervals only if more than half of `most` values are frequent, because each of them
    separates its neighbours.

    If `most` is at least `ROOMY`, these intervals have at most about 1/most of the weight, and the
    first and the last one, in which numbers lie far apart, are halved again and again. Then there
    can be more of them.
    """
    distinct, weights = _sum_equal(values, weight)
    places = fine_places(weights, most)
    return tuple(midpoint(*distinct[g : g + 2].tolist()) for g in places)


def _sum_equal(values: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """The distinct numbers of a column, in order, and the weight of each."""
    from weigh.bins import kernels

    few = Condensed.of(values, weight)
    column = Ordered.of(few.values, few.weight)
    distinct, weights = np.empty(len(column.order)), np.zeros((len(column.order), 1))
    parts = column.values, column.order, np.zeros(1, np.int64), column.weight
    n = kernels.count_equal(*parts, distinct, weights)
    return distinct[:n], weights[:n, 0]


def fine_places(weights: Floats, most: int) -> list[int]:
    """Indices of the sorted distinct values after which `fine_cuts` cuts, from their weights."""
    if most < ROOMY or len(weights) <= most:
        return fill_places(weights, most)
    return _halve_ends(weights, fill_places(weights, most, even=True))


def fill_places(weights: Floats, most: int, even: bool = False) -> list[int]:
    """Indices after which to cut: around frequent values, and others by about equal weight.

    If `even`, no interval between frequent values has much more than 1/most of the weight.
    """
    from weigh.bins import kernels

    n, total = len(weights), weights.sum()
    if n <= most:
        return [*range(n - 1)]
    own = weights * most > total
    rest = np.where(own, 0.0, weights)
    n_bins = max(most - 2 * int(own.sum()), 1)  # each frequent value splits the rest
    if even:
        n_bins = max(int(np.ceil(rest.sum() * most / total)), n_bins)
    found: list[int] = np.flatnonzero(kernels.fill_bins(rest, own, n_bins)).tolist()
    return found


def _halve_ends(weights: Floats, places: list[int]) -> list[int]:
    """Halve the first and the last interval, then their outer halves, and so on."""
    last, first = places[-1] + 1, places[0] + 1
    upper = [last + place for place in _halve(weights[last:])]
    lower = [first - 2 - place for place in _halve(weights[:first][::-1])]
    return [*lower[::-1], *places, *upper]


def _halve(weights: Floats) -> list[int]:
    """Indices after which to cut, so that each cut leaves at most half of what is left."""
    cumulative, done, found = np.cumsum(weights), 0.0, list[int]()
    while len(found) < TIMES:
        place = int(np.searchsorted(cumulative, (cumulative[-1] + done) / 2))
        done = float(cumulative[place])
        if cumulative[-1] - done < LEAST:
            break
        found.append(place)
    return found


def mdl_cuts(
    values: Floats, labels: Integers, weight: Floats | None, n_classes: int
) -> tuple[float, ...]:
    """Cut points by class entropy, with the MDL stopping rule of Fayyad & Irani (1993).

    A split of S into S1 and S2 is kept if

        Gain > log2(N - 1)/N + (log2(3^k - 2) - k Ent(S) + k1 Ent(S1) + k2 Ent(S2))/N

    with N rows (or their weight) and k, k1, k2 classes present. Of equally good splits the one at
    the smallest value is used.
    """
    from weigh.bins import kernels

    few = Condensed.of(values, weight, labels, n_classes)
    column = Ordered.of(few.values, few.weight)
    ends, counts = np.empty((len(column.order), 2)), np.zeros((len(column.order), n_classes))
    n = kernels.group_runs(column.values, column.order, few.labels, column.weight, ends, counts)
    cumulative = np.zeros((n + 1, n_classes))
    np.cumsum(counts[:n], axis=0, out=cumulative[1:])
    table = _whole_table(cumulative)
    return tuple(
        midpoint(float(ends[r - 1, 1]), float(ends[r, 0])) for r in _split(cumulative, table)
    )


def _whole_table(cumulative: Floats) -> Floats:
    """Table of n log2 n for every possible n; empty if weights are fractional or runs are few."""
    total = cumulative[-1].sum()
    if total > min(WHOLE, FEW * cumulative.size) or (cumulative != np.floor(cumulative)).any():
        return np.empty(0)
    n = np.arange(total + 1)
    return n * np.log2(np.maximum(n, 1))


def _split(cumulative: Floats, table: Floats) -> list[int]:
    from weigh.bins import kernels

    found, segments = [], [(0, len(cumulative) - 1)]
    while segments:
        start, stop = segments.pop()
        split = kernels.best_split(cumulative, start, stop, EQUALLY_GOOD, table)
        if split > 0 and _pays(cumulative[[start, split, stop]]):
            found.append(split)
            segments += [(start, split), (split, stop)]
    return sorted(found)


def _pays(cumulative: Floats) -> bool:
    whole, parts = cumulative[2] - cumulative[0], np.diff(cumulative, axis=0)
    n, k = whole.sum(), _present(whole)
    if n <= 1:
        return False
    gain = _entropy(whole) - sum(part.sum() * _entropy(part) for part in parts) / n
    inner = sum(_present(part) * _entropy(part) for part in parts)
    log_3k_2 = k * np.log2(3.0) + np.log2(1 - 2 * 3.0**-k)  # log2(3^k - 2) for any k
    delta = log_3k_2 - k * _entropy(whole) + inner
    cost = np.log2(max(n - 1, 1.0))  # at least 0, if the total weight is below 2
    return bool(gain > (cost + delta) / n)


def _present(counts: Floats) -> int:
    return int((counts > 0).sum())


def _entropy(counts: Floats) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum())


def check_cuts(cuts: Any, name: str) -> tuple[float, ...]:
    """Check given cut points: finite and strictly increasing."""
    try:
        given = np.asarray(cuts, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.array([np.nan])
    if given.ndim != 1 or not np.isfinite(given).all() or (np.diff(given) <= 0).any():
        raise ValueError(
            f"bins for column {name!r} must be finite cut points in increasing order, got {cuts!r}"
        )
    return tuple((given + 0.0).tolist())  # -0.0 is 0.0
