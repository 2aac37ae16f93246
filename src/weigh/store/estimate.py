"""Estimates as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weigh.boosted import Estimate
from weigh.store.evidence import evidence_from_dict, evidence_to_dict
from weigh.store.values import check, numbers, plain, unplain


def estimate_to_dict(estimate: Estimate) -> dict[str, Any]:
    """The weights, and the curve that totals are read off."""
    return {
        "evidence": evidence_to_dict(estimate.evidence),
        "points": estimate.points.tolist(),
        "levels": plain(estimate.levels),
        "steps": estimate.steps,
        "scale": estimate.scale,
    }


def estimate_from_dict(data: Mapping[str, Any]) -> Estimate:
    """The estimate that `estimate_to_dict` described."""
    evidence = evidence_from_dict(data["evidence"])
    check(len(evidence.classes) == 2, "an estimate has two sides, down and up")
    check(evidence.recalibration is None, "an estimate is not recalibrated")
    points = numbers(data, "points", (len(data["points"]),))
    check(len(points) > 0 and bool((np.diff(points) >= 0).all()), "points must ascend")
    levels = np.array([unplain(level) for level in data["levels"]], dtype=np.float64)
    sound = levels.shape == points.shape and bool((levels[1:] >= levels[:-1]).all())
    check(sound, "levels must ascend, one for each point")
    check(isinstance(data["steps"], bool), "steps must be true or false")
    scale = float(numbers(data, "scale", (), low=1e-300))
    return Estimate(evidence, points, levels, data["steps"], scale, columns=evidence.columns)
