"""The parameters of the model of the hazard, from those of a survival model."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.frames import Floats

SHARED = (
    "bins",
    "categorical_features",
    "missing",
    "special_values",
    "max_levels",
    "crosses",
    "pairs",
    "unpaired",
    "monotonic_cst",
)
"""Parameters that are those of the model of the hazard."""


def hazard_parameters(
    model: Any, names: tuple[str, ...], time: str, ends: Floats
) -> dict[str, Any]:
    """The parameters of the model of the hazard: every period is a level of the time."""
    given = {name: getattr(model, name) for name in SHARED}
    for name in ("categorical_features", "monotonic_cst"):
        given[name] = _lengthen(given[name], len(names))
    for name in ("missing", "special_values", "max_levels"):
        if given[name] is not None and not isinstance(given[name], dict):
            given[name] = dict.fromkeys(names, given[name])  # not of the time
    if len(ends) == 1:
        return given
    own = given["bins"]
    columns = own if isinstance(own, dict) else {}
    if not isinstance(own, dict) and own != model._default_bins:
        columns = dict.fromkeys(names, own)
    return given | {"bins": {**columns, time: ends[:-1].tolist()}}


def _lengthen(given: Any, n_columns: int) -> Any:
    """What is given for each feature in order, and nothing for the time."""
    if given is None or isinstance(given, str | dict) or len(given) != n_columns:
        return given
    if any(isinstance(item, str) for item in given):
        return given
    mask = all(isinstance(item, bool | np.bool_) for item in given)
    return [*given, False if mask else 0]
