"""Recalibrations as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weigh.evidence import Recalibration
from weigh.frames import Floats
from weigh.store.values import check, numbers


def recalibration_to_dict(curve: Recalibration | None) -> dict[str, Any]:
    """The curve, where there is one."""
    if curve is None:
        return {}
    arrays = {name: getattr(curve, name).tolist() for name in ("points", "levels", "slopes")}
    return {"recalibration": {"method": curve.method, **arrays, "shift": curve.shift}}


def recalibration_from_dict(evidence: Mapping[str, Any]) -> Recalibration | None:
    """The curve that `recalibration_to_dict` described, if an evidence has one."""
    if "recalibration" not in evidence:
        return None
    from weigh.calibrate import FITS  # which brings scikit-learn

    check(len(evidence["classes"]) == 2, "a recalibration is of two classes")
    data = evidence["recalibration"]
    check(data["method"] in FITS, f"method must be one of {[*FITS]}")
    steps = data["method"] == "isotonic"
    n = len(data["points"])
    check(n > 0, "a recalibration has at least one point")
    points, levels = numbers(data, "points", (n,)), numbers(data, "levels", (n,))
    slopes = numbers(data, "slopes", (0 if steps else n,), low=1e-300)
    check(_rises(points, levels, steps), "points and levels must ascend")
    shift = float(numbers(data, "shift", ()))
    return Recalibration(data["method"], points, levels, slopes, shift)


def _rises(points: Floats, levels: Floats, steps: bool) -> bool:
    up = np.diff(levels)
    inside = not steps or bool(levels[0] >= 0 and levels[-1] <= 1)
    return bool((np.diff(points) > 0).all() and (up >= 0 if steps else up > 0).all() and inside)
