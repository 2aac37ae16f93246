"""Errors about a parameter carry its name, and the command line says its option."""

import pickle

import pytest

import weigh
from weigh.cli.messages import OPTIONS, tell
from weigh.errors import Parameter, ParameterError

PEOPLE = weigh.datasets.titanic()
MODEL = weigh.EvidenceNB().fit(PEOPLE, "Survived")
ROW = {"Class": "3rd", "Sex": "Female", "Age": "Child"}
WRONG = {
    "pos_label": lambda: MODEL.balance_sheet(ROW, pos_label="Maybe"),
    "against": lambda: MODEL.balance_sheet(ROW, against="Maybe"),
    "y": lambda: weigh.EvidenceNB().fit(PEOPLE, "Nope"),
    "sample_weight": lambda: weigh.evaluate(MODEL, PEOPLE, "Survived", sample_weight="Sex"),
    "by": lambda: weigh.evaluate(MODEL, PEOPLE, "Survived", by="Nope"),
    "costs": lambda: weigh.evaluate(MODEL, PEOPLE, "Survived", costs=(-1, 2)),
    "categorical_features": lambda: weigh.EvidenceNB(categorical_features=["Nope"]).fit(
        PEOPLE, "Survived"
    ),
    "max_levels": lambda: weigh.EvidenceNB(max_levels={"Nope": 3}).fit(PEOPLE, "Survived"),
    "cv": lambda: weigh.compare(PEOPLE, "Survived", ["evidence"], cv=1),
    "holdout": lambda: weigh.split(PEOPLE, holdout=2.0),
    "time": lambda: weigh.split(PEOPLE, time="Nope"),
    "crosses": lambda: weigh.EvidenceNB(crosses=[("Class", "Nope")]).fit(PEOPLE, "Survived"),
    "may_change": lambda: weigh.levers(MODEL, ROW, may_change=["Nope"]),
    "exposure": lambda: weigh.EducatedRegressor(family="poisson").fit(
        [{"a": 1.0, "n": 0}, {"a": 2.0, "n": 1}, {"a": 3.0, "n": 2}], "n", exposure="Nope"
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_names_its_parameter_and_the_command_line_its_option(name):
    with pytest.raises(ParameterError) as caught:
        WRONG[name]()
    assert caught.value.parameter == name
    assert name in str(caught.value)
    assert OPTIONS[name] in tell(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_every_option_that_has_another_name_is_tried():
    assert {*WRONG} == {*OPTIONS}


def test_other_errors_are_said_as_they_are():
    assert tell(ValueError("y is odd")) == "y is odd"
    assert tell(KeyError("no feature 'a'")) == "no feature 'a'"
    assert ParameterError("no parameter").parameter == ""
    assert tell(ParameterError("give ", Parameter("cv", 5))) == "give --folds 5"
