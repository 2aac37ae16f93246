"""Predict and explain from tables of weights, of a fitted learner or of a file."""

from __future__ import annotations

from copy import copy
from functools import cache
from typing import Any, Self

import numpy as np

from weigh.arrays import Floats
from weigh.evidence import Evidence, evidence_of, with_labels
from weigh.evidence.model import score_names
from weigh.frames import Table, as_rows, build_beside, match, read
from weigh.sheet import NO_ERRORS, BalanceSheet, contribute, explain

MOST_ERRORS = 3072
"""Largest number of weights for which `EducatedNB` computes standard errors."""


class Reader:
    """Base of fitted objects: read any table that has the columns used in fit."""

    _learnt: Any  # Evidence, a tree or a vote; it has `column_names`

    def _check_fitted(self) -> None:
        """Raise an error if the model is not fitted."""

    def _column_names(self) -> tuple[str, ...]:
        """The columns that the fitted model reads."""
        self._check_fitted()
        return self._own_columns(self._learnt)

    def _own_columns(self, learnt: Any) -> tuple[str, ...]:
        """The columns of a table to predict, of what was learnt."""
        return learnt.column_names  # type: ignore[no-any-return]

    def _read(self, X: Any) -> Table:
        self._column_names()  # an unfitted model is reported before errors about X
        return self._match(read(X))

    def _read_one(self, row: Any, what: str) -> Table:
        self._column_names()
        table = self._read(as_rows(row))
        if table.n_rows != 1:
            raise ValueError(f"{what} explains one row, got {table.n_rows}; pass a single row")
        return table

    def _match(self, table: Table) -> Table:
        named = hasattr(self, "feature_names_in_")
        beside, words = self._beside(), self._reads_words
        return match(table, self._column_names(), named, type(self).__name__, beside, words)

    @property
    def _reads_words(self) -> bool:
        """Whether columns are tokens, so that a row may have others."""
        return False

    def _beside(self) -> tuple[str, ...]:
        """The columns that a row may have beside the features: exposure and offset."""
        return ()


