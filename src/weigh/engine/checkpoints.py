"""Checkpoints: results of passes, saved in a folder, so that an interrupted fit can resume.

A fit is a sequence of passes, each of which depends on the results before it. A result is stored
under a hash of the fit (parameters and data), of its position in the sequence, and of the
statistic. Files are written atomically and hold arrays only, so nothing in them is executed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Cross, Feature
from weigh.writing import write_bytes

Arrays: TypeAlias = tuple[Floats, ...]
Features: TypeAlias = Sequence[Feature | Cross]


@dataclass(frozen=True)
class Spelling:
    """Functions that convert features to plain data and back."""

    write: Callable[[Features], Any]
    read: Callable[[Any], Features]


@dataclass
class Checkpoint:
    """Stored results of one fit; `recalled` counts the passes that were read from the folder."""

    folder: Path
    key: str
    spelling: Spelling
    asked: int = 0
    recalled: int = 0

    def recall(self, question: bytes, answer: Callable[[], Arrays]) -> Arrays:
        """Return the stored result of a pass, or run the pass and store its result."""
        self.asked += 1
        path = self._path(question)
        known = _read(path)
        if known is not None:
            self.recalled += 1
            return known
        found = answer()
        _write(path, found)
        return found

    def _path(self, question: bytes) -> Path:
        name = hashlib.sha256(f"{self.key} {self.asked} ".encode() + question).hexdigest()
        return self.folder / f"{self.key[:16]}-{name[:32]}.npz"

    def clear(self) -> None:
        """Delete the stored results of this fit."""
        for pattern in ("{}-*", ".{}-*"):  # the second are temporary files of a killed process
            for path in self.folder.glob(pattern.format(self.key[:16])):
                path.unlink(missing_ok=True)


_kept: ContextVar[Checkpoint | None] = ContextVar("kept", default=None)


@contextmanager
def checkpoint(folder: str | os.PathLike[str], about: Any, spelling: Spelling) -> Iterator[Any]:
    """Store the results of passes within this context, and reuse those already stored.

    `about` is plain data that identifies the fit: its parameters and its data.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()
    kept = Checkpoint(place, key, spelling)
    token = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(token)


def recall(question: Callable[[], bytes], answer: Callable[[], Arrays]) -> Arrays:
    """Run a pass, or read its result from the active checkpoint."""
    kept = _kept.get()
    return answer() if kept is None else kept.recall(question(), answer)


def recall_counts(
    question: Callable[[], bytes], answer: Callable[[], list[tuple[Feature | Cross, Floats]]]
) -> list[tuple[Feature | Cross, Floats]]:
    """Find and count features, or read them from the active checkpoint."""
    kept = _kept.get()
    if kept is None:
        return answer()
    spelling = kept.spelling

    def spell() -> Arrays:
        found = answer()
        text = json.dumps(spelling.write([feature for feature, _ in found])).encode()
        return (np.frombuffer(text, dtype=np.uint8), *(counts for _, counts in found))

    text, *counts = kept.recall(question(), spell)
    return [*zip(spelling.read(json.loads(text.tobytes())), counts, strict=True)]


def _read(path: Path) -> Arrays | None:
    """Read stored arrays; None if the file is absent or damaged."""
    try:
        with open(path, "rb") as file:
            found = np.load(file, allow_pickle=False)
            return tuple(found[f"arr_{i}"] for i in range(len(found.files)))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _write(path: Path, arrays: Arrays) -> None:
    stream = io.BytesIO()  # savez on a file that fails would warn again when it is collected
    np.savez(stream, *arrays)
    write_bytes(stream.getvalue(), path)
