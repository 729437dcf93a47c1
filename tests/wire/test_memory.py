"""TLS between memory buffers: any cut of reads, order of data and end, both directions full, refusals in words."""

import errno
import ssl

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.wire import close
from chaosproxy.wire.links import link
from chaosproxy.wire.memory import Memory, TlsError
from chaosproxy.wire.plain import Plain
from chaosproxy.wire.transport import TruncatedError
from tests.wire.conftest import Contexts, connected


class Cut:
    """A transport that hands out what it received in pieces of the given sizes, in turn."""

    def __init__(self, below, sizes) -> None:
        self._below, self._sizes, self._turn = below, sizes, 0

    def __getattr__(self, name):
        return getattr(self._below, name)

    def recv(self, nbytes):
        self._turn += 1
        return self._below.recv(min(nbytes, self._sizes[self._turn % len(self._sizes)]))


async def shaken(contexts: Contexts, near, far, *offers: str) -> tuple[Memory, Memory]:
    """A client and a server over the two ends, hands shaken."""
    client = Memory(near, contexts.client(*offers), server_side=False, server_hostname="localhost")
    server = Memory(far, contexts.server, server_side=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.handshake)
        await client.handshake()
    return client, server


async def send_all(transport, data: bytes) -> None:
    view = memoryview(data)
    while view:
        piece = bytes(view[:50_000])
        taken = transport.send(piece)
        assert taken in (0, len(piece)), "TLS takes all or none"
        if not taken:
            await transport.writable()
        view = view[taken:]
    while transport.backlog:
        await transport.writable()


async def recv_exactly(transport, nbytes: int, most: int = 65536) -> bytes:
    got = bytearray()
    while len(got) < nbytes:
        data = transport.recv(most)
        if data is None:
            await transport.readable()
        else:
            assert data, "an end too early"
            assert len(data) <= most
            got += data
    return bytes(got)


async def test_a_megabyte_both_ways_at_once(contexts, descriptors):
    near, far = connected()
    client, server = await shaken(contexts, Plain(near), Plain(far))
    request, answer = bytes(range(256)) * 4096, bytes(reversed(range(256))) * 4096
    got = {}

    async def receive(name, transport, nbytes):
        got[name] = await recv_exactly(transport, nbytes)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send_all, client, request)
        nursery.start_soon(send_all, server, answer)
        nursery.start_soon(receive, "client", client, len(answer))
        nursery.start_soon(receive, "server", server, len(request))
    assert got == {"client": answer, "server": request}
    client.close()
    server.close()


@given(
    sizes=st.lists(st.integers(1, 700), min_size=1, max_size=6),
    writes=st.lists(st.binary(min_size=1, max_size=40_000), min_size=1, max_size=4),
    most=st.sampled_from([1000, 16384, 65536]),
)
@settings(max_examples=40)
def test_any_cut_of_reads_gives_the_same_bytes_and_the_same_end(contexts, sizes, writes, most):
    async def main() -> None:
        near, far = link(300_000)
        client, server = await shaken(contexts, Cut(near, sizes), far)
        for data in writes:
            assert server.send(data) == len(data)
        server.fin()
        whole = b"".join(writes)
        assert await recv_exactly(client, len(whole), most) == whole
        while (end := client.recv(most)) is None:
            await client.readable()
        assert end == b""

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


@pytest.mark.parametrize("end", ["fin", "cut", "rst"])
async def test_data_and_end_in_one_flight_come_in_that_order(contexts, end):
    near, far = link(300_000)
    client, server = await shaken(contexts, near, far)
    event = bytes(100_000)
    assert server.send(event) == len(event)
    getattr(server, end)()
    assert await recv_exactly(client, len(event), 1 << 20) == event
    if end == "fin":
        assert client.recv(10) == b""
        assert client.recv(10) == b""
    else:
        expected = TruncatedError if end == "cut" else ConnectionResetError
        for _ in range(2):
            with pytest.raises(expected):
                client.recv(10)


async def test_what_lies_decrypted_is_readable_without_the_socket(contexts, autojump_clock):
    near, far = link(300_000)
    client, server = await shaken(contexts, near, far)
    server.send(bytes(40_000))
    assert await recv_exactly(client, 10, 10)
    # Nothing further will come from below; a wait for the socket would last for ever.
    left = 40_000 - 10
    with trio.fail_after(20):
        while left:
            await client.readable()
            left -= len(client.recv(7000) or b"")
    assert client.recv(10) is None
    with trio.move_on_after(1) as waiting:
        await client.readable()
    assert waiting.cancelled_caught


async def test_send_takes_nothing_while_cipher_text_waits(contexts, autojump_clock):
    near, far = link(8192)
    client, server = await shaken(contexts, near, far)
    assert server.send(bytes(30_000)) == 30_000
    assert server.backlog > 20_000
    assert server.unacknowledged() >= server.backlog
    assert server.send(b"x") == 0
    with trio.move_on_after(1) as waiting:
        await server.writable()
    assert waiting.cancelled_caught
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.writable)
        assert await recv_exactly(client, 30_000) == bytes(30_000)
    assert server.backlog == 0
    assert server.send(b"x") == 1
    assert await recv_exactly(client, 1) == b"x"


