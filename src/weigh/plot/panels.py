"""One feature's weights as a panel: levels in their order, or a heat map of two features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from weigh.bins import Cross, Interval
from weigh.evidence import FeatureTable, hundredths
from weigh.frames import Floats, Integers
from weigh.plot.axes import AGAINST, FAINT, FOR, OKABE_ITO, TOTAL
from weigh.plot.labels import brief_labels, shorten_all
from weigh.plot.question import Question
from weigh.plot.reach import ALLOWED, usual_weights
from weigh.sheet import COVERAGE

FULL = 0.4
"""The part of a panel that the grey bar of all rows would fill."""

MOST_LEVELS = 30
LETTER, LABEL = 0.065, 0.12
"""Inches of a small letter, and of the height of a label with air."""

REACH = float(ndtri((1 + COVERAGE) / 2))


@dataclass(frozen=True, eq=False)
class Panel:
    """The levels of a feature that occur, in order; weights and intervals are times 100.

    `half` is half of the interval's length, by level and line. The first `n_intervals` levels are
    neighbours on one scale.
    """

    name: str
    labels: tuple[str, ...]
    weights: Floats
    half: Floats | None
    share: Floats
    n_intervals: int
    left_out: int
    cross: Cross | None
    places: Integers

    @property
    def is_grid(self) -> bool:
        """Whether it is drawn as a heat map: two features, and one line of weights."""
        return self.cross is not None and self.weights.shape[1] == 1

    @property
    def n_rows(self) -> int:
        """How many lines of text it is high."""
        if self.is_grid and self.cross is not None:
            return len(self.cross.parts[0].levels) + 2
        n = len(self.labels) + (self.left_out > 0)
        return round(n * (0.75 + 0.25 * int(self.weights.shape[1])))


@dataclass(frozen=True)
class Room:
    """What a panel has room for: the inches that it takes in all, and the letters of a label."""

    width: float
    height: float
    letters: int

    def left_of(self, labels: Sequence[str]) -> float:
        """The width that labels beside the axes leave."""
        return self.width - LETTER * max(map(len, labels)) - 0.1


def panel_of(table: FeatureTable, question: Question, most: int = MOST_LEVELS) -> Panel:
    """The levels to draw: all intervals, and of too many categories those with the most rows."""
    share, feature = table.share, table.feature
    places = np.flatnonzero(share > 0)
    is_interval = np.array([isinstance(level, Interval) for level in table.levels], dtype=bool)
    single = isinstance(feature, Cross) and len(question.signs) == 1
    kept = places if single else _most_rows(places, share, is_interval, most)
    errors = question.errors(table)
    known = errors is not None and bool(np.isfinite(errors[kept]).any())
    return Panel(
        name=f"{table.name} ({table.note})" if table.note else table.name,
        labels=tuple(brief_labels(feature)[i] for i in kept),
        weights=100 * question.weights(table)[kept],
        half=100 * REACH * errors[kept] if known and errors is not None else None,
        share=share[kept],
        n_intervals=int(is_interval[kept].sum()),
        left_out=len(places) - len(kept),
        cross=feature if isinstance(feature, Cross) else None,
        places=kept,
    )


def _most_rows(places: Integers, share: Floats, is_interval: Any, most: int) -> Integers:
    free = places[~is_interval[places]]
    if len(free) <= most:
        return places
    kept = free[np.argsort(-share[free], kind="stable")[:most]]
    return np.sort(np.concatenate([places[is_interval[places]], kept]))


def limits_of(panels: list[Panel]) -> tuple[float, float]:
    """The axis that panels share: around what most rows have, and not much further for the rest."""
    lines = [(line, panel.share) for panel in panels for line in panel.weights.T]
    usual = np.concatenate([[0.0], *(usual_weights(*line) for line in lines)])
    ends = np.concatenate([[0.0], *(_ends(panel) for panel in panels)])
    more = max(0.5 * float(np.ptp(usual)), 100 * ALLOWED)
    low, high = max(ends.min(), usual.min() - more), min(ends.max(), usual.max() + more)
    margin = 0.04 * (high - low) + 0.5
    return float(low - margin), float(high + margin)


def _ends(panel: Panel) -> Floats:
    half = 0.0 if panel.half is None else np.nan_to_num(panel.half)
    return np.concatenate([(panel.weights - half).ravel(), (panel.weights + half).ravel()])


# ---------------------------------------------------------------- levels


def draw_levels(ax: Any, panel: Panel, limits: tuple[float, float], room: Room) -> None:
    """Points at the weights with their intervals; grey bars are shares of the rows."""
    n, n_lines = panel.weights.shape
    across = ax.get_yaxis_transform()
    ax.barh(np.arange(n), FULL * panel.share, height=0.84, color=FAINT, transform=across, zorder=0)
    ax.axvline(0, color=TOTAL, linewidth=0.8, zorder=1)
    for k in range(n_lines):
        offset = (k - (n_lines - 1) / 2) * 0.7 / n_lines
        line = np.where(panel.weights[:, 0] >= 0, FOR, AGAINST)
        colours = line if n_lines == 1 else np.full(n, OKABE_ITO[k])
        _draw_line(ax, panel, k, np.arange(n) + offset, colours, limits)
    ax.set_xlim(*limits)
    ax.set_ylim(n - 0.5, -0.5)
    _label_levels(ax, panel, room)
    if panel.left_out:
        _state_rest(ax, panel)


def _draw_line(
    ax: Any, panel: Panel, k: int, places: Floats, colours: Any, edges: tuple[float, float]
) -> None:
    weights, n = panel.weights[:, k], panel.n_intervals
    if n > 1:
        steps = np.repeat(np.arange(n), 2) + np.tile([-0.5, 0.5], n)
        colour = TOTAL if panel.weights.shape[1] == 1 else colours[0]
        ax.plot(np.repeat(weights[:n], 2), steps, color=colour, linewidth=0.8, zorder=2)
    inside = (weights >= edges[0]) & (weights <= edges[1])
    if panel.half is not None:
        half = np.nan_to_num(panel.half[:, k])
        ends = weights - half, weights + half
        ax.hlines(places, *ends, colors=colours, linewidth=1.4, zorder=3)
        gone = inside & (ends[0] < edges[0]), inside & (ends[1] > edges[1])
        for edge, beyond, mark in zip(edges, gone, "<>", strict=True):
            at, look = np.full(int(beyond.sum()), edge), {"s": 12, "marker": mark, "zorder": 3}
            ax.scatter(at, places[beyond], c=colours[beyond], **look)
    size = 22 if panel.weights.shape[1] == 1 else 12
    ax.scatter(weights[inside], places[inside], c=colours[inside], s=size, zorder=4)
    for i in np.flatnonzero(~inside):
        _point_beyond(ax, weights[i], places[i], colours[i], edges)


def _point_beyond(ax: Any, weight: float, place: float, colour: Any, edges: Any) -> None:
    """A weight too far out for the axis: an arrow at its edge, and the number."""
    right, text = weight > 0, hundredths(weight / 100)
    ax.annotate(
        f"{text} ▶" if right else f"◀ {text}",
        (edges[1] if right else edges[0], place),
        xytext=(-2 if right else 2, 0),
        textcoords="offset points",
        ha="right" if right else "left",
        va="center",
        fontsize="x-small",
        color=str(colour),
        bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5},
        zorder=5,
    )


def _label_levels(ax: Any, panel: Panel, room: Room) -> None:
    """All categories, and as many intervals as there is room for."""
    names = shorten_all(panel.labels, room.letters)
    shown = _every(len(names), room.height) if panel.n_intervals else range(len(names))
    ax.set_yticks(shown, [names[i] for i in shown], fontsize="small", parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize="small")


def _every(n: int, inches: float) -> range:
    """All of n places, or every other or so."""
    return range(0, n, -(-n // max(int(inches / LABEL), 2)))


def _state_rest(ax: Any, panel: Panel) -> None:
    """Below the last level, how many there are besides."""
    n = len(panel.labels)
    ax.set_ylim(n + 0.5, -0.5)
    look = {"ha": "left", "va": "center", "fontsize": "x-small", "color": TOTAL}
    text = f" {panel.left_out:,} more levels, with fewer rows"
    ax.text(0.0, n, text, transform=ax.get_yaxis_transform(), **look)


# ---------------------------------------------------------------- two features


def draw_grid(ax: Any, panel: Panel, limits: tuple[float, float], room: Room) -> None:
    """Weights of pairs of levels as colours and numbers; pairs that never occur are blank."""
    assert panel.cross is not None
    left, right = panel.cross.parts
    shape = len(left.levels), len(right.levels)
    grid, half = np.full(shape, np.nan), np.full(shape, np.nan)
    rows, columns = zip(*(panel.cross.pairs[i] for i in panel.places), strict=True)
    grid[rows, columns] = panel.weights[:, 0]
    if panel.half is not None:
        half[rows, columns] = panel.half[:, 0]
    far = max(map(abs, limits))
    ax.imshow(grid, cmap=_colours(), vmin=-far, vmax=far, aspect="auto")
    ax.set_facecolor("white")
    _number_cells(ax, grid, half, _label_grid(ax, panel.cross, room))


def _label_grid(ax: Any, cross: Cross, room: Room) -> Room:
    """Name the levels of both features, as far as there is room; what is left of it."""
    down, across = (shorten_all(brief_labels(part), room.letters) for part in cross.parts)
    width, height, longest = room.left_of(down), room.height, max(map(len, across))
    ax.tick_params(length=0, labelsize="small")
    if LETTER * longest * len(across) > 0.9 * width:
        ax.tick_params(axis="x", rotation=90)
        height -= LETTER * longest
    for place, names, size in ((ax.set_yticks, down, height), (ax.set_xticks, across, width)):
        shown = _every(len(names), size)
        place(shown, [names[i] for i in shown], parse_math=False)
    return Room(width, height, room.letters)


def _colours() -> Any:
    """Against, nothing, for: light enough to be written on."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("evidence", ["#E59055", "#FFFFFF", "#6FAED6"])


def _number_cells(ax: Any, grid: Floats, half: Floats, room: Room) -> None:
    """Weights, and below them half of their intervals, in cells that are large enough."""
    high, wide = room.height / grid.shape[0], room.width / grid.shape[1]
    if high < LABEL or wide < 0.33:
        return
    for i, j in np.argwhere(np.isfinite(grid)):
        text = hundredths(grid[i, j] / 100)
        if np.isfinite(half[i, j]) and high >= 2 * LABEL:
            text += f"\n±{half[i, j]:.0f}"
        ax.text(j, i, text, ha="center", va="center", fontsize="x-small", linespacing=1.0)
