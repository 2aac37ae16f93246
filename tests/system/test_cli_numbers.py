"""The command line with a numeric target: what is decided, said, written and refused."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from pyarrow import csv
from tests.commands import run

import weigh
from weigh.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made, random = tmp_path_factory.mktemp("numbers"), np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.uniform(0, 3, 200), "kind": random.choice([*"ab"], 200)})
    frame["price"] = 10 * frame["x"] + 4 * (frame["kind"] == "b") + random.normal(size=200)
    frame["grade"] = frame["price"].round() // 10
    frame.to_csv(made / "homes.csv", index=False)
    done = run(
        "fit", made / "homes.csv", "--target", "price", "--drop", "grade", "-o", made / "m.json"
    )
    assert done.exit_code == 0, done.output
    assert "regression" in done.stderr
    assert "--task classification" in done.stderr
    return made


def test_a_number_of_many_values_is_a_regression(folder):
    assert isinstance(weigh.load(folder / "m.json"), weigh.EducatedRegressor)


def test_a_number_of_few_values_is_classes_unless_the_task_says_otherwise(folder):
    words = ["fit", folder / "homes.csv", "--target", "grade", "--drop", "price", "-o"]
    assert run(*words, folder / "g.json").exit_code == 0
    assert isinstance(weigh.load(folder / "g.json"), weigh.EducatedNB)
    assert run(*words, folder / "n.json", "--task", "regression").exit_code == 0
    assert isinstance(weigh.load(folder / "n.json"), weigh.EducatedRegressor)


def test_a_target_that_is_no_number_is_named_by_its_option(folder):
    file, words = folder / "odd.csv", ["--task", "regression", "-o", folder / "odd.json"]
    file.write_text("a,kind,y\n1,p,2\n2,q,\n3,p,1.5\n")
    said = run("fit", file, "--target", "kind", *words).stderr
    assert "error: --target 'kind' must " in said
    said = run("fit", file, "--target", "y", *words).stderr
    assert "--target 'y' is empty, NaN or infinite in 1 of 3 rows, first in row 1 (line 3" in said


def test_hold_out_rows_are_evaluated(folder):
    words = ["--target", "price", "--drop", "grade", "--holdout", "0.3", "-o", folder / "h.json"]
    done = run("fit", folder / "homes.csv", *words)
    assert done.exit_code == 0, done.output
    assert "RMSE" in done.stdout
    assert "at random" in done.stderr


def test_the_commands_take_a_model_of_numbers(folder):
    model, data = folder / "m.json", folder / "homes.csv"
    assert "price" in run("show", model).stdout
    scored = run("score", model, data).stdout.splitlines()
    assert scored[0].replace('"', "") == "estimate,low,high"
    assert len(scored) == 201
    assert "kind" in run("explain", model, data, "--row", 0).stdout
    told = json.loads(run("evaluate", model, data, "--target", "price", "--json").stdout)
    assert told["r2"] > 0.9


def test_groups_of_numbers_are_those_of_python(folder):
    data = folder / "homes.csv"
    done = run("evaluate", folder / "m.json", data, "--target", "price", "--by", "kind", "--json")
    homes = csv.read_csv(data)  # pandas 2 rounds some last digits
    found = weigh.evaluate(weigh.load(folder / "m.json"), homes, "price", by="kind")
    assert json.loads(done.stdout)["groups"] == found.to_dict()["groups"]
    words = ["report", folder / "m.json", data, "--target", "price", "--by", "kind"]
    assert run(*words, "-o", folder / "by.html").exit_code == 0
    assert "Groups of kind" in (folder / "by.html").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ("--learner", "adjusted", "--task", "regression"),
        ("--learner", "educated-regressor", "--task", "classification"),
        ("--task", "regression", "--smoothing", "2"),
        ("--task", "regression", "--recalibrate", "spline"),
    ],
)
def test_options_that_do_not_fit_are_refused_by_name(folder, words):
    done = run("fit", folder / "homes.csv", "--target", "price", *words, "-o", folder / "no.json")
    assert done.exit_code in (1, 2)
    assert any(word in done.stderr for word in words if word.startswith("--"))


@pytest.mark.parametrize("command", ["report", "calculator"])
def test_a_page_of_a_number_is_written(folder, command):
    words = [folder / "m.json", *([] if command == "calculator" else [folder / "homes.csv"])]
    done = run(command, *words, "-o", folder / "page.html")
    assert done.exit_code == 0
    assert "price" in (folder / "page.html").read_text()


def test_the_training_rows_of_a_number_have_not_drifted(folder):
    done = run("drift", folder / "m.json", folder / "homes.csv", "--fail-on", "notice")
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("what", ["numbers", "classes"])
def test_drift_says_how_to_check_a_target_that_is_in_the_file(folder, what, tmp_path):
    rows = pd.DataFrame({"a": [1.0, 2, 3, 4] * 20, "my y": [0.0, 1] * 40})
    kind = weigh.EvidenceNB if what == "classes" else weigh.EducatedRegressor
    weigh.save(kind().fit(rows, "my y"), tmp_path / "m.json")
    rows.to_csv(tmp_path / "new.csv", index=False)
    rows[["a"]].to_csv(tmp_path / "bare.csv", index=False)
    words = ["drift", tmp_path / "m.json", tmp_path / "new.csv"]
    said = "probabilities" if what == "classes" else "estimates"
    note = f"note: the rows have the target: --target 'my y' also checks the {said}"
    assert run(*words).stderr.splitlines() == [note]
    assert run(*words, "--target", "my y").stderr == ""
    assert run("drift", tmp_path / "m.json", tmp_path / "bare.csv").stderr == ""


@pytest.mark.parametrize(
    "words",
    [
        ("set-prior", "m.json", "0.3", "-o", "x.json"),
        ("levers", "m.json", "cars.csv", "--row", "0", "--may-change", "a"),
    ],
)
def test_a_command_that_needs_classes_refuses_a_model_of_numbers(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"a": float(i % 7), "y": float(i)} for i in range(60)]
    weigh.save(weigh.EducatedRegressor(pairs=0).fit(pd.DataFrame(rows), "y"), "m.json")
    (tmp_path / "cars.csv").write_text("a,y\n1,2\n")
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "EducatedRegressor" in done.stderr
    assert not (tmp_path / "x.json").exists()


def refused(*words):
    """What a command that is refused says, on one line."""
    done = run(*words)
    assert done.exit_code in (1, 2)
    return " ".join(done.stderr.replace("│", " ").split())


def write_rows(path, names, rows):
    pd.DataFrame([*rows], columns=names).to_csv(path, index=False)
    return path


def test_compare_names_the_regressor_that_an_exposure_needs(tmp_path):
    rows = [[i % 7, 0.5, i % 3] for i in range(60)]
    data = write_rows(tmp_path / "claims.csv", ["x", "years", "claims"], rows)
    said = refused("compare", data, "--target", "claims", "--exposure", "years")
    assert "'claims' is taken as classes; add --learner educated-regressor" in said


def test_a_parameter_of_another_learner_names_its_owner(tmp_path):
    data = write_rows(tmp_path / "t.csv", ["x", "y"], [[i, i % 2] for i in range(40)])
    words = ["fit", data, "--target", "y", "-o", tmp_path / "m.json", "--set"]
    said = refused(*words, "family=poisson")
    assert "EducatedNB has no parameter 'family', which belongs to --learner" in said
    assert "educated-regressor" in said
    assert "is not NAME=VALUE" in refused(*words, "family")


def test_an_empty_target_is_counted_and_its_row_named(tmp_path):
    rows = [[i, None if i in (7, 9) else i * 1.5] for i in range(60)]
    data = write_rows(tmp_path / "t.csv", ["x", "y"], rows)
    said = refused("fit", data, "--target", "y", "-o", tmp_path / "m.json")
    assert "empty, NaN or infinite in 2 of 60 rows, first in row 7" in said


def test_an_empty_target_is_named_by_its_row_of_the_file_also_with_a_holdout(tmp_path):
    rows = [[i % 7, None if i in (90, 95) else 2 * i] for i in range(100)]
    data = write_rows(tmp_path / "t.csv", ["x", "price"], rows)
    said = refused("fit", data, "--target", "price", "--holdout", 0.3, "-o", tmp_path / "m.json")
    assert "in 2 of 100 rows, first in row 90 (line 92 of" in said
