"""Cards from tables: levels within a budget, the trade's columns, cut-off tables, the command."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from weigh import Scorecard
from weigh.cli import main
from weigh.scorecard.bands import count_bands
from weigh.scorecard.learn import find_trend

LIGHT = settings(max_examples=40, deadline=None, database=None)


def draw_loans(n=1500, seed=0):
    """Income lowers the risk, age raises it at both ends, and the district says nothing."""
    rng = np.random.default_rng(seed)
    income, age = rng.lognormal(3, 0.5, n), rng.uniform(20, 70, n)
    district = rng.choice([*"abcdefghij"], n)
    total = 1.2 - 0.08 * income + 0.004 * (age - 45) ** 2
    bad = rng.random(n) < 1 / (1 + np.exp(-total))
    income[rng.random(n) < 0.05] = np.nan
    status = np.where(bad, "bad", "good")
    return pd.DataFrame({"income": income, "age": age, "district": district, "status": status})


LOANS = draw_loans()


@pytest.fixture(scope="module")
def card():
    return Scorecard.from_table(LOANS, "status", adverse="bad", levels=5)


# ---------------------------------------------------------------- levels


def test_no_feature_has_more_levels_than_asked_for_beside_missing(card):
    for table in card.evidence:
        assert sum(label != "missing" for label in table.labels) <= 5


def test_ordered_categories_keep_their_order_and_their_levels():
    grades = pd.Categorical(
        np.random.default_rng(1).choice([*"ABCDEFGH"], len(LOANS)), [*"ABCDEFGH"], ordered=True
    )
    rng = np.random.default_rng(2)
    bad = rng.random(len(LOANS)) < (grades.codes + 1) / 10
    table = pd.DataFrame({"grade": grades, "status": np.where(bad, "bad", "good")})
    card = Scorecard.from_table(table, "status", adverse="bad", levels=5)
    assert [*card.evidence["grade"].labels] == [*"ABCDEFGH"]
    assert [*card.points["grade"]] == sorted(card.points["grade"], reverse=True)


def test_a_valley_of_the_risk_is_not_made_monotone():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 1000))
    bad = rng.random(1000) < 1 / (1 + np.exp(1 - 0.3 * x**2 - 0.5 * z))
    table = pd.DataFrame({"x": x, "z": z, "status": np.where(bad, "bad", "good")})
    points = Scorecard.from_table(table, "status", adverse="bad").points["x"]
    assert max(points) not in (points[0], points[-1])


def test_bins_hold_at_least_a_twentieth_of_the_rows(card):
    for name in ("income", "age"):
        table = card.evidence[name]
        bins = table.counts.sum(axis=1)[: len(table.feature.cuts) + 1]
        assert bins.min() >= 0.05 * len(LOANS)


def test_points_rise_with_what_lowers_the_risk_and_turn_where_the_risk_does(card):
    income = card.points["income"][: len(card.evidence["income"].feature.cuts) + 1]
    age = card.points["age"][: len(card.evidence["age"].feature.cuts) + 1]
    assert [*income] == sorted(income)
    assert max(age) not in (age[0], age[-1])


@LIGHT
@given(st.lists(st.floats(-3, 3, width=32), min_size=3, max_size=6, unique=True))
def test_weights_that_rise_or_fall_have_that_trend(weights):
    rising, errors = np.sort(weights), np.full(len(weights), 1e-6)
    assert find_trend(rising, errors) == 1
    assert find_trend(rising[::-1], errors) == -1


def test_low_scores_stand_for_the_adverse_class(card):
    assert (card.pos_label, card.adverse) == ("good", "bad")
    scores = card.score(LOANS)
    bad = (LOANS["status"] == "bad").to_numpy()
    assert scores[bad].mean() < scores[~bad].mean()


def test_cut_points_and_trends_that_are_given_are_kept():
    card = Scorecard.from_table(
        LOANS, "status", adverse="bad", bins={"age": [30, 40, 60]}, monotonic_cst={"age": 1}
    )
    assert card.evidence["age"].feature.cuts == (30.0, 40.0, 60.0)
    assert [*card.points["age"]] == sorted(card.points["age"])  # classes_[1] is good
    free = Scorecard.from_table(LOANS, "status", adverse="bad", monotonic_cst={"income": 0})
    assert {*free.points} == {*card.points}


# ---------------------------------------------------------------- the trade's columns


def test_woe_and_iv_are_those_of_the_counts(card):
    frame = card.to_frame()
    cut = pd.cut(LOANS["age"], [-np.inf, *card.evidence["age"].feature.cuts, np.inf])
    counts = pd.crosstab(cut, LOANS["status"])
    goods, bads = counts["good"] / counts["good"].sum(), counts["bad"] / counts["bad"].sum()
    own = frame[frame["feature"] == "age"]
    np.testing.assert_allclose(own["woe"], np.log(goods / bads), rtol=1e-12)
    np.testing.assert_allclose(own["iv"], (goods - bads) * np.log(goods / bads), rtol=1e-12)
    np.testing.assert_allclose(own["bad_rate"], counts["bad"] / counts.sum(axis=1), rtol=1e-12)
    assert own["rows"].sum() == len(LOANS)


def test_an_empty_cell_has_half_a_row_added_to_both_counts():
    table = pd.DataFrame({"x": [*"aaaabbbb"], "y": [*"10101111"]})
    model = weigh.EvidenceNB().fit(table, "y")
    frame = Scorecard(model, pos_label="0").to_frame()
    level = frame[frame["level"] == "b"].iloc[0]
    assert level["woe"] == pytest.approx(np.log((0.5 / 2) / (4.5 / 6)))


def test_points_that_run_against_their_woe_are_named():
    """Of two columns that say nearly the same, one may take the other's effect back."""
    rng = np.random.default_rng(0)
    a = rng.random(4000) < 0.5
    b = np.where(rng.random(4000) < 0.85, a, ~a)
    bad = rng.random(4000) < 1 / (1 + np.exp(-(3 * a - 1.5 * b - 0.75)))
    table = pd.DataFrame({"a": a, "b": b, "status": np.where(bad, "bad", "good")})
    card = Scorecard.from_table(table, "status", adverse="bad")
    (line,) = [line for line in str(card).splitlines() if "WoE of" in line]
    assert "WoE of b:" in line


