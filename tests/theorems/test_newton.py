"""Newton's method: optimality under any loss, in a ball and in order, and steps that never rise."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from sklearn.linear_model import GammaRegressor, PoissonRegressor

from weigh.newton.ball import Search
from weigh.newton.descent import (
    Order,
    Orders,
    add_tied,
    conjugate_gradients,
    damp,
    descend,
    find_ties,
    follow,
    step_in_order,
)
from weigh.newton.regression import LOGISTIC, SOFTMAX, DesignRows, Moments, fit_coefficients

LIGHT = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class Quartic:
    """sum x^4/4 - b'x, whose Newton steps from afar are damped."""

    x: np.ndarray
    b: np.ndarray

    @property
    def loss(self):
        return float((self.x**4).sum() / 4 - self.b @ self.x)

    @property
    def gradient(self):
        return self.x**3 - self.b

    def moved(self, step):
        return Quartic(self.x - step, self.b)


def newton_step(point):
    return point.gradient / (3 * point.x**2 + 1e-12)


@LIGHT
@given(seeds)
def test_damped_steps_never_raise_the_loss_and_end_at_the_minimum(seed):
    rng = np.random.default_rng(seed)
    start = rng.choice([-1e-3, 1e-3], 3) * rng.uniform(0.5, 2, 3)  # nearer to 0, too many halvings
    seen = [Quartic(start, rng.uniform(1, 9, 3))]
    while np.abs(seen[-1].gradient).max() > 1e-12 and len(seen) < 99:
        seen.append(damp(seen[-1], newton_step(seen[-1])))
    losses = [point.loss for point in seen]
    assert (np.diff(losses) <= 1e-11 * np.abs(losses[:-1])).all()
    found = descend(seen[0], newton_step)
    np.testing.assert_allclose(found.x, np.cbrt(found.b), rtol=1e-9)


def test_a_step_uphill_is_not_taken():
    here = Quartic(np.ones(1), np.full(1, 8.0))
    assert damp(here, -newton_step(here)) is None


@LIGHT
@given(seed=seeds, shape=st.sampled_from([(7,), (7, 1), (4, 3)]))
def test_conjugate_gradients_solve_whatever_the_shape(seed, shape):
    rng = np.random.default_rng(seed)
    n = int(np.prod(shape))
    root = rng.normal(size=(n, n))
    A, right = root @ root.T + np.eye(n), rng.normal(size=shape)
    diagonal = np.diag(A).reshape(shape)
    found, done = conjugate_gradients(
        lambda x: (A @ x.ravel()).reshape(shape), right, lambda x: x / diagonal, 1e-10, 50 * n
    )
    assert done
    np.testing.assert_allclose(found.ravel(), np.linalg.solve(A, right.ravel()), atol=1e-6)
    spread = np.arange(1.0, n + 1).reshape(shape)  # as many eigenvalues as numbers
    assert not conjugate_gradients(lambda x: spread * x, right, lambda x: x, 1e-10, 2)[1]


# ---------------------------------------------------------------- losses


@pytest.mark.parametrize("loss", [LOGISTIC, SOFTMAX])
def test_slopes_and_curvatures_are_the_derivatives_of_the_loss(loss):
    rng = np.random.default_rng(0)
    shape = (6, 1) if loss is LOGISTIC else (6, 3)
    totals, weight = rng.normal(size=shape) * 3, rng.uniform(0.5, 2, 6)
    labels = rng.integers(0, 2, 6).astype(np.uint8)
    here, step = loss.moments(totals, labels, weight), 1e-5
    for cell in np.ndindex(*shape):
        change = np.zeros(shape)
        change[cell] = step
        ahead, behind = (loss.moments(totals + s * change, labels, weight) for s in (1, -1))
        slope = (ahead.loss - behind.loss) / (2 * step)
        assert here.slope[cell] == pytest.approx(slope, abs=1e-8)
        bent = (ahead.slope - behind.slope) / (2 * step)
        assert here.curvature[cell] == pytest.approx(bent[cell], abs=1e-8)
        np.testing.assert_allclose(here.multiply_hessian(change, weight) / step, bent, atol=1e-8)


def test_a_share_of_ones_is_as_many_rows_of_each_class():
    rng = np.random.default_rng(1)
    totals, ones, zeros = rng.normal(size=9) * 20, *rng.integers(1, 5, (2, 9)).astype(float)
    both = LOGISTIC.moments(totals, ones / (ones + zeros), ones + zeros)
    of_ones = LOGISTIC.moments(totals, np.ones(9), ones)
    of_zeros = LOGISTIC.moments(totals, np.zeros(9), zeros)
    assert both.loss == pytest.approx(of_ones.loss + of_zeros.loss, rel=1e-12)
    np.testing.assert_allclose(both.slope, of_ones.slope + of_zeros.slope, atol=1e-12)
    np.testing.assert_allclose(both.curvature, of_ones.curvature + of_zeros.curvature)


