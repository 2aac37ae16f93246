"""Cost of decisions: the cut-off of lowest cost, expected cost, net benefit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.frames import did_you_mean
from weigh.metrics.inputs import Labels, Scored, read_codes, shape_of
from weigh.metrics.numbers import LARGEST, read_cost, read_matrix, read_threshold
from weigh.metrics.scores import Many, count_above, find, read_classes


@dataclass(frozen=True)
class BestThreshold:
    """The cut-off of lowest cost on the given rows, and the theoretical one."""

    threshold: float
    cost: float
    theoretical: float
    theoretical_cost: float


@dataclass(frozen=True, eq=False)
class NetBenefit:
    """Net benefit by cut-off: of the model, of treating all, and of treating none."""

    threshold: Floats
    model: Floats
    treat_all: Floats
    treat_none: Floats


def best_threshold(
    y_true: Any,
    y_prob: Any = None,
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> BestThreshold:
    """Find the cut-off of lowest cost on these rows.

    The cost of a cut-off t is::

        cost(t) = (cost_fp false positives(t) + cost_fn false negatives(t)) / n

    Calibrated probabilities need no search: a positive decision costs cost_fp (1 - p) and a
    negative one cost_fn p, so the cut-off is cost_fp/(cost_fp + cost_fn). It is returned beside the
    one found; on few rows it is the safer of the two.

    The cut-offs tried lie midway between neighbouring probabilities and beyond the outer ones (-inf
    makes all rows positive). Among equally good ones, the one nearest to the theoretical cut-off is
    taken.

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
    """Cut-offs below all distinct probabilities, midway between neighbours, and above all."""
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
    """Net benefit of acting on a model, in true positives per row (decision curve).

    The curve (Vickers & Elkin 2006) is::

        net benefit(t) = TP/n - FP/n t/(1 - t)

    A cut-off t means that one true positive is worth (1 - t)/t false ones. Treating all and
    treating none (0) are given beside the model.

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label
        As in `error_rates`.
    thresholds : array, optional
        Cut-offs from 0 to below 1. Default: 0.01, 0.02, ... 0.99.

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
    found, alarms = count_above(groups, t)
    odds = t / (1 - t)
    return NetBenefit(
        threshold=t,
        model=(found - alarms * odds) / groups.n,
        treat_all=(groups.n_positive - groups.n_negative * odds) / groups.n,
        treat_none=np.zeros(len(t)),
    )


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
    """Mean cost of decisions per row.

    cost = mean of costs[class of the row][class decided for]

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_pred : array
        Decisions as labels; or, with `threshold`, probabilities of the positive class; or, with two
        dimensions, probabilities of every class, where the class of lowest expected cost is chosen
        (the first one in a tie).
    costs : pair or array of shape (k, k), default=(1, 1)
        Costs of a false positive and of a false negative; or the cost of each true class (row) and
        decision (column), in the order of `labels` (with `threshold`, negative first).
    threshold : float, optional
        Cut-off; `y_pred` then has probabilities.
    labels : array, optional
        The classes; by default those of y_true and of the decisions, sorted.
    sample_weight, pos_label
        As in `loss_bits`. A table of costs needs no `pos_label`.

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
                f"labels={labels!r:.60} apply to decisions or to several columns, not to a "
                "threshold; leave labels out, and name the positive class with pos_label"
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
    true, n_pred = Labels.read(y_true, sample_weight), len(read_codes(y_pred, "y_pred").codes)
    if n_pred != len(true.kept):
        raise ValueError(f"y_true has {len(true.kept)} rows and y_pred {n_pred}; give one for each")
    decided = Labels.read(y_pred, None if sample_weight is None else true.kept.astype(np.float64))
    every = Labels.read([*true.values, *decided.values]).values
    known = every if labels is None else read_classes(labels)
    matrix = _order_costs(costs, known, pos_label)
    return float(np.average(matrix[find(true, known), find(decided, known)], weights=true.weight))


def _read_costs(costs: Any, n_classes: int) -> Floats:
    """Read costs as a matrix by true class and decision, or as (false positive, false negative)."""
    matrix = read_matrix(costs, "costs")
    if matrix.shape == (2,) and n_classes <= 2:  # with one class no error is possible
        matrix = np.array([[0.0, matrix[0]], [matrix[1], 0.0]])[:n_classes, :n_classes]
    if matrix.shape != (n_classes, n_classes) or not (np.abs(matrix) <= LARGEST).all():
        pair = "(false positive, false negative) or " if n_classes == 2 else ""
        raise ValueError(
            f"costs must be {pair}a {n_classes} x {n_classes} table, by true class and decision, "
            f"of numbers no larger than {LARGEST:g}; got {costs!r}"
        )
    return matrix


def _order_costs(costs: Any, known: list[Any], pos_label: Any) -> Floats:
    """Cost matrix in the order of the classes; a pair of costs refers to the positive class."""
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
