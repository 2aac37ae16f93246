"""Coded rows on a Spark cluster: sums of any statistic, computed on the executors.

The levels are found once. A block of rows is then one value of a DataFrame that Spark persists, in
memory if there is enough, with one or two bytes per level. If an executor is lost, Spark computes
its blocks again.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pyspark.sql.types import IntegerType, StructField, StructType

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature
from weigh.engine import (
    BLOCK,
    Block,
    CodedRows,
    Dealt,
    Passes,
    Statistic,
    Sums,
    add_block,
    positions,
)
from weigh.folds import Dealer, fold_roles
from weigh.frames import Sample
from weigh.spark.labels import Roles, check_classes, join_batches, label_batch
from weigh.spark.passes import SUMS, Persisted, check_rows, part_number, pickled_row, sum_parts

MOST_FOLDS = 255


class CountRows:
    """Pass over labels that counts rows by partition and class."""

    def begin(self) -> dict[int, Integers]:
        """Empty counts."""
        return {}

    def add(self, found: dict[int, Integers], sample: Sample) -> dict[int, Integers]:
        """Add the counts of more rows."""
        rows = np.bincount(sample.labels, minlength=len(sample.classes))
        return self.merge(found, {part_number(): rows})

    def merge(self, one: dict[int, Integers], other: dict[int, Integers]) -> dict[int, Integers]:
        """Add two counts."""
        return one | {part: rows + one.get(part, 0) for part, rows in other.items()}


def deal_parts(
    numbers: dict[int, Integers], cv: Any, random_state: Any, of: int | None = None
) -> Dealer:
    """Make a dealer of folds, from the number of rows by partition and class."""
    # Imported here, because executors import this module, and loading scikit-learn is slow.
    from sklearn.utils import check_random_state

    if not isinstance(cv, int | np.integer) or cv > MOST_FOLDS:
        raise ValueError(
            f"cv={cv!r}: rows on a cluster have no row numbers, so splits cannot be used; set cv "
            f"to a number of folds up to {MOST_FOLDS}, or to the name of a column of folds"
        )
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    n_rows = int(sum(rows.sum() for rows in numbers.values()))
    return Dealer.of_numbers(numbers, min(int(cv), n_rows), seed, of)


def add_folds(frame: Any, names: tuple[str, ...], roles: Roles, dealer: Dealer) -> Any:
    """Add the fold of each row as a last column."""
    fields = [StructField(f"c{j}", field.dataType) for j, field in enumerate(frame.schema)]
    schema = StructType([*fields, StructField(f"c{len(fields)}", IntegerType())])
    sent = pickle.dumps((names, roles, dealer))
    return frame.mapInArrow(partial(_fold_part, sent), schema)


def _fold_part(sent: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Add folds to the rows of a partition; rows of weight 0 get fold 0 and are ignored."""
    names, roles, dealer = pickle.loads(sent)
    earlier = np.zeros(len(roles.classes), dtype=np.int64)
    for batch in batches:
        folds = np.zeros(batch.num_rows, dtype=np.int32)
        for _, table in join_batches([batch], names):
            sample = label_batch(table, roles)
            folds[sample.kept] = dealer.deal(part_number(), sample.labels, earlier)
            earlier += np.bincount(sample.labels, minlength=len(earlier))
        columns = [*batch.columns, pa.array(folds)]
        yield pa.RecordBatch.from_arrays(columns, names=[f"c{j}" for j in range(len(columns))])


@dataclass(frozen=True)
class SparkRows:
    """Coded rows on a cluster; each row of the persisted DataFrame holds one block."""

    kept: Persisted
    n_parts: int
    roles: Roles
    n_rows: int = 0
    numbers: dict[int, Integers] = field(default_factory=dict)  # rows by partition and class
    dealer: Dealer | Literal["sample"] | None = None  # gives the group of each row
    far: bool = True
    passes: Passes = field(default_factory=Passes)

    @classmethod
    def of(
        cls,
        table: Any,
        names: tuple[str, ...],
        roles: Roles,
        features: Sequence[Feature | Cross],
        n_parts: int,
    ) -> SparkRows:
        """Code the rows of a DataFrame of features and roles, and persist them."""
        code = partial(_code_part, pickle.dumps((features, roles)), (*names, *roles.names))
        rows = cls(Persisted(table.mapInArrow(code, SUMS)), n_parts, roles)
        total = sum_parts(rows.kept.frame, CountBlocks(len(roles.classes)), n_parts)
        check_classes(total.found.counts, roles)
        return replace(rows, n_rows=total.n_rows, numbers=total.found.numbers)

    @property
    def n_passes(self) -> int:
        """Number of passes over the rows so far, including those of all copies."""
        return self.passes.n

    def sum(self, statistic: Statistic) -> Sums:
        """Sum a statistic over all rows, in the order of partitions."""
        self.passes.n += 1
        step = SumBlocks(statistic, self.dealer, len(self.roles.classes))
        total = sum_parts(self.kept.frame, step, self.n_parts)
        check_rows(total.n_rows, self.n_rows)
        counts, found = total.found
        check_classes(counts, self.roles)
        assert found is not None
        return found

    def deal(self, cv: Any, random_state: Any, of: int | None = None) -> Dealt:
        """Deal rows into folds, stratified by class, or by one class (`of`) against the rest."""
        if isinstance(cv, str):
            return Dealt(self.grouped(), fold_roles(len(self.roles.groups)))
        dealer = deal_parts(self.numbers, cv, random_state, of)
        return Dealt(replace(self, dealer=dealer), fold_roles(dealer.n_folds))

    def grouped(self) -> SparkRows:
        """Copy with the groups that the sample assigns to rows."""
        return replace(self, dealer="sample")

    def here(self) -> CodedRows:
        """Bring the rows into this machine's memory, in the order of partitions."""
        rows = sorted(self.kept.frame.collect(), key=lambda row: int(row["part"]))
        blocks = [pickle.loads(row["found"]).deal(self.dealer) for row in rows]
        columns = zip(*(block.codes for block in blocks), strict=True)
        codes, labels = [*map(np.concatenate, columns)], [block.labels for block in blocks]
        rest = [
            None if values[0] is None else np.concatenate(values)
            for values in ([block.weight for block in blocks], [block.groups for block in blocks])
        ]
        return CodedRows(codes, np.concatenate(labels), rest[0], groups=rest[1])

    def carrying(self, *shape: int) -> SparkRows:
        """Return the rows as they are: no state is kept between passes on a cluster."""
        return self


