"""Output of objects: a `View` as data, as text for terminals, as HTML for notebooks and pages.

html  templates with everything escaped, and whole pages with their security policy
view  tables and sentences as data, and their text
"""

from collections.abc import Sequence

from weigh.layout.html import asset, document, embed, escape, render
from weigh.layout.view import Bar, Grid, Shown, Side, View, fold_rest, sides_to_text, tabulate

__all__ = [
    "Bar",
    "Grid",
    "Shown",
    "Side",
    "View",
    "asset",
    "count_of",
    "document",
    "embed",
    "escape",
    "fold_rest",
    "list_few",
    "percent",
    "render",
    "share_of",
    "shorten",
    "sides_to_text",
    "tabulate",
]

MOST = 3
"""Most names that a sentence lists."""


def percent(share: float) -> str:
    """A share as a percentage, without trailing zeros.

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.6g}%"


def share_of(value: float) -> str:
    """A share as a percentage with at most one decimal place, or a dash for NaN.

    >>> share_of(0.12345), share_of(0.5)
    ('12.3%', '50%')
    """
    return "-" if value != value else percent(round(value, 3))


def count_of(n: float, noun: str) -> str:
    """A count with its noun; weighted counts of rows may have decimals.

    >>> count_of(1, "row"), count_of(2201, "row"), count_of(2.5, "row")
    ('1 row', '2,201 rows', '2.5 rows')
    """
    number = f"{n:,.0f}" if n == round(n) else f"{n:,.6g}"
    return f"{number} {noun}{'s' * (number != '1')}"


def shorten(text: str, most: int) -> str:
    """A text cut at the end to at most `most` characters.

    >>> shorten("household income", 10)
    'household…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def list_few(names: Sequence[str], joint: str = ", ", most: int = MOST) -> str:
    """The first names, by default three, and how many more there are.

    >>> list_few(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return joint.join(names[:most]) + more
