"""Drift over time as small multiples: one panel for each feature and each check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from weigh.monitoring.checks import LEVELS, LIMITS, Check
from weigh.monitoring.result import Drift
from weigh.plot.axes import OKABE_ITO, TOTAL, Drawing
from weigh.plot.labels import shorten

COLOURS = dict(zip(LEVELS, ("#9A9A9A", OKABE_ITO[5], OKABE_ITO[4], OKABE_ITO[1]), strict=True))
MARKS = dict(zip(LEVELS, ("o", "o", "^", "s"), strict=True))
"""Colour-blind readers can distinguish the colours; the marks also differ in black and white."""

WIDTH, HEIGHT = 2.9, 1.7
"""Size of a panel, in inches."""


@dataclass(frozen=True)
class Panel:
    """One check at all times; None at times without this check."""

    name: str
    checks: tuple[Check | None, ...]

    @property
    def worst(self) -> tuple[int, float]:
        """The highest level and the largest index."""
        known = [check for check in self.checks if check is not None]
        return max((LEVELS.index(c.level), c.index) for c in known)


def list_panels(drifts: Mapping[str, Drift], n: int) -> list[Panel]:
    """One panel for each feature and each check, the most serious drift first."""
    by_time = [{(c.about, c.name): c for c in found.every} for found in drifts.values()]
    keys = dict.fromkeys(key for checks in by_time for key in checks)
    panels = [Panel(_name(*key), tuple(checks.get(key) for checks in by_time)) for key in keys]
    return sorted(panels, key=lambda panel: panel.worst, reverse=True)[:n]


class DriftDisplay:
    """Drift over time: the index of each feature and of each check, as small multiples.

    Parameters
    ----------
    drifts : dict of Drift
        Results of `weigh.drift` for one model by time, such as {"2025-01": january, ...}.
    n : int, default=9
        Number of panels, the most serious drift first.

    Attributes
    ----------
    figure_, axes_
        The matplotlib figure and axes, after `plot`.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> months = {"May": weigh.drift(model, people), "June": weigh.drift(model, people[:900])}
    >>> display = weigh.DriftDisplay(months)
    >>> [panel.name for panel in display.panels][:2]
    ['Sex', 'mean total']
    """

    figure_: Any
    axes_: tuple[Any, ...]

    def __init__(self, drifts: Mapping[str, Drift], n: int = 9) -> None:
        if not drifts or not all(isinstance(found, Drift) for found in drifts.values()):
            raise ValueError("drifts must be a dict of results of weigh.drift by time")
        self.drifts, self.n = dict(drifts), n

    @classmethod
    def from_drifts(cls, drifts: Mapping[str, Drift], *, n: int = 9) -> Self:
        """Draw drifts by time on a new figure."""
        return cls(drifts, n).plot()

    @property
    def panels(self) -> list[Panel]:
        """The panels, the most serious drift first."""
        return list_panels(self.drifts, self.n)

    def plot(self, n_columns: int = 3) -> Self:
        """Draw on a new figure with `n_columns` panels side by side."""
        panels = self.panels
        n_columns = min(n_columns, len(panels))
        n_lines = -(-len(panels) // n_columns)
        figure, axes = _new_panels(n_lines, n_columns)
        top = max(panel.worst[1] for panel in panels)
        for ax, panel in zip(axes, panels, strict=False):
            self._draw(ax, panel, max(top, LIMITS[-1]))
        for ax in axes[len(panels) :]:
            ax.set_visible(False)
        _explain(figure)
        drawn = Drawing(figure, tuple(axes[: len(panels)]))
        self.figure_, self.axes_ = drawn.figure_, drawn.axes_
        return self

    def _draw(self, ax: Any, panel: Panel, top: float) -> None:
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_yscale("function", functions=(lambda v: np.sqrt(np.maximum(v, 0)), np.square))
        known = [(at, check) for at, check in enumerate(panel.checks) if check is not None]
        places = [at for at, _ in known]
        for limit in LIMITS[1:]:
            ax.axhline(limit, color="#D0D0D0", linewidth=0.8, zorder=0)
        ax.plot(places, [c.chance for _, c in known], color=TOTAL, linewidth=0.8, linestyle=":")
        ax.plot(places, [c.index for _, c in known], color=COLOURS["none"], linewidth=1.2)
        for at, check in known:
            colour, mark = COLOURS[check.level], MARKS[check.level]
            ax.plot(at, check.index, marker=mark, color=colour, markersize=5)
        ax.set_ylim(0, 1.1 * top)
        ax.set_yticks([limit for limit in (*LIMITS, 1.0, 4.0) if limit <= top])
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.set_xlim(-0.5, len(self.drifts) - 0.5)
        step = -(-len(self.drifts) // 4)
        ax.set_xticks(range(0, len(self.drifts), step), [*self.drifts][::step])
        ax.tick_params(labelsize="small")
        ax.set_title(shorten(panel.name, 34), fontsize="medium", loc="left", parse_math=False)


def _name(about: str, name: str) -> str:
    return f"weights of {name}" if about == "weights" else name


def _new_panels(n_lines: int, n_columns: int) -> tuple[Any, list[Any]]:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'weigh[plot]'") from None
    size = (WIDTH * n_columns, HEIGHT * n_lines + 0.5)
    figure, axes = pyplot.subplots(
        n_lines, n_columns, figsize=size, layout="constrained", squeeze=False
    )
    return figure, [*axes.ravel()]


def _explain(figure: Any) -> None:
    """Add the legend of the marks below all panels."""
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=COLOURS[level], marker=MARKS[level], linestyle="", label=level)
        for level in LEVELS
    ]
    marks.append(Line2D([], [], color=TOTAL, linestyle=":", label="chance"))
    figure.legend(handles=marks, loc="outside lower center", ncols=5, frameon=False)
