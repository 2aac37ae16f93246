"""EducatedNB: the most accurate table there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from weigh import engine
from weigh.base import EvidenceClassifier
from weigh.educated.blanks import settle
from weigh.educated.design import Target
from weigh.educated.fit import Fit, Task, fit_task
from weigh.educated.tables import evidence_of
from weigh.evidence import Evidence, weigh_tally
from weigh.folds import check_folds
from weigh.frames import Sample, Table, warn_caller
from weigh.parameters import is_count, read_orders, read_settings


class EducatedNB(EvidenceClassifier):
    """A prior and one table per feature, all weights fitted together.

    log odds = w_0 + w_1(x_1) + ... + w_d(x_d)

    as in naive Bayes, but with the weights of least penalised loss,

        loss(w) + 1/2 sum_j scale_j w_j' S_j w_j

    Levels of categories are pulled to zero, each by itself; neighbouring intervals are pulled to
    each other. The scales are those of most marginal likelihood (Fellner & Schall), so there is
    nothing to tune.

    Parameters
    ----------
    smoothing, categorical_features, missing, special_values, max_levels, class_prior, crosses
        As in `EvidenceNB`. `smoothing` changes no weight, only the information value.
    bins : "fine", "mdl", int or dict, default="fine"
        How numbers become intervals. "fine" gives up to 128 levels, fewer where there are more
        than 16 columns; of these, intervals that turn out to agree are merged after the fit, which
        moves no total by more than 0.1. Intervals that are asked for otherwise stay as they are.
    pairs : int, default=0
        Up to so many pairs of features get a table of their own beside those of the features: the
        pairs that would tell held-out rows best, and all of them only if they do.
    monotonic_cst : dict or array, optional
        Numeric columns whose weights may only rise (1) or only fall (-1), such as {"age": 1}.
    multiclass : "softmax" or "ovr", default="softmax"
        More than two classes: fitted jointly, or each against the rest.
    cv : int, splitter or iterable, default=4
        The folds that pairs are judged on. Without pairs nothing is held out.
    random_state : int, RandomState or None
        Deals these folds; nothing else is random.

    Attributes
    ----------
    scales_ : ndarray
        How strongly the weights of each feature of `evidence_` are held: one over their variance,
        and one row per class for `multiclass="ovr"`. NaN for a feature of one level.
    loo_loss_ : float or ndarray
        The leave-one-out loss of the training rows, in bits (one per class for "ovr").
    n_passes_ : int or ndarray
        How often the rows were passed over after they were counted: for the weights, for the
        scales, to judge by leave-one-out and to find pairs. What rows give at the same weights
        (loss, gradient, Hessian) is one pass.
    evidence_ : Evidence
        The prior and the tables.

    Notes
    -----
    Up to 3,072 weights share one Hessian; of fewer rows than weights it is inverted by way of the
    rows. Of wider tables with more than 3,072 rows the largest features are blocks of their own:
    conjugate gradients make the weights exact, while scales and `loo_loss_` come from the blocks
    alone. So it is with the classes of `multiclass="softmax"`, whose scales are approximate. More
    than 3,072 weights, and classes fitted jointly, have no errors. The intervals of a column are a
    dense matrix among themselves, so thousands of cut points are slow. Errors take the scales as
    known. A fit that has not converged raises a `ConvergenceWarning`.

    Examples
    --------
    >>> from weigh import EducatedNB
    >>> from weigh.datasets import titanic
    >>> model = EducatedNB().fit(titanic(), "Survived")
    >>> sheet = model.balance_sheet({"Class": "1st", "Sex": "Female", "Age": "Adult"})
    >>> round(sheet.probability, 2)
    0.88
    """

    _extras = ("scales_", "loo_loss_", "n_passes_")
    _default_bins = "fine"
    loo_loss_: Any
    n_passes_: Any

    def __init__(
        self,
        *,
        smoothing: Any = 1.0,
        bins: Any = "fine",
        categorical_features: Any = "from_dtype",
        missing: Any = "level",
        special_values: Any = None,
        max_levels: Any = None,
        class_prior: Any = None,
        crosses: Any = None,
        pairs: int = 0,
        monotonic_cst: Any = None,
        multiclass: str = "softmax",
        cv: Any = 4,
        random_state: Any = None,
    ) -> None:
        self.smoothing = smoothing
        self.bins = bins
        self.categorical_features = categorical_features
        self.missing = missing
        self.special_values = special_values
        self.max_levels = max_levels
        self.class_prior = class_prior
        self.crosses = crosses
        self.pairs = pairs
        self.monotonic_cst = monotonic_cst
        self.multiclass = multiclass
        self.cv = cv
        self.random_state = random_state

    def _learn(self, sample: Sample) -> Evidence:
        self._check(len(sample.classes))
        tally = self._tally(sample)
        rate = self._class_rate(tally.classes)
        orders = read_orders(self.monotonic_cst, tally, sample.table)
        rows = engine.code_rows(sample, [counts.feature for counts in tally.tables])
        target = Target(tally.class_counts)
        task = Task(rows, tally.tables, target, orders, self.pairs, self.cv, self.random_state)
        each = len(tally.classes) > 2 and self.multiclass == "ovr"
        with engine.one_blas_thread():  # whose sums would depend on how many there are
            fits = self._fit_each(task) if each else [self._fit_jointly(task)]
            counts = tally.tables if each else fits[0].counts
            naive = weigh_tally(tally, self.smoothing)
            evidence = evidence_of(naive, counts, fits, self._fine(sample.table))
            evidence, passes = settle(evidence, rows, [c.feature for c in tally.tables])
            self.n_passes_ = self.n_passes_ + (np.array(passes) if each else passes[0])
        return evidence if rate is None else evidence.with_prior(rate)

    def _check(self, n_classes: int) -> None:
        if not is_count(self.pairs) or self.pairs < 0:
            raise ValueError(f"pairs must be a whole number of 0 or more, got {self.pairs!r}")
        if self.multiclass not in ("softmax", "ovr"):
            raise ValueError(f"multiclass must be 'softmax' or 'ovr', got {self.multiclass!r}")
        check_folds(self.cv)
        if n_classes > 2:
            self._check_many()

    def _check_many(self) -> None:
        if self.pairs and self.multiclass == "ovr":
            raise ValueError("pairs are found for all classes at once; use multiclass='softmax'")
        if self.monotonic_cst is not None and any(_signs(self.monotonic_cst)):
            raise ValueError(
                "monotonic_cst holds the weights for one class against another, but y has more "
                "than two classes; leave it out, or fit the classes two by two"
            )

    def _fit_jointly(self, task: Task) -> Fit:
        fit = _fit_and_warn(task)
        self.scales_, self.loo_loss_ = fit.scales, fit.held_out.bits
        self.n_passes_ = fit.n_passes
        return fit

    def _fit_each(self, task: Task) -> list[Fit]:
        fits, whole = [], task.target.class_counts
        for c, weight in enumerate(whole):
            own = tuple(counts.against_rest(c) for counts in task.counts)
            target = Target(np.array([whole.sum() - weight, weight]), of=c)
            fits.append(_fit_and_warn(replace(task, counts=own, target=target)))
        self.scales_ = np.array([fit.scales for fit in fits])
        self.loo_loss_ = np.array([fit.held_out.bits for fit in fits])
        self.n_passes_ = np.array([fit.n_passes for fit in fits])
        return fits

    def _fine(self, table: Table) -> set[str]:
        """The columns that were cut finely, and not as the user laid them out."""
        settings = read_settings(self, table)
        return {name for name, setting in settings.items() if setting.bins == "fine"}


def _fit_and_warn(task: Task) -> Fit:
    fit = fit_task(task)
    if fit.complaint():
        warn_caller(f"EducatedNB has not converged: {fit.complaint()}", ConvergenceWarning)
    return fit


def _signs(given: Any) -> list[Any]:
    """What is asked of columns, by name or in order."""
    return [*given.values()] if isinstance(given, Mapping) else [*given]
