"""An evaluation's numbers as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.bins import label
from weigh.evaluation.measures import Measures
from weigh.plot.axes import FOR, TOTAL, Drawing, new_figure
from weigh.plot.labels import shorten

if TYPE_CHECKING:
    from weigh.evaluation.result import Evaluation

THIN: dict[str, Any] = {"color": TOTAL, "linewidth": 0.8, "linestyle": "--"}


def draw_evaluation(found: Evaluation) -> Drawing:
    """Reliability, gains and net benefit side by side, from the numbers of the page."""
    measures = found.validation
    if not isinstance(measures, Measures):
        raise ValueError(
            "the figure is of one class against the rest; name it with pos_label, one of "
            f"{[*found.classes]}"
        )
    figure, axes = new_figure(11.0, 3.6, n_columns=3)
    _reliability(axes[0], measures)
    _gains(axes[1], measures)
    _net_benefit(axes[2], measures)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    title = f"{found.model}: probability of {label(found.pos_label)}"
    figure.suptitle(shorten(title, 90), fontsize="medium", parse_math=False)
    return Drawing(figure, tuple(axes))


def _reliability(ax: Any, m: Measures) -> None:
    table = m.reliability
    ends = np.maximum((table.rate - table.rate_low, table.rate_high - table.rate), 0)
    ax.plot([0, 1], [0, 1], **THIN)
    ax.errorbar(table.mean_prediction, table.rate, yerr=ends, fmt="o", color=FOR, markersize=4)
    ax.set(xlabel="Predicted probability", ylabel="Rate that came true")


def _gains(ax: Any, m: Measures) -> None:
    ax.plot([0, 1], [0, 1], **THIN)
    ax.plot([0, *m.gains.depth], [0, *m.gains.gain], marker="o", markersize=3, color=FOR)
    ax.set(xlabel="Share of rows, most probable first", ylabel="Share of positives found")


def _net_benefit(ax: Any, m: Measures) -> None:
    shown = [part for part in m.thresholds if np.isfinite(part.net_benefit)]
    at = [part.rates.threshold for part in shown]
    worth, all_ = ([getattr(part, name) for part in shown] for name in ("net_benefit", "treat_all"))
    ax.axhline(0, **THIN | {"linestyle": ":"})
    ax.plot(at, all_, label="treat all", **THIN)
    ax.plot(at, worth, marker="o", markersize=3, color=FOR, label="model")
    top = 1.1 * max([*worth, *all_, 1e-6])
    ax.set(xlabel="Threshold probability", ylabel="Net benefit", ylim=(-0.15 * top, top))
    ax.legend(frameon=False, fontsize="small")
