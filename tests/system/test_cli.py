"""The command line: data to stdout, words to stderr, Python's numbers, exit codes 0, 1 and 2."""

import csv
import gzip
import io
import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import weigh
from weigh import EvidenceNB
from weigh.cli import main
from weigh.datasets import titanic
from weigh.frames import read_csv, write_file

NASTY = ["class", 'say "x"', "a,b", "two\nlines", "😀", "<script>", "[bold]x[/bold]", "Größe"]
COUNTED = ("fit", "--learner", "evidence")  # whose numbers are counts
CASE = {"Class": "3rd", "Sex": "Female", "Age": "Child"}


def run(*words, code=0, data=None, columns=100):
    """Run a command; an exit code of 1 must be one that the command chose, not a crash."""
    result = CliRunner().invoke(
        main, [str(word) for word in words], input=data, env={"COLUMNS": str(columns)}
    )
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == code, result.output
    return result


def fails(*words, code=1, data=None):
    """Run a command that must fail: nothing on stdout, and one error on stderr, returned."""
    result = run(*words, code=code, data=data)
    assert result.stdout == ""
    assert "error:" in result.stderr.lower()
    assert "Traceback" not in result.stderr
    return result.stderr


def write_csv(path, rows, delimiter=","):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    path.write_text(text.getvalue(), "utf-8")
    return path


def write_table(table, path, delimiter=","):
    rows = zip(*[column.to_pylist() for column in table.columns], strict=True)
    return write_csv(path, [table.column_names, *rows], delimiter)


def strict(text):
    """Parse JSON and nothing more: no NaN, no Infinity."""

    def refuse(token):
        raise AssertionError(f"stdout holds the token {token}")

    return json.loads(text, parse_constant=refuse)


def strict_lines(text):
    return [strict(line) for line in text.splitlines()]


def read_rows(text, delimiter=","):
    return [*csv.DictReader(io.StringIO(text), delimiter=delimiter)]


@pytest.fixture
def people(tmp_path):
    """The Titanic as a CSV file."""
    return write_table(titanic(), tmp_path / "people.csv")


@pytest.fixture
def model(people, tmp_path):
    """A model of it, fitted on the command line."""
    run(*COUNTED, people, "--target", "Survived", "-o", tmp_path / "model.json")
    return tmp_path / "model.json"


@pytest.fixture(scope="module")
def python_model():
    """The same model fitted in Python."""
    return EvidenceNB().fit(titanic(), "Survived")


@pytest.fixture
def flowers(tmp_path):
    """Three classes, a number, a category and gaps."""
    kinds = ["rose", "tulip", "daisy"]
    rows = [
        [kinds[i % 3], "" if i % 7 == 0 else i % 3 + i / 100, "NA" if i % 5 else ""]
        for i in range(60)
    ]
    return write_csv(tmp_path / "flowers.csv", [["kind", "size", "colour"], *rows])


# ---------------------------------------------------------------- help


def test_the_commands_are_the_ones_that_were_promised():
    promised = {"demo", "fit", "show", "score", "explain", "merge", "evaluate", "compare"}
    promised |= {"export", "check"}
    assert promised <= {*main.commands}


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_has_help_with_an_example_that_names_it(name):
    text = run(name, "--help").stdout
    assert f"Example: weigh {name}" in " ".join(text.split())
    assert text == run(name, "-h").stdout
    assert name in run("--help").stdout


