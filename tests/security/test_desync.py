"""Requests and answers out of step: an answer before the body, a pause in the midst, an origin that ignores lengths."""

import trio

from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import QUIET, Ending, Recorder
from chaosproxy.wire.transport import Transport
from tests.security.corpus import NEXT, chunked, post
from tests.security.oracle import UPSTREAMS, bench
from tests.security.poisoning import SCENARIO, answer

MINE = b"GET /mine HTTP/1.1\r\nHost: a\r\n\r\n"
BODIES = {
    "length": post(b"Content-Length: %d\r\n" % len(NEXT), NEXT),
    "chunked": chunked(b"%x\r\n%b\r\n0\r\n\r\n" % (len(NEXT), NEXT)),
    "Expect": post(b"Expect: 100-continue\r\nContent-Length: %d\r\n" % len(NEXT), NEXT),
    "Expect, spelt otherwise": post(b"Expect: y 100-continue\r\nContent-Length: %d\r\n" % len(NEXT), NEXT),
}
"""Requests whose body is one."""


class AtTheHead:
    """Answers a head at once. What follows it takes for the next request, as who ignores lengths does; or it reads no
    more of it, if it is `deaf`."""

    def __init__(self, *, deaf: bool) -> None:
        self._deaf = deaf
        self.received: list[bytes] = []
        """On each connection."""

    async def serve(self, transport: Transport) -> None:
        recorder, number, buffer = Recorder(transport), len(self.received), b""
        self.received.append(b"")
        try:
            while data := await recorder.read():
                self.received[number] += data
                buffer += data
                while b"\r\n\r\n" in buffer:
                    head, _, buffer = buffer.partition(b"\r\n\r\n")
                    if not self._deaf or self.received[number].startswith(head):
                        await recorder.send(
                            answer(b"/next" if b"/next" in head else b"/mine" if b"/mine" in head else b"/")
                        )
        except ConnectionError:
            pass  # it has left: it may not want a second answer
        finally:
            transport.close()


async def test_an_origin_that_ignores_lengths_answers_no_other_client(shown, autojump_clock):
    """CL.0: it takes a body for a request, and answers it."""
    tried = 0
    async with linked(SCENARIO, AtTheHead(deaf=False).serve) as proxied:
        for data in BODIES.values():
            for at in range(1, len(data) + 1, 3):
                for pause in (0.0, 1.0):
                    async with RawClient(proxied.connect()) as one, RawClient(proxied.connect()) as other:
                        await one.send(data[:at])
                        await trio.sleep(pause)
                        await one.send(data[at:])
                        await one.read_until(b"\r\n\r\n/")
                        await one.read_all(QUIET)
                        await other.send(MINE)
                        await other.read_until(b"\r\n\r\n/")
                        await other.read_all(QUIET)
                    assert (one.received, other.received) == (answer(b"/"), answer(b"/mine")), (data, at)
                    tried += 1
    shown(
        "framing",
        "an origin that ignores lengths, and takes a body for a request",
        tried=tried,
        must="nobody gets the answer to what stood in the body",
        happens="each client gets its own",
    )


async def test_an_answer_before_the_body_is_the_last_on_both_connections(shown, autojump_clock):
    """0.CL: the body is still on its way, and looks like a request."""
    tried = 0
    for data in BODIES.values():
        head = data.index(b"\r\n\r\n") + 4
        for at in range(head, len(data)):
            origin = AtTheHead(deaf=True)
            async with linked(None, origin.serve) as proxied, RawClient(proxied.connect()) as one:
                await one.send(data[:at])
                await one.read_until(b"\r\n\r\n/")
                await one.send(data[at:] + NEXT)
                assert await one.read_all() is Ending.FIN
                (record,) = await proxied.finished()
            assert len(origin.received) == 1
            assert origin.received[0].count(b"/next") <= 1, (data, at)
            assert (record.response.status, record.end.how, one.received) == (200, "clean", answer(b"/"))
            tried += 1
    shown(
        "framing",
        "a final answer before the body has come, and a body that looks like a request",
        tried=tried,
        must="nothing of the body, or behind it, is taken for a request; both connections end",
        happens="one request, one answer, FIN on both sides",
    )


FAULTS = {
    "answered by a fault": {"respond": {"status": 200, "early": True}},
    "given up": {"timeout": {"total": "2s", "then": [{"status": 504}]}},
    "cut": {"timeout": {"total": "2s", "then": "abort"}},
    "served": None,
}
"""What becomes of a request that pauses."""


async def test_a_pause_changes_nothing_in_what_is_a_request(shown, autojump_clock):
    """A head, or a part of one; five seconds; the rest, in which a request is hidden."""
    tried, asked = 0, set()
    for upstream in UPSTREAMS:
        for name, fault in FAULTS.items():
            async with bench(upstream, fault and {"version": 1, "faults": [fault]}) as tested:
                for data in BODIES.values():
                    for at in range(1, len(data), 7):
                        client = RawClient(tested.proxied.connect())
                        await client.send(data[:at])
                        await trio.sleep(5)
                        await client.send(data[at:])
                        await client.read_all(5)
                        outcome = await tested.outcome(client)
                        targets = [one.target for one in outcome.asked]
                        assert targets == [b"/"] or (targets == [] and fault), (name, data, at)
                        assert len(outcome.records) == 1, (name, data, at)
                        asked.add(len(outcome.records))
                        tried += 1
    shown(
        "framing",
        "a pause of five seconds anywhere in a request whose body looks like one",
        tried=tried,
        must=f"one request, {', '.join(FAULTS)} meanwhile",
        happens=f"{', '.join(map(str, asked))} each time",
    )
