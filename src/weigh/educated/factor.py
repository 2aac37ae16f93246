"""Factors of the penalised Hessian, piece by piece, to solve with and to invert."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dlauum, dpotrf, dpotrs, dtrtri

from weigh.arrays import Floats, Integers
from weigh.educated.dual import Dual
from weigh.educated.matrices import Covariance
from weigh.educated.modes import Modes, Reduced
from weigh.educated.passes import LossDerivatives
from weigh.educated.prior import Prior, PriorBlock
from weigh.newton.descent import add_tied

RIDGES = (0.0, 1e-13, 1e-11, 1e-9)
"""Shares of the diagonal that are added to it in turn, until the Cholesky factorisation succeeds.

It fails where the weights of rows are so large that the penalty is lost to rounding. With a ridge
the Newton steps are a little short, but converge to the same weights."""


@dataclass(frozen=True)
class Dense:
    """A dense piece of the Hessian: its lower Cholesky factor, with zeros above the diagonal."""

    places: Integers
    factor: Floats

    def solve(self, right: Floats) -> Floats:
        """The inverse times a right-hand side."""
        return np.asarray(dpotrs(self.factor, right, lower=True)[0])

    @property
    def log_det(self) -> float:
        """The log determinant of the piece."""
        return float(2 * np.log(self.factor.diagonal()).sum())

    @cached_property
    def _root(self) -> Floats:
        """The inverse of the Cholesky factor: the covariance is its transpose times itself."""
        return np.asarray(dtrtri(self.factor, lower=True)[0])

    @cached_property
    def upper(self) -> Floats:
        """The covariance of the weights in its upper half; zero below."""
        return np.asarray(dlauum(self._root, lower=True)[0].T)

    @cached_property
    def inverse(self) -> Floats:
        """The covariance of the weights."""
        whole: Floats = self.upper + self.upper.T
        np.fill_diagonal(whole, self.upper.diagonal())
        return whole

    @property
    def covariance(self) -> Covariance:
        """The covariance of the weights, as one matrix."""
        return Covariance.of(self.inverse)

    @property
    def variances(self) -> Floats:
        """The variance of each weight."""
        return self.upper.diagonal()

    def spread(self, block: PriorBlock) -> float:
        """The trace of the block's covariance times S; the full covariance is not computed."""
        if block.matrix is None:
            own = self._root_of(block)
            return float((own * own).sum())
        return float((self.within(block) * block.matrix).sum())

    def within(self, block: PriorBlock) -> Floats:
        """The covariance of the weights of one block; the full covariance is not computed."""
        own = self._root_of(block)
        return np.asarray(own.T @ own)

    def _root_of(self, block: PriorBlock) -> Floats:
        at = np.searchsorted(self.places, block.places)
        return self._root[at[0] :, at[0] : at[-1] + 1]


@dataclass(frozen=True)
class Diagonal:
    """A diagonal piece of the Hessian: levels of one feature exclude each other."""

    places: Integers
    entries: Floats

    def solve(self, right: Floats) -> Floats:
        """The inverse times a right-hand side."""
        solved: Floats = right / self.entries
        return solved

    @property
    def log_det(self) -> float:
        """The log determinant of the piece."""
        return float(np.log(self.entries).sum())

    @property
    def variances(self) -> Floats:
        """The variance of each weight."""
        inverse: Floats = 1 / self.entries
        return inverse

    @property
    def inverse(self) -> Floats:
        """The covariance of the weights."""
        return np.diag(self.variances)

    def spread(self, block: PriorBlock) -> float:
        """The trace of the block's covariance times S, which is the identity."""
        return float(self.variances[np.searchsorted(self.places, block.places)].sum())

    def within(self, block: PriorBlock) -> Floats:
        """The covariance of the weights of one block."""
        return np.diag(self.variances[np.searchsorted(self.places, block.places)])


@dataclass(frozen=True)
class Factor:
    """The factored pieces of the penalised Hessian of each class."""

    by_class: tuple[tuple[Dense | Diagonal | Dual | Reduced, ...], ...]

    def solve(self, right: Floats) -> Floats:
        """The inverse of every piece times its part of a right-hand side."""
        first = self.by_class[0][0]
        if isinstance(first, Reduced):  # then so is the first piece of every class
            right = right.copy()
            right[first.places] = first.modes.turned @ right[first.places]
        out = np.empty_like(right)
        for k, pieces in enumerate(self.by_class):
            for piece in pieces:
                out[piece.places, k] = piece.solve(right[piece.places, k])
        if isinstance(first, Reduced):
            out[first.places] = first.modes.basis @ out[first.places]
        return out

    @property
    def log_det(self) -> float:
        """The log determinant of all pieces together."""
        return sum(piece.log_det for pieces in self.by_class for piece in pieces)

    def spread(self, block: PriorBlock) -> float:
        """The trace of the weights' covariance times a block's S, summed over classes."""
        own = self._homes[block.places[0]]
        return sum(pieces[own].spread(block) for pieces in self.by_class)

    def within(self, block: PriorBlock) -> list[Floats]:
        """The covariance of the weights of a block, class by class."""
        own = self._homes[block.places[0]]
        pieces = [by_piece[own] for by_piece in self.by_class]
        assert not any(isinstance(piece, Reduced) for piece in pieces)  # they ignore covariances
        return [piece.within(block) for piece in pieces]  # type: ignore[union-attr]

    @cached_property
    def _homes(self) -> dict[int, int]:
        """The number of the piece of each weight, the same for all classes."""
        pieces = enumerate(self.by_class[0])
        return {place: own for own, piece in pieces for place in piece.places.tolist()}


