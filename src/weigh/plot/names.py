"""Names of bars, folded or cut to the room that they have left of the axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weigh.bins import printable
from weigh.plot.axes import inches
from weigh.plot.labels import fit_all, width_of
from weigh.sheet import Item

PART, PAD = 0.42, 0.15
"""The part of the width that names may take, and inches between them and the axes."""

LARGEST, SMALL, SMALLEST, HIGH = 10.0, 8.0, 6.0, 1.25
"""Points of text, and the height of a line beside that of its text."""

NARROW = 4.0
"""Inches of axes up to which text is small."""


@dataclass(frozen=True)
class Name:
    """What a bar is: a feature and what it is equal to, or one text."""

    text: str
    rest: str = ""

    @classmethod
    def of(cls, item: Item) -> Name:
        """The name of an item of a balance sheet."""
        whole = str(item)
        if not whole.startswith(f"{item.shown} "):  # a pair in words
            return cls(printable(whole))
        return cls(printable(item.shown), printable(whole[len(item.shown) + 1 :]))

    def __str__(self) -> str:
        return " ".join(filter(None, (self.text, self.rest)))


def set_names(ax: Any, names: Sequence[Name]) -> None:
    """Name the bars of axes, from 0 on."""
    width, height = inches(ax)
    step = height / (len(names) + 0.5)
    size = min(LARGEST if width > NARROW else SMALL, max(SMALLEST, 72 * step / HIGH))
    texts = cut_names(names, size, PART * width, folds=72 * step >= 2 * HIGH * size)
    ax.set_yticks(range(len(texts)), texts, parse_math=False, fontsize=size)
    widest = max(width_of(line, size) for text in texts for line in text.splitlines())
    _make_room(ax, widest + PAD)


def cut_names(names: Sequence[Name], size: float, room: float, folds: bool) -> list[str]:
    """Names no wider than a room in inches: as they are, else on two lines, else with less of each.

    A feature and its level are cut apart from each other, so that something of both stays.
    """
    levels = fit_all([name.rest for name in names], size, room if folds else 0.6 * room)
    widest = max((width_of(f" {text}", size) for text in levels), default=0.0)
    features = fit_all([name.text for name in names], size, room if folds else room - widest)
    between = "\n" if folds else " "
    return [
        str(name)
        if width_of(str(name), size) <= room
        else between.join(filter(None, (feature, level)))
        for name, feature, level in zip(names, features, levels, strict=True)
    ]


def _make_room(ax: Any, wanted: float) -> None:
    """Move the left edge of axes that no layout moves, where names would leave the figure."""
    figure = ax.figure.canvas.figure
    if figure.get_layout_engine() is not None:
        return
    box, width = ax.get_position(), inches(ax)[0]
    lacks = wanted - box.x0 * width / box.width
    if lacks > 0:
        share = min(lacks / width, PART) * box.width
        ax.set_position((box.x0 + share, box.y0, box.width - share, box.height))
        ax.set_in_layout(True)
