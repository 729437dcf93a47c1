"""Heads as large as they may be, in as many frames as they may have, between two HTTP/2 peers; and priorities, which nobody
heeds: whatever becomes of one stream, its sibling has its answer."""

import pytest
import trio
from hyperframe.frame import PriorityFrame

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import Fields, H2Peer, h2_client
from chaosproxy.testing.proxied import linked

LIMIT = 65_536
"""Of a list of fields, each counted as RFC 7541 section 4.1 has it."""
ANSWER: Fields = [(b":status", b"200")]


def filled(fields: Fields, size: int) -> Fields:
    """With one more field, so that the list has that size."""
    used = sum(len(name) + len(value) + 32 for name, value in fields)
    return [*fields, (b"x-long", b"a" * (size - used - 32 - len(b"x-long")))]


def question(path: bytes) -> Fields:
    return [(b":method", b"GET"), (b":scheme", b"http"), (b":path", path), (b":authority", b"x")]


async def answer(peer: H2Peer, stream: int) -> None:
    """As long a head as is asked for."""
    _, _, size = dict(peer.streams[stream].heads[0])[b":path"].partition(b"/answer/")
    await peer.headers(stream, filled(ANSWER, int(size)) if size else ANSWER, most=3000)
    await trio.sleep(1)
    await peer.data(stream, b"whole", end=True)


async def prioritised(client: H2Peer, stream: int, depends_on: int) -> None:
    await client._write(PriorityFrame(stream, depends_on=depends_on, stream_weight=255, exclusive=True).serialize())


@pytest.mark.parametrize(("beyond", "status", "frame"), [(0, 200, 1100), (1, 431, 16_384)])
async def test_the_head_of_a_request(autojump_clock, beyond: int, status: int, frame: int):
    heads: list[Fields] = []

    async def serve(peer: H2Peer, stream: int) -> None:
        heads.append(peer.streams[stream].heads[0])
        await answer(peer, stream)

    async with (
        linked(None, lambda link: serve_h2(link, serve), upstream="h2c://origin") as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await prioritised(client, 5, 3)  # which is idle
        await client.headers(1, question(b"/"), end=True)
        await prioritised(client, 1, 5)
        asked = filled(question(b"/long"), LIMIT + beyond)
        await client.headers(3, asked, end=True, most=frame)
        await prioritised(client, 3, 3)  # on itself
        await client.until(lambda: client.streams[1].over and client.streams[3].over)
        assert (client.streams[1].body, client.streams[1].ended) == (b"whole", True)
        assert client.streams[3].status == status
        assert (client.goaways, client.ending) == ([], None)
        await client.headers(5, question(b"/"), end=True)
        await client.until(lambda: client.streams[5].ended)
    assert [field for head in heads for field in head if field[0] == b"x-long"] == ([] if beyond else asked[-1:])


@pytest.mark.parametrize(("size", "status"), [(LIMIT, 200), (LIMIT + 1, 502)])
async def test_the_head_of_an_answer(autojump_clock, size: int, status: int):
    async with (
        linked(None, lambda link: serve_h2(link, answer), upstream="h2c://origin") as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.request(1, "/")
        await client.request(3, f"/answer/{size}")
        await client.until(lambda: client.streams[1].over and client.streams[3].over)
        assert (client.streams[1].body, client.streams[1].ended) == (b"whole", True)
        assert client.streams[3].status == status
        if status == 200:
            assert client.streams[3].heads[0] == filled(ANSWER, size)
        assert client.goaways == []
        records = await proxied.finished(2)
    assert {record.upstream.connection for record in records} == {1}


async def test_a_head_that_a_fault_makes_long_comes_in_many_frames(autojump_clock):
    faults = [{"headers": {"set": {"x-added": "a" * 5000}}}, {"frames": {"block": 200}}]
    async with (
        linked(
            {"version": 1, "faults": faults}, lambda link: serve_h2(link, answer), upstream="h2c://origin"
        ) as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.request(1, "/")
        await client.request(3, "/")
        await client.until(lambda: client.streams[1].ended and client.streams[3].ended)
        assert [dict(client.streams[number].heads[0])[b"x-added"] for number in (1, 3)] == [b"a" * 5000] * 2
        assert [client.streams[number].body for number in (1, 3)] == [b"whole"] * 2
