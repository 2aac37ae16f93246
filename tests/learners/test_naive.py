"""EvidenceNB: the paper's table, scikit-learn's naive Bayes, and learning in parts."""

import pkgutil
from types import ModuleType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import CategoricalNB, MultinomialNB
from sklearn.pipeline import make_pipeline

import weigh
from weigh import EvidenceNB, datasets

TARGET = "Recidivism_Within_3years"
TABLE_2 = {
    "Gender": {"F": -49, "M": 7},
    "Age_at_Release": {
        "18-22": 63,
        "23-27": 38,
        "28-32": 17,
        "33-37": -1,
        "38-42": -16,
        "43-47": -30,
        "48 or older": -67,
    },
    "Education_Level": {
        "At least some college": -51,
        "High School Diploma": 12,
        "Less than HS diploma": 11,
    },
    "Prior_Conviction_Episodes_Viol": {False: -7, True: 16},
    "Prison_Offense": {
        None: -1,
        "Drug": -15,
        "Other": 15,
        "Property": 26,
        "Violent/Non-Sex": -15,
        "Violent/Sex": -106,
    },
    "Prison_Years": {
        "1-2 years": 11,
        "Greater than 2 to 3 years": -9,
        "Less than 1 year": 27,
        "More than 3 years": -47,
    },
}


@pytest.fixture
def nij(papers_data):
    """Training and validation rows of the NIJ challenge, with the six features of Table 2."""
    table = datasets.load("nij_recidivism_full")
    parts = [table.filter(pc.equal(table["Training_Sample"], part)) for part in (1, 0)]
    return [part.select([*TABLE_2, TARGET]) for part in parts]


# ---------------------------------------------------------------- the paper


def test_all_weights_of_table_2_come_out(nij):
    evidence = EvidenceNB(smoothing=0).fit(nij[0], TARGET).evidence_
    found = {
        table.name: dict(
            zip(table.levels, np.round(100 * table.weights).astype(int).tolist(), strict=True)
        )
        for table in evidence
    }
    assert found == TABLE_2
    assert round(100 * evidence.prior) == 31


def test_the_error_rates_of_section_6_come_out_to_seven_digits(nij):
    model = EvidenceNB(smoothing=0).fit(nij[0], TARGET)
    wrong = [np.mean(model.predict(part) != part[TARGET].to_numpy()) for part in nij]
    assert [f"{rate:.7f}" for rate in wrong] == ["0.3641003", "0.3692840"]


def test_the_case_of_table_3_comes_out(nij):
    case = ("F", "38-42", "At least some college", False, "Property", "1-2 years")
    model = EvidenceNB(smoothing=0).fit(nij[0], TARGET)
    sheet = model.balance_sheet(dict(zip(TABLE_2, case, strict=True)))
    assert round(100 * sheet.total) == -55
    assert f"{sheet.probability:.2f}" == "0.37"
    text = str(sheet)
    assert "+68" in text
    assert "-123" in text


# ---------------------------------------------------------------- scikit-learn's naive Bayes


@st.composite
def coded_rows(draw, n_classes):
    """Codes without gaps, classes without gaps, whole or fractional weights."""
    n_levels = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    n_rows = draw(st.integers(n_classes, 40))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    every = max(*n_levels, n_classes)
    columns = [np.r_[np.arange(every) % m, rng.integers(0, m, n_rows)] for m in n_levels]
    y = np.r_[np.arange(every) % n_classes, rng.integers(0, n_classes, n_rows)]
    weight = draw(st.sampled_from([None, rng.integers(1, 4, len(y)), rng.uniform(0.1, 3, len(y))]))
    return np.column_stack(columns), y, weight


@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=40, deadline=None)
@given(data=st.data(), smoothing=st.sampled_from([1.0, 0.5, 1e-3]))
def test_on_codes_without_gaps_it_equals_categorical_nb(n_classes, data, smoothing):
    X, y, weight = data.draw(coded_rows(n_classes))
    rival = CategoricalNB(alpha=smoothing).fit(X, y, weight)
    model = EvidenceNB(smoothing=smoothing, categorical_features="all").fit(X, y, weight)
    np.testing.assert_allclose(model.predict_proba(X), rival.predict_proba(X), rtol=1e-9, atol=0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_matrix, sparse.coo_array, sparse.lil_array]
)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_on_counts_it_equals_multinomial_nb(n_classes, form, seed, weighted):
    rng = np.random.default_rng(seed)
    X = np.vstack([np.eye(6), rng.integers(0, 3, (20, 6)) * rng.uniform(0, 2, (20, 6))])
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, len(X) - n_classes)]
    weight = rng.uniform(0.1, 2, len(X)) if weighted else None
    rival = MultinomialNB().fit(X, y, weight)
    model = EvidenceNB(event_model="counts").fit(form(X), y, weight)
    expected = rival.predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(form(X)), expected, rtol=1e-9, atol=0)


