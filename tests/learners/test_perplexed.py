"""PerplexedNB: the paper's equations row by row, naive Bayes's decisions, and the choice of k."""

import json
import math
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.pipeline import make_pipeline
from tests.commands import fit_titanic, run
from tests.literal import count_shares, draw_rows, more_rows
from tests.model_files import SCHEMA, read_model
from tests.pairs import every_pair

import weigh
from weigh import EvidenceNB, PerplexedNB, datasets
from weigh.base import read_sample
from weigh.engine import Block
from weigh.folds import deal
from weigh.perplexed.scores import CRITERIA, Scores, score_block

LIGHT = settings(max_examples=25, deadline=None)
FEW = settings(max_examples=8, deadline=None)
SEEDS = st.integers(0, 2**32 - 1)
SMOOTHINGS = st.sampled_from([0, 1.0, 0.1, "1/n"])
KS = st.one_of(st.floats(1, 12), st.sampled_from([1, 2, 1e6]))
CLASSES = st.sampled_from([2, 3])
VALIDATOR = Draft202012Validator(SCHEMA)


# ---------------------------------------------------------------- data


@st.composite
def tables(draw, n_classes=CLASSES):
    return draw_rows(
        draw(SEEDS),
        draw(n_classes),
        n_rows=draw(st.integers(0, 25)),
        n_features=draw(st.integers(1, 4)),
        n_levels=draw(st.integers(1, 4)),
        gaps=draw(st.sampled_from([0, 0.3])),
    )


