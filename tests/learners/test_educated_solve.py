"""EducatedNB's weights and scales: optimality, limits, pieces, and the marginal likelihood."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from scipy.stats import logistic
from sklearn.linear_model import LogisticRegression

from weigh import EducatedNB
from weigh.bins import Feature
from weigh.educated import scales as scales_module
from weigh.educated import solve
from weigh.educated.design import Design, Source, Target
from weigh.educated.prior import HELD, Prior, curve, prior_of, walk
from weigh.educated.scales import TABLES, Update, expect_variances, find_scales, log_marginal
from weigh.educated.solve import PRECISE, Problem, find_weights, polish, state_at
from weigh.engine import CodedRows

LIGHT = settings(max_examples=10, deadline=None)
seeds = st.integers(0, 2**32 - 1)


# ---------------------------------------------------------------- problems, and literal versions


@dataclass(frozen=True)
class Rows:
    """The class of each row, and its weight."""

    labels: np.ndarray
    weight: np.ndarray
    n_classes: int


def draw_rows(seed, n_rows=120, n_classes=2, weighted=False):
    """Codes of a category, a walk with a missing level, and another category; some of no level."""
    rng = np.random.default_rng(seed)
    sizes = [int(rng.integers(2, 6)), int(rng.integers(4, 12)) + 1, 3]
    codes = np.column_stack([rng.integers(0, m, n_rows) for m in sizes])
    effects = [rng.normal(size=(m, n_classes)) for m in sizes]
    logits = sum(effect[codes[:, j]] for j, effect in enumerate(effects))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    labels[:n_classes] = np.arange(n_classes)
    codes[rng.random(n_rows) < 0.1, 2] = sizes[2]  # no answer, and no evidence
    weight = rng.uniform(0.2, 3, n_rows) if weighted else np.ones(n_rows)
    return sizes, codes, Rows(labels, weight, n_classes)


def features_of(sizes):
    walk_cuts = tuple(map(float, range(sizes[1] - 2)))  # one interval more, and missing
    return [
        Feature("a", values=tuple(range(sizes[0]))),
        Feature("b", cuts=walk_cuts, has_missing=True),
        Feature("c", values=tuple(range(sizes[2])), skip_missing=True),
    ]


def make_problem(sizes, codes, rows, features=None):
    design = Design(tuple(Source.of(j, m) for j, m in enumerate(sizes)))
    coded = CodedRows([*np.ascontiguousarray(codes.T)], rows.labels, rows.weight)
    target = Target(np.bincount(rows.labels, rows.weight, rows.n_classes))
    blocks, centres = [], []
    for j, feature in enumerate(features or features_of(sizes)):
        counts = np.zeros((sizes[j] + 1, rows.n_classes))
        np.add.at(counts, (codes[:, j], rows.labels), rows.weight)
        own, held = prior_of(feature, counts[:-1], design.spans[j].start)
        blocks, centres = [*blocks, *own], [*centres, *held]
    return Problem(coded, design, target, Prior(tuple(blocks), tuple(centres)))


def one_hot(sizes, codes):
    """The intercept, and a column of zeros and ones per level."""
    columns = [np.ones(len(codes))]
    for j, m in enumerate(sizes):
        columns += [(codes[:, j] == v).astype(float) for v in range(m)]
    return np.column_stack(columns)


def walk_precision(n):
    """The inverse of the covariance of a random walk about its mean, of mean variance one."""
    steps, centre = np.tril(np.ones((n, n))), np.eye(n) - 1 / n
    covariance = centre @ steps @ steps.T @ centre
    return np.linalg.pinv(covariance / (np.trace(covariance) / n))


def curve_covariance(rows, cuts=()):
    """The covariance of a line, a walk of slopes less its line, and a walk.

    Line and slopes go along ranks: the rows below an interval, and half of its own. With cut
    points, half of the line goes along the middles of intervals; the outer ones are as wide as
    their neighbours.
    """
    n = len(rows)
    ranks = np.array([rows[:k].sum() + rows[k] / 2 for k in range(n)]) / rows.sum()
    nodes, shares = np.polynomial.legendre.leggauss(3)

    def both(s, t):  # integral of (s - u)(t - u) over u from 0 to the nearer one
        u = min(s, t) * (nodes + 1) / 2
        return min(s, t) / 2 * (shares * (s - u) * (t - u)).sum()

    slopes = np.array([[both(s, t) for t in ranks] for s in ranks])
    steps, total = np.tril(np.ones((n, n))), np.zeros((n, n))
    ones, line = np.ones((n, 1)), np.column_stack([np.ones(n), ranks])
    parts = [(ones, slope_of(ranks)) for _ in range(2)]
    if len(cuts):
        first, last = 2 * cuts[0] - cuts[1], 2 * cuts[-1] - cuts[-2]
        parts[1] = (ones, slope_of(np.convolve([first, *cuts, last], [0.5, 0.5], "valid")))
    parts += [(line, slopes), (ones, steps @ steps.T)]
    for (basis, covariance), share in zip(parts, (1 / 6, 1 / 6, 1 / 3, 1 / 3), strict=True):
        left = np.eye(n) - basis @ np.linalg.pinv(basis)
        own = left @ covariance @ left
        total += share * own / (np.trace(own) / n)
    return total


def slope_of(places):
    """The covariance of a line through zero, with a slope of variance one."""
    return np.outer(places, places)


def literal_penalty(sizes, codes, rows, scales):
    """The matrix P of the penalty 1/2 w' P w: a level each, a curve and its missing level."""
    a, b, c = sizes
    scale_a, scale_walk, scale_missing, scale_c = scales
    P = np.zeros((1 + sum(sizes), 1 + sum(sizes)))
    P[1 : 1 + a, 1 : 1 + a] = scale_a * np.eye(a)
    n, start = b - 1, 1 + a
    weight = np.array([rows.weight[codes[:, 1] == v].sum() for v in range(n)])
    share = weight / weight.sum()
    inner = scale_walk * np.linalg.pinv(
        curve_covariance(weight), 1e-12
    ) + HELD * weight.sum() * np.outer(share, share)
    P[start : start + n, start : start + n] = inner
    P[start + n, start + n] = scale_missing
    P[-c:, -c:] = scale_c * np.eye(c)
    return P


