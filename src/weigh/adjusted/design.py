"""Design matrix whose columns are the weights of naive Bayes, and the moments of a loss over it.

The matrix is expanded block by block. Loss, gradient and Hessian are summed over the blocks for
many points at once: a search asks for the moments at a point (`SplitPoint`), and one pass over the
rows answers all searches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol, Self

import numpy as np
from scipy import linalg

from weigh.arrays import Floats, Integers
from weigh.engine import BLOCK, HELD_OUT, TRAIN, Block, Coded, CodedRows, Dealt, Sums, sum_each

MAX_CACHED_BLOCKS = 4
"""A design matrix of up to this many blocks stays in memory between passes."""

LEAST_ROWS, MAX_GROWTH = 2048, 16
"""A block of many columns has this many rows, unless that makes it so many times as large: the call
that expands a column takes as long as some hundred of its rows."""

ALL = -1
"""Split number that means all rows, without a split."""


@dataclass(frozen=True)
class Design:
    """Columns of a regression: the weights of evidence of naive Bayes, fitted to some rows.

    `tables[j]` holds the weights of a feature, level by class; one column if there are two
    classes. `offset` is added to every total. `constant`, if given, is one more column: the prior.
    """

    tables: tuple[Floats, ...]
    offset: Floats
    constant: Floats | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns of each matrix."""
        return len(self.tables) + (self.constant is not None)

    @property
    def n_matrices(self) -> int:
        """Number of matrices: 1, or with more than two classes one per class."""
        return int(self.tables[0].shape[1]) if self.tables else 1

    @cached_property
    def by_class(self) -> tuple[Floats, ...]:
        """Tables transposed: class by level."""
        return tuple(np.ascontiguousarray(table.T) for table in self.tables)


