"""Rows held out inside a fit, to choose something by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from weigh.errors import Parameter, ParameterError
from weigh.frames import Integers

Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Split: TypeAlias = tuple[Mask, Mask]

TRAIN, HELD_OUT = 1, 2
"""What a row is to a split; 0 is neither."""

ROWS = 1 << 16
"""Rows that are dealt together; beside them, dealing holds four bytes a row and the folds."""


def deal(labels: Integers, n_folds: int, random: np.random.RandomState) -> list[Split]:
    """Folds of rows: each class is shuffled and dealt in turn, so that none runs short."""
    fold = deal_small(labels, n_folds, random)
    return [(fold != k, fold == k) for k in range(int(fold.max()) + 1)]


def deal_numbers(labels: Integers, n_folds: int, random: np.random.RandomState) -> Integers:
    """The fold in which each row is held out, from 0."""
    return deal_small(labels, n_folds, random).astype(np.intp)


def deal_small(labels: Integers, n_folds: int, random: np.random.RandomState) -> Integers:
    """The same in as few bytes as folds take, and few more while they are dealt.

    >>> deal_small(np.array([0, 0, 0, 0, 1, 1]), 2, np.random.RandomState(0)).tolist()
    [1, 1, 0, 0, 1, 0]
    """
    n_rows = len(labels)
    n_folds = min(n_folds, n_rows)
    order = np.arange(n_rows, dtype=np.uint32 if n_rows < 1 << 32 else np.int64)
    random.shuffle(order)
    starts, n_classes = range(0, n_rows, ROWS), int(labels.max()) + 1
    counts = sum(np.bincount(labels[i : i + ROWS], minlength=n_classes) for i in starts)
    dealt = np.cumsum(counts) - counts  # classes take their turns one after the other
    fold = np.empty(n_rows, dtype=np.min_scalar_type(n_folds))
    for start in starts:
        rows = order[start : start + ROWS]
        fold[rows] = (dealt[labels[rows]] + rank_in_class(labels[rows])) % n_folds
        dealt += np.bincount(labels[rows], minlength=n_classes)
    return fold


def rank_in_class(labels: Integers) -> Integers:
    """How many rows before each one are of its class.

    >>> rank_in_class(np.array([1, 0, 1, 1, 0])).tolist()
    [0, 0, 1, 2, 1]
    """
    order, counts = np.argsort(labels, kind="stable"), np.bincount(labels)
    rank = np.empty(len(labels), dtype=np.int64)
    rank[order] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rank


def keep(splits: Iterable[tuple[Integers, Integers]], kept: Mask) -> list[Split]:
    """Splits given by row numbers as masks over the rows that count; empty ones are left out."""
    masks = []
    for rows in splits:
        train, held_out = (_mask(part, len(kept))[kept] for part in rows)
        if train.any() and held_out.any():
            masks.append((train, held_out))
    return masks


def check_folds(cv: Any, named: bool = True) -> None:
    """Refuse what is neither a number of folds nor splits nor, where it may be, a column's name."""
    count = isinstance(cv, int | np.integer)
    splits = isinstance(cv, Iterable) or hasattr(cv, "split") or cv is None
    wrong = isinstance(cv, bool) or not (cv >= 2 if count else splits)
    if wrong or (isinstance(cv, str) and not (named and cv)):
        raise ParameterError(Parameter("cv"), f" must be at least 2 folds, or splits, got {cv!r}")


def read_splits(
    cv: Any,
    labels: Integers,
    kept: Mask,
    random_state: Any,
    groups: Integers | None = None,
    together: Integers | None = None,
) -> list[Split]:
    """The folds that `cv` asks for, of rows of which `kept` says which of those given they are.

    Where it names a column, `groups` are the folds that the column tells. Rows of the same number
    in `together`, of all rows given, are held out in the same fold.
    """
    from sklearn.model_selection import StratifiedGroupKFold, check_cv
    from sklearn.utils import check_random_state

    if isinstance(cv, str):
        assert groups is not None
        return [(groups != k, groups == k) for k in np.unique(groups)]
    if isinstance(cv, int | np.integer):
        if together is None:
            return deal(labels, int(cv), check_random_state(random_state))
        whole = StratifiedGroupKFold(
            _most_folds(int(cv), together[kept]), shuffle=True, random_state=random_state
        )
        every, rows = np.ones(len(labels), dtype=np.bool_), np.zeros(len(labels))
        return keep(whole.split(rows, labels, together[kept]), every)
    every = np.zeros(len(kept), dtype=np.intp)
    every[kept] = labels
    dealt = check_cv(cv, every, classifier=True).split(every, every, together)
    splits = keep(_pairs(cv, dealt), kept)
    if not splits:
        raise ParameterError(
            Parameter("cv", cv), " leaves no fold with both training and hold-out rows"
        )
    return splits


def _most_folds(n_folds: int, together: Integers) -> int:
    n = len(np.unique(together))
    if n < 2:
        raise ValueError("groups has one value only; rows of one group cannot be split into folds")
    return min(n_folds, n)