def literal_moments(X, rows, weights):
    """Loss in nats, residuals by row and total, and probabilities."""
    totals = X @ weights
    if totals.shape[1] == 1:
        totals = np.hstack([np.zeros_like(totals), totals])
    p = softmax(totals, axis=1)
    wrong = rows.weight[:, None] * (p - np.eye(rows.n_classes)[rows.labels])
    logs = log_softmax(totals, axis=1)[np.arange(len(X)), rows.labels]
    return -rows.weight @ logs, wrong[:, -weights.shape[1] :], p


def literal_gradient(X, P, rows, weights):
    """Relative to what it balances: the sum of the rows' residuals."""
    _, wrong, _ = literal_moments(X, rows, weights)
    return np.abs(X.T @ wrong + P @ weights).max() / np.abs(wrong).sum()


def literal_hessian(X, P, rows, weights, k=0):
    """Of one total, the others held."""
    _, _, p = literal_moments(X, rows, weights)
    own = p[:, -weights.shape[1] :][:, k]
    return X.T @ ((rows.weight * own * (1 - own))[:, None] * X) + P


def start(problem, scales):
    weights = np.zeros((problem.n_weights, problem.target.n_totals))
    weights[0] = problem.target.prior()
    return state_at(problem, weights, np.asarray(scales, dtype=float))


SCALES = (2.0, 5.0, 0.7, 1.3)
FULL = {"one matrix": 3072, "pieces": 8}


# ---------------------------------------------------------------- the prior


@pytest.mark.parametrize("n", [2, 3, 10, 128])
def test_a_walks_precision_is_the_inverse_of_a_random_walks_covariance(n):
    np.testing.assert_allclose(walk(n), walk_precision(n), atol=1e-9 * n)


@pytest.mark.parametrize(
    "rows", [[3, 1, 2], [80, *[1] * 20], [0, 4, 0, 0, 5], [0, 0, 4, 0, 0], [1] * 64]
)
def test_a_curves_precision_is_the_inverse_of_its_covariance(rows):
    rows = np.array(rows, dtype=float)
    found = curve(rows)
    np.testing.assert_allclose(np.linalg.pinv(found, 1e-12), curve_covariance(rows), atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-9 * np.abs(found).max())
    np.testing.assert_allclose(found, curve(7 * rows))
    assert (curve(np.ones(2)) == walk(2)).all()


