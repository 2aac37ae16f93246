"""How near updated and merged models come to the joint fit: `python -m benchmarks.updating`.

    WEIGH_DATA=... python -m benchmarks.updating --splits 4 --sets heart crx pima titanic
    WEIGH_DATA=... python -m benchmarks.updating --splits 2 --folds 2 --sets telco compas

The training rows of each of five folds are split in two, at random and several times (`--splits`):
one split says little, because the cut points of half of a few hundred rows are a matter of chance.
`EducatedNB` is fitted to the first half and updated with the second; each half is fitted with the
cut points of the first and both are merged; and one model is fitted to all rows, with its own cut
points and pairs, or with those of the first half (`same levels`); the merged models have no pairs.
Losses are those of hold-out rows, in bits, over all splits; `from, to` are the least and the most
of single splits. `difference of p` is how far probabilities are from those of the joint fit, on
average.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import weigh
from benchmarks.quality import hold_to_one_thread
from benchmarks.sets import FOLDS, Problem, prepare

Floats: TypeAlias = np.ndarray[Any, Any]

SETS = ("heart", "crx", "pima", "titanic", "telco", "compas", "kr_vs_kp")
LEAST = 1e-10


@dataclass(frozen=True)
class HoldOutLosses:
    """Probabilities of hold-out rows by each way."""

    y: Floats
    ways: dict[str, Floats]
    splits: int = 1

    def loss(self, way: str) -> float:
        """The mean loss in bits."""
        p = np.clip(self.ways[way], LEAST, 1 - LEAST)
        return float(-np.log2(np.where(self.y == 1, p, 1 - p)).mean())

    def excess(self, way: str, other: str) -> float:
        """By which share a loss is above another."""
        return self.loss(way) / self.loss(other) - 1

    def span(self, way: str, other: str) -> str:
        """The smallest and the largest of these shares, of one split each."""
        parts = [np.split(a, self.splits) for a in (self.y, self.ways[way], self.ways[other])]
        found = [
            HoldOutLosses(y, {way: own, other: beside}).excess(way, other)
            for y, own, beside in zip(*parts, strict=True)
        ]
        return f"{min(found):+.2%} {max(found):+.2%}"

    def distance(self, way: str, other: str) -> float:
        """The mean difference of probabilities, taken as positive."""
        return float(np.abs(self.ways[way] - self.ways[other]).mean())


def measure(problem: Problem, n_folds: int, n_splits: int) -> HoldOutLosses:
    """All ways on some folds of a set, the rows of each split after those of the one before."""
    found: list[dict[str, Floats]] = []
    joint = [_fit_jointly(problem, fold) for fold in range(n_folds)]
    for split in range(n_splits):
        for fold in range(n_folds):
            train, rest = problem.folds != fold, problem.folds == fold
            told = _fold(problem.X[train], problem.y[train], problem.X[rest], split)
            found.append(joint[fold] | told | {"y": problem.y[rest]})
    joined = {name: np.concatenate([one[name] for one in found]) for name in found[0]}
    return HoldOutLosses(joined.pop("y"), joined, n_splits)


def _fit_jointly(problem: Problem, fold: int) -> dict[str, Floats]:
    train, rest = problem.folds != fold, problem.X[problem.folds == fold]
    models = {"joint": weigh.EducatedNB(), "no pairs": weigh.EducatedNB(pairs=0)}
    X, y = problem.X[train], problem.y[train]
    return {name: m.fit(X, y).predict_proba(rest)[:, 1] for name, m in models.items()}


def _fold(X: Any, y: Floats, rest: Any, split: int) -> dict[str, Floats]:
    half = np.random.default_rng(split).random(len(y)) < 0.5
    first, second = (X[half], y[half]), (X[~half], y[~half])
    old = weigh.EducatedNB().fit(*first)
    pairs: Any = [pair.columns for pair in old.pairs_] or 0
    plain = old if pairs == 0 else weigh.EducatedNB(pairs=0).fit(*first)
    cuts = weigh.cut_points(plain)  # merged models have no pairs
    south = weigh.EducatedNB(pairs=0, bins=cuts).fit(*second)
    models = {
        "first half": old,
        "updated": weigh.update(weigh.summarise(old, *first), *second),
        "same levels": weigh.EducatedNB(pairs=pairs, bins=weigh.cut_points(old)).fit(X, y),
        "merged": weigh.summarise(plain, *first).merge(weigh.summarise(south, *second)),
    }
    return {name: model.predict_proba(rest)[:, 1] for name, model in models.items()}


FIGURES: tuple[tuple[str, Callable[[HoldOutLosses], str]], ...] = (
    ("joint, bits", lambda told: f"{told.loss('joint'):.4f}"),
    ("first half", lambda told: f"{told.excess('first half', 'joint'):+.2%}"),
    ("updated", lambda told: f"{told.excess('updated', 'joint'):+.2%}"),
    ("updated from, to", lambda told: told.span("updated", "joint")),
    ("against same levels", lambda told: f"{told.excess('updated', 'same levels'):+.2%}"),
    ("updated: difference of p", lambda told: f"{told.distance('updated', 'joint'):.4f}"),
    ("no pairs, bits", lambda told: f"{told.loss('no pairs'):.4f}"),
    ("merged", lambda told: f"{told.excess('merged', 'no pairs'):+.2%}"),
    ("merged from, to", lambda told: told.span("merged", "no pairs")),
    ("merged: difference of p", lambda told: f"{told.distance('merged', 'no pairs'):.4f}"),
)


def main() -> None:
    """Print a table of figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("--splits", type=int, default=3)
    asked = parser.parse_args()
    hold_to_one_thread()
    warnings.simplefilter("ignore")
    print(f"{'set':<10}{'rows':>8}" + "".join(f"{name:>26}" for name, *_ in FIGURES))
    for name in asked.sets:
        problem = prepare(name)
        told = measure(problem, asked.folds, asked.splits)
        figures = "".join(f"{tell(told):>26}" for _, tell in FIGURES)
        print(f"{name:<10}{len(problem.y):>8,}{figures}", flush=True)


if __name__ == "__main__":
    main()
