"""Draw a panel: categories as bars, a numeric feature as a step line, a pair as a heat map."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Cross
from weigh.chart_data import round_numbers
from weigh.plot.axes import (
    AGAINST,
    FAINT,
    FOR,
    OKABE_ITO,
    TOTAL,
    brief_labels,
    shorten,
    shorten_all,
    spell_tick,
)
from weigh.plot.selection import LABEL, LETTER, Panel, Room

STRIP = 0.14
"""The part of a panel's width, at its right, that shows the share of the rows."""

TICK, THICK = 0.5, 0.26
"""Inches: the width of a number below the axis, and the maximum height of a bar."""

SHARE, WEIGHT = "weigh: share of rows", "weigh: weight"
"""Identifiers (gid) of the bars."""


def draw_levels(ax: Any, panel: Panel, limits: tuple[float, float], room: Room) -> None:
    """Bars to the weights with their intervals, and the share of the rows at the right."""
    n, n_lines = panel.weights.shape
    thick = min(0.62, THICK * n / room.height)
    _draw_share(ax, panel, thick)
    ax.axvline(0, color=TOTAL, linewidth=0.8, zorder=1)
    for k in range(n_lines):
        offset = (k - (n_lines - 1) / 2) * 0.7 / n_lines
        line = np.where(panel.weights[:, 0] >= 0, *panel.colours)
        colours = line if n_lines == 1 else np.full(n, OKABE_ITO[k])
        _draw_line(ax, panel, k, np.arange(n) + offset, colours, limits, thick)
    ax.set_xlim(limits[0], limits[1] + STRIP / (1 - STRIP) * (limits[1] - limits[0]))
    ax.set_ylim(n - 0.5, -0.5)
    _label_levels(ax, panel, limits, room)
    if panel.left_out:
        _state_rest(ax, panel)


def _draw_share(ax: Any, panel: Panel, thick: float) -> None:
    longest = max(float(panel.share.max(initial=0.0)), 1e-12)
    ax.barh(
        np.arange(len(panel.share)),
        0.9 * STRIP * panel.share / longest,
        left=1 - 0.95 * STRIP,
        height=thick,
        color=FAINT,
        transform=ax.get_yaxis_transform(),
        zorder=0,
        gid=SHARE,
    )


def _draw_line(
    ax: Any,
    panel: Panel,
    k: int,
    places: Floats,
    colours: Any,
    edges: tuple[float, float],
    thick: float,
) -> None:
    weights, alone = panel.weights[:, k], panel.weights.shape[1] == 1
    inside = (weights >= edges[0]) & (weights <= edges[1])
    if alone:
        look = {"height": thick, "color": colours, "alpha": 0.35, "gid": WEIGHT}
        ax.barh(places, np.clip(weights, *edges), **look)
    if panel.half is not None:
        half = np.nan_to_num(panel.half[:, k])
        ends = np.maximum(weights - half, edges[0]), np.minimum(weights + half, edges[1])
        shown = ends[0] < ends[1]
        ax.hlines(
            places[shown], ends[0][shown], ends[1][shown], colors=colours[shown], linewidth=1.4
        )
        gone = inside & (weights - half < edges[0]), inside & (weights + half > edges[1])
        for edge, beyond, mark in zip(edges, gone, "<>", strict=True):
            at, look = np.full(int(beyond.sum()), edge), {"s": 12, "marker": mark, "zorder": 3}
            ax.scatter(at, places[beyond], c=colours[beyond], **look)
    ax.scatter(weights[inside], places[inside], c=colours[inside], s=18 if alone else 12, zorder=4)
    for i in np.flatnonzero(~inside):
        _point_beyond(ax, panel, weights[i], places[i], colours[i], edges)


def _point_beyond(
    ax: Any, panel: Panel, weight: float, place: float, colour: Any, edges: Any
) -> None:
    """Mark a weight beyond the axis: an arrow at its edge, and the number."""
    text = panel.text(weight)
    if weight > 0:
        _write_edge(ax, f"{text} ▶", (edges[1], place), (-2, 0), ("right", "center"), colour)
    else:
        _write_edge(ax, f"◀ {text}", (edges[0], place), (2, 0), ("left", "center"), colour)


def _write_edge(ax: Any, text: str, at: Any, offset: Any, align: Any, colour: Any) -> None:
    """Write a number at the edge of the axes, on white; `offset` is in points."""
    look = {"fontsize": "x-small", "color": str(colour), "zorder": 5}
    look |= {"bbox": {"facecolor": "white", "linewidth": 0, "pad": 0.5}}
    place = {"xytext": offset, "textcoords": "offset points", "ha": align[0], "va": align[1]}
    ax.annotate(text, at, **place, **look)