@pytest.mark.parametrize("name", sorted(main.commands))
def test_the_example_of_every_command_is_one_that_click_can_parse(name):
    command = main.commands[name]
    line = next(li for li in command.help.splitlines() if li.strip().startswith("Example:"))
    words = line.split("weigh ", 1)[1].split()
    assert words[0] == name
    with command.make_context(name, words[1:]) as context:
        assert context.command is command


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_has_its_place_in_the_docs(name):
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text("utf-8")
    _, place = page.split(f"\n## weigh {name}\n")
    assert f"weigh {name} " in place.split("\n## ")[0]


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_option_has_help(name):
    for parameter in main.commands[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.opts


def test_the_version_is_the_package_s():
    assert weigh.__version__ in run("--version").stdout


def test_help_loads_nothing_heavy():
    heavy = [
        "sklearn",
        "numba",
        "pyarrow",
        "pandas",
        "polars",
        "scipy",
        "matplotlib",
        "narwhals",
        "numpy",
        "rich",
    ]
    code = (
        "import sys\nfrom weigh.cli import main\nmain(['--help'], standalone_mode=False)\n"
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "weigh demo" in done.stdout
    assert done.stderr.strip() == "[]"


# ---------------------------------------------------------------- demo


def test_the_demo_prints_the_evidence_a_sheet_and_what_to_type_next():
    result = run("demo")
    fitted = weigh.EducatedNB(random_state=0).fit(titanic(), "Survived")  # as in the README
    for table in fitted.evidence_:
        assert table.name in result.stdout
        for label in table.labels:
            assert label in result.stdout
    sheet = fitted.balance_sheet(CASE)
    for item in sheet.items:
        assert str(item) in result.stdout
    assert f"{sheet.probability:.2f}" in result.stdout
    assert "hint: weigh fit" in result.stderr
    assert "hint" not in result.stdout


def test_the_demo_is_no_wider_than_the_terminal():
    assert max(map(len, run("demo", columns=80).stdout.splitlines())) <= 80


# ---------------------------------------------------------------- fit


def evidence_of(path):
    return json.loads(path.read_text("utf-8"))["evidence"]


def test_fit_writes_the_model_that_python_fits(model, python_model, tmp_path):
    weigh.save(python_model, tmp_path / "python.json")
    assert evidence_of(model) == evidence_of(tmp_path / "python.json")


def test_fit_learns_an_educated_model_unless_told_otherwise(people, tmp_path):
    run("fit", people, "--target", "Survived", "-o", tmp_path / "m.json")
    weigh.save(weigh.EducatedNB(random_state=0).fit(titanic(), "Survived"), tmp_path / "p.json")
    assert evidence_of(tmp_path / "m.json") == evidence_of(tmp_path / "p.json")


def test_fit_says_where_the_model_is_on_stderr_and_nothing_on_stdout(people, tmp_path):
    result = run("fit", people, "--target", "Survived", "-o", tmp_path / "m.json")
    assert result.stdout == ""
    assert "2,201 rows" in result.stderr
    assert f"hint: weigh show {tmp_path / 'm.json'}" in result.stderr


@pytest.mark.needs("sqlglot")
def test_the_commands_of_hints_take_names_with_spaces_as_they_are(people, tmp_path):
    card, model, sql = (tmp_path / name for name in ("my card.json", "my model.json", "a b.sql"))
    of = (people, "--target", "Survived")
    said = run("fit", *of, "--learner", "evidence", "-o", model).stderr
    said += run("scorecard", *of, "--adverse", "No", "-o", card).stderr
    said += run("export", model, "--to", "sql", "-o", sql).stderr
    said += run("recalibrate", model, *of, "-o", tmp_path / "a c.json").stderr
    hints = [shlex.split(line)[2:] for line in said.splitlines() if line.startswith("hint: weigh ")]
    assert ["show", str(model)] in hints
    assert ["show", str(card)] in hints
    assert ["check", str(sql), str(model)] in hints
    assert ["drift", str(tmp_path / "a c.json"), "NEXT.csv", "--target", "Survived"] in hints


def formats(table, folder):
    """The same table in every kind of file."""
    plain = write_table(table, folder / "table.csv")
    tabs = write_table(table, folder / "table.tsv", "\t")
    for path in (plain, tabs):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    for name in ("table.parquet", "table.pq"):
        parquet.write_table(table, folder / name)
    return ["table.csv", "table.tsv", "table.csv.gz", "table.tsv.gz", "table.parquet", "table.pq"]


def test_every_kind_of_file_gives_the_same_model_and_the_same_scores(tmp_path, python_model):
    models, scores = [], []
    for name in formats(titanic(), tmp_path):
        run(*COUNTED, tmp_path / name, "--target", "Survived", "-o", tmp_path / "m.json")
        models.append(evidence_of(tmp_path / "m.json"))
        scores.append(run("score", tmp_path / "m.json", tmp_path / name).stdout)
    assert len(models) == 6
    assert all(one == models[0] for one in models)
    assert all(one == scores[0] for one in scores)


@pytest.mark.parametrize("name", ["csv", "tsv", "csv.gz", "tsv.gz", "parquet"])
def test_standard_input_may_hold_any_kind_of_table(tmp_path, model, people, name):
    formats(titanic(), tmp_path)
    data = (tmp_path / f"table.{name}").read_bytes()
    run(*COUNTED, "-", "--target", "Survived", "-o", tmp_path / "m.json", data=data)
    assert evidence_of(tmp_path / "m.json") == evidence_of(model)
    assert run("score", model, "-", data=data).stdout == run("score", model, people).stdout


def test_the_options_of_fit_are_the_parameters_of_the_learner(flowers, tmp_path):
    run(
        *COUNTED, flowers, "--target", "kind", "-o", tmp_path / "m.json", "--smoothing", "1/n",
        "--bins", 4, "--missing", "skip",
    )  # fmt: skip
    found = weigh.load(tmp_path / "m.json").get_params()
    assert (found["smoothing"], found["bins"], found["missing"]) == ("1/n", 4, "skip")
    expected = EvidenceNB(smoothing="1/n", bins=4, missing="skip").fit(read_csv(flowers), "kind")
    weigh.save(expected, tmp_path / "python.json")
    assert evidence_of(tmp_path / "m.json") == evidence_of(tmp_path / "python.json")


def test_columns_can_be_dropped_and_rows_weighted(tmp_path):
    rows = [["a", "b", "n", "y"], ["x", "1", 2, "p"], ["x", "2", 0.5, "q"], ["z", "3", 1, "q"]]
    path = write_csv(tmp_path / "t.csv", rows)
    run("fit", path, "--target", "y", "--drop", "b", "--weight", "n", "-o", tmp_path / "m.json")
    evidence = weigh.load(tmp_path / "m.json").evidence_
    assert [table.name for table in evidence] == ["a"]
    assert evidence["a"].counts.tolist() == [[2.0, 0.5], [0.0, 1.0]]
    assert evidence.class_counts.tolist() == [2.0, 1.5]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_of_numbers_can_be_called_categorical(tmp_path, ending):
    table = pa.table({"code": [1, 2, 3, 4] * 3, "y": [0, 1, 0, 1] * 3})
    path = tmp_path / f"t.{ending}"
    write = parquet.write_table if ending == "parquet" else write_table
    write(table, path)
    run("fit", path, "--target", "y", "--categorical", "code", "-o", tmp_path / "m.json")
    assert weigh.load(tmp_path / "m.json").evidence_["code"].labels == ("1", "2", "3", "4")
    scores = read_rows(run("score", tmp_path / "m.json", path).stdout)
    assert [row["prediction"] for row in scores[:4]] == ["0", "1", "0", "1"]


def test_na_is_a_value_and_an_empty_field_is_missing(tmp_path):
    rows = [["v", "y"], ["NA", 0], ["", 1], ["nan", 1], ["null", 0], ["None", 1]]
    path = write_csv(tmp_path / "t.csv", rows)
    run("fit", path, "--target", "y", "-o", tmp_path / "m.json")
    labels = weigh.load(tmp_path / "m.json").evidence_["v"].labels
    assert labels == ("NA", "None", "nan", "null", "missing")
    items = strict(run("explain", tmp_path / "m.json", path, "--row", 1, "--json").stdout)["items"]
    assert items[0]["level"] == "missing"


# ---------------------------------------------------------------- show


def test_show_prints_every_level_and_json_holds_python_s_numbers(model, python_model):
    text = run("show", model).stdout
    frame = python_model.evidence_.to_frame().to_pylist()
    assert all(row["feature"] in text and row["level"] in text for row in frame)
    assert strict(run("show", model, "--json").stdout) == frame


def test_show_of_one_feature_prints_no_other(model, python_model):
    text = run("show", model, "--feature", "Sex").stdout
    assert "Female" in text
    assert "Crew" not in text
    rows = strict(run("show", model, "--feature", "Sex", "--json").stdout)
    assert [row["weight"] for row in rows] == python_model.evidence_["Sex"].weights.tolist()


def test_show_in_json_has_null_where_an_error_is_not_known(tmp_path):
    weigh.save(EvidenceNB(smoothing=0).fit([["a"], ["b"], ["b"]], [0, 1, 0]), tmp_path / "m.json")
    rows = strict(run("show", tmp_path / "m.json", "--json").stdout)
    assert [row["error"] is None for row in rows] == [True, False]


def test_show_fits_the_terminal(model):
    for columns in (40, 60, 100):
        lines = run("show", model, columns=columns).stdout.splitlines()
        assert max(map(len, lines)) <= columns


# ---------------------------------------------------------------- score


def test_scores_are_python_s_numbers(model, people, python_model):
    table = titanic()
    totals, probabilities = python_model.decision_function(table), python_model.predict_proba(table)
    for rows in (
        strict_lines(run("score", model, people, "--json").stdout),
        read_rows(run("score", model, people).stdout),
    ):
        assert [*rows[0]] == ["prediction", "log_odds", "probability_No", "probability_Yes"]
        assert [row["prediction"] for row in rows] == python_model.predict(table).tolist()
        assert [float(row["log_odds"]) for row in rows] == totals.tolist()
        for k, name in enumerate(["probability_No", "probability_Yes"]):
            assert [float(row[name]) for row in rows] == probabilities[:, k].tolist()


def test_scores_of_many_classes_are_python_s_numbers(flowers, tmp_path):
    run(*COUNTED, flowers, "--target", "kind", "-o", tmp_path / "m.json")
    table = read_csv(flowers)
    expected = EvidenceNB().fit(table, "kind")
    rows = strict_lines(run("score", tmp_path / "m.json", flowers, "--json").stdout)
    assert [row["prediction"] for row in rows] == expected.predict(table).tolist()
    for k, name in enumerate(["daisy", "rose", "tulip"]):
        found = [row[f"probability_{name}"] for row in rows]
        assert found == expected.predict_proba(table)[:, k].tolist()
        totals = [row[f"total_{name}"] for row in rows]
        assert totals == expected.decision_function(table)[:, k].tolist()


def test_columns_in_another_order_and_extra_ones_change_no_score(model, people, tmp_path):
    table = titanic()
    n = table.num_rows
    shuffled = pa.table(
        {
            "when": ["2020-01-01"] * n,
            "Age": table["Age"],
            "Survived": ["?"] * n,
            "Class": table["Class"],
            "extra, \n": [*range(n)],
            "Sex": table["Sex"],
        }
    )
    other = write_table(shuffled, tmp_path / "other.csv")
    assert run("score", model, other).stdout == run("score", model, people).stdout


@pytest.mark.parametrize("name", ["s.csv", "s.tsv", "s.parquet", "s.csv.gz"])
def test_scores_are_written_in_the_format_that_the_name_says(model, people, tmp_path, name):
    expected = strict_lines(run("score", model, people, "--json").stdout)
    result = run("score", model, people, "-o", tmp_path / name)
    assert result.stdout == ""
    assert "2,201" in result.stderr
    data = (tmp_path / name).read_bytes()
    if name.endswith(".parquet"):
        found = parquet.read_table(tmp_path / name).to_pylist()
    else:
        text = gzip.decompress(data) if name.endswith(".gz") else data
        found = read_rows(text.decode("utf-8"), "\t" if ".tsv" in name else ",")
    assert [float(row["log_odds"]) for row in found] == [row["log_odds"] for row in expected]


def test_json_scores_go_where_the_output_option_says(model, people, tmp_path):
    expected = run("score", model, people, "--json").stdout
    result = run("score", model, people, "--json", "-o", tmp_path / "scores.json")
    assert result.stdout == ""
    assert (tmp_path / "scores.json").read_text("utf-8") == expected


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.parquet", "rows.csv.gz"])
def test_a_table_without_rows_gives_the_header_of_its_scores(model, people, tmp_path, name):
    full, table = run("score", model, people, "--keep", "Sex").stdout, titanic().slice(0, 0)
    path = tmp_path / name
    write_file(table, str(path))
    assert run("score", model, path, "--keep", "Sex").stdout == full.splitlines(True)[0]
    assert run("score", model, path, "--json").stdout == ""
    told = run("explain", model, path, "--reasons", "1").stdout
    assert told.strip() == '"reason_1","weight_1"'
    assert "table is empty" in fails("evaluate", model, path, "--target", "Survived")


def test_a_list_without_rows_gives_the_header_of_its_scores(model, people, tmp_path):
    header = run("score", model, people).stdout.splitlines(True)[0]
    (tmp_path / "rows.json").write_text("[]")
    assert run("score", model, tmp_path / "rows.json").stdout == header
    kept = run("score", model, tmp_path / "rows.json", "--keep", "id", "--keep", "Sex").stdout
    assert kept == f'"id","Sex",{header}'
    told = run("explain", model, tmp_path / "rows.json", "--reasons", "1", "--keep", "id").stdout
    assert told.strip() == '"id","reason_1","weight_1"'
    (tmp_path / "rows.csv").write_text("Class,Sex,Age")  # no end of the line
    assert run("score", model, tmp_path / "rows.csv").stdout == header


def test_columns_can_be_kept_beside_the_scores(model, people, tmp_path):
    rows = read_rows(run("score", model, people, "--keep", "Sex", "--keep", "Survived").stdout)
    assert [row["Sex"] for row in rows] == titanic()["Sex"].to_pylist()
    assert [row["Survived"] for row in rows] == titanic()["Survived"].to_pylist()
    assert "'Nope'" in fails("score", model, people, "--keep", "Nope")


def test_a_kept_column_does_not_vanish_behind_a_score_of_the_same_name(model, tmp_path):
    table = titanic().slice(0, 2).append_column("prediction", [["mine", "yours"]])
    path = write_table(table, tmp_path / "t.csv")
    result = CliRunner().invoke(main, ["score", str(model), str(path), "--keep", "prediction"])
    assert "mine" in result.stdout or ("prediction" in result.stderr and result.exit_code == 1)


def test_a_kept_number_that_is_not_one_is_null_in_json(model, tmp_path):
    extra = pa.array([np.nan, np.inf, 1.0])
    parquet.write_table(titanic().slice(0, 3).append_column("x", extra), tmp_path / "t.parquet")
    text = run("score", model, tmp_path / "t.parquet", "--keep", "x", "--json").stdout
    assert [row["x"] for row in strict_lines(text)][0::2] == [None, 1.0]


def test_text_that_looks_like_numbers_is_read_as_in_training(tmp_path):
    train = write_csv(tmp_path / "a.csv", [["v", "y"], ["x", 0], ["007", 1], ["7", 0], ["x", 1]])
    score = write_csv(tmp_path / "b.csv", [["v"], ["007"], ["7"]])
    run("fit", train, "--target", "y", "-o", tmp_path / "m.json")
    totals = [row["log_odds"] for row in read_rows(run("score", tmp_path / "m.json", score).stdout)]
    assert float(totals[0]) > 0 > float(totals[1])


# ---------------------------------------------------------------- explain


def test_explain_prints_the_sheet_that_python_makes(model, people, python_model):
    table = titanic()
    for row in (0, 3, 2200):
        sheet = python_model.balance_sheet(table.slice(row, 1))
        assert (
            strict(run("explain", model, people, "--row", row, "--json").stdout) == sheet.to_dict()
        )
        text = run("explain", model, people, "--row", row).stdout
        assert all(str(item) in text for item in sheet.items)
        assert f"{sheet.probability:.2f}" in text


def test_explain_takes_a_class_and_its_rival(flowers, tmp_path):
    run(*COUNTED, flowers, "--target", "kind", "-o", tmp_path / "m.json")
    table = read_csv(flowers)
    expected = EvidenceNB().fit(table, "kind")
    words = ["explain", tmp_path / "m.json", flowers, "--row", 2, "--json"]
    sheet = expected.balance_sheet(table.slice(2, 1), pos_label="rose", against="tulip")
    found = strict(run(*words, "--pos-label", "rose", "--against", "tulip").stdout)
    assert found == sheet.to_dict()
    assert strict(run(*words).stdout) == expected.balance_sheet(table.slice(2, 1)).to_dict()
    assert "'violet'" in fails(*words, "--pos-label", "violet")


@pytest.mark.parametrize(("labels", "name"), [([0, 1], "0"), ([False, True], "false")])
def test_a_class_that_is_no_text_is_named_as_it_is_shown(tmp_path, labels, name):
    weigh.save(EvidenceNB().fit([{"a": "x"}, {"a": "z"}], labels), tmp_path / "m.json")
    path = write_csv(tmp_path / "t.csv", [["a"], ["x"]])
    text = run("explain", tmp_path / "m.json", path, "--pos-label", name, "--json").stdout
    assert strict(text)["pos_label"] is labels[0]


def test_explain_fits_the_terminal(model, people):
    for columns in (40, 60, 100):
        lines = run("explain", model, people, columns=columns).stdout.splitlines()
        assert max(map(len, lines)) <= columns


# ---------------------------------------------------------------- merge


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_merge_of_parts_is_the_model_of_the_whole(model, tmp_path, n):
    table, parts = titanic(), [tmp_path / f"{i}.json" for i in range(n)]
    for i, part in enumerate(parts):
        path = write_table(table.take([*range(i, table.num_rows, n)]), tmp_path / "part.csv")
        run(*COUNTED, path, "--target", "Survived", "-o", part)
    result = run("merge", *parts, "-o", tmp_path / "all.json")
    assert result.stdout == ""
    assert f"{n} model" in result.stderr
    assert evidence_of(tmp_path / "all.json") == evidence_of(model)


def test_models_that_do_not_fit_together_are_not_merged(tmp_path):
    for i, cut in enumerate([1.5, 2.5]):
        rows = [{"size": 1.0}, {"size": 2.0}, {"size": 3.0}]
        model = EvidenceNB(bins={"size": [cut]}).fit(rows, [0, 1, 1])
        weigh.save(model, tmp_path / f"{i}.json")
    words = ["merge", tmp_path / "0.json", tmp_path / "1.json", "-o", tmp_path / "all.json"]
    assert "'size'" in fails(*words)
    assert not (tmp_path / "all.json").exists()


# ---------------------------------------------------------------- evaluate


def test_evaluate_prints_the_page_that_python_makes(model, people, python_model):
    found = weigh.evaluate(python_model, titanic(), "Survived", by="Class", costs=(1, 3))
    found = replace(found, training_rows=1.0)  # the command knows the training file again
    words = ["evaluate", model, people, "--target", "Survived", "--by", "Class", "--cost", 1, 3]
    assert run(*words).stdout == f"{found.to_text(100)}\n"
    assert strict(run(*words, "--json").stdout) == strict(json.dumps(found.to_dict()))


@pytest.mark.parametrize("words", [("0.3,0.5",), ("0.5", "0.3")])
def test_evaluate_prints_the_decisions_at_each_cut_off(model, people, python_model, words):
    found = weigh.evaluate(python_model, titanic(), "Survived", by="Class", cut_off=[0.3, 0.5])
    found = replace(found, training_rows=1.0)
    asked = ["evaluate", model, people, "--target", "Survived", "--by", "Class"]
    asked += [part for word in words for part in ("--cut-off", word)]
    done = run(*asked).stdout
    assert done == f"{found.to_text(100)}\n"
    assert "At the cut-off 0.3, " in done
    told = strict(run(*asked, "--json").stdout)["validation"]["cut_offs"]
    assert [part["rates"]["threshold"] for part in told] == [0.3, 0.5]
    assert {*told[0]["ppv"]} == {"value", "low", "high"}


def test_a_cut_off_that_is_no_probability_of_a_class_says_what_to_give(
    model, people, flowers, tmp_path
):
    asked = ["evaluate", model, people, "--target", "Survived", "--cut-off"]
    told = fails(*asked, "30", code=2)
    assert "--cut-off 30 is no probability" in told
    assert "from 0 to 1, such as 0.3" in told
    for text in ("nan", "0.3,inf", "0.3;0.5"):
        assert f"{text!r} is no list of numbers" in fails(*asked, text, code=2)
    run("fit", flowers, "--target", "kind", "-o", tmp_path / "many.json")
    many = ["evaluate", tmp_path / "many.json", flowers, "--target", "kind", "--cut-off", "0.3"]
    assert "--cut-off needs one class against the rest" in fails(*many)
    assert "At the cut-off 0.3, " in run(*many, "--pos-label", "rose").stdout
    number = write_table(titanic().append_column("n", pa.array(range(2201))), tmp_path / "n.csv")
    run(
        "fit", number, "--target", "n", "--learner", "educated-regressor", "-o", tmp_path / "n.json"
    )
    asked = ["evaluate", tmp_path / "n.json", number, "--target", "n", "--cut-off", "30"]
    assert "which predicts numbers" in fails(*asked)


def test_evaluate_shows_training_rows_beside(model, people, python_model, tmp_path):
    few = write_table(titanic().slice(0, 1500), tmp_path / "few.csv")
    text = run("evaluate", model, people, "--target", "Survived", "--train", few, "--json").stdout
    train = (titanic().slice(0, 1500), "Survived")
    found = weigh.evaluate(python_model, titanic(), "Survived", train=train)
    found = replace(found, training_rows=1.0)  # the command knows the training file again
    assert strict(text) == strict(json.dumps(found.to_dict()))


def test_evaluate_takes_the_one_column_that_holds_the_classes(model, people, tmp_path):
    named = run("evaluate", model, people, "--target", "Survived")
    guessed = run("evaluate", model, people)
    assert guessed.stdout == named.stdout
    assert "taken as the target" not in named.stderr
    assert "'Survived' is taken as the target" in guessed.stderr
    table = titanic()
    twice = write_table(table.append_column("Also", table["Survived"]), tmp_path / "t.csv")
    assert "2 (Survived, Also)" in fails("evaluate", model, twice)
    none = write_table(table.drop_columns(["Survived"]), tmp_path / "n.csv")
    assert "none hold the classes No, Yes; name it with --target" in fails("evaluate", model, none)
    assert "'Nope'" in fails("evaluate", model, people, "--target", "Nope")
    assert "'Nope'" in fails("evaluate", model, people, "--by", "Nope")


def test_several_columns_of_groups_are_their_combinations(model, people, tmp_path):
    words = ["evaluate", model, people, "--target", "Survived", "--json"]
    for names in (["Sex"], ["Sex", "Sex"], ["Sex", "Age"], ["Age", "Class", "Sex"]):
        by = [word for name in names for word in ("--by", name)]
        found = strict(run(*words, *by).stdout)
        expected = weigh.evaluate(weigh.load(model), titanic(), "Survived", by=names)
        assert found["by"] == ", ".join(dict.fromkeys(names))
        assert [g["name"] for g in found["groups"]] == [g.name for g in expected.groups]
        run("report", *words[1:5], *by, "-o", tmp_path / "r.html")
        assert found["groups"][-1]["name"] in (tmp_path / "r.html").read_text()
    told = fails(*words, "--by", "Sex", "--by", "Clas")
    assert "--by names the column 'Clas'" in told


def test_evaluate_sets_a_class_against_the_rest(flowers, tmp_path):
    run("fit", flowers, "--target", "kind", "-o", tmp_path / "m.json")
    words = ["evaluate", tmp_path / "m.json", flowers, "--target", "kind"]
    assert "probabilities of 3 classes" in run(*words).stdout
    assert "probability of rose against the rest" in run(*words, "--pos-label", "rose").stdout
    assert "'violet'" in fails(*words, "--pos-label", "violet")
    assert "--pos-label" in fails(*words, "--cost", 1, 2)
    run(*words, "--cost", 1, 2, "--pos-label", "rose")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--pos-label", "Maybe"], "--pos-label 'Maybe'"),
        (["--target", "Class"], "--target 'Class' is"),
        (["--target", "Nope"], "--target names the column 'Nope'"),
        (["--by", "Nope"], "--by names the column 'Nope'"),
        (["--weight", "Nope"], "--weight names the column 'Nope'"),
        (["--weight", "Sex"], "--weight must be a list or array of numbers"),
        (["--cost", "0", "0"], "--cost must be"),
        (["--cost", "-1", "2"], "such as --cost 1 5; got (-1.0, 2.0)"),
    ],
)
def test_errors_speak_of_options_and_not_of_python(model, people, words, told):
    target = [] if "--target" in words else ["--target", "Survived"]
    text = fails("evaluate", model, people, *target, *words)
    assert told in text
    assert not re.search(r"pos_label|sample_weight|y_true|costs|\by\b", text)


