"""Workbooks: LibreOffice computes what Python says, and no name or level is a formula."""

import io
import re
import shutil
import sys
from functools import partial

import openpyxl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.conftest import lacking
from tests.exported import FINE, LEARNERS, NASTY, assert_same, fitted, models

import weigh
from weigh.exports import Formula, checks
from weigh.exports.run import Filled, run_workbook, run_workbooks
from weigh.exports.xlsx.cells import AS_OTHER, NO_NUMBER, UNSEEN, escape

STEP = 1e-12
"""Spreadsheets take numbers that differ in their fifteenth digit for one."""

WORDS = st.one_of(
    st.sampled_from([word for word in NASTY if word]),
    st.text("aA*?~'\"= 年", min_size=1, max_size=4),
)


def open_book(model):
    return openpyxl.load_workbook(io.BytesIO(weigh.export(model, "xlsx")))


def recalculate(models):
    """What Python says of rows that visit all of each model, and what LibreOffice computes."""
    if shutil.which("soffice") is None:
        lacking("LibreOffice (soffice) is not installed")
    books, wanted = [], []
    for model in models:
        formula = Formula.of(model)
        rows = checks.visit(formula, step=STEP, finite=True, rounds=1, not_known=True)
        wanted.append(checks.wanted(model, rows))
        books.append(Filled.of(weigh.export(model, "xlsx"), formula, wanted[-1].rows))
    return [*zip(wanted, run_workbooks(books), strict=True)]


@pytest.fixture(scope="module")
def recalculated():
    """Every learner's workbook and both scorecards', computed by one office.

    The office computes a sheet for each row, and each cut point asks for three rows: five intervals
    are looked up by the formula that looks up forty.
    """
    every = {name: fitted(name, bins=5) if name in FINE else fitted(name) for name in LEARNERS}
    card = partial(weigh.Scorecard, fitted("adjusted"))
    every |= {f"points for {label}": card(pos_label=label) for label in ("no", "yes")}
    return dict(zip(every, recalculate(every.values()), strict=True))


@pytest.mark.system
@pytest.mark.parametrize("name", [*LEARNERS, "points for no", "points for yes"])
def test_the_workbook_says_what_the_model_says(name, recalculated):
    python, found = recalculated[name]
    assert_same(python, found.totals, found.predictions)


@pytest.mark.system
def test_the_workbook_says_what_any_model_says():
    drawn = []

    @settings(max_examples=6, deadline=None, database=None, phases=[Phase.generate])
    @given(models(kinds=("text", "boolean", "code", "nothing"), words=WORDS))
    def collect(model):
        drawn.append(model)

    collect()
    for python, found in recalculate(drawn):
        assert_same(python, found.totals, found.predictions)


@pytest.mark.system
@pytest.mark.parametrize("kind", ["card", "model"])
def test_an_empty_workbook_is_a_row_without_answers(kind, program):
    """Missing is a level of age and job: a cell left empty does not choose it."""
    program("soffice")
    model = weigh.Scorecard(fitted("evidence")) if kind == "card" else fitted("evidence")
    formula = Formula.of(model)
    empty = dict.fromkeys(formula.column_names, weigh.NOT_KNOWN)
    rows = [empty, {**empty, "age": None, "job": None}]
    found = run_workbook(weigh.export(model, "xlsx"), formula, rows).predictions[:, 1]
    told = [float(model.predict_proba([row])[0, 1]) for row in ({}, {"age": None, "job": None})]
    assert found == pytest.approx(told, abs=1e-9)
    assert abs(told[0] - told[1]) > 0.001


def test_the_head_names_the_word_for_missing_of_each_column():
    rows = [{"a": a, "b": b} for a, b in zip(("missing", None, "c"), "xyz", strict=True)] * 4
    for names, odd in ((("a", "b"), " In a the word is (missing)."), (("b",), None)):
        table = [{name: row[name] for name in names} for row in rows]
        told = open_book(weigh.EvidenceNB().fit(table, [0, 1, 1] * 4))["Case"]["A2"].value
        assert told.endswith(odd or "An empty cell is not known and weighs nothing.")


