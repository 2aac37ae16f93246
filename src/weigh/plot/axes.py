"""Figures, axes, colours, limits of an axis, and names shortened to the available space."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib import import_module
from itertools import takewhile
from typing import Any, Self

import numpy as np

from weigh import layout
from weigh.arrays import Floats
from weigh.bins import BRIEF, Cross, Feature, printable
from weigh.errors import Extra
from weigh.sheet import Item

pyplot = Extra("matplotlib.pyplot", "plots need matplotlib", "plot")

OKABE_ITO = (  # distinguishable to colour-blind readers
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
)
FOR, AGAINST, TOTAL, FAINT = *OKABE_ITO[:2], "#4D4D4D", "#E6E6E6"


def colour_sides(adverse: bool) -> tuple[str, str]:
    """The colours of weights for and against a class; evidence for an adverse one is vermilion."""
    return (AGAINST, FOR) if adverse else (FOR, AGAINST)


class Display(ABC):
    """Base class of displays: they hold data, `plot` finds the axes, and `_draw` draws on them."""

    SIZE = 8.0, 4.4
    """Width and height of a new figure, in inches."""

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure; `ax_` and `figure_` then refer to it."""
        if ax is None:
            ax = new_axes(*self._size())
        ax.spines[["top", "right"]].set_visible(False)
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _size(self) -> tuple[float, float]:
        """The width and height of a new figure, in inches."""
        return self.SIZE

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw the data of the display."""


@dataclass(frozen=True)
class Drawing:
    """A figure of several parts: `figure_` and its `axes_`.

    A notebook shows open figures at the end of a cell, closes them, and shows whatever the cell
    returns. A figure that is returned would therefore appear twice; a drawing appears once.
    """

    figure_: Any = field(repr=False)
    axes_: tuple[Any, ...]

    def _ipython_display_(self) -> None:
        """Show the figure, unless it is open: a notebook shows open figures by itself."""
        from matplotlib._pylab_helpers import Gcf

        if self.figure_.canvas.manager not in Gcf.get_all_fig_managers():
            import_module("IPython.display").display(self.figure_)


def new_axes(width: float, height: float) -> Any:
    """A new figure with one axes."""
    return new_figure(width, height)[1][0]


def new_figure(width: float, height: float, n_columns: int = 1) -> tuple[Any, list[Any]]:
    """A new figure and its axes, side by side."""
    figure, axes = pyplot.subplots(
        1, n_columns, figsize=(width, height), layout="constrained", squeeze=False
    )
    return figure, [*axes[0]]


def set_legend(ax: Any, **look: Any) -> None:
    """Draw a legend without a frame, whose names are not read as formulas."""
    for text in ax.legend(frameon=False, **look).get_texts():
        text.set_parse_math(False)


def inches(ax: Any, settled: bool = True) -> tuple[float, float]:
    """The width and height of an axes in inches; settled, after the figure's layout was applied."""
    figure = ax.figure.canvas.figure  # the whole figure, not a subfigure
    engine = figure.get_layout_engine()
    if settled and engine is not None:
        engine.execute(figure)
    box = ax.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi


RARE, ALLOWED = 0.05, 1.5
"""Levels with the lowest or highest weights may lie beyond the axis if they hold at most the share
RARE of the rows and are more than ALLOWED nats away from the others.
"""


def usual_weights(weights: Floats, share: Floats) -> Floats:
    """Sorted weights of a feature's levels, without the share RARE of rows at either end."""
    order = np.argsort(weights, kind="stable")
    part = share[order] / share.sum()
    below = np.cumsum(part)
    return np.asarray(weights[order][(below > RARE) & (below - part < 1 - RARE)])


def shorten(text: str, most: int = 48) -> str:
    """A name on one line, cut at the end to at most `most` characters."""
    return layout.shorten(printable(text), most)


def shorten_middle(text: str, most: int = 48) -> str:
    """A name cut in the middle; its end is kept, where the level of a feature is."""
    text = printable(text)
    tail = most // 2
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[-tail:]}"


def shorten_all(texts: Sequence[str], most: int = 48) -> list[str]:
    """Shortened names for one figure; those that would be equal are cut elsewhere.

    They are cut in the middle, or, if that leaves them equal, on both sides of what differs.

    >>> shorten_all(["income of the father", "income of the mother", "age"], 12)
    ['incom…father', 'incom…mother', 'age']
    >>> shorten_all(["laboratory_value_01_in_mmol", "laboratory_value_02_in_mmol"], 12)
    ['…lue_01_in_…', '…lue_02_in_…']
    """
    whole, short = [printable(text) for text in texts], [shorten(text, most) for text in texts]
    for cut in (lambda text, alike: shorten_middle(text, most), partial(_around, most=most)):
        short = _tell_apart(whole, short, cut)
    return short


def _tell_apart(
    whole: Sequence[str], short: Sequence[str], cut: Callable[[str, Collection[str]], str]
) -> list[str]:
    """Cut different names that were shortened to the same text again."""
    alike: dict[str, set[str]] = {}
    for name, text in zip(whole, short, strict=True):
        alike.setdefault(text, set()).add(name)
    return [
        text if len(alike[text]) == 1 else cut(name, alike[text])
        for name, text in zip(whole, short, strict=True)
    ]


def _around(text: str, alike: Collection[str], most: int) -> str:
    """The part of a text in which it differs from others that begin alike."""
    kept, ends = most - 2, zip(min(alike), max(alike), strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    start = max(min(same - kept // 2, len(text) - kept - 1), 0)
    before, after = "…" * (start > 0), "…" * (start + kept < len(text))
    return f"{before}{text[start : start + kept]}{after}"


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
    short_by = wanted - box.x0 * width / box.width
    if short_by > 0:
        share = min(short_by / width, PART) * box.width
        ax.set_position((box.x0 + share, box.y0, box.width - share, box.height))
        ax.set_in_layout(True)


def spell_tick(number: float, _: Any = None) -> str:
    """A tick as text: with thousands separators from 10,000 on, as in nomograms.

    >>> [spell_tick(number) for number in (-50000.0, 1987.0, 0.1 + 0.2, -0.0)]
    ['−50,000', '1987', '0.3', '0']
    """
    text = f"{number:,.12g}" if abs(number) >= 10_000 else f"{round(number, 12) + 0.0:.6g}"
    return text.replace("-", "\N{MINUS SIGN}")