# ---------------------------------------------------------------- scikit-learn's conventions


def test_it_works_inside_scikit_learns_tools():
    pytest.importorskip("pandas")
    X = datasets.titanic("pandas")
    y = X.pop("Survived")
    model, folds = EvidenceNB(), StratifiedKFold(3, shuffle=True, random_state=0)
    assert cross_val_score(model, X, y, cv=folds).mean() > 0.75
    search = GridSearchCV(make_pipeline(model), {"evidencenb__smoothing": [0, 1]}, cv=2).fit(X, y)
    assert set(search.best_params_) == {"evidencenb__smoothing"}
    calibrated = CalibratedClassifierCV(model, cv=2).fit(X, y)
    assert calibrated.predict_proba(X).shape == (len(X), 2)
    assert clone(model).get_params() == model.get_params()


# ---------------------------------------------------------------- learning in parts


def levels_table(seed, n=60):
    rng = np.random.default_rng(seed)
    colours = np.array(["red", "green", "blue", None], dtype=object)
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    return pa.table(
        {
            "colour": colours[rng.integers(0, 4, n)].tolist(),
            "size": pa.array(rng.integers(0, 9, n) / 2),
            "y": y,
        }
    )


CUTS = {"size": [1.0, 2.5]}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), cut=st.integers(3, 57), swap=st.booleans())
def test_two_batches_or_two_merged_models_are_the_whole(seed, cut, swap):
    table = levels_table(seed)
    parts = [table.slice(0, cut), table.slice(cut)]
    whole = EvidenceNB(bins=CUTS).fit(table, "y")
    batched = EvidenceNB(bins=CUTS)
    for part in reversed(parts) if swap else parts:
        batched.partial_fit(part, "y", classes=[0, 1])
    expected = whole.predict_proba(table)
    np.testing.assert_array_equal(batched.predict_proba(table), expected)
    full = [part for part in parts if len(set(part["y"].to_pylist())) == 2]
    if len(full) == 2:
        merged = (
            EvidenceNB(bins=CUTS).fit(full[0], "y").merge(EvidenceNB(bins=CUTS).fit(full[1], "y"))
        )
        np.testing.assert_array_equal(merged.predict_proba(table), expected)


def test_partial_fit_says_how_many_rows_fixed_the_cut_points():
    table = levels_table(0)
    with pytest.warns(UserWarning, match=r"1 numeric columns in the first batch of 60 rows"):
        EvidenceNB(bins=3).partial_fit(table, "y")


def test_later_batches_keep_the_cut_points_of_the_first():
    first, later = levels_table(0), levels_table(1)
    model = EvidenceNB(bins=3)
    with pytest.warns(UserWarning, match="cut points"):
        model.partial_fit(first, "y")
    cuts = model.evidence_["size"].feature.cuts
    assert model.partial_fit(later, "y").evidence_["size"].feature.cuts == cuts
    assert model.evidence_.class_counts.sum() == 120


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bins": {"size": [1.0]}}, "'size': cut points differ"),
        ({"special_values": {"size": [0]}}, "'size': special values differ"),
        ({"missing": "skip"}, "'colour': missing differ"),
        ({"smoothing": 0.5}, "smoothing"),
    ],
)
def test_models_that_do_not_add_are_refused_by_name(changed, message):
    table = levels_table(0)
    model = EvidenceNB(bins=CUTS).fit(table, "y")
    other = EvidenceNB(**{"bins": CUTS} | changed).fit(table, "y")
    with pytest.raises(ValueError, match=message):
        model.merge(other)


@pytest.mark.parametrize("other", ["PerplexedNB", "EducatedNB", "Evidence", "NoneType"])
def test_what_is_no_model_of_counts_is_not_merged(other):
    table = levels_table(0)
    model = EvidenceNB(bins=CUTS).fit(table, "y")
    others = {"Evidence": model.evidence_, "NoneType": None}
    if other not in others:
        others[other] = getattr(weigh, other)(bins=CUTS).fit(table, "y")
    with pytest.raises(TypeError, match=f"models of EvidenceNB, got {other};"):
        model.merge(others[other])


