"""A Starlette application on uvicorn behind the proxy: it learns that its client has left, through every version."""

import sys

import httpx
import pytest

from tests.interop.conftest import until
from tests.ports import free_port

APPLICATION = """
import asyncio
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

left = []

async def events(request):
    async def body():
        number = 0
        try:
            while True:
                yield f"data: {number}\\n\\n"
                number += 1
                await asyncio.sleep(0.02)
        finally:
            left.append(number)
    return StreamingResponse(body(), media_type="text/event-stream")

async def seen(request):
    return JSONResponse(left)

async def echo(request):
    return JSONResponse({"body": (await request.body()).decode(), "path": request.url.path, "host": request.headers["host"]})

app = Starlette(routes=[Route("/events", events), Route("/left", seen), Route("/echo", echo, methods=["POST"])])
"""


@pytest.fixture
def application(spawn, tmp_path):
    (tmp_path / "streaming.py").write_text(APPLICATION)
    port = free_port()
    argv = [sys.executable, "-m", "uvicorn", "--port", str(port), "--app-dir", str(tmp_path), "streaming:app"]
    spawn([*argv, "--log-level", "warning"], port)
    return f"http://127.0.0.1:{port}"


def left(application: str) -> list[int]:
    """How far each stream had come whose end the application has seen."""
    return httpx.get(application + "/left", trust_env=False, timeout=30).json()


@pytest.mark.parametrize("protocol", ["http1", "http2"])
def test_the_application_sees_its_client_leave(protocol, application, proxy):
    between = proxy(application)
    versions = {"http1": protocol == "http1", "http2": protocol == "http2"}
    http = httpx.Client(base_url=between.url, trust_env=False, timeout=30, **versions)
    with http, http.stream("GET", "/events") as response:
        pieces, seen = response.iter_bytes(), b""
        while b"data: 2\n\n" not in seen:
            seen += next(pieces)
        assert seen.startswith(b"data: 0\n\ndata: 1\n\ndata: 2\n\n")
        assert left(application) == []
    # Behind the client's end, not the stream's: over HTTP/2 httpx never says that it has lost interest in a stream.
    until(lambda: len(left(application)) == 1, "it did not see it leave")
    (record,) = between.journal(1)
    assert record["end"]["by"] == "client"
    assert record["upstream"]["end"]["by"] in ("client", "proxy")


def test_a_client_abort_that_is_ignored_leaves_the_application_running(application, proxy):
    between = proxy(application, {"faults": [{"client_abort": "ignore"}]})
    with httpx.stream("GET", between.url + "/events", trust_env=False, timeout=30) as response:
        next(response.iter_bytes())
    with (
        httpx.Client(base_url=between.url, trust_env=False, timeout=30) as http,
        http.stream("GET", "/events") as other,
    ):
        pieces = other.iter_bytes()
        for _ in range(10):  # a fifth of a second in which the first would have been ended
            next(pieces)
        assert left(application) == []


def test_what_it_is_asked_is_what_the_client_said(application, proxy):
    between = proxy(application)
    answer = httpx.post(
        between.url + "/echo?x=y", content="hello", headers={"host": "named.test"}, trust_env=False, timeout=30
    )
    assert answer.json() == {"body": "hello", "path": "/echo", "host": "named.test"}
