"""A request's body, read within limits."""

from __future__ import annotations

import asyncio
from typing import Any

from weigh.serving.rows import RefusalError

SECONDS = 10.0
"""How long a body may take to arrive."""

MOST_DIGITS = 18
"""Digits of a length; Python reads no number of more than a few thousand."""


async def read_body(request: Any, most_bytes: int) -> bytes:
    """The whole body, unless it is longer or slower than allowed: then no more of it is kept."""
    told = request.headers.get("content-length", "0")
    if told.isdecimal() and (len(told) > MOST_DIGITS or int(told) > most_bytes):
        raise _too_long(most_bytes)
    try:
        async with asyncio.timeout(SECONDS):
            return await _receive(request.receive, most_bytes)
    except TimeoutError:
        raise RefusalError(f"no whole body within {SECONDS:g} s", status=408) from None


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
