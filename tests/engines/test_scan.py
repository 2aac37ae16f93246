"""Tables read in batches give the models, and the scores, of tables in memory."""

from __future__ import annotations

import gzip
import os
import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import csv, parquet
from sklearn.base import clone

import weigh
from weigh import scoring, tally
from weigh.cli import main
from weigh.datasets import titanic
from weigh.engine import surveys
from weigh.frames import folders, large, read, sources
from weigh.sketches import Frequent, codes, column, numbers
from weigh.sketches.column import Survey
from weigh.tally import Rows

LEARNERS = {
    "evidence": weigh.EvidenceNB(),
    "quantiles": weigh.EvidenceNB(bins=5, missing="skip", special_values={"income": [-1.0]}),
    "fine": weigh.EvidenceNB(bins="fine"),
    "cuts": weigh.EvidenceNB(bins={"age": [30.0, 50.0]}),
    "crosses": weigh.EvidenceNB(crosses=[("town", "age")]),
    "joined": weigh.EvidenceNB(bins={"town": [["Ost", "Süd"], ["West"]]}),
    "rare": weigh.EvidenceNB(max_levels=2, crosses=[("town", "owner")]),
    "rare, adjusted": weigh.AdjustedNB(max_levels={"town": 2}, norm=None),
    "adjusted": weigh.AdjustedNB(random_state=0),
    "weighted": weigh.WeightedNB(random_state=0),
    "boosted": weigh.BoostedNB(n_rounds=5, random_state=0),
    "perplexed": weigh.PerplexedNB(random_state=0),
    "educated": weigh.EducatedNB(pairs=0, random_state=0),
    "pairs": weigh.EducatedNB(bins=8, pairs=2, missing="skip", random_state=0),
    "tree": weigh.C44Classifier(),
}


def make_people(n: int = 1500, seed: int = 0) -> pa.Table:
    r = np.random.default_rng(seed)
    y = r.random(n) < 0.4
    age = np.round(r.normal(45 + 8 * y, 12), 1)
    age[r.random(n) < 0.1] = np.nan
    towns = np.array(["Ost", "West", "Süd", "o'Nord"])[np.minimum(r.poisson(1 + y), 3)]
    return pa.table(
        {
            "age": pa.array(age, from_pandas=True),
            "town": pa.array(
                [None if x < 0.05 else t for x, t in zip(r.random(n), towns, strict=True)]
            ),
            "children": r.poisson(1 + 0.5 * y),
            "owner": r.random(n) < 0.3 + 0.3 * y,
            "income": np.where(r.random(n) < 0.1, -1.0, np.round(r.gamma(3, 1000, n))),
            "y": np.where(y, "bad", "good"),
        }
    )


PEOPLE = make_people()


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (large, folders, sources):
        monkeypatch.setattr(module, "ROWS", 200)


def write_parts(table: pa.Table, folder: Path, n: int) -> Path:
    folder.mkdir(exist_ok=True)
    edges = np.linspace(0, table.num_rows, n + 1).astype(int)
    for i, (a, b) in enumerate(pairwise(edges)):
        parquet.write_table(table.slice(a, b - a), folder / f"{i:03}.parquet", row_group_size=90)
    return folder


def open_all(folder: Path) -> dict[str, object]:
    parquet.write_table(PEOPLE, folder / "one.parquet")
    csv.write_csv(PEOPLE, folder / "people.csv")
    with gzip.open(folder / "people.csv.gz", "wb") as file:
        file.write((folder / "people.csv").read_bytes())
    many = write_parts(PEOPLE, folder / "many", 50)
    return {
        "pandas": PEOPLE.to_pandas(),
        "polars": pl.from_arrow(PEOPLE),
        "polars lazy": pl.from_arrow(PEOPLE).lazy(),
        "duckdb": duckdb.from_arrow(PEOPLE),
        "reader": weigh.scan(PEOPLE.to_reader(max_chunksize=170)),
        "one file": weigh.scan(folder / "one.parquet"),
        "many files": weigh.scan(many),
        "a glob": weigh.scan(f"{many}/*.parquet"),
        "a list": weigh.scan(sorted(map(str, many.iterdir()))),
        "csv": weigh.scan(folder / "people.csv"),
        "csv.gz": weigh.scan(folder / "people.csv.gz"),
    }


def assert_same_model(one: object, two: object, tol: float = 1e-12) -> None:
    if not hasattr(one, "evidence_"):
        assert_array_equal(one.predict_proba(PEOPLE), two.predict_proba(PEOPLE))
        return
    a, b = one.evidence_, two.evidence_
    assert [t.feature for t in a] == [t.feature for t in b]
    for mine, theirs in zip(a, b, strict=True):
        assert_array_equal(mine.counts, theirs.counts)
        assert_allclose(mine.by_class, theirs.by_class, rtol=tol, atol=tol)
    assert_allclose(a.prior, b.prior, rtol=tol)


READ_ALIKE = ("a glob", "a list", "csv.gz")
"""How files are found and opened no learner sees: one tells of all."""


