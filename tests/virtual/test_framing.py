"""`framing`, `chunk_syntax` and `linger` as they go onto an HTTP/1 connection: every byte, and when it ends."""

import pytest
import trio
from trio.testing import MockClock

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
OLD = b"GET / HTTP/1.0\r\nHost: x\r\n\r\n"
TYPE = b"Content-Type: text/plain\r\n"
CHUNKED = [
    b"HTTP/1.1 200 OK\r\n" + TYPE + b"Transfer-Encoding: chunked\r\n\r\n",
    b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
]
LENGTH = [b"HTTP/1.1 200 OK\r\n" + TYPE + b"Content-Length: 11\r\n\r\n", b"hello world"]
CLOSE = [b"HTTP/1.1 200 OK\r\n" + TYPE + b"\r\n", b"hello world", Ending.FIN]
FOREVER = 1e5


def faults(*those: dict[str, object]) -> dict[str, object]:
    return {"version": 1, "faults": list(those)}


def answered(fault: dict[str, object], script, request: bytes = GET):
    """What came, how and when it ended, what was journalled."""

    async def main():
        async with linked(faults(fault), Origin(script).serve) as proxied:
            client = RawClient(proxied.connect())
            await client.send(request)
            await client.read_all(within=1000.0)
            [record] = await proxied.finished()
            return client.received, client.ending, client.ended_at, record

    return trio.run(main, clock=MockClock(autojump_threshold=0))


def head(*fields: bytes, version: bytes = b"1.1") -> bytes:
    return b"HTTP/%b 200 OK\r\n" % version + TYPE + b"".join(field + b"\r\n" for field in fields) + b"\r\n"


CHUNKS = b"Transfer-Encoding: chunked"


@pytest.mark.parametrize(
    ("fault", "script", "expected", "ending", "how"),
    [
        # As it is said: in chunks, until the end of the connection.
        ("chunked", LENGTH, head(CHUNKS) + b"b\r\nhello world\r\n0\r\n\r\n", None, "clean"),
        ("chunked", CLOSE, head(CHUNKS) + b"b\r\nhello world\r\n0\r\n\r\n", None, "clean"),
        ("close_delimited", CHUNKED, head() + b"hello world", "fin", "clean"),
        ("close_delimited", LENGTH, head() + b"hello world", "fin", "clean"),
        # A length: right, too large, too small.
        ({"content_length": 11}, CHUNKED, head(b"Content-Length: 11") + b"hello world", None, "clean"),
        ({"content_length": 100}, CHUNKED, head(b"Content-Length: 100") + b"hello world", "fin", "fin"),
        ({"content_length": 100}, LENGTH, head(b"Content-Length: 100") + b"hello world", "fin", "fin"),
        ({"content_length": 5}, LENGTH, head(b"Content-Length: 5") + b"hello world", "fin", "fin"),
        ({"content_length": 5}, CLOSE, head(b"Content-Length: 5") + b"hello world", "fin", "fin"),
        ({"content_length": 0}, CHUNKED, head(b"Content-Length: 0") + b"hello world", "fin", "fin"),
        ({"as": "chunked", "content_length": 5}, LENGTH, head(b"Content-Length: 5", CHUNKS) + b"b\r\nhello world\r\n0\r\n\r\n", None, "clean"),
        # An older server: with what it has, or with what it cannot have.
        ({"http": "1.0"}, CHUNKED, head(version=b"1.0") + b"hello world", "fin", "clean"),
        ({"http": 1.0}, LENGTH, head(b"Content-Length: 11", version=b"1.0") + b"hello world", "fin", "clean"),
        ({"http": "1.0", "as": "chunked"}, CHUNKED, head(CHUNKS, version=b"1.0") + CHUNKED[1], "fin", "clean"),
        ({"http": "1.0", "content_length": 20}, CHUNKED, head(b"Content-Length: 20", version=b"1.0") + b"hello world", "fin", "fin"),
    ],
)  # fmt: skip
def test_framed_as_it_is_said(fault, script, expected, ending, how):
    received, ended, _, record = answered({"framing": fault}, script)
    assert received == expected
    assert ended == ending
    assert (record.end.how, record.not_fired) == (how, [])
    assert record.end.cause == ("framing" if how == "fin" else None)


