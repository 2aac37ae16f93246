"""What figures share: the frame of a display, colours, and names that fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from weigh.bins import printable

OKABE_ITO = (  # told apart by colour-blind eyes
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
)
FOR, AGAINST, TOTAL, FAINT = *OKABE_ITO[:2], "#4D4D4D", "#E6E6E6"


class Display:
    """What displays share: they hold data, `plot` finds the axes, and `_draw` draws on them."""

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure; `ax_` and `figure_` are then where it was drawn."""
        if ax is None:
            ax = new_axes(*self._size())
        ax.spines[["top", "right"]].set_visible(False)
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _size(self) -> tuple[float, float]:
        """The width and height of a new figure, in inches."""
        return 8.0, 4.4

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError("a display draws what it holds")


def new_axes(width: float, height: float) -> Any:
    """A new figure with one axes."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'weigh[plot]'") from None
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def bars_height(n_bars: int) -> float:
    """Inches for so many bars with a name each."""
    return 1.2 + 0.32 * n_bars


def shorten(text: str, most: int = 48) -> str:
    """A name on one line, that may be too long for a figure."""
    text = printable(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shorten_all(texts: Sequence[str], most: int = 48) -> list[str]:
    """Names for one figure; those that would read alike keep their ends and not their middles.

    >>> shorten_all(["income of the father", "income of the mother", "age"], 12)
    ['incom…father', 'incom…mother', 'age']
    """
    short = [shorten(text, most) for text in texts]
    head, tail = (most - 1) // 2, most - 1 - (most - 1) // 2
    return [
        f"{text[:head]}…{text[-tail:]}" if len(text) > most and short.count(cut) > 1 else cut
        for cut, text in zip(short, map(printable, texts), strict=True)
    ]


def inches(ax: Any) -> tuple[float, float]:
    """The width and height of an axes as it stands."""
    box = ax.get_window_extent()
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi
