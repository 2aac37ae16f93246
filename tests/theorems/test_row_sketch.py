"""A model knows its training rows again: hashes that no engine changes, sketches that add."""

import json
from dataclasses import replace
from hashlib import blake2b

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
from weigh.frames import read, read_file, write_file
from weigh.sketches import RowSketch, hash_rows
from weigh.sketches.rows import KEPT, _salted

VALUES = {
    "number": [1 / 3, -0.0, None, 3.0, 2.0**60 + 256],
    "whole": [1, 2, None, 4, -5],
    "text": ["a", None, "07", "Größe", "true"],
    "flag": [True, False, None, True, False],
}


def engines(tmp_path):
    """The same five rows in every kind of table, columns in another order in some."""
    table = pa.table(VALUES)
    write_file(table, str(tmp_path / "t.csv"))
    write_file(table.select([*reversed(table.column_names)]), str(tmp_path / "t.parquet"))
    yield table
    yield pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in VALUES.items()})
    yield pl.DataFrame(VALUES)
    yield [dict(zip(VALUES, row, strict=True)) for row in zip(*VALUES.values(), strict=True)]
    yield read_file(str(tmp_path / "t.csv"))
    yield read_file(str(tmp_path / "t.parquet"))
    yield weigh.scan(str(tmp_path / "t.parquet"))


def test_equal_rows_have_equal_hashes_in_every_engine(tmp_path):
    first, *others = [hash_rows(read(table)).tolist() for table in engines(tmp_path)]
    assert len({*first}) == 5
    assert others == [first] * 6
    first, *others = [RowSketch.of(read(table)) for table in engines(tmp_path)]
    assert max(first.hashes) < 1 << 48
    assert others == [first] * 6


