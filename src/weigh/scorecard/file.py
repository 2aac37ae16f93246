"""A scorecard as JSON: its settings, points and edits, and the table that it came from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.store import SCORECARD, read_json, write_text
from weigh.store.evidence import evidence_from_dict, evidence_to_dict
from weigh.store.values import check, numbers

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard

FORMAT, VERSION = SCORECARD, 1
SETTINGS = ("points_to_double", "base_score", "base_odds", "of", "texts")
OPTIONAL = ("level_texts",)  # which files did not have from the first


def to_json(card: Scorecard) -> str:
    """The text of a card's file."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        **{name: getattr(card, name) for name in SETTINGS + OPTIONAL},
        "base_points": card.base_points,
        "points": {name: [*points] for name, points in card.points.items()},
        "edits": [vars(edit) for edit in card.edits],
        "rounding": card.rounding and vars(card.rounding),
        "evidence": evidence_to_dict(card._source),
    }
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def save(card: Scorecard, path: str | os.PathLike[str]) -> None:
    """Write a card whole or not at all."""
    write_text(to_json(card), path)


def load(path: str | os.PathLike[str]) -> Scorecard:
    """Read a card; nothing in it is executed."""
    data = read_json(path, "a scorecard")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f'{path} is no scorecard: it lacks "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise ValueError(
            f"{path} is of version {data.get('version')!r}; this release reads {VERSION}"
        )
    try:
        return from_dict(data)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        lacks = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"{path} is not a whole scorecard: {lacks}") from None


def from_dict(data: Mapping[str, Any]) -> Scorecard:
    """The card that `to_json` described."""
    from weigh.scorecard.card import Edit, Scorecard
    from weigh.scorecard.rounding import Rounding

    settings = {name: data[name] for name in SETTINGS}
    settings |= {name: data[name] for name in OPTIONAL if name in data}
    card = Scorecard(evidence_from_dict(data["evidence"]), **settings)
    check(type(data["base_points"]) is int, "base_points must be a whole number")
    card.base_points = data["base_points"]
    listed = data["points"]
    names = [table.name for table in card._source]
    check([*listed] == names, "points must be those of the features")
    for table in card._source:
        points = numbers(listed, table.name, (len(table.levels),))
        check(bool((points == np.rint(points)).all()), "points must be whole numbers")
        card._points[table.name] = points
    card.edits = tuple(Edit(**edit) for edit in data["edits"])
    card.rounding = None if data["rounding"] is None else Rounding(**data["rounding"])
    return card
