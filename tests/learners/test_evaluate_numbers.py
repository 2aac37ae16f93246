"""Evaluations of regressors: the literal formulas, bands, coverage, refusals."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import (
    mean_absolute_error,
    mean_gamma_deviance,
    mean_poisson_deviance,
    r2_score,
)
from threadpoolctl import threadpool_limits

from weigh import BoostedNBRegressor, EducatedRegressor, challenge, compare, drift, evaluate, report
from weigh.evaluation.estimates import slope_of


def draw(n=400, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": random.uniform(0, 3, n), "z": random.uniform(0, 1, n)})
    return frame.assign(y=random.poisson(np.exp(frame["x"])).astype(float))


@pytest.mark.parametrize(
    "model", [EducatedRegressor(family="poisson"), BoostedNBRegressor(), LinearRegression()]
)
def test_errors_are_those_of_scikit_learn(model):
    train, rest = draw(), draw(seed=1)
    X, y = rest[["x", "z"]], rest["y"]
    model.fit(train[["x", "z"]], train["y"])
    found, p = evaluate(model, rest, "y"), model.predict(X)
    assert found.rmse.value == pytest.approx(np.sqrt(((p - y) ** 2).mean()))
    assert found.rmse.low < found.rmse.value < found.rmse.high
    assert found.mae.value == pytest.approx(mean_absolute_error(y, p))
    assert found.r2 == pytest.approx(r2_score(y, p))
    right = p * y.mean() / p.mean() if hasattr(model, "family") else p
    assert found.slope.value == pytest.approx(np.polyfit(right, y, 1)[0])
    assert sum(band.rows for band in found.bands) == len(rest)
    estimates = [band.estimate for band in found.bands]
    assert estimates == sorted(estimates)
    total = sum(band.rows * band.observed.value for band in found.bands)
    assert total == pytest.approx(y.sum())


def test_the_deviance_is_that_of_the_family():
    train, rest = draw(), draw(seed=1)
    model = EducatedRegressor(family="poisson").fit(train, "y")
    found = evaluate(model, rest, "y")
    assert found.deviance == pytest.approx(mean_poisson_deviance(rest["y"], model.predict(rest)))


@pytest.mark.parametrize("given", [{"exposure": "years"}, {"exposure": "years", "offset": "z"}])
def test_exposure_alone_explains_no_deviance(given):
    rows = draw().assign(years=lambda rows: 1 + rows.index % 9)
    X, unit = rows[["x", "years", "z"]], rows["years"] * np.exp(rows["z"] * ("offset" in given))
    rows["y"] = np.random.default_rng(1).poisson(unit)
    model = EducatedRegressor(family="poisson").fit(X, rows["y"], **given)
    alone = unit * rows["y"].sum() / unit.sum()  # the maximum likelihood of one rate
    least = mean_poisson_deviance(rows["y"], alone)
    found = evaluate(model, rows, "y")
    assert found.deviance_explained == pytest.approx(1 - found.deviance / least, abs=1e-12)
    assert found.deviance_explained < 0.01 < found.r2  # which exposure does explain
    assert f"{found.deviance_explained:.1%} less than without features" in str(found)


@pytest.mark.parametrize("family", ["poisson", "gamma"])
def test_a_model_without_features_has_the_rate_of_least_deviance(family):
    rng = np.random.default_rng(2)
    years = rng.choice([0.1, 1.0, 9.0], 300)
    y = rng.poisson(3 * years) if family == "poisson" else rng.gamma(1 / years) + 0.01 * years
    X = pd.DataFrame({"x": rng.choice([*"ab"], 300)})
    model = EducatedRegressor(family=family).fit(X, y, exposure=years)
    found = evaluate(model, X, y, exposure=years)
    measure = mean_poisson_deviance if family == "poisson" else mean_gamma_deviance
    rates = np.exp(np.linspace(-5, 5, 5001)) * y.sum() / years.sum()
    least = min(measure(y, rate * years) for rate in rates)
    assert found.deviance_explained == pytest.approx(1 - found.deviance / least, abs=1e-5)
    compared = compare(X, y, learners=[model], exposure=years, cv=2)
    assert compared.base_loss == pytest.approx(least, rel=1e-5)


def test_coverage_is_the_share_of_rows_in_the_intervals():
    train, rest = draw(), draw(seed=1)
    model = EducatedRegressor().fit(train, "y")
    low, high = model.predict_interval(rest, 0.9).T
    inside = ((low <= rest["y"]) & (rest["y"] <= high)).mean()
    assert evaluate(model, rest, "y").covered.value == pytest.approx(inside)
    plain = LinearRegression().fit(train[["x"]], train["y"])
    assert not evaluate(plain, rest[["x", "y"]], "y").covered.is_known()


def test_a_weight_of_two_is_the_row_twice():
    train, rest = draw(), draw(seed=1)
    model = EducatedRegressor().fit(train, "y")
    twice = np.where(np.arange(len(rest)) % 2, 2.0, 1.0)
    more = pd.concat([rest, rest[twice == 2]])
    one, other = evaluate(model, rest, "y", sample_weight=twice), evaluate(model, more, "y")
    assert one.rmse.value == pytest.approx(other.rmse.value)
    assert one.covered.high == pytest.approx(other.covered.high)
    assert [band.rows for band in one.bands] == [band.rows for band in other.bands]


def test_exposure_multiplies_the_estimates():
    train = draw()
    model = EducatedRegressor(family="poisson").fit(train, "y")
    once = evaluate(model, train, "y")
    double = evaluate(model, train, "y", exposure=np.full(len(train), 2.0))
    assert double.mean_estimate == pytest.approx(2 * once.mean_estimate)


def test_an_evaluation_is_text_html_and_plain_data():
    train = draw()
    found = evaluate(EducatedRegressor().fit(train, "y"), train, "y")
    assert "RMSE" in found.to_text(80)
    assert "RMSE" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["n_rows"] == len(train)
    assert found.to_frame().num_rows == len(found.bands)


@pytest.mark.parametrize("given", [{"pos_label": 1}, {"costs": (1, 5)}, {"cut_off": [0.5]}])
def test_what_belongs_to_classes_is_refused_by_name(given):
    train = draw(60)
    with pytest.raises(ValueError, match=next(iter(given))):
        evaluate(EducatedRegressor().fit(train, "y"), train, "y", **given)


def test_limits_of_means_of_counts_are_not_negative():
    rest = draw(2000, seed=1).assign(y=0.0)
    rest.loc[[5, 900, 1500], "y"] = 1.0, 2.0, 1.0
    model = EducatedRegressor(family="poisson").fit(rest, "y")
    found = evaluate(model, rest, "y")
    for band in found.bands:
        assert 0 <= band.observed.low <= band.observed.value < band.observed.high
    assert min(found.mae.low, found.rmse.low) > 0


def test_limits_of_means_of_counts_cover_the_mean_as_often_as_they_state():
    random, inside = np.random.default_rng(0), []
    model = LinearRegression().fit(np.arange(2.0)[:, None], np.ones(2))  # one band
    for _ in range(400):
        y = random.poisson(0.2, 150)
        band = evaluate(model, np.ones((150, 1)), y).bands[0]
        inside.append(band.observed.low <= 0.2 <= band.observed.high)
    assert 0.92 < np.mean(inside) < 0.98


@pytest.mark.parametrize(("family", "odd"), [("poisson", -1.0), ("gamma", 0.0), ("tweedie", -0.5)])
def test_numbers_that_the_family_does_not_have_are_refused_by_name(family, odd):
    rows = pd.DataFrame({"kind": [*"ab"] * 40, "sum": np.arange(1.0, 81.0)})
    model = EducatedRegressor(family=family, pairs=0).fit(rows, "sum")
    wrong = rows.assign(sum=[odd, *rows["sum"][1:]])
    for use in (
        lambda: evaluate(model, wrong, "sum"),
        lambda: drift(model, wrong, "sum"),
        lambda: challenge(model, model, wrong, "sum"),
    ):
        with pytest.raises(ValueError, match=f"sum holds {odd:g}.*{family}"):
            use()


def test_rows_of_zeros_alone_are_evaluated_though_no_model_is_fitted_to_them():
    rows = pd.DataFrame({"kind": [*"ab"] * 40, "n": np.arange(80) % 3})
    model = EducatedRegressor(family="poisson", pairs=0).fit(rows, "n")
    assert evaluate(model, rows.assign(n=0), "n").mean_observed == 0


def test_training_rows_are_told_and_hold_out_rows_are_not():
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"x": random.normal(size=400), "y": random.normal(size=400)})
    model = EducatedRegressor(pairs=0).fit(rows[:200], "y")
    for part, share in ((rows[:200], 1.0), (rows, 0.5), (rows[200:], 0.0)):
        found = evaluate(model, part, "y")
        assert found.training_rows == pytest.approx(share, abs=0.1)
        assert any("training rows" in line for line in found.findings) == (share > 0)


# ------------------------------------------------------------ groups


def policies(n=3000, seed=0):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({"age": random.integers(18, 80, n), "years": random.uniform(0.1, 1, n)})
    rows["region"] = random.choice(["east", "north", "south"], n)
    mean = (
        rows["years"] * np.exp(-1 - 0.01 * rows["age"]) * np.where(rows["region"] == "south", 2, 1)
    )
    return rows.assign(claims=random.poisson(mean))


@pytest.fixture(scope="module")
def counted():
    model = EducatedRegressor(family="poisson", pairs=0)
    return model.fit(policies().drop(columns="region"), "claims", exposure="years")


def test_groups_are_sums_over_their_rows_per_unit_of_exposure(counted):
    rest = policies(seed=1)
    found = evaluate(counted, rest, "claims", by="region")
    means = counted.predict(rest, exposure="years")
    assert [group.name for group in found.groups] == ["east", "north", "south"]
    for group in (*found.groups, found.all_rows):
        own = rest["region"].isin([group.name]) | (group is found.all_rows)
        y, mean, years = rest["claims"][own], means[own], rest["years"][own].sum()
        assert group.n_rows == group.weight == own.sum()
        assert group.exposure == pytest.approx(years)
        assert group.observed == pytest.approx(y.sum() / years)
        assert group.estimate == pytest.approx(mean.sum() / years)
        assert group.ratio.value == pytest.approx(y.sum() / mean.sum())
        assert group.difference.value == pytest.approx((y - mean).sum() / years)
        assert group.rmse == pytest.approx(np.sqrt(((y - mean) ** 2).mean()))
        assert group.deviance == pytest.approx(mean_poisson_deviance(y, mean))
    assert found.all_rows.deviance == pytest.approx(found.deviance)
    for group in found.groups:
        named = any(f"{group.name} (" in line for line in found.findings)
        assert named == (not group.ratio.holds(1))


def test_without_exposure_groups_have_means_over_rows():
    train, rest = draw(), draw(seed=1)
    found = evaluate(EducatedRegressor(pairs=0).fit(train, "y"), rest, "y", by=rest["x"] > 1)
    for group, own in zip(found.groups, (rest["x"] <= 1, rest["x"] > 1), strict=True):
        assert group.observed == pytest.approx(rest["y"][own].mean())
        assert np.isnan(group.exposure)


@pytest.mark.parametrize("rate", [0.2, 3.0])
def test_intervals_of_the_ratio_cover_the_truth_as_often_as_they_state(rate):
    random, inside = np.random.default_rng(0), []
    model = LinearRegression().fit(np.arange(2.0)[:, None], np.arange(1.0, 3.0))
    for _ in range(400):
        x = random.uniform(0, 2, 80)
        y = random.poisson(rate * (1 + x))
        group = evaluate(model, x[:, None], y, by=np.zeros(80)).groups[0]
        gap = y.mean() - (1 + x).mean() - group.difference.value
        assert gap == pytest.approx(0, abs=1e-12)
        inside.append(group.ratio.low <= rate <= group.ratio.high)
    assert 0.92 < np.mean(inside) < 0.98


def test_a_group_without_an_event_has_an_upper_limit_only(counted):
    rest = policies(seed=1)
    rest.loc[rest["region"] == "east", "claims"] = 0
    east = evaluate(counted, rest, "claims", by="region").groups[0]
    assert (east.ratio.value, east.ratio.low) == (0, 0)
    assert 0 < east.ratio.high < 0.1  # of 150 that were expected


def test_a_group_without_a_ratio_has_all_judged_by_differences():
    model = LinearRegression(fit_intercept=False).fit(np.array([[1.0]]), [2.0])  # estimates 2x
    x = np.repeat([0.0, 1.0], 30)
    y = np.random.default_rng(0).poisson(1 + 3 * x)
    found = evaluate(model, x[:, None], y, by=x)
    assert not any(group.ratio.is_known() for group in (*found.groups, found.all_rows))
    assert all(group.difference.has_interval() for group in found.groups)


def test_a_table_of_groups_needs_groups(counted):
    with pytest.raises(ValueError, match="by"):
        evaluate(counted, policies(seed=1), "claims").to_frame("groups")


def test_with_exposure_means_are_told_per_row_and_groups_per_unit(counted):
    told = "\n".join(evaluate(counted, policies(seed=1), "claims", by="region").findings)
    assert "Mean estimate per row" in told
    told = "\n".join(evaluate(EducatedRegressor(pairs=0).fit(draw(), "y"), draw(), "y").findings)
    assert "per row" not in told


def test_an_evaluation_on_another_target_says_so(counted):
    rest = policies(seed=1)
    assert evaluate(counted, rest, "claims").note == ""
    found = evaluate(counted, rest.rename(columns={"claims": "losses"}), "losses")
    assert "'claims'" in found.note
    assert "'losses'" in found.note
    assert found.note in found.findings


def test_few_rows_have_no_interval_and_negative_numbers_no_ratio():
    rows = pd.DataFrame({"kind": [*"ab"] * 40, "sum": np.arange(80.0) - 40})
    model = EducatedRegressor(pairs=0).fit(rows, "sum")
    rows["part"] = ["few"] * 9 + ["many"] * 71
    few, many = evaluate(model, rows, "sum", by="part").groups
    assert few.note
    assert not few.difference.has_interval()
    assert many.difference.has_interval()
    assert not many.ratio.is_known()


def test_in_groups_a_weight_of_two_is_the_row_twice(counted):
    rest = policies(400, seed=1)
    weight = np.where(np.arange(400) % 3, 1.0, 2.0)
    one = evaluate(counted, rest, "claims", by="region", sample_weight=weight)
    more = pd.concat([rest, rest[weight == 2]])
    other = evaluate(counted, more, "claims", by="region")
    for left, right in zip(one.groups, other.groups, strict=True):
        for name in ("exposure", "observed", "estimate", "rmse", "deviance"):
            assert getattr(left, name) == pytest.approx(getattr(right, name))
        assert left.ratio.high == pytest.approx(right.ratio.high)


def test_other_regressors_get_the_columns_of_their_fit_alone():
    rest = policies(seed=1)
    model = LinearRegression().fit(rest[["age"]], rest["claims"])
    found = evaluate(model, rest, "claims", by=["region", "years"])
    assert sum(group.n_rows for group in found.groups) == len(rest)
    assert found.all_rows.ratio.value == pytest.approx(1)


def test_groups_are_in_text_html_data_and_report(counted):
    rest = policies(500, seed=1)
    found = evaluate(counted, rest, "claims", by="region")
    assert "south" in found.to_text(80)
    assert "south" in found._repr_html_()
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [group["name"] for group in told["groups"]] == ["east", "north", "south"]
    frame = found.to_frame("groups").to_pandas()
    assert frame["ratio_low"].tolist() == [group.ratio.low for group in found.groups]
    page = report(counted, rest, "claims", by="region")
    assert "Groups of region" in page
    assert "Groups of region" in report(counted, evaluation=found)


@pytest.mark.parametrize(
    ("factor", "told"),
    [(0.5, "vary too little"), (2.0, "vary too much"), (1.0, "no significant miscalibration")],
)
def test_the_slope_has_an_interval_and_a_verdict(factor, told):
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    rows = {"x": factor * x, "y": x + rng.normal(size=500)}
    model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    found = evaluate(model, rows["x"][:, None], rows["y"])
    assert found.slope.has_interval()
    assert found.slope.holds(1) == (factor == 1)
    assert told in " ".join(found.findings)


def test_the_error_of_the_slope_is_that_of_regressions_without_each_row():
    """HC3 is the sum over rows of squares of its pull on the slope, times its left-out residual."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=40)
    y = x + rng.normal(size=40) * np.abs(x)
    once, twice = np.ones(40), np.where(np.arange(40) < 7, 2.0, 1.0)
    design = np.column_stack([np.ones(40), x])
    inverse = np.linalg.inv(design.T @ design)
    total = np.zeros((2, 2))
    for i in range(40):
        rest = np.arange(40) != i
        line = np.linalg.lstsq(design[rest], y[rest], rcond=None)[0]
        total += np.outer(design[i], design[i]) * (y[i] - design[i] @ line) ** 2
    slope, error = slope_of(x, y, once)
    assert slope == pytest.approx(np.polyfit(x, y, 1)[0])
    assert error == pytest.approx(np.sqrt((inverse @ total @ inverse)[1, 1]))
    again = np.repeat(np.arange(40), twice.astype(int))
    assert slope_of(x, y, twice) == pytest.approx(slope_of(x[again], y[again], np.ones(47)))


