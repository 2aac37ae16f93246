"""Merge the levels of each table within a budget, for the lowest loss to second order.

Given the other tables, the loss is a weighted sum of squares over the levels of one table, because
each row has one level of it. The best groups of levels are found exactly, by dynamic programming.
Only neighbours are grouped; categories without an order are first sorted by their weights. The
tables are optimised in turn until none changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Binning, Cross, Feature
from weigh.budget.quadratic import RIDGE, LossExpansion
from weigh.chart_data import segmentations

ROUNDS = 10
"""Largest number of times that every table is optimised."""

MANY = 256
"""If there are more categories, those with similar weights are first merged into so many cells."""


@dataclass(frozen=True)
class Shape:
    """Which levels of a feature may be merged: `n` of them, with or without an order.

    Special codes and missing, the last levels, stay as they are.
    """

    n: int
    fixed: int
    ordered: bool

    @classmethod
    def of(cls, feature: Feature | Cross) -> Shape:
        """Find which levels of a feature may be merged."""
        assert isinstance(feature, Feature)
        fixed = int(feature.has_missing)
        if feature.is_numeric:
            return cls(feature.n_intervals, fixed + len(feature.values), True)
        return cls(len(feature.levels) - fixed, fixed, feature.ordered)


@dataclass(frozen=True, eq=False)
class Groupings:
    """Best grouping of one table for each number of levels, and its added loss in nats."""

    costs: Floats
    groups: tuple[Integers, ...]

    @classmethod
    def find(cls, shape: Shape, weights: Floats, curvature: Floats, most: int) -> Groupings:
        """Find the best groupings into 1 + fixed to `most` levels.

        `weights` are by level and total. The best grouping has the least weighted squared error.
        """
        own, rows = weights[: shape.n], curvature[: shape.n]
        order = np.arange(shape.n) if shape.ordered else _order(own, rows)
        cells = _cells(rows[order])
        heavy = np.maximum(np.bincount(cells, rows[order]), 1e-12)
        means = [np.bincount(cells, rows[order] * column[order]) / heavy for column in own.T]
        found = segmentations(np.column_stack(means), heavy, max(most - shape.fixed, 1))
        costs, groups = [], []
        for error, slices in found:
            of_cell = np.repeat(np.arange(len(slices)), [s.stop - s.start for s in slices])
            group = np.empty(shape.n, np.intp)
            group[order] = of_cell[cells]
            groups.append(np.append(_number(group), len(slices) + np.arange(shape.fixed)))
            costs.append(0.5 * error)
        return cls(np.array(costs), tuple(groups))

    def of_size(self, size: int) -> Integers:
        """Grouping with the given number of levels."""
        return next(group for group in self.groups if group.max(initial=0) + 1 == size)


def _order(weights: Floats, rows: Floats) -> Integers:
    """Levels sorted by weight; with several totals, by their first principal component."""
    centred = weights - rows @ weights / rows.sum()
    along = centred[:, 0]
    if weights.shape[1] > 1:
        along = centred @ np.linalg.svd(np.sqrt(rows)[:, None] * centred)[2][0]
    return np.argsort(along, kind="stable")


def _cells(rows: Floats) -> Integers:
    """Cell of each level: its own, or one of `MANY` with about equally many rows."""
    if len(rows) <= MANY:
        return np.arange(len(rows))
    reached = np.cumsum(rows) / rows.sum()
    cells = np.minimum((reached * MANY).astype(np.intp), MANY - 1)
    return np.unique(cells, return_inverse=True)[1]


def _number(group: Integers) -> Integers:
    """Renumber groups in the order of their first levels."""
    _, first, numbers = np.unique(group, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers]


def list_bins(feature: Feature, group: Integers) -> Any:
    """Groups of a feature as the parameter `bins`: cut points, or lists of categories.

    >>> list_bins(Feature("age", cuts=(18.0, 30.0, 65.0)), np.array([0, 1, 1, 2]))
    [18.0, 65.0]
    >>> list_bins(Feature("town", ("East", "North", "South")), np.array([0, 1, 1]))
    [['East'], ['North', 'South']]
    """
    if feature.cuts is not None:
        ends = zip(feature.cut_points, group, group[1:], strict=False)
        cuts = [cut for cut, a, b in ends if a != b]
        return Binning(cuts=cuts, closed="left") if feature.left else cuts
    places, rest = [*zip(feature.values, feature.places, strict=True)], -1
    if feature.other:  # categories that are not listed
        rest = int(group[feature.rest])
    numbers = dict.fromkeys(int(group[place]) for _, place in places)
    return [
        [value for value, place in places if group[place] == number]
        for number in numbers
        if number != rest
    ]


def list_all_bins(
    features: Sequence[Feature | Cross], groups: Sequence[Integers]
) -> dict[str, Any]:
    """Parameter `bins` of some features; features with one level left are omitted."""
    found = {}
    for feature, group in zip(features, groups, strict=True):
        assert isinstance(feature, Feature)
        own = list_bins(feature, group)
        if group.max(initial=0) > 0 and (own or feature.is_numeric):
            found[feature.name] = own
    return found


def choose_groups(
    quadratic: LossExpansion, shapes: Sequence[Shape], most: int, total: int | None = None
) -> list[Integers]:
    """Group of each level, by table: at most `most` groups per table and `total` in all tables.

    A turn may raise the loss. So the groups with the lowest loss of all turns are returned,
    including those of each table optimised alone.
    """
    weights, groups = quadratic.solve(), None
    tried: list[list[Integers]] = []
    for _ in range(ROUNDS):
        targets = [_target(quadratic, weights, span) for span in quadratic.spans]
        ways = [Groupings.find(s, *target, most) for s, target in zip(shapes, targets, strict=True)]
        sizes = allocate_levels(ways, total)
        if not tried:
            tried.append([way.of_size(size) for way, size in zip(ways, sizes, strict=True)])
        found = []
        for j, (shape, size) in enumerate(zip(shapes, sizes, strict=True)):
            target, curvature = _target(quadratic, weights, quadratic.spans[j])
            group = Groupings.find(shape, target, curvature, size).groups[-1]
            weights[:, quadratic.spans[j]] = _means(target, curvature, group).T
            found.append(group)
        small = quadratic.merged(found)
        tried.append(found)
        weights = _spread(small.solve(), small.spans, found)
        if groups is not None and all(map(np.array_equal, groups, found)):
            break
        groups = found
    return min(tried, key=lambda own: quadratic.merged(own).least())


def _target(quadratic: LossExpansion, weights: Floats, own: slice) -> tuple[Floats, Floats]:
    """Best weights of one table with the others fixed, and the curvature of each level."""
    hessian, inside = quadratic.hessian, weights[:, own]
    curvature = np.diagonal(hessian, axis1=1, axis2=2)[:, own] + RIDGE
    pull = quadratic.right[:, own] - np.einsum("kij,kj->ki", hessian[:, own], weights)
    target = inside + (pull - RIDGE * inside) / curvature
    return target.T, curvature.mean(axis=0)


def _means(target: Floats, curvature: Floats, group: Integers) -> Floats:
    heavy = np.bincount(group, curvature)
    means = [np.bincount(group, curvature * column) / heavy for column in target.T]
    return np.column_stack(means)[group]


def _spread(weights: Floats, spans: Sequence[slice], groups: Sequence[Integers]) -> Floats:
    """Copy the weight of each group to its levels."""
    own = [weights[:, span][:, group] for span, group in zip(spans, groups, strict=True)]
    return np.hstack([weights[:, :1], *own])


def allocate_levels(ways: Sequence[Groupings], total: int | None) -> list[int]:
    """Number of levels of each table with the lowest total cost, exactly, by dynamic programming.

    A table with one level has no effect and does not count in `total`.
    """
    sizes = [[int(group.max(initial=0)) + 1 for group in way.groups] for way in ways]
    if total is None or sum(own[-1] for own in sizes) <= total:
        return [own[-1] for own in sizes]
    best, choices = np.zeros(total + 1), []
    for way, own in zip(ways, sizes, strict=True):
        tried = np.full((len(own), total + 1), np.inf)
        for row, size, cost in zip(tried, own, way.costs, strict=True):
            taken = size if size > 1 else 0
            row[taken:] = best[: max(total + 1 - taken, 0)] + cost
        choices.append(tried.argmin(axis=0))
        best = tried.min(axis=0)
    found, left = [], total
    for choice, own in zip(reversed(choices), reversed(sizes), strict=True):
        found.append(own[int(choice[left])])
        left -= found[-1] if found[-1] > 1 else 0
    return found[::-1]
