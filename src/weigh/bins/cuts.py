"""Where to cut a numeric column: Fayyad & Irani's entropy splits, quantiles, or given points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.frames import Floats, Integers

EQUALLY_GOOD = 1e-12
"""Entropies that differ by less, relative to N log2 N, are ties; the smallest cut wins."""


@dataclass(frozen=True)
class Groups:
    """The distinct finite values of a column in order, and the class weights of each."""

    values: Floats
    counts: Floats

    def cut_after(self, group: int) -> float:
        """The midpoint between a group and the next."""
        return midpoint(float(self.values[group]), float(self.values[group + 1]))


def group(values: Floats, labels: Integers, weight: Floats | None, n_classes: int) -> Groups:
    """Sort a column into distinct values; NaN is left out, infinities join the outermost values."""
    from weigh import kernels

    keep = ~np.isnan(values)
    values, labels = values[keep], labels[keep]
    finite = values[np.isfinite(values)]
    if finite.size < values.size:
        ends = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
        values = np.clip(values, *ends)
    weight = np.ones(len(values)) if weight is None else weight[keep]
    distinct, counts = np.empty(len(values)), np.zeros((len(values), n_classes))
    n = kernels.group_equal(values, np.argsort(values), labels, weight, distinct, counts)
    return Groups(distinct[:n], counts[:n])


def midpoint(lower: float, upper: float) -> float:
    """Halfway, without overflow; the lower value where halfway rounds to the upper one.

    >>> midpoint(3.0, 4.0), midpoint(1e308, 1.5e308), midpoint(1.0, 1.0 + 2**-52)
    (3.5, 1.25e+308, 1.0)
    """
    same_sign = (lower < 0) == (upper < 0)
    middle = lower + (upper - lower) / 2 if same_sign else (lower + upper) / 2
    return middle if middle < upper else lower


def quantile_cuts(groups: Groups, n_bins: int) -> tuple[float, ...]:
    """Cut where the cumulative weight reaches 1/n_bins, 2/n_bins, ... of the total."""
    cumulative = np.cumsum(groups.counts.sum(axis=1))
    if not len(cumulative):
        return ()
    wanted = cumulative[-1] * np.arange(1, n_bins)
    places = np.unique(np.searchsorted(cumulative * n_bins, wanted))
    return tuple(groups.cut_after(g) for g in places if g + 1 < len(cumulative))


def mdl_cuts(groups: Groups) -> tuple[float, ...]:
    """Fayyad & Irani (1993): split where class entropy falls most, while a shorter message pays.

    A split of S into S1 and S2 is kept if

        Gain > log2(N - 1)/N + (log2(3^k - 2) - k Ent(S) + k1 Ent(S1) + k2 Ent(S2))/N

    with N rows (or their weight) and k, k1, k2 classes present. Only boundary points, where the
    class can change, need be tried (their theorem 1).
    """
    if len(groups.values) < 2:
        return ()
    ends = _boundaries(groups.counts)
    cumulative = np.zeros((len(ends) + 1, groups.counts.shape[1]))
    runs = np.add.reduceat(groups.counts, np.r_[0, ends[:-1] + 1], axis=0)
    np.cumsum(runs, axis=0, out=cumulative[1:])
    return tuple(groups.cut_after(int(ends[split - 1])) for split in _split(cumulative))


def _boundaries(counts: Floats) -> Integers:
    """The last group of each run of groups that hold one and the same class alone."""
    pure = (counts > 0).sum(axis=1) == 1
    winner = counts.argmax(axis=1)
    same = pure[1:] & pure[:-1] & (winner[1:] == winner[:-1])
    return np.append(np.flatnonzero(~same), len(counts) - 1)


def _split(cumulative: Floats) -> list[int]:
    from weigh import kernels

    found, segments = [], [(0, len(cumulative) - 1)]
    while segments:
        start, stop = segments.pop()
        split = kernels.best_split(cumulative, start, stop, EQUALLY_GOOD)
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
    return bool(gain > (np.log2(n - 1) + delta) / n)


def _present(counts: Floats) -> int:
    return int((counts > 0).sum())


def _entropy(counts: Floats) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum())


def check_cuts(cuts: Any, name: str) -> tuple[float, ...]:
    """Given cut points: finite, strictly increasing."""
    given = np.asarray(cuts, dtype=np.float64)
    if given.ndim != 1 or not np.isfinite(given).all() or (np.diff(given) <= 0).any():
        raise ValueError(
            f"bins for column {name!r} must be finite cut points in increasing order, got {cuts!r}"
        )
    return tuple(given.tolist())
