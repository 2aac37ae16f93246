"""Convert values, classes and features to plain data and back, with validation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import SINGLE, Ask, Binning, Cross, Density, Feature, Kind, check_cuts
from weigh.frames import Value, canonical, key, sort_classes
from weigh.parameters import DEEPEST

FORMAT, VERSION, MARGINS = "weigh", 1, 2
"""Format and version that model files state: `MARGINS` if a pair has margins, which the first
releases would leave out of the totals of incomplete rows."""


def check(holds: bool, what: str) -> None:
    """Raise an error if a condition on a file's content does not hold."""
    if not holds:
        raise ValueError(what)


def numbers(
    data: Mapping[str, Any], name: str, shape: tuple[int, ...], low: float = -np.inf
) -> Floats:
    """Finite numbers of a shape, none below `low`."""
    array = floats(data[name], name, shape)
    check(bool(np.isfinite(array).all() and (array >= low).all()), f"{name} must be finite")
    return array


def floats(rows: Any, name: str, shape: tuple[int, ...]) -> Floats:
    """Read nested lists of numbers; null is NaN. Booleans and text are refused."""
    cells = [rows]
    for size in shape:
        check(all(isinstance(c, list) and len(c) == size for c in cells), f"{name} is not {shape}")
        cells = [cell for row in cells for cell in row]
    sound = all(cell is None or type(cell) in (int, float) for cell in cells)
    check(sound, f"{name} must hold numbers")
    return np.array(cells, dtype=np.float64).reshape(shape)


def integers(data: Mapping[str, Any], name: str, low: int, high: int) -> Integers:
    """A list of whole numbers from `low` up to and without `high`."""
    cells = data[name]
    check(isinstance(cells, list), f"{name} must be a list")
    sound = all(type(cell) is int and low <= cell < high for cell in cells)
    check(sound, f"{name} must hold whole numbers from {low} to {high - 1}")
    return np.array(cells, dtype=np.int64)


