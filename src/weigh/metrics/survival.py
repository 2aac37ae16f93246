"""Survival: the Kaplan-Meier estimator, concordance, and the Brier score under censoring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from weigh.arrays import Floats
from weigh.frames import row_weights
from weigh.metrics.numbers import NAN, Bounded, normal_quantile


@dataclass(frozen=True, eq=False)
class KaplanMeier:
    """Kaplan-Meier estimate of survival, a step function, with Greenwood's variance.

    `logs` is the logarithm of survival, and `variance` the variance of this logarithm.
    """

    times: Floats
    survival: Floats
    logs: Floats
    variance: Floats

    @classmethod
    def of(
        cls,
        event: Any,
        duration: Floats,
        weight: Floats | None = None,
        entry: Floats | None = None,
    ) -> KaplanMeier:
        """Estimate from rows that are observed until an event or until they are censored.

        A row is at risk after its `entry`, which is 0 if it is not given.

        >>> found = KaplanMeier.of([True, False, True], np.array([1.0, 2.0, 3.0]))
        >>> found.at([0.5, 1.0, 3.0]).round(3)
        array([1.   , 0.667, 0.   ])
        """
        event = np.asarray(event, dtype=np.bool_)
        weight = row_weights(weight, len(duration))
        times, places = np.unique(duration, return_inverse=True)
        events = np.bincount(places, weight * event, len(times))
        every = np.bincount(places, weight, len(times))
        risk = np.cumsum(every[::-1])[::-1]
        if entry is not None:
            passed = np.searchsorted(times, entry, "right")  # times at which it is not yet at risk
            later = np.bincount(passed, weight, len(times) + 1)
            risk = risk - np.cumsum(later[::-1])[::-1][1:]
        left = 1 - events / risk
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(events > 0, events / (risk * (risk - events)), 0.0)
        logs = np.cumsum(np.log(np.maximum(left, 1e-300)))
        return cls(times, np.asarray(np.cumprod(left), np.float64), logs, np.cumsum(parts))

    def at(self, times: Any, before: bool = False) -> Floats:
        """Survival at some times, or just before them."""
        places = np.searchsorted(self.times, times, "left" if before else "right")
        return np.asarray(np.append(1.0, self.survival)[places])

    def between(self, start: Floats, times: Floats, before: bool = False) -> Floats:
        """Survival to some times, or to just before them, given survival to each `start`."""
        logs = np.append(0.0, self.logs)
        first = np.searchsorted(self.times, start, "right")
        last = np.searchsorted(self.times, times, "left" if before else "right")
        return np.asarray(np.exp(logs[np.maximum(last, first)] - logs[first]))

    def bounded(self, time: float, coverage: float) -> Bounded:
        """Share of rows with the event by a time; the interval is that of log(-log(survival))."""
        place = int(np.searchsorted(self.times, time, "right"))
        if place == 0:
            return Bounded(0.0)
        left, variance = float(self.survival[place - 1]), float(self.variance[place - 1])
        if not 0 < left < 1 or not np.isfinite(variance):
            return Bounded(1 - left)
        reach = np.exp(normal_quantile(coverage) * np.sqrt(variance) / abs(np.log(left)))
        return Bounded(1 - left, float(1 - left ** (1 / reach)), float(1 - left**reach))


def concordance(event: Any, duration: Floats, risk: Floats, entry: Floats | None = None) -> float:
    """Harrell's concordance index: how often the row with the earlier event has the larger risk.

    Pairs are compared in which one row has the event while the other is at risk: after its `entry`,
    and not after its duration. Equal risks count half. Without such a pair it is NaN.

    >>> concordance([True, True, False], np.array([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 2.0]))
    0.6666666666666666
    """
    event = np.asarray(event, dtype=np.bool_)
    ranks = np.unique(risk, return_inverse=True)[1]
    tree = _Counts(int(ranks.max()) + 1)
    order = np.lexsort((event, -duration))  # latest first, and censored before events
    entered = _Entries(ranks, np.zeros(len(duration)) if entry is None else entry)
    waiting: list[int] = []
    wins, pairs, last = 0.0, 0, None
    for i in order.tolist():
        if event[i] and duration[i] != last:
            for j in waiting:  # events at one time are not compared with each other
                tree.add(j)
            for j in entered.from_(float(duration[i])):
                tree.add(j, -1)
            waiting, last = [], duration[i]
        if not event[i]:
            tree.add(int(ranks[i]))
            continue
        below, upto = tree.below(int(ranks[i])), tree.below(int(ranks[i]) + 1)
        wins += 0.5 * (below + upto)
        pairs += tree.n
        waiting.append(int(ranks[i]))
    return wins / pairs if pairs else NAN


class _Counts:
    """Counts how many of the ranks added so far are below a given one (Fenwick tree)."""

    def __init__(self, size: int) -> None:
        self.sums, self.n = [0] * (size + 1), 0

    def add(self, rank: int, count: int = 1) -> None:
        self.n += count
        at = rank + 1
        while at < len(self.sums):
            self.sums[at] += count
            at += at & -at

    def below(self, rank: int) -> int:
        found, at = 0, rank
        while at:
            found += self.sums[at]
            at -= at & -at
        return found


class _Entries:
    """The ranks of rows by their entry, the latest first."""

    def __init__(self, ranks: Any, entry: Floats) -> None:
        order = np.argsort(entry, kind="stable")
        order = order[entry[order] > 0]
        self.left = [*zip(entry[order].tolist(), ranks[order].tolist(), strict=True)]

    def from_(self, time: float) -> list[int]:
        """Take the rows that enter at a time or later: just before it, they are not at risk."""
        found = []
        while self.left and self.left[-1][0] >= time:
            found.append(self.left.pop()[1])
        return found


def event_ratio(observed: float, expected: float, coverage: float) -> Bounded:
    """Ratio of observed to expected events, with the exact interval of a Poisson count.

    >>> found = event_ratio(10, 8.0, 0.95)
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (1.25, 0.6, 2.3)
    """
    if not expected > 0:
        return Bounded(NAN)
    side = (1 - coverage) / 2
    low = float(gammaincinv(observed, side)) if observed > 0 else 0.0
    high = float(gammaincinv(observed + 1, 1 - side))
    return Bounded(observed / expected, low / expected, high / expected)


def brier_scores(
    event: Any, duration: Floats, survival: Floats, times: Floats, entry: Floats | None = None
) -> Floats:
    """Brier score of predicted survival at each time, with rows weighted for censoring.

    A row with the event by t has weight 1/G(duration-), a row observed beyond t has weight 1/G(t),
    and a row censored by t has weight 0. G is the Kaplan-Meier estimate of not being censored (Graf
    et al. 1999). `survival` has one row per row of data and one column per time.

    With an `entry`, the score at t is that of the rows that entered before t. G and `survival` are
    then conditional on what is known at the entry: G(t)/G(entry), and no event by the entry. It is
    NaN while no row is at risk and some enter later.
    """
    event = np.asarray(event, dtype=np.bool_)
    entry = np.zeros(len(duration)) if entry is None else entry
    # at one time, events come first, then censored rows leave, then others enter
    end, start = np.where(event, duration, _after(duration)), _after(entry)
    censored = KaplanMeier.of(~event, end, entry=start)
    stays = censored.between(start, end, before=True)
    found = []
    for time, own in zip(times, survival.T, strict=True):
        entered = entry < time
        if not entered.all() and not (entered & (duration >= time)).any():
            found.append(NAN)
            continue
        came, beyond = event & (duration <= time), (duration > time) & entered
        left = censored.between(start, _after(time))
        counts = np.zeros(len(event))
        np.divide(1, stays, out=counts, where=came)
        np.divide(1, left, out=counts, where=beyond)  # other rows may have a G of 0
        total = float(counts @ (own - beyond) ** 2)
        found.append(total / int(entered.sum()))
    return np.array(found)


def _after(time: Any) -> Any:
    """The next number, for what comes after the events of a time."""
    return np.nextafter(time, np.inf)
