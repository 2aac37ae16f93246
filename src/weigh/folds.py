"""Rows held out inside a fit, to choose something by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from weigh.frames import Integers

Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Split: TypeAlias = tuple[Mask, Mask]


def deal(labels: Integers, n_folds: int, random: np.random.RandomState) -> list[Split]:
    """Folds of rows: each class is shuffled and dealt in turn, so that none runs short."""
    fold = deal_numbers(labels, n_folds, random)
    return [(fold != k, fold == k) for k in range(fold.max() + 1)]


def deal_numbers(labels: Integers, n_folds: int, random: np.random.RandomState) -> Integers:
    """The fold in which each row is held out, from 0."""
    order = random.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % min(n_folds, len(labels))
    return fold


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