@pytest.mark.system
def test_a_category_that_is_called_missing_is_not_a_missing_value(program):
    program("soffice")
    rows = [{"a": a} for a in ("missing", "Missing", None, "b")] * 4
    model = weigh.EvidenceNB().fit(rows, [0, 1, 1, 0, 1, 1, 1, 0] * 2)
    formula = Formula.of(model)
    book = open_book(model)
    (offered,) = book["Case"].data_validations.dataValidation
    block = book["Lookup"][offered.formula1.replace("$", "").split("!")[1]]
    assert [cell.value for (cell,) in block] == ["Missing", "b", "missing", "(missing)"]
    tried = [*rows[:4], {"a": weigh.NOT_KNOWN}]
    found = run_workbook(weigh.export(model, "xlsx"), formula, tried)
    assert_same(checks.wanted(model, tried), found.totals, found.predictions)


@settings(max_examples=30, deadline=None, database=None)
@given(models(words=WORDS))
def test_only_our_own_formulas_are_formulas(model):
    """A level that begins with = is text, and every formula calls functions of ours only."""
    names = "ABS AND EXACT EXP IF INDEX ISLOGICAL ISNA ISNUMBER LN LOWER MATCH MAX MIN ROW SUM"
    known = {*names.split(), "SUMPRODUCT"}
    for sheet in open_book(model):
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    assert sheet.title == "Case"
                    assert {*re.findall(r"([A-Z]+)\(", cell.value)} <= known


def test_a_level_that_looks_like_a_formula_is_text():
    model = weigh.EvidenceNB().fit([{"=1+1": "=2+2"}, {"=1+1": "b"}] * 3, [0, 1] * 3)
    book = open_book(model)
    held = {cell.value: cell.data_type for row in book["Evidence"].iter_rows() for cell in row}
    assert (held["=1+1"], held["=2+2"]) == ("s", "s")


def test_text_that_spells_an_escape_of_excel_stays_text():
    assert escape("_x0041_ and _y") == "_x005F_x0041_ and _y"


def test_every_column_that_has_levels_offers_them_in_a_list():
    book = open_book(fitted("evidence"))
    every = book["Case"].data_validations.dataValidation
    lists = [one for one in every if one.type == "list"]
    assert len(lists) == 3  # job, smokes and ward
    lookup = book["Lookup"]
    first = lists[0].formula1.replace("$", "").split("!")[1]
    assert [cell.value for (cell,) in lookup[first]] == ["a", "b", "c", "d", "missing"]


def test_a_cell_for_a_number_takes_no_text_and_says_so():
    rules = open_book(fitted("evidence"))["Case"].data_validations.dataValidation
    (income,) = (one for one in rules if one.type == "decimal")
    (age,) = (one for one in rules if one.type == "custom")  # which has missing values
    assert all(one.showErrorMessage and one.errorStyle in (None, "stop") for one in (age, income))
    assert income.error.startswith("income is a number; leave the cell empty")
    assert age.error.startswith("age is a number, or the word missing; leave the cell empty")
    assert age.showInputMessage
    assert age.prompt == age.error


def test_a_cell_of_a_feature_with_other_says_no_more_than_that_a_value_has_no_level():
    """Rare values were seen in training, and are not on the list either."""
    rules = open_book(fitted("rare"))["Case"].data_validations.dataValidation
    words = [one.error for one in rules if one.type == "list"]
    assert AS_OTHER in words
    assert AS_OTHER == "No level of its own: it weighs as other does."


