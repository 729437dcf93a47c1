"""The lane of an HTTP/2 upstream's frames changes nothing: the same script with it and without it, to both kinds of client.

Compared is everything that both peers are sent, to the byte, the write and the moment, and the journal.
"""

import contextlib
from collections.abc import Sequence
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st
from trio._core import _run as scheduler
from trio.testing import MockClock

from chaosproxy.http2.frames import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADER,
    HEADERS,
    PADDED,
    PING,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    frame,
)
from chaosproxy.proxy.lane import KEPT, Lane
from chaosproxy.proxy.upstream_connection import CREDITED
from chaosproxy.testing.h2_peers import WINDOW, h2_client
from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder
from tests.virtual.test_lane import SMALL, faults

SSE = b"\x88\x0f\x10\x11text/event-stream"
"""An answer's field block: status 200, and a content type."""
LENGTH = b"\x88\x0f\x0d\x0245"
EVENT = b"data: 1234567\n\n"
HALF = b"data: 12"
MANY = b": a comment, and then\n\n" + EVENT * 3

Read = tuple[float, bytes]


def data(payload: bytes, stream: int = 1, flags: int = 0) -> bytes:
    return frame(DATA, flags, stream, payload)


READS = {
    "an event": data(EVENT),
    "for the other": data(EVENT, 3),
    "half": data(HALF),
    "the other half": data(EVENT[8:]),
    "several in a frame": data(MANY),
    "a hundred": data(EVENT * 100),
    "three frames": data(EVENT) * 3,
    "one each": data(EVENT) + data(EVENT, 3),
    "halves": data(EVENT, 3) + data(HALF) + data(EVENT[8:]),
    "an empty frame behind": data(EVENT) + data(b""),
    "five octets of it": data(EVENT)[:5],
    "from the sixth on": data(EVENT)[5:],
    "twelve octets of it": data(EVENT)[:12],
    "from the thirteenth on": data(EVENT)[12:],
    "an end and a beginning": data(EVENT)[12:] + data(EVENT)[:7],
    "a head behind": data(EVENT) + data(EVENT)[:9],
    "empty": data(b""),
    "padded": data(b"\x03" + EVENT + bytes(3), flags=PADDED),
    "padded with nothing": data(b"\x00" + EVENT, flags=PADDED),
    "an unknown flag": data(EVENT, flags=0x40),
    "the reserved bit": HEADER.pack(len(EVENT) << 8 | DATA, 0, 1 << 31 | 1) + EVENT,
    "an idle stream": data(EVENT, 5),
    "no stream": data(EVENT, 0),
    "the last": data(EVENT, flags=END_STREAM),
    "the other's last": data(EVENT, 3, END_STREAM),
    "end": data(b"", flags=END_STREAM),
    "largest": data(b"x" * 16_384),
    "too large": data(b"x" * 16_385),
    "three of the largest": data(b"x" * 16_384) * 3,
    "trailers": frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x00\x01a\x01b"),
    "half a block": frame(HEADERS, END_STREAM, 1, b"\x00\x01a"),
    "ping": frame(PING, 0, 0, bytes(8)),
    "ping in front": frame(PING, 0, 0, bytes(8)) + data(EVENT),
    "settings": frame(SETTINGS, 0, 0),
    "window": frame(WINDOW_UPDATE, 0, 1, b"\0\0\0\x01"),
    "reset": frame(RST_STREAM, 0, 1, b"\0\0\0\x08"),
    "the other reset": frame(RST_STREAM, 0, 3, b"\0\0\0\x00"),
    "unknown": frame(0x42, 0, 1, EVENT),
}
"""Some are halves whose other half does not come, or break HTTP/2: that is told alike too."""
gaps = st.sampled_from([0.001, 0.001, 0.103, 0.103, 1.007])
"""None is 0: whether a client's credit comes before the next read of one moment is anybody's."""
plain = st.sampled_from(["an event", "an event", "an event", "for the other", "one each"])
names = st.one_of(plain, plain, plain, st.sampled_from(sorted(READS)))


def upstream(script: Sequence[Read], block: bytes, heard: list[Read], streams: int):
    """Answers the heads of `streams` requests, then sends each of the reads after its gap. What it is sent is `heard`."""

    async def serve(transport):
        peer = Recorder(transport)
        async with trio.open_nursery() as nursery:

            async def listen() -> None:
                while told := await peer.read():
                    heard.append((trio.current_time(), told))

            nursery.start_soon(listen)
            with contextlib.suppress(ConnectionError):
                await peer.send(frame(SETTINGS, 0, 0))
                await trio.sleep(0.5)
                for number in range(streams):
                    await peer.send(frame(HEADERS, END_HEADERS, 2 * number + 1, block))
                for gap, read in script:
                    await trio.sleep(gap)
                    await peer.send(read)
                await trio.sleep(5)
                for number in range(streams):
                    await peer.send(data(b"", 2 * number + 1, END_STREAM))
            await trio.sleep(300)
            nursery.cancel_scope.cancel()

    return serve


