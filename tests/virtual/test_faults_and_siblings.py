"""Every fault that may stand in a hop acts on one stream: the others of its HTTP/2 connection get their bytes at their moments,
and their ends, whatever it does; the connections of both sides live."""

from typing import Any

import pytest
import trio

import chaosproxy.faults
from chaosproxy.chain.fault import REGISTRY
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import CANCEL, H2Peer, h2_client
from chaosproxy.testing.proxied import linked

EVENTS = 6
"""Of each answer, a second apart, the first at once."""
SECOND = {"at": {"event": 2}}
OTHERS = [1, 5, 9]
"""The siblings, opened before, between and behind those that meet the fault."""
STRUCK = [3, 7]
INTERNAL_ERROR = 0x2
LARGEST = 2**31 - 1
CUTS = ["abort", "clean", "silence", "fin_mid_chunk", {"stream": "NO_ERROR"}, {"goaway": "NO_ERROR", "last": "max"}]

FAULTS: dict[str, Any] = {
    "absorb": "1MiB",
    "abort_upstream": SECOND,
    "auth": {},
    "bandwidth": "5/s",
    "blackhole": SECOND,
    "broken_end": {"then": {"stream": "CANCEL"}},
    "buffer": {"bytes": "1KiB", "until_end": True},
    "cache": {"limit": "1MiB"},
    "chunk_syntax": {"zeros": 2},
    "client_abort": {"mode": "ignore"},
    "compress": {"coding": "gzip", "when_accepted": False},
    "concurrency": {"limit": 1},
    "cork": "500ms",
    "drop": SECOND,
    "duplicate": SECOND,
    "error_event": SECOND,
    "frames": {"data": 1, "padding": 200, "reset": "CANCEL"},
    "framing": {"content_length": 5},
    "goaway": {**SECOND, "last": "max"},
    "grpc_status": SECOND,
    "headers": {"add": {"x-added": "x" * 5000}},
    "hold_head": "end",
    "inject": {**SECOND, "size": "100KiB"},
    "latency": "3s",
    "line_endings": "crlf",
    "linger": "3s",
    "mutate": {**SECOND, "json": {"more": "x" * 20_000}},
    "pace": {"bytes": 1, "every": "1s"},
    "rate_limit": {"limit": "1/m"},
    "refuse": {},
    "reorder": SECOND,
    "replace_body": {"events": "gone"},
    "resegment": {"bytes": 1, "pause": "100ms"},
    "respond": 503,
    "retry_upstream": {"on": "error", "times": 2},
    "route": {"replicas": 2},
    "slow_reader": {"rate": "1/s", "window": 1},
    "stall": {**SECOND, "for": "1h"},
    "strip": ["done"],
    "timeout": {"idle": "500ms"},
}
ROWS = [*FAULTS.items(), *(("cut", {**SECOND, "then": then}) for then in CUTS)]


def test_each_of_them_is_here():
    shipped = {one.name for one in REGISTRY.values() if one.__module__.startswith(chaosproxy.faults.__name__)}
    assert {name for name, _ in ROWS} == {name for name in shipped if REGISTRY[name].in_hops}


OVER_HTTP_1 = {"chunk_syntax", "linger"}
"""They have nothing to do here, and say so."""


async def answer(peer: H2Peer, stream: int) -> None:
    """Events; messages of a call, whose status follows; or a failure, before the head or behind it."""
    kind = dict(peer.streams[stream].heads[0])[b":path"]
    call = kind == b"/grpc_status"
    if kind == b"/retry_upstream":
        await peer.reset(stream, INTERNAL_ERROR)
        return
    content = b"application/grpc" if call else b"text/event-stream"
    await peer.headers(stream, [(b":status", b"200"), (b"content-type", content)])
    for number in range(1, EVENTS + 1):
        event = b'data: {"n":%d}\n\n' % number if kind != b"/absorb" else b"data: %s\n\n" % (b"x" * 16_000)
        for _ in range(4 if kind == b"/absorb" else 1):
            await peer.data(stream, b"\0\0\0\0\x05{}%03d" % number if call else event)
        if kind == b"/broken_end":
            await peer.reset(stream, INTERNAL_ERROR)
            return
        await trio.sleep(1)
    if call:
        await peer.headers(stream, [(b"grpc-status", b"0")], end=True)
    else:
        await peer.data(stream, b"data: [DONE]\n\n", end=True)


@pytest.mark.parametrize(("name", "value"), ROWS, ids=[f"{name}: {value}"[:60] for name, value in ROWS])
async def test_the_others_do_not_notice(autojump_clock, name: str, value: object):
    rule = {"match": {"path": f"/{name}"}, "faults": [{name: value}]}
    scenario = {"version": 1, "rules": [rule]}
    async with (
        linked(scenario, lambda link: serve_h2(link, answer), upstream="h2c://origin") as proxied,
        h2_client(proxied.connect()) as client,
    ):
        client.stalled.update(STRUCK if name == "absorb" else [])
        began = {}
        for number in sorted([*OTHERS, *STRUCK]):
            began[number] = trio.current_time()
            await client.request(number, "/whole" if number in OTHERS else f"/{name}")
            await trio.sleep(0.1)
        if name == "client_abort":
            await trio.sleep(1)
            for number in STRUCK:
                await client.reset(number, CANCEL)
        await client.until(lambda: all(client.streams[number].over for number in OTHERS), within=100)
        for number in OTHERS:
            seen = client.streams[number]
            assert [round(time - began[number], 6) for time, _ in seen.frames][:EVENTS] == list(range(EVENTS))
            assert (seen.ended, seen.reset) == (True, None)
            assert b"".join(payload for _, payload in seen.frames).endswith(b"[DONE]\n\n")
        assert client.ending is None
        assert set(client.goaways) == ({(0, LARGEST)} if "goaway" in f"{name}{value}" else set())
        if name == "absorb":
            for number in STRUCK:
                await client.credit(number, 1_000_000)
            await proxied.finished(len(began))
        records = [*proxied.exchanges, *proxied.proxy.running]
        assert all(record.faults == record.not_fired == [] for record in records if record.client.stream in OTHERS)
        struck = [record for record in records if record.client.stream in STRUCK]
        assert {one.fault for record in struck for one in record.faults} == {name} - OVER_HTTP_1
        assert {record.upstream.connection for record in records} <= {1, None}, "one for all of them, and it lives"
