"""A fault at event N leaves what is before it alone: the bytes, and the moment of each event, whatever the framing, the
protocols, and the upstream's cuts."""

from collections.abc import Sequence

import pytest
import trio

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import H2Peer, h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked
from tests.virtual.shipped import GET, LAST, chunk

EVENTS = [b"data: event %d\n\n" % number for number in range(1, 7)]
BODY = b"".join(EVENTS)
BEHIND = {
    "cut, abort": {"cut": {"at": {"event": 3}, "then": "abort"}},
    "cut, clean": {"cut": {"at": {"event": 3}, "then": "clean"}},
    "cut, rst": {"cut": {"at": {"event": 3}, "then": "rst"}},
    "stall": {"stall": {"at": {"event": 3}, "for": "9s"}},
    "blackhole": {"blackhole": {"at": {"event": 3}}},
    "error_event": {"error_event": {"at": {"event": 3}}},
    "inject": {"inject": {"comment": "x", "at": {"event": 3}}},
    "abort_upstream": {"abort_upstream": {"at": {"event": 3}}},
}
"""These act right behind event 3."""
ON = {
    "drop": {"drop": {"at": {"event": 4}}},
    "duplicate": {"duplicate": {"at": {"event": 4}}},
    "reorder": {"reorder": {"at": {"event": 4}}},
    "mutate": {"mutate": {"insert": "x", "at": {"event": 4}}},
    "cut before a record": {"cut": {"at": {"match": "event 4"}, "then": "abort"}},
}
"""These act on event 4, and may hold it."""
STRADDLING = [BODY[:5], BODY[5:20], BODY[20:31], BODY[31:60], BODY[60:61], BODY[61:]]
CUTS: dict[str, list[tuple[float, bytes]]] = {
    "an event each second": [(float(number), event) for number, event in enumerate(EVENTS)],
    "all in one read": [(1.0, BODY)],
    "byte by byte": [(number / 16, BODY[number : number + 1]) for number in range(len(BODY))],
    "across events": [(float(number), piece) for number, piece in enumerate(STRADDLING)],
}
HEADS = {
    "chunked": b"Transfer-Encoding: chunked\r\n",
    "close-delimited": b"Connection: close\r\n",
    "length": b"Content-Length: %d\r\n" % len(BODY),
}


def due(cuts: Sequence[tuple[float, bytes]], count: int) -> list[float]:
    """When the last byte of each of the first `count` events is sent."""
    times, sent, number = [], 0, 1
    for time, piece in cuts:
        sent += len(piece)
        while number <= count and sent >= sum(map(len, EVENTS[:number])):
            times.append(time)
            number += 1
    return times


def came(arrivals: Sequence[tuple[float, bytes]], count: int) -> list[float]:
    """When the last byte of each of the first `count` events had come, in a body that begins with them."""
    body = b""
    times: list[float] = []
    for time, payload in arrivals:
        body += payload
        while len(times) < count and body.startswith(b"".join(EVENTS[: len(times) + 1])):
            times.append(round(time, 6))
    return times


def script(framing: str, cuts: Sequence[tuple[float, bytes]]) -> list:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n%s\r\n" % HEADS[framing]
    steps: list = [head]
    now = 0.0
    for time, piece in cuts:
        steps += [Pause(time - now), chunk(piece) if framing == "chunked" else piece]
        now = time
    end = {"chunked": [LAST], "close-delimited": [Ending.FIN], "length": []}
    return [*steps, *end[framing]]


async def by_h1(faults: list, serve, upstream: str) -> list[tuple[float, bytes]]:
    async with (
        linked({"version": 1, "faults": faults}, serve, upstream=upstream) as proxied,
        RawClient(proxied.connect()) as client,
    ):
        began = trio.current_time()
        await client.send(GET)
        await client.read_all(within=40)
        head = client.received.index(b"\r\n\r\n") + 4
        chunked = b"transfer-encoding: chunked" in client.head.lower()
        arrivals, body = [], b""
        for time, data in client.pieces:
            body += data
            arrivals.append((time - began, unframed(body[head:]) if chunked else body[head:]))
    return [
        (time, payload[len(before) :])
        for (_, before), (time, payload) in zip([(0.0, b""), *arrivals], arrivals, strict=False)
    ]


def unframed(body: bytes) -> bytes:
    """What of the chunks has come so far."""
    payload = b""
    while b"\r\n" in body:
        size, _, rest = body.partition(b"\r\n")
        nbytes = int(size, 16)
        payload += rest[:nbytes]
        if len(rest) < nbytes + 2:
            break
        body = rest[nbytes + 2 :]
    return payload


async def by_h2(faults: list, serve, upstream: str) -> list[tuple[float, bytes]]:
    async with (
        linked({"version": 1, "faults": faults}, serve, upstream=upstream) as proxied,
        h2_client(proxied.connect()) as client,
    ):
        began = trio.current_time()
        await client.request(1, "/sse")
        with trio.move_on_after(40):
            await client.until(lambda: client.streams[1].over or client.ending is not None, within=40)
        return [(time - began, payload) for time, payload in client.streams[1].frames]


CLIENTS = {"http/1.1": by_h1, "h2": by_h2}
TABLE = [(name, fault, 3) for name, fault in (BEHIND | ON).items()]
by_fault = pytest.mark.parametrize(("fault", "count"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])


@by_fault
@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("framing", HEADS)
@pytest.mark.parametrize("client", CLIENTS)
async def test_what_is_before_it_is_untouched_and_on_time(autojump_clock, client, framing, cuts, fault, count):
    served = Origin(script(framing, CUTS[cuts]))
    arrivals = await CLIENTS[client]([fault], served.serve, "http://origin")
    assert came(arrivals, count) == [round(time, 6) for time in due(CUTS[cuts], count)]


@by_fault
@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("client", CLIENTS)
async def test_the_same_behind_an_http_2_upstream(autojump_clock, client, cuts, fault, count):
    async def answer(peer: H2Peer, stream: int) -> None:
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        now = 0.0
        for time, piece in CUTS[cuts]:
            await trio.sleep(time - now)
            await peer.data(stream, piece)
            now = time
        await peer.data(stream, b"", end=True)

    async def serve(transport) -> None:
        await serve_h2(transport, answer)

    arrivals = await CLIENTS[client]([fault], serve, "h2c://origin")
    assert came(arrivals, count) == [round(time, 6) for time in due(CUTS[cuts], count)]
