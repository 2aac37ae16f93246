"""From weights to tables: centring changes no total, merging moves no weight far, errors follow."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit, ndtri
from tests.model_files import read_model

import weigh
from weigh import BoostedNB, EducatedNB, EvidenceNB, engine
from weigh.bins import Feature
from weigh.educated import tables as merge
from weigh.educated.design import Design, Source
from weigh.educated.segments import coarsen
from weigh.educated.solve import FULL
from weigh.educated.tables import (
    APART,
    add_up,
    average,
    centre,
    group_levels,
    group_tables,
    merge_feature,
)
from weigh.engine import Block
from weigh.engine.passes import positions
from weigh.frames import label_sample, read
from weigh.predicting import MOST_ERRORS
from weigh.tally import Counts, Rows, count_pairs

LIGHT = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def draw_frame(seed, n_rows=150, skip_gaps=True):
    """A walk with a code and gaps, a number without, and categories with gaps."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n_rows), rng.exponential(size=n_rows)
    y = (x * (z - 1) + rng.normal(size=n_rows) > 0).astype(int)
    y[:2] = 0, 1
    frame = pd.DataFrame({"x": x, "z": z, "c": rng.choice([*"abc"], n_rows)})
    frame.loc[rng.random(n_rows) < 0.2, "x"] = -999
    if skip_gaps:
        frame.loc[rng.random(n_rows) < 0.2, ["x", "c"]] = None
    return frame, y


def count_with_pairs(frame, y, missing, weight=None):
    """The counts of a table's features, and of the pairs x & z and z & c."""
    sample = label_sample(read(frame), y, weight)
    learner = EducatedNB(pairs=0, missing=missing, special_values={"x": [-999, -998]})
    tables = learner._tally(sample).tables
    coarse = {t.feature.name: coarsen(t.feature, t.counts) for t in tables}
    rows = Rows(sample.labels, sample.weight, 2)
    found = [
        count_pairs((coarse[a], coarse[b]), sample.table, rows) for a, b in (("x", "z"), ("z", "c"))
    ]
    return sample, (*tables, *found)


def totals_of(counts, table, weights):
    codes = [positions(part) for part in engine.place(table, [c.feature for c in counts])]
    design = Design(tuple(Source.of(j, len(c.counts)) for j, c in enumerate(counts)))
    return design.totals(design.place(Block(codes, np.zeros(table.n_rows))), weights)


def spans_of(counts):
    ends = np.cumsum([1, *(len(c.counts) for c in counts)])
    return {c.feature.name: slice(*ends[j : j + 2]) for j, c in enumerate(counts)}


# ---------------------------------------------------------------- centring


@pytest.mark.parametrize("missing", ["level", "skip", {"x": "skip"}])
@LIGHT
@given(seed=seeds, weighted=st.booleans())
def test_no_training_rows_total_changes(missing, seed, weighted):
    frame, y = draw_frame(seed)
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.1, 3, len(y)) if weighted else None
    sample, counts = count_with_pairs(frame, y, missing, weight)
    weights = rng.normal(size=(1 + sum(len(c.counts) for c in counts), 2))
    centred = centre(counts, weights, sample.class_counts.sum())
    before, after = (totals_of(counts, sample.table, w) for w in (weights, centred))
    np.testing.assert_allclose(after, before, atol=1e-10)
    assert not np.allclose(weights, centred)


@LIGHT
@given(seed=seeds)
def test_a_pair_keeps_what_its_features_cannot_say_and_tables_have_mean_zero(seed):
    frame, y = draw_frame(seed)
    sample, counts = count_with_pairs(frame, y, "level")
    weights = np.random.default_rng(seed).normal(size=(1 + sum(len(c.counts) for c in counts), 1))
    centred = centre(counts, weights, sample.class_counts.sum())
    spans = spans_of(counts)
    for c in counts:
        own, rows = centred[spans[c.feature.name], 0], c.counts.sum(axis=1)
        assert abs(rows @ own) < 1e-9 * rows.sum()
        if len(c.feature.parts) == 2:
            cells = np.array(c.feature.pairs)
            for side in (0, 1):
                margins = np.bincount(cells[:, side], rows * own)
                np.testing.assert_allclose(margins, 0.0, atol=1e-9 * rows.sum())
    mean_total = totals_of(counts, sample.table, weights).mean()
    assert centred[0, 0] == pytest.approx(mean_total, abs=1e-9)


def test_centring_again_changes_nothing_and_it_is_linear():
    frame, y = draw_frame(0)
    sample, counts = count_with_pairs(frame, y, "level")
    whole, rng = sample.class_counts.sum(), np.random.default_rng(0)
    one, two = rng.normal(size=(2, 1 + sum(len(c.counts) for c in counts), 1))
    a, b = centre(counts, one, whole), centre(counts, two, whole)
    np.testing.assert_allclose(centre(counts, a, whole), a, atol=1e-10)
    np.testing.assert_allclose(centre(counts, 3 * one - two, whole), 3 * a - b, atol=1e-9)


