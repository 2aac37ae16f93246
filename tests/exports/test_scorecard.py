"""Scorecards: whole points, what they mean, what they cost, and what was changed by hand."""

import json
import math
import re
from datetime import datetime
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import expit, logit
from tests.exported import draw_table, fitted
from tests.serving import ask

import weigh
from weigh import Scorecard, engine
from weigh.errors import ParameterError
from weigh.evidence import login_name
from weigh.exports import Formula, checks
from weigh.exports.run import run_duckdb, run_sqlite
from weigh.exports.sql import plan
from weigh.scorecard import reasons, show
from weigh.scorecard.points import mean_added, round_nearest, round_together
from weigh.serving import make_app

LIGHT = settings(max_examples=60, deadline=None, database=None)
ROWS = draw_table()[0]


@pytest.fixture(scope="module")
def card():
    return Scorecard(fitted("adjusted"))


def spread(points, weights, rows):
    added = points - weights
    return float(np.cov(added, aweights=rows, ddof=0)) if len(added) > 1 else 0.0


# ---------------------------------------------------------------- what a score means


def test_the_base_score_is_the_base_odds_and_so_many_points_double_them(card):
    p = card.probability([600, 620, 580])
    np.testing.assert_allclose(p / (1 - p), [50, 100, 25])


def test_a_score_is_the_base_and_the_points_of_the_levels_added_up_by_hand(card):
    frame = card.to_frame()
    points = {
        (f, lv): p for f, lv, p in frame[["feature", "level", "points"]].itertuples(index=False)
    }
    model = fitted("adjusted")
    for i in range(20):
        items = model.balance_sheet(ROWS.iloc[[i]]).items
        total = card.base_points + sum(points.get((x.feature, x.level), 0) for x in items)
        assert card.score(ROWS.iloc[[i]])[0] == total


def test_probabilities_are_those_of_the_scores(card):
    np.testing.assert_allclose(
        card.predict_proba(ROWS)[:, 1], card.probability(card.score(ROWS)), atol=1e-12
    )


def test_fine_points_are_the_model_itself():
    model = fitted("adjusted")
    fine = Scorecard(model, points_to_double=1e7)
    np.testing.assert_allclose(fine.predict_proba(ROWS), model.predict_proba(ROWS), atol=1e-6)


def exact_scores(model, rows):
    return (model.decision_function(rows) - np.log(50)) * 20 / np.log(2) + 600


def test_every_training_row_is_within_a_point_for_each_feature_and_half_a_one_for_the_base():
    model, card = fitted("adjusted"), Scorecard(fitted("adjusted"))
    gap = card.score(ROWS) - exact_scores(model, ROWS)
    assert np.abs(gap).max() <= len(card.points) + 0.5
    assert abs(gap.mean()) <= 0.5


