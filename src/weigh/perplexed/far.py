"""Rows that are scored where they lie: a criterion at many k in one pass over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weigh.engine import Block, Coded, Sums
from weigh.evidence import Evidence
from weigh.frames import Floats, Integers
from weigh.perplexed.choose import Question
from weigh.perplexed.scores import Scores


@dataclass(frozen=True)
class Scorer:
    """Naive Bayes of each row of a block, by the tables that its group is scored by.

    `prior[group]` and `tables[j][group, level]` are those; `skips[j]` says whether a row without a
    level lacks an answer in feature j, and `known[group, class]` whether the tables saw the class.
    """

    prior: Floats
    tables: tuple[Floats, ...]
    skips: tuple[bool, ...]
    known: Integers

    @classmethod
    def of(cls, models: Sequence[Evidence]) -> Scorer:
        """One model for each group of rows; or one for all of them."""
        tables = [np.stack([part.padded for part in parts]) for parts in zip(*models, strict=True)]
        skips = tuple(feature.skip_missing for feature in models[0].features)
        known = np.array([model.class_counts > 0 for model in models])
        prior = np.stack([model.prior_row for model in models])
        return cls(prior, tuple(tables), skips, known)

    def score(self, block: Block) -> Scores:
        """The rows whose class the tables saw."""
        groups = self._groups(block)
        judged = self.known[groups, block.labels]
        if not judged.all():
            block, groups = block.part(judged), groups[judged]
        weights, n = np.zeros((len(block), self.prior.shape[1])), np.zeros(len(block))
        for codes, table, skips in zip(block.codes, self.tables, self.skips, strict=True):
            weights += table[groups, codes]
            n += codes < table.shape[1] - 1 if skips else 1.0
        weight = np.ones(len(block)) if block.weight is None else block.weight
        return Scores(self.prior[groups], weights, n, block.labels, weight)

    def _groups(self, block: Block) -> Integers:
        groups = np.zeros(len(block), np.int64)
        if block.groups is not None and len(self.prior) > 1:
            groups += block.groups
        return groups


@dataclass(frozen=True)
class ScoredFar:
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
        return Sums((self.question.sums(self.scorer.score(block)),))


@dataclass(frozen=True)
class Answers:
    """The statistic of n: how many rows, of those that are judged, have each."""

    scorer: Scorer

    def __call__(self, block: Block) -> Sums:
        """Count a block."""
        n = self.scorer.score(block).n.astype(np.int64)
        return Sums((np.bincount(n, minlength=len(self.scorer.tables) + 1).astype(np.float64),))


def score_far(rows: Coded, models: Sequence[Evidence]) -> ScoredFar | None:
    """Rows scored by the model of their group, or by one; None where no row can be judged."""
    scorer = Scorer.of(models)
    if all(scorer.known.ravel()) and not any(scorer.skips):
        return ScoredFar(rows, scorer, float(len(scorer.tables)))
    (counts,) = rows.sum(Answers(scorer)).arrays
    if not counts.any():
        return None
    found = ScoredFar(rows, scorer, 0.0)
    return replace(found, most=float(np.flatnonzero(counts).max()))
