"""A model as points to add up: the numbers behind a nomogram."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from weigh.evidence import Evidence, FeatureTable, Recalibration
from weigh.frames import Floats
from weigh.plot.choose import Choice
from weigh.plot.labels import brief_labels
from weigh.plot.question import Question, share_of
from weigh.plot.reach import ALLOWED, usual_weights


@dataclass(frozen=True, eq=False)
class Scale:
    """The levels of a feature that occur, in points; `within` are those near the others."""

    name: str
    labels: tuple[str, ...]
    points: Floats
    share: Floats
    within: np.ndarray[Any, np.dtype[np.bool_]]

    @property
    def length(self) -> float:
        """The points of the highest level within; the lowest has 0."""
        return float(self.points[self.within].max(initial=0))

    @property
    def mean(self) -> float:
        """The points of the training rows, on average."""
        return float(self.share @ self.points)


@dataclass(frozen=True, eq=False)
class Points:
    """A scale of points for each feature, and what a row's total means.

    log odds = start + per_point (the points of the row's levels)

    The features of `rest` are not drawn; `start` holds their mean. Where the model recalibrates,
    `curve` turns these log odds (those of the second class: times `sign`) into what they are worth.
    """

    scales: tuple[Scale, ...]
    rest: tuple[Scale, ...]
    start: float
    per_point: float
    sign: float = 1.0
    curve: Recalibration | None = None

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


def make_points(evidence: Evidence, question: Question, choice: Choice) -> Points:
    """Points from 0 to 100: the lowest level of each feature has 0, the widest feature has 100."""
    drawn, rest = ([t for t in part if t.counts.any()] for part in (choice.drawn, choice.left_out))
    tables = [*drawn, *rest]
    parts = [_occurring(table, question) for table in tables]
    usual = [usual_weights(*part) for part in parts]
    more = max(*(0.5 * float(np.ptp(part)) for part in usual), ALLOWED)
    near = [
        (weights >= part.min() - more) & (weights <= part.max() + more)
        for (weights, _), part in zip(parts, usual, strict=True)
    ]
    inside = [weights[mask] for (weights, _), mask in zip(parts, near, strict=True)]
    unit = float(max(map(np.ptp, inside))) / 100 or 0.01  # of a model that tells nothing, any
    scales = [
        Scale(table.name, _labels(table), (weights - part.min()) / unit, share, mask)
        for table, (weights, share), part, mask in zip(tables, parts, inside, near, strict=True)
    ]
    n, lowest = len(drawn), float(sum(part.min() for part in inside))
    lowest += unit * sum(scale.mean for scale in scales[n:])
    sign, curve = float(question.signs[0, -1]), evidence.recalibration
    points = Points(tuple(scales[:n]), tuple(scales[n:]), lowest, unit, sign, curve)
    return _from_prior(evidence, question, points)


def _occurring(table: FeatureTable, question: Question) -> tuple[Floats, Floats]:
    """The weights of the levels that rows have, and their shares."""
    share = share_of(table)
    return question.weights(table)[share > 0, 0], share[share > 0]


def _labels(table: FeatureTable) -> tuple[str, ...]:
    labels, rows = brief_labels(table.feature), table.counts.sum(axis=1)
    return tuple(label for label, n in zip(labels, rows, strict=True) if n > 0)


def _from_prior(evidence: Evidence, question: Question, points: Points) -> Points:
    """Points whose start is a sum of weights, after the prior and what a rule does to both.

    A rule's exponent is that of a row with an answer to every feature.
    """
    sign, rule = question.signs[0], evidence.attenuation
    prior = float(sign @ evidence.prior_row)
    if rule is None:
        return replace(points, start=prior + points.start)
    e = float(rule.exponent(np.array([float(len(evidence))]))[0])
    own = e if rule.form == "root" else 1.0
    start = e * points.start + own * prior + float(sign @ rule.shift)
    return replace(points, start=start, per_point=e * points.per_point)
