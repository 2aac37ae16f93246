"""The exponents of one problem: unrestricted, of a norm that is given, or of one that is chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weigh.adjusted.moments import Levels, Moments, Problem
from weigh.adjusted.search import NormPath, choose_norm
from weigh.adjusted.solve import Logistic, Path
from weigh.adjusted.tables import active_features
from weigh.adjusted.training import IS_SEPARABLE, NO_RESTRICTION, RUNNING, Training
from weigh.engine import one_blas_thread
from weigh.evidence import FeatureTable
from weigh.frames import Floats
from weigh.newton.ball import Solution

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
    prior: float = 1.0

    @classmethod
    def of(cls, solution: Solution[Moments], path: NormPath | None = None) -> Fit:
        """What a search found."""
        return cls(solution.at, solution.norm, solution.here.loss, path)


def fit_logistic(tables: list[FeatureTable], offset: float, rows: Training, of: int) -> Fit:
    """Exponents of one class against the rest; 0 for a feature that tells nothing."""
    active = active_features([table.by_class for table in tables])
    constant = None
    if rows.fit_prior:
        offset, constant = 0.0, np.array([offset])
    levels = Levels(
        rows.rows,
        len(rows.class_counts),
        tuple(tables[j].padded for j in active),
        tuple(active),
        constant,
        known=rows.class_counts,
    )
    found = fit_problem(Logistic(levels, offset=offset, of=of), of, rows)
    exponents = np.zeros(len(tables))
    exponents[active] = found.exponents[: len(active)]
    prior = float(found.exponents[-1]) if rows.fit_prior else 1.0
    return replace(found, exponents=exponents, prior=prior)


def fit_problem(problem: Problem, of: int | None, rows: Training) -> Fit:
    """Exponents of the norm that is asked for; folds are dealt by one class against the rest."""
    with one_blas_thread():
        path = Path(problem, TOL)
        if rows.norm is not None and rows.norm != "cv":
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
    found = choose_norm(problem, free, rows.deal(of), rows.aggregate)
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
