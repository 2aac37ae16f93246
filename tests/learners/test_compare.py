"""A comparison: the same folds for all, paired differences, and a choice that gives its reason."""

import html
import json
import re
import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import mean_poisson_deviance, r2_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import weigh
from weigh import (
    AdjustedNB,
    BoostedNB,
    BoostedNBRegressor,
    C44Classifier,
    EducatedNB,
    EvidenceNB,
    RecalibratedClassifier,
    WeightedNB,
    compare,
    datasets,
)
from weigh.cli import main
from weigh.comparison import Difference, Differences
from weigh.comparison.result import Entry
from weigh.comparison.run import SIMPLEST_FIRST, choose, family, rank
from weigh.engine import parallel, watch
from weigh.errors import ParameterError
from weigh.evaluation.measures import Options, measure
from weigh.metrics import Scored, auc, auc_difference, loss_bits
from weigh.metrics.numbers import Bounded
from weigh.plot.axes import Drawing
from weigh.progress import show_progress

LIGHT = settings(max_examples=15, deadline=None)
PEOPLE = datasets.titanic()
TWO = {"naive": GaussianNB(), "logistic": LogisticRegression()}


def draw(seed=0, n=120, k=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.digitize(X[:, 0] + rng.normal(size=n), np.linspace(-1, 1, k + 1)[1:-1])


def strict(found, seconds=True):
    """Plain data that JSON can hold; seconds differ from run to run."""
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    for learner in data["learners"]:
        if not seconds:
            del learner["fit_seconds"], learner["predict_seconds"]
    return data


class Says(ClassifierMixin, BaseEstimator):
    """A learner that does what it is told to."""

    def __init__(self, deed="nothing", p=0.3):
        self.deed = deed
        self.p = p

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.deed == "fail":
            raise RuntimeError("these rows\nare <b>not</b> for me")
        if self.deed == "warn":
            warnings.warn("I am not sure", UserWarning, stacklevel=2)
        if self.deed == "report":
            weigh.engine.report(1, 1000)
        return self

    def predict_proba(self, X):
        p = np.nan if self.deed == "nan" else self.p
        return np.tile([1 - p, p], (len(X), 1))


# ---------------------------------------------------------------- the same folds


@pytest.mark.parametrize("learner", [LogisticRegression(), GaussianNB(), EvidenceNB()])
def test_every_row_is_predicted_by_a_model_that_has_not_seen_it(learner):
    X, y = draw()
    folds = KFold(4)
    found = compare(X, y, [learner], cv=folds)
    p = cross_val_predict(learner, X, y, cv=folds, method="predict_proba")[:, 1]
    expected = measure(Scored.read(y, p), Options())
    m = found.entries[0].measures
    assert m.loss.value == pytest.approx(expected.loss.value, rel=1e-12)
    assert m.brier.value == pytest.approx(expected.brier.value)
    assert m.line.slope == pytest.approx(expected.line.slope)


def test_a_number_of_folds_deals_every_class_and_row_once():
    X, y = draw(1)
    seen = []

    class Watches(Says):
        def fit(self, X, y):
            seen.append((len(y), y.sum()))
            return super().fit(X, y)

    compare(X, y, [Watches()], cv=5)
    assert len(seen) == 5
    assert {n for n, _ in seen} == {96}
    assert max(s for _, s in seen) - min(s for _, s in seen) <= 1


def test_a_comparison_is_the_same_for_a_random_state_and_another_for_another():
    X, y = draw(2)
    runs = [strict(compare(X, y, TWO, random_state=seed), seconds=False) for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


def test_the_company_of_others_changes_no_learner():
    X, y = draw(3)
    alone = compare(X, y, ["evidence"])["EvidenceNB"]
    among = compare(X, y, ["evidence", LogisticRegression(), C44Classifier])["EvidenceNB"]
    assert alone.measures.loss == among.measures.loss


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "dicts", "arrow"])
def test_every_kind_of_table_is_compared_alike(kind):
    table = datasets.titanic("polars" if kind == "lazy" else "pandas" if kind == "dicts" else kind
                             if kind != "arrow" else "pyarrow")  # fmt: skip
    table = table.lazy() if kind == "lazy" else table
    table = table.to_dict("records") if kind == "dicts" else table
    learners = ["evidence", "c44"]
    expected = strict(compare(PEOPLE, "Survived", learners, cv=3), seconds=False)
    assert strict(compare(table, "Survived", learners, cv=3), seconds=False) == expected
    apart = PEOPLE.drop_columns(["Survived"]), PEOPLE["Survived"]
    assert strict(compare(*apart, learners, cv=3), seconds=False) == expected


def test_texts_are_rows_too():
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    notes = ["cheap pills now", "meeting at noon", "cheap cheap pills", "the noon meeting"] * 5
    learner = make_pipeline(CountVectorizer(), MultinomialNB())
    for rows in (notes, pd.Series(notes), np.array(notes)):
        found = compare(rows, [1, 0, 1, 0] * 5, {"words": learner}, cv=2)
        assert found["words"].measures.misclassification.value == 0


