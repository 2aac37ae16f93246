"""Figure 1: the loss of each internal fold by the norm m, and the norm chosen."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot

from benchmarks.papers.apm.measure import SETS, load
from weigh import AdjustedNB

CLASS = "EI"
"""The paper does not say which class of SDNA it draws."""


def draw(path: Path) -> None:
    """Draw the search on all rows of splice, one class against the rest."""
    X, y, _ = load("splice")
    model = AdjustedNB(
        smoothing=SETS["splice"][2],
        categorical_features="all",
        norm="paper",
        aggregate="median",
        random_state=0,
    ).fit(X, y == CLASS)
    search = model.norm_path_
    figure, ax = pyplot.subplots(figsize=(5, 3.6), layout="constrained")
    for k, losses in enumerate(search.losses.T):
        ax.plot(search.norms, losses, marker="o", markersize=3, label=f"fold {k + 1}")
    median = np.median(search.losses, axis=1)
    ax.plot(search.norms, median, color="black", linestyle="--", label="median")
    ax.axvline(search.chosen, color="black", linewidth=0.8)
    ax.annotate(f"m = {search.chosen:.0f}", (search.chosen, ax.get_ylim()[1]), (4, -12),
                textcoords="offset points")  # fmt: skip
    ax.set_xlabel("m, the sum of the squared exponents")
    ax.set_ylabel("loss of the held-out fold, bits")
    ax.legend(frameon=False, fontsize="small", ncols=2)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=80)
    pyplot.close(figure)
