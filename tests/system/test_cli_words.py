"""What the command line says to a newcomer: types, names, classes, files that are not there."""

import contextlib
import csv
import gzip
import io
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.system.test_cli import fails, run

import weigh
from weigh.cli import main
from weigh.datasets import titanic
from weigh.frames import write_file
from weigh.sketches import codes


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "people.csv"
    write_file(titanic(), str(path))
    return path


@pytest.fixture(scope="module")
def model(people):
    path = people.parent / "model.json"
    run("fit", people, "--target", "Survived", "-o", path)
    return path


# ---------------------------------------------------------------- types

CODES = pa.table(
    {
        "code": [1, 2, 1, None] * 3,
        "size": [0.5, 2.0, 2.0, 0.5] * 3,
        "new": [True, False, True, True] * 3,
        "y": ["a", "b", "a", "b"] * 3,
    }
)
CATEGORICAL = ["--categorical", "code", "--categorical", "size", "--categorical", "new"]


def write_both(folder):
    """The same table as CSV, as Parquet, and as a folder of Parquet files, which is scanned."""
    parquet.write_table(CODES, folder / "t.parquet")
    (folder / "parts").mkdir()
    for i in range(3):
        parquet.write_table(CODES.slice(4 * i, 4), folder / "parts" / f"{i}.parquet")
    lines = [["code", "size", "new", "y"]]
    for row in CODES.to_pylist():
        code, new = "" if row["code"] is None else row["code"], str(row["new"]).lower()
        lines.append([code, "2" if row["size"] == 2 else row["size"], new, row["y"]])
    (folder / "t.csv").write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")
    return [folder / name for name in ("t.csv", "t.parquet", "parts")]


def test_categories_are_the_same_levels_from_a_file_with_types_and_from_one_without(tmp_path):
    texts = []
    for path in write_both(tmp_path):
        run("fit", path, "--target", "y", *CATEGORICAL, "-o", tmp_path / "m.json")
        told = json.loads((tmp_path / "m.json").read_text())
        assert told.pop("provenance")["source"] == path.name
        told.pop("checksum")  # of the provenance too
        texts.append(told)
    assert texts[0] == texts[1] == texts[2]
    assert weigh.load(tmp_path / "m.json").evidence_["code"].levels == ("1", "2", None)


def test_a_file_is_scored_with_the_types_of_training_whatever_its_kind(tmp_path):
    paths = write_both(tmp_path)
    run("fit", paths[0], "--target", "y", *CATEGORICAL, "-o", tmp_path / "m.json")
    scores = [run("score", tmp_path / "m.json", path, "--keep", "code").stdout for path in paths]
    assert scores[0] == scores[1] == scores[2]


# ---------------------------------------------------------------- the class that weights favour


def test_fit_and_show_say_which_class_positive_weights_speak_for(people, model, tmp_path):
    told = "Positive weights favour Yes, negative ones No."
    said = run("fit", people, "--target", "Survived", "-o", tmp_path / "m.json").stderr
    assert told in said
    assert told in run("show", model).stderr
    assert weigh.load(model).evidence_["Sex"].weights[0] > 0  # of women, who survived


def test_fit_of_many_classes_says_that_each_has_weights(people, tmp_path):
    said = run("fit", people, "--target", "Class", "-o", tmp_path / "m.json").stderr
    assert "Each of the 4 classes has weights of its own" in said


# ---------------------------------------------------------------- scorecards


@pytest.fixture(scope="module")
def card(model):
    path = model.parent / "card.json"
    weigh.save(weigh.Scorecard(weigh.load(model), base_score=100, base_odds=1), path)
    return path


def test_a_scorecard_is_shown(card):
    loaded = weigh.load(card)
    assert run("show", card).stdout == loaded.to_text() + "\n"
    assert json.loads(run("show", card, "--json").stdout) == loaded.to_frame().to_pylist()
    assert "leave it out" in fails("show", card, "--feature", "Sex")


@pytest.mark.parametrize("scanned", [False, True])
def test_a_scorecard_scores_a_file(card, people, tmp_path, scanned):
    loaded, path = weigh.load(card), people
    if scanned:
        (tmp_path / "parts").mkdir()
        path = tmp_path / "parts"
        write_file(titanic(), str(path / "one.parquet"))
    rows = [*csv.DictReader(io.StringIO(run("score", card, path, "--keep", "Sex").stdout))]
    assert [*rows[0]] == ["Sex", "score", "log_odds", "probability_No", "probability_Yes"]
    assert [int(row["score"]) for row in rows] == loaded.score(titanic()).tolist()
    found = [float(row["probability_Yes"]) for row in rows]
    np.testing.assert_allclose(found, loaded.predict_proba(titanic())[:, 1])


def test_a_scorecard_says_what_cost_points(card, people):
    rows = [*csv.DictReader(io.StringIO(run("explain", card, people, "--reasons", 2).stdout))]
    wanted = weigh.load(card).reasons(titanic(), 2).to_pylist()
    assert [row["reason_1"] or None for row in rows] == [row["reason_1"] for row in wanted]
    assert [float(row["cost_2"]) for row in rows] == [row["cost_2"] for row in wanted]


def test_models_are_merged_and_scorecards_are_not(card, tmp_path):
    assert "card.json" in fails("merge", card, card, "-o", tmp_path / "both.json")
    assert not (tmp_path / "both.json").exists()


# ---------------------------------------------------------------- reasons that speak one way


@pytest.mark.parametrize("only", ["for", "against"])
def test_reasons_can_be_only_what_speaks_one_way(model, people, only):
    sign = 1 if only == "for" else -1
    out = run("explain", model, people, "--reasons", 3, "--only", only).stdout
    rows = [*csv.DictReader(io.StringIO(out))]
    parts = weigh.load(model).evidence_.contributions(weigh.load(model)._read(titanic()))[:, :, 0]
    for row, weights in zip(rows, parts, strict=True):
        wanted = sorted((w for w in weights if sign * w > 0), key=lambda w: -sign * w)[:3]
        found = [float(row[f"weight_{j}"]) for j in (1, 2, 3) if row[f"reason_{j}"]]
        assert found == pytest.approx(wanted)
        assert [float(row[f"weight_{j}"]) for j in range(len(wanted) + 1, 4)] == [0.0] * (
            3 - len(wanted)
        )


