"""Rows to rank and the tables that score them: total = base + sum_j weight_j table_j[code_j]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.engine import Block, Coded
from weigh.evidence import Scorer
from weigh.frames import Floats, Integers
from weigh.tally import Rows

LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class ScoredRows:
    """Rows in memory, in files or on a cluster, with the tables that score them."""

    rows: Coded
    scorer: Scorer
    n_classes: int

    @property
    def tables(self) -> tuple[Floats, ...]:
        """Weights of evidence of each feature: split by level by total."""
        return self.scorer.tables


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows in memory: prior (`base`), code of each feature, weight in each class.

    Rows with the same codes have the same total under any weights, so they are stored once.
    `tables[j]` has one row per code of feature j, and one column, or with more than two classes one
    per class.
    """

    base: Floats
    codes: list[Integers]
    tables: list[Floats]
    counts: Floats


def collapse(scored: ScoredRows) -> DistinctRows:
    """Merge rows that the same split scores and that have equal entries in every table."""
    whole, scorer = scored.rows.here(), scored.scorer
    block = Block(whole.codes, whole.labels, whole.weight, whole.groups)
    tables, numbers = zip(*map(_merge, scorer.tables), strict=True)
    splits, parts = zip(*scorer.parts(block), strict=True)
    split = np.concatenate(splits)
    codes = [
        np.concatenate([number[at, part.codes[j]] for at, part in zip(splits, parts, strict=True)])
        for j, number in enumerate(numbers)
    ]
    labels = np.concatenate([part.labels for part in parts])
    weight = None if whole.weight is None else np.concatenate([part.weight for part in parts])
    first, number = _distinct([split, *(c for c, t in zip(codes, tables, strict=True) if t.any())])
    counts = Rows(labels, weight, scored.n_classes).count(number, len(first))
    return DistinctRows(scorer.prior[split[first]], [c[first] for c in codes], [*tables], counts)


def _merge(table: Floats) -> tuple[Floats, Integers]:
    """Distinct entries of a table, and the index of the entry of each split and level."""
    n_splits, n_levels, n_totals = table.shape
    flat = table.reshape(n_splits * n_levels, n_totals)
    distinct, number = np.unique(flat, axis=0, return_inverse=True)
    number = number.astype(np.min_scalar_type(len(distinct)))
    return distinct, number.reshape(n_splits, n_levels)


def _distinct(columns: list[Integers]) -> tuple[Integers, Integers]:
    """Position of the first row of each distinct combination, and each row's combination."""
    key, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        n_codes = int(column.max()) + 1
        if size > LARGEST // n_codes:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            size = int(key.max()) + 1
        key = key * n_codes + column
        size *= n_codes
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return first, number