@pytest.mark.parametrize("name", LEARNERS)
def test_every_source_gives_the_same_model(name: str, tmp_path: Path) -> None:
    learner = LEARNERS[name]
    whole = clone(learner).fit(PEOPLE, "y")
    tol = 1e-8 if "adjusted" in name else 1e-12  # its search goes another way where passes are dear
    for kind, source in open_all(tmp_path).items():
        if name == "evidence" or kind not in READ_ALIKE:
            assert_same_model(whole, clone(learner).fit(source, "y"), tol)


def test_files_in_any_order_give_the_same_counts(tmp_path: Path) -> None:
    files = sorted(map(str, write_parts(PEOPLE, tmp_path / "many", 50).iterdir()))
    whole = weigh.EvidenceNB().fit(PEOPLE, "y")
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(files).tolist()
        assert_same_model(whole, weigh.EvidenceNB().fit(weigh.scan(order), "y"))


def test_weights_by_name_are_read_with_the_rows(tmp_path: Path) -> None:
    weighted = PEOPLE.append_column("w", pa.array(np.arange(PEOPLE.num_rows) % 4))
    scan = weigh.scan(write_parts(weighted, tmp_path / "many", 7))
    whole = weigh.EvidenceNB().fit(weighted, "y", sample_weight="w")
    assert_same_model(whole, weigh.EvidenceNB().fit(scan, "y", sample_weight="w"))


def test_folders_named_by_hive_are_columns(tmp_path: Path) -> None:
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        parquet.write_table(PEOPLE, tmp_path / f"year={year}" / "a.parquet")
    model = weigh.EvidenceNB().fit(weigh.scan(tmp_path), "y")
    assert "year" in model.feature_names_in_


# ---------------------------------------------------------------- numbers of very many values


@given(
    st.lists(st.tuples(st.floats(width=32), st.integers(0, 2), st.integers(1, 3)), max_size=60),
    st.integers(1, 5),
)
@settings(max_examples=60, deadline=None)
def test_distinct_numbers_add_in_any_grouping(rows: list, n_parts: int) -> None:
    parts = [numbers.DistinctNumbers(3) for _ in range(n_parts)]
    want: dict = {}
    for i, (value, label, weight) in enumerate(rows):
        one = Rows(np.array([label]), np.array([float(weight)]), 3)
        parts[i % n_parts].add(np.array([value]), one)
        key = None if value != value else value + 0.0
        want.setdefault(key, np.zeros(3))[label] += weight
    for part in parts[1:]:
        parts[0].merge(part)
    assert_array_equal(parts[0].missing, want.pop(None, np.zeros(3)))
    assert_array_equal(parts[0].values, sorted(want))
    assert_array_equal(parts[0].counts, [want[v] for v in sorted(want)] or np.zeros((0, 3)))


def survey_in_parts(values: np.ndarray, labels: np.ndarray, edges: list[int]) -> Survey:
    found = Survey("x", 2)
    wanted = True
    while wanted:
        for a, b in pairwise(edges):
            found.add(numbers_of(values[a:b]), Rows(labels[a:b], None, 2))
        wanted = found.needs_pass()
    return found


def numbers_of(values: np.ndarray) -> object:
    from weigh.frames import Numbers

    return Numbers(values)


def test_many_numbers_make_the_same_cells_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "EXACT", 500)
    monkeypatch.setattr(numbers, "SAMPLED", 64)
    r = np.random.default_rng(0)
    values, labels = r.normal(size=4000), r.integers(0, 2, 4000)
    first = survey_in_parts(values, labels, [0, 1500, 4000]).summary()
    order = r.permutation(4000)
    second = survey_in_parts(values[order], labels[order], [0, 10, 700, 701, 4000]).summary()
    assert_array_equal(first.column.values, second.column.values)
    assert_array_equal(first.rows.weight, second.rows.weight)
    assert_array_equal(first.least, second.least)
    assert first.rows.weight.sum() == 4000


@pytest.mark.parametrize("bins", ["mdl", "fine", 10])
def test_cut_points_of_many_numbers_move_by_less_than_a_cell(
    bins: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbers, "EXACT", 2000)
    r = np.random.default_rng(1)
    y = r.integers(0, 2, 20000)
    x = r.normal(y, 1.0)
    table = pa.table({"x": x, "y": y})
    scan = weigh.scan(write_parts(table, tmp_path / "many", 4))
    near = weigh.EvidenceNB(bins=bins).fit(scan, "y")
    whole = weigh.EvidenceNB(bins=bins).fit(table, "y")
    places = [
        np.searchsorted(np.sort(x), model.evidence_["x"].feature.cuts) for model in (whole, near)
    ]
    if bins != "mdl":  # a cut that moves may spare or cost another below it
        ends = 2 * (bins == "fine")  # at either end, the last half may be a row too small
        assert abs(len(places[0]) - len(places[1])) <= ends
        apart = np.abs(places[0][:, None] - places[1])
        assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) <= 20
    again = weigh.EvidenceNB(bins={"x": near.evidence_["x"].feature.cuts}).fit(table, "y")
    assert_same_model(again, near)
    losses = [weigh.metrics.loss_bits(y, m.predict_proba(table)[:, 1]) for m in (whole, near)]
    assert abs(losses[0] - losses[1]) < 1e-3


