"""Counting adds."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh import EvidenceNB
from weigh.engine import Setting, tally, tally_levels
from weigh.frames import label_sample, read, side_by_side
from weigh.tally import add

few = settings(max_examples=50, deadline=None)

SETTINGS = {
    "colour": Setting(categorical=True),
    "code": Setting(categorical=True, skip_missing=True),
    "size": Setting(categorical=False, bins=[0.5, 2.0], special=(-1,)),
    "depth": Setting(categorical=False, bins=[], skip_missing=True),
}

numbers = st.sampled_from([-1.0, 0.5, 0.6, 2.0, 7.0, np.inf, -np.inf, np.nan])
rows = st.tuples(
    st.sampled_from(["red", "green", "blue", "grün", "", None]),
    st.sampled_from([True, False, None]),
    numbers,
    numbers,
).map(lambda row: dict(zip(SETTINGS, row, strict=True)))
labelled_rows = st.tuples(rows, st.sampled_from("xyz"), st.integers(1, 3))


def count(cases, weighted=True):
    table, labels, weight = zip(*cases, strict=True)
    sample = label_sample(read(table), [*labels], [*weight] if weighted else None)
    return tally(sample, SETTINGS)


def assert_same(one, other, rtol=0.0):
    assert one.classes.tolist() == other.classes.tolist()
    np.testing.assert_allclose(one.class_counts, other.class_counts, rtol=rtol)
    for a, b in zip(one.tables, other.tables, strict=True):
        assert a.feature == b.feature
        assert [*map(type, a.feature.levels)] == [*map(type, b.feature.levels)]
        np.testing.assert_allclose(a.counts, b.counts, rtol=rtol, err_msg=a.feature.name)


def in_parts(cases, parts):
    """The cases by the part that each belongs to; parts may come in any order."""
    places = dict.fromkeys(parts[: len(cases)])
    return [[c for c, p in zip(cases, parts, strict=False) if p == place] for place in places]


some_cases = st.lists(labelled_rows, min_size=1, max_size=25)
some_parts = st.lists(st.integers(0, 4), min_size=25, max_size=25)


@few
@given(some_cases, some_parts, st.booleans())
def test_the_tally_of_the_whole_is_the_sum_of_the_tallies_of_the_parts(cases, parts, weighted):
    split = [count(part, weighted) for part in in_parts(cases, parts)]
    assert_same(add(split), count(cases, weighted))


@few
@given(some_cases, some_parts, st.randoms(use_true_random=False))
def test_the_order_of_the_parts_and_of_the_rows_does_not_matter(cases, parts, random):
    whole = count(cases)
    split = [count(part) for part in in_parts(cases, parts)]
    random.shuffle(split)
    assert_same(add(split), whole)
    random.shuffle(cases)
    assert_same(count(cases), whole)


@few
@given(st.lists(labelled_rows, min_size=3, max_size=20), st.data())
def test_with_fractional_weights_the_parts_add_up_to_the_whole_to_1e_12(cases, data):
    weights = st.lists(st.floats(1e-3, 1e3), min_size=len(cases), max_size=len(cases))
    cases = [(row, label, w) for (row, label, _), w in zip(cases, data.draw(weights), strict=True)]
    cut = data.draw(st.integers(1, len(cases) - 1))
    assert_same(count(cases[:cut]) + count(cases[cut:]), count(cases), rtol=1e-12)


@few
@given(some_cases, some_cases)
def test_a_later_batch_counted_on_known_cut_points_adds_like_any_part(first, second):
    before = count(first)
    table, labels, weight = zip(*second, strict=True)
    sample = label_sample(read(table), [*labels], [*weight])
    batch = tally_levels(sample, [part.feature for part in before.tables], SETTINGS)
    assert_same(before + batch, count(first + second))


@few
@given(some_cases)
def test_a_weight_of_two_is_a_row_given_twice(cases):
    repeated = [(row, label, 1) for row, label, times in cases for _ in range(times)]
    assert_same(count(cases), count(repeated))
    assert_same(count(repeated, weighted=False), count(cases))


@few
@given(some_cases, some_cases)
def test_a_weight_of_zero_is_a_row_not_there(cases, ghosts):
    absent = [(row, label, 0) for row, label, _ in ghosts]
    assert_same(count(absent + cases), count(cases))


# ---------------------------------------------------------------- the same, of whole models

floats = st.sampled_from([0.0, 1.0, 2.0, 2.5, 9.0, np.inf, -np.inf, np.nan])
cases_of_a_model = st.lists(
    st.tuples(floats, st.sampled_from("ab"), st.sampled_from([0, 1, 2]), st.integers(0, 9)),
    min_size=1,
    max_size=25,
).map(lambda rows: [(0.0, "a", 0, 20), (2.0, "b", 1, 20), (9.0, "a", 1, 20), *rows])


def fit(cases, bins, smoothing=1.0, weighted=True):
    values, texts, labels, weights = zip(*cases, strict=True)
    table = [{"number": v, "text": t} for v, t in zip(values, texts, strict=True)]
    model = EvidenceNB(bins=bins, smoothing=smoothing)
    return model.fit(table, [*labels], [*weights] if weighted else None)


def assert_same_evidence(one, other):
    assert_same(one.evidence_.tally, other.evidence_.tally)
    np.testing.assert_array_equal(one.evidence_.prior, other.evidence_.prior)
    for a, b in zip(one.evidence_, other.evidence_, strict=True):
        np.testing.assert_array_equal(a.weights, b.weights, err_msg=a.name)
        np.testing.assert_array_equal(a.errors, b.errors, err_msg=a.name)


any_bins = st.sampled_from(["mdl", 2, 4, {"number": [1.0, 2.0]}])
any_smoothing = st.sampled_from([1.0, 0.0, 0.25, "1/n"])


@few
@given(cases_of_a_model, any_bins, any_smoothing)
def test_a_model_of_weighted_rows_is_the_model_of_the_rows_repeated(cases, bins, smoothing):
    repeated = [(*row, 1) for *row, times in cases for _ in range(times)]
    model = fit(cases, bins, smoothing)
    assert_same_evidence(fit(repeated, bins, smoothing, weighted=False), model)


@few
@given(cases_of_a_model, any_bins, any_smoothing)
def test_rows_of_no_weight_leave_no_trace_in_a_model(cases, bins, smoothing):
    present = [case for case in cases if case[-1]]
    assert_same_evidence(fit(cases, bins, smoothing), fit(present, bins, smoothing))


def test_an_extreme_number_of_no_weight_does_not_move_the_cuts_next_to_an_infinity():
    present = [(1.0, "a", 0, 20), (2.0, "a", 0, 20), (np.inf, "a", 1, 20)]
    ghost = (100.0, "a", 0, 0)
    with_ghost, without = fit([*present, ghost], "mdl"), fit(present, "mdl")
    assert with_ghost.evidence_["number"].labels == without.evidence_["number"].labels


@few
@given(cases_of_a_model, some_parts)
def test_batches_and_merged_models_end_as_the_model_of_all_rows(cases, parts):
    def train(model, part):
        values, texts, labels, weights = zip(*part, strict=True)
        table = [{"number": v, "text": t} for v, t in zip(values, texts, strict=True)]
        return model.partial_fit(table, [*labels], classes=[0, 1, 2], sample_weight=[*weights])

    cases = [(*row, weight + 1) for *row, weight in cases]
    choices = {"bins": {"number": [1.0, 2.0]}, "categorical_features": ["text"]}
    split = in_parts(cases, [0, 1, 0, *parts])
    batched = EvidenceNB(**choices)
    for part in split:
        train(batched, part)
    models = [train(EvidenceNB(**choices), part) for part in split]
    whole = train(EvidenceNB(**choices), cases)
    assert_same_evidence(batched, whole)
    assert_same_evidence(models[0].merge(*models[1:]), whole)


NOTHING = {"dicts": [{"number": None}] * 4, "arrow": pa.table({"number": pa.nulls(4)})}


@pytest.mark.parametrize("engine", NOTHING)
def test_a_part_whose_column_has_no_values_adds_to_the_others(engine):
    """Such as a chunk of a file whose type cannot be told from its empty fields."""
    values = [{"number": value} for value in (0.5, 1.5, 2.5, None)]
    choices = {"bins": {"number": [1.0, 2.0]}}
    empty = EvidenceNB(**choices).fit(NOTHING[engine], [0, 1, 1, 1])
    full = EvidenceNB(**choices).fit(values, [0, 0, 1, 1])
    whole = EvidenceNB(**choices).fit(values + NOTHING["dicts"], [0, 0, 1, 1, 0, 1, 1, 1])
    assert_same_evidence(full.merge(empty), whole)
    assert_same_evidence(empty.merge(full), whole)
    batched = EvidenceNB(**choices).partial_fit(NOTHING[engine], [0, 1, 1, 1])
    assert_same_evidence(batched.partial_fit(values, [0, 0, 1, 1]), whole)


# ---------------------------------------------------------------- what adding unites


def table_of(name, values, labels, **choices):
    setting = Setting(**{"categorical": True, **choices})
    sample = label_sample(read([{name: v} for v in values]), labels)
    return tally(sample, {name: setting})


def test_adding_unites_levels_and_classes():
    one = table_of("colour", ["red", "blue", "red"], ["x", "x", "y"])
    other = table_of("colour", ["green", None, "red"], ["y", "z", "z"])
    both = one + other
    assert both.classes.tolist() == ["x", "y", "z"]
    assert both.class_counts.tolist() == [2, 2, 2]
    assert both.tables[0].feature.levels == ("blue", "green", "red", None)
    assert both.tables[0].counts.tolist() == [[1, 0, 0], [0, 1, 0], [1, 1, 1], [0, 0, 1]]


def test_adding_leaves_the_parts_as_they_were():
    one = table_of("colour", ["red"], ["x"])
    one + table_of("colour", ["blue"], ["y"])
    assert one.tables[0].feature.levels == ("red",)
    assert one.tables[0].counts.tolist() == [[1]]


def test_true_and_one_stay_apart_when_levels_are_united():
    both = table_of("v", [True, "1"], [0, 1]) + table_of("v", [1, "1"], [0, 0])
    assert [(type(v), v) for v in both.tables[0].feature.levels] == [
        (bool, True),
        (int, 1),
        (str, "1"),
    ]
    assert both.tables[0].counts.tolist() == [[1, 0], [1, 0], [1, 1]]


def number_table(**choices):
    return table_of("size 'é'", [1.0, -9.0, None], [0, 1, 1], categorical=False, **choices)


@pytest.mark.parametrize(
    ("mine", "theirs", "what"),
    [
        ({"bins": [1.0]}, {"bins": [1.5]}, "cut points"),
        ({"bins": [1.0]}, {"bins": []}, "cut points"),
        ({"bins": [1.0]}, {"bins": [1.0], "skip_missing": True}, "missing"),
        ({"bins": [1.0]}, {"bins": [1.0], "special": (-9,)}, "special values"),
        ({"bins": [1.0], "special": (-9,)}, {"bins": [1.0], "special": (-8,)}, "special values"),
    ],
)
def test_tallies_of_other_levels_do_not_add_and_the_error_names_the_column(mine, theirs, what):
    one, other = number_table(**mine), number_table(**theirs)
    for a, b in ((one, other), (other, one)):
        with pytest.raises(ValueError, match=f"size 'é'.*{what} differ"):
            a + b


def test_numbers_and_categories_do_not_add():
    categories = table_of("size 'é'", ["small"], [0])
    for a, b in ((number_table(bins=[]), categories), (categories, number_table(bins=[]))):
        with pytest.raises(ValueError, match="size 'é'"):
            a + b


def test_categories_of_another_type_do_not_add():
    with pytest.raises(ValueError, match=r"'zip' held text in training.*'1'.*numbers here.*1"):
        table_of("zip", ["1", "2"], [0, 1]) + table_of("zip", [1, 2], [0, 1])


def test_tallies_of_other_features_do_not_add():
    one, other = table_of("colour", ["red"], [0]), table_of("hue", ["red"], [0])
    with pytest.raises(ValueError, match="'colour' is not in both"):
        one + other


def test_features_in_another_order_add_by_name():
    def count_columns(names):
        sample = label_sample(read([dict.fromkeys(names, "a")]), [0])
        return tally(sample, dict.fromkeys(names, Setting()))

    both = count_columns(["a", "b"]) + count_columns(["b", "a"])
    assert [part.feature.name for part in both.tables] == ["a", "b"]
    with pytest.raises(ValueError, match="'c'"):
        count_columns(["a", "b"]) + count_columns(["a", "b", "c"])


def test_classes_of_another_type_do_not_add():
    with pytest.raises(ValueError, match="classes mixes labels of different types"):
        table_of("v", ["a"], [1]) + table_of("v", ["a"], ["1"])


def orders_of(array):
    """Tables with equal cells in different memory layouts."""
    wide = np.zeros((len(array), 2 * array.shape[1]), dtype=array.dtype)
    wide[:, ::2] = array
    return {
        "by columns": np.asfortranarray(array),
        "with gaps": wide[:, ::2],
        "inside a wider array": np.hstack([array, array])[:, : array.shape[1]],
        "backwards": np.ascontiguousarray(array[:, ::-1])[:, ::-1],
        "read-only": np.broadcast_to(array, array.shape),
    }


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.bool_])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_array_of_bytes_is_counted_and_scored_alike_in_every_memory_order(kind, n_classes):
    rng = np.random.default_rng(0)
    X = rng.integers(-100, 120, (70_003, 5)).astype(kind)
    y = rng.integers(0, n_classes, len(X))
    model = EvidenceNB(categorical_features="all").fit(X, y)
    by_column = [np.bincount(X[:, j] == X[0, j], minlength=2)[1] for j in range(5)]
    for table, n, value in zip(model.evidence_.tally.tables, by_column, X[0], strict=True):
        assert table.counts[table.feature.values.index(value)].sum() == n
    expected = model.predict_proba(X)
    for name, same in orders_of(X).items():
        other = EvidenceNB(categorical_features="all").fit(same, y)
        assert_same(other.evidence_.tally, model.evidence_.tally)
        assert (other.predict_proba(same) == expected).all(), name
        assert other.provenance_.training_rows == model.provenance_.training_rows, name


def test_columns_side_by_side_are_one_matrix_only_in_their_order():
    X = np.arange(12, dtype=np.uint8).reshape(4, 3)
    columns = [*X.T]
    assert side_by_side(columns).tolist() == X.tolist()
    assert side_by_side(columns[:2]).tolist() == X[:, :2].tolist()
    for odd in (columns[::-1], [columns[0], columns[2]], [*X.astype(np.int16).T], [*X.T.copy()]):
        assert side_by_side(odd) is None
