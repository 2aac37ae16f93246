"""A page of tables and sentences, as text for a terminal and as HTML.

If a table is too wide, its headings are folded, then its columns move closer together, and finally
it is split into parts below each other. No column is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from weigh.bins import printable
from weigh.layout import Grid, View, percent, to_plain

NAME, HEAD = 14, 8
"""Least width in characters to which names and headings are folded."""

GAP, TIGHT = 3, 2
"""Characters between two columns, normally and in wide tables."""


Cells: TypeAlias = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]
"""Headings and rows of a table."""

MOST = 3
"""Most names that a sentence lists."""


def list_few(names: Sequence[str], joint: str = ", ") -> str:
    """The first three names, and how many more there are.

    >>> list_few(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return joint.join(names[:MOST]) + more


def share_of(value: float) -> str:
    """A share as a percentage with at most one decimal place, or a dash for NaN.

    >>> share_of(0.12345), share_of(0.5)
    ('12.3%', '50%')
    """
    return "-" if value != value else percent(round(value, 3))


def tabulate(items: Iterable[Any], columns: Mapping[str, Callable[[Any], str]]) -> Cells:
    """The headings of a table, and its rows: one for each item, from a function for each column.

    >>> tabulate([1, 2], {"Number": str, "Square": lambda n: str(n * n)})
    (('Number', 'Square'), (('1', '1'), ('2', '4')))
    """
    rows = tuple(tuple(spell(item) for spell in columns.values()) for item in items)
    return tuple(columns), rows


@dataclass(frozen=True)
class Section:
    """A table with a title and notes below; the first `texts` columns are text, others numbers."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    texts: int = 1

    def take(self, places: list[int]) -> Section:
        """The section with some of its columns."""
        rows = tuple(tuple(row[j] for j in places) for row in self.rows)
        return Section(self.title, tuple(self.head[j] for j in places), rows, self.notes)


@dataclass(frozen=True)
class Page:
    """A heading, sentences and tables."""

    title: str
    words: tuple[str, ...]
    sections: tuple[Section, ...]

    def to_text(self, width: int) -> str:
        """Plain text, at most `width` characters wide."""
        return to_plain(*self._parts(width), width=width)

    def _parts(self, width: int) -> Iterator[Any]:
        yield self.title
        if self.words:
            yield from ("", *self.words)
        for section in self.sections:
            yield from ("", section.title)
            for k, grid in enumerate(_grids(section, width)):
                yield from ("", grid) if k else (grid,)
            yield from section.notes

    def to_html(self) -> str:
        """HTML for a notebook: the sentences, the first table, and the other tables collapsed."""
        grids = tuple(
            Grid(
                section.head,
                tuple(_indent(row) for row in section.rows),
                section.title or section.head[0],
                folded=place > 0,
            )
            for place, section in enumerate(self.sections)
        )
        notes = tuple(note for section in self.sections for note in section.notes)
        return View(self.title, grids, self.words, notes).to_html()


def _indent(row: tuple[str, ...]) -> tuple[str, ...]:
    """A row with the leading spaces of its name made non-breaking, for HTML."""
    bare = row[0].lstrip(" ")
    return ("\u00a0" * (len(row[0]) - len(bare)) + bare, *row[1:])


def _grids(section: Section, width: int) -> Iterator[Any]:
    """The table in one part, or in several that each begin with the column of names."""
    for folded, gap in ((False, GAP), (True, GAP), (True, TIGHT)):
        widths = _widths(section, folded)
        if sum(widths) + gap * (len(widths) - 1) <= width:
            yield _grid(section, widths, gap, width)
            return
    parts = _parts(widths, width)
    if len(parts) == 1:
        yield _grid(section, widths, TIGHT, width)
        return
    for places in parts:
        yield from _grids(section.take(places), width)


def _widths(section: Section, folded: bool) -> list[int]:
    """The least width of each column, with names folded, and headings if `folded`."""
    from rich.cells import cell_len

    names = [section.head[0], *(row[0] for row in section.rows)]
    found = [max(_folded(name, NAME) for name in names)]
    for j in range(1, len(section.head)):
        cells = max((cell_len(printable(row[j])) for row in section.rows), default=0)
        head = printable(section.head[j])
        found.append(max(cells, _folded(head, HEAD) if folded else cell_len(head)))
    return found


def _folded(text: str, least: int) -> int:
    """The width of a text that is folded between words, but not below `least`."""
    from rich.cells import cell_len

    text = printable(text)
    words = max(map(cell_len, text.split()), default=0)
    return min(cell_len(text), max(words, least))


def _parts(widths: list[int], width: int) -> list[list[int]]:
    """The columns of each part: as few parts as possible, of similar width."""
    parts = _split(widths, width)
    for narrower in range(width - 1, widths[0], -1):
        again = _split(widths, narrower)
        if len(again) > len(parts):
            break
        parts = again
    return parts


def _split(widths: list[int], width: int) -> list[list[int]]:
    """Split greedily: each part takes the columns that fit beside the names."""
    parts, room = [[0]], width - widths[0]
    for j in range(1, len(widths)):
        if widths[j] + TIGHT > room and len(parts[-1]) > 1:
            parts.append([0])
            room = width - widths[0]
        parts[-1].append(j)
        room -= widths[j] + TIGHT
    return parts


def _grid(section: Section, widths: list[int], gap: int, width: int) -> Any:
    from rich import box
    from rich.padding import Padding
    from rich.table import Table as Grid
    from rich.text import Text

    def cell(text: str, j: int) -> Any:
        return Padding(Text(printable(text)), (0, 0, 0, gap - 1 if j else 0))

    # Before 14.3, rich made columns of a fixed width wider by the padding that edges lack.
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=0)
    spare = width - sum(widths) - gap * (len(widths) - 1)
    whole = max(_folded(cells[0], width) for cells in (section.head, *section.rows))
    widths = [min(whole, widths[0] + spare), *(own + gap - 1 for own in widths[1:])]
    for j, name in enumerate(section.head):
        justify: Any = "right" if j else "left"
        own = widths[j] if spare >= 0 else None  # the page is narrower than the table
        grid.add_column(cell(name, j), justify=justify, overflow="fold", width=own)
    for row in section.rows:
        grid.add_row(*(cell(text, j) for j, text in enumerate(row)))
    return grid