def test_a_number_of_many_rows_has_a_level_of_its_own_among_very_many_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbers, "EXACT", 1000)
    monkeypatch.setattr(numbers, "SAMPLED", 100)
    monkeypatch.setattr(column, "HEAVY_FRACTION", 20)
    r = np.random.default_rng(2)
    x = np.where(r.random(10000) < 0.2, 0.0, r.normal(size=10000))
    table = pa.table({"x": x, "y": (r.random(10000) < 0.5).astype(int)})
    scan = weigh.scan(write_parts(table, tmp_path / "many", 3))
    feature = weigh.EvidenceNB(bins="fine").fit(scan, "y").evidence_["x"].feature
    alone = [level for level in feature.levels if level.lower < 0 <= level.upper]
    assert len(alone) == 1
    held = x[(x > alone[0].lower) & (x <= alone[0].upper)]
    assert np.unique(held).tolist() == [0.0]


def test_no_cell_of_several_numbers_is_heavy_however_many_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(numbers, "EXACT", 1000)
    monkeypatch.setattr(numbers, "SAMPLED", 16)
    monkeypatch.setattr(column, "HEAVY_FRACTION", 20)
    r = np.random.default_rng(6)
    once = r.random(20_000)
    values = np.concatenate([once, np.repeat(once[once < 0.3], 30)])
    labels = r.integers(0, 2, len(values))
    found = survey_in_parts(values, labels, [0, 30_000, len(values)])
    short = found.summary()
    most, first = np.unique(short.column.values, return_index=True)
    weight = np.add.reduceat(short.rows.weight, first)
    assert weight.sum() == len(values)
    assert weight[short.least < most].max() * 20 <= len(values)
    order = r.permutation(len(values))
    again = survey_in_parts(values[order], labels[order], [0, 7, 999, len(values)]).summary()
    assert_array_equal(short.column.values, again.column.values)
    assert_array_equal(short.rows.weight, again.rows.weight)


def test_cut_points_that_are_given_stay_as_they_are(tmp_path: Path) -> None:
    values = np.random.default_rng(4).normal(size=3000)
    table = pa.table({"x": values, "y": (values > 0).astype(int)})
    scan = weigh.scan(write_parts(table, tmp_path / "many", 3))
    learner = weigh.EvidenceNB(bins={"x": [-0.5, 0.25]})
    assert learner.fit(scan, "y").evidence_["x"].feature.cuts == (-0.5, 0.25)
    assert_same_model(clone(learner).fit(table, "y"), learner)


def test_special_codes_stay_apart_among_very_many_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbers, "EXACT", 500)
    r = np.random.default_rng(3)
    x = np.where(r.random(5000) < 0.1, -999.0, r.normal(size=5000) * 1000)
    table = pa.table({"x": x, "y": r.integers(0, 2, 5000)})
    scan = weigh.scan(write_parts(table, tmp_path / "many", 3))
    model = weigh.EvidenceNB(bins=4, special_values={"x": [-999]}).fit(scan, "y")
    counts = model.evidence_["x"]
    place = counts.feature.levels.index(-999)
    assert counts.counts[place].sum() == (x == -999).sum()
    assert counts.counts.sum() == 5000


def test_a_column_of_names_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from weigh.sketches import codes

    monkeypatch.setattr(codes, "MAX_VALUES", 100)
    table = pa.table({"id": [f"n{i}" for i in range(300)], "y": ["a", "b"] * 150})
    with pytest.raises(ValueError, match=r"column 'id' holds more than 100 distinct values"):
        weigh.EvidenceNB().fit(weigh.scan(table.to_reader()), "y")


# ---------------------------------------------------------------- categories of very many values


@given(
    st.lists(st.tuples(st.sampled_from([*"abcdefghijkl"]), st.integers(1, 5)), max_size=80),
    st.integers(1, 4),
    st.integers(1, 5),
)
@settings(max_examples=100, deadline=None)
def test_what_frequent_values_weigh_lies_within_what_was_lost(
    rows: list, n_parts: int, room: int
) -> None:
    parts = [Frequent(room) for _ in range(n_parts)]
    true: dict = {}
    for i, (value, weight) in enumerate(rows):
        parts[i % n_parts].add([(str, value)], [float(weight)])
        true[str, value] = true.get((str, value), 0) + weight
    for part in parts[1:]:
        parts[0].merge(part)
    held, lost = parts[0].held, parts[0].lost
    assert len(held) <= 2 * room
    assert lost * (room + 1) <= sum(true.values())
    for value, weight in true.items():
        assert held.get(value, 0) <= weight <= held.get(value, 0) + lost
    told = parts[0].n_certain()
    if told:
        ranked = sorted(true, key=lambda value: -true[value])
        heavy = [v for v in ranked if true[v] >= true[ranked[told - 1]]]
        assert {*ranked[:told]} <= {*parts[0].candidates(told)} or len(heavy) > told


