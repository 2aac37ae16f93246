"""Who wins: the paper's contrasts, and a test that allows for rows that training parts share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import t

from benchmarks.papers.weighted.methods import AUC, FOLDS

Results: TypeAlias = dict[str, Any]
"""By data set, an array by way, repetition, fold, method and measure."""

Judge: TypeAlias = Callable[[str, int, int], int]


def anova(means: Any, deviations: Any, n: int) -> Callable[[int, int], int]:
    """Contrasts of one-way analysis of variance: 1, 0 or -1 for two methods, at 90%.

    The error is pooled over the methods, each of which has n values.
    """
    error = np.sqrt(2 * (deviations**2).mean() / n)
    margin = t.ppf(0.95, len(means) * (n - 1)) * error

    def judge(i: int, j: int) -> int:
        change = means[i] - means[j]
        return int(np.sign(change)) * int(abs(change) > margin)

    return judge


def corrected(one: Any, other: Any) -> int:
    """1, 0 or -1 by a t test at 90% whose variance allows for folds that share rows.

    Nadeau & Bengio (2003).
    """
    change = (one - other).ravel()
    error = change.std(ddof=1) * np.sqrt(1 / len(change) + 1 / (FOLDS - 1))
    limit = t.ppf(0.95, len(change) - 1) * error
    return int(np.sign(change.mean())) * int(abs(change.mean()) > limit)


def by_contrasts(results: Results, names: Sequence[str], way: int) -> Judge:
    judges = {}
    for name in names:
        values = scores(results, name, way, AUC).mean(axis=1)
        spread = values[:, ~np.isnan(values).any(axis=0)].std(axis=0, ddof=1)
        judges[name] = anova(values.mean(axis=0), spread, len(values))
    return lambda name, i, j: judges[name](i, j)


def by_corrected_test(results: Results, way: int, measure: int = AUC) -> Judge:
    def judge(name: str, i: int, j: int) -> int:
        values = scores(results, name, way, measure)
        return corrected(values[:, :, i], values[:, :, j])

    return judge


def count(judge: Judge, names: Sequence[str], i: int, j: int) -> str:
    votes = [judge(name, i, j) for name in names]
    return "-".join(str(votes.count(sign)) for sign in (1, 0, -1))


def scores(results: Results, name: str, way: int, measure: int) -> Any:
    """By repetition, fold and method."""
    return results[name][way, ..., measure]
