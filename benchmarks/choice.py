"""How good the choice of `weigh.compare` is: `python -m benchmarks.choice`.

Half of the rows of each data set are compared on, the other half says what each learner loses. A
rule of choice is judged by what its learner loses more than the best of all would have. Data come
from $WEIGH_DATA, as in the tests.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import weigh
from weigh.comparison.run import choose
from weigh.metrics import loss_bits

SETS = (
    "breast_cancer_ljubljana",
    "breast_cancer_wisconsin",
    "car_evaluation",
    "credit_approval_crx",
    "heart_cleveland",
    "hepatitis",
    "house_votes_84",
    "iris",
    "pima_diabetes",
    "tic_tac_toe",
    "vehicle",
)
SPLITS = 4
RULES = {"least loss": 0.0, "within 1 standard error": 1.0, "within 1.96": 1.96}


def try_once(table: Any, seed: int) -> dict[str, float]:
    """The loss of what each rule chooses, less that of the best learner, on the other half."""
    target = table.column_names[-1]
    places = np.random.default_rng(seed).permutation(table.num_rows)
    half, other = table.take(places[::2]), table.take(places[1::2])
    found = weigh.compare(half, target, random_state=seed)
    losses = {}
    for entry in found.entries:
        if entry.measures is not None:
            model = entry.estimator.fit(half, target)
            p = model.predict_proba(other)
            labels = model.classes_.tolist()
            losses[entry.name] = loss_bits(other[target], p, labels=labels)
    least = min(losses.values())
    chosen = {
        rule: losses[choose(found.entries, found.base_loss, errors).name]
        for rule, errors in RULES.items()
    }
    chosen |= {f"always {name}": loss for name, loss in losses.items()}
    return {rule: loss - least for rule, loss in chosen.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    every: list[dict[str, float]] = []
    for name in SETS:
        table = weigh.datasets.load(name)
        tried = [try_once(table, seed) for seed in range(SPLITS)]
        every += tried
        means = {rule: np.mean([one[rule] for one in tried]) for rule in RULES}
        print(f"{name:<26}", *(f"{rule} {loss:.4f}  " for rule, loss in means.items()), flush=True)
    print()
    for rule in every[0]:
        excess = np.array([one[rule] for one in every if rule in one])
        print(f"{rule:<26}mean {excess.mean():.4f}   largest {excess.max():.4f}")


if __name__ == "__main__":
    main()
