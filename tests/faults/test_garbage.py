"""`garbage`: what is on the wire, and what comes behind it."""

import pytest
import trio
from hpack import Encoder
from hyperframe.frame import HeadersFrame

from chaosproxy.testing.h2_peers import PREFACE
from chaosproxy.testing.peers import Ending, Origin
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder
from tests.faults.sessions import LONG, on_session
from tests.virtual.shipped import stream

BANNER = b"SSH-2.0-OpenSSH_9.6\r\n"
HEAD = [(b":method", b"GET"), (b":scheme", b"http"), (b":path", b"/sse"), (b":authority", b"x")]
SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
GET = HeadersFrame(1, Encoder().encode(HEAD), flags=["END_HEADERS", "END_STREAM"]).serialize()


async def received(fault: dict[str, object], within: float = 30.0, request: bytes = b"") -> tuple[bytes, Ending]:
    """Everything that a client reads who says what it has to and then waits; and how it ended."""
    served = Origin(stream(3, 1))
    async with linked(on_session(fault), served.serve) as proxied:
        peer = Recorder(proxied.connect())
        await peer.send(PREFACE + SETTINGS + request)
        data = b""
        with trio.move_on_after(within):
            while piece := await peer.read():
                data += piece
        return data, peer.ending or Ending.OPEN


@pytest.mark.parametrize(("then", "ending"), [("hang", Ending.OPEN), ("fin", Ending.FIN), ("rst", Ending.RST)])
async def test_in_place_of_the_settings(autojump_clock, then, ending):
    assert await received({"garbage": {"then": then}}) == (BANNER, ending)


async def test_in_front_of_the_settings(autojump_clock):
    data, ending = await received({"garbage": {"bytes": {"hex": "ff fe 00"}}})
    assert data.startswith(b"\xff\xfe\x00\x00\x00")
    assert data[6:7] == b"\x04", "a SETTINGS frame"
    assert ending is Ending.OPEN


async def test_between_two_frames(autojump_clock):
    data, _ = await received({"garbage": {"bytes": "garbage!", "at": {"time": "1500ms"}}}, request=GET)
    before, _, behind = data.partition(b"garbage!")
    assert (before.count(b"data: "), behind.count(b"data: ")) == (2, 2)


async def test_random_bytes_are_the_same_for_the_same_seed(autojump_clock):
    fault = {"garbage": {"size": 300, "then": "fin"}}
    first, again = await received(fault), await received(fault)
    assert len(first[0]) == 300
    assert first == again


async def test_the_upstream_too(autojump_clock):
    read = []

    async def upstream(transport):
        peer = Recorder(transport)
        while data := await peer.read():
            read.append(data)

    scenario = on_session({"garbage": {"bytes": "garbage!", "then": "hang"}}, side="upstream")
    async with linked(scenario, upstream, upstream="h2c://origin") as proxied:
        peer = Recorder(proxied.connect())
        await peer.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await trio.sleep(LONG)
        assert b"".join(read) == b"garbage!"


def test_what_makes_no_sense_is_refused(refused, refused_below):
    refused("garbage: x", 5, "stands under `connections:`")
    refused_below("garbage: {bytes: {hex: zz}}", "two digits")
    refused_below("garbage: {size: 2m}", "1 to 1MiB")
    refused_below("garbage: {size: 7, bytes: x}", "leave one out")
    refused_below("garbage: {at: {bytes: 7}}", "a time since it began")
