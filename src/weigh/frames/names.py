"""Names that nobody has, and the ones that were meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

MOST_NAMES = 20
"""How many names an error lists: a table may have many thousands."""


def list_names(names: Sequence[Any]) -> str:
    """The names of columns for an error: quoted, so that none is sent raw to a terminal.

    >>> list_names(["a", "b"]), list_names(range(22))[-13:]
    ("'a', 'b'", '19 and 2 more')
    """
    shown = ", ".join(map(repr, names[:MOST_NAMES]))
    more = len(names) - MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """What to add to an error about a name: the nearest that there is, or nothing.

    >>> did_you_mean("clas", ["Class", "Sex"]), did_you_mean("age", ["Class", "Sex"])
    ("; did you mean 'Class'?", '')
    """
    if not isinstance(name, str):
        return ""
    texts = {text.lower(): text for text in known if isinstance(text, str)}
    near = get_close_matches(name.lower(), texts, 1)
    return f"; did you mean {texts[near[0]]!r}?" if near else ""