class Predictor(Reader):
    """Base of classifiers: predict classes from evidence, or a model built on it, and explain."""

    classes_: np.ndarray[Any, Any]

    @property
    def evidence_(self) -> Evidence:
        """The prior and the tables of weights."""
        if not hasattr(self, "classes_"):
            raise AttributeError(f"this {type(self).__name__} has no evidence_ before it is fitted")
        if not isinstance(self._learnt, Evidence):
            raise AttributeError(self._learnt.no_table)
        return self._learnt

    def _read(self, X: Any) -> Table:
        self._check_fitted()
        return self._match(read(X, allow_sparse=self._reads_words))

    @property
    def _reads_words(self) -> bool:
        return bool(self._learnt.event_model == "counts")

    # ------------------------------------------------------------ predicting

    def decision_function(self, X: Any) -> Floats:
        """The total: log odds of `classes_[1]`, or one total per class for more than two."""
        totals = self._total(X)
        return totals[:, 0] if totals.shape[1] == 1 else totals

    def _total(self, X: Any) -> Floats:
        """Totals as columns: one for two classes, else one per class."""
        table = self._read(X)
        return self._learnt.total(table)  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of `classes_`."""
        totals = self._total(X)
        return self._learnt.probabilities(totals)  # type: ignore[no-any-return]

    def predict_log_proba(self, X: Any) -> Floats:
        """The log of the probability of each class, exact far into the tails."""
        totals = self._total(X)
        if totals.shape[1] == 1:
            return -np.logaddexp(0.0, np.hstack([totals, -totals]))
        if self._learnt.link == "ovr":
            totals = -np.logaddexp(0.0, -totals)
        shifted = totals - totals.max(axis=1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))  # type: ignore[no-any-return]

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most probable class."""
        return self._decide(self._read(X))

    def _decide(self, table: Table, totals: Floats | None = None) -> np.ndarray[Any, Any]:
        """The most probable class of each row, whose totals may be known already."""
        if totals is None:
            totals = self._learnt.total(table)
        return self._learnt.decide(totals)  # type: ignore[no-any-return]

    def _score_columns(self, table: Table) -> dict[str, Any]:
        """The class, the totals and the probabilities of every row, as columns."""
        (heads, names), rows = score_names(self.classes_.tolist()), self._read(table)
        totals = self._learnt.total(rows)
        found = {"prediction": self._decide(rows, totals)}
        found |= dict(zip(heads, totals.T, strict=True))
        shares = self._learnt.probabilities(totals).T
        return found | dict(zip(names, shares, strict=True))

    # ------------------------------------------------------------ explaining

    def _explain_case(self, row: Any, pos_label: Any, against: Any) -> BalanceSheet:
        evidence_of(self)  # raises an error if there is no table
        return self.balance_sheet(row, pos_label, against)

    def balance_sheet(
        self, row: Any, pos_label: Any = None, against: Any = None, *, labels: Any = None
    ) -> BalanceSheet:
        """Explain one prediction: the weights for and against, their total, the probability.

        Parameters
        ----------
        row : mapping, sequence or table of one row
            The case. A mapping may leave out answers that are not known.
        pos_label : label, optional
            Positive class. Default: `classes_[1]` of two; with more classes, the most probable.
        against : label, optional
            With more than two classes, the class to compare with. Default: all others together.
        labels : dict, optional
            Your names of columns, levels and classes, as in `report`.
        """
        table = self._read_one(row, "a balance sheet")
        evidence = with_labels(self.evidence_, labels)
        return explain(evidence, table, pos_label, against, self._why_no_errors())

    def _why_no_errors(self) -> str:
        """Why the weights have no standard errors, where they have none: by the learner's name.

        A table read from a file has that name, and not the learner.
        """
        if self.evidence_.units.are_points:
            return "points have no standard errors"
        if type(self).__name__ != "EducatedNB":
            return NO_ERRORS
        if getattr(self, "point_", None):
            return "weights rounded to whole points have no standard errors"
        if len(self.classes_) > 2:
            return "standard errors are for two classes only"
        most = f"standard errors are estimated for up to {MOST_ERRORS:,} weights"
        return f"{most}, and the fit had more"

    def contributions(self, X: Any, pos_label: Any = None) -> Any:
        """The contributions of the prior and of each table to the total of every row.

        Parameters
        ----------
        X : table
            Rows.
        pos_label : label, optional
            Positive class. Default: `classes_[1]` of two. With more classes it is required, and the
            columns add up to the total of that class.

        Returns
        -------
        table
            The columns "prior" and one for each table, in the library that X came from (an Arrow
            table for arrays and lists). A recalibrated model has the column "recalibration" too.
            The columns add up to `decision_function`.

        Examples
        --------
        >>> import weigh
        >>> people = weigh.datasets.titanic()
        >>> model = weigh.EvidenceNB().fit(people, "Survived")
        >>> parts = model.contributions([{"Class": "3rd", "Sex": "Female", "Age": "Child"}])
        >>> {name: round(100 * parts[name][0].as_py()) for name in parts.column_names}
        {'prior': -74, 'Class': -35, 'Sex': 174, 'Age': 83}
        """
        table = self._read(X)
        return build_beside(X, contribute(self.evidence_, table, pos_label), table.backend)


class StoredTable(Predictor):
    """A table of weights read from a file, which scores and explains without its learner."""

    point_: float | None = None  # the weight of one point, where weights are whole points
    provenance_: Any = None

    def __init__(self, evidence: Evidence, named: bool) -> None:
        self._learnt, self.classes_ = evidence, evidence.classes
        if named:
            self.feature_names_in_ = np.array(evidence.column_names, dtype=object)

    def with_prior(self, rate: Floats) -> Self:
        """The table for a population with other class frequencies, in the order of `classes_`."""
        moved = copy(self)
        moved._learnt = self._learnt.with_prior(rate)
        return moved

    @staticmethod
    def of(learner: str, evidence: Evidence, named: bool) -> StoredTable:
        """The table of a learner, whose name errors tell."""
        return _name_class(learner)(evidence, named)


@cache
def _name_class(learner: str) -> type[StoredTable]:
    return type(learner, (StoredTable,), {})
