"""Whether the intervals of `weigh.compare` cover what they say: `python -m benchmarks.paired`.

Tables are drawn again and again, two learners are compared on five folds, and the interval of the
difference of their losses is held against the true one: the mean difference, on 20,000 new rows, of
models of so many training rows. Beside the interval from the rows' differences stands Nadeau &
Bengio's (2003) from those of the folds, with t of four degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import t
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from weigh.comparison.differences import RowScores
from weigh.comparison.run import run_learner
from weigh.comparison.task import Asked, ClassTask, Task
from weigh.metrics import loss_bits

FOLDS, COVERAGE = 5, 0.95
LEARNERS = {
    "logistic": LogisticRegression(),
    "ridge": LogisticRegression(C=0.05),
    "naive": GaussianNB(),
    "tree": DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
}
PAIRS = (("logistic", "ridge"), ("logistic", "naive"), ("ridge", "naive"), ("logistic", "tree"))


@dataclass
class Tried:
    value: float
    rows: float
    folds: float


def draw(seed: int, n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = 0.6 * rng.normal(size=(n, 1)) + 0.8 * rng.normal(size=(n, 8))
    total = -0.5 + X[:, 0] + 0.5 * X[:, 1] - 0.4 * X[:, 2] * X[:, 0]
    return X, (rng.random(n) < expit(total)).astype(int)


def try_pair(task: Task, scores: dict[str, RowScores], pair: tuple[str, str]) -> Tried:
    one, other = (scores[name] for name in pair)
    found = task.subtract(one, other, COVERAGE).loss
    gap = one.loss - other.loss
    means = np.array([gap[held_out].mean() for _, held_out in task.splits])
    error = means.std(ddof=1) * np.sqrt(1 / FOLDS + 1 / (FOLDS - 1))
    reach = float(t.ppf((1 + COVERAGE) / 2, FOLDS - 1)) * error
    return Tried(found.value, found.high - found.value, reach)


def true_losses(X: Any, y: Any, train: Any, new: tuple[Any, Any]) -> dict[str, float]:
    fitted = {name: learner.fit(X[train], y[train]) for name, learner in LEARNERS.items()}
    return {name: loss_bits(new[1], model.predict_proba(new[0])) for name, model in fitted.items()}


def main() -> None:
    new = draw(10**6, 20_000)
    for n, repeats in ((150, 400), (600, 300)):
        tried: dict[tuple[str, str], list[Tried]] = {pair: [] for pair in PAIRS}
        truth = []
        for seed in range(repeats):
            X, y = draw(seed, n)
            task = ClassTask.read(X, y, Asked(FOLDS, random_state=seed))
            runs = {name: run_learner(name, it, task, 0, 1).p for name, it in LEARNERS.items()}
            scores = {name: task.score(p) for name, p in runs.items() if p is not None}
            for pair in PAIRS:
                tried[pair].append(try_pair(task, scores, pair))
            truth.append(true_losses(X, y, task.splits[0][0], new))
        print(f"\n{n} rows, {repeats} tables: how often intervals cover, and half their width")
        for pair in PAIRS:
            true = np.mean([one[pair[0]] - one[pair[1]] for one in truth])
            values = np.array([one.value for one in tried[pair]])
            for kind in ("rows", "folds"):
                reach = np.array([getattr(one, kind) for one in tried[pair]])
                covers = np.mean(np.abs(values - true) <= reach)
                print(f"{' - '.join(pair):<20}{kind:<8}{covers:>8.3f}{reach.mean():>10.4f}")


if __name__ == "__main__":
    main()
