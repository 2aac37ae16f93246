"""Inverse of the penalised Hessian when there are fewer rows than weights.

With X = (1, Z) the rows as indicators of levels, C their curvatures and P the precision of the
prior, which is zero for the intercept, the inverse of X'CX + P follows from a matrix with one line
for each row (Woodbury's identity):

    M = I + W K W,   W = C^1/2,   K = Z P^-1 Z',   B = W M^-1 W

The inverse of the prior's precision is a sum over blocks, each divided by the scale of its block.
With s the shares of a random walk's mean, t the strength that holds it, and S the walk's precision,

    (scale S + t s s')^-1 = G/scale + 1 1'/t,   G = (S + s s')^-1 - 1 1'

So K is a sum over blocks, too, and the size of K and B does not depend on the number of weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtrs
from scipy.sparse import csr_array

from weigh.arrays import Floats, Integers
from weigh.educated.matrices import Covariance
from weigh.educated.prior import Centre, Prior, PriorBlock

LEAST = 1e-8
"""Least precision of the intercept, for fits in which every row is certain."""


@dataclass(frozen=True)
class Part:
    """A block of the prior: the level of each row in it, and the matrix G of the block.

    Rows without a level in the block have the last line and column of G, which are zero.
    """

    block: PriorBlock
    levels: Integers
    table: Floats
    log_det: float  # of the block's precision at scale 1, with its mean held at strength 1

    @classmethod
    def of(cls, block: PriorBlock, centre: Centre | None, rows: Integers) -> Part:
        """Find the levels of rows in a block; rows are given as numbers of weights."""
        size = len(block.places)
        local = np.full(max(int(block.places[-1]), int(rows.max(initial=0))) + 2, size)
        local[block.places] = np.arange(size)
        precision = np.eye(size) if block.matrix is None else block.matrix
        if centre is not None:
            precision = precision + np.outer(centre.shares, centre.shares)
        table = np.zeros((size + 1, size + 1))
        table[:size, :size] = np.linalg.inv(precision) - (centre is not None)
        levels = local[rows].astype(np.int32)  # -1, no level, is the last
        return cls(block, levels, table, float(np.linalg.slogdet(precision)[1]))


@dataclass(frozen=True)
class Stack:
    """Consecutive parts, with all of their tables in one array."""

    numbers: slice  # of the parts
    levels: Integers  # part by row
    tables: Floats
    sides: Integers

    @classmethod
    def of(cls, parts: Sequence[Part], numbers: slice) -> Stack:
        """Stack some of the parts."""
        parts = parts[numbers]
        return cls(
            numbers,
            np.array([part.levels for part in parts]),
            np.concatenate([part.table.ravel() for part in parts]),
            np.array([len(part.table) for part in parts]),
        )


LINES = 1024
"""Lines of the tables of one stack: 64 columns of them are half a megabyte."""


@dataclass(frozen=True)
class Kernel:
    """The prior covariance K of the totals of rows, as a sum over blocks."""

    parts: tuple[Part, ...]
    centres: tuple[Centre, ...]
    Z: csr_array  # row by weight: one where the row has the level

    @classmethod
    def of(cls, prior: Prior, spans: Sequence[slice], rows: Integers, n_weights: int) -> Kernel:
        """The kernel of rows: rows[j, i] is row i's weight in column j, negative if it has none."""
        starts, centres = (
            [span.start for span in spans],
            {int(c.places[0]): c for c in prior.centres},
        )

        def part(block: PriorBlock) -> Part:
            first = int(block.places[0])
            column = rows[np.searchsorted(starts, first, "right") - 1]
            return Part.of(block, centres.get(first), column)

        column, row = np.nonzero(rows.T >= 0)[::-1]
        ones = np.ones(len(row))
        Z = csr_array((ones, (row, rows[column, row])), (rows.shape[1], n_weights))
        return cls(tuple(map(part, prior.blocks)), prior.centres, Z)

    @cached_property
    def _loose(self) -> Floats:
        """One over the strength of each centre."""
        return np.array([1 / centre.strength for centre in self.centres])

    @cached_property
    def _held(self) -> Floats:
        """Centre by row: one if the row's level belongs to the centre."""
        member = np.zeros((self.Z.shape[1], len(self.centres)))
        for c, centre in enumerate(self.centres):
            member[centre.places, c] = 1.0
        return np.asarray((self.Z @ member).T)

    @cached_property
    def _of_means(self) -> Floats:
        """The part of K that comes from the means of tables."""
        return np.ascontiguousarray((self._held.T * self._loose) @ self._held)

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The number of each block, by the place of its first weight."""
        return {int(part.block.places[0]): b for b, part in enumerate(self.parts)}

    @cached_property
    def _stacks(self) -> list[Stack]:
        """The parts, stacked so that their tables stay in the processor's cache."""
        ends = np.cumsum([len(part.table) for part in self.parts]) // LINES
        cuts = [0, *(np.flatnonzero(np.diff(ends)) + 1).tolist(), len(self.parts)]
        return [Stack.of(self.parts, slice(a, b)) for a, b in pairwise(cuts) if a < b]

    def matrix(self, scales: Floats) -> Floats:
        """K, in its lower half."""
        from weigh.educated.kernels import add_kernels

        out = self._of_means.copy()
        for own in self._stacks:
            add_kernels(own.levels, own.tables, own.sides, 1 / scales[own.numbers], out)
        return out

    def traces(self, lower: Floats) -> Floats:
        """The trace of each block's part of K, at scale 1, times a symmetric matrix."""
        from weigh.educated.kernels import sum_kernels

        out = np.zeros(len(self.parts))
        for own in self._stacks:
            sum_kernels(own.levels, own.tables, own.sides, lower, out[own.numbers])
        return out

    def log_det(self, scales: Floats) -> float:
        """The log determinant of the prior's precision."""
        own = [
            p.log_det + p.block.rank * np.log(s) for p, s in zip(self.parts, scales, strict=True)
        ]
        return float(sum(own) - np.log(self._loose).sum())

    def inverse(self, scales: Floats) -> Floats:
        """P^-1; 0 for the intercept."""
        out = np.zeros((self.Z.shape[1],) * 2)
        for part, scale in zip(self.parts, scales, strict=True):
            at = part.block.places
            out[np.ix_(at, at)] += part.table[:-1, :-1] / scale
        for centre, loose in zip(self.centres, self._loose, strict=True):
            out[np.ix_(centre.places, centre.places)] += loose
        return out

    def solve(self, scales: Floats, right: Floats) -> Floats:
        """P^-1 times weights; 0 for the intercept."""
        out = np.zeros_like(right)
        for part, scale in zip(self.parts, scales, strict=True):
            places = part.block.places
            out[places] += part.table[:-1, :-1] @ right[places] / scale
        for centre, loose in zip(self.centres, self._loose, strict=True):
            out[centre.places] += loose * right[centre.places].sum(axis=0)
        return out


