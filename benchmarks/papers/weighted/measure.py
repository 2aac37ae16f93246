"""One data set, dealt into folds: the AUC, accuracy and loss of each method.

Every data set is dealt into 5 folds 6 times; intervals are found once for all methods, but where
`WeightedNB` chooses on rows held out, and finds them again in each of its own folds.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold

from benchmarks.papers.weighted.data import LOADERS, find_features
from benchmarks.papers.weighted.methods import FOLDS, METHODS, WAYS, shown
from benchmarks.papers.weighted.printed import SETS
from weigh import C44Classifier, WeightedNB, engine
from weigh.bins import Cross, Feature, Placed
from weigh.engine import CodedRows, Levels
from weigh.evidence import Evidence, SplitScorer, contrast, weigh_tally
from weigh.folds import TRAIN
from weigh.frames import read
from weigh.tally import Rows, Tally, count_placed
from weigh.weighted.auc import DistinctRows, ScoredRows, collapse

INNER = 5

# ---------------------------------------------------------------- one training part


@dataclass(frozen=True)
class Part:
    """Rows to learn from and rows to rank, all on levels that are known."""

    tally: Tally
    train: list[Placed]
    rows: Rows
    test: list[Placed]
    truth: Any
    weigh: Callable[..., Evidence]
    seed: int

    @cached_property
    def naive(self) -> Evidence:
        return self.weigh(self.tally, 1.0)

    def fit(self, model: WeightedNB) -> Any:
        """The weights that `WeightedNB` finds, from levels that need not be found again."""
        random = np.random.RandomState(self.seed)
        found = model._search(self._terms(model.choose_on, random), self.tally, random)
        return found.weights[-1]

    def _terms(self, choose_on: str, random: Any) -> DistinctRows:
        if choose_on == "training":
            return self._seen
        dealt = self._coded.deal(INNER, random)
        role, tallies = dealt.roles[dealt.rows.groups], []
        for k in range(INNER):
            train = role[:, k] == TRAIN
            rows = self.rows.take(train)
            parts = [
                count_placed(
                    table.feature, Placed(part.codes[role[:, k] == TRAIN], part.levels), rows
                )
                for table, part in zip(self.tally.tables, self.train, strict=True)
            ]
            counts = np.bincount(rows.labels, rows.weight, rows.n_classes).astype(np.float64)
            tallies.append(Tally(self.tally.classes, counts, tuple(parts)))
        models = [self.weigh(tally, 1.0) for tally in tallies]
        scorer = SplitScorer.held_out(models, [*map(Levels.own, tallies)], dealt.roles)
        return collapse(ScoredRows(dealt.rows, scorer, self.rows.n_classes))

    @cached_property
    def _coded(self) -> CodedRows:
        return CodedRows.of(self.train, self.rows.labels, self.rows.weight)

    @cached_property
    def _seen(self) -> DistinctRows:
        return collapse(ScoredRows(self._coded, SplitScorer.own(self.naive), self.rows.n_classes))

    def totals(self, weights: Any) -> Any:
        tables = [w * table.padded for w, table in zip(weights, self.naive, strict=True)]
        return engine.total_placed(self.test, tables, self.naive.prior_row, len(self.truth))


def weigh_as_printed(tally: Tally, smoothing: Any = None, class_prior: Any = None) -> Evidence:
    """P(v|c) = (n_vc + 1)/(N_c + k), with k the number of classes, for levels without rows too."""
    k, tables = len(tally.classes), []
    naive = weigh_tally(tally, 1.0)
    for table in naive:
        share = (table.counts + 1) / (table.counts.sum(axis=0) + k)
        tables.append(replace(table, by_class=contrast(np.log(share))))
    return replace(naive, tables=tuple(tables))


SMOOTHINGS = {"as printed": weigh_as_printed, "ours": weigh_tally}


@dataclass(frozen=True)
class Set:
    """A data set, dealt into folds."""

    X: Any
    y: Any
    codes: Any
    seed: int

    @cached_property
    def table(self) -> Any:
        return read(self.X)

    @cached_property
    def classes(self) -> Any:
        return np.unique(self.y)

    @cached_property
    def labels(self) -> Any:
        return np.searchsorted(self.classes, self.y)

    def folds(self) -> Iterator[tuple[Any, Any]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class with fewer rows than folds
            dealt = StratifiedKFold(FOLDS, shuffle=True, random_state=self.seed)
            yield from dealt.split(self.X, self.y)

    def features(self, rows: Any) -> list[Feature | Cross]:
        """The levels that some rows have."""
        return find_features(self.table.rows(rows), self.y[rows], self.codes)

    @cached_property
    def whole(self) -> list[Feature | Cross]:
        """The levels of all rows; the paper has no attributes of one level."""
        every = self.features(np.arange(len(self.y)))
        return [feature for feature in every if len(feature.levels) > 1]

    def part(self, features: Sequence[Any], train: Any, test: Any, smoothing: str) -> Part:
        placed = engine.place(self.table, features)
        learnt, held = ([Placed(p.codes[r], p.levels) for p in placed] for r in (train, test))
        rows = Rows(self.labels[train], None, len(self.classes))
        counts = (count_placed(f, p, rows) for f, p in zip(features, learnt, strict=True))
        sums = np.bincount(rows.labels, minlength=rows.n_classes).astype(float)
        tally = Tally(self.classes, sums, tuple(counts))
        weigh = SMOOTHINGS[smoothing]
        return Part(tally, learnt, rows, held, self.labels[test], weigh, self.seed)

    def tree(self, features: Sequence[Any], train: Any, test: Any) -> Any:
        kept = [feature for feature in features if len(feature.levels) > 1]
        cuts = {feature.name: feature.cuts for feature in kept if feature.cuts}
        codes = [feature.name for feature in kept if not feature.is_numeric]
        X = self.X[[feature.name for feature in kept]]
        model = C44Classifier(bins=cuts, categorical_features=codes)
        return model.fit(X.iloc[train], self.y[train]).predict_proba(X.iloc[test])

    def fit(self, learner: Any, train: Any, test: Any) -> Any:
        """Probabilities of the test rows, from a learner as a user has it."""
        learner.set_params(categorical_features=self.codes, random_state=self.seed)
        return learner.fit(self.X.iloc[train], self.y[train]).predict_proba(self.X.iloc[test])


# ---------------------------------------------------------------- measuring


def auc(scores: Any, truth: Any) -> float:
    """Of two classes from one column; else the mean over the pairs of classes that occur."""
    if scores.shape[1] < 3:
        return share(scores[:, -1], truth == 1)
    shares = []
    for pair in combinations(np.unique(truth), 2):
        rows = np.isin(truth, pair)
        shares += [share(scores[rows, c], truth[rows] == c) for c in pair]
    return float(np.mean(shares))


def share(scores: Any, positive: Any) -> float:
    """The share of pairs in the right order, ties half."""
    n, ranks = positive.sum(), rankdata(scores)
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(positive) - n)))


def score(scores: Any, p: Any, truth: Any) -> list[float]:
    """AUC and accuracy times 100, loss in bits."""
    true = np.clip(p[np.arange(len(truth)), truth], 1e-12, 1)
    right = (p.argmax(axis=1) == truth).mean()
    return [100 * auc(scores, truth), 100 * float(right), float(-np.log2(true).mean())]


def run_method(method: str, data: Set, part: Part, train: Any, test: Any) -> list[float]:
    """Scores, and the seconds that the fit took; of a weighted model those of its search alone."""
    start = time.process_time()
    if method == "C4.4":
        p = data.tree([table.feature for table in part.tally.tables], train, test)
        return [*score(p, p, part.truth), time.process_time() - start]
    settings = METHODS[method]
    weights = np.ones(len(part.train)) if settings is None else part.fit(WeightedNB(**settings))
    seconds = time.process_time() - start
    totals = part.totals(weights)
    p = engine.link(totals, "softmax")
    return [*score(totals if totals.shape[1] == 1 else p, p, part.truth), seconds]


def run_weighted(method: str, data: Set, part: Part, train: Any, test: Any) -> list[float]:
    """A weighted model whose intervals are found again in each of its folds."""
    start = time.process_time()
    p = data.fit(WeightedNB(**METHODS[method]), train, test)
    with np.errstate(divide="ignore"):
        scores = np.log(p[:, 1:]) - np.log(p[:, :1]) if p.shape[1] == 2 else p
    return [*score(scores, p, part.truth), time.process_time() - start]


def run(name: str, reading: str, seed: int, methods: Sequence[str], found: Any = None) -> Any:
    """Scores by way, fold and method, of one dealing; not a number where a way is not taken.

    Figures that were `found` before are kept.
    """
    data = Set(*LOADERS[reading](name), seed)
    if found is None:
        found = np.full((len(WAYS), FOLDS, len(METHODS), 4), np.nan)
    for f, (train, test) in enumerate(data.folds()):
        inside = data.features(train)
        for i, (bins, smoothing) in enumerate(WAYS):
            if i not in ways_of(name, reading):
                continue
            again = bins == "training part"
            part = data.part(inside if again else data.whole, train, test, smoothing)
            for method in set(shown(i)) & set(methods):
                j = [*METHODS].index(method)
                if np.isnan(found[i, f, j, 0]):
                    one = run_weighted if again and method.endswith("cv") else run_method
                    found[i, f, j] = one(method, data, part, train, test)
    return found


def ways_of(name: str, reading: str) -> range:
    """The ways in which a data set is tried: the other reading only as the paper did."""
    if reading == "last attribute":
        return range(1)
    return range(len(WAYS)) if name in SETS else range(len(WAYS) - 1, len(WAYS))
