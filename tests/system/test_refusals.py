"""Errors about tables are short, name the column or the argument, and send nothing raw."""

import gzip
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline

import weigh
from weigh import EvidenceNB
from weigh.cli import main
from weigh.datasets import titanic
from weigh.frames import write_file

WIDE = pa.table({f"column {i}": [0, 1] for i in range(9_000)})


@pytest.mark.parametrize(
    "ask",
    [
        lambda: EvidenceNB().fit(WIDE, "target"),
        lambda: EvidenceNB(missing={"target": "skip"}).fit(WIDE, [0, 1]),
        lambda: EvidenceNB().fit(WIDE, [0, 1], sample_weight="target"),
    ],
)
def test_an_error_about_a_wide_table_is_short(ask):
    with pytest.raises(ValueError, match="target") as error:
        ask()
    assert len(str(error.value)) < 1000


def test_no_name_is_sent_raw_to_the_terminal(tmp_path):
    odd = titanic().append_column("\x1b[2Jred", pa.array([1] * 2201))
    write_file(odd, str(tmp_path / "p.csv"))
    weigh.save(EvidenceNB().fit(titanic(), "Survived"), tmp_path / "m.json")
    line = ["score", str(tmp_path / "m.json"), str(tmp_path / "p.csv"), "--keep", "lacking"]
    result = CliRunner().invoke(main, line, color=True)  # as on a terminal: click removes nothing
    assert result.exit_code == 1
    assert "lacking" in result.stderr
    assert "\x1b" not in result.stderr


def test_a_truncated_gzip_on_standard_input_is_named(tmp_path):
    weigh.save(EvidenceNB().fit(titanic(), "Survived"), tmp_path / "m.json")
    data = gzip.compress(b"Class,Sex,Age\n" + b"3rd,Male,Adult\n" * 99)[:-9]
    result = CliRunner().invoke(main, ["score", str(tmp_path / "m.json"), "-"], input=data)
    assert result.exit_code == 1
    assert "cannot be read as a table" in result.stderr


@pytest.mark.parametrize("weight", [1e308, 1e-300])
def test_weights_that_no_sum_can_hold_are_refused(weight):
    X, y = [["a"], ["b"]] * 10, [0, 1] * 10
    with pytest.raises(ValueError, match="sample_weight"):
        EvidenceNB().fit(X, y, sample_weight=np.full(20, weight))


@pytest.mark.parametrize("nan", ["NaN", "sNaN"])
def test_a_decimal_that_is_no_number_is_missing(nan):
    rows = [{"a": Decimal("1.5")}, {"a": Decimal(nan)}] * 40
    model = EvidenceNB().fit(rows, [0, 1] * 40)
    assert model.evidence_["a"].labels[-1] == "missing"


def test_an_infinite_decimal_is_a_number():
    """A double of the same size is the reference; Arrow cannot convert the decimal."""
    decimals, doubles = (
        [{"a": kind(v)} for v in ("1.5", "inf", "-inf")] for kind in (Decimal, float)
    )
    fits = [
        EvidenceNB(bins={"a": [0.0]}).fit(rows * 9, [0, 1, 1] * 9) for rows in (decimals, doubles)
    ]
    np.testing.assert_array_equal(*(model.predict_proba(doubles) for model in fits))
    np.testing.assert_array_equal(*(model.predict_proba(decimals * 30) for model in fits))


@pytest.mark.parametrize(
    "table",
    [
        np.array([[1 + 2j], [3 - 1j]] * 5),
        [{"x0": 1 + 2j}, {"x0": 3 - 1j}] * 5,
        pa.table({"x0": pa.array([b"a", b"b"] * 5)}),
    ],
)
def test_values_that_are_no_levels_are_refused_by_the_name_of_their_column(table):
    with pytest.raises((TypeError, ValueError), match="x0"):
        EvidenceNB().fit(table, [0, 1] * 5)


def test_text_that_is_not_unicode_is_a_level_and_is_saved(tmp_path):
    model = EvidenceNB().fit([{"a": "\ud800"}, {"a": "b"}] * 5, [0, 1] * 5)
    weigh.save(model, tmp_path / "m.json")
    rows = [{"a": "\ud800"}, {"a": "b"}]
    np.testing.assert_array_equal(
        weigh.load(tmp_path / "m.json").predict_proba(rows), model.predict_proba(rows)
    )


WRAPPED = [
    (GridSearchCV(EvidenceNB(), {"smoothing": [1]}, cv=2), "; give its best_estimator_, a fitted"),
    (FixedThresholdClassifier(EvidenceNB(), threshold=0.3), "; give its estimator_, a fitted"),
    (CalibratedClassifierCV(EvidenceNB(), cv=2), "; fit a RecalibratedClassifier"),
    (make_pipeline(EvidenceNB()), "; give its last step"),
]
ASKED = [
    lambda model, X: weigh.save(model, "never.json"),
    lambda model, X: weigh.reasons(model, X),
    lambda model, X: weigh.score_table(model, X),
    lambda model, X: weigh.BalanceSheetDisplay.from_estimator(model, {}),
    lambda model, X: weigh.export(model, "sql"),
    lambda model, X: weigh.drift(model, X),
]


@pytest.mark.needs("pandas")
@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize(("wrapper", "hint"), WRAPPED)
def test_a_wrapper_of_another_library_is_refused_with_the_model_inside_it(wrapper, hint, ask):
    table = titanic()
    X, y = table.drop_columns("Survived").to_pandas(), table["Survived"].to_numpy()
    with pytest.raises((TypeError, ValueError), match=hint):
        ask(wrapper.fit(X, y), X)


@pytest.mark.parametrize("ask", ASKED)
def test_a_model_of_another_library_is_refused_as_such(ask):
    with pytest.raises((TypeError, ValueError), match="a fitted model of weigh"):
        ask(LogisticRegression(), [{}])
