"""Checks of a survival model on new rows: observed and expected events, in total and over time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betainc
from scipy.stats import chi2

from weigh.evaluation import Bounded
from weigh.frames import Floats, Sample
from weigh.metrics import COVERAGE
from weigh.metrics.numbers import NAN
from weigh.metrics.survival import concordance, event_ratio
from weigh.monitoring.checks import FEWEST, Check
from weigh.monitoring.labels import HALF, Labelled, OutcomeChecks, compare_weights, measure
from weigh.survival.periods import read_survival

SPANS = 5
"""Most spans of time, which have about equally many expected events."""

FEW_EVENTS = 10
"""With fewer events, slope and weights are not checked: their errors are too uncertain."""


@dataclass(frozen=True)
class Span:
    """Observed and expected events of a span of time, which begins where the previous one ends."""

    until: float
    observed: float
    expected: float
    ratio: Bounded


@dataclass(frozen=True)
class EventQuality:
    """Observed and expected events of the new rows, with 95% intervals.

    `in_the_large` is observed over expected. Its interval, and those of spans, account for the
    noise of the new rows only. `slope` is the calibration slope of the log odds of the hazards,
    over rows and periods.
    """

    event: str
    duration: str
    observed: float
    expected: float
    in_the_large: Bounded
    slope: Bounded
    concordance: float
    spans: tuple[Span, ...]


def check_events(model: Any, X: Any, y: Any) -> OutcomeChecks:
    """Compare observed with expected events, in total, over time, and by the tables of the hazard.

    As in the fit, there is one row for each row and period at risk. Given that a row is still at
    risk, the event of a period is independent of earlier periods, so these rows are independent.
    """
    table, outcomes, _ = read_survival(X, y, None, needs_event=False)
    periods = model._periods
    rows = periods.expand(outcomes)
    at_risk, labels = model._at_risk(table, rows), rows.event.astype(np.int64)
    evidence = model.evidence_
    p = evidence.probabilities(evidence.total(at_risk))
    count = np.array([rows.share[~rows.event].sum(), rows.event.sum()])
    kept = np.ones(len(labels), dtype=np.bool_)
    sample = Sample(at_risk, labels, evidence.classes, rows.share, count, kept)
    spans = _Spans.of(model, rows.period, rows.event, rows.share * p[:, 1]).join()
    totals = float(spans.observed.sum()), float(spans.expected.sum())
    labelled = Labelled(evidence, sample, p)
    ranked = not outcomes.entry.any() and outcomes.event.any()
    quality = EventQuality(
        event=outcomes.event_name,
        duration=outcomes.time_name,
        observed=totals[0],
        expected=totals[1],
        in_the_large=event_ratio(*totals, COVERAGE),
        slope=Bounded(NAN),
        concordance=concordance(outcomes.event, outcomes.duration, model.predict_risk(table))
        if ranked
        else NAN,
        spans=tuple(spans.shown()),
    )
    return _check(quality, spans, labelled, model.time_name_)


def _check(quality: EventQuality, spans: _Spans, rows: Labelled, time: str) -> OutcomeChecks:
    """The checks of events; `time` is the name of the model's table of time."""
    if not quality.expected > 0:  # no row has been at risk so far
        return OutcomeChecks([], [quality])
    total = check_ratio("events", quality.observed, quality.expected, float(spans.before.sum()))
    if quality.observed < FEW_EVENTS:
        return OutcomeChecks([total], [quality])
    fitted, (_, slope) = measure(rows, 1)
    checks = [total, slope, *spans.check()]
    held, moved = compare_weights(rows, 1, fitted.in_the_large.value)
    checks += [check for check in held if check.name != time]  # spans check it
    moved = [one for one in moved if one.feature != time]
    return OutcomeChecks(checks, [replace(quality, slope=fitted.slope)], moved)


def check_ratio(name: str, observed: float, expected: float, before: float) -> Check:
    """Check observed against expected events, for a model fitted to `before` events.

    The model expects in its training rows as many events as there were. So without drift, the
    events of the new rows are binomial given those of both samples. The index is the squared
    logarithm of observed over expected.
    """
    share = expected / (expected + before)
    least = float(betainc(observed, before + 1, share)) if observed > 0 else 1.0
    most = float(1 - betainc(observed + 1, before, share)) if before > 0 else 1.0
    index = float(np.log((observed + HALF) / (expected + HALF))) ** 2
    chance = 1 / (expected + HALF) + 1 / (before + HALF)
    return Check(name, "in the large", index, chance, min(1.0, 2 * min(least, most)))


@dataclass(frozen=True, eq=False)
class _Spans:
    """By span of time: its end, observed and expected events, and events in training."""

    until: Floats
    observed: Floats
    expected: Floats
    before: Floats

    @classmethod
    def of(cls, model: Any, period: Any, event: Any, expected: Floats) -> _Spans:
        """The spans of single periods."""
        ends = model._periods.ends
        n = len(ends)
        events, wanted = (
            np.bincount(period, own, n).astype(np.float64) for own in (event, expected)
        )
        return cls(ends, events, wanted, _count_training(model, n))

    def join(self) -> _Spans:
        """At most `SPANS` spans with about equally many expected events; none without any."""
        if not self.expected.sum() > 0:
            return _Spans(*[np.empty(0)] * 4)
        n = max(min(SPANS, int(self.observed.sum() // (2 * FEWEST))), 1)
        done = np.cumsum(self.expected) / self.expected.sum()
        place = np.minimum((done * n - 1e-9).astype(np.int64), n - 1)
        used, place = np.unique(place, return_inverse=True)
        last = np.flatnonzero(np.append(place[1:] != place[:-1], True))
        sums = [
            np.bincount(place, own, len(used)).astype(np.float64)
            for own in (self.observed, self.expected, self.before)
        ]
        return _Spans(self.until[last], *sums)

    def shown(self) -> list[Span]:
        """The spans with observed over expected, for display."""
        parts = zip(
            self.until.tolist(), self.observed.tolist(), self.expected.tolist(), strict=True
        )
        return [Span(*part, event_ratio(*part[1:], COVERAGE)) for part in parts]

    def check(self) -> list[Check]:
        """Check the distribution of the events over time, whatever their total.

        chi-square = sum over spans of (O - r E)^2 / (r E + (r E)^2/N), with r = sum of O over that
        of E, and N the training events of the span, from which its hazard was estimated.
        """
        if len(self.until) < 2 or (self.before <= 0).any():
            return []
        wanted = self.expected * self.observed.sum() / self.expected.sum()
        parts = (self.observed - wanted) ** 2 / (wanted + wanted**2 / self.before)
        p_value = float(chi2.sf(parts.sum(), len(parts) - 1))
        share = wanted / wanted.sum()
        index = float(share @ np.log((self.observed + HALF) / (wanted + HALF)) ** 2)
        chance = float(share @ (1 / wanted + 1 / self.before))
        return [Check("events by time", "time", index, chance, p_value)]


def _count_training(model: Any, n_periods: int) -> Floats:
    """The events of training by period, from the table of time."""
    if model.time_name_ not in model.evidence_:  # one period, or time is part of a cross
        return np.full(n_periods, float(model.evidence_.class_counts[1]) / n_periods)
    return np.asarray(model.evidence_[model.time_name_].counts[:n_periods, 1])
