"""Leave-one-out predictions in closed form: the totals of each row as if it had not been fitted.

    total_-i = total_i + h_i/(1 - h_i c_i) * slope_i,   h_i = x_i' V x_i

This is one Newton step from the fit of all rows to the fit of all rows but one. c_i is the
curvature of the row's loss, and V is the inverse of the penalised Hessian.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtrmm
from scipy.stats import entropy

from weigh.arrays import Floats, Integers
from weigh.educated.design import Target, add_squares, weigh_rows
from weigh.educated.dual import Dual
from weigh.educated.factor import Dense
from weigh.educated.modes import Modes, Reduced
from weigh.educated.numbers import NumberTarget
from weigh.educated.passes import RowsAtWeights
from weigh.educated.solve import PRECISE, State, find_weights
from weigh.engine import Block, Coded, Sums
from weigh.pickling import by_fields

ROWS = 50_000
"""Largest number of rows, evenly spaced, that are left out in turn; on a cluster, per partition."""

MANY = 512
"""From this number of rows on, the variances of their totals are looked up by levels."""

NEARLY_ONE = 0.999
LEAST_SCALE = 1e-9
"""Scales are not lowered further: the penalty would be lost to rounding."""

ENOUGH = 1.0
"""Below this leave-one-out loss over all rows, in nats, fits cannot be told apart."""

SEPARABLE, CERTAIN = 0.25, 0.15
"""Classes are nearly separable, or rows nearly certain, if the leave-one-out loss is below this
share of the entropy of the classes."""


@dataclass(frozen=True)
class LeftOutLoss:
    """Leave-one-out loss in nats, and the weight of the rows that it was computed from."""

    total: float
    weight: float

    @property
    def mean(self) -> float:
        """The mean loss; NaN without rows."""
        return self.total / self.weight if self.weight else float("nan")

    @property
    def bits(self) -> float:
        """The mean loss in bits."""
        return self.mean / float(np.log(2))


@dataclass(frozen=True)
class LeftOutTotals:
    """Leave-one-out totals of rows, and their variances for a dispersion of one."""

    totals: Floats
    variances: Floats


@dataclass(frozen=True)
class LeaveOneOut:
    """Compute the leave-one-out loss of rows from a fit.

    `inverses` are the inverses V of the penalised Hessian, one for each total, in their upper half.
    `index` gives the row of V that belongs to each place, and `own` the variance of weights that
    are not in V. With few rows, the variances of their totals are already `known`.
    """

    view: RowsAtWeights
    index: Integers
    inverses: tuple[Floats, ...]
    own: Floats
    known: Floats | None = None
    modes: Modes | None = None  # if set, `inverses` are inverse Cholesky factors in modes

    __reduce__ = by_fields

    @classmethod
    def of(cls, state: State) -> LeaveOneOut:
        """Collect from a fit what the leave-one-out loss needs."""
        problem, view = state.problem, state.problem.view(state.weights)
        local = np.full(problem.n_weights, -1, dtype=np.int32)
        local[problem.joint] = np.arange(len(problem.joint))
        index = view.design.index(local[problem.numbers])
        if problem.dual:
            pieces = [piece for (piece,) in state.factor.by_class]
            known = np.column_stack([piece.row_variances for piece in pieces])  # type: ignore[union-attr]
            return cls(view, index, (), np.zeros(0), known)
        own, inverses = np.zeros((problem.n_weights, len(state.factor.by_class))), []
        for k, (joint, *apart) in enumerate(state.factor.by_class):
            if isinstance(joint, Reduced):
                own[joint.places, k] = joint.alone
                inverses.append(joint.root)
            else:
                assert isinstance(joint, Dense)
                inverses.append(joint.upper)
            for piece in apart:
                assert not isinstance(piece, Dual | Reduced)
                own[piece.places, k] = piece.variances
        return cls(view, index, tuple(inverses), own[problem.numbers], modes=problem.modes)

    def losses(self, block: Block, numbers: slice = slice(None)) -> Floats:
        """Leave-one-out loss of each row, in nats; `numbers` are the row numbers."""
        return self.losses_at(block, self.left_out(block, numbers))

    def losses_at(self, block: Block, told: LeftOutTotals) -> Floats:
        """Loss of each row at its leave-one-out totals."""
        target = self.view.target
        return target.losses(told.totals, target.labels(block))

    def left_out(self, block: Block, numbers: slice = slice(None)) -> LeftOutTotals:
        """Leave-one-out totals of the rows of a block, and their variances."""
        places = self.view.design.place(block)
        return self.leave_out(block, self.totals(places), self.reach(places, numbers))

    def totals(self, places: Integers) -> Floats:
        """The totals of rows."""
        return self.view.design.totals(places, self.view.weights)

    def leave_out(self, block: Block, totals: Floats, reach: Floats) -> LeftOutTotals:
        """Leave-one-out totals from the fitted totals of rows and the variances of these."""
        target = self.view.target
        once = np.minimum(weigh_rows(block), 1.0)  # of a row of weight two, one row is left out
        moments = target.moments(totals, target.labels(block), once)
        alone = np.minimum(reach * moments.curvature, NEARLY_ONE)
        far = reach / (1 - alone)
        return LeftOutTotals(totals + far * moments.slope, far)

    def reach(self, places: Integers, numbers: slice) -> Floats:
        """The variance of each row's totals."""
        if self.known is not None:
            return self.known[numbers]
        if self.modes is not None and places.shape[1] < MANY:
            return self._reduced(places, self.modes) + self.view.design.totals(places, self.own)
        joint = [add_squares(places, self.index, matrix) for matrix in self._covariances()]
        if not self.own.any():
            return np.column_stack(joint)
        return np.column_stack(joint) + self.view.design.totals(places, self.own)

    def _reduced(self, places: Integers, modes: Modes) -> Floats:
        """Variance of the totals of a few rows, from the modes that share a matrix."""
        values = modes.of_rows(places, self.view.design.starts).T
        halves = [dtrmm(1.0, root, values, lower=1) for root in self.inverses]
        return np.column_stack([(half**2).sum(axis=0) for half in halves])

    def _covariances(self) -> Iterator[Floats]:
        """The covariance of the weights that share a matrix, class by class, in its upper half."""
        for own in self.inverses:
            yield own if self.modes is None else self.modes.of_levels(own.T @ own)


