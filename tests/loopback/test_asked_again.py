"""`retry_upstream` on real sockets, over both versions of HTTP: two servers, and one client that asked once."""

import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

POST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"


async def test_a_silent_server_is_left_and_the_next_one_gets_the_same_upload():
    scenario = {"version": 1, "faults": [{"retry_upstream": {"on": "timeout", "timeout": "300ms"}}]}
    async with (
        origin([Ending.OPEN]) as silent,
        origin([HEAD, b"ok"]) as good,
        proxy_on(scenario, silent.url, good.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(POST)
        await client.read_until(b"\r\n\r\nok")
        record = await proxied.last()
        first, second = await silent.request(1), await good.request(1)
        with trio.fail_after(20):
            await first.gone.wait()
    assert client.received == HEAD + b"ok"
    assert (first.body, second.body, first.left) == (b"body", b"body", Ending.FIN)
    assert (record.upstream.url, record.upstream.retries) == (good.url, 1)
    assert [one.detail for one in record.faults] == ["retry 1: no answer in 300ms"]


async def test_over_http2_a_reset_stream_is_followed_by_another_whose_answer_the_client_gets():
    asked: list[int] = []

    async def answer(peer: H2Peer, stream: int) -> None:
        asked.append(stream)
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        await peer.data(stream, b"data: 1\n\n")
        if len(asked) == 1:
            await peer.reset(stream, 0x2)
        else:
            await peer.data(stream, b"data: 2\n\n", end=True)

    scenario = {"version": 1, "faults": [{"retry_upstream": {"mid_stream": True}}]}
    async with (
        h2_origin(answer) as url,
        proxy_on(scenario, url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1)
        await client.until(lambda: client.streams[1].over)
        record = await proxied.last()
    assert (asked, client.streams[1].reset) == ([1, 3], None)
    assert client.streams[1].body == b"data: 1\n\ndata: 1\n\ndata: 2\n\n"
    assert [one.detail for one in record.faults] == ["retry 1: upstream:stream:INTERNAL_ERROR"]
    assert (record.upstream.connection, record.upstream.stream) == (1, 3)
