"""`accept`: a connection is taken late, when there is a place, or reset; under TLS too, and towards the upstream."""

import contextlib
import socket

import pytest
import trio

from chaosproxy.errors import ScenarioError, UpstreamFault
from chaosproxy.proxy.planner import Planner
from chaosproxy.scenario.load import load
from chaosproxy.scenario.schema import TRANSPARENT
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial
from chaosproxy.wire.plain import Plain

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def connections(side: str = "client", **accept: object) -> dict[str, object]:
    return {"version": 1, "connections": [{"match": {"side": side}, "faults": [{"accept": accept}]}]}


async def asked(client: RawClient) -> None:
    await client.send(GET)
    await client.read_until(b"ok")


@pytest.mark.parametrize("under_tls", [False, True])
async def test_it_is_taken_late_and_nothing_is_lost(certificates, under_tls):
    tls = (certificates.server, certificates.client()) if under_tls else (None, None)
    async with (
        origin([ANSWER]) as served,
        proxy_on(connections(delay="300ms"), served.url, server_tls=tls[0]) as proxied,
    ):
        began = trio.current_time()
        async with await RawClient.connect("127.0.0.1", proxied.port, tls[1]) as client:
            await asked(client)
            assert trio.current_time() - began >= 0.3
        record = await proxied.last()
    assert [(one.fault, one.detail) for one in record.faults] == [("accept", "taken after 300ms")]
    assert (record.end.how, record.end.by) == ("clean", "upstream")


