"""`resegment` on real sockets: each piece comes in a read of its own, and a DATA frame of its own on HTTP/2."""

import pytest

from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"0\r\n\r\n"
ROCKET = "data: \U0001f680\n\n".encode()
PAUSE = "100ms"
"""Longer than a busy machine leaves a reader waiting."""


def chunk(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)


def cut(**fault: object) -> dict[str, object]:
    return {"version": 1, "faults": [{"resegment": {"pause": PAUSE, **fault}}]}


@pytest.mark.parametrize(
    ("fault", "body", "pieces"),
    [
        ({"split": "utf8"}, ROCKET, [b"data: \xf0\x9f", b"\x9a\x80\n\n"]),
        ({"split": "crlf"}, b"data: 1\r\n\r\n", [b"data: 1\r", b"\n\r", b"\n"]),
        ({"split": "event"}, b"data: 1\n\n", [b"data", b": 1\n\n"]),
        ({"bytes": 4}, b"data: 1\n\n", [b"data", b": 1\n", b"\n"]),
        ({"events": 1}, b"data: 1\n\ndata: 2\n\n", [b"data: 1\n\n", b"data: 2\n\n"]),
        ({"glue": 2}, b"data: 1\n\ndata: 2\n\ndata: 3\n\n", [b"data: 1\n\ndata: 2\n\n", b"data: 3\n\n"]),
    ],
)
async def test_each_piece_is_a_chunk_and_a_read_or_a_frame(fault, body, pieces):
    async with (
        origin([HEAD, chunk(body), LAST]) as served,
        proxy_on(cut(**fault), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until(LAST)
        assert client.body == b"".join(map(chunk, pieces)) + LAST
        reads = [data for _, data in client.pieces]
        for piece in pieces[1:]:
            assert any(read.startswith(chunk(piece)) for read in reads), "it did not come by itself"
        async with h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as over_h2:
            await over_h2.request(1, "/")
            await over_h2.until(lambda: over_h2.streams[1].over)
            assert [payload for _, payload in over_h2.streams[1].frames] == pieces


async def test_random_pieces_are_those_of_the_seed_again():
    body = bytes(range(97, 123)) * 2
    seen = []
    for _ in range(2):
        async with (
            origin([HEAD, chunk(body), LAST]) as served,
            proxy_on(cut(split="random", bytes=9, pause="10ms"), served.url) as proxied,
            await RawClient.connect("127.0.0.1", proxied.port) as client,
        ):
            await client.send(GET)
            await client.read_until(LAST)
            seen.append(client.body)
            [fired] = (await proxied.last()).faults
            assert fired.detail == "cut into 1 to 9 bytes"
    assert seen[0] == seen[1]
    payloads = seen[0].split(b"\r\n")[1:-3:2]
    assert b"".join(payloads) == body
    assert len(payloads) > 5


async def test_the_last_chunk_comes_in_two_reads_and_http2_has_none():
    async with (
        origin([HEAD, chunk(b"data: 1\n\n"), LAST]) as served,
        proxy_on(cut(split="last_chunk"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        for number in (1, 2):  # the connection lives
            await client.send(GET)
            while client.received.count(LAST) < number:
                assert await client.read()
            reads = [data for _, data in client.pieces]
            assert reads[-2].endswith(b"0\r\n")
            assert reads[-1] == b"\r\n"
        async with h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as over_h2:
            await over_h2.request(1, "/")
            await over_h2.until(lambda: over_h2.streams[1].over)
        first, _, last = await proxied.finished(3)
    assert [fired.detail for fired in first.faults] == ["cut inside the last chunk"]
    assert [(one.fault, one.reason) for one in last.not_fired] == [("resegment", "protocol")]


async def test_an_answer_with_a_length_has_no_last_chunk():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n"
    async with (
        origin([head, b"ok"]) as served,
        proxy_on(cut(split="last_chunk"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until(b"ok")
        record = await proxied.last()
    assert [(one.fault, one.reason) for one in record.not_fired] == [("resegment", "protocol")]


async def test_pieces_of_a_length_or_until_the_end_are_reads_without_framing():
    for head in (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"):
        async with (
            origin([head, b"012345678"] if b"Length" in head else [head, b"012345678", Ending.FIN]) as served,
            proxy_on(cut(bytes=4), served.url) as proxied,
            await RawClient.connect("127.0.0.1", proxied.port) as client,
        ):
            await client.send(GET)
            await client.read_until(b"8")
            assert client.body == b"012345678"
            assert [data for _, data in client.pieces][-2:] == [b"4567", b"8"]


async def test_an_upload_comes_to_the_upstream_in_pieces_and_the_answer_whole():
    post = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789"
    async with (
        origin([HEAD, chunk(b"data: 1\n\n"), LAST]) as served,
        proxy_on(cut(bytes=4, way="request"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(post)
        await client.read_until(LAST)
        [peer] = served.peers
        assert [data for _, data in peer.pieces][-2:] == [b"4567", b"89"]
        assert client.body == chunk(b"data: 1\n\n") + LAST


@pytest.mark.parametrize(("side", "way"), [("client", "response"), ("upstream", "request")])
async def test_raw_bytes_of_a_connection(side, way):
    scenario = {
        "version": 1,
        "connections": [
            {"match": {"side": side}, "faults": [{"resegment": {"bytes": 20, "pause": PAUSE, "way": way}}]}
        ],
    }
    async with (
        origin([HEAD, chunk(b"data: 1\n\n"), LAST]) as served,
        proxy_on(scenario, served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until(LAST)
        (peer,) = served.peers
        reads = [data for _, data in (client if side == "client" else peer).pieces]
        assert client.body == chunk(b"data: 1\n\n") + LAST
    assert max(map(len, reads)) <= 20
    assert len(reads) > 1


async def test_frames_of_an_h2_upstream_are_cut_for_an_h1_client():
    async def answer(peer: H2Peer, stream: int) -> None:
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        await peer.data(stream, ROCKET, end=True)

    async with (
        h2_origin(answer) as url,
        proxy_on(cut(split="utf8"), url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(GET)
        await client.read_until(LAST)
    assert client.body == chunk(ROCKET[:8]) + chunk(ROCKET[8:]) + LAST


async def test_under_tls_each_piece_is_a_record_and_a_read(certificates):
    async with (
        origin([HEAD, chunk(ROCKET), LAST]) as served,
        proxy_on(cut(split="utf8"), served.url, server_tls=certificates.server) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port, certificates.client(), "127.0.0.1") as client,
    ):
        await client.send(GET)
        await client.read_until(LAST)
        assert any(data.startswith(chunk(ROCKET[8:])) for _, data in client.pieces)
        assert client.body == chunk(ROCKET[:8]) + chunk(ROCKET[8:]) + LAST


async def test_the_last_chunk_of_an_upload_comes_in_two_reads():
    post = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with (
        origin([HEAD, LAST]) as served,
        proxy_on(cut(split="last_chunk", way="request"), served.url) as proxied,
        await RawClient.connect("127.0.0.1", proxied.port) as client,
    ):
        await client.send(post + b"3\r\nabc\r\n" + LAST)
        await client.read_until(LAST)
        [peer] = served.peers
        assert [data for _, data in peer.pieces][-1] == b"\r\n"
        assert peer.received.endswith(b"3\r\nabc\r\n" + LAST)
        [fired] = (await proxied.last()).faults
    assert fired.detail == "cut inside the last chunk"