@pytest.mark.parametrize("unit", [1.0, 1e-300, 1e300])
@pytest.mark.parametrize("rows", [[3, 1, 2], [80, *[1] * 20], [1] * 64])
def test_half_of_a_line_follows_the_numbers_where_cuts_are_known(rows, unit):
    rows = np.array(rows, dtype=float)
    cuts = np.cumsum(np.random.default_rng(len(rows)).exponential(size=len(rows) - 1))
    found = curve(rows, tuple(unit * cuts))
    literal = curve_covariance(rows, cuts)
    np.testing.assert_allclose(np.linalg.pinv(found, 1e-12), literal, atol=1e-6)
    moved = curve(rows, tuple(unit * (5 + 2 * cuts)))
    np.testing.assert_allclose(moved, found, atol=1e-6 * np.abs(found).max())


def test_a_curve_without_rows_is_a_line_and_a_walk():
    found = np.linalg.inv(curve(np.zeros(12)) + 1 / 12) - 1 / 12
    assert np.linalg.eigvalsh(found).min() > -1e-9
    assert np.trace(found) == pytest.approx(12)


@LIGHT
@given(seeds, st.booleans())
def test_the_penalty_is_the_literal_one(seed, weighted):
    sizes, codes, rows = draw_rows(seed, weighted=weighted)
    problem, P = (
        make_problem(sizes, codes, rows),
        literal_penalty(*draw_rows(seed)[:2], rows, SCALES),
    )
    weights = np.random.default_rng(seed).normal(size=(problem.n_weights, 2))
    found = problem.prior.apply(weights, np.array(SCALES))
    np.testing.assert_allclose(found, P @ weights, rtol=1e-9, atol=1e-9)
    whole = np.zeros_like(P)
    problem.prior.add_to(whole, np.array(SCALES), np.arange(len(P)))
    np.testing.assert_allclose(whole, P, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------- optimality


@pytest.mark.parametrize("full", FULL)
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@LIGHT
@given(seed=seeds, weighted=st.booleans(), size=st.sampled_from([0.01, 1.0, 100.0]))
def test_the_gradient_vanishes_at_the_weights(full, n_classes, seed, weighted, size):
    sizes, codes, rows = draw_rows(seed, n_classes=n_classes, weighted=weighted)
    scales = size * np.array(SCALES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solve, "FULL", FULL[full])
        problem = make_problem(sizes, codes, rows)
        assert problem.exact == (full == "one matrix" and n_classes == 2)
        state = find_weights(start(problem, scales), PRECISE)
    X, P = one_hot(sizes, codes), literal_penalty(sizes, codes, rows, scales)
    assert literal_gradient(X, P, rows, state.weights) < 1e-8
    loss, _, _ = literal_moments(X, rows, state.weights)
    penalty = 0.5 * np.trace(state.weights.T @ P @ state.weights)
    np.testing.assert_allclose(state.loss, loss + penalty, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@LIGHT
@given(seed=seeds)
def test_pieces_of_the_hessian_lead_to_the_weights_of_the_whole(n_classes, seed):
    sizes, codes, rows = draw_rows(seed, n_classes=n_classes)
    found = []
    for full in FULL.values():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(solve, "FULL", full)
            problem = make_problem(sizes, codes, rows)
            found.append(find_weights(start(problem, SCALES), 1e-11).weights)
            assert bool(problem.apart) == (full == 8)
    if n_classes > 2:  # one number more or less for every class says nothing
        found = [np.vstack([w[:1] - w[0].mean(), w[1:]]) for w in found]
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_scales_that_are_found_have_the_weights_of_least_loss(n_classes):
    sizes, codes, rows = draw_rows(5, n_rows=400, n_classes=n_classes)
    state = find_scales(make_problem(sizes, codes, rows)).state
    X, P = one_hot(sizes, codes), literal_penalty(sizes, codes, rows, state.scales)
    assert literal_gradient(X, P, rows, state.weights) < 1e-8


@pytest.mark.parametrize("n_classes", [2, 3])
@LIGHT
@given(seed=seeds)
def test_weights_depend_on_the_order_of_rows_by_rounding_alone(n_classes, seed):
    sizes, codes, rows = draw_rows(seed, 400, n_classes)
    order = np.random.default_rng(seed).permutation(400)
    turned = Rows(rows.labels[order], rows.weight, n_classes)
    problems = make_problem(sizes, codes, rows), make_problem(sizes, codes[order], turned)
    state, other = (find_scales(problem).state for problem in problems)
    pieces = [piece for (piece,) in state.factor.by_class]
    inverse = max(np.linalg.eigvalsh(piece.inverse)[-1] for piece in pieces)
    rounding = len(codes) * np.finfo(float).eps * state.found.size  # of a sum over the rows
    # classes are fitted jointly by conjugate gradients, which leave this share of a gradient
    left = sum(np.sqrt(s.relative_gradient) * np.linalg.norm(s.gradient) for s in (state, other))
    # and the scales that are found differ by rounding, too: so do the penalties' gradients
    pulls = [state.problem.prior.apply(state.weights, s.scales) for s in (state, other)]
    pulled = np.linalg.norm(pulls[0] - pulls[1])
    bound = inverse * (rounding + pulled + left * (n_classes > 2))
    assert np.abs(polish(state) - polish(other)).max() <= bound


@pytest.mark.parametrize("n_classes", [3, 5])
@LIGHT
@given(seed=seeds)
def test_a_step_adds_nothing_to_all_classes_alike(n_classes, seed):
    problem = make_problem(*draw_rows(seed, n_classes=n_classes))
    state = start(problem, SCALES[: len(problem.prior.blocks)])
    for _ in range(3):
        step = solve.newton_step(state)
        assert np.abs(step.sum(axis=1)).max() <= 1e-9 * np.abs(step).max()
        state = state.moved(step)


def test_no_step_is_spent_on_rounding_errors_that_all_classes_have_in_common():
    for n in (16, 18, 20, 24, 27, 38):  # SciPy divided 0 by 0 on five or more of them
        numbers, classes = [1, 2, 3] * n + [2], ["no", "yes", "yes"] * n + ["No"]
        model = EducatedNB().fit(pa.table({"a": numbers}), classes)
        assert np.isfinite(model.predict_proba([{"a": 2}])).all()


@LIGHT
@given(seed=seeds)
def test_one_step_more_squares_what_is_missing(seed):
    sizes, codes, rows = draw_rows(seed)
    problem = make_problem(sizes, codes, rows)
    rough, exact = (find_weights(start(problem, SCALES), goal) for goal in (1e-3, 1e-12))
    before, after = (np.linalg.norm(w - exact.weights) for w in (rough.weights, polish(rough)))
    # a row's Hessian changes by at most |x|^3/(6 sqrt 3), and a row has the intercept and 3 levels
    bend = len(codes) * 8 / (6 * np.sqrt(3))
    inverse = np.linalg.eigvalsh(rough.factor.by_class[0][0].inverse)[-1]
    assert after <= 0.5 * bend * inverse * before**2 + 1e-12


def test_many_rows_do_not_keep_the_gradient_from_vanishing():
    sizes, codes, rows = draw_rows(1, n_rows=200_000)
    state = find_weights(start(make_problem(sizes, codes, rows), SCALES), PRECISE)
    X, P = one_hot(sizes, codes), literal_penalty(sizes, codes, rows, SCALES)
    assert literal_gradient(X, P, rows, state.weights) < 1e-8
    assert state.problem.rows.n_passes < 10


@LIGHT
@given(seed=seeds, weighted=st.booleans(), n_classes=st.integers(2, 3))
def test_the_hessian_is_the_literal_one(seed, weighted, n_classes):
    sizes, codes, rows = draw_rows(seed, n_classes=n_classes, weighted=weighted)
    problem = make_problem(sizes, codes, rows)
    state = find_weights(start(problem, SCALES), PRECISE)
    X, P = one_hot(sizes, codes), literal_penalty(sizes, codes, rows, SCALES)
    for k, (piece, *rest) in enumerate(state.factor.by_class):
        assert rest == []
        expected = literal_hessian(X, P, rows, state.weights, k)
        np.testing.assert_allclose(state.curvature.joint[k] + P, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(piece.inverse, np.linalg.inv(expected), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@LIGHT
@given(seed=seeds)
def test_products_with_the_hessian_are_the_same_with_and_without_its_matrix(n_classes, seed):
    sizes, codes, rows = draw_rows(seed, n_classes=n_classes, weighted=True)
    found = []
    for numbers in (solve.ACROSS, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(solve, "ACROSS", numbers)
            problem = make_problem(sizes, codes, rows)
            assert problem.whole == bool(numbers)
            state = start(problem, SCALES)
            before, direction = problem.rows.n_passes, np.cos(np.arange(state.weights.size))
            found.append(state.multiply_hessian(direction.reshape(state.weights.shape)))
            assert problem.rows.n_passes - before == (not numbers)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-9)


@LIGHT
@given(seeds)
def test_a_row_of_weight_three_is_three_rows(seed):
    sizes, codes, rows = draw_rows(seed)
    times = np.random.default_rng(seed).integers(1, 4, len(codes))
    whole = Rows(np.repeat(rows.labels, times), np.ones(times.sum()), 2)
    many = make_problem(sizes, np.repeat(codes, times, axis=0), whole)
    heavy = make_problem(sizes, codes, replace(rows, weight=times.astype(float)))
    one, other = (find_weights(start(problem, SCALES), 1e-11).weights for problem in (many, heavy))
    np.testing.assert_allclose(one, other, atol=1e-9)


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_held_at_zero_leave_the_prior_alone(n_classes):
    sizes, codes, rows = draw_rows(2, n_classes=n_classes)
    features = features_of(sizes)
    features[1] = Feature("b", cuts=tuple(map(float, range(sizes[1] - 1))))  # missing is free of it
    problem = make_problem(sizes, codes, rows, features)
    state = find_weights(start(problem, np.full(3, 1e9)), 1e-12)
    base = np.log(np.bincount(rows.labels) / len(codes))
    expected = base[1:] - base[:1] if n_classes == 2 else base - base.mean()
    np.testing.assert_allclose(state.weights[0], expected, atol=1e-6)
    np.testing.assert_allclose(state.weights[1:], 0.0, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scale", [10.0, 1.0, 1e-2, 1e-4])
def test_a_common_scale_is_scikit_learns_ridge_on_levels(n_classes, scale):
    rng = np.random.default_rng(4)
    sizes = [3, 5, 4]
    codes = np.column_stack([rng.integers(0, m, 600) for m in sizes])
    effects = [rng.normal(size=(m, n_classes)) for m in sizes]
    logits = sum(effect[codes[:, j]] for j, effect in enumerate(effects))
    rows = Rows((logits + rng.gumbel(size=logits.shape)).argmax(1), np.ones(600), n_classes)
    features = [Feature(f"x{j}", values=tuple(range(m))) for j, m in enumerate(sizes)]
    problem = make_problem(sizes, codes, rows, features)
    state = find_weights(start(problem, np.full(3, scale)), 1e-12)
    rival = LogisticRegression(C=1 / scale, tol=1e-12, max_iter=10_000, solver="newton-cg")
    rival.fit(one_hot(sizes, codes)[:, 1:], rows.labels)
    intercept = state.weights[0] - (state.weights[0].mean() if n_classes > 2 else 0)
    np.testing.assert_allclose(state.weights[1:].T, rival.coef_, atol=1e-6)
    np.testing.assert_allclose(intercept, rival.intercept_, atol=1e-6)


def test_scales_near_zero_are_logistic_regression_without_a_penalty():
    sizes, codes, rows = draw_rows(7, n_rows=2000)
    codes[:, 2] %= sizes[2]
    state = find_weights(start(make_problem(sizes, codes, rows), np.full(4, 1e-9)), 1e-12)
    X = np.delete(one_hot(sizes, codes)[:, 1:], [0, sizes[0], sizes[0] + sizes[1]], axis=1)
    rival = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, rows.labels)
    totals = one_hot(sizes, codes) @ state.weights
    np.testing.assert_allclose(totals[:, 0], rival.decision_function(X), atol=1e-4)


# ---------------------------------------------------------------- the scales


def literal_marginal(X, P, rows, state):
    """Laplace's approximation, class by class, and the scales' own prior.

    The weights of K classes sum to zero, so that K - 1 of them are free.
    """
    loss, _, _ = literal_moments(X, rows, state.weights)
    weights = state.weights
    value = -loss - 0.5 * np.trace(weights.T @ P @ weights)
    n_free = rows.n_classes - 1
    share = n_free / weights.shape[1]
    for k in range(weights.shape[1]):
        value -= 0.5 * share * np.linalg.slogdet(literal_hessian(X, P, rows, weights, k))[1]
    for block, scale in zip(state.problem.prior.blocks, state.scales, strict=True):
        S = np.eye(len(block.places)) if block.matrix is None else block.matrix
        value += 0.5 * n_free * np.linalg.matrix_rank(S) * np.log(scale)
    return value + literal_prior(state.problem.prior.blocks, state.scales)


def literal_prior(blocks, scales):
    """The logistic densities of all logarithms, at the factors of most density.

    Tables share a factor of the variances that are expected of them, and pairs another; each has
    `TABLES` logistic densities of its own.
    """
    value = 0.0
    for of_pairs in (False, True):
        both = zip(blocks, scales, strict=True)
        own = [(block.variance, scale) for block, scale in both if block.of_pair == of_pairs]

        def density(log, own=own):
            logs = [log + np.log(variance * scale) for variance, scale in own]
            return logistic.logpdf(logs).sum() + TABLES * logistic.logpdf(log)

        value += density(minimize_scalar(lambda log: -density(log), (-1.0, 1.0), tol=1e-12).x)
    return value


@LIGHT
@given(seed=seeds, n_classes=st.integers(2, 3), weighted=st.booleans())
def test_the_marginal_likelihood_is_the_literal_one(seed, n_classes, weighted):
    sizes, codes, rows = draw_rows(seed, n_classes=n_classes, weighted=weighted)
    state = find_weights(start(make_problem(sizes, codes, rows), SCALES), PRECISE)
    X, P = one_hot(sizes, codes), literal_penalty(sizes, codes, rows, SCALES)
    expected = literal_marginal(X, P, rows, state)
    np.testing.assert_allclose(log_marginal(state), expected, rtol=1e-9)


@pytest.mark.parametrize("full", FULL)
@LIGHT
@given(seed=seeds, n_classes=st.integers(2, 3))
def test_the_update_of_the_scales_is_that_of_fellner_and_schall(full, seed, n_classes):
    sizes, codes, rows = draw_rows(seed, n_classes=n_classes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solve, "FULL", FULL[full])
        state = find_weights(start(make_problem(sizes, codes, rows), SCALES), PRECISE)
        found = np.exp(Update.at(state).there)
    X, P = one_hot(sizes, codes), literal_penalty(sizes, codes, rows, SCALES)
    for b, block in enumerate(state.problem.prior.blocks):
        S = np.zeros_like(P)
        own = np.eye(len(block.places)) if block.matrix is None else block.matrix
        S[np.ix_(block.places, block.places)] = own
        free, norm = 0.0, np.trace(state.weights.T @ S @ state.weights)
        for k in range(state.weights.shape[1]):
            V = np.linalg.inv(literal_hessian(X, P, rows, state.weights, k))
            free += np.linalg.matrix_rank(own) - SCALES[b] * np.trace(V @ S)
        free *= (n_classes - 1) / state.weights.shape[1]
        variance = expect_variances(state.problem.prior.blocks, state.scales)[b]
        expected = (free + 2) / (norm + 4 * variance / (1 + variance * SCALES[b]))
        inside = full == "one matrix"
        np.testing.assert_allclose(found[b], expected, rtol=1e-6 if inside else 0.25)


@pytest.mark.parametrize("n_classes", [2, 3])
@LIGHT
@given(seed=seeds, weighted=st.booleans())
def test_every_update_raises_the_marginal_likelihood(n_classes, seed, weighted):
    sizes, codes, rows = draw_rows(seed, n_classes=n_classes, weighted=weighted)
    search = find_scales(make_problem(sizes, codes, rows))
    assert (np.diff(search.marginal) > 0).all()
    assert log_marginal(search.state) == pytest.approx(search.marginal[-1], abs=0.5)


def test_an_update_that_would_lower_it_is_halved():
    sizes, codes, rows = draw_rows(3, n_rows=500)
    state = find_weights(start(make_problem(sizes, codes, rows), SCALES), PRECISE)
    before, step = log_marginal(state), Update.at(state).step
    least = scales_module._least(state)
    too_far, halved = (np.maximum(state.scales * np.exp(k * step), least) for k in (16, 8))
    assert log_marginal(find_weights(state.rescale(too_far), PRECISE)) < before
    after = scales_module._move(state, 16 * step, before, 1.0)
    assert log_marginal(after) > before
    np.testing.assert_allclose(after.scales, halved)
    assert (
        scales_module._move(state, -step, before, 1.0) is None
    )  # the wrong way: no part of it helps


@LIGHT
@given(seed=seeds, n_classes=st.sampled_from([2, 3]))
def test_updates_know_the_slope_of_the_marginal_likelihood(seed, n_classes):
    """Where weights stay, which have the least loss, and the Hessian does: Fellner and Schall's."""
    sizes, codes, rows = draw_rows(seed, n_classes=n_classes)
    state = find_weights(start(make_problem(sizes, codes, rows), SCALES), PRECISE)
    update = Update.at(state)
    for b, slope in enumerate(update.slope):
        near = [state.scales * np.exp(sign * 1e-5 * (np.arange(4) == b)) for sign in (1, -1)]
        up, down = (log_marginal(state.rescale(scales)) for scales in near)
        assert (up - down) / 2e-5 == pytest.approx(slope, rel=1e-4, abs=1e-4)


def test_an_update_goes_as_far_as_updates_that_shrink_by_one_share_lead():
    zero, end, left = np.zeros(3), np.array([1.0, 2.0, -3.0]), np.array([0.5, 0.75, 0.5])

    def update_at(here):
        return Update(here, here + (1 - left) * (end - here), zero)

    first = update_at(zero)
    second = update_at(first.here + first.reach(None))
    np.testing.assert_allclose(second.here + second.reach(first), end)
    np.testing.assert_array_equal(second.reach(second), second.step)  # nothing has moved


def test_at_the_end_the_scales_are_what_their_update_says(monkeypatch):
    """A step of s in one logarithm promises about s^2/2 nats or more, and less than GAIN is left.

    Weights are found exactly for each scale, which a search otherwise looks at roughly.
    """
    gain = 1e-9
    monkeypatch.setattr(scales_module, "GAIN", gain)
    monkeypatch.setattr(scales_module, "ROUGHLY", 1e-14)
    monkeypatch.setattr(scales_module, "UPDATES", 300)
    sizes, codes, rows = draw_rows(11, n_rows=3000)
    state = find_scales(make_problem(sizes, codes, rows)).state
    change = Update.at(state).there - np.log(state.scales)
    assert np.abs(change).max() < 1.001 * np.sqrt(2 * gain)


def test_the_scales_hardly_depend_on_where_the_search_begins():
    sizes, codes, rows = draw_rows(11, n_rows=3000)
    problem = make_problem(sizes, codes, rows)
    ends = [
        find_scales(problem, start(problem, np.full(4, first))).state.weights
        for first in (0.1, 10.0, 1000.0)
    ]
    for other in ends[1:]:
        np.testing.assert_allclose(other, ends[0], atol=0.02)


# ---------------------------------------------------------------- features that do not fit


def test_features_of_one_size_share_the_matrix_or_none_does(monkeypatch):
    monkeypatch.setattr(solve, "FULL", 20)
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, m, 300) for m in (8, 3, 8, 3, 8)])
    features = [Feature(f"c{j}", values=tuple(range(m))) for j, m in enumerate((8, 3, 8, 3, 8))]
    rows = Rows(rng.integers(0, 2, 300), np.ones(300), 2)
    problem = make_problem([8, 3, 8, 3, 8], codes, rows, features)
    assert problem.columns == (1, 3)
    assert [len(places) for places in problem.apart] == [8, 8, 8]
