"""Periods of follow-up, and the rows of a binary model: one for each row and period at risk.

The parameters of the binary model are derived from those of the survival model. Rows are also
counted by level, because drift compares rows, while the binary model counts rows and periods.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from weigh import engine
from weigh.arrays import Floats, Integers
from weigh.errors import Parameter, ParameterError
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import Table, read, read_numbers, to_arrow
from weigh.parameters import Everywhere, is_count, is_number
from weigh.survival.outcomes import Outcomes, read_outcomes
from weigh.tally import count_placed_soft

GRID = 1000
"""Largest number of times at which the estimated survival decreases."""

LARGE = 0.2
"""Largest cumulative hazard of a period, unless a single time has more."""

WEIGHT = "weight"


UNITS = ("seconds", "minutes", "hours", "days", "weeks", "months", "quarters", "years")
"""Names of duration columns that are units of time."""


def spell_moment(name: str, time: float) -> str:
    """A time in words, by the name of the duration's column.

    >>> spell_moment("days", 365.0), spell_moment("tenure", 110.744639671)
    ('day 365', 'tenure 110.745')
    """
    return f"{name[:-1] if name.lower() in UNITS else name} {_spell_time(time)}"


def _spell_time(time: float) -> str:
    """A time with six digits, or with all digits if it is whole."""
    return f"{time:.{12 if float(time).is_integer() else 6}g}"


@dataclass(frozen=True, eq=False)
class Periods:
    """Periods, and how the hazard of each is distributed over its time.

    Period k ends at `ends[k]`, which belongs to it. `done[g]` is the number of periods that have
    passed at `times[g]`, with fractions. Within a period it is proportional to the cumulative
    hazard of all rows (Nelson & Aalen). So, if a period ends at every time of an event, the result
    is the Kaplan-Meier estimator.
    """

    ends: Floats
    times: Floats
    done: Floats

    @classmethod
    def of(cls, outcomes: Outcomes, weight: Floats, periods: Any) -> Periods:
        """Make periods: a number of them with about equally many events, or with given ends."""
        times, events, hazards = _hazards(outcomes, weight)
        ends = _read_ends(periods, times, events, hazards)
        period = np.searchsorted(ends, times)
        inside = period < len(ends)
        times, hazards, period = times[inside], hazards[inside], period[inside]
        total = np.bincount(period, hazards, len(ends))
        sums = np.cumsum(hazards)
        before = np.concatenate([[0.0], np.cumsum(total)])[period]
        done = period + np.minimum((sums - before) / total[period], 1.0)
        last = np.append(period[1:] != period[:-1], True) if len(period) else period > 0
        done[last] = period[last] + 1.0
        kept = _thin(last)
        empty = np.setdiff1d(np.arange(len(ends)), period)
        every = np.concatenate([times[kept], ends[empty]])
        order = np.argsort(every, kind="stable")
        return cls(ends, every[order], np.concatenate([done[kept], empty + 1.0])[order])

    def horizon(self, outcomes: Outcomes) -> float:
        """The last time to predict: the longest duration, if no event is after the last period."""
        last = float(self.ends[-1])
        later = bool((outcomes.duration[outcomes.event] > last).any())
        return last if later else float(outcomes.duration.max())

    def passed(self, times: Floats) -> Floats:
        """Number of periods, with fractions, that have passed at each time."""
        places = np.searchsorted(self.times, times, "right")
        return np.asarray(np.append(0.0, self.done)[places])

    def shares(self, passed: Floats, period: Any) -> Floats:
        """Share of a period that has passed: 0 before it, 1 after it."""
        return np.asarray(np.clip(passed - period, 0.0, 1.0))

    @property
    def steps(self) -> tuple[Floats, Integers, Floats]:
        """Times at which survival decreases, the period of each, and the part of it that passes."""
        parts = np.diff(self.done, prepend=0.0)
        return self.times, np.ceil(self.done - 1e-9).astype(np.int64) - 1, parts

    def spell(self, name: str, time: float) -> str:
        """The period of a time in words, such as "between day 364 and 420"."""
        place = min(int(np.searchsorted(self.ends, time)), len(self.ends) - 1)
        if place == 0:
            return f"by {spell_moment(name, self.ends[0])}"
        first = self.ends[place - 1] + (self.ends == np.rint(self.ends)).all()  # the next whole one
        if first == self.ends[place]:
            return f"at {spell_moment(name, first)}"
        return f"between {spell_moment(name, first)} and {_spell_time(self.ends[place])}"

    def expand(self, outcomes: Outcomes) -> Expanded:
        """Make one row for each row and period in which it was at risk, in whole or in part.

        A row at risk in part of a period, without the event, has that part as its weight: its log
        probability of no event is the part times log(1 - hazard).
        """
        stop, start = self.passed(outcomes.duration), self.passed(outcomes.entry)
        own = np.searchsorted(self.ends, outcomes.duration)
        event = outcomes.event & (own < len(self.ends))
        first = np.floor(start).astype(np.int64)
        end = np.where(event, own + 1, np.ceil(stop).astype(np.int64))
        counts = np.maximum(end - first, 0)
        rows = np.repeat(np.arange(len(counts)), counts)
        period = first[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        happened = event[rows] & (period == own[rows])
        part = self.shares(stop[rows], period) - self.shares(start[rows], period)
        share = np.where(happened, 1.0, part)
        used = share > 1e-12
        return Expanded(rows[used], period[used], happened[used], share[used])


@dataclass(frozen=True, eq=False)
class Expanded:
    """Rows and periods at risk: row number, period, whether the event came, share of the period."""

    rows: Integers
    period: Integers
    event: np.ndarray[Any, np.dtype[np.bool_]]
    share: Floats

    def count_events(self, n_rows: int) -> Floats:
        """Number of events of each row within the periods; events after the last do not count."""
        return np.bincount(self.rows, self.event, n_rows).astype(np.float64)

    def expect(self, hazards: Floats) -> Floats:
        """Expected number of events of each row in its periods at risk, from hazards by row."""
        each = self.share * hazards[self.rows, self.period]
        return np.bincount(self.rows, each, len(hazards)).astype(np.float64)


def _hazards(outcomes: Outcomes, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct times of events, the weight of events at each, and that divided by rows at risk."""
    times, places = np.unique(outcomes.duration[outcomes.event], return_inverse=True)
    events = np.bincount(places, weight[outcomes.event], len(times)).astype(np.float64)
    risk = at_risk(times, outcomes.duration, weight) - at_risk(times, outcomes.entry, weight)
    return times, events, events / risk


