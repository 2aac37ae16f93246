"""Models as versioned JSON: readable, nothing executed on load, written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import weigh
from weigh.base import EvidenceClassifier
from weigh.bins import Feature
from weigh.evidence import Evidence, FeatureTable, squeeze
from weigh.frames import Floats, canonical

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
    write_text(_pretty(to_dict(model)) + "\n", path)


def _pretty(value: Any, depth: int = 0) -> str:
    """JSON with one line per entry of the upper levels, and rows of numbers on one line."""
    pad = "\n" + " " * (depth + 1)
    if isinstance(value, dict) and depth < 4:
        lines = [f"{json.dumps(k)}: {_pretty(v, depth + 1)}" for k, v in value.items()]
        return "{" + pad + ("," + pad).join(lines) + pad[:-1] + "}"
    if isinstance(value, list) and any(isinstance(item, dict) for item in value) and depth < 4:
        lines = [_pretty(item, depth + 1) for item in value]
        return "[" + pad + ("," + pad).join(lines) + pad[:-1] + "]"
    return json.dumps(value, allow_nan=False)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote. It predicts the same bits.

    Parameters
    ----------
    path : path
        The file to read.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a model: it is no complete JSON file ({error})") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f'{path} is not a model: it lacks "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise ValueError(
            f"{path} has format version {data.get('version')!r}; this release reads {VERSION}. "
            "Upgrade weigh, or save the model again with the release that reads it"
        )
    try:
        return from_dict(data)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is not a whole model: {type(error).__name__} {error}") from None


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a file whole or not at all."""
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _mode(target: Path) -> int:
    """What the file had, or what a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def to_dict(model: EvidenceClassifier) -> dict[str, Any]:
    """A fitted model as plain data."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "weigh": weigh.__version__,
        "learner": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in model.get_params(deep=False).items()},
        "named": hasattr(model, "feature_names_in_"),
        "evidence": _evidence_to_dict(model.evidence_),
    }


def from_dict(data: Mapping[str, Any]) -> EvidenceClassifier:
    """The model that `to_dict` described."""
    name = data["learner"]
    if name not in learners().values():
        raise ValueError(f"the file holds a {name!r}, which this release does not know")
    parameters = {key: _unplain(value) for key, value in data["parameters"].items()}
    model: EvidenceClassifier = getattr(weigh, name)(**parameters)
    model._keep(_evidence_from_dict(data["evidence"]))
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
        "event_model": evidence.event_model,
        "features": [_table_to_dict(table) for table in evidence],
    }


def _evidence_from_dict(data: Mapping[str, Any]) -> Evidence:
    return Evidence(
        classes=np.array(data["classes"]),
        class_counts=np.array(data["class_counts"], dtype=np.float64),
        prior=squeeze(np.array(data["prior"], dtype=np.float64)),
        tables=tuple(_table_from_dict(table) for table in data["features"]),
        assumed_rate=np.array(data["assumed_rate"], dtype=np.float64),
        prior_variances=_array(data["prior_variances"]),
        event_model=data["event_model"],
    )


def _table_to_dict(table: FeatureTable) -> dict[str, Any]:
    feature = table.feature
    return {
        "name": feature.name,
        "values": [_plain(value) for value in feature.values],
        "cuts": None if feature.cuts is None else list(feature.cuts),
        "has_missing": feature.has_missing,
        "skip_missing": feature.skip_missing,
        "labels": list(feature.labels),
        "weights": table.columns.tolist(),
        "counts": table.counts.tolist(),
        "variances": _rows(table.variances),
    }


def _table_from_dict(data: Mapping[str, Any]) -> FeatureTable:
    feature = Feature(
        data["name"],
        tuple(canonical(_unplain(value)) for value in data["values"]),
        None if data["cuts"] is None else tuple(map(float, data["cuts"])),
        data["has_missing"],
        data["skip_missing"],
    )
    shape = len(feature.levels), -1
    counts, weights = (np.array(data[k], np.float64).reshape(shape) for k in ("counts", "weights"))
    return FeatureTable(feature, counts, weights, _array(data["variances"]))


def _rows(array: Floats | None) -> Any:
    """Lists of numbers, with null for NaN."""
    if array is None:
        return None
    return np.where(np.isnan(array), None, array.astype(object)).tolist()  # type: ignore[call-overload]


def _array(rows: Any) -> Floats | None:
    return None if rows is None else np.array(rows, dtype=np.float64)


# ---------------------------------------------------------------- parameters


def _plain(value: Any) -> Any:
    """A parameter as JSON: dicts as pairs, because their keys may be numbers; infinities named."""
    if isinstance(value, Mapping):
        return {"pairs": [[_plain(k), _plain(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, list | tuple | set | frozenset | range):
        return [_plain(item) for item in value]
    return value


def _unplain(value: Any) -> Any:
    if isinstance(value, dict) and "number" in value:
        return float(value["number"])
    if isinstance(value, dict):
        return {_unplain(k): _unplain(v) for k, v in value["pairs"]}
    return [_unplain(item) for item in value] if isinstance(value, list) else value
