"""Limits on clients: how long a body or a connection may take, how many, and for which host.

A page of another site can make its own name point to this machine (DNS rebinding); the browser
then sends requests here, and they carry that name. So only names that were told are answered.
An address in numbers cannot be made to point elsewhere, and is always answered.
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
"""How long a client may take to send the head of a request, or to read any of an answer."""

MOST = 1000
"""Connections at a time, where the system allows so many files."""

SPARE = 128
"""Files that are left for the model, for threads, and for connections that are on their way."""

Progress: TypeAlias = tuple[Any, bool, int]


@dataclass(frozen=True)
class Mark:
    """What a connection had come to, and since when."""

    progress: Progress
    since: float


class Gate:
    """The connections of a server, oldest first."""

    def __init__(self, log: Log, most: int | None = None) -> None:
        self.log, self.most = log, most or count_places()
        self.marks: dict[Any, Mark] = {}

    def enter(self, connection: Any) -> None:
        """Let a client in; if there are too many, one that asks nothing leaves, or else this."""
        self.marks[connection] = Mark(read_progress(connection), time.monotonic())
        if len(self.marks) > self.most:
            self.log.seldom("full", connections=self.most)
            self._part(self._find_idle(connection))

    def leave(self, connection: Any) -> None:
        """A client has gone."""
        self.marks.pop(connection, None)

    async def watch(self) -> None:
        """Look around again and again."""
        while True:
            await asyncio.sleep(SECONDS / 10)
            self.sweep(time.monotonic())

    def sweep(self, now: float) -> None:
        """Part from all that did not get on for so long; not from what we have still to answer."""
        for connection, mark in [*self.marks.items()]:
            progress = read_progress(connection)
            if progress != mark.progress:
                self.marks[connection] = Mark(progress, now)
            elif now - mark.since > SECONDS and (_is_idle(connection) or progress[2]):
                self._part(connection)

    def _find_idle(self, new: Any) -> Any:
        """Who never asked comes first, then who has been answered, then the new one."""
        others = [c for c in self.marks if c is not new and _is_idle(c)]
        return next((c for c in others if c.cycle is None), others[0] if others else new)

    def _part(self, connection: Any) -> None:
        self.leave(connection)
        connection.transport.abort()


def read_progress(connection: Any) -> Progress:
    """The request it is at, whether that is answered, and the bytes that it has yet to read."""
    return connection.cycle, _is_idle(connection), connection.transport.get_write_buffer_size()


def _is_idle(connection: Any) -> bool:
    return connection.cycle is None or bool(connection.cycle.response_complete)


def count_places() -> int:
    """How many connections the limit of open files leaves room for."""
    try:
        import resource
    except ImportError:  # Windows, which counts no files
        return MOST
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST if files == resource.RLIM_INFINITY else min(MOST, max(files - SPARE, files // 2))


BODY_SECONDS = 10.0
"""How long a body may take to arrive."""

MOST_DIGITS = 18
"""Digits of a length; Python reads no number of more than a few thousand."""


async def read_body(request: Any, most_bytes: int) -> bytes:
    """The whole body, unless it is longer or slower than allowed: then no more of it is kept."""
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
    """The pieces, counted as they come."""
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
    """The names in lower case, with localhost; a name with a port or a path is refused."""
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
    """Refuse a request for another host, or for none or two."""
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
