"""Files as they come: each is read right, or refused with the column or line and the fix."""

import gzip
import io
import json
import zipfile

import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pyarrow import feather, parquet

import weigh
from weigh.cli import main
from weigh.frames import folders, read_file
from weigh.frames.formats import read_format

ROWS = [{"a": 1.5, "y": "no"}, {"a": 2.5, "y": "yes"}]
GOOD = "a,y\n1.5,no\n2.5,yes\n"


def rows(**columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def zipped(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("_", "."), data)
    return out.getvalue()


def written(write):
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def workbook(*sheets):
    book = openpyxl.Workbook()
    for k, lines in enumerate(sheets):
        sheet = book.active if k == 0 else book.create_sheet(f"sheet {k}")
        for line in lines:
            sheet.append(line)
    return written(book.save)


def formatted(lines, cell):
    """A workbook in which a cell beside or below the lines has a format and no value."""
    book = openpyxl.Workbook()
    for line in lines:
        book.active.append(line)
    book.active[cell].number_format = "0.00"
    return written(book.save)


def streamed(lines):
    """A workbook that does not state its size, as some programs write it: rows may end early."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for line in lines:
        sheet.append(line)
    return written(book.save)


TABLE = pa.table({"a": [1.5, 2.5], "y": ["no", "yes"]})
FRAME = pd.DataFrame(TABLE.to_pydict())
SWALLOWED = "id,name,y\n" + "".join(f"{i},{chr(34) * (i == 9)}x,no\n" for i in range(300))
TWO_STRAYS = "id,name,y\n" + "".join(
    f"{i},{chr(34) * (i == 9)}x{chr(34) * (i == 99)},no\n" for i in range(300)
)

READ = {  # name of the file: bytes, keywords, rows
    "plain.csv": (GOOD, {}, ROWS),
    "mark.csv": (GOOD.encode("utf-8-sig"), {}, ROWS),
    "utf16.csv": (GOOD.encode("utf-16"), {}, ROWS),
    "utf16-tabs.txt": (GOOD.replace(",", "\t").encode("utf-16"), {}, ROWS),
    "utf16-without-mark.csv": (GOOD.encode("utf-16-le"), {"encoding": "utf-16-le"}, ROWS),
    "latin1-named.csv": (
        "a\nGröße\n".encode("latin-1"),
        {"encoding": "latin-1"},
        rows(a=["Größe"]),
    ),
    "windows-lines.csv": (GOOD.replace("\n", "\r\n"), {}, ROWS),
    "old-mac-lines.csv": (GOOD.replace("\n", "\r"), {}, ROWS),
    "no-last-newline.csv": (GOOD[:-1], {}, ROWS),
    "blank-lines.csv": (GOOD.replace("\n", "\n\n"), {}, ROWS),
    "utf16-big.csv": (("\ufeff" + GOOD).encode("utf-16-be"), {}, ROWS),
    "comma-in-a-name.tsv": (
        "a,b\ty\n,5\tno\n,6\tyes\n",
        {},
        rows(**{"a,b": [",5", ",6"]}, y=["no", "yes"]),
    ),
    "ENDING.TSV": ("a,b\ty\n,5\tno\n", {}, rows(**{"a,b": [",5"]}, y=["no"])),
    "tabs.csv": (GOOD.replace(",", "\t"), {}, ROWS),
    "bars.csv": (GOOD.replace(",", "|"), {}, ROWS),
    "semicolons.csv": (GOOD.replace(",", ";"), {}, ROWS),
    "colons.csv": (GOOD.replace(",", ":"), {"delimiter": ":"}, ROWS),
    "decimal-comma.csv": ("a;y\n1,5;no\n2,5;yes\n", {}, ROWS),
    "decimal-comma-quoted.csv": ('a,y\n"1,5",no\n"2,5",yes\n', {}, ROWS),
    "decimal-comma-with-points.csv": (
        "a;b\n1.234,5;1.000\n2,5;2.000\n",
        {},
        rows(a=[1234.5, 2.5], b=[1000, 2000]),
    ),
    "thousands-named.csv": ('a\n"1,234"\n"5,678"\n', {"decimal": "."}, rows(a=[1234, 5678])),
    "thousands.csv": ('a,b\n"1,234",0.5\n"12",1.5\n', {}, rows(a=[1234, 12], b=[0.5, 1.5])),
    "thousands-with-points.csv": ('a\n"1,234.50"\n"2.5"\n', {}, rows(a=[1234.5, 2.5])),
    "thousands-spaces.csv": ("a\n1 234\n5 678\n", {}, rows(a=[1234, 5678])),
    "percent.csv": ("a,b\n12.5%,1\n3 %,2\n", {}, rows(a=[12.5, 3], b=[1, 2])),
    "whole-percent.csv": ("a\n12%\n3%\n", {}, rows(a=[12, 3])),
    "minus.csv": ("a\n\u22121.5\n2.5\n", {}, rows(a=[-1.5, 2.5])),
    "spaces.csv": (" a , y \n 1.5 , no \n2.5,yes \n", {}, ROWS),
    "cells-of-spaces.csv": ("a,y\nx,  \nz,yes\n", {}, rows(a=["x", "z"], y=[None, "yes"])),
    "na.csv": ("a,y\n-,no\n2.5,n/a\n", {"na": ["-", "n/a"]}, rows(a=[None, 2.5], y=["no", None])),
    "quotes.csv": ('a,y\n"x ""1"", z",no\n', {}, rows(a=['x "1", z'], y=["no"])),
    "lines-in-values.csv": (
        'a,y\n"one\ntwo\nthree",no\n',
        {},
        rows(a=["one\ntwo\nthree"], y=["no"]),
    ),
    "inches.csv": (
        'a,y\n5" pipe,no\n6" pipe,no\n',
        {},
        rows(a=['5" pipe', '6" pipe'], y=["no", "no"]),
    ),
    "packed.csv.gz": (gzip.compress(GOOD.encode()), {}, ROWS),
    "archive.zip": (zipped(people_csv=GOOD), {}, ROWS),
    "lines.jsonl": ("".join(json.dumps(row) + "\n" for row in ROWS), {}, ROWS),
    "spaces.jsonl": (
        '{" a ": " x "}\n{" a ": " "}\n{" a ": "y", "b": [" z "]}\n',
        {},
        rows(a=["x", None, "y"], b=[None, None, [" z "]]),
    ),
    "list.json": (json.dumps(ROWS), {}, ROWS),
    "keys-differ.json": ('[{"a": 1}, {" b ": " x "}]', {}, rows(a=[1, None], b=[None, "x"])),
    "mixed.json": ('[{"a": 1}, {"a": " x "}, {"a": true}, {}]', {}, rows(a=[1, "x", True, None])),
    "lines.json": ('{"a": 1}\n{"a": 2}\n', {}, rows(a=[1, 2])),
    "mixed.jsonl": (
        '{"a": 1}\n{"a": " x "}\n\n{"a": true}\n{}\n',
        {},
        rows(a=[1, "x", True, None]),
    ),
    "one-line.json": ('{"a": 1, "b": [2]}\n', {}, rows(a=[1], b=[[2]])),
    "dates.jsonl": (
        '{"a": "2020-01-01", "b": ["2020-01-01"], "c": {"d": "2020-01-01 10:00"}, "e": 1}\n' * 2,
        {},
        2 * rows(a=["2020-01-01"], b=[["2020-01-01"]], c=[{"d": "2020-01-01 10:00"}], e=[1]),
    ),
    "lists.json": ('[{"a": [1]}, {"a": [2]}]', {}, rows(a=[[1], [2]])),
    "huge-integer.json": (f'[{{"a": {2**70}}}, {{"a": 1}}]', {}, rows(a=[2.0**70, 1])),
    "arrow.feather": (written(lambda out: feather.write_feather(TABLE, out)), {}, ROWS),
    "table.parquet": (written(lambda out: parquet.write_table(TABLE, out)), {}, ROWS),
    "book.xlsx": (workbook([["a", "y"], [1.5, " no "], [2.5, "yes"]]), {}, ROWS),
    "mixed.xlsx": (
        workbook([["a"], [1], ["x"], [True], [None]]),
        {},
        rows(a=["1", "x", "true"]),
    ),
    "formatted.xlsx": (formatted([["a", "y"], [1.5, "no"], [2.5, "yes"]], "D9"), {}, ROWS),
    "streamed.xlsx": (
        streamed([["a", "y"], [1.5, "no"], [2.5]]),
        {},
        rows(a=[1.5, 2.5], y=["no", None]),
    ),
    "stata.dta": (written(lambda out: FRAME.to_stata(out, write_index=False)), {}, ROWS),
}

REFUSED = {  # name of the file: bytes, keywords, words of the error
    "empty-rows.json": ("[{}, {}]", {}, ["2 objects are empty"]),
    "empty-rows.jsonl": ("{}\n{}\n", {}, ["2 objects are empty"]),
    "null-first.jsonl": ('null\n{"a": 1}\n', {}, ["line 1", "an object"]),
    "null-later.jsonl": ('{"a": 1}\n null \n', {}, ["line 2", "an object"]),
    "answer.json": ('{"count": 2, "rows": [{"a": 1}, {"a": 2}]}', {}, ["list of objects"]),
    "empty.csv": ("", {}, ["empty"]),
    "latin1.csv": ("a,y\nx,no\nGröße,no\n".encode("latin-1"), {}, ["line 3", "--encoding"]),
    "wrong-encoding.csv": ("a\nGröße\n".encode("latin-1"), {"encoding": "utf-8"}, ["line 2"]),
    "zeros.csv": (GOOD.encode("utf-16-le"), {}, ["zero bytes", "--encoding"]),
    "ragged-short.csv": (GOOD + "3\n", {}, ["line 4", "1 fields", "--delimiter"]),
    "ragged-long.csv": ("a,y\n1,2\n1,2,3\n", {}, ["line 3", "3 fields"]),
    "title.csv": ("People of 2024\na,y,z\n1,2,3\n", {}, ["line 2", "3 fields"]),
    "open-quote.csv": (SWALLOWED, {}, ["line 11", "quote"]),
    "two-stray-quotes.csv": (TWO_STRAYS, {}, ["line 11", "quote"]),
    "text-after-quote.csv": ('a,y\n"x\n1,"z"\n', {}, ["line 2", "quote"]),
    "comma-or-thousands.csv": ('a\n"1,234"\n"5,678"\n', {}, ["'a'", "--decimal"]),
    "two-marks.csv": ('a,b\n"1,25","1,234.5"\n', {}, ["'a'", "'b'", "--decimal"]),
    "two-marks-of-numbers.csv": ("a;b\n160.0;0,5\n32.5;1,5\n", {}, ["'a'", "'b'", "--decimal"]),
    "two-separators.csv": ("a;b,c\n1;2,3\n", {}, ["';'", "','", "--delimiter"]),
    "workbook.csv": (workbook([["a"], [1]]), {}, [".xlsx"]),
    "no-archive.zip": (GOOD, {}, ["no-archive.zip"]),
    "two-files.zip": (zipped(a_csv=GOOD, b_csv=GOOD), {}, ["a.csv", "b.csv"]),
    "two-sheets.xlsx": (workbook([["a"], [1]], [["b"], [2]]), {}, ["'sheet 1'"]),
    "no-name.xlsx": (workbook([["a", None], [1, 2]]), {}, ["column 2"]),
    "no-float.json": (f'[{{"a": {10**400}}}]', {}, ["float"]),
    "old.xls": (b"\xd0\xcf\x11\xe0", {}, [".xlsx"]),
    "object.json": ("{}", {}, ["list"]),
    "columns.json": ('{"a": [1, 2], "b": {"0": "x"}}', {}, ["list of objects"]),
    "objects-and-text.json": (
        '[{" b ": 1}, {" b ": {"c": "é"}}, {" b ": "x"}]',
        {},
        ["column 'b'", '{"c": "é"}', "row 1", "remove the column"],
    ),
    "lists-and-numbers.json": ('[{"a": 2}, {"a": [1]}]', {}, ["column 'a'", "[1]", "row 1"]),
    "objects-that-differ.json": ('[{"a": {"b": 1}}, {"a": {"b": "x"}}]', {}, ["'a'", '{"b": 1}']),
    "empty.json": ("", {}, ["the file is empty"]),
    "twice.json": ('[{"a": 1, "a": 2}]', {}, ["'a' occurs twice"]),
    "twice.jsonl": ('{"a": 1}\n{"a": 1, "a": 2}\n', {}, ["line 2", "'a' occurs twice"]),
    "cut-off.jsonl": ('{"a": 1}\n{"a": ', {}, ["cut-off.jsonl", "line 2", '{"a":']),
    "list.jsonl": ('[{"a": 1}]', {}, ["line 1", "an object", "rename the file to end in .json"]),
    "number.jsonl": ('{"a": 1}\n\n3\n', {}, ["line 3", "an object", "'3'"]),
    "long.jsonl": (
        "income,age," * 9,
        {},
        ["line 1 must be an object, got 'income,age,income,age,income,age,income,…'"],
    ),
    "latin1.jsonl": ('{"a": 1}\n{"a": "é"}\n'.encode("latin-1"), {}, ["line 2", "as UTF-8"]),
    "objects-and-text.jsonl": (
        '{"a": "x"}\n{"a": {"b": 1}}\n',
        {},
        ["column 'a'", '{"b": 1}', "row 1", "remove the column"],
    ),
    "cut-off.csv.gz": (gzip.compress(GOOD.encode())[:20], {}, ["cut-off.csv.gz"]),
    "cut-off.parquet": (b"PAR1", {}, ["cut-off.parquet"]),
}


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def test_there_are_forty_and_more():
    assert len(READ) + len(REFUSED) >= 40


@pytest.mark.parametrize("name", READ)
def test_it_is_read_right(tmp_path, name):
    data, words, expected = READ[name]
    assert read_file(write(tmp_path, name, data), **words).to_pylist() == expected


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_its_place_and_the_fix(tmp_path, name):
    data, words, said = REFUSED[name]
    path = write(tmp_path, name, data)
    with pytest.raises(ValueError, match=name.replace(".", r"\.")) as error:
        read_file(path, **words)
    for word in said:
        assert word in str(error.value)


@pytest.mark.parametrize("before", ["", "\n\n", "\ufeff\ufeff"])
def test_a_column_named_as_text_keeps_its_text(tmp_path, before):
    path = write(tmp_path, "t.csv", before + 'code,y\n"1,5",007\n')
    assert read_file(path, text=["code", "y"]).to_pylist() == [{"code": "1,5", "y": "007"}]


def test_a_json_file_gives_the_model_of_its_rows_as_dicts(tmp_path):
    values = [True, "unsure", 3, 2.5, False, None, "3", "true"]
    people = [{"a": value, "y": "no" if i < 3 else "yes"} for i, value in enumerate(values * 2)]
    table = weigh.read_file(write(tmp_path, "people.json", json.dumps(people)))
    of_dicts, of_file = (weigh.EvidenceNB().fit(rows, "y") for rows in (people, table))
    assert str(of_file.evidence_) == str(of_dicts.evidence_)
    for rows in (people, table, weigh.split(table, "y")[0], *([{"a": v}] for v in values)):
        assert_array_equal(of_file.predict_proba(rows), of_dicts.predict_proba(rows))


DATES = st.sampled_from(["2020-01-01", "2020-01-01 10:00", "2020-01-01T10:00:00Z", "10:00"])
TEXT = st.sampled_from(["x", " x ", "", "1", "true", "2020-01-01"])
WHOLE, REAL = st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False)
KINDS = [WHOLE, REAL, WHOLE | REAL, st.booleans(), TEXT, DATES, st.lists(DATES, max_size=2)]


@st.composite
def objects(draw):
    """Rows with a number, a column of one kind, with gaps, and a column of any kinds."""
    kind = st.none() | draw(st.sampled_from(KINDS))
    others = st.one_of(st.none(), *KINDS[:-1])
    row = st.fixed_dictionaries({"id": st.integers(0, 9), "a": kind}, optional={"b": others})
    return draw(st.lists(row, min_size=1, max_size=5))


@given(objects())
def test_lines_of_json_hold_what_a_list_of_the_same_objects_holds(objects):
    lines = "\n".join(map(json.dumps, objects)).encode()
    of_list = read_format("rows.json", json.dumps(objects).encode())
    for name in ("rows.json", "rows.jsonl"):
        found = read_format(name, lines)
        assert {*found.column_names} == {*of_list.column_names}
        for column in found.column_names:
            assert repr(found[column].to_pylist()) == repr(of_list[column].to_pylist())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_json_column_of_several_types_is_written_as_text(tmp_path, ending):
    people = [{"a": v, "y": y} for v in (True, 3.0, "x", None) for y in ("no", "yes")]
    data, model = write(tmp_path, "p.json", json.dumps(people)), str(tmp_path / "m.json")
    out, run = str(tmp_path / f"scores.{ending}"), CliRunner().invoke
    for words in (
        f"fit {data} --target y -o {model}",
        f"score {model} {data} --keep a -o {out}",
    ):
        result = run(main, words.split())
        assert result.exit_code == 0, result.output
    assert weigh.read_file(out)["a"].to_pylist()[::2] == ["true", "3", "x", None]


def test_sas_files_are_read(tmp_path):
    library, path = pytest.importorskip("pyreadstat"), str(tmp_path / "t.xpt")
    library.write_xport(FRAME, path, file_format_version=5)  # pandas reads no later one
    assert read_file(path).to_pylist() == ROWS


def test_spss_files_are_read(tmp_path):
    library, path = pytest.importorskip("pyreadstat"), str(tmp_path / "t.sav")
    library.write_sav(FRAME, path)
    assert read_file(path).to_pylist() == ROWS


def test_an_spss_file_is_read_or_its_library_named(tmp_path):
    path = write(tmp_path, "t.sav", b"$FL2")
    with pytest.raises((ImportError, ValueError), match=r"weigh\[spss\]|t\.sav"):
        read_file(path)


@pytest.mark.parametrize("wrong", [{"decimal": "x"}, {"delimiter": ";;"}, {"encoding": "klingon"}])
def test_a_dialect_that_cannot_be_is_refused_by_name(tmp_path, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        read_file(write(tmp_path, "t.csv", GOOD), **wrong)


SCANNED = (
    "decimal-comma.csv na.csv latin1-named.csv colons.csv spaces.csv utf16.csv utf16-tabs.txt "
    "utf16-big.csv comma-in-a-name.tsv packed.csv.gz"
)


@pytest.mark.parametrize("name", SCANNED.split())
def test_a_scan_reads_what_a_file_in_memory_holds(tmp_path, name):
    data, words, expected = READ[name]
    words = words | ({"decimal": ","} if "decimal" in name else {})
    opened = weigh.scan(write(tmp_path, name, data), **words)
    found = pa.Table.from_batches([*opened.read_batches(opened.names)])
    assert found.to_pylist() == expected


def test_a_scan_reads_a_column_as_text_by_its_name_without_spaces(tmp_path):
    opened = weigh.scan(write(tmp_path, "t.csv", " code , y \n007, 1\n"), text=["code"])
    assert opened.codes("code").values == ("007",)
    assert opened.names == ("code", "y")


def test_headers_of_a_folder_may_differ_by_spaces(tmp_path):
    for name, data in (
        ("1.csv", "a,y\n1,no\n"),
        ("2.csv", " a, y\n2,yes\n"),
        ("3.csv", "y ,a\n,3\n"),
    ):
        write(tmp_path, name, data)
    opened = weigh.scan(tmp_path)
    found = pa.Table.from_batches([*opened.read_batches(opened.names)])
    assert found.to_pylist() == rows(a=[1.0, 2.0, 3.0], y=["no", "yes", None])
    assert [*opened.select(("y",)).batches()][1].codes("y").values == ("yes",)


def test_names_that_differ_by_spaces_in_one_file_are_one_name_twice(tmp_path):
    path = write(tmp_path, "1.csv", "a,a \n1,2\n")
    for read in (
        lambda: weigh.scan(tmp_path),
        lambda: weigh.EvidenceNB().fit(read_file(path), [1]),
    ):
        with pytest.raises(ValueError, match="'a' occurs twice"):
            read()


def test_a_column_is_read_as_text_behind_many_others(tmp_path):
    n = 6_000
    header = ",".join([*(f"some_long_name_{i}" for i in range(n)), "code"])
    path = write(tmp_path, "t.csv", f"{header}\n{'1,' * n}007\n")
    assert len(header) > folders.LINES
    assert read_file(path, text=["code"])["code"].to_pylist() == ["007"]
    assert weigh.scan(path, text=["code"]).codes("code").values == ("007",)


def test_a_scan_finds_the_encoding_where_the_first_block_ends_inside_a_character(tmp_path):
    lines = "a,y\n" + "".join(f"ж{i},{i}\n" for i in range(9000))
    for start in ("", " "):
        opened = weigh.scan(write(tmp_path, "t.csv", (start + lines).encode("utf-16")))
        assert (opened.names, opened.n_rows) == (("a", "y"), 9000)


def test_a_scan_refuses_numbers_that_it_cannot_convert(tmp_path):
    with pytest.raises(ValueError, match="'a'"):
        weigh.scan(write(tmp_path, "t.csv", READ["percent.csv"][0]))


def test_every_command_that_reads_data_takes_the_dialect(tmp_path):
    lines = "".join(f"{i % 7},5:{'yes' if i % 3 else 'no'}\n" for i in range(60))
    data, model = write(tmp_path, "t.csv", "a:y\n" + lines), str(tmp_path / "m.json")
    words = ["--delimiter", ":", "--decimal", ",", "--encoding", "latin-1", "--na", "?"]
    fit = ["fit", data, "--target", "y", "--learner", "evidence", "-o", model, *words]
    assert CliRunner().invoke(main, fit).exit_code == 0
    assert weigh.load(model)._learnt.features[0].is_numeric
    reads = [
        name for name, own in main.commands.items() if any(p.name == "data" for p in own.params)
    ]
    for name in reads:
        assert {"delimiter", "decimal", "encoding", "na"} <= {
            p.name for p in main.commands[name].params
        }
    done = CliRunner().invoke(main, ["score", model, data, *words])
    assert done.exit_code == 0, done.output
