"""The server: a model file on a socket of ours, until a signal."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

from weigh.serving.app import LACKS, MOST_BYTES, MOST_ROWS, make_app
from weigh.serving.log import Log, relayed


def serve(
    path: str | os.PathLike[str],
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    most_rows: int = MOST_ROWS,
    most_bytes: int = MOST_BYTES,
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
    quiet : bool, default=False
        Leave requests out of the log on standard error.
    """
    server, log = _server(), Log(sys.stderr, quiet)
    app = make_app(path, most_rows=most_rows, most_bytes=most_bytes, log=log)
    with bind(host, port) as listener:
        log.tell("listening", url=_url(listener), model=os.fspath(path))
        with relayed(log):
            server(app, log).run(sockets=[listener])
    log.tell("stopped")


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
