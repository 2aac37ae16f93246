"""Small models beside those of other libraries: hold-out loss at 5 and 10 features, 5 levels each.

    python -m benchmarks.budget [--fasterrisk PYTHON] [--interpret PYTHON] [--folds N] [--rows N]
                                [SET ...]

PYTHON is the interpreter of an environment that holds the rival. Every learner sees the same folds
(`benchmarks.sets`): all five, or the first --folds of them, of a sample of --rows. Losses are in
bits, as a mean over the hold-out rows of these folds; differences from weigh are paired by row,
with standard errors. Seconds are processor seconds of a fold, the whole model and its
simplification together.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

import weigh
from benchmarks.sets import FOLDS, SEED, Problem, prepare

SETS = ("heart", "pima", "breast_cancer", "titanic", "telco", "compas")
FEATURES, LEVELS, POINTS = (5, 10), 5, 5
RIVALS = Path(__file__).parent / "rivals" / "small.py"


def read(name: str, rows: int | None = None) -> Problem:
    """A set by name: one of scikit-learn's own, or of the data folder; perhaps a sample of it."""
    if name != "breast_cancer":
        found = prepare(name)
        if rows is None or rows >= len(found.y):
            return found
        kept = np.random.default_rng(SEED).permutation(len(found.y))[:rows]
        X = found.X.iloc[kept].reset_index(drop=True)
        return Problem(name, X, found.y[kept], found.folds[kept])
    bunch = load_breast_cancer(as_frame=True)
    order = np.random.default_rng(SEED).permutation(len(bunch.target))
    folds = np.empty(len(order), int)
    folds[order] = np.arange(len(order)) % FOLDS
    return Problem(name, bunch.data, bunch.target.to_numpy(), folds)


def run_weigh(task: dict[str, Any], points: int | None = None) -> dict[str, Any]:
    budget = {"features": task["features"], "levels": task["levels"], "points": points}
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = weigh.EducatedNB(pairs=0).fit(task["X"], task["y"])
        small = weigh.simplify(model, task["X"], task["y"], **budget)
    seconds = time.process_time() - started
    p = small.predict_proba(task["Z"])[:, 1]
    return {"p": p, "features": len(small.evidence_), "seconds": seconds}


def run_rival(name: str, python: str, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All folds in one process."""
    tables = [{key: _plain(task[key]) for key in ("X", "Z")} for task in tasks]
    plain = [
        {**task, **own, "y": task["y"].tolist()} for task, own in zip(tasks, tables, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "tasks.json", Path(folder) / "answers.json"
        given.write_text(json.dumps(plain))
        command = [python, "-P", str(RIVALS), name, str(given), str(answer)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found: list[dict[str, Any]] = json.loads(answer.read_text())
    return found


def _plain(table: pd.DataFrame) -> dict[str, Any]:
    """A table as JSON, which any version of pandas reads."""
    text = {name: isinstance(table[name].dtype, pd.CategoricalDtype) for name in table}
    columns = {n: table[n].astype(object).where(table[n].notna(), None).tolist() for n in table}
    return {"text": text, "columns": columns}


def losses(p: Any, y: Any) -> Any:
    """Bits by row."""
    p = np.clip(np.asarray(p), 1e-10, 1 - 1e-10)
    return -np.log2(np.where(y == 1, p, 1 - p))


def measure(problem: Problem, folds: int, pythons: dict[str, str]) -> pd.DataFrame:
    """A line for each learner and budget: loss, difference from weigh, features used, seconds."""
    own = [problem.folds != fold for fold in range(folds)]
    tasks = [
        {
            "fold": fold,
            "X": problem.X[train],
            "y": problem.y[train],
            "Z": problem.X[~train],
            "features": features,
            "levels": LEVELS,
        }
        for features in FEATURES
        for fold, train in enumerate(own)
    ]
    answers = {"weigh": [run_weigh(task) for task in tasks]}
    answers["weigh, points"] = [run_weigh(task, POINTS) for task in tasks]
    answers |= {name: run_rival(name, python, tasks) for name, python in pythons.items()}
    parts = []
    for k, features in enumerate(FEATURES):
        chosen = {name: found[k * folds : (k + 1) * folds] for name, found in answers.items()}
        parts.append(summarise(problem, features, own, chosen))
    return pd.concat(parts)


def summarise(
    problem: Problem, features: int, own: list[Any], answers: dict[str, list[dict[str, Any]]]
) -> pd.DataFrame:
    """A line for each learner, within one budget."""
    found = {
        name: [
            (losses(got["p"], problem.y[~train]), got["features"], got["seconds"])
            for got, train in zip(answered, own, strict=True)
        ]
        for name, answered in answers.items()
    }
    ours = np.concatenate([fold[0] for fold in found["weigh"]])
    lines = []
    for name, folds in found.items():
        bits = np.concatenate([fold[0] for fold in folds])
        apart = bits - ours
        used, seconds = (float(np.mean([fold[i] for fold in folds])) for i in (1, 2))
        error = apart.std() / np.sqrt(len(apart))
        lines.append(
            (problem.name, features, name, bits.mean(), apart.mean(), error, used, seconds)
        )
    head = ["set", "features", "learner", "loss", "difference", "error", "used", "seconds"]
    return pd.DataFrame(lines, columns=head)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    for rival in ("fasterrisk", "interpret"):
        parser.add_argument(f"--{rival}", metavar="PYTHON")
    parser.add_argument("--folds", type=int, default=FOLDS, choices=range(1, FOLDS + 1))
    parser.add_argument("--rows", type=int)
    asked = parser.parse_args()
    pythons = {"lasso": sys.executable}
    for rival in ("interpret", "fasterrisk"):
        if getattr(asked, rival):
            pythons[rival] = getattr(asked, rival)
    for name in asked.sets:
        table = measure(read(name, asked.rows), asked.folds, pythons)
        print(table.round(4).to_csv(index=False, header=False), end="", flush=True)


if __name__ == "__main__":
    main()
