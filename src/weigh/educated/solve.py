"""Find the weights of least penalised loss for given scales, by damped Newton steps.

With two classes, the Hessian of all weights is one matrix if it is small enough. In wider tables
the smallest features share one matrix and every other feature has its own block; conjugate
gradients account for what the blocks leave out. With more than two classes each class is a block,
and conjugate gradients account for the rest; large blocks are reduced to modes, which are computed
only when scales are updated. Evaluating weights takes one pass over the rows, which gives loss,
gradient and Hessian.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.educated.design import Design, Target
from weigh.educated.dual import Dual, Kernel
from weigh.educated.factor import (
    Curvature,
    Dense,
    Diagonal,
    Factor,
    make_dense,
    make_diagonal,
    make_reduced,
)
from weigh.educated.modes import MODES, Modes, Projected, Reduced
from weigh.educated.numbers import NumberTarget
from weigh.educated.passes import HessianProduct, LossDerivatives, RowsAtWeights, Weighed
from weigh.educated.prior import Prior
from weigh.educated.quadratic import Quadratic
from weigh.engine import Block, Coded, CodedRows
from weigh.newton.descent import add_tied, conjugate_gradients, descend

FULL = 3072
"""Largest number of weights in one matrix: 75 MB, and a third of a second to factor."""

FEW = 12
"""Products with a matrix that together take about as long as factoring it."""

ACROSS = 1 << 25
"""Largest number of entries of a whole Hessian for more than two classes: 268 MB."""

PRECISE = 1e-9
"""Relative gradient at which the search for weights ends."""


@dataclass(frozen=True)
class Problem:
    """Rows, their target, and the prior of the weights.

    Weights with equal `ties` are one weight: sums over rows are computed for each and then added.
    """

    rows: Coded
    design: Design
    target: Target | NumberTarget
    prior: Prior
    ties: Integers | None = None
    past: Quadratic | None = None  # second-order approximation of the loss of earlier rows

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """The slice of each feature in the vector of weights."""
        if self.ties is None:
            return self.design.spans
        ends = np.append(self.ties, self.n_weights).tolist()
        return tuple(slice(ends[span.start], ends[span.stop]) for span in self.design.spans)

    @property
    def numbers(self) -> Integers:
        """The number of the weight that each place of the design has, after ties."""
        return np.arange(self.n_weights) if self.ties is None else self.ties

    @property
    def n_weights(self) -> int:
        """The number of weights, after ties: of all levels, and the intercept."""
        return self.design.n_weights if self.ties is None else int(self.ties[-1]) + 1

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The features that share one matrix: the smallest, in order; none if rows are few.

        Features of equal size are all in or all out, so that the order of columns does not matter.
        """
        if self.dual:
            return ()
        sizes = np.array([span.stop - span.start for span in self.spans], dtype=np.int64)
        ascending = np.sort(sizes)
        too_large = ascending[1 + np.cumsum(ascending) > FULL]
        return tuple(np.flatnonzero(sizes < min(too_large, default=np.inf)).tolist())

    @cached_property
    def joint(self) -> Integers:
        """The places of the weights that share one matrix."""
        own = [np.arange(self.spans[j].start, self.spans[j].stop) for j in self.columns]
        return np.concatenate([[0], *own]).astype(np.intp)

    @cached_property
    def apart(self) -> tuple[Integers, ...]:
        """The places of each feature that does not share the matrix."""
        return tuple(
            np.arange(span.start, span.stop)
            for j, span in enumerate(self.spans)
            if span.stop > span.start and j not in self.columns
        )

    @cached_property
    def few(self) -> bool:
        """Whether rows are fewer than weights, and few enough for a matrix of rows by rows."""
        if self.past is not None:
            return False
        within = sum((span.stop - span.start) ** 2 for span in self.spans)
        most = FULL if self.target.n_totals == 1 else 2 * MODES
        n_rows = max(self.rows.n_rows, self.target.n_rows)  # a row of weight two counts as two
        return n_rows < self.n_weights and n_rows <= most and within <= ACROSS

    @property
    def dual(self) -> bool:
        """Whether the Hessian is inverted by a matrix of rows by rows (`weigh.educated.dual`)."""
        return self.few and isinstance(self.rows, CodedRows)

    @cached_property
    def kernel(self) -> Kernel:
        """The prior covariance of the totals of rows, if rows are few."""
        numbers = self.design.index(self.numbers)[self.design.place(self.block)]
        return Kernel.of(self.prior, self.spans, numbers, self.n_weights)

    @property
    def block(self) -> Block:
        """All rows as one block, if they are in memory."""
        assert isinstance(self.rows, CodedRows)
        return Block(self.rows.codes, self.rows.labels, self.rows.weight)

    @property
    def exact(self) -> bool:
        """Whether one matrix holds the whole Hessian."""
        return (self.dual or not self.apart) and self.target.n_totals == 1

    @property
    def whole(self) -> bool:
        """Whether a pass gives the whole Hessian, so that products with it need no further pass."""
        k = self.target.n_totals
        return not self.dual and not self.apart and k * (k + 1) // 2 * self.n_weights**2 <= ACROSS

    @property
    def quadratic(self) -> bool:
        """Whether the loss is quadratic, so that it is known at all weights after one pass."""
        return self.target.quadratic and self.whole and self.ties is None

    @cached_property
    def carrying(self) -> Coded:
        """The rows, with a cache for repeated products with the Hessian."""
        return self.rows.carrying(self.target.n_totals)

    @cached_property
    def modes(self) -> Modes | None:
        """Modes of the weights that share a matrix, if there are many classes; else None."""
        if self.target.n_totals == 1 or self.dual or self.whole:
            return None
        rows = self.design.unpad(self.rows.sum(Weighed(self.design)).arrays[0][None])[:, 0]
        own = {j: np.arange(self.spans[j].start, self.spans[j].stop) for j in self.columns}
        return Modes.of(self.prior, {j: p for j, p in own.items() if len(p)}, rows)

    def view(self, weights: Floats) -> RowsAtWeights:
        """The derivatives of the loss of rows at these weights."""
        every = weights if self.ties is None else weights[self.ties]
        return RowsAtWeights(self.design, self.target, every)