def test_a_class_that_a_fold_lacks_has_no_probability_there():
    X, y = draw(4, n=30)
    y = np.where(np.arange(30) < 2, 7, y)
    found = compare(X, y, [GaussianNB()], cv=KFold(10))  # the two of class 7 share a fold
    m = found.entries[0].measures
    assert [part.label for part in m.by_class] == [0, 1, 7]
    assert m.by_class[2].found.value == 0
    assert m.loss.value > 2 / 30 * -np.log2(1e-10)  # the bound, for both


# ---------------------------------------------------------------- ranking within folds


def within(y, parts, splits):
    """The mean of what folds say, by their pairs, and the variances of that added up."""
    pairs = np.array([y[rows].sum() * (1 - y[rows]).sum() for _, rows in splits])
    share = pairs / pairs.sum()
    value = sum(s * part.value for s, part in zip(share, parts, strict=True) if s)
    variance = sum((s * part.error) ** 2 for s, part in zip(share, parts, strict=True) if s)
    return Difference(value, np.sqrt(variance), np.nan, np.nan)


@LIGHT
@given(st.integers(0, 10**6), st.sampled_from([KFold(3), KFold(10)]))
def test_the_auc_counts_pairs_of_the_same_fold(seed, folds):
    X, y = draw(seed, n=60)
    y[:6] = 0  # a fold of one class has no pairs
    found = compare(X, y, [GaussianNB()], cv=folds).entries[0].measures.auc
    p = cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba")[:, 1]
    gaps = [
        np.subtract.outer(p[rows][y[rows] == 1], p[rows][y[rows] == 0])
        for _, rows in folds.split(X)
    ]
    right = sum((gap > 0).sum() + (gap == 0).sum() / 2 for gap in gaps)
    assert found.value == pytest.approx(right / sum(gap.size for gap in gaps), abs=1e-12)
    areas = [auc(y[rows], p[rows], pos_label=1) for _, rows in folds.split(X)]
    error = within(y, areas, folds.split(X)).error
    assert found.error == pytest.approx(error, abs=1e-12, nan_ok=True)
    if 0 < found.value < 1:
        ends = logit(found.value) + np.array([-1, 1]) * 1.959964 * error / (
            found.value * (1 - found.value)
        )
        assert (found.low, found.high) == pytest.approx(tuple(expit(ends)), abs=1e-6, nan_ok=True)


class SaysTheBaseRate(Says):
    def fit(self, X, y):
        self.p = y.mean()
        return super().fit(X, y)


def test_saying_the_base_rate_of_the_training_rows_ranks_nothing_and_not_backwards():
    X, y = draw(20)
    found = compare(X, y, [SaysTheBaseRate()], cv=KFold(10)).entries[0].measures
    assert found.auc.value == 0.5
    pooled = np.concatenate([np.full(12, y[rest].mean()) for rest, _ in KFold(10).split(X)])
    assert auc(y, pooled).value < 0.4  # what ranking across folds would say


def test_without_a_fold_of_both_classes_there_is_no_auc_and_the_page_says_why():
    X, y = draw(21, n=30)
    found = compare(X, y, TWO, cv=LeaveOneOut())
    table = str(found).partition("Hold-out rows")[2].splitlines()
    for entry, data in zip(found.entries, strict(found)["learners"], strict=True):
        assert np.isnan([entry.measures.auc.value, entry.differences.auc.value]).all()
        assert data["measures"]["auc"]["value"] is None
        assert " - " in next(line for line in table if line.startswith(entry.name))
    for text in (" ".join(str(found).split()), found._repr_html_(), *found.to_dict()["notes"]):
        assert "every fold holds out rows of one class only" in text
    assert compare(X, y, TWO).notes == ()


def test_the_auc_of_each_of_many_classes_ranks_within_folds():
    X, y = draw(22, n=90, k=3)
    folds = KFold(3)
    found = compare(X, y, [GaussianNB()], cv=folds).entries[0].measures
    p = cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba")
    for k, part in enumerate(found.by_class):
        own = (y == k).astype(int)
        areas = [auc(own[rows], p[rows, k]) for _, rows in folds.split(X)]
        expected = within(own, areas, folds.split(X))
        assert part.auc.value == pytest.approx(expected.value, abs=1e-12)
        assert part.auc.error == pytest.approx(expected.error, abs=1e-12)


# ---------------------------------------------------------------- differences


@LIGHT
@given(st.integers(0, 10**6))
def test_differences_are_those_of_the_rows(seed):
    X, y = draw(seed, n=60)
    folds = KFold(3)
    found = compare(X, y, TWO, cv=folds, coverage=0.9)
    p = {
        name: cross_val_predict(learner, X, y, cv=folds, method="predict_proba")
        for name, learner in TWO.items()
    }
    best, other = (entry.name for entry in found.entries)
    gaps = {
        "loss": lambda q: -np.log2(np.clip(np.where(y, q[:, 1], q[:, 0]), 1e-10, 1 - 1e-10)),
        "misclassification": lambda q: ((q[:, 1] > 0.5) != y).astype(float),
        "brier": lambda q: (q[:, 1] - y) ** 2,
    }
    for name, rows in gaps.items():
        gap = rows(p[other]) - rows(p[best])
        apart = getattr(found[other].differences, name)
        error = gap.std(ddof=1) / np.sqrt(60)
        assert (apart.value, apart.error) == pytest.approx((gap.mean(), error), abs=1e-12)
        reach = 1.6448536 * error
        ends = gap.mean() - reach, gap.mean() + reach
        assert (apart.low, apart.high) == pytest.approx(ends, abs=1e-7)
    parts = [
        auc_difference(y[rows], p[other][rows, 1], p[best][rows, 1]) for _, rows in folds.split(X)
    ]
    area = within(y, parts, folds.split(X))
    apart = found[other].differences.auc
    assert (apart.value, apart.error) == pytest.approx((area.value, area.error), abs=1e-12)
    ends = area.value - 1.6448536 * area.error, area.value + 1.6448536 * area.error
    assert (apart.low, apart.high) == pytest.approx(ends, abs=1e-7)


