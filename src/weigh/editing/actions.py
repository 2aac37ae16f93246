"""The changes that can be made to the tables of a model; each function returns new evidence.

A changed table has no standard errors, because its weights are no longer estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature, to_right_closed
from weigh.evidence import Evidence, FeatureTable, rename_feature, scale_margins
from weigh.frames import Sample
from weigh.parameters import is_number
from weigh.scorecard.reasons import find_level


def drop(evidence: Evidence, sample: Sample, feature: str) -> Evidence:
    """The evidence without a table, and without the columns that no other table reads."""
    gone = evidence[feature]
    tables = tuple(table for table in evidence if table is not gone)
    if not tables:
        raise ValueError(f"{feature!r} is the only table; a model needs one")
    left = {part.name for table in tables for part in table.feature.parts}
    columns = tuple(name for name in evidence.column_names if name in left)
    return replace(evidence, tables=tables, columns=columns, covariance=None)


def remove_pair(evidence: Evidence, sample: Sample, first: str, second: str) -> Evidence:
    """The evidence without the table of a pair."""
    for table in evidence:
        parts = {part.name for part in table.feature.parts}
        if isinstance(table.feature, Cross) and parts == {first, second}:
            return drop(evidence, sample, table.name)
    raise ValueError(f"there is no pair of {first!r} and {second!r}")


def add_pair(evidence: Evidence, sample: Sample, first: str, second: str) -> Evidence:
    """The evidence with a table of two features together, whose weights are still zero.

    A numeric feature keeps only the cut points of its own table that are nearest to the quartiles.
    The rows of `sample` give the share of each class in a cell; the counts are in rows of the fit.
    """
    own = [evidence[name] for name in (first, second)]
    if first == second or not all(isinstance(table.feature, Feature) for table in own):
        raise ValueError(f"a pair needs two features, got {first!r} and {second!r}")
    cross = Cross((_coarsen(own[0]), _coarsen(own[1])))
    if any({part.name for part in table.feature.parts} == {first, second} for table in evidence):
        raise ValueError(f"there is a pair of {first!r} and {second!r} already")
    joined = cross.join(sample.table)
    cells = joined.levels[joined.codes]
    width = len(cross.parts[1].levels) + 1
    known = (cells // width < len(cross.parts[0].levels)) & (cells % width < width - 1)
    made = cross.of_cells(np.unique(cells[known]))
    counts = _count(made, sample) * _rows_of_fit(evidence, sample)
    weights = np.zeros((len(counts), own[0].by_class.shape[1]))
    return replace(
        evidence, tables=(*evidence.tables, FeatureTable(made, counts, weights)), covariance=None
    )


def _rows_of_fit(evidence: Evidence, sample: Sample) -> Floats:
    """The rows of the fit for each row of `sample`, by class."""
    seen = np.bincount(sample.labels, sample.weights, len(sample.classes))
    return evidence.class_counts / np.where(seen > 0, seen, 1.0)


PARTS = 4
"""Most bins of a numeric feature in a pair that is added."""


def _coarsen(table: FeatureTable) -> Feature:
    """The feature with fewer cut points: those nearest to the quartiles of the rows."""
    feature = table.feature
    assert isinstance(feature, Feature)
    if len(feature.cuts or ()) < PARTS:
        return feature
    rows = table.counts[: feature.n_intervals].sum(axis=1)
    below = np.cumsum(rows)[:-1] / max(rows.sum(), 1e-9)
    chosen = {int(np.abs(below - k / PARTS).argmin()) for k in range(1, PARTS)}
    return feature.with_cuts(sorted(chosen))


def rename(
    evidence: Evidence,
    sample: Sample,
    feature: str,
    name: str = "",
    levels: Mapping[str, str] | None = None,
) -> Evidence:
    """The evidence with display names for a feature and its levels; its keys stay the same."""
    return rename_feature(evidence, feature, name, levels or {})


def freeze(evidence: Evidence, sample: Sample, feature: str) -> Evidence:
    """The evidence unchanged; the record of this action keeps the table out of later refits."""
    evidence[feature]
    return evidence


def set(evidence: Evidence, sample: Sample, feature: str, level: str, weight: Any) -> Evidence:
    """The evidence with another weight of a level; with more than two classes, one per class."""
    table = evidence[feature]
    given = np.atleast_1d(np.asarray(weight, dtype=np.float64))
    if given.shape != table.by_class.shape[1:] or not np.isfinite(given).all():
        n = table.by_class.shape[1]
        raise ValueError(f"weight must be a finite number for each of {n} totals, got {weight!r}")
    weights = table.by_class.copy()
    weights[find_level(table, level)] = given
    return _with(evidence, table, weights)


def tie(evidence: Evidence, sample: Sample, feature: str, levels: Sequence[str]) -> Evidence:
    """The evidence with the mean weight over rows for several levels, which stay separate."""
    table = evidence[feature]
    places = _places(table, levels)
    weights = table.by_class.copy()
    weights[places] = _mean(table, places)
    return _with(evidence, table, weights)


def scale(evidence: Evidence, sample: Sample, feature: str, factor: float) -> Evidence:
    """The evidence with all weights of a table multiplied by a factor."""
    if not (is_number(factor) and np.isfinite(factor)):
        raise ValueError(f"factor must be a number, got {factor!r}")
    table, by = evidence[feature], float(factor)
    scaled = replace(table, margins=scale_margins(table.margins, by))
    return _with(evidence, table, table.by_class * by, scaled)


def monotone(evidence: Evidence, sample: Sample, feature: str, direction: int) -> Evidence:
    """The evidence with a table made increasing (1) or decreasing (-1) by isotonic regression."""
    from sklearn.isotonic import isotonic_regression

    table = evidence[feature]
    n = table.feature.n_in_order
    if direction not in (1, -1):
        raise ValueError(f"direction must be 1 (rises) or -1 (falls), got {direction!r}")
    if n < 2 or table.by_class.shape[1] > 1:
        raise ValueError(
            f"{feature!r} cannot be monotone: it needs bins or ordered categories, and two classes"
        )
    weights, rows = table.by_class.copy(), np.maximum(table.counts[:n].sum(axis=1), 1e-9)
    weights[:n, 0] = direction * isotonic_regression(direction * weights[:n, 0], sample_weight=rows)
    return _with(evidence, table, weights)


def merge(evidence: Evidence, sample: Sample, feature: str, levels: Sequence[str]) -> Evidence:
    """The evidence with neighbouring bins, or categories, merged into a level of mean weight."""
    table = evidence[feature]
    own, places = table.feature, _places(table, levels)
    n = own.n_in_order or own.n_categories if isinstance(own, Feature) else 0
    neighbours = not own.parts[0].n_in_order or (np.diff(places) == 1).all()
    if not (isinstance(own, Feature) and places[-1] < n and neighbours):
        raise ValueError(
            f"{feature!r}: only neighbouring bins, or categories of one feature, can be merged; "
            "missing, other and special codes stay apart"
        )
    group = np.arange(len(table.levels))
    group[places] = places[0]
    group = np.unique(group, return_inverse=True)[1]
    weights = table.by_class.copy()
    weights[places] = _mean(table, places)
    counts = np.zeros((int(group.max()) + 1, table.counts.shape[1]))
    np.add.at(counts, group, table.counts)
    kept = np.unique(group, return_index=True)[1]
    merged = replace(table, feature=_join(own, group), counts=counts)
    return _with(evidence, table, weights[kept], merged)


def _join(feature: Feature, group: Integers) -> Feature:
    if feature.cuts is None:
        return replace(feature, groups=tuple(int(group[place]) for place in feature.places))
    return feature.with_cuts(np.flatnonzero(np.diff(group[: feature.n_intervals])))


def move_cut(evidence: Evidence, sample: Sample, feature: str, cut: float, to: float) -> Evidence:
    """The evidence with a cut point moved; weights stay, and rows move between its two bins.

    The rows of `sample` give the share of each class on either side of the new cut point. The
    counts of both bins together stay the same, so they still add up to the rows of the fit.
    """
    table = evidence[feature]
    old = table.feature
    cuts = old.cut_points
    if isinstance(old, Cross) or cut not in cuts:
        raise ValueError(f"{feature!r} has no cut point {cut!r}; it has {[*cuts]}")
    moved = tuple(float(to) if own == cut else own for own in cuts)
    if not np.isfinite(to) or not (np.diff(moved) > 0).all():
        raise ValueError(f"{feature!r}: {to!r} is not between the neighbours of cut point {cut!r}")
    own = replace(old, cuts=to_right_closed(moved) if old.left else moved)
    again = replace(table, feature=own, counts=_split(table, own, cuts.index(cut), sample))
    return _with(evidence, table, table.by_class, again)


def _split(table: FeatureTable, feature: Feature, at: int, sample: Sample) -> Floats:
    """The counts of a table after the cut point between the bins `at` and `at + 1` has moved."""
    beside = slice(at, at + 2)
    found, counts = _count(feature, sample)[beside], table.counts.copy()
    total, seen = counts[beside].sum(axis=0), found.sum(axis=0)
    scale = np.divide(total, seen, out=np.zeros_like(total), where=seen > 0)
    counts[beside] = np.where(seen > 0, found * scale, counts[beside])
    return counts


def _count(feature: Feature | Cross, sample: Sample) -> Floats:
    placed = feature.read(sample.table)
    counts = np.zeros((len(feature.levels) + 1, len(sample.classes)))
    weight = sample.weights
    np.add.at(counts, (placed.levels[placed.codes], sample.labels), weight)
    return counts[:-1]


def _places(table: FeatureTable, levels: Sequence[str]) -> Integers:
    """The sorted indices of two or more levels."""
    places = np.unique([find_level(table, level) for level in levels])
    if isinstance(levels, str) or len(places) < 2:
        raise ValueError(f"levels must list two levels of {table.name!r} or more, got {levels!r}")
    return places


def _mean(table: FeatureTable, places: Integers) -> Floats:
    rows = np.maximum(table.counts[places].sum(axis=1), 1e-9)
    return np.asarray(rows @ table.by_class[places] / rows.sum())


def _with(
    evidence: Evidence, table: FeatureTable, weights: Floats, changed: FeatureTable | None = None
) -> Evidence:
    """The evidence with other weights of a table, and perhaps other levels (`changed`)."""
    new = replace(changed or table, by_class=weights, variances=None, known_errors=None)
    tables = tuple(new if own is table else own for own in evidence)
    return replace(evidence, tables=tables, covariance=None)


ACTIONS: dict[str, Callable[..., Evidence]] = {
    action.__name__: action
    for action in (
        drop,
        freeze,
        merge,
        set,
        tie,
        move_cut,
        monotone,
        scale,
        add_pair,
        remove_pair,
        rename,
    )
}

HOLD = ("freeze", "set", "tie", "monotone", "scale")
"""Actions after which refits keep the weights of the table."""

RESHAPE = ("drop", "add_pair", "remove_pair", "merge", "move_cut")
"""Actions that change the tables or levels of a model, but set no weight by hand."""

REBIN = ("merge", "move_cut")
"""Actions that change the bins or groups of categories of a feature."""
