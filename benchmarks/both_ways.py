"""Does climbing both ways earn its place beside Eq. 5, which only adds? Held-out AUC and log loss.

`python -m benchmarks.both_ways` runs 4 times 5 folds on sixteen data sets ($WEIGH_DATA); names on
the command line choose some. Cut points are found in the training folds. A method wins, ties or
loses by a t test at 90% whose variance is corrected for folds that share rows (Nadeau & Bengio).
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from scipy.stats import t
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from weigh import AdjustedNB, EvidenceNB, WeightedNB, datasets

NAMES = (
    "pima_diabetes",
    "australian_credit",
    "heart_cleveland",
    "hepatitis",
    "house_votes_84",
    "breast_cancer_wisconsin",
    "credit_approval_crx",
    "breast_cancer_ljubljana",
    "tic_tac_toe",
    "kr_vs_kp",
    "compas_two_years",
    "telco_churn",
    "vehicle",
    "dermatology",
    "waveform_5000",
    "segment",
)
REPEATS, FOLDS = 4, 5


def make_models() -> dict[str, Any]:
    up, both = "hill_climbing", "hill_climbing_both_ways"
    return {
        "naive": EvidenceNB(),
        "up": WeightedNB(method=up),
        "up, cv": WeightedNB(method=up, choose_on="cv", random_state=0),
        "gain ratio, up": WeightedNB(),
        "gain ratio, up, cv": WeightedNB(choose_on="cv", random_state=0),
        "both ways": WeightedNB(method=both),
        "both ways, cv": WeightedNB(method=both, choose_on="cv", random_state=0),
        "adjusted": AdjustedNB(random_state=0),
    }


def run(name: str) -> tuple[Any, Any]:
    """AUC times 100 and bits, by model and fold."""
    frame = datasets.load(name).to_pandas()
    if name == "compas_two_years":  # outcomes, and the scores of the rival
        frame = frame.drop(columns=[c for c in frame if "recid" in c or "score" in c])
    y = frame.pop("class").to_numpy()
    folds = [StratifiedKFold(FOLDS, shuffle=True, random_state=seed) for seed in range(REPEATS)]
    auc, bits = [], []
    for train, test in (split for fold in folds for split in fold.split(frame, y)):
        fits = [m.fit(frame.iloc[train], y[train]) for m in make_models().values()]
        p = [model.predict_proba(frame.iloc[test]) for model in fits]
        totals = [model.decision_function(frame.iloc[test]) for model in fits]
        scores = totals if p[0].shape[1] == 2 else p
        auc.append([100 * roc_auc_score(y[test], s, multi_class="ovo") for s in scores])
        bits.append([log_loss(y[test], np.clip(q, 1e-12, 1)) / np.log(2) for q in p])
    return np.array(auc).T, np.array(bits).T


def verdict(one: Any, other: Any) -> int:
    """1, 0 or -1: whether the first is larger, by the corrected t test."""
    change = one - other
    error = change.std(ddof=1) * np.sqrt(1 / len(change) + 1 / (FOLDS - 1))
    return int(np.sign(change.mean())) * int(
        abs(change.mean()) > t.ppf(0.95, len(change) - 1) * error
    )


def main() -> None:
    warnings.simplefilter("ignore")
    models = [*make_models()]
    found = []
    for name in sys.argv[1:] or NAMES:
        found.append(run(name))
        means = "".join(f"{part.mean():>8.2f}" for part in found[-1][0])
        print(f"{name:<26}{means}", flush=True)
    print(f"\n{'means; against naive and up':<26}{'AUC':>8}{'bits':>8}{'naive':>10}{'up':>10}")
    for i, name in enumerate(models):
        auc, bits = (np.mean([part[k][i].mean() for part in found]) for k in (0, 1))
        rivals = []
        for j in (0, 1):
            votes = [verdict(part[0][i], part[0][j]) for part in found]
            rivals.append("-".join(str(votes.count(sign)) for sign in (1, 0, -1)))
        print(f"{name:<26}{auc:>8.2f}{bits:>8.3f}{rivals[0]:>10}{rivals[1]:>10}")


if __name__ == "__main__":
    main()
