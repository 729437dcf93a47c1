"""The classic experiments on real sockets, each by a shipped scenario as it is.

Where it matters when something came, the origin goes on only once the client has seen it, or the client may see it only
after the origin was told to go on: order, lower bounds and ratios, however busy the machine.
"""

import json
import os
import zlib

import pytest
import trio

from chaosproxy.origin.serving import serving
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Pause, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET /sse HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n"
SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
WITHIN = 20.0


@pytest.fixture(autouse=True)
def _no_knobs(monkeypatch):
    for name in [name for name in os.environ if name.startswith("CHAOS_")]:
        monkeypatch.delenv(name)


def chunk(payload: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(payload), payload)


def event(number: int) -> bytes:
    return chunk(b"data: %d\n\n" % number)


def post(path: str) -> bytes:
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "?"}]}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def answer_to(request: bytes, scenario: str, url: str) -> tuple[float, RawClient]:
    """The client, with the whole answer read, and when it asked."""
    async with (
        proxy_on(scenario, url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        began = trio.current_time()
        await client.send(request)
        with trio.move_on_after(WITHIN):
            while not client.received.endswith(LAST) and await client.read():
                pass
        return began, client


def times_of(client: RawClient, mark: bytes) -> list[float]:
    """When each `mark` had come."""
    return [time for time, data in client.pieces for _ in range(data.count(mark))]


def chunks(body: bytes) -> list[bytes]:
    """What is in each chunk of a body, as far as it has come."""
    found = []
    while b"\r\n" in body:
        size, _, body = body.partition(b"\r\n")
        found.append(body[: int(size, 16)])
        body = body[int(size, 16) + 2 :]
    return found


async def test_tokens_come_at_the_server_s_pace_nine_events_each_its_own_chunk():
    with serving() as served:
        began, client = await answer_to(post("/v1/chat/completions"), "tokens", served.url)
    events = times_of(client, b"data: ")
    assert len(events) == 9
    assert min(came - began - 0.02 * number for number, came in enumerate(events)) >= 0.045, "50, 70 ... 210 ms"
    *sent, last = chunks(client.body)
    assert [payload.count(b"data: ") for payload in sent] == [1] * 9
    assert (sent[-1], last) == (b"data: [DONE]\n\n", b"")


async def test_tokens_wait_for_nothing_that_comes_behind_them():
    """The origin says nothing further until the client has seen what it said before."""
    gates = [trio.Event() for _ in range(4)]
    async with (
        origin([SSE, gates[0], event(1), gates[1], event(2), gates[2], event(3), gates[3], LAST]) as served,
        proxy_on("tokens", served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        for gate, mark in zip(gates, (b"\r\n\r\n", b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n"), strict=True):
            await client.read_until(mark, WITHIN)
            gate.set()
        await client.read_until(LAST, WITHIN)


FORTY = [SSE, *(step for number in range(40) for step in (Pause(0.01), event(number))), LAST]


async def test_buffer_4k_moves_the_first_event_to_the_end_and_the_end_nowhere():
    async with origin(FORTY) as served:
        straight_began, straight = await answer_to(GET, "tokens", served.url)
        began, held = await answer_to(GET, "buffer-4k", served.url)
    before, after = times_of(straight, b"data: "), times_of(held, b"data: ")
    assert len(before) == len(after) == 40
    assert len(chunks(straight.body)) == 40 + 1
    assert len(chunks(held.body)) == 1 + 1, "all at once"
    assert after[0] - began >= 0.39
    assert before[0] - straight_began < after[0] - began
    assert after[-1] - began < 10 * (before[-1] - straight_began)


class Decoding:
    """A client that decodes what has come so far."""

    def __init__(self, client: RawClient) -> None:
        self._client = client

    @property
    def events(self) -> int:
        return zlib.decompressobj(zlib.MAX_WBITS + 16).decompress(b"".join(chunks(self._client.body))).count(b"data: ")

    async def until(self, count: int) -> float:
        """Read until so many events can be decoded; when that was."""
        with trio.fail_after(WITHIN):
            while self.events < count:
                assert await self._client.read()
        return trio.current_time()


async def gzipped(scenario: str, visible: list[int]) -> None:
    """Three events: the next one is sent only once as many can be decoded as `visible` says; then the end."""
    gates = [trio.Event() for _ in range(3)]
    script = [SSE, event(1), gates[0], event(2), gates[1], event(3), gates[2], LAST]
    async with (
        origin(script) as served,
        proxy_on(scenario, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        decoding = Decoding(client)
        await client.send(GET)
        await client.read_until(b"ncoding: gzip", WITHIN)
        for gate, count in zip(gates, visible, strict=True):
            await decoding.until(count)
            if count < 3:
                await trio.sleep(0.02)  # what should not be there gets a chance
                with trio.move_on_after(0.02):
                    await client.read()
            assert decoding.events == count
            gate.set()
        await decoding.until(3)
        await client.read_until(LAST, WITHIN)
        assert client.received.endswith(LAST)


async def test_gzip_until_end_can_be_decoded_only_at_the_end():
    await gzipped("gzip-until-end", [0, 0, 0])


async def test_gzip_sync_can_be_decoded_event_by_event():
    await gzipped("gzip-sync", [1, 2, 3])


async def test_gzip_one_behind_is_late_by_one():
    await gzipped("gzip-one-behind", [0, 1, 2])


async def test_h2_reset_takes_one_stream_and_its_siblings_go_on():
    go_on = trio.Event()
    async with (
        origin([SSE, event(1), event(2), event(3), event(4), go_on, event(5), LAST]) as served,
        proxy_on("h2-reset", served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        for number in (1, 3, 5):
            await client.request(number, "/sse")
        await client.until(lambda: client.streams[1].over, WITHIN)
        go_on.set()
        await client.until(lambda: client.streams[3].over and client.streams[5].over, WITHIN)
        seen = [client.streams[number] for number in (1, 3, 5)]
    assert [stream.body.count(b"data: ") for stream in seen] == [3, 5, 5]
    assert [(stream.reset, stream.ended) for stream in seen] == [(0x2, False), (None, True), (None, True)]


@pytest.mark.parametrize(
    ("scenario", "path", "error", "last_word"),
    [
        ("error-openai", "/v1/chat/completions", b'data: {"error"', b"[DONE]"),
        ("error-anthropic", "/v1/messages", b'event: error\ndata: {"type"', b"message_stop"),
        ("error-ollama", "/api/chat", b'{"error"', b'"done":true'),
    ],
)
async def test_an_error_comes_after_event_5_and_then_a_clean_end(scenario, path, error, last_word):
    with serving() as served:
        _, client = await answer_to(post(path), scenario, served.url)
    assert client.head.startswith(b"HTTP/1.1 200 ")
    assert client.received.endswith(LAST)
    before, found, behind = client.body.partition(error)
    records = b"data: " if path.startswith("/v1") else b'"message"'
    assert (found, before.count(records), behind.count(records)) == (error, 5, 0)
    assert last_word not in client.body.replace(b" ", b"")


async def test_stall_comments_go_on_while_nothing_else_does(monkeypatch):
    monkeypatch.setenv("CHAOS_EVERY", "20ms")
    async with (
        origin([SSE, *map(event, range(1, 9)), LAST]) as served,
        proxy_on("stall-comments", served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        with trio.fail_after(WITHIN):
            while client.body.count(b"\r\n:") < 5:
                assert await client.read()
        assert client.body.count(b"data: ") == 3
        assert client.ending is None


async def test_idle_drop_cuts_a_stream_whose_server_never_paused(monkeypatch):
    monkeypatch.setenv("CHAOS_IDLE", "300ms")
    script = [SSE, *(step for number in range(200) for step in (event(number), Pause(0.02))), LAST]
    async with (
        origin(script) as served,
        proxy_on("idle-drop", served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        began = trio.current_time()
        await client.send(GET)
        assert await client.read_all(WITHIN) is Ending.FIN
        assert client.ended_at - began >= 0.29
        assert (client.body, client.head[:12]) == (b"", b"HTTP/1.1 200")
        record = await proxied.last(within=WITHIN)
        assert record.end.cause == "timeout:idle"
        assert record.upstream.end.by == "proxy"


@pytest.mark.parametrize(
    ("scenario", "ending"), [("reset", Ending.RST), ("missing-last-chunk", Ending.FIN)], ids=["rst", "fin"]
)
async def test_the_connection_ends_right_behind_event_3(scenario, ending):
    async with (
        origin([SSE, *map(event, range(1, 9)), Ending.OPEN]) as served,
        proxy_on(scenario, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        assert await client.read_all(WITHIN) is ending
    assert client.body == event(1) + event(2) + event(3)


async def test_missing_done_ends_cleanly_without_the_last_word():
    with serving() as served:
        _, client = await answer_to(post("/v1/chat/completions"), "missing-done", served.url)
    assert client.received.endswith(LAST)
    assert client.body.count(b"data: ") == 8
    assert b"[DONE]" not in client.body
    assert b'"finish_reason":"' in client.body.replace(b" ", b"")


async def test_one_connection_makes_a_short_request_wait_for_the_end_of_a_stream():
    end = trio.Event()
    short = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    async with (
        origin([SSE, event(1), end, LAST], [short]) as served,
        proxy_on("one-connection", served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as streaming,
        await RawClient.connect("127.0.0.1", proxied.port) as waiting,
    ):
        await streaming.send(GET)
        await streaming.read_until(b"data: 1", WITHIN)
        await waiting.send(GET)
        await trio.sleep(0.05)
        assert len(served.requests) == 1, "the second is not even sent"
        ended = trio.current_time()
        end.set()
        await waiting.read_until(b"ok", WITHIN)
        assert waiting.pieces[0][0] >= ended
        assert served.connections == 1
