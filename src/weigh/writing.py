"""Files and folders written whole or not at all: every file of the package is written here.

A file is written beside its place under another name, put on the disk, and then takes its place in
one step; whatever fails before leaves the old file as it was. A link is followed to the file that
it names. A file that is replaced leaves its mode to the new one, and a new file has the mode that
the process gives to files. What is no regular file, such as a device or a pipe, is written to, and
so is a file that is open already, such as /dev/stdout.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias
from uuid import uuid4

FilePath: TypeAlias = str | os.PathLike[str]
READABLE = 80
"""Characters of a file's name in the name that its part has meanwhile."""


def write_text(text: str, path: FilePath) -> None:
    """Write a text file whole or not at all."""
    write_bytes(text.encode("utf-8", errors="backslashreplace"), path)  # JSON's own escapes


def write_bytes(data: bytes, path: FilePath) -> None:
    """Write a file whole or not at all."""
    with open_whole(path) as file:
        file.write(data)


@contextmanager
def open_whole(path: FilePath) -> Iterator[IO[bytes]]:
    """A file to write to, which is in its place when the context ends without an error."""
    number = _open_number(path)
    if number is not None:
        sys.stdout.flush()  # what was printed before comes before
        with os.fdopen(os.dup(number), "wb") as place:
            yield place
        return
    refuse_unwritable(path)
    old = _stat(path)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(path, "wb") as place:
            yield place
        return
    target = _resolve(path)
    part = _beside(target)
    try:
        # the mode is right from the start, and the umask, which all threads share, stays as it is
        made = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if old is None else 0o600)
        with os.fdopen(made, "wb") as file:
            yield file  # which Arrow closes itself
        _put_on_disk(part)
        if old is not None:
            _inherit(part, old)
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _put_on_disk(target.parent)


@contextmanager
def make_folder(path: FilePath) -> Iterator[Path]:
    """A folder to write files to, which is in its place when the context ends without an error."""
    target = Path(os.path.realpath(path))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ValueError(f"{os.fspath(path)} exists and is not an empty folder; give another name")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = _beside(target)
    try:
        part.mkdir()
        yield part
        _put_on_disk(part)
        os.replace(part, target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    _put_on_disk(target.parent)


def refuse_inputs(path: FilePath, inputs: Iterable[FilePath | int]) -> None:
    """Refuse to write to one of some files that are read, whatever name or link leads to it.

    An input may be an open file too, by its number, such as that of standard input.
    """
    output = _stat(path)
    if output is None:
        return
    for read in inputs:
        known = os.fstat(read) if isinstance(read, int) else _stat(read)
        if known is not None and stat.S_ISREG(known.st_mode) and os.path.samestat(output, known):
            raise ValueError(f"{os.fspath(path)} is an input; write to another file")


def refuse_unwritable(path: FilePath) -> None:
    """Refuse a path where no file can be written: a folder, or a folder that is not there."""
    if _open_number(path) is not None:
        return
    old = _stat(path)
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; give the name of a file")
    if old is None or stat.S_ISREG(old.st_mode):
        folder = _resolve(path).parent
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"the folder {folder} cannot be written to; give another name")


def _open_number(path: FilePath) -> int | None:
    """The number of our own open file that a path such as /dev/stdout names, else None.

    Output that is redirected to a file goes on where it is: that file is never replaced.
    """
    place = os.fspath(path)
    for _ in range(40):  # as many links as systems follow
        folder, name = os.path.split(place)
        if name.isdigit() and os.path.realpath(folder) == f"/proc/{os.getpid()}/fd":
            return int(name)
        if not os.path.islink(place):
            return None
        place = os.path.join(folder, os.readlink(place))
    return None


def _stat(path: FilePath) -> os.stat_result | None:
    """What is at a path, links followed; None where nothing is."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _resolve(path: FilePath) -> Path:
    """The file that a path names in the end; its folder must be there."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no such folder: {target.parent}")
    return target


def _beside(target: Path) -> Path:
    """A hidden name in the same folder, which nobody else has."""
    return target.with_name(f".{target.name[:READABLE]}.{uuid4().hex}")


def _inherit(part: Path, old: os.stat_result) -> None:
    """Give a file the owner, where we may, and the mode of the one that it replaces."""
    new = os.stat(part)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError):
            os.chown(part, old.st_uid, old.st_gid)
    os.chmod(part, stat.S_IMODE(old.st_mode))


def _put_on_disk(path: Path) -> None:
    """Wait until the disk has a file's bytes, or a folder's names, so that they outlive a crash."""
    if os.name != "posix" and path.is_dir():
        return  # there is no way
    number = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)
