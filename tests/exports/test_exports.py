"""Exports: a neutral formula, rows that visit all of it, and Python without dependencies."""

import re
import subprocess
import sys
from dataclasses import replace
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.exported import (
    LEARNERS,
    MANY,
    NUMBERS,
    SHARED,
    assert_same,
    draw_table,
    fitted,
    models,
    samples,
    visited,
)

import weigh
from weigh.exports import TARGETS, Formula, checks
from weigh.exports.sql.dialects import make_names

LIGHT = settings(max_examples=60, deadline=None, database=None)


def run_python(text, rows):
    names = {}
    exec(compile(text, "exported", "exec"), names)
    return [names["score"](row) for row in rows]


def assert_python(model):
    formula, python = visited(model)
    found = run_python(weigh.export(model, "python"), python.rows)
    told = "estimate" if formula.estimates else "probabilities"
    assert_same(python, [row["totals"] for row in found], [row[told] for row in found])
    parts = [[np.atleast_1d(w) for w in row["contributions"].values()] for row in found]
    np.testing.assert_array_equal(np.array(parts), python.contributions)
    assert [*found[0]["contributions"]] == [term.name for term in formula.terms]


# ---------------------------------------------------------------- the rows that are visited


@pytest.mark.parametrize("name", LEARNERS)
def test_the_rows_visit_every_level_of_every_feature(name):
    formula, python = visited(fitted(name), not_known=True)
    from weigh.engine import place
    from weigh.frames import read

    features = [table.feature for table in python.evidence.scored]
    for term, placed in zip(formula.terms, place(read(python.rows), features), strict=True):
        seen = {*placed.levels[placed.codes].tolist()}
        assert {*range(len(term.places))} <= seen, term.name


@pytest.mark.parametrize("name", ["evidence", "educated", "softmax"])
def test_the_rows_stand_on_both_sides_of_every_cut_point_and_lack_every_answer(name):
    formula, python = visited(fitted(name))
    for column in formula.inputs:
        values = [row[column.name] for row in python.rows]
        assert None in values
        for cut in column.cuts:
            assert {cut, np.nextafter(cut, np.inf), np.nextafter(cut, -np.inf)} <= {*values}
        if column.kind == "numbers":
            assert {np.inf, -np.inf} <= {*values}
        if column.kind == "text":
            first = column.values[0]
            assert {checks.UNSEEN, "", first.swapcase(), f"{first} "} <= {*values}


def test_the_rows_hold_the_neighbours_of_codes_that_doubles_cannot_tell_apart():
    rows = [{"id": 2**53}, {"id": 5}] * 4
    model = weigh.EvidenceNB(categorical_features="all").fit(rows, [0, 1] * 4)
    _, python = visited(model)
    assert {2**53 - 1, 2**53, 2**53 + 1} <= {row["id"] for row in python.rows}
    assert_python(model)


def test_a_difference_is_found_in_a_total_a_probability_and_a_nan():
    _, python = visited(fitted("evidence"))
    totals, p = python.totals.copy(), python.predictions.copy()
    assert checks.compare_rows(python, totals, p).holds
    for array in (totals, p):
        kept = array[3, 0]
        for value in (kept + 1e-6, np.nan):
            array[3, 0] = value
            found = checks.compare_rows(python, totals, p)
            assert not found.holds
            assert found.row == python.rows[3]
        array[3, 0] = kept


# ---------------------------------------------------------------- contributions and reasons


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in NUMBERS])
def test_contributions_are_the_items_of_the_balance_sheets(name):
    model = fitted(name)
    X, _ = draw_table(3 if name in MANY else 2)
    rows = X.head(20)
    parts = model.evidence_.contributions(model._read(rows))
    for i in range(len(rows)):
        sheet = model.balance_sheet(rows.iloc[[i]], pos_label=model.classes_[-1])
        np.testing.assert_allclose([item.weight for item in sheet.items], parts[i, :, -1])


