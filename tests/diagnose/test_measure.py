"""What is asked, how often, and what a server says of its work; against scripted servers."""

import json

import pytest
import trio

from chaosproxy.diagnose.assess import assess
from chaosproxy.diagnose.causes import Cause
from chaosproxy.diagnose.change import Trouble
from chaosproxy.diagnose.leaving import number
from chaosproxy.diagnose.measure import Measuring, Plan, measure
from chaosproxy.diagnose.observed import Leaving, Variant
from chaosproxy.diagnose.question import Question, hops
from chaosproxy.errors import UnavailableError
from chaosproxy.testing.peers import Ending, Pause, origin

SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = b"9\r\ndata: 1\n\n\r\n"
LAST = b"0\r\n\r\n"
STREAM = [SSE, *[step for _ in range(8) for step in (Pause(0.03), EVENT)], LAST]
GATHERED = [Pause(0.25), SSE + EVENT * 8, LAST]


async def test_a_stranger_is_asked_for_the_same_in_every_way():
    async with origin(STREAM) as served:
        plan = Plan(hops=hops([f"{served.url}/a?b=c"]), question=Question("POST", body=b"x=y"), times=2, jobs=2)
        observed = await measure(plan)
    stats, *asked = served.requests
    assert stats.head.startswith(b"GET /stats HTTP/1.1\r\n"), "it may be the embedded origin"
    assert [one.head.partition(b"\r\n")[0] for one in asked] == [b"POST /a?b=c HTTP/1.1"] * 3
    assert [one.body for one in asked] == [b"x=y"] * 3
    assert sum(b"accept-encoding: gzip\r\n" in one.head for one in asked) == 1, "once, where nothing is coded"
    assert not any(b"x-chaosproxy" in one.head for one in asked)
    assert len(observed.of(0, Variant.PLAIN)) == 2
    report = assess(observed)
    assert report.broken is None
    assert report.seen[0].plain.kind is Trouble.NONE
    assert observed.leavings == {}, "nobody can know"


async def test_an_accept_encoding_of_ones_own_is_for_the_coded_way_alone():
    question = Question("GET", ((b"Accept-Encoding", b"br"), (b"X-Key", b"1")))
    async with origin(STREAM) as served:
        await measure(Plan(hops=hops([served.url]), question=question, times=1))
    _, *asked = served.requests
    assert sorted(b"br" in one.head for one in asked) == [False, True]
    assert all(b"X-Key: 1" in one.head for one in asked)


async def test_another_body_asks_for_more():
    async with origin(STREAM) as served:
        plan = Plan(hops=hops([served.url]), question=Question("POST", body=b"short", dense=b"long"), times=3, jobs=8)
        observed = await measure(plan)
    assert sorted(one.body for one in served.requests[1:]) == [b"long"] * 2 + [b"short"] * 4
    assert len(observed.of(0, Variant.DENSE)) == 2


async def test_a_hop_that_gathers_in_front_of_a_server_that_streams():
    async with origin(STREAM) as inside, origin(GATHERED) as outside:
        plan = Plan(hops=hops([f"{inside.url}/x", outside.url]), question=Question("GET"), times=1, jobs=4)
        report = assess(await measure(plan))
    assert report.broken is not None
    assert report.broken.number == 2
    assert report.broken.finding is not None
    assert report.broken.finding.cause is Cause.WHOLE


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ([SSE, EVENT, Pause(0.02), EVENT, Ending.FIN], Cause.CUT),
        ([SSE, EVENT, Ending.RST], Cause.CUT),
        ([b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"], Cause.REFUSED),
        ([SSE, EVENT, EVENT, LAST], Cause.LOSES),
        ([Ending.OPEN], Cause.SILENT),
        ([Ending.FIN], Cause.CUT),
    ],
)
async def test_a_hop_that_breaks_it_in_another_way(script, cause):
    limit = 1.5 if cause is Cause.SILENT else 20.0
    async with origin(STREAM) as inside, origin(script) as outside:
        plan = Plan(hops=hops([inside.url, outside.url]), question=Question("GET"), times=1, jobs=4, limit=limit)
        report = assess(await measure(plan))
    assert report.broken is not None
    assert report.broken.finding is not None
    assert (report.broken.number, report.broken.finding.cause) == (2, cause)


