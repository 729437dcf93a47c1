"""What each ending looks like from the other side: raw sockets, a stock blocking ssl client, our own TLS client."""

import socket
import ssl

import pytest
import trio
import trio.testing

from chaosproxy.wire import close
from chaosproxy.wire.links import link
from chaosproxy.wire.memory import Memory
from chaosproxy.wire.plain import Plain
from chaosproxy.wire.transport import TruncatedError
from tests.wire.conftest import Contexts, connected

PAYLOAD = b"data: 1\n\n" * 200
ENDINGS = {"fin": close.fin, "no_close_notify": close.no_close_notify, "rst": close.rst}


def read_raw(sock: socket.socket) -> tuple[bytes, str]:
    """What a plain client gets, and the end in its words."""
    with sock:
        got = b""
        try:
            while data := sock.recv(4096):
                got += data
        except ConnectionResetError as error:
            return got, type(error).__name__
        return got, "end"


def read_stock_tls(sock: socket.socket, context: ssl.SSLContext) -> tuple[bytes, str]:
    """The same for Python's own blocking client."""
    got = b""
    with sock, context.wrap_socket(sock, server_hostname="localhost", suppress_ragged_eofs=False) as client:
        try:
            while data := client.recv(4096):
                got += data
        except OSError as error:
            reason = getattr(error, "reason", None)
            return got, type(error).__name__ + (f" {reason}" if reason else "")
        return got, "end"


async def read_ours(transport: Memory) -> tuple[bytes, str]:
    """The same for our own client."""
    got = b""
    try:
        while (data := transport.recv(4096)) != b"":
            if data is None:
                await transport.readable()
            else:
                got += data
    except (TruncatedError, ConnectionResetError) as error:
        return got, type(error).__name__
    finally:
        transport.close()
    return got, "end"


async def serve(transport, ending) -> None:
    if isinstance(transport, Memory):
        await transport.handshake()
    assert transport.send(PAYLOAD) == len(PAYLOAD)
    await ending(transport)


@pytest.mark.parametrize(
    ("ending", "seen"), [("fin", "end"), ("no_close_notify", "end"), ("rst", "ConnectionResetError")]
)
async def test_a_plain_client_gets_all_data_and_then(ending, seen, descriptors):
    client, server = connected()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, Plain(server), ENDINGS[ending])
        assert await trio.to_thread.run_sync(read_raw, client) == (PAYLOAD, seen)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize(
    ("ending", "seen"),
    [
        ("fin", {"end"}),
        ("no_close_notify", {"SSLEOFError UNEXPECTED_EOF_WHILE_READING"}),
        # Python 3.11 with OpenSSL 3.0 hides the errno of a reset; others report it as it is.
        ("rst", {"SSLEOFError", "ConnectionResetError"}),
    ],
)
async def test_a_stock_tls_client_gets_all_data_and_then(ending, seen, version, contexts: Contexts, descriptors):
    client, server = connected()
    context = contexts.client()
    context.minimum_version = context.maximum_version = version
    # This interpreter may set OP_IGNORE_UNEXPECTED_EOF, which hides a truncation; a careful client clears it.
    context.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, contexts.server_end(server), ENDINGS[ending])
        got, how = await trio.to_thread.run_sync(read_stock_tls, client, context)
    assert got == PAYLOAD
    assert how in seen


@pytest.mark.parametrize(
    ("ending", "seen"), [("fin", "end"), ("no_close_notify", "TruncatedError"), ("rst", "ConnectionResetError")]
)
async def test_our_own_tls_client_gets_all_data_and_then(ending, seen, contexts: Contexts, descriptors):
    client, server = connected()
    ours = contexts.client_end(client)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, contexts.server_end(server), ENDINGS[ending])
        await ours.handshake()
        assert await read_ours(ours) == (PAYLOAD, seen)


async def test_a_reset_waits_until_the_data_before_it_is_acknowledged():
    client, server = connected()
    transport = Plain(server)
    taken = 0
    while sent := transport.send(bytes(65536)):
        taken += sent
    got = 0

    def read_all() -> None:
        nonlocal got
        try:
            while data := client.recv(1 << 20):
                got += len(data)
        except ConnectionResetError:
            client.close()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, read_all)
        await close.rst(transport)
    assert got == taken


async def test_a_reset_does_not_wait_for_ever_for_a_peer_that_does_not_read():
    client, server = connected()
    transport = Plain(server)
    with client:
        while transport.send(bytes(65536)):
            pass
        began = trio.current_time()
        with trio.fail_after(20):
            await close.rst(transport)
        assert trio.current_time() - began >= 0.19  # how long exactly is asked in virtual time
        client.setblocking(False)
        assert read_raw(client)[1] == "ConnectionResetError"


class Untold:
    """A transport whose peer acknowledges at a given time; everything else is the link's."""

    def __init__(self, below, acknowledged_at: float) -> None:
        self._below, self._at = below, acknowledged_at

    def __getattr__(self, name):
        return getattr(self._below, name)

    def unacknowledged(self) -> int:
        return 1 if trio.current_time() < self._at else 0


@pytest.mark.parametrize(("acknowledged", "earliest", "latest"), [(0.0, 0, 0), (0.05, 0.05, 0.06), (9.0, 0.2, 0.2)])
async def test_a_reset_goes_out_once_acknowledged_or_after_200_ms(acknowledged, earliest, latest, autojump_clock):
    near, far = link()
    began = trio.current_time()
    await close.rst(Untold(near, began + acknowledged))
    assert earliest <= round(trio.current_time() - began, 6) <= latest
    with pytest.raises(ConnectionResetError):
        far.recv(1)


async def test_a_fin_is_followed_by_reading_for_two_seconds_and_no_longer(autojump_clock):
    near, far = link()
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(close.fin, near)
        await trio.sleep(1.5)
        assert far.recv(1) == b""
        assert far.send(b"late, but welcome") == 17
        await trio.sleep(0.4)
        assert far.send(b"still") == 5
    assert trio.current_time() - began == 2
    # Now it is closed: the first write still goes into the void, then comes the reset, as with the kernel.
    far.send(b"too late")
    with pytest.raises(BrokenPipeError):
        far.send(b"too late")


async def test_a_fin_is_over_as_soon_as_the_peer_ends_too(autojump_clock):
    near, far = link()
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(close.fin, near)
        await trio.sleep(0.5)
        far.fin()
    assert trio.current_time() - began == 0.5


@pytest.mark.parametrize("ending", [close.fin, close.no_close_notify, close.rst])
async def test_a_cancelled_ending_still_closes(ending):
    client, server = connected()
    transport = Plain(server)
    with client:
        while transport.send(bytes(65536)):
            pass
        with trio.move_on_after(0.02):
            await ending(transport)
        assert server.fileno() == -1


@pytest.mark.parametrize("ending", [close.fin, close.no_close_notify, close.rst])
async def test_ending_what_the_peer_has_reset_is_no_error(ending):
    client, server = connected()
    Plain(client).rst()
    await ending(Plain(server))
    assert server.fileno() == -1


async def test_under_tls_the_fin_follows_cipher_text_that_did_not_fit(contexts: Contexts):
    client, server = connected()
    ours, theirs = contexts.client_end(client), contexts.server_end(server)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(theirs.handshake)
        await ours.handshake()
    taken = 0
    while sent := theirs.send(bytes(65536)):
        taken += sent
    assert theirs.backlog
    async with trio.open_nursery() as nursery:
        nursery.start_soon(close.fin, theirs)
        await trio.testing.wait_all_tasks_blocked()
        got, how = await read_ours(ours)
    assert (len(got), how) == (taken, "end")
