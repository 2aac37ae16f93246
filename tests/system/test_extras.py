"""Without extras everything else works, and what needs one says which."""

import json
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import weigh
from weigh.datasets import titanic
from weigh.errors import Extra
from weigh.frames import write_file

EXTRAS = {
    "plot": ["matplotlib"],
    "pandas": ["pandas"],
    "polars": ["polars"],
    "duckdb": ["duckdb"],
    "spark": ["pyspark"],
    "postgres": ["adbc_driver_postgresql"],
    "sql": ["sqlglot"],
    "xlsx": ["openpyxl"],
    "onnx": ["onnx"],
    "serve": ["fastapi", "uvicorn", "httptools"],
    "spss": ["pyreadstat"],
}
DECLARED = tomllib.loads(
    (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
)["project"]["optional-dependencies"]
RUN = """
import json, sys
words = json.loads(sys.argv[1])
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in words["without"]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Without())
from click.testing import CliRunner
from weigh.cli import main
done = [CliRunner().invoke(main, line.split()) for line in words["lines"]]
print(json.dumps([[one.exit_code, one.stdout, one.stderr] for one in done]))
"""


def run(folder, lines, without):
    """What commands say, by exit code, standard output and standard error, without some modules."""
    words = json.dumps({"lines": [*lines], "without": without})
    command = [sys.executable, "-c", RUN, words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    return dict(zip(lines, json.loads(done.stdout), strict=True))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")
    write_file(titanic(), str(folder / "people.csv"))
    weigh.save(weigh.EvidenceNB().fit(titanic(), "Survived"), folder / "m.json")
    return folder


NEEDS = {
    "export m.json --to sql": "sql",
    "export m.json --to xlsx -o m.xlsx": "xlsx",
    "export m.json --to onnx -o m.onnx": "onnx",
    "serve m.json --port 0": "serve",
}


def advice(extra):
    """How the message of a missing extra ends: no package index need know weigh."""
    packages = " ".join(f'"{package}"' for package in sorted(DECLARED[extra]))
    return f"(the extra weigh[{extra}]): pip install {packages}"


@pytest.mark.parametrize("first", [True, False])
def test_a_command_without_its_extra_names_it_in_one_line(place, first):
    lacking = [EXTRAS[extra][0 if first else -1] for extra in NEEDS.values()]
    for line, (code, output, told) in run(place, NEEDS, lacking).items():
        assert code == 1
        assert told.strip().endswith(advice(NEEDS[line]))
        assert len(told.splitlines()) == 1
        assert not output


BARE = [
    "demo",
    "fit people.csv --target Survived -o new.json",
    "show m.json",
    "score m.json people.csv -o scores.csv",
    "score m.json people.csv -o scores.parquet",
    "explain m.json people.csv",
    "explain m.json people.csv --reasons 2 -o reasons.csv",
    "evaluate m.json people.csv --target Survived",
    "report m.json people.csv --target Survived -o report.html",
    "calculator m.json -o form.html",
    "export m.json --to python -o score.py",
    "check score.py m.json",
    "export m.json --to pmml -o score.pmml",
    "merge m.json m.json -o both.json",
]


def test_the_command_line_works_without_any_extra(place):
    every = [module for modules in EXTRAS.values() for module in modules]
    for line, (code, _, told) in run(place, BARE, every).items():
        assert code == 0, f"{line}: {told}"


def test_every_extra_is_among_those_that_are_left_out_here():
    assert {*DECLARED} - {"all"} == {*EXTRAS}


SOURCES = Path(weigh.__file__).parent
MODULES = [
    ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts)
    for path in sorted(SOURCES.rglob("*.py"))
    if " = Extra(" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_each_library_that_is_missing_names_the_packages_of_its_extra(module, monkeypatch):
    for library in vars(import_module(module)).values():
        if isinstance(library, Extra) and library._extra and "weigh" not in library._name:
            monkeypatch.setitem(sys.modules, library._name.partition(".")[0], None)
            monkeypatch.setitem(sys.modules, library._name, None)
            with pytest.raises(ImportError, match=re.escape(advice(library._extra)) + "$"):
                _ = library.anything


def test_sources_that_are_not_installed_still_name_the_extra(monkeypatch):
    def requires(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.requires", requires)
    library = Extra("no_such_module", "this needs a library", "sql")
    with pytest.raises(ImportError, match=r"^this needs a library \(the extra weigh\[sql\]\)$"):
        _ = library.anything
