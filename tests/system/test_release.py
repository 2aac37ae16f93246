"""What a release says of itself is true: its version, and the names in its notes."""

import re
import tomllib
from pathlib import Path

import weigh
from weigh.cli import main

ROOT = Path(__file__).parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_every_place_states_the_same_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert project["version"] == weigh.__version__
    assert re.search(r"^version: (.*)$", citation, re.M)[1] == weigh.__version__


def test_the_newest_notes_are_those_of_this_version_or_of_the_next():
    newest = [int(part) for part in re.search(r"^## ([\d.]+) \(", CHANGELOG, re.M)[1].split(".")]
    assert newest >= [int(part) for part in weigh.__version__.split(".")]


def test_the_notes_name_public_names_and_commands_only():
    assert {*re.findall(r"`weigh\.(\w+)", CHANGELOG)} <= {*weigh.__all__}
    assert {*re.findall(r"`weigh ([a-z-]+)", CHANGELOG)} <= {*main.commands}
    assert re.search(r"\[(\d+) commands\]", CHANGELOG)[1] == str(len(main.commands))
