"""LightGBM, tuned: eight settings by five inner folds each, with early stopping.

Leaves 4, 8, 16 or 31 and a learning rate of 0.03 or 0.1; rows and columns sampled at 0.8, at least
10 rows in a leaf, an L2 penalty of 1, categories as pandas categories. For every setting the mean
loss of the folds is followed tree by tree until 50 trees bring nothing; the best setting and number
of trees are then fitted on all rows. The seconds are those of all this.

Categories with few rows are pooled by its own rules (`min_data_per_group` 100, `cat_smooth` 10),
left as they come. It orders all categories of the frame, seen or not; those of test rows alone
have no training row, so nothing leaks. `deterministic` and one thread make its runs repeatable.

The table of speed has 100 trees of 31 leaves, its defaults but for the thread: choosing among eight
settings would make it forty times as slow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.rivals.fitted import categories

LEAVES, RATES = (4, 8, 16, 31), (0.03, 0.1)
MOST_TREES, PATIENCE, INNER_FOLDS = 3000, 50, 5
SHARED = {
    "objective": "binary",
    "min_data_in_leaf": 10,
    "lambda_l2": 1.0,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "feature_fraction": 0.8,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
    "verbosity": -1,
}


@dataclass(frozen=True)
class Boosted:
    """A booster, which predicts the probability of 1 alone."""

    booster: Any

    def predict_proba(self, X: Any) -> Any:
        p = self.booster.predict(X, num_threads=1)
        return np.column_stack([1 - p, p])

    def size(self) -> int:
        return len(self.booster.model_to_string().encode())


@dataclass(frozen=True)
class _Choice:
    loss: float
    trees: int
    parameters: dict[str, Any]


def fit(X: Any, y: Any) -> Boosted:
    import lightgbm

    settings = [
        SHARED | {"num_leaves": leaves, "learning_rate": rate}
        for leaves in LEAVES
        for rate in RATES
    ]
    tried = [_try(X, y, parameters) for parameters in settings]
    best = min(tried, key=lambda choice: choice.loss)
    return Boosted(lightgbm.train(best.parameters, _data(X, y), num_boost_round=best.trees))


def _try(X: Any, y: Any, parameters: dict[str, Any]) -> _Choice:
    import lightgbm
    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0)
    found = lightgbm.cv(
        parameters,
        _data(X, y),
        num_boost_round=MOST_TREES,
        folds=[*folds.split(X, y)],
        metrics="binary_logloss",
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )
    losses = found["valid binary_logloss-mean"]
    return _Choice(losses[-1], len(losses), parameters)


def _data(X: Any, y: Any) -> Any:
    import lightgbm

    return lightgbm.Dataset(X, y, categorical_feature=categories(X))


def fit_plain(X: Any, y: Any) -> Boosted:
    import lightgbm

    parameters = {"objective": "binary", "num_threads": 1, "seed": 0, "verbosity": -1}
    return Boosted(lightgbm.train(parameters, _data(X, y)))


RIVALS = {"LightGBM": fit_plain}
