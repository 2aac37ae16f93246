"""The same questions of every group of rows: whether it is as good for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.bins import label
from weigh.evaluation.many import mean_of_rows
from weigh.evaluation.measures import Options
from weigh.evaluation.values import Bounded
from weigh.evidence import BOUND
from weigh.frames import Value, key, order
from weigh.metrics import Scored, auc, calibration_line, error_rates
from weigh.metrics.many import Many
from weigh.metrics.numbers import NAN
from weigh.metrics.predicted import Predicted
from weigh.metrics.scored import Flags, read_codes

LEAST = 10
"""AUC and calibration have intervals for large samples: a group needs so many of each class."""

MOST = 200


@dataclass(frozen=True)
class Group:
    """One group of rows of two classes. `note` says why something is not known."""

    name: str
    n_rows: int
    weight: float
    base_rate: Bounded
    mean_prediction: float
    auc: Bounded
    slope: Bounded
    in_the_large: Bounded
    false_positive_rate: Bounded
    false_negative_rate: Bounded
    flagged: Bounded
    note: str = ""


@dataclass(frozen=True)
class ManyGroup:
    """One group of rows of more than two classes."""

    name: str
    n_rows: int
    weight: float
    loss: Bounded
    misclassification: Bounded
    note: str = ""


def measure_groups(
    by: Any, name: str, predicted: Predicted, question: Any, options: Options
) -> tuple[Group | ManyGroup, ...]:
    """Every group of rows that share a value of `by`, in order."""
    found: list[Group | ManyGroup] = []
    for value, places in _split(by, name, predicted.kept):
        rows = _take(predicted.rows, places)
        if isinstance(rows, Scored):
            found.append(_measure(label(value), rows, question.pos_label, options))
        else:
            found.append(_measure_many(label(value), rows, options.coverage))
    return tuple(found)


def _split(by: Any, name: str, kept: Flags) -> Iterator[tuple[Value, Any]]:
    column = read_codes(by, name)
    if len(column.codes) != len(kept):
        raise ValueError(
            f"{name} has {len(column.codes)} values for {len(kept)} rows; give one for each"
        )
    values = {key(value): value for value in column.values}
    place = {name: k for k, name in enumerate(values)}
    codes = np.array([place[key(value)] for value in column.values])[column.codes[kept]]
    used = np.flatnonzero(np.bincount(codes, minlength=len(values)))
    if len(used) > MOST:
        raise ValueError(
            f"{name} holds {len(used)} different values, and {MOST} groups are the most; group "
            "them first, such as numbers into intervals"
        )
    found = [*values.values()]
    for code in sorted(used, key=lambda code: order(found[code])):
        yield found[code], np.flatnonzero(codes == code)


def _take(rows: Scored | Many, places: Any) -> Scored | Many:
    weight = None if rows.weight is None else rows.weight[places]
    if isinstance(rows, Scored):
        return Scored(rows.positive[places], rows.p[places], weight)
    return Many(rows.codes[places], rows.p[places], weight, rows.classes)


def _measure(name: str, rows: Scored, pos_label: Value, options: Options) -> Group:
    groups, coverage = rows.groups, options.coverage
    rates = error_rates(rows, threshold=options.threshold)
    few = min(groups.n_positive, groups.n_negative)
    area = line = slope = Bounded(NAN)
    if few >= LEAST:
        found, fitted = auc(rows, coverage=coverage), calibration_line(rows)
        area = Bounded(found.value, found.low, found.high)
        slope = Bounded.normal(fitted.slope, fitted.slope_error, coverage)
        line = Bounded.normal(fitted.in_the_large, fitted.in_the_large_error, coverage)
    said = rates.true_positives + rates.false_positives
    return Group(
        name=name,
        n_rows=len(rows),
        weight=groups.n,
        base_rate=Bounded.share(groups.n_positive, groups.n, coverage),
        mean_prediction=groups.mean(groups.p),
        auc=area,
        slope=slope,
        in_the_large=line,
        false_positive_rate=Bounded.share(rates.false_positives, groups.n_negative, coverage),
        false_negative_rate=Bounded.share(rates.false_negatives, groups.n_positive, coverage),
        flagged=Bounded.share(said, groups.n, coverage),
        note=_note(groups.n_positive, groups.n_negative, label(pos_label)),
    )


def _note(positives: float, negatives: float, of: str) -> str:
    if not positives or not negatives:
        return f"one class: {'all' if positives else 'none'} of its rows are {of}"
    few, whose = min((positives, of), (negatives, f"not {of}"))
    if few >= LEAST:
        return ""
    return f"too few for AUC and calibration: {few:g} are {whose}, and {LEAST} are needed"


def _measure_many(name: str, rows: Many, coverage: float) -> ManyGroup:
    n = len(rows.p)
    weight = np.ones(n) if rows.weight is None else rows.weight
    own = np.clip(rows.p[np.arange(n), rows.codes], BOUND, 1 - BOUND)
    wrong = rows.p.argmax(axis=1) != rows.codes
    total, loss = float(weight.sum()), mean_of_rows(-np.log2(own), weight, coverage)
    few = total < LEAST
    return ManyGroup(
        name=name,
        n_rows=n,
        weight=total,
        loss=Bounded(loss.value) if few else loss,
        misclassification=Bounded.share(float(weight @ wrong), total, coverage),
        note=f"too few for an interval of the loss: a weight of {total:g}" if few else "",
    )
