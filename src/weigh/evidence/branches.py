"""Branching questions: columns asked for only if another column has certain levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weigh.bins import Ask, Cross, Feature, label, printable, read_rules
from weigh.frames import canonical, key

if TYPE_CHECKING:
    from weigh.evidence.tables import Evidence


def ask_only(evidence: Evidence, ask_if: Any) -> Evidence:
    """Return evidence in which a column contributes nothing if its question is not asked.

    Parameters
    ----------
    evidence : Evidence
        The tables.
    ask_if : dict or None
        For each column, the column that it depends on and the level (or list of levels) that this
        must have: {"pain_site": ("pain", "yes")}.
    """
    rules = read_rules(ask_if)
    if not rules:
        return evidence
    parts: dict[str, Feature] = {}
    for table in evidence:
        for part in table.feature.parts:
            parts.setdefault(part.name, replace(part, asked=()))
    asks = {_find(column, parts): _ask(other, wanted, parts) for column, other, wanted in rules}
    chains = {name: _chain(name, asks) for name in asks}
    tables = (replace(t, feature=_with_asks(t.feature, chains)) for t in evidence)
    return replace(evidence, tables=tuple(tables))


def _find(column: Any, parts: Mapping[str, Feature]) -> str:
    if column not in parts:
        raise ValueError(f"ask_if names {column!r}, but the columns are {[*parts]}")
    return str(column)


def _ask(other: Any, wanted: Any, parts: Mapping[str, Feature]) -> Ask:
    """Condition from one or several levels, given by value or by label."""
    parent = parts[_find(other, parts)]
    many = isinstance(wanted, Iterable) and not isinstance(wanted, str)
    placed = () if parent.is_numeric else parent.placed_values
    places_of = {key(value): place for value, place in placed}
    ways = parent.labels, parent.cut_labels, parent.range_labels
    spelt = [[*texts[: parent.missing_place]] for texts in ways]
    places = []
    for level in wanted if many else [wanted]:
        value = canonical(level)
        named = [texts.index(label(value)) for texts in spelt if label(value) in texts]
        found = [places_of[key(value)]] if key(value) in places_of else named
        if not found:
            raise ValueError(
                f"ask_if requires {parent.name!r} to be {level!r}, but its levels are {spelt[0]}"
            )
        places.append(found[0])
    return Ask(parent, tuple(dict.fromkeys(places)))


def _chain(start: str, asks: Mapping[str, Ask]) -> tuple[Ask, ...]:
    """All conditions for a question to be asked, the outermost first."""
    chain: list[Ask] = []
    at, seen = start, {start}
    while at in asks:
        chain.insert(0, asks[at])
        at = asks[at].feature.name
        if at in seen:
            name = printable(start)
            raise ValueError(f"ask_if is circular at {name!r}: that question could never be asked")
        seen.add(at)
    return tuple(chain)


def _with_asks(feature: Feature | Cross, chains: Mapping[str, tuple[Ask, ...]]) -> Feature | Cross:
    if isinstance(feature, Cross):
        left, right = (_part(part, chains) for part in feature.parts)
        return replace(feature, parts=(left, right))
    return _part(feature, chains)


def _part(part: Feature, chains: Mapping[str, tuple[Ask, ...]]) -> Feature:
    """The feature with its conditions; a missing or unasked answer is no evidence."""
    if part.name not in chains:
        return part
    if part.has_missing:
        raise ValueError(
            "ask_if: a question that is not asked adds no evidence, but missing values of "
            f"{part.name!r} are a level of the model; fit with missing={{{part.name!r}: 'skip'}}"
        )
    return replace(part, asked=chains[part.name], skip_missing=True)