def variances(data: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Floats | None:
    """Numbers that are not negative, or nothing at all."""
    if data[name] is None:
        return None
    array = floats(data[name], name, shape)
    check(not (array < 0).any(), f"{name} must not be negative")
    return array


def rows(array: Floats | None) -> Any:
    """Convert an array to lists of numbers, with null for NaN and infinities."""
    if array is None:
        return None
    return np.where(np.isfinite(array), array.astype(object), None).tolist()  # type: ignore[call-overload]


def parameter(name: str, value: Any) -> Any:
    """A parameter as JSON; a splitter or random state, not needed to predict, is only described."""
    if name == "cv" and isinstance(value, str):
        return value
    if name in ("cv", "random_state") and not isinstance(value, int | np.integer | None):
        return {"object": repr(value)}
    return plain(value)


def plain(value: Any) -> Any:
    """A parameter as JSON: dicts as pairs, because their keys may be numbers; infinities named."""
    if isinstance(value, Binning):
        return {"binning": plain(vars(value))}
    if isinstance(value, Density):
        return {"density": plain(vars(value))}
    if isinstance(value, Mapping):
        return {"pairs": [[plain(k), plain(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, Set):  # in one order, so that equal models are equal files
        return {"set": sorted(map(plain, value), key=repr)}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a model with the parameter {value!r} cannot be saved")


def is_object(value: Any) -> bool:
    """Whether a parameter was only described."""
    return isinstance(value, dict) and "object" in value


def unplain(value: Any, depth: int = 0) -> Any:
    """Inverse of `plain`."""
    check(depth <= DEEPEST, f"parameters are nested more than {DEEPEST} deep")
    if isinstance(value, dict) and "number" in value:
        return float(value["number"])
    if isinstance(value, dict) and "set" in value:
        return {unplain(item, depth + 1) for item in value["set"]}
    if isinstance(value, dict) and "binning" in value:
        return Binning(**unplain(value["binning"], depth + 1))
    if isinstance(value, dict) and "density" in value:
        return Density(**unplain(value["density"], depth + 1))
    if isinstance(value, dict):
        return {unplain(k, depth + 1): unplain(v, depth + 1) for k, v in value["pairs"]}
    return [unplain(item, depth + 1) for item in value] if isinstance(value, list) else value


def read_fitted(value: Any) -> Any:
    """A fitted text, number or array of numbers, or nothing; counts stay whole, flags flags."""
    found = unplain(value)
    if found is None or isinstance(found, str):
        return found
    array = np.array(found)
    return array[()] if array.dtype.kind in "bi" else array.astype(np.float64)[()]


def read_classes(data: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """The class labels, two or more, in order."""
    check(all(not isinstance(c, list) for c in data["classes"]), "classes must be labels")
    classes = sort_classes(data["classes"], "classes")
    differ = len({*map(key, data["classes"])}) == len(classes)
    sound = len(classes) > 1 and classes.tolist() == data["classes"]
    check(sound and differ, "classes must be two or more that differ, in order")
    return classes


def read_target(data: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """The name of a numeric target, which stands in place of classes."""
    listed = data["classes"]
    sound = isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], str)
    check(sound, "classes must hold the name of the target")
    return np.array(listed, dtype=object)


def read_features(data: Mapping[str, Any], in_order: bool = False) -> tuple[Feature | Cross, ...]:
    """The features of a list of what `feature_to_dict` wrote, whose names must differ."""
    listed = data["features"]
    check(isinstance(listed, list) and len(listed) > 0, "features must be a list")
    features = tuple(feature_from_dict(feature, in_order) for feature in listed)
    names = [feature.name for feature in features]
    check(len(set(names)) == len(names), "feature names must differ")
    return features


def feature_from_dict(data: Mapping[str, Any], in_order: bool = False) -> Feature | Cross:
    """A feature from what `feature_to_dict` wrote."""
    found = _cross_from_dict(data) if "parts" in data else _part_from_dict(data, in_order)
    _check_labels(data.get("labels", [*found.labels]), found)
    return found


def _check_labels(listed: Any, feature: Feature | Cross) -> None:
    """Refuse labels that name other levels than the weights beside them.

    A later release may word a label differently, so other words pass: only their order is checked.
    A label that occurs twice names no one level, so it is left out.
    """
    known, sound = feature.labels, isinstance(listed, list) and {*map(type, listed)} <= {str}
    check(sound and len(listed) == len(known), f"labels of {feature.name!r} must name every level")
    often, here = Counter(listed), Counter(known)
    same = {text: i for i, text in enumerate(known) if here[text] == often[text] == 1}
    order = [same[text] for text in listed if text in same]
    check(order == sorted(order), f"labels of {feature.name!r} are not in the order of its levels")


def read_columns(data: Mapping[str, Any], features: tuple[Feature | Cross, ...]) -> tuple[str, ...]:
    """The columns that the features read, in the order of the table."""
    columns = tuple(data["columns"])
    check({*map(type, columns)} <= {str}, "columns must be names")
    read = {source.name for feature in features for source in feature.sources}
    sound = len({*columns}) == len(columns) and {*columns} == read
    check(sound, "columns must be those of the features")
    return columns


def feature_to_dict(feature: Feature | Cross) -> dict[str, Any]:
    """A feature's levels as plain data."""
    own = _cross_to_dict(feature) if isinstance(feature, Cross) else _part_to_dict(feature)
    return own | {"labels": list(feature.labels)}


def _part_to_dict(feature: Feature) -> dict[str, Any]:
    own = {
        "name": feature.name,
        "values": [plain(value) for value in feature.values],
        "cuts": None if feature.cuts is None else list(feature.cuts),
        "has_missing": feature.has_missing,
        "skip_missing": feature.skip_missing,
    }
    if feature.other:
        own["other"] = list(feature.other)
    if feature.others:
        own["others"] = [plain(value) for value in feature.others]
    if feature.ordered:
        own["ordered"] = True
    if feature.left:
        own["left"] = True
    if feature.groups:
        own["groups"] = list(feature.groups)
    if feature.asked:
        own["asked"] = [
            {"feature": _part_to_dict(ask.feature), "levels": [*ask.places]}
            for ask in feature.asked
        ]
    if feature.binary:
        own["binary"] = True
    if feature.counted:
        own["counted"] = True
    return own | {"whole": True} if feature.whole else own


def _cross_to_dict(cross: Cross) -> dict[str, Any]:
    parts = [_part_to_dict(part) for part in cross.parts]
    return {"name": cross.name, "parts": parts, "pairs": [list(pair) for pair in cross.pairs]}


def _cross_from_dict(data: Mapping[str, Any]) -> Cross:
    check(isinstance(data["parts"], list) and len(data["parts"]) == 2, "a cross has two parts")
    left, right = (_part_from_dict(part) for part in data["parts"])
    pairs = [tuple(pair) for pair in data["pairs"]]
    sizes = len(left.levels), len(right.levels)
    whole = all(len(pair) == 2 and {*map(type, pair)} == {int} for pair in pairs)
    inside = whole and all(0 <= i < sizes[0] and 0 <= j < sizes[1] for i, j in pairs)
    check(inside, "pairs must be positions of levels")
    check(pairs == sorted(set(pairs)), "pairs must differ and stand in order")
    cross = Cross((left, right), tuple(pairs))
    check(data["name"] == cross.name, "the name of a cross is that of its parts")
    return cross


def _part_from_dict(data: Mapping[str, Any], in_order: bool = False) -> Feature:
    check(isinstance(data["name"], str), "a feature's name must be text")
    check(isinstance(data["values"], list), "a feature's values must be a list")
    for name in ("has_missing", "skip_missing"):
        check(isinstance(data[name], bool), f"{name} must be true or false")
    check(not (data["has_missing"] and data["skip_missing"]), "missing is a level or skipped")
    values = [canonical(unplain(value)) for value in data["values"]]
    special = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    check(None not in values and (special or data["cuts"] is None), "values must be levels")
    check(len({*map(key, values)}) == len(values), "values must differ")
    return Feature(
        data["name"],
        tuple(values),
        None if data["cuts"] is None else _cuts(data),
        data["has_missing"],
        data["skip_missing"],
        in_order,
        _other(data),
        _flag(data, "whole", data["cuts"] is not None, "of a feature with cuts"),
        _flag(data, "ordered", data["cuts"] is None, "of a feature of categories"),
        groups=_groups(data),
        asked=_asked(data),
        left=_flag(data, "left", data["cuts"] is not None, "of a feature with cuts"),
        binary=_flag(data, "binary", data["cuts"] is not None, "of a feature with cuts"),
        counted=_flag(data, "counted", data["cuts"] is not None, "of a feature with cuts"),
        others=_others(data),
    )


def _groups(data: Mapping[str, Any]) -> tuple[int, ...]:
    """The level of each category, where some share one."""
    groups = data.get("groups", [])
    check(isinstance(groups, list) and {*map(type, groups)} <= {int}, "groups must be levels")
    every = {*groups} == {*range(len({*groups}))} and len(groups) in (0, len(data["values"]))
    check(every and not (groups and data["cuts"]), "groups must number the levels of the values")
    return tuple(groups)


def _asked(data: Mapping[str, Any]) -> tuple[Ask, ...]:
    """Conditions for the question to be asked: another feature has one of certain levels."""
    listed = data.get("asked", [])
    check(isinstance(listed, list), "asked must be a list")
    check(not listed or data["skip_missing"], "a question that is not always asked skips missing")
    return tuple(map(_ask, listed))


def _ask(data: Mapping[str, Any]) -> Ask:
    feature, places = _part_from_dict(data["feature"]), data["levels"]
    sound = isinstance(places, list) and {*map(type, places)} == {int} and not feature.asked
    inside = sound and all(0 <= place < feature.missing_place for place in places)
    check(inside and len({*places}) == len(places), "levels of asked must be places of levels")
    return Ask(feature, tuple(places))


def _flag(data: Mapping[str, Any], name: str, fits: bool, where: str) -> bool:
    flag = data.get(name, False)
    check(isinstance(flag, bool), f"{name} must be true or false")
    check(not flag or fits, f"{name} is {where}")
    return bool(flag)


def _other(data: Mapping[str, Any]) -> tuple[Kind, ...]:
    kinds = data.get("other", [])
    sound = isinstance(kinds, list) and all(kind in [*SINGLE] for kind in kinds)
    known = ", ".join(SINGLE)
    check(sound and kinds == sorted({*kinds}), f"other must list kinds of values, of {known}")
    check(not kinds or data["cuts"] is None, "other is a level of categories")
    check("other" not in data or len(kinds) > 0, "other, where there is one, holds some kind")
    return tuple(map(Kind, kinds))


def _others(data: Mapping[str, Any]) -> tuple[Value, ...]:
    """The values that share the level `other`; files did not list them from the first."""
    listed = data.get("others", [])
    check(isinstance(listed, list) and ("other" in data or not listed), "others share other")
    values = tuple(canonical(unplain(value)) for value in listed)
    check(None not in values and len({*map(key, values)}) == len(values), "others must differ")
    known = [canonical(unplain(value)) for value in data["values"]]
    check(not {*map(key, values)} & {*map(key, known)}, "others have no level of their own")
    return values


def _cuts(data: Mapping[str, Any]) -> tuple[float, ...]:
    check(isinstance(data["cuts"], list), "cuts must be a list")
    return check_cuts(numbers(data, "cuts", (len(data["cuts"]),)), data["name"])
