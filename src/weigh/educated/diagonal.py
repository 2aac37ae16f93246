"""Matrices of dense blocks along the diagonal, one for each block of weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from weigh.frames import Floats, Integers


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
