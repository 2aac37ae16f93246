"""Training rows by level: a fit counts rows and periods at risk, and drift compares rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weigh import engine
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import Floats, Table
from weigh.survival.outcomes import Outcomes
from weigh.tally import count_placed_soft


def count_rows(
    tables: Sequence[FeatureTable], table: Table, outcomes: Outcomes, weight: Floats
) -> Floats:
    """The rows of every level, table by table, and of all: censored and with the event."""
    by_class = np.column_stack([~outcomes.event, outcomes.event]) * weight[:, None]
    features = [own.feature for own in tables]
    placed = engine.place(replace(table, named=True), features)
    parts = zip(features, placed, strict=True)
    counts = [count_placed_soft(feature, own, by_class).counts for feature, own in parts]
    return np.concatenate([*counts, by_class.sum(axis=0)[None]])


def with_rows(evidence: Evidence, tables: Sequence[FeatureTable], rows: Floats) -> Evidence:
    """The evidence of some tables, with the counts that `count_rows` has found."""
    ends = np.cumsum([len(own.levels) for own in tables], dtype=np.int64)
    if rows.shape != (int(ends[-1:].sum()) + 1, 2):
        raise ValueError("level_rows_ does not fit the tables of the model: fit it again")
    parts = zip(tables, np.split(rows[:-1], ends[:-1])[: len(tables)], strict=True)
    counted = tuple(replace(own, counts=counts) for own, counts in parts)
    return replace(evidence, tables=counted, class_counts=rows[-1])
