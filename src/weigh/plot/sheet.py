"""A balance sheet as a picture."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from weigh.bins import printable
from weigh.evidence import hundredths
from weigh.parameters import is_count
from weigh.plot.axes import TOTAL, Display, colour_sides, inches
from weigh.plot.labels import PART, Name, set_names, wrap
from weigh.sheet import BalanceSheet, find_class, probability

NARROW, LEAST = 4.0, 0.17
"""Inches: the width from which text is large, and the minimum height of a bar."""


class BalanceSheetDisplay(Display):
    """A balance sheet as a waterfall from the prior to the total.

    Parameters
    ----------
    sheet : BalanceSheet
        The case to draw.
    max_items : int, optional
        Largest number of items with their own bar, the heaviest first; the rest share one. On small
        axes fewer fit.
    adverse : label, optional
        The class whose evidence is vermilion instead of blue. Default: the class that positive
        weights oppose.
    """

    def __init__(
        self, sheet: BalanceSheet, *, max_items: int | None = None, adverse: Any = None
    ) -> None:
        if not isinstance(sheet, BalanceSheet):
            raise TypeError(f"a waterfall draws a BalanceSheet, not {type(sheet).__name__}")
        if not (max_items is None or (is_count(max_items) and max_items >= 0)):
            raise ValueError(f"max_items must be a whole number of 0 or more, got {max_items!r}")
        self.sheet, self.max_items = sheet, max_items
        if sheet.two_classes:
            find_class([sheet.pos_label, sheet.against], adverse, role="adverse")
        self.colours = colour_sides(adverse is not None and sheet.pos_label == adverse)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        row: Any,
        *,
        max_items: int | None = None,
        adverse: Any = None,
        ax: Any = None,
        **choice: Any,
    ) -> Self:
        """Draw the balance sheet of a row; `pos_label` and `against` as in `balance_sheet`."""
        sheet = model.balance_sheet(row, **choice)
        return cls(sheet, max_items=max_items, adverse=adverse).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 8.0, 1.2 + 0.32 * (len(self._bars(self.max_items)[0]) + 1)

    def _draw(self, ax: Any) -> None:
        names, weights = self._bars(self._most(ax))
        starts = np.cumsum([0.0, *weights[:-1]])
        places = np.arange(len(names))
        colours = [self.colours[int(weight < 0)] for weight in weights]
        ax.barh(places, weights, left=starts, color=colours, height=0.7)
        ax.barh(len(names), 100 * self.sheet.total, color=TOTAL, height=0.7)
        self._label(ax, names, starts + weights, weights)

    def _most(self, ax: Any) -> int:
        """The number of items with a bar: `max_items`, or as many as fit."""
        others = len(self._bars(0)[0]) + 1  # prior, rest, total and adjustments
        fit = max(int((inches(ax)[1] - 0.9) / LEAST) - others, 1)
        return fit if self.max_items is None else min(fit, self.max_items)

    def _bars(self, most: int | None) -> tuple[list[Name], np.ndarray[Any, Any]]:
        items = sorted(self.sheet.items, key=lambda item: -abs(item.weight))
        items = [item for item in items if item.weight]
        own, rest = items[:most], [] if most is None else items[most:]
        bars = [(Name("Prior"), self.sheet.prior)]
        bars += [(Name.of(item), item.weight) for item in own]
        if rest:
            bars.append((Name(f"{len(rest)} more"), sum(item.weight for item in rest)))
        acts = [*self._attenuation(), *self._recalibration()]
        bars += [(Name(text), weight) for text, weight in acts]
        return [name for name, _ in bars], 100 * np.array([weight for _, weight in bars])

    def _attenuation(self) -> list[tuple[str, float]]:
        """Bars of the attenuation, from the sum of the weights to the total."""
        rule = self.sheet.attenuation
        if rule is None:
            return []
        worth = self.sheet.recalibration
        change = (self.sheet.total if worth is None else worth.before) - rule.shift - rule.before
        bars = [(f"Exponent {rule.exponent:.3g}, {rule.n:g} {rule.unit}", change)]
        return [*bars, ("Change of the base rate", rule.shift)] if rule.shift else bars

    def _recalibration(self) -> list[tuple[str, float]]:
        """Bars of the recalibration, from the total before it to the final one."""
        worth = self.sheet.recalibration
        if worth is None:
            return []
        bars = [(f"Recalibration ({worth.method})", worth.after - worth.before)]
        return [*bars, ("Change of the base rate", worth.shift)] if worth.shift else bars

    def _label(self, ax: Any, names: list[Name], ends: Any, weights: Any) -> None:
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
        self._say(ax, (1 - PART) * inches(ax)[0])  # before the names: it changes the height
        set_names(ax, [*names, Name("Total")])
        ax.invert_yaxis()
        ax.axvline(0, color="black", linewidth=0.8)
        ax.use_sticky_edges = False  # space for the numbers beyond the last bar
        width = inches(ax)[0]
        ax.margins(x=max(0.12, 0.6 / width), y=0.02)
        ax.tick_params(axis="x", labelsize="medium" if width > NARROW else "small")
        self._say(ax, width)

    def _say(self, ax: Any, width: float) -> None:
        """Write the axis label (the positive class) and the title (its probability)."""
        of, chance = printable(self.sheet.question), probability(self.sheet.probability)
        if self.sheet.interval is not None:
            chance += " ({} to {})".format(*map(probability, self.sheet.interval))
        wide = width > NARROW
        about = wrap(f"Weight of evidence for {of}, times 100", width, 12 if wide else 14)
        title = wrap(f"Probability of {of}: {chance}", width, 10 if wide else 14)
        ax.set_xlabel(about, fontsize="medium" if wide else "small", parse_math=False)
        ax.set_title(title, fontsize="large" if wide else "small", parse_math=False)
