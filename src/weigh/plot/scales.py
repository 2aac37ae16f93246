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
"""Bins of a feature that have names on its scale."""


@dataclass(frozen=True, eq=False)
class Scale:
    """The levels of a feature, in points; `within` are those near the others.

    `levels` holds their places among the feature's own. What is no level and weighs nothing, an
    answer that lacks or that training did not have, has the number of levels for its place, and
    stands at `no_level` here (None where every answer has a level).
    """

    name: str
    levels: tuple[int, ...]
    labels: tuple[str, ...]
    points: Floats
    share: Floats
    within: np.ndarray[Any, np.dtype[np.bool_]]
    no_level: int | None
    named: np.ndarray[Any, np.dtype[np.bool_]]  # where the feature has many bins, a few of them

    @property
    def length(self) -> float:
        """The points of the highest level within; the lowest has 0."""
        return float(self.points[self.within].max(initial=0))

    def points_at(self, level: int) -> float:
        """The points of a level by its place; of one that weighs nothing, those of no level."""
        place = self.levels.index(level) if level in self.levels else self.no_level
        assert place is not None
        return float(self.points[place])

    @property
    def mean(self) -> float:
        """The points of the training rows, on average."""
        return float(self.share @ self.points)


@dataclass(frozen=True, eq=False)
class Points:
    """A scale of points for each feature, and what a row's total means.

    log odds = start + per_point (the points of the row's levels)

    Where the model's exponent depends on how many answers a row has, both are those of a row with
    `answers` of them.

    The features of `rest` are not drawn; `start` holds their mean. Where the model recalibrates,
    `curve` turns these log odds (those of the second class: times `sign`) into what they are worth.
    """

    scales: tuple[Scale, ...]
    rest: tuple[Scale, ...]
    start: float
    per_point: float
    sign: float = 1.0
    curve: Recalibration | None = None
    answers: int | None = None

    def probability(self, total: Floats) -> Floats:
        """What a total means."""
        log_odds = self.start + self.per_point * total
        if self.curve is not None:
            log_odds = self.sign * self.curve.apply(self.sign * log_odds)
        return np.asarray(expit(log_odds))

    def total(self, probability: Floats) -> Floats:
        """The points that a probability takes; infinite where no total is worth so much."""
        log_odds = logit(probability)
        if self.curve is not None:
            log_odds = self.sign * _invert(self.curve, self.sign * log_odds)
        return np.asarray((log_odds - self.start) / self.per_point)

    @property
    def highest(self) -> float:
        """The most points that levels within the scales add up to."""
        return sum(scale.length for scale in self.scales)


def _invert(curve: Recalibration, log_odds: Floats) -> Floats:
    """The totals that are worth so much; of several, one."""
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
    unit = float(max(map(np.ptp, inside))) / 100 or 0.01  # of a model that tells nothing, any
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
    """What a row may have of a feature, and what it weighs."""

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
        """The levels that may be named: of many bins, one of each group that keeps the shape."""
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
    """The levels that rows have, others that weigh something, and what is no level."""
    share, weights = np.append(table.share, 0.0), np.append(question.weights(table)[:, 0], 0.0)
    shown = (share > 0) | (weights != 0)
    shown[-1] = not (_has_every(table.feature) and shown[:-1].all())
    return _Levels(table, np.flatnonzero(shown), weights[shown], share[shown])


def _has_every(feature: Feature | Cross) -> bool:
    """Whether every answer has a level: numbers do, rare values may, and missing may."""
    if isinstance(feature, Cross):
        return False
    return feature.has_missing and (feature.is_numeric or bool(feature.other))


def _no_level(feature: Feature | Cross, taken: Sequence[str]) -> str:
    """What to call an answer that is no level; no level is called the same."""
    name = "any other pair" if isinstance(feature, Cross) else "not known"
    return f"({name})" if name in taken else name


def _from_prior(
    evidence: Evidence, question: Question, points: Points, answers: int | None
) -> Points:
    """Points whose start is a sum of weights, after the prior and what a rule does to both.

    A rule's exponent is that of a row with so many answers, by default to every feature.
    """
    sign, rule = question.signs[0], evidence.attenuation
    prior = float(sign @ evidence.prior_row)
    if rule is None:
        return replace(points, start=prior + points.start)
    answers = len(evidence) if answers is None else answers
    e = float(rule.exponent(np.array([float(answers)]))[0])
    own = e if rule.form == "root" else 1.0
    start = e * points.start + own * prior + float(sign @ rule.shift)
    return replace(points, start=start, per_point=e * points.per_point, answers=answers)
