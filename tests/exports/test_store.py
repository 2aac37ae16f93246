"""Saved models: the same bits again, readable by anyone, refused when they are not whole."""

import copy
import errno
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from scipy import sparse
from tests import exported
from tests.model_files import SCHEMA, read_model
from tests.outside import find_level, score

import weigh
from weigh import EvidenceNB
from weigh.datasets import titanic

VALIDATOR = Draft202012Validator(SCHEMA)
LIGHT = settings(max_examples=40, deadline=None, database=None)

NASTY = ['"', "'", ",", "a,b", 'say "x"', "two\nlines", "😀", "<script>alert(1)</script>", "class"]
NASTY += ["", " ", "\\", "NaN", "Infinity", "null", "[bold]x[/bold]", "Größe", "年", "{}", "\t"]
WORDS = st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
BIG = [2**53, 2**53 + 1, -(2**53) - 1, 2**60 + 7, 2**70, 0, 1]
INFINITY = float("inf")


def strict(text):
    """Parse JSON and nothing more: no NaN, no Infinity."""

    def refuse(token):
        raise AssertionError(f"the file holds the token {token}")

    return json.loads(text, parse_constant=refuse)


def save(model, path):
    """Save, and return the text, which must be strict JSON that the schema accepts."""
    weigh.save(model, path)
    text = path.read_text("utf-8")
    VALIDATOR.validate(strict(text))
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


# ---------------------------------------------------------------- tables of every kind


KINDS = {
    "text": WORDS | st.none(),
    "boolean": st.booleans() | st.none(),
    "big": st.sampled_from(BIG) | st.none(),
    "mixed": st.sampled_from(["1", 1, True, 1.5, "true", None, "😀", 2**53 + 1, INFINITY]),
    "number": st.sampled_from([-9, -INFINITY, INFINITY, 0.1, 0.3, 1e-300, 7.5, -1e308, None]),
    "nothing": st.none(),
}

CLASSES = st.sampled_from(
    [[False, True], ["no", "yes"], ['"', "😀\n,", "<script>"], [0, 1, 2], [-(2**53) - 1, 2**60]]
)


def unique_names(n):
    return st.lists(WORDS, min_size=n, max_size=n, unique=True)


