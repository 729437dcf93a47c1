"""Faults of the HTTP/2 session on real sockets: how the connection ends, and that nothing of it stays behind."""

import contextlib

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial
from tests.faults.sessions import on_session

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n"
WHOLE = [HEAD, b"x" * 1000]
OPEN = [HEAD, b"x" * 500, Ending.OPEN]
REFUSED = 0x7

FAULTS = {
    "goaway, fin": ({"goaway": {"stream": 2, "last": "first", "then": "fin"}}, Ending.FIN),
    "goaway, rst": ({"goaway": {"stream": 2, "then": "rst", "grace": "50ms"}}, Ending.RST),
    "goaway, hang": ({"goaway": {"stream": 2, "then": "hang"}}, Ending.OPEN),
    "goaway twice": ({"goaway": {"stream": 2, "double": True, "grace": "50ms"}}, Ending.FIN),
    "strikes": ({"ping": {"min_interval": "1h", "strikes": 0}}, Ending.FIN),
    "garbage": ({"garbage": {"then": "rst"}}, Ending.RST),
    "refused": ({"refuse": {}}, Ending.OPEN),
    "late": ({"settings": {"delay": "1h", "acknowledge": "1h"}}, Ending.OPEN),
    "no credit": ({"window": {"for": "1h"}}, Ending.OPEN),
    "no answer": ({"ping": "1h"}, Ending.OPEN),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_it_ends_as_asked_and_nothing_stays_behind(name):
    fault, ending = FAULTS[name]
    scenario = on_session(fault, side="client", number=1)
    async with origin(OPEN) as served, proxy_on(scenario, served.url) as proxied:
        async with h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client:
            with contextlib.suppress(ConnectionError):  # how it has ended is asked below
                for number in (1, 3):
                    await client.request(number)
                if name == "strikes":  # bytes between two PINGs would forgive
                    await client.until(lambda: len(client.streams[1].body) == len(client.streams[3].body) == 500)
                for _ in range(3):
                    await client.ping()
            assert await client.until_ended(20.0 if ending is not Ending.OPEN else 0.3) is ending
        with trio.fail_after(20):
            while proxied.proxy._clients or proxied.proxy._exchanges:
                await trio.sleep(0.01)
        assert not [who for time, _, who in proxied.proxy.alarm._heap if time == who.armed]
        async with h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client:
            await client.request(1)
            await client.until(lambda: len(client.streams[1].body) == 500)
            assert client.goaways == []


async def test_a_refused_stream_leaves_its_siblings_alone():
    async with (
        origin(WHOLE) as served,
        proxy_on(on_session({"refuse": {"streams": [2]}}), served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        for number in (1, 3, 5):
            await client.request(number)
        await client.until(lambda: all(client.streams[number].over for number in (1, 3, 5)))
        assert [client.streams[number].reset for number in (1, 3, 5)] == [None, REFUSED, None]
        assert [len(client.streams[number].body) for number in (1, 5)] == [1000, 1000]