@pytest.mark.parametrize("mean", [1e-30, 0.0, 0.1, 1 / 3, 1e9])
@pytest.mark.parametrize("power", [0.0, 1.0])
def test_equal_estimates_have_no_slope(mean, power):
    """Their weighted mean has a rounding error, which must not become a denominator."""
    rng = np.random.default_rng(2)
    numbers, weight = rng.gamma(2.0, size=100), rng.uniform(0.1, 3, 100)
    for estimates in (np.full(100, mean), mean * (1 + 1e-15 * rng.normal(size=100))):
        if mean > 0 or power == 0:
            assert np.isnan(slope_of(estimates, numbers, weight, power)).all()
    if mean > 0:
        vary = mean * (1 + 1e-6 * rng.normal(size=100))
        assert np.isfinite(slope_of(vary, numbers, weight, power)).all()


def test_a_model_without_effects_has_no_verdict_on_its_slope():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 1)), rng.normal(size=60)
    found = evaluate(DummyRegressor().fit(X, y), X, y, sample_weight=rng.uniform(0.1, 3, 60))
    assert "Calibration slope not defined: equal predictions." in found.findings


@pytest.mark.parametrize("weights_sum_to", [1.0, 2.0])
def test_a_slope_without_an_interval_is_told(weights_sum_to):
    """Weights count as copies of a row, so these are too few rows for an interval."""
    X = np.arange(60.0)[:, None]
    model = LinearRegression().fit(X, X[:, 0])
    found = evaluate(model, X, 2 * X[:, 0], sample_weight=np.full(60, weights_sum_to / 60))
    assert "Calibration slope 2.00: too few rows for an interval." in found.findings


