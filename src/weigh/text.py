"""What rich lays out, as plain text."""

from __future__ import annotations

import io
from typing import Any

ENDLESS = 10_000
"""Characters that nothing needs."""


def to_plain(*parts: Any, width: int) -> str:
    """Renderables below each other, at most `width` characters wide, without trailing blanks."""
    buffer = io.StringIO()
    console = _console(buffer, width)
    for part in parts:
        console.print(part)
    return "\n".join(line.rstrip() for line in buffer.getvalue().rstrip().splitlines())


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
