"""What learners make of totals, as plain data and back: means, curves, estimates and votes.

Apart from `evidence`, because these bring learners and with them scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weigh.boosted import Estimate, Vote
from weigh.calibrate import RestCurves
from weigh.perplexed import Mean
from weigh.store.evidence import (
    curve_from_dict,
    curve_to_dict,
    evidence_from_dict,
    evidence_to_dict,
)
from weigh.store.values import check, numbers, plain, unplain


def mean_to_dict(mean: Mean) -> dict[str, Any]:
    """The counts that the probabilities come from, and the prior."""
    return {"naive": evidence_to_dict(mean.naive) | {"columns": list(mean.columns)}}


def mean_from_dict(data: Mapping[str, Any]) -> Mean:
    """The mean that `mean_to_dict` described."""
    naive = evidence_from_dict(data["naive"])
    check(naive.attenuation is None, "a mean is not attenuated")
    check(naive.recalibration is None, "a mean is not recalibrated")
    check(naive.link != "ovr", "a mean is of joint totals: its link is not ovr")
    return Mean(naive, columns=naive.columns)


def rest_to_dict(rest: RestCurves) -> dict[str, Any]:
    """The weights, and the curve of each class against the rest."""
    curves = [curve_to_dict(curve) for curve in rest.curves]
    return {"evidence": evidence_to_dict(rest.evidence), "curves": curves}


def rest_from_dict(data: Mapping[str, Any]) -> RestCurves:
    """The curves that `rest_to_dict` described."""
    evidence, curves = evidence_from_dict(data["evidence"]), data["curves"]
    n = len(evidence.classes)
    check(n > 2, "curves of each class against the rest are of more than two classes")
    check(isinstance(curves, list) and len(curves) == n, f"curves must be {n}, one for each class")
    return RestCurves(evidence, tuple(map(curve_from_dict, curves)), columns=evidence.columns)


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


def vote_to_dict(vote: Vote) -> dict[str, Any]:
    """The linearised model, and what each round says."""
    return {
        "linear": evidence_to_dict(vote.linear) | {"columns": list(vote.columns)},
        "alphas": vote.alphas.tolist(),
        "priors": vote.priors.tolist(),
        "tables": [table.tolist() for table in vote.tables],
        "shift": vote.shift.tolist(),
    }


def vote_from_dict(data: Mapping[str, Any]) -> Vote:
    """The vote that `vote_to_dict` described."""
    linear = evidence_from_dict(data["linear"])
    check(linear.event_model == "levels", "a vote is one of levels, not of counts")
    check(linear.recalibration is None, "a vote is not recalibrated")
    check(linear.link != "softmax", "a vote is one class against the rest: its link is ovr")
    n_rows = len(linear.prior_row)
    check(isinstance(data["alphas"], list) and len(data["alphas"]) == n_rows, "alphas by class")
    shape = (n_rows, len(data["alphas"][0]))
    check(shape[1] > 0, "a vote has at least one round")
    listed = data["tables"]
    check(isinstance(listed, list) and len(listed) == len(linear), "a table for each feature")
    tables = [
        numbers({"tables": table}, "tables", (len(part.levels), *shape))
        for table, part in zip(listed, linear, strict=True)
    ]
    return Vote(
        linear,
        numbers(data, "alphas", shape, low=0),
        numbers(data, "priors", shape),
        tuple(map(np.asarray, tables)),
        numbers(data, "shift", (n_rows,)),
        columns=linear.columns,
    )
