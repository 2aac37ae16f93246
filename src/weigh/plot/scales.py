"""A model as points to add up: the numbers behind a nomogram, and its scales as rows of axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit, logit

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature, printable
from weigh.chart_data import outline
from weigh.evidence import Evidence, FeatureTable, Recalibration
from weigh.evidence.units import Units
from weigh.plot.axes import (
    FAINT,
    FOR,
    TOTAL,
    brief_labels,
    fit_all,
    usual_weights,
    width_of,
    wrap,
)
from weigh.plot.selection import Choice, WeightLine

MOST_NAMED, FEW = 24, 8
"""Maximum number of bins with a label on the scale of a feature, where they fit; a number of levels
with clear labels also at a distance from their ticks.
"""


@dataclass(frozen=True, eq=False)
class FeatureScale:
    """The levels of a feature, in points; `within` marks those that lie on the scale.

    `levels` holds their indices among the feature's levels. An answer that is not known or was not
    seen in training is no level and weighs nothing. Its index is the number of levels, and its
    position here is `no_level`, the last.
    """

    name: str
    levels: tuple[int, ...]
    labels: tuple[str, ...]
    points: Floats
    share: Floats
    within: np.ndarray[Any, np.dtype[np.bool_]]
    no_level: int
    named: np.ndarray[Any, np.dtype[np.bool_]]  # with many bins, a few of them

    @property
    def length(self) -> float:
        """The points of the highest level on the scale."""
        return float(self.points[self.within].max())

    @property
    def lowest(self) -> float:
        """The points of the lowest level on the scale: 0 but for a scorecard."""
        return float(self.points[self.within].min())

    @property
    def mean(self) -> float:
        """The mean points of the training rows."""
        return float(self.share @ self.points)


@dataclass(frozen=True, eq=False)
class PointScales:
    """A scale of points for each feature, and the map from a row's total to a probability.

    log odds = start + per_point (the points of the row's levels)

    With the `link` "identity" or "log" of a regressor, it is the estimate or its logarithm in place
    of the log odds.

    If the model's exponent depends on the number of answers of a row, `start` and `per_point` are
    those of a row with `answers` answers.

    Of a scorecard, with the units `card`, the points are its own. The total is the score: the base
    points, the points of the levels, and the mean of the features that are not drawn; `added` is
    the sum of the first and the last.

    The features of `rest` are not drawn; `start` includes their mean. If the model recalibrates,
    `curve` maps these log odds, times `sign` (log odds of the second class), to recalibrated ones.
    """

    scales: tuple[FeatureScale, ...]
    rest: tuple[FeatureScale, ...]
    start: float
    per_point: float
    sign: float = 1.0
    curve: Recalibration | None = None
    answers: int | None = None
    link: str = "logistic"
    card: Units | None = None
    added: float = 0.0

    def estimate(self, total: Floats) -> Floats:
        """The estimate of a regressor at a total of points."""
        found = self.start + self.per_point * np.asarray(total)
        return np.asarray(np.exp(found) if self.link == "log" else found)

    def total_of(self, estimate: Floats) -> Floats:
        """The total of points at an estimate of a regressor."""
        found = np.log(estimate) if self.link == "log" else np.asarray(estimate)
        return np.asarray((found - self.start) / self.per_point)

    def probability(self, total: Floats) -> Floats:
        """The probability at a total of points."""
        log_odds = self.start + self.per_point * total
        if self.curve is not None:
            log_odds = self.sign * self.curve.apply(self.sign * log_odds)
        return np.asarray(expit(log_odds))

    def total(self, probability: Floats) -> Floats:
        """The total of points at a probability; infinite if no total has this probability."""
        log_odds = logit(probability)
        if self.curve is not None:
            log_odds = self.sign * _invert(self.curve, self.sign * log_odds)
        return np.asarray((log_odds - self.start) / self.per_point)

    @property
    def lowest(self) -> float:
        """The lowest total of levels on the scales."""
        return self.added + sum(scale.lowest for scale in self.scales)

    @property
    def highest(self) -> float:
        """The highest total of levels on the scales."""
        return self.added + sum(scale.length for scale in self.scales)

    @property
    def ends(self) -> tuple[float, float]:
        """The points at the ends of the scale that all features share."""
        if self.card is None:
            return 0.0, 100.0
        low, high = min(s.lowest for s in self.scales), max(s.length for s in self.scales)
        return (low, high) if low < high else (low, low + 1.0)

    def across(self, points: Any) -> Floats:
        """Positions of points on the shared scale, from 0 to 100."""
        low, high = self.ends
        return np.asarray(100 * (np.asarray(points) - low) / (high - low))


def _invert(curve: Recalibration, log_odds: Floats) -> Floats:
    """Totals whose recalibrated log odds are these; where several are, one of them."""
    if curve.method != "isotonic":
        return curve.inverse(log_odds)
    rate = expit(log_odds - curve.shift)
    return np.interp(rate, curve.levels, curve.points, left=-np.inf, right=np.inf)


def make_points(
    evidence: Evidence, question: WeightLine, choice: Choice, answers: int | None = None
) -> PointScales:
    """Points from 0 to 100: the lowest level of each feature has 0, the widest feature has 100.

    A scorecard keeps its own points.
    """
    drawn, rest = ([t for t in part if t.counts.any()] for part in (choice.drawn, choice.left_out))
    parts = [_levels(table, question) for table in (*drawn, *rest)]
    usual = [usual_weights(part.weights, part.share) for part in parts]
    allowed = question.allowed / abs(question.scale)
    more = max(*(0.5 * float(np.ptp(weights)) for weights in usual), allowed)
    near = [
        (part.weights >= weights.min() - more) & (part.weights <= weights.max() + more)
        for part, weights in zip(parts, usual, strict=True)
    ]
    if evidence.units.are_points:
        return _keep_points(evidence, question, parts, near, len(drawn))
    inside = [part.weights[mask] for part, mask in zip(parts, near, strict=True)]
    unit = float(max(map(np.ptp, inside))) / 100 or 0.01  # any unit, if all weights are zero
    scales = [
        part.scale(mask, float(weights.min()), unit)
        for part, weights, mask in zip(parts, inside, near, strict=True)
    ]
    n, lowest = len(drawn), float(sum(weights.min() for weights in inside))
    lowest += unit * sum(scale.mean for scale in scales[n:])
    sign, curve = float(question.signs[0, -1]), evidence.recalibration
    parted = tuple(scales[:n]), tuple(scales[n:])
    link = evidence.link if evidence.estimates else "logistic"
    points = PointScales(*parted, lowest, unit, sign, curve, link=link)
    return _from_prior(evidence, question, points, answers)


def _keep_points(
    evidence: Evidence, question: WeightLine, parts: list[_Levels], near: list[Any], n: int
) -> PointScales:
    """The scales of a scorecard: n of them are drawn, and the others are at their mean."""
    units, unit = evidence.units, 1 / question.scale
    scales = [part.scale(mask, 0.0, unit) for part, mask in zip(parts, near, strict=True)]
    added = units.total(float(evidence.prior_row[-1])) + sum(scale.mean for scale in scales[n:])
    sign, curve = float(question.signs[0, -1]), evidence.recalibration
    parted = tuple(scales[:n]), tuple(scales[n:])
    start = -unit * units.start
    return PointScales(*parted, start, unit, sign, curve, card=units, added=added)


@dataclass(frozen=True, eq=False)
class _Levels:
    """The levels of a feature that are drawn, with weights and shares of rows."""

    table: FeatureTable
    places: Integers
    weights: Floats
    share: Floats

    def scale(self, within: Any, lowest: float, unit: float) -> FeatureScale:
        n, points = len(self.table.levels), (self.weights - lowest) / unit
        labels = [*brief_labels(self.table.feature)]
        places = tuple(self.places.tolist())
        labels.append(_no_level(self.table.feature, labels))
        no_level = places.index(n)
        shown = tuple(labels[i] for i in places)
        named = self._named()
        return FeatureScale(
            self.table.shown, places, shown, points, self.share, within, no_level, named
        )

    def _named(self) -> Any:
        """The levels that may be labelled; with many bins, one per group that keeps the shape."""
        feature, named = self.table.feature, np.ones(len(self.places), dtype=bool)
        n_cuts = len(feature.cuts or ())
        bins = np.flatnonzero(self.places <= n_cuts) if n_cuts else np.empty(0, dtype=np.intp)
        if len(bins) > MOST_NAMED:
            groups = outline(self.weights[bins, None], self.share[bins], MOST_NAMED)
            named[bins] = False
            for group in groups:
                own = bins[group]
                named[own[self.share[own].argmax()]] = True
        return named


def _levels(table: FeatureTable, question: WeightLine) -> _Levels:
    """Levels with rows, other levels with a weight, and "no level"."""
    share, weights = np.append(table.share, 0.0), np.append(question.weights(table)[:, 0], 0.0)
    shown = (share > 0) | (weights != 0)
    shown[-1] = True  # any answer may be not known
    return _Levels(table, np.flatnonzero(shown), weights[shown], share[shown])


def _no_level(feature: Feature | Cross, taken: Sequence[str]) -> str:
    """The label of an answer that is no level; it differs from those of all levels."""
    name = "any other pair" if isinstance(feature, Cross) else "not known"
    return f"({name})" if name in taken else name


def _from_prior(
    evidence: Evidence, question: WeightLine, points: PointScales, answers: int | None
) -> PointScales:
    """Points with the prior added to `start`, and with the model's attenuation applied.

    The exponent is that of a row with `answers` answers, by default one to every feature.
    """
    sign, rule = question.signs[0], evidence.attenuation
    prior = float(sign @ evidence.prior_row)
    if rule is None:
        return replace(points, start=prior + points.start)
    if rule.form == "known":  # a nomogram has an answer to every question
        start = prior + points.start + float(sign @ rule.shift)
        return replace(points, start=start)
    answers = len(evidence) if answers is None else answers
    e = float(rule.exponent(np.array([float(answers)]))[0])
    own = e if rule.form == "root" else 1.0
    start = e * points.start + own * prior + float(sign @ rule.shift)
    return replace(points, start=start, per_point=e * points.per_point, answers=answers)


LARGE, SMALL = 8.0, 6.5
"""Font sizes in points, for high rows and for low rows."""

NAMES, RIGHT = 0.33, 0.06
"""Shares of the width: the maximum for names, and the margin right of the scales."""

LEAST, LINE, GAP, ASTRAY = 0.24, 0.15, 0.1, 0.08
"""Inches: the minimum height of a row, the height of a line of the footnote, the space between
labels, and the maximum distance of a label from its tick. Labels at the ends of a scale may be
farther away, to stay inside the figure.
"""

BOTH_SIDES, TWO_TIERS = 0.4, 0.64
"""Heights of a row in inches from which labels are also put below the line, and in two tiers."""

LONGEST = 0.2
"""The maximum width of a label, as a share of the scale."""


def rows_that_fit(size: tuple[float, float], foot: str) -> int:
    """The number of rows that fit into a width and height, above a footnote."""
    width, height = size
    return max(int((height - LINE * len(wrap(foot, width).splitlines())) / LEAST), 1)


def _slots(row: float) -> tuple[int, ...]:
    """The slots for labels in a row of this height: above (1, 2) and below (-1, -2) its line."""
    if row >= TWO_TIERS:
        return 1, -1, 2, -2
    return (1, -1) if row >= BOTH_SIDES else (1,)


Taken: TypeAlias = dict[int, list[tuple[float, float]]]
"""The parts of each slot of a row that labels already occupy."""


def find_slot(taken: Taken, slots: Sequence[int], middle: float, room: float) -> int:
    """Occupy the first slot with enough space on both sides of `middle`; 0 if there is none."""
    for slot in slots:
        others = taken.setdefault(slot, [])
        if all(middle + room <= a or b <= middle - room for a, b in others):
            others.append((middle - room, middle + room))
            return slot
    return 0


class ScaleRows:
    """Scales from 0 to 100, one per row, on axes whose own ticks and frame are turned off."""

    def __init__(self, ax: Any, size: tuple[float, float], names: Sequence[str], foot: str) -> None:
        ax.set_axis_off()
        self.ax, (width, height) = ax, size
        lines = wrap(foot, width).splitlines()
        row = max(height - LINE * len(lines), LEAST) / len(names)
        self.size = LARGE if row >= 0.3 else SMALL
        self.slots = _slots(row)
        names = fit_all([printable(name) for name in names], self.size, NAMES * width)
        left = max(width_of(name, self.size) for name in names) + 0.15
        self.inch = 100 / (width - left - RIGHT * width)  # units of the scale per inch
        ax.set_xlim(-left * self.inch, 100 + RIGHT * width * self.inch)
        ax.set_ylim(len(names) - 0.5 + LINE * len(lines) / row, -0.5)
        self._taken: dict[int, Taken] = {}
        look = {"fontsize": self.size, "parse_math": False}
        for i, name in enumerate(names):
            ax.text(-0.12 * self.inch, i, name, ha="right", va="center", **look)
        edge = ax.get_xlim()[0]
        ax.text(edge, len(names) - 0.5, "\n".join(lines), va="top", color=TOTAL, **look)

    def draw_grid(self, ticks: Floats, n_rows: int) -> None:
        """Draw light vertical lines from the top scale down."""
        self.ax.vlines(ticks, 0, n_rows + 0.3, color=FAINT, linewidth=0.8, zorder=0)

    def draw_axis(self, place: int, ticks: Floats, texts: Sequence[str]) -> None:
        """Draw a scale with numbers; where not all fit, every second or fourth."""
        self.draw_line(place, 0.0, 100.0)
        self.draw_ticks(place, ticks)
        for i in sorted(range(len(ticks)), key=lambda i: (i % 4 > 0, i % 2 > 0, i)):
            self.name_tick(place, ticks[i], texts[i], slots=(1,))

    def draw_line(self, place: int, start: float, end: float) -> None:
        """Draw the line that carries the ticks."""
        self.ax.hlines([place], start, end, color=TOTAL, linewidth=1.0, zorder=1)

    def draw_ticks(self, place: int, ticks: Floats, small: bool = False) -> None:
        """Draw ticks on the line; small ones have no label."""
        at, look = np.full(len(ticks), place), {"s": 10, "linewidth": 0.7} if small else {}
        look = {"s": 28, "linewidth": 1.2} | look
        self.ax.scatter(ticks, at, marker="|", color=FOR, zorder=2, **look)

    def draw_rings(self, place: int, ticks: Floats) -> None:
        """Draw rings on the line, for answers that are not known."""
        at = np.full(len(ticks), place)
        self.ax.scatter(ticks, at, s=20, facecolor="white", edgecolor=FOR, linewidth=1.2, zorder=3)

    def cut(self, labels: Sequence[str]) -> list[str]:
        """Shorten the labels of one scale to the maximum width, still distinct where possible."""
        return fit_all(labels, self.size, max(LONGEST * 100 / self.inch, 0.75)) if labels else []

    def name_tick(
        self,
        place: int,
        tick: float,
        text: str,
        slots: Sequence[int] | None = None,
        max_offset: float = ASTRAY,
    ) -> bool:
        """Write a label near a tick, above or below the line; return whether there was space."""
        half = width_of(text, self.size) * self.inch / 2
        middle = min(max(tick, half - 0.05 * self.inch), self.ax.get_xlim()[1] - half)
        if abs(middle - tick) > max_offset * self.inch and 0 < tick < 100:
            return False
        slots, taken = self.slots if slots is None else slots, self._taken.setdefault(place, {})
        slot = find_slot(taken, slots, middle, half + GAP * self.inch / 2)
        if slot:
            self._write(place, middle, text, slot)
        return bool(slot)

    def _write(self, place: int, middle: float, text: str, slot: int) -> None:
        away = 3.5 + (abs(slot) - 1) * (self.size + 1.5)
        self.ax.annotate(
            text,
            (middle, place),
            xytext=(0, away if slot > 0 else -away),
            textcoords="offset points",
            ha="center",
            va="bottom" if slot > 0 else "top",
            fontsize=self.size,
            parse_math=False,
        )

    def point_beyond(self, place: int, points: float, text: str) -> None:
        """Mark a level beyond the scale: an arrow at the edge, and its text if there is space."""
        edge, arrow = (100.0, "▶") if points > 0 else (0.0, "◀")
        self.ax.scatter([edge], [place], marker=">" if points > 0 else "<", s=22, color=FOR)
        self.name_tick(place, edge, f"{arrow} {text}")
