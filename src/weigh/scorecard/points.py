"""Weights as whole points, rounded so that the ranking changes least; and what a score means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, isfinite, log
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.arrays import Floats
from weigh.evidence import Evidence, evidence_of, keep_to_complete_rows
from weigh.frames import label_sample, read
from weigh.parameters import is_number

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard


@dataclass(frozen=True)
class Scale:
    """log odds = ln base_odds + (score - base_score) ln 2/points_to_double.

    >>> scale = Scale(points_to_double=20, base_score=600, base_odds=50)
    >>> round(scale.per_nat, 2), round(scale.even, 2), scale.probability(600.0).round(4).item()
    (28.85, 487.12, 0.9804)
    """

    points_to_double: float
    base_score: float
    base_odds: float

    def __post_init__(self) -> None:
        for name in ("points_to_double", "base_odds"):
            value = getattr(self, name)
            if not (is_number(value) and 0 < value < inf):
                raise ValueError(f"{name} must be a positive number, got {value!r}")
        if not (is_number(self.base_score) and isfinite(self.base_score)):
            raise ValueError(f"base_score must be a number, got {self.base_score!r}")

    @property
    def per_nat(self) -> float:
        """Points for one nat of log odds."""
        return float(self.points_to_double) / log(2)

    @property
    def even(self) -> float:
        """The score at even odds."""
        return float(self.base_score) - self.per_nat * log(self.base_odds)

    def probability(self, score: Any) -> Floats:
        """The probability of the class that high scores favour."""
        from scipy.special import expit

        odds = (np.asarray(score, dtype=np.float64) - self.even) / self.per_nat
        return np.asarray(expit(odds))


@dataclass(frozen=True)
class Rounding:
    """The effect of rounding on some rows: AUC before and after, and changes of probabilities.

    `largest_change` includes a case without any answers; `kendall` is the rank correlation of
    scores with totals; AUCs are None without labels.
    """

    largest_change: float
    kendall: float
    auc_before: float | None = None
    auc_after: float | None = None


def round_nearest(weights: Floats, rows: Floats, added: float = 0.0) -> Floats:
    """Round each level to the nearest whole number."""
    return np.floor(weights + 0.5)


def round_together(weights: Floats, rows: Floats, added: float = 0.0) -> Floats:
    """Round all levels after one shift c that minimises the variance of the rounding error.

    points(v) = floor(w(v) + c + 1/2),  c of least Var over rows of points - w

    A constant added to every row does not change the ranking, so c + 1 is as good as c. The c is
    taken that keeps the mean rounding error of this feature and those before it (`added`) within
    half a point.
    """
    if not len(weights) or not rows.sum():
        return round_nearest(weights, rows)
    shifts = -((weights + 0.5) % 1.0)  # where some level is about to be rounded up
    shifts = np.unique(np.concatenate([[0.0], np.where(shifts < -0.5, shifts + 1.0, shifts)]))
    tried = np.floor(weights + shifts[:, None] + 0.5)
    gaps = tried - weights
    mean = gaps @ rows / rows.sum()
    spread = (gaps - mean[:, None]) ** 2 @ rows / rows.sum()
    near = spread <= spread.min() + 1e-12
    best = np.flatnonzero(near)[np.abs(shifts[near]).argmin()]
    points: Floats = tried[best] - np.floor(added + mean[best] + 0.5)
    return points


def mean_added(points: Floats, weights: Floats, rows: Floats) -> float:
    """The mean rounding error of a row."""
    return float((points - weights) @ rows / rows.sum()) if rows.sum() else 0.0


def measure(totals: Floats, scores: Floats, p: Floats, q: Floats, y: Any) -> Rounding:
    """Compare totals and probabilities p with the scores and probabilities q that replace them.

    p and q may be those of more cases than are ranked.
    """
    from scipy.stats import kendalltau  # to show or score with a card does not need them

    from weigh.metrics import auc  # which loads scikit-learn

    with np.errstate(invalid="ignore"):
        tau = float(kendalltau(totals, scores).statistic) if len(totals) > 1 else 1.0
    change = float(np.abs(p - q).max())
    if y is None:
        return Rounding(change, tau)
    before, after = (auc(y, _ranks(found)).value for found in (totals, scores))
    return Rounding(change, tau, before, after)


def measure_rows(card: Scorecard, X: Any, y: Any) -> Rounding:
    """The effect of a card's points on rows, and on a case without any answers."""
    from scipy.special import expit

    table, positive, sign = read(X), None, float(np.sign(card._scale))
    if y is not None:
        sample = label_sample(table, y, None, card.classes_)
        good = sample.classes.tolist().index(card.pos_label)  # a sample sorts its classes
        table, positive = sample.table, sample.labels == good
    rows = card._match(table)
    totals, scores = sign * card._source.total(rows)[:, 0], card.evidence.raw_total(rows)[:, 0]
    p = expit(np.append(totals, sign * card._source.prior_row[0]))
    q = card.probability(np.append(scores, card.base_points))
    return measure(totals, scores, p, q, positive)


