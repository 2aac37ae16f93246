"""Counts to weights of evidence, with their uncertainty."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from scipy.special import polygamma

from weigh.evidence.curve import BOUND
from weigh.evidence.tables import Evidence, FeatureTable, contrast, squeeze
from weigh.frames import Floats
from weigh.tally import Counts, Tally, smoothed_levels

Smoothing: TypeAlias = float | Literal["1/n"]


def weigh_tally(tally: Tally, smoothing: Smoothing, class_prior: Floats | None = None) -> Evidence:
    """Naive Bayes in one step: the prior and weights of evidence of a tally.

    w(v) = ln P(v|1)/P(v|0),  P(v|c) = (n_vc + s)/(N_c + s m)        (Ridgeway 2025, Eq. 1)

    m counts the levels that occur or are declared, N_c is the weight of class c where the feature
    was observed.
    """
    total = tally.class_counts.sum()
    s = rows_added(smoothing, total)
    counted = np.clip(tally.class_counts / total, BOUND, 1 - BOUND)
    rate = counted if class_prior is None else class_prior
    variances = _trigamma(tally.class_counts) if class_prior is None else np.zeros(len(rate))
    return Evidence(
        classes=tally.classes,
        class_counts=tally.class_counts,
        prior=squeeze(contrast(np.log(rate))),
        tables=tuple(weigh_counts(counts, s) for counts in tally.tables),
        assumed_rate=rate,
        prior_variances=variances,
    )


def rows_added(smoothing: Smoothing, total: float) -> float:
    """The s of the formula: a number, or one over the weight of all rows."""
    return 1.0 / total if isinstance(smoothing, str) else float(smoothing)


def weigh_counts(table: Counts, s: float) -> FeatureTable:
    """The weights of one feature. A declared level without rows weighs what smoothing gives it.

    An interval or a special code without rows weighs nothing.
    """
    counts, seen = table.counts, smoothed_levels(table)
    norm = counts.sum(axis=0) + s * seen.sum()
    told = seen[:, None] & (seen.sum() > 1)  # one level alone tells nothing
    columns = contrast(np.log(np.where(told, share_counts(table, s), 1.0)))
    with np.errstate(invalid="ignore"):  # two infinite variances: not known
        variances = np.where(seen[:, None], _trigamma(counts + s) - _trigamma(norm), 0.0)
    return FeatureTable(table.feature, counts, columns, np.maximum(variances, 0.0), s)


def share_counts(table: Counts | FeatureTable, s: float) -> Floats:
    """P(v|c) of each level and class; of levels that smoothing leaves out it means nothing."""
    counts, seen = table.counts, smoothed_levels(table).sum()
    norm = counts.sum(axis=0) + s * seen
    share: Floats = (counts + s) / np.where(norm > 0, norm, 1)
    if s == 0:
        nothing_known = 1 / max(seen, 1)  # a class without a single row here
        share = np.where(norm > 0, np.clip(share, BOUND, 1 - BOUND), nothing_known)
    return share


def _trigamma(x: Floats) -> Floats:
    """The variance of the log of a gamma variable; NaN for an empty cell."""
    distinct, places = np.unique(np.where(x > 0, x, np.nan), return_inverse=True)
    return np.asarray(polygamma(1, distinct)[places].reshape(x.shape), dtype=np.float64)
