"""weigh.drift of events, and of estimates read off a curve: literal counts and sampling noise."""

from copy import copy

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import binom

import weigh
from weigh.cli import main
from weigh.errors import ParameterError
from weigh.frames import Sample, read
from weigh.monitoring.labels import Labelled, check_events, check_ratio, measure

BOTH = ("died", "days")


def draw(n, seed, *, rate=1.0, late=1.0, drug=0.7, old=0.0, start=False):
    """Exponential times to death; after day 100 times pass `late` times as fast."""
    random = np.random.default_rng(seed)
    age = random.uniform(40 + old, 80 + old, n)
    given = random.choice(["no", "yes"], n)
    hazard = rate * np.exp(0.04 * (age - 60) + drug * (given == "no")) / 300
    time = random.exponential(1 / hazard)
    time = np.where(time > 100, 100 + (time - 100) / late, time)
    censored = random.uniform(50, 700, n)
    frame = pd.DataFrame({"age": age, "drug": given, "days": np.minimum(time, censored)})
    frame["died"] = (time <= censored).astype(int)
    if start:
        frame["start"] = random.uniform(0, 100, n)
        frame = frame[frame["days"] > frame["start"]].reset_index(drop=True)
    return frame


@pytest.fixture(scope="module")
def model():
    return weigh.EducatedSurvival(pairs=0).fit(draw(3000, 0), BOTH)


def checks_of(found):
    return {check.name: check for check in found.every}


# ---------------------------------------------------------------- features


def test_training_rows_by_level_are_rows_and_not_rows_and_periods(model):
    rows, own = draw(3000, 0), model._population
    assert own.class_counts.tolist() == [(rows.died == 0).sum(), (rows.died == 1).sum()]
    assert own.names == ("age", "drug")
    expected = pd.crosstab(rows.drug, rows.died).to_numpy()
    np.testing.assert_array_equal(own["drug"].counts, expected)
    np.testing.assert_array_equal(own["age"].counts.sum(axis=0), own.class_counts)


def test_training_rows_have_not_drifted_and_older_ones_have(model, tmp_path):
    same = weigh.drift(model, draw(3000, 0))
    assert all(f.check.index == pytest.approx(0, abs=1e-12) for f in same.features)
    assert check_of_total(same) == pytest.approx(0, abs=1e-12)
    older = weigh.drift(model, draw(500, 1, old=15))
    assert (older.level, older.features[0].name, older.action) == ("alarm", "age", "get labels")
    weigh.save(model, tmp_path / "m.json")
    again = weigh.drift(weigh.load(tmp_path / "m.json"), draw(500, 1, old=15))
    assert again.to_dict() == older.to_dict()


def check_of_total(found):
    return checks_of(found)["mean total"].index


def test_new_levels_are_named_and_totals_are_compared_with_a_reference(model):
    rows = draw(400, 2)
    rows.loc[:99, "drug"] = "maybe"
    found = weigh.drift(model, rows, reference=draw(3000, 0))
    assert next(f for f in found.features if f.name == "drug").new_values == {"maybe": 100}
    assert "distribution of totals" in checks_of(found)


# ---------------------------------------------------------------- events


@pytest.mark.parametrize("start", [False, True])
def test_expected_events_are_the_hazards_added_row_by_row(model, start):
    rows = draw(150, 3, start=start)
    y = (*BOTH, "start") if start else BOTH
    hazards, ends = model.predict_hazard(rows), model.period_ends_
    passed = {t: float(model._periods.passed(np.array([t]))[0]) for t in [*rows.days, 0.0]}
    expected, observed = np.zeros(len(ends)), np.zeros(len(ends))
    for i, row in enumerate(rows.itertuples()):
        begin = float(model._periods.passed(np.array([row.start]))[0]) if start else 0.0
        own = int(np.searchsorted(ends, row.days))
        for k in range(len(ends)):
            at_risk = min(max(passed[row.days] - k, 0), 1) - min(max(begin - k, 0), 1)
            if row.died and own == k:
                observed[k] += 1
                at_risk = 1.0
            expected[k] += at_risk * hazards[i, k]
    found = check_events(model, rows, y).quality[0]
    assert found.observed == observed.sum()
    assert found.expected == pytest.approx(expected.sum(), rel=1e-9)
    last = [int(np.searchsorted(ends, span.until)) for span in found.spans]
    for first, end, span in zip([-1, *last[:-1]], last, found.spans, strict=True):
        assert span.observed == observed[first + 1 : end + 1].sum()
        assert span.expected == pytest.approx(expected[first + 1 : end + 1].sum(), rel=1e-9)