# ------------------------------------------------------------ on the executors


@dataclass(frozen=True)
class StoredBlock:
    """A persisted block, its partition, and the partition's earlier rows by class."""

    block: Block
    part: int
    earlier: Integers

    def deal(self, dealer: Dealer | Literal["sample"] | None) -> Block:
        """Block with the groups of its rows: those of the sample, of the dealer, or none."""
        block = replace(self.block, first=int(self.earlier.sum()))
        if dealer == "sample":
            return block
        dealt = None if dealer is None else dealer.deal(self.part, block.labels, self.earlier)
        return replace(block, groups=dealt)


def _code_part(sent: bytes, names: tuple[str, ...], batches: Iterable[Any]) -> Iterator[Any]:
    """Code the rows of a partition, in blocks."""
    features, roles = pickle.loads(sent)
    earlier, part = np.zeros(len(roles.classes), dtype=np.int64), part_number()
    try:
        for _, table in join_batches(batches, names):
            sample = label_batch(table, roles)
            codes = [positions(feature.read(sample.table)) for feature in features]
            whole = Block(codes, sample.labels, sample.weight, sample.groups)
            for start in range(0, len(whole), BLOCK):
                block = whole.part(slice(start, start + BLOCK))
                yield pickled_row(StoredBlock(block, part, earlier))
                earlier = earlier + np.bincount(block.labels, minlength=len(earlier))
    except (ValueError, TypeError) as error:  # errors in the data are raised on the driver
        yield pickled_row(error)


def read_blocks(batches: Iterable[Any]) -> Iterator[tuple[int, StoredBlock]]:
    """Yield the blocks of a partition, each with its number of rows."""
    for batch in batches:
        for row in batch.to_pylist():
            kept = pickle.loads(row["found"])
            if isinstance(kept, Exception):
                raise kept
            yield len(kept.block), kept


@dataclass(frozen=True)
class BlockCounts:
    """Weight of each class, and number of rows by partition and class."""

    counts: Floats
    numbers: dict[int, Integers]


@dataclass(frozen=True)
class CountBlocks:
    """Pass over blocks that counts their rows."""

    n_classes: int

    def read(self, batches: Iterable[Any]) -> Iterator[tuple[int, StoredBlock]]:
        """Yield the blocks."""
        return read_blocks(batches)

    def begin(self) -> BlockCounts:
        """Counts of no rows."""
        return BlockCounts(np.zeros(self.n_classes), {})

    def add(self, found: BlockCounts, kept: StoredBlock) -> BlockCounts:
        """Add the counts of a block."""
        block = kept.block
        counts = np.bincount(block.labels, block.weight, self.n_classes).astype(np.float64)
        rows = np.bincount(block.labels, minlength=self.n_classes)
        return self.merge(found, BlockCounts(counts, {kept.part: rows}))

    def merge(self, one: BlockCounts, other: BlockCounts) -> BlockCounts:
        """Add two counts."""
        numbers = dict(one.numbers)
        for part, rows in other.numbers.items():
            numbers[part] = numbers[part] + rows if part in numbers else rows
        return BlockCounts(one.counts + other.counts, numbers)


@dataclass(frozen=True)
class SumBlocks:
    """Pass over blocks that sums a statistic, and the weight of each class."""

    statistic: Statistic
    dealer: Dealer | Literal["sample"] | None
    n_classes: int

    def read(self, batches: Iterable[Any]) -> Iterator[tuple[int, Block]]:
        """Yield the blocks with the groups of their rows."""
        for n_rows, kept in read_blocks(batches):
            yield n_rows, kept.deal(self.dealer)

    def begin(self) -> tuple[Floats, Sums | None]:
        """State of no rows."""
        return np.zeros(self.n_classes), None

    def add(self, found: tuple[Floats, Sums | None], block: Block) -> tuple[Floats, Sums | None]:
        """Add the rows of a block."""
        counts = found[0] + np.bincount(block.labels, block.weight, self.n_classes)
        return counts, add_block(self.statistic, block, found[1])

    def merge(
        self, one: tuple[Floats, Sums | None], other: tuple[Floats, Sums | None]
    ) -> tuple[Floats, Sums | None]:
        """Add two states."""
        counts, (mine, theirs) = one[0] + other[0], (one[1], other[1])
        return counts, theirs if mine is None else mine if theirs is None else mine + theirs
