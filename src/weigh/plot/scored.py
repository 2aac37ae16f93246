"""Figures of predictions and observed outcomes: the base class, and the reliability diagram."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from weigh.bins import label
from weigh.calibrate import SplineCalibrator
from weigh.metrics import Scored, calibration_line, reliability_table
from weigh.metrics.predictions import Question, predict_rows
from weigh.plot.axes import (
    FAINT,
    NARROW,
    OKABE_ITO,
    TOTAL,
    Display,
    inches,
    legend_name,
    set_legend,
    shorten,
)

LINE = "weigh: a model"
"""The identifier (gid) of a model's line."""


class ScoredDisplay(Display):
    """A figure of the performance of probabilities; several models can share its axes.

    Parameters
    ----------
    scored : Scored
        Labels and probabilities.
    name : str, optional
        Name of the model in the legend.
    pos_label : label, optional
        The positive class, for the axis.
    """

    def __init__(self, scored: Scored, *, name: str | None = None, pos_label: Any = None) -> None:
        self.scored = Scored.read(scored)
        self.name = name
        self.pos_label = pos_label
        self._measure()

    def _measure(self) -> None:
        """Compute the numbers that are drawn."""

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **choice: Any,
    ) -> Self:
        """Draw the performance of a fitted classifier on a table.

        Parameters
        ----------
        model : classifier
            Fitted, with `predict_proba`.
        X : table
            Rows; use hold-out rows.
        y : array or str
            Class labels, or the name of their column in X.
        sample_weight : array or str, optional
            Row weights, or the name of their column.
        pos_label : label, optional
            Positive class. Default: the second of two. With more classes it is required, and is
            compared with the rest.
        name : str, optional
            Name in the legend. Default: the name of the model's class.
        ax : matplotlib Axes, optional
            Where to draw.
        **choice
            Other parameters of the display's class.
        """
        question = Question.of_model(model, pos_label)
        pos_label = question.pos_label
        if pos_label is None:
            raise ValueError(
                f"the model has {len(question.classes)} classes; name one with pos_label, to set "
                "it against the rest"
            )
        scored = predict_rows(model, X, y, sample_weight, pos_label=pos_label).rows
        assert isinstance(scored, Scored)
        name = type(model).__name__ if name is None else name
        return cls(scored, name=name, pos_label=pos_label, **choice).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **choice: Any,
    ) -> Self:
        """Draw the performance of probabilities.

        Parameters
        ----------
        y_true : array
            True labels.
        y_prob : array of shape (n,) or (n, 2)
            Probability of the positive class; with two columns, the second.
        sample_weight : array, optional
            Row weights.
        pos_label : label, optional
            Positive class. Default: the greater of two.
        name : str, optional
            For the legend.
        ax : matplotlib Axes, optional
            Where to draw.
        **choice
            Other parameters of the display's class.
        """
        scored = Scored.read(y_true, y_prob, sample_weight, pos_label)
        return cls(scored, name=name, pos_label=pos_label, **choice).plot(ax=ax)

    @property
    def _about(self) -> str:
        """The positive class in words, if it is known."""
        return "" if self.pos_label is None else f" of {shorten(label(self.pos_label), 30)}"

    def _legend_name(self, ax: Any, text: str = "") -> str:
        """The model's name and its figures, on two lines on narrow axes."""
        name = None if self.name is None else legend_name(self.name)
        between = ":\n" if is_narrow(ax) else ": "
        return between.join(filter(None, (name, text))) or "model"

    def _label(self, ax: Any, x: str, y: str, **legend: Any) -> None:
        """Name both axes, and draw the legend."""
        ax.set_xlabel(x, parse_math=False)
        ax.set_ylabel(y, parse_math=False)
        set_legend(ax, fontsize="x-small" if is_narrow(ax) else "small", **legend)


def refuse_no_positives(scored: Scored) -> None:
    """Raise an error if no row is positive."""
    if not scored.positive.any():
        raise ValueError(
            "no row belongs to the positive class, so none can be found; give other rows"
        )


def is_narrow(ax: Any) -> bool:
    """Whether axes are too narrow for long labels."""
    return inches(ax, settled=False)[0] < NARROW


def next_colour(ax: Any) -> str:
    """The colour of the next model on axes that may show others."""
    n = sum(line.get_gid() == LINE for line in ax.lines)
    return OKABE_ITO[n % len(OKABE_ITO)]


def is_first(ax: Any) -> bool:
    """Whether the axes show no model yet."""
    return not any(line.get_gid() == LINE for line in ax.lines)


FLOOR, CEILING, SLICES = -0.26, -0.06, 40
"""The histogram below the diagram: its lower and upper limit, and its number of bins."""


class ReliabilityDisplay(ScoredDisplay):
    """Observed rate against predicted probability, as in Figure 2 of Ridgeway (2025).

    A point is a bin: its mean prediction and the observed rate, with the 95% interval of
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
        Name of the model in the legend.
    pos_label : label, optional
        The positive class, for the axis.

    Attributes
    ----------
    table : ReliabilityTable
        The points and their intervals.
    line : CalibrationLine
        Slope and intercept.
    curve : SplineCalibrator or None
        None if the rows have one class, or all predictions are equal.

    Examples
    --------
    >>> from weigh import ReliabilityDisplay
    >>> from weigh.metrics import Scored
    >>> scored = Scored.read([0, 0, 1, 1, 1], [0.1, 0.2, 0.2, 0.8, 0.9])
    >>> ReliabilityDisplay(scored, bins=2).table.rate.round(3)
    array([0.333, 1.   ])
    """

    SIZE = 6.0, 6.0

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
        above = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
        self._label(ax, f"Predicted probability{self._about}", "Observed rate", **above)

    def _draw_points(self, ax: Any, colour: str) -> None:
        table = self.table
        ends = table.rate - table.rate_low, table.rate_high - table.rate
        look = {"fmt": "o", "markersize": 4, "color": colour, "elinewidth": 1, "zorder": 3}
        ax.errorbar(table.mean_prediction, table.rate, yerr=np.maximum(ends, 0), **look)

    def _draw_curve(self, ax: Any, colour: str) -> None:
        """Draw the spline over the range of predictions; its label is slope and intercept."""
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