def _label_levels(ax: Any, panel: Panel, limits: tuple[float, float], room: Room) -> None:
    names = shorten_all(panel.labels, room.letters)
    ax.set_yticks(range(len(names)), names, fontsize="small", parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize="small")
    room_for = room.left_of(names) * (1 - STRIP) / TICK
    ax.set_xticks(round_numbers(*limits, int(np.clip(room_for, 2, 9))))
    ax.xaxis.set_major_formatter(spell_tick)


def _state_rest(ax: Any, panel: Panel) -> None:
    """Write the number of levels that are not drawn below the last one."""
    n = len(panel.labels)
    ax.set_ylim(n + 0.5, -0.5)
    look = {"ha": "left", "va": "center", "fontsize": "x-small", "color": TOTAL}
    what = "tokens, less telling" if panel.tokens else "levels, with fewer rows"
    text = f" {panel.left_out:,} more {what}"
    ax.text(0.0, n, text, transform=ax.get_yaxis_transform(), **look)


FOOT = 0.2
"""The part of a panel's height, at the bottom, that shows the distribution of the rows."""

TICK_LABEL, UP = 0.62, 0.3
"""Inches that a tick label takes below the x axis, and beside the y axis."""

GAP = 0.06
"""The gap between the axis and the levels beside it, as a share of the width."""


def draw_steps(ax: Any, panel: Panel, limits: tuple[float, float], room: Room) -> None:
    """Draw steps and their band; special codes and missing are points at the right of the axis."""
    assert panel.axis is not None
    n, ends = panel.n_intervals, panel.axis.edges
    width = room.width - 0.5
    beside, turned = _beside(panel, width)
    ax.axhline(0, color=TOTAL, linewidth=0.8, zorder=1)
    for k, colour in enumerate(OKABE_ITO[: panel.weights.shape[1]]):
        weights = np.clip(panel.weights[:, k], *limits)
        half = 0 * weights if panel.half is None else np.nan_to_num(panel.half[:, k])
        below, above = (np.clip(weights + s * half, *limits) for s in (-1, 1))
        _draw_band(ax, ends, weights[:n], (below[:n], above[:n]), colour)
        _draw_points(ax, beside, weights[n:], (below[n:], above[n:]), colour)
        _state_beyond(ax, panel, k, limits, colour)
    low, high = limits
    ax.set_ylim(low - FOOT / (1 - FOOT) * (high - low), high)
    ax.set_xlim(0.0, 1.0 if not len(beside) else float(beside[-1]) + GAP)
    _draw_rows(ax, panel, beside)
    _label_axis(ax, panel, beside, width, turned)
    ax.set_yticks(round_numbers(*limits, int(np.clip(room.height * (1 - FOOT) / UP, 2, 7))))
    ax.yaxis.set_major_formatter(spell_tick)


def _beside(panel: Panel, width: float) -> tuple[Floats, bool]:
    """Positions of special codes and missing, and whether their labels are rotated to fit."""
    names = panel.labels[panel.n_intervals :]
    longest = LETTER * max(map(len, names), default=0) / max(width, 0.1)
    turned = longest * len(names) > 0.3
    step = max(1.6 * LETTER / width, 0.05) if turned else longest + 0.03
    places: Floats = 1 + GAP + step * (np.arange(len(names), dtype=np.float64) + 0.5)
    return places, turned


Interval: TypeAlias = tuple[Floats, Floats]
"""The lower and upper limits of weights."""


def _draw_band(ax: Any, ends: Floats, weights: Floats, interval: Interval, colour: str) -> None:
    across = np.repeat(ends, 2)[1:-1]
    low, high = (np.repeat(limits, 2) for limits in interval)
    if (low < high).any():
        ax.fill_between(across, low, high, color=colour, alpha=0.2, linewidth=0, zorder=2)
    ax.plot(across, np.repeat(weights, 2), color=colour, linewidth=1.4, zorder=3)


def _draw_points(ax: Any, places: Floats, weights: Floats, interval: Interval, colour: str) -> None:
    if not len(places):
        return
    if (interval[0] < interval[1]).any():
        ax.vlines(places, *interval, colors=colour, linewidth=1.4, zorder=3)
    ax.scatter(places, weights, c=colour, s=18, zorder=4)


