"""EducatedNB in the protocol of InterpretML's README: three stratified shuffles, a quarter to test.

Run `python -m benchmarks.shuffles`; telco needs WEIGH_DATA. That table has the AUC. Loss and
calibration slope are what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit

import weigh
from benchmarks.quality import calibration_slope, find_log_odds, loss
from benchmarks.sets import prepare

SPLITS = StratifiedShuffleSplit(n_splits=3, test_size=0.25, random_state=1337)
SETS = ("breast_cancer", "telco")


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    if name == "breast_cancer":
        return load_breast_cancer(return_X_y=True, as_frame=True)
    problem = prepare(name)
    return problem.X, problem.y


def run(X: pd.DataFrame, y: np.ndarray, learner: type = weigh.EducatedNB) -> Iterator[list[float]]:
    """AUC, loss in bits and calibration slope of each shuffle."""
    y = np.asarray(y)
    for train, test in SPLITS.split(X, y):
        model = learner().fit(X.iloc[train], y[train])
        p = model.predict_proba(X.iloc[test])
        auc = weigh.metrics.auc(y[test], p[:, 1]).value
        yield [auc, loss(p, y[test]), calibration_slope(find_log_odds(p), y[test])]


def main() -> None:
    print("set            AUC             loss (bits)     slope")
    for name in SETS:
        found = np.array([*run(*read(name))])
        means, spreads = found.mean(axis=0), found.std(axis=0)
        told = "  ".join(f"{m:.4f} ± {s:.4f}" for m, s in zip(means, spreads, strict=True))
        print(f"{name:<14} {told}", flush=True)


if __name__ == "__main__":
    main()
