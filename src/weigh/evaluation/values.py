"""Numbers with intervals, and everything as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from weigh.metrics import clopper_pearson
from weigh.metrics.numbers import NAN, reach_of


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
