"""`open_proxy`: in the caller's Trio run, on Trio's clock, virtual or not."""

import inspect
from dataclasses import fields

import pytest
import trio
from trio.testing import MockClock

import chaosproxy
from chaosproxy import ScenarioError
from chaosproxy.embedded.setup import Options
from chaosproxy.testing.peers import Ending, Pause, RawClient, origin

GET = b"GET /s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b"9\r\ndata: a\n\n\r\n"
LAST = b"0\r\n\r\n"
CUT = {"version": 1, "name": "first", "faults": [{"cut": {"at": {"event": 1}}}]}


async def ask(proxy):
    async with await RawClient.connect("127.0.0.1", int(proxy.url.rpartition(":")[2])) as client:
        await client.send(GET)
        await client.read_all(20)
        return client


async def test_the_exchanges_of_a_block():
    async with (
        origin([HEAD, EVENT, EVENT, LAST, Ending.FIN]) as served,
        chaosproxy.open_proxy(CUT, upstream=served.url, seed=3) as proxy,
    ):
        with pytest.raises(LookupError, match="wait"):
            _ = proxy.last
        client = await ask(proxy)
        (record,) = await proxy.wait(exchanges=1, timeout=20)
        assert client.received.count(b"data: a") == 1
        assert (record.end.cause, record.seed, proxy.last) == ("cut", 3, record)
        with pytest.raises(ScenarioError, match="nonsense"):
            proxy.use({"version": 1, "faults": ["nonsense"]})
        proxy.use(None)
        client = await ask(proxy)
        assert client.received.count(b"data: a") == 2
        await proxy.wait(exchanges=2, timeout=20)
        assert [one.scenario for one in proxy.exchanges] == ["first", "transparent"]
        proxy.clear()
        assert proxy.exchanges == []


async def test_the_latest_exchanges_are_kept():
    async with (
        origin([HEAD, EVENT, LAST, Ending.FIN]) as served,
        chaosproxy.open_proxy(upstream=served.url, journal_limit=1) as proxy,
    ):
        for _ in range(3):
            await ask(proxy)
        assert [record.id for record in await proxy.wait(exchanges=3, timeout=20)] == [3]
        assert proxy.dropped == 2


def test_a_wrong_scenario_is_said_before_anything_is_awaited():
    with pytest.raises(ScenarioError, match="no-such"):
        chaosproxy.open_proxy("no-such", upstream="http://127.0.0.1:1")


async def test_wait_tells_the_running_exchange():
    async with (
        origin([HEAD, EVENT, Ending.OPEN]) as served,
        chaosproxy.open_proxy(upstream=served.url) as proxy,
        await RawClient.connect("127.0.0.1", int(proxy.url.rpartition(":")[2])) as client,
    ):
        await client.send(GET)
        await client.read_until(b"data: a", 20)
        with pytest.raises(TimeoutError, match="0 of 1 exchange") as caught:
            await proxy.wait(timeout=0.01)
        assert "#1 GET /s 200" in str(caught.value)
        assert "running" in str(caught.value)


async def test_what_the_block_raises_comes_out_alone():
    with pytest.raises(ZeroDivisionError):
        async with chaosproxy.open_proxy(upstream="http://127.0.0.1:1"):
            _ = 1 / 0


async def test_a_block_that_is_cancelled_ends():
    with trio.move_on_after(0.01) as scope:
        async with chaosproxy.open_proxy(upstream="http://127.0.0.1:1"):
            await trio.sleep_forever()
    assert scope.cancelled_caught


async def test_a_journal_that_cannot_be_written_is_an_error(tmp_path):
    asked = chaosproxy.open_proxy(upstream="http://127.0.0.1:1", journal=tmp_path / "no" / "file")
    with pytest.raises(chaosproxy.Error, match="journal"):
        async with asked:
            pytest.fail("the block must not begin")


def test_sockets_in_virtual_time():
    """Client, proxy and upstream in one run: an hour passes at once, and the journal has it in virtual seconds."""

    async def main():
        idle = {"version": 1, "faults": [{"timeout": {"idle": "1h"}}]}
        async with (
            origin([HEAD, EVENT, Pause(1800), EVENT, Pause(7200), LAST]) as served,
            chaosproxy.open_proxy(idle, upstream=served.url) as proxy,
        ):
            client = await ask_long(proxy)
            await proxy.wait(timeout=1e6)
            return client, proxy.last

    async def ask_long(proxy):
        async with await RawClient.connect("127.0.0.1", int(proxy.url.rpartition(":")[2])) as client:
            await client.send(GET)
            await client.read_all(1e6)
            return client

    client, record = trio.run(main, clock=MockClock(autojump_threshold=0.05))
    assert client.received.count(b"data: a") == 2
    assert record.end.cause == "timeout:idle"
    assert [seconds for seconds, _ in record.deliveries] == pytest.approx([0, 1800], abs=1)
    assert record.times.end == pytest.approx(5400, abs=1)


