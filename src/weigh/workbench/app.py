"""The routes of the page, and the server, which only this machine can reach."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from weigh.layout import asset, document, render
from weigh.serving.app import LACKS, check_host, read_body
from weigh.serving.rows import RefusalError
from weigh.serving.server import bind
from weigh.workbench.session import Session

HOST = "127.0.0.1"
HOSTS = frozenset(["localhost"])
"""Host names that a request may have, besides numeric addresses."""

MOST_BYTES = 1 << 18
HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def make_editor(session: Session, token: str, title: str = "Edit a model") -> Any:
    """The page as an ASGI application; every address begins with the token."""
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError:
        raise ImportError(LACKS) from None

    page = _Page(session, token, title)
    routes = [
        Route("/{token}/", page.show),
        Route("/{token}/state", page.state),
        Route("/{token}/table", page.table),
        Route("/{token}/{verb}", page.act, methods=["POST"]),
    ]
    return Starlette(routes=routes)


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
            "look": lambda asked: session.look(float(asked["cut_off"]), str(asked["by"])).state(),
            "save": lambda asked: session.save(),
        }

    async def show(self, request: Any) -> Any:
        """The page itself."""
        from starlette.responses import HTMLResponse

        if not self._knows(request):
            return self._answer({"error": "not found"}, 404)
        shown = document(
            self.title,
            render("editor.html", title=self.title),
            asset("weigh.pages", "page.css", "report.css") + asset(__package__, "editor.css"),
            asset(__package__, "editor.js"),
            self._about(),
            connect=True,
        )
        return HTMLResponse(shown, headers=HEADERS)

    def _about(self) -> dict[str, Any]:
        evidence = self.session.editor.evidence
        return {
            "positive": str(evidence.class_names[-1]),
            "link": evidence.link if evidence.estimates else "",
            "approves": self.session.approves,
            "points": self.session.points,
            "card": evidence.units.are_points,
            "rows": len(self.session.editor.sample.labels),
            "columns": self.session.column_names,
            "output": str(self.session.output),
            "log": str(self.session.log),
            "continued": self.session.continued,
            "judged": self.session.editor.train is self.session.editor.sample,
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
        if not self._knows(request):
            return self._answer({"error": "not found"}, 404)
        verb = self.verbs.get(request.path_params["verb"])
        if verb is None:
            return self._answer({"error": "not found"}, 404)
        try:
            body = await read_body(request, MOST_BYTES)
            asked = json.loads(body or b"{}")
            if not isinstance(asked, dict):
                raise ValueError("send a JSON object")
        except RefusalError as error:
            return self._answer({"error": str(error)}, error.status)
        except (ValueError, RecursionError) as error:
            return self._answer({"error": str(error)}, 400)
        return await self._do(request, lambda: verb(asked))

    async def _do(self, request: Any, work: Callable[[], Any]) -> Any:
        from starlette.concurrency import run_in_threadpool

        if not self._knows(request):
            return self._answer({"error": "not found"}, 404)
        return self._answer(*await run_in_threadpool(self._locked, work))

    def _locked(self, work: Callable[[], Any]) -> tuple[Any, int]:
        with self.lock:
            try:
                return work(), 200
            except (ValueError, TypeError, KeyError, IndexError) as error:
                told = error.args[0] if isinstance(error, KeyError) and error.args else error
                return {"error": str(told)}, 400
            except OSError as error:  # such as a full disk
                return {"error": f"nothing was changed: {error}"}, 500

    def _knows(self, request: Any) -> bool:
        """Whether a request has the token, and is addressed to this machine."""
        try:
            check_host(request.headers.raw, HOSTS)
        except RefusalError:
            return False
        return secrets.compare_digest(request.path_params["token"].encode(), self.token.encode())

    def _answer(self, data: Any, status: int = 200) -> Any:
        from starlette.responses import Response

        text = json.dumps(data, allow_nan=False)
        return Response(text, status, HEADERS, media_type="application/json")


def edit_in_browser(
    session: Session, port: int = 0, title: str = "Edit a model", *, tell: Callable[[str], Any]
) -> None:
    """Serve the page until Ctrl-C; `tell` is called with its address, which holds a secret."""
    try:
        import uvicorn
    except ImportError:
        raise ImportError(LACKS) from None

    token = secrets.token_urlsafe(18)
    app = make_editor(session, token, title)
    settings = {"log_level": "warning", "access_log": False, "ws": "none", "lifespan": "off"}
    with bind(HOST, port) as listener, suppress(KeyboardInterrupt):  # raised again by uvicorn
        tell(f"http://{HOST}:{listener.getsockname()[1]}/{token}/")
        uvicorn.Server(uvicorn.Config(app, **settings)).run(sockets=[listener])
