"""Hold-out rows: every row on one side, shares by class, whole groups, the latest rows."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import weigh
from weigh.cli import main
from weigh.errors import ParameterError
from weigh.frames import read_file, write_file


def run(*words, code=0):
    done = CliRunner().invoke(main, [*map(str, words)], env={"COLUMNS": "100"})
    assert done.exit_code == code, done.output
    return done


def table_of(n, seed=0):
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "row": np.arange(n),
            "who": random.integers(0, max(2, n // 4), n).astype(str),
            "when": random.integers(0, 12, n),
            "y": random.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
        }
    )


@given(st.integers(30, 200), st.floats(0.2, 0.8), st.integers(0, 5))
def test_each_row_is_on_one_side_and_each_class_gives_its_share(n, share, seed):
    table = table_of(n, seed)
    train, rest = weigh.split(table, "y", holdout=share, random_state=seed)
    assert sorted([*train["row"].to_pylist(), *rest["row"].to_pylist()]) == [*range(n)]
    assert train["row"].to_pylist() == sorted(train["row"].to_pylist())
    for label in "abc":
        whole, held = (t["y"].to_pylist().count(label) for t in (table, rest))
        assert abs(held - share * whole) <= 0.5


@given(st.integers(20, 200), st.floats(0.2, 0.8), st.integers(0, 5))
def test_groups_stay_whole_and_come_as_near_to_the_share_as_their_order_allows(n, share, seed):
    table = table_of(n, seed)
    train, rest = weigh.split(table, holdout=share, by="who", random_state=seed)
    assert {*train["who"].to_pylist()}.isdisjoint(rest["who"].to_pylist())
    largest = max(map(table["who"].to_pylist().count, {*table["who"].to_pylist()}))
    assert 0 < rest.num_rows < n
    assert abs(rest.num_rows - share * n) <= largest


@given(st.integers(20, 200), st.floats(0.2, 0.8))
def test_the_latest_rows_are_held_out_and_no_time_is_on_both_sides(n, share):
    train, rest = weigh.split(table_of(n), holdout=share, time="when")
    assert max(train["when"].to_pylist()) < min(rest["when"].to_pylist())


def test_dates_of_any_library_split_at_the_same_day():
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=7 * i % 30) for i in range(40)]
    table = pa.table({"row": range(40), "day": days})
    expected = weigh.split(table, time="day")[1]["row"].to_pylist()
    frame = pd.DataFrame({"row": range(40), "day": pd.to_datetime(days)})
    for other in (frame, pl.from_arrow(table), pl.from_arrow(table).lazy()):
        assert [*weigh.split(other, time="day")[1]["row"]] == expected


def test_a_numeric_target_of_many_values_is_split_at_random():
    table = pa.table({"x": range(100), "amount": np.linspace(0, 1, 100)})
    assert weigh.split(table, "amount", holdout=0.25)[1].num_rows == 25


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"holdout": 1.5}, "holdout"),
        ({"holdout": 0.001}, "holdout"),
        ({"holdout": "a"}, "holdout"),
        ({"holdout": None}, "holdout"),
        ({"holdout": [0.3]}, "holdout"),
        ({"random_state": "x"}, "random_state"),
        ({"random_state": True}, "random_state"),
        ({"random_state": 0.5}, "random_state"),
        ({"random_state": -1}, "random_state"),
        ({"by": "nobody"}, "by"),
        ({"time": "y"}, "time"),
        ({"time": "gaps"}, "time"),
        ({"time": "nans"}, "time"),
        ({"time": "when", "by": "who"}, "by"),
    ],
)
def test_what_cannot_be_split_names_the_parameter(asked, named):
    table = table_of(30).append_column("gaps", pa.array([None, *range(29)]))
    table = table.append_column("nans", pa.array([np.nan, *range(29)]))
    with pytest.raises(ParameterError) as found:
        weigh.split(table, **asked)
    assert found.value.parameter == named


@pytest.mark.parametrize("how", [(), ("--holdout-by", "who"), ("--holdout-time", "when")])
def test_fit_holds_out_the_rows_that_split_writes(tmp_path, how):
    data, model = tmp_path / "t.csv", tmp_path / "m.json"
    write_file(table_of(300), str(data))
    words = ["--target", "y", "--holdout", 0.3, *how]
    done = run("fit", data, *words, "--drop", "row", "-o", model, "--learner", "evidence")
    run("split", data, *words, "-o", tmp_path / "train.csv", tmp_path / "rest.csv")
    train, rest = (read_file(str(tmp_path / f"{name}.csv")) for name in ("train", "rest"))
    used = ["row", *how[1:]]
    same = weigh.EvidenceNB().fit(train.drop_columns(used), "y")
    fitted = weigh.load(model)
    assert fitted.evidence_.to_frame().equals(same.evidence_.to_frame())
    assert done.stdout == "\n".join(weigh.evaluate(same, rest, "y").findings) + "\n"
    assert (fitted.provenance_.rows, fitted.provenance_.held_out) == (train.num_rows, rest.num_rows)


def test_split_keeps_every_cell_as_it_was_written(tmp_path):
    data = tmp_path / "t.csv"
    data.write_text("code,v\n" + "".join(f"00{i},1.{i}0\n" for i in range(9)), "utf-8")
    run("split", data, "-o", tmp_path / "a.csv", tmp_path / "b.csv")
    cells = [
        line.replace('"', "")
        for name in "ab"
        for line in (tmp_path / f"{name}.csv").read_text().splitlines()
    ]
    assert sorted({*cells}) == sorted(data.read_text().splitlines())


def test_an_output_that_cannot_be_written_is_refused_before_the_fit(tmp_path, monkeypatch):
    data = tmp_path / "t.csv"
    write_file(table_of(60), str(data))
    monkeypatch.setattr(weigh.EducatedNB, "fit", None)
    done = run("fit", data, "--target", "y", "-o", tmp_path / "gone" / "m.json", code=1)
    assert "gone" in done.stderr
    assert str(tmp_path) in run("fit", data, "--target", "y", "-o", tmp_path, code=1).stderr


@pytest.mark.parametrize("gaps", [0, 1, 4])
def test_numbers_with_missing_values_are_not_stratified(gaps):
    numbers = [None] * gaps + [float(k) for k in range(200 - gaps)]
    train, rest = weigh.split(pa.table({"price": numbers}), "price", holdout=0.3)
    assert (train.num_rows, rest.num_rows) == (140, 60)
