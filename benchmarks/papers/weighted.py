"""Tables 2, 3 and 4 of Zhang & Sheng (2004) again: seven ways to weigh features, and C4.4.

    WEIGH_DATA=... python -m benchmarks.papers.weighted [repetitions]

writes docs/papers/weighted.md. The paper's figures stand beside ours. Every data set is dealt into
5 folds 6 times; intervals are found once for all methods.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold

from benchmarks.papers.weighted_page import FOLDS, FURTHER, METHODS, SETS, WAYS, shown, write
from weigh import AdjustedNB, C44Classifier, EvidenceNB, WeightedNB, datasets, engine
from weigh.bins import Cross, Feature, Placed
from weigh.engine import CodedRows, Levels
from weigh.evidence import Evidence, Scorer, contrast, weigh_tally
from weigh.folds import TRAIN
from weigh.frames import label_sample, read
from weigh.parameters import read_settings
from weigh.tally import Rows, Tally, count_placed
from weigh.weighted.terms import Scored, Terms, collapse

PROCESSES = 2
INNER = 5
CODES = {  # integers that are categories
    "australian_credit": ("a1", "a4", "a5", "a6", "a8", "a9", "a11", "a12"),
    "dermatology": None,  # all but the age
    "lung_cancer": None,
}
COMPLETE = ("breast_cancer_wisconsin", "pima_diabetes", "house_votes_84")
ZERO_IS_MISSING = ["plas", "pres", "skin", "insu", "mass"]
RINGS = [6.5, 7.5, 8.5, 9.5, 10.5, 11.5]  # the paper has 7 classes and does not say which


def load(name: str) -> tuple[Any, Any, Any]:
    """The table, its labels, and which columns are categories."""
    frame = datasets.load(name).to_pandas()
    y = frame.pop("class")
    if name == "abalone":
        y = np.digitize(y.astype(float), RINGS)
    if name == "pima_diabetes":
        frame[ZERO_IS_MISSING] = frame[ZERO_IS_MISSING].replace(0, np.nan)
    if name == "compas_two_years":  # outcomes, and the scores of a rival
        frame = frame.drop(columns=[c for c in frame if "recid" in c or "score" in c])
    y = np.asarray(y).astype(str)
    kept = np.full(len(y), True)
    if name in COMPLETE:
        kept = frame.notna().all(axis=1).to_numpy()
    if name == "ecoli":
        kept = ~np.isin(y, ["imS", "imL"])  # two rows each: 332 are left, as in the paper
    codes: Any = "from_dtype"
    if name in CODES:
        codes = CODES[name] or [c for c in frame if c != "age"]
        codes = [*codes]
    return frame[kept].reset_index(drop=True), y[kept], codes


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

    def _terms(self, choose_on: str, random: Any) -> Terms:
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
        scorer = Scorer.held_out(models, [*map(Levels.own, tallies)], dealt.roles)
        return collapse(Scored(dealt.rows, scorer, self.rows.n_classes))

    @cached_property
    def _coded(self) -> CodedRows:
        return CodedRows.of(self.train, self.rows.labels, self.rows.weight)

    @cached_property
    def _seen(self) -> Terms:
        return collapse(Scored(self._coded, Scorer.own(self.naive), self.rows.n_classes))

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
        sample = label_sample(self.table.rows(rows), self.y[rows])
        settings = read_settings(EvidenceNB(categorical_features=self.codes), sample.table)
        return [table.feature for table in engine.tally(sample, settings).tables]

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

    def adjusted(self, train: Any, test: Any) -> Any:
        model = AdjustedNB(categorical_features=self.codes, random_state=self.seed)
        return model.fit(self.X.iloc[train], self.y[train]).predict_proba(self.X.iloc[test])


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
    start = time.perf_counter()
    if method in ("C4.4", "APMR"):
        features = [table.feature for table in part.tally.tables]
        p = data.tree(features, train, test) if method == "C4.4" else data.adjusted(train, test)
        return [*score(p, p, part.truth), time.perf_counter() - start]
    settings = METHODS[method]
    weights = np.ones(len(part.train)) if settings is None else part.fit(WeightedNB(**settings))
    seconds = time.perf_counter() - start
    totals = part.totals(weights)
    p = engine.link(totals, "softmax")
    return [*score(totals if totals.shape[1] == 1 else p, p, part.truth), seconds]


def run(name: str, seed: int) -> Any:
    """Scores by way, fold and method, of one dealing; not a number where a way is not taken."""
    X, y, codes = load(name)
    data = Set(X, y, codes, seed)
    found = np.full((len(WAYS), FOLDS, len(METHODS), 4), np.nan)
    for f, (train, test) in enumerate(data.folds()):
        inside = data.features(train)
        for i, (bins, smoothing) in enumerate(WAYS):
            if name not in SETS and (bins, smoothing) != WAYS[-1]:
                continue
            features = data.whole if bins == "whole set" else inside
            part = data.part(features, train, test, smoothing)
            for method in shown(i):
                j = [*METHODS].index(method)
                found[i, f, j] = run_method(method, data, part, train, test)
    return found


def other_readings() -> Iterator[tuple[str, str, Any]]:
    """Other classes that the paper may have had: the set, the reading, mean AUC of NB and C4.4."""
    X, y, _ = load("breast_cancer_wisconsin")
    for column in X:
        yield (
            "breast_cancer_wisconsin",
            column,
            quick(X.drop(columns=column).assign(y=y), X[column]),
        )
    X, rings = load("abalone")[0], datasets.load("abalone")["class"].to_numpy().astype(float)
    for cuts in ([4.5, 8.5, 12.5, 16.5, 20.5, 24.5], [8.5, 10.5], [9.5]):
        reading = f"rings cut at {', '.join(map(str, cuts))}"
        yield "abalone", reading, quick(X, np.digitize(rings, cuts))
    X, y, _ = load("australian_credit")
    yield "australian_credit", "codes as numbers", quick(X, y)
    X, y, _ = load("car_evaluation")
    yield "car_evaluation", "unacc or not", quick(X, y == "unacc")
    X, y, _ = load("ecoli")
    yield "ecoli", "cp or not", quick(X, y == "cp")
    X, y, _ = load("imports_85")
    yield "imports_85", "fuel_type", quick(X.drop(columns="fuel_type"), X["fuel_type"])
    X, y, _ = load("vehicle")
    yield "vehicle", "both cars as one", quick(X, np.where(np.isin(y, ["saab", "opel"]), "car", y))


def quick(X: Any, y: Any) -> Any:
    """Mean AUC of naive Bayes and C4.4 in one repetition, as the paper did."""
    data = Set(X, np.asarray(y).astype(str), "from_dtype", 0)
    found = []
    for train, test in data.folds():
        part = data.part(data.whole, train, test, "as printed")
        found.append([run_method(m, data, part, train, test)[0] for m in ("NB", "C4.4")])
    return np.mean(found, axis=0)


def check(name: str) -> None:
    """The shortcut gives what the library gives on the same cut points."""
    X, y, codes = load(name)
    data = Set(X, y, codes, 0)
    train, test = next(data.folds())
    part = data.part(data.features(train), train, test, "ours")
    cuts = {t.name: [*t.cuts] for f in data.features(train) for t in f.parts if t.is_numeric}
    for settings in filter(None, METHODS.values()):
        model = WeightedNB(**settings, bins=cuts, categorical_features=codes, random_state=0)
        model.fit(X.iloc[train], y[train])
        np.testing.assert_array_equal(part.fit(WeightedNB(**settings)), model.weights_)
        ours = part.totals(model.weights_).squeeze()
        np.testing.assert_allclose(ours, model.decision_function(X.iloc[test]), atol=1e-9)


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    for name in ("iris", "pima_diabetes"):
        check(name)
    results, shapes = {}, {}
    with ProcessPoolExecutor(PROCESSES) as pool:
        for name in (*SETS, *FURTHER):
            start = time.perf_counter()
            dealings = pool.map(run, [name] * repetitions, range(repetitions))
            results[name] = np.stack([*dealings], axis=1)
            X, y, codes = load(name)
            shapes[name] = len(X), len(Set(X, y, codes, 0).whole), len(np.unique(y))
            print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    write(results, shapes, [*other_readings()])


if __name__ == "__main__":
    main()