def test_only_goes_with_reasons_and_takes_two_words(model, people):
    assert "need --reasons" in fails("explain", model, people, "--only", "for", code=2)
    with pytest.raises(ValueError, match="only must be 'for' or 'against', got 'both'"):
        weigh.reasons(weigh.load(model), titanic(), only="both")


# ---------------------------------------------------------------- slips


@pytest.mark.parametrize(
    "command",
    [
        ["show"],
        ["score", "DATA"],
        pytest.param(["serve"], marks=pytest.mark.needs("fastapi", "uvicorn")),
        ["export", "--to", "sql"],
    ],
)
def test_a_model_that_is_not_there_is_said_in_words(people, tmp_path, command):
    name, *rest = [str(people) if word == "DATA" else word for word in command]
    text = fails(name, tmp_path / "gone.json", *rest)
    assert "no such file: " in text
    assert "a model was expected there" in text
    assert "Errno" not in text
    assert "is a folder; a model is a file" in fails(name, tmp_path, *rest)


def test_score_does_not_advise_what_only_fit_takes(tmp_path):
    train, other = tmp_path / "a.csv", tmp_path / "b.csv"
    train.write_text("\n".join(["size,y", *(f"{i},{i > 5}" for i in range(12))]))
    other.write_text("size\n1\nNA\n")
    run("fit", train, "--target", "y", "-o", tmp_path / "m.json")
    text = fails("score", tmp_path / "m.json", other)
    assert "column 'size' is numeric" in text
    assert "--na NA" in text
    assert "categorical" not in text


def test_explain_blames_the_value_that_makes_text_of_a_column(tmp_path):
    train, other = tmp_path / "a.csv", tmp_path / "b.csv"
    train.write_text("\n".join(["size,y", *(f"{i},{i > 5}" for i in range(12))]))
    other.write_text("size\n1\n2\nhuge\n")
    run("fit", train, "--target", "y", "-o", tmp_path / "m.json")
    text = fails("explain", tmp_path / "m.json", other, "--row", "0")
    assert "'size'" in text
    assert "'huge'" in text
    assert "'1'" not in text
    run("explain", tmp_path / "m.json", other, "--na", "huge", "--row", "0")


def test_a_misspelt_column_is_answered_with_the_nearest(people, model, tmp_path):
    out = ("--target", "Survived", "-o", tmp_path / "x.json")
    mistakes = [
        (("fit", people, *out, "--cross", "Clas", "Sex"), "--cross names 'Clas'"),
        (("fit", people, *out, "--set", 'bins={"Clas": 3}'), "bins names 'Clas'"),
        (("levers", model, people, "--may-change", "Clas"), "--may-change names 'Clas'"),
        (("scorecard", people, "--target", "Survivd", "--adverse", "No", *out[2:]), "--target"),
        (("evaluate", model, people, "--by", "Clas"), "--by names the column 'Clas'"),
        (("score", model, people, "--keep", "Clas"), "no column 'Clas'"),
    ]
    for words, named in mistakes:
        text = fails(*words)
        assert named in text
        assert "did you mean" in text


def test_a_renamed_column_of_new_rows_is_named(people, model, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(people.read_text().replace("Class", "class", 1))
    text = fails("score", model, other)
    assert "'Class'" in text
    assert "rename 'class'" in text


def test_a_table_in_place_of_the_model_is_said_to_be_one(people, model):
    assert "people.csv is a table, not a model" in fails("score", people, model)
    assert "people.csv is a table, not a model" in fails("export", people, "--to", "sql", "-o", "-")


def test_weights_of_text_are_not_taken_for_a_feature(people, tmp_path):
    words = ("--target", "Survived", "--weight", "Sex", "-o", tmp_path / "x.json")
    text = fails("fit", people, *words)
    assert "--weight must be numbers" in text
    assert "'Sex'" in text
    assert "categorical" not in text


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["score", "MODEL", "DATA", "--keep", "clas"], "'Class'"),
        (["fit", "DATA", "--target", "Survived", "-o", "m.json", "--drop", "Aeg"], "'Age'"),
        (["fit", "DATA", "--target", "Survived", "-o", "m.json", "--categorical", "sx"], "'Sex'"),
        (["explain", "MODEL", "DATA", "--pos-label", "yess"], "'Yes'"),
        (["evaluate", "MODEL", "DATA", "--target", "Survived", "--pos-label", "yess"], "'Yes'"),
        (["show", "MODEL", "--feature", "Clas"], "'Class'"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[-2],
)
def test_a_name_that_is_misspelt_is_met_with_the_one_that_was_meant(model, people, words, meant):
    names = {"MODEL": model, "DATA": people}
    text = fails(*[names.get(word, word) for word in words])
    assert f"did you mean {meant}?" in text
    assert "pos_label" not in text
    assert "pos_label=" not in text


def test_a_glob_that_the_shell_has_replaced_is_hinted_at(people, model):
    words = ["fit", people, model, "--target", "Survived", "-o", "m.json"]
    assert "hint: quote a glob" in fails(*words, code=2)
    words[2] = "nonsense"
    assert "hint" not in fails(*words, code=2)