@st.composite
def samples(draw):
    """Rows as dicts, labels, and the parameters of a model for them."""
    kinds = draw(st.lists(st.sampled_from([*KINDS]), min_size=1, max_size=4))
    names = draw(unique_names(len(kinds)))
    classes = draw(CLASSES)
    n = draw(st.integers(len(classes), 9))
    columns = [draw(st.lists(KINDS[kind], min_size=n, max_size=n)) for kind in kinds]
    rows = [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
    more = st.lists(st.sampled_from(classes), min_size=n - len(classes), max_size=n - len(classes))
    return rows, classes + draw(more), draw(parameters(names, kinds, classes))


@st.composite
def parameters(draw, names, kinds, classes):
    cuts = [-1.0, 0.2, 1e300]
    numbers = [name for name, kind in zip(names, kinds, strict=True) if kind == "number"]
    places = [place for place, kind in enumerate(kinds) if kind == "number"]
    priors = [None, {c: 1 / len(classes) for c in reversed(classes)}]
    by_name, by_place = dict.fromkeys(numbers, cuts), dict.fromkeys(places, cuts)
    return {
        "smoothing": draw(st.sampled_from([0, 1, 0.5, "1/n", 1e-3])),
        "bins": draw(st.sampled_from(["mdl", 2, by_name, by_place])),
        "categorical_features": [
            n for n, kind in zip(names, kinds, strict=True) if n not in numbers
        ],
        "missing": draw(st.sampled_from(["level", "skip", {names[0]: "skip"}])),
        "special_values": draw(st.sampled_from([None, {n: [-9, INFINITY] for n in numbers}])),
        "class_prior": draw(st.sampled_from(priors)),
        "max_levels": draw(st.sampled_from([None, 1, 2, {names[0]: 2}, {0: 1}])),
    }


def more_rows(rows):
    """The rows, a row of nothing, and rows that mix the columns of others."""
    shifted = [
        {name: rows[(i + j) % len(rows)][name] for j, name in enumerate(rows[0])}
        for i in range(len(rows))
    ]
    return [*rows, dict.fromkeys(rows[0]), *shifted]


def same_bits(one, other, X):
    for method in ("decision_function", "predict_proba", "predict_log_proba", "predict"):
        a, b = getattr(one, method)(X), getattr(other, method)(X)
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes() if a.dtype != object else a.tolist() == b.tolist()


def same_evidence(one, other):
    assert one.classes.tolist() == other.classes.tolist()
    assert one.classes.dtype == other.classes.dtype
    assert (one.link, one.event_model) == (other.link, other.event_model)
    assert np.array_equal(one.prior_row, other.prior_row)
    assert np.array_equal(one.class_counts, other.class_counts)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert a.feature == b.feature
        assert [*map(type, a.levels)] == [*map(type, b.levels)]
        assert np.array_equal(a.by_class, b.by_class)
        assert a.by_class.shape == b.by_class.shape
        assert np.array_equal(a.counts, b.counts)
        assert np.array_equal(a.errors, b.errors, equal_nan=True)


# ---------------------------------------------------------------- the same bits


@LIGHT
@given(samples())
def test_a_loaded_model_predicts_the_same_bits_and_its_file_follows_the_schema(folder, sample):
    rows, y, chosen = sample
    model = EvidenceNB(**chosen).fit(rows, y)
    save(model, folder / "model.json")
    loaded = weigh.load(folder / "model.json")
    same_bits(model, loaded, more_rows(rows))
    same_evidence(model.evidence_, loaded.evidence_)


@LIGHT
@given(samples())
def test_the_parameters_come_back_as_they_were(folder, sample):
    rows, y, chosen = sample
    weigh.save(EvidenceNB(**chosen).fit(rows, y), folder / "parameters.json")
    found = weigh.load(folder / "parameters.json").get_params()
    assert found == EvidenceNB(**chosen).get_params()
    assert [*map(type, found.values())] == [*map(type, EvidenceNB(**chosen).get_params().values())]


@LIGHT
@given(samples())
def test_a_second_save_writes_the_same_text(folder, sample):
    rows, y, chosen = sample
    first = save(EvidenceNB(**chosen).fit(rows, y), folder / "first.json")
    assert save(weigh.load(folder / "first.json"), folder / "second.json") == first


@LIGHT
@given(st.integers(2, 4), st.integers(1, 5), st.booleans(), st.data())
def test_a_model_of_documents_predicts_the_same_bits(folder, n_classes, n_tokens, dense, data):
    count = st.sampled_from([0, 0, 1, 2, 0.25, 7])
    row = st.lists(count, min_size=n_tokens, max_size=n_tokens)
    X = np.array(data.draw(st.lists(row, min_size=n_classes, max_size=8)), dtype=float)
    y = np.arange(len(X)) % n_classes
    X = X if dense else sparse.csr_array(X)
    model = EvidenceNB(event_model="counts").fit(X, y)
    save(model, folder / "documents.json")
    loaded = weigh.load(folder / "documents.json")
    same_bits(model, loaded, X)
    same_evidence(model.evidence_, loaded.evidence_)


def test_named_tokens_come_back_by_name(tmp_path):
    X = pd.DataFrame({"<b>": [1.0, 0, 2], "😀,": [0.0, 3, 1]})
    model = EvidenceNB(event_model="counts").fit(X, ["x", "y", "x"])
    save(model, tmp_path / "m.json")
    loaded = weigh.load(tmp_path / "m.json")
    assert loaded.feature_names_in_.tolist() == ["<b>", "😀,"]
    same_bits(model, loaded, X[["😀,", "<b>"]])


def test_values_that_look_alike_stay_apart(tmp_path):
    values = ["1", 1, True, "true", "True", 1.5, "1.5", 2**53, 2**53 + 1, "", None, INFINITY]
    rows, y = [{"v": value} for value in values], [i % 2 for i in range(len(values))]
    model = EvidenceNB().fit(rows, y)
    save(model, tmp_path / "m.json")
    loaded = weigh.load(tmp_path / "m.json")
    assert len(loaded.evidence_["v"].levels) == len(values)
    same_bits(model, loaded, rows)


def test_a_feature_that_was_never_observed_comes_back(tmp_path):
    rows = [{"empty": None, "b": "x"}, {"empty": None, "b": "y"}]
    model = EvidenceNB(missing="skip").fit(rows, [0, 1])
    save(model, tmp_path / "m.json")
    loaded = weigh.load(tmp_path / "m.json")
    same_bits(model, loaded, rows)
    assert repr(loaded.evidence_) == repr(model.evidence_)
    assert loaded.balance_sheet(rows[0]) == model.balance_sheet(rows[0])


def test_errors_that_are_not_known_come_back_unknown(tmp_path):
    model = EvidenceNB(smoothing=0).fit([["a"], ["b"], ["b"]], [0, 1, 0])
    save(model, tmp_path / "m.json")
    loaded = weigh.load(tmp_path / "m.json")
    assert np.isnan(loaded.evidence_["x0"].errors).tolist() == [True, False]
    assert loaded.balance_sheet(["a"]).interval is None


def test_the_sheet_of_a_loaded_model_is_the_same(tmp_path):
    model = EvidenceNB().fit(titanic(), "Survived").with_prior(0.01)
    save(model, tmp_path / "m.json")
    case = {"Class": "1st", "Sex": None, "Age": "Adult"}
    assert weigh.load(tmp_path / "m.json").balance_sheet(case) == model.balance_sheet(case)


def test_the_smallest_smoothing_can_be_saved(tmp_path):
    model = EvidenceNB(smoothing=1e-200).fit([["a"], ["b"]], [0, 1])
    save(model, tmp_path / "m.json")
    same_bits(model, weigh.load(tmp_path / "m.json"), [["a"], ["b"], ["c"]])


def test_class_labels_beyond_64_bits_come_back(tmp_path):
    rows = [["a"], ["b"]]
    model = EvidenceNB().fit(rows, [1, 2**70])
    save(model, tmp_path / "m.json")
    assert weigh.load(tmp_path / "m.json").predict(rows).tolist() == model.predict(rows).tolist()


@pytest.mark.parametrize(
    "columns",
    [pd.Index(["a"]), np.array(["a"]), ("a",), {"a"}, pd.Series(["a"]), {"a": 1}.keys()],
    ids=lambda columns: type(columns).__name__,
)
def test_columns_may_be_named_by_any_collection(tmp_path, columns):
    X = pd.DataFrame({"a": [1, 2, 3], "b": [1.0, 2.0, 3.0]})
    model = EvidenceNB(categorical_features=columns).fit(X, [0, 1, 1])
    save(model, tmp_path / "m.json")
    loaded = weigh.load(tmp_path / "m.json")
    assert list(loaded.categorical_features) == ["a"]
    same_bits(model, loaded, X)


def test_numpy_parameters_become_plain_ones(tmp_path):
    chosen = {"smoothing": np.float64(0.5), "bins": {"a": np.array([1.5])}}
    chosen |= {"class_prior": np.array([0.25, 0.75]), "special_values": {"a": np.array([-9])}}
    X = pd.DataFrame({"a": [1.0, 2, -9]})
    model = EvidenceNB(**chosen).fit(X, [0, 1, 1])
    save(model, tmp_path / "m.json")
    loaded = weigh.load(tmp_path / "m.json")
    assert loaded.bins == {"a": [1.5]}
    same_bits(model, loaded, X)
    same_bits(loaded.fit(X, [0, 1, 1]), model, X)


def test_what_a_model_knows_of_its_columns_comes_back(tmp_path):
    named = EvidenceNB().fit(titanic(), "Survived")
    unnamed = EvidenceNB().fit([["a", 1], ["b", 2]], [0, 1])
    for model in (named, unnamed):
        save(model, tmp_path / "m.json")
        loaded = weigh.load(tmp_path / "m.json")
        assert type(loaded) is type(model)
        assert loaded.n_features_in_ == model.n_features_in_
        assert hasattr(loaded, "feature_names_in_") is hasattr(model, "feature_names_in_")
    weigh.save(named, tmp_path / "m.json")
    assert weigh.load(tmp_path / "m.json").feature_names_in_.tolist() == ["Class", "Sex", "Age"]


# ---------------------------------------------------------------- counts still add


@LIGHT
@given(samples(), st.data())
def test_loaded_models_merge_as_the_models_would(folder, sample, data):
    rows, y, chosen = sample
    chosen["bins"] = {name: [0.2] for name in rows[0] if name not in chosen["categorical_features"]}
    order = data.draw(st.permutations(range(len(rows))))
    rows, y = rows + [rows[i] for i in order], y + [y[i] for i in order]
    half = len(rows) // 2
    parts = [(rows[:half], y[:half]), (rows[half:], y[half:])]
    for i, part in enumerate(parts):
        save(EvidenceNB(**chosen).fit(*part), folder / f"part{i}.json")
    merged = weigh.load(folder / "part0.json").merge(weigh.load(folder / "part1.json"))
    whole = EvidenceNB(**chosen).fit(rows, y)
    same_bits(merged, whole, more_rows(rows))
    same_evidence(merged.evidence_, whole.evidence_)


def test_a_loaded_model_goes_on_learning(tmp_path):
    rows, y = [["a"], ["b"], ["b"], ["c"]], [0, 1, 0, 1]
    save(EvidenceNB().fit(rows[:2], y[:2]), tmp_path / "m.json")
    more = weigh.load(tmp_path / "m.json").partial_fit(rows[2:], y[2:])
    same_bits(more, EvidenceNB().fit(rows, y), [*rows, ["d"], [None]])


# ---------------------------------------------------------------- a reader outside


@LIGHT
@given(samples())
def test_the_file_alone_is_enough_to_score(folder, sample):
    rows, y, chosen = sample
    model = EvidenceNB(**chosen).fit(rows, y)
    data = strict(save(model, folder / "outside.json"))
    cases = more_rows(rows)
    found = [score(data, row) for row in cases]
    assert np.allclose(found, model.predict_proba(cases), rtol=1e-12, atol=1e-12)


def with_margins():
    """A model whose pairs have margins, and rows of which some answers are not known."""
    model = exported.fitted("incomplete")
    _, python = exported.visited(model, not_known=True)
    cases = [{k: v for k, v in row.items() if v is not weigh.NOT_KNOWN} for row in python.rows]
    return model, cases


def test_the_file_alone_is_enough_to_score_rows_of_which_answers_are_not_known(tmp_path):
    model, cases = with_margins()
    data = strict(save(model, tmp_path / "m.json"))
    found = [score(data, row) for row in cases]
    assert np.allclose(found, model.predict_proba(cases), rtol=1e-12, atol=1e-12)
    same_bits(weigh.load(tmp_path / "m.json"), model, cases)
    for feature in data["evidence"]["features"]:
        feature.pop("margins", None)
    assert not np.allclose([score(data, row) for row in cases], found, atol=1e-3)


def test_only_a_file_with_margins_has_version_2_which_earlier_releases_refuse(tmp_path):
    model, _ = with_margins()
    assert strict(save(model, tmp_path / "m.json"))["version"] == 2
    card = weigh.Scorecard(model).evidence
    assert card.attenuation is None
    assert all(table.margins is None for table in card)
    assert strict(save(exported.fitted("educated"), tmp_path / "n.json"))["version"] == 1


def spoil(data, how):
    """Margins that no fit gives."""
    own = data["evidence"]
    pair = next(feature for feature in own["features"] if "margins" in feature)
    if how == "no factor":
        del own["attenuation"]
    elif how == "a share":
        name = next(name for name, share in own["attenuation"]["shares"].items() if share)
        own["attenuation"]["shares"] |= {
            name: 0.0,
            pair["name"]: own["attenuation"]["shares"][name],
        }
    elif how == "a column":
        own["features"][0]["margins"] = pair.pop("margins")
    elif how == "too few":
        pair["margins"][0].pop()
    else:
        pair["margins"].pop()


@pytest.mark.parametrize("how", ["no factor", "a share", "a column", "too few", "one side"])
def test_margins_that_no_fit_gives_are_refused(tmp_path, how):
    data = strict(save(with_margins()[0], tmp_path / "m.json"))
    spoil(data, how)
    data.pop("checksum")
    (tmp_path / "m.json").write_text(json.dumps(data))
    assert "margins" in refuses(tmp_path / "m.json")


def branching(tmp_path):
    """A model of three questions, each asked only after the one before, and its file."""
    rows = [{"a": "y", "b": 1, "c": "u"}, {"a": "y", "b": 2, "c": None}, {"a": "n", "b": None}]
    rule = {"b": ("a", "y"), "c": ("b", 1)}
    learner = EvidenceNB(categorical_features="all", ask_if=rule)
    model = learner.fit([row | {"c": row.get("c")} for row in rows], [0, 1, 1])
    return model, strict(save(model, tmp_path / "m.json"))


def test_the_file_alone_says_which_questions_are_asked(tmp_path):
    model, data = branching(tmp_path)
    cases = [{"a": a, "b": b, "c": "u"} for a in ("y", "n", None) for b in (1, 2, None)]
    found = [score(data, row) for row in cases]
    assert np.allclose(found, model.predict_proba(cases), rtol=1e-12, atol=1e-12)
    same_bits(weigh.load(tmp_path / "m.json"), model, cases)


@pytest.mark.parametrize("levels", [[2], [-1], [], [0, 0], ["y"], 0, [True]])
def test_a_rule_of_levels_that_there_are_not_is_refused(tmp_path, levels):
    _, data = branching(tmp_path)
    data["evidence"]["features"][1]["asked"][0]["levels"] = levels
    data.pop("checksum", None)
    (tmp_path / "m.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="asked"):
        weigh.load(tmp_path / "m.json")


@pytest.mark.parametrize("classes", [["n", "y"], ["a", "b", "c"]])
def test_the_file_alone_is_enough_to_score_documents(tmp_path, classes):
    X = np.array([[1.0, 0, 2], [0, 3, 0], [0.5, 1, 0], [0, 0, 1]])
    model = EvidenceNB(event_model="counts").fit(X, [classes[i % len(classes)] for i in range(4)])
    evidence = strict(save(model, tmp_path / "m.json"))["evidence"]
    (tokens,) = evidence["features"]
    assert tokens["values"] == ["x0", "x1", "x2"]
    totals = np.array(evidence["prior"]) + X @ np.array(tokens["weights"])
    assert np.allclose(np.atleast_2d(model.decision_function(X).T).T, totals, atol=1e-12)


def test_labels_stand_in_the_order_of_the_levels(tmp_path):
    rows = [{"n": v} for v in (1.0, 5.0, -9.0, None, 2.0)]
    model = EvidenceNB(bins={"n": [1.0, 3.0]}, special_values={"n": [-9]}).fit(
        rows, [0, 1, 0, 1, 0]
    )
    (feature,) = strict(save(model, tmp_path / "m.json"))["evidence"]["features"]
    assert feature["labels"] == ["<= 1", "2 to 3", ">= 4", "-9", "missing"]
    assert feature["counts"] == [[1, 0], [1, 0], [0, 1], [1, 0], [0, 1]]
    assert [find_level(feature, row["n"]) for row in rows] == [0, 2, 3, 4, 1]


# ---------------------------------------------------------------- refusals


@pytest.fixture
def saved(tmp_path):
    """A small model file, and its data."""
    rows = [
        {"n": 1.0, "c": "a"},
        {"n": 5.0, "c": "b😀"},
        {"n": -9.0, "c": None},
        {"n": None, "c": "a"},
    ]
    model = EvidenceNB(bins={"n": [2.0, 3.0]}, special_values={"n": [-9]}).fit(rows, [0, 1, 1, 0])
    save(model, tmp_path / "model.json")
    return tmp_path / "model.json", read_model(tmp_path / "model.json")


def refuses(path):
    with pytest.raises(ValueError, match="model") as caught:
        weigh.load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_file_cut_short_at_any_byte_is_refused(saved):
    path, _ = saved
    whole = path.read_bytes().rstrip()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        refuses(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "3",
        '"weigh"',
        "[]",
        "{}",
        '{"format": "weigh"}',
        '{"format": "other", "version": 1}',
        '{"format": ["weigh"], "version": 1}',
        "weight,error\n1,2\n",
        "NaN",
        pytest.param("[" * 100_000, id="nested without end"),
        pytest.param('{"format": ' + "1" * 5000 + "}", id="a number of 5000 digits"),
    ],
)
def test_foreign_text_is_refused(tmp_path, text):
    (tmp_path / "foreign.json").write_text(text)
    refuses(tmp_path / "foreign.json")


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"PAR1\x00\x80", b"\x80\x04]."])
def test_foreign_bytes_are_refused(tmp_path, data):
    (tmp_path / "foreign.bin").write_bytes(data)
    refuses(tmp_path / "foreign.bin")


