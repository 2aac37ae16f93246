"""SQL: DuckDB, SQLite and PostgreSQL say what Python says, and nothing breaks out of quotes."""

import math
import re
import sqlite3
import sys
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
import sqlglot
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.exported import (
    LEARNERS,
    MANY,
    NASTY,
    assert_same,
    draw_table,
    fitted,
    models,
)

import weigh
from weigh.exports import Formula, checks
from weigh.exports.run import create_table, run_duckdb, run_sqlite
from weigh.exports.sql import DIALECTS, plan

LIGHT = settings(max_examples=40, deadline=None, database=None)
RUN = {"duckdb": run_duckdb, "sqlite": run_sqlite}
DISTINCT = {  # DuckDB and SQLite take columns a and A for one
    "words": st.one_of(
        st.sampled_from([word for word in NASTY if word not in ("A", "Σ", "ς")]),
        st.text("abc'\"\\;-\n年", max_size=5),
    )
}


def assert_sql(model, dialect, run, reasons=0, python=None):
    formula = Formula.of(model)
    python = python or checks.wanted(model, checks.visit(formula))
    query = plan(formula, dialect, contributions=True, reasons=reasons)
    found = run(query.text, formula, python.rows)

    def pick(names):
        return np.array([[row[name] for name in names] for row in found], dtype=float)

    assert_same(python, pick(query.totals), pick(query.predictions))
    parts = pick(query.contributions).reshape(python.contributions.shape)
    np.testing.assert_allclose(parts, python.contributions, rtol=1e-12, atol=0)
    if reasons:
        told = python.reasons(reasons)
        texts = [[row[name] or None for name in query.reasons[::2]] for row in found]
        assert texts == told.texts.tolist()
        np.testing.assert_allclose(pick(query.reasons[1::2]), told.weights, rtol=1e-12)


# ---------------------------------------------------------------- three databases


@pytest.mark.parametrize("dialect", RUN)
@pytest.mark.parametrize("name", LEARNERS)
def test_the_query_says_what_the_model_says(name, dialect):
    assert_sql(fitted(name), dialect, RUN[dialect], reasons=0 if name in MANY else 3)


@LIGHT
@given(models(**DISTINCT))
def test_duckdb_says_what_any_model_says(model):
    assert_sql(model, "duckdb", run_duckdb, reasons=2 if len(model.classes_) == 2 else 0)


@LIGHT
@given(models(**DISTINCT))
def test_sqlite_says_what_any_model_says(model):
    assert_sql(model, "sqlite", run_sqlite, reasons=2 if len(model.classes_) == 2 else 0)


def ask_postgres(server, folder):
    """Run a query on rows, in a table of its own."""

    def quote(cell):
        return "" if cell is None else '"' + str(cell).replace('"', '""') + '"'

    def run(query, formula, rows):
        lines = [",".join(quote(row[c.name]) for c in formula.inputs) for row in rows]
        table = create_table(formula, "postgres", "rows")
        script = folder / "rows.sql"
        copy = 'COPY "rows" FROM STDIN WITH (FORMAT csv)'
        script.write_text(
            f'DROP TABLE IF EXISTS "rows";\n{table};\n{copy};\n' + "\n".join(lines) + "\n\\.\n",
            encoding="utf-8",
            newline="",
        )
        return server.ask(script, query)

    return run


@pytest.fixture
def psql(postgres, tmp_path_factory):
    folder = postgres.folder / "scripts"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    return ask_postgres(postgres, folder)


@pytest.mark.system
@pytest.mark.parametrize("name", LEARNERS)
def test_postgresql_says_what_the_model_says(name, psql):
    assert_sql(fitted(name), "postgres", psql, reasons=0 if name in MANY else 3)


WORDS_PG = st.one_of(
    st.sampled_from([word for word in NASTY if word]),
    st.text("aA'\"\\;-\n年$:", min_size=1, max_size=5),
)


@pytest.mark.system
def test_postgresql_says_what_any_model_says(psql):
    @settings(max_examples=25, deadline=None, database=None)
    @given(models(words=WORDS_PG))
    def holds(model):
        assert_sql(model, "postgres", psql, reasons=2 if len(model.classes_) == 2 else 0)

    holds()


# ---------------------------------------------------------------- far totals


