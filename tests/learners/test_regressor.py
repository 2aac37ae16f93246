"""BoostedNBRegressor: the paper's table of copies, closed forms, estimates that explain."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from tests.model_files import read_model, validate

import weigh
from weigh import BoostedNBRegressor
from weigh.cli import main

LIGHT = settings(max_examples=25, deadline=None)


def coded(**parameters):
    return BoostedNBRegressor(
        categorical_features="all", calibrate_scale=False, **{"smoothing": 0.5, **parameters}
    )


@st.composite
def samples(draw):
    """Columns of few levels, targets with ties and whole weights."""
    rows = draw(st.integers(4, 25))
    X = draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=rows, max_size=rows)
    )
    y = draw(st.lists(st.integers(0, 12), min_size=rows, max_size=rows))
    y[:2] = 0, 12
    weight = draw(st.lists(st.integers(1, 3), min_size=rows, max_size=rows))
    return np.array(X), np.array(y, dtype=float), np.array(weight, dtype=float)


def test_the_sheet_names_the_target_as_that_of_other_regressors_does(tmp_path):
    table = pd.DataFrame({"a": np.arange(60.0) % 7, "price": np.arange(60.0)})
    rows = table[["a"]]
    for X, y in (
        (table, "price"),
        (rows, table["price"]),
        (rows, table["a"] * 2),
        (rows, [*rows.a]),
    ):
        sheets = [
            kind().fit(X, y).balance_sheet({"a": 3.0})
            for kind in (BoostedNBRegressor, weigh.EducatedRegressor)
        ]
        said = ["Estimate of price " in str(sheet) for sheet in sheets]
        assert said == [X is table or getattr(y, "name", "") == "price"] * 2
    weigh.save(BoostedNBRegressor().fit(table, "price"), tmp_path / "m.json")
    sheet = weigh.load(tmp_path / "m.json").balance_sheet({"a": 3.0})
    assert "Estimate of price " in str(sheet)


# ---------------------------------------------------------------- the paper


def copies(X, y, weight, n_cells):
    """The paper's table of copies: one row for each part of a cell above or below the target.

    Where a target falls inside a cell, the cell gives two copies. Y is 1 where y is above s.
    """
    low, high = y.min(), y.max()
    rows = []
    for x, u, w in zip(X, (y - low) / (high - low), weight, strict=True):
        for k in range(n_cells):
            part = min(max(u * n_cells - k, 0.0), 1.0)
            rows.append((x, k, 1, w * part / n_cells))
            rows.append((x, k, 0, w * (1 - part) / n_cells))
    return rows


def literal_boost(rows, n_features, n_cells, n_rounds, s):
    """AdaBoost over the copies, one at a time; the cell is one more feature, never smoothed."""
    total = sum(w for *_, w in rows)
    weights = [w for *_, w in rows]
    rounds = []
    for _ in range(n_rounds):
        log_odds = []
        count = [{} for _ in range(n_features)]
        cell = np.zeros((n_cells, 2))
        sums = np.zeros(2)
        for (x, k, c, _), w in zip(rows, weights, strict=True):
            sums[c] += w
            cell[k, c] += w
            for j in range(n_features):
                count[j].setdefault(x[j], [0.0, 0.0])[c] += w
        tables = []
        for table in count:
            shares = {
                v: [(n[c] + s) / (sums[c] + s * len(table)) for c in (0, 1)]
                for v, n in table.items()
            }
            tables.append(
                {v: math.log(p[1] / p[0]) if len(table) > 1 else 0.0 for v, p in shares.items()}
            )
        # prior plus the evidence of s: ln P(1)/P(0) + ln p(s|1)/p(s|0)
        g = logit(np.clip(cell[:, 1] / cell.sum(axis=1), 1e-10, 1 - 1e-10))
        log_odds = [sum(t[v] for t, v in zip(tables, x, strict=True)) + g[k] for x, k, _, _ in rows]
        missed = [abs(c - expit(f)) for (_, _, c, _), f in zip(rows, log_odds, strict=True)]
        error = sum(w * m for w, m in zip(weights, missed, strict=True)) / total
        if not 1e-10 <= error < 0.5:
            return rounds or [(1.0, tables, g)]
        beta = error / (1 - error)
        rounds.append((0.5 * math.log(1 / beta), tables, g))
        weights = [w * beta ** (1 - m) for w, m in zip(weights, missed, strict=True)]
        scale = total / sum(weights)
        weights = [w * scale for w in weights]
    return rounds


@LIGHT
@given(samples(), st.integers(2, 4), st.integers(2, 9))
def test_boosted_rounds_are_those_of_the_papers_table_of_copies(sample, n_rounds, n_cells):
    X, y, weight = sample
    model = coded(n_rounds=n_rounds, grid=n_cells).fit(X, y, weight)
    rounds = literal_boost(copies(X, y, weight, n_cells), 2, n_cells, n_rounds, 0.5)
    np.testing.assert_allclose(model.alphas_, [alpha for alpha, *_ in rounds], rtol=1e-10)
    for j, table in enumerate(model.evidence_):
        expected = [sum(a * tables[j][v] for a, tables, _ in rounds) for v in table.levels]
        np.testing.assert_allclose(table.weights, expected, rtol=1e-10, atol=1e-11)
    if len(rounds) > 1:
        g = np.maximum.accumulate(-sum(alpha * cells for alpha, _, cells in rounds))
        at = np.linspace(y.min(), y.max(), n_cells)
        for x, found in zip(X, model.predict(X), strict=True):  # the smallest y with even odds
            total = sum(a * sum(t[v] for t, v in zip(ts, x, strict=True)) for a, ts, _ in rounds)
            expected = np.interp(total, g + 1e-12 * np.arange(n_cells), at)
            at_a_jump = np.abs(total - g).min() < 1e-9
            assert at_a_jump or found == pytest.approx(expected, abs=1e-6)


@LIGHT
@given(samples())
def test_one_round_is_naive_bayes_on_soft_labels_in_closed_form(sample):
    X, y, weight = sample
    model = coded(n_rounds=1, smoothing=0).fit(X, y, weight)
    u = (y - y.min()) / np.ptp(y)
    up, down = weight * u, weight * (1 - u)
    total = np.zeros(len(y))
    for j, table in enumerate(model.evidence_):
        for v, w in zip(table.levels, table.weights, strict=True):
            held = X[:, j] == v
            shares = [
                np.clip(side[held].sum() / side.sum(), 1e-10, 1 - 1e-10) for side in (up, down)
            ]
            expected = np.log(shares[0] / shares[1]) if len(table.levels) > 1 else 0.0
            assert w / model.alphas_[0] == pytest.approx(expected, rel=1e-8, abs=1e-9)
            total[held] += expected
    order = np.sort(np.unique(y))
    F = np.array([weight[y <= value].sum() / weight.sum() for value in order])
    expected = [order[np.flatnonzero(expit(t) - 1e-9 <= F)[0]] for t in total]
    np.testing.assert_array_equal(model.predict(X), expected)


def test_the_closed_form_is_the_limit_of_the_copies_on_a_fine_grid():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, (40, 2)), random.random(40)
    y[:2] = 0, 1
    model = coded(n_rounds=1).fit(X, y)
    errors = []
    for n_points in (5, 50, 500):  # the paper's own copies: s at points, Y* = 1 if s >= y
        s = np.linspace(0, 1, n_points)
        up = (s[None] < y[:, None]).mean(axis=1)
        worst = 0.0
        for j, table in enumerate(model.evidence_):
            for v, w in zip(table.levels, table.weights, strict=True):
                held, m = X[:, j] == v, len(table.levels)
                p = [(side[held].sum() + 0.5) / (side.sum() + 0.5 * m) for side in (up, 1 - up)]
                worst = max(worst, abs(np.log(p[0] / p[1]) - w / model.alphas_[0]))
        errors.append(worst)
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.01


# ---------------------------------------------------------------- theorems


@LIGHT
@given(samples(), st.integers(1, 4))
def test_a_weight_of_two_is_a_row_given_twice(sample, n_rounds):
    X, y, weight = sample
    times = weight.astype(int)
    weighted = coded(n_rounds=n_rounds, grid=20).fit(X, y, weight)
    repeated = coded(n_rounds=n_rounds, grid=20).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-8, atol=1e-9)


@LIGHT
@given(samples(), st.floats(0.1, 50), st.floats(-100, 100))
def test_a_change_of_unit_changes_nothing_else(sample, factor, shift):
    X, y, weight = sample
    plain = coded(n_rounds=3, grid=20).fit(X, y, weight)
    other = coded(n_rounds=3, grid=20).fit(X, factor * y + shift, weight)
    np.testing.assert_allclose(other.predict(X), factor * plain.predict(X) + shift, rtol=1e-6)


@LIGHT
@given(samples(), st.integers(1, 4))
def test_estimates_stay_in_the_range_of_training_and_quantiles_in_order(sample, n_rounds):
    X, y, weight = sample
    model = coded(n_rounds=n_rounds, grid=20).fit(X, y, weight)
    rows = np.vstack([X, [[9, 9]]])
    ways = [model.predict_quantile(rows, q) for q in (0.01, 0.2, 0.5, 0.8, 0.99)]
    for low, high in pairwise(ways):
        assert (low <= high).all()
    assert y.min() <= ways[0].min()
    assert ways[-1].max() <= y.max()
    np.testing.assert_array_equal(ways[2], model.predict(rows))


@LIGHT
@given(samples(), st.integers(1, 4))
def test_a_sheet_starts_somewhere_and_its_changes_add_up_to_the_estimate(sample, n_rounds):
    X, y, weight = sample
    model = coded(n_rounds=n_rounds, grid=20).fit(X, y, weight)
    for row in (X[0], [9, 9]):
        sheet = model.balance_sheet(row)
        changes = sum(push.change for push in sheet.pushes)
        assert sheet.start + changes == pytest.approx(sheet.estimate, abs=1e-9)
        assert sheet.estimate == pytest.approx(model.predict([row])[0], abs=1e-9)
        assert sheet.interval[0] <= sheet.estimate <= sheet.interval[1]
        json.dumps(sheet.to_dict())
        assert "Estimate" in sheet.to_text(60)
        assert max(map(len, sheet.to_text(60).splitlines()[:-1])) <= 60
    assert all(push.weight == 0 for push in sheet.pushes)
    assert "(not seen in training)" in repr(sheet)


@LIGHT
@given(samples(), st.integers(1, 3))
def test_a_file_gives_the_same_bits(tmp_path_factory, sample, n_rounds):
    X, y, weight = sample
    model = coded(n_rounds=n_rounds, grid=20).fit(X, y, weight)
    model._learnt = replace(model._learnt, scale=0.37)  # which quantiles must keep
    path = tmp_path_factory.mktemp("file") / "model.json"
    weigh.save(model, path)
    validate(path)
    loaded = weigh.load(path)
    assert (loaded.predict(X) == model.predict(X)).all()
    assert (loaded.predict_quantile(X, 0.9) == model.predict_quantile(X, 0.9)).all()
    assert repr(loaded.balance_sheet(X[0])) == repr(model.balance_sheet(X[0]))


@pytest.mark.parametrize(
    "spoil",
    [
        {"points": [2.0, 1.0]},
        {"points": []},
        {"levels": [0.0]},
        {"levels": "ab"},
        {"steps": 1},
        {"scale": 0},
        {"evidence": {}},
    ],
)
def test_a_broken_file_is_refused(tmp_path, spoil):
    path = tmp_path / "model.json"
    weigh.save(coded(n_rounds=2).fit([[0], [1], [1]], [1.0, 2.0, 4.0]), path)
    data = read_model(path)
    data["estimate"].update(spoil)
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=path.name):
        weigh.load(path)


# ---------------------------------------------------------------- extremes


def test_blocks_of_rows_add_up(monkeypatch):
    random = np.random.default_rng(5)
    X, y = random.integers(0, 4, (500, 2)), random.normal(size=500)
    whole = coded(n_rounds=4).fit(X, y)
    monkeypatch.setattr("weigh.boosted.projection.BLOCK", 64)
    parts = coded(n_rounds=4).fit(X, y)
    np.testing.assert_allclose(parts.alphas_, whole.alphas_, rtol=1e-12)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-10)


def test_the_order_of_rows_does_not_decide_how_wide_quantiles_are():
    random = np.random.default_rng(0)
    loud = np.repeat([0.1, 3.0], [3000, 9000])
    X = random.integers(0, 6, (12_000, 2))
    y = X.sum(axis=1) + random.normal(size=12_000) * loud
    shuffle = random.permutation(12_000)
    model = BoostedNBRegressor(categorical_features="all", n_rounds=3, random_state=0)
    in_order = model.fit(X, y).scale_
    assert model.fit(X[shuffle], y[shuffle]).scale_ == pytest.approx(in_order, rel=0.2)


def test_features_that_are_worth_the_same_get_the_same_change():
    random = np.random.default_rng(1)
    X = random.integers(0, 2, (800, 3))
    y = 10.0 * X.sum(axis=1) + random.random(800)
    sheet = (
        BoostedNBRegressor(categorical_features="all", random_state=0)
        .fit(X, y)
        .balance_sheet(X[:1] * 0 + 1)
    )
    changes = [push.change for push in sheet.pushes]
    assert max(changes) / min(changes) < 1.15


def test_estimates_do_not_leave_the_targets_for_a_wider_range():
    random = np.random.default_rng(2)
    X = random.integers(0, 3, (100, 1))
    y = X[:, 0] + random.random(100)
    model = coded(y_range=(-1000, 1000)).fit(X, y)
    assert y.min() <= model.predict(X).min() <= model.predict(X).max() <= y.max()
    whole = coded(n_rounds=5).fit(X, (X[:, 0] > 1).astype(float)).predict(X)
    assert {*whole.round(6)} == {0.0, 1.0}


def test_targets_too_far_apart_are_refused():
    with pytest.raises(ValueError, match="set y_range"):
        coded().fit([[0], [1]], [-1e308, 1e308])


def test_more_rounds_learn_what_one_cannot():
    random = np.random.default_rng(1)
    X = random.normal(size=(600, 4))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.2 * random.normal(size=600)
    scores = [
        cross_val_score(BoostedNBRegressor(n_rounds=n, calibrate_scale=False), X, y).mean()
        for n in (1, 10)
    ]
    assert scores[0] < 0.7 < 0.8 < scores[1]


def test_quantiles_hold_the_share_of_new_rows_that_they_promise():
    random = np.random.default_rng(2)
    X = random.integers(0, 4, (6000, 2))
    y = X[:, 0] + (1 + X[:, 1]) * random.normal(size=6000)
    model = BoostedNBRegressor(categorical_features="all", random_state=0).fit(X[:3000], y[:3000])
    inside = (y[3000:] >= model.predict_quantile(X[3000:], 0.1)) & (
        y[3000:] <= model.predict_quantile(X[3000:], 0.9)
    )
    assert 0.77 < inside.mean() < 0.85
    assert model.predict_quantile(X[:2], [0.1, 0.5]).shape == (2, 2)
    bold = clone(model).set_params(calibrate_scale=False).fit(X[:3000], y[:3000])
    assert (bold.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("n_rounds", [1, 5])
def test_a_constant_target_is_the_estimate(n_rounds):
    X = np.arange(20).reshape(-1, 1) % 3
    model = BoostedNBRegressor(n_rounds=n_rounds, random_state=0).fit(X, np.full(20, 7.5))
    assert (model.predict(X) == 7.5).all()
    assert model.balance_sheet([1]).estimate == 7.5
    assert repr(model.balance_sheet([1]))


def test_early_stopping_keeps_the_rounds_of_the_least_held_out_loss():
    random = np.random.default_rng(3)
    X = random.integers(0, 4, (300, 6)).astype(float)
    y = X[:, 0] + random.normal(size=300)
    model = BoostedNBRegressor(n_rounds=8, early_stopping=True, random_state=0).fit(X, y)
    assert len(model.held_out_) == 8
    assert len(model.alphas_) == model.held_out_.argmin() + 1
    fixed = BoostedNBRegressor(n_rounds=len(model.alphas_), random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), fixed.predict(X))
    assert model.scale_ == pytest.approx(fixed.scale_, rel=1e-4)
    assert fixed.held_out_ is None


def test_an_outlier_does_not_set_the_scale_where_a_range_is_given():
    random = np.random.default_rng(3)
    X = random.normal(size=(500, 1))
    y = X[:, 0] + 0.1 * random.normal(size=500)
    y[0] = 1e6
    with pytest.warns(UserWarning, match="y ranges from .* but 98% of it from"):
        wild = BoostedNBRegressor(calibrate_scale=False).fit(X, y)
    tame = BoostedNBRegressor(calibrate_scale=False, y_range=(-3, 3)).fit(X, y)
    clean = slice(1, None)
    assert np.median(np.abs(wild.predict(X)[clean] - y[clean])) > 2
    assert np.median(np.abs(tame.predict(X)[clean] - y[clean])) < 0.3
    assert tame.predict(X).max() <= 3


def test_missing_answers_and_crosses_are_read_as_in_every_learner():
    random = np.random.default_rng(4)
    table = pd.DataFrame({"a": random.integers(0, 2, 400), "b": random.integers(0, 2, 400)})
    table["y"] = 10.0 * (table["a"] ^ table["b"]) + random.normal(size=400)
    table.loc[:40, "a"] = None
    joint = BoostedNBRegressor(crosses=[("a", "b")], categorical_features="all", random_state=0)
    joint.fit(table, "y")
    rows = table.iloc[50:]
    assert joint.score(rows, rows["y"]) > 0.9
    assert [part.name for part in joint.evidence_] == ["a & b"]
    skipped = clone(joint).set_params(missing="skip").fit(table, "y")
    assert skipped.balance_sheet({"a": None, "b": 1}).pushes[0].weight == 0


def test_a_search_over_its_parameters_works():
    X = np.arange(60.0).reshape(-1, 1)
    search = GridSearchCV(BoostedNBRegressor(calibrate_scale=False), {"n_rounds": [1, 4]}, cv=3)
    best = search.fit(X, np.sqrt(X[:, 0])).best_estimator_
    same = BoostedNBRegressor(calibrate_scale=False, **search.best_params_).fit(X, np.sqrt(X[:, 0]))
    assert (best.predict(X) == same.predict(X)).all()


def test_columns_that_a_dict_of_bins_does_not_name_have_the_default_bins():
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = BoostedNBRegressor(bins={"x0": 3}).fit(X, X[:, 1])
    assert [len(feature.levels) for feature in model._learnt.features] == [3, 10]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_rounds": 0}, "n_rounds .*1 or more, got 0"),
        ({"n_rounds": True}, "n_rounds"),
        ({"grid": 1}, "grid .*2 or more, got 1"),
        ({"bins": "mdl"}, "bins='mdl' needs classes"),
        ({"y_range": (3, 3)}, "y_range must be two numbers in ascending order"),
        ({"y_range": 3}, "y_range must be two numbers"),
        ({"y_range": (300, 400)}, r"y_range=\(300, 400\) must overlap the values of y, .* 1 to 2"),
        ({"y_range": (0, np.inf)}, "y_range must be two numbers"),
        ({"calibrate_scale": "no"}, "calibrate_scale.*'no'"),
        ({"smoothing": -1}, "smoothing"),
        ({"cv": "fold"}, "cv must be .*, got 'fold'"),
    ],
)
def test_a_parameter_of_a_wrong_kind_is_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        BoostedNBRegressor(**parameters).fit([[1.0], [2.0]], [1.0, 2.0])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan, 2.0], "y is empty, NaN or infinite in 1 of 3 rows, first in row 1 "),
        (["a", "b", "c"], "y must hold numbers, not text; a classifier takes classes"),
        ([1.0, 2.0], "X and y .*3 .*2"),
    ],
)
def test_a_target_that_is_no_number_is_named(y, message):
    with pytest.raises(ValueError, match=message):
        BoostedNBRegressor().fit([[1.0], [2.0], [3.0]], y)


@pytest.mark.parametrize("q", [0, 1, -0.5, "half", np.nan])
def test_a_quantile_lies_between_0_and_1(q):
    model = coded(n_rounds=1).fit([[0], [1]], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"q .*between 0 and 1"):
        model.predict_quantile([[0]], q)


def test_the_command_line_estimates_and_explains(tmp_path):
    table = pd.DataFrame({"a": list("xyz") * 20, "b": np.arange(60.0)})
    table["y"] = table["b"] + 10 * (table["a"] == "x")
    data, model = tmp_path / "rows.csv", tmp_path / "model.json"
    table.to_csv(data, index=False)
    words = ["fit", str(data), "--target", "y", "--learner", "boosted-regressor", "-o", str(model)]
    run = CliRunner().invoke
    assert run(main, words).exit_code == 0
    scored = run(main, ["score", str(model), str(data)])
    assert scored.stdout.splitlines()[0] == '"estimate","low","high"'
    expected = BoostedNBRegressor(random_state=0).fit(table, "y").predict(table)
    found = [float(line.split(",")[0]) for line in scored.stdout.splitlines()[1:]]
    np.testing.assert_allclose(found, expected)
    page = run(main, ["explain", str(model), str(data), "--row", "3"])
    assert "Start: nothing known" in page.stdout
    shown = run(main, ["show", str(model)])
    assert "Weights of evidence for up against down" in shown.stdout
    refused = run(main, ["explain", str(model), str(data), "--pos-label", "up"])
    assert refused.exit_code == 1
    assert "has no classes" in refused.stderr


def test_an_exposure_for_a_model_without_one_is_refused_by_name():
    people = weigh.datasets.titanic()
    model = weigh.EvidenceNB().fit(people, "Survived")
    with pytest.raises(weigh.errors.ParameterError) as error:
        weigh.score_table(model, people, exposure=2)
    assert error.value.parameter == "exposure"


def test_the_command_line_says_what_weights_do_to_the_number(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"rooms": random.integers(1, 6, 200), "town": random.choice([*"ab"], 200)})
    frame["price"] = 10.0 * frame["rooms"] + random.normal(0, 1, 200)
    data, path = tmp_path / "homes.csv", tmp_path / "m.json"
    frame.to_csv(data, index=False)
    asked = ["fit", str(data), "--target", "price", "--learner", "boosted-regressor"]
    found = CliRunner().invoke(main, [*asked, "-o", str(path)])
    for told in (found, CliRunner().invoke(main, ["show", str(path)])):
        assert "Positive weights raise the estimate" in told.stderr
        assert "favour" not in told.stderr


def test_the_command_line_compares_the_regressor_that_fit_would_choose(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"rooms": random.integers(1, 6, 90)})
    frame["price"] = 10.0 * frame["rooms"] + random.normal(0, 1, 90)
    data = tmp_path / "homes.csv"
    frame.to_csv(data, index=False)
    asked = ["compare", str(data), "--target", "price", "--folds", "2", "--learner"]
    short, long = (
        CliRunner().invoke(main, [*asked, name]) for name in ("educated", "educated-regressor")
    )
    assert short.exit_code == 0, short.stderr
    assert "regressors are compared" in short.stderr
    assert "EducatedRegressor" in short.stdout
    assert len(short.stdout.splitlines()) == len(long.stdout.splitlines())
