"""Fit some tables again while the others are held.

loss(w) + 1/2 sum over free weights of pull_v (w_v - before_v)^2

A weight is pulled to what it was as strongly as its prior held it: one over its squared standard
error, less the curvature of its rows. So smooth tables stay smooth, and levels of few rows stay.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from weigh.budget.quadratic import RIDGE, Quadratic
from weigh.evidence import Evidence, FeatureTable, squeeze
from weigh.frames import Floats, Sample

STEPS, PRECISE = 30, 1e-12
"""Newton steps end where none moves a weight by more."""


def refit_others(evidence: Evidence, sample: Sample, held: Collection[str]) -> Evidence:
    """The weights of least loss of the tables that are not held, and of the prior."""
    before = _weights(evidence)
    near = Quadratic.at(evidence, sample)
    free = np.ones(len(before), bool)
    pull = np.zeros_like(before)
    for table, span in zip(evidence, near.spans, strict=True):
        free[span] = table.name not in held
        curvature = np.diagonal(near.hessian, axis1=1, axis2=2)[:, span].T
        pull[span] = _pull(table, curvature)
    for _ in range(STEPS):
        step = _step(near, _weights(evidence) - before, pull, free, _weights(evidence))
        evidence = _moved(evidence, step)
        near = Quadratic.at(evidence, sample)
        if np.abs(step).max() <= PRECISE:
            break
    tables = tuple(
        table if table.name in held else replace(table, known_errors=None, variances=None)
        for table in evidence
    )
    return replace(evidence, tables=tables, covariance=None, prior_variances=None)


def _pull(table: FeatureTable, curvature: Floats) -> Floats:
    errors = table.errors
    if errors is None:
        return np.full_like(curvature, RIDGE)
    known = np.nan_to_num(errors.reshape(curvature.shape), nan=np.inf)
    return np.maximum(1 / np.maximum(known, 1e-9) ** 2 - curvature, RIDGE)


def _step(near: Quadratic, away: Floats, pull: Floats, free: Floats, weights: Floats) -> Floats:
    """A Newton step of the free weights, by weight and total."""
    step = np.zeros_like(weights)
    for k, hessian in enumerate(near.hessian):
        slope = hessian @ weights[:, k] - near.right[k] + pull[:, k] * away[:, k]
        held = hessian[np.ix_(free, free)] + np.diag(pull[free, k])
        step[free, k] = -np.linalg.solve(held, slope[free])
    return step


def _weights(evidence: Evidence) -> Floats:
    return np.vstack([evidence.prior_row, *(table.by_class for table in evidence)])


def _moved(evidence: Evidence, step: Floats) -> Evidence:
    parts = np.split(step[1:], np.cumsum([len(table.levels) for table in evidence])[:-1])
    tables = [
        replace(table, by_class=table.by_class + part)
        for table, part in zip(evidence, parts, strict=True)
    ]
    prior = squeeze(evidence.prior_row + step[0])
    return replace(evidence, prior=prior, tables=tuple(tables))