def far_model(scale):
    """A model whose totals are far from 0 either way."""
    rows = [{"a": "x"}, {"a": "y"}] * 3
    model = weigh.EvidenceNB(smoothing=0).fit(rows, [0, 1] * 3)
    table = model.evidence_.tables[0]
    from dataclasses import replace

    far = replace(table, by_class=table.by_class * scale)
    return model._keep(replace(model.evidence_, tables=(far,)))


@pytest.mark.parametrize("scale", [1.0, 20.0, 1e6])
@pytest.mark.parametrize("dialect", RUN)
def test_no_exponential_overflows(scale, dialect):
    assert_sql(far_model(scale), dialect, RUN[dialect])


@pytest.mark.system
@pytest.mark.parametrize("scale", [1.0, 20.0, 1e6])
def test_no_exponential_overflows_in_postgresql(scale, psql):
    assert_sql(far_model(scale), "postgres", psql)


@pytest.mark.parametrize("dialect", RUN)
def test_no_power_of_many_classes_overflows(dialect):
    from dataclasses import replace

    for name in ("softmax", "one against the rest"):
        model = fitted(name)
        tables = tuple(replace(t, by_class=t.by_class * 1e4) for t in model.evidence_)
        far = replace(model.evidence_, tables=tables)
        assert_sql(far, dialect, RUN[dialect])


# ---------------------------------------------------------------- quoting


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=15, deadline=None, database=None)
@given(model=models())
def test_names_and_levels_stay_inside_their_quotes(dialect, model):
    """Read again by a parser of the dialect, the query is one SELECT with the names that it had."""
    formula = Formula.of(model)
    assume(all(can_be_named(name, dialect) for name in formula.column_names))
    query = plan(formula, dialect, contributions=True)
    (tree,) = sqlglot.parse(query.text, dialect=dialect)
    assert isinstance(tree, sqlglot.exp.Select)
    inputs = tree.args["with_"].expressions[0].this
    columns = {column.name for column in inputs.find_all(sqlglot.exp.Column)}
    assert columns == {column.name for column in formula.inputs}
    texts = {value for column in formula.inputs for value in column.values}
    kinds = (sqlglot.exp.Literal, sqlglot.exp.National)
    held = {str(node.this) for node in tree.find_all(*kinds)}
    assert {text for text in texts if isinstance(text, str) and _weighs(formula, text)} <= held


def can_be_named(name, dialect):
    if dialect == "mysql":
        return max(name) <= "\uffff" and not name.endswith(" ")
    return {"bigquery": ".", "spark": "${"}.get(dialect, "\0") not in name


def _weighs(formula, text):
    return any(
        (test.place,) in term.lookup
        for term in formula.terms
        if len(term.columns) == 1
        for test in term.columns[0].conditions
        if test.value == text
    )


def test_a_level_cannot_drop_the_table():
    evil = "'; DROP TABLE rows; --"
    rows = [{"a": evil, evil: "b"}, {"a": "b", evil: evil}] * 3
    model = weigh.EvidenceNB().fit(rows, [0, 1] * 3)
    query = weigh.export(model, "sql", dialect="sqlite", contributions=True, reasons=2)
    formula = Formula.of(model)
    connection = sqlite3.connect(":memory:")
    connection.execute(create_table(formula, "sqlite", "rows"))
    connection.executemany("INSERT INTO rows VALUES (?, ?)", [tuple(row.values()) for row in rows])
    connection.execute(query).fetchall()  # which refuses more than one statement
    assert connection.execute("SELECT count(*) FROM rows").fetchone() == (6,)
    connection.close()


def test_a_name_with_a_line_break_cannot_leave_the_comment():
    model = fitted("evidence")
    text = weigh.export(model, "sql", table="a\nDROP TABLE b")
    comment, query = text.split("\n", 1)
    assert comment.endswith(r"table a\nDROP TABLE b")
    assert query.startswith("WITH")
    assert len(sqlglot.parse(query, dialect="duckdb")) == 1


@pytest.mark.parametrize("odd", ["a\0b", "\ud800"])
def test_what_no_query_can_hold_is_refused(odd):
    model = weigh.EvidenceNB().fit([{"a": odd}, {"a": "b"}] * 2, [0, 1] * 2)
    with pytest.raises(ValueError, match="a level of 'a' is called"):
        weigh.export(model, "sql")