def test_a_column_that_is_called_like_an_argument_keeps_its_name(model, people, tmp_path):
    table = titanic().rename_columns(["y", "by", "sample_weight", "pos_label"])
    path = write_table(table, tmp_path / "odd.csv")
    text = fails("compare", path, "--target", "Nope")
    assert "--target" in text
    assert "'Nope'" in text
    for name in ("'y'", "'by'", "'sample_weight'"):
        assert name in text


def test_evaluate_reads_classes_that_look_like_numbers_as_they_were(tmp_path):
    table = pa.table({"v": ["a", "b", "a", "c"] * 5, "y": ["01", "1", "01", "1"] * 5})
    weigh.save(EvidenceNB().fit(table, "y"), tmp_path / "m.json")
    path = write_table(table, tmp_path / "t.csv")
    found = strict(run("evaluate", tmp_path / "m.json", path, "--target", "y", "--json").stdout)
    assert found["classes"] == ["01", "1"]


def test_evaluate_weighs_rows_by_a_column(model, tmp_path):
    table = titanic().append_column("w", [np.arange(2201) % 3])
    path = write_table(table, tmp_path / "t.csv")
    words = ["evaluate", model, path, "--target", "Survived", "--weight", "w", "--json"]
    assert strict(run(*words).stdout)["validation"]["weight"] == (np.arange(2201) % 3).sum()


