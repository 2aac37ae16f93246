"""Sentences and tables as plain text; rich lays them out."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

from weigh.bins import printable

ENDLESS = 10_000
"""Characters that nothing needs."""


def to_plain(*parts: Any, width: int) -> str:
    """Sentences and renderables below each other, at most `width` characters wide.

    No line ends with blanks, and no name writes the codes of a terminal.
    """
    buffer = io.StringIO()
    console = _console(buffer, width)
    for part in parts:
        console.print(_cell(part) if isinstance(part, str) else part)
    return "\n".join(line.rstrip() for line in buffer.getvalue().rstrip().splitlines())


def lay_out(head: Sequence[str], rows: Iterable[Sequence[str]], left: Iterable[int] = (0,)) -> Any:
    """A table below its headings. Columns are set to the right, except those in `left`."""
    from rich import box
    from rich.table import Table

    grid, left = Table(box=box.SIMPLE_HEAD), set(left)
    for j, name in enumerate(head):
        grid.add_column(_cell(name), justify="left" if j in left else "right", overflow="fold")
    for row in rows:
        grid.add_row(*map(_cell, row))
    return grid


def _cell(text: str) -> Any:
    from rich.text import Text

    return Text(printable(text))


def percent(share: float) -> str:
    """A share with as many digits as it has.

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.6g}%"


def natural_width(part: Any) -> int:
    """How wide a renderable is where nothing has to be folded."""
    return int(_console(io.StringIO(), ENDLESS).measure(part).maximum)


def _console(file: io.StringIO, width: int) -> Any:
    """A console that only writes to `file`, wherever it runs.

    Left to itself, rich displays in a notebook in place of writing, and a variable of the
    environment (FORCE_COLOR) lets it write the codes of a terminal.
    """
    from rich.console import Console

    return Console(
        file=file,
        width=width,
        force_jupyter=False,
        force_terminal=False,
        legacy_windows=False,
        color_system=None,
        highlight=False,
    )
