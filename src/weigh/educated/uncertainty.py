"""The uncertainty of the scales, added to the covariance of the weights (delta method).

The weights w are those of largest posterior density for given scales. So their derivative in the
logarithm of the scale of block b is

    -V (scale_b S_b w),    V the inverse of the penalised Hessian

and the logarithm has the variance 1/(I_b + 3/pi^2). With M = scale_b S_b V_bb,

    I_b = (rank_b - 2 tr M + tr M^2)/2

is the information of the rows on it (the expected Hessian of the log marginal likelihood). The
other term is that of its prior, which is logistic and has the variance pi^2/3. Correlations between
the scales of two blocks are ignored.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weigh.educated.covariance import Covariance
from weigh.educated.prior import Block
from weigh.educated.solve import State
from weigh.frames import Floats

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


def information(covariance: Covariance, block: Block, scale: float) -> float:
    """The information of the rows on the logarithm of a block's scale."""
    M = scale * block.apply(covariance.take(block.places).matrix)
    return max(0.5 * float(block.rank - 2 * M.trace() + (M * M.T).sum()), 0.0)
