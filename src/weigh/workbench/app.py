"""The routes of the page, and the server, which only this machine can reach."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from weigh.errors import Extra
from weigh.layout import asset, document, render
from weigh.serving.app import NEEDS, check_host, read_body
from weigh.serving.requests import RefusalError
from weigh.serving.server import bind
from weigh.workbench.session import Session

applications, concurrency, responses, routing = (
    Extra(f"starlette.{part}", *NEEDS)
    for part in ("applications", "concurrency", "responses", "routing")
)
uvicorn = Extra("uvicorn", *NEEDS)

HOST = "127.0.0.1"
HOSTS = frozenset(["localhost"])
"""Host names that a request may have, besides numeric addresses."""

STYLES = "page.css", "report.css", "controls.css"
MOST_BYTES = 1 << 18
HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def make_editor(session: Session, token: str, title: str = "Edit a model") -> Any:
    """The page as an ASGI application; every address begins with the token."""
    page = _Page(session, token, title)
    routes = [
        routing.Route("/{token}/", page.show),
        routing.Route("/{token}/state", page.state),
        routing.Route("/{token}/table", page.table),
        routing.Route("/{token}/{verb}", page.act, methods=["POST"]),
    ]
    return applications.Starlette(routes=routes)


class _Page:
    """The handlers of requests; a lock gives one at a time access to the session."""

    def __init__(self, session: Session, token: str, title: str) -> None:
        self.session, self.token, self.title = session, token, title
        self.lock = threading.Lock()
        self.verbs: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
            "preview": lambda asked: session.preview(asked["action"], asked["arguments"]),
            "accept": lambda asked: session.accept(**asked),
            "undo": lambda asked: session.undo(**asked),
            "redo": lambda asked: session.redo(**asked),
            "look": lambda asked: session.turn(float(asked["cut_off"]), str(asked["by"])).state(),
            "save": lambda asked: session.save(),
        }

    async def show(self, request: Any) -> Any:
        """The page itself."""
        if not self._knows(request):
            return self._refuse()
        shown = document(
            self.title,
            render("editor.html", title=self.title),
            asset("weigh.pages", *STYLES) + asset(__package__, "editor.css"),
            asset("weigh.pages", "words.js") + asset(__package__, "editor.js"),
            self._about(),
            connect=True,
        )
        return self._answer(shown, kind="text/html")

    def _about(self) -> dict[str, Any]:
        evidence = self.session.editor.evidence
        return {
            "positive": str(evidence.class_names[-1]),
            "link": evidence.link if evidence.estimates else "",
            "approves": self.session.approves,
            "points": self.session.points,
            "card": evidence.units.are_points,
            "rows": len(self.session.editor.rows.sample.labels),
            "columns": self.session.column_names,
            "output": str(self.session.output),
            "log": str(self.session.log),
            "continued": self.session.continued,
            "judged": self.session.editor.fitted_rows is self.session.editor.rows,
        }

    async def state(self, request: Any) -> Any:
        """Everything that the page shows, but the table that is open."""
        return await self._do(request, self.session.state)

    async def table(self, request: Any) -> Any:
        """One table."""
        name = request.query_params.get("name", "")
        return await self._do(request, lambda: self.session.table(name))

    async def act(self, request: Any) -> Any:
        """Try, make, undo or save changes."""
        verb = self.verbs.get(request.path_params["verb"])
        if verb is None or not self._knows(request):
            return self._refuse()
        try:
            asked = json.loads(await read_body(request, MOST_BYTES) or b"{}")
            if not isinstance(asked, dict):
                raise ValueError("send a JSON object")
        except RefusalError as error:
            return self._refuse(error, error.status)
        except (ValueError, RecursionError) as error:
            return self._refuse(error, 400)
        return await self._do(request, lambda: verb(asked))

    async def _do(self, request: Any, work: Callable[[], Any]) -> Any:
        if not self._knows(request):
            return self._refuse()
        return await concurrency.run_in_threadpool(self._locked, work)

    def _locked(self, work: Callable[[], Any]) -> Any:
        with self.lock:
            try:
                return self._answer(json.dumps(work(), allow_nan=False))
            except (ValueError, TypeError, KeyError, IndexError) as error:
                told = error.args[0] if isinstance(error, KeyError) and error.args else error
                return self._refuse(told, 400)
            except OSError as error:  # such as a full disk
                return self._refuse(f"nothing was changed: {error}", 500)

    def _knows(self, request: Any) -> bool:
        """Whether a request has the token, and is addressed to this machine."""
        try:
            check_host(request.headers.raw, HOSTS)
        except RefusalError:
            return False
        return secrets.compare_digest(request.path_params["token"].encode(), self.token.encode())

    def _refuse(self, error: Any = "not found", status: int = 404) -> Any:
        return self._answer(json.dumps({"error": str(error)}), status)

    def _answer(self, text: str, status: int = 200, kind: str = "application/json") -> Any:
        return responses.Response(text, status, HEADERS, media_type=kind)


def edit_in_browser(
    session: Session, port: int = 0, title: str = "Edit a model", *, tell: Callable[[str], Any]
) -> None:
    """Serve the page until Ctrl-C; `tell` is called with its address, which holds a secret."""
    token = secrets.token_urlsafe(18)
    app = make_editor(session, token, title)
    settings = {"log_level": "warning", "access_log": False, "ws": "none", "lifespan": "off"}
    with bind(HOST, port) as listener, suppress(KeyboardInterrupt):  # raised again by uvicorn
        tell(f"http://{HOST}:{listener.getsockname()[1]}/{token}/")
        uvicorn.Server(uvicorn.Config(app, **settings)).run(sockets=[listener])
