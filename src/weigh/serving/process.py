"""The server of uvicorn with a gate, a signal to reload, and a stop that loses no request."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from types import FrameType
from typing import Any

import uvicorn

from weigh.serving.connections import Connection
from weigh.serving.limits import Gate
from weigh.serving.log import Log

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
        self.app, self.log, gate = app, log, Gate(log)
        super().__init__(_configure(app, type("Gated", (Connection,), {"gate": gate})))
        self.gate = gate

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and watch who comes."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(QUEUE)  # uvicorn has made it as short as AT_ONCE
        self.watching = asyncio.create_task(self.gate.watch())
        if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, self.app.shelf.wanted.set)

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
