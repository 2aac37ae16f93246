"""WeightedNB: the paper's methods word for word, the AUC at every step, hard data, interruption."""

import itertools
import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pyarrow import csv
from scipy.special import softmax
from sklearn.metrics import roc_auc_score
from tests.pairs import every_pair

import weigh
from weigh import EvidenceNB, WeightedNB, datasets, engine
from weigh.cli import main
from weigh.engine import CodedRows
from weigh.evidence import SplitScorer
from weigh.folds import deal
from weigh.frames import read_csv
from weigh.weighted.auc import ScoredRows, collapse, gain_ratios, rank
from weigh.weighted.learner import METHODS
from weigh.weighted.search import PATIENCE, RATES, SIZES, AcceptedStep, WalkSettings, _rescore_ends

LIGHT = settings(max_examples=25, deadline=None)
CodedNB = partial(WeightedNB, categorical_features="all", choose_on="training")
SEARCHES = [method for method in METHODS if method != "gain_ratio"]
SEEDS = st.integers(0, 2**32 - 1)


# ---------------------------------------------------------------- data and scores


def draw_codes(seed, n_classes=2, n_rows=90, n_features=4, n_levels=3, strength=0.7):
    """Codes whose levels lean towards classes, some strongly, some hardly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_levels, (n_rows, n_features))
    effects = rng.normal(size=(n_features, n_levels, n_classes)) * strength
    logits = sum(effects[j][X[:, j]] for j in range(n_features))
    y = (logits + rng.gumbel(size=(n_rows, n_classes))).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def draw_bank(seed, n_rows=80, n_classes=2):
    """Rows that a bank would send: gaps, copies, one level, nothing at all, one row of a level."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n_rows) + y,
            "job": rng.choice([*"abcd"], n_rows),
            "same": "x",
            "empty": pd.Series([None] * n_rows, dtype=object),
            "rare": ["one"] + ["other"] * (n_rows - 1),
            "half": np.where(y == 1, rng.choice(["u", "v"], n_rows), "u"),
        }
    )
    frame["copy"] = frame["job"]
    for name in ("age", "job", "half", "copy"):
        frame.loc[rng.random(n_rows) < 0.1, name] = None
    return frame, y


def make_terms(X, y, weight=None, **parameters):
    """What a fit would rank, and the tables that it ranks by."""
    model = EvidenceNB(**{"categorical_features": "all"} | parameters).fit(X, y, weight)
    placed = engine.place(model._read(X), [table.feature for table in model.evidence_])
    rows = CodedRows.of(placed, np.asarray(y), weight)
    return collapse(ScoredRows(rows, SplitScorer.own(model.evidence_), len(model.classes_)))


def literal_parts(X, y):
    """The prior, and what each row's level in each feature adds to its total, class by class."""
    evidence = EvidenceNB(categorical_features="all").fit(X, y).evidence_
    columns = []
    for j, table in enumerate(evidence):
        q = dict(zip(table.levels, table.by_class.tolist(), strict=True))
        columns.append([q[code] for code in X[:, j].tolist()])
    return evidence.prior_row, np.array(columns)  # feature, row, class


def literal_auc(totals, y):
    """The objective, pair by pair of rows: a search asks for it hundreds of times."""
    if totals.shape[1] == 1:
        return share_above(totals[y == 1, 0], totals[y == 0, 0])
    p = softmax(totals, axis=1)
    pairs = itertools.permutations(range(p.shape[1]), 2)
    return np.mean([share_above(p[y == a, a], p[y == b, a]) for a, b in pairs])


def share_above(own, other):
    """The share of pairs in which the one's own score is higher; ties count half."""
    higher, tied = own[:, None] > other, own[:, None] == other
    return (higher.sum() + 0.5 * tied.sum()) / higher.size


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_objective_is_scikit_learns(n_classes):
    for seed in range(20):
        X, y = draw_codes(seed, n_classes)
        prior, Q = literal_parts(X, y)
        totals = add_parts(prior, Q, np.ones(len(Q)))
        score = totals[:, 0] if n_classes == 2 else softmax(totals, axis=1)
        expected = roc_auc_score(y, score, multi_class="ovo", average="macro")
        assert literal_auc(totals, y) == pytest.approx(expected, abs=1e-12)


def add_parts(prior, Q, weights):
    totals = np.tile(prior, (Q.shape[1], 1))
    for w, q in zip(weights, Q, strict=True):
        totals = totals + w * q
    return totals


