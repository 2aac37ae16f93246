"""The task of a comparison: rows, what is observed of them, and the folds that hold them out.

`ClassTask` and `NumberTask` know what is observed and predicted, the losses of a row, the measures
of all rows, and their differences. `HeldOut` is what both share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.comparison.differences import BITS, Difference, PairRanking, RowScores, paired
from weigh.errors import Parameter, ParameterError
from weigh.evaluation.decisions import Options
from weigh.evaluation.estimates import deviances, name_loss, power_of, rate_alone, slope_of
from weigh.evaluation.measures import (
    ManyMeasures,
    Measures,
    entropy,
    measure,
    measure_many,
)
from weigh.evaluation.numbers import estimates_numbers
from weigh.evidence.exposure import spread_out
from weigh.folds import Split, check_folds, read_splits
from weigh.frames import (
    Value,
    canonical,
    collect,
    count_rows,
    key,
    number_sample,
    pick_columns,
    read,
    read_numbers,
    row_weights,
    sort_classes,
    take_rows,
)
from weigh.metrics import Scored
from weigh.metrics.inputs import Labels, bits, read_codes
from weigh.metrics.numbers import NAN, Bounded
from weigh.metrics.predictions import column_of
from weigh.metrics.scores import Many


@dataclass(frozen=True)
class Asked:
    """The arguments of `compare` that say how rows are weighted and held out."""

    cv: Any = 5
    sample_weight: Any = None
    random_state: Any = 0
    groups: Any = None
    exposure: Any = None

    def columns(self, y: Any) -> set[str]:
        """The columns that are named here, and are no features."""
        named = (y, self.sample_weight, self.groups, self.exposure)
        return {name for name in named if isinstance(name, str)}

    def split(self, groups: Any, strata: Integers, kept: Any) -> tuple[Split, ...]:
        """The folds of the kept rows; rows of a group are held out together."""
        together = None if groups is None else _read_groups(groups, len(kept))
        found = read_splits(self.cv, strata, kept, self.random_state, together=together)
        return tuple(found)


def _read_groups(groups: Any, n_rows: int) -> Integers:
    """Group number of each row."""
    column = read_codes(groups, "groups")
    if len(column.codes) != n_rows:
        raise ValueError(
            f"groups has {len(column.codes)} values for {n_rows} rows; give one for each"
        )
    return column.codes


def _keep_features(X: Any, used: set[str], kept: Any) -> Any:
    """The kept rows of a table, without the columns that are used otherwise."""
    features = pick_columns(X, read(X).without(used).names) if used else X
    return features if kept.all() else take_rows(features, np.flatnonzero(kept))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows, their weights, and the folds in which they are held out."""

    X: Any
    weight: Floats | None
    splits: tuple[Split, ...]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.splits[0][0])

    @cached_property
    def held_out(self) -> Integers:
        """Row numbers of the hold-out rows, fold after fold."""
        return np.concatenate([np.flatnonzero(split[1]) for split in self.splits])

    @cached_property
    def times(self) -> Integers:
        """How often each row is predicted."""
        return np.bincount(self.held_out, minlength=self.n_rows)

    @cached_property
    def row_weight(self) -> Floats:
        """Weight of each row; 0 for a row that is never held out."""
        weight = row_weights(self.weight, self.n_rows)
        return np.where(self.times > 0, weight, 0.0)

    @property
    def share(self) -> Floats:
        """Weight of each prediction: the row's weight, divided by its number of predictions."""
        share: Floats = (self.row_weight / np.maximum(self.times, 1))[self.held_out]
        return share

    def given(self, places: Integers) -> dict[str, Any]:
        """Further arguments of `fit` and `predict` for some rows."""
        return {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Why some measures are not defined, in sentences."""
        return ()

    def by_row(self, values: Floats) -> Floats:
        """Mean over the predictions of each row, from one value per prediction."""
        sums = np.bincount(self.held_out, values, self.n_rows)
        return np.asarray(sums / np.maximum(self.times, 1))


# ------------------------------------------------------------ classes


@dataclass(frozen=True)
class Differences:
    """Differences from the learner with the lowest loss; AUC is NaN for more than two classes."""

    loss: Difference
    misclassification: Difference
    brier: Difference
    auc: Difference


@dataclass(frozen=True, eq=False)
class ClassTask(HeldOut):
    """A task of classifiers: the class of row i is labels[codes[i]]."""

    codes: Integers
    labels: np.ndarray[Any, Any]

    @classmethod
    def read(cls, X: Any, y: Any, asked: Asked) -> ClassTask:
        """Read a table, with labels, weights and groups as arrays or as names of its columns."""
        check_folds(asked.cv, named=False)
        X = collect(X)
        used, weight, groups = asked.columns(y), asked.sample_weight, asked.groups
        if used:
            table = read(X)
            y = column_of(table, y, "y")
            weight = column_of(table, weight, "sample_weight")
            groups = column_of(table, groups, "groups")
        found = Labels.read(y, weight)
        if count_rows(X) != len(found.kept):
            raise ValueError(
                f"X and y must have equal length: {count_rows(X)} rows against {len(found.kept)}"
            )
        labels = sort_classes(found.values, "y")
        if len(labels) < 2:
            raise ParameterError(
                Parameter("y"), f" holds {found.values} only; a classifier needs two or more"
            )
        splits = asked.split(groups, found.codes, found.kept)
        X = _keep_features(X, used, found.kept)
        return cls(X, found.weight, splits, found.codes, labels)

    @property
    def classes(self) -> tuple[Value, ...]:
        """Labels of the classes."""
        return tuple(canonical(value) for value in self.labels.tolist())

    @property
    def base_loss(self) -> float:
        """The loss of predicting the base rate for every row."""
        counts = np.bincount(self.codes, self.row_weight, len(self.labels))
        return entropy(counts.astype(np.float64))

    @property
    def loss_name(self) -> str:
        """Unit of the loss."""
        return BITS

    def observed(self, places: Integers) -> Any:
        """Class labels of some rows."""
        return self.labels[self.codes[places]]

    def predict(self, model: Any, places: Integers) -> Floats:
        """Probabilities, one column per class; 0 for a class without training rows."""
        found = model.predict_proba(take_rows(self.X, places))
        columns = {key(value): k for k, value in enumerate(self.classes)}
        p = np.zeros((len(found), len(columns)))
        p[:, [columns[key(canonical(value))] for value in model.classes_.tolist()]] = found
        if not ((p >= 0) & (p <= 1)).all():
            raise ValueError("predict_proba gave NaN, or a number outside 0 to 1")
        return p

    def score(self, p: Floats) -> RowScores:
        """Loss, error and squared error of each row, and rankings."""
        codes, two = self.codes[self.held_out], p.shape[1] == 2
        own = p[np.arange(len(p)), codes]
        said = (p[:, 1] > 0.5) if two else p.argmax(axis=1)
        rows = {
            "loss": bits(own),
            "misclassification": said != codes,
            "brier": (1 - own) ** 2 if two else (p**2).sum(axis=1) - 2 * own + 1,
        }
        ranked = [1] if two else range(p.shape[1])  # the second of two classes, or every class
        return RowScores(
            {name: self.by_row(values) for name, values in rows.items()},
            tuple(
                PairRanking.of(self.splits, self.codes == k, p[:, k], self.weight) for k in ranked
            ),
        )

    def measure(self, p: Floats, rows: RowScores, coverage: float) -> Measures | ManyMeasures:
        """Measures of the pooled probabilities; only the AUC ranks within folds."""
        areas = [ranking.auc(coverage) for ranking in rows.rankings]
        codes = self.codes[self.held_out]
        weight = None if self.weight is None and self.times.max() == 1 else self.share
        if len(self.labels) == 2:
            scored = Scored(codes == 1, p[:, 1], weight)
            return replace(measure(scored, Options(coverage=coverage)), auc=areas[0])
        found = measure_many(Many(codes, p, weight, [*self.classes]), coverage)
        by_class = zip(found.by_class, areas, strict=True)
        return replace(found, by_class=tuple(replace(part, auc=area) for part, area in by_class))

    def subtract(self, one: RowScores, best: RowScores, coverage: float) -> Differences:
        """Paired differences of loss, error, Brier score and, for two classes, AUC."""
        area = Difference(NAN, NAN, NAN, NAN)
        if len(one.rankings) == 1:
            area = one.rankings[0].subtract(best.rankings[0], coverage)
        return Differences(**one.subtract(best, self.row_weight, coverage), auc=area)

    @property
    def notes(self) -> tuple[str, ...]:
        """A note if there is no AUC: every fold holds out rows of one class only."""
        if any(len(np.unique(self.codes[rows])) > 1 for _, rows in self.splits):
            return ()
        return (
            "There is no AUC: it ranks rows of the same fold, and every fold holds out rows of one "
            "class only. Ask for fewer folds.",
        )


# ------------------------------------------------------------ numbers


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


@dataclass(frozen=True, eq=False)
class NumberTask(HeldOut):
    """A task of regressors: numeric targets, and the exposure of each row if there is one.

    `power` is that of the variance of the learners' common family; 0 means squared errors.
    """

    target: str
    numbers: Floats
    power: float
    exposure: Floats | None

    @classmethod
    def read(cls, X: Any, y: Any, asked: Asked, power: float) -> NumberTask:
        """Read a table, with numbers, weights, exposure and groups as arrays or column names."""
        check_folds(asked.cv, named=False)
        X = collect(X)
        table = read(X)
        sample, numbers = number_sample(table, y, asked.sample_weight)
        exposure = spread_out(asked.exposure, table.n_rows)
        if exposure is not None:
            exposure = read_numbers(table, exposure, "exposure")[sample.kept]
        groups = column_of(table, asked.groups, "groups")
        splits = asked.split(groups, np.zeros(len(numbers), dtype=np.int64), sample.kept)
        X = _keep_features(X, asked.columns(y), sample.kept)
        return cls(X, sample.weight, splits, sample.target, numbers, power, exposure)

    @property
    def classes(self) -> tuple[Value, ...]:
        """The name of the target."""
        return (self.target,)

    @property
    def base_loss(self) -> float:
        """Mean loss of predicting the mean, or one rate times the exposure, for every row."""
        unit = np.ones(self.n_rows) if self.exposure is None else self.exposure
        means = unit * rate_alone(self.power, self.numbers, unit, self.row_weight)
        losses = deviances(self.power, self.numbers, means)
        return float(self.row_weight @ losses / self.row_weight.sum())

    @property
    def loss_name(self) -> str:
        """Name of the loss."""
        return f"mean {name_loss(self.power)}"

    def observed(self, places: Integers) -> Any:
        """Targets of some rows."""
        return self.numbers[places]

    def given(self, places: Integers) -> dict[str, Any]:
        """The exposure of some rows, for `fit` and `predict`."""
        return {} if self.exposure is None else {"exposure": self.exposure[places]}

    def predict(self, model: Any, places: Integers) -> Floats:
        """The estimates of some rows, as one column."""
        means = model.predict(take_rows(self.X, places), **self.given(places))
        found = np.asarray(means, dtype=np.float64).reshape(-1, 1)
        if not np.isfinite(found).all():
            raise ValueError("predict gave NaN or infinity")
        return found

    def score(self, p: Floats) -> RowScores:
        """Loss and absolute error of each row."""
        numbers, means = self.numbers[self.held_out], p[:, 0]
        rows = {"loss": deviances(self.power, numbers, means), "absolute": np.abs(numbers - means)}
        return RowScores({name: self.by_row(values) for name, values in rows.items()})

    def measure(self, p: Floats, rows: RowScores, coverage: float) -> NumberMeasures:
        """Measures of the pooled estimates."""
        numbers, means, weight = self.numbers[self.held_out], p[:, 0], self.share
        total = weight.sum()
        squares = float((numbers - means) ** 2 @ weight / total)
        mean = float(numbers @ weight / total)
        spread = float((numbers - mean) ** 2 @ weight / total)
        loss = paired(rows.loss, self.row_weight, coverage)
        return NumberMeasures(
            loss=Bounded(loss.value, loss.low, loss.high),
            rmse=float(np.sqrt(squares)),
            mae=float(np.abs(numbers - means) @ weight / total),
            r2=1 - squares / spread if spread > 0 else NAN,
            slope=slope_of(means, numbers, weight, self.power)[0],
        )

    def subtract(self, one: RowScores, best: RowScores, coverage: float) -> NumberDifferences:
        """Paired differences of loss and absolute error."""
        return NumberDifferences(**one.subtract(best, self.row_weight, coverage))


Task: TypeAlias = ClassTask | NumberTask


MOST_CLASSES = 20
"""A target with more distinct numbers is a number to estimate."""


def holds_amounts(X: Any, y: Any) -> bool:
    """Whether the target is a number to estimate: with fractions, or with many distinct numbers."""
    try:
        _, numbers = number_sample(read(X), y, None)
    except ValueError:  # text, or missing labels
        return False
    return bool((numbers % 1 != 0).any()) or len(np.unique(numbers)) > MOST_CLASSES


def read_task(X: Any, y: Any, candidates: Mapping[str, Any], asked: Asked) -> Task:
    """The task of the learners: numbers if all of them are regressors, classes otherwise."""
    if all(estimates_numbers(estimator) for estimator in candidates.values()):
        powers = {power_of(estimator) for estimator in candidates.values()}
        return NumberTask.read(X, y, asked, powers.pop() if len(powers) == 1 else 0.0)
    if asked.exposure is not None:
        raise ParameterError(
            Parameter("exposure"),
            " needs regressors only; name them, such as EducatedRegressor(family='poisson')",
        )
    return ClassTask.read(X, y, asked)
