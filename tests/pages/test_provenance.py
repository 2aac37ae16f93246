"""Where a model comes from: recorded by fits, kept in files, shown to people."""

import hashlib
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from pyarrow import parquet
from tests.model_files import read_model

import weigh
from weigh.cli import main
from weigh.evidence import Provenance, hash_files
from weigh.frames import write_file


@pytest.fixture
def people():
    return weigh.datasets.titanic()


def run(*words):
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_fit_from_a_file_records_the_file_its_hash_target_rows_and_versions(tmp_path, people):
    data, model = tmp_path / "people.csv", tmp_path / "model.json"
    write_file(people, str(data))
    run("fit", data, "--target", "Survived", "-o", model)
    known = weigh.load(model).provenance_
    assert known.source == "people.csv"
    assert known.sha256 == hashlib.sha256(data.read_bytes()).hexdigest()
    assert (known.target, known.rows, known.weigh) == ("Survived", 2201, weigh.__version__)
    about = run("show", model, "--about")
    assert "people.csv" in about
    assert known.sha256[:16] in about
    assert "smoothing" in about
    assert json.loads(run("show", model, "--about", "--json"))["Target"] == "Survived"
    page = tmp_path / "report.html"
    run("report", model, data, "--target", "Survived", "-o", page)
    assert known.sha256[:16] in page.read_text("utf-8")


def test_a_fit_in_python_records_what_it_knows(people, monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    model = weigh.EvidenceNB().fit(people, "Survived")
    assert model.provenance_.date == "1970-01-02"
    assert (model.provenance_.target, model.provenance_.rows) == ("Survived", 2201)
    assert model.provenance_.source is None
    assert model.with_prior(0.5).provenance_ == model.provenance_
    weigh.save(model, tmp_path / "model.json")
    assert weigh.load(tmp_path / "model.json").provenance_ == model.provenance_


def test_rows_of_other_fits_are_not_claimed(people):
    model = weigh.EvidenceNB().fit(people, "Survived")
    assert model.merge(model).provenance_.rows == 2 * 2201
    assert not hasattr(weigh.EvidenceNB().partial_fit(people, "Survived"), "provenance_")


def test_a_merged_model_names_each_source_with_its_rows(tmp_path, people):
    numbers = {"north": [*range(0, 2100, 3)]}
    numbers["south"] = sorted({*range(2201)} - {*numbers["north"]})
    for name, rows in numbers.items():
        data, model = tmp_path / f"{name}.csv", tmp_path / f"{name}.json"
        write_file(people.take(rows), str(data))
        run("fit", data, "--target", "Survived", "--learner", "evidence", "-o", model)
    run("merge", tmp_path / "north.json", tmp_path / "south.json", "-o", tmp_path / "all.json")
    known = weigh.load(tmp_path / "all.json").provenance_
    assert known.source == "north.csv (700 rows); south.csv (1,501 rows)"
    assert known.source in run("show", tmp_path / "all.json", "--about")
    words = ["--target", "Survived", "-o", tmp_path / "more.json"]
    run("update", tmp_path / "all.json", tmp_path / "north.csv", *words)
    more = weigh.load(tmp_path / "more.json").provenance_
    assert more.source == f"{known.source}; rows added later (700 rows)"
    assert more.rows == 2901


def test_a_file_without_provenance_loads_and_one_that_is_wrong_is_refused(tmp_path, people):
    path = tmp_path / "model.json"
    weigh.save(weigh.EvidenceNB().fit(people, "Survived"), path)
    data = read_model(path)
    later = data | {"provenance": data["provenance"] | {"of a later release": [1]}}
    path.write_text(json.dumps(later), "utf-8")
    assert weigh.load(path).provenance_.rows == 2201
    for wrong in ([], {"rows": "many"}, {"date": 5}):
        path.write_text(json.dumps(data | {"provenance": wrong}), "utf-8")
        with pytest.raises(ValueError, match="provenance"):
            weigh.load(path)
    del data["provenance"]
    path.write_text(json.dumps(data), "utf-8")
    assert not hasattr(weigh.load(path), "provenance_")


def test_the_hash_of_several_files_does_not_depend_on_their_order(tmp_path):
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        path.write_text(path.name)
    assert hash_files([*map(str, paths)]) == hash_files([*map(str, paths[::-1])])
    assert hash_files([str(paths[0])]) != hash_files([*map(str, paths)])
    assert Provenance().lines() == []


@pytest.fixture
def hashed(tmp_path, people):
    data, model = tmp_path / "people.csv", tmp_path / "model.json"
    write_file(people, str(data))
    run("fit", data, "--target", "Survived", "--holdout", "0.3", "-o", model)
    model = weigh.load(model)
    assert model.provenance_.sha256
    model.provenance_ = replace(model.provenance_, training_rows=None)
    return model


@pytest.mark.parametrize("claim", ["not json", '["/no/such/file"]', '["/dev/zero"]', "\xff"])
@pytest.mark.parametrize("name", ["weigh.files", "weigh.sha256"])
def test_metadata_of_a_table_opens_no_file(hashed, people, tmp_path, name, claim):
    path = tmp_path / "odd.parquet"
    parquet.write_table(people.replace_schema_metadata({name: claim.encode("latin-1")}), path)
    for table in (weigh.read_file(path), weigh.scan(path)):
        assert weigh.evaluate(hashed, table, "Survived").training_rows is None


@pytest.mark.needs("pandas")  # whose columns are attributes
def test_a_column_named_files_is_a_column(hashed, people):
    table = people.to_pandas().assign(files=1)
    assert weigh.evaluate(hashed, table, "Survived").training_rows is None


def test_the_files_of_the_fit_are_recognised_by_their_hash(hashed, tmp_path):
    data, model = tmp_path / "people.csv", tmp_path / "bare.json"
    weigh.save(hashed, model)
    told = json.loads(run("evaluate", model, data, "--target", "Survived", "--json"))
    share = hashed.provenance_.rows / 2201
    assert 0.6 < share < 0.8
    assert told["training_rows"] == pytest.approx(share)
    assert weigh.evaluate(hashed, weigh.scan(data), "Survived").training_rows == share
    with data.open("a") as file:
        file.write("1st,Adult,Male,No\n")
    told = json.loads(run("evaluate", model, data, "--target", "Survived", "--json"))
    assert told["training_rows"] is None
