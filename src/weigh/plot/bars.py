"""The levels of a table below each other: bars and points at the weights, with their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.evidence import hundredths
from weigh.frames import Floats
from weigh.plot.axes import AGAINST, FAINT, FOR, OKABE_ITO, TOTAL
from weigh.plot.labels import shorten_all
from weigh.plot.panels import Panel, Room
from weigh.shapes import round_numbers

STRIP = 0.14
"""The part of a panel, at its right, that shows the share of the rows."""

TICK, THICK = 0.5, 0.26
"""Inches that a number below the axis takes, and that a bar is high at the most."""

SHARE, WEIGHT = "weigh: share of rows", "weigh: weight"
"""What marks bars."""


def draw_levels(ax: Any, panel: Panel, limits: tuple[float, float], room: Room) -> None:
    """Bars to the weights with their intervals, and the share of the rows at the right."""
    n, n_lines = panel.weights.shape
    thick = min(0.62, THICK * n / room.height)
    _draw_share(ax, panel, thick)
    ax.axvline(0, color=TOTAL, linewidth=0.8, zorder=1)
    for k in range(n_lines):
        offset = (k - (n_lines - 1) / 2) * 0.7 / n_lines
        line = np.where(panel.weights[:, 0] >= 0, FOR, AGAINST)
        colours = line if n_lines == 1 else np.full(n, OKABE_ITO[k])
        _draw_line(ax, panel, k, np.arange(n) + offset, colours, limits, thick)
    ax.set_xlim(limits[0], limits[1] + STRIP / (1 - STRIP) * (limits[1] - limits[0]))
    ax.set_ylim(n - 0.5, -0.5)
    _label_levels(ax, panel, limits, room)
    if panel.left_out:
        _state_rest(ax, panel)


def _draw_share(ax: Any, panel: Panel, thick: float) -> None:
    longest = max(float(panel.share.max(initial=0.0)), 1e-12)
    bars = ax.barh(
        np.arange(len(panel.share)),
        0.9 * STRIP * panel.share / longest,
        left=1 - 0.95 * STRIP,
        height=thick,
        color=FAINT,
        transform=ax.get_yaxis_transform(),
        zorder=0,
    )
    for bar in bars:
        bar.set_gid(SHARE)


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
        bars = ax.barh(places, np.clip(weights, *edges), height=thick, color=colours, alpha=0.35)
        for bar in bars:
            bar.set_gid(WEIGHT)
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


def _label_levels(ax: Any, panel: Panel, limits: tuple[float, float], room: Room) -> None:
    names = shorten_all(panel.labels, room.letters)
    ax.set_yticks(range(len(names)), names, fontsize="small", parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize="small")
    room_for = room.left_of(names) * (1 - STRIP) / TICK
    ax.set_xticks(round_numbers(*limits, int(np.clip(room_for, 2, 9))))


def _state_rest(ax: Any, panel: Panel) -> None:
    """Below the last level, how many there are besides."""
    n = len(panel.labels)
    ax.set_ylim(n + 0.5, -0.5)
    look = {"ha": "left", "va": "center", "fontsize": "x-small", "color": TOTAL}
    text = f" {panel.left_out:,} more levels, with fewer rows"
    ax.text(0.0, n, text, transform=ax.get_yaxis_transform(), **look)
