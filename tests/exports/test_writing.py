"""What is written is there whole or not at all, and nothing else is changed by it."""

import ast
import errno
import io
import os
import stat
import subprocess
import sys
import threading
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import csv

import weigh
from weigh import writing
from weigh.cli import main
from weigh.datasets import titanic
from weigh.engine.checkpoints import _write as write_checkpoint
from weigh.frames import write_file
from weigh.scoring import score_parts, write_lines

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="devices, modes and pipes of POSIX")

PEOPLE = titanic()
MODEL = weigh.EvidenceNB().fit(PEOPLE, "Survived")
WRITERS = {
    "model.json": lambda path: weigh.save(MODEL, path),
    "card.json": lambda path: weigh.save(weigh.Scorecard(MODEL), path),
    "form.html": lambda path: weigh.calculator(MODEL, path=path),
    "report.html": lambda path: weigh.report(MODEL, PEOPLE, "Survived", path=path),
    "score.sql": lambda path: weigh.export(MODEL, "sql", path=path),
    "score.py": lambda path: weigh.export(MODEL, "python", path=path),
    "book.xlsx": lambda path: weigh.export(MODEL, "xlsx", path=path),
    "scores.csv": lambda path: weigh.score_table(MODEL, PEOPLE, path),
    "scores.csv.gz": lambda path: weigh.score_table(MODEL, PEOPLE, path),
    "scores.parquet": lambda path: weigh.score_table(MODEL, PEOPLE, path),
    "scores.jsonl": lambda path: write_lines(score_parts(MODEL, PEOPLE, ()), str(path)),
    "people.csv": lambda path: write_file(PEOPLE, str(path)),
    "people.parquet": lambda path: write_file(PEOPLE, str(path)),
    "pass.npz": lambda path: write_checkpoint(Path(path), (MODEL.evidence_.class_counts,)),
}
EXTRAS = {"score.sql": "sqlglot", "book.xlsx": "openpyxl"}
"""What some need beside the library itself; where it is not installed they are left out."""
WRITERS = {
    name: writer
    for name, writer in WRITERS.items()
    if name not in EXTRAS or find_spec(EXTRAS[name]) is not None
}
STREAMS = [name for name in WRITERS if not name.endswith((".parquet", ".npz"))]
"""Of the others the end says where the beginning is, so that they cannot go through a pipe."""


@pytest.fixture(params=WRITERS)
def name(request):
    return request.param


def written(name, folder):
    """What a writer writes where nothing hinders it."""
    folder.mkdir()
    WRITERS[name](folder / name)
    return content(name, (folder / name).read_bytes())


def content(name, data):
    """The bytes of a file, or the sheets of a workbook, whose other parts hold the time."""
    if not name.endswith(".xlsx"):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        return {part: book.read(part) for part in book.namelist() if part.startswith("xl/")}


# ---------------------------------------------------------------- whatever fails


class Full(io.FileIO):
    """A file on a disk that is full after some bytes."""

    room = 0

    def write(self, data):
        if len(data) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= len(data)
        return super().write(data)


def full_after(room):
    def fdopen(number, mode):
        file = Full(number, mode)
        file.room = room
        return file

    return {"fdopen": fdopen}


def fails(*_, **__):
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def fails_to_make(path, flags, *rest, really=os.open, **options):
    return (fails if flags & os.O_CREAT else really)(path, flags, *rest, **options)


FAULTS = {
    "open": {"open": fails_to_make},
    "no room": full_after(0),
    "room for some": full_after(100),
    "fsync": {"fsync": fails},
    "rename": {"replace": fails},
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("there", [True, False], ids=["old file", "no file"])
def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    name, fault, there, tmp_path, monkeypatch
):
    path = tmp_path / name
    if there:
        path.write_bytes(b"old")
    for function, broken in FAULTS[fault].items():
        monkeypatch.setattr(writing.os, function, broken)
    with pytest.raises(OSError):  # noqa: PT011
        WRITERS[name](path)
    monkeypatch.undo()
    assert [*tmp_path.iterdir()] == ([path] if there else [])
    assert not there or path.read_bytes() == b"old"


