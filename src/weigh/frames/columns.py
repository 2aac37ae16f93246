"""Convert one column to numbers, or to codes into a list of distinct values.

A column that is already coded (Arrow dictionary, pandas or Polars categorical, small integers,
booleans) keeps its codes; text is coded once, by Arrow or pandas. Arrays are not copied if a view
suffices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa
from pyarrow import compute

from weigh.arrays import Floats, Integers
from weigh.errors import ColumnError, Parameter, ParameterError
from weigh.frames.distinct import as_views, distinct_objects, distinct_views, is_worth_it
from weigh.frames.values import (
    NOT_KNOWN,
    NotKnown,
    Value,
    canonical,
    key,
    keys,
    reads_as_number,
)

SMALL_RANGE = 1 << 16
MANY = 1 << 15
"""Distinct strings up to which a column is coded by the bits of its cells."""
OR_CATEGORIES = ", or, where it is a feature, name it in ", Parameter("categorical_features")
"""End of an error about a column; callers drop it once the model is fitted."""


@dataclass(frozen=True)
class Numbers:
    """A numeric column; missing and not known are NaN, and `unknown` marks the latter.

    `truth` is a boolean that the column holds, if it does; booleans are 0 and 1.
    """

    values: Floats
    unknown: Integers | None = None
    truth: bool | None = None


@dataclass(frozen=True)
class Codes:
    """A column of categories: row i has values[codes[i]]; None is missing.

    `typed` is False if the column held Python objects, so that only the values show its type.
    """

    codes: Integers
    values: tuple[Value, ...]
    typed: bool = True

    @property
    def is_category(self) -> bool:
        """Whether the column is categorical by default."""
        present = [v for v in self.values if v is not None and v is not NOT_KNOWN]
        return self.typed or not present or any(isinstance(v, str | bool) for v in present)

    def numbers(self, name: str) -> Numbers:
        """Convert to numbers, for a numeric feature."""
        texts = [value for value in self.values if isinstance(value, str)]
        if texts:
            odd = next((text for text in texts if not reads_as_number(text)), texts[0])
            raise ParameterError(
                f"column {name!r} is numeric but holds text ({odd!r}); convert it to numbers "
                "(missing as null)",
                *OR_CATEGORIES,
            )
        try:
            table = np.array([_number(value) for value in self.values] or [np.nan])
        except OverflowError:
            raise ValueError(
                f"column {name!r} holds a number too large for a float; scale it or drop the row"
            ) from None
        unknown = np.array([value is NOT_KNOWN for value in self.values] or [False])
        truth = next((value for value in self.values if isinstance(value, bool)), None)
        return Numbers(table[self.codes], unknown[self.codes] if unknown.any() else None, truth)


def _number(value: Value) -> float:
    return np.nan if value is None or isinstance(value, NotKnown) else float(value)


Column: TypeAlias = Numbers | Codes


def hide(column: Column, hidden: Integers) -> Column:
    """Mark some rows of a column as not known."""
    if isinstance(column, Numbers):
        unknown = hidden if column.unknown is None else column.unknown | hidden
        return replace(column, values=np.where(hidden, np.nan, column.values), unknown=unknown)
    codes = column.codes.astype(np.min_scalar_type(len(column.values)))
    codes[hidden] = len(column.values)
    return Codes(codes, (*column.values, NOT_KNOWN), column.typed)


def as_missing(column: Column) -> Column:
    """Replace not known by missing, as training does not distinguish them."""
    if isinstance(column, Numbers):
        return Numbers(column.values)
    if NOT_KNOWN not in column.values:
        return column
    values = column.values
    places = {key(v): i for i, v in reversed([*enumerate(values)]) if v is not NOT_KNOWN}
    missing = places.setdefault(key(None), values.index(NOT_KNOWN))
    levels = np.array([missing if v is NOT_KNOWN else i for i, v in enumerate(values)])
    known = tuple(None if v is NOT_KNOWN else v for v in values)
    return Codes(levels.astype(column.codes.dtype)[column.codes], known, column.typed)


def convert(source: Any, name: str, categorical: bool | None) -> Column:
    """Convert a column of any library to numbers or codes; by its type if `categorical` is None."""
    column: Any = _open_series(source) if isinstance(source, nw.Series) else source
    if isinstance(column, pa.Array | pa.ChunkedArray) and pa.types.is_union(column.type):
        column = _as_objects(column.to_pylist())  # each cell has a type of its own
    if isinstance(column, np.ndarray) and column.dtype.kind in "OT":
        column = _once_each(column.astype(object, copy=False), _open_objects)
    if isinstance(column, Codes):
        category = column.is_category
    else:
        array = isinstance(column, np.ndarray)
        category = array_is_category(column, name) if array else _arrow_is_category(column, name)
        if not (category or categorical):
            return _number_array(column) if array else _number_arrow(column)
        column = _code_array(column) if array else _code_arrow(column)
    codes: Codes = column
    wanted = category if categorical is None else categorical
    return codes if wanted else codes.numbers(name)


def _open_series(series: nw.Series[Any]) -> Codes | np.ndarray[Any, Any] | Any:
    native = series.to_native()
    if series.implementation.is_pandas_like():
        if hasattr(native.dtype, "categories"):
            return _code_with_gaps(native.cat.codes.to_numpy(), native.cat.categories)
        if hasattr(native.dtype, "fill_value"):  # pandas' own sparse columns
            return np.asarray(native)
        if isinstance(native.dtype, np.dtype):
            held = native.to_numpy()
            return (
                held if native.dtype != object else _once_each(held, _code_pandas_objects, native)
            )
    if isinstance(series.dtype, nw.String):  # without a copy of the strings
        if series.implementation.is_polars():
            return pa.chunked_array(native)
        if series.implementation.is_pyarrow():
            return native
    if not isinstance(series.dtype, nw.Object | nw.Int128 | nw.UInt128):  # unknown to Arrow
        return series.to_arrow()
    return _as_objects(series.to_list())


def _as_objects(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    return np.array([*values, None], dtype=object)[:-1]  # None, so that lists stay cells


def _code_with_gaps(codes: Integers, values: Any) -> Codes:
    """Make codes from those of pandas, in which -1 is missing."""
    small = codes.astype(np.min_scalar_type(len(values)))
    small[codes < 0] = len(values)
    listed = values.to_numpy().tolist() if values.dtype.kind == "O" else values
    if {*map(type, listed)} == {str}:
        return Codes(small, (*listed, None))
    return _without_repeats(small, (*map(canonical, listed), None))


def _once_each(values: np.ndarray[Any, Any], convert: Any, source: Any = None) -> Any:
    """Convert each distinct object of an array once, or of the series `source` that holds it."""
    source, found = values if source is None else source, distinct_objects(values)
    if found is None:
        return convert(source)
    column = convert(source.take(found.first))
    return _repeat(column, found.codes) if isinstance(column, Codes) else column[found.codes]


def _repeat(column: Codes, places: Integers) -> Codes:
    """Column that holds the rows of a shorter one in the given places."""
    same = np.array_equal(column.codes, np.arange(len(column.codes)))
    codes = places.astype(column.codes.dtype) if same else column.codes[places]
    return Codes(codes, column.values, column.typed)


def _code_pandas_objects(series: Any) -> Codes:
    """Code text by pandas, which is fast; others one by one, as pandas equates True and 1."""
    try:
        codes, values = series.factorize()
    except TypeError:  # unhashable
        return _code_objects(series.to_numpy())
    if all(isinstance(value, str) for value in values):
        return _code_with_gaps(codes, values)
    return _code_objects(series.to_numpy())


def _open_objects(values: np.ndarray[Any, Any]) -> Codes | np.ndarray[Any, Any]:
    """Convert objects that are all int or all float to an array; code others one by one."""
    kinds = {*map(type, values)}
    if len(kinds) == 1 and kinds <= {int, float}:
        with suppress(OverflowError):
            return np.array(values.tolist(), dtype=np.float64 if kinds == {float} else np.int64)
    return _code_objects(values)


def _code_objects(values: np.ndarray[Any, Any]) -> Codes:
    try:
        array = pa.array(values, from_pandas=True)
        if pa.types.is_string(array.type):
            return _code_arrow(array)
    except (pa.ArrowException, OverflowError, TypeError, UnicodeError):
        pass  # mixed types, infinite decimals, or text that is not Unicode
    return code_values(values)


def code_values(values: Iterable[Any]) -> Codes:
    """Code Python values of any type, one by one."""
    places: dict[tuple[type, Value], int] = {}
    codes = [places.setdefault(key(canonical(v)), len(places)) for v in values]
    kind = np.min_scalar_type(len(places))
    return Codes(np.array(codes, dtype=kind), tuple(v for _, v in places), typed=False)


def array_is_category(array: np.ndarray[Any, Any], name: str) -> bool:
    """Whether a NumPy array is categorical by default; raise an error if its type has no levels."""
    kind = array.dtype.kind
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: column {name!r} has complex numbers; give their real and "
            "imaginary parts as two columns"
        )
    if kind in "mMSV":
        raise ColumnError(name, _no_levels(name, array.dtype))
    return kind in "bU"


BYTES = {
    kind: tuple(np.arange(n, dtype=np.uint8).view(f"{kind}1").tolist())
    for kind, n in (("b", 2), ("u", 256), ("i", 256))
}
"""Values of the codes of an array of bytes, by its kind: one tuple, known again by `is`."""


def _code_array(array: np.ndarray[Any, Any]) -> Codes:
    if array.dtype.itemsize == 1:  # booleans and small integers are codes already
        return Codes(array.view(np.uint8), BYTES[array.dtype.kind])
    if array.dtype.kind in "iu" and array.size:
        low, high = int(array.min()), int(array.max())
        if high - low < SMALL_RANGE:
            codes = np.empty(len(array), dtype=np.min_scalar_type(high - low))
            np.subtract(array, array.dtype.type(low), out=codes, casting="unsafe")
            return Codes(codes, tuple(range(low, high + 1)))
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False)
    return _code_arrow(pa.array(array, from_pandas=True))


def _number_array(array: np.ndarray[Any, Any]) -> Numbers:
    return Numbers(np.ascontiguousarray(array, dtype=np.float64))


KINDS = {
    "date": "dates",
    "timestamp": "dates",
    "time": "times of day",
    "duration": "lengths of time",
    "timedelta": "lengths of time",
    "binary": "bytes",
    "fixed_size_binary": "bytes",
    "|S": "bytes",
    "list": "lists",
    "struct": "rows within rows",
    "map": "rows within rows",
    "extension<pandas.period": "periods",
    "extension<pandas.interval": "intervals",
}
"""Types without levels, by the beginning of their name, and the words for them in errors."""


def _no_levels(name: str, kind: Any) -> str:
    known = sorted(KINDS, key=len, reverse=True)  # timestamp before time
    words = (KINDS[start] for start in known if str(kind).removeprefix("large_").startswith(start))
    held = next(words, f"{kind} values")
    dates = held in ("dates", "periods")
    parts = " (year, month, weekday, age in days)" if dates else ""
    return f"column {name!r} holds {held}, which have no levels: derive numbers{parts}, or drop it"


def _arrow_is_category(array: Any, name: str) -> bool:
    types, coded = pa.types, pa.types.is_dictionary(array.type)
    kind = array.type.value_type if coded else array.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return bool(coded)
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if text or types.is_boolean(kind) or types.is_null(kind):
        return True
    raise ColumnError(name, _no_levels(name, kind))


def _code_arrow(array: Any) -> Codes:
    if pa.types.is_null(array.type):
        return Codes(np.zeros(len(array), dtype=np.uint8), (None,))
    views = pa.types.is_string_view(array.type)
    if views or pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        found = _code_views(array)
        if found is not None:
            return found
    if views:
        array = array.cast(pa.large_string())
    if pa.types.is_float16(array.type):  # of which older Arrow makes no codes
        array = array.cast(pa.float32())
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    elif isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    values = (*map(canonical, array.dictionary.to_pylist()), None)
    indices = array.indices
    if array.null_count:
        indices = indices.cast(pa.int64()).fill_null(len(values) - 1)
    codes = indices.to_numpy(zero_copy_only=False)
    return _without_repeats(codes.astype(np.min_scalar_type(len(values))), values)


def _code_views(array: Any) -> Codes | None:
    """Code text by the bits of its string views; None if few rows, many texts or an old Arrow."""
    if not is_worth_it(len(array)):  # before any row is cast
        return None
    codes: list[Integers] = []
    places: dict[Value, int] = {}
    try:
        for part in as_views(array):
            found = distinct_views(part)
            if found is None or len(places) > MANY:
                return None
            texts = [*(part[i].as_py() for i in found.first.tolist()), None]
            own = np.array([places.setdefault(text, len(places)) for text in texts], np.uint16)
            codes.append(own.take(found.codes, mode="clip"))  # which checks no bounds
    except (pa.ArrowException, AttributeError):
        return None
    small = np.min_scalar_type(len(places))
    return (
        Codes(np.concatenate([part.astype(small) for part in codes]), tuple(places))
        if codes
        else None
    )


def _without_repeats(codes: Integers, values: tuple[Value, ...]) -> Codes:
    """Merge codes of equal values, such as 0.0 and -0.0, or repeats in an Arrow dictionary."""
    places: dict[tuple[type, Value], int] = {}
    found = [places.setdefault(known, len(places)) for known in keys(values)]
    if len(places) == len(values):
        return Codes(codes, values)
    return Codes(np.array(found, dtype=codes.dtype)[codes], tuple(v for _, v in places))


def _number_arrow(array: Any) -> Numbers:
    array = as_doubles(array)
    numbers = array.to_numpy() if isinstance(array, pa.ChunkedArray) else array.to_numpy(False)
    return Numbers(np.ascontiguousarray(numbers, dtype=np.float64))


EXACT_DIGITS, EXACT_POWER = 15, 22
"""Whole numbers of up to 15 digits, and powers of ten up to 10^22, are exact as doubles."""
DECIMALS = {4: "decimal32", 8: "decimal64", 16: "decimal128", 32: "decimal256"}
"""Arrow's decimal types by the bytes of a value."""


def as_doubles(array: Any) -> Any:
    """Convert an Arrow column to doubles; decimals to the nearest double, as `float` does.

    Arrow's own cast is off by one bit for one in seven amounts with cents, which can move a value
    on a cut point into another bin.
    """
    kind = array.type
    if not pa.types.is_decimal(kind):
        return array if kind == pa.float64() else array.cast(pa.float64(), safe=False)
    if isinstance(array, pa.ChunkedArray):
        return pa.chunked_array(map(as_doubles, array.chunks), pa.float64())
    if kind.precision > EXACT_DIGITS or not 0 <= kind.scale <= EXACT_POWER:
        return array.cast(pa.string()).cast(pa.float64())
    whole = getattr(pa, DECIMALS[kind.byte_width])(kind.precision, 0)
    return compute.divide(array.view(whole).cast(pa.float64()), 10.0**kind.scale)
