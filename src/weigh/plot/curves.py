"""Curves that show how useful a model is, and how well it ranks rows.

Lift, gains and net benefit; ROC and precision-recall curves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve

from weigh.arrays import Floats
from weigh.metrics import Scored, auc, gains_curve, lift_curve, net_benefit
from weigh.plot.axes import TOTAL
from weigh.plot.scored import (
    LINE,
    ScoredDisplay,
    is_first,
    is_narrow,
    next_colour,
    refuse_no_positives,
)

DEPTH, SHALLOW, MOST_POINTS = 0.1, 0.02, 4000
"""The share of rows whose lift or gain is in the legend; the share below which the lift does not
count for the limits of the axes; the maximum number of points of a curve.
"""


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
        self._label(ax, _depth(ax, self._about), "Lift")


def _thin(depth: Floats) -> Floats:
    """At most MOST_POINTS of the points, which is more than can be seen."""
    kept = np.linspace(0, len(depth) - 1, min(len(depth), MOST_POINTS)).round().astype(int)
    return np.asarray(depth[kept])


def _depth(ax: Any, about: str) -> str:
    """The label of the axis of depths."""
    return "Share of rows" + ("" if is_narrow(ax) else f", highest probability{about} first")


def _reference(ax: Any, name: str) -> dict[str, Any]:
    """The style of a reference line, with its name in the legend where there is space."""
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

    SIZE = 6.0, 5.0

    def _measure(self) -> None:
        refuse_no_positives(self.scored)
        self.curve = gains_curve(self.scored)

    def _draw(self, ax: Any) -> None:
        curve = self.curve
        if is_first(ax):
            ax.plot([0, 1], [0, 1], linestyle="--", **_reference(ax, "at random"))
            best = [0, curve.base_rate, 1]
            ax.plot(best, [0, 1, 1], linestyle=":", **_reference(ax, "all positives first"))
        told = self._legend_name(ax, f"{float(curve.at(DEPTH)):.0%} in {DEPTH:.0%} of the rows")
        depth = _thin(curve.depth)
        ax.plot(depth, curve.at(depth), color=next_colour(ax), label=told, gid=LINE)
        ax.set(xlim=(0, 1), ylim=(0, 1.01))
        depths = _depth(ax, self._about)
        self._label(ax, depths, "Share of positives found", loc="lower right")


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
        self._label(ax, f"Cut-off for the probability{self._about}", "Net benefit")


REACH = float(ndtri(0.975))
"""Half-width of a 95% interval, in standard errors."""


class ROCDisplay(ScoredDisplay):
    """ROC curve, with a 95% band, the AUC and its interval.

    The band is the 95% interval (Wilson) of the true-positive rate at each cut-off. The legend has
    the area under the curve with DeLong's interval.

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
    fpr, tpr : ndarray
        The false-positive and true-positive rates, from the strictest cut-off.
    band : tuple of ndarray
        The lower and upper ends of the band.
    auc : AUC
        The area under the curve.

    Examples
    --------
    >>> from weigh import ROCDisplay
    >>> from weigh.metrics import Scored
    >>> display = ROCDisplay(Scored.read([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8]))
    >>> display.tpr.tolist(), display.auc.value
    ([0.0, 0.5, 0.5, 1.0, 1.0], 0.75)
    """

    SIZE = 6.0, 5.0

    def _measure(self) -> None:
        rows = self.scored
        refuse_no_positives(rows)
        if rows.positive.all():
            raise ValueError(
                "every row belongs to the positive class; an ROC curve needs both classes"
            )
        self.fpr, self.tpr, _ = roc_curve(rows.positive, rows.p, sample_weight=rows.weight)
        self.band = wilson(self.tpr, np.full(len(self.tpr), rows.groups.n_positive))
        self.auc = auc(rows)

    def _draw(self, ax: Any) -> None:
        if is_first(ax):
            ax.plot([0, 1], [0, 1], linestyle="--", color=TOTAL, linewidth=0.8)
        found, colour = self.auc, next_colour(ax)
        known = np.isfinite(found.low)
        interval = f" ({found.low:.3f} to {found.high:.3f})" if known else ""
        ax.fill_between(self.fpr, *self.band, color=colour, alpha=0.15, linewidth=0)
        told = self._legend_name(ax, f"AUC {found.value:.3f}{interval}")
        ax.plot(self.fpr, self.tpr, color=colour, label=told, gid=LINE)
        ax.set(xlim=(0, 1), ylim=(0, 1.01))
        true = f"True-positive rate{self._about}"
        self._label(ax, "False-positive rate", true, loc="lower right")


class PrecisionRecallDisplay(ScoredDisplay):
    """Precision-recall curve, with a 95% band and the average precision.

    The band is the 95% interval (Wilson) of the precision at each cut-off. The dashed line is the
    base rate, and the legend has the average precision.

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
    precision, recall : ndarray
        At every cut-off from the most lenient, as scikit-learn gives them.
    band : tuple of ndarray
        The lower and upper ends of the band.
    average_precision : float
        The mean precision, weighted by the rise in recall.

    Examples
    --------
    >>> from weigh import PrecisionRecallDisplay
    >>> from weigh.metrics import Scored
    >>> display = PrecisionRecallDisplay(Scored.read([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8]))
    >>> display.recall.tolist(), round(display.average_precision, 4)
    ([1.0, 1.0, 0.5, 0.5, 0.0], 0.8333)
    """

    SIZE = 6.0, 5.0

    def _measure(self) -> None:
        rows = self.scored
        refuse_no_positives(rows)
        weighted = {"sample_weight": rows.weight}
        found = precision_recall_curve(rows.positive, rows.p, **weighted)
        self.precision, self.recall, cut_offs = found
        self.average_precision = float(average_precision_score(rows.positive, rows.p, **weighted))
        self.band = wilson(self.precision, self._count_flagged(cut_offs))

    def _count_flagged(self, cut_offs: Floats) -> Floats:
        """The weight of the rows that each cut-off flags; zero after the last one."""
        groups = self.scored.groups
        flagged = np.cumsum(groups.weight[::-1])[::-1]
        return np.append(flagged[np.searchsorted(groups.p, cut_offs)], 0.0)

    def _draw(self, ax: Any) -> None:
        colour = next_colour(ax)
        if is_first(ax):
            ax.axhline(self.scored.groups.base_rate, linestyle="--", color=TOTAL, linewidth=0.8)
        shade = {"color": colour, "alpha": 0.15, "linewidth": 0, "step": "post"}
        ax.fill_between(self.recall, *self.band, **shade)
        told = self._legend_name(ax, f"average precision {self.average_precision:.3f}")
        look = {"color": colour, "label": told, "gid": LINE, "drawstyle": "steps-post"}
        ax.plot(self.recall, self.precision, **look)
        ax.set(xlim=(0, 1), ylim=(0, 1.01))
        self._label(ax, f"Recall{self._about}", "Precision")


def wilson(share: Floats, n: Floats) -> tuple[Floats, Floats]:
    """The 95% interval of a share of n rows (Wilson 1927); without rows it is 0 to 1.

    >>> [end.round(3).tolist() for end in wilson(np.array([0.5, 0.0]), np.array([10.0, 0.0]))]
    [[0.237, 0.0], [0.763, 1.0]]
    """
    known, z = np.maximum(n, 1e-300), REACH
    middle = (share * known + z**2 / 2) / (known + z**2)
    half = z * np.sqrt(share * (1 - share) * known + z**2 / 4) / (known + z**2)
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
