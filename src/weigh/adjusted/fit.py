"""The exponents of one problem: unrestricted, of a norm that is given, or of one that is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.adjusted.moments import Moments, Problem
from weigh.adjusted.polytomous import Polytomous
from weigh.adjusted.search import NormPath, choose_norm
from weigh.adjusted.solve import Logistic, Path
from weigh.adjusted.tables import active_features
from weigh.adjusted.training import IS_SEPARABLE, NO_RESTRICTION, RUNNING, Naive, Training
from weigh.engine import one_blas_thread
from weigh.frames import Floats
from weigh.newton.ball import Solution
from weigh.tally import Tally

SEPARABLE = 0.001 * np.log(2)
"""Separable classes end the paper's search below this loss."""

TOL = 1e-10


@dataclass(frozen=True)
class Fit:
    """The exponents of one problem, that of the prior, and how they were found."""

    exponents: Floats
    norm: float
    loss: float
    path: NormPath | None
    prior: Any = 1.0

    @classmethod
    def of(cls, solution: Solution[Moments], path: NormPath | None = None) -> Fit:
        """What a search found."""
        return cls(solution.at, solution.norm, solution.here.loss, path)


def fit_logistic(rows: Training, naive: Callable[[Tally], Naive], of: int) -> Fit:
    """Exponents of one class against the rest; 0 for a feature that tells nothing."""
    tables, _ = naive(rows.whole.tally)
    active = active_features([table.by_class for table in tables])
    found = fit_problem(Logistic(rows.levels(naive, active, of), of=of), rows)
    exponents = np.zeros(len(tables))
    exponents[active] = found.exponents[: len(active)]
    prior = float(found.exponents[-1]) if rows.fit_prior else 1.0
    return replace(found, exponents=exponents, prior=prior)


def fit_jointly(rows: Training, naive: Callable[[Tally], Naive], shared: bool) -> Fit:
    """Exponents of all classes together, by class and feature; or the same for all classes."""
    tables, _ = naive(rows.whole.tally)
    active = active_features([table.by_class for table in tables])
    found = fit_problem(Polytomous(rows.levels(naive, active, None), shared=shared), rows)
    n_classes, n_columns = len(rows.class_counts), len(active) + rows.fit_prior
    by_class = found.exponents.reshape(1 if shared else n_classes, n_columns)
    exponents = np.zeros((n_classes, len(tables)))
    exponents[:, active] = by_class[:, : len(active)]
    prior = np.ones(n_classes)
    prior[:] = by_class[:, -1] if rows.fit_prior else 1.0
    return replace(found, exponents=exponents, prior=prior)


def fit_problem(problem: Problem, rows: Training) -> Fit:
    """Exponents of the norm that is asked for."""
    with one_blas_thread():
        path = Path(problem, TOL)
        if rows.norm is not None and not isinstance(rows.norm, str):
            return _fit_norm(path, rows)
        free = path.solve(separable=SEPARABLE)
        if free.stopped:
            free = path.full_steps(SEPARABLE) or free
    if rows.norm is None:
        if free.stopped:
            rows.warn(IS_SEPARABLE.format(free.norm))
        elif free.running:
            rows.warn(RUNNING.format(free.norm))
        return Fit.of(rows.converged(free))
    found = choose_norm(problem, free, rows.aggregate, as_printed=rows.norm == "paper")
    if found.chosen >= free.norm:
        return Fit.of(rows.converged(free), found)
    with one_blas_thread():
        return Fit.of(rows.converged(path.solve(found.chosen)), found)


def _fit_norm(path: Path, rows: Training) -> Fit:
    norm = float(rows.norm)
    solution = path.solve(norm)
    free = solution.multiplier == 0 and solution.norm < norm * (1 - 1e-6)
    if free and solution.running:
        rows.warn(RUNNING.format(solution.norm))
    elif free:
        rows.warn(NO_RESTRICTION.format(rows.norm, solution.norm), UserWarning)
    return Fit.of(rows.converged(solution))