def draw_documents(seed, n_classes=2, n_rows=40, n_tokens=6):
    """Counts of tokens, some documents empty, and their weights."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), np.arange(n_classes), rng.integers(0, n_classes, n_rows)]
    rate = 0.3 + (np.arange(n_tokens) % n_classes == y[:, None])
    X = rng.poisson(rate) * (rng.random((len(y), 1)) < 0.9)
    return X, y, rng.integers(1, 4, len(y)).astype(float)


# ---------------------------------------------------------------- the paper, row by row


def literal_tables(X, y, weight, smoothing, skip):
    """The class probabilities and the P(v|c) of each column."""
    n_classes, total = max(y) + 1, sum(weight)
    s = 1 / total if smoothing == "1/n" else smoothing
    prior = [sum(w for w, c in zip(weight, y, strict=True) if c == k) for k in range(n_classes)]
    columns = zip(*X.to_numpy(dtype=object).tolist(), strict=True)
    shares = [count_shares(column, y, weight, s, n_classes, skip) for column in columns]
    return [p / total for p in prior], shares


def literal_probabilities(prior, shares, row, skip, k, form):
    """Eqs. 8 and 19 (geometric), 15 (arithmetic) and 20 (root) as printed, for one row."""
    answers = [(v, t) for v, t in zip(row, shares, strict=True) if not (skip and v is None)]
    n = len(answers)
    known = [t[v] for v, t in answers if len(t) > 1 and v in t]
    numerators = []
    for c, p in enumerate(prior):
        if form == "arithmetic":
            numerators.append(p * (sum(x[c] for x in known) / len(known) if known else 1))
            continue
        product = math.prod(x[c] for x in known)
        exponent = min(1, k / (n + 1)) if form == "root" else min(1, k / n) if n else 1
        numerators.append((product * p) ** exponent if form == "root" else product**exponent * p)
    return [x / sum(numerators) for x in numerators]


@LIGHT
@given(
    table=tables(),
    smoothing=SMOOTHINGS,
    k=KS,
    form=st.sampled_from(["root", "geometric", "arithmetic"]),
    missing=st.sampled_from(["level", "skip"]),
    weighted=st.booleans(),
)
def test_probabilities_are_those_of_the_paper_row_by_row(
    table, smoothing, k, form, missing, weighted
):
    X, y, weight = table
    weight = weight if weighted else np.ones(len(y))
    skip = missing == "skip"
    model = PerplexedNB(smoothing=smoothing, attenuation=k, form=form, missing=missing)
    model.fit(X, y, weight)
    prior, shares = literal_tables(X, y, weight, smoothing, skip)
    Z = more_rows(X)
    rows = Z.to_numpy(dtype=object).tolist()
    expected = [literal_probabilities(prior, shares, row, skip, k, form) for row in rows]
    np.testing.assert_allclose(model.predict_proba(Z), expected, rtol=1e-9, atol=1e-12)


@LIGHT
@given(
    seed=SEEDS,
    n_classes=CLASSES,
    k=KS,
    form=st.sampled_from(["root", "geometric", "arithmetic"]),
    kind=st.sampled_from([np.asarray, sparse.csr_array, sparse.csc_matrix]),
)
def test_documents_are_those_of_the_paper_token_by_token(seed, n_classes, k, form, kind):
    X, y, weight = draw_documents(seed, n_classes)
    model = PerplexedNB(attenuation=k, form=form, event_model="counts").fit(kind(X), y, weight)
    rows = [[j for j, times in enumerate(row) for _ in range(times)] for row in X.tolist()]
    occurrences = [
        (token, c, w) for row, c, w in zip(rows, y, weight, strict=True) for token in row
    ]
    share = count_shares(*zip(*occurrences, strict=True), 1.0, n_classes)
    prior = np.bincount(y, weight) / weight.sum()
    Z, rows = np.vstack([X, 3 * X]), rows + [row * 3 for row in rows]
    expected = [
        literal_probabilities(prior, [share] * len(row), row, False, k, form) for row in rows
    ]
    np.testing.assert_allclose(model.predict_proba(kind(Z)), expected, rtol=1e-9, atol=1e-12)


def test_fully_perplexed_is_equation_8():
    X, y, weight = draw_rows(5, gaps=0)
    prior, shares = literal_tables(X, y, weight, 1.0, False)
    model = PerplexedNB(form="geometric", attenuation=1).fit(X, y, weight)
    for row, expected in zip(X.to_numpy().tolist(), model.predict_proba(X), strict=True):
        means = [
            p * math.prod(t[v][c] for v, t in zip(row, shares, strict=True)) ** (1 / len(row))
            for c, p in enumerate(prior)
        ]
        np.testing.assert_allclose(expected, np.array(means) / sum(means), rtol=1e-12)


# ---------------------------------------------------------------- decisions are naive Bayes's


@settings(max_examples=60, deadline=None)
@given(
    table=tables(),
    k=KS,
    smoothing=SMOOTHINGS,
    missing=st.sampled_from(["level", "skip"]),
    crossed=st.booleans(),
)
def test_root_decides_exactly_as_naive_bayes_does(table, k, smoothing, missing, crossed):
    X, y, weight = table
    shared = {"smoothing": smoothing, "missing": missing}
    if crossed and X.shape[1] > 1:
        shared["crosses"] = [("f0", "f1")]
    naive = EvidenceNB(**shared).fit(X, y, weight)
    model = PerplexedNB(attenuation=k, **shared).fit(X, y, weight)
    Z = more_rows(X)
    np.testing.assert_array_equal(model.predict(Z), naive.predict(Z))


@LIGHT
@given(seed=SEEDS, n_classes=CLASSES, k=KS, kind=st.sampled_from([np.asarray, sparse.csr_array]))
def test_root_decides_on_documents_as_naive_bayes_does(seed, n_classes, k, kind):
    X, y, _ = draw_documents(seed, n_classes)
    naive = EvidenceNB(event_model="counts").fit(kind(X), y)
    model = PerplexedNB(event_model="counts", attenuation=k).fit(kind(X), y)
    np.testing.assert_array_equal(model.predict(kind(X)), naive.predict(kind(X)))


@FEW
@given(table=tables(), by=st.sampled_from(["flat", "calibrated", "likelihood"]))
@pytest.mark.filterwarnings("ignore:k cannot be chosen")
def test_a_k_that_was_chosen_decides_alike_too(table, by):
    X, y, weight = table
    model = PerplexedNB(attenuation=by, random_state=0).fit(X, y, weight)
    naive = EvidenceNB().fit(X, y, weight)
    np.testing.assert_array_equal(model.predict(X), naive.predict(X))


def tied(order):
    """A prior of 2 to 1 and levels of 2, 3 and 1/12 to 1: together nothing but rounding."""
    counts = [(16, 4), (18, 3), (1, 6)]  # rows with "a" of 24 and of 12
    columns = [["a"] * n + ["b"] * (24 - n) + ["a"] * m + ["b"] * (12 - m) for n, m in counts]
    return np.array(columns, dtype=object).T[:, list(order)], np.repeat([1, 0], [24, 12])


@pytest.mark.parametrize("missing", ["level", "skip"])
def test_rounding_cannot_flip_a_tie(missing, tmp_path):
    flipped, case = 0, np.array([["a", "a", "a"]], dtype=object)
    for order in permutations(range(3)):
        X, y = tied(order)
        naive = EvidenceNB(missing=missing, smoothing=0).fit(X, y)
        assert abs(naive.decision_function(case)[0]) < 1e-12
        for k in np.linspace(1, 4, 20):
            model = PerplexedNB(attenuation=float(k), missing=missing, smoothing=0).fit(X, y)
            flipped += ((model.decision_function(case) > 0) != naive.predict(case))[0]
            weigh.save(model, tmp_path / "model.json")
            for same in (model, weigh.load(tmp_path / "model.json")):
                np.testing.assert_array_equal(same.predict(case), naive.predict(case))
    if missing == "level":  # multiplied out: deciding on the attenuated total would have failed
        assert flipped


@LIGHT
@given(table=tables(), form=st.sampled_from(["root", "geometric"]), above=st.sampled_from([0, 0.5]))
def test_enough_k_is_naive_bayes(table, form, above):
    X, y, weight = table
    enough = X.shape[1] + (form == "root") + above
    for missing in ("level", "skip"):
        model = PerplexedNB(form=form, attenuation=enough, missing=missing).fit(X, y, weight)
        naive = EvidenceNB(missing=missing).fit(X, y, weight)
        Z = more_rows(X)
        np.testing.assert_allclose(
            model.predict_proba(Z), naive.predict_proba(Z), rtol=1e-12, atol=1e-15
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_and_decisions_agree(n_classes):
    X, y, _ = draw_rows(4, n_classes)
    for form in ("root", "geometric", "arithmetic"):
        for missing in ("level", "skip"):
            model = PerplexedNB(form=form, missing=missing, attenuation=2).fit(X, y)
            p = model.predict_proba(X)
            clear = np.sort(p, axis=1)[:, -1] - np.sort(p, axis=1)[:, -2] > 1e-9
            expected = model.classes_[p.argmax(axis=1)]
            np.testing.assert_array_equal(model.predict(X)[clear], expected[clear])
            np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p, rtol=1e-9)


# ---------------------------------------------------------------- what n is


def test_a_row_without_answers_gets_the_prior_whatever_k():
    X, y, _ = draw_rows(1, 3)
    empty = pd.DataFrame([[None] * 3], columns=X.columns, dtype=object)
    for form in ("root", "geometric", "arithmetic"):
        model = PerplexedNB(form=form, attenuation=1, missing="skip").fit(X, y)
        rate = np.bincount(y) / len(y)
        np.testing.assert_allclose(model.predict_proba(empty)[0], rate, rtol=1e-12)
    for form in ("root", "geometric", "arithmetic"):
        X, y, _ = draw_documents(1)
        model = PerplexedNB(form=form, attenuation=1, event_model="counts").fit(X, y)
        rate = np.bincount(y) / len(y)
        np.testing.assert_allclose(model.predict_proba(0 * X[:1])[0], rate, rtol=1e-12)


def test_n_counts_answers_and_a_level_never_seen_is_one():
    X, y, _ = draw_rows(2, gaps=0.3)
    X["number"] = np.where(np.arange(len(y)) % 3, np.arange(len(y)) + 10.0 * y, np.nan)
    model = PerplexedNB(attenuation=1, missing={"f0": "skip", "number": "skip"}, bins={"number": 3})
    model.fit(X, y)
    Z = more_rows(X[["f0", "f1", "f2"]]).assign(number=1.0)
    Z.loc[::2, "number"] = np.nan
    n = model.evidence_.observed(model._read(Z))
    np.testing.assert_array_equal(n, 2 + Z["f0"].notna() + Z["number"].notna())


def test_a_cross_is_one_feature_that_lacks_an_answer_where_either_part_does():
    X, y, _ = draw_rows(3, gaps=0.3)
    model = PerplexedNB(attenuation=1, missing="skip", crosses=[("f0", "f2")]).fit(X, y)
    n = model.evidence_.observed(model._read(X))
    both = X["f0"].notna() & X["f2"].notna()
    np.testing.assert_array_equal(n, both.astype(int) + X["f1"].notna())


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_the_n_of_a_document_is_its_number_of_tokens(kind):
    X, y, _ = draw_documents(3)
    table = kind(X) if kind is not pd.DataFrame else pd.DataFrame(X, columns=[*"abcdef"])
    model = PerplexedNB(attenuation=1, event_model="counts").fit(table, y)
    np.testing.assert_array_equal(model.evidence_.observed(model._read(table)), X.sum(axis=1))


def test_where_every_row_has_every_feature_the_evidence_is_an_ordinary_table():
    X, y, _ = draw_rows(6)
    naive = EvidenceNB().fit(X, y).evidence_
    for form, k in (("root", 2.0), ("geometric", 1.5)):
        model = PerplexedNB(form=form, attenuation=k).fit(X, y)
        assert model.evidence_.attenuation is None
        e = k / 4 if form == "root" else k / 3
        for mine, plain in zip(model.evidence_, naive, strict=True):
            np.testing.assert_allclose(mine.by_class, e * plain.by_class, rtol=1e-12)
            np.testing.assert_allclose(mine.errors, e * plain.errors, rtol=1e-12)
        own = e if form == "root" else 1
        assert model.evidence_.prior == pytest.approx(own * naive.prior, rel=1e-12)


# ---------------------------------------------------------------- the choice of k


def literal_criterion(by, p, y, weight, n_bins):
    """Flatness, RMSE of the reliability diagram and log loss, one row after the other."""
    n_classes = len(p[0])
    if by == "likelihood":
        bits = [-w * math.log2(row[c]) for row, c, w in zip(p, y, weight, strict=True)]
        return sum(bits) / sum(weight)
    if by == "flat":
        heights, low = [0.0] * n_bins, 1 / n_classes
        for row, w in zip(p, weight, strict=True):
            place = int((max(row) - low) / (1 - low) * n_bins)
            heights[min(max(place, 0), n_bins - 1)] += w / sum(weight)
        mean = sum(heights) / n_bins
        return math.sqrt(sum((h - mean) ** 2 for h in heights) / n_bins)
    bins = {}
    for row, c, w in zip(p, y, weight, strict=True):
        for k, x in enumerate(row):
            bins.setdefault(min(int(x * n_bins), n_bins - 1), []).append((w, x, k == c))
    gaps = []
    for cells in bins.values():
        size = sum(w for w, _, _ in cells)
        said = sum(w * x for w, x, _ in cells) / size
        gaps.append((sum(w * hit for w, _, hit in cells) / size - said) ** 2)
    return math.sqrt(sum(gaps) / len(gaps))


def literal_rows(X, y, weight, by, form, k, seed):
    """The rows that a criterion looks at: probabilities, classes and weights."""
    splits = [(np.ones(len(y), bool),) * 2]
    if by != "flat":
        splits = deal(y, 5, np.random.RandomState(seed))
    p, labels, weights = [], [], []
    for train, held_out in splits:
        prior, shares = literal_tables(X[train], y[train], weight[train], 1.0, False)
        for row, c, w in zip(
            X[held_out].to_numpy(dtype=object).tolist(), y[held_out], weight[held_out], strict=True
        ):
            p.append(literal_probabilities(prior, shares, row, False, k, form))
            labels.append(c)
            weights.append(w)
    return p, labels, weights


@pytest.mark.parametrize("by", ["flat", "calibrated", "likelihood"])
@pytest.mark.parametrize("form", ["root", "geometric"])
@FEW
@given(seed=SEEDS, n_classes=CLASSES, n_bins=st.integers(2, 12))
def test_every_criterion_is_its_definition_row_by_row(by, form, seed, n_classes, n_bins):
    X, y, weight = draw_rows(seed, n_classes, n_rows=40)
    model = PerplexedNB(attenuation=by, form=form, n_bins=n_bins, random_state=seed % 2**31)
    path = model.fit(X, y, weight).attenuation_path_
    for i in (0, len(path.k) // 2, len(path.k) - 1):
        p, labels, weights = literal_rows(X, y, weight, by, form, path.k[i], seed % 2**31)
        cells = np.array(p) if by == "calibrated" else np.max(p, axis=1)
        low = 0 if by == "calibrated" else 1 / n_classes
        edge = (cells - low) / (1 - low) * n_bins
        if by != "likelihood":  # rounding must not decide on a bin
            assume((np.abs(edge - edge.round()) > 1e-9).all())
        expected = literal_criterion(by, p, labels, weights, n_bins)
        assert path.criterion[i] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("by", ["flat", "calibrated", "likelihood"])
def test_the_path_ascends_and_the_least_of_it_is_chosen(by):
    X, y, weight = draw_rows(8, 3, n_rows=300, n_features=6)
    model = PerplexedNB(attenuation=by, random_state=0).fit(X, y, weight)
    path = model.attenuation_path_
    assert (np.diff(path.k) > 0).all()
    assert (path.k[0], path.k[-1], path.by) == (1.0, pytest.approx(7), by)
    assert model.attenuation_ == path.chosen == path.k[path.criterion.argmin()]
    given = PerplexedNB(attenuation=model.attenuation_).fit(X, y, weight)
    np.testing.assert_array_equal(given.predict_proba(X), model.predict_proba(X))
    assert given.attenuation_path_ is None


def test_the_ks_beside_the_chosen_one_have_no_smaller_loss():
    X, y, weight = draw_rows(8, n_rows=400, n_features=8)
    X = X.assign(again=X["f0"], more=X["f0"])
    best = PerplexedNB(random_state=0).fit(X, y, weight).attenuation_
    assert 1.1 < best < 10
    low, least, high = (
        literal_criterion("likelihood", *literal_rows(X, y, weight, "likelihood", "root", k, 0), 10)
        for k in (0.97 * best, best, 1.03 * best)
    )
    assert least <= min(low, high)


def test_documents_choose_on_documents_held_out():
    X, y, weight = draw_documents(4, 3, n_rows=80)
    model = PerplexedNB(event_model="counts", random_state=1).fit(sparse.csr_array(X), y, weight)
    path = model.attenuation_path_
    assert path.k[-1] == pytest.approx(X.sum(axis=1).max() + 1)
    k, bits = path.k[20], 0.0
    for train, held_out in deal(y, 5, np.random.RandomState(1)):
        part = PerplexedNB(event_model="counts", attenuation=k)
        part.fit(X[train], y[train], weight[train])
        p = part.predict_proba(X[held_out])[np.arange(held_out.sum()), y[held_out]]
        bits -= weight[held_out] @ np.log2(p)
    assert path.criterion[20] == pytest.approx(bits / weight.sum(), rel=1e-9)


def test_rows_whose_class_has_no_other_row_are_not_judged():
    X, y, _ = draw_rows(9, 2)
    X, y = X.iloc[np.r_[0, np.arange(len(y))]], np.r_[2, y]
    model = PerplexedNB(random_state=0)
    sample = read_sample(model, X, y)
    splits = model._split(sample, 5, 0)
    scored, rows = model._score(sample, model._weigh(splits.whole.tally), splits), splits.rows
    scores = score_block(scored.scorer, Block(rows.codes, rows.labels, None, rows.groups))
    assert len(scores) == len(y) - 1
    assert 2 not in scores.labels
    assert np.isfinite(model.fit(X, y).attenuation_path_.criterion).all()


def test_where_no_row_can_be_held_out_the_model_is_naive_bayes_and_a_warning_says_so():
    X = [["a", "x"], ["b", "y"]]
    with pytest.warns(UserWarning, match="k cannot be chosen.* set attenuation to a number"):
        model = PerplexedNB().fit(X, [0, 1])
    assert (model.attenuation_, model.attenuation_path_) == (3.0, None)
    naive = EvidenceNB().fit(X, [0, 1])
    np.testing.assert_array_equal(model.predict_proba(X), naive.predict_proba(X))


def test_splits_may_be_given():
    X, y, weight = draw_rows(10)
    weight[::5] = 0
    folds = np.arange(len(y)) % 4
    fits = [
        PerplexedNB(cv=cv).fit(X, y, weight).attenuation_path_.criterion
        for cv in (PredefinedSplit(folds), [*PredefinedSplit(folds).split()])
    ]
    np.testing.assert_array_equal(*fits)
    assert PerplexedNB(cv=KFold(3)).fit(X, y).attenuation_path_ is not None


def test_folds_come_from_the_random_state_and_nothing_else_does():
    X, y, _ = draw_rows(11, n_rows=200)
    fits = [PerplexedNB(random_state=s).fit(X, y).attenuation_path_ for s in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0].criterion, fits[1].criterion)
    assert fits[0].criterion.tolist() != fits[2].criterion.tolist()
    for by in ("flat", 2.5):
        one, two = (PerplexedNB(attenuation=by, random_state=s).fit(X, y) for s in (0, 1))
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@LIGHT
@given(
    table=tables(),
    k=st.one_of(st.floats(1, 5), st.just("flat")),
    form=st.sampled_from(["root", "geometric", "arithmetic"]),
)
def test_a_weight_of_two_is_a_row_given_twice(table, k, form):
    X, y, weight = table
    times = weight.astype(int)
    fit = PerplexedNB(attenuation=k, form=form, missing="skip").fit
    one, two = fit(X, y, weight), fit(X.loc[X.index.repeat(times)], y.repeat(times))
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)


def test_many_equal_features_are_one_and_k_finds_out():
    slopes = {"naive": [], "perplexed": []}
    for d in (1, 3, 6):
        rng = np.random.default_rng(d)
        y = rng.integers(0, 2, 6000)
        told = (rng.random((6000, 3)) < np.where(y, 0.7, 0.3)[:, None]).astype(str)
        X = np.repeat(told, d, axis=1)
        models = {"naive": EvidenceNB(), "perplexed": PerplexedNB(random_state=0)}
        for name, model in models.items():
            totals = model.fit(X[:4000], y[:4000]).decision_function(X[4000:])
            line = LogisticRegression(C=1e6).fit(totals[:, None], y[4000:])
            slopes[name].append(float(line.coef_[0, 0]))
    np.testing.assert_allclose(slopes["naive"], [1, 1 / 3, 1 / 6], rtol=0.15)
    np.testing.assert_allclose(slopes["perplexed"], 1, atol=0.15)


@given(seed=SEEDS, k=st.floats(1, 9))
@FEW
def test_criteria_do_not_depend_on_the_order_of_rows(seed, k):
    rng = np.random.default_rng(seed)
    order = rng.permutation(50)
    parts = (
        np.zeros((50, 3)),
        rng.normal(size=(50, 3)),
        rng.integers(0, 9, 50).astype(float),
        rng.integers(0, 3, 50),
        np.ones(50),
    )
    one, two = Scores(*parts), Scores(*(part[order] for part in parts))
    for criterion in CRITERIA.values():
        sums = [criterion.sums(rows.totals(k, "root"), rows, 10) for rows in (one, two)]
        assert criterion.value(sums[0]) == pytest.approx(criterion.value(sums[1]), rel=1e-12)


@pytest.mark.parametrize("missing", ["level", "skip"])
@pytest.mark.parametrize("by", CRITERIA)
def test_rows_in_short_blocks_choose_the_k_of_rows_in_one(monkeypatch, by, missing):
    X, y, weight = draw_rows(5, 3)
    learner = PerplexedNB(attenuation=by, missing=missing, form="geometric", random_state=0)
    whole = clone(learner).fit(X, y, weight).attenuation_path_
    monkeypatch.setattr("weigh.engine.passes.BLOCK", 64)
    parts = clone(learner).fit(X, y, weight).attenuation_path_
    np.testing.assert_allclose(parts.criterion, whole.criterion, rtol=1e-12)
    assert parts.chosen == pytest.approx(whole.chosen, rel=1e-12)


# ---------------------------------------------------------------- another prior


@every_pair(form=["root", "geometric", "arithmetic"], missing=["level", "skip"], n_classes=[2, 3])
def test_another_prior_is_added_after_the_exponent(form, missing, n_classes, tmp_path):
    X, y, _ = draw_rows(3, n_classes)
    rate = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    shared = {"form": form, "missing": missing, "attenuation": 1.7}
    model = PerplexedNB(**shared).fit(X, y)
    logs = np.log(rate) - np.log(np.bincount(y) / len(y))
    change = logs[1] - logs[0] if n_classes == 2 else logs - logs.mean()
    expected = model.decision_function(X) + change
    given_first = PerplexedNB(class_prior=rate.tolist(), **shared).fit(X, y)
    back = model.with_prior([1 / n_classes] * n_classes).with_prior(rate)
    weigh.save(back, tmp_path / "model.json")
    for other in (model.with_prior(rate), given_first, back, weigh.load(tmp_path / "model.json")):
        np.testing.assert_allclose(other.decision_function(X), expected, rtol=1e-12, atol=1e-12)
        winner = expected > 0 if n_classes == 2 else expected.argmax(axis=1)
        np.testing.assert_array_equal(other.predict(X), winner.astype(int))


# ---------------------------------------------------------------- sheets


def check_sheet(model, row, pos_label=None, against=None):
    """Prior, items and rule lead to the total, and that to the probability."""
    sheet = model.balance_sheet(row, pos_label=pos_label, against=against)
    rule, items = sheet.attenuation, sum(item.weight for item in sheet.items)
    assert rule.before == pytest.approx(sheet.prior + items, rel=1e-12, abs=1e-12)
    if rule.form == "root":
        total = rule.exponent * (sheet.prior + items) + rule.shift
    else:
        total = sheet.prior + rule.exponent * items + rule.shift
    assert sheet.total == pytest.approx(total, rel=1e-9, abs=1e-12)
    return sheet


@LIGHT
@given(table=tables(), k=KS, form=st.sampled_from(["root", "geometric"]), shifted=st.booleans())
def test_prior_items_and_rule_lead_to_the_total_and_the_probability(table, k, form, shifted):
    X, y, weight = table
    model = PerplexedNB(attenuation=k, form=form, missing="skip").fit(X, y, weight)
    if shifted:
        model = model.with_prior(np.arange(1, y.max() + 2) / sum(range(y.max() + 2)))
    Z = more_rows(X)
    for i in (0, len(X), len(X) + 1):
        total, p = model.decision_function(Z[i : i + 1]), model.predict_proba(Z[i : i + 1])[0]
        sheet = check_sheet(model, Z.iloc[[i]], pos_label=1)
        assert sheet.total == pytest.approx(np.atleast_2d(total).T[min(1, y.max() - 1), 0])
        assert sheet.probability == pytest.approx(p[1], rel=1e-9)
        pair = check_sheet(model, Z.iloc[[i]], pos_label=1, against=0)
        assert pair.probability == pytest.approx(p[1] / (p[0] + p[1]), rel=1e-9)
        assert sheet.attenuation.n == sum(v is not None for v in Z.iloc[i])


def test_the_perplexity_is_that_of_equation_5():
    X, y, weight = draw_rows(7, 3)
    model = PerplexedNB(attenuation=2, missing="skip").fit(X, y, weight)
    _, shares = literal_tables(X, y, weight, 1.0, True)
    row = ["0", None, "1"]
    for c in range(3):
        p = [shares[0]["0"][c], shares[2]["1"][c]]
        sheet = check_sheet(model, dict(zip(X.columns, row, strict=True)), pos_label=c)
        assert sheet.attenuation.perplexity == pytest.approx((p[0] * p[1]) ** (-1 / 2))
        assert sheet.attenuation.exponent == pytest.approx(2 / 3)
    empty = check_sheet(model, dict.fromkeys(X.columns))
    assert (empty.attenuation.perplexity, empty.attenuation.n) == (None, 0)


def test_a_documents_sheet_shows_tokens_perplexity_exponent_and_total():
    words = ["cheap pills now", "meeting at noon", "cheap meeting", "pills pills noon"]
    counter = CountVectorizer().fit(words)
    X = counter.transform(words)
    model = PerplexedNB(event_model="counts", attenuation=2).fit(X, [1, 0, 0, 1])
    sheet = check_sheet(model, X[[3]])
    rule, text = sheet.attenuation, sheet.to_text()
    assert (rule.n, rule.unit, rule.exponent) == (3, "tokens", 0.5)
    pills, noon = (
        (3 + 1) / (6 + 6),
        (1 + 1) / (6 + 6),
    )  # of 6 tokens in class 1, 6 of them different
    expected = (pills**2 * noon) ** (-1 / 3)
    assert rule.perplexity == pytest.approx(expected)
    for line in ("Prior and weights", "Tokens observed", "Exponent", "Perplexity under 1"):
        assert line in text
        assert line in sheet._repr_html_()
    assert f"{expected:.4g}" in text
    assert "The exponent multiplies prior and weights" in text
    assert json.loads(json.dumps(sheet.to_dict()))["attenuation"]["n"] == 3


def test_where_n_is_fixed_the_sheet_is_an_ordinary_one():
    X, y, _ = draw_rows(7)
    model = PerplexedNB(attenuation=2).fit(X, y)
    sheet = model.balance_sheet(X.iloc[[0]])
    assert sheet.attenuation is None
    total = sheet.prior + sum(item.weight for item in sheet.items)
    assert total == pytest.approx(model.decision_function(X[:1])[0], rel=1e-12)
    assert "Exponent" not in sheet.to_text()


@pytest.mark.parametrize("form", ["root", "geometric"])
def test_the_interval_shrinks_with_the_exponent_and_says_what_it_leaves_out(form):
    X, y, _ = draw_rows(7, gaps=0)
    rule, table = (
        PerplexedNB(attenuation=1.5, form=form, missing=missing).fit(X, y)
        for missing in ("skip", "level")
    )
    one, two = (model.balance_sheet(X.iloc[[0]]) for model in (rule, table))
    assert one.interval == pytest.approx(two.interval, rel=1e-9)
    assert "leaves out the error of the exponent" in one.to_text()


def test_the_table_says_the_rule_below_it():
    X, y, _ = draw_rows(7)
    texts = {}
    for form in ("root", "geometric"):
        model = PerplexedNB(attenuation=1.5, form=form, missing="skip").fit(X, y)
        texts[form] = model.evidence_.to_text()
        assert "1.5/" in model.evidence_._repr_html_()
    assert "prior and weights are multiplied by min(1, 1.5/(n + 1))" in texts["root"]
    assert "but not the prior, are multiplied by min(1, 1.5/n)" in texts["geometric"]
    assert "base rate" in model.with_prior(0.1).evidence_.to_text()
    assert "multiplied" not in PerplexedNB(attenuation=1.5).fit(X, y).evidence_.to_text()


# ---------------------------------------------------------------- the arithmetic mean


def test_an_arithmetic_mean_has_no_table_and_says_who_has():
    X, y, _ = draw_rows(1)
    model = PerplexedNB(form="arithmetic").fit(X, y)
    for ask in (lambda: model.evidence_, lambda: model.balance_sheet(X.iloc[[0]])):
        with pytest.raises(AttributeError, match="form='root'"):
            ask()
    assert not hasattr(model, "evidence_")
    with pytest.raises(ValueError, match="form='root'"):
        model._learnt.to_frame()
    assert "form='root'" in str(model._learnt)
    assert (model.attenuation_, model.attenuation_path_) == (None, None)


# ---------------------------------------------------------------- files


def save(model, path):
    """Save, and return the data, which the schema accepts."""
    weigh.save(model, path)
    data = read_model(path)
    VALIDATOR.validate(data)
    return data


@every_pair(form=["root", "geometric", "arithmetic"], n_classes=[2, 3], missing=["level", "skip"])
def test_a_saved_model_gives_the_same_bits(tmp_path, form, n_classes, missing):
    X, y, weight = draw_rows(12, n_classes)
    X["number"] = np.random.default_rng(0).normal(size=len(y)) + y
    shared = {"form": form, "missing": missing, "crosses": [["f0", "f1"]], "random_state": 0}
    plain = PerplexedNB(**shared).fit(X, y, weight)
    for model in (plain, plain.with_prior([1 / n_classes] * n_classes)):
        data = save(model, tmp_path / "model.json")
        assert ("mean" in data) == (form == "arithmetic")
        again = weigh.load(tmp_path / "model.json")
        for table in (X, X.assign(f2=None)):
            np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
            np.testing.assert_array_equal(again.predict(table), model.predict(table))
        assert (again.attenuation_, again.get_params()) == (model.attenuation_, model.get_params())
        assert again.attenuation_path_ is None
        weigh.save(again, tmp_path / "again.json")
        assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()


@pytest.mark.parametrize("form", ["root", "geometric", "arithmetic"])
def test_a_saved_model_of_documents_gives_the_same_bits(tmp_path, form):
    X, y, _ = draw_documents(2, 3)
    model = PerplexedNB(form=form, event_model="counts", random_state=0).fit(sparse.csr_array(X), y)
    save(model, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(sparse.csr_array(X)), model.predict(X))


@pytest.fixture
def saved(tmp_path):
    X, y, _ = draw_rows(14, n_features=2)
    path = tmp_path / "model.json"
    return path, save(PerplexedNB(attenuation=2, missing="skip").fit(X, y), path)


WRONG = {
    "attenuation": [None, 3, [], {}],
    "k": [None, 0.5, "2", [], True],
    "form": [None, "arithmetic", "softmax"],
    "shift": [None, 0.0, [], ["a"], [None], [0.0, 0.0]],
}


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in WRONG.items() for value in values]
)
def test_a_malformed_rule_is_refused_by_the_reader_and_by_the_schema(saved, field, value):
    path, data = saved
    holder = data["evidence"] if field == "attenuation" else data["evidence"]["attenuation"]
    holder[field] = value
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=path.name):
        weigh.load(path)
    assert not VALIDATOR.is_valid(data)


@pytest.mark.parametrize("field", ["k", "form", "shift"])
def test_a_rule_that_lacks_a_field_is_refused(saved, field):
    path, data = saved
    del data["evidence"]["attenuation"][field]
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=field):
        weigh.load(path)
    assert not VALIDATOR.is_valid(data)


@pytest.mark.parametrize("mean", [None, 3, [], {}, {"naive": None}, {"naive": {}}])
def test_a_malformed_mean_is_refused_by_the_reader_and_by_the_schema(saved, mean):
    path, data = saved
    evidence = data.pop("evidence")
    attenuated = {"naive": evidence}
    for body in (mean, attenuated):
        data["mean"] = body
        path.write_text(json.dumps(data))
        with pytest.raises(ValueError, match=path.name):
            weigh.load(path)
        assert not VALIDATOR.is_valid(data)


def test_the_schema_describes_every_field_of_a_rule_and_of_a_mean():
    for name in ("attenuation", "mean"):
        part = SCHEMA["$defs"][name]
        conditional = part.get("then", {}).get("required", [])  # by the form of the rule
        assert sorted([*part["required"], *conditional]) == sorted(part["properties"])
        assert all(len(field["description"].split()) > 8 for field in part["properties"].values())


def literal_file(data, row):
    """The probabilities that the schema's words lead to, for levels without cuts."""
    evidence = data["evidence"]
    rule, sums, n = evidence["attenuation"], [0.0] * len(evidence["prior"]), 0
    for feature in evidence["features"]:
        value = row[feature["name"]]
        n += not (value is None and feature["skip_missing"])
        if value in feature["values"]:
            weights = feature["weights"][feature["values"].index(value)]
            sums = [a + b for a, b in zip(sums, weights, strict=True)]
    root = rule["form"] == "root"
    e = min(1, rule["k"] / (n + root)) if n + root else 1
    parts = zip(evidence["prior"], sums, rule["shift"], strict=True)
    totals = [e * (p + s) + c if root else p + e * s + c for p, s, c in parts]
    totals = totals if len(totals) > 1 else [0.0, *totals]
    return np.exp(totals) / np.exp(totals).sum()


