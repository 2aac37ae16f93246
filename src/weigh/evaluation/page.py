"""A page of tables and sentences, as text for a terminal and as HTML."""

from __future__ import annotations

import html
import io
from dataclasses import dataclass
from typing import Any

from weigh.bins import printable

NAMES, NUMBERS = "text-align:left;white-space:pre-wrap", "text-align:right;white-space:nowrap"
NAME, GAP = 12, 3
"""Characters that a name must have before it is folded, and those between two columns."""


@dataclass(frozen=True)
class Section:
    """A table with a title; columns named in `spare` go first where the page is narrow."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    spare: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def without(self, names: tuple[str, ...]) -> Section:
        """The section less some columns."""
        places = [j for j, name in enumerate(self.head) if name not in names]
        rows = tuple(tuple(row[j] for j in places) for row in self.rows)
        spare = tuple(name for name in self.spare if name not in names)
        return Section(self.title, tuple(self.head[j] for j in places), rows, spare, self.notes)


@dataclass(frozen=True)
class Page:
    """What is to be read: a heading, sentences, tables."""

    title: str
    words: tuple[str, ...]
    sections: tuple[Section, ...]

    def to_text(self, width: int) -> str:
        """Plain text, at most `width` characters wide."""
        from rich.console import Console
        from rich.text import Text

        buffer = io.StringIO()
        console = Console(file=buffer, width=width, color_system=None)
        console.print(Text(printable(self.title)))
        if self.words:
            console.print()
        for line in self.words:
            console.print(Text(printable(line)))
        for section in self.sections:
            console.print()
            console.print(Text(printable(section.title)))
            console.print(_grid(_fit(section, width), width))
            for note in section.notes:
                console.print(Text(printable(note)))
        return "\n".join(line.rstrip() for line in buffer.getvalue().rstrip().splitlines())

    def to_html(self) -> str:
        """The same as HTML; every name is escaped."""
        words = "".join(f"<p>{html.escape(line)}</p>" for line in self.words)
        tables = "".join(_html_table(section) for section in self.sections)
        return f"<div><h3>{html.escape(self.title)}</h3>{words}{tables}</div>"


def _fit(section: Section, width: int) -> Section:
    """The section with as many columns as have room beside folded names."""
    for n in range(len(section.spare) + 1):
        shown = section.without(section.spare[:n])
        if _width(shown) <= width:
            break
    return shown


def _width(section: Section) -> int:
    """How wide the table is where long names in its first column are folded."""
    from rich.cells import cell_len

    lengths = [max(map(cell_len, cells)) for cells in zip(section.head, *section.rows, strict=True)]
    return min(lengths[0], NAME) + sum(lengths[1:]) + GAP * (len(lengths) - 1)


def _grid(section: Section, width: int) -> Any:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    fits = _width(section) <= width
    for j, name in enumerate(section.head):
        grid.add_column(
            Text(printable(name)),
            justify="right" if j else "left",
            overflow="fold",
            no_wrap=fits and j > 0,
        )
    for row in section.rows:
        grid.add_row(*(Text(printable(cell)) for cell in row))
    return grid


def _html_table(section: Section) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        looks = (NAMES, *[NUMBERS] * (len(cells) - 1))
        shown = (
            f'<{tag} style="{look}">{html.escape(printable(cell))}</{tag}>'
            for cell, look in zip(cells, looks, strict=True)
        )
        return f"<tr>{''.join(shown)}</tr>"

    body = "".join(row(cells, "td") for cells in section.rows)
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in section.notes)
    return (
        f"<h4>{html.escape(section.title)}</h4><table><thead>{row(section.head, 'th')}</thead>"
        f"<tbody>{body}</tbody></table>{notes}"
    )