@pytest.mark.parametrize(
    ("script", "request_", "expected", "ending"),
    [
        (CLOSE, GET, head(CHUNKS) + b"b\r\nhello world\r\n0\r\n\r\n", None),
        (CLOSE, OLD, head() + b"hello world", "fin"),
        (CHUNKED, GET, head(CHUNKS) + CHUNKED[1], None),
        (CHUNKED, OLD, head() + b"hello world", "fin"),
        (LENGTH, GET, head(b"Content-Length: 11") + b"hello world", None),
    ],
)
def test_framed_for_who_has_asked(script, request_, expected, ending):
    received, ended, _, record = answered({"framing": "auto"}, script, request_)
    assert (received, ended) == (expected, ending)
    assert record.end.how == "clean"


@pytest.mark.parametrize("script", [CHUNKED, LENGTH])
async def test_each_message_alone_on_its_connection(script, autojump_clock):
    """Towards the client, and towards the server, whose connection would have been kept."""
    origin = Origin(script)
    both = faults({"framing": {"connection": "close"}}, {"framing": {"connection": "close", "way": "request"}})
    async with linked(both, origin.serve) as proxied:
        for _ in range(2):
            client = RawClient(proxied.connect())
            await client.send(GET)
            assert await client.read_all() is Ending.FIN
            assert b"\r\nConnection: close\r\n" in client.received
            assert client.received.endswith(script[-1])
    alone = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert [peer.received for peer in origin.peers] == [alone, alone]


@pytest.mark.parametrize("host", [b"x", b"other:80"])
async def test_a_server_that_is_asked_in_http_1_0(autojump_clock, host):
    origin = Origin(CLOSE)
    async with linked(faults({"framing": {"http": "1.0", "way": "request"}}), origin.serve) as proxied:
        client = RawClient(proxied.connect())
        for _ in range(2):
            await client.send(b"GET /a HTTP/1.1\r\nHost: " + host + b"\r\nAccept: */*\r\n\r\n")
            await client.read_all(within=1000.0)
            client = RawClient(proxied.connect())
    asked = b"GET /a HTTP/1.0\r\nHost: " + host + b"\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    assert [peer.received for peer in origin.peers] == [asked, asked]


async def test_a_server_that_keeps_the_connection_all_the_same_is_left(autojump_clock):
    origin = Origin(LENGTH)
    async with linked(faults({"framing": {"http": "1.0", "way": "request"}}), origin.serve) as proxied:
        client = RawClient(proxied.connect())
        await client.send(GET)
        await client.read_until(b"hello world")
        await client.send(GET)
        await client.read_until(b"hello world" + head(b"Content-Length: 11") + b"hello world")
        await proxied.finished(2)
    assert origin.connections == 2


def test_chunks_to_a_client_that_cannot_know_them():
    received, ended, _, _ = answered({"framing": "chunked"}, LENGTH, OLD)
    assert (received, ended) == (head(CHUNKS) + b"b\r\nhello world\r\n0\r\n\r\n", "fin")
    received, _, _, _ = answered({"latency": "1ms"}, CHUNKED, OLD)
    assert received == head() + b"hello world"


def test_an_answer_without_a_body_is_left_as_it_is():
    script = [b"HTTP/1.1 204 No Content\r\n\r\n"]
    for fault in ({"framing": "chunked"}, {"framing": {"content_length": 5}}):
        received, _, _, record = answered(fault, script)
        assert received == script[0]
        assert [(one.fault, one.reason) for one in record.not_fired] == [("framing", "no body")]


def test_a_machine_nearer_the_client_that_changes_the_body_frames_it_anew():
    async def main():
        both = faults({"framing": {"content_length": 100}}, {"compress": {"coding": "gzip", "when_accepted": False}})
        async with linked(both, Origin(CHUNKED).serve) as proxied:
            client = RawClient(proxied.connect())
            await client.send(GET)
            await client.read_until(b"0\r\n\r\n")
            assert b"Content-Length" not in client.head
            assert (await proxied.last()).end.how == "clean"

    trio.run(main, clock=MockClock(autojump_threshold=0))


