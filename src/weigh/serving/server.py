"""Serve a model file on a socket, in one process or several, until a signal."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import connection, get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Any

from weigh.serving.app import LACKS, MOST_BYTES, MOST_ROWS, make_app
from weigh.serving.log import Log, relayed

TOO_SOON = 2.0
"""Seconds of life below which a worker that died would only die again."""

MOST_WAIT = 40.0
"""Seconds after which a stop ends workers that still answer."""


def run_workers(count: int, work: Callable[[], None], log: Log) -> None:
    """Keep so many processes until SIGTERM or Ctrl-C; SIGHUP asks each to load the model again.

    A worker that dies is replaced. One that dies at once ends the service with an error.
    """
    keeper = Keeper(work, log)
    before = {sign: signal.signal(sign, keeper.receive) for sign in _signals()}
    try:
        keeper.run(count)
    finally:
        keeper.stop()
        for sign, handler in before.items():
            signal.signal(sign, handler)


def _signals() -> list[signal.Signals]:
    names = ("SIGTERM", "SIGINT", "SIGHUP")
    return [signal.Signals[name] for name in names if name in signal.Signals.__members__]


@contextmanager
def _ignoring_reloads() -> Iterator[None]:
    """What a process ignores, the processes that it starts ignore too."""
    if not hasattr(signal, "SIGHUP"):
        yield
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


class Keeper:
    """Processes that do the same work, each with the time of its start."""

    def __init__(self, work: Callable[[], None], log: Log) -> None:
        self.work, self.log, self.stopping = work, log, False
        self.processes: dict[BaseProcess, float] = {}

    def receive(self, sign: int, _: object) -> None:
        """Note a stop, or pass on a wish to reload."""
        if sign in (signal.SIGTERM, signal.SIGINT):
            self.stopping = True
        else:
            for process in self.processes:
                with suppress(ProcessLookupError):
                    os.kill(process.pid or 0, sign)

    def run(self, count: int) -> None:
        """Start workers, and replace those that die."""
        for _ in range(count):
            self.start()
        while not self.stopping:
            connection.wait([process.sentinel for process in self.processes], timeout=0.2)
            for process in [p for p in self.processes if not p.is_alive() and not self.stopping]:
                lived = time.monotonic() - self.processes.pop(process)
                self.log.tell("worker died", worker=process.pid, exit_code=process.exitcode)
                if lived < TOO_SOON:
                    raise RuntimeError("a worker died as soon as it had started; see the log")
                self.start()

    def start(self) -> None:
        """One process more, which a wish to reload does not end before it listens to signals."""
        process = get_context("spawn").Process(target=_work, args=(self.work,))
        with _ignoring_reloads():
            process.start()
        self.processes[process] = time.monotonic()
        self.log.tell("worker", worker=process.pid)

    def stop(self) -> None:
        """Let each answer what has reached it, and end."""
        for process in self.processes:
            process.terminate()
        until = time.monotonic() + MOST_WAIT
        for process in self.processes:
            process.join(max(0.0, until - time.monotonic()))
            process.kill()
            process.join()


def _work(work: Callable[[], None]) -> None:
    """Work until the keeper says stop, or is gone."""
    if hasattr(os, "setsid"):
        os.setsid()  # Ctrl-C reaches the keeper alone, which then stops each worker once
    threading.Thread(target=_end_with_keeper, daemon=True).start()
    work()


def _end_with_keeper() -> None:
    keeper = parent_process()
    if keeper is not None:
        connection.wait([keeper.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def serve(
    path: str | os.PathLike[str],
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    most_rows: int = MOST_ROWS,
    most_bytes: int = MOST_BYTES,
    allow_hosts: Sequence[str] = (),
    workers: int = 1,
    quiet: bool = False,
) -> None:
    """Serve a model file until SIGTERM or Ctrl-C: the form, and a JSON API.

    Parameters
    ----------
    path : path
        The model file. When it is replaced, the new model is served from then on.
    host, port : str, int
        Where to listen; by default only this machine can reach it. Port 0 is any that is free.
    most_rows, most_bytes : int
        The largest request that is answered.
    allow_hosts : sequence of str, default=()
        Host names that requests may be addressed to, beside `localhost` and addresses in numbers;
        `"*"` allows every name.
    workers : int, default=1
        Processes that answer. Each loads the model.
    quiet : bool, default=False
        Leave requests out of the log on standard error.
    """
    server, log = _server(), Log(sys.stderr, quiet)
    make = partial(
        make_app, path, most_rows=most_rows, most_bytes=most_bytes, allow_hosts=(host, *allow_hosts)
    )
    app = make(log=log)  # a file that cannot be served is refused before anything listens
    with bind(host, port) as listener, tempfile.TemporaryDirectory(prefix="weigh-") as folder:
        log.tell("listening", url=_url(listener), model=os.fspath(path))
        if workers > 1:
            counting = partial(make, folder=folder)
            run_workers(workers, partial(work, counting, listener, quiet), log)
        else:
            with relayed(log):
                server(app, log).run(sockets=[listener])
    log.tell("stopped")


def work(make: Any, listener: socket.socket, quiet: bool) -> None:
    """Answer requests in a process of its own."""
    log = Log(sys.stderr, quiet)
    with relayed(log):
        _server()(make(log=log), log).run(sockets=[listener])


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error that says where it could not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once only where the protocol is named: else answers wait 40 ms for an ACK
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except (OSError, OverflowError) as error:
        listener.close()
        raise ValueError(f"cannot listen on {host} port {port}: {error}") from None
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _server() -> Any:
    """The class of the server, which runs an application until a signal."""
    try:
        from weigh.serving.http import Server  # which needs an extra
    except ImportError:
        raise ImportError(LACKS) from None
    return Server
