"""Choose the k of the exponent: three criteria, and a grid search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from weigh import engine
from weigh.frames import Floats
from weigh.perplexed.scores import Scored, Scores

POINTS, FINER, REFINEMENTS = 40, 10, 3
"""Size of the first grid of k, size of each finer grid, and number of finer grids."""


@dataclass(frozen=True)
class AttenuationPath:
    """Values of k that were tried, in ascending order, and the criterion of each.

    The k with the lowest criterion is chosen. `by` names the criterion: "flat", "calibrated" or
    "likelihood".
    """

    k: Floats
    criterion: Floats
    chosen: float
    by: str


class Criterion(Protocol):
    """A criterion for k, computed from sums over rows. Lower is better."""

    def sums(self, totals: Floats, rows: Scores, n_bins: int) -> Floats:
        """Sums over some rows; those of two sets of rows add."""

    def value(self, sums: Floats) -> float:
        """The criterion, from the sums over all rows."""


class Flatness:
    """Standard deviation of the histogram of each row's largest posterior, as shares of the rows.

    The bins have equal widths between 1/K, the least that the largest of K posteriors can be, and
    1.
    """

    def sums(self, totals: Floats, rows: Scores, n_bins: int) -> Floats:
        """Histogram of the largest posterior, and the weight of the rows."""
        winner = engine.link(totals, "softmax").max(axis=1)
        span = (1 / max(totals.shape[1], 2), 1.0)
        counts, _ = np.histogram(np.clip(winner, *span), n_bins, span, weights=rows.weight)
        return np.append(counts, rows.weight.sum())

    def value(self, sums: Floats) -> float:
        """Standard deviation over the bins."""
        return float(np.std(sums[:-1] / sums[-1]))


class Miscalibration:
    """Reliability RMSE: root mean square over bins of mean posterior minus observed frequency.

    The posteriors of all classes are put into bins of equal width from 0 to 1. The observed
    frequency of a bin is the share of its posteriors that belong to the row's own class. Empty bins
    do not count.
    """

    def sums(self, totals: Floats, rows: Scores, n_bins: int) -> Floats:
        """By bin: the weight, the observed count and the sum of the posteriors."""
        p = engine.link(totals, "softmax")
        bins = np.minimum((p * n_bins).astype(np.intp), n_bins - 1).ravel()
        true = np.arange(p.shape[1]) == rows.labels[:, None]
        weight = np.repeat(rows.weight, p.shape[1])
        parts = (1.0, true.ravel(), p.ravel())
        return np.array([np.bincount(bins, weight * part, n_bins) for part in parts])

    def value(self, sums: Floats) -> float:
        """Root mean square over the bins."""
        size, observed, predicted = sums[:, sums[0] > 0]
        return float(np.sqrt(np.mean(((observed - predicted) / size) ** 2)))


class Loss:
    """Log loss in bits: the mean of -log2 of the posterior of the row's own class."""

    def sums(self, totals: Floats, rows: Scores, n_bins: int) -> Floats:
        """Log loss in nats, and the weight of the rows."""
        if totals.shape[1] == 1:
            nats = np.logaddexp(0.0, np.where(rows.labels == 1, -totals[:, 0], totals[:, 0]))
        else:
            own = totals[np.arange(len(rows)), rows.labels]
            nats = logsumexp(totals, axis=1) - own
        return np.array([rows.weight @ nats, rows.weight.sum()])

    def value(self, sums: Floats) -> float:
        """Mean log loss in bits."""
        return float(sums[0] / (sums[1] * np.log(2)))


CRITERIA: dict[str, Criterion] = {
    "flat": Flatness(),
    "calibrated": Miscalibration(),
    "likelihood": Loss(),
}


@dataclass(frozen=True)
class CriterionSums:
    """Statistic of a pass: the sums of a criterion for each of some k."""

    by: str
    form: str
    n_bins: int
    k: Floats

    def __call__(self, rows: Scores) -> Floats:
        """Sums over scored rows, one row of numbers per k."""
        sums = CRITERIA[self.by].sums
        return np.stack([sums(rows.totals(float(k), self.form), rows, self.n_bins) for k in self.k])


def choose_k(rows: Scored, form: str, by: str, n_bins: int) -> AttenuationPath:
    """Choose the k with the lowest criterion, the smallest if tied.

    The grid has equal ratios, from 1 to the k of unchanged naive Bayes. Finer grids between the
    neighbours of the best follow.
    """
    max_k = max(1.0, rows.max_n + (form == "root"))
    k, criterion = np.zeros(0), np.zeros(0)
    new = np.geomspace(1.0, max_k, POINTS) if max_k > 1 else np.ones(1)
    for stage in range(1 + REFINEMENTS):
        values = [*map(CRITERIA[by].value, rows.sum(CriterionSums(by, form, n_bins, new)))]
        k, criterion = np.append(k, new), np.append(criterion, values)
        order = np.argsort(k)
        k, criterion = k[order], criterion[order]
        engine.report(stage + 1, 1 + REFINEMENTS)
        if max_k == 1:
            break
        new = _between_neighbours(k, int(criterion.argmin()))
    return AttenuationPath(k, criterion, float(k[criterion.argmin()]), by)


def _between_neighbours(k: Floats, best: int) -> Floats:
    low, high = k[max(best - 1, 0)], k[min(best + 1, len(k) - 1)]
    return np.asarray(np.geomspace(low, high, FINER + 2)[1:-1])
