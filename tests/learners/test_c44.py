"""C44Classifier: Quinlan's rules row by row, his examples, theorems of trees, files, bad input."""

import copy
import json
import math
import pickle
from collections import defaultdict
from dataclasses import FrozenInstanceError, dataclass, field, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import csv
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from tests.model_files import read_model, validate

import weigh
from weigh import C44Classifier, datasets
from weigh.c44 import kernels
from weigh.cli import main

LIGHT = settings(max_examples=60, deadline=None)
EQUAL = 1e-9


# ---------------------------------------------------------------- C4.5 row by row


@dataclass
class Literal:
    """A node of the slow tree."""

    counts: dict
    feature: int | None = None
    branches: dict = field(default_factory=dict)


def entropy(weights):
    total = sum(weights)
    return -sum(w / total * math.log2(w / total) for w in weights if w > 0)


def by_class(rows):
    counts = defaultdict(float)
    for _, label, weight in rows:
        counts[label] += weight
    return dict(counts)


def total_weight(rows):
    return sum(weight for _, _, weight in rows)


def literal_split(rows, j, min_rows):
    """Gain and gain ratio of feature j, or None where it is no split (None is no level)."""
    parts = defaultdict(list)
    for row in rows:
        parts[row[0][j]].append(row)
    unknown = parts.pop(None, [])
    if sum(total_weight(part) >= min_rows * (1 - EQUAL) for part in parts.values()) < 2:
        return None
    known = [row for part in parts.values() for row in part]
    inside = sum(
        total_weight(part) / total_weight(known) * entropy(by_class(part).values())
        for part in parts.values()
    )
    share = total_weight(known) / total_weight(rows)
    gain = share * (entropy(by_class(known).values()) - inside)
    sizes = [total_weight(part) for part in parts.values()] + [total_weight(unknown)]
    return gain, gain / entropy(sizes)


def literal_grow(rows, free, min_rows, gaps):
    """Quinlan's recursion; `gaps` collects by how much the best ratio of each node won."""
    node = Literal(by_class(rows))
    splits = {j: literal_split(rows, j, min_rows) for j in free}
    several = sum(weight > 0 for weight in node.counts.values()) > 1
    gains = {j: max(split[0], 0.0) for j, split in splits.items() if split and several}
    gains = {j: gain if gain > EQUAL else 0.0 for j, gain in gains.items()}
    if not gains:
        return node
    average = sum(gains.values()) / len(gains)
    ratios = {
        j: splits[j][1] if gain else 0.0
        for j, gain in gains.items()
        if gain >= average * (1 - EQUAL)
    }
    best = max(ratios.values())
    node.feature = min(j for j, ratio in ratios.items() if ratio >= best * (1 - EQUAL))
    others = [ratio for j, ratio in ratios.items() if j != node.feature]
    gaps += [best / max(others) - 1] if others and max(others) else []
    gaps += [abs(gain / average - 1) for gain in gains.values() if len(gains) > 1 and average]
    known = [row for row in rows if row[0][node.feature] is not None]
    for level in {row[0][node.feature] for row in known}:
        part = [row for row in known if row[0][node.feature] == level]
        share = total_weight(part) / total_weight(known)
        part += [
            (levels, label, weight * share)
            for levels, label, weight in rows
            if levels[node.feature] is None
        ]
        rest = [j for j in free if j != node.feature]
        node.branches[level] = literal_grow(part, rest, min_rows, gaps)
    return node


def literal_probability(node, levels, known, classes, s):
    """Laplace where the path ends; `known[j]` holds the levels of feature j."""
    if node.feature is not None:
        level = levels[node.feature]
        if level in node.branches:
            return literal_probability(node.branches[level], levels, known, classes, s)
        if level not in known[node.feature]:
            weights = {v: sum(b.counts.values()) for v, b in node.branches.items()}
            return sum(
                weights[v]
                / sum(weights.values())
                * literal_probability(b, levels, known, classes, s)
                for v, b in node.branches.items()
            )
    counts = np.array([node.counts.get(c, 0.0) for c in classes])
    return (counts + s) / (counts + s).sum()


@dataclass
class Case:
    """A table of coded columns with gaps, its labels and weights, and rows to predict."""

    X: list
    y: list
    weight: object
    min_rows: float
    missing: str
    new: list

    def fit(self, **parameters):
        model = C44Classifier(
            categorical_features="all", min_rows=self.min_rows, missing=self.missing, **parameters
        )
        return model.fit(self.X, self.y, self.weight)

    def level(self, value):
        return "missing" if value is None and self.missing == "level" else value

    def literal(self, gaps=None):
        weights = np.ones(len(self.y)) if self.weight is None else self.weight
        rows = [
            ([self.level(v) for v in row], label, float(w))
            for row, label, w in zip(self.X, self.y, weights, strict=True)
        ]
        return literal_grow(
            rows, range(len(self.X[0])), self.min_rows, [] if gaps is None else gaps
        )

    def known(self):
        return [{self.level(row[j]) for row in self.X} - {None} for j in range(len(self.X[0]))]


