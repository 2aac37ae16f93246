"""How much a table matters in a fitted model, from its own weights and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import entr, log_softmax

from weigh.frames import Floats

if TYPE_CHECKING:
    from weigh.evidence.tables import Evidence


def share_rows(counts: Floats) -> Floats:
    """The share of each level in the training rows.

    >>> share_rows(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([0.75, 0.25])
    """
    rows = counts.sum(axis=1)
    return np.asarray(rows / max(rows.sum(), np.finfo(float).tiny))


def centre_weights(by_class: Floats, counts: Floats) -> Floats:
    """Weights less their mean over the training rows: how far a level moves a total from the usual.

    Where a table's zero lies is a convention of the learner. Levels that no row has are left out of
    the mean.
    """
    return np.asarray(by_class - share_rows(counts) @ by_class)


def mean_contribution(by_class: Floats, counts: Floats) -> Floats:
    """The mean absolute contribution over the training rows, for each total of a row.

    sum over levels v of share_v |w_v - mean|
    """
    return np.asarray(share_rows(counts) @ np.abs(centre_weights(by_class, counts)))


def loss_without(by_class: Floats, counts: Floats) -> float:
    """Nats a row that the log loss would rise by if every row had the table's mean weight.

    An approximation from the counts of the table alone: all rows of a level v have the class
    frequencies r_v of that level. Their totals ln r_v then lose what the table says,

        sum over levels v of share_v KL(r_v || softmax(ln r_v - (w_v - mean)))

    It is exact where the model has no other table, and too high where other tables make rows more
    certain than their level is. Other weights stay as they are: nothing is fitted again.
    """
    told = counts.sum(axis=1) > 0
    moved = centre_weights(by_class, counts)[told]
    if moved.shape[1] == 1:  # the log odds of two classes
        moved = np.column_stack([np.zeros(len(moved)), moved])
    rows = counts[told]
    rate = rows / rows.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        after = log_softmax(np.log(rate) - moved, axis=1)
    lost = -np.where(rate > 0, rate * np.where(rate > 0, after, 0.0), 0.0) - entr(rate)
    return float(max(share_rows(rows) @ lost.sum(axis=1), 0.0))


def share_importance(evidence: Evidence) -> Floats:
    """The importance of each column that the evidence reads; a pair's is shared by its columns."""
    names = evidence.column_names
    shares = dict.fromkeys(names, 0.0)
    if evidence.event_model == "counts":
        table = evidence.tables[0]  # a token contributes its weight as often as it occurs
        often = table.counts.sum(axis=1) / evidence.class_counts.sum()
        return np.asarray(often * np.abs(table.by_class).mean(axis=1))
    for table in evidence:
        for part in table.feature.parts:
            shares[part.name] += table.importance / len(table.feature.parts)
    return np.array([shares[name] for name in names])
