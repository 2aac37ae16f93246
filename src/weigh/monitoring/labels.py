"""Checks of calibration and weights on new rows with known classes, or with known events.

Each class is checked against the rest. The event of a survival model is a class of rows by period.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import betainc, expit, logit, ndtr
from scipy.stats import chi2

from weigh.arrays import Floats
from weigh.bins import label
from weigh.evaluation import Bounded
from weigh.evidence import BOUND, Evidence, FeatureTable
from weigh.frames import Sample, Value
from weigh.metrics import COVERAGE, Scored, auc, calibration_line
from weigh.metrics.numbers import NAN
from weigh.metrics.stability import compare_counts
from weigh.metrics.survival import concordance, event_ratio
from weigh.monitoring.checks import (
    FEWEST,
    Check,
    check_normal,
    compare_samples,
    expected_index,
)
from weigh.monitoring.counts import sum_by_level
from weigh.survival.periods import read_survival

HALF = 0.5
"""Pseudo-count, so that a level without rows of a class has a finite weight."""


@dataclass(frozen=True)
class Quality:
    """Quality of the probabilities of one class on the new rows, with 95% intervals.

    As in `evaluate`, the intervals account for the noise of the new rows only.
    """

    pos_label: Value
    base_rate: float
    mean_prediction: float
    in_the_large: Bounded
    slope: Bounded
    auc: Bounded
    wanted_rate: float  # the class frequency for `with_prior` that corrects `in_the_large`


@dataclass(frozen=True)
class Moved:
    """The change of the weight of one level, for one class, and its standard error.

    The p-value is adjusted for all levels of all tables.
    """

    feature: str
    level: str
    pos_label: Value
    change: float
    error: float
    p_value: float


@dataclass(frozen=True)
class OutcomeChecks:
    """The checks, quality and moved weights from known labels, numbers or events."""

    checks: list[Check] = field(default_factory=list)
    quality: list[Any] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Labelled:
    """New rows with known classes and predicted probabilities."""

    evidence: Evidence
    sample: Sample
    probabilities: Floats

    @property
    def classes(self) -> list[Value]:
        """The labels of the classes."""
        return self.evidence.classes.tolist()  # type: ignore[no-any-return]

    @property
    def places(self) -> Sequence[int]:
        """The indices of the classes to check: the second of two, or every one."""
        return [1] if len(self.evidence.classes) == 2 else range(len(self.evidence.classes))

    @property
    def weight(self) -> Floats:
        """The weights of the rows."""
        own = self.sample.weight
        return np.ones(len(self.sample.labels)) if own is None else own

    @property
    def inflation(self) -> float:
        """1 + n/N, the factor of variances in tests: training rows have sampling noise too."""
        return 1 + float(self.weight.sum()) / float(self.evidence.class_counts.sum())

    def name(self, what: str, c: int) -> str:
        """The name of a check, with its class if several are checked."""
        named = f" of {label(self.classes[c])}" if len(self.places) > 1 else ""
        return what + named


def check_labels(evidence: Evidence, sample: Sample) -> OutcomeChecks:
    """Check class frequencies, calibration and weights on new rows with known classes."""
    rows = Labelled(evidence, sample, evidence.probabilities(evidence.total(sample.table)))
    known = OutcomeChecks([_check_classes(evidence, sample)])
    for c in rows.places:
        quality, checks = measure(rows, c)
        known.quality.append(quality)
        known.checks.extend(checks)
        shift = quality.in_the_large.value
        if np.isfinite(shift):
            held, moved = compare_weights(rows, c, shift)
            known.checks.extend(held)
            known.moved.extend(moved)
    return known


def _check_classes(evidence: Evidence, sample: Sample) -> Check:
    """A check of the class frequencies against those of training, or of the prior if it was set."""
    n_old, new = float(evidence.class_counts.sum()), sample.class_counts
    given = evidence.given_rate
    old = evidence.class_counts if given is None else given * n_old
    names = [label(c) for c in evidence.classes.tolist()]
    index = compare_counts(names, old, new).value
    chance = expected_index(len(old), n_old, float(new.sum()))
    return Check("class frequencies", "classes", index, chance, compare_samples(old, new))


def measure(rows: Labelled, c: int) -> tuple[Quality, list[Check]]:
    """Calibration in the large, slope and AUC of one class, and the checks of the first two."""
    p = np.clip(rows.probabilities[:, c], BOUND, 1 - BOUND)
    scored = Scored(rows.sample.labels == c, p, rows.sample.weight)
    line, area, more = calibration_line(scored), auc(scored), np.sqrt(rows.inflation)
    large_error, slope_error = line.in_the_large_error * more, line.slope_error * more
    rate = float(np.clip(rows.evidence.assumed_rate[c], BOUND, 1 - BOUND))
    quality = Quality(
        pos_label=rows.classes[c],
        base_rate=float(np.average(scored.positive, weights=rows.weight)),
        mean_prediction=float(np.average(p, weights=rows.weight)),
        in_the_large=Bounded.normal(line.in_the_large, line.in_the_large_error, COVERAGE),
        slope=Bounded.normal(line.slope, line.slope_error, COVERAGE),
        auc=Bounded(area.value, area.low, area.high),
        wanted_rate=float(expit(logit(rate) + line.in_the_large)),
    )
    large = rows.name("calibration in the large", c), "in the large"
    slope, spread = (rows.name("calibration slope", c), "slope"), _spread(logit(p), rows.weight)
    return quality, [
        check_normal(*large, line.in_the_large, large_error),
        check_normal(*slope, line.slope - 1, slope_error, spread),
    ]


def _spread(values: Floats, weight: Floats) -> float:
    """The weighted standard deviation."""
    centred = values - np.average(values, weights=weight)
    return float(np.sqrt(np.average(centred**2, weights=weight)))


def compare_weights(rows: Labelled, c: int, shift: float) -> tuple[list[Check], list[Moved]]:
    """Check for each table whether its weights of one class have changed, and by how much.

    `shift` is calibration in the large; it is removed first, because a new prior would correct it.
    """
    p = expit(logit(np.clip(rows.probabilities[:, c], BOUND, 1 - BOUND)) + shift)
    true = (rows.sample.labels == c).astype(np.float64)
    columns = np.column_stack([np.ones(len(p)), true, p, p * (1 - p)]) * rows.weight[:, None]
    sums = sum_by_level(rows.sample.table, rows.evidence, columns)
    n_levels = sum(map(len, sums)) * len(rows.places)
    checks, moved = [], []
    for table, found in zip(rows.evidence, sums, strict=True):
        joint = table.known_errors is not None
        change, variance = (_step if joint else _recount)(table, found, c)
        known = np.flatnonzero((variance > 0) & np.isfinite(variance) & (found[:, 0] > 0))
        change, variance, share = (
            change[known],
            variance[known],
            found[known, 0] / rows.weight.sum(),
        )
        p_values = 2 * ndtr(-np.abs(change) / np.sqrt(variance))
        least = min(1.0, float(p_values.min(initial=1.0)) * max(len(known), 1))
        index, chance = float(share @ change**2), float(share @ variance)
        checks.append(Check(rows.name(table.name, c), "weights", index, chance, least))
        errors, adjusted = np.sqrt(variance), np.minimum(p_values * n_levels, 1.0)
        for v, *numbers in zip(
            known, change.tolist(), errors.tolist(), adjusted.tolist(), strict=True
        ):
            moved.append(Moved(table.name, table.labels[v], rows.classes[c], *numbers))
    return checks, moved


def _step(table: FeatureTable, found: Floats, c: int) -> tuple[Floats, Floats]:
    """The changes of weights that were fitted jointly: one Newton step each, all others fixed.

    change_v = sum of (y - p) / sum of p (1 - p), over the new rows of level v

    The sum of a level with few rows of either class is far from normal: its variance is infinite,
    so it is not checked.
    """
    _, true, p, spread = found.T
    known = spread >= FEWEST
    change = np.divide(true - p, spread, out=np.zeros(len(p)), where=known)
    inverse = np.divide(1.0, spread, out=np.full(len(p), np.inf), where=known)
    assert table.known_errors is not None
    errors = table.known_errors[:, 0 if table.known_errors.shape[1] == 1 else c]
    return change, inverse + np.nan_to_num(errors) ** 2


def _recount(table: FeatureTable, found: Floats, c: int) -> tuple[Floats, Floats]:
    """The changes of weights that follow from counts: weight of evidence now minus in training.

    w_v = ln P(v|c)/P(v|rest), from the counts alone, whatever the learner made of them
    """
    new = np.column_stack([found[:, 1], found[:, 0] - found[:, 1]])
    old = np.column_stack([table.counts[:, c], table.counts.sum(axis=1) - table.counts[:, c]])
    change, variance = np.zeros(len(new)), np.zeros(len(new))
    for sign, counts in ((1, new), (-1, old)):
        whole = counts.sum(axis=0) + HALF
        level = np.minimum(counts + HALF, whole)
        logs = np.log(level / whole)
        change += sign * (logs[:, 0] - logs[:, 1])
        variance += (1 / level - 1 / whole).sum(axis=1)
    return change, variance


# ------------------------------------------------------------ events

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
    known = outcomes.event, outcomes.duration, model.predict_risk(table), outcomes.entry
    quality = EventQuality(
        event=outcomes.event_name,
        duration=outcomes.time_name,
        observed=totals[0],
        expected=totals[1],
        in_the_large=event_ratio(*totals, COVERAGE),
        slope=Bounded(NAN),
        concordance=concordance(*known) if outcomes.event.any() else NAN,
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
