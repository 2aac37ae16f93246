"""A `View`: a title, tables and sentences as data, as text for terminals and as HTML.

If a table is too wide for a terminal, the columns that it can spare are left out. Then its headings
are folded, its columns move closer together, and finally it is split into parts below each other.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, TypeAlias

from weigh.bins import printable
from weigh.layout.html import render

NAME, HEAD = 14, 8
"""Least width in characters to which names and headings are folded."""

LONGEST = 24
"""Least width of a column of names: longer words are broken before a table is split."""

GAP, TIGHT = 3, 2
"""Characters between two columns, normally and in wide tables."""

FOR, AGAINST = "#0072B2", "#D55E00"  # distinguishable to colour-blind readers


@dataclass(frozen=True)
class Bar:
    """A number as a bar from the middle of its cell, or from the left if none is negative."""

    share: float  # from -1 to 1
    from_left: bool = False

    @property
    def style(self) -> str:
        """CSS of the bar: start, length and colour."""
        if self.from_left:
            return f"left:0;width:{100 * min(self.share, 1.0):.1f}%;background:{FOR}"
        width = 50 * min(abs(self.share), 1.0)
        left = 50.0 if self.share > 0 else 50 - width
        colour = FOR if self.share > 0 else AGAINST
        return f"left:{left:.1f}%;width:{width:.1f}%;background:{colour}"


Cell: TypeAlias = str | Bar
Cells: TypeAlias = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]
"""Headings and rows of a table."""


def tabulate(items: Iterable[Any], columns: Mapping[str, Callable[[Any], str]]) -> Cells:
    """The headings of a table, and its rows: one for each item, from a function for each column.

    >>> tabulate([1, 2], {"Number": str, "Square": lambda n: str(n * n)})
    (('Number', 'Square'), (('1', '1'), ('2', '4')))
    """
    rows = tuple(tuple(spell(item) for spell in columns.values()) for item in items)
    return tuple(columns), rows


@dataclass(frozen=True)
class Grid:
    """A table of cells with headings. A folded grid shows its title and opens with a click."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    foot: tuple[tuple[Cell, ...], ...] = ()
    n_names: int = 1  # leading columns of text, which are left-aligned
    folded: bool | None = None  # None: cannot be folded
    spare: tuple[str, ...] = ()  # headings that narrow text leaves out, in this order

    @property
    def bare(self) -> Grid:
        """The table without bars; the foot comes last."""
        rows = (*self.rows, *self.foot)
        drawn = {j for row in rows for j, cell in enumerate(row) if isinstance(cell, Bar)}
        return replace(self, rows=rows, foot=()).take(
            [j for j in range(len(self.head)) if j not in drawn]
        )

    def take(self, places: Sequence[int]) -> Grid:
        """The table with some of its columns."""
        rows = tuple(tuple(row[j] for j in places if j < len(row)) for row in self.rows)
        n_names = sum(j < self.n_names for j in places)
        return replace(self, head=tuple(self.head[j] for j in places), rows=rows, n_names=n_names)

    def fits(self, width: int, folded: bool = False) -> bool:
        """Whether a text of this width folds no column but those of names, and headings if so."""
        return _total(_widths(self, folded), GAP) <= width

    def to_parts(self, width: int) -> list[Any]:
        """Title, table and notes as text, without bars."""
        shown, n = self.bare, 0
        while n < len(self.spare) and not shown.fits(width):
            shown = shown.take([j for j, name in enumerate(shown.head) if name != self.spare[n]])
            n += 1
        left_out = [f"Left out at this width: {', '.join(self.spare[:n])}."] if n else []
        tables = [part for table in _tables(shown, width) for part in ("", table)][1:]
        return [*filter(None, [self.title]), *tables, *left_out, *self.notes]


def fold_rest(grids: Iterable[Grid]) -> tuple[Grid, ...]:
    """Tables of which the first is open, and the others are folded."""
    return tuple(replace(grid, folded=place > 0) for place, grid in enumerate(grids))


@dataclass(frozen=True)
class Side:
    """One of two columns beside each other: title, lines of text and number, and their sum."""

    title: str
    lines: list[tuple[str, str]]
    total: tuple[str, str]


@dataclass(frozen=True)
class View:
    """A title, grids and sentences."""

    title: str
    grids: tuple[Grid, ...]
    lead: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_text(self, width: int) -> str:
        """Plain text, at most `width` characters wide, without bars."""
        tables = [grid.to_parts(width) for grid in self.grids]
        blocks = ([self.title] if self.title else [], self.lead, *tables, self.notes)
        parts = [part for block in filter(None, blocks) for part in ("", *block)]
        return to_plain(*parts[1:], width=width)

    def to_html(self) -> str:
        """One element with its style, which needs no script; every name is escaped."""
        return str(render("view.html", view=self))

    def to_page(self) -> str:
        """A document of its own."""
        return str(render("page.html", title=self.title, body=render("view.html", view=self)))


class Shown(ABC):
    """Base class of objects that are printed as text and shown in notebooks, from one view."""

    @abstractmethod
    def view(self) -> View:
        """Everything that is shown, as data."""

    def to_text(self, width: int = 100) -> str:
        """Everything as plain text, at most `width` characters wide."""
        return self.view().to_text(width)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.view().to_html()


