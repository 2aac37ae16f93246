"""Clients that are slow, silent or many: others are answered, and the log stays small."""

import asyncio
import contextlib
import http.client
import io
import json
import resource
import socket
import time
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from benchmarks.load import make_request, press, read_log, running
from tests.serving import CASE, save_people, serving
from uvicorn.server import ServerState

from weigh.serving import Log, make_app
from weigh.serving.http import (
    DEAD,
    REST,
    SECONDS,
    ConnectionLimit,
    Server,
    count_places,
    make_listener,
)
from weigh.serving.server import bind

HEALTH = make_request("GET", "/healthz")
SHORT = """
import resource, sys
from weigh.serving import app, http
from weigh.cli import main
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
http.SECONDS = app.BODY_SECONDS = 2.0
main(sys.argv[1:])
"""


@contextlib.contextmanager
def short_of_files(folder):
    """`weigh serve` with 256 files, and two seconds of patience in place of ten."""
    save_people(folder / "model.json")
    command = ["-c", SHORT, "serve", str(folder / "model.json"), "--port", "0"]
    with running(command, str(folder / "serve.log")) as (process, url):
        yield process, url


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """One of these for all tests that leave it running."""
    with short_of_files(tmp_path_factory.mktemp("short")) as (_, url):
        yield url


def join(url):
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=5)


def is_closed(client, seconds=6.0):
    """Whether the server parts from a client within so many seconds."""
    client.settimeout(seconds)
    try:
        while client.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def is_refused(client, seconds=10.0):
    """Whether the server takes no more from a client that reads nothing."""
    client.setblocking(False)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            client.send(b"x")
        except BlockingIOError:
            pass
        except ConnectionError:
            return True
        time.sleep(0.05)
    return False


def status(client, request=HEALTH):
    client.sendall(request)
    return client.recv(65536).split(b"\r\n")[0]


def test_four_hundred_silent_clients_keep_nobody_out(tmp_path):
    with short_of_files(tmp_path) as (process, url), contextlib.ExitStack() as stack:
        silent = []
        for _ in range(400):
            silent.append(stack.enter_context(join(url)))
            silent[-1].sendall(b"G")
        for _ in range(5):
            with join(url) as other:
                assert status(other) == b"HTTP/1.1 200 OK"
        assert all(is_closed(client) for client in silent)
        process.terminate()
        assert process.wait(60) == 0
    log = tmp_path / "serve.log"
    assert log.stat().st_size < 20_000
    events = [line["event"] for line in read_log(log)]  # which fails where a line is no JSON
    assert 1 <= events.count("full") <= 10
    assert "failure" not in events


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"G",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: ",
        HEALTH + b"GET /healthz HTTP/1.1\r\nX: ",
    ],
)
def test_a_head_that_does_not_arrive_is_not_waited_for(address, start):
    with join(address) as client:
        client.sendall(start)
        began = time.monotonic()
        for _ in range(40):  # a byte now and then is no progress
            time.sleep(0.1)
            try:
                client.sendall(b"x" if start else b"")
            except ConnectionError:
                break
        assert is_closed(client, 1.0)
        assert time.monotonic() - began < 6


def test_a_head_in_many_pieces_is_read_with_rests_and_answered(tmp_path):
    save_people(tmp_path / "model.json")
    server = Server(make_app(tmp_path / "model.json"), Log(io.StringIO(), quiet=True))
    server.config.load()
    reads = 0

    class Counted(server.config.http_protocol_class):
        def data_received(self, data):
            nonlocal reads
            reads += 1
            super().data_received(data)

    async def converse():
        state, loop = ServerState(), asyncio.get_running_loop()
        listener = await loop.create_server(
            lambda: Counted(server.config, state, {}), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*listener.sockets[0].getsockname())
        start = loop.time()
        for number in range(300):
            piece = b"X-%d: y\r\n" % number if number else HEALTH[: HEALTH.index(b"\n") + 1]
            writer.write(piece)
            await asyncio.sleep(0.001)
        most = (loop.time() - start) / REST + 5
        writer.write(HEALTH[HEALTH.index(b"\n") + 1 :])
        answer = await reader.readuntil(b"\r\n")
        writer.close()
        listener.close()
        return answer, most

    answer, most = asyncio.run(converse())
    assert answer == b"HTTP/1.1 200 OK\r\n"
    assert reads < most


