"""What goes the straight lane is told, seen and cut just as if it had gone the long way: the same script, with the lane
and without it, whatever happens in between."""

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from chaosproxy.proxy.lane import KEPT, Lane
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Ending, Recorder
from chaosproxy.wire.transport import Transport

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b"f\r\ndata: 1234567\n\n\r\n"
LAST = b"0\r\n\r\n"

pieces = st.one_of(
    st.just(EVENT),
    st.just(EVENT),
    st.just(EVENT),
    st.sampled_from([
        b"5\r\n: hi\n\r\n",
        b"6\r\ndata: \r\n",
        b"2\r\n\n\n\r\n",
        b"1e\r\ndata: 1234567\n\ndata: 1234567\n\n\r\n",
        b"0F\r\ndata: 1234567\n\n\r\n",
        b"f;ext=1\r\ndata: 1234567\n\n\r\n",
        EVENT[:1],
        EVENT[1:],
        EVENT[:9],
        EVENT[9:],
        EVENT * 3,
        EVENT[3:9],
        EVENT[9:] + EVENT[:7],
        EVENT[7:] + EVENT,
        EVENT[:-1],
        EVENT[:-2],
        b"\r\n",
        b"\n",
        b"100\r\n" + b"x" * 200,
        b"x" * 56 + b"\r\n",
    ]),
)  # fmt: skip
"""Halves may come without the other: then the upstream breaks HTTP, and that is told alike too."""
faults = st.sampled_from([
    [],
    [{"cut": {"at": {"event": 4}, "then": "clean"}}],
    [{"cut": {"at": {"bytes": 70}, "then": "rst"}}],
    [{"cut": {"at": {"chunk": 5}, "then": "fin_mid_chunk"}}],
    [{"stall": {"at": {"event": 3}, "for": "2s"}}],
    [{"timeout": {"idle": "900ms"}}, {"cut": {"at": {"event": 9}}}],
    [{"latency": "300ms"}],
    [{"buffer": {"events": 2, "every": "1s"}}],
    [{"error_event": {"at": {"event": 2}, "format": "openai"}}],
])  # fmt: skip
SMALL = 24
gaps = st.sampled_from([0.0, 0.0, 0.1, 0.1, 1.0])


Script = Sequence[tuple[float, bytes]]


def upstream(script: Script, kind: bytes) -> Callable[[Transport], Awaitable[None]]:
    """Sends each piece after its gap, and the end five seconds later."""

    async def serve(transport: Transport) -> None:
        peer = Recorder(transport)
        await peer.read()
        with contextlib.suppress(ConnectionError):
            await peer.send(HEAD % kind)
            for gap, data in script:
                await trio.sleep(gap)
                await peer.send(data)
            await trio.sleep(5)
            await peer.send(LAST)
        await trio.sleep(300)

    return serve


@dataclass
class Played:
    """What the client got, when, and what the journal says."""

    got: list[tuple[float, bytes]]
    ended: tuple[float | None, object]
    record: dict[str, Any]


def play(script: Script, scenario: list[dict[str, Any]], leave: float | None, room: int, kind: bytes) -> Played:
    async def main() -> Played:
        document = {"version": 1, "faults": scenario}
        async with (
            linked(document, upstream(script, kind), room=room) as proxied,
            RawClient(proxied.connect()) as client,
        ):
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            with trio.move_on_after(leave or 200):
                await client.read_all(200)
            client.transport.close()
            record = await proxied.last(within=600)
            told = record.as_json()
            del told["started_at"]  # by the wall clock
            return Played(client.pieces, (client.ended_at, client.ending), told)

    return trio.run(main, clock=MockClock(autojump_threshold=0))


@pytest.fixture(scope="module")
def lane_only(request):
    """Counts the reads that the lane has carried in this module."""
    carried = [0]
    carry = Lane.carry

    def counting(self, data, now):
        done = carry(self, data, now)
        carried[0] += done
        return done

    patch = pytest.MonkeyPatch()
    patch.setattr(Lane, "carry", counting)
    yield carried
    patch.undo()


def content(played: Played) -> tuple[object, ...]:
    """The body as a reader sees it, the counts of what was delivered, and both endings. How much a read had brought when
    it was cut depends on how many bytes each read is."""
    body = decoded(b"".join(data for _, data in played.got).partition(b"\r\n\r\n")[2])
    response = {name: told for name, told in played.record["response"].items() if not name.endswith("_in")}
    return body, played.ended, response, played.record["end"], played.record["upstream"]["end"]


