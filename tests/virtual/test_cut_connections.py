"""Connections that a fault cuts for what it has seen of the client: nothing of them stays. Virtual time."""

import pytest
import trio

from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def cut(**how):
    return {"version": 1, "connections": [{"match": {"side": "client"}, "faults": [{"cut": how}]}]}


@pytest.mark.parametrize(("then", "ending"), [("fin", Ending.FIN), ("rst", Ending.RST)])
@pytest.mark.parametrize("stays", [True, False], ids=["it reads on", "it is gone"])
async def test_at_the_client_s_own_end(stays, then, ending, autojump_clock):
    async with linked(cut(at="request_end", then=then), Origin([OK]).serve) as proxied:
        for _ in range(3):
            async with RawClient(proxied.connect()) as client:
                await client.send(GET)
                await client.read_until(OK)
                if stays:
                    client.transport.fin()
                    assert await client.read_all() is ending
        await trio.sleep(10)
        assert list(proxied.proxy._clients) == []
        assert [one.end.how for one in proxied.exchanges] == ["clean"] * 3


async def test_of_a_list_the_first_that_a_connection_has(autojump_clock):
    async with (
        linked(cut(at={"bytes": 6}, then=[{"status": 503}, "rst"]), Origin([OK]).serve) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(GET)
        assert await client.read_all() is Ending.RST
    assert client.received == OK[:6]
