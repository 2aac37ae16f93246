"""The best model within a budget: `weigh.simplify`."""

import re
import shlex
from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone

import weigh
from weigh.budget.levels import Groupings, Shape, allocate_levels, choose_groups
from weigh.budget.quadratic import LossExpansion, find_points
from weigh.budget.small import SampleRows, TableRanking
from weigh.cli import main
from weigh.frames import write_file
from weigh.store.scorer import load_scorer


def draw(n=500, seed=0, n_classes=2):
    """Numbers with gaps and codes, categories, ordered categories, noise."""
    rng = np.random.default_rng(seed)
    town, size = rng.choice([*"abcdefgh"], n), rng.choice(["S", "M", "L", "XL"], n)
    X = pd.DataFrame(
        {
            "age": rng.normal(45, 12, n).round(),
            "income": np.where(rng.random(n) < 0.2, -999.0, rng.normal(size=n)),
            "town": town,
            "size": pd.Categorical(size, ["S", "M", "L", "XL"], ordered=True),
            "gap": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "noise": rng.normal(size=n),
        }
    )
    odds = np.abs(X.age - 45) / 8 + 1.2 * np.isin(town, [*"ace"]) + X.gap.fillna(1) - 2
    p = 1 / (1 + np.exp(-odds.to_numpy()))
    y = (rng.random(n) < p).astype(int) + (n_classes - 2) * (rng.random(n) < 0.3)
    X.loc[rng.random(n) < 0.05, "town"] = None
    return X, y


LEARNER = weigh.EducatedNB(pairs=0, special_values={"income": [-999]})


@pytest.fixture(scope="module")
def fitted():
    X, y = draw()
    return LEARNER.fit(X, y), X, y


def count_levels(model):
    return [len(table.levels) for table in model.evidence_]


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 7), st.integers(2, 6), st.none() | st.integers(2, 20), st.integers(2, 3))
def test_the_budget_is_respected(features, levels, total, n_classes):
    X, y = draw(150, n_classes=n_classes)
    model = weigh.EducatedNB(pairs=0, special_values={"income": [-999]}).fit(X, y)
    small = weigh.simplify(model, X, y, features, levels, total)
    sizes = count_levels(small)
    assert len(sizes) <= features
    assert max(sizes) <= levels
    assert sum(sizes) <= (total or np.inf)
    assert small.predict_proba(X).shape == (len(X), n_classes)


def test_the_small_model_is_the_joint_fit_of_its_own_parameters(fitted):
    model, X, y = fitted
    small = weigh.simplify(model, X, y, features=3, levels=4)
    again = weigh.EducatedNB(**small.get_params()).fit(X[[*small.feature_names_in_]], y)
    assert (again.predict_proba(X) == small.predict_proba(X)).all()
    residual = y - small.predict_proba(X)[:, 1]
    assert abs(residual.sum()) < 1e-6 * len(y)  # the gradient of the intercept, which has no prior


def test_informative_features_are_kept(fitted):
    model, X, y = fitted
    small = weigh.simplify(model, X, y, features=3)
    assert {*small.evidence_.names} == {"age", "town", "gap"}
    assert {"a", "c", "e"} <= {*small.evidence_["town"].levels[0].values}


def near(fitted, at_optimum=True):
    model, X, y = fitted
    rows = SampleRows.read(model, X, y)
    return LossExpansion.at(model.evidence_, rows.sample, at_optimum), rows


def test_the_quadratic_has_the_gradient_and_the_curvature_of_the_loss(fitted):
    model, X, y = fitted
    quadratic, _ = near(fitted, at_optimum=False)
    evidence = model.evidence_
    weights = np.concatenate([evidence.prior_row, *(t.by_class[:, 0] for t in evidence)])
    codes = [p.levels[p.codes] for p in weigh.engine.place(evidence.read(X), evidence.features)]
    design = np.hstack([np.ones((len(X), 1)), *map(_one_hot, codes, evidence)])

    def loss(w):
        totals = design @ w
        return np.logaddexp(0, totals).sum() - totals @ y

    step = 1e-3 * np.random.default_rng(0).normal(size=len(weights))
    change = 5 * (loss(weights + step / 10) - loss(weights - step / 10))
    bend = loss(weights + step) + loss(weights - step) - 2 * loss(weights)
    slope = quadratic.hessian[0] @ weights - quadratic.right[0]
    assert_allclose(slope @ step, change, rtol=1e-5)
    assert_allclose(step @ quadratic.hessian[0] @ step, bend, rtol=1e-4)


