"""What a panel shows of one table: levels in their order, an axis of numbers, or a map of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from weigh.bins import Cross, Feature, Interval
from weigh.evidence import FeatureTable
from weigh.frames import Floats, Integers
from weigh.plot.axis_limits import ALLOWED, usual_weights
from weigh.plot.classes import Question
from weigh.plot.labels import brief_labels
from weigh.shapes import NumberAxis
from weigh.sheet import COVERAGE

MOST_LEVELS = 30
LETTER, LABEL = 0.072, 0.16
"""Inches of a small letter, and of the height of a label with air."""

REACH = float(ndtri((1 + COVERAGE) / 2))
ORDERS = ("weight", "own")


@dataclass(frozen=True, eq=False)
class Panel:
    """The levels of a table that are drawn; weights and intervals are times 100.

    `half` is half of the interval's length, by level and line. Of a number the first levels are its
    intervals, which stand on `axis`; codes and missing follow.
    """

    name: str
    labels: tuple[str, ...]
    weights: Floats
    half: Floats | None
    share: Floats
    axis: NumberAxis | None
    left_out: int
    cross: Cross | None
    places: Integers

    @property
    def is_grid(self) -> bool:
        """Whether it is drawn as a heat map: two features, and one line of weights."""
        return self.cross is not None and self.weights.shape[1] == 1

    @property
    def n_intervals(self) -> int:
        """How many of the levels stand on the axis."""
        return 0 if self.axis is None else len(self.axis.cuts) + 1

    @property
    def is_noise(self) -> Any:
        """Which weights may well be zero: their interval holds it."""
        if self.half is None:
            return np.zeros(self.weights.shape, dtype=bool)
        return np.abs(self.weights) < np.nan_to_num(self.half, nan=np.inf)


@dataclass(frozen=True)
class Room:
    """What a panel has room for: the inches that it takes in all, and the letters of a label."""

    width: float
    height: float
    letters: int

    def left_of(self, labels: Sequence[str]) -> float:
        """The width that labels beside the axes leave."""
        return self.width - LETTER * max(map(len, labels), default=0) - 0.1


def panel_of(
    table: FeatureTable, question: Question, most: int = MOST_LEVELS, order: str = "weight"
) -> Panel:
    """The levels to draw: all intervals, and of too many categories those with the most rows."""
    share, feature, weights = table.share, table.feature, 100 * question.weights(table)
    kept, axis = _kept(table, len(question.signs), most), None
    if isinstance(feature, Feature) and feature.cuts:
        axis = NumberAxis.of(feature.cuts)
    elif order == "weight" and weights.shape[1] == 1 and _may_sort(feature):
        kept = kept[np.argsort(-weights[kept, 0], kind="stable")]
    errors = question.errors(table)
    known = errors is not None and bool(np.isfinite(errors[kept]).any())
    occur = share > 0
    return Panel(
        name=f"{table.shown} ({table.note})" if table.note else table.shown,
        labels=tuple(brief_labels(feature)[i] for i in kept),
        weights=weights[kept],
        half=100 * REACH * errors[kept] if known and errors is not None else None,
        share=share[kept],
        axis=axis,
        left_out=int(occur.sum() - occur[kept].sum()),
        cross=feature if isinstance(feature, Cross) else None,
        places=kept,
    )


def _may_sort(feature: Feature | Cross) -> bool:
    """Whether levels may be drawn by weight: ordered categories and pairs keep their order."""
    return isinstance(feature, Feature) and not feature.ordered


def _kept(table: FeatureTable, n_lines: int, most: int) -> Integers:
    """Intervals, and other levels that rows have; pairs are kept whole where they are a map."""
    is_interval = np.array([isinstance(level, Interval) for level in table.levels], dtype=bool)
    places = np.flatnonzero((table.share > 0) | is_interval)
    free = places[~is_interval[places]]
    if len(free) <= most or (isinstance(table.feature, Cross) and n_lines == 1):
        return places
    kept = free[np.argsort(-table.share[free], kind="stable")[:most]]
    return np.sort(np.concatenate([places[is_interval[places]], kept]))


def limits_of(panels: Sequence[Panel]) -> tuple[float, float]:
    """The axis that panels share: around what most rows have, and not much further for the rest."""
    drawn = [panel for panel in panels if not panel.is_grid] or [*panels]
    lines = [(line, panel.share) for panel in drawn for line in panel.weights.T]
    usual = np.concatenate([[0.0], *(usual_weights(*line) for line in lines)])
    ends = np.concatenate([[0.0], *(_ends(panel) for panel in drawn)])
    more = max(0.5 * float(np.ptp(usual)), 100 * ALLOWED)
    low, high = max(ends.min(), usual.min() - more), min(ends.max(), usual.max() + more)
    margin = 0.04 * (high - low) + 0.5
    return float(low - margin), float(high + margin)


def _ends(panel: Panel) -> Floats:
    half = 0.0 if panel.half is None else np.nan_to_num(panel.half)
    return np.concatenate([(panel.weights - half).ravel(), (panel.weights + half).ravel()])
