"""The tree: the feature that splits each node, and the class counts of each node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from weigh import engine
from weigh.bins import Cross, Feature
from weigh.c44 import show
from weigh.frames import Floats, Integers, Sample, Table, build
from weigh.pickling import by_fields


@dataclass(frozen=True, eq=False)
class Tree:
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
        return build(show.columns(self), self.backend)

    def to_text(self, width: int = 100) -> str:
        """Tree as indented text, at most `width` characters wide."""
        return show.tree_text(self, width)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return show.tree_html(self)


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
        return show.node_text(self)


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
        np.ones(len(sample.labels)) if sample.weight is None else sample.weight.copy(),
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