def assume_clear(totals, Q, weights):
    """Skip rows that differ and almost tie: there rounding decides what stands above what."""
    parts = weights[:, None, None] * Q + 0.0
    _, first = np.unique(np.hstack([*parts]), axis=0, return_index=True)
    score = softmax(totals, axis=1) if totals.shape[1] > 1 else totals
    for column in np.sort(score[first], axis=0).T:
        assume((np.diff(column) > 1e-12 * np.abs(column[1:])).all())


# ---------------------------------------------------------------- gain ratio


def literal_entropy(counts):
    total = sum(counts)
    return -sum(n / total * math.log2(n / total) for n in counts if n)


def literal_gain_ratio(column, y, weight, skip):
    """Quinlan's definition, row by row; a missing value is None."""
    rows = [row for row in zip(column, y, weight, strict=True) if not (skip and row[0] is None)]
    groups, classes = {}, {}
    for value, label, w in rows:
        groups.setdefault(value, {}).setdefault(label, 0)
        groups[value][label] += w
        classes[label] = classes.get(label, 0) + w
    if len(groups) < 2:
        return 0.0
    known, total = sum(classes.values()), sum(weight)
    sizes = [sum(group.values()) for group in groups.values()]
    inside = sum(
        n / known * literal_entropy(group.values())
        for n, group in zip(sizes, groups.values(), strict=True)
    )
    gain = known / total * (literal_entropy(classes.values()) - inside)
    return gain / literal_entropy([*sizes, total - known])


@pytest.mark.parametrize("missing", ["level", "skip"])
@pytest.mark.parametrize("n_classes", [2, 4])
@LIGHT
@given(seed=SEEDS, gaps=st.sampled_from([0.0, 0.3]), weighted=st.booleans())
def test_gain_ratio_weights_are_the_papers_and_sum_to_the_number_of_features(
    missing, n_classes, seed, gaps, weighted
):
    X, y = draw_codes(seed, n_classes)
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(X.astype(str), columns=[*"abcd"]).mask(rng.random(X.shape) < gaps, None)
    table["same"] = "x"
    weight = rng.integers(1, 4, len(y)) if weighted else np.ones(len(y), dtype=int)
    model = WeightedNB(method="gain_ratio", missing=missing).fit(table, y, weight)
    ratios = []
    for name in table:
        column = [None if pd.isna(value) else value for value in table[name]]
        ratios.append(literal_gain_ratio(column, y, weight.tolist(), missing == "skip"))
    expected = np.array(ratios) * len(ratios) / sum(ratios)
    np.testing.assert_allclose(model.weights_, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gain_ratios(model.evidence_.tally), ratios, rtol=1e-12, atol=1e-12)
    assert model.weights_.sum() == pytest.approx(5, rel=1e-14)
    assert model.weights_[-1] == 0
    assert model.auc_ == pytest.approx(model.history_.auc[0])
    assert len(model.history_.auc) == 1


def test_where_no_feature_tells_anything_all_weights_are_one():
    X = np.array([[0, 5], [1, 5], [0, 5], [1, 5]])
    for method in METHODS:
        model = CodedNB(method=method, random_state=0).fit(X, [0, 0, 1, 1])
        assert model.weights_.tolist() == [1, 1]
        assert model.auc_ == 0.5


# ---------------------------------------------------------------- the paper's searches


def literal_pull(auc):
    o = 1 / (1 + math.exp(-auc))
    return o * (1 - o) ** 2


def literal_hill_climbing(prior, Q, y, weights, rate, tol, both_ways):
    """Section 2.2: each weight in turn, until the increase of AUC is less than tol."""
    weights = weights.copy()
    totals = add_parts(prior, Q, weights)
    assume_clear(totals, Q, weights)
    auc = literal_auc(totals, y)
    for j in range(len(weights)):
        start = weights[j]
        for sign in (1, -1) if both_ways else (1,):
            while weights[j] == start or sign * (weights[j] - start) > 0:
                change = sign * rate * literal_pull(auc)  # Eq. 5
                change = max(change, -weights[j])
                moved = totals + change * Q[j]
                assume_clear(moved, Q, weights + change * (np.arange(len(weights)) == j))
                new = literal_auc(moved, y)
                if new - auc < tol:
                    break
                weights[j] += change  # Eq. 4
                totals, auc = moved, new
    return weights, auc


def literal_walk(prior, Q, y, weights, size, tol, random, keep_direction):
    """Section 2.3: all weights at once; a move that fails is undone, and many in a row end it."""
    totals = add_parts(prior, Q, weights)
    assume_clear(totals, Q, weights)
    auc, failures, direction = literal_auc(totals, y), 0, None
    while failures < PATIENCE and 1 - auc >= tol:
        if direction is None or not keep_direction:
            direction = random.randint(-1, 2, len(weights))
        moved = np.maximum(weights + size * direction, 0)
        totals = add_parts(prior, Q, moved)
        assume_clear(totals, Q, moved)
        new = literal_auc(totals, y)
        if new - auc >= tol:
            weights, auc, failures = moved, new, 0
        else:
            direction, failures = None, failures + 1
    return weights, auc


