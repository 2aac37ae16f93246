"""Names that nobody has, and the ones that were meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


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
