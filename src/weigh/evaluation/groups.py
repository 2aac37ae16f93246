"""Rows in groups: by the values of a column, or in bands of similar estimates.

`Grouped` is what evaluations of numbers and of times share. `Group` and `ManyGroup` are the
measures of classifiers by group.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Feature, are_whole, label, quantile_cuts, sort_values
from weigh.errors import Parameter, ParameterError
from weigh.evaluation.decisions import Options
from weigh.evaluation.measures import mean_of_rows
from weigh.frames import Codes, Value, build, count_rows, is_number, key, read, read_labels
from weigh.layout import Grid, Shown, list_few, tabulate
from weigh.metrics import (
    Scored,
    Stability,
    auc,
    calibration_line,
    error_rates,
    population_stability_index,
)
from weigh.metrics.inputs import shape_of
from weigh.metrics.numbers import NAN, Bounded, columns_of, flatten, plain
from weigh.metrics.predictions import Predicted, column_of
from weigh.metrics.scores import Many

LEAST = 10
"""Least number of rows of each class in a group, because intervals are asymptotic."""

MOST, FEW, PARTS = 60, 20, 5
"""Most groups; a numeric column with more than FEW distinct values is cut into PARTS bins."""


class Grouped(Shown, ABC):
    """An evaluation of numbers or of times: measures of all rows, and of groups, as tables."""

    PART: ClassVar[str]
    """The name of the attribute that is a table of its own."""

    coverage: float
    by: str
    groups: tuple[Any, ...]
    all_rows: Any

    @abstractmethod
    def group_columns(self) -> tuple[str, dict[str, Callable[[Any], str]]]:
        """The title of the table of groups, and its columns: the text of a group by heading."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return plain(self)  # type: ignore[no-any-return]

    def to_frame(self, part: str | None = None) -> Any:
        """The bands or moments (by default), or the "groups", as a table with one row each."""
        part = part or self.PART
        if part not in (self.PART, "groups"):
            raise ParameterError(
                Parameter("part"), f" must be {self.PART!r} or 'groups', got {part!r}"
            )
        if part == "groups" and not self.by:
            raise ParameterError("there are no groups; evaluate with ", Parameter("by"))
        return build(columns_of([flatten(plain(own)) for own in getattr(self, part)]), None)

    def show_groups(self) -> tuple[Grid, ...]:
        """The table of the groups, whose last line is all rows; empty without groups."""
        if self.all_rows is None:
            return ()
        lines = (*self.groups, self.all_rows)
        title, columns = self.group_columns()
        cells = tabulate(lines, {self.by: lambda group: group.name} | columns)
        return (Grid(*cells, f"{title}, by {self.by}", notes_of(lines)),)


def tell_off(what: str, off: list[str], tested: Sequence[Bounded], coverage: float) -> str:
    """A sentence about groups that are off, each by an interval of its own; empty for none."""
    if not off:
        return ""
    n_groups = sum(measure.has_interval() for measure in tested)
    chance = f"{(1 - coverage) * n_groups:.1g}"
    return (
        f"{what}: {list_few(off, '; ')}. By chance alone about {chance} of {n_groups} "
        "would be listed."
    )


def notes_of(groups: Sequence[Any]) -> tuple[str, ...]:
    """The notes of groups, in sentences."""
    return tuple(f"{group.name}: {group.note}." for group in groups if group.note)


@dataclass(frozen=True)
class Band:
    """Rows of similar estimates: their mean estimate, and their observed mean or share."""

    rows: float
    estimate: float
    observed: Bounded


def split_bands(estimates: Floats, weight: Floats, n_bands: int, less: float) -> list[Integers]:
    """The rows of bands of about equal weight, by estimate; equal estimates share a band.

    A row belongs to the band that its cumulated weight, minus `less`, has reached.
    """
    values, codes = np.unique(estimates, return_inverse=True)
    reached = np.cumsum(np.bincount(codes, weight, len(values))) - less
    band = np.minimum((reached * n_bands / weight.sum()).astype(int), n_bands - 1)[codes]
    return [np.flatnonzero(band == b) for b in np.unique(band)]


