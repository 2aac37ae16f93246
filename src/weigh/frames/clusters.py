"""A table that lies on a Spark cluster: its rows stay there, and statistics of them come back.

A pass runs in `mapInArrow`. Each partition is summed where it lies, batch by batch, and the sums
are merged in the order of the partitions' numbers: the result does not depend on which executor
did what, nor on whether one of them had to be replaced.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn, Protocol, TypeVar

import pyarrow as pa

from weigh.frames.columns import Column, Integers
from weigh.frames.scans import ROWS
from weigh.frames.tables import Table

FEW_PARTS = 16
"""The sums of more partitions than this are merged on the cluster before they come back."""

SUMS = "part long, found binary"

HELD = ("string", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
"""The types of Spark whose values can be levels, or be cut into them."""

STAYS = (
    "{}, and the rows of a Spark DataFrame stay on the cluster; to fit, write them as Parquet and "
    "pass weigh.scan(path), or pass a sample such as df.sample(0.01).toPandas(); to predict, use "
    "weigh.score_table"
)


CHANGED = (
    "the Spark DataFrame changed while it was read: {}; write it as Parquet, and fit what was "
    "written"
)


@dataclass(frozen=True)
class Roles:
    """The columns that are no features: the class of each row and, if it has one, its weight."""

    target: str
    weight: str | None = None
    classes: Any = None  # once they are known
    counts: Any = None  # the weight of each class, as it was found first

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return (self.target,) if self.weight is None else (self.target, self.weight)


@dataclass(frozen=True)
class Cluster(Table):
    """Columns of a Spark DataFrame; `frame` holds them all, called c0, c1, and so on.

    Spark reads a dot in a name as a step inside, and `A` as `a`. Its own names do neither.
    """

    frame: Any = None
    every: tuple[str, ...] = ()
    n_parts: int = 0
    roles: Roles | None = None

    def __repr__(self) -> str:
        return f"Cluster of {self.n_rows:,} rows, {len(self.names):,} columns"

    def column(self, name: str, categorical: bool | None = None) -> Column:
        """Refused: no column comes here as a whole."""
        stay(f"this needs the whole column {name!r} at once")

    def rows(self, places: Integers) -> Table:
        """Refused: rows have no numbers."""
        stay("this takes rows by their number")

    def select(self, names: tuple[str, ...]) -> Cluster:
        """Some of the columns: the others are not read."""
        return replace(self, names=names)

    def check_types(self) -> None:
        """Refuse a column whose values can be no levels, before a long pass."""
        kinds = dict(zip(self.every, self.frame.dtypes, strict=True))
        for name in self.names:
            kind = kinds[name][1]
            if not kind.startswith(HELD) or kind.startswith("interval"):
                raise ValueError(
                    f"column {name!r} holds {kind} values, which have no levels: derive numbers, "
                    "or drop it"
                )

    def pick(self, names: tuple[str, ...]) -> Any:
        """A Spark DataFrame of some columns."""
        places = {name: j for j, name in enumerate(self.every)}
        return self.frame.select(*[f"c{places[name]}" for name in names])


class Away:
    """Labels and weights that stay on the cluster: whoever wants them here is told what to do."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        stay("this learner needs all rows at once")

    __array__ = __len__ = __getitem__ = __iter__ = __bool__ = __getattr__ = _refuse
    __eq__ = __ne__ = __gt__ = __mul__ = __rmul__ = __matmul__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def stay(why: str) -> NoReturn:
    """Say that rows stay on the cluster, and what to do."""
    raise ValueError(STAYS.format(why))


def check_rows(seen: int, first: int) -> None:
    """Refuse a DataFrame that gives another number of rows than it did at first."""
    if seen != first:
        raise ValueError(CHANGED.format(f"{first:,} rows at first, {seen:,} now"))


def open_cluster(frame: Any) -> Cluster:
    """A Spark DataFrame, classic or of Spark Connect, as a table; its rows are counted."""
    names = tuple(frame.columns)
    plain = frame.toDF(*[f"c{j}" for j in range(len(names))])

    def source(j: int) -> Any:
        raise AssertionError("no column of a cluster is held here")

    return Cluster(
        names, int(plain.count()), source, list, True, "pyarrow", frame=plain, every=names
    )


