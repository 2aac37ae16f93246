"""Passes over a table that is read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from weigh.distinct import Short, Survey
from weigh.engine.threads import report, spread
from weigh.errors import Parameter, ParameterError
from weigh.frames import FarTable, Sample, Scan, Table, Value
from weigh.tally import Rows

MOST_TOGETHER = 4_000_000
"""More categories than this in all columns would fill the memory: some 230 bytes for each."""


@dataclass(frozen=True)
class Setting:
    """How one column is read: as categories or numbers, where to cut, what is special."""

    categorical: bool | None = None
    bins: str | int | Sequence[float] = "mdl"
    special: tuple[Value, ...] = ()
    skip_missing: bool = False
    most_levels: int = 128  # of bins="fine"
    max_levels: int | None = None  # of categories


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
    """Every column in brief: one pass, and some more over columns of very many values."""
    found = {name: _begin(name, settings[name], len(sample.classes)) for name in settings}
    names = sample.table.names
    while names:
        _look(sample, names, found, settings)
        names = tuple(name for name in names if found[name].wants_more())
    return {name: column.short() for name, column in found.items()}


def _begin(name: str, setting: Setting, n_classes: int) -> Survey:
    cuts = None if isinstance(setting.bins, str | int) else setting.bins
    return Survey(name, n_classes, cuts, setting.special, setting.max_levels)  # type: ignore[arg-type]


def check_room(found: Mapping[str, Survey]) -> None:
    """Refuse more categories than memory would hold, and name the columns that have most."""
    if sum(column.n_categories for column in found.values()) <= MOST_TOGETHER:
        return
    widest = sorted(found.values(), key=lambda column: -column.n_categories)[:3]
    told = ", ".join(f"{column.name!r} ({column.n_categories:,} so far)" for column in widest)
    raise ParameterError(
        f"the columns hold more than {MOST_TOGETHER:,} distinct categories together, most of them "
        f"in {told}; join rare ones into one level with ",
        Parameter("max_levels", 1000),
        " (or a dict by column), or leave a column out",
    )


def _look(
    sample: Sample,
    names: tuple[str, ...],
    found: Mapping[str, Survey],
    settings: Mapping[str, Setting],
) -> None:
    """One pass over some columns."""
    if isinstance(sample.table, FarTable):
        sample.table.sum_samples(names, Look({name: found[name] for name in names}, settings))
        return
    done, part = 0, replace(sample, table=sample.table.select(names))
    for table, rows in batches(part):

        def add(name: str, table: Table = table, rows: Rows = rows) -> None:
            found[name].add(table.column(name, settings[name].categorical), rows)

        spread(add, names, table.n_rows)
        check_room(found)
        done += table.n_rows
        report(done, sample.table.n_rows)


@dataclass(frozen=True)
class Look:
    """One pass over some columns of a table whose rows stay where they are."""

    found: dict[str, Survey]
    settings: Mapping[str, Setting]

    def begin(self) -> dict[str, Survey]:
        """What was known before this pass; where it came in a pickle it is nobody else's."""
        return self.found

    def add(self, found: dict[str, Survey], sample: Sample) -> dict[str, Survey]:
        """Look at some more rows."""
        rows = Rows(sample.labels, sample.weight, len(sample.classes))
        for name, survey in found.items():
            survey.add(sample.table.column(name, self.settings[name].categorical), rows)
        check_room(found)
        return found

    def merge(self, one: dict[str, Survey], other: dict[str, Survey]) -> dict[str, Survey]:
        """What two sets of rows have shown; it is added to the first."""
        for name, survey in one.items():
            survey.merge(other[name])
        check_room(one)
        return one
