"""Columns coded by the bits of their cells hold the values of their rows, whatever holds them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh.kernels  # noqa: F401 - loads numba, as short columns are else coded value by value
from weigh.frames import distinct, read
from weigh.frames.distinct import MOST, distinct_objects, distinct_views
from weigh.frames.values import canonical, key

short_and_long = st.text(st.sampled_from("aß€\0 "), max_size=6).map(lambda text: text * 3)
columns = st.lists(st.none() | short_and_long, min_size=65, max_size=120)


def spelt(values):
    """Equal texts that are other objects."""
    return [None if value is None else "".join([*value]) for value in values]


def tables_of(values):
    half = len(values) // 2
    arrow = pa.array(values, pa.string())
    parts = [pa.array(["unlike", *values[:half]], pa.string())[1:], arrow[half:]]
    objects = np.array(values, dtype=object)
    return {
        "polars": pl.DataFrame({"a": pl.Series(values, dtype=pl.String)}),
        "polars, two chunks": pl.concat(
            [
                pl.DataFrame({"a": pl.Series(part, dtype=pl.String)})
                for part in (values[:half], values[half:])
            ],
            rechunk=False,
        ),
        "string": pa.table({"a": arrow}),
        "large string": pa.table({"a": arrow.cast(pa.large_string())}),
        "chunks, sliced": pa.table({"a": pa.chunked_array(parts)}),
        "objects shared": pd.DataFrame({"a": objects}, dtype=object),
        "objects apart": pd.DataFrame({"a": np.array(spelt(values), dtype=object)}, dtype=object),
        "array": np.column_stack([objects, objects]),
    }


def values_of(table):
    column = table.column(table.names[0], True)
    return [key(column.values[code]) for code in column.codes.tolist()], column.values


@pytest.fixture(autouse=True, scope="module")
def short_columns_too():
    """Code short columns by their bits, too, which costs only time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("weigh.frames.distinct.LEAST", 0)
        yield


@given(columns)
@settings(max_examples=30, deadline=None)
def test_a_row_has_the_text_that_its_cell_holds(values):
    for name, table in tables_of(values).items():
        found, levels = values_of(read(table))
        assert found == [key(value) for value in values], name
        assert len({*map(key, levels)}) == len(levels), name


def test_parts_of_a_column_share_their_codes(monkeypatch):
    monkeypatch.setattr(distinct, "ROWS", 50)
    texts = [f"text of number {i * i % 41}" for i in range(400)]
    for name, table in tables_of(texts).items():
        found, levels = values_of(read(table))
        assert found == [(str, text) for text in texts], name
        assert len({*levels}) == len(levels), name


MIXED = [True, 1, 1.0, "1", None, float("nan"), np.float64(2.5), np.int64(7), "true", False, 0]


@pytest.mark.parametrize("wrap", [lambda a: pd.DataFrame({"a": a}), lambda a: a[:, None]])
def test_objects_of_several_types_keep_their_types(wrap):
    values = np.empty(200, dtype=object)
    values[:] = [MIXED[i % len(MIXED)] for i in range(200)]
    found, _ = values_of(read(wrap(values)))
    assert found == [key(canonical(value)) for value in values]


def test_whole_numbers_held_as_objects_stay_numbers():
    values = np.array([i % 5 for i in range(200)], dtype=object)
    column = read(values[:, None]).column("x0")
    assert column.values.tolist() == values.tolist()


@pytest.mark.parametrize("n", [MOST, MOST + 1])
def test_columns_with_too_many_distinct_cells_are_coded_by_their_values(n):
    texts = [f"text number {i}" for i in range(n)] * 2
    objects = np.array(texts, dtype=object)
    view = pa.chunked_array(pl.Series(texts)).chunk(0)
    fits = n <= MOST
    assert (distinct_objects(objects) is not None) == fits
    if fits:
        assert distinct_objects(objects).first.tolist() == [*range(n)]
    for table in (pl.DataFrame({"a": texts}), pd.DataFrame({"a": objects}, dtype=object)):
        assert values_of(read(table))[0] == [(str, text) for text in texts]
    assert distinct_views(view.slice(1, 1000)).first.tolist() == [*range(1000)]


@pytest.mark.parametrize("n", [500, 4096, 4097])
def test_short_columns_are_not_cast_and_allocate_no_table_of_bits(n, monkeypatch):
    monkeypatch.setattr("weigh.frames.distinct.LEAST", 4096)
    texts = [f"level {i % 7}" for i in range(n)]
    coded = []
    code = distinct._code
    monkeypatch.setattr(distinct, "_code", lambda *given: coded.append(given) or code(*given))
    for table in (pl.DataFrame({"a": texts}), pd.DataFrame({"a": texts}, dtype=object)):
        assert values_of(read(table))[0] == [(str, text) for text in texts]
    assert bool(coded) == (n > 4096)