def test_a_target_of_many_numbers_is_met_with_the_regressor(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,age", *(f"{'xy'[i % 2]},{i % 30}" for i in range(90))]))
    words = ["fit", path, "--target", "age", "-o", tmp_path / "m.json"]
    assert "--task classification" in run(*words).stderr
    said = run(*words, "--learner", "evidence").stderr
    assert "30 distinct numbers" in said
    assert "--learner educated --task regression" in said
    own = run(*words, "--learner", "boosted", "--set", "n_rounds=2").stderr
    assert "--learner boosted --task regression estimates a number" in own


def test_a_target_of_few_counts_is_taken_as_classes_with_a_hint(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,claims", *(f"{'xy'[i % 2]},{i % 3}" for i in range(90))]))
    words = ["fit", path, "--target", "claims", "-o", tmp_path / "m.json"]
    said = run(*words).stderr
    assert "3 distinct numbers" in said
    assert "--task regression" in said
    assert "family=poisson" in said
    assert "regression" not in run(*words, "--task", "regression").stderr


@pytest.mark.parametrize("name", ["id", "the id", "Müller's", 'a "b"', "back\\slash", "$HOME"])
def test_what_an_error_says_of_max_levels_can_be_typed(name, tmp_path, monkeypatch):
    monkeypatch.setattr(codes, "MAX_VALUES", 20)
    (tmp_path / "parts").mkdir()
    rows = pa.table({name: [f"n{i % 30}" for i in range(90)], "y": [0, 1] * 45})
    parquet.write_table(rows, tmp_path / "parts" / "0.parquet")
    words = ["fit", tmp_path / "parts", "--target", "y", "-o", tmp_path / "m.json"]
    said = fails(*words)
    assert "holds more than 20 distinct values" in said
    typed = shlex.split(said.partition("into one level with ")[2])
    assert typed[0] == ("--set" if name in ("id", "the id", "$HOME") else "--max-levels")
    monkeypatch.undo()
    run(*words, *typed)


def test_an_export_whose_name_says_something_else_is_refused(model, tmp_path):
    text = fails("export", model, "--to", "xlsx", "-o", tmp_path / "x.csv", code=2)
    assert "--to xlsx writes .xlsx" in text
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.needs("sqlglot")
def test_a_kept_column_of_a_query_that_may_be_misspelt_is_noted(model, tmp_path):
    words = ["export", model, "--to", "sql", "-o", tmp_path / "x.sql", "--keep"]
    assert "did you mean 'Class'?" in run(*words, "Clas").stderr
    assert "note" not in run(*words, "passenger_number").stderr
    assert "note" not in run(*words, "Class").stderr


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (pa.array([0, 1], pa.date32()), "holds dates"),
        (pa.array([0, 1], pa.timestamp("us")), "holds dates"),
        (pa.array([0, 1], pa.time32("s")), "holds times of day"),
        (pa.array([0, 1], pa.duration("s")), "holds lengths of time"),
        (pa.array([b"a", b"b"]), "holds bytes"),
        (pa.array([[1], [2]]), "holds lists"),
        (pa.array([{"a": 1}, {"a": 2}]), "holds rows within rows"),
    ],
    ids=str,
)
def test_types_without_levels_are_named_as_people_do(values, said):
    table = pa.table({"when": pa.chunked_array([values] * 40), "y": [0, 1] * 40})
    with pytest.raises(ValueError, match=f"column 'when' {said}, which have no levels"):
        weigh.EvidenceNB().fit(table, "y")


def write_dates(folder):
    lines = [f"2024-01-{1 + i % 28:02},{i % 7},{'yes' if i % 3 else 'no'}\n" for i in range(60)]
    (folder / "t.csv").write_text("last seen,a,y\n" + "".join(lines), "utf-8")
    return folder / "t.csv"


@pytest.mark.parametrize("command", ["fit", "scorecard"])
def test_a_column_of_dates_is_told_with_the_option_that_drops_it(tmp_path, command):
    more = {"fit": ["-o"], "scorecard": ["--adverse", "no", "-o"]}[command]
    words = [command, write_dates(tmp_path), "--target", "y", *more, tmp_path / "x.json"]
    said = fails(*words).strip()
    assert "'last seen'" in said
    run(*words, *shlex.split(said[said.index("--drop") :]))


def test_screening_leaves_a_column_of_dates_out_and_says_why(tmp_path):
    path = write_dates(tmp_path)
    shown = run("screen", path, "--target", "y").stdout
    assert "Screening of 1 column on 60 rows" in shown
    assert "Left out: last seen (holds dates" in shown
    told = json.loads(run("screen", path, "--target", "y", "--json").stdout)
    assert told["left_out"]["last seen"] == told["unread"]["last seen"]
    assert "age in days" in told["unread"]["last seen"]


def test_a_table_of_dates_alone_is_not_screened(tmp_path):
    path = write_dates(tmp_path)
    assert "--drop 'last seen'" in fails("screen", path, "--target", "y", "--drop", "a")


def write_leak(folder, wrong=0):
    """A column that says the class of every row but some."""
    says = ["late" if i % 3 else "paid" for i in range(120)]
    says[:wrong] = ["late"] * wrong
    lines = [f"{i % 7},{says[i]},{'bad' if i % 3 else 'good'}\n" for i in range(120)]
    (folder / "t.csv").write_text("a,last letter,y\n" + "".join(lines), "utf-8")
    return folder / "t.csv"


LEAKS = {
    "fit": ["--learner", "evidence", "-o", "m.json"],
    "scorecard": ["--adverse", "bad", "-o", "c.json"],
    "screen": [],
}


