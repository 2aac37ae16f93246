"""The rows that keep the shape of a long table."""

from __future__ import annotations

import numpy as np

from weigh.frames import Floats, Integers


def outline(weights: Floats, rows: Floats, most: int) -> list[slice]:
    """A long table in at most `most` groups of neighbours, both ends alone so that they are seen.

    >>> outline(np.array([[1.0], [5.0], [5.1], [5.0], [9.0]]), np.ones(5), 3)
    [slice(0, 1, None), slice(1, 4, None), slice(4, 5, None)]
    """
    n = len(weights)
    if n <= max(most, 2):
        return [slice(i, i + 1) for i in range(n)]
    inner = segment(weights[1:-1], rows[1:-1], max(most - 2, 1))
    return [slice(0, 1), *(slice(g.start + 1, g.stop + 1) for g in inner), slice(n - 1, n)]


def segment(weights: Floats, rows: Floats, most: int, least: float = 0.0) -> list[slice]:
    """Neighbouring levels joined into at most `most` groups, with the least squared error.

    Each group has at least `least` rows; see `segmentations`.

    >>> segment(np.array([[1.0], [5.0], [5.1], [9.0]]), np.array([9.0, 9.0, 9.0, 1.0]), 3, least=2)
    [slice(0, 1, None), slice(1, 2, None), slice(2, 4, None)]
    """
    found = segmentations(weights, rows, most, least)
    return min(found, key=lambda one: (one[0], -len(one[1])))[1]


def segmentations(
    weights: Floats, rows: Floats, most: int, least: float = 0.0
) -> list[tuple[float, list[slice]]]:
    """The best groups of neighbouring levels, 1 to `most` of them, and the error of each.

    sum over groups g and levels v of g of rows_v |w_v - mean_g|^2, where mean_g is the mean of the
    group over its rows. The error is infinite where groups of at least `least` rows do not exist.
    Exact, by dynamic programming (Fisher 1958). `weights` has a column for each total of a row.
    """
    n, rows = len(weights), np.maximum(rows, 1e-9)
    most = min(most, n)
    cost = _errors(weights, rows, min(least, float(rows.sum())))
    best, back = [cost[0]], np.zeros((most, n + 1), dtype=np.intp)
    for k in range(1, most):
        through = best[-1][:, None] + cost  # the last group begins at the row, ends at the column
        back[k] = through.argmin(axis=0)
        best.append(through.min(axis=0))
    return [(float(best[k][n]), _trace(back, k)) for k in range(most)]


def _trace(back: Integers, k: int) -> list[slice]:
    """The groups that led to the last level, k + 1 of them."""
    groups, end = [], back.shape[1] - 1
    for last in range(k, -1, -1):
        start = int(back[last, end])
        groups.append(slice(start, end))
        end = start
    return groups[::-1]


def _errors(weights: Floats, rows: Floats, least: float) -> Floats:
    """The squared error of the levels from a (row) up to b (column).

    Infinite where there are none, or too few rows. Weights are taken from their mean, so that sums
    of squares lose no digits.
    """
    centred = weights - rows @ weights / rows.sum()
    n = len(weights)
    size = np.concatenate([[0.0], np.cumsum(rows)])
    first = np.vstack([np.zeros(weights.shape[1]), np.cumsum(rows[:, None] * centred, axis=0)])
    second = np.concatenate([[0.0], np.cumsum(rows * (centred**2).sum(axis=1))])
    between = size[None, :] - size[:, None]
    sums = ((first[None, :, :] - first[:, None, :]) ** 2).sum(axis=2)
    inside = np.triu(np.ones((n + 1, n + 1), dtype=bool), 1)
    few = between < least * (1 - 1e-12)
    error = second[None, :] - second[:, None] - sums / np.where(inside, between, 1.0)
    return np.asarray(np.where(inside & ~few, np.maximum(error, 0.0), np.inf))