def literal_search(method, X, y, step, tol, seed):
    prior, Q = literal_parts(X, y)
    start = np.ones(X.shape[1])
    if method.startswith("gain_ratio"):
        ratios = [literal_gain_ratio(x, y.tolist(), [1] * len(y), False) for x in X.T.tolist()]
        start = np.array(ratios) * len(ratios) / sum(ratios)
    if "hill_climbing" in method:
        both_ways = method == "hill_climbing_both_ways"
        return literal_hill_climbing(prior, Q, y, start, step, tol, both_ways)
    drawn = np.random.RandomState(seed).randint(np.iinfo(np.int32).max)
    random = np.random.RandomState(drawn)
    return literal_walk(prior, Q, y, start, step, tol, random, method.endswith("mcmc"))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", SEARCHES)
@settings(max_examples=8, deadline=None)
@given(seed=SEEDS, step=st.sampled_from([0.3, 1.0, 5.0]), tol=st.sampled_from([1.03e-4, 3.07e-3]))
def test_the_fast_search_is_the_papers_search(method, n_classes, seed, step, tol):
    X, y = draw_codes(seed, n_classes, n_rows=60, n_features=3)
    weights, auc = literal_search(method, X, y, step, tol, seed=7)
    model = CodedNB(method=method, step=step, tol=tol, random_state=7).fit(X, y)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-9)
    assert model.auc_ == pytest.approx(auc, abs=1e-12)


@every_pair(method=METHODS, choose_on=["training", "cv"], n_classes=[2, 3])
@settings(max_examples=6, deadline=None)
@example(seed=292027, tol=0)  # rounding broke a tie in the last step of the longest walk
@given(seed=SEEDS, tol=st.sampled_from([0, 1e-4, 0.01]))
def test_no_search_ends_below_its_start_and_every_step_kept_rises(
    method, choose_on, n_classes, seed, tol
):
    X, y = draw_codes(seed, n_classes)
    model = CodedNB(method=method, choose_on=choose_on, tol=tol, random_state=0).fit(X, y)
    path = model.history_
    assert (np.diff(path.auc) > 0).all()
    assert (np.diff(path.auc) >= tol).all()
    assert model.auc_ == path.auc[-1] >= path.auc[0]
    np.testing.assert_array_equal(model.weights_, path.weights[-1])
    assert np.isfinite(path.weights).all()
    assert (path.weights >= 0).all()
    if choose_on == "training":
        totals = model.decision_function(X).reshape(len(y), -1)
        assert model.auc_ == pytest.approx(literal_auc(totals, y), abs=2 / len(y))


def end_of(running, exact, tol=0.0):
    """AUCs that a walk with running AUCs keeps, once its end is scored exactly."""
    steps = [AcceptedStep(np.array([float(i)]), auc) for i, auc in enumerate(running)]
    accepts = WalkSettings(steps[0].weights, "hill_climbing", tol, 0, (0,)).accepts
    score = lambda weights: [exact[int(each[0])] for each in weights]  # noqa: E731
    (kept,) = _rescore_ends(score, accepts, [steps])
    return [step.auc for step in kept]


def test_the_end_of_a_search_is_compared_with_its_predecessor_both_exact():
    assert end_of([0.70, 0.7500, 0.7503], [0.70, 0.7492, 0.7495]) == [0.70, 0.7492, 0.7495]
    assert end_of([0.70, 0.7500, 0.7503], [0.70, 0.7492, 0.7492]) == [0.70, 0.7492]
    assert end_of([0.70, 0.71, 0.72], [0.70, 0.71, 0.705], tol=0.02) == [0.70]
    assert end_of([0.70], [0.70]) == [0.70]


def test_a_search_that_rounding_alone_raised_ends_at_its_start():
    running = np.linspace(0.5, 0.9, 2000)
    assert end_of(running, np.full(2000, 0.5)) == [0.5]