@st.composite
def cases(draw, weights=("none", "whole", "fractions"), gaps=(0.0, 0.15, 0.5)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes, n_rows = draw(st.integers(2, 4)), draw(st.integers(4, 40))
    n_levels = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    share = draw(st.sampled_from(gaps))

    def table(n, more=0):
        columns = [
            np.where(rng.random(n) < share, None, rng.choice([*"abcdef"][: m + more], n))
            for m in n_levels
        ]
        return [[*row] for row in zip(*columns, strict=True)]

    X = table(n_rows)
    signal = np.array([sum("abcdef".find(v or "a") for v in row) for row in X])
    noise = rng.integers(0, n_classes, n_rows)
    y = np.where(rng.random(n_rows) < 0.3, noise, signal % n_classes)
    y[:2] = 0, 1
    weight = {
        "none": None,
        "whole": rng.integers(1, 4, n_rows).astype(float),
        "fractions": rng.uniform(0.2, 3, n_rows),
    }[draw(st.sampled_from(weights))]
    min_rows = draw(st.sampled_from([1, 2, 2.5]))
    missing = draw(st.sampled_from(["skip", "level"]))
    return Case(X, y.tolist(), weight, min_rows, missing, table(12, more=1))


def same_tree(node, literal, classes):
    """Node by node: the feature, the levels of the branches, the weight of each class."""
    pairs = [(node, literal)]
    while pairs:
        here, wanted = pairs.pop()
        expected = [wanted.counts.get(c, 0.0) for c in classes]
        np.testing.assert_allclose(here.counts, expected, rtol=1e-9, atol=1e-12)
        name = None if wanted.feature is None else f"x{wanted.feature}"
        assert here.feature == name
        assert sorted(here.branches) == sorted(wanted.branches)
        pairs += [(below, wanted.branches[level]) for level, below in here.branches.items()]


@LIGHT
@given(case=cases())
def test_the_tree_is_the_one_that_quinlans_rules_give_row_by_row(case):
    model = case.fit()
    same_tree(model.tree_.root, case.literal(), model.classes_.tolist())


@LIGHT
@given(case=cases(), smoothing=st.sampled_from([0, 0.5, 1.0, "1/n"]))
def test_probabilities_are_those_of_the_slow_tree_for_rows_seen_and_unseen(case, smoothing):
    model = case.fit(smoothing=smoothing)
    total = len(case.y) if case.weight is None else sum(case.weight)
    s = 1 / total if smoothing == "1/n" else smoothing
    literal, classes = case.literal(), model.classes_.tolist()
    rows = [*case.X, *case.new, [None] * len(case.X[0]), ["unseen"] * len(case.X[0])]
    expected = [
        literal_probability(literal, [*map(case.level, row)], case.known(), classes, s)
        for row in rows
    ]
    np.testing.assert_allclose(model.predict_proba(rows), expected, rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- the weather, by hand

WEATHER = """
sunny hot high false no
sunny hot high true no
overcast hot high false yes
rain mild high false yes
rain cool normal false yes
rain cool normal true no
overcast cool normal true yes
sunny mild high false no
sunny cool normal false yes
rain mild normal false yes
sunny mild normal true yes
overcast mild high true yes
overcast hot normal false yes
rain mild high true no
"""
NAMES = ("outlook", "temperature", "humidity", "windy", "play")


def weather(missing_outlook=False):
    """Quinlan's fourteen days; in his example one overcast day has lost its outlook."""
    rows = [line.split() for line in WEATHER.split("\n") if line]
    if missing_outlook:
        rows[11][0] = None
    return pd.DataFrame(rows, columns=NAMES)


def split_of(frame, name):
    """The table of counts as the kernel wants it, and what it says of it."""
    levels = [*sorted(frame[name].dropna().unique())]
    table = np.zeros((len(levels) + 1, 2))
    for level, play in zip(frame[name], frame["play"], strict=True):
        table[levels.index(level) if isinstance(level, str) else -1, int(play == "yes")] += 1
    return kernels.split_gain(table, 2.0)


@pytest.mark.parametrize(
    ("name", "gain", "ratio"),
    [
        ("outlook", 0.247, 0.156),
        ("temperature", 0.029, 0.019),
        ("humidity", 0.152, 0.152),
        ("windy", 0.048, 0.049),
    ],
)
def test_the_gains_and_ratios_of_the_weather_are_the_textbooks(name, gain, ratio):
    found, split = split_of(weather(), name)
    assert round(found, 3) == gain
    assert round(found / split, 3) == ratio


def test_a_missing_outlook_gives_quinlans_gain_and_split_information():
    gain, split = split_of(weather(missing_outlook=True), "outlook")
    assert gain == pytest.approx(13 / 14 * (0.961 - 0.747), abs=5e-4)
    assert split == pytest.approx(1.809, abs=5e-4)


def test_the_tree_of_the_weather_is_the_textbooks():
    tree = C44Classifier().fit(weather(), "play").tree_
    root = tree.root
    assert root.feature == "outlook"
    assert {level: node.feature for level, node in root.branches.items()} == {
        "overcast": None,
        "rain": "windy",
        "sunny": "humidity",
    }
    assert tree.n_leaves == 5
    assert all(min(node.counts) == 0 for node in tree if node.feature is None)
    np.testing.assert_array_equal(root.branches["overcast"].probabilities, [1 / 6, 5 / 6])
    np.testing.assert_array_equal(root.branches["sunny"].branches["high"].counts, [3, 0])


def test_the_leaves_of_quinlans_example_with_a_missing_outlook_come_out():
    frame = weather(missing_outlook=True).drop(columns="temperature")
    frame["humidity"] = [85, 90, 78, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 80]
    model = C44Classifier(smoothing=0, bins={"humidity": [75]}).fit(frame, "play")
    root, part = model.tree_.root, 1 / 13
    assert root.feature == "outlook"
    sunny, rain = root.branches["sunny"], root.branches["rain"]
    assert (sunny.feature, rain.feature) == ("humidity", "windy")
    for node, counts in (
        (sunny.branches["<= 75"], [0, 2]),  # Play (2.0)
        (sunny.branches[">= 76"], [3, 5 * part]),  # Don't Play (3.4/0.4)
        (root.branches["overcast"], [0, 3 + 3 * part]),  # Play (3.2)
        (rain.branches["true"], [2, 5 * part]),  # Don't Play (2.4/0.4)
        (rain.branches["false"], [0, 3]),  # Play (3.0)
    ):
        assert node.feature is None
        np.testing.assert_allclose(node.counts, counts, atol=1e-12)
    found = model.predict_proba([{"outlook": "sunny", "humidity": None, "windy": "false"}])
    assert found[0, 1] == pytest.approx((2 + 5 * part) / (5 + 5 * part))
    assert round(found[0, 1], 2) == 0.44


# ---------------------------------------------------------------- theorems


def outline(tree):
    """Everything that a tree is, but for rounding."""
    return [(tree.feature[i], tree.level[i], tree.parent[i]) for i in range(len(tree))]


@LIGHT
@given(case=cases(weights=["whole"]))
def test_a_weight_of_two_is_a_row_given_twice(case):
    times = case.weight.astype(int)
    repeated = replace(
        case,
        X=[row for row, n in zip(case.X, times, strict=True) for _ in range(n)],
        y=[label for label, n in zip(case.y, times, strict=True) for _ in range(n)],
        weight=None,
    )
    one, other = case.fit(), repeated.fit()
    assert outline(one.tree_) == outline(other.tree_)
    np.testing.assert_allclose(one.tree_.counts, other.tree_.counts, rtol=1e-12)
    np.testing.assert_allclose(
        one.predict_proba(case.new), other.predict_proba(case.new), rtol=1e-12
    )


def test_a_row_of_no_weight_is_not_there():
    frame = weather()
    more = pd.concat([frame, frame.assign(play="no", outlook="snow")])
    weight = [1.0] * 14 + [0.0] * 14
    tree = C44Classifier().fit(more, "play", weight).tree_
    assert outline(tree) == outline(C44Classifier().fit(frame, "play").tree_)
    assert tree.features[0].labels == ("overcast", "rain", "sunny")


@LIGHT
@given(case=cases(), seed=st.integers(0, 99))
def test_the_order_of_rows_says_nothing(case, seed):
    order = np.random.default_rng(seed).permutation(len(case.y))
    shuffled = replace(
        case,
        X=[case.X[i] for i in order],
        y=[case.y[i] for i in order],
        weight=None if case.weight is None else case.weight[order],
    )
    one, other = case.fit(), shuffled.fit()
    assert outline(one.tree_) == outline(other.tree_)
    np.testing.assert_allclose(one.tree_.counts, other.tree_.counts, rtol=1e-12)
    if case.weight is None and not any(None in row for row in case.X):
        np.testing.assert_array_equal(one.predict_proba(case.new), other.predict_proba(case.new))


@LIGHT
@given(case=cases(), seed=st.integers(0, 99))
def test_the_order_of_columns_says_nothing_where_no_two_are_equally_good(case, seed):
    gaps = []
    case.literal(gaps)
    assume(all(gap > 1e-6 for gap in gaps))
    order = np.random.default_rng(seed).permutation(len(case.X[0]))
    swapped = replace(case, X=[[row[j] for j in order] for row in case.X])
    new = [[row[j] for j in order] for row in case.new]
    np.testing.assert_allclose(
        case.fit().predict_proba(case.new), swapped.fit().predict_proba(new), rtol=1e-9
    )


def test_of_equally_good_columns_the_first_is_used():
    frame = weather()[["windy", "outlook", "play"]]
    frame.insert(0, "same", frame["outlook"].str.upper())
    assert C44Classifier().fit(frame, "play").tree_.root.feature == "same"
    swapped = frame[["outlook", "windy", "same", "play"]]
    assert C44Classifier().fit(swapped, "play").tree_.root.feature == "outlook"


@LIGHT
@given(case=cases(), smoothing=st.sampled_from([1e-3, 1.0, "1/n"]))
def test_probabilities_sum_to_one_and_none_is_0_or_1(case, smoothing):
    model = case.fit(smoothing=smoothing)
    p = model.predict_proba([*case.X, *case.new])
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert ((p > 0) & (p < 1)).all()
    np.testing.assert_array_equal(model.predict_log_proba([*case.X, *case.new]), np.log(p))
    winners = model.classes_[p.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict([*case.X, *case.new]), winners)


@LIGHT
@given(case=cases(weights=["none"], gaps=[0.0]), seed=st.integers(0, 99))
def test_where_one_column_decides_the_class_training_rows_get_their_labels(case, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, len(case.y))
    y = (codes % 2).tolist()
    assume(len(set(y)) == 2)
    X = [[*row, f"v{code}"] for row, code in zip(case.X, codes, strict=True)]
    model = replace(case, X=X, y=y, min_rows=1).fit(smoothing=0)
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1], y)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X)[:, 1], np.log(y))


