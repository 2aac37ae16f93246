"""Files and requests that were changed at random are refused in words, or read for what they say.

A few seconds in `make test`; `make fuzz` runs 20,000 model files, 5,000 CSV files and 10,000
requests. Whatever fails is named by its number, which gives the same bytes again.
"""

import csv
import inspect
import io
import json
import math
import os
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from benchmarks.load import make_request, read_log
from tests.make_corpus import CORPUS, predict
from tests.mutants import mutate_bytes, mutate_model
from tests.outside import score
from tests.serving import CASE, save_people, serving

import weigh
from weigh.predicting import StoredTable
from weigh.store import load_learnt, load_scorer
from weigh.store.model import BODIES
from weigh.store.scorer import OTHERS, SUMS

TIMES = int(os.environ.get("WEIGH_FUZZ", "1"))
SECOND = 1.0

RELEASE = CORPUS / "0.1.0"
ROWS = json.loads((RELEASE / "predictions.json").read_text("utf-8"))["rows"]
MODELS = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted(RELEASE.glob("*.json"))
    if path.stem not in ("predictions", "mean", "rest", "scorecard", "survival", "vote")
}
"""Those whose numbers `tests.outside` computes."""


LIGHT = (load_scorer, load_learnt)
"""Ways to read the tables of a file without their learner."""


class Slowest:
    """The slowest case so far, by the clock and in processor seconds of the process that works.

    A busy machine adds to the clock alone, so only processor seconds are bounded.
    """

    def __init__(self, processor=time.process_time):
        self.processor, self.seconds, self.clock = processor, 0.0, 0.0

    def __enter__(self):
        self.start = self.processor(), time.perf_counter()

    def __exit__(self, *_):
        seconds, clock = self.processor() - self.start[0], time.perf_counter() - self.start[1]
        self.seconds, self.clock = max(self.seconds, seconds), max(self.clock, clock)
        assert seconds < SECOND

    def __str__(self):
        return f"slowest {self.seconds:.3f} processor seconds, {self.clock:.3f} s by the clock"


def seconds_of(process):
    """A clock of the processor seconds of another process; without /proc it stands still."""
    status = Path(f"/proc/{process.pid}/stat")

    def read():
        if not status.exists():
            return 0.0
        ticks = status.read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    return read


def attempt(read, path, slowest=None):
    """What is read, or None where it is refused in words that name the file; in bounded time."""
    found, said = None, str(path)
    with slowest or Slowest():
        try:
            found = read(path)
        except ValueError as error:
            said = str(error)
    assert str(path) in said
    return found


def score_mutant(path, data, slowest):
    """What a file's model says of the rows, or None where it refuses them or warns of them."""
    path.write_text(json.dumps(data), "utf-8")
    model = attempt(weigh.load, path, slowest)
    try:
        return None if model is None else predict(model, ROWS)
    except (ValueError, UserWarning):  # such as columns that are matched by position
        return None


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_a_changed_model_file_is_scored_without_its_learner_only_where_load_accepts_it(tmp_path):
    """Half of the changes are made beside the tables: parameters, fitted numbers, provenance."""
    path, tables = tmp_path / "m.json", {}
    for number in range(200 * TIMES):
        data = MODELS[[*MODELS][number % len(MODELS)]]
        data = mutate_model(data, number, kept=("evidence",) if number % 2 else ())
        path.write_text(json.dumps(data), "utf-8")
        model, scorer, learnt = (attempt(read, path) for read in (weigh.load, *LIGHT))
        assert (model is None) == (scorer is None) == (learnt is None), number
        accepted = model is not None
        tables.setdefault(isinstance(scorer, StoredTable), []).append(accepted)
    assert sum(tables[True]) > 10 * TIMES
    assert tables[False].count(False) > 10 * TIMES


def test_what_is_known_of_the_file_of_each_learner_is_what_the_learner_stores():
    for name, stored in SUMS.items():
        learner = getattr(weigh, name)
        signature = inspect.signature(learner)
        needed = [p.name for p in signature.parameters.values() if p.default is p.empty]
        assert {*stored.parameters} == {*signature.parameters}
        assert [*stored.required] == needed
        assert (stored.fitted, stored.later) == (learner._extras, learner._later_extras)
    others = {body for body, *_ in BODIES} - {"evidence"}
    assert {*OTHERS} == others


