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

from weigh.errors import Extra
from weigh.serving.app import MOST_BYTES, MOST_ROWS, NEEDS, make_app
from weigh.serving.records import Log, relayed

http = Extra("weigh.serving.http", *NEEDS)

TOO_SOON = 2.0
"""Seconds: a worker that dies sooner is not replaced, because it would die again."""

MOST_WAIT = 40.0
"""Seconds after which a shutdown kills workers that are still busy."""


def run_workers(count: int, work: Callable[[], None], log: Log) -> None:
    """Run `count` processes until SIGTERM or Ctrl-C; SIGHUP makes each reload the model.

    A worker that dies is replaced. One that dies at once ends the service with an error.
    """
    pool = WorkerPool(work, log)
    before = {sign: signal.signal(sign, pool.receive) for sign in _signals()}
    try:
        pool.run(count)
    finally:
        pool.stop()
        for sign, handler in before.items():
            signal.signal(sign, handler)


def _signals() -> list[signal.Signals]:
    names = ("SIGTERM", "SIGINT", "SIGHUP")
    return [signal.Signals[name] for name in names if name in signal.Signals.__members__]


@contextmanager
def _ignoring_reloads() -> Iterator[None]:
    """Ignore SIGHUP inside this context; processes started in it inherit this."""
    if not hasattr(signal, "SIGHUP"):
        yield
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


class WorkerPool:
    """The parent of the worker processes, which it starts, replaces and stops."""

    def __init__(self, work: Callable[[], None], log: Log) -> None:
        self.work, self.log, self.stopping = work, log, False
        self.processes: dict[BaseProcess, float] = {}

    def receive(self, sign: int, _: object) -> None:
        """Handle a signal: note a stop, or pass a reload on to the workers."""
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
        """Start a worker; SIGHUP is ignored meanwhile, because it would end a new process."""
        process = get_context("spawn").Process(target=_work, args=(self.work,))
        with _ignoring_reloads():
            process.start()
        self.processes[process] = time.monotonic()
        self.log.tell("worker", worker=process.pid)

    def stop(self) -> None:
        """Stop the workers, each after it has answered its requests."""
        for process in self.processes:
            process.terminate()
        until = time.monotonic() + MOST_WAIT
        for process in self.processes:
            process.join(max(0.0, until - time.monotonic()))
            process.kill()
            process.join()


def _work(work: Callable[[], None]) -> None:
    """Work until the parent process stops this one, or has died."""
    if hasattr(os, "setsid"):
        os.setsid()  # so that Ctrl-C reaches only the parent, which stops each worker
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
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
        Address to listen on; by default only this machine can reach it. Port 0 means any free port.
    most_rows, most_bytes : int
        The largest request that is answered.
    allow_hosts : sequence of str, default=()
        Host names that requests may be addressed to, beside `localhost` and numeric IP addresses;
        `"*"` allows every name.
    workers : int, default=1
        Number of processes. Each loads the model.
    quiet : bool, default=False
        Leave requests out of the log on standard error.
    """
    server, log = http.Server, Log(sys.stderr, quiet)
    make = partial(
        make_app, path, most_rows=most_rows, most_bytes=most_bytes, allow_hosts=(host, *allow_hosts)
    )
    app = make(log=log)  # fails for an unusable file before the server listens
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
    """Answer requests in a worker process."""
    log = Log(sys.stderr, quiet)
    with relayed(log):
        http.Server(make(log=log), log).run(sockets=[listener])


def bind(host: str, port: int) -> socket.socket:
    """A listening socket, or an error that names the host and port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is given; else responses wait 40 ms for an ACK
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_DEFER_ACCEPT"):  # Linux: hand over no connection before its data
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except (OSError, OverflowError) as error:
        listener.close()
        raise ValueError(f"cannot listen on {host} port {port}: {error}") from None
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
