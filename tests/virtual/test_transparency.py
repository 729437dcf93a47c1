"""Without a rule: the same bytes at the same moments, in the same pieces, under the same head; in virtual time, exactly."""

from collections import defaultdict
from dataclasses import dataclass

import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
OK = [(b":status", b"200"), (b"x-one", b"1")]
FRAMINGS = ["chunked", "length", "close"]

names = st.sampled_from([b"X-One", b"x-one", b"ETag", b"Set-Cookie", b"set-cookie", b"VARY", b"X-Empty", b"Date"])
values = st.binary(max_size=12).map(lambda raw: bytes(33 + byte % 94 for byte in raw))
fields = st.lists(st.tuples(names, values), max_size=6)
pauses = st.sampled_from([0.0, 0.0, 0.25, 3.0])
chunk = st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=4)
chunks = st.lists(chunk, max_size=6)


@dataclass
class Message:
    """A message as writes with a pause behind each."""

    writes: list[tuple[bytes, float]]
    body: list[tuple[bytes, float]]
    framing: str

    def arriving(self, parts: list[tuple[bytes, float]]) -> dict[float, bytes]:
        """The bytes of each moment."""
        found: defaultdict[float, bytes] = defaultdict(bytes)
        now = 0.0
        for part, pause in parts:
            found[now] += part
            now += pause
        return {time: part for time, part in found.items() if part}


def by_moment(pieces: list[tuple[float, bytes]]) -> dict[float, bytes]:
    found: defaultdict[float, bytes] = defaultdict(bytes)
    for time, part in pieces:
        found[time] += part
    return dict(found)


@st.composite
def messages(draw, first: bytes, framings: list[str]) -> Message:
    """A whole message behind its first line; a chunk in pieces has its header with the first and its CRLF with the last."""
    framing, body = draw(st.sampled_from(framings)), draw(chunks)
    lines = [b"%s: %s\r\n" % pair for pair in draw(fields)]
    size = sum(len(piece) for pieces in body for piece in pieces)
    framed = {"chunked": [b"transfer-encoding: chunked\r\n"], "length": [b"Content-Length: %d\r\n" % size], "close": []}
    place = draw(st.integers(0, len(lines)))
    head = first + b"".join([*lines[:place], *framed[framing], *lines[place:]]) + b"\r\n"
    writes, plain = [(head, draw(pauses))], []
    plain.append((b"", writes[0][1]))
    for pieces in body:
        for index, piece in enumerate(pieces):
            raw = piece
            if framing == "chunked" and index == 0:
                raw = b"%x\r\n" % sum(map(len, pieces)) + raw
            if framing == "chunked" and index == len(pieces) - 1:
                raw += b"\r\n"
            pause = draw(pauses)
            writes.append((raw, pause))
            plain.append((piece, pause))
    if framing == "chunked":
        writes.append((draw(st.sampled_from([b"0\r\n\r\n", b"0\r\nX-Trailer: t\r\n\r\n"])), 0.0))
    return Message(writes, plain, framing)


async def play(peer: Recorder, message: Message) -> None:
    for data, pause in message.writes:
        await peer.send(data)
        if pause:
            await trio.sleep(pause)


def run(main) -> None:
    trio.run(main, clock=MockClock(autojump_threshold=0))


@settings(max_examples=150)
@given(answer=messages(b"HTTP/1.1 203 So So\r\n", FRAMINGS))
def test_an_h1_answer_is_the_same_bytes_at_the_same_moments(answer):
    async def serve(transport) -> None:
        peer = Recorder(transport)
        await peer.read()
        await play(peer, answer)
        await peer.leave(Ending.FIN)

    async def main() -> None:
        async with linked(None, serve) as proxied, RawClient(proxied.connect()) as client:
            await client.send(GET)
            await client.read_all(within=1000)
            assert by_moment(client.pieces) == answer.arriving(answer.writes)
            assert client.ending is (Ending.FIN if answer.framing == "close" else None)
            record = await proxied.last()
        assert record.end.how == "clean"
        assert [size for _, size in record.arrivals] == [size for _, size in record.deliveries]

    run(main)