def make_dense(hessian: Floats, prior: Prior, scales: Floats, places: Integers) -> Dense:
    """Add the penalty to a piece of the Hessian, and factor it."""

    def penalised() -> Floats:
        whole = hessian.T.copy("F")  # symmetric, so the transpose is in LAPACK's order at no cost
        prior.add_to(whole, scales, places)
        return whole

    return Dense(places, _root(penalised))


def make_reduced(hessian: Floats, rest: Floats, modes: Modes, scales: Floats) -> Reduced:
    """Add the penalty to the Hessian in modes: to the shared matrix and to the other modes."""
    penalty = modes.penalty(scales)

    def penalised() -> Floats:
        whole = hessian.copy("F")
        whole[np.diag_indices_from(whole)] += penalty[modes.kept]
        return whole

    return Reduced(modes, _root(penalised), rest + penalty[modes.rest])


def _root(make: Callable[[], Floats]) -> Floats:
    """The lower Cholesky factor of a matrix, which is made again for each ridge that is tried."""
    for ridge in RIDGES:
        firm = make()
        if ridge:
            firm[np.diag_indices_from(firm)] *= 1 + ridge
        root, failed = dpotrf(firm, lower=True, clean=True, overwrite_a=True)
        if not failed:
            return np.asarray(root)
    raise ValueError("sample_weight is too large to compute with; divide it by its mean")


def make_diagonal(entries: Floats, prior: Prior, scales: Floats, places: Integers) -> Diagonal:
    """Add the penalty to a diagonal piece: independent categories, whose penalty is diagonal."""
    whole = entries.copy()
    for b in prior.numbers(places):
        whole[prior.blocks[b].places - places[0]] += scales[b]
    return Diagonal(places, whole)


@dataclass(frozen=True)
class Curvature:
    """The Hessian of the loss, by class: the joint weights' dense block, and the diagonal of all.

    `across` has the blocks between two classes, if the pass computed them.
    """

    joint: tuple[Floats, ...]
    diagonal: Floats
    across: dict[tuple[int, int], Floats]

    @classmethod
    def of(
        cls, look: LossDerivatives, diagonals: Floats, tables: Floats, ties: Integers | None
    ) -> Curvature:
        """The curvature from the sums of a pass; weights with equal ties count as one weight."""
        entries = np.ascontiguousarray(look.view.design.unpad(diagonals))
        found = {}
        by_pair = tables.T if look.side_by_side else tables
        for pair, diagonal, numbers in zip(look.pairs, entries.T, by_pair, strict=True):
            found[pair] = _join(look, diagonal, numbers, ties)
        n = look.view.target.n_totals
        joint = tuple(found.pop((k, k)) for k in range(n))
        return cls(joint, add_tied(entries[:, :n], ties), found)

    def beside(self, hessian: Floats, ties: Integers | None) -> Curvature:
        """Add the Hessian of other rows (class by weight by class by weight, before ties)."""

        def own(k: int, other: int) -> Floats:
            block = hessian[k, :, other]
            return block if ties is None else add_tied(add_tied(block, ties).T, ties).T

        joint = [mine + own(k, k) for k, mine in enumerate(self.joint)]
        diagonal = self.diagonal + np.column_stack(
            [own(k, k).diagonal() for k in range(len(joint))]
        )
        across = {pair: mine + own(*pair) for pair, mine in self.across.items()}
        return Curvature(tuple(joint), diagonal, across)

    def multiply_hessian(self, direction: Floats) -> Floats:
        """The whole Hessian times a direction, if all weights are joint ones."""
        bent = np.column_stack([own @ direction[:, k] for k, own in enumerate(self.joint)])
        for (k, other), block in self.across.items():
            bent[:, k] += block @ direction[:, other]
            bent[:, other] += block @ direction[:, k]
        return bent


def _join(
    look: LossDerivatives, diagonal: Floats, numbers: Floats, ties: Integers | None
) -> Floats:
    """The tables of some columns as one symmetric matrix, the intercept first."""
    from weigh.educated.kernels import join_tables

    spans = [look.view.design.spans[j] for j in look.columns]
    places = np.concatenate([[0], *(np.arange(span.start, span.stop) for span in spans)])
    places = places.astype(np.intp)
    ends = np.cumsum([1, *(span.stop - span.start for span in spans)])
    own, whole = diagonal[places], np.zeros((len(places), len(places)))
    for i, b in enumerate(look.columns):
        strip = look.tables.strip(b)
        join_tables(numbers, strip.starts, strip.widths, strip.height, ends[i], ends[:i], whole)
    whole[0] = whole[:, 0] = own
    np.fill_diagonal(whole, own)
    if ties is None:
        return whole
    tied = ties[places]
    return add_tied(add_tied(whole, tied).T, tied)
