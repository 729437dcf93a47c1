"""Faults that change a body, on real sockets: whatever frames it, what comes before the place is there before the rest has
been sent, and all of it is what the scenario says.

The upstream has sent two events and a half before it waits for the client to have two: so none of them can be held.
"""

import pytest
import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import H2Peer
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from tests.loopback.speaking import h2

WITHIN = 20.0
EVENTS = [b'data: {"n":%d}\n\n' % number for number in range(1, 6)]
BODY = b"".join(EVENTS)
EARLY, LATE = BODY[:35], BODY[35:]
"""Cut inside the third event."""
FIRST_TWO = BODY[:30]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def events(*numbers: int) -> bytes:
    return b"".join(EVENTS[number - 1] for number in numbers)


AT = {"at": {"event": 3}}
CASES: dict[str, tuple[dict[str, object], bytes, str]] = {
    "drop": ({"drop": AT}, events(1, 2, 4, 5), "dropped event 3"),
    "duplicate": ({"duplicate": AT}, events(1, 2, 3, 3, 4, 5), "repeated event 3"),
    "inject": (
        {"inject": {"event": "i", **AT}}, events(1, 2, 3) + b"data: i\n\n" + events(4, 5), "put in an event after event 3",
    ),
    "inject, torn": (
        {"inject": {"bytes": {"hex": "f09f"}, "at": {"bytes": 40}}}, BODY[:40] + b"\xf0\x9f" + BODY[40:],
        "put in bytes after byte 40",
    ),
    "line_endings": ({"line_endings": "crlf"}, BODY.replace(b"\n", b"\r\n"), "wrote other line ends"),
    "mutate": (
        {"mutate": {"json": {"n": "\u2028"}, **AT}},
        events(1, 2) + 'data: {"n":"\u2028"}\n\n'.encode() + events(4, 5), "changed event 3",
    ),
    "mutate, at a byte": (
        {"mutate": {"bytes": {"hex": "00ff"}, "at": {"bytes": 40}}}, BODY[:40] + b"\0\xff" + BODY[42:],
        "overwrote 2 bytes after byte 40",
    ),
    "reorder": ({"reorder": AT}, events(1, 2, 4, 3, 5), "moved event 3 behind event 4"),
}  # fmt: skip
"""The fault, what the client has of the body, and what the journal says was done."""


def chunked(payload: bytes, size: int = 7) -> bytes:
    """In chunks that have nothing to do with events."""
    pieces = [payload[begin : begin + size] for begin in range(0, len(payload), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)


FRAMINGS = {
    "chunked": lambda go: [
        OK + b"Transfer-Encoding: chunked\r\n\r\n", chunked(EARLY), go, chunked(LATE), b"0\r\n\r\n",
    ],
    "Content-Length": lambda go: [OK + b"Content-Length: %d\r\n\r\n" % len(BODY), EARLY, go, LATE],
    "until it closes": lambda go: [OK + b"Connection: close\r\n\r\n", EARLY, go, LATE, Ending.FIN],
}  # fmt: skip


def unchunked(body: bytes) -> bytes:
    """The payload of whole chunks, as far as they have come."""
    payload = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size or b"0", 16)
        if not length or len(rest) < length + 2:
            break
        payload, body = payload + rest[:length], rest[length + 2 :]
    return payload


def payload(client: RawClient) -> bytes:
    return unchunked(client.body) if b"chunked" in client.head.lower() else client.body


@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS)
@pytest.mark.parametrize(("fault", "left", "done"), CASES.values(), ids=CASES)
async def test_http1(fault, left, done, framing):
    go = trio.Event()
    async with (
        origin(framing(go)) as served,
        proxy_on({"version": 1, "faults": [fault]}, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        with trio.fail_after(WITHIN):
            while not payload(client).replace(b"\r", b"").startswith(FIRST_TWO):
                assert await client.read()
            go.set()
            while len(payload(client)) < len(left):
                assert await client.read()
        assert payload(client) == left
        record = await proxied.last()
    assert [one.detail for one in record.faults] == [done]
    assert (record.end.how, record.response.events_in) == ("clean", 5)
    assert record.response.bytes_out == len(left)


@pytest.mark.parametrize(("fault", "left", "done"), CASES.values(), ids=CASES)
async def test_http2(fault, left, done):
    go = trio.Event()

    async def answer(peer: H2Peer, stream: int) -> None:
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        await peer.data(stream, EARLY)
        await go.wait()
        await peer.data(stream, LATE, end=True)

    async with (
        h2_origin(answer) as url,
        proxy_on({"version": 1, "faults": [fault]}, url) as proxied,
        h2(proxied) as client,
    ):
        await client.request(1)
        await client.until(lambda: client.streams[1].body.replace(b"\r", b"").startswith(FIRST_TWO))
        go.set()
        await client.until(lambda: client.streams[1].over)
        record = await proxied.last()
    stream = client.streams[1]
    assert (stream.body, stream.ended, stream.reset) == (left, True, None)
    assert [one.detail for one in record.faults] == [done]


OTHER = b"event: error\ndata: gone\n\n"
REPLACED = {"version": 1, "faults": [{"replace_body": {"events": {"event": "error", "data": "gone"}}}]}


@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS)
async def test_another_body_is_there_though_the_upstream_never_ends_its_own(framing):
    async with (
        origin(framing(trio.Event())) as served,
        proxy_on(REPLACED, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        with trio.fail_after(WITHIN):
            while len(payload(client)) < len(OTHER):
                assert await client.read()
            record = await proxied.last()
        asked = await served.request(1)
        with trio.fail_after(WITHIN):
            await asked.gone.wait()
    assert payload(client) == OTHER
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "clean", "replace_body")


async def test_another_body_over_http2():
    async def answer(peer: H2Peer, stream: int) -> None:
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        await peer.until(lambda: peer.streams[stream].reset is not None, WITHIN)

    async with h2_origin(answer) as url, proxy_on(REPLACED, url) as proxied, h2(proxied) as client:
        await client.request(1)
        await client.until(lambda: client.streams[1].over)
        await proxied.last()
    stream = client.streams[1]
    assert (stream.body, stream.ended, stream.reset) == (OTHER, True, None)
