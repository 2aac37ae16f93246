"""Totals of naive Bayes without the exponent, of rows or documents, and the choice of k.

k is chosen by one of three criteria, with a grid search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
from scipy.special import logsumexp

from weigh import engine
from weigh.arrays import Floats, Integers
from weigh.engine import Block, Coded, Sums, add_weights
from weigh.evidence import Evidence, SplitScorer, apply_exponent, attenuate
from weigh.folds import Split
from weigh.frames import Sample


@dataclass(frozen=True)
class Scores:
    """Prior, sum of weights, n, class and sample weight of each row.

    The totals for any k follow from these without another pass over the data.
    """

    prior: Floats
    weights: Floats
    n: Floats
    labels: Integers
    weight: Floats

    def __len__(self) -> int:
        return len(self.labels)

    def totals(self, k: float, form: str) -> Floats:
        """Totals after the exponent."""
        exponent = attenuate(k, form, self.n)[:, None]
        return apply_exponent(self.weights, self.prior, exponent, form)


def join_scores(parts: Sequence[Scores]) -> Scores:
    """Concatenate the rows of all parts."""
    if len(parts) == 1:
        return parts[0]
    names = ("prior", "weights", "n", "labels", "weight")
    return Scores(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


Statistic: TypeAlias = Callable[[Scores], Floats]
"""Function that sums over scored rows: one row of numbers for each k."""


@dataclass(frozen=True)
class RowsWithTotals:
    """Coded rows whose totals are computed in each pass; `max_n` is the largest n of a row."""

    rows: Coded
    scorer: SplitScorer
    max_n: float

    def sum(self, statistic: Statistic) -> Floats:
        """Sum a statistic over all rows, in one pass."""
        return np.asarray(self.rows.sum(ScoreSums(self.scorer, statistic)).arrays[0])


@dataclass(frozen=True)
class ScoreSums:
    """Statistic of a pass: a sum over the scores of a block."""

    scorer: SplitScorer
    statistic: Statistic

    def __call__(self, block: Block) -> Sums:
        """Score a block and sum."""
        return Sums((self.statistic(score_block(self.scorer, block)),))


@dataclass(frozen=True)
class CountsOfN:
    """Statistic of a pass: how many of the scored rows have each n."""

    scorer: SplitScorer

    def __call__(self, block: Block) -> Sums:
        """Count the rows of a block by n."""
        n = score_block(self.scorer, block).n.astype(np.int64)
        return Sums((np.bincount(n, minlength=len(self.scorer.tables) + 1).astype(np.float64),))


def score_rows(rows: Coded, scorer: SplitScorer) -> RowsWithTotals | None:
    """Prepare rows to be scored; None if no row can be scored."""
    all_scored = scorer.known.all() and (scorer.turns >= 0).any()
    if all_scored and not any(scorer.skips):
        return RowsWithTotals(rows, scorer, float(len(scorer.tables)))
    (counts,) = rows.sum(CountsOfN(scorer)).arrays
    if not counts.any():
        return None
    return RowsWithTotals(rows, scorer, float(np.flatnonzero(counts).max()))


def score_block(scorer: SplitScorer, block: Block) -> Scores:
    """Score the rows of a block whose class is in the training rows of their split."""
    parts = []
    for split, rows in scorer.parts(block):
        known = scorer.known[split, rows.labels]
        if known.all():
            parts.append(_score(scorer, split, rows))
        else:
            parts.append(_score(scorer, split[known], rows.part(known)))
    return join_scores(parts)


def _score(scorer: SplitScorer, split: Floats, rows: Block) -> Scores:
    weights, n = np.zeros((len(rows), scorer.prior.shape[1])), np.zeros(len(rows))
    for codes, table, skips in zip(rows.codes, scorer.tables, scorer.skips, strict=True):
        n_splits, n_levels, n_totals = table.shape
        flat = table.reshape(n_splits * n_levels, n_totals)
        add_weights(weights, split * n_levels + codes, flat)
        n += codes < n_levels - 1 if skips else 1.0
    return Scores(scorer.prior[split], weights, n, rows.labels, rows.weights)


@dataclass(frozen=True)
class ScoredDocuments:
    """Documents in memory, scored once."""

    scores: Scores

    @property
    def max_n(self) -> float:
        """Largest n of a document."""
        return float(self.scores.n.max())

    def sum(self, statistic: Statistic) -> Floats:
        """Sum a statistic over all documents."""
        return statistic(self.scores)


Scored: TypeAlias = RowsWithTotals | ScoredDocuments
"""Scored rows, in memory, in files or on a cluster, or scored documents."""


def score_own(sample: Sample, naive: Evidence) -> ScoredDocuments:
    """Score every document with the tables of all documents."""
    return ScoredDocuments(_score_documents(sample, naive, naive.observed(sample.table)))


def score_held_out(
    sample: Sample,
    naive: Evidence,
    splits: Iterable[Split],
    learn: Callable[[Sample], Evidence],
) -> ScoredDocuments | None:
    """Score hold-out documents with the tables that `learn` fits to the others.

    A document whose class does not occur among the others is left out. None if no document is left.
    """
    n, parts = naive.observed(sample.table), []
    for train, held_out in splits:
        fold = learn(sample.take(train))
        known = held_out & (fold.class_counts > 0)[sample.labels]
        if known.any():
            parts.append(_score_documents(sample.take(known), fold, n[known]))
    return ScoredDocuments(join_scores(parts)) if parts else None


def _score_documents(sample: Sample, naive: Evidence, n: Floats) -> Scores:
    nothing = np.zeros(len(naive.prior_row))
    weights = replace(naive, prior=nothing).total(sample.table)
    prior = np.broadcast_to(naive.prior_row, weights.shape)
    return Scores(prior, weights, n, sample.labels, sample.weights)


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


class BitLoss:
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
    "likelihood": BitLoss(),
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
        best = int(criterion.argmin())
        low, high = k[max(best - 1, 0)], k[min(best + 1, len(k) - 1)]
        new = np.geomspace(low, high, FINER + 2)[1:-1]
    return AttenuationPath(k, criterion, float(k[criterion.argmin()]), by)
