"""What classifiers share: `EvidenceModel` has evidence, `EvidenceClassifier` learns it."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from weigh.base.columns import warn_columns
from weigh.base.estimator import TableEstimator, branch, read_sample, remember
from weigh.evidence import (
    Evidence,
    Provenance,
    inherit,
    record,
)
from weigh.frames import (
    Floats,
    Sample,
)
from weigh.parameters import read_rate
from weigh.predicting import Predictor


class EvidenceModel(ClassifierMixin, Predictor, TableEstimator):
    """A classifier that has evidence, wherever it came from: it predicts and explains."""

    @classmethod
    def of(cls, evidence: Evidence, named: bool, provenance: Provenance | None = None) -> Self:
        """A fitted model that is this evidence and nothing more."""
        model = cls()._name(evidence.column_names, named)._keep(evidence)
        if provenance is not None:
            model.provenance_ = provenance
        return model

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
        warn_columns(learnt.features, sample.table, counted.tables)
        self.provenance_ = record(sample.table, y)
        return self

    def _fit_sample(self, sample: Sample) -> Self:
        learnt = branch(self._learn(sample), self.ask_if, sample.table)
        self._name(sample.table.names, sample.table.named)
        return self._keep(remember(learnt, sample.table))
