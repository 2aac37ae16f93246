"""Branching questions: a question that is not asked is no evidence, wherever a model is used."""

import numpy as np
import pandas as pd
import pytest
from tests.exported import ASKED, SHARED, draw_table, fitted, hide_unasked, visited

import weigh
from weigh.formula import Scorer
from weigh.formula.data import to_data

RULE = {"site": ("pain", "yes"), "kind": ("site", ["left"])}
LEARNERS = [
    weigh.EvidenceNB(),
    weigh.AdjustedNB(random_state=0),
    weigh.WeightedNB(method="gain_ratio"),
    weigh.BoostedNB(n_rounds=3),
    weigh.PerplexedNB(attenuation=2.0),
    weigh.EducatedNB(pairs=0),
]


def patients(n=400, seed=3):
    rng = np.random.default_rng(seed)
    pain = rng.choice(["yes", "no"], n)
    site = np.where(pain == "yes", rng.choice(["left", "right"], n), None)
    kind = np.where(site == "left", rng.choice(["dull", "sharp"], n), None)
    ill = (rng.random(n) < 0.3 + 0.3 * (site == "left") + 0.2 * (kind == "sharp")).astype(int)
    return pd.DataFrame({"pain": pain, "site": site, "kind": kind, "ill": ill})


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_what_is_said_without_being_asked_is_no_evidence(learner):
    model = learner.set_params(ask_if=RULE).fit(patients(), "ill")
    said = [
        {"pain": "no", "site": "left", "kind": "sharp"},
        {"pain": "yes", "site": "right", "kind": "sharp"},
        {"pain": "yes", "site": "left", "kind": "sharp"},
    ]
    asked = [{"pain": "no"}, {"pain": "yes", "site": "right"}, said[2]]
    for one, other in zip(said, asked, strict=True):
        got, wanted = model.balance_sheet(one), model.balance_sheet(other)
        assert got.probability == wanted.probability == model.predict_proba([one])[0, 1]
        assert got.interval == wanted.interval
    assert model.predict_proba(said[:1])[0, 1] != model.predict_proba(said[2:])[0, 1]


def test_a_rule_leaves_the_weights_of_rows_that_keep_to_it_as_they_are():
    frame = patients()
    plain = weigh.EvidenceNB(missing={"site": "skip", "kind": "skip"}).fit(frame, "ill")
    ruled = weigh.EvidenceNB(ask_if=RULE).fit(frame, "ill")
    assert (plain.predict_proba(frame) == ruled.predict_proba(frame)).all()


@pytest.mark.parametrize("name", ["asked", "asked root", "asked softmax"])
def test_a_rule_is_the_same_as_hiding_the_answers_in_the_table(name):
    X, y = draw_table(3 if name == "asked softmax" else 2)
    model, hidden = fitted(name), hide_unasked(X)
    plain = type(model)(**{**model.get_params(), "ask_if": None, "missing": _skip(ASKED["ask_if"])})
    plain = plain.fit(hidden, y).with_prior(model.evidence_.assumed_rate)
    assert np.abs(model.predict_proba(X) - plain.predict_proba(hidden)).max() < 1e-14
    assert np.abs(model.predict_proba(X) - plain.predict_proba(X)).max() > 0.1
    assert (model.evidence_.observed(X) == plain.evidence_.observed(hidden)).all()


def _skip(columns):
    return dict.fromkeys(columns, "skip")


@pytest.mark.parametrize("name", ["asked", "asked pairs", "asked root", "asked softmax"])
def test_rows_of_the_service_keep_to_the_rule(name):
    formula, python = visited(fitted(name))
    assert np.abs(Scorer(formula).totals(python.rows) - python.totals).max() < 1e-12


def test_the_model_of_the_manual_says_the_same_everywhere(tmp_path):
    """Pain that is not there has no site: 0.40, where the model without the rule says 0.68."""
    import duckdb
    import pyarrow as pa

    model = weigh.EvidenceNB(ask_if={"site": ("pain", "yes")})
    rows = pa.table(
        {
            "pain": ["yes", "yes", "no", "no", "yes", "no", "yes", "yes"],
            "site": ["left", "right", None, None, "left", None, "right", "left"],
            "ill": ["yes", "no", "no", "no", "yes", "yes", "no", "yes"],
        }
    )
    model.fit(rows, "ill")
    said = pa.table({"pain": ["no"], "site": ["left"]})
    wanted = model.predict_proba([{"pain": "no"}])[0, 1]
    assert model.predict_proba(said)[0, 1] == wanted == pytest.approx(0.4)
    query = weigh.export(model, to="sql", table="said").rstrip(";\n")
    found = duckdb.sql(f"select probability_yes from ({query})").fetchall()[0]
    assert found[0] == pytest.approx(wanted, abs=1e-15)
    weigh.save(model, tmp_path / "model.json")
    loaded = weigh.load(tmp_path / "model.json")
    assert loaded.predict_proba(said)[0, 1] == wanted
    assert loaded.evidence_.features == model.evidence_.features


