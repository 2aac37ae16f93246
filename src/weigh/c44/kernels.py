"""Compiled loops of the tree: grow it from coded rows, and find the leaves of rows.

`codes[i, j]` is the level of row i in feature j, or the number of levels of j if it is not known.
Loading this module loads numba, so callers import it where they use it. Sums and copies are
written out as loops, because whole-array expressions take numba many times as long to compile.
"""

from typing import Any

import numpy as np

from weigh.kernels import compiled

TOLERANCE = 1e-9
"""Gains, ratios or weights closer than this count as equal, because sums have rounding errors."""

PARENT, LEVEL, FEATURE = 0, 1, 2
START, STOP = 2, 3


@compiled
def n_log_n(n: float) -> float:
    """Return n log2 n, and 0 for n = 0."""
    return n * np.log2(n) if n > 0 else 0.0


@compiled
def grow_array(array: Any, length: int) -> Any:
    """Return the array if it has the length, otherwise a copy at least twice as long."""
    if array.shape[0] >= length:
        return array
    out = np.empty(max(2 * array.shape[0], length), array.dtype)
    for i in range(array.shape[0]):
        out[i] = array[i]
    return out


@compiled
def copy_slice(array: Any, start: int, stop: int) -> Any:
    """Copy array[start:stop]."""
    out = np.empty(stop - start, array.dtype)
    for i in range(out.shape[0]):
        out[i] = array[start + i]
    return out


@compiled
def count_levels(codes: Any, labels: Any, rows: Any, weights: Any, table: Any) -> None:
    """Sum weights by level (row) and class (column) of a feature into `table`.

    The last row is for rows whose level is not known.
    """
    for v in range(table.shape[0]):
        for k in range(table.shape[1]):
            table[v, k] = 0.0
    for i in range(rows.shape[0]):
        row = rows[i]
        table[codes[row], labels[row]] += weights[i]


@compiled
def count_classes(labels: Any, rows: Any, weights: Any, n_classes: int) -> Any:
    """Weight of each class among some rows."""
    out = np.zeros(n_classes)
    for i in range(rows.shape[0]):
        out[labels[rows[i]]] += weights[i]
    return out


@compiled
def split_gain(table: Any, min_rows: float) -> Any:
    """Gain and split information of a table of counts, in bits; gain -1 if it cannot split.

    gain = known/all * (H(class) - H(class | level)) over the rows whose level is known;
    split information = H(level), where not known counts as one more level.
    """
    n_levels, n_classes = table.shape[0] - 1, table.shape[1]
    total, unknown, whole, inside, levels, reasonable = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for v in range(n_levels + 1):
        rows = 0.0
        for k in range(n_classes):
            rows += table[v, k]
            inside += n_log_n(table[v, k]) if v < n_levels else 0.0
        total += rows
        levels += n_log_n(rows)
        reasonable += v < n_levels and rows >= min_rows * (1 - TOLERANCE)
        unknown = rows
    if reasonable < 2:
        return -1.0, 0.0
    for k in range(n_classes):
        rows = 0.0
        for v in range(n_levels):
            rows += table[v, k]
        whole += n_log_n(rows)
    outside = n_log_n(total - unknown) - whole
    within = levels - n_log_n(unknown) - inside
    gain = (outside - within) / total
    return gain if gain > TOLERANCE else 0.0, (n_log_n(total) - levels) / total


@compiled
def choose(gains: Any, splits: Any) -> int:
    """Feature with the highest gain ratio among those of at least mean gain; the first if tied.

    As in C4.5, a gain of 0 counts in the mean, and is accepted if no gain is larger.
    """
    total, n = 0.0, 0
    for gain in gains:
        if gain >= 0:
            total += gain
            n += 1
    best, found = -1.0, -1
    for j in range(gains.shape[0]):
        if gains[j] >= 0 and gains[j] >= total / n * (1 - TOLERANCE):
            ratio = gains[j] / splits[j]
            if ratio > best + abs(best) * TOLERANCE:
                best, found = ratio, j
    return found


@compiled
def find_split(
    codes: Any,
    n_levels: Any,
    labels: Any,
    rows: Any,
    weights: Any,
    unused: Any,
    buffer: Any,
    min_rows: Any,
) -> int:
    """Choose the feature to split these rows on, among the unused ones; -1 if there is none."""
    gains, splits = np.full(unused.shape[0], -1.0), np.zeros(unused.shape[0])
    for j in range(unused.shape[0]):
        if unused[j]:
            table = buffer[: n_levels[j] + 1]
            count_levels(codes[:, j], labels, rows, weights, table)
            gains[j], splits[j] = split_gain(table, min_rows)
    return choose(gains, splits)  # type: ignore[no-any-return]


@compiled
def mark_unused(nodes: Any, parent: int, unused: Any) -> None:
    """Mark the features that no node on the path to `parent` has used."""
    for j in range(unused.shape[0]):
        unused[j] = True
    while parent >= 0:
        unused[nodes[3 * parent + FEATURE]] = False
        parent = nodes[3 * parent + PARENT]


@compiled
def may_split(counts: Any, min_rows: float) -> bool:
    """Whether a node has at least two classes, and enough rows for two branches."""
    total, n_classes = 0.0, 0
    for count in counts:
        total += count
        n_classes += count > 0
    return n_classes > 1 and total >= 2 * min_rows * (1 - TOLERANCE)


