"""Tables that may be larger than memory: a `Scan` is read in batches, a `FarTable` on a cluster.

A scan is read once for every pass. Sources that can be read only once are first copied to a
temporary file. The package of a cluster registers the class of its tables. It is imported when a
table of its library is first used, so that unused libraries cost nothing.
"""

from __future__ import annotations

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice
from typing import Any, NoReturn, Protocol, Self, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from weigh.arrays import Integers
from weigh.frames.columns import Codes, Column, Numbers
from weigh.frames.names import list_names
from weigh.frames.tables import Table
from weigh.frames.values import Declared, Value, declared_in, key, spell, stored_as_levels

ROWS = 1 << 18
"""Rows per batch: enough work for threads, but little memory."""

Batches: TypeAlias = Callable[[tuple[str, ...]], Iterator[Any]]


@dataclass(frozen=True)
class Scan(Table):
    """Columns of files, a lazy frame or a database, read batch by batch.

    Use a scan wherever you would use a table. Fitting and scoring read it in passes; a pass keeps
    one batch of the columns that it needs in memory.
    """

    read_batches: Batches = iter
    about: str = "a table"
    files: tuple[str, ...] = ()
    known_levels: Mapping[str, Declared] = field(default_factory=dict)  # declared by column types

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", self._read_whole)  # follows renaming and selection

    def _read_whole(self, j: int) -> Any:
        batches = self.read_batches((self.names[j],))
        return pa.chunked_array([batch.column(self.names[j]) for batch in batches])

    def __repr__(self) -> str:
        return f"Scan of {self.about}: {self.n_rows:,} rows, {len(self.names):,} columns"

    def batches(self) -> Iterator[Table]:
        """Yield the rows in order, in batches."""
        n_rows = 0
        for batch in self.read_batches(self.names):
            n_rows += batch.num_rows
            if batch.num_rows:
                yield _read_batch(batch.select([*self.names]), self.backend)
        if n_rows != self.n_rows:
            raise ValueError(
                f"{self.about} changed while it was read: {self.n_rows:,} rows at first, "
                f"{n_rows:,} now; copy files that are still being written, and scan the copy"
            )

    def column(self, name: str, categorical: bool | None = None) -> Column:
        """Read one whole column into memory: about one byte per category, eight per number."""
        parts = [part.column(name, categorical) for part in self.select((name,)).batches()]
        codes = [part for part in parts if isinstance(part, Codes)]
        if codes:
            return join_codes(codes)
        return Numbers(np.concatenate([part.values for part in parts]))

    def declared(self) -> Mapping[str, Declared]:
        """Levels declared by the types of columns."""
        return {name: self.known_levels[name] for name in self.names if name in self.known_levels}

    def rows(self, places: Integers) -> Table:
        """Select rows by number; if the numbers do not ascend, the rows are held in memory."""
        if (np.diff(places) < 0).any():
            order = np.argsort(places, kind="stable")
            sorted_rows = self.rows(places[order])
            assert isinstance(sorted_rows, Scan)
            whole = pa.Table.from_batches([*sorted_rows.read_batches(self.names)])
            back = pa.array(np.argsort(order))
            return _read_batch(whole.unify_dictionaries().take(back), self.backend)

        def read(names: tuple[str, ...]) -> Iterator[Any]:
            start = 0
            for batch in self.read_batches(names):
                stop = start + batch.num_rows
                first, last = np.searchsorted(places, (start, stop))
                yield batch.take(pa.array(places[first:last] - start))
                start = stop

        return replace(self, n_rows=len(places), read_batches=read)

    def renamed(self, names: tuple[str, ...]) -> Scan:
        """Rename the columns, in order."""
        old = dict(zip(names, self.names, strict=True))

        def read(wanted: tuple[str, ...]) -> Iterator[Any]:
            given = [old[name] for name in wanted]
            for batch in self.read_batches(tuple(given)):
                yield batch.select(given).rename_columns([*wanted])

        known = {n: self.known_levels[old[n]] for n in names if old[n] in self.known_levels}
        return replace(self, names=names, read_batches=read, known_levels=known)

    def coded(self, names: set[str]) -> Scan:
        """Read some columns as categories, whatever their type."""

        def read(wanted: tuple[str, ...]) -> Iterator[Any]:
            for batch in self.read_batches(wanted):
                for name in names & {*wanted}:
                    j, column = wanted.index(name), batch.column(name)
                    if not pa.types.is_dictionary(column.type):
                        batch = batch.set_column(j, name, column.dictionary_encode())
                yield batch

        return replace(self, read_batches=read) if names else self

    def spelled(self, names: set[str]) -> Scan:
        """Read some columns as text, whatever their type."""

        def read(wanted: tuple[str, ...]) -> Iterator[Any]:
            for batch in self.read_batches(wanted):
                for name in names & {*wanted}:
                    batch = batch.set_column(wanted.index(name), name, spell(batch.column(name)))
                yield batch

        known = {name: own for name, own in self.known_levels.items() if name not in names}
        return replace(self, read_batches=read, known_levels=known) if names else self

    def select(self, names: tuple[str, ...]) -> Scan:
        """Select columns; the others are not read."""
        for name in names:
            if name not in self.names:
                raise ValueError(
                    f"the scan has no column {name!r}; it has {list_names(self.names)}"
                )
        return replace(self, names=tuple(names))


