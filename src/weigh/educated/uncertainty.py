"""The uncertainty of the scales, in the covariance of the weights and in leave-one-out predictions.

For given scales, w and V are the weights of largest posterior density and the inverse of the
penalised Hessian, and S_b is the matrix of block b. Their derivatives in the logarithm r_b of its
scale are

    dw/dr_b = -V scale_b S_b w,    dV/dr_b = -V scale_b S_b V

The covariance of the weights (delta method). r_b has the variance 1/(I_b + 3/pi^2). With M =
scale_b S_b V_bb,

    I_b = (rank_b - 2 tr M + tr M^2)/2

is the information of the rows on it (the expected Hessian of the log marginal likelihood). The
other term is that of its prior, which is logistic and has the variance pi^2/3. Correlations between
the scales of two blocks are ignored.

Leave-one-out predictions of amounts. The closed form of `weigh.educated.loo` leaves the scales as
all rows estimated them. With few rows this understates the errors of new rows. Without row i the
log marginal likelihood of r falls by the log density of the row's number given all others, l_i. So
one step of scoring moves the scales by

    -J^-1 g_i,    g_i = dl_i/dr,    J = sum_i g_i g_i' + 3/pi^2 I

The prediction of the row moves by this step times its own derivative in r.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weigh.arrays import Floats
from weigh.educated import prior
from weigh.educated.design import weigh_rows
from weigh.educated.loo import NEARLY_ONE
from weigh.educated.matrices import Covariance
from weigh.educated.numbers import split
from weigh.educated.scales import tie
from weigh.educated.solve import State
from weigh.engine import Block

OF_PRIOR = 3 / np.pi**2
"""Information of the prior on the logarithm of a scale."""


def add_scale_uncertainty(covariance: Covariance, state: State) -> Covariance:
    """The covariance of the weights, given that scales are estimated too; for two classes."""
    blocks = state.problem.prior.blocks
    both = [*zip(blocks, state.scales.tolist(), strict=True)]
    pulls = np.zeros((len(state.weights), len(blocks)))
    for b, (block, scale) in enumerate(both):
        pulls[block.places, b] = scale * block.apply(state.weights[block.places, 0])
    known = np.array([information(covariance, block, scale) for block, scale in both])
    columns: Floats = covariance @ pulls / np.sqrt(known + OF_PRIOR)
    return replace(covariance, plus=np.hstack([covariance.plus, columns]))


def information(covariance: Covariance, block: prior.PriorBlock, scale: float) -> float:
    """The information of the rows on the logarithm of a block's scale."""
    M = scale * block.apply(covariance.take(block.places).matrix)
    return max(0.5 * float(block.rank - 2 * M.trace() + (M * M.T).sum()), 0.0)


FEW = 1000
"""Largest number of rows for which the scales are estimated again."""


def shift_totals(state: State, block: Block, noise: float) -> Floats:
    """By how much the leave-one-out totals of rows move if the scales are estimated again.

    Zero for many rows, a loss that is not quadratic, or a Hessian that is not one matrix.
    A weight above 1 stands for several rows, of which one is left out; a weight w below 1 for one
    row whose noise has the variance noise/w.
    """
    problem = state.problem
    if len(block) > FEW or not (problem.target.quadratic and problem.exact):
        return np.zeros(len(block))
    numbers, _ = split(block.labels)
    weight, rows = weigh_rows(block), _indicate(state, block)
    once = np.minimum(weight, 1.0)[:, None]
    reach = state.factor.by_class[0][0].covariance @ rows.T  # type: ignore[union-attr]
    error = (numbers - rows @ state.weights[:, 0])[:, None]
    moved, bent = _derivatives(state, reach)
    left = np.maximum(1 - once * (rows * reach.T).sum(axis=1, keepdims=True), 1 - NEARLY_ONE)
    bent *= once / left
    change = (moved - error * bent) / left  # of the leave-one-out error
    slope = 0.5 * bent - once * error * (moved - 0.5 * error * bent) / (left * noise)
    information = (np.maximum(weight, 1.0)[:, None] * slope).T @ slope + OF_PRIOR * np.eye(
        slope.shape[1]
    )
    shift: Floats = (change * np.linalg.solve(information, slope.T).T).sum(axis=1)
    return shift


def _indicate(state: State, block: Block) -> Floats:
    """The matrix of rows by weights that gives the totals."""
    problem = state.problem
    at = problem.design.index(problem.numbers)[problem.design.place(block)]
    found = np.zeros((len(block), problem.n_weights))
    found[:, 0] = 1.0
    for own in at:
        known = np.flatnonzero(own >= 0)
        found[known, own[known]] = 1.0
    return found


def _derivatives(state: State, reach: Floats) -> tuple[Floats, Floats]:
    """By row and scale: minus the derivatives of its total and of the variance of its total."""
    blocks = state.problem.prior.blocks
    moved, bent = np.empty((2, reach.shape[1], len(blocks)))
    for b, (block, scale) in enumerate(zip(blocks, state.scales, strict=True)):
        own = reach[block.places]
        moved[:, b] = scale * own.T @ block.apply(state.weights[block.places, 0])
        bent[:, b] = scale * (own * block.apply(own)).sum(axis=0)
    of_scale = tie(blocks).scale_of
    each = np.eye(of_scale.max(initial=-1) + 1)[of_scale]
    return moved @ each, bent @ each
