"""How much a table matters: literal means over the training rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import weigh
from weigh.evidence.feature_table import loss_without, mean_contribution, poisson_distance

few = settings(max_examples=25, deadline=None)


@st.composite
def rows(draw, classes=(2, 3)):
    k, n = draw(st.sampled_from(classes)), draw(st.integers(6, 30))
    data = [
        {"a": draw(st.sampled_from("xyz")), "b": float(draw(st.integers(0, 4)))} for _ in range(n)
    ]
    y = [i if i < k else draw(st.integers(0, k - 1)) for i in range(n)]
    return data, np.array(y)


@few
@given(rows())
def test_importance_is_the_mean_absolute_contribution_of_the_training_rows(sample):
    data, y = sample
    model = weigh.EvidenceNB(bins={"b": [1.5]}).fit(data, y)
    added = model.evidence_.contributions(model._read(data))
    for j, table in enumerate(model.evidence_):
        own = added[:, j, :]
        literal = np.abs(own - own.mean(axis=0)).mean(axis=0)
        np.testing.assert_allclose(table.importances, literal, atol=1e-12)
        assert table.importance == pytest.approx(literal.mean(), abs=1e-12)


@few
@given(rows())
def test_where_the_zero_of_a_table_lies_does_not_change_what_matters(sample):
    data, y = sample
    table = weigh.EvidenceNB().fit(data, y).evidence_["a"]
    moved = table.by_class + 3.7
    found = mean_contribution(moved, table.counts)
    np.testing.assert_allclose(found, table.importances, atol=1e-12)
    assert loss_without(moved, table.counts) == pytest.approx(
        loss_without(table.by_class, table.counts), abs=1e-12
    )


def log_loss(p, y):
    return -np.log(p[np.arange(len(y)), y]).mean()


@few
@given(rows())
def test_of_one_table_of_frequencies_the_added_loss_is_what_its_rows_lose(sample):
    data, y = sample
    counts = weigh.EvidenceNB().fit(data, y).evidence_["a"].counts + 1  # every level, every class
    total = counts.sum()
    rate, share = counts / counts.sum(axis=1, keepdims=True), counts.sum(axis=1) / total
    logs = np.log(rate)
    weights = logs[:, 1:] - logs[:, :1] if rate.shape[1] == 2 else logs
    plain = np.zeros_like(rate)
    plain[:, -weights.shape[1] :] = weights
    mean = np.exp(share @ plain) / np.exp(share @ plain).sum()
    literal = (counts * (logs - np.log(mean))).sum() / total
    assert loss_without(weights, counts) == pytest.approx(literal, abs=1e-12)


def test_weights_fitted_together_have_an_added_loss_close_to_that_of_their_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = rng.random(4000) < 1 / (1 + np.exp(-(1.2 * X[:, 0] - 0.7 * X[:, 1])))
    model = weigh.EducatedNB(pairs=0).fit(X, y)
    totals, added = model.decision_function(X), model.evidence_.contributions(model._read(X))

    def loss(total):
        return (np.logaddexp(0, total) - y * total).mean()

    for j, table in enumerate(model.evidence_):
        own = added[:, j, 0]
        exact = loss(totals - (own - own.mean())) - loss(totals)
        assert table.added_loss == pytest.approx(exact, rel=0.25, abs=0.002)
    assert all(table.added_loss is None for table in weigh.EvidenceNB().fit(X, y).evidence_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_column_is_as_important_as_its_tables_and_its_half_of_pairs(n_classes):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (300, 4)), columns=[*"abcd"]).astype("category")
    y = (X["a"].cat.codes == X["b"].cat.codes).to_numpy() + rng.integers(0, n_classes - 1, 300)
    model = weigh.EducatedNB(pairs=2, random_state=0).fit(X, y)
    joint = [table for table in model.evidence_ if len(table.feature.parts) > 1]
    assert joint
    literal = dict.fromkeys(X.columns, 0.0)
    added = model.evidence_.contributions(X)
    for j, table in enumerate(model.evidence_):
        own = np.abs(added[:, j] - added[:, j].mean(axis=0)).mean()
        for part in table.feature.parts:
            literal[part.name] += own / len(table.feature.parts)
    np.testing.assert_allclose(model.feature_importances_, [*literal.values()], rtol=1e-9)
    assert model.feature_importances_.shape == (model.n_features_in_,)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_token_is_as_important_as_its_contributions_to_documents_differ(n_classes):
    rng = np.random.default_rng(0)
    n, rates = 40_000, np.array([0.01, 0.2, 0.9, 1.0, 3.5, 20.0])
    X, y = rng.poisson(rates, (n, 6)), rng.integers(0, n_classes, n)
    model = weigh.EvidenceNB(event_model="counts").fit(X, y)
    added = X[:, :, None] * model.evidence_[0].by_class
    literal = np.abs(added - added.mean(axis=0)).mean(axis=(0, 2))
    # The mean of n distances; that of the rarest token has a standard error of 5%.
    np.testing.assert_allclose(model.feature_importances_[1:], literal[1:], rtol=0.03)
    np.testing.assert_allclose(model.feature_importances_[0], literal[0], rtol=0.2)


@given(st.floats(0.0, 60.0))
def test_the_mean_distance_of_a_poisson_number_from_its_mean_is_exact(mean):
    n = np.arange(400)
    literal = np.abs(n - mean) @ stats.poisson.pmf(n, mean)
    np.testing.assert_allclose(poisson_distance(np.array([mean]))[0], literal, atol=1e-9)


def test_a_word_of_every_document_is_less_important_than_a_rare_one_that_tells_more():
    y = np.arange(90) % 3 == 0
    the, of = np.where(y, 22, 20), np.where(y, 20, 22)  # count times weight is large, and alike
    X = np.column_stack([the, of, y, ~y])
    model = weigh.EvidenceNB(event_model="counts").fit(X, y)
    common, telling = model.feature_importances_[:2], model.feature_importances_[2:]
    assert common.max() < telling.min()


def test_models_without_tables_have_no_importances():
    assert not hasattr(weigh.EvidenceNB(), "feature_importances_")
    tree = weigh.C44Classifier().fit([["a"], ["b"]] * 5, [0, 1] * 5)
    assert not hasattr(tree, "feature_importances_")