def open_scan(
    names: Sequence[str], n_rows: int, read_batches: Batches, backend: str | None, about: str
) -> Scan:
    """Make a scan of a source that can be read in Arrow batches repeatedly."""
    return Scan(
        tuple(names),
        n_rows,
        lambda j: None,
        list,
        True,
        backend,
        read_batches=read_batches,
        about=about,
    )


def _read_batch(batch: Any, backend: str | None) -> Table:
    columns = batch.columns
    listed = lambda: [column.to_pylist() for column in columns]  # noqa: E731
    names = tuple(batch.schema.names)
    return Table(names, batch.num_rows, columns.__getitem__, listed, True, backend)


def join_codes(parts: Sequence[Codes]) -> Codes:
    """Concatenate columns of categories; values keep the order of first appearance."""
    places: dict[tuple[type, Value], int] = {}
    laid = []
    for part in parts:
        found = [places.setdefault(key(value), len(places)) for value in part.values]
        table = np.array(found or [0], dtype=np.min_scalar_type(len(places)))
        laid.append(table[part.codes])
    typed = any(part.typed for part in parts)
    return Codes(np.concatenate(laid), tuple(value for _, value in places), typed)


GROUP = 1 << 20


def spool(schema: Any, batches: Iterable[Any], backend: str | None, about: str) -> Scan:
    """Make a scan of batches that can be read only once, by way of a temporary file."""
    kept = pa.schema([field.with_type(_storable(field.type)) for field in schema])
    file = _write(kept, batches)
    texts = [field.name for field in kept if pa.types.is_string(field.type)]

    def read(names: tuple[str, ...]) -> Iterator[Any]:
        file.seek(0)
        opened = parquet.ParquetFile(file, read_dictionary=texts)
        yield from opened.iter_batches(ROWS, columns=[*names])

    n_rows, coded = parquet.ParquetFile(file).metadata.num_rows, stored_as_levels(kept)
    known = declared_in(islice(read(tuple(coded)), 1) if coded else (), coded)
    return replace(open_scan(kept.names, n_rows, read, backend, about), known_levels=known)


def _write(schema: Any, batches: Iterable[Any]) -> Any:
    """Write batches to a temporary file that is already unlinked when this returns."""
    number, path = tempfile.mkstemp(suffix=".parquet")
    os.close(number)
    try:
        with parquet.ParquetWriter(path, schema) as writer:
            for batch in batches:
                writer.write_batch(batch.cast(schema), row_group_size=GROUP)
        return pa.memory_map(path)
    finally:
        os.unlink(path)


def _storable(kind: Any) -> Any:
    """Type for the temporary file: plain strings for all kinds of text."""
    wide = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return pa.string() if wide else kind


# ------------------------------------------------------------ tables on a cluster

PACKAGES = {"pyspark": "weigh.spark"}
"""Libraries, and the package that opens the tables of each."""

_kinds: dict[str, Any] = {}


def register(library: str, kind: Any) -> None:
    """Register the subclass of `FarTable` that opens the tables of a library."""
    _kinds[library] = kind


def find_far(X: Any) -> Any:
    """Return the subclass of `FarTable` that opens X, or None if X is no table on a cluster."""
    library = type(X).__module__.partition(".")[0]
    if library not in PACKAGES:
        return None
    if library not in _kinds:
        import_module(PACKAGES[library])
    kind = _kinds[library]
    return kind if kind.opens(X) else None


State = TypeVar("State")


class SampleStep(Protocol[State]):
    """A statistic of labelled rows; it is pickled, and runs on the cluster."""

    def begin(self) -> State:
        """Statistic of no rows."""

    def add(self, found: State, sample: Any) -> State:
        """Add the rows of a `Sample`."""

    def merge(self, one: State, other: State) -> State:
        """Add the statistics of two sets of rows."""


@dataclass(frozen=True)
class FarTable(Table, ABC):
    """A table whose rows stay on a cluster; only statistics of them are brought here."""

    @classmethod
    @abstractmethod
    def opens(cls, X: Any) -> bool:
        """Whether X is a table."""

    @classmethod
    @abstractmethod
    def open(cls, X: Any) -> Self:
        """Open a native table, and count its rows."""

    @classmethod
    @abstractmethod
    def score(
        cls, model: Any, X: Any, keep: Sequence[str] | None, reasons: int, given: dict[str, Any]
    ) -> Any:
        """Native table with the predictions of a model; its rows are not counted."""

    @staticmethod
    @abstractmethod
    def refuse(why: str) -> NoReturn:
        """Raise an error that says what cannot be done on a cluster, and what to do instead."""

    @abstractmethod
    def label(self, y: Any, sample_weight: Any, classes: Any, folds: str | None) -> Any:
        """Make a `Sample`; labels, weights and folds must be columns of the table."""

    @abstractmethod
    def sum_samples(self, names: tuple[str, ...], step: SampleStep[State]) -> State:
        """Sum a statistic over some columns with their labels and weights, in one pass."""

    @abstractmethod
    def deal(self, sample: Any, cv: Any, random_state: Any) -> Any:
        """Deal the rows of a sample into folds; each fold is held out in one split."""

    @abstractmethod
    def code(self, features: Any) -> Any:
        """Code the rows by the levels of some features, on the cluster (`engine.Coded`)."""

    def column(self, name: str, categorical: bool | None = None) -> Column:
        """Raise an error: whole columns are not brought here."""
        self.refuse(f"this needs the whole column {name!r} at once")

    def rows(self, places: Integers) -> Table:
        """Raise an error: rows have no numbers."""
        self.refuse("this takes rows by their number")
