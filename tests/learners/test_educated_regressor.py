"""EducatedRegressor: closed forms, limits, sheets that add up, intervals that cover."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pyarrow import csv
from scipy.stats import t as student
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor
from sklearn.metrics import r2_score
from tests.commands import run

import weigh
from weigh import EducatedRegressor, engine
from weigh.cli import main
from weigh.educated.intervals import (
    GRID,
    BlankFactors,
    CountDistribution,
    error_interval,
    law_interval,
    weigh_quantiles,
    widen_tails,
)
from weigh.educated.numbers import NumberTarget
from weigh.educated.prior import curve
from weigh.educated.solve import find_weights, state_at
from weigh.educated.task import Task, problem_of
from weigh.errors import ParameterError
from weigh.formula import Formula
from weigh.frames import number_sample, read
from weigh.newton.regression import GAMMA, POISSON, Power
from weigh.serving.contract import describe
from weigh.serving.loaded import Served
from weigh.serving.requests import RequestedRows
from weigh.sheet import EstimateSheet

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "model.schema.json").read_text())
CUTS = [-1.0, -0.4, 0.2, 0.9]


def draw(n=120, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame({"x": random.normal(size=n), "kind": random.choice([*"abcd"], n)})
    y = 50 + 8 * np.sin(X["x"]) + 3 * (X["kind"] == "b") + random.normal(0, 2, n)
    return X, y.to_numpy().copy()


def one_hot(X):
    """The intercept, the intervals of x and the kinds, as columns."""
    places = np.searchsorted(CUTS, X["x"])
    kinds = np.searchsorted([*"abcd"], X["kind"])
    return np.column_stack([np.ones(len(X)), np.eye(5)[places], np.eye(4)[kinds]])


def penalty(model):
    """The precision of all weights, that of the intercept being zero; in the target's unit."""
    S = np.zeros((10, 10))
    S[1:6, 1:6] = model.scales_[0] * curve(model.evidence_["x"].counts[:5].sum(axis=1), CUTS)
    S[6:, 6:] = model.scales_[1] * np.eye(4)
    return S


def fitted(X, y, **parameters):
    return EducatedRegressor(bins={"x": CUTS}, pairs=0, **parameters).fit(X, y)


def test_a_gaussian_fit_is_the_dense_closed_form():
    X, y = draw()
    model, D = fitted(X, y), one_hot(X)
    H = D.T @ D / model.dispersion_ + penalty(model)
    literal = D @ np.linalg.lstsq(H, D.T @ y / model.dispersion_, rcond=None)[0]
    np.testing.assert_allclose(model.predict(X), literal, rtol=1e-9)


def test_the_noise_is_what_is_left_over_the_rows_that_weights_leave():
    X, y = draw()
    model, D = fitted(X, y), one_hot(X)
    V = np.linalg.pinv(D.T @ D / model.dispersion_ + penalty(model))
    used = np.trace(V @ D.T @ D) / model.dispersion_
    left = ((y - model.predict(X)) ** 2).sum() / (len(y) - used)
    assert model.dispersion_ == pytest.approx(left, rel=0.01)


def test_leave_one_out_is_what_leaving_out_each_row_gives():
    X, y = draw(60)
    model, D = fitted(X, y), one_hot(X)
    errors = []
    for i in range(len(y)):
        rest, told = np.delete(D, i, 0), np.delete(y, i)
        H = rest.T @ rest / model.dispersion_ + penalty(model)
        weights = np.linalg.lstsq(H, rest.T @ told / model.dispersion_, rcond=None)[0]
        errors.append(y[i] - D[i] @ weights)
    assert model.loo_deviance_ == pytest.approx(np.mean(np.square(errors)), rel=1e-8)


def test_the_error_of_the_mean_is_that_of_the_closed_form():
    X, y = draw()
    model, D = fitted(X, y), one_hot(X)
    V = np.linalg.pinv(D.T @ D / model.dispersion_ + penalty(model))
    # the mean of the walk is held, which changes no estimate but its covariance is of all weights
    literal = np.sqrt(np.einsum("ij,jk,ik->i", D, V, D))
    np.testing.assert_allclose(model.predict_error(X), literal, rtol=1e-3)


def test_an_affine_change_of_the_target_changes_estimates_alike():
    X, y = draw()
    once, other = fitted(X, y), fitted(X, 1e6 - 300 * y)
    np.testing.assert_allclose(other.predict(X), 1e6 - 300 * once.predict(X), rtol=1e-9)
    ends = 1e6 - 300 * once.predict_interval(X)[:, ::-1]
    np.testing.assert_allclose(other.predict_interval(X), ends, rtol=1e-6)


@pytest.mark.parametrize(
    ("family", "rival"),
    [
        (POISSON, PoissonRegressor(alpha=0, tol=1e-12, max_iter=5000)),
        (GAMMA, GammaRegressor(alpha=0, tol=1e-12, max_iter=5000)),
        (Power(1.4), TweedieRegressor(power=1.4, alpha=0, link="log", tol=1e-12, max_iter=5000)),
    ],
)
def test_without_a_penalty_a_fit_is_the_generalised_linear_model(family, rival):
    random = np.random.default_rng(1)
    X = pd.DataFrame({"a": random.choice([*"uvw"], 400), "b": random.choice([*"pq"], 400)})
    mean = np.exp(0.4 + 0.5 * (X["a"] == "v") - 0.3 * (X["b"] == "q"))
    y = random.poisson(mean) + (0.5 if family.power > 1 else 0.0)
    sample, numbers = number_sample(read(X), y)
    tally = EducatedRegressor()._tally(sample)
    rows = engine.CodedRows.of(
        engine.place(sample.table, [counts.feature for counts in tally.tables]), numbers
    )
    problem = problem_of(Task(rows, tally.tables, NumberTarget(family, y.mean(), len(y))))
    start = np.zeros((problem.n_weights, 1))
    start[0] = np.log(y.mean())
    state = find_weights(state_at(problem, start, np.full(2, 1e-9)), 1e-13)
    view = problem.view(state.weights)
    totals = view.design.totals(view.design.place(problem.block), state.weights)[:, 0]
    hot = pd.get_dummies(X).astype(float).drop(columns=["a_u", "b_p"])
    np.testing.assert_allclose(np.exp(totals), rival.fit(hot, y).predict(hot), rtol=1e-6)


def reweighted_least_squares(D, y, power, offset):
    """The generalised linear model with a log link as printed: a least-squares fit at a time."""
    weights = np.zeros(D.shape[1])
    weights[0] = np.log(y.mean()) - offset.mean()
    for _ in range(100):
        mean = np.exp(D @ weights + offset)
        root = np.sqrt(mean ** (2 - power))
        working = D @ weights + (y - mean) / mean
        new = np.linalg.lstsq(root[:, None] * D, root * working, rcond=None)[0]
        if np.abs(D @ (new - weights)).max() < 1e-13:
            return np.exp(D @ new + offset)
        weights = new
    raise AssertionError("no convergence")


