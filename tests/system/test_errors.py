"""Errors about a parameter carry its name, and the command line says its option."""

import ast
import pickle
import re
from pathlib import Path

import pytest

import weigh
from weigh.cli.group import OPTIONS, tell
from weigh.errors import Parameter, ParameterError

PEOPLE = weigh.datasets.titanic()
MODEL = weigh.EvidenceNB().fit(PEOPLE, "Survived")
ROW = {"Class": "3rd", "Sex": "Female", "Age": "Child"}
COUNTS = [{"a": 1.0, "n": 0}, {"a": 2.0, "n": 1}, {"a": 3.0, "n": 2}]
WRONG = {
    "pos_label": lambda: MODEL.balance_sheet(ROW, pos_label="Maybe"),
    "against": lambda: MODEL.balance_sheet(ROW, against="Maybe"),
    "y": lambda: weigh.EvidenceNB().fit(PEOPLE, "Nope"),
    "y_true": lambda: weigh.evaluate(MODEL, PEOPLE, [None] * PEOPLE.num_rows),
    "sample_weight": lambda: weigh.evaluate(MODEL, PEOPLE, "Survived", sample_weight="Sex"),
    "by": lambda: weigh.evaluate(MODEL, PEOPLE, "Survived", by="Nope"),
    "costs": lambda: weigh.evaluate(MODEL, PEOPLE, "Survived", costs=(-1, 2)),
    "categorical_features": lambda: weigh.EvidenceNB(categorical_features=["Nope"]).fit(
        PEOPLE, "Survived"
    ),
    "max_levels": lambda: weigh.EvidenceNB(max_levels={"Nope": 3}).fit(PEOPLE, "Survived"),
    "smoothing": lambda: MODEL.merge(weigh.EvidenceNB(smoothing=2).fit(PEOPLE, "Survived")),
    "bins": lambda: weigh.EvidenceNB(bins={"Sex": [["boat"]]}).fit(PEOPLE, "Survived"),
    "cut_off": lambda: weigh.calculator(MODEL, cut_off=2.0),
    "cv": lambda: weigh.compare(PEOPLE, "Survived", ["evidence"], cv=1),
    "holdout": lambda: weigh.split(PEOPLE, holdout=2.0),
    "time": lambda: weigh.split(PEOPLE, time="Nope"),
    "special_values": lambda: weigh.EvidenceNB(special_values={"Nope": [-9]}).fit(
        PEOPLE, "Survived"
    ),
    "crosses": lambda: weigh.EvidenceNB(crosses=[("Class", "Nope")]).fit(PEOPLE, "Survived"),
    "may_change": lambda: weigh.levers(MODEL, ROW, may_change=["Nope"]),
    "adverse": lambda: weigh.calculator(MODEL, adverse="Maybe"),
    "questions": lambda: weigh.calculator(MODEL, questions={"Nope": "Which?"}),
    "to": lambda: weigh.export(MODEL, "stone"),
    "dialect": lambda: weigh.export(MODEL, "python", dialect="duckdb"),
    "table": lambda: weigh.export(MODEL, "python", table="people"),
    "keep": lambda: weigh.export(MODEL, "python", keep=["Sex"]),
    "contributions": lambda: weigh.export(MODEL, "python", contributions=True),
    "reasons": lambda: weigh.export(MODEL, "python", reasons=2),
    "times": lambda: weigh.score_table(MODEL, PEOPLE, times=[30]),
    "exposure": lambda: weigh.EducatedRegressor(family="poisson").fit(COUNTS, "n", exposure="Nope"),
    "train": lambda: weigh.evaluate(
        weigh.EducatedRegressor().fit(COUNTS, "n"), COUNTS, "n", train=COUNTS
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


# ---------------------------------------------------------------- wordings in tests

ROOT = Path(__file__).parents[2]
RUN = 4
"""So many words in a row are a wording; fewer name a column, a parameter or a value."""


def runs(text):
    """Every run of words, without digits and punctuation."""
    words = re.findall(r"[a-z']+", re.sub(r"\\.|[^\w' ]", " ", text.lower()))
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


def wordings(*nodes):
    """The runs of words in string literals below nodes of a syntax tree."""
    every = [part for node in nodes for part in ast.walk(node)]
    texts = [part.value for part in every if isinstance(part, ast.Constant)]
    return {run for text in texts if isinstance(text, str) for run in runs(text)}


def raised(node):
    """Whether a node raises an error or calls what makes errors and warnings."""
    if not isinstance(node, ast.Raise | ast.Call):
        return False
    called = getattr(node, "func", None)
    name = getattr(called, "attr", getattr(called, "id", ""))
    return isinstance(node, ast.Raise) or re.search("Error$|warn|check$", name)


def trees(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        yield path.name, ast.parse(path.read_text(encoding="utf-8"))


def test_no_wording_of_an_error_is_matched_by_two_tests():
    """Whoever words an error anew has one test to change."""
    every = (node for _, tree in trees("src") for node in ast.walk(tree))
    said = wordings(*filter(raised, every))
    assert len(said) > 1000
    matched: dict[tuple[str, ...], set[str]] = {}
    for file, node in ((file, node) for file, tree in trees("tests") for node in tree.body):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            found, name = wordings(*node.decorator_list, *body), node.name
        elif isinstance(node, ast.Assign):  # cases that tests share
            found, name = wordings(node.value), ast.unparse(node.targets[0])
        else:
            continue
        for run in found & said:
            matched.setdefault(run, set()).add(f"{file}::{name}")
    assert {" ".join(run): sorted(at) for run, at in matched.items() if len(at) > 1} == {}
