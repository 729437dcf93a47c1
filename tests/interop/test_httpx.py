"""httpx, the client under most Python SDKs, over HTTP/1.1 and HTTP/2: streams, uploads, and what a broken stream raises."""

import ssl

import httpx
import pytest
import trio

from chaosproxy.testing.peers import Ending, origin
from chaosproxy.wire import tls

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"9\r\ndata: 1\n\n\r\n"
LAST = b"0\r\n\r\n"


def settings(between, protocol: str) -> dict:
    verify = ssl.create_default_context(cafile=between.ca) if between.ca else True
    versions = {"http1": protocol == "h1", "http2": protocol == "h2"}
    return {"base_url": between.url, "verify": verify, "timeout": 30, "trust_env": False, **versions}


def client(between, protocol: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(**settings(between, protocol))


@pytest.fixture(params=["h1", "h1 tls", "h2", "h2 tls"])
def mode(request) -> tuple[str, dict[str, str]]:
    protocol, _, tls = request.param.partition(" ")
    return protocol, {"tls": "auto"} if tls else {}


async def test_a_stream_arrives_piece_by_piece(mode, proxy):
    protocol, options = mode
    go = trio.Event()
    async with origin([HEAD, CHUNK, go, CHUNK, LAST]) as served:
        between = proxy(served.url, **options)
        async with client(between, protocol) as http, http.stream("GET", "/sse") as response:
            pieces = response.aiter_bytes()
            assert await anext(pieces) == b"data: 1\n\n"
            go.set()
            assert await anext(pieces) == b"data: 1\n\n"
            assert [piece async for piece in pieces] == []
            assert response.http_version == ("HTTP/2" if protocol == "h2" else "HTTP/1.1")


async def test_a_stream_that_the_upstream_resets_raises(mode, proxy):
    protocol, options = mode
    async with origin([HEAD, CHUNK, Ending.RST]) as served:
        between = proxy(served.url, **options)
        async with client(between, protocol) as http:
            with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
                await http.get("/sse")


async def test_leaving_early_ends_the_upstream(mode, proxy):
    protocol, options = mode

    def read_one_event() -> None:
        # The blocking client: httpx's asynchronous one leaves generators behind, which Trio warns of.
        with httpx.Client(**settings(between, protocol)) as http, http.stream("GET", "/sse") as response:
            assert next(response.iter_bytes()) == b"data: 1\n\n"

    async with origin([HEAD, CHUNK, Ending.OPEN]) as served:
        between = proxy(served.url, **options)
        await trio.to_thread.run_sync(read_one_event)
        seen = await served.request(1)
        with trio.fail_after(20):
            await seen.gone.wait()
    (record,) = between.journal(1)
    assert record["end"]["by"] == "client"


async def test_twenty_uploads_at_once_do_not_mix(mode, proxy):
    """Of unannounced length, so that each answer waits for the upload's own end."""
    protocol, options = mode

    async def body(number: int):
        for _ in range(10):
            yield bytes([number]) * 10_000

    async with origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]) as served:
        between = proxy(served.url, **options)
        async with client(between, protocol) as http, trio.open_nursery() as nursery:

            async def upload(number: int) -> None:
                assert (await http.post("/up", content=body(number))).text == "ok"

            for number in range(128, 148):
                nursery.start_soon(upload, number)
        got = [{number: seen.body.count(number) for number in range(128, 148)} for seen in served.requests]
    assert len(got) == 20
    assert sorted(max(counts, key=counts.__getitem__) for counts in got) == list(range(128, 148))
    assert all(sorted(counts.values())[-2:] == [0, 100_000] for counts in got)


async def test_an_https_upstream_is_verified(proxy, certificate):
    server, _ = tls.server_context(f"{certificate.certificate}:{certificate.key}", [], None)
    async with origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"], tls=server) as served:
        url = f"https://localhost:{served.port}"
        trusting = proxy(url, {"upstream": {"protocol": "http/1.1"}}, upstream_ca=str(certificate.ca))
        doubting = proxy(url, {"upstream": {"protocol": "http/1.1"}})
        async with client(trusting, "h1") as http:
            assert (await http.get("/")).text == "ok"
        async with client(doubting, "h1") as http:
            response = await http.get("/")
    assert response.status_code == 502
    assert "certificate refused" in response.text
