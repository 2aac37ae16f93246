"""Drift of several sets of new rows, such as months: as a table, a page and small multiples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from weigh.errors import Parameter, ParameterError, begin_with
from weigh.evidence import model_of
from weigh.frames import Table, did_you_mean, keep_reader, read
from weigh.layout import Grid, Shown, View, count_of, list_few, render
from weigh.monitoring.checks import LEVELS, LIMITS, Check
from weigh.monitoring.model import counted_evidence, drift, read_alpha
from weigh.monitoring.result import Drift
from weigh.monitoring.show import explain_levels
from weigh.plot.axes import OKABE_ITO, TOTAL, Drawing, pyplot, shorten

COLOURS = dict(zip(LEVELS, ("#9A9A9A", OKABE_ITO[5], OKABE_ITO[4], OKABE_ITO[1]), strict=True))
MARKS = dict(zip(LEVELS, ("o", "o", "^", "s"), strict=True))
"""Colour-blind readers can distinguish the colours; the marks also differ in black and white."""

WIDTH, HEIGHT = 2.9, 1.7
"""Size of a panel of the figure, in inches."""

PANELS = 9
WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 240, 120, 30, 8, 6, 20
"""Number of panels on the page, their size, and that of their margins, in pixels."""


@dataclass(frozen=True)
class SeriesPanel:
    """One check at all times; None at times without this check."""

    name: str
    checks: tuple[Check | None, ...]

    @property
    def worst(self) -> tuple[int, float]:
        """The highest level and the largest index."""
        known = [check for check in self.checks if check is not None]
        return max((LEVELS.index(c.level), c.index) for c in known)


def list_panels(drifts: Mapping[str, Drift], n: int) -> list[SeriesPanel]:
    """One panel for each feature and each check, the most serious drift first."""
    by_time = [{(c.about, c.name): c for c in found.every} for found in drifts.values()]
    names = {key: check.full_name() for checks in by_time for key, check in checks.items()}
    panels = [
        SeriesPanel(name, tuple(checks.get(key) for checks in by_time))
        for key, name in names.items()
    ]
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
    def panels(self) -> list[SeriesPanel]:
        """The panels, the most serious drift first."""
        return list_panels(self.drifts, self.n)

    def plot(self, n_columns: int = 3) -> Self:
        """Draw on a new figure with `n_columns` panels side by side."""
        panels = self.panels
        n_columns = min(n_columns, len(panels))
        n_lines = -(-len(panels) // n_columns)
        figure, axes = _new_panels(n_lines, n_columns)
        top = _highest(panels)
        for ax, panel in zip(axes, panels, strict=False):
            self._draw(ax, panel, top)
        for ax in axes[len(panels) :]:
            ax.set_visible(False)
        _explain(figure)
        drawn = Drawing(figure, tuple(axes[: len(panels)]))
        self.figure_, self.axes_ = drawn.figure_, drawn.axes_
        return self

    def _draw(self, ax: Any, panel: SeriesPanel, top: float) -> None:
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_yscale("function", functions=(lambda v: np.sqrt(np.maximum(v, 0)), np.square))
        known = [(at, check) for at, check in enumerate(panel.checks) if check is not None]
        places = [at for at, _ in known]
        for limit in LIMITS[1:]:
            heights = [c.chance + limit for _, c in known]
            ends = np.subtract(places, 0.5), np.add(places, 0.5)
            ax.hlines(heights, *ends, color="#D0D0D0", linewidth=0.8, zorder=0)
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
        names = [shorten(name, 16) for name in self.drifts][::step]
        ax.set_xticks(range(0, len(self.drifts), step), names, parse_math=False)
        ax.tick_params(labelsize="small")
        ax.set_title(shorten(panel.name, 34), fontsize="medium", loc="left", parse_math=False)


def _new_panels(n_lines: int, n_columns: int) -> tuple[Any, list[Any]]:
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


# ------------------------------------------------------------ a table and a page


@dataclass(frozen=True, eq=False, repr=False)
class DriftSeries(Shown):
    """The drift of several sets of new rows, such as months, from one model.

    It prints as a table, shows as HTML in notebooks, and `to_dict()` is plain data for JSON.
    `weigh.DriftDisplay(series.drifts)` draws it with matplotlib.

    Attributes
    ----------
    drifts : dict of Drift
        Results of `weigh.drift`, by the names of the tables.
    without_labels : tuple of str
        Tables without labels, by name. Empty if no table has labels.
    """

    drifts: dict[str, Drift]
    without_labels: tuple[str, ...] = ()

    @property
    def level(self) -> str:
        """The level of the most serious drift: none, notice, warning or alarm."""
        return max((found.level for found in self.drifts.values()), key=LEVELS.index)

    @property
    def verdict(self) -> str:
        """The tables with the most serious drift, and the verdict of the last table."""
        if self.level == LEVELS[0]:
            return "No drift: all differences are within sampling noise or too small to matter."
        raised = [name for name, found in self.drifts.items() if found.level == self.level]
        name, last = [*self.drifts.items()][-1]
        return (
            f"{self.level.capitalize()} in {len(raised)} of {len(self.drifts)}, first in "
            f"{raised[0]}. The last, {name}: {last.verdict}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The tables without labels, and the meaning of the levels."""
        lacking = ", ".join(self.without_labels)
        compared = f"Compared without labels, which the table lacks: {lacking}." if lacking else ""
        levels = explain_levels(next(iter(self.drifts.values())).alpha)
        return tuple(filter(None, (compared, levels)))

    def reaches(self, level: str) -> bool:
        """Whether any of the drifts reaches a level ("notice", "warning" or "alarm")."""
        return any(found.reaches(level) for found in self.drifts.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON: `Drift.to_dict` by the names of the tables."""
        return {name: found.to_dict() for name, found in self.drifts.items()}

    def to_html(self) -> str:
        """A self-contained HTML page with a panel for each check, without scripts."""
        return self.view().to_page()

    def view(self) -> SeriesView:
        """The table, and the panels of the page, as data."""
        first = next(iter(self.drifts.values()))
        many = count_of(len(self.drifts), "set")
        title = (
            f"Drift of {first.model}: {many} of new rows, "
            f"{count_of(first.n_training, 'training row')}"
        )
        rows = tuple(
            (name, found.level, found.action, _raised(found), f"{found.n_rows:,}")
            for name, found in self.drifts.items()
        )
        head = ("File", "Drift", "Action", "Raised by", "Rows")
        grid = Grid(head, rows, n_names=4)
        return SeriesView(title, (grid,), (self.verdict,), self.notes, self.drifts)


def _raised(found: Drift) -> str:
    """The names of the checks with the highest level, as text."""
    names = [check.name for check in found.every if check.level == found.level != LEVELS[0]]
    return list_few(names) or "-"


@dataclass(frozen=True)
class SeriesView(View):
    """A view with a panel for each check."""

    drifts: Mapping[str, Drift] | None = None

    def to_html(self) -> str:
        """One HTML element with its style, without scripts; every name is escaped."""
        return str(self._body())

    def to_page(self) -> str:
        """A self-contained HTML document."""
        return str(render("page.html", title=self.title, body=self._body()))

    def _body(self) -> Any:
        drifts = self.drifts or {}
        panels = list_panels(drifts, PANELS)
        top = _highest(panels)
        drawn = [_draw(panel, [*drifts], top) for panel in panels]
        ticks = [(f"{limit:g}", _height(limit, top)) for limit in LIMITS[1:]]
        places = {
            "width": WIDE,
            "height": HIGH,
            "left": LEFT,
            "right": WIDE - RIGHT,
        }
        key = [{"level": level, "colour": COLOURS[level]} for level in LEVELS]
        return render("view.html", view=self) + render(
            "panels.html", panels=drawn, ticks=ticks, key=key, **places
        )


def _highest(panels: Sequence[SeriesPanel]) -> float:
    """The top of the scale: the largest index, and the limit of an alarm in every panel."""
    known = [check for panel in panels for check in panel.checks if check is not None]
    return max([LIMITS[-1], *(max(c.index, c.chance + LIMITS[-1]) for c in known)])


def _draw(panel: SeriesPanel, names: list[str], top: float) -> dict[str, Any]:
    """One panel: the coordinates of its points, and a text for screen readers."""
    step = (WIDE - LEFT - RIGHT) / len(names)
    known = [
        (LEFT + (at + 0.5) * step, names[at], check)
        for at, check in enumerate(panel.checks)
        if check is not None
    ]
    return {
        "name": panel.name,
        "told": "; ".join(f"{name} {check.index:.3g} ({check.level})" for _, name, check in known),
        "line": [(x, _height(check.index, top)) for x, _, check in known],
        "chance": [(x, _height(check.chance, top)) for x, _, check in known],
        "limits": [
            [
                (x + side * step / 2, _height(check.chance + limit, top))
                for x, _, check in known
                for side in (-1, 1)
            ]
            for limit in LIMITS[1:]
        ],
        "marks": [
            {"x": x, "y": _height(check.index, top), "level": check.level, "name": name,
             "colour": COLOURS[check.level]}
            for x, name, check in known
        ],
        "ends": (names[0], names[-1] if len(names) > 1 else ""),
    }  # fmt: skip


def _height(index: float, top: float) -> float:
    """The vertical position of an index, on a square-root scale."""
    return float(HIGH - BOTTOM - (max(index, 0.0) / top) ** 0.5 * (HIGH - BOTTOM - TOP))


def drift_series(
    model: Any,
    tables: Mapping[str, Any],
    y: Any = None,
    *,
    reference: Any = None,
    alpha: float = 0.01,
    exposure: str | float | None = None,
) -> DriftSeries:
    """Compare several sets of new rows, such as months, with the training rows of a model.

    Each set is compared as by `weigh.drift`. The probability of a finding without drift is `alpha`
    for each set.

    Parameters
    ----------
    model : classifier, Scorecard, EducatedRegressor, EducatedSurvival or BoostedNBRegressor
        Fitted model with tables of weights (`evidence_`).
    tables : dict of tables
        New rows by name, in the order of time, such as {"2025-01": january, ...}.
    y : str or tuple of str, optional
        The column of their classes or numbers, or those of event and duration. Tables without them
        are compared without labels; at least one must have them.
    reference, alpha, exposure
        As in `weigh.drift`.

    Returns
    -------
    DriftSeries
        Prints as a table; `to_html()` is a page with small multiples.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> men = [{"Class": "3rd", "Sex": "Male", "Age": "Adult"}] * 500
    >>> found = weigh.drift_series(model, {"May": people, "June": men}, "Survived")
    >>> [one.level for one in found.drifts.values()]
    ['none', 'alarm']
    """
    if not isinstance(tables, Mapping) or not tables:
        raise ValueError("tables must be a dict of new rows by name, such as {'2025-01': table}")
    if len({*map(str, tables)}) < len(tables):
        raise ValueError("two tables have the same name as text; give each table a name of its own")
    own = model_of(model)
    counted_evidence(own, type(model).__name__)  # so that an error of the model names no table
    named = {}
    for name, X in tables.items():
        with begin_with(str(name)):
            named[str(name)] = read(X)
    asked = {"reference": keep_reader(reference), "alpha": read_alpha(alpha), "exposure": exposure}
    lacking = () if y is None else _find_unlabelled(named, y)
    drifts = {}
    for name, X in named.items():
        with begin_with(name):
            drifts[name] = drift(model, X, None if name in lacking else y, **asked)
    return DriftSeries(drifts, lacking)


def _find_unlabelled(tables: Mapping[str, Table], y: Any) -> tuple[str, ...]:
    """The names of the tables without the label columns; an error if none has them."""
    asked = (y,) if isinstance(y, str) else y
    if not isinstance(asked, list | tuple) or not all(isinstance(name, str) for name in asked):
        raise ParameterError(Parameter("y"), " must be the name of a column of the tables")
    lacking = tuple(name for name, table in tables.items() if not {*asked} <= {*table.names})
    if len(lacking) == len(tables):
        every = {name for table in tables.values() for name in table.names}
        odd = next((name for name in asked if name not in every), asked[0])
        near = did_you_mean(odd, every)
        raise ParameterError(Parameter("y", odd), f" is a column of none of the tables{near}")
    return lacking
