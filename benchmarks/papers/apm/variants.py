"""Other exponents than APM's, and the correction as printed."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from benchmarks.papers.apm.measure import SETS, against_rest, bits, load, splits
from weigh import AdjustedNB, EvidenceNB, engine
from weigh.frames import read


def variants(name: str) -> dict[str, tuple[float, float]]:
    """Error and loss of other choices of exponents, in one 10-fold cross-validation."""
    X, y, split = load(name)
    smoothing, sums = SETS[name][2], defaultdict(list)
    target = y == (SETS[name][1] or sorted(set(y)))[0]
    for train, test, seed in splits(name, X, target, split, 1):
        shared = {"smoothing": smoothing, "categorical_features": "all"}
        Z, t = X.iloc[train], target[train]
        apm = AdjustedNB(**shared, norm=None).fit(Z, t)
        positive = X.columns[apm.exponents_ >= 0]
        fits = {
            "naive Bayes (all exponents 1)": EvidenceNB(**shared).fit(Z, t),
            "greedy selection (exponents 0 or 1)": EvidenceNB(**shared).fit(
                Z[greedy(EvidenceNB(**shared).fit(Z, t), Z, t)], t
            ),
            "APM": apm,
            "APM without its negative features, refitted": AdjustedNB(**shared, norm=None).fit(
                Z[positive], t
            ),
            "APM with an exponent for the prior": AdjustedNB(
                **shared, norm=None, fit_prior=True
            ).fit(Z, t),
            "APMR": AdjustedNB(**shared, norm="paper", aggregate="median", random_state=seed).fit(
                Z, t
            ),
        }
        for method, model in fits.items():
            p = model.predict_proba(X.iloc[test])[np.arange(len(test)), target[test].astype(int)]
            sums[method].append((100 * float((p < 0.5).mean()), bits(p)))
    return {method: tuple(np.mean(rows, axis=0)) for method, rows in sums.items()}  # type: ignore[misc]


def greedy(model: Any, X: Any, target: Any) -> list[str]:
    """Features added one at a time while the training loss falls."""
    evidence = model.evidence_
    placed = engine.place(read(X), [table.feature for table in evidence])
    Q = engine.expand(placed, [table.padded[:, 0] for table in evidence], len(X))
    sign = np.where(target, 1.0, -1.0)
    totals, chosen = np.full(len(Q), float(evidence.prior_row[0])), []
    best = np.logaddexp(0, -sign * totals).sum()
    while len(chosen) < Q.shape[1]:
        losses = np.logaddexp(0, -sign[:, None] * (totals[:, None] + Q)).sum(axis=0)
        losses[chosen] = np.inf
        j = int(losses.argmin())
        if losses[j] >= best:
            break
        best, totals = losses[j], totals + Q[:, j]
        chosen.append(j)
    return [X.columns[j] for j in chosen] or [X.columns[0]]


def as_printed(repetitions: int = 1) -> dict[str, tuple[float, float]]:
    """Lymph's NB rows with the correction as printed: L and 2L added to P(C|v)."""
    X, y, _ = load("lymph")
    rows = defaultdict(list)
    for train, test, _ in splits("lymph", X, y, None, repetitions):
        for k, label in enumerate(SETS["lymph"][1] or []):
            target = y[train] == label
            if 0 < target.mean() < 1:
                model = EvidenceNB(smoothing="hong", categorical_features="all")
                totals = model.fit(X.iloc[train], target).decision_function(X.iloc[test])
                rows[str(k + 1)].append(against_rest(totals, y[test] == label))
    return {part: tuple(np.mean(values, axis=0)) for part, values in rows.items()}  # type: ignore[misc]