@pytest.mark.parametrize(
    ("fault", "body"),
    [
        (3, b"0005\r\nhello\r\n0006\r\n world\r\n0000\r\n\r\n"),
        ({"zeros": True}, b"00005\r\nhello\r\n00006\r\n world\r\n00000\r\n\r\n"),
        ({"spaces": 1}, b"5 \r\nhello\r\n6 \r\n world\r\n0 \r\n\r\n"),
        ({"extension": "a=b"}, b"5;a=b\r\nhello\r\n6;a=b\r\n world\r\n0;a=b\r\n\r\n"),
        ({"trailers": {"X-Sum": "abc"}}, b"5\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: abc\r\n\r\n"),
        ({"empty_size": True}, b"5\r\nhello\r\n6\r\n world\r\n\r\n\r\n"),
        ({"empty_size": 2}, b"5\r\nhello\r\n\r\n world\r\n0\r\n\r\n"),
        ({"bare_lf": True}, b"5\nhello\n6\n world\n0\n\n"),
        ({"zeros": 1, "spaces": True, "extension": "a", "bare_lf": True, "trailers": {"a": "b"}}, b"05  ;a\nhello\n06  ;a\n world\n00  ;a\na: b\n\n"),
    ],
)  # fmt: skip
def test_chunks_are_spelt_as_it_is_said(fault, body):
    received, ended, _, record = answered({"chunk_syntax": fault}, CHUNKED)
    assert (received, ended) == (head(CHUNKS) + body, None)  # and the connection is kept
    assert [fired.fault for fired in record.faults] == ["chunk_syntax"]
    assert record.end.how == "clean"


def test_trailers_stand_behind_those_of_the_answer():
    script = [CHUNKED[0], b"5\r\nhello\r\n0\r\nX-One: 1\r\n\r\n"]
    received, _, _, _ = answered({"chunk_syntax": {"trailers": {"X-Two": "2"}}}, script)
    assert received.endswith(b"0\r\nX-One: 1\r\nX-Two: 2\r\n\r\n")


@pytest.mark.parametrize("script", [LENGTH, CLOSE])
def test_without_chunks_there_is_nothing_to_spell(script):
    received, _, _, record = answered({"chunk_syntax": {"zeros": 2}}, script)
    assert received.endswith(b"\r\n\r\nhello world")
    assert [(one.fault, one.reason) for one in record.not_fired] == [("chunk_syntax", "protocol")]


def test_spelt_in_another_way_and_slowly_and_broken_off():
    both = faults({"chunk_syntax": {"zeros": 1}}, {"pace": {"bytes": 1, "every": "1s", "region": "chunk_size"}})
    cut = faults({"chunk_syntax": {"zeros": 1}}, {"cut": {"at": {"bytes": 3}, "then": "fin_mid_chunk"}})

    async def main():
        async with linked(both, Origin(CHUNKED).serve) as proxied:
            client = RawClient(proxied.connect())
            await client.send(GET)
            await client.read_until(b"00\r\n\r\n")
            assert client.body == b"05\r\nhello\r\n06\r\n world\r\n00\r\n\r\n"
            assert [data for _, data in client.pieces[1:6]] == [b"0", b"5", b"\r", b"\n", b"hello\r\n"]
        async with linked(cut, Origin(CHUNKED).serve) as proxied:
            client = RawClient(proxied.connect())
            await client.send(GET)
            assert await client.read_all() is Ending.FIN
            assert client.body == b"05\r\nhel"

    trio.run(main, clock=MockClock(autojump_threshold=0))


NO_CHUNK = {"chunk_syntax": {"on_abort": "\r\n1\r\n"}}


