"""`verdict()`: what a scenario expects, judged from inside a program."""

import contextlib
import urllib.error
import urllib.request

import trio

import chaosproxy
from chaosproxy.testing.peers import Ending, RawClient, origin

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT, LAST = b"9\r\ndata: a\n\n\r\n", b"0\r\n\r\n"
EXPECT = {"version": 1, "expect": [{"first_event": "1h"}, {"ended": {"by": "client"}}]}


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read()


def test_of_a_served_proxy(upstream):
    with chaosproxy.serve(EXPECT, upstream=upstream) as proxy:
        assert [verdict.findings for verdict in proxy.verdict().each] == [(), ()]
        get(proxy.url + "/3")
        proxy.wait(timeout=20)
        judged: chaosproxy.Verdicts = proxy.verdict()
    first, second = judged.each
    assert (judged.good, first.good, second.good) == (False, True, False)
    assert judged.bad == (second,)
    assert str(second).startswith("ended: expected an end by client; #1: clean by upstream; ")
    assert proxy.verdict() == judged, "also when it has ended"


def test_only_exchanges_that_are_kept_are_judged(upstream):
    with chaosproxy.serve({"version": 1, "expect": [{"attempts": 2}]}, upstream=upstream) as proxy:
        get(proxy.url + "/1")
        proxy.wait(timeout=20)
        proxy.clear()
        assert "nothing to judge" in str(proxy.verdict())
        get(proxy.url + "/1")
        get(proxy.url + "/1")
        proxy.wait(exchanges=2, timeout=20)
        assert proxy.verdict().good


def test_the_public_names_are_enough_to_read_a_verdict(upstream):
    with chaosproxy.serve(EXPECT, upstream=upstream) as proxy:
        get(proxy.url + "/1")
        proxy.wait(timeout=20)
        told = [
            (verdict.check, verdict.good, [(finding.exchanges, finding.seen[:17]) for finding in verdict.bad])
            for verdict in proxy.verdict().each
        ]
    assert told == [("first_event", True, []), ("ended", False, [((1,), "clean by upstream")])]


async def test_of_an_open_proxy():
    async with (
        origin([HEAD, EVENT, Ending.OPEN]) as served,
        chaosproxy.open_proxy(EXPECT, upstream=served.url) as proxy,
    ):
        async with await RawClient.connect("127.0.0.1", int(proxy.url.rpartition(":")[2])) as client:
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await client.read_until(b"data: a")
            assert not proxy.verdict().good, "what is running is not judged"
        await proxy.wait(timeout=20)
        assert proxy.verdict().good, proxy.verdict()


def test_who_is_refused_before_its_body_was_read_asks_for_the_same_when_it_asks_again():
    early, late = ({"respond": {"status": 503, "early": early}} for early in (True, False))
    scenario = {
        "version": 1,
        "rules": [{"nth": 1, "faults": [early]}, {"nth": 2, "faults": [late]}],
        "expect": [{"attempts": 2}],
    }
    with chaosproxy.serve(scenario, upstream="http://127.0.0.1:1") as proxy:
        for number in (1, 2):
            with contextlib.suppress(urllib.error.HTTPError):
                urllib.request.urlopen(proxy.url, data=b"question", timeout=30)
            proxy.wait(number, timeout=20)
        assert proxy.verdict().good, proxy.verdict()


async def test_of_clients_that_leave_close_behind_each_other_the_last_is_asked_for(autojump_clock):
    """The server is done with each in time, and with the second later than it is asked about the first."""
    jobs = 0

    async def upstream(stream):
        nonlocal jobs
        if b"GET /stats" in await stream.receive_some():
            body = b'{"jobs": %d}' % jobs
            await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            return
        jobs += 1
        await stream.send_all(HEAD + EVENT)
        with contextlib.suppress(trio.BrokenResourceError):
            await stream.receive_some()
        await trio.sleep(0.5)
        jobs -= 1

    async def asks(proxy, seconds):
        async with proxy.connect() as client:
            await client.send_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await client.receive_some()
            await trio.sleep(seconds)

    chain = {"version": 1, "expect": [{"abort_chain": {"within": "1s", "links": {"engine": "jobs"}}}]}
    async with chaosproxy.open_proxy(chain, upstream=upstream) as proxy:
        await asks(proxy, 0.1)
        await asks(proxy, 0.8)
        await proxy.settle()
        verdict = proxy.verdict()
    assert verdict.good, verdict
    assert [finding.exchanges for finding in verdict.each[0].findings] == [(2,)]
