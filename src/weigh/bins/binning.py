"""Binning: how a numeric column is cut, and the cut points of the largest information value."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from weigh.bins.cuts import Ordered, fine_cuts, midpoint
from weigh.frames import Floats, Integers

Trend: TypeAlias = Literal["free", "monotone", "rising", "falling", "peak", "valley"]
TRENDS = {
    "free": ((),),
    "monotone": ((1,), (-1,)),
    "rising": ((1,),),
    "falling": ((-1,),),
    "peak": ((1, -1),),
    "valley": ((-1, 1),),
}
"""By trend, the shapes that are tried: the directions of the rate of the second class, in turn."""

PARTS = 512
"""Intervals that cut points are chosen from; all distinct values where there are no more."""


@dataclass(frozen=True)
class Binning:
    """Limits for the bins of a numeric column; within them the information value is largest.

    IV = sum over levels of (share of class 1 - share of class 0) ln(share of class 1/share of
    class 0)

    The cut points are optimal (dynamic programming, exact) among all distinct values, or, with more
    than 512, among the limits of 512 bins of about equal size. Every bin has rows of every class.

    Parameters
    ----------
    max_levels : int, default=6
        Largest number of bins; missing and special codes are extra levels.
    min_share : float, default=0.05
        Smallest share of the rows (those with a number) in a bin.
    min_class_share : float, default=0
        Smallest share of the rows of each class in a bin.
    trend : str, default="free"
        Trend of the rate of the second class from bin to bin: "monotone" (rise or fall, whichever
        has the larger IV), "rising", "falling", "peak" (rise, then fall), "valley" (fall, then
        rise), or "free". A trend needs two classes.

    Examples
    --------
    >>> import weigh
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> rule = weigh.Binning(max_levels=3, trend="monotone")
    >>> model = weigh.EvidenceNB(bins=rule).fit(X[["mean radius"]], y)
    >>> model.evidence_["mean radius"].labels
    ('<= 13.095', '(13.095, 16.925]', '> 16.925')
    """

    max_levels: int = 6
    min_share: float = 0.05
    min_class_share: float = 0.0
    trend: Trend = "free"

    def __post_init__(self) -> None:
        whole = isinstance(self.max_levels, int | np.integer)
        if not whole or isinstance(self.max_levels, bool) or self.max_levels < 1:
            raise ValueError(
                f"max_levels must be a whole number of at least 1, got {self.max_levels!r}"
            )
        for name in ("min_share", "min_class_share"):
            value = getattr(self, name)
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not (number and 0 <= value <= 1):
                raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")
        if self.trend not in TRENDS:
            raise ValueError(f"trend must be one of {', '.join(TRENDS)}, got {self.trend!r}")

    def cut(
        self, values: Floats, labels: Integers, weight: Floats | None, n_classes: int
    ) -> tuple[float, ...]:
        """The cut points of a column."""
        if self.trend != "free" and n_classes != 2:
            raise ValueError(
                f"trend={self.trend!r} needs two classes, and there are {n_classes}; use 'free'"
            )
        return best_cuts(self, *count_parts(values, labels, weight, n_classes))


def count_parts(
    values: Floats, labels: Integers, weight: Floats | None, n_classes: int
) -> tuple[Floats, Floats]:
    """The rows of each class between candidates for cut points, and these."""
    column = Ordered.of(values, weight)
    known = ~np.isnan(column.values)
    own = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=np.float64)
    distinct = np.unique(column.values[known & (own > 0)])
    if len(distinct) <= PARTS:
        cuts = [midpoint(a, b) for a, b in itertools.pairwise(distinct)]
    else:
        cuts = [*fine_cuts(values, weight, PARTS)]
    places = np.searchsorted(np.array(cuts), column.values[known])
    cells = places * n_classes + labels[known]
    counts = np.bincount(cells, own[known], (len(cuts) + 1) * n_classes)
    return np.asarray(counts, dtype=np.float64).reshape(-1, n_classes), np.array(cuts)


def best_cuts(rule: Binning, counts: Floats, cuts: Floats) -> tuple[float, ...]:
    """The candidates whose intervals have the largest information value within the limits."""
    if not counts.sum(axis=0).all():
        return ()
    search = _Search.of(rule, counts)
    found = [search.run(shape, rule.max_levels) for shape in TRENDS[rule.trend]]
    value, starts = max(found, key=lambda one: (one[0], -len(one[1])))
    return tuple(float(cuts[start - 1]) for start in starts) if value > 0 else ()


@dataclass(frozen=True, eq=False)
class _Search:
    """All intervals [i, j) of parts: their information value and the rate of the second class.

    An interval outside the limits has the value minus infinity.
    """

    value: Floats
    rate: Floats

    @classmethod
    def of(cls, rule: Binning, counts: Floats) -> _Search:
        """Every interval, from cumulative counts."""
        ends = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
        inside = ends[None, :, :] - ends[:, None, :]  # [i, j): rows of each class
        rows, total = inside.sum(axis=2), ends[-1]
        share = inside / total
        kept = (share > 0).all(axis=2) & (share >= rule.min_class_share - TINY).all(axis=2)
        kept &= rows >= rule.min_share * total.sum() * (1 - TINY)
        logs = np.log(np.where(kept[:, :, None], share, 1.0))
        spread = logs - logs.mean(axis=2, keepdims=True)
        value = 2 / (counts.shape[1] - 1) * (share * spread).sum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = inside[:, :, -1] / rows
        return cls(np.where(kept, value, -np.inf), np.where(kept, rate, 0.0))

    def run(self, shape: tuple[int, ...], most: int) -> tuple[float, list[int]]:
        """The largest sum over at most so many intervals, and the starts of all but the first.

        best[k, p, i, j] is the largest sum of k + 1 intervals of which the last is [i, j), in phase
        p of the shape. Before it stands an interval [h, i) whose rate the shape allows: the best of
        those is a running maximum in the order of their rates. A shape of two directions turns
        once.
        """
        n = len(self.value) - 1
        best = np.full((min(most, n), max(len(shape), 1), n + 1, n + 1), -np.inf)
        best[0, 0, 0] = self.value[0]
        for i in range(1, n if len(best) > 1 else 1):
            for phase in range(best.shape[1]):
                before = self._before(best[:-1], shape, phase, i)
                best[1:, phase, i, i + 1 :] = before + self.value[i, i + 1 :]
        return self._trace(best, shape)

    def _before(self, best: Floats, shape: tuple[int, ...], phase: int, i: int) -> Floats:
        """By number of intervals, the best sum that ends at i and may stand before each [i, j)."""
        phases = slice(max(phase - 1, 0), phase + 1)
        sums = best[:, phases, :i, i].reshape(len(best), -1)
        if not shape:
            return np.asarray(sums.max(axis=1, keepdims=True))
        rates = shape[phase] * np.tile(self.rate[:i, i], phases.stop - phases.start)
        order = np.argsort(rates, kind="stable")
        running = np.maximum.accumulate(sums[:, order], axis=1)
        at = np.searchsorted(rates[order], shape[phase] * self.rate[i, i + 1 :], side="right") - 1
        return np.where(at >= 0, running[:, np.maximum(at, 0)], -np.inf)

    def _trace(self, best: Floats, shape: tuple[int, ...]) -> tuple[float, list[int]]:
        """The best sum, of as few intervals as reach it, from its last interval back."""
        n = best.shape[-1] - 1
        ends = best[..., n].max(axis=(1, 2))
        if not np.isfinite(ends).any():
            return -np.inf, []
        k = int(np.flatnonzero(ends >= ends.max() - TINY)[0])
        phase, i = divmod(int(best[k, :, :, n].argmax()), n + 1)
        starts, j = [], n
        while k > 0:
            starts.append(i)
            phases = range(max(phase - 1, 0), phase + 1)
            allowed = np.ones(i, dtype=np.bool_)
            if shape:
                allowed = shape[phase] * self.rate[:i, i] <= shape[phase] * self.rate[i, j]
            sums = np.where(allowed, best[k - 1, phases, :i, i], -np.inf)
            turned, h = divmod(int(sums.argmax()), i)
            k, j, i, phase = k - 1, i, h, phases[turned]
        return float(ends.max()), starts[::-1]


TINY = 1e-12
"""Shares within rounding of a limit are at the limit, and sums within it are equal."""