@pytest.mark.system
def test_a_cell_that_is_not_understood_has_a_note_beside_it(program):
    """What is pasted goes past the rules of a cell."""
    program("soffice")
    model = fitted("evidence")
    formula = Formula.of(model)
    known = {"age": 1.0, "job": "a", "smokes": True, "ward": 1, "income": -999}
    odd = {"age": "old", "job": "A", "smokes": "perhaps", "ward": 9, "income": "much"}
    rows = [known, odd, dict.fromkeys(known, weigh.NOT_KNOWN), {**known, "smokes": "FALSE"}]
    rows += [dict.fromkeys(known), {**known, "age": "Missing", "ward": "missing"}]
    found = run_workbook(weigh.export(model, "xlsx"), formula, rows)
    notes = [[note or None for note in line] for line in found.notes]
    assert notes[0] == notes[2] == notes[3] == notes[4] == [None] * 5
    assert notes[5] == [None, None, None, UNSEEN, None]  # no ward was missing in training
    assert notes[1] == [NO_NUMBER, UNSEEN, UNSEEN, UNSEEN, NO_NUMBER]


def texts_of(book):
    return [str(c.value) for sheet in book for row in sheet.iter_rows() for c in row if c.value]


def test_the_workbook_of_a_scorecard_speaks_of_points_and_scores():
    card = weigh.Scorecard(fitted("adjusted"))
    book = open_book(card)
    held = texts_of(book)
    assert {"Base points", "Points", "Score", "Log odds of yes", "Probability of yes"} <= {*held}
    assert any("600 points are odds of 50 to 1" in text for text in held)
    for odd in ("times 100", "ecalibration", "Piece", "Weight", "Prior", "log_odds", "Distance"):
        assert not any(odd in text for text in held), odd
    assert "For, times 100" in texts_of(open_book(fitted("adjusted")))


def test_the_log_odds_of_a_score_have_decimals():
    cells = {row[0].value: row[2] for row in open_book(weigh.Scorecard(fitted("adjusted")))["Case"]}
    assert cells["Log odds of yes"].number_format == "0.0000"
    assert cells["Score"].number_format == "0"


def test_all_columns_of_a_sheet_are_printed_on_one_page_side_by_side():
    model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    for one in (model, weigh.Scorecard(model)):
        for sheet in open_book(one).worksheets[:2]:
            assert sheet.sheet_properties.pageSetUpPr.fitToPage
            assert (sheet.page_setup.fitToWidth or 1, sheet.page_setup.fitToHeight) == (1, 0)


def test_formulas_are_those_that_old_and_free_spreadsheets_know():
    book = open_book(fitted("educated"))
    formulas = [c.value for row in book["Case"].iter_rows() for c in row if c.data_type == "f"]
    assert any("INDEX(" in text and "Evidence!" in text for text in formulas)
    assert any("MATCH(" in text for text in formulas)
    assert not any(new in text for text in formulas for new in ("XLOOKUP", "LET(", "IFS(", "_xlfn"))


@pytest.mark.parametrize("odd", ["a\0b", "\x01", "\ud800", "\r"])
def test_what_no_cell_can_hold_is_refused(odd):
    model = weigh.EvidenceNB().fit([{"a": odd}, {"a": "b"}] * 2, [0, 1] * 2)
    with pytest.raises(ValueError, match="which a workbook cannot write"):
        weigh.export(model, "xlsx")


def test_without_openpyxl_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=re.escape("weigh[xlsx]")):
        weigh.export(fitted("evidence"), "xlsx")


@pytest.mark.parametrize("wide", ["features", "classes"])
def test_no_formula_is_longer_or_takes_more_arguments_than_excel_allows(wide):
    n = 300
    rows = [{f"f{j}": "ab"[(i + j) % 2] for j in range(n if wide == "features" else 1)}
            for i in range(2 * n)]  # fmt: skip
    y = [i % (2 if wide == "features" else n) for i in range(2 * n)]
    given = {"missing": "skip", "attenuation": 2.0} if wide == "features" else {"attenuation": 2.0}
    book = open_book(weigh.PerplexedNB(**given).fit(rows, y))
    formulas = [c.value for sheet in book for row in sheet for c in row if c.data_type == "f"]
    assert max(map(len, formulas)) <= 8192
    assert max(part.count(",") for f in formulas for part in re.findall(r"\(([^()]*)\)", f)) < 255
