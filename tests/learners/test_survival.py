"""EducatedSurvival: the binary fit of person-period rows, Kaplan-Meier, calibration, refusals."""

import io
import json
from functools import partial

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from tests.commands import run
from tests.learners.test_educated_regressor import SCHEMA
from tests.serving import ask

import weigh
from weigh import EducatedNB, EducatedSurvival, evaluate, person_periods
from weigh.cli import main
from weigh.errors import ParameterError
from weigh.metrics.survival import KaplanMeier, brier_scores, concordance
from weigh.serving import make_app
from weigh.survival import Periods, read_outcomes
from weigh.survival.periods import read_survival

BOTH = ("died", "days")


def draw(n=400, seed=0, entry=False):
    """Weibull times whose scale depends on two features, censored at random; in whole days."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": random.uniform(20, 80, n), "drug": random.choice([*"ab"], n)})
    scale = np.exp(5.0 - 0.03 * (frame["age"] - 50) + 0.8 * (frame["drug"] == "b"))
    times = np.ceil(scale * random.weibull(1.3, n))
    ends = np.ceil(random.exponential(250, n))
    frame = frame.assign(days=np.minimum(times, ends), died=times <= ends)
    return (
        frame.assign(start=np.floor(frame["days"] * random.uniform(0, 0.8, n))) if entry else frame
    )


def literal_km(event, duration, entry=None):
    """Kaplan & Meier as printed: the product over times of events of 1 - events/at risk."""
    entry = np.zeros(len(event)) if entry is None else entry
    found, left = {}, 1.0
    for time in np.unique(duration[event]):
        risk = ((duration >= time) & (entry < time)).sum()
        left *= 1 - (event & (duration == time)).sum() / risk
        found[float(time)] = left
    return found


@pytest.mark.parametrize("entry", [False, True])
def test_a_fit_is_the_binary_fit_of_person_period_rows(entry):
    frame = draw(entry=entry)
    names = ("died", "days", "start") if entry else BOTH
    model = EducatedSurvival(periods=6).fit(frame, names)
    rows = person_periods(frame, names, periods=6)
    cuts = np.unique(rows["days"])[:-1].tolist()
    binary = EducatedNB(bins={"days": cuts}).fit(rows, "died", sample_weight="weight")
    ends = model.period_ends_
    assert cuts == ends[:-1].tolist()
    new = draw(30, seed=1)[["age", "drug"]]
    for k, end in enumerate(ends):
        expected = binary.predict_proba(new.assign(days=end))[:, 1]
        np.testing.assert_allclose(model.predict_hazard(new)[:, k], expected, atol=1e-9)
    survival = np.cumprod(1 - model.predict_hazard(new), axis=1)
    np.testing.assert_allclose(model.predict_survival(new, ends), survival, atol=1e-9)


@pytest.mark.parametrize("entry", [False, True])
def test_rates_of_person_period_rows_at_every_event_are_kaplan_and_meiers(entry):
    frame = draw(entry=entry)
    names = ("died", "days", "start") if entry else BOTH
    periods = np.unique(frame["days"][frame["died"]]).tolist()
    rows = person_periods(frame, names, periods=periods).to_pandas()
    assert (rows["weight"] == 1).all()
    rates = rows.groupby("days")["died"].mean()
    expected = literal_km(frame["died"], frame["days"], frame.get("start"))
    np.testing.assert_allclose(np.cumprod(1 - rates), [*expected.values()], atol=1e-12)


def test_without_features_and_with_vanishing_penalty_a_model_is_kaplan_and_meiers():
    frame = draw(200)[["days", "died"]].assign(days=lambda f: np.ceil(f["days"] / 30))
    heavy = np.full(200, 1e7)  # beside which the penalty vanishes
    model = EducatedSurvival(periods=1000).fit(frame, BOTH, sample_weight=heavy)
    expected = literal_km(frame["died"].to_numpy(), frame["days"].to_numpy())
    found = model.predict_survival([{}], [*expected])[0]
    np.testing.assert_allclose(found, [*expected.values()], atol=1e-4)
    between = model.predict_survival([{}], np.array([*expected]) - 0.5)[0]
    np.testing.assert_allclose(between, [1.0, *expected.values()][:-1], atol=1e-4)


def test_coarse_periods_give_the_survival_of_fine_ones():
    frame = draw(3000, seed=3)[["days", "died"]]
    fine = KaplanMeier.of(frame["died"], frame["days"].to_numpy())
    times = np.quantile(frame["days"][frame["died"]], np.linspace(0.05, 0.95, 19))
    coarse = EducatedSurvival(periods=4).fit(frame, BOTH)
    np.testing.assert_allclose(coarse.predict_survival([{}], times)[0], fine.at(times), atol=0.01)


def test_shares_of_a_period_add_up_to_what_was_observed():
    frame = draw(300, entry=True)
    _, outcomes, weight = read_survival(frame, ("died", "days", "start"), None)
    periods = Periods.of(outcomes, weight, 5)
    rows = periods.expand(outcomes)
    assert rows.event.sum() == frame["died"].sum()
    quiet = ~outcomes.event
    seen = periods.passed(outcomes.duration) - periods.passed(outcomes.entry)
    found = np.bincount(rows.rows, rows.share, len(frame))
    np.testing.assert_allclose(found[quiet], seen[quiet], atol=1e-9)


@pytest.mark.parametrize(("seed", "other"), [(4, 5), (10, 11), (20, 21)])
def test_probabilities_of_the_event_by_a_time_are_calibrated_on_hold_out_rows(seed, other):
    train, rest = draw(3000, seed=seed), draw(3000, seed=other)
    model = EducatedSurvival().fit(train, BOTH)
    for moment in evaluate(model, train, BOTH).moments:
        assert abs(moment.estimate - moment.observed.value) < 0.01
    found = evaluate(model, rest, BOTH)
    for part in (*found.moments, *found.bands):
        observed = part.observed
        error = np.sqrt(2) * (observed.high - observed.low) / (2 * 1.96)  # of rest and of train
        assert abs(part.estimate - observed.value) < 4 * error
    assert all(moment.brier <= moment.brier_base + 1e-3 for moment in found.moments)
    assert found.concordance > 0.65
    assert found.brier < found.brier_base


def test_the_truth_is_found_where_there_is_no_censoring():
    frame = draw(6000, seed=6)
    model = EducatedSurvival().fit(frame, BOTH)
    new = pd.DataFrame({"age": [30.0, 50.0, 70.0] * 2, "drug": [*"aaabbb"]})
    scale = np.exp(5.0 - 0.03 * (new["age"] - 50) + 0.8 * (new["drug"] == "b")).to_numpy()
    times = np.array([50.0, 100.0, 200.0])
    expected = np.exp(-((times / scale[:, None]) ** 1.3))
    np.testing.assert_allclose(model.predict_survival(new, times), expected, atol=0.07)


def test_a_median_is_the_first_time_of_survival_of_one_half():
    frame = draw(600)
    frame = frame.assign(
        died=frame["died"] & (frame["days"] <= 120), days=frame["days"].clip(0, 120)
    )
    model = EducatedSurvival(periods=8).fit(frame, BOTH)
    new = draw(50, seed=1)
    medians = model.predict_median(new)
    assert np.isinf(medians).any()
    last = model.predict_survival(new, model.period_ends_[-1])[:, 0]
    assert (np.isinf(medians) == (last > 0.5)).all()
    for i in np.flatnonzero(np.isfinite(medians)):
        row = new.iloc[[i]]
        at, before = model.predict_survival(row, [medians[i], np.nextafter(medians[i], 0)])[0]
        assert at <= 0.5 + 1e-9
        assert before > 0.5 - 1e-9


def test_a_weight_of_two_is_the_row_twice():
    frame = draw(200)
    twice = pd.concat([frame, frame[::2]])
    weight = np.where(np.arange(len(frame)) % 2, 1.0, 2.0)
    new, times = draw(20, seed=1), [30.0, 90.0]
    one = EducatedSurvival(periods=5).fit(frame, BOTH, sample_weight=weight)
    two = EducatedSurvival(periods=5).fit(twice, BOTH)
    expected = two.predict_survival(new, times)
    np.testing.assert_allclose(one.predict_survival(new, times), expected, atol=1e-9)


def test_a_structured_array_is_the_two_columns():
    frame = draw()
    y = np.array([*zip(frame["died"], frame["days"], strict=True)],
                 dtype=[("died", bool), ("days", float)])  # fmt: skip
    X, new = frame[["age", "drug"]], draw(20, seed=1)
    by_name = EducatedSurvival(periods=5).fit(frame, BOTH).predict_survival(new, [50.0])
    model = EducatedSurvival(periods=5).fit(X, y)
    np.testing.assert_array_equal(model.predict_survival(new[["age", "drug"]], [50.0]), by_name)
    assert model.score(X, y) == pytest.approx(evaluate(model, X, y).concordance)
    scores = cross_val_score(EducatedSurvival(periods=5), X, y, cv=3)
    assert (scores > 0.55).all()


def test_an_array_without_names_is_a_table():
    frame = draw()
    y = np.rec.fromarrays([frame["died"], frame["days"]], names=["event", "time"])
    X = frame[["age"]].to_numpy()
    model = EducatedSurvival(periods=5, bins={0: 4}, monotonic_cst=[1]).fit(X, y)
    assert model.n_features_in_ == 1
    assert (np.diff(model.predict_survival(np.array([[20.0], [40.0], [60.0], [80.0]]), 50.0)[:, 0])
            <= 1e-12).all()  # fmt: skip


def test_a_sheet_adds_up_to_the_hazard():
    frame = draw()
    model = EducatedSurvival(periods=5).fit(frame, BOTH)
    case = {"age": 70.0, "drug": "a"}
    for k, end in enumerate(model.period_ends_):
        sheet = model.balance_sheet(case, time=end)
        assert sheet.probability == pytest.approx(model.predict_hazard([case])[0, k])
    items = [item.feature for item in (*model.balance_sheet(case).evidence_for,
                                       *model.balance_sheet(case).evidence_against)]  # fmt: skip
    assert "days" not in items


def test_a_file_gives_the_model_back(tmp_path):
    frame, new = draw(), draw(20, seed=1)
    model = EducatedSurvival(periods=5).fit(frame, BOTH)
    weigh.save(model, tmp_path / "model.json")
    Draft202012Validator(SCHEMA).validate(json.loads((tmp_path / "model.json").read_text("utf-8")))
    again = weigh.load(tmp_path / "model.json")
    for times in (30.0, [0.0, 50.0, model.horizon_]):
        expected = model.predict_survival(new, times)
        np.testing.assert_array_equal(again.predict_survival(new, times), expected)
    np.testing.assert_array_equal(again.predict_median(new), model.predict_median(new))
    assert again.get_params() == model.get_params()
    assert clone(model).get_params() == model.get_params()


def test_concordance_is_that_of_all_pairs():
    random = np.random.default_rng(0)
    event, duration = random.random(80) < 0.6, random.integers(1, 12, 80).astype(float)
    risk = random.integers(0, 9, 80).astype(float)
    wins = pairs = 0.0
    for i in np.flatnonzero(event):
        for j in range(80):
            if duration[j] > duration[i] or (duration[j] == duration[i] and not event[j]):
                pairs += 1
                wins += 1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0
    assert concordance(event, duration, risk) == pytest.approx(wins / pairs)


def test_brier_scores_are_those_of_the_formula():
    random = np.random.default_rng(1)
    event, duration = random.random(60) < 0.5, random.integers(1, 10, 60).astype(float)
    times = np.array([2.0, 5.0, 8.0])
    survival = random.random((60, 3))

    def stays(time, before):
        left = 1.0
        for t in np.unique(duration[~event]):
            if t < time or (t == time and not before):
                risk = ((duration > t) | ((duration == t) & ~event)).sum()
                left *= 1 - ((duration == t) & ~event).sum() / risk
        return left

    for k, time in enumerate(times):
        total = 0.0
        for i in range(60):
            if event[i] and duration[i] <= time:
                total += survival[i, k] ** 2 / stays(duration[i], before=True)
            elif duration[i] > time:
                total += (1 - survival[i, k]) ** 2 / stays(time, before=False)
        found = brier_scores(event, duration, survival, times)[k]
        assert found == pytest.approx(total / 60)


def test_a_prediction_of_the_truth_has_the_brier_score_of_complete_rows():
    random = np.random.default_rng(2)
    n = 20_000
    times, ends = random.exponential(10, n), random.exponential(15, n)
    own = np.full((n, 1), np.exp(-0.5))
    whole = brier_scores(np.ones(n, bool), times, own, np.array([5.0]))
    seen = brier_scores(times <= ends, np.minimum(times, ends), own, np.array([5.0]))
    assert seen == pytest.approx(whole, abs=0.01)


WRONG = {
    "event": (draw(30).assign(died=2), BOTH, "died"),
    "no event": (draw(30).assign(died=0), BOTH, "died"),
    "zero": (draw(30).assign(days=0.0), BOTH, "days"),
    "negative": (draw(30).assign(days=-1.0), BOTH, "days"),
    "not known": (draw(30).assign(days=np.nan), BOTH, "days"),
    "entry": (draw(30).assign(start=500.0), ("died", "days", "start"), "days"),
    "negative entry": (draw(30).assign(start=-1.0), ("died", "days", "start"), "start"),
    "no column": (draw(30), ("died", "weeks"), "weeks"),
    "twice": (draw(30), ("died", "died"), "died"),
    "text": (draw(30).assign(died="dead"), BOTH, "'dead'"),
    "words with a blank": (draw(30).assign(died=["Yes", *["No"] * 28, None]), BOTH, "1 of 30"),
    "a word for another time": (draw(30).assign(died="yes", days="yes"), BOTH, "days"),
    "some zero": (draw(30).assign(days=[3.0] * 28 + [0.0, 0.0]), BOTH, "'days'.* 2 of 30"),
    "one": (draw(30), ("died",), "died"),
    "a name": (draw(30), "died", "structured"),
}


@pytest.mark.parametrize(("frame", "y", "named"), WRONG.values(), ids=WRONG)
def test_bad_outcomes_are_refused_by_name(frame, y, named):
    with pytest.raises(ValueError, match=named) as error:
        EducatedSurvival().fit(frame, y)
    if isinstance(error.value, ParameterError):
        assert error.value.parameter == "y"


@pytest.mark.parametrize("words", [("No", "Yes"), ("FALSE", "true "), ("0", "1")])
def test_an_event_in_plain_words_is_that_of_truth_values(words):
    frame = draw(300)
    worded = frame.assign(died=np.where(frame["died"], words[1], words[0]))
    for own in (worded, worded.astype({"died": "category"})):
        model = EducatedSurvival(periods=4).fit(own, BOTH)
        same = EducatedSurvival(periods=4).fit(frame, BOTH)
        assert model.evidence_.to_text() == same.evidence_.to_text()
        assert str(weigh.evaluate(model, own, BOTH)) == str(weigh.evaluate(same, frame, BOTH))


@pytest.mark.parametrize("periods", [0, 1.5, "many", [], [3.0, 2.0], [0.0, 2.0], [0.5]])
def test_bad_periods_are_refused_by_name(periods):
    with pytest.raises(ParameterError) as error:
        EducatedSurvival(periods=periods).fit(draw(50), BOTH)
    assert error.value.parameter == "periods"


def test_a_model_ends_with_its_last_period_if_events_come_later():
    frame = draw()
    last = frame["days"].max()
    short = EducatedSurvival(periods=[20.0, 60.0]).fit(frame, BOTH)
    assert short.horizon_ == 60.0
    with pytest.raises(ParameterError, match="from 0 to 60, the end of the model's follow-up"):
        short.predict_survival(frame[:2], [60.0, 61.0])
    assert [moment.time <= 60 for moment in evaluate(short, frame, BOTH).moments] == [True] * 5
    late = frame[frame["days"] > 60]
    with pytest.raises(ParameterError, match="no event by 60, the end"):
        evaluate(short, late, BOTH)
    assert EducatedSurvival(periods=[20.0, last]).fit(frame, BOTH).horizon_ == last
    calm = frame.assign(died=frame["died"] & (frame["days"] <= 60))  # no event after the last end
    assert EducatedSurvival(periods=[20.0, 60.0]).fit(calm, BOTH).horizon_ == last


@pytest.mark.parametrize("entry", [False, True])
def test_a_dataframe_of_outcomes_is_the_pair_of_names(entry):
    frame = draw(entry=entry)
    names = ["died", "days", "start"] if entry else [*BOTH]
    named = EducatedSurvival(periods=4, pairs=0).fit(frame, tuple(names))
    words = frame[names].assign(died=np.where(frame["died"], "yes", "no"))
    for X, y in (
        (frame.drop(columns=names), frame[names]),
        (frame, words),  # the outcomes are no features
        (frame.drop(columns=names), pa.Table.from_pandas(frame[names])),
    ):
        model = EducatedSurvival(periods=4, pairs=0).fit(X, y)
        assert model.feature_names_in_.tolist() == ["age", "drug"]
        np.testing.assert_array_equal(model.predict_hazard(frame), named.predict_hazard(frame))
    if not entry:
        X, y = frame.drop(columns=names), frame[names]
        scores = cross_val_score(EducatedSurvival(periods=4, pairs=0), X, y, cv=3)
        assert (scores > 0.5).all()
    with pytest.raises(ValueError, match="400 rows against 399"):
        EducatedSurvival().fit(frame, frame[names].head(399))
    for odd in (frame["died"], (frame["died"], frame["days"])):
        with pytest.raises(ParameterError, match="a dataframe of these two columns"):
            EducatedSurvival().fit(frame, odd)


def test_a_waterfall_names_the_period_of_the_hazard():
    model, case = EducatedSurvival(periods=4).fit(draw(), BOTH), {"age": 30.0, "drug": "a"}
    display = weigh.BalanceSheetDisplay.from_estimator(model, case)
    assert "Probability that died happens in one period, if not" in display.ax_.get_title()


def test_a_report_counts_parts_of_periods_with_four_digits():
    model = EducatedSurvival(periods=4).fit(draw(), BOTH)
    page = weigh.report(model, draw(seed=1), BOTH)
    counts = [own.counts.sum(axis=1) for own in model.evidence_]
    parts = [rows for rows in np.concatenate(counts).tolist() if rows % 1 and rows < 1000]
    assert parts
    assert all(f"{rows:.4g}<" in page for rows in parts)
    assert not any(f"{rows:.6g}<" in page for rows in parts if f"{rows:.6g}" != f"{rows:.4g}")


def test_times_of_an_evaluation_have_six_digits():
    frame = draw().assign(days=lambda rows: rows["days"] / 7)
    found = str(evaluate(EducatedSurvival(periods=4).fit(frame, BOTH), frame, BOTH))
    assert f"event by day {np.quantile(frame['days'][frame['died']], 0.5):.6g}, by" in found


def test_bad_times_are_refused_by_name():
    model = EducatedSurvival(periods=3).fit(draw(50), BOTH)
    for times in (-1.0, model.horizon_ + 1, np.nan, [[1.0]], [], "30", True, [True], ["30"]):
        with pytest.raises(ParameterError) as error:
            model.predict_survival(draw(3), times)
        assert error.value.parameter == "times"
    with pytest.raises(ParameterError) as error:
        model.balance_sheet({"age": 30.0}, time=-1.0)
    assert error.value.parameter == "time"


def test_an_evaluation_refuses_what_it_cannot_take():
    frame = draw(100)
    model = EducatedSurvival(periods=3).fit(frame, BOTH)
    with pytest.raises(ParameterError) as error:
        evaluate(model, frame, BOTH, costs=(1, 2))
    assert error.value.parameter == "costs"


def test_ends_of_periods_may_be_given():
    frame = draw(500)
    model = EducatedSurvival(periods=[30.0, 90.0, 180.0]).fit(frame, BOTH)
    assert model.period_ends_.tolist() == [30.0, 90.0, 180.0]
    known = KaplanMeier.of(frame["died"], frame["days"].to_numpy())
    found = model.predict_survival(frame, [30.0, 90.0, 180.0]).mean(axis=0)
    np.testing.assert_allclose(found, known.at([30.0, 90.0, 180.0]), atol=0.02)
    assert read_outcomes(weigh.frames.read(frame), BOTH)[0].names == ("age", "drug")


# ---------------------------------------------------------------- parameters of the features


def test_a_feature_that_person_period_rows_would_overwrite_is_refused_by_name():
    with pytest.raises(ParameterError, match="'weight'"):
        person_periods(draw(50).assign(weight=1.0), BOTH)
    frame = draw(50)
    y = np.array([*zip(frame["died"], frame["days"], strict=True)], [("e", "?"), ("t", "<f8")])
    with pytest.raises(ParameterError, match="'e'"):
        person_periods(frame[["age"]].assign(e=0), y)


def test_what_is_given_for_all_columns_is_not_of_the_time():
    frame = draw()
    time = EducatedSurvival(pairs=0).fit(frame, BOTH)
    last = time.period_ends_[-1]
    given = EducatedSurvival(pairs=0, special_values=[last], max_levels=2, missing="skip")
    given.fit(frame, BOTH)
    assert given.evidence_["days"].labels == time.evidence_["days"].labels
    # codes that no row has are a table of their own, a search ends near the best scales, and a row
    # or two between two bins that are merged may change sides
    apart = np.abs(given.predict_hazard(frame) / time.predict_hazard(frame) - 1).max(axis=1)
    assert (apart > 0.02).sum() <= 2
    assert apart.max() < 0.15


def test_categories_may_be_given_as_a_mask():
    frame = draw().assign(ward=lambda f: f["age"].astype(int) % 3)[["ward", "age", *BOTH]]
    mask = EducatedSurvival(categorical_features=[True, False], pairs=0).fit(frame, BOTH)
    named = EducatedSurvival(categorical_features=["ward"], pairs=0).fit(frame, BOTH)
    assert mask.predict_risk(frame) == pytest.approx(named.predict_risk(frame))


def test_a_period_in_which_every_row_has_the_event_is_refused_by_name():
    frame = draw(50).assign(died=1)
    with pytest.raises(ParameterError, match="first period") as error:
        EducatedSurvival(periods=[1e6]).fit(frame, BOTH)
    assert error.value.parameter == "periods"


def test_the_hazard_can_be_evaluated_on_person_period_rows():
    frame = draw()
    hazard = EducatedSurvival(pairs=0).fit(frame, BOTH).hazard_
    assert hazard.classes_.tolist() == [False, True]
    rows = person_periods(draw(seed=1), BOTH)
    assert [*evaluate(hazard, rows, "died").classes] == [False, True]


def test_a_sheet_without_a_time_says_that_it_is_of_one_period():
    model = EducatedSurvival(pairs=0).fit(draw(), BOTH)
    case = {"age": 50, "drug": "a"}
    assert "one period" in str(model.balance_sheet(case))
    assert "one period" not in str(model.balance_sheet(case, time=10))


def test_weights_are_shown_as_those_of_a_hazard(tmp_path):
    model = EducatedSurvival(pairs=0).fit(draw(), BOTH)
    weigh.save(model, tmp_path / "model.json")
    found = CliRunner().invoke(main, ["show", str(tmp_path / "model.json")])
    for text in (str(model.evidence_), found.stdout):
        assert "hazard of died" in text
        assert "true" not in text
    assert "died come earlier" in found.stderr


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model that the command line has fitted, and hold-out rows."""
    folder = tmp_path_factory.mktemp("survival")
    train, rest, model = (folder / name for name in ("train.csv", "rest.csv", "model.json"))
    draw(entry=True).to_csv(train, index=False)
    draw(seed=1).to_csv(rest, index=False)
    names = ("--event", "died", "--duration", "days", "--drop", "start", "--set", "pairs=0")
    found = run("fit", train, *names, "-o", model)
    assert found.exit_code == 0, found.output
    assert "died come earlier" in found.stderr
    return train, rest, model


