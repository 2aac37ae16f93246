"""Rows and documents as naive Bayes scores them, and sums over their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from weigh.engine import Block, Coded, Sums
from weigh.evidence import Evidence, Scorer, apply_exponent, attenuate
from weigh.folds import Split
from weigh.frames import Floats, Integers, Sample


@dataclass(frozen=True)
class Scores:
    """Naive Bayes of each row in two parts, its n, its class and its weight.

    Once they are known, what any k makes of a row is arithmetic.
    """

    prior: Floats
    weights: Floats
    n: Floats
    labels: Integers
    weight: Floats

    def __len__(self) -> int:
        return len(self.labels)

    def totals(self, k: float, form: str) -> Floats:
        """The totals after the exponent."""
        exponent = attenuate(k, form, self.n)[:, None]
        return apply_exponent(self.weights, self.prior, exponent, form)


def join_scores(parts: Sequence[Scores]) -> Scores:
    """The rows of all parts."""
    if len(parts) == 1:
        return parts[0]
    names = ("prior", "weights", "n", "labels", "weight")
    return Scores(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


Statistic: TypeAlias = Callable[[Scores], Floats]
"""What adds over scored rows."""


@dataclass(frozen=True)
class ScoredRows:
    """Rows whose scores are found anew in each pass; `most` is the largest n of a row."""

    rows: Coded
    scorer: Scorer
    most: float

    def ask(self, statistic: Statistic) -> Floats:
        """The sums of a criterion over all rows, for each k."""
        return np.asarray(self.rows.sum(Asked(self.scorer, statistic)).arrays[0])


@dataclass(frozen=True)
class Asked:
    """The statistic of scores: what a criterion adds up, for each k."""

    scorer: Scorer
    statistic: Statistic

    def __call__(self, block: Block) -> Sums:
        """The sums of a block."""
        return Sums((self.statistic(score_block(self.scorer, block)),))


@dataclass(frozen=True)
class Answers:
    """The statistic of n: how many rows, of those that are judged, have each."""

    scorer: Scorer

    def __call__(self, block: Block) -> Sums:
        """Count a block."""
        n = score_block(self.scorer, block).n.astype(np.int64)
        return Sums((np.bincount(n, minlength=len(self.scorer.tables) + 1).astype(np.float64),))


def score_rows(rows: Coded, scorer: Scorer) -> ScoredRows | None:
    """Rows with what scores them; None where no row can be judged."""
    judged = scorer.known.all() and (scorer.turns >= 0).any()
    if judged and not any(scorer.skips):
        return ScoredRows(rows, scorer, float(len(scorer.tables)))
    (counts,) = rows.sum(Answers(scorer)).arrays
    if not counts.any():
        return None
    return ScoredRows(rows, scorer, float(np.flatnonzero(counts).max()))


def score_block(scorer: Scorer, block: Block) -> Scores:
    """The rows of a block that are judged: those whose class the tables saw."""
    parts = []
    for split, rows in scorer.parts(block):
        judged = scorer.known[split, rows.labels]
        if judged.all():
            parts.append(_score(scorer, split, rows))
        else:
            parts.append(_score(scorer, split[judged], rows.part(judged)))
    return join_scores(parts)


def _score(scorer: Scorer, split: Floats, rows: Block) -> Scores:
    from weigh import kernels

    add = kernels.add_one if scorer.prior.shape[1] == 1 else kernels.add_many
    weights, n = np.zeros((len(rows), scorer.prior.shape[1])), np.zeros(len(rows))
    for codes, table, skips in zip(rows.codes, scorer.tables, scorer.skips, strict=True):
        n_splits, n_levels, n_totals = table.shape
        add(weights, split * n_levels + codes, table.reshape(n_splits * n_levels, n_totals))
        n += codes < n_levels - 1 if skips else 1.0
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    return Scores(scorer.prior[split], weights, n, rows.labels, weight)


@dataclass(frozen=True)
class ScoredDocuments:
    """Documents with their scores."""

    scores: Scores

    @property
    def most(self) -> float:
        """The largest n of a document."""
        return float(self.scores.n.max())

    def ask(self, statistic: Statistic) -> Floats:
        """The sums of a criterion over all documents, for each k."""
        return statistic(self.scores)


def score_own(sample: Sample, naive: Evidence) -> ScoredDocuments:
    """Every document scored by the tables of all."""
    return ScoredDocuments(_score_documents(sample, naive, naive.observed(sample.table)))


def score_held_out(
    sample: Sample,
    naive: Evidence,
    splits: Iterable[Split],
    learn: Callable[[Sample], Evidence],
) -> ScoredDocuments | None:
    """Documents held out, scored by what `learn` makes of the others; None where there are none.

    A document whose class has no other one left is not judged.
    """
    n, parts = naive.observed(sample.table), []
    for train, held_out in splits:
        fold = learn(sample.take(train))
        judged = held_out & (fold.class_counts > 0)[sample.labels]
        if judged.any():
            parts.append(_score_documents(sample.take(judged), fold, n[judged]))
    return ScoredDocuments(join_scores(parts)) if parts else None


def _score_documents(sample: Sample, naive: Evidence, n: Floats) -> Scores:
    nothing = np.zeros(len(naive.prior_row))
    weights = replace(naive, prior=nothing).total(sample.table)
    prior = np.broadcast_to(naive.prior_row, weights.shape)
    weight = np.ones(len(n)) if sample.weight is None else sample.weight
    return Scores(prior, weights, n, sample.labels, weight)
