"""Density: a numeric column as a curve in each class, tabulated on a grid of equal cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from weigh.frames import Floats

KINDS = ("gaussian", "kernel")
LEAST = 8
"""Cells of a grid, at least."""


@dataclass(frozen=True)
class Density:
    """A numeric column as a density in each class, in place of bins: for `bins` of `EvidenceNB`.

    w(x) = ln f(x|1)/f(x|0)

    The range of the training values is parted into equal cells, and the weight of a cell is that of
    its middle: the weights are a table, and sheets, pages and exports are as for any bins. Values
    beyond the range count as its ends.

    Parameters
    ----------
    kind : "gaussian" or "kernel", default="gaussian"
        A normal curve with the mean and variance of each class, as scikit-learn's `GaussianNB` has;
        or a sum of normal curves around the values of each class, whose width is Silverman's rule,
        0.9 min(s, IQR/1.34) n^(-1/5). Values are known to their cell: a curve is exactly that of
        the values rounded to the middle of their cells.
    cells : int, default=256
        Cells of the grid, at least 8.

    Examples
    --------
    >>> import weigh
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = weigh.EvidenceNB(bins=weigh.Density("gaussian")).fit(X[["mean radius"]], y)
    >>> round(float(model.predict_proba(X[["mean radius"]][:1])[0, 1]), 2)
    0.0
    """

    kind: Literal["gaussian", "kernel"] = "gaussian"
    cells: int = 256

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        whole = isinstance(self.cells, int | np.integer) and not isinstance(self.cells, bool)
        if not (whole and self.cells >= LEAST):
            raise ValueError(
                f"cells must be a whole number of at least {LEAST}, got {self.cells!r}"
            )

    def cut(self, values: Floats, weight: Floats | None) -> tuple[float, ...]:
        """Equal cells from the smallest to the largest finite value; none where these are one."""
        used = np.isfinite(values) if weight is None else np.isfinite(values) & (weight > 0)
        if not used.any():
            return ()
        low, high = float(values[used].min()), float(values[used].max())
        cuts = np.unique(low + (high - low) * np.arange(1, int(self.cells)) / int(self.cells))
        return tuple(cuts[(cuts > low) & (cuts < high)].tolist())


def middles(cuts: tuple[float, ...]) -> tuple[Floats, Floats]:
    """The middle and the width of each cell; the outer ones are as wide as their neighbours.

    >>> middles((1.0, 2.0, 4.0))
    (array([0.5, 1.5, 3. , 5. ]), array([1., 1., 2., 2.]))
    """
    inner = np.diff(cuts)
    widths = np.concatenate([inner[:1], inner, inner[-1:]]) if len(inner) else np.ones(2)
    lows = np.concatenate([[cuts[0] - widths[0]], cuts])
    return lows + widths / 2, widths
