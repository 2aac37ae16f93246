"""Observed numbers and a model's estimates, row by row and group by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from weigh.arrays import Floats, Integers
from weigh.engine import one_blas_thread
from weigh.evaluation.groups import LEAST, Grouping
from weigh.evidence.exposure import given_to, refuse_missing, unit_of
from weigh.frames import number_sample, read, read_numbers
from weigh.metrics.inputs import Flags
from weigh.metrics.numbers import NAN, Bounded, normal_quantile
from weigh.metrics.predictions import features_of
from weigh.newton.regression import Power, refuse_outside
from weigh.parameters import is_number

ROUNDING = 1e-12
"""Estimates that differ relatively by no more than this are equal, apart from rounding."""


@dataclass(frozen=True, eq=False)
class Estimated:
    """Observed numbers and a model's estimates, for rows with a positive weight.

    `power` is the variance power of the model's family; 0 means squared errors. `kept` marks these
    rows among those given. `exposure` is None if it is the same for every row. `alone` are the
    estimates of a model without features: the mean or, with a log link, one rate times exposure and
    exp(offset).
    """

    target: str
    numbers: Floats
    means: Floats
    weight: Floats
    kept: Flags
    alone: Floats
    power: float = 0.0
    given: dict[str, Any] = field(default_factory=dict)  # exposure and offset
    exposure: Floats | None = None

    @classmethod
    @one_blas_thread()  # rounding would depend on the number of threads
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        exposure: Any = None,
        beside: Sequence[str] = (),
    ) -> Estimated:
        """The estimates of a fitted regressor of this package or scikit-learn, or of a pipeline.

        `beside` names columns of X that are not features, unless the model was fitted with them.
        """
        table = read(X)
        sample, numbers = number_sample(table, y, sample_weight)
        if hasattr(model, "_family"):
            refuse_outside(model._family, numbers, sample.target, model.family, sample.kept)
        own = given_to(model, table.names, exposure)
        refuse_missing(table, own)
        means = model.predict(_features(model, X, (y, sample_weight), beside), **own)
        means = np.asarray(means, dtype=np.float64)[sample.kept]
        unit, weight = unit_of(model, table, own)[sample.kept], sample.weights
        power = power_of(model)
        alone = unit * rate_alone(power, numbers, unit, weight)
        rows = numbers, means, sample.weights, sample.kept, alone
        found = cls(sample.target, *rows, power, own)
        known = own.get("exposure")
        if known is None or is_number(known):
            return found
        return replace(found, exposure=read_numbers(table, known, "exposure")[sample.kept])

    def take(self, places: Integers) -> Estimated:
        """The estimates of some of the rows."""
        return replace(
            self,
            numbers=self.numbers[places],
            means=self.means[places],
            weight=self.weight[places],
            alone=self.alone[places],
            exposure=None if self.exposure is None else self.exposure[places],
        )

    @property
    def mean(self) -> float:
        """The weighted mean of the observed numbers."""
        return float(self.numbers @ self.weight / self.weight.sum())

    def losses(self, power: float) -> Floats:
        """The deviance of each row for a variance power."""
        return deviances(power, self.numbers, self.means)


def power_of(model: Any) -> float:
    """The variance power of a model's family; 0 for models without a family."""
    return float(getattr(getattr(model, "_family", None), "power", 0.0))


def shared_power(powers: Sequence[float], means: Sequence[Floats]) -> float:
    """The variance power that all models share, or 0 (squared errors) if they share none.

    It is also 0 if some means are not positive, because their deviance is not defined.
    """
    if len({*powers}) > 1 or any((own <= 0).any() for own in means):
        return 0.0
    return powers[0]


def rate_alone(power: float, numbers: Floats, unit: Floats, weight: Floats) -> float:
    """The rate r whose estimates r u have the least deviance: that of a model without features.

    r = sum of w y u^(1-p) / sum of w u^(2-p)

    With p = 1, and with equal units, it is the mean per unit; also for squared errors (power 0).
    """
    p = power or 1.0
    return float(weight @ (numbers * unit ** (1 - p)) / (weight @ unit ** (2 - p)))


