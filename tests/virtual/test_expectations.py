"""Each expectation from its YAML to its verdict: a real proxy between a client and an upstream, over links in virtual time."""

import contextlib
import json
from dataclasses import dataclass

import pytest
import trio

from chaosproxy.judging.check import CHECKS
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient, Step
from chaosproxy.testing.proxied import Linked, linked

SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
BUSY = b"HTTP/1.1 503 Busy\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n"
LAST = b"0\r\n\r\n"


def chunk(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)


def stream(count: int = 4, apart: float = 1.0) -> list[Step]:
    """The head after a quarter of a second, then so many events, each after `apart`, and the end at once."""
    steps: list[Step] = [Pause(0.25), SSE]
    for number in range(count):
        steps += [Pause(apart), chunk(b"data: %d\n\n" % number)]
    return [*steps, LAST]


WHOLE = stream()
"""The head at 0.25, events at 1.25, 2.25, 3.25 and 4.25."""
PINGED: list[Step] = [SSE, chunk(b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'), Pause(5)] + [
    step for _ in range(20) for step in (chunk(b'data: {"type":"ping"}\n\n'), Pause(1))
]
"""One token, and after 5 s a ping each second, for 20 s."""


@dataclass(frozen=True)
class Ask:
    """One request of a client, which leaves after `leaves` seconds if its answer has not ended by then."""

    path: str = "/s"
    body: bytes = b""
    leaves: float = 100.0
    after: float = 0.0
    """Seconds that it waits before it asks."""

    async def over_h1(self, proxied: Linked) -> None:
        asked = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
        async with RawClient(proxied.connect()) as client:
            await client.send(asked % (self.path.encode(), len(self.body), self.body))
            with trio.move_on_after(self.leaves), contextlib.suppress(EOFError):
                while not client.received.endswith(LAST) and b"Content-Length: 0\r\n" not in client.received:
                    if not await client.read():
                        break

    async def over_h2(self, proxied: Linked) -> None:
        async with h2_client(proxied.connect()) as client:
            named = {b":method": b"POST", b":scheme": b"http", b":path": self.path.encode(), b":authority": b"x"}
            await client.headers(1, [*named.items(), (b"content-type", b"application/json")])
            await client.data(1, self.body, end=True)
            with trio.move_on_after(self.leaves):
                await client.until(lambda: client.streams[1].over, within=200)
                return
            await client.reset(1)
            await trio.sleep(0.001)


@dataclass(frozen=True)
class Case:
    """What is expected, of what: a scenario's rule, an upstream's scripts, what clients ask one after another."""

    expect: object
    good: bool
    said: str
    """Stands in the verdict."""
    faults: tuple[object, ...] = ()
    scripts: tuple[list[Step], ...] = (WHOLE,)
    asks: tuple[Ask, ...] = (Ask(),)


def stats(**numbers: object) -> list[Step]:
    """An answer of the upstream's account, everything at 0 but these."""
    said = json.dumps({"answering": 0, "generating": 0, "running": 0, "kv_blocks_used": 0, **numbers}).encode()
    return [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(said), said)]


