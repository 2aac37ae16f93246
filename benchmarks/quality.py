"""How good the probabilities are, beside rivals: `make quality`.

    WEIGH_DATA=... python -m benchmarks.quality

writes docs/quality.md: 5 stratified folds, the same for all, of every set in `benchmarks.sets`.
Everything runs on one thread of one processor, and seconds are processor seconds.

    python -m benchmarks.quality --cache DIR --sets heart pima --learners AdjustedNB EBM

is for development: what DIR holds of the same data and code is not run again, and the page, which
says that it comes from several runs, goes to DIR. Part of the sets or learners without a
cache writes no page.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

import weigh
from benchmarks.quality_page import ADDITIVE, RIVAL, Outcome, Outcomes, Results, Shape, write_page
from benchmarks.rivals import interpret, lightgbm, scikit_learn
from benchmarks.rivals import weigh as family
from benchmarks.rivals.fitted import Fit
from benchmarks.sets import FOLDS, SOURCES, Problem, prepare

Floats: TypeAlias = np.ndarray[Any, Any]

PATIENCE, SLOW = 150.0, 10.0
"""Processor seconds after which a learner gets no more folds of a set, and those of one fit of EBM
without interactions above which EBM with them is left out."""

LEAST = 1e-10
"""Probabilities are kept this far from 0 and 1."""

PAGE = Path(__file__).parents[1] / "docs" / "quality.md"


@dataclass(frozen=True)
class Learner:
    """A way to fit, and what its results depend on."""

    fit: Fit
    library: str
    home: Any  # a module, or the folder of a package


LEARNERS = {name: Learner(fit, "weigh", weigh) for name, fit in family.learners().items()} | {
    "logistic regression": Learner(scikit_learn.fit_logistic, "scikit-learn", scikit_learn),
    ADDITIVE: Learner(interpret.fit_additive, "interpret-core", interpret),
    RIVAL: Learner(interpret.fit, "interpret-core", interpret),
    "LightGBM": Learner(lightgbm.fit, "lightgbm", lightgbm),
}


@dataclass(frozen=True)
class Run:
    """One fit on four folds and its predictions of the fifth."""

    set: str
    learner: str
    fold: int
    key: str
    bits: float
    auc: float
    fit_seconds: float
    predict_seconds: float
    size: int
    log_odds: list[float]  # of the rows held out, in their order


# ---------------------------------------------------------------- one fit


def measure(problem: Problem, name: str, fold: int) -> Run:
    train, test = problem.folds != fold, problem.folds == fold
    learner, y = LEARNERS[name], problem.y[test]
    X, X_test = problem.X[train], problem.X[test]
    start = time.process_time()
    model = learner.fit(X, problem.y[train])
    fitted = time.process_time()
    p = np.asarray(model.predict_proba(X_test))
    done = time.process_time()
    return Run(
        set=problem.name,
        learner=name,
        fold=fold,
        key=find_key(problem, learner),
        bits=float(loss(p, y)),
        auc=float(roc_auc_score(y, p[:, 1])),
        fit_seconds=fitted - start,
        predict_seconds=done - fitted,
        size=model.size(),
        log_odds=[float(f"{value:.8g}") for value in find_log_odds(p)],
    )


def loss(p: Floats, y: Floats) -> float:
    """Mean of -log2 of the true class's probability (APM's Eq. 15)."""
    return -np.log2(np.clip(p[np.arange(len(y)), y], LEAST, 1)).mean()


def find_log_odds(p: Floats) -> Floats:
    logs = np.log(np.clip(p, LEAST, 1))
    return logs[:, 1] - logs[:, 0]


# ---------------------------------------------------------------- what was run before


def find_key(problem: Problem, learner: Learner) -> str:
    """A digest of the data, of the library's version and of our code in between."""
    parts = (_data_key(problem), version(learner.library), _code_key(learner.home.__file__))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _data_key(problem: Problem) -> str:
    rows = pd.util.hash_pandas_object(problem.X, index=False).to_numpy()
    held = np.column_stack([rows, problem.y.astype("uint64"), problem.folds.astype("uint64")])
    return hashlib.sha256(held.tobytes()).hexdigest()


@cache
def _code_key(file: str) -> str:
    """What a module says, comments and layout aside; of a package, all its modules."""
    path = Path(file)
    files = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
    said = "\n".join(ast.dump(ast.parse(file.read_text(encoding="utf-8"))) for file in files)
    return hashlib.sha256(said.encode()).hexdigest()


