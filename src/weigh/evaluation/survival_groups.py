"""Measures of survival models by group: observed and expected events, and concordance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.evaluation.groups import LEAST, Grouping
from weigh.evaluation.page import Section
from weigh.evaluation.show import bounded, number
from weigh.frames import Floats, Integers
from weigh.layout import percent
from weigh.metrics.numbers import NAN, Bounded
from weigh.metrics.survival import concordance, event_ratio

if TYPE_CHECKING:
    from weigh.evaluation.survival import SurvivalEvaluation

SHOWN = 3
"""Most groups that the findings name."""


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

    event: Any
    duration: Floats
    observed: Floats
    expected: Floats
    risk: Floats

    def measure(self, name: str, places: Integers, coverage: float) -> SurvivalGroup:
        """The measures of some of the rows as one group."""
        observed, expected = (float(own[places].sum()) for own in (self.observed, self.expected))
        n = int(self.event[places].sum())
        enough = n >= LEAST
        ranked = (self.event, self.duration, self.risk)
        return SurvivalGroup(
            name=name,
            n_rows=len(places),
            observed=int(observed),
            expected=expected,
            ratio=event_ratio(observed, expected, coverage),
            concordance=concordance(*(own[places] for own in ranked)) if enough else NAN,
            note="" if enough else f"too few events for concordance: {n}, and {LEAST} are needed",
        )


def measure_survival_groups(
    grouping: Grouping, rows: Followed, coverage: float
) -> tuple[tuple[SurvivalGroup, ...], SurvivalGroup]:
    """Measures of every group, in the order of its values, and of all rows together."""
    n = len(rows.expected)
    parts = grouping.split(np.ones(n, dtype=np.bool_), None)
    found = [rows.measure(name, places, coverage) for name, places in parts]
    return tuple(found), rows.measure("All rows", np.arange(n), coverage)


# ------------------------------------------------------------ sentences and tables


def tell_groups(found: SurvivalEvaluation) -> str:
    """A sentence about groups with significantly more or fewer events than expected."""
    off = [g for g in found.groups if g.ratio.has_interval() and not g.ratio.holds(1.0)]
    if not off:
        return ""
    off.sort(key=lambda group: -group.expected)
    told = [f"{g.name} ({g.observed:,} observed, {g.expected:,.1f} expected)" for g in off[:SHOWN]]
    more = f" and {len(off) - SHOWN} more" if len(off) > SHOWN else ""
    chance = f"{(1 - found.coverage) * len(found.groups):.1g}"
    return (
        f"Groups with more or fewer events than expected: {'; '.join(told)}{more}. By chance alone "
        f"about {chance} of {len(found.groups)} would be listed."
    )


def show_groups(found: SurvivalEvaluation) -> tuple[Section, ...]:
    """The table of the groups, whose last line is all rows; empty without groups."""
    if found.all_rows is None:
        return ()
    lines = (*found.groups, found.all_rows)
    rows = tuple(
        (
            group.name,
            f"{group.n_rows:,}",
            f"{group.observed:,}",
            f"{group.expected:,.1f}",
            bounded(group.ratio, 2),
            number(group.concordance, 3),
        )
        for group in lines
    )
    ratio = f"Observed/expected ({percent(found.coverage)} interval)"
    head = (found.by, "Rows", "Observed", "Expected", ratio, "Concordance")
    notes = tuple(f"{group.name}: {group.note}." for group in lines if group.note)
    late = found.n_events - found.all_rows.observed
    if late:
        notes = (*notes, f"Events after the model's last period, which are not counted: {late:,}.")
    return (Section(f"Observed and expected events, by {found.by}", head, rows, notes),)