def test_a_code_that_never_occurs_weighs_nothing_after_centring():
    frame, y = draw_frame(1)
    model = EducatedNB(pairs=0, special_values={"x": [-999, -998]}).fit(frame, y)
    table = model.evidence_["x"]
    assert table.weights[table.levels.index(-998)] == 0
    assert table.weights[table.levels.index(-999)] != 0
    item = model.balance_sheet({"x": -998, "z": 1.0, "c": "a"}).items[0]
    assert str(item) == "x = -998 (not seen in training)"
    assert item.weight == 0


# ---------------------------------------------------------------- merging


@LIGHT
@given(
    st.lists(st.lists(st.floats(-0.1, 0.1), min_size=2, max_size=2), min_size=4, max_size=30),
    seeds,
)
def test_intervals_are_merged_while_they_agree_and_no_weight_moves_far(rows, seed):
    weights = np.array(rows)
    cuts = tuple(map(float, range(len(weights) - 3)))  # then a code, then missing
    feature = Feature("x", values=(-999,), cuts=cuts, has_missing=True)
    counts = np.random.default_rng(seed).integers(0, 5, (len(weights), 2)).astype(float)
    groups = group_levels(feature, weights, APART)
    merged = merge_feature(feature, groups)
    means = average(groups, counts.sum(axis=1), weights)
    assert len(merged.levels) == len(means) == groups[-1] + 1
    assert {*merged.cuts} <= {*cuts}
    assert merged.levels[-2:] == feature.levels[-2:]
    assert np.abs(means[groups] - weights).max() <= APART + 1e-12
    np.testing.assert_allclose(means[-2:], weights[-2:], rtol=1e-12)
    n = len(cuts) + 1
    for g in range(groups[n - 1]):  # the first interval of the next group would not have agreed
        own = np.vstack([weights[groups == g], weights[np.flatnonzero(groups == g + 1)[:1]]])
        assert np.ptp(own, axis=0).max() > APART
    np.testing.assert_array_equal(add_up(groups, counts).sum(axis=0), counts.sum(axis=0))
    heavy = np.maximum(counts.sum(axis=1), 1e-12)
    shares = np.bincount(groups, heavy)
    np.testing.assert_allclose(shares @ means, heavy @ weights, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_models_intervals_are_some_of_the_fits_and_their_weights_near(n_classes, monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 2))
    y = (X[:, 0] + rng.logistic(size=1500) > 0).astype(int) + (n_classes > 2) * (X[:, 1] > 1)
    model = EducatedNB(pairs=0).fit(X, y)
    monkeypatch.setattr(merge, "APART", -1.0)
    fine = EducatedNB(pairs=0).fit(X, y)
    for table, whole in zip(model.evidence_, fine.evidence_, strict=True):
        assert {*table.feature.cuts} < {*whole.feature.cuts}
        at = np.searchsorted(table.feature.cuts, [*whole.feature.cuts, np.inf])
        assert np.abs(table.by_class[at] - whole.by_class).max() <= APART
        sums = np.zeros_like(table.counts)
        np.add.at(sums, at, whole.counts)
        np.testing.assert_array_equal(table.counts, sums)
    change = model.decision_function(X) - fine.decision_function(X)
    assert np.abs(change).max() <= APART
    assert abs(change.mean()) < 1e-9


@LIGHT
@given(seeds, st.integers(1, 12))
def test_merging_moves_no_total_far_however_many_columns_there_are(seed, n_columns):
    rng = np.random.default_rng(seed)
    counts, columns = [], []
    for j in range(n_columns):
        n = int(rng.integers(2, 20))
        feature = Feature(f"x{j}", cuts=tuple(map(float, range(n - 1))))
        counts.append(Counts(feature, rng.integers(0, 5, (n, 2)).astype(float)))
        columns.append(rng.choice([0.0, 0.03, 0.3]) * rng.normal(size=(n, 1)).cumsum(axis=0))
    groups = group_tables(counts, columns, {f"x{j}" for j in range(n_columns)})
    moved = 0.0
    for c, column, group in zip(counts, columns, groups, strict=True):
        means = average(group, c.counts.sum(axis=1), column)
        moved += np.abs(means[group] - column).max()
    assert moved <= APART + 1e-12


@pytest.mark.parametrize("bins", [{"a": [-1.0, 0.0, 0.5, 1.0]}, {"a": 5}, 5, "mdl"])
def test_intervals_that_the_user_laid_out_stay(bins):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(800, 2)), columns=["a", "b"])
    y = ((X["b"] + rng.normal(size=800)) > 0).astype(int)  # "a" tells nothing
    tables = [Learner(bins=bins).fit(X, y).evidence_ for Learner in (EvidenceNB, EducatedNB)]
    asked, found = (evidence["a"].feature.cuts for evidence in tables)
    assert found == asked
    if isinstance(bins, dict):
        assert len(tables[1]["b"].levels) < 100


