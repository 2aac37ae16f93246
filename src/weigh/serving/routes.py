"""The handlers of all routes: pages and a JSON API. The only module that imports FastAPI."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from weigh.serving.app import read_body
from weigh.serving.contract import ADDRESS
from weigh.serving.loaded import HEADERS, ModelReloader, Served, dump
from weigh.serving.requests import NOTHING, RefusalError, RequestedRows, Wish, read_rows

MOST_BYTES, MOST_WEIGHTS = 65_536, 500
"""Longer bodies, and requests that need more weights, are handled in a thread, so that they do not
block other requests."""

JSON, HTML = "application/json", "text/html"
METRICS = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, eq=False)
class Routes:
    """The handlers; each request uses the model that is current when its body has arrived."""

    reloader: ModelReloader
    most_rows: int
    most_bytes: int

    async def score(self, request: Request) -> Response:
        """The class, log odds and probabilities of a row, or of many."""
        body = await read_body(request, self.most_bytes)
        served = self.reloader.current
        wish = Wish.of(request.query_params) if request.scope["query_string"] else NOTHING
        asked = await self._read(body, served)
        if len(asked.rows) * len(served.scorer.weights) > MOST_WEIGHTS:
            return answer(await asyncio.to_thread(served.score, asked, wish), served)
        return answer(served.score(asked, wish), served)

    async def explain(self, request: Request) -> Response:
        """The balance sheet of a row."""
        body = await read_body(request, self.most_bytes)
        served, query = self.reloader.current, request.query_params
        asked = await self._read(body, served)
        if not asked.single:
            raise RefusalError("a balance sheet explains one row; send it as an object", "rows")
        pos_label, against = query.get("pos_label"), query.get("against")
        sheet = await asyncio.to_thread(served.explain, asked.rows[0], pos_label, against)
        return answer(sheet, served)

    async def _read(self, body: bytes, served: Served) -> RequestedRows:
        if len(body) > MOST_BYTES:
            return await asyncio.to_thread(read_rows, body, served.scorer, self.most_rows)
        return read_rows(body, served.scorer, self.most_rows)

    async def model(self, request: Request) -> Response:
        """The model file."""
        served = self.reloader.current
        return answer(served.file, served)

    async def healthz(self, request: Request) -> Response:
        """Liveness, the model's version and generation, and when a model file was last refused."""
        served, refused = self.reloader.current, self.reloader.refused
        told = {"model": served.scorer.formula.model_name, "version": served.version}
        more = {"generation": served.generation, "refused": refused}
        return answer(dump({"status": "ok", **told, **more}))

    async def readyz(self, request: Request) -> Response:
        """Readiness: 503 once the server is stopping."""
        if self.reloader.stopping:
            raise RefusalError("the server is stopping", status=503)
        return answer(dump({"status": "ready"}))

    async def metrics(self, request: Request) -> Response:
        """Counts of the scored rows by level, in the text format of Prometheus."""
        traffic, refused = self.reloader.current.traffic, self.reloader.refused is not None
        assert traffic is not None
        text = await asyncio.to_thread(traffic.to_text, refused)
        return answer(text.encode("utf-8", errors="backslashreplace"), kind=METRICS)

    async def form(self, request: Request) -> Response:
        """The calculator page, for the class `pos_label` if it is given."""
        pos_label, served = request.query_params.get("pos_label"), self.reloader.current
        if pos_label is None:
            return answer(served.page, kind=HTML)
        return answer(await asyncio.to_thread(served.form, pos_label), kind=HTML)

    async def contract(self, request: Request) -> Response:
        """The OpenAPI document."""
        return answer(self.reloader.current.contract)

    async def docs(self, request: Request) -> Response:
        """The description of the API as a page for people, with the address of this server."""
        page, (host, port) = self.reloader.current.docs, request.scope.get("server") or ("", None)
        if port is not None:
            own = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            page = page.replace(ADDRESS.encode(), own.encode())
        return answer(page, kind=HTML)


def answer(body: bytes, served: Served | None = None, kind: str = JSON) -> Response:
    """A response, with the version of the model in a header if `served` is given."""
    return Response(body, 200, HEADERS if served is None else served.headers, kind)


def make_routes(reloader: ModelReloader, most_rows: int, most_bytes: int, every: float) -> FastAPI:
    """The FastAPI application, which watches the model file while it runs."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(reloader.watch(every))
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    app = FastAPI(openapi_url=None, redirect_slashes=False, lifespan=life)
    app.add_exception_handler(RefusalError, _refuse)
    app.add_exception_handler(HTTPException, _refuse)
    app.add_exception_handler(Exception, _apologise)
    routes = Routes(reloader, most_rows, most_bytes)
    posts = {"/score": routes.score, "/explain": routes.explain}
    gets = {"/": routes.form, "/docs": routes.docs}
    gets |= {"/model": routes.model, "/openapi.json": routes.contract}
    gets |= {"/healthz": routes.healthz, "/readyz": routes.readyz, "/metrics": routes.metrics}
    for methods, functions in ((["POST"], posts), (["GET"], gets)):
        for path, function in functions.items():
            app.add_route(path, function, methods)  # handlers read bodies themselves, with limits
    return app


async def _refuse(request: Request, error: Any) -> Response:
    """The JSON response to a refusal or to an error of the router."""
    if isinstance(error, RefusalError):
        part = {"connection": "close"} if error.status == 408 else {}
        return Response(dump(error.to_dict()), error.status, HEADERS | part, JSON)
    body = dump({"error": _tell(request, error), "field": None})
    return Response(body, error.status_code, HEADERS | dict(error.headers or {}), JSON)


def _tell(request: Request, error: HTTPException) -> str:
    """What is wrong with a request that no route takes, and what to do."""
    if error.status_code == 404:
        return "the service has no such path; GET /docs lists its paths"
    if error.status_code == 405:
        method = (error.headers or {}).get("Allow", "another method")
        return f"{request.method} is not for this path; use {method}"
    return str(error.detail)


async def _apologise(_: Request, error: Exception) -> Response:
    """The JSON response to an unexpected error, which is also logged."""
    body = dump({"error": "the server failed; its log says where", "field": None})
    return Response(body, 500, HEADERS, JSON)
