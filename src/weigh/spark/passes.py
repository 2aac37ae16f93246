"""Passes over a DataFrame: a statistic of every partition, merged in a fixed order.

A pass runs in `mapInArrow`. Each partition is summed on its executor, batch by batch, and the sums
are merged in the order of partition numbers. So the result does not depend on which executor did
the work, nor on failures and retries.
"""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa
from pyspark import TaskContext

State = TypeVar("State")

FEW_PARTS = 16
"""If there are more partitions, their sums are first merged on the cluster."""

SUMS = "part long, found binary"

CHANGED = (
    "the Spark DataFrame changed while it was read: {}; write it as Parquet, and fit the written "
    "data"
)


class PassStep(Protocol[State]):
    """The statistic of a pass; it is pickled, and its module must exist on every executor."""

    def read(self, batches: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """Convert the batches of a partition for `add`, each with its number of rows."""

    def begin(self) -> State:
        """Statistic of no rows."""

    def add(self, found: State, item: Any) -> State:
        """Add more rows."""

    def merge(self, one: State, other: State) -> State:
        """Add the statistics of two sets of rows."""


@dataclass(frozen=True)
class PartSum(Generic[State]):
    """Statistic of one or more partitions, with their numbers of rows and partitions."""

    n_rows: int
    found: State
    n_parts: int = 1


def sum_parts(frame: Any, step: PassStep[State], n_parts: int) -> PartSum[State]:
    """Run one pass; `n_parts` is the number of partitions, or 0 if not yet known."""
    sent = pickle.dumps(step)
    parts = frame.mapInArrow(partial(_sum_part, sent), SUMS)
    if n_parts > FEW_PARTS:
        groups = parts.repartition(FEW_PARTS, "part").sortWithinPartitions("part")
        parts = groups.mapInArrow(partial(_merge_parts, sent), SUMS)
    rows = sorted(parts.collect(), key=lambda row: int(row["part"]))
    return _merge(step, (row["found"] for row in rows))


class Persisted:
    """A DataFrame that Spark persists for as long as this object exists."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame.persist()
        weakref.finalize(self, _release, self.frame)


def _release(frame: Any) -> None:
    """Unpersist a DataFrame; fails silently if the session was stopped."""
    with suppress(Exception):
        frame.unpersist()


def check_rows(seen: int, first: int) -> None:
    """Raise an error if the number of rows differs from that of the first pass."""
    if seen != first:
        raise ValueError(CHANGED.format(f"{first:,} rows at first, {seen:,} now"))


def _merge(step: PassStep[State], pickled: Iterable[Any]) -> PartSum[State]:
    total = PartSum(0, step.begin(), 0)
    for each in pickled:
        part = pickle.loads(each)
        if isinstance(part, Exception):
            raise part
        found = step.merge(total.found, part.found)
        total = PartSum(total.n_rows + part.n_rows, found, total.n_parts + part.n_parts)
    return total


# ------------------------------------------------------------ on the executors


def part_number() -> int:
    """Number of the partition that this process works on."""
    task = TaskContext.get()
    assert task is not None
    return int(task.partitionId())


def _sum_part(sent: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    step: PassStep[Any] = pickle.loads(sent)
    found, n_rows = step.begin(), 0
    try:
        for n, item in step.read(batches):
            found, n_rows = step.add(found, item), n_rows + n
        yield pickled_row(PartSum(n_rows, found))
    except (ValueError, TypeError) as error:  # errors in the data are raised on the driver
        yield pickled_row(error)


def _merge_parts(sent: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    step: PassStep[Any] = pickle.loads(sent)
    pairs = [(row["part"], row["found"]) for batch in batches for row in batch.to_pylist()]
    if not pairs:
        return
    try:
        yield pickled_row(_merge(step, (found for _, found in pairs)), pairs[0][0])
    except (ValueError, TypeError) as error:
        yield pickled_row(error, pairs[0][0])


def pickled_row(found: Any, part: int | None = None) -> Any:
    """Row that a partition yields: its number and a pickled object."""
    number = part_number() if part is None else part
    columns = [pa.array([number], pa.int64()), pa.array([pickle.dumps(found)], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["part", "found"])
