"""RecalibratedClassifier: a learner whose totals are recalibrated on hold-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from weigh.arrays import Floats
from weigh.base import EvidenceClassifier, EvidenceModel, read_sample, warn_columns
from weigh.calibrate import FITS, SCALINGS, HoldOutTotals, RestCurves, recalibrate
from weigh.errors import warn_caller
from weigh.evidence import Evidence, evidence_of, inherit, record
from weigh.folds import Split, check_folds, read_splits
from weigh.frames import Sample, label_sample, read, set_names
from weigh.parameters import read_rate

PREFIT = "prefit"


class RecalibratedClassifier(EvidenceModel):
    """A learner whose probabilities are recalibrated by cross-validation.

    The model is::

        log odds = f(prior + w_1(x_1) + ... + w_d(x_d))

    The rising curve f is fitted to the totals of hold-out rows, fold by fold, so it does not change
    the ranking. The tables are the learner's own, fitted to all rows. `evidence_` includes f, and a
    balance sheet shows it as a line of its own.

    With more than two classes each class has a total t_k. "temperature" multiplies all of them by
    one number, and "sigmoid" makes them a_k t_k + b_k (vector scaling): `evidence_` is then the
    scaled table. "spline" and "isotonic" fit a curve f_k for each class against the rest, and have
    no tables.

    Parameters
    ----------
    estimator : learner
        A classifier of this package with tables of weights.
    method : "spline", "sigmoid", "temperature" or "isotonic", default="spline"
        The curve f: a natural cubic spline of the log odds (`SplineCalibrator`), a straight line
        (Platt), a line through 0, or steps. Only steps can change the AUC, because they make ties.
    cv : int, splitter, iterable, str or "prefit", default=5
        Folds of hold-out rows, or the name of a column of X with the fold of each row. "prefit"
        recalibrates a fitted `estimator`; give `fit` rows that it has not seen.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    evidence_ : Evidence
        The prior and the tables, and f in `evidence_.recalibration`.
    estimator_ : learner
        The learner fitted to all rows, before f. Saved models do not have it.
    scaling_ : array of shape (2, n_classes) or None
        a_k and b_k, if totals of more than two classes are scaled.

    Examples
    --------
    >>> from weigh import EvidenceNB, RecalibratedClassifier
    >>> from weigh.datasets import titanic
    >>> model = RecalibratedClassifier(EvidenceNB(), random_state=0).fit(titanic(), "Survived")
    >>> sheet = model.balance_sheet({"Class": "1st", "Sex": "Female", "Age": "Adult"})
    >>> round(sheet.probability, 2)
    0.95
    """

    estimator_: Any = None  # not saved
    scaling_: Floats | None = None

    _extras = ("scaling_",)
    _later_extras = ("scaling_",)
    _bodies = ("evidence", "rest")

    def __init__(
        self, estimator: Any, *, method: str = "spline", cv: Any = 5, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the tables to all rows, and the recalibration to hold-out rows.

        Parameters
        ----------
        X : table
            Any dataframe, array or list of dicts.
        y : array or str
            Class labels, or the name of their column in X.
        sample_weight : array or str, optional
            Row weights, or the name of their column in X.
        """
        self._check()
        if self._is_prefit:
            return self._fit_prefit(X, y, sample_weight)
        learner, given = clone(self.estimator), self.estimator.class_prior
        learner.class_prior = None  # applied after f, which would undo it
        sample = read_sample(learner, X, y, sample_weight, cv=self.cv)
        evidence = evidence_of(learner._fit_sample(sample))
        places = sample.labels, sample.kept
        splits = read_splits(self.cv, *places, self.random_state, sample.groups)
        rows = _hold_out(learner, sample, splits)
        self.estimator_ = learner
        kinds = learner.categorical_features
        warn_columns(evidence.features, sample.table, evidence.tables, kinds)
        set_names(self, sample.table.names, sample.table.named)
        model = self._join(evidence, rows, evidence.assumed_rate)
        if given is not None:
            model = model.with_prior(read_rate(given, sample.classes, "class_prior"))
        self._keep(model).provenance_ = record(sample.table, y)
        return self

    def _fit_prefit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        check_is_fitted(self.estimator, "classes_")
        evidence = evidence_of(self.estimator)
        table = read(X, allow_sparse=evidence.event_model == "counts")
        sample = label_sample(table, y, sample_weight, evidence.classes)
        table = self.estimator._match(sample.table)
        rows = _score(evidence, replace(sample, table=table))
        if not _has_two(rows):
            raise ValueError(
                f"{sample.target} holds one class only; give rows of at least two classes"
            )
        self.estimator_ = self.estimator
        named = hasattr(self.estimator, "feature_names_in_")
        set_names(self, evidence.column_names, named)
        rate = sample.class_counts / sample.class_counts.sum()
        inherit(self._keep(self._join(evidence, rows, rate)), self.estimator)
        provenance = getattr(self, "provenance_", None)
        if provenance is not None:
            known = provenance.join(sample.table if provenance.columns else table)
            self.provenance_ = replace(known, part_of=None)
        return self

    def _check(self) -> None:
        if isinstance(self.estimator, RecalibratedClassifier):
            raise ValueError(
                "estimator is recalibrated already; set estimator to the learner inside it"
            )
        if hasattr(self.estimator, "no_classes"):
            raise ValueError(
                f"{type(self.estimator).__name__} {self.estimator.no_classes}, and only "
                "probabilities of classes are recalibrated"
            )
        if not isinstance(self.estimator, EvidenceClassifier):
            raise ValueError(
                "estimator must be a classifier of this package with a table of weights, got "
                f"{self.estimator!r:.80}; use sklearn.calibration.CalibratedClassifierCV for others"
            )
        if self.method not in FITS:
            raise ValueError(f"method must be one of {[*FITS]}, got {self.method!r}")
        if not self._is_prefit:
            check_folds(self.cv)

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == PREFIT

    def _join(self, evidence: Evidence, rows: HoldOutTotals, rate: Floats) -> Evidence | RestCurves:
        """Recalibrate the evidence on hold-out rows with the given class frequencies."""
        self.scaling_ = None
        if not _has_two(rows):
            warn_caller(_NO_HOLD_OUT, UserWarning)
            return evidence
        left_out = f"{evidence.caveat}, and" if evidence.caveat else " and leaves out the error"
        caveat = f"{left_out} of the recalibration"
        adapted = replace(evidence, assumed_rate=rate, caveat=caveat)
        method: Any = self.method
        if len(evidence.classes) == 2:
            totals, positive = rows.totals[:, 0], rows.labels == 1
            return replace(
                adapted, recalibration=recalibrate(totals, positive, rows.weight, method)
            )
        if method in SCALINGS:
            scaling = SCALINGS[method](rows)
            self.scaling_ = np.array([scaling.slopes, scaling.levels])
            return scaling.fold(adapted)
        return RestCurves.fit(adapted, rows, method)

    @property
    def event_model(self) -> str:  # type: ignore[override]
        """Whether the learner takes levels or counts of tokens."""
        return getattr(self.estimator, "event_model", "levels")


