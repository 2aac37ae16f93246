"""BoostedNB: the paper's AdaBoost row by row, its bound, the choice of rounds and of the scale."""

import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from tests.commands import fit_titanic, run
from tests.literal import count_shares, draw_rows, more_rows
from tests.model_files import SCHEMA, read_model
from tests.pairs import every_pair

import weigh
from weigh import BoostedNB, EvidenceNB, datasets, engine
from weigh.boosted import tuning
from weigh.folds import deal
from weigh.sheet import explain

LIGHT = settings(max_examples=25, deadline=None)
SEEDS = st.integers(0, 2**32 - 1)
SMOOTHINGS = st.sampled_from([0, 1.0, 0.1, "1/n"])
VALIDATOR = Draft202012Validator(SCHEMA)
draw_rows = partial(draw_rows, gaps=0.1, scales=[1.0, 0.3])
PlainNB = partial(BoostedNB, early_stopping=False, calibrate_scale=False)
PAPERS = ["pima_diabetes", "credit_approval_crx", "heart_cleveland", "breast_cancer_wisconsin"]


# ---------------------------------------------------------------- data


@st.composite
def tables(draw, n_classes=2):
    return draw_rows(
        draw(SEEDS),
        n_classes,
        n_rows=draw(st.integers(0, 25)),
        n_features=draw(st.integers(1, 4)),
        n_levels=draw(st.integers(1, 4)),
        gaps=draw(st.sampled_from([0, 0.2])),
    )


# ---------------------------------------------------------------- the paper, row by row


def literal_naive(X, y, weight, smoothing, skip=False):
    """Naive Bayes counted row by row: a function from a row to P(0|row) and P(1|row)."""
    rows = X.to_numpy(dtype=object).tolist()
    total = sum(weight)
    s = 1 / total if smoothing == "1/n" else smoothing
    mass = [sum(w for w, c in zip(weight, y, strict=True) if c == k) for k in (0, 1)]
    prior = [min(max(m / total, 1e-10), 1 - 1e-10) for m in mass]
    columns = zip(*rows, strict=True)
    tables = [count_shares(column, y, weight, s, 2, skip) for column in columns]

    def probabilities(row):
        logs = [math.log(p) for p in prior]
        for value, table in zip(row, tables, strict=True):
            if len(table) > 1 and value in table:
                logs = [a + math.log(p) for a, p in zip(logs, table[value], strict=True)]
        odds = logs[1] - logs[0]
        return float(expit(-odds)), float(expit(odds))

    return probabilities


def literal_boost(X, y, weight, n_rounds, smoothing, skip=False):
    """AdaBoost as printed. Returns models, errors and alphas; their weights sum to the same."""
    rows, total = X.to_numpy(dtype=object).tolist(), sum(weight)
    weight, models, errors, alphas = list(weight), [], [], []
    for _ in range(n_rounds):
        model = literal_naive(X, y, weight, smoothing, skip)
        missed = [model(row)[1 - c] for row, c in zip(rows, y, strict=True)]  # |y - h|
        eps = sum(w * m for w, m in zip(weight, missed, strict=True)) / total
        if eps >= 0.5 or eps < 1e-10:
            if not models:
                models, errors, alphas = [model], [eps], [1.0]
            break
        beta = eps / (1 - eps)
        models, errors = [*models, model], [*errors, eps]
        alphas = [*alphas, 0.5 * math.log(1 / beta)]
        weight = [w * beta ** (1 - m) for w, m in zip(weight, missed, strict=True)]
        weight = [w * total / sum(weight) for w in weight]
    return models, errors, alphas


def literal_sum(models, alphas, row):
    """The linearised log odds."""
    return sum(
        a * math.log(p[1] / p[0]) for a, p in zip(alphas, (m(row) for m in models), strict=True)
    )


def literal_vote(models, alphas, row):
    """AdaBoost's h(x), with beta = exp(-2 alpha)."""
    betas = [math.exp(-2 * alpha) for alpha in alphas]
    voices = [math.log(1 / beta) for beta in betas]
    r = sum(v * m(row)[1] for v, m in zip(voices, models, strict=True)) / sum(voices)
    product = 1.0
    for beta in betas:
        product *= beta ** (2 * r - 1)
    return 1 / (1 + product)


def assume_clear(errors):
    """Skip data whose rounding decides whether there is another round."""
    assume(all(abs(e - 0.5) > 1e-9 and abs(e - 1e-10) > 1e-14 for e in errors))


