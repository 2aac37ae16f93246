"""weigh.drift: quiet on rows from the training distribution, and loud where something changed."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner
from matplotlib import pyplot as plt
from scipy.sparse import csr_array
from scipy.special import expit, logit
from scipy.stats import binom, multivariate_hypergeom

import weigh
from weigh.cli import main
from weigh.errors import ParameterError
from weigh.frames import folders, large, read, sources
from weigh.metrics import population_stability_index
from weigh.monitoring.checks import LEVELS, Check, compare_samples, compare_unseen, judge
from weigh.monitoring.series import _draw


def draw(rng, n, *, town=(0.4, 0.3, 0.2, 0.08, 0.02), base=0.4, shift=0.0, effect=1.0):
    """Independent features given the class, as naive Bayes has them; x is missing in a tenth."""
    y = rng.random(n) < base
    x = rng.normal(size=n) + effect * y + shift
    x[rng.random(n) < 0.1] = np.nan
    columns = {
        "town": rng.choice([*"pqrst"], n, p=town),
        "plan": np.where(y ^ (rng.random(n) < 0.3), "long", "short"),
        "x": x,
        "street": rng.zipf(1.7, n).clip(max=10**6).astype(str),  # with new values in every sample
    }
    return pa.table(columns), np.where(y, "yes", "no")


def fit(n=2000, seed=0, learner=weigh.EvidenceNB, **kwargs):
    X, y = draw(np.random.default_rng(seed), n, **kwargs)
    return learner().fit(X, y)


def checks_of(found):
    return [*(feature.check for feature in found.features), *found.checks]


def feature_of(found, name):
    return next(feature for feature in found.features if feature.name == name)


def check_of(found, name):
    return next(check for check in checks_of(found) if check.name == name)


# ------------------------------------------------------------ the numbers


def test_the_index_of_categories_is_that_of_the_two_columns():
    rng = np.random.default_rng(0)
    X, y = draw(rng, 900)
    new, _ = draw(rng, 500, town=(0.2, 0.4, 0.3, 0.1, 0.0))
    found = weigh.drift(weigh.EvidenceNB().fit(X, y), new)
    for name in ("town", "plan"):
        wanted = population_stability_index(X[name].to_pylist(), new[name].to_pylist())
        assert feature_of(found, name).check.index == pytest.approx(wanted.value, rel=1e-12)


def test_the_index_of_numbers_is_the_sum_over_bins_written_out():
    rng = np.random.default_rng(0)
    X, y = draw(rng, 900)
    new, _ = draw(rng, 500, shift=0.4)
    model = weigh.EvidenceNB(bins={"x": [-0.5, 0.5, 1.5]}).fit(X, y)

    def share(table, k):
        x = [v if v is None else float(v) for v in table["x"].to_pylist()]
        ends = [-np.inf, -0.5, 0.5, 1.5, np.inf]
        if k == 4:
            return np.mean([v is None or np.isnan(v) for v in x])
        return np.mean([v is not None and ends[k] < v <= ends[k + 1] for v in x])

    pairs = [(share(X, k), share(new, k)) for k in range(5)]
    wanted = sum((a - e) * np.log(a / e) for e, a in pairs)
    found = feature_of(weigh.drift(model, new), "x")
    assert found.check.index == pytest.approx(wanted, rel=1e-12)
    assert (found.missing_before, found.missing_now) == pytest.approx(pairs[4], abs=1e-15)


@pytest.mark.parametrize("learner", [weigh.EvidenceNB, weigh.EducatedNB, weigh.BoostedNB])
def test_effects_add_up_to_the_change_of_the_mean_total(learner):
    rng = np.random.default_rng(3)
    X, y = draw(rng, 700)
    new, _ = draw(rng, 300, shift=0.5, town=(0.1, 0.3, 0.2, 0.2, 0.2))
    model = learner().fit(X, y)
    change = model.decision_function(new).mean() - model.decision_function(X).mean()
    found = weigh.drift(model, new)
    assert sum(feature.shift[0] for feature in found.features) == pytest.approx(change, abs=1e-9)
    effects = [feature.effect for feature in found.features]
    assert effects == sorted(effects, reverse=True)


def test_missing_values_that_training_skipped_are_counted():
    rng = np.random.default_rng(5)
    X, y = draw(rng, 800)
    model = weigh.EvidenceNB(missing="skip").fit(X, y)
    found = feature_of(weigh.drift(model, X), "x")
    assert found.missing_before == found.missing_now > 0.05
    assert found.check.index == pytest.approx(0, abs=1e-15)


def test_the_mean_of_the_index_without_drift_is_what_is_called_chance():
    rng = np.random.default_rng(8)
    model = fit(1000, seed=8)
    found = [weigh.drift(model, draw(rng, 400)[0]) for _ in range(200)]
    values = np.array([feature_of(f, "town").check.index for f in found])
    wanted = 4 * (1 / 1000 + 1 / 400)
    # one model is one draw of the training rows: its part of the noise, 4/1000, may be 0 to 3 times
    assert 4 / 400 * 0.8 < values.mean() < wanted + 3 * 4 / 1000


# ------------------------------------------------------------ noise


def false_alarms(learner, n_draws, labelled, alpha=0.05):
    """How often rows from the training distribution give any significant check."""
    rng, raised = np.random.default_rng(11), 0
    for _ in range(n_draws):
        X, y = draw(rng, int(rng.choice([200, 800])))
        new, truth = draw(rng, int(rng.choice([100, 400])))
        if labelled:
            X, new = (table.drop_columns(["street"]) for table in (X, new))
        found = weigh.drift(learner().fit(X, y), new, truth if labelled else None, alpha=alpha)
        raised += min(check.adjusted for check in checks_of(found)) < alpha
    return raised


def test_rows_from_the_training_distribution_raise_no_more_than_the_nominal_rate():
    """400 draws of both samples; Holm's bound may be met from below, but not from far below."""
    raised = false_alarms(weigh.EvidenceNB, 400, labelled=False)
    assert binom.ppf(0.001, 400, 0.02) <= raised <= binom.ppf(0.999, 400, 0.05)


