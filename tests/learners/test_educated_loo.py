"""Leave-one-out in closed form: against leaving rows out, against repetition, and as a judge."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_softmax
from tests.pairs import every_pair

from weigh import EducatedNB
from weigh.bins import Feature
from weigh.educated import loo
from weigh.educated.design import Design, Source, Target
from weigh.educated.loo import LeaveOneOut, compare, is_gain, leave_one_out, loosen
from weigh.educated.prior import Prior, prior_of
from weigh.educated.scales import FIRM
from weigh.educated.solve import PRECISE, Problem, find_weights, state_at
from weigh.engine import Block, CodedRows

LIGHT = settings(max_examples=10, deadline=None)
seeds = st.integers(0, 2**32 - 1)
SIZES = (4, 8, 3)
FEATURES = (
    Feature("a", values=(0, 1, 2, 3)),
    Feature("b", cuts=tuple(map(float, range(7)))),
    Feature("c", values=(0, 1, 2)),
)
SCALES = np.array([2.0, 5.0, 1.3])


def draw_codes(seed, n_rows=60, n_classes=2):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, m, n_rows) for m in SIZES])
    logits = sum(rng.normal(size=(m, n_classes))[codes[:, j]] for j, m in enumerate(SIZES))
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    labels[:n_classes] = np.arange(n_classes)
    return codes, labels


def make_problem(codes, labels, weight=None):
    n_classes = labels.max() + 1
    weight = np.ones(len(labels)) if weight is None else weight
    rows = CodedRows([*np.ascontiguousarray(codes.T)], labels, weight)
    design = Design(tuple(Source.of(j, size) for j, size in enumerate(SIZES)))
    target = Target(np.bincount(labels, weight, n_classes))
    blocks, centres = [], []
    for j, feature in enumerate(FEATURES):
        counts = np.zeros((SIZES[j], n_classes))
        np.add.at(counts, (codes[:, j], labels), weight)
        own, held = prior_of(feature, counts, design.spans[j].start)
        blocks, centres = [*blocks, *own], [*centres, *held]
    return Problem(rows, design, target, Prior(tuple(blocks), tuple(centres)))


def fit(problem, scales=SCALES):
    weights = np.zeros((problem.n_weights, problem.target.n_totals))
    weights[0] = problem.target.prior()
    return find_weights(state_at(problem, weights, scales), PRECISE)


def block_of(problem):
    """All rows at once."""
    return Block(problem.rows.codes, problem.rows.labels, problem.rows.weight)


def judged_losses(state):
    """Of each row, in nats, had it not been there."""
    return LeaveOneOut.of(state).losses(block_of(state.problem))


def losses_of(state, problem):
    """Of a problem's rows, in nats, by a fit of others."""
    totals = problem.design.totals(problem.design.place(block_of(problem)), state.weights)
    if totals.shape[1] == 1:
        totals = np.hstack([np.zeros_like(totals), totals])
    return -log_softmax(totals, axis=1)[np.arange(len(totals)), problem.rows.labels]


def literal_leave_one_out(problem):
    """Fit all rows but one, and ask for that one, as often as there are rows; the prior stays."""
    found, n_rows = [], problem.rows.n_rows
    for i in range(n_rows):
        rest = np.flatnonzero(np.arange(n_rows) != i)
        less = replace(problem, rows=problem.rows.take(rest))
        found.append(losses_of(fit(less), problem)[i])
    return np.array(found)


# ---------------------------------------------------------------- what it is


@pytest.mark.parametrize("seed", range(4))
def test_it_is_close_to_leaving_each_row_out(seed):
    problem = make_problem(*draw_codes(seed))
    state = fit(problem)
    found, real = leave_one_out(state), literal_leave_one_out(problem)
    np.testing.assert_allclose(judged_losses(state), real, atol=0.5)
    assert found.mean == pytest.approx(real.mean(), rel=0.03)
    assert losses_of(state, problem).mean() < real.mean()  # which is why one leaves out
    assert found.bits == found.mean / np.log(2)


@pytest.mark.parametrize("seed", range(3))
def test_of_three_classes_it_is_a_little_too_stern(seed):
    problem = make_problem(*draw_codes(seed, n_classes=3))
    state = fit(problem)
    found, real = leave_one_out(state).mean, literal_leave_one_out(problem).mean()
    assert real < found < 1.12 * real
    assert found - real < real - losses_of(state, problem).mean()