def test_the_command_line_fits_the_model_of_python(files):
    model = files[2]
    own = EducatedSurvival(pairs=0).fit(draw(), BOTH)
    np.testing.assert_allclose(weigh.load(model).predict_risk(draw()), own.predict_risk(draw()))


def test_the_command_line_takes_an_entry(files, tmp_path):
    entered = ("--event", "died", "--duration", "days", "--entry", "start", "--set", "pairs=0")
    assert run("fit", files[0], *entered, "-o", tmp_path / "m.json").exit_code == 0
    own = EducatedSurvival(pairs=0).fit(draw(entry=True), (*BOTH, "start"))
    found = weigh.load(tmp_path / "m.json").predict_risk(draw())
    np.testing.assert_allclose(found, own.predict_risk(draw()))


def test_rows_without_the_entry_of_the_fit_are_told(files, tmp_path):
    train, rest, _ = files
    model = tmp_path / "m.json"
    entered = ("--event", "died", "--duration", "days", "--entry", "start", "--set", "pairs=0")
    assert run("fit", train, *entered, "-o", model).exit_code == 0
    found = run("evaluate", model, rest, "--json")
    own = evaluate(weigh.load(model), draw(seed=1), BOTH)
    assert json.loads(found.stdout)["brier"] == pytest.approx(own.brier)
    assert "'start'" in found.stderr


