"""Framing that is unusual, or not true: what is on the wire, and who reads it right."""

import h11
import trio

from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked
from tests.incidents.readers import careful, events, strict
from tests.virtual.shipped import GET, LAST, SSE, chunk, stream, told


def by_h11(received: bytes) -> bytes | None:
    """The body as a strict library reads it, None where it refuses."""
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
    client.send(h11.EndOfMessage())
    client.receive_data(received)
    body = b""
    try:
        while not isinstance(event := client.next_event(), h11.EndOfMessage | type(h11.NEED_DATA)):
            body += bytes(event.data) if isinstance(event, h11.Data) else b""
    except h11.RemoteProtocolError:
        return None
    return body


async def test_a_length_that_never_comes(autojump_clock):
    seen = await told("length-of-another-body", stream(3, 1))
    assert b"\r\ncontent-length: 1048576\r\n" in seen.raw.lower()
    assert (seen.count, seen.pieces[-1][0], seen.ending, seen.ended) == (4, 3, Ending.FIN, 63)
    assert strict(seen).outcome == "broken", "a minute later"
    assert careful(seen).outcome == "whole", "with the last word, sixty seconds before the end"


async def test_a_length_that_cuts(autojump_clock, monkeypatch):
    monkeypatch.setenv("CHAOS_LENGTH", "100")
    async with linked("length-of-another-body", Origin(stream(30, 0)).serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            with trio.move_on_after(100):
                await client.read_all(within=100)
        assert b"\r\ncontent-length: 100\r\n" in client.received.lower()
        assert len(client.body) > 100, "behind the length come the bytes that are too many"
        counted = client.body[:100]
    assert b"[DONE]" not in counted, "who counts has a part, and no last word"
    assert 0 < len(events(counted)) < 30


async def test_chunks_that_are_said_twice(autojump_clock):
    seen = await told("transfer-encoding-twice", stream(3, 0.02))
    assert seen.raw.lower().count(b"transfer-encoding: chunked\r\n") == 2
    assert seen.count == 4
    assert by_h11(seen.raw) is None, "a strict peer refuses"


async def test_chunks_as_the_grammar_allows_them(autojump_clock):
    seen = await told("chunks-as-they-may-be", [SSE, chunk(b"data: 1\n\n"), LAST], within=60)
    assert seen.body == b"00009;a=b\r\ndata: 1\n\n\r\n00000;a=b\r\nx-checksum: 0\r\n\r\n"
    assert by_h11(seen.raw) == b"data: 1\n\n"
    first = seen.body[:4]
    assert int(first, 16) == 0, "who reads four digits sees the last chunk"


async def test_spaces_behind_the_size(autojump_clock):
    seen = await told("chunk-sizes-with-spaces", [SSE, chunk(b"data: 1\n\n"), LAST], within=60)
    assert seen.body.startswith(b"9  \r\ndata: 1\n\n\r\n")
    assert int(seen.body.partition(b"\r\n")[0], 16) == 9, "Python's own int() takes them"


async def test_no_size_at_all(autojump_clock):
    seen = await told("chunk-size-missing", [SSE, *[chunk(b"data: %d\n\n" % number) for number in range(4)], LAST])
    assert b"data: 1\n\n\r\n\r\ndata: 2\n\n" in seen.body
    assert by_h11(seen.raw) is None
    lenient = seen.body.partition(b"\r\n\r\n")[0]
    assert len(events(lenient + b"\n\n")) < 4, "who takes nothing for zero has a truncated answer"
