"""Damped Newton steps: the weights of least penalised loss for given scales.

The Hessian of all weights is one matrix where it is small enough; of wide tables the features that
fit into it are one block and every other feature is its own, and conjugate gradients mend what the
blocks leave out. So do they for more than two classes, whose blocks are the classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from weigh.educated.design import Design, Moments, Rows
from weigh.educated.factor import Dense, Diagonal, Factor, make_dense, make_diagonal
from weigh.educated.prior import Prior
from weigh.frames import Floats, Integers

FULL = 3072
"""Up to so many weights share one matrix: 75 MB, and a third of a second to factor."""

FEW = 12
"""So many products with a matrix cost about as much as to factor it."""

PRECISE = 1e-9
"""The relative gradient at which weights are found."""


@dataclass
class Passes:
    """How often all rows have been read; what they give at the same weights is read at once."""

    n: int = 0


@dataclass(frozen=True)
class Problem:
    """Rows, and what is thought of the weights before them."""

    design: Design
    rows: Rows
    prior: Prior
    passes: Passes = field(default_factory=Passes, compare=False)

    @cached_property
    def joint(self) -> Integers:
        """The places of the weights that share one matrix: of the smallest features, in order."""
        spans = sorted(self.design.spans, key=lambda span: span.stop - span.start)
        sizes = np.cumsum([1, *(span.stop - span.start for span in spans)])
        kept = spans[: int((sizes <= FULL).sum()) - 1]
        return np.sort(np.concatenate([[0], *(np.arange(s.start, s.stop) for s in kept)]))

    @cached_property
    def apart(self) -> tuple[Integers, ...]:
        """The places of each feature that does not fit."""
        inside = np.zeros(self.design.n_weights, dtype=np.bool_)
        inside[self.joint] = True
        return tuple(
            np.arange(span.start, span.stop)
            for span in self.design.spans
            if span.stop > span.start and not inside[span.start]
        )

    @cached_property
    def joint_design(self) -> Design:
        """The rows' places among the weights that share one matrix."""
        return self.design.among(self.joint) if self.apart else self.design

    @property
    def exact(self) -> bool:
        """Whether one matrix holds the whole Hessian."""
        return not self.apart and self.rows.n_totals == 1


@dataclass(frozen=True)
class Curvature:
    """The Hessian of the loss alone, class by class: the joint block, and the diagonal."""

    joint: tuple[Floats, ...]
    diagonal: Floats

    @classmethod
    def of(cls, problem: Problem, moments: Moments) -> Curvature:
        """One pass over the rows."""
        columns = np.ascontiguousarray(moments.curvature.T)
        joint = tuple(problem.joint_design.pairs(column) for column in columns)
        if problem.apart:
            return cls(joint, problem.design.sums(moments.curvature))
        return cls(joint, np.column_stack([matrix.diagonal() for matrix in joint]))