async def test_nobody_is_there():
    async with origin(STREAM) as served:
        gone = served.url
    with pytest.raises(UnavailableError, match="cannot be asked"):
        await measure(Plan(hops=hops([gone]), question=Question("GET")))


@pytest.mark.parametrize("tells", [True, False])
async def test_a_server_that_counts_its_work_says_whether_it_is_told(tells, monkeypatch):
    """Its count goes up with the request, and down when the client has left; or does not."""
    monkeypatch.setattr("chaosproxy.diagnose.leaving.LOOKED", 20.0 if tells else 0.4)
    monkeypatch.setattr("chaosproxy.diagnose.leaving.SETTLES", 0.0)
    working = 0

    async def count(stream) -> None:
        await stream.receive_some()
        said = json.dumps({"now": {"at work": working}}).encode()
        await stream.send_all(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(said), said)
        )

    async def work(stream) -> None:
        nonlocal working
        asked = bytes(await stream.receive_some())
        if b"/stats" in asked:
            await stream.send_all(b"HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            return
        working += 1
        await stream.send_all(SSE + EVENT)
        await stream.receive_some()  # its leaving
        if not tells:
            await trio.sleep_forever()
        working -= 1

    async with trio.open_nursery() as nursery:
        counting = await nursery.start(trio.serve_tcp, count, 0)
        working_at = await nursery.start(trio.serve_tcp, work, 0)
        ports = [one[0].socket.getsockname()[1] for one in (counting, working_at)]
        (probe,) = hops([f"http://127.0.0.1:{ports[0]}/count"])
        asked = hops([f"http://127.0.0.1:{ports[1]}/"])
        plan = Plan(hops=asked, question=Question("GET"), times=1, limit=0.3, probe=(probe, "now.at work"))
        observed = await measure(plan)
        nursery.cancel_scope.cancel()
    assert (observed.leavings[0].ended is not None) == tells


async def test_who_ends_it_is_told_what_was_known_of_clients_that_leave(monkeypatch):
    known = [Leaving(None, 0.4)]

    async def leave(*_):
        if not known:
            raise RuntimeError("ended")
        return known.pop()

    monkeypatch.setattr("chaosproxy.diagnose.measure.leave", leave)
    async with origin(STREAM) as served:
        asked = hops([served.url, f"{served.url}/two"])
        plan = Plan(hops=asked, question=Question("GET"), times=1, probe=(asked[0], "running"))
        measuring = Measuring(plan, lambda *_: None)
        with pytest.raises(RuntimeError, match="ended"):
            await measuring.measure()
    assert list(measuring.so_far.leavings) == [0]


@pytest.mark.parametrize(
    ("said", "name", "found"),
    [
        (b"3", "running", 3),
        (b'{"running": 2}', "running", 2),
        (b'{"a": {"b": 1.0}}', "a.b", 1),
        (b'{"running": true}', "running", None),
        (b'{"a": 1}', "running", None),
        (
            b'# HELP x y\nvllm:num_requests_running{model="m",n="1"} 2.0\nvllm:num_requests_running{model="o"} 1.0\n',
            "vllm:num_requests_running",
            3,
        ),
        (b"running 4\nrunning_more 7\n", "running", 4),
        (b"", "running", None),
        (b"\xff<html>", "running", None),
        (b"running 1e1\n", "running", 10),
        (b"running 1.2.3\n", "running", None),
        (b"running +-\n", "running", None),
    ],
)
def test_how_a_server_may_say_its_number(said, name, found):
    assert number(said, name) == found
