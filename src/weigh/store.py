"""Models as versioned JSON: readable, nothing executed on load, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from sklearn.utils.validation import check_is_fitted

import weigh
from weigh.base import EvidenceClassifier
from weigh.bins import Cross, Feature, check_cuts
from weigh.engine import TOKEN
from weigh.evidence import Evidence, FeatureTable, squeeze
from weigh.frames import Floats, canonical, key, sort_classes

FORMAT, VERSION = "weigh", 1


def learners() -> dict[str, str]:
    """The learners by their short names: `evidence` is EvidenceNB."""
    return {name.removesuffix("NB").lower(): name for name in weigh.__all__ if name.endswith("NB")}


def save(model: EvidenceClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file. An interrupted write leaves the old file as it was.

    Parameters
    ----------
    model : estimator
        A fitted model of this package.
    path : path
        The file to write, usually ending in `.json`.
    """
    if not isinstance(model, EvidenceClassifier):
        raise TypeError(f"save takes a fitted model of this package, got {type(model).__name__}")
    check_is_fitted(model, "evidence_")
    write_text(to_json(model), path)


def to_json(model: EvidenceClassifier) -> str:
    """The text of a model's file."""
    return _pretty(to_dict(model)) + "\n"


def _pretty(value: Any, depth: int = 0) -> str:
    """JSON with one line per entry of the upper levels, and rows of numbers on one line."""
    pad = "\n" + " " * (depth + 1)
    if isinstance(value, dict) and depth < 4:
        lines = [
            f"{json.dumps(k, ensure_ascii=False)}: {_pretty(v, depth + 1)}"
            for k, v in value.items()
        ]
        return "{" + pad + ("," + pad).join(lines) + pad[:-1] + "}"
    if isinstance(value, list) and any(isinstance(item, dict) for item in value) and depth < 4:
        lines = [_pretty(item, depth + 1) for item in value]
        return "[" + pad + ("," + pad).join(lines) + pad[:-1] + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote. It predicts the same bits.

    Parameters
    ----------
    path : path
        The file to read.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a model: it is no complete JSON file ({error})") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f'{path} is not a model: it lacks "format": "{FORMAT}"')
    if data.get("version") is True or data.get("version") != VERSION:
        raise ValueError(
            f"{path} is a model of format version {data.get('version')!r}; this release reads "
            f"{VERSION}. Upgrade weigh, or save the model again with the release that reads it"
        )
    try:
        return from_dict(data)
    except (
        KeyError,
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        lacks = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"{path} is not a whole model: {lacks}") from None


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a file whole or not at all; a link is followed."""
    target = Path(path).resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no such folder: {target.parent}")
    name = target.with_name(f".{target.name}.{os.getpid()}.{uuid4().hex[:8]}")
    try:
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", errors="backslashreplace"))  # JSON's own escapes
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(name, target.stat().st_mode & 0o777)
        os.replace(name, target)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def to_dict(model: EvidenceClassifier) -> dict[str, Any]:
    """A fitted model as plain data."""
    parameters = model.get_params(deep=False)
    return {
        "format": FORMAT,
        "version": VERSION,
        "weigh": weigh.__version__,
        "learner": type(model).__name__,
        "parameters": {name: _parameter(name, value) for name, value in parameters.items()},
        "fitted": {name: _plain(getattr(model, name)) for name in model._extras},
        "named": hasattr(model, "feature_names_in_"),
        "evidence": _evidence_to_dict(model.evidence_),
    }


def from_dict(data: Mapping[str, Any]) -> EvidenceClassifier:
    """The model that `to_dict` described."""
    name = data["learner"]
    check(name in learners().values(), f"this release does not know the learner {name!r}")
    check(isinstance(data["named"], bool), "named must be true or false")
    parameters = {
        key: _unplain(value) for key, value in data["parameters"].items() if not _is_object(value)
    }
    model: EvidenceClassifier = getattr(weigh, name)(**parameters)
    model._keep(_evidence_from_dict(data["evidence"]))
    check([*data["fitted"]] == [*model._extras], "fitted does not fit the learner")
    for key_, value in data["fitted"].items():
        setattr(model, key_, np.array(_unplain(value), dtype=np.float64)[()])
    names = model.evidence_.column_names
    model.n_features_in_ = len(names)
    if data["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


# ---------------------------------------------------------------- evidence


def _evidence_to_dict(evidence: Evidence) -> dict[str, Any]:
    return {
        "classes": evidence.classes.tolist(),
        "class_counts": evidence.class_counts.tolist(),
        "prior": evidence.prior_row.tolist(),
        "prior_variances": _rows(evidence.prior_variances),
        "assumed_rate": evidence.assumed_rate.tolist(),
        "link": evidence.link,
        "caveat": evidence.caveat,
        "event_model": evidence.event_model,
        "columns": list(evidence.columns),
        "features": [_table_to_dict(table) for table in evidence],
    }


def _evidence_from_dict(data: Mapping[str, Any]) -> Evidence:
    check(all(not isinstance(c, list) for c in data["classes"]), "classes must be labels")
    classes = sort_classes(data["classes"], "classes")
    n = len(classes)
    check(n > 1 and classes.tolist() == data["classes"], "classes must be two or more, in order")
    check(data["event_model"] in ("levels", "counts"), "event_model must be levels or counts")
    links = ("logistic",) if n == 2 else ("softmax", "ovr")
    check(data["link"] in links, "link does not fit the classes")
    check(isinstance(data["caveat"], str), "caveat must be text")
    features = data["features"]
    check(isinstance(features, list) and len(features) > 0, "features must be a list")
    in_order = data["event_model"] == "counts"
    tables = tuple(_table_from_dict(table, n, in_order) for table in features)
    counts = _numbers(data, "class_counts", (n,), low=0)
    check(counts.sum() > 0, "class_counts must not all be zero")
    names = [table.name for table in tables]
    check(len(set(names)) == len(names), "feature names must differ")
    check(data["event_model"] == "levels" or names == [TOKEN], "counts have one feature, the token")
    columns = tuple(data["columns"])
    check({*map(type, columns)} <= {str}, "columns must be names")
    read = sorted(part.name for table in tables for part in table.feature.parts)
    check(sorted(columns) == ([] if in_order else read), "columns must be those of the features")
    return Evidence(
        classes=classes,
        class_counts=counts,
        prior=squeeze(_numbers(data, "prior", (1 if n == 2 else n,))),
        tables=tables,
        assumed_rate=_numbers(data, "assumed_rate", (n,), low=1e-300),
        prior_variances=_variances(data, "prior_variances", (n,)),
        event_model=data["event_model"],
        form="ovr" if data["link"] == "ovr" else "softmax",
        caveat=data["caveat"],
        columns=columns,
    )


def _cuts(data: Mapping[str, Any]) -> tuple[float, ...]:
    check(isinstance(data["cuts"], list), "cuts must be a list")
    return check_cuts(_numbers(data, "cuts", (len(data["cuts"]),)), data["name"])


def check(holds: bool, what: str) -> None:
    """Refuse a file in which something does not hold."""
    if not holds:
        raise ValueError(what)


def _numbers(
    data: Mapping[str, Any], name: str, shape: tuple[int, ...], low: float = -np.inf
) -> Floats:
    array = _floats(data[name], name, shape)
    check(bool(np.isfinite(array).all() and (array >= low).all()), f"{name} must be finite")
    return array


def _floats(rows: Any, name: str, shape: tuple[int, ...]) -> Floats:
    """Nested lists of numbers; null is NaN. What only looks like a number is refused."""
    cells = [rows]
    for size in shape:
        check(all(isinstance(c, list) and len(c) == size for c in cells), f"{name} is not {shape}")
        cells = [cell for row in cells for cell in row]
    sound = all(cell is None or type(cell) in (int, float) for cell in cells)
    check(sound, f"{name} must hold numbers")
    return np.array(cells, dtype=np.float64).reshape(shape)


def _variances(data: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Floats | None:
    if data[name] is None:
        return None
    array = _floats(data[name], name, shape)
    check(not (array < 0).any(), f"{name} must not be negative")
    return array


def _table_to_dict(table: FeatureTable) -> dict[str, Any]:
    feature = table.feature
    return {
        **(_cross_to_dict(feature) if isinstance(feature, Cross) else _feature_to_dict(feature)),
        "labels": list(feature.labels),
        "note": table.note,
        "smoothing": table.smoothing,
        "weights": table.by_class.tolist(),
        "counts": table.counts.tolist(),
        "variances": _rows(table.variances),
        "errors": _rows(table.known_errors),
    }


def _feature_to_dict(feature: Feature) -> dict[str, Any]:
    return {
        "name": feature.name,
        "values": [_plain(value) for value in feature.values],
        "cuts": None if feature.cuts is None else list(feature.cuts),
        "has_missing": feature.has_missing,
        "skip_missing": feature.skip_missing,
    }


def _cross_to_dict(cross: Cross) -> dict[str, Any]:
    return {
        "name": cross.name,
        "parts": [_feature_to_dict(part) for part in cross.parts],
        "pairs": [list(pair) for pair in cross.pairs],
    }


def _cross_from_dict(data: Mapping[str, Any]) -> Cross:
    check(isinstance(data["parts"], list) and len(data["parts"]) == 2, "a cross has two parts")
    left, right = (_feature_from_dict(part) for part in data["parts"])
    check(isinstance(data["pairs"], list), "pairs must be a list")
    pairs = [tuple(pair) for pair in data["pairs"]]
    sizes = len(left.levels), len(right.levels)
    whole = all(len(p) == 2 and {*map(type, p)} == {int} for p in pairs)
    check(whole and all(0 <= i < sizes[0] and 0 <= j < sizes[1] for i, j in pairs), "pairs")
    check(pairs == sorted(set(pairs)), "pairs must differ and stand in order")
    cross = Cross((left, right), tuple(pairs))
    check(data["name"] == cross.name, "the name of a cross is that of its parts")
    return cross


def _feature_from_dict(data: Mapping[str, Any], in_order: bool = False) -> Feature:
    check(isinstance(data["name"], str), "a feature's name must be text")
    check(isinstance(data["values"], list), "a feature's values must be a list")
    for name in ("has_missing", "skip_missing"):
        check(isinstance(data[name], bool), f"{name} must be true or false")
    check(not (data["has_missing"] and data["skip_missing"]), "missing is a level or skipped")
    values = [canonical(_unplain(value)) for value in data["values"]]
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    check(None not in values and (numbers or data["cuts"] is None), "values must be levels")
    check(len({*map(key, values)}) == len(values), "values must differ")
    return Feature(
        data["name"],
        tuple(values),
        None if data["cuts"] is None else _cuts(data),
        data["has_missing"],
        data["skip_missing"],
        in_order,
    )


def _table_from_dict(data: Mapping[str, Any], n_classes: int, in_order: bool) -> FeatureTable:
    check(isinstance(data["note"], str), "a feature's note must be text")
    crossed = "parts" in data
    feature = _cross_from_dict(data) if crossed else _feature_from_dict(data, in_order)
    m, n_columns = len(feature.levels), 1 if n_classes == 2 else n_classes
    return FeatureTable(
        feature,
        _numbers(data, "counts", (m, n_classes), low=0),
        _numbers(data, "weights", (m, n_columns)),
        _variances(data, "variances", (m, n_classes)),
        float(_numbers(data, "smoothing", (), low=0)),
        data["note"],
        _variances(data, "errors", (m, n_columns)),
    )


def _rows(array: Floats | None) -> Any:
    """Lists of numbers, with null for what is not known."""
    if array is None:
        return None
    return np.where(np.isfinite(array), array.astype(object), None).tolist()  # type: ignore[call-overload]


# ---------------------------------------------------------------- parameters


def _parameter(name: str, value: Any) -> Any:
    """A splitter or a random state, not needed to predict, is only described."""
    if name in ("cv", "random_state") and not isinstance(value, int | Iterable | None):
        return {"object": repr(value)}
    return _plain(value)


def _plain(value: Any) -> Any:
    """A parameter as JSON: dicts as pairs, because their keys may be numbers; infinities named."""
    if isinstance(value, Mapping):
        return {"pairs": [[_plain(k), _plain(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a model with the parameter {value!r} cannot be written down")


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and "object" in value


def _unplain(value: Any) -> Any:
    if isinstance(value, dict) and "number" in value:
        return float(value["number"])
    if isinstance(value, dict):
        return {_unplain(k): _unplain(v) for k, v in value["pairs"]}
    return [_unplain(item) for item in value] if isinstance(value, list) else value
