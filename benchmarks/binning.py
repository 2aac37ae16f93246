"""Optimal bins within limits: weigh's `Binning` against optbinning's `OptimalBinning`.

    python -m benchmarks.binning

Both have the same limits: at most six levels, at least 5% of the rows in each, and a trend.
optbinning chooses among the cut points of a decision tree (at most 20 prebins, its default). Its
information values are computed again from its levels, by the function that computes weigh's. Times
are processor times of the same run, the best of three each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from weigh import datasets
from weigh.bins import Binning
from weigh.bins.binning import TRENDS

CANCER = ("mean radius", "mean texture", "mean smoothness", "worst concavity")
NUMBERS = {
    "pima_diabetes": ("plas", "mass", "age"),
    "telco_churn": ("tenure", "monthlycharges"),
    "bank_marketing_full": ("age", "balance", "duration"),
    "compas_two_years": ("priors_count",),
}
CATEGORIES = {"bank_marketing_full": ("job", "month"), "telco_churn": ("paymentmethod",)}
RIVAL_TRENDS = {"free": None, "monotone": "auto_asc_desc", "peak": "peak"}
TIMES = 3


@dataclass(frozen=True)
class Case:
    """A column without missing values, and its classes."""

    name: str
    values: Any
    labels: Any
    numeric: bool


def cases() -> list[Case]:
    """Columns of public data: thirteen of numbers, three of categories."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    found = [Case(name, X[name].to_numpy(), y.to_numpy(), True) for name in CANCER]
    for listed, numeric in ((NUMBERS, True), (CATEGORIES, False)):
        for file, names in listed.items():
            table = datasets.load(file).to_pandas()
            labels = np.unique(table["class"], return_inverse=True)[1]
            for name in names:
                kept = table[name].notna().to_numpy()
                values = table[name][kept].to_numpy(dtype=float if numeric else object)
                found.append(Case(f"{file} {name}", values, labels[kept], numeric))
    return found


def ours(case: Case, trend: str) -> Any:
    """The level of each row."""
    rule = Binning(trend=trend)  # type: ignore[arg-type]
    if case.numeric:
        cuts = rule.cut(case.values, case.labels, None, 2)
        return lambda: np.searchsorted(cuts, case.values)
    codes, kinds = pd.factorize(case.values)
    counts = np.bincount(2 * codes + case.labels, minlength=2 * len(kinds)).reshape(-1, 2)
    groups = rule.join(counts.astype(float), ordered=False)
    level = {place: k for k, group in enumerate(groups) for place in group}
    return lambda: np.array([level[code] for code in codes.tolist()])


def theirs(case: Case, trend: str) -> Any:
    """The level of each row, by optbinning."""
    from optbinning import OptimalBinning

    dtype = "numerical" if case.numeric else "categorical"
    rival = OptimalBinning(
        dtype=dtype, max_n_bins=6, min_bin_size=0.05, monotonic_trend=RIVAL_TRENDS[trend]
    ).fit(case.values, case.labels)
    return lambda: rival.transform(case.values, metric="indices")


def information(levels: Any, labels: Any) -> float:
    """The information value of levels."""
    counts = np.array([[np.sum((levels == v) & (labels == c)) for c in (0, 1)] for v in {*levels}])
    share = counts / counts.sum(axis=0)
    return float(((share[:, 1] - share[:, 0]) * np.log(share[:, 1] / share[:, 0])).sum())


def clock(find: Callable[[Case, str], Any], case: Case, trend: str) -> tuple[float, float]:
    """Milliseconds, and the information value of what was found."""
    times = []
    for _ in range(TIMES):
        start = time.process_time()
        levels = find(case, trend)
        times.append(time.process_time() - start)
    return 1000 * min(times), information(levels(), case.labels)


def main() -> None:
    """Print one line for each column and trend."""
    assert {*RIVAL_TRENDS} <= {*TRENDS}
    print("| column | trend | rows | IV, optbinning | IV, weigh | optbinning, ms | weigh, ms |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    total = np.zeros(2)
    for case in cases():
        for trend in RIVAL_TRENDS if case.numeric else ["free"]:
            ours(case, trend)  # compiled at the first call
            (slow, theirs_iv), (fast, ours_iv) = (
                clock(theirs, case, trend),
                clock(ours, case, trend),
            )
            total += slow, fast
            cells = [f"{len(case.labels):,}", f"{theirs_iv:.4f}", f"{ours_iv:.4f}"]
            print("|", " | ".join([case.name, trend, *cells, f"{slow:.1f}", f"{fast:.1f}"]), "|")
    print(f"\nTime ratio of all lines: {total[0] / total[1]:.1f}")


if __name__ == "__main__":
    main()
