"""TLS as nobody should speak it, from clients and from upstreams, on sockets: what is legal is served, everything else ends
that connection alone, in one line at most, and nothing of it stays."""

import contextlib
import logging
import ssl
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import trio

from chaosproxy.testing.listening import listening
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import Proxied, proxy_on
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire import tls
from chaosproxy.wire.transport import Transport
from tests.loopback.test_leaks import sockets, tasks

GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
BODY = 70_000
POST = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % BODY + bytes(BODY)
RECORD = 16_384


class ByHand:
    """One end of TLS over raw bytes, so that each record, and each byte of one, can be written as one likes."""

    def __init__(self, peer: Recorder, context: ssl.SSLContext, *, server: bool = False) -> None:
        self.peer = peer
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.object = context.wrap_bio(
            self._in, self._out, server_side=server, server_hostname=None if server else "localhost"
        )

    async def shake(self, cut: int = 1 << 20) -> None:
        """The handshake, written in pieces of `cut` bytes."""
        while True:
            try:
                self.object.do_handshake()
            except ssl.SSLWantReadError:
                await self._write(cut)
                self._in.write(await self._more())
            else:
                await self._write(cut)
                return

    async def _more(self) -> bytes:
        data = await self.peer.read()
        if not data:
            raise EOFError
        return data

    async def _write(self, cut: int) -> None:
        data = self._out.read()
        for at in range(0, len(data), cut):
            await self.peer.send(data[at : at + cut])

    async def say(self, data: bytes, *, record: int = RECORD, cut: int = 1 << 20) -> None:
        """`data` in records of so many bytes, written in pieces of `cut`."""
        for at in range(0, len(data), record):
            self.object.write(data[at : at + record])
        await self._write(cut)

    def sealed(self, data: bytes) -> bytes:
        """One record, not written."""
        self.object.write(data)
        return self._out.read()

    async def hear_some(self) -> bytes:
        """What comes next; nothing at the end."""
        while True:
            try:
                return self.object.read(RECORD)
            except ssl.SSLWantReadError:
                self._in.write(await self._more())

    async def hear(self) -> bytes:
        """All that comes until an end of any kind."""
        heard = b""
        with contextlib.suppress(ssl.SSLError, EOFError):
            while part := await self.hear_some():
                heard += part
        return heard


Saying = Callable[[ByHand], Awaitable[None]]


async def _raw(client: ByHand, data: bytes) -> None:
    await client.peer.send(data)


async def bytewise(client: ByHand) -> None:
    await client.shake(cut=1)
    await client.say(GET, record=1, cut=1)


async def one_byte_records(client: ByHand) -> None:
    await client.shake()
    await client.say(GET, record=1)


async def large_records(client: ByHand) -> None:
    await client.shake()
    await client.say(POST)


async def many_in_one_write(client: ByHand) -> None:
    await client.shake()
    await client.peer.send(b"".join([client.sealed(POST[at : at + 100]) for at in range(0, len(POST), 100)]))


def behind_the_handshake(make: Callable[[ByHand], bytes]) -> Saying:
    async def say(client: ByHand) -> None:
        await client.shake()
        await client.peer.send(make(client))

    return say


def before_it(data: bytes) -> Saying:
    async def say(client: ByHand) -> None:
        await client.peer.send(data)

    return say


async def half_a_hello(client: ByHand) -> None:
    with contextlib.suppress(ssl.SSLWantReadError):
        client.object.do_handshake()
    await client.peer.send(client._out.read()[:200])
    client.peer.transport.fin()


async def hello_and_reset(client: ByHand) -> None:
    with contextlib.suppress(ssl.SSLWantReadError):
        client.object.do_handshake()
    await client.peer.send(client._out.read())
    client.peer.transport.rst()


async def no_close_notify(client: ByHand) -> None:
    await client.shake()
    await client.say(GET[:-2])
    client.peer.transport.fin()


