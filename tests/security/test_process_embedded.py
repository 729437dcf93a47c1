"""The proxy inside other programs: forks, threads, loops, test runners. What ends leaves nothing, what fails to start too."""

import asyncio
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
import trio

import chaosproxy
from chaosproxy.embedded.thread import TrioThread
from tests.security.processes import AT_ONCE, GET, STREAM, WITHIN, answers, ended, serving, until_came

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
RST = {"version": 1, "faults": [{"cut": {"at": {"event": 2}, "then": "rst"}}]}
STALL = {"version": 1, "faults": [{"stall": {"at": {"event": 1}, "for": "forever"}}]}
EVENT = b"9\r\ndata: 2\n\n\r\n"


def port_of(proxy):
    return int(proxy.url.rpartition(":")[2])


def connected(proxy):
    return socket.create_connection(("127.0.0.1", port_of(proxy)), timeout=WITHIN)


class Fork:
    """A child that does something, says how that went, and lives on until it is told to go."""

    def __init__(self, does):
        heard, self._say = os.pipe()
        self._told, tell = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                os.write(tell, json.dumps(does()).encode())
                os.read(heard, 1)
            finally:
                os._exit(0)

    def said(self):
        return json.loads(os.read(self._told, 65536))

    def end(self):
        os.write(self._say, b"!")
        os.waitpid(self.pid, 0)


def to_the_end(client):
    while client.recv(65536):
        pass


def refused(does):
    """What it raises."""
    try:
        does()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        return f"{type(error).__name__}: {error}"
    return "nothing"


def test_a_fork_in_the_middle_of_a_stream(shown):
    go_on = threading.Event()

    def serve(connection):
        while connection.recv(65536):
            connection.sendall(STREAM)
            go_on.wait(WITHIN)
            connection.sendall(EVENT)

    with serving(serve) as upstream:
        with chaosproxy.serve(RST, upstream=upstream.url) as proxy:
            uses = {
                "exchanges": lambda: proxy.exchanges,
                "last": lambda: proxy.last,
                "wait": lambda: proxy.wait(timeout=1),
                "settle": lambda: proxy.settle(timeout=1),
                "use": lambda: proxy.use(None),
                "clear": proxy.clear,
                "verdict": proxy.verdict,
                "timeline": proxy.timeline,
            }
            with connected(proxy) as client:
                client.sendall(GET)
                until_came(client, b"data: 1")
                fork = Fork(lambda: {name: refused(use) for name, use in uses.items()} | {"url": proxy.url})
                said = fork.said()
                go_on.set()
                with pytest.raises(ConnectionResetError):
                    to_the_end(client)
            (record,) = proxy.wait(timeout=WITHIN)
        with pytest.raises(ConnectionRefusedError):
            connected(proxy)
        fork.end()
    assert said.pop("url") == proxy.url
    clear = [name for name, error in said.items() if error.startswith("RuntimeError: the proxy runs in process ")]
    assert clear == list(uses)
    shown(
        "process",
        "a fork in the middle of a stream",
        tried=len(uses) + 2,
        must="a reset is one for the client, the port is closed with the proxy; in the child the proxy says where it is",
        happens=f"{record.end.how}, refused; {len(clear)} of {len(uses)} uses raise RuntimeError",
    )


def ask(url, told):
    with urllib.request.urlopen(url, timeout=WITHIN) as answer:
        told.put(answer.status)


def test_children_of_multiprocessing_are_clients():
    context = multiprocessing.get_context("fork")
    count = 3
    with serving(answers) as upstream, chaosproxy.serve(upstream=upstream.url) as proxy:
        told = context.Queue()
        children = [context.Process(target=ask, args=(proxy.url, told)) for _ in range(count)]
        for child in children:
            child.start()
        for child in children:
            child.join(WITHIN)
        statuses = sorted({told.get(timeout=WITHIN) for _ in children})
        assert len(proxy.wait(count, timeout=WITHIN)) == count
        assert statuses == [200]
        told.close()


def test_the_end_waits_for_no_stream(shown):
    with serving(lambda connection: answers(connection, STREAM)) as upstream:
        with chaosproxy.serve(STALL, upstream=upstream.url) as proxy:
            client = connected(proxy)
            client.sendall(GET)
            until_came(client, b"data: 1")
            began = time.monotonic()
        took = time.monotonic() - began
        with client:
            ended(client)
    threads = [thread.name for thread in threading.enumerate() if thread.name.startswith("chaosproxy")]
    assert took < AT_ONCE
    shown(
        "process",
        "the end of a block, with a stalled stream",
        tried=1,
        must="at once, which is within a second; no thread is left",
        happens=f"{proxy.last.end.how} ({proxy.last.end.cause}); {len(threads)} threads left",
        figure=f"{took * 1000:.0f} ms",
    )


def state():
    """Our threads, and the descriptors of this process."""
    folder = Path("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")
    threads = [thread.name for thread in threading.enumerate() if thread.name.startswith(("chaosproxy", "origin"))]
    return threads, sorted(file.name for file in folder.iterdir())