@dataclass(frozen=True)
class RowLoss:
    """Loss, gradient and Hessian at some weights, without the penalty."""

    loss: float
    size: float  # sum of the absolute slopes of all rows
    slopes: Floats  # by weight, before ties
    curvature: Curvature
    reduced: Callable[[], Projected]  # the Hessian of each class in modes

    @cached_property
    def in_modes(self) -> Projected:
        """The Hessian of each class in modes; takes one more pass."""
        return self.reduced()

    def beside(self, past: Quadratic, weights: Floats, ties: Integers | None) -> RowLoss:
        """Add the loss, gradient and Hessian of past rows."""
        loss, slopes = past.at(weights)
        return replace(
            self,
            loss=self.loss + loss,
            size=self.size + past.size,
            slopes=self.slopes + slopes,
            curvature=self.curvature.beside(past.hessian[0], ties),
        )

    def after(self, step: Floats) -> RowLoss:
        """Loss and gradient after a step, if the loss is quadratic."""
        bent = self.curvature.multiply_hessian(step)
        loss = self.loss + float((step * (0.5 * bent - self.slopes)).sum())
        return replace(self, loss=max(loss, 0.0), slopes=self.slopes - bent)


@dataclass(frozen=True)
class State:
    """Weights and scales, with the loss, gradient and Hessian at them."""

    problem: Problem
    weights: Floats
    scales: Floats
    found: RowLoss
    near: Factor | None = None  # of the Hessian at weights and scales not far away
    rescaled: bool = True  # whether the scales differ from those of `near`

    @cached_property
    def _pull(self) -> Floats:
        return self.problem.prior.apply(self.weights, self.scales)

    @cached_property
    def loss(self) -> float:
        """The objective in nats: loss plus penalty."""
        return self.found.loss + 0.5 * float((self.weights * self._pull).sum())

    @cached_property
    def slopes(self) -> Floats:
        """The gradient of the loss alone."""
        return add_tied(self.found.slopes, self.problem.ties)

    @property
    def gradient(self) -> Floats:
        """The gradient of loss and penalty.

        Adding one number to the intercepts of all classes changes no probability. In this direction
        both gradient and Hessian are zero, and a Newton step would divide one rounding error by the
        other. So the direction is removed.
        """
        total: Floats = self.slopes + self._pull
        if total.shape[1] > 1:
            total[0] -= total[0].mean()
        return total

    @property
    def relative_gradient(self) -> float:
        """Largest entry of the gradient, relative to the sum of the absolute slopes of rows."""
        return float(np.abs(self.gradient).max() / (self.found.size + 1e-300))

    @property
    def curvature(self) -> Curvature:
        """The Hessian of the loss alone."""
        return self.found.curvature

    @cached_property
    def factor(self) -> Factor:
        """The penalised Hessian, factored."""
        problem, prior = self.problem, self.problem.prior
        if problem.dual:
            return Factor(self._duals())
        by_class = []
        for k, joint in enumerate(self.curvature.joint):
            pieces: list[Dense | Diagonal | Reduced] = [self._shared(k, joint)]
            for places in problem.apart:
                entries = self.curvature.diagonal[places, k]
                if prior.is_diagonal(places):
                    pieces.append(make_diagonal(entries, prior, self.scales, places))
                else:
                    pieces.append(make_dense(np.diag(entries), prior, self.scales, places))
            by_class.append(tuple(pieces))
        return Factor(tuple(by_class))

    def _shared(self, k: int, joint: Floats) -> Dense | Reduced:
        """The piece of the weights that share a matrix."""
        problem = self.problem
        if problem.modes is None:
            return make_dense(_off_zero(joint), problem.prior, self.scales, problem.joint)
        own, rest = self.found.in_modes.shared[k], self.found.in_modes.alone[k]
        return make_reduced(_off_zero(own), rest, problem.modes, self.scales)

    def _duals(self) -> tuple[tuple[Dual], ...]:
        kernel, seen = self.problem.kernel, self.problem.view(self.weights).see(self.problem.block)
        last = self.near.by_class[0][0] if self.near is not None else None
        same = isinstance(last, Dual) and np.array_equal(last.scales, self.scales)
        K = last.K if same else kernel.matrix(self.scales)  # type: ignore[union-attr]
        return tuple((Dual(kernel, self.scales, c, K),) for c in seen.curvature)

    def multiply_hessian(self, direction: Floats) -> Floats:
        """The penalised Hessian times a direction: from matrices, or by a pass over the rows."""
        problem = self.problem
        pulled = problem.prior.apply(direction, self.scales)
        if problem.whole:
            return self.curvature.multiply_hessian(direction) + pulled
        every = direction if problem.ties is None else direction[problem.ties]
        bent = problem.carrying.sum(HessianProduct(problem.view(self.weights), every)).arrays[0]
        return add_tied(problem.design.unpad(bent), problem.ties) + pulled

    def rescale(self, scales: Floats) -> State:
        """Replace the scales and keep the weights, without a pass over the rows."""
        return replace(self, scales=scales, near=self._nearest, rescaled=True)

    def moved(self, step: Floats) -> State:
        """The state after a step, with the same scales."""
        weights = self.weights - step
        if self.problem.quadratic:
            found = self.found.after(step)
        else:
            found = state_at(self.problem, weights, self.scales).found
        rescaled = self.rescaled and "factor" not in vars(self)
        return State(self.problem, weights, self.scales, found, self._nearest, rescaled)

    @property
    def _nearest(self) -> Factor | None:
        return self.__dict__.get("factor", self.near)


