"""Refits of some tables while the others are fixed.

A refit minimises

    loss(w) - g'(w - start) + 1/2 (w - start)' P (w - start)

`start` are the weights before all changes, g is the gradient of the loss there and P the Hessian of
the prior's penalty. For EducatedNB g is minus the gradient of the penalty, so this is the penalised
loss of its fit. For every model, `start` is the minimum if nothing was changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from weigh import engine
from weigh.arrays import Floats, Integers
from weigh.budget.quadratic import RIDGE, design_of, weights_of
from weigh.editing.actions import ACTIONS, RESHAPE
from weigh.editing.rows import ClassRows, NumberRows
from weigh.educated.prior import PAIRS, Prior, prior_of
from weigh.errors import warn_caller
from weigh.evidence import Evidence, FeatureTable, contrast, squeeze
from weigh.frames import Sample
from weigh.newton.descent import Order, Orders, conjugate_gradients, descend, promise, step_in_order
from weigh.newton.regression import Moments
from weigh.parameters import is_count
from weigh.sheet import find_positions


@dataclass(frozen=True, eq=False)
class Start:
    """The weights that a refit starts from: the given tables, also with the current levels.

    `scales` are the prior precisions of EducatedNB and of added pairs, by table, one per total.
    `signs` are the tables that must increase (1) or decrease (-1). `size` is the variance of a
    gaussian target, the unit of the prior's variances. `tied` are the pairs of a regressor that
    share one scale and a smooth prior.
    """

    given: Evidence
    reshaped: Evidence
    scales: Mapping[str, Floats]
    signs: Mapping[str, int]
    size: float = 1.0
    tied: Collection[str] = ()

    @classmethod
    def of(cls, model: Any, rows: ClassRows | NumberRows) -> Self:
        """The start for a model before any change, to be refitted to these rows."""
        evidence = model.evidence_
        size = 1.0
        if isinstance(rows, NumberRows) and evidence.link == "identity":
            size = rows.variance or 1.0
        return cls(evidence, evidence, _scales(model), _signs(model), size, _tied(model))

    def changed(self, action: str, sample: Sample, given: Mapping[str, Any]) -> Self:
        """The start with the tables and levels after a change, and with its own weights."""
        if action not in RESHAPE:
            return self
        after, scales = ACTIONS[action](self.reshaped, sample, **given), self.scales
        added = {*after.names} - {*self.reshaped.names} if action == "add_pair" else ()
        first = np.full(len(after.prior_row), 1 / (PAIRS * self.size))
        scales = {**scales, **dict.fromkeys(added, first)}
        left = frozenset(self.tied) & {*after.names}  # a pair that comes back has its own scale
        return replace(self, reshaped=after, scales=scales, tied=left)

    def scaled(self, name: str, scales: Floats) -> Self:
        """The start with other scales for a table."""
        return replace(self, scales={**self.scales, name: scales})

    def pull(self) -> Floats:
        """The Hessian P of the prior's penalty, by total.

        For models without a prior it is a ridge penalty of `RIDGE` for each level.
        """
        n = 1 + sum(len(table.levels) for table in self.reshaped)
        n_totals = len(self.reshaped.prior_row)
        found = np.zeros((n_totals, n, n))
        for start, table in self._starts():
            places = start + np.arange(len(table.levels))
            scales = self.scales.get(table.name)
            if scales is None:
                found[:, places, places] = RIDGE
                continue
            blocks, centres = prior_of(
                table.feature,
                table.counts,
                start,
                table.name in self.tied,
                self.reshaped.estimates,
            )
            prior = Prior(tuple(blocks), tuple(centres))
            later = [1 / (block.variance * self.size) for block in blocks[1:]]
            for k in range(n_totals if len(places) else 0):
                own = np.array([scales[k], *later])[: len(blocks)]
                prior.add_to(found[k], own, np.arange(n))
        return found

    def orders(self, held: Collection[str]) -> tuple[Order, ...]:
        """The order constraints of the monotone tables that are not held."""
        found = []
        for start, table in self._starts():
            n, sign = table.feature.n_in_order, self.signs.get(table.name)
            if sign and n > 1 and table.name not in held:
                found.append(Order(start + np.arange(n), sign))
        return tuple(found)

    def attributes(self) -> dict[str, Any]:
        """The fitted attributes that a later `edit` of the changed model needs."""
        names = self.reshaped.names
        found: dict[str, Any] = {}
        if all(name in self.scales for name in self.given.names):
            scales = np.array([self.scales[name] for name in names]).T
            found["scales_"] = scales if self.reshaped.link == "ovr" else scales[0]
        if self.tied:
            found["tied_"] = np.array([name in self.tied for name in names])
        if self.signs:
            left = {name: sign for name, sign in self.signs.items() if name in names}
            found["monotonic_cst"] = left
        return found

    def _starts(self) -> Iterator[tuple[int, FeatureTable]]:
        start = 1
        for table in self.reshaped:
            yield start, table
            start += len(table.levels)


def _scales(model: Any) -> dict[str, Floats]:
    scales = getattr(model, "scales_", None)
    evidence = model.evidence_
    if scales is None or np.shape(scales)[-1] != len(evidence):
        return {}
    n_totals = len(evidence.prior_row)
    every = np.broadcast_to(np.asarray(scales, dtype=np.float64), (n_totals, len(evidence)))
    return {table.name: every[:, j] for j, table in enumerate(evidence)}


def _tied(model: Any) -> frozenset[str]:
    flags, names = getattr(model, "tied_", None), model.evidence_.names
    if flags is None or len(flags) != len(names):
        return frozenset()
    return frozenset(name for name, own in zip(names, flags, strict=True) if own)


def _signs(model: Any) -> dict[str, int]:
    given = getattr(model, "monotonic_cst", None)
    names = model._column_names()
    if given is None:
        return {}
    pairs = given.items() if isinstance(given, Mapping) else zip(names, given, strict=True)
    return {names[name] if is_count(name) else name: int(sign) for name, sign in pairs}


STEPS, PRECISE, ENOUGH = 300, 1e-15, 1e-9
"""Most Newton steps, and two tolerances for the expected decrease of the loss by the next step, in
nats per row: steps end below `PRECISE`, and above `ENOUGH` the refit has not converged."""

CLASSES = 1e-8, 200
"""Tolerance and most iterations of conjugate gradients, for classes that are fitted jointly."""


def refit_others(
    evidence: Evidence,
    rows: ClassRows | NumberRows,
    held: Collection[str],
    start: Start,
    prior: bool = True,
) -> Evidence:
    """The evidence with all tables refitted except `held`, and with the prior refitted if asked."""
    problem = _problem(evidence, rows, held, start)
    problem.free[0] = prior
    with engine.one_blas_thread():
        found = _minimise(_Weights(problem, weights_of(evidence)))
    parts = np.split(found.weights[1:], np.cumsum([len(table.levels) for table in evidence])[:-1])
    tables = tuple(
        table
        if table.name in held
        else replace(table, by_class=part, known_errors=None, variances=None)
        for table, part in zip(evidence, parts, strict=True)
    )
    if not prior:
        return replace(evidence, tables=tables, covariance=None)
    first = squeeze(found.weights[0])
    return replace(evidence, prior=first, tables=tables, covariance=None, prior_variances=None)


def degrees_of_freedom(evidence: Evidence, rows: ClassRows | NumberRows, start: Start) -> float:
    """The effective degrees of freedom of all weights: tr((H + P)^-1 H), summed over the totals."""
    problem = _problem(evidence, rows, (), start)
    with engine.one_blas_thread():
        return _Weights(problem, weights_of(evidence)).degrees_of_freedom


@dataclass(frozen=True, eq=False)
class _Problem:
    """The data and penalties of a refit."""

    evidence: Evidence
    design: csr_array
    rows: ClassRows | NumberRows
    weight: Floats
    start: Floats
    slope: Floats  # gradient of the loss at the start
    pull: Floats  # P, by total
    free: Integers  # whether a weight may change
    orders: tuple[Order, ...]


def _problem(
    evidence: Evidence, rows: ClassRows | NumberRows, held: Collection[str], start: Start
) -> _Problem:
    weights, sample = weights_of(start.reshaped), rows.sample
    design = design_of(find_positions(evidence, sample.table), len(weights))
    before = weights_of(start.given)
    totals = design_of(find_positions(start.given, sample.table), len(before)) @ before
    slope = rows.moments(start.given, totals).slope
    free = [np.full(len(table.levels), table.name not in held) for table in evidence]
    known = [np.full(len(table.levels), table.name in start.given) for table in evidence]
    starts_fitted = np.concatenate(
        [[True], *known]
    )  # an added table starts at zero, not at a minimum
    return _Problem(
        evidence,
        design,
        rows,
        sample.weights,
        weights,
        np.where(starts_fitted[:, None], design.T @ slope, 0.0),
        start.pull(),
        np.concatenate([[True], *free]),
        start.orders(held),
    )


@dataclass(frozen=True, eq=False)
class _Weights:
    """A point of the search: weights (the prior first, a column per total) and their loss."""

    problem: _Problem
    weights: Floats

    @cached_property
    def _moments(self) -> Moments:
        own = self.problem
        return own.rows.moments(own.evidence, own.design @ self.weights)

    @cached_property
    def _away(self) -> Floats:
        return self.weights - self.problem.start

    @property
    def loss(self) -> float:
        """The penalised loss in nats."""
        own, away = self.problem, self._away
        tied = 0.5 * _times(own.pull, away) - own.slope
        return self._moments.loss + float((away * tied).sum())

    @cached_property
    def gradient(self) -> Floats:
        """The gradient of the penalised loss, set to zero for held weights."""
        own = self.problem
        slope = own.design.T @ self._moments.slope - own.slope + _times(own.pull, self._away)
        return np.asarray(np.where(own.free[:, None], slope, 0.0))

    def moved(self, step: Floats) -> _Weights:
        """The point at the weights minus `step`."""
        return _Weights(self.problem, self.weights - step)

    @cached_property
    def _factors(self) -> list[tuple[Floats, bool]]:
        """Cholesky factors of the Hessian of the free weights, for each total separately."""
        own, found = self.problem, []
        for curvature, pull in zip(self._moments.curvature.T, own.pull, strict=True):
            every = (own.design.T @ (own.design * curvature[:, None])).toarray() + pull
            free = every[np.ix_(own.free, own.free)]
            trace = np.finfo(float).eps * np.trace(free) * np.eye(len(free))
            found.append(cho_factor(free + trace))
        return found

    @property
    def degrees_of_freedom(self) -> float:
        """The number of weights minus tr((H + P)^-1 P), which the penalty takes away."""
        own = zip(self._factors, self.problem.pull, strict=True)
        held = sum(float(np.trace(cho_solve(factor, pull))) for factor, pull in own)
        return self.weights.size - held

    def _solve_alone(self, right: Floats) -> Floats:
        step = np.zeros_like(right)
        for k, factor in enumerate(self._factors):
            step[self.problem.free, k] = cho_solve(factor, right[self.problem.free, k])
        return step

    def _product(self, step: Floats) -> Floats:
        own = self.problem
        bent = own.design.T @ self._moments.multiply_hessian(own.design @ step, own.weight)
        return np.asarray(np.where(own.free[:, None], bent + _times(own.pull, step), 0.0))

    def newton_step(self) -> Floats:
        """Hessian^-1 gradient, or the constrained step if tables must stay monotone."""
        if self._moments.probability is not None and self.gradient.any():
            solved = conjugate_gradients(self._product, self.gradient, self._solve_alone, *CLASSES)
            return contrast(solved[0])  # a shift common to all classes has no effect
        if self.problem.orders:
            orders = Orders(self.problem.orders)
            return step_in_order(self.weights, self.gradient, self._solve_alone, orders)
        return self._solve_alone(self.gradient)


def _times(pull: Floats, away: Floats) -> Floats:
    return np.asarray(np.einsum("kij,jk->ik", pull, away))


def _minimise(point: _Weights) -> _Weights:
    """Minimise by damped Newton steps and one undamped last step; warn if not converged."""
    whole = float(point.problem.weight.sum())
    near = descend(point, _Weights.newton_step, least=PRECISE * whole, most=STEPS)
    step = near.newton_step()
    left = promise(near, step)
    if not left <= ENOUGH * whole:
        warn_caller(
            f"the refit has not converged: one more step would gain {left / whole:.1e} nats a row "
            f"(limit {ENOUGH:g}); change less by hand, or leave refit=True out",
            ConvergenceWarning,
        )
        return near
    return _in_order(near.moved(step))


def _in_order(point: _Weights) -> _Weights:
    """The point with violations of the order removed that are rounding errors."""
    weights = point.weights.copy()
    for order in point.problem.orders:
        own = order.sign * weights[order.places]
        weights[order.places] = order.sign * np.maximum.accumulate(own)
    return _Weights(point.problem, weights)