def test_the_command_line_evaluates_as_python_does(files):
    _, rest, model = files
    own = evaluate(weigh.load(model), draw(seed=1), BOTH)
    for names in ((), ("--event", "died", "--duration", "days")):
        told = json.loads(run("evaluate", model, rest, *names, "--json").stdout)
        assert told["concordance"] == pytest.approx(own.concordance)
        assert told["brier"] == pytest.approx(own.brier)


def test_training_rows_are_told_and_hold_out_rows_are_not():
    model = EducatedSurvival(pairs=0).fit(draw(), BOTH)
    for seed, share in ((0, 1.0), (1, 0.0)):
        found = evaluate(model, draw(seed=seed), BOTH)
        assert found.training_rows == pytest.approx(share, abs=0.05)
        assert any("training rows" in line for line in found.findings) == (share > 0)


def test_hold_out_rows_of_a_fit_are_evaluated(files, tmp_path):
    words = ("--event", "died", "--duration", "days", "--drop", "start", "--set", "pairs=0")
    found = run("fit", files[0], *words, "--holdout", "0.3", "-o", tmp_path / "m.json")
    assert "Concordance" in found.stdout


def test_a_report_shows_measures_and_weights_of_the_hazard(files, tmp_path):
    _, rest, model = files
    timed = run("report", model, rest, "--times", "100,250", "-o", tmp_path / "r.html")
    assert timed.exit_code == 0
    assert "by day 250" in (tmp_path / "r.html").read_text()
    assert run("report", model, rest, "-o", tmp_path / "r.html").exit_code == 0
    page = (tmp_path / "r.html").read_text()
    found = evaluate(weigh.load(model), draw(seed=1), BOTH)
    parts = (f"{found.concordance:.3f}", f"{found.brier:.4f}", "hazard", "drug")
    known = weigh.drift(weigh.load(model), draw(seed=1))  # which counts the training rows
    for part in (*parts, f"fitted on {known.n_training:,.0f} rows, of which"):
        assert part in page
    assert weigh.report(weigh.load(model), evaluation=found) == page


