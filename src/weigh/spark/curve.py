"""Totals on Spark after an exponent or a recalibration."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pyspark.sql import functions as F  # noqa: N812

from weigh.evidence import BOUND, Attenuation, Curve
from weigh.spark.levels import count_below


def listed(values: ArrayLike) -> Any:
    """Numbers as a list in the plan, found by their place in one step."""
    return F.from_json(F.lit(json.dumps(np.asarray(values).tolist())), "array<double>")


def attenuated(weights: Any, prior: float, rule: Attenuation, answers: Any, k: int) -> Any:
    """What `Attenuation.apply` gives."""
    n = answers + 1 if rule.form == "root" else answers
    exponent = F.lit(rule.k) / F.greatest(n.cast("double"), F.lit(rule.k))
    shift = float(rule.shift[k])
    if rule.form == "root":
        return (F.lit(prior) + weights) * exponent + shift
    return F.lit(prior) + weights * exponent + shift


def recalibrate(frame: Any, curve: Curve) -> Any:
    """The frame with its log odds t0 as `Curve.apply` has them.

    Each step is a column of its own: written into one another they would grow with every use.
    """
    frame = frame.withColumn(
        "piece", count_below(F.col("t0"), [p.upper for p in curve.pieces[:-1]])
    )
    start, *powers = (
        listed([(p.start, *p.cubic)[k] for p in curve.pieces])[F.col("piece")] for k in range(5)
    )
    frame = frame.withColumn("distance", F.col("t0") - start)
    value = powers.pop()
    while powers:
        value = powers.pop() + F.col("distance") * value
    if curve.steps:
        frame = frame.withColumn(
            "share", F.greatest(F.least(value, F.lit(1 - BOUND)), F.lit(BOUND))
        )
        value = F.log(F.col("share") / (1 - F.col("share")))
    return frame.withColumn("t0", value + curve.shift)
