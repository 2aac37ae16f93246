"""A model as a nomogram: scales from which points are read and added up by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import Any, Self

import numpy as np

from weigh.arrays import Floats
from weigh.chart_data import round_numbers
from weigh.evidence import Evidence, evidence_of, is_sum, with_labels
from weigh.parameters import is_count
from weigh.plot.axes import Display, inches, width_of
from weigh.plot.scales import (
    ASTRAY,
    FEW,
    GAP,
    LARGE,
    LONGEST,
    FeatureScale,
    PointScales,
    ScaleRows,
    Taken,
    find_slot,
    make_points,
    rows_that_fit,
)
from weigh.plot.selection import after, ask, choose

ROW, TALL, MOST_LABELS = 0.48, 0.66, 60
"""Height of a feature's scale in inches, usually and with crowded labels; the maximum number of
labels to place.
"""

LONG = 40
"""Length in points from which a scale may have two lines of labels above it and two below."""

WIDE = 6.0
"""Approximate length in inches of the longest scale on a new figure."""

EXTREME = 0.001
"""The scale of totals ends at this probability and at one minus it."""

CHANCES = (0.5, 0.1, 0.9, 0.01, 0.99, 0.3, 0.7, 0.2, 0.8, 0.05, 0.95, 0.4, 0.6, 0.001, 0.999, 0.02)
"""Ticks of the scale of probabilities, the most important first."""

ROUND = (1, 2, 5, 3, 7, 1.5, 4, 6, 8, 9, 1.2, 2.5)
"""Digits of the ticks of a logarithmic scale of estimates, the most important first."""

WIDE_RATIO = 4.0
"""The ratio of the ends of a scale of estimates above which its ticks are those digits."""


class NomogramDisplay(Display):
    """Nomogram: points for each level, their total, and its probability or estimate.

    The scales satisfy::

        log odds = prior + weights = start + per_point (points of all levels)

    The lowest level of a feature has 0 points, and the widest feature reaches 100. A scorecard
    keeps its own points, and its base points and those of the levels add up to the score. Read the
    points of each level on the top scale, add them up, and read the probability below the total.
    The result is that of `predict_proba`. A ring marks an answer that is not known or was never
    seen in training: it weighs nothing, but that is rarely 0 points. The factor of `EducatedNB` for
    incomplete rows is left out, so a result with rings is approximate. A rare level far from the
    others is an arrow at the edge with its points in brackets. Labels that would overlap are left
    out; their ticks stay, and `points_` lists them all.

    Parameters
    ----------
    evidence : Evidence
        `evidence_` of a model.
    features : str or list of str, optional
        The features to draw, in this order. On small axes fewer fit.
    sort : "importance", "information_value" or None, default="importance"
        Order of the features, as in `EvidenceDisplay`.
    max_features : int, default=15
        Number of features to draw without `features`. The others are set to their mean over the
        training rows, and a footnote says how many points they could add.
    pos_label, against : label, optional
        Positive class; with more than two classes, also the class it is compared with.
    answers : int, optional
        For models whose exponent depends on the row (`PerplexedNB`): number of features with an
        answer. Default: all.
    labels : dict, optional
        Your names of columns, levels and classes, as in `report`.

    Attributes
    ----------
    points_ : Points
        The scales, and the map from their total to a probability.

    Examples
    --------
    >>> from weigh import EvidenceNB, NomogramDisplay
    >>> from weigh.datasets import titanic
    >>> model = EvidenceNB().fit(titanic(), "Survived")
    >>> sex, cabin, age = NomogramDisplay(model.evidence_).points.scales
    >>> sex.labels, sex.points.round()
    (('Female', 'Male', 'not known'), array([100.,   0.,  25.]))
    """

    points_: PointScales

    def __init__(
        self,
        evidence: Evidence,
        *,
        features: str | Sequence[str] | None = None,
        sort: str | None = "importance",
        max_features: int = 15,
        pos_label: Any = None,
        against: Any = None,
        answers: int | None = None,
        labels: Any = None,
    ) -> None:
        self.evidence = with_labels(evidence_of(evidence, numbers=True), labels)
        _check(self.evidence, pos_label, against)
        _check_answers(self.evidence, answers)
        self.answers = answers
        self.question = ask(self.evidence, pos_label, against)
        self.choice = choose(self.evidence, self.question, features, sort, max_features)
        self.points = make_points(self.evidence, self.question, self.choice, answers)

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None, **choice: Any) -> Self:
        """Draw a fitted model of two classes; the other arguments are those of the class."""
        evidence = evidence_of(model, numbers=True)
        if not (hasattr(model, "predict_proba") or is_sum(model)):
            other = "its hazard_" if hasattr(model, "hazard_") else "an EvidenceDisplay"
            raise ValueError(
                "a nomogram shows a probability, or an estimate that is a sum of weights, but "
                f"{type(model).__name__} predicts none; draw {other}"
            )
        return cls(evidence, **choice).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        crowded = any(_is_crowded(scale, self.points.across) for scale in self.points.scales)
        row = TALL if crowded else ROW
        return 9.0, row * (len(self.points.scales) + 3) + ROW + 0.3

    def _draw(self, ax: Any) -> None:
        ax.set_axis_off()
        size = inches(ax)
        self.points_ = self._that_fit(size)
        names = [scale.name for scale in self.points_.scales]
        about = f"{self._result.capitalize()} of {self.question.about}"
        total = "Total points" if self.points_.card is None else "Score"
        rows = ScaleRows(ax, size, ["Points", *names, total, about], self._words(self.points_))
        tens = _ticks(*self.points_.ends)
        rows.draw_grid(self.points_.across(tens), len(names))
        rows.draw_axis(0, self.points_.across(tens), [f"{ten:.0f}" for ten in tens])
        for i, scale in enumerate(self.points_.scales, 1):
            _draw_scale(rows, i, scale, self.points_.across)
        self._draw_total(rows, len(names) + 1)

    def _that_fit(self, size: tuple[float, float]) -> PointScales:
        """The points of as many features as fit on the axes."""
        points, n = self.points, len(self.points.scales)
        while n > 1 and rows_that_fit(size, self._words(points)) < n + 3:
            n -= 1
            points = make_points(self.evidence, self.question, self.choice.first(n), self.answers)
        return points

    def _totals(self, points: PointScales) -> tuple[float, float]:
        """The limits of the totals: the lowest and the highest, cut at EXTREME probabilities."""
        lowest, highest = points.lowest, points.highest
        ends = lowest, highest if lowest < highest else lowest + 1.0
        if self.evidence.estimates:
            return ends
        least, most = sorted(points.total(np.array([EXTREME, 1 - EXTREME])).tolist())
        low, high = max(least, lowest), min(most, highest)
        return (low, high) if low < high else ends

    def _draw_total(self, rows: ScaleRows, place: int) -> None:
        low, high = self._totals(self.points_)
        ticks = _ticks(low, high)
        rows.draw_axis(place, _across(ticks, low, high), [f"{tick:g}" for tick in ticks])
        numbers, totals = self._answers(low, high)
        kept = [i for i, total in enumerate(totals) if low - 1e-9 <= total <= high + 1e-9]
        at = _across(totals[kept], low, high)
        rows.draw_line(place + 1, 0.0, 100.0)
        rows.draw_ticks(place + 1, at)
        for i, x in zip(kept, at, strict=True):
            rows.name_tick(place + 1, x, f"{numbers[i]:,.6g}", slots=(1,))

    @property
    def _result(self) -> str:
        """What is read below the total."""
        return "estimate" if self.evidence.estimates else "probability"

    def _answers(self, low: float, high: float) -> tuple[Sequence[float], Floats]:
        """The probabilities or estimates with a tick, and their totals of points."""
        points = self.points_
        if not self.evidence.estimates:
            return CHANCES, points.total(np.array(CHANCES))
        least, most = points.estimate(np.array([low, high])).tolist()
        found = round_numbers(least, most, 10)
        if points.link == "log" and most > WIDE_RATIO * least:
            tens = range(floor(log10(least)), ceil(log10(most)) + 1)
            found = [float(f"{part}e{ten}") for part in ROUND for ten in tens]
        return found, points.total_of(np.array(found))

    def _words(self, points: PointScales) -> str:
        told = [_how_to_add(points, self._result)]
        told.append(_advise_exposure(self.evidence))
        told.append("○ is for an answer that is not known, or new.")
        rule = self.evidence.attenuation
        if rule is not None and rule.form == "known":
            margins = any(table.margins is not None for table in self.evidence)
            own = " and the margins of pairs are" if margins else " is"
            told.append(f"With ○ it is approximate: the factor of incomplete rows{own} left out.")
        if points.rest:
            least = sum(scale.lowest - scale.mean for scale in points.rest)
            most = sum(scale.length - scale.mean for scale in points.rest)
            told.append(
                f"{len(points.rest)} more features are taken at their mean; they could add "
                f"{least:+.0f} to {most:+.0f} points."
            )
        low, high = self._totals(points)
        if low > points.lowest or high < points.highest:
            told.append(f"Totals beyond the scale are within {EXTREME:g} of certain.")
        if points.answers is not None:
            told.append(f"The probability is of a row with an answer to {points.answers} features.")
        return " ".join(filter(None, [*told, after(self.evidence)]))


def _how_to_add(points: PointScales, result: str) -> str:
    """The first sentence below the scales."""
    if points.card is None:
        return f"Add up the points of a row's levels, and read the {result} below the total."
    rest = ", with the mean of the features that are not drawn" if points.rest else ""
    return (
        f"The score is {points.added:.0f} base points{rest}, plus the points of a row's levels. "
        f"Read the {result} below it."
    )


def _ticks(low: float, high: float) -> Floats:
    """About ten round numbers between two numbers."""
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(10).tick_values(low, high))
    return ticks[(ticks >= low) & (ticks <= high)]


def _advise_exposure(evidence: Evidence) -> str:
    """How a reader includes the exposure of a row, which has no scale; empty without exposure."""
    if evidence.exposure is None:
        return ""
    return f"Multiply the estimate by the {evidence.exposure or 'exposure'} of the row."


def _across(totals: Floats, low: float, high: float) -> Floats:
    """Positions of totals on a scale from 0 to 100."""
    return np.asarray(100 * (totals - low) / (high - low))


def _is_crowded(scale: FeatureScale, across: Callable[[Any], Floats]) -> bool:
    """Whether the labels of a scale need more than one line above it and one below."""
    taken: Taken = {}
    some = np.flatnonzero(scale.within & scale.named)[:MOST_LABELS]
    places = across(scale.points)
    for i in some if _is_long(scale, across) else ():
        if i == scale.no_level:
            continue
        half = min(width_of(scale.labels[i], LARGE), LONGEST * WIDE) / 2
        middle = max(WIDE * places[i] / 100, half)
        if not find_slot(taken, (1, -1), middle, half + GAP / 2):
            return True
    return False


def _is_long(scale: FeatureScale, across: Callable[[Any], Floats]) -> bool:
    """Whether a scale has space for two lines of labels above it and two below."""
    start, end = across([scale.lowest, scale.length])
    return bool(end - start >= LONG)


def _draw_scale(
    rows: ScaleRows, place: int, scale: FeatureScale, across: Callable[[Any], Floats]
) -> None:
    """Draw a feature: a tick for each level, small where its label does not fit.

    Labels are placed in this order: levels beyond the scale, because their points cannot be read
    off; the ends of the scale; common levels.
    """
    points, near = across(scale.points), scale.within
    start, end = across([scale.lowest, scale.length])
    rows.draw_line(place, start, end)
    known = np.arange(len(points)) != scale.no_level
    ends = np.isin(points, [start, end]) & near
    tried = np.lexsort([-scale.share, ~ends, near])
    tried = tried[scale.named[tried] | ~near[tried]][:MOST_LABELS]
    told = np.zeros(len(points), dtype=bool)
    slots = rows.slots if _is_long(scale, across) else rows.slots[:2]
    max_offset = ASTRAY if len(points) > FEW else 1.0  # few ticks: labels are clear anyway
    for i, text in zip(tried, rows.cut([scale.labels[i] for i in tried]), strict=True):
        if not near[i]:
            rows.point_beyond(place, points[i], f"{text} ({scale.points[i]:.0f})")
        elif known[i]:
            told[i] = rows.name_tick(place, points[i], text, slots, max_offset)
        else:  # the shape of a ring identifies it, wherever its label is
            rows.name_tick(place, points[i], text, slots[:2], max_offset=1.0)
    rows.draw_ticks(place, points[near & known & told])
    rows.draw_ticks(place, points[near & known & ~told], small=True)
    rows.draw_rings(place, points[near & ~known])


def _check_answers(evidence: Evidence, answers: int | None) -> None:
    """Check `answers`, which only models with an attenuation accept."""
    if answers is None:
        return
    if evidence.attenuation is None or evidence.attenuation.form == "known":
        raise ValueError("answers is for models whose exponent depends on it; leave it out here")
    if not (is_count(answers) and 0 <= answers <= len(evidence)):
        raise ValueError(
            f"answers must be a whole number from 0 to {len(evidence)}, the number of features; "
            f"got {answers!r}"
        )


def _check(evidence: Evidence, pos_label: Any, against: Any) -> None:
    """Refuse models without a single total whose probability a nomogram could show."""
    if evidence.event_model == "counts":
        raise ValueError(
            "a nomogram adds up one level of each feature; documents repeat tokens (draw a "
            "BalanceSheetDisplay of one)"
        )
    if evidence.link == "ovr":
        raise ValueError(
            "the probability of one of several classes does not follow from its own total; fit "
            "AdjustedNB(multiclass='softmax') and give pos_label= and against="
        )
    if len(evidence.classes) > 2 and (pos_label is None or against is None):
        raise ValueError(
            f"a nomogram shows two classes, but the model has {len(evidence.classes)}; choose two "
            "with pos_label= and against="
        )
