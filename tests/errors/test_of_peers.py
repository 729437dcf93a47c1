"""What a client is told when it, or its upstream, breaks a rule or is not there: one line, whose it is, which rule, and
what to look at. The same words stand in the journal's `detail`, or, where there was no exchange, in the log.
"""

import socket

import pytest
from hpack import Encoder

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import CANCEL, PREFACE
from chaosproxy.testing.listening import listening
from chaosproxy.testing.peers import Ending, Origin, RawClient, origin
from chaosproxy.testing.proxied import linked, proxy_on
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire import tls

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS = 0x1, 0x4


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def head(*more: tuple[bytes, bytes], without: bytes = b"", end: bool = True) -> bytes:
    """A request's HEADERS on stream 1."""
    usual = [(b":method", b"GET"), (b":scheme", b"http"), (b":path", b"/"), (b":authority", b"x")]
    block = Encoder().encode([field for field in usual if field[0] != without] + list(more))
    return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), 1, block)


def answer(*fields: tuple[bytes, bytes]) -> bytes:
    """An answer's HEADERS on stream 1."""
    return frame(HEADERS, END_HEADERS | END_STREAM, 1, Encoder().encode(list(fields)))


def own(client: RawClient) -> tuple[int, str]:
    """The status and the line of an answer of the proxy's own, the last of what came."""
    *_, head, body = client.received.split(b"\r\n\r\n")
    line = body.decode()
    assert line.startswith("chaosproxy: ")
    assert line.count("\n") == 1
    return int(head.split()[1]), line.removeprefix("chaosproxy: ").removesuffix("\n")


CLIENT = {
    "no HTTP": (b"hello\r\n\r\n", 400, "a line of 5 bytes is no request line"),
    "TLS": (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        400,
        "no request head: it begins with the byte 0x16, as TLS does, where plain HTTP is expected",
    ),
    "bare LF": (b"GET / HTTP/1.1\nHost: x\n\n", 400, "bare LF in the request head"),
    "no Host": (b"GET / HTTP/1.1\r\n\r\n", 400, "Missing mandatory Host: header"),
    "another version": (b"GET / HTTP/3.0\r\n", 505, "HTTP/3.0 on an HTTP/1.1 connection"),
    "a fold": (GET[:-2] + b"A: b\r\n c\r\n\r\n", 400, "folded line in the request head"),
    "a blank in a name": (GET[:-2] + b"A b: c\r\n\r\n", 400, "illegal header line: 'A ...'"),
    "a target": (
        GET.replace(b"/ ", b"example "),
        400,
        "request target 'example' is neither a path nor absolute",
    ),
    "two lengths": (
        POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        400,
        "more than one Content-Length",
    ),
    "a length and chunks": (
        POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        400,
        "both Content-Length and Transfer-Encoding",
    ),
    "a negative length": (POST + b"Content-Length: -1\r\n\r\n", 400, "Content-Length is no length"),
    "a coding": (
        POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        501,
        "a transfer coding other than chunked",
    ),
    "a long line": (b"GET /" + b"a" * 20_000, 414, "request line above 16384 bytes"),
    "a long head": (GET[:-2] + b"A: " + b"b" * 70_000, 431, "request head above 65536 bytes"),
    "many fields": (GET[:-2] + b"A: b\r\n" * 201, 431, "more than 200 fields in the request head"),
    "a chunk size": (
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        400,
        "a chunk header that is not a size, perhaps extensions, and CRLF",
    ),
}


