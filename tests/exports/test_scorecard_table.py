"""Cards from tables: levels within a budget, the trade's columns, cut-off tables, the command."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import weigh
from weigh import Scorecard
from weigh.cli import main
from weigh.evidence import find_reversed
from weigh.pages import report_page
from weigh.scorecard.bands import count_bands
from weigh.scorecard.impact import compare_rates
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


class Judged:
    """A card, its rows, and the name of their bad class, which sorts before or after the good."""

    def __init__(self, bad):
        self.bad, self.rows = bad, LOANS.assign(status=LOANS["status"].replace("bad", bad))
        self.card = Scorecard.from_table(self.rows, "status", adverse=bad, levels=5)
        self.scores, self.is_bad = self.card.score(self.rows), (LOANS["status"] == "bad").to_numpy()


@pytest.fixture(scope="module", params=["bad", "unpaid"])
def judged(request):
    return Judged(request.param)


# ---------------------------------------------------------------- levels


def test_a_loaded_card_and_model_give_tables_of_the_library_of_the_rows(tmp_path):
    rows = pd.DataFrame({"a": [*"xyzx"] * 25, "n": range(100), "y": ["no", "yes"] * 50})
    weigh.save(weigh.EvidenceNB().fit(rows, "y"), tmp_path / "m.json")
    weigh.save(Scorecard(weigh.load(tmp_path / "m.json")), tmp_path / "card.json")
    model, card = weigh.load(tmp_path / "m.json"), weigh.load(tmp_path / "card.json")
    made = [card.reasons(rows, n=1), weigh.reasons(model, rows), weigh.reasons(card, rows)]
    made += [card.bands(rows, "y").to_frame(), card.impact(rows, "a", 500).to_frame()]
    made += [model.balance_sheet(rows.head(1)).to_frame(), card.to_frame("pandas")]
    assert {type(table) for table in made} == {pd.DataFrame}


def test_a_narrow_card_leaves_columns_out_and_breaks_no_number(card):
    found = card.to_frame("pandas")
    for width in (60, 75, 120):
        text = card.view().to_text(width)
        assert max(map(len, text.splitlines())) <= width
        cells = [line.split() for line in text.splitlines()]
        seen = found[found["rows"] > 0]
        for points, rate in zip(seen["points"], seen["bad_rate"], strict=True):
            assert any(c and c[-1] == str(points) and f"{100 * rate:.1f}%" in c for c in cells)
    assert "Left out at this width: Share, IV" in card.view().to_text(60)
    assert "Left out" not in text


def test_the_card_says_which_columns_have_no_effect(card):
    assert "no effect" not in str(card)
    constant = Scorecard.from_table(LOANS.assign(same=1.5), "status", adverse="bad", levels=5)
    assert "same has no effect: every level has 0 points." in " ".join(str(constant).split())


def test_a_letter_words_changes_with_labels_and_whole_numbers_and_all_that_it_names_suffice():
    """'12 or more' is said only where every such number reaches the cut-off."""
    rng = np.random.default_rng(5)
    n = rng.integers(0, 30, 600).astype(float)
    town = rng.choice([*"ab"], 600)
    risk = np.select([n > 24, (n > 10) & (n < 20)], [0.02, 0.3], 0.8) - 0.2 * (town == "a")
    y = np.where(rng.random(600) < risk, "bad", "good")
    rows = pd.DataFrame({"n": n, "town": town})
    card = Scorecard(weigh.EvidenceNB(bins={"n": [5, 10, 19, 24]}).fit(rows, y), pos_label="good")
    names = {"columns": {"n": "Years", "town": "Region"}, "levels": {"town": {"a": "North"}}}
    case, seen = {"n": 3.0, "town": "b"}, set()
    for cut_off in range(int(card.score([case])[0]) + 1, int(card.score(rows).max()) + 1):
        for text in card.letter(case, cut_off, may_change=["n", "town"], labels=names).changes:
            found = re.fullmatch(
                r"(?:Years: (\d+)( or more| to \d+)? in place of 3)?(?:, and )?"
                r"(Region: North in place of b)?", text
            )  # fmt: skip
            low, more, moved = found.groups()
            seen.add(more)
            high = 99 if more == " or more" else int(more.split()[-1]) if more else int(low or 3)
            tried = [{"n": float(v), "town": "a" if moved else "b"}
                     for v in range(int(low or 3), high + 1)]  # fmt: skip
            assert card.score(tried).min() >= cut_off
    assert {" or more", " to 19"} <= seen


def test_a_class_that_begins_with_a_dash_needs_no_equals_sign_and_a_card_scores_no_class(tmp_path):
    """As scorecard.md and command-line.md say."""
    rows = tmp_path / "rows.csv"
    LOANS.replace({"status": {"bad": "-"}}).to_csv(rows, index=False)
    made = ["scorecard", rows, "--target", "status", "--adverse", "-", "-o", tmp_path / "c.json"]
    assert CliRunner().invoke(main, [*map(str, made)]).exit_code == 0
    done = CliRunner().invoke(main, ["score", str(tmp_path / "c.json"), str(rows)])
    good = next(label for label in LOANS["status"].unique() if label != "bad")
    names = done.stdout.splitlines()[0].replace('"', "").split(",")
    assert names == ["score", "log_odds", "probability_-", f"probability_{good}"]


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


def test_features_whose_effect_reverses_are_the_same_in_the_card_and_its_report():
    """Of two columns that say nearly the same, one may take the other's effect back."""
    rng = np.random.default_rng(0)
    a = rng.random(4000) < 0.5
    b = np.where(rng.random(4000) < 0.85, a, ~a)
    c = rng.random(4000) < 0.5  # says nothing: a point of rounding is no reversal
    bad = rng.random(4000) < 1 / (1 + np.exp(-(3 * a - 1.5 * b - 0.75)))
    table = pd.DataFrame({"a": a, "b": b, "c": c, "status": np.where(bad, "bad", "good")})
    card = Scorecard.from_table(table, "status", adverse="bad")
    assert [t.name for t in find_reversed(card.evidence)] == ["b"]
    assert [t.name for t in find_reversed(card.evidence_)] == ["b"]
    assert "WoE of b as a whole" in str(card)
    page = weigh.report(card, table, "status")
    assert page.count("once the other features are included") == 3  # card, caveat, reversals