def test_a_scorecard_gives_no_points_for_what_is_not_asked():
    model = weigh.EvidenceNB(ask_if=RULE).fit(patients(), "ill")
    card = weigh.Scorecard(model)
    rows = [{"pain": "no", "site": "left", "kind": "sharp"}, {"pain": "no"}]
    first, second = (card.score([row])[0] for row in rows)
    assert first == second


def test_batches_and_merged_models_keep_the_rule():
    frame = patients()
    whole = weigh.EvidenceNB(ask_if=RULE).fit(frame, "ill")
    first, second = frame[:200], frame[200:]
    grown = weigh.EvidenceNB(ask_if=RULE).partial_fit(first, "ill").partial_fit(second, "ill")
    parts = [weigh.EvidenceNB(ask_if=RULE).fit(part, "ill") for part in (first, second)]
    row = [{"pain": "no", "site": "left", "kind": "sharp"}]
    for model in (grown, parts[0].merge(parts[1])):
        assert model.predict_proba(row)[0, 1] == whole.predict_proba(row)[0, 1]


def test_answers_that_were_counted_without_being_asked_are_said():
    frame = patients()
    frame.loc[frame.pain == "no", "site"] = "left"
    with pytest.warns(UserWarning, match=r"'site' has an answer in \d+ training rows"):
        weigh.EvidenceNB(ask_if={"site": ("pain", "yes")}).fit(frame, "ill")


@pytest.mark.parametrize(
    ("ask_if", "message"),
    [
        ([("a", "b")], "ask_if .*dict"),
        ({"site": "pain"}, "ask_if.*pair"),
        ({"site": ("pain",)}, "ask_if.*pair"),
        ({"site": 3}, "ask_if.*pair"),
        ({"nowhere": ("pain", "yes")}, "ask_if names 'nowhere'.*'pain'"),
        ({"site": ("nowhere", "yes")}, "ask_if names 'nowhere'"),
        ({"site": ("pain", "maybe")}, "'pain' to be 'maybe'"),
        ({"site": ("kind", "dull"), "kind": ("site", "left")}, "circular at 'site'"),
        ({"site": ("site", "left")}, "circular"),
    ],
)
def test_rules_that_make_no_sense_are_refused_in_words(ask_if, message):
    with pytest.raises(ValueError, match=message):
        weigh.EvidenceNB(ask_if=ask_if).fit(patients(), "ill")


def test_what_has_no_table_takes_no_rule():
    with pytest.raises(ValueError, match="ask_if"):
        weigh.BoostedNB(combine="vote", ask_if=RULE).fit(patients(), "ill")
    counts = weigh.EvidenceNB(event_model="counts", ask_if={"a": ("b", 1)})
    with pytest.raises(ValueError, match="ask_if"):
        counts.fit(pd.DataFrame({"a": [1, 0], "b": [0, 1]}), [0, 1])


def test_intervals_are_named_as_the_table_spells_them():
    X, y = draw_table()
    learner = weigh.EvidenceNB(**SHARED, bins={"age": [0.0]}, ask_if={"job": ("age", "<= 0.0")})
    with pytest.warns(UserWarning, match="'job' has an answer"):
        learner.fit(X, y)
    (ask,) = learner.evidence_["job"].feature.asked
    assert (ask.feature.name, ask.places, ask.words) == ("age", (0,), "age <= 0.0")


@pytest.mark.parametrize("level", [0, "0", "<= 0", "<= 0.5"])
def test_the_first_bin_of_counts_is_named_in_each_way_that_tables_spell_it(level):
    rows = [{"n": i % 4, "job": "xy"[i % 3 == 0] if i % 4 == 0 else None} for i in range(60)]
    made = weigh.EvidenceNB(bins={"n": [0.5, 1.5]}, ask_if={"job": ("n", level)}, missing="skip")
    (ask,) = made.fit(rows, [i % 5 > 2 for i in range(60)]).evidence_["job"].feature.asked
    assert (ask.places, ask.words) == ((0,), "n = 0")


def test_a_level_that_categories_share_asks_for_each_of_them():
    frame = patients()
    grouped = weigh.EvidenceNB(
        bins={"site": [["left", "right"]]},
        ask_if={"site": ("pain", "yes"), "kind": ("site", "left")},
    ).fit(frame, "ill")
    (_, ask) = grouped.evidence_["kind"].feature.asked
    assert ask.places == (0,)
    formula, python = visited(grouped)
    assert np.abs(Scorer(formula).totals(python.rows) - python.totals).max() < 1e-12
    assert to_data(formula)["columns"][2]["ask"] == [[0, [1]], [1, [0, 1]]]
