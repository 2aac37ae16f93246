"""Density: class densities of a numeric column, tabulated on a grid of equal cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from weigh.arrays import Floats
from weigh.errors import warn_caller
from weigh.frames import is_count

KINDS = ("gaussian", "kernel")
LEAST = 8
"""Minimum number of cells."""
OUTER = 0.01
"""Share of the rows, or of the distinct values, in each tail outside the central part."""


@dataclass(frozen=True)
class Density:
    """A numeric column as a density in each class, in place of bins: for `bins` of `EvidenceNB`.

    w(x) = ln f(x|1)/f(x|0)

    The range of the column is divided into equal cells, and the weight of a cell is that of its
    midpoint. The weights are thus an ordinary table, and balance sheets, pages and exports work as
    for bins. The range is the central 98% of the rows and of the distinct values, extended by up to
    its own length on either side, but not beyond the data. Outliers beyond it count as its ends.

    Parameters
    ----------
    kind : "gaussian" or "kernel", default="gaussian"
        "gaussian": a normal density with the mean and variance of each class, as in scikit-learn's
        `GaussianNB`. "kernel": a kernel density estimate in each class, with Silverman's bandwidth
        0.9 min(s, IQR/1.34) n^(-1/5). Values are rounded to the midpoint of their cell first, and
        outliers to the first or last midpoint.
    cells : int, default=256
        Cells of the grid, at least 8.

    Examples
    --------
    >>> import weigh
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = weigh.EvidenceNB(bins=weigh.Density("gaussian")).fit(X[["mean radius"]], y)
    >>> round(float(model.predict_proba(X[["mean radius"]][:1])[0, 1]), 2)
    0.01
    """

    kind: Literal["gaussian", "kernel"] = "gaussian"
    cells: int = 256

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if not (is_count(self.cells) and self.cells >= LEAST):
            raise ValueError(
                f"cells must be a whole number of at least {LEAST}, got {self.cells!r}"
            )

    def cut(self, values: Floats, weight: Floats | None, name: str) -> tuple[float, ...]:
        """Cut points of equal cells over the range without outliers; none if all are equal."""
        used = np.isfinite(values) if weight is None else np.isfinite(values) & (weight > 0)
        if not used.any():
            return ()
        distinct, places = np.unique(values[used], return_inverse=True)
        rows = np.bincount(places, None if weight is None else weight[used]).astype(np.float64)
        low, high = _span(distinct, rows)
        cuts = np.unique(low + (high - low) * np.arange(1, int(self.cells)) / int(self.cells))
        cuts = cuts[(cuts > low) & (cuts < high)]
        _warn_crowded(name, cuts, distinct)
        return tuple(cuts.tolist())


def _span(distinct: Floats, rows: Floats) -> tuple[float, float]:
    """Where the grid starts and ends.

    The central 98% of the rows excludes outliers. That of the distinct values keeps the other
    values in range if nearly all rows share one value.

    >>> _span(np.array([*range(300), 1e6]), np.ones(301))
    (0.0, 591.0)
    """
    middle = [_quantiles(distinct, n) for n in (rows, np.ones(len(distinct)))]
    low, high = float(np.min(middle)), float(np.max(middle))
    length = high - low
    return max(float(distinct[0]), low - length), min(float(distinct[-1]), high + length)


def _quantiles(distinct: Floats, rows: Floats) -> Floats:
    below = np.cumsum(rows) / rows.sum()
    wanted = np.searchsorted(below, [OUTER, 1 - OUTER])
    return np.asarray(distinct[np.minimum(wanted, len(distinct) - 1)])


def _warn_crowded(name: str, cuts: Floats, distinct: Floats) -> None:
    most = int(np.bincount(np.searchsorted(cuts, distinct)).max())
    if len(cuts) and 2 * most > len(distinct):
        warn_caller(
            f"column {name!r} is too skewed for its density: one of {len(cuts) + 1} cells holds "
            f"{most:,} of {len(distinct):,} distinct values. Take its logarithm, give Density more "
            "cells, or use other bins for it",
            UserWarning,
        )


def middles(cuts: tuple[float, ...]) -> tuple[Floats, Floats]:
    """The midpoint and the width of each cell; the outer cells are as wide as their neighbours.

    >>> middles((1.0, 2.0, 4.0))
    (array([0.5, 1.5, 3. , 5. ]), array([1., 1., 2., 2.]))
    """
    inner = np.diff(cuts)
    widths = np.concatenate([inner[:1], inner, inner[-1:]]) if len(inner) else np.ones(2)
    lows = np.concatenate([[cuts[0] - widths[0]], cuts])
    return lows + widths / 2, widths