def at_risk(times: Floats, until: Floats, weight: Floats) -> Floats:
    """Weight of the rows whose `until` is not before each time."""
    order = np.argsort(until, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(weight[order])])
    left: Floats = sums[-1] - sums[np.searchsorted(until[order], times)]
    return left


def _read_ends(periods: Any, times: Floats, events: Floats, hazards: Floats) -> Floats:
    if is_count(periods) and periods >= 1:
        share = np.cumsum(events) / events.sum()
        period = np.ceil(share * int(periods) - 1e-9)
        return np.asarray(times[_ends_run(period) | _ends_run(_part(period, hazards))])
    given = [*periods] if isinstance(periods, Iterable) and not isinstance(periods, str) else []
    if not given or not all(is_number(end) and 0 < end < np.inf for end in given):
        _refuse_periods(periods)
    ends = np.array(given, dtype=np.float64)
    if (np.diff(ends) <= 0).any():
        _refuse_periods(periods)
    if ends[-1] < times[0]:
        raise ParameterError(
            Parameter("periods"),
            f" end at {ends[-1]:g}, before the first event at {times[0]:g}; give later ends",
        )
    return ends


def _part(period: Floats, hazards: Floats) -> Floats:
    """Number of the part of its period for each time; parts have a hazard of at most `LARGE`.

    Weighting a row that is censored within a period by its share is accurate only if the hazard of
    the period is small.
    """
    sums = np.cumsum(hazards)
    starts = np.flatnonzero(np.append(True, period[1:] != period[:-1]))
    before = (sums - hazards)[starts][np.cumsum(np.append(True, period[1:] != period[:-1])) - 1]
    return np.asarray(np.ceil((sums - before) / LARGE - 1e-9))


def _ends_run(values: Floats) -> Any:
    """Whether the next value differs, for each value; true for the last."""
    return np.append(values[1:] != values[:-1], True)


def _refuse_periods(periods: Any) -> None:
    raise ParameterError(
        Parameter("periods"),
        f" must be a whole number of 1 or more, or ascending positive ends, got {periods!r:.60}",
    )


def _thin(last: Integers) -> Integers:
    """Indices of about `GRID` times, including every time that ends a period."""
    n = len(last)
    some = np.linspace(0, n - 1, min(n, GRID)).round().astype(np.int64)
    return np.union1d(some, np.flatnonzero(last))


