"""Libraries whose tables stay where they are, and the packages that open them.

A package registers the class of its tables. It is imported when a table of its library is met for
the first time, so that nobody pays for a library that is not used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

PACKAGES = {"pyspark": "weigh.spark"}
"""The libraries, and the package that opens the tables of each."""

_kinds: dict[str, Any] = {}


def register(library: str, kind: Any) -> None:
    """Have the tables of a library opened by a subclass of `FarTable`."""
    _kinds[library] = kind


def find_far(X: Any) -> Any:
    """The subclass of `FarTable` that opens X; None where X is no table of such a library."""
    library = type(X).__module__.partition(".")[0]
    if library not in PACKAGES:
        return None
    if library not in _kinds:
        import_module(PACKAGES[library])
    kind = _kinds[library]
    return kind if kind.opens(X) else None
