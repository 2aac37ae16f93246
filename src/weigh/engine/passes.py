"""Passes over rows whose levels are known: a statistic of every block of rows, summed.

A statistic is a function of one `Block`, small and picklable (a frozen dataclass with `__call__`,
or a partial of a function of a module), because it may run on another machine. What it gives for
two blocks adds. A statistic with large arrays is a `Pile`: rows are added to them where they lie.
Rows held out, fold by fold, are marked in the blocks: a fold is no copy.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np

from weigh.bins import Cross, Feature, Placed
from weigh.engine.checkpoints import recall
from weigh.engine.threads import BLOCK, spread, stream
from weigh.engine.totals import place
from weigh.folds import Mask, deal_groups, fold_roles
from weigh.frames import FarTable, Floats, Integers, Sample

PILED = 4 * BLOCK
"""Rows that are added to a pile at a time."""


@dataclass(frozen=True)
class Carry:
    """Numbers of each row that are kept from pass to pass, and how far they have come: `done[0]`.

    Both are views that a statistic may change. Where rows are kept elsewhere there is none, and
    the statistic must find the numbers anew.
    """

    values: Floats
    done: Integers


@dataclass(frozen=True)
class Block:
    """Some rows: their level in each feature, their class, weight (None: one each) and group.

    The level after a feature's last stands for no level. Groups are those of `Dealt`; None where no
    folds were dealt. `first` is the number of its first row, among those of a partition on a
    cluster.
    """

    codes: Sequence[Integers]
    labels: Integers
    weight: Floats | None = None
    groups: Integers | None = None
    carry: Carry | None = None
    first: int = 0

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, rows: Any) -> Block:
        """Some of its rows, which carry nothing."""
        codes = [column[rows] for column in self.codes]
        weight = None if self.weight is None else self.weight[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Block(codes, self.labels[rows], weight, groups)


@dataclass(frozen=True)
class Sums:
    """Arrays that add, one by one.

    >>> total = Sums((np.ones(2), np.array(1.0))) + Sums((np.ones(2), np.array(2.0)))
    >>> [part.tolist() for part in total.arrays]
    [[2.0, 2.0], 3.0]
    """

    arrays: tuple[Floats, ...]

    def __add__(self, other: Sums) -> Sums:
        pairs = zip(self.arrays, other.arrays, strict=True)
        return Sums(tuple(np.asarray(mine + theirs) for mine, theirs in pairs))


PerBlock: TypeAlias = Callable[[Block], Sums]
"""A statistic of each block on its own."""


@runtime_checkable
class Pile(Protocol):
    """A statistic whose arrays are too large to be had once for each block.

    Rows are added in their order, many at a time, so that it may use threads of its own.
    """

    def begin(self) -> Sums:
        """Of no rows."""

    def add(self, block: Block, total: Sums) -> None:
        """Add rows to what is there."""


Statistic: TypeAlias = PerBlock | Pile


def add_block(statistic: Statistic, block: Block, total: Sums | None) -> Sums:
    """The statistic of a block, and of those before it."""
    if isinstance(statistic, Pile):
        total = statistic.begin() if total is None else total
        statistic.add(block, total)
        return total
    found = statistic(block)
    return found if total is None else total + found


@dataclass(frozen=True)
class Piecewise:
    """A statistic taken of a few rows of a block at a time, because it needs room for each."""

    statistic: PerBlock
    n_rows: int

    def __call__(self, block: Block) -> Sums:
        """The sum over the pieces, from the first to the last."""
        starts = range(0, max(len(block), 1), self.n_rows)
        pieces = (block.part(slice(start, start + self.n_rows)) for start in starts)
        return reduce(add, map(self.statistic, pieces))


@dataclass(frozen=True)
class Dealt:
    """Rows in groups, and what each group is to each split: `roles[group, split]`."""

    rows: Coded
    roles: Integers


class Coded(Protocol):
    """Rows as levels, wherever they are."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    def far(self) -> bool:
        """Whether a pass is so dear that it should answer all that can be asked at once."""

    @property
    def n_passes(self) -> int:
        """How often the rows were passed over so far, by all who share them."""

    def sum(self, statistic: Statistic) -> Sums:
        """The statistic of all rows: those of the blocks, added in one and the same order."""

    def deal(self, cv: Any, random_state: Any, of: int | None = None) -> Dealt:
        """Rows with folds, dealt by class, or by one class (`of`) against the rest.

        Where `cv` names a column, they have the folds that it tells.
        """

    def grouped(self) -> Coded:
        """The same rows in the groups that their sample was dealt into."""

    def here(self) -> CodedRows:
        """The same rows on this machine; for rows that are few."""

    def carrying(self, *shape: int) -> Coded:
        """Give each row numbers that passes can store, where the engine keeps rows."""


