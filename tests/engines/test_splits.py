"""Levels are found again in each split, and a row's level there follows from its finer level."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, RepeatedKFold

import weigh
from weigh import engine
from weigh.base import read_sample
from weigh.folds import HELD_OUT, TRAIN, deal
from weigh.parameters import read_crosses, read_settings

SETTINGS = [
    {},
    {"bins": 4, "missing": "skip"},
    {"crosses": [("x", "town")], "special_values": {"n": [3]}},
    {"max_levels": 3, "categorical_features": ["town", "n"], "crosses": [("town", "n")]},
]


def make(n_rows=400, n_classes=3, seed=0):
    """Numbers, whole numbers, text and gaps; `fold` deals the rows, some folds hold few."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    towns = np.array([f"t{i}" for i in range(12)], dtype=object)
    return pd.DataFrame(
        {
            "x": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows) + y),
            "n": rng.integers(0, 9, n_rows) + y,
            "town": towns[np.minimum(rng.geometric(0.3, n_rows) + (y == 1), 11)],
            "fold": rng.choice(["a", "b", "c"], n_rows, p=[0.1, 0.3, 0.6]),
            "w": rng.integers(0, 4, n_rows),
            "y": y,
        }
    )


def scanned(table, folder):
    """The same rows in a file."""
    path = folder / "rows.parquet"
    parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    return weigh.scan(path)


def split(model, X):
    sample = read_sample(model, X, "y", "w")
    settings = read_settings(model, sample.table)
    crosses = read_crosses(model.crosses, sample.table)
    splits = engine.find_splits(sample, model.cv, 0, settings, crosses)
    return sample, splits, lambda part: engine.tally(part, settings, crosses)


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("parameters", SETTINGS)
def test_a_split_has_the_levels_and_counts_of_the_rows_that_it_learns_from(
    tmp_path, parameters, far
):
    table, model = make(), weigh.PerplexedNB(cv="fold", **parameters)
    sample, splits, count = split(model, table)
    if far:
        splits = split(model, scanned(table, tmp_path))[1]
    role = splits.roles[sample.groups]
    parts = [(splits.whole, np.ones(len(role), bool))]
    parts += [(part, role[:, k] == TRAIN) for k, part in enumerate(splits.parts)]
    for levels, rows in parts:
        alone = count(sample.take(rows))
        assert levels.tally.class_counts.tolist() == alone.class_counts.tolist()
        for found, wanted in zip(levels.tally.tables, alone.tables, strict=True):
            assert found.feature == wanted.feature
            assert np.array_equal(found.counts, wanted.counts)


