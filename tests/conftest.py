"""What tests need from outside: the papers' data, and programs. Skips say why they skip."""

import csv
import gc
import io
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings
from tests.browser import AXE, Browser
from tests.left_out import find_lacking
from tests.workers import ByFile, find_turn

REQUIRE_ALL = os.environ.get("WEIGH_REQUIRE_ALL") == "1"

# No deadline: how long an example takes depends on what else the machine does.
settings.register_profile("new", deadline=None)
settings.register_profile("same", deadline=None, derandomize=True)
# A change is judged by the same examples each time; other runs look for new ones.
settings.load_profile("same" if REQUIRE_ALL else "new")


def pytest_configure() -> None:
    """One thread of linear algebra for each process, before any loads it: the cores have workers.

    Threads that wait for each other spin: on busy cores a small regression took 12 times as much
    processor time with two threads as with one.
    """
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for garbage neither while tests are collected nor, afterwards, among what they are.

    Ten thousand tests and what they import are half a million objects that stay. Looking through
    them again and again was a third of the time of collecting, in each process.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # or libraries report what is never freed


LEFT_OUT: dict[str, str] = {}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out files that need a module which is not installed, unless everything is required."""
    if REQUIRE_ALL or collection_path.suffix != ".py":
        return None
    module = find_lacking(collection_path)
    if module is not None:
        LEFT_OUT[collection_path.name] = module
    return None if module is None else True


def pytest_terminal_summary(terminalreporter) -> None:
    """Name the files that were left out."""
    for name, module in sorted(LEFT_OUT.items()):
        terminalreporter.write_line(f"left out: {name} needs {module}, which is not installed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long first, so that no worker waits for it at the end."""
    items.sort(key=lambda item: find_turn(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    return ByFile(config, log)


def lacking(what: str) -> None:
    """Skip the test, or fail it where everything is required."""
    if REQUIRE_ALL:
        pytest.fail(f"WEIGH_REQUIRE_ALL=1, but {what}", pytrace=False)
    pytest.skip(what)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked `needs` where a module of an extra is not installed."""
    for name in [name for mark in item.iter_markers("needs") for name in mark.args]:
        if find_spec(name) is None:
            lacking(f"{name} is not installed")


@pytest.fixture(scope="session", autouse=True)
def _memory_of_the_disk():
    """Flush nothing to the disk: no file of a test must outlive a crash of the machine.

    A save waits twice for the disk, 7 ms each, and the tests save thousands of times. Commands that
    run as processes of their own flush as ever.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda number: None)
        yield


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


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of our own, on a socket that nobody else can open."""
    programs = _find_postgres()
    if programs is None:
        lacking("PostgreSQL's server (initdb, pg_ctl) is not installed")
    # not in pytest's own folder, which only its owner may enter: as root the server is another's
    with tempfile.TemporaryDirectory(prefix="weigh-pg-") as folder:
        server = Postgres(programs, Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _find_postgres() -> Path | None:
    found = [Path(p).parent for p in [shutil.which("pg_ctl")] if p]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((p for p in found if (p / "initdb").exists()), None)


class Postgres:
    """A private cluster; `ask` runs statements and returns the rows of the last as dicts."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder
        self.user = "nobody" if os.getuid() == 0 else None  # initdb refuses to run as root
        if self.user:
            shutil.chown(folder, self.user)

    def run(self, program: str, *words: str) -> str:
        own = self.programs / program
        done = subprocess.run(
            [own if own.exists() else program, *words],
            user=self.user,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def start(self) -> None:
        data, log = str(self.folder / "data"), str(self.folder / "log")
        self.run("initdb", "-D", data, "-U", "weigh", "-A", "trust", "-E", "UTF8", "-N")
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        subprocess.run(  # whose server keeps what it inherits open: no pipes
            [self.programs / "pg_ctl", "-D", data, "-l", log, "-o", options, "-w", "start"],
            user=self.user,
            cwd=self.folder,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
        )

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def ask(self, script: Path, query: str) -> list[dict[str, str]]:
        options = ("-h", str(self.folder), "-U", "weigh", "-d", "postgres")
        text = self.run(
            "psql", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", *options,
            "-f", str(script), "-c", query,
        )  # fmt: skip
        return [*csv.DictReader(io.StringIO(text, newline=""))]


@pytest.fixture(scope="session")
def _browser(tmp_path_factory):
    for name in ("chromium", "chromedriver"):
        if shutil.which(name) is None:
            lacking(f"the program {name} is not installed")
    if not AXE.exists():
        lacking(f"axe-core is not in {AXE.parent}")
    found = Browser(tmp_path_factory.mktemp("browser"))
    yield found
    found.close()


@pytest.fixture
def browser(_browser):
    """A browser, on a light desktop."""
    _browser.width(1280)
    _browser.media()
    _browser.scripts(True)
    return _browser
