"""The application: routes, and around them a layer that sees every request."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from weigh.serving.log import Log
from weigh.serving.served import EVERY, Shelf

MOST_ROWS, MOST_BYTES = 1000, 1 << 20


LACKS = "serving needs fastapi and uvicorn: pip install 'weigh[serve]'"


def make_app(
    path: str | os.PathLike[str],
    *,
    most_rows: int = MOST_ROWS,
    most_bytes: int = MOST_BYTES,
    log: Log | None = None,
    every: float = EVERY,
) -> Observed:
    """A model file as an ASGI application, for any server of that kind.

    Parameters
    ----------
    path : path
        The model file. When it is replaced, the new model is served from then on.
    most_rows, most_bytes : int
        The largest request that is answered.
    log : Log, optional
        Where to tell what happens; by default standard error, without requests.
    every : float, default=0.5
        Seconds between two looks at the file.
    """
    try:
        from weigh.serving.routes import make_routes
    except ImportError:
        raise ImportError(LACKS) from None
    log = log or Log(sys.stderr, quiet=True)
    shelf = Shelf.open(path, most_rows, log)
    return Observed(make_routes(shelf, most_rows, most_bytes, every), log)


class Observed:
    """The outermost layer: tells each request and what goes wrong, and says when to part."""

    def __init__(self, app: Any, log: Log) -> None:
        self.app, self.log, self.stopping = app, log, False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def pass_on(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if self.stopping:
                    message = {**message, "headers": [*message["headers"], PART]}
            await send(message)

        try:
            await self.app(scope, receive, pass_on)
        except Exception as error:
            self.log.failure(error)
        finally:
            self.log.request(scope, status, time.perf_counter() - start)


PART = (b"connection", b"close")
