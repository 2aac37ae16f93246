"""Folds inside a fit: which rows are training rows and which are hold-out rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from weigh.arrays import Integers
from weigh.errors import Parameter, ParameterError

Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Split: TypeAlias = tuple[Mask, Mask]

TRAIN, HELD_OUT = 1, 2
"""Roles of a row in a split; 0 is neither."""

ROWS = 1 << 16
"""Rows dealt at a time; dealing needs four bytes per row besides, and the folds."""


def deal(labels: Integers, n_folds: int, random: np.random.RandomState) -> list[Split]:
    """Stratified folds: each class is shuffled and dealt evenly to the folds."""
    fold = deal_small(labels, n_folds, random)
    return [(fold != k, fold == k) for k in range(int(fold.max()) + 1)]


def deal_small(labels: Integers, n_folds: int, random: np.random.RandomState) -> Integers:
    """Fold of each row, dealt as in `deal`, in the smallest integer type and with little memory.

    >>> deal_small(np.array([0, 0, 0, 0, 1, 1]), 2, np.random.RandomState(0)).tolist()
    [1, 1, 0, 0, 1, 0]
    """
    n_rows = len(labels)
    n_folds = min(n_folds, n_rows)
    order = np.arange(n_rows, dtype=np.uint32 if n_rows < 1 << 32 else np.int64)
    random.shuffle(order)
    starts, n_classes = range(0, n_rows, ROWS), int(labels.max()) + 1
    counts = sum(np.bincount(labels[i : i + ROWS], minlength=n_classes) for i in starts)
    dealt = np.cumsum(counts) - counts  # each class continues where the one before ended
    fold = np.empty(n_rows, dtype=np.min_scalar_type(n_folds))
    for start in starts:
        rows = order[start : start + ROWS]
        fold[rows] = (dealt[labels[rows]] + rank_in_class(labels[rows])) % n_folds
        dealt += np.bincount(labels[rows], minlength=n_classes)
    return fold


def rank_in_class(labels: Integers) -> Integers:
    """Number of earlier rows of the same class, for each row.

    >>> rank_in_class(np.array([1, 0, 1, 1, 0])).tolist()
    [0, 0, 1, 2, 1]
    """
    order, counts = np.argsort(labels, kind="stable"), np.bincount(labels)
    rank = np.empty(len(labels), dtype=np.int64)
    rank[order] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rank


def keep(splits: Iterable[tuple[Integers, Integers]], kept: Mask) -> list[Split]:
    """Turn splits by row numbers into masks over the `kept` rows; drop empty splits."""
    masks = []
    for rows in splits:
        train, held_out = (_mask(part, len(kept))[kept] for part in rows)
        if train.any() and held_out.any():
            masks.append((train, held_out))
    return masks


def check_folds(cv: Any, named: bool = True) -> None:
    """Raise if `cv` is not a number of folds, splits or, if `named`, the name of a column."""
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
    """Splits of the rows by `cv`; `kept` marks these rows among those the user gave.

    If `cv` names a column, `groups` are the folds in this column. Rows with the same number in
    `together`, which covers all rows the user gave, are held out in the same fold.
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
            Parameter("cv", cv),
            " leaves no fold with both training and hold-out rows; give other splits",
        )
    return splits


def _most_folds(n_folds: int, together: Integers) -> int:
    n = len(np.unique(together))
    if n < 2:
        raise ValueError("groups has one value only; rows of one group cannot be split into folds")
    return min(n_folds, n)


