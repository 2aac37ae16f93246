"""Curves over cut-offs, and what decisions cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.frames import Floats, did_you_mean
from weigh.metrics.numbers import LARGEST, read_threshold
from weigh.metrics.scored import Labels, Scored, read_codes, read_matrix, shape_of
from weigh.metrics.scores import Many, find, read_classes


@dataclass(frozen=True, eq=False)
class GainsCurve:
    """The share of positives (`gain`) among the most probable share of rows (`depth`).

    It begins at 0 and ends at 1. Rows of equal probability come together: between two points they
    are taken in random order, which is a straight line.
    """

    depth: Floats
    gain: Floats
    base_rate: float

    def at(self, depth: Any) -> Floats:
        """The gain at any depth."""
        return np.interp(_check_depth(depth), self.depth, self.gain)


@dataclass(frozen=True, eq=False)
class LiftCurve:
    """How many times the base rate the most probable share of rows (`depth`) holds."""

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
    """The share of all positives that the most probable rows hold.

    gain(d) = share of the positives that are among the d n rows of highest probability

    Where there are no positives the gain is NaN.

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_prob : array of shape (n,) or (n, 2)
        The probability of the positive class; of two columns, the second.
    sample_weight : array, optional
        Row weights; a weight of two is a row given twice.
    pos_label : label, optional
        The positive class; by default the greater of two.

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
    """How many times more positives the most probable rows hold than rows taken at random.

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
        and decision (column), in the order of `labels`; by threshold, negative comes first.
    threshold : float, optional
        Says that `y_pred` holds probabilities.
    labels : array, optional
        The classes; by default those of y_true and of the decisions, sorted.
    sample_weight, pos_label
        As in `loss_bits`. `pos_label` is the class that a false positive is taken for; a table of
        costs by decisions has no need of it.

    Examples
    --------
    >>> from weigh.metrics import expected_cost
    >>> expected_cost(["no", "no", "yes", "yes"], ["yes", "no", "no", "yes"], costs=(1, 5))
    1.5
    >>> expected_cost([0, 1], [0.3, 0.4], costs=(1, 5), threshold=1 / 6)
    0.5
    """
    if threshold is not None or isinstance(y_true, Scored):
        if labels is not None:
            raise ValueError(
                f"labels={labels!r:.60} are of decisions or of columns, and a threshold decides by "
                "one probability; leave labels out, and name the positive class with pos_label"
            )
        rows = Scored.read(y_true, y_pred, sample_weight, pos_label)
        matrix = _read_costs(costs, 2)
        said = rows.p > (0.5 if threshold is None else read_threshold(threshold))
        paid = matrix[rows.positive.astype(np.intp), said.astype(np.intp)]
        return float(np.average(paid, weights=rows.weight))
    if y_pred is None:
        raise ValueError("y_pred is missing; give decisions, or probabilities")
    if len(shape_of(y_pred, "y_pred")) == 2:
        many = Many.read(y_true, y_pred, labels, sample_weight)
        matrix = _order_costs(costs, many.classes, pos_label)
        said = (many.p @ matrix).argmin(axis=1)
        return float(np.average(matrix[many.codes, said], weights=many.weight))
    return _cost_of_labels(y_true, y_pred, costs, labels, sample_weight, pos_label)


def _cost_of_labels(
    y_true: Any, y_pred: Any, costs: Any, labels: Any, sample_weight: Any, pos_label: Any
) -> float:
    true, n_told = Labels.read(y_true, sample_weight), len(read_codes(y_pred, "y_pred").codes)
    if n_told != len(true.kept):
        raise ValueError(f"y_true has {len(true.kept)} rows and y_pred {n_told}; give one for each")
    told = Labels.read(y_pred, None if sample_weight is None else true.kept.astype(np.float64))
    every = Labels.read([*true.values, *told.values]).values
    known = every if labels is None else read_classes(labels)
    matrix = _order_costs(costs, known, pos_label)
    return float(np.average(matrix[find(true, known), find(told, known)], weights=true.weight))


def _read_costs(costs: Any, n_classes: int) -> Floats:
    """A matrix of costs by true class and decision, from itself or from two kinds of error."""
    matrix = read_matrix(costs, "costs")
    if matrix.shape == (2,) and n_classes <= 2:  # with one class there is no error to make
        matrix = np.array([[0.0, matrix[0]], [matrix[1], 0.0]])[:n_classes, :n_classes]
    if matrix.shape != (n_classes, n_classes) or not (np.abs(matrix) <= LARGEST).all():
        pair = "(false positive, false negative) or " if n_classes == 2 else ""
        raise ValueError(
            f"costs must be {pair}a {n_classes} x {n_classes} table, by true class and decision, "
            f"of numbers no larger than {LARGEST:g}; got {costs!r}"
        )
    return matrix


def _order_costs(costs: Any, known: list[Any], pos_label: Any) -> Floats:
    """Two kinds of error are those of the positive class, wherever it stands."""
    matrix = _read_costs(costs, len(known))
    if pos_label is None:
        return matrix
    if np.ndim(costs) == 2:
        raise ValueError(
            f"pos_label={pos_label!r:.60} says which error is the false positive, but costs has a "
            "cell for every class and decision; leave pos_label out, or give costs as a pair"
        )
    if pos_label not in known:
        meant = did_you_mean(pos_label, known)
        raise ValueError(f"pos_label={pos_label!r} is not among the classes {known}{meant}")
    return matrix[::-1, ::-1] if known.index(pos_label) == 0 else matrix
