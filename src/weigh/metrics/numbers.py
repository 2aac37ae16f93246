"""Numbers that metrics are asked with, numbers with intervals, and both as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri

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


@dataclass(frozen=True)
class Bounded:
    """A number and its interval; NaN is what cannot be known."""

    value: float
    low: float = NAN
    high: float = NAN

    @classmethod
    def share(cls, part: float, whole: float, coverage: float) -> Bounded:
        """A rate, with the interval of Clopper & Pearson; of nothing it is NaN."""
        if whole <= 0:
            return cls(NAN)
        found = min(max(part, 0.0), whole)  # sums of fractions may be off in their last digit
        low, high = clopper_pearson(found, whole, coverage)
        return cls(found / whole, float(low), float(high))

    @classmethod
    def normal(cls, value: float, error: float, coverage: float) -> Bounded:
        """A number with a standard error."""
        reach = reach_of(coverage) * error
        return cls(value, value - reach, value + reach)

    def scaled(self, factor: float) -> Bounded:
        """The number and its interval in another unit."""
        return Bounded(self.value * factor, self.low * factor, self.high * factor)

    def is_known(self) -> bool:
        """Whether there is a number."""
        return math.isfinite(self.value)

    def has_interval(self) -> bool:
        """Whether its interval is known."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def holds(self, value: float) -> bool:
        """Whether the interval contains a number."""
        return self.low <= value <= self.high


def plain(value: Any) -> Any:
    """Plain data, ready for JSON: fields and properties by name, and None for no number."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)]
        names += [name for name, kind in vars(type(value)).items() if isinstance(kind, property)]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def flatten(value: Any, name: str = "") -> dict[str, Any]:
    """The single numbers and texts of plain data by name: `auc` and `auc_low` of an interval."""
    if not isinstance(value, dict):
        return {} if isinstance(value, list) else {name: value}
    found: dict[str, Any] = {}
    for key, part in value.items():
        own = name if key == "value" else f"{name}_{key}" if name else key
        found |= flatten(part, own)
    return found


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns; what a row lacks is None."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def clopper_pearson(
    successes: Any, total: Any, coverage: float = COVERAGE
) -> tuple[Floats, Floats]:
    """The exact interval of a rate (Clopper & Pearson 1934), also for weights that are not whole.

    low = B^-1(a/2; k, n - k + 1),   high = B^-1(1 - a/2; k + 1, n - k),   a = 1 - coverage

    with B^-1 the quantile of a beta distribution. Without successes the lower limit is 0; with
    successes only the upper limit is 1.

    Parameters
    ----------
    successes, total : float or array
        Counts, or weights.
    coverage : float, default=0.95
        Coverage of the interval.

    Examples
    --------
    >>> from weigh.metrics import clopper_pearson
    >>> low, high = clopper_pearson(3, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.067, 0.652)
    """
    check_coverage(coverage)
    counts = read_matrix(successes, "successes"), read_matrix(total, "total")
    k, n = np.broadcast_arrays(*counts)
    if not ((k >= 0) & (k <= n)).all():
        raise ValueError("successes must be from 0 to total; exchange them if they are swapped")
    tail = (1 - coverage) / 2
    failures = n - k
    low = betaincinv(np.where(k > 0, k, 1.0), failures + 1, tail)
    high = betaincinv(k + 1, np.where(failures > 0, failures, 1.0), 1 - tail)
    return np.where(k > 0, low, 0.0), np.where(failures > 0, high, 1.0)


def read_matrix(values: Any, name: str) -> Floats:
    """Rows of numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers only; got {values!r:.60}") from None
