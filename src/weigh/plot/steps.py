"""The weights of a numeric feature as a step line with a band, above the distribution of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.evidence import hundredths
from weigh.frames import Floats
from weigh.plot.axes import FAINT, OKABE_ITO, TOTAL
from weigh.plot.bars import SHARE
from weigh.plot.labels import shorten_all
from weigh.plot.panels import LETTER, Panel, Room
from weigh.shapes import round_numbers

FOOT = 0.2
"""The part of a panel's height, at the bottom, that shows the distribution of the rows."""

TICK, UP = 0.62, 0.3
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
        half = None if panel.half is None else panel.half[:, k]
        _draw_band(ax, ends, weights[:n], None if half is None else half[:n], limits, colour)
        _draw_points(ax, beside, weights[n:], None if half is None else half[n:], limits, colour)
        _state_beyond(ax, panel.weights[:n, k], ends, limits, colour)
    low, high = limits
    ax.set_ylim(low - FOOT / (1 - FOOT) * (high - low), high)
    ax.set_xlim(0.0, 1.0 if not len(beside) else float(beside[-1]) + GAP)
    _draw_rows(ax, panel, beside)
    _label(ax, panel, beside, width, turned)
    ax.set_yticks(round_numbers(*limits, int(np.clip(room.height * (1 - FOOT) / UP, 2, 7))))


def _beside(panel: Panel, width: float) -> tuple[Floats, bool]:
    """Positions of special codes and missing, and whether their labels are rotated to fit."""
    names = panel.labels[panel.n_intervals :]
    longest = LETTER * max(map(len, names), default=0) / max(width, 0.1)
    turned = longest * len(names) > 0.3
    step = max(1.6 * LETTER / width, 0.05) if turned else longest + 0.03
    places: Floats = 1 + GAP + step * (np.arange(len(names), dtype=np.float64) + 0.5)
    return places, turned


def _draw_band(
    ax: Any, ends: Floats, weights: Floats, half: Floats | None, limits: Any, colour: str
) -> None:
    across = np.repeat(ends, 2)[1:-1]
    if half is not None:
        reach = np.nan_to_num(half)
        low, high = (np.repeat(np.clip(weights + s * reach, *limits), 2) for s in (-1, 1))
        ax.fill_between(across, low, high, color=colour, alpha=0.2, linewidth=0, zorder=2)
    ax.plot(across, np.repeat(weights, 2), color=colour, linewidth=1.4, zorder=3)


def _draw_points(
    ax: Any, places: Floats, weights: Floats, half: Floats | None, limits: Any, colour: str
) -> None:
    if not len(places):
        return
    if half is not None:
        reach = np.nan_to_num(half)
        low, high = (np.clip(weights + s * reach, *limits) for s in (-1, 1))
        ax.vlines(places, low, high, colors=colour, linewidth=1.4, zorder=3)
    ax.scatter(places, weights, c=colour, s=18, zorder=4)


def _state_beyond(ax: Any, weights: Floats, ends: Floats, limits: Any, colour: str) -> None:
    """Write the highest and the lowest weight where steps leave the axes."""
    for i, mark, side in ((weights.argmax(), "▲", 1), (weights.argmin(), "▼", 0)):
        if limits[0] <= weights[i] <= limits[1]:
            continue
        middle = (ends[i] + ends[i + 1]) / 2
        ax.annotate(
            f"{mark} {hundredths(weights[i] / 100)}",
            (np.clip(middle, 0.02, 0.98), limits[side]),
            xytext=(0, -2 if side else 2),
            textcoords="offset points",
            ha="left" if middle < 0.3 else "right" if middle > 0.7 else "center",
            va="top" if side else "bottom",
            fontsize="x-small",
            color=colour,
            bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5},
            zorder=5,
        )


def _draw_rows(ax: Any, panel: Panel, beside: Floats) -> None:
    """Draw bars whose areas are the shares of the rows, cut at a maximum height."""
    assert panel.axis is not None
    n, ends = panel.n_intervals, panel.axis.edges
    wide = 0.6 * float(beside[1] - beside[0]) if len(beside) > 1 else 0.05
    left, widths = [*ends[:-1], *(beside - wide / 2)], [*np.diff(ends), *np.full(len(beside), wide)]
    heights = panel.axis.heights(panel.share[:n], panel.share[n:] / wide)
    bars = ax.bar(
        left,
        0.85 * FOOT * heights,
        widths,
        align="edge",
        color="#C8C8C8",
        linewidth=0,
        transform=ax.get_xaxis_transform(),
        zorder=0,
    )
    for bar in bars:
        bar.set_gid(SHARE)
    ax.axhspan(0, FOOT, color=FAINT, alpha=0.35, transform=ax.transAxes, zorder=-1, linewidth=0)


def _label(ax: Any, panel: Panel, beside: Floats, width: float, turned: bool) -> None:
    """Set round tick labels below the axis, and the names of the levels beside it."""
    assert panel.axis is not None
    part = 1.0 / float(ax.get_xlim()[1])
    found = panel.axis.ticks(max(int(width * part / TICK), 2))
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
