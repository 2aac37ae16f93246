"""pairs: the ranking against a literal version, what is found and what is not, sheets, files."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from scipy.special import expit

import weigh
from weigh import EducatedNB
from weigh.bins import Feature
from weigh.educated import pairs as pairs_module
from weigh.educated.design import Design, Source, Target
from weigh.educated.pairs import (
    VARIANCES,
    Cells,
    Part,
    coarsen,
    count_pairs,
    is_coarse,
    rank_pairs,
)
from weigh.educated.passes import View
from weigh.engine import Block, CodedRows, Dealt, code_rows
from weigh.folds import fold_roles
from weigh.frames import label_sample, read
from weigh.tally import Rows
from weigh.tally import count_pairs as count_table

FOLDS = 4
LIGHT = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "model.schema.json").read_text("utf-8"))


def names_of(model):
    return [table.name for table in model.evidence_]


def draw_xor(seed=0, n_rows=600, n_more=3):
    """Two numbers that tell only together, and more that tell nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2 + n_more))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0).astype(int)
    return pd.DataFrame(X, columns=["a", "b", *(f"n{j}" for j in range(n_more))]), y


def add_up(sheet):
    return sheet.prior + sum(item.weight for item in sheet.items)


# ---------------------------------------------------------------- the ranking


def literal_gain(left, right, slope, curvature, folds):
    """What cells told by the other folds would save each fold, cell by cell and row by row."""
    total = 0.0
    for k in range(FOLDS):
        rest, held = folds != k, folds == k
        sums = {}
        for cell in {*zip(left, right, strict=True)}:
            rows = (left == cell[0]) & (right == cell[1])
            sums[cell] = [
                (slope[rows & part].sum(), curvature[rows & part].sum()) for part in (rest, held)
            ]
        marginal = [
            sum(0.5 * (G**2 / (V + 1 / t) - np.log(1 + t * V)) for (G, V), _ in sums.values())
            for t in VARIANCES
        ]
        t = VARIANCES[int(np.argmax(marginal))]
        for (G, V), (own_slope, own_curvature) in sums.values():
            w = -G / (V + 1 / t)
            total += -w * own_slope - 0.5 * w**2 * own_curvature
    return total


@pytest.mark.parametrize("room", [1 << 22, 1])
@LIGHT
@given(seed=seeds, n_classes=st.integers(2, 3))
def test_pairs_are_ranked_by_what_they_would_tell_held_out_rows(room, seed, n_classes):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (200, 4))
    labels = (codes[:, 0] == codes[:, 1]).astype(int) + (n_classes > 2) * rng.integers(0, 2, 200)
    parts = [Part(Feature(f"x{j}", values=(0, 1, 2)), Source.of(j, 3)) for j in range(4)]
    weight, folds = rng.uniform(0.5, 2, 200), rng.integers(0, FOLDS, 200)
    rows = CodedRows([*np.ascontiguousarray(codes.T)], labels, weight, groups=folds)
    target = Target(np.bincount(labels, weight, n_classes))
    design = Design(tuple(part.source for part in parts))
    view = View(design, target, rng.normal(size=(13, target.n_totals)))
    block = Block(rows.codes, labels, weight)
    moments = view.moments(block, design.place(block))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_module, "ROOM", room)
        found = rank_pairs(parts, Dealt(rows, fold_roles(FOLDS)), view)
    assert rows.n_passes == (1 if room > 1 else 3)
    gains = {}
    for i, j in combinations(range(4), 2):
        gains[i, j] = sum(
            literal_gain(codes[:, i], codes[:, j], s, c, folds)
            for s, c in zip(moments.slope.T, moments.curvature.T, strict=True)
        )
    assert {*found} == {*gains}
    assert (np.diff([gains[pair] for pair in found]) <= 1e-9).all()


@pytest.mark.parametrize("missing", ["level", "skip"])
@LIGHT
@given(seed=seeds)
def test_pairs_are_counted_and_coded_as_the_table_itself_would_have_them(missing, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=150), "c": rng.choice([*"abc"], 150)})
    frame.loc[rng.random(150) < 0.2, "x"], frame.loc[rng.random(150) < 0.2, "c"] = np.nan, None
    y, weight = rng.integers(0, 2, 150), rng.integers(0, 3, 150).astype(float)
    sample = label_sample(read(frame), y, weight)
    tables = EducatedNB(missing=missing)._tally(sample).tables
    rows = code_rows(sample, [t.feature for t in tables])
    parts = tuple(Part.of(t, j) for j, t in enumerate(tables))
    ((counts, source),) = count_pairs([parts], rows, 2)
    literal = count_table(
        tuple(p.feature for p in parts), sample.table, Rows(sample.labels, sample.weight, 2)
    )
    assert counts.feature == literal.feature
    np.testing.assert_array_equal(counts.counts, literal.counts)
    found = source.levels[rows.codes[0].astype(int) * source.width + rows.codes[1]]
    placed = counts.feature.read(sample.table)
    np.testing.assert_array_equal(found, placed.levels[placed.codes])


