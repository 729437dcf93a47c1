"""What one record keeps of an exchange that goes on and on: bounded, and it says how much it has left out."""

from chaosproxy.journal.journal import Journal
from chaosproxy.journal.marks import Marks
from chaosproxy.journal.record import ClientView, ExchangeRecord, Fired
from chaosproxy.report.line import exchange_line
from chaosproxy.testing.peers import Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b"9\r\ndata: 1\n\n\r\n"
LAST = b"0\r\n\r\n"


def record() -> ExchangeRecord:
    return ExchangeRecord(1, "s", 0, 1, "2026-01-01T00:00:00.000Z", ClientView("http/1.1", 1))


def test_marks_keep_the_first_ten_thousand_and_the_last_hundred():
    marks = Marks()
    for number in range(12_345):
        marks.note(float(number), number)
    kept = [(float(number), number) for number in (*range(10_000), *range(12_245, 12_345))]
    assert list(marks) == kept
    assert (marks.dropped, len(marks)) == (2245, 10_100)


def test_of_each_fault_the_first_and_the_latest_are_kept():
    seen = record()
    seen.add_fired(Fired(0.0, "headers", 0, None, "once"))
    for number in range(5000):
        seen.add_fired(Fired(float(number), "stall", 0, None, f"{number}"))
        if number == 2500:
            seen.add_fired(Fired(2500.5, "cut", 1, None, "in the middle"))
    stalls = [fired.t for fired in seen.faults if fired.fault == "stall"]
    assert stalls == [*range(999), 4999]
    assert [fired.t for fired in seen.faults if fired.fault != "stall"] == [0.0, 2500.5]
    assert seen.faults_dropped == seen.as_json()["faults_dropped"] == 4000
    assert [fired.t for fired in seen.faults] == sorted(fired.t for fired in seen.faults)


def test_a_line_tells_five_and_counts_the_others():
    seen = record()
    for number in range(1200):
        seen.add_fired(Fired(float(number), "stall", 0, None, f"at {number}"))
    line = exchange_line(seen)
    assert line.endswith("stall: at 4; faults 1195 further times")
    assert line.count("stall") == 5


async def test_a_stall_at_every_event(autojump_clock):
    stalled = {
        "version": 1,
        "hops": [
            {"faults": [{"stall": {"at": {"event": 1, "every": 1}, "for": "1s"}}]},
            {"faults": [{"headers": {"add": {"x-seen": "1"}}}]},
        ],
    }
    served = Origin([HEAD, EVENT * 1500, LAST])
    async with linked(stalled, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(GET)
        await client.read_until(LAST, 1e6)
        seen = await proxied.last(within=1e6)
    assert [fired.fault for fired in seen.faults].count("stall") == 1000
    assert len(seen.faults) == 1001
    assert seen.faults_dropped == 500
    assert not seen.not_fired


async def test_a_connection_that_stalls_for_hours(autojump_clock):
    """A later exchange does not count what was left out before it."""
    stall = {"stall": {"at": {"time": "1s", "every": "1s"}, "for": "1ms"}}
    stalled = {"version": 1, "connections": [{"match": {"side": "client"}, "faults": [stall]}]}
    served = Origin([HEAD, EVENT, Pause(1500.5), LAST], [HEAD, EVENT, LAST])
    async with linked(stalled, served.serve) as proxied, RawClient(proxied.connect()) as client:
        for count in (1, 2):
            await client.send(GET)
            await client.read_until(LAST, 1e6)
            await proxied.finished(count, within=1e6)
        first, second = proxied.exchanges
    assert (len(first.faults), first.faults_dropped) == (1000, 500)
    assert (len(second.faults), second.faults_dropped) == (1, 0)


def with_heads(number: int, size: int) -> ExchangeRecord:
    seen = record()
    seen.id = number
    seen.request.headers = [["x", "v" * size]]
    seen.response.headers = [["x", "v" * size]]
    return seen


def test_heads_of_an_ordinary_size_take_no_exchange_out_of_memory():
    journal = Journal(limit=1000)
    for number in range(1200):
        journal.add(with_heads(number, 7000))
    assert [one.id for one in journal.exchanges] == [*range(200, 1200)]
    assert journal.dropped == 200


def test_large_heads_leave_room_for_fewer():
    journal = Journal(limit=1000)
    for number in range(1000):
        journal.add(with_heads(number, 30_000))
    kept = [one.id for one in journal.exchanges]
    assert kept == [*range(1000 - len(kept), 1000)]
    assert sum(len(one.request.headers[0][1]) * 2 for one in journal.exchanges) <= 1000 * 16 * 1024
    assert len(kept) > 250
    assert (journal.total, journal.dropped) == (1000, 1000 - len(kept))
    for number in range(1000):
        journal.add(with_heads(number, 100))
    assert [one.id for one in journal.exchanges] == [*range(1000)]


def test_the_latest_is_kept_whatever_it_is():
    journal = Journal(limit=1)
    for number in range(3):
        journal.add(with_heads(number, 5_000_000))
    assert [one.id for one in journal.exchanges] == [2]
