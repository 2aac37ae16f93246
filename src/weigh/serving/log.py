"""What the server tells its keeper: one JSON object a line. What rows hold is never told."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO


class Log:
    """Lines on a stream; `quiet` leaves requests out."""

    def __init__(self, stream: TextIO, quiet: bool = False) -> None:
        self.stream, self.quiet = stream, quiet

    def tell(self, event: str, **fields: Any) -> None:
        """Something that happened."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.stream.write(json.dumps({"time": now, "event": event, **fields}) + "\n")
        self.stream.flush()

    def request(self, scope: Any, status: int, seconds: float) -> None:
        """A request that was answered."""
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
        """Something that should not happen, and where."""
        lines = traceback.format_exception(error)
        self.tell("failure", error=f"{type(error).__name__}: {error}", traceback="".join(lines))


class Relay(logging.Handler):
    """What uvicorn says, as lines of the log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self.log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Tell a message."""
        self.log.tell("server", message=record.getMessage())