@given(
    hnp.arrays(np.int64, (4, 2), elements=st.integers(1, 400)),
    hnp.arrays(np.float64, 4, elements=st.floats(-3, 3)),
)
@LIGHT
def test_an_effect_reverses_where_weights_correlate_with_the_counts_below_minus_a_half(n, weights):
    x, y = np.repeat(np.indices((4, 2)).reshape(2, -1), n.ravel(), axis=1)
    model = weigh.EvidenceNB().fit(pd.DataFrame({"x": x.astype(str), "y": y}), "y")
    table = replace(model.evidence_["x"], by_class=weights[:, None])
    found = find_reversed(replace(model.evidence_, tables=(table,)))
    alone = np.log(n[:, 1] / n[:, 1].sum()) - np.log(n[:, 0] / n[:, 0].sum())
    own, counts = weights[x], alone[x]
    if own.std() <= 0.0101 or counts.std() < 1e-9:
        return
    r = np.corrcoef(own, counts)[0, 1]
    assume(abs(r + 0.5) > 1e-9)
    assert bool(found) == (r < -0.5)


def test_missing_values_do_not_hide_that_an_effect_reverses():
    rng = np.random.default_rng(1)
    x = rng.normal(size=4000)
    z = x + 0.4 * rng.normal(size=4000)
    lost = rng.random(4000) < 0.1
    bad = rng.random(4000) < 1 / (1 + np.exp(-(3 * x - 1.5 * z + 2 * lost)))
    table = pd.DataFrame({"x": x, "z": np.where(lost, np.nan, z)})
    card = Scorecard.from_table(table, np.where(bad, "bad", "good"), adverse="bad")
    assert [t.name for t in find_reversed(card.evidence)] == ["z"]


def test_the_evidence_of_a_card_prints_points(card):
    for evidence in (card.evidence, card.evidence_):
        text = str(evidence)
        assert "times 100" not in text
        for table in evidence:
            for points in card.points[table.name]:
                assert f" {points:+d} " in text if points else " 0 " in text
        assert f"{card.base_points:+d}" in text
        assert evidence.total(card._read(LOANS)).ravel() == pytest.approx(
            np.log(card.predict_proba(LOANS)[:, 1] / card.predict_proba(LOANS)[:, 0])
        )