@pytest.mark.parametrize(
    ("shift", "told"),
    [(0.0, ""), (-0.5, "too low on average, by 0.5"), (0.5, "too high on average, by 0.5")],
)
def test_a_bias_of_the_mean_is_told_although_the_slope_is_right(shift, told):
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    noise = rng.normal(size=500)
    y = x + noise - noise.mean()
    model = LinearRegression().fit([[0.0], [1.0]], [shift, 1.0 + shift])
    found = evaluate(model, x[:, None], y)
    said = " ".join(found.findings)
    assert found.bias.value == pytest.approx(-shift)
    assert found.bias.high - found.bias.low == pytest.approx(
        2 * t.ppf(0.975, 499) * noise.std(ddof=1) / np.sqrt(500)
    )
    assert found.is_biased() == bool(shift)
    assert told in said
    assert ("no significant miscalibration" in said) == (shift == 0)


@pytest.mark.parametrize("family", ["gaussian", "gamma"])
def test_the_number_of_threads_of_blas_changes_no_bit_of_the_measures(family):
    """From 10,000 rows on, OpenBLAS divides a dot product among threads."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (40_000, 2)).astype(float)
    y = rng.gamma(2.0, np.exp(0.1 * X[:, 0]))
    model = EducatedRegressor(pairs=0, family=family).fit(X, y)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(str(evaluate(model, X, y).to_dict()))
    assert found[0] == found[1]
