"""The joint probability of rows and classes is that of scikit-learn's naive Bayes."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

import weigh
from weigh import Density, EvidenceNB


def draw(n_classes=3, n_rows=80, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    return (rng.integers(0, 3, (n_rows, 4)) + y[:, None]) % 4, y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("s", [0.5, 1.0])
@pytest.mark.parametrize(
    ("theirs", "own", "turn"),
    [
        (CategoricalNB, {"categorical_features": "all"}, lambda X: X),
        (MultinomialNB, {"event_model": "counts"}, lambda X: X),
        (BernoulliNB, {}, lambda X: X > 1),
    ],
)
def test_it_is_that_of_scikit_learn(n_classes, s, theirs, own, turn):
    X, y = draw(n_classes)
    X = turn(X)
    weight = 1.0 + np.arange(len(y)) % 2
    expected = theirs(alpha=s).fit(X, y, weight).predict_joint_log_proba(X)
    found = EvidenceNB(smoothing=s, **own).fit(X, y, weight).predict_joint_log_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_with_gaussian_densities_it_is_near_that_of_gaussian_naive_bayes():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) + y[:, None]
    expected = GaussianNB().fit(X, y).predict_joint_log_proba(X)
    model = EvidenceNB(bins=Density("gaussian", cells=2048), smoothing=0).fit(X, y)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, atol=0.02)


@pytest.mark.parametrize(
    "model",
    [
        EvidenceNB(),
        EvidenceNB(smoothing="1/n", missing="skip", crosses=[("a", "b")]),
        EvidenceNB(smoothing="zhang-sheng", max_levels=2),
        EvidenceNB(bins=Density("kernel"), class_prior=[0.2, 0.3, 0.5]),
    ],
)
def test_less_the_sum_over_classes_it_is_the_probability_also_where_answers_are_not_known(model):
    X, y = draw()
    table = pd.DataFrame(X, columns=[*"abcd"]).astype({"a": str, "c": float})
    table.loc[::5, ["b", "c"]] = np.nan
    fitted = model.fit(table, y)
    rows = [{"a": "1"}, {"b": 2, "c": 0.5}, {"a": "never seen"}]
    for X in (table, rows):
        joint = fitted.predict_joint_log_proba(X)
        log_proba = joint - logsumexp(joint, axis=1, keepdims=True)
        np.testing.assert_allclose(log_proba, fitted.predict_log_proba(X), atol=1e-10)


def test_nothing_known_leaves_the_prior():
    X, y = draw()
    model = EvidenceNB(categorical_features="all").fit(pd.DataFrame(X, columns=[*"abcd"]), y)
    moved = model.with_prior([0.2, 0.3, 0.5])
    np.testing.assert_allclose(moved.predict_joint_log_proba([{}]), np.log([[0.2, 0.3, 0.5]]))


def test_a_model_edited_by_hand_has_none():
    people = weigh.datasets.titanic()
    model = EvidenceNB().fit(people, "Survived")
    edited = weigh.edit(model, people, "Survived").set("Sex", "Male", -0.5, why="try").model
    with pytest.raises(ValueError, match="edited"):
        edited.predict_joint_log_proba(people)


def test_a_vector_of_smoothing_is_refused_by_name():
    X, y = draw()
    with pytest.raises(ValueError, match=r"smoothing takes .*got 4"):
        EvidenceNB(smoothing=[1, 2, 3, 4], event_model="counts").fit(X, y)
