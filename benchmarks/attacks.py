"""How fast `weigh serve` answers while one client attacks it: `python -m benchmarks.attacks`.

Single-row /score beside a bare FastAPI endpoint that nobody attacks: both servers run all the time,
loaded in turn from this process, in blocks that alternate, while a process of its own attacks ours.
What must hold: 60% of the bare rate, at most twice its 99th percentile.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from statistics import median
from urllib.parse import urlsplit

import numpy as np

import weigh
from benchmarks.load import Outcome, make_request, press, running
from benchmarks.serve import ROW

BLOCKS, REQUESTS, CONNECTIONS, SECONDS = 8, 150, 8, 20.0
HEAD = b"POST /score HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def send_chunks(client: socket.socket) -> None:
    """A body of 900,000 chunks of one byte."""
    client.sendall(CHUNKED)
    for _ in range(900):
        client.sendall(b"1\r\n \r\n" * 1000)


def send_long(client: socket.socket) -> None:
    """A body far longer than is taken, as fast as it goes."""
    client.sendall(HEAD + b"Content-Length: 500000000\r\n\r\n")
    for _ in range(500):
        client.sendall(b" " * 1_000_000)


def send_nonsense(client: socket.socket) -> None:
    """Bytes that are no request."""
    client.sendall(os.urandom(4096))
    client.recv(65536)


def send_heads(client: socket.socket) -> None:
    """A head that grows and never ends."""
    client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
    for k in range(10_000):
        client.sendall(b"X-%d: %s\r\n" % (k, b"a" * 1000))


def read_nothing(client: socket.socket) -> None:
    """Requests for the page, whose answers are not read."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(1.0)
    client.sendall(make_request("GET", "/") * 400)
    time.sleep(1.0)


def stay_silent(client: socket.socket) -> None:
    """Four hundred connections that say nothing, the oldest replaced by a new one."""
    client.sendall(b"G")
    silent.append(client)
    if len(silent) > 400:
        silent.pop(0).close()
        time.sleep(0.05)


def connect_only(client: socket.socket) -> None:
    """Connections one after another, as fast as they are taken, each closed at once."""
    client.close()


silent: list[socket.socket] = []
ATTACKS: dict[str, Callable[[socket.socket], None]] = {
    "one-byte chunks": send_chunks,
    "an endless body": send_long,
    "no HTTP": send_nonsense,
    "an endless head": send_heads,
    "unread answers": read_nothing,
    "silent connections": stay_silent,
    "a flood of connections": connect_only,
}


def attack(name: str, url: str) -> None:
    """One attack after another, until this process is ended."""
    parts = urlsplit(url)
    while True:
        with contextlib.suppress(OSError):
            client = socket.create_connection((parts.hostname, parts.port), timeout=10)
            try:
                ATTACKS[name](client)
            finally:
                if client not in silent:
                    client.close()


@contextlib.contextmanager
def attacked(name: str | None, url: str) -> Iterator[None]:
    """A client that attacks a server for as long as this lasts; without a name there is none."""
    if name is None:
        yield
        return
    attacker = subprocess.Popen([sys.executable, "-m", "benchmarks.attacks", name, url])
    try:
        time.sleep(3)
        assert attacker.poll() is None, "the attacker ended"
        yield
    finally:
        attacker.kill()
        attacker.wait()


def measure(name: str | None, bare: str, ours: str) -> tuple[float, float]:
    """Our rate and our 99th percentile under an attack, over those of the bare endpoint."""
    asked = (bare, make_request("GET", "/")), (ours, make_request("POST", "/score", ROW))
    found: tuple[list[Outcome], list[Outcome]] = ([], [])
    with attacked(name, ours):
        for _ in range(BLOCKS):
            for (url, request), outcomes in zip(asked, found, strict=True):
                done = asyncio.run(press(url, [request], REQUESTS, CONNECTIONS, SECONDS))
                assert {*done.statuses} == {200}, done.statuses
                outcomes.append(done)
    rates = [median(done.rate for done in outcomes) for outcomes in found]
    tails = [np.percentile([s for d in outcomes for s in d.seconds], 99) for outcomes in found]
    lost = sum(len(done.lost) for done in found[1])
    print(f"{name or 'no attack':22} bare {rates[0]:6.0f}/s p99 {1e3 * tails[0]:6.1f} ms, ours "
          f"{rates[1]:6.0f}/s p99 {1e3 * tails[1]:6.1f} ms, {lost} lost", flush=True)  # fmt: skip
    return rates[1] / rates[0], float(tails[1] / tails[0])


def main() -> None:
    model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        weigh.save(model, path)
        command = ["-m", "weigh", "serve", path, "--port", "0", "--quiet"]
        with (
            running(["-m", "benchmarks.serve", "bare"], os.path.join(folder, "b.log")) as (_, bare),
            running(command, os.path.join(folder, "o.log")) as (_, ours),
        ):
            for name in (None, *ATTACKS):
                rate, tail = measure(name, bare, ours)
                verdict = "" if rate >= 0.6 and tail <= 2 else "   SHORT"
                print(f"  {rate:.0%} of the rate, {tail:.2f} times the p99{verdict}", flush=True)


if __name__ == "__main__":
    attack(*sys.argv[1:]) if sys.argv[1:] else main()