@dataclass(frozen=True)
class Dual:
    """The penalised Hessian of one total, inverted by a matrix of rows by rows."""

    kernel: Kernel
    scales: Floats
    curvature: Floats
    K: Floats  # in its lower half

    @property
    def places(self) -> Integers:
        """The places of all weights."""
        return np.arange(self.kernel.Z.shape[1])

    @cached_property
    def _root(self) -> Floats:
        """The lower Cholesky factor of M."""
        W = np.sqrt(self.curvature)
        M = W[:, None] * self.K * W
        M[np.diag_indices_from(M)] += 1.0
        return np.asarray(dpotrf(M, lower=True, clean=True)[0])

    def _between(self, values: Floats) -> Floats:
        """B times a vector with one number for each row."""
        W = np.sqrt(self.curvature)
        return np.asarray(W * dpotrs(self._root, W * values, lower=True)[0])

    @cached_property
    def _lower(self) -> Floats:
        """B, in its lower half."""
        W = np.sqrt(self.curvature)
        return np.asarray(W[:, None] * dpotri(self._root, lower=True)[0] * W)

    @cached_property
    def _traces(self) -> Floats:
        """The trace of B times each block's part of K, at scale 1."""
        return self.kernel.traces(self._lower)

    @cached_property
    def _pull(self) -> Floats:
        """B 1: the precision that each row contributes to the intercept."""
        return self._between(np.ones(len(self.curvature)))

    @property
    def _own(self) -> float:
        """The marginal precision of the intercept."""
        return max(float(self._pull.sum()), LEAST)

    @cached_property
    def _follow(self) -> Floats:
        """Change of the other weights per unit of the intercept, negated: P^-1 Z' B 1."""
        return self.kernel.solve(self.scales, self.kernel.Z.T @ self._pull)

    @property
    def log_det(self) -> float:
        """The log determinant of the penalised Hessian."""
        of_rows = 2 * np.log(self._root.diagonal()).sum()
        return float(self.kernel.log_det(self.scales) + of_rows + np.log(self._own))

    def solve(self, right: Floats) -> Floats:
        """The inverse times a right-hand side."""
        kernel, Z = self.kernel, self.kernel.Z
        out = kernel.solve(self.scales, right)
        out -= kernel.solve(self.scales, Z.T @ self._between(Z @ out))
        intercept = (right[0] - self._follow @ right) / self._own
        out -= self._follow * intercept
        out[0] = intercept
        return out

    def spread(self, block: PriorBlock) -> float:
        """The trace of the covariance times a block's S."""
        number = self.kernel.numbers[int(block.places[0])]
        scale = self.scales[number]
        told = self._traces[number] / scale
        along = block.norm(self._follow[:, None]) / self._own
        return float((block.rank - told) / scale + along)

    def _half(self, right: Floats) -> Floats:
        """A matrix H with H' H = right' B right."""
        scaled = np.sqrt(self.curvature)[:, None] * right
        return np.asarray(dtrtrs(self._root, scaled, lower=True)[0])

    def within(self, block: PriorBlock) -> Floats:
        """The covariance of the weights of one block; the full covariance is not computed."""
        number = self.kernel.numbers[int(block.places[0])]
        part, own = self.kernel.parts[number], self._follow[block.places]
        prior = np.zeros((self.kernel.Z.shape[1], len(own)))
        prior[block.places] = part.table[:-1, :-1] / self.scales[number]
        half = self._half(self.kernel.Z @ prior)
        return np.asarray(prior[block.places] - half.T @ half + np.outer(own, own / self._own))

    @cached_property
    def row_variances(self) -> Floats:
        """The variance of each row's total."""
        K = np.tril(self.K) + np.tril(self.K, -1).T
        own = K.diagonal() - (self._half(K) ** 2).sum(axis=0)
        return np.asarray(own + (1 - K @ self._pull) ** 2 / self._own)

    @property
    def covariance(self) -> Covariance:
        """The covariance of the weights: that of the prior, less what the rows tell."""
        kernel = self.kernel
        half = self._half(kernel.solve(self.scales, kernel.Z.T.toarray()).T)
        border = self._follow.copy()
        border[0] = -1.0
        border /= np.sqrt(self._own)
        return Covariance(kernel.inverse(self.scales), border[:, None], half.T)

    @cached_property
    def inverse(self) -> Floats:
        """The covariance of the weights as one matrix."""
        return self.covariance.matrix
