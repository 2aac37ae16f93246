"""Contributions to a total: of one row as a waterfall, of many rows as a swarm for each table."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from weigh import engine
from weigh.arrays import Floats, Integers
from weigh.bins import printable
from weigh.evidence import (
    Evidence,
    FeatureTable,
    check_model,
    evidence_of,
    hundredths,
    with_labels,
)
from weigh.frames import Table
from weigh.parameters import check_count
from weigh.plot.axes import (
    NARROW,
    PART,
    TOTAL,
    Display,
    Name,
    colour_sides,
    fit_all,
    inches,
    set_names,
    spell_tick,
    wrap,
)
from weigh.plot.selection import after, ask
from weigh.sheet import BalanceSheet, find_class, probabilities, tell_not_known

MOST_ROWS = 2000
"""Maximum number of points per table; with more rows, an evenly spaced subset is drawn."""

SLICES, WIDE, SWARM = 80, 8.0, 0.42
"""Number of slices of the axis in which points are spread, width in inches, and half-width of a
swarm.
"""

UNORDERED = "#8C8C8C"


class ContributionsDisplay(Display):
    """Contribution of each table to the totals of many rows: one point for each row.

    Tables are sorted by importance in these rows: the mean distance of a row's weight from the
    table's mean weight. A point is the weight of the row's level, times 100. Its colour shows the
    value of a numeric feature, from light (low) to dark (high); categories and missing values are
    grey.

    Parameters
    ----------
    evidence : Evidence
        `evidence_` of a model.
    table : Table
        The rows, as the model reads them.
    n : int, default=10
        Number of tables to draw, the most important first.
    pos_label, against : label, optional
        Positive class, and the class it is compared with. Required for more than two classes.
    labels : dict, optional
        Your names of columns, levels and classes, as in `report`.

    Attributes
    ----------
    names_ : list of str
        The tables, from top to bottom.
    weights_ : ndarray of shape (n_rows, n)
        The weight of each row and table, times 100; of amounts in the unit of the target.

    Examples
    --------
    >>> from weigh import ContributionsDisplay, EvidenceNB
    >>> from weigh.datasets import titanic
    >>> model = EvidenceNB().fit(titanic(), "Survived")
    >>> display = ContributionsDisplay.from_estimator(model, titanic())
    >>> display.names_
    ['Sex', 'Class', 'Age']
    """

    def __init__(
        self,
        evidence: Evidence,
        table: Table,
        *,
        n: int = 10,
        pos_label: Any = None,
        against: Any = None,
        labels: Any = None,
    ) -> None:
        check_count("n", n)
        self.evidence = with_labels(evidence_of(evidence, numbers=True), labels)
        self.question = ask(self.evidence, pos_label, against)
        if len(self.question.signs) > 1:
            raise ValueError(
                f"the model has {len(self.evidence.classes)} classes; name the one that positive "
                "weights favour with pos_label"
            )
        if self.evidence.event_model == "counts":
            raise ValueError("a model of documents has one table; draw its EvidenceDisplay")
        placed = engine.place(table, [part.feature for part in self.evidence.scored])
        levels = [part.levels[part.codes] for part in placed]
        weights = [
            self.question.scale * np.append(self.question.weights(t)[:, 0], 0.0)[at]
            for t, at in zip(self.evidence.scored, levels, strict=True)
        ]
        matters = [float(np.abs(w - w.mean()).mean()) for w in weights]
        self._chosen = np.argsort(-np.array(matters), kind="stable")[:n].tolist()
        self.names_ = [self.evidence[j].shown for j in self._chosen]
        self.weights_ = np.column_stack([weights[j] for j in self._chosen])
        self._levels = [levels[j] for j in self._chosen]

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, ax: Any = None, **choice: Any) -> Self:
        """Draw the contributions to the rows of a table; other arguments are those of the class."""
        evidence = evidence_of(model, numbers=True)
        return cls(evidence, model._read(X), **choice).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return WIDE, 1.3 + 0.42 * len(self.names_)

    def _draw(self, ax: Any) -> None:
        width, _ = inches(ax)
        n = len(self.weights_)  # an evenly spaced subset of the rows, or all if they are few
        rows = np.unique(np.linspace(0, max(n - 1, 0), min(n, MOST_ROWS)).astype(np.intp))
        low, high = float(self.weights_.min()), float(self.weights_.max())
        margin = 0.03 * (high - low) + 0.5 * self.question.step
        ax.axvline(0, color=TOTAL, linewidth=0.8, zorder=1)
        for place, levels in enumerate(self._levels):
            weights = self.weights_[rows, place]
            offset = _spread(weights, low - margin, high + margin)
            colours = _colours(self.evidence.scored[self._chosen[place]], levels[rows])
            ax.scatter(weights, place + offset, c=colours, s=7, linewidth=0, zorder=3)
        names = fit_all(self.names_, 10, 0.3 * width)
        ax.set_yticks(range(len(names)), names, parse_math=False)
        ax.tick_params(axis="y", length=0)
        if self.evidence.estimates:  # weights in the unit of the target may be large
            ax.xaxis.set_major_formatter(spell_tick)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_xlim(low - margin, high + margin)
        ax.set_xlabel(self._words(len(rows), 0.65 * width), fontsize="small", parse_math=False)

    def _words(self, n: int, width: float) -> str:
        total, tables = len(self.weights_), len(self.evidence)
        shown = f"{n:,} of {total:,} rows" if n < total else f"{total:,} rows"
        some = f"; {len(self.names_)} of {tables} tables" if len(self.names_) < tables else ""
        about = self.question.words
        key = f"One point for each row ({shown}{some}); light is a low number, dark a high one."
        return "\n".join(wrap(text, width) for text in (about, key, after(self.evidence)) if text)


def _spread(weights: Floats, low: float, high: float) -> Floats:
    """The vertical offset of each point, so that points of about the same weight do not overlap."""
    part = np.minimum(((weights - low) / (high - low) * SLICES).astype(np.intp), SLICES - 1)
    order = np.argsort(part, kind="stable")
    counts = np.bincount(part, minlength=SLICES)
    rank = np.empty(len(part))
    rank[order] = np.arange(len(part)) - np.repeat(np.cumsum(counts) - counts, counts)
    side = np.where(rank % 2 == 0, 1.0, -1.0) * ((rank + 1) // 2)
    return np.asarray(side / max(float(counts.max(initial=1)), 12.0) * 2 * SWARM)


def _colours(table: FeatureTable, levels: Integers) -> Any:
    """Colours from light to dark along the bins of a number; grey for levels without an order."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    ramp = LinearSegmentedColormap.from_list("height", ["#F0C890", "#0072B2", "#08204A"])
    feature, colours = table.feature, np.tile(to_rgba(UNORDERED), (len(levels), 1))
    if feature.cuts:
        n = len(feature.cuts) + 1
        below = np.concatenate([[0.0], np.cumsum(table.share[:n])])
        height = (below[:-1] + below[1:]) / (2 * max(below[-1], 1e-12))
        known = levels < n
        colours[known] = ramp(height[levels[known]])
    return colours


