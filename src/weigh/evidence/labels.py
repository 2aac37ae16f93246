"""Display names given by the user, separate from the names used as keys in tables and files.

`with_labels` returns the same evidence with display names. It reads the same columns and gives the
same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

from weigh.bins import Cross, Feature, label, spell_level
from weigh.bins.labels import EXACT
from weigh.errors import Parameter, ParameterError
from weigh.evidence.tables import Evidence
from weigh.frames import canonical, did_you_mean

PARTS = ("columns", "levels", "classes", "outcomes")


def with_labels(evidence: Evidence, labels: Any) -> Evidence:
    """Return the evidence with display names of columns, levels and classes.

    Parameters
    ----------
    labels : dict
        Any of `columns` ({"edu": "Education"}), `levels` ({"edu": {"3": "degree"}}, special codes
        and missing among them), `classes` ({"bad": "Default"}) and `outcomes` ({"bad": "the loan
        defaults"}), which completes the phrase "Probability that". Levels and classes are given by
        their value or their printed label.

    Examples
    --------
    >>> import weigh
    >>> model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    >>> words = {"columns": {"Sex": "Man or woman"}, "outcomes": {"Yes": "the person survives"}}
    >>> shown = with_labels(model.evidence_, words)
    >>> shown["Sex"].feature.shown, shown.probability_of(1)
    ('Man or woman', 'Probability that the person survives')
    """
    if labels is None:
        return evidence
    _check_names([*_mapping(labels, "")], PARTS, "")
    given = {name: _mapping(part, name) for name, part in labels.items()}
    columns, levels = given.get("columns", {}), given.get("levels", {})
    for name, part in (("columns", columns), ("levels", levels)):
        _check_names([*part], evidence.column_names, name)
    texts = {name: _mapping(part, f"levels of {name!r}") for name, part in levels.items()}
    _check_levels(texts, evidence)
    tables = tuple(
        replace(table, feature=_title(table.feature, columns, texts)) for table in evidence
    )
    classes, outcomes = (
        _by_class(given.get(name, {}), evidence, name) for name in ("classes", "outcomes")
    )
    return replace(
        evidence,
        tables=tables,
        class_texts=classes or evidence.class_texts,
        outcomes=outcomes or evidence.outcomes,
    )


def rename_feature(
    evidence: Evidence, feature: str, name: str, levels: Mapping[str, str]
) -> Evidence:
    """Return the evidence with new display names of a column and of some of its levels."""
    texts = [name, *levels.values()]
    if not all(isinstance(text, str) for text in texts) or not any(texts):
        raise ParameterError(
            Parameter("name"), f" and levels must hold texts, got {name!r} and {levels!r}"
        )
    if feature not in evidence.column_names:
        meant, known = did_you_mean(feature, evidence.column_names), [*evidence.column_names]
        raise ValueError(f"there is no column {feature!r}; there are {known}{meant}")
    _refuse_unknown([part for part in _parts(evidence) if part.name == feature], levels)
    named = {"columns": {feature: name} if name else {}, "levels": {feature: levels}}
    renamed = with_labels(evidence, named)
    _refuse_twice(renamed, feature)
    return renamed


def _parts(evidence: Evidence) -> list[Feature]:
    """The features of all tables, including parts of pairs, which may have other levels."""
    return [part for feature in evidence.features for part in feature.parts]


def _refuse_unknown(parts: Sequence[Feature], levels: Mapping[str, str]) -> None:
    known = {key for part in parts for key in _keys(part)}
    for level in levels:
        if _key(level, known) not in known:
            first = parts[0]
            meant = did_you_mean(level, first.labels)
            raise ParameterError(
                Parameter("levels"),
                f": {first.name!r} has no level {level!r}; it has {[*first.labels]}{meant}",
            )


def _refuse_twice(renamed: Evidence, feature: str) -> None:
    """Refuse a display name already used by another column, or by two levels of the column."""
    changed = [part for part in _parts(renamed) if part.name == feature]
    name = changed[0].shown
    for part in _parts(renamed):
        if part.name != feature and name in (part.name, part.shown):
            raise ParameterError(
                Parameter("name"), f"={name!r} is the name of another column, {part.name!r}"
            )
    for part in changed:
        texts = part.spelt(EXACT)
        twice = [text for text, n in Counter(texts).items() if n > 1]
        if twice:
            both = [key for key, own in zip(part.labels, texts, strict=True) if own == twice[0]]
            raise ParameterError(
                Parameter("levels"), f": {twice[0]!r} would name the levels {both} of {feature!r}"
            )


def name_as_recorded(evidence: Evidence) -> Evidence:
    """Apply the display names recorded in `edits`; model files store no others."""
    for change in evidence.edits:
        given = change.arguments
        if change.action == "rename" and given["feature"] in evidence.column_names:
            if not isinstance(given["name"], str) or not isinstance(given["levels"], Mapping):
                raise ValueError("an edit that renames must hold a name, and texts by level")
            columns = {given["feature"]: given["name"]} if given["name"] else {}
            texts = {given["feature"]: given["levels"]}
            tables = (replace(t, feature=_title(t.feature, columns, texts)) for t in evidence)
            evidence = replace(evidence, tables=tuple(tables))
    return evidence


def _mapping(given: Any, name: str) -> Mapping[Any, Any]:
    if isinstance(given, Mapping):
        return given
    what = f" ({name})" if name else ""
    raise ParameterError(
        Parameter("labels"),
        f"{what} must be a dict such as {{'columns': {{'edu': 'Education'}}}}, got {given!r:.80}",
    )


def _check_names(given: Sequence[Any], known: Sequence[str], where: str) -> None:
    for name in given:
        if name not in known:
            part = f" ({where})" if where else ""
            meant = did_you_mean(name, known)
            raise ParameterError(
                Parameter("labels"), f"{part} names {name!r}, but there are {[*known]}{meant}"
            )


def _check_levels(texts: Mapping[str, Mapping[Any, Any]], evidence: Evidence) -> None:
    parts: dict[str, list[str]] = {}
    for part in _parts(evidence):
        parts.setdefault(part.name, []).extend(_keys(part))
    for name, own in texts.items():
        known = parts.get(name, [])
        _check_names([_key(level, known) for level in own], known, f"levels of {name!r}")


def _keys(part: Feature) -> tuple[str, ...]:
    """All texts that identify a level, without repetitions."""
    return (*dict.fromkeys((*part.labels, *part.cut_labels, *part.range_labels)),)


def _key(level: Any, known: Container[str]) -> str:
    """The text of a level that is given by this text or as it is."""
    text = label(canonical(level))
    return text if text in known else spell_level(canonical(level))


def _title(
    feature: Feature | Cross, columns: Mapping[str, Any], texts: Mapping[str, Mapping[Any, Any]]
) -> Feature | Cross:
    if isinstance(feature, Cross):
        left, right = feature.parts
        parts = _title_part(left, columns, texts), _title_part(right, columns, texts)
        return replace(feature, parts=parts)
    return _title_part(feature, columns, texts)


def _title_part(
    feature: Feature, columns: Mapping[str, Any], texts: Mapping[str, Mapping[Any, Any]]
) -> Feature:
    given, known = texts.get(feature.name, {}), _keys(feature)
    own = {_key(level, known): str(text) for level, text in given.items()}
    title = str(columns.get(feature.name, feature.title))
    return replace(feature, title=title, texts=(*(dict(feature.texts) | own).items(),))


def _by_class(given: Mapping[Any, Any], evidence: Evidence, where: str) -> tuple[str, ...]:
    """A text for each class, in order; empty if no class has one."""
    names = [label(c) for c in evidence.classes.tolist()]
    found = {label(canonical(name)): str(value) for name, value in given.items()}
    _check_names([*found], names, where)
    return tuple(found.get(name, "") for name in names) if found else ()
