"""One rival in its own environment and process.

    python -m benchmarks.rivals.one MODULE NAME MOST_SECONDS FOLDER ...

fits the rival to `train.parquet` of every folder in turn, predicts `test.parquet`, and prints a
line of JSON each: processor seconds, bytes, loss in bits and AUC. After a fit above the given
seconds it stops: the folders come from small to large. The column `target` holds 0 and 1. A warm-up
on a few rows comes first, so that nobody's compiler is timed.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.clock import cost_of, forget_peak, peak_memory
from benchmarks.rivals.fitted import Fit, Fitted

WARM_ROWS, ONE_ROW_RUNS = 500, 20
LEAST = 1e-10
"""Probabilities are kept this far from 0 and 1, as on the quality page."""


def measure(fit: Fit, folder: Path) -> dict[str, Any]:
    train, test = (pd.read_parquet(folder / f"{part}.parquet") for part in ("train", "test"))
    y, y_test = (frame.pop("target").to_numpy() for frame in (train, test))
    some = np.linspace(0, len(y) - 1, min(len(y), WARM_ROWS)).astype(int)
    fit(train.iloc[some].reset_index(drop=True), y[some]).predict_proba(test.iloc[:1])
    held: list[Fitted] = []
    before = forget_peak()
    fitting = cost_of(lambda: held.append(fit(train, y)))
    above = peak_memory() - before
    model, told = held[0], []
    predicting = cost_of(lambda: told.append(np.asarray(model.predict_proba(test))))
    row = test.iloc[:1]
    alone = [cost_of(lambda: model.predict_proba(row)).processor for _ in range(ONE_ROW_RUNS)]
    return {
        "rows": len(y),
        "columns": train.shape[1],
        "fit": fitting.processor,
        "wall": fitting.wall,
        "predict": predicting.processor,
        "one_row": float(np.median(alone)),
        "memory": above,
        "size": model.size(),
        "bits": loss_in_bits(told[0], y_test),
        "auc": find_auc(told[0][:, 1], y_test),
    }


def loss_in_bits(p: Any, y: Any) -> float:
    return float(-np.log2(np.clip(p[np.arange(len(y)), y], LEAST, 1)).mean())


def find_auc(score: Any, y: Any) -> float:
    """The Mann-Whitney count, ties by half: no environment needs scikit-learn for it."""
    ranks = pd.Series(score).rank().to_numpy()
    ones = int(y.sum())
    return float((ranks[y == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(y) - ones)))


def main() -> None:
    module, name, most_seconds, *folders = sys.argv[1:]
    warnings.simplefilter("ignore")  # the rivals' own words on versions, gaps and convergence
    fit = importlib.import_module(f"benchmarks.rivals.{module}").RIVALS[name]
    out = sys.stdout
    sys.stdout = sys.stderr  # whatever a rival prints is no result
    for folder in folders:
        found = measure(fit, Path(folder))
        print(json.dumps({"folder": folder} | found), file=out, flush=True)
        if found["fit"] > float(most_seconds):
            return


if __name__ == "__main__":
    main()
