"""Turn fitted weights into tables of evidence: centre them, and merge bins with similar weights."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import block_diag, csr_array

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature
from weigh.educated.fit import Fit
from weigh.educated.matrices import Covariance
from weigh.educated.prior import is_told
from weigh.educated.segments import coarse_levels
from weigh.evidence import Evidence, FeatureTable, contrast, squeeze
from weigh.tally import Counts

APART = 0.1
"""Largest change of any row's total by merging; it changes no probability by more than 0.025."""

TRIES = 12


def group_tables(
    counts: Sequence[Counts],
    columns: Sequence[Floats],
    fine: Collection[str],
    most: float | None = None,
) -> list[Integers]:
    """Group the levels of each table, to be merged; only tables named in `fine` are merged."""
    apart = APART if most is None else most
    may = [
        c.feature.name in fine and not c.feature.parts[0].ordered and c.feature.n_in_order > 1
        for c in counts
    ]
    groups: list[Integers] = []
    for share in np.geomspace(1, 1 / max(sum(may), 1), TRIES):
        groups = [
            group_levels(c.feature, column, share * apart) if some else np.arange(len(column))
            for c, column, some in zip(counts, columns, may, strict=True)
        ]
        if sum(map(_move, counts, columns, groups)) <= apart:
            break
    return groups


def _move(counts: Counts, weights: Floats, groups: Integers) -> float:
    """The largest change of a weight of this table by merging."""
    means = average(groups, counts.counts.sum(axis=1), weights)
    return float(np.abs(means[groups] - weights).max(initial=0.0))


def group_levels(feature: Feature | Cross, weights: Floats, most: float) -> Integers:
    """Group adjacent bins whose weights differ by at most `most`; other levels stay alone."""
    from weigh.educated.kernels import group_near

    groups = np.zeros(len(weights), dtype=np.intp)
    group_near(np.ascontiguousarray(weights), feature.n_in_order, most, groups)
    return groups


def count_groups(groups: Integers) -> int:
    """The number of groups; zero for a column without a single known value."""
    return int(groups[-1]) + 1 if len(groups) else 0


def merge_feature(feature: Feature | Cross, groups: Integers) -> Feature | Cross:
    """The feature with one bin per group."""
    if isinstance(feature, Cross) or not feature.cuts:
        return feature
    return feature.with_cuts(np.flatnonzero(np.diff(groups[: feature.n_intervals])))


def average(groups: Integers, rows: Floats, weights: Floats) -> Floats:
    """The mean weight of each group, with levels weighted by their rows.

    >>> average(np.array([0, 0, 1]), np.array([3.0, 1.0, 2.0]), np.array([[4.0], [8.0], [1.0]]))
    array([[5.],
           [1.]])
    """
    means: Floats = _averaging(groups, rows) @ weights
    return means


def _averaging(groups: Integers, rows: Floats) -> csr_array:
    """The matrix that takes the mean of each group, with levels weighted by their rows."""
    heavy = np.maximum(rows, 1e-12)
    shares = heavy / np.bincount(groups, heavy)[groups]
    ends = np.searchsorted(groups, np.arange(count_groups(groups) + 1))
    return csr_array((shares, np.arange(len(groups)), ends), (len(ends) - 1, len(groups)))


def add_up(groups: Integers, counts: Floats) -> Floats:
    """The counts of each group."""
    total: Floats = np.add.reduceat(counts, np.flatnonzero(np.diff(groups, prepend=-1)), axis=0)
    return total


ROUNDING = 1e-9
"""Relative difference that rounding may cause between sums in different orders."""


def centre(counts: Sequence[Counts], weights: Floats, whole: float) -> Floats:
    """Centre tables over the rows: move means to the prior, and main effects of pairs to features.

    `weights` has the prior first and any number of columns; `whole` is the weight of all rows. Only
    features and pairs that are known in every row are centred: otherwise the totals of rows without
    a value would change.
    """
    weights = weights.copy()
    starts = np.cumsum([1, *(len(c.counts) for c in counts)]).tolist()
    spans = {
        c.feature.name: slice(a, a + len(c.counts)) for c, a in zip(counts, starts, strict=False)
    }
    features = {c.feature.name: c.feature for c in counts}
    complete = [c for c in counts if c.counts.sum() >= whole * (1 - ROUNDING)]
    for c in complete:
        if isinstance(c.feature, Cross) and all(p.name in spans for p in c.feature.parts):
            _purify(c, features, spans, weights)
    for c in complete:
        rows, span = c.counts.sum(axis=1), spans[c.feature.name]
        mean = rows @ weights[span] / whole
        weights[span] -= is_told(c.feature, c.counts)[:, None] * mean
        weights[0] += mean
    return weights


