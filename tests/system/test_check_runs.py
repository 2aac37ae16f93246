"""`weigh check` runs one query that only reads, whatever a file holds."""

import sqlite3

import duckdb
import pytest

import weigh
from weigh.datasets import titanic
from weigh.exports.run import run_duckdb, run_sqlite
from weigh.exports.selftest import check
from weigh.exports.targets import read_formula

MODEL = weigh.EvidenceNB().fit(titanic(), "Survived")
FORMULA = read_formula(MODEL)
BLANK = dict.fromkeys(FORMULA.column_names)


def planted(query, target):
    """A file with something else than one query that reads; a string in it names a file."""
    body = "\n".join(query.splitlines()[1:]).rstrip().rstrip(";")
    return {
        "copy": f"COPY ({body}) TO '{target}' (FORMAT csv)",
        "copy after": f"{body};\nCOPY (SELECT 1) TO '{target}'",
        "copy before": f"COPY (SELECT 1) TO '{target}';\n{body}",
        "attach": f"ATTACH '{target}' AS other;\n{body}",
        "create": f"CREATE TABLE t AS {body}",
        "drop": f"DROP TABLE rows;\n{body}",
        "install": f"INSTALL httpfs;\n{body}",
        "nothing": "",
    }


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
@pytest.mark.parametrize("kind", planted("", ""))
def test_a_file_that_does_more_than_read_is_refused_and_does_nothing(tmp_path, kind, dialect):
    query = weigh.export(MODEL, "sql", dialect=dialect)
    target, file = tmp_path / "planted.csv", tmp_path / "score.sql"
    file.write_text(f"{query.splitlines()[0]}\n{planted(query, target)[kind]}\n")
    with pytest.raises(ValueError, match=r"score\.sql"):
        check(file, MODEL)
    assert not target.exists()


def test_a_query_cannot_reach_files(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    for query in (f"SELECT * FROM '{secret}'", f"SELECT content FROM read_text('{secret}')"):
        with pytest.raises(duckdb.Error, match="disabled"):
            run_duckdb(query, FORMULA, [BLANK])
    with pytest.raises(sqlite3.Error, match="readonly"):
        run_sqlite("DELETE FROM rows", FORMULA, [BLANK])


ENDLESS = "WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n FROM x) SELECT count(*) FROM x"


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_query_that_does_not_end_is_stopped(tmp_path, dialect, monkeypatch):
    monkeypatch.setattr("weigh.exports.run.MOST_SECONDS", 0.2)
    file = tmp_path / "score.sql"
    file.write_text(f"-- A, written down by weigh for {dialect}, table rows\n{ENDLESS}\n")
    with pytest.raises(ValueError, match=r"score\.sql .* longer than 0\.2 seconds"):
        check(file, MODEL)


@pytest.mark.parametrize("run", [run_duckdb, run_sqlite])
def test_only_one_row_more_than_expected_is_fetched(run):
    count = "WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n < 9999)"
    assert run(f"{count} SELECT n FROM x ORDER BY n", FORMULA, [BLANK]) == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    ("source", "said"), [("rows, x", r"more than [\d,]+ rows for"), ("x", "gives 2 rows for")]
)
def test_a_query_that_gives_more_or_fewer_rows_is_refused(tmp_path, dialect, source, said):
    file = tmp_path / "score.sql"
    query = f"WITH x AS (SELECT 1 AS n UNION ALL SELECT 2) SELECT n FROM {source}"
    file.write_text(f"-- A, written down by weigh for {dialect}, table rows\n{query}\n")
    with pytest.raises(ValueError, match=rf"score\.sql .*{said}.*each row"):
        check(file, MODEL)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_query_that_was_not_exported_is_refused_in_words(tmp_path, dialect):
    file = tmp_path / "score.sql"
    file.write_text(f"-- A, written down by weigh for {dialect}, table rows\nSELECT 1 AS a\n")
    with pytest.raises(ValueError, match="must begin with WITH"):
        check(file, MODEL)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres", "mysql"])
def test_what_was_exported_is_still_checked(tmp_path, dialect):
    weigh.export(MODEL, "sql", path=tmp_path / "score.sql", dialect=dialect)
    assert check(tmp_path / "score.sql", MODEL).difference.holds
