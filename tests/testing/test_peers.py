"""The raw client and the scripted origin, against each other: what each records of the other."""

import ssl

import pytest
import trio

from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient, origin
from chaosproxy.wire import tls
from chaosproxy.wire.links import link

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"3\r\nabc\r\n"
LAST = b"0\r\n\r\n"


@pytest.fixture(scope="module")
def server_tls(tmp_path_factory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    server, ca = tls.server_context("auto", [], tmp_path_factory.mktemp("ca") / "ca.pem")
    return server, tls.client_context(ca, ["http/1.1"], insecure=False)


async def test_pieces_have_their_times(autojump_clock):
    near, far = link()
    served = Origin([HEAD, Pause(1), CHUNK, Pause(2), CHUNK, LAST])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(served.serve, far)
        client = RawClient(near)
        await client.send(GET)
        await client.read_until(LAST)
        assert client.pieces == [(0, HEAD), (1, CHUNK), (3, CHUNK), (3, LAST)]
        assert client.head == HEAD[:-4]
        assert client.body == CHUNK + CHUNK + LAST
        await client.leave(Ending.FIN)
    assert [(seen.head, seen.body, seen.left) for seen in served.requests] == [(GET, b"", None)]


@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST])
async def test_each_ending_is_seen_for_what_it_is(ending):
    async with origin([HEAD, CHUNK, ending]) as served, await RawClient.connect("127.0.0.1", served.port) as client:
        await client.send(GET)
        assert await client.read_all() == ending
        assert client.received == HEAD + CHUNK


@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST, Ending.NO_CLOSE_NOTIFY])
async def test_each_ending_is_seen_for_what_it_is_under_tls(ending, server_tls):
    server, context = server_tls
    async with (
        origin([HEAD, CHUNK, ending], tls=server) as served,
        await RawClient.connect("127.0.0.1", served.port, context) as client,
    ):
        await client.send(GET)
        assert await client.read_all() == ending
        assert client.received == HEAD + CHUNK


async def test_an_origin_that_falls_silent_is_still_open():
    async with origin([HEAD, Ending.OPEN]) as served, await RawClient.connect("127.0.0.1", served.port) as client:
        await client.send(GET)
        await client.read_until(HEAD)
        assert await client.read_all(within=0.05) == Ending.OPEN


@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST])
@pytest.mark.parametrize("step", [Pause(60), Ending.OPEN])
async def test_the_origin_notices_a_client_that_leaves(ending, step):
    async with origin([HEAD, step, CHUNK]) as served, await RawClient.connect("127.0.0.1", served.port) as client:
        await client.send(GET)
        await client.read_until(HEAD)
        await client.leave(ending)
        seen = await served.request(1)
        with trio.fail_after(20):
            await seen.gone.wait()
        assert seen.left == ending
        assert seen.left_at is not None


async def test_a_step_may_wait_for_the_test():
    go = trio.Event()
    async with origin([HEAD, go, CHUNK]) as served, await RawClient.connect("127.0.0.1", served.port) as client:
        await client.send(GET)
        await client.read_until(HEAD)
        assert client.body == b""
        go.set()
        assert (await client.read_until(CHUNK)).endswith(CHUNK)


async def test_bodies_and_following_requests_are_told_apart():
    post = b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n"
    chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with origin([b"one"], [b"two"]) as served, await RawClient.connect("127.0.0.1", served.port) as client:
        await client.send(post + b"hello" + chunked + CHUNK + LAST + chunked + LAST + GET)
        await served.request(4)
        await client.read_until(b"onetwotwotwo")
    assert [(seen.connection, seen.head, seen.body) for seen in served.requests] == [
        (1, post, b"hello"),
        (1, chunked, CHUNK + LAST),
        (1, chunked, LAST),
        (1, GET, b""),
    ]


async def test_an_end_before_what_was_waited_for_is_an_error():
    async with origin([HEAD, Ending.FIN]) as served, await RawClient.connect("127.0.0.1", served.port) as client:
        await client.send(GET)
        with pytest.raises(EOFError, match="fin before b'nothing'"):
            await client.read_until(b"nothing")


async def test_a_client_that_refuses_the_certificate_does_no_harm(server_tls):
    server, context = server_tls
    async with origin([HEAD, Ending.FIN], tls=server) as served:
        with pytest.raises(Exception, match="certificate refused"):
            await RawClient.connect("127.0.0.1", served.port, ssl.create_default_context())
        async with await RawClient.connect("127.0.0.1", served.port, context) as client:
            await client.send(GET)
            assert await client.read_all() == Ending.FIN
