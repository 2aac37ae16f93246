"""Model files of every release are read, and predict what they did."""

import json

import numpy as np
import pytest
from tests.make_corpus import CORPUS, predict

import weigh
from weigh.frames import read
from weigh.predicting import StoredTable
from weigh.store import load_scorer
from weigh.store.model import BODIES

FILES = sorted(CORPUS.glob("*/*.json"))
MODELS = [path for path in FILES if path.stem != "predictions"]
ALONE = [path for path in MODELS if isinstance(load_scorer(path), StoredTable)]
WITHOUT_SHEETS = {"mean", "rest", "vote"}


def test_each_release_has_its_files():
    assert {path.parent.name for path in MODELS} >= {"0.1.0"}
    for folder in CORPUS.iterdir():
        expected = json.loads((folder / "predictions.json").read_text("utf-8"))["expected"]
        assert {path.stem for path in MODELS if path.parent == folder} == {*expected}


def test_the_newest_release_has_files_of_every_kind_version_and_learner():
    folder = CORPUS / weigh.__version__
    data = [json.loads(path.read_text("utf-8")) for path in MODELS if path.parent == folder]
    models = [one for one in data if one["format"] == "weigh"]
    assert {body for body, *_ in BODIES} <= {key for one in models for key in one}
    assert {one["version"] for one in models} == {1, 2}
    fitted = {name for name in weigh.__all__ if hasattr(getattr(weigh, name), "balance_sheet")}
    learners = {*fitted, "C44Classifier"} - {"Evidence", "Scorecard"}
    assert {one["learner"] for one in models} == learners
    assert any("scorecard" in one["format"] for one in data)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_a_release_predicts_what_it_did(path):
    known = json.loads((path.parent / "predictions.json").read_text("utf-8"))
    found = predict(weigh.load(path), known["rows"])
    np.testing.assert_allclose(found, known["expected"][path.stem], rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_scores_and_explains_to_the_bit_as_its_model_does(path):
    """Where the tables are enough, no learner is loaded."""
    rows = json.loads((path.parent / "predictions.json").read_text("utf-8"))["rows"]
    scorer, model = load_scorer(path), weigh.load(path)
    table = read(rows)
    alone, whole = scorer._score_columns(table), model._score_columns(table)
    assert [*alone] == [*whole]
    for name, column in alone.items():
        np.testing.assert_array_equal(column, whole[name])
    for row in () if path.stem in WITHOUT_SHEETS else rows:
        assert repr(scorer._explain_case(row, None, None)) == repr(
            model._explain_case(row, None, None)
        )


TEXTS = ("python", "pmml", pytest.param("sql", marks=pytest.mark.needs("sqlglot")), "calculator")


@pytest.mark.parametrize("to", TEXTS)
@pytest.mark.parametrize("path", ALONE, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_is_exported_to_the_letter_as_its_model_is(path, to):
    def write(model):
        try:
            return weigh.calculator(model) if to == "calculator" else weigh.export(model, to)
        except ValueError as error:
            return str(error)

    assert write(load_scorer(path)) == write(weigh.load(path))


def test_the_tables_of_every_classifier_that_adds_them_up_are_enough():
    alone = {path.stem for path in ALONE}
    assert alone == {"evidence", "adjusted", "weighted", "boosted", "educated", "grouped",
                     "recalibrated", "branching", "three-classes", "density",
                     "margins"}  # fmt: skip
