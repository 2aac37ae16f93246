"""BoostedNB: boosting that stays readable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from weigh import engine
from weigh.base import EvidenceClassifier
from weigh.boosted.choose import Choice, bits, choose, hold_out
from weigh.boosted.rounds import Round, Rows01, boost, cubic, linear, vote
from weigh.boosted.vote import Vote
from weigh.evidence import Evidence, FeatureTable, squeeze, weigh_tally
from weigh.folds import Split, deal
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
    tried_totals: Floats
    choice: Choice | None
    chosen: int

    @property
    def rounds(self) -> list[Round]:
        return self.tried[: self.chosen]

    @property
    def totals(self) -> Floats:
        return self.tried_totals[:, : self.chosen]

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
    smoothing, bins, categorical_features, missing, special_values, class_prior, crosses
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
    scale_: Any

    def __init__(
        self,
        *,
        smoothing: Any = 1.0,
        bins: Any = "mdl",
        categorical_features: Any = "from_dtype",
        missing: Any = "level",
        special_values: Any = None,
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
        placed = engine.place(sample.table, [table.feature for table in tally.tables])
        weight = np.ones(len(sample.labels)) if sample.weight is None else sample.weight
        two = len(tally.classes) == 2
        chosen = [1] if two else range(len(tally.classes))
        parts = [
            Rows01(tally, placed, (sample.labels == c).astype(np.uint8), weight, self.smoothing)
            for c in chosen
        ]
        again = self._cuts_by_class(sample, tally)
        fits = [
            self._boost(rows, partial(self._part, sample, c) if again else rows.part)
            for c, rows in zip(chosen, parts, strict=True)
        ]
        self._describe(parts, fits, two)
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

    def _part(self, sample: Sample, c: int, split: Split) -> tuple[Rows01, Rows01]:
        """Rows to learn from, and rows held out, on levels that saw the first alone."""
        parts = [sample.take(rows) for rows in split]
        tally = self._count(parts[0])
        features = [table.feature for table in tally.tables]
        train, held_out = (
            Rows01(
                tally,
                engine.place(part.table, features),
                (part.labels == c).astype(np.uint8),
                np.ones(len(part.labels)) if part.weight is None else part.weight,
                self.smoothing,
            )
            for part in parts
        )
        return train, held_out

    def _boost(self, rows: Rows01, part: Callable[[Split], tuple[Rows01, Rows01]]) -> _Fit:
        scaled = self.calibrate_scale and self.combine == "evidence"
        tried, choice = boost(rows, int(self.n_rounds)), None
        totals = np.column_stack([rows.total(part.evidence) for part in tried])
        if (scaled or self.early_stopping) and _can_hold_out(rows, len(tried)):
            splits = deal(rows.target, FOLDS, check_random_state(self.random_state))
            combine = linear if self.combine == "evidence" else vote
            choice = choose(rows, hold_out(part, splits, len(tried), combine), scaled)
            if self.early_stopping:
                return _Fit(tried, totals, choice, choice.n_rounds)
        return _Fit(tried, totals, choice, len(tried))

    def _describe(self, parts: list[Rows01], fits: list[_Fit], two: bool) -> None:
        """Keep what each round did, and how far the two combinations are apart."""
        told = [_tell(rows, fit, self.combine) for rows, fit in zip(parts, fits, strict=True)]
        scales = np.array([fit.scale for fit in fits])
        self.rounds_, self.scale_ = (told[0], float(scales[0])) if two else (told, scales)
        weight = parts[0].weight
        sums = scales * np.column_stack([linear(fit.totals, fit.alphas)[:, -1] for fit in fits])
        votes = np.column_stack([vote(fit.totals, fit.alphas)[:, -1] for fit in fits])
        left_out = scales * np.column_stack([cubic(fit.totals, fit.alphas) for fit in fits])
        same = (sums > 0) == (votes > 0) if two else (sums.argmax(1) == votes.argmax(1))[:, None]
        self.agreement_ = float(weight @ same[:, 0] / weight.sum())
        size = float(weight @ np.abs(sums).sum(axis=1))
        self.cubic_ = float(weight @ np.abs(left_out).sum(axis=1)) / size if size else 0.0


def _can_hold_out(rows: Rows01, n_rounds: int) -> bool:
    """Whether a fold can be without some rows of a class and still have one."""
    enough = bool(np.bincount(rows.target, minlength=2).min() > 1)
    if not enough:
        warn_caller(_ONE_ROW.format(n_rounds), UserWarning)
    return enough


_ONE_ROW = (
    "a class has one row, which cannot be held out: all {} rounds are used, without a scale; give "
    "it more rows, or set early_stopping=False and calibrate_scale=False"
)


def _tell(rows: Rows01, fit: _Fit, combine: str) -> Rounds:
    alphas = np.array([part.alpha for part in fit.tried])
    after = (linear if combine == "evidence" else vote)(fit.tried_totals, alphas)
    missed = rows.missed(fit.tried_totals)
    return Rounds(
        errors=np.array([part.error for part in fit.tried]),
        betas=np.array([part.beta for part in fit.tried]),
        alphas=alphas,
        losses=np.array([bits(column, rows) for column in (after * fit.scales).T]),
        held_out=np.full(len(alphas), np.nan) if fit.choice is None else fit.choice.losses,
        quality=np.asarray(rows.weight @ (1 - missed) / rows.weight.sum()),
        chosen=fit.chosen,
    )


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
