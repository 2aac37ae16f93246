"""A fit as tables that people read: centred, and with intervals that agree merged."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from weigh.educated.centre import centre
from weigh.educated.fit import Fit
from weigh.educated.merge import add_up, average, count_groups, group_tables, merge_feature
from weigh.evidence import Evidence, FeatureTable, contrast, squeeze
from weigh.frames import Floats, Integers
from weigh.tally import Counts

MOST_WEIGHTS = 1024
"""The covariance of more weights is not kept: a model is to fit into a letter."""

DIGITS = 6


def evidence_of(
    naive: Evidence, counts: Sequence[Counts], fits: Sequence[Fit], fine: Collection[str]
) -> Evidence:
    """The tables of a fit in place of naive Bayes's, or of one fit per class.

    `fine` are the columns that were cut finely: their intervals may be merged.
    """
    whole = float(naive.class_counts.sum())
    weights = np.hstack([centre(counts, fit.weights, whole) for fit in fits])
    if weights.shape[1] > len(fits):
        weights = contrast(weights)  # of classes fitted jointly
    columns = _split(weights[1:], [len(c.counts) for c in counts])
    groups = group_tables(counts, columns, fine)
    merged = _split(_merge(weights, counts, groups)[1:], [*map(count_groups, groups)])
    covariances = [_merge_both(fit.covariance, counts, groups, whole) for fit in fits]
    tables = [
        FeatureTable(
            feature=merge_feature(c.feature, group),
            counts=add_up(group, c.counts),
            by_class=table,
            smoothing=naive.tables[0].smoothing,
            known_errors=error,
        )
        for c, group, table, error in zip(
            counts, groups, merged, _errors(covariances, groups), strict=True
        )
    ]
    return replace(
        naive,
        tables=tuple(tables),
        prior=squeeze(weights[0]),
        prior_variances=None,
        form="softmax" if len(fits) == 1 else "ovr",
        covariance=_kept(covariances),
    )


def _split(rows: Floats, sizes: Sequence[int]) -> list[Floats]:
    return np.split(rows, np.cumsum(sizes)[:-1])


def _merge(weights: Floats, counts: Sequence[Counts], groups: Sequence[Integers]) -> Floats:
    """Prior and weights, those of a group averaged."""
    columns = _split(weights[1:], [len(c.counts) for c in counts])
    parts = [
        average(group, c.counts.sum(axis=1), column)
        for group, c, column in zip(groups, counts, columns, strict=True)
    ]
    return np.vstack([weights[:1], *parts])


def _merge_both(
    covariance: Floats | None, counts: Sequence[Counts], groups: Sequence[Integers], whole: float
) -> Floats | None:
    """The covariance of what `centre` and `_merge` make of the weights.

    A merged weight stands for levels that were told apart: its variance is the mean of theirs, and
    not the smaller one of their mean.
    """
    if covariance is None:
        return None
    centred = centre(counts, centre(counts, covariance, whole).T, whole)
    merged = _merge(_merge(centred, counts, groups).T, counts, groups)
    np.fill_diagonal(merged, _merge(centred.diagonal()[:, None], counts, groups))
    return merged


def _errors(
    covariances: Sequence[Floats | None], groups: Sequence[Integers]
) -> list[Floats] | list[None]:
    """The standard error of each weight, by feature, where it is known."""
    known = [np.diag(covariance)[1:] for covariance in covariances if covariance is not None]
    if len(known) < len(covariances):
        return [None] * len(groups)
    errors = np.sqrt(np.maximum(np.column_stack(known), 0.0))
    return _split(errors, [*map(count_groups, groups)])


def _kept(covariances: Sequence[Floats | None]) -> Floats | None:
    """The only covariance, to six digits, so that it is the same after a file."""
    numbers = covariances[0]
    if len(covariances) > 1 or numbers is None or len(numbers) > MOST_WEIGHTS:
        return None
    known = np.where(numbers == 0, 1.0, np.abs(numbers))
    unit = 10.0 ** np.clip(DIGITS - 1 - np.floor(np.log10(known)), 0, 22)
    rounded = np.round(numbers * unit) / unit
    whole: Floats = np.tril(rounded) + np.tril(rounded, -1).T
    return whole
