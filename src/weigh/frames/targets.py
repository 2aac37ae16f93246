"""`Sample`: a table with the class and weight of each row, checked for a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.errors import Parameter, ParameterError, warn_caller
from weigh.frames.columns import Codes, Column, Numbers
from weigh.frames.large import FarTable
from weigh.frames.names import did_you_mean, doubt_names, list_names
from weigh.frames.reading import vector
from weigh.frames.tables import Table, refuse_empty
from weigh.frames.values import Value, key, order


def row_weights(weight: Floats | None, n_rows: int) -> Floats:
    """Weight of each row: 1 if no weights were given."""
    return np.ones(n_rows) if weight is None else weight


@dataclass(frozen=True)
class Sample:
    """Training rows with labels and weights; a weight of None means 1 for every row.

    `kept` marks these rows, which have positive weight, among those the user gave. If the rows are
    in folds, `groups` holds the group of each, and `group_counts[group, class]` the weights.
    """

    table: Table
    labels: Integers
    classes: np.ndarray[Any, Any]
    weight: Floats | None
    class_counts: Floats
    kept: np.ndarray[Any, np.dtype[np.bool_]]
    target: str = "y"
    groups: Integers | None = None
    group_counts: Floats | None = None

    @property
    def weights(self) -> Floats:
        """Weight of each row."""
        return row_weights(self.weight, len(self.labels))

    def grouped(self, groups: Integers, n_groups: int) -> Sample:
        """Copy with a group for each row."""
        n_classes = len(self.classes)
        cells = groups.astype(np.int64) * n_classes + self.labels
        counts = np.bincount(cells, self.weight, n_groups * n_classes).astype(np.float64)
        return replace(self, groups=groups, group_counts=counts.reshape(n_groups, n_classes))

    def take(self, rows: np.ndarray[Any, np.dtype[np.bool_]]) -> Sample:
        """Select rows by a mask."""
        labels, weight = self.labels[rows], None if self.weight is None else self.weight[rows]
        counts = np.bincount(labels, weight, len(self.classes)).astype(np.float64)
        kept = self.kept.copy()
        kept[self.kept] = rows
        table = self.table.rows(np.flatnonzero(rows))
        part = Sample(table, labels, self.classes, weight, counts, kept, self.target)
        if self.groups is None or self.group_counts is None:
            return part
        return part.grouped(self.groups[rows], len(self.group_counts))


def label_sample(
    table: Table,
    y: Any,
    sample_weight: Any = None,
    classes: Any = None,
    folds: str | None = None,
) -> Sample:
    """Join a table with its labels and weights, given as arrays or as names of its columns.

    `folds` names a column with the fold of each row, which is then not a feature.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if isinstance(table, FarTable):
        return table.label(y, sample_weight, classes, folds)  # type: ignore[no-any-return]
    column, weight = _read_labels(table, y), _read_weight(table, sample_weight)
    target = y if isinstance(y, str) else "y"
    for name, rows in (("y", column.codes), ("sample_weight", weight)):
        if rows is not None and len(rows) != table.n_rows:
            raise ValueError(
                f"X and {name} must have equal length: {table.n_rows} rows against {len(rows)}"
            )
    counts = _count(column.codes, weight, len(column.values))
    values = [column.values[code] for code in np.flatnonzero(counts)]
    if None in values:
        _refuse_unlabelled(column, weight, target)
    known = sort_classes(values, target) if classes is None else read_classes(classes)
    places = place_labels(column, values, known)
    class_counts = np.bincount(places, counts, len(known)).astype(np.float64)
    _check_sum(class_counts)
    dealt = None if folds is None else _find(table, folds, "cv", categorical=True)
    used = {name for name in (y, sample_weight, folds) if isinstance(name, str)}
    if used:
        table = table.without(used)
        refuse_empty(table)
    labels, kept = _look_up(places, column.codes), np.ones(table.n_rows, dtype=np.bool_)
    if weight is not None and not weight.all():  # rows of weight 0 are dropped
        kept = weight > 0
        table, labels, weight = table.rows(np.flatnonzero(kept)), labels[kept], weight[kept]
    sample = Sample(table, labels, known, weight, class_counts, kept, target)
    if folds is None:
        return sample
    assert isinstance(dealt, Codes)
    return _group(sample, dealt, kept, folds)


def _refuse_unlabelled(column: Codes, weight: Floats | None, target: str) -> NoReturn:
    missing = np.array([value is None for value in column.values])[column.codes]
    rows = np.flatnonzero(missing if weight is None else missing & (weight > 0))
    where = "y" if target == "y" else f"column {target!r}"
    raise ValueError(
        f"{where} contains NaN or missing labels in {len(rows):,} of {len(missing):,} rows, the "
        f"first in row {rows[0]} (counted from 0); drop those rows or label them"
    )


def _group(sample: Sample, column: Codes, kept: Any, name: str) -> Sample:
    """Copy of the sample with the folds in a column."""
    codes = column.codes[kept]
    values = sort_folds([column.values[code] for code in np.unique(codes).tolist()], name)
    return sample.grouped(place_folds(column.values, values)[codes], len(values))


def sort_folds(values: list[Value], name: str) -> tuple[Value, ...]:
    """Sort the folds in a column; raise an error for missing values or a single fold."""
    if None in values:
        raise ValueError(f"cv names the column {name!r}, which has missing values; fill them in")
    if len(values) < 2:
        raise ValueError(
            f"cv names the column {name!r}, which holds one fold only ({values[0]!r}); give two or "
            "more, or a number of folds"
        )
    return tuple(sorted(values, key=order))


def place_folds(values: Sequence[Value], folds: Sequence[Value]) -> Integers:
    """Position of each value among the folds; the number of folds if it is none of them."""
    places = {key(fold): k for k, fold in enumerate(folds)}
    found = [places.get(key(value), len(folds)) for value in values]
    return np.array(found or [0], dtype=np.min_scalar_type(len(folds)))


def number_sample(table: Table, y: Any, sample_weight: Any = None) -> tuple[Sample, Floats]:
    """Join a table with a numeric target: a sample of one class, and the numbers."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    name = Parameter("y", y) if isinstance(y, str) else Parameter("y")
    try:
        column = _find(table, _flat(y), "y", categorical=False)
    except ValueError as error:
        if "holds text" not in str(error):
            raise
        raise ParameterError(
            name, " must hold numbers, not text; a classifier takes classes"
        ) from None
    assert isinstance(column, Numbers)
    odd = ~np.isfinite(column.values)
    if odd.any():
        told = f" {_tell_not_finite(odd)}; drop those rows or give them a number"
        raise ParameterError(name, told)
    rows = np.zeros(len(column.values), dtype=np.int64)
    if isinstance(y, str):
        table = table.without({y})
        refuse_empty(table)
    sample = label_sample(table, rows, sample_weight)
    return replace(sample, target=_name_of(y, table)), column.values[sample.kept]


def _name_of(y: Any, table: Table) -> str:
    """What numbers are called: their column of the table, or the name of a Series.

    A Series that is named as a feature was computed from it: 200 + frame["age"] is called "age".
    """
    if isinstance(y, str):
        return y
    own = getattr(y, "name", None)
    return own if isinstance(own, str) and own.strip() and own not in table.names else "y"


def read_numbers(table: Table, given: Any, role: str, missing: bool = False) -> Floats:
    """Read a number for each row, given as an array or as the name of a column.

    `missing` says whether NaN may stand for a missing number.
    """
    column = _find(table, _flat(given), role, categorical=False)
    assert isinstance(column, Numbers)
    named = f" {given!r}" if isinstance(given, str) else ""
    if len(column.values) != table.n_rows:
        raise ParameterError(
            "X and ",
            Parameter(role),
            f" must have equal length: {table.n_rows} rows against {len(column.values)}",
        )
    odd = np.isinf(column.values) if missing else ~np.isfinite(column.values)
    if odd.any():
        raise ParameterError(
            Parameter(role), f"{named} {_tell_not_finite(odd)}; give each row a finite number"
        )
    return column.values


def _tell_not_finite(odd: np.ndarray[Any, np.dtype[np.bool_]]) -> str:
    """Text on rows without a finite number: how many, and the first.

    >>> _tell_not_finite(np.array([False, True, True]))
    'is empty, NaN or infinite in 2 of 3 rows, first in row 1 (counted from 0)'
    """
    many = f"{odd.sum():,} of {len(odd):,} rows"
    return f"is empty, NaN or infinite in {many}, first in row {odd.argmax()} (counted from 0)"


def tell_rows(numbers: Floats, odd: np.ndarray[Any, np.dtype[np.bool_]], kept: Any = None) -> str:
    """Text on invalid numbers: the least, its row, and how many; `kept` marks their rows among all.

    >>> values = np.array([1.0, -2.0, -5.0])
    >>> tell_rows(values, values < 0)
    '-5 in row 2 (counted from 0; such numbers are in 2 of 3 rows)'
    """
    at = int(np.flatnonzero(odd)[numbers[odd].argmin()])
    row = at if kept is None else int(np.flatnonzero(kept)[at])
    many = f"such numbers are in {odd.sum():,} of {len(numbers):,} rows"
    return f"{numbers[at]:g} in row {row} (counted from 0; {many})"


def read_classes(classes: Any) -> np.ndarray[Any, Any]:
    """Sort given class labels."""
    column = vector(classes, "classes", categorical=True)
    assert isinstance(column, Codes)
    return sort_classes([column.values[code] for code in np.unique(column.codes)], "classes")


def _look_up(places: Integers, codes: Integers) -> Integers:
    """Class of each code; without a copy if these are the codes, in a plain array."""
    same = codes.dtype == places.dtype and np.array_equal(places, np.arange(len(places)))
    plain = codes.flags.writeable and codes.flags.c_contiguous
    return codes if same and plain else places[codes]


def _count(codes: Integers, weight: Floats | None, n_codes: int) -> Floats:
    from weigh import kernels

    if weight is None:
        whole = np.zeros((kernels.LANES, n_codes), dtype=np.int64)
        kernels.count_codes(codes, whole)
        return np.asarray(whole.sum(axis=0), dtype=np.float64)
    counts = np.zeros(n_codes)
    kernels.sum_codes(codes, weight, counts)
    return counts


def _find(table: Table, target: Any, role: str, categorical: bool) -> Column:
    if not isinstance(target, str):
        return vector(target, role, categorical)
    return table.column(check_name(table, target, role), categorical)


def check_name(table: Table, name: str, role: str) -> str:
    """Return the name of a column; raise an error that lists the columns if it is not there."""
    if table.named and name in table.names:
        return name
    if not table.named:
        raise ParameterError(
            Parameter(role),
            f" names the column {name!r}, but the table has no column names; give ",
            Parameter(role),
            " as an array, or a table with names",
        )
    held = list_names(table.names)
    meant = doubt_names(table.names) or did_you_mean(name, table.names)
    raise ParameterError(
        Parameter(role), f" names the column {name!r}, but the table holds {held}{meant}"
    )


def _flat(y: Any) -> Any:
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        message = "A column-vector y was passed when a 1d array was expected; use y.ravel()"
        warn_caller(message, DataConversionWarning)
        return np.asarray(y).ravel()
    return y


def _read_labels(table: Table, y: Any) -> Codes:
    column = _find(table, _flat(y), "y", categorical=True)
    assert isinstance(column, Codes)
    return column


def _read_weight(table: Table, sample_weight: Any) -> Floats | None:
    if sample_weight is None:
        return None
    try:
        column = _find(table, sample_weight, "sample_weight", categorical=False)
    except ValueError as error:
        if isinstance(error, ParameterError) and error.parameter == "sample_weight":
            raise
        _refuse_weight(f" must be numbers: {str(error).partition(';')[0]}")
    assert isinstance(column, Numbers)
    weight = column.values
    column_name = f" {sample_weight!r}" if isinstance(sample_weight, str) else ""
    check_weight(weight, column_name)
    if not weight.any():
        _refuse_weight(f"{column_name} is zero for every row; give at least one row a weight")
    return weight


def check_weight(
    weight: Floats, column: str = "", numbered: bool = True, name: str = "sample_weight"
) -> None:
    """Raise an error for weights that are negative, NaN or infinite; name rows if `numbered`."""
    odd, negative = ~np.isfinite(weight), weight < 0
    if odd.any():
        told = _tell_not_finite(odd) if numbered else "holds NaN or infinity"
        _refuse_weight(f"{column} {told}; give each row a finite weight", name)
    if negative.any():
        told = tell_rows(weight, negative) if numbered else f"{weight.min():g}"
        _refuse_weight(f"{column} must not be negative, but holds {told}; drop such rows", name)


def _refuse_weight(why: str, name: str = "sample_weight") -> NoReturn:
    raise ParameterError(Parameter(name), why)


LEAST_SUM = 1e-100
"""Smallest sum of weights; dividing by less would overflow."""


def _check_sum(class_counts: Floats) -> None:
    """Raise an error if the sum of weights is too small or too large to compute with."""
    with np.errstate(over="ignore"):
        total = float(class_counts.sum())
    if not LEAST_SUM <= total < np.inf:
        raise ValueError(
            f"sample_weight adds up to {total:g}, too {'little' if total < 1 else 'much'} to "
            "compute with; divide the weights by their mean"
        )


def sort_classes(values: list[Value], name: str) -> np.ndarray[Any, Any]:
    """Sort class labels; raise an error for missing, mixed or continuous labels."""
    if None in values:
        raise ValueError(f"{name} contains NaN or missing labels; drop those rows or label them")
    fractions = [value for value in values if isinstance(value, float)]
    if fractions:
        raise ValueError(
            f"Unknown label type: continuous. {name} holds {fractions[0]!r}, but a classifier "
            "needs classes: whole numbers, text or booleans. For numbers use EducatedRegressor"
        )
    if len({type(value) for value in values}) > 1:
        raise ValueError(f"{name} mixes labels of different types ({values[:4]}); use one type")
    labels = sorted(values, key=order)
    classes = np.array(labels)
    return classes if classes.tolist() == labels else np.array(labels, dtype=object)


def place_labels(column: Codes, values: list[Value], classes: np.ndarray[Any, Any]) -> Integers:
    """Position of each label in `classes`; a label without weight may be absent there."""
    places = {key(label): k for k, label in enumerate(classes.tolist())}
    for value in values:
        if key(value) not in places:
            known = classes.tolist()
            raise ParameterError(
                Parameter("y"),
                f" holds {value!r}, which is not among classes={known}; correct the label, or "
                "leave its rows out",
            )
    lookup = [places.get(key(value), 0) for value in column.values]
    return np.array(lookup or [0], dtype=np.min_scalar_type(len(classes)))
