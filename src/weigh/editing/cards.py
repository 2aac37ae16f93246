"""The editor of a scorecard: points are rounded after every change, and changes are recorded."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from weigh.editing.editor import Editor
from weigh.editing.refit import Start
from weigh.editing.rows import ClassRows
from weigh.evidence import Change, Evidence, FeatureTable, Units, flip
from weigh.evidence.units import HUNDREDTHS
from weigh.scorecard import Scorecard
from weigh.scorecard.reasons import NO_LEVEL


class CardEditor(Editor):
    """The editor of a scorecard; `model` is a card of the same scale.

    Weights are the points in nats. After each change the points of every level are rounded, so
    the loss is that of the printed card. The record begins with earlier changes by
    `Scorecard.edit`, and contains points in place of weights.
    """

    def __init__(
        self, card: Scorecard, rows: ClassRows, train: ClassRows, who: str | None = None
    ) -> None:
        rounded = copy.copy(card)
        rounded._points, rounded._edits = dict(card._rounded), ()
        given, rows = rows, _face(rows, card)
        train = rows if train is given else _face(train, card)
        self._card = card
        super().__init__(rounded.as_model(), rows, train, who)
        self.replay(_list_edits(card))
        last = self._states[self._at]
        self._given = card.as_model()
        self._states = [replace(last, start=Start.of(self._given, train))]
        self._at = 0

    @property
    def given(self) -> Any:
        """The card before the changes."""
        return self._card

    @property
    def model(self) -> Any:
        """The current card."""
        return self._card if self._at == 0 else _remake(self._card, self.evidence)

    def _make(self, action: str, given: dict[str, Any]) -> tuple[Evidence, Start]:
        if action == "rename":
            raise ValueError(
                "rename is for models: a scorecard shows its columns by their names, and reasons "
                "by its texts; rename the model that the card is made from"
            )
        given = dict(given)
        if "points" in given:
            given["weight"] = given.pop("points") / self._card.scale.per_nat
        return super()._make(action, given)

    def _record(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a change for the record, with points in place of a weight."""
        given = dict(given)
        if "weight" in given:
            weight = np.asarray(given.pop("weight"), dtype=np.float64)
            given["points"] = int(np.rint(self._card.scale.per_nat * weight.sum()))  # one class
        return given

    def _settle(self, after: Evidence) -> Evidence:
        """The evidence with the points of every level rounded to integers."""
        units = after.units
        tables = tuple(_round(table, units) for table in after)
        prior = (units.total(float(after.prior_row[0])) - units.start) / units.scale
        return replace(after, tables=tables, prior=prior)


def _face(rows: ClassRows, card: Scorecard) -> ClassRows:
    """The rows with their classes in the order of the card."""
    sample = rows.sample
    if sample.classes.tolist() == card.classes_.tolist():
        return rows
    classes, counts = sample.classes[::-1], sample.class_counts[::-1]
    turned = replace(sample, labels=1 - sample.labels, classes=classes, class_counts=counts)
    return ClassRows(turned)


def _list_edits(card: Scorecard) -> Iterable[Change]:
    """The changes of points by `Scorecard.edit`, as changes of the editor's record."""
    for edit in card._edits:
        given = {"feature": edit.feature, "level": edit.level, "points": edit.after}
        yield Change("set", given, edit.why, edit.who, edit.when, 0.0, 0.0, False)


def _round(table: FeatureTable, units: Units) -> FeatureTable:
    points = np.rint(units.scale * table.by_class) / units.scale
    return table if np.array_equal(points, table.by_class) else replace(table, by_class=points)


def _remake(card: Scorecard, evidence: Evidence) -> Scorecard:
    """A card with the settings of `card`, for the features and levels that are left."""
    settings = card.settings
    names = {table.name: {*table.labels, NO_LEVEL} for table in evidence}
    settings["texts"] = {name: text for name, text in card.texts.items() if name in names}
    settings["level_texts"] = {
        name: {level: text for level, text in own.items() if level in names[name]}
        for name, own in card.level_texts.items()
        if name in names
    }
    source = replace(evidence, units=HUNDREDTHS)
    made = Scorecard(source if card._good else flip(source), **settings)  # files sort the classes
    made.provenance_ = card.provenance_
    return made
