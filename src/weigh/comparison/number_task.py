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
    """Rows, their numbers and weights, and folds; all rows are of one class, the target."""

    numbers: Floats = field(default_factory=lambda: np.zeros(0))
    power: float = 0.0  # of the family that all learners have, or 0: squared errors
    exposure: Floats | None = None

    @classmethod
    def of(
        cls, X: Any, y: Any, asked: Mapping[str, Any], candidates: Mapping[str, Any]
    ) -> NumberTask:
        """A table, with numbers, weights, exposure and groups as arrays or names of columns."""
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
        X = pick_columns(X, table.without(used).names) if used else X  # no features
        rows = X if sample.kept.all() else take_rows(X, np.flatnonzero(sample.kept))
        powers = {power_of(estimator) for estimator in candidates.values()}
        power = powers.pop() if len(powers) == 1 else 0.0
        target = np.array([sample.target], dtype=object)
        return cls(rows, codes, target, sample.weight, tuple(splits), numbers, power, exposure)

    def labels(self, places: Integers) -> Any:
        """The numbers of some rows."""
        return self.numbers[places]

    def given(self, places: Integers) -> dict[str, Any]:
        """What fits and predictions are given beside the table."""
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
        """The mean loss of the rows' own mean, or of their mean per unit of exposure."""
        unit = np.ones(len(self.numbers)) if self.exposure is None else self.exposure
        means = unit * float(self.row_weight @ self.numbers / (self.row_weight @ unit))
        losses = deviances(self.power, self.numbers, means)
        return float(self.row_weight @ losses / self.row_weight.sum())

    @property
    def loss_name(self) -> str:
        """What the loss is."""
        return f"mean {name_loss(self.power)}"


def are_regressors(candidates: Mapping[str, Any], exposure: Any) -> bool:
    """Whether learners are compared on a number: all of them are regressors."""
    found = all(estimates_numbers(estimator) for estimator in candidates.values())
    if exposure is not None and not found:
        raise ParameterError(Parameter("exposure"), " is for regressors only; leave it out")
    return found


@dataclass(frozen=True, eq=False)
class NumberScores:
    """What each row contributes to the measures of a regressor."""

    loss: Floats
    absolute: Floats

    @classmethod
    def of(cls, task: NumberTask, means: Floats) -> NumberScores:
        """From the estimates of the rows held out."""
        numbers, own = task.numbers[task.held_out], means[:, 0]
        losses = deviances(task.power, numbers, own)
        return cls(task.by_row(losses), task.by_row(np.abs(numbers - own)))


@dataclass(frozen=True)
class NumberMeasures:
    """How good the estimates of a regressor are on rows that it has not seen."""

    loss: Bounded
    rmse: float
    mae: float
    r2: float
    slope: float


@dataclass(frozen=True)
class NumberDifferences:
    """From the learner of least loss."""

    loss: Difference
    absolute: Difference


def measure_numbers(
    task: NumberTask, means: Floats, rows: NumberScores, coverage: float
) -> NumberMeasures:
    """Of all estimates together."""
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
    """One regressor less the best."""
    weight = task.row_weight
    return NumberDifferences(
        paired(one.loss - best.loss, weight, coverage),
        paired(one.absolute - best.absolute, weight, coverage),
    )