@pytest.fixture(scope="module")
def wide():
    """A model of forty features, and rows that say nothing of them, or of every other one."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 500)
    names = [f"f{j:02}" for j in range(40)]
    X = {n: np.where(rng.random(500) < 0.1 + 0.2 * y, "rare", "often") for n in names}
    model = weigh.EvidenceNB().fit(pd.DataFrame(X), y)
    return model, pd.DataFrame(X), y, dict.fromkeys(names, "never seen")


def test_a_case_of_which_nothing_is_known_is_within_a_point_of_the_model(wide):
    model, X, y, empty = wide
    for card in (Scorecard(model), Scorecard(model, X=X, y=y)):
        assert abs(card.score([empty])[0] - exact_scores(model, [empty])[0]) <= 1
        assert card.score([empty])[0] == card.base_points
        change = np.abs(card.predict_proba([empty]) - model.predict_proba([empty])).max()
        assert change <= card.measure(X).largest_change


@LIGHT
@given(st.sets(st.integers(0, 39)))
def test_a_case_with_few_answers_is_within_two_points_for_each_and_one_for_the_base(wide, known):
    model, X, _, empty = wide
    card = Scorecard(model)
    names = [*empty]
    rows = [empty | {names[j]: X[names[j]].iloc[i] for j in known} for i in range(5)]
    gap = np.abs(card.score(rows) - exact_scores(model, rows)).max()
    assert gap <= 2 * len(known) + 1


@LIGHT
@given(
    hnp.arrays(float, st.integers(1, 6), elements=st.floats(-30, 30)),
    st.floats(-0.5, 0.5),
    st.integers(0, 2**32 - 1),
)
def test_what_features_add_on_average_never_grows_beyond_half_a_point(weights, added, seed):
    rows = np.random.default_rng(seed).integers(1, 9, len(weights)).astype(float)
    found = round_together(weights, rows, added)
    assert abs(added + mean_added(found, weights, rows)) <= 0.5 + 1e-9
    assert spread(found, weights, rows) == pytest.approx(
        spread(round_together(weights, rows), weights, rows), abs=1e-9
    )


def test_high_scores_speak_for_the_class_that_is_asked_for():
    model = fitted("adjusted")
    one, other = Scorecard(model, base_odds=1), Scorecard(model, base_odds=1, pos_label="no")
    assert np.corrcoef(one.score(ROWS), other.score(ROWS))[0, 1] < -0.999
    change = np.abs(other.predict_proba(ROWS)[:, ::-1] - model.predict_proba(ROWS)).max()
    assert change < 0.03


def test_a_straight_recalibration_is_another_scale_and_a_bent_one_is_refused():
    model = fitted("sigmoid")
    card = Scorecard(model, points_to_double=1e7)
    np.testing.assert_allclose(card.predict_proba(ROWS), model.predict_proba(ROWS), atol=1e-6)
    for name in ("spline", "isotonic"):
        with pytest.raises(ValueError, match=rf"{name}.*method='sigmoid'"):
            Scorecard(fitted(name))


# ---------------------------------------------------------------- rounding


@LIGHT
@given(
    hnp.arrays(float, st.integers(1, 6), elements=st.floats(-30, 30)),
    st.integers(0, 2**32 - 1),
)
def test_rounding_together_varies_least_of_all_shifts(weights, seed):
    rows = np.random.default_rng(seed).integers(1, 9, len(weights)).astype(float)
    best = spread(round_together(weights, rows), weights, rows)
    for shift in np.linspace(-0.5, 0.499, 101):
        tried = np.floor(weights + shift + 0.5)
        assert best <= spread(tried, weights, rows) + 1e-9


def test_rounding_together_can_add_less_noise_than_rounding_each_alone():
    weights, rows = np.array([0.4, 0.6, 1.5]), np.ones(3)
    alone, together = round_nearest(weights, rows), round_together(weights, rows)
    assert spread(together, weights, rows) < spread(alone, weights, rows)


def test_with_rows_the_ranking_is_measured_and_no_worse_than_nearest():
    X, y = draw_table()
    model = fitted("adjusted")
    card = Scorecard(model, X=X, y=y, points_to_double=3)
    nearest = {t.name: round_nearest(card._scale * t.by_class[:, 0], None) for t in model.evidence_}
    other = Scorecard(model, points_to_double=3)
    other._points = nearest
    assert card.rounding.kendall >= other.measure(X).kendall
    before = weigh.metrics.auc(y, model.predict_proba(X)[:, 1], pos_label="yes").value
    assert card.rounding.auc_before == pytest.approx(before)
    after = weigh.metrics.auc(y, card.probability(card.score(X)), pos_label="yes").value
    assert card.rounding.auc_after == pytest.approx(after)
    change = np.abs(card.predict_proba(X) - model.predict_proba(X)).max()
    prior = expit(model.evidence_.prior_row[0])
    empty = abs(card.probability(card.base_points) - prior)
    assert card.rounding.largest_change == pytest.approx(max(change, empty))
    told = " ".join(str(card).split())
    assert re.search("On the rows that the card was made from, rounding (moved|left) the AUC", told)


def test_the_measured_ranking_is_that_of_the_class_which_high_scores_favour():
    X, y = draw_table()
    one, other = (Scorecard(fitted("adjusted"), X=X, y=y, pos_label=c) for c in ("yes", "no"))
    assert other.rounding.auc_before == pytest.approx(one.rounding.auc_before)
    after = weigh.metrics.auc(y, other.probability(other.score(X)), pos_label="no").value
    assert other.rounding.auc_after == pytest.approx(after)


def test_labels_may_be_a_column():
    X, y = draw_table()
    table = X.assign(outcome=y)
    model = fitted("adjusted")
    assert Scorecard(model, X=table, y="outcome").rounding == Scorecard(model, X=X, y=y).rounding


# ---------------------------------------------------------------- reasons


@pytest.mark.parametrize("against", ["best", "average"])
def test_reasons_are_the_features_that_cost_most(card, against):
    table = card.reasons(ROWS, n=2, against=against)
    base, parts = card.baselines(against), card.evidence.contributions(card._read(ROWS))[:, :, 0]
    names = [*card.points]
    for i in range(50):
        costs = np.array(base) - parts[i]
        if costs.max() > 0:
            assert table["reason_1"][i].removesuffix(" is missing") == names[costs.argmax()]
            assert table["cost_1"][i] == costs.max()


def test_the_best_case_has_no_reasons():
    model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    card = Scorecard(model)
    best = {"Class": "1st", "Sex": "Female", "Age": "Child"}
    found = card.reasons([best]).to_pydict()
    assert [found[f"reason_{j}"] for j in (1, 2, 3)] == [[None]] * 3


def test_reasons_say_what_the_user_wants_them_to():
    model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    card = Scorecard(model, texts={"Sex": "Men came last"})
    crew = {"Class": "Crew", "Sex": "Male", "Age": "Adult"}
    assert card.reasons([crew], n=1).to_pydict()["reason_1"] == ["Men came last"]
    with pytest.raises(ValueError, match="texts must be a dict from features"):
        Scorecard(model, texts={"Sax": "x"})


LEVEL_TEXTS = {
    "age": {"missing": "Age not given"},
    "job": {"a": "Job a", None: "Job not given"},
    "income": {-999: "Income refused"},
}


@pytest.fixture(scope="module")
def worded():
    return Scorecard(fitted("adjusted"), texts={"age": "Age"}, level_texts=LEVEL_TEXTS)


def slow_reasons(card, row):
    """What costs points in a row, dearest first, one feature after the other."""
    table, found = card._read([row]), []
    for j, feature in enumerate(card.evidence.features):
        points = card.evidence.contributions(table)[0, j, 0]
        (placed,) = engine.place(table, [feature])
        level = int(placed.levels[placed.codes[0]])
        name = feature.labels[level] if level < len(feature.labels) else None
        absent = {None: "is not known", "missing": "is missing"}.get(name)
        usual = f"{feature.name} {absent}" if absent else card.texts[feature.name]
        text = card.level_texts.get(feature.name, {}).get(name or "not known", usual)
        found.append((card.baselines()[j] - points, text))
    costliest = sorted(found, key=lambda pair: -pair[0])
    return [(text, cost) if cost > 0 else (None, 0.0) for cost, text in costliest]


def test_a_level_may_have_a_text_of_its_own(worded):
    rows = checks.visit(Formula.of(worded))
    found = reasons.find_costs(worded, worded._read(rows), 5, "best").columns()
    for i, row in enumerate(rows):
        told = [(found[f"reason_{j}"][i], found[f"cost_{j}"][i]) for j in range(1, 6)]
        assert told == slow_reasons(worded, row)
    said = {text for j in range(1, 6) for text in found[f"reason_{j}"]}
    assert {"Age not given", "Age", "Job not given", "income"} <= said


def test_the_reasons_of_every_function_that_takes_a_model_are_those_of_the_card(worded):
    rows = checks.visit(Formula.of(worded))
    wanted = reasons.find_costs(worded, worded._read(rows), 3, "best").columns()
    assert weigh.reasons(worded, rows, n=3).equals(worded.reasons(rows, n=3))
    assert [*weigh.reasons(worded, rows, n=3)] == [*wanted]
    table = weigh.score_table(worded, pa.Table.from_pylist(known_only(rows)), reasons=3).to_pydict()
    blank = reasons.find_costs(worded, worded._read(known_only(rows)), 3, "best").columns()
    assert {name: table[name] for name in blank} == pa.table(blank).to_pydict()
    for asked in ({"pos_label": worded.pos_label}, {"only": "for"}):
        with pytest.raises(ParameterError) as refused:
            weigh.reasons(worded, rows, **asked)
        assert refused.value.parameter == next(iter(asked))


def known_only(rows):
    """Rows in which what is not known is missing, as in a table."""
    return [{k: None if v is weigh.NOT_KNOWN else v for k, v in row.items()} for row in rows]


def test_the_reasons_of_the_service_are_those_of_the_card(worded, tmp_path):
    weigh.save(worded, tmp_path / "card.json")
    rows = [row for row in checks.visit(Formula.of(worded)) if all(map(is_json, row.values()))]
    told = [{k: v for k, v in row.items() if v is not weigh.NOT_KNOWN} for row in rows]
    app = make_app(tmp_path / "card.json")
    answers = ask(app, "POST", "/score?reasons=3", {"rows": told}).json["rows"]
    assert len(answers) > 10
    for row, answer in zip(rows, answers, strict=True):
        wanted = [pair for pair in slow_reasons(worded, row)[:3] if pair[0] is not None]
        assert [(r["reason"], r["cost"]) for r in answer["reasons"]] == wanted


def is_json(value):
    return not isinstance(value, float) or math.isfinite(value)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_the_reasons_of_a_query_are_those_of_the_card(worded, dialect):
    formula = Formula.of(worded)
    rows = checks.visit(formula)
    query = plan(formula, dialect, reasons=3)
    found = {"duckdb": run_duckdb, "sqlite": run_sqlite}[dialect](query.text, formula, rows)
    assert query.reasons[:2] == ("reason_1", "reason_cost_1")
    for row, told in zip(rows, found, strict=True):
        said = [(told[f"reason_{j}"], told[f"reason_cost_{j}"]) for j in (1, 2, 3)]
        assert said == slow_reasons(worded, row)[:3]


def test_texts_of_levels_are_kept_in_the_file(worded, tmp_path):
    weigh.save(worded, tmp_path / "card.json")
    again = weigh.load(tmp_path / "card.json")
    assert again.level_texts == worded.level_texts
    assert again.level_texts["job"] == {"a": "Job a", "missing": "Job not given"}
    data = json.loads(worded.to_json())
    del data["level_texts"]  # as files had it before there were any
    (tmp_path / "card.json").write_text(json.dumps(data))
    assert weigh.load(tmp_path / "card.json").level_texts == {}


ALIKE = ["other", "missing", "a", "b", None, "other", "missing", "c"] * 3


@pytest.fixture(scope="module")
def alike():
    """A model of levels of text that read like those of rare and of missing answers."""
    model = weigh.EvidenceNB(max_levels=2).fit([{"x": v} for v in ALIKE], [0, 1, 1, 0] * 6)
    assert model.evidence_["x"].labels == ('"missing"', '"other"', "other", "missing")
    return model


def test_the_word_that_a_level_is_shown_by_is_that_level(alike):
    card = Scorecard(alike)
    for place, label in enumerate(alike.evidence_["x"].labels):
        edited = card.edit("x", label, 99, "policy")
        assert [i for i, p in enumerate(edited.points["x"]) if p == 99] == [place]
        assert edited.edits[0].level == label
    assert (
        card.edit("x", None, 99, "policy").points == card.edit("x", "missing", 99, "policy").points
    )


def test_texts_of_levels_that_read_alike_come_back_from_the_file(alike, tmp_path):
    labels = alike.evidence_["x"].labels
    card = Scorecard(alike, level_texts={"x": {label: f"x is {label}" for label in labels}})
    weigh.save(card, tmp_path / "card.json")
    again = weigh.load(tmp_path / "card.json")
    assert again.level_texts == card.level_texts == {"x": {name: f"x is {name}" for name in labels}}
    assert again.costs.texts == card.costs.texts


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ({"aeg": {"missing": "x"}}, "did you mean 'age'"),
        ({"age": {"never": "x"}}, "'age' has no level 'never'"),
        ({"age": "x"}, "dicts from levels to text"),
        ({"age": {"missing": 3}}, "dicts from levels to text"),
    ],
)
def test_texts_of_levels_that_there_are_not_are_refused(texts, says):
    with pytest.raises(ValueError, match=says):
        Scorecard(fitted("adjusted"), level_texts=texts)


# ---------------------------------------------------------------- edits, files, exports


def test_an_edit_is_recorded_and_leaves_the_old_card_alone(card):
    before = card.points["job"]
    edited = card.edit("job", "a", 99, "policy").edit("age", None, 0, "law", who="ada")
    assert card.points["job"] == before
    assert card.edits == ()
    assert edited.points["job"][0] == 99
    assert [(e.feature, e.level, e.before, e.after, e.why) for e in edited.edits] == [
        ("job", "a", before[0], 99, "policy"),
        ("age", "missing", card.points["age"][-1], 0, "law"),
    ]
    assert [e.who for e in edited.edits] == [login_name(), "ada"]
    assert all(datetime.fromisoformat(e.when) for e in edited.edits)
    assert "By hand: job = a" in str(edited)


@pytest.mark.parametrize("good", [0, 1])
def test_a_card_has_one_record_of_the_changes_of_both_kinds(card, good, tmp_path):
    rows, y, *_ = draw_table()
    own = Scorecard(fitted("adjusted"), pos_label=card.classes_.tolist()[good])
    first = own.edit("job", "a", 99, "policy", who="ada")
    editor = weigh.edit(first, rows, y, who="bob")
    editor.set("job", "b", -7 / own.scale.per_nat, why="statute")
    last = editor.model.edit("job", "a", 98, "appeal", who="cy")
    assert (last.points["job"][0], last.points["job"][1]) == (98, -7)
    weigh.save(last, tmp_path / "card.json")
    saved = weigh.load(tmp_path / "card.json")
    assert saved.edits == last.edits
    signed = [("policy", "ada"), ("statute", "bob"), ("appeal", "cy")]
    page = str(weigh.report(saved, rows, y))
    about = str(weigh.store.describe(tmp_path / "card.json"))
    for one in (last, saved):
        assert [(e.why, e.who) for e in one.edits] == signed
        lines = [line for line in str(one).splitlines() if line.startswith("By hand")]
        assert len(lines) == 3
        for line, points, (why, who) in zip(lines, ("99", "-7", "98"), signed, strict=True):
            assert all(part in line for part in (points, why, who))
            assert all(why in told for told in (page, about))
    again = weigh.edit(own, rows, y).replay(editor.edits)
    assert again.model.points == editor.model.points
    with pytest.raises(ValueError, match="points"):
        weigh.edit(fitted("adjusted"), rows, y).replay(editor.edits)


def test_an_edit_of_nothing_is_refused(card):
    with pytest.raises(ValueError, match="has no level 'z'"):
        card.edit("job", "z", 1, "policy")
    with pytest.raises(ValueError, match="whole number"):
        card.edit("job", "a", 1.5, "policy")
    with pytest.raises(KeyError, match="no feature"):
        card.edit("jab", "a", 1, "policy")
    with pytest.raises(ValueError, match="why"):
        card.edit("job", "a", 1, " ")


def test_a_saved_card_scores_the_same(card, tmp_path):
    edited = card.edit("job", "a", 99, "policy")
    weigh.save(edited, tmp_path / "card.json")
    again = weigh.load(tmp_path / "card.json")
    assert again.edits == edited.edits
    np.testing.assert_array_equal(again.score(ROWS), edited.score(ROWS))
    assert again.to_json() == edited.to_json() == weigh.export(edited, "json")


@pytest.mark.parametrize(
    "name", ["points", "rounded", "evidence", "edits", "base_points", "pos_label"]
)
def test_a_file_that_is_not_whole_is_refused(card, tmp_path, name):
    data = json.loads(card.to_json())
    del data[name]
    (tmp_path / "card.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="not a complete scorecard"):
        weigh.load(tmp_path / "card.json")


def test_a_card_measured_on_rows_that_are_all_alike_is_saved(tmp_path):
    alike = Scorecard(fitted("adjusted"), X=ROWS.iloc[[0, 0]])
    assert np.isnan(alike.rounding.kendall)
    weigh.save(alike, tmp_path / "card.json")
    again = weigh.load(tmp_path / "card.json")
    assert np.isnan(again.rounding.kendall)
    assert again.rounding.largest_change == alike.rounding.largest_change


def spoil(data, *keys, value):
    *path, last = keys
    for key in path:
        data = data[key]
    data[last] = value


@pytest.mark.parametrize(
    ("keys", "value", "says"),
    [
        (("points", "job", 1), 77, "job = b has 77 points, rounded .* no edit says so"),
        (("base_points",), 1, "base_points are 1, rounded"),
        (("edits", 0, "after"), 5, "job = a has 99 points"),
        (("edits", 0, "after"), "5", "text and whole numbers"),
        (("edits", 0, "why"), None, "text and whole numbers"),
        (("edits", 0, "level"), "z", "an edit of no level"),
        (("rounding",), {"largest_change": 0.1, "kendall": "x"}, "rounding must hold numbers"),
        (("rounding",), {"largest_change": None, "kendall": 1}, "rounding must hold numbers"),
    ],
)
def test_a_file_that_was_changed_by_hand_is_refused_with_what_to_do(
    card, tmp_path, keys, value, says
):
    data = json.loads(card.edit("job", "a", 99, "policy").to_json())
    spoil(data, *keys, value=value)
    (tmp_path / "card.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=says):
        weigh.load(tmp_path / "card.json")


def test_a_level_that_was_edited_twice_is_read_again(card, tmp_path):
    edited = (
        card.edit("job", "a", 99, "policy")
        .edit("job", "a", 7, "policy")
        .edit("job", "b", 99, "policy")
    )
    weigh.save(edited, tmp_path / "card.json")
    assert weigh.load(tmp_path / "card.json").points == edited.points


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        (lambda data: data["edits"].reverse(), "Edit.*before=99, after=7.* but the level had"),
        (lambda data: data["edits"].pop(0), "by then; keep edits in order"),
        (lambda data: spoil(data, "points", "job", 0, value=99), "job = a has 99 .* last edit 7"),
        (lambda data: data["points"].update(data["rounded"]["points"]), "by its last edit 7"),
        (
            lambda data: spoil(data, "edits", 0, "before", value=1000),
            "before=1000.* the level had",
        ),
    ],
)
def test_edits_lead_one_by_one_from_the_rounded_points_to_the_points(card, tmp_path, spoilt, says):
    data = json.loads(card.edit("job", "a", 99, "policy").edit("job", "a", 7, "policy").to_json())
    spoilt(data)
    (tmp_path / "card.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=says):
        weigh.load(tmp_path / "card.json")


def test_a_card_is_exported_with_its_score(card):
    formula = Formula.of(card)
    python = checks.wanted(card, checks.visit(formula))
    query = plan(formula, "duckdb", contributions=True)
    found = run_duckdb(query.text, formula, python.rows)
    assert checks.compare_rows(
        python,
        [[row["log_odds"]] for row in found],
        [[row[p] for p in query.predictions] for row in found],
    ).holds
    np.testing.assert_array_equal([row["score"] for row in found], card.score(python.rows))


def test_a_card_in_python_says_its_score(card):
    names = {}
    exec(weigh.export(card, "python"), names)
    rows = checks.wanted(card, checks.visit(Formula.of(card))).rows
    found = [names["score"](row) for row in rows]
    np.testing.assert_array_equal([one["score"] for one in found], card.score(rows))


def test_the_card_is_a_table_in_text_and_html(card):
    edited = card.edit("job", "a", 99, "<script>")
    assert "Base" in str(edited)
    assert "<script>" not in edited._repr_html_()
    frame = edited.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert [*frame.columns] == [*show.COLUMNS]


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("name", "value"), [*product(["points_to_double", "base_odds"], [0, -1, "x"])]
)
def test_settings_that_mean_nothing_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a positive number"):
        Scorecard(fitted("adjusted"), **{name: value})


def test_what_has_no_sum_of_two_classes_is_refused():
    for name, says in (("softmax", "two classes"), ("root", "AdjustedNB or EducatedNB")):
        with pytest.raises(ValueError, match=says):
            Scorecard(fitted(name))
    tree = weigh.C44Classifier().fit([[1.0], [2.0]] * 4, [0, 1] * 4)
    with pytest.raises(ValueError, match="C44Classifier"):
        Scorecard(tree)


@pytest.mark.parametrize("learner", [weigh.EducatedRegressor, weigh.BoostedNBRegressor])
def test_a_model_of_numbers_is_refused_as_one(learner):
    x, noise = np.random.default_rng(0).normal(size=(2, 200))
    model = learner().fit(x[:, None], x + noise)
    with pytest.raises(ValueError, match=f"{learner.__name__} predicts numbers"):
        Scorecard(model)


def test_the_line_from_scores_to_log_odds_is_exact(card):
    p = card.predict_proba(ROWS)[:, 1]
    np.testing.assert_allclose(
        logit(p), (card.score(ROWS) - 600) * np.log(2) / 20 + np.log(50), atol=1e-9
    )
