"""Features whose weights run against those of their own counts."""

from __future__ import annotations

import numpy as np

from weigh.bins import Cross
from weigh.evidence.estimate import weigh_halves
from weigh.evidence.feature_table import FeatureTable
from weigh.evidence.tables import Evidence

AGREE = -0.5
"""A correlation of weights with those of the counts below which the effect reverses."""
FAINT = 0.01
"""Nats by which weights must vary over the rows; points of a card by one, which rounding may do."""


def find_reversed(evidence: Evidence) -> list[FeatureTable]:
    """Tables of two classes whose effect reverses once the other features are included.

    The correlation over the training rows between the weights of a table and those of its own
    counts, ln P(v|1)/P(v|0), is below -0.5. Rows whose value is missing or a special code do not
    count: they have no place in a trend. Weights that hardly vary are left out.
    """
    if len(evidence.classes) != 2 or evidence.estimates:
        return []
    units = evidence.units
    least = max(FAINT, 1 / abs(units.scale)) if units.are_points else FAINT
    return [table for table in evidence if _is_reversed(table, least)]


def _is_reversed(table: FeatureTable, least: float) -> bool:
    if isinstance(table.feature, Cross):
        return False
    feature = table.feature
    usual = slice(feature.n_intervals or len(feature.levels) - feature.has_missing)
    rows = table.counts[usual].sum(axis=1)
    if np.count_nonzero(rows) < 2:
        return False
    alone, own, share = (
        weigh_halves(table.counts)[usual],
        table.by_class[usual, 0],
        rows / rows.sum(),
    )
    alone, own = alone - share @ alone, own - share @ own
    spread = np.sqrt(share @ own**2), np.sqrt(share @ alone**2)
    return bool(spread[0] > least and share @ (own * alone) < AGREE * spread[0] * spread[1])
