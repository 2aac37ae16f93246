"""Scores of probabilities: loss in bits, Brier, misclassification."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.evidence import BOUND
from weigh.metrics.multiclass import Many, is_wide, refuse
from weigh.metrics.numbers import read_threshold
from weigh.metrics.scored import Scored


def loss_bits(
    y_true: Any,
    y_prob: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """The mean surprise at what came true, in bits.

    loss = -mean of log2 P(class of the row)            (Hong, Hosking & Natarajan 2002, Eq. 15)

    Probabilities are kept within [1e-10, 1 - 1e-10], as in the paper. 0 is certain and right, 1 is
    the toss of a coin between two classes.

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_prob : array of shape (n,), (n, 2) or (n, k)
        The probability of the positive class, or of every class in the order of `labels`.
    labels : array, optional
        The classes that the columns of `y_prob` stand for; by default those of y_true, sorted.
    sample_weight : array, optional
        Row weights.
    pos_label : label, optional
        The positive class of two; by default the greater. Where columns stand for classes there is
        none.

    Examples
    --------
    >>> from weigh.metrics import loss_bits
    >>> loss_bits([1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5])
    1.0
    """
    if labels is None and not is_wide(y_prob):
        groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
        p = np.clip(groups.p, BOUND, 1 - BOUND)
        nats = groups.positives @ np.log(p) + groups.negatives @ np.log1p(-p)
        return float(-nats / (groups.n * np.log(2)))
    refuse(pos_label is not None, "pos_label", pos_label)
    many = Many.read(y_true, y_prob, labels, sample_weight)
    own = np.clip(many.p[np.arange(len(many.p)), many.codes], BOUND, 1 - BOUND)
    return float(np.average(-np.log2(own), weights=many.weight))


def misclassification_rate(
    y_true: Any,
    y_prob: Any = None,
    *,
    threshold: float = 0.5,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """The share of rows that are decided wrongly.

    A row is positive where its probability is above the threshold; of more than two classes the
    most probable is decided for, and of equally probable ones the first.

    Parameters
    ----------
    y_true, y_prob, labels, sample_weight, pos_label
        As in `loss_bits`.
    threshold : float, default=0.5
        Of two classes, without `labels`.

    Examples
    --------
    >>> from weigh.metrics import misclassification_rate
    >>> misclassification_rate([1, 0, 1, 0], [0.9, 0.2, 0.4, 0.5])
    0.25
    """
    if labels is None and not is_wide(y_prob):
        rows = Scored.read(y_true, y_prob, sample_weight, pos_label)
        wrong = (rows.p > read_threshold(threshold)) != rows.positive
        return float(np.average(wrong, weights=rows.weight))
    refuse(pos_label is not None, "pos_label", pos_label)
    refuse(read_threshold(threshold) != 0.5, "threshold", threshold)
    many = Many.read(y_true, y_prob, labels, sample_weight)
    return float(np.average(many.p.argmax(axis=1) != many.codes, weights=many.weight))


def brier(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: Any = None
) -> float:
    """The mean squared error of probabilities of two classes.

    Brier = mean of (p - y)^2

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label
        As in `loss_bits`.

    Examples
    --------
    >>> from weigh.metrics import brier
    >>> brier([0, 1], [0.5, 1.0])
    0.125
    """
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    p = groups.p
    return float(groups.positives @ (1 - p) ** 2 + groups.negatives @ p**2) / groups.n
