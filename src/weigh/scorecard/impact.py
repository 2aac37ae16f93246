"""Adverse impact: the approval rate of each group at a cut-off, against the highest."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.bins import label
from weigh.frames import Table, build
from weigh.layout import Grid, Shown, View
from weigh.parameters import is_number
from weigh.scorecard.bands import spell_count

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard

FOUR_FIFTHS = 0.8
"""A ratio of approval rates below this is regarded as a sign of adverse impact."""
COVERAGE = 0.95
SMALL = 30
"""Rates of groups with fewer rows are marked as unreliable."""


@dataclass(frozen=True)
class Approval:
    """The cases of one group, how many are approved, and their rate against the reference.

    `ratio` has a 95% interval from `low` to `high`; both are None for the
    reference itself, and without approved cases in it.
    """

    group: str
    rows: float
    approved: float
    ratio: float | None
    low: float | None = None
    high: float | None = None

    @property
    def rate(self) -> float:
        """The share of the group that is approved."""
        return self.approved / self.rows


@dataclass(frozen=True, eq=False, repr=False)
class Impact(Shown):
    """Approval rates by group at a cut-off; the ratio compares each with the reference group."""

    by: str
    cut_off: float
    reference: str
    groups: tuple[Approval, ...]
    backend: str | None = None

    @property
    def below_four_fifths(self) -> tuple[str, ...]:
        """Groups whose approval rate is below four fifths of the reference's."""
        found = [g for g in self.groups if g.ratio is not None and g.ratio < FOUR_FIFTHS]
        return tuple(g.group for g in found)

    @property
    def small(self) -> tuple[str, ...]:
        """Groups with fewer than 30 rows."""
        return tuple(g.group for g in self.groups if g.rows < SMALL)

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as plain data."""
        names = ("group", "rows", "approved", "rate", "ratio", "low", "high")
        return {name: [getattr(group, name) for group in self.groups] for name in names}

    def to_frame(self) -> Any:
        """One row per group."""
        return build(self.to_dict(), self.backend)

    def view(self) -> View:
        """The table as data for text and pages."""
        head = (self.by, "Rows", "Approved", "Approval rate", "Ratio", "95% interval")
        rows = tuple(
            (
                g.group,
                spell_count(g.rows),
                spell_count(g.approved),
                f"{100 * g.rate:.1f}%",
                "" if g.ratio is None else f"{g.ratio:.2f}",
                "" if g.low is None else f"{g.low:.2f} to {g.high:.2f}",
            )
            for g in self.groups
        )
        title = f"Approval by {self.by} at a cut-off of {self.cut_off:g}"
        return View(title, (Grid(head, rows),), notes=self._notes())

    def _notes(self) -> tuple[str, ...]:
        below = ", ".join(self.below_four_fifths) or "none"
        told = (
            f"Ratio is the approval rate divided by that of {self.reference}. The four-fifths rule "
            f"takes a ratio below 0.80 as a sign of adverse impact: {below}. It is no test: look "
            "at the interval, too."
        )
        if not any(g.approved for g in self.groups):
            told = "No group has an approved case, so there are no ratios."
        elif all(g.ratio is None for g in self.groups):
            told = f"{self.reference} has no approved case, so there are no ratios."
        if not self.small:
            return (told,)
        names = ", ".join(self.small)
        return told, f"Fewer than {SMALL} rows, so the rate is unreliable: {names}."


def measure_impact(card: Scorecard, table: Table, by: Any, cut_off: Any, reference: Any) -> Impact:
    """The groups of rows, and how many have a score of at least the cut-off."""
    from weigh.evaluation.groups import Grouping  # which loads plots and scikit-learn

    if not (is_number(cut_off) and isfinite(cut_off)):
        raise ValueError(f"cut_off must be a score, a finite number, got {cut_off!r}")
    grouping = Grouping.of(table, by)
    approved = card._add(card._match(table)) >= cut_off
    counts: dict[str, tuple[float, float]] = {}
    for group, rows in grouping.split(np.arange(table.n_rows), None):
        counts[group] = float(len(rows)), float(approved[rows].sum())
    if reference is None:
        reference = max(counts, key=lambda group: counts[group][1] / counts[group][0])
    reference = label(reference)
    if reference not in counts:
        groups = f"{grouping.name}: {', '.join(counts)}"
        raise ValueError(f"reference {reference!r} is not a group of {groups}")
    compared = tuple(
        compare_rates(group, *own, *counts[reference], same=group == reference)
        for group, own in counts.items()
    )
    backend = table.backend or card._source.backend
    return Impact(grouping.name, float(cut_off), reference, compared, backend)


def compare_rates(
    group: str, rows: float, approved: float, all_rows: float, all_approved: float, *, same: bool
) -> Approval:
    """A rate divided by another, with an interval that is symmetric in its logarithm.

    variance of ln ratio = 1/approved - 1/rows + 1/approved' - 1/rows'        (Katz et al. 1978)

    Where all or none of a group are approved, the interval is that of half a case more approved and
    half a case more refused in both groups.
    """
    from weigh.metrics.numbers import normal_quantile  # which loads scikit-learn

    if all_approved == 0:
        return Approval(group, rows, approved, None)
    ratio = (approved / rows) / (all_approved / all_rows)
    if same:
        return Approval(group, rows, approved, ratio)
    half = 0.5 if approved in (0, rows) or all_approved == all_rows else 0.0
    a, n, b, m = approved + half, rows + 2 * half, all_approved + half, all_rows + 2 * half
    reach = np.exp(normal_quantile(COVERAGE) * np.sqrt(1 / a - 1 / n + 1 / b - 1 / m))
    middle = (a / n) / (b / m)
    low, high = min(ratio, middle / reach), max(ratio, middle * reach)
    return Approval(group, rows, approved, ratio, float(low), float(high))
