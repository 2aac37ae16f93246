"""How good estimates of numbers are, beside rivals: RMSE or deviance, intervals and time.

    WEIGH_DATA=... python -m benchmarks.quality_numbers --cache DIR [--sets NAME ...]

writes docs/quality_numbers.md from what DIR holds: 5 shuffled folds (seed 0), the same for all, on
one thread. Seconds are processor seconds of one fit. Results in DIR are kept fold by fold; those of
weigh are run again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.linear_model import PoissonRegressor, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

import weigh
from weigh.educated.intervals import Counts
from weigh.layout import count_of

PAGE = Path(__file__).parents[1] / "docs" / "quality_numbers.md"
OURS, RIVAL = "EducatedRegressor", "EBM"
COVERAGE, PATIENCE, FOLDS = 0.9, 120.0, 5
"""The stated coverage of intervals, the processor seconds after which a rival gets no more folds of
a set, and the number of folds."""


@dataclass(frozen=True)
class Problem:
    """A table, its numeric target, and the exposure of each row of counts."""

    X: pd.DataFrame
    y: Any
    exposure: Any = None

    @property
    def family(self) -> str:
        return "gaussian" if self.exposure is None else "poisson"


def own(name: str, target: str = "target", drop: tuple[str, ...] = ()) -> Problem:
    frame = weigh.datasets.load(name).to_pandas().drop(columns=[*drop])
    frame = frame[frame[target].notna()].reset_index(drop=True)
    return Problem(as_categories(frame.drop(columns=target)), frame[target].to_numpy(float))


def as_categories(frame: pd.DataFrame) -> pd.DataFrame:
    text = frame.columns.difference(frame.select_dtypes("number").columns)
    return frame.astype(dict.fromkeys(text, "category"))


def diabetes() -> Problem:
    data = load_diabetes(as_frame=True, scaled=False)
    return Problem(data.data, data.target.to_numpy(float))


def bundled(name: str, target: str, exposed: bool = False) -> Problem:
    """A set of statsmodels; with an exposure of one for every row where it is of counts."""
    import statsmodels.api as sm

    frame = getattr(sm.datasets, name).load_pandas().data
    y = frame.pop(target).to_numpy(float)
    return Problem(frame.reset_index(drop=True), y, np.ones(len(y)) if exposed else None)


def policies() -> Problem:
    """Made up: 20,000 insurance policies with claims in part of a year."""
    random, n = np.random.default_rng(0), 20_000
    X = pd.DataFrame(
        {
            "age": random.integers(18, 80, n),
            "power": random.integers(4, 13, n),
            "bonus": random.gamma(2.0, 20.0, n).round(),
            "region": pd.Categorical(random.choice([*"abcdefghij"], n)),
            "fuel": pd.Categorical(random.choice(["petrol", "diesel"], n)),
        }
    )
    log = -2.2 + 0.9 * np.exp(-(X["age"] - 18) / 8) + 0.012 * X["bonus"]
    log += 0.05 * (X["power"] - 8) * (X["fuel"] == "diesel") + 0.1 * X["region"].cat.codes / 3
    exposure = random.uniform(0.05, 1.0, n).round(2)
    return Problem(X, random.poisson(exposure * np.exp(log)).astype(float), exposure)


SETS: dict[str, Callable[[], Problem]] = {
    "auto_mpg": lambda: own("reg_auto_mpg"),
    "bodyfat": lambda: own("reg_bodyfat", drop=("density",)),
    "diabetes": diabetes,
    "boston": lambda: own("reg_boston_housing"),
    "imports_price": lambda: own("imports_85", "price"),
    "abalone": lambda: own("reg_abalone_rings"),
    "affairs": lambda: bundled("fair", "affairs"),
    "doctor_visits": lambda: bundled("randhie", "mdvis"),
    "doctor_counts": lambda: bundled("randhie", "mdvis", exposed=True),
    "policies": policies,
}
COUNTS = ("doctor_counts", "policies")


# ---------------------------------------------------------------- learners


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


LEARNERS = {
    OURS: fit_ours,
    "ridge on splines": fit_splines,
    "pyGAM": Smooth,
    RIVAL: fit_ebm,
    "LightGBM": fit_lightgbm,
}


def predict(name: str, model: Any, X: pd.DataFrame, exposure: Any) -> Any:
    if exposure is None:
        return np.asarray(model.predict(X), dtype=float)
    if name == OURS:
        return model.predict(X, exposure=exposure)
    if name == RIVAL:
        return model.predict(X, init_score=np.log(exposure))
    return exposure * model.predict(X)


# ---------------------------------------------------------------- measuring


def measure(problem: Problem, name: str, train: Any, test: Any) -> dict[str, float]:
    some = None if problem.exposure is None else problem.exposure[train]
    start = time.process_time()
    model = LEARNERS[name](Problem(problem.X.iloc[train], problem.y[train], some))
    seconds = time.process_time() - start
    X, y = problem.X.iloc[test], problem.y[test]
    exposure = None if problem.exposure is None else problem.exposure[test]
    mean = predict(name, model, X, exposure)
    found = {"seconds": seconds, "loss": loss(problem, y, mean), "rows": float(len(test))}
    if name == OURS:
        low, high = model.predict_interval(X, COVERAGE, exposure=exposure).T
        found["covered"] = float(((low <= y) & (y <= high)).mean())
        found["pairs"] = float(len(model.pairs_))
    return found


def loss(problem: Problem, y: Any, mean: Any) -> float:
    """Mean squared error, or mean Poisson deviance."""
    if problem.exposure is None:
        return float(((y - mean) ** 2).mean())
    mean = np.maximum(mean, 1e-12)
    logs = np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / mean), 0.0)
    return float(2 * (logs - y + mean).mean())


def run(name: str, learner: str, cache: Path, patience: float) -> None:
    """The folds that are not there yet, until patience ends."""
    kept = cache / f"{name}.{learner.replace(' ', '_')}.json"
    folds = json.loads(kept.read_text()) if kept.exists() and learner != OURS else []
    problem = SETS[name]()
    if learner == "pyGAM" and problem.exposure is not None:
        return
    splits = [*KFold(FOLDS, shuffle=True, random_state=0).split(problem.X)]
    for train, test in splits[len(folds) :]:
        if sum(fold["seconds"] for fold in folds) > patience:
            break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            folds.append(measure(problem, learner, train, test))
        kept.write_text(json.dumps(folds))
        print(name, learner, folds[-1], file=sys.stderr, flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--cache", type=Path, required=True)
    arguments.add_argument("--sets", nargs="*", default=[*SETS])
    arguments.add_argument("--learners", nargs="*", default=[*LEARNERS])
    arguments.add_argument("--patience", type=float, default=PATIENCE)
    arguments.add_argument("--page", action="store_true", help="write the page, and run nothing")
    asked = arguments.parse_args()
    asked.cache.mkdir(parents=True, exist_ok=True)
    if asked.page:
        write_page(asked.cache)
        return
    weigh.EducatedRegressor().fit(np.arange(600.0).reshape(-1, 2), np.arange(300.0))  # compiles
    for name in asked.sets:
        for learner in asked.learners:
            run(name, learner, asked.cache, asked.patience)


def least_coverage(law: Counts, means: np.ndarray, stated: float = 0.9) -> np.ndarray:
    """The least probability, `stated` at least, that any interval of whole counts can have."""
    top = int(law.quantile(np.full(len(means), 0.9999), means).max()) + 1
    below = law.below(np.arange(-1.0, top + 1)[None], means[:, None])  # of -1 it is 0
    found = np.ones(len(means))
    for low in range(top + 1):
        inside = below[:, low + 1 :] - below[:, [low]]
        found = np.minimum(found, np.where(inside >= stated, inside, 1.0).min(axis=1))
    return found


def attain(name: str, n_train: int = 6000, n_test: int = 2000) -> dict[str, float]:
    """Of a set of counts, first fold: coverage measured, expected by the model, and the least."""
    problem = SETS[name]()
    train, test = next(KFold(5, shuffle=True, random_state=0).split(problem.X))
    train, test = train[:n_train], test[:n_test]
    model = weigh.EducatedRegressor(family="poisson")
    model.fit(problem.X.iloc[train], problem.y[train], exposure=problem.exposure[train])
    rows, own = problem.X.iloc[test], {"exposure": problem.exposure[test]}
    means, law = model.predict(rows, **own), Counts(model.dispersion_)
    low, high = model.predict_interval(rows, 0.9, **own).T
    expected = law.below(high, means) - law.below(low - 1, means)
    measured = (low <= problem.y[test]) & (problem.y[test] <= high)
    parts = {"measured": measured, "expected": expected, "least": least_coverage(law, means)}
    return {part: float(values.mean()) for part, values in parts.items()}


def tell_attained(cache: Path) -> str:
    """A table of what intervals of counts can cover; what is known is kept."""
    kept = cache / "attained.json"
    if not kept.exists():
        kept.write_text(json.dumps({name: attain(name) for name in COUNTS}))
    found = json.loads(kept.read_text())
    lines = ["| set | measured | expected by the model | least |", "| --- | --- | --- | --- |"]
    for name, own in found.items():
        cells = [f"{own[part]:.3f}" for part in ("measured", "expected", "least")]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


HEAD = """# Estimates of numbers, measured

