"""How far apart two learners are on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.comparison.ranking import Ranking
from weigh.comparison.run import Task
from weigh.evidence import BOUND
from weigh.frames import Floats
from weigh.metrics.numbers import NAN, reach_of


@dataclass(frozen=True)
class Difference:
    """How much larger a measure is than that of the best learner, row by row on the same rows.

    The standard error is that of the mean of the rows' differences. It leaves out that other
    training rows would have given other models.
    """

    value: float
    error: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, error: float, coverage: float) -> Difference:
        """With its interval."""
        reach = reach_of(coverage) * error
        return cls(value, error, value - reach, value + reach)


@dataclass(frozen=True)
class Differences:
    """From the learner of least loss; that of the AUC is NaN for more than two classes."""

    loss: Difference
    misclassification: Difference
    brier: Difference
    auc: Difference


@dataclass(frozen=True, eq=False)
class RowScores:
    """What each row contributes to the measures of a learner."""

    rankings: tuple[Ranking, ...]  # of the second of two classes, or of each of more
    loss: Floats
    wrong: Floats
    squares: Floats

    @classmethod
    def of(cls, task: Task, p: Floats) -> RowScores:
        """From the probabilities of the rows held out."""
        codes = task.codes[task.held_out]
        own = p[np.arange(len(p)), codes]
        two = p.shape[1] == 2
        squares = (1 - own) ** 2 if two else (p**2).sum(axis=1) - 2 * own + 1
        ranked = [1] if two else range(p.shape[1])
        return cls(
            rankings=tuple(Ranking.of(task, task.codes == k, p[:, k]) for k in ranked),
            loss=task.by_row(-np.log2(np.clip(own, BOUND, 1 - BOUND))),
            wrong=task.by_row(((p[:, 1] > 0.5) if two else p.argmax(axis=1)) != codes),
            squares=task.by_row(squares),
        )


def subtract(task: Task, one: RowScores, best: RowScores, coverage: float) -> Differences:
    """One learner less the best."""

    def difference(mine: Floats, theirs: Floats) -> Difference:
        return _paired(mine - theirs, task.row_weight, coverage)

    return Differences(
        difference(one.loss, best.loss),
        difference(one.wrong, best.wrong),
        difference(one.squares, best.squares),
        _of_auc(one.rankings, best.rankings, coverage),
    )


def _paired(gap: Floats, weight: Floats, coverage: float) -> Difference:
    n = float(weight.sum())
    value = float(weight @ gap) / n
    variance = float(weight @ (gap - value) ** 2) / (n - 1) / n if n > 1 else NAN
    return Difference.of(value, float(np.sqrt(variance)), coverage)


def _of_auc(mine: tuple[Ranking, ...], theirs: tuple[Ranking, ...], coverage: float) -> Difference:
    if len(mine) > 1:
        return Difference(NAN, NAN, NAN, NAN)
    one, best = mine[0], theirs[0]
    return Difference.of(one.value - best.value, one.error_of_difference(best), coverage)
