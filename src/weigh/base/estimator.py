"""What estimators share: a table read, its columns as levels, and warnings about them.

`Classifier` has the accuracy, `EvidenceModel` is a classifier that has evidence, and
`EvidenceClassifier` learns it.
`NumberEstimator` learns tables for numbers or times.
"""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from weigh import engine
from weigh.arrays import Floats
from weigh.base.columns import warn_columns
from weigh.bins import Cross, Feature
from weigh.errors import warn_caller
from weigh.evidence import (
    Evidence,
    Provenance,
    ask_only,
    inherit,
    record,
    share_importance,
)
from weigh.evidence.view import summarise_model, tell_classes
from weigh.frames import (
    Sample,
    Table,
    keep_reader,
    label_sample,
    name_columns,
    read,
    set_names,
)
from weigh.parameters import check_parameters, read_crosses, read_rate, read_settings
from weigh.predicting import Predictor, Reader
from weigh.tally import Tally


class TableEstimator(Reader, BaseEstimator):
    """Base of estimators that read any table, and check its columns when predicting."""

    crosses: Any = None
    ask_if: Any = None
    max_levels: Any = None
    event_model: str = "levels"

    _extras: tuple[str, ...] = ()  # fitted numbers beside the model itself, saved with it
    _later_extras: tuple[str, ...] = ()  # those that files of earlier releases lack

    _bodies: tuple[str, ...] = ("evidence",)  # what a file may hold it as
    provenance_: Provenance  # where the fit is known

    _doc_link_module = "weigh"

    @property
    def _doc_link_template(self) -> str:
        """The page that a notebook's box of the estimator links to; empty for no link.

        `$WEIGH_DOCS` is the address of a built site: the project has published none.
        """
        site = os.environ.get("WEIGH_DOCS", "").rstrip("/")
        return f"{site}/generated/weigh.{{estimator_name}}.html" if site else ""

    def _unknown_extras(self) -> dict[str, Any]:
        """The values of `_extras` in a model that was edited or loaded without them."""
        return dict.fromkeys(self._extras)

    def _keep(self, learnt: Any) -> Self:
        self._learnt, self.classes_ = learnt, learnt.classes
        self.__dict__.pop("provenance_", None)  # outdated, unless this fit records it again
        return self

    def _check_fitted(self) -> None:
        if not hasattr(self, "n_features_in_"):
            check_is_fitted(self, "n_features_in_")  # which also asks for a method `fit`

    def _name(self, names: tuple[str, ...], named: bool) -> Self:
        return set_names(self, names, named)  # type: ignore[no-any-return]

    def _html_repr(self) -> str:
        """The box that scikit-learn draws, and of a fitted model a short summary."""
        box: str = super()._html_repr()
        return box + self._summary()

    def _summary(self) -> str:
        """A fitted model in a few lines, as HTML; nothing of one that has no tables."""
        evidence = getattr(self, "evidence_", None)
        if evidence is None:
            return ""
        loss = getattr(self, "loo_loss_", None)
        told = [("Classes", tell_classes(evidence))] if hasattr(self, "classes_") else []
        if loss is not None and np.isfinite(np.mean(loss)):
            told.append(("Leave-one-out loss", f"{np.mean(loss):.4f} bits a row"))
        return summarise_model(type(self).__name__, evidence, told).to_html()

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each input column: mean distance of a row's weight from the mean weight.

        The means are over the training rows. The importance of a pair is divided equally between
        its two columns. The order is that of `feature_names_in_`. Importances are in nats and do
        not add up to 1. With more than two classes they are means over classes.

        In a model of documents, a token's weight counts once per occurrence, and its occurrences
        are assumed to be Poisson, with the mean of the training documents. A word that every
        document repeats is therefore less important than a rarer one of large weight.
        """
        return share_importance(self.evidence_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.event_model == "levels"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = self.event_model == "counts"
        tags.input_tags.positive_only = self.event_model == "counts"
        return tags


def _warn_uncut(feature: Feature | Cross) -> None:
    """Warn about a cross with a numeric column without cut points: it adds nothing."""
    for part in feature.parts:
        if part.is_numeric and not part.cuts and len(feature.parts) > 1:
            warn_caller(
                f"crosses joins {part.name!r}, for which no cut points were found, so the cross "
                f"says no more than its other column; give cut points, bins={{{part.name!r}: ...}}",
                UserWarning,
            )


def read_sample(
    learner: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    classes: Any = None,
    cv: Any = None,
    feature_names: Any = None,
) -> Sample:
    """Check the parameters of a classifier and read its sample: table, labels and weights.

    If `cv`, or that of the learner, names a column, it holds the folds and is not a feature.
    """
    check_parameters(learner)
    table = read(X, allow_sparse=learner.event_model == "counts")
    table = name_columns(table, feature_names)
    named = [given for given in (cv, getattr(learner, "cv", None)) if isinstance(given, str)]
    folds = named[0] if named else None
    sample = label_sample(table.to_learn_from(), y, sample_weight, classes, folds)
    if len(sample.classes) < 2:
        name = f"column {sample.target!r}" if isinstance(y, str) else sample.target
        held = "".join(f", {label!r}" for label in sample.classes.tolist())
        raise ValueError(f"{name} holds one class only{held}; a classifier needs two or more")
    return sample


def branch(learnt: Any, ask_if: Any, table: Table) -> Any:
    """What was learnt from a table, with the rule of which questions are asked."""
    if ask_if is None:
        return learnt
    if not isinstance(learnt, Evidence):
        raise ValueError(f"ask_if needs tables of weights: {learnt.no_table}")
    ruled = ask_only(learnt, ask_if)
    parts = {part.name: part for feature in ruled.features for part in feature.parts}
    for part in parts.values() if type(table) is Table else ():
        _warn_unasked(part, table)
    return ruled


def _warn_unasked(part: Feature, table: Table) -> None:
    """Warn about training rows that answer a question that is not asked: they were counted too."""
    n = int((replace(part, asked=()).answers(table) & ~part.is_asked(table)).sum())
    if part.asked and n:
        when = " and ".join(ask.words for ask in part.asked)
        warn_caller(
            f"column {part.name!r} has an answer in {n:,} training rows where it is not asked "
            f"(ask_if: {when}), and these were counted; make them missing to leave them out",
            UserWarning,
        )


def remember(learnt: Any, table: Table) -> Any:
    """What was learnt, with what it keeps of the table that it came from."""
    columns = table.names if learnt.event_model == "levels" else ()  # tokens are levels already
    return replace(learnt, backend=table.backend, columns=columns)


@dataclass(kw_only=True, eq=False, repr=False)
class BinnedEstimator(TableEstimator):
    """Base of estimators that find the levels of columns.

    The fields are the constructor parameters of all of them; a subclass adds its own. Columns that
    a dict of `bins` does not name have the default of `bins`.
    """

    smoothing: Any = 1.0
    bins: Any = "mdl"
    categorical_features: Any = "from_dtype"
    missing: Any = "level"
    special_values: Any = None
    max_levels: Any = None

    _smoothings: ClassVar[tuple[str, ...]] = ("1/n",)  # that have names
    _takes_densities: ClassVar[bool] = False  # in `bins`

    def _tally(self, sample: Sample) -> Tally:
        """Counts of a sample by level, with the levels set by the shared parameters."""
        tally = self._count(sample)
        for counts in tally.tables:
            _warn_uncut(counts.feature)
        return tally

    def _count(self, sample: Sample) -> Tally:
        """Counts of a sample without warnings, for levels found again in each fold."""
        table = sample.table
        return engine.tally(sample, read_settings(self, table), read_crosses(self.crosses, table))

    def _split(self, sample: Sample, cv: Any, random_state: Any) -> engine.Splits:
        """Coded rows and folds, with the levels found again in each split."""
        table = sample.table
        settings, crosses = read_settings(self, table), read_crosses(self.crosses, table)
        splits = engine.find_splits(sample, cv, random_state, settings, crosses)
        for counts in splits.whole.tally.tables:
            _warn_uncut(counts.feature)
        return splits

    def _fine(self, table: Table) -> set[str]:
        """The columns that are cut finely because no other bins were asked for."""
        settings = read_settings(self, table)
        return {name for name, setting in settings.items() if setting.bins == "fine"}


@dataclass(kw_only=True, eq=False, repr=False)
class NumberEstimator(BinnedEstimator):
    """Base of estimators of numbers or times: they have tables of weights, and no classes."""

    crosses: Any = None

    no_classes: ClassVar[str]  # what the estimator does instead, for errors

    def _keep(self, learnt: Any) -> Self:
        self._learnt = learnt
        self.__dict__.pop("provenance_", None)
        return self

    @property
    def evidence_(self) -> Evidence:
        """The prior and the tables of weights."""
        if "_learnt" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} has no evidence_ before it is fitted")
        return self._learnt  # type: ignore[no-any-return]

    def _check_bins(self) -> None:
        """Check the shared parameters, and refuse bins that are found with classes."""
        check_parameters(self)
        rules = self.bins.values() if isinstance(self.bins, dict) else [self.bins]
        if any(isinstance(rule, str) and rule == "mdl" for rule in rules):
            raise ValueError(
                "bins='mdl' needs classes, and the target is numeric; set bins to 'fine', a number "
                "of bins or cut points"
            )


class Classifier(ClassifierMixin):
    """A classifier whose accuracy takes names of columns, as `fit` does."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy: the share of rows whose class is predicted.

        `weigh.evaluate` has measures of the probabilities, which say more.

        Parameters
        ----------
        X, y, sample_weight
            Rows, with their labels and weights, or the names of their columns in X.
        """
        if not (isinstance(y, str) or isinstance(sample_weight, str)):
            return float(super().score(X, y, sample_weight))
        X = keep_reader(X)
        sample = label_sample(read(X), y, sample_weight)
        right = sample.classes[sample.labels] == self.predict(X)[sample.kept]
        return float(np.average(right, weights=sample.weight))


class EvidenceModel(Classifier, Predictor, TableEstimator):
    """A classifier with evidence, fitted or given, that predicts and explains."""

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


@dataclass(kw_only=True, eq=False, repr=False)
class EvidenceClassifier(EvidenceModel, BinnedEstimator, ABC):
    """Base of classifiers that learn evidence; a subclass implements `_learn`."""

    class_prior: Any = None
    crosses: Any = None
    ask_if: Any = None

    @abstractmethod
    def _learn(self, sample: Sample) -> Any:
        """Turn a sample into Evidence, or into what `DerivedModel` describes."""

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
        warn_columns(learnt.features, sample.table, counted.tables, self.categorical_features)
        self.provenance_ = record(sample.table, y)
        return self

    def _fit_sample(self, sample: Sample) -> Self:
        learnt = branch(self._learn(sample), self.ask_if, sample.table)
        self._name(sample.table.names, sample.table.named)
        return self._keep(remember(learnt, sample.table))