@LIGHT
@given(st.lists(st.tuples(*2 * [st.sampled_from([0.5, 0.6, 0.7])]), min_size=1, max_size=8))
def test_every_step_that_a_rescored_search_keeps_rises(drawn):
    noise, exact = np.array(drawn).T
    running = 0.4 + 0.01 * np.arange(len(noise)) + 0.001 * noise
    running[0] = exact[0]  # a start is scored exactly
    for step in range(1, len(running)):
        running[step] = max(running[step], np.nextafter(running[step - 1], 1))
    kept = end_of(running, exact)
    assert (np.diff(kept) > 0).all()
    assert kept[-1] == exact[len(kept) - 1]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_the_auc_is_that_of_the_fitted_models_own_scores(seed, n_classes):
    X, y = draw_codes(seed, n_classes, n_rows=200)
    model = CodedNB().fit(X, y)
    scores = model.decision_function(X) if n_classes == 2 else model.predict_proba(X)
    assert model.auc_ == pytest.approx(roc_auc_score(y, scores, multi_class="ovo"), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_only_both_ways_lowers_a_weight_and_none_below_nothing(seed):
    X, y = draw_codes(seed, n_rows=300, n_features=6)
    X = np.column_stack([X, X[:, :3], X[:, :3]])  # what is said three times weighs too much
    up, both = (
        CodedNB(method=method, step=16.0, tol=1e-6).fit(X, y)
        for method in ("hill_climbing", "hill_climbing_both_ways")
    )
    assert (up.weights_ >= 1).all()
    assert (both.weights_ < 1).any()
    assert (both.weights_ >= 0).all()


@pytest.mark.parametrize("method", ["hill_climbing", "gain_ratio+hill_climbing"])
def test_the_history_says_which_weight_each_step_moved_and_by_how_much(method):
    X, y = draw_codes(1, n_rows=300, n_features=6)
    path = CodedNB(method=method, tol=1e-5).fit(X, y).history_
    assert len(path.auc) > 2
    assert path.moved[0] == -1
    for before, after, j, size, auc in zip(
        path.weights, path.weights[1:], path.moved[1:], path.sizes[1:], path.auc, strict=False
    ):
        assert np.flatnonzero(after != before).tolist() == [j]
        assert after[j] - before[j] == pytest.approx(size)
        assert size == pytest.approx(path.step * literal_pull(auc), rel=1e-12)
    assert (np.diff(path.moved) >= 0).all()  # each weight in turn, once
    assert path.features == ("x0", "x1", "x2", "x3", "x4", "x5")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", SEARCHES)
def test_auto_is_the_first_of_its_steps_that_reaches_the_highest_auc(method, n_classes):
    X, y = draw_codes(2, n_classes, n_rows=120)
    auto = CodedNB(method=method, random_state=3).fit(X, y)
    steps = RATES if "hill_climbing" in method else SIZES
    each = [CodedNB(method=method, step=step, random_state=3).fit(X, y) for step in steps]
    assert auto.history_.tried == tuple((s, m.auc_) for s, m in zip(steps, each, strict=True))
    best = max(range(len(steps)), key=lambda i: each[i].auc_)
    assert auto.history_.step == steps[best]
    np.testing.assert_array_equal(auto.weights_, each[best].weights_)


# ---------------------------------------------------------------- the ranking


@LIGHT
@given(seed=SEEDS, n_levels=st.sampled_from([1, 2, 7, 40]), fractions=st.booleans())
def test_for_two_classes_the_auc_is_scikit_learns_at_every_step(seed, n_levels, fractions):
    X, y = draw_codes(seed, n_rows=120, n_levels=n_levels)
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.1, 3, len(y)) if fractions else rng.integers(1, 4, len(y)).astype(float)
    terms = make_terms(X, y, weight)
    labels = np.repeat([[0, 1]], len(terms.counts), axis=0)

    def check():
        scores = np.repeat(ranking.scores, 2)
        expected = roc_auc_score(labels.ravel(), scores, sample_weight=terms.counts.ravel())
        assert ranking.auc == pytest.approx(expected, abs=1e-12)

    weights = rng.uniform(0, 2, 4)
    ranking = rank(terms, weights)
    check()
    for _ in range(12):
        j, by = rng.integers(4), rng.normal()
        before, scores = ranking.auc, ranking.scores
        tried = ranking.try_shift(j, by)
        assert ranking.auc == before
        np.testing.assert_array_equal(ranking.scores, scores)
        if rng.random() < 0.6:
            ranking.accept()
            weights[j] += by
            assert ranking.auc == tried
            np.testing.assert_array_equal(
                ranking.scores, scores + by * terms.tables[j][terms.codes[j], 0]
            )
        check()
    ranking.try_weights(weights)
    scores = ranking.scores
    ranking.accept()
    check()
    np.testing.assert_allclose(ranking.scores, scores, atol=1e-12)


