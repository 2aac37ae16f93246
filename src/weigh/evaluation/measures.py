"""Measures of probabilities: of one class, all from one sort of the rows, and of many classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.arrays import Floats
from weigh.evaluation.decisions import Decision, Options, decide
from weigh.evidence import BOUND
from weigh.frames import Value
from weigh.metrics import (
    AUC,
    BrierDecomposition,
    CalibrationLine,
    Groups,
    ReliabilityTable,
    Scored,
    auc,
    best_threshold,
    brier_decomposition,
    calibration_line,
    error_rates,
    gains_curve,
    reliability_table,
)
from weigh.metrics.numbers import NAN, Bounded
from weigh.metrics.scores import Many

TENTHS = np.arange(1, 11) / 10
ALIKE = 1e-9
"""Deviations of at most this size relative to the mean are rounding errors."""


@dataclass(frozen=True, eq=False)
class GainsAtTenths:
    """The share of positives (`gain`) in the most probable share of rows (`depth`), and `lift`."""

    depth: Floats
    gain: Floats
    lift: Floats


@dataclass(frozen=True, eq=False)
class Measures:
    """How good probabilities of one class are, on one set of rows.

    `loss` is in bits per row; `base_loss` is that of predicting the base rate of these rows.
    `decision` uses the cut-off that the costs imply, `best` the one of least cost on these rows,
    `cut_offs` the given ones, and `thresholds` 0.1, 0.2, ... 0.9.
    `cost_of_all` and `cost_of_none` are the costs of flagging every row, and no row. `ks` is the
    Kolmogorov-Smirnov distance between the predictions of both classes: the maximum over thresholds
    of |sensitivity - false positive rate|.
    """

    n_rows: int
    weight: float
    base_rate: Bounded
    mean_prediction: float
    loss: Bounded
    base_loss: float
    misclassification: Bounded
    brier: Bounded
    brier_parts: BrierDecomposition
    auc: AUC
    ks: float
    line: CalibrationLine
    reliability: ReliabilityTable
    gains: GainsAtTenths
    decision: Decision
    best: Decision
    cost_of_all: float
    cost_of_none: float
    cut_offs: tuple[Decision, ...]
    thresholds: tuple[Decision, ...]
    coverage: float
    equal_predictions: bool

    @property
    def loss_nats(self) -> Bounded:
        """The loss in nats, as scikit-learn's `log_loss`: bits times ln 2."""
        return self.loss.scaled(float(np.log(2)))

    @property
    def explained(self) -> float:
        """Explained share of the base rate's loss; negative if the base rate alone is better."""
        return 1 - self.loss.value / self.base_loss if self.base_loss else NAN

    @property
    def slope(self) -> Bounded:
        """Calibration slope; below 1 the probabilities are overconfident."""
        return Bounded.normal(self.line.slope, self.line.slope_error, self.coverage)

    @property
    def intercept(self) -> Bounded:
        """Intercept of the calibration line."""
        return Bounded.normal(self.line.intercept, self.line.intercept_error, self.coverage)

    @property
    def in_the_large(self) -> Bounded:
        """Calibration in the large, in log odds; above 0 the probabilities are too low."""
        line = self.line
        return Bounded.normal(line.in_the_large, line.in_the_large_error, self.coverage)

    @property
    def gini(self) -> Bounded:
        """Gini coefficient, 2 AUC - 1, as is usual for scorecards."""
        area = self.auc
        return Bounded(*(2 * end - 1 for end in (area.value, area.low, area.high)))

    @property
    def reliability_rmse(self) -> float:
        """Root mean square over rows of the observed rate minus the mean prediction of their bin.

        `reliability.rmse` gives all bins equal weight (Carlos 2015), so one bin with a single row
        may dominate it.
        """
        return rmse_of_rows(self.reliability)

    @property
    def top_tenth_lift(self) -> float:
        """Lift of the most probable tenth of the rows: their rate over the base rate."""
        return float(self.gains.lift[0])

    @property
    def not_defined_because(self) -> str:
        """The reason why some measures are not defined; empty if all are."""
        if self.base_rate.value in (0, 1):
            return "one class"
        if self.equal_predictions:
            return "equal predictions"
        return "perfect separation" if np.isinf(self.line.slope) else ""


