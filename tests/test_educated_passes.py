"""How a fit of EducatedNB runs: the passes it counts, what it says when it stops, and threads."""

import re

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from weigh import EducatedNB
from weigh.educated.design import Rows


def draw(seed=0, n_rows=400, n_columns=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n_rows) > 0).astype(int)
    return X, y


@pytest.mark.parametrize(
    ("asked", "more"), [({}, 0), ({"pairs": 3}, 2), ({"monotonic_cst": {0: 1}}, 0)]
)
def test_every_look_at_the_rows_is_counted(monkeypatch, asked, more):
    calls, moments = [], Rows.moments
    monkeypatch.setattr(Rows, "moments", lambda *given: calls.append(1) or moments(*given))
    model = EducatedNB(random_state=0, **asked).fit(*draw())
    assert model.n_passes_ == len(calls) + more  # pairs are ranked, and counted
    assert 5 < model.n_passes_ < 60


def test_products_with_the_hessian_of_a_wide_table_are_passes_too(monkeypatch):
    whole = EducatedNB(bins=8).fit(*draw())
    monkeypatch.setattr("weigh.educated.solve.FULL", 10)
    pieces = EducatedNB(bins=8).fit(*draw())
    assert pieces.n_passes_ > 2 * whole.n_passes_


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        ("fit.ENOUGH", 0.0, "relative gradient of .*divide sample_weight by its mean"),
        ("scales.UPDATES", 1, "scales still changed after 1 updates.*columns that repeat others"),
    ],
)
def test_a_fit_that_stops_early_says_so_and_what_to_do(monkeypatch, where, value, words):
    X, y = draw()
    EducatedNB(bins=8).fit(X, y)  # without a word
    monkeypatch.setattr(f"weigh.educated.{where}", value)
    with pytest.warns(ConvergenceWarning, match="EducatedNB has not converged: the") as said:
        model = EducatedNB(bins=8).fit(X, y)
    assert re.search(words, str(said[0].message))
    assert said[0].filename == __file__
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("asked", [{"pairs": 5}, {"monotonic_cst": {0: 1, 2: -1}}])
def test_the_number_of_threads_of_blas_changes_no_bit(asked):
    X, y = draw(1, n_rows=500, n_columns=6)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(EducatedNB(random_state=0, **asked).fit(X, y))
    one, two = (model.evidence_ for model in found)
    np.testing.assert_array_equal(one.covariance, two.covariance)
    np.testing.assert_array_equal(*(model.decision_function(X) for model in found))
    assert found[0].held_out_loss_ == found[1].held_out_loss_