@LIGHT
@given(
    table=tables(),
    smoothing=SMOOTHINGS,
    n_rounds=st.integers(1, 6),
    missing=st.sampled_from(["level", "skip"]),
    weighted=st.booleans(),
)
def test_both_combinations_are_those_of_the_paper_row_by_row(
    table, smoothing, n_rounds, missing, weighted
):
    X, y, weight = table
    weight = weight if weighted else np.ones(len(y))
    # one round more than fitted, so that its error cannot be in doubt either
    models, errors, alphas = literal_boost(X, y, weight, n_rounds + 1, smoothing, missing == "skip")
    assume_clear(errors)
    models, errors, alphas = models[:n_rounds], errors[:n_rounds], alphas[:n_rounds]
    shared = {"smoothing": smoothing, "missing": missing, "n_rounds": n_rounds}
    fit = [PlainNB(combine=c, **shared).fit(X, y, weight) for c in ("evidence", "vote")]
    Z = more_rows(X)
    rows = Z.to_numpy(dtype=object).tolist()
    close = partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-10)
    close(fit[0].decision_function(Z), [literal_sum(models, alphas, row) for row in rows])
    close(fit[1].predict_proba(Z)[:, 1], [literal_vote(models, alphas, row) for row in rows])
    for model in fit:
        close(model.rounds_.errors, errors)
        close(model.rounds_.alphas, alphas)
        close(model.rounds_.betas, np.array(errors) / (1 - np.array(errors)))
        assert len(model.rounds_) == model.rounds_.chosen == len(models)


@LIGHT
@given(table=tables())
def test_quality_is_the_mean_probability_of_a_rows_own_class(table):
    X, y, weight = table
    models, _, alphas = literal_boost(X, y, weight, 4, 1.0)
    rounds = PlainNB(n_rounds=4).fit(X, y, weight).rounds_
    assume(len(rounds) == len(models))
    rows = X.to_numpy(dtype=object).tolist()
    own = [[m(row)[c] for row, c in zip(rows, y, strict=True)] for m in models]
    np.testing.assert_allclose(rounds.quality, np.average(own, axis=1, weights=weight), atol=1e-12)
    for t in range(len(models)):
        totals = [literal_sum(models[: t + 1], alphas[: t + 1], row) for row in rows]
        assert rounds.losses[t] == pytest.approx(loss(np.array(totals), y, weight), rel=1e-9)


def loss(totals, y, weight):
    """Mean loss in bits."""
    return np.average(np.logaddexp(0, np.where(y == 1, -totals, totals)), weights=weight) / np.log(
        2
    )


# ---------------------------------------------------------------- what must hold


@LIGHT
@given(table=tables(), smoothing=SMOOTHINGS)
def test_one_round_is_alpha_times_naive_bayes(table, smoothing):
    X, y, weight = table
    model = PlainNB(n_rounds=1, smoothing=smoothing).fit(X, y, weight)
    naive = EvidenceNB(smoothing=smoothing).fit(X, y, weight).decision_function(X)
    (alpha,) = model.rounds_.alphas
    np.testing.assert_allclose(model.decision_function(X), alpha * naive, rtol=1e-12, atol=1e-12)


@LIGHT
@given(table=tables(), n_rounds=st.integers(1, 8))
def test_the_tables_total_is_the_sum_over_rounds(table, n_rounds):
    X, y, weight = table
    model = BoostedNB(n_rounds=n_rounds, random_state=0, combine="vote").fit(X, y, weight)
    rounds, table = model._learnt, model._learnt.evidence
    features = [t.feature for t in table]
    read = model._read(X)
    total = 0.0
    for t, alpha in enumerate(rounds.alphas[0]):
        padded = [np.vstack([part[:, :, t], [[0.0]]]) for part in rounds.tables]
        total = total + alpha * engine.total(read, features, padded, rounds.priors[:, t])
    np.testing.assert_allclose(table.total(read), total, rtol=1e-12, atol=1e-12)


@LIGHT
@given(table=tables(), smoothing=SMOOTHINGS, n_rounds=st.integers(1, 12))
def test_the_votes_training_error_keeps_freund_and_schapires_bound(table, smoothing, n_rounds):
    X, y, weight = table
    model = PlainNB(combine="vote", n_rounds=n_rounds, smoothing=smoothing).fit(X, y, weight)
    eps = model.rounds_.errors
    assume(1e-10 <= eps[0] < 0.5)
    bound = 2 ** (len(eps) - 1) * np.prod(np.sqrt(eps * (1 - eps)))
    p = model.predict_proba(X)[np.arange(len(y)), y]
    assert np.average(1 - p, weights=weight) <= bound * (1 + 1e-9)
    missed = model.predict(X) != y
    assert np.average(missed, weights=weight) <= 2 * bound * (1 + 1e-9)


@LIGHT
@given(table=tables(), smoothing=SMOOTHINGS)
def test_after_each_round_the_votes_training_error_is_at_most_its_bound(table, smoothing):
    X, y, weight = table
    plain = PlainNB(combine="vote", n_rounds=6, smoothing=smoothing)
    bounds = plain.fit(X, y, weight).training_error_bound_
    assert (np.diff(bounds) <= 0).all()
    for t, bound in enumerate(bounds, start=1):
        model = plain.set_params(n_rounds=t).fit(X, y, weight)
        missed = np.average(model.predict(X) != y, weights=weight)
        assert missed <= bound * (1 + 1e-9)


