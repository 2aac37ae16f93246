"""Text that a spreadsheet would run as a formula is written so that it stays text."""

import csv

import pyarrow as pa
import pytest
from click.testing import CliRunner

import weigh
from weigh.cli import main
from weigh.scoring import escape_formulas

TEXTS = ["=1+1", "+1", "-1", "@sum", "\t=1", "\r=1", "\n=1", "a=1", "'=1", "", " =1", None]
ROWS = pa.table({"=cmd": TEXTS, "note": ["x"] * len(TEXTS), "n": [-1.5] * len(TEXTS)})


def test_text_that_begins_as_a_formula_gets_an_apostrophe_and_nothing_else_changes():
    found = escape_formulas(ROWS).to_pydict()
    assert [*found] == ["'=cmd", "note", "n"]
    assert found["'=cmd"] == [*(f"'{text}" for text in TEXTS[:7]), *TEXTS[7:]]
    assert found["note"] == ["x"] * len(TEXTS)
    assert found["n"] == [-1.5] * len(TEXTS)


def test_categories_are_escaped_too():
    table = pa.table({"a": pa.array(["=1", "b"]).dictionary_encode()})
    assert escape_formulas(table).to_pydict() == {"a": ["'=1", "b"]}


@pytest.mark.parametrize("command", [("score",), ("explain", "--reasons", "1")])
def test_the_commands_escape_what_they_keep_and_what_they_write(command, tmp_path):
    rows = pa.table({"town": ["=HYPERLINK(1)", "b"] * 20, "y": ["=yes", "no"] * 20})
    weigh.save(weigh.EvidenceNB().fit(rows, "y"), tmp_path / "m.json")
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [rows.column_names, *zip(*rows.to_pydict().values(), strict=True)]
        )
    name, *more = command
    files = [str(tmp_path / "m.json"), str(tmp_path / "rows.csv")]
    for options in ([], ["--spreadsheet"]):
        done = CliRunner().invoke(main, [name, *files, *more, "--keep", "town", *options])
        assert done.exit_code == 0, done.output
        cells = [cell for line in csv.reader(done.stdout.splitlines()) for cell in line]
        assert any(cell.startswith("=") for cell in cells) is not bool(options)
