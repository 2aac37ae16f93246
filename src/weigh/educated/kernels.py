"""Loops over rows as places of weights: places[j, i] is where row i's weight in column j stands.

The last place is that of no weight; what is summed there is dropped.
"""

from typing import Any

import numpy as np

from weigh.kernels import compiled


@compiled
def add_weights(places: Any, weights: Any, start: int, stop: int, out: Any) -> None:
    """Add up the weights of each row from start to stop, one total per class."""
    for j in range(places.shape[0]):
        for i in range(start, stop):
            place = places[j, i]
            for k in range(weights.shape[1]):
                out[i, k] += weights[place, k]


@compiled
def sum_rows(places: Any, values: Any, out: Any) -> None:
    """Add each row's value to the place that it has in one column."""
    for i in range(places.shape[0]):
        out[places[i]] += values[i]


@compiled
def sum_pairs(places: Any, column: int, values: Any, out: Any) -> None:
    """Add each row's value to the pair of places that it has in one column and any before it."""
    for j in range(column):
        for i in range(places.shape[1]):
            out[places[column, i], places[j, i]] += values[i]


@compiled
def sum_cells(places: Any, column: int, folds: Any, values: Any, out: Any) -> None:
    """Add each row's values to its fold and the pair of places in one column and any before it.

    The places of the column begin where those before it end.
    """
    none, first = out.shape[1] - 1, out.shape[2] - 1
    for j in range(1, column):
        for i in range(places.shape[1]):
            a, b = min(places[column, i] - first, none), min(places[j, i], first)
            for k in range(values.shape[1]):
                out[folds[i], a, b, k] += values[i, k]


@compiled
def sum_squares(places: Any, matrix: Any, start: int, stop: int, out: Any) -> None:
    """Each row's x' M x, where x is one at the row's places and zero elsewhere."""
    for i in range(start, stop):
        total = 0.0
        for j in range(places.shape[0]):
            a = places[j, i]
            inner = 0.0
            for k in range(j):
                inner += matrix[a, places[k, i]]
            total += matrix[a, a] + 2.0 * inner
        out[i] = total


@compiled
def softmax_moments(totals: Any, labels: Any, weight: Any, slope: Any, probability: Any) -> float:
    """Loss in nats, its derivative in each total, and the probabilities."""
    loss, n_classes = 0.0, totals.shape[1]
    for i in range(totals.shape[0]):
        top = totals[i].max()
        norm = 0.0
        for k in range(n_classes):
            norm += np.exp(totals[i, k] - top)
        loss += weight[i] * (top + np.log(norm) - totals[i, labels[i]])
        for k in range(n_classes):
            probability[i, k] = np.exp(totals[i, k] - top) / norm
            slope[i, k] = weight[i] * (probability[i, k] - (labels[i] == k))
    return loss