def _one_hot(codes, table):
    return np.eye(len(table.levels) + 1)[codes][:, :-1]


def test_the_first_table_removed_is_the_one_without_which_the_least_loss_rises_least(fitted):
    quadratic, _ = near(fitted)
    every, gone = [*range(len(quadratic.spans))], quadratic.eliminate()
    for k in range(len(every) - 1):
        left = [j for j in every if j not in gone[:k]]
        costs = {j: quadratic.kept([i for i in left if i != j]).least() for j in left}
        assert min(costs, key=costs.get) == gone[k]


def partitions(items):
    """Every way to put items into groups, as the number of each item's group."""
    if not items:
        return [[]]
    return [[*p, k] for p in partitions(items[1:]) for k in range(max(p, default=-1) + 2)]


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("most", [2, 3, 4])
def test_groups_of_one_table_are_the_best_of_all_partitions(ordered, most):
    rng = np.random.default_rng(most)
    weights, curvature = rng.normal(size=(7, 1)), rng.uniform(1, 20, 7)
    found = Groupings.find(Shape(7, 0, ordered), weights, curvature, most)

    def error(groups):
        groups = np.array(groups)
        own = (weights[groups == g, 0] for g in set(groups))
        rows = (curvature[groups == g] for g in set(groups))
        return sum((r * (w - r @ w / r.sum()) ** 2).sum() for w, r in zip(own, rows, strict=True))

    tried = [p for p in partitions([*range(7)]) if max(p) < most]
    if ordered:
        tried = [p for p in tried if sum(a != b for a, b in pairwise(p)) == max(p)]
    assert_allclose(error(found.groups[-1]), min(map(error, tried)), rtol=1e-9)
    assert_allclose(found.costs[-1], error(found.groups[-1]) / 2, rtol=1e-9)


def test_levels_are_allotted_as_the_best_of_all_allotments():
    rng = np.random.default_rng(0)
    groups = tuple(np.arange(4).clip(max=k) for k in range(4))
    ways = [Groupings(np.sort(rng.exponential(size=4))[::-1], groups) for _ in range(4)]
    for total in range(2, 17):
        sizes = allocate_levels(ways, total)
        every = [s for s in product(range(1, 5), repeat=4) if sum(k for k in s if k > 1) <= total]
        costs = [sum(w.costs[k - 1] for w, k in zip(ways, s, strict=True)) for s in every]
        assert sum(k for k in sizes if k > 1) <= total
        own = sum(w.costs[k - 1] for w, k in zip(ways, sizes, strict=True))
        assert_allclose(own, min(costs))


def test_tables_that_take_turns_do_not_raise_the_loss_of_tables_by_themselves(fitted):
    quadratic, _ = near(fitted)
    shapes = [Shape.of(feature) for feature in fitted[0].evidence_.features]
    together = choose_groups(quadratic, shapes, 3)
    curvature, weights = np.diagonal(quadratic.hessian[0]), quadratic.solve()
    alone = [
        Groupings.find(shape, weights[:, span].T, curvature[span], 3).groups[-1]
        for shape, span in zip(shapes, quadratic.spans, strict=True)
    ]
    assert quadratic.merged(together).least() <= quadratic.merged(alone).least() + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_the_features_are_within_two_thousandths_of_a_bit_of_the_best_of_all_subsets(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(800, 6))
    Z[:, 3:] = Z[:, :3] + 0.7 * Z[:, 3:]  # each of three has a twin
    X = pd.DataFrame(Z, columns=[*"abcdef"])
    y = rng.random(800) < 1 / (1 + np.exp(-Z @ rng.normal(size=6)))
    model = weigh.EducatedNB(pairs=0).fit(X, y)
    rows = SampleRows.read(model, X, y)
    ranking = TableRanking.of(model.evidence_, rows, 4)

    def loss(names):
        return rows.fit(names, {name: ranking.bins[name] for name in names}).loo_loss_

    best = min(loss(names) for names in combinations(X.columns, 3))
    assert loss(ranking.best(3)) <= best + 0.002