def test_of_more_classes_there_is_a_bound_for_each_and_none_in_a_file(tmp_path):
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, (60, 2)), random.integers(0, 3, 60)
    model = PlainNB(n_rounds=3, categorical_features="all").fit(X, y)
    assert [len(each) for each in model.training_error_bound_] == [
        len(rounds) for rounds in model.rounds_
    ]
    weigh.save(model, tmp_path / "model.json")
    with pytest.raises(AttributeError, match="rounds"):
        _ = weigh.load(tmp_path / "model.json").training_error_bound_


def test_rows_misclassified_may_be_more_than_the_printed_constant_allows():
    X = np.array([[1, 0], [0, 0], [1, 1], [0, 1], [1, 0]])
    y = np.array([1, 0, 0, 1, 1])
    model = PlainNB(combine="vote", n_rounds=4, categorical_features="all").fit(X, y)
    eps = model.rounds_.errors
    assert len(eps) == 4
    printed = 2**3 * np.prod(np.sqrt(eps * (1 - eps)))
    assert printed < (model.predict(X) != y).mean() <= 2 * printed


@settings(max_examples=12, deadline=None)
@given(table=tables(), smoothing=st.sampled_from([0.5, 1.0]), factor=st.sampled_from([2.0, 10.0]))
def test_weights_mean_rows_so_twice_the_rows_with_twice_the_smoothing_change_nothing(
    table, smoothing, factor
):
    X, y, weight = table
    learner = partial(BoostedNB, n_rounds=6, random_state=0)
    once = learner(smoothing=smoothing).fit(X, y, weight)
    more = learner(smoothing=factor * smoothing).fit(X, y, factor * weight)
    assume(len(once.rounds_) == len(more.rounds_))
    np.testing.assert_allclose(more.rounds_.errors, once.rounds_.errors, rtol=1e-9)
    np.testing.assert_allclose(more.rounds_.held_out, once.rounds_.held_out, rtol=1e-6)
    if more.rounds_.chosen == once.rounds_.chosen:
        np.testing.assert_allclose(more.predict_proba(X), once.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("combine", ["evidence", "vote"])
@settings(max_examples=10, deadline=None)
@given(table=tables(n_classes=3))
def test_a_weight_of_two_is_a_row_given_twice(combine, table):
    X, y, _ = table
    times = np.random.default_rng(len(y)).integers(1, 4, len(y))
    fit = PlainNB(combine=combine, n_rounds=5).fit
    one, two = fit(X, y, times), fit(X.loc[X.index.repeat(times)], y.repeat(times))
    assume([*map(len, one.rounds_)] == [*map(len, two.rounds_)])
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("combine", ["evidence", "vote"])
@settings(max_examples=4, deadline=None)
@given(seed=SEEDS, n_classes=st.integers(3, 5))
def test_each_of_more_classes_is_boosted_against_the_rest(combine, seed, n_classes):
    X, y, weight = draw_rows(seed, n_classes)
    folds = deal(y, 5, np.random.RandomState(seed))
    learner = BoostedNB(combine=combine, n_rounds=4, cv=folds)
    model = clone(learner).fit(X, y, weight)
    totals = model.decision_function(X)
    for k in range(n_classes):
        two = clone(learner).fit(X, y == k, weight)
        np.testing.assert_allclose(totals[:, k], two.decision_function(X), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(model.rounds_[k].held_out, two.rounds_.held_out)
        assert model.rounds_[k].chosen == two.rounds_.chosen
        assert model.scale_[k] == two.scale_
    p = expit(totals)
    np.testing.assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True), rtol=1e-9)


# ---------------------------------------------------------------- when rounds end


def test_a_first_round_no_better_than_chance_is_the_model_with_alpha_one():
    X, y = pd.DataFrame({"same": ["x"] * 6}), np.array([0, 1] * 3)
    rounds = PlainNB().fit(X, y).rounds_
    assert (rounds.errors.tolist(), rounds.alphas.tolist(), len(rounds)) == ([0.5], [1.0], 1)


def test_a_first_round_without_error_is_the_model_with_alpha_one():
    y = np.arange(40) % 2
    X = np.column_stack([y] * 3).astype(str)
    model = PlainNB(smoothing=0).fit(X, y)
    naive = EvidenceNB(smoothing=0).fit(X, y)
    assert len(model.rounds_) == 1
    assert model.rounds_.errors[0] < 1e-10
    np.testing.assert_array_equal(model.decision_function(X), naive.decision_function(X))


def test_a_later_round_that_reaches_one_half_is_left_out():
    codes = np.array([[0, 2], [2, 0], [1, 2], [0, 2], [1, 2], [2, 1]])
    X, y = np.column_stack([codes] * 7), np.array([1, 0, 1, 0, 0, 0])
    fit = partial(PlainNB, smoothing=0, categorical_features="all")
    model = fit(n_rounds=200).fit(X, y)
    n = len(model.rounds_)
    assert 1 < n < 200
    assert (model.rounds_.errors < 0.5).all()
    same = fit(n_rounds=n).fit(X, y)
    np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))


