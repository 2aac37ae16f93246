"""Estimates on new rows whose numbers are known: mean, slope and deviance against training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from weigh.errors import Parameter, ParameterError
from weigh.evaluation import Bounded
from weigh.evaluation.estimates import Estimated, name_loss
from weigh.evaluation.numbers import slope_of
from weigh.frames import Floats
from weigh.metrics import COVERAGE
from weigh.metrics.numbers import NAN
from weigh.monitoring.checks import FEW, Check, check_rise, check_t

ROUNDING = 1e-6
"""The error, relative to the estimates, that numbers have at least."""


@dataclass(frozen=True)
class NumberQuality:
    """How good the estimates of a number are on the new rows, with 95% intervals.

    The intervals know the noise of the new rows alone. `in_the_large` is the ratio of the mean
    observed to the mean estimate with a log link, and their difference without one. Slope and
    corrected loss are those of estimates that are corrected by it.
    """

    target: str
    mean_observed: float
    mean_estimate: float
    in_the_large: Bounded
    slope: Bounded  # with the mean corrected, as `corrected_loss`
    loss: Bounded
    corrected_loss: Bounded
    training_loss: float  # of training rows left out
    loss_name: str
    ratio: bool
    training_error: float = 0.0  # the mean error of training rows left out; added to estimates
    training_slope: float = 1.0


@dataclass(frozen=True)
class Before:
    """What training rows left out say: variance of the noise, loss, mean error and slope.

    `rows` is how many rows these come from: their sampling noise is that of so many.
    """

    noise: float
    loss: float
    rows: float
    error: float = 0.0
    slope: float = 1.0

    @classmethod
    def of(cls, model: Any, n_training: float) -> Before:
        """Of a regressor whose estimates are means, or whose fit has kept the errors of folds."""
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
    """Mean, slope and loss of the new rows, and the checks that they are as in training.

    The checks clip numbers to the `y_range` of the fit, beyond which it did not see either. Fewer
    rows than `FEW` are not checked: their error is hardly known.
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

    `rows` have estimates plus the mean error of training rows left out, and `right` those that
    have the mean of the numbers. Slope and loss are theirs: an error of the mean would raise them.
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
        return cls(rows, right, mean, _slope(right), loss)

    @property
    def log(self) -> bool:
        """Whether the link is the logarithm."""
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
    """Tests widen variances by 1 + n/N: the rows of training have sampling noise too.

    Without a log link, differences are in standard deviations of the noise; with one, they are
    relative to the mean.
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
    """The noise of numbers that are estimated without error: that of their rounding, at most."""
    size = float(np.sqrt(np.mean(rows.means**2))) or 1.0
    return float((ROUNDING * size) ** 2 / size**rows.power)


def _correct(rows: Estimated) -> Floats:
    """Estimates with the mean of the numbers: all times one factor, or plus one amount."""
    if not rows.power > 0:
        return rows.means + float((rows.numbers - rows.means).mean())
    total = float(rows.numbers.sum())
    return rows.means * (total / float(rows.means.sum())) if total > 0 else rows.means


def _mean(values: Floats) -> tuple[float, float]:
    """The mean of some values, and its standard error, which one value does not tell."""
    n = len(values)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else NAN


def _slope(rows: Estimated) -> tuple[float, float]:
    """Of a regression of the numbers on their estimates; its error (HC3) allows for unequal noise.

    The residual of each row is that of a regression without it.
    """
    centred = rows.means - rows.means.mean()
    square = float(centred @ centred)
    slope = slope_of(rows.means, rows.numbers, rows.weight)
    if len(centred) < 3 or not square > 0:
        return slope, NAN
    pull = 1 / len(centred) + centred**2 / square
    left = rows.numbers - rows.numbers.mean() - slope * centred
    left = left / np.maximum(1 - pull, 1e-9)
    return slope, float(np.sqrt(centred**2 @ left**2)) / square


def _stated_mean(rows: Estimated, noise: float) -> float:
    """The error of the mean if the noise is that of the model.

    Where numbers are skewed, a mean that is too small comes with an error that is too small. That
    of the model has no such part, and the larger of both is taken.
    """
    return float(np.sqrt((noise * rows.means**rows.power).sum())) / len(rows.means)


def _stated_slope(rows: Estimated, noise: float) -> float:
    centred = rows.means - rows.means.mean()
    variance = noise * rows.means**rows.power
    return float(np.sqrt(centred**2 @ variance) / max(centred @ centred, 1e-300))


def _bounded(found: tuple[float, float], degrees: int) -> Bounded:
    value, error = found
    reach = float(stdtrit(degrees, (1 + COVERAGE) / 2)) * error if degrees > 0 else NAN
    return Bounded(value, value - reach, value + reach)


def _ratio(found: tuple[float, float], unit: float, n: int) -> Bounded:
    """The mean of the numbers over that of the estimates, from the mean difference."""
    return _positive(_bounded((1 + found[0] / unit, found[1] / unit), n - 1))


def _positive(bounded: Bounded) -> Bounded:
    """What has no limits below zero."""
    return replace(bounded, low=float(np.maximum(bounded.low, 0.0)))
