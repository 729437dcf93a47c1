"""`abort_upstream` on the wire: what the upstream sees, that the client sees nothing, and what the journal says of both."""

import pytest
import trio

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [b"data: %d\n\n" % number for number in range(1, 6)]
OK = [(b":status", b"200"), (b"content-type", b"text/event-stream")]
CANCEL, REFUSED_STREAM, INTERNAL_ERROR = 0x8, 0x7, 0x2


def chunk(event: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(event), event)


def after_three(*then: object) -> dict[str, object]:
    fault: dict[str, object] = {"at": {"event": 3}}
    if then:
        fault["then"] = list(then)
    return {"version": 1, "rules": [{"match": {"path": "/s"}, "faults": [{"abort_upstream": fault}]}]}


async def events(peer, stream: int, count: int = 5) -> None:
    await peer.headers(stream, OK)
    for event in EVENTS[:count]:
        await peer.data(stream, event)


@pytest.mark.parametrize(
    ("then", "seen"),
    [
        ((), Ending.FIN),
        (("fin",), Ending.FIN),
        (("rst",), Ending.RST),
        (({"stream": "CANCEL"},), Ending.FIN),
        (({"stream": "CANCEL"}, "rst"), Ending.RST),
    ],
)
@pytest.mark.parametrize("client_protocol", ["http/1.1", "h2"])
async def test_an_http1_upstream_sees_its_client_end(then, seen, client_protocol):
    async with (
        origin([HEAD, *map(chunk, EVENTS[:3]), Ending.OPEN]) as served,
        proxy_on(after_three(*then), served.url) as proxied,
    ):
        transport = await dial.connect("127.0.0.1", proxied.port, None)
        if client_protocol == "h2":
            async with h2_client(transport) as client:
                await client.request(1, "/s")
                await client.until(lambda: client.streams[1].body == b"".join(EVENTS[:3]))
                asked = await served.request(1)
                with trio.fail_after(10):
                    await asked.gone.wait()
                await client.ping()
                await client.until(lambda: client.pongs)
                assert not client.streams[1].over
                assert not proxied.exchanges
                await client.reset(1)
                record = await proxied.last()
            how = "stream:CANCEL"
        else:
            async with RawClient(transport) as client:
                await client.send(GET)
                await client.read_until(chunk(EVENTS[2]))
                asked = await served.request(1)
                with trio.fail_after(10):
                    await asked.gone.wait()
                assert await client.read_all(within=0.2) is Ending.OPEN
                assert client.received == HEAD + b"".join(map(chunk, EVENTS[:3]))
                assert not proxied.exchanges
            record = await proxied.last()
            how = "fin"
    assert asked.left is seen
    assert (record.upstream.end.by, record.upstream.end.how, record.upstream.end.cause) == (
        "proxy",
        str(seen),
        "abort_upstream",
    )
    assert (record.end.by, record.end.how, record.end.cause) == ("client", how, "abort_upstream")
    assert record.times.client_closed >= record.times.upstream_closed
    assert [(fired.fault, fired.detail) for fired in record.faults] == [
        ("abort_upstream", "ended the upstream after event 3")
    ]


@pytest.mark.parametrize(
    ("then", "code", "name"),
    [((), CANCEL, "CANCEL"), (({"stream": "REFUSED_STREAM"}, "rst"), REFUSED_STREAM, "REFUSED_STREAM")],
)
async def test_on_http2_the_stream_is_reset_and_its_siblings_go_on(then, code, name):
    peers = []

    async def answer(peer, stream: int) -> None:
        peers.append(peer)
        await events(peer, stream)

    async with (
        h2_origin(answer) as url,
        proxy_on(after_three(*then), url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1, "/s")
        await client.request(3, "/other")
        await client.until(lambda: client.streams[3].body == b"".join(EVENTS))
        await client.until(lambda: client.streams[1].body == b"".join(EVENTS[:3]))
        await peers[0].until(lambda: any(seen.reset is not None for seen in peers[0].streams.values()))
        assert sorted(str(seen.reset) for seen in peers[0].streams.values()) == sorted([str(code), "None"])
        assert not client.streams[1].over
        assert not client.streams[3].over
        await client.reset(1)
        record = await proxied.last()
    assert (record.upstream.end.how, record.upstream.end.cause) == (f"stream:{name}", "abort_upstream")
    assert (record.end.by, record.end.how, record.end.cause) == ("client", "stream:CANCEL", "abort_upstream")


@pytest.mark.parametrize("then", ["fin", "rst"])
@pytest.mark.parametrize("answered", [True, False], ids=["in its body", "before its head"])
async def test_on_http2_a_whole_connection_takes_its_siblings_along(then, answered):
    """The upstream says nothing more by then: a client that is gone answers with a reset, whatever it left with."""
    peers = []
    go_on = trio.Event()

    async def answer(peer, stream: int) -> None:
        peers.append(peer)
        if dict(peer.streams[stream].heads[0])[b":path"] == b"/s":
            await go_on.wait()
            await events(peer, stream, 3)
        elif answered:
            await events(peer, stream)

    async with (
        h2_origin(answer) as url,
        proxy_on(after_three(then), url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(3, "/other")
        if answered:
            await client.until(lambda: client.streams[3].body == b"".join(EVENTS))
        await client.request(5, "/s")
        with trio.fail_after(10):
            while len(peers) < 2:
                await trio.sleep(0.01)
        go_on.set()
        await client.until(lambda: client.streams[3].over)
        assert await peers[0].until_ended() is (Ending.RST if then == "rst" else Ending.FIN)
        assert client.streams[3].reset == (INTERNAL_ERROR if answered else None)
        assert client.streams[3].status == (200 if answered else 502)
        assert not client.streams[5].over
        other = await proxied.last()
        await client.request(7, "/other")  # a fresh connection for whoever comes next
        with trio.fail_after(10):
            while len(peers) < 3:
                await trio.sleep(0.01)
        assert peers[2] is not peers[0]
    assert (other.upstream.end.by, other.upstream.end.how, other.upstream.end.cause) == ("proxy", then, "connection")
    how = "stream:INTERNAL_ERROR" if answered else "clean"
    assert (other.end.by, other.end.how, other.end.cause) == ("proxy", how, "connection")


async def test_before_anything_was_dialled_nothing_is():
    scenario = {"version": 1, "faults": [{"abort_upstream": {"at": "request"}}]}
    async with origin([Ending.OPEN]) as served, proxy_on(scenario, served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            assert await client.read_all(within=0.2) is Ending.OPEN
        record = await proxied.last()
        assert served.connections == 0
    assert (record.end.by, record.end.cause, record.upstream.end) == ("client", "abort_upstream", None)


async def test_who_never_leaves_is_journalled_when_the_proxy_ends():
    async with origin([HEAD, *map(chunk, EVENTS[:3]), Ending.OPEN]) as served:
        async with proxy_on(after_three("rst"), served.url) as proxied:
            client = await RawClient.connect("127.0.0.1", proxied.port)
            await client.send(GET)
            await client.read_until(chunk(EVENTS[2]))
            await (await served.request(1)).gone.wait()
        [record] = proxied.exchanges
        client.transport.close()
    assert (record.end.by, record.end.cause) == ("proxy", "shutdown")
    assert (record.upstream.end.how, record.upstream.end.cause) == ("rst", "abort_upstream")
