"""BoostedNB: boosted naive Bayes, linearised into one table per feature, or AdaBoost's own vote."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from weigh import engine
from weigh.arrays import Floats
from weigh.base import EvidenceClassifier
from weigh.boosted.rounds import BinaryRows, boost_all, linear, vote
from weigh.boosted.tuning import Combine, Fit, HeldOutRounds, choose, compare, describe_rounds
from weigh.engine import Coded, Levels, Splits
from weigh.errors import warn_caller
from weigh.evidence import PRINTED, DerivedModel, Evidence, FeatureTable, squeeze, weigh_tally
from weigh.folds import check_folds
from weigh.frames import Sample, Table
from weigh.parameters import is_count
from weigh.pickling import by_fields
from weigh.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class Vote(DerivedModel):
    """AdaBoost's own vote: ln h(x)/(1 - h(x)) = sum over rounds of ln beta_t (1 - 2 P_t(x)).

    `alphas` and `priors` have one row per class (one row if there are two classes) and one column
    per round. `tables[j]` holds the weights of feature j by level, class and round. A class with
    fewer rounds has alpha 0 in the others. `evidence` is the linearised model; `shift` is added to
    the totals when the prior changes.
    """

    evidence: Evidence
    alphas: Floats
    priors: Floats
    tables: tuple[Floats, ...]
    shift: Floats
    backend: str | None = None
    columns: tuple[str, ...] = ()

    no_table = "AdaBoost's vote has no table of weights; fit with combine='evidence' for one"

    __reduce__ = by_fields

    @cached_property
    def _padded(self) -> list[Floats]:
        flat = [table.reshape(len(table), -1) for table in self.tables]
        return [np.vstack([part, np.zeros((1, part.shape[1]))]) for part in flat]

    def total(self, table: Table) -> Floats:
        """Log odds of h(x): one column, or with more than two classes one per class."""
        rounds = engine.total(table, self.features, self._padded, self.priors.ravel())
        rounds = rounds.reshape(len(rounds), *self.alphas.shape)
        votes: Floats = (2 * self.alphas * np.tanh(rounds / 2)).sum(axis=2) + self.shift
        return votes

    def with_prior(self, rate: Floats) -> Vote:
        """Copy of the model for a population with other class frequencies."""
        evidence = self.evidence.with_prior(rate)
        shift = self.shift + evidence.prior_row - self.evidence.prior_row
        return replace(self, evidence=evidence, shift=shift)

    def to_text(self, width: int = 100) -> str:
        """Number of rounds and their coefficients, as text."""
        lines = [f"A vote of {self.alphas.shape[1]} rounds of naive Bayes.", f"{self.no_table}."]
        for name, row in zip(self._names, self.alphas, strict=True):
            lines.append(f"{name}alpha {' '.join(f'{a:.3f}' for a in row if a)}")
        return "\n".join(line[:width] for line in lines)

    @property
    def _names(self) -> list[str]:
        many = len(self.alphas) > 1
        return [f"{name}: " if many else "" for name in self.classes.tolist()[-len(self.alphas) :]]


def add_up(tally: Tally, fits: list[Fit], smoothing: Any) -> Evidence:
    """Linearised model: scale * sum over rounds of alpha_t times prior and tables of round t."""
    naive = weigh_tally(tally, smoothing)
    scaled = [fit.scale * fit.alphas for fit in fits]
    prior = [
        sum(a * part.evidence.prior_row[0] for a, part in zip(alphas, fit.rounds, strict=True))
        for alphas, fit in zip(scaled, fits, strict=True)
    ]
    tables = []
    for j, table in enumerate(naive):
        weights = np.zeros((len(table.levels), len(fits)))
        for k, (alphas, fit) in enumerate(zip(scaled, fits, strict=True)):
            for alpha, part in zip(alphas, fit.rounds, strict=True):
                weights[:, k] += alpha * part.evidence.tables[j].by_class[:, 0]
        tables.append(FeatureTable(table.feature, table.counts, weights, None, table.smoothing))
    form: Any = "softmax" if len(fits) == 1 else "ovr"
    return replace(
        naive,
        prior=squeeze(np.array(prior, dtype=np.float64)),
        tables=tuple(tables),
        prior_variances=None,
        form=form,
    )


def make_vote(linear: Evidence, fits: list[Fit]) -> Vote:
    """Make AdaBoost's vote from the rounds of each class."""
    max_rounds = max(len(fit.rounds) for fit in fits)
    alphas, priors = np.zeros((len(fits), max_rounds)), np.zeros((len(fits), max_rounds))
    tables = [np.zeros((len(table.levels), len(fits), max_rounds)) for table in linear]
    for k, fit in enumerate(fits):
        for t, part in enumerate(fit.rounds):
            alphas[k, t], priors[k, t] = part.alpha, part.evidence.prior_row[0]
            for table, mine in zip(tables, part.evidence, strict=True):
                table[:, k, t] = mine.by_class[:, 0]
    return Vote(linear, alphas, priors, tuple(tables), np.zeros(len(fits)))


