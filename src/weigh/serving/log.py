"""The log of the server: one JSON object per line. The values of rows are never logged."""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, TextIO

MOST_OFTEN, SECONDS = 10, 10.0
"""Most lines per event that any client can cause, and the seconds in which they are counted."""


class Log:
    """A log on a stream; `quiet` leaves requests out."""

    def __init__(self, stream: TextIO, quiet: bool = False) -> None:
        self.stream, self.quiet = stream, quiet
        self.told: dict[str, list[float]] = {}
        self.left_out: dict[str, int] = {}

    def tell(self, event: str, **fields: Any) -> None:
        """Log an event."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "event": event, **fields})
        with suppress(OSError, ValueError):  # a full disk must not stop the service
            self.stream.write(line + "\n")
            self.stream.flush()

    def seldom(self, event: str, **fields: Any) -> None:
        """Log an event that may be frequent: only some lines, and the number of those left out."""
        now = time.monotonic()
        recent = [then for then in self.told.get(event, ()) if now - then < SECONDS]
        self.told[event] = recent
        if len(recent) >= MOST_OFTEN:
            self.left_out[event] = self.left_out.get(event, 0) + 1
            return
        recent.append(now)
        missed = self.left_out.pop(event, 0)
        self.tell(event, **fields, **({"left_out": missed} if missed else {}))

    def request(self, scope: Any, status: int, seconds: float) -> None:
        """Log a request that was answered, unless the log is quiet."""
        if self.quiet:
            return
        client = scope.get("client") or ("",)
        self.tell(
            "request",
            method=scope["method"],
            path=scope["path"][:200],
            status=status,
            ms=round(1000 * seconds, 3),
            client=client[0],
        )

    def failure(self, error: BaseException) -> None:
        """Log an unexpected error with its traceback."""
        lines = traceback.format_exception(error)
        self.tell("failure", error=f"{type(error).__name__}: {error}", traceback="".join(lines))


class Relay(logging.Handler):
    """A handler that writes messages of uvicorn and asyncio to the log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self.log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Log a message, and its error if it has one."""
        error = record.exc_info[1] if record.exc_info else None
        about = {} if error is None else {"error": f"{type(error).__name__}: {error}"}
        self.log.seldom("server", message=record.getMessage(), **about)


@contextmanager
def relayed(log: Log) -> Iterator[None]:
    """Send the messages of uvicorn and asyncio to the log only, inside this context."""
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "asyncio")]
    before, relay = [logger.propagate for logger in loggers], Relay(log)
    for logger in loggers:
        logger.addHandler(relay)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagate in zip(loggers, before, strict=True):
            logger.removeHandler(relay)
            logger.propagate = propagate