def test_levels_of_few_rows_missing_and_codes_are_no_best_case():
    rng = np.random.default_rng(0)
    x = rng.choice(["usual", "other one", "rare", None], 3000, p=[0.5, 0.4, 0.02, 0.08])
    risk = {"usual": 0.3, "other one": 0.5, "rare": 0.02, None: 0.05}
    bad = rng.random(3000) < [risk[value] for value in x]
    table = pd.DataFrame({"x": x, "status": np.where(bad, "bad", "good")})
    card = Scorecard(weigh.EducatedNB().fit(table, "status"), pos_label="good")
    points = dict(zip(card.evidence["x"].labels, card.points["x"], strict=True))
    assert points["rare"] > points["usual"] > points["other one"]
    assert card.baselines("best") == (points["usual"],)
    assert card.reasons(table[table["x"] == "usual"], n=1)["reason_1"].isna().all()


# ---------------------------------------------------------------- cut-off table


def test_bands_agree_with_counting_the_rows_above_each_cut_off(judged):
    found, scores = judged.card.bands(judged.rows, "status", 8), judged.scores
    bad = judged.is_bad
    assert found.adverse == judged.bad
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


def test_gains_agree_with_counting_the_bads_at_and_below_each_score(judged):
    bands, scores = judged.card.bands(judged.rows, "status", 8), judged.scores
    found, bad = bands.gains.to_frame(), judged.is_bad
    assert found["high"].is_monotonic_increasing
    assert found["rows"].sum() == len(LOANS)
    for line in found.itertuples():
        below = scores <= line.high
        assert line.rows == (below & (scores >= line.low)).sum()
        assert line.bads == (bad & below & (scores >= line.low)).sum()
        assert line.cumulative_rows == below.sum()
        assert line.cumulative_bads == bad[below].sum()
        assert line.captured == pytest.approx(bad[below].sum() / bad.sum())
        assert line.lift == pytest.approx(bad[below].mean() / bad.mean())


@pytest.mark.parametrize("amounts", [(100.0, -900.0), (1.0, -1.0), (10.0, -1.0), (1.0, -1e6)])
def test_the_best_cut_off_has_the_largest_profit_of_all_scores(judged, amounts):
    good, bad = amounts
    scores, is_bad = judged.scores, judged.is_bad
    totals = {
        cut: good * (~is_bad & (scores >= cut)).sum() + bad * (is_bad & (scores >= cut)).sum()
        for cut in np.unique(scores)
    }
    found = judged.card.bands(judged.rows, "status", profit={"good": good, judged.bad: bad})
    for low, profit in zip(found.low, found.profit, strict=True):
        assert profit == pytest.approx(totals[low])
    if max(totals.values()) <= 0:
        assert found.best.cut_off is None
        return
    assert found.best.total == pytest.approx(max(totals.values()))
    assert totals[found.best.cut_off] == pytest.approx(max(totals.values()))
    assert found.best.approval_rate == pytest.approx((scores >= found.best.cut_off).mean())
    assert str(found.best.cut_off) in found.to_text()


@pytest.mark.parametrize("odd", [{"good": 1}, {"good": 1, "bad": "x"}, [1, 2], {"a": 1, "b": 2}])
def test_amounts_that_do_not_name_both_classes_are_refused(card, odd):
    with pytest.raises(ValueError, match="profit"):
        card.bands(LOANS, "status", profit=odd)


def test_impact_agrees_with_counting_the_approved_of_each_group(card):
    groups = np.array(["a", "b", "c"])[np.random.default_rng(2).integers(0, 3, len(LOANS))]
    scores = card.score(LOANS)
    cut = float(np.median(scores))
    found = card.impact(LOANS, groups, cut)
    rates = {g: (scores[groups == g] >= cut).mean() for g in "abc"}
    best = max(rates, key=rates.get)
    assert found.reference == best
    assert [g.group for g in found.groups] == [*"abc"]
    for g in found.groups:
        assert g.rate == pytest.approx(rates[g.group])
        assert g.ratio == pytest.approx(rates[g.group] / rates[best])
        assert (g.group in found.below_four_fifths) == (rates[g.group] < 0.8 * rates[best])


