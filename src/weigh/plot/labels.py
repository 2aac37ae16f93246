"""Names and levels, shortened to the available space but still distinct."""

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
    """A name on one line, cut at the end to at most `most` characters."""
    text = printable(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shorten_middle(text: str, most: int = 48) -> str:
    """A name cut in the middle; its end is kept, where the level of a feature is."""
    text = printable(text)
    tail = most // 2
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[-tail:]}"


def shorten_all(texts: Sequence[str], most: int = 48) -> list[str]:
    """Shortened names for one figure; those that would be equal are cut in the middle.

    >>> shorten_all(["income of the father", "income of the mother", "age"], 12)
    ['incom…father', 'incom…mother', 'age']
    """
    short = [shorten(text, most) for text in texts]
    return [
        shorten_middle(text, most) if short.count(cut) > 1 else cut
        for cut, text in zip(short, texts, strict=True)
    ]


def wrap(text: str, width: float, per_inch: float = 15) -> str:
    """Text wrapped to a width in inches, with `per_inch` letters per inch (small text: 15)."""
    return "\n".join(textwrap.wrap(text, max(int(per_inch * width), 20)))


def legend_name(text: str, most: int = 30) -> str:
    """A name for a legend; a blank goes before an underscore, or matplotlib would omit the name.

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
    """The width of a text in inches at a font size in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(width) / 72


def fit_all(texts: Sequence[str], size: float, width: float) -> list[str]:
    """Names shortened to a width in inches."""
    texts = [printable(text) for text in texts]
    if max(width_of(text, size) for text in texts) <= width:
        return texts
    low, high = 5, max(map(len, texts))  # a minimum number of letters, and too many
    while high - low > 1:
        most = (low + high) // 2
        fits = max(width_of(text, size) for text in shorten_all(texts, most)) <= width
        low, high = (most, high) if fits else (low, most)
    return shorten_all(texts, low)


PART, PAD = 0.42, 0.15
"""The maximum share of the width for names, and the inches between names and axes."""

LARGEST, SMALL, SMALLEST, HIGH = 10.0, 8.0, 6.0, 1.25
"""Font sizes in points, and the height of a line relative to its font size."""

NARROW = 4.0
"""Width of axes in inches up to which text is small."""


@dataclass(frozen=True)
class Name:
    """The name of a bar: a feature and its level, or one text."""

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
    """Label the bars of axes, whose positions are 0, 1, 2 and so on."""
    width, height = inches(ax)
    step = height / (len(names) + 0.5)
    size = min(LARGEST if width > NARROW else SMALL, max(SMALLEST, 72 * step / HIGH))
    texts = cut_names(names, size, PART * width, folds=72 * step >= 2 * HIGH * size)
    ax.set_yticks(range(len(texts)), texts, parse_math=False, fontsize=size)
    widest = max(width_of(line, size) for text in texts for line in text.splitlines())
    _make_room(ax, widest + PAD)


def cut_names(names: Sequence[Name], size: float, room: float, folds: bool) -> list[str]:
    """Names that fit a width in inches: unchanged, else on two lines, else shortened.

    A feature and its level are shortened separately, so that a part of both is kept.
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
    """Move the left edge of axes without a layout engine, if names would leave the figure."""
    figure = ax.figure.canvas.figure
    if figure.get_layout_engine() is not None:
        return
    box, width = ax.get_position(), inches(ax)[0]
    lacks = wanted - box.x0 * width / box.width
    if lacks > 0:
        share = min(lacks / width, PART) * box.width
        ax.set_position((box.x0 + share, box.y0, box.width - share, box.height))
        ax.set_in_layout(True)