def decoded(raw: bytes) -> bytes:
    """The content of chunks, as far as it came."""
    body = b""
    while raw:
        size, _, raw = raw.partition(b"\r\n")
        body, raw = body + raw[: int(size or b"0", 16)], raw[int(size or b"0", 16) + 2 :]
    return body


def both_ways(*arguments: Any) -> tuple[Played, Played]:
    straight = play(*arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lane, "open", lambda *_, **__: None)
        return straight, play(*arguments)


@settings(max_examples=80)
@given(
    script=st.lists(st.tuples(gaps, pieces), min_size=3, max_size=14),
    scenario=faults,
    leave=st.sampled_from([None, None, 0.233, 1.033]),
    room=st.sampled_from([1 << 16, 1 << 16, SMALL]),
    kind=st.sampled_from([b"text/event-stream", b"text/event-stream", b"text/plain"]),
)
def test_the_lane_changes_nothing(script, scenario, leave, room, kind):
    straight, long = both_ways(script, scenario, leave, room, kind)
    if room == SMALL:  # where reads are cut there is a matter of whose task comes first: what was in them is not
        assert content(straight) == content(long)
    else:
        assert straight == long


def play_h2(script: Script, scenario: list[dict[str, Any]], window: int, leave: float | None) -> object:
    """Two streams of one HTTP/2 client, the second stalled if `window` is small: its frames, and the journal."""

    async def main() -> object:
        document = {"version": 1, "faults": scenario}
        async with (
            linked(document, upstream(script, b"text/event-stream")) as proxied,
            h2_client(proxied.connect(), window=window) as client,
        ):
            if window == SMALL:
                client.stalled.add(3)
            await client.request(1)
            await trio.sleep(0.05)
            with contextlib.suppress(ConnectionError):  # a fault has ended the connection
                await client.request(3)
            with trio.move_on_after(leave or 100):
                await client.until_ended(within=600)
            await client.leave(Ending.FIN)
            await trio.sleep(400)  # whatever is still to come has come
            told = sorted((record.as_json() for record in proxied.exchanges), key=lambda one: one["id"])
            for one in told:
                del one["started_at"]
            seen = {number: (one.frames, one.ended, one.reset) for number, one in client.streams.items()}
            if window == SMALL:  # what fits a window depends on whose task comes first; what comes does not
                return {number: (one.body, one.ended, one.reset) for number, one in client.streams.items()}
            return seen, told

    return trio.run(main, clock=MockClock(autojump_threshold=0))


@settings(max_examples=40)
@given(
    script=st.lists(st.tuples(gaps, pieces), min_size=3, max_size=12),
    scenario=faults,
    window=st.sampled_from([65535, 65535, SMALL]),
    leave=st.sampled_from([None, None, 1.033]),
)
def test_nor_does_it_for_frames(script, scenario, window, leave):
    straight = play_h2(script, scenario, window, leave)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lane, "open", lambda *_, **__: None)
        assert straight == play_h2(script, scenario, window, leave)


@pytest.mark.parametrize("scenario", [[], [{"cut": {"at": {"event": 700}, "then": "clean"}}]], ids=["none", "cut"])
def test_a_long_stream_takes_the_lane_and_is_told_whole(lane_only, scenario):
    events = 2 * KEPT + 300
    before = lane_only[0]
    straight, long = both_ways([(0.01, EVENT)] * events, scenario, None, 1 << 16, b"text/event-stream")
    assert straight == long
    seen = 699 if scenario else events
    assert lane_only[0] - before > 0.95 * seen
    assert straight.record["response"]["events_out"] == (700 if scenario else events)
    assert len(straight.record["deliveries"]) == straight.record["response"]["events_out"]


def test_an_event_that_a_limit_lies_in_is_counted_with_those_before_it():
    script, stalls = [(0.1, EVENT)] * 12, [{"stall": {"at": {"event": 5, "every": 3, "times": 2}, "for": "50ms"}}]
    straight, long = both_ways(script, stalls, None, 1 << 16, b"text/event-stream")
    assert straight == long
    told = straight.record["response"]
    assert (told["bytes_in"], told["events_in"], told["bytes_out"]) == (12 * 15, 12, 12 * 15)
