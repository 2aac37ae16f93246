"""What reason codes say: of a feature, and where it is given, of one of its levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weigh.bins import label
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import did_you_mean


def read_texts(texts: Mapping[str, str] | None, evidence: Evidence) -> dict[str, str]:
    """By feature, its name where nothing else is given."""
    known = {table.name: table.name for table in evidence}
    for name, text in (texts or {}).items():
        _check(name, known)
        if not isinstance(text, str):
            raise ValueError(
                f"texts must be a dict from features to text, got {text!r} for {name!r}; "
                "level_texts takes texts of single levels"
            )
    return known | dict(texts or {})


def read_level_texts(texts: Mapping[str, Any] | None, evidence: Evidence) -> dict[str, Any]:
    """By feature and by the label of a level."""
    found: dict[str, dict[str, str]] = {}
    for name, own in (texts or {}).items():
        table = evidence[_check(name, {table.name: table.name for table in evidence})]
        if not isinstance(own, Mapping) or not all(isinstance(t, str) for t in own.values()):
            raise ValueError(
                f"level_texts must be a dict from features to dicts from levels to text, such as "
                f"{{{name!r}: {{'missing': 'not given'}}}}, got {own!r}"
            )
        found[name] = {table.labels[find_level(table, level)]: own[level] for level in own}
    return found


def _check(name: Any, known: Mapping[str, str]) -> str:
    if name not in known:
        meant = did_you_mean(name, known)
        raise ValueError(f"texts must be a dict from features {[*known]}, got {name!r}{meant}")
    return str(name)


def texts_of(table: FeatureTable, text: str, own: Mapping[str, str]) -> tuple[str, ...]:
    """The text of every level of a feature, and last of what is no level."""
    return (*(own.get(name, text) for name in table.labels), text)


def find_level(table: FeatureTable, level: Any) -> int:
    """Where a level stands, given as the text that it is shown by, or else as it is.

    An interval of whole numbers is also found by its cut points: `(3.5, 7.5]` for `4 to 7`. Of a
    level of text that reads `missing` beside missing answers, that text is `"missing"`.
    """
    for names in (table.labels, table.levels, table.feature.cut_labels):
        places = [i for i, own in enumerate(names) if own == level and type(own) is type(level)]
        if places:
            return places[0]
    raise ValueError(f"{table.name!r} has no level {label(level)!r}; it has {[*table.labels]}")
