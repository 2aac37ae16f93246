"""Class counts of the distinct numbers of a column, or of cells if there are too many.

Up to `EXACT` distinct numbers are all counted. Otherwise a sample of `SAMPLED` numbers is kept,
those with the smallest hashes, which does not depend on the order of the rows. The sample divides
the line into cells, and another pass counts each cell exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import are_binary, are_counts, are_whole
from weigh.tally import Rows

EXACT = 1 << 16
"""Up to this many distinct numbers, levels are the same as for a column in memory."""

SAMPLED = 1 << 13
"""Size of the sample of distinct numbers that divides a column with more into cells."""

NO_BOUND = np.iinfo(np.uint64).max


class DistinctNumbers:
    """Weight of each distinct number by class, up to `EXACT` numbers; beyond that, a sample.

    NaN is counted separately. The counts of two sets of rows add. The sample has `SAMPLED + extra`
    numbers.
    """

    def __init__(self, n_classes: int, extra: int = 0) -> None:
        self.missing, self.extra = np.zeros(n_classes), extra
        self.sample: Floats | None = None  # set if there are too many to count
        self._bound = NO_BOUND
        self._allocate(1 << 10)

    def _allocate(self, size: int) -> None:
        self._keys, self._used = np.zeros(size), np.zeros(size, dtype=np.bool_)
        self._table, self._n = np.zeros((size, len(self.missing))), 0

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling, without unused memory."""
        known = {"missing": self.missing, "sample": self.sample, "bound": self._bound}
        known |= {"more": self.extra}
        return known | {"values": self.values, "counts": self.counts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.missing, self.sample, self._bound = state["missing"], state["sample"], state["bound"]
        self.extra = state["more"]
        self._allocate(1 << 10)
        if self.sample is None:
            self._insert_counts(state["values"], state["counts"])

    @property
    def values(self) -> Floats:
        """Distinct numbers, in order."""
        return np.sort(self._keys[self._used])

    @property
    def counts(self) -> Floats:
        """Weight of each number (row) and class (column)."""
        order = np.argsort(self._keys[self._used])
        return np.asarray(self._table[self._used][order])

    def add(self, values: Floats, rows: Rows) -> None:
        """Count more rows."""
        values, rows = _count_missing(values, rows, self.missing)
        weight = np.ones(1) if rows.weight is None else rows.weight
        self._insert(values + 0.0, rows.labels, weight)  # + 0.0 turns -0.0 into 0.0

    def merge(self, other: DistinctNumbers) -> None:
        """Add the counts of other rows."""
        self.missing += other.missing
        if other.sample is not None:
            self._sample(other.sample)
        else:
            self._insert_counts(other.values, other.counts)

    def _insert_counts(self, values: Floats, counts: Floats) -> None:
        n, k = counts.shape
        self._insert(np.repeat(values, k), np.tile(np.arange(k), n), counts.ravel())

    def _insert(self, values: Floats, labels: Integers, weight: Floats) -> None:
        from weigh.sketches import kernels

        while len(values) and self.sample is None:
            capacity = min(len(self._keys) // 2, EXACT + 1) - self._n
            done, new = kernels.count_distinct(
                values, values.view(np.uint64), labels, weight, self._keys, self._used,
                self._table, capacity,
            )  # fmt: skip
            self._n += new
            if self._n > EXACT:
                self._sample(self._keys[self._used])
            elif done < len(values):
                self._grow()
            values, labels = values[done:], labels[done:]
            weight = weight if len(weight) == 1 else weight[done:]
        if len(values):
            self._sample(values)

    def _grow(self) -> None:
        keys, table = self._keys[self._used], self._table[self._used]
        self._allocate(4 * len(self._keys))
        self._insert_counts(keys, table)

    def _sample(self, values: Floats) -> None:
        """Add numbers to the sample, and keep those with the smallest hashes."""
        from weigh.sketches import kernels

        if self.sample is None:
            known = self._keys[self._used]
            self._allocate(1)
            self.sample = np.empty(0)
            self._sample(known)
        found = np.empty(len(values))
        n = kernels.collect_below(values, values.view(np.uint64), self._bound, found)
        every = np.unique(np.concatenate([self.sample, found[:n]]))
        size = SAMPLED + self.extra
        if len(every) > size:
            mixed = np.empty(len(every), dtype=np.uint64)
            kernels.hash_all(every.view(np.uint64), mixed)
            self._bound = np.partition(mixed, size)[size]
            every = every[mixed < self._bound]
        self.sample = every


READINGS = {"whole": are_whole, "binary": are_binary, "counted": are_counts}
"""What is tested of all numbers of a column, for the labels of its intervals."""


class CellCounts:
    """Weight of each cell by class, and the least and largest number of each cell.

    `reading` is what decides how intervals are labelled, special values aside: whether all numbers
    are whole, whether they are 0 or 1, and whether none is below 0.
    """

    def __init__(self, ends: Floats, n_classes: int, special: Floats) -> None:
        self.ends, self.missing = ends, np.zeros(n_classes)
        self.special, self.reading = special, dict.fromkeys(READINGS, True)
        self.counts = np.zeros((len(ends) + 1, n_classes))
        self.least = np.full(len(ends) + 1, np.inf)
        self.most = np.full(len(ends) + 1, -np.inf)

    def add(self, values: Floats, rows: Rows) -> None:
        """Count more rows."""
        from weigh.sketches import kernels

        values, rows = _count_missing(values, rows, self.missing)
        weight = np.ones(1) if rows.weight is None else rows.weight
        for name, holds in READINGS.items():
            self.reading[name] = self.reading[name] and holds(values, rows.weight, self.special)
        kernels.count_cells(
            values + 0.0, rows.labels, weight, self.ends, self.counts, self.least, self.most
        )

    def merge(self, other: CellCounts) -> None:
        """Add the counts of other rows."""
        self.missing += other.missing
        for name in READINGS:
            self.reading[name] &= other.reading[name]
        self.counts += other.counts
        self.least = np.minimum(self.least, other.least)
        self.most = np.maximum(self.most, other.most)


def _count_missing(values: Floats, rows: Rows, missing: Floats) -> tuple[Floats, Rows]:
    """Count the rows whose value is missing, and return the others."""
    without_value = np.isnan(values)
    if not without_value.any():
        return values, rows
    gone = rows.take(without_value)
    missing += gone.count(np.zeros(len(gone.labels), dtype=np.uint8), 1)[0]
    return values[~without_value], rows.take(~without_value)
