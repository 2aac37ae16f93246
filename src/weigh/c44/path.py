"""The path of one case through the tree: its nodes, and the probabilities at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weigh.bins import label
from weigh.c44 import show
from weigh.c44.tree import Node, Tree, code_rows
from weigh.frames import Floats, Table
from weigh.sheet import UNSEEN


@dataclass(frozen=True)
class Step:
    """One node on the path of a case: its condition, its rows, and the share of each class.

    `part` is the share of the case that reaches the node. It is below 1 if an answer further up is
    not known, because the case then follows every branch. `ends` is whether the path ends here;
    `note` says why it follows several branches or ends early.
    """

    feature: str | None
    level: str | None
    text: str
    depth: int
    part: float
    rows: float
    shares: tuple[float, ...]
    ends: bool = False
    note: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class TreePath:
    """Path of one case through a tree, from the root to its probabilities.

    If the case follows several branches, the steps are in depth-first order. `probabilities` is the
    sum of part times (n_c + s)/(N + s K) over the steps where the path ends.
    """

    classes: tuple[Any, ...]
    steps: tuple[Step, ...]
    probabilities: Floats
    smoothing: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        names = [label(c) for c in self.classes]
        ends = dict(zip(names, self.probabilities.tolist(), strict=True))
        steps = [
            vars(step) | {"shares": dict(zip(names, step.shares, strict=True))}
            for step in self.steps
        ]
        return {"steps": steps, "smoothing": self.smoothing, "probabilities": ends}

    def to_text(self, width: int = 100) -> str:
        """Path as plain text, at most `width` characters wide."""
        return show.path_text(self, width)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return show.path_html(self)


def trace(tree: Tree, table: Table) -> TreePath:
    """Path of a table's only row."""
    steps, stack = [], [(0, 1.0)]
    codes = code_rows(table, tree.features)[0].tolist()
    while stack:
        node, part = stack.pop()
        next_nodes, note = _follow(tree, node, codes, table)
        stack += [(i, part * share) for i, share in reversed(next_nodes)]
        steps.append(_step(tree, node, part, not next_nodes, note))
    return TreePath(
        tuple(tree.classes.tolist()), tuple(steps), tree.predict(table)[0], tree.smoothing
    )


def _follow(
    tree: Tree, node: int, codes: list[int], table: Table
) -> tuple[list[tuple[int, float]], str]:
    """Next nodes with the share of each, and a note if the case takes all branches or none."""
    j = int(tree.feature[node])
    if j < 0:
        return [], ""
    level, feature = codes[j], tree.features[j]
    branches = tree.child[tree.first[node] : tree.first[node + 1]]
    if level == len(branches):
        given = any(part.value(table) is not None for part in feature.parts)
        why = f"{feature.verb} {feature.spell(table)} was {UNSEEN}" if given else "is missing"
        next_nodes = [(i, float(tree.share[i])) for i in branches.tolist() if i >= 0]
        return next_nodes, f"{feature.name} {why}: all branches, by their rows"
    if branches[level] < 0:
        return [], f"no training row here has {feature.phrase(level)}: the path ends"
    return [(int(branches[level]), 1.0)], ""


def _step(tree: Tree, node: int, part: float, ends: bool, note: str) -> Step:
    here = Node(tree, node)
    above = here.parted_by
    level = None if above is None else above.labels[int(tree.level[node])]
    return Step(
        feature=None if above is None else above.name,
        level=level,
        text=here.text,
        depth=here.depth,
        part=part,
        rows=here.rows,
        shares=tuple((here.counts / here.rows).tolist()),
        ends=ends,
        note=note,
    )