Written by `python -m benchmarks.quality_numbers`: 5 shuffled folds (seed 0), one thread, processor
seconds of one fit. `EducatedRegressor` and EBM (interpret-core) have their default settings, with
interactions. LightGBM is tuned over eight settings by inner cross-validation. Ridge regression on
cubic splines chooses its penalty by leave-one-out. pyGAM has a spline per number, a factor per
category and no interactions, searches its penalty on its default grid, and is run on amounts only.
A rival that has taken more than `--patience` seconds on a set gets no further folds; "(1 of 5)" is
how many it got. Here the patience was 30 seconds (ridge 120), and EBM got one fold of seven sets.
It was not run on boston and doctor_visits, and was stopped on doctor_counts after 18 minutes
without a fold. LightGBM was not run on abalone and affairs, and no rival on doctor_visits; on
doctor_counts no rival has a fold. "over EBM" is the ratio on the folds that both have, here one: it
says little about a set.

RMSE is the root of the mean squared error over folds. The sets of counts (doctor_counts, policies)
show the mean Poisson deviance instead; policies are made up and have an exposure. "in 90%" is the
share of hold-out rows inside the 90% interval of `predict_interval`.

An interval of whole counts cannot have exactly 90%. `predict_interval` gives the shortest that has
at least 90% of the model's probability. "Expected" is the mean probability of these intervals by
the model: calibrated intervals measure what is expected. "Least" is the least that any interval of
whole counts with at least 90% can have (first fold, 6,000 training rows, 2,000 hold-out rows):

