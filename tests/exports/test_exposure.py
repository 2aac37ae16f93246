"""Every export of a model with exposure and offset gives Python's estimates for the row's own."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

import weigh
from weigh.errors import ParameterError
from weigh.exports.run import run_duckdb, run_onnx, run_pmml, run_sqlite, run_workbook
from weigh.exports.selftest import check
from weigh.formula import Formula, Scorer
from weigh.serving.loaded import Served
from weigh.serving.requests import RefusalError, RequestedRows, read_rows
from weigh.store import describe

ENDINGS = {"sql": "sql", "python": "py", "onnx": "onnx", "json": "json"}


def make_rows(n=300, seed=0):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "bonus": random.integers(0, 4, n),
            "fuel": random.choice(["petrol", "diesel"], n),
            "years": random.uniform(0.1, 2.0, n).round(2),
            "shift": random.normal(0, 0.3, n).round(2),
        }
    )
    mean = rows["years"] * np.exp(-1 + 0.3 * rows["bonus"] + rows["shift"])
    return rows.assign(claims=random.poisson(mean), cost=random.gamma(2.0, mean))


def fit_model(family="poisson", **given):
    rows = make_rows()
    target, other = ("claims", "cost") if family == "poisson" else ("cost", "claims")
    unused = [name for name in ("years", "shift") if name not in given.values()]
    model = weigh.EducatedRegressor(family=family, pairs=0)
    return model.fit(rows.drop(columns=[other, *unused]), target, **given)


GIVEN = {
    "exposure": ("poisson", {"exposure": "years"}),
    "both": ("tweedie", {"exposure": "years", "offset": "shift"}),
    "offset": ("gaussian", {"offset": "shift"}),
}


@pytest.fixture(scope="module", params=[*GIVEN])
def case(request):
    """A model, and rows with Python's estimates of them."""
    family, given = GIVEN[request.param]
    model = fit_model(family, **given)
    rows = make_rows(12, seed=1).drop(columns=["claims", "cost"])
    return model, rows, model.predict(rows, **given)


def records(model, rows):
    """Rows as dicts, with the columns that the model asks for."""
    names = [column.name for column in Formula.of(model).inputs]
    return [{name: row[name] for name in names} for row in rows.to_dict("records")]


def call(source, row):
    names = {}
    exec(source, names)
    return names["score"](row)["estimate"]


def test_what_needs_no_program_gives_the_estimates_of_python(case):
    model, rows, expected = case
    formula, own = Formula.of(model), records(model, rows)
    query = weigh.export(model, "sql", dialect="sqlite")
    told = [row["estimate"] for row in run_sqlite(query, formula, own)]
    np.testing.assert_allclose(told, expected, rtol=1e-12)
    source = weigh.export(model, "python")
    np.testing.assert_allclose([call(source, row) for row in own], expected, rtol=1e-12)
    totals = Scorer(formula).totals(own)[:, 0]
    np.testing.assert_allclose(model.evidence_.means(totals), expected, rtol=1e-12)


@pytest.mark.parametrize("to", ["duckdb", "onnx"])
def test_what_a_library_runs_gives_the_estimates_of_python(case, to):
    model, rows, expected = case
    formula, own = Formula.of(model), records(model, rows)
    if to == "duckdb":
        told = [row["estimate"] for row in run_duckdb(weigh.export(model, "sql"), formula, own)]
    else:
        told = run_onnx(weigh.export(model, "onnx"), formula, own)["estimate"][:, 0]
    np.testing.assert_allclose(told, expected, rtol=1e-12)


@pytest.mark.system
@pytest.mark.parametrize("to", ["pmml", "xlsx"])
def test_what_another_program_runs_gives_the_estimates_of_python(case, to, program):
    program("java" if to == "pmml" else "soffice")
    model, rows, expected = case
    formula, own = Formula.of(model), records(model, rows)
    written = weigh.export(model, to)
    if to == "pmml":
        told = [row["estimate"] for row in run_pmml(written, formula, own)]
    else:
        told = run_workbook(written, formula, own).predictions[:, 0]
    np.testing.assert_allclose(told, expected, rtol=1e-9)


