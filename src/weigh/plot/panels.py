"""The panels of an `EvidenceDisplay`: one feature, or a pair as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from weigh.bins import Cross, Feature, Interval
from weigh.evidence import FeatureTable, hundredths
from weigh.frames import Floats, Integers
from weigh.plot.axes import AGAINST, ALLOWED, FAINT, FOR, usual_weights
from weigh.plot.labels import brief_labels, shorten, shorten_all
from weigh.plot.selection import Question
from weigh.shapes import NumberAxis
from weigh.sheet import COVERAGE

MOST_LEVELS = 30
LETTER, LABEL = 0.072, 0.16
"""Inches: the width of a small letter, and the height of a label with its spacing."""

REACH = float(ndtri((1 + COVERAGE) / 2))
ORDERS = ("weight", "own")


@dataclass(frozen=True, eq=False)
class Panel:
    """The levels of a table that are drawn; weights and intervals are times 100.

    `half` is half of the interval's length, by level and line. The first levels of a numeric
    feature are its bins, which are drawn on `axis`; special codes and missing follow.
    """

    name: str
    labels: tuple[str, ...]
    weights: Floats
    half: Floats | None
    share: Floats
    axis: NumberAxis | None
    left_out: int
    cross: Cross | None
    places: Integers
    colours: tuple[str, str] = (FOR, AGAINST)

    @property
    def is_grid(self) -> bool:
        """Whether the table is drawn as a heat map: two features, and one line of weights."""
        return self.cross is not None and self.weights.shape[1] == 1

    @property
    def n_intervals(self) -> int:
        """The number of levels that are bins on the axis."""
        return 0 if self.axis is None else len(self.axis.cuts) + 1

    @property
    def is_noise(self) -> Any:
        """Which weights do not differ significantly from zero: their interval includes it."""
        if self.half is None:
            return np.zeros(self.weights.shape, dtype=bool)
        return np.abs(self.weights) < np.nan_to_num(self.half, nan=np.inf)


@dataclass(frozen=True)
class Room:
    """The space of a panel: width and height in inches, and the maximum letters of a label."""

    width: float
    height: float
    letters: int

    def left_of(self, labels: Sequence[str]) -> float:
        """The width that remains beside the labels."""
        return self.width - LETTER * max(map(len, labels), default=0) - 0.1


def panel_of(
    table: FeatureTable, question: Question, most: int = MOST_LEVELS, order: str = "weight"
) -> Panel:
    """The levels to draw: all bins, and the categories with the most rows."""
    share, feature, weights = table.share, table.feature, 100 * question.weights(table)
    kept, axis = _kept(table, len(question.signs), most), None
    if isinstance(feature, Feature) and feature.cuts:
        axis = NumberAxis.of(feature.cuts)
    elif order == "weight" and weights.shape[1] == 1 and _may_sort(feature):
        kept = kept[np.argsort(-weights[kept, 0], kind="stable")]
    errors = question.errors(table)
    known = errors is not None and bool(np.isfinite(errors[kept]).any())
    occur = share > 0
    return Panel(
        name=f"{table.shown} ({table.note})" if table.note else table.shown,
        labels=tuple(brief_labels(feature)[i] for i in kept),
        weights=weights[kept],
        half=100 * REACH * errors[kept] if known and errors is not None else None,
        share=share[kept],
        axis=axis,
        left_out=int(occur.sum() - occur[kept].sum()),
        cross=feature if isinstance(feature, Cross) else None,
        places=kept,
    )


def _may_sort(feature: Feature | Cross) -> bool:
    """Whether levels may be sorted by weight: ordered categories and pairs keep their order."""
    return isinstance(feature, Feature) and not feature.ordered


def _kept(table: FeatureTable, n_lines: int, most: int) -> Integers:
    """Indices of bins and of the most common other levels; all levels of a heat map."""
    is_interval = np.array([isinstance(level, Interval) for level in table.levels], dtype=bool)
    places = np.flatnonzero((table.share > 0) | is_interval)
    free = places[~is_interval[places]]
    if len(free) <= most or (isinstance(table.feature, Cross) and n_lines == 1):
        return places
    kept = free[np.argsort(-table.share[free], kind="stable")[:most]]
    return np.sort(np.concatenate([places[is_interval[places]], kept]))


def limits_of(panels: Sequence[Panel]) -> tuple[float, float]:
    """Limits of the shared axis: the weights of most rows, and not much more for rare levels."""
    drawn = [panel for panel in panels if not panel.is_grid] or [*panels]
    lines = [(line, panel.share) for panel in drawn for line in panel.weights.T]
    usual = np.concatenate([[0.0], *(usual_weights(*line) for line in lines)])
    ends = np.concatenate([[0.0], *(_ends(panel) for panel in drawn)])
    more = max(0.5 * float(np.ptp(usual)), 100 * ALLOWED)
    low, high = max(ends.min(), usual.min() - more), min(ends.max(), usual.max() + more)
    margin = 0.04 * (high - low) + 0.5
    return float(low - margin), float(high + margin)


def _ends(panel: Panel) -> Floats:
    half = 0.0 if panel.half is None else np.nan_to_num(panel.half)
    return np.concatenate([(panel.weights - half).ravel(), (panel.weights + half).ravel()])


BAR = 0.55
"""Width of the colour bar with its numbers, in inches."""


def draw_map(ax: Any, panel: Panel, limits: tuple[float, float], room: Room) -> None:
    """Draw weights as colours; grey where the interval includes zero, blank without rows.

    The map has its own colour scale, since pairs weigh less than features. `limits`, those of the
    other panels, are not used.
    """
    assert panel.cross is not None
    left, right = panel.cross.parts
    shape = len(left.levels), len(right.levels)
    grid, half, noise = (np.full(shape, np.nan) for _ in range(3))
    at = tuple(np.array([panel.cross.pairs[i] for i in panel.places]).T)
    grid[at], noise[at] = panel.weights[:, 0], np.where(panel.is_noise[:, 0], 1.0, np.nan)
    if panel.half is not None:
        half[at] = panel.half[:, 0]
    told = np.abs(np.where(np.isnan(noise), grid, np.nan))
    far = float(np.nanmax(told)) if np.isfinite(told).any() else float(np.nanmax(np.abs(grid)))
    image = ax.imshow(
        grid, cmap=_colours(panel.colours), vmin=-far or -1, vmax=far or 1, aspect="auto"
    )
    ax.imshow(noise, cmap=_grey(), vmin=0, vmax=1, aspect="auto")
    ax.set_facecolor("white")
    left_over = _label(ax, panel.cross, room)
    _scale(ax, image)
    if left_over.height / shape[0] >= LABEL and left_over.width / shape[1] >= 0.33:
        _number(ax, grid, half, left_over)


def _label(ax: Any, cross: Cross, room: Room) -> Room:
    """Label both features and as many levels as fit; return the space that is left."""
    width, height = room.width - BAR - 0.25, room.height - 0.25
    letters = max(int(0.28 * room.width / LETTER), 6)
    down, across = (shorten_all(brief_labels(part), letters) for part in cross.parts)
    width -= LETTER * max(map(len, down))
    longest = LETTER * max(map(len, across))
    ax.tick_params(length=0, labelsize="small")
    if longest * len(across) > 0.9 * width:
        ax.tick_params(axis="x", rotation=90)
        height -= longest
    for place, names, size in ((ax.set_yticks, down, height), (ax.set_xticks, across, width)):
        shown = _every(len(names), size)
        place(shown, [names[i] for i in shown], parse_math=False)
    look = {"fontsize": "small", "parse_math": False, "labelpad": 2}
    ax.set_xlabel(shorten(cross.parts[1].shown, max(int(width / LETTER), 8)), **look)
    ax.set_ylabel(shorten(cross.parts[0].shown, max(int(height / LETTER), 8)), **look)
    return Room(max(width, 0.1), max(height, 0.1), room.letters)


def _every(n: int, inches: float) -> range:
    """Indices of n labels, or of every second, third ... one if not all fit."""
    return range(0, n, -(-n // max(int(inches / LABEL), 2)))


def _scale(ax: Any, image: Any) -> None:
    """Draw the colour bar."""
    side = ax.inset_axes((1.02, 0.0, 0.035, 1.0))
    bar = ax.figure.colorbar(image, cax=side)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize="x-small", length=2)
    bar.ax.locator_params(nbins=5)


LIGHT = {FOR: "#6FAED6", AGAINST: "#E59055"}
"""The colours for and against, light enough for text on top."""


def _colours(sides: tuple[str, str]) -> Any:
    """The colour map: against, zero, for."""
    from matplotlib.colors import LinearSegmentedColormap

    lists = [LIGHT[sides[1]], "#FFFFFF", LIGHT[sides[0]]]
    return LinearSegmentedColormap.from_list("evidence", lists)


def _grey() -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([FAINT])


def _number(ax: Any, grid: Floats, half: Floats, room: Room) -> None:
    """Write the weights, with the half-width of their intervals if cells are high enough."""
    high = room.height / grid.shape[0]
    for i, j in np.argwhere(np.isfinite(grid)):
        text = hundredths(grid[i, j] / 100)
        if np.isfinite(half[i, j]) and high >= 2 * LABEL:
            text += f"\n±{half[i, j]:.0f}"
        ax.text(j, i, text, ha="center", va="center", fontsize="x-small", linespacing=1.0)
