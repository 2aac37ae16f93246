"""The calibration line: what log odds would have to be multiplied by, and shifted by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from weigh.frames import Floats
from weigh.metrics.numbers import NAN
from weigh.metrics.scored import Groups, Scored
from weigh.newton.regression import Rows, fit_coefficients

FURTHEST = 1e12
"""How many times the smallest weight at a probability the largest may be."""


@dataclass(frozen=True)
class CalibrationLine:
    """Slope and intercept of a logistic regression of the outcome on the log odds, with errors.

    Slope 1 and intercept 0 are perfect. A slope below 1 means overconfident. `in_the_large` is the
    intercept at slope 1: above 0, predictions are too low on average.
    """

    slope: float
    intercept: float
    slope_error: float
    intercept_error: float
    in_the_large: float
    in_the_large_error: float


def calibration_line(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: Any = None
) -> CalibrationLine:
    """Calibration slope and intercept: regress the outcome on the log odds (Cox 1958).

    The regression is::

        log odds of y = intercept + slope ln p/(1 - p)

    With the slope fixed at 1, the intercept is calibration in the large. Probabilities are kept
    within [1e-10, 1 - 1e-10]. Errors are those of maximum likelihood.

    If all rows have one class, everything is NaN. If all predictions are equal, slope and intercept
    are NaN. If a cut-off separates the classes perfectly, the slope is inf (-inf in the wrong
    direction) and the intercept NaN.

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_prob : array of shape (n,) or (n, 2)
        Probability of the positive class; with two columns, the second.
    sample_weight : array, optional
        Row weights; a weight of two equals a row given twice, also in errors and intervals (see
        `effective_weight`).
    pos_label : label, optional
        Positive class. Default: the greater of two.

    Examples
    --------
    >>> from weigh.metrics import calibration_line
    >>> line = calibration_line([0, 1, 0, 1, 1], [0.2, 0.2, 0.7, 0.7, 0.7])
    >>> round(line.slope, 3), round(line.intercept, 3)
    (0.31, 0.43)
    """
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    nan = NAN
    if groups.one_class:
        return CalibrationLine(nan, nan, nan, nan, nan, nan)
    _check_spread(groups.weight)
    shift = _in_the_large(groups)
    error = float(1 / np.sqrt(groups.weight @ _spread(groups.log_odds + shift)))
    slope = _parted(groups)
    if slope is not None:
        return CalibrationLine(slope, nan, nan, nan, shift, error)
    x = groups.log_odds
    centre = groups.mean(x)
    scale = np.sqrt(groups.mean((x - centre) ** 2))
    design = np.column_stack([np.ones(len(x)), (x - centre) / scale])
    rows = Rows(design, groups.positives / groups.weight, groups.weight)
    fit = fit_coefficients(rows, np.array([centre, scale]))
    back = np.array([[1.0, -centre / scale], [0.0, 1 / scale]])
    intercept, slope = back @ fit.b
    errors = np.sqrt(np.diag(back @ fit.covariance @ back.T))
    return CalibrationLine(
        slope=float(slope),
        intercept=float(intercept),
        slope_error=float(errors[1]),
        intercept_error=float(errors[0]),
        in_the_large=shift,
        in_the_large_error=error,
    )


def _check_spread(weight: Floats) -> None:
    """Beside a weight that is larger by far, others are lost in rounding."""
    if weight.max() > FURTHEST * weight.min():
        raise ValueError(
            f"sample_weight goes from {weight.min():g} to {weight.max():g}, too wide a range for a "
            f"calibration line; leave out rows below 1/{FURTHEST:g} of the largest weight"
        )


def _in_the_large(groups: Groups) -> float:
    """What has to be added to all log odds for their mean probability to be the base rate."""
    x, aim = groups.log_odds, float(logit(groups.base_rate))

    def excess(shift: float) -> float:
        return groups.mean(expit(x + shift)) - groups.base_rate

    low, high = aim - x[-1] - 1e-9, aim - x[0] + 1e-9
    return float(brentq(excess, low, high, xtol=1e-13))


def _spread(totals: Floats) -> Floats:
    """The variance p (1 - p), exact far into the tails."""
    return np.asarray(expit(totals) * expit(-totals))


def _parted(groups: Groups) -> float | None:
    """The slope where it is no finite number, by the probabilities at which either class stands."""
    x = groups.log_odds
    ones, zeros = x[groups.positives > 0], x[groups.negatives > 0]
    if x[0] == x[-1]:
        return NAN
    if ones[0] >= zeros[-1]:
        return float("inf")
    return float("-inf") if zeros[0] >= ones[-1] else None
