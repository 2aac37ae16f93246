"""Orange: its naive Bayes, after Fayyad and Irani's discretization (Orange's EntropyMDL).

It has tables of its own: every category and number becomes a float of a `Table`, which is part of
fitting and predicting here, as anyone with a data frame has to do it. A category not seen in
training is missing to it, and missing values are left out of the product.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.rivals.fitted import categories


@dataclass(frozen=True)
class Tabled:
    """A model and the columns that its tables have."""

    model: Any
    columns: Any

    def predict_proba(self, X: Any) -> Any:
        return self.model(to_table(X, np.full(len(X), np.nan), self.columns), 1)

    def size(self) -> int:
        return len(pickle.dumps(self))


def to_table(X: Any, y: Any, columns: Any) -> Any:
    from Orange.data import Table

    values = [
        _codes(X[column.name], column) if column.is_discrete else X[column.name].to_numpy(float)
        for column in columns.attributes
    ]
    return Table.from_numpy(columns, np.column_stack(values), np.asarray(y, float))


def _codes(column: Any, variable: Any) -> Any:
    places = {level: i for i, level in enumerate(variable.values)}
    by_category = np.array([places.get(str(c), np.nan) for c in column.cat.categories] + [np.nan])
    return by_category[column.cat.codes]


def fit(X: Any, y: Any) -> Tabled:
    from Orange.classification import NaiveBayesLearner
    from Orange.data import ContinuousVariable, DiscreteVariable, Domain
    from Orange.preprocess import Discretize
    from Orange.preprocess.discretize import EntropyMDL

    named = categories(X)
    variables = [
        DiscreteVariable(name, values=[str(c) for c in X[name].cat.categories])
        if name in named
        else ContinuousVariable(name)
        for name in X.columns
    ]
    columns = Domain(variables, DiscreteVariable("target", values=("0", "1")))
    steps = [Discretize(method=EntropyMDL())]
    return Tabled(NaiveBayesLearner(preprocessors=steps)(to_table(X, y, columns)), columns)


RIVALS = {"Orange": fit}