def agree(one, two):
    """Whether numbers agree up to rounding; infinity and NaN are not compared."""
    return math.isclose(one, two, rel_tol=1e-6, abs_tol=1e-9) or not (
        math.isfinite(one) and math.isfinite(two)
    )


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_a_changed_model_file_is_refused_or_scored_as_it_says(tmp_path):
    loaded, slowest = 0, Slowest()
    for number in range(200 * TIMES):
        name = [*MODELS][number % len(MODELS)]
        data = mutate_model(MODELS[name], number)
        scored = score_mutant(tmp_path / "m.json", data, slowest)
        if scored is None:
            continue
        loaded += 1
        for found, row in zip(scored, ROWS, strict=True):
            wanted = score(data, row)
            pairs = zip(np.ravel(found), wanted, strict=True)
            assert all(agree(a, b) for a, b in pairs), (name, number, found, wanted)
    print(f"{200 * TIMES} model files, {loaded} of them scored, {slowest}")
    assert loaded > 20 * TIMES


# ---------------------------------------------------------------- CSV files

TABLES = [
    b"a,b,y\n" + b"".join(b"%d.5,x%d,%s\n" % (i, i % 3, [b"no", b"yes"][i % 2]) for i in range(12)),
    b'name;amount\n"Doe; J.";1,5\n"O""Neil";2,25\n;\n"two\nlines";1.234,5\n',
    "\ufefftown\tn\nK\u00f6ln\t1 234\nBonn\t\n  Ulm \t12\n".encode(),
    "a|b\n1|2\n3|4\n".encode("utf-16"),
]


def read_plainly(data, delimiter):
    """The cells of a file as Python's own reader has them, without blank lines and spaces."""
    marked = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = data.decode("utf-16" if marked else "utf-8-sig").lstrip("\ufeff")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return [[cell.strip() for cell in line] for line in lines if any(map(str.strip, line))]


def read_text(path):
    """Every cell as text, where the file can be read at all."""
    return weigh.read_file(path, text=weigh.read_file(path).column_names)


def hold_same_cells(table, data):
    """Whether Python's own reader finds the same text with any of the usual delimiters."""
    cells = [[*table.column_names]]
    cells += [["" if v is None else str(v) for v in row.values()] for row in table.to_pylist()]
    cells = [line for line in cells if any(line)]
    return any(read_plainly(data, mark) == cells for mark in ",;\t|")


def test_a_changed_csv_file_is_refused_or_holds_what_its_text_says(tmp_path):
    path, read, slowest = tmp_path / "t.csv", 0, Slowest()
    for number in range(50 * TIMES):
        data = mutate_bytes(TABLES[number % len(TABLES)], number)
        path.write_bytes(data)
        table = attempt(read_text, path, slowest)
        if table is not None:
            read += 1
            assert hold_same_cells(table, data), (number, data, table.to_pylist())
    print(f"{50 * TIMES} CSV files, {read} of them read, {slowest}")
    assert read > 5 * TIMES


# ---------------------------------------------------------------- requests

HEAD = "POST {} HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = HEAD.format("/score") + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
REQUESTS = [
    make_request("POST", "/score", CASE),
    make_request("POST", "/explain?pos_label=Yes", CASE),
    make_request("POST", "/score", {"rows": [CASE, {}]}),
    make_request("GET", "/healthz"),
    CHUNKED.encode(),
]
STATUSES = {200, 400, 404, 405, 408, 413, 421, 422, 431, 501}


def mutate_request(number):
    """A request changed anywhere, or one whose body was changed and whose length is right."""
    if number % 2:
        return mutate_bytes(REQUESTS[number % len(REQUESTS)], number)
    body = mutate_bytes(REQUESTS[number % 3].partition(b"\r\n\r\n")[2], number)
    head = HEAD.format(["/score", "/explain", "/score"][number % 3])
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def talk(url, data):
    """What a server answers to some bytes, after which nothing more comes."""
    parts, said = urlsplit(url), b""
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as client:
        try:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while part := client.recv(65536):
                said += part
        except ConnectionError:
            pass
    return said


@pytest.mark.needs("fastapi", "uvicorn")
def test_a_changed_request_meets_no_failure_and_holds_up_nobody(tmp_path):
    good = make_request("POST", "/score", CASE)
    save_people(tmp_path / "model.json")
    seen = {}
    with serving(tmp_path / "model.json", tmp_path, "--quiet") as (process, url):
        slowest, wanted = Slowest(seconds_of(process)), talk(url, good).partition(b"\r\n\r\n")[2]
        for number in range(100 * TIMES):
            data = mutate_request(number)
            with slowest:
                said = talk(url, data)
            status = int(said.split()[1]) if said else None
            assert status is None or status in STATUSES, (number, data, said[:200])
            seen[status] = seen.get(status, 0) + 1
            if number % 50 == 49:
                assert talk(url, good).partition(b"\r\n\r\n")[2] == wanted, number
        assert process.poll() is None
    assert "failure" not in [line["event"] for line in read_log(tmp_path / "serve.log")]
    print(f"{sum(seen.values())} requests, by status {seen}, {slowest}")
    assert seen[200] > 5 * TIMES
    assert seen[422] > 5 * TIMES
