"""A model that makes a readable card: few levels, and monotone where the data allow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.bins import Feature
from weigh.evidence import FeatureTable
from weigh.frames import Floats
from weigh.shapes import segment

LEAST = 0.05
"""The share of rows that a bin holds at least."""

MANY = 200
"""Categories of a column that the first fit tells apart."""

NOISE = 2.0
"""Standard errors by which bins may depart from a monotone trend that is then taken for theirs."""


@dataclass(frozen=True)
class Given:
    """Cut points and trends by column that are given, and not found."""

    bins: Mapping[str, Any]
    trends: Mapping[str, int]


def learn_model(
    X: Any, y: Any, levels: int, sample_weight: Any, given: Given, **options: Any
) -> Any:
    """Fit every column finely, cut it where its weights change most, and fit what is left again.

    A column has at most `levels` bins, of at least 5% of the rows each, that keep the shape of
    the fine table with the least squared error; or as many categories, the rare ones joined.
    Ordered categories, missing and special codes stay. Bins that are monotone but for noise in the
    second fit are held monotone in a third.
    """
    from weigh.educated import EducatedNB  # a card that is only shown needs no learner

    def fit(**chosen: Any) -> Any:
        model = EducatedNB(pairs=0, **options, **chosen)
        return model.fit(X, y, sample_weight=sample_weight)

    cuts: dict[str, list[float]] = {}
    few: dict[str, int] = {}  # columns of which some categories are joined
    for table in fit(max_levels=MANY).evidence_:
        feature = table.feature
        if isinstance(feature, Feature) and feature.cuts is not None:
            cuts[table.name] = _coarsen(table, feature.cuts, levels)
        elif isinstance(feature, Feature) and not feature.ordered and len(feature.values) > levels:
            few[table.name] = levels - 1
    chosen = {"bins": {**cuts, **given.bins} or "fine", "max_levels": few or None}
    coarse = fit(**chosen)
    trends = {table.name: _trend(table) for table in coarse.evidence_}
    found = {name: trend for name, trend in (trends | dict(given.trends)).items() if trend}
    return fit(**chosen, monotonic_cst=found) if found else coarse


def _coarsen(table: FeatureTable, cuts: tuple[float, ...], most: int) -> list[float]:
    """The cut points that are kept."""
    n = len(cuts) + 1
    rows = table.counts[:n].sum(axis=1)
    groups = segment(table.by_class[:n], rows, most, least=LEAST * float(table.counts.sum()))
    return [cuts[group.start - 1] for group in groups[1:]]


def _trend(table: FeatureTable) -> int:
    """The direction of intervals or ordered categories; 0 where they have none."""
    feature, errors = table.feature, table.errors
    n = feature.n_in_order if isinstance(feature, Feature) else 0
    if errors is None or n < 3:
        return 0
    return find_trend(table.by_class[:n, 0], errors[:n].reshape(n, -1)[:, 0])


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