def run_folds(
    problem: Problem, name: str, folder: Path | None, patience: float = np.inf
) -> Iterator[Run]:
    """The runs of a learner, those of the cache as they are, until it has spent its seconds."""
    path = folder and folder / f"{problem.name}-{name.replace(' ', '_')}.jsonl"
    key, known = find_key(problem, LEARNERS[name]), {}
    if path and path.exists():
        runs = [Run(**json.loads(line)) for line in path.read_text().splitlines()]
        known = {run.fold: run for run in runs if run.key == key}
    spent = 0.0
    for fold in range(FOLDS):
        if spent > patience:
            return
        if fold not in known:
            known[fold] = measure(problem, name, fold)
            if path:
                with path.open("a") as file:
                    file.write(json.dumps(asdict(known[fold])) + "\n")
        spent += known[fold].fit_seconds
        yield known[fold]


# ---------------------------------------------------------------- all of it


def gather(problem: Problem, runs: list[Run]) -> Outcome:
    """Loss over the rows of the folds that were run; their mean AUC and median seconds."""
    log_odds = np.full(len(problem.y), np.nan)
    for run in runs:
        log_odds[problem.folds == run.fold] = run.log_odds
    told, row_bits = ~np.isnan(log_odds), np.full(len(problem.y), np.nan)
    wrong = np.where(problem.y == 1, -log_odds, log_odds)[told]
    row_bits[told] = np.logaddexp(0, wrong) / np.log(2)
    return Outcome(
        bits=float(row_bits[told].mean()),
        row_bits=row_bits,
        n_folds=len(runs),
        auc=float(np.mean([run.auc for run in runs])),
        slope=calibration_slope(log_odds[told], problem.y[told]),
        fit_seconds=float(np.median([run.fit_seconds for run in runs])),
        predict_seconds=float(np.median([run.predict_seconds for run in runs])),
        size=float(np.median([run.size for run in runs])),
    )


def calibration_slope(log_odds: Floats, y: Floats) -> float:
    """Slope b of ln p/(1-p) = a + b log odds, fitted to y; NaN where the log odds part the classes.

    1 is honest; below 1 probabilities are too sure, above 1 not sure enough.
    """
    if log_odds[y == 0].max() <= log_odds[y == 1].min():
        return float("nan")
    scale = log_odds.std()
    line = LogisticRegression(C=1e12, solver="newton-cholesky", tol=1e-10)
    line.fit(log_odds[:, None] / scale, y)
    return float(line.coef_[0, 0] / scale)


def describe(problem: Problem) -> Shape:
    (rows, columns), named = problem.X.shape, len(problem.categorical)
    missing = int(problem.X.isna().sum().sum())
    return Shape(rows, columns - named, named, missing, float(problem.y.mean()))


def hold_to_one_thread() -> Any:
    """One processor where the system can say so, and one thread for linear algebra."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return threadpool_limits(1)


def read_arguments() -> argparse.Namespace:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--cache", type=Path, help="a folder of results to use and to add to")
    words.add_argument("--sets", nargs="+", choices=[*SOURCES], default=[*SOURCES])
    words.add_argument("--patience", type=float, default=PATIENCE, help="seconds for a set")
    words.add_argument("--learners", nargs="+", choices=[*LEARNERS], default=[*LEARNERS])
    return words.parse_args()


def run_all(
    sets: list[str], learners: list[str], folder: Path | None, patience: float = np.inf
) -> Results:
    outcomes: Outcomes = {}
    shapes = {}
    for name in sets:
        problem, outcomes[name] = prepare(name), {}
        shapes[name] = describe(problem)
        for learner in learners:
            if learner == RIVAL and _is_slow(outcomes[name]):
                continue
            outcome = gather(problem, [*run_folds(problem, learner, folder, patience)])
            outcomes[name][learner] = outcome
            words = f"{outcome.bits:.4f} bits, {outcome.fit_seconds:.2f} s"
            print(f"{name:<12}{learner:<22}{words}", file=sys.stderr, flush=True)
    versions = {learner.library: version(learner.library) for learner in LEARNERS.values()}
    return Results(outcomes, shapes, versions, draft=folder is not None)


def _is_slow(done: dict[str, Outcome]) -> bool:
    """Whether EBM with interactions, ten times as slow as without, would take all day."""
    return ADDITIVE in done and done[ADDITIVE].fit_seconds > SLOW


def main() -> None:
    asked = read_arguments()
    warnings.simplefilter("ignore")  # the rivals' own words on versions, gaps and convergence
    if asked.cache:
        asked.cache.mkdir(parents=True, exist_ok=True)
    with hold_to_one_thread():
        results = run_all(asked.sets, asked.learners, asked.cache, asked.patience)
    if asked.cache:
        write_page(results, asked.cache / "quality.md")
    elif asked.sets == [*SOURCES] and asked.learners == [*LEARNERS]:
        write_page(results, PAGE)


if __name__ == "__main__":
    main()