# ---------------------------------------------------------------- errors


def test_the_covariance_is_that_of_the_centred_weights():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (400, 2))
    y = (rng.random(400) < expit(X[:, 0] - 1)).astype(int)
    model = EducatedNB(pairs=0, categorical_features="all").fit(X, y)
    Z = np.hstack([np.ones((400, 1)), *(X[:, [j]] == np.arange(3) for j in range(2))]).astype(float)
    p = model.predict_proba(X)[:, 1]
    ridge = np.diag([0.0, *np.repeat(model.scales_, 3)])
    V = np.linalg.inv(Z.T @ ((p * (1 - p))[:, None] * Z) + ridge)
    w = V @ (Z.T @ (y - p + p * (1 - p) * (logit(p))))  # the last Newton step, from the totals
    widened = V.copy()  # by the uncertainty of each scale
    for own, scale in zip((slice(1, 4), slice(4, 7)), model.scales_, strict=True):
        M = scale * V[own, own]
        information = 0.5 * (3 - 2 * np.trace(M) + np.trace(M @ M)) + 3 / np.pi**2
        slope = -scale * V[:, own] @ w[own]
        widened += np.outer(slope, slope) / information
    T = np.eye(7)  # each table less its mean, which the prior gets
    for j in range(2):
        own, share = slice(1 + 3 * j, 4 + 3 * j), Z[:, 1 + 3 * j : 4 + 3 * j].mean(axis=0)
        T[own, own] -= share
        T[0, own] = share
    expected = T @ widened @ T.T
    np.testing.assert_allclose(model.evidence_.covariance, expected, rtol=1e-4, atol=1e-6)
    errors = np.concatenate([table.errors.ravel() for table in model.evidence_])
    np.testing.assert_allclose(errors, np.sqrt(np.diag(expected)[1:]), rtol=1e-4)
    sheet = model.balance_sheet(X[0])
    at = [0, 1 + X[0, 0], 4 + X[0, 1]]
    error = np.sqrt(expected[np.ix_(at, at)].sum())
    ends = expit(sheet.total + ndtri(0.95) * error * np.array([-1, 1]))
    np.testing.assert_allclose(sheet.interval, ends, rtol=1e-4)
    assert "assumes that the weights are about as large as the fit expects" in str(sheet)


def test_a_merged_weight_is_no_surer_than_the_levels_that_it_stands_for(monkeypatch):
    rng = np.random.default_rng(8)
    x = rng.normal(size=1000)
    y = (rng.random(1000) < expit(x)).astype(int)
    merged = EducatedNB(pairs=0).fit(x[:, None], y).evidence_["x0"]
    monkeypatch.setattr(merge, "APART", -1.0)
    fine = EducatedNB(pairs=0).fit(x[:, None], y).evidence_["x0"]
    at = np.searchsorted(merged.feature.cuts, [*fine.feature.cuts, np.inf])
    rows = fine.counts.sum(axis=1)
    variances = np.bincount(at, rows * fine.errors**2) / np.bincount(at, rows)
    np.testing.assert_allclose(merged.errors, np.sqrt(variances), rtol=1e-9)
    assert len(merged.levels) < len(fine.levels) / 2


def test_errors_that_are_kept_are_the_same_after_a_file(tmp_path):
    frame, y = draw_frame(4, n_rows=500)
    model = EducatedNB(pairs=0, special_values={"x": [-999]}).fit(frame, y)
    weigh.save(model, tmp_path / "m.json")
    again = weigh.load(tmp_path / "m.json")
    assert (again.evidence_.covariance == model.evidence_.covariance).all()
    for i in range(20):
        row = frame.iloc[[i]]
        assert again.balance_sheet(row).interval == model.balance_sheet(row).interval
    for table, other in zip(model.evidence_, again.evidence_, strict=True):
        assert (table.errors == other.errors).all()


def test_six_digits_of_a_covariance_change_no_interval_that_people_read(monkeypatch):
    frame, y = draw_frame(5, n_rows=800)
    model = EducatedNB(pairs=0).fit(frame, y)
    monkeypatch.setattr("weigh.educated.tables.DIGITS", 15)
    exact = EducatedNB(pairs=0).fit(frame, y)
    for i in range(50):
        row = frame.iloc[[i]]
        found = model.balance_sheet(row).interval
        np.testing.assert_allclose(found, exact.balance_sheet(row).interval, atol=1e-5)


