"""Passes over coded rows: a statistic of every block of rows, summed.

A statistic is a function of one `Block`. It is small and picklable (a frozen dataclass with
`__call__`, or a partial of a module's function), because it may run on another machine. The results
of two blocks add. A statistic with large arrays is a `Pile`, which adds rows to one array in place.
Folds are marked by a group number per row, so no rows are copied.
"""

from __future__ import annotations

import hashlib
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature, Placed
from weigh.engine.checkpoints import recall
from weigh.engine.threads import BLOCK, spread, stream
from weigh.engine.totals import place
from weigh.folds import Mask, deal_groups, fold_roles
from weigh.frames import FarTable, Sample, row_weights

PILED = 4 * BLOCK
"""Rows added to a `Pile` at a time."""


@dataclass(frozen=True)
class Carry:
    """State of each row that is kept from pass to pass; `done[0]` counts the steps it includes.

    Both are views that a statistic may change. Rows on a cluster have none, and the statistic must
    compute the state again.
    """

    values: Floats
    done: Integers


@dataclass(frozen=True)
class Block:
    """A block of rows: level in each feature, class, weight (None if all are 1) and group.

    The code after a feature's last level means not known. `groups` are those of `Dealt`, None
    without folds. `first` is the number of the block's first row, on a cluster within its
    partition.
    """

    codes: Sequence[Integers]
    labels: Integers
    weight: Floats | None = None
    groups: Integers | None = None
    carry: Carry | None = None
    first: int = 0

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def weights(self) -> Floats:
        """Weight of each row."""
        return row_weights(self.weight, len(self))

    def part(self, rows: Any) -> Block:
        """Select rows of the block, without `carry`."""
        codes = [column[rows] for column in self.codes]
        weight = None if self.weight is None else self.weight[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Block(codes, self.labels[rows], weight, groups)


@dataclass(frozen=True)
class Sums:
    """A tuple of arrays; two of them add array by array.

    >>> total = Sums((np.ones(2), np.array(1.0))) + Sums((np.ones(2), np.array(2.0)))
    >>> [part.tolist() for part in total.arrays]
    [[2.0, 2.0], 3.0]
    """

    arrays: tuple[Floats, ...]

    def __add__(self, other: Sums) -> Sums:
        pairs = zip(self.arrays, other.arrays, strict=True)
        return Sums(tuple(np.asarray(mine + theirs) for mine, theirs in pairs))


PerBlock: TypeAlias = Callable[[Block], Sums]
"""A statistic computed for each block separately."""


class Pile(ABC):
    """A statistic whose arrays are too large for a copy per block.

    Rows are added to the total in order, many at a time, so it may use its own threads.
    """

    @abstractmethod
    def begin(self) -> Sums:
        """Total of no rows."""

    @abstractmethod
    def add(self, block: Block, total: Sums) -> None:
        """Add the rows of a block to the total, in place."""


Statistic: TypeAlias = PerBlock | Pile


def add_block(statistic: Statistic, block: Block, total: Sums | None) -> Sums:
    """Add the statistic of a block to the total of the blocks before it."""
    if isinstance(statistic, Pile):
        total = statistic.begin() if total is None else total
        statistic.add(block, total)
        return total
    found = statistic(block)
    return found if total is None else total + found


@dataclass(frozen=True)
class Piecewise:
    """A statistic computed for a few rows of a block at a time, to limit its memory."""

    statistic: PerBlock
    n_rows: int

    def __call__(self, block: Block) -> Sums:
        """Sum over the pieces, in order."""
        starts = range(0, max(len(block), 1), self.n_rows)
        pieces = (block.part(slice(start, start + self.n_rows)) for start in starts)
        return reduce(add, map(self.statistic, pieces))


@dataclass(frozen=True)
class Dealt:
    """Rows in groups, and the role of each group (training or hold-out): `roles[group, split]`."""

    rows: Coded
    roles: Integers


class Coded(Protocol):
    """Coded rows, in memory, in files or on a cluster."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def far(self) -> bool:
        """Whether rows are in files or on a cluster, so that searches should share passes."""

    @property
    def n_passes(self) -> int:
        """Number of passes over the rows so far, including those of all copies."""

    def sum(self, statistic: Statistic) -> Sums:
        """Sum a statistic over all rows, in a fixed order."""

    def deal(self, cv: Any, random_state: Any, of: int | None = None) -> Dealt:
        """Deal rows into folds, stratified by class, or by one class (`of`) against the rest.

        If `cv` names a column, its values are the folds.
        """

    def grouped(self) -> Coded:
        """Copy in the groups into which the sample was dealt."""

    def here(self) -> CodedRows:
        """Bring the rows into this machine's memory; for few rows."""

    def carrying(self, *shape: int) -> Coded:
        """Copy with a state for each row, kept from pass to pass; itself if rows are not here."""


@dataclass
class Passes:
    """Number of passes, shared by all copies of the rows."""

    n: int = 0


@dataclass(frozen=True)
class CodedRows:
    """Coded rows on this machine, in memory or in memory-mapped files.

    `kept` marks these rows among those the user gave, for folds given by row numbers. `dealt` holds
    the groups of a sample that already has folds.

    >>> rows = CodedRows([np.array([0, 1, 1])], np.array([0, 1, 1]))
    >>> rows.sum(lambda block: Sums((block.labels.sum(),))).arrays[0].item()
    2
    """

    codes: Sequence[Integers]
    labels: Integers
    weight: Floats | None = None
    kept: Mask | None = None
    groups: Integers | None = None
    dealt: Integers | None = None
    far: bool = False
    carried: Carry | None = None
    passes: Passes = field(default_factory=Passes)

    @classmethod
    def of(
        cls,
        placed: Sequence[Placed],
        labels: Integers,
        weight: Floats | None = None,
        kept: Mask | None = None,
    ) -> Self:
        """Make coded rows from placed columns, with as few bytes per value as possible."""
        codes = spread(positions, placed, len(labels))
        if weight is not None and (weight == 1).all():
            weight = None  # same result, to the last bit
        on_disk = any(isinstance(part.codes, np.memmap) for part in placed)
        return cls(codes, labels, weight, kept, far=on_disk)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def n_passes(self) -> int:
        """Number of passes over the rows so far, including those of all copies."""
        return self.passes.n

    def sum(self, statistic: Statistic) -> Sums:
        """Sum a statistic over all rows, block by block in order."""
        self.passes.n += 1  # also if read from a checkpoint: a resumed fit reports all passes
        return Sums(recall(lambda: self._ask(statistic), lambda: self._sum(statistic)))

    def _sum(self, statistic: Statistic) -> tuple[Floats, ...]:
        if not isinstance(statistic, Pile):
            starts = range(0, max(self.n_rows, 1), BLOCK)
            return reduce(add, stream(lambda start: statistic(self._block(start)), starts)).arrays
        total, whole = statistic.begin(), Block(self.codes, self.labels, self.weight, self.groups)
        for start in range(0, max(self.n_rows, 1), PILED):
            statistic.add(whole.part(slice(start, start + PILED)), total)
        return total.arrays

    def _ask(self, statistic: Statistic) -> bytes:
        """Key of a pass in the checkpoint: its statistic, and the folds."""
        dealt = b"" if self.groups is None else self.groups.tobytes()
        return hashlib.sha256(dealt).digest() + pickle.dumps(statistic)

    def _block(self, start: int) -> Block:
        rows, i = slice(start, start + BLOCK), start // BLOCK
        whole = Block(self.codes, self.labels, self.weight, self.groups)
        if self.carried is None:
            return replace(whole.part(rows), first=start)
        carry = Carry(self.carried.values[rows], self.carried.done[i : i + 1])
        return replace(whole.part(rows), carry=carry, first=start)

    def grouped(self) -> CodedRows:
        """Copy in the groups into which the sample was dealt."""
        return replace(self, groups=self.dealt)

    def here(self) -> CodedRows:
        """Return the rows, which are on this machine already."""
        return self

    def carrying(self, *shape: int) -> CodedRows:
        """Copy with a state of this shape for each row, zero at first."""
        done = np.zeros(self.n_rows // BLOCK + 1, dtype=np.intp)
        return replace(self, carried=Carry(np.zeros((self.n_rows, *shape)), done))

    def deal(self, cv: Any, random_state: Any, of: int | None = None) -> Dealt:
        """Deal rows into folds, stratified by class, or by one class (`of`) against the rest."""
        labels = self.labels if of is None else (self.labels == of).view(np.uint8)
        if isinstance(cv, str):
            assert self.dealt is not None
            return Dealt(self.grouped(), fold_roles(int(self.dealt.max()) + 1))
        groups = deal_groups(cv, labels, self.kept, random_state)
        return Dealt(replace(self, groups=groups.numbers), groups.roles)

    def take(self, rows: Any) -> CodedRows:
        """Select rows; their passes are counted separately."""
        whole = Block(self.codes, self.labels, self.weight, self.groups).part(rows)
        return CodedRows(whole.codes, whole.labels, whole.weight, groups=whole.groups, far=self.far)


def positions(part: Placed) -> Integers:
    """Level of every row, in the smallest integer type."""
    kind = np.min_scalar_type(int(part.levels.max(initial=0)))
    if part.codes.dtype == kind and np.array_equal(part.levels, np.arange(len(part.levels))):
        return part.codes
    return np.asarray(part.levels.astype(kind)[part.codes])


def code_rows(sample: Sample, features: Sequence[Feature | Cross]) -> Coded:
    """Code the rows of a sample, in memory, in files or on a cluster."""
    if isinstance(sample.table, FarTable):
        return sample.table.code(features)  # type: ignore[no-any-return]
    placed = place(sample.table, features)
    rows = CodedRows.of(placed, sample.labels, sample.weight, sample.kept)
    return replace(rows, dealt=sample.groups)
