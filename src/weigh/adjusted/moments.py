"""What a search asks, what it is told, and the rows that tell it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol, Self

import numpy as np
from scipy import linalg

from weigh.engine import (
    BLOCK,
    HELD_OUT,
    TRAIN,
    Block,
    Coded,
    CodedRows,
    Dealt,
    Sums,
    sum_each,
)
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
class Design:
    """Naive Bayes of some rows, as the columns of a regression.

    `tables[j]` holds what each level of a feature adds to the totals: a number, or one for each
    class. `offset` is what totals start from, and `constant` one more column.
    """

    tables: tuple[Floats, ...]
    offset: Floats
    constant: Floats | None = None

    @property
    def n_columns(self) -> int:
        """The columns of each matrix."""
        return len(self.tables) + (self.constant is not None)

    @property
    def n_matrices(self) -> int:
        """One, or one for each class."""
        return int(self.tables[0].shape[1]) if self.tables else 1

    @cached_property
    def by_class(self) -> tuple[Floats, ...]:
        """The tables, class by level."""
        return tuple(np.ascontiguousarray(table.T) for table in self.tables)


@dataclass(frozen=True)
class Levels:
    """A matrix, or one for each class, that is expanded block by block and never as a whole.

    Row i holds `design.tables[j][level of feature used[j]]`. `roles[group, split]` says what rows
    are to splits. A split has a design of its own in `folds`, from the rows that it learns from, or
    uses that of all rows.
    """

    rows: Coded
    n_classes: int
    design: Design
    used: tuple[int, ...]
    roles: Integers | None = None
    folds: tuple[Design, ...] = ()
    known: Floats | None = None  # the weight of each class in all rows

    @classmethod
    def of(
        cls,
        matrices: Sequence[Floats],
        labels: Integers,
        weight: Floats | None,
        n_classes: int,
        offset: Any = 0.0,
    ) -> Self:
        """Plain matrices, one for each class: every distinct value is a level."""
        codes, tables = [], []
        for columns in zip(*(Q.T for Q in matrices), strict=True):
            table, code = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
            tables.append(table)
            codes.append(code.ravel())
        design = Design(tuple(tables), np.atleast_1d(offset))
        rows = CodedRows(codes, labels, weight)
        return cls(rows, n_classes, design, tuple(range(len(codes))))

    def __len__(self) -> int:
        return self.rows.n_rows

    @property
    def n_columns(self) -> int:
        """The columns of each matrix."""
        return self.design.n_columns

    def design_of(self, split: int) -> Design:
        """What the rows of a split are scored by."""
        return self.folds[split] if self.folds and split != ALL else self.design

    @cached_property
    def _matrices(self) -> dict[int, Floats]:
        return {}

    def whole(self, design: Design, room: int) -> Floats | None:
        """The matrices of all rows, class by column by row, where they are few and at hand."""
        n_rows = self.rows.n_rows
        few = design.n_matrices * design.n_columns * n_rows <= FEW * room
        if not (few and isinstance(self.rows, CodedRows) and n_rows <= BLOCK and design.tables):
            return None
        if id(design) not in self._matrices:
            Q = np.empty((design.n_matrices, design.n_columns, n_rows))
            everything = Block(self.rows.codes, self.rows.labels)
            Expansion(design, self.used, np.ones((1, 1), np.uint8), 0).fill(everything, Q)
            self._matrices[id(design)] = Q
        return self._matrices[id(design)]

    def take(self, rows: Any) -> Levels:
        """Some of the rows, as rows of their own."""
        if not isinstance(self.rows, CodedRows):
            raise TypeError("rows on a cluster cannot be selected by number")
        return replace(self, rows=self.rows.take(rows), known=None)

    def deal(self, dealt: Dealt, folds: tuple[Design, ...] = ()) -> Levels:
        """The same rows, with folds."""
        return replace(self, rows=dealt.rows, roles=dealt.roles, folds=folds)

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

    def deal(self, dealt: Dealt, folds: tuple[Design, ...] = ()) -> Self:
        """Give the rows their folds; a fold may bring the design that scores its rows."""

    def moments(self, exponents: Floats, curved: bool) -> Moments:
        """Loss, gradient and, if asked for, Hessian."""

    def answer(self, asks: Sequence[Ask]) -> list[Moments]:
        """The moments at many points and of many splits, in one pass."""


class PerAsk(Protocol):
    """The statistic of a pass: moments at each of some points, with Hessians at those `curved`."""

    @property
    def curved(self) -> tuple[int, ...]:
        """The places of the points whose Hessian is wanted."""

    def __call__(self, block: Block) -> Sums:
        """Sums, gradients and Hessians of a block."""


@dataclass(frozen=True)
class Expansion:
    """Blocks of levels as matrices, a few rows at a time; it travels to where the rows are."""

    design: Design
    used: tuple[int, ...]
    roles: Integers
    room: int  # the numbers that a matrix may hold
    whole: Floats | None = None  # the matrices of all rows, where these are few

    @classmethod
    def of(cls, levels: Levels, splits: Sequence[int], room: int) -> Expansion:
        """The matrices of splits of one design: `roles[group, i]` is what rows are to the i-th."""
        roles = np.ones((1, 1), np.uint8) if levels.roles is None else levels.roles
        every = np.full(len(roles), TRAIN, np.uint8)
        columns = [every if split == ALL else roles[:, split] for split in splits]
        design = levels.design_of(splits[0])
        whole = levels.whole(design, room)
        return cls(design, levels.used, np.column_stack(columns), room, whole)

    def parts(self, block: Block, n_classes: int) -> Iterator[tuple[Floats, Block]]:
        """Some rows at a time, as matrices of class by column by row, and as they were."""
        if self.whole is not None and self.whole.shape[2] == len(block):
            yield self.whole, block
            return
        n_columns = self.design.n_columns
        step = max(self.room // max(n_columns * n_classes, 1), 1)
        Q = np.empty((n_classes, n_columns, min(step, len(block))))
        for start in range(0, len(block), step):
            part = block.part(slice(start, start + step))
            if len(part) < Q.shape[2]:
                Q = np.empty((n_classes, n_columns, len(part)))
            self.fill(part, Q)
            yield Q, part

    def fill(self, part: Block, out: Floats) -> None:
        """Expand the rows of a block."""
        from weigh import kernels

        pairs = zip(self.used, self.design.by_class, strict=True)
        for j, (feature, table) in enumerate(pairs):
            for k, weights in enumerate(table):
                kernels.look_up(part.codes[feature], weights, out[k, j])
        if self.design.constant is not None:
            out[:, -1] = self.design.constant[:, None]


def answer_asks(
    levels: Levels,
    asks: Sequence[Ask],
    statistic: Callable[[Expansion, Floats, tuple[int, ...]], PerAsk],
    room: int,
) -> list[Moments]:
    """The moments at many points and of many splits, in one pass.

    `statistic` makes those of points that share a design.
    """
    places: dict[int, list[int]] = {}
    for i, ask in enumerate(asks):
        places.setdefault(ask.split if levels.folds else ALL, []).append(i)
    statistics = []
    for own in places.values():
        expansion = Expansion.of(levels, [asks[i].split for i in own], room)
        points = np.array([asks[i].exponents for i in own])
        curved = tuple(n for n, i in enumerate(own) if asks[i].curved)
        statistics.append(statistic(expansion, points, curved))
    found: dict[int, Moments] = {}
    for own, each, sums in zip(
        places.values(), statistics, sum_each(levels.rows, statistics), strict=True
    ):
        found |= zip(own, read_moments(sums, each.curved), strict=True)
    return [found[i] for i in range(len(asks))]


def read_moments(sums: Sums, curved: Sequence[int]) -> list[Moments]:
    """What was asked, one by one."""
    numbers, gradients, hessians = sums.arrays
    bent = {i: mirror(hessian) for i, hessian in zip(curved, hessians, strict=True)}
    return [
        Moments(float(loss), gradient, bent.get(i), float(wrong), float(held_out))
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
    """The symmetric matrix whose upper half is given."""
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)
