"""Few rows, many weights: the Hessian by way of the rows is the Hessian of the weights."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from tests.pairs import every_pair

from weigh import EducatedNB
from weigh.educated.dual import Kernel, Part
from weigh.educated.loo import leave_one_out
from weigh.educated.matrices import Covariance
from weigh.educated.monotone import hold_orders
from weigh.educated.prior import PriorBlock
from weigh.educated.scales import Update, begin, find_scales, log_marginal
from weigh.educated.solve import Problem, find_weights, state_at
from weigh.educated.uncertainty import add_scale_uncertainty, information


def draw_frame(seed, n_rows, n_classes=2):
    """Numbers with gaps and a code, categories, a column that tells nothing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=[*"abcd"])
    total = frame["a"] - frame["b"] ** 2 + rng.normal(size=n_rows)
    frame.loc[rng.random(n_rows) < 0.2, "c"] = np.nan
    frame.loc[rng.random(n_rows) < 0.2, "d"] = -999.0
    frame["e"] = rng.choice([*"uvw"], n_rows)
    frame["same"] = "x"
    y = np.digitize(total, np.quantile(total, np.arange(1, n_classes) / n_classes))
    return frame, y, rng.integers(1, 4, n_rows)


class Primal(Problem):
    """The same problem with a matrix of all weights."""

    @property
    def dual(self):
        return False


def fitted_problem(frame, y, weight=None, **parameters):
    """The problem that a fit solves."""
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        spy = lambda problem, start=None: kept.append(problem) or find_scales(problem, start)  # noqa: E731
        patch.setattr("weigh.educated.fit.find_scales", spy)
        EducatedNB(**{"pairs": 0, "special_values": {"d": [-999]}} | parameters).fit(
            frame, y, weight
        )
    return kept[-1]


def as_primal(problem):
    return Primal(problem.rows, problem.design, problem.target, problem.prior, problem.ties)


def without_common(weights):
    """One number more for the intercept of every class says nothing."""
    weights = weights.copy()
    if weights.shape[1] > 1:
        weights[0] -= weights[0].mean()
    return weights


def agree(one, other, **bounds):
    """Two states are the same fit, and know the same about it."""
    found, expected = (without_common(state.weights) for state in (one, other))
    np.testing.assert_allclose(found, expected, **bounds)
    for mine, theirs in zip(one.factor.by_class, other.factor.by_class, strict=True):
        np.testing.assert_allclose(mine[0].inverse, theirs[0].inverse, rtol=1e-6, atol=1e-9)
    assert one.factor.log_det == pytest.approx(other.factor.log_det, rel=1e-9)
    mine, theirs = (Update.at(state).there for state in (one, other))
    np.testing.assert_allclose(mine, theirs, atol=1e-6)
    assert log_marginal(one) == pytest.approx(log_marginal(other), rel=1e-9)
    assert leave_one_out(one).total == pytest.approx(leave_one_out(other).total, rel=1e-7)


@every_pair(n_classes=[2, 3], parameters=[{}, {"pairs": 2, "random_state": 0}], seed=range(4))
def test_the_dual_finds_the_weights_of_the_primal(n_classes, parameters, seed):
    frame, y, weight = draw_frame(seed, 25 + 12 * seed, n_classes)
    problem = fitted_problem(frame, y, weight if seed % 2 else None, **parameters)
    assert problem.dual
    found = find_weights(find_scales(problem).state, 1e-11)
    start = state_at(as_primal(problem), np.zeros_like(found.weights), found.scales)
    agree(found, find_weights(start, 1e-11), atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_scales_go_the_same_way_in_the_dual_and_in_the_primal(seed):
    problem = fitted_problem(*draw_frame(seed, 50)[:2])
    one, other = find_scales(problem), find_scales(as_primal(problem))
    np.testing.assert_allclose(one.marginal, other.marginal, rtol=1e-9)
    np.testing.assert_allclose(one.state.scales, other.state.scales, rtol=1e-6)
    np.testing.assert_allclose(one.state.weights, other.state.weights, atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_the_dual_holds_orders_as_the_primal_does(seed):
    frame, y, _ = draw_frame(seed, 50)
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        spy = lambda state, orders: seen.append((state, orders)) or hold_orders(state, orders)  # noqa: E731
        patch.setattr("weigh.educated.fit.hold_orders", spy)
        EducatedNB(pairs=0, monotonic_cst={"a": -1, "b": 1}).fit(frame, y)
    ((state, orders),) = seen
    assert state.problem.dual
    primal = find_weights(state_at(as_primal(state.problem), state.weights, state.scales), 1e-11)
    found, expected = (hold_orders(at, orders) for at in (state, primal))
    np.testing.assert_array_equal(found.ties, expected.ties)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-6)


def test_a_wide_table_of_few_rows_is_exact_and_has_errors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 60))
    y = (X[:, :3].sum(axis=1) + rng.normal(size=120) > 0).astype(int)
    model = EducatedNB(pairs=0).fit(X, y)
    assert all(table.errors is not None for table in model.evidence_.tables)
    assert model.predict_proba(X)[np.arange(120), y].mean() > 0.6