def test_the_least_loss_stands_first_and_differs_from_itself_by_nothing():
    X, y = draw(5)
    found = compare(X, y, ["evidence", GaussianNB(), LogisticRegression(), DummyClassifier()])
    losses = [entry.loss for entry in found.entries]
    assert losses == sorted(losses)
    assert found.best == found.entries[0].name
    zero = found.entries[0].differences
    for name in ("loss", "misclassification", "brier", "auc"):
        assert (getattr(zero, name).value, getattr(zero, name).error) == (0, 0)
    for entry in found.entries[1:]:
        gap = entry.measures.loss.value - found.entries[0].measures.loss.value
        assert entry.differences.loss.value == pytest.approx(gap)


def test_a_row_held_out_often_is_still_one_row():
    X, y = draw(6)
    folds = [*KFold(4).split(X)]
    once, often = (compare(X, y, TWO, cv=cv) for cv in (folds, folds * 5))
    for name in TWO:
        one, other = once[name], often[name]
        for part in ("loss", "misclassification", "brier"):
            a, b = (getattr(entry.differences, part) for entry in (one, other))
            assert (a.value, a.error) == pytest.approx((b.value, b.error), abs=1e-12)
        a, b = one.measures, other.measures
        assert (a.loss.low, a.auc.low) == pytest.approx((b.loss.low, b.auc.low))
        assert a.weight == pytest.approx(b.weight)
    assert often.n_splits == 20
    assert compare(X, y, TWO, cv=RepeatedKFold(n_splits=4, n_repeats=3)).n_rows == 120


def test_rows_never_held_out_do_not_count():
    X, y = draw(7)
    splits = ShuffleSplit(2, test_size=0.2, random_state=0)
    found = compare(X, y, TWO, cv=splits)
    held_out = np.unique(np.concatenate([test for _, test in splits.split(X)]))
    assert found.n_rows == len(held_out) < 120
    shares = np.bincount(y[held_out]) / len(held_out)
    assert found.base_loss == pytest.approx(-(shares * np.log2(shares)).sum())


def test_weights_go_to_fits_and_measures_and_rows_without_any_are_not_there():
    X, y = draw(8)
    weight = np.arange(120) % 3
    kept = weight > 0
    folds = [*KFold(3).split(X)]
    places = np.cumsum(kept) - 1
    inner = [tuple(places[part[kept[part]]] for part in fold) for fold in folds]
    found = compare(X, y, TWO, cv=folds, sample_weight=weight)
    small = compare(X[kept], y[kept], TWO, cv=inner, sample_weight=weight[kept])
    assert strict(found, seconds=False) == strict(small, seconds=False)
    p = np.empty(120)
    for train, test in folds:
        fitted = GaussianNB().fit(X[train], y[train], weight[train])
        p[test] = fitted.predict_proba(X[test])[:, 1]
    expected = loss_bits(y, p, sample_weight=weight)
    assert found["naive"].measures.loss.value == pytest.approx(expected)
    frame = pd.DataFrame(X, columns=[*"abcd"]).assign(y=y, w=weight)
    named = compare(frame, "y", TWO, cv=folds, sample_weight="w")
    assert named["naive"].measures.loss == found["naive"].measures.loss


def test_more_than_two_classes_have_differences_but_of_the_auc():
    X, y = draw(9, n=200, k=3)
    found = compare(X, y, ["evidence", LogisticRegression()])
    assert found.classes == (0, 1, 2)
    apart = found.entries[1].differences
    assert apart.loss.low < apart.loss.value < apart.loss.high
    assert np.isnan(apart.auc.value)
    p = cross_val_predict(LogisticRegression(), X, y, cv=KFold(4), method="predict_proba")
    m = compare(X, y, [LogisticRegression()], cv=KFold(4)).entries[0].measures
    assert m.loss.value == pytest.approx(loss_bits(y, p))
    assert m.brier.value == pytest.approx(((p - np.eye(3)[y]) ** 2).sum(axis=1).mean())


# ---------------------------------------------------------------- failures and warnings