def deviances(power: float, numbers: Floats, means: Floats) -> Floats:
    """The deviance of each row; its squared error if the power is 0 or a mean is not positive."""
    if not power or (means <= 0).any():
        return np.asarray((numbers - means) ** 2)
    return np.asarray(2 * Power(power).losses(np.log(means), numbers))


def slope_of(
    estimates: Floats, numbers: Floats, weight: Floats, power: float = 0.0
) -> tuple[float, float]:
    """The slope of a weighted regression of the numbers on the estimates, and its HC3 error.

    With a log link (a `power` above 0) the estimates are first multiplied by the factor that
    corrects their mean, because a wrong mean would affect the slope. HC3 allows for unequal noise:
    it uses the residual of each row from a regression without it. The error is NaN if the weights
    sum to 2 or less; both are NaN for equal estimates.
    """
    total = float(weight.sum())
    if power > 0 and numbers @ weight > 0:
        estimates = estimates * (numbers @ weight / (estimates @ weight))
    centred = estimates - estimates @ weight / total
    square = float(centred**2 @ weight)
    if np.ptp(estimates) <= ROUNDING * np.abs(estimates).max() or not square > 0:
        return NAN, NAN
    slope = float((centred * numbers) @ weight) / square
    if not total > 2:
        return slope, NAN
    pull = 1 / total + centred**2 / square
    left = numbers - numbers @ weight / total - slope * centred
    left = left / np.maximum(1 - pull, 1e-9)
    return slope, float(np.sqrt((centred * left) ** 2 @ weight)) / square


def name_loss(power: float) -> str:
    """The name of the loss of a row."""
    return "deviance" if power else "squared error"


def _features(model: Any, X: Any, used: tuple[Any, ...], beside: Sequence[str]) -> Any:
    """X unchanged for models of this package; for others the columns that they were fitted on."""
    named = {name for name in used if isinstance(name, str)}
    if hasattr(model, "_read") or not (named or beside):
        return X
    return features_of(model, X, read(X), named, beside)


def mean_of(
    values: Floats, weight: Floats, coverage: float, signed: bool = False, rare: float = 0.0
) -> Bounded:
    """A weighted mean with its interval, computed for its logarithm unless values are `signed`.

    `rare` is the upper limit of the sum if all values are zero.
    """
    total = weight.sum()
    mean = float(values @ weight / total)
    error = float(np.sqrt((values - mean) ** 2 @ weight / max(total - 1, 1.0) / total))
    if signed:
        return Bounded.normal(mean, error, coverage)
    if mean == 0:
        return Bounded(0.0, 0.0, rare / float(total))
    reach = float(np.exp(min(normal_quantile(coverage) * error / mean, 700.0)))
    return Bounded(mean, mean / reach, mean * reach)


def find_bias(rows: Estimated, coverage: float) -> Bounded:
    """Mean observed less mean estimate; no interval for few rows, or for equal errors."""
    errors, weight = rows.numbers - rows.means, rows.weight
    total = float(weight.sum())
    gap = float(weight @ errors) / total
    error = _error(errors - gap, weight) / total
    degrees = total - 1 if total >= LEAST and error > 0 else NAN
    return Bounded.student(gap, error, degrees, coverage)


def rare_sum(numbers: Floats, weight: Floats, coverage: float) -> float:
    """The upper limit of a sum without any event, for Poisson events of mean observed size."""
    positive = np.where(numbers > 0, weight, 0.0)
    if not positive.any():
        return 0.0
    return -float(np.log((1 - coverage) / 2) * (numbers @ positive) / positive.sum())


# ------------------------------------------------------------ groups


