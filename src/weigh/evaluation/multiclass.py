"""Measures of probabilities of more than two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.evaluation.measures import entropy, mean_of_spread, rmse_of_rows
from weigh.evidence import BOUND
from weigh.frames import Floats, Value
from weigh.metrics import AUC, CalibrationLine, Scored, auc, calibration_line, reliability_table
from weigh.metrics.numbers import NAN, Bounded
from weigh.metrics.scores import Many


@dataclass(frozen=True, eq=False)
class ClassMeasures:
    """Measures of one class against the rest; `found` is its recall."""

    label: Value
    base_rate: Bounded
    mean_prediction: float
    found: Bounded
    auc: AUC
    line: CalibrationLine
    reliability_rmse: float
    expected_calibration_error: float
    coverage: float

    @property
    def slope(self) -> Bounded:
        """Calibration slope; below 1 the probabilities are overconfident."""
        return Bounded.normal(self.line.slope, self.line.slope_error, self.coverage)


@dataclass(frozen=True, eq=False)
class ManyMeasures:
    """Measures of the probabilities of all classes, on one set of rows.

    `confusion` holds the weight of rows by true class (row) and most probable class (column).
    `brier` is the mean over rows of the squared errors, summed over classes. `line` is the
    calibration line of all rows and classes together, each class against the rest. Its standard
    errors treat the classes of a row as independent rows, so they are too small.
    """

    n_rows: int
    weight: float
    loss: Bounded
    base_loss: float
    misclassification: Bounded
    brier: Bounded
    confusion: Floats
    by_class: tuple[ClassMeasures, ...]
    line: CalibrationLine
    coverage: float

    @property
    def loss_nats(self) -> Bounded:
        """The loss in nats, as scikit-learn's `log_loss`: bits times ln 2."""
        return self.loss.scaled(float(np.log(2)))

    @property
    def explained(self) -> float:
        """Explained share of the loss of always predicting the class frequencies."""
        return 1 - self.loss.value / self.base_loss if self.base_loss else NAN

    @property
    def mean_auc(self) -> float:
        """Mean AUC of each class against the rest, over the classes that occur."""
        known = [part.auc.value for part in self.by_class if part.auc.value == part.auc.value]
        return float(np.mean(known)) if known else NAN

    @property
    def not_defined_because(self) -> str:
        """The reason why some measures are not defined; empty if all are."""
        occur = (self.confusion.sum(axis=1) > 0).sum()
        return "one class" if occur == 1 else ""


def measure_many(rows: Many, coverage: float) -> ManyMeasures:
    """Every measure of probabilities of more than two classes."""
    n, k = len(rows.p), len(rows.classes)
    weight = np.ones(n) if rows.weight is None else rows.weight
    own = rows.p[np.arange(n), rows.codes]
    said = rows.p.argmax(axis=1)
    places = rows.codes * k + said
    confusion = np.bincount(places, weight, k * k).astype(np.float64).reshape(k, k)
    wrong, total = float(confusion.sum() - np.trace(confusion)), float(confusion.sum())
    squares = (rows.p**2).sum(axis=1) - 2 * own + 1
    return ManyMeasures(
        n_rows=n,
        weight=total,
        loss=mean_of_rows(-np.log2(np.clip(own, BOUND, 1 - BOUND)), weight, coverage),
        base_loss=entropy(confusion.sum(axis=1)),
        misclassification=Bounded.share(wrong, total, coverage),
        brier=mean_of_rows(squares, weight, coverage),
        confusion=confusion,
        line=_line(rows),
        by_class=tuple(_measure_class(rows, c, confusion, coverage) for c in range(k)),
        coverage=coverage,
    )


def _line(rows: Many) -> CalibrationLine:
    """The calibration line of all rows and classes, each class against the rest."""
    k = len(rows.classes)
    is_own = rows.codes[:, None] == np.arange(k)
    weight = None if rows.weight is None else np.repeat(rows.weight, k)
    return calibration_line(Scored(is_own.ravel(), rows.p.ravel(), weight))


def mean_of_rows(values: Floats, weight: Floats, coverage: float) -> Bounded:
    """A weighted mean over rows, with its interval."""
    n = float(weight.sum())
    value = float(weight @ values) / n
    return mean_of_spread(value, float(weight @ (values - value) ** 2), n, coverage)


def _measure_class(rows: Many, c: int, confusion: Floats, coverage: float) -> ClassMeasures:
    scored = Scored(rows.codes == c, rows.p[:, c], rows.weight)
    table, groups = reliability_table(scored), scored.groups
    return ClassMeasures(
        label=rows.classes[c],
        base_rate=Bounded.share(groups.n_positive, groups.n, coverage),
        mean_prediction=groups.mean(groups.p),
        found=Bounded.share(float(confusion[c, c]), float(confusion[c].sum()), coverage),
        auc=auc(scored, coverage=coverage),
        line=calibration_line(scored),
        reliability_rmse=rmse_of_rows(table),
        expected_calibration_error=table.expected_calibration_error,
        coverage=coverage,
    )
