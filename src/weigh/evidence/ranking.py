"""Which tables and levels are shown where there is no room for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from weigh.arrays import Floats, Integers

if TYPE_CHECKING:
    from weigh.evidence.feature_table import FeatureTable
    from weigh.evidence.tables import Evidence


def rank_tables(evidence: Evidence) -> list[FeatureTable]:
    """The tables, the most important first."""
    return sorted(evidence.tables, key=lambda table: -table.importance)


def tell_more(n: int) -> str:
    """Text on the number of tables not shown; empty if all are shown."""
    return f"... and {n} more table{'s' * (n > 1)}, of less importance" if n > 0 else ""


def has_tokens(table: FeatureTable) -> bool:
    """Whether the levels are the tokens of documents."""
    return any(part.in_order for part in table.feature.parts)


def head_counts(tables: Iterable[FeatureTable]) -> str:
    """The heading of a column of counts: tokens are counted each time they occur, not by rows."""
    return "Count" if any(map(has_tokens, tables)) else "Rows"


def rank_levels(table: FeatureTable, weights: Floats) -> Floats:
    """How much each level ought to be shown: its share of the rows.

    The most common tokens are in documents of all classes. So a token counts by how well it tells
    the classes apart: its share of all tokens times the largest square of its weights.
    """
    return table.share * (weights**2).max(axis=1) if has_tokens(table) else table.share


def _sides(table: FeatureTable, weights: Floats) -> Floats:
    """The side of each level. A table of levels has one side; tokens of two classes have two.

    A token speaks for the positive class (1) or against it (-1). Without sides, many weak tokens
    of one could hide the few strong ones of the other.
    """
    if not has_tokens(table) or weights.shape[1] > 1:
        return np.ones(len(weights))
    return np.where(table.share > 0, np.sign(weights[:, 0]), 0.0)


def sort_levels(table: FeatureTable, weights: Floats) -> Integers:
    """The levels by rank, those to be shown before others first; both sides take turns.

    Of any number of first levels, half are of each side, unless one side has too few.
    """
    order = np.argsort(-rank_levels(table, weights), kind="stable")
    side, turn = _sides(table, weights)[order], np.full(len(order), len(order))
    for one in (-1, 1):
        turn[side == one] = np.arange((side == one).sum())
    return np.asarray(order[np.argsort(turn, kind="stable")])


def choose_levels(table: FeatureTable, most: int | None, start: int = 0) -> list[int]:
    """The levels to be shown first from `start` on, at most `most`, in the order of the table.

    Tokens have no order of their own. They are sorted by weight or, if they have a weight for each
    of several classes, by rank.
    """
    order = sort_levels(table, table.by_class)
    kept = order[order >= start][:most]
    if not has_tokens(table):
        kept = np.sort(kept)
    elif table.by_class.shape[1] == 1:
        kept = kept[np.argsort(-table.by_class[kept, 0], kind="stable")]
    return [*map(int, kept)]


def find_ends(table: FeatureTable, column: int) -> tuple[int, int] | None:
    """The levels that speak most against and for a class; None if fewer than two have rows.

    They are those of the lowest and the highest weight. A token of large weight may be rare, so
    tokens are compared by their rank, with the sign of the weight.
    """
    places = np.flatnonzero(table.counts.any(axis=1))
    if len(places) < 2:
        return None
    weights = table.by_class[:, column]
    if has_tokens(table):
        weights = np.sign(weights) * rank_levels(table, weights[:, None])
    order = places[np.argsort(weights[places], kind="stable")]
    return int(order[0]), int(order[-1])


def tell_left_out(table: FeatureTable, shown: int) -> str:
    """Text on the number of levels not shown; empty if all are shown."""
    order = sort_levels(table, table.by_class)
    if len(order) <= shown:
        return ""
    rank, side = (of(table, table.by_class)[order] for of in (rank_levels, _sides))
    later = np.arange(len(order)) >= shown
    less = all(
        rank[~later & (side == one)].min(initial=np.inf) > rank[later & (side == one)].max()
        for one in np.unique(side[later])
    )
    tokens, left = has_tokens(table), len(order) - shown
    noun = ("token" if tokens else "level") + "s" * (left > 1)
    why = (", less telling" if tokens else ", of fewer rows") if less else ""
    return f"... and {left:,} more {noun}{why}"