@pytest.mark.parametrize(
    ("learner", "told"),
    [
        (Says("fail"), "RuntimeError: these rows"),
        (Says("nan"), "gave NaN"),
        (LinearRegression(), "predict_proba"),
        (LogisticRegression(C=-1), "'C' parameter"),
    ],
)
def test_a_learner_that_fails_is_a_line_with_its_error(learner, told):
    X, y = draw(10)
    found = compare(X, y, {"bad <b>": learner, "good": GaussianNB()})
    alone = compare(X, y, {"good": GaussianNB()})
    entry = found["bad <b>"]
    assert told in entry.error
    assert (entry.measures, entry.differences, entry.loss) == (None, None, np.inf)
    assert found.entries[-1] is entry
    assert found.choice == found.best == "good"
    assert found["good"].measures.loss == alone["good"].measures.loss
    assert told.split()[0] in str(found)
    assert "bad &lt;b&gt;" in found._repr_html_()
    assert strict(found)["learners"][-1]["error"] == entry.error


def test_where_all_fail_there_is_no_choice_and_no_crash():
    X, y = draw(11)
    found = compare(X, y, [Says("fail")])
    assert (found.best, found.choice) == (None, None)
    assert "None of the learners could be fitted" in str(found)
    strict(found)
    with pytest.raises(ValueError, match="None of the learners"):
        _ = found.learner


def test_weights_that_a_learner_does_not_take_are_its_error():
    X, y = draw(12)
    found = compare(X, y, [KNeighborsClassifier(), GaussianNB()], sample_weight=np.ones(120))
    assert "sample_weight" in found["KNeighborsClassifier"].error
    assert found.choice == "GaussianNB"


def test_warnings_are_kept_with_the_learner_and_said_once():
    X, y = draw(13)
    found = compare(X, y, {"shy": Says("warn"), "calm": GaussianNB()})
    assert found["shy"].warnings == ("I am not sure",)
    assert found["calm"].warnings == ()
    assert str(found).count("shy warned: I am not sure") == 1


def test_an_interruption_is_no_failure_of_the_learner():
    class Interrupted(Says):
        def fit(self, X, y):
            raise KeyboardInterrupt

    X, y = draw(14)
    with pytest.raises(KeyboardInterrupt):
        compare(X, y, [Interrupted()])


def test_seconds_are_the_median_of_the_folds(monkeypatch):
    class Clock:
        now, fits = 0.0, iter([9.0, 2.0, 4.0])

        def perf_counter(self):
            return self.now

    class Slow(Says):
        def fit(self, X, y):
            clock.now += next(clock.fits)
            return super().fit(X, y)

        def predict_proba(self, X):
            clock.now += 0.5
            return super().predict_proba(X)

    clock = Clock()
    monkeypatch.setattr("weigh.comparison.run.time", clock)
    (entry,) = compare(*draw(15), [Slow()], cv=3).entries
    assert (entry.fit_seconds, entry.predict_seconds) == (4, 0.5)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.ones((3, 1)), [1, 1, 1], {}, r"y holds \[1\] only"),
        (np.ones((3, 1)), [1, 0], {}, "3 rows against 2"),
        (np.ones((2, 1)), [1, None], {}, "^y_true "),
        (np.ones((2, 1)), [0.5, 1.5], {}, "continuous"),
        (np.ones((4, 1)), [0, 1] * 2, {"cv": 1}, "cv must be"),
        (np.ones((4, 1)), [0, 1] * 2, {"coverage": 2}, "coverage must be"),
        (np.ones((4, 1)), [0, 1] * 2, {"sample_weight": [-1, 1, 1, 1]}, "negative"),
        (PEOPLE, "survived", {}, "'survived'.*'Survived'"),
        (np.ones((4, 1)), [0, 1] * 2, {"cv": [([0, 1], [99])]}, "cv names row 99, .* are 4"),
        (np.ones((4, 1)), [0, 1] * 2, {"cv": [([0, 1], [-1])]}, "cv names row -1"),
        (np.ones((4, 1)), [0, 1] * 2, {"cv": [([0, 1], ["a"])]}, "cv must give row numbers"),
        (np.ones((4, 1)), [0, 1] * 2, {"cv": [([True], [False])]}, "a flag for each row"),
        (np.ones((4, 1)), [0, 1] * 2, {"cv": [1, 2]}, "cv must give pairs"),
        (np.ones((4, 1)), [0, 1] * 2, {"coverage": "a"}, "coverage must be .*'a'"),
    ],
)
def test_rows_that_no_learner_could_use_are_refused_at_once(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        compare(X, y, ["evidence"], **options)


# ---------------------------------------------------------------- which learners


def test_every_classifier_of_the_family_is_compared_by_default():
    names = [name for name in weigh.__all__ if re.search("(NB|C44Classifier)$", name)]
    assert {*family()} == {*names}
    assert family() == sorted(names, key=SIMPLEST_FIRST.index)
    table = PEOPLE.take([*range(0, 2201, 11)])
    found = compare(table, "Survived", cv=2)
    assert {entry.name for entry in found.entries} == {*family()}
    assert not any(entry.error for entry in found.entries)


def test_a_recalibrated_learner_is_compared_by_its_name_and_stands_behind_the_simpler():
    table = PEOPLE.take([*range(0, 2201, 11)])
    found = compare(table, "Survived", ["evidence", "recalibrated"], cv=2)
    again = compare(table, "Survived", [RecalibratedClassifier(EvidenceNB(), random_state=0)], cv=2)
    named, given_ = found["RecalibratedClassifier"], again["RecalibratedClassifier"]
    assert named.measures.loss == given_.measures.loss
    assert named.measures.auc.value == pytest.approx(found["EvidenceNB"].measures.auc.value)
    places = [
        rank(learner)
        for learner in (
            EvidenceNB(),
            RecalibratedClassifier(EvidenceNB()),
            AdjustedNB(),
            RecalibratedClassifier(BoostedNB()),
        )
    ]
    assert places == sorted(places)
    assert places[3] == rank(BoostedNB())
    assert len({*places}) == 4


def test_learners_are_named_given_as_classes_or_as_they_are():
    X, y = draw(16)
    given_ = ["adjusted", "EvidenceNB", C44Classifier, GaussianNB()]
    found = compare(X, y, given_, cv=2, random_state=5)
    assert {e.name for e in found.entries} == {
        "AdjustedNB", "EvidenceNB", "C44Classifier", "GaussianNB",
    }  # fmt: skip
    assert found["AdjustedNB"].estimator.random_state == 5
    mine = AdjustedNB(norm=1, random_state=7)
    own = compare(X, y, {"mine": mine, "theirs": "adjusted"}, cv=2)
    assert own["mine"].estimator.get_params() == mine.get_params()
    assert compare(X, y, "evidence", cv=2).choice == "EvidenceNB"
    assert compare(X, y, mine, cv=2).choice == "AdjustedNB"


def test_what_is_given_is_not_fitted():
    X, y = draw(17)
    mine = GaussianNB()
    compare(X, y, [mine], cv=2)
    assert not hasattr(mine, "classes_")


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        (["nonsense"], "no learner is called 'nonsense'; it is one of adjusted"),
        ([EvidenceNB(), EvidenceNB(smoothing=2)], "two learners are called 'EvidenceNB'"),
        ([], "learners is empty"),
        ([3], "is not an estimator"),
    ],
)
def test_learners_that_cannot_be_are_refused(learners, message):
    with pytest.raises(ValueError, match=message):
        compare(*draw(), learners)


