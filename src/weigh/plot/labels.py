"""Names and levels in as few letters as tell them apart, and in the room that they have."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from weigh.bins import BRIEF, Cross, Feature, printable
from weigh.plot.axes import inches
from weigh.sheet import Item


def shorten(text: str, most: int = 48) -> str:
    """A name on one line, that may be too long for a figure."""
    text = printable(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shorten_middle(text: str, most: int = 48) -> str:
    """The same, with the end kept: what a feature is equal to."""
    text = printable(text)
    tail = most // 2
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[-tail:]}"


def shorten_all(texts: Sequence[str], most: int = 48) -> list[str]:
    """Names for one figure; those that would read alike keep their ends and not their middles.

    >>> shorten_all(["income of the father", "income of the mother", "age"], 12)
    ['incom…father', 'incom…mother', 'age']
    """
    short = [shorten(text, most) for text in texts]
    return [
        shorten_middle(text, most) if short.count(cut) > 1 else cut
        for cut, text in zip(short, texts, strict=True)
    ]


def wrap(text: str, width: float, per_inch: float = 15) -> str:
    """Lines for a width in inches, of so many letters an inch (small ones: 15)."""
    return "\n".join(textwrap.wrap(text, max(int(per_inch * width), 20)))


def legend_name(text: str, most: int = 30) -> str:
    """A name for a legend, from which matplotlib leaves out what begins with an underscore.

    >>> legend_name("_private")
    ' _private'
    """
    short = shorten(text, most)
    return f" {short}" if short.startswith("_") else short


def brief_labels(feature: Feature | Cross) -> tuple[str, ...]:
    """Levels for a figure: intervals by their cut points, with few digits.

    >>> brief_labels(Feature("age", values=(-1,), cuts=(18.123456, 65.0), has_missing=True))
    ('≤ 18.1', '18.1 to 65', '> 65', '-1', 'missing')
    """
    return feature.spelt(BRIEF)


@lru_cache(maxsize=4096)
def width_of(text: str, size: float) -> float:
    """Inches that a text takes at a font size in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(width) / 72


def fit_all(texts: Sequence[str], size: float, width: float) -> list[str]:
    """Names cut to a width in inches."""
    texts = [printable(text) for text in texts]
    if max(width_of(text, size) for text in texts) <= width:
        return texts
    low, high = 5, max(map(len, texts))  # letters that are allowed in any case, and too many
    while high - low > 1:
        most = (low + high) // 2
        fits = max(width_of(text, size) for text in shorten_all(texts, most)) <= width
        low, high = (most, high) if fits else (low, most)
    return shorten_all(texts, low)


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
