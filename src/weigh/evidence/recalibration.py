"""A rising function of the total: what totals turned out to be worth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from weigh.evidence.curve import Curve, Piece
from weigh.frames import Floats

Method: TypeAlias = Literal["spline", "sigmoid", "temperature", "isotonic"]

HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Recalibration:
    """From the total of a model of two classes to the log odds that it is worth.

    At `points` the function takes the values `levels` and rises by `slopes`. Between two points it
    is the cubic that these fix, beyond the outer ones it goes straight on; of one point it is a
    straight line. "isotonic" has no slopes: its levels are probabilities, joined by straight lines,
    and the same beyond the outer points. `shift`, a change of the prior, is added at the end.
    """

    method: Method
    points: Floats
    levels: Floats
    slopes: Floats
    shift: float = 0.0

    @cached_property
    def curve(self) -> Curve:
        """The function in pieces, which is what every target computes."""
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
        """Log odds from totals, of any shape."""
        return self.curve.apply(totals)

    def inverse(self, log_odds: Floats) -> Floats:
        """The total that is worth so much."""
        if self.method == "isotonic":
            raise ValueError(
                "an isotonic recalibration is level in places, where many totals are worth the "
                "same; method='spline' can be turned round"
            )
        wanted = np.asarray(log_odds, dtype=np.float64) - self.shift
        inside = np.clip(wanted, self.levels[0], self.levels[-1])
        below, above = np.minimum(wanted - inside, 0), np.maximum(wanted - inside, 0)
        tails = below / self.slopes[0] + above / self.slopes[-1]
        return np.asarray(self._solve(inside) + tails)

    def _solve(self, levels: Floats) -> Floats:
        """Totals from the first point to the last, by halving the interval that holds them."""
        right = np.clip(np.searchsorted(self.levels, levels), 0, len(self.points) - 1)
        low, high = self.points[np.maximum(right - 1, 0)], self.points[right]
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            short = self.apply(middle) - self.shift < levels
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return np.asarray(high)