def _state_beyond(ax: Any, panel: Panel, line: int, limits: Any, colour: str) -> None:
    """Write the highest and the lowest weight where steps leave the axes."""
    assert panel.axis is not None
    weights, ends = panel.weights[: panel.n_intervals, line], panel.axis.edges
    for i, mark, side in ((weights.argmax(), "▲", 1), (weights.argmin(), "▼", 0)):
        if limits[0] <= weights[i] <= limits[1]:
            continue
        middle = (ends[i] + ends[i + 1]) / 2
        align = "left" if middle < 0.3 else "right" if middle > 0.7 else "center"
        text, at = f"{mark} {panel.text(weights[i])}", np.clip(middle, 0.02, 0.98)
        turn = (align, "top" if side else "bottom")
        _write_edge(ax, text, (at, limits[side]), (0, -2 if side else 2), turn, colour)


def _draw_rows(ax: Any, panel: Panel, beside: Floats) -> None:
    """Draw bars whose areas are the shares of the rows, cut at a maximum height."""
    assert panel.axis is not None
    n, ends = panel.n_intervals, panel.axis.edges
    wide = 0.6 * float(beside[1] - beside[0]) if len(beside) > 1 else 0.05
    left, widths = [*ends[:-1], *(beside - wide / 2)], [*np.diff(ends), *np.full(len(beside), wide)]
    heights = panel.axis.heights(panel.share[:n], panel.share[n:] / wide)
    ax.bar(
        left,
        0.85 * FOOT * heights,
        widths,
        align="edge",
        color="#C8C8C8",
        linewidth=0,
        transform=ax.get_xaxis_transform(),
        zorder=0,
        gid=SHARE,
    )
    ax.axhspan(0, FOOT, color=FAINT, alpha=0.35, transform=ax.transAxes, zorder=-1, linewidth=0)


def _label_axis(ax: Any, panel: Panel, beside: Floats, width: float, turned: bool) -> None:
    """Set round tick labels below the axis, and the names of the levels beside it."""
    assert panel.axis is not None
    part = 1.0 / float(ax.get_xlim()[1])
    found = panel.axis.ticks(max(int(width * part / TICK_LABEL), 2))
    if len(beside):  # ticks must not overlap their names
        reach = [place + LETTER * len(text) / (2 * width * part) for place, text in found]
        found = [tick for tick, end in zip(found, reach, strict=True) if end < 1 + GAP / 2]
    names = shorten_all(panel.labels[panel.n_intervals :], 10)
    places = [*(place for place, _ in found), *beside]
    ax.set_xticks(places, [*(text for _, text in found), *names], parse_math=False)
    ax.tick_params(labelsize="small")
    for text in ax.get_xticklabels()[len(found) :]:
        text.set_rotation(90 if turned else 0)
    if len(beside):
        ax.axvline(1 + GAP / 2, color=TOTAL, linewidth=0.6, linestyle=":", zorder=1)


BAR = 0.55
"""Width of the colour bar with its numbers, in inches."""

EMPTY = "#B0B0B0"
"""The colour of the hatching of cells without rows."""


def draw_map(ax: Any, panel: Panel, far: float, room: Room) -> None:
    """Draw weights as colours; grey where the interval includes zero, hatched without rows.

    `far` has the strongest colour. It is that of all maps of a figure, which differs from the
    `limits` of the other panels, since pairs weigh less than features.
    """
    assert panel.cross is not None
    left, right = panel.cross.parts
    shape = len(left.levels), len(right.levels)
    grid, half, noise = (np.full(shape, np.nan) for _ in range(3))
    at = tuple(np.array([panel.cross.pairs[i] for i in panel.places]).T)
    grid[at], noise[at] = panel.weights[:, 0], np.where(panel.is_noise[:, 0], 1.0, np.nan)
    if panel.half is not None:
        half[at] = panel.half[:, 0]
    image = ax.imshow(
        grid, cmap=_colours(panel.colours), vmin=-far or -1, vmax=far or 1, aspect="auto"
    )
    ax.imshow(noise, cmap=_grey(), vmin=0, vmax=1, aspect="auto")
    ax.patch.set(facecolor="white", edgecolor=EMPTY, hatch="////", linewidth=0)
    left_over = _label_both(ax, panel.cross, room)
    _scale(ax, image)
    if left_over.height / shape[0] >= LABEL and left_over.width / shape[1] >= 0.33:
        _number(ax, panel, grid, half, left_over)


def _label_both(ax: Any, cross: Cross, room: Room) -> Room:
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


def _number(ax: Any, panel: Panel, grid: Floats, half: Floats, room: Room) -> None:
    """Write the weights, with the half-width of their intervals if cells are high enough."""
    high = room.height / grid.shape[0]
    for i, j in np.argwhere(np.isfinite(grid)):
        text = panel.text(grid[i, j])
        if np.isfinite(half[i, j]) and high >= 2 * LABEL:
            text += f"\n±{half[i, j]:,.{panel.question.digits}f}"
        ax.text(j, i, text, ha="center", va="center", fontsize="x-small", linespacing=1.0)
