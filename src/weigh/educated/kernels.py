"""Loops over rows as places of weights: places[j, i] is where row i's weight in column j stands.

Each column has a place of its own for no level, just before those of its levels.
"""

from typing import Any

import numpy as np

from weigh.kernels import compiled


@compiled
def place(codes: Any, at: Any, out: Any) -> None:
    """Where each row's level stands."""
    for i in range(codes.shape[0]):
        out[i] = at[codes[i]]


@compiled
def place_pair(left: Any, right: Any, width: int, at: Any, out: Any) -> None:
    """Where the level stands that each row's two levels make."""
    for i in range(left.shape[0]):
        out[i] = at[np.int64(left[i]) * width + right[i]]


@compiled
def add_weights(places: Any, weights: Any, start: int, out: Any) -> None:
    """Add up the weights of each row from `start` on, one total per class."""
    for j in range(places.shape[0]):
        for i in range(out.shape[0]):
            place = places[j, start + i]
            for k in range(weights.shape[1]):
                out[i, k] += weights[place, k]


@compiled
def sum_rows(places: Any, values: Any, out: Any) -> None:
    """Add each row's value to the place that it has in one column."""
    for i in range(places.shape[0]):
        out[places[i]] += values[i]


@compiled
def sum_pairs(
    places: Any, b: int, columns: Any, origins: Any, widths: Any, values: Any, out: Any
) -> None:
    """Add each row's value to its cell in the table of a column with each of some others."""
    for k in range(columns.shape[0]):
        a, origin, width = columns[k], origins[k], widths[k]
        for i in range(places.shape[1]):
            out[origin + places[b, i] * width + places[a, i]] += values[i]


@compiled
def sum_cells(
    places: Any, b: int, origins: Any, widths: Any, folds: Any, values: Any, out: Any
) -> None:
    """Add each row's values to its fold and its cell in the table of a column with each before."""
    for a in range(b):
        for i in range(places.shape[1]):
            cell = origins[a] + places[b, i] * widths[a] + places[a, i]
            for k in range(values.shape[1]):
                out[folds[i], cell, k] += values[i, k]


@compiled
def join_tables(
    numbers: Any, starts: Any, widths: Any, height: int, at: int, columns: Any, out: Any
) -> None:
    """Write tables side by side, without their first line and column, and mirror them."""
    for k in range(starts.shape[0]):
        for r in range(1, height):
            for c in range(1, widths[k]):
                value = numbers[starts[k] + r * widths[k] + c]
                out[at + r - 1, columns[k] + c - 1] = value
                out[columns[k] + c - 1, at + r - 1] = value


@compiled
def sum_squares(places: Any, index: Any, matrix: Any, out: Any) -> None:
    """Each row's x' M x, where x is one at the row's places and at 0, and zero elsewhere.

    `index` says where a place stands in M, and is negative where it does not.
    """
    for i in range(out.shape[0]):
        total = matrix[0, 0]
        for j in range(places.shape[0]):
            a = index[places[j, i]]
            if a < 0:
                continue
            inner = matrix[a, 0]
            for k in range(j):
                b = index[places[k, i]]
                if b >= 0:
                    inner += matrix[a, b]
            total += matrix[a, a] + 2.0 * inner
        out[i] = total
