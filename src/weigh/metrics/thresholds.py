"""What a threshold does: error rates, the threshold of least cost, net benefit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.frames import Floats
from weigh.metrics.numbers import NAN, read_cost, read_threshold
from weigh.metrics.scored import Groups, Scored, read_matrix


@dataclass(frozen=True)
class ErrorRates:
    """What deciding by a threshold gets right and wrong, as weights and as rates.

    A rate of nothing is NaN: the false positive rate of rows without negatives, the ppv where
    nothing is decided positive.
    """

    threshold: float
    true_positives: float
    false_positives: float
    true_negatives: float
    false_negatives: float

    @property
    def n(self) -> float:
        """The weight of all rows."""
        right = self.true_positives + self.true_negatives
        return right + self.false_positives + self.false_negatives

    @property
    def false_positive_rate(self) -> float:
        """The share of negatives that are called positive (Ridgeway 2025, Eq. 3)."""
        return _share(self.false_positives, self.true_negatives)

    @property
    def false_negative_rate(self) -> float:
        """The share of positives that are called negative (Ridgeway 2025, Eq. 4)."""
        return _share(self.false_negatives, self.true_positives)

    @property
    def sensitivity(self) -> float:
        """The share of positives that are found, or recall."""
        return _share(self.true_positives, self.false_negatives)

    @property
    def specificity(self) -> float:
        """The share of negatives that are left alone."""
        return _share(self.true_negatives, self.false_positives)

    @property
    def ppv(self) -> float:
        """The share of those called positive that are, or precision."""
        return _share(self.true_positives, self.false_positives)

    @property
    def npv(self) -> float:
        """The share of those called negative that are."""
        return _share(self.true_negatives, self.false_negatives)

    @property
    def misclassification(self) -> float:
        """The share of rows that are decided wrongly."""
        wrong = self.false_positives + self.false_negatives
        return _share(wrong, self.true_positives + self.true_negatives)

    @property
    def flagged(self) -> float:
        """The share of rows that are called positive."""
        called = self.true_positives + self.false_positives
        return _share(called, self.true_negatives + self.false_negatives)


def _share(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest else NAN


@dataclass(frozen=True)
class BestThreshold:
    """The threshold of least cost on the rows given, and the one that theory asks for."""

    threshold: float
    cost: float
    theoretical: float
    theoretical_cost: float


@dataclass(frozen=True, eq=False)
class NetBenefit:
    """Net benefit by threshold: of the model, of treating all, and of treating none."""

    threshold: Floats
    model: Floats
    treat_all: Floats
    treat_none: Floats


def error_rates(
    y_true: Any,
    y_prob: Any = None,
    threshold: float = 0.5,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> ErrorRates:
    """False positives and negatives, sensitivity, specificity and more at a threshold.

    A row is decided positive where p > threshold, as `predict` does at one half.

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_prob : array of shape (n,) or (n, 2)
        The probability of the positive class; of two columns, the second.
    threshold : float, default=0.5
        Where to decide.
    sample_weight : array, optional
        Row weights; a weight of two is a row given twice.
    pos_label : label, optional
        The positive class; by default the greater of two.

    Examples
    --------
    >>> from weigh.metrics import error_rates
    >>> rates = error_rates([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8])
    >>> rates.sensitivity, rates.specificity
    (0.5, 0.5)
    """
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    at = read_threshold(threshold)
    found, alarms = (float(part[0]) for part in _above(groups, np.array([at])))
    rest = groups.n_negative - alarms, groups.n_positive - found
    return ErrorRates(at, found, alarms, *rest)


def _above(groups: Groups, thresholds: Floats) -> tuple[Floats, Floats]:
    """The weight of positives and of negatives above each threshold."""
    place = np.searchsorted(groups.p, thresholds, side="right")
    positives = groups.n_positive - groups.positives_up_to[place]
    return positives, groups.n_negative - groups.negatives_up_to[place]


def best_threshold(
    y_true: Any,
    y_prob: Any = None,
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> BestThreshold:
    """The threshold of least cost on these rows.

    cost(t) = (cost_fp false positives(t) + cost_fn false negatives(t)) / n

    Probabilities that mean what they say need no search: deciding for the positive class costs
    cost_fp (1 - p) and against it cost_fn p, so the threshold is cost_fp/(cost_fp + cost_fn). That
    one is given beside the one found; on few rows it is the safer of the two.

    Thresholds tried lie midway between neighbouring probabilities, and beyond the outer ones (-inf,
    where rows of probability 0 are to be positive too). Of equally good ones the nearest to the
    theoretical one is taken.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label
        As in `error_rates`.
    cost_fp, cost_fn : float, default=1
        The cost of a false positive and of a false negative.

    Examples
    --------
    >>> from weigh.metrics import best_threshold
    >>> best = best_threshold([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8], cost_fp=1, cost_fn=4)
    >>> best.threshold, best.theoretical, best.cost
    (0.25, 0.2, 0.25)
    """
    cost_fp, cost_fn = read_cost(cost_fp, "cost_fp"), read_cost(cost_fn, "cost_fn")
    if cost_fp + cost_fn == 0:
        raise ValueError("cost_fp and cost_fn are both 0; one of the errors must cost something")
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    theory = cost_fp / (cost_fp + cost_fn)
    tried = _between(groups.p)
    false_negatives, true_negatives = groups.positives_up_to, groups.negatives_up_to
    costs = cost_fn * false_negatives + cost_fp * (groups.n_negative - true_negatives)
    best = np.flatnonzero(costs <= costs.min() + 1e-12 * costs.max())
    chosen = best[np.abs(tried[best] - theory).argmin()]
    place = np.searchsorted(groups.p, theory, side="right")
    return BestThreshold(
        threshold=float(tried[chosen]),
        cost=float(costs[chosen]) / groups.n,
        theoretical=theory,
        theoretical_cost=float(costs[place]) / groups.n,
    )


def _between(p: Floats) -> Floats:
    """A threshold below all probabilities, between each two, and above all."""
    first = p[0] / 2 if p[0] > 0 else -np.inf
    middle = p[:-1] + (p[1:] - p[:-1]) / 2
    return np.concatenate([[first], middle, [(p[-1] + 1) / 2]])


def net_benefit(
    y_true: Any,
    y_prob: Any = None,
    thresholds: Any = None,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> NetBenefit:
    """What acting on a model is worth, in true positives per row.

    net benefit(t) = TP/n - FP/n t/(1 - t)                               (Vickers & Elkin 2006)

    A threshold t says that one true positive is worth (1 - t)/t false ones. Acting on everybody and
    on nobody (0) are given beside the model.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label
        As in `error_rates`.
    thresholds : array, optional
        From 0 up to and without 1; by default 0.01, 0.02, ... 0.99.

    Examples
    --------
    >>> from weigh.metrics import net_benefit
    >>> curve = net_benefit([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8], thresholds=[0.2, 0.5])
    >>> curve.model, curve.treat_all
    (array([0.4375, 0.    ]), array([0.375, 0.   ]))
    """
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    given = np.arange(1, 100) / 100 if thresholds is None else thresholds
    t = np.atleast_1d(read_matrix(given, "thresholds"))
    if t.ndim != 1 or not ((t >= 0) & (t < 1)).all():
        raise ValueError(f"thresholds must be from 0 up to and without 1, got {thresholds!r}")
    found, alarms = _above(groups, t)
    odds = t / (1 - t)
    return NetBenefit(
        threshold=t,
        model=(found - alarms * odds) / groups.n,
        treat_all=(groups.n_positive - groups.n_negative * odds) / groups.n,
        treat_none=np.zeros(len(t)),
    )