@every_pair(n_rows=[1, 63, 64, 65, 150], lines=[1, 20, 1024])
def test_sums_over_stacks_of_tables_are_those_of_each_two_rows(n_rows, lines, monkeypatch):
    monkeypatch.setattr("weigh.educated.dual.LINES", lines)
    rng = np.random.default_rng(n_rows)
    parts = []
    for side in (3, 9, 2, 40):
        half = rng.normal(size=(side, side))
        block = PriorBlock(np.arange(10 * len(parts), 10 * len(parts) + side), side)
        parts.append(Part(block, rng.integers(0, side, n_rows), half + half.T, 0.0))
    kernel, scales = Kernel(tuple(parts), (), csr_array((n_rows, 100))), rng.uniform(1, 9, 4)
    tables = [part.table[np.ix_(part.levels, part.levels)] for part in parts]
    expected = sum(table / scale for table, scale in zip(tables, scales, strict=True))
    np.testing.assert_allclose(np.tril(kernel.matrix(scales)), np.tril(expected), atol=1e-13)
    rows = rng.normal(size=(n_rows, n_rows))
    found = kernel.traces(np.tril(rows))
    both = np.tril(rows) + np.tril(rows, -1).T
    np.testing.assert_allclose(found, [(both * table).sum() for table in tables], atol=1e-10)


def test_a_mapped_covariance_is_that_of_the_mapped_weights():
    rng = np.random.default_rng(0)
    half, matrix = rng.normal(size=(6, 6)), rng.normal(size=(4, 6))
    covariance = Covariance(half @ half.T, rng.normal(size=(6, 1)), rng.normal(size=(6, 3)))
    dense, ties = covariance.matrix, np.array([0, 0, 2, 5])
    expected = half @ half.T + covariance.plus @ covariance.plus.T
    np.testing.assert_allclose(dense, expected - covariance.minus @ covariance.minus.T)
    np.testing.assert_allclose(covariance.diagonal, dense.diagonal())
    mapped = covariance.mapped(lambda columns: matrix @ columns)
    np.testing.assert_allclose(mapped.matrix, matrix @ dense @ matrix.T)
    np.testing.assert_allclose(covariance.take(ties).matrix, dense[np.ix_(ties, ties)])
    np.testing.assert_allclose(covariance @ matrix.T, dense @ matrix.T)
    np.testing.assert_allclose(covariance.times(2.5).matrix, 2.5 * dense)
    np.testing.assert_array_equal(Covariance.of(dense).matrix, dense)


def literal_information(state, b):
    """I_b = tr(B K_b B K_b)/2, where B is the inverse of the rows' marginal covariance."""
    problem = state.problem
    kernel, piece = problem.kernel, state.factor.by_class[0][0]
    C, part = np.diag(piece.curvature), kernel.parts[b]
    X = kernel.Z.toarray()
    X[:, 0] = 1.0
    B = C - C @ X @ piece.inverse @ X.T @ C
    K = part.table[np.ix_(part.levels, part.levels)] / state.scales[b]
    return 0.5 * np.trace(B @ K @ B @ K)


@pytest.mark.parametrize("seed", range(3))
def test_the_uncertainty_of_scales_is_that_of_the_delta_method(seed):
    frame, y, weight = draw_frame(seed, 40)
    problem = fitted_problem(frame, y, weight)
    scales = np.random.default_rng(seed).uniform(0.5, 5, len(problem.prior.blocks))
    state = find_weights(begin(problem, scales), 1e-13)
    covariance = state.factor.by_class[0][0].covariance
    columns = add_scale_uncertainty(covariance, state).plus[:, 1:]
    assert problem.dual
    for b, block in enumerate(problem.prior.blocks):
        known = information(covariance, block, scales[b])
        assert known == pytest.approx(literal_information(state, b), rel=1e-6, abs=1e-9)
        logs = [np.log(scales) + sign * 1e-3 * (np.arange(len(scales)) == b) for sign in (-1, 1)]
        low, high = (find_weights(state.rescale(np.exp(own)), 1e-13).weights for own in logs)
        slope = (high - low)[:, 0] / 2e-3
        found = -columns[:, b] * np.sqrt(known + 3 / np.pi**2)
        np.testing.assert_allclose(found, slope, atol=1e-5)