@LIGHT
@given(case=cases())
def test_every_split_has_two_branches_with_rows_enough_and_no_feature_twice_on_a_way(case):
    tree = case.fit().tree_
    for node in tree:
        sizes = [below.rows for below in node.branches.values()]
        if node.feature is not None:
            assert sum(size >= case.min_rows * (1 - EQUAL) for size in sizes) >= 2
            np.testing.assert_allclose(sum(sizes), node.rows, rtol=1e-9)
    assert tree.depths.max() <= len(case.X[0])
    assert tree.n_leaves == sum(node.feature is None for node in tree)


def test_features_that_tell_nothing_alone_part_a_node_where_there_are_none_better():
    X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    model = C44Classifier().fit(X, [0, 1, 1, 0] * 5)
    assert (model.n_leaves_, model.depth_) == (4, 2)
    assert (model.predict(X) == [0, 1, 1, 0] * 5).all()


def test_an_answer_that_reads_like_missing_is_not_missing():
    path = (
        C44Classifier()
        .fit(datasets.titanic(), "Survived")
        .path({"Class": "3rd", "Sex": "missing", "Age": "Child"})
    )
    assert path.steps[0].note.startswith("Sex = missing was not seen in training")


def test_more_rows_per_branch_make_a_smaller_tree():
    people = datasets.titanic()
    sizes = [C44Classifier(min_rows=n).fit(people, "Survived").n_leaves_ for n in (2, 10, 50, 2000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1 < sizes[0]


def test_an_empty_branch_ends_the_way_and_says_so():
    X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"], ["b", "w"]] * 4
    y = [0, 1, 2, 2, 2] * 4
    model = C44Classifier().fit(X, y)
    assert model.tree_.root.feature == "x0"
    a = model.tree_.root.branches["a"]
    assert sorted(a.branches) == ["u", "v"]
    np.testing.assert_array_equal(model.predict_proba([["a", "w"]])[0], a.probabilities)
    step = model.path(["a", "w"]).steps[-1]
    assert step.ends
    assert "x1 = w" in step.note
    mixed = model.predict_proba([["a", "never"]])[0]
    ends = [a.branches[level].probabilities for level in "uv"]
    np.testing.assert_allclose(mixed, np.mean(ends, axis=0))


def test_missing_is_a_level_where_it_is_asked_to_be():
    frame = weather(missing_outlook=True)
    frame.loc[len(frame)] = [None, "mild", "high", "true", "yes"]
    tree = C44Classifier(missing="level").fit(frame, "play").tree_
    assert [*tree.root.branches] == ["overcast", "rain", "sunny", "missing"]
    assert tree.root.branches["missing"].counts.tolist() == [0, 2]
    mixed = C44Classifier(missing={"outlook": "level"}).fit(frame, "play")
    assert outline(mixed.tree_) == outline(tree)


def test_numbers_are_parted_at_the_intervals_of_the_family():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = C44Classifier().fit(X, y)
    evidence = weigh.EvidenceNB().fit(X, y).evidence_
    assert [f.cuts for f in model.tree_.features] == [t.feature.cuts for t in evidence]
    assert (model.predict(X) == y).mean() > 0.95
    given_cuts = C44Classifier(bins={name: [2.5] for name in X}).fit(X, y)
    assert {*given_cuts.tree_.root.branches} == {"<= 2.5", "> 2.5"}
    special = C44Classifier(special_values={"petal width (cm)": [0.2]}).fit(X, y)
    assert "0.2" in special.tree_.features[3].labels


def test_a_way_down_as_long_as_a_thousand_features_overflows_nothing(tmp_path):
    n = 1100
    X = np.vstack([np.eye(n), np.zeros((2, n))]).astype(int)
    y = np.arange(len(X)) % 2
    model = C44Classifier(categorical_features="all", min_rows=1).fit(X, y)
    assert model.depth_ > 1000
    last = X[-1]
    assert len(model.path(last).steps) > 1000
    assert model.path(last).to_text()
    assert model.predict_proba(X[-1:]).shape == (1, 2)
    weigh.save(model, tmp_path / "deep.json")
    again = pickle.loads(pickle.dumps(weigh.load(tmp_path / "deep.json")))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    text = str(again.tree_).splitlines()
    assert any(line.startswith(" " * 24 + "[100] x") for line in text)
    assert "more nodes" in text[-1]


def test_blocks_and_threads_give_the_same_bits():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40_000, 4)) < 0.2, np.nan, rng.integers(0, 4, (40_000, 4)))
    y = (np.nansum(X, axis=1) + rng.normal(size=len(X)) > 6).astype(int)
    model = C44Classifier(bins=4).fit(X, y)
    together = model.predict_proba(X)
    parts = [model.predict_proba(part) for part in np.array_split(X, 7)]
    np.testing.assert_array_equal(np.vstack(parts), together)


