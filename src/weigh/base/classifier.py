"""What classifiers share: `EvidenceModel` predicts and explains, `EvidenceClassifier` learns."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from weigh.base.estimator import TableEstimator, branch, read_sample, remember, warn_ids
from weigh.bins import label
from weigh.evidence import (
    Evidence,
    Provenance,
    evidence_of,
    inherit,
    record,
    with_labels,
)
from weigh.frames import (
    Floats,
    Sample,
    Table,
    build_beside,
    read,
)
from weigh.parameters import read_rate
from weigh.sheet import BalanceSheet, contribute, explain


class EvidenceModel(ClassifierMixin, TableEstimator):
    """A classifier that has evidence, wherever it came from: it predicts and explains."""

    @classmethod
    def of(cls, evidence: Evidence, named: bool, provenance: Provenance | None = None) -> Self:
        """A fitted model that is this evidence and nothing more."""
        model = cls()._name(evidence.column_names, named)._keep(evidence)
        if provenance is not None:
            model.provenance_ = provenance
        return model

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
        return self._match(read(X, allow_sparse=self._learnt.event_model == "counts"))

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
        names, rows = [*map(label, self.classes_.tolist())], self._read(table)
        totals = self._learnt.total(rows)
        heads = ["log_odds"] if len(names) == 2 else [f"total_{name}" for name in names]
        found = {"prediction": self._decide(rows, totals)}
        found |= dict(zip(heads, totals.T, strict=True))
        shares = self._learnt.probabilities(totals).T
        return found | {f"probability_{n}": p for n, p in zip(names, shares, strict=True)}

    # ------------------------------------------------------------ explaining

    def _explain_case(self, row: Any, pos_label: Any, against: Any) -> BalanceSheet:
        evidence_of(self)  # what has no table says so
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
        return explain(with_labels(self.evidence_, labels), table, pos_label, against)

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

    def with_prior(self, rate: Any) -> Self:
        """The fitted model for a population with other class frequencies.

        Constructor parameters do not change: `fit` learns the frequencies of the rows again, unless
        `class_prior` is set. `partial_fit` and `merge` keep the rate.

        Parameters
        ----------
        rate : float, array or mapping
            The probability of `classes_[1]` (two classes), or of every class: in the order of
            `classes_`, or by label.
        """
        self._check_fitted()
        known = read_rate(rate, self.classes_, "rate")
        moved = copy.copy(self)._keep(self._learnt.with_prior(known))
        inherit(moved, self)
        return moved

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.event_model == "counts"
        return tags


class EvidenceClassifier(EvidenceModel, ABC):
    """What all classifiers of the family share; a learner adds `_learn`."""

    class_prior: Any = None

    @abstractmethod
    def _learn(self, sample: Sample) -> Any:
        """Turn a sample into Evidence, or into what `OnEvidence` describes."""

    def _class_rate(self, classes: np.ndarray[Any, Any]) -> Floats | None:
        """The class probabilities that `class_prior` gives, if it does."""
        given = self.class_prior
        return None if given is None else read_rate(given, classes, "class_prior")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, feature_names: Any = None) -> Self:
        """Fit the model to a table.

        Parameters
        ----------
        X : table
            Any dataframe, array or list of dicts.
        y : array or str
            Class labels, or the name of their column in X.
        sample_weight : array or str, optional
            Row weights, or the name of their column in X.
        feature_names : list of str, optional
            Names of the columns of an array or a sparse matrix, such as
            `vectorizer.get_feature_names_out()`. A dataframe has names of its own.
        """
        sample = read_sample(self, X, y, sample_weight, feature_names=feature_names)
        learnt = self._fit_sample(sample)._learnt
        counted = getattr(learnt, "evidence", learnt)
        warn_ids(learnt.features, sample.table.n_rows, counted.tables)
        self.provenance_ = record(sample.table, y)
        return self

    def _fit_sample(self, sample: Sample) -> Self:
        learnt = branch(self._learn(sample), self.ask_if, sample.table)
        self._name(sample.table.names, sample.table.named)
        return self._keep(remember(learnt, sample.table))
