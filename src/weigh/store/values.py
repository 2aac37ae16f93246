"""Values on their way in and out of JSON, and what must hold of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from weigh.bins import Binning
from weigh.frames import Floats, Integers

FORMAT, VERSION = "weigh", 1
"""What model files say that they are."""
DEEPEST = 8
"""How deep parameters may be nested: printing what is deeper may take forever."""


def check(holds: bool, what: str) -> None:
    """Refuse a file in which something does not hold."""
    if not holds:
        raise ValueError(what)


def numbers(
    data: Mapping[str, Any], name: str, shape: tuple[int, ...], low: float = -np.inf
) -> Floats:
    """Finite numbers of a shape, none below `low`."""
    array = floats(data[name], name, shape)
    check(bool(np.isfinite(array).all() and (array >= low).all()), f"{name} must be finite")
    return array


def floats(rows: Any, name: str, shape: tuple[int, ...]) -> Floats:
    """Nested lists of numbers; null is NaN. What only looks like a number is refused."""
    cells = [rows]
    for size in shape:
        check(all(isinstance(c, list) and len(c) == size for c in cells), f"{name} is not {shape}")
        cells = [cell for row in cells for cell in row]
    sound = all(cell is None or type(cell) in (int, float) for cell in cells)
    check(sound, f"{name} must hold numbers")
    return np.array(cells, dtype=np.float64).reshape(shape)


def integers(data: Mapping[str, Any], name: str, low: int, high: int) -> Integers:
    """A list of whole numbers from `low` up to and without `high`."""
    cells = data[name]
    check(isinstance(cells, list), f"{name} must be a list")
    sound = all(type(cell) is int and low <= cell < high for cell in cells)
    check(sound, f"{name} must hold whole numbers from {low} to {high - 1}")
    return np.array(cells, dtype=np.int64)


def variances(data: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Floats | None:
    """Numbers that are not negative, or nothing at all."""
    if data[name] is None:
        return None
    array = floats(data[name], name, shape)
    check(not (array < 0).any(), f"{name} must not be negative")
    return array


def rows(array: Floats | None) -> Any:
    """Lists of numbers, with null for what is not known."""
    if array is None:
        return None
    return np.where(np.isfinite(array), array.astype(object), None).tolist()  # type: ignore[call-overload]


def parameter(name: str, value: Any) -> Any:
    """A splitter or a random state, not needed to predict, is only described."""
    if name == "cv" and isinstance(value, str):
        return value
    if name in ("cv", "random_state") and not isinstance(value, int | np.integer | None):
        return {"object": repr(value)}
    return plain(value)


def plain(value: Any) -> Any:
    """A parameter as JSON: dicts as pairs, because their keys may be numbers; infinities named."""
    if isinstance(value, Binning):
        return {"binning": plain(vars(value))}
    if isinstance(value, Mapping):
        return {"pairs": [[plain(k), plain(v)] for k, v in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, Set):  # in one order, so that equal models are equal files
        return {"set": sorted(map(plain, value), key=repr)}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a model with the parameter {value!r} cannot be written down")


def is_object(value: Any) -> bool:
    """Whether a parameter was only described."""
    return isinstance(value, dict) and "object" in value


def unplain(value: Any, depth: int = 0) -> Any:
    """What `plain` wrote down."""
    check(depth <= DEEPEST, f"parameters are nested more than {DEEPEST} deep")
    if isinstance(value, dict) and "number" in value:
        return float(value["number"])
    if isinstance(value, dict) and "set" in value:
        return {unplain(item, depth + 1) for item in value["set"]}
    if isinstance(value, dict) and "binning" in value:
        return Binning(**unplain(value["binning"], depth + 1))
    if isinstance(value, dict):
        return {unplain(k, depth + 1): unplain(v, depth + 1) for k, v in value["pairs"]}
    return [unplain(item, depth + 1) for item in value] if isinstance(value, list) else value