def hash_literally(row):
    """The definition, with Python's integers."""
    whole = 2**64 - 1

    def mix(bits):
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & whole
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & whole
        return bits ^ (bits >> 31)

    def digest(text):
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")

    def hash_value(value):
        if isinstance(value, bool):
            return digest(str(value).lower())
        if isinstance(value, str) and value != "07":
            return digest(value)
        number = np.nan if value is None else float(value) + 0.0
        bits = int(np.float64(number).view(np.uint64))
        fraction = number == number and not number.is_integer()
        return mix((bits + 2**19) // 2**20 * 2**20 if fraction else bits)

    return mix(sum(mix(hash_value(row[name]) ^ digest(name)) for name in row) & whole)


def test_the_hash_of_a_row_is_the_sum_of_its_cells_mixed_once_more(tmp_path):
    rows = [dict(zip(VALUES, row, strict=True)) for row in zip(*VALUES.values(), strict=True)]
    assert hash_rows(read(pa.table(VALUES))).tolist() == [hash_literally(row) for row in rows]


@pytest.mark.parametrize("n", [3, 100, 40_000])
def test_small_integers_are_hashed_as_the_same_numbers_in_doubles(n):
    codes = np.random.default_rng(0).integers(-128, 128, (n, 3)).astype(np.int8)
    wide = hash_rows(read(codes.astype(np.float64)))
    for array in (codes, np.asfortranarray(codes), codes.astype(np.int32)):
        np.testing.assert_array_equal(hash_rows(read(array)), wide)


def test_fractions_whose_last_digits_were_misread_have_the_same_hash():
    """Rounding parts doubles that are k units apart with a probability of k / 2^20."""
    values = np.round(np.random.default_rng(0).lognormal(3, 2, (20_000, 4)), 6)
    misread = values + 4096 * np.spacing(values)
    same = hash_rows(read(values)) == hash_rows(read(misread))
    assert 0.97 < same.mean() < 1
    exact = hash_rows(read(values), rounded=False) == hash_rows(read(misread), rounded=False)
    assert not exact.any()
    whole = np.floor(1e9 * values)
    assert not (hash_rows(read(whole)) == hash_rows(read(whole + 1))).any()


def test_a_sketch_from_before_fractions_were_rounded_is_still_used(rows):
    table = read(rows.select(["x"]))
    new = RowSketch.of(table)
    old = replace(new, rounded=False)
    old = RowSketch.of(table, old).to_dict()
    assert "rounded" not in old
    read_again = RowSketch.from_dict(old)
    assert read_again.overlap(table) == pytest.approx(1, abs=0.01)
    assert read_again.join(table) == read_again
    model = weigh.EvidenceNB(bins=4).fit(rows[:200], "y")
    part = RowSketch.of(read(rows[:200].select(["x"])), replace(new, rounded=False))
    model.provenance_ = replace(model.provenance_, training_rows=part)
    added = model.provenance_.add(read(rows[200:].select(["x"])), None).training_rows
    assert added == read_again
    assert not new.adds_to(read_again)


def table_of(n, seed, kinds=10_000, columns=4):
    random = np.random.default_rng(seed)
    return pa.table({f"c{j}": random.integers(0, kinds, n) for j in range(columns)})


@given(st.integers(1, 3000), st.integers(1, 3000), st.sampled_from([2, 5, 10_000]))
def test_the_sketch_of_the_whole_is_the_merge_of_the_sketches_of_its_parts(n, m, kinds):
    parts = [table_of(n, 1, kinds), table_of(m, 2, kinds)]
    whole = RowSketch.of(read(pa.concat_tables(parts)))
    one, other = (RowSketch.of(read(part), whole) for part in parts)
    assert one.merge(other) == whole == other.merge(one)
    every = _salted(hash_rows(read(pa.concat_tables(parts))), whole.salt)
    hashes, counts = np.unique(every, return_counts=True)
    assert whole.hashes.tolist() == hashes[:KEPT].tolist()
    assert whole.counts.tolist() == counts[:KEPT].tolist()


def test_sketches_of_other_rows_share_no_hash_and_do_not_add():
    table = table_of(300, 0)
    one, other = RowSketch.of(read(table)), RowSketch.of(read(table.slice(1)))
    assert not np.isin(one.hashes, other.hashes).any()
    assert one == RowSketch.of(read(table.take([*reversed(range(300))])))
    with pytest.raises(ValueError, match="salt"):
        one.merge(other)


@pytest.mark.parametrize(("kinds", "columns"), [(2, 3), (4, 6), (10, 5), (1000, 8)])
def test_hold_out_rows_are_not_taken_for_training_rows(kinds, columns):
    for seed in range(30):
        table = table_of(2000, seed, kinds, columns)
        train, rest = weigh.split(table, random_state=seed)
        assert not RowSketch.of(read(train)).overlap(read(rest))


def test_a_few_rows_that_are_equal_by_chance_are_not_taken_for_training_rows():
    """Eight of these 300 draws had more matches than the normal distribution leaves to chance."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        train, rest = (read(pa.table({"a": rng.integers(50_000, size=n)})) for n in (500, 150))
        assert not RowSketch.of(train).overlap(rest)


def test_the_share_of_training_rows_is_estimated():
    for seed in range(20):
        train, rest = weigh.split(table_of(4000, seed), random_state=seed)
        mixed = pa.concat_tables([rest, train.slice(0, rest.num_rows)])
        sketch = RowSketch.of(read(train))
        assert sketch.overlap(read(mixed)) == pytest.approx(0.5, abs=0.15)
        assert sketch.overlap(read(train)) == pytest.approx(1, abs=1e-2)


def test_rows_that_are_all_alike_or_few_tell_nothing():
    sketch = RowSketch.of(read(table_of(500, 0, kinds=2, columns=2)))
    assert sketch.overlap(read(table_of(500, 1, kinds=2, columns=2))) is None
    assert sketch.overlap(read(table_of(3, 1))) is None
    people = weigh.datasets.titanic()
    model = weigh.EvidenceNB().fit(people, "Survived")
    assert weigh.evaluate(model, people, "Survived").training_rows is None


def test_a_sketch_is_small_and_comes_back_from_its_file():
    sketch = RowSketch.of(read(table_of(5000, 0)))
    text = json.dumps(sketch.to_dict())
    assert len(text) < 4200
    assert RowSketch.from_dict(json.loads(text)) == sketch
    plain = sketch.to_dict()
    odd = (
        {"hashes": "?"},
        {"hashes": "AAAA"},
        {"repeated": [[999, 1]]},
        {"salt": "x"},
        {"salt": 1},
    )
    for wrong in ({}, *(plain | one for one in odd), plain | {"salt": "00" * 9 + "ff" * 9}):
        with pytest.raises(ValueError, match="training_rows"):
            RowSketch.from_dict(wrong)


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    x = random.normal(size=400)
    return pa.table({"x": x, "y": np.where(x + random.normal(size=400) > 0, "yes", "no")})


def test_an_evaluation_knows_training_rows_again_after_saving(rows, tmp_path):
    train, rest = weigh.split(rows, "y")
    weigh.save(weigh.EvidenceNB().fit(train, "y"), tmp_path / "m.json")
    model = weigh.load(tmp_path / "m.json")
    again, fresh = weigh.evaluate(model, train, "y"), weigh.evaluate(model, rest, "y")
    assert again.training_rows == pytest.approx(1, abs=0.01)
    assert fresh.training_rows == 0
    assert len(again.findings) == 1 + len(fresh.findings)
    assert again.to_dict()["training_rows"] == again.training_rows
    page = weigh.report(model, train.to_pandas(), "y")
    assert again.findings[0].split(",")[0] in page


@pytest.mark.parametrize("learner", [weigh.C44Classifier(), weigh.BoostedNBRegressor()])
def test_learners_without_evidence_know_their_training_rows_again(rows, tmp_path, learner):
    train, rest = weigh.split(rows.set_column(1, "y", pa.array(np.arange(rows.num_rows) % 2)), "y")
    weigh.save(learner.fit(train, "y"), tmp_path / "m.json")
    model = weigh.load(tmp_path / "m.json")
    assert weigh.evaluate(model, train, "y").training_rows == pytest.approx(1, abs=0.01)
    assert weigh.evaluate(model, rest, "y").training_rows == 0


def test_the_hashes_can_be_left_out(rows, tmp_path):
    data, model = tmp_path / "t.csv", tmp_path / "m.json"
    write_file(rows, str(data))
    words = ["fit", str(data), "--target", "y", "--learner", "evidence", "-o", str(model)]
    for more, kept in (([], True), (["--no-training-rows"], False)):
        assert CliRunner().invoke(main, [*words, *more]).exit_code == 0
        assert (weigh.load(model).provenance_.training_rows is not None) is kept
        assert (weigh.evaluate(weigh.load(model), rows, "y").training_rows is not None) is kept


DERIVED = {
    "simplified": lambda model, rows: weigh.simplify(model, rows, "y", features=1),
    "edited": lambda model, rows: weigh.edit(model, rows, "y").drop("z", why="test").model,
    "recalibrated": lambda model, rows: weigh.RecalibratedClassifier(model, cv="prefit").fit(
        rows, "y"
    ),
    "moved": lambda model, rows: model.with_prior(0.2),
    "updated": lambda model, rows: weigh.update(model, rows.slice(0, 20), "y", half_life=100),
}


@pytest.mark.parametrize("derive", DERIVED.values(), ids=[*DERIVED])
def test_a_model_derived_from_another_knows_its_training_rows_again(rows, tmp_path, derive):
    z = np.random.default_rng(1).normal(size=rows.num_rows)
    train, rest = weigh.split(rows.append_column("z", pa.array(z)), "y")
    derived = derive(weigh.EvidenceNB(bins=4).fit(train, "y"), train)
    weigh.save(derived, tmp_path / "m.json")
    for model in (derived, weigh.load(tmp_path / "m.json")):
        assert weigh.evaluate(model, train, "y").training_rows == pytest.approx(1, abs=0.1)
        assert weigh.evaluate(model, rest, "y").training_rows == 0


REFITTED = {
    "refitted": lambda model, rows: (
        weigh.edit(model, rows, "y").scale("z", 0.5, why="test", refit=True).model
    ),
    "recalibrated": DERIVED["recalibrated"],
}


@pytest.mark.parametrize("derive", REFITTED.values(), ids=[*REFITTED])
def test_a_derived_model_knows_the_rows_again_that_it_was_fitted_to_last(rows, derive):
    z = np.random.default_rng(1).normal(size=rows.num_rows)
    train, rest = weigh.split(rows.append_column("z", pa.array(z)), "y")
    other, new = rest.slice(0, rest.num_rows // 2), rest.slice(rest.num_rows // 2)
    parent = weigh.EducatedNB(pairs=0).fit(train, "y")
    model = derive(parent, other)
    assert weigh.evaluate(parent, other, "y").training_rows == 0
    for seen in (train, other):
        assert weigh.evaluate(model, seen, "y").training_rows == pytest.approx(1, abs=0.1)
    assert weigh.evaluate(model, new, "y").training_rows == 0
    again = derive(parent, train)
    assert weigh.evaluate(again, train, "y").training_rows == pytest.approx(1, abs=0.1)


def test_a_merged_model_keeps_hashes_only_of_one_salt(rows):
    one, other = (weigh.EvidenceNB(bins={"x": [0.0]}).fit(r, "y") for r in (rows[:200], rows[200:]))
    merged = one.merge(other)
    assert merged.provenance_.rows == 400
    assert merged.provenance_.training_rows is None
    sketch = RowSketch.of(read(rows[200:].select(["x"])), one.provenance_.training_rows)
    other.provenance_ = replace(other.provenance_, training_rows=sketch)
    assert weigh.evaluate(one.merge(other), rows, "y").training_rows == pytest.approx(1, abs=0.01)


def test_a_card_as_a_model_keeps_the_provenance_of_its_weights(rows):
    model = weigh.EvidenceNB(bins=4).fit(rows, "y")
    assert weigh.Scorecard(model).as_model().provenance_ == model.provenance_
