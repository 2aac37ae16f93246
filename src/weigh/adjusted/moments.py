"""What a search asks, what it is told, and the rows that tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol, Self

import numpy as np
from scipy import linalg

from weigh.engine import BLOCK, HELD_OUT, TRAIN, Block, Coded, CodedRows, Dealt, Sums
from weigh.frames import Floats, Integers

FEW = 4
"""Rows whose matrices fit into so many rooms stay expanded from pass to pass."""

ALL = -1
"""The split that every row is part of."""


@dataclass(frozen=True)
class Ask:
    """A point whose loss and gradient are wanted, with the Hessian if `curved`."""

    exponents: Floats
    curved: bool
    split: int = ALL


@dataclass(frozen=True)
class Moments:
    """Loss in nats and its derivatives, summed over rows; those of two sets of rows add.

    `wrong` counts rows on the wrong side; `held_out` is the loss of rows that a split holds out.
    """

    loss: float
    gradient: Floats
    hessian: Floats | None = None
    wrong: float = 0.0
    held_out: float = 0.0

    def __add__(self, other: Moments) -> Moments:
        both = self.hessian is not None and other.hessian is not None
        return Moments(
            self.loss + other.loss,
            self.gradient + other.gradient,
            self.hessian + other.hessian if both else None,  # type: ignore[operator]
            self.wrong + other.wrong,
            self.held_out + other.held_out,
        )


@dataclass(frozen=True)
class Levels:
    """A matrix, or one for each class, that is expanded block by block and never as a whole.

    Row i holds `tables[j][level of feature used[j]]`: a number, or one for each class. `constant`
    is one more column. `roles[group, split]` says what rows are to splits.
    """

    rows: Coded
    n_classes: int
    tables: tuple[Floats, ...]
    used: tuple[int, ...]
    constant: Floats | None = None
    roles: Integers | None = None
    known: Floats | None = None  # the weight of each class in all rows

    @classmethod
    def of(
        cls, matrices: Sequence[Floats], labels: Integers, weight: Floats | None, n_classes: int
    ) -> Self:
        """Plain matrices, one for each class: every distinct value is a level."""
        codes, tables = [], []
        for columns in zip(*(Q.T for Q in matrices), strict=True):
            table, code = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
            tables.append(table)
            codes.append(code.ravel())
        rows = CodedRows(codes, labels, weight)
        return cls(rows, n_classes, tuple(tables), tuple(range(len(codes))))

    def __len__(self) -> int:
        return self.rows.n_rows

    @property
    def n_columns(self) -> int:
        """The columns of each matrix."""
        return len(self.tables) + (self.constant is not None)

    @property
    def n_matrices(self) -> int:
        """One, or one for each class."""
        return int(self.tables[0].shape[1]) if self.tables else 1

    @property
    def n_numbers(self) -> int:
        """What all matrices would hold."""
        return self.n_matrices * self.n_columns * self.rows.n_rows

    @cached_property
    def by_class(self) -> tuple[Floats, ...]:
        """The tables, class by level."""
        return tuple(np.ascontiguousarray(table.T) for table in self.tables)

    @cached_property
    def whole(self) -> Floats | None:
        """The matrices of all rows, class by column by row, where they are one block at hand."""
        if not (isinstance(self.rows, CodedRows) and self.rows.n_rows <= BLOCK and self.tables):
            return None
        Q = np.empty((self.n_matrices, self.n_columns, self.rows.n_rows))
        everything = Block(self.rows.codes, self.rows.labels)
        roles = np.ones((1, 1), np.uint8)
        Expansion(self.by_class, self.used, self.constant, roles, 0).fill(everything, Q)
        return Q

    def take(self, rows: Any) -> Levels:
        """Some of the rows, as rows of their own."""
        if not isinstance(self.rows, CodedRows):
            raise TypeError("rows on other machines are dealt into folds, and not taken")
        return replace(self, rows=self.rows.take(rows), known=None)

    def deal(self, dealt: Dealt) -> Levels:
        """The same rows, with folds."""
        return replace(self, rows=dealt.rows, roles=dealt.roles)

    @cached_property
    def class_weights(self) -> Floats:
        """The weight of each class in all rows."""
        if self.known is not None:
            return self.known
        count = partial(count_groups, n_groups=1, n_classes=self.n_classes)
        return np.asarray(self.rows.sum(count).arrays[0][0])

    @cached_property
    def split_weights(self) -> tuple[Floats, Floats]:
        """The weight of each split and class, of rows that count and of rows held out."""
        assert self.roles is not None
        count = partial(count_groups, n_groups=len(self.roles), n_classes=self.n_classes)
        weights = self.rows.sum(count).arrays[0]
        train, held_out = ((self.roles == role).T.astype(np.float64) for role in (TRAIN, HELD_OUT))
        return train @ weights, held_out @ weights


def count_groups(block: Block, n_groups: int, n_classes: int) -> Sums:
    """The weight of each group of folds and each class."""
    groups = 0 if block.groups is None or n_groups == 1 else block.groups.astype(np.int64)
    cells = groups * n_classes + block.labels
    counts = np.bincount(cells, block.weight, n_groups * n_classes)
    return Sums((counts.reshape(n_groups, n_classes).astype(np.float64),))


class Problem(Protocol):
    """What can be minimised: so many exponents, so much weight of rows, moments anywhere."""

    @property
    def size(self) -> int:
        """The number of exponents."""

    @property
    def far(self) -> bool:
        """Whether a pass over the rows is dear."""

    @property
    def class_weights(self) -> Floats:
        """The weight of each class."""

    @property
    def split_weights(self) -> tuple[Floats, Floats]:
        """The weight of each split and class, of rows that count and of rows held out."""

    def deal(self, dealt: Dealt) -> Self:
        """The same rows, with folds."""

    def moments(self, exponents: Floats, curved: bool) -> Moments:
        """Loss, gradient and, if asked for, Hessian."""

    def answer(self, asks: Sequence[Ask]) -> list[Moments]:
        """The moments at many points and of many splits, in one pass."""


@dataclass(frozen=True)
class Expansion:
    """Blocks of levels as matrices, a few rows at a time; it travels to where the rows are."""

    tables: tuple[Floats, ...]
    used: tuple[int, ...]
    constant: Floats | None
    roles: Integers
    room: int  # the numbers that a matrix may hold
    whole: Floats | None = None  # the matrices of all rows, where these are few

    @classmethod
    def of(cls, levels: Levels, splits: Sequence[int], room: int) -> Expansion:
        """The matrices of some splits: `roles[group, i]` is what the rows are to the i-th."""
        roles = np.ones((1, 1), np.uint8) if levels.roles is None else levels.roles
        every = np.full(len(roles), TRAIN, np.uint8)
        columns = [every if split == ALL else roles[:, split] for split in splits]
        roles = np.column_stack(columns)
        whole = levels.whole if levels.n_numbers <= FEW * room else None
        return cls(levels.by_class, levels.used, levels.constant, roles, room, whole)

    def parts(self, block: Block, n_classes: int) -> Iterator[tuple[Floats, Block]]:
        """Some rows at a time, as matrices of class by column by row, and as they were."""
        if self.whole is not None and self.whole.shape[2] == len(block):
            yield self.whole, block
            return
        step = max(self.room // max(self.n_columns * n_classes, 1), 1)
        Q = np.empty((n_classes, self.n_columns, min(step, len(block))))
        for start in range(0, len(block), step):
            part = block.part(slice(start, start + step))
            if len(part) < Q.shape[2]:
                Q = np.empty((n_classes, self.n_columns, len(part)))
            self.fill(part, Q)
            yield Q, part

    @property
    def n_columns(self) -> int:
        """The columns of each matrix."""
        return len(self.tables) + (self.constant is not None)

    def fill(self, part: Block, out: Floats) -> None:
        """Expand the rows of a block."""
        from weigh.adjusted import kernels

        for j, (feature, table) in enumerate(zip(self.used, self.tables, strict=True)):
            for k, weights in enumerate(table):
                kernels.look_up(part.codes[feature], weights, out[k, j])
        if self.constant is not None:
            out[:, -1] = self.constant[:, None]


def add_gram(Q: Floats, curvature: Floats, out: Floats) -> None:
    """Add Q diag(curvature) Q' to the upper half of out."""
    if not out.size:
        return
    scaled = np.sqrt(curvature) * Q
    linalg.blas.dsyrk(1.0, scaled.T, beta=1.0, c=out.T, trans=1, lower=1, overwrite_c=1)


def mirror(upper: Floats) -> Floats:
    """The symmetric matrix whose upper half is given."""
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)
