"""A recalibration as pieces of polynomials, which any target can compute."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from weigh.evidence import Recalibration

Cubic: TypeAlias = tuple[float, float, float, float]

BOUND = 1e-10
"""Probabilities of an isotonic curve are kept this far from 0 and 1."""


@dataclass(frozen=True)
class Piece:
    """Up to and including `upper`: a + b d + c d^2 + e d^3, where d is the total less `start`."""

    upper: float
    start: float
    cubic: Cubic


@dataclass(frozen=True)
class Curve:
    """What a total is worth: the first piece that it is not above, then `shift`.

    Where `steps` holds, pieces give probabilities, whose log odds are meant.
    """

    pieces: tuple[Piece, ...]
    shift: float = 0.0
    steps: bool = False

    @classmethod
    def of(cls, curve: Recalibration) -> Curve:
        """A recalibration, piece by piece."""
        steps = curve.method == "isotonic"
        inner = _lines(curve) if steps else _cubics(curve)
        points, levels = curve.points.tolist(), curve.levels.tolist()
        low, high = (0.0, 0.0) if steps else (float(curve.slopes[0]), float(curve.slopes[-1]))
        first = Piece(points[0], points[0], (levels[0], low, 0.0, 0.0))
        last = Piece(np.inf, points[-1], (levels[-1], high, 0.0, 0.0))
        return cls((first, *inner, last), curve.shift, steps)


def _lines(curve: Recalibration) -> list[Piece]:
    knots = zip(curve.points.tolist(), curve.levels.tolist(), strict=True)
    return [
        Piece(right, left, (low, (high - low) / (right - left), 0.0, 0.0))
        for (left, low), (right, high) in pairwise(knots)
    ]


def _cubics(curve: Recalibration) -> list[Piece]:
    width = np.diff(curve.points)
    rise = np.diff(curve.levels) / width
    low, high = curve.slopes[:-1], curve.slopes[1:]
    second, third = (3 * rise - 2 * low - high) / width, (low + high - 2 * rise) / width**2
    columns = (curve.points[1:], curve.points, curve.levels, low, second, third)
    rows = zip(*(column.tolist() for column in columns), strict=False)
    return [Piece(upper, start, (a, b, c, e)) for upper, start, a, b, c, e in rows]