@pytest.mark.parametrize(("learner", "n"), [(weigh.EvidenceNB, 200), (weigh.EducatedNB, 30)])
def test_labels_from_the_training_distribution_raise_no_more_than_the_nominal_rate(learner, n):
    raised = false_alarms(learner, n, labelled=True)
    assert raised <= binom.ppf(0.999, n, 0.05)


def test_the_chi_square_has_the_level_of_the_exact_distribution_of_new_counts():
    both, n_new = np.array([400, 200, 60, 30, 9, 3, 1, 1]), 200
    rng = np.random.default_rng(2)
    new = multivariate_hypergeom.rvs(both, n_new, size=4000, random_state=rng).astype(float)
    p = np.array([compare_samples(both - part, part) for part in new])
    for alpha in (0.01, 0.05, 0.2):
        low, high = binom.ppf([0.0005, 0.9995], 4000, alpha)
        assert low <= (p < alpha).sum() <= high


def test_many_rare_new_values_are_no_surprise_and_a_frequent_one_is():
    rng = np.random.default_rng(4)
    both = np.concatenate([np.ones(300), np.full(100, 2), np.full(20, 30)]).astype(int)
    new = multivariate_hypergeom.rvs(both, 300, size=2000, random_state=rng).astype(float)
    p = np.array([compare_unseen(both - part, part) for part in new])
    assert (p < 0.05).sum() <= binom.ppf(0.999, 2000, 0.05)
    assert compare_unseen(np.array([500.0, 300, 0]), np.array([80.0, 60, 12])) < 1e-6


def test_holm_adjusts_as_written_out():
    p = [0.04, 0.001, 0.03, float("nan")]
    found = judge([Check("c", "feature", 1.0, 0.0, value) for value in p], alpha=0.05)
    assert [check.adjusted for check in found] == pytest.approx([0.09, 0.004, 0.09, 1.0])
    assert [check.level for check in found] == ["none", "alarm", "none", "none"]


def test_a_trifle_in_a_large_file_is_significant_and_stays_quiet():
    old, new = np.array([500_000.0, 500_000.0]), np.array([503_000.0, 497_000.0])
    assert compare_samples(old, new) < 1e-4
    check = Check("c", "feature", 3.6e-5, 2e-6, compare_samples(old, new))
    assert judge([check], 0.01)[0].level == "none"


# ------------------------------------------------------------ changes


def power(n_draws=40, labelled=False, n=500, **change):
    rng, model = np.random.default_rng(21), fit(3000, seed=21)
    draws = [draw(rng, n, **change) for _ in range(n_draws)]
    return [weigh.drift(model, X, y if labelled else None) for X, y in draws]


def test_a_shift_of_half_a_deviation_is_found_in_500_rows_with_power_of_99_percent():
    """Measured: 200 of 200 draws. With a power of 0.99, 40 draws miss more than 3 once in 1,000."""
    found = power(shift=0.5)
    assert sum(feature_of(f, "x").check.level != "none" for f in found) >= 37
    assert all(f.features[0].name == "x" for f in found)
    assert all(f.action in ("nothing", "get labels") for f in found)


def test_a_level_that_doubles_from_8_to_16_percent_is_found():
    found = power(town=(0.32, 0.3, 0.2, 0.16, 0.02))
    assert sum(feature_of(f, "town").check.level != "none" for f in found) >= 37


def test_another_base_rate_alone_asks_for_another_prior():
    """Odds twice as high; the rate to give to with_prior is the new base rate."""
    found = power(labelled=True, n=2000, n_draws=10, base=float(expit(logit(0.4) + 1.0)))
    assert sum(f.action == "change the prior" for f in found) >= 9
    wanted = np.mean([f.quality[0].wanted_rate for f in found])
    assert wanted == pytest.approx(expit(logit(0.4) + 1.0), abs=0.05)


def test_a_weight_that_changed_its_sign_asks_for_a_refit_and_is_named():
    for learner in (weigh.EvidenceNB, weigh.EducatedNB):
        model = fit(3000, seed=2, learner=learner)
        X, y = draw(np.random.default_rng(9), 1500, effect=-1.0)
        found = weigh.drift(model, X, y)
        assert (found.action, found.level) == ("refit", "alarm")
        assert {moved.feature for moved in found.moved} == {"x"}


def test_probabilities_that_are_too_sure_ask_for_recalibration():
    """Twins count twice in naive Bayes: each weight holds, and the slope is a half."""
    rng = np.random.default_rng(6)
    tables = []
    for _ in range(2):
        X, y = draw(rng, 4000)
        plan = X["plan"]
        tables.append((pa.table({"a": plan, "b": plan, "c": plan}), y))
    model = weigh.EvidenceNB().fit(*tables[0])
    found = weigh.drift(model, *tables[1])
    assert found.action == "recalibrate"
    assert found.quality[0].slope.value < 0.6