# ---------------------------------------------------------------- the path


@LIGHT
@given(case=cases(), smoothing=st.sampled_from([0, 1.0]))
def test_a_path_ends_at_the_probabilities_that_the_model_predicts(case, smoothing):
    model = case.fit(smoothing=smoothing)
    for row in [*case.X[:3], *case.new]:
        path = model.path(row)
        np.testing.assert_array_equal(path.probabilities, model.predict_proba([row])[0])
        ends = [step for step in path.steps if step.ends]
        assert sum(step.part for step in ends) == pytest.approx(1)
        s, k = path.smoothing, len(path.classes)
        leaves = [(np.array(e.shares) * e.rows + s) / (e.rows + s * k) for e in ends]
        mean = sum(e.part * leaf for e, leaf in zip(ends, leaves, strict=True))
        np.testing.assert_allclose(mean, path.probabilities, rtol=1e-9, atol=1e-12)
        forks = [step for step in path.steps if "all branches" in step.note]
        assert (len(ends) > 1) == any(len(_below(path, step)) > 1 for step in forks)


def _below(path, fork):
    """The steps of the branches of a fork."""
    start, steps = path.steps.index(fork) + 1, []
    for step in path.steps[start:]:
        if step.depth <= fork.depth:
            break
        steps += [step] if step.depth == fork.depth + 1 else []
    return steps