@pytest.mark.parametrize("name", ["evidence", "educated", "crosses"])
def test_reasons_are_the_heaviest_items_of_the_balance_sheets(name):
    model = fitted(name)
    X, _ = draw_table()
    rows = X.head(30)
    table = weigh.reasons(model, rows, n=2)
    for i in range(len(rows)):
        items = model.balance_sheet(rows.iloc[[i]]).items
        heavy = sorted((item for item in items if item.weight), key=lambda item: -abs(item.weight))
        for j, item in enumerate(heavy[:2], 1):
            assert table[f"weight_{j}"][i] == item.weight
            assert table[f"reason_{j}"][i] == str(replace(item, note=""))


def test_reasons_of_many_classes_are_those_of_the_most_probable_or_of_the_one_asked_for():
    model = fitted("softmax")
    X, _ = draw_table(3)
    rows = X.head(30)
    parts = model.evidence_.contributions(model._read(rows))
    best = model.decision_function(rows).argmax(axis=1)
    first = weigh.reasons(model, rows, n=1)["weight_1"].to_numpy()
    heaviest = np.abs(parts[np.arange(30), :, best]).max(axis=1)
    np.testing.assert_array_equal(np.abs(first), heaviest)
    asked = weigh.reasons(model, rows, n=1, pos_label="perhaps")["weight_1"].to_numpy()
    place = model.classes_.tolist().index("perhaps")
    np.testing.assert_array_equal(np.abs(asked), np.abs(parts[:, :, place]).max(axis=1))


def test_reasons_for_the_first_of_two_classes_turn_the_signs():
    model, rows = fitted("evidence"), draw_table()[0].head(5)
    one, other = (weigh.reasons(model, rows, pos_label=c)["weight_1"] for c in model.classes_)
    assert (one == -other).all()


def test_a_row_in_which_nothing_weighs_has_no_reasons():
    model = weigh.EvidenceNB(missing="skip").fit(pa.table({"a": ["x", "y"] * 4}), [0, 1] * 4)
    table = weigh.reasons(model, [{"a": None}], n=5)
    assert table.to_pydict() == {"reason_1": [None], "weight_1": [0.0]}


@pytest.mark.parametrize("n", [0, -1, 1.5, "3"])
def test_a_number_of_reasons_that_is_none_is_refused(n):
    with pytest.raises(ValueError, match="n must be"):
        weigh.reasons(fitted("evidence"), draw_table()[0], n=n)


# ---------------------------------------------------------------- Python


@pytest.mark.parametrize("name", LEARNERS)
def test_the_function_says_what_the_model_says(name):
    assert_python(fitted(name))


@LIGHT
@given(models())
def test_the_function_says_what_any_model_says(model):
    assert_python(model)


@LIGHT
@given(samples())
def test_the_function_says_what_a_model_of_mixed_columns_says(sample):
    rows, labels, parameters = sample
    first = next(iter(rows[0]))
    for row, value in zip(rows, ["1", 1, True, 1.5, "true", 2**53 + 1, None] * 2, strict=False):
        row[first] = value
    names = [*{*parameters["categorical_features"], first}]
    bins = {name: cuts for name, cuts in parameters["bins"].items() if name != first}
    special = {name: v for name, v in (parameters["special_values"] or {}).items() if name != first}
    more = {"categorical_features": names, "bins": bins, "special_values": special}
    assert_python(weigh.EvidenceNB(**parameters | more).fit(rows, labels))


def test_the_file_runs_on_its_own(tmp_path):
    model, path = fitted("educated"), tmp_path / "exported.py"
    assert weigh.export(model, "python", path=path) is None
    code = "import exported; print(exported.score({'job': 'a', 'age': 1.0})['probabilities'][1])"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    row = dict.fromkeys(model.feature_names_in_) | {"job": "a", "age": 1.0}
    assert float(done.stdout) == pytest.approx(model.predict_proba([row])[0, 1], abs=1e-9)


def test_no_level_can_break_out_of_the_file():
    nasty = ['"""', "'''", "\\", "{terms}", "%s", "\n)", "__import__('os')", "\ud800"]
    rows = [{'"""\n': word} for word in nasty]
    assert_python(weigh.EvidenceNB().fit(rows, [0, 1] * 4))


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (weigh.BoostedNB(combine="vote", n_rounds=2), "combine='evidence'"),
        (weigh.PerplexedNB(form="arithmetic"), "form='root'"),
        (weigh.C44Classifier(), "a tree.*EducatedNB"),
    ],
)
@pytest.mark.parametrize("to", [to for to in TARGETS if to != "json"])
def test_what_has_no_table_is_refused_by_name_with_the_variant_that_has_one(model, says, to):
    X, y = draw_table()
    model.fit(X.drop(columns="smokes").fillna({"job": "e"}), y)
    with pytest.raises(ValueError, match=f"{type(model).__name__}.*{says}"):
        weigh.export(model, to)