def test_a_column_without_a_name_is_refused():
    model = weigh.EvidenceNB().fit([{"": "a"}, {"": "b"}] * 2, [0, 1] * 2)
    with pytest.raises(ValueError, match="a column without a name"):
        weigh.export(model, "sql")


def test_a_dot_in_a_name_is_refused_where_it_would_be_a_path():
    model = weigh.EvidenceNB().fit([{"a.b": "a"}, {"a.b": "b"}] * 2, [0, 1] * 2)
    assert '"a.b"' in weigh.export(model, "sql")
    with pytest.raises(ValueError, match="BigQuery has no names with dots"):
        weigh.export(model, "sql", dialect="bigquery")


def test_a_column_of_several_types_is_refused():
    model = weigh.EvidenceNB().fit([{"a": 1}, {"a": "b"}] * 2, [0, 1] * 2)
    with pytest.raises(ValueError, match="column 'a' holds values of several types"):
        weigh.export(model, "sql")


# ---------------------------------------------------------------- names


def test_columns_are_kept_and_scores_have_the_names_of_weigh_score():
    model, (X, _) = fitted("evidence"), draw_table()
    query = weigh.export(model, "sql", keep=["job"])
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    found = run_duckdb(query, Formula.of(model), rows)
    assert [*found[0]] == ["job", "log_odds", "probability_no", "probability_yes"]
    assert [row["job"] for row in found] == [row["job"] for row in rows]
    np.testing.assert_allclose([row["log_odds"] for row in found], model.decision_function(X))


def test_the_table_may_have_a_schema():
    assert 'FROM "main"."people"' in weigh.export(fitted("evidence"), "sql", table="main.people")


@pytest.mark.parametrize("keep", [["log_odds"], ["LOG_ODDS"], ["a", "a"]])
def test_a_kept_column_that_scores_have_too_is_refused(keep):
    with pytest.raises(ValueError, match="rename it"):
        weigh.export(fitted("evidence"), "sql", keep=keep)


def test_names_that_a_database_takes_for_one_another_are_told_apart():
    long = "x" * 80
    rows = [{long + "a": 1, long + "b": "2"}] * 4
    model = weigh.EvidenceNB().fit(rows, ["A", "a"] * 2)
    query = plan(Formula.of(model), "postgres", contributions=True)
    names = [name.casefold() for name in (*query.predictions, *query.contributions)]
    assert len({*names}) == len(names) == 4
    assert max(len(name.encode()) for name in names) <= 63


def test_large_whole_numbers_are_told_apart():
    rows = [{"id": 2**53 + 1}, {"id": 2**53}, {"id": 2**60 + 7}] * 4
    model = weigh.EvidenceNB(categorical_features="all").fit(rows, ([0, 1, 0] * 4))
    formula = Formula.of(model)
    python = checks.wanted(model, [*rows[:3], {"id": None}, {"id": 5}])
    assert_sql(model, "duckdb", run_duckdb, python=python)
    assert_sql(model, "sqlite", run_sqlite, python=python)
    assert formula.inputs[0].kind == "numbers"


def test_categories_that_are_infinite_are_levels():
    rows = [{"a": np.inf}, {"a": -np.inf}, {"a": 2}] * 4
    model = weigh.EvidenceNB(categorical_features="all").fit(rows, [0, 1, 0] * 4)
    for dialect, run in RUN.items():
        assert_sql(model, dialect, run)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", LEARNERS)
def test_every_dialect_is_written_and_read_by_its_own_parser(name, dialect):
    query = plan(Formula.of(fitted(name)), dialect, contributions=True)
    (tree,) = sqlglot.parse(query.text, dialect=dialect)
    named = [column.alias for column in tree.expressions]
    assert named == [*query.totals, *query.predictions, *query.contributions]


def test_a_query_in_another_dialect_says_the_same_when_translated():
    """What cannot be run here is at least the same query: read back, and run in DuckDB."""
    for dialect in ("postgres", "snowflake", "spark"):
        for name in ("educated", "spline", "one against the rest"):
            model = fitted(name)
            query = plan(Formula.of(model), dialect, contributions=True)

            def run(text, formula, rows, dialect=dialect):
                return run_duckdb(
                    sqlglot.transpile(text, read=dialect, write="duckdb")[0], formula, rows
                )

            assert_sql(model, dialect, run)
            assert query.text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"dialect": "oracle"}, "dialect must be one of duckdb"),
        ({"reasons": -1}, "reasons .*-1"),
        ({"keep": "job"}, "keep is a list"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, says):
    with pytest.raises(ValueError, match=says):
        weigh.export(fitted("evidence"), "sql", **options)


