"""A balance sheet as a picture."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from weigh.bins import printable
from weigh.evidence import hundredths
from weigh.plot.axes import AGAINST, FOR, TOTAL, new_axes, shorten
from weigh.sheet import BalanceSheet, probability


class BalanceSheetDisplay:
    """A balance sheet as a waterfall from the prior to the total.

    Parameters
    ----------
    sheet : BalanceSheet
        The case to draw.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of that axes.
    """

    def __init__(self, sheet: BalanceSheet) -> None:
        if not isinstance(sheet, BalanceSheet):
            raise TypeError(f"a waterfall draws a BalanceSheet, not {type(sheet).__name__}")
        self.sheet = sheet

    @classmethod
    def from_estimator(cls, model: Any, row: Any, *, ax: Any = None, **choice: Any) -> Self:
        """Draw what a fitted model says about a row; `of` and `against` as in `balance_sheet`."""
        return cls(model.balance_sheet(row, **choice)).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        names, weights = self._bars()
        if ax is None:
            ax = new_axes(len(names) + 1)
        starts = np.cumsum([0.0, *weights[:-1]])
        places = np.arange(len(names))
        colours = [FOR if weight >= 0 else AGAINST for weight in weights]
        ax.barh(places, weights, left=starts, color=colours, height=0.7)
        ax.barh(len(names), 100 * self.sheet.total, color=TOTAL, height=0.7)
        self._label(ax, names, starts + weights, weights)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _bars(self) -> tuple[list[str], np.ndarray[Any, Any]]:
        items = [item for item in self.sheet.items if item.weight]
        items = sorted(items, key=lambda item: -abs(item.weight))
        bars = [("Prior", self.sheet.prior)]
        bars += [(shorten(printable(str(item))), item.weight) for item in items]
        bars += [*self._attenuation(), *self._recalibration()]
        return [name for name, _ in bars], 100 * np.array([weight for _, weight in bars])

    def _attenuation(self) -> list[tuple[str, float]]:
        """What leads from the sum of the weights to the total."""
        rule = self.sheet.attenuation
        if rule is None:
            return []
        worth = self.sheet.recalibration
        change = (self.sheet.total if worth is None else worth.before) - rule.shift - rule.before
        bars = [(f"Exponent {rule.exponent:.3g}, {rule.n:g} {rule.unit}", change)]
        return [*bars, ("Change of the base rate", rule.shift)] if rule.shift else bars

    def _recalibration(self) -> list[tuple[str, float]]:
        """What leads from there to what it was worth on rows held out."""
        worth = self.sheet.recalibration
        if worth is None:
            return []
        bars = [(f"Recalibration ({worth.method})", worth.after - worth.before)]
        return [*bars, ("Change of the base rate", worth.shift)] if worth.shift else bars

    def _label(self, ax: Any, names: list[str], ends: Any, weights: Any) -> None:
        total = 100 * self.sheet.total
        for place, (end, weight) in enumerate(zip([*ends, total], [*weights, total], strict=True)):
            side = "left" if weight >= 0 else "right"
            ax.annotate(
                hundredths(weight / 100),
                (end, place),
                xytext=(3 if weight >= 0 else -3, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize="small",
            )
        ax.set_yticks(range(len(names) + 1), [*names, "Total"], parse_math=False)
        ax.invert_yaxis()
        ax.axvline(0, color="black", linewidth=0.8)
        ax.use_sticky_edges = False  # room for the numbers beyond the last bar
        ax.margins(x=0.12, y=0.02)
        of, chance = printable(self.sheet.question), probability(self.sheet.probability)
        ax.set_xlabel(f"Weight of evidence for {of}, times 100", parse_math=False)
        if self.sheet.interval is not None:
            chance += " ({} to {})".format(*map(probability, self.sheet.interval))
        ax.set_title(f"Probability of {of}: {chance}", parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)
