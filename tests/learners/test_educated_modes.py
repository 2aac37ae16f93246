"""The Hessian of many classes in modes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.learners.test_educated_solve import (
    LIGHT,
    SCALES,
    draw_rows,
    literal_gradient,
    literal_hessian,
    literal_penalty,
    make_problem,
    one_hot,
    seeds,
    start,
)

from weigh.educated import loo, modes, solve
from weigh.educated.loo import leave_one_out
from weigh.educated.matrices import BlockDiagonal
from weigh.educated.scales import Update, find_scales, log_marginal
from weigh.educated.solve import PRECISE, find_weights


@pytest.fixture(autouse=True)
def _classes_that_do_not_fit(monkeypatch):
    monkeypatch.setattr(solve, "ACROSS", 0)  # neither the whole Hessian nor one by way of the rows


def draw_problem(seed, n_classes=3, **asked):
    sizes, codes, rows = draw_rows(seed, n_classes=n_classes, **asked)
    return sizes, codes, rows, make_problem(sizes, codes, rows)


@LIGHT
@given(seed=seeds, weighted=st.booleans())
def test_rows_and_penalty_are_diagonals_in_the_modes_of_a_column(seed, weighted):
    sizes, codes, rows, problem = draw_problem(seed, weighted=weighted)
    P, found = literal_penalty(sizes, codes, rows, SCALES), problem.modes
    V = found.basis.sparse.toarray()
    np.testing.assert_allclose(
        V.T @ P @ V, np.diag(found.penalty(np.array(SCALES))), atol=1e-6 * P.max()
    )
    D = np.diag(one_hot(sizes, codes).T @ rows.weight)
    np.testing.assert_allclose(
        (V.T @ D @ V)[1:, 1:], np.diag(found.eigenvalues[1:]), atol=1e-6 * D.max()
    )


@pytest.mark.parametrize("most", [1, 6, 100])
@LIGHT
@given(seed=seeds, weighted=st.booleans())
def test_the_hessian_of_the_first_modes_is_the_literal_one(most, seed, weighted):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modes, "MODES", most)
        sizes, codes, rows, problem = draw_problem(seed, weighted=weighted)
        state, X = start(problem, SCALES), one_hot(sizes, codes)
        V, kept, rest = problem.modes.basis.sparse.toarray(), problem.modes.kept, problem.modes.rest
        assert len(kept) == min(most, len(V))
        for k, piece in enumerate(pieces[0] for pieces in state.factor.by_class):
            P = literal_penalty(sizes, codes, rows, SCALES)
            H = V.T @ literal_hessian(X, P, rows, state.weights, k) @ V
            np.testing.assert_allclose(
                piece.factor @ piece.factor.T, H[np.ix_(kept, kept)], atol=1e-9
            )
            np.testing.assert_allclose(piece.entries, H.diagonal()[rest])


@pytest.mark.parametrize("most", [1, 6, 100])
@pytest.mark.parametrize("n_classes", [3, 5])
def test_the_weights_are_those_of_least_loss_however_few_modes_share_a_matrix(
    monkeypatch, most, n_classes
):
    monkeypatch.setattr(modes, "MODES", most)
    sizes, codes, rows, problem = draw_problem(7, n_classes, n_rows=300)
    assert problem.modes is not None
    search = find_scales(problem)
    P = literal_penalty(sizes, codes, rows, search.state.scales)
    assert literal_gradient(one_hot(sizes, codes), P, rows, search.state.weights) < 1e-8
    assert (np.diff(search.marginal) > 0).all()


def test_all_modes_together_know_what_the_blocks_of_the_classes_do(monkeypatch):
    *_, problem = draw_problem(5, n_rows=400)
    state = find_weights(start(problem, SCALES), PRECISE)
    monkeypatch.setattr(solve, "ACROSS", 1 << 25)
    *_, whole = draw_problem(5, n_rows=400)
    assert problem.modes is not None
    assert whole.modes is None
    other = find_weights(start(whole, SCALES), PRECISE)
    np.testing.assert_allclose(state.weights[1:], other.weights[1:], atol=1e-6)
    right = np.random.default_rng(0).normal(size=state.weights.shape)
    np.testing.assert_allclose(state.factor.solve(right), other.factor.solve(right), rtol=1e-4)
    assert log_marginal(state) == pytest.approx(log_marginal(other), rel=1e-8)
    np.testing.assert_allclose(Update.at(state).there, Update.at(other).there, atol=1e-6)
    assert leave_one_out(state).total == pytest.approx(leave_one_out(other).total, rel=1e-6)


@pytest.mark.parametrize("most", [1, 6, 100])
def test_variances_of_totals_are_the_same_by_modes_and_by_levels(monkeypatch, most):
    monkeypatch.setattr(modes, "MODES", most)
    *_, problem = draw_problem(5, n_rows=400)
    state, told = start(problem, SCALES), []
    for many in (1, 1000):
        monkeypatch.setattr(loo, "MANY", many)
        told.append(leave_one_out(state).total)
    assert told[0] == pytest.approx(told[1], rel=1e-10)


def test_the_more_modes_share_a_matrix_the_less_those_that_stand_alone_change(monkeypatch):
    *_, exact = draw_problem(5, n_rows=400)
    known = find_weights(start(exact, SCALES), PRECISE)
    moved, told = [], []
    for most in (6, 8, 10, 12):
        monkeypatch.setattr(modes, "MODES", most)
        *_, problem = draw_problem(5, n_rows=400)
        state = find_weights(start(problem, SCALES), PRECISE)
        assert len(problem.modes.rest) > 5
        moved.append(np.abs(Update.at(state).there - Update.at(known).there).max())
        told.append(abs(leave_one_out(state).total / leave_one_out(known).total - 1))
    assert (np.diff(moved) < 0).all()
    assert (np.diff(told) < 0).all()
    assert moved[-1] < 0.01
    assert told[0] < 0.02
    assert told[-1] < 0.001


def test_a_matrix_of_blocks_is_the_dense_one():
    rng = np.random.default_rng(0)
    places = np.split(rng.permutation(16)[:14], np.cumsum([3, 3, 5, 2]))
    matrices = [rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), rng.normal(size=(5, 5)), None]
    dense, blocks = np.zeros((16, 16)), [*zip(places, matrices, strict=False)]
    for at, matrix in blocks:
        dense[np.ix_(at, at)] = np.eye(len(at)) if matrix is None else matrix
    found, right = BlockDiagonal.of(16, blocks), rng.normal(size=(16, 2))
    np.testing.assert_allclose(found @ right, dense @ right)
    np.testing.assert_allclose(found.turned @ right, dense.T @ right)
    np.testing.assert_array_equal(found.sparse.toarray(), dense)
    assert not (BlockDiagonal.of(16, []) @ right).any()