BESIDE = {
    "a.summary.json": lambda folder: run("fit", folder, "d.csv", *FIT, "-o", folder / "a.json"),
    "drift.html": lambda folder: run(
        "drift", folder, "m.json", "d.csv", "-o", folder / "drift.html",
    ),
    "challenge.html": lambda folder: run(
        "challenge", folder, "m.json", "m.json", "d.csv", "--target", "Survived",
        "-o", folder / "challenge.html",
    ),
}  # fmt: skip
"""Files that commands write beside their result."""
FIT = ("--target", "Survived", "--learner", "educated", "--set", "pairs=0", "--summary")


def run(command, folder, *words):
    """A command on the files of a folder."""
    named = [str(folder / word) if word in ("m.json", "d.csv") else str(word) for word in words]
    return CliRunner().invoke(main, [command, *named]).exit_code


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", BESIDE)
def test_a_command_that_cannot_write_leaves_the_old_file(name, fault, tmp_path, monkeypatch):
    weigh.save(MODEL, tmp_path / "m.json")
    write_file(PEOPLE, str(tmp_path / "d.csv"))
    (tmp_path / name).write_bytes(b"old")
    before = {path.name for path in tmp_path.iterdir()}
    for function, broken in FAULTS[fault].items():
        monkeypatch.setattr(writing.os, function, broken)
    assert BESIDE[name](tmp_path) == 1
    monkeypatch.undo()
    assert (tmp_path / name).read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == before
    assert BESIDE[name](tmp_path) == 0
    assert (tmp_path / name).read_bytes() != b"old"


