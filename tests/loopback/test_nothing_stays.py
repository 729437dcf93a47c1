"""After each fault of a session or of a connection, on either side: the next connection is served, and the proxy holds no
socket, task, stream or timer more than before."""

import contextlib
import ssl
from typing import Any

import pytest
import trio

import chaosproxy.faults
from chaosproxy.chain.connection_spec import ConnectionSpec
from chaosproxy.chain.fault import REGISTRY
from chaosproxy.errors import UpstreamFault
from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import Proxied, proxy_on
from chaosproxy.wire import dial
from tests.loopback.test_leaks import settled, sockets, tasks

GET = b"GET /s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
PIECE = b"x" * 1000
LOOK = 0.25
"""Seconds for which a client looks at what becomes of it, if nothing does."""
FAULTS: dict[str, list[Any]] = {
    "accept": [{"delay": "30ms"}, {"refuse": True}, {"max": 1, "per_client": True}],
    "age": [{"max": "30ms", "grace": "30ms"}],
    "bandwidth": ["100KiB/s"],
    "blackhole": [{"at": {"time": "50ms"}, "for": "400ms"}],
    "cut": [{"at": {"bytes": 300}, "then": then} for then in ("fin", "rst", "silence")],
    "garbage": [{"stream": 2, "then": "keep"}, {"stream": 2, "then": "rst"}, {"then": "hang"}],
    "goaway": [{"stream": 2, "then": "keep"}, {"stream": 2, "double": True, "grace": "30ms"}, {"then": "hang"}],
    "keepalive": ["30ms"],
    "latency": ["30ms"],
    "ping": ["forever", {"min_interval": "1h", "strikes": 0}],
    "refuse": [{}],
    "resegment": [{"bytes": 100}],
    "settings": [{"max_concurrent_streams": 0, "delay": "50ms"}, {"acknowledge": "forever"}],
    "stall": [{"for": "100ms"}],
    "tls": ["expired", {"stall": "forever"}, {"alpn": False}],
    "window": ["withhold", {"mode": "trickle", "rate": "1KiB/s"}, "shared"],
}


def sides(name: str) -> list[str]:
    spec = REGISTRY[name]
    return [side for side in ("client", "upstream") if not issubclass(spec, ConnectionSpec) or side in spec.sides]


def test_each_of_them_is_here():
    shipped = [one for one in REGISTRY.values() if one.__module__.startswith(chaosproxy.faults.__name__)]
    assert set(FAULTS) == {one.name for one in shipped if one.on_connections or one.on_sessions}


async def answer(peer: H2Peer, stream: int) -> None:
    await peer.headers(stream, [(b":status", b"200")])
    for number in range(4):
        await peer.data(stream, PIECE, end=number == 3)
        await trio.sleep(0.02)


LOST = (ConnectionError, EOFError, UpstreamFault)


async def over_h2(proxied: Proxied, context: ssl.SSLContext | None) -> None:
    """Three streams, an upload on each, and two PINGs; for a while, or until it is over."""
    try:
        transport = await dial.connect("127.0.0.1", proxied.port, context)
        async with h2_client(transport) as client:
            with contextlib.suppress(*LOST):
                for number in (1, 3, 5):
                    await client.request(number, method="POST", end=False)
                await client.ping()
                await client.ping()
                for number in (1, 3, 5):
                    await client.data(number, PIECE * 10, end=True)
                await client.until(lambda: all(client.streams[number].over for number in (1, 3, 5)))
                await client.until_ended(within=0.05)
    except* LOST:  # its first words may already meet the end
        pass


async def over_h1(proxied: Proxied, context: ssl.SSLContext | None) -> None:
    """One request, of which is seen what becomes."""
    with contextlib.suppress(*LOST):
        async with await RawClient.connect("127.0.0.1", proxied.port, context) as client:
            await client.send(GET)
            await client.read_all()


async def struck_and_served(name: str, value: object, side: str, url: str, certificates) -> None:
    """Two connections meet the fault, the third is well; then the proxy has nothing to do any more."""
    entry = {"match": {"side": side, "number": "1-2"}, "faults": [{name: value}]}
    under_tls = name == "tls"
    trusting = certificates.client() if under_tls else None
    async with proxy_on(
        {"version": 1, "connections": [entry]}, url, server_tls=certificates.server if under_tls else None
    ) as proxied:
        proxy = proxied.proxy
        before = len(proxy._nursery.child_tasks)

        def retire() -> None:
            for upstream in proxy._pool.upstreams:
                upstream.retire()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(over_h2, proxied, trusting)
            nursery.start_soon(over_h1, proxied, trusting)
            with trio.fail_after(20):
                while proxy._client_count < 2:  # or the third would be one of those that meet the fault
                    await trio.sleep(0.01)
            nursery.cancel_scope.deadline = trio.current_time() + LOOK
        retire()  # one that is none any more would be used for the next
        with trio.fail_after(20):
            while proxy._clients or proxy._exchanges or any(one.connections for one in proxy._pool.upstreams):
                await trio.sleep(0.01)
                retire()  # an answer may have been on its way
            while side == "upstream" and proxy._upstream_count < 2:
                with trio.move_on_after(LOOK):
                    await over_h1(proxied, trusting)
                retire()
        async with await RawClient.connect("127.0.0.1", proxied.port, trusting) as client:
            await client.send(GET)
            await client.read_all()
            assert client.received.count(b"x") == 4 * len(PIECE)
        retire()
        with trio.move_on_after(20):
            while len(proxy._nursery.child_tasks) > before or proxy._clients or proxy._exchanges:
                await trio.sleep(0.01)
        assert [task.name for task in proxy._nursery.child_tasks][before:] == []
        assert not proxy._clients
        assert not proxy._exchanges
        assert not any(one.connections or one._dialling.total() for one in proxy._pool.upstreams)
        assert not [who for time, _, who in proxy.alarm._heap if time == who.armed]


@pytest.mark.parametrize("name", FAULTS)
async def test_the_next_is_served_and_nothing_stays(name, certificates):
    async with h2_origin(answer) as url:
        before = sockets(), tasks()
        async with trio.open_nursery() as nursery:
            for value in FAULTS[name]:
                for side in sides(name):
                    nursery.start_soon(struck_and_served, name, value, side, url, certificates)
        await settled(before)
