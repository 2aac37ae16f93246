"""EducatedNB: a classifier with one table of weights per feature, all fitted together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from weigh import engine
from weigh.base import EvidenceClassifier
from weigh.bins import Cross
from weigh.educated.attenuation import attenuate_incomplete
from weigh.educated.blanks import zero_not_known
from weigh.educated.design import Target
from weigh.educated.fit import Fit, fit_task
from weigh.educated.tables import replace_tables
from weigh.educated.task import NO_PAIRS, PairRequest, Task
from weigh.errors import Parameter, ParameterError, warn_caller
from weigh.evidence import Evidence, weigh_tally
from weigh.folds import check_folds
from weigh.frames import FarTable, Sample, Table
from weigh.parameters import is_count, read_columns, read_orders, read_pairs
from weigh.progress import show_progress


@dataclass(frozen=True)
class Pair:
    """A pair of columns with its own table, and its gain in bits a row."""

    columns: tuple[str, str]
    gain: float
    """Rise of the leave-one-out loss without the pair, in bits a row."""


@dataclass(kw_only=True, eq=False, repr=False)
class EducatedParameters:
    """The constructor parameters of learners whose weights are all fitted together."""

    bins: Any = "fine"
    pairs: Any = "auto"
    unpaired: Any = None
    monotonic_cst: Any = None


@dataclass(kw_only=True, eq=False, repr=False)
class EducatedNB(EducatedParameters, EvidenceClassifier):
    """Classifier with one table of weights per feature, all weights fitted together.

    The model is that of naive Bayes::

        log odds = w_0 + w_1(x_1) + ... + w_d(x_d)

    The weights minimise the penalised loss::

        loss(w) + 1/2 sum_j scale_j w_j' S_j w_j

    Levels of categories are shrunk towards zero, and bins of numbers towards a smooth curve. The
    scales maximise the marginal likelihood (Fellner & Schall), so there is nothing to tune.

    Parameters
    ----------
    smoothing, categorical_features, missing, special_values
        As in `EvidenceNB`. `smoothing` affects only the information value, not the weights.
    max_levels, class_prior, crosses, ask_if
        As in `EvidenceNB`.
    bins : "fine", "mdl", int or dict, default="fine"
        Bins of numeric columns. "fine" gives about 128 levels, fewer with more than 16 columns.
        After the fit, fine bins of nearly equal weight are merged, which moves no total by more
        than 0.1. Other bins are not merged.
    pairs : "auto", int or list of pairs of columns, default="auto"
        Pairs of features with their own tables, in addition to those of the single features.
        "auto": up to 40, as many as lower the leave-one-out loss by more than noise; none with
        fewer than 100 rows or with `multiclass="ovr"`. A number: up to that many, if together they
        help. A list, such as [("Class", "Sex")]: these pairs. 0: none.
    unpaired : list of columns, optional
        Columns to leave out of the search for pairs.
    monotonic_cst : dict or array, optional
        Monotone constraints: numeric or ordered columns whose weights only rise (1) or only fall
        (-1), such as {"age": 1}.
    multiclass : "softmax" or "ovr", default="softmax"
        Model for more than two classes: fitted jointly, or each class against the rest.
    cv : int, splitter, iterable or str, default=4
        Not used: there are no hold-out rows. A string names a column that is not a feature.
    random_state : int, RandomState or None
        Not used: nothing is random. Both exist for compatibility with other learners.
    verbose : bool, default=False
        Show a progress bar during `fit`, on a terminal or in a notebook.

    Attributes
    ----------
    scales_ : ndarray
        Strength of shrinkage of each table: one over the variance of its weights; one row per class
        for `multiclass="ovr"`. NaN for a feature of one level.
    loo_loss_ : float or ndarray
        The leave-one-out loss of the training rows, in bits (one per class for "ovr").
    pairs_ : list of Pair
        The pairs, the largest gain first: their `columns`, and the `gain` in bits a row, which is
        how much the leave-one-out loss would rise without the pair, with the other tables fitted
        again.
    n_passes_ : int or ndarray
        Passes over the rows after counting: for weights, scales, leave-one-out and pairs. One pass
        gives loss, gradient and Hessian.
    evidence_ : Evidence
        The prior and the tables.

    Notes
    -----
    Up to 3,072 weights share one Hessian. In wider tables with more than 3,072 rows the largest
    features are separate blocks: conjugate gradients make the weights exact, but scales and
    `loo_loss_` come from the blocks alone. The same is true of the classes of
    `multiclass="softmax"`; for many large classes, scales come from the 320 most informative modes
    of each. Standard errors include the uncertainty of the scales. They are not computed for more
    than 3,072 weights or for classes fitted jointly. The bins of a column form a dense matrix, so
    thousands of cut points are slow. A fit that has not converged gives a `ConvergenceWarning`.

    There is no `n_jobs`. Passes over more than 16,384 rows use all processors that the process may
    use (`taskset` limits them); fewer rows, and the factors of the Hessian, take one.

    Examples
    --------
    >>> from weigh import EducatedNB
    >>> from weigh.datasets import titanic
    >>> model = EducatedNB().fit(titanic(), "Survived")
    >>> sheet = model.balance_sheet({"Class": "1st", "Sex": "Female", "Age": "Adult"})
    >>> round(sheet.probability, 2)
    0.96
    """

    multiclass: str = "softmax"
    cv: Any = 4
    random_state: Any = None
    verbose: Any = False

    _extras = ("scales_", "loo_loss_", "n_passes_", "pair_gains_", "loosening_", "point_")
    _later_extras = ("pair_gains_", "loosening_", "point_")
    loo_loss_: Any = field(init=False)
    n_passes_: Any = field(init=False)
    pair_gains_: Any = field(init=False)
    loosening_: Any = field(init=False)  # divisor of the scales, chosen by leave-one-out loss
    point_: Any = field(init=False)  # weight of one point, if `weigh.simplify` rounded to points

    def _fit_sample(self, sample: Sample) -> Self:
        with show_progress("fitting") if self.verbose else nullcontext():
            return super()._fit_sample(sample)

    def _learn(self, sample: Sample) -> Evidence:
        self.__dict__.pop("summary_", None)  # it summarises other rows
        self.point_ = None
        self._check(len(sample.classes))
        warn_light_rows(sample)
        tally = self._tally(sample)
        rate = self._class_rate(tally.classes)
        orders = read_orders(self.monotonic_cst, tally, sample.table.names)
        features = [counts.feature for counts in tally.tables]
        rows = engine.code_rows(sample, features)
        target = Target(tally.class_counts)
        task = Task(rows, tally.tables, target, orders, self._request(sample))
        each = len(tally.classes) > 2 and self.multiclass == "ovr"
        with engine.one_blas_thread():  # rounding would depend on the number of threads
            fits = self._fit_each(task) if each else [self._fit_jointly(task)]
            counts = tally.tables if each else fits[0].counts
            naive = weigh_tally(tally, self.smoothing)
            evidence = replace_tables(naive, counts, fits, self._fine(sample.table))
            evidence, passes = zero_not_known(evidence, rows, features)
            if evidence.link == "logistic":
                evidence, more = attenuate_incomplete(evidence, rows, features)
                passes = [passes[0] + more]
            self.n_passes_ = self.n_passes_ + (np.array(passes) if each else passes[0])
        return evidence if rate is None else evidence.with_prior(rate)

    @property
    def pairs_(self) -> list[Pair]:
        """The pairs that have their own tables, the largest gain first."""
        return found_pairs(self.evidence_, self.pair_gains_)

    def _request(self, sample: Sample) -> PairRequest:
        each = len(sample.classes) > 2 and self.multiclass == "ovr"
        request = request_pairs(self.pairs, self.unpaired, sample.table)
        return NO_PAIRS if each and isinstance(self.pairs, str) else request

    def _check(self, n_classes: int) -> None:
        check_pairs(self.pairs)
        level = is_count(self.verbose) and self.verbose >= 0  # as some libraries have it
        if not (isinstance(self.verbose, bool | np.bool_) or level):
            raise ParameterError(
                Parameter("verbose"), f" must be True or False, got {self.verbose!r}"
            )
        if self.multiclass not in ("softmax", "ovr"):
            raise ValueError(f"multiclass must be 'softmax' or 'ovr', got {self.multiclass!r}")
        check_folds(self.cv)
        if n_classes > 2:
            self._check_many()

    def _check_many(self) -> None:
        if self.multiclass == "ovr" and not isinstance(self.pairs, str) and self.pairs:
            raise ValueError("pairs are found for all classes at once; use multiclass='softmax'")
        if self.monotonic_cst is not None and any(_signs(self.monotonic_cst)):
            raise ValueError(
                "monotonic_cst needs two classes, but y has more; leave it out, or fit one class "
                "against the rest"
            )

    def merge(self, *others: EducatedNB) -> EducatedNB:
        """Merge models of different rows into a model of all rows, by their summaries.

        The weights minimise the penalised loss, with the loss of each model's rows approximated by
        the quadratic that `weigh.summarise` keeps. The result has a summary too.

        Parameters
        ----------
        *others : EducatedNB
            Models of other rows, with summaries and the same cut points: fit them with
            `bins=weigh.cut_points(model), pairs=0`. The categories of all models are kept.
        """
        from weigh.educated.updating import merge_models  # it imports this module

        return merge_models([self, *others])

    def _fit_jointly(self, task: Task) -> Fit:
        fit = fit_and_warn(task)
        self.scales_, self.loo_loss_ = fit.scales, fit.loo_bits
        self.n_passes_, self.pair_gains_ = fit.n_passes, np.array(fit.gains)
        self.loosening_ = fit.loosening
        return fit

    def _fit_each(self, task: Task) -> list[Fit]:
        assert isinstance(task.target, Target)
        fits, whole = [], task.target.class_counts
        for c, weight in enumerate(whole):
            own = tuple(counts.against_rest(c) for counts in task.counts)
            target = Target(np.array([whole.sum() - weight, weight]), of=c)
            fits.append(fit_and_warn(replace(task, counts=own, target=target)))
        self.scales_ = np.array([fit.scales for fit in fits])
        self.loo_loss_ = np.array([fit.loo_bits for fit in fits])
        self.n_passes_ = np.array([fit.n_passes for fit in fits])
        self.pair_gains_ = np.zeros(0)
        self.loosening_ = np.array([fit.loosening for fit in fits])
        return fits


def found_pairs(evidence: Evidence, gains: Any) -> list[Pair]:
    """The pairs of a fitted model, the largest gain first; `gains` are in the order of tables."""
    tables = {table.name for table in evidence}
    crosses = [table.feature for table in evidence if isinstance(table.feature, Cross)]
    own = [c for c in crosses if all(part.name in tables for part in c.parts)]
    known = np.full(len(own), np.nan) if gains is None else gains
    found = [
        Pair((cross.parts[0].name, cross.parts[1].name), float(gain))
        for cross, gain in zip(own, np.atleast_1d(known), strict=True)
    ]
    return sorted(found, key=lambda pair: -pair.gain)


def request_pairs(pairs: Any, unpaired: Any, table: Table) -> PairRequest:
    """Read the parameters `pairs` and `unpaired` for the columns of a table."""
    free = frozenset(read_columns(unpaired, table, "unpaired"))
    if isinstance(pairs, str):
        return PairRequest(None, unpaired=free)
    if is_count(pairs):
        return PairRequest(int(pairs), unpaired=free) if pairs else NO_PAIRS
    named = read_pairs(pairs, table)
    return PairRequest(len(named), named, free) if named else NO_PAIRS


def check_pairs(pairs: Any) -> None:
    """Raise an error if `pairs` has no valid value."""
    count = is_count(pairs) and pairs >= 0
    listed = isinstance(pairs, Iterable) and not isinstance(pairs, str | Mapping)
    if not (count or listed or (isinstance(pairs, str) and pairs == "auto")):
        raise ValueError(
            "pairs must be 'auto', a whole number of 0 or more, or a list of pairs of columns, "
            f"got {pairs!r}"
        )


def warn_light_rows(sample: Sample) -> None:
    """Warn if the sum of sample weights is far below the number of rows.

    The table then counts as that few rows. Rows that stay on a cluster are not checked.
    """
    weight = None if isinstance(sample.table, FarTable) else sample.weight
    if weight is None or weight.sum() >= LIGHT * len(weight):
        return
    warn_caller(
        f"sample_weight adds up to {weight.sum():.3g} for {len(weight):,} rows. The table counts "
        "as that many rows, and its weights of evidence are shrunk to almost nothing. Multiply "
        f"sample_weight by {len(weight) / weight.sum():.3g} to count each row as one on average",
        UserWarning,
    )


LIGHT = 0.1
"""With a mean weight of rows below this, sample weights were probably scaled to a sum of one."""


def fit_and_warn(task: Task, learner: str = "EducatedNB") -> Fit:
    """Fit, and warn if the weights have not converged."""
    fit = fit_task(task)
    if fit.complaint():
        warn_caller(f"{learner} has not converged: {fit.complaint()}", ConvergenceWarning)
    return fit


def _signs(given: Any) -> list[Any]:
    """The monotone constraints of columns, given by name or in order."""
    return [*given.values()] if isinstance(given, Mapping) else [*given]