@pytest.mark.parametrize("command", LEAKS)
def test_a_column_that_alone_decides_the_target_is_told(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    words = [command, "t.csv", "--target", "y", *LEAKS[command]]
    write_leak(tmp_path)
    said = run(*words).stderr
    assert "Leak? last letter alone tells the classes apart" in said
    run(*words, *shlex.split(said[said.index("--drop") :].splitlines()[0]))
    write_leak(tmp_path, wrong=1)
    assert "Leak?" not in run(*words).stderr


def test_all_columns_that_decide_the_target_are_left_out_by_the_hint(tmp_path):
    lines = [f"{i % 7},{i % 3},{-(i % 3)},{'bad' if i % 3 else 'good'}\n" for i in range(120)]
    (tmp_path / "t.csv").write_text("a,late by,b,y\n" + "".join(lines), "utf-8")
    said = run("screen", tmp_path / "t.csv", "--target", "y").stderr
    assert "leave them out with --drop 'late by' --drop b" in said


def test_with_hold_out_rows_a_leak_is_told_once(tmp_path):
    words = ["fit", write_leak(tmp_path), "--target", "y", "-o", tmp_path / "m.json"]
    found = run(*words, "--learner", "evidence", "--holdout", "0.5")
    assert (found.stdout + found.stderr).count("Leak?") == 1


# ---------------------------------------------------------------- clumsy files


WRONG = {
    "a header alone": (
        "Class,Sex,Age,Survived",
        "its columns are 'Class', 'Sex', 'Age', 'Survived'",
    ),
    "a web page": (
        "<html><body>log in</body></html>",
        "its columns are '<html><body>log in</body>",
    ),
    "a name twice": ("Sex,Sex,Survived\na,b,Yes\n", "'Sex' occurs twice; rename one"),
}


def words_of(command, model, folder):
    return {
        "fit": ["fit", folder / "t.csv", "--target", "Survived", "-o", folder / "m.json"],
        "score": ["score", model, folder / "t.csv", "-o", folder / "s.csv"],
        "evaluate": ["evaluate", model, folder / "t.csv", "--target", "Survived"],
        "drift": ["drift", model, folder / "t.csv"],
    }[command]


@pytest.mark.parametrize("command", ["fit", "evaluate", "drift"])
@pytest.mark.parametrize("text", WRONG)
def test_a_file_that_is_no_table_is_refused_with_what_it_holds(model, tmp_path, command, text):
    (tmp_path / "t.csv").write_text(WRONG[text][0])
    assert WRONG[text][1] in fails(*words_of(command, model, tmp_path))


def test_scores_of_a_header_are_a_header_and_a_web_page_is_refused(model, tmp_path):
    words = words_of("score", model, tmp_path)
    (tmp_path / "t.csv").write_text(WRONG["a header alone"][0])
    assert run(*words).exit_code == 0
    (line,) = (tmp_path / "s.csv").read_text("utf-8").splitlines()
    assert line.startswith('"prediction","log_odds"')
    (tmp_path / "t.csv").write_text(WRONG["a web page"][0])
    assert "has no column 'Class'" in fails(*words)


@pytest.mark.needs("openpyxl")
def test_a_text_file_that_is_called_a_workbook_and_a_name_of_nothing_are_refused(model, tmp_path):
    (tmp_path / "t.xlsx").write_text("Class,Survived\n1st,Yes\n")
    assert "no Excel workbook" in fails("score", model, tmp_path / "t.xlsx", "-o", "s.csv")
    assert "no such file: ''" in fails("score", model, "", "-o", "s.csv")


def test_rows_without_a_label_are_counted_by_evaluate(model, tmp_path):
    rows = ["1st,Male,Adult,Yes\n", "1st,Male,Adult,\n", "3rd,Male,Adult,No\n"] * 2
    (tmp_path / "t.csv").write_text("Class,Sex,Age,Survived\n" + "".join(rows))
    said = fails("evaluate", model, tmp_path / "t.csv", "--target", "Survived")
    assert "--target holds NaN or missing labels in 2 of 6 rows, the first in row 1" in said


def test_a_table_of_the_target_alone_has_no_features(tmp_path):
    (tmp_path / "t.csv").write_text("y\n" + "yes\nno\n" * 20)
    said = fails("fit", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m.json")
    assert "the table has no feature columns" in said


def test_a_feature_given_as_the_target_is_told_to_be_one(tmp_path):
    rows = [f"{20 + i % 30},{'yes' if i % 3 else 'no'}\n" for i in range(60)]
    (tmp_path / "t.csv").write_text("age,y\n" + "".join(rows))
    fit = ["fit", tmp_path / "t.csv", "--target", "y", "--learner", "evidence"]
    run(*fit, "-o", tmp_path / "m.json")
    said = fails("evaluate", tmp_path / "m.json", tmp_path / "t.csv", "--target", "age")
    assert "--target 'age' is a feature of the model" in said


# ---------------------------------------------------------------- names of columns


@pytest.mark.parametrize("command", ["score", "evaluate", "report", "explain"])
def test_a_column_of_the_model_that_is_spelt_otherwise_is_to_be_renamed(
    model, people, tmp_path, command
):
    other = tmp_path / "other.csv"
    other.write_text(people.read_text("utf-8").replace("Sex", "SEX", 1), "utf-8")
    named = {"evaluate": ["--target", "Survived"], "report": ["--target", "Survived"]}
    words = [*named.get(command, []), *(["-o", tmp_path / "x.html"] * (command == "report"))]
    said = fails(command, model, other, *words)
    assert "'Sex'" in said
    assert "rename 'SEX'" in said


@pytest.mark.parametrize("command", ["score", "evaluate"])
def test_advice_on_an_absent_column_names_nothing_of_python(model, people, tmp_path, command):
    other = tmp_path / "other.csv"
    other.write_text(people.read_text("utf-8").replace("Sex", "town", 1), "utf-8")
    said = fails(command, model, other, *(["--target", "Survived"] * (command == "evaluate")))
    assert "add it" in said
    assert "weigh." not in said


@pytest.mark.parametrize("mark", [":", " ", "~"])
def test_a_header_in_one_column_is_told_with_its_separator(model, people, tmp_path, mark):
    other = tmp_path / "other.csv"
    other.write_text(people.read_text("utf-8").replace(",", mark), "utf-8")
    made = tmp_path / "m.json"
    for words in (["fit", other, "--target", "Survived", "-o", made], ["score", model, other]):
        said = fails(*words)
        assert (f"--delimiter {mark!r}" in said) == (mark != "~")
    run("fit", other, "--target", "Survived", "-o", made, "--delimiter", mark)


def test_a_file_without_a_header_row_is_told(tmp_path):
    lines = [f"{63 + i % 9},male,{2.5 * i},{'yes' if i % 2 else 'no'}\n" for i in range(60)]
    (tmp_path / "t.csv").write_text("".join(lines), "utf-8")
    words = ["fit", tmp_path / "t.csv", "--target", "class", "-o", tmp_path / "m.json"]
    said = fails(*words)
    assert "'63'" in said
    assert "header" in said
    (tmp_path / "t.csv").write_text("age,sex,size,group\n" + "".join(lines), "utf-8")
    assert "header" not in fails(*words)


@pytest.mark.parametrize("names", [["0", "1", "2", "y"], ["age", "2019", "size", "y"]])
def test_columns_named_by_number_are_not_taken_for_values(names):
    table = pa.table({name: [0, 1] * 20 for name in names})
    with pytest.raises(ValueError, match="'clas'") as caught:
        weigh.EvidenceNB().fit(table, "clas")
    assert "header" not in str(caught.value)


# ---------------------------------------------------------------- ids


@pytest.mark.parametrize("kind", ["table", "scan"])
def test_a_fit_warns_of_a_column_with_a_level_for_every_row(tmp_path, kind):
    table = pa.table({"id": [f"n{i}" for i in range(80)], "a": ["x", "y"] * 40, "y": [0, 1] * 40})
    parquet.write_table(table, tmp_path / "t.parquet")
    rows = table if kind == "table" else weigh.scan(tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match="column 'id' has 80 levels"):
        weigh.EvidenceNB().fit(rows, "y")
    weigh.EvidenceNB().fit(table.drop_columns("id"), "y")  # without a warning


IDS = pa.table({"id": [f"n{i}" for i in range(80)], "a": ["x", "y"] * 40, "y": [0, 1, 1, 0] * 20})


@pytest.mark.parametrize("weight", [None, 0.1, 3.0])
@pytest.mark.parametrize(
    "learner",
    [
        weigh.EvidenceNB(max_levels=3),
        weigh.EvidenceNB(max_levels={"id": 79}),
        weigh.EvidenceNB(max_levels=3, crosses=[("a", "id")]),
        weigh.BoostedNB(max_levels=3, n_rounds=2, combine="vote"),
    ],
)
def test_a_fit_warns_of_an_id_whose_levels_are_joined_and_of_nothing_that_repeats(learner, weight):
    weights = None if weight is None else [weight] * 80
    with pytest.warns(UserWarning, match="column 'id' has 80 values in 80 rows"):
        learner.fit(IDS, "y", weights)
    for last in ("n0", None):  # without a warning
        names = [*IDS["id"].to_pylist()[:79], last]
        table = IDS.set_column(0, "id", pa.array(names))
        weigh.EvidenceNB(max_levels=3).fit(table, "y", weights)


def test_a_column_that_repeats_almost_no_text_is_named_as_an_id():
    names, y = [f"n{i}" for i in range(300)], [0, 1] * 150
    with pytest.warns(UserWarning, match="'id' has 299 levels in 300 rows, nearly one for each"):
        weigh.EvidenceNB().fit(pa.table({"id": [*names[:299], "n0"], "y": y}), "y")
    weigh.EvidenceNB().fit(pa.table({"id": [*names[:290], *names[:10]], "y": y}), "y")


def test_numbers_that_are_text_because_of_a_few_other_words_are_named():
    numbers, y = [str(i % 60) for i in range(300)], [0, 1] * 150
    odd = pa.table({"dose": [*numbers[:299], "?"], "y": y})
    with pytest.warns(
        UserWarning, match=r"'dose' is text, but 60 of its 61 levels .* \(not '\?'\)"
    ):
        weigh.EducatedNB(pairs=0).fit(odd, "y")
    weigh.EvidenceNB(categorical_features=["dose"]).fit(odd, "y")  # without a warning
    for fine in (numbers, [f"{'ABC'[i % 3]}{i % 60}" for i in range(300)]):
        weigh.EvidenceNB().fit(pa.table({"code": fine, "y": y}), "y")


@pytest.mark.parametrize(("text", "unit"), [("${}.5", "$"), ("-€{}", "€"), ("{} kg", "kg")])
def test_numbers_with_a_currency_or_a_unit_are_named_and_are_no_ids(tmp_path, text, unit):
    """A column of distinct amounts looks like an id, but should be a number."""
    pay, path = [text.format(i) for i in range(300)], tmp_path / "pay.csv"
    write_file(pa.table({"pay": pay, "y": [0, 1] * 150}), str(path))
    said = run("fit", path, "--target", "y", "-o", tmp_path / "m.json").stderr
    assert f"'pay' is text, but all its 300 levels are numbers with '{unit}'" in said
    assert f"remove '{unit}' and convert it to numbers" in said
    assert "--categorical" in said
    assert "like an id" not in said
    assert "leave an id out" not in said


@pytest.mark.parametrize(
    "code", ["A{}", "{}/7", "7.{}.{}:1", "{}A", "{}th", "{}/X", "00{} Z", "{}:"]
)
def test_codes_are_no_numbers_with_a_unit(code):
    codes_of_rows = [code.format(i % 60, i % 60) for i in range(300)]
    weigh.EvidenceNB().fit(pa.table({"code": codes_of_rows, "y": [0, 1] * 150}), "y")


def test_values_that_repeat_in_light_rows_are_no_ids():
    """Each weighs less than the heaviest row, but not all can weigh less than the mean."""
    table = IDS.set_column(0, "id", pa.array([f"n{i % 40}" for i in range(80)]))
    for heavy in (1.0, 5.0, 1e6):
        weigh.EvidenceNB(max_levels=3).fit(table, "y", [heavy] + [0.01] * 79)


# ---------------------------------------------------------------- how a program ends


ENDING = """
import atexit, sys
from weigh.cli import main

class Library:
    def __del__(self):
        print("taken down", flush=True)

def parse(*words):
    atexit.register(print, "at exit")
    return parse_args(*words)

sys.library, parse_args = Library(), main.parse_args
main.parse_args = parse
main()
"""


@pytest.mark.parametrize(("asked", "code"), [(["-h"], 0), (["fit", "-x"], 2), (["show", "no"], 1)])
def test_a_command_ends_with_its_code_before_libraries_are_taken_down(asked, code):
    """Threads of Arrow that were still starting then aborted the program at times."""
    program = [sys.executable, "-c", ENDING, *asked]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == code
    assert "Usage" in done.stdout + done.stderr or "error: " in done.stderr
    assert done.stdout.endswith("at exit\n")


# ---------------------------------------------------------------- what is loaded


@pytest.mark.parametrize("kind", ["model", "card"])
def test_show_loads_no_learner(kind, model, card):
    """A table of weights is printed without scikit-learn, which takes longest to load."""
    code = (
        "import sys; from weigh.cli import main\n"
        "main(['show', sys.argv[1]], standalone_mode=False)\n"
        "print([name for name in sys.modules if name in ('sklearn', 'numba', 'pandas')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str({"model": model, "card": card}[kind])],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("[]\n")
    assert "Female" in done.stdout


@pytest.mark.parametrize("words", [["score"], ["explain"], ["explain", "--reasons", "2"]])
@pytest.mark.parametrize("kind", ["model", "card"])
def test_scoring_and_explaining_load_no_learner(kind, words, model, card, tmp_path):
    """Tables and cards need neither scikit-learn nor a compiler, and Arrow no pandas."""
    weigh.frames.write_file(weigh.datasets.titanic(), str(tmp_path / "people.csv"))
    heavy = ["sklearn", "numba", "scipy", "pandas", "polars", "matplotlib"]
    code = (
        "import sys; from weigh.cli import main\n"
        f"held = lambda: [name for name in {heavy} if name in sys.modules]\n"
        "try: main()\n"
        "finally: print(held(), file=sys.stderr)"
    )
    scorer = {"model": model, "card": card}[kind]
    command = [sys.executable, "-c", code, words[0], scorer, tmp_path / "people.csv", *words[1:]]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert done.stdout == run(*command[3:]).stdout


@pytest.mark.parametrize(
    "words",
    [
        ["calculator", "MODEL", "-o", "page.html"],
        ["export", "MODEL", "--to", "python", "-o", "score.py"],
        ["export", "MODEL", "--to", "pmml", "-o", "score.pmml"],
        pytest.param(
            ["export", "MODEL", "--to", "sql", "-o", "score.sql"],
            marks=pytest.mark.needs("sqlglot"),
        ),
        pytest.param(
            ["export", "MODEL", "--to", "xlsx", "-o", "score.xlsx"],
            marks=pytest.mark.needs("openpyxl"),
        ),
        ["check", "score.py", "MODEL"],
    ],
    ids=lambda words: "-".join(words[::2]),
)
def test_pages_and_exports_load_no_learner(words, model, tmp_path):
    """The tables of a model are enough for its calculator and its exports."""
    weigh.export(weigh.load(model), "python", path=tmp_path / "score.py")
    heavy = ["sklearn", "numba", "scipy"]
    code = (
        "import sys; from weigh.cli import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    line = [str(model) if word == "MODEL" else word for word in words]
    done = subprocess.run(
        [sys.executable, "-c", code, *line],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stderr.splitlines()[-1] == "[]"


def notes_of_a_fit(folder, columns):
    """What weigh fit says of some columns, beside one that means something."""
    n = len(next(iter(columns.values())))
    size = [str(i % 7) for i in range(n)]
    table = {**columns, "size": size, "y": ["ab"[(i % 7 > 3) ^ (i % 5 == 0)] for i in range(n)]}
    lines = [",".join(row) for row in zip(*table.values(), strict=True)]
    (folder / "t.csv").write_text("\n".join([",".join(table), *lines]))
    learner = ("--learner", "evidence", "-o", folder / "m.json")
    return run("fit", folder / "t.csv", "--target", "y", *learner).stderr


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([str(500 + i) for i in range(120)], "--drop thing"),
        ([str(700_001 + 1_013 * i) for i in range(120)], "--drop thing"),
        ([f"{1 + i % 28:02}.{1 + i % 12:02}.2024" for i in range(120)], "weekday"),
        (["?", *map(str, range(119))], "--na '?'"),
    ],
    ids=["running numbers", "long numbers", "dates", "a mark of missing values"],
)
def test_a_fit_says_what_a_column_looks_like(tmp_path, values, said):
    text = notes_of_a_fit(tmp_path, {"thing": values})
    assert "'thing'" in text
    assert said in text


@pytest.mark.parametrize(
    ("values", "advised"),
    [
        ([str(10_001 + i) for i in range(120)], True),
        ([f"u{i}x" for i in range(120)], True),
        ([f"{1 + i % 28:02}.{1 + i % 12:02}.2024" for i in range(120)], True),
        ([str(20 + i % 60) for i in range(120)], False),
        (["abc"[i % 3] for i in range(120)], False),
    ],
    ids=["running numbers", "text ids", "dates", "ages", "categories"],
)
def test_a_scorecard_says_which_columns_to_drop(tmp_path, values, advised):
    notes_of_a_fit(tmp_path, {"thing": values})
    words = ["scorecard", tmp_path / "t.csv", "--target", "y", "--adverse", "b"]
    text = run(*words, "-o", tmp_path / "c.json").stderr
    assert ("--drop thing" in text) == advised
    assert "--drop size" not in text


def test_a_target_of_one_class_is_told_with_the_class(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a,class\n" + "1,absent\n2,absent\n" * 30, "utf-8")
    out = ("-o", tmp_path / "m.json")
    said = fails("fit", path, "--target", "class", *out)
    assert "column 'class' holds one class only, 'absent'" in said
    for words in (["scorecard", *out], ["screen"]):
        asked = [words[0], path, *words[1:], "--target", "class", "--adverse", "present"]
        said = fails(*asked, code=2)
        assert "'class' holds one class only, 'absent'" in said
        assert "did you mean" not in said


def test_a_fit_names_the_text_among_decimal_commas_and_not_an_id(tmp_path):
    values = [f'"{i * 0.37:.2f}"'.replace(".", ",") for i in range(119)]
    text = notes_of_a_fit(tmp_path, {"thing": ["n/a", *values]})
    assert "--na n/a" in text
    assert "--drop" not in text


def test_a_fit_names_levels_that_differ_only_in_case_or_spaces(tmp_path):
    text = notes_of_a_fit(tmp_path, {"thing": ["yes", "YES", "no"] * 40, "other": ["a", "b"] * 60})
    assert "'thing'" in text
    assert "'YES', 'yes'" in text
    assert "'other'" not in text


def test_a_fit_names_classes_that_differ_only_in_case(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,no\n2,yes\n3,yes\n" * 20 + "2,No\n")
    text = run("fit", path, "--target", "y", "-o", tmp_path / "m.json").stderr
    assert "note: classes differ only in case or spaces: 'No', 'no'" in text


def test_labels_that_are_missing_are_told_with_their_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,kind\n1,no\n2,yes\n3,\n")
    said = fails("fit", path, "--target", "kind", "-o", tmp_path / "m.json")
    assert "column 'kind' contains NaN" in said


@pytest.mark.parametrize(
    "values",
    [
        [str(20 + i % 60) for i in range(120)],
        [str(37 * i * i % 9_973) for i in range(120)],
        [f"{i * 0.37:.2f}" for i in range(120)],
        [["10 or more", *map(str, range(10))][i % 11] for i in range(120)],
    ],
    ids=["ages", "amounts that all differ", "fractions", "an open last class"],
)
def test_a_good_column_is_not_advised_away(tmp_path, values):
    assert "'thing'" not in notes_of_a_fit(tmp_path, {"thing": values})


@pytest.mark.parametrize(
    ("name", "is_id"),
    [
        *((name, False) for name in ("paid", "amount_paid", "humid", "PAID", "casino", "Valid")),
        *((name, True) for name in ("id", "ID", "customer_id", "CustomerId", "orderNo", "Row")),
    ],
)
def test_a_name_that_only_ends_in_the_letters_of_id_names_no_rows(name, is_id):
    from weigh.cli.columns import looks_like_id

    amounts = pa.chunked_array([[37 * i * i % 9_973 for i in range(120)]])
    assert looks_like_id(name, amounts) == is_id


def test_help_lists_every_command_by_task_in_one_line_each():
    from weigh.cli.group import TASKS

    assert sorted(itertools.chain(*TASKS.values())) == sorted(main.commands)
    shown = run("--help").stdout
    assert "..." not in shown.split("Fit:")[1]


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "--weight", "Sex", "--weight", "Age"),
        ("score", "--times", "365", "--times", "730"),
        ("evaluate", "--target", "Survived", "--target=Survived"),
    ],
)
def test_an_option_that_has_one_value_is_refused_where_it_is_given_twice(model, people, words):
    told = fails(words[0], model, people, *words[1:], code=2)
    assert words[1] in told


def test_options_that_may_be_repeated_and_flags_are_not_refused(model, people):
    told = run("score", model, people, "--keep", "Sex", "--keep", "Age", "--json", "--json")
    assert {"Sex", "Age"} <= {*json.loads(told.stdout.splitlines()[0])}


@pytest.mark.parametrize(("ending", "mark"), [("csv", ","), ("tsv", "\t")])
def test_text_in_a_numeric_column_is_told_with_its_line_in_the_file(tmp_path, ending, mark):
    train, odd = tmp_path / "train.csv", tmp_path / f"odd.{ending}"
    train.write_text("age,y\n1,a\n2,b\n3,a\n4,b\n")
    run("fit", train, "--target", "y", "--learner", "evidence", "-o", tmp_path / "m.json")
    odd.write_text('note,age\n\n"two\nlines",1\n,2\n,x\n'.replace(",", mark))
    told = fails("score", tmp_path / "m.json", odd)
    assert "'x'" in told
    assert f"row 2 (line 6 of {odd})" in told


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "CSV.GZ"])
@pytest.mark.parametrize("note", ["lines", 150_000 * "x"])
def test_a_missing_label_is_told_with_its_line_in_the_file(tmp_path, ending, note):
    path = tmp_path / f"people.{ending}"
    with (gzip.open if ending.lower().endswith("gz") else open)(path, "wt") as file:
        file.write(f'note,age,y\n\n"two\n{note}",1,a\n,2,\n,3,b\n')
    told = fails("fit", path, "--target", "y", "-o", tmp_path / "m.json")
    assert f"first in row 1 (line 5 of {path})" in told