def test_a_start_that_fails_leaves_nothing(shown, monkeypatch, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        failures = {
            "a port that is taken": ({"listen": ["127.0.0.1:0", listen]}, chaosproxy.Error),
            "a journal that cannot be": ({"journal": tmp_path / "none" / "j"}, chaosproxy.Error),
            "the second listener": ({"listen": ["127.0.0.1:0", "a..b:0"], "tls": "auto"}, chaosproxy.Error),
            "an embedded origin, then a port": ({"upstream": None, "listen": listen}, chaosproxy.Error),
        }
        with chaosproxy.serve():
            pass  # what is loaded at the first use is loaded
        before = state()
        for options, error in failures.values():
            with pytest.raises(error), chaosproxy.serve(**{"upstream": "http://127.0.0.1:9"} | options):
                raise AssertionError("it has begun")
            assert state() == before
        interrupt(monkeypatch)
        with pytest.raises(KeyboardInterrupt), chaosproxy.serve(upstream="http://127.0.0.1:9"):
            raise AssertionError("it has begun")
        assert state() == before
    shown(
        "process",
        "a start that fails",
        tried=len(failures) + 1,
        must="its error, and neither a thread nor a descriptor more",
        happens="as before",
    )


def interrupt(monkeypatch):
    """Ctrl-C while it starts."""
    make = TrioThread.__init__

    def made(thread, *arguments):
        make(thread, *arguments)
        wait, times = thread._ready.wait, []

        def once(timeout=None):
            times.append(timeout)
            if len(times) == 1:
                raise KeyboardInterrupt
            return wait(timeout)

        thread._ready.wait = once

    monkeypatch.setattr(TrioThread, "__init__", made)


def test_in_threads_and_loops():
    """One proxy each, all at once."""

    def ask(url):
        with urllib.request.urlopen(url, timeout=WITHIN) as answer:
            return answer.status

    def in_a_thread():
        with chaosproxy.serve(upstream=upstream.url) as proxy:
            return ask(proxy.url)

    async def in_asyncio():
        with chaosproxy.serve(upstream=upstream.url) as proxy:
            return await asyncio.to_thread(ask, proxy.url)

    async def in_trio():
        async with chaosproxy.open_proxy(upstream=upstream.url) as outer:
            with chaosproxy.serve(upstream=outer.url) as inner:
                return await trio.to_thread.run_sync(ask, inner.url)

    with serving(answers) as upstream:
        ways = {
            "in a thread": in_a_thread,
            "in asyncio": lambda: asyncio.run(in_asyncio()),
            "in trio, one in front of another": lambda: trio.run(in_trio),
        }
        statuses: list[int] = []
        threads = [threading.Thread(target=lambda way=way: statuses.append(way())) for way in ways.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WITHIN)
    assert statuses == [200] * len(ways)


SUITE = """
import socket
import pytest

ASKED = b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"

def stalled(proxy):
    client = socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=20)
    client.sendall(ASKED)
    received = b""
    while b"data:" not in received:
        received += client.recv(65536)
    return client

@pytest.fixture
def ends_early():
    raise KeyboardInterrupt
    yield

@pytest.mark.parametrize("number", range(4))
@pytest.mark.chaosproxy(UPSTREAM_STALL)
def test_left_open(chaosproxy, number):
    with stalled(chaosproxy):
        pass

@pytest.mark.chaosproxy(UPSTREAM_STALL)
def test_last(chaosproxy, request):
    client = stalled(chaosproxy)
    request.addfinalizer(client.close)
    if INTERRUPTED:
        request.getfixturevalue("ends_early")
"""


def suite(folder, upstream, *, interrupted):
    """A suite of somebody's, in a pytest of its own, where a warning about anything left open is an error."""
    folder.mkdir()
    text = SUITE.replace("UPSTREAM_STALL", f"{STALL!r}, upstream={upstream.url!r}").replace(
        "INTERRUPTED", str(interrupted)
    )
    (folder / "test_suite.py").write_text(text)
    argv = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    argv += [str(folder)] if interrupted else ["-n", "2", str(folder)]
    argv += ["-p", "chaosproxy.pytest_plugin", "-p", "xdist.plugin"]  # and no other: each is loaded in each process
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=3 * WITHIN, check=False, cwd=folder, env=env)
    said = done.stdout + done.stderr
    for word in ("ResourceWarning", "Exception ignored", "INTERNALERROR"):
        assert word not in said
    return said, done.returncode


def test_a_suite_of_somebody_s(shown, tmp_path):
    with serving(lambda connection: answers(connection, STREAM)) as upstream:
        workers, passed = suite(tmp_path / "workers", upstream, interrupted=False)
        stopped, status = suite(tmp_path / "stopped", upstream, interrupted=True)
    assert ("5 passed" in workers, passed) == (True, 0), workers
    assert ("4 passed" in stopped, status) == (True, 2), stopped
    shown(
        "process",
        "a pytest suite with stalled streams: two workers, or Ctrl-C in a fixture",
        tried=10,
        must="an end; no warning about what is left open",
        happens=f"exit status {passed}, and {status} where it was interrupted; no warning",
    )
