"""Rows of levels on a Spark cluster: any statistic that adds, summed where they lie.

The levels are found once. A block of rows is then one value of a DataFrame that Spark keeps, in
memory while it has room, with a byte or two for each level. If an executor is lost, Spark makes its
blocks again.
"""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from weigh.bins import Cross, Feature
from weigh.engine.dealer import Dealer
from weigh.engine.passes import (
    Block,
    Coded,
    CodedRows,
    Dealt,
    Passes,
    Statistic,
    Sums,
    add_block,
    fold_roles,
    positions,
)
from weigh.engine.threads import BLOCK
from weigh.engine.totals import place
from weigh.frames import (
    Cluster,
    Floats,
    Integers,
    PartSum,
    Roles,
    Sample,
    check_classes,
    check_rows,
    gather,
    join_batches,
    label_batch,
    part_number,
    sum_row,
)

CODED = "part long, block binary"
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
    roles: Roles
    n_rows: int = 0
    numbers: dict[int, Integers] = field(default_factory=dict)  # of rows, by partition and class
    dealer: Dealer | None = None
    far: bool = True
    passes: Passes = field(default_factory=Passes)

    @classmethod
    def of(cls, table: Cluster, features: Sequence[Feature | Cross]) -> SparkRows:
        """Find the levels of a table on a cluster, and have Spark keep them."""
        assert table.roles is not None
        names = (*table.names, *table.roles.names)
        code = partial(_code_part, pickle.dumps((features, table.roles)), names)
        frame = table.pick(names).mapInArrow(code, CODED).persist()
        rows = cls(frame, table.n_parts, table.roles)
        weakref.finalize(rows.passes, _release, frame)
        number = partial(_number_part, len(table.roles.classes))
        total = gather(frame, number, _Add(), table.n_parts)
        found = total.found or Numbered(np.zeros(len(table.roles.classes)), {})
        check_classes(found.counts, table.roles)
        return replace(rows, n_rows=total.n_rows, numbers=found.numbers)

    @property
    def n_passes(self) -> int:
        """How often the rows were passed over so far, by all who share them."""
        return self.passes.n

    def sum(self, statistic: Statistic) -> Sums:
        """The statistic of all rows: those of the blocks, added in the order of partitions."""
        self.passes.n += 1
        asked = statistic, self.dealer, len(self.roles.classes)
        add = partial(_sum_blocks, pickle.dumps(asked))
        total = gather(self.frame, add, _Add(), self.n_parts)
        check_rows(total.n_rows, self.n_rows)
        counts, *found = total.found.arrays
        check_classes(counts, self.roles)
        return Sums(tuple(found))

    def deal(self, cv: Any, random_state: Any, of: int | None = None) -> Dealt:
        """Rows with folds, each class dealt in turn, from the first partition to the last."""
        if not isinstance(cv, int | np.integer) or cv > MOST_FOLDS:
            raise ValueError(
                f"cv={cv!r}: rows on a cluster have no numbers that splits could name; give a "
                f"number of folds up to {MOST_FOLDS}"
            )
        from sklearn.utils import check_random_state

        seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
        dealer = Dealer.of_numbers(self.numbers, min(int(cv), self.n_rows), seed, of)
        return Dealt(replace(self, dealer=dealer), fold_roles(dealer.n_folds))

    def carrying(self) -> SparkRows:
        """The same rows: what a statistic would keep of them it finds anew."""
        return self


def _release(frame: Any) -> None:
    """Let Spark forget what it kept; a session that was stopped has forgotten."""
    with suppress(Exception):
        frame.unpersist()


@dataclass(frozen=True)
class _Add:
    """What partitions found adds."""

    def begin(self) -> None:
        return None

    def add(self, found: Any, table: Any) -> Any:
        raise AssertionError("blocks are summed on their own")

    def merge(self, one: Any, other: Any) -> Any:
        return other if one is None else one if other is None else one + other


@dataclass(frozen=True)
class Numbered:
    """The weight of each class, and the number of rows of each partition and class."""

    counts: Floats
    numbers: dict[int, Integers]

    def __add__(self, other: Numbered) -> Numbered:
        return Numbered(self.counts + other.counts, self.numbers | other.numbers)


def count_rows(block: Block) -> Sums:
    """How many rows there are."""
    return Sums((np.array(float(len(block))),))


# ------------------------------------------------------------ on the executors


@dataclass(frozen=True)
class Kept:
    """A block that Spark keeps, and how many rows of each class the partition has before it."""

    block: Block
    earlier: Integers


def _code_part(sent: bytes, names: tuple[str, ...], batches: Iterable[Any]) -> Iterator[Any]:
    """A partition's rows as blocks."""
    features, roles = pickle.loads(sent)
    earlier = np.zeros(len(roles.classes), dtype=np.int64)
    try:
        for table in join_batches(batches, names):
            whole = _code_batch(label_batch(table, roles), features)
            for start in range(0, len(whole), BLOCK):
                block = whole.part(slice(start, start + BLOCK))
                yield _block_row(Kept(block, earlier))
                earlier = earlier + np.bincount(block.labels, minlength=len(earlier))
    except (ValueError, TypeError) as error:  # of the data: to be raised where the fit was called
        yield _block_row(error)


def _code_batch(sample: Sample, features: Sequence[Feature | Cross]) -> Block:
    codes = [positions(feature.read(sample.table)) for feature in features]
    return Block(codes, sample.labels, sample.weight)


def _block_row(kept: Kept | Exception) -> Any:
    columns = [pa.array([part_number()], pa.int64()), pa.array([pickle.dumps(kept)], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["part", "block"])


def _blocks(batches: Iterable[Any]) -> Iterator[tuple[int, Kept]]:
    """The blocks of a partition, and its number."""
    for batch in batches:
        for row in batch.to_pylist():
            kept = pickle.loads(row["block"])
            if isinstance(kept, Exception):
                raise kept
            yield row["part"], kept


def _number_part(n_classes: int, batches: Iterable[Any]) -> Iterator[Any]:
    """How many rows of each class a partition has, and what they weigh."""
    numbers, counts, part = np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes), None
    try:
        for part, kept in _blocks(batches):  # noqa: B007
            numbers += np.bincount(kept.block.labels, minlength=n_classes)
            counts += np.bincount(kept.block.labels, kept.block.weight, n_classes)
        if part is not None:
            yield sum_row(part, PartSum(int(numbers.sum()), Numbered(counts, {part: numbers})))
    except (ValueError, TypeError) as error:
        yield sum_row(part_number(), error)


def _sum_blocks(sent: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """The weight of each class in a partition, and a statistic of its rows."""
    statistic, dealer, n_classes = pickle.loads(sent)
    counts, total, n_rows, part = np.zeros(n_classes), None, 0, None
    try:
        for part, kept in _blocks(batches):
            block = replace(kept.block, first=int(kept.earlier.sum()))
            if dealer is not None:
                groups = dealer.deal(part, block.labels, kept.earlier)
                block = replace(block, groups=groups)
            counts += np.bincount(block.labels, block.weight, n_classes)
            total, n_rows = add_block(statistic, block, total), n_rows + len(block)
        if part is not None and total is not None:
            yield sum_row(part, PartSum(n_rows, Sums((counts, *total.arrays))))
    except (ValueError, TypeError) as error:
        yield sum_row(part_number(), error)
