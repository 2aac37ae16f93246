"""Small models of other libraries; each runs in an environment of its own, without weigh.

    python -P benchmarks/rivals/small.py RIVAL FOLDS.json ANSWERS.json

A fold holds training rows, their classes, hold-out rows, and the budget. Its answer holds the
probabilities of the hold-out rows, the features used, and processor seconds.

lasso       bins and categories as indicators, at most `levels` a column, missing one of them; the
            strongest L1 penalty path of scikit-learn that keeps at most `features` columns; those
            columns are then fitted again with hardly any penalty
interpret   EBM without interactions on at most `levels` bins, its least important terms cut
fasterrisk  the same indicators as lasso, at most `features` columns, whole points from -5 to 5
"""

from __future__ import annotations

import copy
import json
import sys
import time
import warnings

import numpy as np
import pandas as pd


def encode(train, test, levels):
    """Indicators of each column's levels but the first, and the column of each."""
    parts, columns = [], []
    for j, name in enumerate(train.columns):
        codes = [_code(train[name], one, levels) for one in (train[name], test[name])]
        found = np.unique(codes[0])[1:]
        parts.append([codes_[:, None] == found for codes_ in codes])
        columns += [j] * len(found)
    return *(np.hstack(own).astype(float) for own in zip(*parts, strict=True)), np.array(columns)


def _code(known, column, levels):
    """Quantile bins, or the most frequent categories and others; missing is one of the levels."""
    room = levels - int(known.isna().any())
    if isinstance(known.dtype, pd.CategoricalDtype):
        common = known.value_counts().index
        kept = [*common[: room if known.nunique() <= room else room - 1]]
        places = {value: i for i, value in enumerate(kept)}
        codes = column.astype(object).map(lambda value: places.get(value, len(kept)))
        codes = codes.astype(float).to_numpy()
    else:
        cuts = np.unique(np.nanquantile(known, np.arange(1, room) / room))
        codes = np.searchsorted(cuts, column.to_numpy()).astype(float)
    return np.where(column.isna(), -1.0, codes)


def lasso(task):
    from sklearn.linear_model import LogisticRegression

    X, Z, columns = encode(task["X"], task["Z"], task["levels"])
    chosen = None
    for strength in np.geomspace(1e-3, 1e2, 26):
        model = LogisticRegression(penalty="l1", C=strength, solver="liblinear").fit(X, task["y"])
        used = np.unique(columns[np.abs(model.coef_[0]) > 1e-9])
        if len(used) > task["features"]:
            if chosen is None:  # the first that has any has too many: the largest are kept
                size = np.bincount(columns, np.abs(model.coef_[0]))
                chosen = np.argsort(-size)[: task["features"]]
            break
        chosen = used if len(used) else chosen
    own = np.isin(columns, chosen)
    model = LogisticRegression(C=1e2, max_iter=2000).fit(X[:, own], task["y"])
    return model.predict_proba(Z[:, own])[:, 1], len(chosen)


FITTED = {}
"""EBM by fold: budgets of features differ only in the terms that are cut."""


def interpret(task):
    from interpret.glassbox import ExplainableBoostingClassifier

    if task["fold"] not in FITTED:
        started = time.process_time()
        model = ExplainableBoostingClassifier(
            interactions=0, max_bins=task["levels"], n_jobs=1, random_state=0
        ).fit(task["X"], task["y"])
        FITTED[task["fold"]] = model, time.process_time() - started
    model = copy.deepcopy(FITTED[task["fold"]][0])
    order = np.argsort(model.term_importances())
    model.remove_terms([int(j) for j in order[: -task["features"]]])
    return model.predict_proba(task["Z"])[:, 1], len(model.term_names_)


def fasterrisk(task):
    from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer

    X, Z, columns = encode(task["X"], task["Z"], task["levels"])
    most = min(task["features"], len(np.unique(columns)))
    for k in (2 * most, most):
        optimizer = RiskScoreOptimizer(
            X=X,
            y=2.0 * task["y"] - 1,
            k=min(k, X.shape[1]),
            group_sparsity=most,
            featureIndex_to_groupIndex=columns,
        )
        try:
            optimizer.optimize()
            break
        except (ValueError, IndexError):  # its columns have fewer indicators than k
            continue
    multiplier, intercept, points = optimizer.get_models(model_index=0)
    model = RiskScoreClassifier(multiplier, intercept, points)
    return model.predict_prob(Z), len(np.unique(columns[points != 0]))


def _table(given):
    kinds = {name: "category" if text else "float64" for name, text in given["text"].items()}
    return pd.DataFrame(given["columns"]).astype(kinds)


def answer(name, task):
    task |= {"X": _table(task["X"]), "Z": _table(task["Z"]), "y": np.array(task["y"])}
    started = time.process_time()
    p, used = {"lasso": lasso, "interpret": interpret, "fasterrisk": fasterrisk}[name](task)
    seconds = time.process_time() - started
    if name == "interpret":  # the fit counts for every budget
        seconds = max(seconds, FITTED[task["fold"]][1])
    return {"p": [float(x) for x in p], "features": int(used), "seconds": seconds}


def main():
    name, given, answers = sys.argv[1:]
    warnings.simplefilter("ignore")
    with open(given) as file:
        found = [answer(name, task) for task in json.load(file)]
    with open(answers, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
