"""The map: what CONTRIBUTING.md and the packages say they hold is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "weigh"
PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_lists_every_module_that_it_holds_and_no_other(package):
    doc = re.match(r'(?s)""".*?"""', (package / "__init__.py").read_text("utf-8")).group(0)
    listed = re.findall(r"^ *([a-z_0-9]+) {2,}\S", doc, re.M)
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    there = {path.parent.name for path in package.glob("*/__init__.py")} | modules
    if listed or len(modules) > 1:
        assert sorted(listed) == sorted(there)


def find_module(place: str) -> Path | None:
    """The module or package that a dotted name of the walk begins with, which may end in a name."""
    path = SOURCE / place.replace(".", "/")
    found = (path.with_suffix(".py"), path / "__init__.py", path.parent.with_suffix(".py"))
    return next((file for file in found if file.exists()), None)


def test_the_map_names_every_package_and_the_walk_only_modules_that_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table, walk = text.split("## The map")[1].split("## Follow one row")
    walk = walk.split("\n## ")[0]
    named = set(re.findall(r"`([a-z_0-9]+)`", table))
    assert {path.name for path in PACKAGES if path.parent == SOURCE} <= named
    places = set(re.findall(r"`([a-z_0-9]+\.[A-Za-z_0-9.]+)`", walk)) - {"weigh.js"}
    assert [place for place in places if find_module(place) is None] == []


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
