"""Weights to whole points, so that ranking changes least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from weigh.frames import Floats
from weigh.metrics import auc


@dataclass(frozen=True)
class Rounding:
    """What rounding did to some rows: AUC before and after, and how far a probability moved.

    `largest_change` is also that of a case of which nothing is known; `kendall` is the rank
    correlation of scores with totals; AUCs are None without labels.
    """

    largest_change: float
    kendall: float
    auc_before: float | None = None
    auc_after: float | None = None


def round_nearest(weights: Floats, rows: Floats, added: float = 0.0) -> Floats:
    """Each level to the nearest whole number."""
    return np.floor(weights + 0.5)


def round_together(weights: Floats, rows: Floats, added: float = 0.0) -> Floats:
    """All levels after one shift c, chosen so that what rounding adds varies least over rows.

    points(v) = floor(w(v) + c + 1/2),  c of least Var over rows of points - w

    What is added to every row alike moves no row past another, and c + 1 does as well as c: it is
    the one that keeps what this feature and those before it (`added`) add on average within half a
    point.
    """
    if not len(weights) or not rows.sum():
        return round_nearest(weights, rows)
    shifts = -((weights + 0.5) % 1.0)  # where some level is about to be rounded up
    shifts = np.unique(np.concatenate([[0.0], np.where(shifts < -0.5, shifts + 1.0, shifts)]))
    tried = np.floor(weights + shifts[:, None] + 0.5)
    gaps = tried - weights
    mean = gaps @ rows / rows.sum()
    spread = (gaps - mean[:, None]) ** 2 @ rows / rows.sum()
    near = spread <= spread.min() + 1e-12
    best = np.flatnonzero(near)[np.abs(shifts[near]).argmin()]
    points: Floats = tried[best] - np.floor(added + mean[best] + 0.5)
    return points


def mean_added(points: Floats, weights: Floats, rows: Floats) -> float:
    """What rounding adds to a row on average."""
    return float((points - weights) @ rows / rows.sum()) if rows.sum() else 0.0


def measure(totals: Floats, scores: Floats, p: Floats, q: Floats, y: Any) -> Rounding:
    """What became of totals and probabilities p when scores, worth q, took their place.

    p and q may be those of more cases than are ranked.
    """
    with np.errstate(invalid="ignore"):
        tau = float(kendalltau(totals, scores).statistic) if len(totals) > 1 else 1.0
    change = float(np.abs(p - q).max())
    if y is None:
        return Rounding(change, tau)
    before, after = (auc(y, _ranks(found)).value for found in (totals, scores))
    return Rounding(change, tau, before, after)


def _ranks(totals: Floats) -> Floats:
    """Ranks as shares of 1: all that an AUC asks for, and ties stay ties."""
    found, places = np.unique(totals, return_inverse=True)
    return np.asarray((places + 1) / (len(found) + 1), dtype=np.float64)
