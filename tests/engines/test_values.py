"""One value is one level: decimals, negative zero, repeated values, whatever table holds them."""

import json
from contextlib import nullcontext
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.model_files import read_model

import weigh
from weigh import EvidenceNB
from weigh.frames import read

CENTS = [Decimal(i).scaleb(-2) for i in range(1, 100_001)]
NEAREST = np.array([float(amount) for amount in CENTS])
KINDS = [pa.decimal128(12, 2), pa.decimal128(18, 2), pa.decimal128(38, 2), pa.decimal256(50, 2)]


def numbers(table, name="a"):
    return read(table).column(name, False).values


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_amount_of_cents_is_the_double_that_python_has_for_it(kind):
    table = pa.table({"a": pa.array(CENTS, kind)})
    np.testing.assert_array_equal(numbers(table), NEAREST)
    chunked = pa.concat_tables([table.slice(0, 7), table.slice(7)])
    np.testing.assert_array_equal(numbers(chunked), NEAREST)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-(10**37), 10**37), min_size=1, max_size=9),
    st.integers(0, 37),
    st.sampled_from([1, 65]),
)
def test_a_decimal_is_its_nearest_double_in_tables_short_and_long(digits, scale, times):
    values = [Decimal(d).scaleb(-scale) for d in digits] + [None]
    table = pa.table({"a": pa.array(values * times, pa.decimal128(38, scale))})
    nearest = [np.nan if v is None else float(v) for v in values] * times
    np.testing.assert_array_equal(numbers(table), nearest)


def tables_of(amounts):
    """The same column in every library that has decimals."""
    rows = [{"price": amount} for amount in amounts]
    arrow = pa.table({"price": pa.array(amounts, pa.decimal128(9, 2))})
    return {
        "dicts": rows,
        "objects": np.array([[amount] for amount in amounts], dtype=object),
        "pandas": pd.DataFrame(rows),
        "pandas of Arrow": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.from_arrow(arrow),
        "arrow": arrow,
    }


def test_a_decimal_on_a_cut_point_is_in_the_same_bin_however_many_rows_there_are():
    X, y = [[x] for x in (0.1, 0.2, 0.35, 0.4, 0.5, 0.6) * 9], [0, 0, 0, 1, 1, 1] * 9
    model = EvidenceNB(bins={0: [Decimal("0.35")]}).fit(X, y)
    wanted = model.predict_proba([[0.35]])[0]
    assert wanted[0] > 0.8
    for n in (1, 64, 65, 200):
        for kind, table in tables_of([Decimal("0.35")] * n).items():
            with (
                pytest.warns(UserWarning, match="feature names")
                if kind != "objects"
                else nullcontext()
            ):
                found = model.predict_proba(table)
            np.testing.assert_array_equal(found, np.tile(wanted, (n, 1)), err_msg=f"{kind}, {n}")


@pytest.mark.parametrize("code", [0.35, Decimal("0.35")])
def test_a_special_code_that_is_a_fraction_is_found_among_decimals(code):
    amounts, y = [Decimal("0.35"), Decimal("1.25"), Decimal("2.50")] * 30, [0, 1, 1] * 30
    models = {
        kind: EvidenceNB(special_values={0: [code]}, bins={0: [2.0]}).fit(table, y)
        for kind, table in tables_of(amounts).items()
    }
    for kind, model in models.items():
        (table,) = model.evidence_
        place = table.labels.index("0.35")
        assert table.counts[place].sum() == 30, kind


def test_files_of_decimals_and_of_doubles_make_one_table(tmp_path):
    for i, kind in enumerate([pa.decimal128(12, 2), pa.decimal128(38, 4), pa.float64()]):
        values = NEAREST if kind == pa.float64() else CENTS
        column = pa.array(values, kind)
        parquet.write_table(pa.table({"a": column, "y": ["n", "y"] * 50_000}), tmp_path / f"{i}.pq")
    scan = weigh.scan([tmp_path / f"{i}.pq" for i in range(3)])
    np.testing.assert_array_equal(scan.column("a", False).values, np.tile(NEAREST, 3))
    labels = scan.column("y", True)
    assert [labels.values[code] for code in labels.codes[:4]] == ["n", "y", "n", "y"]
    with_types = EvidenceNB(bins={"a": [0.35]}).fit(scan, "y")
    assert with_types.evidence_["a"].counts.sum(axis=1).tolist() == [105, 299_895]


