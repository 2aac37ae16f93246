"""The server: a model file on a socket of ours, in a process that ends at a signal."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from types import FrameType
from typing import Any

import uvicorn

from weigh.serving.app import LACKS, MOST_BYTES, MOST_ROWS, make_app
from weigh.serving.limits import Gate, guard
from weigh.serving.log import Log, relayed


def serve(
    path: str | os.PathLike[str],
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    most_rows: int = MOST_ROWS,
    most_bytes: int = MOST_BYTES,
    quiet: bool = False,
) -> None:
    """Serve a model file until SIGTERM or Ctrl-C: the form, and a JSON API.

    Parameters
    ----------
    path : path
        The model file. When it is replaced, the new model is served from then on.
    host, port : str, int
        Where to listen; by default only this machine can reach it. Port 0 is any that is free.
    most_rows, most_bytes : int
        The largest request that is answered.
    quiet : bool, default=False
        Leave requests out of the log on standard error.
    """
    server, log = _server(), Log(sys.stderr, quiet)
    app = make_app(path, most_rows=most_rows, most_bytes=most_bytes, log=log)
    with bind(host, port) as listener:
        log.tell("listening", url=_url(listener), model=os.fspath(path))
        with relayed(log):
            server(app, log).run(sockets=[listener])
    log.tell("stopped")


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error that says where it could not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once only where the protocol is named: else answers wait 40 ms for an ACK
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except (OSError, OverflowError) as error:
        listener.close()
        raise ValueError(f"cannot listen on {host} port {port}: {error}") from None
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _server() -> Any:
    """The class of the server, which runs an application until a signal."""
    try:
        from weigh.serving.server import Server
    except ImportError:
        raise ImportError(LACKS) from None
    return Server


GRACE = 1.0
"""Seconds in which connections that are open at a stop are told to part, before idle ones close."""

MOST_WAIT = 30
"""Seconds after which a stop waits for no request any more."""

AT_ONCE, QUEUE = 16, 2048
"""Connections that are accepted before others are served, and those that the system keeps."""


class Server(uvicorn.Server):
    """Told to stop, it answers what has reached it, and asks each client to part."""

    should_exit: bool

    def __init__(self, app: Any, log: Log) -> None:
        super().__init__(_configure(app))
        self.app, self.log, self.gate = app, log, Gate(log)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and watch who comes."""
        self.config.http_protocol_class = guard(self.config.http_protocol_class, self.gate)
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(QUEUE)  # uvicorn has made it as short as AT_ONCE
        self.watching = asyncio.create_task(self.gate.watch())

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; a second signal does not wait. The exit code stays 0."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer with `connection: close` for a while, then close what is idle.

        Clients are asked to part only when nobody can connect any more: one that is asked before
        connects again, and may wait for a listener that is about to close.
        """
        self.log.tell("stopping")
        for _ in range(QUEUE // AT_ONCE):
            await asyncio.sleep(0)  # connections that wait are accepted
        for server in self.servers:
            server.close()
        self.app.stopping = True
        until = time.monotonic() + GRACE
        while self.server_state.connections and time.monotonic() < until:
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)
        self.watching.cancel()


def _configure(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        ws="none",
        lifespan="on",
        server_header=False,
        backlog=AT_ONCE,
        timeout_graceful_shutdown=MOST_WAIT,
    )
