"""Rows under observation: what happened to them by a time, and what their hazards expect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.evaluation.groups import LEAST
from weigh.metrics.numbers import Bounded
from weigh.metrics.survival import KaplanMeier, brier_scores
from weigh.survival.outcomes import Outcomes
from weigh.survival.periods import Periods, at_risk


@dataclass(frozen=True, eq=False)
class FollowUp:
    """Rows with their outcomes and hazards, observed from `start` or from a later entry.

    `logs` is log(1 - hazard) of each row and period. With late entry, the rows are no sample of
    those that began: who had an early event never entered. So all that is compared is conditional
    on the entry, or is a mean over the rows at risk at a time, on which Kaplan-Meier is based, too.
    """

    periods: Periods
    logs: Floats
    outcomes: Outcomes
    start: float = 0.0

    @classmethod
    def of(cls, model: Any, table: Any, outcomes: Outcomes) -> FollowUp:
        """Rows of a table, from the time at which enough of them are at risk."""
        every = cls(model._periods, model._logs(model._read(table)), outcomes)
        start = _find_start(outcomes)
        if not start:
            return every
        kept = np.flatnonzero(outcomes.duration > start)
        later = np.maximum(outcomes.entry[kept], start)
        rows = replace(outcomes.rows(kept), entry=later)
        return replace(every.take(kept), outcomes=rows, start=start)

    @property
    def first(self) -> float:
        """The first entry: up to then, no row is at risk."""
        return float(self.outcomes.entry.min())

    def take(self, places: Any) -> FollowUp:
        """Some of the rows."""
        return replace(self, logs=self.logs[places], outcomes=self.outcomes.rows(places))

    @property
    def known(self) -> KaplanMeier:
        """The Kaplan-Meier estimate of these rows, each at risk from its entry."""
        own = self.outcomes
        return KaplanMeier.of(own.event, own.duration, entry=own.entry)

    def survival(self, times: Floats) -> Floats:
        """Survival of each row to each time, given that it had no event by its entry."""
        before = self.periods.passed(self.outcomes.entry)[:, None]
        every = np.arange(len(self.periods.ends))
        entered = (self.logs * self.periods.shares(before, every)).sum(axis=1)
        reached = self.logs @ self.periods.shares(self.periods.passed(times), every[:, None])
        return np.asarray(np.exp(np.minimum(reached - entered[:, None], 0.0)))

    def observe(self, time: float, coverage: float) -> Bounded:
        """The share with the event by a time; not known if none or only some of the rows tell it.

        Up to the first entry none does. If all at risk had the event and others entered, the
        estimate stays at 1, whatever happens to those.
        """
        if time <= self.first:
            return Bounded(np.nan)
        found = self.known.bounded(time, coverage)
        gone = found.value == 1 and (self.outcomes.duration > time).any()
        return Bounded(np.nan) if gone else found

    def expect(self, times: Floats) -> Floats:
        """The share with the event by each time that the hazards expect.

        Without late entry it is the mean probability of the rows. Otherwise it is::

            1 - product over times u up to t of (1 - mean hazard at u of the rows at risk at u)

        and not known up to the first entry.
        """
        own = self.outcomes
        if not own.entry.any():
            return np.asarray(1 - self.survival(times).mean(axis=0))
        at, period, steps = self.periods.steps
        left = np.ones(len(at) + 1)
        for i in np.flatnonzero(at <= times.max()):
            risk = (own.entry < at[i]) & (own.duration >= at[i])
            if risk.any():
                left[i + 1] = np.exp(self.logs[risk, period[i]] * steps[i]).mean()
        found = 1 - np.cumprod(left)[np.searchsorted(at, times, "right")]
        return np.where(times > self.first, found, np.nan)

    def score(self, times: Floats) -> tuple[Floats, Floats]:
        """The Brier scores of the model at some times, and those of the Kaplan-Meier estimate."""
        own, starts = self.outcomes, self.outcomes.entry
        alone = [self.known.between(starts, np.full(len(starts), time)) for time in times]
        rows = own.event, own.duration
        model, base = (
            brier_scores(*rows, survival, times, starts)
            for survival in (self.survival(times), np.column_stack(alone))
        )
        return model, base


def _find_start(outcomes: Outcomes) -> float:
    """The last early time of an event at which too few rows were at risk; 0 if there is none.

    Early means before most rows are at risk. From few rows, Kaplan-Meier would be a poor estimate
    at all later times, too.
    """
    times, ones = np.unique(outcomes.duration[outcomes.event]), np.ones(len(outcomes.event))
    risk = at_risk(times, outcomes.duration, ones) - at_risk(times, outcomes.entry, ones)
    few = np.flatnonzero(risk[: risk.argmax()] < LEAST)
    return float(times[few[-1]]) if len(few) else 0.0
