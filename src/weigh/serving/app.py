"""The ASGI application: the routes, and an outer layer that checks and logs every request."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from typing import Any

from weigh.serving.limits import EVERY_HOST, check_host, check_hosts
from weigh.serving.log import Log
from weigh.serving.rows import RefusalError
from weigh.serving.served import EVERY, Shelf, dump

MOST_ROWS, MOST_BYTES = 1000, 1 << 20


LACKS = "serving needs fastapi, uvicorn and httptools: pip install 'weigh[serve]'"


def make_app(
    path: str | os.PathLike[str],
    *,
    most_rows: int = MOST_ROWS,
    most_bytes: int = MOST_BYTES,
    allow_hosts: Iterable[str] = (EVERY_HOST,),
    log: Log | None = None,
    every: float = EVERY,
    folder: str | None = None,
) -> Observed:
    """A model file as an ASGI application, for any ASGI server.

    Parameters
    ----------
    path : path
        The model file. When it is replaced, the new model is served from then on.
    most_rows, most_bytes : int
        The largest request that is answered.
    allow_hosts : iterable of str, default=("*",)
        Host names that requests may be addressed to, beside `localhost` and numeric IP addresses;
        `"*"` allows every name, for use behind a server or proxy that checks it.
    log : Log, optional
        The log; by default standard error, without requests.
    every : float, default=0.5
        Seconds between two checks of the file.
    folder : str, optional
        Folder in which the processes of one service count rows, so that /metrics of each gives the
        sum. By default the counts are those of this process.
    """
    try:
        from weigh.serving.routes import make_routes  # needs an extra
    except ImportError:
        raise ImportError(LACKS) from None
    log = log or Log(sys.stderr, quiet=True)
    shelf = Shelf.open(path, most_rows, log, folder)
    routes = make_routes(shelf, most_rows, most_bytes, every)
    return Observed(routes, shelf, log, check_hosts(allow_hosts))


class Observed:
    """The outermost layer: checks the host, logs requests and errors, and closes at shutdown."""

    def __init__(self, app: Any, shelf: Shelf, log: Log, hosts: frozenset[str]) -> None:
        self.app, self.shelf, self.log, self.hosts = app, shelf, log, hosts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def pass_on(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if self.shelf.stopping:
                    message = {**message, "headers": [*message["headers"], PART]}
            await send(message)

        try:
            check_host(scope["headers"], self.hosts)
            await self.app(scope, receive, pass_on)
        except RefusalError as error:
            await refuse(error, pass_on)
        except Exception as error:
            self.log.failure(error)
        finally:
            self.log.request(scope, status, time.perf_counter() - start)


async def refuse(error: RefusalError, send: Any) -> None:
    """Send the JSON response to a refusal outside the routes."""
    body = dump(error.to_dict())
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


PART = (b"connection", b"close")
