"""The map: what CONTRIBUTING.md and the packages say they hold is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "weigh"
PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_the_modules_that_a_package_lists_are_there(package):
    doc = re.match(r'(?s)""".*?"""', (package / "__init__.py").read_text("utf-8"))
    listed = re.findall(r"^ *([a-z_0-9]+) {2,}\S", doc.group(0), re.M) if doc else []
    there = {path.stem for path in package.iterdir()}
    assert [name for name in listed if name not in there] == []


def test_the_map_names_every_package_and_the_walk_only_modules_that_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table, walk = text.split("## The map")[1].split("## Follow one row")
    walk = walk.split("\n## ")[0]
    named = set(re.findall(r"`([a-z_0-9]+)`", table))
    assert {path.name for path in PACKAGES if path.parent == SOURCE} <= named
    for place in set(re.findall(r"`([a-z_0-9]+\.[a-z_0-9.]+)`", walk)):
        path = SOURCE / place.replace(".", "/")
        known = path.with_suffix(".py").exists() or path.is_dir() or path.parent.with_suffix(".py")
        assert known, place