def test_levels_of_few_rows_missing_and_codes_are_no_best_case():
    rng = np.random.default_rng(0)
    x = rng.choice(["usual", "other one", "rare", None], 3000, p=[0.5, 0.4, 0.02, 0.08])
    risk = {"usual": 0.3, "other one": 0.5, "rare": 0.02, None: 0.05}
    bad = rng.random(3000) < [risk[value] for value in x]
    table = pd.DataFrame({"x": x, "status": np.where(bad, "bad", "good")})
    card = Scorecard.from_table(table, "status", adverse="bad")
    points = dict(zip(card.evidence["x"].labels, card.points["x"], strict=True))
    assert points["rare"] > points["usual"] > points["other one"]
    assert card.baselines("best") == (points["usual"],)
    assert card.reasons(table[table["x"] == "usual"], n=1)["reason_1"].isna().all()


# ---------------------------------------------------------------- cut-off table


def test_bands_agree_with_counting_the_rows_above_each_cut_off(card):
    found, scores = card.bands(LOANS, "status", 8), card.score(LOANS)
    bad = (LOANS["status"] == "bad").to_numpy()
    for i, low in enumerate(found.low):
        above = scores >= low
        assert found.approval_rate[i] == pytest.approx(above.mean())
        assert found.bad_rate_above[i] == pytest.approx(bad[above].mean())
        assert found.ks[i] == pytest.approx(above[~bad].mean() - above[bad].mean())
    assert found.rows.sum() == len(LOANS)


@LIGHT
@given(st.lists(st.integers(0, 9), min_size=2, max_size=60), st.integers(1, 12))
def test_equal_scores_stay_in_one_band_and_no_row_is_lost(scores, n_bands):
    values = np.array(scores)
    bad = (np.arange(len(values)) % 2).astype(float)
    found = count_bands(values, bad, np.ones(len(values)), n_bands, "bad", None)
    assert len(found.low) <= n_bands
    assert found.rows.sum() == len(values)
    ends = zip(found.low, found.high, strict=True)
    held = [(values >= low) & (values <= high) for low, high in ends]
    assert np.sum(held, axis=0).tolist() == [1] * len(values)


