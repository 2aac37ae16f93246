"""Which form of Perplexed Bayes is better where classes are unbalanced: "root" or "geometric"."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import weigh
from weigh import EvidenceNB, PerplexedNB

SETS = (  # by the share of the rarer class, from unbalanced to balanced
    "hepatitis",
    "telco_churn",
    "breast_cancer_ljubljana",
    "tic_tac_toe",
    "pima_diabetes",
    "breast_cancer_wisconsin",
    "house_votes_84",
    "credit_approval_crx",
    "compas_two_years",
    "heart_cleveland",
)
MOST, FOLDS = 3000, 5


def load(name: str) -> tuple[Any, Any]:
    """At most 3,000 rows, and whether each is of the rarer class."""
    frame = weigh.datasets.load(name).to_pandas()
    rows = np.random.default_rng(0).permutation(len(frame))[:MOST]
    frame = frame.iloc[rows].reset_index(drop=True)
    y = frame.pop("class")
    rarer = (y == sorted(set(y))[1]).to_numpy()
    return frame, rarer if rarer.mean() <= 0.5 else ~rarer


def hold_out(model: Any, X: Any, y: Any) -> Any:
    """The probability of the rarer class for every row, by a model of the other folds."""
    p = np.empty(len(y))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        p[test] = model.fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])[:, 1]
    return p


def bits(p: Any, y: Any) -> float:
    """The mean log loss in bits."""
    return float(-np.log2(np.clip(np.where(y, p, 1 - p), 1e-10, 1)).mean())


def forms_table() -> list[str]:
    """Share of the rarer class, its mean probability and the loss, by form."""
    lines = [
        "| data | rows | share | NB: mean p, loss | root: mean p, loss | geometric: mean p, loss |",
        "|" + " --- |" * 6,
    ]
    for name in SETS:
        X, y = load(name)
        cells = [name, f"{len(y):,}", f"{y.mean():.3f}"]
        for model in (EvidenceNB(), *(PerplexedNB(form=f, random_state=0) for f in FORMS)):
            p = hold_out(model, X, y)
            cells.append(f"{p.mean():.3f}, {bits(p, y):.3f}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


FORMS = ("root", "geometric")
