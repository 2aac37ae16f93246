"""weigh export, weigh check, and weigh explain --reasons: the files, and what a wrong one costs."""

import csv
import shutil

import pytest
from tests.commands import run
from tests.conftest import lacking

import weigh

PEOPLE = weigh.datasets.titanic()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("share")
    from weigh.frames import write_file

    write_file(PEOPLE, str(made / "people.csv"))
    model = weigh.EvidenceNB().fit(PEOPLE, "Survived")
    weigh.save(model, made / "model.json")
    weigh.save(weigh.Scorecard(model), made / "card.json")
    return made


NEEDS_SQL = pytest.mark.needs("sqlglot", "duckdb")
SQL = pytest.param("sql", "sql", marks=NEEDS_SQL)
ONNX = pytest.param("onnx", "onnx", marks=pytest.mark.needs("onnx", "onnxruntime"))


@pytest.mark.parametrize("source", ["model", "card"])
@pytest.mark.parametrize(("to", "ending"), [SQL, ONNX, ("python", "py"), ("json", "json")])
def test_an_export_passes_its_own_check(folder, source, to, ending):
    path, model = folder / f"{source}-out.{ending}", folder / f"{source}.json"
    assert run("export", model, "--to", to, "-o", path).exit_code == 0
    done = run("check", path, model)
    assert done.exit_code == 0, done.output
    assert "agrees with" in done.stdout


@pytest.mark.system
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("to", "program"), [("xlsx", "soffice"), ("pmml", "java")])
def test_an_export_passes_its_own_check_with_system_programs(folder, to, program, n_classes):
    if shutil.which(program) is None:
        lacking(f"the program {program} is not installed")
    path, model = folder / f"out{n_classes}.{to}", folder / "model.json"
    if n_classes == 3:
        model = folder / "three.json"
        rows = [{"a": "xyz"[i % 3], "b": float(i % 7)} for i in range(42)]
        weigh.save(
            weigh.EvidenceNB(max_levels=1).fit(rows, ["u", "v", "w", "u"] * 10 + ["w"] * 2), model
        )
    assert run("export", model, "--to", to, "-o", path).exit_code == 0
    done = run("check", path, model)
    assert done.exit_code == 0, done.output


@NEEDS_SQL
@pytest.mark.parametrize(
    "dialect", ["postgres", "sqlite", "spark", "bigquery", "snowflake", "tsql", "mysql"]
)
def test_every_dialect_can_be_checked_whatever_was_asked_for(folder, dialect):
    path, model = folder / f"{dialect}.sql", folder / "model.json"
    words = ["--to", "sql", "--dialect", dialect, "--table", "a.b", "--keep", "id"]
    assert run("export", model, *words, "--reasons", 2, "-o", path).exit_code == 0
    done = run("check", path, model)
    assert done.exit_code == 0, done.output
    assert ("translated from" in done.stdout) == (dialect != "sqlite")


@pytest.mark.parametrize(("to", "ending"), [SQL, ("python", "py")])
def test_a_weight_that_was_changed_is_found_out(folder, to, ending):
    path, model = folder / f"wrong.{ending}", folder / "model.json"
    run("export", model, "--to", to, "-o", path)
    text = path.read_text()
    weight = repr(float(weigh.load(model).evidence_["Sex"].weights[0]))
    assert weight in text
    path.write_text(text.replace(weight, "1.5"))
    done = run("check", path, model)
    assert done.exit_code == 1
    assert path.name in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(("to", "ending"), [("python", "py"), ONNX, ("json", "json")])
def test_classes_of_other_names_are_found_out(folder, tmp_path, to, ending):
    weigh.export(weigh.load(folder / "model.json"), to, path=tmp_path / f"out.{ending}")
    said = {"No": "alive", "Yes": "dead"}  # in the same order, so that all numbers are the same
    labels = [said[label] for label in PEOPLE["Survived"].to_pylist()]
    rows = PEOPLE.drop_columns("Survived")
    other = weigh.EvidenceNB().fit(rows, labels)
    weigh.save(other, tmp_path / "other.json")
    done = run("check", tmp_path / f"out.{ending}", tmp_path / "other.json")
    assert done.exit_code == 1
    assert "its classes are ['No', 'Yes'], not ['alive', 'dead']" in done.stderr