def test_a_regressor_that_is_given_fails_as_a_line():
    found = compare(*draw(), [BoostedNBRegressor(), GaussianNB()])
    assert found["BoostedNBRegressor"].error


# ---------------------------------------------------------------- the choice


def entry(name, estimator, loss, gap, error):
    measures = measure(Scored.read([0, 1], [0.5, 0.5]), Options())
    measures = replace(measures, loss=Bounded(loss))
    apart = Difference.of(gap, error, 0.95)
    return Entry(name, estimator, measures, Differences(apart, apart, apart, apart), 0.1, 0.1)


def chosen(*triples, base=1.0):
    made = [entry(type(e).__name__, e, loss, loss - triples[0][1], err) for e, loss, err in triples]
    return choose(made, base)


def test_the_choice_is_the_simplest_within_a_standard_error_of_the_least_loss():
    best = (AdjustedNB(), 0.70, 0.0)
    near, far = (EvidenceNB(), 0.72, 0.03), (EvidenceNB(), 0.72, 0.01)
    found = chosen(best, near)
    assert found.name == "EvidenceNB"
    assert "+0.0200 bits a row, with a standard error of 0.0300" in found.reason
    assert "AdjustedNB" in found.reason
    found = chosen(best, far)
    assert found.name == "AdjustedNB"
    assert "has the least loss, 0.7000 bits a row" in found.reason
    trees = [(kind(), 0.701, 0.5) for kind in (DecisionTreeClassifier, C44Classifier)]
    assert chosen(best, *trees).name == "AdjustedNB"


def test_noise_does_not_speak_for_a_learner_that_is_worse_than_one_left_out():
    best, left_out = (C44Classifier(), 0.5, 0.0), (WeightedNB(), 0.6, 0.05)
    assert chosen(best, left_out, (EvidenceNB(), 0.7, 0.5)).name == "C44Classifier"
    assert chosen(best, (EvidenceNB(), 0.7, 0.5)).name == "EvidenceNB"


def test_a_learner_of_no_use_is_not_chosen_beside_one_of_use():
    best = (C44Classifier(), 0.8, 0.0)
    assert chosen(best, (EvidenceNB(), 0.95, 0.5), base=0.9).name == "C44Classifier"
    for base in (0.7, 1.0):  # none is of use, or both are
        assert chosen(best, (EvidenceNB(), 0.95, 0.5), base=base).name == "EvidenceNB"


def test_learners_from_elsewhere_are_taken_where_they_are_told_apart():
    assert chosen((LogisticRegression(), 0.6, 0.0), (C44Classifier(), 0.7, 0.05)).name == (
        "LogisticRegression"
    )
    assert chosen((LogisticRegression(), 0.6, 0.0), (C44Classifier(), 0.7, 0.2)).name == (
        "C44Classifier"
    )


def test_of_equally_simple_ones_the_least_loss_is_taken():
    found = chosen((LogisticRegression(), 0.6, 0.0), (GaussianNB(), 0.61, 0.2))
    assert found.name == "LogisticRegression"


def test_a_choice_that_is_worse_than_the_base_rate_says_so():
    assert "the base rate alone has less" in chosen((EvidenceNB(), 1.2, 0.0), base=0.9).reason
    X, y = draw(19)
    found = compare(X, np.random.default_rng(0).permutation(y), {"sure": Says(p=0.999)})
    assert "none is of use" in found.reason


