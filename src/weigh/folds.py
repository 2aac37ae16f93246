"""Rows held out inside a fit, to choose something by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from weigh.frames import Integers

Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Split: TypeAlias = tuple[Mask, Mask]


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


def check_folds(cv: Any) -> None:
    """Refuse what is neither a number of folds nor splits."""
    count = isinstance(cv, int | np.integer)
    splits = isinstance(cv, Iterable) or hasattr(cv, "split") or cv is None
    if isinstance(cv, str | bool) or not (cv >= 2 if count else splits):
        raise ValueError(f"cv must be at least 2 folds, or splits, got {cv!r}")


def read_splits(cv: Any, labels: Integers, kept: Mask, random_state: Any) -> list[Split]:
    """The folds that `cv` asks for, of rows of which `kept` says which of those given they are."""
    from sklearn.model_selection import check_cv
    from sklearn.utils import check_random_state

    if isinstance(cv, int | np.integer):
        return deal(labels, int(cv), check_random_state(random_state))
    every = np.zeros(len(kept), dtype=np.intp)
    every[kept] = labels
    splits = keep(_pairs(cv, check_cv(cv, every, classifier=True).split(every, every)), kept)
    if not splits:
        raise ValueError(f"cv={cv!r} leaves no fold with rows on both sides")
    return splits


def _pairs(cv: Any, splits: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    """What an iterable gives, two parts at a time."""
    if hasattr(cv, "split"):
        return splits
    try:
        return [(train, held_out) for train, held_out in splits]
    except (TypeError, ValueError):
        raise ValueError(
            f"cv must give pairs of training rows and rows held out, got {cv!r:.60}"
        ) from None


def _mask(rows: Any, n_rows: int) -> Mask:
    """Row numbers, or a mask already, as a mask."""
    given = np.asarray(rows)
    if given.dtype == np.bool_ and given.shape == (n_rows,):
        return given
    if given.size and (given.ndim != 1 or not np.issubdtype(given.dtype, np.integer)):
        raise ValueError(f"cv must give row numbers, or a flag for each row, got {rows!r:.60}")
    odd = given[(given < 0) | (given >= n_rows)]
    if odd.size:
        raise ValueError(
            f"cv names row {odd[0]}, but there are {n_rows}; rows are numbered from 0 to "
            f"{n_rows - 1}"
        )
    mask = np.zeros(n_rows, dtype=bool)
    mask[given.astype(np.intp)] = True
    return mask
