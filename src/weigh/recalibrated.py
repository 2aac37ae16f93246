"""RecalibratedClassifier: a learner's table, and what its totals turned out to be worth."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from weigh.base import EvidenceClassifier, read_sample, warn_ids
from weigh.calibrate import FITS, recalibrate
from weigh.evidence import Evidence, Recalibration, evidence_of, record
from weigh.folds import Split, check_folds, read_splits
from weigh.frames import Floats, Sample, label_sample, read, set_names, warn_caller
from weigh.parameters import read_rate

PREFIT = "prefit"


class RecalibratedClassifier(EvidenceClassifier):
    """A learner of two classes whose totals are recalibrated on rows held out.

    log odds = f(prior + w_1(x_1) + ... + w_d(x_d))

    f is fitted to totals that the learner gives to rows held out, fold by fold, and rises, so that
    it changes no ranking. The table is the learner's own, from all rows; `evidence_` holds it with
    f, and a balance sheet states f as a line of its own.

    Parameters
    ----------
    estimator : learner
        A classifier of this package that ends as a table of weights.
    method : "spline", "sigmoid", "temperature" or "isotonic", default="spline"
        f: a natural cubic spline on the log odds (`SplineCalibrator`), a straight line (Platt), one
        through 0, or steps. Steps make ties, and so can change the AUC; the others cannot.
    cv : int, splitter, iterable, str or "prefit", default=5
        The folds whose rows are held out, or the name of the column of X that tells the fold of
        each row. "prefit" takes `estimator` as it is, fitted already, and `fit` is given rows that
        it has not seen.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    evidence_ : Evidence
        The prior and the tables, and f in `evidence_.recalibration`.
    estimator_ : learner
        The learner fitted on all rows, before f. A saved model has none.

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

    def __init__(
        self, estimator: Any, *, method: str = "spline", cv: Any = 5, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the table from all rows, and what its totals are worth from rows held out.

        Parameters
        ----------
        X : table
            Any dataframe, array or list of dicts.
        y : array or str
            Class labels, or the name of the column of X that holds them.
        sample_weight : array or str, optional
            Row weights, or the name of the column of X that holds them.
        """
        self._check()
        if self._is_prefit:
            return self._fit_prefit(X, y, sample_weight)
        learner, given = clone(self.estimator), self.estimator.class_prior
        learner.class_prior = None  # a shift of totals, which f would undo: it comes after f
        sample = read_sample(learner, X, y, sample_weight, cv=self.cv)
        _refuse_many(sample.classes)
        evidence = evidence_of(learner._fit_sample(sample))
        worth = self._worth(_hold_out(learner, sample, self._splits(sample)))
        self.estimator_ = learner
        warn_ids(evidence.features, sample.table.n_rows, evidence.tables)
        set_names(self, sample.table.names, sample.table.named)
        known = _join(evidence, worth, evidence.assumed_rate)
        if given is not None:
            known = known.with_prior(read_rate(given, sample.classes, "class_prior"))
        self._keep(known).provenance_ = record(sample.table.n_rows, y)
        return self

    def _fit_prefit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        check_is_fitted(self.estimator, "classes_")
        evidence = evidence_of(self.estimator)
        _refuse_many(evidence.classes)
        table = read(X, allow_sparse=evidence.event_model == "counts")
        sample = label_sample(table, y, sample_weight, evidence.classes)
        rows = _Rows.of(evidence, replace(sample, table=self.estimator._match(sample.table)))
        if not rows.both:
            raise ValueError(
                f"{sample.target} holds one class only; a recalibration needs rows of both"
            )
        self.estimator_ = self.estimator
        named = hasattr(self.estimator, "feature_names_in_")
        set_names(self, evidence.column_names, named)
        rate = sample.class_counts / sample.class_counts.sum()
        return self._keep(_join(evidence, self._worth(rows), rate))

    def _check(self) -> None:
        if not isinstance(self.estimator, EvidenceClassifier):
            raise ValueError(
                "estimator must be a classifier of this package that ends as a table of weights, "
                f"got {self.estimator!r:.80}; "
                "sklearn.calibration.CalibratedClassifierCV takes any other"
            )
        if isinstance(self.estimator, RecalibratedClassifier):
            raise ValueError("estimator is recalibrated already; give the learner itself")
        if self.method not in FITS:
            raise ValueError(f"method must be one of {[*FITS]}, got {self.method!r}")
        if not self._is_prefit:
            check_folds(self.cv)

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == PREFIT

    def _splits(self, sample: Sample) -> Iterable[Split]:
        rows = sample.labels, sample.kept
        return read_splits(self.cv, *rows, self.random_state, sample.groups)

    def _worth(self, rows: _Rows) -> Recalibration | None:
        if not rows.both:
            warn_caller(_NOTHING_HELD_OUT, UserWarning)
            return None
        method: Any = self.method
        return recalibrate(rows.totals, rows.positive, rows.weight, method)

    @property
    def event_model(self) -> str:  # type: ignore[override]
        """Whether the learner's rows are levels or counts."""
        return getattr(self.estimator, "event_model", "levels")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


@dataclass(frozen=True, eq=False)
class _Rows:
    """Totals of rows held out, whether each is of the second class, and weights."""

    totals: Floats
    positive: np.ndarray[Any, np.dtype[np.bool_]]
    weight: Floats

    @classmethod
    def of(cls, evidence: Evidence, sample: Sample) -> _Rows:
        weight = np.ones(len(sample.labels)) if sample.weight is None else sample.weight
        return cls(evidence.total(sample.table)[:, 0], sample.labels == 1, weight)

    @property
    def both(self) -> bool:
        return bool(self.positive.any() and not self.positive.all())


def _hold_out(learner: Any, sample: Sample, splits: Iterable[Split]) -> _Rows:
    """Every row held out, scored by a model of the others; folds that lack a class are left out."""
    parts = [_Rows(np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0))]
    for train, held_out in splits:
        rest = sample.take(train)
        if not rest.class_counts.all():
            continue
        with warnings.catch_warnings():  # the fit of all rows has said it already
            warnings.simplefilter("ignore")
            fold = clone(learner)._fit_sample(rest)
        parts.append(_Rows.of(fold.evidence_, sample.take(held_out)))
    names = ("totals", "positive", "weight")
    return _Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _join(evidence: Evidence, worth: Recalibration | None, rate: Floats) -> Evidence:
    """The evidence with what its totals are worth, on rows of these class frequencies."""
    if worth is None:
        return evidence
    more = ", and of the recalibration"
    caveat = (
        f"{evidence.caveat}{more}" if evidence.caveat else " and leaves out the error" + more[5:]
    )
    return replace(evidence, recalibration=worth, assumed_rate=rate, caveat=caveat)


def _refuse_many(classes: np.ndarray[Any, Any]) -> None:
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. y holds {len(classes)} classes "
            f"({classes.tolist()[:6]}); PerplexedNB calms many, and "
            "sklearn.calibration.CalibratedClassifierCV recalibrates them without a sheet"
        )


_NOTHING_HELD_OUT = (
    "no fold holds out rows of both classes and leaves both to learn from, so totals stay as they "
    "are; give more rows, or fewer folds"
)