def make_words(n: int = 6000, seed: int = 5) -> pa.Table:
    """Words of falling frequency, of which very many occur once."""
    r = np.random.default_rng(seed)
    words = np.array([f"w{k}" for k in r.zipf(1.4, n)], dtype=object)
    words[r.random(n) < 0.03] = None
    return pa.table({"word": words, "u": r.random(n), "y": r.integers(0, 2, n)})


@pytest.mark.parametrize("most", [1, 5, 12])
def test_the_most_frequent_of_more_values_than_there_is_room_for_are_those_of_the_table(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codes, "MIN_TRACKED", 100)
    table = make_words()
    folder = write_parts(table, tmp_path / "many", 50)
    whole = weigh.EvidenceNB(max_levels={"word": most}).fit(table, "y").evidence_
    for seed in range(3):
        files = np.random.default_rng(seed).permutation(sorted(map(str, folder.iterdir())))
        scan = weigh.scan(files.tolist())
        found = weigh.EvidenceNB(max_levels={"word": most}).fit(scan, "y").evidence_
        assert found.features == whole.features
        assert_array_equal(found["word"].counts, whole["word"].counts)


def test_frequent_values_found_apart_and_sent_are_those_found_in_one_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(codes, "MIN_TRACKED", 100)
    table = make_words()
    column, labels = read(table).column("word"), table["y"].to_numpy()
    here, found = Survey("word", 2, most=8), Survey("word", 2, most=8)
    rows = Rows(labels, None, 2)
    wanted = True
    while wanted:
        here.add(column, rows)
        parts = [pickle.loads(pickle.dumps(found)) for _ in range(7)]
        for i, part in enumerate(parts):
            own = np.arange(i, len(labels), 7)
            part.add(replace(column, codes=column.codes[own]), rows.take(own))
        for part in parts:
            found.merge(pickle.loads(pickle.dumps(part)))
        wanted = here.needs_pass()
        assert found.needs_pass() == wanted
    assert here.codes.rest is not None
    one, two = (
        tally.join_rare(
            tally.count_categories("word", short.column, short.rows, False), 8, short.rare
        )
        for short in (here.summary(), found.summary())
    )
    assert one.feature == two.feature
    assert_array_equal(one.counts, two.counts)
    assert one.counts.sum() == len(labels)


def test_values_that_are_all_alike_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "MIN_TRACKED", 100)
    names = pa.table({"id": [f"n{i}" for i in range(900)], "y": ["a", "b"] * 450})
    with pytest.raises(ValueError, match=r"'id' holds more than 200 .* it identifies rows"):
        weigh.EvidenceNB(max_levels=10).fit(weigh.scan(names.to_reader()), "y")
    table = make_words()
    with pytest.raises(ValueError, match=r"give max_levels=\{'word': (\d+)\} or fewer") as error:
        weigh.EvidenceNB(max_levels=90).fit(weigh.scan(table.to_reader()), "y")
    most = int(str(error.value).split("'word': ")[1].split("}")[0])
    there = weigh.EvidenceNB(max_levels=most).fit(weigh.scan(table.to_reader()), "y")
    here = weigh.EvidenceNB(max_levels=most).fit(table, "y")
    assert there.evidence_.features == here.evidence_.features


def test_columns_that_are_too_wide_together_are_named_and_max_levels_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(surveys, "MOST_TOGETHER", 500)
    monkeypatch.setattr(codes, "MIN_TRACKED", 100)
    words = make_words()
    table = words.append_column("few", words["y"].cast(pa.string()))
    table = table.append_column("more", pa.array([f"v{i % 200}" for i in range(len(words))]))
    says = r"more than 500 distinct categories together, most of them in 'word' .*, 'more' .*, 'few"
    with pytest.raises(ValueError, match=f"{says}.*max_levels=1000"):
        weigh.EvidenceNB().fit(weigh.scan(table.to_reader()), "y")
    model = weigh.EvidenceNB(max_levels={"word": 5}).fit(weigh.scan(table.to_reader()), "y")
    assert_same_model(weigh.EvidenceNB(max_levels={"word": 5}).fit(table, "y"), model)


# ---------------------------------------------------------------- passes


def test_all_crosses_are_counted_in_one_pass(tmp_path: Path) -> None:
    scan, reads = weigh.scan(write_parts(PEOPLE, tmp_path / "many", 3)), []

    def read_batches(names: tuple[str, ...]) -> object:
        reads.append(names)
        return scan.read_batches(names)

    crosses = [("town", "owner"), ("age", "income")]
    watched = replace(scan, read_batches=read_batches)
    model = weigh.EvidenceNB(crosses=crosses, bins=5).fit(watched, "y")
    assert [{*names} for names in reads if "y" not in names] == [
        {"age", "town", "children", "owner", "income"},
        {"town", "owner", "age", "income"},
    ]
    assert_same_model(weigh.EvidenceNB(crosses=crosses, bins=5).fit(PEOPLE, "y"), model)


