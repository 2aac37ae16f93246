"""Weights rounded to whole points, at the least cost in the quadratic approximation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weigh.budget.quadratic import Quadratic, weights_of
from weigh.evidence import Evidence
from weigh.frames import Floats, Integers, Sample

STARTS = 24
"""Number of scales at which the weights are rounded to start the search."""

SMALL = 1e-12
"""Least relative improvement for which points are changed."""


@dataclass(frozen=True, eq=False)
class Whole:
    """Whole points of all tables, one after the other, and the weight of a point in nats."""

    points: Integers
    scale: float


def round_evidence(
    evidence: Evidence, sample: Sample, most: int, fixed: frozenset[str] = frozenset()
) -> tuple[Evidence, float]:
    """Round weights to whole points, at most `most` in absolute value; also return a point in nats.

    The tables named in `fixed` are only rounded, which keeps the order of their levels.
    """
    quadratic = Quadratic.at(evidence, sample, at_optimum=True)
    loss, weights = quadratic.held[0], weights_of(evidence)[:, 0]
    across = loss[1:, 0] / loss[0, 0]
    curvature = loss[1:, 1:] - np.outer(across, loss[0, 1:])
    free = np.concatenate([np.full(len(t.levels), t.name not in fixed) for t in evidence])
    found = find_points(curvature, weights[1:], most, free)
    rounded = found.scale * found.points
    prior = weights[0] - float(across @ (rounded - weights[1:]))
    tables = tuple(
        replace(
            table,
            by_class=rounded[span.start - 1 : span.stop - 1, None],
            variances=None,
            known_errors=None,
        )
        for table, span in zip(evidence, quadratic.spans, strict=True)
    )
    return replace(evidence, prior=prior, tables=tables, covariance=None), found.scale


def find_points(curvature: Floats, weights: Floats, most: int, free: Floats) -> Whole:
    """Search for points up to `most` in absolute value; those that are not free are only rounded.

    The result is a local optimum: no change of one weight, or of two weights by one point each, has
    a lower loss.

    >>> find_points(np.eye(3), np.array([0.31, -0.6, 0.9]), 3, np.ones(3, bool)).points
    array([ 1, -2,  3])
    """
    slope, heaviest = curvature @ weights, float(np.abs(weights).max(initial=0.0))
    best, value = np.zeros(len(weights), dtype=np.int64), 0.0
    for reach in np.linspace(0.5, most + 0.5, STARTS) if heaviest else ():
        start = np.clip(np.rint(weights * reach / heaviest), -most, most).astype(np.int64)
        points = _improve(start, curvature, slope, most, free) if start.any() else start
        own = _value(points, curvature, slope)
        if own > value * (1 + SMALL):
            best, value = points, own
    scale = float(best @ slope) / float(best @ curvature @ best) if best.any() else 0.0
    return Whole(best if scale >= 0 else -best, abs(scale))


def _value(points: Integers, curvature: Floats, slope: Floats) -> float:
    norm = float(points @ curvature @ points)
    return float(points @ slope) ** 2 / norm if norm > 0 else 0.0


def _improve(
    points: Integers, curvature: Floats, slope: Floats, most: int, free: Floats
) -> Integers:
    """Change one weight to any points, or two weights by one point each, as long as that helps."""
    while True:
        value = _value(points, curvature, slope)
        for change in (_best_single, _best_double):
            own, better = change(points, curvature, slope, most, free)
            if own > value * (1 + SMALL):
                break
        else:
            return points
        points = better


def _best_single(
    points: Integers, curvature: Floats, slope: Floats, most: int, free: Floats
) -> tuple[float, Integers]:
    steps = np.arange(-most, most + 1) - points[:, None]
    across, own = curvature @ points, np.diagonal(curvature)
    up = points @ slope + steps * slope[:, None]
    norm = points @ across + 2 * steps * across[:, None] + steps**2 * own[:, None]
    values = np.where(free[:, None], _ratio(up, norm), 0.0)
    i, j = np.unravel_index(int(values.argmax()), values.shape)
    changed = points.copy()
    changed[i] += steps[i, j]
    return float(values[i, j]), changed


def _best_double(
    points: Integers, curvature: Floats, slope: Floats, most: int, free: Floats
) -> tuple[float, Integers]:
    best = 0.0, points
    across, own = curvature @ points, np.diagonal(curvature)
    for a, b in ((1, 1), (1, -1), (-1, -1)):
        up = points @ slope + a * slope[:, None] + b * slope
        norm = points @ across + 2 * (a * across[:, None] + b * across) + 2 * a * b * curvature
        norm = norm + own[:, None] + own
        allowed = (free & (np.abs(points + a) <= most))[:, None] & free
        allowed = allowed & (np.abs(points + b) <= most) & ~np.eye(len(points), dtype=bool)
        values = np.where(allowed, _ratio(up, norm), 0.0)
        i, j = np.unravel_index(int(values.argmax()), values.shape)
        if values[i, j] > best[0]:
            changed = points.copy()
            changed[i] += a
            changed[j] += b
            best = float(values[i, j]), changed
    return best


def _ratio(up: Floats, norm: Floats) -> Floats:
    return np.asarray(np.where(norm > 0, up**2 / np.where(norm > 0, norm, 1.0), 0.0))