def test_a_saved_hazard_gives_the_same_probabilities(files, tmp_path):
    hazard, path = weigh.load(files[2]).hazard_, tmp_path / "hazard.json"
    weigh.save(hazard, path)
    rows = draw(seed=1)
    loaded = weigh.load(path)
    assert (loaded.predict_proba(rows) == hazard.predict_proba(rows)).all()
    assert run("calculator", path, "-o", tmp_path / "page.html").exit_code == 0


def test_pages_of_the_hazard_name_the_event(files):
    page = weigh.calculator(weigh.load(files[2]).hazard_)
    assert "The probability of died" in page


def test_the_export_of_a_hazard_agrees_with_the_model(files, tmp_path):
    model, query = files[2], tmp_path / "hazard.sql"
    found = run("export", model, "--to", "sql", "-o", query)
    assert found.exit_code == 0
    assert f"{weigh.load(model).period_ends_[-1]:g}" in found.stderr
    assert "EducatedSurvival exported to sql" in found.stderr
    assert run("check", query, model).exit_code == 0
    copy = tmp_path / "copy.json"
    assert run("export", model, "--to", "json", "-o", copy).exit_code == 0
    assert hasattr(weigh.load(copy), "predict_survival")


@pytest.mark.parametrize("to", ["sql", "pmml", "onnx", "python", "xlsx"])
@pytest.mark.parametrize("way", ["as fitted", "with another prior", "saved", "both"])
def test_the_export_of_a_hazard_is_headed_by_the_survival_model(files, to, way, tmp_path):
    hazard = weigh.load(files[2]).hazard_
    if way in ("saved", "both"):
        weigh.save(hazard, tmp_path / "hazard.json")
        hazard = weigh.load(tmp_path / "hazard.json")
    if way in ("with another prior", "both"):
        hazard = hazard.with_prior(0.2)
    written = weigh.export(hazard, to)
    if to == "xlsx":
        book = openpyxl.load_workbook(io.BytesIO(written), read_only=True)
        said = str([[cell.value for cell in row] for sheet in book for row in sheet.iter_rows()])
    else:
        said = written.decode(errors="ignore") if isinstance(written, bytes) else written
    assert "EducatedSurvival" in said
    assert "EducatedNB" not in said


def test_the_service_of_a_hazard_names_the_survival_model(files, tmp_path):
    with pytest.raises(ValueError, match=r"model\.json .* weigh\.save\(model\.hazard_, path\)"):
        make_app(files[2])
    path = tmp_path / "hazard.json"
    weigh.save(weigh.load(files[2]).hazard_, path)
    app = make_app(path)
    assert ask(app, "GET", "/healthz").json["model"] == "EducatedSurvival"
    assert ask(app, "GET", "/openapi.json").json["info"]["title"] == "weigh: EducatedSurvival"
    assert b'model="EducatedSurvival"' in ask(app, "GET", "/metrics").body


def test_a_hazard_that_is_fitted_again_or_recalibrated_is_a_model_of_its_own(files):
    model, frame = weigh.load(files[2]), draw(seed=1)
    rows = person_periods(frame, BOTH, periods=model.period_ends_)
    hazard = model.hazard_
    curve = weigh.RecalibratedClassifier(hazard, cv="prefit").fit(
        rows, "died", sample_weight="weight"
    )
    assert "EducatedSurvival" not in weigh.export(curve, "sql")
    hazard.fit(rows, "died", sample_weight="weight")
    assert "-- EducatedNB" in weigh.export(hazard, "sql")


