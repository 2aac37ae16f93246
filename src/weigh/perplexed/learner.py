"""PerplexedNB: naive Bayes to a power (Eqs. 19 and 20), or the arithmetic mean of Eq. 15.

The exponent is multiplied into the tables if every row has the same n. Otherwise it is stored as a
rule and computed for each row. The arithmetic mean is not a sum of tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from weigh import engine
from weigh.arrays import Floats
from weigh.base import EvidenceClassifier
from weigh.errors import warn_caller
from weigh.evidence import (
    Attenuation,
    DerivedModel,
    Evidence,
    FeatureTable,
    Form,
    SplitScorer,
    attenuate,
    contrast,
    scale_table,
    scale_variances,
    share_counts,
    squeeze,
    weigh_tally,
)
from weigh.folds import check_folds, read_splits
from weigh.frames import FarTable, Sample, Table
from weigh.parameters import is_count, is_number
from weigh.perplexed.scores import (
    CRITERIA,
    AttenuationPath,
    Scored,
    choose_k,
    score_held_out,
    score_own,
    score_rows,
)
from weigh.pickling import by_fields
from weigh.tally import Tally, smoothed_levels

CAVEAT = " and leaves out the error of the exponent"


def dampen(naive: Evidence, k: float, form: Form) -> Evidence:
    """Apply the exponent of Eq. 20 (root) or Eq. 19 (geometric)."""
    counts_answers = any(feature.skip_missing for feature in naive.features)
    if counts_answers or naive.event_model == "counts":  # n differs between rows
        rule = Attenuation(k, form, np.zeros(len(naive.prior_row)))
        return replace(naive, attenuation=rule, caveat=CAVEAT)
    exponent = fixed_exponent(naive, k, form)
    own = exponent if form == "root" else 1.0
    return replace(
        naive,
        caveat=f"{CAVEAT}, {exponent:.2f}",
        prior=squeeze(naive.prior_row * own),
        prior_variances=scale_variances(naive.prior_variances, own),
        tables=tuple(scale_table(table, np.array([exponent])) for table in naive),
    )


def fixed_exponent(evidence: Evidence, k: float, form: str) -> float:
    """Exponent of every row if n is the number of features."""
    return float(attenuate(k, form, np.array(float(len(evidence)))))


def undo(evidence: Evidence) -> Evidence:
    """Undo `dampen` exactly, to the last bit."""
    if evidence.attenuation is not None:
        return replace(evidence, attenuation=None)
    return weigh_tally(evidence.tally, evidence.tables[0].smoothing)


def naive_totals(evidence: Evidence, naive: Evidence, k: float, table: Table) -> Floats:
    """Totals of naive Bayes that give the decisions of Eq. 20, ties included.

    With exponent e and a later shift s of the prior, the totals are e T + s. They give the same
    decisions as T + s/e, which is returned.
    """
    totals, rule = naive.total(table), evidence.attenuation
    if rule is None:
        shift = evidence.prior_row - naive.prior_row * fixed_exponent(evidence, k, "root")
    else:
        shift = rule.shift
    if not shift.any():
        return totals
    return totals + shift / attenuate(k, "root", evidence.observed(table))[:, None]


@dataclass(frozen=True, eq=False, repr=False)
class Mean(DerivedModel):
    """P(C|x) is proportional to P(C) (P(x_1|C) + ... + P(x_n|C))/n        (Carlos 2015, Eq. 15).

    n is the same for all classes and cancels. Missing answers, values not seen in training and
    features with one level add nothing; a row without any other value gets the prior. `evidence`
    holds the counts behind the probabilities, and the prior.
    """

    evidence: Evidence
    backend: str | None = None
    columns: tuple[str, ...] = ()

    no_table = "the arithmetic mean (Eq. 15) has no table of weights; fit with form='root' for one"

    __reduce__ = by_fields

    @cached_property
    def _shares(self) -> list[Floats]:
        return [_share(table) for table in self.evidence]

    def total(self, table: Table) -> Floats:
        """Log odds in one column, or with more than two classes one total per class."""
        nothing = np.zeros(len(self.classes))
        if self.event_model == "counts":
            sums = engine.total_counts(table, self._shares[0][:-1], nothing)
        else:
            sums = engine.total(table, self.features, self._shares, nothing)
        answered = sums.any(axis=1, keepdims=True)
        return self.evidence.prior_row + contrast(np.log(np.where(answered, sums, 1.0)))

    def with_prior(self, rate: Floats) -> Mean:
        """Copy of the model for a population with other class frequencies."""
        return replace(self, evidence=self.evidence.with_prior(rate))

    def to_text(self, width: int = 100) -> str:
        """Describe the model in two lines."""
        n = f"{len(self.evidence)} features" if self.event_model == "levels" else "tokens"
        lines = [f"The arithmetic mean of the probabilities of {n}.", f"{self.no_table}."]
        return "\n".join(line[:width] for line in lines)


def _share(table: FeatureTable) -> Floats:
    """P(v|c) by level and class; 0 for not known, and everywhere if there is one level only."""
    seen = smoothed_levels(table)
    counted = seen[:, None] & (seen.sum() > 1)
    share = np.where(counted, share_counts(table, table.smoothing), 0.0)
    return np.vstack([share, np.zeros((1, share.shape[1]))])


FORMS = ("root", "geometric", "auto", "arithmetic")


@dataclass(kw_only=True, eq=False, repr=False)
class PerplexedNB(EvidenceClassifier):
    """Naive Bayes to a power: the Perplexed Bayes classifier.

    The model (Eq. 20) is::

        P(C|x) ~ (P(C) P(x_1|C) ... P(x_n|C))^min(1, k/(n + 1))

    Naive Bayes is overconfident where features overlap. A power below 1 corrects this and keeps its
    decisions (Carlos 2015). n is the number of features with an answer in the row, or the number of
    tokens in a document.

    Parameters
    ----------
    smoothing, bins, categorical_features, missing, special_values
        As in `EvidenceNB`.
    max_levels, class_prior, crosses, ask_if
        As in `EvidenceNB`.
    attenuation : "likelihood", "calibrated", "flat" or float, default="likelihood"
        k, a number of at least 1 (naive Bayes from n + 1), or the criterion to choose it:
        "likelihood" (log loss of hold-out rows), "calibrated" (reliability RMSE of hold-out rows)
        or "flat" (flattest histogram of the probabilities of training rows).
    form : "root", "geometric", "auto" or "arithmetic", default="root"
        "root" is Eq. 20. "geometric" keeps the prior, with the exponent min(1, k/n) (Eq. 19; k = 1
        is Eq. 8): better with unbalanced classes. "auto" is whichever of the two has the lower log
        loss of hold-out rows if these choose k ("likelihood"), otherwise "root". "arithmetic" uses
        the mean of the probabilities instead of their product (Eq. 15): it has no k and no tables.
    n_bins : int, default=10
        Bins of the histogram ("flat") or of the reliability diagram ("calibrated").
    cv : int, splitter, iterable or str, default=5
        Number of internal folds, a scikit-learn splitter or splits, or the name of a column of X
        with the fold of each row, which is then not a feature.
    event_model : "levels" or "counts", default="levels"
        "levels": each column has a level. "counts": a row is a document and each column counts a
        token.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    attenuation_ : float or None
        k; None for the arithmetic mean.
    form_ : str
        "root", "geometric" or "arithmetic": the form that the model has.
    attenuation_path_ : AttenuationPath or None
        The values of k tried and their criterion, if k was chosen. `AttenuationPathDisplay` draws
        it. Saved models do not have it.
    evidence_ : Evidence
        The prior and the tables: multiplied by the exponent if every row has the same n, otherwise
        those of naive Bayes with the rule in `evidence_.attenuation`.

    Examples
    --------
    >>> from weigh import PerplexedNB
    >>> from weigh.datasets import titanic
    >>> model = PerplexedNB(random_state=0).fit(titanic(), "Survived")
    >>> round(model.attenuation_, 1)
    3.5
    >>> sheet = model.balance_sheet({"Class": "1st", "Sex": "Female", "Age": "Adult"})
    >>> round(sheet.probability, 2)
    0.87
    """

    attenuation: Any = "likelihood"
    form: Any = "root"
    n_bins: int = 10
    cv: Any = 5
    event_model: str = "levels"
    random_state: Any = None

    _extras = ("attenuation_", "form_")
    _later_extras = ("form_",)
    _bodies = ("evidence", "mean")
    attenuation_: float | None = field(init=False)
    # absent in files of earlier releases, where it equals `form`
    form_: str | None = field(default=None, init=False)
    attenuation_path_: AttenuationPath | None = field(default=None, init=False)  # not saved

    def _learn(self, sample: Sample) -> Evidence | Mean:
        self._check()
        held_out = self.form != "arithmetic" and self.attenuation in ("likelihood", "calibrated")
        splits = None
        if held_out and not self._counts:
            splits = self._split(sample, self.cv, self.random_state)
        tally = self._tally(sample) if splits is None else splits.whole.tally
        rate = self._class_rate(tally.classes)
        naive = self._weigh(tally)
        self.attenuation_ = self.attenuation_path_ = None
        self.form_ = "root" if self.form == "auto" else str(self.form)
        if self.form_ == "arithmetic":
            learnt: Evidence | Mean = Mean(naive)
        else:
            self.attenuation_ = self._find(sample, naive, splits)
            learnt = dampen(naive, self.attenuation_, self.form_)  # type: ignore[arg-type]
        return learnt if rate is None else _no_interval(learnt.with_prior(rate))

    def _check(self) -> None:
        k = self.attenuation
        named = isinstance(k, str) and k in CRITERIA
        if not (named or (is_number(k) and 1 <= k < np.inf)):
            raise ValueError(
                "attenuation must be 'likelihood', 'calibrated', 'flat' or a number of at least 1, "
                f"got {k!r}"
            )
        if not (isinstance(self.form, str) and self.form in FORMS):
            raise ValueError(f"form must be one of {FORMS}, got {self.form!r}")
        if not (is_count(self.n_bins) and self.n_bins >= 2):
            raise ValueError(f"n_bins must be a whole number of at least 2, got {self.n_bins!r}")
        check_folds(self.cv)

    def _count(self, sample: Sample) -> Tally:
        return engine.tally_counts(sample) if self._counts else super()._count(sample)

    def _weigh(self, tally: Tally) -> Evidence:
        naive = weigh_tally(tally, self.smoothing)
        return replace(naive, event_model=self.event_model)  # type: ignore[arg-type]

    @property
    def _counts(self) -> bool:
        return self.event_model == "counts"

    def with_prior(self, rate: Any) -> Self:
        """Copy of the model for a population with other class frequencies; see `EvidenceNB`."""
        model = super().with_prior(rate)
        return model._keep(_no_interval(model._learnt))

    # ------------------------------------------------------------ the choice of k

    def _find(self, sample: Sample, naive: Evidence, splits: engine.Splits | None) -> float:
        if not isinstance(self.attenuation, str):
            return float(self.attenuation)
        rows = self._score(sample, naive, splits)
        if rows is None:
            warn_caller(_NO_HOLD_OUT, UserWarning)
            return _max_n(sample, naive) + 1
        both = self.form == "auto" and self.attenuation == "likelihood"
        paths = {
            form: choose_k(rows, form, self.attenuation, int(self.n_bins))
            for form in (("root", "geometric") if both else (str(self.form_),))
        }
        self.form_ = min(paths, key=lambda form: paths[form].criterion.min())
        self.attenuation_path_ = paths[self.form_]
        return self.attenuation_path_.chosen

    def _score(
        self, sample: Sample, naive: Evidence, splits: engine.Splits | None
    ) -> Scored | None:
        if self._counts:
            return self._score_documents(sample, naive)
        if splits is None:
            return score_rows(engine.code_rows(sample, naive.features), SplitScorer.own(naive))
        models = [self._weigh(part.tally) for part in splits.parts]
        return score_rows(splits.rows, SplitScorer.held_out(models, splits.parts, splits.roles))

    def _score_documents(self, sample: Sample, naive: Evidence) -> Scored | None:
        if self.attenuation == "flat":
            return score_own(sample, naive)
        learn: Any = lambda part: self._weigh(self._count(part))  # noqa: E731
        splits = read_splits(self.cv, sample.labels, sample.kept, self.random_state, sample.groups)
        return score_held_out(sample, naive, splits, learn)

    # ------------------------------------------------------------ decisions

    def _decide(self, table: Table, totals: Floats | None = None) -> np.ndarray[Any, Any]:
        """Decide by the totals of naive Bayes, as in Eq. 20: rounding then cannot break ties."""
        learnt, rule = self._learnt, getattr(self._learnt, "attenuation", None)
        form = rule.form if rule else self.form_ or self.form
        if form != "root" or self.attenuation_ is None:
            return super()._decide(table, totals)
        naive = undo(learnt)
        return naive.decide(naive_totals(learnt, naive, float(self.attenuation_), table))


def _max_n(sample: Sample, naive: Evidence) -> float:
    """Largest n of a row; on a cluster, the number of features."""
    if isinstance(sample.table, FarTable):
        return float(len(naive))
    return float(naive.observed(sample.table).max())


def _no_interval(learnt: Any) -> Any:
    """Drop the variances of the prior, which do not apply to other class frequencies.

    Attenuated totals keep part of the training frequencies.
    """
    return replace(learnt, prior_variances=None) if isinstance(learnt, Evidence) else learnt


_NO_HOLD_OUT = (
    "k cannot be chosen, because no fold has a hold-out row whose class is in the fold's training "
    "rows; the model is not attenuated; set attenuation to a number, or give cv other folds"
)