@pytest.mark.parametrize("to", [*ENDINGS, pytest.param("xlsx", marks=pytest.mark.system)])
def test_the_self_test_tries_exposures_and_offsets(tmp_path, to):
    model = fit_model(exposure="years", offset="shift")
    path = tmp_path / f"model.{ENDINGS.get(to, to)}"
    weigh.export(model, to, path=path)
    found = check(path, model).difference
    assert found.holds
    assert found.n_rows > 20


def test_a_row_may_give_its_exposure_alone():
    model, row = fit_model(exposure="years", offset="shift"), {"years": 0.5, "shift": 0.1}
    given = {"exposure": "years", "offset": "shift"}
    expected = model.balance_sheet(row).estimate
    assert model.predict([row], **given) == pytest.approx([expected])
    assert weigh.score_table(model, [row])["estimate"].to_pylist() == pytest.approx([expected])
    assert model.evidence_.total([row])[0, 0] == pytest.approx(model.evidence_.prior_row[0])
    with pytest.raises(ValueError, match="none of the columns"):
        model.predict([row | {"bonus": 2}, {"day": 3}])


def test_the_self_test_finds_a_query_that_forgets_the_exposure(tmp_path):
    model, path = fit_model(exposure="years"), tmp_path / "model.sql"
    text = weigh.export(model, "sql")
    assert text.count("LN(") == 1
    path.write_text(text.replace("LN(", "0 * LN("))
    assert not check(path, model).difference.holds


def test_without_exposure_and_offset_the_estimate_is_for_one_unit():
    model = fit_model(exposure="years", offset="shift")
    row = {"bonus": 2, "fuel": "diesel"}
    expected = model.predict(pd.DataFrame([row]))[0]
    source = weigh.export(model, "python")
    for more in ({}, {"years": None}, {"years": 1, "shift": 0}, {"years": float("nan")}):
        assert call(source, row | more) == pytest.approx(expected, rel=1e-12)
        assert model.balance_sheet(row | more).estimate == pytest.approx(expected, rel=1e-12)
    query, empty = weigh.export(model, "sql", dialect="sqlite"), {"years": None, "shift": None}
    (found,) = run_sqlite(query, Formula.of(model), [row | empty])
    assert found["estimate"] == pytest.approx(expected, rel=1e-12)


def test_a_missing_exposure_or_offset_of_a_row_in_a_table_is_that_of_every_export():
    model, rows = fit_model(exposure="years", offset="shift"), make_rows(4, seed=1)
    blank, told = rows.copy(), rows.copy()
    blank.loc[1, "years"] = blank.loc[2, "shift"] = np.nan
    told.loc[1, "years"], told.loc[2, "shift"] = 1.0, 0.0
    given = {"exposure": "years", "offset": "shift"}
    of_exposure = "column 'years', the exposure, has missing values; it counts as 1 in these rows$"
    of_offset = "column 'shift', the offset, has missing values; it counts as 0 in these rows$"
    for find in (model.predict, model.predict_interval):
        with pytest.warns(match=of_exposure), pytest.warns(match=of_offset):
            found = find(blank, **given)
        np.testing.assert_array_equal(found, find(told, **given))
    with pytest.warns(match=of_exposure), pytest.warns(match=of_offset):
        table = weigh.score_table(model, blank)
    expected = weigh.score_table(model, told)
    for name in ("estimate", "low", "high"):
        np.testing.assert_array_equal(table[name], expected[name])
    alone = [call(weigh.export(model, "python"), row) for row in records(model, blank)]
    np.testing.assert_allclose(alone, table["estimate"], rtol=1e-12)


