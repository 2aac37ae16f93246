"""Let the known answer of a pair speak for the one that is not known.

A pair weighs nothing unless both answers are known. Its parts can be moved between it and the
tables of its two columns without changing the total of a complete row:

    w_i(a) + g(a),    w_j(b) + h(b),    w_ij(a, b) - g(a) - h(b)

A row of which only a is known then has g(a) more. What a says about the other answer is, on average

    m(a) = sum over b of share(b | a) w_j(b)

so g(a) = c m(a). Each side of each pair has its own c, fitted to blanked training rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from weigh.bins import Cross, Feature
from weigh.educated.segments import coarse_levels
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import Floats

Margins: TypeAlias = Mapping[str, tuple[Floats, Floats]]
"""By pair: an amount for each level of its two columns, by total."""

ROUNDING = 1e-9
"""Relative difference that rounding may cause between sums in different orders."""


@dataclass(frozen=True)
class Side:
    """One column of a pair, whose known answer speaks for the other column."""

    pair: str
    own: int  # the place of its table
    other: int  # the place of the other column's table
    means: Floats  # m, by level of the column in the pair
    values: Floats  # m, by level of the table, after 0 for no level


def find_sides(evidence: Evidence) -> tuple[Side, ...]:
    """Both sides of each pair whose columns have their own tables; for two classes."""
    at = {table.name: place for place, table in enumerate(evidence)}
    found = []
    for table in list_pairs(evidence):
        parts, cells = table.feature.parts, np.array(table.feature.pairs)  # type: ignore[union-attr]
        grid = np.zeros([len(part.levels) for part in parts])
        grid[cells[:, 0], cells[:, 1]] = table.counts.sum(axis=1)
        for rows, (own, other) in ((grid, parts), (grid.T, parts[::-1])):
            worth = _mean_weights(evidence[other.name], other)
            means = rows @ worth / np.maximum(rows.sum(axis=1), np.finfo(float).tiny)
            fine = means[coarse_levels(evidence[own.name].feature, own)]  # type: ignore[arg-type]
            values = np.append(0.0, fine)
            found.append(Side(table.name, at[own.name], at[other.name], means, values))
    return tuple(found)


def list_pairs(evidence: Evidence) -> list[FeatureTable]:
    """The pairs that are known in every training row, and whose columns have their own tables."""
    crosses = [table for table in evidence if isinstance(table.feature, Cross)]
    own = [t for t in crosses if all(part.name in evidence for part in t.feature.parts)]
    rows = float(evidence.class_counts.sum())
    return [table for table in own if table.counts.sum() >= rows * (1 - ROUNDING)]


def _mean_weights(table: FeatureTable, part: Feature) -> Floats:
    """The mean weight over the rows of each level that the column has in a pair."""
    levels = coarse_levels(table.feature, part)  # type: ignore[arg-type]
    rows, sums = table.counts.sum(axis=1), np.zeros((2, len(part.levels)))
    np.add.at(sums.T, levels, np.column_stack([rows * table.centred[:, 0], rows]))
    return np.asarray(sums[0] / np.maximum(sums[1], np.finfo(float).tiny))


def speak(evidence: Evidence, sides: Sequence[Side], shares: Floats) -> Evidence:
    """Move `shares` of what the sides say about each other from pairs to single tables."""
    own = [share * side.means[:, None] for side, share in zip(sides, shares, strict=True)]
    moved = zip(sides[::2], own[::2], own[1::2], strict=True)
    return move_margins(evidence, {side.pair: (left, right) for side, left, right in moved})


def move_margins(evidence: Evidence, margins: Margins) -> Evidence:
    """Move amounts from pairs to their columns; no total of a complete row changes."""
    by_class = {table.name: table.by_class.copy() for table in evidence}
    for name, amounts in margins.items():
        pair = evidence[name].feature
        assert isinstance(pair, Cross)
        for part, cells, amount in zip(pair.parts, np.array(pair.pairs).T, amounts, strict=True):
            by_class[name] -= amount[cells]
            levels = coarse_levels(evidence[part.name].feature, part)  # type: ignore[arg-type]
            by_class[part.name] += amount[levels]
    tables = tuple(replace(table, by_class=by_class[table.name]) for table in evidence)
    return replace(evidence, tables=tables)


def find_margins(cross: Cross, rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The part of a pair's weights that depends on one column alone (least squares over rows)."""
    cells, sizes = np.array(cross.pairs), [len(part.levels) for part in cross.parts]
    margins = np.zeros((len(cells), sum(sizes)))
    margins[np.arange(len(cells)), cells[:, 0]] = 1.0
    margins[np.arange(len(cells)), sizes[0] + cells[:, 1]] = 1.0
    root = np.sqrt(rows)[:, None]
    shares = np.linalg.lstsq(root * margins, root * weights, rcond=None)[0]
    left, right = np.split(shares, [sizes[0]])
    return left, right


def purify(evidence: Evidence) -> Evidence:
    """Move all that depends on one column alone from pairs to single tables."""
    return move_margins(evidence, _margins_of(evidence))


def speak_alike(evidence: Evidence, old: Evidence) -> Evidence:
    """Take as much out of each pair as there is in the tables of an older model."""
    found = {}
    for name, amounts in _margins_of(old).items():
        if name in evidence:
            both = zip(evidence[name].feature.parts, old[name].feature.parts, amounts, strict=True)
            left, right = (_extend(*part) for part in both)
            found[name] = (-left, -right)
    return move_margins(evidence, found)


def _extend(new: Feature, old: Feature, amount: Floats) -> Floats:
    """Amounts by the levels of a column to which rows have added levels."""
    out = np.zeros((len(new.levels), amount.shape[1]))
    out[new.positions(old)] = amount
    return out


def _margins_of(evidence: Evidence) -> Margins:
    return {
        t.name: find_margins(t.feature, t.counts.sum(axis=1), t.by_class)  # type: ignore[arg-type]
        for t in list_pairs(evidence)
    }
