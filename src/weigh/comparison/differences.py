"""How far apart two learners are on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.comparison.run import Task
from weigh.frames import Floats
from weigh.metrics import Scored, auc_difference
from weigh.metrics.auc import reach_of
from weigh.metrics.scored import BOUND

NAN = float("nan")


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

    scored: Scored | None
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
        scored = task.score(p)
        return cls(
            scored=scored if isinstance(scored, Scored) else None,
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
        _of_auc(one.scored, best.scored, coverage),
    )


def _paired(gap: Floats, weight: Floats, coverage: float) -> Difference:
    n = float(weight.sum())
    value = float(weight @ gap) / n
    variance = float(weight @ (gap - value) ** 2) / (n - 1) / n if n > 1 else NAN
    return Difference.of(value, float(np.sqrt(variance)), coverage)


def _of_auc(one: Scored | None, best: Scored | None, coverage: float) -> Difference:
    if one is None or best is None:
        return Difference(NAN, NAN, NAN, NAN)
    found = auc_difference(one, best, coverage=coverage)
    return Difference(found.value, found.error, found.low, found.high)
