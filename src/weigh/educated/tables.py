"""A fit as tables that people read: intervals that agree are merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from weigh.educated.fit import Fit
from weigh.educated.merge import averaging, group_levels, merge_feature
from weigh.evidence import Evidence, FeatureTable, contrast, squeeze
from weigh.frames import Floats
from weigh.tally import Counts

MOST = 1024
"""The covariance of more weights is not kept: a model is to fit into a letter."""

DIGITS = 6


def evidence_of(naive: Evidence, counts: Sequence[Counts], fits: Sequence[Fit]) -> Evidence:
    """The tables of a fit in place of naive Bayes's, or of one fit per class."""
    weights = np.hstack([fit.weights for fit in fits])
    columns = np.split(weights[1:], np.cumsum([len(c.counts) for c in counts])[:-1])
    pairs = [*zip(counts, columns, strict=True)]
    groups = [group_levels(c.feature, column) for c, column in pairs]
    means = [averaging(g, c.counts.sum(axis=1)) for g, c in zip(groups, counts, strict=True)]
    merged = _merge_covariances(fits, means)
    errors = _errors(merged, means)
    tables = [
        FeatureTable(
            feature=merge_feature(c.feature, group),
            counts=(mean > 0) @ c.counts,
            by_class=_centred(mean @ column, len(fits)),
            smoothing=naive.tables[0].smoothing,
            known_errors=error,
        )
        for (c, column), group, mean, error in zip(pairs, groups, means, errors, strict=True)
    ]
    return replace(
        naive,
        tables=tuple(tables),
        prior=squeeze(_centred(weights[:1], len(fits))[0]),
        prior_variances=None,
        form="softmax" if len(fits) == 1 else "ovr",
        covariance=_kept(merged),
    )


def _centred(weights: Floats, n_fits: int) -> Floats:
    """Weights of classes fitted jointly are centred, as all such weights are."""
    return contrast(weights) if weights.shape[1] > n_fits else weights


def _merge_covariances(fits: Sequence[Fit], means: list[Floats]) -> list[Floats]:
    """The covariance of prior and merged weights of each fit, where it is known."""
    whole = block_diag(np.ones((1, 1)), *means)
    known = [fit.covariance for fit in fits if fit.covariance is not None]
    return [whole @ covariance @ whole.T for covariance in known]


def _errors(covariances: list[Floats], means: list[Floats]) -> list[Floats] | list[None]:
    """The standard error of each merged weight, by feature."""
    if not covariances:
        return [None] * len(means)
    errors = np.sqrt(np.column_stack([np.diag(covariance)[1:] for covariance in covariances]))
    return np.split(errors, np.cumsum([len(mean) for mean in means])[:-1])


def _kept(covariances: list[Floats]) -> Floats | None:
    """The only covariance, to six digits, so that it is the same after a file."""
    if len(covariances) != 1 or len(covariances[0]) > MOST:
        return None
    (numbers,) = covariances
    known = np.where(numbers == 0, 1.0, np.abs(numbers))
    unit = 10.0 ** np.clip(DIGITS - 1 - np.floor(np.log10(known)), 0, 22)
    rounded = np.round(numbers * unit) / unit
    lower: Floats = np.tril(rounded) + np.tril(rounded, -1).T
    return lower