GIRL = {"Class": "3rd", "Sex": "Female", "Age": "Child"}


@pytest.fixture(scope="module")
def people():
    return C44Classifier().fit(datasets.titanic(), "Survived")


def test_a_path_tells_feature_level_rows_and_shares_step_by_step(people):
    path = people.path(GIRL)
    assert [*map(str, path.steps)] == ["all rows", "Sex = Female", "Class = 3rd", "Age = Child"]
    assert [step.rows for step in path.steps] == [2201, 470, 196, 31]
    assert path.steps[-1].shares == (17 / 31, 14 / 31)
    np.testing.assert_allclose(path.probabilities, [18 / 33, 15 / 33])
    with pytest.raises(FrozenInstanceError):
        path.steps = ()


def test_a_path_takes_a_case_however_it_is_given(people):
    frame = pd.DataFrame([GIRL])
    for row in (GIRL, frame, frame.iloc[0], pa.Table.from_pylist([GIRL])):
        assert people.path(row).to_dict() == people.path(GIRL).to_dict()
    with pytest.raises(ValueError, match="a path explains one row, got 2"):
        people.path([GIRL, GIRL])
    with pytest.raises(ValueError, match="'Sex'"):
        people.path(frame.drop(columns="Sex"))


def test_a_case_without_an_answer_goes_down_every_branch_of_its_question(people):
    absent = people.path({"Class": "3rd", "Age": "Child"})
    missing = people.path(GIRL | {"Sex": None})
    assert absent.probabilities.tolist() == missing.probabilities.tolist()


