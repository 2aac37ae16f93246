"""Other classes that the paper may have had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.papers.weighted.data import cut_last, load
from benchmarks.papers.weighted.measure import Set, run_method
from weigh import datasets


def other_readings() -> Iterator[tuple[str, str, Any]]:
    """Other classes that the paper may have had: the set, the reading, mean AUC of NB and C4.4."""
    X, y, _ = load("breast_cancer_wisconsin")
    for column in X:
        yield (
            "breast_cancer_wisconsin",
            column,
            quick(X.drop(columns=column).assign(y=y), X[column]),
        )
    X, rings = load("abalone")[0], datasets.load("abalone")["class"].to_numpy().astype(float)
    for cuts in ([4.5, 8.5, 12.5, 16.5, 20.5, 24.5], [8.5, 10.5], [9.5]):
        reading = f"rings cut at {', '.join(map(str, cuts))}"
        yield "abalone", reading, quick(X, np.digitize(rings, cuts))
    X, y, _ = load("australian_credit")
    yield "australian_credit", "codes as numbers", quick(X, y)
    last, label, _ = cut_last(X, y, "from_dtype")
    yield "australian_credit", "codes as numbers, last attribute", quick(last, label)
    X, y, _ = load("car_evaluation")
    yield "car_evaluation", "unacc or not", quick(X, y == "unacc")
    X, y, _ = load("ecoli")
    yield "ecoli", "cp or not", quick(X, y == "cp")
    X, y, _ = load("imports_85")
    yield "imports_85", "fuel_type", quick(X.drop(columns="fuel_type"), X["fuel_type"])
    X, y, _ = load("vehicle")
    yield "vehicle", "both cars as one", quick(X, np.where(np.isin(y, ["saab", "opel"]), "car", y))


def quick(X: Any, y: Any) -> Any:
    """Mean AUC of naive Bayes and C4.4 in one repetition, as the paper did."""
    data = Set(X, np.asarray(y).astype(str), "from_dtype", 0)
    found = []
    for train, test in data.folds():
        part = data.part(data.whole, train, test, "as printed")
        found.append([run_method(m, data, part, train, test)[0] for m in ("NB", "C4.4")])
    return np.mean(found, axis=0)
