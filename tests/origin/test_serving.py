"""The origin in a thread: where it listens, and that nothing of it is left."""

import asyncio
import gc
import socket
import threading
import time

import httpx
import pytest
import trio

from chaosproxy.errors import UnavailableError
from chaosproxy.origin.serving import OriginOptions, _listen, serving
from tests.origin.conftest import WITHIN


def connect(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout=WITHIN)


def ask(url: str) -> str:
    return httpx.post(f"{url}/api/chat?tokens=1&first=0ms", json={"stream": False}, trust_env=False).text


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_it_accepts_where_it_says(host):
    with serving(host=host) as origin:
        assert "Every" in ask(origin.url)
        assert origin.stats()["finished"] == 1


def test_it_can_be_told_the_port_and_the_port_is_free_again():
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        for _ in range(2):
            with serving(port=port) as origin:
                assert origin.url == f"http://127.0.0.1:{port}"
                assert "Every" in ask(origin.url)


def test_a_port_that_is_taken_is_said_at_once():
    taken = pytest.raises(
        UnavailableError,
        match=r"^cannot listen on 127.0.0.1:\d+: the port is taken; choose another, or 0 for any free one$",
    )
    with serving() as origin, taken, serving(port=int(origin.url.rpartition(":")[2])):
        pytest.fail("it accepts on a port that is taken")


def test_a_name_that_nobody_has():
    with pytest.raises(UnavailableError, match=r"cannot listen on nobody.invalid:0: "), serving(host="nobody.invalid"):
        pytest.fail("it accepts nowhere")


@pytest.mark.parametrize(
    "options", [{"slots": 0}, {"kv_blocks": 0}, {"speed": 0}, {"speed": float("nan")}, {"speed": 1e308}]
)
def test_options_that_make_no_sense(options):
    with pytest.raises(ValueError, match="1 or more"):
        OriginOptions(**options)


@pytest.mark.parametrize("broken", [[], ["disconnect"], ["engine", "scheduler"]])
def test_it_ends_although_streams_run_and_nothing_is_left(broken, caplog):
    threads = set(threading.enumerate())
    with serving(OriginOptions(broken=frozenset(broken))) as origin:
        idle, stream, waiting, half = (connect(origin.url) for _ in range(4))
        stream.sendall(b"GET /sse?first=0ms&gap=forever HTTP/1.1\r\nHost: x\r\n\r\n")
        assert stream.recv(65536).startswith(b"HTTP/1.1 200")
        waiting.sendall(b"GET /sse?first=forever HTTP/1.1\r\nHost: x\r\n\r\n")
        assert waiting.recv(65536).startswith(b"HTTP/1.1 200")
        half.sendall(b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
    assert set(threading.enumerate()) == threads
    for client in (idle, stream, waiting, half):
        with client:
            try:
                while client.recv(65536):
                    pass
            except ConnectionResetError:
                continue
    with pytest.raises(ConnectionRefusedError):
        connect(origin.url)
    gc.collect()  # what was left open would warn now
    assert [record.message for record in caplog.records if record.levelname != "INFO"] == []


def test_a_client_that_does_not_read_does_not_hold_it_up():
    with serving() as origin, connect(origin.url) as client:
        client.sendall(b"GET /sse?first=0ms&gap=0ms&tokens=16000 HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        deadline = time.monotonic() + WITHIN
        while origin.stats()["finished"] < 1:
            assert time.monotonic() < deadline
            time.sleep(0.002)
    assert origin.stats()["finished"] >= 1


def test_it_stands_beside_loops_of_every_kind():
    async def in_asyncio() -> str:
        with serving() as origin:
            return await asyncio.to_thread(ask, origin.url)

    async def in_trio() -> str:
        with serving() as origin:
            return await trio.to_thread.run_sync(ask, origin.url)

    assert "Every" in asyncio.run(in_asyncio())
    assert "Every" in trio.run(in_trio)


def test_an_error_inside_ends_it_too():
    with pytest.raises(ZeroDivisionError), serving() as origin:
        raise ZeroDivisionError
    with pytest.raises(ConnectionRefusedError):
        connect(origin.url)


def test_two_share_nothing():
    with serving() as one, serving() as other:
        ask(one.url)
        assert (one.stats()["finished"], other.stats()["finished"]) == (1, 0)


def test_tokens_are_sent_at_once_and_not_gathered_by_nagle():
    nodelay = []

    async def accept() -> None:
        accepted = asyncio.Event()

        async def look(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nodelay.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            accepted.set()
            writer.close()
            await writer.wait_closed()

        async with await asyncio.start_server(look, sock=_listen("127.0.0.1", 0)) as server:
            with socket.create_connection(server.sockets[0].getsockname()):
                await accepted.wait()

    asyncio.run(accept())
    assert nodelay == [1]
