"""Classes and features: what evidence and trees have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weigh.bins import Feature, check_cuts
from weigh.frames import canonical, key, sort_classes
from weigh.store.values import check, numbers, plain, unplain


def read_classes(data: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """The class labels, two or more, in order."""
    check(all(not isinstance(c, list) for c in data["classes"]), "classes must be labels")
    classes = sort_classes(data["classes"], "classes")
    sound = len(classes) > 1 and classes.tolist() == data["classes"]
    check(sound, "classes must be two or more, in order")
    return classes


def read_features(data: Mapping[str, Any], in_order: bool = False) -> tuple[Feature, ...]:
    """The features of a list of what `feature_to_dict` wrote, whose names must differ."""
    listed = data["features"]
    check(isinstance(listed, list) and len(listed) > 0, "features must be a list")
    features = tuple(_feature_from_dict(feature, in_order) for feature in listed)
    names = [feature.name for feature in features]
    check(len(set(names)) == len(names), "feature names must differ")
    return features


def feature_to_dict(feature: Feature) -> dict[str, Any]:
    """A feature's levels as plain data."""
    return {
        "name": feature.name,
        "values": [plain(value) for value in feature.values],
        "cuts": None if feature.cuts is None else list(feature.cuts),
        "has_missing": feature.has_missing,
        "skip_missing": feature.skip_missing,
        "labels": list(feature.labels),
    }


def _feature_from_dict(data: Mapping[str, Any], in_order: bool) -> Feature:
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
    )


def _cuts(data: Mapping[str, Any]) -> tuple[float, ...]:
    check(isinstance(data["cuts"], list), "cuts must be a list")
    return check_cuts(numbers(data, "cuts", (len(data["cuts"]),)), data["name"])