def test_the_file_of_a_hazard_fits_the_schema_and_names_the_survival_model(files, tmp_path):
    path = tmp_path / "hazard.json"
    weigh.save(weigh.load(files[2]).hazard_, path)
    told = json.loads(path.read_text())
    assert told["learner"] == "EducatedNB"
    assert told["provenance"] == {"part_of": "EducatedSurvival"}
    Draft202012Validator(SCHEMA).validate(told)
    shown = run("show", path, "--about")
    assert "EducatedSurvival" in shown.stdout


def test_a_file_without_the_origin_of_a_hazard_is_read_and_a_false_origin_is_refused(
    files, tmp_path
):
    path = tmp_path / "hazard.json"
    weigh.save(weigh.load(files[2]).hazard_, path)
    told = json.loads(path.read_text())
    del told["checksum"]
    for origin in ("a\nSELECT 1", "", "*/", '"""', 3):
        path.write_text(json.dumps(told | {"provenance": {"part_of": origin}}))
        with pytest.raises(ValueError, match="part_of"):
            weigh.load(path)
    del told["provenance"]
    path.write_text(json.dumps(told))
    assert "-- EducatedNB" in weigh.export(weigh.load(path), "sql")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("fit {0} -o {3}", "--event"),
        ("fit {0} --event died -o {3}", "--duration"),
        ("fit {0} --event died --duration days --target died -o {3}", "--target"),
        ("fit {0} --event died --duration days --learner evidence -o {3}", "--learner"),
        ("fit {0} --event died --duration days --summary -o {3}", "--summary"),
        ("fit {0} --event died --duration days --recalibrate spline -o {3}", "--recalibrate"),
        ("fit {0} --event drug --duration days -o {3}", "--event: event 'drug'"),
        ("fit {0} --event died --duration nope -o {3}", "--duration names the column 'nope'"),
        ("fit {0} --event nope --duration days -o {3}", "--event names the column 'nope'"),
        ("fit {0} --event died --duration died -o {3}", "--duration"),
        ("evaluate {2} {1} --by nope", "nope"),
        ("evaluate {2} {1} --weight age", "--weight"),
        ("evaluate {2} {1} --target died", "--target"),
        ("report {2} {1} --target died -o {3}", "--target"),
        ("calculator {2} -o {3}", "survival model"),
        ("drift {2} {1} --target died", "--target"),
    ],
)
def test_what_a_survival_model_does_not_take_is_refused_by_name(words, named, files, tmp_path):
    found = run(*words.format(*files, tmp_path / "out.json").split())
    assert found.exit_code in (1, 2)
    assert named in found.stderr


# ---------------------------------------------------------------- by group


def test_groups_have_the_events_that_the_hazards_of_their_rows_expect(files):
    model, rows = weigh.load(files[2]), draw(seed=1)
    found = evaluate(model, rows, BOTH, by="drug", coverage=0.9)
    assert [group.name for group in found.groups] == sorted(set(rows["drug"]))
    hazards, ends = model.predict_hazard(rows), model.period_ends_
    passed = model._periods.passed(rows["days"].to_numpy(float))
    for group in found.groups:
        expected = 0.0
        for i in np.flatnonzero(rows["drug"] == group.name):
            own = int(np.searchsorted(ends, rows["days"][i]))
            for k in range(len(ends)):
                share = min(max(passed[i] - k, 0), 1)
                came = rows["died"][i] and k == own
                expected += hazards[i, k] * (1.0 if came else share)
        own = rows[rows["drug"] == group.name]
        by_the_end = own["died"].astype(bool) & (own["days"] <= ends[-1])
        assert (group.n_rows, group.observed) == (len(own), by_the_end.sum())
        assert group.expected == pytest.approx(expected, rel=1e-9)
        low, high = (
            chi2.ppf(q, 2 * group.observed + more) / 2 for q, more in ((0.05, 0), (0.95, 2))
        )
        assert group.ratio.low == pytest.approx(low / expected, rel=1e-9)
        assert group.ratio.high == pytest.approx(high / expected, rel=1e-9)
        assert group.concordance == evaluate(model, own, BOTH).concordance
    assert found.all_rows.concordance == found.concordance
    assert sum(group.expected for group in found.groups) == pytest.approx(found.all_rows.expected)
    assert len(found.to_frame("groups")) == len(found.groups)


def test_events_after_the_last_period_are_neither_observed_nor_expected():
    rows = draw(2000, 2)
    end = float(rows["days"][rows["died"] == 1].median())
    model = weigh.EducatedSurvival(periods=[end / 2, end], pairs=0).fit(draw(2000), BOTH)
    cut = rows.assign(died=rows["died"] * (rows["days"] <= end), days=rows["days"].clip(upper=end))
    whole, short = (evaluate(model, own, BOTH, by="drug") for own in (rows, cut))
    for one, other in zip(whole.groups, short.groups, strict=True):
        assert (one.observed, one.ratio) == (other.observed, other.ratio)
        assert one.expected == other.expected
    assert whole.all_rows.observed < whole.n_events
    assert whole.all_rows.ratio.value == pytest.approx(1, abs=0.15)


def test_a_report_on_training_rows_says_so(files, tmp_path):
    for rows, told in ((0, True), (1, False)):
        page = tmp_path / f"{rows}.html"
        assert run("report", files[2], files[rows], "-o", page).exit_code == 0
        assert ("training rows, so" in page.read_text()) == told


def test_a_model_saved_before_training_rows_were_counted_predicts_and_asks_for_a_refit(
    files, tmp_path
):
    model, rows = weigh.load(files[2]), draw(seed=1)
    told = json.loads(files[2].read_text())
    del told["fitted"]["level_rows_"], told["checksum"]
    (tmp_path / "old.json").write_text(json.dumps(told))
    old = weigh.load(tmp_path / "old.json")
    np.testing.assert_array_equal(old.predict_risk(rows), model.predict_risk(rows))
    weigh.save(old, tmp_path / "again.json")
    assert weigh.load(tmp_path / "again.json").level_rows_ is None
    with pytest.raises(ValueError, match="fit it again"):
        weigh.drift(old, rows)


def test_a_group_whose_events_come_more_often_is_named(files):
    model, rows = weigh.load(files[2]), draw(seed=1)
    half = np.random.default_rng(0).random(len(rows)) < 0.5
    later = rows.assign(days=np.where(half, rows["days"] / 4, rows["days"]), half=half)
    found = evaluate(model, later, BOTH, by="half")
    assert found.groups[1].ratio.low > 1
    assert "true" in found.findings[-1]
    few = evaluate(model, rows.assign(own=["a"] * 3 + ["b"] * (len(rows) - 3)), BOTH, by="own")
    assert np.isnan(few.groups[0].concordance)
    assert few.groups[0].note
    with pytest.raises(ParameterError, match="by"):
        evaluate(model, rows, BOTH).to_frame("groups")


def test_the_command_line_and_the_report_show_groups(files, tmp_path):
    text = run("evaluate", files[2], files[1], "--by", "drug")
    assert text.exit_code == 0
    assert "Expected" in text.stdout
    assert (
        run("report", files[2], files[1], "--by", "drug", "-o", tmp_path / "r.html").exit_code == 0
    )
    page = (tmp_path / "r.html").read_text()
    found = evaluate(weigh.load(files[2]), pd.read_csv(files[1]), BOTH, by="drug")
    assert all(f"{group.expected:,.1f}" in page for group in found.groups)


# ---------------------------------------------------------------- at given times