@pytest.mark.parametrize(("sent", "status", "rule"), CLIENT.values(), ids=CLIENT)
async def test_a_client_that_breaks_http1(sent, status, rule, autojump_clock):
    async with linked(None, Origin([OK]).serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(sent)
        await client.read_all()
        assert own(client) == (status, f"the request is refused: {rule}")
        record = await proxied.last()
    assert (record.end.by, record.end.cause, record.detail) == ("proxy", "malformed", rule)


UPSTREAM = {
    "nothing": ([Ending.FIN], "the upstream closed the connection: before the end of the head"),
    "a reset": ([Ending.RST], "the upstream reset the connection: Connection reset by peer"),
    "something else": ([b"SSH-2.0-x\r\n"], "the upstream broke HTTP: 'SSH-2.0 ...' is no status line"),
    "TLS": (
        [b"\x15\x03\x03\x00\x02\x02\x46"],
        "the upstream broke HTTP: no response head: it begins with the byte 0x15, as TLS does, where plain HTTP is expected",
    ),
    "HTTP/2": (
        [frame(SETTINGS)],
        "the upstream broke HTTP: no response head: it begins with the byte 0x00, as HTTP/2 does, where HTTP/1.1 is expected",
    ),
    "bare LF": ([b"HTTP/1.1 200 OK\nA: b\n\n"], "the upstream broke HTTP: bare LF in the response head"),
    "a status": ([b"HTTP/1.1 999 OK\r\n\r\n"], "the upstream broke HTTP: 'HTTP/1.1 999 ...' is no status line"),
    "a switch": (
        [b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
        "the upstream broke HTTP: a 101 that nobody asked for",
    ),
    "two lengths": (
        [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n"],
        "the upstream broke HTTP: conflicting Content-Length headers",
    ),
    "interim answers": ([b"HTTP/1.1 103 Early\r\n\r\n" * 40], "the upstream broke HTTP: more than 32 interim heads"),
}


@pytest.mark.parametrize(("script", "said"), UPSTREAM.values(), ids=UPSTREAM)
async def test_an_upstream_that_breaks_http1(script, said, autojump_clock):
    async with linked(None, Origin(script).serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_until(said.encode() + b"\n")
        assert own(client) == (502, said)
        record = await proxied.last()
    assert said.endswith(record.detail)
    assert record.detail


CONNECTION = {
    "another frame first": (frame(PING, 0, 0, b"12345678"), "the first frame is not SETTINGS"),
    "HEADERS on stream 0": (frame(SETTINGS) + frame(HEADERS, 5), "HEADERS on stream 0"),
    "an even stream": (frame(SETTINGS) + frame(HEADERS, 5, 2, b"\x82"), "HEADERS on stream 2, which is idle"),
    "a long frame": (frame(SETTINGS) + frame(DATA, 0, 1, b"a" * 16_385), "frame of 16385 bytes, 16384 allowed"),
    "no HPACK": (
        frame(SETTINGS) + frame(HEADERS, 5, 1, b"\xff" * 7),
        "header block: Variable integer representation is too long",
    ),
    "DATA before a head": (frame(SETTINGS) + frame(DATA, 0, 5, b"a"), "DATA on stream 5, which is idle"),
    "a flood": (frame(SETTINGS) + frame(PING, 0, 0, b"12345678") * 3000, "too many: PING"),
}


@pytest.mark.parametrize(("sent", "rule"), CONNECTION.values(), ids=CONNECTION)
async def test_a_client_that_breaks_http2_is_told_by_goaway_and_the_log(sent, rule, autojump_clock, caplog):
    async with linked(None, Origin([OK]).serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(PREFACE + sent)
        await client.read_all()
        assert client.received.endswith(rule.encode())
    assert caplog.messages == [f"client connection 1 broke HTTP: {rule}"]


async def test_a_client_that_leaves_breaks_nothing(autojump_clock, caplog):
    async with linked(None, Origin([OK]).serve) as proxied:
        for sent in (PREFACE, PREFACE + frame(SETTINGS) + b"\0\0", b"GET / HT"):
            for ending in (Ending.FIN, Ending.RST):
                async with RawClient(proxied.connect()) as client:
                    await client.send(sent)
                    await client.leave(ending)
    assert caplog.messages == []


STREAM = {
    "no path": (head(without=b":path"), "no :path"),
    "upper case": (head((b"Aa", b"b")), "upper case in field name 'Aa'"),
    "a field of the connection": (head((b"connection", b"close")), "connection-specific field 'connection'"),
    "a body too short": (
        head((b"content-length", b"5"), end=False) + frame(DATA, END_STREAM, 1, b"abc"),
        "END_STREAM 2 bytes short of content-length",
    ),
    "credit of nothing": (head(end=False) + frame(WINDOW, 0, 1, bytes(4)), "WINDOW_UPDATE of 0"),
}


@pytest.mark.parametrize(("sent", "rule"), STREAM.values(), ids=STREAM)
async def test_a_client_that_breaks_one_stream_is_told_by_the_journal(sent, rule, autojump_clock, caplog):
    async def silent(peer, stream):
        await peer.until(lambda: peer.streams[stream].reset == CANCEL)

    upstream = lambda transport: serve_h2(transport, silent)  # noqa: E731
    async with linked(None, upstream, upstream="h2c://origin") as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(PREFACE + frame(SETTINGS) + sent)
            await client.read_until(frame(RST_STREAM, 0, 1, b"\0\0\0\1"))
        record = await proxied.last()
    assert (record.end.how, record.end.cause, record.detail) == ("stream:PROTOCOL_ERROR", "malformed", rule)
    assert caplog.messages == []


UPSTREAM_2 = {
    "another frame first": (
        [frame(PING, 0, 0, b"12345678")],
        "the upstream broke HTTP: the first frame is not SETTINGS",
    ),
    "HTTP/1": (
        [b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"],
        "the upstream broke HTTP: what came is HTTP/1, not HTTP/2; is it an http:// upstream?",
    ),
    "no status": ([frame(SETTINGS), answer((b"a", b"b"))], "the upstream broke HTTP: no :status"),
    "a status": (
        [frame(SETTINGS), answer((b":status", b"20x"))],
        "the upstream broke HTTP: :status '20x' is no status",
    ),
    "DATA before a head": (
        [frame(SETTINGS), frame(DATA, END_STREAM, 1, b"a")],
        "the upstream broke HTTP: DATA before any head",
    ),
    "RST_STREAM": (
        [frame(SETTINGS), frame(RST_STREAM, 0, 1, b"\0\0\0\x0b")],
        "the upstream sent RST_STREAM with ENHANCE_YOUR_CALM",
    ),
    "GOAWAY": (
        [frame(SETTINGS), frame(GOAWAY, 0, 0, bytes(4) + b"\0\0\0\x0b")],
        "the upstream sent GOAWAY with ENHANCE_YOUR_CALM",
    ),
}


@pytest.mark.parametrize(("frames", "said"), UPSTREAM_2.values(), ids=UPSTREAM_2)
async def test_an_upstream_that_breaks_http2(frames, said, autojump_clock):
    async def serve(transport):
        peer = Recorder(transport)
        await peer.read()
        for one in frames:
            await peer.send(one)
        while await peer.read():
            pass
        transport.close()

    async with linked(None, serve, upstream="h2c://origin") as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_until(said.encode() + b"\n")
        assert own(client) == (502, said)


# ---- on sockets


async def told(scenario, upstream: str) -> str:
    """The line of a 502."""
    async with proxy_on(scenario, upstream) as proxied, await RawClient.connect("127.0.0.1", proxied.port) as client:
        await client.send(GET)
        await client.read_until(b"\n", within=20)
        while not client.body.endswith(b"\n"):
            assert await client.read()
        status, line = own(client)
        assert status == 502
        return line


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_nobody_is_there(host):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # not listening
        where = f"{host}:{nobody.getsockname()[1]}"
        assert await told(None, f"http://{where}") == f"the upstream cannot be reached: {where}: Connection refused"


async def test_plain_http_where_tls_is_expected():
    async def refuse(transport):
        peer = Recorder(transport)
        await peer.read()
        await peer.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        await peer.read()
        transport.close()

    async with listening(refuse) as port:
        line = await told(None, f"https://127.0.0.1:{port}")
    where = f"the upstream cannot be reached: 127.0.0.1:{port}"
    assert line == f"{where}: TLS failed: what the peer sent is not TLS; is it an http:// upstream?"


async def test_a_certificate_that_nobody_vouches_for(tmp_path):
    server, _ = tls.server_context("auto", ["127.0.0.1"], tmp_path / "ca.pem")
    async with origin([OK], tls=server) as served:
        line = await told(None, served.url)
    assert line.startswith(f"the upstream cannot be reached: 127.0.0.1:{served.port}: TLS certificate refused: ")
    assert line.endswith("; --upstream-ca names whom to trust, --upstream-insecure trusts everybody")


async def test_an_upstream_that_speaks_no_http2(tmp_path):
    server, ca = tls.server_context("auto", ["127.0.0.1"], tmp_path / "ca.pem")
    server.set_alpn_protocols(["http/1.1"])
    scenario = {"version": 1, "upstream": {"protocol": "h2"}}
    async with (
        origin([OK], tls=server) as served,
        proxy_on(scenario, served.url, upstream_ca=ca) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until(b"speaks http/1.1\n")
        assert own(client)[1] == f"the upstream cannot be reached: {served.url} was offered h2 and speaks http/1.1"