@pytest.mark.parametrize("lost", ["years", "shift"])
def test_rows_with_targets_need_their_exposure_and_offset(lost):
    model, rows = fit_model(exposure="years", offset="shift"), make_rows(40, seed=1)
    rows.loc[7, lost] = np.nan
    role = {"years": "exposure", "shift": "offset"}[lost]
    message = f"{role} '{lost}' is empty, NaN or infinite in 1 of 40 rows, first in row 7"
    for use in (
        lambda: model.fit(rows.drop(columns="cost"), "claims", exposure="years", offset="shift"),
        lambda: model.score(rows, "claims"),
        lambda: weigh.evaluate(model, rows, "claims"),
        lambda: weigh.drift(model, rows, "claims"),
    ):
        with pytest.raises(ParameterError, match=message):
            use()


def test_an_infinite_exposure_is_refused_although_a_missing_one_is_not():
    model, rows = fit_model(exposure="years"), make_rows(4, seed=1)
    rows.loc[1, "years"] = np.inf
    with pytest.raises(ParameterError, match=r"'years' is .*infinite in 1 of 4 rows"):
        model.predict(rows, exposure="years")


def test_a_sheet_takes_the_exposure_although_the_row_lacks_the_offset():
    model = fit_model(exposure="years", offset="shift")
    row = {"bonus": 2, "fuel": "diesel"}
    one, half = model.balance_sheet(row), model.balance_sheet(row | {"years": 0.5})
    assert half.estimate == pytest.approx(one.estimate / 2, rel=1e-12)
    assert [push.text for push in half.offsets] == ["years = 0.5 (exposure)"]


@pytest.mark.parametrize("wrong", [0.0, -0.5])
def test_an_exposure_that_is_not_positive_has_no_estimate(wrong, tmp_path):
    model = fit_model(exposure="years")
    formula, row = Formula.of(model), {"bonus": 2, "fuel": "diesel", "years": wrong}
    for dialect in ("sqlite", "duckdb"):
        run = run_sqlite if dialect == "sqlite" else run_duckdb
        (found,) = run(weigh.export(model, "sql", dialect=dialect), formula, [row])
        assert found["total"] is found["estimate"] is None
    assert np.isnan(run_onnx(weigh.export(model, "onnx"), formula, [row])["estimate"]).all()
    with pytest.raises(ValueError, match="'years', the exposure, must be above 0"):
        call(weigh.export(model, "python"), row)
    with pytest.raises(ValueError, match="'years', the exposure, must be a finite number above 0"):
        Scorer(formula).totals([row])
    weigh.save(model, tmp_path / "m.json")
    served = Served.load(tmp_path / "m.json", 10)
    with pytest.raises(RefusalError, match='"years", the exposure, must be above 0') as error:
        read_rows(json.dumps(row).encode(), served.scorer, 10)
    assert error.value.field == "years"


@pytest.mark.system
def test_programs_give_no_estimate_for_an_exposure_that_is_not_positive(program):
    program("java"), program("soffice")
    model = fit_model(exposure="years")
    formula = Formula.of(model)
    rows = [{"bonus": 2, "fuel": "diesel", "years": wrong} for wrong in (0.0, -0.5)]
    for row in run_pmml(weigh.export(model, "pmml"), formula, rows):
        assert row["estimate"] is None or np.isnan(row["estimate"])
    found = run_workbook(weigh.export(model, "xlsx"), formula, rows)
    assert np.isnan(found.predictions).all()
    assert all(any("years is an exposure" in note for note in notes) for notes in found.notes)


