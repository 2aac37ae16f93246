"""AdjustedNB: naive Bayes with an exponent per feature (APM and APMR)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from weigh import engine
from weigh.adjusted.fit import (
    ZERO_EXPONENT,
    Fit,
    Naive,
    Reversal,
    Training,
    against_rest,
    all_classes,
    by_feature,
    centre,
    fit_exponents,
    scale_by_exponents,
    sum_loss,
    warn_rare,
)
from weigh.arrays import Floats
from weigh.base import EvidenceClassifier
from weigh.bins import label
from weigh.evidence import (
    PRINTED,
    Evidence,
    FeatureTable,
    contrast,
    rows_added,
    scale_variances,
    weigh_tally,
)
from weigh.folds import check_folds
from weigh.frames import Sample
from weigh.parameters import is_number
from weigh.tally import Tally

CAVEAT = " and leaves out the error of the exponents"


@dataclass(kw_only=True, eq=False, repr=False)
class AdjustedNB(EvidenceClassifier):
    """Naive Bayes with an exponent per feature: the Adjusted Probability Model.

    The model (Eq. 8) is::

        log odds = q_0 + sum_j a_j q_j(x_j),   q_j(v) = ln P(v|1)/P(v|0)

    The exponents a_j correct for correlated features. They minimise the loss (Eq. 15) subject to
    sum_j a_j^2 = m; q_0 is a fixed offset (Hong, Hosking & Natarajan 2002).

    Parameters
    ----------
    smoothing, bins, categorical_features, missing, special_values
        As in `EvidenceNB`.
    max_levels, class_prior, crosses, ask_if
        As in `EvidenceNB`.
    norm : "cv", "paper", None or float, default="cv"
        The norm m. "cv" is APMR: m is chosen by internal cross-validation, with tables counted
        again in each fold. "paper" is APMR as printed: tables of all rows in every fold, and
        equally spaced norms. None is APM: no limit; if there are several solutions, the one of
        smallest norm. A number is APM(m); above the unlimited norm it has no effect, and a warning
        says so.
    multiclass : "softmax", "ovr" or "shared", default="softmax"
        Model for more than two classes. "softmax" fits one exponent per class and feature jointly.
        "ovr" fits a model of each class against the rest, as in the paper's experiments. "shared"
        is Eq. 6: one exponent per feature for all classes.
    aggregate : "mean" or "median", default="mean"
        How the losses of the folds are summarised. The paper prefers the median.
    fit_prior : bool, default=False
        Whether the prior also has an exponent (a_0 of Eq. 17), counted in m. For comparison.
    cv : int, splitter, iterable or str, default=5
        Number of internal folds, a scikit-learn splitter or splits, or the name of a column of X
        with the fold of each row, which is then not a feature.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    exponents_ : ndarray of shape (d,) or (K, d)
        One exponent per feature of `evidence_`, in its order, and per class if there are more than
        two. 0 for a feature without information.
    prior_exponent_ : float or ndarray of shape (K,)
        1, unless `fit_prior`.
    norm_ : float or ndarray of shape (K,)
        The sum of the squared exponents.
    norm_path_ : NormPath or list of NormPath
        The norms tried and their loss in every fold ("cv" only).
    loss_ : float
        The training loss in bits.
    n_passes_ : int
        Passes of the search over the rows, after the passes that find and count levels. One pass
        serves all folds and, for tables read in batches, all norms of a stage.
    reversals_ : list of Reversal
        The features with negative exponents.
    evidence_ : Evidence
        The prior and the tables, exponents multiplied in.

    Examples
    --------
    >>> from weigh import AdjustedNB
    >>> from weigh.datasets import simpson
    >>> model = AdjustedNB(norm=None, smoothing=0).fit(simpson(), "Recovered")
    >>> model.exponents_.round(3)
    array([ 1.175, -1.196])
    >>> print(model.reversals_[0])
    Drug: exponent -1.20. The effect reverses once the other features are included (Simpson's
    paradox)
    """

    norm: Any = "cv"
    multiclass: str = "softmax"
    aggregate: str = "mean"
    fit_prior: bool = False
    cv: Any = 5
    random_state: Any = None

    _extras = ("exponents_", "prior_exponent_", "norm_", "loss_")
    prior_exponent_: Any = field(init=False)
    norm_: Any = field(init=False)
    norm_path_: Any = field(default=None, init=False)  # not saved
    n_passes_: int | None = field(default=None, init=False)  # not saved

    _smoothings = ("1/n", *PRINTED)

    def _learn(self, sample: Sample) -> Evidence:
        self._check()
        rows = self._train(sample)
        tally = rows.whole.tally
        rate = self._class_rate(tally.classes)
        self.norm_path_ = None
        if len(tally.classes) == 2:
            evidence = self._learn_two(tally, rows)
        elif self.multiclass == "ovr":
            evidence = self._learn_each(tally, rows)
        else:
            evidence = self._learn_jointly(tally, rows)
        self.n_passes_ = rows.rows.n_passes
        return evidence if rate is None else evidence.with_prior(rate)

    def _train(self, sample: Sample) -> Training:
        """Code the rows; with norm="cv", in folds that have their own levels and counts."""
        if self.norm == "cv":
            warn_rare(sample, self.cv)
            return Training.of_splits(self._split(sample, self.cv, self.random_state), self)
        tally = self._tally(sample)
        coded = engine.code_rows(sample, [table.feature for table in tally.tables])
        return Training.of_rows(coded, tally, self)

    def _check(self) -> None:
        number = is_number(self.norm) and 0 <= self.norm < np.inf
        if not (number or self.norm is None or self.norm in ("cv", "paper")):
            raise ValueError(
                f"norm must be 'cv', 'paper', None or a number of 0 or more, got {self.norm!r}"
            )
        for name, choices in (
            ("multiclass", ("softmax", "ovr", "shared")),
            ("aggregate", ("median", "mean")),
        ):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {choices}, got {getattr(self, name)!r}")
        if not isinstance(self.fit_prior, bool | np.bool_):
            raise ValueError(f"fit_prior must be True or False, got {self.fit_prior!r}")
        check_folds(self.cv)

    # ------------------------------------------------------------ two classes, one-vs-rest, jointly

    @property
    def _all_classes(self) -> Callable[[Tally], Naive]:
        return partial(all_classes, smoothing=self.smoothing)

    def _state(self, rows: Training, fit: Fit) -> None:
        """Store what was found for all classes at once."""
        self.exponents_, self.prior_exponent_ = fit.exponents, fit.prior
        self.norm_, self.norm_path_ = fit.norm, fit.path
        self.loss_ = float(fit.loss / (rows.weight_sum * np.log(2)))

    def _learn_two(self, tally: Tally, rows: Training) -> Evidence:
        naive = weigh_tally(tally, self.smoothing)
        self._state(rows, fit_exponents(rows, self._all_classes, of=1))
        pairs = zip(naive, self.exponents_, strict=True)
        tables = tuple(scale_by_exponents(table, np.array([a]), [1]) for table, a in pairs)
        errors = scale_variances(naive.prior_variances, self.prior_exponent_)
        offset = float(naive.prior_row[0]) * self.prior_exponent_
        return replace(naive, tables=tables, prior=offset, prior_variances=errors, caveat=CAVEAT)

    def _learn_each(self, tally: Tally, rows: Training) -> Evidence:
        naive = weigh_tally(tally, self.smoothing)
        fits, tables, errors, offsets = [], [], [], []
        for c, name in enumerate(naive.classes.tolist()):
            rest = partial(against_rest, of=c, smoothing=self.smoothing)
            own = replace(rows, about=f"{label(name)} against the rest: ")
            fits.append(fit_exponents(own, rest, of=c))
            parts, offset = rest(tally)
            offsets.append(float(offset[0]))
            tables.append([part.by_class[:, 0] for part in parts])
            errors.append([part.errors for part in parts])
        self.exponents_ = np.array([fit.exponents for fit in fits])
        self.prior_exponent_ = np.array([fit.prior for fit in fits])
        self.norm_ = np.array([fit.norm for fit in fits])
        self.norm_path_ = [fit.path for fit in fits]
        evidence = replace(
            naive,
            form="ovr",
            prior=np.array(offsets) * self.prior_exponent_,
            tables=self._tables(tally, by_feature(tables), by_feature(errors)),
            prior_variances=None,
        )
        return self._score(evidence, rows)

    def _learn_jointly(self, tally: Tally, rows: Training) -> Evidence:
        naive = weigh_tally(tally, self.smoothing)
        shared = self.multiclass == "shared"
        self._state(rows, fit_exponents(rows, self._all_classes, shared=shared))
        scaled = [
            centre(t, a, naive.classes) for t, a in zip(naive, self.exponents_.T, strict=True)
        ]
        prior = contrast(naive.prior_row * self.prior_exponent_)
        return replace(naive, tables=tuple(scaled), prior=prior, prior_variances=None)

    def _tables(
        self, tally: Tally, columns: list[Floats], errors: list[Any]
    ) -> tuple[FeatureTable, ...]:
        """Tables of each class against the rest, times their exponents."""
        tables, s = [], rows_added(self.smoothing, tally.class_counts.sum())
        for j, counts in enumerate(tally.tables):
            known = errors[j] * np.abs(self.exponents_[:, j])
            table = FeatureTable(counts.feature, counts.counts, columns[j], None, s, "", known)
            tables.append(scale_by_exponents(table, self.exponents_[:, j], tally.classes.tolist()))
        return tuple(tables)

    def _score(self, evidence: Evidence, rows: Training) -> Evidence:
        """Set `loss_`, the training loss before `class_prior` is applied."""
        padded = tuple(rows.whole.spread([table.padded for table in evidence]))
        nats = rows.rows.sum(partial(sum_loss, padded=padded, prior=evidence.prior_row))
        self.loss_ = float(nats.arrays[0]) / (rows.weight_sum * np.log(2))
        return evidence

    @property
    def reversals_(self) -> list[Reversal]:
        """The features with negative exponents."""
        check_is_fitted(self, "evidence_")
        names = [table.name for table in self.evidence_]
        if self.exponents_.ndim == 1:
            pairs = zip(names, self.exponents_.tolist(), strict=True)
            return [
                Reversal(name, exponent) for name, exponent in pairs if exponent < -ZERO_EXPONENT
            ]
        return [
            Reversal(names[j], float(self.exponents_[k, j]), self.classes_.tolist()[k])
            for j in range(len(names))
            for k in range(len(self.classes_))
            if self.exponents_[k, j] < -ZERO_EXPONENT
        ]