@NEEDS_SQL
@pytest.mark.parametrize(
    ("source", "old", "new", "says"),
    [
        ("model", r'"w1_0" AS "weight_Sex"', r'-99 AS "weight_Sex"', "'Sex' weighs"),
        ("model", "'Sex = Male'", "'Sex = Female'", "reason_1 is 'Sex = Female', not 'Sex = Male'"),
        ("card", r'"score" AS "score"', r'2 * "score" AS "score"', "the score is"),
    ],
)
def test_a_query_whose_other_columns_were_changed_is_found_out(folder, source, old, new, says):
    path, model = folder / "changed.sql", folder / f"{source}.json"
    run("export", model, "--to", "sql", "--contributions", "--reasons", 1, "-o", path)
    head, _, tail = path.read_text().rpartition(old)
    assert head
    path.write_text(head + new + tail)
    done = run("check", path, model)
    assert done.exit_code == 1
    assert says in done.stderr


@NEEDS_SQL
def test_a_query_of_a_model_with_other_classes_lacks_columns_and_says_so(folder, tmp_path):
    rows = PEOPLE.drop_columns("Survived")
    other = weigh.EvidenceNB().fit(rows, [c != "No" for c in PEOPLE["Survived"].to_pylist()])
    weigh.export(other, "sql", path=tmp_path / "other.sql")
    done = run("check", tmp_path / "other.sql", folder / "model.json")
    assert done.exit_code == 1
    assert "no output 'probability_No'" in done.stderr


def test_an_export_to_standard_output_is_what_python_returns(folder):
    model = weigh.load(folder / "model.json")
    assert run("export", folder / "model.json", "--to", "python").stdout == weigh.export(
        model, "python"
    )


def test_a_file_of_an_unknown_ending_cannot_be_checked(folder):
    assert "must end in one of .sql" in run("check", "a.txt", folder / "model.json").stderr


@NEEDS_SQL
def test_an_export_says_the_dialect_of_its_query(folder):
    words = ("export", folder / "model.json", "--to")
    told = run(*words, "sql", "-o", folder / "said.sql").stderr
    assert "exported to sql (duckdb; --dialect names another): " in told
    told = run(*words, "sql", "--dialect", "tsql", "-o", folder / "said.sql").stderr
    assert "exported to sql (tsql): " in told
    assert "exported to python: " in run(*words, "python", "-o", folder / "said.py").stderr


@NEEDS_SQL
def test_sql_that_does_not_say_its_dialect_needs_one(folder):
    path, model = folder / "bare.sql", folder / "model.json"
    run("export", model, "--to", "sql", "-o", path)
    path.write_text(path.read_text().split("\n", 1)[1])
    assert "--dialect" in run("check", path, model).stderr
    assert run("check", path, model, "--dialect", "duckdb").exit_code == 0


def test_reasons_of_every_row_are_columns(folder):
    data, model = folder / "people.csv", folder / "model.json"
    out = folder / "reasons.csv"
    words = ["explain", model, data, "--reasons", 2, "--keep", "Class", "-o", out]
    assert run(*words).exit_code == 0
    with out.open(newline="") as file:
        rows = [*csv.DictReader(file)]
    wanted = weigh.reasons(weigh.load(model), PEOPLE, n=2).to_pylist()
    assert len(rows) == len(wanted)
    assert [*rows[0]] == ["Class", "reason_1", "weight_1", "reason_2", "weight_2"]
    assert [row["reason_1"] for row in rows] == [row["reason_1"] for row in wanted]


def test_where_reasons_go_is_no_question_for_one_sheet(folder):
    done = run("explain", folder / "model.json", folder / "people.csv", "-o", folder / "x.csv")
    assert done.exit_code == 2
    assert "--reasons" in done.stderr
