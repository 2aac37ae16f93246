"""The ASGI application: the routes, and an outer layer that checks and logs every request.

A page of another site can make its own name point to this machine (DNS rebinding); the browser
then sends requests here, and they carry that name. So only requests for allowed names are answered.
A numeric IP address cannot be made to point elsewhere, so it is always allowed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

from weigh.errors import Extra
from weigh.serving.loaded import EVERY, ModelReloader, dump
from weigh.serving.records import Log
from weigh.serving.requests import RefusalError

MOST_ROWS, MOST_BYTES, EVERY_HOST = 1000, 1 << 20, "*"


NEEDS = "serving needs fastapi, uvicorn and httptools", "serve"
routes = Extra("weigh.serving.routes", *NEEDS)


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
    log = log or Log(sys.stderr, quiet=True)
    reloader = ModelReloader.open(path, most_rows, log, folder)
    app = routes.make_routes(reloader, most_rows, most_bytes, every)
    return Observed(app, reloader, log, check_hosts(allow_hosts))


class Observed:
    """The outermost layer: checks the host, logs requests and errors, and closes at shutdown."""

    def __init__(self, app: Any, reloader: ModelReloader, log: Log, hosts: frozenset[str]) -> None:
        self.app, self.reloader, self.log, self.hosts = app, reloader, log, hosts

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
                if self.reloader.stopping:
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