def test_evaluate_takes_a_regressor(tmp_path):
    path = write_csv(tmp_path / "t.csv", [["x", "y"], *[[i, i / 2] for i in range(40)]])
    words = ["--target", "y", "--learner", "boosted-regressor", "-o", tmp_path / "m.json"]
    run("fit", path, *words)
    words = ["evaluate", tmp_path / "m.json", path, "--target", "y", "--json"]
    assert strict(run(*words).stdout)["r2"] > 0.9
    without = run("evaluate", tmp_path / "m.json", path, "--json")
    assert strict(without.stdout)["r2"] > 0.9
    groups = strict(run(*words, "--by", "x").stdout)["groups"]
    assert sum(group["n_rows"] for group in groups) == 40
    write_csv(path, [["x", "z"], *[[i, i / 2] for i in range(40)]])
    assert "--target" in fails("evaluate", tmp_path / "m.json", path)


def test_pages_about_quality_fit_the_terminal(model, people):
    for columns in (40, 60, 80, 120):
        for words in (
            ["evaluate", model, people, "--by", "Class"],
            ["compare", people, "--target", "Survived", "--learner", "evidence", "--folds", 2],
        ):
            lines = run(*words, columns=columns).stdout.splitlines()
            assert max(map(len, lines)) <= columns


