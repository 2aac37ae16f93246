"""What a model is good for: lift, gains, net benefit."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.frames import Floats
from weigh.metrics import Scored, gains_curve, lift_curve, net_benefit
from weigh.plot.axes import TOTAL
from weigh.plot.scored import (
    LINE,
    ScoredDisplay,
    is_first,
    is_narrow,
    next_colour,
    refuse_no_positives,
    set_legend,
)

DEPTH, SHALLOW, MOST_POINTS = 0.1, 0.02, 4000
"""The share of rows whose lift or gain the legend tells; shallower lift may leave the axes."""


class LiftDisplay(ScoredDisplay):
    """Lift curve: positive rate among the most probable rows, relative to the base rate.

    The curve is::

        lift(d) = (share of positives among the d n most probable rows)/(share of positives)

    Parameters
    ----------
    scored : Scored
        Labels and probabilities.
    name : str, optional
        Name of the model in the legend.
    pos_label : label, optional
        The positive class, for the axis.

    Attributes
    ----------
    curve : LiftCurve
        The curve that is drawn.

    Examples
    --------
    >>> from weigh import LiftDisplay
    >>> from weigh.metrics import Scored
    >>> display = LiftDisplay(Scored.read([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8]))
    >>> display.curve.lift.round(2)
    array([2.  , 1.  , 1.33, 1.  ])
    """

    def _measure(self) -> None:
        refuse_no_positives(self.scored)
        self.curve = lift_curve(self.scored)

    def _draw(self, ax: Any) -> None:
        curve, first = self.curve, is_first(ax)
        if first:
            ax.axhline(1, linestyle="--", **_reference(ax, "at random"))
        told = self._legend_name(ax, f"{float(curve.at(DEPTH)):.2f} at {DEPTH:.0%} of the rows")
        look = {"color": next_colour(ax), "label": told, "gid": LINE}
        depth = _thin(np.union1d(curve.depth, np.arange(1, 201) / 200))  # it bends between points
        lift = curve.at(depth)
        ax.plot(depth, lift, **look)
        top = 1.1 * float(lift[depth >= SHALLOW].max())
        ax.set_ylim(0, top if first else max(top, ax.get_ylim()[1]))
        ax.set_xlim(0, 1)
        _label_depth(ax, self._about)
        ax.set_ylabel("Lift")
        set_legend(ax)


def _thin(depth: Floats) -> Floats:
    """As many points as can be seen."""
    kept = np.linspace(0, len(depth) - 1, min(len(depth), MOST_POINTS)).round().astype(int)
    return np.asarray(depth[kept])


def _label_depth(ax: Any, about: str) -> None:
    more = "" if is_narrow(ax) else f", highest probability{about} first"
    ax.set_xlabel(f"Share of rows{more}", parse_math=False)


def _reference(ax: Any, name: str) -> dict[str, Any]:
    """The look of a line to compare with, named where there is room."""
    return {"color": TOTAL, "linewidth": 0.8, "label": f"_{name}" if is_narrow(ax) else name}


class GainsDisplay(ScoredDisplay):
    """Gains curve: share of all positives among the most probable rows.

    The curve is::

        gain(d) = share of the positives that are among the d n most probable rows

    Parameters
    ----------
    scored : Scored
        Labels and probabilities.
    name : str, optional
        Name of the model in the legend.
    pos_label : label, optional
        The positive class, for the axis.

    Attributes
    ----------
    curve : GainsCurve
        The curve that is drawn.

    Examples
    --------
    >>> from weigh import GainsDisplay
    >>> from weigh.metrics import Scored
    >>> display = GainsDisplay(Scored.read([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8]))
    >>> display.curve.gain
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    def _measure(self) -> None:
        refuse_no_positives(self.scored)
        self.curve = gains_curve(self.scored)

    def _size(self) -> tuple[float, float]:
        return 6.0, 5.0

    def _draw(self, ax: Any) -> None:
        curve = self.curve
        if is_first(ax):
            ax.plot([0, 1], [0, 1], linestyle="--", **_reference(ax, "at random"))
            best = [0, curve.base_rate, 1]
            ax.plot(best, [0, 1, 1], linestyle=":", **_reference(ax, "all positives first"))
        told = self._legend_name(ax, f"{float(curve.at(DEPTH)):.0%} in {DEPTH:.0%} of the rows")
        depth = _thin(curve.depth)
        ax.plot(depth, curve.at(depth), color=next_colour(ax), label=told, gid=LINE)
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1.01)
        _label_depth(ax, self._about)
        ax.set_ylabel("Share of positives found")
        set_legend(ax, loc="lower right")


class NetBenefitDisplay(ScoredDisplay):
    """Net benefit (decision curve) by cut-off, beside treating all and treating none.

    The curve (Vickers & Elkin 2006) is::

        net benefit(t) = TP/n - FP/n t/(1 - t)

    Parameters
    ----------
    scored : Scored
        Labels and probabilities.
    thresholds : array, optional
        Cut-offs from 0 to below 1. Default: 99 steps up to ten times the base rate, at most 0.99,
        because above that hardly any row of a rare class is flagged.
    name : str, optional
        Name of the model in the legend.
    pos_label : label, optional
        The positive class, for the axis.

    Attributes
    ----------
    curve : NetBenefit
        The curve that is drawn.

    Examples
    --------
    >>> from weigh import NetBenefitDisplay
    >>> from weigh.metrics import Scored
    >>> scored = Scored.read([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8])
    >>> NetBenefitDisplay(scored, thresholds=[0.2, 0.5]).curve.model
    array([0.4375, 0.    ])
    """

    def __init__(
        self,
        scored: Scored,
        *,
        thresholds: Any = None,
        name: str | None = None,
        pos_label: Any = None,
    ) -> None:
        super().__init__(scored, name=name, pos_label=pos_label)
        if thresholds is None:
            rate = self.scored.groups.base_rate
            thresholds = np.arange(1, 100) / 99 * min(0.99, 10 * rate if rate else 0.99)
        self.curve = net_benefit(self.scored, thresholds=thresholds)

    def _draw(self, ax: Any) -> None:
        curve, first = self.curve, is_first(ax)
        if first:
            thin = {"color": TOTAL, "linewidth": 0.8}
            ax.plot(curve.threshold, curve.treat_all, linestyle="--", label="treat all", **thin)
            ax.plot(curve.threshold, curve.treat_none, linestyle=":", label="treat none", **thin)
        look = {"color": next_colour(ax), "gid": LINE}
        ax.plot(curve.threshold, curve.model, label=self._legend_name(ax), **look)
        top = 1.1 * max(float(np.max(curve.model)), float(np.max(curve.treat_all)), 1e-6)
        if not first:
            top = max(top, ax.get_ylim()[1])
        ax.set_ylim(-0.15 * top, top)
        ax.set_xlabel(f"Threshold probability{self._about}", parse_math=False)
        ax.set_ylabel("Net benefit")
        set_legend(ax)