def test_a_path_with_an_unknown_answer_shows_the_branches_and_their_shares(people):
    path = people.path(GIRL | {"Sex": None})
    assert path.steps[0].note.startswith("Sex is missing")
    below = {str(step): step.part for step in path.steps if step.depth == 1}
    assert below == {"Sex = Female": 470 / 2201, "Sex = Male": 1731 / 2201}
    text = path.to_text(100)
    assert "Sex = Female (21.4%)" in text
    assert f"({path.steps[0].note})" in text
    unseen = people.path(GIRL | {"Class": "Steward"})
    assert unseen.steps[1].note.startswith("Class = Steward was not seen in training")


def test_a_path_reads_as_text_html_and_json_with_the_same_numbers(people):
    path = people.path(GIRL)
    assert repr(path) == path.to_text()
    for page in (path.to_text(60), path._repr_html_()):
        assert all(part in page for part in ("Age = Child", "2,201", "0.55", "0.45"))
    assert all(len(line) <= 60 for line in path.to_text(60).splitlines())
    data = json.loads(json.dumps(path.to_dict()))
    assert data["probabilities"] == {"No": 18 / 33, "Yes": 15 / 33}
    assert data["steps"][-1]["shares"] == {"No": 17 / 31, "Yes": 14 / 31}


def test_names_are_escaped_in_html_and_harmless_in_text():
    rows = [{"<b>": "<script>", "x\x1b[31m": "[bold]x"}, {"<b>": "ok", "x\x1b[31m": "y"}] * 3
    model = C44Classifier().fit(rows, ["<i>", "b"] * 3)
    for thing in (model.tree_, model.path(rows[0])):
        page = thing._repr_html_()
        assert "<script>" not in page
        assert "&lt;script&gt;" in page
        assert "<i>" not in page
        assert "\x1b" not in thing.to_text()
    assert "\x1b" not in repr(model.tree_.root)


def test_many_classes_are_shown_by_the_most_probable():
    X = [[f"v{k}"] for k in range(9) for _ in range(4)]
    model = C44Classifier().fit(X, [f"class {k}" for k in range(9) for _ in range(4)])
    assert "class 8" in model.path(["v8"]).to_text()
    assert "3 more classes are not shown" in model.path(["v8"]).to_text()


# ---------------------------------------------------------------- the tree as it is read


def test_the_tree_prints_every_node_indented_with_rows_and_probabilities(people):
    lines = str(people.tree_).splitlines()
    assert lines[0] == "Tree of 13 leaves, depth 3: the probability of each class"
    assert "all rows            2,201   0.68   0.32" in lines
    assert "      Age = Child      13   0.07   0.93" in lines
    assert str(people.tree_) == people.tree_.to_text()
    assert (people.n_leaves_, people.depth_) == (13, 3)
    assert repr(people.tree_.root).startswith("all rows: 2,201 rows, split on Sex (No 0.68")
    assert all(len(line) <= 40 for line in people.tree_.to_text(40).splitlines())


def test_the_tree_is_frozen_and_comes_as_a_frame_of_the_users_library(people):
    with pytest.raises(FrozenInstanceError):
        people.tree_.smoothing = 0.0
    frame = C44Classifier().fit(datasets.titanic("pandas"), "Survived").tree_.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == len(people.tree_)
    np.testing.assert_array_equal(frame["probability Yes"], people.tree_.probabilities[:, 1])


@pytest.mark.parametrize("name", ["evidence_", "balance_sheet", "with_prior", "decision_function"])
def test_what_needs_a_table_names_the_learner_that_has_one(people, name):
    assert not hasattr(people, name)
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'.*path\(row\).*EducatedNB"):
        getattr(people, name)
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        people.nonsense  # noqa: B018


# ---------------------------------------------------------------- files


@LIGHT
@given(case=cases(), smoothing=st.sampled_from([0, 1.0, "1/n"]))
def test_a_saved_tree_gives_the_same_bits_and_fits_the_schema(tmp_path_factory, case, smoothing):
    model = case.fit(smoothing=smoothing)
    path = tmp_path_factory.mktemp("trees") / "model.json"
    weigh.save(model, path)
    validate(path)
    again = weigh.load(path)
    assert again.get_params() == model.get_params()
    assert (again.n_leaves_, again.depth_) == (model.n_leaves_, model.depth_)
    rows = [*case.X, *case.new]
    assert again.predict_proba(rows).tobytes() == model.predict_proba(rows).tobytes()
    assert again.predict(rows).tolist() == model.predict(rows).tolist()
    assert str(again.tree_) == str(model.tree_)
    weigh.save(again, path.with_name("again.json"))
    assert path.with_name("again.json").read_text() == path.read_text()


