"""Limits on clients: the time of a body or a connection, the number of connections, the host name.

A page of another site can make its own name point to this machine (DNS rebinding); the browser
then sends requests here, and they carry that name. So only requests for allowed names are answered.
A numeric IP address cannot be made to point elsewhere, so it is always allowed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from weigh.serving.log import Log
from weigh.serving.rows import RefusalError

SECONDS = 10.0
"""Seconds that a client may take to send the head of a request, or to read any of a response."""

MOST = 1000
"""Most simultaneous connections, if the system's limit of open files allows it."""

SPARE = 128
"""Open files reserved for the model, threads, and connections that are being accepted."""

Progress: TypeAlias = tuple[Any, bool, int]


@dataclass(frozen=True)
class Mark:
    """The progress of a connection, and the time since which it has not changed."""

    progress: Progress
    since: float


class Gate:
    """The connections of a server, oldest first; drops idle ones if there are too many."""

    def __init__(self, log: Log, most: int | None = None) -> None:
        self.log, self.most = log, most or count_places()
        self.marks: dict[Any, Mark] = {}

    def enter(self, connection: Any) -> None:
        """Add a connection; if there are too many, drop an idle one, or the new one if none is."""
        self.marks[connection] = Mark(read_progress(connection), time.monotonic())
        if len(self.marks) > self.most:
            self.log.seldom("full", connections=self.most)
            self._part(self._find_idle(connection))

    def leave(self, connection: Any) -> None:
        """Remove a connection that was closed."""
        self.marks.pop(connection, None)

    async def watch(self) -> None:
        """Call `sweep` repeatedly."""
        while True:
            await asyncio.sleep(SECONDS / 10)
            self.sweep(time.monotonic())

    def sweep(self, now: float) -> None:
        """Drop connections without progress for `SECONDS`, unless they wait for our response."""
        for connection, mark in [*self.marks.items()]:
            progress = read_progress(connection)
            if progress != mark.progress:
                self.marks[connection] = Mark(progress, now)
            elif now - mark.since > SECONDS and (_is_idle(connection) or progress[2]):
                self._part(connection)

    def _find_idle(self, new: Any) -> Any:
        """The connection to drop: one without a request, else an answered one, else the new one."""
        others = [c for c in self.marks if c is not new and _is_idle(c)]
        return next((c for c in others if c.cycle is None), others[0] if others else new)

    def _part(self, connection: Any) -> None:
        self.leave(connection)
        connection.transport.abort()


def read_progress(connection: Any) -> Progress:
    """The current request, whether it is answered, and the number of bytes not yet sent."""
    return connection.cycle, _is_idle(connection), connection.transport.get_write_buffer_size()


def _is_idle(connection: Any) -> bool:
    return connection.cycle is None or bool(connection.cycle.response_complete)


def count_places() -> int:
    """The number of connections that the limit of open files allows."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST if files == resource.RLIM_INFINITY else min(MOST, max(files - SPARE, files // 2))


BODY_SECONDS = 10.0
"""Seconds within which a body must arrive."""

MOST_DIGITS = 18
"""Most digits of a Content-Length; Python does not parse numbers of several thousand digits."""


async def read_body(request: Any, most_bytes: int) -> bytes:
    """The whole body; an error as soon as it is too long or too slow."""
    told = request.headers.get("content-length", "0")
    if told.isdecimal() and (len(told) > MOST_DIGITS or int(told) > most_bytes):
        raise _too_long(most_bytes)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _receive(request.receive, most_bytes)
    except TimeoutError:
        raise RefusalError(
            f"the body did not arrive within {BODY_SECONDS:g} seconds", status=408
        ) from None


async def _receive(receive: Any, most_bytes: int) -> bytes:
    """The body from its parts, with their size checked as they arrive."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusalError("the client left before its body had arrived", status=400)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most_bytes:
            raise _too_long(most_bytes)
        more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_long(most_bytes: int) -> RefusalError:
    return RefusalError(
        f"the body is longer than {most_bytes:,} bytes; send fewer rows", status=413
    )


EVERY_HOST = "*"


def check_hosts(names: Iterable[str]) -> frozenset[str]:
    """The names in lower case, with localhost; a name with a port or a path is an error."""
    if isinstance(names, str):
        raise ValueError(f"allow_hosts={names!r} must be a list of host names, such as [{names!r}]")
    names = [name.lower().rstrip(".") for name in names if not _is_address(name)]
    for name in names:
        if not name or set(name) & set("/:@ \t"):
            raise ValueError(
                f"allow_hosts={name!r} must be a host name without a port, such as 'risk.example'"
            )
    return frozenset([*names, "localhost"])


def check_host(headers: Sequence[tuple[bytes, bytes]], allowed: frozenset[str]) -> None:
    """Raise an error for a request for another host, or without exactly one Host header."""
    if EVERY_HOST in allowed:
        return
    told = [value for name, value in headers if name == b"host"]
    if len(told) != 1:
        raise RefusalError(f"the request has {len(told)} Host headers, not one", status=400)
    name = told[0].decode("latin-1").lower()
    name = name.rpartition(":")[0] if name.rpartition(":")[2].isdecimal() else name
    if name.rstrip(".") not in allowed and not _is_address(name.strip("[]")):
        raise RefusalError(
            f"this server does not answer for the host {name[:60]!r}; start it with --allow-host",
            status=421,
        )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
