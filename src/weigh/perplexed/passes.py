"""Rows of levels, wherever they are: a criterion at many k in one pass over them.

Rows are scored anew in each pass: by the tables of all rows, or by those of the split that holds
them out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.engine import Block, Coded, Sums
from weigh.evidence import Scorer
from weigh.frames import Floats
from weigh.perplexed.scores import Scores, join_scores
from weigh.perplexed.tuning import Question


@dataclass(frozen=True)
class ScoredRows:
    """Rows whose scores are found anew in each pass; `most` is the largest n of a row."""

    rows: Coded
    scorer: Scorer
    most: float

    def ask(self, question: Question) -> Floats:
        """The sums of a criterion over all rows, for each k."""
        return np.asarray(self.rows.sum(Asked(self.scorer, question)).arrays[0])


@dataclass(frozen=True)
class Asked:
    """The statistic of scores: what a criterion adds up, for each k."""

    scorer: Scorer
    question: Question

    def __call__(self, block: Block) -> Sums:
        """The sums of a block."""
        return Sums((self.question.sums(score_block(self.scorer, block)),))


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