def test_a_fraction_inside_a_bin_keeps_whole_numbers_out_of_its_label(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame({"x": random.integers(0, 31, 600) * 1.0, "y": random.integers(0, 2, 600)})
    table.loc[0, "x"] = 15.5  # the largest number of no bin
    for X in (table, scanned(table, tmp_path)):
        model = weigh.AdjustedNB(bins={"x": [10, 20]}, random_state=0).fit(X, "y")
        assert model.evidence_["x"].labels == ("<= 10.0", "(10.0, 20.0]", "> 20.0")


@pytest.mark.parametrize("parameters", SETTINGS)
def test_the_finer_level_of_a_row_tells_its_level_in_every_split(parameters):
    model = weigh.PerplexedNB(cv="fold", **parameters)
    sample, splits, _ = split(model, make())
    for levels in (splits.whole, *splits.parts):
        features = [table.feature for table in levels.tally.tables]
        alone = engine.CodedRows.of(engine.place(sample.table, features), sample.labels)
        for places, fine, wanted in zip(levels.places, splits.rows.codes, alone.codes, strict=True):
            assert places[fine].tolist() == wanted.tolist()


def test_counts_by_finer_level_add_up_to_those_of_the_levels():
    sample, splits, _ = split(weigh.PerplexedNB(cv="fold", crosses=[("x", "town")]), make())
    for k, levels in enumerate(splits.parts):
        train = splits.roles[sample.groups, k] == TRAIN
        fine = []
        for places, codes in zip(levels.places, splits.rows.codes, strict=True):
            counts = np.zeros((len(places), 3))
            np.add.at(counts, (codes[train], sample.labels[train]), sample.weight[train])
            fine.append(counts)
        for found, wanted in zip(levels.gather(fine), levels.tally.tables, strict=True):
            assert np.array_equal(found.counts, wanted.counts)


LEARNERS = {
    "weighted": weigh.WeightedNB(cv="fold", random_state=0),
    "perplexed": weigh.PerplexedNB(cv="fold"),
    "boosted": weigh.BoostedNB(cv="fold", n_rounds=4),
}
CHOSEN = {"weighted": "weights_", "perplexed": "attenuation_", "boosted": "scale_"}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_the_same_folds_give_the_same_model_in_memory_and_from_a_file(tmp_path, name, n_classes):
    table = make(n_classes=n_classes)
    here, there = (
        clone(LEARNERS[name]).fit(X, "y", "w") for X in (table, scanned(table, tmp_path))
    )
    assert here.feature_names_in_.tolist() == ["x", "n", "town"]
    np.testing.assert_allclose(getattr(there, CHOSEN[name]), getattr(here, CHOSEN[name]), rtol=1e-9)
    for one, two in zip(here.evidence_, there.evidence_, strict=True):
        assert one.feature == two.feature
        assert np.array_equal(one.counts, two.counts)
        np.testing.assert_allclose(two.by_class, one.by_class, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_column_of_folds_is_what_the_splits_it_tells_are(name):
    table = make(n_classes=2)
    folds = PredefinedSplit(table["fold"].map({"a": 0, "b": 1, "c": 2}))
    named = clone(LEARNERS[name]).fit(table, "y", "w")
    given = clone(LEARNERS[name]).set_params(cv=folds).fit(table.drop(columns="fold"), "y", "w")
    np.testing.assert_allclose(getattr(named, CHOSEN[name]), getattr(given, CHOSEN[name]), 1e-9)


@pytest.mark.parametrize(
    "learner", [weigh.AdjustedNB(cv="fold"), weigh.EducatedNB(pairs=0, cv="fold")]
)
def test_every_learner_that_holds_rows_out_takes_a_column_of_folds(learner):
    table = make(n_classes=2)
    assert learner.fit(table, "y", "w").feature_names_in_.tolist() == ["x", "n", "town"]
    calm = weigh.RecalibratedClassifier(weigh.EvidenceNB(), cv="fold").fit(table, "y", "w")
    assert calm.feature_names_in_.tolist() == ["x", "n", "town"]


def test_a_column_of_folds_must_be_there_and_whole():
    table = make(n_classes=2)
    for wrong, name in ((table.drop(columns="fold"), "fold"), (table.assign(fold="a"), "fold")):
        with pytest.raises(ValueError, match=f"cv names the column {name!r}"):
            weigh.PerplexedNB(cv="fold").fit(wrong, "y")
    gaps = table.assign(fold=table["fold"].where(table.index > 3, None))
    with pytest.raises(ValueError, match="'fold', which has missing values"):
        weigh.PerplexedNB(cv="fold").fit(gaps, "y")


def test_a_row_that_several_splits_hold_out_counts_in_each():
    table = make(120, 2).drop(columns=["fold", "w"])
    X, y = table.drop(columns="y"), table["y"].to_numpy()
    cv = [*RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(X)]
    path = weigh.PerplexedNB(cv=cv, bins=3).fit(X, y).attenuation_path_
    bits, k = 0.0, path.k[20]
    for train, held_out in cv:
        fold = weigh.PerplexedNB(attenuation=k, bins=3).fit(X.iloc[train], y[train])
        p = fold.predict_proba(X.iloc[held_out])[np.arange(len(held_out)), y[held_out]]
        bits -= np.log2(p).sum()
    assert path.criterion[20] == pytest.approx(bits / (2 * len(y)), rel=1e-9)


def test_cut_points_do_not_see_the_rows_that_they_are_judged_on():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 20)), rng.integers(0, 2, 300)
    folds = [held_out for _, held_out in deal(y, 5, np.random.RandomState(0))]
    model = weigh.WeightedNB(method="gain_ratio", random_state=0)
    sample = read_sample(model, X, y)
    splits = model._split(sample, 5, 0)
    role = splits.roles[splits.rows.groups]
    for k, held_out in enumerate(folds):
        assert np.array_equal(role[:, k] == HELD_OUT, held_out)
        alone = weigh.EvidenceNB().fit(X[~held_out], y[~held_out]).evidence_.features
        assert tuple(t.feature for t in splits.parts[k].tally.tables) == alone
