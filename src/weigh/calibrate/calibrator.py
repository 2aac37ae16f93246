"""Recalibration of two classes: spline, sigmoid, temperature and isotonic, and an estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.validation import check_is_fitted

from weigh.arrays import Floats
from weigh.calibrate.spline import fit_spline, platt_targets
from weigh.evidence import BOUND, Method, Recalibration
from weigh.frames import is_count
from weigh.metrics import Groups
from weigh.metrics.inputs import Flags, Labels, Scored, read_numbers, shape_of
from weigh.metrics.numbers import read_matrix
from weigh.newton.regression import LOGISTIC, DesignRows, fit_coefficients

N_KNOTS, MAX_GROUPS = 5, 4096
LOG_SLOPES = (-10.0, 10.0)
"""Bounds of the log slope of a straight line, as in scikit-learn's temperature scaling."""


def recalibrate(
    totals: Floats, positive: Flags, weight: Floats | None, method: Method
) -> Recalibration:
    """Fit a recalibration curve to totals of two classes.

    Parameters
    ----------
    totals : array
        Log odds of hold-out rows.
    positive : array of bool
        Whether each row is of the second class. Both classes must occur.
    weight : array, optional
        Row weights.
    method : "spline", "sigmoid", "temperature" or "isotonic"
        Kind of curve to fit.
    """
    return FITS[method](Scored(positive, totals, weight).groups)


def merge_groups(groups: Groups, most: int = MAX_GROUPS) -> Groups:
    """Merge neighbouring groups into at most `most` of equal weight, enough for a smooth curve."""
    if len(groups.p) <= most:
        return groups
    place = np.ceil(np.cumsum(groups.weight) / groups.n * most)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(place) > 0]))
    sums = [
        np.add.reduceat(part, starts)
        for part in (groups.p * groups.weight, groups.positives, groups.negatives)
    ]
    return Groups(sums[0] / (sums[1] + sums[2]), sums[1], sums[2])


def _spline(groups: Groups) -> Recalibration:
    return fit_spline(merge_groups(groups), N_KNOTS).curve


def _sigmoid(groups: Groups) -> Recalibration:
    """Platt scaling (1999): a straight line."""
    positives = platt_targets(groups)
    centre = groups.mean(groups.p)
    scale = float(np.sqrt(groups.mean((groups.p - centre) ** 2))) or 1.0
    design = np.column_stack([np.ones(len(groups.p)), (groups.p - centre) / scale])
    level, slope = fit_coefficients(DesignRows(design, positives / groups.weight, groups.weight)).b
    least, most = np.exp(LOG_SLOPES)
    # A slope outside the bounds can occur if the ranking of the hold-out rows is reversed.
    if not least <= slope / scale <= most:
        rate = positives.sum() / groups.n
        level, slope = np.log(rate / (1 - rate)), np.clip(slope / scale, least, most) * scale
    return _line("sigmoid", centre, float(level), float(slope) / scale)


def _temperature(groups: Groups) -> Recalibration:
    """Temperature scaling: a straight line through 0."""
    shares = groups.positives / groups.weight

    def loss(slope: float) -> float:
        return LOGISTIC.moments(slope * groups.p, shares, groups.weight).loss

    return _line("temperature", 0.0, 0.0, best_slope(loss))


def best_slope(loss: Callable[[float], float]) -> float:
    """The slope of totals with the lowest loss, within the bounds of `LOG_SLOPES`."""

    def at(log_slope: float) -> float:
        return loss(np.exp(log_slope))

    found = minimize_scalar(at, bounds=LOG_SLOPES, options={"xatol": 1e-12})
    return float(np.exp(found.x))


def _line(method: Method, point: float, level: float, slope: float) -> Recalibration:
    return Recalibration(method, np.array([point]), np.array([level]), np.array([slope]))


def _isotonic(groups: Groups) -> Recalibration:
    steps = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    steps.fit(groups.p, groups.positives / groups.weight, sample_weight=groups.weight)
    points, levels = (np.asarray(x, float) for x in (steps.X_thresholds_, steps.y_thresholds_))
    return Recalibration("isotonic", points, levels, np.zeros(0))


FITS: dict[Method, Callable[[Groups], Recalibration]] = {
    "spline": _spline,
    "sigmoid": _sigmoid,
    "temperature": _temperature,
    "isotonic": _isotonic,
}


INPUTS = ("probability", "log_odds")


