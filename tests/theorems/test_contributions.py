"""Contributions add up to totals, in the library that the rows came from."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

import weigh

PEOPLE = weigh.datasets.titanic()
ROWS = PEOPLE.drop(["Survived"]).slice(0, 400)
TWO = {
    "naive": weigh.EvidenceNB(),
    "crossed": weigh.EvidenceNB(crosses=[("Class", "Sex")]),
    "adjusted": weigh.AdjustedNB(random_state=0),
    "perplexed": weigh.PerplexedNB(random_state=0),
    "geometric": weigh.PerplexedNB(form="geometric", random_state=0),
    "recalibrated": weigh.RecalibratedClassifier(weigh.PerplexedNB(random_state=0), random_state=0),
    "educated": weigh.EducatedNB(pairs=2, random_state=0),
}


def add_up(table):
    return sum(np.asarray(table[name]) for name in table.column_names)


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("rate", [None, 0.05])
def test_contributions_add_up_to_the_log_odds(name, rate):
    model = clone(TWO[name]).fit(PEOPLE, "Survived")
    model = model if rate is None else model.with_prior(rate)
    parts = model.contributions(ROWS)
    assert parts.column_names[: 1 + len(model.evidence_)] == ["prior", *model.evidence_.names]
    np.testing.assert_allclose(add_up(parts), model.decision_function(ROWS), atol=1e-12)
    other = model.contributions(ROWS, pos_label="No")
    np.testing.assert_allclose(add_up(other), -model.decision_function(ROWS), atol=1e-12)
    np.testing.assert_allclose(
        model.evidence_.total(ROWS)[:, 0], model.decision_function(ROWS), atol=1e-12
    )


@pytest.mark.parametrize(
    "learner",
    [
        weigh.EvidenceNB(),
        weigh.PerplexedNB(random_state=0),
        weigh.AdjustedNB(multiclass="ovr", random_state=0),
    ],
)
def test_of_many_classes_the_contributions_of_each_add_up_to_its_total(learner):
    X = ROWS.drop(["Class"])
    model = learner.fit(X, ROWS["Class"])
    totals = model.decision_function(X)
    for c, label in enumerate(model.classes_):
        parts = model.contributions(X, pos_label=label)
        np.testing.assert_allclose(add_up(parts), totals[:, c], atol=1e-12)
    with pytest.raises(ValueError, match="pos_label"):
        model.contributions(X)


def test_documents_have_a_column_for_each_token():
    rng = np.random.default_rng(0)
    X, y = sparse.csr_array(rng.poisson(0.5, (50, 6))), rng.integers(0, 2, 50)
    model = weigh.EvidenceNB(event_model="counts").fit(X, y)
    parts = model.contributions(X)
    assert parts.num_columns == 7
    np.testing.assert_allclose(add_up(parts), model.decision_function(X), atol=1e-12)


@pytest.mark.parametrize(
    ("convert", "kind"),
    [
        (lambda rows: rows.to_pandas(), pd.DataFrame),
        (pl.from_arrow, pl.DataFrame),
        (lambda rows: rows, pa.Table),
        (lambda rows: rows.to_pylist(), pa.Table),
        (lambda rows: rows.to_pandas().to_numpy(), pa.Table),
    ],
)
def test_contributions_come_in_the_library_of_the_rows(convert, kind):
    X = convert(ROWS)
    model = weigh.EvidenceNB().fit(convert(PEOPLE.drop(["Survived"])), PEOPLE["Survived"])
    parts = model.contributions(X)
    assert isinstance(parts, kind)
    assert len(parts) == ROWS.num_rows
    total = model.evidence_.total(X)
    np.testing.assert_array_equal(total[:, 0], model.decision_function(X))


def test_a_frame_with_an_index_keeps_it_and_joins():
    X = ROWS.to_pandas().sample(frac=1, random_state=0)
    model = weigh.EvidenceNB().fit(PEOPLE, "Survived")
    parts = model.contributions(X)
    assert parts.index.equals(X.index)
    female = X["Sex"] == "Female"
    assert (parts.loc[female, "Sex"] > 0).all()
    assert (parts.loc[~female, "Sex"] < 0).all()


def test_a_feature_of_the_name_prior_keeps_its_column():
    X = pd.DataFrame({"prior": ["a", "b", "a", "b"], "prior_": ["c", "c", "d", "d"]})
    model = weigh.EvidenceNB().fit(X, [0, 1, 1, 1])
    assert [*model.contributions(X).columns] == ["prior__", "prior", "prior_"]


@pytest.mark.parametrize("name", ["naive", "educated", "recalibrated"])
def test_another_base_rate_changes_no_parameter(name):
    model = clone(TWO[name]).fit(PEOPLE, "Survived")
    before = model.get_params()
    shifted = model.with_prior(0.05)
    assert shifted.get_params() == before == model.get_params()
    again = clone(shifted).fit(PEOPLE, "Survived")
    np.testing.assert_array_equal(again.predict_proba(ROWS), model.predict_proba(ROWS))


def test_rows_that_are_added_keep_the_base_rate(tmp_path):
    halves = [PEOPLE.take([*range(start, 2201, 2)]) for start in (0, 1)]
    whole = weigh.EvidenceNB(class_prior=0.05).fit(PEOPLE, "Survived")
    shifted = [weigh.EvidenceNB().fit(half, "Survived").with_prior(0.05) for half in halves]
    weigh.save(shifted[0], tmp_path / "m.json")
    loaded = weigh.load(tmp_path / "m.json")
    for model in (
        shifted[0].merge(shifted[1]),
        shifted[0].partial_fit(halves[1], "Survived"),
        loaded.partial_fit(halves[1], "Survived"),
    ):
        np.testing.assert_allclose(model.predict_proba(ROWS), whole.predict_proba(ROWS), rtol=1e-12)
    with pytest.raises(ValueError, match="class_prior"):
        weigh.EvidenceNB().fit(halves[0], "Survived").merge(shifted[1])
