"""Several processes that accept from one socket, and the one that keeps them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context, parent_process
from multiprocessing.process import BaseProcess

from weigh.serving.log import Log

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