def test_pieces_of_the_hessian_judge_much_as_the_whole_does(monkeypatch):
    codes, labels = draw_codes(1, n_rows=300)
    whole = leave_one_out(fit(make_problem(codes, labels)))
    monkeypatch.setattr("weigh.educated.solve.FULL", 6)
    problem = make_problem(codes, labels)
    assert problem.apart
    assert leave_one_out(fit(problem)).mean == pytest.approx(whole.mean, rel=0.01)


@LIGHT
@given(seeds, st.integers(2, 3))
def test_a_row_of_weight_three_is_judged_as_three_rows(seed, n_classes):
    codes, labels = draw_codes(seed, n_classes=n_classes)
    times = np.random.default_rng(seed).integers(1, 4, len(labels))
    repeated = (np.repeat(codes, times, axis=0), np.repeat(labels, times))
    problems = (make_problem(codes, labels, times.astype(float)), make_problem(*repeated))
    one, other = map(fit, problems)
    np.testing.assert_allclose(
        np.repeat(judged_losses(one), times), judged_losses(other), atol=1e-7
    )
    heavy, many = leave_one_out(one), leave_one_out(other)
    assert heavy.mean == pytest.approx(many.mean, rel=1e-8)
    assert heavy.total == pytest.approx(many.total, rel=1e-8)


def test_of_many_rows_some_are_judged_evenly_spaced(monkeypatch):
    codes, labels = draw_codes(2, n_rows=1000)
    state = fit(make_problem(codes, labels))
    monkeypatch.setattr(loo, "ROWS", 100)
    for size in (1000, 37):
        monkeypatch.setattr("weigh.engine.passes.BLOCK", size)
        some = leave_one_out(state)
        assert some.weight == 100
        assert some.total == pytest.approx(judged_losses(state)[::10].sum(), rel=1e-12)


# ---------------------------------------------------------------- what it decides


def literal_gain(one, other, weight):
    """Mean and standard error of what the other saves, row by row."""
    gain = np.repeat(one - other, weight)
    return gain.mean(), gain.std() / np.sqrt(weight.sum())


def test_better_is_a_mean_gain_of_more_than_its_standard_error():
    gain = np.random.default_rng(0).normal(size=400)
    gain -= gain.mean()
    error = gain.std() / np.sqrt(400)
    for mean, better in ((1.1 * error, True), (0.9 * error, False), (-1.1 * error, False)):
        assert is_gain(mean, float(((gain + mean) ** 2).mean()), 400.0) == better
    assert is_gain(1e-3, 1e-6 * (1 - 1e-12), 400.0)  # all rows gain the same


@LIGHT
@given(seeds, st.integers(2, 3))
def test_two_fits_are_compared_row_by_row_in_one_pass(seed, n_classes):
    codes, labels = draw_codes(seed, n_classes=n_classes)
    weight = np.random.default_rng(seed).integers(1, 4, len(labels))
    problem = make_problem(codes, labels, weight.astype(float))
    one, other = fit(problem), fit(problem, SCALES * 3)
    before = problem.rows.n_passes
    told = compare(one, other)
    assert problem.rows.n_passes == before + 1
    mean, error = literal_gain(judged_losses(one), judged_losses(other), weight)
    assert told.better == (mean > error)
    for judged, state in ((told.before, one), (told.after, other)):
        assert judged.total == pytest.approx(leave_one_out(state).total, rel=1e-12)


def test_scales_are_loosened_where_the_classes_are_nearly_separable():
    codes, labels = draw_codes(3, n_rows=400)
    labels = (codes[:, 0] >= 2).astype(int)
    labels[:4] = 1 - labels[:4]
    state = fit(make_problem(codes, labels), np.full(3, 3.0))
    looser, judged = loosen(state)
    assert judged.mean < leave_one_out(state).mean
    ratio = state.scales / looser.scales
    assert ratio[0] == 4 ** round(np.log(ratio[0]) / np.log(4)) > 1
    np.testing.assert_allclose(ratio, ratio[0])
    assert looser.relative_gradient <= 1e-8
    further, again = loosen(looser)
    assert further is looser
    assert again.mean == judged.mean


def literal_loosen(state):
    """Fit to the end with scales divided by four, while rows that are left out gain by it."""
    weight = np.ones(state.problem.rows.n_rows, dtype=int)
    while judged_losses(state).sum() > 1 and state.scales.min() > 1e-9:
        other = find_weights(state.rescale(state.scales / 4), PRECISE)
        gain, error = literal_gain(judged_losses(state), judged_losses(other), weight)
        if gain <= error:
            break
        state = other
    return state


