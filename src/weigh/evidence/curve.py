"""A curve in pieces of cubics: the one form of a recalibration that every target computes."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.special import logit

from weigh.frames import Floats

Cubic: TypeAlias = tuple[float, float, float, float]

BOUND = 1e-10
"""Probabilities are kept this far from 0 and 1, so that no weight and no loss is infinite."""

FAR = 1e100
"""Totals further beyond the outer pieces are taken to be this far, so that none is infinite."""


@dataclass(frozen=True)
class Piece:
    """Up to and including `upper`: a + b d + c d^2 + e d^3, where d is the total less `start`."""

    upper: float
    start: float
    cubic: Cubic


@dataclass(frozen=True)
class Curve:
    """The log odds that a total is worth: those of the first piece that it is not above, + `shift`.

    Where `steps` holds, pieces give probabilities, whose log odds are meant.

    >>> line = Curve((Piece(float("inf"), 0.0, (1.0, 2.0, 0.0, 0.0)),))
    >>> line.at(3.0), line.apply(np.array([3.0, 4.0])).tolist()
    (7.0, [7.0, 9.0])
    """

    pieces: tuple[Piece, ...]
    shift: float = 0.0
    steps: bool = False

    def at(self, total: float) -> float:
        """The log odds of one total: the operations of `apply`, on plain numbers."""
        start, a, b, c, e = self._rows[bisect_left(self._uppers, total)]
        d = min(max(total - start, -FAR), FAR)
        y: float = a + d * (b + d * (c + d * e))
        if self.steps:
            y = float(logit(min(max(y, BOUND), 1 - BOUND)))
        return y + self.shift

    def apply(self, totals: Floats) -> Floats:
        """The log odds of totals, of any shape."""
        place = np.searchsorted(self._uppers, totals)
        start, a, b, c, e = np.moveaxis(self._array[place], -1, 0)
        d = np.clip(totals - start, -FAR, FAR)
        y = a + d * (b + d * (c + d * e))
        if self.steps:
            y = logit(np.clip(y, BOUND, 1 - BOUND))
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
