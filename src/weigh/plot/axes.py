"""What figures share: colours, axes, short names."""

from __future__ import annotations

from typing import Any

FOR, AGAINST, TOTAL = "#0072B2", "#D55E00", "#4D4D4D"  # told apart by colour-blind eyes


def new_axes(n_bars: int) -> Any:
    """A new figure, high enough for so many bars."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'weigh[plot]'") from None
    return pyplot.subplots(figsize=(8, 1.2 + 0.32 * n_bars), layout="constrained")[1]


def shorten(text: str, most: int = 48) -> str:
    """A name that may be too long for a figure."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