@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_scales_of_a_rule_are_lowered_as_long_as_rows_left_out_gain(seed):
    """The levels of two columns decide the class, so nearly no loss is left to compare."""
    codes, _ = draw_codes(seed, n_rows=100)
    labels = (codes[:, 0] + 0.5 * codes[:, 1] > 3.2).astype(int)
    state = fit(make_problem(codes, labels), np.full(3, 0.05))
    looser, judged = loosen(state)
    np.testing.assert_allclose(looser.scales, literal_loosen(state).scales)
    assert judged == leave_one_out(looser)
    assert judged.total < 0.8 * leave_one_out(state).total
    assert looser.relative_gradient <= 1e-8


def test_the_loss_is_that_of_the_loosened_fit_also_where_no_step_is_left(monkeypatch):
    monkeypatch.setattr(loo, "find_weights", lambda state, *_: find_weights(state, PRECISE))
    codes, labels = draw_codes(3, n_rows=400)
    labels = (codes[:, 0] >= 2).astype(int)
    labels[:4] = 1 - labels[:4]
    state = fit(make_problem(codes, labels), np.full(3, 3.0))
    looser, judged = loosen(state)
    assert looser is not state
    assert judged == leave_one_out(looser)


def test_scales_stay_where_no_looser_ones_tell_rows_left_out_better():
    codes, _ = draw_codes(4, n_rows=400)
    state = fit(make_problem(codes, np.random.default_rng(99).integers(0, 2, 400)))
    same, judged = loosen(state)
    assert same is state
    assert judged == leave_one_out(state)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_learner_tells_the_loss_of_rows_left_out(n_classes):
    codes, labels = draw_codes(5, n_rows=600, n_classes=n_classes)
    train, test = codes[:300], codes[300:]
    model = EducatedNB(pairs=0, categorical_features="all").fit(train, labels[:300])
    told = -model.predict_log_proba(train)[np.arange(300), labels[:300]].mean() / np.log(2)
    new = -model.predict_log_proba(test)[np.arange(300), labels[300:]].mean() / np.log(2)
    assert told < model.loo_loss_
    assert abs(model.loo_loss_ - new) < 0.1


# ---------------------------------------------------------------- levels of few rows of one class


@given(st.integers(1, 10**6), st.floats(-20, 20))
def test_n_rows_of_one_class_move_a_level_by_ln_2n_plus_1_beyond_even_odds(n, without):
    """The weight w of such a level satisfies n (1 - expit(without + w)) = precision w."""
    bound = np.log(2 * n + 1) + max(-without, 0)
    slope = n * expit(-without - bound) - FIRM * bound  # the loss rises with w from here on
    assert slope <= 1e-9 * n


ALONE = {"x": np.nan, "z": 9.0, "c": "rare"}
CUTS = {"x": [-1, 0, 1], "z": [-1, 0, 1, 5]}


def rows_of_one_class(n, column, n_classes):
    """Moderate evidence in all columns; n rows of the last class share a level in one of them."""
    rng = np.random.default_rng(n)
    x, z, c = rng.normal(size=1000), rng.normal(size=1000), rng.choice([*"abc"], 1000)
    totals = np.outer(x + 0.5 * z + 0.7 * (c == "a"), np.arange(n_classes))
    y = (totals + rng.gumbel(size=totals.shape)).argmax(axis=1)
    X = pd.DataFrame({"x": x, "z": z, "c": c})
    X.loc[np.flatnonzero(y == n_classes - 1)[:n], column] = ALONE[column]
    return X, y


@every_pair(
    parameters=[
        {},
        {"bins": 4},
        {"bins": "mdl"},
        {"bins": CUTS},
        {"bins": CUTS, "pairs": 0},
        {"bins": CUTS, "pairs": [("x", "c"), ("z", "c")]},
        {"bins": CUTS, "multiclass": "softmax"},
        {"bins": CUTS, "multiclass": "ovr"},
    ],
    column=["x", "z", "c"],
    n=[1, 4, 10, 30],
)
def test_a_level_of_few_rows_of_one_class_gets_no_huge_weight(parameters, column, n):
    X, y = rows_of_one_class(n, column, 3 if "multiclass" in parameters else 2)
    model = EducatedNB(**parameters).fit(X, y)
    beside = {"z": 3.0} if column == "z" else {}  # a bin is moved from its neighbours
    own, other = model.decision_function([{column: ALONE[column]}, beside])
    assert np.max(own - other) <= np.log(2 * n + 1)


def test_scales_stay_where_classes_are_far_from_separable():
    """Ten rows of one class that share a level would be told better by any looser scale."""
    X, y = rows_of_one_class(10, "c", 2)
    model = EducatedNB(bins=CUTS, pairs=0).fit(X, y)
    assert model.loosening_ == 1