# ---------------------------------------------------------------- files that lie


def test_a_file_without_a_column_is_named(tmp_path: Path) -> None:
    folder = write_parts(PEOPLE, tmp_path / "many", 3)
    parquet.write_table(PEOPLE.drop_columns(["town"]), folder / "zzz.parquet")
    with pytest.raises(ValueError, match=r"zzz.parquet .*'town'"):
        weigh.scan(folder)


def test_a_type_that_changes_between_files_is_named(tmp_path: Path) -> None:
    folder = write_parts(PEOPLE, tmp_path / "many", 3)
    other = PEOPLE.set_column(0, "age", pa.array(["old"] * PEOPLE.num_rows))
    parquet.write_table(other, folder / "zzz.parquet")
    with pytest.raises(ValueError, match=r"zzz.parquet: column 'age' holds string, but double in"):
        weigh.scan(folder)


def test_whole_numbers_in_one_file_and_fractions_in_another_are_numbers(tmp_path: Path) -> None:
    for name, values in (("a", [1, 2, 2]), ("b", [1.5, 2.0, None])):
        table = pa.table({"x": values, "y": ["u", "v", "u"]})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
        csv.write_csv(table, tmp_path / f"{name}.csv")
    for ending in ("parquet", "csv"):
        scan = weigh.scan(f"{tmp_path}/*.{ending}")
        model = weigh.EvidenceNB(bins={"x": [1.7]}).fit(scan, "y")
        assert model.evidence_["x"].counts.sum() == 6


def test_a_corrupt_file_is_named(tmp_path: Path) -> None:
    folder = write_parts(PEOPLE, tmp_path / "many", 3)
    bad = folder / "001.parquet"
    data = bytearray(bad.read_bytes())
    data[4:400] = b"\xff" * 396
    bad.write_bytes(bytes(data))
    with pytest.raises(ValueError, match=r"001.parquet cannot be read"):
        weigh.EvidenceNB().fit(weigh.scan(folder), "y")
    bad.write_bytes(b"no parquet at all")
    with pytest.raises(ValueError, match=r"001.parquet cannot be read"):
        weigh.scan(folder)


def test_empty_files_lose_nothing(tmp_path: Path) -> None:
    folder = write_parts(PEOPLE, tmp_path / "many", 3)
    (folder / "000_empty.parquet").write_bytes(b"")
    parquet.write_table(PEOPLE.slice(0, 0), folder / "004.parquet")
    assert_same_model(
        weigh.EvidenceNB().fit(PEOPLE, "y"), weigh.EvidenceNB().fit(weigh.scan(folder), "y")
    )


def test_a_file_that_vanishes_is_named(tmp_path: Path) -> None:
    scan = weigh.scan(write_parts(PEOPLE, tmp_path / "many", 3))
    os.unlink(tmp_path / "many" / "002.parquet")
    with pytest.raises(ValueError, match=r"002.parquet was deleted"):
        weigh.EvidenceNB().fit(scan, "y")


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    csv.write_csv(PEOPLE, tmp_path / "a.csv")
    scan = weigh.scan(tmp_path / "a.csv")
    with open(tmp_path / "a.csv", "a") as file:
        file.write("30,Ost,1,true,100,bad\n")
    with pytest.raises(ValueError, match=r"a.csv changed after the scan began"):
        weigh.EvidenceNB().fit(scan, "y")


def test_a_file_that_is_replaced_between_passes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(PEOPLE, path)
    scan = weigh.scan(path)
    parquet.write_table(PEOPLE.take(np.arange(PEOPLE.num_rows)[::-1]), path)
    with pytest.raises(ValueError, match=r"a.parquet changed"):
        weigh.EvidenceNB().fit(scan, "y")


def test_a_column_that_the_first_file_lacks_is_named(tmp_path: Path) -> None:
    folder = write_parts(PEOPLE, tmp_path / "many", 3)
    parquet.write_table(PEOPLE.drop_columns(["town"]), folder / "000.parquet")
    with pytest.raises(ValueError, match=r"000.parquet has no column 'town'"):
        weigh.scan(folder)


