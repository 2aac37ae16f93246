"""WeightOfEvidence: the weights of levels as columns, held to a literal computation."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import weigh
from weigh import WeightOfEvidence
from weigh.bins import Feature
from weigh.evidence import FeatureTable
from weigh.transformers import measure_information

CUTS = [2.0, 5.0]


def draw_table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.choice(["east", "north", "south"], n, p=[0.2, 0.5, 0.3])
    income = rng.choice([1.0, 3.0, 7.0, np.nan], n, p=[0.3, 0.3, 0.3, 0.1])
    odds = (town == "north") - 0.5 * (income > 5)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "good", "bad")
    y[town == "east"] = "bad"  # an empty cell
    return pd.DataFrame({"town": town, "income": income}), y


def bin_of(value):
    if isinstance(value, str):
        return value
    return "missing" if math.isnan(value) else sum(value > cut for cut in CUTS)


def weigh_by_hand(column, y, pos="good"):
    """WoE, error and rows of each level, one row after the other; and IV."""
    levels = [bin_of(value) for value in column]
    counts = {level: [0, 0] for level in levels}
    for level, label in zip(levels, y, strict=True):
        counts[level][label == pos] += 1
    totals = [sum(own[c] for own in counts.values()) for c in (0, 1)]
    woe, error, iv = {}, {}, 0.0
    for level, own in counts.items():
        added = 0.5 if 0 in own else 0.0
        share = [(own[c] + added) / totals[c] for c in (0, 1)]
        woe[level] = math.log(share[1] / share[0])
        error[level] = math.sqrt(sum(1 / (own[c] + added) - 1 / totals[c] for c in (0, 1)))
        iv += (share[1] - share[0]) * woe[level]
    return woe, error, iv, totals


@pytest.mark.parametrize("pos", [None, "bad"])
def test_the_columns_and_their_table_are_those_of_a_literal_computation(pos):
    X, y = draw_table()
    model = WeightOfEvidence(bins={"income": CUTS}, pos_label=pos).fit(X, y)
    found, told = model.transform(X), pd.DataFrame(model.information_)
    table = pd.DataFrame(model.table_)
    for j, name in enumerate(X.columns):
        woe, error, iv, totals = weigh_by_hand(X[name], y, pos or "good")
        expected = [woe[bin_of(value)] for value in X[name]]
        np.testing.assert_allclose(found[:, j], expected, rtol=1e-12)
        own = table[table.feature == name]
        np.testing.assert_allclose(sorted(own.woe), sorted(woe.values()), rtol=1e-12)
        np.testing.assert_allclose(sorted(own.error), sorted(error.values()), rtol=1e-9)
        assert own.iv.sum() == pytest.approx(iv, rel=1e-12)
        row = told[told.feature == name].iloc[0]
        statistic = iv * totals[0] * totals[1] / sum(totals)
        assert row.information_value == pytest.approx(iv, rel=1e-12)
        assert row.p_value == pytest.approx(chi2.sf(statistic, len(woe) - 1), rel=1e-9)


def test_with_smoothing_the_columns_are_the_weights_of_evidence_nb():
    X, y = draw_table()
    options = {"bins": {"income": CUTS}, "smoothing": 1.0}
    found = WeightOfEvidence(**options).fit_transform(X, y)
    parts = weigh.EvidenceNB(**options).fit(X, y).contributions(X)
    np.testing.assert_allclose(found, parts[["town", "income"]].to_numpy(), rtol=1e-12)


def test_unseen_values_and_missing_ones_that_training_had_not_get_zero():
    X, y = draw_table()
    model = WeightOfEvidence(bins={"income": CUTS}).fit(X, y)
    found = model.transform(pd.DataFrame({"town": ["west", None], "income": [np.nan, 1.0]}))
    assert found[:, 0].tolist() == [0.0, 0.0]
    assert found[0, 1] == pytest.approx(weigh_by_hand(X["income"], y)[0]["missing"])
    skipping = WeightOfEvidence(bins={"income": CUTS}, missing="skip").fit(X, y)
    assert skipping.transform(X)[X["income"].isna().to_numpy(), 1].tolist().count(0.0) == (
        X["income"].isna().sum()
    )


def test_it_stands_in_a_pipeline_and_gives_dataframes_where_they_are_asked_for():
    X, y = draw_table()
    model = make_pipeline(WeightOfEvidence(), LogisticRegression()).fit(X, y)
    assert model.score(X, y) > max(np.mean(y == "good"), np.mean(y == "bad"))
    frame = WeightOfEvidence().set_output(transform="pandas").fit(X, y).transform(X)
    assert [*frame.columns] == ["town", "income"]
    assert frame.index.equals(X.index)
    polars = WeightOfEvidence().set_output(transform="polars").fit(pl.from_pandas(X), y)
    assert polars.transform(pl.from_pandas(X)).columns == ["town", "income"]


def test_a_weight_of_two_is_a_row_given_twice():
    X, y = draw_table()
    weight = np.arange(len(y)) % 3
    again = np.repeat(np.arange(len(y)), weight)
    options = {"bins": {"income": CUTS}}
    one = WeightOfEvidence(**options).fit(X, y, sample_weight=weight)
    two = WeightOfEvidence(**options).fit(X.iloc[again], y[again])
    np.testing.assert_allclose(one.transform(X), two.transform(X), rtol=1e-12)


def test_more_than_two_classes_are_refused():
    X, y = draw_table()
    y[:3] = "ugly"
    with pytest.raises(ValueError, match="3 classes"):
        WeightOfEvidence().fit(X, y)


def test_the_p_value_is_uniform_where_the_classes_are_alike():
    """Of 2,000 tables, those with p below 0.1 are binomial: four deviations are 0.027."""
    rng, share = np.random.default_rng(1), [0.2, 0.3, 0.5]
    feature = Feature("x", ("a", "b", "c"))
    low = 0
    for _ in range(2000):
        counts = np.column_stack([rng.multinomial(n, share) for n in (600, 400)]).astype(float)
        woe = np.log(counts[:, 1] / 400) - np.log(counts[:, 0] / 600)
        table = FeatureTable(feature, counts, woe[:, None])
        low += measure_information(table)["p_value"] < 0.1
    assert low / 2000 == pytest.approx(0.1, abs=4 * math.sqrt(0.09 / 2000))