@dataclass(frozen=True)
class DesignMatrix:
    """Design matrix (or one per class) of coded rows, expanded block by block.

    Entry (i, j) is `design.tables[j]` at the level of feature `used[j]` in row i. `roles[group,
    split]` says whether a group of rows is training or hold-out in a split. `folds` holds the
    design of each split; if it is empty, every split uses `design`.
    """

    rows: Coded
    n_classes: int
    design: Design
    used: tuple[int, ...]
    roles: Integers | None = None
    folds: tuple[Design, ...] = ()
    known_class_weights: Floats | None = None  # counted if not given

    def __len__(self) -> int:
        return self.rows.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns of each matrix."""
        return self.design.n_columns

    def design_of(self, split: int) -> Design:
        """Design of a split."""
        return self.folds[split] if self.folds and split != ALL else self.design

    @cached_property
    def _matrices(self) -> dict[int, Floats]:
        return {}

    def whole(self, design: Design, block_size: int) -> Floats | None:
        """Matrices of all rows, class by column by row, if they are in memory and small."""
        n_rows = self.rows.n_rows
        few = design.n_matrices * design.n_columns * n_rows <= MAX_CACHED_BLOCKS * block_size
        if not (few and isinstance(self.rows, CodedRows) and n_rows <= BLOCK and design.tables):
            return None
        if id(design) not in self._matrices:
            Q = np.empty((design.n_matrices, design.n_columns, n_rows))
            everything = Block(self.rows.codes, self.rows.labels)
            Expansion(design, self.used, np.ones((1, 1), np.uint8), 0).fill(everything, Q)
            self._matrices[id(design)] = Q
        return self._matrices[id(design)]

    def deal(self, dealt: Dealt, folds: tuple[Design, ...] = ()) -> DesignMatrix:
        """Copy whose rows are assigned to folds, each fold with its own design if given."""
        return replace(self, rows=dealt.rows, roles=dealt.roles, folds=folds)

    @cached_property
    def class_weights(self) -> Floats:
        """Weight of the rows of each class."""
        if self.known_class_weights is not None:
            return self.known_class_weights
        count = partial(count_groups, n_groups=1, n_classes=self.n_classes)
        return np.asarray(self.rows.sum(count).arrays[0][0])

    @cached_property
    def split_weights(self) -> tuple[Floats, Floats]:
        """Weight by split and class: of the training rows, and of the hold-out rows."""
        assert self.roles is not None
        count = partial(count_groups, n_groups=len(self.roles), n_classes=self.n_classes)
        weights = self.rows.sum(count).arrays[0]
        train, held_out = ((self.roles == role).T.astype(np.float64) for role in (TRAIN, HELD_OUT))
        return train @ weights, held_out @ weights


def count_groups(block: Block, n_groups: int, n_classes: int) -> Sums:
    """Weight of the rows of a block by group and class."""
    groups = 0 if block.groups is None or n_groups == 1 else block.groups.astype(np.int64)
    cells = groups * n_classes + block.labels
    counts = np.bincount(cells, block.weight, n_groups * n_classes)
    return Sums((counts.reshape(n_groups, n_classes).astype(np.float64),))


@dataclass(frozen=True)
class Expansion:
    """Expands blocks of coded rows to matrices, some rows at a time; sent to worker processes."""

    design: Design
    used: tuple[int, ...]
    roles: Integers
    block_size: int  # matrix entries expanded at a time
    whole: Floats | None = None  # the matrices of all rows, if they are small

    @classmethod
    def of(cls, matrix: DesignMatrix, splits: Sequence[int], block_size: int) -> Expansion:
        """Make the expansion of splits that share a design; `roles[:, i]` belongs to split i."""
        roles = np.ones((1, 1), np.uint8) if matrix.roles is None else matrix.roles
        every = np.full(len(roles), TRAIN, np.uint8)
        columns = [every if split == ALL else roles[:, split] for split in splits]
        design = matrix.design_of(splits[0])
        whole = matrix.whole(design, block_size)
        return cls(design, matrix.used, np.column_stack(columns), block_size, whole)

    def parts(self, block: Block, n_classes: int) -> Iterator[tuple[Floats, Block]]:
        """Yield some rows at a time: their matrices, class by column by row, and their block."""
        if self.whole is not None and self.whole.shape[2] == len(block):
            yield self.whole, block
            return
        n_columns = self.design.n_columns
        step = count_rows(self.block_size, n_columns * n_classes)
        Q = np.empty((n_classes, n_columns, min(step, len(block))))
        for start in range(0, len(block), step):
            part = block.part(slice(start, start + step))
            if len(part) < Q.shape[2]:
                Q = np.empty((n_classes, n_columns, len(part)))
            self.fill(part, Q)
            yield Q, part

    def fill(self, part: Block, out: Floats) -> None:
        """Write the matrices of a block into `out`."""
        from weigh import kernels

        pairs = zip(self.used, self.design.by_class, strict=True)
        for j, (feature, table) in enumerate(pairs):
            for k, weights in enumerate(table):
                kernels.look_up(part.codes[feature], weights, out[k, j])
        if self.design.constant is not None:
            out[:, -1] = self.design.constant[:, None]


def count_rows(block_size: int, n_entries: int) -> int:
    """Rows that are expanded at a time, each to so many matrix entries."""
    fit = block_size // max(n_entries, 1)
    return max(fit, min(LEAST_ROWS, MAX_GROWTH * fit), 1)


@dataclass(frozen=True)
class SplitPoint:
    """Request for the loss and gradient at some exponents, with the Hessian if `curved`."""

    exponents: Floats
    curved: bool
    split: int = ALL


@dataclass(frozen=True)
class SummedMoments:
    """Loss in nats and its derivatives, summed over rows. Moments of two sets of rows add.

    `wrong` is the number of misclassified rows; `held_out` is the loss of a split's hold-out rows.
    """

    loss: float
    gradient: Floats
    hessian: Floats | None = None
    wrong: float = 0.0
    held_out: float = 0.0

    def __add__(self, other: SummedMoments) -> SummedMoments:
        both = self.hessian is not None and other.hessian is not None
        return SummedMoments(
            self.loss + other.loss,
            self.gradient + other.gradient,
            self.hessian + other.hessian if both else None,  # type: ignore[operator]
            self.wrong + other.wrong,
            self.held_out + other.held_out,
        )


@dataclass(frozen=True)
class Problem(ABC):
    """A loss to be minimised over exponents, summed over the rows of a design matrix."""

    matrix: DesignMatrix

    @property
    def size(self) -> int:
        """Number of exponents."""
        return self.matrix.n_columns

    @property
    def far(self) -> bool:
        """Whether the rows are in files or on a cluster, so that passes are slow."""
        return self.matrix.rows.far

    @property
    def class_weights(self) -> Floats:
        """Weight of the rows of each class."""
        return self.matrix.class_weights

    @property
    def split_weights(self) -> tuple[Floats, Floats]:
        """Weight by split and class: of the training rows, and of the hold-out rows."""
        return self.matrix.split_weights

    def deal(self, dealt: Dealt, folds: tuple[Design, ...] = ()) -> Self:
        """Copy whose rows are assigned to folds, each fold with its own design if given."""
        return replace(self, matrix=self.matrix.deal(dealt, folds))

    def moments(self, exponents: Floats, curved: bool) -> SummedMoments:
        """Loss, gradient and, if `curved`, Hessian of all rows."""
        return self.answer([SplitPoint(exponents, curved)])[0]

    @abstractmethod
    def answer(self, asks: Sequence[SplitPoint]) -> list[SummedMoments]:
        """Moments at many points and in many splits, in one pass."""


class PerAsk(Protocol):
    """Statistic of a pass: moments at each of some points, with Hessians at some of them."""

    @property
    def curved(self) -> tuple[int, ...]:
        """Indices of the points whose Hessian is computed."""

    def __call__(self, block: Block) -> Sums:
        """Sums, gradients and Hessians of a block."""


def answer_asks(
    matrix: DesignMatrix,
    asks: Sequence[SplitPoint],
    statistic: Callable[[Expansion, Floats, tuple[int, ...]], PerAsk],
    block_size: int,
) -> list[SummedMoments]:
    """Moments at many points and in many splits, in one pass.

    Points that share a design also share one statistic, which `statistic` makes.
    """
    queries_by_design: dict[int, list[int]] = {}
    for i, ask in enumerate(asks):
        queries_by_design.setdefault(ask.split if matrix.folds else ALL, []).append(i)
    statistics = []
    for indices in queries_by_design.values():
        expansion = Expansion.of(matrix, [asks[i].split for i in indices], block_size)
        points = np.array([asks[i].exponents for i in indices])
        curved = tuple(n for n, i in enumerate(indices) if asks[i].curved)
        statistics.append(statistic(expansion, points, curved))
    found: dict[int, SummedMoments] = {}
    for indices, each, sums in zip(
        queries_by_design.values(), statistics, sum_each(matrix.rows, statistics), strict=True
    ):
        found |= zip(indices, read_moments(sums, each.curved), strict=True)
    return [found[i] for i in range(len(asks))]


def read_moments(sums: Sums, curved: Sequence[int]) -> list[SummedMoments]:
    """Split the sums of a pass into the moments of each point."""
    numbers, gradients, hessians = sums.arrays
    by_point = {i: mirror(half) for i, half in zip(curved, hessians, strict=True)}
    return [
        SummedMoments(float(loss), gradient, by_point.get(i), float(wrong), float(held_out))
        for i, ((loss, wrong, held_out), gradient) in enumerate(
            zip(numbers, gradients, strict=True)
        )
    ]


def add_gram(Q: Floats, curvature: Floats, out: Floats) -> None:
    """Add Q diag(curvature) Q' to the upper half of out."""
    if not out.size:
        return
    scaled = np.sqrt(curvature) * Q
    linalg.blas.dsyrk(1.0, scaled.T, beta=1.0, c=out.T, trans=1, lower=1, overwrite_c=1)


def mirror(upper: Floats) -> Floats:
    """Symmetric matrix with the given upper half."""
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)