# ---------------------------------------------------------------- zero, and values that occur twice

ZEROS = [0.0, -0.0, 1.0]


def columns_of(values):
    return {
        "list": values,
        "array": np.array(values),
        "objects": np.array(values, dtype=object),
        "pandas": pd.Series(values),
        "pandas of Arrow": pd.Series(values, dtype="float64[pyarrow]"),
        "polars": pl.Series(values),
        "arrow": pa.array(values),
        "dictionary": pa.array(values).dictionary_encode(),
        "chunks": pa.chunked_array([values[:1], values[1:]]),
    }


@pytest.mark.parametrize("kind", columns_of(ZEROS))
def test_negative_zero_is_the_class_zero(kind):
    X, y = [["a"], ["b"], ["c"]] * 30, columns_of(ZEROS * 30)[kind]
    model = EvidenceNB().fit(X, y)
    assert model.classes_.tolist() == [0, 1]
    assert model.evidence_.class_counts.tolist() == [60, 30]


@pytest.mark.parametrize("n", [3, 90])
def test_negative_zero_is_the_level_zero(n):
    y = (["n", "n", "y"] * 30)[:n]
    for kind, column in columns_of((ZEROS * 30)[:n]).items():
        named = isinstance(column, pd.Series | pl.Series | pa.Array | pa.ChunkedArray)
        X = pa.table({"a": _arrow(column)}) if named else [[value] for value in column]
        model = EvidenceNB(categorical_features=[0]).fit(X, y)
        (table,) = model.evidence_
        assert table.levels == (0, 1), kind
        assert table.counts.sum(axis=1).tolist() == [2 * n / 3, n / 3], kind


def _arrow(column):
    if isinstance(column, pl.Series):
        return column.to_arrow()
    return pa.array(column) if isinstance(column, pd.Series) else column


def test_negative_zero_is_shown_as_zero():
    model = EvidenceNB(bins={"a": [-0.0]}).fit([{"a": -1.5}, {"a": 1.5}] * 9, [0, 1] * 9)
    assert model.evidence_["a"].labels == ("<= 0.0", "> 0.0")
    sheets = [model.balance_sheet({"a": zero}).to_dict() for zero in (0.0, -0.0)]
    assert sheets[0] == sheets[1]
    assert "-0" not in model.balance_sheet({"a": -0.0}).to_text()


def test_a_dictionary_that_holds_a_value_twice_holds_one_level():
    twice = pa.DictionaryArray.from_arrays([0, 1, 2, None] * 25, ["x", "y", "x"])
    plain = twice.cast(pa.string())
    y = pa.DictionaryArray.from_arrays([0, 1, 2, 1] * 25, ["no", "yes", "no"])
    models = [EvidenceNB().fit(pa.table({"a": a, "y": y}), "y") for a in (twice, plain)]
    assert models[0].classes_.tolist() == ["no", "yes"]
    assert models[0].evidence_["a"].labels == ("x", "y", "missing")
    for one, other in zip(*(m.evidence_ for m in models), strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)


@pytest.mark.parametrize("classes", [[0, 0], ["a", "a"], [0, -0.0], [False, False]])
def test_a_file_that_names_a_class_twice_is_refused(tmp_path, classes):
    model = EvidenceNB().fit([["a"], ["b"]] * 9, [0, 1] * 9)
    weigh.save(model, tmp_path / "m.json")
    data = read_model(tmp_path / "m.json")
    data["evidence"]["classes"] = classes
    (tmp_path / "m.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="classes"):
        weigh.load(tmp_path / "m.json")
