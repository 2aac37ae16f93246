"""Evaluation of a survival model: concordance, Brier score and calibration over time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.errors import Parameter, ParameterError
from weigh.evaluation.findings import find_training_rows, tell_training_rows
from weigh.evaluation.groups import Grouping
from weigh.evaluation.page import Page, Section
from weigh.evaluation.survival_groups import (
    Followed,
    SurvivalGroup,
    measure_survival_groups,
    show_groups,
    tell_groups,
)
from weigh.frames import Floats, build
from weigh.layout import Shown, count_of, percent
from weigh.metrics.numbers import Bounded, check_coverage, columns_of, flatten, plain
from weigh.metrics.survival import KaplanMeier, brier_scores, concordance
from weigh.survival.outcomes import Outcomes
from weigh.survival.periods import read_survival

MOMENTS, BANDS = (0.1, 0.25, 0.5, 0.75, 0.9), 5
"""Times shown, as shares of the events that have occurred by then; number of bands of rows."""


@dataclass(frozen=True)
class Moment:
    """One time: mean predicted and observed probability of the event by then, and Brier score.

    `brier_base` is the score of the Kaplan-Meier estimate of these rows, which uses no features.
    """

    time: float
    estimate: float
    observed: Bounded
    brier: float
    brier_base: float


@dataclass(frozen=True)
class Band:
    """Rows of similar probability of the event by `time`, and the share that had it."""

    rows: int
    estimate: float
    observed: Bounded


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalEvaluation(Shown):
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
    training_rows : float or None
        Estimated share of rows that the model was fitted on; None if not known.
    by : str
        The name of the groups; empty if there are none.
    groups : tuple of SurvivalGroup
        Observed and expected events by the values of `by`, and concordance.
    all_rows : SurvivalGroup or None
        The measures of `groups` for all rows together, if there are groups.
    """

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
    training_rows: float | None = None
    by: str = ""
    groups: tuple[SurvivalGroup, ...] = ()
    all_rows: SurvivalGroup | None = None

    @property
    def findings(self) -> list[str]:
        """The main results, in sentences."""
        last, met = self.moments[-1], tell_training_rows(self.training_rows)
        return [
            *([met] if met else []),
            f"Concordance {self.concordance:.3f} (0.5 is chance).",
            f"Brier score over time {self.brier:.4f}; Kaplan-Meier alone has "
            f"{self.brier_base:.4f}.",
            f"By {self.duration} = {last.time:g} the event is estimated for "
            f"{percent(round(last.estimate, 3))} of rows; observed {_range(last.observed)}.",
            *filter(None, [self._tell_censoring(), tell_groups(self)]),
        ]

    def _tell_censoring(self) -> str:
        """A note if the observed share differs from the estimate but the number of events fits."""
        last, whole = self.moments[-1], self.all_rows
        if whole is None or not whole.ratio.holds(1.0) or not last.observed.has_interval():
            return ""
        if last.observed.holds(last.estimate):
            return ""
        return (
            "All rows together have about the events expected while they were at risk, so the "
            "observed share may be off: Kaplan-Meier assumes that censoring does not depend on the "
            "features."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return plain(self) | {"findings": self.findings}  # type: ignore[no-any-return]

    def to_frame(self, part: str = "moments") -> Any:
        """The "moments" or the "groups" as a table, one row each."""
        if part not in ("moments", "groups"):
            raise ParameterError(Parameter("part"), f" must be 'moments' or 'groups', got {part!r}")
        if part == "groups":
            if not self.by:
                raise ParameterError("there are no groups; evaluate with ", Parameter("by"))
            return build(columns_of([flatten(plain(own)) for own in self.groups]), None)
        rows = [
            (m.time, m.estimate, m.observed.value, m.observed.low, m.observed.high, m.brier,
             m.brier_base) for m in self.moments
        ]  # fmt: skip
        names = ("time", "estimate", "observed", "observed_low", "observed_high", "brier")
        columns = map(list, zip(*rows, strict=True))
        return build(dict(zip((*names, "brier_base"), columns, strict=True)), None)

    def view(self) -> Page:
        """The measures as data for text and pages."""
        head = (self.duration, "Estimate", "Observed", "Brier", "Kaplan-Meier's")
        moments = tuple(
            (
                f"{m.time:g}",
                percent(round(m.estimate, 3)),
                _range(m.observed),
                f"{m.brier:.4f}",
                f"{m.brier_base:.4f}",
            )
            for m in self.moments
        )
        bands = tuple(
            (f"{b.rows:,}", percent(round(b.estimate, 3)), _range(b.observed)) for b in self.bands
        )
        rows, events = count_of(self.n_rows, "row"), count_of(self.n_events, "event")
        title = f"{self.model}: time to {self.event} ({rows}, {events})"
        at = f"Calibration: event by {self.duration} = {self.band_time:g}, by estimate"
        return Page(
            title,
            tuple(self.findings),
            (
                Section("Probability of the event over time", head, moments),
                Section(at, ("Rows", "Estimate", "Observed"), bands),
                *show_groups(self),
            ),
        )


def _range(bounded: Bounded) -> str:
    value = percent(round(bounded.value, 3))
    if not bounded.has_interval():
        return value
    low, high = percent(round(bounded.low, 3)), percent(round(bounded.high, 3))
    return f"{value} ({low} to {high})"


def evaluate_survival(
    model: Any, X: Any, y: Any, coverage: float, times: Any = None, by: Any = None
) -> SurvivalEvaluation:
    """Evaluate a fitted survival model at given times, or at quantiles of the event times."""
    check_coverage(coverage)
    grouping = Grouping.of(X, by)
    table, outcomes, _ = read_survival(X, y, None)
    _refuse_entry(outcomes)
    found = _measure(model, table, outcomes, coverage, times)
    if by is None:
        return found
    risk, at_risk = model.predict_risk(table), model._periods.expand(outcomes)
    expected = at_risk.expect(model.predict_hazard(table))
    came = at_risk.count_events(len(risk))
    rows = Followed(outcomes.event, outcomes.duration, came, expected, risk)
    groups, whole = measure_survival_groups(grouping, rows, coverage)
    return replace(found, by=grouping.name, groups=groups, all_rows=whole)


def _refuse_entry(outcomes: Outcomes) -> None:
    if outcomes.entry.any():
        raise ParameterError(
            Parameter("y", part="entry"),
            f" names an entry, {outcomes.names[-1]!r}, which evaluate does not take; evaluate rows "
            "that were observed from time 0",
        )


def _measure(
    model: Any, table: Any, outcomes: Outcomes, coverage: float, times: Any
) -> SurvivalEvaluation:
    """All measures of all rows, without groups."""
    event, duration = outcomes.event, outcomes.duration
    last = min(float(duration[event].max()), model.horizon_)
    came = np.sort(duration[event & (duration <= last)])
    asked, at = _choose_times(model, came, times, last)
    known = KaplanMeier.of(event, duration)
    own, base = _brier_over_time(model, table, event, duration, known, came)
    return SurvivalEvaluation(
        model=type(model).__name__,
        event=outcomes.event_name,
        duration=outcomes.time_name,
        n_rows=len(event),
        n_events=int(event.sum()),
        concordance=concordance(event, duration, model.predict_risk(table)),
        brier=own,
        brier_base=base,
        moments=_moments(model, table, event, duration, known, np.unique(asked), coverage),
        bands=_bands(1 - model.predict_survival(table, at)[:, 0], event, duration, at, coverage),
        band_time=at,
        coverage=coverage,
        training_rows=find_training_rows(model, table),
    )


def _choose_times(model: Any, came: Floats, times: Any, last: float) -> tuple[Floats, float]:
    """The times of the moments, and the time of the bands."""
    if times is not None:
        asked = _read_times(model, times, last)
        return asked, float(asked[len(asked) // 2])
    asked = np.quantile(came, MOMENTS, method="inverted_cdf")
    return asked, float(asked[2])


def _brier_over_time(
    model: Any, table: Any, event: Any, duration: Floats, known: KaplanMeier, came: Floats
) -> tuple[float, float]:
    """The mean Brier score over time of the model, and of the Kaplan-Meier estimate."""
    grid = np.unique(np.quantile(came, np.linspace(0.02, 0.9, 45), method="inverted_cdf"))
    survival = model.predict_survival(table, grid)
    base = np.broadcast_to(known.at(grid), survival.shape)
    own, alone = (brier_scores(event, duration, each, grid).mean() for each in (survival, base))
    return float(own), float(alone)


def _read_times(model: Any, times: Any, last: float) -> Floats:
    """The given times in order; none may be after the last event of these rows."""
    found: Floats = model._order_times(times)
    if found[-1] > last:
        raise ParameterError(
            Parameter("times"),
            f" must be above 0 and at most {last:g}, the last event of these rows; got "
            f"{found[-1]:.12g}",
        )
    return found


def _moments(
    model: Any,
    table: Any,
    event: Any,
    duration: Floats,
    known: KaplanMeier,
    times: Floats,
    coverage: float,
) -> tuple[Moment, ...]:
    survival = model.predict_survival(table, times)
    own = brier_scores(event, duration, survival, times)
    base = brier_scores(event, duration, np.broadcast_to(known.at(times), survival.shape), times)
    return tuple(
        Moment(float(time), float(1 - left), known.bounded(time, coverage), float(a), float(b))
        for time, left, a, b in zip(times, survival.mean(axis=0), own, base, strict=True)
    )


def _bands(
    came: Floats, event: Any, duration: Floats, time: float, coverage: float
) -> tuple[Band, ...]:
    """Bands of about equally many rows by probability; equal probabilities share a band."""
    _, codes, counts = np.unique(came, return_inverse=True, return_counts=True)
    band = np.minimum(((np.cumsum(counts) - 1) * BANDS) // len(came), BANDS - 1)[codes]
    found = []
    for b in np.unique(band):
        rows = band == b
        observed = KaplanMeier.of(event[rows], duration[rows]).bounded(time, coverage)
        found.append(Band(int(rows.sum()), float(came[rows].mean()), observed))
    return tuple(found)