@pytest.mark.parametrize("version", [3, 0, "1", None, [1]])
def test_another_version_is_refused_and_named(saved, version):
    path, data = saved
    path.write_text(json.dumps(data | {"version": version}))
    assert repr(version) in refuses(path)


@pytest.mark.parametrize(
    "learner",
    ["UnheardOfNB", "MDLDiscretizer", "load", "datasets", "__doc__", "os.system", 3, None],
)
def test_a_learner_that_this_release_lacks_is_refused_and_named(saved, learner):
    path, data = saved
    path.write_text(json.dumps(data | {"learner": learner}))
    assert repr(learner) in refuses(path)


def at(data, *steps):
    """The container and key that the steps lead to."""
    for step in steps[:-1]:
        data = data[step]
    return data, steps[-1]


NUMBER = ("evidence", "features", 0)
CATEGORY = ("evidence", "features", 1)
WRONG = {
    "parameters": (("parameters",), [None, 3, [1], {"no_such": 1}, {"bins": {"pears": []}}]),
    "named": (("named",), [None, "yes", 3]),
    "evidence": (("evidence",), [None, 3, [], "x", {}]),
    "classes": (("evidence", "classes"), [None, 3, [], [0], [0, 1, 2], [0, "1"], [[0], [1]]]),
    "class_counts": (("evidence", "class_counts"), [None, "x", [1.0], ["a", "b"], [1.0, -1.0]]),
    "prior": (("evidence", "prior"), [None, "x", [], ["a"], [0.0, 0.0], [[0.0]], [None]]),
    "assumed_rate": (("evidence", "assumed_rate"), [None, "x", [0.5], ["a", "b"], [2.0, -1.0]]),
    "prior_variances": (("evidence", "prior_variances"), ["x", [0.1], ["a", "b"]]),
    "link": (("evidence", "link"), [None, 3, "softmax", "probit"]),
    "event_model": (("evidence", "event_model"), [None, 3, "words", "counts"]),
    "features": (("evidence", "features"), [None, 3, [], {}, [3], [[]], ["x"]]),
    "name": ((*NUMBER, "name"), [None, 3, [], "c"]),
    "values": ((*NUMBER, "values"), [None, 3, ["a"], [None], [[1]], [-9, -9], [-9, 1]]),
    "categories": ((*CATEGORY, "values"), [None, 3, [], ["a"], ["a", "a"], ["a", {}], [None, "a"]]),
    "cuts": ((*NUMBER, "cuts"), [3, ["a", "b"], [3.0, 2.0], [2.0], [2.0, None], [[2.0], [3.0]]]),
    "no cuts": ((*NUMBER, "cuts"), [None]),
    "has_missing": ((*NUMBER, "has_missing"), [None, "no", False, 3]),
    "skip_missing": ((*NUMBER, "skip_missing"), [None, "no", True, 3]),
    "other": ((*CATEGORY, "other"), [None, [], "text", ["texts"], ["text"], ["text", "numbers"]]),
    "other of numbers": ((*NUMBER, "other"), [["numbers"]]),
    "weights": ((*NUMBER, "weights"), [None, 3, [], [[0.0]], [[0.0, 0.0]] * 5, [["a"]] * 5]),
    "one weight": ((*NUMBER, "weights", 2), [None, [], [None], [[0.0]], ["0.1"], [True], [{}]]),
    "counts": ((*NUMBER, "counts"), [None, 3, [], [[0.0]] * 5, [["a", "b"]] * 5, [[1, 1]]]),
    "one count": ((*NUMBER, "counts", 2), [None, [], [1.0], [1.0, None], [1.0, -1.0], ["a", 0]]),
    "variances": ((*NUMBER, "variances"), [3, [], [[0.0]] * 5, [["a", "b"]] * 5, [[1, 1]]]),
}
CASES = [
    pytest.param(steps, value, id=f"{field} {value!r}"[:50])
    for field, (steps, values) in WRONG.items()
    for value in values
]


