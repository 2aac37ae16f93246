"""Checks of a regressor on new rows with known numbers: mean, slope and deviance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.errors import Parameter, ParameterError
from weigh.evaluation import Bounded
from weigh.evaluation.estimates import Estimated, name_loss, slope_of
from weigh.metrics import COVERAGE
from weigh.metrics.numbers import NAN
from weigh.monitoring.checks import FEW, Check, check_rise, check_t

ROUNDING = 1e-6
"""Least error of the numbers, relative to the estimates."""


@dataclass(frozen=True)
class NumberQuality:
    """Quality of the estimates on the new rows, with 95% intervals.

    The intervals account for the noise of the new rows only. `in_the_large` is the ratio of the
    mean observed to the mean estimate with a log link, and their difference without one. `slope`
    and `corrected_loss` are computed after the estimates are corrected by it.
    """

    target: str
    mean_observed: float
    mean_estimate: float
    in_the_large: Bounded
    slope: Bounded  # after the correction of the mean
    loss: Bounded
    corrected_loss: Bounded
    training_loss: float  # of out-of-sample predictions of training rows
    loss_name: str
    ratio: bool
    training_error: float = 0.0  # mean out-of-sample error in training; added to estimates
    training_slope: float = 1.0


@dataclass(frozen=True)
class Before:
    """Noise variance, loss, mean error and slope of out-of-sample predictions in training.

    `rows` is the number of rows behind these figures, which determines their sampling noise.
    """

    noise: float
    loss: float
    rows: float
    error: float = 0.0
    slope: float = 1.0

    @classmethod
    def of(cls, model: Any, n_training: float) -> Before:
        """The figures of a fitted model: leave-one-out, or from its cross-validation folds."""
        if hasattr(model, "loo_deviance_"):
            return cls(float(model.dispersion_), float(model.loo_deviance_), n_training)
        if getattr(model, "hold_out_rows_", None) is None:
            raise ParameterError(
                Parameter("y"),
                f" needs the errors of hold-out rows, which this {type(model).__name__} has not: "
                "fit it again with calibrate_scale=True, or leave y out",
            )
        noise = float(model.hold_out_variance_)
        error, slope = float(model.hold_out_error_), float(model.hold_out_slope_)
        return cls(noise, noise, float(model.hold_out_rows_), error, slope)


def check_numbers(
    model: Any, rows: Estimated, n_training: float
) -> tuple[NumberQuality, list[Check]]:
    """Mean, slope and loss of the new rows, and the checks that they equal those of training.

    The checks clip numbers to the `y_range` of the fit, as the fit did. Fewer rows than `FEW` are
    not checked, because their standard errors are too uncertain.
    """
    before = Before.of(model, n_training)
    quality = _measure(_Errors.of(rows, before), before)
    if len(rows.numbers) < FEW:
        return quality, []
    if getattr(model, "y_range", None) is not None:
        rows = replace(rows, numbers=np.clip(rows.numbers, *model.y_range))
    return quality, _check(_Errors.of(rows, before), before, quality.loss_name)


@dataclass(frozen=True, eq=False)
class _Errors:
    """Mean error, slope and loss of some rows, each with its standard error.

    The estimates of `rows` include the mean out-of-sample error of training. Those of `right` are
    also corrected to the mean of the numbers; slope and loss use them, because an error of the mean
    would affect both.
    """

    rows: Estimated
    right: Estimated
    mean: tuple[float, float]
    slope: tuple[float, float]
    loss: tuple[float, float]

    @classmethod
    def of(cls, rows: Estimated, before: Before) -> _Errors:
        rows = replace(rows, means=rows.means + before.error)
        right = replace(rows, means=_correct(rows))
        mean, loss = _mean(rows.numbers - rows.means), _mean(right.losses(rows.power))
        return cls(rows, right, mean, slope_of(right.means, right.numbers, right.weight), loss)

    @property
    def log(self) -> bool:
        """Whether the link is a logarithm."""
        return self.rows.power > 0


def _measure(found: _Errors, before: Before) -> NumberQuality:
    rows, n = found.rows, len(found.rows.numbers)
    mean = float(rows.means.mean())
    return NumberQuality(
        target=rows.target,
        mean_observed=float(rows.numbers.mean()),
        mean_estimate=mean - before.error,
        in_the_large=_ratio(found.mean, mean, n) if found.log else _bounded(found.mean, n - 1),
        slope=_bounded(found.slope, n - 2),
        loss=_positive(_bounded(_mean(rows.losses(rows.power)), n - 1)),
        corrected_loss=_positive(_bounded(found.loss, n - 1)),
        training_loss=before.loss,
        loss_name=f"mean {name_loss(rows.power)}",
        ratio=found.log,
        training_error=before.error,
        training_slope=before.slope,
    )


def _check(found: _Errors, before: Before, loss_name: str) -> list[Check]:
    """Checks of mean, slope and loss.

    Variances are multiplied by 1 + n/N, because the training rows have sampling noise too. Without
    a log link, differences are in standard deviations of the noise; with one, they are relative to
    the mean.
    """
    rows, right, n = found.rows, found.right, len(found.rows.numbers)
    least = _least_noise(rows)
    noise, loss = max(before.noise, least), max(before.loss, least)
    more = float(np.sqrt(1 + n / before.rows))
    unit, whole = (
        float(own.means.mean()) if found.log else np.sqrt(noise) for own in (rows, right)
    )
    mean_error = more * max(found.mean[1], _stated_mean(rows, noise))
    slope_error = more * max(found.slope[1], _stated_slope(right, noise))
    change, varies = found.slope[0] - before.slope, float(right.means.std()) / whole
    rise, rise_error = found.loss[0] / loss - 1, more * found.loss[1] / loss
    return [
        check_t("mean estimate", "in the large", found.mean[0] / unit, mean_error / unit, n - 1),
        check_t("calibration slope", "slope", change, slope_error, n - 2, varies),
        check_rise(loss_name, "loss", rise, rise_error, n - 1),
    ]


def _least_noise(rows: Estimated) -> float:
    """A lower limit of the noise variance, from rounding, for numbers estimated without error."""
    size = float(np.sqrt(np.mean(rows.means**2))) or 1.0
    return float((ROUNDING * size) ** 2 / size**rows.power)


def _correct(rows: Estimated) -> Floats:
    """Estimates corrected to the mean of the numbers by one factor (log link) or one shift."""
    if not rows.power > 0:
        return rows.means + float((rows.numbers - rows.means).mean())
    total = float(rows.numbers.sum())
    return rows.means * (total / float(rows.means.sum())) if total > 0 else rows.means


def _mean(values: Floats) -> tuple[float, float]:
    """The mean of some values and its standard error, which is NaN for a single value."""
    n = len(values)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else NAN


def _stated_mean(rows: Estimated, noise: float) -> float:
    """The standard error of the mean under the model's noise variance.

    For skewed numbers, a sample mean that is too small has a standard error that is too small. The
    error under the model does not depend on the sample, so `_check` uses the larger of both.
    """
    return float(np.sqrt((noise * rows.means**rows.power).sum())) / len(rows.means)


def _stated_slope(rows: Estimated, noise: float) -> float:
    centred = rows.means - rows.means.mean()
    variance = noise * rows.means**rows.power
    return float(np.sqrt(centred**2 @ variance) / max(centred @ centred, 1e-300))


def _bounded(found: tuple[float, float], degrees: int) -> Bounded:
    return Bounded.student(*found, degrees, COVERAGE)


def _ratio(found: tuple[float, float], unit: float, n: int) -> Bounded:
    """The ratio of mean observed to mean estimate, from their difference."""
    return _positive(_bounded((1 + found[0] / unit, found[1] / unit), n - 1))


def _positive(bounded: Bounded) -> Bounded:
    """An interval cut off at zero."""
    return replace(bounded, low=float(np.maximum(bounded.low, 0.0)))
