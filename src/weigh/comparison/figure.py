"""A comparison as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weigh.plot.axes import FOR, TOTAL, Drawing, new_figure
from weigh.plot.labels import fit_all, shorten

if TYPE_CHECKING:
    from weigh.comparison.result import Comparison


def draw_comparison(found: Comparison) -> Drawing:
    """How much more each learner loses than the best, with paired intervals."""
    fitted = [entry for entry in found.entries if entry.differences is not None]
    if not fitted:
        raise ValueError(f"no learner could be fitted, so nothing can be drawn: {found.reason}")
    figure, axes = new_figure(8.0, 1.2 + 0.34 * len(fitted))
    ax = axes[0]
    names = [
        f"{entry.name} (chosen)" if entry.name == found.choice else entry.name for entry in fitted
    ]
    for place, entry in enumerate(fitted):
        assert entry.differences is not None
        part = entry.differences.loss
        ends = np.nan_to_num([[part.value - part.low], [part.high - part.value]])
        ax.errorbar([part.value], [place], xerr=np.maximum(ends, 0), fmt="o", color=FOR)
    ax.axvline(0, color=TOTAL, linewidth=0.8, linestyle="--")
    ax.margins(y=0.6 / len(fitted))
    ax.set_yticks(range(len(names)), fit_all(names, 10.0, 3.2), parse_math=False)
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(f"Loss beyond that of {shorten(found.best or '', 30)}, bits", parse_math=False)
    return Drawing(figure, tuple(axes))
