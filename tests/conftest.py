"""What tests need from outside: the papers' data, and programs. Skips say why they skip."""

import os
import shutil
from pathlib import Path

import pytest

REQUIRE_ALL = os.environ.get("WEIGH_REQUIRE_ALL") == "1"


def lacking(what: str) -> None:
    """Skip the test, or fail it where everything is required."""
    if REQUIRE_ALL:
        pytest.fail(f"WEIGH_REQUIRE_ALL=1, but {what}", pytrace=False)
    pytest.skip(what)


def data_folder() -> Path | None:
    beside = Path(__file__).parents[2] / "shared" / "data"
    for folder in (os.environ.get("WEIGH_DATA"), beside):
        if folder and Path(folder, "sha256sums.txt").exists():
            return Path(folder)
    return None


@pytest.fixture
def papers_data(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the papers' data sets, which `weigh.datasets.load` then reads."""
    folder = data_folder()
    if folder is None:
        lacking("the papers' data are neither in $WEIGH_DATA nor in ../shared/data")
    monkeypatch.setenv("WEIGH_DATA", str(folder))
    return folder


@pytest.fixture
def program():
    """Ask for a system program by name."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            lacking(f"the program {name} is not installed")
        return path

    return find


@pytest.fixture(scope="session")
def require():
    """Skip, or fail, where something lacks, which is said; None where nothing does."""

    def check(what: str | None) -> None:
        if what is not None:
            lacking(what)

    return check
