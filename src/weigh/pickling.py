"""How the values inside a model are pickled: by their fields alone."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


def by_fields(value: Any) -> tuple[type[Any], tuple[Any, ...]]:
    """Pickle a dataclass as its class and its fields, without cached values.

    Assign it to `__reduce__`. Then equal values are equal bytes, and a file holds no caches. skops
    writes such a class too: it calls the class with the fields again.
    """
    return type(value), tuple(getattr(value, field.name) for field in fields(value))
