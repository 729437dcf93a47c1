"""What a scenario does to a stream, told from outside by a real SSE client: when each event came, and how it ended.

The machine may be busy: nothing is asserted of a time but that it is not too short.
"""

import time
from collections.abc import Callable
from functools import partial

import httpx
import pytest
import trio
from httpx_sse import aconnect_sse

from chaosproxy.testing.peers import Pause, origin
from tests.interop.conftest import find

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
COUNT = 40
APART = 0.01


def chunk(number: int) -> bytes:
    event = b"data: %02d %s\n\n" % (number, b"x" * 37)
    assert len(event) == 48
    return b"30\r\n%s\r\n" % event


def paced(count: int = COUNT, apart: float = APART) -> list:
    """A head, then an event each `apart` seconds, then the end."""
    script: list = [HEAD]
    for number in range(count):
        script += [Pause(apart), chunk(number)]
    return [*script, LAST]


def client(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, trust_env=False, timeout=30)


async def arrivals(url: str, seen: Callable[[int], object] = lambda _: None) -> list[float]:
    """Seconds from the request to each event, as httpx-sse hands them out; `seen(number)` is called with each."""
    times = []
    async with client(url) as http:
        began = time.monotonic()  # behind the client's own making, which loads certificates
        async with aconnect_sse(http, "GET", "/sse") as source:
            async for event in source.aiter_sse():
                assert event.data.startswith(f"{len(times):02d} ")
                times.append(time.monotonic() - began)
                seen(len(times) - 1)
    return times


async def test_without_a_fault_each_event_comes_before_the_next_is_sent(proxy):
    gates = [trio.Event() for _ in range(COUNT)]
    script = [HEAD, *(step for number, gate in enumerate(gates) for step in (chunk(number), gate)), LAST]
    async with origin(script) as served:
        assert len(await arrivals(proxy(served.url).url, lambda number: gates[number].set())) == COUNT


async def test_a_small_stream_in_a_large_buffer_comes_all_at_once_at_its_end(proxy):
    """What an average latency hides: the whole takes as long, the first event takes as long as the whole."""
    async with origin(paced()) as served:
        between = proxy(served.url, {"faults": [{"buffer": "4KiB"}]})
        held = await arrivals(between.url)
    assert len(held) == COUNT
    assert held[0] > 0.9 * COUNT * APART
    (record,) = between.journal(1)
    assert (record["response"]["events_in"], record["response"]["events_out"]) == (COUNT, COUNT)
    assert (record["response"]["bytes_in"], record["response"]["bytes_out"]) == (COUNT * 48, COUNT * 48)
    ((delivered, size),) = record["deliveries"]
    assert size == COUNT * 48, "all in one piece"
    assert len(record["arrivals"]) > 1
    assert delivered >= record["arrivals"][-1][0]


BUFFER = {"name": "nginx", "faults": [{"buffer": "4KiB"}]}
IDLE = 2
BALANCER = {"name": "balancer", "faults": [{"timeout": {"idle": f"{IDLE}s"}}]}


async def test_an_idle_timeout_nearer_the_client_than_a_buffer_cuts_a_healthy_stream(proxy):
    async with origin([*paced()[:-1], trio.Event()]) as served:
        between = proxy(served.url, {"hops": [BUFFER, BALANCER]})
        async with client(between.url) as http:
            # The head has passed, a body byte never does: the answer breaks off.
            with pytest.raises(httpx.RemoteProtocolError):
                await http.get("/sse")
    (record,) = between.journal(1)
    assert (record["end"]["by"], record["end"]["cause"]) == ("proxy", "timeout:idle")
    assert record["response"]["events_in"] > 0
    assert record["response"]["events_out"] == 0


async def test_the_other_order_cuts_nothing(proxy):
    """The whole takes twice as long as the balancer waits."""
    async with origin(paced(apart=2 * IDLE / COUNT)) as served:
        between = proxy(served.url, {"hops": [BALANCER, BUFFER]})
        assert len(await arrivals(between.url)) == COUNT
    (record,) = between.journal(1)
    assert record["end"] == {"by": "upstream", "how": "clean", "cause": None}


@pytest.fixture
def curl(run):
    find("curl")
    return partial(run, "curl")


@pytest.mark.parametrize("options", [{}, {"tls": "auto"}])
async def test_a_first_byte_that_is_late_is_a_504(options, curl, proxy):
    """And over HTTP/2 too: the head has not passed, so the proxy can still answer for itself."""
    scenario = {"faults": [{"timeout": {"first_byte": "150ms"}}]}
    async with origin([trio.Event(), HEAD, LAST]) as served:
        between = proxy(served.url, scenario, **options)
        trusted = ("--cacert", between.ca) if between.ca else ()
        arguments = (*trusted, "-sS", "--max-time", "30", "-o", "/dev/null", "-w", "%{http_version} %{http_code}")
        done = await trio.to_thread.run_sync(lambda: curl(*arguments, between.url + "/sse"))
        assert done.stdout == (b"2 504" if options else b"1.1 504"), done.stderr
        seen = await served.request(1)
        with trio.fail_after(20):
            await seen.gone.wait()
    (record,) = between.journal(1)
    assert (record["end"]["by"], record["end"]["cause"]) == ("proxy", "timeout:first_byte")


async def test_two_rules_in_turn_are_a_client_s_three_attempts(proxy):
    """Refused, then cut after two events, then whole: what a retrying client goes through."""
    scenario = {
        "rules": [
            {"nth": 1, "faults": [{"respond": {"status": 429, "retry_after": 1}}]},
            {"nth": 2, "faults": [{"cut": {"at": {"event": 2}, "then": "abort"}}]},
        ]
    }
    async with origin([HEAD, chunk(0), chunk(1), chunk(2), LAST]) as served:
        between = proxy(served.url, scenario)
        async with client(between.url) as http:
            refused = await http.get("/sse")
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            assert served.requests == []  # nothing was dialled for it
            with pytest.raises(httpx.RemoteProtocolError):
                await http.get("/sse")
            assert (await http.get("/sse")).content.count(b"data: ") == 3
    ends = [(record["end"]["by"], record["end"]["cause"]) for record in between.journal(3)]
    assert ends == [("proxy", "respond"), ("proxy", "cut"), ("upstream", None)]
