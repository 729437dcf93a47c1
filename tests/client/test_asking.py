"""The client against scripted origins: each ending told apart, codings taken off, a limit kept."""

import zlib

import pytest
import trio

from chaosproxy.client.answer import GAVE_UP
from chaosproxy.client.asking import Peer, ask
from chaosproxy.client.body import KEPT
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.vocabulary import Framing
from chaosproxy.testing.h2_origin import h2_origin
from chaosproxy.testing.peers import Ending, Pause, origin

GET = RequestHead(b"GET", b"/sse", authority=b"origin", framing=Framing.NONE, final=True)
POST = RequestHead(b"POST", b"/", ((b"content-length", b"2"),), authority=b"origin", framing=Framing.LENGTH)
SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
GZIP = SSE.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
EVENT = b"9\r\ndata: 1\n\n\r\n"
LAST = b"0\r\n\r\n"
PATIENT = 30.0


async def asked(*script, head=GET, body=b"", patience=PATIENT, **told):
    async with origin(script) as served:
        answer = await ask(Peer("127.0.0.1", served.port, "http/1.1"), head, body, patience, **told)
    return answer, served.requests


async def test_every_moment_is_written_down():
    headed, once = trio.Event(), trio.Event()
    script = [SSE, headed, Pause(0.05), EVENT, once, Pause(0.05), EVENT, LAST]
    answer, (request,) = await asked(*script, headed=headed, seen=lambda _: once.set())
    assert request.head.startswith(b"GET /sse HTTP/1.1\r\n")
    assert (answer.status, answer.end, answer.text) == (200, "clean", b"data: 1\n\n" * 2)
    (first, one), (second, another) = answer.events
    assert (one, another) == (1, 1)
    assert 0 <= answer.head <= first - 0.049
    assert second - first >= 0.049
    assert answer.ended >= second
    assert answer.header("content-type") == "text/event-stream"


async def test_a_body_is_sent():
    _, (request,) = await asked(SSE, LAST, head=POST, body=b"{}")
    assert request.body == b"{}"


@pytest.mark.parametrize(
    ("script", "end", "events"),
    [
        ([SSE, EVENT, Ending.FIN], "fin", 1),
        ([SSE, EVENT, EVENT[:5], Ending.FIN], "fin", 1),
        ([SSE, EVENT, Ending.RST], "rst", 1),
        ([SSE, EVENT, b"zz\r\n"], "malformed", 1),
        ([Ending.FIN], "fin", 0),
        ([b"nonsense\r\n\r\n"], "malformed", 0),
        ([b"HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"], "clean", 0),
    ],
)
async def test_each_ending_is_told_apart(script, end, events):
    answer, _ = await asked(*script)
    assert (answer.end, len(answer.events)) == (end, events)
    if answer.status == 429:
        assert answer.header("retry-after") == "7"


async def test_it_gives_up_after_its_time_and_not_before():
    answer, _ = await asked(SSE, EVENT, Ending.OPEN, patience=0.3)
    assert answer.end == GAVE_UP
    assert answer.ended >= 0.3


async def test_nobody_there_is_no_error_of_ours_either():
    answer, _ = await asked(Ending.OPEN, patience=0.1)
    assert (answer.status, answer.head, answer.end) == (None, None, GAVE_UP)


def chunk(payload: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(payload), payload)


async def test_an_event_counts_when_it_can_be_decoded():
    encoder = zlib.compressobj(wbits=zlib.MAX_WBITS + 16)
    first = encoder.compress(b"data: 1\n\n") + encoder.flush(zlib.Z_SYNC_FLUSH)
    held = encoder.compress(b"data: 2\n\n")
    rest = held + encoder.flush()
    answer, _ = await asked(GZIP, chunk(first[:-6]), Pause(0.02), chunk(first[-6:]), Pause(0.02), chunk(rest), LAST)
    assert answer.text == b"data: 1\n\ndata: 2\n\n"
    assert sum(count for _, count in answer.events) == 2
    assert len(answer.traffic) >= 3 > len(answer.events) > 0


async def test_a_broken_coding_ends_the_events_and_nothing_else():
    answer, _ = await asked(GZIP, chunk(b"not gzip"), chunk(b"at all"), LAST)
    assert (answer.end, answer.events, answer.text) == ("clean", [], b"")


async def test_what_unpacks_without_measure_is_cut_short():
    encoder = zlib.compressobj(wbits=zlib.MAX_WBITS + 16)
    packed = encoder.compress(b" " * (3 * KEPT)) + encoder.flush()
    answer, _ = await asked(GZIP, chunk(packed), LAST)
    assert (answer.end, len(answer.text), sum(piece.text for piece in answer.pieces)) == ("clean", KEPT, KEPT)


async def test_a_coding_that_was_not_asked_for_has_no_events():
    answer, _ = await asked(GZIP.replace(b"gzip", b"br"), chunk(b"\n\ndata: 1\n\n"), LAST)
    assert (answer.end, answer.events, len(answer.traffic)) == ("clean", [], 1)


async def test_of_an_answer_without_an_end_it_has_seen_enough_some_day(monkeypatch):
    monkeypatch.setattr("chaosproxy.client.asking.MOST", 20)
    monkeypatch.setattr("chaosproxy.client.body.KEPT", 50)
    answer, _ = await asked(SSE, *[EVENT] * 30, Ending.OPEN)
    assert (answer.end, answer.status) == (GAVE_UP, 200)
    assert 20 <= len(answer.pieces) <= 30
    assert 50 <= len(answer.text) < 60


async def test_over_http2():
    async def serve(peer, stream):
        await peer.headers(stream, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        await peer.data(stream, b"data: 1\n\n")
        await peer.data(stream, b"data: 2\n\n")
        if dict(peer.streams[stream].heads[0])[b":path"] == b"/reset":
            await peer.reset(stream, 0x2)
        else:
            await peer.data(stream, b"", end=True)

    async with h2_origin(serve) as url:
        peer = Peer("127.0.0.1", int(url.rpartition(":")[2]), "h2")
        whole = await ask(peer, GET, b"", PATIENT)
        reset = RequestHead(b"GET", b"/reset", authority=b"origin", framing=Framing.NONE, final=True)
        cut = await ask(peer, reset, b"", PATIENT)
    assert (whole.end, whole.text) == ("clean", b"data: 1\n\ndata: 2\n\n")
    assert (cut.end, cut.text) == ("stream:INTERNAL_ERROR", whole.text)
    assert whole.protocol == "h2"


async def test_who_waits_for_the_head_hears_of_its_end_too():
    headed = trio.Event()
    async with origin([Ending.RST]) as served:
        await ask(Peer("127.0.0.1", served.port, "http/1.1"), GET, b"", PATIENT, headed=headed)
    assert headed.is_set()
