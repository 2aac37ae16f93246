"""Transformers for other models: weights of evidence of levels, and bins by class entropy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.stats import chi2
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from weigh.arrays import Floats
from weigh.base import BinnedEstimator, read_sample, remember, warn_columns
from weigh.bins import label
from weigh.bins.cuts import mdl_cuts
from weigh.bins.levels import Feature
from weigh.evidence import (
    Evidence,
    FeatureTable,
    flip,
    plain_shares,
    plain_woe,
    share_counts,
    weigh_tally,
)
from weigh.frames import Numbers, Sample, build, label_sample, match, read, set_names
from weigh.sheet import find_class


@dataclass(kw_only=True, eq=False, repr=False)
class WeightOfEvidence(TransformerMixin, BinnedEstimator):
    """Replace each column by the weight of evidence (WoE) of its levels.

    WoE(v) = ln(P(v|positive)/P(v|negative)),   P(v|c) = n_vc/N_c

    n_vc counts the rows of level v and class c. The columns then go into a model of your own, such
    as a logistic regression. A level without rows of one class has half a row added to both its
    counts, or `smoothing` adds to all levels. A missing value is a level where training had missing
    values. Values that training never saw, and missing values where it had none, get 0.

    Parameters
    ----------
    smoothing : float or "1/n", default=0
        Pseudo-count added to each level, as in `EvidenceNB`. With 0 only levels without rows of a
        class are changed.
    bins : "mdl", "fine", int, Binning or dict, default="mdl"
        Bins of numeric columns, as in `EvidenceNB`.
    categorical_features : "from_dtype", "all", list or dict, default="from_dtype"
        Columns that hold categories.
    missing : "level", "skip" or dict, default="level"
        A missing value is a level of its own, or gets 0.
    special_values : list or dict, optional
        Codes that become levels of their own: of all numeric columns, such as [-9, -8], or by
        column, such as {"income": [-999]}. A code without training rows weighs nothing.
    max_levels : int or dict, optional
        Number of the most frequent categories of a column that keep their own levels.
    pos_label : label, optional
        Positive class, which positive WoE favours. Default: `classes_[1]`. Credit scoring mostly
        prints ln(share of goods/share of bads): name the good class.

    Attributes
    ----------
    evidence_ : Evidence
        The levels with their weights and counts.
    table_ : table
        One row per level: rows, rows of each class, WoE, its standard error, and its part of the
        information value. The error is sqrt(1/n_v1 - 1/N_1 + 1/n_v0 - 1/N_0).
    information_ : table
        One row per column: its information value, IV = sum of (P(v|1) - P(v|0)) WoE(v), and a test
        that the classes have the same levels: IV N_1 N_0/(N_1 + N_0) is chi-squared with one degree
        of freedom less than levels. Bins that were found with the classes (`"mdl"`, `Binning`) make
        the p-value too small; quantile bins and categories do not.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> X, y = people.drop_columns(["Survived"]), people["Survived"].to_pylist()
    >>> woe = weigh.WeightOfEvidence().fit(X, y)
    >>> woe.transform([{"Class": "1st", "Sex": "Female", "Age": None}]).round(3)
    array([[1.249, 1.744, 0.   ]])
    >>> [round(iv, 3) for iv in woe.information_["information_value"].to_pylist()]
    [0.375, 0.925, 0.04]
    >>> model = make_pipeline(weigh.WeightOfEvidence(), LogisticRegression()).fit(X, y)
    >>> round(model.score(X, y), 3)
    0.778
    """

    smoothing: Any = 0
    pos_label: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the levels of every column, and their weights.

        Parameters
        ----------
        X : table
            Any dataframe, array or list of dicts.
        y : array or str
            Labels of two classes, or the name of their column in X.
        sample_weight : array or str, optional
            Row weights, or the name of their column.
        """
        sample = read_sample(self, X, y, sample_weight)
        if len(sample.classes) > 2:
            raise ValueError(
                "Only binary classification is supported: the weight of evidence is about one "
                f"class against another, and {sample.target} holds {len(sample.classes)} classes "
                f"({sample.classes.tolist()[:6]})"
            )
        tally = self._tally(sample)
        evidence = weigh_tally(tally, self.smoothing)
        if self.smoothing == 0:
            plain = (  # levels without rows of a class get half a row of each
                replace(table, by_class=plain_woe(table.counts)[:, None], variances=None)
                for table in evidence
            )
            evidence = replace(evidence, tables=tuple(plain))
        if find_class(sample.classes.tolist(), self.pos_label, 1) == 0:
            evidence = flip(evidence)
        kinds = self.categorical_features
        warn_columns(evidence.features, sample.table, evidence.tables, kinds)
        self._name(sample.table.names, sample.table.named)
        self._keep(remember(evidence, sample.table))
        self.classes_ = sample.classes
        return self

    @property
    def evidence_(self) -> Evidence:
        """The levels with their weights and counts."""
        if not hasattr(self, "_learnt"):
            raise AttributeError("this WeightOfEvidence has no evidence_ before it is fitted")
        return self._learnt  # type: ignore[no-any-return]

    def transform(self, X: Any) -> Floats:
        """The weight of evidence of each value: one column for each column of X."""
        table = self._read(X)
        return self.evidence_.contributions(table)[:, :, 0]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """The names of the columns, which are those of X."""
        return np.array(self._column_names(), dtype=object)

    @property
    def table_(self) -> Any:
        """One row per level, with counts, WoE and its standard error."""
        found: dict[str, list[Any]] = {"feature": [], "level": [], "rows": []}
        names = [f"rows of {label(c)}" for c in self.evidence_.classes.tolist()]
        found |= {name: [] for name in (*names, "woe", "error", "iv")}
        for table in self.evidence_:
            shares = _shares(table)
            columns = [table.counts.sum(axis=1), *table.counts.T, table.by_class[:, 0]]
            columns += [standard_errors(table), (shares[:, 1] - shares[:, 0]) * columns[-1]]
            found["feature"] += [table.name] * len(shares)
            found["level"] += table.labels
            for name, column in zip([*found][2:], columns, strict=True):
                found[name] += column.tolist()
        return build(found, self.evidence_.backend)

    @property
    def information_(self) -> Any:
        """One row per column, with its information value and a test of it."""
        tests = [measure_information(table) for table in self.evidence_]
        names = ("information_value", "statistic", "degrees_of_freedom", "p_value")
        found: dict[str, list[Any]] = {"feature": [*self.evidence_.names]}
        found |= {name: [test[name] for test in tests] for name in names}
        return build(found, self.evidence_.backend)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def _shares(table: FeatureTable) -> Floats:
    """P(v|c) of every level and class, 0 of a level without rows."""
    plain = table.smoothing == 0
    shares = plain_shares(table.counts) if plain else share_counts(table, table.smoothing)
    return np.where(table.counts.sum(axis=1, keepdims=True) > 0, shares, 0.0)


