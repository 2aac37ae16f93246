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
    training_error: float = 0.0  # mean of training rows left out, which in_the_large is less by
    training_slope: float = 1.0


@dataclass(frozen=True)
class Before:
    """What training rows left out say: variance of the noise, loss, mean error and slope."""

    noise: float
    loss: float
    error: float = 0.0
    slope: float = 1.0

    @classmethod
    def of(cls, model: Any) -> Before:
        """Of a regressor whose estimates are means, or whose fit has kept the errors of folds."""
        if hasattr(model, "loo_deviance_"):
            return cls(float(model.dispersion_), float(model.loo_deviance_))
        known = getattr(model, "hold_out_errors_", None)
        if known is None:
            raise ParameterError(
                Parameter("y"),
                f" needs the errors of hold-out rows, which this {type(model).__name__} has not: "
                "fit it with calibrate_scale=True, or leave y out",
            )
        error, noise, slope = map(float, known)
        return cls(noise, noise, error, slope)


def check_numbers(
    model: Any, rows: Estimated, n_training: float
) -> tuple[NumberQuality, list[Check]]:
    """Mean, slope and loss of the new rows, and the checks that they are as in training.

    Tests widen variances by 1 + n/N: training rows have sampling noise too. Without a log link,
    differences are in standard deviations of the noise; with one, they are relative to the mean.
    Slope and loss are checked with the mean corrected, which would raise them otherwise. Fewer
    rows than `FEW` are not checked: their error is hardly known.
    """
    before = Before.of(model)
    n, log, noise = len(rows.numbers), rows.power > 0, before.noise
    rows = replace(rows, means=rows.means + before.error)
    unit = float(rows.means.mean()) if log else float(np.sqrt(noise))
    right = replace(rows, means=_correct(rows, log))
    large, slope, loss = _mean_error(rows), _slope(right), _mean(right.losses(rows.power))
    quality = NumberQuality(
        target=rows.target,
        mean_observed=float(rows.numbers.mean()),
        mean_estimate=float(rows.means.mean()) - before.error,
        in_the_large=_ratio(large, unit, n) if log else _bounded(large, n - 1),
        slope=_bounded(slope, n - 2),
        loss=_positive(_bounded(_mean(rows.losses(rows.power)), n - 1)),
        corrected_loss=_positive(_bounded(loss, n - 1)),
        training_loss=before.loss,
        loss_name=f"mean {name_loss(rows.power)}",
        ratio=log,
        training_error=before.error,
        training_slope=before.slope,
    )
    if n < FEW:
        return quality, []
    more = float(np.sqrt(1 + n / n_training))
    varies = float(right.means.std()) / (float(right.means.mean()) if log else unit)
    errors = [max(large[1], _stated_mean(rows, noise)), max(slope[1], _stated_slope(right, noise))]
    least = max(before.loss, 1e-300)
    rise, relative = loss[0] / least - 1, more * loss[1] / least
    change = slope[0] - before.slope
    off, wide = large[0] / unit, more * errors[0] / unit
    return quality, [
        check_t("mean estimate", "in the large", off, wide, n - 1),
        check_t("calibration slope", "slope", change, more * errors[1], n - 2, varies),
        check_rise(quality.loss_name, "loss", rise, relative, n - 1),
    ]


def _correct(rows: Estimated, log: bool) -> Floats:
    """Estimates with the mean of the numbers: all times one factor, or plus one amount."""
    if not log:
        return rows.means + float((rows.numbers - rows.means).mean())
    total = float(rows.numbers.sum())
    return rows.means * (total / float(rows.means.sum())) if total > 0 else rows.means


def _mean(values: Floats) -> tuple[float, float]:
    """The mean of some values, and its standard error, which one value does not tell."""
    n = len(values)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else NAN


def _mean_error(rows: Estimated) -> tuple[float, float]:
    return _mean(rows.numbers - rows.means)


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
