"""Model files of every release are read, and predict what they did."""

import json

import numpy as np
import pytest
from tests.make_corpus import CORPUS, predict

import weigh

FILES = sorted(CORPUS.glob("*/*.json"))
MODELS = [path for path in FILES if path.stem != "predictions"]


def test_each_release_has_its_files():
    assert {path.parent.name for path in MODELS} >= {"0.1.0"}
    for folder in CORPUS.iterdir():
        expected = json.loads((folder / "predictions.json").read_text("utf-8"))["expected"]
        assert {path.stem for path in MODELS if path.parent == folder} == {*expected}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_a_release_predicts_what_it_did(path):
    known = json.loads((path.parent / "predictions.json").read_text("utf-8"))
    found = predict(weigh.load(path), known["rows"])
    np.testing.assert_allclose(found, known["expected"][path.stem], rtol=1e-12, atol=1e-300)
