"""uvicorn with limits on clients, errors in JSON, and a shutdown that loses no request."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from dataclasses import dataclass
from http import HTTPStatus
from types import FrameType
from typing import Any, TypeAlias

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from weigh.serving.loaded import dump
from weigh.serving.records import Log

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


class ConnectionLimit:
    """Limits the connections of a server: drops the oldest idle ones if there are too many."""

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


MOST_HEAD = 65_536
"""Most bytes of a request before its body."""

REST = 0.01
"""Seconds until the next piece of a head is read.

What arrives meanwhile is read at once, so that a client cannot wake the server for every header.
"""

MOST_CHUNKS = 1000
"""Most chunks of a body: each costs the server time, however short it is."""

INVALID = HTTPStatus.BAD_REQUEST, "the request is not valid HTTP"
TOO_LONG = (
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    f"the address and headers are longer than {MOST_HEAD:,} bytes",
)
TOO_MANY = (
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    f"the body has more than {MOST_CHUNKS:,} chunks; send it in larger ones",
)


class Connection(HttpToolsProtocol):
    """A connection that is counted, and closed if a request exceeds the limits.

    The pieces of a head are read with rests between them.
    """

    limit: ConnectionLimit

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.refusal = INVALID
        self.head, self.chunks, self.unread = 0, 0, 0
        self.in_head, self.begun = True, False

    def connection_made(self, transport: Any) -> None:
        """Count this connection."""
        super().connection_made(transport)
        self.limit.enter(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Count it no more."""
        self.limit.leave(self)
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Parse the data; refuse a head that is too long, even before it is complete."""
        self.begun = False
        super().data_received(data)
        self.unread = 0 if self.begun or not self.in_head else self.unread + len(data)
        if self.unread > MOST_HEAD and not self.transport.is_closing():
            self.refusal = TOO_LONG
            self.send_400_response("")
        if self.in_head and _is_idle(self):
            self.flow.pause_reading()
            self.loop.call_later(REST, self._read_on)

    def _read_on(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def on_message_begin(self) -> None:
        """Reset the counts for the next request."""
        super().on_message_begin()
        self.head, self.chunks, self.in_head, self.begun = 0, 0, True, True

    def on_url(self, url: bytes) -> None:
        """Count and add a part of the URL."""
        self._count(len(url))
        super().on_url(url)

    def on_headers_complete(self) -> None:
        """Pass the request on."""
        self.in_head = False
        super().on_headers_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count and keep a header; trailers after a body are ignored."""
        self._count(len(name) + len(value))
        if self.in_head:
            super().on_header(name, value)

    def _count(self, length: int) -> None:
        self.head += length
        if self.head > MOST_HEAD:
            self._refuse(TOO_LONG)

    def _refuse(self, refusal: tuple[HTTPStatus, str]) -> None:
        """Abort the parser by an error; uvicorn then calls `send_400_response`."""
        self.refusal = refusal
        raise ValueError(refusal[1])

    def on_chunk_header(self) -> None:
        """Count a chunk, and refuse the request if there are too many."""
        self.chunks += 1
        if self.chunks > MOST_CHUNKS:
            self._refuse(TOO_MANY)

    def send_400_response(self, msg: str) -> None:
        """Refuse an unreadable request with a JSON error, as for all refusals."""
        status, error = self.refusal
        body = dump({"error": error, "field": None})
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()


GRACE = 1.0
"""Seconds of a shutdown in which responses carry `connection: close`, before idle ones close."""

MOST_WAIT = 30
"""Seconds after which a shutdown no longer waits for requests."""

AT_ONCE, QUEUE = 16, 256
"""Connections accepted per turn of the event loop, and length of the system's queue.

A client that floods a full queue waits a second before its next attempt, so a short queue slows it.
"""


DEAD = 16
"""Most connections dropped per call because they were closed before they were accepted."""


class Listener(socket.socket):
    """A listening socket that drops connections which the client has already closed.

    Setting up a closed connection costs as much as answering a request. A flood of them would fill
    the queue in which real clients wait.
    """

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept the next connection that is still open."""
        for _ in range(DEAD):
            found = super().accept()
            if not _is_closed(found[0]):
                return found
            found[0].close()
        raise BlockingIOError  # the event loop tries again later


def _is_closed(client: socket.socket) -> bool:
    """Whether a client has closed its connection without sending data."""
    try:
        return client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def make_listener(listener: socket.socket) -> socket.socket:
    """A `Listener` that takes over the file descriptor of a listening socket."""
    if not hasattr(socket, "MSG_DONTWAIT"):  # Windows
        return listener
    kind = listener.family, listener.type, listener.proto
    return Listener(*kind, fileno=listener.detach())


class Server(uvicorn.Server):
    """A server that, on a signal, answers the requests it has and asks clients to disconnect."""

    should_exit: bool

    def __init__(self, app: Any, log: Log) -> None:
        self.app, self.log, self.limit = app, log, ConnectionLimit(log)
        limited = type("LimitedConnection", (Connection,), {"limit": self.limit})
        super().__init__(_configure(app, limited))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, watch connections, and reload the model on SIGHUP."""
        listeners = [*map(make_listener, sockets or ())]
        await super().startup(listeners)
        for listener in listeners:
            listener.listen(QUEUE)  # uvicorn has set it to AT_ONCE
        self.watching = asyncio.create_task(self.limit.watch())
        if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, self.app.reloader.wanted.set)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop gracefully, or at once on a second signal; the exit code is 0."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer with `connection: close` for a while, then close idle connections.

        Clients are asked to disconnect only after the listener is closed. Otherwise they would
        connect again, and might wait for a listener that is about to close.
        """
        self.log.tell("stopping")
        for _ in range(QUEUE // AT_ONCE):
            await asyncio.sleep(0)  # accepts the connections in the queue
        for server in self.servers:
            server.close()
        self.app.reloader.stopping = True
        until = time.monotonic() + GRACE
        while self.server_state.connections and time.monotonic() < until:
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)
        self.watching.cancel()


def _configure(app: Any, protocol: type[Connection]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=protocol,
        log_config=None,
        log_level="warning",
        access_log=False,
        ws="none",
        lifespan="on",
        server_header=False,
        backlog=AT_ONCE,
        timeout_graceful_shutdown=MOST_WAIT,
    )
