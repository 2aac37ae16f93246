"""Scoring loops for few rows, in NumPy, because numba takes half a second to load.

Each number is computed by the same steps as in `kernels`, and so has the same bits.
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


SERIES = tuple(1 / math.factorial(n) for n in range(13, 1, -1))
LOG2_E, LN2, LN2_REST = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""Constants of `exponential`. LN2 ends in zeros, so that its product with an integer is exact."""


def exponential(x: Any) -> Any:
    """The exponential of numbers up to 0, with the same bits on every processor.

    e^x = 2^k e^r with a whole k and |r| <= ln(2) / 2. It differs from the exact value by at most
    about a unit in the last place. The C library's differs between machines, and is slower one by
    one: compilers can compute several of these at once. `kernels` compiles this function, and
    numba does not notice its changes: after an edit, delete the cache of `kernels`.
    """
    x = np.maximum(x, -746.0)  # of which the exponential is 0
    shifted = x * LOG2_E + 1.5 * 2.0**52  # large enough that the last bits are k
    k = shifted - 1.5 * 2.0**52
    r = (x - k * LN2) - k * LN2_REST
    series = SERIES[0]
    for factor in SERIES[1:]:
        series = series * r + factor
    bits = np.float64(shifted).view(np.int64) + 1087
    power = np.int64(bits << 52).view(np.float64)  # 2^(k + 64), which is not too small for a double
    return (series * r * r + r + 1.0) * power * 2.0**-64


def logistic(totals: Any, out: Any) -> None:
    """Turn log odds into the probabilities of both classes, without overflow or cancellation."""
    small = exponential(-np.abs(totals[:, 0]))
    positive = totals[:, 0] >= 0
    likely, rare = 1.0 / (1.0 + small), small / (1.0 + small)
    out[:, 0], out[:, 1] = np.where(positive, rare, likely), np.where(positive, likely, rare)


def ovr(totals: Any, out: Any) -> None:
    """Turn the log odds of each class against the rest into probabilities that sum to one."""
    top = np.minimum(totals.max(axis=1, keepdims=True, initial=-np.inf), 0.0)
    rise = exponential(np.where(totals >= 0, -top, totals - top))
    out[:] = rise / (1.0 + exponential(-np.abs(totals)))
    _share(out)


def softmax(totals: Any, out: Any) -> None:
    """Turn one total per class into probabilities."""
    out[:] = exponential(totals - totals.max(axis=1, keepdims=True, initial=-np.inf))
    _share(out)


def digitize(values: Any, cuts: Any, specials: Any, missing: int, out: Any) -> None:
    """Code a number by the count of cuts below it; special codes follow; NaN gets `missing`."""
    out[:] = np.searchsorted(cuts, values, side="left")
    for s, special in enumerate(specials.tolist()):
        out[values == special] = len(cuts) + 1 + s
    out[np.isnan(values)] = missing


def _share(parts: Any) -> None:
    """Divide by the sum of each row, added from the first class to the last."""
    norm = np.zeros(len(parts))
    for column in parts.T:
        norm += column
    parts /= norm[:, None]
