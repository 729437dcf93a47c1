"""Nobody has the loop for long: not who sends thousands of records in one read, not a fault that lets go of thousands at
one moment, not the alarm when everybody is due. Time is virtual, and passes only where a test says that work costs it."""

import itertools
import math

import trio
from trio.testing import MockClock

from chaosproxy.http1.client import ClientConnection
from chaosproxy.proxy import alarm as alarms
from chaosproxy.proxy.alarm import Alarm
from chaosproxy.proxy.client_side import EVENTS_PER_TURN
from chaosproxy.proxy.connection import FIRST, LEAST, READ, READS_PER_TURN, TURN, Connection, fitting
from chaosproxy.proxy.slices import LINES
from chaosproxy.proxy.upstream_connection import UpstreamConnection
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire.timer import LoopTimer

SETTLED = 12
"""Turns within which the size of a read has found what fits."""


class Endless:
    """A transport on which there is always more, and a session in which each byte costs time."""

    protocol, hungry, closing, backlog = "http/1.1", True, None, 0

    def __init__(self, clock: MockClock, cost: float, *, multiplexed: bool) -> None:
        self.clock, self.cost, self.multiplexed = clock, cost, multiplexed
        self.asked: list[int] = []

    def recv(self, nbytes: int) -> bytes:
        self.asked.append(nbytes)
        return bytes(nbytes)

    def receive(self, data: bytes) -> list:
        self.clock.jump(len(data) * self.cost)
        return []

    def outgoing(self) -> list[bytes]:
        return []