def measure(rows: Scored, options: Options) -> Measures:
    """Every measure of probabilities of one class."""
    groups, coverage = rows.groups, options.coverage
    p = np.clip(groups.p, BOUND, 1 - BOUND)
    half = error_rates(rows, threshold=0.5)
    wrong = half.false_positives + half.false_negatives
    best = best_threshold(rows, cost_fp=options.costs[0], cost_fn=options.costs[1])
    return Measures(
        n_rows=len(rows),
        weight=groups.n,
        base_rate=Bounded.share(groups.n_positive, groups.n, coverage),
        mean_prediction=groups.mean(groups.p),
        loss=_mean(groups, -np.log2(p), -np.log1p(-p) / np.log(2), coverage),
        base_loss=entropy(np.array([groups.n_positive, groups.n_negative])),
        misclassification=Bounded.share(wrong, groups.n, coverage),
        brier=_mean(groups, (1 - groups.p) ** 2, groups.p**2, coverage),
        brier_parts=brier_decomposition(rows),
        auc=auc(rows, coverage=coverage),
        ks=_ks(groups),
        line=calibration_line(rows),
        reliability=reliability_table(rows, coverage=coverage),
        gains=_gains(rows),
        decision=decide(rows, options.threshold, options),
        best=decide(rows, best.threshold, options),
        cost_of_all=options.costs[0] * (1 - groups.base_rate),
        cost_of_none=options.costs[1] * groups.base_rate,
        cut_offs=tuple(decide(rows, t, options) for t in options.cut_offs),
        thresholds=tuple(decide(rows, t, options) for t in TENTHS[:-1].tolist()),
        coverage=coverage,
        equal_predictions=len(groups.p) == 1,
    )


def _ks(groups: Groups) -> float:
    if groups.one_class:
        return NAN
    positives = groups.positives_up_to / groups.n_positive
    return float(np.abs(positives - groups.negatives_up_to / groups.n_negative).max())


def rmse_of_rows(table: ReliabilityTable) -> float:
    """Root mean square of observed rate minus mean prediction, with bins weighted by their rows."""
    return float(
        np.sqrt(np.average((table.rate - table.mean_prediction) ** 2, weights=table.weight))
    )


def entropy(counts: Floats) -> float:
    """Entropy in bits: the loss of always predicting the class frequencies."""
    share = counts[counts > 0] / counts.sum()
    return float(-(share @ np.log2(share))) + 0.0


def _mean(groups: Groups, if_positive: Floats, if_negative: Floats, coverage: float) -> Bounded:
    """The mean of a non-negative quantity that depends on class and probability."""
    value = float(groups.positives @ if_positive + groups.negatives @ if_negative) / groups.n
    spread = groups.positives @ (if_positive - value) ** 2
    spread += groups.negatives @ (if_negative - value) ** 2
    return mean_of_spread(value, float(spread), groups.n, coverage)


def mean_of_spread(value: float, spread: float, n: float, coverage: float) -> Bounded:
    """A mean of n rows with its interval, which is cut off at 0.

    `spread` is the sum of squared deviations. If all values are equal, there is no interval.
    """
    if n <= 1 or spread <= n * (ALIKE * value) ** 2:
        return Bounded(value)
    found = Bounded.normal(value, float(np.sqrt(spread / (n - 1) / n)), coverage)
    return Bounded(value, max(found.low, 0.0), found.high)


def _gains(rows: Scored) -> GainsAtTenths:
    gain = gains_curve(rows).at(TENTHS)
    return GainsAtTenths(TENTHS, gain, gain / TENTHS)


# ------------------------------------------------------------ more than two classes


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
    k, weight = len(rows.classes), rows.weights
    cells = np.bincount(rows.codes * k + rows.most_probable, weight, k * k)
    confusion = cells.astype(np.float64).reshape(k, k)
    wrong, total = float(confusion.sum() - np.trace(confusion)), float(confusion.sum())
    squares = (rows.p**2).sum(axis=1) - 2 * rows.own + 1
    return ManyMeasures(
        n_rows=len(rows),
        weight=total,
        loss=mean_of_rows(rows.losses, weight, coverage),
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
    scored = rows.against_rest(c)
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
