"""What recalibration does to held-out probabilities: slope, loss and AUC, before and after.

    WEIGH_DATA=... python -m benchmarks.calibration [repeats]

prints the table of docs/calibration.md. Every figure is a mean over the validation folds of
repeated 5-fold cross-validation; the learner, its folds and the curve see the other rows only.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from weigh import BoostedNB, EvidenceNB, datasets
from weigh.calibrate import FITS, recalibrate
from weigh.metrics import Scored, auc, calibration_line, loss_bits

SIX = (
    "Gender",
    "Age_at_Release",
    "Education_Level",
    "Prior_Conviction_Episodes_Viol",
    "Prison_Offense",
    "Prison_Years",
)
SETS = {"pima": "pima_diabetes", "crx": "credit_approval_crx", "NIJ": "nij_recidivism_full"}
LEARNERS = {
    "EvidenceNB": EvidenceNB(),
    "BoostedNB": BoostedNB(random_state=0),
    "BoostedNB, no scale": BoostedNB(calibrate_scale=False, random_state=0),
}


def read(name: str) -> tuple[Any, Any]:
    """A table of features, and the labels."""
    table = datasets.load(SETS[name])
    if name == "NIJ":
        return table.select([*SIX]).to_pandas(), table["Recidivism_Within_3years"].to_numpy()
    return table.drop_columns(["class"]).to_pandas(), table["class"].to_numpy()


def measure(X: Any, y: Any, learner: Any, repeats: int) -> dict[str, np.ndarray]:
    """Slope, loss in bits and AUC of every validation fold, by method."""
    found: dict[str, list[Any]] = {}
    for seed in range(repeats):
        for train, test in folds(seed).split(y, y):
            curves, totals = fit(X.iloc[train], y[train], X.iloc[test], learner, seed)
            for name, curve in curves.items():
                rows = Scored.read(y[test], expit(curve(totals)))
                figures = calibration_line(rows).slope, loss_bits(rows), auc(rows).value
                found.setdefault(name, []).append(figures)
    return {name: np.array(figures) for name, figures in found.items()}


def fit(X: Any, y: Any, X_new: Any, learner: Any, seed: int) -> tuple[dict[str, Any], Any]:
    """What each method makes of a total, as RecalibratedClassifier has it; and new rows' totals."""
    held_out = cross_val_predict(learner, X, y, cv=folds(seed), method="decision_function")
    curves: dict[str, Any] = {"not recalibrated": np.asarray}
    for method in FITS:
        curves[method] = recalibrate(held_out, y == np.unique(y)[1], None, method).apply
    return curves, clone(learner).fit(X, y).decision_function(X_new)


def folds(seed: int) -> StratifiedKFold:
    return StratifiedKFold(5, shuffle=True, random_state=seed)


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    warnings.simplefilter("ignore")
    print("| data | learner | method | slope (error of the mean) | loss in bits | AUC |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in SETS:
        X, y = read(name)
        times = 1 if name == "NIJ" else repeats
        for words, learner in LEARNERS.items():
            for method, figures in measure(X, y, learner, times).items():
                slope, loss, area = figures.mean(axis=0)
                error = figures[:, 0].std(ddof=1) / np.sqrt(len(figures))
                cells = (name, words, method, f"{slope:.2f} ({error:.2f})", f"{loss:.4f}")
                print(f"| {' | '.join(cells)} | {area:.5f} |", flush=True)


if __name__ == "__main__":
    main()
