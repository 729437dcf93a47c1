"""Which exchanges an expectation is about: `match`, `nth`, mounts, the scenario in force; bodies that are coded. Virtual time."""

import zlib

import pytest

import chaosproxy
from chaosproxy.embedded.setup import read
from chaosproxy.proxy.planner import Planner
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Origin, RawClient
from chaosproxy.testing.proxied import linked

SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT, LAST = b"9\r\ndata: a\n\n\r\n", b"0\r\n\r\n"
WHOLE = [SSE, EVENT, LAST]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def post(path: str, body: bytes = b"{}", *fields: bytes) -> bytes:
    lines = [b"POST %b HTTP/1.1" % path.encode(), b"Host: x", *fields, b"Content-Length: %d" % len(body)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


async def asked(proxied, *requests: bytes, whole: bytes = LAST) -> None:
    """One after another, each over a connection of its own."""
    before = proxied.proxy.journal.total
    for request in requests:
        async with RawClient(proxied.connect()) as client:
            await client.send(request)
            await client.read_until(whole)
    await proxied.finished(before + len(requests))


def about(proxied) -> list[list[int]]:
    """The exchanges that each expectation was about."""
    judged = proxied.proxy.planner.judge(proxied.exchanges)
    return [[number for finding in verdict.findings for number in finding.exchanges] for verdict in judged.each]


def expecting(*narrowed: dict, **more: object) -> dict:
    return {"version": 1, "expect": [{"head": {"within": "1s", **one}} for one in narrowed], **more}


async def test_by_match(autojump_clock):
    scenario = expecting(
        {},
        {"match": {"path": "/a*"}},
        {"match": {"headers": {"x-who": "me"}}},
        {"match": {"json": {"stream": True}}},
        {"match": {"json": {"stream": False}, "path": "/b"}},
        {"match": {"method": "GET"}},
    )
    async with linked(scenario, Origin(WHOLE).serve) as proxied:
        await asked(
            proxied,
            post("/a1", b'{"stream": true}'),
            post("/b", b"{}", b"X-Who: me"),
            post("/b", b'{"stream": false}'),
        )
        assert about(proxied) == [[1, 2, 3], [1], [2], [1], [3], []]
        bad = proxied.proxy.planner.judge(proxied.exchanges).bad
    assert [verdict.nothing for verdict in bad] == ["no exchange has ended"], "of the last, which nobody has met"


async def test_by_nth_counted_apart_from_the_rules(autojump_clock):
    scenario = expecting(
        {"nth": 2},
        {"nth": "3-"},
        {"match": {"path": "/b"}, "nth": 1},
        {"match": {"json": {"n": 1}}, "nth": "every 2"},
        rules=[{"match": {"path": "/a"}, "nth": 1, "faults": [{"latency": "10ms"}]}],
    )
    async with linked(scenario, Origin(WHOLE).serve) as proxied:
        await asked(
            proxied,
            post("/a", b'{"n": 1}'),
            post("/a", b'{"n": 1}'),
            post("/b", b'{"n": 2}'),
            post("/b", b'{"n": 1}'),
            post("/a", b'{"n": 1}'),
        )
        assert about(proxied) == [[2], [3, 4, 5], [3], [2, 5]]
        assert [record.rule for record in proxied.exchanges] == [0, None, None, None, None]


async def test_a_mount_is_no_part_of_the_path(autojump_clock):
    scenario = expecting(
        {"match": {"path": "/v1"}},
        {"match": {"path": "/slow*"}},
        rules=[{"mount": "/slow", "faults": [{"latency": "10ms"}]}],
    )
    served = Origin(WHOLE)
    async with linked(scenario, served.serve) as proxied:
        await asked(proxied, post("/slow/v1"), post("/v1"))
        assert about(proxied) == [[1, 2], []]
    assert [seen.head.split()[1] for seen in served.requests] == [b"/v1", b"/v1"]


async def test_a_reload_changes_what_is_expected_of_new_exchanges(autojump_clock):
    async with linked(expecting({}), Origin(WHOLE).serve) as proxied:
        await asked(proxied, post("/a"))
        assert about(proxied) == [[1]]
        proxied.proxy.reload(Planner(read(expecting({"nth": 1}, {})), 1, 1.0))
        assert about(proxied) == [[], []]
        await asked(proxied, post("/a"))
        assert about(proxied) == [[2], [2]]
        proxied.proxy.reload(Planner(read(None), 1, 1.0))
        await asked(proxied, post("/a"))
        assert proxied.proxy.planner.judge(proxied.exchanges).each == ()


async def test_use_changes_what_is_expected():
    with chaosproxy.serve(expecting({"within": "1h"})) as proxy:
        assert "nothing to judge" in str(proxy.verdict())
        proxy.use({"version": 1, "expect": [{"attempts": 1}]})
        assert str(proxy.verdict()).startswith("attempts: expected 1 attempt of each call")
        proxy.use(None)
        assert proxy.verdict().good


CODED = zlib.compress(b"data: a\n\n", wbits=31)
GZIP = SSE[:-2] + b"Content-Encoding: gzip\r\n\r\n"


@pytest.mark.parametrize(("expect", "asks_for_none"), [({"first_event": "1s"}, True), ({"head": "1s"}, False)])
async def test_who_looks_at_events_wants_a_body_that_is_not_coded(expect, asks_for_none, autojump_clock):
    served = Origin(WHOLE)
    scenario = {
        "version": 1,
        "expect": [{name: {"within": limit, "match": {"path": "/a"}} for name, limit in expect.items()}],
    }
    async with linked(scenario, served.serve) as proxied:
        await asked(proxied, post("/a", b"", b"Accept-Encoding: gzip"), post("/b", b"", b"Accept-Encoding: gzip"))
        removed = [record.upstream.removed for record in proxied.exchanges]
    assert [b"Accept-Encoding" in seen.head for seen in served.requests] == [not asks_for_none, True]
    assert removed == [["accept-encoding"] * asks_for_none, []]


async def test_a_body_that_is_coded_all_the_same_has_no_events(autojump_clock):
    served = Origin([GZIP, b"%x\r\n%b\r\n" % (len(CODED), CODED), LAST])
    scenario = {"version": 1, "expect": [{"first_event": "1s"}, {"event_age": "1s"}, {"gap": "1s"}, "unchanged"]}
    async with linked(scenario, served.serve) as proxied:
        await asked(proxied, post("/a"))
        judged = proxied.proxy.planner.judge(proxied.exchanges)
    assert [(bool(verdict.findings), verdict.good) for verdict in judged.each] == [(False, False)] * 3 + [(True, True)]


async def test_answers_of_the_proxys_own_are_judged_too(autojump_clock):
    scenario = {
        "version": 1,
        "faults": [{"respond": {"status": 429, "retry_after": 3}}],
        "expect": [{"header": {"name": "retry-after", "value": "3"}}, {"ended": {"by": "proxy"}}, "unchanged"],
    }
    async with linked(scenario, Origin(WHOLE).serve) as proxied:
        await asked(proxied, post("/a"), whole=b"\r\n\r\n")
        judged = proxied.proxy.planner.judge(proxied.exchanges)
    assert [verdict.good for verdict in judged.each] == [True, True, False]
    assert "nothing to judge: no upstream answered" in str(judged.each[2])


async def test_over_http2_on_both_sides(autojump_clock):
    async def answer(peer, number):
        await peer.headers(number, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        await peer.data(number, b"data: a\n\n")
        await peer.data(number, b"data: b\n\n", end=True)

    scenario = {
        "version": 1,
        "expect": [{"first_event": "0ms"}, {"gap": "0ms"}, {"event_age": "0ms"}, "unchanged", {"attempts": 2}],
    }
    async with linked(scenario, lambda transport: serve_h2(transport, answer), upstream="h2c://origin") as proxied:
        async with h2_client(proxied.connect()) as client:
            for stream in (1, 3):
                await client.request(stream, "/a")
            await client.until(lambda: all(client.streams[stream].ended for stream in (1, 3)))
        await proxied.finished(2)
        judged = proxied.proxy.planner.judge(proxied.exchanges)
        assert judged.good, judged
        assert [len(verdict.findings) for verdict in judged.each] == [2, 2, 2, 2, 1]
        assert [list(record.evidence.events_out) for record in proxied.exchanges] == [[0.0, 0.0]] * 2