SMALL = 0.005
"""Weights below this are rounded to 0. If there are several, they share a bar."""

LEAST = 0.17
"""The minimum height of a bar, in inches."""


class BalanceSheetDisplay(Display):
    """A balance sheet as a waterfall from the prior to the total.

    Parameters
    ----------
    sheet : BalanceSheet
        The case to draw.
    max_items : int, optional
        Largest number of items with their own bar, the heaviest first; the rest share one. Default:
        all but those whose weight is rounded to 0. On small axes fewer fit.
    adverse : label, optional
        The class whose evidence is vermilion instead of blue. Default: the class that positive
        weights oppose.
    """

    def __init__(
        self, sheet: BalanceSheet, *, max_items: int | None = None, adverse: Any = None
    ) -> None:
        if not isinstance(sheet, BalanceSheet):
            raise TypeError(
                f"a waterfall draws the BalanceSheet of classes, not {type(sheet).__name__}"
            )
        if max_items is not None:
            check_count("max_items", max_items, 0)
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
        check_model(model)
        sheet = model.balance_sheet(row, **choice)
        return cls(sheet, max_items=max_items, adverse=adverse).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 8.0, 1.2 + 0.32 * (len(self._bars(self._wanted)[0]) + 1)

    def _draw(self, ax: Any) -> None:
        names, weights = self._bars(self._most(ax))
        starts = np.cumsum([0.0, *weights[:-1]])
        places = np.arange(len(names))
        colours = [self.colours[int(weight < 0)] for weight in weights]
        ax.barh(places, weights, left=starts, color=colours, height=0.7)
        ax.barh(len(names), 100 * self.sheet.total, color=TOTAL, height=0.7)
        self._label(ax, names, starts + weights, weights)

    def _most(self, ax: Any) -> int:
        """The number of items with a bar: those wanted, or as many as fit."""
        others = len(self._bars(0)[0]) + 1  # prior, rest, total and adjustments
        fit = max(int((inches(ax)[1] - 0.9) / LEAST) - others, 1)
        return min(fit, self._wanted)

    @property
    def _wanted(self) -> int:
        """The number of items with a bar: `max_items`, or all but those that are rounded to 0."""
        if self.max_items is not None:
            return self.max_items
        sizes = [abs(item.weight) for item in self.sheet.items if item.weight]
        small = sum(size < SMALL for size in sizes)
        return len(sizes) - (small if small > 1 else 0)

    def _bars(self, most: int) -> tuple[list[Name], np.ndarray[Any, Any]]:
        items = sorted(self.sheet.items, key=lambda item: -abs(item.weight))
        items = [item for item in items if item.weight]
        own, rest = items[:most], items[most:]
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
        if rule is None or (rule.form == "known" and not rule.n):
            return []
        step = self.sheet.recalibration
        change = (self.sheet.total if step is None else step.before) - rule.shift - rule.before
        if rule.form == "known":
            return [(f"Factor {rule.exponent:.3g}, {rule.n:.0%} not known", change)]
        bars = [(f"Exponent {rule.exponent:.3g}, {rule.n:g} {rule.unit}", change)]
        return [*bars, ("Change of the base rate", rule.shift)] if rule.shift else bars

    def _recalibration(self) -> list[tuple[str, float]]:
        """Bars of the recalibration, from the total before it to the final one."""
        step = self.sheet.recalibration
        if step is None:
            return []
        bars = [(f"Recalibration ({step.method})", step.after - step.before)]
        return [*bars, ("Change of the base rate", step.shift)] if step.shift else bars

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
        of = printable(self.sheet.question)
        chance, *ends = probabilities(self.sheet.probability, *(self.sheet.interval or ()))
        if ends:
            chance += f" ({' to '.join(ends)})"
        wide = width > NARROW
        per_inch = 12 if wide else 14
        about = wrap(f"Weight of evidence for {of}, times 100", width, per_inch)
        blank = printable(tell_not_known(self.sheet))
        about += f"\n{wrap(blank, width, per_inch)}" if blank else ""
        name = printable(self.sheet.probability_name)
        title = wrap(f"{name}: {chance}", width, 10 if wide else 14)
        ax.set_xlabel(about, fontsize="medium" if wide else "small", parse_math=False)
        ax.set_title(title, fontsize="large" if wide else "small", parse_math=False)