class SplineCalibrator(BaseEstimator):
    """Recalibrate predictions with an increasing natural cubic spline of the log odds.

    The curve is::

        log odds of y = f(ln p/(1 - p)),   f'(x) > 0

    `predict` recalibrates. `inverse` gives the prediction whose recalibrated probability is a given
    rate (Ridgeway 2025, section 6.3 and Figure 2). f is increasing, so the ranking does not change.

    Parameters
    ----------
    n_knots : int, default=5
        Largest number of knots, at quantiles from 5% to 95%; beyond the outer ones f is linear.
        Curvature is penalised, and the penalty maximises the marginal likelihood. So f is a
        straight line if the data show no curvature.
    input : "probability" or "log_odds", default="probability"
        Scale of the predictions. Probabilities are kept within [1e-10, 1 - 1e-10].

    Attributes
    ----------
    curve_ : Recalibration
        f, given by its values and slopes at the knots.
    penalty_ : float
        The chosen penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from weigh import SplineCalibrator
    >>> p = np.linspace(0.05, 0.95, 200)
    >>> y = np.random.default_rng(0).random(200) < p**2  # p is too high
    >>> curve = SplineCalibrator().fit(p, y)
    >>> curve.predict([0.3, 0.6]).round(2)
    array([0.11, 0.32])
    >>> curve.inverse([0.32]).round(2)
    array([0.6])
    """

    def __init__(self, *, n_knots: int = 5, input: str = "probability") -> None:
        self.n_knots = n_knots
        self.input = input

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the curve to predictions of hold-out rows.

        Parameters
        ----------
        X : array of shape (n,), (n, 1) or, of probabilities, (n, 2)
            Predictions; with two columns, the second is used.
        y : array
            Labels of two classes. Predictions are of the greater label.
        sample_weight : array, optional
            Row weights; a weight of two equals a row given twice.
        """
        self._check()
        labels, x = Labels.read(y, sample_weight), self._read(X)
        if len(x) != len(labels.kept):
            raise ValueError(f"X has {len(x)} rows and y {len(labels.kept)}; give as many of each")
        positive = labels.flags(labels.choose(None))
        if positive.all() or not positive.any():
            raise ValueError(f"y has only {labels.values}; a curve needs rows of two classes")
        groups = Scored(positive, x[labels.kept], labels.weight).groups
        found = fit_spline(merge_groups(groups), int(self.n_knots))
        self.curve_, self.penalty_ = found.curve, found.penalty
        return self

    def predict(self, X: Any) -> Floats:
        """Recalibrated probabilities of predictions."""
        return np.asarray(expit(self._curve().apply(self._read(X))))

    def transform(self, X: Any) -> Floats:
        """Recalibrated predictions, on the scale of `input`."""
        log_odds = self._curve().apply(self._read(X))
        return log_odds if self.input == "log_odds" else np.asarray(expit(log_odds))

    def inverse(self, rate: Any) -> Floats:
        """Prediction whose recalibrated probability is `rate`, on the scale of `input`.

        Parameters
        ----------
        rate : float or array
            Above 0 and below 1.
        """
        wanted = read_matrix(rate, "rate")
        if not ((wanted > 0) & (wanted < 1)).all():
            raise ValueError(f"rate must be above 0 and below 1, got {rate!r}")
        totals = self._curve().inverse(np.asarray(logit(wanted)))
        return totals if self.input == "log_odds" else np.asarray(expit(totals))

    def _curve(self) -> Recalibration:
        check_is_fitted(self, "curve_")
        return self.curve_

    def _check(self) -> None:
        if not is_count(self.n_knots) or self.n_knots < 2:
            raise ValueError(f"n_knots must be a whole number of at least 2, got {self.n_knots!r}")
        if self.input not in INPUTS:
            raise ValueError(f"input must be one of {INPUTS}, got {self.input!r}")

    def _read(self, X: Any) -> Floats:
        """Predictions as log odds."""
        shape = shape_of(X, "X")
        if len(shape) == 2 and shape[1] in (1, 2 if self.input == "probability" else 1):
            x = read_matrix(X, "X")[:, -1]
        elif len(shape) == 1:
            x = read_numbers(X, "X")
        else:
            raise ValueError(f"X must hold one prediction per row, got shape {shape}")
        if not np.isfinite(x).all():
            raise ValueError("X contains NaN or infinity; drop those rows")
        if self.input == "log_odds":
            return x
        if len(x) and (x.min() < 0 or x.max() > 1):
            raise ValueError(
                f"X must be probabilities from 0 to 1, but goes from {x.min():g} to {x.max():g}; "
                "for log odds set input='log_odds'"
            )
        return np.asarray(logit(np.clip(x, BOUND, 1 - BOUND)))
