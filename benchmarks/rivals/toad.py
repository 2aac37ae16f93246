"""toad: ChiMerge bins, weights of evidence, logistic regression, as in its tutorial.

Its Combiner merges neighbours by chi-squared until too few rows are left in none (`min_samples`
5%, as its tutorial has it); levels of text are put in the order of their event rates and merged the
same way. A level that was not seen gets the smallest weight of its column. Gaps in numbers have a
bin of their own by `empty_separate`.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from benchmarks.rivals.fitted import as_text


@dataclass(frozen=True)
class Merged:
    """Bins to weights of evidence to a logistic regression."""

    bins: Any
    weights: Any
    ridge: Any

    def predict_proba(self, X: Any) -> Any:
        return self.ridge.predict_proba(self.weights.transform(self.bins.transform(as_text(X))))

    def size(self) -> int:
        return len(pickle.dumps(self))


def fit(X: Any, y: Any) -> Merged:
    import toad
    from sklearn.linear_model import LogisticRegression

    bins = toad.transform.Combiner()
    bins.fit(as_text(X), y, method="chi", min_samples=0.05, empty_separate=True)
    binned = bins.transform(as_text(X))
    weights = toad.transform.WOETransformer()
    seen = weights.fit_transform(binned, y)
    return Merged(bins, weights, LogisticRegression(max_iter=1000).fit(seen, y))


RIVALS = {"toad": fit}
