"""Passes that summarise the columns of a table read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weigh.bins import ROOMY, Rule
from weigh.engine.threads import report, spread
from weigh.errors import Parameter, ParameterError
from weigh.frames import Codes, Column, Declared, FarTable, Sample, Scan, Table, Value
from weigh.sketches import ColumnSummary, Survey
from weigh.tally import Rows

MOST_TOGETHER = 4_000_000
"""Most distinct categories in all columns together; each takes about 230 bytes of memory."""


@dataclass(frozen=True)
class Setting:
    """How one column is read: as categories or numbers, binning, special values, missing values."""

    categorical: bool | None = None
    bins: Rule | Sequence[float] = "mdl"
    special: tuple[Value, ...] = ()
    skip_missing: bool = False
    most_levels: int = ROOMY  # of bins="fine"
    max_levels: int | None = None  # of categories
    declared: Declared | None = None  # categories that are levels even if no row has them
    joined: tuple[tuple[Value, ...], ...] = ()  # the categories of each level
    left: bool = False  # intervals include their lower limit
    of_numbers: tuple[str, ...] = ()  # parameters that name the column and need numbers

    def read(self, table: Table, name: str) -> Column:
        """Read the column; text is an error if a parameter for numbers names the column."""
        if self.of_numbers:
            column = table.column(name, None)
            values = column.values if isinstance(column, Codes) else ()
            text = next((value for value in values if isinstance(value, str)), None)
            if text is not None:
                fix = ", or do not name the column there"
                if self.of_numbers[0] == "bins":
                    fix = ", or list the categories of each level, such as [['a', 'b'], ['c']]"
                raise ParameterError(
                    f"column {name!r} holds text ({text!r}), but ",
                    Parameter(self.of_numbers[0]),
                    f" treats it as numbers; convert it to numbers{fix}",
                )
        return table.column(name, self.categorical)


def rows_of(sample: Sample, by_group: bool = False) -> Rows:
    """Class and weight of each row; by group, the pair of group and class is the class."""
    n_classes = len(sample.classes)
    if not by_group:
        return Rows(sample.labels, sample.weight, n_classes)
    assert sample.groups is not None
    assert sample.group_counts is not None
    kind = np.min_scalar_type(sample.group_counts.size)
    labels = sample.groups.astype(kind) * kind.type(n_classes) + sample.labels.astype(kind)
    return Rows(labels, sample.weight, sample.group_counts.size)


def batches(sample: Sample, by_group: bool = False) -> Iterator[tuple[Table, Rows]]:
    """Yield the rows of a sample in batches; all at once if they are in memory."""
    rows, start = rows_of(sample, by_group), 0
    if not isinstance(sample.table, Scan):
        yield sample.table, rows
        return
    for table in sample.table.batches():
        yield table, rows.take(slice(start, start + table.n_rows))
        start += table.n_rows


def survey(
    sample: Sample, settings: Mapping[str, Setting], by_group: bool = False
) -> dict[str, ColumnSummary]:
    """Summarise every column in one pass, with further passes for columns of very many values."""
    n_classes = len(sample.classes)
    if by_group:
        assert sample.group_counts is not None
        n_classes = sample.group_counts.size
    found = {name: _begin(name, settings[name], n_classes) for name in settings}
    names = sample.table.names
    while names:
        _look(sample, names, Look({name: found[name] for name in names}, settings, by_group))
        names = tuple(name for name in names if found[name].needs_pass())
    return {name: column.summary() for name, column in found.items()}


def _begin(name: str, setting: Setting, n_classes: int) -> Survey:
    cuts = None if isinstance(setting.bins, Rule) else setting.bins
    return Survey(name, n_classes, cuts, setting.special, setting.max_levels)  # type: ignore[arg-type]


def check_room(found: Mapping[str, Survey]) -> None:
    """Raise an error if there are too many categories for memory, naming the largest columns."""
    if sum(column.n_categories for column in found.values()) <= MOST_TOGETHER:
        return
    widest = sorted(found.values(), key=lambda column: -column.n_categories)[:3]
    named = ", ".join(f"{column.name!r} ({column.n_categories:,} so far)" for column in widest)
    raise ParameterError(
        f"the columns hold more than {MOST_TOGETHER:,} distinct categories together, most of them "
        f"in {named}; join rare ones into one level with ",
        Parameter("max_levels", 1000),
        " (or a dict by column), or leave a column out",
    )


def _look(sample: Sample, names: tuple[str, ...], look: Look) -> None:
    """Pass over some columns, and add to their summaries."""
    if isinstance(sample.table, FarTable):
        sample.table.sum_samples(names, look)
        return
    done, part = 0, replace(sample, table=sample.table.select(names))
    for table, rows in batches(part, look.by_group):
        spread(lambda name: look.take(name, table, rows), names, table.n_rows)  # noqa: B023
        check_room(look.found)
        done += table.n_rows
        report(done, sample.table.n_rows)


@dataclass(frozen=True)
class Look:
    """Pass over samples that summarises some columns."""

    found: dict[str, Survey]
    settings: Mapping[str, Setting]
    by_group: bool = False

    def take(self, name: str, table: Table, rows: Rows) -> None:
        """Add rows to the summary of one column."""
        self.found[name].add(self.settings[name].read(table, name), rows)

    def begin(self) -> dict[str, Survey]:
        """Summaries before this pass. On a worker they are an unpickled copy, so may be changed."""
        return self.found

    def add(self, found: dict[str, Survey], sample: Sample) -> dict[str, Survey]:
        """Add rows to the summaries."""
        rows = rows_of(sample, self.by_group)
        for name in found:
            self.take(name, sample.table, rows)
        check_room(found)
        return found

    def merge(self, one: dict[str, Survey], other: dict[str, Survey]) -> dict[str, Survey]:
        """Add the summaries of two sets of rows; the first is changed."""
        for name, survey in one.items():
            survey.merge(other[name])
        check_room(one)
        return one
