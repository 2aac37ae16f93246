"""Levels as a page spells them: an interval in words, which nobody has to have learnt to read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from weigh.bins import AND, WORDS, Cross, Feature, Interval, Level
from weigh.evidence import Evidence
from weigh.sheet import BalanceSheet, Item


def spell_levels(feature: Feature | Cross) -> tuple[str, ...]:
    """The levels in words, in the order of `labels`; whatever is no interval is as it was.

    >>> spell_levels(Feature("income", (-1,), (9800.5, 25078.0), has_missing=True))
    ('up to 9800.5', '9800.5 to 25,078', 'above 25,078', '-1', 'missing')
    """
    return _name_levels(feature, lambda part: part.named(WORDS))


def exact_levels(feature: Feature | Cross) -> tuple[str, ...]:
    """The levels with every digit of their ends, for who works by hand.

    >>> exact_levels(Feature("income", (), (0.1234567890123, 2.0)))
    ('<= 0.1234567890123', '(0.1234567890123, 2.0]', '> 2.0')
    """
    return _name_levels(feature, lambda part: tuple(map(_exact, part.levels, part.labels)))


def _name_levels(
    feature: Feature | Cross, name: Callable[[Feature], tuple[str, ...]]
) -> tuple[str, ...]:
    if isinstance(feature, Feature):
        return name(feature)
    left, right = map(name, feature.parts)
    quote = '"' if needs_quotes(feature) else ""
    return tuple(f"{quote}{left[i]}{quote}{AND}{quote}{right[j]}{quote}" for i, j in feature.pairs)


def _exact(level: Level, text: str) -> str:
    if not isinstance(level, Interval) or np.isinf([level.lower, level.upper]).all():
        return text
    if np.isinf(level.lower):
        return f"<= {level.upper!r}"
    return f"> {level.lower!r}" if np.isinf(level.upper) else f"({level.lower!r}, {level.upper!r}]"


def needs_quotes(cross: Cross) -> bool:
    """Whether two pairs read alike, because names hold an & themselves."""
    left, right = map(spell_levels, cross.parts)
    return len({f"{left[i]}{AND}{right[j]}" for i, j in cross.pairs}) < len(cross.pairs)


def spell_sheet(sheet: BalanceSheet, evidence: Evidence) -> BalanceSheet:
    """The same sheet with its intervals in words."""
    tables = {table.name: table.feature for table in evidence}
    items = tuple(
        _spell_item(item, tables[item.feature]) if item.feature in tables else item
        for item in sheet.items
    )
    return replace(sheet, items=items)


def _spell_item(item: Item, feature: Feature | Cross) -> Item:
    if item.level not in feature.labels:
        return item
    place = feature.labels.index(item.level)
    relation = feature.relation(place)
    spelt = spell_levels(feature)[place]
    return replace(item, words="", level=spelt, relation="" if relation == "in" else relation)
