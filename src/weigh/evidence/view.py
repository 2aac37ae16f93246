"""Evidence in a notebook: tables with bars, and a short summary of a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.bins import label
from weigh.bins.labels import EXACT
from weigh.evidence.ranking import (
    choose_levels,
    head_counts,
    rank_tables,
    tell_left_out,
    tell_more,
)
from weigh.evidence.show import (
    MOST_CLASSES,
    bar_scale,
    edited,
    name_start,
    others,
    rule,
    stands_alone,
    title,
    words_alone,
    worth,
)
from weigh.evidence.units import Words, words_of
from weigh.layout import Bar, Grid, View, list_few

if TYPE_CHECKING:
    from weigh.evidence.feature_table import FeatureTable
    from weigh.evidence.tables import Evidence

SHORT, LEVELS, TABLES = 24, 40, 60
"""Tables are folded if they have more than SHORT levels in all. At most LEVELS levels of a table
and TABLES tables are shown."""

OPEN = 3
"""Number of tables, the most important, that are open when others are folded."""

FIRST = 6
"""Number of tables, the most important, in a model's summary."""


def to_view(evidence: Evidence) -> View:
    """All tables with their levels, the most important first; folded if there are many levels."""
    ranked = rank_tables(evidence)
    folded = sum(len(table.levels) for table in ranked) > SHORT
    scale, words = bar_scale(evidence), words_of(evidence)
    told: list[str | Bar] = [*map(words.prior, evidence.prior_row[:MOST_CLASSES])]
    if len(told) == 1:
        told.append(Bar(0.0 if stands_alone(evidence) else float(evidence.prior_row[0]) / scale))
    prior = Grid(("", *_heads(evidence)[1:]), ((name_start(evidence), *told),))
    grids = [
        _table(table, words, _heads(evidence), scale, folded and place >= OPEN)
        for place, table in enumerate(ranked[:TABLES])
    ]
    left = len(ranked) - len(grids)
    notes = [rule(evidence), worth(evidence), edited(evidence), *others(evidence)]
    notes.append(tell_more(left))
    return View(title(evidence), (prior, *grids), notes=tuple(filter(None, notes)))


def summarise_model(name: str, evidence: Evidence, facts: Sequence[tuple[str, str]]) -> View:
    """Summary of a model: its training data, and its most important tables."""
    ranked = rank_tables(evidence)
    most = max((table.importance for table in ranked), default=0.0)
    scale = max(most, np.finfo(float).tiny)
    rows = [
        (
            table.shown,
            words_of(evidence).error(table.importance),
            Bar(table.importance / scale, from_left=True),
            _count(table),
        )
        for table in ranked[:FIRST]
    ]
    head = ("Table", "Importance", "", "Levels")
    lead = tuple(f"{what}: {value}" for what, value in (*_facts(evidence), *facts))
    left = len(ranked) - len(rows)
    notes = [tell_more(left)]
    notes.append(f"Importance is {words_of(evidence).importance_is}.")
    return View(name, (Grid(head, tuple(rows)),), lead, tuple(filter(None, notes)))


def tell_classes(evidence: Evidence) -> str:
    """The classes and their frequencies, as text."""
    pairs = zip(evidence.classes.tolist(), evidence.base_rate, strict=True)
    return list_few([f"{label(c)} {100 * share:.1f}%" for c, share in pairs], most=FIRST)


def _facts(evidence: Evidence) -> list[tuple[str, str]]:
    joint = sum(len(table.feature.parts) > 1 for table in evidence)
    tables = f"{len(evidence)}" + (f", {joint} of them of two features" if joint else "")
    rows = f"{evidence.class_counts.sum():,.0f}"
    head = "Rows and periods" if evidence.form == "hazard" else "Rows"
    return [(head, rows), ("Tables", tables)]


def _heads(evidence: Evidence) -> tuple[str, ...]:
    if len(evidence.prior_row) == 1:
        return ("Level", words_of(evidence).heading, "")
    return ("Level", *(label(c) for c in evidence.classes.tolist()[:MOST_CLASSES]))


def _weights(row: Any, scale: float, words: Words) -> tuple[str | Bar, ...]:
    """Weights of a level by class; a single weight gets a bar."""
    shown = tuple(map(words.weight, row[:MOST_CLASSES]))
    return (*shown, Bar(float(row[0]) / scale)) if len(row) == 1 else shown


def view_table(table: FeatureTable) -> View:
    """One table alone; its classes, if there are more than two, are in the order of the model."""
    words, scale = words_alone(table), float(np.abs(table.by_class).max(initial=0)) or 1.0
    one = table.by_class.shape[1] == 1
    heads = ("Level", words.heading, "") if one else ("Level", *[""] * table.by_class.shape[1])
    grid = _table(table, words, heads[: MOST_CLASSES + 1], scale, None)
    return View(grid.title, (replace(grid, title=""),))


def _table(
    table: FeatureTable, words: Words, heads: Sequence[str], scale: float, folded: bool | None
) -> Grid:
    rows: list[tuple[str | Bar, ...]] = []
    names = table.feature.spelt(EXACT)
    for i in choose_levels(table, LEVELS):
        count = f"{table.counts[i].sum():,.0f}"
        rows.append((names[i], *_weights(table.by_class[i], scale, words), count))
    if left := tell_left_out(table, LEVELS):
        rows.append((left,))
    note = f" ({table.note})" if table.note else ""
    text = (
        f"{table.shown}{note}: {_count(table)} levels, importance {words.error(table.importance)}"
    )
    return Grid((*heads, head_counts([table])), tuple(rows), text, folded=folded)


def _count(table: FeatureTable) -> str:
    return f"{len(table.levels):,}"