HEAVY = 1e7
"""Weight of each row beside which the penalty vanishes."""


@pytest.mark.parametrize(("family", "power"), [("poisson", 1.0), ("gamma", 2.0), ("tweedie", 1.5)])
def test_with_heavy_rows_a_fit_is_the_generalised_linear_model_of_its_levels(family, power):
    X, _ = draw(500, seed=4)
    random = np.random.default_rng(4)
    years = random.uniform(0.2, 3.0, 500)
    mean = years * np.exp(0.3 + np.sin(X["x"]) + 0.4 * (X["kind"] == "b")).to_numpy()
    y = random.gamma(2.0, mean / 2) if family == "gamma" else random.poisson(mean).astype(float)
    own = {"power": power} if family == "tweedie" else {}
    model = EducatedRegressor(family=family, bins={"x": CUTS}, pairs=0, **own)
    light = model.fit(X, y, exposure=years).predict(X, exposure=years)
    model.fit(X, y, np.full(500, HEAVY), exposure=years)
    expected = reweighted_least_squares(one_hot(X), y, power, np.log(years))
    np.testing.assert_allclose(model.predict(X, exposure=years), expected, rtol=1e-7)
    assert np.abs(light / expected - 1).max() > 1e-3  # which is what the penalty does


def test_with_heavy_rows_a_gaussian_fit_is_least_squares():
    X, y = draw()
    model = EducatedRegressor(bins={"x": CUTS}, pairs=0).fit(X, y, np.full(len(y), HEAVY))
    expected = one_hot(X) @ np.linalg.lstsq(one_hot(X), y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-8)


def test_a_log_transformed_target_is_taken_and_its_bias_is_the_one_that_is_stated():
    """The exponential of the mean of log(y) is below the mean of y by exp(variance/2)."""
    random, n = np.random.default_rng(12), 20_000
    X = pd.DataFrame({"kind": random.choice([*"abc"], n)})
    y = np.exp(X["kind"].map({"a": 0.0, "b": 1.0, "c": 2.0}) + random.normal(0, 0.8, n))
    logs = TransformedTargetRegressor(EducatedRegressor(), func=np.log, inverse_func=np.exp)
    below, gamma = logs.fit(X, y).predict(X), EducatedRegressor(family="gamma").fit(X, y)
    variance = logs.regressor_.dispersion_
    assert variance == pytest.approx(0.64, rel=0.03)
    for kind in "abc":
        own, mean = X["kind"] == kind, y[X["kind"] == kind].mean()
        assert below[own][0] * np.exp(variance / 2) == pytest.approx(mean, rel=0.04)
        assert gamma.predict(X[own])[0] == pytest.approx(mean, rel=0.02)
    np.testing.assert_allclose(np.exp(logs.regressor_.predict(X)), below, rtol=1e-12)


