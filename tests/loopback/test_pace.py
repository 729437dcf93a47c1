"""`pace` on real sockets: the order, the bytes, and nothing sooner than its turn."""

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [b"data: %d\n\n" % number for number in range(9)]
END = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def rules(**fault: object) -> dict[str, object]:
    return {"version": 1, "faults": [{"pace": {"every": "20ms", **fault}}]}


async def test_a_token_every_20_ms_each_its_own_chunk():
    async with (
        origin([HEAD, chunk(b"".join(EVENTS)), END]) as served,
        proxy_on(rules(events=1), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        began = trio.current_time()
        await client.send(GET)
        await client.read_until(END, within=20)
        assert client.body == b"".join(map(chunk, EVENTS)) + END
        assert trio.current_time() - began >= 8 * 0.02
        deliveries = list((await proxied.last()).deliveries)
        assert [size for _, size in deliveries] == [len(event) for event in EVENTS]
        first = deliveries[0][0]
        assert all(time - first >= 0.02 * number - 0.001 for number, (time, _) in enumerate(deliveries))


async def test_on_http2_a_frame_each():
    async with (
        origin([HEAD, chunk(b"".join(EVENTS)), END]) as served,
        proxy_on(rules(events=1), served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        began = trio.current_time()
        await client.request(1)
        await client.until(lambda: client.streams[1].ended, within=20)
        frames = client.streams[1].frames
        assert [payload for _, payload in frames] == EVENTS
        assert frames[-1][0] - began >= 8 * 0.02


@pytest.mark.parametrize("under_tls", [False, True])
@pytest.mark.parametrize("region", ["head", "chunk_size"])
async def test_heads_and_chunk_sizes_also_under_tls(certificates, region, under_tls):
    server = certificates.server if under_tls else None
    async with (
        origin([HEAD, *map(chunk, EVENTS), END]) as served,
        proxy_on(rules(bytes=8 if region == "head" else 1, region=region), served.url, server_tls=server) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port, certificates.client() if under_tls else None) as client,
    ):
        began = trio.current_time()
        await client.send(GET)
        await client.read_until(END, within=20)
        assert client.received == HEAD + b"".join(map(chunk, EVENTS)) + END
        turns = (len(HEAD) - 1) // 8 if region == "head" else 10 * 3 - 1
        assert trio.current_time() - began >= 0.02 * turns
        assert len(client.pieces) > 3
        await client.send(GET)  # the connection goes on
        with trio.fail_after(20):
            while client.received.count(END) < 2:
                assert await client.read()


async def test_a_request_head_goes_up_slowly_and_its_answer_is_whole():
    async with (
        origin([HEAD, chunk(EVENTS[0]), END]) as served,
        proxy_on(rules(bytes=1, region="head", way="request"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        began = trio.current_time()
        await client.send(GET)
        asked = await served.request(1, within=20)
        assert asked.head == GET
        [peer] = served.peers
        assert peer.pieces[-1][0] - began >= 0.02 * (len(GET) - 1)
        await client.read_until(END, within=20)
        client.transport.fin()
        assert await client.read_all(within=20) is Ending.FIN
