"""Numeric estimates: the curve from totals to estimates, and the balance sheet of one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logit

from weigh.evidence import DerivedModel, Evidence
from weigh.frames import Floats, Table
from weigh.sheet import COVERAGE, EstimateSheet, Push, items_of


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(DerivedModel):
    """Weights that raise or lower the estimate, and the curve from totals to estimates.

    `levels` are the log odds that the target is at or below each of `points`, before any feature is
    seen. The estimate for a total w is the smallest point whose level is at least w. Between points
    the curve is linear, or constant if `steps`.
    """

    evidence: Evidence
    points: Floats
    levels: Floats
    steps: bool
    scale: float = 1.0
    backend: str | None = None
    columns: tuple[str, ...] = ()

    def total(self, table: Table) -> Floats:
        """Sum of the weights of evidence of each row."""
        return self.evidence.total(table)[:, 0]

    def read_off(self, totals: Floats) -> Floats:
        """Estimates for totals, read from the curve."""
        if self.steps:
            place = np.searchsorted(self.levels, totals - 1e-12, side="left")
            return np.asarray(self.points[np.minimum(place, len(self.points) - 1)])
        return np.interp(totals, self.levels, self.points)

    def quantile(self, totals: Floats, log_odds: float) -> Floats:
        """Point that the target is at or below with the given log odds."""
        return self.read_off(totals + log_odds / self.scale)

    def remember(self, columns: tuple[str, ...], backend: str | None) -> Estimate:
        """Copy with the names of the columns and the dataframe library of the training table."""
        evidence = replace(self.evidence, columns=columns, backend=backend)
        return replace(self, evidence=evidence, columns=columns, backend=backend)

    def to_frame(self) -> Any:
        """Dataframe with one row per level."""
        return self.evidence.to_frame()


def log_odds_below(points: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Distinct points in order, and the log odds of a row being at or below each."""
    distinct, places = np.unique(points, return_inverse=True)
    share = np.cumsum(np.bincount(places, weight, len(distinct))) / weight.sum()
    share[-1] = 1.0
    with np.errstate(divide="ignore"):
        return distinct, np.log(share) - np.log1p(-share)


def explain_estimate(estimate: Estimate, table: Table) -> EstimateSheet:
    """Balance sheet of a table's only row."""
    items = sorted(items_of(estimate.evidence, table), key=lambda item: -abs(item.weight))
    total = estimate.total(table)
    start, end = (float(way) for way in estimate.read_off(np.array([0.0, total[0]])))
    per_weight = _slope(estimate, float(total[0]), end - start)
    reach = float(logit((1 + COVERAGE) / 2))
    low, high = (float(estimate.quantile(total, odds)[0]) for odds in (-reach, reach))
    return EstimateSheet(
        start=start,
        pushes=tuple(Push(str(i), i.weight, i.weight * per_weight) for i in items),
        estimate=end,
        interval=(low, high),
    )


def _slope(estimate: Estimate, total: float, way: float) -> float:
    """Change of the estimate per unit of weight; the slope at 0 if the weights cancel."""
    if abs(total) > 1e-9:
        return way / total
    near = estimate.read_off(np.array([-0.01, 0.01]))
    return float(near[1] - near[0]) / 0.02
