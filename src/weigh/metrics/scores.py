"""Scores of probabilities, for two classes and for many: loss in bits, Brier score, error rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.evidence import BOUND
from weigh.frames import row_weights
from weigh.metrics.inputs import (
    Groups,
    Labels,
    Scored,
    bits,
    check_probabilities,
    read_codes,
    shape_of,
)
from weigh.metrics.numbers import NAN, read_matrix, read_threshold


def is_wide(y_prob: Any) -> bool:
    """Whether `y_prob` has one column for each of more than two classes."""
    shape = shape_of(y_prob, "y_prob")
    return len(shape) == 2 and shape[1] > 2


def refuse(given: bool, name: str, value: Any) -> None:
    """Raise an error for an argument about one class if there is a column for every class."""
    if given:
        raise ValueError(
            f"{name}={value!r:.60} is about one class against the rest, but the columns of y_prob "
            f"stand for every class; leave {name} out, or give the probability of one class in one "
            "dimension, named by pos_label, and no labels"
        )


@dataclass(frozen=True, eq=False)
class Many:
    """Probabilities of every class for each row, and the index of the row's true class."""

    codes: Integers
    p: Floats
    weight: Floats | None
    classes: list[Any]

    @classmethod
    def read(cls, y_true: Any, y_prob: Any, labels: Any, sample_weight: Any) -> Many:
        """Read one column for each class of `labels`; default: those of y_true, sorted."""
        true = Labels.read(y_true, sample_weight)
        known = true.values if labels is None else read_classes(labels)
        p = read_matrix(y_prob, "y_prob")
        if p.ndim == 1 and len(known) == 2:
            p = np.column_stack([1 - p, p])
        if p.ndim != 2 or p.shape[1] != len(known):
            raise ValueError(
                f"y_prob has shape {p.shape}, but there are {len(known)} classes ({known[:6]}); "
                "name those of its columns with labels"
            )
        check_probabilities(p, len(true.kept))
        if not np.allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-6):
            raise ValueError(
                "the probabilities of a row must add up to 1; divide them by their sum"
            )
        return cls(find(true, known), p[true.kept], true.weight, known)

    def __len__(self) -> int:
        return len(self.p)

    def take(self, rows: Integers) -> Many:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Many(self.codes[rows], self.p[rows], weight, self.classes)

    def against_rest(self, c: int) -> Scored:
        """One class against the rest."""
        return Scored(self.codes == c, self.p[:, c], self.weight)

    @property
    def weights(self) -> Floats:
        """Weight of each row."""
        return row_weights(self.weight, len(self))

    @property
    def own(self) -> Floats:
        """Probability of each row's true class."""
        return np.asarray(self.p[np.arange(len(self)), self.codes])

    @property
    def losses(self) -> Floats:
        """Loss of each row in bits."""
        return bits(self.own)

    @property
    def most_probable(self) -> Integers:
        """Most probable class of each row; the first one in a tie."""
        return np.asarray(self.p.argmax(axis=1))


def read_classes(labels: Any) -> list[Any]:
    """Read class labels in the order given; raise an error if one occurs twice."""
    column = read_codes(labels, "labels")
    classes = [column.values[code] for code in column.codes]
    if not classes or None in classes or len({*classes}) < len(classes):
        raise ValueError(f"labels must name each class once, got {classes}")
    return classes


def find(rows: Labels, classes: list[Any]) -> Integers:
    """Index of each row's label in `classes`."""
    odd = [value for value in rows.values if value not in classes]
    if odd:
        raise ValueError(f"{odd[0]!r} is not among labels={classes}")
    places: Integers = np.array([classes.index(value) for value in rows.values])[rows.codes]
    return places