@dataclass(frozen=True)
class Group:
    """Measures of one group of rows, two classes. `note` says why a measure is not known."""

    name: str
    n_rows: int
    weight: float
    base_rate: Bounded
    mean_prediction: float
    auc: Bounded
    slope: Bounded
    in_the_large: Bounded
    false_positive_rate: Bounded
    false_negative_rate: Bounded
    flagged: Bounded
    note: str = ""


@dataclass(frozen=True)
class ManyGroup:
    """Measures of one group of rows, more than two classes."""

    name: str
    n_rows: int
    weight: float
    loss: Bounded
    misclassification: Bounded
    note: str = ""


@dataclass(frozen=True, eq=False)
class Grouping:
    """The values that define the groups (an array, or columns by name), and their name."""

    by: Any
    name: str
    names: tuple[str, ...]  # the columns of X that define the groups, if any

    @classmethod
    def of(cls, X: Any, by: Any) -> Grouping:
        """From the argument `by` of `evaluate`."""
        names = named_columns(X, by)
        columns = {name: column_of(read(X), name, "by") for name in names}
        if hasattr(type(by), "columns"):  # a dataframe: its columns, which X need not have
            columns = {name: column_of(read(by), name, "by") for name in read(by).names}
        name = ", ".join(columns) or str(getattr(by, "name", None) or "group")
        return cls(columns[name] if len(columns) == 1 else columns or by, name, names)

    def split(self, kept: Any, weight: Floats | None) -> Iterator[tuple[str, Integers]]:
        """The name of each group and its rows."""
        return split_rows(self.by, self.name, kept, weight)


def named_columns(X: Any, by: Any) -> tuple[str, ...]:
    """The columns that `by` names: one, or those of a list; none if it is an array."""
    if isinstance(by, str):
        return (by,)
    listed = isinstance(by, list | tuple) and len(by) > 0 and all(isinstance(n, str) for n in by)
    if not listed or len(by) == count_rows(X):
        return ()
    return tuple(dict.fromkeys(by))


def measure_groups(
    by: Any, name: str, predicted: Predicted, question: Any, options: Options
) -> tuple[Group | ManyGroup, ...]:
    """Measures of every group: rows with the same value of `by`, or in the same bin, in order."""
    found: list[Group | ManyGroup] = []
    for text, places in split_rows(by, name, predicted.kept, predicted.rows.weight):
        rows = predicted.rows.take(places)
        if isinstance(rows, Scored):
            found.append(_measure(text, rows, question.pos_label, options))
        else:
            found.append(_measure_many(text, rows, options.coverage))
    return tuple(found)


def split_rows(
    by: Any, name: str, kept: Integers, weight: Floats | None
) -> Iterator[tuple[str, Integers]]:
    """The name of each group and its rows, in the order of its values.

    If `by` is a dict from name to column, each combination of values that occurs is a group.
    """
    if isinstance(by, Mapping):
        parts = [[*split_rows(column, own, kept, weight)] for own, column in by.items()]
        crossed = [pair for pair in _cross(parts) if len(pair[1])]
        if len(crossed) > MOST:
            raise ValueError(
                f"{name} have {len(crossed)} combinations, but at most {MOST} groups are measured; "
                "leave out a column, or join some values first"
            )
        yield from crossed
        return
    column, order = _read_groups(by, name, len(kept))
    rows = Codes(column.codes[kept], column.values)
    used = {key(column.values[code]) for code in np.unique(rows.codes)}
    feature = _feature(name, rows, _sort_groups(used, order), weight)
    placed = feature.place(rows)
    levels = placed.levels[placed.codes]
    for level, text in enumerate(feature.labels):
        places = np.flatnonzero(levels == level)
        if len(places):
            yield text, places


def _read_groups(by: Any, name: str, n_rows: int) -> tuple[Codes, tuple[Value, ...]]:
    """The groups of rows, from a list, an array or a column; and their order if it has one."""
    wanted = "the name of a column, a list of names, or one label for each row"
    try:
        column, order = read_labels(by, "by")
    except (TypeError, ValueError) as error:
        held = f"; {name!r} holds values that are no labels ({error}): make them text"
        seen = f" must be {wanted}{held if len(shape_of(by, 'by')) == 1 else ''}"
        raise ParameterError(Parameter("by"), seen) from None
    if len(column.codes) != n_rows:
        seen = f" has {len(column.codes)} values for {n_rows} rows; give {wanted}"
        raise ParameterError(Parameter("by"), seen)
    return column, order