def test_names_come_back_with_the_model(people, tmp_path):
    weigh.save(people, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json")
    assert again.feature_names_in_.tolist() == ["Class", "Sex", "Age"]
    assert again.path(GIRL).to_dict() == people.path(GIRL).to_dict()
    with pytest.raises(NotFittedError):
        weigh.save(C44Classifier(), tmp_path / "none.json")


JUNK = [None, True, -1, 10**9, 0.5, "x", [], {}, [None], [[]], [[1.0, 2.0]], [-1, 0, 0], [5] * 21]


@pytest.fixture(scope="module")
def saved(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.json"
    weigh.save(people, path)
    return read_model(path)


@pytest.mark.parametrize("name", ["parent", "level", "feature", "counts", "features", "classes"])
@pytest.mark.parametrize("junk", JUNK, ids=str)
def test_a_tree_with_a_wrong_entry_is_refused_in_words(saved, tmp_path, name, junk):
    data = copy.deepcopy(saved)
    data["tree"][name] = junk
    path = tmp_path / "model.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=path.name):
        weigh.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tree: tree.pop("parent"), "it lacks 'parent'"),
        (lambda tree: tree.update(smoothing=-1), "smoothing must be finite"),
        (lambda tree: tree.update(smoothing=None), "smoothing must be finite"),
        (lambda tree: tree["parent"].append(0), "as long as feature"),
        (lambda tree: tree["parent"].__setitem__(0, 0), "the first node must be the root"),
        (lambda tree: tree["parent"].__setitem__(3, 3), "parent must come before it"),
        (lambda tree: tree["parent"].__setitem__(3, True), "parent must hold whole numbers"),
        (lambda tree: tree["parent"].__setitem__(3, 2), "level must be a branch"),
        (lambda tree: tree["level"].__setitem__(10, 2), "level must be a branch"),
        (lambda tree: tree["level"].__setitem__(10, 0), "two nodes must not be on one branch"),
        (lambda tree: tree["feature"].__setitem__(2, 2), "must have branches"),
        (lambda tree: tree["feature"].__setitem__(1, 1), "ask a feature once|must be a branch"),
        (lambda tree: tree["feature"].__setitem__(0, 3), "whole numbers from -1 to 2"),
        (lambda tree: tree["counts"].__setitem__(2, [0, 0]), "every node must have rows"),
        (lambda tree: tree["counts"].__setitem__(2, [1e308, 1e308]), "every node must have rows"),
        (lambda tree: tree["counts"].__setitem__(2, [-1, 2]), "counts must be finite"),
        (lambda tree: tree["counts"].__setitem__(2, [1]), "counts is not"),
        (lambda tree: tree["features"][1].update(name="Class"), "feature names must differ"),
        (
            lambda tree: tree["features"][1].update(values=["Female"], labels=["Female"]),
            "level must be a branch",
        ),
        (lambda tree: tree["classes"].reverse(), "classes must be two or more"),
    ],
)
def test_a_tree_that_is_none_is_refused_by_what_is_wrong(saved, tmp_path, change, message):
    data = copy.deepcopy(saved)
    change(data["tree"])
    path = tmp_path / "model.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=message):
        weigh.load(path)


def test_a_tree_in_the_place_of_evidence_is_refused(saved, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps({**saved, "learner": "EvidenceNB", "parameters": {}}))
    with pytest.raises(ValueError, match="EvidenceNB needs evidence"):
        weigh.load(path)


# ---------------------------------------------------------------- scikit-learn's conventions


def test_it_works_inside_scikit_learns_tools(people):
    X = datasets.titanic("pandas")
    y = X.pop("Survived")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    assert cross_val_score(C44Classifier(), X, y, cv=folds).mean() > 0.77
    search = GridSearchCV(make_pipeline(C44Classifier()), {"c44classifier__min_rows": [2, 9]}, cv=2)
    assert set(search.fit(X, y).best_params_) == {"c44classifier__min_rows"}
    assert CalibratedClassifierCV(C44Classifier(), cv=2).fit(X, y).predict_proba(X).shape[1] == 2
    again = pickle.loads(pickle.dumps(people))
    np.testing.assert_array_equal(again.predict_proba(X), people.predict_proba(X))
    fresh = clone(people)
    assert fresh.get_params() == people.get_params()
    assert not hasattr(fresh, "tree_")


# ---------------------------------------------------------------- the command line


def run(*words):
    result = CliRunner().invoke(main, [*map(str, words)], env={"COLUMNS": "100"})
    return result.exit_code, result.stdout, result.stderr


