"""Levels as a page spells them: an interval in words, which nobody has to have learnt to read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np

from weigh.bins import AND, Cross, Feature, Interval, Level
from weigh.evidence import Evidence
from weigh.sheet import BalanceSheet, Item

PATTERNS = ((r"\((.+), (.+)\]", "{} to {}"), (r"<= (.+)", "up to {}"), (r"> (.+)", "above {}"))
FAR, NEAR = 15, -6
"""Powers of ten beyond which a number stays as scientists write it."""


def spell_levels(feature: Feature | Cross) -> tuple[str, ...]:
    """The levels in words, in the order of `labels`; whatever is no interval is as it was.

    >>> spell_levels(Feature("income", (-1,), (9800.5, 25078.0), has_missing=True))
    ('up to 9800.5', '9800.5 to 25,078', 'above 25,078', '-1', 'missing')
    """
    return _name_levels(feature, _spell)


def exact_levels(feature: Feature | Cross) -> tuple[str, ...]:
    """The levels with every digit of their ends, for who works by hand.

    >>> exact_levels(Feature("income", (), (0.1234567890123, 2.0)))
    ('<= 0.1234567890123', '(0.1234567890123, 2.0]', '> 2.0')
    """
    return _name_levels(feature, _exact)


def _name_levels(feature: Feature | Cross, name: Callable[[Level, str], str]) -> tuple[str, ...]:
    if isinstance(feature, Feature):
        return tuple(map(name, feature.levels, feature.labels))
    left, right = (_name_levels(part, name) for part in feature.parts)
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


def _spell(level: Level, text: str) -> str:
    if not isinstance(level, Interval):
        return text
    for pattern, words in PATTERNS:
        found = re.fullmatch(pattern, text)
        if found:
            return words.format(*map(spell_number, found.groups()))
    return text


def spell_number(text: str) -> str:
    """A cut point in plain digits, grouped from ten thousand on, so that years stay years.

    >>> [spell_number(text) for text in ("25078.0", "1.23457e+06", "1987.0", "1e-05", "1e+300")]
    ['25,078', '1,234,570', '1987', '0.00001', '1e+300']
    """
    number = Decimal(text)
    if number and not NEAR < number.adjusted() < FAR:
        return text
    return f"{number:{',' if abs(number) >= 10_000 else ''}f}".removesuffix(".0")


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
    return replace(item, level=spelt, relation="" if relation == "in" else relation)
