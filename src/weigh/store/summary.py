"""Summaries of training rows, in files beside their models: JSON, with matrices as base64."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.arrays import Floats
from weigh.store.file import INCOMPLETE, check_sum, checksum, read_json, version_of_file
from weigh.store.plain import check, feature_to_dict, floats, numbers, read_classes, read_features
from weigh.tally import Counts, Tally
from weigh.writing import write_text

if TYPE_CHECKING:
    from weigh.educated.quadratic import Quadratic
    from weigh.educated.summary import Summary

FORMAT, VERSION = "weigh-summary", 1


def summary_path(path: str | os.PathLike[str]) -> str:
    """The file beside a model's that holds its summary; no two models share one.

    >>> summary_path("loans/model.json"), summary_path("loans/model")
    ('loans/model.summary.json', 'loans/model.summary')
    """
    name, ending = os.fspath(path), ".json"
    bare = name.removesuffix(ending)
    return bare + ".summary" + (ending if bare != name else "")


def save_summary(model: Any, version: str, path: str | os.PathLike[str]) -> None:
    """Write the summary of a model of some version (`version_of`) beside the file of the model."""
    summary = getattr(model, "summary_", None)
    if summary is None:
        raise ValueError(
            f"this {type(model).__name__} has no summary of its training rows; make it with "
            "weigh.summarise(model, X, y)"
        )
    data = _to_dict(summary) | {"model": version}
    text = json.dumps(data | {"checksum": checksum(data)}, ensure_ascii=False, allow_nan=False)
    write_text(text + "\n", summary_path(path))


def load_summary(path: str | os.PathLike[str]) -> Summary:
    """Read the summary beside the file of a model."""
    beside = summary_path(path)
    if not Path(beside).exists():
        raise FileNotFoundError(
            f"no such file: {beside}; the summary of {path} was expected there. `weigh fit "
            "--summary` writes it beside the model"
        )
    data = read_json(beside, "a summary")
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") != VERSION:
        raise ValueError(f"{beside} is not a summary of version {VERSION}")
    check_sum(beside, data)
    if "model" not in data:
        raise ValueError(
            f"{beside} does not name its model; run `weigh fit --summary` or weigh.summarise again"
        )
    if data["model"] != (own := version_of_file(path)):
        raise ValueError(
            f"{beside} is the summary of another model, {_short(data['model'])}: {path} is "
            f"{_short(own)}. Give the model that the summary was written with, or summarise the "
            "training rows again (weigh fit --summary, weigh.summarise)"
        )
    try:
        return _from_dict(data)
    except INCOMPLETE as error:
        raise ValueError(f"{beside} is not a complete summary: {error}") from None


def _short(version: Any) -> str:
    """The first digits of a model's checksum."""
    return str(version).removeprefix("sha256:")[:12]


def _to_dict(summary: Summary) -> dict[str, Any]:
    tally = summary.tally
    return {
        "format": FORMAT,
        "version": VERSION,
        "classes": tally.classes.tolist(),
        "class_counts": tally.class_counts.tolist(),
        "features": [feature_to_dict(counts.feature) for counts in tally.tables],
        "counts": [counts.counts.tolist() for counts in tally.tables],
        "loss": _pack(summary.loss),
        "blanks": _pack(summary.blanks),
        "scales": _scales_to_list(summary),
    }


def _from_dict(data: Mapping[str, Any]) -> Summary:
    from weigh.educated.summary import Summary  # which loads scikit-learn

    classes, features = read_classes(data), read_features(data)
    n = len(classes)
    check(isinstance(data["counts"], list), "counts must be a list")
    shapes = [(len(feature.levels), n) for feature in features]
    tables = [
        numbers({"counts": own}, "counts", shape, low=0)
        for own, shape in zip(data["counts"], shapes, strict=True)
    ]
    counts = tuple(Counts(*both) for both in zip(features, tables, strict=True))
    tally = Tally(classes, numbers(data, "class_counts", (n,), low=0), counts)
    n_totals = 1 if n == 2 else n
    n_weights = 1 + sum(size for size, _ in shapes)
    return Summary(
        tally,
        _unpack(data["loss"], n_weights, n_totals),
        _unpack(data["blanks"], len(features), n_totals),
        _read_scales(data.get("scales"), features),
    )


def _scales_to_list(summary: Summary) -> list[float | None] | None:
    """Scales by feature; None for a feature without information."""
    if summary.scales is None:
        return None
    found = [summary.scales[counts.feature.name] for counts in summary.tally.tables]
    return [None if np.isnan(scale) else scale for scale in found]


def _read_scales(listed: Any, features: Sequence[Any]) -> dict[str, float] | None:
    if listed is None:
        return None
    scales = floats(listed, "scales", (len(features),))
    check(bool((np.isnan(scales) | ((scales > 0) & (scales < np.inf))).all()), "scales are above 0")
    return dict(zip([feature.name for feature in features], scales.tolist(), strict=True))


def _pack(own: Quadratic) -> dict[str, Any]:
    """The lower halves of the Hessians, which are symmetric."""
    groups, each, n = own.hessian.shape[:3]
    flat = own.hessian.reshape(groups, each * n, each * n)
    return {
        "constant": own.constant,
        "size": own.size,
        "groups": groups,
        "right": _encode(own.right),
        "hessian": _encode(flat[:, *np.tril_indices(each * n)]),
    }


def _unpack(data: Mapping[str, Any], n: int, n_totals: int) -> Quadratic:
    from weigh.educated.quadratic import Quadratic  # which loads scikit-learn

    groups = data["groups"]
    check(type(groups) is int and groups in (1, n_totals), "groups must fit the classes")
    each = n_totals // groups
    side = each * n
    lower = _decode(data["hessian"], "hessian", (groups, side * (side + 1) // 2))
    flat = np.zeros((groups, side, side))
    flat[:, *np.tril_indices(side)] = lower
    flat += np.tril(flat, -1).transpose(0, 2, 1)
    constant, size = (float(numbers(data, name, ())) for name in ("constant", "size"))
    right = _decode(data["right"], "right", (n, n_totals))
    return Quadratic(constant, size, right, flat.reshape(groups, each, n, each, n))


def _encode(array: Floats) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f8").tobytes()).decode("ascii")


def _decode(text: Any, name: str, shape: tuple[int, ...]) -> Floats:
    check(isinstance(text, str), f"{name} must be text")
    raw = base64.b64decode(text, validate=True)
    check(len(raw) == 8 * int(np.prod(shape)), f"{name} is not {shape}")
    array = np.frombuffer(raw, dtype="<f8").reshape(shape).astype(np.float64)
    check(bool(np.isfinite(array).all()), f"{name} must be finite")
    return array
