"""The levels of a table below each other: bars and points at the weights, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from weigh.bins import printable
from weigh.evidence import hundredths
from weigh.frames import Floats
from weigh.plot.axes import FAINT, FOR, OKABE_ITO, TOTAL
from weigh.plot.labels import fit_all, shorten_all, width_of, wrap
from weigh.plot.panels import Panel, Room
from weigh.shapes import round_numbers

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
    """Mark a weight beyond the axis: an arrow at its edge, and the number."""
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
    """Write the number of levels that are not drawn below the last one."""
    n = len(panel.labels)
    ax.set_ylim(n + 0.5, -0.5)
    look = {"ha": "left", "va": "center", "fontsize": "x-small", "color": TOTAL}
    text = f" {panel.left_out:,} more levels, with fewer rows"
    ax.text(0.0, n, text, transform=ax.get_yaxis_transform(), **look)


LARGE, SMALL = 8.0, 6.5
"""Font sizes in points, for high rows and for low rows."""

NAMES, RIGHT = 0.33, 0.06
"""Shares of the width: the maximum for names, and the margin right of the scales."""

LEAST, LINE, GAP, ASTRAY = 0.24, 0.15, 0.1, 0.08
"""Inches: the minimum height of a row, the height of a line of the footnote, the space between
labels, and the maximum distance of a label from its tick. Labels at the ends of a scale may be
farther away, to stay inside the figure.
"""

BOTH_SIDES, TWO_TIERS = 0.4, 0.64
"""Heights of a row in inches from which labels are also put below the line, and in two tiers."""

LONGEST = 0.2
"""The maximum width of a label, as a share of the scale."""


def rows_that_fit(size: tuple[float, float], foot: str) -> int:
    """The number of rows that fit into a width and height, above a footnote."""
    width, height = size
    return max(int((height - LINE * len(wrap(foot, width).splitlines())) / LEAST), 1)


def _slots(row: float) -> tuple[int, ...]:
    """The slots for labels in a row of this height: above (1, 2) and below (-1, -2) its line."""
    if row >= TWO_TIERS:
        return 1, -1, 2, -2
    return (1, -1) if row >= BOTH_SIDES else (1,)


Taken: TypeAlias = dict[int, list[tuple[float, float]]]
"""The parts of each slot of a row that labels already occupy."""


def find_slot(taken: Taken, slots: Sequence[int], middle: float, room: float) -> int:
    """Occupy the first slot with enough space on both sides of `middle`; 0 if there is none."""
    for slot in slots:
        others = taken.setdefault(slot, [])
        if all(middle + room <= a or b <= middle - room for a, b in others):
            others.append((middle - room, middle + room))
            return slot
    return 0


class Rows:
    """Scales from 0 to 100, one per row, on axes whose own ticks and frame are turned off."""

    def __init__(self, ax: Any, size: tuple[float, float], names: Sequence[str], foot: str) -> None:
        ax.set_axis_off()
        self.ax, (width, height) = ax, size
        lines = wrap(foot, width).splitlines()
        row = max(height - LINE * len(lines), LEAST) / len(names)
        self.size = LARGE if row >= 0.3 else SMALL
        self.slots = _slots(row)
        names = fit_all([printable(name) for name in names], self.size, NAMES * width)
        left = max(width_of(name, self.size) for name in names) + 0.15
        self.inch = 100 / (width - left - RIGHT * width)  # units of the scale per inch
        ax.set_xlim(-left * self.inch, 100 + RIGHT * width * self.inch)
        ax.set_ylim(len(names) - 0.5 + LINE * len(lines) / row, -0.5)
        self._taken: dict[int, Taken] = {}
        look = {"fontsize": self.size, "parse_math": False}
        for i, name in enumerate(names):
            ax.text(-0.12 * self.inch, i, name, ha="right", va="center", **look)
        edge = ax.get_xlim()[0]
        ax.text(edge, len(names) - 0.5, "\n".join(lines), va="top", color=TOTAL, **look)

    def draw_grid(self, ticks: Floats, n_rows: int) -> None:
        """Draw light vertical lines from the top scale down."""
        self.ax.vlines(ticks, 0, n_rows + 0.3, color=FAINT, linewidth=0.8, zorder=0)

    def draw_axis(self, place: int, ticks: Floats, texts: Sequence[str]) -> None:
        """Draw a scale with numbers; where not all fit, every second or fourth."""
        self.draw_line(place, 0.0, 100.0)
        self.draw_ticks(place, ticks)
        for i in sorted(range(len(ticks)), key=lambda i: (i % 4 > 0, i % 2 > 0, i)):
            self.name_tick(place, ticks[i], texts[i], slots=(1,))

    def draw_line(self, place: int, start: float, end: float) -> None:
        """Draw the line that carries the ticks."""
        self.ax.hlines([place], start, end, color=TOTAL, linewidth=1.0, zorder=1)

    def draw_ticks(self, place: int, ticks: Floats, small: bool = False) -> None:
        """Draw ticks on the line; small ones have no label."""
        at, look = np.full(len(ticks), place), {"s": 10, "linewidth": 0.7} if small else {}
        look = {"s": 28, "linewidth": 1.2} | look
        self.ax.scatter(ticks, at, marker="|", color=FOR, zorder=2, **look)

    def draw_rings(self, place: int, ticks: Floats) -> None:
        """Draw rings on the line, for answers that are not known."""
        at = np.full(len(ticks), place)
        self.ax.scatter(ticks, at, s=20, facecolor="white", edgecolor=FOR, linewidth=1.2, zorder=3)

    def cut(self, labels: Sequence[str]) -> list[str]:
        """Shorten the labels of one scale to the maximum width, still distinct where possible."""
        return fit_all(labels, self.size, max(LONGEST * 100 / self.inch, 0.75)) if labels else []

    def name_tick(
        self,
        place: int,
        tick: float,
        text: str,
        slots: Sequence[int] | None = None,
        max_offset: float = ASTRAY,
    ) -> bool:
        """Write a label near a tick, above or below the line; return whether there was space."""
        half = width_of(text, self.size) * self.inch / 2
        middle = min(max(tick, half - 0.05 * self.inch), self.ax.get_xlim()[1] - half)
        if abs(middle - tick) > max_offset * self.inch and 0 < tick < 100:
            return False
        slots, taken = self.slots if slots is None else slots, self._taken.setdefault(place, {})
        slot = find_slot(taken, slots, middle, half + GAP * self.inch / 2)
        if slot:
            self._write(place, middle, text, slot)
        return bool(slot)

    def _write(self, place: int, middle: float, text: str, slot: int) -> None:
        away = 3.5 + (abs(slot) - 1) * (self.size + 1.5)
        self.ax.annotate(
            text,
            (middle, place),
            xytext=(0, away if slot > 0 else -away),
            textcoords="offset points",
            ha="center",
            va="bottom" if slot > 0 else "top",
            fontsize=self.size,
            parse_math=False,
        )

    def point_beyond(self, place: int, points: float, text: str) -> None:
        """Mark a level beyond the scale: an arrow at the edge, and its points if there is space."""
        edge, arrow = (100.0, "▶") if points > 0 else (0.0, "◀")
        self.ax.scatter([edge], [place], marker=">" if points > 0 else "<", s=22, color=FOR)
        self.name_tick(place, edge, f"{arrow} {text} ({points:.0f})")
