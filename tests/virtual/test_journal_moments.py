"""Each moment of the journal is the moment at which it happened, to the microsecond, and each fault has its hop."""

import contextlib

import pytest
import trio

from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Ending

GET = b"GET / HTTP/1.1\r\nhost: origin\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
COMMENT, HALF, REST, EVENT = b": hi\n\n", b"data: 1", b"\n\n", b"data: 2\n\n"
LAST = b"0\r\n\r\n"


def chunk(payload):
    return b"%x\r\n%b\r\n" % (len(payload), payload)


SCRIPT = [
    *(step for what in (HEAD, chunk(COMMENT), chunk(HALF), chunk(REST), chunk(EVENT)) for step in (Pause(0.125), what)),
    Pause(0.125),
    LAST,
]
"""The head at 0.125, a comment at 0.25, the first record from 0.375 to 0.5, the second at 0.625, the end at 0.75."""
SIZES = [len(piece) for piece in (COMMENT, HALF, REST, EVENT)]
FAR = {"version": 1, "faults": [{"latency": "1s"}]}
ARMED = {"version": 1, "faults": [{"timeout": {"idle": "60s"}}, {"cut": {"at": {"event": 9}}}]}


def moments(record):
    """Those that the journal has, without the times of the request."""
    return {name: value for name, value in record.as_json()["times"].items() if value is not None and name[:3] != "req"}


@contextlib.asynccontextmanager
async def asked(proxied, protocol):
    """A client that has asked, and a wait until its answer has ended."""
    if protocol == "h2":
        async with h2_client(proxied.connect()) as client:
            await client.request(1)
            yield client, lambda: client.until(lambda: client.streams[1].ended)
    else:
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            yield client, lambda: client.read_until(LAST)


@pytest.mark.parametrize("protocol", ["http/1.1", "h2"])
@pytest.mark.parametrize(("scenario", "late"), [(None, 0), (ARMED, 0), (FAR, 1)], ids=["none", "at rest", "latency"])
async def test_a_stream(scenario, late, protocol, autojump_clock):
    async with linked(scenario, Origin(SCRIPT).serve) as proxied, asked(proxied, protocol) as (_, whole):
        await whole()
        record = await proxied.last()
    assert moments(record) == {
        "upstream_connected": 0,
        "upstream_head": 0.125,
        "head_sent": 0.125 + late,
        "first_event_in": 0.5,
        "first_event_out": 0.5 + late,
        "last_event_out": 0.625 + late,
        "upstream_closed": 0.75,
        "end": 0.75 + late,
    }
    came = [0.25, 0.375, 0.5, 0.625]
    assert list(record.arrivals) == list(zip(came, SIZES, strict=True))
    assert list(record.deliveries) == [(time + late, size) for time, size in record.arrivals]
    assert (record.response.events_in, record.response.events_out) == (2, 2)


@pytest.mark.parametrize("protocol", ["http/1.1", "h2"])
async def test_a_client_that_leaves(protocol, autojump_clock):
    origin = Origin([HEAD, chunk(EVENT), Pause(1.25), chunk(EVENT), Pause(60)])
    async with linked(FAR, origin.serve) as proxied, asked(proxied, protocol) as (client, _):
        await trio.sleep(1.5)  # the first event has come, the second is on its way
        await (client.reset(1) if protocol == "h2" else client.leave(Ending.FIN))
        record = await proxied.last()
        with trio.fail_after(20):
            await origin.requests[0].gone.wait()
    assert moments(record) == {
        "upstream_connected": 0,
        "upstream_head": 0,
        "head_sent": 1,
        "first_event_in": 0,
        "first_event_out": 1,
        "last_event_out": 1,
        "client_closed": 1.5,
        "upstream_closed": 1.5,
        "end": 1.5,
    }
    assert (record.response.events_in, record.response.events_out) == (2, 1)
    cause = "client:stream:CANCEL" if protocol == "h2" else "client:fin"
    assert (record.upstream.end.by, record.upstream.end.how, record.upstream.end.cause) == ("proxy", "fin", cause)
    assert origin.requests[0].left_at == 1.5


async def test_each_fault_has_its_hop_and_all_that_did_not_act_are_there(autojump_clock):
    scenario = {
        "version": 1,
        "hops": [
            {"name": "gateway", "faults": [{"headers": {"remove": ["x-none"]}}, {"cut": {"at": {"event": 9}}}]},
            {"faults": [{"latency": "1s"}, {"stall": {"for": "1s", "if": {"status": "5*"}}}]},
            {"name": "nginx", "faults": [{"cut": {"at": {"event": 2}, "then": "clean"}}]},
        ],
    }
    async with linked(scenario, Origin(SCRIPT).serve) as proxied, asked(proxied, "http/1.1") as (_, whole):
        await whole()
        record = await proxied.last()
    assert [(one.t, one.fault, one.hop, one.hop_name) for one in record.faults] == [
        (0.125, "latency", 1, None),
        (1.625, "cut", 2, "nginx"),
    ]
    assert [(one.fault, one.hop, one.reason) for one in record.not_fired] == [
        ("headers", 0, "nothing to change"),
        ("cut", 0, "not reached"),
        ("stall", 1, "if"),
    ]


@pytest.mark.parametrize("then", ["fin", "abort"])
async def test_an_end_is_on_the_wire_when_it_is_journalled(then, autojump_clock, monkeypatch):
    """What the journal does with it takes its time."""
    at = {"event": 1}
    async with linked({"version": 1, "faults": [{"cut": {"at": at, "then": then}}]}, Origin(SCRIPT).serve) as proxied:
        client, seen = proxied.connect(), []
        add = proxied.proxy.journal.add

        def added(record):
            while read := client.recv(65536):
                seen.append(read)
            seen.append(read)
            add(record)

        monkeypatch.setattr(proxied.proxy.journal, "add", added)
        client.send(GET)
        await proxied.last()
    assert seen[-1] == b""
    assert b"data: 1" in b"".join(seen)
