"""The tree: the feature that splits each node, and the class counts of each node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from weigh import engine
from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature, label, printable
from weigh.frames import Sample, Table, build
from weigh.layout import Grid, Shown, View
from weigh.pickling import by_fields
from weigh.sheet import probability


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Shown):
    """A probability tree: an iterable of its nodes from the root down.

    P(c | node) = (n_c + s)/(N + s K)

    `counts` holds n_c, the weight of each class in each node; s is `smoothing`, K the number of
    classes. Node i is branch `level[i]` of node `parent[i]` (-1 for the root), and is split by the
    levels of `features[feature[i]]` (-1 for a leaf).

    Examples
    --------
    >>> from weigh import C44Classifier
    >>> from weigh.datasets import titanic
    >>> tree = C44Classifier().fit(titanic(), "Survived").tree_
    >>> tree.root.feature, [*tree.root.branches]
    ('Sex', ['Female', 'Male'])
    """

    classes: np.ndarray[Any, Any]
    features: tuple[Feature | Cross, ...]
    columns: tuple[str, ...]
    parent: Integers
    level: Integers
    feature: Integers
    counts: Floats
    smoothing: float
    backend: str | None = None

    event_model: ClassVar[str] = "levels"

    __reduce__ = by_fields

    @property
    def column_names(self) -> tuple[str, ...]:
        """Columns of the training table, in order."""
        return self.columns

    def __len__(self) -> int:
        return len(self.parent)

    def __iter__(self) -> Iterator[Node]:
        return (Node(self, i) for i in range(len(self)))

    @property
    def root(self) -> Node:
        """Node of all rows."""
        return Node(self, 0)

    @property
    def class_counts(self) -> Floats:
        """Weight of the training rows of each class."""
        row: Floats = self.counts[0]
        return row

    @property
    def n_leaves(self) -> int:
        """Number of leaves; branches without training rows are not counted."""
        return int((self.feature < 0).sum())

    @cached_property
    def depths(self) -> Integers:
        """Depth of each node; 0 for the root."""
        depths = np.zeros(len(self), dtype=np.int64)
        for i, parent in enumerate(self.parent[1:].tolist(), 1):
            depths[i] = depths[parent] + 1
        return depths

    @cached_property
    def probabilities(self) -> Floats:
        """P(c | node) for each node and class, as if each were a leaf."""
        added = self.counts + self.smoothing
        shares: Floats = added / added.sum(axis=1, keepdims=True)
        return shares

    @cached_property
    def first(self) -> Integers:
        """Where the branches of each node begin in `child`."""
        sizes = np.array([*(len(f.levels) for f in self.features), 0], dtype=np.int64)
        return np.concatenate([[0], np.cumsum(sizes[self.feature])])

    @cached_property
    def child(self) -> Integers:
        """Node at the end of each branch, -1 for a branch without training rows."""
        child = np.full(self.first[-1], -1)
        child[self.first[self.parent[1:]] + self.level[1:]] = np.arange(1, len(self))
        return child

    @cached_property
    def share(self) -> Floats:
        """Share of each node in the rows of all branches of its parent."""
        weight = self.counts.sum(axis=1)
        together = np.bincount(self.parent[1:], weight[1:], len(self))
        return np.concatenate([[1.0], weight[1:] / together[self.parent[1:]]])

    def predict(self, table: Table) -> Floats:
        """Probability of each class for each row."""
        from weigh.c44 import kernels

        codes = code_rows(table, self.features)
        out = np.zeros((table.n_rows, len(self.classes)))
        parts = self.feature, self.first, self.child, self.share, self.probabilities

        def fill(start: int) -> None:
            block = slice(start, start + engine.BLOCK // 4)
            kernels.descend(codes[block], *parts, out[block])

        engine.spread(fill, range(0, table.n_rows, engine.BLOCK // 4), table.n_rows)
        return out

    def to_frame(self) -> Any:
        """Dataframe with one row per node, in the library of the training table."""
        return build(_columns(self), self.backend)

    def view(self) -> View:
        """The tree as an indented table."""
        return _tree_view(self)


@dataclass(frozen=True, eq=False)
class Node:
    """One node of a tree: its rows by class, and the branches below it by level."""

    tree: Tree
    place: int

    @property
    def feature(self) -> str | None:
        """Name of the feature that splits the node; None for a leaf."""
        j = int(self.tree.feature[self.place])
        return None if j < 0 else self.tree.features[j].name

    @property
    def branches(self) -> dict[str, Node]:
        """Child nodes, by the label of their level of `feature`."""
        j = int(self.tree.feature[self.place])
        start, stop = self.tree.first[self.place : self.place + 2]
        labels = () if j < 0 else self.tree.features[j].labels
        nodes = zip(labels, self.tree.child[start:stop].tolist(), strict=True)
        return {label: Node(self.tree, i) for label, i in nodes if i >= 0}

    @property
    def parted_by(self) -> Feature | Cross | None:
        """Feature that splits the parent; None for the root."""
        above = int(self.tree.parent[self.place])
        return None if above < 0 else self.tree.features[int(self.tree.feature[above])]

    @property
    def text(self) -> str:
        """Condition that leads from the parent to this node, such as `Sex = Male`."""
        feature = self.parted_by
        return "all rows" if feature is None else feature.phrase(int(self.tree.level[self.place]))

    @property
    def depth(self) -> int:
        """Depth of the node; 0 for the root."""
        return int(self.tree.depths[self.place])

    @property
    def counts(self) -> Floats:
        """Weight of the rows of each class."""
        row: Floats = self.tree.counts[self.place]
        return row

    @property
    def rows(self) -> float:
        """Weight of the rows."""
        return float(self.counts.sum())

    @property
    def probabilities(self) -> Floats:
        """Probability of each class for a row that ends here."""
        row: Floats = self.tree.probabilities[self.place]
        return row

    def __repr__(self) -> str:
        return _node_text(self)


def code_rows(table: Table, features: tuple[Feature | Cross, ...]) -> Integers:
    """Level of every row (first axis) in every feature; the number of levels if not known."""
    codes = np.empty((table.n_rows, len(features)), dtype=np.int32)
    for j, placed in enumerate(engine.place(table, features)):
        codes[:, j] = placed.levels[placed.codes]
    return codes


def grow(
    sample: Sample, features: tuple[Feature | Cross, ...], smoothing: float, min_rows: float
) -> Tree:
    """Grow a tree: split nodes on the feature with the highest gain ratio until none can split.

    A feature is used at most once on a path, so the depth is at most the number of features.
    """
    from weigh.c44 import kernels

    nodes, counts = kernels.grow(
        code_rows(sample.table, features),
        np.array([len(feature.levels) for feature in features]),
        sample.labels,
        sample.weights.copy(),  # which is worked on in place
        len(sample.classes),
        min_rows,
    )
    parent, level, feature = nodes.reshape(-1, 3).T.copy()
    return Tree(
        sample.classes,
        features,
        sample.table.names,
        parent,
        level,
        feature,
        counts.reshape(-1, len(sample.classes)).copy(),
        smoothing,
        sample.table.backend,
    )


MOST_LINES, MOST_CLASSES, MOST_INDENTS = 200, 6, 12
"""Most lines of a printed tree or path, most classes beside them, and most steps of indentation."""


def _tree_view(tree: Tree) -> View:
    shown = [*range(len(tree.classes))][:MOST_CLASSES]
    lines = [
        (
            indent(node.depth) + node.text,
            weight(node.rows),
            *spell_shares(node.probabilities, shown),
        )
        for node in islice(tree, MOST_LINES)
    ]
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves:,} leaves"
    title = f"Tree of {leaves}, depth {tree.depths.max()}: the probability of each class"
    notes = [f"The probability is {laplace(tree.smoothing, len(tree.classes))}."]
    notes += state_left_out(len(tree), tree.classes.tolist(), "nodes")
    grid = Grid(table_heads(tree.classes.tolist(), shown), tuple(lines))
    return View(title, (grid,), notes=tuple(notes))


def _node_text(node: Node) -> str:
    """Describe one node in one line."""
    classes = node.tree.classes.tolist()[:MOST_CLASSES]
    numbers = zip(classes, node.probabilities.tolist(), strict=False)
    chances = ", ".join(f"{label(c)} {probability(p)}" for c, p in numbers)
    split = "leaf" if node.feature is None else f"split on {node.feature}"
    return printable(f"{node.text}: {weight(node.rows)} rows, {split} ({chances})")


def _columns(tree: Tree) -> dict[str, list[Any]]:
    """Nodes as columns of plain values."""
    names = [feature.name for feature in tree.features]
    split = [None if j < 0 else names[j] for j in tree.feature.tolist()]
    out = {
        "node": [*range(len(tree))],
        "parent": [None, *tree.parent[1:].tolist()],
        "depth": tree.depths.tolist(),
        "text": [node.text for node in tree],
        "split on": split,
        "rows": tree.counts.sum(axis=1).tolist(),
    }
    for head, numbers in (("count", tree.counts), ("probability", tree.probabilities)):
        for k, c in enumerate(tree.classes.tolist()):
            out[f"{head} {label(c)}"] = numbers[:, k].tolist()
    return out


def indent(depth: int) -> str:
    """Indentation of two spaces per step; deep nodes show their depth as a number instead."""
    number = f"[{depth}] " if depth > MOST_INDENTS else ""
    return "  " * min(depth, MOST_INDENTS) + number


def table_heads(classes: Sequence[Any], shown: list[int]) -> tuple[str, ...]:
    """The heads of a table of nodes or steps."""
    return ("", "Rows", *(label(classes[k]) for k in shown))


def spell_shares(row: Sequence[float] | Floats, shown: list[int]) -> list[str]:
    """The shares of the shown classes as text."""
    own = [float(row[k]) for k in shown]
    return [f"{p:.0f}" if p in (0, 1) else probability(p) for p in own]


def state_left_out(n_lines: int, classes: Sequence[Any], what: str) -> list[str]:
    """Notes on lines and classes that are not shown."""
    notes = []
    if n_lines > MOST_LINES:
        notes.append(f"... and {n_lines - MOST_LINES:,} more {what}.")
    if len(classes) > MOST_CLASSES:
        notes.append(f"{len(classes) - MOST_CLASSES} more classes are not shown.")
    return notes


def laplace(s: float, n_classes: int) -> str:
    """Formula of a leaf's probability, with the numbers filled in."""
    return f"(n + {s:.4g})/(N + {s * n_classes:.4g})"


def weight(total: float) -> str:
    """Format a number of rows, or a weight that is not a whole number."""
    return f"{total:,.0f}" if total == round(total) else f"{total:,.4g}"
