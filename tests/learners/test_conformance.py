"""What every learner must hold: the same model from any table, from a pickle and from a file."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.base import clone

import weigh
from weigh import (
    AdjustedNB,
    BoostedNB,
    BoostedNBRegressor,
    C44Classifier,
    EducatedNB,
    EducatedRegressor,
    EvidenceNB,
    PerplexedNB,
    RecalibratedClassifier,
    WeightedNB,
)
from weigh.store.model import learners

LEARNERS = {
    "evidence": EvidenceNB(),
    "adjusted": AdjustedNB(cv=3, random_state=0),
    "adjusted shared": AdjustedNB(multiclass="shared", norm=0.8),
    "weighted": WeightedNB(random_state=0),
    "weighted mcmc": WeightedNB(method="mcmc", step=0.2, random_state=0),
    "boosted": BoostedNB(n_rounds=3, random_state=0),
    "boosted vote": BoostedNB(combine="vote", n_rounds=3, random_state=0),
    "perplexed": PerplexedNB(random_state=0),
    "perplexed geometric": PerplexedNB(form="geometric", missing="skip", random_state=0),
    "perplexed arithmetic": PerplexedNB(form="arithmetic", random_state=0),
    "educated": EducatedNB(random_state=0),
    "educated pair": EducatedNB(pairs=[("a", "c")], monotonic_cst={"b": 1}),
    "c44": C44Classifier(),
    "recalibrated": RecalibratedClassifier(EvidenceNB(), cv=3, random_state=0),
    "boosted-regressor": BoostedNBRegressor(n_rounds=3, random_state=0),
    "educated-regressor": EducatedRegressor(pairs=0),
}


def draw():
    """Whole numbers, numbers with gaps, and categories; two classes and an amount."""
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 4, 90).astype(float),
            "b": rng.normal(size=90),
            "c": rng.choice([*"xyz"], 90),
        }
    )
    frame.loc[::7, "b"] = np.nan
    amount = frame["a"] + (frame["c"] == "x") + rng.normal(size=90)
    return frame, (amount > 2).map({True: "yes", False: "no"}).to_numpy(), amount.to_numpy()


FRAME, CLASSES, AMOUNT = draw()


@pytest.fixture(params=LEARNERS, scope="module")
def learner(request):
    return LEARNERS[request.param]


@pytest.fixture(scope="module")
def model(learner):
    return fit(learner, FRAME)


def fit(learner, table):
    return clone(learner).fit(table, target(learner))


def target(learner):
    return AMOUNT if "Regressor" in type(learner).__name__ else CLASSES


def predict(model, table):
    return getattr(model, "predict_proba", model.predict)(table)


def test_every_learner_is_listed():
    tested = {type(learner).__name__ for learner in LEARNERS.values()}
    assert tested >= {*learners().values()}


TABLES = {
    "polars": pl.from_pandas(FRAME),
    "arrow": pa.Table.from_pandas(FRAME, preserve_index=False),
    "dicts": FRAME.to_dict("records"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_table_type_gives_the_same_model(learner, model, kind):
    table = TABLES[kind]
    again = fit(learner, table)
    np.testing.assert_array_equal(predict(again, table), predict(model, FRAME))


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "educated pair"])
def test_a_matrix_of_numbers_gives_what_a_frame_gives(name):
    learner, numbers = LEARNERS[name], FRAME[["a", "b"]]
    matrix = numbers.to_numpy()
    found = predict(fit(learner, matrix), matrix)
    np.testing.assert_array_equal(found, predict(fit(learner, numbers), numbers))


@pytest.mark.parametrize("kind", ["pandas", *TABLES])
def test_a_table_without_rows_is_scored_as_one_without_rows(model, kind):
    table = TABLES.get(kind, FRAME)
    few, none = (weigh.score_table(model, table[:n]) for n in (3, 0))
    few, none = (pa.table(found) for found in (few, none))
    assert (none.num_rows, none.column_names) == (0, few.column_names)
    numbers = {name for name in few.column_names if pa.types.is_floating(few[name].type)}
    assert all(none[name].type == few[name].type for name in numbers)


@pytest.mark.parametrize("none", [[], pa.table({})], ids=["dicts", "arrow"])
def test_a_list_without_rows_is_scored_as_one_of_any_columns(model, none, tmp_path):
    paths = [tmp_path / f"{name}.parquet" for name in ("all", "none")]
    for path, rows in zip(paths, (FRAME.assign(id="x"), none), strict=True):
        weigh.score_table(model, rows, path, keep=["id"])
    every, found = map(parquet.read_table, paths)
    assert (found.num_rows, found.column_names) == (0, every.column_names)


@pytest.mark.parametrize("none", [pd.DataFrame(), pa.table({})], ids=["pandas", "arrow"])
def test_a_data_frame_without_columns_has_none_to_keep(model, none):
    with pytest.raises(ValueError, match="no column 'id'"):
        weigh.score_table(model, none, keep=["id"])


@pytest.mark.parametrize("rows", [[], FRAME], ids=["none", "all"])
def test_one_column_to_keep_must_be_in_a_list(model, rows):
    with pytest.raises(ValueError, match=r"^keep must .*: \['a'\]$"):
        weigh.score_table(model, rows, keep="a")


def test_a_list_without_rows_needs_no_exposure():
    rows = FRAME.assign(years=FRAME["a"] + 1)
    model = EducatedRegressor(family="poisson", pairs=0).fit(rows, FRAME["a"], exposure="years")
    found = weigh.score_table(model, [])
    assert (found.num_rows, found.column_names) == (0, ["estimate", "low", "high"])


def test_a_score_takes_names_of_columns_or_arrays(learner, model):
    y, weight = target(learner), np.arange(len(FRAME)) % 3
    named = FRAME.assign(outcome=y, weight=weight)
    given = model.score(FRAME, y, weight)
    assert model.score(named, "outcome", "weight") == pytest.approx(given, rel=1e-12)
    assert model.score(named, y, "weight") == pytest.approx(given, rel=1e-12)
    assert model.score(named, "outcome") == model.score(FRAME, y)


def test_a_pickle_is_the_same_model(model):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(predict(again, FRAME), predict(model, FRAME))


def test_a_file_is_the_same_model(model, tmp_path):
    weigh.save(model, tmp_path / "m.json")
    again = weigh.load(tmp_path / "m.json")
    assert type(again) is type(model)
    np.testing.assert_array_equal(predict(again, FRAME), predict(model, FRAME))


def test_a_clone_has_the_parameters_and_nothing_that_was_learnt(learner, model):
    copy = clone(model)
    assert repr(copy.get_params()) == repr(learner.get_params())
    assert [name for name in vars(copy) if name.endswith("_")] == []


def test_a_second_fit_is_the_first(learner, model):
    np.testing.assert_array_equal(predict(fit(learner, FRAME), FRAME), predict(model, FRAME))


@pytest.mark.parametrize("name", [name for name in LEARNERS if " " not in name])
def test_every_learner_names_text_that_is_mostly_numbers_and_ids(name):
    learner = clone(LEARNERS[name])
    numbers, ids = [str(i % 40) for i in range(89)], [f"n{i}" for i in range(90)]
    table = FRAME[["c"]].assign(dose=[*numbers, "?"], id=ids)
    with (
        pytest.warns(UserWarning, match="'dose' is text, but 40 of its 41 levels"),
        pytest.warns(UserWarning, match="'id' has 90 levels in 90 rows"),
    ):
        learner.fit(table, target(learner))
