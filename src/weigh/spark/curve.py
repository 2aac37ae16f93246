"""Totals on Spark after an exponent or a recalibration."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pyspark.sql import functions as F  # noqa: N812

from weigh.evidence import Attenuation, Recalibration
from weigh.spark.places import count_below

BOUND = 1e-10


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


def recalibrate(frame: Any, worth: Recalibration) -> Any:
    """The frame with its log odds t0 as `Recalibration.apply` has them.

    Each step is a column of its own: written into one another they would grow with every use.
    """
    points, total = worth.points.tolist(), F.col("t0")
    inside = F.greatest(F.least(total, F.lit(points[-1])), F.lit(points[0]))
    frame = frame.withColumn("inside", inside)
    frame = frame.withColumn("place", _place(F.col("inside"), points))
    if worth.method == "isotonic":
        p = F.greatest(F.least(_line(worth), F.lit(1 - BOUND)), F.lit(BOUND))
        frame = frame.withColumn("inside", p)
        return frame.withColumn("t0", F.log(F.col("inside") / (1 - F.col("inside"))) + worth.shift)
    beyond = total - F.col("inside")
    below, above = F.least(beyond, F.lit(0.0)), F.greatest(beyond, F.lit(0.0))
    tails = below * float(worth.slopes[0]) + above * float(worth.slopes[-1])
    return frame.withColumn("t0", _cubic(worth) + tails + worth.shift)


def _place(inside: Any, points: list[float]) -> Any:
    """The interval between two points that holds a total."""
    found = count_below(inside, points)
    return F.greatest(F.least(found - 1, F.lit(len(points) - 2)), F.lit(0))


def _line(worth: Recalibration) -> Any:
    """Straight lines between the points."""
    if len(worth.points) == 1:
        return F.lit(float(worth.levels[0]))
    place, distance = _distance(worth)
    rises = np.diff(worth.levels) / np.diff(worth.points)
    return listed(rises)[place] * distance + listed(worth.levels)[place]


def _cubic(worth: Recalibration) -> Any:
    if len(worth.points) == 1:
        return F.lit(float(worth.levels[0]))
    place, distance = _distance(worth)
    widths = np.diff(worth.points)
    s, rise = distance / listed(widths)[place], listed(np.diff(worth.levels) / widths)[place]
    low, high = listed(worth.slopes)[place], listed(worth.slopes[1:])[place]
    bend = 3 * rise - 2 * low - high + s * (low + high - 2 * rise)
    return listed(worth.levels)[place] + distance * (low + s * bend)


def _distance(worth: Recalibration) -> tuple[Any, Any]:
    """Which interval holds a total, and how far from its lower end."""
    place = F.col("place")
    return place, F.col("inside") - listed(worth.points)[place]
