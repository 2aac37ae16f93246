"""WeightedNB: naive Bayes with a weight per feature, chosen to maximise the AUC."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from weigh import engine
from weigh.arrays import Floats
from weigh.base import EvidenceClassifier
from weigh.bins import label
from weigh.errors import Parameter, ParameterError, warn_caller
from weigh.evidence import PRINTED, Evidence, SplitScorer, scale_table, weigh_tally
from weigh.folds import check_folds
from weigh.frames import Sample
from weigh.parameters import is_number
from weigh.tally import Tally
from weigh.weighted import histograms
from weigh.weighted.auc import DistinctRows, ScoredRows, collapse, gain_weights
from weigh.weighted.search import (
    RATES,
    SIGNS,
    SIZES,
    SearchPath,
    WalkSettings,
    evaluate_start,
    search,
)

METHODS = (
    "gain_ratio",
    "hill_climbing",
    "hill_climbing_both_ways",
    "monte_carlo",
    "mcmc",
    "gain_ratio+hill_climbing",
    "gain_ratio+mcmc",
)

CAVEAT = " and leaves out the error of the features' weights, which were chosen to rank"


@dataclass(kw_only=True, eq=False, repr=False)
class WeightedNB(EvidenceClassifier):
    """Naive Bayes with a weight per feature, chosen to maximise the AUC.

    The model (Eq. 2) and its form for two classes are::

        P(C|x) ~ P(C) P(x_1|C)^w_1 ... P(x_d|C)^w_d
        log odds = q_0 + sum_j w_j ln P(x_j|1)/P(x_j|0)

    The weights w_j raise the AUC, the share of pairs of rows of two classes that are ranked
    correctly; ties count half. With more classes it is the mean over pairs of classes (Zhang &
    Sheng 2004; Hand & Till 2001). Probabilities are not calibrated.

    Parameters
    ----------
    smoothing, bins, categorical_features, missing, special_values
        As in `EvidenceNB`.
    max_levels, class_prior, crosses, ask_if
        As in `EvidenceNB`.
    method : str, default="hill_climbing_both_ways"
        "gain_ratio" sets weights by gain ratio (Eq. 3). "hill_climbing" starts from 1 and raises
        each weight in turn (Eqs. 4 and 5); "hill_climbing_both_ways", which is not in the paper,
        also lowers weights. "monte_carlo" changes all weights at once, each up, down or not, in a
        random direction; "mcmc" keeps the direction while the AUC rises.
        "gain_ratio+hill_climbing", the paper's choice, and "gain_ratio+mcmc" start from the weights
        by gain ratio.
    step : "auto" or float, default="auto"
        Learning rate of Eq. 5, or step of a random walk. "auto" tries 1, 2, 4, 8 and 16, or 0.05,
        0.1, 0.2, 0.4 and 0.8, and keeps the best.
    tol : float, default=1e-4
        Smallest increase of the AUC for which a step is accepted. A random walk ends after 25
        rejected moves in a row.
    choose_on : "cv" or "training", default="cv"
        Rows for the AUC: "cv" ranks each row by tables of the other folds, with cut points found
        again; "training" ranks the training rows by their own tables, as in the paper.
    cv : int, splitter, iterable or str, default=5
        Number of internal folds, a scikit-learn splitter or splits, or the name of a column of X
        with the fold of each row, which is then not a feature.
    random_state : int, RandomState or None
        Seed of the random directions and of the folds.

    Attributes
    ----------
    weights_ : ndarray of shape (d,)
        One weight per feature.
    auc_ : float
        The AUC of the search at these weights, with the class frequencies of training.
    history_ : SearchPath
        The accepted steps of the search.
    n_passes_ : int or None
        Passes over the rows, after those that find and count levels. None unless rows were ranked
        by histograms.
    evidence_ : Evidence
        The prior and the tables, each multiplied by the weight of its feature.

    Notes
    -----
    More than ten million rows, or one million in files or on a Spark cluster, are ranked by
    histograms of their log odds. Rows closer than 0.002 nats, or 0.2% of the log odds, then count
    as ties, and the AUC is off by at most half the share of such pairs. All step sizes search in
    the same passes, with many moves per pass. Up to a million rows on a cluster are ranked exactly
    on the driver.

    Examples
    --------
    >>> from weigh import WeightedNB
    >>> from weigh.datasets import titanic
    >>> model = WeightedNB(method="gain_ratio").fit(titanic(), "Survived")
    >>> model.weights_.round(2)
    array([0.39, 2.33, 0.28])
    """

    method: str = "hill_climbing_both_ways"
    step: Any = "auto"
    tol: float = 1e-4
    choose_on: str = "cv"
    cv: Any = 5
    random_state: Any = None

    _extras = ("weights_", "auc_")
    history_: Any = field(default=None, init=False)  # not saved
    n_passes_: int | None = field(default=None, init=False)  # not saved

    _smoothings = ("1/n", *PRINTED)

    def _learn(self, sample: Sample) -> Evidence:
        self._check()
        random = check_random_state(self.random_state)
        tally, scored = self._score(sample, random)
        rate = self._class_rate(tally.classes)
        naive = weigh_tally(tally, self.smoothing)
        far = scored.rows.far
        limit = histograms.MAX_EXACT_ROWS_IN_FILES if far else histograms.MAX_EXACT_ROWS
        exact = scored.rows.n_rows <= limit
        path = self._search(collapse(scored) if exact else scored, tally, random)
        self.n_passes_ = None if exact else scored.rows.n_passes
        if path.interrupted:
            warn_caller(_INTERRUPTED.format(path.auc[0], path.auc[-1]), UserWarning)
        pairs = zip(naive, path.weights[-1], strict=True)
        tables = tuple(scale_table(table, np.array([weight])) for table, weight in pairs)
        evidence = replace(naive, tables=tables, caveat=CAVEAT)
        self.weights_, self.auc_, self.history_ = path.weights[-1], float(path.auc[-1]), path
        return evidence if rate is None else evidence.with_prior(rate)

    def _check(self) -> None:
        for name, choices in (("method", METHODS), ("choose_on", ("training", "cv"))):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {choices}, got {getattr(self, name)!r}")
        if not (self._finds_step or (is_number(self.step) and 0 < self.step < np.inf)):
            raise ValueError(f"step must be 'auto' or a number above 0, got {self.step!r}")
        if not (is_number(self.tol) and 0 <= self.tol < np.inf):
            raise ValueError(f"tol must be a number of at least 0, got {self.tol!r}")
        check_folds(self.cv)

    @property
    def _finds_step(self) -> bool:
        return isinstance(self.step, str) and self.step == "auto"

    def _score(self, sample: Sample, random: np.random.RandomState) -> tuple[Tally, ScoredRows]:
        """Counts of all rows, and the rows with the tables that rank them during the search."""
        if self.choose_on == "training":
            tally = self._tally(sample)
            naive = weigh_tally(tally, self.smoothing)
            rows = engine.code_rows(sample, naive.features)
            return tally, ScoredRows(rows, SplitScorer.own(naive), len(tally.classes))
        splits = self._split(sample, self.cv, random)
        for name in sample.classes[splits.held_out.sum(axis=0) == 0].tolist():
            why = f" holds out no row of {label(name)}, so there is no AUC; give splits that do"
            raise ParameterError(Parameter("cv"), why)
        models = [weigh_tally(part.tally, self.smoothing) for part in splits.parts]
        scorer = SplitScorer.held_out(models, splits.parts, splits.roles)
        return splits.whole.tally, ScoredRows(splits.rows, scorer, len(sample.classes))

    def _search(
        self, rows: DistinctRows | ScoredRows, tally: Tally, random: np.random.RandomState
    ) -> SearchPath:
        start, features = self._start(tally), tuple(table.feature.name for table in tally.tables)
        method = self.method.removeprefix("gain_ratio").removeprefix("+")
        if not method:
            return evaluate_start(rows, start, features)
        auto = RATES if method in SIGNS else SIZES
        steps = auto if self._finds_step else (float(self.step),)
        informative = tuple(j for j, table in enumerate(rows.tables) if table.any())
        seed = random.randint(np.iinfo(np.int32).max)
        settings = WalkSettings(start, method, float(self.tol), seed, informative)
        return search(rows, settings, steps, features)

    def _start(self, tally: Tally) -> Floats:
        by_gain = self.method.startswith("gain_ratio")
        return gain_weights(tally) if by_gain else np.ones(len(tally.tables))


_INTERRUPTED = (
    "the search was interrupted: the weights are the best found so far, which raised the AUC from "
    "{:.4f} to {:.4f}"
)