def _purify(
    pair: Counts, features: dict[str, Feature | Cross], spans: dict[str, slice], weights: Floats
) -> None:
    """Move the additive part of a pair's weights (least squares over rows) to its two features."""
    assert isinstance(pair.feature, Cross)
    cells, rows = np.array(pair.feature.pairs), pair.counts.sum(axis=1)
    sizes = [len(part.levels) for part in pair.feature.parts]
    margins = np.zeros((len(cells), sum(sizes)))
    margins[np.arange(len(cells)), cells[:, 0]] = 1.0
    margins[np.arange(len(cells)), sizes[0] + cells[:, 1]] = 1.0
    own = weights[spans[pair.feature.name]]
    root = np.sqrt(rows)[:, None]
    shares = np.linalg.lstsq(root * margins, root * own, rcond=None)[0]
    weights[spans[pair.feature.name]] = own - margins @ shares
    parts = zip(pair.feature.parts, np.split(shares, [sizes[0]]), strict=True)
    for part, share in parts:
        fine = features[part.name]
        assert isinstance(fine, Feature)
        weights[spans[part.name]] += share[coarse_levels(fine, part)]


MOST_WEIGHTS = 1024
"""The covariance of more weights than this is not kept, so that the model file stays small."""

DIGITS = 6


def replace_tables(
    naive: Evidence,
    counts: Sequence[Counts],
    fits: Sequence[Fit],
    fine: Collection[str],
    apart: float | None = None,
) -> Evidence:
    """Replace the tables of naive Bayes by those of a fit, or of one fit per class.

    `fine` names the finely binned columns: their bins may be merged, which changes no total by more
    than `apart` (default: `APART`).
    """
    whole = float(naive.class_counts.sum())
    weights = np.hstack([centre(counts, fit.weights, whole) for fit in fits])
    if weights.shape[1] > len(fits):
        weights = contrast(weights)  # classes were fitted jointly
    columns = _split(weights[1:], [len(c.counts) for c in counts])
    groups = group_tables(counts, columns, fine, apart)
    merging = _merging(counts, groups)
    merged = _split((merging @ weights)[1:], [*map(count_groups, groups)])
    centred = [_centre_both(counts, fit.covariance, whole) for fit in fits]
    tables = [
        FeatureTable(
            feature=merge_feature(c.feature, group),
            counts=add_up(group, c.counts),
            by_class=table,
            smoothing=naive.tables[0].smoothing if naive.tables else 0.0,
            known_errors=error,
        )
        for c, group, table, error in zip(
            counts, groups, merged, _errors(centred, merging, groups), strict=True
        )
    ]
    return replace(
        naive,
        tables=tuple(tables),
        prior=squeeze(weights[0]),
        prior_variances=None,
        form=naive.form if len(fits) == 1 else "ovr",
        covariance=_kept(centred, merging),
        scales_estimated=not naive.estimates,
    )


def _split(rows: Floats, sizes: Sequence[int]) -> list[Floats]:
    return np.split(rows, np.cumsum(sizes)[:-1])


def _merging(counts: Sequence[Counts], groups: Sequence[Integers]) -> csr_array:
    """The matrix that averages weights within each group, and keeps the prior."""
    parts = [_averaging(own, c.counts.sum(axis=1)) for own, c in zip(groups, counts, strict=True)]
    return csr_array(block_diag([np.ones((1, 1)), *parts], format="csr"))


def _centre_both(
    counts: Sequence[Counts], covariance: Covariance | None, whole: float
) -> Covariance | None:
    """The covariance of the weights after `centre`."""
    if covariance is None:
        return None
    return covariance.mapped(lambda columns: centre(counts, columns, whole))


def _errors(
    centred: Sequence[Covariance | None], merging: csr_array, groups: Sequence[Integers]
) -> list[Floats] | list[None]:
    """The standard error of each merged weight, by feature; None if a covariance is not known.

    A merged weight stands for levels that were fitted separately. So its variance is the mean of
    their variances, not the smaller variance of their mean.
    """
    known = [merging @ covariance.diagonal for covariance in centred if covariance is not None]
    if len(known) < len(centred):
        return [None] * len(groups)
    errors = np.sqrt(np.maximum(np.column_stack(known)[1:], 0.0))
    return _split(errors, [*map(count_groups, groups)])


def _kept(centred: Sequence[Covariance | None], merging: csr_array) -> Floats | None:
    """The covariance of a single fit, rounded to six digits so that files preserve it exactly."""
    covariance = centred[0]
    if len(centred) > 1 or covariance is None or merging.shape[0] > MOST_WEIGHTS:
        return None
    numbers = covariance.mapped(lambda columns: merging @ columns).matrix
    np.fill_diagonal(numbers, merging @ covariance.diagonal)
    known = np.where(numbers == 0, 1.0, np.abs(numbers))
    unit = 10.0 ** np.clip(DIGITS - 1 - np.floor(np.log10(known)), 0, 22)
    rounded = np.round(numbers * unit) / unit
    whole: Floats = np.tril(rounded) + np.tril(rounded, -1).T
    return whole
