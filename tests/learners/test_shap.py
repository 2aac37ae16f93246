"""The shap package finds of the log odds what `contributions` says without sampling."""

import sys

import numpy as np
import pandas as pd
import pytest
from numba.core.dispatcher import Dispatcher
from sklearn.datasets import load_iris

from weigh import AdjustedNB, EducatedNB, EvidenceNB

MODELS = [EvidenceNB(), AdjustedNB(), EducatedNB(pairs=0)]


@pytest.fixture(scope="module")
def shap():
    """The package, in the one process that needs it; its loops run uncompiled.

    It takes seconds to import, and compiling took eleven more, for ten rows.
    """
    package = pytest.importorskip("shap")
    loops = [
        (module, name, value.py_func)
        for at, module in [*sys.modules.items()]
        if at.partition(".")[0] == "shap"
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher)
    ]
    with pytest.MonkeyPatch.context() as patch:
        for loop in loops:
            patch.setattr(*loop)
        yield package


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("algorithm", ["exact", "permutation"])
def test_shap_values_of_an_additive_model_are_contributions_less_their_mean(shap, model, algorithm):
    X, y = load_iris(return_X_y=True, as_frame=True)
    fitted = model.fit(X, y == 1)
    background = shap.maskers.Independent(X, max_samples=len(X))
    explain = shap.Explainer(fitted.decision_function, background, algorithm=algorithm, seed=0)
    found = explain(X.iloc[::15])
    parts = fitted.contributions(X).drop(columns="prior")
    expected = (parts - parts.mean()).to_numpy()[::15]
    np.testing.assert_allclose(found.values, expected, atol=1e-9)
    np.testing.assert_allclose(found.base_values, fitted.decision_function(X).mean())


def test_shap_values_made_of_contributions_add_up_for_a_table_of_text(shap):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice([*"abc"], 200) for name in ("first", "second")})
    y = (X["first"] == "a") ^ (rng.random(200) < 0.3)
    model = EvidenceNB().fit(X, y)
    parts = model.contributions(X).drop(columns="prior")
    base = model.decision_function(X).mean()
    values = shap.Explanation((parts - parts.mean()).to_numpy(), base_values=base)
    total = values.values.sum(axis=1) + values.base_values
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-12)