def test_reasons_of_many_classes_are_refused():
    with pytest.raises(ValueError, match="reasons in SQL need a model of two classes"):
        weigh.export(fitted("softmax"), "sql", reasons=2)


def test_without_sqlglot_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(ImportError, match=re.escape("weigh[sql]")):
        weigh.export(fitted("evidence"), "sql")


def test_hundreds_of_features_make_one_query():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.choice([*"ab"], (60, 150)), columns=[f"c{j}" for j in range(150)])
    model = weigh.EvidenceNB().fit(X, rng.integers(0, 2, 60))
    for dialect, run in RUN.items():
        formula = Formula.of(model)
        query = plan(formula, dialect)
        found = run(query.text, formula, X.to_dict("records"))
        totals = [row["log_odds"] for row in found]
        np.testing.assert_allclose(totals, model.decision_function(X), rtol=1e-9)


# ---------------------------------------------------------------- what databases do by themselves


def titanic_model():
    return weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")


@pytest.mark.parametrize("keep", [[], ["id"]])
@pytest.mark.parametrize("columns", ["Class, gender, Age", "Class, Sex, Age"])
def test_a_column_that_lacks_is_an_error_in_sqlite_and_no_text(columns, keep):
    query = weigh.export(titanic_model(), "sql", dialect="sqlite", keep=keep)
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE rows ({columns})")
    connection.execute("INSERT INTO rows VALUES ('1st', 'Male', 'Adult')")
    if "Sex" in columns and not keep:
        assert len(connection.execute(query).fetchall()) == 1
    else:
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            connection.execute(query).fetchall()
    connection.close()


CASES = ["a", "A", "b"]


def cased_model():
    return weigh.EvidenceNB().fit([{"c": c} for c in CASES] * 3, [0, 1, 1] * 3)


def assert_cases(found):
    totals = cased_model().decision_function([{"c": c} for c in [*CASES, "B"]])
    np.testing.assert_allclose([float(row) for row in found], totals, rtol=1e-9)


def test_a_collation_of_duckdb_makes_no_difference():
    import duckdb

    query = weigh.export(cased_model(), "sql", dialect="duckdb")
    for pragma, collation in (("", "COLLATE NOCASE"), ("PRAGMA default_collation=NOCASE", "")):
        with duckdb.connect(":memory:") as connection:
            connection.execute(pragma or "SELECT 1")
            connection.execute(f"CREATE TABLE rows (c VARCHAR {collation})")
            connection.execute("INSERT INTO rows VALUES ('a'), ('A'), ('b'), ('B')")
            assert_cases([row[0] for row in connection.execute(query).fetchall()])


@pytest.mark.system
def test_a_collation_of_postgresql_makes_no_difference(postgres):
    folder = postgres.folder / "scripts"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    script = folder / "cases.sql"
    script.write_text(
        'DROP TABLE IF EXISTS "rows"; DROP COLLATION IF EXISTS anycase;\n'
        "CREATE COLLATION anycase "
        "(provider = icu, locale = 'und-u-ks-level2', deterministic = false);\n"
        'CREATE TABLE "rows" (c TEXT COLLATE anycase);\n'
        "INSERT INTO \"rows\" VALUES ('a'), ('A'), ('b'), ('B');\n"
    )
    found = postgres.ask(script, weigh.export(cased_model(), "sql", dialect="postgres"))
    assert_cases([row["log_odds"] for row in found])


@pytest.mark.parametrize("kind", ["", "REAL"])
def test_text_in_a_column_of_numbers_is_an_error_in_sqlite_and_not_zero(kind):
    model = weigh.EvidenceNB(bins={"v": [1.0]}).fit([{"v": 0.5}, {"v": 2.0}] * 3, [0, 1] * 3)
    query = weigh.export(model, "sql", dialect="sqlite")

    def ask(value):
        connection = sqlite3.connect(":memory:")
        connection.execute(f"CREATE TABLE rows (v {kind})")
        connection.execute("INSERT INTO rows VALUES (?)", (value,))
        try:
            return connection.execute(query).fetchall()[0][0]
        finally:
            connection.close()

    for value in (2, 2.5, -1, None, 2**60 + 1):
        number = None if value is None else float(value)
        assert ask(value) == pytest.approx(model.decision_function([{"v": number}])[0])
    for value in ("", "n/a", "2x", "2,5"):
        with pytest.raises(sqlite3.OperationalError, match="number"):
            ask(value)


