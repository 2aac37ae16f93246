"""The weights of evidence of features, as panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from weigh.evidence import Evidence, evidence_of
from weigh.plot.axes import OKABE_ITO, Display, inches
from weigh.plot.choose import after, choose
from weigh.plot.labels import legend_name, shorten, shorten_all, wrap
from weigh.plot.panels import MOST_LEVELS, Panel, Room, draw_grid, draw_levels, limits_of, panel_of
from weigh.plot.question import ask
from weigh.sheet import COVERAGE

NARROWEST, HEAD, LINE = 2.7, 0.3, 0.16
"""Inches: the width of a panel, the height of a legend, that of a line of small text."""

TITLE: dict[str, Any] = {"fontsize": "medium", "parse_math": False}
ROOMY, TIGHT = (0.6, 0.21), (0.5, 0.15)
"""Inches of a panel's frame and of each of its levels: on a new figure, and at the least."""


class EvidenceDisplay(Display):
    """The weights of evidence of one feature or of many, level by level, with their intervals.

    A point is a weight times 100, a line through it its 90% interval (where the learner has
    errors), a grey bar the level's share of the rows. Intervals of numbers are joined by steps; two
    features joined into one are a heat map. Rare levels that lie far out are arrows at the edge.

    Parameters
    ----------
    evidence : Evidence
        `evidence_` of a model.
    features : str or list of str, optional
        The features to draw, in this order.
    sort : "spread", "information_value" or None, default="spread"
        Which features come first, where `features` does not say: those whose weights vary most over
        the training rows, those of the highest information value, or the first of the table.
    max_features : int, default=12
        How many to draw, where `features` does not say. On axes too small for them, fewer.
    pos_label, against : label, optional
        The class that positive weights speak for, and its rival. By default `classes[1]` of two; of
        more, a line for each.

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
        sort: str | None = "spread",
        max_features: int = 12,
        pos_label: Any = None,
        against: Any = None,
    ) -> None:
        self.evidence = evidence_of(evidence, numbers=True)
        self.question = ask(self.evidence, pos_label, against)
        self.choice = choose(self.evidence, self.question, features, sort, max_features)
        self.panels = [panel_of(table, self.question) for table in self.choice.drawn]

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None, **choice: Any) -> Self:
        """Draw the evidence of a fitted model; the other arguments are those of the class."""
        return cls(evidence_of(model, numbers=True), **choice).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        n = _columns(len(self.panels))
        if n == 1:
            legend = HEAD if len(self.question.names) > 1 else 0
            return 6.4, 1.4 + legend + 0.26 * max(self.panels[0].n_rows, 2)
        return 3.5 * n, _pack(self.panels, n, ROOMY).height + HEAD + 3 * LINE

    def _draw(self, ax: Any) -> None:
        width, height = inches(ax)
        n = min(len(self.panels), max(int(width / NARROWEST), 1))
        self.panels_ = self._that_fit(n, height)
        if len(self.panels_) == 1:
            self._draw_one(ax, width, height)
        else:
            self._draw_many(ax, min(n, len(self.panels_)), width, height)

    def _draw_one(self, ax: Any, width: float, height: float) -> None:
        legend = HEAD if len(self.question.names) > 1 else 0
        words = self._words(0.8 * width)  # labels of levels take some
        inner = height - 0.5 - legend - LINE * len(words.splitlines())
        most = min(max(int(inner / TIGHT[1]), 5), MOST_LEVELS)
        self.panels_ = [panel_of(self.choice.drawn[0], self.question, most)]
        self.axes_ = [ax]
        ax.set_xlabel(words, fontsize="small", parse_math=False)
        ax.set_title(shorten(self.panels_[0].name, int(10 * width)), **TITLE, loc="left")
        self._draw_panels([Room(width, inner, max(int(5 * width), 16))])
        if legend:
            n_lines = self._name_classes(ax, width, loc="lower left", bbox_to_anchor=(0, 1))
            ax.set_title(ax.get_title(loc="left"), **TITLE, loc="left", pad=6 + 14 * n_lines)

    def _draw_many(self, ax: Any, n: int, width: float, height: float) -> None:
        words, packed = self._words(width), _pack(self.panels_, n, ROOMY)
        head = HEAD if len(self.question.names) > 1 else 0.01
        foot = LINE * len(words.splitlines())
        top, self.axes_ = self._split(ax, packed, [head, packed.height, foot], words)
        names = shorten_all([panel.name for panel in self.panels_], int(12 * width / n))
        for axes, name in zip(self.axes_, names, strict=True):
            axes.set_title(name, **TITLE, loc="right")
            axes.spines[["top", "right"]].set_visible(False)
        scale = (height - head - foot) / packed.height
        sizes = [scale * packed.columns[j][i] - ROOMY[0] for j, i in packed.places]
        self._draw_panels([Room(width / n, size, 18) for size in sizes])
        if len(self.question.names) > 1:
            self._name_classes(top, width, loc="center")

    def _that_fit(self, n: int, height: float) -> list[Panel]:
        """As many panels as the axes have room for; those asked for by name in any case."""
        kept = self.panels
        while len(kept) > 1 and not self.choice.by_name:
            if _pack(kept, n, TIGHT).height + 3 * LINE <= height:
                break
            kept = kept[:-1]
        return kept

    def _split(
        self, ax: Any, packed: _Packed, ratios: list[float], words: str
    ) -> tuple[Any, list[Any]]:
        """Axes for a legend, and one for each panel, in the place of one axes; words below."""
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
        cells = packed.cells(bands[1], **_gaps(figure))
        return top, [figure.add_subplot(cell) for cell in cells]

    def _draw_panels(self, rooms: list[Room]) -> None:
        limits = limits_of(self.panels_)
        for panel, ax, room in zip(self.panels_, self.axes_, rooms, strict=True):
            draw = draw_grid if panel.is_grid else draw_levels
            draw(ax, panel, limits, room)

    def _words(self, width: float) -> str:
        """What points, lines and bars are, what is left out, and what becomes of the weights."""
        remainder = self.choice.first(len(self.panels_)).remainder
        parts = [remainder] if width < 4 and not self.evidence.caveat else [*self._key(), remainder]
        about = f"Weight of evidence for {self.question.about}, times 100"
        notes = "; ".join(filter(None, parts))
        texts = [about, notes and f"{notes[0].upper()}{notes[1:]}.", after(self.evidence)]
        return "\n".join(wrap(text, width) for text in texts if text)

    def _key(self) -> list[str]:
        """What lines, bars and numbers are; small axes leave it to the documentation."""
        exact = f"{COVERAGE:.0%} interval{self.evidence.caveat}"
        levels, grids = ([p for p in self.panels_ if p.is_grid == grid] for grid in (False, True))
        return [
            f"a line is the {exact}" if any(p.half is not None for p in levels) else "",
            "grey bars are shares of the rows" if levels else "",
            f"± is half of the {exact}" if any(p.half is not None for p in grids) else "",
        ]

    def _name_classes(self, ax: Any, width: float, **place: Any) -> int:
        """A legend of so many lines as it returns."""
        from matplotlib.lines import Line2D

        names = [legend_name(name, 20) for name in self.question.names]
        handles = [
            Line2D([], [], marker="o", linestyle="", color=colour, label=name)
            for name, colour in zip(names, OKABE_ITO, strict=False)
        ]
        n = min(len(names), max(int(10 * width / (max(map(len, names)) + 4)), 1))
        look = {"ncols": n, "frameon": False, "fontsize": "small", "borderaxespad": 0.2}
        for text in ax.legend(handles=handles, **look, **place).get_texts():
            text.set_parse_math(False)
        return -(-len(names) // n)


def _columns(n_panels: int) -> int:
    return {1: 1, 2: 2, 4: 2}.get(n_panels, 3)


@dataclass(frozen=True)
class _Packed:
    """Panels in columns: for each the column and its place there; and the columns' heights."""

    places: list[tuple[int, int]]
    columns: list[list[float]]

    @property
    def height(self) -> float:
        """Of the highest column."""
        return max(map(sum, self.columns))

    def cells(self, place: Any, wspace: Any = None, hspace: Any = None) -> list[Any]:
        """Where the panels go in a grid's cell; shorter columns end higher up."""
        grids = place.subgridspec(1, len(self.columns), wspace=wspace)
        cells = []
        for j, heights in enumerate(self.columns):
            rest = max(self.height - sum(heights), 1e-3)
            ratios = [*heights, rest]
            cells.append(grids[j].subgridspec(len(ratios), 1, height_ratios=ratios, hspace=hspace))
        return [cells[j][i] for j, i in self.places]


def _pack(panels: list[Panel], n: int, room: tuple[float, float]) -> _Packed:
    """Each panel in order into the column that is the shortest so far."""
    places: list[tuple[int, int]] = []
    columns: list[list[float]] = [[] for _ in range(n)]
    for panel in panels:
        j = min(range(n), key=lambda j: sum(columns[j]))
        places.append((j, len(columns[j])))
        columns[j].append(room[0] + room[1] * max(2, panel.n_rows))
    return _Packed(places, columns)


def _gaps(figure: Any) -> dict[str, float]:
    """Room for labels between panels, where the figure does not make it by itself."""
    return {"hspace": 0.8, "wspace": 0.8} if figure.get_layout_engine() is None else {}