def test_a_label_that_classes_does_not_name_is_refused():
    table = levels_table(0)
    with pytest.raises(ValueError, match=r"y holds 1, which is not among classes=\[0, 2\]"):
        EvidenceNB(bins=CUTS).partial_fit(table, "y", classes=[0, 2])


def documents(n_tokens=15, n=60):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.poisson(1, (n, n_tokens)).astype(float)
    X[:, 3] += 4 * y
    return X, y


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_documents_in_batches_or_merged_are_the_whole(form):
    X, y = documents()
    whole = EvidenceNB(event_model="counts").fit(form(X), y)
    parts = [(form(X[:30]), y[:30]), (form(X[30:]), y[30:])]
    batched = EvidenceNB(event_model="counts")
    for part in parts:
        batched.partial_fit(*part, classes=[0, 1])
    merged = EvidenceNB(event_model="counts").fit(*parts[0])
    merged = merged.merge(EvidenceNB(event_model="counts").fit(*parts[1]))
    for model in (batched, merged):
        np.testing.assert_array_equal(model.predict_proba(form(X)), whole.predict_proba(form(X)))
        assert model.evidence_.column_names == whole.evidence_.column_names


def test_merged_vocabularies_are_united_in_order_and_arrays_of_other_width_refused():
    X, y = documents(4)
    model = EvidenceNB(event_model="counts")
    one = clone(model).fit(pa.table(dict(zip("dcba", X.T, strict=True))), y)
    other = clone(model).fit(pa.table(dict(zip("dcbe", X.T, strict=True))), y)
    assert one.merge(other).feature_names_in_.tolist() == [*"dcbae"]
    with pytest.raises(ValueError, match="differ in their columns: 4 against 3"):
        clone(model).fit(X, y).merge(clone(model).fit(X[:, :3], y))


def test_dense_and_sparse_documents_one_or_many_give_the_same_bits():
    X, y = documents(50)
    model = EvidenceNB(event_model="counts").fit(X, y)
    together = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(sparse.csr_array(X)), together)
    alone = np.vstack([model.predict_proba(row[None]) for row in X])
    np.testing.assert_array_equal(alone, together)


def test_models_of_tables_with_other_column_order_merge_by_name():
    table = levels_table(0)
    other = table.select(["size", "y", "colour"])
    model = EvidenceNB(bins=CUTS).fit(table, "y")
    merged = model.merge(EvidenceNB(bins=CUTS).fit(other, "y"))
    twice = EvidenceNB(bins=CUTS).fit(pa.concat_tables([table, table]), "y")
    np.testing.assert_array_equal(merged.predict_proba(table), twice.predict_proba(table))


def test_a_numeric_column_without_values_in_the_first_batch_is_cut_in_the_next():
    model = EvidenceNB(bins=2)
    model.partial_fit([{"x": None}] * 4, [0, 1, 0, 1])
    model.partial_fit([{"x": value / 4} for value in range(8)], [0] * 4 + [1] * 4)
    assert model.evidence_["x"].labels == ("<= 0.875", "> 0.875", "missing")


def test_a_row_of_no_weight_does_not_decide_what_a_column_is():
    rows = [[float(value)] for value in range(40)] + [["n/a"]]
    y = [value > 19 for value in range(40)] + [True]
    model = EvidenceNB().fit(rows, y, sample_weight=[1.0] * 40 + [0.0])
    assert model.evidence_["x0"].labels == ("<= 19", ">= 20")


def test_cut_points_given_by_position_are_no_reason_to_warn():
    EvidenceNB(bins={0: [1.5]}).partial_fit([[1.0], [2.0]], [0, 1])


def test_other_classes_in_a_later_batch_are_refused():
    model = EvidenceNB(categorical_features="all").partial_fit([["a"], ["b"]], [0, 1])
    with pytest.raises(ValueError, match=r"classes=\[0, 1, 2\] .*first batch"):
        model.partial_fit([["a"]], [0], classes=[0, 1, 2])


def test_classes_may_be_named_in_any_order_with_every_batch():
    model = EvidenceNB(categorical_features="all")
    for _ in range(2):
        model.partial_fit([["a"], ["b"]], ["yes", "no"], classes=["yes", "no"])
    assert model.classes_.tolist() == ["no", "yes"]


def test_whether_a_value_is_refused_does_not_depend_on_its_neighbours():
    model = EvidenceNB().fit([["a"], ["b"]], [0, 1])
    for batch in ([[5]], [["a"], [5]]):
        with pytest.raises(ValueError, match=r"'x0' held text in training .* holds numbers here"):
            model.predict(batch)


