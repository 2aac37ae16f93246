"""Binning: constraints on the levels of a column, and the levels of largest information value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins.cuts import Ordered, check_cuts, fill_places, midpoint
from weigh.bins.labels import to_right_closed
from weigh.bins.optimal import TINY, Limits, OptimalGroups, best_levels, rank
from weigh.frames import is_count, is_number

Trend: TypeAlias = Literal["free", "monotone", "rising", "falling", "peak", "valley"]
TRENDS = {
    "free": ((),),
    "monotone": ((1,), (-1,)),
    "rising": ((1,),),
    "falling": ((-1,),),
    "peak": ((1, -1),),
    "valley": ((-1, 1),),
}
"""For each trend, the shapes to try: successive directions (1 up, -1 down) of the rate of the
second class."""

EXACT = 512
"""Up to this many distinct values, every boundary between them is a candidate cut point."""

PARTS, LEAVES, NEAR, ROUNDS = 256, 32, 128, 8
"""With more values, the search starts from the boundaries of PARTS bins and of a tree of LEAVES
leaves. Each of up to ROUNDS further rounds adds about NEAR candidates near the cut points chosen so
far."""


@dataclass(frozen=True)
class Binning:
    """Bins of largest information value (IV), subject to constraints on the levels of a column.

    IV = sum over levels of (share of class 1 - share of class 0) ln(share of class 1/share of
    class 0)

    The cut points of numbers are optimal (dynamic programming, exact) among all distinct values.
    With more than 512, they are optimal among the boundaries of 256 bins of about equal size and of
    the leaves of a decision tree. Further rounds then try closer and closer values near the cut
    points chosen. Every level has rows of every class.

    With two classes, categories are ordered by the rate of the second class and joined in the same
    way. Without minimum shares no other grouping has a larger IV, if every category has rows of
    both classes. Ordered categories keep their order. With more than two classes only ordered
    categories are joined. Categories without rows are not known.

    Parameters
    ----------
    max_levels : int, default=6
        Largest number of levels; missing and special codes are extra levels.
    min_share : float, default=0.05
        Smallest share of the rows (those with a value) in a level.
    min_class_share : float, default=0
        Smallest share of the rows of each class in a level.
    trend : str, default="free"
        Trend of the rate of the second class from level to level, for numbers and ordered
        categories: "monotone" (rise or fall, whichever has the larger IV), "rising", "falling",
        "peak" (rise, then fall), "valley" (fall, then rise), or "free". A trend needs two classes.
    closed : "right" or "left", default="right"
        Whether intervals include their upper limit, as (18, 65], or their lower limit, as [18, 65).
    cuts : sequence of float, optional
        Cut points of a numeric column, instead of optimal ones; the constraints are then not used.

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
    closed: Literal["right", "left"] = "right"
    cuts: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.cuts is not None:
            object.__setattr__(self, "cuts", check_cuts(self.cuts, "of a Binning"))
        if self.closed not in ("right", "left"):
            raise ValueError(f"closed must be 'right' or 'left', got {self.closed!r}")
        if not is_count(self.max_levels) or self.max_levels < 1:
            raise ValueError(
                f"max_levels must be a whole number of at least 1, got {self.max_levels!r}"
            )
        for name in ("min_share", "min_class_share"):
            value = getattr(self, name)
            if not (is_number(value) and 0 <= value <= 1):
                raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")
        if self.trend not in TRENDS:
            raise ValueError(f"trend must be one of {', '.join(TRENDS)}, got {self.trend!r}")

    @property
    def given(self) -> tuple[float, ...] | None:
        """The given cut points, adjusted so that intervals include their upper limits."""
        if self.cuts is None:
            return None
        return to_right_closed(self.cuts) if self.closed == "left" else (*self.cuts,)

    def cut(
        self, values: Floats, labels: Integers, weight: Floats | None, n_classes: int
    ) -> tuple[float, ...]:
        """The cut points of a column."""
        self._check_classes(n_classes)
        return best_cuts(self, *count_values(values, labels, weight, n_classes))

    def join(self, counts: Floats, ordered: bool) -> list[list[int]]:
        """Group categories into levels, from the rows of each category and class.

        Categories without rows belong to no level.

        >>> rows = np.array([[40.0, 10.0], [10.0, 40.0], [41.0, 10.0], [0.0, 0.0]])
        >>> Binning(max_levels=2).join(rows, ordered=False)
        [[0, 2], [1]]
        """
        self._check_classes(counts.shape[1])
        used = np.flatnonzero(counts.any(axis=1))
        if not ordered and counts.shape[1] > 2:
            return [[place] for place in used.tolist()]
        if not ordered:
            rate = counts[used, 1] / counts[used].sum(axis=1)
            order = np.argsort(rate, kind="stable")
            used = used[order]
        shapes = TRENDS[self.trend] if ordered else TRENDS["free"]
        starts = best_starts(self, counts[used], shapes)
        return [sorted(part.tolist()) for part in np.split(used, starts) if len(part)]

    def _check_classes(self, n_classes: int) -> None:
        if n_classes < 2:
            raise ValueError(
                "bins holds a Binning, which needs classes, and the target is numeric; give a "
                "number of quantile bins or cut points"
            )
        if self.trend != "free" and n_classes != 2:
            raise ValueError(
                f"trend={self.trend!r} needs two classes, and there are {n_classes}; use 'free'"
            )

    def limits(self, totals: Floats, shapes: tuple[tuple[int, ...], ...]) -> Limits:
        """Constraints in rows, computed from the number of rows of each class."""
        within = 1 - TINY
        least = self.min_share * float(totals.sum()) * within
        return Limits(int(self.max_levels), least, self.min_class_share * totals * within, shapes)


