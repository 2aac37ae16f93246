"""monotonic_cst: exactly monotone tables, codes and missing values free, and who is refused."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.isotonic import isotonic_regression

import weigh
from weigh import EducatedNB
from weigh.educated import tables as merge
from weigh.educated.monotone import hold_orders
from weigh.educated.solve import state_at
from weigh.educated.uncertainty import information

LIGHT = settings(max_examples=12, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def draw_frame(seed, n_rows=300):
    """A hump, a rise, categories, a code and gaps."""
    rng = np.random.default_rng(seed)
    hump, rise = rng.normal(size=(2, n_rows))
    total = 1 - hump**2 + rise + rng.normal(size=n_rows)
    frame = pd.DataFrame({"hump": hump, "rise": rise, "c": rng.choice([*"ab"], n_rows)})
    frame.loc[rng.random(n_rows) < 0.15, "hump"] = np.nan
    frame.loc[rng.random(n_rows) < 0.15, "rise"] = -999.0
    y = (total > 0).astype(int)
    y[frame["rise"] == -999] = 1  # which no order of the numbers forbids
    y[:2] = 0, 1
    return frame, y


def walk_weights(table):
    """The weights of a table's intervals, in order."""
    return table.weights[: len(table.feature.cuts) + 1]


def is_monotone(weights, sign):
    return (sign * np.diff(weights) >= 0).all()


@LIGHT
@given(
    seed=seeds, signs=st.tuples(*[st.sampled_from([-1, 1])] * 2), bins=st.sampled_from(["fine", 6])
)
def test_tables_rise_or_fall_exactly_as_asked(seed, signs, bins):
    frame, y = draw_frame(seed)
    asked = dict(zip(("hump", "rise"), signs, strict=True))
    model = EducatedNB(pairs=0, bins=bins, monotonic_cst=asked, special_values={"rise": [-999]})
    with pytest.MonkeyPatch.context() as patch:
        if seed % 2:
            patch.setattr(merge, "APART", -1.0)  # every interval of the fit
        model.fit(frame, y)
    for name, sign in asked.items():
        assert is_monotone(walk_weights(model.evidence_[name]), sign)
    grid = np.linspace(-4, 4, 101)
    for name, sign in asked.items():
        rows = pd.DataFrame({"hump": 0.1, "rise": 0.1, "c": "a"}, index=range(101))
        rows[name] = grid
        assert is_monotone(model.decision_function(rows), sign)


def test_codes_and_missing_values_stay_free_of_the_order():
    frame, y = draw_frame(1, n_rows=1500)
    free = EducatedNB(pairs=0, special_values={"rise": [-999]}).fit(frame, y).evidence_
    held = EducatedNB(
        pairs=0, special_values={"rise": [-999]}, monotonic_cst={"rise": -1, "hump": 1}
    )
    table = held.fit(frame, y).evidence_["rise"]
    found, expected = (t.weights[t.levels.index(-999)] for t in (table, free["rise"]))
    assert found > walk_weights(table).max() + 1  # above all, though weights fall
    assert found == pytest.approx(expected, abs=1.0)
    assert held.evidence_["hump"].levels[-1] is None
    assert held.evidence_["hump"].weights[-1] != 0


def test_a_table_that_is_monotone_already_is_left_as_it_is():
    frame, y = draw_frame(2, n_rows=2000)
    free = EducatedNB(pairs=0, bins=5).fit(frame[["rise", "c"]], y)
    assert is_monotone(walk_weights(free.evidence_["rise"])[1:], 1)
    alone = frame[frame["rise"] > -999]
    free, held = (
        EducatedNB(pairs=0, bins=5, monotonic_cst=asked).fit(alone[["rise", "c"]], y[alone.index])
        for asked in (None, {"rise": 1})
    )
    np.testing.assert_array_equal(free.decision_function(alone), held.decision_function(alone))
    np.testing.assert_array_equal(free.scales_, held.scales_)


def test_what_breaks_the_order_becomes_level_as_isotonic_regression_would_have_it():
    frame, y = draw_frame(3, n_rows=1500)
    frame = frame[["hump", "c"]]
    free, held = (
        EducatedNB(pairs=0, bins=12, monotonic_cst=asked).fit(frame, y)
        for asked in (None, {"hump": 1})
    )
    table = free.evidence_["hump"]
    rows = table.counts.sum(axis=1)[:-1]
    pooled = isotonic_regression(walk_weights(table), sample_weight=rows)
    found = walk_weights(held.evidence_["hump"])
    assert len(np.unique(found)) < len(found) == len(pooled)
    assert abs(np.ptp(found) - np.ptp(pooled)) < 0.3
    loss = [-np.log(m.predict_proba(frame)[np.arange(1500), y]).mean() for m in (free, held)]
    prior = -np.log(np.bincount(y) / 1500) @ np.bincount(y) / 1500
    assert loss[0] < loss[1] < prior