def loss_bits(
    y_true: Any,
    y_prob: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Mean log loss, in bits.

    loss = -mean of log2 P(class of the row)            (Hong, Hosking & Natarajan 2002, Eq. 15)

    Probabilities are kept within [1e-10, 1 - 1e-10], as in the paper. A loss of 0 is perfect; 1 is
    a coin toss between two classes.

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_prob : array of shape (n,), (n, 2) or (n, k)
        The probability of the positive class, or of every class in the order of `labels`.
    labels : array, optional
        Classes of the columns of `y_prob`. Default: those of y_true, sorted.
    sample_weight : array, optional
        Row weights.
    pos_label : label, optional
        Positive class of two. Default: the greater. Not used with one column per class.

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
    return float(np.average(many.losses, weights=many.weight))


def misclassification_rate(
    y_true: Any,
    y_prob: Any = None,
    *,
    threshold: float = 0.5,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Share of rows that are classified wrongly.

    A row counts as positive if its probability is above the cut-off. With more than two classes the
    most probable is chosen; the first one in a tie.

    Parameters
    ----------
    y_true, y_prob, labels, sample_weight, pos_label
        As in `loss_bits`.
    threshold : float, default=0.5
        Cut-off for two classes, without `labels`.

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
    return float(np.average(many.most_probable != many.codes, weights=many.weight))


def brier(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: Any = None
) -> float:
    """Brier score: the mean squared error of probabilities of two classes.

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


@dataclass(frozen=True)
class ErrorRates:
    """Correct and wrong decisions at a cut-off, as weights and as rates.

    A rate without rows is NaN: the false-positive rate without negatives, the ppv without positive
    decisions.
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
        """Share of negatives that are classified as positive (Ridgeway 2025, Eq. 3)."""
        return _share(self.false_positives, self.true_negatives)

    @property
    def false_negative_rate(self) -> float:
        """Share of positives that are classified as negative (Ridgeway 2025, Eq. 4)."""
        return _share(self.false_negatives, self.true_positives)

    @property
    def sensitivity(self) -> float:
        """Share of positives that are classified as positive: recall."""
        return _share(self.true_positives, self.false_negatives)

    @property
    def specificity(self) -> float:
        """Share of negatives that are classified as negative."""
        return _share(self.true_negatives, self.false_positives)

    @property
    def ppv(self) -> float:
        """Share of true positives among rows classified as positive: precision."""
        return _share(self.true_positives, self.false_positives)

    @property
    def npv(self) -> float:
        """Share of true negatives among rows classified as negative."""
        return _share(self.true_negatives, self.false_negatives)

    @property
    def misclassification(self) -> float:
        """Share of rows that are classified wrongly."""
        wrong = self.false_positives + self.false_negatives
        return _share(wrong, self.true_positives + self.true_negatives)

    @property
    def flagged(self) -> float:
        """Share of rows that are classified as positive."""
        called = self.true_positives + self.false_positives
        return _share(called, self.true_negatives + self.false_negatives)


def _share(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest else NAN


def error_rates(
    y_true: Any,
    y_prob: Any = None,
    threshold: float = 0.5,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> ErrorRates:
    """False positives and negatives, sensitivity, specificity and more at a cut-off.

    A row counts as positive if p > threshold, as in `predict` at one half.

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_prob : array of shape (n,) or (n, 2)
        Probability of the positive class; with two columns, the second.
    threshold : float, default=0.5
        Cut-off.
    sample_weight : array, optional
        Row weights; a weight of two equals a row given twice.
    pos_label : label, optional
        Positive class. Default: the greater of two.

    Examples
    --------
    >>> from weigh.metrics import error_rates
    >>> rates = error_rates([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8])
    >>> rates.sensitivity, rates.specificity
    (0.5, 0.5)
    """
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    at = read_threshold(threshold)
    found, alarms = (float(part[0]) for part in count_above(groups, np.array([at])))
    rest = groups.n_negative - alarms, groups.n_positive - found
    return ErrorRates(at, found, alarms, *rest)


def count_above(groups: Groups, thresholds: Floats) -> tuple[Floats, Floats]:
    """The weight of positives and of negatives above each cut-off."""
    place = np.searchsorted(groups.p, thresholds, side="right")
    positives = groups.n_positive - groups.positives_up_to[place]
    return positives, groups.n_negative - groups.negatives_up_to[place]
