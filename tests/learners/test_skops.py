"""Models written and read by skops, which executes nothing that it was not told to trust."""

import datetime

import numpy as np
import pandas as pd
import pytest

import weigh
from weigh import (
    AdjustedNB,
    Binning,
    BoostedNB,
    BoostedNBRegressor,
    C44Classifier,
    Density,
    EducatedNB,
    EducatedRegressor,
    EvidenceNB,
    MDLDiscretizer,
    PerplexedNB,
    RecalibratedClassifier,
    WeightedNB,
    WeightOfEvidence,
)

MODELS = [
    AdjustedNB(),
    BoostedNB(n_rounds=3),
    BoostedNB(n_rounds=3, combine="vote"),
    C44Classifier(),
    EducatedNB(),
    EducatedNB(pairs=0, monotonic_cst={"dose": 1}),
    EvidenceNB(),
    EvidenceNB(
        bins=Binning(max_levels=3), crosses=[("letter", "day")], special_values={"dose": [-9]}
    ),
    EvidenceNB(bins={"dose": Density("kernel"), "letter": [["a"], ["b"]]}, max_levels={"day": 2}),
    EvidenceNB(ask_if={"dose": ("letter", "a")}),
    PerplexedNB(),
    PerplexedNB(form="arithmetic"),
    RecalibratedClassifier(EvidenceNB(), random_state=0),
    RecalibratedClassifier(EvidenceNB(), method="isotonic", cv=3, random_state=0),
    WeightedNB(),
]
REGRESSORS = [BoostedNBRegressor(grid=5), EducatedRegressor(), EducatedRegressor(family="poisson")]
TRANSFORMERS = [(MDLDiscretizer(), ["dose"]), (WeightOfEvidence(), ["dose", "letter", "day"])]


def make_table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    days = [datetime.date(2024, 1, 1 + k) for k in range(3)]
    table = pd.DataFrame({"dose": rng.normal(size=120) + y})
    table["letter"] = pd.Categorical(np.where(rng.random(120) < 0.4, "a", np.array([*"bc"])[y]))
    table["day"] = [str(days[k]) for k in rng.integers(0, 3, 120)]
    table["flag"] = rng.random(120) < 0.3 + 0.4 * y
    table.loc[::9, "dose"] = np.nan
    table.loc[1::9, "dose"] = -9
    return table, y


def pass_through(model):
    """Write and read a model, trusting the classes of weigh and what skops itself knows."""
    io = pytest.importorskip("skops.io")  # which takes seconds, in the one process that needs it
    data = io.dumps(model)
    wanted = io.get_untrusted_types(data=data)
    trusted = [name for name in wanted if name.startswith("weigh.")]
    assert wanted == trusted
    return io.loads(data, trusted=trusted)


def name(model):
    return " ".join(str(model).split())


@pytest.mark.parametrize("model", MODELS, ids=name)
@pytest.mark.filterwarnings("ignore:column 'dose' has an answer")
def test_a_classifier_predicts_the_same_bits_after_skops(model):
    X, y = make_table()
    fitted = model.fit(X, y)
    expected = fitted.predict_proba(X)
    again = pass_through(fitted)
    np.testing.assert_array_equal(again.predict_proba(X), expected)
    assert again.get_params().keys() == fitted.get_params().keys()
    if hasattr(fitted, "evidence_"):
        row = X.iloc[[0]]
        assert str(again.balance_sheet(row)) == str(fitted.balance_sheet(row))


@pytest.mark.parametrize("model", REGRESSORS, ids=name)
def test_a_regressor_predicts_the_same_bits_after_skops(model):
    X, y = make_table()
    fitted = model.fit(X, y + 1.0)
    np.testing.assert_array_equal(pass_through(fitted).predict(X), fitted.predict(X))


@pytest.mark.parametrize(("model", "columns"), TRANSFORMERS)
def test_a_transformer_gives_the_same_columns_after_skops(model, columns):
    table, y = make_table()
    X = table[columns]
    fitted = model.fit(X, y)
    expected = pd.DataFrame(fitted.transform(X))
    pd.testing.assert_frame_equal(pd.DataFrame(pass_through(fitted).transform(X)), expected)


def test_a_model_of_counts_and_one_of_three_classes_pass_too():
    counts = np.random.default_rng(0).integers(0, 4, (60, 5))
    y = np.arange(60) % 3
    for model in (EvidenceNB(event_model="counts"), EducatedNB(pairs=0)):
        fitted = model.fit(counts, y)
        expected = fitted.predict_proba(counts)
        np.testing.assert_array_equal(pass_through(fitted).predict_proba(counts), expected)


def test_a_model_in_a_pipeline_passes_and_saves_to_a_file_of_weigh(tmp_path):
    from sklearn.pipeline import make_pipeline

    X, y = make_table()
    again = pass_through(make_pipeline(EvidenceNB()).fit(X, y))
    weigh.save(again[-1], tmp_path / "model.json")
    loaded = weigh.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), again.predict_proba(X))
