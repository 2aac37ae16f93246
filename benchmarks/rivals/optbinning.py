"""optbinning: its MDLP on one numeric column, and its way to a scorecard on tables.

MDLP looks at no more than 32 candidates a split by default, so it does less than the textbook; it
also stops at a minimum of 5 rows a split and leaf.

On tables: optimal binning of every column (a mixed-integer programme each, at most 20 prebins of at
least 5% of the rows, so rare levels are pooled), then logistic regression on the weights of
evidence. It knows no pandas categories: they go in as text. Missing values and unseen categories
get the weight 0 by default; here missing has its own (`metric_missing="empirical"`).
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from benchmarks.rivals.fitted import categories


def mdlp() -> Any:
    from optbinning.binning.mdlp import MDLP

    return MDLP()


@dataclass(frozen=True)
class Binned:
    """Bins to weights of evidence to a logistic regression."""

    bins: Any
    ridge: Any

    def predict_proba(self, X: Any) -> Any:
        return self.ridge.predict_proba(weigh_bins(self.bins, X))

    def size(self) -> int:
        return len(pickle.dumps(self))


def weigh_bins(bins: Any, X: Any) -> Any:
    return bins.transform(as_objects(X), metric="woe", metric_missing="empirical").to_numpy()


def as_objects(X: Any) -> Any:
    return X.assign(**{name: X[name].astype(object) for name in categories(X)})


def fit(X: Any, y: Any) -> Binned:
    from optbinning import BinningProcess
    from sklearn.linear_model import LogisticRegression

    bins = BinningProcess([*X.columns], categorical_variables=categories(X))
    bins.fit(as_objects(X), y)
    return Binned(bins, LogisticRegression(max_iter=1000).fit(weigh_bins(bins, X), y))


RIVALS = {"optbinning": fit}
