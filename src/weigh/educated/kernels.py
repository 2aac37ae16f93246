"""Compiled loops over rows, given as places: places[j, i] indexes row i's weight in column j.

Each column has one place for no level, just before the places of its levels.
"""

from typing import Any

import numpy as np

from weigh.kernels import compiled


@compiled
def place(codes: Any, at: Any, out: Any) -> None:
    """Write the place of each row's level."""
    for i in range(codes.shape[0]):
        out[i] = at[codes[i]]


@compiled
def place_pair(left: Any, right: Any, width: int, at: Any, out: Any) -> None:
    """Write the place of the level that each row's two levels form."""
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
def add_singles(places: Any, weights: Any, start: int, out: Any) -> None:
    """Add up the weights of each row from `start` on, for a single total."""
    for j in range(places.shape[0]):
        for i in range(out.shape[0]):
            out[i] += weights[places[j, start + i]]


@compiled
def bend_singles(places: Any, direction: Any, curvature: Any, out: Any) -> None:
    """Add the Hessian times a direction, for a single total; the intercept is at 0."""
    n_rows, most = places.shape[1], 1024
    change = np.empty(most)
    for start in range(0, n_rows, most):
        n = min(most, n_rows - start)
        change[:n] = direction[0]
        for j in range(places.shape[0]):
            for i in range(n):
                change[i] += direction[places[j, start + i]]
        for i in range(n):
            change[i] *= curvature[start + i]
            out[0] += change[i]
        for j in range(places.shape[0]):
            for i in range(n):
                out[places[j, start + i]] += change[i]


@compiled
def bend_totals(places: Any, direction: Any, weight: Any, probability: Any, out: Any) -> None:
    """Add the Hessian times a direction, for one total per class; the intercept is at 0."""
    (n_rows, n_totals), most = probability.shape, 128
    change = np.empty((most, n_totals))
    for start in range(0, n_rows, most):
        n = min(most, n_rows - start)
        change[:n] = direction[0]
        for j in range(places.shape[0]):
            for i in range(n):
                place = places[j, start + i]
                for k in range(n_totals):
                    change[i, k] += direction[place, k]
        for i in range(n):
            mean = 0.0
            for k in range(n_totals):
                mean += probability[start + i, k] * change[i, k]
            for k in range(n_totals):
                change[i, k] = weight[start + i] * probability[start + i, k] * (change[i, k] - mean)
                out[0, k] += change[i, k]
        for j in range(places.shape[0]):
            for i in range(n):
                place = places[j, start + i]
                for k in range(n_totals):
                    out[place, k] += change[i, k]


@compiled
def sum_rows(places: Any, values: Any, out: Any) -> None:
    """Add each row's value to its place in one column."""
    for i in range(places.shape[0]):
        out[places[i]] += values[i]


@compiled
def sum_pairs(
    places: Any, b: int, columns: Any, origins: Any, widths: Any, values: Any, out: Any
) -> None:
    """Add each row's value to its cell in the tables of column b with each of `columns`."""
    for k in range(columns.shape[0]):
        a, origin, width = columns[k], origins[k], widths[k]
        for i in range(places.shape[1]):
            out[origin + places[b, i] * width + places[a, i]] += values[i]


@compiled
def sum_pairs_each(
    places: Any, b: int, columns: Any, origins: Any, widths: Any, values: Any, out: Any
) -> None:
    """Add each row's values, one per total, to its cell in the tables of column b with others."""
    n_rows, n_totals = values.shape
    for k in range(columns.shape[0]):
        a, origin, width = columns[k], origins[k], widths[k]
        for i in range(n_rows):
            cell = origin + places[b, i] * width + places[a, i]
            for t in range(n_totals):
                out[cell, t] += values[i, t]


@compiled
def sum_cells(
    places: Any, b: int, origins: Any, widths: Any, folds: Any, values: Any, out: Any
) -> None:
    """Add each row's values to its fold and cell, in the tables of b with each column before it."""
    for a in range(b):
        for i in range(places.shape[1]):
            cell = origins[a] + places[b, i] * widths[a] + places[a, i]
            for k in range(values.shape[1]):
                out[folds[i], cell, k] += values[i, k]


@compiled
def join_tables(
    numbers: Any, starts: Any, widths: Any, height: int, at: int, columns: Any, out: Any
) -> None:
    """Write tables and their transposes into a matrix, without their first line and column."""
    for k in range(starts.shape[0]):
        for r in range(1, height):
            for c in range(1, widths[k]):
                value = numbers[starts[k] + r * widths[k] + c]
                out[at + r - 1, columns[k] + c - 1] = value
                out[columns[k] + c - 1, at + r - 1] = value


@compiled
def sum_squares(places: Any, index: Any, matrix: Any, out: Any) -> None:
    """Compute x' M x of each row, where x is one at the row's places and at 0, and zero elsewhere.

    `index` maps a place to its line in M; it is negative for places that are not in M. Only the
    upper half of M is used.
    """
    for i in range(out.shape[0]):
        total = matrix[0, 0]
        for j in range(places.shape[0]):
            a = index[places[j, i]]
            if a < 0:
                continue
            inner = matrix[0, a]
            for k in range(j + 1, places.shape[0]):
                b = index[places[k, i]]
                if b >= 0:
                    inner += matrix[a, b]
            total += matrix[a, a] + 2.0 * inner
        out[i] = total