def test_the_model_expects_about_the_events_of_its_training_rows(model):
    found = check_events(model, draw(3000, 0), BOTH).quality[0]
    assert found.in_the_large.value == pytest.approx(1, abs=1e-3)  # bins are joined after the fit


@pytest.mark.parametrize(
    ("observed", "expected", "before"), [(0, 12.0, 400), (7, 3.5, 40), (60, 50, 30)]
)
def test_the_p_value_of_events_is_that_of_a_binomial_count(observed, expected, before):
    n, share = observed + before, expected / (expected + before)
    least = 1 - binom.cdf(observed - 1, n, share)
    most = binom.cdf(observed, n, share)
    found = check_ratio("events", observed, expected, before)
    assert found.p_value == pytest.approx(min(1, 2 * min(least, most)), rel=1e-9)


@pytest.mark.parametrize("n", [60, 400])
def test_events_of_the_same_distribution_seldom_raise_anything(n):
    """Each draw has a model of its own, so that the noise of training counts."""
    raised, alpha, draws = 0, 0.05, 30
    for seed in range(draws):
        model = weigh.EducatedSurvival(pairs=0, periods=8, bins=5)
        model.fit(draw(500, seed), BOTH)
        found = weigh.drift(model, draw(n, 1000 + seed), BOTH, alpha=alpha)
        raised += min(check.adjusted for check in found.every) < alpha
    assert raised <= binom.ppf(0.99, draws, alpha)


def test_more_events_everywhere_ask_for_another_scale(model):
    found = weigh.drift(model, draw(800, 5, rate=1.5), BOTH)
    assert found.action == "rescale"
    assert found.quality[0].in_the_large.low > 1.2
    assert {c.name for c in found.every if c.level != "none"} == {"events"}
    assert f"{found.quality[0].in_the_large.value:.3g}" in found.verdict


def test_events_that_come_late_ask_for_a_refit_and_are_found_by_time(model):
    found = weigh.drift(model, draw(1000, 6, late=3.0), BOTH)
    assert found.action == "refit"
    assert checks_of(found)["events by time"].level != "none"
    assert found.quality[0].spans[-1].ratio.low > 1.5


def test_a_drug_that_no_longer_works_asks_for_a_refit_and_its_levels_are_named(model):
    found = weigh.drift(model, draw(1500, 7, drug=-0.7), BOTH)
    assert found.action == "refit"
    assert {one.feature for one in found.moved} == {"drug"}


def test_no_event_where_many_are_expected_is_found(model):
    rows = draw(300, 8).assign(died=0)
    found = weigh.drift(model, rows, BOTH)
    quality = found.quality[0]
    assert (quality.observed, quality.in_the_large.low) == (0, 0)
    assert quality.in_the_large.high < 0.1
    assert found.action == "rescale"


def test_events_of_the_future_are_not_expected(model):
    """Rows observed beyond the last period count until its end."""
    rows = draw(200, 9).assign(died=0, days=5000.0)
    found = check_events(model, rows, BOTH).quality[0]
    assert found.expected == pytest.approx(model.predict_hazard(rows).sum(), rel=1e-9)


def test_a_series_takes_event_and_duration(model):
    months = {"May": draw(300, 1), "June": draw(300, 2).drop(columns="died"), "July": draw(300, 3)}
    found = weigh.drift_series(model, months, BOTH)
    assert found.without_labels == ("June",)
    assert [len(one.quality) for one in found.drifts.values()] == [1, 0, 1]
    with pytest.raises(ParameterError, match="nope"):
        weigh.drift_series(model, months, ("nope", "days"))


def test_event_and_duration_of_new_rows_may_have_other_names(model):
    rows = draw(1500, 7, drug=-0.7)
    own = weigh.drift(model, rows, BOTH)
    named = weigh.drift(
        model, rows.rename(columns={"died": "dead", "days": "time"}), ["dead", "time"]
    )
    assert [check.name for check in named.checks] == [check.name for check in own.checks]
    assert named.moved == own.moved
    both = {"May": rows, "June": rows}
    assert [one.to_dict() for one in weigh.drift_series(model, both, [*BOTH]).drifts.values()] == [
        own.to_dict()
    ] * 2


