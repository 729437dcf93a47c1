"""A browser reads coded streams: event by event under `sync`, at the end under `end`.

It is asked by nothing but the page that it opens, and tells by requests of its own.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.interop.conftest import WITHIN, find, until
from tests.ports import free_port

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --no-proxy-server"
)
FLUSHES = ("sync", "end")
BROWSED = ("gzip", "br", "zstd")


@pytest.fixture
def application(spawn) -> str:
    port = free_port()
    folder = str(Path(__file__).with_name("browser"))
    argv = [sys.executable, "-m", "uvicorn", "--port", str(port), "--app-dir", folder, "application:app"]
    spawn([*argv, "--log-level", "warning"], port)
    return f"http://127.0.0.1:{port}"


@pytest.fixture
def browse(tmp_path) -> Iterator:
    """Open a page in a browser of its own, closed after the test with all its processes."""
    program = find("chromium")
    running: list[subprocess.Popen] = []

    def start(url: str) -> None:
        log = (tmp_path / "browser.log").open("wb")
        with log:
            argv = [program, *FLAGS.split(), f"--user-data-dir={tmp_path}/profile", url]
            options = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "start_new_session": True}
            running.append(subprocess.Popen(argv, **options))

    yield start
    for process in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # a session of its own, begun above
        process.wait(WITHIN)


@pytest.mark.timeout(120)
def test_a_browser_reads_each_event_as_it_comes_or_all_at_the_end(application, browse, proxy):
    """Each event is sent only when the page has said that it has read the one before; under `end` nothing is read
    before everything was sent."""
    rules = [
        {"match": {"path": f"/sse/{coding}/{flush}"}, "faults": [{"compress": {"coding": coding, "flush": flush}}]}
        for coding in BROWSED
        for flush in FLUSHES
    ]
    between = proxy(application, {"rules": rules})
    paths = [f"/sse/{coding}/{flush}" for coding in BROWSED for flush in FLUSHES]
    browse(f"http://localhost:{between.port}/page?paths={quote(json.dumps(paths))}")

    def told() -> dict[str, list[str]]:
        return httpx.get(application + "/log", trust_env=False, timeout=WITHIN).json()

    until(lambda: "" in told(), "the page did not come to its end", within=90)
    seen = told()
    for coding in BROWSED:
        assert seen[f"/sse/{coding}/sync"] == ["1", "2", "3", "sent", "done"], coding
        assert seen[f"/sse/{coding}/end"] == ["sent", "3", "done"], coding
    told_of = sum(map(len, seen.values())) - len(paths)  # each word of the page is a request, `sent` is not
    records = {one["request"]["path"]: one for one in between.journal(1 + len(paths) + told_of)}
    coded = {path: dict(records[path]["response"]["headers"]).get("Content-Encoding") for path in paths}
    assert coded == {path: path.split("/")[2] for path in paths}
