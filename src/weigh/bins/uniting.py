"""Merge the levels of two parts of the data: of merged models, or of batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weigh.bins.labels import MOST_OTHERS
from weigh.frames import Value, key, keys, order

if TYPE_CHECKING:
    from weigh.bins.levels import Feature


def unite_features(one: Feature, other: Feature) -> Feature:
    """Merge the levels of two features; cut points and handling of missing values must agree.

    A column without values takes the other's levels. If rare values were joined, the levels kept
    must agree too, because the joined values are no longer known.
    """
    for empty, full in ((one, other), (other, one)):
        if not (empty.is_numeric or empty.values) and full.skip_missing == empty.skip_missing:
            return replace(full, has_missing=empty.has_missing or full.has_missing)
    _check_same(one, other)
    has_missing = one.has_missing or other.has_missing
    if one.groups:
        return replace(_unite_others(one, other), has_missing=has_missing)
    if one.other or other.other:
        return replace(_unite_rare(one, other), has_missing=has_missing)
    if one.is_numeric:
        read = {n: getattr(one, n) and getattr(other, n) for n in ("whole", "binary", "counted")}
        return replace(one, has_missing=has_missing, **read)
    if not one.kinds & other.kinds:
        one.check_kind(other.values)
    if one.ordered or other.ordered:
        return replace(_unite_ordered(one, other), has_missing=has_missing)
    known = dict.fromkeys(map(key, one.values + other.values))
    values = tuple(value for _, value in known) if one.in_order else sort_values({*known})
    return replace(one, values=values, has_missing=has_missing)


def _check_same(one: Feature, other: Feature) -> None:
    for what, mine, theirs in (
        ("cut points", one.cuts, other.cuts),
        ("missing", one.skip_missing, other.skip_missing),
        ("special values", one.is_numeric and one.values, other.is_numeric and other.values),
        ("categories that share levels", one.joined, other.joined),
    ):
        if mine != theirs:
            raise ValueError(
                f"column {one.name!r}: {what} differ ({_show(mine)} against {_show(theirs)}); "
                "fit both parts with the same settings, cut points given through bins="
            )


def _unite_ordered(one: Feature, other: Feature) -> Feature:
    """The feature whose ordered levels contain all levels of the other, in the same order."""
    for whole, part in ((one, other), (other, one)):
        places = {value: i for i, value in enumerate(keys(whole.values))}
        found = [places.get(value, -1) for value in keys(part.values)]
        if whole.ordered and -1 not in found and (not part.ordered or found == sorted(found)):
            return whole
    raise ValueError(
        f"column {one.name!r}: the levels are in order, and the order differs ({one.values} "
        f"against {other.values}); declare the same levels in the same order in both parts"
    )


def _unite_rare(one: Feature, other: Feature) -> Feature:
    if not (one.other and other.other and one.values == other.values):
        raise ValueError(
            f"column {one.name!r}: max_levels kept different levels in the two parts; fit all rows "
            "at once, or both parts without max_levels"
        )
    return _unite_others(one, other)


def _unite_others(one: Feature, other: Feature) -> Feature:
    """The first feature, whose level `other` also has the values of that of the second."""
    kinds = tuple(sorted({*one.other, *other.other}))
    return replace(one, other=kinds, others=list_others((one, other), one.values))


def list_others(features: Sequence[Feature], listed: Sequence[Value]) -> tuple[Value, ...]:
    """The recorded values of the level `other` of several features that are not in a list."""
    known = {*keys(listed)}
    found = {key(value): value for feature in features for value in feature.others}
    return tuple(value for own, value in found.items() if own not in known)[:MOST_OTHERS]


def sort_values(distinct: set[tuple[type, Value]]) -> tuple[Value, ...]:
    """Sort distinct values; the order is the same for every engine."""
    values = [value for _, value in distinct]
    text = all(kind is str for kind, _ in distinct)
    return tuple(sorted(values, key=None if text else order))  # type: ignore[type-var,arg-type]


def _show(value: Any) -> str:
    return "none" if value is None or value is False else str(value)