@pytest.mark.parametrize(
    ("more", "told", "share"),
    [((), "These are training rows", 1), (("--holdout", "0.2"), "About 80%", 0.8)],
)
def test_the_training_file_is_known_again_by_its_hash(people, tmp_path, more, told, share):
    """Rows that are mostly equal cannot be known again one by one."""
    model, page, other = tmp_path / "m.json", tmp_path / "r.html", tmp_path / "other.csv"
    run(*COUNTED, people, "--target", "Survived", "-o", model, *more)
    other.write_text(people.read_text("utf-8") + "3rd,Male,Adult,No\n", "utf-8")
    for rows, known in ((people, True), (other, False)):
        shown = run("evaluate", model, rows, "--target", "Survived").stdout
        said = run("report", model, rows, "--target", "Survived", "-o", page).stderr
        for text in (shown, said, page.read_text("utf-8")):
            assert (told in text) == known
    found = json.loads(run("evaluate", model, people, "--target", "Survived", "--json").stdout)
    assert found["training_rows"] == pytest.approx(share, abs=0.001)


def test_the_report_of_a_regression_says_on_its_page_that_its_file_is_the_training_file(tmp_path):
    model, page = tmp_path / "m.json", tmp_path / "r.html"
    rows = [["ab"[i % 2], i % 7 % 3] for i in range(300)]
    data = write_csv(tmp_path / "claims.csv", [["region", "claims"], *rows])
    fit = ["fit", data, "--target", "claims", "--learner", "educated-regressor"]
    run(*fit, "--set", "family=poisson", "-o", model)
    run("report", model, data, "--target", "claims", "-o", page)
    assert "These are training rows" in page.read_text("utf-8")


