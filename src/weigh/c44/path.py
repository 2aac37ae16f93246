"""The path of one case through the tree: its nodes, and the probabilities at its end."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from weigh.bins import label
from weigh.c44.tree import (
    MOST_CLASSES,
    MOST_LINES,
    Node,
    Tree,
    code_rows,
    indent,
    laplace,
    spell_shares,
    state_left_out,
    table_heads,
    weight,
)
from weigh.frames import Floats, Table
from weigh.layout import Grid, View
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
        return _path_view(self).to_text(width)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return _path_view(self).to_html()


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


def _path_view(path: TreePath) -> View:
    """Table of the path; of many classes, only the most probable are shown."""
    order = np.argsort(-path.probabilities, kind="stable")[:MOST_CLASSES]
    shown = sorted(order.tolist())
    straight = all(step.part == 1 for step in path.steps)
    indents = ["" if straight else indent(step.depth) for step in path.steps]
    lines = []
    for step, margin in islice(zip(path.steps, indents, strict=True), MOST_LINES):
        lines.append(
            (margin + _step_text(step), weight(step.rows), *spell_shares(step.shares, shown))
        )
        if step.note:
            lines.append((f"{margin}({step.note})",) + ("",) * (len(shown) + 1))
    lines.append(("Probability", "", *spell_shares(path.probabilities, shown)))
    formula = laplace(path.smoothing, len(path.classes))
    notes = [f"Shares are n/N of the rows; at the end of the path, the probability is {formula}."]
    if not straight:
        notes.append("The ends of the branches are averaged by the percentages in brackets.")
    notes += state_left_out(len(path.steps), path.classes, "steps")
    best = label(path.classes[int(order[0])])
    title = f"Path to {best}: share of each class at each step"
    grid = Grid(table_heads(path.classes, shown), tuple(lines))
    return View(title, (grid,), notes=tuple(notes))


def _step_text(step: Step) -> str:
    return step.text if step.part == 1 else f"{step.text} ({step.part:.1%})"
