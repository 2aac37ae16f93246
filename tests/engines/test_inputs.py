"""No command and no function writes over what it reads, whatever name leads to it."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from pyarrow import csv, parquet

import weigh
from weigh.cli import main
from weigh.datasets import titanic


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a model, a card, a table, and a folder of two files."""
    monkeypatch.chdir(tmp_path)
    people = titanic()
    model = weigh.EvidenceNB().fit(people, "Survived")
    weigh.save(model, "m.json")
    weigh.save(model, "n.json")
    weigh.save(weigh.Scorecard(model), "card.json")
    csv.write_csv(people, "p.csv")
    for folder in ("d", "q"):
        os.mkdir(folder)
    for name in ("a", "b"):
        csv.write_csv(people, f"d/{name}.csv")
        parquet.write_table(people, f"q/{name}.parquet")
    os.symlink("d/a.csv", "link.csv")
    os.link("d/b.csv", "hard.csv")
    os.symlink("d", "folder")
    os.symlink("m.json", "linked.json")
    return tmp_path


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files}


CLASHES = [
    "fit p.csv --target Survived -o p.csv",
    "fit d --target Survived -o d/b.csv",
    "fit d --target Survived -o hard.csv",
    "fit d/*.csv --target Survived -o link.csv",
    "fit folder --target Survived -o d/a.csv",
    "fit q/?.parquet --target Survived -o q/b.parquet",
    "score m.json d/*.csv -o d/a.csv",
    "score m.json d -o link.csv",
    "score m.json p.csv -o ./d/../p.csv",
    "score m.json d/**/*.csv -o folder/b.csv",
    "score m.json p.csv --json -o m.json",
    "score linked.json p.csv --json -o m.json",
    "score card.json p.csv --json -o card.json",
    "explain m.json p.csv --reasons 2 -o p.csv",
    "explain m.json d --reasons 2 -o d/a.csv",
    "report m.json p.csv --target Survived -o m.json",
    "report m.json d --target Survived -o d/a.csv",
    "calculator m.json -o linked.json",
    "export m.json --to json -o m.json",
    "merge m.json n.json -o n.json",
]


@pytest.mark.parametrize("line", CLASHES)
def test_an_output_that_is_an_input_is_refused_and_nothing_changes(place, line):
    before = contents(place)
    result = CliRunner().invoke(main, line.split())
    assert result.exit_code == 1
    assert line.split()[-1] in result.stderr
    assert contents(place) == before


NOWHERE = [
    "report m.json absent.csv --target Survived -o nowhere/a",
    "calculator absent.json -o nowhere/a",
    "export absent.json --to json -o nowhere/a.json",
    "scorecard absent.csv --target Survived --adverse No -o nowhere/a",
    "screen absent.csv --target Survived -o nowhere/a.csv",
    "letter card.json absent.csv --cut-off 5 -o nowhere/a",
]


@pytest.mark.parametrize("line", NOWHERE)
def test_an_output_that_cannot_be_written_is_refused_before_anything_is_read(place, line):
    result = CliRunner().invoke(main, line.split())
    assert result.exit_code == 1
    assert "nowhere" in result.stderr


def test_standard_input_is_an_input_too(place):
    before = contents(place)
    weigh_command = [sys.executable, "-m", "weigh", "score", "m.json", "-", "-o", "p.csv"]
    with open("p.csv", "rb") as data:
        done = subprocess.run(weigh_command, stdin=data, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"p.csv" in done.stderr
    assert contents(place) == before


def test_a_new_file_beside_the_inputs_is_written(place):
    result = CliRunner().invoke(main, ["score", "m.json", "d/*.csv", "-o", "d/scores.parquet"])
    assert result.exit_code == 0, result.output
    assert parquet.read_table("d/scores.parquet").num_rows == 2 * 2201


@pytest.mark.parametrize("path", ["d/a.csv", "link.csv", "hard.csv"])
def test_scoring_a_scan_into_one_of_its_files_is_refused(place, path):
    before = contents(place)
    people = weigh.scan("d/*.csv").without({"Survived"})
    with pytest.raises(ValueError, match=path):
        weigh.score_table(weigh.load("m.json"), people, path)
    assert contents(place) == before
