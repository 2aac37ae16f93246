"""What learners share: read a table, learn `Evidence`, predict and explain from it.

A learner stores its parameters and writes one method, `_learn(sample) -> Evidence`. One that ends
as something else than a table builds on `TableEstimator`, which reads and nothing more.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from weigh import engine
from weigh.bins import AND
from weigh.engine import Setting
from weigh.evidence import Evidence
from weigh.frames import (
    Floats,
    Sample,
    Table,
    Value,
    as_rows,
    canonical,
    key,
    label_sample,
    match,
    read,
    set_names,
)
from weigh.sheet import BalanceSheet, explain
from weigh.tally import Tally


class TableEstimator(BaseEstimator):
    """Any table in, its columns as levels, and the same columns again when predicting."""

    crosses: Any = None
    event_model: str = "levels"

    _extras: tuple[str, ...] = ()  # fitted numbers beside the model itself, saved with it

    def _column_names(self) -> tuple[str, ...]:
        """The columns that the fitted model reads; asks whether it is fitted."""
        raise NotImplementedError("an estimator knows the columns that it was fitted with")

    def _tally(self, sample: Sample) -> Tally:
        """The counts of a sample, on the levels that the shared parameters ask for."""
        table = sample.table
        return engine.tally(sample, read_settings(self, table), read_crosses(self.crosses, table))

    def _name(self, names: tuple[str, ...], named: bool) -> Self:
        return set_names(self, names, named)  # type: ignore[no-any-return]

    def _read(self, X: Any) -> Table:
        self._column_names()  # not fitted is said before anything about X
        return self._match(read(X))

    def _read_one(self, row: Any, what: str) -> Table:
        self._column_names()
        table = self._read(as_rows(row))
        if table.n_rows != 1:
            raise ValueError(f"{what} explains one row, got {table.n_rows}; pass one of them")
        return table

    def _match(self, table: Table) -> Table:
        named = hasattr(self, "feature_names_in_")
        return match(table, self._column_names(), named, type(self).__name__)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.event_model == "levels"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = self.event_model == "counts"
        tags.input_tags.positive_only = self.event_model == "counts"
        return tags


def read_sample(
    learner: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None
) -> Sample:
    """What a classifier learns from: its parameters, table, labels and weights are checked."""
    check_parameters(learner)
    table = read(X, allow_sparse=learner.event_model == "counts")
    sample = label_sample(table, y, sample_weight, classes)
    if len(sample.classes) < 2:
        raise ValueError(
            f"{sample.target} holds one class only ({sample.classes.tolist()}); a classifier "
            "needs two or more"
        )
    return sample


class EvidenceClassifier(ClassifierMixin, TableEstimator):
    """What all classifiers of the family share; a learner adds `_learn`."""

    evidence_: Evidence
    class_prior: Any = None

    def _learn(self, sample: Sample) -> Evidence:
        raise NotImplementedError("a learner turns a sample into Evidence")

    def _class_rate(self, classes: np.ndarray[Any, Any]) -> Floats | None:
        """The class probabilities that `class_prior` gives, if it does."""
        given = self.class_prior
        return None if given is None else read_rate(given, classes, "class_prior")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : table
            Any dataframe, array or list of dicts.
        y : array or str
            Class labels, or the name of the column of X that holds them.
        sample_weight : array or str, optional
            Row weights, or the name of the column of X that holds them.
        """
        sample = read_sample(self, X, y, sample_weight)
        evidence = self._learn(sample)
        self._name(sample.table.names, sample.table.named)
        return self._keep(remember(evidence, sample.table))

    def _column_names(self) -> tuple[str, ...]:
        check_is_fitted(self, "evidence_")
        return self.evidence_.column_names

    def _read(self, X: Any) -> Table:
        check_is_fitted(self, "evidence_")
        return self._match(read(X, allow_sparse=self.evidence_.event_model == "counts"))

    def _keep(self, evidence: Evidence) -> Self:
        self.evidence_ = evidence
        self.classes_ = evidence.classes
        return self

    # ------------------------------------------------------------ predicting

    def decision_function(self, X: Any) -> Floats:
        """The total: log odds of `classes_[1]`, or one total per class for more than two."""
        totals = self._total(X)
        return totals[:, 0] if totals.shape[1] == 1 else totals

    def _total(self, X: Any) -> Floats:
        """Totals as columns: one for two classes, else one per class."""
        table = self._read(X)
        return self.evidence_.total(table)

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of `classes_`."""
        totals = self._total(X)
        return self.evidence_.probabilities(totals)

    def predict_log_proba(self, X: Any) -> Floats:
        """The log of the probability of each class, exact far into the tails."""
        totals = self._total(X)
        if totals.shape[1] == 1:
            return -np.logaddexp(0.0, np.hstack([totals, -totals]))
        if self.evidence_.link == "ovr":
            totals = -np.logaddexp(0.0, -totals)
        shifted = totals - totals.max(axis=1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))  # type: ignore[no-any-return]

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most probable class."""
        totals = self._total(X)
        return self.evidence_.decide(totals)

    # ------------------------------------------------------------ explaining

    def balance_sheet(self, row: Any, of: Any = None, against: Any = None) -> BalanceSheet:
        """What speaks for and against one case.

        Parameters
        ----------
        row : mapping, sequence or table of one row
            The case. In a mapping, give None for an answer that is not known.
        of : label, optional
            The class that positive weights speak for: by default `classes_[1]` of two, the most
            probable of more.
        against : label, optional
            Its rival, for more than two classes; by default all the others together.
        """
        table = self._read_one(row, "a balance sheet")
        return explain(self.evidence_, table, of, against)

    def with_prior(self, rate: Any) -> Self:
        """The same model for a population with other class frequencies.

        Parameters
        ----------
        rate : float, array or mapping
            The probability of `classes_[1]` (two classes), or of every class: in the order of
            `classes_`, or by label.
        """
        check_is_fitted(self, "evidence_")
        model, known = copy.copy(self), read_rate(rate, self.classes_, "rate")
        model.class_prior = known.tolist()  # what is learnt or merged later keeps it
        return model._keep(self.evidence_.with_prior(known))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.event_model == "counts"
        return tags