def test_the_gain_is_the_loss_that_small_weights_save():
    rng = np.random.default_rng(1)
    labels, cell = rng.integers(0, 2, 500), rng.integers(0, 4, 500)
    target, totals = Target(np.ones(2)), rng.normal(size=(500, 1))
    moments, weights = target.moments(totals, labels, np.ones(500)), 0.01 * rng.normal(size=4)
    sums = [np.bincount(cell, part[:, 0], 4) for part in (moments.slope, moments.curvature)]
    after = target.moments(totals + weights[cell][:, None], labels, np.ones(500))
    saved = moments.loss - after.loss
    assert Cells(*sums).gain(weights).sum() == pytest.approx(saved, rel=1e-3, abs=1e-4)


# ---------------------------------------------------------------- coarse levels


@LIGHT
@given(seeds, st.integers(1, 40))
def test_coarse_intervals_are_unions_of_the_features_and_hold_about_equal_rows(seed, n):
    counts = np.random.default_rng(seed).integers(1, 9, (n + 1, 2)).astype(float)
    fine = Feature("x", cuts=tuple(map(float, range(n))))
    coarse = coarsen(fine, counts)
    assert {*coarse.cuts} <= {*fine.cuts}
    assert len(coarse.levels) <= 5 or coarse == fine
    assert coarse == fine or len(fine.cuts) >= 5
    if n >= 20:
        level = np.searchsorted(coarse.cuts, [*fine.cuts, np.inf])
        share = np.bincount(level, counts.sum(axis=1)) / counts.sum()
        assert len(share) == 5
        assert share.max() < 0.2 + counts.sum(axis=1).max() / counts.sum()


def test_intervals_without_a_row_are_left_as_they_are():
    fine = Feature("x", values=(-1,), cuts=tuple(map(float, range(9))))
    assert coarsen(fine, np.vstack([np.zeros((10, 2)), np.ones((1, 2))])) == fine


def test_categories_of_many_levels_and_features_of_one_are_in_no_pair():
    assert [is_coarse(Feature("c", values=tuple(range(n)))) for n in (1, 2, 16, 17)] == [
        False, True, True, False,
    ]  # fmt: skip


# ---------------------------------------------------------------- what is found


@pytest.mark.parametrize("seed", range(3))
def test_what_two_columns_tell_only_together_is_found(seed):
    X, y = draw_xor(seed)
    plain = EducatedNB().fit(X, y)
    model = EducatedNB(pairs=1, random_state=0).fit(X, y)
    assert names_of(model) == [*X.columns, "a & b"]
    assert plain.score(X, y) < 0.65 < 0.75 < model.score(X, y)
    assert model.loo_loss_ < 0.8 * plain.loo_loss_
    assert len(model.scales_) == 6
    new, labels = draw_xor(seed + 100)
    assert model.score(new, labels) > 0.7


def test_no_pair_is_kept_of_noise():
    kept = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 4))
        y = (rng.random(400) < expit(X[:, 0])).astype(int)
        model = EducatedNB(pairs=1, bins=10, random_state=0).fit(X, y)
        plain = EducatedNB(bins=10).fit(X, y)
        kept += len(model.evidence_) > 4
        if len(model.evidence_) == 4:
            assert (model.predict_proba(X) == plain.predict_proba(X)).all()
    assert kept <= 2


def test_pairs_of_many_classes_are_found_jointly_and_refused_one_by_one():
    X, y = draw_xor(3, n_rows=900)
    y = y + (X["n0"] > 0.7)
    model = EducatedNB(pairs=1, random_state=0).fit(X, y)
    assert names_of(model)[-1] == "a & b"
    sheet = model.balance_sheet(X.iloc[[0]], pos_label=0, against=2)
    p = model.predict_proba(X.iloc[[0]])[0]
    assert add_up(sheet) == pytest.approx(np.log(p[0] / p[2]))
    with pytest.raises(ValueError, match="pairs are found for all classes at once"):
        EducatedNB(pairs=1, multiclass="ovr").fit(X, y)


