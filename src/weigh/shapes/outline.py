"""The rows that keep the shape of a long table."""

from __future__ import annotations

import numpy as np

from weigh.frames import Floats


def outline(weights: Floats, rows: Floats, most: int) -> list[slice]:
    """Neighbouring levels joined into at most `most` groups, with the least squared error.

    sum over groups g and levels v of g of rows_v |w_v - mean_g|^2, where mean_g is the mean of the
    group over its rows. Exact, by dynamic programming (Fisher 1958). The first level and the last
    stay alone, so that a reader sees both ends. `weights` has a column for each total of a row.

    >>> outline(np.array([[1.0], [5.0], [5.1], [5.0], [9.0]]), np.ones(5), 3)
    [slice(0, 1, None), slice(1, 4, None), slice(4, 5, None)]
    """
    n = len(weights)
    if n <= max(most, 2):
        return [slice(i, i + 1) for i in range(n)]
    inner = _join(weights[1:-1], np.maximum(rows[1:-1], 1e-9), max(most - 2, 1))
    return [slice(0, 1), *(slice(a + 1, b + 1) for a, b in inner), slice(n - 1, n)]


def _join(weights: Floats, rows: Floats, most: int) -> list[tuple[int, int]]:
    n = len(weights)
    cost = _errors(weights, rows)
    best, back = cost[0], np.zeros((most, n + 1), dtype=np.intp)
    for k in range(1, min(most, n)):
        through = best[:, None] + cost  # the last group begins at the row, and ends at the column
        back[k], best = through.argmin(axis=0), through.min(axis=0)
    groups, end = [], n
    for k in range(min(most, n) - 1, -1, -1):
        start = int(back[k, end])
        groups.append((start, end))
        end = start
    return groups[::-1]


def _errors(weights: Floats, rows: Floats) -> Floats:
    """The squared error of the levels from a (row) up to b (column); infinite where there are none.

    Weights are taken from their mean, so that sums of squares lose no digits.
    """
    centred = weights - rows @ weights / rows.sum()
    n = len(weights)
    size = np.concatenate([[0.0], np.cumsum(rows)])
    first = np.vstack([np.zeros(weights.shape[1]), np.cumsum(rows[:, None] * centred, axis=0)])
    second = np.concatenate([[0.0], np.cumsum(rows * (centred**2).sum(axis=1))])
    between = size[None, :] - size[:, None]
    sums = ((first[None, :, :] - first[:, None, :]) ** 2).sum(axis=2)
    inside = np.triu(np.ones((n + 1, n + 1), dtype=bool), 1)
    error = second[None, :] - second[:, None] - sums / np.where(inside, between, 1.0)
    return np.asarray(np.where(inside, np.maximum(error, 0.0), np.inf))
