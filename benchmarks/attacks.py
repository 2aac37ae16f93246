"""How fast `weigh serve` answers while one client attacks it: `python -m benchmarks.attacks`.

Single-row /score beside a bare FastAPI endpoint that nobody attacks: both servers run all the time,
loaded in turn from this process, in short blocks that alternate, while a process of its own attacks
ours. What must hold: 60% of the bare rate, at most twice its 99th percentile. Both are the median
of the ratios of neighbouring blocks, so that other work on the machine, which slows both, cancels.
The processor time that a server spends per good request, on the attack too, is printed beside it.

Names of attacks as arguments measure only these.
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from urllib.parse import urlsplit

import numpy as np

import weigh
from benchmarks.load import make_request, press, running
from benchmarks.serve import ROW, cpu_seconds

BLOCKS, REQUESTS, CONNECTIONS, SECONDS = 12, 150, 8, 20.0
ATTACK = "--attack"
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


def send_slowly(client: socket.socket) -> None:
    """Four hundred bodies of which a byte arrives every second."""
    client.sendall(HEAD + b"Content-Length: 1000\r\n\r\n")
    silent.append(client)
    if len(silent) < 400:
        return
    for _ in range(20):
        for slow in silent:
            with contextlib.suppress(OSError):
                slow.send(b" ")
        time.sleep(1.0)
    silent.clear()


def name_other_hosts(client: socket.socket) -> None:
    """Requests for another host, one after another on one connection."""
    body = b"GET /model HTTP/1.1\r\nHost: rebound.example\r\n\r\n"
    for _ in range(1000):
        client.sendall(body)
        client.recv(65536)


def contradict(client: socket.socket) -> None:
    """A request with Content-Length and Transfer-Encoding."""
    client.sendall(HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    client.recv(65536)


def block_model(path: str) -> None:
    """Put a pipe that nobody writes to in the place of the model, again and again."""
    with open(path, "rb") as file:
        good = file.read()
    while True:
        os.mkfifo(f"{path}.pipe")
        os.replace(f"{path}.pipe", path)
        time.sleep(2.0)
        with open(f"{path}.good", "wb") as file:
            file.write(good)
        os.replace(f"{path}.good", path)
        time.sleep(1.0)


silent: list[socket.socket] = []
BLOCKED = "a model path that blocks"
ATTACKS: dict[str, Callable[[socket.socket], None]] = {
    "one-byte chunks": send_chunks,
    "an endless body": send_long,
    "no HTTP": send_nonsense,
    "an endless head": send_heads,
    "unread answers": read_nothing,
    "silent connections": stay_silent,
    "a flood of connections": connect_only,
    "slow bodies": send_slowly,
    "other hosts": name_other_hosts,
    "two lengths": contradict,
}


def attack(name: str, url: str, path: str) -> None:
    """One attack after another, until this process is ended."""
    if name == BLOCKED:
        block_model(path)
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
def attacked(name: str | None, url: str, path: str) -> Iterator[None]:
    """A client that attacks a server for as long as this lasts; without a name there is none."""
    if name is None:
        yield
        return
    command = [sys.executable, "-m", "benchmarks.attacks", ATTACK, name, url, path]
    attacker = subprocess.Popen(command)
    try:
        time.sleep(3)
        assert attacker.poll() is None, "the attacker ended"
        yield
    finally:
        attacker.kill()
        attacker.wait()


@dataclass(frozen=True)
class Target:
    """A server of our own, and the request that it is measured by."""

    pid: int
    url: str
    request: bytes

    def press(self) -> Block:
        """Answer one block of requests."""
        before = cpu_seconds(self.pid)
        done = asyncio.run(press(self.url, [self.request], REQUESTS, CONNECTIONS, SECONDS))
        assert {*done.statuses} == {200}, done.statuses
        spent = cpu_seconds(self.pid) - before
        tail = float(np.percentile(done.seconds, 99))
        return Block(done.rate, tail, spent, len(done.seconds), len(done.lost))


@dataclass(frozen=True)
class Block:
    """Requests a second, 99th percentile, processor seconds, requests answered and lost."""

    rate: float
    tail: float
    spent: float
    answered: int
    lost: int


def measure(bare: Target, ours: Target) -> tuple[float, float]:
    """Our rate and our 99th percentile over those of the bare endpoint."""
    pairs = [(bare.press(), ours.press()) for _ in range(BLOCKS)]
    for name, blocks in zip(("bare", "ours"), zip(*pairs, strict=True), strict=True):
        rate, tail = (median(getattr(block, what) for block in blocks) for what in ("rate", "tail"))
        cost = sum(block.spent for block in blocks) / sum(block.answered for block in blocks)
        times = f"p99 {1e3 * tail:6.1f} ms, processor {1e6 * cost:5.0f} us each"
        lost = sum(block.lost for block in blocks)
        print(f"  {name} {rate:6.0f}/s, {times}, {lost} lost", flush=True)
    return median(b.rate / a.rate for a, b in pairs), median(b.tail / a.tail for a, b in pairs)


def main(names: Sequence[str | None]) -> None:
    model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        weigh.save(model, path)
        command = ["-m", "weigh", "serve", path, "--port", "0", "--quiet"]
        with (
            running(["-m", "benchmarks.serve", "bare"], os.path.join(folder, "b.log")) as first,
            running(command, os.path.join(folder, "o.log")) as second,
        ):
            bare = Target(first[0].pid, first[1], make_request("GET", "/"))
            ours = Target(second[0].pid, second[1], make_request("POST", "/score", ROW))
            for name in names:
                print(name or "no attack")
                with attacked(name, ours.url, path):
                    rate, tail = measure(bare, ours)
                verdict = "" if rate >= 0.6 and tail <= 2 else "   SHORT"
                print(f"  {rate:.0%} of the rate, {tail:.2f} times the p99{verdict}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == [ATTACK]:
        attack(*sys.argv[2:])
    else:
        main(sys.argv[1:] or (None, *ATTACKS, BLOCKED))