def test_a_regressor_and_documents_are_refused_by_name():
    X, _ = draw_table()
    regressor = weigh.BoostedNBRegressor(n_rounds=2).fit(X[["age"]], X["income"])
    with pytest.raises(ValueError, match=r"BoostedNBRegressor estimates numbers.*BoostedNB"):
        weigh.export(regressor, "python")
    documents = weigh.EvidenceNB(event_model="counts").fit([[1, 0], [0, 2]], [0, 1])
    with pytest.raises(ValueError, match="event_model='levels'"):
        weigh.export(documents, "python")


WRONG = [("sql", "x.onnx"), ("python", "x.SQL"), ("json", "x.py")]


@pytest.mark.parametrize(("to", "name"), WRONG)
def test_a_file_with_the_ending_of_another_format_is_refused(to, name, tmp_path):
    model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    with pytest.raises(ValueError, match=rf"path ends in \{name[1:].lower()}, .*'{to}' writes"):
        weigh.export(model, to, path=tmp_path / name)
    assert not [*tmp_path.iterdir()]
    weigh.export(model, to, path=tmp_path / "x.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["x.txt"]


def test_a_target_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match=r"to .*sql"):
        weigh.export(fitted("evidence"), "cobol")


@pytest.mark.parametrize(
    "option", [{"dialect": "sqlite"}, {"contributions": True}, {"reasons": 1}, {"keep": ["a"]}]
)
def test_options_of_sql_are_refused_elsewhere(option):
    with pytest.raises(ValueError, match=f"{next(iter(option))} is an option of to='sql'"):
        weigh.export(fitted("evidence"), "python", **option)


@pytest.mark.parametrize("to", TARGETS)
def test_no_export_compares_the_tables_of_a_model_with_each_other(to, monkeypatch):
    """Looking up each of n tables among all takes n^2 comparisons."""

    def compare(one, other):
        raise AssertionError(f"{to} compares tables")

    monkeypatch.setattr("weigh.formula.Term.__eq__", compare)
    assert weigh.export(fitted("educated"), to)


def test_names_in_sql_that_are_cut_to_the_same_text_are_numbered():
    same = ["x" * 80] * 3 + ["X" * 90, f"{'x' * 54}_3"]
    names = make_names(same, "postgres")
    assert names == [
        "x" * 60,
        *(f"{'x' * 54}_{n}" for n in (2, 3)),
        f"{'X' * 54}_4",
        f"{'x' * 54}_5",
    ]


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(ValueError, match="EvidenceNB"):
        weigh.export(weigh.EvidenceNB(), "python")


# ---------------------------------------------------------------- the native file, and evidence


def test_json_is_the_file_that_save_writes(tmp_path):
    model = fitted("spline")
    weigh.save(model, tmp_path / "saved.json")
    weigh.export(model, "json", path=tmp_path / "exported.json")
    assert (tmp_path / "saved.json").read_text() == (tmp_path / "exported.json").read_text()


def test_evidence_alone_is_exported_like_its_model():
    model = fitted("evidence")
    one, other = weigh.export(model, "python"), weigh.export(model.evidence_, "python")
    assert one.split("\n", 1)[1] == other.split("\n", 1)[1]
    with pytest.raises(ValueError, match="fitted model"):
        weigh.export(model.evidence_, "json")


def test_a_formula_knows_the_columns_of_the_table_and_their_kinds():
    formula = Formula.of(weigh.EvidenceNB(**SHARED).fit(*draw_table()))
    kinds = {column.name: column.kind for column in formula.inputs}
    assert kinds == {
        "age": "numbers", "job": "text", "smokes": "booleans", "ward": "numbers",
        "income": "numbers",
    }  # fmt: skip
    assert [column.name for column in formula.inputs if column.is_numeric] == ["age", "income"]


# ---------------------------------------------------------------- one rule of types


