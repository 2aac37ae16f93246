"""Transformations of the sum of weights: a piecewise cubic recalibration, or an exponent."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from weigh.arrays import Floats
from weigh.pickling import by_fields

Cubic: TypeAlias = tuple[float, float, float, float]

BOUND = 1e-10
"""Probabilities are kept this far from 0 and 1, so that no weight and no loss is infinite."""

FAR = 1e100
"""Largest distance of a total beyond the outer pieces, so that no result is infinite."""


@dataclass(frozen=True)
class Piece:
    """Up to and including `upper`: a + b d + c d^2 + e d^3, where d is the total less `start`."""

    upper: float
    start: float
    cubic: Cubic


@dataclass(frozen=True)
class Curve:
    """Map from a total to recalibrated log odds: piecewise cubic, plus `shift`.

    The first piece whose `upper` is not below the total is used. If `steps` is true, pieces give
    probabilities, which are then converted to log odds.

    >>> line = Curve((Piece(float("inf"), 0.0, (1.0, 2.0, 0.0, 0.0)),))
    >>> line.at(3.0), line.apply(np.array([3.0, 4.0])).tolist()
    (7.0, [7.0, 9.0])
    """

    pieces: tuple[Piece, ...]
    shift: float = 0.0
    steps: bool = False

    __reduce__ = by_fields

    def at(self, total: float) -> float:
        """Log odds of one total, by the same operations as `apply`."""
        start, a, b, c, e = self._rows[bisect_left(self._uppers, total)]
        d = min(max(total - start, -FAR), FAR)
        y: float = a + d * (b + d * (c + d * e))
        if self.steps:
            y = float(_logit(min(max(y, BOUND), 1 - BOUND)))
        return y + self.shift

    def apply(self, totals: Floats) -> Floats:
        """Log odds of an array of totals."""
        place = np.searchsorted(self._uppers, totals)
        start, a, b, c, e = np.moveaxis(self._array[place], -1, 0)
        d = np.clip(totals - start, -FAR, FAR)
        y = a + d * (b + d * (c + d * e))
        if self.steps:
            y = _logit(np.clip(y, BOUND, 1 - BOUND))
        return np.asarray(y + self.shift)

    @cached_property
    def _uppers(self) -> list[float]:
        return [piece.upper for piece in self.pieces[:-1]]

    @cached_property
    def _rows(self) -> list[tuple[float, ...]]:
        return [(piece.start, *piece.cubic) for piece in self.pieces]

    @cached_property
    def _array(self) -> Floats:
        return np.array(self._rows)


def _logit(y: Any) -> Any:
    from scipy.special import logit  # imported late: few curves need it

    return logit(y)


Method: TypeAlias = Literal["spline", "sigmoid", "temperature", "isotonic"]

HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Recalibration:
    """Recalibration of a two-class model: a map from totals to calibrated log odds.

    At `points` the function has the values `levels` and the derivatives `slopes`. Between two
    points it is the cubic determined by these (Hermite), beyond the outer points it is linear; with
    one point it is a straight line. "isotonic" has no slopes: its levels are probabilities,
    interpolated linearly and constant beyond the outer points. `shift`, a change of the prior, is
    added at the end.
    """

    method: Method
    points: Floats
    levels: Floats
    slopes: Floats
    shift: float = 0.0

    __reduce__ = by_fields

    @cached_property
    def curve(self) -> Curve:
        """The function as cubic pieces, which exports compute too."""
        steps = self.method == "isotonic"
        inner = self._lines() if steps else self._cubics()
        points, levels = self.points.tolist(), self.levels.tolist()
        low, high = (0.0, 0.0) if steps else (float(self.slopes[0]), float(self.slopes[-1]))
        first = Piece(points[0], points[0], (levels[0], low, 0.0, 0.0))
        last = Piece(np.inf, points[-1], (levels[-1], high, 0.0, 0.0))
        return Curve((first, *inner, last), self.shift, steps)

    def _lines(self) -> list[Piece]:
        knots = zip(self.points.tolist(), self.levels.tolist(), strict=True)
        return [
            Piece(right, left, (low, (high - low) / (right - left), 0.0, 0.0))
            for (left, low), (right, high) in pairwise(knots)
        ]

    def _cubics(self) -> list[Piece]:
        width = np.diff(self.points)
        rise = np.diff(self.levels) / width
        low, high = self.slopes[:-1], self.slopes[1:]
        second, third = (3 * rise - 2 * low - high) / width, (low + high - 2 * rise) / width**2
        columns = (self.points[1:], self.points, self.levels, low, second, third)
        rows = zip(*(column.tolist() for column in columns), strict=False)
        return [Piece(upper, start, (a, b, c, e)) for upper, start, a, b, c, e in rows]

    def apply(self, totals: Floats) -> Floats:
        """Recalibrated log odds of an array of totals."""
        return self.curve.apply(totals)

    def inverse(self, log_odds: Floats) -> Floats:
        """Totals that have the given recalibrated log odds."""
        if self.method == "isotonic":
            raise ValueError(
                "an isotonic recalibration is flat in places and cannot be inverted; "
                "method='spline' can"
            )
        wanted = np.asarray(log_odds, dtype=np.float64) - self.shift
        inside = np.clip(wanted, self.levels[0], self.levels[-1])
        below, above = np.minimum(wanted - inside, 0), np.maximum(wanted - inside, 0)
        tails = below / self.slopes[0] + above / self.slopes[-1]
        return np.asarray(self._solve(inside) + tails)

    def _solve(self, levels: Floats) -> Floats:
        """Totals between the first and the last point, by bisection."""
        right = np.clip(np.searchsorted(self.levels, levels), 0, len(self.points) - 1)
        low, high = self.points[np.maximum(right - 1, 0)], self.points[right]
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            short = self.apply(middle) - self.shift < levels
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return np.asarray(high)


Form: TypeAlias = Literal["root", "geometric", "known"]


@dataclass(frozen=True, eq=False)
class Attenuation:
    """Factor of a row's weights that depends on what is known of the row.

    With n observed features (Carlos 2015):

    root:       e (prior + weights) + shift,   e = min(1, k/(n + 1))        (Eq. 20)
    geometric:  prior + e weights + shift,     e = min(1, k/n)              (Eq. 19)

    For documents n counts tokens. With n the share of the evidence that is not known, where
    `shares` has the share of each table and k is above -1:

    known:      prior + e weights,             e = 1/sqrt(1 + k n)

    `shift` is a change of the prior, to which no exponent applies; zero for "known".
    """

    k: float
    form: Form
    shift: Floats
    shares: Mapping[str, float] = field(default_factory=dict)

    def exponent(self, n: Floats) -> Floats:
        """Factor of rows: `Evidence.observed` gives n."""
        return attenuate(self.k, self.form, n)

    def apply(self, weights: Floats, prior: Floats, n: Floats) -> Floats:
        """Totals from the sums of weights (one row each) and the prior."""
        return apply_exponent(weights, prior, self.exponent(n)[:, None], self.form) + self.shift


def attenuate(k: float, form: str, n: Floats) -> Floats:
    """Exponent for n observed features; k is at least 1. For "known", n is what is not known."""
    if form == "known":
        return np.asarray(1 / np.sqrt(1 + k * n))
    return np.asarray(k / np.maximum(n + 1 if form == "root" else n, k))


def apply_exponent(weights: Floats, prior: Floats, exponent: Floats, form: str) -> Floats:
    """Multiply prior and weights ("root"), or the weights alone, by the exponent."""
    totals: Floats = (prior + weights) * exponent if form == "root" else prior + weights * exponent
    return totals