def test_the_order_of_simplicity_is_that_of_the_family():
    ranks = [rank(getattr(weigh, name)()) for name in family()]
    assert ranks == sorted(ranks)
    assert len({*ranks}) == len(ranks)
    assert rank(LogisticRegression()) > max(ranks)

    class EvidenceNB(GaussianNB):  # one of the same name from elsewhere
        pass

    assert rank(EvidenceNB()) == rank(GaussianNB())


def test_the_learner_of_choice_can_be_fitted():
    found = compare(PEOPLE, "Survived", ["evidence", "c44"], cv=3)
    learner = found.learner
    assert type(learner).__name__ == found.choice == "C44Classifier"
    fitted = learner.fit(PEOPLE, "Survived")
    expected = clone(found[found.choice].estimator).fit(PEOPLE, "Survived")
    np.testing.assert_array_equal(fitted.predict_proba(PEOPLE), expected.predict_proba(PEOPLE))
    with pytest.raises(KeyError, match="'x'"):
        found["x"]


# ---------------------------------------------------------------- progress and pages


def test_who_watches_sees_folds_and_nothing_of_what_learners_do():
    X, y = draw(20)
    seen = []
    with watch(lambda done, of: seen.append((done, of))):
        compare(X, y, {"a": Says("report"), "b": Says("fail"), "c": AdjustedNB()}, cv=3)
    assert {of for _, of in seen} == {9}
    done = [k for k, _ in seen]
    assert done == sorted(done)
    assert done[-1] == 9


def test_a_terminal_shows_a_bar_and_nothing_else_does(monkeypatch, capsys):
    from weigh import progress

    X, y = draw(21)
    compare(X, y, ["evidence"], cv=2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True)
    compare(X, y, ["evidence"], cv=2)
    assert "comparing" in capsys.readouterr().err


LONG = "a learner with a name that somebody wrote to tell it from all others <b>[red]日本語[/red]"


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
@pytest.mark.parametrize("k", [2, 3])
def test_the_page_fits_the_terminal(width, k):
    X, y = draw(22, k=k)
    found = compare(X, y, {LONG: "evidence", "b": GaussianNB(), "bad": Says("fail")}, cv=2)
    assert max(map(cell_len, found.to_text(width).splitlines())) <= width


def test_text_and_html_hold_the_same_and_names_are_text():
    X, y = draw(23)
    found = compare(X, y, {LONG: "evidence", "b": GaussianNB()}, cv=2)
    shown = found._repr_html_()
    assert "[red]" in found.to_text(300)
    assert html.escape(LONG) in shown
    assert LONG not in shown
    words = found.to_text(300)
    for cell in re.findall(r"<td[^>]*>(.*?)</td>", shown):
        assert html.unescape(cell) in words
    assert repr(found) == str(found) == found.to_text(100)
    assert sum(line.startswith(f"{found.choice} (chosen)") for line in words.splitlines()) == 1


@pytest.mark.parametrize("width", [60, 80, 140])
def test_no_column_vanishes_and_no_word_breaks(width):
    X, y = draw(24)
    found = compare(X, y, ["evidence", "perplexed", "c44"], cv=2, coverage=0.999)
    text = found.to_text(width)
    for section in found.view().grids:
        for name in (*section.head, *(row[0] for row in section.rows)):
            assert {*name.split()} <= {*text.split()}, name
        assert all(cell in text for row in section.rows for cell in row[1:])
    assert "paired 99.9% intervals" in " ".join(text.split())
    assert "Error" not in text


def test_rows_and_figure_hold_every_learner_with_its_difference():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    X, y = draw(25)
    found = compare(X, y, {"plain": "evidence", "tree": "c44", "broken": Says("fail")}, cv=2)
    rows = found.to_rows()
    assert [row["learner"] for row in rows] == [entry.name for entry in found.entries]
    assert [row["learner"] for row in rows if row["chosen"]] == [found.choice]
    for row, entry in zip(rows[:2], found.entries, strict=False):
        assert row["loss"] == entry.loss
        assert row["difference_loss_high"] == entry.differences.loss.high
    assert "loss" not in rows[2]
    assert found.to_frame("pandas")["loss"].isna().tolist() == [False, False, True]
    drawing = found.plot()
    (ax,) = drawing.axes_
    drawn = [float(line.get_xdata()[0]) for line in ax.lines[:2]]
    assert drawn == [entry.differences.loss.value for entry in found.entries[:2]]
    assert any("(chosen)" in text.get_text() for text in ax.get_yticklabels())
    pyplot.close("all")


def test_a_notebook_shows_a_drawing_once_in_each_cell(monkeypatch):
    """It shows open figures by itself at the end of a cell, and then closes them."""
    from matplotlib import pyplot

    shown = []
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=shown.append))
    figure, ax = pyplot.subplots()
    drawing = Drawing(figure, (ax,))
    drawing._ipython_display_()
    assert shown == []
    pyplot.close("all")
    pyplot.figure()  # of a later cell, with the same number
    drawing._ipython_display_()
    pyplot.close("all")
    assert shown == [figure]


