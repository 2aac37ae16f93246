"""Totals of naive Bayes for rows and documents before the exponent, and sums over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from weigh.engine import Block, Coded, Sums, add_weights
from weigh.evidence import Evidence, Scorer, apply_exponent, attenuate
from weigh.folds import Split
from weigh.frames import Floats, Integers, Sample


@dataclass(frozen=True)
class Scores:
    """Prior, sum of weights, n, class and sample weight of each row.

    The totals for any k follow from these without another look at the data.
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
"""A sum over scored rows: one row of numbers for each k."""


@dataclass(frozen=True)
class ScoredRows:
    """Coded rows, scored again in each pass; `max_n` is the largest n of a row."""

    rows: Coded
    scorer: Scorer
    max_n: float

    def sum(self, statistic: Statistic) -> Floats:
        """Sum a statistic over all rows, in one pass."""
        return np.asarray(self.rows.sum(ScoreSums(self.scorer, statistic)).arrays[0])


@dataclass(frozen=True)
class ScoreSums:
    """Statistic of a pass: a sum over the scores of a block."""

    scorer: Scorer
    statistic: Statistic

    def __call__(self, block: Block) -> Sums:
        """Score a block and sum."""
        return Sums((self.statistic(score_block(self.scorer, block)),))


@dataclass(frozen=True)
class CountsOfN:
    """Statistic of a pass: how many of the scored rows have each n."""

    scorer: Scorer

    def __call__(self, block: Block) -> Sums:
        """Count the rows of a block by n."""
        n = score_block(self.scorer, block).n.astype(np.int64)
        return Sums((np.bincount(n, minlength=len(self.scorer.tables) + 1).astype(np.float64),))


def score_rows(rows: Coded, scorer: Scorer) -> ScoredRows | None:
    """Prepare rows to be scored; None if no row can be."""
    all_scored = scorer.known.all() and (scorer.turns >= 0).any()
    if all_scored and not any(scorer.skips):
        return ScoredRows(rows, scorer, float(len(scorer.tables)))
    (counts,) = rows.sum(CountsOfN(scorer)).arrays
    if not counts.any():
        return None
    return ScoredRows(rows, scorer, float(np.flatnonzero(counts).max()))


def score_block(scorer: Scorer, block: Block) -> Scores:
    """Score the rows of a block whose class is in the training rows of their split."""
    parts = []
    for split, rows in scorer.parts(block):
        known = scorer.known[split, rows.labels]
        if known.all():
            parts.append(_score(scorer, split, rows))
        else:
            parts.append(_score(scorer, split[known], rows.part(known)))
    return join_scores(parts)


def _score(scorer: Scorer, split: Floats, rows: Block) -> Scores:
    weights, n = np.zeros((len(rows), scorer.prior.shape[1])), np.zeros(len(rows))
    for codes, table, skips in zip(rows.codes, scorer.tables, scorer.skips, strict=True):
        n_splits, n_levels, n_totals = table.shape
        flat = table.reshape(n_splits * n_levels, n_totals)
        add_weights(weights, split * n_levels + codes, flat)
        n += codes < n_levels - 1 if skips else 1.0
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    return Scores(scorer.prior[split], weights, n, rows.labels, weight)


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


Scored: TypeAlias = ScoredRows | ScoredDocuments
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
    """Score hold-out documents with the tables that `learn` fits to the others; None if none.

    A document whose class does not occur among the others is left out.
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
    weight = np.ones(len(n)) if sample.weight is None else sample.weight
    return Scores(prior, weights, n, sample.labels, weight)