def test_a_weight_of_two_is_a_row_given_twice_in_bands(card):
    twice = pd.concat([LOANS, LOANS[:100]])
    weight = np.r_[np.full(100, 2.0), np.ones(len(LOANS) - 100)]
    one = card.bands(LOANS, "status", sample_weight=weight)
    other = card.bands(twice, "status")
    for name, column in one.to_dict().items():
        assert column == pytest.approx(other.to_dict()[name]), name


def test_bands_of_one_class_are_refused(card):
    with pytest.raises(ValueError, match="both classes"):
        card.bands(LOANS[LOANS["status"] == "bad"], "status")


# ---------------------------------------------------------------- cards where models go


def test_a_card_is_evaluated_like_a_model(card):
    found = weigh.evaluate(card, LOANS, "status", pos_label="bad")
    p = card.predict_proba(LOANS)[:, 0]
    bad = LOANS["status"] == "bad"
    assert found.validation.loss.value == pytest.approx(-np.log2(np.where(bad, p, 1 - p)).mean())
    assert {*card.predict(LOANS)} == {"good", "bad"}


@pytest.mark.parametrize("levels", [2, 2.5, "6", True])
def test_odd_numbers_of_levels_are_refused(levels):
    with pytest.raises(ValueError, match="levels"):
        Scorecard.from_table(LOANS, "status", levels=levels)


def test_an_adverse_class_that_is_none_is_refused():
    with pytest.raises(ValueError, match="worse"):
        Scorecard.from_table(LOANS, "status", adverse="worse")


# ---------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cards")
    LOANS.to_csv(place / "loans.csv", index=False)
    return place


def run(*words):
    return CliRunner().invoke(main, [*map(str, words)], env={"COLUMNS": "100"})


def test_three_commands_make_show_and_judge_a_card(folder, card):
    loans, path = folder / "loans.csv", folder / "card.json"
    made = run("scorecard", loans, "--target", "status", "--adverse", "bad", "--levels", 5,
               "-o", path)  # fmt: skip
    assert made.exit_code == 0, made.output
    loaded = weigh.load(path)
    assert loaded.points == card.points
    assert run("show", path).exit_code == 0
    judged = run("evaluate", path, loans, "--target", "status")
    assert judged.exit_code == 0, judged.output
    assert str(loaded.bands(LOANS, "status").low[0]) in judged.output


def test_a_model_becomes_a_card_with_the_settings_given(folder):
    loans, model, path = (folder / name for name in ("loans.csv", "model.json", "other.json"))
    weigh.save(weigh.EvidenceNB().fit(LOANS, "status"), path=model)
    settings = ("--points-to-double", 40, "--base-score", 500, "--base-odds", 10)
    made = run("scorecard", model, "--adverse", "bad", *settings, "-o", path)
    assert made.exit_code == 0, made.output
    card = weigh.load(path)
    assert (card.points_to_double, card.base_score, card.base_odds) == (40, 500, 10)
    assert card.adverse == "bad"
    again = run("scorecard", path, "--adverse", "bad", "-o", folder / "third.json")
    assert again.exit_code == 1
    assert not (folder / "third.json").exists()
    assert loans.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("loans.csv", "--adverse", "bad"),  # no target
        ("loans.csv", "--target", "status", "--adverse", "worse"),
        ("loans.csv", "--target", "statu", "--adverse", "bad"),
        ("model.json", "--target", "status", "--adverse", "bad"),
    ],
)
def test_commands_that_cannot_be_meant_write_nothing(folder, words):
    weigh.save(weigh.EvidenceNB().fit(LOANS, "status"), path=folder / "model.json")
    first, *rest = words
    done = run("scorecard", folder / first, *rest, "-o", folder / "none.json")
    assert done.exit_code in (1, 2)
    assert not (folder / "none.json").exists()


def test_numbers_as_classes_are_named_as_they_are_shown(folder):
    table = LOANS.assign(status=(LOANS["status"] == "bad").astype(int))
    table.to_csv(folder / "numbers.csv", index=False)
    made = run("scorecard", folder / "numbers.csv", "--target", "status", "--adverse", 1,
               "-o", folder / "numbers.json")  # fmt: skip
    assert made.exit_code == 0, made.output
    assert json.loads((folder / "numbers.json").read_text())["pos_label"] == 0