def test_scales_and_errors_are_named_after_the_features_that_have_them():
    frame, y = draw_frame(4, n_rows=800)
    frame["same"] = 1.0
    asked = {"hump": 1}
    free, held = (EducatedNB(pairs=0, monotonic_cst=a).fit(frame, y) for a in (None, asked))
    np.testing.assert_allclose(held.scales_, free.scales_, rtol=1e-12)
    assert np.isnan(held.scales_[3])
    n = 1 + sum(len(table.levels) for table in held.evidence_)
    assert held.evidence_.covariance.shape == (n, n)
    low, high = held.balance_sheet(frame.iloc[[0]]).interval
    assert 0 < low < high < 1
    assert held.loo_loss_ > free.loo_loss_


@pytest.mark.parametrize("form", [list, np.array, tuple])
def test_an_entry_for_every_column_is_the_same_as_names(form):
    frame, y = draw_frame(5)
    by_name = EducatedNB(pairs=0, monotonic_cst={"hump": -1, "rise": 1}).fit(frame, y)
    by_place = EducatedNB(pairs=0, monotonic_cst=form([-1, 1, 0])).fit(frame, y)
    by_number = EducatedNB(pairs=0, monotonic_cst={0: -1, 1: 1, "c": 0}).fit(frame, y)
    for model in (by_place, by_number):
        np.testing.assert_array_equal(model.predict_proba(frame), by_name.predict_proba(frame))


def test_columns_under_a_constraint_are_in_no_pair():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(1200, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    fit = {"pairs": 2, "random_state": 0}
    free = EducatedNB(**fit).fit(X, y)
    assert "x0 & x1" in [table.name for table in free.evidence_]
    held = EducatedNB(**fit, monotonic_cst={"x0": 1}).fit(X, y)
    assert not any("x0" in table.name for table in held.evidence_ if "&" in table.name)
    assert is_monotone(walk_weights(held.evidence_["x0"]), 1)


def test_a_wide_table_in_pieces_is_monotone_too(monkeypatch):
    monkeypatch.setattr("weigh.educated.solve.FULL", 20)
    frame, y = draw_frame(7)
    frame["last"] = [None] * len(y)
    model = EducatedNB(pairs=0, bins=8, monotonic_cst={"hump": 1, "rise": -1}, missing="skip").fit(
        frame, y
    )
    assert is_monotone(walk_weights(model.evidence_["hump"]), 1)
    assert is_monotone(walk_weights(model.evidence_["rise"]), -1)
    assert np.isfinite(model.decision_function(frame)).all()


def test_the_constraint_is_saved_with_the_model(tmp_path):
    frame, y = draw_frame(8)
    model = EducatedNB(pairs=0, monotonic_cst={"hump": 1}).fit(frame, y)
    weigh.save(model, tmp_path / "m.json")
    again = weigh.load(tmp_path / "m.json")
    assert again.monotonic_cst == {"hump": 1}
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"age": 1}, "monotonic_cst names 'age'"),
        ({"hump": 2}, "monotonic_cst for column 'hump' must be 1, 0 or -1, got 2"),
        ({"hump": "up"}, "monotonic_cst for column 'hump' must be 1, 0 or -1, got 'up'"),
        ({"hump": np.nan}, "monotonic_cst for column 'hump' must be 1, 0 or -1, got nan"),
        ({"hump": [1, 1]}, "monotonic_cst for column 'hump' must be 1, 0 or -1, got [1, 1]"),
        ({"hump": True}, "monotonic_cst for column 'hump' must be 1, 0 or -1, got True"),
        ({"hump": None}, "monotonic_cst for column 'hump' must be 1, 0 or -1, got None"),
        (
            [[1, 1], [0, 0], [0, 0]],
            "monotonic_cst for column 'hump' must be 1, 0 or -1, got [1, 1]",
        ),
        (np.ones((3, 2)), "monotonic_cst for column 'hump' must be 1, 0 or -1, got"),
        ({"c": 1}, "monotonic_cst names 'c', which has unordered categories"),
        ([1, 0], "monotonic_cst has 2 entries for 3 columns; give one"),
        (1, "monotonic_cst has 1 entries for 3 columns"),
        ("hump", "monotonic_cst has 4 entries for 3 columns"),
        ([1, 0, -1], "monotonic_cst names 'c', which has unordered categories"),
    ],
)
def test_a_bad_constraint_names_the_column_and_what_it_may_be(given, message):
    frame, y = draw_frame(9)
    with pytest.raises(ValueError, match=re.escape(message)):
        EducatedNB(pairs=0, monotonic_cst=given).fit(frame, y)


def test_a_part_of_a_cross_and_many_classes_are_refused():
    frame, y = draw_frame(10)
    with pytest.raises(ValueError, match=r"names 'hump'.* cross"):
        EducatedNB(pairs=0, monotonic_cst={"hump": 1}, crosses=[("hump", "c")]).fit(frame, y)
    with pytest.raises(ValueError, match=r"monotonic_cst needs two classes"):
        EducatedNB(pairs=0, monotonic_cst={"hump": 1}).fit(frame, np.arange(len(y)) % 3)