def test_the_groups_of_an_impact_are_those_of_an_evaluation(card):
    rows = LOANS.assign(
        part=np.where(np.arange(len(LOANS)) % 2, "odd", "even"),
        band=pd.cut(np.arange(len(LOANS)) % 10, [-1, 2, 9]),
    )
    for by in ("band", ["part", "band"], rows[["part", "band"]], rows["part"].tolist()):
        found, judged = card.impact(rows, by, 560), weigh.evaluate(card, rows, "status", by=by)
        assert found.by == judged.by
        expected = [(group.name, group.n_rows) for group in judged.groups]
        assert [(group.group, group.rows) for group in found.groups] == expected


def test_the_interval_of_an_impact_ratio_covers_the_true_one_in_most_samples():
    rng, covered = np.random.default_rng(7), 0
    for _ in range(400):
        a, b = rng.binomial(300, 0.4), rng.binomial(500, 0.6)
        found = compare_rates("a", 300, a, 500, b, same=False)
        covered += found.low <= 0.4 / 0.6 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_groups_of_an_impact_are_compared_with_one_by_name(card):
    groups = np.where(np.arange(len(LOANS)) % 3 == 0, "x", "y")
    found = card.impact(LOANS, groups, 0.0, reference="x")
    assert [g.ratio for g in found.groups] == [1.0, 1.0]  # all are approved
    assert card.impact(LOANS, groups, 1e9).groups[0].ratio is None  # and here none
    with pytest.raises(ValueError, match="reference"):
        card.impact(LOANS, groups, 0.0, reference="z")


@pytest.mark.parametrize("cut", [np.nan, np.inf, "560", None])
def test_an_impact_needs_a_finite_cut_off(card, cut):
    with pytest.raises(ValueError, match="cut_off"):
        card.impact(LOANS, "district", cut)


def test_groups_that_are_numbers_are_named_as_given_and_small_ones_marked(card):
    groups = pd.Series(np.where(np.arange(len(LOANS)) < 20, 2, 1), name="sex")
    found = card.impact(LOANS, groups, 560, reference=1)
    assert (found.by, found.reference, found.small) == ("sex", "1", ("2",))
    assert "Approval by sex" in found.to_text()
    assert card.impact(LOANS, groups.to_numpy(), 560).by == "group"


@pytest.mark.parametrize(("rate", "other"), [(1.0, 0.9), (0.0, 0.4), (0.97, 1.0), (1.0, 1.0)])
def test_the_interval_of_an_extreme_rate_holds_the_true_ratio(rate, other):
    rng, covered = np.random.default_rng(8), 0
    for _ in range(400):
        a, b = rng.binomial(200, rate), rng.binomial(300, other)
        found = compare_rates("a", 200, a, 300, b, same=False)
        assert found.low <= found.ratio <= found.high
        assert found.low < found.high
        covered += found.low <= rate / other <= found.high
    assert covered / 400 >= 0.92


def test_large_counts_are_printed_in_full():
    scores, bad = np.array([500, 600]), np.array([1.0, 0.0])
    weight = np.array([4246913.0, 7000001.0])
    found = count_bands(scores, bad, weight, 2, "bad", None, amounts=(1.0, -1.0))
    for text in (found.to_text(), found.gains.to_text()):
        assert "4,246,913" in text
        assert "e+" not in text


def test_the_auc_of_rounding_is_that_of_the_good_class(judged):
    good, bad = judged.scores[~judged.is_bad], judged.scores[judged.is_bad]
    above = (good[:, None] > bad).mean() + (good[:, None] == bad).mean() / 2
    assert judged.card.measure(judged.rows, "status").auc_after == pytest.approx(above)


def test_bands_of_whole_number_classes_count_the_adverse_one(judged):
    rows = judged.rows.assign(status=judged.is_bad.astype(int))
    card = Scorecard.from_table(rows, "status", adverse=1, levels=5)
    assert card.bands(rows, "status").bads.sum() == judged.is_bad.sum()


