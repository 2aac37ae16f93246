"""One case explained: the nodes that it comes by, and where it ends."""

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
    """One node on the way: what leads to it, its rows, and the classes' shares of them.

    `part` is the part of the case that comes here: less than 1 below a fork, where an answer is
    not known and the case goes down every branch. `ends` says that the part ends here, and `note`
    why the way forks here or ends early.
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
    """The way of one case down a tree, from all rows to its probabilities.

    Below a fork the branches follow one another, each with all that is below it. `probabilities`
    is the sum over the steps that end of their part times (n_c + s)/(N + s K).
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
        """The steps as plain text, at most `width` characters wide."""
        return show.path_text(self, width)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return show.path_html(self)


def trace(tree: Tree, table: Table) -> TreePath:
    """The path of a table's only row."""
    steps, waiting = [], [(0, 1.0)]
    codes = code_rows(table, tree.features)[0].tolist()
    while waiting:
        node, part = waiting.pop()
        onward, note = _follow(tree, node, codes, table)
        waiting += [(i, part * share) for i, share in reversed(onward)]
        steps.append(_step(tree, node, part, not onward, note))
    return TreePath(
        tuple(tree.classes.tolist()), tuple(steps), tree.predict(table)[0], tree.smoothing
    )


def _follow(
    tree: Tree, node: int, codes: list[int], table: Table
) -> tuple[list[tuple[int, float]], str]:
    """The nodes that come next with the share of each, and why there are many or none."""
    j = int(tree.feature[node])
    if j < 0:
        return [], ""
    level, feature = codes[j], tree.features[j]
    branches = tree.child[tree.first[node] : tree.first[node + 1]]
    if level == len(branches):
        given = any(part.value(table) is not None for part in feature.parts)
        why = f"{feature.verb} {feature.spell(table)} was {UNSEEN}" if given else "is missing"
        onward = [(i, float(tree.share[i])) for i in branches.tolist() if i >= 0]
        return onward, f"{feature.name} {why}: every branch, by its rows"
    if branches[level] < 0:
        return [], f"no row here has {feature.phrase(level)}: the way ends"
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