def test_a_body_that_does_not_arrive_is_a_408_and_the_end_of_the_connection(address):
    head = b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{"
    with join(address) as client:
        client.sendall(head)
        said = b""
        with contextlib.suppress(ConnectionError):
            while part := client.recv(65536):
                said += part
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in said
    assert b"did not arrive within 2 s" in said


def test_who_reads_no_answer_is_parted_from_even_where_requests_wait(address):
    with join(address) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with contextlib.suppress(ConnectionError, TimeoutError):
            client.sendall(make_request("GET", "/") * 400)
        assert is_refused(client)


def test_a_refusal_for_its_length_reaches_a_client_that_is_still_sending(address):
    parts = urlsplit(address)
    client = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    for _ in range(2):  # and the connection can be used again
        client.request("POST", "/score", b" " * 5_000_000)
        answer = client.getresponse()
        assert (answer.status, json.loads(answer.read())["field"]) == (413, None)
    client.close()
    with join(address) as slow:
        slow.sendall(b"POST /score HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 9000000\r\n\r\n")
        assert is_closed(slow, 6.0)


def test_working_clients_are_left_alone(address):
    requests = [make_request("POST", "/score", CASE)]
    outcome = asyncio.run(press(address, requests, 10**6, 4, 5.0))  # longer than the patience
    assert outcome.lost == []
    assert {*outcome.statuses} == {200}


def test_it_serves_on_the_other_loopback_too(tmp_path, require):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        require(f"this machine has no ::1: {error}")
    save_people(tmp_path / "model.json")
    with serving(tmp_path / "model.json", tmp_path, "--host", "::1") as (_, url):
        assert url.startswith("http://[::1]:")
        with join(url) as client:
            assert status(client) == b"HTTP/1.1 200 OK"
    assert read_log(tmp_path / "serve.log")[1]["client"] == "::1"


def test_a_body_over_asgi_that_does_not_arrive_is_a_408(tmp_path, monkeypatch):
    save_people(tmp_path / "model.json")
    app, sent = make_app(tmp_path / "model.json"), []
    monkeypatch.setattr("weigh.serving.app.BODY_SECONDS", 0.05)

    async def never():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/score", "query_string": b"", "headers": []}
    asyncio.run(asyncio.wait_for(app(scope, never, send), 10))
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


# ---------------------------------------------------------------- the limit alone


class Client:
    """As much of a connection as the limit sees."""

    def __init__(self, asked=False, answered=False, unread=0):
        self.cycle = SimpleNamespace(response_complete=answered) if asked else None
        self.unread, self.parted, self.transport = unread, False, self

    def get_write_buffer_size(self):
        return self.unread

    def abort(self):
        self.parted = True


def test_when_it_is_full_who_never_asked_leaves_then_who_was_answered_then_the_new_one():
    stream = io.StringIO()
    limit = ConnectionLimit(Log(stream), most=3)
    busy, kept, silent = Client(asked=True), Client(asked=True, answered=True), Client()
    for client in (busy, kept, silent):
        limit.enter(client)
    for leaver in (silent, kept):
        limit.enter(Client(asked=True))
        assert leaver.parted
    last = Client()
    limit.enter(last)
    assert last.parted
    assert not busy.parted
    assert len(limit.marks) == 3
    assert stream.getvalue().count('"full"') == 3


def test_a_request_under_way_may_take_its_time_and_progress_buys_more():
    limit, late = ConnectionLimit(Log(io.StringIO()), most=9), 10**9
    working, reading = Client(asked=True), Client(asked=True, answered=True, unread=9)
    for client in (working, reading):
        limit.enter(client)
    limit.sweep(late)
    assert reading.parted
    assert not working.parted
    slow = Client(asked=True, answered=True, unread=9)
    limit.enter(slow)
    for step in range(9):
        slow.unread -= 1
        limit.sweep(late + step * 2 * SECONDS)
    assert not slow.parted
    limit.sweep(late + 20 * SECONDS)
    assert slow.parted


def test_connections_leave_files_for_other_things(monkeypatch):
    for files, places in ((256, 128), (1024, 896), (100_000, 1000), (100, 50)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert count_places() == places


def test_what_happens_often_is_told_seldom_and_counted(monkeypatch):
    stream = io.StringIO()
    log, now = Log(stream), [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for _ in range(1000):
        log.seldom("server", message="x")
    log.seldom("other")
    now[0] = 11.0
    log.seldom("server", message="y")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["server"] * 10 + ["other", "server"]
    assert lines[-1]["left_out"] == 990


# ---------------------------------------------------------------- connections closed at once


def test_a_connection_that_is_closed_already_is_dropped_before_it_is_served():
    with bind("127.0.0.1", 0) as listener:
        address = listener.getsockname()
        door = make_listener(listener)
        door.setblocking(False)
        for _ in range(DEAD + 10):
            socket.create_connection(address).close()
        with pytest.raises(BlockingIOError):  # others have their turn
            door.accept()
        with socket.create_connection(address) as alive:
            alive.sendall(b"G")  # on Linux a connection waits for its data
            client, own = door.accept()
            assert own == alive.getsockname()
            client.close()
        door.close()
