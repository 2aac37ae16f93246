"""Whether probabilities mean what they say, as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.calibrate import SplineCalibrator
from weigh.metrics import Scored, calibration_line, reliability_table
from weigh.plot.axes import FAINT, TOTAL
from weigh.plot.scored import LINE, ScoredDisplay, is_first, next_colour, set_legend

FLOOR, CEILING, SLICES = -0.26, -0.06, 40
"""Where the histogram stands below the diagram, and how many slices it has."""


class ReliabilityDisplay(ScoredDisplay):
    """What came true against what was predicted, as in Figure 2 of Ridgeway (2025).

    A point is a bin: its mean prediction and the rate that came true, with the 95% interval of
    Clopper & Pearson. The curve is a rising natural spline on the log odds (`SplineCalibrator`).
    The legend gives slope and intercept of the calibration line, which are 1 and 0 at best, and the
    histogram below counts the predictions.

    Parameters
    ----------
    scored : Scored
        Labels and probabilities.
    bins : int or array, default=10
        The number of bins, or their edges, ascending from 0 to 1.
    strategy : "width" or "count", default="width"
        Bins of equal width, or of equal weight as far as ties allow.
    name : str, optional
        The model's, for the legend.
    pos_label : label, optional
        The positive class, for the axis.

    Attributes
    ----------
    table : ReliabilityTable
        The points and their intervals.
    line : CalibrationLine
        Slope and intercept.
    curve : SplineCalibrator or None
        None where the rows are of one class, or all predictions are the same.

    Examples
    --------
    >>> from weigh import ReliabilityDisplay
    >>> from weigh.metrics import Scored
    >>> scored = Scored.read([0, 0, 1, 1, 1], [0.1, 0.2, 0.2, 0.8, 0.9])
    >>> ReliabilityDisplay(scored, bins=2).table.rate.round(3)
    array([0.333, 1.   ])
    """

    def __init__(
        self,
        scored: Scored,
        *,
        bins: Any = 10,
        strategy: str = "width",
        name: str | None = None,
        pos_label: Any = None,
    ) -> None:
        super().__init__(scored, name=name, pos_label=pos_label)
        self.table = reliability_table(self.scored, bins=bins, strategy=strategy)
        self.line = calibration_line(self.scored)
        self.curve = _fit_curve(self.scored)

    def _size(self) -> tuple[float, float]:
        return 6.0, 6.0

    def _draw(self, ax: Any) -> None:
        first, colour = is_first(ax), next_colour(ax)
        if first:
            ax.plot([0, 1], [0, 1], color=TOTAL, linewidth=0.8, linestyle="--", zorder=1)
        self._draw_points(ax, colour)
        self._draw_curve(ax, colour)
        self._draw_histogram(ax, colour, first)
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(FLOOR - 0.01, 1.02)
        ax.set_yticks(
            [(FLOOR + CEILING) / 2, *np.arange(6) / 5],
            ["rows", *(f"{t / 5:.1f}" for t in range(6))],
        )
        ax.set_xlabel(f"Predicted probability{self._about}", parse_math=False)
        ax.set_ylabel("Rate that came true")
        set_legend(ax, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)

    def _draw_points(self, ax: Any, colour: str) -> None:
        table = self.table
        ends = table.rate - table.rate_low, table.rate_high - table.rate
        look = {"fmt": "o", "markersize": 4, "color": colour, "elinewidth": 1, "zorder": 3}
        ax.errorbar(table.mean_prediction, table.rate, yerr=np.maximum(ends, 0), **look)

    def _draw_curve(self, ax: Any, colour: str) -> None:
        """The spline from the least prediction to the most; its name is the line's numbers."""
        x = np.linspace(self.scored.p.min(), self.scored.p.max(), 200)
        y = np.full(200, np.nan) if self.curve is None else self.curve.predict(x)
        ax.plot(x, y, color=colour, linewidth=1.8, label=self._numbers(ax), gid=LINE, zorder=2)

    def _numbers(self, ax: Any) -> str:
        slope, intercept = self.line.slope, self.line.intercept
        if not np.isfinite([slope, intercept]).all():
            return self._legend_name(ax, "no slope or intercept")
        return self._legend_name(ax, f"slope {slope:.2f}, intercept {intercept:.2f}")

    def _draw_histogram(self, ax: Any, colour: str, first: bool) -> None:
        counts, edges = np.histogram(self.scored.p, SLICES, (0, 1), weights=self.scored.weight)
        tops = FLOOR + (CEILING - FLOOR) * counts / counts.max()
        if first:
            ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
            ax.stairs(tops, edges, baseline=FLOOR, fill=True, color=colour, alpha=0.35)
        else:
            ax.stairs(tops, edges, baseline=FLOOR, color=colour)


def _fit_curve(scored: Scored) -> SplineCalibrator | None:
    if scored.groups.one_class or len(scored.groups.p) == 1:
        return None
    return SplineCalibrator().fit(scored.p, scored.positive, scored.weight)