async def asks_h2(transport, window: int, leave: float | None) -> list[Read]:
    async with h2_client(transport, window=window) as client:
        if window < WINDOW:
            client.stalled.add(3)
        await client.request(1)
        with contextlib.suppress(ConnectionError):
            await client.request(3)
        await client.until_ended(within=leave or 100)
        return client.recorder.pieces


async def asks_h1(transport, leave: float) -> list[Read]:
    async with RawClient(transport) as client:
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with trio.move_on_after(leave), contextlib.suppress(EOFError):
            await client.read_all(200)
        return client.pieces


def play(
    script: Sequence[Read], scenario: list[dict[str, Any]], block: bytes, window: int | None, leave: float | None
) -> dict[str, Any]:
    """`window`: of an HTTP/2 client with two streams, the second of which is never credited; None: two of HTTP/1.1."""

    async def main() -> dict[str, Any]:
        document = {"version": 1, "upstream": {"protocol": "h2"}, "faults": scenario}
        heard: list[Read] = []
        got: dict[int, list[Read]] = {}
        serve = upstream(script, block, heard, 2)
        async with linked(document, serve, upstream="h2c://origin") as proxied, trio.open_nursery() as nursery:

            async def ask(number: int) -> None:
                if window is None:
                    until = (leave or 100) + number / 1000  # of one moment the order is anybody's
                    got[number] = await asks_h1(proxied.connect(), until)
                else:
                    got[number] = await asks_h2(proxied.connect(), window, leave)

            for number in (1, 3)[: 1 if window else 2]:
                nursery.start_soon(ask, number)
                await trio.testing.wait_all_tasks_blocked()
            await trio.sleep(400)  # whatever is still to come has come
            told = sorted((record.as_json() for record in proxied.exchanges), key=lambda one: one["id"])
            for one in told:
                del one["started_at"]
            return {"got": got, "heard": heard, "told": told}

    return trio.run(main, clock=MockClock(autojump_threshold=0))


def both_ways(*arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Whose turn comes first at one moment, Trio draws by lot; here it is the same both times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scheduler, "_ALLOW_DETERMINISTIC_SCHEDULING", True)
        patch.setattr(scheduler._r, "shuffle", lambda _: None)
        straight = play(*arguments)
        patch.setattr(Lane, "open", lambda *_, **__: False)
        return straight, play(*arguments)


@pytest.fixture(scope="module")
def carried():
    """Counts the reads that the lane has carried."""
    count = [0]
    carry = Lane.carry

    def counting(self, read, now):
        done = carry(self, read, now)
        count[0] += done
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lane, "carry", counting)
        yield count


@settings(max_examples=80)
@given(
    script=st.lists(st.tuples(gaps, names), min_size=3, max_size=14),
    scenario=faults,
    block=st.sampled_from([SSE, SSE, SSE, LENGTH]),
    window=st.sampled_from([None, None, WINDOW, WINDOW, SMALL]),
    leave=st.sampled_from([None, None, 1.033]),
)
def test_the_lane_of_frames_changes_nothing(script, scenario, block, window, leave):
    reads = [(gap, READS[name]) for gap, name in script]
    straight, long = both_ways(reads, scenario, block, window, leave)
    assert straight == long


@pytest.mark.parametrize("window", [None, WINDOW], ids=["h1", "h2"])
@pytest.mark.parametrize("scenario", [[], [{"cut": {"at": {"event": 700}, "then": "clean"}}]], ids=["none", "cut"])
def test_a_long_stream_takes_the_lane_and_is_told_whole(carried, scenario, window):
    events = 2 * KEPT + 300
    before = carried[0]
    straight, long = both_ways([(0.01, data(EVENT))] * events, scenario, SSE, window, None)
    assert straight == long
    seen = 700 if scenario else events
    assert carried[0] - before > 0.95 * seen
    answer = straight["told"][0]["response"]
    assert answer["events_out"] == seen
    assert b"".join(read for _, read in straight["got"][1]).count(EVENT) == seen


@pytest.mark.parametrize("size", [1, 300, CREDITED, 16_384])
def test_an_upstream_is_credited_at_the_same_moments(carried, size):
    before = carried[0]
    reads = [(0.0, data(EVENT))] + [(0.01, data(b"x" * size))] * (200_000 // max(size, 300))
    straight, long = both_ways(reads, [], SSE, WINDOW, None)
    assert straight == long
    assert carried[0] - before > 0.9 * len(reads)
    credited = b"".join(read for _, read in straight["heard"]).count(HEADER.pack(4 << 8 | WINDOW_UPDATE, 0, 1))
    assert credited > 1 if size > 1 else not credited
