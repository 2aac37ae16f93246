"""A model that makes a readable card: few levels, and monotone where the data allow it."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.bins import Feature
from weigh.evidence import FeatureTable
from weigh.frames import Floats
from weigh.shapes import segment

LEAST = 0.05
"""The share of rows that a bin holds at least."""

NOISE = 2.0
"""Standard errors by which bins may depart from a monotone trend that is then taken for theirs."""


def learn_model(X: Any, y: Any, levels: int, sample_weight: Any = None, **options: Any) -> Any:
    """Fit every column finely, cut it where its weights change most, and fit what is left again.

    A column has at most `levels` bins, of at least 5% of the rows each, that keep the shape of
    the fine table with the least squared error; or as many categories, the rare ones joined.
    Missing and special codes come on top. Bins that are monotone but for noise are held monotone
    in the second fit.
    """
    from weigh.educated import EducatedNB  # a card that is only shown needs no learner

    options["max_levels"] = levels - 1  # the others share one
    fine = EducatedNB(pairs=0, **options).fit(X, y, sample_weight=sample_weight)
    cuts: dict[str, list[float]] = {}
    trends: dict[str, int] = {}
    for table in fine.evidence_:
        feature = table.feature
        if isinstance(feature, Feature) and feature.cuts is not None:
            cuts[table.name], trend = _coarsen(table, feature.cuts, levels)
            if trend:
                trends[table.name] = trend
    coarse = EducatedNB(pairs=0, bins=cuts or "fine", monotonic_cst=trends or None, **options)
    return coarse.fit(X, y, sample_weight=sample_weight)


def _coarsen(table: FeatureTable, cuts: tuple[float, ...], most: int) -> tuple[list[float], int]:
    """The cut points that are kept, and the direction of the weights (0: none)."""
    n = len(cuts) + 1
    weights, rows = table.by_class[:n], table.counts[:n].sum(axis=1)
    groups = segment(weights, rows, most, least=LEAST * float(table.counts.sum()))
    starts = [group.start for group in groups]
    heavy = np.maximum(rows, 1e-9)
    means = np.add.reduceat(weights[:, 0] * heavy, starts) / np.add.reduceat(heavy, starts)
    errors = table.errors
    if errors is None or len(groups) < 3:
        return [cuts[start - 1] for start in starts[1:]], 0
    spread = np.add.reduceat(errors[:n].reshape(n, -1)[:, 0] * heavy, starts)
    return (
        [cuts[start - 1] for start in starts[1:]],
        find_trend(means, spread / np.add.reduceat(heavy, starts)),
    )


def find_trend(weights: Floats, errors: Floats) -> int:
    """1 or -1 where the weights rise or fall but for noise, otherwise 0.

    >>> import numpy as np
    >>> find_trend(np.array([0.0, 0.5, 0.4]), np.full(3, 0.1))
    1
    >>> find_trend(np.array([0.0, 0.9, 0.0]), np.full(3, 0.1))
    0
    """
    from sklearn.isotonic import isotonic_regression  # which a card that is only shown lacks

    errors = np.maximum(errors, 1e-9)
    found = []
    for direction in (1, -1):
        fitted = isotonic_regression(direction * weights, sample_weight=1 / errors**2)
        off = np.abs(direction * weights - fitted) / errors
        found.append((float(off.max()), direction))
    worst, direction = min(found)
    return direction if worst <= NOISE else 0
