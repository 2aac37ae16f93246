"""An application asked without a network, and a server asked over one."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.load import running

import weigh

CASE = {"Class": "3rd", "Sex": "Female", "Age": "Child"}


def save_people(path: Path, smoothing: float = 1.0) -> weigh.EvidenceNB:
    model = weigh.EvidenceNB(smoothing=smoothing).fit(weigh.datasets.titanic(), "Survived")
    weigh.save(model, path)
    return model


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        def refuse(token):
            raise AssertionError(f"the answer holds {token}, which is no JSON")

        return json.loads(self.body, parse_constant=refuse)


async def call(app, method, path, body=b"", headers=None, pieces=None) -> Answer:
    """One request, as a server would hand it over; `pieces` come one by one."""
    parts = urlsplit(path)
    given = {"content-length": str(len(body))} if headers is None else headers
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "scheme": "http", "path": parts.path, "raw_path": parts.path.encode(), "root_path": "",
        "query_string": parts.query.encode(), "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2), "state": {},
        "headers": [(k.encode(), v.encode()) for k, v in given.items()],
    }  # fmt: skip
    waiting, sent = [body] if pieces is None else pieces, []
    source = iter(waiting)
    left = len(waiting)

    async def receive():
        nonlocal left
        left -= 1
        return {"type": "http.request", "body": next(source), "more_body": left > 0}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    start = sent[0]
    kept = {k.decode(): v.decode() for k, v in start["headers"]}
    return Answer(start["status"], kept, b"".join(m.get("body", b"") for m in sent[1:]))


def ask(app, method, path, data=None, **options) -> Answer:
    """The same for whoever does not await; data that are no bytes go as JSON."""
    body = b"" if data is None else data if isinstance(data, bytes) else json.dumps(data).encode()
    return asyncio.run(call(app, method, path, body, **options))


def serving(model, folder, *options):
    """`weigh serve` in another process, on a port that was free."""
    command = ["-m", "weigh", "serve", str(model), "--port", "0", *options]
    return running(command, str(folder / "serve.log"))
