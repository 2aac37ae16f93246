"""The model in use, and its file: a file that is replaced is loaded while the old model serves."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TypeAlias

from weigh.serving.log import Log
from weigh.serving.served import Served

EVERY = 0.5
"""Seconds between two looks at the file."""

Mark: TypeAlias = tuple[int, int, int] | None


@dataclass
class Shelf:
    """The model that is served now; whoever answers a request takes it once."""

    path: str
    most_rows: int
    log: Log
    current: Served
    mark: Mark

    @classmethod
    def open(cls, path: str | os.PathLike[str], most_rows: int, log: Log) -> Shelf:
        """Load the first model, which must be whole."""
        name = os.fspath(path)
        mark = read_mark(name)
        return cls(name, most_rows, log, Served.load(name, most_rows), mark)

    async def watch(self, every: float = EVERY) -> None:
        """Look at the file again and again."""
        while True:
            await asyncio.sleep(every)
            try:
                await self.look()
            except Exception as error:  # the next look may succeed
                self.log.failure(error)

    async def look(self) -> None:
        """Load the file in a thread if it is another; what cannot be served is refused."""
        mark = read_mark(self.path)  # before reading: a change meanwhile is seen the next time
        if mark == self.mark:
            return
        self.mark = mark
        try:
            loaded = await asyncio.to_thread(Served.load, self.path, self.most_rows)
        except Exception as error:
            self.log.tell("refused", model=self.path, error=str(error))
            return
        self.current = loaded.after(self.current)
        self.log.tell("loaded", model=self.path, generation=self.current.generation)


def read_mark(path: str) -> Mark:
    """What tells a file from the one that was there before; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