def writes(path):
    """Where a module opens a file to write, or calls a method that does."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            modes = [value.value for value in node.args[1:2] if isinstance(value, ast.Constant)]
            modes += [word.value.value for word in node.keywords if word.arg == "mode"]
            opened = name in ("open", "fdopen") and any(set("wax+") & {*str(m)} for m in modes)
            method = isinstance(node.func, ast.Attribute) and name in ("write_text", "write_bytes")
            if opened or method:
                yield f"{path.name}:{node.lineno}"


def test_every_module_writes_files_by_way_of_writing():
    """So that what holds of the files above holds of all; a page that opens a page is for once."""
    home = Path(weigh.__file__).parent
    found = {where for path in home.rglob("*.py") for where in writes(path)}
    apart = {where for where in found if where.startswith(("writing.py:", "editing.py:"))}
    assert found == apart
    assert any(where.startswith("writing.py:") for where in found)


@pytest.mark.parametrize("fault", ["open", "no room", "fsync", "rename"])
def test_a_folder_that_fails_is_not_there(fault, tmp_path, monkeypatch):
    for function, broken in FAULTS[fault].items():
        monkeypatch.setattr(writing.os, function, broken)
    with pytest.raises(OSError):  # noqa: PT011
        weigh.score_table(MODEL, PEOPLE, tmp_path / "scores")
    monkeypatch.undo()
    assert [*tmp_path.iterdir()] == []


def test_a_file_is_on_the_disk_before_it_takes_its_place_and_its_name_after(
    name, tmp_path, monkeypatch
):
    steps = []
    flush, rename = os.fsync, os.replace

    def fsync(number):
        kind = "folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "file"
        steps.append((kind, os.fstat(number).st_size > 0))
        return flush(number)

    def replace(one, other):
        steps.append(("rename", True))
        return rename(one, other)

    monkeypatch.setattr(writing.os, "fsync", fsync)
    monkeypatch.setattr(writing.os, "replace", replace)
    WRITERS[name](tmp_path / name)
    assert [kind for kind, _ in steps] == ["file", "rename", "folder"]
    assert steps[0] == ("file", True)


# ---------------------------------------------------------------- modes, links, devices, pipes


def test_an_existing_file_keeps_its_mode(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"old")
    for mode in (0o600, 0o640, 0o666):
        path.chmod(mode)
        WRITERS[name](path)
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() != b"old"


def test_nobody_else_reads_the_new_file_of_a_private_one_while_it_is_written(tmp_path):
    path = tmp_path / "scores.csv"
    path.touch(0o600)
    path.chmod(0o600)
    with writing.open_whole(path):
        (part,) = [file for file in tmp_path.iterdir() if file != path]
        assert stat.S_IMODE(part.stat().st_mode) == 0o600


def test_a_new_file_has_the_mode_that_the_process_gives(name, tmp_path):
    old = os.umask(0o027)
    try:
        WRITERS[name](tmp_path / name)
        weigh.score_table(MODEL, PEOPLE, tmp_path / "folder")
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640
        assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o750
    finally:
        os.umask(old)


def test_writing_never_touches_the_umask_that_all_threads_share(name, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", fails)
    WRITERS[name](tmp_path / name)
    weigh.score_table(MODEL, PEOPLE, tmp_path / "folder")


def test_a_link_is_followed_to_the_file_that_it_names(name, tmp_path):
    wanted = written(name, tmp_path / "plain")
    (tmp_path / "data").mkdir()
    real, link, far = tmp_path / "data" / name, tmp_path / f"link-{name}", tmp_path / f"far-{name}"
    link.symlink_to(real)  # of which nothing is there yet
    far.symlink_to(link.name)
    for path in (link, far):
        WRITERS[name](path)
        assert path.is_symlink()
        assert content(name, real.read_bytes()) == wanted
    assert [*(tmp_path / "data").iterdir()] == [real]


@pytest.mark.parametrize("name", STREAMS)
def test_a_pipe_gets_what_a_file_would(name, tmp_path):
    wanted, pipe = written(name, tmp_path / "plain"), tmp_path / name
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    WRITERS[name](pipe)
    reader.join(10)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert content(name, found[0]) == wanted


@pytest.fixture
def device(tmp_path):
    """A device of our own: links are followed, so a mistake as root would replace /dev/null."""
    path = tmp_path / "null"
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.stat(os.devnull).st_rdev)
        path.write_bytes(b"")
    except (OSError, AttributeError):  # only root makes devices, and on some disks none works
        if os.access(os.path.dirname(os.devnull), os.W_OK):
            pytest.skip("no device can be made, and /dev/null is not safe from a mistake")
        return Path(os.devnull)
    return path


@pytest.mark.parametrize("name", STREAMS)
def test_a_device_stays_a_device(name, device, tmp_path):
    link = tmp_path / name
    link.symlink_to(device)
    WRITERS[name](link)
    assert stat.S_ISCHR(device.stat().st_mode)
    assert link.is_symlink()


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError):
        weigh.save(MODEL, tmp_path)


def test_a_name_as_long_as_the_system_allows_is_written(tmp_path):
    path = tmp_path / ("n" * 250 + ".json")
    weigh.save(MODEL, path)
    assert weigh.load(path).classes_.tolist() == ["No", "Yes"]


def test_the_demo_writes_its_table_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    path.write_text("old")
    for function, broken in full_after(100).items():
        monkeypatch.setattr(writing.os, function, broken)
    result = CliRunner().invoke(main, ["demo", "--save", str(path)])
    assert result.exit_code == 1
    assert str(path) in result.stderr.splitlines()[-1]
    assert path.read_text() == "old"
    monkeypatch.undo()
    result = CliRunner().invoke(main, ["demo", "--save", str(path)])
    assert result.exit_code == 0
    assert f"Wrote the table of 2,201 people: {path}" in result.stderr
    assert csv.read_csv(path).equals(
        PEOPLE.cast(pa.schema([(n, "string") for n in PEOPLE.column_names]))
    )


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_standard_output_that_is_appended_to_a_file_loses_nothing(tmp_path):
    weigh.save(MODEL, tmp_path / "model.json")
    code = (
        "import sys, weigh; m = weigh.load(sys.argv[1]);"
        "print('before'); weigh.save(m, '/dev/stdout'); print('after')"
    )
    log = tmp_path / "log.txt"
    log.write_text("old\n")
    with open(log, "a") as file:
        command = [sys.executable, "-c", code, str(tmp_path / "model.json")]
        subprocess.run(command, stdout=file, check=True)
    text = log.read_text()
    assert text.startswith("old\nbefore\n{")
    assert text.endswith("after\n")
