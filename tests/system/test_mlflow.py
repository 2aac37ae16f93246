"""The MLflow example of the docs runs, and gives the model's own probabilities.

MLflow lowers pyarrow: `make test-mlflow` runs this in an environment of its own.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import weigh

PAGE = Path(__file__).parents[2] / "docs" / "ecosystem.md"


@pytest.mark.filterwarnings("ignore")  # of MLflow, about itself
def test_a_model_that_mlflow_saved_predicts_the_same_bits_and_knows_its_columns(
    tmp_path, monkeypatch
):
    mlflow = pytest.importorskip("mlflow")
    skops = pytest.importorskip("skops")
    pytest.importorskip("skops.io")
    monkeypatch.chdir(tmp_path)
    people = weigh.datasets.titanic().to_pandas()
    X, y = people.drop(columns="Survived"), people["Survived"]
    names = {"weigh": weigh, "skops": skops, "X": X, "y": y}
    code = re.search(r"^```py\n(import mlflow.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    exec(code.group(1), names)
    expected = weigh.EducatedNB().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(names["again"].predict_proba(X), expected)
    np.testing.assert_array_equal(names["probabilities"], expected)
    signature = mlflow.models.get_model_info("mlflow_model").signature
    assert signature.inputs.input_names() == [*X.columns]
    with pytest.raises(mlflow.exceptions.MlflowException, match="Sex"):
        mlflow.pyfunc.load_model("mlflow_model").predict(X.drop(columns="Sex"))
