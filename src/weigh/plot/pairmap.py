"""The weights of a pair of features as a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.bins import Cross
from weigh.evidence import hundredths
from weigh.frames import Floats
from weigh.plot.axes import FAINT
from weigh.plot.labels import brief_labels, shorten, shorten_all
from weigh.plot.panels import LABEL, LETTER, Panel, Room

BAR = 0.55
"""Inches that the scale of colours takes with its numbers."""


def draw_map(ax: Any, panel: Panel, limits: tuple[float, float], room: Room) -> None:
    """Weights as colours; grey where the interval holds zero, blank where no row is.

    The scale is the map's own: pairs weigh less than features. `limits` is that of other panels.
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
    image = ax.imshow(grid, cmap=_colours(), vmin=-far or -1, vmax=far or 1, aspect="auto")
    ax.imshow(noise, cmap=_grey(), vmin=0, vmax=1, aspect="auto")
    ax.set_facecolor("white")
    left_over = _label(ax, panel.cross, room)
    _scale(ax, image)
    if left_over.height / shape[0] >= LABEL and left_over.width / shape[1] >= 0.33:
        _number(ax, grid, half, left_over)


def _label(ax: Any, cross: Cross, room: Room) -> Room:
    """Name both features and their levels, as far as there is room; what is left of it."""
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
    """All of n places, or every other or so."""
    return range(0, n, -(-n // max(int(inches / LABEL), 2)))


def _scale(ax: Any, image: Any) -> None:
    """The weights that colours stand for."""
    side = ax.inset_axes((1.02, 0.0, 0.035, 1.0))
    bar = ax.figure.colorbar(image, cax=side)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize="x-small", length=2)
    bar.ax.locator_params(nbins=5)


def _colours() -> Any:
    """Against, nothing, for: light enough to be written on."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("evidence", ["#E59055", "#FFFFFF", "#6FAED6"])


def _grey() -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([FAINT])


def _number(ax: Any, grid: Floats, half: Floats, room: Room) -> None:
    """Weights, and below them half of their intervals, in cells that are large enough."""
    high = room.height / grid.shape[0]
    for i, j in np.argwhere(np.isfinite(grid)):
        text = hundredths(grid[i, j] / 100)
        if np.isfinite(half[i, j]) and high >= 2 * LABEL:
            text += f"\n±{half[i, j]:.0f}"
        ax.text(j, i, text, ha="center", va="center", fontsize="x-small", linespacing=1.0)