@pytest.mark.parametrize("end", ["fin", "cut"])
async def test_an_end_waits_for_cipher_text_that_did_not_fit(end, contexts, autojump_clock):
    near, far = link(8192)
    client, server = await shaken(contexts, near, far)
    server.send(bytes(30_000))
    getattr(server, end)()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.writable)
        assert await recv_exactly(client, 30_000) == bytes(30_000)
    with trio.fail_after(20):
        await client.readable()
    if end == "fin":
        assert client.recv(10) == b""
        assert near.recv(10) == b"", "the FIN below follows the alert"
    else:
        with pytest.raises(TruncatedError):
            client.recv(10)


async def test_after_fin_the_other_way_goes_on(contexts):
    near, far = link()
    client, server = await shaken(contexts, near, far)
    client.send(b"question")
    client.fin()
    with pytest.raises(BrokenPipeError):
        client.send(b"one more")
    assert await recv_exactly(server, 8) == b"question"
    assert server.recv(10) == b""
    assert server.send(b"answer") == 6
    server.fin()
    assert await recv_exactly(client, 6) == b"answer"
    assert client.recv(10) == b""


async def test_fin_does_not_lose_what_has_arrived_meanwhile(contexts):
    near, far = link(300_000)
    client, server = await shaken(contexts, near, far)
    server.send(bytes(50_000))
    assert client.recv(10) == bytes(10)  # the rest is inside the TLS engine now
    client.fin()
    assert await recv_exactly(client, 49_990) == bytes(49_990)
    server.send(b"and on")
    assert await recv_exactly(client, 6) == b"and on"


@pytest.mark.parametrize(
    ("offers", "agreed"), [(("h2", "http/1.1"), "h2"), (("http/1.1",), "http/1.1"), (("spdy/1",), None)]
)
async def test_alpn_and_the_name_asked_for_are_known_on_both_sides(contexts, offers, agreed):
    client, server = await shaken(contexts, *link(), *offers)
    assert (client.alpn, server.alpn, server.server_name) == (agreed, agreed, "localhost")
    assert client.tls
    assert server.tls


async def refused(context: ssl.SSLContext, near, name: str = "localhost") -> str:
    """Why our client does not shake hands."""
    client = Memory(near, context, server_side=False, server_hostname=name)
    with trio.fail_after(20), pytest.raises(TlsError) as caught:
        await client.handshake()
    client.close()
    return str(caught.value)


async def test_a_certificate_that_is_not_trusted_is_refused_in_words_and_the_server_hears_why(contexts):
    near, far = link()
    server = Memory(far, contexts.server, server_side=True)
    heard = []

    async def serve() -> None:
        with pytest.raises(ConnectionError) as caught:
            await server.handshake()
        heard.append(str(caught.value))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        stranger = ssl.create_default_context()
        assert (await refused(stranger, near)).startswith("TLS certificate refused: ")
    assert "unknown CA" in heard[0]


async def test_a_certificate_for_another_name_is_refused(contexts):
    near, far = link()
    server = Memory(far, contexts.server, server_side=True)

    async def serve() -> None:
        with pytest.raises(ConnectionError):
            await server.handshake()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        assert "elsewhere.test" in await refused(contexts.client(), near, "elsewhere.test")


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "plain HTTP"),
        (b"\x00" * 100, ""),
        (b"\x16\x03\x01\xff\xff" + b"x" * 70000, ""),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""),
    ],
)
async def test_garbage_before_a_hello_is_one_line_of_reason(contexts, sent, reason):
    near, far = link(100_000)
    near.send(sent)
    with pytest.raises(TlsError) as caught:
        await Memory(far, contexts.server, server_side=True).handshake()
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "_ssl.c" not in str(caught.value)


async def test_a_server_that_speaks_no_tls_is_named_as_such(contexts):
    near, far = link()
    far.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    assert "not TLS" in await refused(contexts.client(), near)


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01"])
async def test_an_end_inside_the_handshake_is_a_truncation(contexts, sent):
    near, far = link()
    near.send(sent)
    near.fin()
    with pytest.raises(TruncatedError, match="handshake"):
        await Memory(far, contexts.server, server_side=True).handshake()


async def test_garbage_later_is_an_error_behind_the_data_before_it(contexts):
    near, far = link(300_000)
    client, server = await shaken(contexts, near, far)
    server.send(b"good")
    far.send(b"\x17\x03\x03\x00\x20" + b"?" * 32)
    assert await recv_exactly(client, 4) == b"good"
    await client.readable()
    with pytest.raises(TlsError):
        client.recv(10)
    with pytest.raises(TlsError):
        client.recv(10)


async def test_a_peer_that_shakes_hands_byte_by_byte_is_waited_for(contexts):
    near, far = link()
    client, server = await shaken(contexts, Cut(near, [1]), Cut(far, [1]))
    server.send(b"slow but sure")
    assert await recv_exactly(client, 13) == b"slow but sure"


async def test_a_reset_goes_to_the_raw_socket(contexts):
    near, far = connected()
    client, server = await shaken(contexts, Plain(near), Plain(far))
    await close.rst(server)
    await client.readable()
    with pytest.raises(ConnectionResetError) as caught:
        client.recv(10)
    assert caught.value.errno == errno.ECONNRESET
    client.close()