def _pairs(cv: Any, splits: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    """What an iterable gives, two parts at a time."""
    if hasattr(cv, "split"):
        return splits
    try:
        return [(train, held_out) for train, held_out in splits]
    except (TypeError, ValueError):
        raise ParameterError(
            Parameter("cv"), f" must give pairs of training rows and hold-out rows, got {cv!r:.60}"
        ) from None


def _mask(rows: Any, n_rows: int) -> Mask:
    """Row numbers, or a mask already, as a mask."""
    given = np.asarray(rows)
    if given.dtype == np.bool_ and given.shape == (n_rows,):
        return given
    if given.size and (given.ndim != 1 or not np.issubdtype(given.dtype, np.integer)):
        raise ParameterError(
            Parameter("cv"), f" must give row numbers, or a flag for each row, got {rows!r:.60}"
        )
    odd = given[(given < 0) | (given >= n_rows)]
    if odd.size:
        raise ValueError(
            f"cv names row {odd[0]}, but there are {n_rows}; rows are numbered from 0 to "
            f"{n_rows - 1}"
        )
    mask = np.zeros(n_rows, dtype=bool)
    mask[given.astype(np.intp)] = True
    return mask


# ------------------------------------------------------------ groups of rows


@dataclass(frozen=True)
class Groups:
    """The group of each row, and what each group is to each split: `roles[group, split]`."""

    numbers: Integers
    roles: Integers


def deal_groups(cv: Any, labels: Integers, kept: Mask | None, random_state: Any) -> Groups:
    """The folds that `cv` asks for, as groups of rows."""
    if isinstance(cv, int | np.integer):
        from sklearn.utils import check_random_state

        fold = deal_small(labels, int(cv), check_random_state(random_state))
        return group_folds(fold, min(int(cv), len(labels)))
    every = np.ones(len(labels), dtype=np.bool_) if kept is None else kept
    return group_splits(len(labels), read_splits(cv, labels, every, random_state))


def group_folds(fold: Integers, n_folds: int) -> Groups:
    """What `group_splits` makes of folds, the last of which is its first group."""
    np.subtract(n_folds - 1, fold, out=fold)
    return Groups(fold, fold_roles(n_folds)[::-1])


def fold_roles(n_folds: int) -> Integers:
    """Each fold is held out in a split of its own, and the others are what is learnt from."""
    roles = np.full((n_folds, n_folds), TRAIN, dtype=np.uint8)
    np.fill_diagonal(roles, HELD_OUT)
    return roles


def group_splits(n_rows: int, splits: Sequence[Split]) -> Groups:
    """Rows that are the same to all splits make one group.

    >>> first = np.array([True, False, False])
    >>> groups = group_splits(3, [(~first, first), (first, ~first)])
    >>> groups.numbers.tolist(), groups.roles.tolist()
    ([1, 0, 0], [[1, 2], [2, 1]])
    """
    groups = np.zeros(n_rows, dtype=np.uint8)
    roles = np.zeros((1, 0), dtype=np.uint8)
    for train, held_out in splits:
        role = np.where(held_out, HELD_OUT, np.where(train, TRAIN, 0)).astype(np.uint8)
        found, groups = np.unique(groups.astype(np.int64) * 3 + role, return_inverse=True)
        roles = np.column_stack([roles[found // 3], found % 3]).astype(np.uint8)
        groups = groups.astype(np.min_scalar_type(len(found)))
    return Groups(groups, roles)


# ------------------------------------------------------------ rows that lie in many places


@dataclass(frozen=True)
class Dealer:
    """Rows stand in line by class, those of a class by partition, and take their folds in turn.

    `n_folds` rows that follow each other have one fold each; which of them is first a hash of their
    place in line says. Where one class ends and the next begins it is fold 0. So the folds of a
    class differ by one row at most, and so do those of all rows.
    """

    n_folds: int
    seed: int
    ends: Integers  # the places in line where classes begin and end
    starts: Mapping[int, Integers]  # the places where each partition's rows of each class begin
    of: int | None = None

    @classmethod
    def of_numbers(
        cls, numbers: Mapping[int, Integers], n_folds: int, seed: int, of: int | None = None
    ) -> Dealer:
        """From the number of rows of each partition and class; or of one class and the rest."""
        parts = sorted(numbers)
        table = np.array([_merge(numbers[part], of) for part in parts], dtype=np.int64)
        ends = np.concatenate([[0], np.cumsum(table.sum(axis=0))])
        starts = ends[:-1] + np.cumsum(table, axis=0) - table
        return cls(n_folds, seed, ends, dict(zip(parts, starts, strict=True)), of)

    def deal(self, part: int, labels: Integers, earlier: Integers) -> Integers:
        """The fold of each row of a block, before which the partition has so many of each class.

        >>> dealer = Dealer.of_numbers({0: np.array([3, 2]), 1: np.array([1, 4])}, 2, seed=7)
        >>> fold = dealer.deal(1, np.array([1, 0, 1, 1, 1]), np.array([0, 0]))
        >>> np.bincount(fold[[0, 2, 3, 4]]).tolist()
        [2, 2]
        """
        from weigh.sketches import kernels

        seen = _merge(earlier, self.of)
        if self.of is not None:
            labels = (labels == self.of).view(np.uint8)
        start = self.starts.get(part, self.ends[:-1])  # none, if the rows have changed meanwhile
        place = (start + seen)[labels] + rank_in_class(labels)
        turn = place // self.n_folds
        mixed = np.empty(len(turn), dtype=np.uint64)
        kernels.hash_all(turn.astype(np.uint64), mixed)
        kernels.hash_all(mixed ^ np.uint64(self.seed), mixed)
        first = (mixed % np.uint64(self.n_folds)).astype(np.int64)
        first[np.isin(turn, self.ends // self.n_folds)] = 0
        return np.asarray(((place + first) % self.n_folds).astype(np.uint8))


def _merge(numbers: Integers, of: int | None) -> Integers:
    """One class against the rest, where one is asked for."""
    return numbers if of is None else np.array([numbers.sum() - numbers[of], numbers[of]])
