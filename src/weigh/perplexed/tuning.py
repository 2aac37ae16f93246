"""The k of the exponent: what makes one better than another, and the search for the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from weigh import engine
from weigh.frames import Floats
from weigh.perplexed.scores import Scores, Statistic

POINTS, FINER, ROUNDS = 40, 10, 3
"""A grid of so many k, then so many between the neighbours of the best, so often."""


@dataclass(frozen=True)
class AttenuationPath:
    """The values of k that were tried, ascending, and the criterion at each; the least is chosen.

    `by` says what the criterion is: "flat", "calibrated" or "likelihood".
    """

    k: Floats
    criterion: Floats
    chosen: float
    by: str


class Criterion(Protocol):
    """What makes one k better than another: sums over rows, and the number that they come to."""

    def sums(self, totals: Floats, rows: Scores, n_bins: int) -> Floats:
        """What adds, over some rows."""

    def value(self, sums: Floats) -> float:
        """The criterion, the less the better."""


class Flatness:
    """The standard deviation of the histogram of the winners' posteriors, as shares of all rows.

    Its bins are equally wide and run from 1/K, which the winner of K classes has at least, to 1.
    """

    def sums(self, totals: Floats, rows: Scores, n_bins: int) -> Floats:
        """The histogram, and the weight of all rows."""
        winner = engine.link(totals, "softmax").max(axis=1)
        span = (1 / max(totals.shape[1], 2), 1.0)
        counts, _ = np.histogram(np.clip(winner, *span), n_bins, span, weights=rows.weight)
        return np.append(counts, rows.weight.sum())

    def value(self, sums: Floats) -> float:
        """How uneven it is."""
        return float(np.std(sums[:-1] / sums[-1]))


class Miscalibration:
    """The root mean square, over bins, of how far posteriors are from the share that came true.

    The posteriors of all classes are put into bins of equal width from 0 to 1. In each that is not
    empty, their mean is set against the share of those that belong to the row's own class.
    """

    def sums(self, totals: Floats, rows: Scores, n_bins: int) -> Floats:
        """By bin: the weight, what came true, and what was said."""
        p = engine.link(totals, "softmax")
        bins = np.minimum((p * n_bins).astype(np.intp), n_bins - 1).ravel()
        true = np.arange(p.shape[1]) == rows.labels[:, None]
        weight = np.repeat(rows.weight, p.shape[1])
        parts = (1.0, true.ravel(), p.ravel())
        return np.array([np.bincount(bins, weight * part, n_bins) for part in parts])

    def value(self, sums: Floats) -> float:
        """The mean of the gaps."""
        size, came_true, said = sums[:, sums[0] > 0]
        return float(np.sqrt(np.mean(((came_true - said) / size) ** 2)))


class Loss:
    """The mean of -log2 of the posterior of the row's own class."""

    def sums(self, totals: Floats, rows: Scores, n_bins: int) -> Floats:
        """The loss in nats, and the weight of all rows."""
        if totals.shape[1] == 1:
            nats = np.logaddexp(0.0, np.where(rows.labels == 1, -totals[:, 0], totals[:, 0]))
        else:
            own = totals[np.arange(len(rows)), rows.labels]
            nats = logsumexp(totals, axis=1) - own
        return np.array([rows.weight @ nats, rows.weight.sum()])

    def value(self, sums: Floats) -> float:
        """In bits a row."""
        return float(sums[0] / (sums[1] * np.log(2)))


CRITERIA: dict[str, Criterion] = {
    "flat": Flatness(),
    "calibrated": Miscalibration(),
    "likelihood": Loss(),
}


@dataclass(frozen=True)
class Question:
    """A criterion by its name, at some k."""

    by: str
    form: str
    n_bins: int
    k: Floats

    def __call__(self, rows: Scores) -> Floats:
        """What adds, for each k."""
        sums = CRITERIA[self.by].sums
        return np.stack([sums(rows.totals(float(k), self.form), rows, self.n_bins) for k in self.k])


class Scored(Protocol):
    """Rows with their scores, wherever they are."""

    @property
    def most(self) -> float:
        """The largest n of a row."""

    def ask(self, statistic: Statistic) -> Floats:
        """The sums of a criterion over all rows, for each k."""


def choose_k(rows: Scored, form: str, by: str, n_bins: int) -> AttenuationPath:
    """A grid of equal ratios from 1 to naive Bayes itself, then finer ones around the best.

    Of equally good ones the least k is taken.
    """
    most = max(1.0, rows.most + (form == "root"))
    k, criterion = np.zeros(0), np.zeros(0)
    new = np.geomspace(1.0, most, POINTS) if most > 1 else np.ones(1)
    for turn in range(1 + ROUNDS):
        values = [*map(CRITERIA[by].value, rows.ask(Question(by, form, n_bins, new)))]
        k, criterion = np.append(k, new), np.append(criterion, values)
        order = np.argsort(k)
        k, criterion = k[order], criterion[order]
        engine.report(turn + 1, 1 + ROUNDS)
        if most == 1:
            break
        new = _between_neighbours(k, int(criterion.argmin()))
    return AttenuationPath(k, criterion, float(k[criterion.argmin()]), by)


def _between_neighbours(k: Floats, best: int) -> Floats:
    low, high = k[max(best - 1, 0)], k[min(best + 1, len(k) - 1)]
    return np.asarray(np.geomspace(low, high, FINER + 2)[1:-1])