def policies(n=600, seed=2):
    random = np.random.default_rng(seed)
    X = pd.DataFrame({"age": random.integers(18, 70, n), "area": random.choice([*"abc"], n)})
    years = random.uniform(0.2, 3.0, n)
    return X, years, random.poisson(years * np.exp(0.02 * X["age"] - 0.5)).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_tweedie_estimates_counts_better_where_rows_of_any_size_have_their_own_effect(seed):
    """Their variance is mean + 0.8 mean^2, so the largest rows would decide a Poisson fit."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame({"age": random.integers(18, 80, 1000), "kind": random.choice([*"ab"], 1000)})
    years = np.ceil(random.pareto(1.0, 1000) * 3 + 0.01).clip(1, 200)
    mean = (years * np.exp(0.02 * (X["age"] - 50) + 0.3 * (X["kind"] == "b"))).to_numpy()
    counts = random.poisson(mean * random.gamma(1.25, 0.8, 1000))

    def estimate(family):
        model = EducatedRegressor(family=family, pairs=0).fit(X, counts, exposure=years)
        return model.predict(X, exposure=years)

    def excess(found):
        return float((mean * np.log(mean / found) - mean + found).mean())

    poisson, tweedie = estimate("poisson"), estimate("tweedie")
    assert excess(tweedie) < 0.5 * excess(poisson)
    errors = ((counts - poisson) ** 2 / poisson)[np.argsort(poisson)]
    assert errors[-250:].mean() > 4 * errors[:250].mean()


def test_expected_counts_add_up_to_the_observed_ones():
    X, years, y = policies()
    model = EducatedRegressor(family="poisson", bins={"age": [30, 40, 50]}, pairs=0)
    model.fit(X, y, exposure=years)
    assert model.predict(X, exposure=years).sum() == pytest.approx(y.sum(), rel=1e-8)


def test_exposure_is_an_offset_of_its_logarithm_and_may_be_a_column():
    X, years, y = policies()
    named = X.assign(years=years, logs=np.log(years), claims=y)
    model = EducatedRegressor(family="poisson", bins=8).fit(X, y, exposure=years)
    by_name = EducatedRegressor(family="poisson", bins=8)
    by_name.fit(named.drop(columns="logs"), "claims", exposure="years")
    shifted = EducatedRegressor(family="poisson", bins=8)
    shifted.fit(named.drop(columns="years"), "claims", offset="logs")
    expected = model.predict(X, exposure=years)
    np.testing.assert_allclose(by_name.predict(named, exposure="years"), expected, rtol=1e-10)
    np.testing.assert_allclose(shifted.predict(named, offset="logs"), expected, rtol=1e-10)
    assert [*by_name.feature_names_in_] == ["age", "area"]
    np.testing.assert_allclose(model.predict(X), expected / years, rtol=1e-10)


def test_a_year_at_risk_in_two_halves_is_the_same_year():
    X, years, y = policies()
    halves = pd.concat([X, X], ignore_index=True)
    counts = np.concatenate([y, np.zeros(len(y))])
    problem = EducatedRegressor(family="poisson", bins=8, pairs=0)
    whole = problem.fit(X, y, exposure=years).predict(X)
    parted = EducatedRegressor(family="poisson", bins=8, pairs=0)
    parted.fit(halves, counts, exposure=np.tile(years / 2, 2))
    np.testing.assert_allclose(parted.predict(X), whole, rtol=0.05)  # the dispersion differs


@pytest.mark.parametrize("family", ["gaussian", "poisson", "gamma", "tweedie"])
def test_a_weight_of_two_is_the_row_twice(family):
    X, y = draw(150)
    twice = np.arange(len(y)) % 3 == 0
    model = EducatedRegressor(family=family, bins=6).fit(X, y, np.where(twice, 2.0, 1.0))
    more = pd.concat([X, X[twice]], ignore_index=True)
    longer = EducatedRegressor(family=family, bins=6).fit(more, np.append(y, y[twice]))
    np.testing.assert_allclose(model.predict(X), longer.predict(X), rtol=1e-9)
    np.testing.assert_allclose(model.predict_interval(X), longer.predict_interval(X), rtol=1e-6)
    assert model.loo_deviance_ == pytest.approx(longer.loo_deviance_, rel=1e-8)


@pytest.mark.parametrize("learner", [EducatedRegressor, weigh.EducatedNB])
def test_weights_that_add_up_to_one_raise_a_warning_and_ordinary_ones_do_not(learner):
    X, y = draw()
    model, target = learner(pairs=0), y > y.mean()
    with pytest.warns(UserWarning, match="sample_weight"):
        model.fit(X, target, np.full(len(y), 1 / len(y)))
    model.fit(X, target, np.full(len(y), 0.2))
    model.fit(X, target, np.where(np.arange(len(y)) < 6, 1.0, 0.0))


@pytest.mark.parametrize("family", ["gaussian", "gamma"])
def test_sheets_and_contributions_lead_to_the_estimate(family):
    X, y = draw()
    model = EducatedRegressor(family=family).fit(X.assign(y=y), "y")
    row = X.iloc[7].to_dict()
    sheet, parts = model.balance_sheet(row), model.contributions(X)
    estimate = model.predict(X.iloc[[7]])[0]
    assert sheet.estimate == pytest.approx(estimate)
    changes = np.array([push.change for push in sheet.pushes])
    told = sheet.start + changes.sum() if family == "gaussian" else sheet.start * changes.prod()
    assert told == pytest.approx(estimate, rel=1e-12)
    assert sheet.interval[0] < sheet.estimate < sheet.interval[1]
    totals = parts.to_numpy().sum(axis=1)
    np.testing.assert_allclose(totals if family == "gaussian" else np.exp(totals), model.predict(X))
    assert "kind" in sheet.to_text(60)
    assert "kind" in sheet._repr_html_()


def test_the_limits_of_a_count_are_shown_as_whole_numbers():
    sheet = EstimateSheet(1.5, (), 1.25, (0.0, 4.0), link="log")
    assert ("90% interval", "0 to 4") in sheet._rows()
    assert ("Estimate", "1.25") in sheet._rows()
    amount = replace(sheet, interval=(0.0, 4.5))
    assert ("90% interval", "0.00 to 4.50") in amount._rows()


@pytest.mark.parametrize("family", ["gaussian", "poisson", "gamma", "tweedie"])
def test_nothing_known_gives_the_mean_and_a_wider_interval(family):
    X, y = draw(300)
    model = EducatedRegressor(family=family).fit(X, y.round())
    empty = model.balance_sheet({})
    assert empty.estimate == pytest.approx(y.round().mean(), rel=1e-9)
    full = model.balance_sheet(X.iloc[0].to_dict())
    assert np.diff(empty.interval) > np.diff(full.interval)


@pytest.mark.parametrize("noise", ["normal", "heavy", "skewed"])
def test_intervals_cover_new_rows_as_often_as_they_state(noise):
    random, n = np.random.default_rng(3), 3000
    X = random.uniform(-2, 2, (n, 3))
    drawn = {
        "normal": random.normal(size=n),
        "heavy": random.standard_t(2.5, n),
        "skewed": random.exponential(size=n) ** 1.5,
    }[noise]
    y = 4 * np.sin(X[:, 0]) + X[:, 1] + drawn
    model = EducatedRegressor(pairs=0).fit(X[:1000], y[:1000])
    for coverage in (0.5, 0.9):
        low, high = model.predict_interval(X[1000:], coverage).T
        inside = ((low <= y[1000:]) & (y[1000:] <= high)).mean()
        assert abs(inside - coverage) < 0.04


@pytest.mark.parametrize(("n", "least"), [(2, 0.7), (3, 0.8), (5, 0.85), (8, 0.85), (12, 0.85)])
def test_intervals_of_few_rows_cover_new_rows(n, least):
    random = np.random.default_rng(n)

    def cover():
        X = random.normal(size=(n + 200, 4))
        y = X.sum(axis=1) + random.normal(size=n + 200)
        low, high = EducatedRegressor().fit(X[:n], y[:n]).predict_interval(X[n:]).T
        return ((low <= y[n:]) & (y[n:] <= high)).mean()

    assert np.mean([cover() for _ in range(20)]) > least


@given(st.integers(1, 2000), st.floats(0, 50), st.integers(0, 99))
def test_tails_beyond_the_errors_are_those_of_students_t_and_errors_between_stay(n, n_free, seed):
    errors = np.sort(np.random.default_rng(seed).normal(size=n))
    quantiles = weigh_quantiles(errors, None)
    wide = widen_tails(quantiles, n, n_free)
    inside = (1 / (n + 1) <= GRID) & (n / (n + 1) >= GRID)
    np.testing.assert_array_equal(
        wide[inside & (GRID > 0) & (GRID < 1)], quantiles[inside & (GRID > 0) & (GRID < 1)]
    )
    assert (np.diff(wide) >= 0).all()
    assert (wide[GRID < 0.5] <= quantiles[GRID < 0.5]).all()
    assert np.isfinite(wide).all()
    if n < 19:
        reach = max(student.ppf(0.95, max(n_free, 1)), errors[-1])
        assert error_interval(wide, 0.9)[1] == pytest.approx(reach)


def test_the_name_of_a_series_names_the_estimates():
    X, y = draw()
    for named in (pd.Series(y, name="price"), pl.Series("price", y)):
        model = EducatedRegressor(pairs=0).fit(X, named)
        assert "Estimate of price" in str(model.balance_sheet(X[:1]))
        assert "estimates of price" in str(weigh.evaluate(model, X, named))
        assert {*model.feature_names_in_} == {*X.columns}
    for bare in (y, pd.Series(y), pd.Series(y, name=0), pl.Series(y), y + X["x"]):
        assert EducatedRegressor(pairs=0).fit(X, bare).evidence_.classes[0] == "y"


def test_the_noise_of_one_row_is_not_known():
    with pytest.warns(UserWarning, match="the noise of one row is not known"):
        EducatedRegressor().fit([[1.0]], [5.0])
    EducatedRegressor(family="poisson").fit([[1.0]], [5.0])


@pytest.mark.parametrize("family", ["poisson", "gamma", "tweedie"])
def test_intervals_of_log_links_cover_new_rows(family):
    random, n = np.random.default_rng(4), 4000
    x = random.uniform(0, 2, n)
    mean = np.exp(1 + x)
    y = random.poisson(random.gamma(2, mean / 2)) if family == "poisson" else random.gamma(2, mean)
    if family == "tweedie":
        y = y * (random.uniform(size=n) < 0.9)
    model = EducatedRegressor(family=family).fit(x[:1500, None], y[:1500].astype(float))
    low, high = model.predict_interval(x[1500:, None]).T
    assert 0.87 < ((low <= y[1500:]) & (y[1500:] <= high)).mean() < 0.94


def tweedie_amounts(random, mean, power=1.5):
    """Poisson counts of gamma amounts, whose dispersion is one."""
    counts = random.poisson(mean ** (2 - power) / (2 - power))
    sizes = random.gamma(np.maximum(counts, 1) * (2 - power) / (power - 1))
    return (counts > 0) * sizes * (power - 1) * mean ** (power - 1)


DRAWN = {
    "gaussian": lambda random, mean: np.log(mean) + random.normal(0, 0.3, len(mean)),
    "poisson": lambda random, mean: random.poisson(mean).astype(float),
    "gamma": lambda random, mean: random.gamma(5, mean / 5),
    "tweedie": tweedie_amounts,
}


def two_causes(family, n=4000, seed=6):
    """A strong cause and a weak one."""
    random = np.random.default_rng(seed)
    strong, weak = random.integers(0, 5, n), random.integers(0, 6, n)
    X = pd.DataFrame({"strong": strong.astype(str), "weak": weak.astype(float)})
    return X, DRAWN[family](random, np.exp(0.8 * strong + 0.1 * weak))


def test_answers_that_are_not_known_are_named_in_one_sentence():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(300, 3)), columns=[*"abc"])
    model = EducatedRegressor(pairs=[("a", "b"), ("b", "c")])
    model.fit(table, table["a"] * table["b"] * table["c"] + table["a"])
    sheet = model.balance_sheet({"a": 1.0})
    assert [push.text.split()[0] for push in sheet.pushes] == ["a"]
    assert sheet.not_known == ("b", "c") == tuple(sheet.to_dict()["not_known"])
    assert "Not known (no change): b, c." in str(sheet)
    assert str(sheet).count("not known") == 0
    nothing = str(model.balance_sheet({}))
    assert "Not known (no change): a, b, c." in nothing
    assert "down | up" not in nothing


@pytest.mark.parametrize("family", [*DRAWN])
@pytest.mark.parametrize("absent", [["strong"], ["weak"], ["strong", "weak"]])
def test_intervals_cover_rows_whose_answers_are_not_known(family, absent):
    X, y = two_causes(family)
    model = EducatedRegressor(family=family).fit(X[:2000], y[:2000])
    known = [name for name in X if name not in absent]
    rows = [{name: row[name] for name in known} for row in X[2000:].to_dict("records")]
    low, high = model.predict_interval(rows).T
    assert 0.85 < ((low <= y[2000:]) & (y[2000:] <= high)).mean() < 0.975


@pytest.mark.parametrize("family", ["poisson", "gamma", "tweedie"])
def test_mixed_limits_are_the_quantiles_of_what_the_mixture_draws(family):
    X, y = two_causes(family)
    model = EducatedRegressor(family=family, pairs=0).fit(X, y)
    random, n = np.random.default_rng(7), 400_000
    table = model.evidence_["strong"]
    factors = np.exp(table.by_class[:, 0])
    [mean] = model.predict([{"weak": 3.0}])
    means = mean * random.choice(factors / (table.share @ factors), n, p=table.share)
    if family == "poisson":
        assert model.dispersion_ < 1.1
        drawn = random.poisson(means)
    else:
        errors = np.interp(random.uniform(size=n), np.linspace(0, 1, 401), model.error_quantiles_)
        power = {"gamma": 2.0, "tweedie": 1.5}[family]
        drawn = np.maximum(means + errors * np.sqrt(model.dispersion_ * means**power), 0)
    [(low, high)] = model.predict_interval([{"weak": 3.0}])
    missed = (drawn < low).mean()
    assert missed <= 0.06
    above = 0.1 - missed if family == "poisson" else 0.05
    assert (drawn > high).mean() == pytest.approx(above, abs=0.012)


def shortest_interval(law, mean, coverage):
    """Literally: raise the lower limit while its count is less likely than the first one above."""
    chances = np.diff(law.below(np.arange(-1.0, 400.0), np.array(mean)))
    for low in range(400):
        high = next(k for k in range(400) if chances[low : k + 1].sum() >= coverage - 1e-14)
        if chances[low] >= chances[high + 1]:
            return low, high
    return None


def known_factors(n):
    return BlankFactors(np.ones((1, 40)), np.zeros(n, np.int64), np.ones(n, np.bool_))


@pytest.mark.parametrize("coverage", [0.5, 0.9])
@pytest.mark.parametrize("dispersion", [1.0, 2.5, 6.0])
def test_an_interval_of_counts_is_the_shortest_that_holds_its_coverage(dispersion, coverage):
    """Up to one count: the bisection stops where no single step shortens the interval."""
    law, mean, known = CountDistribution(dispersion), np.linspace(0.013, 40, 67), known_factors(67)
    found = np.column_stack(law_interval(law, mean, known, coverage))
    assert [*map(tuple, found)] == [shortest_interval(law, one, coverage) for one in mean]
    same = law_interval(law, mean, replace(known, known=~known.known), coverage)
    np.testing.assert_array_equal(found, np.column_stack(same))
    reached = law.below(np.arange(-1.0, 400.0), mean[:, None])
    for (low, high), own in zip(found, reached, strict=True):
        ends = [
            int(np.searchsorted(own[1:], coverage + own[a] - 1e-14)) for a in range(int(high) + 1)
        ]
        assert high - low <= min(end - a for a, end in enumerate(ends)) + 1


@pytest.mark.parametrize("dispersion", [1.0, 2.5, 7.0, 20.0, 60.0])
def test_limits_of_counts_move_with_the_mean_without_leaps(dispersion):
    low, high = law_interval(
        CountDistribution(dispersion), np.linspace(0.05, 100, 1000), known_factors(1000), 0.9
    )
    assert (np.diff(high) >= 0).all()
    assert np.abs(np.diff(high - low)).max() <= 1
    assert low[0] == 0
    assert low[-1] > 0


@pytest.mark.parametrize("spread", [0.2, 0.5, 0.95])
@pytest.mark.parametrize(("dispersion", "shorter"), [(1.0, 0), (2.5, 0), (20.0, 1), (60.0, 1)])
def test_a_factor_that_is_not_known_makes_intervals_of_counts_hardly_shorter(
    dispersion, shorter, spread
):
    mean, known = np.linspace(0.05, 12 + dispersion, 100), known_factors(100)
    vague = replace(known, sets=np.linspace(1 - spread, 1 + spread, 40)[None], known=~known.known)
    (low, high), (vague_low, vague_high) = (
        law_interval(CountDistribution(dispersion), mean, own, 0.9) for own in (known, vague)
    )
    assert (vague_low <= low).all()
    assert (vague_high - vague_low >= high - low - shorter).all()


@pytest.mark.parametrize("scale", [0.05, 0.5, 5.0])
@pytest.mark.parametrize("dispersion", [1.0, 3.0])
def test_intervals_of_counts_cover_what_the_law_of_each_row_says(scale, dispersion):
    """Whole counts cannot cover 90% exactly; what they cover must be what their law gives."""
    random, n = np.random.default_rng(5), 12_000
    kind = random.integers(0, 4, n)
    exposure = random.uniform(0.2, 1.0, n)
    mean = scale * exposure * np.array([1.0, 1.5, 2.0, 3.0])[kind]
    shape = mean / max(dispersion - 1, 1e-9)
    y = random.poisson(random.gamma(shape) * mean / shape if dispersion > 1 else mean)
    X, train, test = pd.DataFrame({"kind": kind.astype(str)}), slice(6000), slice(6000, None)
    model = EducatedRegressor(family="poisson").fit(X[train], y[train], exposure=exposure[train])
    low, high = model.predict_interval(X[test], exposure=exposure[test]).T
    law = CountDistribution(model.dispersion_)
    means = model.predict(X[test], exposure=exposure[test])
    expected = law.below(high, means) - law.below(low - 1, means)
    assert (expected >= 0.9 - 1e-12).all()
    error = np.sqrt((expected * (1 - expected)).mean() / len(low))
    assert abs(((low <= y[test]) & (y[test] <= high)).mean() - expected.mean()) < 4 * error


def test_intervals_of_tweedie_amounts_cover_what_they_state_and_more_where_they_begin_at_zero():
    X, y = two_causes("tweedie", 9000)
    model = EducatedRegressor(family="tweedie").fit(X[:4000], y[:4000])
    low, high = model.predict_interval(X[4000:]).T
    inside = (low <= y[4000:]) & (y[4000:] <= high)
    for level in "04":
        own = X["strong"][4000:] == level
        most = 0.95 + 0.05 * (low[own] == 0).mean()
        assert 0.85 < inside[own].mean() < most
    assert (low >= 0).all()


@pytest.mark.parametrize("factor", [1e-150, 1e-100, 1e100, 1e200])
@pytest.mark.parametrize("family", ["poisson", "gamma", "tweedie"])
def test_the_unit_of_amounts_changes_nothing_else(family, factor):
    X, y = two_causes("gamma", 300)
    once, other = (EducatedRegressor(family=family).fit(X, y * k) for k in (1.0, factor))
    np.testing.assert_allclose(other.predict(X) / factor, once.predict(X), rtol=1e-9)
    ends = once.predict_interval(X)
    np.testing.assert_allclose(other.predict_interval(X) / factor, ends, rtol=1e-9)
    np.testing.assert_allclose(other.scales_, once.scales_, rtol=1e-9)


@pytest.mark.parametrize("family", ["poisson", "tweedie"])
def test_the_unit_of_exposures_changes_nothing_else(family):
    X, years, y = policies()
    model = EducatedRegressor(family=family, bins=8).fit(X, y, exposure=years)
    days = EducatedRegressor(family=family, bins=8).fit(X, y, exposure=365 * years)
    np.testing.assert_allclose(365 * days.predict(X), model.predict(X), rtol=1e-9)
    assert days.dispersion_ == pytest.approx(model.dispersion_, rel=1e-9)
    assert days.loo_deviance_ == pytest.approx(model.loo_deviance_, rel=1e-9)


@pytest.mark.parametrize("family", ["poisson", "gamma", "tweedie"])
def test_the_dispersion_is_pearsons_statistic_in_the_unit_of_the_target(family):
    X, y = two_causes("gamma", 2000)
    model = EducatedRegressor(family=family, pairs=0).fit(X, 1000 * y)
    mean, power = model.predict(X), {"poisson": 1, "gamma": 2, "tweedie": 1.5}[family]
    literal = ((1000 * y - mean) ** 2 / mean**power).mean()
    assert model.dispersion_ == pytest.approx(literal, rel=0.02)


def test_amounts_whose_squares_are_numbers_are_taken_and_others_are_refused():
    X, y = draw()
    large = fitted(X, y * 1e140)
    np.testing.assert_allclose(large.predict(X) / 1e140, fitted(X, y).predict(X), rtol=1e-9)
    assert np.isfinite(large.predict_interval(X)).all()
    for factor in (1e160, 1e300, 1e-200):
        with pytest.raises(ValueError, match=r"^y varies"):
            fitted(X, y * factor)


def test_a_constrained_table_only_rises():
    X, y = draw()
    model = EducatedRegressor(monotonic_cst={"x": 1}, pairs=0).fit(X, y)
    assert (np.diff(model.evidence_["x"].weights) >= -1e-9).all()
    free = EducatedRegressor(pairs=0).fit(X, y)
    assert (np.diff(free.evidence_["x"].weights) < 0).any()


def test_a_pair_that_matters_is_found_and_a_pair_that_does_not_is_not():
    random, n = np.random.default_rng(5), 800
    X = pd.DataFrame({name: random.choice([*"ab"], n) for name in "pqr"})
    y = 2.0 * (X["p"] == X["q"]) + random.normal(0, 0.7, n)
    model = EducatedRegressor().fit(X, y)
    assert [set(pair.columns) for pair in model.pairs_] == [{"p", "q"}]
    assert model.pairs_[0].gain > 0.3
    alone = EducatedRegressor().fit(X, random.normal(size=n))
    assert alone.pairs_ == []
    named = EducatedRegressor(pairs=[("p", "r")]).fit(X, y)
    assert [set(pair.columns) for pair in named.pairs_] == [{"p", "r"}]


def test_missing_values_special_codes_and_unseen_values_have_their_place():
    X, y = draw(400)
    X.loc[:99, "x"] = np.nan
    X.loc[100:149, "x"] = -999.0
    y[:100] += 20
    model = EducatedRegressor(special_values={"x": [-999]}).fit(X, y)
    table = model.evidence_["x"]
    assert table.weights[table.labels.index("missing")] > 10
    assert "-999" in table.labels
    unseen = model.predict(pd.DataFrame({"x": [0.0], "kind": ["new"]}))
    assert unseen == pytest.approx(model.balance_sheet({"x": 0.0}).estimate)


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_a_saved_model_estimates_the_same(family, tmp_path):
    X, y = draw()
    model = EducatedRegressor(family=family).fit(X, y.round())
    weigh.save(model, tmp_path / "model.json")
    loaded = weigh.load(tmp_path / "model.json")
    Draft202012Validator(SCHEMA).validate(json.loads((tmp_path / "model.json").read_text()))
    assert isinstance(loaded, EducatedRegressor)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_allclose(loaded.predict_interval(X), model.predict_interval(X), rtol=1e-4)
    assert loaded.evidence_.to_text() == model.evidence_.to_text()


def test_tables_are_shown_in_the_unit_and_as_factors():
    X, y = draw()
    frame = X.assign(price=y)
    amounts = EducatedRegressor().fit(frame, "price").evidence_
    assert "price" in amounts.to_text(200)
    factors = EducatedRegressor(family="gamma").fit(frame, "price").evidence_
    assert "× 1." in factors.to_text(200)
    for evidence in (amounts, factors):
        assert "kind" in evidence._repr_html_()
        assert {"weight", "error", "rows"} < {*evidence.to_frame().columns}


def test_a_constant_target_is_estimated_as_such():
    X, _ = draw(40)
    model = EducatedRegressor().fit(X, np.full(40, 7.5))
    np.testing.assert_allclose(model.predict(X), 7.5)
    assert np.isfinite(model.predict_interval(X)).all()
    assert model.balance_sheet(X.iloc[0].to_dict()).estimate == pytest.approx(7.5)


def test_numbers_that_are_predicted_exactly_raise_no_warning():
    for seed in (42, 0, 3):
        random = np.random.RandomState(seed)
        X, y, often = random.rand(15, 30), random.randint(0, 3, 15), random.randint(0, 5, 15)
        X, y = X.repeat(often, axis=0), y.repeat(often)
        with warnings.catch_warnings(action="error", category=ConvergenceWarning):
            model = EducatedRegressor().fit(X, y)  # a gradient of rounding, 1.5e-8 of the slopes
        np.testing.assert_allclose(model.predict(X), y, atol=0.02)


def test_importances_are_in_the_unit_of_the_target():
    X, y = draw()
    model, tenfold = (EducatedRegressor(pairs=0).fit(X, k * y) for k in (1, 10))
    np.testing.assert_allclose(tenfold.feature_importances_, 10 * model.feature_importances_)


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"family": "binomial"}, "family"),
        ({"family": ["gamma"]}, "family"),
        ({"power": 2.5}, "power"),
        ({"bins": "mdl"}, "bins"),
        ({"pairs": -1}, "pairs"),
    ],
)
def test_a_wrong_parameter_is_named(parameters, named):
    X, y = draw(30)
    with pytest.raises(ValueError, match=named):
        EducatedRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("family", "y", "named"),
    [
        ("poisson", [1.0, -2.0, 3.0], "-2"),
        ("gamma", [1.0, 0.0, 3.0], "gamma"),
        ("tweedie", [1.0, -1.0, 3.0], "-1"),
        ("poisson", [0.0, 0.0, 0.0], "y is zero in every row; "),
        ("gaussian", [1.0, np.nan, 3.0], "NaN"),
        ("gaussian", ["a", "b", "c"], "numbers"),
    ],
)
def test_targets_that_a_family_does_not_have_are_refused(family, y, named):
    with pytest.raises(ValueError, match=named):
        EducatedRegressor(family=family).fit([[1.0], [2.0], [3.0]], y)


def test_a_number_outside_the_family_is_named_with_its_row():
    X, weight = np.arange(6.0)[:, None], [1.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    y = np.array([1.0, -9.0, 2.0, -1.0, -3.0, 0.0])
    with pytest.raises(ValueError, match=r"-3 in row 4 .* 2 of 5 rows.*'gaussian'"):
        EducatedRegressor(family="poisson").fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=r"0 in row 3 .* 1 of 6 rows.*'tweedie'"):
        EducatedRegressor(family="gamma").fit(X, np.where(y == -1, 0, 1.0))


@pytest.mark.parametrize(
    ("family", "given", "named"),
    [
        ("poisson", {"exposure": [1.0, 0.0, 1.0]}, "exposure"),
        ("poisson", {"exposure": [1.0, np.nan, 1.0]}, "exposure"),
        ("poisson", {"offset": [1.0, 2.0]}, "offset"),
        ("gaussian", {"exposure": [1.0, 1.0, 1.0]}, "exposure"),
    ],
)
def test_a_wrong_exposure_or_offset_is_named(family, given, named):
    with pytest.raises(ValueError, match=named):
        EducatedRegressor(family=family).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], **given)


@pytest.mark.parametrize("role", ["exposure", "offset"])
def test_the_target_is_no_exposure_or_offset(role):
    X, y = draw(30)
    with pytest.raises(ValueError, match=role):
        EducatedRegressor(family="poisson").fit(X.assign(y=y), "y", **{role: "y"})


@pytest.mark.parametrize("coverage", [0, 1, 90, "0.9"])
def test_a_wrong_coverage_is_named(coverage):
    X, y = draw(30)
    with pytest.raises(ValueError, match="coverage"):
        fitted(X, y).predict_interval(X, coverage)


def test_what_needs_classes_refuses_by_name():
    X, y = draw(60)
    model = fitted(X, y)
    with pytest.raises(ValueError, match="pos_label"):
        model._explain_case(X.iloc[0].to_dict(), "a", None)


@pytest.mark.parametrize("family", ["gaussian", "gamma"])
def test_the_exported_python_function_gives_the_estimates(family):
    X, y = draw()
    X.loc[:9, "x"] = np.nan
    model = EducatedRegressor(family=family, pairs=[("x", "kind")]).fit(X, y)
    names = {}
    exec(weigh.export(model, "python"), names)
    rows = [*X.to_dict("records"), {}, {"kind": "new"}, {"x": 1e9, "kind": "b"}]
    told = [names["score"](row)["estimate"] for row in rows]
    np.testing.assert_allclose(told, model.predict(rows), rtol=1e-12)


@pytest.mark.parametrize("to", ["sql", "xlsx", "pmml", "onnx", "python"])
def test_an_estimate_that_is_no_sum_is_refused_by_name(to):
    X, y = draw(60)
    model = weigh.BoostedNBRegressor().fit(X, y)
    with pytest.raises(ValueError, match="BoostedNBRegressor"):
        weigh.export(model, to)


def claims_file(folder, years):
    rng = np.random.default_rng(3)
    n = len(years)
    fuel = rng.choice(["petrol", "diesel"], n)
    y = rng.poisson(np.maximum(years, 0.1) * np.where(fuel == "petrol", 1.0, 2.0))
    table = pa.table({"fuel": fuel, "years": years, "claims": y})
    csv.write_csv(table, folder / "claims.csv")
    return table


POISSON = ("--target", "claims", "--learner", "educated-regressor", "--set", "family=poisson")


def test_a_column_of_exposure_on_the_command_line_is_that_of_python(tmp_path):
    table = claims_file(tmp_path, np.random.default_rng(1).uniform(0.2, 3.0, 300).round(2))
    data, path, scores = (tmp_path / name for name in ("claims.csv", "m.json", "scores.csv"))
    assert run("fit", data, *POISSON, "--exposure", "years", "-o", path).exit_code == 0
    model = weigh.EducatedRegressor(family="poisson").fit(table, "claims", exposure="years")
    assert run("score", path, data, "--exposure", "years", "-o", scores).exit_code == 0
    found = csv.read_csv(scores)
    np.testing.assert_allclose(found["estimate"], model.predict(table, exposure="years"))
    low, high = model.predict_interval(table, exposure="years").T
    np.testing.assert_allclose(found["low"], low)
    np.testing.assert_allclose(found["high"], high)
    assert run("score", path, data, "--exposure", "1", "-o", scores).exit_code == 0
    np.testing.assert_allclose(csv.read_csv(scores)["estimate"], model.predict(table))
    told = run("evaluate", path, data, "--target", "claims", "--exposure", "years", "--json")
    own = weigh.evaluate(model, table, "claims", exposure="years")
    assert json.loads(told.stdout)["deviance"] == pytest.approx(own.deviance)


@pytest.mark.parametrize("cost", [(1, 1), (1, 5)])
def test_the_command_line_refuses_costs_of_a_number(tmp_path, cost):
    claims_file(tmp_path, np.ones(60))
    data, path = tmp_path / "claims.csv", tmp_path / "m.json"
    assert run("fit", data, *POISSON, "-o", path).exit_code == 0
    found = run("evaluate", path, data, "--target", "claims", "--cost", *cost)
    assert found.exit_code == 1
    assert "--cost" in found.stderr


@pytest.mark.parametrize("command", ["fit", "score", "evaluate"])
@pytest.mark.parametrize("wrong", [0.0, -1.0])
def test_an_exposure_that_is_not_positive_is_refused_by_name(tmp_path, command, wrong):
    years = np.ones(60)
    claims_file(tmp_path, years)
    data, path = tmp_path / "claims.csv", tmp_path / "m.json"
    assert run("fit", data, *POISSON, "--exposure", "years", "-o", path).exit_code == 0
    years[7] = wrong
    claims_file(tmp_path, years)
    words = {
        "fit": ("fit", data, *POISSON, "-o", path),
        "score": ("score", path, data),
        "evaluate": ("evaluate", path, data, "--target", "claims"),
    }
    found = run(*words[command], "--exposure", "years")
    assert found.exit_code == 1
    assert "'years', the exposure" in found.stderr
    assert f"{wrong:g} in row 7 " in found.stderr
    assert "1 of 60 rows" in found.stderr


def test_an_exposure_belongs_to_a_regression(tmp_path):
    claims_file(tmp_path, np.ones(60))
    found = run("fit", tmp_path / "claims.csv", "--target", "fuel", "--learner", "evidence",
                "--exposure", "years", "-o", tmp_path / "m.json")  # fmt: skip
    assert found.exit_code == 2
    assert "--exposure" in found.stderr


def test_a_model_knows_the_column_of_its_exposure(tmp_path):
    table = claims_file(tmp_path, np.random.default_rng(1).uniform(0.2, 3.0, 300).round(2))
    data, path, scores = (tmp_path / name for name in ("claims.csv", "m.json", "scores.csv"))
    assert run("fit", data, *POISSON, "--exposure", "years", "-o", path).exit_code == 0
    model = weigh.load(path)
    expected = model.predict(table, exposure="years")
    assert run("score", path, data, "-o", scores).exit_code == 0
    np.testing.assert_allclose(csv.read_csv(scores)["estimate"], expected)
    np.testing.assert_allclose(weigh.score_table(model, table)["estimate"], expected)
    own = weigh.evaluate(model, table, "claims")
    assert own.mean_estimate == pytest.approx(np.mean(expected))
    told = run("evaluate", path, data, "--target", "claims", "--json")
    assert json.loads(told.stdout)["mean_estimate"] == pytest.approx(own.mean_estimate)


@pytest.mark.parametrize("command", ["score", "evaluate", "report"])
def test_rows_without_the_exposure_of_the_fit_are_refused_by_name(tmp_path, command):
    table = claims_file(tmp_path, np.random.default_rng(1).uniform(0.2, 3.0, 300).round(2))
    data, path = tmp_path / "claims.csv", tmp_path / "m.json"
    assert run("fit", data, *POISSON, "--exposure", "years", "-o", path).exit_code == 0
    csv.write_csv(table.drop(["years"]), data)
    more = {"score": (), "evaluate": ("--target", "claims"),
            "report": ("--target", "claims", "-o", tmp_path / "r.html")}  # fmt: skip
    found = run(command, path, data, *more[command])
    assert found.exit_code == 1
    assert "'years'" in found.stderr
    assert "--exposure" in found.stderr
    assert run(command, path, data, *more[command], "--exposure", "1").exit_code == 0


def test_a_score_uses_the_exposure_of_the_fit():
    X, years, y = policies()
    rows = X.assign(years=years, claims=y)
    model = EducatedRegressor(family="poisson", bins=8).fit(rows, "claims", exposure="years")
    expected = r2_score(y, model.predict(X, exposure=years))
    assert model.score(rows, "claims") == pytest.approx(expected)
    assert model.score(X, y, exposure=years) == pytest.approx(expected)
    assert weigh.evaluate(model, rows, "claims").r2 == pytest.approx(expected)
    assert model.score(X, y, exposure=1) == pytest.approx(r2_score(y, model.predict(X)))
    with pytest.raises(ParameterError, match="'years'"):
        model.score(X, y)


def test_a_score_uses_the_offset_of_the_fit():
    X, years, y = policies()
    rows = X.assign(logs=np.log(years), claims=y)
    model = EducatedRegressor(family="poisson", bins=8).fit(rows, "claims", offset="logs")
    expected = r2_score(y, model.predict(X, offset=np.log(years)))
    assert model.score(rows, "claims") == pytest.approx(expected)
    assert model.score(X, y, offset=np.log(years)) == pytest.approx(expected)


def test_an_evaluation_and_the_service_say_what_the_exposure_is(tmp_path):
    X, years, y = policies()
    rows = X.assign(years=years, claims=y)
    model = EducatedRegressor(family="poisson", bins=8).fit(rows, "claims", exposure="years")
    assert "years" in weigh.evaluate(model, rows, "claims").findings[-1]
    assert "per unit" in weigh.evaluate(model, rows, "claims", exposure=1).findings[-1]
    heading = weigh.report(model, rows, "claims").partition("<h1")[2].partition("</h1>")[0]
    assert "claims" in heading
    assert "per unit" not in heading  # its measures are those of each row's exposure
    weigh.save(model, tmp_path / "m.json")
    served = Served.load(tmp_path / "m.json", 10)
    answer = json.loads(served.score(RequestedRows(({},), single=True)))
    assert answer["estimate_of"] == "claims per unit of years"
    schema = json.loads(served.contract)["components"]["schemas"]["Score"]
    Draft202012Validator(schema).validate(answer)


def test_an_array_of_exposures_is_asked_for_again():
    X, years, y = policies()
    model = EducatedRegressor(family="poisson", bins=8).fit(X, y, exposure=years)
    for use in (lambda **own: weigh.evaluate(model, X, y, **own).mean_estimate,
                lambda **own: weigh.score_table(model, X, **own),
                lambda **own: model.score(X, y, **own)):  # fmt: skip
        with pytest.raises(ParameterError) as error:
            use()
        assert error.value.parameter == "exposure"
    found = weigh.evaluate(model, X, y, exposure=years)
    assert found.mean_estimate == pytest.approx(np.mean(y), rel=1e-6)
    assert weigh.evaluate(model, X, y, exposure=1).mean_estimate == pytest.approx(
        model.predict(X).mean()
    )


def test_an_offset_of_the_fit_is_used_where_the_table_has_it():
    X, years, y = policies()
    named = X.assign(logs=np.log(years), claims=y)
    model = EducatedRegressor(family="poisson", bins=8).fit(named, "claims", offset="logs")
    found = weigh.evaluate(model, named, "claims").mean_estimate
    assert found == pytest.approx(model.predict(named, offset="logs").mean())
    with pytest.raises(ValueError, match="'logs'"):
        weigh.evaluate(model, named.drop(columns="logs"), "claims")


def test_sheets_and_tables_say_what_one_unit_is():
    X, years, y = policies()
    named = X.assign(years=years, claims=y)
    model = EducatedRegressor(family="poisson", bins=8).fit(named, "claims", exposure="years")
    assert "claims per unit of years" in model.evidence_.to_text()
    assert "claims per unit of years" in model.balance_sheet(named.iloc[:1]).to_text()
    by_array = EducatedRegressor(family="poisson", bins=8).fit(X, y, exposure=years)
    assert "per unit of exposure" in by_array.evidence_.to_text()


@pytest.mark.parametrize("role", ["exposure", "offset"])
def test_a_sheet_is_for_the_exposure_and_the_offset_of_its_row(role):
    X, years, y = policies()
    named = X.assign(years=years if role == "exposure" else np.log(years), claims=y)
    named.loc[0, "years"] = 34.0 if role == "exposure" else np.log(34.0)
    model = EducatedRegressor(family="poisson", bins=8).fit(named, "claims", **{role: "years"})
    row, told = named.iloc[:1], {role: "years"}
    for case in (row, row.iloc[0].to_dict()):
        sheet = model.balance_sheet(case)
        assert sheet.estimate == pytest.approx(model.predict(row, **told)[0])
        assert sheet.interval == pytest.approx(model.predict_interval(row, **told)[0])
        assert (
            sheet.rate == pytest.approx(sheet.estimate / 34) == pytest.approx(model.predict(row)[0])
        )
        factors = [push.change for push in (*sheet.pushes, *sheet.offsets)]
        assert sheet.start * np.prod(factors) == pytest.approx(sheet.estimate)
        assert sheet.to_dict()["offsets"][0]["change"] == pytest.approx(34.0)
        assert "years" in sheet._repr_html_()
    without = model.balance_sheet(row.drop(columns="years"))
    assert (without.rate, without.offsets) == (None, ())
    assert without.estimate == pytest.approx(sheet.rate)
    assert "rate" not in without.to_dict()


EXPOSURE = 'years """+1+"'  # which would end a docstring


