"""`pace` of what no chain sees: the bytes of heads and of chunks' size lines, as they go onto an HTTP/1 connection."""

import pytest
import trio
from trio.testing import MockClock

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED = [HEAD, b"5\r\nhello\r\n", Pause(2.0), b"10\r\n0123456789abcdef\r\n", b"0\r\n\r\n"]
LENGTH = [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"]


def pace(**fault: object) -> dict[str, object]:
    return {"version": 1, "faults": [{"pace": {"bytes": 1, "every": "10ms", **fault}}]}


def pieces(recorder, began: float) -> list[tuple[float, bytes]]:
    return [(round(time - began, 6), data) for time, data in recorder.pieces]


def dribbled(data: bytes, start: float = 0.0, every: float = 0.01) -> list[tuple[float, bytes]]:
    return [(round(start + every * number, 6), data[number : number + 1]) for number in range(len(data))]


def in_virtual_time(main) -> None:
    trio.run(main, clock=MockClock(autojump_threshold=0))


async def asked(proxied, request: bytes = GET, until: bytes = b"0\r\n\r\n") -> tuple[RawClient, float]:
    client = RawClient(proxied.connect())
    began = trio.current_time()
    await client.send(request)
    await client.read_until(until, within=100)
    return client, began


def test_a_head_byte_by_byte_and_the_body_behind_it_at_once():
    async def main() -> None:
        async with linked(pace(region="head"), Origin(CHUNKED[:2] + CHUNKED[4:]).serve) as proxied:
            client, began = await asked(proxied)
            length = len(HEAD)
            assert pieces(client, began)[:length] == dribbled(HEAD)
            assert client.body == b"5\r\nhello\r\n0\r\n\r\n"
            assert pieces(client, began)[-1][0] == round(0.01 * (length - 1), 6)
            record = await proxied.last()
            assert [(fired.t, fired.detail) for fired in record.faults] == [(0.0, "head: 1 byte every 10ms")]
            assert record.not_fired == []

    in_virtual_time(main)


def test_the_size_line_of_each_chunk_and_the_schedule_goes_on():
    async def main() -> None:
        async with linked(pace(region="chunk_size"), Origin(CHUNKED).serve) as proxied:
            client, began = await asked(proxied)
            seen = pieces(client, began)
            assert seen[0] == (0.0, HEAD)
            assert seen[1:5] == [*dribbled(b"5\r\n"), (0.02, b"hello\r\n")]
            assert seen[5:10] == [*dribbled(b"10\r\n", 2.0), (2.03, b"0123456789abcdef\r\n")]
            assert seen[10:] == [*dribbled(b"0\r\n", 2.04), (2.06, b"\r\n")]
            assert client.received == b"".join(part for part in CHUNKED if isinstance(part, bytes))
            [fired] = (await proxied.last()).faults
            assert (fired.t, fired.detail) == (0.0, "chunk_size: 1 byte every 10ms")

    in_virtual_time(main)


def test_both_at_once_and_several_bytes_at_a_time():
    rules = pace(region="head", bytes=20)
    rules["faults"].append({"pace": {"region": "chunk_size", "bytes": 2, "every": "1s"}})  # type: ignore[attr-defined]

    async def main() -> None:
        async with linked(rules, Origin([HEAD, b"5\r\nhello\r\n0\r\n\r\n"]).serve) as proxied:
            client, began = await asked(proxied)
            assert pieces(client, began) == [
                (0.0, HEAD[:20]),
                (0.01, HEAD[20:40]),
                (0.02, HEAD[40:]),
                (0.03, b"5\r"),
                (1.03, b"\n"),
                (1.03, b"hello\r\n"),
                (2.03, b"0\r"),
                (3.03, b"\n"),
                (3.03, b"\r\n"),
            ]
            assert len((await proxied.last()).faults) == 2

    in_virtual_time(main)


def test_the_head_of_a_request_goes_up_slowly():
    """What the attack called Slowloris does."""
    origin = Origin(LENGTH)

    async def main() -> None:
        async with linked(pace(region="head", way="request"), origin.serve) as proxied:
            client, began = await asked(proxied, until=b"hello")
            [peer] = origin.peers
            assert pieces(peer, began)[: len(GET)] == dribbled(GET)
            assert client.body == b"hello"
            await client.send(GET)  # the same connections, and again slowly
            with trio.fail_after(100):
                while client.received.count(b"hello") < 2:
                    await client.read()
            assert origin.connections == 1
            assert len(peer.pieces) == 2 * len(GET)
            assert [len(record.faults) for record in await proxied.finished(2)] == [1, 1]

    in_virtual_time(main)


def test_the_chunks_of_an_upload():
    origin = Origin(LENGTH)
    post = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def main() -> None:
        async with linked(pace(region="chunk_size", way="request", every="1s"), origin.serve) as proxied:
            _, began = await asked(proxied, post + b"3\r\nabc\r\n0\r\n\r\n", until=b"hello")
            [peer] = origin.peers
            assert peer.received == post + b"3\r\nabc\r\n0\r\n\r\n"
            assert pieces(peer, began)[-1][0] == 5.0

    in_virtual_time(main)


@pytest.mark.parametrize("region", ["head", "chunk_size"])
@pytest.mark.parametrize("way", ["response", "request"])
def test_on_http2_there_is_neither(region, way):
    async def answer(peer, stream: int) -> None:
        await peer.headers(stream, [(b":status", b"200")])
        await peer.data(stream, b"hello", end=True)

    async def main() -> None:
        rules = pace(region=region, way=way)
        async with (
            linked(rules, lambda transport: serve_h2(transport, answer), upstream="h2c://o") as proxied,
            h2_client(proxied.connect()) as client,
        ):
            began = trio.current_time()
            await client.request(1)
            await client.until(lambda: client.streams[1].ended)
            assert trio.current_time() == began
            record = await proxied.last()
            assert [(missed.fault, missed.reason) for missed in record.not_fired] == [("pace", "protocol")]
            assert record.faults == []

    in_virtual_time(main)


@pytest.mark.parametrize("request_bytes", [GET, GET.replace(b"1.1", b"1.0")], ids=["a length", "HTTP/1.0"])
def test_nor_are_there_chunk_sizes_without_chunks(request_bytes):
    async def main() -> None:
        script = LENGTH if request_bytes is GET else [HEAD, b"5\r\nhello\r\n0\r\n\r\n"]
        async with linked(pace(region="chunk_size"), Origin(script).serve) as proxied:
            client, began = await asked(proxied, request_bytes, until=b"hello")
            assert pieces(client, began)[-1][0] == 0.0
            record = await proxied.last()
            assert [(missed.fault, missed.reason) for missed in record.not_fired] == [("pace", "protocol")]

    in_virtual_time(main)


@pytest.mark.parametrize("region", ["head", "chunk_size"])
def test_without_a_distance_nothing_is_touched(region):
    async def main() -> None:
        async with linked(pace(region=region, every="0s"), Origin(CHUNKED[:2] + CHUNKED[4:]).serve) as proxied:
            client, began = await asked(proxied)
            assert pieces(client, began) == [(0.0, HEAD), (0.0, b"5\r\nhello\r\n"), (0.0, b"0\r\n\r\n")]
            assert (await proxied.last()).faults == []

    in_virtual_time(main)


def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind():
    origin = Origin([HEAD, b"5\r\nhello\r\n", Pause(1e6)])

    async def main() -> None:
        async with linked(pace(region="head", every="1h"), origin.serve) as proxied:
            client = RawClient(proxied.connect())
            await client.send(GET)
            await client.read_until(HEAD[:2], within=1e5)
            client.transport.close()
            record = await proxied.last(within=10)
            assert (record.end.by, record.upstream.end.by) == ("client", "proxy")
            tasks = trio.lowlevel.current_statistics().tasks_living
            await trio.sleep(5)
            assert trio.lowlevel.current_statistics().tasks_living <= tasks
            assert not proxied.proxy._clients

    in_virtual_time(main)


def test_pipelined_answers_keep_their_order():
    async def main() -> None:
        async with linked(pace(region="head"), Origin(LENGTH).serve) as proxied:
            client = RawClient(proxied.connect())
            await client.send(GET * 3)
            with trio.fail_after(100):
                while client.received.count(b"hello") < 3:
                    await client.read()
            assert client.received == LENGTH[0] * 3

    in_virtual_time(main)
