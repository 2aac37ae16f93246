"""Test files that an environment without extras cannot run, each with the module that it lacks.

`make wheel` installs the wheel without extras. A file that imports pandas there is left out by
name; everything else must pass.
"""

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS = {"tests": ROOT, "benchmarks": ROOT, "weigh": ROOT / "src"}


def find_lacking(path: Path) -> str | None:
    """A module that a file needs at its start, itself or through one of ours, and is not there."""
    seen, waiting = {path}, [path]
    while waiting:
        for name in _imported(waiting.pop()):
            top = name.partition(".")[0]
            if top in OURS:
                waiting += (new := [file for file in _files(name) if file not in seen])
                seen.update(new)
            elif not _is_there(top):
                return top
    return None


@cache
def _is_there(name: str) -> bool:
    return find_spec(name) is not None


@cache
def _imported(path: Path) -> tuple[str, ...]:
    """The modules, and names in modules, that a file imports outside of functions."""
    found: list[str] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
    return tuple(found)


@cache
def _files(name: str) -> list[Path]:
    """The file of a module of ours, where the name is one."""
    folder = OURS[name.partition(".")[0]].joinpath(*name.split("."))
    return [p for p in (folder.with_suffix(".py"), folder / "__init__.py") if p.exists()]
