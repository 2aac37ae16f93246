"""Fayyad & Irani's discretization as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from weigh.bins.cuts import mdl_cuts
from weigh.bins.levels import Feature
from weigh.frames import Floats, Numbers, Sample, label_sample, match, read, set_names


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
