"""Whatever a peer says of other places, none is dialled and no name is looked up: by Python's own audit of the process,
and where `strace` is installed by what the kernel was asked for."""

import ast
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from chaosproxy.http2.frames import PREFACE, SETTINGS, frame

WITHIN = 60.0
AUDITED = Path(__file__).with_name("audited.py")
HEADERS, END = 1, 5


def requests(canary: int) -> list[bytes]:
    """Heads that name another place, the address where somebody would notice among them."""
    there = f"127.0.0.1:{canary}"
    places = [
        there,
        "169.254.169.254",
        "metadata.google.internal",
        "[::ffff:127.0.0.1]:22",
        "2130706433",
        "0x7f000001",
        "localhost:22",
        "evil.test",
    ]
    heads = []
    for place in places:
        host = place if ":" in place.rpartition("]")[2] else f"{place}:80"
        heads += [
            f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n",
            f"GET http://{place}/latest/meta-data/ HTTP/1.1\r\nHost: {place}\r\n",
            f"GET https://{place}/ HTTP/1.1\r\nHost: x\r\n",
            f"GET / HTTP/1.1\r\nHost: {place}\r\n",
            f"GET //{place}/ HTTP/1.1\r\nHost: x\r\n",
            f'GET /?url=http://{place}/ HTTP/1.1\r\nHost: x\r\nX-Forwarded-Host: {place}\r\nForwarded: host="{place}"\r\nX-Original-URL: http://{place}/\r\n',
            f"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: http://{place}\r\nReferer: http://{place}/\r\n",
            f"POST /@{place} HTTP/1.0\r\nX-Forwarded-For: {place}\r\nX-HTTP-Host-Override: {place}\r\nContent-Length: 0\r\n",
        ]
    heads += [f"GET {path} HTTP/1.1\r\nHost: x\r\n" for path in ("/\\\\evil.test/", "/..//evil.test", "/%2f%2fevil.test", "http:/evil.test", "ftp://evil.test/", f"http://x@{there}/", "/;@evil.test", "file:///etc/passwd")]  # fmt: skip
    heads.append("OPTIONS * HTTP/1.1\r\nHost: evil.test\r\n")
    return [f"{head}\r\n".encode() for head in heads]


def block(*fields: tuple[str, str]) -> bytes:
    """Fields as literals without indexing (RFC 7541 section 6.2.2)."""
    texts = (text.encode() for pair in fields for text in pair)
    coded = [bytes([len(text)]) + text for text in texts]
    return b"".join(b"\0" + name + value for name, value in zip(coded[::2], coded[1::2], strict=True))


def h2_requests(canary: int) -> list[bytes]:
    made = []
    for place in (f"127.0.0.1:{canary}", "169.254.169.254", "evil.test"):
        made += [
            block((":method", "CONNECT"), (":authority", f"{place.partition(':')[0]}:{canary}")),
            block((":method", "GET"), (":scheme", "https"), (":path", "/"), (":authority", place)),
            block(
                (":method", "GET"), (":scheme", "ftp"), (":path", f"//{place}/"), (":authority", place), ("host", place)
            ),
            block(
                (":method", "GET"),
                (":scheme", "http"),
                (":path", "/"),
                (":authority", "x"),
                ("x-forwarded-host", place),
            ),
        ]
    return [PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END, 1, one) for one in made]


