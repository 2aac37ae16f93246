"""Evaluation of a survival model: concordance, Brier score and calibration over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.errors import Parameter, ParameterError
from weigh.evaluation.findings import tell_training_rows
from weigh.evaluation.follow_up import FollowUp
from weigh.evaluation.groups import LEAST, Band, Grouped, Grouping, split_bands, tell_off
from weigh.evaluation.show import bounded, number
from weigh.layout import Grid, View, count_of, fold_rest, percent, share_of, tabulate
from weigh.metrics.numbers import NAN, Bounded, check_coverage
from weigh.metrics.survival import concordance, event_ratio
from weigh.survival.outcomes import Outcomes
from weigh.survival.periods import read_survival, spell_moment

MOMENTS, BANDS = (0.1, 0.25, 0.5, 0.75, 0.9), 5
"""Times shown, as shares of the events that have occurred by then; number of bands of rows."""


@dataclass(frozen=True)
class Moment:
    """One time: mean predicted and observed probability of the event by then, and Brier score.

    `brier_base` is the score of the Kaplan-Meier estimate of these rows, which uses no features.
    With late entry, both are NaN (None in plain data) at a time when no row is at risk.
    """

    time: float
    estimate: float
    observed: Bounded
    brier: float
    brier_base: float


@dataclass(frozen=True)
class SurvivalGroup:
    """Measures of one group of rows: observed events, and expected events while rows are at risk.

    Both are counted until the end of the last period, after which the model has no hazard. `ratio`
    is observed/expected; its interval treats the hazards as fixed. `concordance` uses the whole
    follow-up. With fewer than 10 events it is not known, and `note` says so.
    """

    name: str
    n_rows: int
    observed: int
    expected: float
    ratio: Bounded
    concordance: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Followed:
    """Rows with outcomes, observed and expected events until the last period, and risks."""

    outcomes: Outcomes
    observed: Floats
    expected: Floats
    risk: Floats

    def measure(self, name: str, places: Integers, coverage: float) -> SurvivalGroup:
        """The measures of some of the rows as one group."""
        observed, expected = (float(own[places].sum()) for own in (self.observed, self.expected))
        own = self.outcomes.rows(places)
        n = int(own.event.sum())
        enough = n >= LEAST
        return SurvivalGroup(
            name=name,
            n_rows=len(places),
            observed=int(observed),
            expected=expected,
            ratio=event_ratio(observed, expected, coverage),
            concordance=_rank(own, self.risk[places]) if enough else NAN,
            note="" if enough else f"too few events for concordance: {n}, and {LEAST} are needed",
        )


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalEvaluation(Grouped):
    """Measures of a survival model on hold-out rows.

    Attributes
    ----------
    model, event, duration : str
        The names of the model, of the event and of the time.
    n_rows, n_events : int
        Rows, and those of them that had the event.
    concordance : float
        Harrell's index: the share of comparable pairs of rows in which the row with the earlier
        event has the larger predicted risk.
    brier, brier_base : float
        The Brier score, weighted for censoring, as a mean over the times by which 2 to 90% of the
        events have occurred; `brier_base` is that of the Kaplan-Meier estimate of these rows.
    moments : tuple of Moment
        Measures at the given times. Default: the times by which 10, 25, 50, 75 and 90% of the
        events have occurred.
    bands : tuple of Band
        Five bands of rows in ascending order of the probability of the event by `band_time`.
    band_time : float
        The time of the bands: the middle one of the given times, or the time by which half of the
        events have occurred.
    n_late : int
        Rows that entered after time 0. They count from their entry: for concordance, as one of a
        pair, while at risk; for the Brier score, given that they had no event by their entry.
        Estimates of moments and bands are then those of the rows at risk at each time.
    start : float
        If rows entered late: the time of the last early event at which fewer than 10 rows were at
        risk; 0 if there is none. Moments, bands and Brier scores are given that the event has not
        come by then.
    training_rows : float or None
        Estimated share of rows that the model was fitted on; None if not known.
    by : str
        The name of the groups; empty if there are none.
    groups : tuple of SurvivalGroup
        Observed and expected events by the values of `by`, and concordance.
    all_rows : SurvivalGroup or None
        The measures of `groups` for all rows together, if there are groups.
    """

    PART = "moments"

    model: str
    event: str
    duration: str
    n_rows: int
    n_events: int
    concordance: float
    brier: float
    brier_base: float
    moments: tuple[Moment, ...]
    bands: tuple[Band, ...]
    band_time: float
    coverage: float
    n_late: int = 0
    start: float = 0.0
    training_rows: float | None = None
    by: str = ""
    groups: tuple[SurvivalGroup, ...] = ()
    all_rows: SurvivalGroup | None = None

    @property
    def findings(self) -> list[str]:
        """The main results, in sentences."""
        last = self.moments[-1]
        observed = last.observed.spelled(share_of) if last.observed.is_known() else "not known"
        said = [
            tell_training_rows(self.training_rows),
            f"Concordance {self.concordance:.3f} (0.5 is chance).",
            f"Brier score over time {self.brier:.4f}; Kaplan-Meier alone has "
            f"{self.brier_base:.4f}.",
            f"By {spell_moment(self.duration, last.time)} the event is estimated for "
            f"{share_of(last.estimate)} of rows; observed {observed}.",
            self._tell_entry(),
            self._tell_censoring(),
            self._tell_biased(),
        ]
        return [*filter(None, said)]

    def _tell_entry(self) -> str:
        """A note on rows that entered late, and on the time from which they are compared."""
        if not self.n_late:
            return ""
        told = f"{count_of(self.n_late, 'row')} entered late and count{'s' * (self.n_late == 1)} "
        told += "from the entry on."
        if not self.start:
            return told
        moment = spell_moment(self.duration, self.start)
        return (
            f"{told} Probabilities are given that the event has not come by {moment}: fewer than "
            f"{LEAST} rows were at risk at the event of that time."
        )

    def _tell_biased(self) -> str:
        """A sentence about groups with significantly more or fewer events than expected."""
        biased = [
            f"{group.name} ({group.observed:,} observed, {group.expected:,.1f} expected)"
            for group in sorted(self.groups, key=lambda group: -group.expected)
            if group.ratio.has_interval() and not group.ratio.holds(1.0)
        ]
        ratios = [group.ratio for group in self.groups]
        what = "Groups with more or fewer events than expected"
        return tell_off(what, biased, ratios, self.coverage)

    def _tell_censoring(self) -> str:
        """A note if the observed share differs from the estimate but the number of events fits."""
        last, whole = self.moments[-1], self.all_rows
        if whole is None or not whole.ratio.holds(1.0) or not last.observed.has_interval():
            return ""
        if last.observed.holds(last.estimate):
            return ""
        return (
            "The number of events agrees with the model, so the observed share may be biased: "
            "Kaplan-Meier assumes that censoring does not depend on the features."
        )

    def view(self) -> View:
        """The measures as data for text and pages."""
        estimates = {
            "Estimate": lambda own: share_of(own.estimate),
            "Observed": lambda own: own.observed.spelled(share_of),
        }
        scores = {
            "Brier": lambda moment: number(moment.brier),
            "Kaplan-Meier's": lambda moment: number(moment.brier_base),
        }
        moments = {self.duration: lambda moment: f"{moment.time:g}"} | estimates | scores
        bands = {"Rows": lambda band: f"{band.rows:,}"} | estimates
        rows, events = count_of(self.n_rows, "row"), count_of(self.n_events, "event")
        title = f"{self.model}: time to {self.event} ({rows}, {events})"
        at = f"Calibration: event by {spell_moment(self.duration, self.band_time)}, by estimate"
        grids = (
            Grid(*tabulate(self.moments, moments), "Probability of the event over time"),
            Grid(*tabulate(self.bands, bands), at),
        )
        return View(title, fold_rest((*grids, *self.show_groups())), tuple(self.findings))

    def show_groups(self) -> tuple[Grid, ...]:
        """The table of the groups, with a note on events that are not counted."""
        late = self.n_events - self.all_rows.observed if self.all_rows else 0
        if not late:
            return super().show_groups()
        note = f"Events after the model's last period, which are not counted: {late:,}."
        return tuple(replace(own, notes=(*own.notes, note)) for own in super().show_groups())

    def group_columns(self) -> tuple[str, dict[str, Callable[[SurvivalGroup], str]]]:
        """Observed and expected events, their ratio, and concordance by group."""
        ratio = f"Observed/expected ({percent(self.coverage)} interval)"
        return "Observed and expected events", {
            "Rows": lambda group: f"{group.n_rows:,}",
            "Observed": lambda group: f"{group.observed:,}",
            "Expected": lambda group: f"{group.expected:,.1f}",
            ratio: lambda group: bounded(group.ratio, 2),
            "Concordance": lambda group: number(group.concordance, 3),
        }


def evaluate_survival(
    model: Any, X: Any, y: Any, coverage: float, times: Any = None, by: Any = None
) -> SurvivalEvaluation:
    """Evaluate a fitted survival model at given times, or at quantiles of the event times."""
    check_coverage(coverage)
    grouping = Grouping.of(X, by)
    table, outcomes, _ = read_survival(X, y, None)
    found = _measure(model, table, outcomes, coverage, times)
    if by is None:
        return found
    risk, at_risk = model.predict_risk(table), model._periods.expand(outcomes)
    expected = at_risk.expect(model.predict_hazard(table))
    rows = Followed(outcomes, at_risk.count_events(len(risk)), expected, risk)
    parts = grouping.split(np.ones(len(risk), dtype=np.bool_), None)
    groups = tuple(rows.measure(name, places, coverage) for name, places in parts)
    whole = rows.measure("All rows", np.arange(len(risk)), coverage)
    return replace(found, by=grouping.name, groups=groups, all_rows=whole)


def _rank(outcomes: Outcomes, risk: Floats) -> float:
    return concordance(outcomes.event, outcomes.duration, risk, outcomes.entry)


def _measure(
    model: Any, table: Any, outcomes: Outcomes, coverage: float, times: Any
) -> SurvivalEvaluation:
    """All measures of all rows, without groups."""
    event, rows = outcomes.event, FollowUp.of(model, table, outcomes)
    ends = np.sort(rows.outcomes.duration[rows.outcomes.event])
    last = min(float(ends[-1]), model.horizon_)
    came = ends[ends <= last]
    if not len(came):
        raise ParameterError(
            Parameter("y"), f" has no event by {last:g}, the end of the model's follow-up"
        )
    asked, at = _choose_times(model, came, times, rows, last)
    own, base = rows.score(_list_times(came))
    return SurvivalEvaluation(
        model=type(model).__name__,
        event=outcomes.event_name,
        duration=outcomes.time_name,
        n_rows=len(event),
        n_events=int(event.sum()),
        concordance=_rank(outcomes, model.predict_risk(table)),
        brier=float(own.mean()),
        brier_base=float(base.mean()),
        moments=_moments(rows, np.unique(asked), coverage),
        bands=_bands(rows, at, coverage),
        band_time=at,
        coverage=coverage,
        n_late=outcomes.n_late,
        start=rows.start,
    )


def _choose_times(
    model: Any, came: Floats, times: Any, rows: FollowUp, last: float
) -> tuple[Floats, float]:
    """The times of the moments, and the time of the bands."""
    if times is not None:
        asked = _read_times(model, times, rows, last)
        return asked, float(asked[len(asked) // 2])
    asked = np.quantile(came, MOMENTS, method="inverted_cdf")
    return asked, float(asked[2])


def _list_times(came: Floats) -> Floats:
    """The times over which Brier scores are averaged."""
    return np.unique(np.quantile(came, np.linspace(0.02, 0.9, 45), method="inverted_cdf"))


def _read_times(model: Any, times: Any, rows: FollowUp, last: float) -> Floats:
    """The given times in order, after the first entry of these rows and up to their last event."""
    found: Floats = model._order_times(times)
    span = f" must be above {rows.first:.12g} and at most {last:.12g}"
    if found[0] <= rows.first:
        told = f"{span}, because {_why_not_earlier(rows)}; got {found[0]:.12g}"
        raise ParameterError(Parameter("times"), told)
    if found[-1] > last:
        told = f"{span}, the last event of these rows; got {found[-1]:.12g}"
        raise ParameterError(Parameter("times"), told)
    return found


def _why_not_earlier(rows: FollowUp) -> str:
    """The reason why probabilities begin after the first entry."""
    first, start = f"{rows.first:.12g}", f"{rows.start:.12g}"
    if not rows.start:
        return f"no row had entered before {first}"
    few = f"fewer than {LEAST} rows were at risk at the event of time {start}"
    return few if first == start else f"{few}, and none from then to {first}"


def _moments(rows: FollowUp, times: Floats, coverage: float) -> tuple[Moment, ...]:
    own, base = rows.score(times)
    parts = zip(times.tolist(), rows.expect(times), own, base, strict=True)
    return tuple(
        Moment(time, float(came), rows.observe(time, coverage), float(a), float(b))
        for time, came, a, b in parts
    )


def _bands(rows: FollowUp, time: float, coverage: float) -> tuple[Band, ...]:
    """Bands of about equally many rows by the probability of the event."""
    at, every = np.array([time]), np.arange(len(rows.periods.ends))
    shares = rows.periods.shares(rows.periods.passed(at), every[:, None])
    came = 1 - np.exp(rows.logs @ shares)[:, 0]
    found = []
    for places in split_bands(came, np.ones(len(came)), BANDS, 1.0):
        band = rows.take(places)
        estimate = float(band.expect(at)[0])
        found.append(Band(len(places), estimate, band.observe(time, coverage)))
    return tuple(found)