@LIGHT
@given(seed=SEEDS, n_classes=st.integers(3, 6))
def test_for_more_classes_the_auc_is_scikit_learns_at_every_step(seed, n_classes):
    X, y = draw_codes(seed, n_classes, n_rows=80)
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 4, len(y))
    terms = make_terms(X, y, times.astype(float))
    rows, labels = np.nonzero(terms.counts)
    rows, labels = (part.repeat(terms.counts[rows, labels].astype(int)) for part in (rows, labels))
    assert np.bincount(labels).tolist() == np.bincount(y, times).tolist()
    ranking = rank(terms, np.ones(4))
    for _ in range(8):
        expected = roc_auc_score(labels, ranking.scores[rows], multi_class="ovo", average="macro")
        assert ranking.auc == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(ranking.scores.sum(axis=1), 1)
        ranking.try_shift(rng.integers(4), rng.normal())
        ranking.accept()


@LIGHT
@given(seed=SEEDS, n_features=st.sampled_from([1, 3, 90]), n_classes=st.integers(2, 3))
def test_rows_of_the_same_levels_become_one_and_no_weight_is_lost(seed, n_features, n_classes):
    X, y = draw_codes(seed, n_classes, n_rows=50, n_features=n_features)
    X = np.vstack([X, X[:20]])
    y = np.r_[y, y[:10], np.random.default_rng(seed).integers(0, n_classes, 10)]
    terms = make_terms(X, y)
    assert len(terms.counts) <= len(np.unique(X, axis=0))
    totals = np.tile(terms.base[0], (len(X), 1))
    prior, Q = literal_parts(X, y)
    alone = add_parts(prior, Q, np.ones(n_features))
    together = totals[: len(terms.counts)] + sum(
        table[codes] for table, codes in zip(terms.tables, terms.codes, strict=True)
    )
    for k in range(n_classes):
        mine = np.repeat(together, terms.counts[:, k].astype(int), axis=0)
        np.testing.assert_allclose(np.sort(mine, axis=0), np.sort(alone[y == k], axis=0), atol=1e-9)


# ---------------------------------------------------------------- chosen on rows held out


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("smoothing", [0, 1.0, "1/n"])
def test_cv_ranks_each_row_by_tables_that_did_not_see_it(n_classes, smoothing):
    X, y = draw_codes(5, n_classes, n_rows=100)
    model = CodedNB(method="gain_ratio", choose_on="cv", smoothing=smoothing, random_state=4).fit(
        X, y
    )
    totals = np.empty((len(y), 1 if n_classes == 2 else n_classes))
    for train, out in deal(y, 5, np.random.RandomState(4)):
        naive = EvidenceNB(categorical_features="all", smoothing=smoothing).fit(X[train], y[train])
        totals[out] = naive.evidence_.prior_row
        for j, table in enumerate(naive.evidence_):
            q = dict(zip(table.levels, table.by_class, strict=True))
            totals[out] += model.weights_[j] * np.array([q[code] for code in X[out, j].tolist()])
    assert model.auc_ == pytest.approx(literal_auc(totals, y), abs=1e-12)


