"""A rising function of the total: what totals turned out to be worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import logit

from weigh.frames import Floats, Integers

Method: TypeAlias = Literal["spline", "sigmoid", "temperature", "isotonic"]
BOUND = 1e-10
"""Probabilities are kept this far from 0 and 1, so that no weight and no loss is infinite."""

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

    def apply(self, totals: Floats) -> Floats:
        """Log odds from totals, of any shape."""
        if self.method == "isotonic":
            p = np.interp(totals, self.points, self.levels)
            return np.asarray(logit(np.clip(p, BOUND, 1 - BOUND)) + self.shift)
        inside = np.clip(totals, self.points[0], self.points[-1])
        below, above = np.minimum(totals - inside, 0), np.maximum(totals - inside, 0)
        tails = self.slopes[0] * below + self.slopes[-1] * above
        return np.asarray(self._between(inside) + tails + self.shift)

    def _between(self, inside: Floats) -> Floats:
        """The cubics, at totals from the first point to the last."""
        if len(self.points) == 1:
            return np.full(np.shape(inside), self.levels[0])
        place = np.clip(np.searchsorted(self.points, inside) - 1, 0, len(self.points) - 2)
        return self._cubic(place, inside - self.points[place])

    def _cubic(self, place: Integers, distance: Floats) -> Floats:
        """The cubic of an interval, so far from its lower end."""
        width = np.diff(self.points)[place]
        rise = np.diff(self.levels)[place] / width
        low, high = self.slopes[place], self.slopes[place + 1]
        s = distance / width
        bend = 3 * rise - 2 * low - high + s * (low + high - 2 * rise)
        return np.asarray(self.levels[place] + distance * (low + s * bend))

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
        if len(self.points) == 1:
            return np.full(np.shape(levels), self.points[0])
        place = np.clip(np.searchsorted(self.levels, levels) - 1, 0, len(self.points) - 2)
        low, high = np.zeros(np.shape(levels)), np.diff(self.points)[place]
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            short = self._cubic(place, middle) < levels
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return np.asarray(self.points[place] + high)
