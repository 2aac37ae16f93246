"""The application: its routes, and around them a layer that sees every request."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from weigh.serving.limits import read_body
from weigh.serving.log import Log
from weigh.serving.rows import Asked, RefusalError, read_rows
from weigh.serving.served import EVERY, Served, Shelf, dump

MOST_ROWS, MOST_BYTES = 1000, 1 << 20


LACKS = "serving needs fastapi and uvicorn: pip install 'weigh[serve]'"


def make_app(
    path: str | os.PathLike[str],
    *,
    most_rows: int = MOST_ROWS,
    most_bytes: int = MOST_BYTES,
    log: Log | None = None,
    every: float = EVERY,
) -> Observed:
    """A model file as an ASGI application, for any server of that kind.

    Parameters
    ----------
    path : path
        The model file. When it is replaced, the new model is served from then on.
    most_rows, most_bytes : int
        The largest request that is answered.
    log : Log, optional
        Where to tell what happens; by default standard error, without requests.
    every : float, default=0.5
        Seconds between two looks at the file.
    """
    try:
        from weigh.serving.app import make_routes
    except ImportError:
        raise ImportError(LACKS) from None
    log = log or Log(sys.stderr, quiet=True)
    shelf = Shelf.open(path, most_rows, log)
    return Observed(make_routes(shelf, most_rows, most_bytes, every), log)


class Observed:
    """The outermost layer: tells each request and what goes wrong, and says when to part."""

    def __init__(self, app: Any, log: Log) -> None:
        self.app, self.log, self.stopping = app, log, False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def pass_on(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if self.stopping:
                    message = {**message, "headers": [*message["headers"], PART]}
            await send(message)

        try:
            await self.app(scope, receive, pass_on)
        except Exception as error:
            self.log.failure(error)
        finally:
            self.log.request(scope, status, time.perf_counter() - start)


PART = (b"connection", b"close")


MOST_SHOWN_BYTES, MOST_WEIGHTS = 65_536, 500
"""Longer bodies are read in a thread, and more weights added in one, while others are answered."""

HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
JSON, HTML = "application/json", "text/html"


@dataclass(frozen=True, eq=False)
class Routes:
    """What is answered; each request takes the model in use once."""

    shelf: Shelf
    most_rows: int
    most_bytes: int

    async def score(self, request: Request) -> Response:
        """The class, log odds and probabilities of a row, or of many."""
        body = await read_body(request, self.most_bytes)
        served = self.shelf.current
        asked = await self._read(body, served)
        if len(asked.rows) * len(served.scorer.weights) > MOST_WEIGHTS:
            return answer(await asyncio.to_thread(served.score, asked))
        return answer(served.score(asked))

    async def explain(self, request: Request) -> Response:
        """The balance sheet of a row."""
        body = await read_body(request, self.most_bytes)
        served, query = self.shelf.current, request.query_params
        asked = await self._read(body, served)
        if not asked.single:
            raise RefusalError("a balance sheet is of one row; send it as an object", "rows")
        pos_label, against = query.get("pos_label"), query.get("against")
        return answer(await asyncio.to_thread(served.explain, asked.rows[0], pos_label, against))

    async def _read(self, body: bytes, served: Served) -> Asked:
        if len(body) > MOST_SHOWN_BYTES:
            return await asyncio.to_thread(read_rows, body, served.scorer, self.most_rows)
        return read_rows(body, served.scorer, self.most_rows)

    async def model(self, request: Request) -> Response:
        """The model file."""
        return answer(self.shelf.current.file)

    async def healthz(self, request: Request) -> Response:
        """Whether it serves, and how often the model was replaced."""
        served = self.shelf.current
        told = {"model": type(served.model).__name__, "generation": served.generation}
        return answer(dump({"status": "ok", **told}))

    async def form(self, request: Request) -> Response:
        """The calculator."""
        pos_label, served = request.query_params.get("pos_label"), self.shelf.current
        if pos_label is None:
            return answer(served.page, HTML)
        return answer(await asyncio.to_thread(served.form, pos_label), HTML)

    async def contract(self, request: Request) -> Response:
        """What the API takes and answers, for programs."""
        return answer(self.shelf.current.contract)

    async def docs(self, request: Request) -> Response:
        """The same for people."""
        return answer(self.shelf.current.docs, HTML)


def answer(body: bytes, kind: str = JSON) -> Response:
    """What was asked for."""
    return Response(body, 200, HEADERS, kind)


def make_routes(shelf: Shelf, most_rows: int, most_bytes: int, every: float) -> FastAPI:
    """All of it as an application that watches the model file while it lives."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(shelf.watch(every))
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    app = FastAPI(openapi_url=None, redirect_slashes=False, lifespan=life)
    app.add_exception_handler(RefusalError, _refuse)
    app.add_exception_handler(HTTPException, _refuse)
    app.add_exception_handler(Exception, _apologise)
    routes = Routes(shelf, most_rows, most_bytes)
    posts = {"/score": routes.score, "/explain": routes.explain}
    gets = {"/": routes.form, "/docs": routes.docs}
    gets |= {"/model": routes.model, "/healthz": routes.healthz, "/openapi.json": routes.contract}
    for methods, functions in ((["POST"], posts), (["GET"], gets)):
        for path, function in functions.items():
            app.add_route(path, function, methods)  # requests are read by hand, within limits
    return app


async def _refuse(_: Request, error: Any) -> Response:
    """A refusal of ours, or of the router's, in one form."""
    if isinstance(error, RefusalError):
        part = {"connection": "close"} if error.status == 408 else {}
        return Response(dump(error.to_dict()), error.status, HEADERS | part, JSON)
    body = dump({"error": str(error.detail), "field": None})
    return Response(body, error.status_code, HEADERS | dict(error.headers or {}), JSON)


async def _apologise(_: Request, error: Exception) -> Response:
    """A failure in the same form; the error goes on to the log."""
    body = dump({"error": "the server failed; its log says where", "field": None})
    return Response(body, 500, HEADERS, JSON)
