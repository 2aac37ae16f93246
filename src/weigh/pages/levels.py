"""Levels and weights as a page spells them: an interval in words, a weight in its unit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.bins import WORDS, Cross, Feature, Interval, Level
from weigh.evaluation import Evaluation, ManyMeasures, Measures
from weigh.evidence import HUNDREDTHS, Evidence, Units, signed
from weigh.evidence.units import Words, words_of
from weigh.frames import canonical
from weigh.sheet import BalanceSheet, Item


@dataclass(frozen=True)
class Points(Words):
    """Weights as the points of a scorecard."""

    heading: str = "Points"
    start: str = "Base points"
    units: Units = HUNDREDTHS

    def weight(self, weight: float) -> str:
        """The points of a level."""
        return self.units.text(weight)

    def prior(self, prior: float) -> str:
        """What a score starts from."""
        return signed(self.units.total(prior))

    def error(self, error: float) -> str:
        """A standard error, or a mean absolute contribution."""
        return f"{abs(self.units.scale) * error:.0f}"


def words_for(evidence: Evidence) -> Words:
    """How the weights of a model or a scorecard read on a page."""
    units = evidence.units
    return Points(units=units) if units.are_points else words_of(evidence)


def spell_levels(feature: Feature | Cross) -> tuple[str, ...]:
    """The levels in words, in the order of `labels`; whatever is no interval is as it was.

    >>> spell_levels(Feature("income", (-1,), (9800.5, 25078.0), has_missing=True))
    ('up to 9800.5', '9800.5 to 25,078', 'above 25,078', '-1', 'missing')
    """
    return feature.spelt(WORDS)


def exact_levels(feature: Feature | Cross) -> tuple[str, ...]:
    """The levels with every digit of their ends, for who works by hand.

    >>> exact_levels(Feature("income", (), (0.1234567890123, 2.0)))
    ('<= 0.1234567890123', '(0.1234567890123, 2.0]', '> 2.0')
    """
    if isinstance(feature, Feature):
        return tuple(map(_exact, feature.levels, feature.labels))
    left, right = map(exact_levels, feature.parts)
    return feature.join_texts(left, right)


def _exact(level: Level, text: str) -> str:
    if not isinstance(level, Interval) or np.isinf([level.lower, level.upper]).all():
        return text
    if np.isinf(level.lower):
        return f"<= {level.upper!r}"
    return f"> {level.lower!r}" if np.isinf(level.upper) else f"({level.lower!r}, {level.upper!r}]"


def name_evaluation(found: Evaluation, evidence: Evidence) -> Evaluation:
    """Replace classes, the grouping column and its levels in an evaluation by their labels."""
    own = [canonical(c) for c in evidence.classes.tolist()]
    names = dict(zip(own, evidence.class_names, strict=True))
    parts = {part.name: part for table in evidence for part in table.feature.parts}
    by = parts.get(found.by, Feature(found.by))
    texts = dict(zip(by.labels, by.spelt(WORDS), strict=True)) if by.texts else {}
    return replace(
        found,
        classes=tuple(names[c] for c in found.classes),
        pos_label=None if found.pos_label is None else names[found.pos_label],
        validation=_name_measures(found.validation, names),
        training=None if found.training is None else _name_measures(found.training, names),
        by=by.shown,
        groups=tuple(replace(g, name=texts.get(g.name, g.name)) for g in found.groups),
    )


def _name_measures(
    found: Measures | ManyMeasures, names: dict[Any, str]
) -> Measures | ManyMeasures:
    if isinstance(found, Measures):
        return found
    return replace(found, by_class=tuple(replace(p, label=names[p.label]) for p in found.by_class))


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
    level, relation = feature.spelt(WORDS)[place], feature.relation(place, WORDS)
    if isinstance(feature, Cross):
        words = feature.words(place, WORDS)
    else:
        words = feature.phrase(place, WORDS)
    return replace(item, level=level, relation=relation, words=words)
