"""Crosses: two columns joined into one feature, in every learner, on the sheet and in files."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model_files import read_model, validate

import weigh
from weigh import AdjustedNB, EducatedNB, EvidenceNB
from weigh.datasets import titanic

CELLS = st.sampled_from(["a", "b", "c & d", None])


@st.composite
def samples(draw):
    """Two columns to join, a third, classes and weights."""
    rows = draw(st.integers(6, 40))
    columns = {
        name: draw(st.lists(CELLS, min_size=rows, max_size=rows)) for name in ("one", "two", "rest")
    }
    y = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    y[:3] = [0, 1, 2]
    weight = draw(st.lists(st.integers(1, 3), min_size=rows, max_size=rows))
    return pd.DataFrame(columns), np.array(y), np.array(weight)


def joined(table):
    """The same table with the pair written into one column by hand."""
    pairs = [f"{a!r}+{b!r}" for a, b in zip(table["one"], table["two"], strict=True)]
    return pd.DataFrame({"pair": pairs, "rest": table["rest"]})


@given(samples())
@settings(max_examples=60, deadline=None)
def test_a_cross_is_the_column_that_holds_both(sample):
    table, y, weight = sample
    cross = EvidenceNB(crosses=[("one", "two")]).fit(table, y, weight)
    by_hand = EvidenceNB().fit(joined(table), y, weight)
    assert np.allclose(
        cross.predict_proba(table), by_hand.predict_proba(joined(table)), rtol=1e-12, atol=0
    )
    assert cross.feature_names_in_.tolist() == ["one", "two", "rest"]
    assert [part.name for part in cross.evidence_] == ["one & two", "rest"]


@given(samples(), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_crosses_of_parts_merge_into_that_of_the_whole(sample, at):
    table, y, weight = sample
    learner = EvidenceNB(crosses=[("one", "two")])
    whole = learner.fit(table, y, weight)
    first, second = EvidenceNB(**learner.get_params()), EvidenceNB(**learner.get_params())
    first.partial_fit(table[:at], y[:at], [0, 1, 2], weight[:at])
    second.partial_fit(table[at:], y[at:], [0, 1, 2], weight[at:])
    merged = first.merge(second)
    first.partial_fit(table[at:], y[at:], sample_weight=weight[at:])
    for model in (merged, first):
        assert model.evidence_["one & two"].levels == whole.evidence_["one & two"].levels
        assert (model.predict_proba(table) == whole.predict_proba(table)).all()


@given(samples())
@settings(max_examples=30, deadline=None)
def test_a_file_keeps_the_cross_and_its_bits(tmp_path_factory, sample):
    table, y, weight = sample
    model = EvidenceNB(crosses=[("two", "one")]).fit(table, y, weight)
    path = tmp_path_factory.mktemp("cross") / "model.json"
    weigh.save(model, path)
    validate(path)
    loaded = weigh.load(path)
    assert (loaded.predict_proba(table) == model.predict_proba(table)).all()
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()


def test_a_cross_learns_what_no_column_tells_alone():
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 3))
    y = X[:, 0] * X[:, 1] > 0
    for learner in (EvidenceNB, AdjustedNB, partial(EducatedNB, pairs=0)):
        assert learner(bins=4).fit(X, y).score(X, y) < 0.6
        assert learner(bins=4, crosses=[(0, 1)]).fit(X, y).score(X, y) > 0.8


def test_a_cross_stands_where_its_first_column_did_and_columns_keep_their_places():
    X = np.array([[i % 2, i % 3, i % 5, i % 7] for i in range(60)])
    y = (X[:, 1] == X[:, 3] % 3).astype(int)
    model = EvidenceNB(categorical_features="all", crosses=[(3, 1)]).fit(X, y)
    assert [part.name for part in model.evidence_] == ["x0", "x3 & x1", "x2"]
    by_name = EvidenceNB(categorical_features="all", crosses=[("d", "b")])
    named = by_name.fit(pd.DataFrame(X, columns=list("abcd")), y)
    assert (
        model.predict_proba(X)
        == named.predict_proba(pd.DataFrame(X[:, ::-1], columns=list("dcba")))
    ).all()


def test_the_sheet_shows_the_pair_and_adds_up():
    model = EvidenceNB(crosses=[("Class", "Sex")]).fit(titanic(), "Survived")
    sheet = model.balance_sheet({"Class": "1st", "Sex": "Female", "Age": "Child"})
    assert str(sheet.items[0]) == "Class = 1st with Sex = Female"
    assert sheet.prior + sum(item.weight for item in sheet.items) == pytest.approx(sheet.total)
    unseen = model.balance_sheet({"Class": "4th", "Sex": None, "Age": "Child"})
    assert str(unseen.items[0]) == "Class = 4th with Sex = missing (not seen in training)"
    assert unseen.items[0].weight == 0


def test_a_pair_that_was_not_seen_is_told_by_its_levels_and_values():
    rows = [{"age": float(a), "job": "xy"[a > 40]} for a in range(20, 60)]
    model = EvidenceNB(bins={"age": [30, 50]}, crosses=[("age", "job")]).fit(rows, [0, 1] * 20)
    for job, told in (("z", "job = z"), ("x", "job = x")):
        (item,) = model.balance_sheet({"age": 55.0, "job": job}).items
        age = model.evidence_[0].feature.parts[0].phrase(2)
        assert str(item) == f"{age} with {told} (not seen in training)"


def test_a_pair_with_a_skipped_answer_is_no_evidence():
    table = {"one": ["a", "b", None, "a", "b", "a"], "two": [1.0, 2.0, 3.0, None, 2.0, 1.0]}
    model = EvidenceNB(missing="skip", crosses=[("one", "two")], bins={"two": [1.5]})
    model.fit(pd.DataFrame(table), [0, 1, 1, 0, 1, 1])
    assert model.evidence_["one & two"].counts.sum() == 4
    sheet = model.balance_sheet({"one": None, "two": 1.0})
    assert sheet.items[0].note == "no evidence"
    assert sheet.total == model.evidence_.prior


def test_labels_that_would_read_alike_are_quoted():
    table = pd.DataFrame({"p": ["a & b", "a"] * 4, "q": ["c", "b & c"] * 4})
    model = EvidenceNB(crosses=[("p", "q")]).fit(table, [0, 1] * 4)
    assert model.evidence_["p & q"].labels == ('"a" & "b & c"', '"a & b" & "c"')


def test_many_levels_by_many_levels_take_no_grid():
    n = 30_000
    table = pd.DataFrame({"p": np.arange(n).astype(str), "q": np.arange(n)[::-1].astype(str)})
    with pytest.warns(UserWarning, match="30,000 levels in 30,000 rows"):
        model = EvidenceNB(crosses=[("p", "q")]).fit(table, np.arange(n) % 2)
    assert len(model.evidence_["p & q"].levels) == n
    assert (model.predict(table) == np.arange(n) % 2).all()


def test_an_exponent_belongs_to_a_cross_as_to_any_feature():
    model = AdjustedNB(norm=None, smoothing=0, crosses=[("Class", "Sex")])
    model.fit(titanic(), "Survived")
    pairs = [f"{c}+{s}" for c, s in zip(titanic()["Class"], titanic()["Sex"], strict=True)]
    by_hand = pd.DataFrame({"pair": pairs, "Age": titanic()["Age"].to_pylist()})
    expected = AdjustedNB(norm=None, smoothing=0).fit(by_hand, titanic()["Survived"].to_pylist())
    np.testing.assert_allclose(model.exponents_, expected.exponents_, rtol=1e-9)


@pytest.mark.parametrize(
    ("crosses", "words"),
    [
        ("ab", "crosses must be pairs"),
        ([("Class",)], "crosses must be pairs"),
        ([("Class", "Sex", "Age")], "crosses must be pairs"),
        (3, "crosses must be pairs"),
        ([("Class", "Sex"), ("Sex", "Age")], "'Sex' twice"),
        ([("Class", "Class")], "'Class' twice"),
        ([("Class", "Deck")], "crosses names 'Deck'"),
        ([("Class", 7)], "crosses names 7"),
    ],
)
def test_crosses_that_join_no_two_columns_are_refused_by_name(crosses, words):
    with pytest.raises(ValueError, match=words):
        EvidenceNB(crosses=crosses).fit(titanic(), "Survived")


def test_a_cross_may_not_take_the_name_of_a_column():
    table = pd.DataFrame({"a": list("xyxy"), "b": list("xxyy"), "a & b": list("xyyx")})
    with pytest.raises(ValueError, match="'a & b', which is a column"):
        EvidenceNB(crosses=[("a", "b")]).fit(table, [0, 1, 0, 1])


def test_a_number_that_was_not_cut_is_named():
    table = pd.DataFrame({"age": np.arange(40.0), "sex": list("mf") * 20})
    with pytest.warns(UserWarning, match="crosses joins 'age'"):
        EvidenceNB(crosses=[("age", "sex")]).fit(table, [0, 0, 1, 1] * 10)


def test_two_crosses_may_not_have_one_name():
    columns = {"a": list("xyxy"), "b & c": list("xxyy"), "a & b": list("xyyx"), "c": list("yxyx")}
    with pytest.raises(ValueError, match="two of crosses would be called 'a & b & c'"):
        EvidenceNB(crosses=[("a", "b & c"), ("a & b", "c")]).fit(
            pd.DataFrame(columns), [0, 1, 0, 1]
        )


def test_tokens_have_no_crosses():
    with pytest.raises(ValueError, match="crosses"):
        EvidenceNB(event_model="counts", crosses=[(0, 1)]).fit(np.eye(4), [0, 1, 0, 1])


def test_models_with_other_crosses_do_not_merge():
    one = EvidenceNB(crosses=[("Class", "Sex")]).fit(titanic(), "Survived")
    two = EvidenceNB(crosses=[("Class", "Age")]).fit(titanic(), "Survived")
    with pytest.raises(ValueError, match="differ in crosses"):
        one.merge(two)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda part: part.update(pairs=[[0, 99]]),
        lambda part: part.update(pairs=part["pairs"][::-1]),
        lambda part: part.update(pairs=[["0", 1]]),
        lambda part: part.update(parts=part["parts"][:1]),
        lambda part: part.update(name="Class"),
        lambda part: part["parts"][0].update(values=None),
    ],
)
def test_a_file_with_a_broken_cross_is_refused(tmp_path, spoil):
    path = tmp_path / "model.json"
    weigh.save(EvidenceNB(crosses=[("Class", "Sex")]).fit(titanic(), "Survived"), path)
    data = read_model(path)
    spoil(data["evidence"]["features"][0])
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=path.name):
        weigh.load(path)