def test_new_and_vanished_levels_are_named():
    rng = np.random.default_rng(1)
    model = fit(2000, seed=1)
    X, _ = draw(rng, 400, town=(0.5, 0.0, 0.3, 0.18, 0.02))
    town = X["town"].to_pylist()
    town[:60] = ["Oz"] * 60
    town[60:80] = [None] * 20
    found = weigh.drift(model, X.set_column(0, "town", pa.array(town)))
    town = feature_of(found, "town")
    assert town.new_values == {"Oz": 60}
    assert town.vanished == ("q",)
    assert (town.missing_before, town.missing_now) == (0.0, 0.05)
    assert town.check.level == "alarm"


def towns(rng, n, newcomer=0.0):
    """A few frequent towns and many rare ones, which `max_levels` joins."""
    share = np.array([0.4, 0.3, 0.05, *[0.01] * 25])
    town = rng.choice([f"t{k}" for k in range(28)], n, p=share)
    rare = np.isin(town, ["t0", "t1", "t2"], invert=True)
    moved = rare & (rng.random(n) < newcomer)
    return pa.table({"town": np.where(moved, "Oz", town)}), np.where(rng.random(n) < 0.5, "a", "b")


def test_a_new_category_within_other_raises_an_alarm_though_the_share_of_other_is_as_before():
    rng = np.random.default_rng(0)
    model = weigh.EvidenceNB(max_levels=3).fit(*towns(rng, 3000))
    X, _ = towns(rng, 1000, newcomer=0.9)
    (town,) = weigh.drift(model, X).features
    n = X["town"].to_pylist().count("Oz")
    assert town.grown == {"Oz": n}
    assert town.check.level == "alarm"
    shares = dict(zip(town.stability.labels, town.stability.actual, strict=True))
    assert shares["Oz"] == n / 1000
    assert sum(shares.values()) == pytest.approx(1)
    assert town.effect < 0.05  # the weights of its level are those of other


def test_the_table_of_other_says_its_share_and_the_limit_of_a_value_in_training():
    """The model stores no values within other, so a reader needs both to tell that one is new."""
    rng = np.random.default_rng(0)
    train, y = towns(rng, 3000)
    model = weigh.EvidenceNB(max_levels=3).fit(train, y)
    X = pa.table({"town": ["t0"] * 150 + ["Oz"] * 50})
    found = weigh.drift(model, X)
    (town,) = found.features
    before = np.array(train["town"].to_pylist())
    kept = [np.mean(before == f"t{k}") for k in range(3)]
    assert town.other_before == pytest.approx(1 - sum(kept))
    assert town.other_now == 0.25
    assert town.most == pytest.approx(min(kept))
    assert all(np.mean(before == value) <= town.most for value in {*before} - {"t0", "t1", "t2"})
    row = next(line for line in str(found).splitlines() if "Oz (50: 25.0%)" in line)
    assert f"{100 * (1 - sum(kept)):.1f}%" in row
    assert f"at most {100 * min(kept):.1f}%" in row


def test_a_value_in_no_list_that_exceeds_all_such_training_rows_is_named():
    rng = np.random.default_rng(0)
    bins = {"town": [["t0", "t1"], ["t2"]]}
    model = weigh.EvidenceNB(bins=bins).fit(*towns(rng, 300))
    (town,) = weigh.drift(model, towns(rng, 300, newcomer=1.0)[0]).features
    assert town.grown == {}  # one value may have had all training rows of other
    assert [*town.within_other] == ["Oz"]
    many = pa.table({"town": ["t0"] * 200 + ["Oz"] * 400})
    (town,) = weigh.drift(model, many).features
    assert town.grown == {"Oz": 400}


def test_values_within_other_seldom_seem_to_grow_without_drift():
    rng = np.random.default_rng(0)
    model = weigh.EvidenceNB(max_levels=5).fit(*towns(rng, 1500))  # cut among equal towns
    found = [weigh.drift(model, towns(rng, 400)[0]).features[0] for _ in range(300)]
    assert sum(bool(town.grown) for town in found) <= binom.ppf(0.999, 300, 0.001)


def test_new_pairs_of_a_cross_are_named():
    rng = np.random.default_rng(7)
    a, b = rng.choice(["p", "q"], 600), rng.choice(["u", "v"], 600)
    b[a == "q"] = "u"
    y = np.where((a == "p") ^ (rng.random(600) < 0.3), 1, 0)
    model = weigh.EvidenceNB(crosses=[("a", "b")]).fit(pa.table({"a": a, "b": b}), y)
    new = pa.table({"a": ["q"] * 50 + ["p"] * 30 + [None] * 5, "b": ["v"] * 50 + ["u"] * 35})
    found = weigh.drift(model, new).features[0]
    assert found.new_values == {"q & v": 50}
    assert found.missing_now == pytest.approx(5 / 85)


def test_every_class_of_many_is_checked():
    rng = np.random.default_rng(3)

    def rows(n, move=0.0):
        y = rng.integers(0, 3, n)
        return pa.table({"x": rng.normal(size=n) + y + move}), np.array([*"abc"])[y]

    model = weigh.EducatedNB(pairs=0).fit(*rows(1500))
    quiet, loud = weigh.drift(model, *rows(600)), weigh.drift(model, *rows(600, 1.0))
    assert quiet.level == "none"
    assert [quality.pos_label for quality in quiet.quality] == ["a", "b", "c"]
    assert loud.reaches("alarm")
    assert loud.action in ("refit", "recalibrate", "change the prior")


