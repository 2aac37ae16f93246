"""Predicted probabilities of a classifier with the true labels, read once for all measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.errors import Parameter, ParameterError
from weigh.frames import (
    Table,
    Value,
    canonical,
    check_name,
    count_rows,
    did_you_mean,
    keep_reader,
    pick_columns,
    read,
)
from weigh.metrics.inputs import (
    Flags,
    Labels,
    Scored,
    check_probabilities,
    read_numbers,
    read_weight,
    shape_of,
)
from weigh.metrics.numbers import read_matrix
from weigh.metrics.scores import Many, read_classes


@dataclass(frozen=True, eq=False)
class Predicted:
    """Labels and probabilities: of one class against the rest, or of every class.

    `kept` marks which of the given rows are included: those with a positive weight.
    """

    rows: Scored | Many
    kept: Flags


@dataclass(frozen=True)
class Question:
    """The classes and the positive one; None if each of more than two classes is measured."""

    classes: tuple[Value, ...]
    pos_label: Value

    @classmethod
    def of_model(cls, model: Any, pos_label: Any = None) -> Question:
        """Classes of a fitted classifier; the positive one is the second of two, unless named.

        Of a scorecard it is the bad one: what is measured is how well the card finds bad cases.
        """
        known = tuple(canonical(value) for value in _classes(model))
        asked = getattr(model, "adverse", None) if pos_label is None else pos_label
        return cls(known, _choose(known, asked))

    @classmethod
    def of_labels(
        cls, found: list[Value], n_columns: int, labels: Any = None, pos_label: Any = None
    ) -> Question:
        """Classes of probabilities in one column, or in one column for each of `labels`."""
        known = tuple(found if labels is None else read_classes(labels))
        if n_columns == 1:
            if labels is not None and len(known) == 2 and pos_label is None:
                return cls(known, known[1])
            chosen = canonical(Labels.read([*known]).choose(pos_label))
            return cls(known if chosen in known else (*known, chosen), chosen)
        if len(known) != n_columns:
            raise ValueError(
                f"the probabilities have {n_columns} columns, but there are {len(known)} classes "
                f"({[*known[:6]]}); name those of the columns with labels"
            )
        return cls(known, _choose(known, pos_label))

    def read(self, y: Any, p: Any, sample_weight: Any = None) -> Predicted:
        """Read labels with their probabilities: one column, or one for each class."""
        labels = Labels.read(y, sample_weight)
        odd = [value for value in labels.values if value not in self.classes]
        if odd:
            raise ParameterError(
                Parameter("y"),
                f" holds {odd[0]!r}, which is not among the classes {self.classes}; correct the "
                "label, or leave its rows out",
            )
        if self.pos_label is None:
            return Predicted(Many.read(y, p, [*self.classes], sample_weight), labels.kept)
        p = check_probabilities(self._column(p), len(labels.kept))
        return Predicted(
            Scored(labels.flags(self.pos_label), p[labels.kept], labels.weight), labels.kept
        )

    def _column(self, p: Any) -> Floats:
        if len(shape_of(p, "y_prob")) == 1:
            return read_numbers(p, "y_prob")
        columns = read_matrix(p, "y_prob")
        if columns.ndim != 2 or columns.shape[1] != len(self.classes):
            raise ValueError(
                f"the probabilities have shape {columns.shape}, but there are "
                f"{len(self.classes)} classes: {[*self.classes[:6]]}"
            )
        return columns[:, self.classes.index(self.pos_label)]


def _choose(classes: tuple[Value, ...], pos_label: Any) -> Value:
    if pos_label is None:
        return classes[1] if len(classes) == 2 else None
    if pos_label not in classes:
        meant = did_you_mean(pos_label, classes)
        raise ParameterError(
            Parameter("pos_label", pos_label), f" is not among the classes {[*classes]}{meant}"
        )
    return canonical(pos_label)


def _tell_without_classes(model: Any, name: str) -> str:
    """Why a model without probabilities of classes is refused, and what to use."""
    from sklearn.base import is_regressor

    if hasattr(model, "predict_survival"):
        return f"{name} estimates the time to an event, not classes; use weigh.evaluate"
    if hasattr(model, "no_classes") or is_regressor(model):
        return f"{name} estimates numbers, not classes; use weigh.evaluate"
    return (
        f"{name} has no predict_proba, which is needed here; "
        "sklearn.calibration.CalibratedClassifierCV adds it"
    )


def _classes(model: Any) -> list[Any]:
    name = type(model).__name__
    if not hasattr(model, "predict_proba"):
        raise ValueError(_tell_without_classes(model, name))
    if not hasattr(model, "classes_"):
        raise ValueError(f"this {name} has no classes_: fit it first")
    known = [*model.classes_]
    if len(known) < 2 or any(np.ndim(part) for part in known):
        raise ValueError(
            f"this {name} has the classes_ {known}; fit it to one target of two classes or more"
        )
    return known


def predict_rows(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    pos_label: Any = None,
    beside: Sequence[str] = (),
) -> Predicted:
    """Predict the rows of a table with a fitted classifier, and join the true labels.

    Labels and weights are arrays or names of columns of X. `beside` names more columns that are not
    features, unless the model was fitted with them. A model that was fitted with column names gets
    those columns. A model without names gets all columns but those named here.
    """
    X, question = keep_reader(X), Question.of_model(model, pos_label)
    if not any(isinstance(name, str) for name in (y, sample_weight, *beside)):
        return question.read(y, model.predict_proba(X), sample_weight)
    table = read(X)
    if not table.named and not isinstance(y, str) and not isinstance(sample_weight, str):
        return question.read(y, model.predict_proba(X), sample_weight)
    labels = column_of(table, y, "y")
    weight = column_of(table, sample_weight, "sample_weight")
    used = {name for name in (y, sample_weight) if isinstance(name, str)}
    p = model.predict_proba(features_of(model, X, table, used, beside))
    return question.read(labels, p, weight)


def column_of(table: Table, value: Any, role: str) -> Any:
    """Return an array as it is; for a name, return that column of the table."""
    if not isinstance(value, str):
        return value
    return table.source(table.names.index(check_name(table, value, role)))


def features_of(model: Any, X: Any, table: Table, used: set[str], beside: Sequence[str]) -> Any:
    """Columns that the model was fitted with; without names, all but labels and weights."""
    fitted, left = getattr(model, "feature_names_in_", None), [*table.without(used).names]
    if fitted is not None:
        found = {*fitted} <= {*table.names}
        return pick_columns(X, [*fitted] if found else left)  # its error names absent columns
    for name in beside:
        if name in left and len(left) > getattr(model, "n_features_in_", len(left)):
            left.remove(name)
    return pick_columns(X, left)


def effective_weight(sample_weight: Any) -> Floats:
    """Rescale sampling weights to the effective number of rows.

    effective weight = w sum(w)/sum(w^2),   which adds up to sum(w)^2/sum(w^2)      (Kish 1965)

    In every metric a weight of two equals a row given twice, also in intervals. A sampling weight
    is different: it is the number of people that a row represents, and rows of unequal weights
    carry less information. Rescaling changes no estimate, and intervals get the right width.

    Parameters
    ----------
    sample_weight : array
        Sampling weights, of any scale.

    Examples
    --------
    >>> from weigh.metrics import effective_weight
    >>> effective_weight([300, 300, 300, 300])
    array([1., 1., 1., 1.])
    >>> float(effective_weight([100, 100, 100, 700]).sum().round(2))
    1.92
    """
    weight = read_weight(sample_weight, count_rows(sample_weight))
    assert weight is not None
    scaled: Floats = weight / weight.max()
    return np.asarray(scaled * (scaled.sum() / (scaled**2).sum()))
