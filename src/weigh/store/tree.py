"""Trees as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weigh.c44 import Tree
from weigh.store.features import feature_to_dict, read_classes, read_columns, read_features
from weigh.store.values import check, integers, numbers


def tree_to_dict(tree: Tree) -> dict[str, Any]:
    """The features, and one entry per node in each of the lists."""
    return {
        "classes": tree.classes.tolist(),
        "smoothing": tree.smoothing,
        "columns": list(tree.columns),
        "features": [feature_to_dict(feature) for feature in tree.features],
        "parent": tree.parent.tolist(),
        "level": tree.level.tolist(),
        "feature": tree.feature.tolist(),
        "counts": tree.counts.tolist(),
    }


def tree_from_dict(data: Mapping[str, Any]) -> Tree:
    """The tree that `tree_to_dict` described."""
    classes, features = read_classes(data), read_features(data)
    sizes = np.array([*(len(feature.levels) for feature in features), 0])
    feature = integers(data, "feature", -1, len(features))
    n = len(feature)
    counts = numbers(data, "counts", (n, len(classes)), low=0)
    with np.errstate(over="ignore"):
        total = counts.sum(axis=1)
    check(n > 0 and bool(((total > 0) & (total < np.inf)).all()), "every node must have rows")
    tree = Tree(
        classes,
        features,
        read_columns(data, features),
        integers(data, "parent", -1, n),
        integers(data, "level", -1, int(sizes.max())),
        feature,
        counts,
        float(numbers(data, "smoothing", (), low=0)),
    )
    _check_nodes(tree, sizes)
    return tree


def _check_nodes(tree: Tree, sizes: np.ndarray[Any, Any]) -> None:
    """Every node hangs on a branch of its own, and a way down asks each feature once."""
    n, parent, level = len(tree.feature), tree.parent, tree.level
    check(len(parent) == n and len(level) == n, "parent and level must be as long as feature")
    check(parent[0] == -1 and level[0] == -1, "the first node must be the root")
    above, branch = parent[1:], level[1:]
    sound = (above >= 0) & (above < np.arange(1, n)) & (branch >= 0)
    check(bool(sound.all()), "a node's parent must come before it")
    check(bool((branch < sizes[tree.feature[above]]).all()), "a node's level must be a branch")
    twice = len({*zip(above.tolist(), branch.tolist(), strict=True)}) < n - 1
    check(not twice, "two nodes must not be on one branch")
    inner = np.flatnonzero(tree.feature >= 0)
    check(bool(np.isin(inner, above).all()), "a node that is parted must have branches")
    _check_ways(parent.tolist(), tree.feature.tolist())


def _check_ways(parent: list[int], feature: list[int]) -> None:
    """Walk down every branch with one set of the features asked so far."""
    below: list[list[int]] = [[] for _ in parent]
    for i in range(1, len(parent)):
        below[parent[i]].append(i)
    used: set[int] = set()
    walk = [0]
    while walk:
        i = walk.pop()
        if i < 0:  # back from all that is below the node
            used.discard(feature[~i])
        elif feature[i] >= 0:
            check(feature[i] not in used, "a way down must ask a feature once")
            used.add(feature[i])
            walk += [~i, *below[i]]