def test_a_scan_gives_what_a_table_gives(tmp_path, monkeypatch):
    for module in (folders, large, sources):
        monkeypatch.setattr(module, "ROWS", 70)
    model, (X, y) = fit(500), draw(np.random.default_rng(1), 300, shift=0.3)
    table = X.append_column("y", pa.array(y))
    pa.csv.write_csv(table, tmp_path / "new.csv")
    scan = weigh.scan(tmp_path / "new.csv", text=["street"])
    assert len([*read(scan).batches()]) > 1
    one, other = (weigh.drift(model, part, "y").to_dict() for part in (table, scan))
    assert one == other


# ------------------------------------------------------------ what people see


def test_the_index_of_totals_is_that_of_two_samples_of_log_odds():
    rng = np.random.default_rng(2)
    model = fit(2000)
    (old, _), (new, y) = draw(rng, 1500), draw(rng, 700, shift=0.3)
    found = weigh.drift(model, new, y, reference=old)
    total = [logit(model.predict_proba(X)[:, 1]) for X in (old, new)]
    index = population_stability_index(*total)
    check = check_of(found, "distribution of totals")
    assert check.index == pytest.approx(index.value, rel=1e-6)
    assert check.chance == pytest.approx((len(index.labels) - 1) * (1 / 1500 + 1 / 700))
    assert "distribution of totals" not in [c.name for c in weigh.drift(model, new).checks]


def test_the_index_of_totals_raises_no_more_than_the_nominal_rate():
    rng = np.random.default_rng(3)
    model = fit(2000)
    found = [
        check_of(
            weigh.drift(model, draw(rng, 200)[0], reference=draw(rng, 300)[0]),
            "distribution of totals",
        ).p_value
        < 0.05
        for _ in range(300)
    ]
    assert binom.ppf(0.0005, 300, 0.05) <= sum(found) <= binom.ppf(0.9995, 300, 0.05)


def test_features_that_drift_beside_right_probabilities_ask_to_check_the_data():
    rng = np.random.default_rng(1)
    model = fit(3000)
    X, y = draw(rng, 2000)
    town = np.where(rng.random(2000) < 0.3, "Oz", X["town"].to_pylist())
    found = weigh.drift(model, X.set_column(0, "town", pa.array(town)), y)
    assert found.level == "alarm"
    assert found.action == "check the data"
    assert "town" in found.verdict
    assert "Oz" in found.verdict
    assert weigh.drift(model, X, y).action == "nothing"


def test_every_sentence_below_the_tables_is_a_note():
    found = weigh.drift(fit(300), draw(np.random.default_rng(1), 300)[0])
    assert found.notes
    assert found.view().notes == found.notes


def test_labels_of_one_class_do_not_judge_calibration():
    X, y = draw(np.random.default_rng(1), 400, shift=1.0)
    only = X.filter(pa.array(y == "no"))
    found = weigh.drift(fit(), only, ["no"] * only.num_rows)
    assert found.action == "get labels"


def test_the_intervals_are_those_of_evaluate():
    X, y = draw(np.random.default_rng(1), 400)
    model = fit()
    (found,), wanted = weigh.drift(model, X, y).quality, weigh.evaluate(model, X, y).validation
    for name in ("slope", "in_the_large"):
        mine, own = getattr(found, name), getattr(wanted, name)
        assert (mine.low, mine.high) == pytest.approx((own.low, own.high), rel=1e-6)


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_the_effects_of_a_card_are_in_its_points_and_in_its_direction(pos_label):
    old, y = draw(np.random.default_rng(0), 2000)
    new, _ = draw(np.random.default_rng(1), 400, shift=1.0)
    card = weigh.Scorecard(weigh.EvidenceNB().fit(old, y), pos_label=pos_label)
    found = weigh.drift(card, new)
    moved = sum(float(f.shift[0]) for f in found.features) * found.points_per_nat
    assert moved == pytest.approx(card.score(new).mean() - card.score(old).mean(), abs=0.01)
    assert weigh.drift(fit(), new).points_per_nat is None
    shown = next(row for row in found.view().grids[0].rows if row[0] == "x")
    assert float(shown[5]) == pytest.approx(
        float(feature_of(found, "x").shift[0]) * found.points_per_nat, abs=0.05
    )


def test_no_interval_is_folded_on_a_terminal_of_80_columns():
    X, y = draw(np.random.default_rng(1), 400, shift=1.0)
    found = weigh.drift(fit(), X, y)
    lines = found.to_text(80).splitlines()
    (slope,) = [line for line in lines if line.strip().startswith("Slope")]
    assert slope.count("(") == slope.count(")") == 1


