"""Many weak interactions of a numeric target: pairs with one smooth prior and one scale."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import weigh
from weigh.educated import regressor
from weigh.educated.scales import log_marginal
from weigh.educated.solve import PRECISE, find_weights

N_COLUMNS, N_PAIRS = 6, 15


def make_rows(n, strength, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, N_COLUMNS))
    both = sum(X[:, i] * X[:, j] * (-1) ** (i + j) for i, j in combinations(range(N_COLUMNS), 2))
    return X, X.sum(axis=1) + strength * both + 0.5 * random.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    """A model of many weak interactions, and its fit."""
    with pytest.MonkeyPatch.context() as patch:
        fits, plain = [], regressor._fit_and_warn
        patch.setattr(regressor, "_fit_and_warn", lambda task: fits.append(plain(task)) or fits[-1])
        model = weigh.EducatedRegressor().fit(*make_rows(400, 0.25, 0))
    return model, fits[0]


def test_many_weak_interactions_lower_the_error_on_new_rows(fitted):
    model, _ = fitted
    alone = weigh.EducatedRegressor(pairs=0).fit(*make_rows(400, 0.25, 0))
    X, y = make_rows(2000, 0.25, 1)
    errors = [np.sqrt(np.mean((one.predict(X) - y) ** 2)) for one in (model, alone)]
    assert len(model.pairs_) == N_PAIRS
    assert errors[0] < 0.9 * errors[1]


def test_their_scale_is_one_and_has_the_largest_marginal_likelihood(fitted):
    _, fit = fitted
    state, noise = fit.search.state, fit.search.noise
    tied = np.array([block.tied for block in state.problem.prior.blocks])
    assert tied.sum() == N_PAIRS
    assert np.ptp(state.scales[tied]) == 0
    best = log_marginal(state, noise)
    for factor in (0.5, 2.0):
        other = state.rescale(np.where(tied, factor * state.scales, state.scales))
        assert log_marginal(find_weights(other, PRECISE), noise) < best


@pytest.mark.parametrize("seed", range(3))
def test_without_interactions_there_are_no_pairs(seed):
    model = weigh.EducatedRegressor().fit(*make_rows(400, 0.0, seed))
    assert len(model.pairs_) < N_PAIRS


def test_the_pairs_do_not_depend_on_the_unit_of_the_target(fitted):
    model, _ = fitted
    X, y = make_rows(400, 0.25, 0)
    other = weigh.EducatedRegressor().fit(X, 1024 * y)
    assert [p.columns for p in other.pairs_] == [p.columns for p in model.pairs_]
