"""The HTTP protocol of a connection: bounded heads and chunks, and refusals in JSON."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from weigh.serving.limits import Gate
from weigh.serving.served import dump

MOST_HEAD = 65_536
"""Bytes of a request before its body."""

MOST_CHUNKS = 1000
"""Chunks of a body. Each costs the server a step, however short it is."""

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
    """A connection that enters by a gate and is closed where its requests cost too much."""

    gate: Gate

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.refusal = INVALID
        self.head, self.chunks, self.unread = 0, 0, 0
        self.in_head, self.begun = True, False

    def connection_made(self, transport: Any) -> None:
        """Enter by the gate."""
        super().connection_made(transport)
        self.gate.enter(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Leave by it."""
        self.gate.leave(self)
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; a header that does not end is not waited for."""
        self.begun = False
        super().data_received(data)
        self.unread = 0 if self.begun or not self.in_head else self.unread + len(data)
        if self.unread > MOST_HEAD and not self.transport.is_closing():
            self.refusal = TOO_LONG
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Count from zero for the next request."""
        super().on_message_begin()
        self.head, self.chunks, self.in_head, self.begun = 0, 0, True, True

    def on_url(self, url: bytes) -> None:
        """Add a part of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_headers_complete(self) -> None:
        """Hand the request on."""
        self.in_head = False
        super().on_headers_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; those that follow a body are left out."""
        self._count(len(name) + len(value))
        if self.in_head:
            super().on_header(name, value)

    def _count(self, length: int) -> None:
        self.head += length
        if self.head > MOST_HEAD:
            self._refuse(TOO_LONG)

    def _refuse(self, refusal: tuple[HTTPStatus, str]) -> None:
        """End the parsing of what has arrived; uvicorn then calls `send_400_response`."""
        self.refusal = refusal
        raise ValueError(refusal[1])

    def on_chunk_header(self) -> None:
        """Count a chunk."""
        self.chunks += 1
        if self.chunks > MOST_CHUNKS:
            self._refuse(TOO_MANY)

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that the parser could not read, in the form of all refusals."""
        status, error = self.refusal
        body = dump({"error": error, "field": None})
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()
