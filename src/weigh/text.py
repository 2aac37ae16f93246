"""What rich lays out, as plain text."""

from __future__ import annotations

import io
from typing import Any

ENDLESS = 10_000
"""Characters that nothing needs."""


def to_plain(*parts: Any, width: int) -> str:
    """Renderables below each other, at most `width` characters wide, without trailing blanks."""
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(file=buffer, width=width, color_system=None)
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
    from rich.console import Console

    console = Console(file=io.StringIO(), width=ENDLESS, color_system=None)
    return console.measure(part).maximum
