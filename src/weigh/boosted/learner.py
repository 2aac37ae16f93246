"""BoostedNB: boosting that stays readable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from weigh import engine
from weigh.base import EvidenceClassifier
from weigh.boosted.choose import ROOM, Choice, Combine, HeldOut, choose
from weigh.boosted.rounds import (
    Ensemble,
    Round,
    Rows01,
    View,
    add_columns,
    boost,
    cubic,
    linear,
    miss,
    vote,
)
from weigh.boosted.vote import Vote
from weigh.engine import HELD_OUT, TRAIN, Block, CodedRows, Dealt, Piecewise, Sums
from weigh.evidence import Evidence, FeatureTable, squeeze, weigh_tally
from weigh.frames import Floats, Sample, warn_caller
from weigh.parameters import is_count, read_settings
from weigh.tally import Tally

FOLDS = 5


@dataclass(frozen=True)
class Rounds:
    """What each round did: its error eps, beta, alpha, and the model after it.

    `losses` are those of the training rows in bits, `held_out` those of rows held out (NaN where
    none were), each with the scale of that many rounds; `quality` is the mean probability that the
    round gives a row's own class. The model is the first `chosen` rounds.
    """

    errors: Floats
    betas: Floats
    alphas: Floats
    losses: Floats
    held_out: Floats
    quality: Floats
    chosen: int

    def __len__(self) -> int:
        return len(self.errors)


@dataclass(frozen=True)
class _Fit:
    """One class boosted against the rest: every round tried, of which the first few are kept."""

    tried: list[Round]
    choice: Choice | None
    chosen: int

    @property
    def rounds(self) -> list[Round]:
        return self.tried[: self.chosen]

    @property
    def alphas(self) -> Floats:
        return np.array([part.alpha for part in self.rounds])

    @property
    def scales(self) -> Floats:
        return np.ones(len(self.tried)) if self.choice is None else self.choice.scales

    @property
    def scale(self) -> float:
        return float(self.scales[self.chosen - 1])


class BoostedNB(EvidenceClassifier):
    """Boosted naive Bayes, linearised into one table of weights of evidence.

    log odds = sum_t alpha_t w_0t + sum_j sum_t alpha_t w_jt(x_j),   alpha_t = 1/2 ln 1/beta_t

    Each round fits naive Bayes to rows that weigh more the worse the rounds before did on them
    (Ridgeway, Madigan, Richardson & O'Kane 1998; Freund & Schapire 1997). AdaBoost lets the rounds
    vote; to first order their vote is a sum of weights of evidence, which is again a table.

    Parameters
    ----------
    smoothing, bins, categorical_features, missing, special_values, max_levels, class_prior, crosses
        As in `EvidenceNB`.
    n_rounds : int, default=10
        Rounds at the most. They end early where the error reaches one half, or nothing.
    combine : "evidence" or "vote", default="evidence"
        The linearised sum, which is a table; or AdaBoost's own vote, which is none.
    early_stopping : bool, default=True
        Choose the number of rounds on five internal folds, by loss in bits.
    calibrate_scale : bool, default=True
        Multiply the linearised total by one number, fitted on the same folds: boosting makes
        probabilities too sure. A vote has no such number.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    rounds_ : Rounds or list of Rounds
        Error, beta, alpha, loss and quality of every round tried, and how many were chosen; one
        for each of more than two classes. `RoundsDisplay` draws it; a saved model has none.
    scale_ : float or ndarray of shape (K,)
        What the linearised total was multiplied by.
    agreement_ : float
        The share of the training rows on which vote and table decide for the same class, before
        `class_prior` shifts either.
    cubic_ : float
        How far they are apart otherwise: the mean size of the cubic term, the first that the
        linearisation leaves out, relative to that of the linearised total.
    n_passes_ : int
        How often the rows were passed over, after the passes that find and count levels: two for
        each round, of the model and of each fold, and some to choose and to describe.
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
        n_rounds: int = 10,
        combine: str = "evidence",
        early_stopping: bool = True,
        calibrate_scale: bool = True,
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
        self.n_rounds = n_rounds
        self.combine = combine
        self.early_stopping = early_stopping
        self.calibrate_scale = calibrate_scale
        self.random_state = random_state

    def _learn(self, sample: Sample) -> Evidence | Vote:
        self._check()
        tally = self._tally(sample)
        rate = self._class_rate(tally.classes)
        coded = engine.code_rows(sample, [table.feature for table in tally.tables])
        two = len(tally.classes) == 2
        chosen = [1] if two else range(len(tally.classes))
        here = isinstance(coded, CodedRows)  # or on a cluster, where folds keep the cut points
        again = sample if here and self._cuts_by_class(sample, tally) else None
        parts = [Rows01(tally, coded, c, self.smoothing) for c in chosen]
        with engine.one_blas_thread():
            fits = [self._boost(rows, again) for rows in parts]
            self._describe(parts, fits, two)
        self.n_passes_ = coded.n_passes
        evidence = _add_up(tally, fits, self.smoothing)
        learnt = evidence if self.combine == "evidence" else _let_vote(evidence, fits)
        return learnt if rate is None else learnt.with_prior(rate)

    def _check(self) -> None:
        if not (is_count(self.n_rounds) and self.n_rounds >= 1):
            raise ValueError(f"n_rounds must be a whole number above 0, got {self.n_rounds!r}")
        if self.combine not in ("evidence", "vote"):
            raise ValueError(f"combine must be 'evidence' or 'vote', got {self.combine!r}")
        for name in ("early_stopping", "calibrate_scale"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name} must be True or False, got {value!r}")

    def _cuts_by_class(self, sample: Sample, tally: Tally) -> bool:
        """Whether cut points were found by the classes, and so must be again without some rows."""
        settings = read_settings(self, sample.table)
        columns = [part for table in tally.tables for part in table.feature.parts]
        return any(part.is_numeric and settings[part.name].bins == "mdl" for part in columns)

    def _boost(self, rows: Rows01, again: Sample | None) -> _Fit:
        scaled = self.calibrate_scale and self.combine == "evidence"
        tried = boost(rows, int(self.n_rounds))
        if not ((scaled or self.early_stopping) and _can_hold_out(rows, len(tried))):
            return _Fit(tried, None, len(tried))
        dealt = rows.rows.deal(FOLDS, check_random_state(self.random_state), rows.of)
        held_out = []
        for k in range(dealt.roles.shape[1]):
            train, test = (
                rows.part(dealt, k) if again is None else self._part(again, rows, dealt, k)
            )
            held_out.append(HeldOut(test, boost(train, len(tried))))
        choice = choose(held_out, len(tried), self._combination, scaled)
        return _Fit(tried, choice, choice.n_rounds if self.early_stopping else len(tried))

    @property
    def _combination(self) -> Combine:
        return linear if self.combine == "evidence" else vote

    def _part(self, sample: Sample, rows: Rows01, dealt: Dealt, k: int) -> tuple[Rows01, Rows01]:
        """Rows to learn from, and rows held out, on levels that saw the first alone."""
        assert isinstance(dealt.rows, CodedRows)
        assert dealt.rows.groups is not None
        role = dealt.roles[dealt.rows.groups, k]
        parts = [sample.take(role == wanted) for wanted in (TRAIN, HELD_OUT)]
        tally = self._count(parts[0])
        train, held_out = (
            Rows01(
                tally,
                replace(_code(part, tally), passes=dealt.rows.passes),
                rows.of,
                rows.smoothing,
            )
            for part in parts
        )
        return train, held_out

    def _describe(self, parts: list[Rows01], fits: list[_Fit], two: bool) -> None:
        """Keep what each round did, and how far the two combinations are apart."""
        told = [_tell(rows, fit, self._combination) for rows, fit in zip(parts, fits, strict=True)]
        scales = np.array([fit.scale for fit in fits])
        self.rounds_, self.scale_ = (told[0], float(scales[0])) if two else (told, scales)
        n_features = len(parts[0].tally.tables)
        ensembles = tuple(Ensemble.of(fit.rounds, n_features) for fit in fits)
        n_rounds = sum(fit.chosen for fit in fits)
        apart = Piecewise(Apart(ensembles, scales), ROOM // n_rounds + 1)
        same, size, left_out, weight = parts[0].rows.sum(apart).arrays
        self.agreement_ = float(same / weight)
        self.cubic_ = float(left_out / size) if size else 0.0


def _code(sample: Sample, tally: Tally) -> CodedRows:
    """The rows of a sample as levels."""
    placed = engine.place(sample.table, [table.feature for table in tally.tables])
    return CodedRows.of(placed, sample.labels, sample.weight, sample.kept)


def _can_hold_out(rows: Rows01, n_rounds: int) -> bool:
    """Whether a fold can be without some rows of a class and still have one."""
    enough = bool(rows.count().min() > 1)
    if not enough:
        warn_caller(_ONE_ROW.format(n_rounds), UserWarning)
    return enough


_ONE_ROW = (
    "a class has one row, which cannot be held out: all {} rounds are used, without a scale; give "
    "it more rows, or set early_stopping=False and calibrate_scale=False"
)


def _tell(rows: Rows01, fit: _Fit, combine: Combine) -> Rounds:
    ensemble = Ensemble.of(fit.tried, len(rows.tally.tables))
    losses = HeldOut(rows, fit.tried).sum(combine, fit.scales).arrays
    quality = Piecewise(Quality(rows.view, ensemble), ROOM // len(fit.tried) + 1)
    missed, weight = rows.rows.sum(quality).arrays
    return Rounds(
        errors=np.array([part.error for part in fit.tried]),
        betas=np.array([part.beta for part in fit.tried]),
        alphas=ensemble.alphas,
        losses=losses[0][0] / (losses[1] * np.log(2)),
        held_out=np.full(len(fit.tried), np.nan) if fit.choice is None else fit.choice.losses,
        quality=np.asarray(1 - missed / weight),
        chosen=fit.chosen,
    )


@dataclass(frozen=True)
class Quality:
    """The statistic of rounds on their own: what each misses, and the weight of the rows."""

    view: View
    ensemble: Ensemble

    def __call__(self, block: Block) -> Sums:
        """The sums of a block."""
        weight = self.view.weigh(block)
        missed = miss(self.ensemble.totals(block), self.view.target(block))
        return Sums((add_columns(weight, missed), np.asarray(weight.sum())))


@dataclass(frozen=True)
class Apart:
    """The statistic of two combinations: where they agree, their size, the cubic term, weight."""

    ensembles: tuple[Ensemble, ...]
    scales: Floats

    def __call__(self, block: Block) -> Sums:
        """The sums of a block."""
        weight = np.ones(len(block)) if block.weight is None else block.weight
        each = [(ensemble.totals(block), ensemble.alphas) for ensemble in self.ensembles]
        sums = self.scales * np.column_stack([linear(t, a)[:, -1] for t, a in each])
        votes = np.column_stack([vote(t, a)[:, -1] for t, a in each])
        left_out = self.scales * np.column_stack([cubic(t, a) for t, a in each])
        two = len(each) == 1
        same = (sums > 0)[:, 0] == (votes > 0)[:, 0] if two else sums.argmax(1) == votes.argmax(1)
        sizes = [np.abs(part).sum(axis=1) for part in (sums, left_out)]
        numbers = [weight @ part for part in (same.astype(np.float64), *sizes)]
        return Sums((*map(np.asarray, numbers), np.asarray(weight.sum())))


def _add_up(tally: Tally, fits: list[_Fit], smoothing: Any) -> Evidence:
    """The linearised model: sums over rounds of alpha times prior and tables, times the scale."""
    naive = weigh_tally(tally, smoothing)
    loud = [fit.scale * fit.alphas for fit in fits]
    prior = [
        sum(a * part.evidence.prior_row[0] for a, part in zip(alphas, fit.rounds, strict=True))
        for alphas, fit in zip(loud, fits, strict=True)
    ]
    tables = []
    for j, table in enumerate(naive):
        weights = np.zeros((len(table.levels), len(fits)))
        for k, (alphas, fit) in enumerate(zip(loud, fits, strict=True)):
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


def _let_vote(linear: Evidence, fits: list[_Fit]) -> Vote:
    """The rounds themselves, side by side."""
    most = max(len(fit.rounds) for fit in fits)
    alphas, priors = np.zeros((len(fits), most)), np.zeros((len(fits), most))
    tables = [np.zeros((len(table.levels), len(fits), most)) for table in linear]
    for k, fit in enumerate(fits):
        for t, part in enumerate(fit.rounds):
            alphas[k, t], priors[k, t] = part.alpha, part.evidence.prior_row[0]
            for table, mine in zip(tables, part.evidence, strict=True):
                table[:, k, t] = mine.by_class[:, 0]
    return Vote(linear, alphas, priors, tuple(tables), np.zeros(len(fits)))