# ---------------------------------------------------------------- priors


def test_another_prior_shifts_the_log_odds_by_the_change_of_base_odds():
    table = levels_table(0)
    model = EvidenceNB(bins=CUTS).fit(table, "y")
    shifted = model.with_prior(0.1)
    rate = model.evidence_.base_rate[1]
    change = np.log(0.1 / 0.9) - np.log(rate / (1 - rate))
    before, after = model.decision_function(table), shifted.decision_function(table)
    np.testing.assert_allclose(after - before, change, rtol=1e-12)
    given_first = EvidenceNB(bins=CUTS, class_prior={0: 0.9, 1: 0.1}).fit(table, "y")
    np.testing.assert_allclose(after, given_first.decision_function(table), rtol=1e-12)
    back = shifted.with_prior([1 - rate, rate])
    np.testing.assert_allclose(back.decision_function(table), before, rtol=1e-12)


def test_a_tiny_prior_is_kept_as_given():
    table = levels_table(0)
    model = EvidenceNB(bins=CUTS).fit(table, "y").with_prior(1e-12)
    assert model.evidence_.prior == pytest.approx(np.log(1e-12), rel=1e-6)
    assert model.partial_fit(table, "y").evidence_.prior == pytest.approx(np.log(1e-12), rel=1e-6)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"smoothing": -1}, "smoothing must be"),
        ({"smoothing": "laplace"}, "smoothing must be"),
        ({"bins": 1}, "bins must be"),
        ({"bins": "quantile"}, "bins must be"),
        ({"bins": {"age": {"young": ["a", "b"]}}}, "bins of 'age' names its groups"),
        ({"bins": {"size": [2, 1]}}, "bins for column 'size' must be finite"),
        ({"bins": {"weight": 3}}, "bins names 'weight', but the columns are"),
        ({"missing": "drop"}, "missing must be"),
        ({"missing": {"sise": "skip"}}, "missing names 'sise'"),
        ({"special_values": {"size": ["x"]}}, "special_values for column 'size' must be numbers"),
        ({"categorical_features": "some"}, "categorical_features must be"),
        ({"categorical_features": ["shape"]}, "categorical_features names 'shape'"),
        ({"categorical_features": ["size"]}, "column 'colour' is numeric"),
        (
            {"class_prior": [0.5, 0.6]},
            "2 classes that sum to 1",
        ),
        ({"class_prior": {0: 1.0}}, "class_prior must name each of"),
        ({"event_model": "bernoulli"}, "event_model must be"),
    ],
)
def test_a_bad_parameter_is_named_with_what_it_may_be(parameters, message):
    with pytest.raises(ValueError, match=message):
        EvidenceNB(**parameters).fit(levels_table(0), "y")


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (None, None, "y"),
        ([0, 1], None, "60 rows against 2"),
        ([0] * 60, None, "one class only"),
        ([0, None] * 30, None, "missing labels"),
        ([0.5, 1] * 30, None, "Unknown label type"),
        (["a", 1] * 30, None, "mixes labels"),
        ("z", None, "y names the column 'z', but the table holds"),
        ("y", [1.0], "60 rows against 1"),
        ("y", [-1.0] * 60, "negative, but holds -1"),
        ("y", [np.nan] * 60, "NaN or infinite in 60 of 60 rows"),
        ("y", [0.0] * 60, "give at least one row a weight"),
    ],
)
def test_bad_labels_and_weights_are_refused_in_words(y, weight, message):
    with pytest.raises(ValueError, match=message):
        EvidenceNB(bins=CUTS).fit(levels_table(0), y, weight)


def test_sparse_input_under_levels_names_the_option():
    with pytest.raises(ValueError, match="event_model='counts'"):
        EvidenceNB().fit(sparse.eye_array(4).tocsr(), [0, 1, 0, 1])


def test_negative_counts_are_refused_with_their_place():
    X = pa.table({"free": [1, 2], "money": [0, -3]})
    with pytest.raises(ValueError, match=r"row 1 of column 'money' holds -3"):
        EvidenceNB(event_model="counts").fit(X, [0, 1])


def test_no_package_takes_the_place_of_a_public_function():
    modules = {module.name for module in pkgutil.iter_modules(weigh.__path__)}
    shared = modules & {*weigh.__all__}
    assert shared == {name for name in shared if isinstance(getattr(weigh, name), ModuleType)}