def test_scores_hold_survival_to_each_time(files, tmp_path):
    rest, model = pd.read_csv(files[1]), weigh.load(files[2])
    expected = model.predict_survival(rest, [30, 60.5])
    scored = weigh.score_table(model, rest, keep=[], times=[60.5, 30])
    assert [*scored.columns] == ["median", "risk", "survival_30", "survival_60.5"]
    np.testing.assert_allclose(scored[["survival_30", "survival_60.5"]], expected)
    written = tmp_path / "scores.csv"
    assert run("score", files[2], files[1], "--times", "30,60.5", "-o", written).exit_code == 0
    np.testing.assert_allclose(pd.read_csv(written), scored, rtol=1e-12)
    assert weigh.score_table(model, rest, written, times=30) == len(rest)
    assert [*pd.read_csv(written)] == ["median", "risk", "survival_30"]


def test_a_sheet_at_a_time_has_the_probability_of_the_event_by_then(files):
    rest, model = pd.read_csv(files[1]), weigh.load(files[2])
    case = rest.iloc[[2]]
    sheet = model.balance_sheet(case, time=60.0)
    when, reached = sheet.event_by
    assert when == "day 60"
    assert reached == pytest.approx(1 - model.predict_survival(case, 60.0)[0, 0])
    assert model.balance_sheet(case).event_by is None
    told = run("explain", files[2], files[1], "--row", 2, "--time", 60, "--json")
    assert json.loads(told.stdout) == json.loads(json.dumps(sheet.to_dict()))
    shown = run("explain", files[2], files[1], "--row", 2, "--time", 60).stdout
    assert "Probability that died happens by day 60" in shown
    periods, ends = model._periods, model.period_ends_
    assert sheet.outcome == f"died happens {periods.spell('days', 60.0)}, if not earlier"
    k = int(np.searchsorted(ends, 60.0))
    low, high = ends[k - 1] + 1, ends[k]
    assert low <= 60 <= high
    assert periods.spell("days", 60.0) == f"between day {low:g} and {high:g}"
    assert periods.spell("tenure", 1e9).endswith(f" and {ends[-1]:g}")
    assert periods.spell("days", ends[0] / 2) == f"by day {ends[0]:g}"


def test_an_evaluation_at_given_times_has_these_moments(files):
    rest, model = pd.read_csv(files[1]), weigh.load(files[2])
    found = evaluate(model, rest, BOTH, times=[90, 30, 60])
    assert [moment.time for moment in found.moments] == [30, 60, 90]
    assert found.band_time == 60
    known = KaplanMeier.of(rest["died"].to_numpy(), rest["days"].to_numpy())
    for moment in found.moments:
        came = 1 - model.predict_survival(rest, moment.time).mean()
        assert moment.estimate == pytest.approx(came)
        assert moment.observed.value == pytest.approx(1 - known.at([moment.time])[0])
    assert found.brier == evaluate(model, rest, BOTH).brier
    told = run("evaluate", files[2], files[1], "--times", "30,60,90", "--json")
    assert json.loads(told.stdout) == json.loads(json.dumps(found.to_dict()))


def test_times_are_refused_by_name_where_there_are_none(files, tmp_path):
    rest, model = pd.read_csv(files[1]), weigh.load(files[2])
    other = EducatedNB(pairs=0).fit(rest.drop(columns="days"), "died")
    weigh.save(other, tmp_path / "other.json")
    for use in (
        lambda: weigh.score_table(other, rest, times=[30]),
        lambda: weigh.score_table(model, rest, times=[-1]),
        lambda: evaluate(other, rest, "died", times=[30]),
        lambda: evaluate(model, rest, BOTH, times=[1e9]),
        lambda: evaluate(model, rest, BOTH, times=[0]),
    ):
        with pytest.raises(ParameterError) as error:
            use()
        assert error.value.parameter == "times"
    for words in (
        ("score", tmp_path / "other.json", files[1], "--times", "30"),
        ("evaluate", tmp_path / "other.json", files[1], "--target", "died", "--times", "30"),
        ("explain", tmp_path / "other.json", files[1], "--time", "30"),
        ("score", files[2], files[1], "--times", "soon"),
        ("explain", files[2], files[1], "--time", "-3"),
    ):
        found = run(*words)
        assert found.exit_code in (1, 2), words
        assert "--time" in found.stderr


@pytest.mark.parametrize("times", [0, [0, 30], [], "30", True, [30, 30 + 1e-13 * 64], 1e9, np.nan])
def test_scores_evaluations_and_sheets_refuse_the_same_times(files, times):
    rest, model = pd.read_csv(files[1]), weigh.load(files[2])
    for use in (weigh.score_table, partial(evaluate, y=BOTH)):
        with pytest.raises(ParameterError) as error:
            use(model, rest, times=times)
        assert error.value.parameter == "times"
    if not isinstance(times, list):
        with pytest.raises(ParameterError) as error:
            model.balance_sheet(rest.iloc[[0]], time=times)
        assert error.value.parameter == "time"


def test_a_sheet_takes_times_up_to_the_horizon(files):
    rest, model = pd.read_csv(files[1]), weigh.load(files[2])
    case = rest.iloc[[2]]
    last = model.balance_sheet(case, time=model.period_ends_[-1])
    beyond = model.balance_sheet(case, time=model.horizon_)
    assert beyond.items == last.items
    assert beyond.event_by[1] == pytest.approx(
        1 - model.predict_survival(case, model.horizon_)[0, 0]
    )


def test_the_reasons_of_a_survival_model_are_the_heaviest_items_of_its_sheets(files, tmp_path):
    rest, model = pd.read_csv(files[1]).head(20), weigh.load(files[2])
    found = weigh.reasons(model, rest, n=2)
    for row in range(len(rest)):
        sheet = model.balance_sheet(rest.iloc[[row]])
        heavy = sorted((abs(item.weight) for item in sheet.items), reverse=True)[:2]
        told = found.iloc[row][["weight_1", "weight_2"]].to_numpy(float)
        np.testing.assert_allclose(np.abs(told)[: len(heavy)], heavy)
    scored = weigh.score_table(model, rest, keep=[], times=30, reasons=2)
    assert {"survival_30", "reason_1", "reason_2"} <= {*scored.columns}
    assert scored["reason_1"].tolist() == found["reason_1"].tolist()
    written = tmp_path / "reasons.csv"
    assert run("explain", files[2], files[1], "--reasons", 2, "-o", written).exit_code == 0
    assert pd.read_csv(written)["reason_1"][:20].tolist() == found["reason_1"].tolist()


@pytest.mark.parametrize("depends", [False, True])
def test_shares_that_are_off_by_censoring_are_told_beside_a_ratio_that_is_right(depends):
    random = np.random.default_rng(0)
    drug = random.choice([*"ab"], 4000)
    times = np.ceil(random.exponential(np.where(drug == "a", 20.0, 200.0)))
    ends = np.ceil(random.exponential(np.where((drug == "a") & depends, 5.0, 100.0)))
    frame = pd.DataFrame({"drug": drug, "days": np.minimum(times, ends), "died": times <= ends})
    model = EducatedSurvival(periods=20).fit(frame, BOTH)
    found = evaluate(model, frame, BOTH, by="drug")  # the rows of the fit, whose ratio is about 1
    assert found.all_rows.ratio.value == pytest.approx(1.0, abs=0.01)
    assert found.moments[-1].observed.holds(found.moments[-1].estimate) != depends
    assert any("censoring" in told for told in found.findings) == depends


# ---------------------------------------------------------------- late entry


def draw_late(n=1500, seed=0, least=0.0):
    """Rows that entered late, at random: those with an event or censored before never did."""
    frame = draw(n, seed)
    random = np.random.default_rng(seed + 100)
    start = np.where(random.random(n) < 0.3, least, np.floor(random.uniform(least, 120, n)))
    return frame.assign(start=start)[frame["days"] > start].reset_index(drop=True)