async def test_over_http_2_it_is_the_whole_connection(certificates):
    async with (
        origin([ANSWER, ANSWER]) as served,
        proxy_on(connections(delay="200ms"), served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1)
        await client.request(3)
        await client.until(lambda: client.streams[1].ended and client.streams[3].ended)


async def test_what_is_above_the_limit_waits_for_a_place_and_gets_it_in_turn():
    async with (
        origin(*[[ANSWER]] * 4) as served,
        proxy_on(connections(max=2), served.url) as proxied,
        contextlib.AsyncExitStack() as clients,
    ):
        first, second, third, fourth = [
            await clients.enter_async_context(await RawClient.connect("127.0.0.1", proxied.port)) for _ in range(4)
        ]
        await asked(first)
        await asked(second)
        await third.send(GET)
        assert await third.read_all(within=0.2) is Ending.OPEN
        assert third.received == b""
        await fourth.send(GET)
        second.transport.close()
        await third.read_until(b"ok")
        assert fourth.received == b""
        first.transport.rst()
        await fourth.read_until(b"ok")
        details = [one.detail for record in await proxied.finished(4) for one in record.faults]
    assert len(details) == 2
    assert all(detail.startswith("taken after 0s, and ") for detail in details)


@pytest.mark.parametrize("accept", [{"refuse": True}, {"max": 1, "queue": 0}], ids=["refused", "above the limit"])
async def test_a_connection_is_reset_before_it_has_been_heard(accept):
    async with origin([ANSWER]) as served, proxy_on(connections(**accept), served.url) as proxied:
        async with contextlib.AsyncExitStack() as clients:
            if "max" in accept:
                await asked(await clients.enter_async_context(await RawClient.connect("127.0.0.1", proxied.port)))
            async with await RawClient.connect("127.0.0.1", proxied.port) as client:
                assert await client.read_all() is Ending.RST
                assert client.received == b""
        assert len(proxied.exchanges) == ("max" in accept)


async def test_in_front_of_a_handshake(certificates):
    scenario = connections(refuse=True)
    async with proxy_on(scenario, "http://127.0.0.1:1", server_tls=certificates.server) as proxied:
        with pytest.raises(UpstreamFault, match="reset"):
            await dial.connect("127.0.0.1", proxied.port, certificates.client())


async def test_an_upstream_that_refuses_is_unreachable():
    async with origin([ANSWER]) as served, proxy_on(connections("upstream", refuse=True), served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            await client.read_until(b"502 ")
        record = await proxied.last()
    assert (record.response.status, record.end.cause) == (502, "upstream:unreachable")


async def test_an_upstream_that_is_slow_to_accept():
    async with origin([ANSWER]) as served, proxy_on(connections("upstream", delay="200ms"), served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            began = trio.current_time()
            await asked(client)
            assert trio.current_time() - began >= 0.2
        record = await proxied.last()
    assert [one.fault for one in record.faults] == ["accept"]


async def test_a_client_that_leaves_while_it_waits_gives_its_place_to_the_next():
    async with (
        origin(*[[ANSWER]] * 2) as served,
        proxy_on(connections(max=1), served.url) as proxied,
        contextlib.AsyncExitStack() as clients,
    ):
        first, left, last = [
            await clients.enter_async_context(await RawClient.connect("127.0.0.1", proxied.port)) for _ in range(3)
        ]
        await asked(first)
        left.transport.close()
        await last.send(GET)
        first.transport.close()
        await last.read_until(b"ok")


async def from_address(address: str, port: int) -> RawClient:
    """A client at another address of this machine."""
    sock = socket.socket()
    try:
        sock.bind((address, 0))
    except OSError:
        sock.close()
        pytest.skip(f"{address} is not this machine's: ifconfig lo0 alias {address}")
    sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        sock.connect(("127.0.0.1", port))
    await trio.lowlevel.wait_writable(sock)
    return RawClient(Plain(sock))


async def test_each_client_has_places_of_its_own():
    async with (
        origin(*[[ANSWER]] * 4) as served,
        proxy_on(connections(max=1, queue=1, per_client=True), served.url) as proxied,
        contextlib.AsyncExitStack() as clients,
    ):

        async def come(address: str) -> RawClient:
            return await clients.enter_async_context(await from_address(address, proxied.port))

        first, waiting, refused = [await come("127.0.0.1") for _ in range(3)]
        other = await come("127.0.0.2")
        await asked(first)
        await asked(other)
        assert await refused.read_all() is Ending.RST
        await waiting.send(GET)
        other.transport.close()
        await asked(await come("127.0.0.2"))
        assert waiting.received == b"", "the place of another is none for it"
        first.transport.close()
        await waiting.read_until(b"ok")


async def test_a_reload_opens_what_was_full():
    async with (
        origin(*[[ANSWER]] * 2) as served,
        proxy_on(connections(max=1, backlog=5), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as first,
        await RawClient.connect("127.0.0.1", proxied.port) as second,
    ):
        await asked(first)
        await second.send(GET)
        assert await second.read_all(within=0.1) is Ending.OPEN
        proxied.proxy.reload(Planner(TRANSPARENT, 1, 1.0))
        await second.read_until(b"ok")


async def test_it_is_said_that_nothing_was_asked(caplog):
    async with (
        proxy_on(connections(refuse=True), "http://127.0.0.1:1") as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        assert await client.read_all() is Ending.RST
    assert caplog.messages == ["client connection 1: nothing was asked; accept: rst refused"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("accept: {refuse: true, delay: 1s}", "not taken late"),
        ("accept: {queue: 1}", "no `max`"),
        ("accept: {max: 0}", "1 or more"),
        ("accept: {backlog: 1}", "no `max`"),
        ("accept: {max: 1, backlog: 1, queue: 1}", "to the kernel"),
        ("accept: {max: 1, backlog: 1, per_client: true}", "to the kernel"),
        ("accept: {max: 1, backlog: 1}", "match: {side: client}"),
        ("accept: {delay: 1s, after: 1s}", "goes with `refuse: true`"),
        ("accept: {max: 1, for: 1s}", "goes with `refuse: true`"),
        ("accept: {delay: 1s, if: {status: 200}}", "`match`"),
        ("accept: {at: {time: 1s}}", "at"),
    ],
)
def test_what_cannot_be_said(text, words):
    with pytest.raises(ScenarioError, match=words) as error:
        load(f"version: 1\nconnections:\n  - faults:\n      - {text}\n")
    assert error.value.problems[0].line == 4


def test_it_stands_in_no_hop():
    with pytest.raises(ScenarioError, match="it stands under `connections:`"):
        load("version: 1\nfaults:\n  - accept: 1s\n")
