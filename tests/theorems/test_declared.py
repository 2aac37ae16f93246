"""Levels that a column's type or the user names: they count in smoothing, rows or not."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, MultinomialNB

import weigh
from weigh.educated.prior import curve
from weigh.formula import Formula

SIZES = ["small", "medium", "large", "huge"]
ROWS = ["small", "large", "small", "medium", "large", "large", "small", "medium"] * 4
CLASSES = [0, 1, 0, 0, 1, 0, 1, 1] * 4


def in_pandas(ordered=True):
    return pd.DataFrame({"size": pd.Categorical(ROWS, SIZES, ordered=ordered)})


def in_polars():
    return pl.DataFrame({"size": pl.Series(ROWS, dtype=pl.Enum(SIZES))})


def in_duckdb(tmp_path):
    rows = pa.table({"size": ROWS})
    connection = duckdb.connect()
    connection.register("rows", rows)
    connection.execute(f"CREATE TYPE size_of AS ENUM {(*SIZES,)}")
    return connection.sql("SELECT size::size_of AS size FROM rows")


def in_parquet(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pandas(in_pandas()), path)
    return weigh.scan(str(path))


TABLES = {
    "pandas": lambda _: in_pandas(),
    "polars": lambda _: in_polars(),
    "lazy": lambda _: in_polars().lazy(),
    "arrow": lambda _: pa.Table.from_pandas(in_pandas()),
    "duckdb": in_duckdb,
    "parquet": in_parquet,
}


@pytest.mark.parametrize("library", TABLES)
def test_every_library_declares_the_same_levels_in_the_same_order(library, tmp_path):
    table = weigh.EvidenceNB().fit(TABLES[library](tmp_path), CLASSES).evidence_["size"]
    wanted = CategoricalNB(min_categories=4).fit(
        np.array([[SIZES.index(size)] for size in ROWS]), CLASSES
    )
    logs = wanted.feature_log_prob_[0]
    assert table.levels == (*SIZES,)
    assert table.feature.ordered
    np.testing.assert_allclose(table.weights, logs[1] - logs[0], rtol=0, atol=1e-12)


def test_levels_in_parts_of_a_scan_are_those_of_the_whole(tmp_path):
    whole = weigh.AdjustedNB(cv=2, random_state=0).fit(in_pandas(), CLASSES).evidence_["size"]
    part = (
        weigh.AdjustedNB(cv=2, random_state=0).fit(in_parquet(tmp_path), CLASSES).evidence_["size"]
    )
    assert whole.levels == part.levels == (*SIZES,)
    np.testing.assert_allclose(whole.weights, part.weights, rtol=0, atol=1e-8)


def test_the_growing_list_of_a_polars_categorical_declares_nothing():
    every = pl.Series(["small", "large", "lost"] * 4, dtype=pl.Categorical)
    rows, y = pl.DataFrame({"size": every[:2].append(every[:2])}), [0, 1, 1, 0]
    for table in (rows, rows.lazy()):
        assert weigh.EvidenceNB().fit(table, y).evidence_["size"].levels == ("large", "small")


DOCUMENTS = np.array(
    [[1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]]
)
CHINA, ASKED = [1, 1, 1, 0], np.array([[0, 1, 1, 0, 0, 1]])


def test_the_bernoulli_example_of_manning_and_others_is_met():
    p = weigh.EvidenceNB().fit(DOCUMENTS == 1, CHINA).predict_proba(ASKED == 1)
    np.testing.assert_allclose(p, [[0.809, 0.191]], atol=5e-4)
    np.testing.assert_allclose(p, BernoulliNB().fit(DOCUMENTS, CHINA).predict_proba(ASKED))


@pytest.mark.parametrize("levels", [[0, 1], {0, 1}, (1, 0)])
def test_levels_may_be_listed_by_the_user(levels):
    model = weigh.EvidenceNB(categorical_features=dict.fromkeys(range(6), levels))
    p = model.fit(DOCUMENTS, CHINA).predict_proba(ASKED)
    np.testing.assert_allclose(p, BernoulliNB().fit(DOCUMENTS, CHINA).predict_proba(ASKED))


@pytest.mark.parametrize("seed", range(8))
def test_no_probability_differs_from_scikit_learn_where_both_are_defined(seed):
    rng = np.random.default_rng(seed)
    y, alpha = rng.integers(0, 3, 60), rng.choice([0.1, 1.0, 2.5])
    codes, ask = rng.integers(0, 3, (60, 4)), rng.integers(0, 5, (40, 4))
    listed = {column: {*range(5)} for column in range(4)}
    ours = weigh.EvidenceNB(smoothing=alpha, categorical_features=listed).fit(codes, y)
    theirs = CategoricalNB(alpha=alpha, min_categories=5).fit(codes, y)
    np.testing.assert_allclose(ours.predict_proba(ask), theirs.predict_proba(ask), atol=1e-12)
    flags, asked = rng.random((60, 4)) < [0, 0.1, 0.9, 1], rng.random((40, 4)) < 0.5
    ours, theirs = weigh.EvidenceNB(smoothing=alpha).fit(flags, y), BernoulliNB(alpha=alpha)
    expected = theirs.fit(flags, y).predict_proba(asked)
    np.testing.assert_allclose(ours.predict_proba(asked), expected, atol=1e-12)
    counts, asked = rng.poisson([0, 0.5, 2], (60, 3)), rng.poisson(1.0, (40, 3))
    ours = weigh.EvidenceNB(smoothing=alpha, event_model="counts").fit(counts, y)
    expected = MultinomialNB(alpha=alpha).fit(counts, y).predict_proba(asked)
    np.testing.assert_allclose(ours.predict_proba(asked), expected, atol=1e-12)


def test_a_value_that_the_list_does_not_name_is_refused_with_its_column():
    model = weigh.EvidenceNB(categorical_features={"size": SIZES[:2]})
    with pytest.raises(ValueError, match=r"'size' holds 'large'.*categorical_features"):
        model.fit(pd.DataFrame({"size": ROWS}), CLASSES)


@pytest.mark.parametrize("levels", ["small", 3])
def test_levels_that_are_no_list_are_refused(levels):
    model = weigh.EvidenceNB(categorical_features={"size": levels})
    with pytest.raises(ValueError, match="categorical_features for column 'size'"):
        model.fit(pd.DataFrame({"size": ROWS}), CLASSES)


# ---------------------------------------------------------------- learners


def test_a_declared_level_without_rows_weighs_nothing_in_educated_nb():
    table = weigh.EducatedNB(pairs=0).fit(in_pandas(ordered=False), CLASSES).evidence_["size"]
    assert table.weights[table.levels.index("huge")] == 0


def test_an_ordered_category_without_rows_has_the_weight_that_the_prior_expects_there():
    table = weigh.EducatedNB(pairs=0).fit(in_pandas(), CLASSES).evidence_["size"]
    assert table.levels == (*SIZES,)
    rows = table.counts.sum(axis=1)
    assert rows[3] == 0
    assert table.weights[2] != 0
    pull = curve(rows) @ table.weights  # the prior's: nothing else moves a level without rows
    np.testing.assert_allclose(pull[3], 0, atol=1e-6)
    assert abs(pull[2]) > 1e-3


def test_the_walk_of_ordered_categories_is_that_of_numbers_in_their_place():
    numbers = pd.DataFrame({"size": [SIZES.index(size) for size in ROWS]})
    cut = weigh.EducatedNB(pairs=0, bins={"size": [0.5, 1.5, 2.5]}).fit(numbers, CLASSES)
    named = weigh.EducatedNB(pairs=0).fit(in_pandas(), CLASSES)
    np.testing.assert_allclose(
        named.evidence_["size"].weights, cut.evidence_["size"].weights, atol=1e-9
    )


def test_monotonic_cst_holds_ordered_categories_and_refuses_others():
    y = [1, 0, 1, 0, 0, 1, 1, 0] * 4
    falling = weigh.EducatedNB(pairs=0, monotonic_cst={"size": 1}).fit(in_pandas(), y)
    assert (np.diff(falling.evidence_["size"].weights) >= -1e-9).all()
    with pytest.raises(ValueError, match="monotonic_cst names 'size'"):
        weigh.EducatedNB(pairs=0, monotonic_cst={"size": 1}).fit(in_pandas(ordered=False), y)


@pytest.mark.parametrize(
    "learner",
    [
        weigh.EvidenceNB(),
        weigh.AdjustedNB(cv=2),
        weigh.WeightedNB(cv=2),
        weigh.BoostedNB(),
        weigh.PerplexedNB(),
        weigh.EducatedNB(pairs=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_every_learner_keeps_declared_levels_and_exports_them(learner, tmp_path):
    model = learner.fit(in_pandas(), CLASSES)
    assert model.evidence_["size"].levels == (*SIZES,)
    copy = weigh.load(weigh.save(model, tmp_path / "model.json") or tmp_path / "model.json")
    ask = [{"size": size} for size in SIZES]
    np.testing.assert_array_equal(copy.predict_proba(ask), model.predict_proba(ask))
    assert copy.evidence_["size"].feature == model.evidence_["size"].feature


def test_a_tree_gives_a_declared_level_without_rows_its_nodes_probabilities():
    tree = weigh.C44Classifier().fit(in_pandas(), CLASSES)
    assert tree.predict_proba([{"size": "huge"}])[0, 1] == pytest.approx(0.5)


# ---------------------------------------------------------------- adding, showing


def test_levels_beyond_max_levels_join_other_in_memory_and_in_scans(tmp_path):
    models = [
        weigh.EvidenceNB(max_levels=2).fit(rows, CLASSES)
        for rows in (in_pandas(False), in_parquet(tmp_path))
    ]
    for model in models:
        assert set(model.evidence_["size"].labels) == {"large", "small", "other"}


def test_adding_rows_of_plain_text_keeps_the_order_and_new_levels_are_refused():
    model = weigh.EvidenceNB().fit(in_pandas(), CLASSES)
    more = model.partial_fit(pd.DataFrame({"size": ["huge", "small"]}), [0, 1])
    assert more.evidence_["size"].levels == (*SIZES,)
    with pytest.raises(ValueError, match=r"'size'.*order"):
        more.partial_fit(pd.DataFrame({"size": ["giant", "small"]}), [0, 1])


def test_parts_in_another_order_are_not_merged():
    other = pd.DataFrame({"size": pd.Categorical(ROWS, SIZES[::-1], ordered=True)})
    one, two = (weigh.EvidenceNB().fit(X, CLASSES) for X in (in_pandas(), other))
    with pytest.raises(ValueError, match=r"'size'.*order"):
        one.merge(two)


def test_pages_and_text_show_ordered_levels_in_their_order():
    model = weigh.EvidenceNB().fit(in_pandas(), CLASSES)
    text = model.evidence_.to_text()
    assert [text.index(f" {size} ") for size in SIZES] == sorted(
        text.index(f" {size} ") for size in SIZES
    )
    assert Formula.of(model).inputs[0].values == (*SIZES,)
    page = weigh.calculator(model)
    places = [page.index(f">{size}<") for size in SIZES]
    assert places == sorted(places)


def test_plots_draw_ordered_levels_in_their_order():
    from weigh.plot.selection import WeightLine, panel_of

    model = weigh.EvidenceNB().fit(in_pandas(), CLASSES)
    panel = panel_of(model.evidence_["size"], WeightLine(("",), np.ones((1, 1)), ""))
    assert [*panel.labels] == SIZES[:3]


def test_a_set_of_levels_survives_a_file(tmp_path):
    path = tmp_path / "model.json"
    learner = weigh.EvidenceNB(categorical_features={"size": {*SIZES}})
    weigh.save(learner.fit(pd.DataFrame({"size": ROWS}), CLASSES), path)
    assert weigh.load(path).categorical_features == {"size": {*SIZES}}
    assert not any(f.get("ordered") for f in json.loads(path.read_text())["evidence"]["features"])
