"""`weigh serve` as a process of its own: under load, while its model changes, and at its end."""

import asyncio
import http.client
import json
import signal
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest
from benchmarks.load import make_request, press, read_log
from click.testing import CliRunner
from tests.pages.test_pages_calculator import choose, shown
from tests.serving import CASE, save_people, serving

import weigh
from weigh.cli import main
from weigh.serving.server import bind

pytestmark = pytest.mark.needs("fastapi", "uvicorn")

ROWS = [CASE, {"Class": "1st", "Sex": "Male"}, {}, {"Age": "Adult"}]
REQUESTS = [make_request("POST", "/score", row) for row in ROWS]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server for all tests that leave it running: its address, model and log."""
    folder = tmp_path_factory.mktemp("serving")
    save_people(folder / "model.json")
    with serving(folder / "model.json", folder) as (process, url):
        yield process, url, folder


def say(url, data, most=65536):
    """Bytes over a socket, and the status line of what comes back."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as client:
        client.sendall(data)
        return client.recv(most).split(b"\r\n")[0]


def test_it_listens_on_this_machine_alone_and_answers_over_http(server):
    _, url, folder = server
    assert url.startswith("http://127.0.0.1:")
    parts = urlsplit(url)
    client = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    client.request("POST", "/score", json.dumps(CASE))
    said = json.loads(client.getresponse().read())
    model = weigh.load(folder / "model.json")
    assert said["log_odds"] == model.decision_function([CASE])[0]
    client.close()


@pytest.mark.system
def test_the_form_that_it_serves_shows_what_it_scores_and_asks_for_nothing_else(server, browser):
    _, url, folder = server
    browser.driver.get("about:blank")
    browser.logs(), browser.requests()
    browser.driver.get(url)
    for name, level in CASE.items():
        choose(browser, name, level)
    sheet = weigh.load(folder / "model.json").balance_sheet(CASE)
    assert shown(browser, "probability") == f"{sheet.probability:.2f}"
    said = browser.run(
        "return [...document.querySelectorAll('#for tr, #against tr')].map((row) =>"
        " [...row.children].map((cell) => cell.textContent))"
    )
    for item in sheet.items:
        weight = f"{100 * item.weight:+.0f}".replace("-", "\u2212")
        assert [f"{item.feature} = {item.level}", weight] in said
    assert sheet.total == pytest.approx(_log_odds(url), rel=1e-12)
    assert {*browser.requests()} <= {url, f"{url}favicon.ico"}


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\nzz",  # empty lines before a request are allowed
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"POST /score HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
        b"POST /score HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /score HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /score HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /%00%ff/../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    ],
)
def test_bytes_that_are_no_request_get_no_failure(server, data):
    _, url, _ = server
    status = say(url, data + b"\r\n")
    assert status == b"" or int(status.split()[1]) < 500
    assert say(url, make_request("GET", "/healthz")) == b"HTTP/1.1 200 OK"


def test_a_client_that_leaves_in_the_middle_of_its_body_harms_nobody(server):
    _, url, folder = server
    parts = urlsplit(url)
    for _ in range(20):
        with socket.create_connection((parts.hostname, parts.port)) as client:
            client.sendall(b'POST /score HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{"Cla')
    assert say(url, REQUESTS[0]) == b"HTTP/1.1 200 OK"
    assert not [line for line in read_log(folder / "serve.log") if line["event"] == "failure"]


def test_a_model_that_is_replaced_fifty_times_under_load_fails_no_request(server):
    _, url, folder = server
    path, done = folder / "model.json", threading.Event()

    def replace():
        for i in range(50):
            save_people(path, smoothing=1.0 + i)
            time.sleep(0.05)
        done.set()

    thread = threading.Thread(target=replace)
    thread.start()
    outcomes = []
    while not done.is_set():
        outcomes.append(asyncio.run(press(url, REQUESTS, 200, 4, 10)))
    thread.join()
    assert not any(outcome.lost for outcome in outcomes)
    assert {status for outcome in outcomes for status in outcome.statuses} == {200}
    want = weigh.load(path).decision_function([CASE])[0]
    until = time.monotonic() + 15
    while time.monotonic() < until and _log_odds(url) != want:
        time.sleep(0.1)
    assert _log_odds(url) == want
    lines = read_log(folder / "serve.log")
    assert any(line["event"] == "loaded" for line in lines)
    assert not any(line["event"] in ("refused", "failure") for line in lines)


def _log_odds(url):
    parts = urlsplit(url)
    client = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    client.request("POST", "/score", json.dumps(CASE))
    said = json.loads(client.getresponse().read())["log_odds"]
    client.close()
    return said


def test_a_stop_under_load_answers_every_request_that_was_sent(tmp_path):
    save_people(tmp_path / "model.json")
    with serving(tmp_path / "model.json", tmp_path) as (process, url):
        timer = threading.Timer(1.5, process.send_signal, [signal.SIGTERM])
        timer.start()
        outcome = asyncio.run(press(url, REQUESTS, 10**6, 8, 20))
        assert process.wait(15) == 0
    assert outcome.lost == []
    assert {*outcome.statuses} == {200}
    lines = read_log(tmp_path / "serve.log")
    assert sum(line["event"] == "request" for line in lines) == len(outcome.seconds)
    assert [line["event"] for line in lines][-1] == "stopped"
    assert len(outcome.seconds) > 20


def test_a_port_that_is_taken_is_an_error_that_says_so(tmp_path):
    save_people(tmp_path / "model.json")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(main, ["serve", str(tmp_path / "model.json"), "--port", port])
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert f"port {port}" in done.stderr


def test_answers_do_not_wait_for_an_acknowledgement():
    with bind("127.0.0.1", 0) as listener:  # asyncio sets TCP_NODELAY where this holds
        assert listener.proto == socket.IPPROTO_TCP
