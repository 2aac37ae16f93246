"""ONNX: onnxruntime says what Python says, from strings and doubles."""

import json
import re
import sys

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from tests.exported import LEARNERS, assert_same, draw_table, fitted, models, visited

import weigh
from weigh.exports import Formula, checks
from weigh.exports.onnx import MISSING, prediction_name
from weigh.exports.run import run_onnx

LIGHT = settings(max_examples=40, deadline=None, database=None)


def assert_onnx(model, python=None):
    formula = Formula.of(model)
    python = python or visited(model)[1]
    found = run_onnx(weigh.export(model, "onnx"), formula, python.rows)
    assert_same(python, found["totals"], found[prediction_name(formula)])
    np.testing.assert_array_equal(found["contributions"], python.contributions)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_graph_says_what_the_model_says(name):
    assert_onnx(fitted(name))


@LIGHT
@given(models())
def test_the_graph_says_what_any_model_says(model):
    assert_onnx(model)


def test_numbers_are_doubles_so_that_rows_on_a_cut_point_stay_where_they_are():
    X = [[0.1], [0.1 + 1e-12]] * 4
    model = weigh.EvidenceNB(bins={0: [0.1]}).fit(X, [0, 1] * 4)
    formula = Formula.of(model)
    rows = [{"x0": value} for (value,) in X]
    found = run_onnx(weigh.export(model, "onnx"), formula, rows)
    assert len({*found["totals"][:, 0].tolist()}) == 2
    assert_onnx(model, checks.wanted(model.evidence_, rows))


def test_a_column_may_be_called_like_an_output():
    names = ["totals", "probabilities", "contributions", "weigh:1"]
    rows = [dict.fromkeys(names, "a"), dict.fromkeys(names, "b")] * 3
    assert_onnx(weigh.EvidenceNB().fit(rows, [0, 1] * 3))
    rows = [{"": "a", "weigh:1": 1.0}, {"": "b", "weigh:1": 2.0}] * 3
    assert_onnx(weigh.EvidenceNB().fit(rows, [0, 1] * 3))


def missing_word(model):
    graph = onnx.load_from_string(weigh.export(model, "onnx"))
    return {p.key: p.value for p in graph.metadata_props}[MISSING]


def test_what_stands_for_missing_text_is_never_empty_and_no_level():
    rows = [{"a": "x"}, {"a": None}, {"a": "y"}] * 3
    model = weigh.EvidenceNB().fit(rows, [0, 1, 1] * 3)
    assert missing_word(model) == "<missing>"
    python = checks.wanted(model, [*rows[:3], {"a": ""}])
    assert python.totals[3] != python.totals[1]  # empty text was not seen, and weighs nothing
    assert_onnx(model, python)
    rows = [{"a": ""}, {"a": "<missing>"}, {"a": None}] * 3
    model = weigh.EvidenceNB().fit(rows, [0, 1, 1] * 3)
    assert missing_word(model) == "<missing 2>"
    assert_onnx(model)


def test_the_file_names_classes_and_features():
    graph = onnx.load_from_string(weigh.export(fitted("softmax"), "onnx"))
    held = {p.key: p.value for p in graph.metadata_props}
    assert json.loads(held["classes"]) == ["no", "perhaps", "yes"]
    assert json.loads(held["features"]) == [*draw_table()[0].columns]
    assert [i.name for i in graph.graph.input] == [*draw_table()[0].columns]


@pytest.mark.parametrize("code", [2**53, -(2**53), 2**53 + 1])
def test_what_a_double_cannot_tell_apart_is_refused(code):
    rows = [{"id": code}, {"id": 5}] * 4
    model = weigh.EvidenceNB(categorical_features="all").fit(rows, [0, 1] * 4)
    with pytest.raises(ValueError, match=re.escape("2^53")):
        weigh.export(model, "onnx")


def test_without_onnx_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=re.escape("weigh[onnx]")):
        weigh.export(fitted("evidence"), "onnx")
