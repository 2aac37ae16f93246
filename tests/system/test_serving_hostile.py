"""Clients that attack: the others are answered, and each refusal is the documented JSON."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import pytest
from benchmarks.load import make_request, read_log
from tests.serving import CASE, ask, call, save_people, serving

from weigh.serving import make_app
from weigh.serving.http import MOST_CHUNKS, MOST_HEAD
from weigh.serving.loaded import Served

SCORE = make_request("POST", "/score", CASE)
CHUNKED = b"POST /score HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    save_people(folder / "model.json")
    with serving(folder / "model.json", folder) as (_, url):
        yield url


def join(url):
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=60)


def converse(client, data):
    """The status and the JSON of the first answer."""
    client.sendall(data)
    received = b""
    while b"\r\n\r\n" not in received:
        received += (part := client.recv(65536))
        assert part, "the connection was closed without an answer"
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split()[0])
    while len(body) < length:
        body += client.recv(65536)
    return int(head.split()[1]), json.loads(body)


def exchange(url, data):
    with join(url) as client:
        return converse(client, data)


def chunks(body, size):
    parts = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


# ---------------------------------------------------------------- bodies and heads


def test_a_body_in_few_chunks_is_scored_and_one_in_too_many_refused(url):
    body = json.dumps(CASE).encode()
    assert exchange(url, CHUNKED + chunks(body, 7)) == exchange(url, SCORE)
    spaced = body + b" " * (MOST_CHUNKS + 1)
    status, answer = exchange(url, CHUNKED + chunks(spaced, 1))
    assert status == 413
    assert answer.keys() == {"error", "field"}


def test_a_body_of_one_byte_chunks_does_not_hold_up_others(url):
    """Nine hundred thousand chunks: the connection is closed after the first thousand."""

    def attack():
        for _ in range(3):
            try:
                with join(url) as client:
                    client.sendall(CHUNKED + b"1\r\n \r\n" * 900_000)
            except OSError:
                pass

    attacker = threading.Thread(target=attack)
    attacker.start()
    with join(url) as client:
        answers = [converse(client, SCORE)[0] for _ in range(200)]
    attacker.join(20)
    assert not attacker.is_alive()
    assert answers == [200] * 200


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * MOST_HEAD + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * MOST_HEAD, 431),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 10 * MOST_HEAD, 431),
        (b"GET /" + b"x" * MOST_HEAD, 431),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"GET / HTTP/1.1\r\nno header\r\n\r\n", 400),
        (CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Length: 4\r\n\r\n") + b"0\r\n\r\n", 400),
        (b"POST /score HTTP/1.1\r\nHost: a\r\nContent-Length: 4, 5\r\n\r\n{}", 400),
    ],
    ids=[
        "long header",
        "many headers",
        "endless header",
        "long path",
        "TLS",
        "no colon",
        "two lengths",
        "list of lengths",
    ],
)
def test_what_the_parser_refuses_is_the_documented_json(url, request_, status):
    found, answer = exchange(url, request_)
    assert found == status
    assert answer.keys() == {"error", "field"}


def test_headers_after_a_body_are_left_out(url):
    body = json.dumps(CASE).encode()
    sent = CHUNKED + chunks(body, 64)[:-2] + b"Host: evil.example\r\n" * 5 + b"\r\n"
    assert exchange(url, sent) == exchange(url, SCORE)


# ---------------------------------------------------------------- hosts


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    path = tmp_path_factory.mktemp("hosts") / "model.json"
    save_people(path)
    return make_app(path, allow_hosts=["Risk.example"])


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST.:8000", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("10.1.2.3", 200),
        ("risk.example", 200),
        ("evil.example", 421),
        ("evil.example:8000", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("", 421),
    ],
)
def test_only_hosts_that_were_told_are_answered_for(app, host, status):
    answer = ask(app, "GET", "/healthz", headers={"host": host})
    assert answer.status == status
    assert status == 200 or answer.json.keys() == {"error", "field"}


def test_a_request_without_a_host_is_refused(app):
    assert ask(app, "GET", "/healthz", headers={}).status == 400


def test_a_star_allows_every_host(tmp_path):
    save_people(tmp_path / "model.json")
    app = make_app(tmp_path / "model.json", allow_hosts=["*"])
    assert ask(app, "GET", "/healthz", headers={"host": "evil.example"}).status == 200


@pytest.mark.parametrize("hosts", [["risk.example:80"], ["a/b"], [""], "risk.example"])
def test_what_is_no_list_of_host_names_is_refused_at_the_start(hosts, tmp_path):
    save_people(tmp_path / "model.json")
    with pytest.raises(ValueError, match="allow_hosts"):
        make_app(tmp_path / "model.json", allow_hosts=hosts)


def test_the_command_answers_for_this_machine_alone(url):
    assert exchange(url, SCORE.replace(b"Host: localhost", b"Host: evil.example"))[0] == 421


# ---------------------------------------------------------------- reloading and stopping


def wait_for(condition, seconds=60.0):
    until = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def events(folder, name):
    return [line for line in read_log(str(folder / "serve.log")) if line["event"] == name]


def test_a_model_path_that_blocks_stops_neither_answers_nor_reloading_nor_a_stop(tmp_path):
    path = tmp_path / "model.json"
    save_people(path)
    with serving(path, tmp_path) as (process, url):
        path.unlink()
        os.mkfifo(path)
        assert wait_for(lambda: events(tmp_path, "refused"))
        assert exchange(url, SCORE)[0] == 200
        assert exchange(url, make_request("GET", "/healthz"))[1]["refused"]
        path.unlink()
        save_people(path, smoothing=2.0)
        assert wait_for(lambda: events(tmp_path, "loaded"))
        assert exchange(url, make_request("GET", "/healthz"))[1]["refused"] is None
        path.unlink()
        os.mkfifo(path)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_load_that_hangs_does_not_hinder_a_stop(tmp_path, monkeypatch):
    path, hung = tmp_path / "model.json", threading.Event()
    save_people(path)
    app = make_app(path, every=0.01)

    def hang(*_):
        hung.set()
        threading.Event().wait()

    monkeypatch.setattr(Served, "load", hang)

    async def serve():
        task = asyncio.create_task(app.reloader.watch(0.01))
        save_people(path, smoothing=3.0)
        while not hung.is_set():
            await asyncio.sleep(0.01)
        answer = await call(app, "GET", "/healthz")
        task.cancel()
        return answer.status

    assert asyncio.run(serve()) == 200  # a thread of the loop's executor would be waited for


def test_the_command_answers_for_names_that_it_is_given_and_sighup_loads_the_model_again(tmp_path):
    save_people(tmp_path / "model.json")
    named = ["--allow-host", "risk.example"]
    with serving(tmp_path / "model.json", tmp_path, *named) as (process, url):
        asked = make_request("GET", "/healthz").replace(b"Host: localhost", b"Host: risk.example")
        assert exchange(url, asked)[0] == 200
        process.send_signal(signal.SIGHUP)
        assert wait_for(lambda: events(tmp_path, "loaded"))
        assert exchange(url, asked)[1]["generation"] == 2


def test_readiness_ends_with_a_stop_and_liveness_does_not(tmp_path):
    save_people(tmp_path / "model.json")
    app = make_app(tmp_path / "model.json")
    assert ask(app, "GET", "/readyz").status == 200
    app.reloader.stopping = True
    assert ask(app, "GET", "/readyz").status == 503
    assert ask(app, "GET", "/healthz").status == 200


# ---------------------------------------------------------------- workers


def test_workers_answer_alike_are_replaced_when_they_die_and_stop_together(tmp_path):
    save_people(tmp_path / "model.json")
    with serving(tmp_path / "model.json", tmp_path, "--workers", "2") as (process, url):
        answers = [exchange(url, SCORE) for _ in range(10)]
        assert answers == answers[:1] * 10
        time.sleep(2.1)  # a worker that dies sooner ends the service
        first, second = (line["worker"] for line in events(tmp_path, "worker"))
        os.kill(first, signal.SIGKILL)
        assert wait_for(lambda: len(events(tmp_path, "worker")) == 3)
        assert exchange(url, SCORE) == answers[0]
        process.send_signal(signal.SIGHUP)
        assert wait_for(lambda: events(tmp_path, "loaded"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert not _is_alive(second)


KEEP = """
import sys, time
from functools import partial
from weigh.serving.records import Log
from weigh.serving.server import run_workers
if __name__ == "__main__":
    run_workers(2, partial(time.sleep, 60), Log(sys.stdout))
"""


def test_workers_end_with_their_keeper():
    with subprocess.Popen([sys.executable, "-c", KEEP], stdout=subprocess.PIPE) as pool:
        workers = [json.loads(pool.stdout.readline())["worker"] for _ in range(2)]
        assert all(map(_is_alive, workers))
        time.sleep(1.0)
        pool.kill()
    assert wait_for(lambda: not any(map(_is_alive, workers)), 60)


def _is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
