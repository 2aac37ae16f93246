"""A natural cubic spline that rises everywhere, fitted by penalised logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline

from weigh.evidence import Recalibration
from weigh.frames import Floats
from weigh.metrics import Groups
from weigh.metrics.logistic import Point, descend, softplus

PENALTIES = 10.0 ** np.arange(4, -1.5, -0.5)
"""Of bends, from a straight line down to hardly any."""

IDENTITY = 0.25
"""How strongly the mean log slope is drawn to 0: less than a row or two would."""

OUTER = 0.05
"""The share of rows beyond the outer knots, on either side, where the curve is straight."""


@dataclass(frozen=True, eq=False)
class SplineFit:
    """The curve, the penalty on its bends, and the criterion that chose it (less is better)."""

    curve: Recalibration
    penalty: float
    criterion: float


def fit_spline(groups: Groups, n_knots: int) -> SplineFit:
    """The curve through groups of totals, its penalty chosen by marginal likelihood.

    f(x) = a + sum_k exp(t_k) I_k(x)

    The slope f' is a quadratic B-spline with coefficients exp(t_k) > 0, level at both ends, so that
    f is a natural cubic spline and rises everywhere. Equal t_k make it a straight line, to which
    the penalty, half of c sum_k (t_k+1 - t_k)^2, draws it. c has the largest marginal likelihood
    (Laplace's approximation) of those tried. Classes are Platt's targets, so that rows which part
    without a fault make no curve that is certain. Classes swapped and totals negated mirror f.
    """
    basis = SlopeBasis(place_knots(groups, n_knots))
    positives = soften(groups)
    design, n_bends = basis.integrals(groups.p), len(basis) - 1
    fits, start = [], _start(groups, len(basis))
    for size in PENALTIES if n_bends else PENALTIES[:1]:
        problem = _Problem(design, positives, groups.weight, _penalty(len(basis), size))
        point = descend(problem, problem.at(start))
        volume = np.linalg.slogdet(problem.hessian(point))[1]
        criterion = point.loss + (volume - n_bends * np.log(size)) / 2
        fits.append(SplineFit(basis.curve(point.b), float(size), float(criterion)))
        start = point.b
    return min(fits, key=lambda fit: fit.criterion)


def soften(groups: Groups) -> Floats:
    """The weight of positives by Platt's targets (1999), which lie within 0 and 1.

    A row of the n positives counts as (n + 1)/(n + 2) of one, one of the m negatives as 1/(m + 2).
    """
    n, m = groups.n_positive, groups.n_negative
    return groups.positives * (n + 1) / (n + 2) + groups.negatives / (m + 2)


def place_knots(groups: Groups, n_knots: int) -> Floats:
    """Quantiles at equal steps from 5% to 95% of the weight, as far as they differ.

    One that falls between two totals is midway, so that it is the same counted from above.
    """
    up_to = np.cumsum(groups.weight)
    cuts = np.linspace(OUTER, 1 - OUTER, n_knots) * up_to[-1]
    slack = 1e-12 * up_to[-1]  # a cut that is met but for rounding is met
    from_below = groups.p[np.searchsorted(up_to, cuts - slack)]
    from_above = groups.p[np.searchsorted(up_to, cuts + slack, side="right")]
    return np.unique((from_below + from_above) / 2)


def _start(groups: Groups, n_slopes: int) -> Floats:
    """Hardly a slope, at the base rate."""
    rate = (groups.n_positive + 0.5) / (groups.n + 1)
    return np.concatenate([[np.log(rate / (1 - rate))], np.full(n_slopes, -2.0)])


def _penalty(n_slopes: int, size: float) -> Floats:
    """Of the intercept (none) and of the log slopes: their differences, and their mean."""
    steps = np.diff(np.eye(n_slopes), axis=0)
    mean = np.full((1, n_slopes), 1 / n_slopes)
    matrix = np.zeros((n_slopes + 1, n_slopes + 1))
    matrix[1:, 1:] = size * steps.T @ steps + IDENTITY * mean.T @ mean
    return matrix


@dataclass(frozen=True, eq=False)
class SlopeBasis:
    """Slopes as quadratic B-splines that are level at the outer knots and beyond."""

    knots: Floats

    def __len__(self) -> int:
        return max(len(self.knots) - 1, 1)

    @cached_property
    def _spline(self) -> BSpline:
        """All of them: the two at either end are one, which makes it level there."""
        padded = np.concatenate([[self.knots[0]] * 2, self.knots, [self.knots[-1]] * 2])
        joined = np.eye(len(self.knots) + 1)[:, 1:-1]
        joined[0, 0] = joined[-1, -1] = 1.0
        return BSpline(padded, joined, 2)

    def integrals(self, x: Floats) -> Floats:
        """Of each slope, from the middle knot to x."""
        if len(self) == 1:
            return np.asarray((x - self.knots.mean())[:, None])
        inside = np.clip(x, self.knots[0], self.knots[-1])
        whole = self._spline.antiderivative()
        columns = whole(inside) - whole(self.knots[len(self.knots) // 2])
        columns[:, 0] += np.minimum(x - inside, 0)
        columns[:, -1] += np.maximum(x - inside, 0)
        return np.asarray(columns)

    def curve(self, b: Floats) -> Recalibration:
        """The curve of an intercept and log slopes, by its values and slopes at the knots."""
        slopes = np.exp(b[1:])
        if len(self) == 1:
            return Recalibration("spline", self.knots.mean(keepdims=True), b[:1], slopes)
        levels = b[0] + self.integrals(self.knots) @ slopes
        return Recalibration("spline", self.knots, levels, self._spline(self.knots) @ slopes)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The penalised log loss of an intercept and log slopes."""

    design: Floats
    positives: Floats
    weight: Floats
    penalty: Floats

    def at(self, b: Floats) -> Point:
        totals = b[0] + self.design @ np.exp(np.minimum(b[1:], STEEPEST))
        loss = self.weight @ softplus(totals) - self.positives @ totals
        return Point(b, totals, float(loss + b @ self.penalty @ b / 2))

    def gradient(self, point: Point) -> Floats:
        missed = self.weight * point.p - self.positives
        return np.asarray(missed @ self._rates(point) + self.penalty @ point.b)

    def hessian(self, point: Point) -> Floats:
        """Its expectation, which is never negative."""
        rates, spread = self._rates(point), self.weight * point.p * (1 - point.p)
        return np.asarray((rates.T * spread) @ rates + self.penalty)

    def _rates(self, point: Point) -> Floats:
        """How totals change with the intercept and with each log slope."""
        slopes = np.exp(np.minimum(point.b[1:], STEEPEST))
        return np.column_stack([np.ones(len(self.design)), self.design * slopes])


STEEPEST = 30.0
"""Log slopes that a step may try; none that fits data comes near."""