def test_the_title_of_the_table_says_how_many_features_are_left_out():
    rng = np.random.default_rng(0)
    X = pa.table({f"c{j}": rng.integers(0, 3, 200) for j in range(13)})
    found = weigh.drift(weigh.EvidenceNB().fit(X, rng.integers(0, 2, 200)), X)
    lines = found.to_text(100).splitlines()
    title = (
        "Features, the largest effect on the total first (12 of 13; the others have less effect)"
    )
    assert lines.index(title) < lines.index("The total")


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("br", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_text_and_html_hold_the_same_verdict_and_features():
    X, y = draw(np.random.default_rng(1), 400, shift=1.0)
    found = weigh.drift(fit(), X, y)
    page = Balanced()
    page.feed(found._repr_html_())
    assert page.open == []
    html = " ".join(" ".join(page.text).split())
    for text in (html, " ".join(repr(found).split())):
        assert found.verdict in text
        assert all(feature.name in text for feature in found.features)
    assert all(len(line) <= 80 for line in found.to_text(80).splitlines())
    json.dumps(found.to_dict(), allow_nan=False)


def test_models_without_weights_are_refused_by_name():
    X, y = draw(np.random.default_rng(1), 100)
    with pytest.raises(ValueError, match="C44Classifier"):
        weigh.drift(weigh.C44Classifier().fit(X, y), X)


def test_models_of_documents_are_refused():
    model = weigh.EvidenceNB(event_model="counts").fit([[1, 2], [3, 0]], [0, 1])
    with pytest.raises(ValueError, match="event_model"):
        weigh.drift(model, [[1, 2]])
    with pytest.raises(ValueError, match=r"^EvidenceNB .* event_model='levels'"):
        weigh.drift_series(model, {"May": csr_array([[1, 2]])})


def test_bad_input_is_refused_by_name():
    model, (X, y) = fit(300), draw(np.random.default_rng(1), 50)
    with pytest.raises(ValueError, match="alpha"):
        weigh.drift(model, X, alpha=1.5)
    with pytest.raises(ValueError, match="'plan'"):
        weigh.drift(model, X.drop_columns(["plan"]))
    with pytest.raises(ValueError, match="empty"):
        weigh.drift(model, X.slice(0, 0))
    with pytest.raises(ValueError, match="'maybe'"):
        weigh.drift(model, X, np.where(y == "yes", "maybe", y))
    with pytest.raises(ValueError, match="equal length"):
        weigh.drift(model, X, y[:-1])
    with pytest.raises(ValueError, match="level"):
        weigh.drift(model, X).reaches("panic")


# ------------------------------------------------------------ the command line


@pytest.fixture
def files(tmp_path):
    weigh.save(fit(), tmp_path / "model.json")
    for name, shift in (("same", 0.0), ("moved", 1.0)):
        X, y = draw(np.random.default_rng(1), 400, shift=shift)
        pa.csv.write_csv(X.append_column("y", pa.array(y)), tmp_path / f"{name}.csv")
    return tmp_path


def run(files, data, *options):
    words = ["drift", str(files / "model.json"), str(files / data), *options]
    return CliRunner().invoke(main, words)


def test_the_exit_code_tells_a_scheduler_of_drift(files):
    assert run(files, "moved.csv").exit_code == 0
    assert run(files, "moved.csv", "--fail-on", "alarm").exit_code == 3
    assert run(files, "same.csv", "--fail-on", "notice").exit_code == 0
    assert run(files, "moved.csv", "--fail-on", "panic").exit_code == 2
    assert run(files, "none.csv", "--fail-on", "alarm").exit_code == 1


def test_json_is_what_python_gives(files):
    done = run(files, "moved.csv", "--target", "y", "--json")
    model, table = weigh.load(files / "model.json"), pa.csv.read_csv(files / "moved.csv")
    street = table["street"].cast(pa.string())
    table = table.set_column(table.column_names.index("street"), "street", street)
    assert json.loads(done.stdout) == weigh.drift(model, table, "y").to_dict()


def test_several_files_are_compared_one_by_one(files):
    both = [str(files / "moved.csv"), "-o", str(files / "page.html")]
    done = run(files, "same.csv", *both, "--target", "y", "--json", "--fail-on", "alarm")
    assert done.exit_code == 3
    alone = [run(files, f"{name}.csv", "--target", "y", "--json") for name in ("same", "moved")]
    wanted = dict(
        zip(["same.csv", "moved.csv"], [json.loads(one.stdout) for one in alone], strict=True)
    )
    assert json.loads(done.stdout) == wanted
    assert "moved" in (files / "page.html").read_text("utf-8")
    assert run(files, "same.csv", str(files / "none.csv")).exit_code == 1
    assert run(files, "same.csv", "-", "-").exit_code == 2


def test_reference_rows_add_the_index_of_the_totals(files):
    done = run(files, "moved.csv", "--reference", str(files / "same.csv"), "--json")
    checks = [check["name"] for check in json.loads(done.stdout)["checks"]]
    assert checks == ["mean total", "distribution of totals"]


def test_the_page_is_that_of_python_and_replaces_no_input(files):
    done = run(files, "moved.csv", "-o", str(files / "page.html"))
    assert done.exit_code == 0
    page = (files / "page.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "town" in page
    assert run(files, "moved.csv", "-o", str(files / "moved.csv")).exit_code == 1


# ---------------------------------------------------------------- over time


def test_months_are_drawn_as_panels_the_most_serious_first():
    model = fit()
    shifts = {"Jan": 0.0, "Feb": 0.0, "Mar": 1.5}
    months = {
        month: weigh.drift(model, *draw(np.random.default_rng(k), 800, shift=shift))
        for k, (month, shift) in enumerate(shifts.items(), 1)
    }
    display = weigh.DriftDisplay.from_drifts(months, n=4)
    assert len(display.axes_) == len(display.panels) == 4
    worst = [panel.worst for panel in display.panels]
    assert worst == sorted(worst, reverse=True)
    assert display.panels[0].checks[2].level == "alarm"
    for ax, panel in zip(display.axes_, display.panels, strict=True):
        (line,) = [own for own in ax.lines if len(own.get_xdata()) == 3 and own.get_ls() == "-"]
        assert line.get_ydata().tolist() == [check.index for check in panel.checks]
        assert [text.get_text() for text in ax.get_xticklabels()] == [*shifts]
        assert ax.get_ylim() == display.axes_[0].get_ylim()
    plt.close(display.figure_)


def test_names_of_tables_are_not_read_as_formulas_and_long_ones_are_cut():
    found = weigh.drift(fit(), draw(np.random.default_rng(1), 100)[0])
    display = weigh.DriftDisplay({r"$\foo$": found, "a" * 40: found}).plot()
    display.figure_.canvas.draw()
    told = [text.get_text() for text in display.axes_[0].get_xticklabels()]
    assert told == [r"$\foo$", "a" * 15 + "…"]
    plt.close(display.figure_)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 500, 501])
