"""Numbers that metrics are asked with, and what they are kept within."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from weigh.frames import Floats

NAN = float("nan")
"""What cannot be known."""

COVERAGE = 0.95
"""Of intervals, unless another is asked for."""

LARGEST = 1e100
"""Of weights and costs, whose products and sums have to stay numbers."""


def read_number(value: Any, name: str, wanted: str = "a number") -> float:
    """One number that is not NaN."""
    try:
        number = NAN if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError):
        number = NAN
    if number != number:
        raise ValueError(f"{name} must be {wanted}, got {value!r:.60}")
    return number


def read_threshold(value: Any) -> float:
    """A number to decide above; beyond 0 and 1 all rows are decided alike."""
    return read_number(value, "threshold", "a probability from 0 to 1")


def read_cost(value: Any, name: str) -> float:
    """What an error costs."""
    cost = read_number(value, name, "a number of at least 0")
    if not 0 <= cost <= LARGEST:
        raise ValueError(f"{name} must be from 0 to {LARGEST:g}, got {value!r}; give smaller units")
    return cost


def check_coverage(coverage: Any) -> None:
    """A probability between 0 and 1."""
    wanted = "between 0 and 1, such as 0.95"
    if not 0 < read_number(coverage, "coverage", wanted) < 1:
        raise ValueError(f"coverage must be {wanted}, got {coverage!r}")


def reach_of(coverage: float) -> float:
    """How many standard errors an interval reaches to either side."""
    return float(ndtri((1 + coverage) / 2))


def check_size(weight: Floats, name: str) -> None:
    """Refuse weights whose products with each other would be no numbers."""
    counted = weight[weight > 0]
    odd = counted[(counted > LARGEST) | (counted < 1 / LARGEST)]
    if len(odd):
        raise ValueError(
            f"{name} must be 0 or from {1 / LARGEST:g} to {LARGEST:g}, but holds "
            f"{np.max(odd):g}; divide the weights by their mean"
        )
