"""Evidence as plain data and back, with its recalibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Cross, Feature
from weigh.engine import TOKEN
from weigh.evidence import (
    Attenuation,
    Change,
    Evidence,
    FeatureTable,
    Form,
    Margins,
    Recalibration,
    name_as_recorded,
    squeeze,
)
from weigh.store.plain import (
    check,
    feature_to_dict,
    numbers,
    read_classes,
    read_columns,
    read_features,
    read_target,
    rows,
    variances,
)

NUMBERS = ("identity", "log")
"""The links of models that estimate numbers."""

GIVEN = ("exposure", "offset")
"""Columns that a model of numbers may have been fitted with beside its features."""


def curve_to_dict(curve: Recalibration) -> dict[str, Any]:
    """A curve as plain data."""
    arrays = {name: getattr(curve, name).tolist() for name in ("points", "levels", "slopes")}
    return {"method": curve.method, **arrays, "shift": curve.shift}


def curve_from_dict(data: Mapping[str, Any]) -> Recalibration:
    """The curve that `curve_to_dict` described."""
    from weigh.calibrate import FITS  # which brings scikit-learn

    check(data["method"] in FITS, f"method must be one of {[*FITS]}")
    steps = data["method"] == "isotonic"
    n = len(data["points"])
    check(n > 0, "a recalibration has at least one point")
    points, levels = numbers(data, "points", (n,)), numbers(data, "levels", (n,))
    slopes = numbers(data, "slopes", (0 if steps else n,), low=1e-300)
    check(_rises(points, levels, steps), "points and levels must ascend")
    shift = float(numbers(data, "shift", ()))
    return Recalibration(data["method"], points, levels, slopes, shift)


def _recalibration(evidence: Mapping[str, Any]) -> Recalibration | None:
    """The curve of an evidence, if it has one."""
    if "recalibration" not in evidence:
        return None
    check(len(evidence["classes"]) == 2, "a recalibration is of two classes")
    return curve_from_dict(evidence["recalibration"])


def _rises(points: Floats, levels: Floats, steps: bool) -> bool:
    up = np.diff(levels)
    inside = not steps or bool(levels[0] >= 0 and levels[-1] <= 1)
    return bool((np.diff(points) > 0).all() and (up >= 0 if steps else up > 0).all() and inside)


def evidence_to_dict(evidence: Evidence) -> dict[str, Any]:
    """The prior and the tables."""
    curve = evidence.recalibration
    return {
        "classes": evidence.classes.tolist(),
        "class_counts": evidence.class_counts.tolist(),
        "prior": evidence.prior_row.tolist(),
        "prior_variances": rows(evidence.prior_variances),
        "assumed_rate": evidence.assumed_rate.tolist(),
        "link": evidence.link,
        "caveat": evidence.caveat,
        "event_model": evidence.event_model,
        "columns": list(evidence.columns),
        "features": [_table_to_dict(table) for table in evidence],
        **_rule_to_dict(evidence.attenuation),
        **({} if curve is None else {"recalibration": curve_to_dict(curve)}),
        **_covariance_to_dict(evidence),
        **{role: name for role in GIVEN if (name := getattr(evidence, role)) is not None},
        **({"edits": [edit.to_dict() for edit in evidence.edits]} if evidence.edits else {}),
    }


def evidence_from_dict(data: Mapping[str, Any]) -> Evidence:
    """The evidence that `evidence_to_dict` described."""
    classes = read_target(data) if data["link"] in NUMBERS else read_classes(data)
    _check_forms(data, n := len(classes))
    features = _read_features(data)
    pairs = zip(data["features"], features, strict=True)
    edits = _edits_from_dict(data)
    found = Evidence(
        classes=classes,
        class_counts=_read_class_counts(data, n),
        prior=squeeze(numbers(data, "prior", (1 if n == 2 else n,))),
        tables=tuple(_table_from_dict(table, feature, n) for table, feature in pairs),
        assumed_rate=_read_rate(data, n),
        prior_variances=variances(data, "prior_variances", (n,)),
        event_model=data["event_model"],
        form="softmax" if data["link"] == "logistic" else data["link"],
        caveat=data["caveat"],
        columns=read_columns(data, () if _has_tokens(data) else features),
        attenuation=_rule_from_dict(data["attenuation"], data) if "attenuation" in data else None,
        recalibration=_recalibration(data),
        covariance=_covariance_from_dict(data, features) if "covariance" in data else None,
        scales_estimated=data.get("scales_estimated") is True,
        exposure=_column_given(data, "exposure"),
        offset=_column_given(data, "offset"),
        edits=edits,
    )
    _check_margins(found.tables, found.attenuation)
    if n > 1 and not _has_tokens(data):
        _check_counts(found.tables, found.class_counts, edits)
    return name_as_recorded(found)


def _check_forms(data: Mapping[str, Any], n_classes: int) -> None:
    """Refuse an event model, a link or a caveat that no model has."""
    check(data["event_model"] in ("levels", "counts"), "event_model must be levels or counts")
    links = {1: NUMBERS, 2: ("logistic",)}.get(n_classes, ("softmax", "ovr"))
    check(data["link"] in links, "link does not fit the classes")
    check(isinstance(data["caveat"], str), "caveat must be text")


def _has_tokens(data: Mapping[str, Any]) -> bool:
    """Whether the rows are documents, of which tokens are counted."""
    return bool(data["event_model"] == "counts")


def _read_features(data: Mapping[str, Any]) -> tuple[Feature | Cross, ...]:
    """The features; documents have one, the token."""
    features = read_features(data, in_order=_has_tokens(data))
    one = [feature.name for feature in features] == [TOKEN]
    check(one or not _has_tokens(data), "counts have one feature, the token")
    return features


def _read_class_counts(data: Mapping[str, Any], n_classes: int) -> Floats:
    """The weight of the rows of each class, of which one is above 0."""
    counts = numbers(data, "class_counts", (n_classes,), low=0)
    check(counts.sum() > 0, "class_counts must not all be zero")
    return counts


def _read_rate(data: Mapping[str, Any], n_classes: int) -> Floats:
    """The base rate that the prior stands for: shares that add up to 1."""
    rate = numbers(data, "assumed_rate", (n_classes,), low=1e-300)
    check(bool(np.isclose(rate.sum(), 1.0)), "assumed_rate must hold shares that add up to 1")
    return rate


def _check_counts(
    tables: Sequence[FeatureTable], class_counts: Floats, edits: Sequence[Change]
) -> None:
    """Refuse counts of levels that add up to more rows than there are; rows may be skipped.

    Pairs that were added by hand are exempt: older files count them in the rows of the edit.
    """
    added = [{*map(str, edit.arguments.values())} for edit in edits if edit.action == "add_pair"]
    for table in tables:
        fits = bool(np.all(table.counts.sum(axis=0) <= class_counts * (1 + 1e-9)))
        by_hand = {part.name for part in table.feature.parts} in added
        check(fits or by_hand, f"counts of {table.name!r} add up to more rows than class_counts")


def _check_margins(tables: Sequence[FeatureTable], rule: Attenuation | None) -> None:
    """Refuse margins without the factor of incomplete rows, or where the pair has a share in it."""
    for table in tables:
        if table.margins is not None:
            sound = rule is not None and rule.form == "known" and not rule.shares.get(table.name)
            check(sound, f"margins of {table.name!r} need an attenuation in which it has no share")


def _edits_from_dict(data: Mapping[str, Any]) -> tuple[Change, ...]:
    found = map(Change.from_dict, data.get("edits", ()))
    return tuple(replace(edit, estimates=data["link"] in NUMBERS) for edit in found)


def _column_given(data: Mapping[str, Any], role: str) -> str | None:
    if role not in data:
        return None
    check(data["link"] in NUMBERS, f"a model of classes has no {role}")
    check(isinstance(data[role], str), f"{role} must be text")
    return str(data[role])


def _rule_to_dict(rule: Attenuation | None) -> dict[str, Any]:
    """The rule, where there is one."""
    if rule is None:
        return {}
    found = {"k": rule.k, "form": rule.form, "shift": rule.shift.tolist()}
    shares = {"shares": {**rule.shares}} if rule.form == "known" else {}
    return {"attenuation": found | shares}


def _rule_from_dict(rule: Mapping[str, Any], evidence: Mapping[str, Any]) -> Attenuation:
    check(evidence["link"] != "ovr", "attenuated totals are joint: their link is not ovr")
    check(rule["form"] in get_args(Form), "form must be root, geometric or known")
    shift = numbers(rule, "shift", (len(evidence["prior"]),))
    if rule["form"] != "known":
        return Attenuation(float(numbers(rule, "k", (), low=1)), rule["form"], shift)
    shares = {name: float(numbers(rule["shares"], name, (), low=0)) for name in rule["shares"]}
    check(sum(shares.values()) < 1 + 1e-9, "shares of the evidence must not add up to more than 1")
    k = float(numbers(rule, "k", ()))
    check(k > -1, "k must be above -1")
    return Attenuation(k, "known", shift, shares)


def _covariance_to_dict(evidence: Evidence) -> dict[str, Any]:
    """The lower triangle, row by row, and whether it includes the uncertainty of the scales."""
    if evidence.covariance is None:
        return {}
    lower = [row[: i + 1] for i, row in enumerate(evidence.covariance.tolist())]
    return {"covariance": lower, "scales_estimated": evidence.scales_estimated}


def _covariance_from_dict(data: Mapping[str, Any], features: Sequence[Feature | Cross]) -> Floats:
    single = data["link"] in ("logistic", *NUMBERS)
    check(single, "a covariance is that of one total")
    lines, n = data["covariance"], 1 + sum(len(feature.levels) for feature in features)
    sound = isinstance(lines, list) and len(lines) == n
    check(sound, f"covariance must have {n} rows: the prior and every level")
    whole = np.zeros((n, n))
    for i, line in enumerate(lines):
        whole[i, : i + 1] = whole[: i + 1, i] = numbers(
            {"covariance": line}, "covariance", (i + 1,)
        )
    return whole


def _table_to_dict(table: FeatureTable) -> dict[str, Any]:
    return feature_to_dict(table.feature) | {
        "note": table.note,
        "smoothing": table.smoothing,
        "weights": table.by_class.tolist(),
        "counts": table.counts.tolist(),
        "variances": rows(table.variances),
        "errors": rows(table.known_errors),
        **({} if table.margins is None else {"margins": [m.tolist() for m in table.margins]}),
    }


def _table_from_dict(
    data: Mapping[str, Any], feature: Feature | Cross, n_classes: int
) -> FeatureTable:
    check(isinstance(data["note"], str), "a feature's note must be text")
    m, n_columns = len(feature.levels), 1 if n_classes == 2 else n_classes
    return FeatureTable(
        feature,
        numbers(data, "counts", (m, n_classes), low=0),
        numbers(data, "weights", (m, n_columns)),
        variances(data, "variances", (m, n_classes)),
        float(numbers(data, "smoothing", (), low=0)),
        data["note"],
        variances(data, "errors", (m, n_columns)),
        _margins(data, feature, n_columns) if "margins" in data else None,
    )


def _margins(data: Mapping[str, Any], feature: Feature | Cross, n_columns: int) -> Margins:
    """The weights of a pair's levels of which one answer is not known, by column."""
    check(isinstance(feature, Cross), "margins are those of a pair")
    listed = data["margins"]
    check(isinstance(listed, list) and len(listed) == 2, "margins must be of two columns")
    left, right = (
        numbers({"margins": own}, "margins", (len(part.levels), n_columns))
        for own, part in zip(listed, feature.parts, strict=True)
    )
    return left, right
