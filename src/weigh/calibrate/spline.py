"""A natural cubic spline that rises everywhere, fitted by penalised logistic regression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline

from weigh.evidence import Recalibration
from weigh.frames import Floats
from weigh.metrics import Groups
from weigh.newton.regression import Moments, Rows, minimise

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
    rows = Rows(basis.integrals(groups.p), soften(groups) / groups.weight, groups.weight)
    n_bends = len(basis) - 1
    fits, start = [], _start(groups, len(basis))
    for size in PENALTIES if n_bends else PENALTIES[:1]:
        point = minimise(_Curve(rows, _penalty(len(basis), size), start), groups.n)
        volume = np.linalg.slogdet(point.information)[1]
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
class _Curve:
    """An intercept and log slopes, and their penalised log loss."""

    rows: Rows
    penalty: Floats
    b: Floats

    @cached_property
    def _slopes(self) -> Floats:
        return np.asarray(np.exp(np.minimum(self.b[1:], STEEPEST)))

    @cached_property
    def _moments(self) -> Moments:
        rows, totals = self.rows, self.b[0] + self.rows.design @ self._slopes
        return rows.loss.moments(totals, rows.target, rows.weight)

    @cached_property
    def _rates(self) -> Floats:
        """How totals change with the intercept and with each log slope."""
        design = self.rows.design
        return np.column_stack([np.ones(len(design)), design * self._slopes])

    @property
    def loss(self) -> float:
        """In nats, and the penalty."""
        return self._moments.loss + float(self.b @ self.penalty @ self.b) / 2

    @property
    def gradient(self) -> Floats:
        """Of loss and penalty."""
        return np.asarray(self._moments.slope @ self._rates + self.penalty @ self.b)

    @cached_property
    def information(self) -> Floats:
        """The expected Hessian, which is never negative."""
        return np.asarray((self._rates.T * self._moments.curvature) @ self._rates + self.penalty)

    @property
    def hessian(self) -> Floats:
        """The Hessian itself where it is positive definite, else the expected one."""
        bent = self._moments.slope @ self._rates
        whole = self.information + np.diag([0.0, *bent[1:]])
        return whole if np.linalg.eigvalsh(whole)[0] > 0 else self.information

    def moved(self, step: Floats) -> _Curve:
        """Another intercept, and other slopes."""
        return replace(self, b=self.b - step)


STEEPEST = 30.0
"""Log slopes that a step may try; none that fits data comes near."""
