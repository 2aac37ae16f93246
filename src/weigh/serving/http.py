"""uvicorn with limits on heads and chunks, errors in JSON, and a shutdown that loses no request."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from http import HTTPStatus
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from weigh.serving.limits import Gate
from weigh.serving.log import Log
from weigh.serving.served import dump

MOST_HEAD = 65_536
"""Most bytes of a request before its body."""

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
    """A connection that is registered with a gate, and closed if a request exceeds the limits."""

    gate: Gate

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.refusal = INVALID
        self.head, self.chunks, self.unread = 0, 0, 0
        self.in_head, self.begun = True, False

    def connection_made(self, transport: Any) -> None:
        """Register with the gate."""
        super().connection_made(transport)
        self.gate.enter(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Unregister from the gate."""
        self.gate.leave(self)
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Parse the data; refuse a head that is too long, even before it is complete."""
        self.begun = False
        super().data_received(data)
        self.unread = 0 if self.begun or not self.in_head else self.unread + len(data)
        if self.unread > MOST_HEAD and not self.transport.is_closing():
            self.refusal = TOO_LONG
            self.send_400_response("")

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

AT_ONCE, QUEUE = 16, 2048
"""Connections accepted per turn of the event loop, and length of the system's queue."""


DEAD = 256
"""Most connections dropped per call because they were closed before they were accepted."""


class Door(socket.socket):
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


def make_door(listener: socket.socket) -> socket.socket:
    """A `Door` that takes over the file descriptor of a listener."""
    if not hasattr(socket, "MSG_DONTWAIT"):  # Windows
        return listener
    kind = listener.family, listener.type, listener.proto
    return Door(*kind, fileno=listener.detach())


class Server(uvicorn.Server):
    """A server that, on a signal, answers the requests it has and asks clients to disconnect."""

    should_exit: bool

    def __init__(self, app: Any, log: Log) -> None:
        self.app, self.log, gate = app, log, Gate(log)
        super().__init__(_configure(app, type("Gated", (Connection,), {"gate": gate})))
        self.gate = gate

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, watch connections, and reload the model on SIGHUP."""
        doors = [*map(make_door, sockets or ())]
        await super().startup(doors)
        for listener in doors:
            listener.listen(QUEUE)  # uvicorn has set it to AT_ONCE
        self.watching = asyncio.create_task(self.gate.watch())
        if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, self.app.shelf.wanted.set)

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
        self.app.shelf.stopping = True
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