@dataclass(frozen=True)
class NumberGroup:
    """Measures of one group of rows: observed and estimated means, and their difference.

    `observed` and `estimate` are means over rows, or per unit of exposure if each row has its own
    exposure. `ratio` is observed/estimate; it is unknown in all groups if it is unknown in one.
    `difference` is observed - estimate. Their intervals treat the estimates as fixed. `deviance` is
    a mean over rows. `note` says why a measure is not known.
    """

    name: str
    n_rows: int
    weight: float
    exposure: float
    observed: float
    estimate: float
    ratio: Bounded
    difference: Bounded
    rmse: float
    deviance: float
    note: str = ""

    @property
    def bias(self) -> Bounded:
        """The ratio, or the difference if that is unknown."""
        return self.ratio if self.ratio.is_known() else self.difference

    def is_biased(self) -> bool:
        """Whether the bias is significant."""
        right = 1.0 if self.ratio.is_known() else 0.0
        return self.bias.has_interval() and not self.bias.holds(right)


def measure_number_groups(
    grouping: Grouping, rows: Estimated, coverage: float
) -> tuple[tuple[NumberGroup, ...], NumberGroup]:
    """Measures of every group, in the order of its values, and of all rows together."""
    rare = rare_sum(rows.numbers, rows.weight, coverage)
    parts = [(n, rows.take(at)) for n, at in grouping.split(rows.kept, rows.weight)]
    signed = bool(rows.numbers.min() < 0 or rows.means.min() < 0)
    signed |= any(part.weight @ part.means <= 0 for _, part in parts)  # same measure for all groups
    found = [_measure(n, part, signed, rare, coverage) for n, part in (*parts, ("All rows", rows))]
    return tuple(found[:-1]), found[-1]


def _measure(name: str, rows: Estimated, signed: bool, rare: float, coverage: float) -> NumberGroup:
    weight, errors = rows.weight, rows.numbers - rows.means
    total = float(weight.sum())
    units = total if rows.exposure is None else float(weight @ rows.exposure)
    observed, estimate = float(weight @ rows.numbers), float(weight @ rows.means)
    enough = total >= LEAST
    off = _error(errors - errors @ weight / total, weight)
    reach = float(stdtrit(total - 1, (1 + coverage) / 2)) if enough else NAN
    gap = (observed - estimate) / units
    wide = reach * off / units if off > 0 else NAN
    return NumberGroup(
        name=name,
        n_rows=len(errors),
        weight=total,
        exposure=NAN if rows.exposure is None else units,
        observed=observed / units,
        estimate=estimate / units,
        ratio=Bounded(NAN) if signed else _ratio(rows, reach, rare),
        difference=Bounded(gap, gap - wide, gap + wide),
        rmse=float(np.sqrt(weight @ errors**2 / total)),
        deviance=float(weight @ rows.losses(rows.power) / total),
        note="" if enough else f"too few rows for an interval: {total:g}, and {LEAST} are needed",
    )


def _error(errors: np.ndarray, weight: np.ndarray) -> float:
    """The standard error of a sum over rows whose errors have a mean of zero."""
    total = float(weight.sum())
    return float(np.sqrt(weight @ errors**2 * total / max(total - 1, 1.0)))


def _ratio(rows: Estimated, reach: float, rare: float) -> Bounded:
    """Observed over estimated, with an interval that is symmetric for its logarithm.

    The standard error of a ratio of sums is that of the sum of y - ratio mean, over the sum of
    means.
    """
    whole, part = float(rows.weight @ rows.means), float(rows.weight @ rows.numbers)
    if part == 0:
        return Bounded(0.0, 0.0, rare / whole) if np.isfinite(reach) and rare else Bounded(0.0)
    ratio = part / whole
    error = _error(rows.numbers - ratio * rows.means, rows.weight) / part
    if not error > 1e-12 or not np.isfinite(reach):  # no interval from equal rows
        return Bounded(ratio)
    factor = float(np.exp(min(reach * error, 700.0)))
    return Bounded(ratio, ratio / factor, ratio * factor)
