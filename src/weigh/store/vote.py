"""Votes as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weigh.boosted import Vote
from weigh.store.evidence import evidence_from_dict, evidence_to_dict
from weigh.store.values import check, numbers


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