@pytest.fixture(scope="module")
def rates():
    X, years, y = policies()
    named = X.assign(**{EXPOSURE: years}, claims=y)
    model = EducatedRegressor(family="poisson", bins=4, pairs=0)
    return model.fit(named, "claims", exposure=EXPOSURE), named


@pytest.mark.parametrize("to", ["sql", "python", "pmml"])
def test_exported_files_say_what_they_estimate(rates, to):
    text = weigh.export(rates[0], to)
    assert "claims for the years" in text
    if to == "python":
        names = {}
        exec(compile(text, "exported", "exec"), names)
        found = names["score"]({"age": 30, "area": "a"})["estimate"]
        assert found == pytest.approx(rates[0].predict([{"age": 30, "area": "a"}])[0])


def test_pages_and_the_contract_of_the_service_say_what_one_unit_is(rates):
    model, named = rates
    for page in (weigh.calculator(model), weigh.report(model, named, "claims")):
        assert "claims per unit of years" in page
    contract = describe(Formula.of(model), 10)
    assert "claims for the years" in contract["info"]["title"]
    assert "exposure" in json.dumps(contract["components"]["schemas"]["Row"])


def test_the_errors_of_a_report_are_those_of_the_rows_with_their_exposure(rates):
    model, named = rates
    found = weigh.report(model, named, "claims")
    assert found == weigh.report(model, named, "claims", exposure=EXPOSURE)
    assert found != weigh.report(model, named, "claims", exposure=1)


