"""Passes over a table that is read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from weigh.distinct import Short, Survey
from weigh.engine.threads import report, spread
from weigh.frames import Cluster, Sample, Scan, Table, Value
from weigh.tally import Rows


@dataclass(frozen=True)
class Setting:
    """How one column is read: as categories or numbers, where to cut, what is special."""

    categorical: bool | None = None
    bins: str | int | Sequence[float] = "mdl"
    special: tuple[Value, ...] = ()
    skip_missing: bool = False
    most_levels: int = 128  # of bins="fine"


def batches(sample: Sample) -> Iterator[tuple[Table, Rows]]:
    """The rows of a sample, some at a time; all at once where they are in memory."""
    n_classes, start = len(sample.classes), 0
    if not isinstance(sample.table, Scan):
        yield sample.table, Rows(sample.labels, sample.weight, n_classes)
        return
    for table in sample.table.batches():
        rows = slice(start, start + table.n_rows)
        weight = None if sample.weight is None else sample.weight[rows]
        yield table, Rows(sample.labels[rows], weight, n_classes)
        start = rows.stop


def survey(sample: Sample, settings: Mapping[str, Setting]) -> dict[str, Short]:
    """Every column in brief: one pass, and up to two more over numbers of very many values."""
    found = {name: _begin(name, settings[name], len(sample.classes)) for name in settings}
    names = sample.table.names
    while names:
        _look(sample, names, found, settings)
        names = tuple(name for name in names if found[name].wants_more())
    return {name: column.short() for name, column in found.items()}


def _begin(name: str, setting: Setting, n_classes: int) -> Survey:
    cuts = None if isinstance(setting.bins, str | int) else setting.bins
    return Survey(name, n_classes, cuts, setting.special)  # type: ignore[arg-type]


def _look(
    sample: Sample,
    names: tuple[str, ...],
    found: Mapping[str, Survey],
    settings: Mapping[str, Setting],
) -> None:
    """One pass over some columns."""
    if isinstance(sample.table, Cluster):
        from weigh.engine.remote import look_at_cluster

        look_at_cluster(sample, names, found, settings)
        return
    done, part = 0, replace(sample, table=sample.table.select(names))
    for table, rows in batches(part):

        def add(name: str, table: Table = table, rows: Rows = rows) -> None:
            found[name].add(table.column(name, settings[name].categorical), rows)

        spread(add, names, table.n_rows)
        done += table.n_rows
        report(done, sample.table.n_rows)
