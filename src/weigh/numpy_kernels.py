"""Scoring loops for few rows, in NumPy, because numba takes half a second to load.

Each number is computed by the same steps as in `kernels`, and so has the same bits: where `kernels`
computes an exponential one by one, it is that of the C library, which numpy's own may miss by the
last bit.
"""

import math
import sys
from importlib import import_module
from typing import Any

import numpy as np

FEW = 1 << 17
"""Largest number of rows that NumPy scores in less time than numba takes to load."""

BYTE_TABLE = 256 + 16
"""Length of a table looked up by a byte. Tables 256 apart would share lines of the cache."""


def is_few(n_rows: int) -> bool:
    """Whether rows are too few to load numba for them; False if it is loaded already."""
    return n_rows <= FEW and "numba" not in sys.modules


def for_rows(n_rows: int) -> Any:
    """Module with the scoring loops: in NumPy for few rows unless numba is loaded."""
    return import_module(__name__ if is_few(n_rows) else "weigh.kernels")


def add_one(totals: Any, codes: Any, weights: Any) -> None:
    """Add weights[code] to the total of each row: one column of totals."""
    totals[:, 0] += weights[:, 0][codes]


def add_many(totals: Any, codes: Any, weights: Any) -> None:
    """Add weights[code] to the totals of each row: one column per class."""
    totals += weights[codes]


def add_bytes(totals: Any, matrix: Any, weights: Any) -> None:
    """Add weights[column, code] to the total of each row, column by column."""
    for codes, table in zip(matrix.T, weights, strict=True):
        totals[:, 0] += table[codes]


def logistic(totals: Any, out: Any) -> None:
    """Turn log odds into the probabilities of both classes, without overflow or cancellation."""
    positive = totals[:, 0] >= 0
    likely, rare = logistic_pair(totals)
    out[:, 0], out[:, 1] = np.where(positive, rare, likely), np.where(positive, likely, rare)


def logistic_pair(totals: Any) -> tuple[Any, Any]:
    """Probabilities of the likelier class of each row and of the other."""
    with np.errstate(under="ignore"):
        small = np.exp(-np.abs(totals[:, 0]))  # numpy computes eight at a time on some processors
        norm = 1.0 + small
        return 1.0 / norm, small / norm


def ovr(totals: Any, out: Any) -> None:
    """Turn the log odds of each class against the rest into probabilities that sum to one."""
    top = np.minimum(totals.max(axis=1, keepdims=True, initial=-np.inf), 0.0)
    rise = _exp(np.where(totals >= 0, -top, totals - top))
    out[:] = rise / (1.0 + _exp(-np.abs(totals)))
    _share(out)


def softmax(totals: Any, out: Any) -> None:
    """Turn one total per class into probabilities."""
    out[:] = _exp(totals - totals.max(axis=1, keepdims=True, initial=-np.inf))
    _share(out)


def digitize(values: Any, cuts: Any, specials: Any, missing: int, out: Any) -> None:
    """Code a number by the count of cuts below it; special codes follow; NaN gets `missing`."""
    out[:] = np.searchsorted(cuts, values, side="left")
    for s, special in enumerate(specials.tolist()):
        out[values == special] = len(cuts) + 1 + s
    out[np.isnan(values)] = missing


def _exp(values: Any) -> Any:
    return np.fromiter(map(math.exp, values.ravel().tolist()), float, values.size).reshape(
        values.shape
    )


def _share(parts: Any) -> None:
    """Divide by the sum of each row, added from the first class to the last."""
    norm = np.zeros(len(parts))
    for column in parts.T:
        norm += column
    parts /= norm[:, None]