def _sort_groups(used: set[tuple[type, Value]], order: tuple[Value, ...]) -> tuple[Value, ...]:
    """The values of groups in the order of their column's type, or else sorted."""
    known = {k for k in used if k[1] is not None}
    first = [k for k in map(key, order) if k in known]
    return (*(value for _, value in first), *sort_values(known - {*first}))


def _cross(
    parts: list[list[tuple[str, Integers]]],
) -> Iterator[tuple[str, Integers]]:
    """Every combination of groups, with the rows that belong to all of them."""
    if not parts:
        return
    first, *others = parts
    for text, places in first:
        if not others:
            yield text, places
        for more, own in _cross(others):
            yield f"{text}, {more}", np.intersect1d(places, own, assume_unique=True)


def _feature(name: str, rows: Codes, values: tuple[Value, ...], weight: Floats | None) -> Feature:
    """A feature whose levels are the groups: the values, or bins of about equally many rows."""
    if len(values) > FEW and all(map(is_number, values)):
        numbers = rows.numbers(name).values
        known = ~np.isnan(numbers)
        cuts = quantile_cuts(numbers[known], None if weight is None else weight[known], PARTS)
        return Feature(name, cuts=cuts, has_missing=True, whole=are_whole(numbers))
    if len(values) > MOST:
        raise ValueError(
            f"{name} holds {len(values)} different values, but at most {MOST} groups are measured; "
            "join some of them first, or give numbers, which are cut into intervals"
        )
    return Feature(name, values=values, has_missing=True)


def _measure(name: str, rows: Scored, pos_label: Value, options: Options) -> Group:
    groups, coverage = rows.groups, options.coverage
    rates = error_rates(rows, threshold=options.of_groups)
    few = min(groups.n_positive, groups.n_negative)
    area = line = slope = Bounded(NAN)
    if few >= LEAST:
        found, fitted = auc(rows, coverage=coverage), calibration_line(rows)
        area = Bounded(found.value, found.low, found.high)
        slope = Bounded.normal(fitted.slope, fitted.slope_error, coverage)
        line = Bounded.normal(fitted.in_the_large, fitted.in_the_large_error, coverage)
    said = rates.true_positives + rates.false_positives
    return Group(
        name=name,
        n_rows=len(rows),
        weight=groups.n,
        base_rate=Bounded.share(groups.n_positive, groups.n, coverage),
        mean_prediction=groups.mean(groups.p),
        auc=area,
        slope=slope,
        in_the_large=line,
        false_positive_rate=Bounded.share(rates.false_positives, groups.n_negative, coverage),
        false_negative_rate=Bounded.share(rates.false_negatives, groups.n_positive, coverage),
        flagged=Bounded.share(said, groups.n, coverage),
        note=_note(groups.n_positive, groups.n_negative, label(pos_label)),
    )


def _note(positives: float, negatives: float, of: str) -> str:
    if not positives or not negatives:
        return f"one class: {'all' if positives else 'none'} of its rows are {of}"
    few, whose = min((positives, of), (negatives, f"not {of}"))
    if few >= LEAST:
        return ""
    return f"too few for AUC and calibration: {few:g} are {whose}, and {LEAST} are needed"


def _measure_many(name: str, rows: Many, coverage: float) -> ManyGroup:
    weight, wrong = rows.weights, rows.most_probable != rows.codes
    total, loss = float(weight.sum()), mean_of_rows(rows.losses, weight, coverage)
    few = total < LEAST
    return ManyGroup(
        name=name,
        n_rows=len(rows),
        weight=total,
        loss=Bounded(loss.value) if few else loss,
        misclassification=Bounded.share(float(weight @ wrong), total, coverage),
        note=f"too few for an interval of the loss: a weight of {total:g}" if few else "",
    )


def compare_predictions(training: Scored | Many, validation: Scored | Many) -> Stability:
    """The population stability index of probabilities, or of the predicted classes."""
    return population_stability_index(
        _said(training),
        _said(validation),
        expected_weight=training.weight,
        actual_weight=validation.weight,
    )


def _said(rows: Scored | Many) -> Any:
    if isinstance(rows, Scored):
        return rows.p
    names = np.array([label(value) for value in rows.classes])
    return names[rows.most_probable]