def remember(evidence: Evidence, table: Table) -> Evidence:
    """The evidence with what it keeps of the table that it came from."""
    columns = table.names if evidence.event_model == "levels" else ()  # tokens are levels already
    return replace(evidence, backend=table.backend, columns=columns)


# ---------------------------------------------------------------- parameters


def check_parameters(learner: Any) -> None:
    """Refuse a shared parameter of a wrong kind, naming it and what it may be."""
    smoothing, bins, missing = learner.smoothing, learner.bins, learner.missing
    if learner.event_model not in ("levels", "counts"):
        raise ValueError(f"event_model must be 'levels' or 'counts', got {learner.event_model!r}")
    if learner.crosses is not None and learner.event_model == "counts":
        raise ValueError("crosses join columns of levels; tokens (event_model='counts') have none")
    if not (smoothing == "1/n" or (_is_number(smoothing) and 0 <= smoothing < np.inf)):
        raise ValueError(f"smoothing must be a number of at least 0 or '1/n', got {smoothing!r}")
    by_column = isinstance(bins, Mapping)
    for rule in bins.values() if by_column else [bins]:
        cuts = by_column and isinstance(rule, Iterable) and not isinstance(rule, str)
        count = _is_count(rule) and rule >= 2
        if not (cuts or count or (isinstance(rule, str) and rule == "mdl")):
            raise ValueError(
                "bins must be 'mdl', a number of quantile bins of at least 2, or a dict from "
                f"column to one of these or to cut points, got {rule!r}"
            )
    if not (learner.special_values is None or isinstance(learner.special_values, Mapping)):
        raise ValueError(
            "special_values must be a dict from column to codes, such as {'income': [-999]}, got "
            f"{learner.special_values!r}"
        )
    for choice in missing.values() if isinstance(missing, Mapping) else [missing]:
        if choice not in ("level", "skip"):
            raise ValueError(
                f"missing must be 'level', 'skip', or a dict from column to these, got {choice!r}"
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def read_settings(learner: Any, table: Table) -> dict[str, Setting]:
    """How each column is to be read, from the shared parameters."""
    categorical = _read_categorical(learner.categorical_features, table)
    bins = _by_column(learner.bins, table, "bins", "mdl")
    missing = _by_column(learner.missing, table, "missing", "level")
    special = _by_column(learner.special_values or {}, table, "special_values", ())
    settings = {}
    for name in table.names:
        rule = int(bins[name]) if _is_count(bins[name]) else bins[name]
        category = categorical[name]
        if category is None and not isinstance(rule, str | int):
            category = False  # cut points say that the column is numeric, even where it is empty
        codes = _read_special(special[name], name)
        settings[name] = Setting(category, rule, codes, missing[name] == "skip")
    return settings


def read_crosses(given: Any, table: Table) -> tuple[tuple[str, str], ...]:
    """The pairs of columns to join, each column in one pair at the most."""
    pairs: list[tuple[str, str]] = []
    listed = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    for pair in given if listed else () if given is None else [given]:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(f"crosses must be pairs, such as [('a', 'b')], got {given!r}")
        left, right = (_name(column, table, "crosses") for column in pair)
        joined = {name for other in pairs for name in other}
        if left == right or {left, right} & joined:
            twice = left if left == right or left in joined else right
            raise ValueError(f"crosses joins {twice!r} twice; a column can be in one pair only")
        if f"{left}{AND}{right}" in table.names:
            raise ValueError(f"crosses makes '{left}{AND}{right}', which is a column; rename it")
        pairs.append((left, right))
    return tuple(pairs)


def _by_column(value: Any, table: Table, parameter: str, default: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return dict.fromkeys(table.names, value)
    given = {_name(column, table, parameter): choice for column, choice in value.items()}
    return {name: given.get(name, default) for name in table.names}


def _name(column: Any, table: Table, parameter: str) -> str:
    if _is_count(column) and -len(table.names) <= column < len(table.names):
        return table.names[int(column)]
    if column in table.names:
        return str(column)
    raise ValueError(f"{parameter} names {column!r}, but the columns are {[*table.names]}")


def _read_categorical(choice: Any, table: Table) -> dict[str, bool | None]:
    if choice is None:
        choice = ()
    if isinstance(choice, str):
        if choice not in ("from_dtype", "all"):
            raise ValueError(
                "categorical_features must be 'from_dtype', 'all', or a list of columns, got "
                f"{choice!r}"
            )
        return dict.fromkeys(table.names, True if choice == "all" else None)
    if not isinstance(choice, Iterable):
        raise ValueError(f"categorical_features must be a list of columns, got {choice!r}")
    chosen = list(choice)
    if chosen and all(isinstance(item, bool | np.bool_) for item in chosen):
        if len(chosen) != len(table.names):
            raise ValueError(
                f"categorical_features is a mask of {len(chosen)} for {len(table.names)} columns"
            )
        chosen = np.flatnonzero(chosen).tolist()
    names = {_name(column, table, "categorical_features") for column in chosen}
    return {name: name in names for name in table.names}


def _read_special(values: Any, name: str) -> tuple[Value, ...]:
    listed = isinstance(values, Iterable) and not isinstance(values, str)
    chosen = {canonical(value) for value in (values if listed else [values])}
    try:
        if not any(isinstance(value, str | bool) for value in chosen):
            return tuple(sorted(chosen, key=float))  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        pass
    raise ValueError(f"special_values for column {name!r} must be numbers, got {values!r}")


def read_rate(rate: Any, classes: np.ndarray[Any, Any], parameter: str) -> Floats:
    """Class probabilities, given for the second of two, for all in order, or by label."""
    if isinstance(rate, Mapping):
        given = {key(canonical(label)): p for label, p in rate.items()}
        wanted = [key(label) for label in classes.tolist()]
        if set(given) != set(wanted):
            raise ValueError(f"{parameter} must name each of {classes.tolist()}, got {[*rate]}")
        rate = [given[label] for label in wanted]
    try:
        row = np.asarray(rate, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.zeros(0)
    if row.ndim == 0:
        row = np.array([1 - row, row])
    if row.shape != classes.shape or not (row > 0).all() or not np.isclose(row.sum(), 1.0):
        raise ValueError(
            f"{parameter} must give {len(classes)} classes positive probabilities that sum to 1, "
            f"got {rate!r}"
        )
    return row