async def test_without_an_upstream_there_is_an_origin():
    async with chaosproxy.open_proxy(speed=100) as proxy:
        client = await ask(proxy)
        assert client.head.startswith(b"HTTP/1.1 404 ")
        await proxy.wait(timeout=20)
        assert proxy.origin.stats()["running"] == 0
        assert proxy.last.upstream.url == proxy.origin.url


def test_it_takes_what_serve_takes():
    """The signature stands twice, in full, because it is what people read; it is the same one, and an upstream may be a
    function here."""
    here, there = (inspect.signature(function).parameters for function in (chaosproxy.open_proxy, chaosproxy.serve))
    assert [(one.name, one.default, one.kind) for one in here.values()] == [
        (one.name, one.default, one.kind) for one in there.values()
    ]
    assert {name for name in here if here[name].annotation != there[name].annotation} == {"upstream"}
    assert [*here] == ["scenario", *(field.name for field in fields(Options))]


async def sends_and_waits(stream):
    """An upstream: an event, another one half an hour later, then nothing."""
    await stream.receive_some()
    await stream.send_all(HEAD + EVENT)
    await trio.sleep(1800)
    await stream.send_all(EVENT)
    await trio.sleep(7200)
    await stream.send_all(LAST)


def test_links_in_virtual_time():
    """No byte is under way where the clock cannot see it, so that it jumps at once, and to the very moment."""
    idle = {"version": 1, "faults": [{"timeout": {"idle": "1h"}}]}

    async def main():
        async with chaosproxy.open_proxy(idle, upstream=sends_and_waits) as proxy, proxy.connect() as client:
            await client.send_all(GET)
            received = b"".join([part async for part in client])
            await proxy.wait(timeout=1e6)
            return received, proxy.last

    for _ in range(2):
        received, record = trio.run(main, clock=MockClock(autojump_threshold=0))
        assert received.count(b"data: a") == 2
        assert record.end.cause == "timeout:idle"
        assert [seconds for seconds, _ in record.deliveries] == pytest.approx([0, 1800], abs=1e-6)
        assert record.times.end == pytest.approx(5400, abs=1e-6)


async def read_to_the_end(client):
    while await client.receive_some():
        pass


async def test_a_link_ends_as_a_connection_does():
    heard, left = [], trio.Event()

    async def upstream(stream):
        heard.append(await stream.receive_some())
        await stream.send_all(HEAD + EVENT)
        heard.append(await stream.receive_some())
        left.set()

    async with chaosproxy.open_proxy(upstream=upstream) as proxy:
        async with proxy.connect() as client:
            await client.send_all(GET)
            while b"data: a" not in await client.receive_some():
                pass
        (record,) = await proxy.wait(timeout=20)
        assert (record.end.by, record.upstream.end.by, record.upstream.url) == ("client", "proxy", "http://upstream:80")
        assert heard[0].startswith(b"GET /s HTTP/1.1")
        with trio.fail_after(20):
            await left.wait()
        assert heard[1] == b""
        client = proxy.connect()
        await client.send_all(GET)
        while b"data: a" not in await client.receive_some():
            pass
        client.reset()
        assert (await proxy.wait(2, timeout=20))[1].end.how == "rst"
        reset = {"version": 1, "faults": [{"cut": {"at": {"event": 1}, "then": "rst"}}]}
        proxy.use(reset)
        client = proxy.connect()
        await client.send_all(GET)
        with pytest.raises(trio.BrokenResourceError):
            await read_to_the_end(client)
        assert await proxy.settle(20)


async def test_an_upstream_that_is_a_function_may_speak_http2():
    heard = []

    async def upstream(stream):
        heard.append(await stream.receive_some())

    scenario = {"version": 1, "upstream": {"protocol": "h2"}}
    async with chaosproxy.open_proxy(scenario, upstream=upstream) as proxy, proxy.connect() as client:
        await client.send_all(GET)
        assert (await client.receive_some()).startswith(b"HTTP/1.1 502 ")  # it has closed at once
        await proxy.wait(timeout=20)
        assert heard[0].startswith(b"PRI * HTTP/2.0")


async def test_what_an_upstream_raises_ends_the_block():
    async def upstream(stream):
        await stream.receive_some()
        raise ZeroDivisionError

    async def main():
        async with chaosproxy.open_proxy(upstream=upstream) as proxy, proxy.connect() as client:
            await client.send_all(GET)
            await trio.sleep_forever()

    with pytest.raises(ExceptionGroup) as caught:
        await main()
    assert caught.group_contains(ZeroDivisionError)


def test_a_function_is_no_upstream_for_a_proxy_in_a_thread():
    with pytest.raises(chaosproxy.Error, match="upstream: a function serves in the Trio run of `open_proxy`"):
        chaosproxy.serve(upstream=sends_and_waits)