LATE = (*BOTH, "start")


def columns_of(frame):
    """Event, duration and entry as arrays."""
    parts = (frame[name].to_numpy(float) for name in ("days", "start"))
    return (frame["died"].to_numpy(bool), *parts)


def test_concordance_with_late_entry_is_that_of_all_pairs_at_risk_together():
    random = np.random.default_rng(0)
    for _ in range(20):
        event, entry = random.random(60) < 0.6, random.integers(0, 8, 60).astype(float)
        duration = entry + random.integers(1, 8, 60)
        risk = random.integers(0, 9, 60).astype(float)
        wins = pairs = 0.0
        for i in np.flatnonzero(event):
            for j in range(60):
                later = duration[j] > duration[i] or (duration[j] == duration[i] and not event[j])
                if later and entry[j] < duration[i]:
                    pairs += 1
                    wins += 1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0
        assert concordance(event, duration, risk, entry) == pytest.approx(wins / pairs)


def test_kaplan_meier_with_late_entry_counts_rows_from_their_entry():
    event, duration, entry = columns_of(draw_late(200))
    known, found = literal_km(event, duration, entry), KaplanMeier.of(event, duration, entry=entry)
    np.testing.assert_allclose(found.at([*known]), [*known.values()], atol=1e-12)
    time = sorted(known)[40]
    risks = [(t, ((duration >= t) & (entry < t)).sum()) for t in known if t <= time]
    own = [((event & (duration == t)).sum(), risk) for t, risk in risks]
    greenwood = sum(d / (n * (n - d)) for d, n in own)
    low = found.bounded(time, 0.95).low
    log = np.log(known[time])
    expected = 1 - np.exp(log * np.exp(-1.959964 * np.sqrt(greenwood) / abs(log)))
    assert low == pytest.approx(expected, rel=1e-6)


def test_brier_scores_with_late_entry_are_those_of_the_formula():
    random = np.random.default_rng(1)
    n = 60
    event, entry = random.random(n) < 0.5, random.integers(0, 6, n).astype(float)
    duration = entry + random.integers(1, 8, n)
    times, survival = np.array([3.0, 6.0, 9.0]), random.random((n, 3))

    def stays(entry_of_row, time, before):
        """The probability to stay uncensored up to a time, given that a row has entered."""
        left = 1.0
        for t in np.unique(duration[~event]):
            if t > entry_of_row and (t < time or (t == time and not before)):
                here = entry < t  # at one time, events come first, then censoring, then entries
                risk = (here & ((duration > t) | ((duration == t) & ~event))).sum()
                left *= 1 - ((duration == t) & ~event).sum() / risk
        return left

    for k, time in enumerate(times):
        total = 0.0
        for i in np.flatnonzero(entry < time):
            if event[i] and duration[i] <= time:
                total += survival[i, k] ** 2 / stays(entry[i], duration[i], before=True)
            elif duration[i] > time:
                total += (1 - survival[i, k]) ** 2 / stays(entry[i], time, before=False)
        found = brier_scores(event, duration, survival, times, entry)[k]
        assert found == pytest.approx(total / (entry < time).sum())


def test_waves_that_are_censored_at_their_end_have_the_brier_scores_of_each_wave():
    random = np.random.default_rng(0)
    entry = random.integers(0, 6, 400) * 10.0
    duration, event = entry + random.integers(1, 6, 400), random.random(400) < 0.5
    event[duration == entry + 5] = False  # so nobody stays beyond the end of a wave
    survival = random.random((400, 1))
    for time in np.arange(3.0, 60.0, 10.0):
        found = brier_scores(event, duration, survival, np.array([time]), entry)
        total = 0.0
        for wave in np.unique(entry[entry < time]):
            own = entry == wave
            rows = event[own], duration[own], survival[own], np.array([time])
            total += own.sum() * brier_scores(*rows, entry[own])[0]
        assert found[0] == pytest.approx(total / (entry < time).sum())


def test_weights_for_censoring_given_the_entry_give_the_brier_score_of_complete_rows():
    random = np.random.default_rng(2)
    n = 40_000
    times, ends, entry = (random.exponential(own, n) for own in (10, 15, 4))
    entry[: n // 3] = 0.0
    at, kept = np.array([5.0]), times > entry
    whole = times[kept], entry[kept], np.exp(-np.maximum(5.0 - entry[kept], 0) / 10)[:, None]
    complete = brier_scores(np.ones(kept.sum(), bool), whole[0], whole[2], at, whole[1])
    stays = entry[kept] + ends[kept]  # censoring begins at the entry
    seen = np.minimum(whole[0], stays)
    found = brier_scores(whole[0] <= stays, seen, whole[2], at, whole[1])
    assert found == pytest.approx(complete, abs=0.02)


def literal_expected(model, frame, time):
    """The expected share: 1 - the product over times of 1 - mean hazard of the rows at risk."""
    left, times = 1.0, model.times_[model.times_ <= time]
    survival = model.predict_survival(frame, np.append(0.0, times))
    for k, at in enumerate(times):
        risk = ((frame["start"] < at) & (frame["days"] >= at)).to_numpy()
        if risk.any():
            left *= (survival[risk, k + 1] / survival[risk, k]).mean()
    return 1 - left


def test_an_evaluation_with_late_entry_is_that_of_its_definitions():
    model, frame = EducatedSurvival(pairs=0).fit(draw_late(), LATE), draw_late(600, seed=1)
    event, duration, entry = columns_of(frame)
    found = evaluate(model, frame, LATE, times=[40, 90, 160])
    assert found.n_late == (entry > 0).sum()
    assert found.start == 0
    risk = model.predict_risk(frame)
    assert found.concordance == concordance(event, duration, risk, entry)
    assert model.score(frame, LATE) == found.concordance
    known = KaplanMeier.of(event, duration, entry=entry)
    whole = model.predict_survival(frame, [40.0, 90.0, 160.0])
    entered = np.array([model.predict_survival(frame.iloc[[i]], entry[i])[0, 0]
                        for i in range(len(frame))])  # fmt: skip
    own = brier_scores(event, duration, whole / entered[:, None], np.array([40.0, 90, 160]), entry)
    for k, moment in enumerate(found.moments):
        assert moment.estimate == pytest.approx(literal_expected(model, frame, moment.time))
        assert moment.observed.value == pytest.approx(1 - known.at([moment.time])[0])
        assert moment.brier == pytest.approx(own[k])
    assert found.brier < found.brier_base
    ranks = 1 - whole[:, 1]
    assert sum(band.rows for band in found.bands) == len(frame)
    first = frame[ranks <= np.sort(ranks)[found.bands[0].rows - 1]]
    assert found.bands[0].rows == len(first)
    assert found.bands[0].estimate == pytest.approx(literal_expected(model, first, 90.0))


def test_an_entry_of_zero_changes_no_measure():
    frame = draw(500)
    model, new = EducatedSurvival(pairs=0).fit(frame, BOTH), draw(300, seed=1).assign(start=0.0)
    one, two = (evaluate(model, new, names, by="drug") for names in (BOTH, LATE))
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())
    assert str(one) == str(two)


def test_rows_that_entered_late_are_calibrated_only_with_their_entry():
    model, frame = EducatedSurvival(pairs=0).fit(draw(3000), BOTH), draw_late(6000, seed=5)
    late, never = (evaluate(model, frame, names, times=[60, 120]) for names in (LATE, BOTH))
    for right, wrong in zip(late.moments, never.moments, strict=True):
        assert right.observed.value == pytest.approx(right.estimate, abs=0.03)
        assert wrong.observed.value < wrong.estimate - 0.05
    for band in late.bands:
        assert band.observed.value == pytest.approx(band.estimate, abs=0.06)


