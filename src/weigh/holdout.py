"""Split a table into training rows and hold-out rows: by class, by group or by time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from weigh.arrays import Integers
from weigh.errors import Parameter, ParameterError
from weigh.folds import Mask, rank_in_class
from weigh.frames import (
    Table,
    check_name,
    is_count,
    is_number,
    keep_reader,
    read,
    take_rows,
    to_arrow,
)

MOST_CLASSES = 20
"""A numeric target with more distinct values is not stratified."""


def split(
    X: Any,
    y: str | None = None,
    *,
    holdout: float = 0.3,
    by: str | None = None,
    time: str | None = None,
    random_state: int = 0,
) -> tuple[Any, Any]:
    """Split a table into training rows and hold-out rows.

    Parameters
    ----------
    X : table
        Any table with column names.
    y : str, optional
        Column of classes: each class gives the same share (a stratified split).
    holdout : float, default=0.3
        Share of hold-out rows, between 0 and 1.
    by : str, optional
        Column of groups, such as customers or hospitals: each group stays whole.
    time : str, optional
        Column of numbers or dates: the latest rows are the hold-out rows. Rows of one time stay
        together.
    random_state : int, default=0
        Seed of the random order. It has no effect with `time`.

    Returns
    -------
    train, rest : tables
        Tables of X's own library, with the rows in their old order.

    Examples
    --------
    >>> import weigh
    >>> train, rest = weigh.split(weigh.datasets.titanic(), "Survived")
    >>> train.num_rows, rest.num_rows
    (1541, 660)
    """
    X = keep_reader(X)
    held = mark_holdout(read(X), y, holdout=holdout, by=by, time=time, random_state=random_state)
    return take_rows(X, np.flatnonzero(~held)), take_rows(X, np.flatnonzero(held))


def mark_holdout(
    table: Table,
    y: str | None = None,
    *,
    holdout: float,
    by: str | None = None,
    time: str | None = None,
    random_state: int = 0,
) -> Mask:
    """Mask of the hold-out rows of `split`."""
    _check_numbers(holdout, random_state)
    if by is not None and time is not None:
        raise ParameterError(
            Parameter("by"), " and ", Parameter("time"), " exclude each other; give one of them"
        )
    random = np.random.RandomState(random_state)
    if time is not None:
        held = _hold_latest(_read_times(table, time), holdout)
    elif by is not None:
        held = _hold_groups(table.codes(check_name(table, by, "by")).codes, holdout, random)
    else:
        held = _hold_classes(_read_classes(table, y), holdout, random)
    if held.all() or not held.any():
        raise ParameterError(
            Parameter("holdout", holdout),
            f" of {table.n_rows:,} rows leaves no training rows or no hold-out rows; give another "
            "share",
        )
    return held


def _check_numbers(holdout: Any, random_state: Any) -> None:
    if not (isinstance(holdout, int | float | np.integer | np.floating) and 0 < holdout < 1):
        raise ParameterError(
            Parameter("holdout"), f" must be a share between 0 and 1, got {holdout!r}"
        )
    if not (is_count(random_state) and 0 <= random_state < 1 << 32):
        raise ParameterError(
            Parameter("random_state"),
            f" must be a whole number from 0 to {(1 << 32) - 1}, got {random_state!r}",
        )


def _read_classes(table: Table, y: str | None) -> Integers:
    """Class of each row; all 0 if the target is numeric or not given."""
    if y is not None:
        column = table.codes(check_name(table, y, "y"))
        used = [column.values[code] for code in np.unique(column.codes).tolist()]
        known = [value for value in used if value is not None]
        if not (all(map(is_number, known)) and len(known) > MOST_CLASSES):
            return column.codes
    return np.zeros(table.n_rows, dtype=np.uint8)


def _read_times(table: Table, name: str) -> Integers:
    """Read a column of numbers or dates as values that sort by time."""
    source = table.source(table.names.index(check_name(table, name, "time")))
    array = pa.array(source) if isinstance(source, np.ndarray) else to_arrow(source)
    kind = array.type
    if not (pa.types.is_temporal(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise ParameterError(
            Parameter("time"),
            f" names the column {name!r}, which holds {kind}, not numbers or dates; "
            "write dates as 2024-12-31",
        )
    missing = compute.sum(compute.is_null(array, nan_is_null=True)).as_py()
    if missing:
        raise ParameterError(
            Parameter("time"),
            f" names the column {name!r}, which has {missing:,} missing values; fill them in",
        )
    combined = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return np.asarray(combined.to_numpy(zero_copy_only=False))


def _hold_classes(labels: Integers, share: float, random: np.random.RandomState) -> Mask:
    """Hold out the rounded share of each class, at random."""
    order = random.permutation(len(labels))
    wanted = np.rint(share * np.bincount(labels))
    held = np.empty(len(labels), dtype=np.bool_)
    held[order] = rank_in_class(labels[order]) < wanted[labels[order]]
    return held


def _hold_groups(groups: Integers, share: float, random: np.random.RandomState) -> Mask:
    """Hold out whole groups at random, as many as come nearest to the share."""
    present, places, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = random.permutation(len(present))
    n_held = _nearest(np.cumsum(sizes[order]), share * len(groups))
    return np.isin(places, order[:n_held])


def _hold_latest(times: Integers, share: float) -> Mask:
    """Hold out the rows of the latest times, as many as come nearest to the share."""
    _, places, sizes = np.unique(times, return_inverse=True, return_counts=True)
    n_held = _nearest(np.cumsum(sizes[::-1]), share * len(times))
    return np.asarray(places >= len(sizes) - n_held)


def _nearest(sums: Integers, wanted: float) -> int:
    """Number of parts, at least one and not all, whose sum is nearest to the one wanted."""
    return int(np.argmin(np.abs(sums[:-1] - wanted))) + 1 if len(sums) > 1 else 0