{attained}

On policies 88% of the counts are 0. There, intervals that keep their 90% cover 96% on average or
more. "seconds" are those of `EducatedRegressor`.

A further run measures `EducatedRegressor` anew and keeps the folds of its rivals. So its results
may be newer than theirs, which do not depend on it.
"""


def write_page(cache: Path) -> None:
    head = ["set", *LEARNERS, "over EBM", "in 90%", "seconds", "EBM's"]
    lead = HEAD.format(attained=tell_attained(cache))
    lines = [lead, "| " + " | ".join(head) + " |", "| --- |" + " --- |" * (len(head) - 1)]
    ratios: dict[str, list[float]] = {"RMSE": [], "deviance": [], "seconds": []}
    for name in SETS:
        found = {learner: read(cache, name, learner) for learner in LEARNERS}
        if not found[OURS]:
            continue
        counts = name in COUNTS
        cells = [tell(folds, counts) for folds in found.values()]
        covered = np.mean([fold["covered"] for fold in found[OURS]])
        seconds = np.mean([fold["seconds"] for fold in found[OURS]])
        rivals = found[RIVAL]
        own = ["", f"{covered:.3f}", f"{seconds:.2f}", ""]
        if rivals:
            same = found[OURS][: len(rivals)]
            ratio = mean_loss(same, counts) / mean_loss(rivals, counts)
            taken = np.mean([fold["seconds"] for fold in rivals])
            ratios["deviance" if counts else "RMSE"].append(ratio)
            ratios["seconds"].append(float(seconds / taken))
            own = [f"{ratio:.3f}", *own[1:3], f"{taken:.1f}"]
        lines.append(f"| {name} | " + " | ".join([*cells, *own]) + " |")
    lines.append("")
    for text, values in ratios.items():
        if values:
            mean, sets = float(np.exp(np.log(values).mean())), count_of(len(values), "set")
            told = f"from {min(values):.3f} to {max(values):.3f}"
            lines.append(f"Geometric mean of {text} over that of EBM, {sets}: {mean:.3f} ({told}).")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def tell(folds: list[dict[str, float]], counts: bool) -> str:
    """The loss of the folds that were run, and how many those are where some were not."""
    if not folds:
        return "not run"
    part = "" if len(folds) == FOLDS else f" ({len(folds)} of {FOLDS})"
    return f"{mean_loss(folds, counts):.4g}{part}"


def read(cache: Path, name: str, learner: str) -> list[dict[str, float]]:
    kept = cache / f"{name}.{learner.replace(' ', '_')}.json"
    return json.loads(kept.read_text()) if kept.exists() else []


def mean_loss(folds: list[dict[str, float]], counts: bool) -> float:
    loss = float(np.mean([fold["loss"] for fold in folds]))
    return loss if counts else float(np.sqrt(loss))


if __name__ == "__main__":
    main()