# ---------------------------------------------------------------- names that mean something else


@pytest.mark.parametrize("table", ["server.db.dbo.people", "a..b", "", "people."])
def test_a_table_of_more_parts_than_a_query_can_name_is_refused(table):
    with pytest.raises(ValueError, match=re.escape(f"got {table!r}")):
        weigh.export(fitted("evidence"), "sql", dialect="tsql", table=table)


@pytest.mark.parametrize("table", ["inputs", "weights", "totals", "powers", "weigh_rows"])
@pytest.mark.parametrize("dialect", RUN)
def test_a_table_may_be_called_like_a_step(table, dialect):
    model = fitted("evidence")
    formula, rows = Formula.of(model), checks.visit(Formula.of(model))
    query = weigh.export(model, "sql", dialect=dialect, table=table)
    found = RUN[dialect](query, formula, rows, table=table)
    wanted = checks.wanted(model, rows).totals[:, 0]
    np.testing.assert_allclose([row["log_odds"] for row in found], wanted, rtol=1e-9)


@pytest.mark.parametrize("table", ["weigh_inputs", "WEIGH_totals"])
def test_a_table_that_is_a_step_is_refused_by_name(table):
    with pytest.raises(ValueError, match=f"table '{table}': a step of the query has this name"):
        weigh.export(fitted("evidence"), "sql", table=table)
    assert f'"main"."{table}"' in weigh.export(fitted("evidence"), "sql", table=f"main.{table}")


def test_what_the_writer_of_queries_takes_for_a_line_break_is_refused():
    word = "a__SQLGLOT__LB__b"
    model = weigh.EvidenceNB().fit([{"a": word}, {"a": "b"}] * 2, [0, 1] * 2)
    with pytest.raises(ValueError, match="a level of 'a' is called"):
        weigh.export(model, "sql")
    for option in ({"keep": [word]}, {"table": word}):
        with pytest.raises(ValueError, match=f"{word}': SQL cannot write this name"):
            weigh.export(fitted("evidence"), "sql", **option)


@pytest.mark.parametrize("level", ["${x}", r"\${x}", r"\u0024{x}", "$${a:b}"])
def test_no_variable_of_spark_is_in_the_query_and_the_level_is_read_back(level):
    model = weigh.EvidenceNB().fit([{"a": level}, {"a": "b"}] * 3, [0, 1] * 3)
    query = weigh.export(model, "sql", dialect="spark", reasons=1)
    assert "${" not in query
    tree = sqlglot.parse_one(query, dialect="spark")
    assert level in {str(node.this) for node in tree.find_all(sqlglot.exp.Literal)}


@pytest.mark.parametrize(
    ("dialect", "name", "says"),
    [
        ("spark", "${x}", "Spark puts a variable"),
        ("mysql", "😀", "beyond U+FFFF"),
        ("mysql", "a ", "a blank at the end"),
        ("mysql", "x" * 65, "more than 64 characters"),
    ],
)
def test_a_column_that_a_database_cannot_name_is_refused(dialect, name, says):
    model = weigh.EvidenceNB().fit([{name: "a"}, {name: "b"}] * 2, [0, 1] * 2)
    for asked in ({"model": model}, {"keep": [name]}, {"table": name}):
        with pytest.raises(ValueError, match=f"{re.escape(repr(name))}: .*{re.escape(says)}"):
            weigh.export(**{"model": fitted("evidence")} | asked, to="sql", dialect=dialect)


def test_names_that_we_make_are_ones_that_the_database_can_read():
    rows, labels = [{"a": "x"}, {"a": "y"}] * 2, ["😀", "😎 ", "${x}", "b "]
    formula = Formula.of(weigh.EvidenceNB().fit(rows, labels))
    made = {dialect: plan(formula, dialect).predictions for dialect in ("mysql", "spark")}
    assert made["mysql"] == (
        "probability_${x}", "probability_b", "probability_U+1F600", "probability_U+1F60E",
    )  # fmt: skip
    assert made["spark"][0] == "probability_$ {x}"


