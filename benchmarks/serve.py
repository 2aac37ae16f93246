"""How fast is `weigh serve`: `python -m benchmarks.serve`.

Single-row /score beside a bare FastAPI endpoint that returns a constant: the same uvicorn settings,
one server process each, loaded in turn from this process, in blocks that alternate. Ours logs
every request, to a file. What must hold: 60% of the rate, at most twice the 99th percentile. The
processor time of the servers is printed too, since other work on the machine moves it less.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
from statistics import median
from types import SimpleNamespace
from typing import Any

import numpy as np

import weigh
from benchmarks.load import Outcome, make_request, press, running

BLOCKS, REQUESTS, CONNECTIONS, SECONDS = 20, 300, 8, 8.0
ROW = {"Class": "3rd", "Sex": "Female", "Age": "Child"}


def serve_bare() -> None:
    """A constant, on the server that we use."""
    from fastapi import FastAPI

    from weigh.serving.http import Server
    from weigh.serving.records import Log, relayed
    from weigh.serving.server import bind

    app: Any = FastAPI()
    app.reloader = SimpleNamespace(wanted=threading.Event(), stopping=False)  # for Server

    @app.get("/")
    async def constant() -> dict[str, str]:
        return {"status": "ok"}

    log = Log(sys.stderr, quiet=True)
    with bind("127.0.0.1", 0) as listener:
        log.tell("listening", url=f"http://127.0.0.1:{listener.getsockname()[1]}/")
        with relayed(log):
            Server(app, log).run(sockets=[listener])


def cpu_seconds(pid: int) -> float:
    """The processor time of a process so far (Linux)."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(folder: str, model: weigh.EvidenceNB, row: dict[str, object]) -> tuple[float, float]:
    """Our rate over the bare one, and our 99th percentile over the bare one."""
    path = os.path.join(folder, "model.json")
    weigh.save(model, path)
    ours = ["-m", "weigh", "serve", path, "--port", "0"]
    bare = ["-m", "benchmarks.serve", "bare"]
    asked = (make_request("GET", "/"), make_request("POST", "/score", row))
    with (
        running(bare, os.path.join(folder, "bare.log")) as (one, first),
        running(ours, os.path.join(folder, "ours.log")) as (two, second),
    ):
        spent = [0.0, 0.0]
        found: tuple[list[Outcome], list[Outcome]] = ([], [])
        for block in range(BLOCKS + 1):
            for url, request, outcomes in zip((first, second), asked, found, strict=True):
                done = asyncio.run(press(url, [request], REQUESTS, CONNECTIONS, SECONDS))
                assert not done.lost, done.lost
                assert done.statuses == {200: len(done.seconds)}, done.statuses
                if block:  # the first is a warm-up
                    outcomes.append(done)
            if block == 0:
                spent = [cpu_seconds(one.pid), cpu_seconds(two.pid)]
        spent = [cpu_seconds(one.pid) - spent[0], cpu_seconds(two.pid) - spent[1]]
    rates = [median(done.rate for done in outcomes) for outcomes in found]
    tails = [
        float(np.percentile([s for done in outcomes for s in done.seconds], 99))
        for outcomes in found
    ]
    for k, name in enumerate(("bare", "ours")):
        cost = 1e6 * spent[k] / sum(len(done.seconds) for done in found[k])
        rate, tail = rates[k], 1e3 * tails[k]
        print(f"  {name} {rate:8.0f} requests/s, p99 {tail:7.2f} ms, processor {cost:5.0f} us each")
    return rates[1] / rates[0], tails[1] / tails[0]


def main() -> None:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    people = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    cases = {
        "3 categories": (people, ROW),
        "30 numbers": (weigh.EvidenceNB().fit(X, y), X.iloc[0].to_dict()),
    }
    for name, (model, row) in cases.items():
        print(f"{name}: {BLOCKS} blocks of {REQUESTS:,} on {CONNECTIONS} connections")
        with tempfile.TemporaryDirectory() as folder:
            rate, tail = measure(folder, model, row)
        verdict = "" if rate >= 0.6 and tail <= 2 else "   SHORT"
        print(f"  {rate:.0%} of the rate, {tail:.2f} times the p99{verdict}")


if __name__ == "__main__":
    serve_bare() if sys.argv[1:] == ["bare"] else main()