def _score(evidence: Evidence, sample: Sample) -> HoldOutTotals:
    """Compute the totals of hold-out rows."""
    totals = evidence.total(sample.table)
    return HoldOutTotals(totals, sample.labels, sample.weights, evidence.link)


def _has_two(rows: HoldOutTotals) -> bool:
    """Whether the hold-out rows have at least two classes."""
    return len(np.unique(rows.labels)) > 1


def _hold_out(learner: Any, sample: Sample, splits: Iterable[Split]) -> HoldOutTotals:
    """Score the hold-out rows of each fold; folds whose training rows lack a class are left out."""
    n = len(sample.classes)
    parts = [
        HoldOutTotals(
            np.zeros((0, n if n > 2 else 1)), np.zeros(0, np.intp), np.zeros(0), "softmax"
        )
    ]
    for train, held_out in splits:
        rest = sample.take(train)
        if not rest.class_counts.all():
            continue
        with warnings.catch_warnings():  # the fit of all rows has warned already
            warnings.simplefilter("ignore")
            fold = clone(learner)._fit_sample(rest)
        parts.append(_score(fold.evidence_, sample.take(held_out)))
    return HoldOutTotals(
        np.concatenate([part.totals for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.weight for part in parts]),
        parts[-1].link,
    )


_NO_HOLD_OUT = (
    "probabilities are not recalibrated, because no fold has all classes in its training rows and "
    "two in its hold-out rows; give more rows, or set cv to fewer folds"
)