# ---------------------------------------------------------------- the best of all such tables


def draw_correlated(seed, n_rows=250):
    """Numbers that go together, so that a tie in one table moves the others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)) @ np.array([[1, 0.9, 0.8], [0, 0.4, 0.3], [0, 0, 0.5]])
    total = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1.5 * X[:, 2] + rng.normal(size=n_rows)
    return X, (total > np.median(total)).astype(int)


def fit_and_watch(X, y, **asked):
    """The free fit, the orders asked for, and the fit in order."""
    seen = []

    def spy(state, orders):
        seen.append((state, orders, hold_orders(state, orders)))
        return seen[-1][-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("weigh.educated.fit.hold_orders", spy)
        EducatedNB(pairs=0, **asked).fit(X, y)
    return seen[0]


def rise_basis(orders, n_weights):
    """Weights from differences: the first of a table, then what each adds; and what is bounded."""
    basis, bounded = np.eye(n_weights), np.zeros(n_weights, dtype=bool)
    for order in orders:
        k = len(order.places)
        basis[np.ix_(order.places, order.places)] = order.sign * np.tril(np.ones((k, k)))
        bounded[order.places[1:]] = True
    return basis, bounded


@LIGHT
@given(
    seed=seeds,
    signs=st.tuples(*[st.sampled_from([-1, 0, 1])] * 3).filter(any),
    bins=st.sampled_from([5, 12, "fine"]),
)
def test_neighbours_are_tied_only_where_they_strive_the_wrong_way(seed, signs, bins):
    X, y = draw_correlated(seed)
    free, orders, held = fit_and_watch(X, y, bins=bins, monotonic_cst=signs)
    whole = state_at(free.problem, held.weights, free.scales)
    size = whole.found.size
    in_tables = np.concatenate([order.places for order in orders])
    rest = np.setdiff1d(np.arange(len(held.weights)), in_tables)
    assert np.abs(whole.gradient[rest]).max() < 1e-8 * size
    for order in orders:
        rises = order.sign * np.diff(held.weights[order.places, 0])
        strive = -order.sign * np.cumsum(whole.gradient[order.places, 0])
        assert (rises >= 0).all()
        assert strive.min() > -2e-8 * size
        assert np.abs(strive[-1]) < 2e-8 * size
        assert np.abs(strive[:-1][rises > 0]).max(initial=0) < 2e-8 * size


@pytest.mark.parametrize("seed", range(4))
def test_no_weights_in_order_have_less_penalised_loss(seed):
    X, y = draw_correlated(seed)
    free, orders, held = fit_and_watch(X, y, bins=10, monotonic_cst=[1, -1, 1])
    basis, bounded = rise_basis(orders, len(held.weights))

    def loss(rises):
        state = state_at(free.problem, (basis @ rises)[:, None], free.scales)
        return state.loss, basis.T @ state.gradient[:, 0]

    start = np.linalg.solve(basis, free.weights[:, 0])
    bounds = [(0, None) if held_up else (None, None) for held_up in bounded]
    start[bounded] = np.maximum(start[bounded], 0)
    options = {"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9}
    before = np.inf
    while True:  # the reference may stall far from the optimum: start it again until it stays
        found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)
        if found.fun >= before - 1e-9:
            break
        start, before = found.x, found.fun
    assert free.loss < held.state.loss
    assert held.state.loss <= found.fun + 1e-6
    assert held.state.loss == pytest.approx(found.fun, abs=1e-4)


def literal_information(V, S, scale):
    """tr(R^2)/2 with R = 1 - D'VD, where DD' = scale S has no column that is zero."""
    sizes, sides = np.linalg.eigh(scale * S)
    D = (sides * np.sqrt(np.maximum(sizes, 0)))[:, sizes > 1e-9 * scale]
    R = np.eye(D.shape[1]) - D.T @ V @ D
    return 0.5 * (R * R).sum()


@pytest.mark.parametrize("sign", [1, -1])
def test_the_information_on_the_scale_of_a_tied_table_is_that_of_its_own_weights(sign, monkeypatch):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"b": rng.normal(size=300).round(1), "c": rng.choice([*"uvw"], 300)})
    y = rng.random(300) < 1 / (1 + np.exp(-0.6 * X.b))
    seen = []

    def spy(state, orders):
        seen.append(hold_orders(state, orders))
        return seen[-1]

    monkeypatch.setattr("weigh.educated.fit.hold_orders", spy)
    EducatedNB(pairs=0, monotonic_cst={"b": sign}).fit(X, y)
    state = seen[-1].state
    assert len(state.weights) < len(seen[-1].ties)
    covariance = state.factor.by_class[0][0].covariance
    for block, scale in zip(state.problem.prior.blocks, state.scales, strict=True):
        S = np.eye(len(block.places)) if block.matrix is None else block.matrix
        V = covariance.matrix[np.ix_(block.places, block.places)]
        expected = literal_information(V, S, scale)
        assert information(covariance, block, scale) == pytest.approx(expected, rel=1e-6, abs=1e-8)