State = TypeVar("State")


class Step(Protocol[State]):
    """What a pass does with rows; it is pickled, and must find its module on every executor."""

    def begin(self) -> State:
        """The statistic of no rows."""

    def add(self, found: State, table: Table) -> State:
        """The statistic with some more rows."""

    def merge(self, one: State, other: State) -> State:
        """The statistic of two sets of rows."""


@dataclass(frozen=True)
class PartSum:
    """What one or more partitions gave."""

    n_rows: int
    found: Any
    n_parts: int = 1


def sum_parts(cluster: Cluster, names: tuple[str, ...], step: Step[State]) -> State:
    """One pass over some columns."""
    return sum_all(cluster, names, step).found  # type: ignore[no-any-return]


def sum_all(cluster: Cluster, names: tuple[str, ...], step: Step[Any]) -> PartSum:
    """The same, with the number of rows and of partitions."""
    add = partial(_sum_part, pickle.dumps(step), names)
    total = gather(cluster.pick(names), add, step, cluster.n_parts)
    check_rows(total.n_rows, cluster.n_rows)
    return total


def gather(
    frame: Any, add: Callable[[Iterable[Any]], Iterator[Any]], step: Step[Any], n_parts: int
) -> PartSum:
    """Run a function of a partition's batches on all of them, and merge what they yield."""
    parts = frame.mapInArrow(add, SUMS)
    if n_parts > FEW_PARTS:
        groups = parts.repartition(FEW_PARTS, "part").sortWithinPartitions("part")
        parts = groups.mapInArrow(partial(_merge_parts, pickle.dumps(step)), SUMS)
    rows = sorted(parts.collect(), key=lambda row: int(row["part"]))
    return _merge(step, (row["found"] for row in rows))


def _merge(step: Step[Any], pickled: Iterable[Any]) -> PartSum:
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
    """The number of the partition that this process works on."""
    from pyspark import TaskContext

    return int(TaskContext.get().partitionId())


def _sum_part(sent: bytes, names: tuple[str, ...], batches: Iterable[Any]) -> Iterator[Any]:
    step: Step[Any] = pickle.loads(sent)
    found, n_rows = step.begin(), 0
    try:
        for table in join_batches(batches, names):
            found, n_rows = step.add(found, table), n_rows + table.n_rows
        yield sum_row(part_number(), PartSum(n_rows, found))
    except (ValueError, TypeError) as error:  # of the data: to be raised where the fit was called
        yield sum_row(part_number(), error)


def _merge_parts(sent: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    step: Step[Any] = pickle.loads(sent)
    pairs = [(row["part"], row["found"]) for batch in batches for row in batch.to_pylist()]
    if not pairs:
        return
    try:
        yield sum_row(pairs[0][0], _merge(step, (found for _, found in pairs)))
    except (ValueError, TypeError) as error:
        yield sum_row(pairs[0][0], error)


def sum_row(part: int, found: Any) -> Any:
    """What a partition yields: one row, with its number and a pickle."""
    columns = [pa.array([part], pa.int64()), pa.array([pickle.dumps(found)], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["part", "found"])


def join_batches(batches: Iterable[Any], names: tuple[str, ...]) -> Iterator[Table]:
    """Spark's batches are short; together they are worth a look."""
    held: list[Any] = []
    for batch in batches:
        held += [batch] if batch.num_rows else []
        if sum(part.num_rows for part in held) >= ROWS:
            yield _open(held, names)
            held = []
    if held:
        yield _open(held, names)


def _open(batches: list[Any], names: tuple[str, ...]) -> Table:
    columns = pa.Table.from_batches(batches).columns
    listed = lambda: [column.to_pylist() for column in columns]  # noqa: E731
    n_rows = len(columns[0])
    return Table(names, n_rows, columns.__getitem__, listed, True, "pyarrow")
