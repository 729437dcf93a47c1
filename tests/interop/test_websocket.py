"""WebSocket through Upgrade: a tunnel both ways, its close handshake, a peer that simply goes."""

import asyncio
import ssl
import threading
from socket import SHUT_RDWR

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError
from websockets.sync.server import serve

LARGE = bytes(range(256)) * 4096


@pytest.fixture
def finished() -> threading.Event:
    """Set when the server is done with a connection."""
    return threading.Event()


@pytest.fixture
def echo(finished):
    """A server that answers each message with itself, greets first, and hangs up on `drop`."""

    def handle(connection) -> None:
        connection.send("welcome")
        try:
            for message in connection:
                if message == "drop":
                    connection.socket.shutdown(SHUT_RDWR)
                    return
                connection.send(message)
        except ConnectionClosedError:
            pass  # the client has gone without a word, which one of the tests is about
        finally:
            finished.set()

    with serve(handle, "127.0.0.1", 0, compression=None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.socket.getsockname()[1]
        server.shutdown()
        thread.join()


@pytest.fixture(params=["ws", "wss"])
def between(request, echo, proxy):
    return proxy(f"http://127.0.0.1:{echo}", **({"tls": "auto"} if request.param == "wss" else {}))


def opened(between):
    """On asyncio: the blocking client uses one TLS connection from two threads, and now and then loses an answer."""
    trusted = ssl.create_default_context(cafile=between.ca) if between.ca else None
    scheme = "wss" if between.ca else "ws"
    address = f"{scheme}://127.0.0.1:{between.port}/chat"
    return connect(address, ssl=trusted, proxy=None, open_timeout=30, compression=None)


async def heard(socket) -> str | bytes:
    async with asyncio.timeout(30):
        return await socket.recv()


def test_messages_of_every_size_come_back(between):
    async def talk() -> None:
        async with opened(between) as socket:
            assert await heard(socket) == "welcome"  # the server speaks first, right behind its 101
            for message in ("", "hello", "ü" * 100, b"\x00", b"x" * 65536, LARGE[:900_000]):
                await socket.send(message)
                assert await heard(socket) == message
            await socket.send(["in ", "three ", "fragments"])
            assert await heard(socket) == "in three fragments"
            async with asyncio.timeout(30):
                await (await socket.ping())

    asyncio.run(talk())


def test_the_close_handshake_passes_through(between):
    async def talk() -> None:
        async with opened(between) as socket:
            await heard(socket)
            await socket.close(4001, "done here")
            assert socket.protocol.close_rcvd.code == 4001
            with pytest.raises(ConnectionClosedError):
                await heard(socket)

    asyncio.run(talk())
    (record,) = between.journal(1)
    assert record["response"]["status"] == 101
    assert record["end"]["how"] == "clean"


def test_a_server_that_hangs_up_is_noticed_by_the_client(between):
    async def talk() -> None:
        async with opened(between) as socket:
            await heard(socket)
            await socket.send("drop")
            with pytest.raises(ConnectionClosedError):
                await heard(socket)

    asyncio.run(talk())
    between.journal(1)


def test_a_client_that_goes_frees_the_server(between, finished):
    async def talk() -> None:
        async with opened(between) as socket:
            await heard(socket)
            socket.transport.abort()
            assert await asyncio.to_thread(finished.wait, 10)

    asyncio.run(talk())
    between.journal(1)


def test_twenty_at_once_do_not_mix(between):
    async def talk(number: int, everybody: asyncio.Barrier) -> None:
        async with opened(between) as socket:
            await heard(socket)
            await everybody.wait()
            for turn in range(3):
                await socket.send(f"number {number}, turn {turn}")
                assert await heard(socket) == f"number {number}, turn {turn}"

    async def all_of_them() -> None:
        everybody = asyncio.Barrier(20)
        async with asyncio.TaskGroup() as group:
            for number in range(20):
                group.create_task(talk(number, everybody))

    asyncio.run(all_of_them())
