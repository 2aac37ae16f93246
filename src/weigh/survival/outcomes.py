"""Read events, durations and entries from a structured array or from named columns.

Also checks the times to predict: numbers from 0 to the end of the model's follow-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.errors import Parameter, ParameterError
from weigh.frames import Table, read, read_numbers, tell_rows, to_arrow, wrap
from weigh.parameters import is_number

ROLES = ("event", "duration", "entry")
WORDS = {"no": 0.0, "yes": 1.0, "false": 0.0, "true": 1.0, "0": 0.0, "1": 1.0}
"""Text values allowed in an event column, in upper or lower case."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Whether each row had the event, its duration, and its entry into observation."""

    event: np.ndarray[Any, np.dtype[np.bool_]]
    duration: Floats
    entry: Floats
    names: tuple[str, ...]  # of event, duration and, if given, entry

    @property
    def event_name(self) -> str:
        """Name of the event."""
        return self.names[0]

    @property
    def time_name(self) -> str:
        """Name of the duration."""
        return self.names[1]

    @property
    def n_late(self) -> int:
        """Number of rows that were not observed from time 0."""
        return int((self.entry > 0).sum())

    def rows(self, places: Integers) -> Outcomes:
        """Select some of the rows."""
        return Outcomes(self.event[places], self.duration[places], self.entry[places], self.names)


def read_outcomes(table: Table, y: Any, needs_event: bool = True) -> tuple[Table, Outcomes]:
    """Separate the features of a table from its outcomes: named columns, or values of their own.

    The values are the fields of a structured array, or the columns of a dataframe. Durations must
    be positive and above the entry. If `needs_event`, some row must have the event.
    """
    columns: Sequence[Any]
    source = table
    if getattr(getattr(y, "dtype", None), "names", None):
        names, columns = _fields(y)
    elif isinstance(y, list | tuple) and all(isinstance(name, str) for name in y):
        names = columns = tuple(y)
    elif wrap(y) is not None:
        source = read(y)
        names, columns = source.names, [*source.names]
        if source.n_rows != table.n_rows:
            raise ValueError(
                f"X and y must have equal length: {table.n_rows} rows against {source.n_rows}"
            )
    else:
        raise ParameterError(
            Parameter("y"),
            " must name the columns of event and duration, such as ('died', 'days'), or be a "
            "dataframe of these two columns or a structured array with these two fields, got "
            f"{type(y).__name__}",
        )
    if len(names) not in (2, 3):
        raise ParameterError(
            Parameter("y"), f" must have event, duration and at most an entry, got {[*names]}"
        )
    if len({*names}) < len(names):
        raise ParameterError(Parameter("y", part="duration"), f" names a column twice: {[*names]}")
    told = [f"{role} {name!r}" for role, name in zip(ROLES, names, strict=False)]
    found = [_numbers(source, column, name) for column, name in zip(columns, told, strict=True)]
    event, duration = found[:2]
    entry = found[2] if len(found) == 3 else np.zeros(table.n_rows)
    if needs_event and not event.any():
        _refuse(told[0], "is 0 in every row; a survival model needs rows with the event")
    _check(event, duration, entry, told)
    own = columns is names or source is not table
    features = table.without({*names}) if own else table
    return features, Outcomes(event > 0, duration, entry, names)


def _fields(y: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Names and values of the fields of a structured array: event (bool), duration, entry."""
    names = sorted(y.dtype.names, key=lambda name: (y.dtype[name].kind != "b", name == "entry"))
    return tuple(names), [np.asarray(y[name], dtype=np.float64) for name in names]


def _numbers(table: Table, column: Any, told: str) -> Floats:
    try:
        return read_numbers(table, column, "y")
    except ParameterError as error:
        words = _event_words(table, column, told)
        if words is not None:
            return words
        own = (_part(told) if isinstance(part, Parameter) else part for part in error.parts)
        raise ParameterError(*own, f" ({told})") from None


def _event_words(table: Table, column: Any, told: str) -> Floats | None:
    """Read a text column of events, such as yes and no; None if the column is not text."""
    if not told.startswith(ROLES[0]) or column not in table.names:
        return None
    values = to_arrow(table.source(table.names.index(column))).to_pylist()
    words = {value for value in values if isinstance(value, str)}
    if not words:
        return None
    means = {word: WORDS.get(word.strip().lower()) for word in words}
    odd = next((word for word in sorted(words) if means[word] is None), None)
    if odd is not None:
        expected = f"must be 0/1, False/True or No/Yes, but holds {odd!r:.60}"
        _refuse(told, f"{expected}; write 1 in the rows that had the event")
    blank = sum(not isinstance(value, str) for value in values)
    if blank:
        _refuse(told, f"is not known in {blank:,} of {len(values):,} rows; drop such rows")
    return np.array([means[value] for value in values], dtype=np.float64)


def _check(event: Floats, duration: Floats, entry: Floats, told: list[str]) -> None:
    if not np.isin(event, (0.0, 1.0)).all():
        odd = event[~np.isin(event, (0.0, 1.0))][0]
        _refuse(told[0], f"must hold 0 and 1 (or False and True), but holds {odd:g}")
    if (entry < 0).any():
        _refuse(told[2], f"must be 0 or more, but holds {entry.min():g}")
    if (duration <= 0).any():
        _refuse(
            told[1],
            f"must be positive, but holds {tell_rows(duration, duration <= 0)}; drop such rows, "
            "or, if times are rounded down, add half a unit of time to every row",
        )
    late = np.flatnonzero(duration <= entry)
    if not len(late):
        return
    row = late[0]
    _refuse(
        told[1],
        f"must be above the entry, but row {row} (from 0) has duration {duration[row]:g} and entry "
        f"{entry[row]:g}; drop such rows",
    )


def _refuse(told: str, text: str) -> None:
    raise ParameterError(_part(told), f": {told} {text}")


def _part(told: str) -> Parameter:
    """Parameter named in an error message; the first word of `told` is its role."""
    return Parameter("y", part=told.split()[0])


def check_times(times: Any, horizon: float) -> Floats:
    """Read the times to predict; raise an error for one outside 0 to the horizon."""
    found = np.atleast_1d(np.asarray(times))
    if found.dtype.kind not in "iuf" or found.ndim != 1 or not found.size:
        told = f" must be a number or a list of numbers, such as [365, 730]; got {times!r:.60}"
        raise ParameterError(Parameter("times"), told)
    odd = found[~((found >= 0) & (found <= horizon))]
    if len(odd):
        raise ParameterError(
            Parameter("times"),
            f" must be from 0 to {horizon:g}, the end of the model's follow-up; got {odd[0]:.12g}",
        )
    return found.astype(np.float64)


def order_times(times: Any, horizon: float) -> Floats:
    """Times to score or evaluate, sorted; 0 is an error, because no event comes by then."""
    found = np.unique(check_times(times, horizon))
    if found[0] <= 0:
        raise ParameterError(Parameter("times"), f" must be above 0 and at most {horizon:g}; got 0")
    names = [f"{time:.12g}" for time in found]
    alike = next((b for a, b in pairwise(names) if a == b), None)
    if alike is not None:
        told = f" has two times that are both {alike} to 12 digits; leave one of them out"
        raise ParameterError(Parameter("times"), told)
    return found


def check_time(time: Any, horizon: float) -> None:
    """Raise an error for a time that is not within the follow-up."""
    if time is not None and not (is_number(time) and 0 < time <= horizon):
        told = (
            f" must be above 0 and at most {horizon:g}, the end of the model's follow-up; got "
            f"{time!r}"
        )
        raise ParameterError(Parameter("time", part="time"), told)
