"""What makes it fast, held without a clock: calls of functions are counted, which no neighbour on the machine disturbs."""

import gc
import sys
import tracemalloc
from collections import Counter
from contextlib import contextmanager

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from benchmarks.chained import FAULTS
from benchmarks.frames import h2_opening
from benchmarks.wire import event_chunk, h1_head, h1_request
from chaosproxy.proxy.lane import KEPT
from chaosproxy.testing.proxied import linked

ROOM = 1 << 20
EVENT = event_chunk(7)
OURS, TESTING, TRIO = "/chaosproxy/", "/chaosproxy/testing/", "/trio/"


@contextmanager
def calls():
    """Counts, by file and name, the functions of the proxy, and of Trio, that are called in the block."""
    seen = Counter()

    def note(frame, what, _):
        if what == "call":
            code = frame.f_code
            seen[code.co_filename, code.co_qualname] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(before)


def own(seen):
    return sum(number for (file, _), number in seen.items() if OURS in file and TESTING not in file)


def named(seen, file, name=""):
    return sum(number for (where, what), number in seen.items() if file in where and what.endswith(name))


class Streams:
    """Streams through a proxy in memory, whose origin says an event when it is told to."""

    def __init__(self) -> None:
        self.sides = []
        """The origin's ends, one for each stream."""
        self.clients = []

    async def serve(self, transport):
        await transport.readable()
        transport.recv(65536)
        transport.send(h1_head("text/event-stream"))
        self.sides.append(transport)
        await trio.sleep_forever()

    async def opened(self, proxy, number, *, h2=False):
        for count in [25] * (number // 25) + [number % 25] if h2 else [1] * number:
            client = proxy.connect()
            client.send(h2_opening("/", count) if h2 else h1_request("/"))
            self.clients.append(client)
            await wait_all_tasks_blocked()
            if h2:
                client.send(b"\0\0\0\4\1\0\0\0\0")  # its SETTINGS are acknowledged
        await wait_all_tasks_blocked()
        assert len(self.sides) == number
        self.received()

    def received(self):
        """Everything that the clients have been sent meanwhile."""
        found = []
        for client in self.clients:
            while data := client.recv(ROOM):
                found.append(data)
        return found

    async def says(self, rounds, payload=EVENT):
        """On each stream in turn; nobody is busy when the next one comes."""
        for _ in range(rounds):
            for side in self.sides:
                side.send(payload)
                await wait_all_tasks_blocked()

    async def counted(self, rounds):
        """What `rounds` events on each stream call, and that all of them have come."""
        self.received()
        with calls() as seen:
            await self.says(rounds)
        assert b"".join(self.received()).count(EVENT[4:-2]) == rounds * len(self.sides)
        return seen


@pytest.fixture
def streams():
    return Streams()


@pytest.fixture
def mock_clock():
    return MockClock()  # it stands still: nothing but what arrives can make anybody act


async def per_event(number, *, h2):
    streams = Streams()
    rounds = max(1, 200 // number)
    async with linked(None, streams.serve, room=ROOM) as proxy:
        await streams.opened(proxy, number, h2=h2)
        await streams.says(1)
        return own(await streams.counted(rounds)) / (rounds * number)


@pytest.mark.parametrize("h2", [False, True], ids=["h1", "h2"])
async def test_an_event_costs_the_same_on_1_and_on_200_streams(h2, mock_clock):
    alone, many = await per_event(1, h2=h2), await per_event(200, h2=h2)
    assert 1 < alone < 100
    assert many == pytest.approx(alone, rel=0.03)


async def test_event_100_000_costs_what_event_1_000_does(streams, mock_clock):
    async with linked(None, streams.serve, room=ROOM) as proxy:
        await streams.opened(proxy, 1)
        await streams.says(1, EVENT * 1000)
        early = own(await streams.counted(2 * KEPT))  # so that what is done once for so many is in both
        for _ in range(99):
            await streams.says(1, EVENT * 1000)
            streams.received()
        late = own(await streams.counted(2 * KEPT))
    assert early > 2 * KEPT
    assert late == pytest.approx(early, rel=0.03)


async def test_more_events_in_one_read_are_no_more_reads_or_writes(streams, mock_clock):
    async with linked(None, streams.serve, room=ROOM) as proxy:
        await streams.opened(proxy, 1)
        await streams.says(1, EVENT * 100)
        assert len(streams.received()) == 1


IDLE = {"version": 1, "rules": [{"hops": [{"faults": [{"timeout": {"idle": "60s"}}]}]}]}
LATE = {"version": 1, "rules": [{"hops": [{"faults": [{"latency": "5ms"}]}]}]}


@pytest.mark.parametrize("scenario", [None, IDLE], ids=["none", "an idle timeout"])
async def test_an_event_sets_no_timer_and_opens_no_scope_or_task(scenario, streams, mock_clock):
    async with linked(scenario, streams.serve, room=ROOM) as proxy:
        await streams.opened(proxy, 3)
        seen = await streams.counted(20)
    assert named(seen, "/proxy/alarm.py") == 0
    assert named(seen, "/wire/timer.py") == 0
    assert not [where for where in seen if "CancelScope" in "".join(where)]
    assert named(seen, TRIO, "spawn_impl") == 0


async def cost_of_events(scenario):
    streams = Streams()
    async with linked(scenario, streams.serve, room=ROOM) as proxy:
        await streams.opened(proxy, 1)
        await streams.says(10)
        return own(await streams.counted(100))


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_at_rest_costs_an_event_no_call(name, mock_clock):
    alone = await cost_of_events(f"version: 1\nfaults:\n  - {name}: {FAULTS[name].rests}\n")
    assert alone == pytest.approx(await cost_of_events(None), rel=0.01)


async def test_a_fault_that_delays_does_set_one(streams, mock_clock):
    async with linked(LATE, streams.serve, room=ROOM) as proxy:
        await streams.opened(proxy, 1)
        mock_clock.jump(1)
        await wait_all_tasks_blocked()
        streams.received()
        with calls() as seen:
            await streams.says(1)
        assert named(seen, "/proxy/alarm.py", "Alarm.set") == 1


FIVE = {"latency": "5ms"}
FAR = {"version": 1, "hops": [{"faults": [FIVE, {"timeout": {"idle": "60s"}}]}, {"faults": [FIVE]}]}


async def test_two_lines_in_a_row_are_one_ring_an_event(streams, mock_clock):
    async with linked(FAR, streams.serve, room=ROOM) as proxy:
        await streams.opened(proxy, 1)
        for _ in range(2):  # the head, of which everybody on its way is told
            mock_clock.jump(1)
            await wait_all_tasks_blocked()
        streams.received()
        with calls() as seen:
            for _ in range(5):
                await streams.says(1)
                for _ in range(3):
                    mock_clock.jump(0.005)
                    await wait_all_tasks_blocked()
        assert b"".join(streams.received()) == EVENT * 5
        assert named(seen, "/proxy/exchange.py", "Exchange.ring") == 5
        # Nobody is asked for what nothing has happened to: the request, and the client's room while the piece is under way.
        assert named(seen, "/proxy/request_side.py", "RequestSide.pump") == 0
        assert named(seen, "/proxy/exchange.py", "Exchange._credit_client") == 0
        assert named(seen, "/proxy/client_side.py", "ClientSide.pump") == 5
        assert named(seen, "/chain/span.py", "Span.settle") == 0


async def test_a_body_of_known_length_leaves_as_the_very_bytes_that_came(streams, mock_clock):
    body = bytes(100_000)

    async def serve(transport):
        await transport.readable()
        transport.recv(65536)
        transport.send(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n")
        streams.sides.append(transport)
        await trio.sleep_forever()

    async with linked(None, serve, room=ROOM) as proxy:
        await streams.opened(proxy, 1)
        await streams.says(1, body)
        (received,) = streams.received()
    assert received is body


async def test_a_chunked_body_is_copied_no_more_than_three_times(streams, mock_clock):
    """Out of what was read, into its chunk, and into what is written at once."""
    read = b"10000\r\n" + bytes(65536) + b"\r\n"
    read *= 3  # less than is read at once, or the link would have to cut it
    async with linked(None, streams.serve, room=ROOM) as proxy:
        await streams.opened(proxy, 1)
        await streams.says(1, read)
        streams.received()
        tracemalloc.start()
        try:
            await streams.says(1, read)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert b"".join(streams.received()) == read
    assert most < 3.1 * len(read)


def alive(*kinds):
    gc.collect()
    return [sum(isinstance(one, kind) for one in gc.get_objects()) for kind in kinds]


async def test_a_stream_that_waits_has_a_task_for_each_connection_and_nothing_else_of_trio(streams, mock_clock):
    kinds = (trio.lowlevel.Task, trio.CancelScope, trio.Event)
    async with linked(None, streams.serve, room=ROOM) as proxy:
        await wait_all_tasks_blocked()  # what serves them is there
        before = alive(*kinds)
        await streams.opened(proxy, 10)
        tasks, *others = (now - then for now, then in zip(alive(*kinds), before, strict=True))
    assert tasks == 3 * 10  # its client, its upstream, and the origin that it is played by
    assert others == [0, 0]


async def test_what_a_request_was_read_from_is_not_kept_while_its_stream_waits(streams, mock_clock):
    body = bytes(50_000)
    question = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body)
    async with linked(None, streams.serve, room=ROOM) as proxy:
        first, second = proxy.connect(), proxy.connect()
        streams.clients += [first, second]
        first.send(question + body)  # what the first of all makes once is not counted
        await wait_all_tasks_blocked()
        tracemalloc.start()
        try:
            second.send(question + body)
            await wait_all_tasks_blocked()
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert b"".join(streams.received()).count(b" 200 ") == 2
    assert kept < len(body)