class Records(Endless):
    """The same; each line costs time, and nothing else does."""

    def recv(self, nbytes: int) -> bytes:
        self.asked.append(nbytes)
        return (b"data:1\n\n" * (nbytes // 8 + 1))[:nbytes]

    def receive(self, data: bytes) -> list:
        self.clock.jump(data.count(b"\n") * self.cost)
        return []


class Reading(Connection):
    def handle(self, signal, now):
        raise AssertionError

    def writable(self, now):
        pass

    def owes(self):
        return False

    def closed(self):
        pass


def turns(cost: float, number: int, *, multiplexed: bool = False) -> tuple[list[float], list[list[int]]]:
    """How long each turn of a connection takes whose every byte costs `cost` seconds, and its reads."""
    clock = MockClock()
    took, reads = [], []

    async def main() -> None:
        peer = Endless(clock, cost, multiplexed=multiplexed)
        connection = Reading(peer, peer, 1, lambda *_: None)
        for _ in range(number):
            began, peer.asked = trio.current_time(), []
            connection._read()
            took.append(trio.current_time() - began)
            reads.append(peer.asked)

    trio.run(main, clock=clock)
    return took, reads


def test_a_read_that_costs_little_is_as_large_as_may_be():
    _, reads = turns(1e-10, 3)
    assert reads == [[READ] * READS_PER_TURN] * 3


def test_http2_begins_with_small_reads():
    """A microsecond a byte: what is read at first is what others wait for."""
    took, reads = turns(1e-6, 3, multiplexed=True)
    assert reads[0][0] == FIRST
    assert max(took) < FIRST * 1.1e-6
    _, reads = turns(1e-10, 2, multiplexed=True)
    assert reads[1] == [READ] * READS_PER_TURN


def test_a_connection_whose_records_are_costly_has_short_turns():
    """A microsecond a byte: a read as large as may be would take 131 ms, and a turn four times that."""
    took, reads = turns(1e-6, 200)
    assert max(took[SETTLED:]) < 2.1 * TURN
    assert sum(map(sum, reads)) / sum(took) > 0.9e6  # and is none the slower for it


def test_a_turn_that_was_far_too_long_is_followed_by_a_short_one():
    """Not by one half as long."""
    assert fitting(READ, 100 * TURN) == LEAST
    assert fitting(READ, 4 * TURN) == READ // 4
    assert fitting(READ, TURN) == READ


def test_of_an_exchange_with_faults_so_many_lines_are_handled_at_once():
    """From the first read on: nobody knows yet what they will cost. 25 microseconds each, which would be 0.8 s a read."""
    clock, took = MockClock(), []

    async def main() -> None:
        peer = Records(clock, 25e-6, multiplexed=False)
        connection = Reading(peer, peer, 1, lambda *_: None)
        connection.sliced = True
        for _ in range(20):
            began = trio.current_time()
            connection._read()
            took.append(trio.current_time() - began)
        assert peer.asked == [READ]  # and what was read once is not read again

    trio.run(main, clock=clock)
    assert min(took) > TURN
    assert max(took) < LINES * 25e-6 + TURN


async def test_others_have_their_turn_between_the_records_of_one_chunk(monkeypatch, autojump_clock):
    """One read, one chunk, 8000 records, and a fault that looks at each."""
    number, fed = 8000, []
    receive = ClientConnection.receive

    def counted(session: ClientConnection, data: bytes) -> list:
        fed.append(data.count(b"\n"))
        return receive(session, data)

    monkeypatch.setattr(ClientConnection, "receive", counted)
    body = b"data:1\n\n" * number

    async def serve(transport) -> None:
        peer = Recorder(transport)
        await peer.read()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body)
        await peer.send(head + body)

    scenario = {"version": 1, "faults": [{"mutate": {"replace": {"1": "2"}}}]}
    async with linked(scenario, serve, room=1 << 20) as proxied:
        client = proxied.connect()
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await trio.sleep(5)
        arrived = b"".join(client._incoming.parts)
    assert arrived.count(b"data:2\n\n") == number
    assert max(fed) <= LINES


def test_of_http2_the_reads_stay_small_while_an_exchange_has_faults():
    """Which may share the connection with others."""

    async def main() -> None:
        peer = Endless(MockClock(), 0, multiplexed=True)
        connection = UpstreamConnection(peer, peer, 1, lambda *_: None, None)
        seen = []
        for stream, faulty in enumerate((False, True, False)):
            connection.exchanges[stream] = None
            connection.beware(faulty=faulty)
            seen.append(connection.most)
        connection.exchanges.clear()
        connection.beware(faulty=False)
        assert [*seen, connection.most] == [READ, FIRST, FIRST, READ]
        assert not connection.sliced

    trio.run(main)


def test_what_costs_most_is_still_read():
    """Even the least read takes longer than a turn: one at a time."""
    took, reads = turns(1e-5, 50)
    assert set(map(tuple, reads[SETTLED:])) == {(LEAST,)}
    assert max(took[SETTLED:]) < LEAST * 1.1e-5


def test_what_costs_little_again_is_read_in_large_pieces_again():
    portion = LEAST
    for _ in range(SETTLED):
        portion = fitting(portion, TURN / 100)
    assert portion == READ


async def test_the_alarm_lets_others_have_their_turn(nursery, monkeypatch, mock_clock):
    """A hundred are due at once and each costs half a millisecond: nobody else waits for fifty."""
    monkeypatch.setattr(alarms, "timer", LoopTimer)
    alarm, rung, seen, done = Alarm(), [], [0], trio.Event()

    class Costly:
        armed = math.inf

        def ring(self, now: float) -> None:
            rung.append(self)
            mock_clock.jump(0.0005)
            if len(rung) == 100:
                done.set()

    everybody = [Costly() for _ in range(100)]
    for one in everybody:
        alarm.set(one, trio.current_time())

    async def other() -> None:
        while not done.is_set():
            await trio.lowlevel.checkpoint()
            seen.append(len(rung))

    nursery.start_soon(alarm.run)
    nursery.start_soon(other)
    with trio.fail_after(20):
        await done.wait()
    assert set(rung) == set(everybody)
    assert (
        max(after - before for before, after in itertools.pairwise(seen)) <= 3 * TURN / 0.0005
    )  # two turns, in the order of the loop


async def test_what_a_fault_lets_go_at_once_leaves_in_turns(autojump_clock):
    """All at the same moment, whole and in order; but others see it grow by so many events at a time."""
    number = 5000
    body = b"".join(b"c\r\ndata: %04d\n\n\r\n" % one for one in range(number)) + b"0\r\n\r\n"

    async def serve(transport) -> None:
        peer = Recorder(transport)
        await peer.read()
        await peer.send(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + body
        )

    scenario = {"version": 1, "faults": [{"stall": {"for": "5s", "at": "headers"}}]}
    async with linked(scenario, serve, room=1 << 20) as proxied:
        client = proxied.connect()
        way = client._incoming
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await trio.sleep(4.9)
        seen = [way.size]
        autojump_clock.jump(0.2)
        for _ in range(100 * number // EVENTS_PER_TURN):  # whoever keeps the loop busy keeps the clock still
            await trio.lowlevel.checkpoint()
            seen.append(way.size)
        arrived = b"".join(way.parts)
    assert arrived.endswith(b"\r\n\r\n" + body)
    assert max(after - before for before, after in itertools.pairwise(seen)) <= 2 * EVENTS_PER_TURN * len(body) / number
