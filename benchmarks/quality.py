"""How good the probabilities are, beside rivals: `make quality`.

    WEIGH_DATA=... python -m benchmarks.quality

runs 5 stratified folds, the same for all learners, of every set in `benchmarks.sets`, and writes
benchmarks/results/quality.json and, from it, docs/quality.md. Everything runs on one thread of one
processor, and seconds are processor seconds.

Each fit is kept with a digest of its data, its library's version and our code, so a run that was
ended goes on where it was. The fits of rivals are kept in benchmarks/results/runs, which is part of
the repository: they are run again only if the rival changed. Those of `weigh` are kept in
build/quality (`--cache`), and all its figures are those of one state of its source.

    python -m benchmarks.quality --sets heart pima --learners AdjustedNB EBM

runs a part and writes no page. `--rivals-as-they-are` runs no fold of a rival, `--as-is` none at
all: the page is written from the folds that are kept, lists those that are missing, and says if
those of rivals are older than it.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import platform
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
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
from benchmarks.quality_page import PACED, RIVAL, RIVALS, Outcome, Results, Shape, write_page
from benchmarks.rivals import interpret, lightgbm, scikit_learn
from benchmarks.rivals import weigh as family
from benchmarks.rivals.fitted import Fit
from benchmarks.runs import DIGITS, Run, find_file, read_runs, write_runs
from benchmarks.sets import FOLDS, SOURCES, Problem, prepare

Floats: TypeAlias = np.ndarray[Any, Any]

LEAST = 1e-10
"""Probabilities are kept this far from 0 and 1."""

HERE = Path(__file__).parents[1]
CACHE = HERE / "build" / "quality"
RESULTS = HERE / "benchmarks" / "results" / "quality.json"
KEPT = HERE / "benchmarks" / "results" / "runs"
PAGE = HERE / "docs" / "quality.md"


@dataclass(frozen=True)
class Learner:
    """A way to fit, and what its results depend on."""

    fit: Fit
    library: str
    home: Any  # a module, or the folder of a package


FITS = (
    Learner(scikit_learn.fit_logistic, "scikit-learn", scikit_learn),
    Learner(interpret.fit_additive, "interpret-core", interpret),
    Learner(interpret.fit, "interpret-core", interpret),
    Learner(lightgbm.fit, "lightgbm", lightgbm),
)
LEARNERS = {
    **{name: Learner(fit, "weigh", weigh) for name, fit in family.learners().items()},
    **dict(zip(RIVALS, FITS, strict=True)),
}


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
        date=date.today().isoformat(),
        log_odds=tuple(np.round(find_log_odds(p), DIGITS).tolist()),
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
    problem: Problem, name: str, folder: Path | None, as_is: bool = False
) -> Iterator[Run]:
    """The runs of a learner: those that are kept in `folder` as they are, then the others."""
    path = folder and find_file(folder, problem.name, name)
    key, before = find_key(problem, LEARNERS[name]), read_runs(path) if path else []
    known = {run.fold: run for run in before if run.key == key}
    for fold in range(FOLDS):
        if fold not in known:
            if as_is:
                continue
            known[fold] = measure(problem, name, fold)
            if path:
                write_runs(path, [*known.values()])
        yield known[fold]


def find_pace(folder: Path) -> float:
    """Seconds of EBM on the first fold of a set today, relative to those of its kept fit.

    Its fits are not run again, and the machine may have become faster or slower since.
    """
    kept = [run for run in read_runs(find_file(folder, PACED, RIVAL)) if run.fold == 0]
    if not kept:
        return 1.0
    problem = prepare(PACED)
    least = min(measure(problem, RIVAL, 0).fit_seconds for _ in range(2))  # the first imports
    return least / kept[0].fit_seconds


# ---------------------------------------------------------------- all of it


def gather(problem: Problem, runs: list[Run], rival: list[Run] | None = None) -> Outcome:
    """Loss over the rows of the folds that were run; their mean AUC and median seconds."""
    bits, log_odds = find_row_bits(problem, runs)
    told = ~np.isnan(bits)
    theirs = find_row_bits(problem, rival or [])[0]
    both = told & ~np.isnan(theirs)
    ratio, error = compare(bits[both], theirs[both], 1 / len(bits))
    slope, slope_error = fit_slope(log_odds[told], problem.y[told])
    return Outcome(
        bits=float(bits[told].mean()),
        auc=float(np.mean([run.auc for run in runs])),
        slope=slope,
        fit_seconds=float(np.median([run.fit_seconds for run in runs])),
        predict_seconds=float(np.median([run.predict_seconds for run in runs])),
        size=float(np.median([run.size for run in runs])),
        folds=len(runs),
        since=min(run.date for run in runs),
        ratio=ratio,
        error=error,
        slope_error=slope_error,
    )


def find_row_bits(problem: Problem, runs: list[Run]) -> tuple[Floats, Floats]:
    """The loss and the log odds of each row; NaN in a fold that was not run."""
    log_odds = np.full(len(problem.y), np.nan)
    for run in runs:
        log_odds[problem.folds == run.fold] = run.log_odds
    told, bits = ~np.isnan(log_odds), np.full(len(problem.y), np.nan)
    wrong = np.where(problem.y == 1, -log_odds, log_odds)[told]
    bits[told] = np.logaddexp(0, wrong) / np.log(2)
    return bits, log_odds


def compare(ours: Floats, theirs: Floats, least: float) -> tuple[float, float]:
    """The ratio of two mean losses of the same rows, and its standard error by linearisation.

    Means below `least`, 1/n for n rows, count as that: n rows without a mistake cannot tell them
    apart.
    """
    if not len(ours):
        return float("nan"), float("nan")
    below = max(theirs.mean(), least)
    ratio = max(ours.mean(), least) / below
    rest = ours - ratio * theirs
    return float(ratio), float(rest.std(ddof=1) / (np.sqrt(len(rest)) * below))


def calibration_slope(log_odds: Floats, y: Floats) -> float:
    """Slope b of ln p/(1-p) = a + b log odds, fitted to y; NaN where the log odds part the classes.

    1 is honest; below 1 probabilities are too sure, above 1 not sure enough.
    """
    return fit_slope(log_odds, y)[0]


def fit_slope(log_odds: Floats, y: Floats) -> tuple[float, float]:
    """The calibration slope and its standard error."""
    if log_odds[y == 0].max() <= log_odds[y == 1].min():
        return float("nan"), float("nan")
    scale = log_odds.std()
    x = log_odds[:, None] / scale
    line = LogisticRegression(C=1e12, solver="newton-cholesky", tol=1e-10).fit(x, y)
    curvature = line.predict_proba(x).prod(axis=1)
    away = log_odds - np.average(log_odds, weights=curvature)
    return float(line.coef_[0, 0] / scale), float(1 / np.sqrt(curvature @ away**2))


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
    words.add_argument("--cache", type=Path, default=CACHE, help="a folder for the fits of weigh")
    words.add_argument("--kept", type=Path, default=KEPT, help="a folder for the fits of rivals")
    words.add_argument("--as-is", action="store_true", help="run nothing: write what is kept")
    words.add_argument("--rivals-as-they-are", action="store_true", help="run no fold of a rival")
    words.add_argument("--sets", nargs="+", choices=[*SOURCES], default=[*SOURCES])
    words.add_argument("--learners", nargs="+", choices=[*LEARNERS], default=[*LEARNERS])
    return words.parse_args()


@dataclass(frozen=True)
class Keeping:
    """Where fits are kept, and whether those that are missing are left out."""

    ours: Path
    rivals: Path
    ours_as_is: bool = False
    rivals_as_is: bool = False

    def run(self, problem: Problem, name: str) -> list[Run]:
        if LEARNERS[name].library == "weigh":
            return [*run_folds(problem, name, self.ours, self.ours_as_is)]
        return [*run_folds(problem, name, self.rivals, self.rivals_as_is)]


def run_set(problem: Problem, learners: list[str], keeping: Keeping) -> dict[str, Outcome]:
    """What each learner did on a set; one without a fold is not there."""
    runs = {name: keeping.run(problem, name) for name in learners}
    outcomes = {name: gather(problem, done, runs.get(RIVAL)) for name, done in runs.items() if done}
    for name, outcome in outcomes.items():
        words = f"{outcome.bits:.4f} bits, {outcome.fit_seconds:.2f} s"
        print(f"{problem.name:<12}{name:<22}{words}", file=sys.stderr, flush=True)
    return outcomes


def run_all(sets: list[str], learners: list[str], keeping: Keeping) -> Results:
    problems = {name: prepare(name) for name in sets}
    return Results(
        outcomes={name: run_set(problem, learners, keeping) for name, problem in problems.items()},
        shapes={name: describe(problem) for name, problem in problems.items()},
        versions={learner.library: version(learner.library) for learner in LEARNERS.values()},
        machine=describe_machine(),
        source=_code_key(weigh.__file__)[:16],
        date=date.today().isoformat(),
    )


def describe_machine() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = names[0] if names else platform.processor() or platform.machine()
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}"


def main() -> None:
    asked = read_arguments()
    warnings.simplefilter("ignore")  # the rivals' own words on versions, gaps and convergence
    left_out = asked.as_is or asked.rivals_as_they_are
    keeping = Keeping(asked.cache, asked.kept, asked.as_is, left_out)
    with hold_to_one_thread():
        results = run_all(asked.sets, asked.learners, keeping)
    if asked.sets == [*SOURCES] and asked.learners == [*LEARNERS]:
        RESULTS.parent.mkdir(exist_ok=True)
        if asked.as_is:
            results = replace(results, pace=Results.read(RESULTS).pace)
        elif results.rivals_since < results.date:
            results = replace(results, pace=find_pace(asked.kept))
        results.write(RESULTS)
        write_page(results, PAGE)


if __name__ == "__main__":
    main()