# ---------------------------------------------------------------- types of columns


CODED = {"code": "1", "ward": 1, "age": 1.5}


def ask_coded(dialect, odd):
    """The query of a model of codes, on a table of one row with types of its own."""
    import duckdb
    from tests.exports.test_exports import coded_model

    row = CODED | odd
    types = {str: "TEXT", int: "INTEGER", float: "DOUBLE", bool: "BOOLEAN"}
    columns = ", ".join(f"{name} {types[type(value)]}" for name, value in row.items())
    connect = duckdb.connect if dialect == "duckdb" else sqlite3.connect
    with closing(connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE rows ({columns})")
        connection.execute("INSERT INTO rows VALUES (?, ?, ?)", [*row.values()])
        query = weigh.export(coded_model(), "sql", dialect=dialect)
        return connection.execute(query).fetchone()


@pytest.mark.parametrize("dialect", RUN)
@pytest.mark.parametrize("odd", [{"code": 1}, {"code": 1.0}])
def test_a_number_for_a_level_of_text_is_refused_by_name(dialect, odd):
    assert ask_coded(dialect, {})[0] != 0
    with pytest.raises(Exception, match=r"'code'+ held text .*numbers"):
        ask_coded(dialect, odd)


@pytest.mark.parametrize("odd", [{"ward": "1"}, {"age": "1.5"}, {"age": "much"}, {"age": ""}])
def test_sqlite_refuses_text_for_a_number_by_name(odd):
    """SQLite would take any text for 0, and none for the level 1."""
    (name,) = odd
    with pytest.raises(Exception, match=rf"'{name}'+ held numbers .*text"):
        ask_coded("sqlite", odd)


def test_duckdb_takes_an_enum_for_text():
    import duckdb
    from tests.exports.test_exports import coded_model

    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TYPE codes AS ENUM ('1', '2', 'INTEGER')")
        connection.execute("CREATE TABLE rows (code codes, ward INTEGER, age DOUBLE)")
        connection.execute("INSERT INTO rows VALUES ('1', 1, 1.5)")
        found = connection.execute(weigh.export(coded_model(), "sql")).fetchone()
    assert found[0] == pytest.approx(coded_model().decision_function([CODED])[0])


@pytest.mark.system
def test_postgresql_refuses_a_number_for_a_level_of_text_by_name(postgres, psql):
    from tests.exports.test_exports import coded_model

    script = postgres.folder / "scripts" / "coded.sql"
    for kind, value in (("integer", "1"), ("double precision", "1"), ("boolean", "true")):
        script.write_text(
            f"DROP TABLE IF EXISTS rows; CREATE TABLE rows (code {kind}, ward integer, age float);"
            f"INSERT INTO rows VALUES ({value}, 1, 1.5);"
        )
        with pytest.raises(Exception, match=r"'code'+ held text"):
            postgres.ask(script, weigh.export(coded_model(), "sql", dialect="postgres"))


def smoking_model(**options):
    rows = [{"smokes": value} for value in (True, False, True, None)] * 3
    return weigh.EvidenceNB(**options).fit(rows, [0, 1, 1, 0] * 3)


@pytest.mark.parametrize("options", [{}, {"max_levels": 1}])
@pytest.mark.parametrize("kind", ["", "BOOLEAN", "TEXT"])
def test_sqlite_refuses_text_for_a_boolean_by_name(kind, options):
    """SQLite would take 'true' for a value that training did not see."""
    model = smoking_model(**options)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE rows (smokes {kind})")
        query = weigh.export(model, "sql", dialect="sqlite")
        for value in (True, False, None) if kind != "TEXT" else (None,):
            connection.execute("INSERT INTO rows VALUES (?)", (value,))
            found = connection.execute(query).fetchall()[-1][0]
            assert found == pytest.approx(model.decision_function([{"smokes": value}])[0])
        for text in ("true", "false", ""):
            connection.execute("DELETE FROM rows")
            connection.execute("INSERT INTO rows VALUES (?)", (text,))
            with pytest.raises(Exception, match=r"'smokes'+ held booleans .*text"):
                connection.execute(query).fetchall()


ABSENT = [("DOUBLE", "NULL"), ("DOUBLE", "'NaN'"), ("FLOAT", "'NaN'"), ("INTEGER", "NULL")]


@pytest.mark.parametrize(("kind", "value"), ABSENT)
def test_duckdb_takes_numbers_that_are_missing_for_text_that_is_missing(kind, value):
    """Data frames hold a column of text in which nothing is known as numbers that are NaN."""
    import duckdb
    from tests.exports.test_exports import coded_model

    wanted = coded_model().decision_function([CODED | {"code": None}])[0]
    query = weigh.export(coded_model(), "sql")
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE rows (code {kind}, ward INTEGER, age DOUBLE)")
        assert connection.execute(query).fetchall() == []
        connection.execute(f"INSERT INTO rows VALUES ({value}, 1, 1.5)")
        assert connection.execute(query).fetchone()[0] == pytest.approx(wanted)
        connection.execute("INSERT INTO rows VALUES (1, 1, 1.5)")
        with pytest.raises(Exception, match=r"'code'+ held text"):
            connection.execute(query).fetchall()


@pytest.mark.system
def test_postgresql_takes_numbers_that_are_missing_for_text_that_is_missing(postgres, psql):
    from tests.exports.test_exports import coded_model

    script = postgres.folder / "scripts" / "absent.sql"
    wanted = coded_model().decision_function([CODED | {"code": None}])[0]
    kinds = {"DOUBLE": "double precision", "FLOAT": "real"}
    for kind, value in (*ABSENT, ("numeric", "'NaN'"), ("boolean", "NULL")):
        script.write_text(
            f"DROP TABLE IF EXISTS rows; CREATE TABLE rows (code {kinds.get(kind, kind)}, "
            f"ward integer, age float); INSERT INTO rows VALUES ({value}, 1, 1.5);"
        )
        found = postgres.ask(script, weigh.export(coded_model(), "sql", dialect="postgres"))
        assert float(found[0]["log_odds"]) == pytest.approx(wanted)


def ask_mysql(model, name, value):
    """The query for MySQL in SQLite, with functions as MySQL has them."""

    def replace(text, pattern, by):
        return text and re.sub(pattern.replace("[:space:]", r"\s"), by, text)

    def concat(*texts):
        return None if None in texts else "".join(map(str, texts))

    def power(x):
        if x > 709:
            raise ValueError("out of range")
        return math.exp(x)

    query = weigh.export(model, "sql", dialect="mysql")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("REGEXP_REPLACE", 3, replace)
        connection.create_function("CONCAT", -1, concat)
        connection.create_function("ORD", 1, lambda x: x if x is None else ord(str(x)[:1] or "\0"))
        connection.create_function("EXP", 1, power)
        connection.execute(f"CREATE TABLE rows ({name})")
        connection.execute("INSERT INTO rows VALUES (?)", (value,))
        return connection.execute(query).fetchone()[0]


@pytest.mark.parametrize("text", ["n/a", "16kg", "", "true", "false", "1,5"])
@pytest.mark.parametrize("name", ["smokes", "code", "age"])
def test_the_query_for_mysql_fails_on_text_that_is_no_number(name, text):
    """MySQL would take 'n/a' for the code 0, '16kg' for 16, and 'true' for false."""
    rows = [{"code": code, "age": float(code)} for code in (0, 16, 1, 2**53 + 1)] * 3
    options = {"code": {"categorical_features": "all"}, "age": {"bins": {"age": [2.0]}}}
    if name == "smokes":
        model = smoking_model()
    else:
        model = weigh.EvidenceNB(**options[name]).fit(
            [{name: row[name]} for row in rows], [0, 1, 1, 0] * 3
        )
    known = [True, False] if name == "smokes" else [row[name] for row in rows[:4]]
    for value in [*known, None]:
        wanted = model.decision_function([{name: value}])[0]
        assert ask_mysql(model, name, value) == pytest.approx(wanted)
    with pytest.raises(sqlite3.OperationalError, match="user-defined function raised exception"):
        ask_mysql(model, name, text)


@pytest.mark.parametrize(
    ("given", "meant"), [({"to": "SQL"}, "sql"), ({"to": "sql", "dialect": "mysqll"}, "mysql")]
)
def test_a_misspelt_target_or_dialect_is_met_with_the_nearest(given, meant):
    model = weigh.EvidenceNB().fit([["a"], ["b"]] * 4, [0, 1] * 4)
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        weigh.export(model, **given)
