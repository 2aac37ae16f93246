"""Figures, axes, colours, and the limits of an axis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from weigh.frames import Floats

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
        return 8.0, 4.4

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw the data of the display."""


@dataclass(frozen=True)
class Drawing:
    """A figure of several parts: `figure_` and its `axes_`.

    A notebook shows open figures at the end of a cell, and whatever the cell returns. A figure that
    is returned would therefore appear twice; a drawing appears once.
    """

    figure_: Any = field(repr=False)
    axes_: tuple[Any, ...]


def new_axes(width: float, height: float) -> Any:
    """A new figure with one axes."""
    return new_figure(width, height)[1][0]


def new_figure(width: float, height: float, n_columns: int = 1) -> tuple[Any, list[Any]]:
    """A new figure and its axes, side by side."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'weigh[plot]'") from None
    figure, axes = pyplot.subplots(
        1, n_columns, figsize=(width, height), layout="constrained", squeeze=False
    )
    return figure, [*axes[0]]


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
