"""`age` and `keepalive`: connections that are asked to leave, or closed a while after an answer though kept, on raw sockets."""

import pytest
import trio

from chaosproxy.errors import ScenarioError
from chaosproxy.scenario.load import load
from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Ending, Origin, RawClient, origin
from chaosproxy.testing.proxied import linked, proxy_on
from chaosproxy.wire import dial

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"


def connections(**fault: object) -> dict[str, object]:
    return {"version": 1, "connections": [{"match": {"side": "client"}, "faults": [fault]}]}


async def ask_again_and_again(client: RawClient) -> None:
    while True:
        await client.send(GET)
        await trio.sleep(0.01)


async def test_over_http_1_the_next_answer_behind_the_age_is_the_last_and_says_so():
    async with origin(*[[ANSWER] * 100]) as served, proxy_on(connections(age="300ms"), served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            await client.read_until(b"ok")
            assert b"close" not in client.received
            assert await client.read_all(within=0.4) is Ending.OPEN
            before = len(client.received)
            await client.send(GET)
            assert await client.read_all() is Ending.FIN
            last = bytes(client.received[before:])
            assert b"Connection: close\r\n" in last
            assert last.endswith(b"ok")
        first, second = await proxied.finished(2)
    assert first.faults == []
    assert [(one.fault, one.detail) for one in second.faults] == [("age", "old: the next answer is the last")]
    assert second.end.how == "clean"


async def test_over_http_1_what_outlives_the_grace_is_ended():
    fault = {"age": {"max": "200ms", "grace": "200ms"}}
    async with origin([STREAM, Ending.OPEN]) as served, proxy_on(connections(**fault), served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            began = trio.current_time()
            await client.send(GET)
            assert await client.read_all() is Ending.FIN
            assert client.ended_at - began >= 0.39
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "fin", "age")


async def test_over_http_2_two_goaways_and_the_grace():
    fault = {"age": {"max": "200ms", "grace": "300ms"}}
    async with (
        origin([STREAM, Ending.OPEN]) as served,
        proxy_on(connections(**fault), served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1)
        assert await client.until_ended() is Ending.FIN
        assert client.goaways == [(0, 2**31 - 1), (0, 1)]
        assert client.streams[1].body == b"ok"
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "fin", "age")


async def test_without_a_side_it_is_about_clients_all_the_same():
    upstreams: list[H2Peer] = []

    async def answer(peer: H2Peer, stream: int) -> None:
        upstreams.append(peer)
        await peer.headers(stream, [(b":status", b"200")])
        await peer.data(stream, b"ok", end=True)

    scenario = {"version": 1, "connections": [{"faults": [{"age": "50ms"}, {"keepalive": "300ms"}]}]}
    async with (
        h2_origin(answer) as url,
        proxy_on(scenario, url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1)
        assert await client.until_ended() is Ending.FIN
        assert client.streams[1].ended
        await trio.sleep(0.3)  # longer than a connection may live
        assert (len(upstreams), upstreams[0].goaways, upstreams[0].ending) == (1, [], None)


async def test_kept_and_closed_a_while_later_without_a_word():
    async with origin([ANSWER]) as served, proxy_on(connections(keepalive="200ms"), served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            await client.read_until(b"ok")
            answered = trio.current_time()
            assert await client.read_all() is Ending.FIN
            assert client.ended_at - answered >= 0.19
            assert b"close" not in client.received
        record = await proxied.last()
    assert [(one.fault, one.detail) for one in record.faults] == [("keepalive", "closed 200ms behind")]
    assert record.end.how == "clean"


async def test_a_request_in_time_is_served_and_its_answer_starts_the_time_anew(autojump_clock):
    served = Origin([ANSWER, ANSWER])
    async with (
        linked(connections(keepalive="5s"), served.serve) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        await client.send(GET)
        await client.read_until(b"ok")
        await trio.sleep(4)
        await client.send(GET)
        assert await client.read_all() is Ending.FIN
        assert client.received.count(b"\r\n\r\nok") == 2
        assert client.ended_at == pytest.approx(9)


async def test_at_once_the_next_request_is_answered_by_a_reset():
    async with origin([ANSWER]) as served, proxy_on(connections(keepalive="0s"), served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            await client.read_until(b"ok")
            await client.read_all()
            with trio.fail_after(20), pytest.raises(ConnectionError):
                await ask_again_and_again(client)
        assert len(await proxied.finished(1)) == 1


async def test_over_http_2_a_goaway_goes_before():
    async with (
        origin([ANSWER]) as served,
        proxy_on(connections(keepalive="100ms"), served.url) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        await client.request(1)
        assert await client.until_ended() is Ending.FIN
        assert client.streams[1].ended
        assert client.goaways == [(0, 1)]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("faults: [age: {}]", "`max` is required"),
        ("faults: [age: {max: 1s, jitter: 2}]", "from 0 to 1"),
        ("faults: [keepalive: 5]", "duration"),
        ("match: {side: upstream}\n    faults: [age: 1s]", "connections of clients"),
        ("match: {side: upstream}\n    faults: [keepalive: 1s]", "connections of clients"),
    ],
)
def test_what_cannot_be_said(entry, words):
    with pytest.raises(ScenarioError, match=words):
        load(f"version: 1\nconnections:\n  - {entry}\n")


@pytest.mark.parametrize("fault", ["age: 1s", "keepalive: 1s"])
def test_they_stand_in_no_hop(fault):
    with pytest.raises(ScenarioError, match="it stands under `connections:`"):
        load(f"version: 1\nfaults:\n  - {fault}\n")
