"""Leave-one-out without leaving out: what each row's total would be had it not been there.

    total_-i = total_i + h_i/(1 - h_i c_i) * slope_i,   h_i = x_i' V x_i

One Newton step from the fit of all rows to that of all but one, in closed form; c_i is the row's
curvature and V the inverse of the penalised Hessian.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.educated.design import Design, Rows
from weigh.educated.factor import Dense
from weigh.educated.solve import PRECISE, State, find_weights
from weigh.frames import Floats

ROWS = 50_000
"""Of more rows, so many evenly spaced ones are judged."""

NEARLY_ONE = 0.999
LEAST_SCALE = 1e-5
ENOUGH = 1.0
"""All rows left out together cost less nats: they cannot say by how much less."""


@dataclass(frozen=True)
class HeldOut:
    """The loss of each judged row, in nats, had it not been among the rows."""

    losses: Floats
    weight: Floats

    @property
    def total(self) -> float:
        """The loss of the judged rows together."""
        return float(self.weight @ self.losses)

    @property
    def mean(self) -> float:
        """The mean loss."""
        return float(self.weight @ self.losses / self.weight.sum())

    @property
    def bits(self) -> float:
        """The mean loss in bits."""
        return self.mean / float(np.log(2))

    def is_better_than(self, other: HeldOut) -> bool:
        """Whether the mean is less by more than its standard error, row by row."""
        gain, share = other.losses - self.losses, self.weight / self.weight.sum()
        mean = float(share @ gain)
        error = float(np.sqrt(share @ (gain - mean) ** 2 / self.weight.sum()))
        return mean > error


def leave_one_out(state: State) -> HeldOut:
    """Judge a fit by the rows it was made from."""
    problem = state.problem
    problem.passes.n += 1
    some = problem.design.some(ROWS)
    design, labels = problem.design.take(some), problem.rows.labels[some]
    weight = problem.rows.weight[some]
    once = np.minimum(weight, 1.0)  # a row of weight two is two rows: one of them is left out
    moments = Rows(labels, once, problem.rows.n_classes).moments(design.totals(state.weights))
    reach = _variances(state, design)
    alone = np.minimum(reach * moments.curvature, NEARLY_ONE)
    totals = design.totals(state.weights) + reach / (1 - alone) * moments.slope
    return HeldOut(_losses(totals, labels), weight)


def _variances(state: State, design: Design) -> Floats:
    """The variance of each row's totals."""
    problem, columns = state.problem, []
    for joint, *apart in state.factor.by_class:
        assert isinstance(joint, Dense)
        inside = design.among(problem.joint) if problem.apart else design
        column = inside.squares(joint.inverse)
        if apart:
            own = np.zeros((design.n_weights, 1))
            for piece in apart:
                own[piece.places, 0] = piece.variances
            column = column + design.totals(own)[:, 0]
        columns.append(column)
    return np.column_stack(columns)


def _losses(totals: Floats, labels: Floats) -> Floats:
    if totals.shape[1] == 1:
        return np.logaddexp(0.0, np.where(labels == 1, -totals[:, 0], totals[:, 0]))
    top = totals.max(axis=1)
    norm = np.log(np.exp(totals - top[:, None]).sum(axis=1)) + top
    losses: Floats = norm - totals[np.arange(len(labels)), labels]
    return losses


def loosen(state: State) -> tuple[State, HeldOut]:
    """Divide all scales by four for as long as rows left out are told better.

    Laplace's approximation takes weights for smaller than they are where the classes are nearly
    separable; the rows themselves say so.
    """
    judged = leave_one_out(state)
    while judged.total > ENOUGH and state.scales.min(initial=1.0) > LEAST_SCALE:
        other = find_weights(state.rescale(state.scales / 4), PRECISE)
        found = leave_one_out(other)
        if not found.is_better_than(judged):
            break
        state, judged = other, found
    return state, judged