def test_rows_that_are_all_alike_have_no_test_of_the_mean_total(n):
    same = draw(np.random.default_rng(1), 1)[0].take([0] * n)
    check = check_of(weigh.drift(fit(), same), "mean total")
    assert (check.level, check.index) == ("none", 0.0)


def test_a_drift_of_numbers_far_from_zero_is_that_of_the_same_numbers_near_zero():
    x = np.linspace(0, 1, 400)
    y = 1000 * x + 50 * np.sin(9e3 * x)
    later = pa.table({"x": x[200:]})
    models = [weigh.EducatedRegressor().fit(pa.table({"x": x}), y + at) for at in (0.0, 1.7e9)]
    near, far = (check_of(weigh.drift(model, later), "mean total") for model in models)
    assert near.level == "alarm"
    assert far.level == "alarm"
    assert far.index == pytest.approx(near.index, rel=1e-3)


@pytest.mark.parametrize("labels", [None, "y"])
def test_a_reader_that_can_be_read_once_is_compared_like_its_table(labels):
    model, (X, y) = fit(), draw(np.random.default_rng(1), 500)
    X = X.append_column("y", pa.array(y))
    read_once = pa.RecordBatchReader.from_batches(X.schema, X.to_batches())
    found = weigh.drift_series(model, {"a": read_once, "b": X}, labels)
    assert found.drifts["a"].to_dict() == found.drifts["b"].to_dict()


def test_a_reader_that_can_be_read_once_is_compared_with_its_numbers():
    X = pa.table({"x": np.arange(200.0), "y": np.arange(200.0) % 7})
    model = weigh.EducatedRegressor().fit(X, "y")
    read_once = pa.RecordBatchReader.from_batches(X.schema, X.to_batches())
    assert weigh.drift(model, read_once, "y").to_dict() == weigh.drift(model, X, "y").to_dict()


def test_months_with_and_without_labels_stand_side_by_side():
    model = fit()
    X, y = draw(np.random.default_rng(1), 500)
    display = weigh.DriftDisplay({"a": weigh.drift(model, X), "b": weigh.drift(model, X, y)}, n=99)
    slope = next(panel for panel in display.panels if panel.name == "calibration slope")
    assert slope.checks[0] is None
    assert slope.checks[1] is not None
    plt.close(display.plot(n_columns=2).figure_)


def test_a_series_is_the_drift_of_each_table_with_labels_where_it_has_them():
    model = fit()
    X, y = draw(np.random.default_rng(1), 500)
    moved, _ = draw(np.random.default_rng(2), 500, shift=1.0)
    found = weigh.drift_series(model, {"a": X.append_column("y", pa.array(y)), "b": moved}, "y")
    assert found.drifts["a"].to_dict() == weigh.drift(model, X, y).to_dict()
    assert found.to_dict()["b"] == weigh.drift(model, moved).to_dict()
    assert found.level == "alarm"
    assert found.reaches("warning")
    assert weigh.DriftDisplay(found.drifts).panels[0].checks[1].level == "alarm"
    with pytest.raises(ValueError, match="tables"):
        weigh.drift_series(model, {})


def test_a_series_refuses_labels_that_no_table_has_and_names_the_tables_without_them():
    model = fit()
    X, y = draw(np.random.default_rng(1), 500)
    tables = {"a": X.append_column("y", pa.array(y)), "b": X}
    assert weigh.drift_series(model, tables, "y").without_labels == ("b",)
    assert weigh.drift_series(model, tables).without_labels == ()
    with pytest.raises(ParameterError, match="yy") as refused:
        weigh.drift_series(model, tables, "yy")
    assert refused.value.parameter == "y"
    with pytest.raises(ParameterError, match=r"^y "):
        weigh.drift_series(model, tables, y)


def test_names_of_a_series_that_read_the_same_are_refused():
    model, X = fit(), draw(np.random.default_rng(1), 50)[0]
    with pytest.raises(ValueError, match="two tables"):
        weigh.drift_series(model, {1: X, "1": X})
    assert [*weigh.drift_series(model, {1: X, "2": X}).drifts] == ["1", "2"]


def test_the_error_of_one_table_of_a_series_begins_with_its_name():
    model, X = fit(), draw(np.random.default_rng(1), 50)[0]
    with pytest.raises(ValueError, match=f"^June: .*{X.column_names[0]}"):
        weigh.drift_series(model, {"May": X, "June": X.drop_columns(X.column_names[:1])})
    with pytest.raises(ValueError, match=r"^alpha"):
        weigh.drift_series(model, {"May": X, "June": X}, alpha=2)


def test_files_of_a_series_are_named_given_once_and_share_a_target(files):
    same = files / "same.csv"
    assert "moved.csv" in json.loads(run(files, "moved.csv", str(same), "--json").output)
    assert "yy" in run(files, "moved.csv", str(same), "--target", "yy").output
    assert run(files, "moved.csv", str(same), "--target", "yy").exit_code == 1
    assert run(files, "same.csv", f"{files}/./same.csv").exit_code == 2
    (files / "may.csv").write_text("z\n1\n")
    assert "may.csv: " in run(files, "moved.csv", str(files / "may.csv")).output


