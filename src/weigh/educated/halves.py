"""Divide the rows into halves by pseudo-random numbers, and fit each half.

The number of a row is computed from its levels alone. It does not depend on the position of the
row, its batch, its engine or the order of the columns. A row of weight two has the same number as
the row given twice. So columns can be cut by labels of one half and tested on the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.educated.passes import RowsAtWeights
from weigh.educated.solve import State
from weigh.engine import Block, Sums
from weigh.pickling import by_fields


def salt(name: str) -> int:
    """Hash a name to a number, so that the order of columns does not matter."""
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8).digest())


def mark_rows(block: Block, salts: Sequence[int]) -> Integers:
    """The pseudo-random number of each row; `salts` has one number for each coded feature."""
    from weigh.educated import kernels

    marks = np.zeros(len(block), dtype=np.uint64)
    for own, codes in zip(salts, block.codes, strict=True):
        kernels.mark_rows(codes, np.uint64(own), marks)
    return marks


def halve(block: Block, salts: Sequence[int]) -> Integers:
    """The half, 0 or 1, that each row belongs to."""
    return (mark_rows(block, salts) >> np.uint64(63)).astype(np.intp)


HALVES = 2
LEAST_SHARE = 0.01
"""Least share of the rows that a half is assumed to have."""


@dataclass(frozen=True)
class HalfSlopes:
    """The statistic: the sums of slopes by place, and the weight of rows, for each half."""

    view: RowsAtWeights
    salts: tuple[int, ...]  # of the coded features

    __reduce__ = by_fields

    def __call__(self, block: Block) -> Sums:
        """The sums over a block."""
        from weigh.educated.kernels import sum_rows

        seen, halves = self.view.see(block), halve(block, self.salts)
        slopes = np.zeros((HALVES, len(seen.slope), self.view.design.starts[-1]))
        for half, own in enumerate(slopes):
            for values, out in zip(seen.slope * (halves == half), own, strict=True):
                out[0] = values.sum()
                sum_rows(seen.places, values, out)
        weight: Floats = np.bincount(halves, seen.weight, HALVES).astype(np.float64)
        return Sums((slopes, weight))


def fit_halves(state: State, salts: tuple[int, ...]) -> list[Floats]:
    """Approximate the weights of a fit to each half of the rows, at the same scales.

    This is one Newton step from the weights of all rows. The Hessian of a half is taken to be its
    share of the whole:  share H + P = share (H + P/share).
    """
    problem, view = state.problem, state.problem.view(state.weights)
    slopes, weight = problem.rows.sum(HalfSlopes(view, salts)).arrays
    shares = np.clip(weight / max(weight.sum(), 1e-300), LEAST_SHARE, 1.0)
    pull, found = problem.prior.apply(state.weights, state.scales), []
    for own, share in zip(slopes, shares.tolist(), strict=True):
        gradient = problem.design.unpad(own) + pull
        if gradient.shape[1] > 1:
            gradient[0] -= gradient[0].mean()  # as in `State.gradient`
        step = state.rescale(state.scales / share).factor.solve(gradient) / share
        found.append(state.weights - step)
    return found