def test_bands_of_one_class_are_refused(card):
    with pytest.raises(ValueError, match="both classes"):
        card.bands(LOANS[LOANS["status"] == "bad"], "status")


# ---------------------------------------------------------------- cards where models go


def test_a_card_is_evaluated_like_a_model(card):
    found = weigh.evaluate(card, LOANS, "status")  # which measures the bad class
    assert found.pos_label == "bad"
    assert found.validation.base_rate.value == pytest.approx((LOANS["status"] == "bad").mean())
    p = card.predict_proba(LOANS)[:, 0]
    bad = LOANS["status"] == "bad"
    assert found.validation.loss.value == pytest.approx(-np.log2(np.where(bad, p, 1 - p)).mean())
    assert {*card.predict(LOANS)} == {"good", "bad"}


def test_the_page_of_a_card_measures_the_bad_class_and_shows_points_for_the_good_one(card):
    page = re.sub(r"<[^>]+>", " ", weigh.report(card, LOANS, "status"))
    assert "Scorecard: probability of bad against good" in page
    assert "Positive points favour good. Flagged rows are those predicted to be bad." in page
    assert "Evidence for good" in page
    assert "share of bad caught" in page


def test_the_report_of_a_card_has_the_measures_of_its_scores_with_their_ties():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({f"x{k}": rng.integers(0, 2, 3000).astype(str) for k in range(12)})
    y = np.where(rng.random(3000) < 0.5, "bad", "good")
    card = Scorecard(weigh.EvidenceNB().fit(X, y), points_to_double=200, pos_label="good")
    p, q = card.predict_proba(X)[:, 0], card.as_model().predict_proba(X)[:, 0]
    assert len({*p}) < len({*q})  # sums of nats differ in their last bits
    area = weigh.evaluate(card, X, y).validation.auc.value
    assert f"AUC {area:.3f}: " in weigh.report(card, X, y, examples=0)
    shown = []
    with pytest.MonkeyPatch.context() as patch:
        known = report_page.evaluate
        patch.setattr(
            report_page, "evaluate", lambda *a, **k: shown.append(known(*a, **k)) or shown[0]
        )
        weigh.report(card, X, y, examples=0)
    assert shown[0].validation.auc.value == area


@pytest.mark.parametrize("levels", [2, 2.5, "6", True])
def test_odd_numbers_of_levels_are_refused(levels):
    with pytest.raises(ValueError, match="levels"):
        Scorecard.from_table(LOANS, "status", levels=levels)


def test_categories_too_few_for_a_level_join_the_one_of_the_nearest_weight():
    rng = np.random.default_rng(4)
    town = np.array([*"abc"], dtype=object)[rng.integers(0, 3, 900)]
    town[:40] = "rare"
    flag = np.where(np.arange(900) < 20, "yes", "no")
    rate = pd.Series(town).map({"a": 0.1, "b": 0.5, "c": 0.9, "rare": 0.9})
    y = np.where(rng.random(900) < rate, "bad", "good")
    card = Scorecard.from_table(pd.DataFrame({"town": town, "flag": flag}), y, adverse="bad")
    found = card.evidence["town"]
    assert (found.counts.sum(axis=1) >= 0.05 * 900).all()
    assert [{*map(str, getattr(level, "values", [level]))} for level in found.levels] == [
        {"a"}, {"b"}, {"c", "rare"}
    ]  # fmt: skip
    assert found.counts.sum() == 900
    assert card.evidence["flag"].labels == ("no", "yes")  # one level would say nothing


def test_categories_none_of_which_is_frequent_are_one_level_beside_missing_or_left_out(tmp_path):
    rng = np.random.default_rng(5)
    X = LOANS.assign(
        uid=[f"P{k % 1400:05}" for k in range(len(LOANS))],
        town=rng.choice([f"t{k}" for k in range(40)], len(LOANS)),
        cabin=np.where(rng.random(len(LOANS)) < 0.7, None, rng.choice([*"abcdefgh"], len(LOANS))),
        answer=np.where(rng.random(len(LOANS)) < 0.96, None, rng.choice([*"yn"], len(LOANS))),
    )
    with pytest.warns(UserWarning, match="'uid', 'town'"):
        card = Scorecard.from_table(X, "status", adverse="bad")
    assert {*card.points} == {"income", "age", "district", "cabin", "answer"}
    assert card.evidence["cabin"].labels == ("other", "missing")
    assert card.evidence["answer"].labels == ("n", "y", "missing")  # two are not joined
    weigh.save(card, tmp_path / "card.json")
    read = weigh.load(tmp_path / "card.json")
    scores = read.predict_proba(X.drop(columns=["uid", "town"]))
    assert np.array_equal(scores, card.predict_proba(X))


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