def coded_rows():
    """Codes as text and as numbers, and a number that is cut; nothing in them is alike."""
    return [
        {"code": c, "ward": w, "age": a}
        for c, w, a in zip("1213" * 6, [1, 2, 1, 3] * 6, [1.5, 2.5, 1.0, 9.0] * 6, strict=True)
    ]


def coded_model():
    options = {"categorical_features": ["code", "ward"], "bins": {"age": [2.0]}}
    return weigh.EvidenceNB(**options).fit(coded_rows(), [0, 1, 0, 1] * 6)


@pytest.mark.parametrize("odd", [{"code": 1}, {"code": True}, {"ward": "1"}, {"age": "1.5"}])
def test_the_function_refuses_the_types_that_the_model_refuses(odd):
    model, (name,) = coded_model(), odd
    row = coded_rows()[0] | odd
    with pytest.raises(ValueError, match=f"column '{name}'"):
        model.predict_proba([row])
    with pytest.raises(ValueError, match=f"column '{name}' held .* in training, not"):
        run_python(weigh.export(model, "python"), [row])


@LIGHT
@given(models(), st.data())
def test_the_function_refuses_a_value_where_the_model_does_and_nowhere_else(model, data):
    formula, python = visited(model)
    row = dict(python.rows[-1])
    name = data.draw(st.sampled_from([*row]))
    row[name] = data.draw(st.sampled_from(["1", "other", 1, 2.5, True, None, float("nan")]))
    text, known = weigh.export(model, "python"), next(c for c in formula.inputs if c.name == name)
    try:
        wanted = model.predict_proba([row])[0]
    except ValueError:
        with pytest.raises(ValueError, match="in training"):
            run_python(text, [row])
        assert known.values or known.is_numeric
    else:
        found = run_python(text, [row])[0]["probabilities"]
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_the_function_refuses_a_key_that_is_no_column_and_says_which_was_meant():
    text = weigh.export(coded_model(), "python")
    with pytest.raises(ValueError, match="no column is called 'aeg'; did you mean 'age'"):
        run_python(text, [{"aeg": 1.5}])


def test_a_key_that_lacks_is_not_known_in_the_function():
    lacks, empty = run_python(weigh.export(coded_model(), "python"), [{}, {"age": None}])
    assert lacks == empty


def empty_model():
    """A model with a column of which training saw no value, which takes any that is a value."""
    rows = [{"a": "x", "empty": None}, {"a": "y", "empty": None}] * 4
    return weigh.EvidenceNB().fit(rows, [0, 1] * 4)


ODD = [b"5", date(2020, 1, 1), pd.Timestamp("2020"), pd.Timedelta(1), (1,), [1], {}, 1j, object()]
ODD += [np.complex128(1), np.timedelta64(1, "ns"), np.datetime64("2020", "ns"), np.arange(2)]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
@pytest.mark.parametrize("name", ["age", "ward", "code", "empty"])
def test_the_function_refuses_what_is_no_number_text_or_boolean(name, odd):
    model = empty_model() if name == "empty" else coded_model()
    with pytest.raises((ValueError, TypeError), match=f"'{name}'"):
        model.predict_proba([dict.fromkeys(model.feature_names_in_) | {name: odd}])
    with pytest.raises(ValueError, match=rf"column '{name}' .*, not {re.escape(repr(odd))}"):
        run_python(weigh.export(model, "python"), [{name: odd}])


NUMBERS = [Decimal("1"), Decimal("2.5"), np.float32(1.5), np.int64(1), np.uint8(3), 2**60]
MISSING = [pd.NA, pd.NaT, Decimal("NaN"), np.float32("nan"), np.datetime64("NaT")]


@pytest.mark.parametrize("value", NUMBERS + MISSING, ids=repr)
@pytest.mark.parametrize("name", ["age", "ward", "empty"])
def test_the_function_takes_the_numbers_that_the_model_takes_and_what_is_missing(name, value):
    model = empty_model() if name == "empty" else coded_model()
    wanted = model.predict_proba([dict.fromkeys(model.feature_names_in_) | {name: value}])[0]
    (found,) = run_python(weigh.export(model, "python"), [{name: value}])
    np.testing.assert_allclose(found["probabilities"], wanted, atol=1e-9)