@pytest.mark.parametrize(("steps", "value"), CASES)
def test_a_wrong_field_is_refused(saved, steps, value):
    path, data = saved
    container, step = at(data, *steps)
    container[step] = value
    path.write_text(json.dumps(data))
    refuses(path)


REQUIRED = [(field,) for field in SCHEMA["required"] if field != "weigh"]
REQUIRED += [("evidence", field) for field in SCHEMA["$defs"]["evidence"]["required"]]
REQUIRED += [
    (*NUMBER, field) for field in SCHEMA["$defs"]["feature"]["required"] if field != "labels"
]


@pytest.mark.parametrize("steps", REQUIRED, ids=lambda steps: str(steps[-1]))
def test_a_lacking_field_is_refused(saved, steps):
    path, data = saved
    container, step = at(data, *steps)
    del container[step]
    path.write_text(json.dumps(data))
    refuses(path)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("field", ["weights", "counts", "cuts", "prior"])
def test_a_number_that_json_does_not_have_is_refused(saved, token, field):
    path, data = saved
    steps = {
        "weights": (*NUMBER, "weights", 0, 0),
        "counts": (*NUMBER, "counts", 0, 0),
        "cuts": (*NUMBER, "cuts", 0),
        "prior": ("evidence", "prior", 0),
    }
    container, step = at(data, *steps[field])
    container[step] = "HERE"
    path.write_text(json.dumps(data).replace('"HERE"', token))
    refuses(path)