@compiled
def mix(number: Any) -> Any:
    """Mix the bits of a number, so that adjacent numbers get unrelated values (SplitMix64)."""
    z = number + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def mark_rows(codes: Any, salt: Any, marks: Any) -> None:
    """Add the hash of each row's level in one feature to the row's mark."""
    for i in range(codes.shape[0]):
        marks[i] += mix(salt ^ mix(np.uint64(codes[i])))


@compiled
def draw_blanks(marks: Any, salts: Any, part: int, n_parts: int, out: Any) -> None:
    """Blank columns of each row at random; its rate is drawn from one of `n_parts` parts of 0-1."""
    unit = 2.0**-53
    for i in range(marks.shape[0]):
        own = mix(marks[i] ^ mix(np.uint64(part)))
        rate = (part + unit * (own >> np.uint64(11))) / n_parts
        for j in range(salts.shape[0]):
            out[j, i] = unit * (mix(own ^ salts[j]) >> np.uint64(11)) < rate


@compiled
def add_known(places: Any, weights: Any, none: Any, u: Any, blank: Any, out: Any) -> None:
    """Add up each row's weights, with u in place of those blanked; no level is marked as blank."""
    for j in range(places.shape[0]):
        for i in range(out.shape[0]):
            if places[j, i] == none[j]:
                blank[j, i] = True
            for k in range(weights.shape[1]):
                out[i, k] += u[j, k] if blank[j, i] else weights[places[j, i], k]


@compiled
def sum_blanks(blank: Any, slope: Any, curvature: Any, slopes: Any, bends: Any) -> None:
    """Add each row's slopes to its blanked tables, and its curvatures to each two of them."""
    n_tables, n_totals = slopes.shape
    at = np.empty(n_tables, np.int64)
    for i in range(slope.shape[0]):
        n = 0
        for j in range(n_tables):
            if blank[j, i]:
                at[n] = j
                n += 1
        for k in range(n_totals):
            for a in range(n):
                slopes[at[a], k] += slope[i, k]
                for b in range(n):
                    bends[k, at[a], at[b]] += curvature[i, k]


STRIP = 64
"""Columns of a matrix of rows by rows that are summed at a time: lines of tables fit the cache."""


@compiled
def line_starts(sides: Any) -> Any:
    """The number of each table's first line among the lines of all tables."""
    starts = np.zeros(len(sides), np.int64)
    starts[1:] = np.cumsum(sides)[:-1]
    return starts


@compiled
def add_kernels(levels: Any, tables: Any, sides: Any, factors: Any, out: Any) -> None:
    """Add factor * table[level of i, level of j] of all tables to out, for each two rows.

    `levels` has a line for each table, `tables` holds the square tables one after the other, and
    `sides` their sides. Only the lower half of out is complete.
    """
    n_tables, n_rows = levels.shape
    starts, lines, own = line_starts(sides), np.zeros((sides.sum(), STRIP)), np.zeros(STRIP)
    for first in range(0, n_rows, STRIP):
        width, at = min(STRIP, n_rows - first), 0
        for b in range(n_tables):
            for line in range(starts[b], starts[b] + sides[b]):
                for j in range(width):
                    lines[line, j] = factors[b] * tables[at + levels[b, first + j]]
                at += sides[b]
        for i in range(first, n_rows):
            own[:] = 0.0
            for b in range(n_tables):
                more = lines[starts[b] + levels[b, i]]
                for j in range(STRIP):
                    own[j] += more[j]
            for j in range(width):
                out[i, first + j] += own[j]


@compiled
def sum_kernels(levels: Any, tables: Any, sides: Any, lower: Any, sums: Any) -> None:
    """Add the sum of a symmetric matrix times table[level i, level j] to the sum of each table.

    The matrix is given by its lower half, the tables as for `add_kernels`.
    """
    n_tables, n_rows = levels.shape
    starts, lines, own = line_starts(sides), np.zeros((sides.sum(), STRIP)), np.zeros(STRIP)
    for first in range(0, n_rows, STRIP):
        width, at = min(STRIP, n_rows - first), 0
        lines[:], own[:] = 0.0, 0.0
        for i in range(first, n_rows):
            for j in range(min(width, i - first)):
                own[j] = 2.0 * lower[i, first + j]
            if i < first + width:
                own[i - first] = lower[i, i]
            for b in range(n_tables):
                line = lines[starts[b] + levels[b, i]]
                for j in range(STRIP):
                    line[j] += own[j]
        for b in range(n_tables):
            for line in range(starts[b], starts[b] + sides[b]):
                for j in range(width):
                    sums[b] += lines[line, j] * tables[at + levels[b, first + j]]
                at += sides[b]


@compiled
def group_near(weights: Any, n_walk: int, most: float, groups: Any) -> None:
    """Number groups of adjacent weights that differ by at most `most`; none beyond `n_walk`."""
    if weights.shape[0] == 0:
        return
    low, high = weights[0].copy(), weights[0].copy()
    for i in range(1, weights.shape[0]):
        apart = i >= n_walk
        for k in range(weights.shape[1]):
            low[k], high[k] = min(low[k], weights[i, k]), max(high[k], weights[i, k])
            apart = apart or high[k] - low[k] > most
        groups[i] = groups[i - 1] + apart
        if apart:
            low[:], high[:] = weights[i], weights[i]
