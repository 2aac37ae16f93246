"""Leave-one-out without leaving out: what each row's total would be had it not been there.

    total_-i = total_i + h_i/(1 - h_i c_i) * slope_i,   h_i = x_i' V x_i

One Newton step from the fit of all rows to that of all but one, in closed form; c_i is the row's
curvature and V the inverse of the penalised Hessian.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtrmm
from scipy.stats import entropy

from weigh.educated.design import Target, add_squares, weigh_rows
from weigh.educated.dual import Dual
from weigh.educated.factor import Dense
from weigh.educated.modes import Modes, Reduced
from weigh.educated.numbers import Numbers
from weigh.educated.passes import View
from weigh.educated.solve import PRECISE, State, find_weights
from weigh.engine import Block, Coded, Sums
from weigh.frames import Floats, Integers
from weigh.pickling import by_fields

ROWS = 50_000
"""Of more rows, so many evenly spaced ones are judged; on a cluster, of each partition."""

AT_ONCE = 8192
"""Rows that are judged at a time by modes, of which each has many."""

NEARLY_ONE = 0.999
LEAST_SCALE = 1e-5
ROUGHLY = 0.02
"""Fits are compared where a Newton step promises less nats; the one that is kept is then exact."""

ENOUGH = 1.0
"""All rows left out together cost less nats: they cannot say by how much less."""

SEPARABLE, CERTAIN = 0.25, 0.15
"""Classes are nearly separable, or rows nearly certain, where the tables leave less of the entropy
of the classes."""


@dataclass(frozen=True)
class HeldOut:
    """The loss of the judged rows, in nats, had each not been among the rows."""

    total: float
    weight: float

    @property
    def mean(self) -> float:
        """The mean loss; NaN of no rows."""
        return self.total / self.weight if self.weight else float("nan")

    @property
    def bits(self) -> float:
        """The mean loss in bits."""
        return self.mean / float(np.log(2))


@dataclass(frozen=True)
class Told:
    """The totals of rows had each not been there, and their variances for a dispersion of one."""

    totals: Floats
    variances: Floats


@dataclass(frozen=True)
class Judge:
    """What it takes to tell each row's loss had it not been there.

    V is the inverse of the penalised Hessian, one for each total; `index` says where a place stands
    in it, and `own` is the variance of the weights of places that do not. Where rows are few, the
    variances of their totals are `known`.
    """

    view: View
    index: Integers
    inverses: tuple[Floats, ...]
    own: Floats
    known: Floats | None = None
    modes: Modes | None = None  # those that `inverses` are then the inverse roots of

    __reduce__ = by_fields

    @classmethod
    def of(cls, state: State) -> Judge:
        """The judge of a fit."""
        problem, view = state.problem, state.problem.view(state.weights)
        ties = np.arange(problem.n_weights) if problem.ties is None else problem.ties
        local = np.full(problem.n_weights, -1, dtype=np.int32)
        local[problem.joint] = np.arange(len(problem.joint))
        index = view.design.index(local[ties])
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
                inverses.append(joint.inverse)
            for piece in apart:
                assert not isinstance(piece, Dual | Reduced)
                own[piece.places, k] = piece.variances
        return cls(view, index, tuple(inverses), own[ties], modes=problem.modes)

    def losses(self, block: Block, numbers: slice = slice(None)) -> Floats:
        """Of each row, in nats; `numbers` are those of the rows."""
        return self.losses_at(block, self.told(block, numbers))

    def losses_at(self, block: Block, told: Told) -> Floats:
        """The loss of each row by what others say of it."""
        target = self.view.target
        return target.losses(told.totals, target.labels(block))

    def told(self, block: Block, numbers: slice = slice(None)) -> Told:
        """What all other rows say of each row."""
        places = self.view.design.place(block)
        return self.leave_out(block, self.totals(places), self.reach(places, numbers))

    def totals(self, places: Integers) -> Floats:
        """The totals of rows."""
        return self.view.design.totals(places, self.view.weights)

    def leave_out(self, block: Block, totals: Floats, reach: Floats) -> Told:
        """What all other rows say of rows with given totals, of given variances."""
        target = self.view.target
        once = np.minimum(weigh_rows(block), 1.0)  # of two rows given as one, one is left out
        moments = target.moments(totals, target.labels(block), once)
        alone = np.minimum(reach * moments.curvature, NEARLY_ONE)
        far = reach / (1 - alone)
        return Told(totals + far * moments.slope, far)

    def reach(self, places: Integers, numbers: slice) -> Floats:
        """The variance of each row's totals."""
        if self.known is not None:
            return self.known[numbers]
        if self.modes is not None:
            return self._reduced(places, self.modes) + self.view.design.totals(places, self.own)
        joint = [add_squares(places, self.index, matrix) for matrix in self.inverses]
        if not self.own.any():
            return np.column_stack(joint)
        return np.column_stack(joint) + self.view.design.totals(places, self.own)

    def _reduced(self, places: Integers, modes: Modes) -> Floats:
        """The variance of each row's totals by the modes that share a matrix."""
        out, starts = np.empty((places.shape[1], len(self.inverses))), self.view.design.starts
        for first in range(0, len(out), AT_ONCE):
            rows = slice(first, first + AT_ONCE)
            values = modes.of_rows(places[:, rows], starts).T
            for k, root in enumerate(self.inverses):
                out[rows, k] = (dtrmm(1.0, root, values, lower=1) ** 2).sum(axis=0)
        return out