def _off_zero(joint: Floats) -> Floats:
    """Keep the intercept's entry above zero, for fits in which every row is certain."""
    if joint[0, 0] < 1e-8:
        joint = joint.copy()
        joint[0, 0] = 1e-8
    return joint


def state_at(problem: Problem, weights: Floats, scales: Floats) -> State:
    """Compute loss, gradient and Hessian at some weights: one pass."""
    modes, view = problem.modes, problem.view(weights)
    look = LossDerivatives(view, problem.columns if modes is None else (), problem.whole)
    numbers, slopes, diagonals, tables = problem.rows.sum(look).arrays
    curvature = Curvature.of(look, diagonals, tables, problem.ties)
    loss, size = numbers.tolist()
    reduced = partial(_reduce, problem, view)
    found = RowLoss(loss, size, problem.design.unpad(slopes), curvature, reduced)
    if problem.past is not None:
        found = found.beside(problem.past, view.weights, problem.ties)
    return State(problem, weights, scales, found)


def _reduce(problem: Problem, view: RowsAtWeights) -> Projected:
    """The Hessian of each class in modes: one pass."""
    modes, look = problem.modes, LossDerivatives(view, problem.columns)
    assert modes is not None
    _, _, diagonals, tables = problem.rows.sum(look).arrays
    return modes.project(look.tables, tables, problem.design.unpad(diagonals)[problem.joint])


def find_weights(state: State, tolerance: float, nats: float = 0.0, most: int = 50) -> State:
    """Take Newton steps until the relative gradient is within the tolerance.

    They also end when a step would gain fewer than `nats`, a criterion that treats rare and
    frequent levels alike.
    """
    return descend(state, newton_step, lambda at: at.relative_gradient <= tolerance, nats, most)


def polish(state: State) -> Floats:
    """The weights after one more Newton step, if it takes no pass over the rows.

    Weights within a relative gradient of `PRECISE` can be off in the fifth digit if the data have
    little information on them. Newton steps converge quadratically, so after this one only rounding
    errors remain.
    """
    if not (state.problem.exact or state.problem.whole):
        return state.weights
    if state.problem.exact:
        return state.weights - state.factor.solve(state.gradient)
    return state.weights - newton_step(state)


def newton_step(state: State) -> Floats:
    """Hessian^-1 gradient: directly, or by conjugate gradients with an approximate inverse."""
    if not state.problem.exact:
        nearly = state.factor if state.near is None or state.rescaled else state.near
        return _approach(state, nearly, 100)[0]
    if "factor" not in state.__dict__ and state.near is not None and not state.problem.few:
        step, done = _approach(state, state.near, FEW)
        if done:
            return step
    return state.factor.solve(state.gradient)


def _approach(state: State, nearly: Factor, most: int) -> tuple[Floats, bool]:
    """Approximate the Newton step by conjugate gradients; say whether they converged.

    Adding one number to all classes changes no probability, so the weights of a level are held to a
    sum of zero. An approximate inverse that was made class by class breaks this: its mean over
    classes is subtracted, or most iterations would be spent on it. So do the rounding errors of a
    product: a residual that consists of them alone has no direction left, and SciPy divides 0 by 0.
    """

    def differ(values: Floats) -> Floats:
        return values if values.shape[1] == 1 else values - values.mean(axis=1, keepdims=True)

    precision, right = min(0.1, np.sqrt(state.relative_gradient)), differ(state.gradient)
    solve = lambda residual: differ(nearly.solve(residual))  # noqa: E731
    product = lambda step: differ(state.multiply_hessian(step))  # noqa: E731
    return conjugate_gradients(product, right, solve, precision, most)