def test_a_report_names_training_rows_that_it_knows_again(tmp_path):
    model, page = tmp_path / "m.json", tmp_path / "r.html"
    rows = [[i / 7, ["no", "yes"][i % 3 > 0]] for i in range(200)]
    every = write_csv(tmp_path / "every.csv", [["x", "y"], *rows])
    some = write_csv(tmp_path / "some.csv", [["x", "y"], *rows[:100]])
    run(*COUNTED, every, "--target", "y", "-o", model)
    assert "These are training rows" in run("report", model, some, "-o", page).stderr


# ---------------------------------------------------------------- compare


def test_compare_prints_what_python_finds_and_what_to_type_next(people):
    words = ["compare", people, "--target", "Survived", "--folds", 3]
    words += ["--learner", "evidence", "--learner", "c44"]
    found = weigh.compare(titanic(), "Survived", ["evidence", "c44"], cv=3)
    result = run(*words)
    assert found.reason in " ".join(result.stdout.split())
    hint = f"hint: weigh fit {people} --target Survived --learner c44 -o model.json"
    assert hint in result.stderr
    assert "hint" not in result.stdout
    told, expected = strict(run(*words, "--json").stdout), strict(json.dumps(found.to_dict()))
    for one in (told, expected):
        for learner in one["learners"]:
            del learner["fit_seconds"], learner["predict_seconds"]
    assert told == expected


def test_compare_sets_parameters_of_one_learner_and_says_how_to_fit_with_them(people):
    words = ["compare", people, "--target", "Survived", "--folds", 2, "--learner", "evidence"]
    both = [
        *words,
        "--learner",
        "c44",
        "--set",
        "c44.smoothing=40",
        "--set",
        "evidence.smoothing=9",
    ]
    found = {one["name"]: one for one in strict(run(*both, "--json").stdout)["learners"]}
    learners = [weigh.EvidenceNB(smoothing=9), weigh.C44Classifier(smoothing=40)]
    expected = weigh.compare(titanic(), "Survived", learners, cv=2)
    for entry in expected.entries:
        told = found[entry.name]["measures"]["loss"]["value"]
        assert told == pytest.approx(entry.measures.loss.value, rel=1e-12)
    result = run(*words, "--set", "evidence.smoothing=1/n")
    assert "--learner evidence --set smoothing=1/n -o model.json" in result.stderr
    curve = [*words[:-1], "recalibrated"]
    assert "--learner evidence --recalibrate spline" in run(*curve).stderr
    assert "hint" not in run(*curve, "--set", "recalibrated.method=sigmoid").stderr
    for text in ("smoothing=9", "c44.smoothing=9", "evidence.smoothing"):
        assert "is not" in fails(*words, "--set", text, code=2)
    assert "EvidenceNB has no" in fails(*words, "--set", "evidence.nonsense=9", code=2)


def test_compare_reads_columns_as_fit_does(tmp_path):
    rows = [["id", "code", "w", "y"], *[[i, i % 4, 1 + i % 2, "pq"[i % 2]] for i in range(40)]]
    path = write_csv(tmp_path / "t.csv", rows)
    words = ["compare", path, "--target", "y", "--drop", "id", "--categorical", "code"]
    words += ["--weight", "w", "--learner", "evidence", "--folds", 2]
    (learner,) = strict(run(*words, "--json").stdout)["learners"]
    assert learner["measures"]["weight"] == 60
    assert learner["measures"]["misclassification"]["value"] == 0
    assert "'Nope'" in fails(*words, "--drop", "Nope")


def test_compare_of_rows_that_cannot_be_learnt_from_is_an_error(people, tmp_path):
    path = write_csv(tmp_path / "t.csv", [["a", "y"], [1, "x"], [2, "x"]])
    assert "['x'] only" in fails("compare", path, "--target", "y")
    assert "'Nope'" in fails("compare", people, "--target", "Nope")