@pytest.mark.parametrize("form", ["root", "geometric"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_file_alone_is_enough_to_score_by_the_rule(tmp_path, form, n_classes):
    X, y, _ = draw_rows(13, n_classes)
    model = PerplexedNB(form=form, attenuation=1.5, missing="skip").fit(X, y)
    model = model.with_prior([1 / n_classes] * n_classes)
    data = save(model, tmp_path / "model.json")
    Z = more_rows(X)
    rows = [dict(zip(Z.columns, row, strict=True)) for row in Z.to_numpy(dtype=object).tolist()]
    expected = [literal_file(data, row) for row in rows]
    np.testing.assert_allclose(model.predict_proba(Z), expected, rtol=1e-9)


# ---------------------------------------------------------------- the command line


def test_the_command_line_fits_what_python_fits_and_shows_the_rule(tmp_path):
    data, out = tmp_path / "people.csv", tmp_path / "model.json"
    options = ("--missing", "skip", "--set", "attenuation=flat")
    found = fit_titanic(data, out, "perplexed", *options)
    table = datasets.titanic()
    expected = PerplexedNB(missing="skip", attenuation="flat").fit(table, "Survived")
    np.testing.assert_array_equal(found.predict_proba(table), expected.predict_proba(table))
    shown = run("show", out).stdout
    assert f"min(1, {found.attenuation_:.4g}/(n + 1))" in " ".join(shown.splitlines()[-2:])
    assert "Exponent" in run("explain", out, data).stdout
    first = run("score", out, data).stdout.splitlines()[1].split(",")
    assert first[0].strip('"') == found.predict(table)[0]
    assert float(first[-1]) == pytest.approx(found.predict_proba(table)[0, 1], rel=1e-9)


def test_a_mean_is_shown_and_scored_and_says_what_it_lacks(tmp_path):
    data, out = tmp_path / "people.csv", tmp_path / "model.json"
    model = fit_titanic(data, out, "perplexed", "--set", "form=arithmetic")
    assert run("show", out).stdout.startswith("The arithmetic mean of the probabilities of 3 feat")
    first = run("score", out, data).stdout.splitlines()[1].split(",")
    p = model.predict_proba(datasets.titanic())[0]
    assert [float(cell) for cell in first[-2:]] == pytest.approx(p.tolist(), rel=1e-9)
    for words in (("explain", out, data), ("show", out, "--json")):
        result = run(*words)
        assert (result.exit_code, "form='root'" in result.stderr) == (1, True)


# ---------------------------------------------------------------- what all estimators share


def test_its_fit_is_no_sum_of_counts():
    assert not hasattr(PerplexedNB, "partial_fit")
    assert not hasattr(PerplexedNB, "merge")


def test_text_goes_through_a_pipeline():
    words = ["cheap pills now", "meeting at noon", "cheap cheap pills", "noon meeting"] * 5
    model = make_pipeline(CountVectorizer(), PerplexedNB(event_model="counts", random_state=0))
    assert model.fit(words, [1, 0, 1, 0] * 5).score(words, [1, 0, 1, 0] * 5) == 1


@every_pair(
    smoothing=[0, 1.0, "1/n"],
    missing=["level", "skip"],
    by=[2.0, "flat", "calibrated", "likelihood"],
)
def test_separable_constant_and_empty_columns_do_no_harm(smoothing, missing, by):
    y = np.arange(60) % 3
    X = pd.DataFrame({"tells": y.astype(str), "same": "x", "empty": np.full(60, np.nan)})
    X["number"] = np.where(np.arange(60) % 7, np.arange(60.0) + 20 * y, np.nan)
    for form in ("root", "geometric", "arithmetic"):
        model = PerplexedNB(smoothing=smoothing, missing=missing, attenuation=by, form=form)
        model.set_params(random_state=0).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        assert np.isfinite(model.decision_function(X)).all()
        assert model.score(X, y) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"attenuation": 0.5}, "attenuation .*at least 1, got 0.5"),
        ({"attenuation": math.inf}, "attenuation must be"),
        ({"attenuation": math.nan}, "attenuation must be"),
        ({"attenuation": "sharp"}, "attenuation must be .* got 'sharp'"),
        ({"attenuation": None}, "attenuation must be"),
        ({"attenuation": True}, "attenuation must be"),
        ({"attenuation": ["flat"]}, "attenuation must be"),
        ({"form": "mean"}, "form .*'mean'"),
        ({"form": None}, "form must be"),
        ({"form": ["root"]}, "form must be"),
        ({"n_bins": 1}, "n_bins .*at least 2, got 1"),
        ({"n_bins": 2.5}, "n_bins must be"),
        ({"n_bins": True}, "n_bins must be"),
        ({"cv": 1}, "cv must be at least 2 folds, or splits, got 1"),
        ({"cv": "five"}, "cv .*'five'"),
        ({"cv": 2.5}, "cv must be"),
        ({"event_model": "words"}, "event_model.*'words'"),
        ({"event_model": "counts", "crosses": [("f0", "f1")]}, "crosses"),
        ({"smoothing": -1}, "smoothing"),
        ({"class_prior": [0.5, 0.6]}, "class_prior"),
        ({"random_state": "seed"}, "seed"),
    ],
)
def test_a_bad_parameter_is_named_with_what_it_may_be(parameters, message):
    X, y, _ = draw_rows(0)
    with pytest.raises(ValueError, match=message):
        PerplexedNB(**parameters).fit(X, y)


