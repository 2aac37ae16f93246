"""The levels of each table within a budget, chosen for the least loss to second order.

Given the other tables, the loss is a weighted sum of squares over the levels of one table: rows
have one level of it each. Its best groups are found exactly, by dynamic programming: of neighbours
where levels have an order, and of categories in the order of their weights. Tables take turns until
none changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.bins import Binning, Cross, Feature
from weigh.budget.quadratic import RIDGE, Quadratic
from weigh.frames import Floats, Integers
from weigh.shapes import segmentations

ROUNDS = 10
"""Tables take so many turns at the most."""

MANY = 256
"""Of more categories, those next to each other in the order of their weights are joined first."""


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
        """What may be merged of a feature."""
        assert isinstance(feature, Feature)
        fixed = int(feature.has_missing)
        if feature.is_numeric:
            return cls(feature.n_intervals, fixed + len(feature.values), True)
        return cls(len(feature.levels) - fixed, fixed, feature.ordered)


@dataclass(frozen=True, eq=False)
class Ways:
    """The best groups of one table by the number of its levels, and what each costs in nats."""

    costs: Floats
    groups: tuple[Integers, ...]

    @classmethod
    def find(cls, shape: Shape, weights: Floats, curvature: Floats, most: int) -> Ways:
        """Groups of 1 + fixed to `most` levels that keep the weights (by level and total) best."""
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
        """The groups of so many levels."""
        return next(group for group in self.groups if group.max(initial=0) + 1 == size)


def _order(weights: Floats, rows: Floats) -> Integers:
    """Levels by their weight; of several totals along the direction in which they vary most."""
    centred = weights - rows @ weights / rows.sum()
    along = centred[:, 0]
    if weights.shape[1] > 1:
        along = centred @ np.linalg.svd(np.sqrt(rows)[:, None] * centred)[2][0]
    return np.argsort(along, kind="stable")


def _cells(rows: Floats) -> Integers:
    """The cell of each level: its own, or one of `MANY` with about equally many rows."""
    if len(rows) <= MANY:
        return np.arange(len(rows))
    reached = np.cumsum(rows) / rows.sum()
    cells = np.minimum((reached * MANY).astype(np.intp), MANY - 1)
    return np.unique(cells, return_inverse=True)[1]


def _number(group: Integers) -> Integers:
    """Groups numbered in the order in which their first levels come."""
    _, first, numbers = np.unique(group, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers]


def list_bins(feature: Feature, group: Integers) -> Any:
    """A feature's groups as the parameter `bins`: cut points, or the categories of each level.

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
    if feature.other:  # what is not listed
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
    """The parameter `bins` of some features, without those that are left with one level."""
    found = {}
    for feature, group in zip(features, groups, strict=True):
        assert isinstance(feature, Feature)
        own = list_bins(feature, group)
        if group.max(initial=0) > 0 and (own or feature.is_numeric):
            found[feature.name] = own
    return found


def choose_groups(
    quadratic: Quadratic, shapes: Sequence[Shape], most: int, total: int | None = None
) -> list[Integers]:
    """The group of each level, by table: at most so many in a table, and in all of them.

    Turns may raise the loss: the groups of least loss are taken, those of tables by themselves too.
    """
    weights, groups = quadratic.solve(), None
    tried: list[list[Integers]] = []
    for _ in range(ROUNDS):
        targets = [_target(quadratic, weights, span) for span in quadratic.spans]
        ways = [Ways.find(s, *target, most) for s, target in zip(shapes, targets, strict=True)]
        sizes = allot(ways, total)
        if not tried:
            tried.append([way.of_size(size) for way, size in zip(ways, sizes, strict=True)])
        found = []
        for j, (shape, size) in enumerate(zip(shapes, sizes, strict=True)):
            target, curvature = _target(quadratic, weights, quadratic.spans[j])
            group = Ways.find(shape, target, curvature, size).groups[-1]
            weights[:, quadratic.spans[j]] = _means(target, curvature, group).T
            found.append(group)
        small = quadratic.merged(found)
        tried.append(found)
        weights = _spread(small.solve(), small.spans, found)
        if groups is not None and all(map(np.array_equal, groups, found)):
            break
        groups = found
    return min(tried, key=lambda own: quadratic.merged(own).least())


def _target(quadratic: Quadratic, weights: Floats, own: slice) -> tuple[Floats, Floats]:
    """The weights that one table would have, the others as they are; and each level's curvature."""
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
    """The weights of groups as weights of levels."""
    own = [weights[:, span][:, group] for span, group in zip(spans, groups, strict=True)]
    return np.hstack([weights[:, :1], *own])


def allot(ways: Sequence[Ways], total: int | None) -> list[int]:
    """How many levels each table gets, for the least cost in all: exact, by dynamic programming.

    A table of one level tells nothing and takes none of the `total`.
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
