"""Rules as a client meets them: held for their JSON, mounted, hidden codings; secrets in the journal. Virtual time."""

import json

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = b"9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n"
REFUSE_STREAMS = {
    "version": 1,
    "rules": [{"match": {"json": {"stream": True}}, "faults": [{"respond": {"status": 503, "body": "busy"}}]}],
}


def post(body: bytes, *fields: bytes) -> bytes:
    lines = [
        b"POST /v1 HTTP/1.1",
        b"Host: x",
        b"Content-Type: application/json",
        *fields,
        b"Content-Length: %d" % len(body),
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (b'{"stream": true}', True),
        (b'{"stream": false}', False),
        (b'{"stream": "true"}', False),
        (b"{}", False),
        (b"not json", False),
        (b"", False),
        (json.dumps({"stream": True, "pad": "x" * 900_000}).encode(), True),
        (json.dumps({"stream": True, "pad": "x" * 1_100_000}).encode(), False),
    ],
    ids=["true", "false", "text", "absent", "no json", "empty", "large", "too large"],
)
async def test_a_rule_that_asks_for_json(body, refused, autojump_clock):
    served = Origin([OK])
    async with linked(REFUSE_STREAMS, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(post(body))
        await client.read_until(b"busy" if refused else b"ok")
        record = await proxied.last()
    assert record.rule == (0 if refused else None)
    assert [(seen.head + seen.body) for seen in served.requests] == ([] if refused else [post(body)])


async def test_a_request_is_held_until_its_body_is_complete(autojump_clock):
    body = b'{"stream": false}'
    served = Origin([OK])
    async with linked(REFUSE_STREAMS, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(post(body)[:-5])
        await trio.sleep(5)
        assert served.connections == 0
        await client.send(body[-5:])
        await client.read_until(b"ok")
        record = await proxied.last()
    assert served.requests[0].body == body
    assert (record.times.request_end, record.times.upstream_connected) == (5, 5)


async def test_a_body_is_held_no_longer_than_a_mebibyte(autojump_clock):
    served = Origin([Ending.OPEN], at_head=True)
    async with linked(REFUSE_STREAMS, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n" + b"x" * 1024 * 1024)
        await trio.sleep(1)
        assert served.connections == 0
        await client.send(b"xx")
        await served.request(1)
        await trio.sleep(1)
        assert len(served.peers[0].received.partition(b"\r\n\r\n")[2]) == 1024 * 1024 + 2


async def test_over_h2_a_request_is_held_too(autojump_clock):
    served = Origin([OK])
    async with linked(REFUSE_STREAMS, served.serve) as proxied, h2_client(proxied.connect()) as client:
        for number, body in ((1, b'{"stream": true}'), (3, b'{"stream": false}'), (5, b"x" * 1_100_000)):
            await client.request(number, method="POST", end=False)
            for start in range(0, len(body), 16384):
                await client.data(number, body[start : start + 16384], end=start + 16384 >= len(body))
            await client.until(lambda number=number: client.streams[number].over)
        assert [client.streams[number].status for number in (1, 3, 5)] == [503, 200, 200]


async def test_while_a_request_is_held_the_proxy_says_continue(autojump_clock):
    body = b'{"stream": false}'
    whole = post(body, b"Expect: 100-continue")
    served = Origin([OK])
    async with linked(REFUSE_STREAMS, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(whole[: -len(body)])
        await client.read_until(b"HTTP/1.1 100 Continue\r\n\r\n")
        await client.send(body)
        await client.read_until(b"ok")
    assert b"Expect" not in served.requests[0].head


@pytest.mark.parametrize("leaving", [Ending.FIN, Ending.RST])
async def test_a_client_that_leaves_while_it_is_held(leaving, autojump_clock):
    served = Origin([OK])
    async with linked(REFUSE_STREAMS, served.serve) as proxied:
        async with RawClient(proxied.connect()) as client:
            await client.send(post(b'{"stream": false}')[:-5])
            await trio.sleep(1)
            if leaving is Ending.RST:
                client.transport.rst()
        record = await proxied.last()
    assert (record.end.by, record.end.how) == ("client", str(leaving))
    assert served.connections == 0


async def test_a_body_that_breaks_while_it_is_held_is_refused_and_nothing_dialled(autojump_clock):
    served = Origin([OK])
    async with linked(REFUSE_STREAMS, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nwhat?\r\n")
        assert await client.read_all() is Ending.FIN
        assert client.head.startswith(b"HTTP/1.1 400 ")
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "clean", "malformed")
    assert served.connections == 0


async def test_one_proxy_serves_many_scenarios_by_mounting_them(autojump_clock):
    scenario = {
        "version": 1,
        "rules": [
            {"mount": "/cut", "faults": [{"cut": {"at": {"event": 1}}}]},
            {"mount": "/busy", "faults": [{"respond": {"status": 503}}]},
        ],
    }
    served = Origin([SSE, EVENTS])
    async with linked(scenario, served.serve) as proxied:
        seen = {}
        for path in ("/cut/v1?a=b", "/cut", "/busy/v1", "/cutter"):
            async with RawClient(proxied.connect()) as client:
                await client.send(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                await client.read_all(within=1)
                seen[path] = (client.head[9:12], client.body.count(b"data:"))
    assert seen == {"/cut/v1?a=b": (b"200", 1), "/cut": (b"200", 1), "/busy/v1": (b"503", 0), "/cutter": (b"200", 2)}
    assert [request.head.split()[1] for request in served.requests] == [b"/v1?a=b", b"/", b"/cutter"]


@pytest.mark.parametrize(
    ("scenario", "removed"),
    [
        ({"version": 1, "faults": [{"cut": {"at": {"event": 1}}}]}, True),
        ({"version": 1, "faults": [{"cut": {"at": {"bytes": 1}}}]}, False),
        ({"version": 1, "upstream": {"accept_encoding": "keep"}, "faults": [{"cut": {"at": {"event": 1}}}]}, False),
        (None, False),
    ],
    ids=["records", "bytes", "keep", "none"],
)
async def test_codings_are_not_asked_for_where_records_have_to_be_read(scenario, removed, autojump_clock):
    served = Origin([SSE, EVENTS])
    async with linked(scenario, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nX: y\r\n\r\n")
        await client.read_all(within=1)
        record = await proxied.last()
    assert (b"Accept-Encoding" not in served.requests[0].head) is removed
    assert record.upstream.removed == (["accept-encoding"] if removed else [])
    assert ["Accept-Encoding", "gzip"] in record.request.headers


async def test_a_coded_body_has_no_records(autojump_clock):
    scenario = {"version": 1, "faults": [{"cut": {"at": {"event": 1}}}]}
    coded = SSE.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    served = Origin([coded, EVENTS])
    async with linked(scenario, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await client.read_until(EVENTS)
        record = await proxied.last()
    assert record.response.events_in is None
    assert [(missed.fault, missed.reason) for missed in record.not_fired] == [("cut", "coded body")]


async def test_a_probability_is_drawn_from_the_seed(autojump_clock):
    scenario = {"version": 1, "rules": [{"probability": 0.5, "faults": [{"respond": {"status": 503}}]}]}

    async def statuses() -> list[int]:
        served = Origin([OK])
        async with linked(scenario, served.serve) as proxied, RawClient(proxied.connect()) as client:
            for number in range(1, 21):
                await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                await proxied.finished(number)
            return [record.response.status for record in proxied.exchanges]

    first = await statuses()
    assert first == await statuses()
    assert set(first) == {200, 503}


async def test_secrets_are_masked_in_the_journal_and_nowhere_else(autojump_clock):
    answer = b"HTTP/1.1 200 OK\r\nSet-Cookie: id=hidden\r\nContent-Length: 0\r\n\r\n"
    served = Origin([answer])
    async with linked(None, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(
            b"GET /a?key=hidden&b=c HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer hidden\r\nX-Api-Key: hidden\r\n"
            b"Cookie: hidden=1\r\n\r\n"
        )
        await client.read_until(answer)
        record = await proxied.last()
    assert "hidden" not in json.dumps(record.as_json())
    assert served.requests[0].head.count(b"hidden") == 4


async def test_the_same_script_gives_the_same_journal(autojump_clock):
    scenario = {"version": 1, "seed": 3, "faults": [{"buffer": "10"}, {"cut": {"at": {"bytes": 15}}}]}

    async def journal() -> str:
        served = Origin([SSE, b"9\r\ndata: 1\n\n\r\n", Pause(0.5), b"9\r\ndata: 2\n\n\r\n", Pause(0.25), b"0\r\n\r\n"])
        async with linked(scenario, served.serve) as proxied, RawClient(proxied.connect()) as client:
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await client.read_all()
            shown = (await proxied.last()).as_json()
        del shown["started_at"]
        return json.dumps(shown)

    assert await journal() == await journal()
