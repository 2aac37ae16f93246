"""Matrices in a form that is cheap to multiply: a covariance as a sum, and blocks on a diagonal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from weigh.arrays import Floats, Integers


@dataclass(frozen=True)
class Covariance:
    """The sum dense + plus plus' - minus minus'.

    With few rows, `minus` has a column for each row: merging the weights of fine levels before the
    product is formed costs a fraction of merging the product.
    """

    dense: Floats
    plus: Floats
    minus: Floats

    @classmethod
    def of(cls, dense: Floats) -> Covariance:
        """A covariance that is one matrix."""
        none = np.zeros((len(dense), 0))
        return cls(dense, none, none)

    def mapped(self, apply: Callable[[Floats], Floats]) -> Covariance:
        """The covariance of A w, where `apply` multiplies each column of a matrix by A."""
        return Covariance(apply(apply(self.dense).T), apply(self.plus), apply(self.minus))

    def __matmul__(self, right: Floats) -> Floats:
        """The covariance times a matrix."""
        product: Floats = self.dense @ right + self.plus @ (self.plus.T @ right)
        product -= self.minus @ (self.minus.T @ right)
        return product

    def take(self, places: Integers) -> Covariance:
        """The covariance of w[places]; a place may occur several times."""
        dense = self.dense[np.ix_(places, places)]
        return Covariance(dense, self.plus[places], self.minus[places])

    def times(self, factor: float) -> Covariance:
        """The covariance times a positive number."""
        root = np.sqrt(factor)
        return Covariance(factor * self.dense, root * self.plus, root * self.minus)

    @property
    def diagonal(self) -> Floats:
        """The variance of each weight."""
        squares: Floats = (self.plus**2).sum(axis=1) - (self.minus**2).sum(axis=1)
        return self.dense.diagonal() + squares

    @property
    def matrix(self) -> Floats:
        """The sum."""
        whole: Floats = self.dense + self.plus @ self.plus.T
        whole -= self.minus @ self.minus.T
        return whole


@dataclass(frozen=True)
class BlockDiagonal:
    """Square blocks along the diagonal; zero elsewhere.

    Blocks of one size are one array, so a product takes one call for each size: five times as fast
    as a sparse matrix with the same entries.
    """

    size: int
    ones: Integers  # places of blocks that are the identity
    stacks: tuple[tuple[Integers, Floats], ...]  # places, block by line; matrices of one size

    @classmethod
    def of(cls, size: int, blocks: Iterable[tuple[Integers, Floats | None]]) -> BlockDiagonal:
        """Collect blocks, given by their places; None stands for the identity."""
        ones, by_size = [], dict[int, list[tuple[Integers, Floats]]]()
        for places, matrix in blocks:
            if matrix is None:
                ones.append(places)
            else:
                by_size.setdefault(len(places), []).append((places, matrix))
        stacks = [zip(*own, strict=True) for own in by_size.values()]
        alone = np.concatenate([*ones, []]).astype(np.intp)
        return cls(size, alone, tuple((np.array(at), np.array(own)) for at, own in stacks))

    @property
    def turned(self) -> BlockDiagonal:
        """The transposed matrix."""
        turned = tuple((at, own.transpose(0, 2, 1)) for at, own in self.stacks)
        return BlockDiagonal(self.size, self.ones, turned)

    def __matmul__(self, right: Floats) -> Floats:
        """The product with a matrix."""
        out = np.zeros_like(right)
        out[self.ones] = right[self.ones]
        for at, own in self.stacks:
            out[at] = own @ right[at]
        return out

    @cached_property
    def sparse(self) -> csr_array:
        """The same matrix as a sparse one, whose lines and columns can be selected."""
        entries = [(self.ones, self.ones, np.ones(len(self.ones)))]
        for at, own in self.stacks:
            lines, columns = np.broadcast_arrays(at[:, :, None], at[:, None, :])
            entries.append((lines.ravel(), columns.ravel(), own.ravel()))
        lines, columns, values = map(np.concatenate, zip(*entries, strict=True))
        return csr_array((values, (lines, columns)), (self.size, self.size))