# ------------------------------------------------------------ text


def to_plain(*parts: Any, width: int) -> str:
    """Sentences and renderables below each other, at most `width` characters wide.

    Trailing blanks are removed, and names cannot write terminal control codes. By default, rich
    displays in a notebook instead of writing, and the environment variable FORCE_COLOR makes it
    write terminal codes.
    """
    from rich.console import Console
    from rich.text import Text

    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=width,
        force_jupyter=False,
        force_terminal=False,
        legacy_windows=False,
        color_system=None,
        highlight=False,
    )
    for part in parts:
        console.print(Text(printable(part)) if isinstance(part, str) else part)
    return "\n".join(line.rstrip() for line in buffer.getvalue().rstrip().splitlines())


def sides_to_text(
    sides: Sequence[Side], foot: Iterable[tuple[str, str]], notes: Iterable[str], width: int
) -> str:
    """Columns beside each other with their sums, lines and numbers below them, and sentences."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    def cell(text: str) -> Text:
        return Text(printable(text), overflow="fold")

    table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False, show_footer=True)
    for side in sides:
        table.add_column(cell(side.title), cell(side.total[0]), overflow="fold")
        table.add_column("", cell(side.total[1]), justify="right", no_wrap=True)
    for pairs in zip_longest(*(side.lines for side in sides), fillvalue=("", "")):
        table.add_row(*(cell(text) for pair in pairs for text in pair))
    below = Table.grid(padding=(0, 2))
    below.add_column(overflow="fold")
    for text, number in foot:
        below.add_row(cell(text), cell(number))
    return to_plain(table, "", below, "", *notes, width=width)


def _tables(grid: Grid, width: int) -> Iterator[Any]:
    """The table in one part, or in several that each begin with the columns of names."""
    for folded, gap in ((False, GAP), (True, GAP), (True, TIGHT)):
        widths = _widths(grid, folded)
        if _total(widths, gap) <= width:
            yield _table(grid, widths, gap, width)
            return
    parts = _parts(widths, grid.n_names, width)
    if len(parts) == 1:
        yield _table(grid, widths, TIGHT, width)
        return
    for places in parts:
        yield from _tables(grid.take(places), width)


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _column(grid: Grid, j: int) -> list[str]:
    return [printable(str(row[j])) for row in grid.rows if j < len(row)]


def _widths(grid: Grid, folded: bool) -> list[int]:
    """The least width of each column, with names folded, and headings if `folded`."""
    from rich.cells import cell_len

    found = []
    for j, name in enumerate(map(printable, grid.head)):
        if j < grid.n_names:
            own = max(_folded(text, NAME) for text in (name, *_column(grid, j)))
            found.append(min(own, LONGEST))
        else:
            cells = max(map(cell_len, _column(grid, j)), default=0)
            found.append(max(cells, _folded(name, HEAD) if folded else cell_len(name)))
    return found


def _folded(text: str, least: int) -> int:
    """The width of a text that is folded between words, but not below `least`."""
    from rich.cells import cell_len

    words = max(map(cell_len, text.split()), default=0)
    return min(cell_len(text), max(words, least))


def _parts(widths: list[int], n_names: int, width: int) -> list[list[int]]:
    """The columns of each part: as few parts as possible, of similar width."""
    parts = _split(widths, n_names, width)
    for narrower in range(width - 1, _total(widths[:n_names], TIGHT), -1):
        again = _split(widths, n_names, narrower)
        if len(again) > len(parts):
            break
        parts = again
    return parts


def _split(widths: list[int], n_names: int, width: int) -> list[list[int]]:
    """Split greedily: each part takes the columns that fit beside the names."""
    names, space = [*range(n_names)], width - _total(widths[:n_names], TIGHT)
    parts, room = [names], space
    for j in range(n_names, len(widths)):
        if widths[j] + TIGHT > room and len(parts[-1]) > n_names:
            parts.append(names)
            room = space
        parts[-1] = [*parts[-1], j]
        room -= widths[j] + TIGHT
    return parts


def _table(grid: Grid, widths: list[int], gap: int, width: int) -> Any:
    """The table in columns of these widths; the columns of names share what is left."""
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    def cell(text: Cell, j: int) -> Any:
        padded = str(text).endswith(" ")  # such as a bar of characters
        shown = Text(printable(str(text)), justify="left" if padded else None)
        return Padding(shown, (0, 0, 0, gap - 1 if j else 0))

    # Before 14.3, rich made columns of a fixed width wider by the padding that edges lack.
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=0)
    spare = width - _total(widths, gap)
    for j, name in enumerate(grid.head):
        own, justify = widths[j], "left" if j < grid.n_names else "right"
        if j < grid.n_names and spare > 0:
            whole = max(_folded(text, width) for text in (printable(name), *_column(grid, j)))
            own = min(whole, own + spare)
            spare -= own - widths[j]
        fixed = own + (gap - 1 if j else 0) if spare >= 0 else None  # too narrow for the table
        made.add_column(cell(name, j), justify=justify, overflow="fold", width=fixed)  # type: ignore[arg-type]
    for row in grid.rows:
        made.add_row(*(cell(text, j) for j, text in enumerate(row)))
    return made