def test_more_weights_than_a_file_should_hold_leave_no_interval(monkeypatch):
    frame, y = draw_frame(6)
    monkeypatch.setattr("weigh.educated.tables.MOST_WEIGHTS", 4)
    model = EducatedNB(pairs=0).fit(frame, y)
    assert model.evidence_.covariance is None
    sheet = model.balance_sheet(frame.iloc[[0]])
    assert sheet.interval is None
    assert sheet.assumes == ""
    assert "assumes" not in str(sheet)
    assert model.evidence_["z"].errors is not None


def test_a_sheet_without_an_interval_gives_the_reason_of_its_own_model(monkeypatch):
    assert MOST_ERRORS == FULL
    frame, y = draw_frame(6)
    row = frame.iloc[[0]]
    model = EducatedNB(pairs=0).fit(frame, y)
    editor = weigh.edit(model, frame, y)
    editor.drop("z", why="not allowed")
    three = EducatedNB(pairs=0, multiclass="softmax").fit(frame, np.arange(len(y)) % 3)
    with monkeypatch.context() as patch:
        patch.setattr("weigh.educated.tables.MOST_WEIGHTS", 4)
        kept = EducatedNB(pairs=0).fit(frame, y)
    monkeypatch.setattr("weigh.educated.fit.FULL", 4)
    many = EducatedNB(pairs=0).fit(frame, y)
    models = {"edited": editor.model, "classes": three, "covariance": kept, "3,072": many}
    for word, own in models.items():
        told = own.balance_sheet(row).no_interval
        assert [other for other in models if other in told] == [word]


def test_another_prior_moves_the_interval_and_keeps_its_width_in_log_odds():
    frame, y = draw_frame(7, n_rows=400)
    model = EducatedNB(pairs=0).fit(frame, y)
    row = frame.iloc[[0]]
    low, high = np.array(
        [model.balance_sheet(row).interval, model.with_prior(0.1).balance_sheet(row).interval]
    ).T
    np.testing.assert_allclose(*np.log(high / (1 - high)) - np.log(low / (1 - low)), rtol=1e-9)
    assert high[1] < high[0]


@pytest.mark.parametrize(("learner", "rate"), [(EducatedNB, [0.2, 0.3, 0.5]), (BoostedNB, 0.2)])
def test_a_prior_that_is_given_makes_a_model_without_errors_no_surer(learner, rate):
    n_classes = len(rate) if isinstance(rate, list) else 2
    X = pd.DataFrame({"a": [*"xyz"] * 20, "b": [*"uv"] * 30})
    model = learner().fit(X, np.arange(60) % n_classes)
    for part in (model, model.with_prior(rate)):
        assert part.balance_sheet({"a": "?", "b": "?"}).interval is None


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda e: e["covariance"].pop(), "covariance must have 4 rows: the prior and every level"),
        (lambda e: e["covariance"][1].append(0.0), "covariance is not"),
        (lambda e: e["covariance"][0].__setitem__(0, None), "covariance must be finite"),
        (lambda e: e["covariance"][0].__setitem__(0, "1"), "covariance must hold numbers"),
        (lambda e: e.__setitem__("covariance", 3), "covariance must have 4 rows"),
        (lambda e: e["features"][0]["errors"].pop(), "errors is not"),
        (lambda e: e["features"][0]["errors"][0].__setitem__(0, -1.0), "errors must not be neg"),
    ],
)
def test_a_file_whose_errors_are_wrong_is_refused(tmp_path, spoil, message):
    model = EducatedNB(pairs=0).fit(pd.DataFrame({"a": [*"xyz"] * 20}), np.arange(60) % 2)
    weigh.save(model, tmp_path / "m.json")
    data = read_model(tmp_path / "m.json")
    spoil(data["evidence"])
    (tmp_path / "bad.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=message):
        weigh.load(tmp_path / "bad.json")


def test_a_sheet_says_whether_its_interval_takes_the_scales_for_known(tmp_path):
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"x": rng.normal(size=200)}), rng.integers(0, 2, 200)
    model, path = EducatedNB().fit(X, y), tmp_path / "model.json"
    weigh.save(model, path)
    data, texts = json.loads(path.read_text()), []
    for known in (False, True):
        if known:  # as files were before the covariance included the uncertainty of the scales
            del data["evidence"]["scales_estimated"], data["checksum"]
            path.write_text(json.dumps(data))
        loaded = weigh.load(path)
        texts.append(str(loaded.balance_sheet({"x": 0.5})))
        assert loaded.evidence_.scales_estimated is not known
        page = weigh.calculator(loaded)
        assert ("the fit expects, with known scales" in str(page)) is known
    assert "assumes that the weights are about as large as the fit expects." in texts[0]
    assert (
        "assumes that the weights are about as large as the fit expects, with known scales."
        in texts[1]
    )
    weigh.save(loaded, path)
    assert not weigh.load(path).evidence_.scales_estimated
