"""The only module that imports uvicorn: its server with a gate, and a stop that loses nothing."""

from __future__ import annotations

import asyncio
import socket
import time
from types import FrameType
from typing import Any

import uvicorn

from weigh.serving.limits import Gate, guard
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
