"""A comparison of regressors: numbers and folds, the losses of rows, and their differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weigh.comparison.differences import Difference, paired
from weigh.comparison.run import Task, read_together
from weigh.errors import Parameter, ParameterError
from weigh.evaluation.estimates import deviances, name_loss, power_of
from weigh.evaluation.numbers import estimates_numbers, slope_of
from weigh.evidence.exposure import spread_out
from weigh.folds import check_folds, read_splits
from weigh.frames import (
    Floats,
    Integers,
    collect,
    number_sample,
    pick_columns,
    read,
    read_numbers,
    take_rows,
)
from weigh.metrics.numbers import NAN, Bounded


@dataclass(frozen=True, eq=False)
class NumberTask(Task):
    """Rows, their numeric targets and weights, and folds.

    All rows have one class, named after the target, so that folds are not stratified.
    """

    numbers: Floats = field(default_factory=lambda: np.zeros(0))
    power: float = 0.0  # of the variance of the learners' common family; 0: squared error
    exposure: Floats | None = None

    @classmethod
    def of(
        cls, X: Any, y: Any, asked: Mapping[str, Any], candidates: Mapping[str, Any]
    ) -> NumberTask:
        """Read a table, with numbers, weights, exposure and groups as arrays or column names."""
        check_folds(asked["cv"], named=False)
        X = collect(X)
        table = read(X)
        sample, numbers = number_sample(table, y, asked["sample_weight"])
        exposure = spread_out(asked["exposure"], table.n_rows)
        if exposure is not None:
            exposure = read_numbers(table, exposure, "exposure")[sample.kept]
        together = read_together(asked["groups"], table)
        codes = np.zeros(len(numbers), dtype=np.int64)
        splits = read_splits(asked["cv"], codes, sample.kept, asked["random_state"], None, together)
        named = (y, *(asked[name] for name in ("sample_weight", "exposure", "groups")))
        used = {name for name in named if isinstance(name, str)}
        X = pick_columns(X, table.without(used).names) if used else X  # features only
        rows = X if sample.kept.all() else take_rows(X, np.flatnonzero(sample.kept))
        powers = {power_of(estimator) for estimator in candidates.values()}
        power = powers.pop() if len(powers) == 1 else 0.0
        target = np.array([sample.target], dtype=object)
        return cls(rows, codes, target, sample.weight, tuple(splits), numbers, power, exposure)

    def labels(self, places: Integers) -> Any:
        """Targets of some rows."""
        return self.numbers[places]

    def given(self, places: Integers) -> dict[str, Any]:
        """Further arguments of `fit` and `predict` for some rows: the exposure."""
        return {} if self.exposure is None else {"exposure": self.exposure[places]}

    def predict(self, model: Any, places: Integers) -> Floats:
        """The estimates of some rows, as one column."""
        means = model.predict(take_rows(self.X, places), **self.given(places))
        found = np.asarray(means, dtype=np.float64).reshape(-1, 1)
        if not np.isfinite(found).all():
            raise ValueError("predict gave NaN or infinity")
        return found

    @property
    def base_loss(self) -> float:
        """Mean loss of predicting the mean, or the mean per unit of exposure, for every row."""
        unit = np.ones(len(self.numbers)) if self.exposure is None else self.exposure
        means = unit * float(self.row_weight @ self.numbers / (self.row_weight @ unit))
        losses = deviances(self.power, self.numbers, means)
        return float(self.row_weight @ losses / self.row_weight.sum())

    @property
    def loss_name(self) -> str:
        """Name of the loss."""
        return f"mean {name_loss(self.power)}"


def are_regressors(candidates: Mapping[str, Any], exposure: Any) -> bool:
    """Whether all learners are regressors; raise an error for `exposure` if not."""
    found = all(estimates_numbers(estimator) for estimator in candidates.values())
    if exposure is not None and not found:
        raise ParameterError(Parameter("exposure"), " is for regressors only; leave it out")
    return found


@dataclass(frozen=True, eq=False)
class NumberScores:
    """Loss and absolute error of each row, for one regressor."""

    loss: Floats
    absolute: Floats

    @classmethod
    def of(cls, task: NumberTask, means: Floats) -> NumberScores:
        """Compute them from the estimates of the hold-out rows."""
        numbers, own = task.numbers[task.held_out], means[:, 0]
        losses = deviances(task.power, numbers, own)
        return cls(task.by_row(losses), task.by_row(np.abs(numbers - own)))


@dataclass(frozen=True)
class NumberMeasures:
    """Measures of a regressor on hold-out rows."""

    loss: Bounded
    rmse: float
    mae: float
    r2: float
    slope: float


@dataclass(frozen=True)
class NumberDifferences:
    """Differences from the learner with the lowest loss."""

    loss: Difference
    absolute: Difference


def measure_numbers(
    task: NumberTask, means: Floats, rows: NumberScores, coverage: float
) -> NumberMeasures:
    """Measures of the pooled hold-out estimates."""
    numbers, own, weight = task.numbers[task.held_out], means[:, 0], task.share
    total = weight.sum()
    squares = float((numbers - own) ** 2 @ weight / total)
    mean = float(numbers @ weight / total)
    spread = float((numbers - mean) ** 2 @ weight / total)
    loss = paired(rows.loss, task.row_weight, coverage)
    return NumberMeasures(
        loss=Bounded(loss.value, loss.low, loss.high),
        rmse=float(np.sqrt(squares)),
        mae=float(np.abs(numbers - own) @ weight / total),
        r2=1 - squares / spread if spread > 0 else NAN,
        slope=slope_of(own, numbers, weight),
    )


def subtract_numbers(
    task: NumberTask, one: NumberScores, best: NumberScores, coverage: float
) -> NumberDifferences:
    """Paired differences: one regressor minus the best."""
    weight = task.row_weight
    return NumberDifferences(
        paired(one.loss - best.loss, weight, coverage),
        paired(one.absolute - best.absolute, weight, coverage),
    )
