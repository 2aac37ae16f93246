"""Scores of probabilities and of decisions: loss in bits, Brier, misclassification, cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.frames import Floats, Integers
from weigh.metrics.scored import (
    BOUND,
    Labels,
    Scored,
    check_probabilities,
    read_codes,
    read_matrix,
)


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
        The positive class of two; by default the greater.

    Examples
    --------
    >>> from weigh.metrics import loss_bits
    >>> loss_bits([1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5])
    1.0
    """
    if labels is None and not _is_wide(y_prob):
        groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
        p = np.clip(groups.p, BOUND, 1 - BOUND)
        nats = groups.positives @ np.log(p) + groups.negatives @ np.log1p(-p)
        return float(-nats / (groups.n * np.log(2)))
    many = _Many.read(y_true, y_prob, labels, sample_weight)
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
        Of two classes.

    Examples
    --------
    >>> from weigh.metrics import misclassification_rate
    >>> misclassification_rate([1, 0, 1, 0], [0.9, 0.2, 0.4, 0.5])
    0.25
    """
    if labels is None and not _is_wide(y_prob):
        rows = Scored.read(y_true, y_prob, sample_weight, pos_label)
        wrong = (rows.p > threshold) != rows.positive
        return float(np.average(wrong, weights=rows.weight))
    many = _Many.read(y_true, y_prob, labels, sample_weight)
    return float(np.average(many.p.argmax(axis=1) != many.codes, weights=many.weight))


def expected_cost(
    y_true: Any,
    y_pred: Any = None,
    costs: Any = (1.0, 1.0),
    *,
    threshold: float | None = None,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """What decisions cost per row.

    cost = mean of costs[class of the row][class decided for]

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_pred : array
        Decisions, as labels; or, with `threshold`, the probability of the positive class, decided
        for where it is above the threshold; or, with two dimensions, the probability of every
        class, of which the one of least expected cost is decided for (the first of equal ones).
    costs : pair or array of shape (k, k), default=(1, 1)
        The cost of a false positive and of a false negative; or the cost of each true class (row)
        and decision (column), in the order of `labels`.
    threshold : float, optional
        Says that `y_pred` holds probabilities.
    labels : array, optional
        The classes; by default those of y_true and of the decisions, sorted.
    sample_weight, pos_label
        As in `loss_bits`. `pos_label` is the class that a false positive is taken for.

    Examples
    --------
    >>> from weigh.metrics import expected_cost
    >>> expected_cost(["no", "no", "yes", "yes"], ["yes", "no", "no", "yes"], costs=(1, 5))
    1.5
    >>> expected_cost([0, 1], [0.3, 0.4], costs=(1, 5), threshold=1 / 6)
    0.5
    """
    if threshold is not None or isinstance(y_true, Scored):
        rows = Scored.read(y_true, y_pred, sample_weight, pos_label)
        matrix = read_costs(costs, 2)
        said = rows.p > (0.5 if threshold is None else threshold)
        paid = matrix[rows.positive.astype(np.intp), said.astype(np.intp)]
        return float(np.average(paid, weights=rows.weight))
    if np.ndim(y_pred) == 2:
        many = _Many.read(y_true, y_pred, labels, sample_weight)
        matrix = _ordered_costs(costs, many.values, pos_label)
        said = (many.p @ matrix).argmin(axis=1)
        return float(np.average(matrix[many.codes, said], weights=many.weight))
    return _cost_of_labels(y_true, y_pred, costs, labels, sample_weight, pos_label)


def _cost_of_labels(
    y_true: Any, y_pred: Any, costs: Any, labels: Any, sample_weight: Any, pos_label: Any
) -> float:
    true, said = Labels.read(y_true, sample_weight), read_codes(y_pred, "y_pred")
    if len(said.codes) != len(true.kept):
        raise ValueError(f"y_true has {len(true.kept)} rows and y_pred {len(said.codes)}")
    told = Labels.read(y_pred, None if sample_weight is None else true.kept.astype(np.float64))
    known = Labels.read([*true.values, *told.values] if labels is None else labels).values
    matrix = _ordered_costs(costs, known, pos_label)
    rows, columns = (_places(part, known)[part.codes] for part in (true, told))
    return float(np.average(matrix[rows, columns], weights=true.weight))


def _places(found: Labels, known: list[Any]) -> Integers:
    odd = [value for value in found.values if value not in known]
    if odd:
        raise ValueError(f"{odd[0]!r} is not among labels={known}")
    return np.array([known.index(value) for value in found.values])


def read_costs(costs: Any, n_classes: int) -> Floats:
    """A matrix of costs by true class and decision, from itself or from two kinds of error."""
    matrix = read_matrix(costs, "costs")
    if matrix.shape == (2,) and n_classes == 2:
        matrix = np.array([[0.0, matrix[0]], [matrix[1], 0.0]])
    if matrix.shape != (n_classes, n_classes) or not np.isfinite(matrix).all():
        pair = "(false positive, false negative) or " if n_classes == 2 else ""
        raise ValueError(
            f"costs must be {pair}a finite {n_classes} x {n_classes} table, by true class and "
            f"decision, got {costs!r}"
        )
    return matrix


def _ordered_costs(costs: Any, known: list[Any], pos_label: Any) -> Floats:
    """Two kinds of error are those of the positive class, wherever it stands."""
    matrix = read_costs(costs, len(known))
    pair = np.ndim(costs) == 1
    if pair and pos_label is not None and known.index(pos_label) == 0:
        return matrix[::-1, ::-1]
    return matrix


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


def _is_wide(y_prob: Any) -> bool:
    """Whether it has a column for each of more than two classes."""
    return np.ndim(y_prob) == 2 and np.shape(y_prob)[1] > 2


@dataclass(frozen=True, eq=False)
class _Many:
    """Rows of probabilities of every class, and the place of the true one."""

    codes: Integers
    p: Floats
    weight: Floats | None
    values: list[Any]

    @classmethod
    def read(cls, y_true: Any, y_prob: Any, labels: Any, sample_weight: Any) -> _Many:
        true = Labels.read(y_true, sample_weight)
        known = true.values if labels is None else Labels.read(labels).values
        p = read_matrix(y_prob, "y_prob")
        if p.ndim == 1 and len(known) == 2:
            p = np.column_stack([1 - p, p])
        if p.ndim != 2 or p.shape[1] != len(known):
            raise ValueError(
                f"y_prob has shape {p.shape}, but there are {len(known)} classes ({known[:6]}); "
                "name those of its columns with labels"
            )
        check_probabilities(p, len(true.kept))
        if not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
            raise ValueError(
                "the probabilities of a row must add up to 1; divide them by their sum"
            )
        places = _places(true, known)
        return cls(places[true.codes], p[true.kept], true.weight, known)