def test_one_feature_is_the_one_that_tells_most_alone_even_if_others_together_replace_it():
    rng = np.random.default_rng(0)
    parts = rng.integers(0, 3, (1500, 2))
    y = rng.random(1500) < 1 / (1 + np.exp(4 - 2 * parts.sum(axis=1)))
    off = (rng.random(1500) < 0.15).astype(int) - (rng.random(1500) < 0.15)
    both = np.clip(parts.sum(axis=1) + off, 0, 4)
    X = pd.DataFrame({"a": parts[:, 0], "b": parts[:, 1], "both": both}).astype(str)
    model = weigh.EducatedNB(pairs=0).fit(X, y)
    assert weigh.simplify(model, X, y, features=1, levels=5).evidence_.names == ("both",)


@pytest.mark.parametrize("learner", [weigh.EvidenceNB(), weigh.AdjustedNB(random_state=0)])
def test_other_learners_give_their_columns_and_parameters_alone(fitted, learner):
    model, X, y = fitted
    given = learner.set_params(special_values={"income": [-999]}).fit(X, y)
    small = weigh.simplify(given, X, y, features=3, levels=4)
    same = weigh.simplify(model, X, y, features=3, levels=4)
    assert (small.predict_proba(X) == same.predict_proba(X)).all()


def test_pairs_are_looked_for_among_the_features_that_are_kept(fitted):
    model, X, y = fitted
    small = weigh.simplify(model, X, y, features=2, levels=3, pairs=1)
    assert len(small.pairs_) <= 1
    assert len(small.feature_names_in_) <= 2


def test_parameters_by_column_follow_the_columns_that_are_kept():
    X, y = draw()
    monotone = {"gap": 1, "noise": 1}
    model = weigh.EducatedNB(pairs=0, monotonic_cst=monotone, missing={"gap": "skip"}).fit(X, y)
    small = weigh.simplify(model, X, y, features=3, levels=4)
    assert small.monotonic_cst == {n: 1 for n in monotone if n in small.evidence_}
    assert (np.diff(small.evidence_["gap"].weights) >= 0).all()


def test_a_small_model_is_saved_and_read_again(fitted, tmp_path):
    model, X, y = fitted
    small = weigh.simplify(model, X, y, features=3, levels=3, sample_weight=np.ones(len(y)))
    weigh.save(small, tmp_path / "small.json")
    again = weigh.load(tmp_path / "small.json")
    assert (again.predict_proba(X) == small.predict_proba(X)).all()
    assert again.bins == small.bins


@pytest.mark.parametrize(
    ("name", "value"), [("features", 0), ("levels", 1), ("total_levels", 1), ("pairs", -1)]
)
def test_an_impossible_budget_is_refused_by_name(fitted, name, value):
    model, X, y = fitted
    with pytest.raises(ValueError, match=f"{name} must be"):
        weigh.simplify(model, X, y, **{name: value})


def test_what_has_no_names_or_no_tables_is_refused(fitted):
    _, X, y = fitted
    Z = X[["age", "noise"]].to_numpy()
    with pytest.raises(ValueError, match="column names"):
        weigh.simplify(weigh.EvidenceNB().fit(Z, y), Z, y)


@pytest.mark.parametrize("ask", [weigh.simplify, weigh.price, weigh.edit])
def test_a_model_of_numbers_is_refused_by_name(fitted, ask):
    _, X, y = fitted
    model = weigh.BoostedNBRegressor().fit(X, X["gap"].fillna(0))
    with pytest.raises(ValueError, match="BoostedNBRegressor"):
        ask(model, X, y)
    if ask is weigh.simplify:
        with pytest.raises(ValueError, match="simplify"):
            ask(weigh.EducatedRegressor().fit(X, X["gap"].fillna(0)), X, y)
    if ask is weigh.edit:
        return  # cards are edited, too
    with pytest.raises(ValueError, match="Scorecard"):
        ask(weigh.Scorecard(weigh.EvidenceNB().fit(X, y)), X, y)


