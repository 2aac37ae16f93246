"""The k of the exponent: what makes one better than another, and the search for the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from weigh import engine
from weigh.frames import Floats
from weigh.perplexed.scores import Scores

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


def flatness(totals: Floats, rows: Scores, n_bins: int) -> float:
    """The standard deviation of the histogram of the winners' posteriors, as shares of all rows.

    Its bins are equally wide and run from 1/K, which the winner of K classes has at least, to 1.
    """
    winner = engine.link(totals, "softmax").max(axis=1)
    span = (1 / max(totals.shape[1], 2), 1.0)
    counts, _ = np.histogram(np.clip(winner, *span), n_bins, span, weights=rows.weight)
    return float(np.std(counts / rows.weight.sum()))


def miscalibration(totals: Floats, rows: Scores, n_bins: int) -> float:
    """The root mean square, over bins, of how far posteriors are from the share that came true.

    The posteriors of all classes are put into bins of equal width from 0 to 1. In each that is not
    empty, their mean is set against the share of those that belong to the row's own class.
    """
    p = engine.link(totals, "softmax")
    bins = np.minimum((p * n_bins).astype(np.intp), n_bins - 1).ravel()
    true = np.arange(p.shape[1]) == rows.labels[:, None]
    weight = np.repeat(rows.weight, p.shape[1])
    size, came_true, said = (
        np.bincount(bins, weight * part, n_bins) for part in (1.0, true.ravel(), p.ravel())
    )
    used = size > 0
    gaps = (came_true[used] - said[used]) / size[used]
    return float(np.sqrt(np.mean(gaps**2)))


def loss(totals: Floats, rows: Scores, n_bins: int) -> float:
    """The mean of -log2 of the posterior of the row's own class."""
    if totals.shape[1] == 1:
        nats = np.logaddexp(0.0, np.where(rows.labels == 1, -totals[:, 0], totals[:, 0]))
    else:
        own = totals[np.arange(len(rows)), rows.labels]
        nats = logsumexp(totals, axis=1) - own
    return float(rows.weight @ nats / (rows.weight.sum() * np.log(2)))


CRITERIA: dict[str, Callable[[Floats, Scores, int], float]] = {
    "flat": flatness,
    "calibrated": miscalibration,
    "likelihood": loss,
}


def choose_k(rows: Scores, form: str, by: str, n_bins: int) -> AttenuationPath:
    """A grid of equal ratios from 1 to naive Bayes itself, then finer ones around the best.

    Of equally good ones the least k is taken.
    """
    most = max(1.0, float(rows.n.max()) + (form == "root"))
    k, criterion = np.zeros(0), np.zeros(0)
    new = np.geomspace(1.0, most, POINTS) if most > 1 else np.ones(1)
    for turn in range(1 + ROUNDS):
        values = [CRITERIA[by](rows.totals(float(x), form), rows, n_bins) for x in new]
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
