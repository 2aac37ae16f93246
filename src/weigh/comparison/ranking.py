"""How well a learner ranks the rows of a fold, apart from those of other folds.

A model of other rows says another base rate, and to rank its rows among those of another fold
would measure that: to say the base rate of the training rows would rank backwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.comparison.run import Task
from weigh.frames import Floats
from weigh.metrics import AUC, Scored
from weigh.metrics.auc import Ranks, with_interval
from weigh.metrics.scored import Flags


@dataclass(frozen=True, eq=False)
class Ranking:
    """The share of pairs of the same fold that are ranked rightly, and what each row adds to it.

    AUC = sum over folds of n_f m_f AUC_f / sum over folds of n_f m_f

    with n_f positives and m_f negatives in a fold; one without both has no pairs. The variance is
    the sum of DeLong's over folds, the parts of a row that is held out often being added up first.
    Without any pairs all is NaN; where a class has a weight of no more than 1 in a fold that
    counts, the error is.
    """

    value: float
    parts: Floats
    weight: Floats

    @classmethod
    def of(cls, task: Task, positive: Flags, p: Floats) -> Ranking:
        """From whether each row of the table is positive, and what is said of those held out."""
        weight = np.ones(len(positive)) if task.weight is None else task.weight
        parts, right, pairs, start = np.zeros(len(positive)), 0.0, 0.0, 0
        for _, held_out in task.splits:
            rows = np.flatnonzero(held_out)
            scored = Scored(positive[rows], p[start : start + len(rows)], weight[rows])
            start += len(rows)
            if not scored.groups.one_class:
                n = scored.groups.n_positive * scored.groups.n_negative
                ranks = Ranks.of(scored.groups)
                parts[rows] += n * _parts(scored, ranks)
                right, pairs = right + n * ranks.value, pairs + n
        if not pairs:
            return cls(np.nan, np.full(len(positive), np.nan), weight)
        return cls(right / pairs, parts / pairs, weight)

    @property
    def error(self) -> float:
        """DeLong's."""
        return _error(self.weight, self.parts)

    def auc(self, coverage: float) -> AUC:
        """With its interval."""
        return with_interval(self.value, self.error, coverage)

    def error_of_difference(self, other: Ranking) -> float:
        """Of this AUC less that of another learner on the same folds."""
        return _error(self.weight, self.parts - other.parts)


def _parts(scored: Scored, ranks: Ranks) -> Floats:
    """What each row adds to the error of its fold's AUC."""
    groups, own = scored.groups, scored.positive
    shares = np.where(own, ranks.positive[scored.place], ranks.negative[scored.place])
    scale = np.where(own, _scale(groups.n_positive), _scale(groups.n_negative))
    return np.asarray((shares - ranks.value) * scale)


def _scale(n: float) -> float:
    """Squared and added up n times, 1/(n - 1): a variance of the mean of n rows."""
    return float(1 / np.sqrt(n * (n - 1))) if n > 1 else np.nan


def _error(weight: Floats, parts: Floats) -> float:
    return float(np.sqrt(weight @ parts**2))
