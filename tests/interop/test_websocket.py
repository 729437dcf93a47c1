"""WebSocket through Upgrade: a tunnel both ways, its close handshake, a peer that simply goes."""

import ssl
import threading
from contextlib import ExitStack
from socket import SHUT_RDWR

import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.sync.client import connect
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
    trusted = ssl.create_default_context(cafile=between.ca) if between.ca else None
    scheme = "wss" if between.ca else "ws"
    address = f"{scheme}://127.0.0.1:{between.port}/chat"
    return connect(address, ssl=trusted, proxy=None, open_timeout=10, compression=None)


def test_messages_of_every_size_come_back(between):
    with opened(between) as socket:
        assert socket.recv(10) == "welcome"  # the server speaks first, right behind its 101
        for message in ("", "hello", "ü" * 100, b"\x00", b"x" * 65536, LARGE[:900_000]):
            socket.send(message)
            assert socket.recv(10) == message
        socket.send(["in ", "three ", "fragments"])
        assert socket.recv(10) == "in three fragments"
        assert socket.ping().wait(10)


def test_the_close_handshake_passes_through(between):
    with opened(between) as socket:
        socket.recv(10)
        socket.close(4001, "done here")
        assert socket.protocol.close_rcvd.code == 4001
        with pytest.raises(ConnectionClosedError):
            socket.recv(1)
    (record,) = between.journal(1)
    assert record["response"]["status"] == 101
    assert record["end"]["how"] == "clean"


def test_a_server_that_hangs_up_is_noticed_by_the_client(between):
    with opened(between) as socket:
        socket.recv(10)
        socket.send("drop")
        with pytest.raises(ConnectionClosedError):
            socket.recv(10)
    between.journal(1)


def test_a_client_that_goes_frees_the_server(between, finished):
    with opened(between) as socket:
        socket.recv(10)
        socket.socket.shutdown(SHUT_RDWR)
        assert finished.wait(10)
    between.journal(1)


def test_twenty_at_once_do_not_mix(between):
    with ExitStack() as stack:
        sockets = [stack.enter_context(opened(between)) for _ in range(20)]
        for number, socket in enumerate(sockets):
            socket.recv(10)
            socket.send(f"number {number}")
        assert [socket.recv(10) for socket in sockets] == [f"number {number}" for number in range(20)]