@dataclass
class Passes:
    """How many there were: one count for all who share the rows."""

    n: int = 0


@dataclass(frozen=True)
class CodedRows:
    """Rows on this machine, in memory or in a file that is mapped into it.

    `kept` marks which of the rows that the user gave these are, for folds given by row numbers;
    `dealt` numbers the groups of a sample that was dealt already.

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
        """Rows whose levels were found; a byte or two for each value."""
        codes = spread(positions, placed, len(labels))
        if weight is not None and (weight == 1).all():
            weight = None  # the same rows, and the same bits
        on_disk = any(isinstance(part.codes, np.memmap) for part in placed)
        return cls(codes, labels, weight, kept, far=on_disk)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    @property
    def n_passes(self) -> int:
        """How often the rows were passed over so far, by all who share them."""
        return self.passes.n

    def sum(self, statistic: Statistic) -> Sums:
        """The statistic of all rows: those of the blocks, added from the first to the last."""
        self.passes.n += 1  # also where it is recalled: a fit that goes on says what it took
        return Sums(recall(lambda: self._ask(statistic), lambda: self._sum(statistic)))

    def _sum(self, statistic: Statistic) -> tuple[Floats, ...]:
        if isinstance(statistic, Pile):
            return self._pile(statistic).arrays
        starts = range(0, max(self.n_rows, 1), BLOCK)
        return reduce(add, stream(lambda start: statistic(self._block(start)), starts)).arrays

    def _pile(self, statistic: Pile) -> Sums:
        total, whole = statistic.begin(), Block(self.codes, self.labels, self.weight, self.groups)
        for start in range(0, max(self.n_rows, 1), PILED):
            statistic.add(whole.part(slice(start, start + PILED)), total)
        return total

    def _ask(self, statistic: Statistic) -> bytes:
        """What a pass depends on, beside the data: the statistic, and how folds were dealt."""
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
        """The same rows in the groups that their sample was dealt into."""
        return replace(self, groups=self.dealt)

    def here(self) -> CodedRows:
        """The same rows: they are here."""
        return self

    def carrying(self, *shape: int) -> CodedRows:
        """Give each row numbers of this shape, zero until a statistic changes them."""
        done = np.zeros(self.n_rows // BLOCK + 1, dtype=np.intp)
        return replace(self, carried=Carry(np.zeros((self.n_rows, *shape)), done))

    def deal(self, cv: Any, random_state: Any, of: int | None = None) -> Dealt:
        """Rows with folds, dealt by class, or by one class (`of`) against the rest."""
        labels = self.labels if of is None else (self.labels == of).view(np.uint8)
        if isinstance(cv, str):
            assert self.dealt is not None
            return Dealt(self.grouped(), fold_roles(int(self.dealt.max()) + 1))
        groups = deal_groups(cv, labels, self.kept, random_state)
        return Dealt(replace(self, groups=groups.numbers), groups.roles)

    def take(self, rows: Any) -> CodedRows:
        """Some of the rows, which are passed over on their own."""
        whole = Block(self.codes, self.labels, self.weight, self.groups).part(rows)
        return CodedRows(whole.codes, whole.labels, whole.weight, groups=whole.groups, far=self.far)


def positions(part: Placed) -> Integers:
    """The level of every row, in as few bytes as it takes."""
    kind = np.min_scalar_type(int(part.levels.max(initial=0)))
    if part.codes.dtype == kind and np.array_equal(part.levels, np.arange(len(part.levels))):
        return part.codes
    return np.asarray(part.levels.astype(kind)[part.codes])


def code_rows(sample: Sample, features: Sequence[Feature | Cross]) -> Coded:
    """The rows of a sample as levels, wherever they are."""
    if isinstance(sample.table, FarTable):
        return sample.table.code(features)  # type: ignore[no-any-return]
    placed = place(sample.table, features)
    rows = CodedRows.of(placed, sample.labels, sample.weight, sample.kept)
    return replace(rows, dealt=sample.groups)