class Poisson:
    def moments(self, totals, target, weight):
        mean = np.exp(totals)
        loss = weight @ (mean - target * totals)
        return Moments(loss, weight * (mean - target), weight * mean)


class Gamma:
    def moments(self, totals, target, weight):
        ratio = target * np.exp(-totals)
        return Moments(weight @ (totals + ratio), weight * (1 - ratio), weight * ratio)


class Gaussian:
    def moments(self, totals, target, weight):
        missed = totals - target
        return Moments(weight @ missed**2 / 2, weight * missed, weight)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("family", [Poisson, Gamma, Gaussian])
def test_a_loss_of_any_exponential_family_can_be_passed_in(family, seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(200, 3)), rng.uniform(0.5, 2, 200)
    mean = np.exp(X @ rng.normal(size=3) / 2)
    target = rng.poisson(mean).astype(float) if family is Poisson else rng.gamma(2, mean / 2) + 0.01
    design = np.column_stack([np.ones(200), X])
    found = fit_coefficients(DesignRows(design, target, weight, family())).b
    if family is Gaussian:
        root = np.sqrt(weight)
        expected = np.linalg.lstsq(design * root[:, None], target * root)[0]
    else:
        rival = {Poisson: PoissonRegressor, Gamma: GammaRegressor}[family]
        rival = rival(alpha=0, tol=1e-12, max_iter=1000, solver="newton-cholesky")
        rival.fit(X, target, sample_weight=weight)
        expected = np.append(rival.intercept_, rival.coef_)
    np.testing.assert_allclose(found, expected, atol=1e-7)


# ---------------------------------------------------------------- in a ball, in order


@dataclass(frozen=True)
class Answer:
    loss: float
    gradient: np.ndarray
    hessian: np.ndarray


def bowl(A, b, ask):
    at = ask.at
    return Answer(float(at @ A @ at / 2 - b @ at), A @ at - b, A)


@LIGHT
@given(seed=seeds, norm=st.sampled_from([1e-3, 0.1, 1.0, 100.0, np.inf]))
def test_the_least_in_a_ball_is_a_ridge_solution(seed, norm):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    A, b = root @ root.T + 0.1 * np.eye(4), rng.normal(size=4)
    found = follow(Search(np.zeros(4), 1e-11).solve(norm), partial(bowl, A, b))
    assert found.converged
    assert found.norm <= norm * (1 + 1e-9)
    ridge = np.linalg.solve(A + found.multiplier * np.eye(4), b)
    np.testing.assert_allclose(found.at, ridge, rtol=1e-6, atol=1e-8)
    assert found.multiplier == 0 or found.norm == pytest.approx(norm)


def test_a_loss_without_a_least_value_is_called_running():
    def slope(ask):  # exp(-x) falls for ever
        e = np.exp(-ask.at)
        return Answer(float(e.sum()), -e, np.diag(e))

    assert follow(Search(np.zeros(1), 1e-300).solve(), slope).running
    stop = follow(Search(np.zeros(1), 0.0).full_steps(lambda here: here.loss < 0.01), slope)
    assert stop.stopped
    assert stop.at[0] == pytest.approx(5.0)  # each full step is one


@dataclass(frozen=True)
class Squares:
    """Weighted least squares of each number by itself."""

    weights: np.ndarray
    y: np.ndarray
    rows: np.ndarray

    @property
    def loss(self):
        return float((self.rows * (self.weights - self.y) ** 2).sum() / 2)

    @property
    def gradient(self):
        return self.rows * (self.weights - self.y)

    def moved(self, step):
        return Squares(self.weights - step, self.y, self.rows)

    def solve(self, right):
        return right / self.rows


@LIGHT
@given(seed=seeds, sign=st.sampled_from([1, -1]))
def test_least_squares_in_order_is_isotonic_regression(seed, sign):
    rng = np.random.default_rng(seed)
    y, rows = rng.normal(size=(9, 1)), rng.uniform(0.5, 3, (9, 1))
    orders = Orders([Order(np.arange(9), sign)])
    start = Squares(np.zeros((9, 1)), y, rows)
    near = start.moved(step_in_order(start.weights, start.gradient, start.solve, orders))
    rival = isotonic_regression(y[:, 0], weights=rows[:, 0], increasing=sign > 0).x
    np.testing.assert_allclose(near.weights[:, 0], rival, atol=1e-6)

    def fit(tied):
        ties = orders.ties(tied, 9)
        means = add_tied(rows * y, ties) / add_tied(rows, ties)
        return Squares(means[ties], y, rows)

    exact = find_ties(
        orders,
        orders.rises(near.weights) <= 1e-6,
        fit,
        lambda found: found.weights,
        lambda found: orders.multipliers(found.gradient) < -1e-9,
    )
    np.testing.assert_allclose(exact.weights[:, 0], rival, atol=1e-12)
