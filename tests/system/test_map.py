"""The map: what docs/architecture.md and the packages say they hold is there."""

import ast
import os
import re
import shlex
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from click.testing import CliRunner

import weigh
from weigh.cli import main

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "weigh"
INSTALLED = Path(weigh.__file__).parent  # a wheel runs from another folder than the source
PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_lists_every_module_that_it_holds_and_no_other(package):
    doc = re.match(r'(?s)""".*?"""', (package / "__init__.py").read_text("utf-8")).group(0)
    listed = re.findall(r"^ *([a-z_0-9]+) {2,}\S", doc, re.M)
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    there = {path.parent.name for path in package.glob("*/__init__.py")} | modules
    if listed or len(modules) > 1:
        assert sorted(listed) == sorted(there)


PARTS_OF_A_FIT = {"Design", "Fit", "Problem"}
"""Learners whose weights are fitted have these, each of its own."""


def test_a_class_has_a_name_of_its_own():
    homes: dict[str, list[str]] = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(path.relative_to(SOURCE).as_posix())
    shared = {name: own for name, own in homes.items() if len(own) > 1}
    assert {name: own for name, own in shared.items() if name not in PARTS_OF_A_FIT} == {}


def read_map() -> tuple[str, str]:
    """The table of packages and the walk, as the page of the code has them."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table, walk = text.split("## The map")[1].split("## Follow one row")
    return table, walk.split("\n## ")[0]


def test_the_map_names_every_package():
    table, _ = read_map()
    named = set(re.findall(r"`([a-z_0-9]+)`", table))
    assert {path.name for path in PACKAGES if path.parent == SOURCE} <= named


def calls_of(command: list[str]) -> Iterator[tuple[str, str]]:
    """The functions of ours that run for a command, in order: module and name, or its class."""
    codes: list[CodeType] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{INSTALLED}{os.sep}"):
            codes.append(frame.f_code)

    before = sys.getprofile(), threading.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run(command)
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])
    for code in codes:
        module = ".".join(Path(code.co_filename).relative_to(INSTALLED).with_suffix("").parts)
        for name in code.co_qualname.split("."):
            yield module, name


def run(command: list[str]) -> None:
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    Path(command[-1]).rename(f"{command[-1]}.made")  # a second run would not write over it


@pytest.mark.needs("sqlglot")
def test_the_walk_names_modules_once_and_in_the_order_in_which_a_row_meets_them(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    cells = [(("1st", "2nd", "3rd")[i % 3], i % 80) for i in range(400)]
    rows = [f"{c},{age},{'yes' if age < 30 or c == '1st' else 'no'}" for c, age in cells]
    Path("people.csv").write_text("\n".join(["Class,Age,Survived", *rows, "3rd,12,no"]), "utf-8")
    steps = re.split(r"^`weigh (.*)`$", read_map()[1], flags=re.M)[1:]
    named = [re.findall(r"^\| `([a-z_.]+)` \| `(\w+)` \|", own, re.M) for own in steps[1::2]]
    modules = [module for own in named for module, _ in own]
    assert len(modules) == len({*modules}) > 30
    for command, own in zip(map(shlex.split, steps[::2]), named, strict=True):
        run(command)  # the first run imports; what modules call while they load is no step
        calls = calls_of(command)
        assert [step for step in own if step not in calls] == []  # each after the last
        Path(f"{command[-1]}.made").rename(command[-1])


def late_imports(file: Path) -> list[str]:
    """Lines inside functions that import this package or its modules and do not say why."""
    lines = file.read_text("utf-8").splitlines()
    inside = [node for node in ast.walk(ast.parse("\n".join(lines))) if type(node) in FUNCTIONS]
    found = {
        node.lineno: (lines[node.lineno - 2], lines[node.lineno - 1])
        for function in inside
        for node in ast.walk(function)
        if any(name.split(".")[0] == "weigh" for name in imported(node))
    }
    return [line for before, line in found.values() if "#" not in line and "#" not in before]


def imported(node: ast.AST) -> list[str]:
    """The modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
KERNELS = "kernels"
"""Modules of this name load numba. Their first lines say so, once for all who import them."""


def test_an_import_inside_a_function_says_why_it_is_there():
    """In `cli` the package says it: a command must not wait for what other commands need."""
    files = [path for path in SOURCE.rglob("*.py") if path.parent.name != "cli"]
    told = {path.relative_to(SOURCE).as_posix(): late_imports(path) for path in files}
    plain = {name: [line for line in own if KERNELS not in line] for name, own in told.items()}
    assert {name: own for name, own in plain.items() if own} == {}


@pytest.mark.parametrize("line", ["import weigh.bins", "import json, weigh", "from weigh import a"])
def test_every_form_of_an_import_inside_a_function_is_seen(tmp_path, line):
    (tmp_path / "a.py").write_text(f"def f():\n    x = 1\n    {line}\n", "utf-8")
    assert late_imports(tmp_path / "a.py") == [f"    {line}"]
    (tmp_path / "a.py").write_text(f"def f():\n    x = 1\n    {line}  # why\n", "utf-8")
    assert late_imports(tmp_path / "a.py") == []
