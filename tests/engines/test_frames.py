"""Every table type gives the same model, bit for bit; what has no levels is refused by name."""

import datetime
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from weigh import EvidenceNB
from weigh.errors import ParameterError
from weigh.frames import collect, count_rows, pick_columns, read, take_rows
from weigh.frames.reading import wrap

few = settings(max_examples=15, deadline=None)


def describe(model):
    """All that was learnt, down to the bits and the types of the levels; names left out."""
    evidence = model.evidence_
    tables = [
        (
            [(type(level), level) for level in table.levels],
            table.labels,
            table.counts.shape,
            table.counts.tobytes(),
            table.weights.tobytes(),
        )
        for table in evidence
    ]
    prior = evidence.prior_row.tobytes()
    return evidence.classes.tolist(), evidence.class_counts.tolist(), prior, tables


def names_of(model):
    return [table.name for table in model.evidence_]


def as_dicts(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_lists(columns):
    return [[*row] for row in zip(*columns.values(), strict=True)]


def as_objects(columns):
    array = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for j, values in enumerate(columns.values()):
        array[:, j] = values
    return array


# ---------------------------------------------------------------- one model from every table type

ARROW = {
    "text": pa.string(),
    "flag": pa.bool_(),
    "whole": pa.int64(),
    "real": pa.float64(),
    "label": pa.string(),
    "weight": pa.int64(),
}
POLARS = {
    "text": pl.String,
    "flag": pl.Boolean,
    "whole": pl.Int64,
    "real": pl.Float64,
    "label": pl.String,
    "weight": pl.UInt8,
}
NULLABLE = {
    "text": "string",
    "flag": "boolean",
    "whole": "Int64",
    "real": "Float64",
    "label": "string",
    "weight": "Int64",
}


def arrow(columns, **types):
    types = ARROW | types
    return pa.table({name: arrow_column(values, types[name]) for name, values in columns.items()})


def arrow_column(values, kind):
    """A column of a type; codes are made of values, since older Arrow makes none of large text."""
    if not isinstance(kind, pa.DictionaryType):
        return pa.array(values, kind)
    coded = pa.array(values, kind.value_type).dictionary_encode()
    places = coded.indices.cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(places, coded.dictionary, ordered=kind.ordered)


def arrow_in_chunks(columns):
    table = arrow(columns)
    cut = len(table) // 3
    return pa.concat_tables([table.slice(0, cut), table.slice(cut, 1), table.slice(cut + 1)])


def arrow_coded_in_chunks(columns):
    """Each chunk with a dictionary of its own."""
    table = arrow(columns)
    chunks = [table.slice(0, 2), table.slice(2)]
    coded = pa.dictionary(pa.int32(), pa.string())
    for name in {"text", "label"} & set(columns):
        codes = pa.chunked_array([c[name].combine_chunks().dictionary_encode() for c in chunks])
        assert codes.type == coded
        table = table.set_column(table.column_names.index(name), name, codes)
    return table


def polars(columns, **types):
    return pl.DataFrame(columns, schema={name: (POLARS | types)[name] for name in columns})


def polars_enum(columns):
    return polars(columns, text=pl.Enum(sorted({*columns["text"]} - {None})))


def pandas_objects(columns):
    return pd.DataFrame({n: pd.Series(values, dtype=object) for n, values in columns.items()})


def pandas_typed(columns, types):
    return pd.DataFrame({n: pd.Series(v, dtype=types[n]) for n, v in columns.items()})


def pandas_arrow(columns, **types):
    types = {name: pd.ArrowDtype(kind) for name, kind in (ARROW | types).items()}
    return pandas_typed(columns, types)


FRAMES = {
    "dicts": as_dicts,
    "pandas as inferred": pd.DataFrame,
    "pandas objects": pandas_objects,
    "pandas nullable": lambda c: pandas_typed(c, NULLABLE),
    "pandas categories": lambda c: pandas_typed(
        c, NULLABLE | {"text": "category", "flag": "category"}
    ),
    "pandas with an odd index": lambda c: pandas_objects(c).set_index(
        np.arange(len(c["text"]))[::-1]
    ),
    "pandas on arrow": pandas_arrow,
    "pandas on arrow codes": lambda c: pandas_arrow(c, text=pa.dictionary(pa.int32(), pa.string())),
    "polars": polars,
    "polars lazy": lambda c: polars(c).lazy(),
    "polars categories": lambda c: polars(c, text=pl.Categorical),
    "polars enum": polars_enum,
    "polars small numbers": lambda c: polars(c, whole=pl.Int8),
    "arrow": arrow,
    "arrow large text": lambda c: arrow(c, text=pa.large_string()),
    "arrow text views": lambda c: arrow(c, text=pa.string_view()),
    "arrow codes": lambda c: arrow(c, text=pa.dictionary(pa.int8(), pa.string())),
    "arrow large codes": lambda c: arrow(c, text=pa.dictionary(pa.uint16(), pa.large_string())),
    "arrow chunks": arrow_in_chunks,
    "arrow chunks of codes": arrow_coded_in_chunks,
    "arrow decimals": lambda c: arrow(c, whole=pa.decimal128(5)),
    "arrow small numbers": lambda c: arrow(c, whole=pa.int8()),
}
DECLARING = {name for name in FRAMES if "code" in name} | {"pandas categories", "polars enum"}
"""Types that name the levels of text, whether or not rows have them."""
ARRAYS = {
    "NumPy objects": as_objects,
    "NumPy objects in Fortran order": lambda c: np.asfortranarray(as_objects(c)),
    "lists": as_lists,
    "tuples": lambda c: (*map(tuple, as_lists(c)),),
    "pandas without names": lambda c: pandas_objects(c).set_axis(range(len(c)), axis=1),
}


@st.composite
def tables(draw):
    """Columns of four types, with gaps; labels; whole weights. Long tables are read otherwise."""
    n = draw(st.integers(4, 9))
    copies = draw(st.sampled_from([1, 20]))

    def column(values, *first):
        rest = n - len(first)
        return [*first, *draw(st.lists(values, min_size=rest, max_size=rest))] * copies

    numbers = st.floats(allow_nan=False) | st.sampled_from([0.5, -0.0, 3.0, np.inf, -np.inf])
    return {
        "text": column(st.none() | st.text(max_size=3) | st.sampled_from(["1", "true", "nan"])),
        "flag": column(st.none() | st.booleans()),
        "whole": column(st.none() | st.integers(-3, 3), 3),
        "real": column(st.none() | numbers, 0.5),
        "label": column(st.sampled_from(["no", "yes"]), "no", "yes"),
        "weight": column(st.integers(0, 4), 1, 2),
    }


@few
@given(
    columns=tables(), categorical=st.sampled_from(["from_dtype", "all", ["text", "flag", "whole"]])
)
def test_every_dataframe_gives_the_same_model(columns, categorical):
    heavy = columns | {"weight": [max(weight, 1) for weight in columns["weight"]]}
    # where a type declares a value, it is a level even if its rows weigh nothing
    for own, engines in ((columns, {*FRAMES} - DECLARING), (heavy, DECLARING)):
        model = EvidenceNB(categorical_features=categorical)
        model.fit(arrow(own), "label", sample_weight="weight")
        told, totals = describe(model), model.decision_function(arrow(own)).tobytes()
        for engine in sorted(engines):
            table = FRAMES[engine](own)
            other = EvidenceNB(categorical_features=categorical)
            other.fit(table, "label", sample_weight="weight")
            assert names_of(other) == ["text", "flag", "whole", "real"], engine
            assert describe(other) == told, engine
            assert other.decision_function(table).tobytes() == totals, engine
            assert model.decision_function(table).tobytes() == totals, engine


@pytest.mark.parametrize("engine", ARRAYS)
@few
@given(columns=tables(), categorical=st.sampled_from(["from_dtype", "all", [0, 1, -2]]))
def test_every_array_gives_the_same_model(engine, columns, categorical):
    y, weight = columns.pop("label"), columns.pop("weight")
    model, other = (EvidenceNB(categorical_features=categorical) for _ in range(2))
    model.fit(arrow(columns), y, sample_weight=weight)
    table = ARRAYS[engine](columns)
    other.fit(table, y, sample_weight=weight)
    assert names_of(other) == ["x0", "x1", "x2", "x3"]
    assert describe(other) == describe(model)
    totals = model.decision_function(arrow(columns))
    assert other.decision_function(table).tobytes() == totals.tobytes()


DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES += ["float16", "float32", "float64", "longdouble", ">i4", ">f8"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("categorical", ["from_dtype", "all"])
@pytest.mark.parametrize("n_rows", [60, 600])
def test_numbers_of_every_width_give_the_same_model(dtype, categorical, n_rows):
    rng = np.random.default_rng(1)
    array = rng.integers(0, 100, (n_rows, 2))
    y = array[:, 0] + rng.integers(0, 40, n_rows) > 60
    model, other = (EvidenceNB(categorical_features=categorical) for _ in range(2))
    model.fit(pa.table({"x0": array[:, 0], "x1": array[:, 1]}), y)
    assert describe(other.fit(array.astype(dtype), y)) == describe(model)
    totals = model.decision_function(pd.DataFrame(array, columns=["x0", "x1"]))
    assert other.decision_function(array.astype(dtype)).tobytes() == totals.tobytes()


@pytest.mark.parametrize("low", [-128, -32768, -(2**31), -(2**63), 2**62])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint64"])
def test_integers_at_the_ends_of_their_type_are_levels_as_they_are(low, dtype):
    ends = np.iinfo(dtype)
    values = sorted(
        {v for v in (low, low + 1, low + 255, ends.min, ends.max) if ends.min <= v <= ends.max}
    )
    array = np.array(values * 40, dtype=dtype).reshape(-1, 1)
    model = EvidenceNB(categorical_features="all").fit(array, np.arange(len(array)) % 2)
    assert model.evidence_["x0"].levels == tuple(values)
    assert model.evidence_["x0"].counts.sum(axis=1).tolist() == [40] * len(values)


@pytest.mark.parametrize("n_rows", [40, 400])
def test_small_integers_of_full_range_are_levels_as_they_are(n_rows):
    rng = np.random.default_rng(2)
    array = rng.integers(-32768, 32768, (n_rows, 1)).astype(np.int16)
    array[:2, 0] = -32768, 32767
    y = np.arange(n_rows) % 2
    model = EvidenceNB(categorical_features="all").fit(array, y)
    assert model.evidence_["x0"].levels == tuple(np.unique(array).tolist())


def frozen(array):
    array.flags.writeable = False
    return array


LAYOUTS = {
    "read-only": frozen,
    "Fortran order": np.asfortranarray,
    "every second row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "every second column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "reversed twice": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "read-only view": lambda a: np.broadcast_to(np.repeat(a, 3, axis=0)[::3], a.shape),
    "matrix": np.asmatrix,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["uint8", "bool", "float64", "object"])
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_the_layout_of_an_array_in_memory_does_not_matter(layout, dtype):
    array = np.random.default_rng(3).integers(0, 2, (200, 3)).astype(dtype)
    y, weight = np.arange(200) % 3 == array[:, 0], np.arange(200.0) % 4
    laid = LAYOUTS[layout](array.copy())
    model = EvidenceNB().fit(array, y, weight)
    other = EvidenceNB().fit(laid, frozen(y.copy()), frozen(weight.copy()))
    assert describe(other) == describe(model)
    assert other.decision_function(laid).tobytes() == model.decision_function(array).tobytes()


# ---------------------------------------------------------------- levels, whatever the engine

ONE_COLUMN = {
    "dicts": as_dicts,
    "lists": as_lists,
    "NumPy objects": as_objects,
    "pandas objects": pandas_objects,
    "polars objects": lambda c: pl.DataFrame(
        [pl.Series(n, v, dtype=pl.Object) for n, v in c.items()]
    ),
}

sizes = pytest.mark.parametrize("copies", [1, 40], ids=["short", "long"])


def fit_column(table, n_rows, **choices):
    model = EvidenceNB(**choices).fit(table, np.arange(n_rows) % 2)
    (part,) = model.evidence_
    return part


def typed(values):
    return [(type(value), value) for value in values]


@sizes
@pytest.mark.parametrize("engine", ONE_COLUMN)
def test_true_one_and_the_text_one_are_three_levels(engine, copies):
    values = [True, 1, 1.0, "1", "true", "1.0", None, False, 0, 0.5, -0.0, np.float32(1), np.True_]
    part = fit_column(ONE_COLUMN[engine]({"v": values * copies}), len(values) * copies)
    levels = [False, True, 0, 0.5, 1, "1", "1.0", "true", None]
    assert typed(part.levels) == typed(levels)
    assert part.labels == ("false", "true", "0", "0.5", "1", '"1"', "1.0", '"true"', "missing")
    times = [1, 2, 2, 1, 3, 1, 1, 1, 1]
    assert part.counts.sum(axis=1).tolist() == [copies * n for n in times]


WHOLE_NUMBERS = {
    "dicts of ints": lambda v: [{"v": int(x)} for x in v],
    "dicts of floats": lambda v: [{"v": float(x)} for x in v],
    "lists": lambda v: [[x] for x in v],
    "lists of floats": lambda v: [[float(x)] for x in v],
    "lists beside text": lambda v: [[x, "a"] for x in v],
    "NumPy uint8": lambda v: np.array(v, np.uint8).reshape(-1, 1),
    "NumPy int8": lambda v: np.array(v, np.int8).reshape(-1, 1),
    "NumPy float16": lambda v: np.array(v, np.float16).reshape(-1, 1),
    "NumPy float32": lambda v: np.array(v, np.float32).reshape(-1, 1),
    "NumPy objects": lambda v: np.array(v, object).reshape(-1, 1),
    "pandas int": lambda v: pd.DataFrame({"v": v}),
    "pandas float": lambda v: pd.DataFrame({"v": map(float, v)}),
    "pandas Int64": lambda v: pd.DataFrame({"v": pd.array(v, "Int64")}),
    "pandas Float32": lambda v: pd.DataFrame({"v": pd.array(v, "Float32")}),
    "pandas category of ints": lambda v: pd.DataFrame({"v": pd.Categorical(v)}),
    "pandas category of floats": lambda v: pd.DataFrame({"v": pd.Categorical([*map(float, v)])}),
    "pandas on arrow": lambda v: pd.DataFrame({"v": pd.array(v, pd.ArrowDtype(pa.float32()))}),
    "pandas sparse": lambda v: pd.DataFrame({"v": pd.arrays.SparseArray([*map(float, v)])}),
    "polars": lambda v: pl.DataFrame({"v": v}),
    "polars float": lambda v: pl.DataFrame({"v": [*map(float, v)]}),
    "polars decimal": lambda v: pl.DataFrame({"v": pl.Series(v, dtype=pl.Decimal(10, 2))}),
    "polars Int128": lambda v: pl.DataFrame({"v": pl.Series(v, dtype=pl.Int128)}),
    "arrow int": lambda v: pa.table({"v": pa.array(v, pa.int16())}),
    "arrow half floats": lambda v: pa.table({"v": np.array(v, np.float16)}),
    "arrow decimal": lambda v: pa.table(
        {"v": pa.array([Decimal(x) for x in v], pa.decimal128(9, 3))}
    ),
    "arrow codes": lambda v: pa.table({"v": pa.array(v).dictionary_encode()}),
    "arrow codes of floats": lambda v: pa.table(
        {"v": pa.array([*map(float, v)]).dictionary_encode()}
    ),
}


@sizes
@pytest.mark.parametrize("engine", WHOLE_NUMBERS)
def test_whole_numbers_are_one_level_shown_as_the_integer(engine, copies):
    values = [1, 2, 3, 3, 1, 1, 0]
    table = WHOLE_NUMBERS[engine](values * copies)
    model = EvidenceNB(categorical_features="all").fit(table, np.arange(len(values) * copies) % 2)
    part = model.evidence_.tables[0]
    assert typed(part.levels) == typed([0, 1, 2, 3])
    assert part.labels == ("0", "1", "2", "3")
    assert part.counts.sum(axis=1).tolist() == [copies * n for n in (1, 3, 1, 2)]


BOOLEANS = {
    "dicts": lambda v: [{"v": x} for x in v],
    "lists": lambda v: [[x] for x in v],
    "lists beside text": lambda v: [[x, "a"] for x in v],
    "lists beside integers": lambda v: [[x, 7] for x in v],
    "lists beside floats": lambda v: [[x, 0.5] for x in v],
    "NumPy": lambda v: np.array(v).reshape(-1, 1),
    "pandas": lambda v: pd.DataFrame({"v": v}),
    "pandas boolean": lambda v: pd.DataFrame({"v": pd.array(v, "boolean")}),
    "pandas category": lambda v: pd.DataFrame({"v": pd.Categorical(v)}),
    "pandas beside numbers": lambda v: pd.DataFrame({"v": v, "w": 0.5}),
    "polars": lambda v: pl.DataFrame({"v": v}),
    "arrow": lambda v: pa.table({"v": v}),
    "arrow codes": lambda v: pa.table({"v": pa.array(v).dictionary_encode()}),
}


def test_a_boolean_is_no_number_of_a_numeric_column_but_of_one_of_zero_and_one():
    table = pa.table({"age": [20.0, 30, 40, 50] * 30, "smoker": [0, 1, 1, 0] * 30})
    model = EvidenceNB(bins={"age": [25, 45]}).fit(table, [0, 1, 1, 1] * 30)
    for rows in ({"age": True}, [{"age": None, "smoker": 1}, {"age": False}]):
        with pytest.raises(ValueError, match=r"'age' .* holds (True|False); give"):
            model.predict_proba(rows if isinstance(rows, list) else [rows])
    assert str(model.balance_sheet({"smoker": True}).items[1]) == "smoker = 1"


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({"bins": {"Sex": [1, 2]}}, "bins"),
        ({"bins": {1: 5}}, "bins"),
        ({"bins": {"Sex": "mdl"}}, "bins"),
        ({"special_values": {"Sex": [-9]}}, "special_values"),
    ],
)
def test_a_parameter_for_numbers_that_names_a_column_of_text_is_refused(asked, name, tmp_path):
    people = weigh.datasets.titanic()
    parquet.write_table(people, tmp_path / "people.parquet")
    for table in (people, weigh.scan(tmp_path / "people.parquet")):
        for learner in (EvidenceNB, weigh.AdjustedNB, weigh.EducatedNB):
            with pytest.raises(ParameterError, match=r"'Sex' holds text .'(Fem|M)ale'.") as refused:
                learner(**asked).fit(table, "Survived")
            assert refused.value.parameter == name
    blank = pa.table({"Sex": pa.array([None] * 40, pa.string()), "a": [1.0, 2] * 20})
    EvidenceNB(**{k: {"Sex": [1.0, 2.0]} for k in asked}).fit(blank, [0, 1] * 20)