def test_the_service_estimates_and_explains_for_the_exposure_of_a_row(tmp_path):
    model = fit_model(exposure="years", offset="shift")
    weigh.save(model, tmp_path / "m.json")
    served = Served.load(tmp_path / "m.json", 10)
    rows = make_rows(5, seed=1).drop(columns=["claims", "cost"])
    asked = RequestedRows(tuple(rows.to_dict("records")), single=False)
    told = json.loads(served.score(asked))["rows"]
    given = {"exposure": "years", "offset": "shift"}
    expected, limits = model.predict(rows, **given), model.predict_interval(rows, **given)
    np.testing.assert_allclose([row["estimate"] for row in told], expected, rtol=1e-12)
    np.testing.assert_allclose([[row["low"], row["high"]] for row in told], limits)
    assert {row["estimate_of"] for row in told} == {"claims"}
    first = {name: value for name, value in asked.rows[0].items() if name != "years"}
    (one,) = json.loads(served.score(RequestedRows((first,), single=False)))["rows"]
    assert one["estimate"] == pytest.approx(expected[0] / rows["years"][0], rel=1e-12)
    assert one["estimate_of"] == "claims per unit of years"
    sheet = json.loads(served.explain(asked.rows[0], None, None))
    assert sheet["estimate"] == pytest.approx(expected[0], rel=1e-12)
    alone = json.loads(served.explain({"years": 0.5}, None, None))
    assert alone["estimate"] == pytest.approx(model.balance_sheet({}).estimate / 2, rel=1e-12)
    fields = json.loads(served.contract)["components"]["schemas"]["Row"]["properties"]
    assert fields["years"]["exclusiveMinimum"] == 0
    assert "shift" in fields


@pytest.mark.parametrize(
    "given",
    [
        lambda rows: {"exposure": rows["years"] / 365.25},
        lambda rows: {"offset": np.log(rows["years"])},
        lambda rows: {"exposure": rows["years"]},
    ],
)
def test_a_series_names_no_column_for_exports(given):
    """pandas keeps the name of a column through arithmetic, so its values may be others."""
    rows = make_rows()
    X = rows[["bonus", "fuel"]]
    model = weigh.EducatedRegressor(family="poisson", pairs=0)
    model.fit(X, rows["claims"], **given(rows))
    assert Formula.of(model).offsets == ()


def test_the_provenance_names_exposure_and_offset(tmp_path):
    model = fit_model(exposure="years", offset="shift")
    weigh.save(model, tmp_path / "model.json")
    told = describe(tmp_path / "model.json")
    assert (told["Exposure"], told["Offset"]) == ("years", "shift")
    page = weigh.report(model, make_rows(seed=1), "claims")
    assert ">Exposure<td>years<" in page
    rows = make_rows()
    other = weigh.EducatedRegressor(family="poisson", pairs=0)
    other.fit(rows[["bonus"]], rows["claims"], exposure=rows["years"])
    weigh.save(other, tmp_path / "other.json")
    told = describe(tmp_path / "other.json")
    assert told["Exposure"] == "an array"
    assert "Offset" not in told


def test_one_column_is_not_both_exposure_and_offset():
    model = weigh.EducatedRegressor(family="poisson", pairs=0)
    with pytest.raises(ParameterError, match="also the exposure"):
        model.fit(make_rows(), "claims", exposure="years", offset="years")


def test_an_exposure_without_a_name_stays_per_unit():
    rows = make_rows()
    X = rows[["bonus", "fuel"]]
    model = weigh.EducatedRegressor(family="poisson", pairs=0)
    model.fit(X, rows["claims"], exposure=rows["years"].to_numpy())
    assert Formula.of(model).offsets == ()
    text = weigh.export(model, "sql", dialect="sqlite")
    assert "per unit" in text.splitlines()[0]
    (found,) = run_sqlite(text, Formula.of(model), X.head(1).to_dict("records"))
    assert found["estimate"] == pytest.approx(model.predict(X.head(1))[0], rel=1e-12)


def test_a_table_without_the_exposure_is_refused_by_the_database():
    model = fit_model(exposure="years")
    with sqlite3.connect(":memory:") as connection:
        connection.execute('CREATE TABLE rows ("bonus" REAL, "fuel" TEXT)')
        with pytest.raises(sqlite3.OperationalError, match="years"):
            connection.execute(weigh.export(model, "sql", dialect="sqlite"))