@pytest.mark.parametrize("cell", [-1.0, np.nan, np.inf])
def test_counts_that_are_none_are_refused_with_their_place(cell):
    X, y, _ = draw_documents(0)
    X = X.astype(float)
    X[5, 2] = cell
    for table in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match="row 5 of column 'x2'"):
            PerplexedNB(event_model="counts").fit(table, y)


@pytest.mark.parametrize("seed", range(3))
def test_noise_does_not_look_like_signal_to_rows_held_out(seed):
    random = np.random.default_rng(seed)
    y, X = random.integers(0, 2, 100), random.normal(size=(100, 40))
    path = PerplexedNB(random_state=0).fit(X, y).attenuation_path_
    assert path.criterion.min() > 0.9


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_auto_is_the_form_of_the_lower_held_out_loss_and_a_file_keeps_it(share, tmp_path):
    random = np.random.default_rng(1)
    y = (random.random(600) < share).astype(int)
    told = (random.random((600, 3)) < np.where(y, 0.7, 0.3)[:, None]).astype(str)
    X = np.repeat(told, 3, axis=1)
    forms = {f: PerplexedNB(form=f, random_state=0).fit(X, y) for f in ("root", "geometric")}
    least = {form: model.attenuation_path_.criterion.min() for form, model in forms.items()}
    best = min(least, key=least.get)
    model = PerplexedNB(form="auto", random_state=0).fit(X, y)
    assert model.form_ == best
    np.testing.assert_array_equal(model.predict_proba(X), forms[best].predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), forms[best].predict(X))
    save(model, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json")
    assert again.form_ == best
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("by", [2.0, "flat", "calibrated"])
def test_where_no_loss_chooses_auto_is_the_papers_root(by):
    X, y, weight = draw_rows(3)
    model = PerplexedNB(attenuation=by, form="auto", random_state=0).fit(X, y, weight)
    assert model.form_ == "root"


def test_a_fitted_rule_is_the_fitted_one_whatever_the_parameter_says():
    X, y, weight = draw_rows(3)
    model = PerplexedNB(form="geometric", missing="skip", random_state=0).fit(X, y, weight)
    shifted = model.set_params(form="root").with_prior(0.3)
    assert (shifted.predict(X) == shifted.classes_[shifted.predict_proba(X).argmax(axis=1)]).all()