async def half_an_alert(client: ByHand) -> None:
    await client.shake()
    await client.peer.send(b"\x15\x03\x03\x00\x13\x01")
    client.peer.transport.fin()


def flipped(client: ByHand) -> bytes:
    record = bytearray(client.sealed(GET))
    record[-1] ^= 1
    return bytes(record)


LEGAL: dict[str, Saying] = {
    "every byte of the handshake and of each record by itself": bytewise,
    "records of one byte": one_byte_records,
    "records of 16 KiB": large_records,
    "hundreds of records in one write": many_in_one_write,
}
ILLEGAL: dict[str, Saying] = {
    "nothing but zeros": before_it(bytes(600)),
    "nothing but ones": before_it(b"\xff" * 600),
    "HTTP/1.1 without TLS": before_it(GET),
    "HTTP/2 without TLS": before_it(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9)),
    "a hello of SSL 2": before_it(b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + bytes(37)),
    "a record longer than any may be": before_it(b"\x16\x03\x01\xff\xff" + bytes(600)),
    "a hello that is empty": before_it(b"\x16\x03\x01\x00\x00" * 40),
    "an alert in place of a hello": before_it(b"\x15\x03\x01\x00\x02\x02\x28"),
    "data in place of a hello": before_it(b"\x17\x03\x03\x00\x10" + bytes(16)),
    "half a hello, then FIN": half_a_hello,
    "a hello, then RST": hello_and_reset,
    "a bit of a record is another": behind_the_handshake(flipped),
    "a record longer than any may be, later": behind_the_handshake(lambda _: b"\x17\x03\x03\xff\xff" + bytes(600)),
    "a record of no known kind": behind_the_handshake(lambda _: b"\x63\x03\x03\x00\x10" + bytes(16)),
    "plain HTTP behind the handshake": behind_the_handshake(lambda _: GET),
    "half an alert, then FIN": half_an_alert,
    "FIN without close_notify in a request": no_close_notify,
}


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> tuple[ssl.SSLContext, Path]:
    server, ca = tls.server_context("auto", ["localhost"], tmp_path_factory.mktemp("ca") / "ca.pem")
    assert ca is not None
    return server, ca


