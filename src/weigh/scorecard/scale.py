"""The scale of a scorecard: what a score means."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, log
from typing import Any

import numpy as np
from scipy.special import expit

from weigh.frames import Floats
from weigh.parameters import is_number


@dataclass(frozen=True)
class Scale:
    """log odds = ln base_odds + (score - base_score) ln 2/points_to_double.

    >>> scale = Scale(points_to_double=20, base_score=600, base_odds=50)
    >>> round(scale.per_nat, 2), round(scale.even, 2), scale.probability(600.0).round(4).item()
    (28.85, 487.12, 0.9804)
    """

    points_to_double: float
    base_score: float
    base_odds: float

    def __post_init__(self) -> None:
        for name in ("points_to_double", "base_odds"):
            value = getattr(self, name)
            if not (is_number(value) and 0 < value < inf):
                raise ValueError(f"{name} must be a positive number, got {value!r}")
        if not (is_number(self.base_score) and isfinite(self.base_score)):
            raise ValueError(f"base_score must be a number, got {self.base_score!r}")

    @property
    def per_nat(self) -> float:
        """Points for one nat of log odds."""
        return float(self.points_to_double) / log(2)

    @property
    def even(self) -> float:
        """The score at even odds."""
        return float(self.base_score) - self.per_nat * log(self.base_odds)

    def probability(self, score: Any) -> Floats:
        """The probability of the class that high scores favour."""
        odds = (np.asarray(score, dtype=np.float64) - self.even) / self.per_nat
        return np.asarray(expit(odds))