def share_of(rows: Coded) -> int:
    """Distance between the rows that are left out in turn: 1 for all rows."""
    return max(-(-rows.n_rows // ROWS), 1)


def pick(block: Block, every: int) -> tuple[Block, slice]:
    """Evenly spaced rows of a block, and their numbers in the partition."""
    first = -block.first % every
    numbers = slice(block.first + first, block.first + len(block), every)
    return block.part(slice(first, None, every)), numbers


@dataclass(frozen=True)
class LossSums:
    """Sums over rows for some fits: weight; loss of each fit; squared gain over the first fit."""

    fits: tuple[LeaveOneOut, ...]
    every: int

    def __call__(self, block: Block) -> Sums:
        """Compute the sums from some rows of a block."""
        some, numbers = pick(block, self.every)
        weight = weigh_rows(some)
        losses = np.array([fit.losses(some, numbers) for fit in self.fits])
        sums = [[line @ weight for line in lines] for lines in (losses, (losses[0] - losses) ** 2)]
        return Sums((np.array(weight.sum()), *map(np.array, sums)))


def _judge(*states: State) -> tuple[Floats, ...]:
    rows = states[0].problem.rows
    return rows.sum(LossSums(tuple(map(LeaveOneOut.of, states)), share_of(rows))).arrays


def leave_one_out(state: State) -> LeftOutLoss:
    """Leave-one-out loss of a fit: one pass over the rows."""
    return leave_each_out(state)[0]


def leave_each_out(*states: State) -> list[LeftOutLoss]:
    """Leave-one-out losses of several fits of the same rows: one pass."""
    weight, totals, _ = _judge(*states)
    return [LeftOutLoss(float(total), float(weight)) for total in totals]


@dataclass(frozen=True)
class LossComparison:
    """Leave-one-out losses of two fits.

    The second is better if its mean loss is lower by more than some standard errors of the paired
    differences.
    """

    before: LeftOutLoss
    after: LeftOutLoss
    better: bool


def compare(before: State, after: State, sure: float = 1.0) -> LossComparison:
    """Compare the leave-one-out losses of two fits: one pass.

    The second is better if it gains more than `sure` standard errors.
    """
    sums, totals, squares = _judge(before, after)
    weight = float(sums)
    one, other = (LeftOutLoss(float(total), weight) for total in totals)
    better = is_gain(one.mean - other.mean, float(squares[1]) / weight, weight, sure)
    return LossComparison(one, other, better)


def is_gain(mean: float, square: float, weight: float, sure: float = 1.0) -> bool:
    """Whether the mean gain exceeds `sure` standard errors; `square` is the mean squared gain."""
    return bool(mean > sure * np.sqrt(max(square - mean**2, 0.0) / weight))


def loosen(state: State) -> tuple[State, LeftOutLoss]:
    """Divide all scales by four as long as the leave-one-out loss falls.

    Each step must lower the loss by more than the standard error of the difference.
    Where the classes are nearly separable, Laplace's approximation shrinks weights too much, and
    the leave-one-out loss shows it. Elsewhere the scales stay: a few rows of one class that share a
    level could lower the leave-one-out loss by chance. They also stay in an update, where rows of
    the past cannot be left out.

    Fits are compared at their optima: where a few nats of loss are left in all, a rough fit would
    seem worse than it is.
    """
    problem, state = state.problem, find_weights(state, PRECISE)
    held_out = leave_one_out(state)
    told_by_rows = problem.past is None and is_certain(problem.target, held_out, SEPARABLE)
    while told_by_rows and state.scales.min(initial=1.0) > LEAST_SCALE:
        other = find_weights(state.rescale(state.scales / 4), PRECISE)
        told = compare(state, other)
        if told.before.total <= ENOUGH or not told.better:
            break
        state, held_out = other, told.after
    return state, held_out


def is_certain(target: Target | NumberTarget, held_out: LeftOutLoss, left: float) -> bool:
    """Whether the leave-one-out loss is below this share of the entropy of the classes."""
    if not isinstance(target, Target):
        return False
    return held_out.mean < left * float(entropy(target.class_counts / target.n_rows))