def test_cv_survives_classes_and_levels_that_a_fold_lacks():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (40, 3))
    y = np.r_[[2, 3], rng.integers(0, 2, 38)]
    for smoothing in (0, 1.0):
        model = CodedNB(choose_on="cv", smoothing=smoothing, random_state=0).fit(X, y)
        assert 0 <= model.auc_ <= 1
        assert np.isfinite(model.predict_proba(X)).all()
    tiny = CodedNB(choose_on="cv", random_state=0).fit(X[:3], [0, 1, 1])
    assert np.isfinite(tiny.predict_proba(X)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_splits_that_hold_out_no_row_of_a_class_are_refused(n_classes):
    X, y = draw_codes(0, n_classes)
    held_out = y == 0
    learner = CodedNB(choose_on="cv", cv=[(~held_out | (np.arange(len(y)) < 50), held_out)])
    with pytest.raises(ValueError, match="cv holds out no row of 1, so there is no AUC"):
        learner.fit(X, y)


def test_cv_keeps_the_tables_of_all_rows():
    X, y = draw_codes(6)
    model = CodedNB(choose_on="cv", random_state=0).fit(X, y)
    naive = EvidenceNB(categorical_features="all").fit(X, y).evidence_
    for table, plain, weight in zip(model.evidence_, naive, model.weights_, strict=True):
        np.testing.assert_array_equal(table.by_class, plain.by_class * weight)
        np.testing.assert_array_equal(table.counts, plain.counts)


# ---------------------------------------------------------------- row weights


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=6, deadline=None)
@given(seed=SEEDS, n_classes=st.integers(2, 3))
def test_a_weight_of_two_is_a_row_given_twice(method, seed, n_classes):
    X, y = draw_codes(seed, n_classes)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    times[:n_classes] = 1
    fit = CodedNB(method=method, random_state=0).fit
    weighted, repeated = fit(X, y, times), None
    found = weighted.weights_, weighted.auc_, weighted.predict_proba(X)
    repeated = fit(X.repeat(times, axis=0), y.repeat(times))
    for one, other in zip(
        found, (repeated.weights_, repeated.auc_, repeated.predict_proba(X)), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("choose_on", ["training", "cv"])
def test_the_order_of_rows_and_rows_of_no_weight_say_nothing(choose_on):
    X, y = draw_codes(8)
    weight = np.ones(len(y))
    weight[[5, 50, 70]] = 0
    kept = weight > 0
    fit = CodedNB(choose_on=choose_on, random_state=0).fit
    alone, given_all = fit(X[kept], y[kept]), None
    found = alone.weights_, alone.auc_
    X[5] = 99  # a level of its own, which must not be counted
    given_all = fit(X, y, weight)
    np.testing.assert_array_equal(given_all.weights_, found[0])
    assert given_all.auc_ == found[1]
    if choose_on == "training":
        order = np.random.default_rng(0).permutation(kept.sum())
        shuffled = fit(X[kept][order], y[kept][order])
        np.testing.assert_array_equal(shuffled.weights_, found[0])


# ---------------------------------------------------------------- hard data


@every_pair(
    method=METHODS,
    n_classes=[2, 5],
    choose_on=["training", "cv"],
    missing=["level", "skip"],
    smoothing=[0, 1.0],
)
def test_gaps_copies_constants_and_empty_columns_do_no_harm(
    method, n_classes, choose_on, missing, smoothing
):
    X, y = draw_bank(0, n_classes=n_classes)
    how = {"choose_on": choose_on, "missing": missing, "smoothing": smoothing}
    model = WeightedNB(method=method, random_state=0, **how).fit(X, y)
    assert np.isfinite(model.weights_).all()
    assert (model.weights_ >= 0).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    if method == "gain_ratio":
        assert model.weights_[[2, 3]].tolist() == [0, 0]
    if not method.endswith(("mcmc", "monte_carlo")):
        assert model.weights_[2] == model.history_.weights[0, 2]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_separable_classes_end_the_search_before_a_move(method, n_classes, monkeypatch):
    y = np.arange(30) % n_classes
    X = np.column_stack([y, np.arange(30) % 5, np.arange(30) % 7])
    monkeypatch.setattr(WalkSettings, "accepts", lambda *_: pytest.fail("a move was tried"))
    model = CodedNB(method=method, random_state=0, tol=0).fit(X, y)
    assert model.auc_ == 1
    assert len(model.history_.auc) == 1
    assert roc_auc_score(y == 1, model.predict_proba(X)[:, 1]) == 1


@pytest.mark.parametrize("method", ["hill_climbing", "hill_climbing_both_ways", "mcmc"])
@pytest.mark.parametrize("seed", range(6))
def test_the_auc_is_that_of_the_fitted_model_also_where_scores_tie(seed, method):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (60, 5))  # exchangeable columns: many equal scores
    y = rng.permutation(np.arange(60) % 2)
    model = CodedNB(method=method, random_state=0).fit(X, y)
    assert model.auc_ == pytest.approx(roc_auc_score(y, model.decision_function(X)), abs=1e-12)


def test_a_step_beyond_all_numbers_ends():
    X, y = draw_codes(0)
    with np.errstate(all="ignore"):
        model = CodedNB(method="mcmc", step=1e308, random_state=0).fit(X, y)
    assert np.isfinite(model.weights_).all()


def test_many_classes_and_many_levels_are_ranked():
    rng = np.random.default_rng(3)
    y = np.r_[np.arange(12), rng.integers(0, 12, 188)]
    X = np.column_stack(
        [np.arange(200), (y + rng.integers(0, 3, 200)) % 12, rng.integers(0, 2, 200)]
    )
    model = CodedNB(step=4.0, random_state=0).fit(X, y)
    assert model.auc_ >= model.history_.auc[0]
    scores = model.predict_proba(X)
    assert model.auc_ == pytest.approx(roc_auc_score(y, scores, multi_class="ovo"), abs=1e-9)


# ---------------------------------------------------------------- interruption and progress


def record(calls):
    return lambda done, of: calls.append((done, of))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", SEARCHES)
def test_the_search_says_how_far_it_has_come(method, n_classes):
    X, y = draw_codes(10, n_classes)
    calls = []
    with engine.watch(record(calls)):
        CodedNB(method=method, random_state=0).fit(X, y)
    assert all(0 <= done <= of for done, of in calls)
    assert calls[-1][0] == calls[-1][1]


