"""Coded streams through the proxy, decoded by curl and httpx: event by event under `sync`, at the end under `end`."""

import contextlib
import subprocess

import httpx
import pytest
import trio

from chaosproxy.testing.peers import Pause, origin
from tests.interop.conftest import WITHIN, find, missing

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [b"data: %d\n\n" % number for number in range(3)]
TEXT = b"".join(EVENTS)
LAST = b"0\r\n\r\n"
APART = 0.1


def compress(**parameters: object) -> dict:
    return {"faults": [{"compress": parameters}]}


def chunk(event: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(event), event)


def gated() -> tuple[list, list[trio.Event]]:
    """A script that sends each event only when the gate behind the one before is open."""
    gates = [trio.Event() for _ in EVENTS]
    steps = [step for event, gate in zip(EVENTS, gates, strict=True) for step in (chunk(event), gate)]
    return [HEAD, *steps, LAST], gates


PACED = [HEAD, *(step for event in EVENTS for step in (chunk(event), Pause(APART))), LAST]
SPENT = APART * len(EVENTS)
"""Seconds that a paced script takes, at least."""


# ---- curl


@pytest.fixture(scope="module")
def curl() -> str:
    return find("curl")


@pytest.fixture(params=["gzip", "deflate", "br", "zstd"])
def coding_of_curl(request, curl) -> str:
    features = subprocess.run([curl, "-V"], capture_output=True, text=True, check=True).stdout
    feature = {"br": "brotli", "zstd": "zstd"}.get(request.param, "libz")
    if feature not in features:
        missing(f"this curl has no {feature}")
    return request.param


@contextlib.asynccontextmanager
async def curling(curl: str, url: str, *options: str):
    argv = [curl, "-sSN", "--compressed", "--max-time", "30", *options, url + "/sse"]
    process = await trio.lowlevel.open_process(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        for stream in (process.stdout, process.stderr):
            await stream.aclose()


async def shows_each_before_the_next(curl: str, url: str, gates: list[trio.Event], *options: str) -> None:
    async with curling(curl, url, *options) as process:
        shown = b""
        for number, gate in enumerate(gates, 1):
            with trio.fail_after(WITHIN):
                while shown != b"".join(EVENTS[:number]):
                    piece = await process.stdout.receive_some()
                    assert piece, (shown, await process.stderr.receive_some())
                    shown += piece
            gate.set()
        assert await process.wait() == 0


async def shows_nothing_before_the_end(curl: str, url: str) -> None:
    began = trio.current_time()
    async with curling(curl, url) as process:
        with trio.fail_after(WITHIN):
            shown = await process.stdout.receive_some()
            assert trio.current_time() - began >= SPENT
            while piece := await process.stdout.receive_some():
                shown += piece
            assert (shown, await process.wait()) == (TEXT, 0)


@pytest.mark.parametrize("option", ["--http1.1", "--http2-prior-knowledge"])
async def test_curl_shows_each_event_before_the_next_is_sent(option, coding_of_curl, curl, proxy):
    script, gates = gated()
    async with origin(script) as served:
        between = proxy(served.url, compress(coding=coding_of_curl, flush="sync"))
        await shows_each_before_the_next(curl, between.url, gates, option)
    (record,) = between.journal(1)
    assert record["faults"][0]["detail"] == f"{coding_of_curl}, flush sync"


async def test_curl_shows_nothing_before_the_end(coding_of_curl, curl, proxy):
    async with origin(PACED) as served:
        between = proxy(served.url, compress(coding=coding_of_curl))
        await shows_nothing_before_the_end(curl, between.url)
    (record,) = between.journal(1)
    assert len(record["deliveries"]) == 1


GZIP = "gzip on; gzip_proxied any; gzip_types text/event-stream; proxy_http_version 1.1;"


async def test_so_does_nginx_with_and_without_its_buffering(nginx, curl):
    """What is imitated: without buffering nginx flushes its encoder after each read (`sync`), else never (`end`)."""
    script, gates = gated()
    async with origin(script) as served:
        port = nginx(f"{GZIP} location / {{ proxy_pass {served.url}; proxy_buffering off; }}")
        await shows_each_before_the_next(curl, f"http://127.0.0.1:{port}", gates)
    async with origin(PACED) as served:
        port = nginx(f"{GZIP} location / {{ proxy_pass {served.url}; }}")
        await shows_nothing_before_the_end(curl, f"http://127.0.0.1:{port}")


# ---- httpx


@pytest.fixture(params=["gzip", "deflate", "br"])
def coding_of_httpx(request) -> str:
    return request.param


def asking(between, coding: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=between.url, trust_env=False, timeout=WITHIN, headers={"accept-encoding": coding})


async def test_httpx_gives_each_event_before_the_next_is_sent(coding_of_httpx, proxy):
    script, gates = gated()
    async with origin(script) as served:
        between = proxy(served.url, compress(coding=coding_of_httpx, flush="sync"))
        async with asking(between, coding_of_httpx) as http, http.stream("GET", "/sse") as response:
            assert response.headers["content-encoding"] == coding_of_httpx
            pieces = response.aiter_bytes()
            for event, gate in zip(EVENTS, gates, strict=True):
                assert await anext(pieces) == event
                gate.set()
            assert [piece async for piece in pieces if piece] == []


async def test_httpx_gives_everything_at_the_end(coding_of_httpx, proxy):
    async with origin(PACED) as served:
        between = proxy(served.url, compress(coding=coding_of_httpx))
        began = trio.current_time()
        async with asking(between, coding_of_httpx) as http, http.stream("GET", "/sse") as response:
            pieces = [(trio.current_time() - began, piece) async for piece in response.aiter_bytes() if piece]
    assert pieces[0][0] >= SPENT
    assert b"".join(piece for _, piece in pieces) == TEXT
    (record,) = between.journal(1)
    assert record["times"]["head_sent"] <= record["arrivals"][0][0], "the head waits for nothing"
    assert record["deliveries"][0][0] >= SPENT


@pytest.mark.parametrize(("parameters", "whole"), [({"footer": False}, True), ({"cut": 12}, False)])
async def test_a_coded_body_cut_short_in_whole_framing_is_no_error(parameters, whole, curl, proxy):
    """The framing is whole, and neither looks whether the coding is: the text is shorter, and that is all."""
    async with origin([HEAD, *map(chunk, EVENTS), LAST]) as served:
        between = proxy(served.url, compress(**parameters))
        async with asking(between, "gzip") as http:
            got = (await http.get("/sse")).content
        async with curling(curl, between.url) as process:
            with trio.fail_after(WITHIN):
                shown = b""
                while piece := await process.stdout.receive_some():
                    shown += piece
                await process.wait()
    for text in (got, shown):
        assert TEXT.startswith(text)
        assert (text == TEXT) is whole
    assert [record["end"]["how"] for record in between.journal(2)] == ["clean", "clean"]