@sizes
@pytest.mark.parametrize("engine", BOOLEANS)
def test_booleans_are_categories_shown_as_true_and_false(engine, copies):
    values = [True, False, True, True]
    table = BOOLEANS[engine](values * copies)
    model = EvidenceNB().fit(table, [0, 1, 1, 1] * copies)
    part = model.evidence_.tables[0]
    assert typed(part.levels) == typed([False, True])
    assert part.labels == ("false", "true")
    assert part.counts.tolist() == [[0, copies], [copies, 2 * copies]]
    assert model.predict(table).tolist() == [1] * 4 * copies


BIG = [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, -(2**53), -(2**53) - 1]
BIG_INTEGERS = {
    "dicts": lambda v: [{"v": x} for x in v],
    "lists": lambda v: [[x] for x in v],
    "lists beside text": lambda v: [[x, "a"] for x in v],
    "lists beside floats": lambda v: [[x, 0.5] for x in v],
    "NumPy": lambda v: np.array(v).reshape(-1, 1),
    "NumPy objects": lambda v: np.array(v, object).reshape(-1, 1),
    "pandas": lambda v: pd.DataFrame({"v": v}),
    "pandas beside floats": lambda v: pd.DataFrame({"v": v, "w": 0.5}),
    "pandas objects": lambda v: pd.DataFrame({"v": pd.Series(v, dtype=object)}),
    "pandas Int64": lambda v: pd.DataFrame({"v": pd.array(v, "Int64")}),
    "pandas category": lambda v: pd.DataFrame({"v": pd.Categorical(v)}),
    "pandas on arrow": lambda v: pd.DataFrame({"v": pd.array(v, pd.ArrowDtype(pa.int64()))}),
    "polars": lambda v: pl.DataFrame({"v": v}),
    "arrow": lambda v: pa.table({"v": v}),
    "arrow codes": lambda v: pa.table({"v": pa.array(v).dictionary_encode()}),
    "arrow decimals": lambda v: pa.table({"v": pa.array([Decimal(x) for x in v])}),
    "objects of decimals": lambda v: np.array([Decimal(x) for x in v], object).reshape(-1, 1),
}


