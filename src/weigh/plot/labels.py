"""Names and levels in as few letters as tell them apart."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import lru_cache

from weigh.bins import BRIEF, Cross, Feature, printable


def shorten(text: str, most: int = 48) -> str:
    """A name on one line, that may be too long for a figure."""
    text = printable(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shorten_middle(text: str, most: int = 48) -> str:
    """The same, with the end kept: what a feature is equal to."""
    text = printable(text)
    tail = most // 2
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[-tail:]}"


def shorten_all(texts: Sequence[str], most: int = 48) -> list[str]:
    """Names for one figure; those that would read alike keep their ends and not their middles.

    >>> shorten_all(["income of the father", "income of the mother", "age"], 12)
    ['incom…father', 'incom…mother', 'age']
    """
    short = [shorten(text, most) for text in texts]
    return [
        shorten_middle(text, most) if short.count(cut) > 1 else cut
        for cut, text in zip(short, texts, strict=True)
    ]


def wrap(text: str, width: float, per_inch: float = 15) -> str:
    """Lines for a width in inches, of so many letters an inch (small ones: 15)."""
    return "\n".join(textwrap.wrap(text, max(int(per_inch * width), 20)))


def legend_name(text: str, most: int = 30) -> str:
    """A name for a legend, from which matplotlib leaves out what begins with an underscore.

    >>> legend_name("_private")
    ' _private'
    """
    short = shorten(text, most)
    return f" {short}" if short.startswith("_") else short


def brief_labels(feature: Feature | Cross) -> tuple[str, ...]:
    """Levels for a figure: intervals by their cut points, with few digits.

    >>> brief_labels(Feature("age", values=(-1,), cuts=(18.123456, 65.0), has_missing=True))
    ('≤ 18.1', '18.1 to 65', '> 65', '-1', 'missing')
    """
    return feature.spelt(BRIEF)


@lru_cache(maxsize=4096)
def width_of(text: str, size: float) -> float:
    """Inches that a text takes at a font size in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)
    return float(width) / 72


def fit_all(texts: Sequence[str], size: float, width: float) -> list[str]:
    """Names cut to a width in inches."""
    texts = [printable(text) for text in texts]
    if max(width_of(text, size) for text in texts) <= width:
        return texts
    low, high = 5, max(map(len, texts))  # letters that are allowed in any case, and too many
    while high - low > 1:
        most = (low + high) // 2
        fits = max(width_of(text, size) for text in shorten_all(texts, most)) <= width
        low, high = (most, high) if fits else (low, most)
    return shorten_all(texts, low)