def test_asked_for_more_rounds_the_first_ones_are_the_same():
    X, y, weight = draw_rows(5)
    few, many = (PlainNB(n_rounds=n).fit(X, y, weight).rounds_ for n in (3, 9))
    assert (len(few), len(many)) == (3, 9)
    np.testing.assert_array_equal(few.errors, many.errors[:3])
    np.testing.assert_array_equal(few.losses, many.losses[:3])


# ---------------------------------------------------------------- what is held out


def literal_held_out(X, y, weight, n_rounds, combine, seed):
    """The log odds of every row after each round of literal models that did not see it."""
    out = np.zeros((len(y), n_rounds))
    for train, held_out in deal(y, 5, np.random.RandomState(seed)):
        models, errors, alphas = literal_boost(X[train], y[train], weight[train], n_rounds, 1.0)
        assume_clear(errors)
        for i in np.flatnonzero(held_out):
            row = X.iloc[i].tolist()
            for t in range(n_rounds):
                n = min(t + 1, len(models))
                if combine == "evidence":
                    out[i, t] = literal_sum(models[:n], alphas[:n], row)
                else:
                    out[i, t] = logit(literal_vote(models[:n], alphas[:n], row))
    return out


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS, combine=st.sampled_from(["evidence", "vote"]), scaled=st.booleans())
def test_rounds_and_scale_have_the_least_loss_of_rows_held_out(seed, combine, scaled):
    X, y, weight = draw_rows(seed, n_rows=30)
    model = BoostedNB(combine=combine, n_rounds=4, calibrate_scale=scaled, random_state=seed)
    rounds = model.fit(X, y, weight).rounds_
    totals = literal_held_out(X, y, weight, len(rounds), combine, seed)
    if not (scaled and combine == "evidence"):
        expected = [loss(column, y, weight) for column in totals.T]
        np.testing.assert_allclose(rounds.held_out, expected, rtol=1e-9)
        assert model.scale_ == 1
    else:
        for found, column in zip(rounds.held_out, totals.T, strict=True):
            scaled_by = best_scale(column, y, weight)
            assert found == pytest.approx(loss(scaled_by * column, y, weight), rel=1e-5)
        kept = totals[:, rounds.chosen - 1]
        assert model.scale_ == pytest.approx(best_scale(kept, y, weight), rel=1e-4)
    assert rounds.chosen == rounds.held_out.argmin() + 1


def best_scale(totals, y, weight):
    """The least loss on a fine grid, one more row being half of each class, of typical total."""
    size = np.sqrt(weight @ totals**2 / weight.sum())

    def penalised(log_scale):
        c = np.exp(log_scale)
        both = np.logaddexp(0, c * size) + np.logaddexp(0, -c * size)
        return loss(c * totals, y, weight) * len(y) + both / 2 / np.log(2)

    low, high = np.log(tuning.MIN_SCALE), np.log(tuning.MAX_SCALE)
    for _ in range(60):  # ternary search: the loss has one minimum
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, two) if penalised(one) <= penalised(two) else (one, high)
    return float(np.exp((low + high) / 2))


def test_the_scale_multiplies_the_total_and_nothing_else():
    X, y, weight = draw_rows(4)
    scaled = BoostedNB(early_stopping=False, random_state=0).fit(X, y, weight)
    plain = PlainNB().fit(X, y, weight)
    assert scaled.scale_ != 1
    expected = scaled.scale_ * plain.decision_function(X)
    np.testing.assert_allclose(scaled.decision_function(X), expected, rtol=1e-12, atol=1e-12)
    assert plain.scale_ == 1
    assert np.isnan(plain.rounds_.held_out).all()