def _pairs(cv: Any, splits: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    """Check that an iterable of splits gives pairs."""
    if hasattr(cv, "split"):
        return splits
    try:
        return [(train, held_out) for train, held_out in splits]
    except (TypeError, ValueError):
        raise ParameterError(
            Parameter("cv"), f" must give pairs of training rows and hold-out rows, got {cv!r:.60}"
        ) from None


def _mask(rows: Any, n_rows: int) -> Mask:
    """Turn row numbers into a mask; a mask is returned as it is."""
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
class GroupRoles:
    """Group of each row, and role of each group in each split: `roles[group, split]`."""

    numbers: Integers
    roles: Integers


def deal_groups(cv: Any, labels: Integers, kept: Mask | None, random_state: Any) -> GroupRoles:
    """Groups of rows by `cv`: rows of a group have the same role in every split."""
    if isinstance(cv, int | np.integer):
        from sklearn.utils import check_random_state

        fold = deal_small(labels, int(cv), check_random_state(random_state))
        return group_folds(fold, min(int(cv), len(labels)))
    every = np.ones(len(labels), dtype=np.bool_) if kept is None else kept
    return group_splits(len(labels), read_splits(cv, labels, every, random_state))


def group_folds(fold: Integers, n_folds: int) -> GroupRoles:
    """Groups of folds, numbered as `group_splits` does, with the last fold first."""
    np.subtract(n_folds - 1, fold, out=fold)
    return GroupRoles(fold, fold_roles(n_folds)[::-1])


def fold_roles(n_folds: int) -> Integers:
    """Roles of k folds: split k holds out fold k and trains on the others."""
    roles = np.full((n_folds, n_folds), TRAIN, dtype=np.uint8)
    np.fill_diagonal(roles, HELD_OUT)
    return roles


def group_splits(n_rows: int, splits: Sequence[Split]) -> GroupRoles:
    """Group rows that have the same role in every split.

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
    return GroupRoles(groups, roles)


# ------------------------------------------------------------ rows on a cluster


@dataclass(frozen=True)
class Dealer:
    """Deals folds to rows in many partitions, without moving them.

    Rows are numbered by class, then by partition. Each run of `n_folds` consecutive rows has every
    fold once, beginning with a fold chosen by a hash, or with fold 0 where a class begins. So the
    sizes of the folds differ by at most one row, in each class and in total.
    """

    n_folds: int
    seed: int
    ends: Integers  # numbers at which classes begin and end
    starts: Mapping[int, Integers]  # number of each partition's first row of each class
    of: int | None = None

    @classmethod
    def of_numbers(
        cls, numbers: Mapping[int, Integers], n_folds: int, seed: int, of: int | None = None
    ) -> Dealer:
        """Make a dealer from the number of rows by partition and class."""
        parts = sorted(numbers)
        table = np.array([_merge(numbers[part], of) for part in parts], dtype=np.int64)
        ends = np.concatenate([[0], np.cumsum(table.sum(axis=0))])
        starts = ends[:-1] + np.cumsum(table, axis=0) - table
        return cls(n_folds, seed, ends, dict(zip(parts, starts, strict=True)), of)

    def deal(self, part: int, labels: Integers, earlier: Integers) -> Integers:
        """Fold of each row of a block; `earlier` counts the partition's rows before it, by class.

        >>> dealer = Dealer.of_numbers({0: np.array([3, 2]), 1: np.array([1, 4])}, 2, seed=7)
        >>> fold = dealer.deal(1, np.array([1, 0, 1, 1, 1]), np.array([0, 0]))
        >>> np.bincount(fold[[0, 2, 3, 4]]).tolist()
        [2, 2]
        """
        from weigh.sketches import kernels

        seen = _merge(earlier, self.of)
        if self.of is not None:
            labels = (labels == self.of).view(np.uint8)
        start = self.starts.get(part, self.ends[:-1])  # absent if the rows have changed since
        place = (start + seen)[labels] + rank_in_class(labels)
        turn = place // self.n_folds
        mixed = np.empty(len(turn), dtype=np.uint64)
        kernels.hash_all(turn.astype(np.uint64), mixed)
        kernels.hash_all(mixed ^ np.uint64(self.seed), mixed)
        first = (mixed % np.uint64(self.n_folds)).astype(np.int64)
        first[np.isin(turn, self.ends // self.n_folds)] = 0
        return np.asarray(((place + first) % self.n_folds).astype(np.uint8))


def _merge(numbers: Integers, of: int | None) -> Integers:
    """Add up the counts of all classes but `of`, if it is given."""
    return numbers if of is None else np.array([numbers.sum() - numbers[of], numbers[of]])
