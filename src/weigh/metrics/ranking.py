"""Ranking: the area under the ROC curve with DeLong's error, gains and lift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr

from weigh.arrays import Floats
from weigh.metrics.inputs import Groups, Scored
from weigh.metrics.numbers import COVERAGE, check_coverage, normal_quantile, read_matrix


@dataclass(frozen=True)
class AUC:
    """An AUC, its standard error and an interval; NaN if not defined."""

    value: float
    error: float
    low: float
    high: float
    coverage: float = COVERAGE


@dataclass(frozen=True)
class AUCDifference:
    """Difference of two AUCs of the same rows, with an interval."""

    value: float
    error: float
    low: float
    high: float
    p_value: float
    coverage: float = COVERAGE


def auc(
    y_true: Any,
    y_prob: Any = None,
    *,
    coverage: float = COVERAGE,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> AUC:
    """The area under the ROC curve, with DeLong's standard error and an interval.

    The measure is::

        AUC = P(p of a positive row > p of a negative row) + P(they are equal)/2

    The standard error is that of DeLong, DeLong & Clarke-Pearson (1988), computed from mid-ranks
    with one sort (Sun & Xu 2014). The interval is symmetric on the scale of ln AUC/(1 - AUC), which
    keeps it within 0 and 1.

    If all rows have one class, everything is NaN. If a class has a weight of at most 1, the error
    and the interval are NaN. An AUC of exactly 0 or 1 has an error of 0 and an interval of NaN.

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_prob : array of shape (n,) or (n, 2)
        Probability of the positive class; with two columns, the second.
    coverage : float, default=0.95
        Coverage of the interval.
    sample_weight : array, optional
        Row weights; a weight of two equals a row given twice, also in errors and intervals (see
        `effective_weight`).
    pos_label : label, optional
        Positive class. Default: the greater of two.

    Examples
    --------
    >>> from weigh.metrics import auc
    >>> found = auc([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.3, 0.9])
    >>> round(found.value, 3), round(found.error, 3)
    (0.889, 0.157)
    """
    check_coverage(coverage)
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    if groups.one_class:
        return AUC(np.nan, np.nan, np.nan, np.nan, coverage)
    ranks = Ranks.of(groups)
    value = ranks.value
    variance = _covariance(groups.positives, ranks.positive, ranks.positive, value, value)
    variance += _covariance(groups.negatives, ranks.negative, ranks.negative, value, value)
    return with_interval(value, float(np.sqrt(variance)), coverage)


def with_interval(value: float, error: float, coverage: float) -> AUC:
    """An AUC with an interval that is symmetric on the scale of ln AUC/(1 - AUC)."""
    if not 0 < value < 1:
        return AUC(value, error, np.nan, np.nan, coverage)
    reach = normal_quantile(coverage) * error / (value * (1 - value))
    low, high = expit(logit(value) - reach), expit(logit(value) + reach)
    return AUC(value, error, float(low), float(high), coverage)


def auc_difference(
    y_true: Any,
    y_prob_a: Any,
    y_prob_b: Any = None,
    *,
    coverage: float = COVERAGE,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> AUCDifference:
    """Difference of the AUCs of two models on the same rows, with an interval and a p-value.

    difference = AUC_a - AUC_b,   variance = var_a + var_b - 2 cov_ab       (DeLong et al. 1988)

    Two `Scored` of the same rows can replace `y_true` and `y_prob_a`. If all rows have one class,
    everything is NaN. If a class has a weight of at most 1, or both models rank alike, there is no
    p-value.

    Parameters
    ----------
    y_true : array, or Scored of the first model
        True labels.
    y_prob_a, y_prob_b : arrays, or Scored of the second model and nothing
        The probabilities of either model.
    coverage, sample_weight, pos_label
        As in `auc`.

    Examples
    --------
    >>> from weigh.metrics import auc_difference
    >>> y = [0, 0, 1, 1, 0, 1]
    >>> found = auc_difference(y, [0.1, 0.4, 0.5, 0.8, 0.3, 0.9], [0.1, 0.4, 0.3, 0.8, 0.3, 0.9])
    >>> round(found.value, 3)
    0.167
    """
    check_coverage(coverage)
    if isinstance(y_true, Scored):
        a, b = y_true, Scored.read(y_prob_a, y_prob_b, sample_weight, pos_label)
    else:
        a = Scored.read(y_true, y_prob_a, sample_weight, pos_label)
        b = Scored.read(y_true, y_prob_b, sample_weight, pos_label)
    if not (np.array_equal(a.positive, b.positive) and np.array_equal(a.weights, b.weights)):
        raise ValueError("the two models must be scored on the same rows, in the same order")
    if a.groups.one_class:
        return AUCDifference(np.nan, np.nan, np.nan, np.nan, np.nan, coverage)
    one, other = Ranks.of(a.groups), Ranks.of(b.groups)
    value, variance = one.value - other.value, 0.0
    for rows, mine, theirs in (
        (a.positive, one.positive[a.place], other.positive[b.place]),
        (~a.positive, one.negative[a.place], other.negative[b.place]),
    ):
        gap = (mine - theirs)[rows]
        variance += _covariance(a.weights[rows], gap, gap, value, value)
    error = float(np.sqrt(variance))
    reach = normal_quantile(coverage) * error
    p_value = 2 * float(ndtr(-abs(value) / error)) if error > 0 else np.nan
    return AUCDifference(value, error, value - reach, value + reach, p_value, coverage)


@dataclass(frozen=True, eq=False)
class Ranks:
    """Share of the other class that a row of each group is ranked correctly against; ties half.

    `value` is the AUC.
    """

    positive: Floats
    negative: Floats
    value: float

    @classmethod
    def of(cls, groups: Groups) -> Ranks:
        """Compute the shares from groups with rows of both classes."""
        below = groups.negatives_up_to[:-1] + groups.negatives / 2
        above = groups.n_positive - groups.positives_up_to[1:] + groups.positives / 2
        positive, negative = below / groups.n_negative, above / groups.n_positive
        value = float(groups.positives @ below) / (groups.n_negative * groups.n_positive)
        return cls(positive, negative, _exact(groups, value))


def _exact(groups: Groups, value: float) -> float:
    """AUC: exactly 0 or 1 if the classes are separated; other values are clipped to [0, 1]."""
    positives, negatives = (np.flatnonzero(part) for part in (groups.positives, groups.negatives))
    if (
        len(positives)
        and len(negatives)
        and (positives[0] > negatives[-1] or positives[-1] < negatives[0])
    ):
        return float(positives[0] > negatives[-1])
    return min(max(value, 0.0), 1.0)


def _covariance(weight: Floats, a: Floats, b: Floats, mean_a: float, mean_b: float) -> float:
    """Covariance of the weighted means of two columns of the same rows."""
    n = float(weight.sum())
    if n <= 1:
        return float("nan")
    return float(weight @ ((a - mean_a) * (b - mean_b))) / (n - 1) / n


@dataclass(frozen=True, eq=False)
class GainsCurve:
    """The share of positives (`gain`) among the most probable share of rows (`depth`).

    The curve goes from (0, 0) to (1, 1). It has one point per distinct probability and is linear in
    between, as if rows of equal probability were taken in random order.
    """

    depth: Floats
    gain: Floats
    base_rate: float

    def at(self, depth: Any) -> Floats:
        """The gain at any depth."""
        return np.interp(_check_depth(depth), self.depth, self.gain)


@dataclass(frozen=True, eq=False)
class LiftCurve:
    """Positive rate among the most probable share of rows (`depth`), relative to the base rate."""

    depth: Floats
    lift: Floats
    base_rate: float

    def at(self, depth: Any) -> Floats:
        """The lift at any depth above 0."""
        at = _check_depth(depth)
        if (at == 0).any():
            raise ValueError("there is no lift at a depth of 0; give a share of rows above 0")
        gain = np.concatenate([[0.0], self.depth * self.lift])
        return np.asarray(np.interp(at, np.concatenate([[0.0], self.depth]), gain) / at)


def gains_curve(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: Any = None
) -> GainsCurve:
    """Share of all positives among the most probable rows.

    gain(d) = share of the positives that are among the d n rows of highest probability

    Without positives the gain is NaN.

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_prob : array of shape (n,) or (n, 2)
        Probability of the positive class; with two columns, the second.
    sample_weight : array, optional
        Row weights; a weight of two equals a row given twice.
    pos_label : label, optional
        Positive class. Default: the greater of two.

    Examples
    --------
    >>> from weigh.metrics import gains_curve
    >>> curve = gains_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8])
    >>> curve.depth, curve.gain
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    depth = np.concatenate([[0.0], np.cumsum(groups.weight[::-1])])
    depth /= depth[-1]
    found = np.concatenate([[0.0], np.cumsum(groups.positives[::-1])])
    gain = found / found[-1] if found[-1] else np.full(len(found), np.nan)
    return GainsCurve(depth, gain, groups.base_rate)


def lift_curve(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: Any = None
) -> LiftCurve:
    """Positive rate among the most probable rows, relative to the base rate.

    lift(d) = gain(d)/d

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label
        As in `gains_curve`.

    Examples
    --------
    >>> from weigh.metrics import lift_curve
    >>> lift_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8]).lift.round(2)
    array([2.  , 1.  , 1.33, 1.  ])
    """
    gains = gains_curve(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label)
    depth = gains.depth[1:]
    return LiftCurve(depth, gains.gain[1:] / depth, gains.base_rate)


def _check_depth(depth: Any) -> Floats:
    at = read_matrix(depth, "depth")
    if not ((at >= 0) & (at <= 1)).all():
        raise ValueError(f"depth must be a share of rows from 0 to 1, got {depth!r}")
    return at
