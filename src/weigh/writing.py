"""Atomic writing of files and folders; the package writes all its files here.

A file is written under a temporary name in the same folder, flushed to the disk, and then renamed.
If anything fails before, the old file stays unchanged. Links are followed. A file that replaces
another has its mode; a new file has the default mode of the process. Devices, pipes and files that
are open already, such as /dev/stdout, are written to directly.
"""

from __future__ import annotations

import errno
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
MAX_NAME_LENGTH = 80
"""Most characters of the file's name in its temporary name."""
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""Errors of a disk that is full, of a quota that is used up, and of a file that is too long."""


def write_text(text: str, path: FilePath) -> None:
    """Write a text file atomically, in UTF-8; lone surrogates are escaped as in JSON."""
    write_bytes(text.encode("utf-8", errors="backslashreplace"), path)


def write_bytes(data: bytes, path: FilePath) -> None:
    """Write a file atomically."""
    with open_whole(path) as file:
        file.write(data)


@contextmanager
def open_whole(path: FilePath) -> Iterator[IO[bytes]]:
    """Open a file for writing; it takes its place if the context ends without an error."""
    number = _open_descriptor(path)
    if number is not None:
        sys.stdout.flush()  # keeps the order of earlier output
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
    part = _temporary_path(target)
    try:
        # Set the mode at creation: changing the umask would affect all threads.
        made = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if old is None else 0o600)
        with os.fdopen(made, "wb") as file:
            yield file  # Arrow may close it
        _flush_to_disk(part)
        if old is not None:
            _inherit(part, old)
        os.replace(part, target)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            error.filename = os.fspath(path)  # which the operating system leaves out
        raise
    _flush_to_disk(target.parent)


@contextmanager
def make_folder(path: FilePath) -> Iterator[Path]:
    """Make a folder to write to; it takes its place if the context ends without an error."""
    target = Path(os.path.realpath(path))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ValueError(f"{os.fspath(path)} exists and is not an empty folder; give another name")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = _temporary_path(target)
    try:
        part.mkdir()
        yield part
        _flush_to_disk(part)
        os.replace(part, target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    _flush_to_disk(target.parent)


def refuse_inputs(path: FilePath, inputs: Iterable[FilePath | int]) -> None:
    """Raise an error if the output is one of the input files, also under another name or link.

    An input may also be the descriptor of an open file, such as standard input.
    """
    output = _stat(path)
    if output is None:
        return
    for read in inputs:
        known = os.fstat(read) if isinstance(read, int) else _stat(read)
        if known is not None and stat.S_ISREG(known.st_mode) and os.path.samestat(output, known):
            raise ValueError(f"{os.fspath(path)} is an input file; write to another file")


def refuse_unwritable(path: FilePath) -> None:
    """Raise an error if no file can be written to a path: a folder, or a folder not writable."""
    if _open_descriptor(path) is not None:
        return
    old = _stat(path)
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; give the name of a file")
    if old is None or stat.S_ISREG(old.st_mode):
        folder = _resolve(path).parent
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"the folder {folder} cannot be written to; give another name")


def _open_descriptor(path: FilePath) -> int | None:
    """Descriptor of the open file that a path such as /dev/stdout names, or None.

    Redirected output continues in its file, which is never replaced.
    """
    place = os.fspath(path)
    for _ in range(40):  # as many links as operating systems follow
        folder, name = os.path.split(place)
        if name.isdigit() and os.path.realpath(folder) == f"/proc/{os.getpid()}/fd":
            return int(name)
        if not os.path.islink(place):
            return None
        place = os.path.join(folder, os.readlink(place))
    return None


def _stat(path: FilePath) -> os.stat_result | None:
    """Status of the file at a path, following links; None if there is none."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _resolve(path: FilePath) -> Path:
    """Path with links resolved; its folder must exist."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no such folder: {target.parent}")
    return target


def _temporary_path(target: Path) -> Path:
    """Unique hidden name in the same folder."""
    return target.with_name(f".{target.name[:MAX_NAME_LENGTH]}.{uuid4().hex}")


def _inherit(part: Path, old: os.stat_result) -> None:
    """Give a file the mode, and if permitted the owner, of the file that it replaces."""
    new = os.stat(part)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError):
            os.chown(part, old.st_uid, old.st_gid)
    os.chmod(part, stat.S_IMODE(old.st_mode))


def _flush_to_disk(path: Path) -> None:
    """Flush a file or a folder's entries to the disk, so that they survive a crash."""
    if os.name != "posix" and path.is_dir():
        return  # folders cannot be flushed there
    number = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)