def test_the_command_line_fits_shows_scores_and_explains_the_same_tree(people, tmp_path):
    data, file = tmp_path / "people.csv", tmp_path / "model.json"
    csv.write_csv(datasets.titanic(), data)
    assert run("fit", data, "--target", "Survived", "--learner", "c44", "-o", file)[0] == 0
    model = weigh.load(file)
    assert model.missing == "skip"
    assert outline(model.tree_) == outline(people.tree_)
    assert run("show", file)[1].rstrip("\n") == people.tree_.to_text(100)
    nodes = json.loads(run("show", file, "--json")[1])
    assert [node["rows"] for node in nodes] == people.tree_.counts.sum(axis=1).tolist()
    table = datasets.titanic()
    scores = csv.read_csv(pa.py_buffer(run("score", file, data)[1].encode()))
    assert scores.column_names == ["prediction", "probability_No", "probability_Yes"]
    np.testing.assert_array_equal(scores["probability_Yes"], people.predict_proba(table)[:, 1])
    assert scores["prediction"].to_pylist() == people.predict(table).tolist()
    path = people.path(table.slice(3, 1))
    assert run("explain", file, data, "--row", 3)[1].rstrip("\n") == path.to_text(100)
    assert json.loads(run("explain", file, data, "--row", 3, "--json")[1]) == path.to_dict()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["show", "MODEL", "--feature", "Sex"],
            "--feature picks one table, and this",
        ),
        (["explain", "MODEL", "DATA", "--pos-label", "Yes"], "--against"),
        (["merge", "MODEL", "MODEL", "-o", "x.json"], "C44Classifier, whose fit is not a sum"),
    ],
)
def test_what_a_tree_cannot_do_is_said_on_the_command_line(people, tmp_path, words, message):
    places = {"MODEL": tmp_path / "model.json", "DATA": tmp_path / "people.csv"}
    weigh.save(people, places["MODEL"])
    csv.write_csv(datasets.titanic(), places["DATA"])
    code, _, error = run(*(places.get(word, word) for word in words))
    assert code == 1
    assert message in error


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_rows": 0}, "min_rows .* 0"),
        ({"min_rows": -1}, "min_rows must be"),
        ({"min_rows": np.nan}, "min_rows must be"),
        ({"min_rows": np.inf}, "min_rows must be"),
        ({"min_rows": True}, "min_rows must be"),
        ({"min_rows": "two"}, "min_rows .*'two'"),
        ({"smoothing": -1}, "smoothing"),
        ({"bins": 1}, "bins"),
        ({"missing": "drop"}, "missing"),
        ({"missing": {"rain": "skip"}}, "missing names 'rain'"),
        ({"categorical_features": "some"}, "categorical_features "),
        ({"special_values": {"windy": ["x"]}}, "special_values .*'windy'"),
    ],
)
def test_a_bad_parameter_is_named_with_what_it_may_be(parameters, message):
    with pytest.raises(ValueError, match=message):
        C44Classifier(**parameters).fit(weather(), "play")


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (None, None, "y"),
        ([0, 1], None, "X and y .*14 .*2"),
        ([0] * 14, None, "^y "),
        ([0, None] * 7, None, "^y "),
        ([0.5, 1] * 7, None, "y holds"),
        ("z", None, "y .*'z'"),
        ("play", [1.0], "X and sample_weight .*14 .*1"),
        ("play", [-1.0] * 14, "^sample_weight "),
        ("play", [0.0] * 14, "^sample_weight "),
    ],
)
def test_bad_labels_and_weights_are_refused_in_words(y, weight, message):
    with pytest.raises(ValueError, match=message):
        C44Classifier().fit(weather(), y, weight)


def test_a_model_that_is_not_fitted_says_so_before_anything_else():
    for ask in (C44Classifier().predict, C44Classifier().predict_proba, C44Classifier().path):
        with pytest.raises(NotFittedError):
            ask("no table at all")


def test_a_value_of_another_type_than_in_training_is_refused(people):
    with pytest.raises(ValueError, match="'Class' held text in training"):
        people.predict([GIRL | {"Class": 3}])


def test_a_tree_may_ask_for_two_columns_at_once(tmp_path):
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (200, 3))
    y = X[:, 0] ^ X[:, 2]
    tree = C44Classifier(categorical_features="all", crosses=[(2, 0)]).fit(X, y)
    assert (tree.predict(X) == y).all()
    assert tree.tree_.root.feature == "x2 & x0"
    x2, x0 = int(X[0, 2]), int(X[0, 0])
    step = [str(step) for step in tree.path(X[:1]).steps][1]
    assert step.startswith(f"x2 = {x2} with x0 = {x0}")
    weigh.save(tree, tmp_path / "tree.json")
    assert (weigh.load(tmp_path / "tree.json").predict_proba(X) == tree.predict_proba(X)).all()