def standard_errors(table: FeatureTable) -> Floats:
    """sqrt(1/n_v1 - 1/N_1 + 1/n_v0 - 1/N_0): the error of ln(P(v|1)/P(v|0)) in large samples."""
    shares, totals = _shares(table), table.counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = (1 / shares - 1) / totals
    return np.asarray(np.sqrt(np.maximum(variances.sum(axis=1), 0.0)))


def measure_information(table: FeatureTable) -> dict[str, float]:
    """The information value, and whether chance alone could give it (Kullback 1959, ch. 6).

    IV N_1 N_0/(N_1 + N_0) is chi-squared with one degree of freedom less than levels, where both
    classes have the same distribution of levels.
    """
    shares, (negative, positive) = _shares(table), table.counts.sum(axis=0)
    value = float((shares[:, 1] - shares[:, 0]) @ table.by_class[:, 0])
    freedom = max(int(table.counts.any(axis=1).sum()) - 1, 0)
    statistic = value * negative * positive / max(negative + positive, np.finfo(float).tiny)
    return {
        "information_value": value,
        "statistic": float(statistic),
        "degrees_of_freedom": freedom,
        "p_value": float(chi2.sf(statistic, freedom)) if freedom else 1.0,
    }


class MDLDiscretizer(TransformerMixin, BaseEstimator):
    """Bin numeric columns by class entropy with an MDL stopping rule (Fayyad & Irani 1993).

    Columns are split recursively at the point of lowest class entropy, while the minimum
    description length criterion accepts the split. A cut point is the midpoint of two neighbouring
    distinct values; bins include their upper limit. Missing values stay missing.

    Attributes
    ----------
    cuts_ : dict of str to ndarray
        The cut points of each column.

    Examples
    --------
    >>> import numpy as np
    >>> from weigh import MDLDiscretizer
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> y = X[:, 0] > 24
    >>> MDLDiscretizer().fit(X, y).cuts_
    {'x0': array([24.5])}
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the cut points of every column.

        Parameters
        ----------
        X : table
            Any dataframe or array of numbers.
        y : array or str
            Class labels, or the name of the column that holds them.
        sample_weight : array or str, optional
            Row weights, or the name of their column.
        """
        sample = label_sample(read(X).to_learn_from(), y, sample_weight)
        names = sample.table.names
        self.cuts_ = {name: self._cut(sample, name) for name in names}
        return set_names(self, names, sample.table.named)  # type: ignore[no-any-return]

    def transform(self, X: Any) -> Floats:
        """The bin of each value, numbered from 0; NaN for missing values."""
        check_is_fitted(self)
        named = hasattr(self, "feature_names_in_")
        table = match(read(X), tuple(self.cuts_), named, type(self).__name__)
        columns = []
        for name, cuts in self.cuts_.items():
            numbers = table.numbers(name).values
            codes = Feature(name, cuts=tuple(cuts.tolist())).place(Numbers(numbers)).codes
            columns.append(np.where(np.isnan(numbers), np.nan, codes))
        return np.column_stack(columns)

    def _cut(self, sample: Sample, name: str) -> Floats:
        values = sample.table.numbers(name).values
        return np.array(mdl_cuts(values, sample.labels, sample.weight, len(sample.classes)))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """The names of the columns."""
        check_is_fitted(self)
        return np.array([*self.cuts_], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags
