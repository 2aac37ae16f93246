"""What a fit is given: a table, the class of each row, and its weight."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from weigh.frames.columns import Codes, Column, Floats, Integers, Numbers, Value, key, order
from weigh.frames.tables import Table, vector


@dataclass(frozen=True)
class Sample:
    """Rows to learn from; a weight of None is one for every row."""

    table: Table
    labels: Integers
    classes: np.ndarray[Any, Any]
    weight: Floats | None

    @property
    def class_counts(self) -> Floats:
        """The weight of each class."""
        return np.bincount(self.labels, self.weight, len(self.classes)).astype(np.float64)


def label_sample(table: Table, y: Any, sample_weight: Any = None, classes: Any = None) -> Sample:
    """Join a table with its labels and weights, given as arrays or as names of its columns."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    column, weight = _read_labels(table, y), _read_weight(table, sample_weight)
    for name, rows in (("y", column.codes), ("sample_weight", weight)):
        if rows is not None and len(rows) != table.n_rows:
            raise ValueError(
                f"X and {name} must be of equal length: {table.n_rows} rows against {len(rows)}"
            )
    present = np.bincount(column.codes, weight, len(column.values)) > 0
    values = [value for value, here in zip(column.values, present, strict=True) if here]
    if classes is None:
        known = sort_classes(values, "y")
    else:
        known = sort_classes(list(vector(classes, "classes", categorical=True).values), "classes")
    labels = _place(column, values, known)
    used = {name for name in (y, sample_weight) if isinstance(name, str)}
    return Sample(table.without(used) if used else table, labels, known, weight)


def _find(table: Table, target: Any, role: str, categorical: bool) -> Column:
    if not isinstance(target, str):
        return vector(target, role, categorical)
    if table.named and target in table.names:
        return table.column(target, categorical)
    held = ", ".join(map(repr, table.names[:8])) if table.named else "columns without names"
    raise ValueError(f"{role} names the column {target!r}, but the table holds {held}")


def _read_labels(table: Table, y: Any) -> Codes:
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected; use y.ravel()"
        warnings.warn(message, DataConversionWarning, stacklevel=5)
        y = np.asarray(y).ravel()
    column = _find(table, y, "y", categorical=True)
    assert isinstance(column, Codes)
    return column


def _read_weight(table: Table, sample_weight: Any) -> Floats | None:
    if sample_weight is None:
        return None
    column = _find(table, sample_weight, "sample_weight", categorical=False)
    assert isinstance(column, Numbers)
    weight = column.values
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight holds NaN or infinity; give each row a finite weight")
    if (weight < 0).any():
        raise ValueError(f"sample_weight must not be negative, but holds {weight.min():g}")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one must count")
    return weight


def sort_classes(values: list[Value], name: str) -> np.ndarray[Any, Any]:
    """Class labels in order; missing, mixed and continuous labels are refused."""
    if None in values:
        raise ValueError(f"{name} contains NaN or missing labels; drop those rows or label them")
    fractions = [value for value in values if isinstance(value, float)]
    if fractions:
        raise ValueError(
            f"Unknown label type: continuous. {name} holds {fractions[0]!r}, but a classifier "
            "needs classes: whole numbers, text or booleans"
        )
    if len({type(value) for value in values}) > 1:
        raise ValueError(f"{name} mixes labels of different types ({values[:4]}); use one type")
    return np.array(sorted(values, key=order))


def _place(column: Codes, values: list[Value], classes: np.ndarray[Any, Any]) -> Integers:
    """The position of each row's label in classes. A label of no weight may stand anywhere."""
    places = {key(label): k for k, label in enumerate(classes.tolist())}
    for value in values:
        if key(value) not in places:
            raise ValueError(
                f"y holds the label {value!r}, which classes={[*places]} does not name"
            )
    lookup = np.array([places.get(key(value), 0) for value in column.values] or [0])
    return lookup.astype(np.min_scalar_type(len(classes)))[column.codes]
