"""Smoothing as papers print it, beside slow literal versions."""

import numpy as np
import pandas as pd
import pytest

import weigh

LEARNERS = [
    weigh.EvidenceNB(),
    weigh.AdjustedNB(norm=None),
    weigh.AdjustedNB(norm=None, multiclass="ovr"),
    weigh.WeightedNB(method="gain_ratio"),
    weigh.BoostedNB(n_rounds=2),
]


def draw(n_classes, n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = pd.DataFrame({f"x{j}": [*map(str, (y + rng.integers(0, 3, n)) % 5)] for j in range(3)})
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_zhang_and_sheng_add_one_to_a_level_and_k_to_a_class(n_classes):
    """P(v|c) = (n_vc + 1)/(N_c + k), k the number of classes (their Eq. 2)."""
    X, y = draw(n_classes)
    model = weigh.EvidenceNB(smoothing="zhang-sheng").fit(X, y)
    p = np.empty((len(X), n_classes))
    for i, row in X.iterrows():
        for c in range(n_classes):
            own = X[y == c]
            shares = [((own[j] == row[j]).sum() + 1) / (len(own) + n_classes) for j in X]
            p[i, c] = np.prod(shares) * (y == c).mean()
    assert model.predict_proba(X) == pytest.approx(p / p.sum(axis=1, keepdims=True), abs=1e-12)


@pytest.mark.parametrize(("name", "size"), [("hong", 1.0), ("hong-1/n", 1 / 120)])
def test_hong_and_others_add_l_to_a_class_of_a_level_and_2l_to_the_level(name, size):
    """P(C|v) = (n_vC + L)/(n_v + 2 L), in odds beside those of P(C) (Hong et al. 2002, Eq. 9)."""
    X, y = draw(2)
    totals = np.full(len(X), np.log(y.mean() / (1 - y.mean())))
    prior = totals[0]
    for j in X:
        for value in X[j].unique():
            here = (X[j] == value).to_numpy()
            q = (y[here].sum() + size) / (here.sum() + 2 * size)
            totals[here] += np.log(q / (1 - q)) - prior
    model = weigh.EvidenceNB(smoothing=name).fit(X, y)
    assert model.decision_function(X) == pytest.approx(totals, abs=1e-12)


@pytest.mark.parametrize("name", ["zhang-sheng", "hong", "hong-1/n"])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_learner_of_counted_tables_takes_the_names_and_saves_them(learner, name, tmp_path):
    X, y = draw(3)
    model = learner.set_params(smoothing=name).fit(X, y)
    weigh.save(model, tmp_path / "m.json")
    loaded = weigh.load(tmp_path / "m.json")
    assert loaded.smoothing == name
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()


def test_batches_add_up_to_the_whole_with_a_named_smoothing():
    X, y = draw(3)
    learner = weigh.EvidenceNB(smoothing="hong-1/n")
    learner.partial_fit(X[:60], y[:60], classes=[0, 1, 2]).partial_fit(X[60:], y[60:])
    whole = weigh.EvidenceNB(smoothing="hong-1/n").fit(X, y)
    assert learner.predict_proba(X) == pytest.approx(whole.predict_proba(X), abs=1e-14)


@pytest.mark.parametrize(
    "learner", [weigh.PerplexedNB(), weigh.EducatedNB(), weigh.C44Classifier()]
)
def test_what_is_no_table_of_counts_refuses_the_names(learner):
    X, y = draw(2)
    with pytest.raises(ValueError, match=r"smoothing must be a number of at least .*got 'hong'"):
        learner.set_params(smoothing="hong").fit(X, y)
