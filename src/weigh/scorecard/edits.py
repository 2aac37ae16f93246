"""Points that somebody changed by hand, one edit after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weigh.evidence import Evidence
from weigh.frames import Floats
from weigh.store.values import check

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard


@dataclass(frozen=True)
class Edit:
    """Points that somebody changed by hand."""

    feature: str
    level: str
    before: int
    after: int
    why: str = ""


def check_edits(card: Scorecard) -> None:
    """Refuse points other than those that were rounded, changed by one edit after the other."""
    replayed = {name: points.copy() for name, points in card._rounded.items()}
    for edit in card.edits:
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
    texts, whole = (edit.feature, edit.level, edit.why), (edit.before, edit.after)
    sound = all(type(t) is str for t in texts) and all(type(p) is int for p in whole)
    check(sound, f"edits must hold text and whole numbers, got {edit}")
    labels = source[edit.feature].labels
    check(edit.level in labels, f"an edit of no level: {edit}")
    own, place = points[edit.feature], labels.index(edit.level)
    had = f"{edit}, but the level had {own[place]:g} points by then"
    check(edit.before == own[place], f"{had}; keep edits in order")
    own[place] = edit.after
