"""The hot loops of the tree: grow it from codes, and send rows down it.

`codes[i, j]` is the level of row i in feature j; the number of levels of j stands for none of them.
Loading this module loads numba, so callers import it where they use it. Sums and copies are
written out as loops: whole-array expressions take numba many times as long to compile.
"""

from typing import Any

import numpy as np

from weigh.kernels import compiled

TOLERANCE = 1e-9
"""What two gains, ratios or weights may differ by and still be equal: sums have rounding errors."""

PARENT, LEVEL, FEATURE = 0, 1, 2
START, STOP = 2, 3


@compiled
def n_log_n(n: float) -> float:
    """Of base 2; 0 for 0."""
    return n * np.log2(n) if n > 0 else 0.0


@compiled
def room_for(array: Any, length: int) -> Any:
    """The same numbers, with room for so many: twice as many or more where it was not enough."""
    if array.shape[0] >= length:
        return array
    out = np.empty(max(2 * array.shape[0], length), array.dtype)
    for i in range(array.shape[0]):
        out[i] = array[i]
    return out


@compiled
def part_of(array: Any, start: int, stop: int) -> Any:
    """A copy of some of the numbers."""
    out = np.empty(stop - start, array.dtype)
    for i in range(out.shape[0]):
        out[i] = array[start + i]
    return out


@compiled
def count_levels(codes: Any, labels: Any, rows: Any, weights: Any, table: Any) -> None:
    """Weights by level (row) and class (column) of one feature; the last row holds no level."""
    for v in range(table.shape[0]):
        for k in range(table.shape[1]):
            table[v, k] = 0.0
    for i in range(rows.shape[0]):
        row = rows[i]
        table[codes[row], labels[row]] += weights[i]


@compiled
def count_classes(labels: Any, rows: Any, weights: Any, n_classes: int) -> Any:
    """The weight of each class among some rows."""
    out = np.zeros(n_classes)
    for i in range(rows.shape[0]):
        out[labels[rows[i]]] += weights[i]
    return out


@compiled
def weigh_split(table: Any, min_rows: float) -> Any:
    """The gain and the split information of a table of counts, in bits; gain -1 if it is no split.

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
    """The feature of best gain ratio among those of at least average gain; the first of equals.

    As in C4.5 a gain of 0 counts in the average, and is taken where there is none better.
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
    free: Any,
    room: Any,
    least: Any,
) -> int:
    """The feature to split these rows on, of those that are free; -1 for none."""
    gains, splits = np.full(free.shape[0], -1.0), np.zeros(free.shape[0])
    for j in range(free.shape[0]):
        if free[j]:
            table = room[: n_levels[j] + 1]
            count_levels(codes[:, j], labels, rows, weights, table)
            gains[j], splits[j] = weigh_split(table, least)
    return choose(gains, splits)  # type: ignore[no-any-return]


@compiled
def mark_free(nodes: Any, parent: int, free: Any) -> None:
    """A feature is free where no node on the way down has used it; used, it has one level left."""
    for j in range(free.shape[0]):
        free[j] = True
    while parent >= 0:
        free[nodes[3 * parent + FEATURE]] = False
        parent = nodes[3 * parent + PARENT]


@compiled
def may_split(counts: Any, min_rows: float) -> bool:
    """Whether there are two classes, and rows enough for two branches."""
    total, n_classes = 0.0, 0
    for count in counts:
        total += count
        n_classes += count > 0
    return n_classes > 1 and total >= 2 * min_rows * (1 - TOLERANCE)


@compiled
def share_out(codes: Any, rows: Any, weights: Any, sizes: Any) -> Any:
    """Each level's share of the weight that is known; `sizes` becomes the rows of each branch."""
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
def deal(
    codes: Any, rows: Any, weights: Any, shares: Any, places: Any, rows_out: Any, weights_out: Any
) -> None:
    """Put each row into its branch; a row without a level into all, by their shares."""
    for i in range(rows.shape[0]):
        level = codes[rows[i]]
        known = level < shares.shape[0]
        for v in range(level if known else 0, level + 1 if known else shares.shape[0]):
            if known or shares[v] > 0:
                rows_out[places[v]] = rows[i]
                weights_out[places[v]] = weights[i] if known else weights[i] * shares[v]
                places[v] += 1


