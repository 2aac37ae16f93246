"""Horizontal scales below each other, with names on the left and labels that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from weigh.bins import printable
from weigh.frames import Floats
from weigh.plot.axes import FAINT, FOR, TOTAL
from weigh.plot.labels import fit_all, width_of, wrap

LARGE, SMALL = 8.0, 6.5
"""Points of text where rows are high, and where they are not."""

NAMES, RIGHT = 0.33, 0.06
"""The parts of the width that names may take, and that stay free right of the scales."""

LEAST, LINE, GAP = 0.24, 0.15, 0.05
"""Inches: the least height of a row, a line of the foot's, and room between labels."""

BOTH_SIDES, TWO_TIERS = 0.4, 0.64
"""Inches of a row from which on labels stand below the line too, and in two tiers."""

LONGEST = 0.2
"""The part of a scale that a label may take."""


def rows_that_fit(size: tuple[float, float], foot: str) -> int:
    """How many rows a width and height have room for, above a foot."""
    width, height = size
    return max(int((height - LINE * len(wrap(foot, width).splitlines())) / LEAST), 1)


def _slots(row: float) -> tuple[int, ...]:
    """Where labels may stand in a row so high: above (1, then 2) and below (-1, -2) its line."""
    if row >= TWO_TIERS:
        return 1, -1, 2, -2
    return (1, -1) if row >= BOTH_SIDES else (1,)


Taken: TypeAlias = dict[int, list[tuple[float, float]]]
"""The stretches of each slot of a row that labels stand on."""


def find_slot(taken: Taken, slots: Sequence[int], middle: float, room: float) -> int:
    """Take the first slot that is free so far to either side; 0 where none is."""
    for slot in slots:
        others = taken.setdefault(slot, [])
        if all(middle + room <= a or b <= middle - room for a, b in others):
            others.append((middle - room, middle + room))
            return slot
    return 0


class Rows:
    """Scales from 0 to 100, one a row, in axes whose own are turned off."""

    def __init__(self, ax: Any, size: tuple[float, float], names: Sequence[str], foot: str) -> None:
        ax.set_axis_off()
        self.ax, (width, height) = ax, size
        lines = wrap(foot, width).splitlines()
        row = max(height - LINE * len(lines), LEAST) / len(names)
        self.size = LARGE if row >= 0.3 else SMALL
        self.slots = _slots(row)
        names = fit_all([printable(name) for name in names], self.size, NAMES * width)
        left = max(width_of(name, self.size) for name in names) + 0.15
        self.inch = 100 / (width - left - RIGHT * width)  # of the scale
        ax.set_xlim(-left * self.inch, 100 + RIGHT * width * self.inch)
        ax.set_ylim(len(names) - 0.5 + LINE * len(lines) / row, -0.5)
        self._taken: dict[int, Taken] = {}
        look = {"fontsize": self.size, "parse_math": False}
        for i, name in enumerate(names):
            ax.text(-0.12 * self.inch, i, name, ha="right", va="center", **look)
        edge = ax.get_xlim()[0]
        ax.text(edge, len(names) - 0.5, "\n".join(lines), va="top", color=TOTAL, **look)

    def draw_grid(self, ticks: Floats, n_rows: int) -> None:
        """Light lines from the uppermost scale down."""
        self.ax.vlines(ticks, 0, n_rows + 0.3, color=FAINT, linewidth=0.8, zorder=0)

    def draw_axis(self, place: int, ticks: Floats, texts: Sequence[str]) -> None:
        """A scale with numbers; where not all fit, every other or every fourth."""
        self.draw_line(place, 0.0, 100.0)
        self.draw_ticks(place, ticks)
        for i in sorted(range(len(ticks)), key=lambda i: (i % 4 > 0, i % 2 > 0, i)):
            self.name_tick(place, ticks[i], texts[i], slots=(1,))

    def draw_line(self, place: int, start: float, end: float) -> None:
        """The line that ticks stand on."""
        self.ax.hlines([place], start, end, color=TOTAL, linewidth=1.0, zorder=1)

    def draw_ticks(self, place: int, ticks: Floats, small: bool = False) -> None:
        """Marks on the line; small ones have no name."""
        at, look = np.full(len(ticks), place), {"s": 10, "linewidth": 0.7} if small else {}
        look = {"s": 28, "linewidth": 1.2} | look
        self.ax.scatter(ticks, at, marker="|", color=FOR, zorder=2, **look)

    def draw_rings(self, place: int, ticks: Floats) -> None:
        """Marks of another kind on the line."""
        at = np.full(len(ticks), place)
        self.ax.scatter(ticks, at, s=20, facecolor="white", edgecolor=FOR, linewidth=1.2, zorder=3)

    def cut(self, labels: Sequence[str]) -> list[str]:
        """Labels of one scale, none too wide; those that differ still do where letters allow."""
        return fit_all(labels, self.size, max(LONGEST * 100 / self.inch, 0.75)) if labels else []

    def name_tick(
        self, place: int, tick: float, text: str, slots: Sequence[int] | None = None
    ) -> bool:
        """A label at a tick, above or below the line, if there is room for it."""
        half = width_of(text, self.size) * self.inch / 2
        middle = min(max(tick, half - 0.05 * self.inch), self.ax.get_xlim()[1] - half)
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
        """A level too far off: an arrow at the edge, and its points if there is room for them."""
        edge, arrow = (100.0, "▶") if points > 0 else (0.0, "◀")
        self.ax.scatter([edge], [place], marker=">" if points > 0 else "<", s=22, color=FOR)
        self.name_tick(place, edge, f"{arrow} {text} ({points:.0f})")