@dataclass(frozen=True)
class State:
    """Weights, and what they are worth at given scales."""

    problem: Problem
    weights: Floats
    scales: Floats
    moments: Moments
    near: Factor | None = None  # of the Hessian at weights and scales not far away

    @cached_property
    def _pull(self) -> Floats:
        return self.problem.prior.apply(self.weights, self.scales)

    @cached_property
    def loss(self) -> float:
        """What is made as small as can be, in nats: the loss and the penalty."""
        return self.moments.loss + 0.5 * float((self.weights * self._pull).sum())

    @cached_property
    def slopes(self) -> Floats:
        """The gradient of the loss alone."""
        return self.problem.design.sums(self.moments.slope)

    @property
    def gradient(self) -> Floats:
        """Of loss and penalty."""
        total: Floats = self.slopes + self._pull
        return total

    @property
    def relative_gradient(self) -> float:
        """The largest entry of the gradient over the sum of what it balances."""
        size = np.abs(self.moments.slope).sum() + 1e-300
        return float(np.abs(self.gradient).max() / size)

    @cached_property
    def curvature(self) -> Curvature:
        """The Hessian of the loss alone: one pass over the rows."""
        return Curvature.of(self.problem, self.moments)

    @cached_property
    def factor(self) -> Factor:
        """The penalised Hessian, factored."""
        problem, prior = self.problem, self.problem.prior
        by_class = []
        for k, joint in enumerate(self.curvature.joint):
            pieces: list[Dense | Diagonal] = [
                make_dense(_off_zero(joint), prior, self.scales, problem.joint)
            ]
            for places in problem.apart:
                entries = self.curvature.diagonal[places, k]
                if prior.is_diagonal(places):
                    pieces.append(make_diagonal(entries, prior, self.scales, places))
                else:
                    pieces.append(make_dense(np.diag(entries), prior, self.scales, places))
            by_class.append(tuple(pieces))
        return Factor(tuple(by_class))

    def rescale(self, scales: Floats) -> State:
        """The same weights under other scales; what the rows gave is kept."""
        other = replace(self, scales=scales, near=self._nearest)
        for name in ("slopes", "curvature"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    def moved(self, step: Floats) -> State:
        """Other weights under the same scales."""
        after = state_at(self.problem, self.weights - step, self.scales)
        return replace(after, near=self._nearest)

    @property
    def _nearest(self) -> Factor | None:
        return self.__dict__.get("factor", self.near)


def _off_zero(joint: Floats) -> Floats:
    """Keep the intercept's entry off zero where every row is certain."""
    if joint[0, 0] < 1e-8:
        joint = joint.copy()
        joint[0, 0] = 1e-8
    return joint


def state_at(problem: Problem, weights: Floats, scales: Floats) -> State:
    """Look at weights: one pass."""
    problem.passes.n += 1
    moments = problem.rows.moments(problem.design.totals(weights))
    return State(problem, weights, scales, moments)


def find_weights(state: State, tolerance: float, nats: float = 0.0, most: int = 50) -> State:
    """Newton steps until the relative gradient is within the tolerance.

    Or until a step promises less than so many nats, which sees rare levels as it sees others.
    """
    for _ in range(most):
        if state.relative_gradient <= tolerance:
            break
        step = newton_step(state)
        if float((state.gradient * step).sum()) < nats:
            break
        after = _go(state, step)
        if after is None:
            break
        state = after
    return state


def _go(state: State, step: Floats) -> State | None:
    """As far along a step as the loss falls; None where rounding is all that is left."""
    promised = float((state.gradient * step).sum())
    for halving in range(30):
        after = state.moved(step / 2**halving)
        if after.loss <= state.loss - 1e-4 * promised / 2**halving:
            return after
        noise = 1e-13 * abs(state.loss)
        if promised / 2**halving < noise:
            return after if after.relative_gradient < state.relative_gradient else None
    return None


def newton_step(state: State) -> Floats:
    """Hessian^-1 gradient: at once, or by conjugate gradients on an inverse that is nearly its."""
    if not state.problem.exact:
        return _approach(state, state.factor, 100)[0]
    if "factor" not in state.__dict__ and state.near is not None:
        step, done = _approach(state, state.near, FEW)
        if done:
            return step
    return state.factor.solve(state.gradient)


def _approach(state: State, nearly: Factor, most: int) -> tuple[Floats, bool]:
    """Conjugate gradients towards the Newton step, and whether they came near it."""
    residual = state.gradient
    goal = min(0.1, np.sqrt(state.relative_gradient)) * float(np.abs(residual).max())
    step, ahead = np.zeros_like(residual), nearly.solve(residual)
    direction, energy = ahead, float((residual * ahead).sum())
    for _ in range(most):
        bent = _bend(state, direction)
        length = energy / float((direction * bent).sum())
        step = step + length * direction
        residual = residual - length * bent
        if np.abs(residual).max() <= goal:
            return step, True
        ahead = nearly.solve(residual)
        energy, before = float((residual * ahead).sum()), energy
        direction = ahead + energy / before * direction
    return step, False


def _bend(state: State, direction: Floats) -> Floats:
    """The penalised Hessian times a direction: by its matrix, or in a pass over the rows."""
    problem = state.problem
    pulled = problem.prior.apply(direction, state.scales)
    if problem.exact:
        return np.asarray(state.curvature.joint[0] @ direction) + pulled
    problem.passes.n += 1
    bent = state.moments.bend(problem.design.totals(direction), problem.rows.weight)
    return problem.design.sums(bent) + pulled