def test_text_files_without_rows_or_values_tell_no_types(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("x,y\n1.5,a\n2,b\n")
    (tmp_path / "2.csv").write_text("x,y\n")
    (tmp_path / "3.csv").write_text("x,y\n,a\n,b\n")
    scan = weigh.scan(f"{tmp_path}/*.csv")
    assert_array_equal(scan.column("x").values, [1.5, 2.0, np.nan, np.nan])


@pytest.mark.parametrize("data", ["x,y\n", "x,y", "\n \nx,y\n", " \n \n", "\ufeff\n"])
def test_a_scan_refuses_a_text_file_without_rows_and_skips_it_beside_others(
    data: str, tmp_path: Path
) -> None:
    path = tmp_path / "1.csv"
    path.write_text(data, encoding="utf-8")
    with pytest.raises(ValueError, match=r"1\.csv cannot be read .*(one line|empty)") as of_scan:
        weigh.scan(tmp_path)
    if "x" in data:
        assert weigh.read_file(path).to_pydict() == {"x": [], "y": []}
    else:
        with pytest.raises(ValueError, match="cannot be read") as of_file:
            weigh.read_file(path)
        assert str(of_scan.value) == str(of_file.value)
    (tmp_path / "2.csv").write_text("x,y\n1.5,a\n")
    assert weigh.scan(tmp_path).column("x").values.tolist() == [1.5]


def test_folders_of_text_named_by_hive_are_columns_below_what_was_given(tmp_path: Path) -> None:
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        (tmp_path / f"year={year}" / "a.csv").write_text("x,y\n1,a\n2,b\n")
    for source in (tmp_path, f"{tmp_path}/*/*.csv"):
        scan = weigh.scan(source)
        assert scan.column("year").values.tolist() == [2023, 2023, 2024, 2024]
    assert weigh.scan(tmp_path / "year=2023").names == ("x", "y")
    assert weigh.scan(tmp_path / "year=2023" / "a.csv").names == ("x", "y")


def test_some_columns_of_a_scan_are_those_that_were_named(tmp_path: Path) -> None:
    scan = weigh.scan(write_parts(PEOPLE, tmp_path / "many", 3))
    model = weigh.EvidenceNB().fit(PEOPLE.select(["town", "y"]), "y")
    page = weigh.evaluate(model, scan.select(("town", "y")), "y")
    assert str(page) == str(weigh.evaluate(model, PEOPLE.select(["town", "y"]), "y"))


def test_a_column_that_a_scan_lacks_is_named(tmp_path: Path) -> None:
    scan = weigh.scan(write_parts(PEOPLE, tmp_path / "many", 2))
    with pytest.raises(ValueError, match="the scan has no column 'incom'; it has 'age', 'town'"):
        scan.select(("incom",))


def test_a_model_of_an_array_reads_a_scan_by_position(tmp_path: Path) -> None:
    table = PEOPLE.select(["children", "income"])
    array, y = np.column_stack([table["children"], table["income"]]), PEOPLE["y"].to_pylist()
    model = weigh.EvidenceNB().fit(array, y)
    scan = weigh.scan(write_parts(table, tmp_path / "many", 3))
    with pytest.warns(UserWarning, match="feature names"):
        assert_array_equal(model.predict_proba(scan), model.predict_proba(array))


def test_reasons_that_a_batch_has_none_of_are_written(tmp_path: Path) -> None:
    model = weigh.EvidenceNB().fit(pa.table({"a": ["u", "v"] * 9, "y": [0, 1] * 9}), "y")
    rows = pa.table({"a": ["new"] * 300 + ["u"] * 300})
    scan = weigh.scan(write_parts(rows, tmp_path / "many", 2))
    weigh.score_table(model, scan, tmp_path / "scores.parquet", reasons=1)
    found = parquet.read_table(tmp_path / "scores.parquet")["reason_1"].to_pylist()
    assert found == [None] * 300 + ["a = u"] * 300


def test_text_among_numbers_late_in_a_file_is_named(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(folders, "SAMPLE", 1 << 10)
    lines = ["x,y"] + ["1,a", "2,b"] * 2000 + ["oops,a"]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"a.csv .*oops"):
        weigh.EvidenceNB().fit(weigh.scan(tmp_path / "a.csv"), "y")
    model = weigh.EvidenceNB().fit(weigh.scan(tmp_path / "a.csv", text=["x"]), "y")
    assert "oops" in model.evidence_["x"].feature.values


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nowhere/*.parquet", "no such file"),
        ([], "no files were given"),
        (3, "scan takes paths"),
        (pd.DataFrame({"a": [1]}), "scan"),
        ("postgresql://localhost/x", "name one with query="),
    ],
)
def test_what_is_no_table_is_refused(source: object, words: str) -> None:
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=words):
        weigh.scan(source)


def test_endings_of_a_folder_may_be_in_upper_case(tmp_path: Path) -> None:
    csv.write_csv(PEOPLE.slice(0, 700), tmp_path / "1.csv")
    csv.write_csv(PEOPLE.slice(700), tmp_path / "2.CSV")
    assert_same_model(
        weigh.EvidenceNB().fit(PEOPLE, "y"), weigh.EvidenceNB().fit(weigh.scan(tmp_path), "y")
    )
    parquet.write_table(PEOPLE, tmp_path / "3.PARQUET")
    assert weigh.scan(tmp_path / "3.PARQUET").n_rows == PEOPLE.num_rows
    with pytest.raises(ValueError, match="different formats"):
        weigh.scan(tmp_path)


@pytest.mark.parametrize("name", ["a.CSV.GZ", "a.csv"])
def test_a_packed_file_without_the_ending_gz_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"a,y\n1,2\n"))
    with pytest.raises(ValueError, match=rf"{name} cannot be read .* let its name end in \.gz"):
        weigh.scan(tmp_path)


def test_formats_are_not_mixed(tmp_path: Path) -> None:
    parquet.write_table(PEOPLE, tmp_path / "a.parquet")
    csv.write_csv(PEOPLE, tmp_path / "b.csv")
    with pytest.raises(ValueError, match="different formats"):
        weigh.scan(tmp_path)


# ---------------------------------------------------------------- scores


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".csv.gz", ".tsv", "/"])
def test_scores_are_written_as_they_come(ending: str, tmp_path: Path) -> None:
    model = weigh.EvidenceNB().fit(PEOPLE, "y")
    scan = weigh.scan(write_parts(PEOPLE, tmp_path / "many", 5))
    path = str(tmp_path / "scores") + ending
    assert weigh.score_table(model, scan, path, keep=["town"]) == PEOPLE.num_rows
    read = weigh.scan(path)
    found = np.concatenate([b.column("probability_good").values for b in read.batches()])
    assert_allclose(found, model.predict_proba(PEOPLE)[:, 1], rtol=1e-12)
    assert "town" in read.names
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.parametrize("most", [70, 230])
def test_no_file_of_a_folder_of_scores_has_more_rows_than_stated(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "PART", most)
    model = weigh.EvidenceNB().fit(PEOPLE, "y")
    for n, sizes in enumerate([[200, 5, 5, 5, 5, 1280], [1500]]):
        folder = tmp_path / str(n)
        folder.mkdir()
        for i, start in enumerate(np.cumsum([0, *sizes[:-1]])):
            parquet.write_table(PEOPLE.slice(start, sizes[i]), folder / f"{i}.parquet")
        assert weigh.score_table(model, weigh.scan(folder), tmp_path / f"to{n}") == PEOPLE.num_rows
        found = [parquet.read_table(path) for path in sorted((tmp_path / f"to{n}").iterdir())]
        assert max(part.num_rows for part in found) <= most
        total = np.concatenate([part["log_odds"].to_numpy() for part in found])
        assert_allclose(total, model.decision_function(PEOPLE), rtol=1e-12)


def test_scores_that_fail_half_way_leave_nothing(tmp_path: Path) -> None:
    model = weigh.EvidenceNB().fit(PEOPLE, "y")
    scan = weigh.scan(write_parts(PEOPLE, tmp_path / "many", 3))
    os.unlink(tmp_path / "many" / "002.parquet")
    (tmp_path / "old.csv").write_text("before")
    for name in ("old.csv", "scores.parquet", "folder/"):
        with pytest.raises(ValueError, match="deleted"):
            weigh.score_table(model, scan, f"{tmp_path}/{name}")
    assert sorted(os.listdir(tmp_path)) == ["many", "old.csv"]
    assert (tmp_path / "old.csv").read_text() == "before"


@pytest.mark.parametrize("kind", [pl.from_arrow, pa.Table.to_pandas, pa.table])
def test_scores_stand_beside_the_table_in_its_own_library(kind: object) -> None:
    table = kind(PEOPLE)
    model = weigh.EvidenceNB().fit(PEOPLE, "y")
    scored = weigh.score_table(model, table)
    assert type(scored) is type(table)
    assert_array_equal(scored["log_odds"], model.decision_function(PEOPLE))
    with pytest.raises(ValueError, match="the scores have a column of that name"):
        weigh.score_table(model, scored)


def test_predictions_of_a_scan_are_those_of_the_table(tmp_path: Path) -> None:
    scan = weigh.scan(write_parts(PEOPLE, tmp_path / "many", 5))
    for learner in LEARNERS.values():
        model = learner.fit(PEOPLE, "y")
        assert_array_equal(model.predict_proba(scan), model.predict_proba(PEOPLE))


def test_a_model_is_evaluated_on_a_scan(tmp_path: Path) -> None:
    scan = weigh.scan(write_parts(PEOPLE, tmp_path / "many", 5))
    model = weigh.EvidenceNB().fit(scan, "y")
    assert str(weigh.evaluate(model, scan, "y")) == str(weigh.evaluate(model, PEOPLE, "y"))


DISPLAYS = ["ROC", "PrecisionRecall", "Gains", "Lift", "NetBenefit", "Reliability"]


@pytest.mark.parametrize("name", DISPLAYS)
def test_a_display_takes_a_reader_that_can_be_read_once(name: str) -> None:
    model, display = weigh.EvidenceNB().fit(PEOPLE, "y"), getattr(weigh, f"{name}Display")
    of_reader = display.from_estimator(model, PEOPLE.to_reader(170), "y")
    of_table = display.from_estimator(model, PEOPLE, "y")
    for one, two in zip(of_reader.ax_.lines, of_table.ax_.lines, strict=True):
        assert_array_equal(one.get_xydata(), two.get_xydata())
    plt.close("all")


@pytest.mark.parametrize(
    ("learner", "target"),
    [
        (weigh.EvidenceNB(), "y"),
        (weigh.C44Classifier(), "y"),
        (weigh.RecalibratedClassifier(weigh.EvidenceNB()), "y"),
        (weigh.EducatedRegressor(), "income"),
        (weigh.BoostedNBRegressor(n_rounds=5, random_state=0), "income"),
    ],
)
def test_the_score_of_a_reader_that_can_be_read_once_is_that_of_its_table(
    learner: object, target: str
) -> None:
    model = learner.fit(PEOPLE, target)
    assert model.score(PEOPLE.to_reader(170), target) == model.score(PEOPLE, target)


def test_readers_of_hold_out_and_training_rows_are_evaluated_like_tables() -> None:
    model = weigh.EvidenceNB().fit(PEOPLE, "y")
    readers = PEOPLE.to_reader(170), (PEOPLE.to_reader(170), "y")
    of_readers = weigh.evaluate(model, readers[0], "y", train=readers[1], by="town")
    of_tables = weigh.evaluate(model, PEOPLE, "y", train=(PEOPLE, "y"), by="town")
    assert of_readers.to_dict() == of_tables.to_dict()


# ---------------------------------------------------------------- the command line


def test_the_command_line_fits_and_scores_a_glob(tmp_path: Path) -> None:
    write_parts(PEOPLE, tmp_path / "many", 5)
    model, glob = f"{tmp_path}/model.json", f"{tmp_path}/many/*.parquet"
    fit = ["fit", glob, "--target", "y", "-o", model, "--categorical", "children"]
    done = CliRunner().invoke(main, fit)
    assert "1,500 rows" in done.stderr
    assert weigh.load(model).evidence_["children"].feature.values
    score = ["score", model, glob, "-o", f"{tmp_path}/scores/", "--keep", "y"]
    assert CliRunner().invoke(main, score).exit_code == 0
    assert weigh.scan(tmp_path / "scores").n_rows == 1500


@pytest.mark.parametrize(
    "words",
    [
        "report {model} {glob} --target y -o {out}",
        "explain {model} {glob} --row 7 --json",
        "levers {model} {glob} --row 7 --may-change town --json",
        "evaluate {model} {glob} --target y --json",
        "drift {model} {glob} --target y --json",
    ],
)
def test_a_command_says_of_a_glob_what_it_says_of_the_file(words: str, tmp_path: Path) -> None:
    write_parts(PEOPLE, tmp_path / "many", 5)
    parquet.write_table(PEOPLE, tmp_path / "whole.parquet")
    names = {"model": f"{tmp_path}/model.json", "out": f"{tmp_path}/out.html"}
    weigh.save(weigh.EvidenceNB(bins=5).fit(PEOPLE, "y"), names["model"])
    told = []
    for rows in ("many/*.parquet", "whole.parquet"):
        given = words.format(glob=f"{tmp_path}/{rows}", **names).split()
        done = CliRunner().invoke(main, given, catch_exceptions=False)
        assert done.exit_code == 0, done.stderr
        told.append(done.stdout)
    assert told[0] == told[1]


def test_a_batch_is_as_large_as_stated() -> None:
    assert large.ROWS == 200  # as these tests set it: the smallest that shows seams
    assert titanic().num_rows > large.ROWS


@pytest.mark.system
def test_a_table_of_a_database_gives_the_same_model(postgres: object, tmp_path: Path) -> None:
    from adbc_driver_postgresql import dbapi

    address = f"postgresql://weigh@/postgres?host={postgres.folder}"
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest('the "people"', PEOPLE, mode="create")
        connection.commit()
    whole = weigh.EvidenceNB().fit(PEOPLE, "y")
    by_query = weigh.scan(address, query='SELECT * FROM "the ""people""" WHERE true')
    assert_same_model(whole, weigh.EvidenceNB().fit(by_query, "y"))
    assert_same_model(
        weigh.AdjustedNB(random_state=0).fit(PEOPLE, "y"),
        weigh.AdjustedNB(random_state=0).fit(by_query, "y"),
        1e-8,
    )
    numbers = weigh.scan(address, query="SELECT a, 'u' y FROM (VALUES (1.5), (NULL), (2)) t(a)")
    assert_array_equal(numbers.column("a").values, [1.5, np.nan, 2.0])
    with pytest.raises(ValueError, match=r"'nowhere' cannot be read from the database"):
        weigh.scan(address, query="nowhere")


def test_a_query_or_an_address_is_no_file_and_the_error_says_how_to_scan_it() -> None:
    with pytest.raises(FileNotFoundError, match=r"weigh\.scan\(duckdb\.sql\(query\)\)"):
        weigh.scan("SELECT * FROM people")
    with pytest.raises(FileNotFoundError, match="download it first"):
        weigh.scan("https://example.org/people.csv")
