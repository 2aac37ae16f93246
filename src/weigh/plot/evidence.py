"""The weights of evidence of features, as panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from weigh.evidence import Evidence, evidence_of, with_labels
from weigh.plot.axes import (
    OKABE_ITO,
    Display,
    colour_sides,
    inches,
    legend_name,
    set_legend,
    shorten,
    shorten_all,
    wrap,
)
from weigh.plot.panels import draw_levels, draw_map, draw_steps
from weigh.plot.selection import (
    LABEL,
    MOST_LEVELS,
    ORDERS,
    Panel,
    Room,
    after,
    ask,
    choose,
    largest_of_maps,
    limits_of,
    panel_of,
)
from weigh.sheet import COVERAGE, find_class

CELL, LEAST = (3.6, 2.6), (2.7, 1.6)
"""Width and height of a panel in inches: on a new figure, and the minimum."""

HEAD, LINE, FRAME = 0.3, 0.17, 0.75
"""Inches: the height of a legend, of a line of small text, and of title and labels of a panel."""

TITLE: dict[str, Any] = {"fontsize": "medium", "parse_math": False}


class EvidenceDisplay(Display):
    """The weights of evidence of the most important tables, each on a panel of its own.

    A numeric feature is a step line with the 90% band of each weight (if the learner has errors)
    and the distribution of the training rows below; special codes and missing are beside the axis.
    Categories are bars with intervals, and their share of the rows at the right. A pair of features
    is a heat map: cells whose interval includes zero are grey, and cells without rows are hatched.
    The heat maps of a figure share one colour scale. Weights are times 100. Rare levels with
    extreme weights are arrows at the edge. If not all levels fit, the most common are drawn; of
    documents, the tokens that tell the classes apart.

    Parameters
    ----------
    evidence : Evidence
        `evidence_` of a model.
    features : str or list of str, optional
        The tables to draw, in this order.
    sort : "importance", "information_value" or None, default="importance"
        Order of the tables without `features`: by importance (the mean distance of a training row's
        weight from the table's mean weight), by information value, or as in the model.
    n : int, default=6
        Number of tables to draw without `features`. On small axes fewer fit.
    level_order : "weight" or "own", default="weight"
        Categories by their weight, or in the order of the table.
    pos_label, against : label, optional
        Positive class, and the class it is compared with. Default: `classes[1]` of two; with more
        classes, a line for each.
    adverse : label, optional
        The class whose evidence is vermilion instead of blue. Default: the class that positive
        weights oppose.
    labels : dict, optional
        Your names of columns, levels and classes, as in `report`.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        Those of the panels, in order.
    panels_ : list of Panel
        What they show.

    Examples
    --------
    >>> from weigh import EvidenceDisplay, EvidenceNB
    >>> from weigh.datasets import titanic
    >>> model = EvidenceNB().fit(titanic(), "Survived")
    >>> display = EvidenceDisplay(model.evidence_, features="Sex")
    >>> display.panels[0].weights.ravel().round()
    array([174., -57.])
    """

    axes_: list[Any]
    panels_: list[Panel]

    def __init__(
        self,
        evidence: Evidence,
        *,
        features: str | Sequence[str] | None = None,
        sort: str | None = "importance",
        n: int = 6,
        level_order: str = "weight",
        pos_label: Any = None,
        against: Any = None,
        adverse: Any = None,
        labels: Any = None,
    ) -> None:
        if level_order not in ORDERS:
            raise ValueError(f"level_order must be 'weight' or 'own', got {level_order!r}")
        self.evidence = with_labels(evidence_of(evidence, numbers=True), labels)
        self.question = ask(self.evidence, pos_label, against)
        self.level_order = level_order
        self.colours = colour_sides(self._favours(adverse))
        self.choice = choose(self.evidence, self.question, features, sort, n, "n")
        self.panels = [self._panel(i, MOST_LEVELS) for i in range(len(self.choice.drawn))]

    def _favours(self, adverse: Any) -> bool:
        """Whether positive weights favour the adverse class."""
        if adverse is None:
            return False
        k = find_class(self.evidence.classes.tolist(), adverse, role="adverse")
        signs = np.sign(self.question.scale) * self.question.signs[0]
        return bool((signs[k] if len(signs) > 1 else signs[0] * (2 * k - 1)) > 0)

    def _panel(self, i: int, most: int) -> Panel:
        panel = panel_of(self.choice.drawn[i], self.question, most, self.level_order)
        return replace(panel, colours=self.colours)

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None, **choice: Any) -> Self:
        """Draw the evidence of a fitted model; the other arguments are those of the class."""
        return cls(evidence_of(model, numbers=True), **choice).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        n = len(self.panels)
        columns, head = _columns(n), HEAD if len(self.question.names) > 1 else 0
        if n > 1:
            return CELL[0] * columns, CELL[1] * -(-n // columns) + head + 4 * LINE
        panel = self.panels[0]
        if panel.is_grid and panel.cross is not None:
            return 6.4, max(1.8 + 0.38 * len(panel.cross.parts[0].levels), 2.6)
        return 6.4, 3.6 if panel.axis else 1.6 + head + 0.25 * max(len(panel.labels), 3)

    def _draw(self, ax: Any) -> None:
        width, height = inches(ax)
        columns = min(_columns(len(self.panels)), max(int(width / LEAST[0]), 1))
        self.panels_ = self.panels[: self._that_fit(columns, height)]
        if len(self.panels_) == 1:
            self._draw_one(ax, width, height)
        else:
            self._draw_many(ax, min(columns, len(self.panels_)), width, height)

    def _that_fit(self, columns: int, height: float) -> int:
        """The number of panels that fit on the axes; all of them if `features` names them."""
        if self.choice.by_name:
            return len(self.panels)
        return max(columns * int((height - 3 * LINE) / LEAST[1]), 1)

    def _draw_one(self, ax: Any, width: float, height: float) -> None:
        legend = HEAD if len(self.question.names) > 1 else 0
        words = self._words(0.8 * width)  # labels of levels take the rest
        inner = height - 0.5 - legend - LINE * len(words.splitlines())
        self.panels_, self.axes_ = [self._panel(0, _levels_in(inner))], [ax]
        self._draw_panels([Room(width, inner, max(int(5 * width), 16))])
        name = ax.get_xlabel()  # the second feature of a pair
        ax.set_xlabel("\n".join(filter(None, (name, words))), fontsize="small", parse_math=False)
        ax.set_title(shorten(self.panels_[0].name, int(10 * width)), **TITLE, loc="left")
        if legend:
            n_lines = self._name_classes(ax, width, loc="lower left", bbox_to_anchor=(0, 1))
            ax.set_title(ax.get_title(loc="left"), **TITLE, loc="left", pad=6 + 14 * n_lines)

    def _draw_many(self, ax: Any, columns: int, width: float, height: float) -> None:
        words, rows = self._words(width), -(-len(self.panels_) // columns)
        head = HEAD if len(self.question.names) > 1 else 0.01
        foot = LINE * len(words.splitlines()) + 0.05
        inner = max((height - head - foot) / rows - FRAME, 0.5)
        self.panels_ = [self._panel(i, _levels_in(inner)) for i in range(len(self.panels_))]
        shape = (rows, columns)
        top, self.axes_ = self._split(ax, shape, [head, height - head - foot, foot], words)
        per_inch = 7 if any(panel.is_grid for panel in self.panels_) else 9  # maps have more labels
        names = _titles(self.panels_, int(per_inch * width / columns))
        for axes, name in zip(self.axes_, names, strict=True):
            axes.set_title(name, **TITLE, loc="left")
            axes.spines[["top", "right"]].set_visible(False)
        self._draw_panels([Room(width / columns, inner, 16)] * len(self.panels_))
        if len(self.question.names) > 1:
            self._name_classes(top, width, loc="center")

    def _split(
        self, ax: Any, shape: tuple[int, int], ratios: list[float], words: str
    ) -> tuple[Any, list[Any]]:
        """Replace one axes by one for a legend and one for each panel, with a text below."""
        place, figure = ax.get_subplotspec(), ax.figure
        if place is None:
            raise ValueError(
                f"{len(self.panels_)} features need axes that can be divided, made by subplots; "
                "these have no place in a grid (or draw one feature: features='name')"
            )
        ax.set_axis_off()
        bands = place.subgridspec(3, 1, height_ratios=ratios)
        top, foot = (figure.add_subplot(bands[i], frame_on=False) for i in (0, 2))
        for band in (top, foot):
            band.set_axis_off()
        look = {"ha": "center", "va": "center", "fontsize": "small", "parse_math": False}
        foot.text(0.5, 0.5, words, **look)
        alone = figure.get_layout_engine() is None  # then labels need space between panels
        gaps = {"hspace": 0.6, "wspace": 0.6} if alone else {}
        grid = bands[1].subgridspec(*shape, **gaps)
        return top, [figure.add_subplot(grid[i]) for i in range(len(self.panels_))]

    def _draw_panels(self, rooms: list[Room]) -> None:
        limits, far = limits_of(self.panels_), largest_of_maps(self.panels_)
        for panel, ax, room in zip(self.panels_, self.axes_, rooms, strict=True):
            if panel.is_grid:
                draw_map(ax, panel, far, room)
            else:
                (draw_steps if panel.axis else draw_levels)(ax, panel, limits, room)

    def _words(self, width: float) -> str:
        """The text below the panels: what is drawn, what is left out, adjustments of totals."""
        remainder = self.choice.first(len(self.panels_)).remainder
        parts = [remainder] if width < 4 and not self.evidence.caveat else [*self._key(), remainder]
        about = self.question.words
        notes = "; ".join(filter(None, parts))
        texts = [about, notes and f"{notes[0].upper()}{notes[1:]}.", after(self.evidence)]
        return "\n".join(wrap(text, width) for text in texts if text)

    def _key(self) -> list[str]:
        """The meaning of lines, bars and numbers; not shown on small axes."""
        exact, caveat = f"the {COVERAGE:.0%} interval", self.evidence.caveat
        levels, grids = ([p for p in self.panels_ if p.is_grid == grid] for grid in (False, True))
        known = any(p.half is not None for p in self.panels_)
        shown = known and grids
        unit = "tokens" if any(p.tokens for p in levels) else "rows"
        bands = any(p.axis for p in levels)
        points = any(p.n_intervals < len(p.labels) for p in levels)
        marks = ["the band"] * bands + ["the line through a point"] * points
        return [
            f"{exact} is {' or '.join(marks)}{caveat}" if known and levels else "",
            f"areas of grey bars are shares of the {unit}" if levels else "",
            f"grey cells: {exact} includes 0{caveat} (± is half its width)" if shown else "",
            "hatched cells: no rows" if any(p.has_gaps for p in grids) else "",
        ]

    def _name_classes(self, ax: Any, width: float, **place: Any) -> int:
        """Draw a legend of the classes; return its number of lines."""
        from matplotlib.lines import Line2D

        names = [legend_name(name, 20) for name in self.question.names]
        handles = [
            Line2D([], [], marker="o", linestyle="", color=colour, label=name)
            for name, colour in zip(names, OKABE_ITO, strict=False)
        ]
        n = min(len(names), max(int(10 * width / (max(map(len, names)) + 4)), 1))
        look = {"ncols": n, "fontsize": "small", "borderaxespad": 0.2}
        set_legend(ax, handles=handles, **look, **place)
        return -(-len(names) // n)


def _columns(n_panels: int) -> int:
    return {1: 1, 2: 2, 4: 2}.get(n_panels, 3)


def _titles(panels: Sequence[Panel], most: int) -> list[str]:
    """Names of the tables, shortened; of a pair that is too long, each name by itself."""
    pairs = {p.name: p.cross.parts for p in panels if p.cross is not None and len(p.name) > most}
    parts = [part.shown for both in pairs.values() for part in both]
    half = iter(shorten_all(parts, (most - 3) // 2))
    own = iter(shorten_all([p.name for p in panels if p.name not in pairs], most))
    return [f"{next(half)} & {next(half)}" if p.name in pairs else next(own) for p in panels]


def _levels_in(height: float) -> int:
    """The number of levels that fit below each other, with a line that counts the others."""
    return min(max(int(height / LABEL) - 1, 5), MOST_LEVELS)