def person_periods(X: Any, y: Any, *, periods: Any = 20, sample_weight: Any = None) -> Any:
    """Make one row for each row and period at risk, to which a binary model can be fitted.

    Parameters
    ----------
    X : table
        Features, and the columns that y names.
    y : pair or triple of str, or structured array
        Event, duration and, optionally, entry, as in `EducatedSurvival.fit`.
    periods : int or list of numbers, default=20
        Number of periods, with about equally many events, or their ends.
    sample_weight : array or str, optional
        Row weights, or the name of their column.

    Returns
    -------
    pyarrow.Table
        The features; the end of the period, in a column named as the duration; whether the event
        came in the period, in a column named as the event; and `weight`, the share of the period in
        which the row was at risk, times the row weight. Fit a model with `sample_weight="weight"`.

    Examples
    --------
    >>> import weigh
    >>> people = [{"days": 2.0, "died": 1}, {"days": 5.0, "died": 0}, {"days": 5.0, "died": 1}]
    >>> weigh.person_periods(people, ("died", "days")).select(["days", "died"]).to_pylist()[1:]
    [{'days': 2.0, 'died': False}, {'days': 5.0, 'died': False}, {'days': 2.0, 'died': False}, \
{'days': 5.0, 'died': True}]
    """
    table, outcomes, weight = read_survival(X, y, sample_weight)
    for name in {outcomes.event_name, WEIGHT} & {*table.names}:
        raise ParameterError(
            Parameter("X"), f" has a feature {name!r}, which the new rows need; rename it"
        )
    found = Periods.of(outcomes, weight, periods)
    rows = found.expand(outcomes)
    at_risk = table.rows(rows.rows)
    taken = {name: to_arrow(at_risk.source(j)) for j, name in enumerate(table.names)}
    own = {
        outcomes.time_name: found.ends[rows.period],
        outcomes.event_name: rows.event,
        WEIGHT: rows.share * weight[rows.rows],
    }
    return pa.table(taken | own)


def read_survival(
    X: Any, y: Any, sample_weight: Any, needs_event: bool = True
) -> tuple[Table, Outcomes, Floats]:
    """Read the features, outcomes and weights of the rows with positive weight."""
    table = read(X).to_learn_from()
    if type(table) is not Table:
        raise ValueError(
            "survival models take tables in memory, not scans; read the file with "
            "weigh.read_file, or fit on a sample"
        )
    weight = np.ones(table.n_rows)
    if sample_weight is not None:
        weight = read_numbers(table, sample_weight, "sample_weight")
        if (weight < 0).any() or not weight.any():
            raise ParameterError(
                Parameter("sample_weight"), " must be 0 or more, and positive in some row"
            )
    features, outcomes = read_outcomes(table, y, needs_event)
    if isinstance(sample_weight, str):
        features = features.without({sample_weight})
    kept = np.flatnonzero(weight > 0)
    if len(kept) < len(weight):
        features, outcomes, weight = features.rows(kept), outcomes.rows(kept), weight[kept]
        if not outcomes.event.any():
            raise ParameterError(Parameter("y"), ": no row of positive weight has the event")
    if outcomes.time_name in features.names:
        raise ParameterError(
            Parameter("y"), f" calls the time {outcomes.time_name!r}, as a feature is; rename one"
        )
    return features, outcomes, weight


def hazard_parameters(
    model: Any, names: tuple[str, ...], time: str, ends: Floats
) -> dict[str, Any]:
    """Parameters of the hazard model, in which every period is a level of the time column."""
    given: dict[str, Any] = model.get_params(deep=False)
    del given["periods"]
    for name in ("categorical_features", "monotonic_cst"):
        given[name] = _lengthen(given[name], len(names))
    for name in ("missing", "special_values", "max_levels"):
        if given[name] is not None and not isinstance(given[name], dict):
            given[name] = Everywhere.fromkeys(names, given[name])  # without the time column
    if len(ends) == 1:
        return given
    own = given["bins"]
    columns = own if isinstance(own, dict) else Everywhere()
    if not isinstance(own, dict) and own != type(model).bins:
        columns = Everywhere.fromkeys(names, own)
    return given | {"bins": type(columns)({**columns, time: ends[:-1].tolist()})}


def _lengthen(given: Any, n_columns: int) -> Any:
    """Extend a parameter with one entry per feature by an empty entry for the time column."""
    if given is None or isinstance(given, str | dict) or len(given) != n_columns:
        return given
    if any(isinstance(item, str) for item in given):
        return given
    mask = all(isinstance(item, bool | np.bool_) for item in given)
    return [*given, False if mask else 0]


def count_rows(
    tables: Sequence[FeatureTable], table: Table, outcomes: Outcomes, weight: Floats
) -> Floats:
    """Numbers of censored rows and of rows with the event, by level of each table, and in all."""
    by_class = np.column_stack([~outcomes.event, outcomes.event]) * weight[:, None]
    features = [own.feature for own in tables]
    placed = engine.place(replace(table, named=True), features)
    parts = zip(features, placed, strict=True)
    counts = [count_placed_soft(feature, own, by_class).counts for feature, own in parts]
    return np.concatenate([*counts, by_class.sum(axis=0)[None]])


def with_rows(evidence: Evidence, tables: Sequence[FeatureTable], rows: Floats) -> Evidence:
    """Evidence with some tables only, and with the counts of `count_rows`."""
    ends = np.cumsum([len(own.levels) for own in tables], dtype=np.int64)
    if rows.shape != (int(ends[-1:].sum()) + 1, 2):
        raise ValueError("level_rows_ does not fit the tables of the model: fit it again")
    parts = zip(tables, np.split(rows[:-1], ends[:-1])[: len(tables)], strict=True)
    counted = tuple(replace(own, counts=counts) for own, counts in parts)
    return replace(evidence, tables=counted, class_counts=rows[-1])
