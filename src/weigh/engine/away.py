"""Rows of levels on a Spark cluster: any statistic that adds, summed where they lie.

The levels are found once. A block of rows is then one value of a DataFrame that Spark keeps, in
memory while it has room, with a byte or two for each level. If an executor is lost, Spark makes its
blocks again.
"""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.utils import check_random_state

from weigh.bins import Cross, Feature
from weigh.engine.passes import (
    Block,
    Coded,
    CodedRows,
    Dealt,
    Passes,
    Statistic,
    Sums,
    add_block,
    one_each,
    positions,
)
from weigh.engine.threads import BLOCK
from weigh.engine.totals import place
from weigh.frames import (
    Cluster,
    Integers,
    PartSum,
    Sample,
    gather,
    join_batches,
    label_batch,
    part_number,
    sum_row,
)

CODED = "part long, first long, block binary"
MOST_FOLDS = 255


def code_rows(sample: Sample, features: Sequence[Feature | Cross]) -> Coded:
    """The rows of a sample as levels, wherever they are."""
    if isinstance(sample.table, Cluster):
        return SparkRows.of(sample.table, features)
    placed = place(sample.table, features)
    return CodedRows.of(placed, sample.labels, sample.weight, sample.kept)


@dataclass(frozen=True)
class SparkRows:
    """Rows on a cluster; `frame` holds a block in each of its rows."""

    frame: Any
    n_parts: int
    n_rows: int = 0
    folds: int = 0
    seed: int = 0
    far: bool = True
    passes: Passes = field(default_factory=Passes)

    @classmethod
    def of(cls, table: Cluster, features: Sequence[Feature | Cross]) -> SparkRows:
        """Find the levels of a table on a cluster, and have Spark keep them."""
        assert table.roles is not None
        names = (*table.names, *table.roles.names)
        code = partial(_code_part, pickle.dumps((features, table.roles)), names)
        frame = table.pick(names).mapInArrow(code, CODED).persist()
        rows = cls(frame, table.n_parts)
        weakref.finalize(rows.passes, frame.unpersist)
        n_rows = int(rows._gather(count_rows).n_rows)
        return replace(rows, n_rows=n_rows)

    @property
    def n_passes(self) -> int:
        """How often the rows were passed over so far, by all who share them."""
        return self.passes.n

    def sum(self, statistic: Statistic) -> Sums:
        """The statistic of all rows: those of the blocks, added in the order of partitions."""
        self.passes.n += 1
        total = self._gather(statistic)
        if total.n_rows != self.n_rows:
            raise ValueError(
                f"the Spark DataFrame gave {self.n_rows:,} rows at first and {total.n_rows:,} when "
                "it was read again; write it as Parquet, and fit what was written"
            )
        return total.found  # type: ignore[no-any-return]

    def _gather(self, statistic: Statistic) -> PartSum:
        add = partial(_sum_blocks, pickle.dumps(statistic), self.folds, self.seed)
        return gather(self.frame, add, _Add(), self.n_parts)

    def deal(self, cv: Any, random_state: Any, of: int | None = None) -> Dealt:
        """Rows with folds, by a hash of where they lie: the partition, and their number in it."""
        if not isinstance(cv, int | np.integer) or cv > MOST_FOLDS:
            raise ValueError(
                f"cv={cv!r}: rows on a cluster have no numbers that splits could name; give a "
                f"number of folds up to {MOST_FOLDS}"
            )
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
        return Dealt(replace(self, folds=int(cv), seed=seed), one_each(int(cv)))

    def carrying(self) -> SparkRows:
        """The same rows: what a statistic would keep of them it finds anew."""
        return self


@dataclass(frozen=True)
class _Add:
    """Partitions' sums add."""

    def begin(self) -> Sums | None:
        return None

    def add(self, found: Any, table: Any) -> Any:
        raise AssertionError("blocks are summed on their own")

    def merge(self, one: Sums | None, other: Sums | None) -> Sums | None:
        return other if one is None else one if other is None else one + other


def count_rows(block: Block) -> Sums:
    """How many rows there are."""
    return Sums((np.array(float(len(block))),))


# ------------------------------------------------------------ on the executors


def _code_part(sent: bytes, names: tuple[str, ...], batches: Iterable[Any]) -> Iterator[Any]:
    """A partition's rows as blocks."""
    features, roles = pickle.loads(sent)
    first = 0
    for table in join_batches(batches, names):
        whole = _code_batch(label_batch(table, roles), features)
        for start in range(0, len(whole), BLOCK):
            block = whole.part(slice(start, start + BLOCK))
            yield _block_row(part_number(), first + start, block)
        first += len(whole)


def _code_batch(sample: Sample, features: Sequence[Feature | Cross]) -> Block:
    codes = [positions(feature.read(sample.table)) for feature in features]
    return Block(codes, sample.labels, sample.weight)


def _block_row(part: int, first: int, block: Block) -> Any:
    columns = [pa.array([value], pa.int64()) for value in (part, first)]
    columns.append(pa.array([pickle.dumps(block)], pa.binary()))
    return pa.RecordBatch.from_arrays(columns, names=["part", "first", "block"])


def _sum_blocks(sent: bytes, folds: int, seed: int, batches: Iterable[Any]) -> Iterator[Any]:
    statistic: Statistic = pickle.loads(sent)
    total, n_rows, part = None, 0, None
    for batch in batches:
        for row in batch.to_pylist():
            part, first, block = row["part"], row["first"], pickle.loads(row["block"])
            groups = deal_block(part, first, len(block), folds, seed) if folds else None
            block = replace(block, groups=groups, first=first)
            total, n_rows = add_block(statistic, block, total), n_rows + len(block)
    if part is not None:
        yield sum_row(part, PartSum(n_rows, total))


def deal_block(part: int, first: int, n_rows: int, folds: int, seed: int) -> Integers:
    """The fold of each row, from where it lies.

    >>> deal_block(0, 0, 4, 2, 7).tolist() == deal_block(0, 0, 8, 2, 7).tolist()[:4]
    True
    """
    from weigh.distinct import kernels

    place = np.uint64(part * (1 << 40) + first) + np.arange(n_rows, dtype=np.uint64)
    mixed = np.empty(n_rows, dtype=np.uint64)
    kernels.hash_all(place, mixed)
    kernels.hash_all(mixed ^ np.uint64(seed), mixed)
    return np.asarray((mixed % np.uint64(folds)).astype(np.uint8))