def test_plain_data_have_the_most_frequent_of_many_new_values_and_no_private_names():
    model, ids = fit(), [f"id {k}" for k in range(300)]
    X = draw(np.random.default_rng(1), 400)[0]
    many = X.set_column(3, "street", pa.array(ids + ids[:1] * 100))
    told = weigh.drift(model, many).to_dict()
    street = next(f for f in told["features"] if f["name"] == "street")
    assert (len(street["new_values"]), street["new_values_left_out"]) == (100, 200)
    assert street["new_values"]["id 0"] == 101
    assert not any(name.startswith("_") for name in told)


def test_the_error_of_a_scorecard_names_what_people_gave():
    people = weigh.datasets.titanic()
    card = weigh.Scorecard(weigh.EducatedNB().fit(people, "Survived"))
    with pytest.raises(ValueError, match=r"Sex.*Scorecard"):
        weigh.drift(card, people.drop_columns(["Sex"]))


class Marks(HTMLParser):
    """The marks of each panel, by level."""

    def __init__(self):
        super().__init__()
        self.panels, self.inside = [], False

    def handle_starttag(self, tag, attributes):
        if tag == "svg":
            self.panels.append([])
        self.inside = tag == "title" and bool(self.panels)

    def handle_data(self, data):
        if self.inside:
            self.panels[-1].append(data)
        self.inside = False


def test_the_page_of_a_series_marks_every_check_at_every_time():
    model, rng = fit(), np.random.default_rng(1)
    months = {f"<{k}>": draw(rng, 500, shift=0.7 * k)[0] for k in range(3)}
    found = weigh.drift_series(model, months)
    page = Marks()
    page.feed(found.to_html())
    panels = weigh.DriftDisplay(found.drifts).panels
    wanted = [
        [f"{name}: {check.level}" for name, check in zip(months, panel.checks, strict=True)]
        for panel in panels
    ]
    assert page.panels == wanted


def test_a_warning_is_above_its_line_and_what_is_above_and_grey_is_not_significant():
    """The limits are those of a check: above its own chance, which is large for few rows."""
    model, rng = fit(), np.random.default_rng(1)
    sizes = {"few": (12, 0.0), "many": (500, 0.7), "more": (500, 1.4)}
    months = {name: draw(rng, n, shift=shift)[0] for name, (n, shift) in sizes.items()}
    found = weigh.drift_series(model, months)
    levels = set()
    for panel in weigh.DriftDisplay(found.drifts).panels:
        drawn = _draw(panel, [*months], 10.0)
        for k, check in enumerate(panel.checks):
            y = drawn["marks"][k]["y"]  # downwards
            passed = sum(y <= limit[2 * k][1] for limit in drawn["limits"])
            significant = check.adjusted < 0.01
            assert check.level == LEVELS[passed + 1] if passed and significant else True
            assert passed >= LEVELS.index(check.level) - 1
            levels.add((passed, check.level))
    assert {(2, "alarm"), (2, "none")} <= levels


@pytest.mark.parametrize("given", [{}, {"a": 1}])
def test_what_is_no_drift_is_not_drawn(given):
    with pytest.raises(ValueError, match=r"weigh\.drift"):
        weigh.DriftDisplay(given)


def test_a_few_rows_without_a_significant_difference_are_too_few_to_tell():
    table = weigh.datasets.titanic()
    model = weigh.EvidenceNB().fit(table, "Survived")
    few = table.take([0, 1500]).drop_columns(["Survived"])
    assert "oo few rows" in weigh.drift(model, few).verdict
    assert "oo few rows" not in weigh.drift(model, table.drop_columns(["Survived"])).verdict


def test_a_broken_column_is_checked_before_the_prior_is_changed():
    rng = np.random.default_rng(5)
    x, z = rng.normal(2, 1, (2, 4000))
    y = rng.random(4000) < 1 / (1 + np.exp(1 - 0.6 * x - 0.5 * z))
    model = weigh.EducatedNB().fit(pa.table({"x": x[:3000], "z": z[:3000]}), y[:3000])
    broken = pa.table({"x": x[3000:], "z": 0 * z[3000:]})
    found = weigh.drift(model, broken, y[3000:])
    raised = {check.about for check in found.checks if check.level != "none"}
    assert "in the large" in raised
    assert not raised & {"slope", "weights"}
    assert found.action == "check the data"
    assert "prior" not in found.verdict


# ---------------------------------------------------------------- numbers