@sizes
@pytest.mark.parametrize("engine", BIG_INTEGERS)
def test_integers_beyond_two_to_the_53_stay_apart_as_categories(engine, copies):
    table, y = BIG_INTEGERS[engine](BIG * copies), [0, 1, 0, 1, 1, 0] * copies
    model = EvidenceNB(categorical_features="all").fit(table, y)
    part = model.evidence_.tables[0]
    assert typed(part.levels) == typed(sorted(BIG))
    assert part.labels == tuple(map(str, sorted(BIG)))
    assert model.predict(table).tolist() == y


def test_unsigned_integers_and_those_of_no_machine_type_are_categories_too():
    huge = [2**64 - 1, 2**64 - 2, 2**63]
    unsigned = np.array(huge * 2, np.uint64).reshape(-1, 1)
    assert fit_column(unsigned, 6, categorical_features="all").levels == tuple(sorted(huge))
    endless = [{"v": v} for v in (10**400, 10**400 + 1, -1, 2)]
    assert fit_column(endless, 4, categorical_features="all").levels == (
        -1,
        2,
        10**400,
        10**400 + 1,
    )


MISSING = {
    "None": None,
    "NaN": float("nan"),
    "NumPy NaN": np.float32("nan"),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "NumPy NaT": np.datetime64("NaT"),
    "decimal NaN": Decimal("nan"),
}


