"""Load for a server on this machine: keep-alive connections that send one request after another."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

READY_SECONDS = 120


@dataclass
class Outcome:
    """What a load met: seconds of each answer, answers by status, and requests that got none."""

    seconds: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    took: float = 0.0

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.seconds) / self.took


def make_request(method: str, path: str, row: Any = None) -> bytes:
    """A request as it goes over the wire."""
    body = b"" if row is None else json.dumps(row).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def press(
    url: str, requests: Sequence[bytes], most: int, connections: int = 8, seconds: float = 30.0
) -> Outcome:
    """Send at most so many requests for at most so long, and see what comes back.

    A server that parts from a connection (`connection: close`) is not asked on it again; one that
    cannot be reached is not asked any more. A request that was sent and not answered is lost.
    """
    outcome, left = Outcome(), iter(range(most))
    start = time.perf_counter()
    until = start + seconds

    async def client() -> None:
        while time.perf_counter() < until:
            try:
                reader, writer = await asyncio.open_connection(*_address(url))
            except OSError:
                return
            try:
                if not await _converse(reader, writer, requests, left, until, outcome):
                    return
            finally:
                writer.close()

    await asyncio.gather(*(client() for _ in range(connections)))
    outcome.took = time.perf_counter() - start
    return outcome


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return str(parts.hostname), int(parts.port or 80)


async def _converse(
    reader: Any, writer: Any, requests: Any, left: Iterator[int], until: float, outcome: Outcome
) -> bool:
    """One request after another on one connection; True where the server parted from it."""
    for i in left:
        sent = time.perf_counter()
        writer.write(requests[i % len(requests)])
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(_length(head))
        except (OSError, asyncio.IncompleteReadError) as error:
            outcome.lost.append(repr(error))
            return True
        now = time.perf_counter()
        outcome.seconds.append(now - sent)
        status = int(head[9:12])
        outcome.statuses[status] = outcome.statuses.get(status, 0) + 1
        if b"connection: close" in head:
            return True
        if now > until:
            return False
    return False


def _length(head: bytes) -> int:
    return int(head.split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0])


@contextlib.contextmanager
def running(command: Sequence[str], log: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server of our own in another process, and its address, which its log says."""
    with open(log, "wb") as file:
        process = subprocess.Popen([sys.executable, *command], stderr=file)
    try:
        yield process, _wait(process, log)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], log: str) -> str:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until and process.poll() is None:
        for line in read_log(log):
            if line.get("event") == "listening":
                return str(line["url"])
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start; {log} says why")


def read_log(log: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The whole lines of a log."""
    with open(log, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]
