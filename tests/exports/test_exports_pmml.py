"""PMML: an evaluator that knows nothing of this package says what Python says."""

import re
import shutil
from importlib.util import find_spec
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import lacking
from tests.exported import ATTENUATED, LEARNERS, NASTY, assert_same, fitted, models, visited

import weigh
from weigh.exports import Formula
from weigh.exports.pmml.document import own_name
from weigh.exports.run import run_pmml

REFUSED = [name for name in ATTENUATED if name != "incomplete"]
PLAIN = [name for name in LEARNERS if name not in REFUSED]
WRITABLE = {
    "words": st.one_of(
        st.sampled_from(NASTY),
        st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), max_size=6),
    )
}


@pytest.fixture(scope="module")
def evaluate():
    """PMML4S, which pypmml starts on Java."""
    if shutil.which("java") is None:
        lacking("the program java is not installed")
    if find_spec("pypmml") is None:
        lacking("pypmml is not installed")

    def assert_pmml(model):
        formula, python = visited(model)
        found = run_pmml(weigh.export(model, "pmml"), formula, python.rows)

        def pick(names):
            asked = [own_name(formula, name) for name in names]
            return [[row[name] for name in asked] for row in found]

        assert_same(python, pick(formula.total_names), pick(formula.prediction_names))
        return found, python

    return assert_pmml


@pytest.mark.system
@pytest.mark.parametrize("name", PLAIN)
def test_the_evaluator_says_what_the_model_says(name, evaluate):
    evaluate(fitted(name))


@pytest.mark.system
def test_the_evaluator_says_what_any_model_says(evaluate):
    @settings(max_examples=30, deadline=None, database=None)
    @given(models(attenuated=False, **WRITABLE))
    def holds(model):
        evaluate(model)

    holds()


@pytest.mark.system
def test_the_first_reason_code_is_what_speaks_most_for_the_second_class(evaluate):
    found, python = evaluate(fitted("evidence"))
    names = [term.name for term in Formula.of(fitted("evidence")).terms]
    weights = python.contributions[:, :, 0]
    for row, own in zip(found, weights, strict=True):
        if own.max() > 0:
            assert row["reason_1"] == names[own.argmax()]


@pytest.mark.system
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_thousand_levels_are_not_too_many(n_classes, evaluate):
    rows = [{"a": f" {i} "} for i in range(1200)] * 2
    labels = [(i * i) % n_classes for i in range(2400)]
    model = weigh.EvidenceNB().fit(rows, labels)
    formula, few = Formula.of(model), rows[:3]
    found = run_pmml(weigh.export(model, "pmml"), formula, few)
    wanted = model.predict_proba(few)
    for row, p in zip(found, wanted, strict=True):
        assert [row[name] for name in formula.prediction_names] == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize("name", REFUSED)
def test_an_attenuation_that_varies_by_row_is_refused_by_name(name):
    with pytest.raises(ValueError, match=r"PerplexedNB adjusts each row.*fit AdjustedNB"):
        weigh.export(fitted(name), "pmml")


@settings(max_examples=40, deadline=None, database=None)
@given(models(attenuated=False, **WRITABLE))
def test_names_and_levels_are_data_and_never_markup(model):
    tree = ElementTree.fromstring(weigh.export(model, "pmml"))
    fields = [e.get("name") for e in tree.iter() if e.tag.endswith("}DataField")]
    formula = Formula.of(model)
    assert fields[: len(formula.column_names)] == [*formula.column_names]


@pytest.mark.parametrize("odd", ["a\0b", "\x01", "\ud800", "\uffff"])
def test_what_xml_cannot_write_is_refused(odd):
    model = weigh.EvidenceNB().fit([{"a": odd}, {"a": "b"}] * 2, [0, 1] * 2)
    with pytest.raises(ValueError, match=re.escape("which XML cannot write")):
        weigh.export(model, "pmml")


def test_a_reason_that_xml_cannot_write_is_refused():
    model = weigh.EvidenceNB().fit([{"a": "x"}, {"a": "b"}] * 2, [0, 1] * 2)
    card = weigh.Scorecard(model, texts={"a": "bad\x01text"})
    with pytest.raises(ValueError, match=re.escape("a reason is called 'bad\\x01text'")):
        weigh.export(card, "pmml")


@pytest.mark.system
def test_the_reason_codes_of_a_card_are_its_texts_of_features_and_levels(evaluate):
    texts = {"job": {"missing": "Job not given", "b": "Job b"}, "income": {-999: "Income refused"}}
    card = weigh.Scorecard(fitted("evidence"), texts={"age": "Age"}, level_texts=texts)
    found, python = evaluate(card)
    wanted = card.reasons(python.rows, n=1).to_dict("records")
    for row, one in zip(found, wanted, strict=True):
        if one["cost_1"] > 0:
            assert row["reason_1"] == one["reason_1"]
    told = {row[f"reason_{i}"] for row in found for i in (1, 2, 3)}
    assert {"Job not given", "Job b"} <= told