# ---------------------------------------------------------------- names of every kind


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_names_and_values_of_every_kind_travel_from_fit_to_explain(tmp_path, ending):
    n = len(NASTY)
    columns = {name: [NASTY[(i + j) % n] for i in range(n)] for j, name in enumerate(NASTY)}
    table = pa.table(columns | {"target, 😀\n": ["<b>" if i % 2 else '"' for i in range(n)]})
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        parquet.write_table(table, path)
    else:
        write_table(table, path, "\t" if ending == "tsv" else ",")
    run("fit", path, "--target", "target, 😀\n", "-o", tmp_path / "m.json")
    shown = strict(run("show", tmp_path / "m.json", "--json").stdout)
    assert {row["feature"] for row in shown} == {*NASTY}
    assert {row["level"] for row in shown} == {*NASTY}
    sheet = strict(run("explain", tmp_path / "m.json", path, "--row", 1, "--json").stdout)
    found = {item["feature"]: item["level"] for item in sheet["items"]}
    assert found == {name: column[1] for name, column in columns.items()}
    assert sheet["pos_label"] == "<b>"
    rows = read_rows(run("score", tmp_path / "m.json", path, "--keep", "two\nlines").stdout)
    assert [row["two\nlines"] for row in rows] == columns["two\nlines"]
    run("show", tmp_path / "m.json")
    assert "[bold]x[/bold]" in run("explain", tmp_path / "m.json", path, "--row", 1).stdout


# ---------------------------------------------------------------- exit code 1: the data


def test_a_file_that_is_not_there_is_named(model, tmp_path):
    gone = tmp_path / "gone.csv"
    assert str(gone) in fails("fit", gone, "--target", "y", "-o", tmp_path / "m.json")
    assert str(gone) in fails("score", model, gone)
    assert str(gone) in fails("explain", model, gone)
    assert str(gone) in fails("evaluate", model, gone)
    assert str(gone) in fails("compare", gone, "--target", "y")
    assert str(gone) in fails("show", gone)
    assert str(gone) in fails("merge", model, gone, "-o", tmp_path / "m.json")


def test_an_output_folder_that_is_not_there_is_an_error(model, people, tmp_path):
    gone = tmp_path / "gone"
    assert "gone" in fails("fit", people, "--target", "Survived", "-o", gone / "m.json")
    assert "gone" in fails("score", model, people, "-o", gone / "s.csv")


def test_a_target_that_is_not_there_is_named_with_what_there_is(people, tmp_path):
    text = fails("fit", people, "--target", "Nope", "-o", tmp_path / "m.json")
    assert "'Nope'" in text
    assert "Survived" in text
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize("option", ["--drop", "--categorical", "--weight"])
def test_a_column_option_that_names_no_column_is_an_error(people, tmp_path, option):
    words = ["fit", people, "--target", "Survived", "-o", tmp_path / "m.json", option, "Nope"]
    assert "'Nope'" in fails(*words)


