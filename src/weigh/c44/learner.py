"""C44Classifier: a decision tree grown for its probabilities, and the path of a case through it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NoReturn, Self

import numpy as np

from weigh.arrays import Floats
from weigh.base import BinnedEstimator, Classifier, read_sample, warn_columns
from weigh.bins import label
from weigh.c44.tree import (
    MOST_CLASSES,
    MOST_LINES,
    Node,
    Tree,
    code_rows,
    grow,
    indent,
    laplace,
    spell_shares,
    state_left_out,
    table_heads,
    weight,
)
from weigh.evidence import record, rows_added
from weigh.evidence.model import score_names
from weigh.frames import Table
from weigh.layout import Grid, Shown, View
from weigh.parameters import is_number
from weigh.sheet import UNSEEN, refuse_classes


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


@dataclass(frozen=True, eq=False, repr=False)
class TreePath(Shown):
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

    def view(self) -> View:
        """The path as a table."""
        return _path_view(self)


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
        told = feature.phrase_values(table)
        why = f"{told} was {UNSEEN}" if given else f"{feature.name} is missing"
        next_nodes = [(i, float(tree.share[i])) for i in branches.tolist() if i >= 0]
        return next_nodes, f"{why}: all branches, by their rows"
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
        part = "" if step.part == 1 else f" ({step.part:.1%})"
        own = spell_shares(step.shares, shown)
        lines.append((f"{margin}{step.text}{part}", weight(step.rows), *own))
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


TABLES_ONLY = ("balance_sheet", "decision_function", "evidence_", "merge", "with_prior")


@dataclass(kw_only=True, eq=False, repr=False)
class C44Classifier(Classifier, BinnedEstimator):
    """C4.4: a C4.5 tree grown for its probabilities, and explained as a path.

    The model is::

        P(c | leaf) = (n_c + s)/(N + s K),   split: max gain ratio = gain/(split information)

    The tree is not pruned, and leaves have Laplace's correction (Provost & Domingos 2003; splits
    follow Quinlan 1993). Numeric columns are binned first, and a split has one branch per level.

    A feature can split a node if it is not yet used on the path, gives at least two branches
    `min_rows` rows, and has at least the mean gain of such features. Of these, the feature with the
    highest gain ratio splits; the first column wins a tie. A row whose level is not known follows
    every branch, in training and in prediction. Its weight is divided by the branches' shares of
    the known rows. In the split information, not known counts as one more level. A level that
    occurs in training, but not in the node, gets the probabilities of the node.

    Parameters
    ----------
    smoothing : float or "1/n", default=1.0
        Pseudo-count s added to every class of every leaf. 0 gives plain frequencies; "1/n" is one
        over the number of rows.
    bins : "mdl", "fine", int or dict, default="mdl"
        Bins of numeric columns: "mdl" (Fayyad & Irani), "fine" (about 128 levels of about equal
        size), a number of quantile bins, or a dict from column to one of these or to cut points.
    categorical_features : "from_dtype", "all", list or dict, default="from_dtype"
        Columns of categories: by their type, all, names or positions, or a dict from column to its
        levels (a list is ordered, a set is not).
    missing : "level", "skip" or dict, default="skip"
        "level": missing is a level of its own. "skip": a row with a missing value follows every
        branch, with a share of its weight in each.
    special_values : list or dict, optional
        Codes that become levels of their own: of all numeric columns, such as [-9, -8], or by
        column, such as {"income": [-999]}. A code without training rows weighs nothing.
    max_levels : int or dict, optional
        Number of the most frequent categories that keep their own levels, for all columns or by
        name. The others, and values never seen in training, share the level `other`.
    crosses : list, optional
        Pairs of columns joined into one.
    min_rows : float, default=2
        Smallest number of rows that two branches of a split must have.

    Attributes
    ----------
    tree_ : Tree
        The nodes, which print as indented text.
    n_leaves_ : int
        The number of leaves.
    depth_ : int
        Largest number of features on the path to a leaf.
    classes_ : ndarray
        The class labels.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table has names.

    Examples
    --------
    >>> from weigh import C44Classifier
    >>> from weigh.datasets import titanic
    >>> model = C44Classifier().fit(titanic(), "Survived")
    >>> path = model.path({"Class": "3rd", "Sex": "Female", "Age": "Child"})
    >>> [str(step) for step in path.steps]
    ['all rows', 'Sex = Female', 'Class = 3rd', 'Age = Child']
    >>> path.probabilities.round(2)
    array([0.55, 0.45])
    """

    missing: Any = "skip"
    crosses: Any = None
    min_rows: float = 2

    _bodies = ("tree",)
    tree_: Tree = field(init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table
            Any dataframe, array or list of dicts.
        y : array or str
            Class labels, or the name of their column in X.
        sample_weight : array or str, optional
            Row weights, or the name of their column in X.
        """
        if not (is_number(self.min_rows) and 0 < self.min_rows < np.inf):
            raise ValueError(f"min_rows must be a number above 0, got {self.min_rows!r}")
        sample = read_sample(self, X, y, sample_weight)
        tally = self._tally(sample)
        s = rows_added(self.smoothing, tally.class_counts.sum())
        tree = grow(sample, tuple(table.feature for table in tally.tables), s, float(self.min_rows))
        warn_columns(tree.features, sample.table, categorical=self.categorical_features)
        self._name(sample.table.names, sample.table.named)._keep(tree)
        self.provenance_ = record(sample.table, y)
        return self

    def _keep(self, tree: Tree) -> Self:
        self.tree_, self.n_leaves_, self.depth_ = tree, tree.n_leaves, int(tree.depths.max())
        return super()._keep(tree)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, in the order of `classes_`."""
        table = self._read(X)
        return self.tree_.predict(table)

    def predict_log_proba(self, X: Any) -> Floats:
        """Log of the probability of each class; -inf for 0, which `smoothing=0` can give."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Most probable class of each row; the first one in a tie."""
        winner = self.predict_proba(X).argmax(axis=1)
        labels: np.ndarray[Any, Any] = self.tree_.classes[winner]
        return labels

    def _score_columns(self, table: Table) -> dict[str, Any]:
        """Predicted class and probabilities of every row, as columns."""
        shares = self.predict_proba(table)
        names = score_names(self.classes_.tolist())[1]
        found = {"prediction": self.classes_[shares.argmax(axis=1)]}
        return found | dict(zip(names, shares.T, strict=True))

    def _explain_case(self, row: Any, pos_label: Any, against: Any) -> TreePath:
        refuse_classes("a path shows every class", pos_label, against)
        return self.path(row)

    def path(self, row: Any) -> TreePath:
        """Path of one case through the tree.

        Parameters
        ----------
        row : mapping, sequence or table of one row
            The case. A mapping may leave out answers that are not known.
        """
        table = self._read_one(row, "a path")
        return trace(self.tree_, table)

    def __getattr__(self, name: str) -> NoReturn:
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name in TABLES_ONLY:
            text += ": a tree has no table of weights; path(row) explains a case, and EducatedNB "
            text += "has tables"
        raise AttributeError(text)