@compiled
def branch_shares(codes: Any, rows: Any, weights: Any, sizes: Any) -> Any:
    """Share of each level in the weight of the rows whose level is known.

    `sizes` becomes the number of rows per branch.
    """
    shares, known, n_levels = np.zeros(sizes.shape[0] - 1), 0.0, sizes.shape[0] - 1
    for i in range(rows.shape[0]):
        level = codes[rows[i]]
        sizes[level] += 1
        if level < n_levels:
            shares[level] += weights[i]
            known += weights[i]
    for v in range(n_levels):
        shares[v] /= known
        sizes[v] += sizes[n_levels] if shares[v] > 0 else 0
    return shares


@compiled
def distribute(
    codes: Any, rows: Any, weights: Any, shares: Any, places: Any, rows_out: Any, weights_out: Any
) -> None:
    """Put each row into its branch.

    A row whose level is not known goes into all branches, its weight divided by their shares.
    """
    for i in range(rows.shape[0]):
        level = codes[rows[i]]
        known = level < shares.shape[0]
        for v in range(level if known else 0, level + 1 if known else shares.shape[0]):
            if known or shares[v] > 0:
                rows_out[places[v]] = rows[i]
                weights_out[places[v]] = weights[i] if known else weights[i] * shares[v]
                places[v] += 1


@compiled
def push_branches(
    node: int, start: int, shares: Any, sizes: Any, stack: Any, stack_size: int
) -> int:
    """Push the branches of a node onto the stack, the first level last so that it is next.

    `sizes` becomes the position at which the rows of each branch begin.
    """
    for v in range(shares.shape[0] - 1, -1, -1):
        if shares[v] > 0:
            stack[stack_size, PARENT], stack[stack_size, LEVEL] = node, v
            stack[stack_size, START], stack[stack_size, STOP] = start, start + sizes[v]
            start, sizes[v] = start + sizes[v], start
            stack_size += 1
    return stack_size


@compiled
def grow(
    codes: Any, n_levels: Any, labels: Any, weight: Any, n_classes: int, min_rows: float
) -> Any:
    """Grow a tree; return parent, level and feature of its nodes, and their class weights.

    Both results are flat arrays, with the nodes in depth-first order, first branch first. The rows
    of pending branches lie in one array, used as a stack: the rows of a node are replaced by those
    of its branches, so without missing values it never holds more than all rows.
    """
    rows, weights, n_nodes, stack_size = np.arange(codes.shape[0]), weight, 0, 1
    nodes, counts = np.empty(64, np.int64), np.empty(64)
    unused, max_levels, max_stack = np.empty(n_levels.shape[0], np.bool_), 1, 1
    for n in n_levels:
        max_levels, max_stack = max(max_levels, n), max_stack + n
    table, stack = np.empty((max_levels + 1, n_classes)), np.empty((max_stack, 4), np.int64)
    stack[0, PARENT], stack[0, LEVEL] = -1, -1
    stack[0, START], stack[0, STOP] = 0, codes.shape[0]
    while stack_size > 0:
        stack_size -= 1
        parent, start, stop = stack[stack_size, 0], stack[stack_size, 2], stack[stack_size, 3]
        here, mine = copy_slice(rows, start, stop), copy_slice(weights, start, stop)
        by_class, best = count_classes(labels, here, mine, n_classes), -1
        if may_split(by_class, min_rows):
            mark_unused(nodes, parent, unused)
            best = find_split(codes, n_levels, labels, here, mine, unused, table, min_rows)
        nodes, counts = (
            grow_array(nodes, 3 * n_nodes + 3),
            grow_array(counts, (n_nodes + 1) * n_classes),
        )
        nodes[3 * n_nodes + PARENT], nodes[3 * n_nodes + FEATURE] = parent, best
        nodes[3 * n_nodes + LEVEL] = stack[stack_size, LEVEL]
        for k in range(n_classes):
            counts[n_nodes * n_classes + k] = by_class[k]
        if best >= 0:
            sizes = np.zeros(n_levels[best] + 1, np.int64)
            shares = branch_shares(codes[:, best], here, mine, sizes)
            stack_size = push_branches(n_nodes, start, shares, sizes, stack, stack_size)
            end = stack[stack_size - 1, STOP]
            rows, weights = grow_array(rows, end), grow_array(weights, end)
            distribute(codes[:, best], here, mine, shares, sizes, rows, weights)
        n_nodes += 1
    return nodes[: 3 * n_nodes], counts[: n_nodes * n_classes]


@compiled
def descend(
    codes: Any, feature: Any, first: Any, child: Any, share: Any, leaves: Any, out: Any
) -> None:
    """Add to out the probabilities of each row's leaves, weighted by the row's share in each.

    A row whose level is not known goes down all branches. The branches of node i are
    child[first[i]:first[i + 1]], by level; -1 is a branch without training rows, where the row
    gets the probabilities of the node.
    """
    stack, parts = np.empty(feature.shape[0], np.int64), np.empty(feature.shape[0])
    for i in range(codes.shape[0]):
        stack[0], parts[0], stack_size = 0, 1.0, 1
        while stack_size > 0:
            stack_size -= 1
            node, part, to = stack[stack_size], parts[stack_size], np.int64(-1)
            if feature[node] >= 0:
                place = first[node] + codes[i, feature[node]]
                if place == first[node + 1]:
                    for branch in child[first[node] : place]:
                        if branch >= 0:
                            stack[stack_size], parts[stack_size] = branch, part * share[branch]
                            stack_size += 1
                    continue
                to = child[place]
            if to >= 0:
                stack[stack_size], parts[stack_size] = to, part
                stack_size += 1
            else:
                for k in range(out.shape[1]):
                    out[i, k] += part * leaves[node, k]