@pytest.mark.parametrize("combine", ["evidence", "vote"])
def test_the_model_is_that_of_the_rounds_chosen(combine):
    X, y, weight = draw_rows(8, n_features=6, n_levels=2)
    model = BoostedNB(combine=combine, random_state=0).fit(X, y, weight)
    assert 1 <= model.rounds_.chosen < len(model.rounds_) == 10
    few = BoostedNB(combine=combine, n_rounds=model.rounds_.chosen, random_state=0)
    few = few.fit(X, y, weight)
    np.testing.assert_array_equal(few.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("combine", ["evidence", "vote"])
def test_the_model_is_the_same_again_for_a_random_state(combine):
    X, y, _ = draw_rows(6)
    fits = [
        BoostedNB(combine=combine, random_state=seed).fit(X, y)
        for seed in (0, 0, np.random.RandomState(0), 1)
    ]
    for model in fits[1:3]:
        np.testing.assert_array_equal(model.predict_proba(X), fits[0].predict_proba(X))
        np.testing.assert_array_equal(model.rounds_.held_out, fits[0].rounds_.held_out)
    assert fits[3].rounds_.held_out.tolist() != fits[0].rounds_.held_out.tolist()


# ---------------------------------------------------------------- vote and table


def test_the_diagnostic_is_the_cubic_term_beside_the_linear_one():
    X, y, weight = draw_rows(7)
    model = PlainNB(combine="vote", n_rounds=3).fit(X, y, weight)
    models, _, alphas = literal_boost(X, y, weight, 3, 1.0)
    rows = X.to_numpy(dtype=object).tolist()
    odds = np.array([[math.log(p[1] / p[0]) for p in (m(row) for m in models)] for row in rows])
    cubic, sums = (odds**3) @ alphas / 12, odds @ alphas
    expected = np.average(np.abs(cubic), weights=weight) / np.average(np.abs(sums), weights=weight)
    assert model.cubic_ == pytest.approx(expected, rel=1e-10)
    same = (sums > 0) == ([literal_vote(models, alphas, row) > 0.5 for row in rows])
    assert model.agreement_ == pytest.approx(np.average(same, weights=weight), rel=1e-12)


def test_where_rounds_say_little_the_table_is_the_vote_up_to_the_cubic_term():
    X, y, weight = draw_rows(2, n_levels=2, gaps=0)
    table, vote = (
        PlainNB(combine=c, n_rounds=3, smoothing=2000.0).fit(X, y, weight)
        for c in ("evidence", "vote")
    )
    a, b = table.decision_function(X), vote.decision_function(X)
    assert 0 < table.cubic_ < 0.05
    assert 0 < np.abs(a - b).mean() < 1.01 * table.cubic_ * np.abs(a).mean()


@pytest.mark.parametrize("name", PAPERS)
def test_vote_and_table_decide_alike_on_the_papers_data(papers_data, name):
    frame = datasets.load(name).to_pandas()
    y = frame.pop("class")
    train, test, y_train, _ = train_test_split(frame, y, test_size=1 / 3, random_state=0)
    table, vote = (PlainNB(combine=c).fit(train, y_train) for c in ("evidence", "vote"))
    assert (table.predict(test) == vote.predict(test)).mean() >= 0.98


def test_a_vote_has_no_table_and_says_who_has(tmp_path):
    X, y, _ = draw_rows(1)
    model = BoostedNB(combine="vote", random_state=0).fit(X, y)
    for ask in (lambda: model.evidence_, lambda: model.balance_sheet(X.iloc[[0]])):
        with pytest.raises(AttributeError, match="combine='evidence'"):
            ask()
    assert not hasattr(model, "evidence_")
    with pytest.raises(ValueError, match="combine='evidence'"):
        model._learnt.to_frame()
    assert "combine='evidence'" in str(model._learnt)


@pytest.mark.parametrize("combine", ["evidence", "vote"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_another_prior_is_added_after_the_scale(combine, n_classes):
    X, y, _ = draw_rows(3, n_classes)
    rate = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    model = BoostedNB(combine=combine, random_state=0).fit(X, y)
    change = logit(rate) - logit(np.bincount(y) / len(y))
    change = change[1] if n_classes == 2 else change
    expected = model.decision_function(X) + change
    given_first = BoostedNB(combine=combine, class_prior=rate.tolist(), random_state=0).fit(X, y)
    back = model.with_prior([1 / n_classes] * n_classes).with_prior(rate)
    for other in (model.with_prior(rate), given_first, back):
        np.testing.assert_allclose(other.decision_function(X), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(given_first.scale_, model.scale_)


def test_a_sheet_adds_up_to_the_total_and_invents_no_error():
    X, y, _ = draw_rows(9)
    model = BoostedNB(random_state=0).fit(X, y)
    sheet = model.balance_sheet(X.iloc[[0]])
    weights = [sheet.prior, *(item.weight for item in sheet.items)]
    assert sum(weights) == pytest.approx(model.decision_function(X[:1])[0], rel=1e-12)
    assert sheet.probability == pytest.approx(model.predict_proba(X[:1])[0, 1], rel=1e-12)
    assert sheet.interval is None
    assert all(table.errors is None for table in model.evidence_)
    X, y, _ = draw_rows(9, n_classes=3)
    with pytest.raises(ValueError, match="against"):
        BoostedNB(random_state=0).fit(X, y).balance_sheet(X.iloc[[0]], pos_label=0, against=2)


def test_crossed_columns_learn_what_neither_tells():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (200, 3)).astype(str), columns=[*"abc"])
    y = (X["a"] == X["b"]).to_numpy().astype(int)
    for combine in ("evidence", "vote"):
        crossed = BoostedNB(crosses=[("a", "b")], combine=combine, random_state=0).fit(X, y)
        assert crossed.score(X, y) == 1
        assert BoostedNB(combine=combine, random_state=0).fit(X, y).score(X, y) < 0.8


# ---------------------------------------------------------------- hard data


def draw_hard(n_classes):
    """Separable, constant, all missing, numeric with gaps, and one row of a level."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % n_classes
    frame = pd.DataFrame(
        {
            "tells": y.astype(str),
            "same": "x",
            "empty": np.full(60, np.nan),
            "number": rng.normal(size=60) + y,
            "rare": ["one"] + ["other"] * 59,
        }
    )
    frame.loc[::7, "number"] = np.nan
    return frame, y


@every_pair(
    smoothing=[0, 1.0, "1/n"],
    n_classes=[2, 4],
    missing=["level", "skip"],
    combine=["evidence", "vote"],
)
def test_separable_constant_and_empty_columns_do_no_harm(smoothing, n_classes, missing, combine):
    X, y = draw_hard(n_classes)
    shared = {"smoothing": smoothing, "missing": missing, "combine": combine}
    for model in (BoostedNB(random_state=0, n_rounds=8, **shared), PlainNB(n_rounds=4, **shared)):
        model.fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        assert model.score(X, y) == 1
        assert np.isfinite([model.agreement_, model.cubic_, *np.atleast_1d(model.scale_)]).all()
        if combine == "evidence":
            sheet = model.balance_sheet(X.iloc[[1]], pos_label=1)
            total = sheet.prior + sum(item.weight for item in sheet.items)
            expected = model.decision_function(X[1:2]).ravel()[min(n_classes - 2, 1)]
            assert total == pytest.approx(expected, rel=1e-12)
            assert not model.evidence_["same"].by_class.any()
            assert not model.evidence_["empty"].by_class.any()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("combine", ["evidence", "vote"])
def test_a_class_of_one_row_cannot_be_held_out_and_the_warning_says_so(combine, n_classes):
    y = np.r_[n_classes - 1, np.arange(60) % (n_classes - 1)]
    X = pd.DataFrame({"a": np.arange(61) % 5, "b": np.arange(61) % 3}).astype(str)
    with pytest.warns(UserWarning, match="a class has only one row, so no rows can be held out"):
        model = BoostedNB(combine=combine, random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    plain = PlainNB(combine=combine).fit(X, y)
    last, same = (m.decision_function(X).reshape(61, -1)[:, -1] for m in (model, plain))
    np.testing.assert_array_equal(last, same)


def test_two_rows_are_enough():
    model = PlainNB().fit([["a"], ["b"]], ["no", "yes"])
    assert model.predict([["a"], ["b"]]).tolist() == ["no", "yes"]
    with pytest.warns(UserWarning, match="one row"):
        BoostedNB().fit([["a"], ["b"]], ["no", "yes"])


def test_a_hundred_rounds_stay_finite():
    X, y, weight = draw_rows(11, n_features=4)
    model = PlainNB(n_rounds=100, smoothing=0).fit(X, y, weight)
    assert len(model.rounds_) > 10
    assert np.isfinite(model.decision_function(X)).all()


# ---------------------------------------------------------------- files


def save(model, path):
    """Save, and return the data, which the schema accepts."""
    weigh.save(model, path)
    data = read_model(path)
    VALIDATOR.validate(data)
    return data


@every_pair(combine=["evidence", "vote"], n_classes=[2, 3], prior=[False, True])
def test_a_saved_model_gives_the_same_bits(tmp_path, combine, n_classes, prior):
    X, y, weight = draw_rows(12, n_classes)
    X["number"] = np.random.default_rng(0).normal(size=len(y)) + y
    model = BoostedNB(combine=combine, crosses=[["f0", "f1"]], random_state=0).fit(X, y, weight)
    if prior:
        model = model.with_prior([1 / n_classes] * n_classes)
    data = save(model, tmp_path / "model.json")
    assert ("vote" in data, "evidence" in data) == (combine == "vote", combine == "evidence")
    again = weigh.load(tmp_path / "model.json")
    Z = X.assign(f2=None)
    for table in (X, Z):
        np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
        np.testing.assert_array_equal(
            again.decision_function(table), model.decision_function(table)
        )
    np.testing.assert_array_equal(again.scale_, model.scale_)
    assert (again.agreement_, again.cubic_) == (model.agreement_, model.cubic_)
    assert again.get_params() == model.get_params()
    assert again.rounds_ is None
    weigh.save(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()
    change = again.with_prior(np.arange(1, n_classes + 1) / sum(range(n_classes + 1)))
    np.testing.assert_allclose(change.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_file_alone_is_enough_to_score_a_vote(tmp_path, n_classes):
    X, y, _ = draw_rows(13, n_classes)
    model = (
        BoostedNB(combine="vote", random_state=0).fit(X, y).with_prior([1 / n_classes] * n_classes)
    )
    vote = save(model, tmp_path / "model.json")["vote"]
    Z = more_rows(X)
    for row, expected in zip(Z.to_dict("records"), model.predict_proba(Z), strict=True):
        totals = list(vote["shift"])
        for k, alphas in enumerate(vote["alphas"]):
            for t, alpha in enumerate(alphas):
                odds = vote["priors"][k][t]
                pairs = zip(vote["linear"]["features"], vote["tables"], strict=True)
                for feature, table in pairs:
                    levels = [*feature["values"], *([None] if feature["has_missing"] else [])]
                    value = row[feature["name"]]
                    odds += table[levels.index(value)][k][t] if value in levels else 0
                totals[k] += 2 * alpha * math.tanh(odds / 2)
        p = expit(totals)
        p = [1 - p[0], p[0]] if n_classes == 2 else p / p.sum()
        np.testing.assert_allclose(p, expected, rtol=1e-9)


WRONG = {
    "vote": [None, 3, [], {}],
    "linear": [None, 3, {}],
    "alphas": [None, 3, [], [[]], [["a"]], [[None]], [[-1.0, 1.0]], [1.0]],
    "priors": [None, [], [[]], [["a"]], [[None]], [0.0]],
    "tables": [None, 3, [], [[[]]], [[["a"]]], {}],
    "shift": [None, 3, [], ["a"], [None], 0.0],
}


@pytest.fixture
def saved(tmp_path):
    X, y, _ = draw_rows(14, n_features=2)
    path = tmp_path / "vote.json"
    return path, save(PlainNB(combine="vote", n_rounds=2).fit(X, y), path)


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in WRONG.items() for value in values]
)
def test_a_malformed_vote_is_refused_by_the_reader_and_by_the_schema(saved, field, value):
    path, data = saved
    holder = data if field == "vote" else data["vote"]
    holder[field] = value
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=path.name):
        weigh.load(path)
    assert not VALIDATOR.is_valid(data)


@pytest.mark.parametrize("field", ["linear", "alphas", "priors", "tables", "shift"])
def test_a_vote_that_lacks_a_field_is_refused(saved, field):
    path, data = saved
    del data["vote"][field]
    assert not VALIDATOR.is_valid(data)
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=field):
        weigh.load(path)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("alphas", lambda a: [a[0][:1]]),
        ("alphas", lambda a: a * 2),
        ("shift", lambda a: a * 2),
        ("priors", lambda a: [a[0][:1]]),
        ("priors", lambda a: a * 2),
        ("tables", lambda a: a[:1]),
        ("tables", lambda a: [a[0][:1], *a[1:]]),
        ("tables", lambda a: [[[row[0][:1]] for row in a[0]], *a[1:]]),
    ],
)
def test_parts_of_a_vote_that_do_not_fit_each_other_are_refused(saved, field, change):
    path, data = saved
    data["vote"][field] = change(data["vote"][field])
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=path.name):
        weigh.load(path)


def test_a_file_with_a_vote_and_evidence_is_refused(saved):
    path, data = saved
    path.write_text(json.dumps(data | {"evidence": data["vote"]["linear"]}))
    with pytest.raises(ValueError, match="must hold one of"):
        weigh.load(path)


def test_a_vote_of_documents_or_of_joint_totals_is_refused(saved, tmp_path):
    path, data = saved
    wrong = json.loads(json.dumps(data))
    wrong["vote"]["linear"]["event_model"] = "counts"
    X, y, _ = draw_rows(14, n_classes=3)
    many = save(PlainNB(combine="vote", n_rounds=2).fit(X, y), tmp_path / "many.json")
    many["vote"]["linear"]["link"] = "softmax"
    for data, words in ((wrong, "counts"), (many, "ovr")):
        assert not VALIDATOR.is_valid(data)
        path.write_text(json.dumps(data))
        with pytest.raises(ValueError, match=words):
            weigh.load(path)


def test_the_schema_describes_every_field_of_a_vote():
    part = SCHEMA["$defs"]["vote"]
    assert sorted(part["required"]) == sorted(part["properties"])
    assert all(len(field["description"].split()) > 8 for field in part["properties"].values())


# ---------------------------------------------------------------- the command line


def test_the_command_line_fits_what_python_fits(tmp_path):
    data, out = tmp_path / "people.csv", tmp_path / "model.json"
    found = fit_titanic(data, out, "boosted", "--set", "random_state=0", "--set", "n_rounds=5")
    expected = BoostedNB(n_rounds=5, random_state=0).fit(datasets.titanic(), "Survived")
    table = datasets.titanic()
    np.testing.assert_array_equal(found.predict_proba(table), expected.predict_proba(table))
    assert "Weights of evidence for Yes" in run("show", out).stdout
    assert "Total weight of evidence" in run("explain", out, data).stdout


def test_a_vote_is_shown_and_scored_and_says_what_it_lacks(tmp_path):
    data, out = tmp_path / "people.csv", tmp_path / "model.json"
    model = fit_titanic(data, out, "boosted", "--set", "combine=vote", "--set", "n_rounds=3")
    shown = run("show", out)
    assert shown.exit_code == 0
    assert shown.stdout.startswith("A vote of 3 rounds of naive Bayes.")
    for alpha in model._learnt.alphas[0]:
        assert f"{alpha:.3f}" in shown.stdout
    scores = run("score", out, data)
    assert scores.exit_code == 0, scores.output
    first = scores.stdout.splitlines()[1].split(",")
    p = model.predict_proba(datasets.titanic())[0]
    assert [float(cell) for cell in first[-2:]] == pytest.approx(p.tolist(), rel=1e-9)
    for words in (("explain", out, data), ("show", out, "--json")):
        result = run(*words)
        assert result.exit_code == 1
        assert "combine='evidence'" in result.stderr
    result = run("show", out, "--feature", "Sex")
    assert (result.exit_code, result.stderr.startswith("error: --feature")) == (1, True)


# ---------------------------------------------------------------- what all estimators share


def test_numbers_are_cut_once_before_the_first_round():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    X = (rng.normal(size=(300, 2)) + y[:, None]).round(2)
    naive = EvidenceNB().fit(X, y).evidence_
    model = BoostedNB(random_state=0).fit(X, y)
    assert [t.feature for t in model.evidence_] == [t.feature for t in naive]
    for mine, plain in zip(model.evidence_, naive, strict=True):
        np.testing.assert_array_equal(mine.counts, plain.counts)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_rounds": 0}, "n_rounds .*above 0, got 0"),
        ({"n_rounds": True}, "n_rounds .*got True"),
        ({"n_rounds": 2.5}, "n_rounds .*got 2.5"),
        ({"n_rounds": "ten"}, "n_rounds must be"),
        ({"combine": "sum"}, "combine must be 'evidence' or 'vote', got 'sum'"),
        ({"combine": None}, "combine must be"),
        ({"combine": ["vote"]}, "combine must be"),
        ({"early_stopping": "yes"}, "early_stopping .*got 'yes'"),
        ({"early_stopping": 1}, "early_stopping .*got 1"),
        ({"early_stopping": None}, "early_stopping must be"),
        ({"calibrate_scale": 0.5}, "calibrate_scale .*got 0.5"),
        ({"random_state": "seed"}, "seed"),
        ({"smoothing": -1}, "smoothing"),
        ({"class_prior": [0.5, 0.6]}, "class_prior"),
        ({"crosses": ["f0"]}, "crosses"),
    ],
)
def test_a_bad_parameter_is_named_with_what_it_may_be(parameters, message):
    X, y, _ = draw_rows(0)
    with pytest.raises(ValueError, match=message):
        BoostedNB(**parameters).fit(X, y)


@pytest.mark.parametrize("n", [10, 40, 200])
def test_separable_rows_do_not_make_the_scale_run_away(n):
    y = np.arange(n) % 2
    X = np.array(["a", "b"])[y][:, None]
    model = BoostedNB(random_state=0).fit(X, y)
    assert model.scale_ < 9
    assert 0 < model.decision_function([["b"]])[0] < 60


@pytest.mark.parametrize("seed", range(3))
def test_noise_does_not_look_like_signal_to_rows_held_out(seed):
    random = np.random.default_rng(seed)
    y, X = random.integers(0, 2, 80), random.normal(size=(80, 100))
    assert BoostedNB(random_state=0, n_rounds=3).fit(X, y).rounds_.held_out.min() > 0.9


# ---------------------------------------------------------------- the paper's knee


def test_the_sheet_of_the_papers_knee_example_adds_up_as_printed():
    """Its printed weights give +317, -122, +195 and 88% (Ridgeway et al. 1998, the example)."""
    case = {
        "sex": ("female", 8),
        "knee unstable": ("yes", 88),
        "knee locks": ("yes", 172),
        "tender med JL": ("yes", 49),
        "age": ("50", -12),
        "effusion": ("no", -62),
        "McMurray's": ("negative", -38),
    }
    row = {name: level for name, (level, _) in case.items()}
    rows = [row, dict.fromkeys(row, "other")] * 2
    naive = EvidenceNB().fit(rows, [0, 0, 1, 1]).evidence_
    tables = []
    for table in naive:
        level, weight = case[table.name]
        own = np.where(np.array(table.levels, dtype=object) == level, weight / 100, 0.0)
        tables.append(replace(table, by_class=own[:, None]))
    knee = replace(naive, prior=-0.10, tables=tuple(tables))
    sheet = explain(knee, knee.read([row]), None, None)
    weights = [100 * item.weight for item in sheet.items] + [100 * sheet.prior]
    assert sum(w for w in weights if w > 0) == pytest.approx(317)
    assert sum(w for w in weights if w < 0) == pytest.approx(-122)
    assert 100 * sheet.total == pytest.approx(195)
    assert round(100 * sheet.probability) == 88
    text = sheet.to_text()
    assert all(total in text for total in ("+317", "-122", "+195", "0.88"))