@sizes
@pytest.mark.parametrize("engine", ONE_COLUMN)
@pytest.mark.parametrize("nothing", MISSING)
def test_all_kinds_of_nothing_are_missing(engine, nothing, copies):
    y = [0, 1, 0, 1] * copies
    for one, other in [("a", "b"), (True, False), (1, 2), (0.5, 2.0), ("a", 1)]:
        table = ONE_COLUMN[engine]({"v": [one, MISSING[nothing], other, None] * copies})
        plain = [{"v": value} for value in [one, None, other, None] * copies]
        for choice in ("from_dtype", "all"):
            model = EvidenceNB(categorical_features=choice).fit(table, y)
            part = model.evidence_.tables[0]
            assert part.levels[-1] is None
            assert part.counts[-1].tolist() == [0, 2 * copies]
            assert model.predict(table).tolist() == y
            expected = EvidenceNB(categorical_features=choice).fit(plain, y)
            assert describe(model) == describe(expected)


@sizes
def test_nan_and_null_in_one_column_are_both_missing(copies):
    values = pa.array([1.0, float("nan"), None, 2.0] * copies)
    frames = [pa.table({"v": values}), pl.DataFrame({"v": pl.from_arrow(values)})]
    frames.append(pd.DataFrame({"v": pd.array(values, pd.ArrowDtype(pa.float64()))}))
    for frame in frames:
        for choice in ("from_dtype", "all"):
            part = fit_column(frame, 4 * copies, categorical_features=choice)
            assert part.counts[-1].sum() == 2 * copies
            assert part.levels[-1] is None


@sizes
def test_skipped_missing_values_are_no_level_and_no_evidence(copies):
    columns = {"text": ["a", "b", None, "b"] * copies, "real": [1.0, None, None, 2.0] * copies}
    y = [0, 1, 1, 1] * copies
    models = [
        EvidenceNB(missing="skip").fit(make(columns), y)
        for make in (arrow, pandas_objects, polars, as_dicts)
    ]
    for model in models:
        assert describe(model) == describe(models[0])
        assert None not in model.evidence_["text"].levels
        assert model.evidence_["text"].counts.sum() == 3 * copies
    nothing = {"text": [None], "real": [None]}
    assert models[0].decision_function(arrow(nothing)).tolist() == [models[0].evidence_.prior]


def test_numpy_text_is_read_like_any_text():
    values = ["a", "ü", "", "1", "a", "true"] * 20
    y = np.arange(120) % 2
    model = EvidenceNB().fit(pa.table({"v": values}), y)
    for array in (np.array(values), np.array(values, "<U20"), np.array(values, ">U5")):
        assert describe(EvidenceNB().fit(array.reshape(-1, 1), y)) == describe(model)


@sizes
def test_the_new_text_type_of_numpy_is_read_like_any_text(copies):
    values = ["a", "ü", "", "1", "a", "true"] * copies
    y = np.arange(len(values)) % 2
    array = np.array(values, dtype=np.dtypes.StringDType()).reshape(-1, 1)
    assert describe(EvidenceNB().fit(array, y)) == describe(
        EvidenceNB().fit([[v] for v in values], y)
    )


@pytest.mark.parametrize("n_codes", [127, 128, 129, 255, 256, 257])
@pytest.mark.parametrize("index", [pa.int8(), pa.uint8(), pa.int16(), pa.uint32()])
@pytest.mark.filterwarnings("ignore:column 'v' has .* nearly one for each row:UserWarning")
def test_a_dictionary_may_fill_its_index_type_and_have_nulls(n_codes, index):
    if (index == pa.int8() and n_codes > 128) or (index == pa.uint8() and n_codes > 256):
        index = pa.int16()
    texts = [f"v{i:03}" for i in range(n_codes)]
    codes = pa.array([*range(n_codes), None], index)
    table = pa.table({"v": pa.DictionaryArray.from_arrays(codes, pa.array(texts))})
    part = fit_column(table, n_codes + 1)
    assert part.levels == (*texts, None)
    assert part.counts.sum(axis=1).tolist() == [1] * (n_codes + 1)


@sizes
def test_entries_of_a_dictionary_are_levels_once_whether_or_not_rows_have_them(copies):
    codes = pa.array([0, 2, 3, 4, None] * copies, pa.int8())
    entries = pa.array(["a", "unused", "b", "a", None])
    table = pa.table({"v": pa.DictionaryArray.from_arrays(codes, entries)})
    part = fit_column(table, 5 * copies)
    assert part.levels == ("a", "b", "unused", None)
    assert part.counts.sum(axis=1).tolist() == [2 * copies, copies, 0, 2 * copies]


# ---------------------------------------------------------------- odd columns

NAMES = [
    "class",
    "",
    " ",
    "a,b",
    'say "no"',
    "it's",
    "new\nline",
    "😀",
    "<script>alert(1)</script>",
    "x0",
    "y",
]


