"""Documents as naive Bayes scores them: once, in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from weigh.evidence import Evidence
from weigh.folds import Split
from weigh.frames import Floats, Sample
from weigh.perplexed.scores import Scores, join_scores
from weigh.perplexed.tuning import Question


@dataclass(frozen=True)
class ScoredDocuments:
    """Documents with their scores."""

    scores: Scores

    @property
    def most(self) -> float:
        """The largest n of a document."""
        return float(self.scores.n.max())

    def ask(self, question: Question) -> Floats:
        """The sums of a criterion over all documents, for each k."""
        return question.sums(self.scores)


def score_own(sample: Sample, naive: Evidence) -> ScoredDocuments:
    """Every document scored by the tables of all."""
    return ScoredDocuments(_score(sample, naive, naive.observed(sample.table)))


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
            parts.append(_score(sample.take(judged), fold, n[judged]))
    return ScoredDocuments(join_scores(parts)) if parts else None


def _score(sample: Sample, naive: Evidence, n: Floats) -> Scores:
    nothing = np.zeros(len(naive.prior_row))
    weights = replace(naive, prior=nothing).total(sample.table)
    prior = np.broadcast_to(naive.prior_row, weights.shape)
    weight = np.ones(len(n)) if sample.weight is None else sample.weight
    return Scores(prior, weights, n, sample.labels, weight)
