"""A case that the model knows, for those who read how to ask: each field's most common level."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.bins import OTHER, Feature, Interval
from weigh.evidence import Evidence, FeatureTable


def example_row(evidence: Evidence) -> dict[str, Any]:
    """Every column of the model with a value of the level that most training rows had."""
    row = {part.name: _pick(part, 0) for f in evidence.features for part in f.parts}
    for table in evidence:
        if isinstance(table.feature, Feature):
            row[table.name] = _pick(table.feature, _most_common(table))
    return {name: row[name] for name in evidence.column_names}


def _most_common(table: FeatureTable) -> int:
    """Of the levels that are answers."""
    rows = table.counts.sum(axis=1)
    known = np.array([level not in (None, OTHER) for level in table.levels], dtype=bool)
    return int(np.where(known, rows, -1.0).argmax()) if len(rows) else 0


def _pick(feature: Feature, place: int) -> Any:
    """A value of the level at a place; nothing where the feature has none."""
    if place >= len(feature.levels):
        return None
    level = feature.levels[place]
    if level is OTHER:
        return None
    if isinstance(level, Interval):
        return _inside(level, feature.values)
    return None if level in (np.inf, -np.inf) else level  # which JSON has no way to write


def _inside(interval: Interval, codes: tuple[Any, ...]) -> float:
    """A short number of an interval, and no special code."""
    low, high = interval.lower, interval.upper
    if np.isinf(low) and np.isinf(high):
        tried = [1.0, 2.0, 3.0]
    elif np.isinf(low) or np.isinf(high):
        end, step = (high, -1.0) if np.isinf(low) else (low, 1.0)
        tried = [end + step * size for size in (abs(end), 1.0)] + [high]
    else:
        tried = [low + share * (high - low) for share in (0.5, 0.25)] + [high]
    short = [float(f"{x:.{digits}g}") for digits in (2, 4, 17) for x in tried]
    fits = [x for x in short if low < x <= high and np.isfinite(x) and x not in codes]
    return fits[0] if fits else float(np.nextafter(high, low))