@pytest.mark.parametrize("engine", ["dicts", "pandas", "polars", "arrow"])
def test_a_column_may_have_any_name(engine):
    make = {"dicts": as_dicts, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[
        engine
    ]
    columns = {name: ["a", "b", "b", f"v{j}"] for j, name in enumerate(NAMES)}
    model = EvidenceNB().fit(make(columns), [0, 1, 1, 0])
    assert names_of(model) == NAMES
    assert model.feature_names_in_.tolist() == NAMES
    for j, name in enumerate(NAMES):
        assert model.evidence_[name].levels == ("a", "b", f"v{j}")
    assert model.predict(make(columns)).tolist() == [0, 1, 1, 0]


ALL_MISSING = {
    "arrow null type": pa.table({"v": pa.nulls(80)}),
    "arrow text": pa.table({"v": pa.nulls(80, pa.string())}),
    "arrow numbers": pa.table({"v": pa.nulls(80, pa.float64())}),
    "arrow codes": pa.table({"v": pa.nulls(80, pa.dictionary(pa.int8(), pa.string()))}),
    "arrow booleans": pa.table({"v": pa.nulls(80, pa.bool_())}),
    "polars null type": pl.DataFrame({"v": [None] * 80}),
    "polars text": pl.DataFrame({"v": pl.Series([None] * 80, dtype=pl.String)}),
    "polars categories": pl.DataFrame({"v": pl.Series([None] * 80, dtype=pl.Categorical)}),
    "polars numbers": pl.DataFrame({"v": pl.Series([None] * 80, dtype=pl.Int8)}),
    "pandas objects": pd.DataFrame({"v": pd.Series([None] * 80, dtype=object)}),
    "pandas text": pd.DataFrame({"v": pd.Series([None] * 80, dtype="string")}),
    "pandas numbers": pd.DataFrame({"v": [np.nan] * 80}),
    "pandas categories": pd.DataFrame({"v": pd.Categorical([None] * 80)}),
    "pandas nullable": pd.DataFrame({"v": pd.array([pd.NA] * 80, "Int64")}),
    "dicts": [{"v": None}] * 80,
    "NumPy": np.full((80, 1), np.nan),
    "NumPy objects": np.full((80, 1), None),
}


@pytest.mark.parametrize("n_rows", [10, 80])
@pytest.mark.parametrize("engine", ALL_MISSING)
@pytest.mark.parametrize("missing", ["level", "skip"])
def test_a_column_without_values_weighs_nothing(engine, missing, n_rows):
    table = ALL_MISSING[engine][:n_rows]
    for choice in ("from_dtype", "all"):
        model = EvidenceNB(missing=missing, categorical_features=choice)
        model.fit(table, np.arange(n_rows) % 3 > 0)
        part = model.evidence_.tables[0]
        assert part.counts.sum() == (n_rows if missing == "level" else 0)
        assert not part.weights.any()
        assert model.decision_function(table).tolist() == [model.evidence_.prior] * n_rows


@pytest.mark.parametrize("value", ["a", True, 3, 0.5, float("inf"), None])
@pytest.mark.parametrize("n_rows", [10, 80])
def test_a_column_of_one_value_weighs_nothing_in_every_engine(value, n_rows):
    frames = [[{"v": value}] * n_rows, [[value]] * n_rows, pa.table({"v": [value] * n_rows})]
    frames += [pl.DataFrame({"v": [value] * n_rows}), pd.DataFrame({"v": [value] * n_rows})]
    for frame in frames:
        for smoothing in (1.0, 0, "1/n"):
            part = fit_column(frame, n_rows, smoothing=smoothing)
            assert not part.weights.any()


@sizes
def test_infinities_are_numbers_in_the_outer_intervals(copies):
    values = [-np.inf, -1e308, 0.0, 1.0, 1e308, np.inf] * copies * 5
    y = [0, 0, 0, 1, 1, 1] * copies * 5
    model = EvidenceNB().fit(pa.table({"v": values}), y)
    assert model.evidence_["v"].labels == ("<= 0.5", "> 0.5")
    assert model.predict(pl.DataFrame({"v": values})).tolist() == y
    for make in (pl.DataFrame, pd.DataFrame, as_dicts):
        assert describe(EvidenceNB().fit(make({"v": values}), y)) == describe(model)


@sizes
def test_infinities_are_levels_of_categories(copies):
    values = [np.inf, -np.inf, 1.0, np.inf] * copies
    for make in (as_dicts, pa.table, pl.DataFrame, pd.DataFrame, pandas_objects):
        part = fit_column(make({"v": values}), 4 * copies, categorical_features="all")
        assert part.levels == (-np.inf, 1, np.inf)
        assert part.counts.sum(axis=1).tolist() == [copies, copies, 2 * copies]


def test_a_hundred_thousand_levels_are_counted_and_found_again():
    n = 100_000
    texts = [f"level {i:06}" for i in range(n)]
    values, y = texts + texts[::-1], np.arange(2 * n) % 2
    frames = [pa.table({"v": values}), pd.DataFrame({"v": pd.Series(values, dtype=object)})]
    models = [EvidenceNB().fit(frame, y) for frame in frames]
    for model in models:
        assert model.evidence_["v"].levels == tuple(texts)
        assert model.evidence_["v"].counts.tobytes() == np.ones((n, 2)).tobytes()
    with pytest.warns(UserWarning, match="100,000 levels in 100,000 rows"):
        lopsided = EvidenceNB().fit(frames[0].slice(0, n), y[:n])
    assert lopsided.predict(frames[0].slice(0, n)).tolist() == y[:n].tolist()
    assert lopsided.decision_function([{"v": "level"}]).tolist() == [lopsided.evidence_.prior]


def test_a_hundred_thousand_numbers_as_categories_are_counted():
    array = np.arange(0, 10**9, 10**4).reshape(-1, 1)
    part = fit_column(array, 10**5, categorical_features="all")
    assert part.levels == tuple(array[:, 0].tolist())
    assert part.counts.sum(axis=1).tolist() == [1] * 10**5


# ---------------------------------------------------------------- targets and weights

LABELS = {
    "list": list,
    "tuple": tuple,
    "NumPy": np.array,
    "NumPy objects": lambda v: np.array(v, dtype=object),
    "pandas": lambda v: pd.Series(v, index=range(len(v), 0, -1)),
    "pandas objects": lambda v: pd.Series(v, dtype=object),
    "pandas category": lambda v: pd.Series(v, dtype="category"),
    "polars": lambda v: pl.Series(v),
    "arrow": pa.array,
    "arrow chunks": lambda v: pa.chunked_array([v[:3], v[3:]]),
}


@pytest.mark.parametrize("kind", [("no", "yes"), (False, True), (0, 1), (-1, 7), ("a", "b", "c")])
@pytest.mark.parametrize("engine", LABELS)
def test_labels_and_weights_of_any_library_give_the_same_model(engine, kind):
    labels = [kind[i % len(kind)] for i in range(90)]
    weight = [float(i % 4) for i in range(90)]
    table = pa.table({"v": [f"{i % 7}" for i in range(90)]})
    model = EvidenceNB().fit(table, labels, sample_weight=weight)
    assert typed(model.classes_.tolist()) == typed(kind)
    other = EvidenceNB().fit(table, LABELS[engine](labels), sample_weight=LABELS[engine](weight))
    assert describe(other) == describe(model)


def test_whole_floats_are_the_same_classes_as_integers():
    table = [{"v": "a"}, {"v": "b"}]
    assert typed(EvidenceNB().fit(table, [0.0, 1.0]).classes_.tolist()) == typed([0, 1])


def test_columns_named_as_target_and_weight_are_no_features():
    table = pd.DataFrame({"a": list("xxyy"), "y": [0, 1, 1, 1], "w": [1, 2, 3, 4]})
    model = EvidenceNB().fit(table, "y", sample_weight="w")
    assert names_of(model) == ["a"]
    assert model.n_features_in_ == 1
    assert describe(model) == describe(EvidenceNB().fit(table[["a"]], table["y"], table["w"]))
    assert model.predict(table).tolist() == model.predict(table[["a"]]).tolist()


@pytest.mark.parametrize(
    ("y", "sample_weight", "role"), [("target", None, "y"), ("b", "target", "sample_weight")]
)
def test_a_target_that_is_no_column_is_refused_by_name(y, sample_weight, role):
    table = pa.table({"a": ["x", "y"], "b": [0, 1]})
    with pytest.raises(ValueError, match=f"{role} names the column 'target'.*'a', 'b'"):
        EvidenceNB().fit(table, y, sample_weight=sample_weight)


def test_a_target_by_name_needs_a_table_with_names():
    with pytest.raises(ValueError, match=r"y names the column 'x1'.*no column names"):
        EvidenceNB().fit(np.eye(2), "x1")


def test_a_table_of_nothing_but_the_target_is_refused():
    with pytest.raises(ValueError, match="feature"):
        EvidenceNB().fit(pa.table({"y": [0, 1], "w": [1, 1]}), "y", sample_weight="w")


# ---------------------------------------------------------------- matching columns

NAMED = {"dicts": as_dicts, "pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
SHIFTED = {"lazy": lambda c: pl.LazyFrame(c), **NAMED}


@sizes
@pytest.mark.parametrize("engine", SHIFTED)
def test_columns_are_matched_by_name_and_extra_ones_ignored(engine, copies):
    a, b = ["x", "y", "x", "z"] * copies, [1.0, 2.0, None, 4.0] * copies
    model = EvidenceNB().fit(pa.table({"a": a, "b": b}), [0, 1, 1, 0] * copies)
    totals = model.decision_function(pa.table({"a": a, "b": b}))
    other = SHIFTED[engine]({"z": [[1]] * len(a), "b": b, "extra": a, "a": a})
    assert model.decision_function(other).tobytes() == totals.tobytes()


@pytest.mark.parametrize("engine", [name for name in NAMED if name != "dicts"])
def test_a_lacking_column_is_named(engine):
    columns = {"a": ["x", "y"], "it's b": [1.0, 2.0], "c": [True, False]}
    model = EvidenceNB().fit(NAMED[engine](columns), [0, 1])
    del columns["it's b"]
    with pytest.raises(ValueError, match=r'no column "it\'s b".*EvidenceNB'):
        model.predict(NAMED[engine](columns))


def test_a_table_without_any_column_of_the_model_is_said_to_be_another():
    model = EvidenceNB().fit(pa.table({"age": [1.0, 2.0], "sex": ["f", "m"]}), [0, 1])
    other = {"town": ["a"], "income": [1.0], "rooms": [2.0], "heating": ["gas"]}
    told = r"2 of 2 columns.*it seems to be another table, with the columns 'town', 'income', 'roo"
    with pytest.raises(ValueError, match=told):
        model.predict(pa.table(other))
    with pytest.raises(ValueError, match=r"1 of 2 columns are absent\); add it"):
        model.predict(pa.table({**other, "age": [1.0]}))
    with pytest.raises(ValueError, match=r"rename 'Age' if it is the same"):
        model.predict(pa.table({**other, "Age": [1.0]}))


@pytest.mark.parametrize("width", [1, 3])
def test_an_array_of_another_width_is_refused(width):
    columns = {"a": [0.0, 1.0], "b": [1.0, 2.0]}
    for table in (np.eye(2), pa.table(columns)):
        model = EvidenceNB().fit(table, [0, 1])
        with pytest.raises(ValueError, match=rf"X has {width} features.*expecting 2 features"):
            model.predict(np.zeros((2, width)))


def test_an_array_is_matched_by_position_with_a_warning_where_names_were_known():
    table = pd.DataFrame({"a": [0.0, 1.0, 5.0], "b": [1.0, 2.0, 2.0]})
    model = EvidenceNB(bins=2).fit(table, [0, 1, 1])
    with pytest.warns(UserWarning, match="matched by position"):
        totals = model.decision_function(table.to_numpy())
    assert totals.tobytes() == model.decision_function(table).tobytes()


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([["x", 1, 2]] * 2, columns=["a", "twice", "twice"]),
        pa.table([pa.array([1, 2])] * 3, names=["a", "twice", "twice"]),
    ],
    ids=["pandas", "arrow"],
)
def test_duplicate_column_names_are_refused(table):
    with pytest.raises(ValueError, match=r"(?s)column names.*'twice'"):
        EvidenceNB().fit(table, [0, 1])
    model = EvidenceNB().fit(pa.table({"twice": [1, 2]}), [0, 1])
    with pytest.raises(ValueError, match=r"(?s)column names.*'twice'"):
        model.predict(table)


