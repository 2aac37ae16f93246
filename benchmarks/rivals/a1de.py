"""A1DE (AODE): naive Bayes models that each condition on one more feature, averaged.

Webb, Boughton and Wang (2005); probabilities as in Webb and others (2012), with m-estimates, m = 1:

    P(y, x) = mean over features i of P(y, x_i) prod over j of P(x_j | y, x_i)
    P(y, x_i)       = (n(y, x_i) + 1/(K v_i)) / (n + 1)
    P(x_j | y, x_i) = (n(y, x_i, x_j) + 1/v_j) / (n(y, x_i) + 1)

K is the number of classes and v_j the number of values of a feature. A feature conditions only rows
whose value occurs in training. It takes categories alone, without missing values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from benchmarks.rivals.fitted import Pickled

Floats: TypeAlias = np.ndarray[Any, Any]
PARTS = 1 << 22
"""Numbers of one part of a prediction."""


@dataclass(frozen=True)
class OneDependence:
    """Counts of two levels together by class, with the levels of all features in one row."""

    counts: Floats  # class by level by level
    sizes: Floats  # values of each feature
    n_rows: int

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes, one row each."""
        at = codes_of(X) + np.cumsum(self.sizes) - self.sizes
        step = max(PARTS // (len(self.counts) * at.shape[1] ** 2), 1)
        parts = [self._predict(at[start : start + step]) for start in range(0, len(at), step)]
        return np.concatenate(parts)

    def _predict(self, at: Floats) -> Floats:
        d, known = at.shape[1], self.counts.sum(axis=0).diagonal()[at] > 0
        together = self.counts[:, at[:, :, None], at[:, None, :]]
        alone = self.counts[:, at, at]
        own = np.log((alone + 1 / (len(self.counts) * self.sizes)) / (self.n_rows + 1))
        others = np.log((together + 1 / self.sizes) / (alone[..., None] + 1))
        others[..., np.arange(d), np.arange(d)] = 0.0
        logs = np.where(known | ~known.any(axis=1, keepdims=True), own + others.sum(-1), -np.inf)
        joint = np.logaddexp.reduce(logs, axis=2).T
        return np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))


def codes_of(X: Any) -> Floats:
    """The codes of a frame of categories."""
    return np.column_stack([column.cat.codes for _, column in X.items()]).astype(np.int64)


def fit(X: Any, y: Any) -> Pickled:
    codes, sizes = codes_of(X), np.array([len(column.cat.categories) for _, column in X.items()])
    marks = np.zeros((len(codes), sizes.sum()))
    marks[np.arange(len(codes))[:, None], codes + np.cumsum(sizes) - sizes] = 1.0
    counts = [marks[y == label].T @ marks[y == label] for label in range(y.max() + 1)]
    return Pickled(OneDependence(np.array(counts), sizes, len(codes)))
