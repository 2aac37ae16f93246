"""What an object shows, as data: `View.to_html` for notebooks, `View.to_text` for terminals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from weigh.layout.html import render
from weigh.text import lay_out, to_plain

FOR, AGAINST = "#0072B2", "#D55E00"  # told apart by colour-blind eyes


@dataclass(frozen=True)
class Bar:
    """A number as a bar from the middle of its cell, or from the left where none is negative."""

    share: float  # from -1 to 1
    from_left: bool = False

    @property
    def style(self) -> str:
        """Where it begins, how long it is, and its colour."""
        if self.from_left:
            return f"left:0;width:{100 * min(self.share, 1.0):.1f}%;background:{FOR}"
        width = 50 * min(abs(self.share), 1.0)
        left = 50.0 if self.share > 0 else 50 - width
        colour = FOR if self.share > 0 else AGAINST
        return f"left:{left:.1f}%;width:{width:.1f}%;background:{colour}"


Cell: TypeAlias = str | Bar


@dataclass(frozen=True)
class Grid:
    """Rows below a heading. A folded grid shows its title and opens with a click."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    foot: tuple[tuple[Cell, ...], ...] = ()
    n_names: int = 1  # columns of text, which stand left
    folded: bool | None = None  # None cannot be folded

    def without_bars(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Headings and cells of the columns that hold text alone; the foot comes last."""
        rows = (*self.rows, *self.foot)
        drawn = {j for row in rows for j, cell in enumerate(row) if isinstance(cell, Bar)}
        keep = [j for j in range(len(self.head)) if j not in drawn]
        cells = [tuple(str(row[j]) for j in keep if j < len(row)) for row in rows]
        return tuple(self.head[j] for j in keep), cells


@dataclass(frozen=True)
class View:
    """A title, grids and sentences."""

    title: str
    grids: tuple[Grid, ...]
    lead: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_text(self, width: int) -> str:
        """Plain text, at most `width` characters wide, without bars."""
        parts: list[Any] = []
        for grid in self.grids:
            head, rows = grid.without_bars()
            parts += [*filter(None, [grid.title]), lay_out(head, rows, range(grid.n_names))]
        return to_plain(self.title, *self.lead, *parts, *self.notes, width=width)

    def to_html(self) -> str:
        """One element with its style, which needs no script; every name is escaped."""
        return str(render("view.html", view=self))