def test_what_the_wrong_fields_are_wrong_by_is_their_value_alone(saved):
    """The refusals above are no accident: written again unchanged, the file is read."""
    path, data = saved
    path.write_text(json.dumps(copy.deepcopy(data)))
    assert weigh.load(path).n_features_in_ == 2


def test_a_file_that_is_not_there_is_not_called_a_bad_model(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        weigh.load(tmp_path / "nowhere.json")


def test_only_fitted_models_of_this_package_are_saved(tmp_path):
    from sklearn.exceptions import NotFittedError
    from sklearn.naive_bayes import GaussianNB

    with pytest.raises(NotFittedError):
        weigh.save(EvidenceNB(), tmp_path / "m.json")
    with pytest.raises((TypeError, ValueError), match="GaussianNB"):
        weigh.save(GaussianNB(), tmp_path / "m.json")
    assert [*tmp_path.iterdir()] == []


# ---------------------------------------------------------------- nothing executed


def test_text_in_a_file_stays_text(saved, tmp_path):
    path, data = saved
    code = f"__import__('pathlib').Path({str(tmp_path / 'ran')!r}).touch()"
    data["parameters"]["smoothing"] = code
    data["evidence"]["features"][0]["name"] = data["evidence"]["columns"][0] = code
    data["evidence"]["features"][1]["values"] = [code, "b"]
    path.write_text(json.dumps(data))
    loaded = weigh.load(path)
    assert loaded.smoothing == code
    assert loaded.evidence_[code].name == code
    assert not (tmp_path / "ran").exists()


AUDIT = """
import sys, weigh
weigh.load(sys.argv[1])
seen, watching = [], False
def watch(event, args):
    if watching and event in ("exec", "compile", "import", "pickle.find_class", "os.system",
                              "subprocess.Popen", "marshal.loads", "ctypes.dlopen"):
        seen.append(event)
sys.addaudithook(watch)
watching = True
weigh.load(sys.argv[1])
watching = False
print(seen)
"""


def test_loading_executes_compiles_imports_and_unpickles_nothing(saved):
    path, _ = saved
    found = subprocess.run(
        [sys.executable, "-c", AUDIT, str(path)], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


# ---------------------------------------------------------------- whole or not at all


def no_space(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupt(*args, **kwargs):
    raise KeyboardInterrupt


@pytest.mark.parametrize("step", ["replace", "fsync", "chmod"])
@pytest.mark.parametrize("failure", [no_space, interrupt])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path, monkeypatch, step, failure
):
    path = tmp_path / "model.json"
    weigh.save(EvidenceNB().fit([["a"], ["b"]], [0, 1]), path)
    before = path.read_bytes()
    other = EvidenceNB().fit([["c"], ["d"]], [0, 1])
    monkeypatch.setattr(os, step, failure)
    with pytest.raises((OSError, KeyboardInterrupt)):
        weigh.save(other, path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


def test_a_disk_that_fills_up_while_writing_leaves_nothing(tmp_path, monkeypatch):
    real = os.fdopen

    def small_disk(*args, **kwargs):
        file = real(*args, **kwargs)
        file.write = no_space
        return file

    monkeypatch.setattr(os, "fdopen", small_disk)
    with pytest.raises(OSError, match="No space"):
        weigh.save(EvidenceNB().fit([["a"], ["b"]], [0, 1]), tmp_path / "model.json")
    assert [*tmp_path.iterdir()] == []


def test_a_model_that_cannot_be_written_down_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.json"
    model = EvidenceNB().fit([["a"], ["b"]], [0, 1])
    weigh.save(model, path)
    before = path.read_bytes()
    model.smoothing = object()
    with pytest.raises((TypeError, ValueError)):
        weigh.save(model, path)
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


def test_a_folder_that_is_not_there_is_an_error_that_names_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        weigh.save(EvidenceNB().fit([["a"], ["b"]], [0, 1]), tmp_path / "nowhere" / "m.json")


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_file_keeps_its_permissions_and_a_new_one_gets_the_usual(tmp_path):
    model = EvidenceNB().fit([["a"], ["b"]], [0, 1])
    old, new, plain = (tmp_path / name for name in ("old", "new", "plain"))
    weigh.save(model, old)
    old.chmod(0o640)
    weigh.save(model, old)
    weigh.save(model, new)
    plain.touch()
    assert old.stat().st_mode & 0o777 == 0o640
    assert new.stat().st_mode == plain.stat().st_mode


def test_a_path_may_be_text_and_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    weigh.save(EvidenceNB().fit([["a"], ["b"]], [0, 1]), "model.json")
    assert weigh.load("model.json").predict([["a"]]).tolist() == [0]
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


# ---------------------------------------------------------------- the schema itself


def test_the_schema_is_one_and_describes_every_field():
    Draft202012Validator.check_schema(SCHEMA)
    names = ("evidence", "feature", "tree", "levels", "estimate")
    for part in (SCHEMA, *(SCHEMA["$defs"][name] for name in names)):
        one_of = [name for choice in part.get("oneOf", []) for name in choice["required"]]
        few_have = {
            "attenuation",
            "recalibration",
            "margins",
            "covariance",
            "scales_estimated",
            "other",
            "others",
            "left",
            "whole",
            "binary",
            "counted",
            "ordered",
            "groups",
            "edits",
            "asked",
            "exposure",
            "offset",
            "provenance",
            "checksum",
        }
        written = {*part["properties"]} - few_have
        assert {*part["required"], *one_of} == written
        for name, field in part["properties"].items():
            reference = field.get("$ref", "").rpartition("/")[2]
            words = field.get("description") or SCHEMA["$defs"][reference]["description"]
            assert len(words.split()) > 4, name


def test_the_schema_refuses_what_is_no_model(saved):
    _, data = saved
    assert VALIDATOR.is_valid(data)
    for steps, values in WRONG.values():
        wrong = copy.deepcopy(data)
        container, step = at(wrong, *steps)
        container[step] = values[0]
        if steps[-1] not in ("cuts", "variances", "prior_variances") or values[0] is not None:
            assert not VALIDATOR.is_valid(wrong), steps


def test_a_link_to_a_model_stays_a_link(tmp_path):
    model = EvidenceNB().fit([["a"], ["b"]], [0, 1])
    target, link = tmp_path / "model.json", tmp_path / "link.json"
    link.symlink_to(target)
    weigh.save(model, link)
    assert link.is_symlink()
    assert target.exists()


def test_a_file_from_before_whole_numbers_were_noted_keeps_its_labels(tmp_path):
    rows = [{"n": float(v)} for v in range(8)]
    model = EvidenceNB(bins={"n": [1.5, 4.0]}).fit(rows, [0, 1] * 4)
    data = strict(save(model, tmp_path / "m.json"))
    assert data["evidence"]["features"][0].pop("whole") is True
    del data["checksum"]
    (tmp_path / "old.json").write_text(json.dumps(data))
    new, old = (weigh.load(tmp_path / name) for name in ("m.json", "old.json"))
    assert new.evidence_["n"].labels == ("<= 1", "2 to 4", ">= 5")
    assert old.evidence_["n"].labels == ("<= 1.5", "(1.5, 4.0]", "> 4.0")
    np.testing.assert_array_equal(old.predict_proba(rows), new.predict_proba(rows))
    merged = new.merge(old)
    assert merged.evidence_["n"].labels == old.evidence_["n"].labels


# ---------------------------------------------------------------- checksum


def test_a_file_that_was_changed_is_refused_until_its_checksum_is_deleted(saved):
    path, _ = saved
    data = strict(path.read_text("utf-8"))
    data["evidence"]["prior"][0] += 1.0  # every other check passes
    path.write_text(json.dumps(data))
    assert "checksum" in refuses(path)
    del data["checksum"]
    path.write_text(json.dumps(data))
    assert weigh.load(path).evidence_.prior == data["evidence"]["prior"][0]


def test_spaces_and_order_do_not_change_a_checksum(saved):
    path, data = saved
    whole = strict(path.read_text("utf-8"))
    path.write_text(json.dumps(dict(reversed(whole.items())), indent=7))
    assert weigh.load(path).n_features_in_ == len(data["evidence"]["columns"])
