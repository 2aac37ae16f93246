"""Serve a model file on a socket, in one process or several, until a signal."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from weigh.serving.app import LACKS, MOST_BYTES, MOST_ROWS, make_app
from weigh.serving.log import Log, relayed
from weigh.serving.workers import run_workers


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
    with bind(host, port) as listener:
        log.tell("listening", url=_url(listener), model=os.fspath(path))
        if workers > 1:
            run_workers(workers, partial(work, make, listener, quiet), log)
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
        from weigh.serving.process import Server
    except ImportError:
        raise ImportError(LACKS) from None
    return Server
