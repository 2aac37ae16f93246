"""Recalibration of more than two classes: scaled totals, or a curve for each class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, logit

from weigh import engine
from weigh.arrays import Floats, Integers
from weigh.calibrate.calibrator import LOG_SLOPES, best_slope, recalibrate
from weigh.evidence import (
    BOUND,
    DerivedModel,
    Evidence,
    FeatureTable,
    Method,
    Recalibration,
    scale_variances,
    squeeze,
)
from weigh.frames import Table


@dataclass(frozen=True, eq=False)
class HoldOutTotals:
    """Totals of hold-out rows, one column per class, with their labels and weights."""

    totals: Floats
    labels: Integers
    weight: Floats
    link: str

    @property
    def log_odds(self) -> Floats:
        """Log odds of each class against the rest."""
        return rest_log_odds(self.totals, self.link)


def rest_log_odds(totals: Floats, link: str) -> Floats:
    """Log odds of each class against the rest, accurate far into the tails."""
    if link == "ovr":
        return totals
    every = range(totals.shape[1])
    rest = [np.logaddexp.reduce(np.delete(totals, k, axis=1), axis=1) for k in every]
    odds: Floats = totals - np.column_stack(rest)
    return odds


def fit_rest_curves(
    totals: Floats, held: HoldOutTotals, method: Method
) -> tuple[Recalibration, ...]:
    """Fit a curve for each class against the rest; the identity for a class without rows."""
    curves = []
    for k, t in enumerate(totals.T):
        own = held.labels == k
        line = Recalibration("sigmoid", np.zeros(1), np.zeros(1), np.ones(1))
        curves.append(recalibrate(t, own, held.weight, method) if own.any() else line)
    return tuple(curves)


@dataclass(frozen=True, eq=False)
class Scaling:
    """Slope a_k and intercept b_k of each class: its total t_k becomes a_k t_k + b_k."""

    slopes: Floats
    levels: Floats

    def fold(self, evidence: Evidence) -> Evidence:
        """Multiply the scaling into the prior and the weights of the evidence."""
        centred = evidence.link != "ovr"
        rule, prior = evidence.attenuation, self.slopes * evidence.prior_row
        if rule is None:
            prior = prior + self.levels
        else:
            shift = self._centre(self.slopes * rule.shift + self.levels, centred)
            rule = replace(rule, shift=shift)
        return replace(
            evidence,
            prior=squeeze(self._centre(prior, centred)),
            tables=tuple(self._scale(table, centred) for table in evidence),
            prior_variances=scale_variances(evidence.prior_variances, self.slopes),
            attenuation=rule,
        )

    def _scale(self, table: FeatureTable, centred: bool) -> FeatureTable:
        return replace(
            table,
            by_class=self._centre(table.by_class * self.slopes, centred),
            variances=scale_variances(table.variances, self.slopes),
            known_errors=None if table.known_errors is None else table.known_errors * self.slopes,
        )

    def _centre(self, weights: Floats, centred: bool) -> Floats:
        """Subtract the mean over classes, which has no effect on a softmax."""
        return weights - weights.mean(axis=-1, keepdims=True) if centred else weights


def fit_temperature(held: HoldOutTotals) -> Scaling:
    """Temperature scaling: one slope for all classes, which changes no decision."""
    rows = np.arange(len(held.labels))

    def loss(slope: float) -> float:
        p = engine.link(slope * held.totals, held.link)[rows, held.labels]
        return -float(held.weight @ np.log(np.maximum(p, BOUND**2)))

    n = held.totals.shape[1]
    return Scaling(np.full(n, best_slope(loss)), np.zeros(n))


def fit_vector(held: HoldOutTotals) -> Scaling:
    """Vector scaling (Guo et al. 2017): a slope and an intercept for each class.

    If the totals are of each class against the rest, Platt scaling is applied to each class. Joint
    totals are fitted by the log loss with targets as in Platt's method: (N_k + 1)/(N_k + K) for the
    row's own class k, and 1/(N_k + K) for each other. So slopes stay finite if the classes are
    separable.
    """
    n = held.totals.shape[1]
    if held.link == "ovr":
        lines = fit_rest_curves(held.totals, held, "sigmoid")
        slopes = np.array([line.slopes[0] for line in lines])
        levels = [
            line.levels[0] - s * line.points[0] for line, s in zip(lines, slopes, strict=True)
        ]
        return Scaling(slopes, np.array(levels))
    targets = _soften(held, n)
    spread = held.totals.std() or 1.0
    t = held.totals / spread

    def loss(point: Floats) -> tuple[float, Floats]:
        logs = log_softmax(point[:n] * t + point[n:], axis=1)
        gap = held.weight[:, None] * (np.exp(logs) - targets)
        size = held.weight.sum()
        gradient = np.concatenate([(gap * t).sum(axis=0), gap.sum(axis=0)])
        return -float((held.weight[:, None] * targets * logs).sum()) / size, gradient / size

    low, high = np.exp(LOG_SLOPES) * spread
    bounds = [(low, high)] * n + [(None, None)] * n
    start = np.concatenate([fit_temperature(held).slopes * spread, np.zeros(n)])
    options = {"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-10}
    solve: Any = minimize
    found = solve(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return Scaling(found[:n] / spread, found[n:] - found[n:].mean())


def _soften(held: HoldOutTotals, n: int) -> Floats:
    counts = np.bincount(held.labels, held.weight, n)[held.labels]
    targets = np.repeat(1 / (counts + n)[:, None], n, axis=1)
    targets[np.arange(len(counts)), held.labels] = (counts + 1) / (counts + n)
    return targets


SCALINGS = {"temperature": fit_temperature, "sigmoid": fit_vector}
"""Methods that scale the totals, so that the model keeps its tables."""


@dataclass(frozen=True, eq=False, repr=False)
class RestCurves(DerivedModel):
    """P(k) is proportional to the logistic function of f_k(log odds of class k against the rest).

    `evidence` gives the log odds; `curves` holds the f_k.
    """

    evidence: Evidence
    curves: tuple[Recalibration, ...]
    backend: str | None = None
    columns: tuple[str, ...] = ()
    link = "ovr"

    no_table = (
        "curves of each class against the rest have no table of weights; method='temperature' and "
        "method='sigmoid' recalibrate more than two classes and keep one"
    )

    @classmethod
    def fit(cls, evidence: Evidence, held: HoldOutTotals, method: Method) -> RestCurves:
        """Fit the curves to hold-out rows."""
        curves = fit_rest_curves(held.log_odds, held, method)
        return cls(evidence, curves, evidence.backend, evidence.columns)

    def total(self, table: Table) -> Floats:
        """Recalibrated log odds of each class against the rest."""
        raw = rest_log_odds(self.evidence.total(table), self.evidence.link)
        return np.column_stack([f.apply(t) for f, t in zip(self.curves, raw.T, strict=True)])

    def probabilities(self, totals: Floats) -> Floats:
        """Probability of each class, from totals."""
        return engine.link(totals, self.link)

    def with_prior(self, rate: Floats) -> RestCurves:
        """Copy of the model for a population with other class frequencies."""
        change = logit(rate) - logit(self.evidence.assumed_rate)
        moved = [
            replace(curve, shift=curve.shift + float(step))
            for curve, step in zip(self.curves, change, strict=True)
        ]
        return replace(
            self, evidence=replace(self.evidence, assumed_rate=rate), curves=tuple(moved)
        )

    def to_text(self, width: int = 100) -> str:
        """Describe the model in two lines."""
        method = self.curves[0].method
        lines = [f"{len(self.curves)} classes, recalibrated ({method}) one against the rest."]
        return "\n".join(line[:width] for line in [*lines, f"{self.no_table}."])
