"""Many weak interactions of a numeric target: pairs with one smooth prior and one scale."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import weigh
from weigh.bins import Cross
from weigh.editing.refit import Start
from weigh.educated import acceptance, regressor, selection
from weigh.educated.halves import halve
from weigh.educated.loo import LeaveOneOut
from weigh.educated.scales import log_marginal
from weigh.educated.solve import PRECISE, find_weights

N_COLUMNS, N_PAIRS = 6, 15


def make_rows(n, strength, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, N_COLUMNS))
    both = sum(X[:, i] * X[:, j] * (-1) ** (i + j) for i, j in combinations(range(N_COLUMNS), 2))
    y = X.sum(axis=1) + strength * both + 0.5 * random.normal(size=n)
    return pd.DataFrame(X, columns=[*"abcdef"]), y


def spy_on_fits(patch):
    """A list that every fit of EducatedRegressor is added to."""
    fits, plain = [], regressor.fit_and_warn
    spy = lambda *given: fits.append(plain(*given)) or fits[-1]  # noqa: E731
    patch.setattr(regressor, "fit_and_warn", spy)
    return fits


@pytest.fixture(scope="module")
def fitted():
    """A model of many weak interactions, and its fit."""
    with pytest.MonkeyPatch.context() as patch:
        fits = spy_on_fits(patch)
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


def test_a_cross_that_the_user_asked_for_has_its_own_scale(monkeypatch):
    X, y = make_rows(400, 0.25, 0)
    X["g"], X["h"] = (np.where(X[name] > 0, "high", "low") for name in "ab")
    fits = spy_on_fits(monkeypatch)
    model = weigh.EducatedRegressor(crosses=[("g", "h")]).fit(X, y)
    tied = np.array([block.tied for block in fits[0].state.problem.prior.blocks])
    assert tied.sum() == model.tied_.sum() == len(model.pairs_) > 1
    assert not model.tied_[model.evidence_.names.index("g & h")]


@pytest.mark.parametrize("seed", range(3))
def test_without_interactions_there_are_no_pairs(seed):
    model = weigh.EducatedRegressor().fit(*make_rows(400, 0.0, seed))
    assert not model.tied_.any()
    assert len(model.pairs_) <= 1


def test_the_pairs_do_not_depend_on_the_unit_of_the_target(fitted):
    model, _ = fitted
    X, y = make_rows(400, 0.25, 0)
    other = weigh.EducatedRegressor().fit(X, 1024 * y)
    assert [p.columns for p in other.pairs_] == [p.columns for p in model.pairs_]


WHY = {"why": "asked for", "who": "ada"}


def find_pulls(model, X, y):
    """The penalty matrix of each pair in a refit, by its name."""
    pull = Start.of(model, weigh.edit(model, X, y).fitted_rows).pull()[0]
    ends = np.cumsum([1, *(len(table.levels) for table in model.evidence_)])
    spans = zip(model.evidence_, ends[:-1], ends[1:], strict=True)
    return {t.name: pull[a:b, a:b] for t, a, b in spans if isinstance(t.feature, Cross)}


def test_a_refit_has_the_prior_of_the_fit(fitted, tmp_path):
    model, fit = fitted
    X, y = make_rows(400, 0.25, 0)
    weigh.save(model, tmp_path / "model.json")
    blocks = [block for block in fit.search.state.problem.prior.blocks if block.of_pair]
    scales = model.scales_[-N_PAIRS:]
    for own in (model, weigh.load(tmp_path / "model.json")):
        pulls = find_pulls(own, X, y)
        assert len(pulls) == len(blocks) == N_PAIRS
        for pull, block, scale in zip(pulls.values(), blocks, scales, strict=True):
            assert_allclose(pull, scale * block.matrix, rtol=1e-9)


def test_a_pair_added_by_hand_has_its_own_scale_in_the_next_edit_too(fitted, tmp_path):
    model, _ = fitted
    X, y = make_rows(400, 0.25, 0)
    removed, *_ = (pair.columns for pair in model.pairs_)
    first = weigh.edit(model, X, y).remove_pair(*removed, **WHY).add_pair(*removed, **WHY)
    weigh.save(first.model, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json")
    flags = dict(zip(again.evidence_.names, again.tied_, strict=True))
    added = again.evidence_.names[-1]
    assert sum(flags.values()) == N_PAIRS - 1
    assert not flags[added]
    before, after = find_pulls(first.model, X, y), find_pulls(again, X, y)
    assert_allclose(after[added], before[added])


def test_tables_of_an_older_file_and_of_an_edited_model_have_their_own_scales(tmp_path):
    X, y = make_rows(200, 0.25, 0)
    model = weigh.EducatedRegressor(pairs=0).fit(X, y)
    feature = model.evidence_.names[0]
    edited = weigh.edit(model, X, y).drop(feature, **WHY).model
    assert edited.tied_.tolist() == [False] * len(edited.evidence_.names)
    path = tmp_path / "model.json"
    weigh.save(model, path)
    data = json.loads(path.read_text())
    del data["fitted"]["tied_"], data["checksum"]
    path.write_text(json.dumps(data))
    loaded = weigh.load(path)
    assert loaded.tied_.tolist() == [False] * len(model.evidence_.names)
    weigh.save(loaded, path)
    assert weigh.load(path).tied_.dtype == bool


def test_the_pairs_of_a_numeric_target_are_ranked_once(monkeypatch):
    seen = []

    def spy(*given):
        seen.append(given)
        return rank_pairs(*given)

    rank_pairs = selection.rank_pairs
    monkeypatch.setattr(selection, "rank_pairs", spy)
    X, y = make_rows(150, 0.25, 0)
    weigh.EducatedRegressor().fit(X, y)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("weak", "seed", "replaced"), [(0.0, 1, False), (0.06, 0, False), (0.06, 2, True)]
)
def test_many_pairs_replace_few_only_if_rows_of_the_other_half_gain_beyond_chance(
    weak, seed, replaced
):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(2000, 5)), columns=[*"abcde"])
    pairs = {i + j: X[i] * X[j] for i, j in combinations("abcde", 2)}
    strong = pairs.pop("bc")
    y = random.poisson(np.exp(-1 + 0.3 * X["a"] + 0.25 * strong + weak * sum(pairs.values())))
    kept, accept = [], acceptance.PairTest.accept_together
    with pytest.MonkeyPatch.context() as patch:
        spy = lambda *given: kept.append((*given, accept(*given))) or kept[-1][-1]  # noqa: E731
        patch.setattr(acceptance.PairTest, "accept_together", spy)
        weigh.EducatedRegressor(family="poisson").fit(X, y)
    ((test, ranked, halves, few, found),) = kept
    assert few is not None
    many = acceptance.fit_pairs(replace(test.task, tied=True), ranked, test.state)
    block = test.state.problem.block
    chosen_by = 1 - halve(block, test.salts)  # each row is judged by the other half's pairs

    def losses(fit, n_pairs):
        task = replace(test.task, tied=fit.task.tied)
        states = [acceptance.fit_like(fit, task, own[:n_pairs]) for own in halves]
        each = np.array([LeaveOneOut.of(state).losses(block) for state in states])
        return each[chosen_by, np.arange(len(block))]

    gains = (losses(few, len(few.task.pairs)) - losses(many, None)) / test.noise
    error = gains.std() * np.sqrt(len(gains))
    assert replaced == (gains.sum() > max(1.645 * error, 1.0))
    assert replaced == (found is not None)


def test_few_pairs_are_kept_only_if_those_of_one_half_of_the_rows_gain_in_the_other():
    random = np.random.default_rng(1)
    X = random.integers(0, 5, (600, 9)).astype(float)
    mean = np.exp(0.5 * X[:, 0])  # no interaction, and a variance of mean + 3.3 mean^2
    y = random.poisson(mean * random.gamma(0.3, 1 / 0.3, 600))
    told, holds = [], acceptance.PairTest.holds
    with pytest.MonkeyPatch.context() as patch:
        spy = lambda *given: told.append((*given, holds(*given))) or told[-1][-1]  # noqa: E731
        patch.setattr(acceptance.PairTest, "holds", spy)
        model = weigh.EducatedRegressor(family="poisson").fit(X, y)
    ((test, few, halves, held),) = told
    n_pairs, block = len(few.task.pairs), test.state.problem.block
    other = 1 - halve(block, test.salts)
    states = [acceptance.fit_like(few, test.task, own[:n_pairs]) for own in halves]
    each = np.array([LeaveOneOut.of(state).losses(block) for state in (test.state, *states)])
    gain = each[0].sum() - each[1 + other, np.arange(len(y))].sum()
    assert n_pairs > 0
    assert gain < 0
    assert not held
    assert model.pairs_ == []