@compiled
def wait(node: int, start: int, shares: Any, sizes: Any, waiting: Any, n_waiting: int) -> int:
    """Queue a node's branches, the first level last; `sizes` becomes where the rows of each go."""
    for v in range(shares.shape[0] - 1, -1, -1):
        if shares[v] > 0:
            waiting[n_waiting, PARENT], waiting[n_waiting, LEVEL] = node, v
            waiting[n_waiting, START], waiting[n_waiting, STOP] = start, start + sizes[v]
            start, sizes[v] = start + sizes[v], start
            n_waiting += 1
    return n_waiting


@compiled
def grow(
    codes: Any, n_levels: Any, labels: Any, weight: Any, n_classes: int, min_rows: float
) -> Any:
    """Parent, level and feature of each node, and its class weights, each as one flat array.

    Nodes come from the root down, the first branch first, with all that is below it. Rows wait in
    one array, the branch that comes next at its end; a node's rows make room for those of its
    branches, so that without missing values no more than all rows ever wait.
    """
    rows, weights, n_nodes, n_waiting = np.arange(codes.shape[0]), weight, 0, 1
    nodes, counts = np.empty(64, np.int64), np.empty(64)
    free, most, every = np.empty(n_levels.shape[0], np.bool_), 1, 1
    for n in n_levels:
        most, every = max(most, n), every + n
    table, waiting = np.empty((most + 1, n_classes)), np.empty((every, 4), np.int64)
    waiting[0, PARENT], waiting[0, LEVEL] = -1, -1
    waiting[0, START], waiting[0, STOP] = 0, codes.shape[0]
    while n_waiting > 0:
        n_waiting -= 1
        parent, start, stop = waiting[n_waiting, 0], waiting[n_waiting, 2], waiting[n_waiting, 3]
        here, mine = part_of(rows, start, stop), part_of(weights, start, stop)
        by_class, best = count_classes(labels, here, mine, n_classes), -1
        if may_split(by_class, min_rows):
            mark_free(nodes, parent, free)
            best = find_split(codes, n_levels, labels, here, mine, free, table, min_rows)
        nodes, counts = (
            room_for(nodes, 3 * n_nodes + 3),
            room_for(counts, (n_nodes + 1) * n_classes),
        )
        nodes[3 * n_nodes + PARENT], nodes[3 * n_nodes + FEATURE] = parent, best
        nodes[3 * n_nodes + LEVEL] = waiting[n_waiting, LEVEL]
        for k in range(n_classes):
            counts[n_nodes * n_classes + k] = by_class[k]
        if best >= 0:
            sizes = np.zeros(n_levels[best] + 1, np.int64)
            shares = share_out(codes[:, best], here, mine, sizes)
            n_waiting = wait(n_nodes, start, shares, sizes, waiting, n_waiting)
            end = waiting[n_waiting - 1, STOP]
            rows, weights = room_for(rows, end), room_for(weights, end)
            deal(codes[:, best], here, mine, shares, sizes, rows, weights)
        n_nodes += 1
    return nodes[: 3 * n_nodes], counts[: n_nodes * n_classes]


@compiled
def descend(
    codes: Any, feature: Any, first: Any, child: Any, share: Any, leaves: Any, out: Any
) -> None:
    """Add up the leaves that each row comes to: one, or all below a node that has no level for it.

    The branches of node i are child[first[i]:first[i + 1]], by level; -1 is a branch without rows,
    where the node's own leaf stands in.
    """
    waiting, parts = np.empty(feature.shape[0], np.int64), np.empty(feature.shape[0])
    for i in range(codes.shape[0]):
        waiting[0], parts[0], n_waiting = 0, 1.0, 1
        while n_waiting > 0:
            n_waiting -= 1
            node, part, to = waiting[n_waiting], parts[n_waiting], np.int64(-1)
            if feature[node] >= 0:
                place = first[node] + codes[i, feature[node]]
                if place == first[node + 1]:
                    for branch in child[first[node] : place]:
                        if branch >= 0:
                            waiting[n_waiting], parts[n_waiting] = branch, part * share[branch]
                            n_waiting += 1
                    continue
                to = child[place]
            if to >= 0:
                waiting[n_waiting], parts[n_waiting] = to, part
                n_waiting += 1
            else:
                for k in range(out.shape[1]):
                    out[i, k] += part * leaves[node, k]