BAD_TABLES = {
    "one class": ("a,outcome\n1,x\n2,x\n", "outcome"),
    "a label that is missing": ("a,outcome\n1,x\n2,\n3,z\n", "outcome"),
    "fractions as labels": ("a,outcome\n1,0.5\n2,1.5\n", "outcome"),
    "dates": ("when,outcome\n2020-01-01,1\n2020-01-02,0\n", "'when'"),
    "a name twice": ("twice,twice,outcome\n1,2,x\n2,3,z\n", "'twice'"),
    "no rows": ("a,outcome\n", "table is empty"),
    "no features": ("outcome\n1\n0\n", "feature"),
    "no text": ("", "table.csv"),
    "ragged rows": ("a,outcome\n1,x\n2\n", "table.csv"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_table_to_learn_from_that_cannot_be_used_is_an_error_that_says_what(tmp_path, name):
    text, named = BAD_TABLES[name]
    path = tmp_path / "table.csv"
    path.write_text(text)
    assert named in fails("fit", path, "--target", "outcome", "-o", tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize("weights", ["1 -1", "1 inf", "a b", "0 0"])
def test_bad_weights_are_an_error_that_names_their_column(tmp_path, weights):
    one, other = weights.split()
    rows = [["v", "mass", "y"], ["a", one, 0], ["b", other, 1]]
    path = write_csv(tmp_path / "t.csv", rows)
    words = ["fit", path, "--target", "y", "--weight", "mass", "-o", tmp_path / "m.json"]
    assert "mass" in fails(*words)


def test_text_that_is_not_utf8_is_an_error_that_says_so(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("name,y\nGröße,1\nMaß,0\n".encode("latin-1"))
    text = fails("fit", path, "--target", "y", "-o", tmp_path / "m.json")
    assert "UTF-8" in text or "utf-8" in text


def test_files_that_are_not_what_their_names_say_are_errors_that_name_them(tmp_path):
    for name in ("t.parquet", "t.csv.gz", "t.csv"):
        (tmp_path / name).write_bytes(b"\x00\x01nonsense\nnonsense,,\n")
        words = ["fit", tmp_path / name, "--target", "y", "-o", tmp_path / "m.json"]
        assert name in fails(*words)


def test_a_column_that_lacks_or_has_another_type_is_named(model, tmp_path):
    path = write_csv(tmp_path / "t.csv", [["Class", "Sex"], ["1st", "Male"]])
    assert "'Age'" in fails("score", model, path)
    assert "'Age'" in fails("explain", model, path)
    parquet.write_table(
        pa.table({"Class": [1, 2], "Sex": ["Male"] * 2, "Age": ["Adult"] * 2}), tmp_path / "t.pq"
    )
    assert "'Class'" in fails("score", model, tmp_path / "t.pq")


def test_text_in_a_column_of_numbers_is_an_error_that_names_it(tmp_path):
    train = write_csv(tmp_path / "a.csv", [["size", "y"], *[[i, i > 5] for i in range(12)]])
    other = write_csv(tmp_path / "b.csv", [["size"], [1], ["NA"]])
    run("fit", train, "--target", "y", "-o", tmp_path / "m.json")
    text = fails("score", tmp_path / "m.json", other)
    assert "'size'" in text
    assert "'NA'" in text


@pytest.mark.parametrize("text", ["{}", "", "[1, 2]", "a,b\n1,2\n", '{"format": "weigh", "ver'])
def test_a_model_that_is_none_is_an_error_that_names_the_file(people, tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    bad = tmp_path / "bad.json"
    assert "bad.json is not a model" in fails("show", bad)
    assert "bad.json is not a model" in fails("score", bad, people)
    assert "bad.json is not a model" in fails("explain", bad, people)
    assert "bad.json is not a model" in fails("merge", bad, bad, "-o", tmp_path / "m.json")


def test_a_model_cut_short_is_an_error(model, people):
    model.write_bytes(model.read_bytes()[:-40])
    assert "model.json" in fails("score", model, people)


def test_a_feature_that_the_model_lacks_is_named_with_what_there_is(model):
    text = fails("show", model, "--feature", "Nope")
    assert "'Nope'" in text
    assert "'Sex'" in text


# ---------------------------------------------------------------- exit code 2: the words


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["fit"],
        ["fit", "people.csv"],
        ["fit", "people.csv", "--target", "Survived"],
        ["fit", "people.csv", "-o", "m.json"],
        ["fit", "people.csv", "--target", "Survived", "-o", "m.json", "--nonsense"],
        ["fit", "people.csv", "--target", "Survived", "-o", "m.json", "--learner", "nonsense"],
        ["fit", "people.csv", "--target", "Survived", "-o", "m.json", "--missing", "nonsense"],
        ["fit", "people.csv", "--target", "Survived", "-o", "m.json", "--bins", "nonsense"],
        ["fit", "people.csv", "--target", "Survived", "-o", "m.json", "--bins", "1"],
        ["fit", "people.csv", "--target", "Survived", "-o", "m.json", "--smoothing", "nonsense"],
        ["fit", "people.csv", "--target", "Survived", "-o", "m.json", "--smoothing", "-1"],
        ["show"],
        ["score", "model.json"],
        ["explain", "model.json", "people.csv", "--row", "nonsense"],
        ["explain", "model.json", "people.csv", "--row", "-1"],
        ["explain", "model.json", "people.csv", "--row", "2201"],
        ["merge", "-o", "m.json"],
        ["merge", "model.json"],
        ["evaluate", "model.json"],
        ["evaluate", "model.json", "people.csv", "--cost", "1"],
        ["evaluate", "model.json", "people.csv", "--cost", "1", "nonsense"],
        ["compare", "people.csv"],
        ["compare", "people.csv", "--target", "Survived", "--learner", "nonsense"],
        ["compare", "people.csv", "--target", "Survived", "--folds", "1"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2_and_names_what_is_wrong(model, people, monkeypatch, words):
    monkeypatch.chdir(people.parent)
    text = fails(*words, code=2)
    wrong = words[-2] if words[-2:-1] and words[-2].startswith("--") else words[-1]
    lacking = any(word in text for word in ("Missing", "missing", "--target"))
    assert lacking or wrong.lstrip("-") in text
    assert not (people.parent / "m.json").exists()


# ---------------------------------------------------------------- a real process


def weigh_module(*words, data=None):
    command = [sys.executable, "-m", "weigh", *map(str, words)]
    return subprocess.run(command, input=data, capture_output=True, check=False)


def test_a_pipe_works_as_a_module(model, people):
    scored = weigh_module("score", model, "-", data=people.read_bytes())
    assert (scored.returncode, scored.stderr) == (0, b"")
    assert scored.stdout.decode("utf-8") == run("score", model, people).stdout


def test_a_failure_as_a_module_is_one_line_on_stderr(tmp_path):
    failed = weigh_module("show", tmp_path / "nowhere.json")
    assert (failed.returncode, failed.stdout) == (1, b"")
    assert failed.stderr.startswith(b"error: ")
    assert failed.stderr.count(b"\n") == 1
    assert weigh_module("show").returncode == 2


def test_a_reader_that_leaves_early_gets_no_traceback(model, tmp_path):
    people = write_table(pa.concat_tables([titanic()] * 20), tmp_path / "many.csv")
    process = subprocess.Popen(
        [sys.executable, "-m", "weigh", "score", str(model), str(people)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline().startswith(b'"prediction"')
    process.stdout.close()
    words = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) in (0, 1)
    assert b"Traceback" not in words


def test_scores_of_one_class_against_the_rest_are_those_of_python(tmp_path):
    path, model = tmp_path / "people.csv", tmp_path / "model.json"
    people = weigh.datasets.titanic()
    write_file(people, str(path))
    run("fit", path, "--target", "Class", "--learner", "adjusted", "--set", "norm=1", "-o", model)
    scores = [json.loads(line) for line in run("score", model, path, "--json").stdout.splitlines()]
    expected = weigh.load(model).predict_proba(people)
    found = [[row[f"probability_{c}"] for c in ("1st", "2nd", "3rd", "Crew")] for row in scores]
    np.testing.assert_array_equal(found, expected)


def test_a_fit_notes_ids_stray_text_and_heavy_weights(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"id{i},{'?' if i == 7 else i},{1000},{'ab'[i % 2]}" for i in range(100)]
    path.write_text("\n".join(["id,number,weight,y", *rows]))
    said = run("fit", path, "--target", "y", "--weight", "weight", "-o", tmp_path / "m.json").stderr
    assert "'id' has 100 levels in 100 rows" in said
    assert "'number' is text, but 99 of its 100 levels are numbers (not '?')" in said
    assert "among numbers" not in said  # the warning says so
    assert "hint: --na '?' reads it as missing" in said
    assert "weights average 1,000" in said


@pytest.mark.parametrize("n", [15, 100])
@pytest.mark.parametrize("command", ["fit", "screen"])
def test_a_decimal_comma_among_decimal_points_is_noted_once_with_a_hint(tmp_path, command, n):
    path = tmp_path / "t.csv"
    numbers = ['"1,25"' if i == 7 else i + 0.5 for i in range(n)]
    rows = [f"{number},{'ab'[i % 2]}" for i, number in enumerate(numbers)]
    path.write_text("\n".join(["number,y", *rows]))
    more = ("-o", tmp_path / "m.json") if command == "fit" else ()
    said = run(command, path, "--target", "y", *more).stderr
    assert "hint: write 1,25 as 1.25: --decimal names one mark for the file" in said
    assert said.count("column 'number' is text") == 1


def test_an_option_and_set_for_the_same_thing_are_refused(tmp_path):
    data = tmp_path / "people.csv"
    run("demo", "--save", str(data))
    words = ["fit", str(data), "--target", "Survived", "-o", str(tmp_path / "m.json")]
    result = run(*words, "--cross", "Class", "Sex", "--set", "crosses=[[0, 1]]", code=2)
    assert result.exit_code == 2
    assert "--cross and --set crosses" in result.stderr
    run(*words, "--cross", "Class", "Sex")
    assert [part.name for part in weigh.load(tmp_path / "m.json").evidence_] == [
        "Class & Sex",
        "Age",
    ]
