"""`chaosproxy origin` as a process: what it says, and how it leaves."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator

import pytest

WITHIN = 30
"""Seconds for what must happen; reached only when something is wrong."""
Started = subprocess.Popen[str]


@pytest.fixture
def start() -> Iterator[Callable[..., Started]]:
    """Start `chaosproxy origin ARGUMENTS`."""
    running: list[Started] = []

    def started(*arguments: str, **environment: str) -> Started:
        argv = [sys.executable, "-m", "chaosproxy", "origin", *arguments]
        env = {**os.environ, **environment}
        running.append(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env))
        return running[-1]

    yield started
    for one in running:
        if one.poll() is None:
            one.kill()
        one.communicate()


def said(process: Started) -> str:
    """Its first line, which tells where it accepts."""
    assert process.stderr
    line = process.stderr.readline()
    prefix = "chaosproxy: origin on http://"
    assert line.startswith(prefix), line
    return line.removeprefix("chaosproxy: origin on ").strip()


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=WITHIN) as answer:
        return answer.read()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_it_serves_until_a_signal_whoever_listens(start, number, host):
    process = start("--listen", f"{host}:0")
    url = said(process)
    assert url.startswith(f"http://{host}:")
    with socket.create_connection((host.strip("[]"), int(url.rpartition(":")[2])), timeout=WITHIN) as client:
        client.sendall(b"GET /sse?first=0ms&gap=forever HTTP/1.1\r\nHost: x\r\n\r\n")
        received = b""
        while b"data: Every" not in received:
            received += client.recv(65536)
        process.send_signal(number)
        assert process.communicate(timeout=WITHIN) == ("", "")
    assert process.returncode == 0


def test_what_its_server_says_of_a_client_is_a_line_of_ours(start):
    process = start("--listen", "127.0.0.1:0")
    url = said(process)
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=WITHIN) as client:
        client.sendall(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        received = b""
        while more := client.recv(65536):
            received += more
    assert received.startswith(b"HTTP/1.1 400 ")
    process.terminate()
    _, err = process.communicate(timeout=WITHIN)
    assert err == "chaosproxy: Invalid HTTP request received.\n"


def test_the_ready_file_stands_while_it_accepts(start, tmp_path):
    file = tmp_path / "ready.json"
    process = start("--listen", "127.0.0.1:0", "--ready-file", str(file))
    url = said(process)
    expected = {"url": url, "urls": [url], "admin": None, "pid": process.pid, "ca": None}
    assert json.loads(file.read_text()) == expected
    process.terminate()
    process.communicate(timeout=WITHIN)
    assert not file.exists()


def test_its_options_come_from_the_environment_too(start):
    environment = {"SLOTS": "3", "KV_BLOCKS": "5", "BREAK": "engine blocks", "SPEED": "1000", "LISTEN": "127.0.0.1:0"}
    url = said(start(**{f"CHAOSPROXY_ORIGIN_{name}": value for name, value in environment.items()}))
    stats = json.loads(get(f"{url}/stats"))
    assert (stats["slots"], stats["kv_blocks"]) == (3, 5)
    assert b"data: is" in get(f"{url}/sse?first=60s&gap=10s")


def test_a_port_that_is_taken(start):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start("--listen", f"127.0.0.1:{port}")
        out, err = process.communicate(timeout=WITHIN)
    assert (process.returncode, out) == (3, "")
    assert (
        err
        == f"chaosproxy: cannot listen on 127.0.0.1:{port}: the port is taken; choose another, or 0 for any free one\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--listen", "8000"), "listen address '8000': write HOST:PORT"),
        (("--slots", "0"), "--slots"),
        (("--kv-blocks", "many"), "--kv-blocks"),
        (("--break", "nothing"), "'disconnect', 'engine', 'scheduler', 'blocks'"),
        (("--speed", "0"), "--speed"),
        (("--speed", "inf"), "'inf': write a number above 0, at most 1,000,000,000"),
        (("--ready-file", "/nowhere/at/all"), "cannot write the ready file /nowhere/at/all"),
        (("left",), "left"),
    ],
)
def test_wrong_usage(start, arguments, message):
    process = start("--listen", "127.0.0.1:0", *arguments)
    out, err = process.communicate(timeout=WITHIN)
    assert (process.returncode, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