def test_the_command_line_gives_the_model_that_python_gives(tmp_path):
    people = weigh.datasets.titanic()
    weigh.save(weigh.EducatedNB(pairs=0).fit(people, "Survived"), tmp_path / "model.json")
    pd.DataFrame(people.to_pandas()).to_csv(tmp_path / "people.csv", index=False)
    files = [str(tmp_path / name) for name in ("model.json", "people.csv")]
    words = ["simplify", *files, "--features", "2", "--total-levels", "5"]
    told = CliRunner().invoke(main, [*words, "-o", str(tmp_path / "small.json")])
    assert told.exit_code == 0, told.output
    small = weigh.load(tmp_path / "small.json")
    model = weigh.load(tmp_path / "model.json")
    same = weigh.simplify(model, people, "Survived", features=2, total_levels=5)
    assert (small.predict_proba(people) == same.predict_proba(people)).all()


# ---------------------------------------------------------------- whole points


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 5), st.integers(1, 3), st.integers(0, 10**6))
def test_no_change_of_one_point_or_of_two_by_one_each_lowers_the_loss(n, most, seed):
    rng = np.random.default_rng(seed)
    basis, weights = rng.normal(size=(n + 2, n)), rng.normal(size=n)
    curvature = basis.T @ basis + 0.1 * np.eye(n)
    found, size = find_points(curvature, weights, most, np.ones(n, dtype=bool))

    def rise(points):
        """The literal version: the least loss over all scales, by a line search in closed form."""
        scale = (points @ curvature @ weights) / (points @ curvature @ points)
        apart = scale * points - weights
        return apart @ curvature @ apart

    def is_near(points):
        steps = np.abs(points - found)
        return (steps > 0).sum() == 1 or ((steps > 0).sum() == 2 and steps.max() == 1)

    every = (np.array(k) for k in product(range(-most, most + 1), repeat=n) if any(k))
    assert np.abs(found).max() <= most
    assert rise(found) <= min(rise(k) for k in every if is_near(k)) * (1 + 1e-9)
    own = size * found - weights
    assert own @ curvature @ own == pytest.approx(rise(found), rel=1e-9)


@pytest.mark.parametrize("points", [1, 5])
def test_weights_are_whole_points_of_one_size(fitted, points):
    model, X, y = fitted
    small = weigh.simplify(model, X, y, features=3, levels=4, points=points)
    shares = np.concatenate([t.weights for t in small.evidence_]) / small.point_
    assert_allclose(shares, shares.round(), atol=1e-9)
    assert 0 < np.abs(shares).max() <= points + 1e-9
    assert not np.isfinite(small.loo_loss_)