def test_probabilities_begin_where_enough_rows_are_at_risk():
    few = pd.DataFrame({"age": 50.0, "drug": "a", "days": 3.0, "died": [True] * 3, "start": 0.0})
    frame = pd.concat([few, draw_late(400, seed=1, least=5.0)], ignore_index=True)
    model = EducatedSurvival(pairs=0).fit(draw(1000), BOTH)
    found = evaluate(model, frame, LATE, times=[40])
    rest = evaluate(model, frame[3:].reset_index(drop=True), LATE, times=[40])
    assert found.start == 3.0  # Kaplan-Meier of all rows is 0 from here on
    assert found.moments[0].observed == rest.moments[0].observed
    later = frame[3:].assign(start=np.maximum(frame["start"][3:], 3.0))
    since = 1 - model.predict_survival(later, [3.0])
    assert (since > 0).all()
    assert any("not come by day 3" in line for line in found.findings)
    with pytest.raises(ParameterError, match=r"above 5 .* time 3, and none from then to 5; got 2"):
        evaluate(model, frame, LATE, times=[2, 40])
    again = pd.concat([frame, few.assign(days=90.0, start=2.0)], ignore_index=True)
    with pytest.raises(ParameterError, match=r"above 3 .* time 3; got 2") as error:
        evaluate(model, again, LATE, times=[2, 40])
    assert error.value.parameter == "times"


def test_the_time_at_which_few_rows_were_at_risk_is_that_of_its_event_alone():
    early = pd.DataFrame({"age": 50.0, "drug": "a", "days": [1.0] + [3.0] * 6 + [5.0] * 8})
    early = early.assign(start=0.0, died=early["days"] != 3)
    frame = pd.concat([early, draw_late(600, seed=1, least=5.0)], ignore_index=True)
    _, duration, entry = columns_of(frame)
    risk = [int(((entry < time) & (duration >= time)).sum()) for time in (1, 5, 40)]
    assert risk[:2] == [15, 8]
    assert risk[2] > 100
    model = EducatedSurvival(pairs=0).fit(draw(1000), BOTH)
    found = evaluate(model, frame, LATE)
    assert found.start == 5.0
    told = "come by day 5: fewer than 10 rows were at risk at the event of that time."
    assert any(line.endswith(told) for line in found.findings)
    with pytest.raises(ParameterError, match=r"fewer than 10 rows were at risk at .* 5;"):
        evaluate(model, frame, LATE, times=[4, 40])


def test_times_up_to_the_first_entry_are_refused_by_name():
    model, frame = EducatedSurvival(pairs=0).fit(draw(1000), BOTH), draw_late(400, 1, least=50.0)
    frame["start"] = np.maximum(frame["start"], 50.0)
    for times in (40, 50, [40, 90]):
        with pytest.raises(ParameterError, match=r"above 50 and at most \d+.* got [45]0") as error:
            evaluate(model, frame, LATE, times=times)
        assert error.value.parameter == "times"
    assert np.isfinite(evaluate(model, frame, LATE, times=51).moments[0].brier)
    few = pd.DataFrame({"age": 50.0, "drug": "a", "days": 6.0, "died": [True] * 3, "start": 0.0})
    early = pd.concat([few, frame], ignore_index=True)  # no row is at risk from 6 to 50
    with pytest.raises(ParameterError, match=r"above 50 .* and none from then to 50; got 10"):
        evaluate(model, early, LATE, times=10)


def test_a_band_of_rows_that_all_entered_later_is_not_known():
    frame = draw(600, seed=1).assign(start=0.0)
    model = EducatedSurvival(pairs=0).fit(draw(1000), BOTH)
    risk = 1 - model.predict_survival(frame, [60.0])[:, 0]
    late = risk > np.quantile(risk, 0.4)
    frame.loc[late, "start"] = 80.0
    found = evaluate(model, frame[frame["days"] > frame["start"]], LATE, times=60)
    for band in found.bands:
        assert np.isnan(band.estimate) == np.isnan(band.observed.value)
    assert np.isnan(found.bands[-1].estimate)
    assert np.isfinite(found.bands[0].estimate)
    line = found.to_text().split("Calibration: event")[1].splitlines()[2 + len(found.bands)]
    assert line.split() == [str(found.bands[-1].rows), "-", "-"]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["bands"][-1]["estimate"] is None
    page = weigh.report(model, evaluation=found)
    assert "nan" not in page.split("Calibration: event")[1].split("</table>")[0]


def test_a_time_at_which_no_row_is_at_risk_has_no_brier_score(tmp_path):
    late = draw_late(400, 1, least=50.0)
    late["start"] = np.maximum(late["start"], 50.0)
    frame = pd.concat([draw(200, seed=2).assign(start=0.0), late], ignore_index=True)
    early = frame.index < 200
    frame.loc[early, "days"] = np.minimum(np.ceil(frame["days"][early] / 10), 20.0)
    event, duration, entry = columns_of(frame)
    assert not ((entry < 30) & (duration >= 30)).any()
    own = brier_scores(event, duration, np.full((len(frame), 2), 0.5), np.array([0.0, 30.0]), entry)
    assert np.isnan(own).all()
    model = EducatedSurvival(pairs=0).fit(draw(1000), BOTH)
    found = evaluate(model, frame, LATE, times=[10, 30, 60])
    known = [not np.isnan([moment.brier, moment.brier_base]).any() for moment in found.moments]
    assert known == [True, False, True]
    assert np.isfinite([found.brier, found.brier_base]).all()
    line = next(own for own in found.to_text().splitlines() if own.startswith("30 "))
    assert line.split()[-2:] == ["-", "-"]
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["moments"][1]["brier"] is None
    page = weigh.report(model, evaluation=found)
    assert "nan" not in page.split("Probability of the event over time")[1].split("</table>")[0]


def test_groups_with_late_entry_have_a_concordance():
    model, frame = EducatedSurvival(pairs=0).fit(draw_late(), LATE), draw_late(600, seed=1)
    found = evaluate(model, frame, LATE, by="drug")
    for group in found.groups:
        own = frame[frame["drug"] == group.name].reset_index(drop=True)
        assert group.concordance == evaluate(model, own, LATE).concordance
    assert weigh.drift(model, frame, LATE).quality[0].concordance == found.concordance


def test_the_command_line_evaluates_and_reports_late_entry(tmp_path):
    train, rest, renamed = (tmp_path / f"{name}.csv" for name in ("train", "rest", "renamed"))
    model, page = tmp_path / "m.json", tmp_path / "r.html"
    frame = draw_late(400, seed=1)
    draw_late().to_csv(train, index=False)
    frame.to_csv(rest, index=False)
    frame.rename(columns={"start": "since"}).to_csv(renamed, index=False)
    named = ("--event", "died", "--duration", "days", "--entry", "start")
    fitted = run("fit", train, *named, "--set", "pairs=0", "--holdout", "0.3", "-o", model)
    assert fitted.exit_code == 0
    assert "entered late" in fitted.stdout
    own = evaluate(weigh.load(model), frame, LATE)
    for words in ((rest,), (rest, *named), (renamed, "--entry", "since")):
        told = json.loads(run("evaluate", model, *words, "--json").stdout)
        assert told == json.loads(json.dumps(own.to_dict()))
        assert run("report", model, *words, "-o", page).exit_code == 0
        assert f"{own.brier:.4f}" in page.read_text()
        assert "entered late" in page.read_text()
        drifted = json.loads(run("drift", model, *words, "--json").stdout)
        assert drifted["quality"][0]["concordance"] == pytest.approx(own.concordance)
    missing = run("evaluate", model, rest, "--entry", "since")
    assert "'since'" in missing.stderr
    plain = run("evaluate", model, renamed)
    assert "--entry" in plain.stderr
