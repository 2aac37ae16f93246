"""Weights of evidence from class densities, evaluated at the midpoints of cells."""

from __future__ import annotations

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Feature, middles
from weigh.evidence.curve import BOUND
from weigh.evidence.feature_table import FeatureTable
from weigh.evidence.tables import contrast
from weigh.tally import Counts

NORMAL_IQR = 1.34
"""Interquartile range of a normal distribution, in standard deviations, as in Silverman's rule."""


TIE = 1e-9
"""Cumulative shares that differ by less are ties: sums of weights have rounding errors."""


def weigh_density(table: Counts, kind: str, s: float) -> FeatureTable:
    """Weights of a numeric feature: ln f(x|1)/f(x|0) at the midpoint of each cell.

    Such weights have no standard errors.
    """
    return FeatureTable(table.feature, table.counts, contrast(log_density(table, kind, s)), None, s)


def log_density(table: Counts, kind: str, s: float) -> Floats:
    """Log density ln f(x|c) at the midpoint of each cell, and ln P of the other levels.

    f(x|c) is P(number|c) times the density of the class. P is estimated from counts, smoothed by s,
    of the levels `number`, missing, and each special code.
    """
    feature, counts = table.feature, table.counts
    assert isinstance(feature, Feature)
    n, cuts = feature.n_intervals, feature.cuts or ()
    if n < 2:
        return np.zeros(counts.shape)
    logs, curve = np.zeros(counts.shape), log_gaussian if kind == "gaussian" else log_kernel
    logs[:n] = curve(counts[:n], *middles(cuts), s)
    groups = np.vstack([counts[:n].sum(axis=0), counts[n:]])
    shares = _share(groups, s)
    logs[:n] += np.log(shares[0])
    logs[n:] = np.log(shares[1:])
    logs[n:][~groups[1:].any(axis=1)] = 0.0  # a level without rows has weight 0
    return logs


def _share(groups: Floats, s: float) -> Floats:
    """Smoothed P(number|c), and P of each other level."""
    n_seen = int(groups.any(axis=1).sum())
    norm = groups.sum(axis=0) + s * n_seen
    share = (groups + s) / np.where(norm > 0, norm, 1.0)
    return np.asarray(np.clip(np.where(norm > 0, share, 1 / max(n_seen, 1)), BOUND, 1.0))


def log_gaussian(counts: Floats, x: Floats, widths: Floats, s: float) -> Floats:
    """The log of a normal density with the mean and variance of each class, by cell.

    The variance is at least width^2/12, that of a uniform distribution within a cell. A class
    without numbers gets the density of all rows. s is not used.
    """
    known = _fill(counts)
    n = known.sum(axis=0)
    mean = x @ known / n
    spread = (x[:, None] - mean) ** 2
    variance = np.maximum((spread * known).sum(axis=0) / n, np.median(widths) ** 2 / 12)
    return np.asarray(-0.5 * (np.log(2 * np.pi * variance) + spread / variance))


def log_kernel(counts: Floats, x: Floats, widths: Floats, s: float) -> Floats:
    """The log of a Gaussian kernel density estimate of each class, by cell.

    s pseudo-rows are spread evenly over the range, so that the density is positive far from all
    rows of a class. Every cell has a probability of at least 1e-10.
    """
    from scipy.special import logsumexp  # imported late: scoring does not need it

    known, columns = _fill(counts), []
    far = (x[:, None] - x) ** 2
    for own in known.T:
        h = bandwidth(own, x, widths)
        with np.errstate(divide="ignore"):
            curve = logsumexp(-0.5 * far / h**2, axis=1, b=own / own.sum())
        cell = np.exp(curve) * widths / (h * np.sqrt(2 * np.pi))
        even = widths / widths.sum()
        mixed = (own.sum() * cell + s * even) / (own.sum() + s)
        columns.append(np.log(np.maximum(mixed, BOUND) / widths))
    return np.column_stack(columns)


def bandwidth(own: Floats, x: Floats, widths: Floats) -> float:
    """Silverman's rule, 0.9 min(s, IQR/1.34) n^(-1/5), and at least half a cell.

    If the IQR is 0, because half of the rows share a cell, only the standard deviation is used.
    """
    n = own.sum()
    deviation = np.sqrt(own @ (x - own @ x / n) ** 2 / n)
    low, high = quartiles(own, x)
    spread = min(deviation, (high - low) / NORMAL_IQR) or deviation
    return float(max(0.9 * spread * n**-0.2, np.median(widths) / 2))


def quartiles(own: Floats, x: Floats) -> Floats:
    """The first and third quartile; the mean of two neighbouring values if it falls between them.

    >>> quartiles(np.array([9.0, 0.0, 1.0]), np.array([0.0, 1.0, 2.0]))
    array([0., 0.])
    >>> quartiles(np.array([1.0, 1.0, 1.0, 1.0]), np.array([0.0, 1.0, 2.0, 3.0]))
    array([0.5, 2.5])
    """
    below, wanted = np.cumsum(own) / own.sum(), np.array([0.25, 0.75])
    lower, upper = (np.searchsorted(below, wanted + tie) for tie in (-TIE, TIE))
    return np.asarray((x[lower] + x[upper]) / 2)


def _fill(counts: Floats) -> Floats:
    """The counts, with a class without rows replaced by the counts of all rows."""
    empty = counts.sum(axis=0) == 0
    return np.where(empty, counts.sum(axis=1, keepdims=True), counts)