@pytest.fixture
def told(monkeypatch):
    """What a notebook shows in its output, one text after the other."""
    told = []

    def display(text, display_id):
        told.append(text)
        return SimpleNamespace(update=told.append)

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    shown = SimpleNamespace(Pretty=str, display=display)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    return told


def test_a_notebook_sees_how_far_it_is_in_one_output(told, monkeypatch, capsys):
    X, y = draw(26)
    compare(X, y, ["evidence", "c44"], cv=2)
    assert told == [*(f"comparing: {part}%" for part in (25, 50, 75, 100)), ""]
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    compare(X, y, ["evidence"], cv=2)
    assert len(told) == 5
    assert capsys.readouterr().err == ""


def test_a_notebook_shows_no_progress_of_what_failed(told):
    with pytest.raises(ZeroDivisionError), show_progress("comparing"):
        parallel(lambda item: 1 / item, [1, 0])
    assert told == ["comparing: 50%", ""]


# ---------------------------------------------------------------- groups and processes


class Seen(ClassifierMixin, BaseEstimator):
    """Says 0.9 where it has seen the row's group in training, and 0.5 elsewhere."""

    def fit(self, X, y):
        self.classes_, self.known_ = np.unique(y), {*np.asarray(X)[:, 0]}
        return self

    def predict_proba(self, X):
        p = np.where([row[0] in self.known_ for row in np.asarray(X)], 0.9, 0.5)
        return np.column_stack([1 - p, p])


@pytest.mark.parametrize("cv", [4, GroupKFold(3), 50])
@pytest.mark.parametrize("named", [True, False])
def test_rows_of_a_group_are_held_out_together(cv, named):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"copy": rng.integers(0, 12, 90), "noise": rng.normal(size=90)})
    X["customer"], y = X["copy"], np.arange(90) % 2
    groups = "customer" if named else X["customer"].to_numpy()
    table = X if named else X[["copy", "noise"]]
    found = compare(table, y, {"seen": Seen()}, cv=cv, groups=groups)
    assert found.n_splits == (12 if cv == 50 else getattr(cv, "n_splits", cv))
    assert found["seen"].loss == pytest.approx(1.0)  # no row's group was seen
    assert compare(X[["copy"]], y, {"seen": Seen()}, cv=4)["seen"].loss > 1.1


def test_one_group_or_groups_of_another_length_are_refused():
    X, y = pd.DataFrame({"a": np.arange(20)}), np.arange(20) % 2
    with pytest.raises(ValueError, match="groups has one value"):
        compare(X, y, ["evidence"], groups=np.zeros(20))
    with pytest.raises(ValueError, match="groups has 3 values"):
        compare(X, y, ["evidence"], groups=[1, 2, 3])


def test_processes_of_their_own_give_the_same_comparison():
    people = weigh.datasets.titanic().to_pandas().iloc[::10]
    learners = ["evidence", "c44", "perplexed"]
    alone, spread = (compare(people, "Survived", learners, cv=2, n_jobs=jobs) for jobs in (None, 2))
    for entry in alone.entries:
        assert spread[entry.name].loss == entry.loss
        assert spread[entry.name].warnings == entry.warnings
    assert (spread.best, spread.choice, spread.reason) == (alone.best, alone.choice, alone.reason)


@pytest.mark.parametrize("jobs", [0, 1.5, "all"])
def test_no_number_of_processes_is_refused(jobs):
    with pytest.raises(ValueError, match="n_jobs must be"):
        compare(*draw(), ["evidence"], n_jobs=jobs)


def test_pairs_are_compared_on_the_same_folds_as_a_model_without():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.choice([*"ab"], (240, 3)), columns=["one", "other", "noise"])
    differ = (X["one"] != X["other"]).to_numpy()
    y = np.where(rng.random(240) < 0.1, ~differ, differ)
    learners = {"alone": EducatedNB(pairs=0), "pairs": EducatedNB(pairs=1)}
    found = compare(X, y, learners, cv=KFold(3))
    for name, learner in learners.items():
        p = cross_val_predict(learner, X, y, cv=KFold(3), method="predict_proba")
        assert found[name].loss == pytest.approx(loss_bits(y, p[:, 1]))
    assert found["alone"].loss > 0.9 > 0.7 > found["pairs"].loss  # 0.47 bits is the entropy
    assert found.best == found.choice == "pairs"
    assert found.learner.fit(X, y).evidence_.names == ("one", "other", "noise", "one & other")


# ---------------------------------------------------------------- numbers