def test_evaluate_prints_and_writes_the_tables_of_a_card(folder, judged):
    card = judged.card
    loans, path = folder / "groups.csv", folder / "judged.json"
    out = folder / f"tables-{judged.bad}"
    table = judged.rows.assign(part=np.where(np.arange(len(LOANS)) % 2, "odd", "even"))
    table.to_csv(loans, index=False)
    weigh.save(card, path)
    asked = ("--profit", 100, -900, "--by", "part", "--cut-off", 560, "--tables", out, "--json")
    ran = run("evaluate", path, loans, "--target", "status", *asked)
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    bands = card.bands(table, "status", profit={"good": 100, "bad": -900})
    assert told["bands"][0]["bads"] == judged.is_bad[judged.scores >= bands.low[0]].sum()
    assert told["profit"]["cut_off"] == bands.best.cut_off
    assert [line["lift"] for line in told["gains"]] == pytest.approx(bands.gains.lift)
    groups = card.impact(table, "part", 560).groups
    assert [line["ratio"] for line in told["impact"]] == pytest.approx([g.ratio for g in groups])
    for name, part in (("bands", bands), ("gains", bands.gains)):
        written = pd.read_csv(out / f"{name}.csv")
        assert [*written] == [*part.to_dict()]
        np.testing.assert_allclose(written, pd.DataFrame(part.to_dict()))
    assert pd.read_csv(out / "impact.csv")["group"].tolist() == ["even", "odd"]


def test_evaluate_prints_the_rates_of_a_cut_off_without_groups(folder, judged):
    path, loans = folder / "decided.json", folder / "decided.csv"
    weigh.save(judged.card, path)
    judged.rows.to_csv(loans, index=False)
    for cut_off in (int(np.median(judged.scores)), 10_000):
        asked = ("evaluate", path, loans, "--target", "status", "--cut-off", cut_off)
        told, approved = run(*asked, "--json"), judged.scores >= cut_off
        rate = judged.is_bad[approved].mean() if approved.any() else None
        assert json.loads(told.stdout)["decided"] == {
            "cut_off": cut_off,
            "approval_rate": pytest.approx(approved.mean()),
            "bad_rate": None if rate is None else pytest.approx(rate),
            "adverse": judged.bad,
        }
        words = " ".join(run(*asked).stdout.split())
        wanted = "none" if rate is None else f"{100 * approved.mean():.1f}%"
        assert f"A cut-off of {cut_off} approves {wanted} of the rows" in words


def test_a_cut_off_of_a_card_between_0_and_1_is_a_probability_of_the_bad_class(folder, judged):
    path, loans = folder / "decided.json", folder / "decided.csv"
    weigh.save(judged.card, path)
    judged.rows.to_csv(loans, index=False)
    asked = ("evaluate", path, loans, "--target", "status", "--cut-off")
    told = json.loads(run(*asked, "0.3", "--cut-off", "560", "--json").stdout)
    own = weigh.evaluate(judged.card, judged.rows, "status", cut_off=0.3).to_dict()
    assert told["validation"]["cut_offs"] == own["validation"]["cut_offs"]
    assert told["decided"]["cut_off"] == 560
    assert "--cut-off takes one score of a scorecard, got 500, 560" in run(*asked, "500,560").output


@pytest.mark.parametrize("asked", [("--profit", 1, -1), ("--cut-off", 650), ("--tables", "x")])
def test_evaluate_refuses_options_of_a_card_for_a_model(folder, asked):
    weigh.save(weigh.EvidenceNB().fit(LOANS, "status"), path=folder / "plain.json")
    ran = run("evaluate", folder / "plain.json", folder / "loans.csv", "--target", "status", *asked)
    assert ran.exit_code == 2
    assert asked[0] in ran.output


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