def test_the_command_line_says_once_that_it_compiles(monkeypatch, capsys):
    from weigh import errors, kernels
    from weigh.cli.group import say_compiling

    monkeypatch.setattr(errors, "on_compile", say_compiling)
    add = kernels.njit(lambda x: x + x)
    assert add(1) == add(1.0) == 2
    assert capsys.readouterr().err.count("compiling") == 1


@pytest.mark.parametrize("name", ["people.csv", "people.dat", "people.zip", "people.tsv"])
def test_the_line_is_named_whatever_the_file_is_called_or_how_it_is_packed(tmp_path, name):
    path, text = tmp_path / name, "a,b,y\n1,x,p\n2,y,\n3,z,q\n"
    if name.endswith("zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("people.csv", text)
    elif name.endswith("tsv"):  # where a comma is in every line, too
        path.write_text("a,b\ty\n1,x\tp\n2,y\t\n3,z\tq\n")
    else:  # gzip without its ending
        path.write_bytes(gzip.compress(text.encode()))
    told = fails("fit", path, "--target", "y", "-o", tmp_path / "m.json")
    assert f"first in row 1 (line 3 of {path})" in told


@pytest.mark.parametrize(
    ("weight", "told"),
    [
        (
            "-2",
            ", but holds -2 in row 1 (line 3 of {}; such numbers",
        ),
        ("", "1 of 3 rows, first in row 1 (line 3 of {}); give each row a finite"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "compare"])
def test_the_row_of_a_weight_that_is_no_weight_is_named(tmp_path, command, weight, told):
    path = tmp_path / "people.csv"
    path.write_text(f"a,w,y\n1,1,p\n2,{weight},q\n3,2,q\n")
    more = ("-o", tmp_path / "m.json") if command == "fit" else ()
    said = fails(command, path, "--target", "y", "--weight", "w", *more)
    assert said.startswith("error: --weight ")
    assert told.format(path) in said


def test_no_line_is_named_of_a_file_that_is_read_in_batches_or_cannot_be_read_again(
    tmp_path, monkeypatch
):
    path = tmp_path / "people.csv"
    path.write_text("a,y\n1,p\n2,\n3,q\n")
    words = ("fit", path, "--target", "y", "-o", tmp_path / "m.json")
    with monkeypatch.context() as patch:
        patch.setattr("weigh.cli.data.LARGE", 4)
        assert "first in row 1 (counted from 0)" in fails(*words)
    monkeypatch.setattr("weigh.frames.lines.find_line", lambda *given: 1 / 0)
    assert "first in row 1 (counted from 0)" in fails(*words)


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (["--monotone", "Agee", "up"], "--monotone names 'Agee'"),
        (["--bins", "Agee", "30,50"], "--bins, --groups or --read-bins names 'Agee'"),
    ],
)
def test_a_column_that_is_not_there_is_named_with_the_option_of_the_scorecard(
    people, tmp_path, option, told
):
    given = ("--target", "Survived", "--adverse", "No", "-o", tmp_path / "card.json")
    assert fails("scorecard", people, *given, *option).startswith(f"error: {told}, but")