@settings(max_examples=100)
@given(request=messages(b"POST /a?b=c HTTP/1.1\r\nHost: x\r\n", ["chunked", "length"]))
def test_an_h1_request_is_the_same_bytes_at_the_same_moments(request):
    whole = b"".join([data for data, _ in request.writes])
    seen: list[Recorder] = []

    async def serve(transport) -> None:
        peer = Recorder(transport)
        seen.append(peer)
        while peer.received != whole:
            await peer.read()
            assert whole.startswith(peer.received)
        await peer.send(b"HTTP/1.1 204 No Content\r\n\r\n")
        await peer.read()

    async def main() -> None:
        async with linked(None, serve) as proxied, RawClient(proxied.connect()) as client:
            await play(client, request)
            await client.read_until(b"\r\n\r\n")
            assert client.head == b"HTTP/1.1 204 No Content"
            assert by_moment(seen[0].pieces) == request.arriving(request.writes)

    run(main)


frames = st.lists(st.tuples(st.binary(min_size=1, max_size=2000), pauses), max_size=8)


@settings(max_examples=100)
@given(body=frames, trailers=st.booleans())
def test_h2_frames_keep_their_boundaries_and_moments(body, trailers):
    async def answer(peer, stream) -> None:
        await peer.headers(stream, OK)
        for payload, pause in body:
            await peer.data(stream, payload)
            if pause:
                await trio.sleep(pause)
        if trailers:
            await peer.headers(stream, [(b"x-trailer", b"t")], end=True)
        else:
            await peer.data(stream, b"", end=True)

    async def main() -> None:
        async with (
            linked(None, lambda transport: serve_h2(transport, answer), upstream="h2c://origin") as proxied,
            h2_client(proxied.connect()) as client,
        ):
            await client.request(1)
            stream = client.streams[1]
            await client.until(lambda: stream.over, within=1000)
            sent, now = [], 0.0
            for payload, pause in body:
                sent.append((now, payload))
                now += pause
            assert stream.frames == sent
            assert stream.heads == [OK, *([[(b"x-trailer", b"t")]] if trailers else [])]
            assert stream.ended

    run(main)


@settings(max_examples=60)
@given(body=frames)
def test_h2_frames_are_h1_chunks(body):
    async def answer(peer, stream) -> None:
        await peer.headers(stream, OK)
        for payload, pause in body:
            await peer.data(stream, payload)
            await trio.sleep(pause)
        await peer.data(stream, b"", end=True)

    async def main() -> None:
        async with (
            linked(None, lambda transport: serve_h2(transport, answer), upstream="h2c://origin") as proxied,
            RawClient(proxied.connect()) as client,
        ):
            await client.send(GET)
            sent = b"".join([b"%x\r\n%s\r\n" % (len(payload), payload) for payload, _ in body]) + b"0\r\n\r\n"
            while len(client.body) < len(sent):  # what looks like a last chunk may stand in one
                assert await client.read()
            assert client.body == sent

    run(main)


@settings(max_examples=60)
@given(answer=messages(b"HTTP/1.1 200 OK\r\n", FRAMINGS))
def test_an_h1_answer_reaches_an_h2_client_at_the_same_moments(answer):
    async def serve(transport) -> None:
        peer = Recorder(transport)
        await peer.read()
        await play(peer, answer)
        await peer.leave(Ending.FIN)

    async def main() -> None:
        async with linked(None, serve) as proxied, h2_client(proxied.connect()) as client:
            await client.request(1)
            stream = client.streams[1]
            await client.until(lambda: stream.over, within=1000)
            assert by_moment(stream.frames) == answer.arriving(answer.body)
            assert stream.ended
            assert all(name == name.lower() for block in stream.heads for name, _ in block)

    run(main)