ONE_ROW = (
    "a class has only one row, so no rows can be held out: all rounds are used, without a scale; "
    "give it more rows, or set early_stopping=False and calibrate_scale=False"
)


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedNB(EvidenceClassifier):
    """Boosted naive Bayes, linearised into one table of weights of evidence.

    The model is::

        log odds = sum_t alpha_t w_0t + sum_j sum_t alpha_t w_jt(x_j),   alpha_t = 1/2 ln 1/beta_t

    Each round fits naive Bayes with more weight on the rows that earlier rounds predicted badly
    (Ridgeway, Madigan, Richardson & O'Kane 1998; Freund & Schapire 1997). In AdaBoost the rounds
    vote. To first order the vote is a sum of weights of evidence, which is a table.

    Parameters
    ----------
    smoothing, bins, categorical_features, missing, special_values
        As in `EvidenceNB`.
    max_levels, class_prior, crosses, ask_if
        As in `EvidenceNB`.
    n_rounds : int, default=10
        Largest number of rounds. They end early if the error reaches one half or zero.
    combine : "evidence" or "vote", default="evidence"
        The linearised sum, which has tables, or AdaBoost's own vote, which has none.
    early_stopping : bool, default=True
        Whether the number of rounds is chosen by internal cross-validation of the loss. Cut points
        are found again in each fold.
    calibrate_scale : bool, default=True
        Whether the linearised total is multiplied by one number, fitted on the same folds, because
        boosting is overconfident. A vote has no such number.
    cv : int, splitter, iterable or str, default=5
        Number of internal folds, a scikit-learn splitter or splits, or the name of a column of X
        with the fold of each row, which is then not a feature.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    rounds_ : Rounds or list of Rounds
        Error, beta, alpha, loss and quality of every round tried, and the number chosen; with more
        than two classes, one for each. `RoundsDisplay` draws it. Saved models do not have it.
    training_error_bound_ : ndarray or list of ndarray
        Upper bound of the share of training rows that AdaBoost's vote misclassifies, for each
        number of rounds tried: 2^t prod_t sqrt(eps_t (1 - eps_t)). With more than two classes, one
        for each class against the rest. Saved models do not have it.
    scale_ : float or ndarray of shape (K,)
        Factor of the linearised total.
    agreement_ : float
        Share of the training rows on which vote and table choose the same class, before
        `class_prior` is applied.
    cubic_ : float
        Mean size of the cubic term, the first that the linearisation leaves out, relative to the
        mean size of the linearised total.
    n_passes_ : int
        Passes over the rows, after the passes that find and count levels: two for each round of the
        model and of each fold (on a cluster, of all together), and a few to choose the rounds and
        the scale.
    evidence_ : Evidence
        The prior and the tables.

    Examples
    --------
    >>> from weigh import BoostedNB
    >>> from weigh.datasets import titanic
    >>> model = BoostedNB(random_state=0).fit(titanic(), "Survived")
    >>> sheet = model.balance_sheet({"Class": "1st", "Sex": "Female", "Age": "Adult"})
    >>> round(sheet.probability, 2)
    0.88
    """

    n_rounds: int = 10
    combine: str = "evidence"
    early_stopping: bool = True
    calibrate_scale: bool = True
    cv: Any = 5
    random_state: Any = None

    _extras = ("scale_", "agreement_", "cubic_")
    _bodies = ("evidence", "vote")
    rounds_: Any = field(default=None, init=False)  # not saved
    n_passes_: int | None = field(default=None, init=False)  # not saved
    scale_: Any = field(init=False)

    _smoothings = ("1/n", *PRINTED)

    def _learn(self, sample: Sample) -> Evidence | Vote:
        self._check()
        splits, levels, coded = self._code(sample)
        tally = levels.tally
        rate = self._class_rate(tally.classes)
        two = len(tally.classes) == 2
        chosen = [1] if two else range(len(tally.classes))
        parts = [BinaryRows(levels, coded, c, self.smoothing) for c in chosen]
        with engine.one_blas_thread():
            fits = [self._boost(rows, splits) for rows in parts]
            self._describe(parts, fits, two)
        self.n_passes_ = coded.n_passes
        evidence = add_up(tally, fits, self.smoothing)
        learnt = evidence if self.combine == "evidence" else make_vote(evidence, fits)
        return learnt if rate is None else learnt.with_prior(rate)

    def _code(self, sample: Sample) -> tuple[Splits | None, Levels, Coded]:
        """Folds (None if not needed), levels of all rows, and coded rows."""
        if self._is_scaled or self.early_stopping:
            splits = self._split(sample, self.cv, check_random_state(self.random_state))
            return splits, splits.whole, splits.rows
        tally = self._tally(sample)
        rows = engine.code_rows(sample, [table.feature for table in tally.tables])
        return None, Levels.own(tally), rows

    @property
    def training_error_bound_(self) -> Any:
        """Upper bound of the vote's training error, for each number of rounds."""
        check_is_fitted(self, "classes_")
        if self.rounds_ is None:
            raise AttributeError("a saved model does not keep its rounds; fit it again")
        if isinstance(self.rounds_, list):
            return [rounds.bounds for rounds in self.rounds_]
        return self.rounds_.bounds

    @property
    def _is_scaled(self) -> bool:
        return bool(self.calibrate_scale and self.combine == "evidence")

    def _check(self) -> None:
        if not (is_count(self.n_rounds) and self.n_rounds >= 1):
            raise ValueError(f"n_rounds must be a whole number above 0, got {self.n_rounds!r}")
        if self.combine not in ("evidence", "vote"):
            raise ValueError(f"combine must be 'evidence' or 'vote', got {self.combine!r}")
        for name in ("early_stopping", "calibrate_scale"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name} must be True or False, got {value!r}")
        check_folds(self.cv)

    def _boost(self, rows: BinaryRows, splits: Splits | None) -> Fit:
        max_rounds = int(self.n_rounds)
        if splits is None or not _can_hold_out(rows):
            tried = boost_all([rows], max_rounds)[0]
            return Fit(tried, None, len(tried))
        parts = [rows.part(splits, k) for k in range(len(splits.parts))]
        tried, *others = boost_all([rows, *(train for train, _ in parts)], max_rounds)
        pairs = zip(parts, others, strict=True)
        held_out = [HeldOutRounds(test, found[: len(tried)]) for (_, test), found in pairs]
        choice = choose(held_out, len(tried), self._combination, self._is_scaled)
        return Fit(tried, choice, choice.n_rounds if self.early_stopping else len(tried))

    @property
    def _combination(self) -> Combine:
        return linear if self.combine == "evidence" else vote

    def _describe(self, parts: list[BinaryRows], fits: list[Fit], two: bool) -> None:
        """Set `rounds_`, `scale_`, `agreement_` and `cubic_`."""
        pairs = zip(parts, fits, strict=True)
        rounds = [describe_rounds(rows, fit, self._combination) for rows, fit in pairs]
        scales = np.array([fit.scale for fit in fits])
        self.rounds_, self.scale_ = (rounds[0], float(scales[0])) if two else (rounds, scales)
        self.agreement_, self.cubic_ = compare(parts[0], fits)


def _can_hold_out(rows: BinaryRows) -> bool:
    """Whether each class has at least two rows, so that one can be held out; warn if not."""
    enough = bool(rows.rows.sum(rows.counter).arrays[0].min() > 1)
    if not enough:
        warn_caller(ONE_ROW, UserWarning)
    return enough
