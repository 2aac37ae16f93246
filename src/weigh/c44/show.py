"""Trees and paths as text, HTML and dataframe, with one line per node, indented by depth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.bins import label, printable
from weigh.frames import Floats
from weigh.layout import Grid, View
from weigh.sheet import probability

if TYPE_CHECKING:
    from weigh.c44.path import Step, TreePath
    from weigh.c44.tree import Node, Tree

MOST_LINES, MOST_CLASSES, MOST_INDENTS = 200, 6, 12


# ---------------------------------------------------------------- the tree


def tree_text(tree: Tree, width: int) -> str:
    """Tree as indented text."""
    return _tree_view(tree).to_text(width)


def tree_html(tree: Tree) -> str:
    """Tree as an HTML table."""
    return _tree_view(tree).to_html()


def _tree_view(tree: Tree) -> View:
    shown = [*range(len(tree.classes))][:MOST_CLASSES]
    lines = [
        (_indent(node.depth) + node.text, weight(node.rows), *_numbers(node.probabilities, shown))
        for node in islice(tree, MOST_LINES)
    ]
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves:,} leaves"
    title = f"Tree of {leaves}, depth {tree.depths.max()}: the probability of each class"
    notes = [f"The probability is {laplace(tree.smoothing, len(tree.classes))}."]
    notes += _left_out(len(tree), tree.classes.tolist(), "nodes")
    grid = Grid(_heads(tree.classes.tolist(), shown), tuple(lines))
    return View(title, (grid,), notes=tuple(notes))


def node_text(node: Node) -> str:
    """Describe one node in one line."""
    classes = node.tree.classes.tolist()[:MOST_CLASSES]
    numbers = zip(classes, node.probabilities.tolist(), strict=False)
    chances = ", ".join(f"{label(c)} {probability(p)}" for c, p in numbers)
    split = "leaf" if node.feature is None else f"split on {node.feature}"
    return printable(f"{node.text}: {weight(node.rows)} rows, {split} ({chances})")


def columns(tree: Tree) -> dict[str, list[Any]]:
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


# ---------------------------------------------------------------- the path


def path_text(path: TreePath, width: int) -> str:
    """Path as text."""
    return _path_view(path).to_text(width)


def path_html(path: TreePath) -> str:
    """The path as an HTML table."""
    return _path_view(path).to_html()


def _path_view(path: TreePath) -> View:
    """Table of the path; of many classes, only the most probable are shown."""
    order = np.argsort(-path.probabilities, kind="stable")[:MOST_CLASSES]
    shown = sorted(order.tolist())
    straight = all(step.part == 1 for step in path.steps)
    indents = ["" if straight else _indent(step.depth) for step in path.steps]
    lines = []
    for step, indent in islice(zip(path.steps, indents, strict=True), MOST_LINES):
        lines.append((indent + _step_text(step), weight(step.rows), *_numbers(step.shares, shown)))
        if step.note:
            lines.append((f"{indent}({step.note})",) + ("",) * (len(shown) + 1))
    lines.append(("Probability", "", *_numbers(path.probabilities, shown)))
    formula = laplace(path.smoothing, len(path.classes))
    notes = [f"Shares are n/N of the rows; at the end of the path, the probability is {formula}."]
    if not straight:
        notes.append("The ends of the branches are averaged by the percentages in brackets.")
    notes += _left_out(len(path.steps), path.classes, "steps")
    best = label(path.classes[int(order[0])])
    title = f"Path to {best}: share of each class at each step"
    grid = Grid(_heads(path.classes, shown), tuple(lines))
    return View(title, (grid,), notes=tuple(notes))


def _step_text(step: Step) -> str:
    return step.text if step.part == 1 else f"{step.text} ({step.part:.1%})"


# ---------------------------------------------------------------- cells


def _indent(depth: int) -> str:
    """Indentation of two spaces per step; deep nodes show their depth as a number instead."""
    number = f"[{depth}] " if depth > MOST_INDENTS else ""
    return "  " * min(depth, MOST_INDENTS) + number


def _heads(classes: Sequence[Any], shown: list[int]) -> tuple[str, ...]:
    return ("", "Rows", *(label(classes[k]) for k in shown))


def _numbers(row: Sequence[float] | Floats, shown: list[int]) -> list[str]:
    return [_share(float(row[k])) for k in shown]


def _share(p: float) -> str:
    return f"{p:.0f}" if p in (0, 1) else probability(p)


def _left_out(n_lines: int, classes: Sequence[Any], what: str) -> list[str]:
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
