"""Compiled loops over rows, given as places: places[j, i] indexes row i's weight in column j.

Each column has one place for no level, just before the places of its levels.
"""

from typing import Any

import numpy as np

from weigh.kernels import compiled, split_mix


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


THREE = 3
"""Columns that are summed at a time: each addition to a cell waits for the one before it, but not
for those in the cells of other columns. The order of additions in a cell does not change. Unsigned
numbers spare the check of negative positions."""


@compiled
def sum_rows(places: Any, values: Any, out: Any) -> None:
    """Add each row's value to its place in each column."""
    n = places.shape[0]
    whole = n - n % THREE
    for j in range(0, whole, THREE):
        p, q, r = places[j], places[j + 1], places[j + 2]
        for i in range(values.shape[0]):
            value = values[i]
            out[np.uint64(p[i])] += value
            out[np.uint64(q[i])] += value
            out[np.uint64(r[i])] += value
    for j in range(whole, n):
        p = places[j]
        for i in range(values.shape[0]):
            out[np.uint64(p[i])] += values[i]


@compiled
def sum_pairs(
    places: Any, b: int, columns: Any, origins: Any, widths: Any, values: Any, out: Any
) -> None:
    """Add each row's value to its cell in the tables of column b with each of `columns`."""
    n, own = columns.shape[0], places[b]
    whole = n - n % THREE
    starts, steps = origins.astype(np.uint64), widths.astype(np.uint64)
    for k in range(0, whole, THREE):
        p, q, r = places[columns[k]], places[columns[k + 1]], places[columns[k + 2]]
        in_p, in_q, in_r = starts[k], starts[k + 1], starts[k + 2]
        by_p, by_q, by_r = steps[k], steps[k + 1], steps[k + 2]
        for i in range(own.shape[0]):
            at, value = np.uint64(own[i]), values[i]
            out[in_p + at * by_p + np.uint64(p[i])] += value
            out[in_q + at * by_q + np.uint64(q[i])] += value
            out[in_r + at * by_r + np.uint64(r[i])] += value
    for k in range(whole, n):
        p, start, step = places[columns[k]], starts[k], steps[k]
        for i in range(own.shape[0]):
            out[start + np.uint64(own[i]) * step + np.uint64(p[i])] += values[i]


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
    """Add each row's two values to its fold and cell, in the tables of b with columns before it."""
    whole, own = b - b % THREE, places[b]
    starts, steps = origins.astype(np.uint64), widths.astype(np.uint64)
    for a in range(0, whole, THREE):
        p, q, r = places[a], places[a + 1], places[a + 2]
        in_p, in_q, in_r = starts[a], starts[a + 1], starts[a + 2]
        by_p, by_q, by_r = steps[a], steps[a + 1], steps[a + 2]
        for i in range(own.shape[0]):
            fold, at = np.uint64(folds[i]), np.uint64(own[i])
            cell_p = in_p + at * by_p + np.uint64(p[i])
            cell_q = in_q + at * by_q + np.uint64(q[i])
            cell_r = in_r + at * by_r + np.uint64(r[i])
            for k in range(2):
                value = values[i, k]
                out[fold, cell_p, k] += value
                out[fold, cell_q, k] += value
                out[fold, cell_r, k] += value
    for a in range(whole, b):
        p, start, step = places[a], starts[a], steps[a]
        for i in range(own.shape[0]):
            cell = start + np.uint64(own[i]) * step + np.uint64(p[i])
            for k in range(2):
                out[np.uint64(folds[i]), cell, k] += values[i, k]


@compiled
def join_tables(
    numbers: Any, starts: Any, widths: Any, height: int, at: int, columns: Any, out: Any
) -> None:
    """Write tables and their transposes into a matrix, without their first line and column."""
    one, high, line = np.uint64(1), np.uint64(height), np.uint64(at) - np.uint64(1)
    for k in range(starts.shape[0]):
        start, width = np.uint64(starts[k]), np.uint64(widths[k])
        column = np.uint64(columns[k]) - one
        for r in range(one, high):
            for c in range(one, width):
                out[line + r, column + c] = numbers[start + r * width + c]
        for c in range(one, width):
            for r in range(one, high):
                out[column + c, line + r] = numbers[start + r * width + c]


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
    return split_mix(number + np.uint64(0x9E3779B97F4A7C15))


@compiled
def mark_rows(codes: Any, salt: Any, marks: Any) -> None:
    """Add the hash of each row's level in one feature to the row's mark."""
    for i in range(codes.shape[0]):
        marks[i] += mix(salt ^ mix(np.uint64(codes[i])))


@compiled
def draw_blanks(marks: Any, salts: Any, part: int, n_parts: int, out: Any) -> None:
    """Blank columns of each row at random; its rate is drawn from one of `n_parts` parts of 0-1."""
    n_rows, unit = marks.shape[0], 2.0**-53
    own, rate = np.empty(n_rows, np.uint64), np.empty(n_rows)
    for i in range(n_rows):
        own[i] = mix(marks[i] ^ mix(np.uint64(part)))
        rate[i] = (part + unit * (own[i] >> np.uint64(11))) / n_parts
    for j in range(salts.shape[0]):
        for i in range(n_rows):
            out[j, i] = unit * (mix(own[i] ^ salts[j]) >> np.uint64(11)) < rate[i]


@compiled
def add_known(places: Any, weights: Any, none: Any, u: Any, blank: Any, out: Any) -> None:
    """Add up each row's weights, with u in place of those blanked; no level is marked as blank."""
    n_totals = weights.shape[1]
    for j in range(places.shape[0]):
        line, own, instead = places[j], blank[j], u[j]
        for i in range(out.shape[0]):
            own[i] |= line[i] == none[j]
        for k in range(n_totals):
            for i in range(out.shape[0]):  # both are read, as blanks cannot be guessed
                known = weights[np.uint64(line[i]), k]
                out[i, k] += instead[k] if own[i] else known


@compiled
def sum_blanks(blank: Any, slope: Any, curvature: Any, slopes: Any, bends: Any) -> None:
    """Add each row's slopes to its blanked tables, and its curvatures to each two of them.

    To tables that are not blanked it adds zero, so that a row adds to whole lines.
    """
    n_tables, n_totals = slopes.shape
    at, own = np.empty(n_tables, np.uint64), np.empty(n_tables)
    for i in range(slope.shape[0]):
        n = 0
        for j in range(n_tables):
            at[n] = j
            n += blank[j, i]
        for k in range(n_totals):
            s, c = slope[i, k], curvature[i, k]
            for j in range(n_tables):
                own[j] = c if blank[j, i] else 0.0
            for a in range(n):
                slopes[at[a], k] += s
                line = bends[k, at[a]]
                for b in range(n_tables):
                    line[b] += own[b]


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
