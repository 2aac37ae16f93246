"""Features that alone tell the classes apart: seldom luck, often the target under another name."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from weigh.frames import Codes, Column, Floats, Integers, read
from weigh.metrics import Scored
from weigh.metrics.predicted import Predicted

LEAST, ROWS = 10, 5
"""Rows of each class that a feature must be known in, and rows per level: ids are no leak."""


def find_leaks(model: Any, X: Any, predicted: Predicted) -> tuple[str, ...]:
    """The model's features whose AUC, taken alone, is 1.

    Numbers part the classes where their ranges do not meet; categories where no level has rows of
    two classes.
    """
    used = {str(name) for name in getattr(model, "feature_names_in_", ())}
    if not used:
        return ()
    table, rows = read(X), predicted.rows
    codes = rows.positive.astype(np.int64) if isinstance(rows, Scored) else rows.codes
    names = [name for name in table.names if name in used]
    return tuple(name for name in names if _parts(table.column(name), predicted.kept, codes))


def _parts(column: Column, kept: Any, classes: Integers) -> bool:
    if isinstance(column, Codes):
        missing = np.array([value is None for value in column.values] or [True])
        places = column.codes[kept]
        known = ~missing[places]
        return _parts_levels(places[known], classes[known])
    values = column.values[kept]
    known = ~np.isnan(values)
    return _parts_numbers(values[known], classes[known])


def _parts_levels(codes: Integers, classes: Integers) -> bool:
    if not _enough(classes):
        return False
    n_classes = int(classes.max()) + 1
    size = (int(codes.max()) + 1) * n_classes
    counts = np.bincount(codes.astype(np.int64) * n_classes + classes, minlength=size)
    of_each = (counts.reshape(-1, n_classes) > 0).sum(axis=1)  # how many classes a level has
    return int(of_each.max()) == 1 and ROWS * int(of_each.sum()) <= len(codes)


def _parts_numbers(values: Floats, classes: Integers) -> bool:
    if not _enough(classes):
        return False
    counts = np.bincount(classes)
    starts = (np.cumsum(counts) - counts)[counts > 0]
    by_class = values[np.argsort(classes, kind="stable")]
    ranges = zip(
        np.minimum.reduceat(by_class, starts), np.maximum.reduceat(by_class, starts), strict=True
    )
    return all(below[1] < above[0] for below, above in pairwise(sorted(ranges)))


def _enough(classes: Integers) -> bool:
    counts = np.bincount(classes)
    counts = counts[counts > 0]
    return len(counts) > 1 and int(counts.min()) >= LEAST