GOES_ON = [*WHOLE[:-1], Ending.OPEN]
LEAVES = (Ask(leaves=2.0),)
TWICE = (Ask(), Ask(after=0.5))
CASES = {
    "head": Case({"head": "250ms"}, True, "1 of 1"),
    "head, late": Case({"head": "249ms"}, False, "#1: the head after 250 ms"),
    "first_event": Case({"first_event": "1.25s"}, True, "1 of 1"),
    "first_event, behind a buffer": Case(
        {"first_event": "1.25s"}, False, "#1: the first event after 4250 ms", ({"buffer": "1KiB"},)
    ),
    "first_event, of no event stream": Case(
        {"first_event": "1.25s"},
        False,
        "nothing to judge: no answer had events",
        scripts=([b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n", LAST],),
    ),
    "gap": Case({"gap": {"max": "1s", "p99": "1s"}}, True, "1 of 1"),
    "gap, a stall": Case(
        {"gap": "1s"}, False, "#1: the longest gap 3000 ms", ({"stall": {"at": {"event": 2}, "for": "3s"}},)
    ),
    "event_age": Case({"event_age": "0ms"}, True, "1 of 1"),
    "event_age, in twos": Case(
        {"event_age": "999ms"}, False, "#1: event 1 was 1000 ms old", ({"buffer": {"events": 2}},)
    ),
    "event_age, never": Case(
        {"event_age": "5s"},
        False,
        "#1: event 1 was 18750 ms old and had not gone",
        ({"buffer": {"until_end": True}},),
        scripts=(GOES_ON,),
        asks=(Ask(leaves=20.0),),
    ),
    "heartbeat": Case({"heartbeat": "1s"}, True, "1 of 1"),
    "heartbeat, a silence": Case(
        {"heartbeat": "2s"},
        False,
        "#1: nothing for 5000 ms, from 2250 ms",
        ({"stall": {"at": {"event": 2}, "for": "5s"}},),
    ),
    "heartbeat, comments": Case(
        {"heartbeat": "2s"},
        True,
        "1 of 1",
        ({"stall": {"at": {"event": 2}, "for": "5s", "meanwhile": {"comments": "1s"}}},),
    ),
    "upstream_abort": Case({"upstream_abort": "0ms"}, True, "1 of 1", asks=LEAVES),
    "upstream_abort, ignored": Case(
        {"upstream_abort": "1s"},
        False,
        "#1: the upstream went on to its own end, 2250 ms after the client had left",
        ({"client_abort": "ignore"},),
        asks=LEAVES,
    ),
    "upstream_abort, late": Case(
        {"upstream_abort": "100ms"},
        False,
        "#1: told 1000 ms after the client had left",
        ({"client_abort": {"mode": "propagate", "delay": "1s"}},),
        asks=LEAVES,
    ),
    "upstream_abort, nobody leaves": Case({"upstream_abort": "1s"}, False, "nothing to judge: no client left"),
    "client_leaves": Case({"client_leaves": "2s"}, True, "1 of 1", asks=LEAVES),
    "client_leaves, later": Case(
        {"client_leaves": "1.9s"}, False, " 2000 ms after the request, 1750 ms after the", asks=LEAVES
    ),
    "client_leaves, stays": Case({"client_leaves": "9s"}, False, "#1: it stayed to the end: clean by upstream"),
    "client_leaves, last event": Case(
        {"client_leaves": {"within": "750ms", "at_least": "750ms", "after": "last_event"}}, True, "1 of 1", asks=LEAVES
    ),
    "client_leaves, event 1": Case(
        {"client_leaves": {"within": "750ms", "after": {"event": 1}}}, True, "1 of 1", asks=LEAVES
    ),
    "client_leaves, event 2": Case(
        {"client_leaves": {"within": "750ms", "after": {"event": 2}}}, False, "never came", asks=LEAVES
    ),
    "client_leaves, head": Case(
        {"client_leaves": {"within": "1s", "after": "head"}}, False, "1750 ms after", asks=LEAVES
    ),
    "client_leaves, pings are events": Case(
        {"client_leaves": {"within": "500ms", "after": "last_event"}},
        True,
        "1 of 1",
        scripts=(PINGED,),
        asks=(Ask(leaves=10.5),),
    ),
    "client_leaves, pings say nothing": Case(
        {"client_leaves": {"within": "9s", "after": "last_content"}},
        False,
        "10500 ms after the last content",
        scripts=(PINGED,),
        asks=(Ask(leaves=10.5),),
    ),
    "client_leaves, comments are bytes": Case(
        {"client_leaves": {"within": "100ms", "after": "last_byte"}},
        True,
        "1 of 1",
        ({"stall": {"at": {"event": 2}, "for": "50s", "meanwhile": {"comments": "1s"}}},),
        asks=(Ask(leaves=10.25),),
    ),
    "client_leaves, comments are no events": Case(
        {"client_leaves": {"within": "100ms", "after": "last_event"}},
        False,
        "0.0 ms after the last byte, 8000 ms after the last event",
        ({"stall": {"at": {"event": 2}, "for": "50s", "meanwhile": {"comments": "1s"}}},),
        asks=(Ask(leaves=10.25),),
    ),
    "abort_chain": Case({"abort_chain": "1s"}, True, "1 of 1", scripts=(GOES_ON, stats()), asks=LEAVES),
    "abort_chain, disconnect": Case(
        {"abort_chain": "1s"},
        False,
        "told 0.0 ms after the client had left (HOW): fin; broken at disconnect: "
        "1s later answering 1, generating 1, running 1, kv_blocks_used 2",
        scripts=(GOES_ON, stats(answering=1, generating=1, running=1, kv_blocks_used=2)),
        asks=LEAVES,
    ),
    "abort_chain, engine": Case(
        {"abort_chain": "1s"},
        False,
        "broken at engine: 1s later answering 0, generating 1",
        scripts=(GOES_ON, stats(generating=1, running=1, kv_blocks_used=2)),
        asks=LEAVES,
    ),
    "abort_chain, scheduler": Case(
        {"abort_chain": "1s"},
        False,
        "broken at scheduler",
        scripts=(GOES_ON, stats(running=1, kv_blocks_used=2)),
        asks=LEAVES,
    ),
    "abort_chain, blocks": Case(
        {"abort_chain": "1s"}, False, "broken at blocks", scripts=(GOES_ON, stats(kv_blocks_used=2)), asks=LEAVES
    ),
    "abort_chain, the proxy": Case(
        {"abort_chain": "1s"},
        False,
        "broken at the proxy: the upstream went on to its own end, 2250 ms",
        ({"client_abort": "ignore"},),
        scripts=(WHOLE, stats()),
        asks=LEAVES,
    ),
    "abort_chain, links of one's own": Case(
        {"abort_chain": {"within": "1s", "stats": "/mine", "links": {"handler": "jobs.open", "gpu": "jobs.busy"}}},
        False,
        "broken at gpu: 1s later jobs.open 0, jobs.busy 1",
        scripts=(GOES_ON, stats(jobs={"open": 0, "busy": 1})),
        asks=LEAVES,
    ),
    "abort_chain, no such number": Case(
        {"abort_chain": {"within": "1s", "links": {"gpu": "jobs.busy"}}},
        False,
        "no number `jobs.busy` at /stats",
        scripts=(GOES_ON, stats()),
        asks=LEAVES,
    ),
    "abort_chain, no account": Case(
        {"abort_chain": "1s"}, False, "; status 503", scripts=(GOES_ON, [BUSY]), asks=LEAVES
    ),
    "abort_chain, no JSON": Case(
        {"abort_chain": "1s"}, False, "; its answer is not JSON", scripts=(GOES_ON, WHOLE), asks=LEAVES
    ),
    "abort_chain, broken off": Case(
        {"abort_chain": "1s"},
        False,
        "; its answer broke off: upstream:fin",
        scripts=(GOES_ON, [SSE, Ending.FIN]),
        asks=LEAVES,
    ),
    "abort_chain, no answer": Case(
        {"abort_chain": "1s"}, False, "; no answer within 5 s", scripts=(GOES_ON, [Ending.OPEN]), asks=LEAVES
    ),
    "abort_chain, nobody leaves": Case({"abort_chain": "1s"}, False, "nothing to judge: no client left, alone"),
    "attempts": Case({"attempts": 2}, True, "1 of 1", scripts=([BUSY], WHOLE), asks=TWICE),
    "attempts, of two calls": Case(
        {"attempts": 2},
        False,
        "#1: 1 attempt; #2: 1 attempt",
        scripts=([BUSY], WHOLE),
        asks=(Ask(body=b"a"), Ask(body=b"b")),
    ),
    "attempts, too many": Case(
        {"attempts": {"max": 1}}, False, "#1, #2: 2 attempts in 500 ms", scripts=([BUSY], WHOLE), asks=TWICE
    ),
    "gives_up": Case({"gives_up": {"after": 2, "within": "1s"}}, True, "1 of 1", scripts=([BUSY],), asks=TWICE),
    "gives_up, not yet": Case({"gives_up": 1}, False, "2 attempts in 500 ms", scripts=([BUSY],), asks=TWICE),
    "gives_up, answered": Case({"gives_up": 1}, False, "nothing to judge", scripts=([BUSY], WHOLE), asks=TWICE),
    "retry_delay": Case(
        {"retry_delay": {"min": "500ms", "max": "500ms"}}, True, "1 of 1", scripts=([BUSY],), asks=TWICE
    ),
    "retry_delay, too soon": Case(
        {"retry_delay": "1s"}, False, "asked again after 500 ms", scripts=([BUSY],), asks=TWICE
    ),
    "retry_after": Case("retry_after", True, "1 of 1", scripts=([BUSY],), asks=(Ask(), Ask(after=2.0))),
    "retry_after, too soon": Case(
        "retry_after", False, "#1, #2: told 2s, asked again after 500 ms", scripts=([BUSY],), asks=TWICE
    ),
    "no_retry_after_output": Case("no_retry_after_output", True, "1 of 1", scripts=([BUSY], WHOLE), asks=TWICE),
    "no_retry_after_output, twice": Case(
        "no_retry_after_output",
        False,
        "2 events delivered, then 1 attempt more, with 2 events of it",
        ({"cut": {"at": {"event": 2}}},),
        asks=TWICE,
    ),
    "header": Case({"header": {"name": "content-type", "value": "text/event-stream*"}}, True, "1 of 1"),
    "header, taken out": Case(
        {"header": "content-type"}, False, "#1: no content-type", ({"headers": {"remove": ["content-type"]}},)
    ),
    "header, of the request": Case(
        {"header": {"name": "content-type", "value": "application/*", "way": "request"}},
        True,
        "1 of 1",
    ),
    "ended": Case({"ended": {"by": "upstream", "how": "clean"}}, True, "1 of 1"),
    "ended, cut": Case({"ended": {"by": "upstream"}}, False, "by proxy, cause cut", ({"cut": {"at": {"event": 2}}},)),
    "unchanged": Case("unchanged", True, "1 of 1"),
    "unchanged, one byte": Case(
        "unchanged", False, "and not the same", ({"mutate": {"replace": {"data: 1": "data: 7"}, "at": {"event": 2}}},)
    ),
    "unchanged, a record less": Case(
        "unchanged", False, "#1: 36 bytes came, 27 went", ({"drop": {"at": {"event": 1}}},)
    ),
    "fired": Case({"fired": "cut"}, True, "1 of 1", ({"cut": {"at": {"event": 2}}},)),
    "fired, never": Case({"fired": "cut"}, False, "#1: it did not: not reached", ({"cut": {"at": {"event": 9}}},)),
    "fired, no such fault": Case({"fired": "stall"}, False, "nothing to judge: no exchange met that fault"),
}


def test_each_check_has_a_good_and_a_bad_one():
    seen = {
        (next(iter(case.expect)) if isinstance(case.expect, dict) else case.expect, case.good)
        for case in CASES.values()
    }
    assert seen >= {(name, good) for name in CHECKS for good in (True, False)}


async def judged(case: Case, protocol: str):
    scenario = {"version": 1, "faults": list(case.faults), "expect": [case.expect]}
    served = Origin(*case.scripts)
    async with linked(scenario, served.serve) as proxied:
        for ask in case.asks:
            await trio.sleep(ask.after)
            await (ask.over_h2(proxied) if protocol == "h2" else ask.over_h1(proxied))
        await proxied.finished(len(case.asks), within=100)
        (verdict,) = proxied.proxy.planner.judge(proxied.exchanges).each
    return verdict


@pytest.mark.parametrize("protocol", ["http/1.1", "h2"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_a_verdict(case, protocol, autojump_clock):
    verdict = await judged(case, protocol)
    said = case.said.replace("HOW", "stream:CANCEL" if protocol == "h2" else "fin")
    assert said in str(verdict), verdict
    assert verdict.good is case.good
