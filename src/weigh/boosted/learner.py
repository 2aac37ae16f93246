"""BoostedNB: boosted naive Bayes, linearised into one table per feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from weigh import engine
from weigh.base import EvidenceClassifier
from weigh.boosted.rounds import BinaryRows, boost_all, linear, vote
from weigh.boosted.tuning import Combine, Fit, HeldOut, choose, compare, describe_rounds
from weigh.boosted.vote import Vote, add_up, make_vote
from weigh.engine import Coded, Levels, Splits
from weigh.errors import warn_caller
from weigh.evidence import PRINTED, Evidence
from weigh.folds import check_folds
from weigh.frames import Sample
from weigh.parameters import is_count

ONE_ROW = (
    "a class has only one row, so no rows can be held out: all rounds are used, without a scale; "
    "give it more rows, or set early_stopping=False and calibrate_scale=False"
)


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

    _extras = ("scale_", "agreement_", "cubic_")
    _bodies = ("evidence", "vote")
    rounds_: Any = None  # not saved
    n_passes_: int | None = None  # not saved
    scale_: Any

    _smoothings = ("1/n", *PRINTED)

    def __init__(
        self,
        *,
        smoothing: Any = 1.0,
        bins: Any = "mdl",
        categorical_features: Any = "from_dtype",
        missing: Any = "level",
        special_values: Any = None,
        max_levels: Any = None,
        class_prior: Any = None,
        crosses: Any = None,
        ask_if: Any = None,
        n_rounds: int = 10,
        combine: str = "evidence",
        early_stopping: bool = True,
        calibrate_scale: bool = True,
        cv: Any = 5,
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
        self.ask_if = ask_if
        self.n_rounds = n_rounds
        self.combine = combine
        self.early_stopping = early_stopping
        self.calibrate_scale = calibrate_scale
        self.cv = cv
        self.random_state = random_state

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
        held_out = [HeldOut(test, found[: len(tried)]) for (_, test), found in pairs]
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
        agreement = compare(parts[0], fits)
        self.agreement_, self.cubic_ = agreement.agreement, agreement.cubic


def _can_hold_out(rows: BinaryRows) -> bool:
    """Whether each class has at least two rows, so that one can be held out; warn if not."""
    enough = bool(rows.rows.sum(rows.counter).arrays[0].min() > 1)
    if not enough:
        warn_caller(ONE_ROW, UserWarning)
    return enough