def close_left(bins: Any) -> Any:
    """Close the intervals of bins on the left; `bins` is for one column, or a dict by column.

    Lists of categories are unchanged. Rules that can only include the upper limit are refused.

    >>> close_left({"age": [18, 65], "town": [["a", "b"], ["c"]]})["age"].closed
    'left'
    """
    if isinstance(bins, Mapping):
        return {name: close_left(rule) for name, rule in bins.items()}
    if isinstance(bins, Binning):
        return replace(bins, closed="left")
    if not isinstance(bins, Sequence | np.ndarray) or isinstance(bins, str):
        raise ValueError(
            f"closed='left' takes cut points or a Binning, got bins {bins!r}: intervals of this "
            "rule include their upper end"
        )
    listed = any(isinstance(item, list | tuple) for item in bins)
    return bins if listed else Binning(cuts=[*bins], closed="left")


def count_values(
    values: Floats, labels: Integers, weight: Floats | None, n_classes: int
) -> tuple[Floats, Floats]:
    """Rows by distinct value and class, in ascending order, and the distinct values."""
    from weigh.bins import kernels

    column = Ordered.of(values, weight)
    n = len(column.order)
    distinct, counts = np.empty(n), np.zeros((n, n_classes))
    n = kernels.count_equal(column.values, column.order, labels, column.weight, distinct, counts)
    return counts[:n], distinct[:n]


def best_cuts(rule: Binning, counts: Floats, values: Floats) -> tuple[float, ...]:
    """Cut points of largest information value, from the rows of each distinct value and class."""
    starts = best_starts(rule, counts, TRENDS[rule.trend])
    return tuple(midpoint(*values[start - 1 : start + 1].tolist()) for start in starts)


def best_starts(
    rule: Binning, counts: Floats, shapes: tuple[tuple[int, ...], ...]
) -> tuple[int, ...]:
    """Indices at which the best levels begin, without the first; empty if one level is best."""
    totals = counts.sum(axis=0)
    if not (len(counts) and totals.all()):
        return ()
    limits = rule.limits(totals, shapes)
    found = best_levels(limits, counts) if len(counts) <= EXACT else _zoom(limits, counts)
    return found.starts if found.value > 0 else ()


def _zoom(limits: Limits, counts: Floats) -> OptimalGroups:
    """Search a coarse set of candidate starts, then repeatedly finer ones near the best.

    The information value never falls from round to round.
    """
    fine = np.array([0, *(place + 1 for place in fill_places(counts.sum(axis=1), PARTS))])
    leaves = _grow_leaves(limits, counts)
    first = np.union1d(fine, leaves)
    found = _join_from(limits, counts, first)
    for _ in range(ROUNDS):
        closer = _between(first, found.starts, len(counts))
        if not closer:
            break
        first = np.unique(np.concatenate([fine[::2], leaves, found.starts, closer]).astype(int))
        found = max(found, _join_from(limits, counts, first, found.value), key=rank)
    return found


def _grow_leaves(limits: Limits, counts: Floats) -> Integers:
    from weigh.bins import kernels

    ends = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
    starts = np.empty(LEAVES, dtype=np.int64)
    return starts[: kernels.split_greedily(ends, limits.least_rows, starts)]


def _join_from(
    limits: Limits, counts: Floats, first: Integers, floor: float = -np.inf
) -> OptimalGroups:
    """The best levels among those that begin at the candidates `first`."""
    found = best_levels(limits, np.add.reduceat(counts, first), floor)
    return OptimalGroups(found.value, tuple(first[[*found.starts]].tolist()))


def _between(first: Integers, starts: tuple[int, ...], end: int) -> list[int]:
    """New candidates around each chosen start, up to the next candidates already tried."""
    tried, each, found = [*first.tolist(), end], NEAR // max(len(starts), 1), set()
    for place in np.searchsorted(first, starts).tolist():
        low, high = tried[place - 1] + 1, tried[place + 1] - 1
        found |= {*np.linspace(low, high, min(max(each, 2), high - low + 1)).round().tolist()}
    return sorted(found - {*starts})