def test_a_feature_without_a_value_in_any_row_is_noted_where_training_had_all(
    people, model, tmp_path
):
    rows = titanic().take(np.arange(0, 2201, 40))
    blank = rows.set_column(1, "Sex", pa.nulls(len(rows), pa.string()))
    write_file(blank, str(tmp_path / "blank.csv"))
    write_file(rows, str(tmp_path / "rows.csv"))
    said = run("score", model, tmp_path / "blank.csv").stderr
    assert said.startswith("note: column 'Sex' has no value in any of the 56 rows, but had one in ")
    assert run("score", model, tmp_path / "rows.csv").stderr == ""
    run("fit", tmp_path / "blank.csv", "--target", "Survived", "-o", tmp_path / "m.json")
    assert run("score", tmp_path / "m.json", tmp_path / "blank.csv").stderr == ""


def test_features_without_a_value_in_any_row_are_noted_in_one_line(people, model, tmp_path):
    rows = titanic().slice(0, 3)
    for place, name in enumerate(("Class", "Sex")):
        rows = rows.set_column(place, name, pa.nulls(len(rows), pa.string()))
    write_file(rows, str(tmp_path / "blank.csv"))
    said = run("score", model, tmp_path / "blank.csv").stderr.splitlines()
    assert len(said) == 1
    assert said[0].startswith("note: columns 'Class', 'Sex' have no value in any of the 3 rows")