def test_margins_of_a_pair_are_whole_points_too():
    """What one answer of a pair says where the other is not known."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 4, 2000)
    second = np.where(rng.random(2000) < 0.8, first, rng.integers(0, 4, 2000))
    others = rng.integers(0, 2, (2000, 3))
    total = 1.2 * (first + second - 3) - 2.0 * (first == second) + (2 * others - 1).sum(axis=1)
    X = pd.DataFrame(np.column_stack([first, second, others]), columns=[*"abcde"]).astype(str)
    y = rng.random(2000) < 1 / (1 + np.exp(-total))
    model = weigh.EducatedNB(pairs=[("a", "b")]).fit(X, y)
    for points in (2, 50):
        small = weigh.simplify(model, X, y, features=5, levels=4, pairs=1, points=points)
        shares = np.vstack(small.evidence_["a & b"].margins) / small.point_
        assert_allclose(shares, shares.round(), atol=1e-9)
        assert 0 < np.abs(shares).max() <= points + 1e-9


def test_the_size_of_a_point_is_kept_in_files_and_dropped_with_the_points(fitted, tmp_path):
    model, X, y = fitted
    small = weigh.simplify(model, X, y, features=3, levels=4, points=5)
    weigh.save(small, tmp_path / "small.json")
    assert weigh.load(tmp_path / "small.json").point_ == small.point_
    known = weigh.summarise(small, X, y)  # whose weights are the same
    assert known.point_ == small.point_
    for other in (weigh.update(known, X, y), known.merge(known), clone(small).fit(X, y)):
        assert other.point_ is None


def test_a_sheet_of_whole_points_says_why_it_has_no_interval(fitted, tmp_path):
    model, X, y = fitted
    small = weigh.simplify(model, X, y, features=3, levels=4, points=5)
    weigh.save(small, path := tmp_path / "small.json")
    for one in (small, weigh.load(path), load_scorer(path)):
        assert "whole points" in one.balance_sheet({}).no_interval


def test_a_model_with_joined_categories_can_be_summarised_from_all_columns():
    people = weigh.datasets.titanic()
    model = weigh.EducatedNB(pairs=0).fit(people, "Survived")
    small = weigh.simplify(model, people, "Survived", features=2, levels=3)
    again = weigh.summarise(small, people, "Survived").merge()
    assert len(small.evidence_["Class"].levels) < len(model.evidence_["Class"].levels)
    assert_allclose(again.decision_function(people), small.decision_function(people), atol=0.02)


def test_the_command_line_tells_that_all_points_are_zero(tmp_path):
    paths = [str(tmp_path / name) for name in ("t.csv", "m.json", "s.json")]
    write_file(pa.table({"x": ["a", "a", "b", "b"] * 50, "y": [0, 1, 0, 1] * 50}), paths[0])
    for words in (
        ["fit", paths[0], "--target", "y", "-o", paths[1]],
        ["simplify", paths[1], paths[0], "--target", "y", "--points", "5", "-o", paths[2]],
    ):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output + done.stderr
    assert "0" in done.stderr
    assert weigh.load(paths[2]).point_ == 0


def test_points_chosen_together_lose_less_than_weights_rounded_one_by_one(fitted):
    model, X, y = fitted
    plain = weigh.simplify(model, X, y, features=4, levels=4)
    small = weigh.simplify(model, X, y, features=4, levels=4, points=3)
    p = plain.predict_proba(X)[:, 1]

    def rise(totals):
        """To second order: half the curvature of each row times its squared change."""
        apart = totals - plain.decision_function(X)
        apart = apart - np.average(apart, weights=p * (1 - p))  # the best intercept
        return 0.5 * float((p * (1 - p)) @ apart**2)

    weights = [t.weights for t in plain.evidence_]
    heaviest = max(np.abs(w).max() for w in weights)
    parts = plain.contributions(X)
    rounded = [rise((np.rint(parts * k / heaviest) * heaviest / k).sum(axis=1)) for k in (1, 2, 3)]
    assert rise(small.decision_function(X)) < min(rounded)


def test_a_scorecard_of_whole_points_has_these_points_and_the_same_probabilities(fitted, tmp_path):
    model, X, y = fitted
    small = weigh.simplify(model, X, y, features=3, levels=4, points=4)
    odds = float(np.exp(small.evidence_.prior))
    card = weigh.Scorecard(small, np.log(2) / small.point_, 0, odds)
    for table in small.evidence_:
        assert_allclose(card.points[table.name], table.weights / small.point_, atol=1e-9)
    assert_allclose(card.predict_proba(X), small.predict_proba(X), atol=1e-12)
    weigh.save(small, tmp_path / "small.json")
    assert_allclose(weigh.load(tmp_path / "small.json").predict_proba(X), small.predict_proba(X))


def test_monotone_tables_stay_monotone_in_whole_points():
    X, y = draw()
    learner = weigh.EducatedNB(pairs=0, monotonic_cst={"gap": 1}).fit(X[["gap", "age", "town"]], y)
    small = weigh.simplify(learner, X, y, features=3, levels=5, points=3)
    weights = small.evidence_["gap"].weights[: small.evidence_["gap"].feature.n_intervals]
    assert (np.diff(weights) >= -1e-12).all()


def test_points_need_two_classes_and_a_positive_number(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="points"):
        weigh.simplify(model, X, y, points=0)
    X, y = draw(n_classes=3)
    with pytest.raises(ValueError, match="points"):
        weigh.simplify(weigh.EducatedNB(pairs=0).fit(X, y), X, y, points=3)


def test_the_command_gives_whole_points_and_the_card_that_prints_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = draw()
    X.assign(y=np.where(y, "yes", "no")).to_csv("rows.csv", index=False)
    fit = ["fit", "rows.csv", "--target", "y", "--set", "pairs=0", "-o", "m.json"]
    fewer = ["simplify", "m.json", "rows.csv", "--target", "y", "--features", "3", "--points", "3",
             "-o", "small.json"]  # fmt: skip
    for words in (fit, fewer):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
    small, given = weigh.load("small.json"), re.findall(": weigh (.* -o CARD)", done.stderr)
    for words, adverse, sign in zip(given, ("no", "yes"), (1, -1), strict=True):
        done = CliRunner().invoke(main, shlex.split(words))
        assert done.exit_code == 0, done.output
        card = weigh.load("CARD")
        assert (card.adverse, card.base_points) == (adverse, 0)
        for table in small.evidence_:
            assert_allclose(card.points[table.name], sign * table.weights / small.point_, atol=1e-9)
        assert_allclose(card.predict_proba(X)[:, ::sign], small.predict_proba(X), atol=1e-5)


def test_of_two_copies_of_a_column_the_first_is_kept():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({f"x{i}": rng.normal(size=600) for i in range(4)})
    X["copy"], X["town"] = 2 * X.x0, rng.choice([*"abc"], 600)
    X["district"] = X.town.str.upper()
    total = 1.5 * X.x0 + X.x1 + 0.8 * (X.town == "a")
    y = (rng.random(600) < 1 / (1 + np.exp(-total))).astype(int)
    model = weigh.EducatedNB(pairs=0).fit(X, y)
    for features in (2, 4, 7):
        names = {*weigh.simplify(model, X, y, features=features, levels=5).evidence_.names}
        assert not names & {"copy", "district"}
        assert {"x0", "x1"} <= names


@pytest.mark.parametrize("learner", [weigh.EvidenceNB, weigh.EducatedNB])
def test_groups_of_codes_that_look_like_numbers_stay_categories(learner):
    rng = np.random.default_rng(0)
    codes, age = rng.integers(1, 6, 600), rng.normal(size=600)
    y = rng.random(600) < 1 / (1 + np.exp(-np.array([0, 2, -2, 2, -2, 0])[codes] - age))
    table = pa.table({"code": codes, "age": age, "town": rng.choice([*"ab"], 600), "y": y})
    given = learner(bins={"code": [[1, 3], [2], [4, 5]], "age": [-1.0, 0.0, 1.0]})
    model = given.fit(table, "y")
    small = weigh.simplify(model, table, "y", features=2, levels=3)
    assert small.evidence_["code"].labels == ("1 or 3", "2", "4 or 5")


def test_the_command_says_that_it_used_rows_that_the_model_did_not(tmp_path):
    people = weigh.datasets.titanic()
    model, table = tmp_path / "model.json", tmp_path / "people.csv"
    people.to_pandas().to_csv(table, index=False)
    train, _ = weigh.split(people, "Survived")
    asked = ["simplify", str(model), str(table), "--target", "Survived", "-o", str(tmp_path / "s")]
    for rows, told in ((train, True), (people, False)):
        weigh.save(weigh.EducatedNB(pairs=0).fit(rows, "Survived"), model)
        result = CliRunner().invoke(main, asked)
        assert result.exit_code == 0
        assert ("weigh split" in result.stderr) == told
    half = np.full(people.num_rows, 0.5)  # the rows count, not what they weigh
    weigh.save(weigh.EducatedNB(pairs=0).fit(people, "Survived", sample_weight=half), model)
    assert "weigh split" not in CliRunner().invoke(main, asked).stderr
