"""What exchanges have in common through a fault, with a whole proxy around it, in virtual time."""

import pytest
import trio

from chaosproxy.embedded.setup import read
from chaosproxy.proxy.planner import Planner
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
SLOW = [HEAD, Pause(5), b"ok"]


def faults(*those):
    return {"version": 1, "faults": list(those)}


async def answered(client):
    """When the whole answer was there."""
    await client.read_until(b"\r\n\r\nok")
    return trio.current_time()


async def test_a_queue_is_served_in_order_and_each_the_moment_a_place_is_free(autojump_clock):
    async with linked(faults({"concurrency": {"limit": 1, "queue": 9}}), Origin(SLOW).serve) as proxied:
        began, times = trio.current_time(), {}
        async with trio.open_nursery() as nursery:

            async def ask(number):
                async with RawClient(proxied.connect()) as client:
                    await client.send(GET)
                    times[number] = await answered(client) - began

            for number in range(4):
                nursery.start_soon(ask, number)
                await trio.sleep(0.1)
        records = await proxied.finished(4)
    assert times == {number: pytest.approx(5 * (number + 1)) for number in range(4)}
    assert [one.detail for record in records for one in record.faults] == ["waited 4.9s", "waited 9.8s", "waited 14.7s"]
    assert [record.times.upstream_connected for record in records] == pytest.approx([0, 4.9, 9.8, 14.7])


async def test_one_connection_of_streams_is_let_in_one_by_one(autojump_clock):
    limited = faults({"rate_limit": {"limit": "1/10s", "queue": 5}})
    async with linked(limited, Origin([HEAD, b"ok"]).serve) as proxied, h2_client(proxied.connect()) as client:
        began = trio.current_time()
        for stream in (1, 3, 5, 7):
            await client.request(stream)
        await trio.sleep(15)
        await client.reset(5)
        await client.until(lambda: client.streams[7].ended, within=100)
        times = [client.streams[stream].frames[0][0] - began for stream in (1, 3, 7)]
    assert times == pytest.approx([0, 10, 20])


async def test_a_reload_counts_from_nothing_and_what_runs_keeps_its_place(autojump_clock):
    scenario = faults({"concurrency": {"limit": 1}})
    async with (
        linked(scenario, Origin(SLOW).serve) as proxied,
        RawClient(proxied.connect()) as first,
        RawClient(proxied.connect()) as second,
    ):
        await first.send(GET)
        await trio.sleep(1)
        proxied.proxy.reload(Planner(read(scenario), 1, 1.0))
        await second.send(GET)
        await answered(first)
        async with RawClient(proxied.connect()) as third:
            await third.send(GET)
            await third.read_until(b" 429 ")  # the first one's end has freed no place here
        await answered(second)
        async with RawClient(proxied.connect()) as fourth:
            await fourth.send(GET)
            await answered(fourth)


async def test_who_waits_when_the_proxy_leaves_is_let_go_and_journalled(autojump_clock):
    async with (
        linked(faults({"concurrency": {"limit": 1, "queue": 1}}), Origin([HEAD, Ending.OPEN]).serve) as proxied,
        RawClient(proxied.connect()) as served,
        RawClient(proxied.connect()) as waiting,
    ):
        await served.send(GET)
        await served.read_until(HEAD)
        await waiting.send(GET)
        await trio.sleep(1)
        assert len(proxied.proxy.running) == 2
        await proxied.proxy.shut_down(0)
        assert await waiting.read_all() in (Ending.FIN, Ending.RST)
        assert [record.end.cause for record in proxied.exchanges] == ["shutdown", "shutdown"]
        assert not proxied.proxy.running


async def test_an_upload_that_waits_is_held_back_at_its_sender(autojump_clock):
    """No more of it is taken than there is room for; then it goes on whole."""
    body = bytes(range(256)) * 4096
    origin = Origin(SLOW, [HEAD, b"ok"])
    async with linked(faults({"concurrency": {"limit": 1, "queue": 1}}), origin.serve) as proxied:
        async with RawClient(proxied.connect()) as first, RawClient(proxied.connect()) as second:
            await first.send(GET)
            await first.read_until(HEAD)
            sent = []

            async def upload():
                await second.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body))
                for at in range(0, len(body), 4096):
                    await second.send(body[at : at + 4096])
                    sent.append(trio.current_time())

            async with trio.open_nursery() as nursery:
                nursery.start_soon(upload)
                await trio.sleep(1)
                assert len(sent) * 4096 < len(body) / 2
                await answered(second)
        assert origin.requests[1].body == body