class Upstream:
    """Sends each request somewhere else, in all ways that there are; and writes down what came."""

    def __init__(self, canary: int) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self._listening.getsockname()[1]
        self.came: list[bytes] = []
        there = f"http://127.0.0.1:{canary}/"
        self._answer = (
            f"HTTP/1.1 103 Early Hints\r\nLink: <{there}a>; rel=preload\r\n\r\n"
            f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {there}\r\nContent-Location: {there}\r\nRefresh: 0; url={there}\r\n"
            f'Alt-Svc: h2="127.0.0.1:{canary}"\r\nLink: <{there}>; rel=preconnect\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
        ).encode()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # it is closed
            while True:
                threading.Thread(target=self._answered, args=(self._listening.accept()[0],), daemon=True).start()

    def _answered(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(WITHIN)
            came = b""
            while b"\r\n\r\n" not in came and (data := connection.recv(65536)):
                came += data
            if came:
                self.came.append(came)
                connection.sendall(self._answer)

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def canary():
    """A port at which nobody has a reason to call."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def said(port: int, request: bytes, *, h2: bool) -> None:
    with socket.create_connection(("127.0.0.1", port), WITHIN) as connection:
        connection.sendall(request)
        connection.settimeout(WITHIN)
        got = b""
        with contextlib.suppress(ConnectionError):
            while data := connection.recv(65536):
                got += data
                if h2 and any(
                    kind in got
                    for kind in (b"\x01\x05\0\0\0\1", b"\x01\x04\0\0\0\1", b"\x03\0\0\0\0\1", b"\x07\0\0\0\0\0")
                ):
                    return  # a head, a reset, a farewell
                if not h2 and got.endswith(b"\r\n\r\n") and b"Content-Length: 0\r\n" in got:
                    return
                if (
                    not h2
                    and (length := re.search(rb"(?i)content-length: (\d+)\r\n", got))
                    and len(got.rpartition(b"\r\n\r\n")[2]) >= int(length[1])
                ):
                    return


@contextlib.contextmanager
def audited(tmp_path: Path, name: str, *arguments: str, env: dict[str, str], kernel: bool = False):
    """The process, and what it has dialled, by both witnesses."""
    log, trace = tmp_path / f"{name}.log", tmp_path / f"{name}.trace"
    log.touch()
    command = [sys.executable, str(AUDITED), str(log), *arguments]
    strace = shutil.which("strace") if kernel else None
    if strace:
        command = [strace, "-f", "-qq", "-e", "trace=connect", "-e", "signal=none", "-o", str(trace), *command]
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    dialled: set = set()
    try:
        yield process, dialled
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    dialled.update(ast.literal_eval(line) for line in log.read_text().splitlines())
    if strace:
        for line in trace.read_text().splitlines():
            if "AF_UNIX" not in line and (found := re.search(r"sin6?_port=htons\((\d+)\).*?\"([^\"]+)\"", line)):
                dialled.add((found[2], int(found[1])))


def environment(canary: int) -> dict[str, str]:
    """With proxies that somebody has set up."""
    proxy = f"http://127.0.0.1:{canary}"
    return {
        **os.environ,
        **dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"), proxy),
    }


def ready(file: Path) -> dict:
    until = time.monotonic() + WITHIN
    while not file.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    return json.loads(file.read_text())


def places(dialled: set) -> set:
    """Without names that are addresses, which nobody has to look up."""
    return {place for place in dialled if place not in {"127.0.0.1", None}}


def untouched(canary: socket.socket) -> bool:
    try:
        canary.accept()
    except BlockingIOError:
        return True
    return False


def test_only_what_is_configured_is_dialled(tmp_path, canary, shown):
    number = canary.getsockname()[1]
    env = environment(number)
    upstream, told = Upstream(number), {name: tmp_path / f"{name}.json" for name in ("run", "origin")}
    url = f"http://127.0.0.1:{upstream.port}"
    h1, h2 = requests(number), h2_requests(number)
    run = ("run", "-q", "--upstream", url, "--listen", "127.0.0.1:0", "--ready-file", str(told["run"]))
    origin = ("origin", "--listen", "127.0.0.1:0", "--ready-file", str(told["origin"]))
    diagnose = ("diagnose", "--times", "1", "--limit", "5s", url)
    with contextlib.ExitStack() as stack:
        stack.callback(upstream.close)
        diagnosing, by_diagnose = stack.enter_context(audited(tmp_path, "diagnose", *diagnose, env=env))
        running, by_run = stack.enter_context(audited(tmp_path, "run", *run, env=env, kernel=True))
        asking, by_origin = stack.enter_context(audited(tmp_path, "origin", *origin, env=env))
        port = int(ready(told["run"])["url"].rpartition(":")[2])
        for request in h1:
            said(port, request, h2=False)
        for request in h2:
            said(port, request, h2=True)
        asked = int(ready(told["origin"])["url"].rpartition(":")[2])
        for request in h1:
            with socket.create_connection(("127.0.0.1", asked), WITHIN) as connection:
                connection.sendall(request)
                connection.settimeout(WITHIN)
                assert connection.recv(1)
        diagnosing.communicate(timeout=WITHIN)
        assert diagnosing.returncode == 1
        for file, process in ((told["run"], running), (told["origin"], asking)):
            os.kill(ready(file)["pid"], signal.SIGTERM)  # not whoever watches it
            assert process.wait(WITHIN) == 0
    assert len(upstream.came) > len(h1) / 2
    assert untouched(canary)
    there = ("127.0.0.1", upstream.port)
    assert (places(by_run), places(by_diagnose), places(by_origin)) == ({there}, {there}, set())
    shown(
        "files",
        "requests and answers that name another place (CONNECT, absolute form, Host, X-Forwarded-Host, `//`, redirects, Alt-Svc, HTTP_PROXY), over HTTP/1.1 and HTTP/2",
        tried=len(h1) + len(h2),
        must="only the configured upstream is dialled",
        happens="only the upstream; no name is looked up; `diagnose` dials its URLs, `origin` nothing",
        figure="by Python's audit" + (" and the kernel's (strace)" if shutil.which("strace") else ""),
    )