class Interrupt:
    """Press Ctrl-C when the search reports for the nth time."""

    def __init__(self, at, of):
        self.at, self.of = at, of

    def __call__(self, done, of):
        if of == self.of:
            self.at -= 1
            if self.at == 0:
                raise KeyboardInterrupt


@every_pair(
    method__of=[("hill_climbing", 6 * len(RATES)), ("gain_ratio+mcmc", PATIENCE * len(SIZES))],
    at=[1, 3, 25],
    choose_on=["training", "cv"],
)
def test_an_interrupted_search_keeps_the_best_weights_so_far(tmp_path, method, of, at, choose_on):
    X, y = draw_codes(11, n_rows=200, n_features=6)
    whole = CodedNB(method=method, choose_on=choose_on, random_state=0).fit(X, y)
    model = CodedNB(method=method, choose_on=choose_on, random_state=0)
    with (
        engine.watch(Interrupt(at, of)),
        pytest.warns(UserWarning, match="interrupted: the weights are the best found so far"),
    ):
        model.fit(X, y)
    path = model.history_
    assert path.interrupted
    assert not whole.history_.interrupted
    assert path.auc[0] == whole.history_.auc[0] <= model.auc_ <= whole.auc_
    assert model.auc_ == max(auc for _, auc in path.tried)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    weigh.save(model, tmp_path / "model.json")
    np.testing.assert_array_equal(weigh.load(tmp_path / "model.json").weights_, model.weights_)


def test_an_interruption_before_the_search_leaves_the_model_as_it_was():
    X, y = draw_codes(12)
    model, fresh = CodedNB().fit(X, y), CodedNB()
    weights, evidence = model.weights_, model.evidence_
    for one in (model, fresh):
        with engine.watch(Interrupt(1, 4)), pytest.raises(KeyboardInterrupt):
            one.fit(X[::-1], 1 - y)
    assert model.weights_ is weights
    assert model.evidence_ is evidence
    assert not hasattr(fresh, "weights_")


@pytest.mark.parametrize("choose_on", ["training", "cv"])
@pytest.mark.parametrize("method", METHODS)
def test_the_search_is_the_same_again_for_a_random_state(method, choose_on):
    X, y = draw_codes(13, n_rows=200)
    fits = [
        CodedNB(method=method, choose_on=choose_on, random_state=seed).fit(X, y)
        for seed in (0, 0, np.random.RandomState(0), 1)
    ]
    for model in fits[1:3]:
        np.testing.assert_array_equal(model.history_.weights, fits[0].history_.weights)
        assert model.auc_ == fits[0].auc_
    drawn = choose_on == "cv" or method.endswith(("mcmc", "monte_carlo"))
    assert (fits[3].history_.auc.tolist() != fits[0].history_.auc.tolist()) == drawn


# ---------------------------------------------------------------- the evidence


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_evidence_is_naive_bayes_times_the_weights_with_errors_to_scale(n_classes):
    X, y = draw_codes(14, n_classes)
    model = CodedNB().fit(X, y)
    naive = EvidenceNB(categorical_features="all").fit(X, y).evidence_
    np.testing.assert_array_equal(model.evidence_.prior, naive.prior)
    np.testing.assert_array_equal(model.evidence_.prior_variances, naive.prior_variances)
    for table, plain, weight in zip(model.evidence_, naive, model.weights_, strict=True):
        np.testing.assert_array_equal(table.by_class, plain.by_class * weight)
        np.testing.assert_allclose(table.errors, plain.errors * weight, rtol=1e-12)
    p = literal_posterior(X, y, model.weights_)
    np.testing.assert_allclose(model.predict_proba(X), p, rtol=1e-10)


def literal_posterior(X, y, weights):
    """Eq. 2 as printed, on shares smoothed by one."""
    classes, p = np.unique(y), []
    for x in X:
        row = []
        for c in classes:
            posterior = (y == c).mean()
            for j, w in enumerate(weights):
                same = ((y == c) & (X[:, j] == x[j])).sum()
                share = (same + 1) / ((y == c).sum() + len(np.unique(X[:, j])))
                posterior *= share**w
            row.append(posterior)
        p.append(np.array(row) / sum(row))
    return np.array(p)