@contextlib.contextmanager
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No mistake of ours, and no line that is not one line."""
    with caplog.at_level(logging.DEBUG, "chaosproxy"):
        yield
    assert [
        record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR or record.exc_info
    ] == []
    assert not any("\n" in record.getMessage() for record in caplog.records)


async def as_before(before: tuple[int, int]) -> None:
    """No socket and no task more."""
    with trio.fail_after(20):
        while sockets() > before[0] or tasks() > before[1]:
            await trio.sleep(0.01)


async def spoken_to(proxied: Proxied, context: ssl.SSLContext, say: Saying) -> bytes:
    """What a client hears that speaks like that."""
    async with await RawClient.connect("127.0.0.1", proxied.port) as raw:
        client = ByHand(raw, context)
        with contextlib.suppress(ConnectionError, EOFError, trio.ClosedResourceError):
            await say(client)
            with trio.fail_after(20):
                return await client.hear()
    return b""


async def test_clients(authority, caplog, shown):
    server, ca = authority
    context = tls.client_context(ca, ("http/1.1",), insecure=False)
    good = bad = 0
    with quiet(caplog):
        async with origin(OK_SCRIPT) as served, proxy_on(None, served.url, server_tls=server) as proxied:
            before = sockets(), tasks()
            for say in LEGAL.values():
                assert (await spoken_to(proxied, context, say)).endswith(b"\r\n\r\nok")
                good += 1
            for name, say in ILLEGAL.items():
                heard = await spoken_to(proxied, context, say)
                assert not heard.startswith(b"HTTP/1.1 200"), name
                bad += 1
            async with await RawClient.connect("localhost", proxied.port, context) as honest:
                await honest.send(GET)
                await honest.read_until(b"ok")
            await as_before(before)
            assert served.connections
    assert len(served.requests) == len(LEGAL) + 1
    shown(
        "slow",
        "TLS of a client, legal and odd",
        tried=good,
        must="served",
        happens="200 each",
    )
    shown(
        "slow",
        "TLS of a client, illegal, cut or none",
        tried=bad,
        must="that connection ends; nothing reaches the upstream, nothing stays",
        happens="it ends each time; 0 requests upstream, 0 errors in the log, 0 sockets and tasks more",
    )


OK_SCRIPT = [OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1), Ending.FIN]

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"5\r\nhello\r\n"


def answered(data: bytes, *, then: str = "fin") -> Saying:
    """In place of a hello."""

    async def say(server: ByHand) -> None:
        await server.peer.read()
        if data:
            await server.peer.send(data)
        getattr(server.peer.transport, then)()

    return say


def in_its_answer(make: Callable[[ByHand], bytes]) -> Saying:
    """Behind the first chunk."""

    async def say(server: ByHand) -> None:
        await server.shake()
        await server.hear_some()
        await server.say(CHUNKED + CHUNK)
        await server.peer.send(make(server))
        server.peer.transport.fin()

    return say


async def in_its_head(server: ByHand) -> None:
    await server.shake()
    await server.hear_some()
    record = bytearray(server.sealed(OK))
    record[-1] ^= 1
    await server.peer.send(bytes(record))


async def answers_bytewise(server: ByHand) -> None:
    await server.shake(cut=1)
    await server.hear_some()
    await server.say(OK, record=1, cut=1)


def flipped_chunk(server: ByHand) -> bytes:
    record = bytearray(server.sealed(CHUNK))
    record[-1] ^= 1
    return bytes(record)


UPSTREAMS: dict[str, tuple[Saying, str]] = {
    "zeros": (answered(bytes(600)), "502"),
    "plain HTTP": (answered(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "502"),
    "FIN": (answered(b""), "502"),
    "RST": (answered(b"", then="rst"), "502"),
    "an alert": (answered(b"\x15\x03\x03\x00\x02\x02\x28"), "502"),
    "half an alert": (answered(b"\x15\x03\x03\x00\x02\x02"), "502"),
    "a record longer than any may be": (answered(b"\x16\x03\x03\xff\xff" + bytes(600)), "502"),
    "another bit in its head": (in_its_head, "502"),
    "another bit in a chunk": (in_its_answer(flipped_chunk), "200, one chunk"),
    "FIN without close_notify": (in_its_answer(lambda _: b""), "200, one chunk"),
    "every byte by itself": (answers_bytewise, "200, whole"),
}


async def told_of(say: Saying, context: ssl.SSLContext, ca: Path) -> tuple[str, str]:
    """What a client is told of an https upstream that speaks like that, and the cause in the journal."""

    async def serve(transport: Transport) -> None:
        with contextlib.suppress(ConnectionError, EOFError, trio.ClosedResourceError):
            server = ByHand(Recorder(transport), context, server=True)
            await say(server)
            await server.hear()

    async with (
        listening(serve) as port,
        proxy_on(None, f"https://localhost:{port}", upstream_ca=ca) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_all()
        record = await proxied.last()
    status = client.head[9:12].decode()
    if status != "200":
        return status, record.end.cause or ""
    whole = client.received.endswith(b"ok")
    assert whole or client.body == CHUNK
    return f"200, {'whole' if whole else 'one chunk'}", record.end.cause or ""


async def test_upstreams(authority, caplog, shown):
    server, ca = authority
    told: list[str] = []
    with quiet(caplog):
        before = sockets(), tasks()
        for name, (say, expected) in UPSTREAMS.items():
            how, cause = await told_of(say, server, ca)
            assert how == expected, (name, cause)
            told.append(f"{how} ({cause})" if cause else how)
        await as_before(before)
    shown(
        "slow",
        "TLS of an upstream: garbage, cut, without close_notify, byte by byte",
        tried=len(told),
        must="502 before the head, the end that it is behind it; nothing stays",
        happens=", ".join(sorted(set(told))),
    )