@pytest.mark.parametrize("shape", [2, (2, 1)])
def test_structured_arrays_are_refused(shape):
    array = np.zeros(shape, dtype=[("a", int), ("b", float)])
    with pytest.raises(ValueError, match="structured NumPy arrays are not read; pass a dataframe"):
        EvidenceNB().fit(array, [0, 1])
    with pytest.raises(ValueError, match="structured NumPy arrays are not read; pass a dataframe"):
        EvidenceNB().fit(array.view(np.recarray), [0, 1])


DAY = datetime.date(2020, 1, 1)
MOMENT = datetime.datetime(2020, 1, 1, 12)
SPAN = datetime.timedelta(days=1)
NO_LEVELS = {
    "a date": DAY,
    "a moment": MOMENT,
    "a moment in a zone": MOMENT.replace(tzinfo=datetime.UTC),
    "a time": MOMENT.time(),
    "a span": SPAN,
    "bytes": b"abc",
    "a list": [1, 2],
    "a list of one": [1],
    "a dict": {"a": 1},
}
HOLDERS = {
    "dicts": as_dicts,
    "NumPy objects": as_objects,
    "pandas objects": pandas_objects,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


@pytest.mark.parametrize("n_rows", [3, 80])
@pytest.mark.parametrize("engine", HOLDERS)
@pytest.mark.parametrize("value", NO_LEVELS)
def test_dates_bytes_and_nested_values_are_refused_by_the_name_of_the_column(engine, value, n_rows):
    values = np.empty(n_rows, dtype=object)
    for i in range(n_rows):
        values[i] = NO_LEVELS[value]
    bad = HOLDERS[engine]({"fine": [1.0] * n_rows, "odd one": [*values]})
    name = "x1" if isinstance(bad, np.ndarray) else "odd one"
    for choice in ("from_dtype", "all", []):
        with pytest.raises((ValueError, TypeError), match=f"'{name}'"):
            EvidenceNB(categorical_features=choice).fit(bad, np.arange(n_rows) % 2)
    for training in (["a", "b"], [1.0, 2.0], [True, False]):
        model = EvidenceNB().fit(HOLDERS[engine]({"fine": [1.0, 2.0], "odd one": training}), [0, 1])
        with pytest.raises((ValueError, TypeError), match=f"'{name}'"):
            model.predict(bad)


@pytest.mark.parametrize("n_rows", [3, 80])
@pytest.mark.parametrize("dtype", ["M8[ns]", "M8[D]", "m8[ns]", "m8[s]", "S3"])
def test_numpy_dates_and_bytes_are_refused_by_the_name_of_the_column(dtype, n_rows):
    bad = np.zeros((n_rows, 1), dtype=dtype)
    for choice in ("from_dtype", "all", []):
        with pytest.raises((ValueError, TypeError), match="'x0'"):
            EvidenceNB(categorical_features=choice).fit(bad, np.arange(n_rows) % 2)
    for training in (["a", "b"], [1.0, 2.0]):
        model = EvidenceNB().fit([[value] for value in training], [0, 1])
        with pytest.raises((ValueError, TypeError), match="'x0'"):
            model.predict(bad)


@pytest.mark.parametrize(
    "values",
    [
        pd.period_range("2020", periods=4),
        pd.interval_range(0, 4),
        pd.cut([1, 2, 3, 4], 2),
        pd.date_range("2020", periods=4, tz="UTC"),
        pd.Categorical(pd.date_range("2020", periods=4)),
    ],
    ids=["period", "interval", "cut", "moment", "category of moments"],
)
def test_pandas_types_without_levels_are_refused_by_the_name_of_the_column(values):
    with pytest.raises((ValueError, TypeError), match="'odd one'"):
        EvidenceNB().fit(pd.DataFrame({"odd one": values}), [0, 1, 0, 1])


@pytest.mark.parametrize(
    "values",
    [
        pd.period_range("2020", periods=4),
        pd.date_range("2020", periods=4),
        pd.Series([datetime.date(2020, 1, i) for i in (1, 2, 3, 4)], dtype=object),
        pd.Series([datetime.datetime(2020, 1, 1)] * 4, dtype=object),
    ],
    ids=["period", "moment", "dates as objects", "moments as objects"],
)
def test_what_to_derive_from_dates_is_said_however_they_are_held(values):
    with pytest.raises((ValueError, TypeError), match=r"'odd one'.*(date|period).*weekday"):
        EvidenceNB().fit(pd.DataFrame({"odd one": values}), [0, 1, 0, 1])


@pytest.mark.parametrize("n_rows", [2, 80])
def test_a_number_that_no_float_can_hold_is_refused_by_the_name_of_its_column(n_rows):
    table = [{"fine": 1, "odd one": v} for v in [1, 10**400] * (n_rows // 2)]
    with pytest.raises(ValueError, match="'odd one'"):
        EvidenceNB().fit(table, np.arange(n_rows) % 2)


@pytest.mark.parametrize("X", [[], [[]], np.empty((0, 2)), pa.table({"a": []}), pd.DataFrame()])
def test_an_empty_table_is_refused(X):
    with pytest.raises(ValueError, match=r"empty|0 feature|2D"):
        EvidenceNB().fit(X, [])


def test_one_dict_is_refused_and_told_to_be_a_list():
    rows = [{"a": "p"}, {"a": "q"}]
    with pytest.raises(ValueError, match=r"\[row\]"):
        EvidenceNB().fit(rows, [0, 1]).predict_proba(rows[0])


def test_missing_labels_are_counted_and_the_first_is_named():
    rows = [{"a": v} for v in "pqpqp"]
    with pytest.raises(ValueError, match=r"2 of 5 rows.*row 1 "):
        EvidenceNB().fit(rows, ["no", None, "yes", None, "no"])
    with pytest.raises(ValueError, match=r"1 of 5 rows.*row 3 "):
        EvidenceNB().fit(rows, ["no", None, "yes", None, "no"], sample_weight=[1, 0, 1, 1, 1])


@pytest.mark.parametrize("X", [[1, 2], np.zeros(2), np.zeros((2, 1, 1)), "abc"])
def test_what_is_no_table_is_refused(X):
    with pytest.raises(ValueError, match="Expected a 2D array or a dataframe"):
        EvidenceNB().fit(X, [0, 1])


# ---------------------------------------------------------------- a column of another type

OTHER_TYPES = {
    "booleans as text": ([True, False], "booleans", ["true", "false"], "text"),
    "integers as text": ([1, 2], "numbers", ["1", "2"], "text"),
    "floats as text": ([0.5, 2.5], "numbers", ["0.5", "2.5"], "text"),
    "text as integers": (["1", "2"], "text", [1, 2], "numbers"),
    "text as floats": (["0.5", "2.5"], "text", [0.5, 2.5], "numbers"),
    "text as booleans": (["true", "false"], "text", [True, False], "booleans"),
    "booleans as integers": ([True, False], "booleans", [1, 0], "numbers"),
    "integers as booleans": ([1, 0], "numbers", [True, False], "booleans"),
}
ALL_HOLDERS = HOLDERS | {"lists": as_lists}


def one_of(values):
    return f"({'|'.join(re.escape(repr(value)) for value in values)})"


@sizes
@pytest.mark.parametrize("engine", ALL_HOLDERS)
@pytest.mark.parametrize("case", OTHER_TYPES)
def test_categories_of_another_type_are_refused_with_what_was_seen_and_wanted(engine, case, copies):
    before, wanted, now, seen = OTHER_TYPES[case]
    make = ALL_HOLDERS[engine]
    model = EvidenceNB(categorical_features="all").fit(make({"my col": before * 40}), [0, 1] * 40)
    (name,) = names_of(model)
    message = (
        f"'{name}' held {wanted} .*{one_of(before)}.* holds {seen} .*{one_of(now)}.*convert it"
    )
    with pytest.raises(ValueError, match=message):
        model.predict(make({"my col": now * copies}))


@sizes
@pytest.mark.parametrize("engine", ALL_HOLDERS)
def test_text_where_numbers_were_is_refused_with_what_was_seen_and_wanted(engine, copies):
    make = ALL_HOLDERS[engine]
    model = EvidenceNB().fit(make({"my col": [0.5, 2.0, 3.0] * 30}), [0, 1, 1] * 30)
    name = names_of(model)[0]
    with pytest.raises(
        ValueError, match=rf"'{name}' is numeric but holds text \('0\.5'\).*convert"
    ):
        model.predict(make({"my col": ["0.5", "2.0"] * copies}))


@sizes
@pytest.mark.parametrize("engine", ALL_HOLDERS)
def test_a_level_not_seen_in_training_weighs_nothing_and_never_raises(engine, copies):
    make = ALL_HOLDERS[engine]
    columns = {"text": ["a", "b"] * 40, "whole": [1, 2] * 40, "flag": [True, True] * 40}
    model = EvidenceNB(categorical_features="all").fit(make(columns), [0, 1] * 40)
    unseen = {"text": ["c", ""] * copies, "whole": [7, 0] * copies, "flag": [False, False] * copies}
    totals = model.decision_function(make(unseen))
    assert totals.tolist() == [model.evidence_.prior] * 2 * copies


@sizes
def test_a_column_of_nulls_may_stand_for_any_type(copies):
    columns = {"text": ["a", "b", None], "real": [1.0, 2.0, None], "flag": [True, False, None]}
    columns = {name: values * 30 for name, values in columns.items()}
    model = EvidenceNB(bins={"real": [1.5]}).fit(pa.table(columns), [0, 1, 1] * 30)
    missing = model.decision_function(pa.table(columns))[2]
    nothing = {name: [None] * copies for name in columns}
    for make in (pa.table, pl.DataFrame, pd.DataFrame, as_dicts, pandas_objects):
        assert model.decision_function(make(nothing)).tolist() == [missing] * copies


@pytest.mark.parametrize("engine", ALL_HOLDERS)
def test_rows_of_rows_are_rows(engine):
    columns = {
        "text": [*"abcd"] * 100,
        "real": np.arange(400.0).tolist(),
        "flag": [True, False] * 200,
    }
    table = read(ALL_HOLDERS[engine](columns))
    first, second = np.arange(399, 0, -2), np.arange(0, 200, 2)
    twice = table.rows(first).rows(second)
    for name in table.names:
        once, again = (part.column(name, True) for part in (table.rows(first[second]), twice))
        assert [again.values[c] for c in again.codes] == [once.values[c] for c in once.codes]


# ---------------------------------------------------------------- some rows, some columns


def string_views(columns):
    kinds = {"text": pa.string_view()}
    return pa.table({name: pa.array(values, kinds.get(name)) for name, values in columns.items()})


TAKEN = ALL_HOLDERS | {"string views": string_views, "lazy": lambda c: pl.DataFrame(c).lazy()}


@pytest.mark.parametrize("engine", TAKEN)
def test_rows_are_taken_by_number_in_the_table_s_own_library(engine):
    columns = {"text": [*"abcdef"], "real": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]}
    X, places = TAKEN[engine](columns), np.array([5, 0, 0, 3])
    found, expected = read(take_rows(X, places)), read(X).rows(places)
    assert type(take_rows(X, places)) is type(collect(X))
    for name in expected.names:
        one, other = (table.column(name, True) for table in (found, expected))
        assert [one.values[k] for k in one.codes] == [other.values[k] for k in other.codes]


def test_rows_of_what_is_no_table_are_taken_too():
    from scipy import sparse

    matrix = sparse.eye_array(4)
    assert take_rows(matrix, [2]).toarray().tolist() == [[0, 0, 1, 0]]
    assert take_rows(("a", "b", "c"), [2, 0]) == ["c", "a"]
    assert take_rows(pd.Series([*"abc"], index=[7, 8, 9]), [2, 0]).tolist() == ["c", "a"]
    assert take_rows(pl.Series([*"abc"]), [2, 0]).to_list() == ["c", "a"]
    rows = (matrix, ["a", "b", "c"], pd.Series([1]), np.ones((2, 3)), pa.table({"a": [1, 2]}))
    assert [count_rows(X) for X in rows] == [4, 3, 1, 2, 2]


@pytest.mark.parametrize("engine", ["dicts", "pandas", "polars", "arrow", "lazy"])
def test_columns_are_picked_by_name_in_the_order_given(engine):
    X = TAKEN[engine]({"a": [1, 2], "b": ["x", "y"], "c": [True, False]})
    picked = pick_columns(X, ["c", "a"])
    assert read(picked).names == ("c", "a")
    assert type(picked) is type(X)
    assert read(picked).column("a", False).values.tolist() == [1, 2]


class Obliging:
    """An object that, as a DataFrame of Spark Connect, has an attribute of any name."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Obliging()

    def __eq__(self, other):
        return Obliging()

    def __bool__(self):
        raise TypeError("a column has no truth value")

    __hash__ = None


def test_attributes_of_any_name_do_not_make_a_pandas_frame():
    assert wrap(Obliging()) is None


# ---------------------------------------------------------------- names, whoever holds the columns


class OfAnotherLibrary:
    """A table that offers nothing but Arrow's stream, and that once."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        table, self.table = self.table, None
        return table.__arrow_c_stream__(requested_schema)


OFFERED = {
    "batch": lambda table: table.to_batches()[0],
    "stream": OfAnotherLibrary,
    "reader": lambda table: table.to_reader(),
}


@pytest.mark.parametrize("kind", OFFERED)
def test_what_arrow_can_read_keeps_its_names(kind):
    table = pa.table({"a": ["x", "y", "z"] * 30, "b": [1.5, 2.5, 7.5] * 30, "y": [0, 1, 1] * 30})
    model = EvidenceNB().fit(table, "y")
    again = EvidenceNB().fit(OFFERED[kind](table), "y")
    assert again.feature_names_in_.tolist() == ["a", "b"]
    assert describe(model) == describe(again)
    reordered = OFFERED[kind](table.select(["y", "b", "a"]))
    np.testing.assert_array_equal(model.predict_proba(reordered), model.predict_proba(table))


@pytest.mark.parametrize("kind", ["batch", "stream"])
def test_scores_stand_beside_the_columns_of_what_arrow_can_read(kind):
    table = pa.table({"a": ["x", "y", "z"] * 30, "y": [0, 1, 1] * 30})
    model = EvidenceNB().fit(table, "y")
    wanted = weigh.score_table(model, table)
    assert weigh.score_table(model, OFFERED[kind](table)).equals(wanted)
    assert wanted.column_names[:2] == ["a", "y"]


READING = {
    "evaluate": lambda model, X: weigh.evaluate(model, X(), "y", train=(X(), "y"), by="a"),
    "evaluate numbers": lambda _, X: weigh.evaluate(
        weigh.EducatedRegressor().fit(X(), "b"), X(), "b"
    ),
    "report": lambda model, X: weigh.report(model, X(), "y", title="t"),
    "challenge": lambda model, X: weigh.challenge(model, model, X(), "y"),
    "compare": lambda _, X: weigh.compare(X(), "y", ["evidence"], cv=2).choice,
    "split": lambda _, X: [part.n_rows for part in map(read, weigh.split(X(), "y"))],
    "drift": lambda model, X: weigh.drift_series(model, {"1": X(), "2": X()}, reference=X()),
    "score": lambda model, X: model.score(X(), "y"),
}


@pytest.mark.parametrize("kind", ["stream", "reader"])
@pytest.mark.parametrize("task", READING)
def test_what_can_be_read_once_is_like_its_table(task, kind):
    table = pa.table({"a": ["x", "y", "z"] * 30, "b": np.arange(90.0) % 7, "y": [0, 1, 1] * 30})
    model = EvidenceNB().fit(table, "y")
    expected, found = (
        str(READING[task](model, X)) for X in (lambda: table, lambda: OFFERED[kind](table))
    )
    assert found == expected


@pytest.mark.parametrize("kind", ["stream", "reader"])
@pytest.mark.parametrize("method", ["predict", "predict_interval"])
def test_an_exposure_is_a_column_of_what_can_be_read_once(kind, method):
    table = pa.table(
        {"a": ["x", "y", "z"] * 30, "days": 1 + np.arange(90.0) % 7, "y": [0, 1, 2] * 30}
    )
    model = weigh.EducatedRegressor(family="poisson").fit(table, "y", exposure="days")
    expected, found = (
        getattr(model, method)(X, exposure="days") for X in (table, OFFERED[kind](table))
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["stream", "reader"])
def test_what_was_read_already_is_refused_as_such(kind):
    table = pa.table({"a": ["x", "y", "z"] * 30, "y": [0, 1, 1] * 30})
    model = EvidenceNB().fit(table, "y")
    none = OFFERED[kind](table.slice(0, 0))
    for use in (model.predict, lambda X: weigh.score_table(model, X, "scores.csv")):
        with pytest.raises(ValueError, match="a reader is read once, so open it again"):
            use(none)
        none = OFFERED[kind](table.slice(0, 0))


class Broken:
    """A table whose Arrow stream is not one."""

    def __init__(self, offer):
        self.offer = offer

    def __arrow_c_stream__(self, requested_schema=None):
        return self.offer()


NO_TABLES = {
    "None": (None, r"X is None; pass a dataframe, .*a list of dicts"),
    "number": (3, r"X has the type int; pass a dataframe"),
    "generator": (({"a": "x"} for _ in "ab"), r"X has the type generator; pass list\(X\)"),
    "no stream": (Broken(lambda: 3), r"X has the type Broken, .*Arrow .*; pass a dataframe"),
    "raises": (Broken(lambda: 1 / 0), r"X has the type Broken, .*division by zero"),
}


@pytest.mark.parametrize("name", NO_TABLES)
def test_what_is_no_table_is_refused_with_what_is_one(name):
    X, told = NO_TABLES[name]
    with pytest.raises(ValueError, match=told):
        EvidenceNB().fit(X, "y")


def test_memory_that_runs_out_is_not_told_as_a_faulty_table():
    def fail():
        raise MemoryError

    with pytest.raises(MemoryError):
        EvidenceNB().fit(Broken(fail), "y")


@pytest.mark.parametrize("path", ["train.csv", Path("train.csv")], ids=["text", "path"])
@pytest.mark.parametrize("task", ["fit", "predict", "evaluate", "edit"])
def test_a_path_in_place_of_a_table_names_the_function_that_reads_files(path, task):
    table = pa.table({"a": ["x", "y", "z"] * 30, "y": [0, 1, 1] * 30})
    model = EvidenceNB().fit(table, "y")
    use = {
        "fit": lambda: EvidenceNB().fit(path, "y"),
        "predict": lambda: model.predict(path),
        "evaluate": lambda: weigh.evaluate(model, path, "y"),
        "edit": lambda: weigh.edit(model, path, "y"),
    }[task]
    with pytest.raises(ValueError, match=r"weigh\.read_file\('train\.csv'\)"):
        use()
    assert callable(weigh.read_file)


# ---------------------------------------------------------------- rows that leave answers out


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([{"Agee": 30, "sex": "m"}], "'age'"),
        ([{"age": 30, "sex": "m"}, {"AGE": 30, "sex": "m"}], "row 1"),
        ([{"age": 30}, {"town": "a"}], "row 1"),
        ([{"town": "a"}], "row 0"),
    ],
)
def test_a_misspelt_key_is_refused_and_not_taken_for_an_answer_left_out(rows, named):
    table = [{"age": i % 60, "sex": "mf"[i % 2]} for i in range(120)]
    model = weigh.EvidenceNB(bins={"age": [30]}).fit(table, [int(i % 60 > 30) for i in range(120)])
    with pytest.raises(ValueError, match=named):
        model.predict_proba(rows)


def test_other_keys_are_left_aside_and_answers_may_be_left_out():
    table = [{"age": i % 60, "sex": "mf"[i % 2]} for i in range(120)]
    model = weigh.EvidenceNB(bins={"age": [30]}).fit(table, [int(i % 60 > 30) for i in range(120)])
    plain = model.predict_proba([{"age": 30}, {}])
    assert model.predict_proba([{"age": 30, "town": "a", "y": 1}, {}]).tolist() == plain.tolist()


def test_a_dict_of_columns_is_told_from_one_row():
    with pytest.raises(ValueError, match="dict of columns; pass a dataframe"):
        read({"a": [1, 2], "b": np.ones(2)})
    for row in ({"a": 1, "b": [1, 2]}, {}):
        with pytest.raises(ValueError, match=r"pass a list of rows: \[row\]"):
            read(row)


def test_a_list_of_texts_is_told_to_be_counted():
    with pytest.raises(ValueError, match="the first 'win a lunch'; count their words first"):
        read(["win a lunch", "hello"])


def test_an_open_file_is_no_generator_to_be_listed(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with (tmp_path / "t.csv").open() as file, pytest.raises(ValueError, match="pass a dataframe"):
        read(file)
