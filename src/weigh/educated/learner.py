"""EducatedNB: the most accurate table there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from weigh.base import EvidenceClassifier
from weigh.bins import Feature
from weigh.educated.design import Rows
from weigh.educated.fit import Fit, Task, fit_task
from weigh.educated.merge import averaging, group_levels, merge_feature
from weigh.evidence import Evidence, FeatureTable, contrast, squeeze, weigh_tally
from weigh.frames import Floats, Integers, Sample
from weigh.parameters import is_count
from weigh.tally import Counts, Tally


class EducatedNB(EvidenceClassifier):
    """A prior and one table per feature, all weights fitted together.

    log odds = w_0 + w_1(x_1) + ... + w_d(x_d)

    as in naive Bayes, but with the weights of least penalised loss,

        loss(w) + 1/2 sum_j scale_j (w_j - m_j)' S_j (w_j - m_j)

    Levels of categories are pulled to zero, each by itself; neighbouring intervals are pulled to
    each other. The scales are those of most marginal likelihood (Fellner & Schall), so there is
    nothing to tune.

    Parameters
    ----------
    smoothing, categorical_features, missing, special_values, class_prior, crosses
        As in `EvidenceNB`.
    bins : "fine", "mdl", int or dict, default="fine"
        How numbers become intervals. "fine" gives up to 128 levels (fewer where there are more
        than 16 columns); intervals that turn out to agree are merged after the fit, which moves no
        weight by more than 0.05.
    pairs : int, default=0
        Up to so many pairs of features get a table of their own beside those of the features: the
        pairs that a score test finds, kept where rows left out are told better.
    center : "zero" or "naive", default="zero"
        What weights are pulled to: zero, or naive Bayes's own weight times an exponent per feature.
    monotonic_cst : dict or array, optional
        Numeric columns whose weights may only rise (1) or only fall (-1), such as {"age": 1}.
    multiclass : "softmax" or "ovr", default="softmax"
        More than two classes: fitted jointly, or each against the rest.
    random_state : int, RandomState or None
        Nothing in the fit is random; it is taken so that learners can be exchanged.

    Attributes
    ----------
    scales_ : ndarray
        How much the weights of each feature of `evidence_` are held: one over their variance.
    held_out_loss_ : float
        The leave-one-out loss of the training rows, in bits.
    n_passes_ : int
        How often the rows were passed over for a Hessian.
    evidence_ : Evidence
        The prior and the tables.

    Examples
    --------
    >>> from weigh import EducatedNB
    >>> from weigh.datasets import titanic
    >>> model = EducatedNB().fit(titanic(), "Survived")
    >>> sheet = model.balance_sheet({"Class": "1st", "Sex": "Female", "Age": "Adult"})
    >>> round(sheet.probability, 2)
    0.88
    """

    _extras = ("scales_", "held_out_loss_", "n_passes_")
    _default_bins = "fine"

    def __init__(
        self,
        *,
        smoothing: Any = 1.0,
        bins: Any = "fine",
        categorical_features: Any = "from_dtype",
        missing: Any = "level",
        special_values: Any = None,
        class_prior: Any = None,
        crosses: Any = None,
        pairs: int = 0,
        center: str = "zero",
        monotonic_cst: Any = None,
        multiclass: str = "softmax",
        random_state: Any = None,
    ) -> None:
        self.smoothing = smoothing
        self.bins = bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.special_values = special_values
        self.class_prior = class_prior
        self.crosses = crosses
        self.pairs = pairs
        self.center = center
        self.monotonic_cst = monotonic_cst
        self.multiclass = multiclass
        self.random_state = random_state

    def _learn(self, sample: Sample) -> Evidence:
        self._check(len(sample.classes))
        tally = self._tally(sample)
        rate = self._class_rate(tally.classes)
        weight = np.ones(len(sample.labels)) if sample.weight is None else sample.weight
        orders = self._orders(tally)
        if len(tally.classes) > 2 and self.multiclass == "ovr":
            raise NotImplementedError
        rows = Rows(sample.labels, weight, len(tally.classes))
        fit = fit_task(Task(sample.table, tally.tables, rows, None, orders, self.pairs))
        self.scales_ = fit.scales
        self.held_out_loss_ = fit.held_out.mean / np.log(2)
        self.n_passes_ = float(fit.search.state.n_passes)
        self._fit = fit
        evidence = _evidence(tally, fit, self.smoothing)
        return evidence if rate is None else evidence.with_prior(rate)

    def _check(self, n_classes: int) -> None:
        if not is_count(self.pairs) or self.pairs < 0:
            raise ValueError(f"pairs must be a whole number of 0 or more, got {self.pairs!r}")
        for name, choices in (("center", ("zero", "naive")), ("multiclass", ("softmax", "ovr"))):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {choices}, got {getattr(self, name)!r}")
        if self.pairs and n_classes > 2 and self.multiclass == "ovr":
            raise ValueError("pairs are found for all classes at once; use multiclass='softmax'")

    def _orders(self, tally: Tally) -> tuple[int, ...]:
        """What `monotonic_cst` asks of each feature."""
        given = self.monotonic_cst
        if given is None:
            return ()
        names = [table.feature.name for table in tally.tables]
        if not isinstance(given, Mapping):
            given = dict(zip(names, given, strict=True))
        return tuple(given.get(name, 0) for name in names)


def _evidence(tally: Tally, fit: Fit, smoothing: Any) -> Evidence:
    """The fit as tables, with intervals that agree merged."""
    naive = weigh_tally(tally, smoothing)
    tables, matrices = [], [np.ones((1, 1))]
    for counts, weights in zip(fit.counts, fit.tables, strict=True):
        groups = group_levels(counts.feature, weights)
        mean = averaging(groups, counts.counts.sum(axis=1))
        feature = merge_feature(counts.feature, groups)
        summed = (mean > 0) @ counts.counts
        columns = mean @ weights
        if columns.shape[1] > 1:
            columns = contrast(columns)
        tables.append(FeatureTable(feature, summed, columns, None, 0.0))
        matrices.append(mean)
    covariance = None
    if fit.covariance is not None:
        whole = block_diag(*matrices)
        covariance = whole @ fit.covariance @ whole.T
        errors = np.sqrt(np.diag(covariance)[1:])
        parts = np.split(errors, np.cumsum([len(t.counts) for t in tables])[:-1])
        tables = [replace(t, known_errors=e[:, None]) for t, e in zip(tables, parts, strict=True)]
    prior = fit.weights[0] if len(fit.weights[0]) == 1 else contrast(fit.weights[0])
    return replace(naive, tables=tuple(tables), prior=squeeze(prior), prior_variances=None)