def share_of(rows: Coded) -> int:
    """Every so many-th row is judged."""
    return max(-(-rows.n_rows // ROWS), 1)


def pick(block: Block, every: int) -> tuple[Block, slice]:
    """The rows of a block that are judged, and their numbers: evenly spaced in a partition."""
    first = -block.first % every
    numbers = slice(block.first + first, block.first + len(block), every)
    return block.part(slice(first, None, every)), numbers


@dataclass(frozen=True)
class Judged:
    """The statistic of some judges: weight; each one's loss; its gain over the first, squared."""

    judges: tuple[Judge, ...]
    every: int

    def __call__(self, block: Block) -> Sums:
        """Judge some rows of a block."""
        some, numbers = pick(block, self.every)
        weight = weigh_rows(some)
        losses = np.array([judge.losses(some, numbers) for judge in self.judges])
        sums = [[line @ weight for line in lines] for lines in (losses, (losses[0] - losses) ** 2)]
        return Sums((np.array(weight.sum()), *map(np.array, sums)))


def _judge(*states: State) -> tuple[Floats, ...]:
    rows = states[0].problem.rows
    return rows.sum(Judged(tuple(map(Judge.of, states)), share_of(rows))).arrays


def leave_one_out(state: State) -> HeldOut:
    """Judge a fit by the rows it was made from: one pass."""
    return leave_each_out(state)[0]


def leave_each_out(*states: State) -> list[HeldOut]:
    """Judge several fits of the same rows, in one pass."""
    weight, totals, _ = _judge(*states)
    return [HeldOut(float(total), float(weight)) for total in totals]


@dataclass(frozen=True)
class Comparison:
    """What rows left out say of two fits.

    The second is better if its mean loss is less by more than the standard error, row by row.
    """

    before: HeldOut
    after: HeldOut
    better: bool


def compare(before: State, after: State) -> Comparison:
    """Judge a fit beside another, in one pass."""
    sums, totals, squares = _judge(before, after)
    weight = float(sums)
    one, other = (HeldOut(float(total), weight) for total in totals)
    better = is_gain(one.mean - other.mean, float(squares[1]) / weight, weight)
    return Comparison(one, other, better)


def is_gain(mean: float, square: float, weight: float) -> bool:
    """Whether gains of such mean and mean square are more than their standard error."""
    return bool(mean > np.sqrt(max(square - mean**2, 0.0) / weight))


def loosen(state: State) -> tuple[State, HeldOut]:
    """Divide all scales by four for as long as rows left out are told better.

    Laplace's approximation takes weights for smaller than they are where the classes are nearly
    separable; the rows themselves say so. Elsewhere a few rows of one class that share a level
    would say it, each left out alone: scales stay as they are. So they do beside a past, which
    cannot be left out row by row.
    """
    problem, first, held_out = state.problem, state, leave_one_out(state)
    told_by_rows = problem.past is None and is_certain(problem.target, held_out, SEPARABLE)
    while told_by_rows and state.scales.min(initial=1.0) > LEAST_SCALE:
        other = find_weights(state.rescale(state.scales / 4), PRECISE, ROUGHLY)
        told = compare(state, other)
        if told.before.total <= ENOUGH or not told.better:
            break
        state = other
    exact = find_weights(state, PRECISE)
    return exact, held_out if exact is first else leave_one_out(exact)


def is_certain(target: Target | Numbers, held_out: HeldOut, left: float = CERTAIN) -> bool:
    """Whether tables leave less than this share of the entropy of the classes."""
    if not isinstance(target, Target):
        return False
    return held_out.mean < left * float(entropy(target.class_counts / target.n_rows))