def test_rows_that_were_not_yet_at_risk_say_nothing_of_events(model):
    rows = draw(300, 8).assign(died=0, days=1e-9)
    found = weigh.drift(model, rows, BOTH)
    assert (found.quality[0].expected, found.quality[0].spans) == (0, ())
    assert {check.name for check in found.checks} == {"mean total"}
    assert "No events" in found.verdict
    assert "No events" in weigh.drift(model, rows.assign(age=90.0), BOTH).verdict
    assert "No events" not in weigh.drift(model, draw(300, 8), BOTH).verdict
    assert found.to_html()


def test_events_have_no_exposure(model):
    for y in (BOTH, None):
        with pytest.raises(ParameterError) as refused:
            weigh.drift(model, draw(100, 1), y, exposure="age")
        assert refused.value.parameter == "exposure"


def test_the_slope_of_rows_with_weights_is_judged_as_that_of_copies(model):
    """Rows and periods have weights: the shares of periods at risk."""
    random = np.random.default_rng(0)
    table, weight = read(draw(300, 0)), random.integers(1, 6, 300)
    p, labels = random.uniform(0.1, 0.9, 300), random.integers(0, 2, 300)
    indices = []
    for places, own in ((np.arange(300), weight * 1.0), (np.repeat(np.arange(300), weight), None)):
        kept, odds = np.ones(len(places), dtype=bool), np.column_stack([1 - p, p])[places]
        counts = np.bincount(labels[places], own)
        sample = Sample(table.rows(places), labels[places], np.arange(2), own, counts, kept)
        indices.append(measure(Labelled(model.evidence_, sample, odds), 1)[1][1].index)
    assert indices[0] == pytest.approx(indices[1], rel=1e-6)


def test_the_command_line_finds_the_drift_of_events(model, tmp_path):
    weigh.save(model, tmp_path / "m.json")
    draw(800, 5, rate=1.8).to_csv(tmp_path / "new.csv", index=False)
    words = ["drift", str(tmp_path / "m.json"), str(tmp_path / "new.csv"), "--fail-on", "warning"]
    known = CliRunner().invoke(main, words)
    assert known.exit_code == 3
    assert "Events over time" in known.stdout
    assert CliRunner().invoke(main, [*words, "--event", "died"]).stdout == known.stdout
    draw(800, 5, rate=1.8).drop(columns="died").to_csv(tmp_path / "new.csv", index=False)
    features = CliRunner().invoke(main, words)
    assert features.exit_code == 0
    assert "Events over time" not in features.stdout
    wrong = CliRunner().invoke(main, [*words, "--target", "died"])
    assert wrong.exit_code == 2
    assert "--target" in wrong.stderr


# ---------------------------------------------------------------- estimates read off a curve


def amounts(n, seed, *, more=0.0, slope=1.0, noise=0.4):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": random.normal(size=n), "kind": random.choice([*"abc"], n)})
    effect = slope * (0.5 * frame["x"] + (frame["kind"] == "b"))
    return frame.assign(y=np.exp(effect + noise * random.normal(size=n)) + more)


@pytest.fixture(scope="module")
def boosted():
    return weigh.BoostedNBRegressor(random_state=0).fit(amounts(3000, 0), "y")


def test_features_of_a_boosted_regressor_drift(boosted):
    same = weigh.drift(boosted, amounts(3000, 0))
    assert all(f.check.index == pytest.approx(0, abs=1e-12) for f in same.features)
    moved = amounts(500, 1).assign(kind="c")
    found = weigh.drift(boosted, moved)
    assert (found.level, found.features[0].name, found.action) == ("alarm", "kind", "get labels")