def test_a_sheet_adds_up_and_says_what_its_interval_leaves_out():
    X, y = draw_codes(15)
    model = CodedNB().fit(X, y)
    sheet = model.balance_sheet(X[0])
    weights = [sheet.prior, *(item.weight for item in sheet.items)]
    assert sum(weights) == pytest.approx(model.decision_function(X[:1])[0], rel=1e-12)
    assert sheet.probability == pytest.approx(model.predict_proba(X[:1])[0, 1], rel=1e-12)
    assert "leaves out the error of the features' weights" in str(sheet)
    X, y = draw_codes(15, n_classes=3)
    model = CodedNB().fit(X, y)
    sheet, p = model.balance_sheet(X[0], pos_label=0, against=2), model.predict_proba(X[:1])[0]
    weights = [sheet.prior, *(item.weight for item in sheet.items)]
    assert sum(weights) == pytest.approx(np.log(p[0] / p[2]), rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_another_prior_shifts_the_totals_and_leaves_the_weights(n_classes):
    X, y = draw_codes(16, n_classes)
    rate = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    model = CodedNB().fit(X, y)
    given_first = CodedNB(class_prior=rate.tolist()).fit(X, y)
    np.testing.assert_array_equal(given_first.weights_, model.weights_)
    assert given_first.auc_ == model.auc_
    shifted = model.with_prior(rate).predict_proba(X)
    np.testing.assert_allclose(given_first.predict_proba(X), shifted, rtol=1e-12)
    odds = model.predict_proba(X) * rate / (np.bincount(y) / len(y))
    np.testing.assert_allclose(shifted, odds / odds.sum(axis=1, keepdims=True), rtol=1e-9)


# ---------------------------------------------------------------- what all estimators share


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_a_saved_model_gives_the_same_bits(tmp_path, method, n_classes):
    X, y = draw_codes(17, n_classes)
    table = pd.DataFrame(X, columns=[*"abcd"]).astype(str)
    model = WeightedNB(method=method, random_state=0).fit(table, y)
    weigh.save(model, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    np.testing.assert_array_equal(again.weights_, model.weights_)
    assert again.auc_ == model.auc_
    assert again.get_params() == model.get_params()
    assert str(again.balance_sheet(table.iloc[[0]])) == str(model.balance_sheet(table.iloc[[0]]))
    with pytest.raises(ValueError, match="no history"):
        weigh.SearchPathDisplay.from_estimator(again)


def test_what_ranked_best_on_rows_held_out_is_the_default():
    X, y = draw_codes(19)
    chosen = {"method": "hill_climbing_both_ways", "choose_on": "cv", "random_state": 0}
    fits = [WeightedNB(**given).fit(X, y) for given in ({"random_state": 0}, chosen)]
    np.testing.assert_array_equal(fits[0].history_.weights, fits[1].history_.weights)
    assert fits[0].auc_ == fits[1].auc_


def test_the_command_line_fits_what_python_fits(tmp_path):
    data, out = tmp_path / "people.csv", tmp_path / "model.json"
    csv.write_csv(datasets.titanic(), data)
    words = ["fit", str(data), "--target", "Survived", "--learner", "weighted", "-o", str(out)]
    options = ["--set", "method=mcmc", "--set", "random_state=0", "--set", "step=0.5"]
    result = CliRunner().invoke(main, [*words, *options])
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "WeightedNB from 2,201 rows and 3 columns" in result.stderr
    table = read_csv(data)
    expected = WeightedNB(method="mcmc", step=0.5, random_state=0).fit(table, "Survived")
    found = weigh.load(out)
    assert isinstance(found, WeightedNB)
    np.testing.assert_array_equal(found.weights_, expected.weights_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "annealing"}, r"method .*\('gain_ratio', .*'annealing'"),
        ({"method": None}, "method .*, got None"),
        ({"step": 0}, "step .*'auto' .*above 0, got 0"),
        ({"step": -1.0}, "step must be"),
        ({"step": np.nan}, "step must be"),
        ({"step": np.inf}, "step must be"),
        ({"step": True}, "step must be"),
        ({"step": "big"}, "step must be"),
        ({"step": [1.0, 2.0]}, "step must be"),
        ({"step": np.ones(2)}, "step must be"),
        ({"tol": -1e-9}, "tol .*at least 0, got -1e-09"),
        ({"tol": np.nan}, "tol must be"),
        ({"tol": "small"}, "tol must be"),
        ({"choose_on": "test"}, r"choose_on .*\('training', 'cv'\).*'test'"),
        ({"random_state": "seed"}, "seed"),
        ({"smoothing": -1}, "smoothing"),
        ({"class_prior": [0.5, 0.6]}, "class_prior"),
    ],
)
def test_a_bad_parameter_is_named_with_what_it_may_be(parameters, message):
    X, y = draw_codes(0)
    with pytest.raises(ValueError, match=message):
        CodedNB(**parameters).fit(X, y)
