"""What the scores are made of: total = base + sum over features of weight times table[code]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.engine import Block, Coded
from weigh.evidence import Scorer
from weigh.frames import Floats, Integers
from weigh.tally import Rows

LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Scored:
    """Rows, wherever they are, and what scores them."""

    rows: Coded
    scorer: Scorer
    n_classes: int

    @property
    def tables(self) -> tuple[Floats, ...]:
        """What each feature adds, by split and level."""
        return self.scorer.tables


@dataclass(frozen=True)
class Terms:
    """Distinct rows: what each starts from, its code in each feature, its weight in each class.

    Rows of the same codes always score the same, so one stands for all of them. `tables[j]` holds
    what each code of feature j adds to the totals, in one column for two classes, else one per
    class.
    """

    base: Floats
    codes: list[Integers]
    tables: list[Floats]
    counts: Floats


def collapse(scored: Scored) -> Terms:
    """One row for all that one split scores and that have the same weight in each feature."""
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
    return Terms(scorer.prior[split[first]], [c[first] for c in codes], [*tables], counts)


def _merge(table: Floats) -> tuple[Floats, Integers]:
    """The distinct rows of a table by split and level, and which of them each one is."""
    n_splits, n_levels, n_totals = table.shape
    flat = table.reshape(n_splits * n_levels, n_totals)
    distinct, number = np.unique(flat, axis=0, return_inverse=True)
    number = number.astype(np.min_scalar_type(len(distinct)))
    return distinct, number.reshape(n_splits, n_levels)


def _distinct(columns: list[Integers]) -> tuple[Integers, Integers]:
    """Where each distinct row is first found, and which one each row is."""
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