def test_hold_out_errors_of_given_splits_are_those_of_models_fitted_without_them():
    rows = amounts(300, 2)
    half = np.arange(300) < 150
    splits = [
        (np.flatnonzero(half), np.flatnonzero(~half)),
        (np.flatnonzero(~half), np.flatnonzero(half)),
    ]
    whole = (float(rows.y.min()), float(rows.y.max()))
    bins = {"x": [-1.0, 0.0, 1.0]}
    model = weigh.BoostedNBRegressor(bins=bins, y_range=whole, cv=splits, random_state=0)
    weight = np.where(np.arange(300) % 3, 1.0, 2.0)
    model.fit(rows, "y", sample_weight=weight)
    estimates = np.empty(300)
    for train, test in splits:
        own = weigh.BoostedNBRegressor(bins=bins, y_range=whole, calibrate_scale=False)
        own.fit(rows.iloc[train], "y", sample_weight=weight[train])
        estimates[test] = own.predict(rows.iloc[test])
    errors = rows.y - estimates
    mean = np.average(errors, weights=weight)
    assert model.hold_out_error_ == pytest.approx(mean, rel=1e-9)
    variance = np.average((errors - mean) ** 2, weights=weight)
    assert model.hold_out_variance_ == pytest.approx(variance, rel=1e-9)
    slope = np.polyfit(estimates, rows.y, 1, w=np.sqrt(weight))[0]
    assert model.hold_out_slope_ == pytest.approx(slope, rel=1e-9)
    assert model.hold_out_rows_ == pytest.approx(400**2 / 600)


def test_numbers_of_the_same_distribution_seldom_raise_anything(boosted):
    """Its estimates are medians of skewed amounts: their mean error is no drift."""
    raised, alpha, draws = 0, 0.05, 100
    for seed in range(draws):
        found = weigh.drift(boosted, amounts(300, 100 + seed), "y", alpha=alpha)
        raised += min(check.adjusted for check in found.every) < alpha
    assert abs(boosted.hold_out_error_) > 0.1
    assert raised <= binom.ppf(0.99, draws, alpha)


def test_the_fewer_the_hold_out_rows_the_less_a_change_of_numbers_tells(boosted):
    """All variances are 1 + n/N times those of the new rows, with N hold-out rows."""
    rows, n = amounts(500, 3), 500
    found = {}
    for held_out in (250.0, 1e12):
        own = copy(boosted)
        own.hold_out_rows_ = held_out
        found[held_out] = {check.name: check for check in weigh.drift(own, rows, "y").checks}
    for name in ("mean estimate", "calibration slope", "mean squared error"):
        few, many = (found[held_out][name] for held_out in (250.0, 1e12))
        assert few.chance == pytest.approx((1 + n / 250) * many.chance, rel=1e-6)
        assert few.index == many.index


def test_numbers_that_were_estimated_without_error_drift_if_they_change_and_else_not():
    rows = pd.DataFrame({"g": np.repeat([*"ab"], 200)})
    rows["y"] = (rows.g == "b") * 1.0
    model = weigh.BoostedNBRegressor(random_state=0).fit(rows, "y")
    assert model.hold_out_variance_ == 0
    assert weigh.drift(model, rows[100:300], "y").level == "none"
    assert weigh.drift(model, rows.assign(y=rows.y + 5), "y").action == "rescale"
    assert weigh.drift(model, rows.assign(y=1 - rows.y), "y").action == "refit"


def test_observed_numbers_are_told_as_they_are_and_checked_within_the_range_of_the_fit():
    model = weigh.BoostedNBRegressor(y_range=(0.0, 5.0), random_state=0).fit(amounts(1000, 0), "y")
    rows = amounts(400, 1)
    far = rows.assign(y=rows.y.where(rows.y < 5, 1000.0))
    one, other = (weigh.drift(model, own, "y") for own in (rows, far))
    assert [check.index for check in one.checks] == [check.index for check in other.checks]
    assert other.quality[0].mean_observed == pytest.approx(far.y.mean())
    assert other.quality[0].mean_observed > one.quality[0].mean_observed + 1


def test_larger_numbers_ask_for_another_scale_and_other_effects_for_a_refit(boosted):
    assert weigh.drift(boosted, amounts(500, 3, more=2.0), "y").action == "rescale"
    assert weigh.drift(boosted, amounts(800, 4, slope=-1.0), "y").action == "refit"


def test_a_model_without_hold_out_errors_is_told_how_to_get_them():
    model = weigh.BoostedNBRegressor(calibrate_scale=False).fit(amounts(200, 0), "y")
    assert weigh.drift(model, amounts(200, 1)).level in ("none", "notice")
    with pytest.raises(ParameterError, match="calibrate_scale"):
        weigh.drift(model, amounts(200, 1), "y")
