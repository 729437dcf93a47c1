"""Upstream connections on which nothing runs: how many are kept, and what is said where one misbehaves. Virtual time."""

import logging

import trio
import trio.testing

from chaosproxy.proxy.upstream import IDLE
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
TOO_MANY = IDLE + 40


async def ask(proxied) -> None:
    async with RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_until(OK)


async def burst(proxied, count: int) -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(count):
            nursery.start_soon(ask, proxied)
    await trio.testing.wait_all_tasks_blocked()


async def test_a_burst_leaves_no_more_than_so_many_behind(autojump_clock):
    served = Origin([Pause(1.0), OK])
    async with linked(None, served.serve) as proxied:
        await burst(proxied, TOO_MANY)
        assert served.connections == TOO_MANY
        await trio.sleep(1)
        gone = [peer.ending for peer in served.peers if peer.ending is not None]
        assert gone == [Ending.FIN] * (TOO_MANY - IDLE)
        await burst(proxied, TOO_MANY)  # those that are left are used, the others dialled anew
        assert served.connections == TOO_MANY + TOO_MANY - IDLE
        assert [one.response.status for one in proxied.exchanges] == [200] * 2 * TOO_MANY
        assert {one.end.how for one in proxied.exchanges} == {"clean"}


async def test_those_in_use_are_not_let_go(autojump_clock):
    """More than are kept run at once, and end one after another."""
    count = IDLE + 3
    served = Origin(*([Pause(1.0 + number), OK] for number in range(count)))
    async with linked(None, served.serve) as proxied:
        async with trio.open_nursery() as nursery:
            for _ in range(count):
                nursery.start_soon(ask_slowly, proxied)
        assert {one.end.how for one in proxied.exchanges} == {"clean"}
        await trio.testing.wait_all_tasks_blocked()
        assert len([peer for peer in served.peers if peer.ending is not None]) == count - IDLE


async def ask_slowly(proxied) -> None:
    async with RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_until(OK, within=IDLE + 60)


async def test_bytes_behind_a_complete_answer_are_said(autojump_clock, caplog):
    caplog.set_level(logging.WARNING)
    async with linked(None, Origin([OK + b"more"], [OK]).serve) as proxied:
        await ask(proxied)
        await ask(proxied)
        assert [one.end.how for one in proxied.exchanges] == ["clean", "clean"]
    assert caplog.messages == ["upstream connection 1 broke HTTP: bytes behind a complete answer"]


async def test_what_an_exchange_was_told_is_not_said_twice(autojump_clock, caplog):
    caplog.set_level(logging.WARNING)
    async with linked(None, Origin([b"no status line\r\n\r\n"]).serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            await client.read_all()
        assert (await proxied.last()).end.cause == "malformed"
    assert caplog.messages == []
