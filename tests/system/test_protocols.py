"""Other libraries' protocols: the splits, the measures, A1DE, and the page of the results."""

import json

import numpy as np
import pandas as pd
import pytest
from benchmarks import protocols
from benchmarks.protocols import PAGE, RESULTS, find_power, measure_many, measure_two, render
from benchmarks.rivals import a1de
from scipy.special import softmax
from sklearn.metrics import log_loss, roc_auc_score


def draw_categories(n_rows, rng):
    """Three columns of categories, of which a level of the last is rare, and three classes."""
    y = rng.integers(0, 3, n_rows)
    shape = {"a": 3, "b": 2, "c": 5}
    codes = {name: (rng.integers(0, 9, n_rows) * y) % size for name, size in shape.items()}
    return pd.DataFrame({k: pd.Categorical(v, range(shape[k])) for k, v in codes.items()}), y


def predict_literally(X, y, row):
    """A1DE by its formula, one probability at a time."""
    sizes, joint = [len(column.cat.categories) for _, column in X.items()], np.zeros(3)
    codes = a1de.codes_of(X)
    for c in range(3):
        parts = []
        for i in range(3):
            parent = codes[:, i] == row[i]
            if not parent.any():
                continue
            n = (parent & (y == c)).sum()
            p = (n + 1 / (3 * sizes[i])) / (len(y) + 1)
            for j in {0, 1, 2} - {i}:
                child = codes[:, j] == row[j]
                p *= ((parent & child & (y == c)).sum() + 1 / sizes[j]) / (n + 1)
            parts.append(p)
        joint[c] = np.mean(parts)
    return joint / joint.sum()


def test_a1de_gives_the_probabilities_of_its_formula_also_for_a_value_without_training_rows():
    X, y = draw_categories(60, np.random.default_rng(0))
    X["c"] = X["c"].cat.add_categories([9])
    model = a1de.fit(X, y)
    test = X[:8].copy()
    test.loc[3, "c"] = 9
    rows = a1de.codes_of(test)
    literal = [predict_literally(X, y, row) for row in rows]
    assert model.predict_proba(test) == pytest.approx(np.array(literal), rel=1e-12)


def test_predictions_of_a1de_in_parts_are_those_in_one_piece(monkeypatch):
    X, y = draw_categories(60, np.random.default_rng(1))
    whole = a1de.fit(X, y).predict_proba(X)
    monkeypatch.setattr(a1de, "PARTS", 100)
    assert (a1de.fit(X, y).predict_proba(X) == whole).all()


def test_the_measures_are_those_of_scikit_learn():
    rng = np.random.default_rng(2)
    p, y = softmax(rng.normal(size=(50, 3)), axis=1), rng.integers(0, 3, 50)
    found = measure_many(p, y)
    assert found["loss"] == pytest.approx(log_loss(y, p) / np.log(2))
    assert found["error"] == np.mean(p.argmax(axis=1) != y)
    assert found["RMSE"] == pytest.approx(
        np.sqrt(sum((1 - p[i, y[i]]) ** 2 for i in range(50)) / 50)
    )
    two = measure_two(p[:, :2] / p[:, :2].sum(axis=1, keepdims=True), y % 2)
    assert two["AUC"] == pytest.approx(roc_auc_score(y % 2, p[:, 1] / p[:, :2].sum(axis=1)))


def test_the_power_undoes_overconfidence():
    rng = np.random.default_rng(3)
    logits = rng.normal(size=(20_000, 4))
    y = (softmax(logits, axis=1).cumsum(axis=1) > rng.random((20_000, 1))).argmax(axis=1)
    assert find_power(softmax(2 * logits, axis=1), y) == pytest.approx(0.5, abs=0.02)


def test_each_row_of_a_split_is_predicted_by_a_model_that_has_not_seen_it():
    X, y = draw_categories(40, np.random.default_rng(4))
    X["row"] = np.arange(40)
    seen = []

    class Watch:
        def __init__(self, own, _):
            self.rows = {*own["row"]}

        def predict_proba(self, other):
            assert not self.rows & {*other["row"]}
            seen.append(len(other))
            return np.full((len(other), 3), 1 / 3)

    found = [*protocols.run(X, y, protocols.HALVES, Watch, measure_many)]
    assert seen == [20] * 10
    assert all(own["loss"] == pytest.approx(np.log2(3)) for own in found)


def test_the_page_is_written_from_the_results():
    results = json.loads(RESULTS.read_text("utf-8"))
    assert PAGE.read_text("utf-8") == render(results)
    results["halves"][0]["mean"]["error"] += 0.1
    assert PAGE.read_text("utf-8") != render(results)
