"""A scorecard as JSON: its settings, points and edits, and the table that it came from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.evidence import Evidence, Provenance
from weigh.frames import Floats
from weigh.scorecard.points import Rounding
from weigh.store import INCOMPLETE, SCORECARD, read_json
from weigh.store.evidence import evidence_from_dict, evidence_to_dict
from weigh.store.plain import check, numbers

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard


@dataclass(frozen=True)
class Edit:
    """Points that somebody changed by hand: the level, the points, and who, when and why."""

    feature: str
    level: str
    before: int
    after: int
    why: str = ""
    who: str = ""
    when: str = ""

    @property
    def words(self) -> str:
        """The change as people read it."""
        return f"{self.feature} = {self.level}: {self.before} became {self.after}"

    def __str__(self) -> str:
        return f"{self.words}: {self.why} ({self.who}, {self.when})"


def check_edits(card: Scorecard) -> None:
    """Refuse points other than those that were rounded, changed by one edit after the other."""
    replayed = {name: points.copy() for name, points in card._rounded.items()}
    for edit in card._edits:
        _replay(edit, replayed, card._source)
    for table in card._source:
        listed = (card._points, card._rounded, replayed)
        columns = (points[table.name] for points in listed)
        for name, p, rounded, last in zip(table.labels, *columns, strict=True):
            what = f"{table.name} = {name} has {p:g} points, rounded {rounded:g}"
            told = "no edit says so" if last == rounded else f"by its last edit {last:g}"
            check(p == last, f"{what}, and {told}; change points with edit, which records it")


def _replay(edit: Edit, points: Mapping[str, Floats], source: Evidence) -> None:
    """Change the points that an edit says it changed."""
    texts = (edit.feature, edit.level, edit.why, edit.who, edit.when)
    whole = (edit.before, edit.after)
    sound = all(type(t) is str for t in texts) and all(type(p) is int for p in whole)
    check(sound, f"edits must hold text and whole numbers, got {edit!r}")
    labels = source[edit.feature].labels
    check(edit.level in labels, f"an edit of no level: {edit!r}")
    own, place = points[edit.feature], labels.index(edit.level)
    had = f"{edit!r}, but the level had {own[place]:g} points by then"
    check(edit.before == own[place], f"{had}; keep edits in order")
    own[place] = edit.after


FORMAT, VERSION = SCORECARD, 1
SETTINGS = ("points_to_double", "base_score", "base_odds", "pos_label", "texts")
OPTIONAL = ("level_texts", "base", "woe")  # which files did not have from the first


def to_json(card: Scorecard) -> str:
    """The text of a card's file."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        **card.settings,
        "base_points": card.base_points,
        "points": {name: [*points] for name, points in card.points.items()},
        "rounded": {
            "base_points": card.base_points,
            "points": {name: [*map(int, points)] for name, points in card._rounded.items()},
        },
        "edits": [vars(edit) for edit in card._edits],
        "rounding": card.rounding and {n: _known(v) for n, v in vars(card.rounding).items()},
        **({"provenance": card.provenance_.to_dict()} if card.provenance_ else {}),
        "evidence": evidence_to_dict(card._source),
    }
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def load(path: str | os.PathLike[str]) -> Scorecard:
    """Read a card; nothing in it is executed."""
    data = read_json(path, "a scorecard")
    if data.get("version") != VERSION:
        raise ValueError(
            f"{path} has version {data.get('version')!r}; this release reads {VERSION}"
        )
    try:
        return from_dict(data)
    except INCOMPLETE as error:
        lacks = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"{path} is not a complete scorecard: {lacks}") from None


def from_dict(data: Mapping[str, Any]) -> Scorecard:
    """The card that `to_json` described."""
    from weigh.scorecard.card import Scorecard  # which builds on this module

    settings = {name: data[name] for name in SETTINGS}
    settings |= {name: data[name] for name in OPTIONAL if name in data}
    card = Scorecard(evidence_from_dict(data["evidence"]), **settings)
    card.base_points = _base_points(data)
    card._points = _points(data["points"], card)
    card._rounded = _points(data["rounded"]["points"], card)
    card._edits = tuple(Edit(**edit) for edit in data["edits"])
    check_edits(card)
    if "provenance" in data:
        card.provenance_ = Provenance.from_dict(data["provenance"])
    card.rounding = None if data["rounding"] is None else Rounding(**_measures(data["rounding"]))
    return card


def _known(value: float | None) -> float | None:
    """JSON has no NaN, which is the rank correlation of rows that are all alike."""
    return None if value is None or np.isnan(value) else value


def _base_points(data: Mapping[str, Any]) -> int:
    found, rounded = data["base_points"], data["rounded"]["base_points"]
    check(type(found) is int, "base_points must be a whole number")
    check(
        found == rounded, f"base_points are {found}, rounded {rounded}; change base_score instead"
    )
    return int(found)


def _points(listed: Mapping[str, Any], card: Scorecard) -> dict[str, Floats]:
    names = [table.name for table in card._source]
    check([*listed] == names, "points must be those of the features")
    found = {t.name: numbers(listed, t.name, (len(t.levels),)) for t in card._source}
    whole = all((points == np.rint(points)).all() for points in found.values())
    check(whole, "points must be whole numbers")
    return found


def _measures(data: Mapping[str, Any]) -> dict[str, Any]:
    """What rounding did; the rank correlation of rows that are all alike is not known."""
    sound = all(v is None or type(v) in (int, float) for v in data.values())
    check(sound and data["largest_change"] is not None, "rounding must hold numbers")
    return {**data, "kendall": np.nan if data["kendall"] is None else data["kendall"]}
