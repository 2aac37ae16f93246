"""Arithmetic means as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weigh.perplexed import Mean
from weigh.store.evidence import evidence_from_dict, evidence_to_dict
from weigh.store.values import check


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
