"""A model as points to add up: the numbers behind a nomogram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from weigh.bins import Cross, Feature
from weigh.evidence import Evidence, FeatureTable, Recalibration
from weigh.frames import Floats, Integers
from weigh.plot.axes import ALLOWED, usual_weights
from weigh.plot.labels import brief_labels
from weigh.plot.selection import Choice, Question
from weigh.shapes import outline

MOST_NAMED = 8
"""Maximum number of bins with a label on the scale of a feature."""


@dataclass(frozen=True, eq=False)
class Scale:
    """The levels of a feature, in points; `within` marks those that lie on the scale.

    `levels` holds their indices among the feature's levels. An answer that is not known or was not
    seen in training is no level and weighs nothing. Its index is the number of levels, and its
    position here is `no_level` (None where every answer has a level).
    """

    name: str
    levels: tuple[int, ...]
    labels: tuple[str, ...]
    points: Floats
    share: Floats
    within: np.ndarray[Any, np.dtype[np.bool_]]
    no_level: int | None
    named: np.ndarray[Any, np.dtype[np.bool_]]  # with many bins, a few of them

    @property
    def length(self) -> float:
        """The points of the highest level on the scale; the lowest has 0."""
        return float(self.points[self.within].max(initial=0))

    def points_at(self, level: int) -> float:
        """The points of a level by its index; those of `no_level` if the scale does not have it."""
        place = self.levels.index(level) if level in self.levels else self.no_level
        assert place is not None
        return float(self.points[place])

    @property
    def mean(self) -> float:
        """The mean points of the training rows."""
        return float(self.share @ self.points)


@dataclass(frozen=True, eq=False)
class Points:
    """A scale of points for each feature, and the map from a row's total to a probability.

    log odds = start + per_point (the points of the row's levels)

    If the model's exponent depends on the number of answers of a row, `start` and `per_point` are
    those of a row with `answers` answers.

    The features of `rest` are not drawn; `start` includes their mean. If the model recalibrates,
    `curve` maps these log odds, times `sign` (log odds of the second class), to recalibrated ones.
    """

    scales: tuple[Scale, ...]
    rest: tuple[Scale, ...]
    start: float
    per_point: float
    sign: float = 1.0
    curve: Recalibration | None = None
    answers: int | None = None

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
    def highest(self) -> float:
        """The highest total of levels on the scales."""
        return sum(scale.length for scale in self.scales)


def _invert(curve: Recalibration, log_odds: Floats) -> Floats:
    """Totals whose recalibrated log odds are these; where several are, one of them."""
    if curve.method != "isotonic":
        return curve.inverse(log_odds)
    rate = expit(log_odds - curve.shift)
    return np.interp(rate, curve.levels, curve.points, left=-np.inf, right=np.inf)


def make_points(
    evidence: Evidence, question: Question, choice: Choice, answers: int | None = None
) -> Points:
    """Points from 0 to 100: the lowest level of each feature has 0, the widest feature has 100."""
    drawn, rest = ([t for t in part if t.counts.any()] for part in (choice.drawn, choice.left_out))
    parts = [_levels(table, question) for table in (*drawn, *rest)]
    usual = [usual_weights(part.weights, part.share) for part in parts]
    more = max(*(0.5 * float(np.ptp(weights)) for weights in usual), ALLOWED)
    near = [
        (part.weights >= weights.min() - more) & (part.weights <= weights.max() + more)
        for part, weights in zip(parts, usual, strict=True)
    ]
    inside = [part.weights[mask] for part, mask in zip(parts, near, strict=True)]
    unit = float(max(map(np.ptp, inside))) / 100 or 0.01  # any unit, if all weights are zero
    scales = [
        part.scale(mask, float(weights.min()), unit)
        for part, weights, mask in zip(parts, inside, near, strict=True)
    ]
    n, lowest = len(drawn), float(sum(weights.min() for weights in inside))
    lowest += unit * sum(scale.mean for scale in scales[n:])
    sign, curve = float(question.signs[0, -1]), evidence.recalibration
    points = Points(tuple(scales[:n]), tuple(scales[n:]), lowest, unit, sign, curve)
    return _from_prior(evidence, question, points, answers)


@dataclass(frozen=True, eq=False)
class _Levels:
    """The levels of a feature that are drawn, with weights and shares of rows."""

    table: FeatureTable
    places: Integers
    weights: Floats
    share: Floats

    def scale(self, within: Any, lowest: float, unit: float) -> Scale:
        n, points = len(self.table.levels), (self.weights - lowest) / unit
        labels = [*brief_labels(self.table.feature)]
        places = tuple(self.places.tolist())
        labels.append(_no_level(self.table.feature, labels))
        no_level = places.index(n) if n in places else None
        shown = tuple(labels[i] for i in places)
        named = self._named()
        return Scale(self.table.shown, places, shown, points, self.share, within, no_level, named)

    def _named(self) -> Any:
        """The levels that may be labelled; with many bins, one per group that keeps the shape."""
        feature, named = self.table.feature, np.ones(len(self.places), dtype=bool)
        n_cuts = len(feature.cuts or ()) if isinstance(feature, Feature) else 0
        bins = np.flatnonzero(self.places <= n_cuts) if n_cuts else np.empty(0, dtype=np.intp)
        if len(bins) > MOST_NAMED:
            groups = outline(self.weights[bins, None], self.share[bins], MOST_NAMED)
            named[bins] = False
            for group in groups:
                own = bins[group]
                named[own[self.share[own].argmax()]] = True
        return named


def _levels(table: FeatureTable, question: Question) -> _Levels:
    """Levels with rows, other levels with a weight, and "no level"."""
    share, weights = np.append(table.share, 0.0), np.append(question.weights(table)[:, 0], 0.0)
    shown = (share > 0) | (weights != 0)
    shown[-1] = not (_has_every(table.feature) and shown[:-1].all())
    return _Levels(table, np.flatnonzero(shown), weights[shown], share[shown])


def _has_every(feature: Feature | Cross) -> bool:
    """Whether every answer has a level: it needs one for missing, and bins or one for others."""
    if isinstance(feature, Cross):
        return False
    return feature.has_missing and (feature.is_numeric or bool(feature.other))


def _no_level(feature: Feature | Cross, taken: Sequence[str]) -> str:
    """The label of an answer that is no level; it differs from those of all levels."""
    name = "any other pair" if isinstance(feature, Cross) else "not known"
    return f"({name})" if name in taken else name


def _from_prior(
    evidence: Evidence, question: Question, points: Points, answers: int | None
) -> Points:
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