def draw_numbers(n=160, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame({"x": random.uniform(0, 4, n), "kind": random.choice([*"ab"], n)})
    years = random.uniform(0.2, 3.0, n)
    return X, years, random.poisson(years * np.exp(0.5 * X["x"])).astype(float)


def test_regressors_are_compared_by_squared_errors_on_the_same_folds():
    X, _, y = draw_numbers()
    X = X[["x"]]
    learners = {"line": LinearRegression(), "table": weigh.EducatedRegressor(pairs=0)}
    splits = [*KFold(3).split(X)]
    found = compare(X, y, learners, cv=splits)
    estimates = {name: np.empty(len(y)) for name in learners}
    for train, test in splits:
        for name, learner in learners.items():
            model = clone(learner).fit(X.iloc[train], y[train])
            estimates[name][test] = model.predict(X.iloc[test])
    squares = {name: (y - own) ** 2 for name, own in estimates.items()}
    assert found.loss_name == "mean squared error"
    for name, own in estimates.items():
        assert found[name].loss == pytest.approx(squares[name].mean())
        assert found[name].measures.mae == pytest.approx(np.abs(y - own).mean())
        assert found[name].measures.r2 == pytest.approx(r2_score(y, own))
    other = next(name for name in learners if name != found.best)
    gaps = squares[other] - squares[found.best]
    assert found[other].differences.loss.value == pytest.approx(gaps.mean())
    assert found[other].differences.loss.error == pytest.approx(
        gaps.std(ddof=1) / np.sqrt(len(gaps))
    )
    assert found.base_loss == pytest.approx(y.var())


def test_a_target_with_fractions_is_for_regressors_unless_learners_are_named():
    X, _, y = draw_numbers()
    found = compare(X.assign(y=y + 0.5), "y", cv=2)
    assert {entry.name for entry in found.entries} == {"EducatedRegressor", "BoostedNBRegressor"}
    with pytest.raises(ValueError, match="continuous"):
        compare(X, y + 0.5, ["evidence"])


def test_more_than_20_whole_numbers_are_a_target_for_regressors():
    X = pd.DataFrame({"x": np.arange(84) % 5})
    named = {"EducatedRegressor", "BoostedNBRegressor"}
    for n, regressors in ((20, False), (21, True)):
        found = compare(X, np.arange(84.0) % n, cv=2)
        assert ({entry.name for entry in found.entries} == named) == regressors
    labels = np.array([f"class {k}" for k in np.arange(84) % 21])
    assert compare(X, labels, ["evidence"], cv=2).best == "EvidenceNB"


def test_survival_models_are_no_learners():
    with pytest.raises(ValueError, match="but learners must be classifiers or r"):
        compare(PEOPLE, "Survived", [weigh.EducatedSurvival()])


def test_regressors_of_one_family_are_compared_by_deviance_with_their_exposure():
    X, years, y = draw_numbers()
    rows = X.assign(years=years, claims=y, heavy=2.0)
    learners = {
        "two": weigh.EducatedRegressor(family="poisson", bins=2, pairs=0),
        "many": weigh.EducatedRegressor(family="poisson", bins=6, pairs=0),
    }
    splits = [*KFold(2).split(X)]
    found = compare(rows, "claims", learners, cv=splits, sample_weight="heavy", exposure="years")
    own = np.empty(len(y))
    for train, test in splits:
        model = clone(learners["many"])
        model.fit(X.iloc[train], y[train], np.full(len(train), 2.0), exposure=years[train])
        own[test] = model.predict(X.iloc[test], exposure=years[test])
    assert found.loss_name == "mean deviance"
    assert found["many"].loss == pytest.approx(mean_poisson_deviance(y, own))
    base = mean_poisson_deviance(y, years * y.sum() / years.sum())
    assert found.base_loss == pytest.approx(base)
    assert "deviance" in str(found)
    assert "bits" not in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    found.plot()


def test_a_regressor_without_exposure_fails_as_a_line():
    X, years, y = draw_numbers()
    learners = [LinearRegression(), weigh.EducatedRegressor(family="poisson", pairs=0)]
    found = compare(X[["x"]], y, learners, cv=2, exposure=years)
    assert "exposure" in found["LinearRegression"].error
    assert found.choice == "EducatedRegressor"


def test_classes_have_no_exposure():
    X, y = draw()
    with pytest.raises(ParameterError) as error:
        compare(X, y, [EvidenceNB()], exposure=np.ones(len(y)))
    assert error.value.parameter == "exposure"


def test_the_command_line_compares_regressors_of_a_number(tmp_path):
    X, years, y = draw_numbers()
    X.assign(years=years, claims=y * 1.5).to_csv(tmp_path / "d.csv", index=False)
    words = ["compare", str(tmp_path / "d.csv"), "--target", "claims", "--folds", "2"]
    found = CliRunner().invoke(main, [*words, "--json"])
    told = json.loads(found.stdout)
    assert {learner["name"] for learner in told["learners"]} == {
        "EducatedRegressor", "BoostedNBRegressor"
    }  # fmt: skip
    assert told["loss_name"] == "mean squared error"
    more = ("--learner", "educated-regressor", "--set", "educated-regressor.family=poisson")
    told = CliRunner().invoke(main, [*words, *more, "--exposure", "years", "--json"])
    assert json.loads(told.stdout)["loss_name"] == "mean deviance"
    assert "--exposure years" in told.stderr


def test_a_slope_that_is_not_defined_is_shown_as_a_dash():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    mean = DummyRegressor()
    found = weigh.compare(X, y, {"mean": mean}, cv=[(np.arange(40), np.arange(40, 60))])
    assert np.isnan(found["mean"].measures.slope)
    assert "nan" not in str(found)


def test_a_comparison_of_classifiers_on_numbers_names_the_regressor():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=40), "y": rng.normal(size=40)})
    with pytest.raises(ValueError, match="EducatedRegressor"):
        weigh.compare(table, "y", ["evidence"])
