"""Estimates on new rows whose numbers are known: mean, slope and deviance against training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.evaluation import Bounded
from weigh.evaluation.estimates import Estimated, name_loss
from weigh.evaluation.numbers import slope_of
from weigh.frames import Floats
from weigh.metrics import COVERAGE
from weigh.monitoring.checks import Check, check_normal


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


def check_numbers(
    model: Any, rows: Estimated, n_training: float
) -> tuple[NumberQuality, list[Check]]:
    """Mean, slope and loss of the new rows, and the checks that they are as in training.

    Tests widen variances by 1 + n/N: training rows have sampling noise too. Without a log link,
    differences are in standard deviations of the noise; with one, they are relative to the mean.
    Slope and loss are checked with the mean corrected, which would raise them otherwise.
    """
    log, more = rows.power > 0, float(np.sqrt(1 + len(rows.numbers) / n_training))
    unit = float(rows.means.mean()) if log else float(np.sqrt(model.dispersion_))
    right = replace(rows, means=_correct(rows, log))
    large, slope, loss = _mean_error(rows), _slope(right), _mean(right.losses(rows.power))
    quality = NumberQuality(
        target=rows.target,
        mean_observed=float(rows.numbers.mean()),
        mean_estimate=float(rows.means.mean()),
        in_the_large=_bounded(large, 1.0 if log else 0.0, unit if log else 1.0),
        slope=Bounded.normal(slope[0], slope[1], COVERAGE),
        loss=_bounded(_mean(rows.losses(rows.power))),
        corrected_loss=_bounded(loss),
        training_loss=float(model.loo_deviance_),
        loss_name=f"mean {name_loss(rows.power)}",
        ratio=log,
    )
    varies = float(right.means.std()) / (float(right.means.mean()) if log else unit)
    relative = np.log(max(loss[0], 1e-300) / model.loo_deviance_), loss[1] / max(loss[0], 1e-300)
    return quality, [
        check_normal("mean estimate", "in the large", large[0] / unit, more * large[1] / unit),
        check_normal("calibration slope", "slope", slope[0] - 1, more * slope[1], varies),
        check_normal(quality.loss_name, "loss", float(relative[0]), more * float(relative[1])),
    ]


def _correct(rows: Estimated, log: bool) -> Floats:
    """Estimates with the mean of the numbers: all times one factor, or plus one amount."""
    if not log:
        return rows.means + float((rows.numbers - rows.means).mean())
    total = float(rows.numbers.sum())
    return rows.means * (total / float(rows.means.sum())) if total > 0 else rows.means


def _mean(values: Floats) -> tuple[float, float]:
    """The mean of some values, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _mean_error(rows: Estimated) -> tuple[float, float]:
    return _mean(rows.numbers - rows.means)


def _slope(rows: Estimated) -> tuple[float, float]:
    """Of a regression of the numbers on their estimates; its error allows for unequal noise."""
    centred = rows.means - rows.means.mean()
    square = float(centred @ centred)
    slope = slope_of(rows.means, rows.numbers, rows.weight)
    left = rows.numbers - rows.numbers.mean() - slope * centred
    error = float(np.sqrt(centred**2 @ left**2)) / square if square > 0 else float("nan")
    return slope, error


def _bounded(found: tuple[float, float], start: float = 0.0, unit: float = 1.0) -> Bounded:
    return Bounded.normal(start + found[0] / unit, found[1] / unit, COVERAGE)