def test_quantiles_are_refused_and_the_error_names_what_has_them():
    with pytest.raises(ParameterError, match="predict_interval") as error:
        EducatedRegressor(family="quantile").fit([[1.0], [2.0]], [1.0, 2.0])
    assert error.value.parameter == "family"


def test_a_sheet_of_a_rare_count_has_three_digits_and_names_of_ones_own(tmp_path):
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"fuel": random.choice(["gas", "oil"], 2000), "years": 0.1})
    rows["claims"] = random.poisson(0.008, 2000)
    model = EducatedRegressor(family="poisson").fit(rows, "claims", exposure="years")
    words = {"columns": {"fuel": "Fuel of the car"}, "levels": {"fuel": {"gas": "natural gas"}}}
    case = {"fuel": "gas", "years": 0.1}
    sheet = model.balance_sheet(case, labels=words)
    assert 0.001 < sheet.estimate < 0.01
    lines = [line.rsplit("  ", 1) for line in sheet.to_text().splitlines()]
    shown = {line[0].strip(): line[-1].strip() for line in lines}
    assert shown["Estimate of claims"] == f"{sheet.estimate:.5f}"
    assert shown["90% interval"] == "0 to 0"  # whole numbers
    assert sheet.pushes[0].text == "Fuel of the car = natural gas"
    names, file = tmp_path / "words.json", tmp_path / "model.json"
    names.write_text(json.dumps(words))
    weigh.save(model, file)
    rows.head(1).to_csv(tmp_path / "rows.csv", index=False)
    ask = ["explain", str(file), str(tmp_path / "rows.csv"), "--labels", str(names)]
    found = CliRunner().invoke(main, ask)
    assert "Fuel of the car = " in found.output