def _ranks(totals: Floats) -> Floats:
    """Ranks scaled to below 1: enough for an AUC, and ties stay ties."""
    found, places = np.unique(totals, return_inverse=True)
    return np.asarray((places + 1) / (len(found) + 1), dtype=np.float64)


def read_model(model: Any) -> Evidence:
    """The evidence of a model, whose total must be a sum of weights."""
    name = type(model).__name__
    evidence = evidence_of(model, numbers=True)
    if evidence.event_model == "counts":
        raise ValueError("a model of documents cannot become a scorecard: tokens have no levels")
    if evidence.estimates or hasattr(model, "no_classes"):
        raise ValueError(
            f"a scorecard needs two classes, and {name} predicts numbers; fit EducatedNB to a "
            "target of two classes"
        )
    if len(evidence.classes) != 2:
        raise ValueError(
            f"a scorecard needs two classes, but the model has {len(evidence.classes)}; fit one "
            "class against the rest"
        )
    evidence = keep_to_complete_rows(evidence)  # points add up
    if evidence.attenuation is not None:
        raise ValueError(
            f"{name} adjusts each row by its number of answers, so its total is not a sum of "
            "points; fit AdjustedNB or EducatedNB"
        )
    return evidence if evidence.recalibration is None else _straighten(evidence)


def _straighten(evidence: Evidence) -> Evidence:
    """Apply a linear recalibration by rescaling the weights."""
    curve = evidence.recalibration
    assert curve is not None
    if len(curve.points) > 1 or curve.method == "isotonic":
        raise ValueError(
            f"the recalibration ({curve.method}) is not a straight line, so points cannot add up "
            "to it; method='sigmoid' or 'temperature' is a straight line"
        )
    slope = float(curve.slopes[0])
    tables = tuple(replace(t, by_class=t.by_class * slope) for t in evidence)
    prior = float(curve.apply(evidence.prior_row)[0])
    return replace(evidence, prior=prior, tables=tables, recalibration=None)


def round_tables(
    evidence: Evidence, scale: float, offset: float, method: Callable[..., Floats]
) -> tuple[dict[str, Floats], int]:
    """Points by feature, and base points that offset up to half a point of rounding error.

    An answer that is not known has no points, and so no rounding error. A larger correction would
    favour or penalise cases with few answers.
    """
    points, added = {}, 0.0
    for table in evidence:
        weights, rows = scale * table.by_class[:, 0], table.counts.sum(axis=1)
        points[table.name] = found = method(weights, rows, added)
        added += mean_added(found, weights, rows)
    start = offset + scale * evidence.prior_row[0]
    return points, int(np.floor(start - np.clip(added, -0.5, 0.5) + 0.5))


def round_model(card: Scorecard, X: Any, y: Any) -> None:
    """Round together; where rows are given, the better of this and of rounding to the nearest."""
    given = (card._source, card._scale, card.scale.even)
    together = round_tables(*given, round_together)
    if X is None:
        if y is not None:
            raise ValueError("y is given without X; give the rows too")
        card._points, card.base_points = together
        return
    tried = []
    for points, base in (together, round_tables(*given, round_nearest)):
        card._points, card.base_points = points, base
        tried.append((card.measure(X, y), points, base))
    best = max(tried, key=lambda one: np.nan_to_num(one[0].kendall))
    card.rounding, card._points, card.base_points = best
