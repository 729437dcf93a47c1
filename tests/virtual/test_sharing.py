"""Requests that share upstream connections: who waits for whom, which upstream, what is tried again. Virtual time."""

import trio

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
SLOW, FAST = [Pause(0.5), OK], [Pause(0.02), OK]
GET = b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n"


async def timed(proxied, number: int, times: dict[int, int]) -> None:
    """One request on a connection of its own; how long it took, in milliseconds."""
    began = trio.current_time()
    async with RawClient(proxied.connect()) as client:
        await client.send(GET % number)
        await client.read_until(b"ok", within=60)
    times[number] = round((trio.current_time() - began) * 1000)


async def six_requests(proxied) -> list[int]:
    """One slow request and five fast ones just behind it."""
    times: dict[int, int] = {}
    async with trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(timed, proxied, number, times)
            await trio.sleep(0.000_01)
    return [times[number] for number in range(6)]


async def test_one_http1_connection_makes_everybody_wait_for_the_slow_one(autojump_clock):
    served = Origin(SLOW, FAST)
    async with linked({"version": 1, "upstream": {"max_connections": 1}}, served.serve) as proxied:
        assert await six_requests(proxied) == [500, 520, 540, 560, 580, 600]
    assert served.connections == 1


async def test_six_http1_connections_make_nobody_wait(autojump_clock):
    served = Origin(SLOW, FAST)
    async with linked({"version": 1, "upstream": {"max_connections": 6}}, served.serve) as proxied:
        assert await six_requests(proxied) == [500, 20, 20, 20, 20, 20]
    assert served.connections == 6


async def test_one_http2_connection_makes_nobody_wait(autojump_clock):
    connections = 0

    async def answer(peer, stream):
        await trio.sleep(0.5 if stream == 1 else 0.02)
        await peer.headers(stream, [(":status", "200"), ("content-length", "2")])
        await peer.data(stream, b"ok", end=True)

    async def serve(transport):
        nonlocal connections
        connections += 1
        await serve_h2(transport, answer)

    scenario = {"version": 1, "upstream": {"max_connections": 1}}
    async with linked(scenario, serve, upstream="h2c://origin") as proxied:
        assert await six_requests(proxied) == [500, 20, 20, 20, 20, 20]
    assert connections == 1


async def test_a_client_that_leaves_the_queue_is_not_waited_for(autojump_clock):
    served = Origin(SLOW, FAST)
    async with linked({"version": 1, "upstream": {"max_connections": 1}}, served.serve) as proxied:
        times: dict[int, int] = {}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(timed, proxied, 0, times)
            await trio.sleep(0.01)
            async with RawClient(proxied.connect()) as impatient:
                await impatient.send(GET % 1)
                await trio.sleep(0.01)
            await trio.sleep(0.01)
            nursery.start_soon(timed, proxied, 2, times)
        assert [seen.head.split()[1] for seen in served.requests] == [b"/0", b"/2"]
        left = next(record for record in await proxied.finished(3) if record.request.path == "/1")
        assert (left.end.by, left.end.how) == ("client", "fin")
        assert left.upstream.connection is None


async def balanced(balance: str) -> dict[int, list[str]]:
    """Two client connections with three requests each, over two upstreams: which upstream each request went to."""
    chosen: dict[int, list[str]] = {}
    served = Origin([OK])
    scenario = {"version": 1, "upstream": {"balance": balance}}
    async with linked(scenario, served.serve, upstream=("http://one", "http://two")) as proxied:
        for _ in range(2):
            async with RawClient(proxied.connect()) as client:
                for number in range(3):
                    await client.send(GET % number)
                    await client.read_until(b"ok" if number == 0 else b"ok" + OK * number)
        for record in await proxied.finished(6):
            chosen.setdefault(record.client.connection, []).append(record.upstream.url)
    return chosen


async def test_balancing_by_request_spreads_the_requests_of_one_connection(autojump_clock):
    chosen = await balanced("request")
    assert chosen == {
        1: ["http://one:80", "http://two:80", "http://one:80"],
        2: ["http://two:80", "http://one:80", "http://two:80"],
    }


async def test_balancing_by_connection_pins_them(autojump_clock):
    chosen = await balanced("connection")
    assert chosen == {1: ["http://one:80"] * 3, 2: ["http://two:80"] * 3}


async def test_an_idle_connection_that_closes_under_a_request_is_tried_once_more(autojump_clock):
    served = Origin([OK], [Ending.FIN], [OK])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET % 1)
        await client.read_until(b"ok")
        await client.send(GET % 2)
        await client.read_until(b"ok" + OK)
        first, second = await proxied.finished(2)
    assert (first.upstream.retries, second.upstream.retries) == (0, 1)
    assert [seen.connection for seen in served.requests] == [1, 1, 2]


async def test_a_fresh_connection_that_closes_is_a_502_at_once(autojump_clock):
    served = Origin([Ending.FIN])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET % 1)
        await client.read_until(b"closed the connection")
        assert client.head.startswith(b"HTTP/1.1 502 ")
        record = await proxied.last()
    assert len(served.requests) == 1
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "clean", "upstream:fin")


async def test_a_request_with_a_body_is_never_sent_twice(autojump_clock):
    served = Origin([OK], [Ending.FIN], [OK])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET % 1)
        await client.read_until(b"ok")
        await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
        await client.read_until(b"HTTP/1.1 502 ")
    assert len(served.requests) == 2


async def test_rules_take_turns(autojump_clock):
    chunks = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    events = b"9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n"
    served = Origin([chunks, events])
    scenario = {
        "version": 1,
        "rules": [
            {"nth": 1, "faults": [{"respond": {"status": 429, "retry_after": 1}}]},
            {"nth": 2, "faults": [{"cut": {"at": {"event": 1}}}]},
        ],
    }
    async with linked(scenario, served.serve) as proxied:
        answers = []
        for number in range(3):
            async with RawClient(proxied.connect()) as client:
                await client.send(GET % number)
                await client.read_all(within=1)
                answers.append((client.received, client.ending))
    refused, cut, whole = answers
    assert refused[0].startswith(b"HTTP/1.1 429 ")
    assert b"retry-after: 1" in refused[0].lower()
    assert cut == (chunks + b"9\r\ndata: 1\n\n\r\n", Ending.FIN)
    assert whole[0] == chunks + events
    assert len(served.requests) == 2, "the refused one was never dialled"


async def test_a_request_that_a_goaway_refused_is_tried_on_another_connection(autojump_clock):
    connections = 0

    async def serve(transport):
        nonlocal connections
        connections += 1
        leaving = connections == 1

        async def answer(peer, stream):
            if leaving:
                await peer.goaway(0)
                return
            await peer.headers(stream, [(":status", "200"), ("content-length", "2")])
            await peer.data(stream, b"ok", end=True)

        await serve_h2(transport, answer)

    async with linked(None, serve, upstream="h2c://origin") as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET % 1)
        await client.read_until(b"ok")
        record = await proxied.last()
    assert connections == 2
    assert (record.upstream.retries, record.upstream.connection, record.end.how) == (1, 2, "clean")
