"""Increasing natural cubic spline, fitted by penalised logistic regression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline

from weigh.arrays import Floats
from weigh.evidence import Recalibration
from weigh.metrics import Groups
from weigh.newton.regression import DesignRows, Moments, minimise

PENALTIES = 10.0 ** np.arange(4, -1.5, -0.5)
"""Penalties on curvature that are tried, from a straight line to almost none."""

SLOPE_PENALTY = 0.25
"""Penalty on the mean log slope, which shrinks the slope towards 1, with less effect than two rows.
"""

OUTER = 0.05
"""Share of rows beyond each outer knot, where the curve is linear."""


@dataclass(frozen=True, eq=False)
class SplineFit:
    """A curve, the penalty on its curvature, and the criterion of the penalty (lower is better)."""

    curve: Recalibration
    penalty: float
    criterion: float


def fit_spline(groups: Groups, n_knots: int) -> SplineFit:
    """Fit an increasing spline to groups of totals; the penalty maximises the marginal likelihood.

    f(x) = a + sum_k exp(t_k) I_k(x)

    The slope f' is a quadratic B-spline with coefficients exp(t_k) > 0, constant beyond the outer
    knots, so f is an increasing natural cubic spline. The penalty c/2 sum_k (t_k+1 - t_k)^2 shrinks
    f to a straight line. Of the c tried, the one with the largest marginal likelihood (Laplace's
    approximation) is chosen. Platt's targets keep slopes finite if the classes are separable. If
    the classes are swapped and the totals negated, f is mirrored.
    """
    basis = SlopeBasis(place_knots(groups, n_knots))
    rows = DesignRows(
        basis.integrals(groups.p), platt_targets(groups) / groups.weight, groups.weight
    )
    n_differences = len(basis) - 1
    fits, start = [], _start(groups, len(basis))
    for size in PENALTIES if n_differences else PENALTIES[:1]:
        point = minimise(_Curve(rows, _penalty(len(basis), size), start), groups.n)
        volume = np.linalg.slogdet(point.information)[1]
        criterion = point.loss + (volume - n_differences * np.log(size)) / 2
        fits.append(SplineFit(basis.curve(point.b), float(size), float(criterion)))
        start = point.b
    return min(fits, key=lambda fit: fit.criterion)


def platt_targets(groups: Groups) -> Floats:
    """Weight of positives by Platt's targets (1999), which lie strictly between 0 and 1.

    Each of the n positives has the target (n + 1)/(n + 2), each of the m negatives 1/(m + 2).
    """
    n, m = groups.n_positive, groups.n_negative
    return groups.positives * (n + 1) / (n + 2) + groups.negatives / (m + 2)


def place_knots(groups: Groups, n_knots: int) -> Floats:
    """Distinct quantiles at equal steps from 5% to 95% of the weight.

    A quantile between two totals is their mean, so that negated totals have negated knots.
    """
    up_to = np.cumsum(groups.weight)
    cuts = np.linspace(OUTER, 1 - OUTER, n_knots) * up_to[-1]
    slack = 1e-12 * up_to[-1]  # allows for rounding errors of the sum
    from_below = groups.p[np.searchsorted(up_to, cuts - slack)]
    from_above = groups.p[np.searchsorted(up_to, cuts + slack, side="right")]
    return np.unique((from_below + from_above) / 2)


def _start(groups: Groups, n_slopes: int) -> Floats:
    """Start of the minimisation: the log odds of the base rate, and log slopes of -2."""
    rate = (groups.n_positive + 0.5) / (groups.n + 1)
    return np.concatenate([[np.log(rate / (1 - rate))], np.full(n_slopes, -2.0)])


def _penalty(n_slopes: int, size: float) -> Floats:
    """Penalty matrix: 0 for the intercept; for the log slopes their differences and their mean."""
    steps = np.diff(np.eye(n_slopes), axis=0)
    mean = np.full((1, n_slopes), 1 / n_slopes)
    matrix = np.zeros((n_slopes + 1, n_slopes + 1))
    matrix[1:, 1:] = size * steps.T @ steps + SLOPE_PENALTY * mean.T @ mean
    return matrix


@dataclass(frozen=True, eq=False)
class SlopeBasis:
    """Basis of slopes: quadratic B-splines that are constant beyond the outer knots."""

    knots: Floats

    def __len__(self) -> int:
        return max(len(self.knots) - 1, 1)

    @cached_property
    def _spline(self) -> BSpline:
        """All basis functions; the two at each end are added, so their sum is constant there."""
        padded = np.concatenate([[self.knots[0]] * 2, self.knots, [self.knots[-1]] * 2])
        joined = np.eye(len(self.knots) + 1)[:, 1:-1]
        joined[0, 0] = joined[-1, -1] = 1.0
        return BSpline(padded, joined, 2)

    def integrals(self, x: Floats) -> Floats:
        """Integral of each basis function from the middle knot to x."""
        if len(self) == 1:
            return np.asarray((x - self.knots.mean())[:, None])
        inside = np.clip(x, self.knots[0], self.knots[-1])
        whole = self._spline.antiderivative()
        columns = whole(inside) - whole(self.knots[len(self.knots) // 2])
        columns[:, 0] += np.minimum(x - inside, 0)
        columns[:, -1] += np.maximum(x - inside, 0)
        return np.asarray(columns)

    def curve(self, b: Floats) -> Recalibration:
        """Curve with the given intercept and log slopes, as values and slopes at the knots."""
        slopes = np.exp(b[1:])
        if len(self) == 1:
            return Recalibration("spline", self.knots.mean(keepdims=True), b[:1], slopes)
        levels = b[0] + self.integrals(self.knots) @ slopes
        return Recalibration("spline", self.knots, levels, self._spline(self.knots) @ slopes)


@dataclass(frozen=True, eq=False)
class _Curve:
    """Penalised log loss at an intercept and log slopes `b`, with its derivatives."""

    rows: DesignRows
    penalty: Floats
    b: Floats

    @cached_property
    def _slopes(self) -> Floats:
        return np.asarray(np.exp(np.minimum(self.b[1:], MAX_LOG_SLOPE)))

    @cached_property
    def _moments(self) -> Moments:
        rows, totals = self.rows, self.b[0] + self.rows.design @ self._slopes
        return rows.loss.moments(totals, rows.target, rows.weight)

    @cached_property
    def _jacobian(self) -> Floats:
        """Derivatives of the totals by the intercept and by each log slope."""
        design = self.rows.design
        return np.column_stack([np.ones(len(design)), design * self._slopes])

    @property
    def loss(self) -> float:
        """Log loss in nats, plus the penalty."""
        return self._moments.loss + float(self.b @ self.penalty @ self.b) / 2

    @property
    def gradient(self) -> Floats:
        """Gradient of loss plus penalty."""
        return np.asarray(self._moments.slope @ self._jacobian + self.penalty @ self.b)

    @cached_property
    def information(self) -> Floats:
        """Expected Hessian, which is positive semidefinite."""
        return np.asarray(
            (self._jacobian.T * self._moments.curvature) @ self._jacobian + self.penalty
        )

    @property
    def hessian(self) -> Floats:
        """Hessian if it is positive definite, otherwise the expected Hessian."""
        curvature_of_slopes = self._moments.slope @ self._jacobian
        whole = self.information + np.diag([0.0, *curvature_of_slopes[1:]])
        return whole if np.linalg.eigvalsh(whole)[0] > 0 else self.information

    def moved(self, step: Floats) -> _Curve:
        """Copy at b - step."""
        return replace(self, b=self.b - step)


MAX_LOG_SLOPE = 30.0
"""Largest log slope that a step may try; fits to data stay far below."""
