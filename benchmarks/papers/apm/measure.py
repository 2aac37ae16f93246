"""NB, APM and APMR on the paper's six data sets, fold by fold."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import weigh
from weigh import AdjustedNB, EvidenceNB

FOLDS = 10

SETS = {  # file, classes in the paper's order, smoothing
    "dna": ("dna", ["ei", "ie", "n"], 0.0),
    "splice": ("splice", ["EI", "IE", "N"], 0.0),
    "mushroom": ("mushroom", None, "1/n"),
    "breast": ("breast_cancer_ljubljana", None, 1.0),
    "vote": ("house_votes_84", None, "1/n"),
    "lymph": ("lymphography", ["normal", "metastases", "malign_lymph", "fibrosis"], 1.0),
}
CROSS_FITTED = "APMR, cross-fitted"


def load(name: str) -> tuple[Any, Any, Any]:
    """The table, its labels, and the prescribed split if there is one."""
    frame = weigh.datasets.load(SETS[name][0]).to_pandas()
    split = frame.pop("split") if "split" in frame else None
    y = frame.pop("class").astype(object)
    if name == "splice":
        known = frame.isin([*"ACGT"]).all(axis=1)  # the paper discards the 15 rows with others
        frame, y = frame[known], y[known]
    return frame.reset_index(drop=True), y.to_numpy(), split


def splits(
    name: str, X: Any, y: Any, split: Any, repetitions: int
) -> Iterator[tuple[Any, Any, int]]:
    if split is not None:
        rows = np.arange(len(X))
        for seed in range(repetitions):
            yield rows[split == "train"], rows[split == "test"], seed
        return
    for seed in range(repetitions):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes with fewer rows than folds
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
            for train, test in folds.split(X, y):
                yield train, test, seed


def bits(p: Any) -> float:
    """Eq. 15 with the paper's bounds, for the probabilities of the true classes."""
    return float(-np.log2(np.clip(p, 1e-10, 1 - 1e-10)).mean())


def models(smoothing: Any, seed: int) -> dict[str, Any]:
    shared = {"smoothing": smoothing, "categorical_features": "all"}
    adjusted = partial(AdjustedNB, **shared, multiclass="ovr", aggregate="median")
    return {
        "NB": EvidenceNB(**shared),
        "APM": adjusted(norm=None),
        "APMR": adjusted(norm="paper", random_state=seed),
        CROSS_FITTED: adjusted(norm="cv", aggregate="mean", random_state=seed),
    }


def evaluate(name: str, repetitions: int) -> dict[tuple[str, str], list[tuple[float, ...]]]:
    """Error, loss, m and negatives of every fold, by class and method."""
    X, y, split = load(name)
    _, order, smoothing = SETS[name]
    rows = defaultdict(list)
    for train, test, seed in splits(name, X, y, split, repetitions):
        for method, model in models(smoothing, seed).items():
            model.fit(X.iloc[train], y[train])
            measured = measure(model, X.iloc[test], y[test], order)
            if method == "NB" and order is not None:
                measured |= one_by_one(model, X, y, train, test, order)
            for part, row in measured.items():
                rows[part, method].append(row)
    return rows


def measure(model: Any, X: Any, y: Any, order: Any) -> dict[str, tuple[float, ...]]:
    """Of all classes together, and, for a model of one against the rest, of each class."""
    p, classes = model.predict_proba(X), model.classes_.tolist()
    true = np.array([classes.index(label) if label in classes else -1 for label in y])
    seen = np.where(true >= 0, p[np.arange(len(y)), true], 0.0)
    error = 100 * float((p.argmax(axis=1) != true).mean())
    adjusted = isinstance(model, AdjustedNB)
    if order is None:
        return {"": (error, bits(seen), *(size(model.exponents_) if adjusted else (np.nan,) * 2))}
    parts = {"All": (error, bits(seen), np.nan, np.nan)}
    if adjusted:
        totals = model.decision_function(X)
        for k, label in enumerate(classes):
            part = str(order.index(label) + 1)
            parts[part] = (*against_rest(totals[:, k], y == label), *size(model.exponents_[k]))
    return parts


def size(exponents: Any) -> tuple[float, float]:
    return float(exponents @ exponents), float((exponents < 0).sum())


def against_rest(totals: Any, target: Any) -> tuple[float, float]:
    p = 1 / (1 + np.exp(-np.clip(totals, -700, 700)))
    error = 100 * float(((p > 0.5) != target).mean())
    return error, bits(np.where(target, p, 1 - p))


def one_by_one(model: Any, X: Any, y: Any, train: Any, test: Any, order: Any) -> dict[str, Any]:
    """Naive Bayes of each class against the rest."""
    parts = {}
    for k, label in enumerate(order):
        if label in model.classes_:
            two = EvidenceNB(smoothing=model.smoothing, categorical_features="all")
            totals = two.fit(X.iloc[train], y[train] == label).decision_function(X.iloc[test])
            parts[str(k + 1)] = (*against_rest(totals, y[test] == label), np.nan, np.nan)
    return parts


MEASURES = ("error", "loss", "m", "negatives")


def summarise(
    rows: dict[tuple[str, str], list[tuple[float, ...]]], repetitions: int
) -> dict[str, dict[str, object]]:
    """Mean, standard deviation and median over folds, by class and method."""
    found = {}
    for (part, method), values in rows.items():
        columns = np.array(values).T
        own: dict[str, object] = {"repetitions": repetitions}
        for name, column in zip(MEASURES, columns, strict=True):
            if not np.isnan(column).any():
                numbers = column.mean(), column.std(), np.median(column)
                own[name] = [round(float(number), 4) for number in numbers]
        found[f"{part} {method}".strip()] = own
    return found
