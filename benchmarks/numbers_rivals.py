"""How `EducatedRegressor` and its rivals are fitted, for `benchmarks.quality_numbers`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import PoissonRegressor, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

import weigh
from benchmarks.numbers_sets import Problem

OURS, RIVAL = "EducatedRegressor", "EBM"


def fit_ours(problem: Problem) -> Any:
    model = weigh.EducatedRegressor(family=problem.family)
    return model.fit(problem.X, problem.y, exposure=problem.exposure)


def fit_ebm(problem: Problem) -> Any:
    from interpret.glassbox import ExplainableBoostingRegressor

    text = {*problem.X.select_dtypes("category").columns}
    types = ["nominal" if name in text else "continuous" for name in problem.X.columns]
    counts = {"objective": "poisson_deviance"} if problem.exposure is not None else {}
    model = ExplainableBoostingRegressor(feature_types=types, n_jobs=1, random_state=0, **counts)
    if problem.exposure is None:
        return model.fit(problem.X, problem.y)
    return model.fit(problem.X, problem.y, init_score=np.log(problem.exposure))


def fit_splines(problem: Problem) -> Any:
    text = [*problem.X.select_dtypes("category").columns]
    numbers = [name for name in problem.X.columns if name not in text]
    fill = SimpleImputer(strategy="median")
    splines = make_pipeline(fill, SplineTransformer(8, knots="quantile"), StandardScaler())
    hot = OneHotEncoder(handle_unknown="ignore", min_frequency=5)
    prepare = make_column_transformer((splines, numbers), (hot, text))
    if problem.exposure is None:
        return make_pipeline(prepare, RidgeCV(np.logspace(-3, 5, 17))).fit(problem.X, problem.y)
    alphas = {"poissonregressor__alpha": np.logspace(-6, 0, 7)}
    search = GridSearchCV(make_pipeline(prepare, PoissonRegressor(max_iter=300)), alphas, cv=3)
    rates = problem.y / problem.exposure
    return search.fit(problem.X, rates, poissonregressor__sample_weight=problem.exposure)


def fit_lightgbm(problem: Problem) -> Any:
    """Eight settings by five inner folds with early stopping, as in `rivals.lightgbm`."""
    import lightgbm

    objective = "regression" if problem.exposure is None else "poisson"
    shared = {
        "objective": objective, "min_data_in_leaf": 10, "lambda_l2": 1.0, "bagging_fraction": 0.8,
        "bagging_freq": 1, "feature_fraction": 0.8, "num_threads": 1, "deterministic": True,
        "force_row_wise": True, "seed": 0, "verbosity": -1,
    }  # fmt: skip
    start = None if problem.exposure is None else np.log(problem.exposure)
    tried = []
    for leaves in (4, 8, 16, 31):
        for rate in (0.03, 0.1):
            settings = shared | {"num_leaves": leaves, "learning_rate": rate}
            data = lightgbm.Dataset(problem.X, problem.y, init_score=start)
            found = lightgbm.cv(
                settings, data, num_boost_round=3000, nfold=5, stratified=False, seed=0,
                callbacks=[lightgbm.early_stopping(50, verbose=False)],
            )  # fmt: skip
            losses = next(v for k, v in found.items() if k.endswith("-mean"))
            tried.append((losses[-1], len(losses), settings))
    _, trees, settings = min(tried, key=lambda one: one[0])
    data = lightgbm.Dataset(problem.X, problem.y, init_score=start)
    return lightgbm.train(settings, data, num_boost_round=trees)


class Smooth:
    """pyGAM: a penalised spline per number, a penalised factor per category, no interactions.

    It takes numbers only, without gaps: the median stands in for a missing number, the first level
    for a missing or unseen category. One penalty for all terms is searched on its default grid.
    """

    def __init__(self, problem: Problem) -> None:
        from pygam import LinearGAM, f, s

        self.text = [*problem.X.select_dtypes("category").columns]
        self.levels = {name: [*problem.X[name].dropna().unique()] for name in self.text}
        self.medians = problem.X.drop(columns=self.text).median()
        X = self.codes(problem.X)
        terms = None
        for j, name in enumerate(problem.X.columns):
            few = len(np.unique(X[:, j])) < 10
            own = f(j) if name in self.text else s(j, **({"n_splines": 5} if few else {}))
            terms = own if terms is None else terms + own
        self.model = LinearGAM(terms).gridsearch(X, problem.y, progress=False)

    def codes(self, X: pd.DataFrame) -> Any:
        """Columns as numbers without gaps, within what training saw."""
        found = X.drop(columns=self.text).fillna(self.medians)
        for name in self.text:
            places = {level: place for place, level in enumerate(self.levels[name])}
            found[name] = X[name].astype(object).map(places).fillna(0.0).astype(float)
        return found[X.columns].to_numpy(float)

    def predict(self, X: pd.DataFrame) -> Any:
        return self.model.predict(self.codes(X))


RIVALS = {
    "ridge on splines": (fit_splines, "scikit-learn"),
    "pyGAM": (Smooth, "pygam"),
    RIVAL: (fit_ebm, "interpret-core"),
    "LightGBM": (fit_lightgbm, "lightgbm"),
}
"""How each is fitted, and the package it comes from."""


def predict(name: str, model: Any, problem: Problem) -> Any:
    """The mean of each row of `problem`, for its exposure."""
    if problem.exposure is None:
        return np.asarray(model.predict(problem.X), dtype=float)
    if name == OURS:
        return model.predict(problem.X, exposure=problem.exposure)
    if name == RIVAL:
        return model.predict(problem.X, init_score=np.log(problem.exposure))
    return problem.exposure * model.predict(problem.X)