def draw_numbers(n, seed, family="gaussian", more=0.0, noise=2.0, slope=1.0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": random.normal(size=n), "kind": random.choice([*"abc"], n)})
    effect = slope * (0.4 * frame["x"] + 0.3 * (frame["kind"] == "a")) + more
    if family == "gaussian":
        return frame.assign(y=10 + 3 * effect + random.normal(0, noise, n))
    years = random.uniform(0.1, 2.0, n)
    counts = random.poisson(years * np.exp(effect)).astype(float)
    return frame.assign(years=years, y=counts)


@pytest.fixture(scope="module", params=["gaussian", "poisson"])
def regressor(request):
    exposure = "years" if request.param == "poisson" else None
    model = weigh.EducatedRegressor(family=request.param, pairs=0)
    return model.fit(draw_numbers(1500, 0, request.param), "y", exposure=exposure)


@pytest.fixture(scope="module", params=["gaussian", "skewed", "poisson"])
def unchanged(request):
    """A model, and a function that draws rows of the distribution that it was fitted to."""

    def draw(n, seed):
        if request.param != "skewed":
            return draw_numbers(n, seed, request.param)
        rows = draw_numbers(n, seed, noise=0.0)
        return rows.assign(y=rows["y"] + np.random.default_rng(seed).exponential(2.0, n))

    family = "poisson" if request.param == "poisson" else "gaussian"
    exposure = "years" if family == "poisson" else None
    model = weigh.EducatedRegressor(family=family, pairs=0)
    return model.fit(draw(10_000, 0), "y", exposure=exposure), draw


@pytest.mark.parametrize("n", [5, 40, 300])
def test_numbers_of_the_same_distribution_seldom_raise_anything(unchanged, n):
    model, draw = unchanged
    raised, alpha, draws = 0, 0.05, 100  # of many training rows, which all draws share
    for seed in range(draws):
        found = weigh.drift(model, draw(n, seed + 100), "y", alpha=alpha)
        judged = {"in the large", "slope", "loss"} if n > 5 else set()
        assert {check.about for check in found.checks} == {"total", *judged}
        raised += any(check.adjusted < alpha for check in checks_of(found))
    assert raised <= binom.ppf(0.99, draws, alpha)


@pytest.mark.parametrize("n", [1, 2, 5, 29])
def test_few_numbers_are_shown_but_not_checked(regressor, n):
    rows = draw_numbers(n, 3, regressor.family, more=1.0)
    found = weigh.drift(regressor, rows, "y")
    assert {check.about for check in found.checks} == {"total"}
    assert found.action in ("nothing", "get labels")
    assert found.quality[0].mean_observed == pytest.approx(rows["y"].mean())
    assert "oo few rows" in found.verdict or found.action == "get labels"
    assert found.quality[0].in_the_large.has_interval() == (n > 1)


def test_no_interval_of_a_ratio_or_a_loss_goes_below_zero():
    rows = draw_numbers(800, 0, "poisson")
    model = weigh.EducatedRegressor(family="poisson", pairs=0).fit(rows, "y", exposure="years")
    found = weigh.drift(model, rows.head(50).assign(y=0.0), "y").quality[0]
    assert (found.in_the_large.value, found.in_the_large.low) == (pytest.approx(0.0), 0.0)
    assert found.loss.low >= 0


def test_a_shift_of_the_mean_asks_for_another_scale(regressor):
    rows = draw_numbers(800, 1, regressor.family, more=0.5)
    found = weigh.drift(regressor, rows, "y")
    assert (found.level, found.action) == ("alarm", "rescale")
    own = weigh.evaluate(regressor, rows, "y")
    right = own.mean_observed / own.mean_estimate
    if regressor.family == "gaussian":
        right = own.mean_observed - own.mean_estimate
    assert found.quality[0].in_the_large.value == pytest.approx(right)
    assert found.quality[0].loss.value == pytest.approx(own.deviance)
    assert found.quality[0].training_loss == regressor.loo_deviance_


def test_other_effects_of_the_features_ask_for_a_refit(regressor):
    found = weigh.drift(regressor, draw_numbers(1500, 1, regressor.family, slope=-1.0), "y")
    assert found.reaches("warning")
    assert found.action == "refit"


def test_more_noise_asks_for_a_refit():
    model = weigh.EducatedRegressor(pairs=0).fit(draw_numbers(800, 0), "y")
    found = weigh.drift(model, draw_numbers(800, 1, noise=4.0), "y")
    assert next(c for c in found.checks if c.about == "loss").level == "alarm"
    assert found.action == "refit"


def test_features_of_a_regressor_drift_without_numbers(regressor):
    rows = draw_numbers(600, 1, regressor.family)
    found = weigh.drift(regressor, rows[rows["kind"] == "a"].drop(columns="y"))
    assert found.features[0].name == "kind"
    assert (found.level, found.action) == ("alarm", "get labels")
    share = regressor.evidence_["kind"].share
    own = regressor.evidence_["kind"].by_class[:, 0]
    assert found.features[0].shift[0] == pytest.approx(own[0] - share @ own, abs=1e-9)


def test_numbers_without_the_exposure_of_the_fit_are_refused_by_name():
    rows = draw_numbers(300, 0, "poisson")
    model = weigh.EducatedRegressor(family="poisson", pairs=0).fit(rows, "y", exposure="years")
    with pytest.raises(ParameterError) as error:
        weigh.drift(model, rows.drop(columns="years"), "y")
    assert error.value.parameter == "exposure"
    weigh.drift(model, rows.drop(columns="years"))  # features and totals have none
    with pytest.raises(ParameterError):
        weigh.drift(model, rows, exposure="years")


def test_the_command_line_finds_the_drift_of_a_regressor(regressor, tmp_path):
    weigh.save(regressor, tmp_path / "m.json")
    rows = draw_numbers(500, 1, regressor.family, more=0.6)
    rows.to_csv(tmp_path / "new.csv", index=False)
    words = ["drift", str(tmp_path / "m.json"), str(tmp_path / "new.csv"), "--target", "y"]
    told = CliRunner().invoke(main, [*words, "--json", "--fail-on", "alarm"])
    assert told.exit_code == 3
    own = weigh.drift(regressor, rows, "y").quality[0]
    assert json.loads(told.stdout)["quality"][0]["mean_estimate"] == pytest.approx(
        own.mean_estimate
    )
    assert "y" in CliRunner().invoke(main, words).stdout
