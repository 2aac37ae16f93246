"""The ways to find what totals are worth: spline, sigmoid, temperature, isotonic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.isotonic import IsotonicRegression

from weigh.calibrate.spline import fit_spline, soften
from weigh.evidence import Method, Recalibration
from weigh.frames import Floats
from weigh.metrics import Groups, Scored
from weigh.metrics.scored import Flags
from weigh.newton.losses import LOGISTIC
from weigh.newton.regression import Rows, fit_coefficients

N_KNOTS, MOST_GROUPS = 5, 4096
LOG_SLOPES = (-10.0, 10.0)
"""How flat and how steep a straight line may be, as in scikit-learn's temperature scaling."""


def recalibrate(
    totals: Floats, positive: Flags, weight: Floats | None, method: Method
) -> Recalibration:
    """What totals of two classes turned out to be worth.

    Parameters
    ----------
    totals : array
        Log odds of rows that the model has not seen.
    positive : array of bool
        Whether each row is of the second class. Both classes must occur.
    weight : array, optional
        Row weights.
    method : "spline", "sigmoid", "temperature" or "isotonic"
        What kind of function to fit.
    """
    return FITS[method](Scored(positive, totals, weight).groups)


def thin(groups: Groups, most: int = MOST_GROUPS) -> Groups:
    """At most so many groups, of equal weight: more do not move a smooth curve."""
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
    return fit_spline(thin(groups), N_KNOTS).curve


def _sigmoid(groups: Groups) -> Recalibration:
    """A straight line by Platt's targets (1999)."""
    positives = soften(groups)
    centre = groups.mean(groups.p)
    scale = float(np.sqrt(groups.mean((groups.p - centre) ** 2))) or 1.0
    design = np.column_stack([np.ones(len(groups.p)), (groups.p - centre) / scale])
    level, slope = fit_coefficients(Rows(design, positives / groups.weight, groups.weight)).b
    least, most = np.exp(LOG_SLOPES)
    if not least <= slope / scale <= most:  # rows held out that rank the wrong way round, say
        rate = positives.sum() / groups.n
        level, slope = np.log(rate / (1 - rate)), np.clip(slope / scale, least, most) * scale
    return _line("sigmoid", centre, float(level), float(slope) / scale)


def _temperature(groups: Groups) -> Recalibration:
    """A straight line through 0."""
    shares = groups.positives / groups.weight

    def loss(log_slope: float) -> float:
        return LOGISTIC.moments(np.exp(log_slope) * groups.p, shares, groups.weight).loss

    found = minimize_scalar(loss, bounds=LOG_SLOPES, options={"xatol": 1e-12})
    return _line("temperature", 0.0, 0.0, float(np.exp(found.x)))


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