@pytest.mark.parametrize(
    ("script", "body"),
    [
        (CHUNKED, b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"),
        ([CHUNKED[0], b"5\r\nhello\r\n", Ending.FIN], b"5\r\nhello\r\n\r\n1\r\n"),
        ([CHUNKED[0], b"5\r\nhe", Ending.FIN], b"2\r\nhe\r\n\r\n1\r\n"),
        ([LENGTH[0], b"hello", Ending.FIN], b"hello"),
    ],
)
def test_where_the_body_breaks_off_may_stand_what_is_no_chunk(script, body):
    received, ended, _, record = answered(NO_CHUNK, script)
    whole = script is CHUNKED
    assert received.partition(b"\r\n\r\n")[2] == body
    assert (ended, record.end.how) == ((None, "clean") if whole else (Ending.FIN, "fin"))
    acted = body.endswith(b"1\r\n")
    assert ([one.fault for one in record.faults] == ["chunk_syntax"]) is acted


@pytest.mark.parametrize("request_", [GET, OLD, GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")])
@pytest.mark.parametrize("script", [CHUNKED, LENGTH, CLOSE])
def test_the_connection_stays_open_for_so_long_behind_the_end(script, request_):
    _, plain, at_once, _ = answered({"client_abort": "propagate"}, script, request_)
    _, ended, ended_at, record = answered({"linger": "30s"}, script, request_)
    assert ended is Ending.FIN
    assert (plain, at_once) in [(None, None), (Ending.FIN, pytest.approx(0.0))]
    assert ended_at == pytest.approx(30.0)
    assert (record.end.by, record.end.how, record.times.end) == ("upstream", "clean", 0.0)
    assert [fired.detail for fired in record.faults] == ["open for 30s behind the end"]


def test_a_body_that_is_shorter_than_announced_and_no_end_for_long():
    async def main():
        both = faults({"framing": {"content_length": 100}}, {"linger": "60s"})
        async with linked(both, Origin(CHUNKED).serve) as proxied:
            client = RawClient(proxied.connect())
            await client.send(GET)
            assert await client.read_all(within=100) is Ending.FIN
            assert client.ended_at == pytest.approx(60.0)
            assert client.body == b"hello world"

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_for_ever_until_the_client_leaves_or_the_proxy():
    async def main():
        async with linked(faults({"linger": "forever"}), Origin(CLOSE).serve) as proxied:
            left, stays = RawClient(proxied.connect()), RawClient(proxied.connect())
            for client in (left, stays):
                await client.send(GET)
                assert await client.read_all(within=FOREVER) is Ending.OPEN
            assert len(proxied.proxy._clients) == 2
            left.transport.close()
            await trio.sleep(10)
            assert len(proxied.proxy._clients) == 1
            await proxied.proxy.shut_down(0)
            assert await stays.read_all() is Ending.FIN

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_a_request_that_comes_meanwhile_is_served_and_has_its_own_time():
    async def main():
        async with linked(faults({"linger": "10s"}), Origin(LENGTH).serve) as proxied:
            client = RawClient(proxied.connect())
            await client.send(GET)
            await client.read_until(b"hello world")
            await trio.sleep(9)
            await client.send(GET)
            assert await client.read_all(within=100) is Ending.FIN
            assert client.received.count(b"hello world") == 2
            assert client.ended_at == pytest.approx(19.0)
            await trio.sleep(5)
            assert len(proxied.proxy._clients) == 0

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_what_breaks_off_ends_as_it_did():
    async def main():
        both = faults({"linger": "10s"}, {"cut": {"at": {"bytes": 3}}})
        async with linked(both, Origin(CHUNKED).serve) as proxied:
            client = RawClient(proxied.connect())
            await client.send(GET)
            assert await client.read_all(within=100) is Ending.FIN
            assert client.ended_at == 0.0
            assert [one.fault for one in (await proxied.last()).not_fired] == ["linger"]

    trio.run(main, clock=MockClock(autojump_threshold=0))


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"framing": "chunked"}, "protocol"),
        ({"framing": {"http": "1.0"}}, "protocol"),
        ({"chunk_syntax": 2}, "protocol"),
        ({"linger": "1s"}, "protocol"),
        ({"framing": {"content_length": 100, "as": "chunked"}}, None),
    ],
)
def test_on_http2_there_is_only_a_length_to_lie_about(fault, reason):
    async def answer(peer, stream):
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/plain")])
        await peer.data(stream, b"hello", end=True)

    async def serve(transport):
        await serve_h2(transport, answer)

    async def main():
        async with linked(faults(fault), serve, upstream="h2c://origin") as proxied:
            async with h2_client(proxied.connect()) as client:
                await client.request(1, "/")
                await client.until(lambda: client.streams[1].over)
                stream = client.streams[1]
            assert (stream.body, stream.ended) == (b"hello", True)
            [record] = await proxied.finished()
            assert [one.reason for one in record.not_fired] == ([reason] if reason else [])
            assert dict(stream.heads[-1]).get(b"content-length") == (None if reason else b"100")
            assert record.end.how == "clean"

    trio.run(main, clock=MockClock(autojump_threshold=0))


async def test_a_tunnel_that_ends_is_closed_at_once(autojump_clock):
    request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n"
    switched = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n"
    those = faults({"linger": "60s"}, {"framing": {"http": "1.0"}}, {"chunk_syntax": 1})
    async with linked(those, Origin([switched, b"hi", Ending.FIN]).serve) as proxied:
        client = RawClient(proxied.connect())
        began = trio.current_time()
        await client.send(request)
        await client.read_until(b"hi")
        client.transport.fin()
        assert await client.read_all(within=100.0) is Ending.FIN
        assert client.ended_at - began == pytest.approx(0.0)
        record = await proxied.last()
    assert client.body == b"hi"
    assert sorted((one.fault, one.reason) for one in record.not_fired) == [
        ("chunk_syntax", "protocol"),
        ("framing", "no body"),
        ("linger", "protocol"),
    ]