@pytest.mark.parametrize("pairs", [-1, 1.0, "2", True, None])
def test_pairs_must_be_a_number(pairs):
    X, y = draw_xor()
    with pytest.raises(ValueError, match="pairs must be a whole number of 0 or more, got"):
        EducatedNB(pairs=pairs).fit(X, y)


def test_more_pairs_than_there_are_is_all_of_them_or_none():
    X, y = draw_xor(4, n_more=1)
    assert len(EducatedNB(pairs=50, random_state=0).fit(X, y).evidence_) == 6
    one = EducatedNB(pairs=5).fit(X[["a"]], y)
    assert names_of(one) == ["a"]


def test_the_same_random_state_finds_the_same_pairs():
    X, y = draw_xor(5)
    fits = [EducatedNB(pairs=2, random_state=7).fit(X, y) for _ in range(2)]
    assert names_of(fits[0]) == names_of(fits[1])
    assert (fits[0].predict_proba(X) == fits[1].predict_proba(X)).all()


def test_a_pair_whose_name_is_a_columns_is_not_made():
    X, y = draw_xor(6, n_more=1)
    model = EducatedNB(pairs=1, random_state=0).fit(X.rename(columns={"n0": "a & b"}), y)
    assert names_of(model) == ["a", "b", "a & b"]
    twice = X.rename(columns={"n0": "b & n"}).assign(**{"a & b": X["a"], "n": X["b"]})
    model = EducatedNB(pairs=10, random_state=0).fit(twice, y)
    assert len({*names_of(model)}) == len(model.evidence_) > 5


# ---------------------------------------------------------------- what becomes of it


def test_a_pair_is_one_item_on_the_sheet_and_says_what_no_column_does_alone():
    X, y = draw_xor(7)
    model = EducatedNB(pairs=1, random_state=0).fit(X, y)
    row = {"a": 1.5, "b": 1.5, "n0": 0.0, "n1": 0.0, "n2": 0.0}
    sheet = model.balance_sheet(row)
    item = sheet.items[-1]
    assert item.feature == "a & b"
    assert str(item).startswith("a > ")
    assert " with b > " in str(item)
    assert len(sheet.items) == 6
    assert item.weight == max(item.weight for item in sheet.items) > 1
    assert (
        add_up(sheet)
        == pytest.approx(sheet.total)
        == pytest.approx(np.log(sheet.probability / (1 - sheet.probability)))
    )
    assert sheet.interval[0] < sheet.probability < sheet.interval[1]
    assert "a & b" in str(model.evidence_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_with_a_pair_is_saved_and_read_and_its_file_follows_the_schema(tmp_path, n_classes):
    X, y = draw_xor(8)
    X["c"] = np.where(X["n0"] > 0, "u", "v")
    X.loc[::7, "b"] = np.nan
    y = y + (n_classes > 2) * (X["n1"] > 1)
    model = EducatedNB(pairs=2, random_state=0).fit(X, y)
    assert "a & b" in names_of(model)
    weigh.save(model, tmp_path / "m.json")
    Draft202012Validator(SCHEMA).validate(json.loads((tmp_path / "m.json").read_text()))
    again = weigh.load(tmp_path / "m.json")
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert again.evidence_.column_names == model.evidence_.column_names == tuple(X.columns)
    for name in ("scales_", "loo_loss_", "n_passes_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert str(again.balance_sheet(X.iloc[[0]])) == str(model.balance_sheet(X.iloc[[0]]))


@pytest.mark.parametrize("missing", ["level", "skip"])
def test_pairs_live_beside_crosses_codes_and_gaps(missing):
    X, y = draw_xor(9)
    X["c"], X["d"] = np.where(X["n0"] > 0, "u", "v"), np.where(X["n1"] > 0, "u", "v")
    X.loc[::9, "a"], X.loc[::11, "b"] = np.nan, -999.0
    model = EducatedNB(
        pairs=2, crosses=[("c", "d")], missing=missing, special_values={"b": [-999]}, random_state=0
    ).fit(X, y)
    assert {"c & d", "a & b"} <= {*names_of(model)}
    for i in range(25):
        sheet = model.balance_sheet(X.iloc[[i]])
        assert add_up(sheet) == pytest.approx(sheet.total, abs=1e-9)
    unseen = model.balance_sheet(X.iloc[[1]].assign(a=np.nan, c="?"))
    assert np.isfinite(unseen.probability)
    assert ("a & b" in [i.feature for i in unseen.not_known]) == (missing == "skip")
