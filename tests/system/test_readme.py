"""Every code block of the README and the docs runs, and prints the text that follows it."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.conftest import lacking

from weigh.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
NOT_RUN = ("pip ", "make ", "git ")
OTHERS = ("skops", "shap")
"""Libraries that a page may import and that are no part of an extra for users."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def imported(page: Path) -> list[str]:
    """The libraries that the Python blocks of a page need, besides those of the extras."""
    code = "".join(code for language, code in blocks(page) if language == "python")
    return [name for name in OTHERS if re.search(rf"^(import|from) {name}\b", code, re.M)]


def run_python(code: str, names: dict) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README", "exec"), names)
    return out.getvalue()


def run_shell(code: str, folder: Path, installed: bool) -> str:
    lines = [line for line in code.splitlines() if not line.startswith(NOT_RUN)]
    return "".join(run_line(line, folder, installed) for line in lines)


def run_line(line: str, folder: Path, installed: bool) -> str:
    """What a line prints. Our own commands run in this process, which has the imports.

    Where the page shows that the program is `installed`, `weigh demo` runs as a program.
    """
    command, then, rest = re.match(r"(.*?)(?: ([|>]) (.*))?$", line).groups()
    words = shlex.split(command)
    if words[0] != "weigh" or (installed and words[1] == "demo"):
        return run_bash(line, folder)
    done = CliRunner().invoke(main, words[1:], env={"COLUMNS": "100"})
    assert done.exit_code == 0, done.output
    if then == ">":
        Path(folder, rest).write_text(done.stdout, encoding="utf-8")
        return ""
    return run_bash(rest, folder, done.stdout) if then else done.stdout


def run_bash(line: str, folder: Path, data: str = "") -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", line],
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": "100"},
        input=data,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def tidy(text: str) -> list[str]:
    """The lines; a change by hand has the day on which the page was run."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return [re.sub(r"\d{4}-\d\d-\d\d", "", line) if "y hand" in line else line for line in lines]


@pytest.mark.needs("pandas", "polars", "duckdb", "matplotlib", "fastapi", "openpyxl", "sqlglot")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch, request):
    if "datasets.load(" in page.read_text(encoding="utf-8"):
        request.getfixturevalue("papers_data")
    for name in imported(page):
        if find_spec(name) is None:
            lacking(f"{name} is not installed")
        with warnings.catch_warnings(action="ignore"):  # of how it calls others
            import_module(name)
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "readme"}
    printed = ""
    for language, code in blocks(page):
        if language == "python":
            printed = run_python(code, names)
        elif language == "sh":
            printed = run_shell(code, tmp_path, installed=page.name == "README.md")
        elif language == "text":
            assert tidy(printed) == tidy(code)


def test_the_readme_shows_install_python_and_command_line_in_its_first_screen():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    first = "\n".join(lines[:72])
    assert all(part in first for part in ("pip install", "balance_sheet", "weigh fit", "Prior"))
    assert len(lines) <= 150


def test_the_readme_of_the_wheel_has_the_words_and_the_code_but_no_relative_link():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rules = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    page, pages = rules["fragments"]
    text, end, _ = (ROOT / page["path"]).read_text(encoding="utf-8").partition(page["end-before"])
    assert end
    kept = text + pages["text"]
    for rule in rules["substitutions"]:
        kept = re.sub(rule["pattern"], rule["replacement"], kept)
    targets = re.findall(r"\]\(([^)]*)\)", kept)
    assert all(target.startswith("http") for target in targets)
    assert re.findall(r"^```.*?^```$", kept, re.M | re.S) == re.findall(
        r"^```.*?^```$", text, re.M | re.S
    )
    for linked, target in re.findall(r"(?<![!(])\[([^\]]*)\]\(([^)]*)\)", text):
        assert linked in kept, target
