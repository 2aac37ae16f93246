"""The classifier: a tree grown for its probabilities."""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np
from sklearn.base import ClassifierMixin

from weigh.base import TableEstimator, read_sample
from weigh.bins import label
from weigh.c44.path import TreePath, trace
from weigh.c44.tree import Tree, grow
from weigh.errors import Parameter, ParameterError
from weigh.evidence import rows_added
from weigh.frames import Floats, Table
from weigh.parameters import is_number

TABLES_ONLY = ("balance_sheet", "decision_function", "evidence_", "merge", "with_prior")


class C44Classifier(ClassifierMixin, TableEstimator):
    """C4.4: a C4.5 tree grown for its probabilities, and explained as a path.

    P(c | leaf) = (n_c + s)/(N + s K),   split: max gain ratio = gain/(split information)

    Unpruned and uncollapsed, with Laplace's correction at the leaves (Provost & Domingos 2003;
    the rules of splitting are those of Quinlan 1993). Numbers become intervals first, and a split
    has one branch for every level of its feature.

    Of the features not yet used on the way, those may part a node of several classes that give two
    or more branches `min_rows` rows and whose gain is at least the mean of the gains of these. The
    one of best gain ratio does, the first column of equals. A row whose level is not known counts
    in the split information as if it had a level of its own, and goes down every branch with the
    part of its weight that the branch has in the rows that are known; so it does when predicting. A
    level that occurs in training, but not in this node, gets the node's own probabilities.

    Parameters
    ----------
    smoothing : float or "1/n", default=1.0
        Rows added to every class of every leaf, s. 0 is plain frequency; "1/n" is one over the
        number of rows.
    bins : "mdl", "fine", int or dict, default="mdl"
        How numbers become intervals: Fayyad & Irani's splits, up to 128 levels of about equally
        many rows, a number of quantile bins, or a dict from column to one of these or to cuts.
    categorical_features : "from_dtype", "all", list or dict, default="from_dtype"
        Columns that hold categories: by their type, all, names or positions, or a dict from column
        to its levels (a list in order, a set without one).
    missing : "level", "skip" or dict, default="skip"
        A missing value is a level of its own, or goes down every branch in part.
    special_values : dict, optional
        Codes of numeric columns that are levels of their own, such as {"income": [-999]}.
    max_levels : int or dict, optional
        The most frequent values of a column of categories that keep levels of their own, for all
        columns or by name; the others, and values not seen in training, share the level `other`.
    crosses : list, optional
        Pairs of columns joined into one.
    min_rows : float, default=2
        The rows that two branches of every split must have.

    Attributes
    ----------
    tree_ : Tree
        The nodes, which print as indented text.
    n_leaves_ : int
        The number of leaves.
    depth_ : int
        The most features on the way to a leaf.
    classes_ : ndarray
        The class labels.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        Their names, where the table had names.

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

    _bodies = ("tree",)
    tree_: Tree

    def __init__(
        self,
        *,
        smoothing: Any = 1.0,
        bins: Any = "mdl",
        categorical_features: Any = "from_dtype",
        missing: Any = "skip",
        special_values: Any = None,
        max_levels: Any = None,
        crosses: Any = None,
        min_rows: float = 2,
    ) -> None:
        self.smoothing = smoothing
        self.bins = bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.special_values = special_values
        self.max_levels = max_levels
        self.crosses = crosses
        self.min_rows = min_rows

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table
            Any dataframe, array or list of dicts.
        y : array or str
            Class labels, or the name of the column of X that holds them.
        sample_weight : array or str, optional
            Row weights, or the name of the column of X that holds them.
        """
        least = self._least()
        sample = read_sample(self, X, y, sample_weight)
        tally = self._tally(sample)
        s = rows_added(self.smoothing, tally.class_counts.sum())
        tree = grow(sample, tuple(table.feature for table in tally.tables), s, least)
        self._name(sample.table.names, sample.table.named)
        return self._keep(tree)

    def _least(self) -> float:
        if not (is_number(self.min_rows) and 0 < self.min_rows < np.inf):
            raise ValueError(f"min_rows must be a number above 0, got {self.min_rows!r}")
        return float(self.min_rows)

    def _keep(self, tree: Tree) -> Self:
        self.tree_, self.n_leaves_, self.depth_ = tree, tree.n_leaves, int(tree.depths.max())
        return super()._keep(tree)

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of `classes_`."""
        table = self._read(X)
        return self.tree_.predict(table)

    def predict_log_proba(self, X: Any) -> Floats:
        """The log of the probability of each class; -inf for 0, which `smoothing=0` can give."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most probable class, the first of equals."""
        winner = self.predict_proba(X).argmax(axis=1)
        labels: np.ndarray[Any, Any] = self.tree_.classes[winner]
        return labels

    def _score_columns(self, table: Table) -> dict[str, Any]:
        """The class and the probabilities of every row, as columns."""
        shares = self.predict_proba(table)
        names = [f"probability_{label(value)}" for value in self.classes_.tolist()]
        found = {"prediction": self.classes_[shares.argmax(axis=1)]}
        return found | dict(zip(names, shares.T, strict=True))

    def _explain_case(self, row: Any, pos_label: Any, against: Any) -> TreePath:
        if pos_label is not None or against is not None:
            raise ParameterError(
                "a path shows every class: leave ",
                Parameter("pos_label"),
                " and ",
                Parameter("against"),
                " out",
            )
        return self.path(row)

    def path(self, row: Any) -> TreePath:
        """The way of one case down the tree.

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
            text += ": a tree is no table of weights; path(row) explains a case, and EducatedNB "
            text += "has a table"
        raise AttributeError(text)