def test_categories_that_training_did_not_have_are_noted_when_rows_are_scored(model, tmp_path):
    rows = titanic().slice(0, 3).set_column(0, "Class", pa.array(["3rd", "3th", "3RD"]))
    write_file(rows, str(tmp_path / "rows.csv"))
    said = run("score", model, tmp_path / "rows.csv").stderr
    told = "column 'Class' has values that training did not have, which count as not known"
    assert said == f"note: {told}: '3th', '3RD'\n"


def test_the_two_parts_of_a_split_need_a_file_each(people, tmp_path):
    both = tmp_path / "a.csv", f"{tmp_path}/./a.csv"
    assert "twice" in fails("split", people, "-o", *both, code=2)
    assert not both[0].exists()


def test_levers_of_a_case_past_the_cut_off_name_the_option_for_the_other_class(people, model):
    words = ["levers", model, people, "--row", 3, "--may-change", "Class", "--cut-off", "0.01"]
    said = run(*words).stderr
    assert said == "hint: --pos-label No looks for changes that make No more probable\n"
    assert run(*words, "--pos-label", "Yes").stderr == ""


# ---------------------------------------------------------------- a terminal


def read_screen(folder, *words, columns=72):
    """The lines that a command in a folder writes to a terminal, with all states of its bar."""
    here, there = os.openpty()
    more = {"COLUMNS": str(columns), "TERM": "xterm"}
    command = [sys.executable, "-m", "weigh", *map(str, words)]
    with subprocess.Popen(
        command, cwd=folder, stdin=there, stdout=there, stderr=there, env=os.environ | more
    ) as process:
        os.close(there)
        parts = []
        with contextlib.suppress(OSError):  # the end, on Linux
            while part := os.read(here, 65536):
                parts.append(part)
    os.close(here)
    assert process.returncode == 0, parts
    text = b"".join(parts).decode().replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).splitlines()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals to open here")
def test_in_a_terminal_messages_have_lines_of_their_own_and_break_between_words(tmp_path):
    random = np.random.default_rng(0)
    x = np.where(random.random(400) < 0.2, -999, random.integers(0, 50, 400))
    long = "the_utilisation_of_all_credit_lines"
    table = pa.table({long: x, "y": random.integers(0, 2, 400)})
    write_file(table, str(tmp_path / "t.csv"))
    for command in ("fit", "scorecard"):
        more = ("--adverse", 1) if command == "scorecard" else ()
        told = (command, "t.csv", "--target", "y", *more, "-o", "m.json")
        lines = read_screen(tmp_path, *told)
        warned = lines.index(f"warning: column '{long}': -999 looks like")
        assert lines[warned + 1].startswith("a code, outside ")
        assert max(map(len, lines)) <= 72
    assert max(map(len, read_screen(tmp_path, "screen", "t.csv", "--target", "y"))) <= 72
