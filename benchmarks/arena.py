"""EducatedNB as an entry of a contest with tuning: `python -m benchmarks.arena telco`.

TabArena and similar contests ask for an estimator with a search space. Each configuration is fitted
on all but one of eight folds, and hold-out predictions choose: the default, the best configuration
(tuned), and a weighted mean of several (ensemble). The error is 1 - AUC for two classes and the log
loss for more. The command runs sets with classes and needs WEIGH_DATA. `TunedEducated` also fits
numbers (`fit(..., numbers=True)`), where the error is the RMSE.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.metrics import log_loss, roc_auc_score, root_mean_squared_error
from sklearn.model_selection import KFold, ParameterGrid, StratifiedKFold

import weigh
from benchmarks.sets import prepare

SPACE = {
    "bins": ("fine", 8, 16, 64),
    "pairs": ("auto", 0, 5, 20),
    "max_levels": (None, 10, 50),
}
"""The values of each parameter that are tried; the first of each is the default."""

PARTS = ("default", "tuned", "ensemble")


def configurations(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """The default, and n - 1 other points of the search space in random order."""
    default = {name: values[0] for name, values in SPACE.items()}
    others = [found for found in ParameterGrid(SPACE) if found != default]
    order = np.random.default_rng(seed).permutation(len(others))
    return [default, *(others[i] for i in order[: n - 1])]


@dataclass(frozen=True)
class Task:
    """What is predicted: the classes, or None for numbers."""

    classes: tuple[Any, ...] | None

    def learner(self, configuration: dict[str, Any]) -> Any:
        numbers = self.classes is None
        return (weigh.EducatedRegressor if numbers else weigh.EducatedNB)(**configuration)

    def folds(self, n: int, seed: int) -> Any:
        kind = KFold if self.classes is None else StratifiedKFold
        return kind(n, shuffle=True, random_state=seed)

    def predict(self, model: Any, X: pd.DataFrame) -> np.ndarray:
        return model.predict(X) if self.classes is None else model.predict_proba(X)

    def error(self, y: np.ndarray, predicted: np.ndarray) -> float:
        if self.classes is None:
            return float(root_mean_squared_error(y, predicted))
        if len(self.classes) == 2:
            return 1 - float(roc_auc_score(y == self.classes[1], predicted[:, 1]))
        return float(log_loss(y, predicted, labels=[*self.classes]))


@dataclass
class Bagged:
    """A configuration fitted once for each fold, with the predictions of the rows left out."""

    task: Task
    models: list[Any]
    held_out: np.ndarray

    @classmethod
    def fit(
        cls, task: Task, configuration: dict[str, Any], X: Any, y: np.ndarray, splits: Sequence[Any]
    ) -> Bagged:
        shape = (len(y),) if task.classes is None else (len(y), len(task.classes))
        models, held_out = [], np.zeros(shape)
        for train, test in splits:
            models.append(task.learner(configuration).fit(X.iloc[train], y[train]))
            held_out[test] = task.predict(models[-1], X.iloc[test])
        return cls(task, models, held_out)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return np.mean([self.task.predict(model, X) for model in self.models], axis=0)


def choose_weights(
    task: Task, held_out: Sequence[np.ndarray], y: np.ndarray, steps: int = 25
) -> np.ndarray:
    """Weights of a mean of predictions, by adding the one that lowers the error most, repeatedly.

    The search starts from the best alone and ends if no further one lowers the error, so that the
    mean is never worse than the best on these rows.
    """
    chosen: list[int] = []
    least = np.inf
    while len(chosen) < steps:
        errors = [task.error(y, _mean(held_out, [*chosen, k])) for k in range(len(held_out))]
        if not min(errors) < least:
            break
        least = min(errors)
        chosen.append(int(np.argmin(errors)))
    return np.bincount(chosen, minlength=len(held_out)) / len(chosen)


def _mean(held_out: Sequence[np.ndarray], chosen: Sequence[int]) -> np.ndarray:
    return np.mean([held_out[k] for k in chosen], axis=0)


class TunedEducated(BaseEstimator):
    """EducatedNB, or EducatedRegressor for numbers, tuned over `SPACE` on hold-out folds.

    `weights_` has the weights of the configurations in each of the three parts of the contest.
    """

    def __init__(self, n_configurations: int = 8, n_folds: int = 8, random_state: int = 0) -> None:
        self.n_configurations = n_configurations
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: pd.DataFrame, y: Any, *, numbers: bool = False) -> TunedEducated:
        y = np.asarray(y)
        self.task_ = Task(None if numbers else tuple(np.unique(y).tolist()))
        self.configurations_ = configurations(self.n_configurations, self.random_state)
        splits = [*self.task_.folds(self.n_folds, self.random_state).split(X, y)]
        self.bagged_ = [Bagged.fit(self.task_, c, X, y, splits) for c in self.configurations_]
        held_out = [bagged.held_out for bagged in self.bagged_]
        self.errors_ = np.array([self.task_.error(y, found) for found in held_out])
        one = np.eye(len(held_out))
        chosen = one[0], one[self.errors_.argmin()], choose_weights(self.task_, held_out, y)
        self.weights_ = dict(zip(PARTS, chosen, strict=True))
        return self

    def predict(self, X: pd.DataFrame, part: str = "ensemble") -> np.ndarray:
        """Probabilities of classes, or numbers, of one of the three parts of the contest."""
        used = [(w, self.bagged_[k]) for k, w in enumerate(self.weights_[part]) if w]
        return sum(weight * bagged.predict(X) for weight, bagged in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--configurations", type=int, default=8)
    parser.add_argument("--folds", type=int, default=8)
    asked = parser.parse_args()
    print("set           part      error on 3 hold-out folds")
    for name in asked.sets:
        problem = prepare(name)
        y = np.asarray(problem.y)
        for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(problem.X, y):
            tuned = TunedEducated(asked.configurations, asked.folds)
            tuned.fit(problem.X.iloc[train], y[train])
            for part in PARTS:
                error = tuned.task_.error(y[test], tuned.predict(problem.X.iloc[test], part))
                print(f"{name:<13} {part:<9} {error:.4f}", flush=True)


if __name__ == "__main__":
    main()
