"""Eigenvectors ("modes") of tables, from smooth to rough: a small Hessian for many classes.

With S the precision of a block of weights, D the weight of the rows in each level and s their
shares, the modes v of a block solve

    D v = e (S + s s') v,   v' (S + s s') v = 1

(s s' only where the mean of a random walk is held). The eigenvalue e measures how much the rows
determine a mode. It falls from the first mode to the last, in a random walk with the square of
the number. For each class, the modes with the largest eigenvalues share one matrix. Every other
mode has only its own curvature: its covariance with other modes is ignored. The penalty is diagonal
in modes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrs, dtrtri
from scipy.sparse import csr_array

from weigh.arrays import Floats, Integers
from weigh.educated.matrices import BlockDiagonal
from weigh.educated.passes import Tables
from weigh.educated.prior import Centre, Prior, PriorBlock

MODES = 320
"""Number of modes that share one matrix."""


@dataclass(frozen=True)
class BlockModes:
    """The modes of one block of weights, or of weights that have only a mean held at zero."""

    first: int  # first place
    number: int  # number of the block; -1 if there is none
    basis: Floats  # one column per mode
    eigenvalues: Floats
    pulled: Floats  # v' S v: penalty per unit of the block's scale
    held: Floats  # penalty of the mean
    log_det: float  # of S + s s'

    @property
    def alone(self) -> bool:
        """Whether each weight is a mode."""
        return bool(np.array_equal(self.basis, np.eye(len(self.basis))))

    @classmethod
    def of(
        cls, S: Floats, number: int, centre: Centre | None, first: int, rows: Floats
    ) -> BlockModes:
        """The modes of the weights from place `first` on; `rows` is the weight of rows of each."""
        n = len(rows)
        s, strength = (np.zeros(n), 0.0) if centre is None else (centre.shares, centre.strength)
        whole = S + np.outer(s, s)
        eigenvalues, basis = rows, np.eye(n)
        if n > 1 and np.count_nonzero(whole) > n:
            eigenvalues, basis = eigh(np.diag(rows), whole, check_finite=False)
        pulled = np.round((basis * (S @ basis)).sum(axis=0), 9)  # 0 or 1
        log_det = float(np.linalg.slogdet(whole)[1])
        return cls(first, number, basis, eigenvalues, pulled, strength * (s @ basis) ** 2, log_det)


def group_weights(prior: Prior, places: Integers, rows: Floats) -> list[BlockModes]:
    """The modes of one column; `rows` is the weight of the rows at each of all places."""
    centres, found = {int(c.places[0]): c for c in prior.held(places)}, []
    for b in prior.numbers(places):
        block, first = prior.blocks[b], int(prior.blocks[b].places[0])
        S = np.eye(len(block.places)) if block.matrix is None else block.matrix
        found.append(BlockModes.of(S, b, centres.pop(first, None), first, rows[block.places]))
    for first, centre in centres.items():
        n = len(centre.places)
        found.append(BlockModes.of(np.zeros((n, n)), -1, centre, first, rows[centre.places]))
    return sorted(found, key=lambda group: group.first)


def _basis_of(groups: list[BlockModes]) -> BlockDiagonal:
    """The modes of all groups, after that of the intercept."""
    ends = np.cumsum([0, 1, *(len(group.basis) for group in groups)]).tolist()
    matrices = [None, *(None if group.alone else group.basis for group in groups)]
    places = (np.arange(*own) for own in pairwise(ends))
    return BlockDiagonal.of(ends[-1], zip(places, matrices, strict=True))


@dataclass(frozen=True)
class Modes:
    """The modes of some columns and of the intercept, which comes first."""

    places: Integers
    spans: dict[int, slice]  # of each column, both among the modes and among the places
    basis: BlockDiagonal
    blocks: Integers  # the block of each mode; -1 if it has none
    eigenvalues: Floats
    pulled: Floats
    held: Floats
    log_det: float

    @classmethod
    def of(cls, prior: Prior, columns: dict[int, Integers], rows: Floats) -> Modes:
        """The modes of columns, given by their places; `rows` is the weight of rows by place."""
        groups = [group for own in columns.values() for group in group_weights(prior, own, rows)]
        ends = np.cumsum([1, *map(len, columns.values())]).tolist()
        return cls(
            np.concatenate([[0], *columns.values()]).astype(np.intp),
            {j: slice(*own) for j, own in zip(columns, pairwise(ends), strict=True)},
            _basis_of(groups),
            np.concatenate([[-1], *(np.full(len(g.eigenvalues), g.number) for g in groups)]).astype(
                int
            ),
            np.concatenate([[np.inf], *(group.eigenvalues for group in groups)]),
            np.concatenate([[0.0], *(group.pulled for group in groups)]),
            np.concatenate([[0.0], *(group.held for group in groups)]),
            sum(group.log_det for group in groups),
        )

    @cached_property
    def kept(self) -> Integers:
        """The modes that share a matrix, in order."""
        first = np.argsort(-self.eigenvalues, kind="stable")[:MODES]
        return np.sort(first)

    @cached_property
    def rest(self) -> Integers:
        """The modes that do not share the matrix."""
        return np.setdiff1d(np.arange(len(self.eigenvalues)), self.kept)

    @cached_property
    def shared(self) -> dict[int, tuple[slice, Floats]]:
        """By column: the slice of its modes among the kept ones, and their values by level."""
        found = {}
        for j, span in self.spans.items():
            ends = np.searchsorted(self.kept, [span.start, span.stop])
            own = self.basis.sparse[span][:, self.kept[slice(*ends)]]
            found[j] = (slice(*ends.tolist()), np.ascontiguousarray(own.toarray()))
        return found

    @cached_property
    def turned(self) -> BlockDiagonal:
        """The transposed basis: one line per mode."""
        return self.basis.turned

    @cached_property
    def squares(self) -> csr_array:
        """The squared values, by weight, of the modes that do not share the matrix."""
        return self.basis.sparse[:, self.rest].power(2)

    def of_rows(self, places: Integers, starts: list[int]) -> Floats:
        """The value of each kept mode in each row; zero where a row has no level."""
        out = np.zeros((places.shape[1], len(self.kept)))
        out[:, 0] = 1.0
        for j, (at, values) in self.shared.items():
            padded = np.vstack([np.zeros_like(values[:1]), values])
            out[:, at] = padded[places[j] - starts[j]]
        return out

    def of_levels(self, covariance: Floats) -> Floats:
        """The covariance of the weights, given that of the kept modes, in its upper half."""
        n_places, n_kept = len(self.places), len(self.kept)
        half, out = np.empty((n_kept, n_places)), np.zeros((n_places, n_places))
        half[:, 0] = covariance[:, 0]
        for j, (at, values) in self.shared.items():
            half[:, self.spans[j]] = covariance[:, at] @ values.T
        out[0] = half[0]
        for j, (at, values) in self.shared.items():
            later = slice(self.spans[j].start, None)
            out[self.spans[j], later] = values @ half[at, later]
        return out

    def penalty(self, scales: Floats) -> Floats:
        """The penalty of each mode: its diagonal entry."""
        known = self.blocks >= 0
        out = self.held.copy()
        out[known] += self.pulled[known] * scales[self.blocks[known]]
        return out

    def project(self, tables: Tables, numbers: Floats, diagonal: Floats) -> Projected:
        """Compute the Hessian of each class in modes, from tables with a number for each class."""
        n_classes = diagonal.shape[1]
        M = np.zeros((n_classes, len(self.kept), len(self.kept)))
        M[:, 0, 0] = diagonal[0]
        for b, (at, right) in self.shared.items():
            own = diagonal[self.spans[b]].T[:, None]
            M[:, at, 0] = (own @ right)[:, 0]
            M[:, at, at] = (right.T * own) @ right
            strip = tables.strip(b)
            for a, start, width in zip(strip.columns, strip.starts, strip.widths, strict=True):
                there, left = self.shared[int(a)]
                shape = (strip.height, width, n_classes)
                table = numbers[start : start + strip.height * width].reshape(shape)[1:, 1:]
                half = (right.T @ table.reshape(len(right), -1)).reshape(-1, len(left), n_classes)
                M[:, at, there] = (left.T @ half).transpose(2, 0, 1)
        return Projected(M, np.asarray(self.squares.T @ diagonal).T)


@dataclass(frozen=True)
class Projected:
    """The Hessian of each class in modes."""

    shared: Floats  # of kept modes: class by mode by mode, lower triangle
    alone: Floats  # diagonal of the other modes: class by mode


@dataclass(frozen=True)
class Reduced:
    """The penalised Hessian of one total in modes.

    `factor` is the Cholesky factor of the kept modes; `entries` is the diagonal of the others.
    """

    modes: Modes
    factor: Floats
    entries: Floats

    @property
    def places(self) -> Integers:
        """The places of the weights that the modes describe."""
        return self.modes.places

    def solve(self, right: Floats) -> Floats:
        """The inverse times a right-hand side, both in modes."""
        out, kept, rest = np.empty_like(right), self.modes.kept, self.modes.rest
        out[kept] = dpotrs(self.factor, right[kept], lower=True)[0]
        out[rest] = right[rest] / self.entries
        return out

    @property
    def log_det(self) -> float:
        """The log determinant of the piece, in weights."""
        own = 2 * np.log(self.factor.diagonal()).sum() + np.log(self.entries).sum()
        return float(own + self.modes.log_det)

    @cached_property
    def root(self) -> Floats:
        """The inverse of the Cholesky factor."""
        return np.asarray(dtrtri(self.factor, lower=True)[0])

    @cached_property
    def _variances(self) -> Floats:
        """The variance of each mode, times `pulled`."""
        out = np.empty(len(self.modes.eigenvalues))
        out[self.modes.kept] = (self.root**2).sum(axis=0)
        out[self.modes.rest] = 1 / self.entries
        return out * self.modes.pulled

    @cached_property
    def _spreads(self) -> Floats:
        return np.asarray(np.bincount(self.modes.blocks + 1, self._variances), dtype=np.float64)

    def spread(self, block: PriorBlock) -> float:
        """The trace of the covariance times a block's S."""
        number = self.modes.blocks[np.searchsorted(self.places, block.places[0])]
        return float(self._spreads[number + 1])

    @cached_property
    def alone(self) -> Floats:
        """The variance of each weight due to the modes that do not share the matrix."""
        return np.asarray(self.modes.squares @ (1 / self.entries))
