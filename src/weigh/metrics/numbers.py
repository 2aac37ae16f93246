"""Checks of numeric arguments, numbers with intervals, and their conversion to plain data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from weigh.arrays import Floats

NAN = float("nan")
"""Value of a measure that is not defined."""

COVERAGE = 0.95
"""Default coverage of intervals."""

LARGEST = 1e100
"""Largest weight or cost, so that products and sums stay finite."""


def read_number(value: Any, name: str, wanted: str = "a number") -> float:
    """Read one number; raise an error if it is NaN or not a number."""
    try:
        number = NAN if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError):
        number = NAN
    if number != number:
        raise ValueError(f"{name} must be {wanted}, got {value!r:.60}")
    return number


def read_threshold(value: Any) -> float:
    """Read a cut-off. Below 0 all rows are positive; from 1 on none is."""
    return read_number(value, "threshold", "a probability from 0 to 1")


def read_cost(value: Any, name: str) -> float:
    """Read the cost of an error, from 0 to `LARGEST`."""
    cost = read_number(value, name, "a number of at least 0")
    if not 0 <= cost <= LARGEST:
        raise ValueError(f"{name} must be from 0 to {LARGEST:g}, got {value!r}; give smaller units")
    return cost


def check_coverage(coverage: Any) -> None:
    """Raise an error unless the coverage is between 0 and 1."""
    wanted = "between 0 and 1, such as 0.95"
    if not 0 < read_number(coverage, "coverage", wanted) < 1:
        raise ValueError(f"coverage must be {wanted}, got {coverage!r}")


def normal_quantile(coverage: float) -> float:
    """Normal quantile at (1 + coverage) / 2: the half-width of an interval in standard errors."""
    return float(ndtri((1 + coverage) / 2))


def check_size(weight: Floats, name: str) -> None:
    """Raise an error for weights whose products would overflow or underflow."""
    counted = weight[weight > 0]
    odd = counted[(counted > LARGEST) | (counted < 1 / LARGEST)]
    if len(odd):
        raise ValueError(
            f"{name} must be 0 or from {1 / LARGEST:g} to {LARGEST:g}, but holds "
            f"{np.max(odd):g}; divide the weights by their mean"
        )


@dataclass(frozen=True)
class Bounded:
    """A number and its interval; NaN if not defined."""

    value: float
    low: float = NAN
    high: float = NAN

    @classmethod
    def share(cls, part: float, whole: float, coverage: float) -> Bounded:
        """Rate part/whole with the interval of Clopper & Pearson; NaN if the whole is 0."""
        if whole <= 0:
            return cls(NAN)
        found = min(max(part, 0.0), whole)  # sums have rounding errors
        low, high = clopper_pearson(found, whole, coverage)
        return cls(found / whole, float(low), float(high))

    @classmethod
    def normal(cls, value: float, error: float, coverage: float) -> Bounded:
        """Number with the normal interval of its standard error."""
        reach = normal_quantile(coverage) * error
        return cls(value, value - reach, value + reach)

    @classmethod
    def student(cls, value: float, error: float, degrees: float, coverage: float) -> Bounded:
        """Number with the t interval of its standard error; no interval without a degree."""
        reach = float(stdtrit(degrees, (1 + coverage) / 2)) * error if degrees > 0 else NAN
        return cls(value, value - reach, value + reach)

    def scaled(self, factor: float) -> Bounded:
        """Multiply the number and its interval by a factor."""
        return Bounded(self.value * factor, self.low * factor, self.high * factor)

    def is_known(self) -> bool:
        """Whether the number is finite."""
        return math.isfinite(self.value)

    def has_interval(self) -> bool:
        """Whether the limits of the interval are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def holds(self, value: float) -> bool:
        """Whether the interval contains a number."""
        return self.low <= value <= self.high

    def spelled(self, spell: Callable[[float], str]) -> str:
        """The number, and its interval if it has one, as text."""
        if not self.has_interval():
            return spell(self.value)
        return f"{spell(self.value)} ({spell(self.low)} to {spell(self.high)})"


def plain(value: Any) -> Any:
    """Plain data, ready for JSON: fields and properties by name; None for NaN and infinity."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)]
        names += [name for name, kind in vars(type(value)).items() if isinstance(kind, property)]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def flatten(value: Any, name: str = "") -> dict[str, Any]:
    """Flatten nested plain data to single values by name, such as `auc` and `auc_low`."""
    if not isinstance(value, dict):
        return {} if isinstance(value, list) else {name: value}
    found: dict[str, Any] = {}
    for key, part in value.items():
        own = name if key == "value" else f"{name}_{key}" if name else key
        found |= flatten(part, own)
    return found


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Turn rows into columns; a value that a row does not have is None."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def clopper_pearson(
    successes: Any, total: Any, coverage: float = COVERAGE
) -> tuple[Floats, Floats]:
    """Exact interval of a rate (Clopper & Pearson 1934), also for fractional weights.

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
    """Read an array of numbers."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers only; got {values!r:.60}") from None
